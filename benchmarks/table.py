"""What was measured as Markdown: a table of the programs on each tree, one of the growth, and the targets with what was met."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MB = 1_000_000


@dataclass
class Row:
    """One program on one tree. Seconds of each run; no runs where a program keeps nothing between them."""

    tree: str
    program: str
    rule: str = ""
    read: int | None = None
    findings: int | None = None
    cold: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    unchanged: list[float] = field(default_factory=list)
    commented: list[float] = field(default_factory=list)
    """With a comment more in one file."""
    changed: list[float] = field(default_factory=list)
    """With a function more in one file."""
    largest: int | None = None
    together: int | None = None


@dataclass(frozen=True)
class Tree:
    """A tree and how much code it holds."""

    name: str
    files: int
    lines: int
    bytes: int


@dataclass(frozen=True)
class Step:
    """A tree that holds a number of copies of another."""

    times: int
    files: int
    lines: int
    cold: float
    cpu: float
    unchanged: float
    largest: int


@dataclass(frozen=True)
class Target:
    """A figure that must not be exceeded."""

    what: str
    most: float
    measured: float | None
    unit: str

    @property
    def verdict(self) -> str:
        """Whether it is met; what was not measured is not."""
        if self.measured is None or math.isnan(self.measured):
            return "not measured"
        return "met" if self.measured <= self.most else "**missed**"


def middle(values: Sequence[float]) -> float | None:
    """The median; none of nothing."""
    return statistics.median(values) if values else None


def seconds(value: float | None) -> str:
    """A time with as many digits as mean something."""
    if value is None:
        return "–"
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def times(value: float | None, base: float | None) -> str:
    """A ratio, with as many digits as mean something."""
    if value is None or not base:
        return "–"
    ratio = value / base
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def memory(value: int | None) -> str:
    """Bytes in MB."""
    return "–" if value is None else f"{value / MB:.0f} MB"


def count(value: int | None) -> str:
    """A number with its thousands apart."""
    return "–" if value is None else f"{value:,}"


def programs(rows: Sequence[Row], parses: dict[str, float]) -> str:
    """The table of programs. `parses`: the seconds of the raw parse of each tree, which ratios are taken to."""
    head = ("tree", "program", "rules", "files read", "findings", "cold", "÷ parse", "CPU", "nothing changed")
    lines = []
    for row in rows:
        cold = middle(row.cold)
        lines.append(
            (
                row.tree,
                row.program,
                row.rule,
                count(row.read),
                count(row.findings),
                seconds(cold),
                times(cold, parses.get(row.tree)),
                seconds(middle(row.cpu)),
                seconds(middle(row.unchanged)),
                seconds(middle(row.commented)),
                seconds(middle(row.changed)),
                memory(row.largest),
                memory(row.together),
            )
        )
    return markdown((*head, "a comment more", "a function more", "largest process", "all processes"), lines)


def growth(steps: Sequence[Step]) -> str:
    """The table of one tree beside copies of itself, with ratios to one of it."""
    head = ("copies", "files", "lines", "cold", "÷ one", "CPU", "÷ one", "nothing changed", "largest process", "a million lines")
    first = steps[0]
    lines = [
        (
            str(one.times),
            count(one.files),
            count(one.lines),
            seconds(one.cold),
            times(one.cold, first.cold),
            seconds(one.cpu),
            times(one.cpu, first.cpu),
            seconds(one.unchanged),
            memory(one.largest),
            memory(round(one.largest / max(1, one.lines) * 1e6)),
        )
        for one in steps
    ]
    return markdown(head, lines)


def targets(asked: Iterable[Target]) -> str:
    """The table of targets."""
    lines = [
        (
            one.what,
            f"≤ {one.most:g} {one.unit}".rstrip(),
            "–" if one.measured is None or math.isnan(one.measured) else f"{one.measured:.3g} {one.unit}".rstrip(),
            one.verdict,
        )
        for one in asked
    ]
    return markdown(("target", "at most", "measured", ""), lines)


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table; what is not the first column or words stands at the right."""
    marks = ["---" if column == 0 or not _are_numbers(line[column] for line in lines) else "--:" for column in range(len(head))]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, marks, *lines)) + "\n"


def _are_numbers(cells: Iterable[str]) -> bool:
    return all(not cell or cell[0].isdigit() or cell == "–" for cell in cells)
