"""RS803 placement-outside-zone. Page: rule_docs/RS803.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.loose_placements():
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS803",
    name="placement-outside-zone",
    severity=Severity.WARNING,
    summary="A workload that belongs near a dependency in one zone and may be scheduled in another.",
    languages=frozenset({"yaml"}),
    check=check,
)
