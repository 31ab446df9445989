"""RS801 internal-call-via-public-host. Page: rule_docs/RS801.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.public_hosts.calls():
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS801",
    name="internal-call-via-public-host",
    severity=Severity.WARNING,
    summary="A service of this repository that is called by its public host.",
    languages=frozenset({"py", "go", "java", "yaml"}),
    check=check,
)
