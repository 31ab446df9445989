"""RS506 retry-ignores-cancel. Page: rule_docs/RS506.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.retries.faults("RS506"):
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS506",
    name="retry-ignores-cancel",
    severity=Severity.WARNING,
    summary="A retry that sleeps or tries again without asking whether its work was cancelled.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
