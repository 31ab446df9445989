"""RS101 client-without-timeout. Page: rule_docs/RS101.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in chain(program.timeouts.missing["network"], program.setting_faults.clients, program.made_of_settings.clients):
        yield RULE.finding(fault.span, fault.message, fault.value, severity=fault.severity, fix=fault.fix)


RULE = Rule(
    code="RS101",
    name="client-without-timeout",
    severity=Severity.ERROR,
    summary="A network client or call that can wait for ever.",
    languages=frozenset({"py", "go", "haproxy"}),
    check=check,
)
