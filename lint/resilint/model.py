"""The nouns a rule and a report speak in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum
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
    """One replacement of text; a fix is a tuple of them."""

    span: Span
    text: str


class Finding(Struct, frozen=True, gc=False):
    """One fault: where, what and why. `trace` leads from the cause to the place."""

    span: Span
    code: str
    name: str
    severity: Severity
    message: str
    confidence: Confidence
    trace: tuple[Step, ...] = ()
    edits: tuple[Edit, ...] = ()

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
        return Finding(span, self.code, self.name, severity or self.severity, message, sure, tuple(seen))
