"""What a run has looked at of texts and bodies: all else in a file may change, and nothing that was found does."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

_WORD = re.compile(rb"[A-Za-z_]\w*")
_KINDS = frozenset({"any", "low", "word", "stem"})


class Scan(NamedTuple):
    """A search in a text or an encoded body whose answer is all that is used of it."""

    kind: str
    """What `words` are: `any` text of which one is held, `low` the same in small letters, `word` whole words, `stem` parts of names
    (`ring` of `hash_ring`, not of `string`), `pattern` an expression and its flags."""
    words: tuple[bytes, ...]

    def found_in(self, text: bytes) -> bool:
        """Whether the text holds it."""
        match self.kind:
            case "any":
                return any(word in text for word in self.words)
            case "low":
                low = text.lower()
                return any(word in low for word in self.words)
            case "word":
                return not frozenset(self.words).isdisjoint(_WORD.findall(text))
            case "stem":
                return _holds_stem(text, self.words)
            case _:
                return self._pattern.search(text) is not None

    def hits(self, text: bytes) -> list[int]:
        """Where each of what it finds begins; of patterns only."""
        return [match.start() for match in self._pattern.finditer(text)]

    @property
    def is_sound(self) -> bool:
        """Whether it can be searched for at all: what comes out of a store may be anything."""
        if self.kind != "pattern":
            return self.kind in _KINDS and all(self.words)
        try:
            return len(self.words) == 2 and self._pattern is not None
        except (ValueError, re.error, OverflowError, RecursionError):
            return False

    @property
    def _pattern(self) -> re.Pattern[bytes]:
        return _compiled(*self.words)


@lru_cache(maxsize=256)
def _compiled(pattern: bytes, flags: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, int(flags))


def any_of(*words: bytes) -> Scan:
    """Whether one of these texts is held."""
    return Scan("any", words)


def any_small(words: Iterable[bytes]) -> Scan:
    """The same of texts in small letters, however they are written."""
    return Scan("low", tuple(words))


def matching(expression: re.Pattern[bytes] | bytes) -> Scan:
    """Whether an expression matches anywhere."""
    found = re.compile(expression) if isinstance(expression, bytes) else expression
    return Scan("pattern", (found.pattern, str(found.flags).encode()))


def _holds_stem(text: bytes, stems: Iterable[bytes]) -> bool:
    small = text.lower()
    for stem in stems:
        at = small.find(stem)
        while at >= 0:
            end = at + len(stem)
            if not text[end : end + 1].islower() and (text[at : at + 1].isupper() or not text[at - 1 : at].isalpha()):
                return True
            at = small.find(stem, end)
    return False


class Looks:
    """The texts of a program's files, and which of them were looked at, how."""

    def __init__(self, text: Callable[[str], bytes]) -> None:
        self.text = text
        """A text, of which nothing is remembered."""
        self.whole: set[str] = set()
        """Files whose text was read for more than one of the following."""
        self.said: dict[str, dict[Scan, bool]] = {}
        """Of each file what was searched in it, with the answer."""
        self.marked: dict[str, dict[Scan, dict[int, bool]]] = {}
        """The same of functions, by their index."""
        self.cuts: dict[str, dict[tuple[int, int], bytes]] = {}
        """Pieces of a text that were read, with a short name for each."""
        self.rows: dict[str, dict[tuple[int, int], bytes]] = {}
        """The same of pieces with all of the lines that they stand on."""
        self.places: dict[str, set[int]] = {}
        """Offsets that were made lines and columns."""
        self._hits: tuple[str, Scan | None, list[int]] = ("", None, [])

    def source(self, path: str) -> bytes:
        """The text of a file, for whatever it is read."""
        self.whole.add(path)
        return self.text(path)

    def says(self, path: str, scan: Scan) -> bool:
        """Whether the text of a file holds what is searched."""
        known = self.said.setdefault(path, {})
        found = known.get(scan)
        if found is None:
            found = known[scan] = scan.found_in(self.text(path))
        return found

    def marks(self, path: str, scan: Scan, index: int, at: int, end: int) -> bool:
        """Whether what a pattern finds begins in a function's text. Those of one file are best asked one after another."""
        known = self.marked.setdefault(path, {}).setdefault(scan, {})
        found = known.get(index)
        if found is None:
            if self._hits[:2] != (path, scan):
                self._hits = (path, scan, scan.hits(self.text(path)))
            hits = self._hits[2]
            first = bisect_left(hits, at)
            found = known[index] = first < len(hits) and hits[first] < end
        return found

    def cut(self, path: str, at: int, end: int, until: bytes = b"") -> bytes:
        """A piece of a text; it ends before `until`, where it holds that."""
        piece = self.text(path)[at:end]
        stop = piece.find(until) if until else -1
        read = piece if stop < 0 else piece[: stop + len(until)]
        self.cuts.setdefault(path, {})[at, at + len(read)] = short_name(read)
        return piece if stop < 0 else piece[:stop]

    def around(self, path: str, at: int, end: int) -> bytes:
        """The text of a file, for whoever reads nothing in it but the lines of a piece, and how lines end."""
        text = self.text(path)
        self.rows.setdefault(path, {})[at, end] = rows_of(text, at, end)
        return text

    def forget(self, path: str) -> None:
        """A file has another text now."""
        self.whole.discard(path)
        for of in (self.said, self.marked, self.cuts, self.rows, self.places):
            of.pop(path, None)
        self._hits = ("", None, [])


def rows_of(text: bytes, at: int, end: int) -> bytes:
    """A short name for the lines that a piece of text stands on, and for how lines end."""
    start, stop, first = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", end), text.find(b"\n")
    ends = b"\r\n" if first > 0 and text[first - 1 : first] == b"\r" else b"\n"
    return short_name(ends + text[start : stop + 1 if stop >= 0 else len(text)])


def short_name(piece: bytes) -> bytes:
    """A name for a piece of text."""
    return blake2b(piece, digest_size=12).digest()
