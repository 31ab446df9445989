"""What identifies a finding in another state of the program, and which findings of two states are the same one.

Code moves, files are renamed, lines are edited: what was known stays known, and nothing new passes for it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

import msgspec
from msgspec import Struct

from resilint.facts import FileFacts
from resilint.model import Finding
from resilint.text import Lines

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LAMBDA = re.compile(r"(?:\.?<[a-z]+\d*>)+")
_BESIDE = "~"
"""First character of a scope that is made of the lines around, where no function or key is."""


class Mark(Struct, frozen=True, order=True, gc=False):
    """One finding without its place in the file: nothing in it changes with the lines above."""

    path: str
    code: str
    message: str
    """Without its numbers: a queue that has grown is the same fault."""
    scope: str
    """The function, or the key of settings, that it lies in."""
    line: str
    """Digest of the text of its line."""


@dataclass(frozen=True)
class Matched:
    """`known[i]`: the i-th new mark stands for one of the old. `gone`: the old ones that none stands for."""

    known: list[bool]
    gone: list[Mark]


Scopes = Callable[[str], "frozenset[str] | None"]
"""The scopes that a file of the program has; `None` where there is no such file."""


def marks_of(findings: Sequence[Finding], files: Mapping[str, FileFacts], lines: Callable[[str], Lines]) -> list[Mark]:
    """The mark of each finding."""
    by_path: dict[str, list[int]] = defaultdict(list)
    for index, finding in enumerate(findings):
        by_path[finding.span.path].append(index)
    marks: list[Mark] = [Mark("", "", "", "", "")] * len(findings)
    for path, indices in by_path.items():
        text = lines(path)
        offsets = {index: text.offset(findings[index].span.line, findings[index].span.col) for index in indices}
        scopes = _scopes_at(files.get(path), offsets)
        for index in indices:
            finding = findings[index]
            number = finding.span.line
            here = _words(text.line(number))
            scope = scopes[index] or _BESIDE + _digest(_near(text, number, -1), _near(text, number, 1))
            message = _NUMBER.sub("#", finding.message)
            marks[index] = Mark(path, finding.code, message, scope, _digest(here) if here else "")
    return marks


def fingerprints(marks: Iterable[Mark]) -> list[str]:
    """What identifies each finding for other programs: its place by the text of its line, not by its number.

    Equal ones in a file are counted from the top.
    """
    counts: Counter[tuple[str, str, str, str]] = Counter()
    prints = []
    for mark in marks:
        same = (mark.code, mark.path, mark.line, mark.message)
        prints.append(_digest(*same, str(counts[same]), size=12))
        counts[same] += 1
    return prints


def scopes_in(files: Mapping[str, FileFacts]) -> Scopes:
    """The scopes that marks in the files of a program may have."""

    def scopes(path: str) -> frozenset[str] | None:
        facts = files.get(path)
        if facts is None:
            return None
        return frozenset({*(_function(fn.qual) for fn in facts.functions), *(_key(setting.path) for setting in facts.settings)})

    return scopes


def match(new: Sequence[Mark], old: Iterable[Mark], scopes: Scopes, renamed: Mapping[str, str] | None = None) -> Matched:
    """Pairs marks of two states, each at most once, the most alike first. `scopes` are those of the new state.

    `renamed`: new paths by old ones. Where that is not known, what has moved out of a file that is gone tells it.
    """
    pairing = _Pairing(new, old)
    there = cache(scopes)

    def has_left(mark: Mark) -> bool:
        """Its function or key is no longer where it was."""
        present = there(mark.path)
        return present is None or not (mark.scope.startswith(_BESIDE) or mark.scope in present)

    def is_gone(mark: Mark) -> bool:
        return there(mark.path) is None

    def in_place() -> None:
        pairing.by(lambda mark: mark)
        # A function that is still there was not renamed: it was mended, and what has the same line elsewhere is new.
        pairing.by(
            lambda mark: (mark.path, mark.code, mark.line, mark.message), lambda mark: mark.scope[:1] == _BESIDE or has_left(mark)
        )
        # The line was edited or broken in two.
        pairing.by(lambda mark: (mark.path, mark.code, mark.scope, mark.message))
        # The line is the same, and what is said of it changed with the code elsewhere.
        pairing.by(lambda mark: (mark.path, mark.code, mark.scope, mark.line) if mark.line else mark)

    pairing.move(renamed or {})
    in_place()
    # Code that was moved.
    moves: dict[str, Counter[str]] = defaultdict(Counter)
    for came, went in (
        *pairing.by(lambda mark: (mark.code, mark.line, mark.message, mark.scope.rpartition(".")[2]), has_left),
        *pairing.by(lambda mark: (mark.code, mark.line, mark.message), is_gone),
    ):
        if is_gone(went):
            moves[went.path][came.path] += 1
    pairing.move({path: min(places, key=lambda place: (-places[place], place)) for path, places in moves.items()})
    in_place()
    return Matched(pairing.known, [origin for _, origin in pairing.left])


Key = Callable[[Mark], Hashable]


class _Pairing:
    def __init__(self, new: Sequence[Mark], old: Iterable[Mark]) -> None:
        self._new = new
        self.known = [False] * len(new)
        self.left = [(mark, mark) for mark in old]
        """The old ones without a partner: where they are looked for, and as they were."""

    def move(self, moves: Mapping[str, str]) -> None:
        """Looks for the old ones in other files."""
        self.left = [
            (msgspec.structs.replace(mark, path=moves[mark.path]) if mark.path in moves else mark, origin)
            for mark, origin in self.left
        ]

    def by(self, key: Key, only: Callable[[Mark], bool] | None = None) -> list[tuple[Mark, Mark]]:
        """Pairs those without a partner whose keys are equal, in their order; of the old `only` some. Gives the pairs."""
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for index, (mark, _) in enumerate(self.left):
            if only is None or only(mark):
                waiting[key(mark)].append(index)
        pairs = []
        taken = set()
        for index, mark in enumerate(self._new if waiting else ()):
            if not self.known[index] and (those := waiting.get(key(mark))):
                self.known[index] = True
                taken.add(those[0])
                pairs.append((mark, self.left[those.popleft()][0]))
        self.left = [pair for index, pair in enumerate(self.left) if index not in taken]
        return pairs


def _words(text: str) -> str:
    return " ".join(text.split())


def _near(text: Lines, number: int, step: int) -> str:
    """The next line above or below that is not empty, if it is not far."""
    return next((words for away in range(1, 4) if (words := _words(text.line(number + step * away)))), "")


def _digest(*parts: str, size: int = 8) -> str:
    digest = blake2b(digest_size=size)
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def _function(qual: str) -> str:
    """Without what is numbered: lambdas, initialisers, the module itself."""
    return _LAMBDA.sub("", qual)


def _key(path: tuple[str, ...]) -> str:
    """A key of settings; elements of lists have no names of their own."""
    return ".".join(part for part in path if not part.isdigit())


def _scopes_at(facts: FileFacts | None, offsets: Mapping[int, int]) -> dict[int, str]:
    """The innermost function, or key of settings, around each offset; empty where there is none."""
    ranges: list[tuple[int, int, str]] = []
    if facts is not None:
        ranges += [(fn.at, fn.end, _function(fn.qual)) for fn in facts.functions]
        ranges += [(min(setting.at, setting.key_at), setting.end, _key(setting.path)) for setting in facts.settings]
    ranges.sort(key=lambda item: (item[0], -item[1]))
    found: dict[int, str] = {}
    around: list[tuple[int, str]] = []
    at = 0
    for index, offset in sorted(offsets.items(), key=lambda item: item[1]):
        while at < len(ranges) and ranges[at][0] <= offset:
            start, end, name = ranges[at]
            while around and around[-1][0] <= start:
                around.pop()
            around.append((end, name))
            at += 1
        while around and around[-1][0] <= offset:
            around.pop()
        found[index] = around[-1][1] if around else ""
    return found
