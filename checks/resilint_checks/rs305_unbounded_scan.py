"""RS305 unbounded-scan. Page: rule_docs/RS305.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for scan in program.scans.unlimited():
        yield RULE.finding(scan.span, scan.text, program.value(None, scan.confidence, *scan.steps))


RULE = Rule(
    code="RS305",
    name="unbounded-scan",
    severity=Severity.WARNING,
    summary="A job that picks every row that waits for work, or that a time or state selects, with no limit on how many.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
