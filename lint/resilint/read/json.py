"""JSON, and what is tolerated of it in configuration: comments, trailing commas, a byte order mark."""

from __future__ import annotations

import json
import re

from resilint.facts import FileFacts, Setting
from resilint.read.comments import comments_of, suppressions
from resilint.read.described import describes_json
from resilint.read.settings import (
    MAX_DEPTH,
    MAX_ELEMENTS,
    Broken,
    Kind,
    bom_length,
    decoded,
    end_of,
    last_wins,
    unreadable,
    well_formed,
    without_collections,
)

_BLANK = re.compile(rb"(?:[ \t\r\n]++|//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)*+")
_STRING = re.compile(rb'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"')
_WORD = re.compile(rb"[-+.\w]++")
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z")
_SCALARS = re.compile(rb'(?:[ \t\r\n]*+(?:"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"|[-+.\w]++)[ \t\r\n]*+,)*+')
_BRACKET = re.compile(rb'(?:[^"\[\]{}/]++|"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"|//[^\n]*+|/)*+(?:[\[\]{}]|"|\Z)')
_WORDS: dict[bytes, tuple[Kind, str]] = {
    b"true": ("bool", "true"),
    b"false": ("bool", "false"),
    b"null": ("null", ""),
    b"NaN": ("float", "nan"),
    b"Infinity": ("float", "inf"),
    b"-Infinity": ("float", "-inf"),
}
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_TOKENS = re.compile(rb'"(?:[^"\\\r\n]++|\\.)*+"?|(?P<comment>//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z))')
"""Strings and comments."""


def read(data: bytes) -> FileFacts:
    """The settings up to the first place that is no JSON."""
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("json", errors=(problem,))
    settings: list[Setting] = []
    errors = []
    try:
        with without_collections():
            if not describes_json(data):
                _read_all(data, settings)
    except Broken as broken:
        errors.append(broken.error())
    return FileFacts(
        "json",
        settings=tuple(last_wins(settings)),
        suppressions=suppressions(data, comments_of(data, _TOKENS)),
        errors=tuple(errors),
    )


def _text(raw: bytes) -> str:
    """What a string with its quotes means."""
    if b"\\" not in raw:
        return decoded(raw[1:-1])
    text = decoded(raw)
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        try:
            value = json.loads(_BAD_ESCAPE.sub(r"\\\\", text), strict=False)
        except ValueError:
            value = text[1:-1]
    return well_formed(str(value))


def scalar(data: bytes, at: int) -> tuple[Kind, str, int]:
    """Kind, text and end of the scalar at `at`."""
    if data[at : at + 1] == b'"':
        match = _STRING.match(data, at)
        if match is None:
            raise Broken(at, "string is not closed")
        return "str", _text(match[0]), match.end()
    match = _WORD.match(data, at)
    if match is None:
        raise Broken(at, "a value is missing here" if at < len(data) else "the file ends where a value is expected")
    word = match[0]
    known = _WORDS.get(word)
    if known is not None:
        return *known, match.end()
    number = _NUMBER.match(word)
    if number is None:
        raise Broken(at, "not a JSON value")
    kind: Kind = "int" if number[1] is None and number[2] is None else "float"
    return kind, word.decode("ascii"), match.end()


def _closed(opened: Setting, end: int) -> Setting:
    """A container whose end is now known."""
    return Setting(opened.path, "", opened.kind, opened.at, end, opened.key_at, opened.key_end)


def _passed(data: bytes, at: int) -> int:
    """Where the container ends that opens at `at`, looking at nothing but brackets and strings."""
    depth = 0
    for match in _BRACKET.finditer(data, at):
        token = match[0][-1:]
        if token in (b"[", b"{"):
            depth += 1
        elif token in (b"]", b"}"):
            depth -= 1
            if not depth:
                return match.end()
        else:
            raise Broken(match.end(), "string is not closed" if match.end() < len(data) else "the file ends too early")
    raise Broken(len(data), "the file ends too early")


