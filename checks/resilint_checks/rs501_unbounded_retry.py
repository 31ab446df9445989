"""RS501 unbounded-retry. Page: rule_docs/RS501.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in (*program.retries.faults("RS501"), *program.policies.faults("RS501")):
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS501",
    name="unbounded-retry",
    severity=Severity.WARNING,
    summary="A retry that nothing ends after some tries or some time.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
