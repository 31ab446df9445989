"""RS503 retry-without-jitter. Page: rule_docs/RS503.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in (*program.retries.faults("RS503"), *program.policies.faults("RS503")):
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS503",
    name="retry-without-jitter",
    severity=Severity.WARNING,
    summary="A retry whose pauses grow by the same steps for every caller.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
