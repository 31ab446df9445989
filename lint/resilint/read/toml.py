"""TOML: values from the standard parser, positions from a scan of the keys."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from resilint.facts import FileFacts, ReadError, Setting
from resilint.read.comments import line_comments, suppressions
from resilint.read.settings import MAX_DEPTH, MAX_ELEMENTS, Broken, Kind, bom_length, decoded, unreadable, without_collections

_BLANK = re.compile(rb"(?:[ \t\r\n]++|#[^\n]*+)*+")
_SPACE = re.compile(rb"[ \t]*+")
_BARE_KEY = re.compile(rb"[A-Za-z0-9_-]++")
_BASIC = re.compile(rb'"(?:[^"\\\r\n]++|\\.)*+"')
_LITERAL = re.compile(rb"'[^'\r\n]*+'")
_BASIC_LINES = re.compile(rb'"""(?:[^"\\]++|\\(?s:.)|""?(?!"))*+"{3,5}')
_LITERAL_LINES = re.compile(rb"'''(?:[^']++|''?(?!'))*+'{3,5}")
_BARE_VALUE = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[-+0-9:.Zz]++|[^\s,\]}#]++")
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)\s*\Z")

_LONG_KEY = re.compile(
    rb"(?<![\w.-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}" % MAX_DEPTH,
)
"""A dotted key that is refused before the parser sees it, which keeps every prefix of it."""

_TOO_DEEP = "nested too deeply"

_Key = tuple[str, int, int]


def read(data: bytes) -> FileFacts:
    """The settings of the file; of one that is no TOML, those before the first bad statement."""
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("toml", errors=(problem,))
    long_key = _LONG_KEY.search(data)
    if long_key is not None:
        return FileFacts("toml", errors=(ReadError(long_key.start(), _TOO_DEEP),))
    with without_collections():
        settings, errors = _read(data)
    return FileFacts(
        "toml",
        settings=tuple(settings),
        suppressions=suppressions(data, line_comments(data, b"#")),
        errors=tuple(errors[:1]),
    )


def _read(data: bytes) -> tuple[list[Setting], list[ReadError]]:
    start = bom_length(data)
    errors: list[ReadError] = []
    scan = _Scan(data, len(data))
    values = _parse(data[start:], start, errors)
    if values is None:
        problem = errors[0]
        if problem.message == _TOO_DEEP:
            # The parser cannot say where; the scan can.
            try:
                scan.run(start, None)
            except Broken as broken:
                problem = broken.error()
            errors = [problem]
        values, stop = _sound_part(data, start, problem.at)
        scan = _Scan(data, stop)
    try:
        scan.run(start, values)
    except Broken as broken:
        errors.append(broken.error())
    except (KeyError, IndexError, TypeError):
        errors.append(ReadError(scan.statement, "cannot tell where this statement's values stand"))
    return scan.finished(), errors


def _parse(part: bytes, base: int, errors: list[ReadError]) -> dict[str, Any] | None:
    """The values of a part of the file that begins at `base`; on failure `None` and an error."""
    try:
        return tomllib.loads(decoded(part))
    except RecursionError:
        errors.append(ReadError(base, _TOO_DEEP))
    except ValueError as problem:
        text = str(problem)
        place = _PLACE.search(text)
        at = base + len(part)
        if place is not None and place[1] is not None:
            at = base
            for _ in range(int(place[1]) - 1):
                at = part.find(b"\n", at - base) + 1 + base
        message = text[: place.start()] if place else text.split("\n")[0]
        errors.append(ReadError(at, f"not valid TOML: {message[:200]}"))
    return None


def _sound_part(data: bytes, start: int, at: int) -> tuple[dict[str, Any], int]:
    """The values of the statements before the bad one, and where they end."""
    stop = at
    for _ in range(4):  # resilint: ignore[RS502] what is tried again is the parser, on a text with fewer faults
        # The bad statement may have begun on an earlier line than the one that is complained of.
        scan = _Scan(data, stop)
        try:
            scan.run(start, None)
        except Broken:
            stop = min(stop, scan.statement)
        ignored: list[ReadError] = []
        values = _parse(data[start:stop], start, ignored)
        if values is not None:
            return values, stop
        stop = max(start, min(stop - 1, ignored[0].at))
        stop = max(start, data.rfind(b"\n", start, stop) + 1)
    return {}, start


