"""RS505 retry-exceeds-deadline. Page: rule_docs/RS505.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.inversions.retried:
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS505",
    name="retry-exceeds-deadline",
    severity=Severity.WARNING,
    summary="Retries that outlast the deadline above them: one try of everything fits, all tries with their pauses do not.",
    languages=frozenset({"py", "go", "java", "yaml"}),
    check=check,
)
