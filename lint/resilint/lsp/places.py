"""Places as editors count them: lines and characters from 0, characters in UTF-16, UTF-8 or UTF-32 units."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Any

from resilint.model import Span
from resilint.text import Lines

_LONE_RETURN = re.compile(rb"\r(?!\n)")


def width(text: str, encoding: str) -> int:
    """How many units of the encoding a text takes."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(char > "\uffff" for char in text)


class Places:
    """Translates the places of one file. An editor ends a line at a lone carriage return too, which not every reader does."""

    def __init__(self, data: bytes, lines: Lines, encoding: str) -> None:
        self._data = data
        self._lines = lines
        self._encoding = encoding
        self._returns = [match.start() for match in _LONE_RETURN.finditer(data)] if b"\r" in data else []

    def position(self, line: int, col: int) -> dict[str, int]:
        """A place of ours as the editor counts it."""
        at = self._lines.offset(line, col)
        passed = bisect_left(self._returns, at)
        start = max(self._data.rfind(b"\n", 0, at), self._returns[passed - 1] if passed else -1) + 1
        before = self._data[start:at].decode("utf-8", "replace").rstrip("\r\n")
        return {"line": line - 1 + passed, "character": width(before, self._encoding)}

    def range(self, span: Span) -> dict[str, Any]:
        """A range of ours as the editor counts it."""
        return {"start": self.position(span.line, span.col), "end": self.position(span.end_line, span.end_col)}

    def offset(self, line: int, character: int) -> int:
        """The byte at a place of the editor's; past the end of a line, its end."""
        at = 0
        for _ in range(line):
            ends = [end for end in (self._data.find(b"\n", at), self._next_return(at)) if end >= 0]
            if not ends:
                return len(self._data)
            at = min(ends) + 1
        ends = [end for end in (self._data.find(b"\n", at), self._next_return(at)) if end >= 0]
        text = self._data[at : min(ends, default=len(self._data))].decode("utf-8", "replace").rstrip("\r\n")
        units = 0
        for index, char in enumerate(text):
            if units >= character:
                return at + len(text[:index].encode("utf-8", "surrogatepass"))
            units += width(char, self._encoding)
        return at + len(text.encode("utf-8", "surrogatepass"))

    def _next_return(self, at: int) -> int:
        index = bisect_left(self._returns, at)
        return self._returns[index] if index < len(self._returns) else -1
