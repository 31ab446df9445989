"""What a run has looked at in each file, and whether a changed file is the same to whoever looked at no more than that.

A run is a function of what it looks at. Declarations it looks at all; of bodies and texts it knows which it read (`link/looks.py`).
Where a file has changed in nothing of that but its places, the run would find what it found, at the places where it stands now.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import get_annotations
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec import Struct

from resilint import facts as f
from resilint.link.code import CODE
from resilint.link.java_members import completed
from resilint.link.looks import Scan, rows_of, short_name
from resilint.model import Edit, Finding, Fix, Span, Step
from resilint.text import Lines

if TYPE_CHECKING:
    from resilint.program import Program

_EXPRESSIONS = frozenset(get_args(f.Expr))


class Look(Struct, array_like=True):
    """What was looked at in one file, beside what it declares."""

    whole: bool = False
    """Its text was read for more than the following."""
    bodies: set[int] = msgspec.field(default_factory=set)
    """Functions whose bodies were decoded."""
    scans: set[Scan] = msgspec.field(default_factory=set)
    """What was searched in encoded bodies."""
    said: dict[Scan, bool] = msgspec.field(default_factory=dict)
    """What was searched in its text, with the answers."""
    marked: dict[Scan, dict[int, bool]] = msgspec.field(default_factory=dict)
    """The same in the text of functions."""
    cuts: dict[tuple[int, int], bytes] = msgspec.field(default_factory=dict)
    """Pieces of its text that were read, with a short name for each."""
    rows: dict[tuple[int, int], bytes] = msgspec.field(default_factory=dict)
    """The same of pieces with all of the lines that they stand on."""
    places: dict[int, tuple[int, int]] = msgspec.field(default_factory=dict)
    """Offsets that were told as lines and columns, with these."""

    def add(self, other: Look) -> None:
        """What another process looked at."""
        self.whole |= other.whole
        self.bodies |= other.bodies
        self.scans |= other.scans
        self.said |= other.said
        for scan, answers in other.marked.items():
            self.marked.setdefault(scan, {}).update(answers)
        self.cuts |= other.cuts
        self.rows |= other.rows
        self.places |= other.places


_ENCODER = msgspec.msgpack.Encoder()
_LOOK = msgspec.msgpack.Decoder(Look)

Looked = dict[str, bytes]
"""By path, encoded, because all of them come while the program is still held, where a process is at its largest. Files that are not
in it were not looked at but for what they declare."""


def looked_at(program: Program) -> Looked:
    """What a program's questions have looked at until now."""
    looks = program.looks
    found: Looked = {}
    modules = program.names.modules
    for path in {*modules, *looks.whole, *looks.said, *looks.marked, *looks.cuts, *looks.rows, *looks.places}:
        look = Look()
        if (module := modules.get(path)) is not None:
            look.bodies = {fun.index for fun in module.functions if fun.seen}
            look.scans = module.scans
        look.whole = path in looks.whole
        look.said = looks.said.get(path, {})
        look.marked = looks.marked.get(path, {})
        look.cuts = looks.cuts.get(path, {})
        look.rows = looks.rows.get(path, {})
        if path in looks.places:
            lines = Lines(looks.text(path))
            look.places = {at: lines.place(at) for at in looks.places[path]}
        if look != _NONE:
            found[path] = encoded(look)
    return found


_NONE = Look()


def encoded(look: Look) -> bytes:
    """What was looked at in one file, as it is kept."""
    return _ENCODER.encode(look)


def opened(looked: Looked, path: str) -> Look | None:
    """What was looked at in one file."""
    data = looked.get(path)
    return _LOOK.decode(data) if data is not None else None


def together(one: Looked, other: Looked) -> Looked:
    """What two processes looked at; the first one's are changed."""
    for path, data in other.items():
        known = opened(one, path)
        if known is not None:
            known.add(_LOOK.decode(data))
        one[path] = data if known is None else encoded(known)
    return one


# ---------------------------------------------------------------- the same but for its places


class Changed:
    """A file that is the same to those who looked at it, at other places."""

    def __init__(self, path: str, look: Look, places: Mapping[tuple[int, int], tuple[int, int]]) -> None:
        self.path = path
        self.look = look
        """What was looked at, as it stands now."""
        self._places = places
        self._by_line: dict[int, list[int]] = {}
        for line, column in sorted(places):
            self._by_line.setdefault(line, []).append(column)

    @property
    def is_moved(self) -> bool:
        """Whether any line or column that was told is another now."""
        return any(old != new for old, new in self._places.items())

    def span(self, span: Span) -> Span | None:
        """Where a range stands now; none where that is not known."""
        start, end = self._place(span.line, span.col), self._place(span.end_line, span.end_col)
        return Span(span.path, *start, *end) if start is not None and end is not None else None

    def _place(self, line: int, column: int) -> tuple[int, int] | None:
        columns = self._by_line.get(line, [])
        at = bisect_left(columns, column + 1) - 1
        if at < 0:
            return None
        new_line, new_column = self._places[line, columns[at]]
        # What lies between two places that were told belongs to what begins at the first.
        return new_line, new_column + column - columns[at]


