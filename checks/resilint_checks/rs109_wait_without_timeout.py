"""RS109 wait-without-timeout. Page: rule_docs/RS109.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in chain(program.endless_waits.faults, program.timeouts.pool_waits, program.setting_faults.endless_waits):
        yield RULE.finding(fault.span, fault.message, fault.value, fix=fault.fix)


RULE = Rule(
    code="RS109",
    name="wait-without-timeout",
    severity=Severity.WARNING,
    summary="A request or worker that waits for another thread, task, process or message without a limit.",
    languages=frozenset({"py", "go", "java", "yaml"}),
    check=check,
)
