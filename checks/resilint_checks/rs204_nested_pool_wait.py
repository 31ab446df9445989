"""RS204 nested-pool-wait. Page: rule_docs/RS204.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.pool_tasks.nested_waits():
        yield RULE.finding(fault.span, fault.text, program.value(None, fault.confidence, *fault.steps))


RULE = Rule(
    code="RS204",
    name="nested-pool-wait",
    severity=Severity.ERROR,
    summary="A task that waits for another task of the pool it runs on.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
