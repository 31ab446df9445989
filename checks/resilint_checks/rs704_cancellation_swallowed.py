"""RS704 cancellation-swallowed. Page: rule_docs/RS704.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.swallowed.faults:
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS704",
    name="cancellation-swallowed",
    severity=Severity.WARNING,
    summary="A cancellation or interrupt that is caught and dropped, so that what should end goes on.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
