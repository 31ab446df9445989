"""RS406 expired-work-served. Page: rule_docs/RS406.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.expired_work():
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS406",
    name="expired-work-served",
    severity=Severity.INFO,
    summary="A worker that serves what it takes from a queue without a look at whether its caller still waits.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
