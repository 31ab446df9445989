"""RS304 abandoned-worker. Page: rule_docs/RS304.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for work in program.abandoned():
        yield RULE.finding(work.span, work.text, program.value(None, work.confidence, *work.steps), fix=work.fix)


RULE = Rule(
    code="RS304",
    name="abandoned-worker",
    severity=Severity.WARNING,
    summary="Work that outlives its caller and then blocks, leaks or holds the caller up.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
