"""Encoded bodies of a large program in a file instead of memory: most of them are never asked for, the others once."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, overload

import msgspec

from resilint.cache import Cache
from resilint.facts import FileFacts


class Shelf:
    """A file without a name beside the cache, which goes when nothing needs it any more.

    What cannot be written there (a full disk) stays in memory.
    """

    def __init__(self, cache: Cache) -> None:
        # Processes that share the descriptor share its position: only reading at a given one is safe.
        self._file: IO[bytes] | None = cache.scratch() if hasattr(os, "pread") else None
        self._size = 0

    def put(self, facts: FileFacts) -> FileFacts:
        """The same facts, with their bodies in the file."""
        if self._file is None or not facts.bodies:
            return facts
        starts = array("Q", [self._size])
        for raw in facts.bodies:
            starts.append(starts[-1] + len(memoryview(raw)))
        data = b"".join(facts.bodies)
        try:
            if self._file.write(data) != len(data):
                raise OSError("written in part")
        except OSError:
            # What was shelved before stays where it is; nothing more comes after it.
            self._file = None
            return facts
        self._size += len(data)
        return msgspec.structs.replace(facts, bodies=_Shelved(self._file, starts))


class _Shelved(Sequence[msgspec.Raw]):
    """Bodies of one file of code, read each time they are asked for."""

    __slots__ = ("_file", "_starts")

    def __init__(self, file: IO[bytes], starts: array[int]) -> None:
        self._file = file
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> msgspec.Raw: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[msgspec.Raw, ...]: ...
    def __getitem__(self, index: int | slice) -> msgspec.Raw | tuple[msgspec.Raw, ...]:
        if isinstance(index, slice):
            return tuple(self[one] for one in range(*index.indices(len(self))))
        at = index if index >= 0 else index + len(self)
        if not 0 <= at < len(self):
            raise IndexError(index)
        start = self._starts[at]
        return msgspec.Raw(os.pread(self._file.fileno(), self._starts[at + 1] - start, start))

    def __iter__(self) -> Iterator[msgspec.Raw]:
        return (self[index] for index in range(len(self)))
