"""What cases of knowledge meet: the calls that its rows describe, and which of those a finding speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from resilint import Finding, Program, registry
from resilint.model import Span
from resilint.run import Texts, run
from resilint.scope import Scope
from resilint.settings import load
from resilint.testing import Case

STABLE = tuple(rule for rule in registry.rules() if not rule.preview)


class Met(NamedTuple):
    """A call of a case that a row describes. A row is known by its first name."""

    row: str
    name: str
    """What is called: one of the row's names, or that of a type it is inherited by."""
    path: str
    line: int
    flagged: bool
    """A finding, or a hop of its trace, lies on the call, or in it and on no other call."""


class Observed(NamedTuple):
    """What a case gives."""

    findings: list[Finding]
    calls: list[Met]


def observe(case: Case, folder: Path) -> Observed:
    """Writes a case's files into an empty folder, and gives what all stable rules find there and which calls are described."""
    for path, text in case.files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    calls: list[Met] = []

    def look(program: Program, texts: Texts, found: list[Finding]) -> bool:
        calls.extend(_described(program, [span for finding in found for span in _spans(finding)]))
        return False

    root = folder.resolve()
    result = run(Scope(root, root), load(root), STABLE, registry.rules(), mend=look)
    assert not result.failures, result.failures
    return Observed(result.findings, calls)


def _spans(finding: Finding) -> Iterator[Span]:
    yield finding.span
    for step in finding.trace:
        yield step.span


def _described(program: Program, told: list[Span]) -> Iterator[Met]:
    for fn in program.functions("python"):
        spans = [(site, program.span_of(fn, site.call)) for site in fn.body.calls]
        for site, span in spans:
            # What is said of a call inside this one, as an argument, is said of that.
            inner = [other for _, other in spans if other != span and _lies_in(other, span)]
            flagged = any(_lies_in(there, span) and not any(_lies_in(there, other) for other in inner) for there in told)
            for target, entry in program.described(site):
                yield Met(entry.names[0], target.name, span.path, span.line, flagged)


def _lies_in(inner: Span, outer: Span) -> bool:
    return (
        inner.path == outer.path
        and (outer.line, outer.col) <= (inner.line, inner.col)
        and (inner.end_line, inner.end_col) <= (outer.end_line, outer.end_col)
    )
