"""RS602 process-local-hash. Page: rule_docs/RS602.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.choices.process_local():
        yield RULE.finding(fault.span, fault.message, program.value(None, fault.confidence, *fault.steps))


RULE = Rule(
    code="RS602",
    name="process-local-hash",
    severity=Severity.WARNING,
    summary="A hash that differs between processes decides where something is placed.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
