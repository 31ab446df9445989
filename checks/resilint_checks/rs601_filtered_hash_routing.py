"""RS601 filtered-hash-routing. Page: rule_docs/RS601.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.choices.filtered():
        because = program.value(None, fault.confidence, *fault.steps)
        yield RULE.finding(fault.span, fault.message, because, severity=Severity.INFO if fault.minor else None)
    for balancer in program.balancers.filtered():
        message = f"`{balancer.what}` chooses an owner from a list that callers see differently: {balancer.view}"
        yield RULE.finding(balancer.span, message, program.value(None, balancer.confidence, *balancer.steps))


RULE = Rule(
    code="RS601",
    name="filtered-hash-routing",
    severity=Severity.ERROR,
    summary="An owner is chosen by hash from a list that a view of the caller has filtered, so that two callers choose two owners.",
    languages=frozenset({"py", "go", "java", "yaml", "nginx"}),
    check=check,
)
