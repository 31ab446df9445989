"""RS107 deadline-not-propagated. Page: rule_docs/RS107.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in (*program.timeouts.dropped_context, *program.detached_calls()):
        yield RULE.finding(fault.span, fault.message, fault.value, severity=fault.severity, fix=fault.fix)


RULE = Rule(
    code="RS107",
    name="deadline-not-propagated",
    severity=Severity.WARNING,
    summary="A blocking call that is not given the deadline its code holds.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
