"""RS102 query-without-timeout. Page: rule_docs/RS102.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in chain(program.timeouts.missing["query"], program.setting_faults.queries, program.made_of_settings.queries):
        yield RULE.finding(fault.span, fault.message, fault.value, severity=fault.severity, fix=fault.fix)


RULE = Rule(
    code="RS102",
    name="query-without-timeout",
    severity=Severity.ERROR,
    summary="A database statement that can run for ever.",
    languages=frozenset({"py", "go", "yaml", "xml"}),
    check=check,
)
