"""RS402 queue-exceeds-deadline. Page: rule_docs/RS402.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.queues.too_long():
        yield RULE.finding(fault.span, fault.text, program.value(None, fault.confidence, *fault.steps), fix=fault.fix)


RULE = Rule(
    code="RS402",
    name="queue-exceeds-deadline",
    severity=Severity.WARNING,
    summary="A queue that holds more than can be served before those who wait for an answer have left.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
