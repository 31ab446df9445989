"""RS504 retry-amplification. Page: rule_docs/RS504.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.policies.amplified():
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS504",
    name="retry-amplification",
    severity=Severity.WARNING,
    summary="Layers of retries on one path that multiply to more tries than the budget.",
    languages=frozenset({"py", "go", "java", "json", "yaml"}),
    check=check,
)
