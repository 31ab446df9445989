"""RS404 unbounded-backlog. Page: rule_docs/RS404.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.backlogs.unlimited():
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS404",
    name="unbounded-backlog",
    severity=Severity.WARNING,
    summary="A queue outside the process that grows without a limit, or a consumer that takes all of its messages there are.",
    languages=frozenset({"py", "go", "java", "json", "yaml"}),
    check=check,
)
