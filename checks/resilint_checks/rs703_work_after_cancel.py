"""RS703 work-after-cancel. Page: rule_docs/RS703.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.after_cancel.faults:
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS703",
    name="work-after-cancel",
    severity=Severity.WARNING,
    summary="Work that goes on with further calls after its deadline has passed or its caller has gone.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
