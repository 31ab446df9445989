"""RS603 unordered-hash-routing. Page: rule_docs/RS603.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.choices.unordered():
        yield RULE.finding(fault.span, fault.message, program.value(None, fault.confidence, *fault.steps))


RULE = Rule(
    code="RS603",
    name="unordered-hash-routing",
    severity=Severity.WARNING,
    summary="An owner is chosen by its position in a list whose order callers do not agree on.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