class _Scan:
    """One walk over the statements up to `stop`, in the order they are written.

    Without values it only finds out how far the statements go.
    """

    def __init__(self, data: bytes, stop: int) -> None:
        self.data = data if stop == len(data) else data[:stop]
        self.out: list[Setting] = []
        self.statement = 0
        """Where the statement begins that is being read."""
        self.slots: dict[tuple[str, ...], int] = {}
        """Containers already listed."""
        self.table: tuple[str, ...] = ()
        self.counts: dict[tuple[str, ...], int] = {}
        """Elements so far of each array of tables."""
        self.full: list[tuple[str, ...]] = []
        """Arrays of tables with more elements than are kept."""
        self.ends: dict[int, int] = {}
        """The ends of those containers that grow with each statement, by index in `out`."""

    def run(self, at: int, values: dict[str, Any] | None) -> None:
        """Read all statements. Raises `Broken` at one that has not the form of a statement."""
        data = self.data
        while True:
            at = self._blank(at)
            self.statement = at
            if at >= len(data):
                return
            if data[at : at + 1] == b"[":
                at = self._header(at, values)
            else:
                keys, at = self._keys(at)
                if data[at : at + 1] != b"=":
                    raise Broken(at, "not valid TOML: expected = after the key")
                at = self._space(at + 1)
                at = self._pair(keys, at, values, self.table, 0)
                self._grow(self.table, at)
            at = self._space(at)
            if data[at : at + 1] not in (b"", b"\n", b"\r", b"#"):
                raise Broken(at, "not valid TOML: expected the end of the line")

    def finished(self) -> list[Setting]:
        """The settings, with the ends of tables that further statements made longer."""
        out = self.out
        for slot, end in self.ends.items():
            old = out[slot]
            out[slot] = Setting(old.path, "", old.kind, old.at, max(old.end, end), old.key_at, old.key_end)
        return out

    def _blank(self, at: int) -> int:
        match = _BLANK.match(self.data, at)
        return at if match is None else match.end()

    def _space(self, at: int) -> int:
        match = _SPACE.match(self.data, at)
        return at if match is None else match.end()

    def _keys(self, at: int) -> tuple[list[_Key], int]:
        """A dotted key, and where what follows it begins."""
        data = self.data
        keys: list[_Key] = []
        while True:
            first = data[at : at + 1]
            match = (_BASIC if first == b'"' else _LITERAL if first == b"'" else _BARE_KEY).match(data, at)
            if match is None:
                raise Broken(at, "not valid TOML: expected a key")
            raw = match[0]
            text = _basic(raw) if first == b'"' else decoded(raw[1:-1] if first == b"'" else raw)
            keys.append((text, at, match.end()))
            if len(keys) > MAX_DEPTH:
                raise Broken(at, _TOO_DEEP)
            at = self._space(match.end())
            if data[at : at + 1] != b".":
                return keys, at
            at = self._space(at + 1)

    def _header(self, at: int, values: dict[str, Any] | None) -> int:
        """`[table]` or `[[array of tables]]`."""
        data = self.data
        array = data.startswith(b"[[", at)
        closer = b"]]" if array else b"]"
        keys, end = self._keys(self._space(at + len(closer)))
        if not data.startswith(closer, end):
            raise Broken(end, f"not valid TOML: expected {closer.decode()}")
        end += len(closer)
        path: tuple[str, ...] = ()
        for number, (name, key_at, key_end) in enumerate(keys):
            path = (*path, name)
            last = number == len(keys) - 1
            if last and array:
                self._container(path, "list", at, end, key_at, key_end)
                index = self.counts.get(path, 0)
                self.counts[path] = index + 1
                if index == MAX_ELEMENTS:
                    self.full.append(path)
                path = (*path, str(index))
                if index < MAX_ELEMENTS:
                    self._container(path, "map", at, end, at, at)
            else:
                self._container(path, "map", at, end, key_at, key_end)
                if not last and path in self.counts:
                    path = (*path, str(self.counts[path] - 1))
        self.table = path
        self._grow(path, end)
        if values is not None:
            _held(values, path)
        return end

    def _container(self, path: tuple[str, ...], kind: Kind, at: int, end: int, key_at: int, key_end: int) -> None:
        """List a container unless it is already."""
        if path not in self.slots and not self._beyond(path):
            self.slots[path] = len(self.out)
            self.out.append(Setting(path, "", kind, at, end, key_at, key_end))

    def _beyond(self, path: tuple[str, ...]) -> bool:
        """Whether this lies in an element of an array of tables that is not kept."""
        return any(
            len(path) > len(array) and path[: len(array)] == array and int(path[len(array)]) >= MAX_ELEMENTS for array in self.full
        )

    def _grow(self, path: tuple[str, ...], end: int) -> None:
        """Make a table and those around it reach to `end`."""
        for length in range(1, len(path) + 1):
            slot = self.slots.get(path[:length])
            if slot is not None:
                self.ends[slot] = end

    def _pair(self, keys: list[_Key], at: int, values: dict[str, Any] | None, table: tuple[str, ...], depth: int) -> int:
        """The value of a key of a table; the first segments of a dotted key are tables too."""
        path = table
        for name, key_at, key_end in keys[:-1]:
            path = (*path, name)
            if values is not None:
                self._container(path, "map", keys[0][1], key_end, key_at, key_end)
        name, key_at, key_end = keys[-1]
        value = None if values is None else _held(values, table)
        for key, _, _ in keys:
            value = None if value is None else value[key]
        end = self._value((*path, name), at, value, key_at, key_end, depth, values is not None and not self._beyond(path))
        if len(keys) > 1:
            self._grow(path, end)
        return end

    def _value(self, path: tuple[str, ...], at: int, value: Any, key_at: int, key_end: int, depth: int, keep: bool) -> int:
        """One value at `at`, listed if `keep`; its end."""
        data = self.data
        first = data[at : at + 1]
        if first in (b"[", b"{"):
            if depth >= MAX_DEPTH or len(path) > MAX_DEPTH:
                raise Broken(at, _TOO_DEEP)
            slot = len(self.out)
            if keep:
                self.out.append(Setting(path, "", "list" if first == b"[" else "map", at, at, key_at, key_end))
            end = (self._array if first == b"[" else self._inline)(path, at, value, depth, keep)
            if keep:
                old = self.out[slot]
                self.out[slot] = Setting(path, "", old.kind, at, end, key_at, key_end)
            return end
        if first == b'"':
            pattern = _BASIC_LINES if data.startswith(b'"""', at) else _BASIC
        elif first == b"'":
            pattern = _LITERAL_LINES if data.startswith(b"'''", at) else _LITERAL
        else:
            pattern = _BARE_VALUE
        match = pattern.match(data, at)
        if match is None:
            raise Broken(
                at, "not valid TOML: string is not closed" if first in (b'"', b"'") else "not valid TOML: expected a value"
            )
        if keep:
            kind, text = _scalar(value, match[0])
            self.out.append(Setting(path, text, kind, at, match.end(), key_at, key_end))
        return match.end()

    def _array(self, path: tuple[str, ...], at: int, value: Any, depth: int, keep: bool) -> int:
        data = self.data
        at = self._blank(at + 1)
        index = 0
        while data[at : at + 1] != b"]":
            kept = keep and index < MAX_ELEMENTS
            item = value[index] if kept else None
            at = self._blank(self._value((*path, str(index)), at, item, at, at, depth + 1, kept))
            index += 1
            if data[at : at + 1] == b",":
                at = self._blank(at + 1)
            elif data[at : at + 1] != b"]":
                raise Broken(at, "not valid TOML: expected , or ]")
        return at + 1

    def _inline(self, path: tuple[str, ...], at: int, value: Any, depth: int, keep: bool) -> int:
        data = self.data
        at = self._blank(at + 1)
        while data[at : at + 1] != b"}":
            keys, at = self._keys(at)
            if data[at : at + 1] != b"=":
                raise Broken(at, "not valid TOML: expected = after the key")
            inner = path
            item: Any = value if keep else None
            for name, key_at, key_end in keys[:-1]:
                inner = (*inner, name)
                item = item[name] if keep else None
                if keep:
                    self._container(inner, "map", keys[0][1], key_end, key_at, key_end)
            name, key_at, key_end = keys[-1]
            at = self._value((*inner, name), self._space(at + 1), item[name] if keep else None, key_at, key_end, depth + 1, keep)
            if len(keys) > 1 and keep:
                self._grow(inner, at)
            at = self._blank(at)
            if data[at : at + 1] == b",":
                at = self._blank(at + 1)
            elif data[at : at + 1] != b"}":
                raise Broken(at, "not valid TOML: expected , or }")
        return at + 1


def _held(values: dict[str, Any], path: tuple[str, ...]) -> Any:
    """What stands at a path."""
    at: Any = values
    for segment in path:
        at = at[int(segment)] if isinstance(at, list) else at[segment]
    return at


def _basic(raw: bytes) -> str:
    """What a basic string used as a key means."""
    if b"\\" not in raw:
        return decoded(raw[1:-1])
    try:
        return str(tomllib.loads(f"k = {decoded(raw)}")["k"])
    except ValueError as problem:
        raise KeyError(decoded(raw)) from problem


def _scalar(value: Any, raw: bytes) -> tuple[Kind, str]:
    """Kind and text of a value that is no container, as parsed and as written."""
    if isinstance(value, bool):
        return "bool", "true" if value else "false"
    if isinstance(value, int):
        return "int", str(value) if len(raw) < 64 else decoded(raw)
    if isinstance(value, float):
        return "float", decoded(raw).replace("_", "").removeprefix("+")
    if isinstance(value, str):
        return "str", value
    return "str", decoded(raw)
