"""Files that have not changed since an earlier run, told by what the file system says of them: they are not even opened.

A stamp is trusted only where it was old when it was taken: a file that is written twice within one tick of the clock keeps it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import Struct

from resilint.cache import Cache, readers_state
from resilint.discover import Source
from resilint.facts import FileFacts, ReadError, Suppression

_TICK_NS = 2_000_000_000
"""The coarsest clock of a file system that is still in use: FAT's."""


class Brief(Struct, frozen=True, gc=False, array_like=True):
    """What every run needs to know of a file, whatever its rules look at."""

    kind: str
    functions: int = 0
    generated: bool = False
    suppressions: tuple[Suppression, ...] = ()
    errors: tuple[ReadError, ...] = ()


class Known(Struct, frozen=True, gc=False, array_like=True):
    """A file as it was: its stamp, the name of its facts in the cache, and what every run needs to know of it."""

    stamp: tuple[int, ...]
    key: bytes
    brief: Brief


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(dict[str, Known])


def brief_of(facts: FileFacts) -> Brief:
    """What every run needs to know of a file with these facts."""
    return Brief(facts.kind, len(facts.functions), facts.generated, facts.suppressions, facts.errors)


class Seen:
    """The files of the program at `root`, as earlier runs have left them in the cache. `began`: when they were looked at, in ns."""

    def __init__(self, root: Path, cache: Cache, began: int | None = None) -> None:
        self._cache = cache
        self._began = time.time_ns() if began is None else began
        self._row = blake2b(f"{root}:{readers_state()}".encode("utf-8", "surrogatepass"), digest_size=20, person=b"seen").digest()
        self._known = self._load()

    def of(self, source: Source) -> Known | None:
        """The file as it was; none if it has changed or may have."""
        known = self._known.get(source.path)
        if known is None or known.stamp != source.stamp or known.brief.kind != source.kind or not self._is_old(source.stamp):
            return None
        return known

    def keep(self, sources: Iterable[Source], keys: dict[str, bytes], briefs: dict[str, Brief]) -> None:
        """Remembers the files that are old enough, unless that is what is remembered already."""
        now = {
            source.path: Known(source.stamp, keys[source.path], briefs[source.path])
            for source in sources
            if source.path in keys and source.path in briefs and self._is_old(source.stamp)
        }
        if not now or all(self._known.get(path) == known for path, known in now.items()):
            return
        try:
            data = _ENCODER.encode(now)
        except UnicodeEncodeError:
            # Names of files need be no text.
            return
        self._cache.put({self._row: data})

    def _is_old(self, stamp: tuple[int, ...]) -> bool:
        return len(stamp) > 1 and max(stamp[:2]) < self._began - _TICK_NS

    def _load(self) -> dict[str, Known]:
        stored = self._cache.get([self._row]).get(self._row)
        if stored is None:
            return {}
        try:
            return _DECODER.decode(stored)
        except msgspec.MsgspecError:
            return {}