def _read_all(data: bytes, out: list[Setting]) -> None:
    """Append the settings of the file. Of several documents, each on a line of its own (JSON Lines: a log, rows of a table),
    none is a setting; they are read all the same, so that what is broken in them is said."""
    at = end_of(_BLANK, data, bom_length(data))
    if at == len(data):
        return
    end = _value(data, at, out)
    if end == len(data):
        return
    first_end, is_line = end, _is_line(data, at, end)
    while end < len(data):
        if not is_line or data[end] not in b"{[":
            raise Broken(first_end, "more text behind the end of the value")
        at, end = end, _value(data, end, [])
        is_line = _is_line(data, at, end)
    if not is_line:
        raise Broken(first_end, "more text behind the end of the value")
    out.clear()


def _is_line(data: bytes, at: int, end: int) -> bool:
    """Whether a value stands on a line of its own. `end`: where the next text begins."""
    line = data.find(b"\n", at, end)
    return not data[line:end].strip(b" \t\r\n") if line >= 0 else end == len(data)


def _value(data: bytes, at: int, out: list[Setting]) -> int:
    """Append the settings of the value at `at`; where the next text behind it begins. On `Broken`, open containers end where
    reading stopped."""
    stack: list[tuple[bool, int, int]] = []
    """For each container around the one being read: whether it is a map, its next index, its place in `out` (-1: the root)."""
    is_map = False
    index = 0
    slot = -1
    path: tuple[str, ...] = ()
    key = ""
    key_at = key_end = at
    try:
        while True:
            # A value stands at `at`.
            first = data[at : at + 1]
            opened = False
            if first == b"{" or first == b"[":
                if len(stack) >= MAX_DEPTH:
                    raise Broken(at, "nested too deeply")
                if index > MAX_ELEMENTS:
                    at = _passed(data, at)
                else:
                    if stack:
                        path = (*path, key)
                        out.append(Setting(path, "", "map" if first == b"{" else "list", at, at, key_at, key_end))
                    stack.append((is_map, index, slot))
                    slot = len(out) - 1
                    is_map = first == b"{"
                    index = 0
                    at += 1
                    opened = True
            else:
                kind, text, end = scalar(data, at)
                if stack and index <= MAX_ELEMENTS:
                    out.append(Setting((*path, key), text, kind, at, end, key_at, key_end))
                at = end
            # Behind a value, or at the start of what a container holds: closers, then the comma, then the next key.
            while True:
                at = end_of(_BLANK, data, at)
                if not stack:
                    return at
                closer = data[at : at + 1]
                if opened:
                    pass
                elif closer == b",":
                    at = end_of(_BLANK, data, at + 1)
                    if index >= MAX_ELEMENTS:
                        # Nothing of these elements is kept: pass over the plain ones at once.
                        at = end_of(_BLANK, data, end_of(_SCALARS, data, at))
                    closer = data[at : at + 1]
                elif closer != (b"}" if is_map else b"]"):
                    raise Broken(at, "a comma or the end of the container is missing here" if closer else "the file ends too early")
                if closer != (b"}" if is_map else b"]"):
                    break
                at += 1
                if slot >= 0:
                    out[slot] = _closed(out[slot], at)
                is_map, index, slot = stack.pop()
                path = path[:-1]
                opened = False
            if is_map:
                match = _STRING.match(data, at)
                if match is None:
                    raise Broken(at, "a key in quotes is missing here" if at < len(data) else "the file ends too early")
                key_at, key_end = at, match.end()
                key = _text(match[0])
                at = end_of(_BLANK, data, key_end)
                if data[at : at + 1] != b":":
                    raise Broken(at, "a colon is missing here")
                at = end_of(_BLANK, data, at + 1)
            else:
                key = str(index)
                index += 1
                key_at = key_end = at
    except Broken:
        while stack:
            if slot >= 0:
                out[slot] = _closed(out[slot], min(at, len(data)))
            is_map, index, slot = stack.pop()
        raise
