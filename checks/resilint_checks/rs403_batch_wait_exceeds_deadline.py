"""RS403 batch-wait-exceeds-deadline. Page: rule_docs/RS403.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.queues.lingering():
        yield RULE.finding(fault.span, fault.text, program.value(None, fault.confidence, *fault.steps))


RULE = Rule(
    code="RS403",
    name="batch-wait-exceeds-deadline",
    severity=Severity.WARNING,
    summary="A batch that waits for company and then works for longer than its callers wait.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
