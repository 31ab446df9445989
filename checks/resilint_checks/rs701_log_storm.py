"""RS701 log-storm. Page: rule_docs/RS701.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.log_storms():
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS701",
    name="log-storm",
    severity=Severity.WARNING,
    summary="A line of log for every element whose call to a peer fails: while it is down, as many lines as there are elements.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