def unchanged(path: str, look: Look, old: f.FileFacts, new: f.FileFacts, text: bytes) -> Changed | None:
    """A file as it stands now, if all that was looked at in it is as it was but for its places; else none."""
    if look.whole or (old.kind not in CODE and (look.bodies or look.scans)):
        return None
    if old.kind == "java":
        old, new = completed(old), completed(new)
    offsets = _offsets(look, old, new)
    if offsets is None:
        return None
    functions = new.functions
    for scan, found in look.said.items():
        if scan.found_in(text) != found:
            return None
    for scan, answers in look.marked.items():
        hits = scan.hits(text)
        for index, found in answers.items():
            if not 0 <= index < len(functions):
                return None
            first = bisect_left(hits, functions[index].at)
            if (first < len(hits) and hits[first] < functions[index].end) != found:
                return None
    cuts: dict[tuple[int, int], bytes] = {}
    rows: dict[tuple[int, int], bytes] = {}
    for pieces, there, named in ((look.cuts, cuts, _piece), (look.rows, rows, rows_of)):
        for (at, end), name in pieces.items():
            start, stop = offsets(at), offsets(end)
            if start is None or stop is None or named(text, start, stop) != name:
                return None
            there[start, stop] = name
    lines = Lines(text)
    places: dict[int, tuple[int, int]] = {}
    moved: dict[tuple[int, int], tuple[int, int]] = {}
    before: tuple[int, int] | None = None
    for at, place in sorted(look.places.items()):
        offset = offsets(at)
        if offset is None:
            return None
        places[offset] = moved[place] = now = lines.place(offset)
        # What stood on one line may have been told once.
        if before is not None and (before[0] == place[0]) != (moved[before][0] == now[0]):
            return None
        before = place
    return Changed(path, Look(False, look.bodies, look.scans, look.said, look.marked, cuts, rows, places), moved)


def _piece(text: bytes, at: int, end: int) -> bytes:
    return short_name(text[at:end])


def _offsets(look: Look, old: f.FileFacts, new: f.FileFacts) -> Callable[[int], int | None] | None:
    """Where offsets of the old file lie in the new one, if both declare the same and the bodies that were read are the same."""
    pairs: list[tuple[int, int]] = []
    if (old.kind, old.package, old.exports, old.generated) != (new.kind, new.package, new.exports, new.generated):
        return None
    for one, other in (
        (old.functions, new.functions),
        (old.imports, new.imports),
        (old.classes, new.classes),
        (old.settings, new.settings),
        (old.errors, new.errors),
    ):
        if not _same(one, other, pairs):
            return None
    for index in range(len(old.functions)):
        before, after = bytes(old.bodies[index]), bytes(new.bodies[index])
        if before == after:
            continue
        if index in look.bodies and not _same(f.decode_block(old.bodies[index]), f.decode_block(new.bodies[index]), pairs):
            return None
        if any(scan.found_in(before) != scan.found_in(after) for scan in look.scans):
            return None
    known = dict(pairs)
    starts = sorted(known)
    ends = [known[at] for at in starts]
    # Whoever compares two places has to find the one before the other still, and what was one place to be one.
    if len(known) != len(set(pairs)) or any(a >= b for a, b in pairwise(ends)):
        return None

    def moved(at: int) -> int | None:
        found = known.get(at)
        if found is not None:
            return found
        # Between two places that have moved alike.
        index = bisect_left(starts, at)
        if index in (0, len(starts)) or ends[index] - starts[index] != ends[index - 1] - starts[index - 1]:
            return None
        return at + ends[index] - starts[index]

    return moved


def _same(one: Any, other: Any, pairs: list[tuple[int, int]]) -> bool:
    """Whether two facts are the same but for their places, which are put into `pairs`."""
    # Nested as deep as hostile code may be.
    stack = [(one, other)]
    while stack:
        a, b = stack.pop()
        kind = type(a)
        if kind is not type(b):
            return False
        if isinstance(a, tuple):
            if len(a) != len(b):
                return False
            stack += zip(a, b, strict=True)
        elif isinstance(a, Struct):
            places, others = _fields(kind)  # type: ignore[arg-type]
            pairs += [(getattr(a, name), getattr(b, name)) for name in places]
            # The longer one of two expressions may be the one around the other.
            if kind in _EXPRESSIONS and a.end - a.at != b.end - b.at:  # type: ignore[attr-defined]
                return False
            stack += [(getattr(a, name), getattr(b, name)) for name in others]
        elif a != b or (kind is float and repr(a) != repr(b)):
            return False
    return True


@cache
def _fields(kind: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of facts that are places, and the others."""
    said = {name: note for base in reversed(kind.__mro__) for name, note in get_annotations(base).items()}
    names = kind.__struct_fields__
    return tuple(n for n in names if said[n] == "Place"), tuple(n for n in names if said[n] != "Place")


# ---------------------------------------------------------------- findings


def moved(findings: Iterable[Finding], changed: Mapping[str, Changed]) -> list[Finding] | None:
    """Findings at the places where they stand now; none where one of these is not known."""
    away = {path: file for path, file in changed.items() if file.is_moved}
    found = []
    for finding in findings:
        new = _moved(finding, away) if away else finding
        if new is None:
            return None
        found.append(new)
    return found


def _moved(finding: Finding, changed: Mapping[str, Changed]) -> Finding | None:
    fix = finding.fix
    texts = [finding.message, *(step.text for step in finding.trace), fix.title if fix is not None else ""]
    # A line that is told in words.
    if any(f"{path}:" in text for path in changed for text in texts):
        return None
    gone = False

    def there(span: Span) -> Span:
        nonlocal gone
        file = changed.get(span.path)
        new = file.span(span) if file is not None else span
        gone |= new is None
        return new or span

    trace = tuple(Step(there(step.span), step.text) for step in finding.trace)
    if fix is not None:
        fix = Fix(fix.title, tuple(Edit(there(edit.span), edit.text) for edit in fix.edits), fix.safe)
    new = msgspec.structs.replace(finding, span=there(finding.span), trace=trace, fix=fix)
    return None if gone else new
