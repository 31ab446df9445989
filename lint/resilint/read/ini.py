"""INI files in the manner of Python's configparser, and the units of systemd."""

from __future__ import annotations

import re

from resilint.facts import FileFacts, ReadError, Setting
from resilint.read.comments import line_comments, suppressions
from resilint.read.settings import MAX_ERRORS, bom_length, decoded, numbered, unreadable, untyped_kind, without_collections

_LINE = re.compile(rb"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_SECTION = re.compile(rb"^[ \t]*\[([^\]\r\n]*)\]", re.MULTILINE)
_OF_UNITS = frozenset(rb"Automount Container Install Kube Mount Path Pod Scope Service Slice Socket Swap Timer Unit".split())
"""Sections by which a file whose name does not tell is known for a unit or a drop-in of one: it has no others."""
_BACKSLASHES = re.compile(rb"\\++\Z")
_TEMPLATE = re.compile(rb"[{<][{%#]|(%\w+%|@\w+@|\$\{\w+\})[ \t]*$")
"""Starts a line that belongs to the template which makes the file, or is a word there that gives way to whole lines."""
_INLINE_COMMENT = re.compile(rb"[ \t];")
_QUOTED = re.compile(rb'"(?:[^"\\]++|\\.)*+"|\'[^\']*+\'')


def read(data: bytes, suffix: str = "") -> FileFacts:
    """A map for each section, a setting for each key; what is repeated in a section gets `#2`, `#3`.

    A file with the suffix `.service` is a unit of systemd, one with another may be.
    """
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("ini", errors=(problem,))
    reader = _Reader(data, suffix == ".service" or _is_unit(data))
    with without_collections():
        reader.run()
    return FileFacts(
        "ini",
        settings=tuple(reader.out),
        suppressions=suppressions(data, line_comments(data, b";", b"#"), behind_values=not reader.is_unit),
        errors=tuple(reader.errors),
    )


def _is_unit(data: bytes) -> bool:
    names = {match[1] for match in _SECTION.finditer(data)}
    return bool(names & _OF_UNITS) and all(name in _OF_UNITS or name.startswith(b"X-") for name in names)


def _is_carried(line: bytes) -> bool:
    """Whether a line of a unit goes on in the next one: its last byte is a backslash that no other escapes."""
    slashes = _BACKSLASHES.search(line) if line.endswith(b"\\") else None
    return slashes is not None and len(slashes[0]) % 2 == 1


