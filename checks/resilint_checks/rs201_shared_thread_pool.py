"""RS201 shared-thread-pool. Page: rule_docs/RS201.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.shared_pools.faults():
        yield RULE.finding(fault.span, fault.text, program.value(None, fault.confidence, *fault.steps))
    for setting in program.shared_servers():
        yield RULE.finding(setting.span, setting.message, setting.value, severity=setting.severity)


RULE = Rule(
    code="RS201",
    name="shared-thread-pool",
    severity=Severity.WARNING,
    summary="One pool, gate or RPC server for several dependencies or services, so that a slow one starves the rest.",
    languages=frozenset({"py", "go", "java", "xml"}),
    check=check,
)
