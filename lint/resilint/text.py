"""Bytes of a file as text: lines and columns of byte offsets, and what the comments at its top say."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

from resilint.model import Span

_TOP = {
    "python": re.compile(rb"\A(?:\xef\xbb\xbf)?(?:[ \t\f]*(?:#[^\n]*)?(?:\n|\Z))*+"),
    "go": re.compile(rb"\A(?:\xef\xbb\xbf)?(?:\s++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL),
    "java": re.compile(rb"\A(?:\xef\xbb\xbf)?(?:\s++|//[^\n]*+|/\*.*?\*/|package[\w.\s]++;|import[\w.*\s]++;)*+", re.DOTALL),
}
_GENERATED = {
    "python": re.compile(
        rb"(?m)^[ \t\f]*#.*(?:@generated\b|DO NOT (?:EDIT|MODIFY)|[Gg]enerated by |[Aa]uto-?generated|[Aa]utomatically generated)"
    ),
    "java": re.compile(
        rb"(?m)^[ \t]*(?://|/?\*+).*(?:@generated\b|DO NOT (?:EDIT|MODIFY)|[Gg]enerated by |[Aa]uto-?generated"
        rb"|[Aa]utomatically generated)"
    ),
    "go": re.compile(rb"(?m)^//[ \t]*(?:Code generated .*DO NOT EDIT\.?|@generated\b.*)[ \t]*\r?$"),
}


def says_generated(data: bytes, language: str) -> bool:
    """Whether the comments above all code say that a program wrote this file."""
    head = data[:3000]
    if b"enerated" not in head and b"DO NOT" not in head:
        return False
    top = _TOP[language].match(head)
    return top is not None and _GENERATED[language].search(top[0]) is not None


class Lines:
    """The lines of one file. Columns count characters (code points), from 1; undecodable bytes count one each."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        starts = array("I", (0,))
        find = data.find
        at = find(b"\n")
        while at >= 0:
            starts.append(at + 1)
            at = find(b"\n", at + 1)
        self._starts = starts

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte offset, clamped to the file."""
        offset = max(0, min(offset, len(self._data)))
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        return line, len(self._data[start:offset].decode("utf-8", "replace")) + 1

    def span(self, path: str, at: int, end: int) -> Span:
        """The range from byte `at` to byte `end`."""
        line, col = self.place(at)
        end_line, end_col = self.place(max(at, end))
        return Span(path, line, col, end_line, end_col)

    def offset(self, line: int, col: int) -> int:
        """The byte offset of a line and column, the inverse of `place`; past a line's end, its end."""
        start = self._starts[min(max(line, 1), len(self._starts)) - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._data)
        row = self._data[start:end]
        if row.isascii():
            return start + min(col - 1, len(row))
        low, high = 0, len(row)
        while low < high:
            middle = (low + high) // 2
            if len(row[:middle].decode("utf-8", "replace")) < col - 1:
                low = middle + 1
            else:
                high = middle
        # A character of several bytes is cut short below its end, which counts as one already.
        while low < len(row) and row[low] & 0xC0 == 0x80:
            low += 1
        return start + low

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end; empty past the last one."""
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self._data)
        return self._data[start:end].decode("utf-8", "replace").rstrip("\r\n")
