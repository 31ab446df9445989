"""RS401 unbounded-queue. Page: rule_docs/RS401.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for queue in program.pools.unbounded_queues():
        value = program.value(None, queue.confidence, *queue.steps)
        yield RULE.finding(queue.span, queue.text, value, severity=queue.severity, fix=queue.fix)
    for setting in program.setting_faults.unlimited_queues:
        yield RULE.finding(setting.span, setting.message, setting.value, severity=setting.severity, fix=setting.fix)


RULE = Rule(
    code="RS401",
    name="unbounded-queue",
    severity=Severity.WARNING,
    summary="A queue, a backlog of an executor or a buffer without a capacity.",
    languages=frozenset({"py", "go", "java", "yaml"}),
    check=check,
)
