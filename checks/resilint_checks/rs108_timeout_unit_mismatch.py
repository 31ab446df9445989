"""RS108 timeout-unit-mismatch. Page: rule_docs/RS108.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in chain(program.timeouts.mismatched, program.setting_faults.mismatched, program.made_of_settings.mismatched):
        yield RULE.finding(fault.span, fault.message, fault.value, severity=fault.severity, fix=fault.fix)


RULE = Rule(
    code="RS108",
    name="timeout-unit-mismatch",
    severity=Severity.ERROR,
    summary="A timeout whose value is in another unit than its API takes.",
    languages=frozenset({"py", "go", "yaml"}),
    check=check,
)
