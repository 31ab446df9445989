"""RS702 timeout-cause-lost. Page: rule_docs/RS702.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.lost_causes.faults():
        yield RULE.finding(fault.span, fault.message, fault.value, fix=fault.fix)


RULE = Rule(
    code="RS702",
    name="timeout-cause-lost",
    severity=Severity.WARNING,
    summary="A timeout or cancellation that becomes an error which hides the cause.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
