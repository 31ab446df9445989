"""RS405 no-recovery-capacity. Page: rule_docs/RS405.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.overloaded_queues():
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS405",
    name="no-recovery-capacity",
    severity=Severity.WARNING,
    summary="A queue to which at least as much may come, retries included, as is served at its worst.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
