"""RS205 pool-churn. Page: rule_docs/RS205.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in (*program.draws.churning(), *program.draws.uneven_settings(), *program.churn.faults()):
        yield RULE.finding(fault.span, fault.message, fault.value, severity=fault.severity)


RULE = Rule(
    code="RS205",
    name="pool-churn",
    severity=Severity.WARNING,
    summary="Connections that are opened and closed per call, since fewer are kept than are in use, or none at all.",
    languages=frozenset({"py", "go", "java", "yaml"}),
    check=check,
)
