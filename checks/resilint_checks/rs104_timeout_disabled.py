"""RS104 timeout-disabled. Page: rule_docs/RS104.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in chain(program.timeouts.disabled, program.setting_faults.disabled, program.made_of_settings.disabled):
        yield RULE.finding(fault.span, fault.message, fault.value, severity=fault.severity, fix=fault.fix)


RULE = Rule(
    code="RS104",
    name="timeout-disabled",
    severity=Severity.ERROR,
    summary="A timeout set to the value that means none.",
    languages=frozenset({"py", "go", "yaml"}),
    check=check,
)