class _Reader:
    """One walk over the lines."""

    def __init__(self, data: bytes, is_unit: bool) -> None:
        self.data = data
        self.is_unit = is_unit
        """systemd: only `=` separates, a value goes on behind a backslash, and comments have a line to themselves."""
        self.out: list[Setting] = []
        self.errors: list[ReadError] = []
        self.section: tuple[str, ...] = ()
        self.sections: dict[str, tuple[tuple[str, ...], dict[str, int]]] = {}
        """For each section its path and how often each key stood in it."""
        self.top: dict[str, int] = {}
        """How often each key stood before any section; a section of the same name counts on."""
        self.counts = self.top
        self.slot = -1
        """Place in `out` of the map that grows with each key."""
        self.indent = -1
        """Indentation of the key whose value a deeper line continues; -1: no such key."""
        self.parts: list[str] = []
        """Lines of the value being read; it is finished when anything else comes."""
        self.carried = False
        """In a unit: the line before goes on in this one."""
        self.value_at = self.value_end = self.key_at = self.key_end = 0
        self.key: str | None = None

    def run(self) -> None:
        """Read all lines."""
        data = self.data
        at = bom_length(data)
        while at < len(data):
            match = _LINE.match(data, at)
            if match is None:
                break
            self._line(at, match[1])
            at = match.end()
        self._finish()

    def _line(self, at: int, line: bytes) -> None:
        stripped = line.strip()
        if not stripped:
            self._finish()
            self.carried = False
            return
        lead = len(line) - len(line.lstrip())
        at += lead
        if stripped[:1] in (b"#", b";"):
            # Also between the lines of one value.
            return
        if self.is_unit:
            goes_on, self.carried = self.carried, _is_carried(line)
            if self.carried:
                stripped = stripped[:-1].rstrip()
        else:
            goes_on = self.key is not None and 0 <= self.indent < lead
        if goes_on:
            # Without a key it is the rest of a line that said nothing.
            if self.key is not None:
                self._continue(at, stripped)
            return
        self._finish()
        if stripped[:1] == b"[":
            self._header(at, stripped)
        else:
            self._pair(at, lead, stripped)

    def _header(self, at: int, line: bytes) -> None:
        close = line.find(b"]")
        if close < 0:
            # What follows still belongs to a section of its own, not to the one before.
            self._error(at, "section without closing bracket")
            close = len(line)
        inner = line[1:close]
        name = decoded(inner.strip())
        known = self.sections.get(name)
        if known is not None:
            # Opened again: its map stays as long as it was, for what lies between is not in it.
            self.slot = -1
            self.section, self.counts = known
            return
        self.slot = len(self.out)
        self.section, self.counts = (numbered(name, self.top),), {}
        self.sections[name] = (self.section, self.counts)
        name_at = at + 1 + len(inner) - len(inner.lstrip())
        self.out.append(Setting(self.section, "", "map", at, at + min(close + 1, len(line)), name_at, name_at + len(inner.strip())))

    def _pair(self, at: int, lead: int, line: bytes) -> None:
        separator = line.find(b"=")
        if not self.is_unit:
            colon = line.find(b":")
            if colon >= 0 and (separator < 0 or colon < separator):
                separator = colon
        if separator == 0:
            self._error(at, "value without a key")
            return
        if self.is_unit and (separator < 0 or not self.section):
            if _TEMPLATE.match(line) is None:
                self._error(at, "line without `=`" if separator < 0 else "key before the first section")
            return
        key = line if separator < 0 else line[:separator].rstrip()
        if separator < 0:
            key = self._uncommented(line)
        self.key = decoded(key)
        self.key_at, self.key_end = at, at + len(key)
        self.indent = lead
        self.parts = []
        self.value_at = self.value_end = self.key_end
        if separator < 0:
            self.indent = -1
            self._finish()
            return
        rest = line[separator + 1 :]
        self.value_at = self.value_end = at + len(line) if not rest.strip() else at + separator + 1 + len(rest) - len(rest.lstrip())
        self._continue(self.value_at, rest.strip())

    def _continue(self, at: int, raw: bytes) -> None:
        """One line of a value."""
        raw = self._uncommented(raw)
        if raw or self.parts:
            if not any(self.parts):
                self.value_at = at
            self.value_end = at + len(raw)
        self.parts.append(decoded(raw))

    def _uncommented(self, raw: bytes) -> bytes:
        """A value without the comment behind it."""
        if b";" not in raw or self.is_unit:
            return raw
        if raw.startswith(b";"):
            return b""
        quoted = _QUOTED.match(raw)
        comment = _INLINE_COMMENT.search(raw, 0 if quoted is None else quoted.end())
        return raw if comment is None else raw[: comment.start()].rstrip()

    def _finish(self) -> None:
        """List the key whose value is complete."""
        if self.key is None:
            return
        text = (" " if self.is_unit else "\n").join(part for part in self.parts if part)
        kind = untyped_kind(text) if self.parts else "null"
        path = (*self.section, numbered(self.key, self.counts))
        self.out.append(Setting(path, text, kind, self.value_at, self.value_end, self.key_at, self.key_end))
        if self.slot >= 0:
            old = self.out[self.slot]
            end = max(self.value_end, self.key_end)
            self.out[self.slot] = Setting(old.path, "", "map", old.at, end, old.key_at, old.key_end)
        self.key = None
        self.indent = -1

    def _error(self, at: int, message: str) -> None:
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(ReadError(at, message))
