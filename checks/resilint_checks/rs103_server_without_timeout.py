"""RS103 server-without-timeout. Page: rule_docs/RS103.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in chain(program.servers_without_timeout(), program.setting_faults.servers):
        yield RULE.finding(fault.span, fault.message, fault.value, severity=fault.severity, fix=fault.fix)


RULE = Rule(
    code="RS103",
    name="server-without-timeout",
    severity=Severity.ERROR,
    summary="A server that lets a peer hold a connection or a worker for ever.",
    languages=frozenset({"py", "go", "haproxy"}),
    check=check,
)
