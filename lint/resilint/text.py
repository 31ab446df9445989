"""Turns byte offsets of a file into lines and columns."""

from __future__ import annotations

from bisect import bisect_right

from resilint.model import Span


class Lines:
    """The lines of one file. Columns count characters (code points), from 1; undecodable bytes count one each."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        starts = [0]
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

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end; empty past the last one."""
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self._data)
        return self._data[start:end].decode("utf-8", "replace").rstrip("\r\n")
