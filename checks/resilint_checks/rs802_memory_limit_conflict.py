"""RS802 memory-limit-conflict. Page: rule_docs/RS802.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.oversized_heaps():
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS802",
    name="memory-limit-conflict",
    severity=Severity.WARNING,
    summary="A runtime that may use as much memory as its container, or that collects nothing and has no limit.",
    languages=frozenset({"yaml", "go"}),
    check=check,
)
