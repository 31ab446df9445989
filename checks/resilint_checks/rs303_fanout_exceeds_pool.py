"""RS303 fanout-exceeds-pool. Page: rule_docs/RS303.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.draws.exceeding():
        yield RULE.finding(fault.span, fault.message, fault.value, severity=fault.severity)


RULE = Rule(
    code="RS303",
    name="fanout-exceeds-pool",
    severity=Severity.WARNING,
    summary="A bounded fan-out that is wider than the pool of connections it draws on.",
    languages=frozenset({"py", "go", "java", "yaml"}),
    check=check,
)
