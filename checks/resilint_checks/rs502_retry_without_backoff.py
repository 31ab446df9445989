"""RS502 retry-without-backoff. Page: rule_docs/RS502.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in (*program.retries.faults("RS502"), *program.policies.faults("RS502")):
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS502",
    name="retry-without-backoff",
    severity=Severity.WARNING,
    summary="A retry that tries again at once, or after a short pause that never grows.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
