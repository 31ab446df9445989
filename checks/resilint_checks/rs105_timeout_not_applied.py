"""RS105 timeout-not-applied. Page: rule_docs/RS105.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in chain(program.dropped_offers(), program.setting_faults.unread):
        yield RULE.finding(fault.span, fault.message, fault.value, fix=fault.fix)


RULE = Rule(
    code="RS105",
    name="timeout-not-applied",
    severity=Severity.ERROR,
    summary="A timeout that is accepted but never takes effect where it was meant.",
    languages=frozenset({"py", "go", "yaml"}),
    check=check,
)
