"""The nouns a rule and a report speak in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum
from math import inf
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from resilint.program import Program


class Severity(Enum):
    """error: hangs or breaks under one slow dependency; warning: breaks under load; info: worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """3 for error, 2 for warning, 1 for info."""
        return {"error": 3, "warning": 2, "info": 1}[self.value]


class Confidence(IntEnum):
    """How well a value is known: by a trace in this repository (high), a library's default (medium), a name (low)."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def word(self) -> str:
        """`low`, `medium` or `high`."""
        return self.name.lower()


class Span(Struct, frozen=True, order=True, gc=False):
    """A range of one file. Lines and columns count from 1, columns in characters; `end_col` is the first one after."""

    path: str
    line: int
    col: int
    end_line: int
    end_col: int


class Step(Struct, frozen=True, order=True, gc=False):
    """One hop of the evidence: a place, and what is known there."""

    span: Span
    text: str


class Value(Struct, frozen=True, gc=False):
    """What is known of a quantity. `inf` is known to be without end; `None` is not known."""

    number: float | None
    confidence: Confidence
    trace: tuple[Step, ...] = ()


class Edit(Struct, frozen=True, order=True, gc=False):
    """One replacement of text."""

    span: Span
    text: str


class Fix(Struct, frozen=True, gc=False):
    """Edits that together remove a finding. They do not overlap, and may lie in several files."""

    title: str
    """What they do, as an imperative: `Set timeout to 2 s`."""
    edits: tuple[Edit, ...]
    safe: bool
    """Whether nothing can behave otherwise than its author says it should; else it is written only when that is asked for."""


class Finding(Struct, frozen=True, gc=False):
    """One fault: where, what and why. `trace` leads from the cause to the place."""

    span: Span
    code: str
    name: str
    severity: Severity
    message: str
    confidence: Confidence
    trace: tuple[Step, ...] = ()
    fix: Fix | None = None

    def key(self) -> tuple[str, int, int, str, str, int, int]:
        """Order in which findings are reported."""
        return (self.span.path, self.span.line, self.span.col, self.code, self.message, self.span.end_line, self.span.end_col)


@dataclass(frozen=True)
class Rule:
    """A rule as a value: `check` is a pure function of the linked program. `preview` rules are off unless selected."""

    code: str
    name: str
    severity: Severity
    summary: str
    languages: frozenset[str]
    check: Callable[[Program], Iterable[Finding]]
    preview: bool = False

    def finding(
        self,
        span: Span,
        message: str,
        *because: Value,
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        fix: Fix | None = None,
    ) -> Finding:
        """A finding is as sure as the weakest value it rests on, and shows where each came from.

        `severity` where the catalogue decides otherwise than the rule's default for this place; `confidence` caps it.
        """
        sure = min(
            [value.confidence for value in because] + ([confidence] if confidence is not None else []), default=Confidence.HIGH
        )
        seen: dict[Step, None] = {}
        for value in because:
            for step in value.trace:
                seen.setdefault(step)
        return Finding(span, self.code, self.name, severity or self.severity, message, sure, tuple(seen), fix)


class Part(Struct, frozen=True, gc=False):
    """One bar of a waterfall: something that takes time, or a group of such parts. Seconds count from the start of the whole."""

    kind: str
    """`wait`, `pause`, `open`; of groups `call`, `parallel`, `loop`, `retry`, `window`, `limit`."""
    name: str
    start: float
    seconds: float
    """How long all its rounds take, as far as that is known; `inf` where nothing ends it."""
    amount: str = ""
    """As people write it: `3 × (1 + 3 s)`."""
    span: Span | None = None
    why: str = ""
    """Why it is so long."""
    rounds: float = 1.0
    """How often a loop goes round or a retry tries; `0` where that is not known."""
    counts: bool = True
    """Whether the worst case passes through it; not where something beside it takes longer, or a limit cuts it."""
    parts: tuple[Part, ...] = ()


class Limit(Struct, frozen=True, gc=False):
    """A deadline above an entry point, in seconds for one unit of its work."""

    seconds: float
    text: str
    """Whose it is."""
    span: Span
    stops: bool
    """It ends the work; else only whoever waits for it leaves."""
    confidence: Confidence


class Budget(Struct, frozen=True, gc=False):
    """The worst case of an entry point, against the deadlines above it."""

    name: str
    kind: str
    """`request`, `worker` …"""
    route: str
    because: str
    """What makes it an entry point."""
    span: Span
    known: float
    """A lower bound of the worst case in seconds; all of it where nothing is `endless` or `open`."""
    endless: str
    """The wait that nothing ends; empty for none."""
    open: tuple[str, ...]
    """What is not known."""
    arithmetic: str
    """The sum in `known`."""
    limits: tuple[Limit, ...]
    """The smallest first."""
    verdict: str
    """Against the smallest: `fits`, `exceeds` it already by single tries, only by `retries`, may be `endless`; `none` is known."""
    parts: tuple[Part, ...]
    whole: bool = True
    """Whether all parts are there; else some that are too deep or too many are left out."""

    @property
    def worst(self) -> float:
        """The longest time that is known of: `inf` where something never ends."""
        return inf if self.endless else self.known

    @property
    def ratio(self) -> float | None:
        """The worst case in shares of the smallest deadline; none where no deadline is known."""
        return self.worst / self.limits[0].seconds if self.limits else None
