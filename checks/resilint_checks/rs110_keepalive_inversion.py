"""RS110 keepalive-inversion. Page: rule_docs/RS110.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for fault in program.idle_pairs.faults():
        yield RULE.finding(fault.span, fault.message, fault.value)


RULE = Rule(
    code="RS110",
    name="keepalive-inversion",
    severity=Severity.WARNING,
    summary="A server that closes idle connections before the proxy or client in front of it stops using them.",
    languages=frozenset({"py", "go", "java", "yaml", "nginx", "hcl"}),
    check=check,
)
