"""Budgets of entry points in the formats that people and programs read, one module per format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from math import inf

from resilint.model import Budget, Part
from resilint.report import one_line

FORMATS = {"text": "resilint.report.budget_text", "json": "resilint.report.budget_json", "html": "resilint.report.budget_html"}
"""The writer of each format: a module with `write(budgets, color) -> str`."""
VERDICTS = {
    "endless": "can wait for ever",
    "exceeds": "past its deadline",
    "retries": "past its deadline by its retries",
    "fits": "within its deadline",
    "none": "no deadline is known above it",
}
RULES = {"endless": "RS106", "exceeds": "RS106", "retries": "RS505"}
"""The rules that report a verdict."""


@dataclass(frozen=True)
class Budgets:
    """What a run of `resilint budget` shows. Budgets stand in the order in which they are shown."""

    budgets: tuple[Budget, ...]
    without: int
    """Entry points that wait for nothing that is known."""
    selected: bool = False
    """Somebody asked for these, and wants to see all of them."""
    shown: Callable[[str], str] = lambda path: path
    """A path as reports for programs have it."""
    here: Callable[[str], str] = lambda path: path
    """A path seen from the current directory."""


@dataclass(frozen=True)
class Row:
    """A line of a waterfall: a part, how deep it stands, and the names of the functions around it that hold nothing else."""

    part: Part
    depth: int
    via: tuple[Part, ...] = ()
    until: float = inf
    """When a limit around it cuts it."""

    @property
    def end(self) -> float:
        """When it is over, in seconds from the start; `inf` for never."""
        return min(self.part.start + self.part.seconds, self.until)


def write(budgets: Budgets, kind: str, color: bool = False) -> str:
    """The report in a format of `FORMATS`; `color` for text on a terminal."""
    report: str = import_module(FORMATS[kind]).write(budgets, color)
    return report


def rows(budget: Budget) -> Iterator[Row]:
    """The lines of a waterfall from top to bottom; a function that holds only one part is no line of its own."""
    stack = [Row(part, 0) for part in reversed(budget.parts)]
    while stack:
        row = stack.pop()
        part, via, until = row.part, row.via, row.until
        while part.kind == "call" and len(part.parts) == 1:
            via = (*via, part)
            part = part.parts[0]
        yield Row(part, row.depth, via, until)
        if part.kind == "limit" and part.seconds > 0:
            until = min(until, part.start + part.seconds)
        stack.extend(Row(inner, row.depth + 1, (), until) for inner in reversed(part.parts))


def tells(part: Part) -> bool:
    """Whether anything is known of how long a part takes."""
    return part.seconds > 0 or any(map(tells, part.parts))


@dataclass(frozen=True)
class Axis:
    """The time that a waterfall is drawn over, in seconds."""

    end: float
    deadline: float | None
    """None where there is none, or where it lies so far right that nothing else could be seen."""

    def share(self, seconds: float) -> float:
        """How far right a moment lies, from 0 to 1."""
        return min(max(seconds / self.end, 0.0), 1.0)


def axis_of(budget: Budget) -> Axis:
    """An axis on which all bars and, if that leaves them to be seen, the deadline can be drawn."""
    last = max([budget.known, *(_ends(part) for part in budget.parts)], default=0.0)
    limit = budget.limits[0].seconds if budget.limits else None
    near = limit is not None and (last == 0 or limit <= 20 * last)
    end = max(last, limit if limit is not None and near else 0.0) or 1.0
    return Axis(end * (1.25 if budget.endless else 1.0), limit if near else None)


def _ends(part: Part) -> float:
    """When the last finite bar of a part ends."""
    own = part.start + part.seconds if part.seconds < inf else part.start
    return max([own, *(_ends(inner) for inner in part.parts)]) if part.kind != "limit" else own


def duration(seconds: float) -> str:
    """A duration that one can compute with: `1.5 s`, `250 ms`; in seconds from one second on."""
    if seconds == inf:
        return "for ever"
    for limit, unit, scale in ((1e-6, "ns", 1e-9), (1e-3, "µs", 1e-6), (1.0, "ms", 1e-3)):
        if 0 < seconds < limit:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds:.6g} s"


def worst_text(budget: Budget) -> str:
    """The worst case in words: `13.5 s`, `at least 2 s`, `for ever, in Session.get`."""
    if budget.endless:
        return f"for ever, in {one_line(budget.endless)}" + (f", beside {duration(budget.known)}" if budget.known else "")
    if budget.known == 0:
        return "not known"
    return duration(budget.known) if not budget.open else f"at least {duration(budget.known)}"


def verdict_text(budget: Budget) -> str:
    """How the worst case stands against the smallest deadline."""
    return VERDICTS[budget.verdict] + (" as far as is known" if budget.verdict == "fits" and budget.open else "")


def sum_text(budget: Budget) -> str:
    """The sum behind the worst case, where there is more than one number in it."""
    text = one_line(budget.arithmetic)
    return f"{text} = {duration(budget.known)}" if budget.known and any(sign in text for sign in ("+", "×", ",")) else ""


def amount(part: Part) -> str:
    """How long a part takes, for a narrow column."""
    if part.kind == "open" or (part.seconds == 0 and part.kind != "wait"):
        return "?" if part.kind in ("open", "limit") else ""
    return duration(part.seconds)
