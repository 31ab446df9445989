"""RS202 blocking-on-shared-executor. Page: rule_docs/RS202.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.blocking.faults():
        yield RULE.finding(fault.span, fault.text, program.value(None, fault.confidence, *fault.steps))


RULE = Rule(
    code="RS202",
    name="blocking-on-shared-executor",
    severity=Severity.WARNING,
    summary="A wait on an event loop or on an executor that the whole process shares.",
    languages=frozenset({"py", "java"}),
    check=check,
)
