"""RS106 timeout-inversion. Page: rule_docs/RS106.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.inversions.single:
        yield RULE.finding(fault.span, fault.message, fault.value, fix=fault.fix)


RULE = Rule(
    code="RS106",
    name="timeout-inversion",
    severity=Severity.ERROR,
    summary="Work that can outlast the deadline above it: its waits add up to more than its caller, proxy or worker gives it.",
    languages=frozenset({"py", "go", "java", "yaml"}),
    check=check,
)
