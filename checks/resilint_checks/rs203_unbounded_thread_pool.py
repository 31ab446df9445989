"""RS203 unbounded-thread-pool. Page: rule_docs/RS203.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for pool in program.pools.unbounded_threads():
        value = program.value(None, pool.confidence, *pool.steps)
        yield RULE.finding(pool.span, pool.text, value, severity=pool.severity, fix=pool.fix)
    for setting in program.setting_faults.unlimited_pools:
        yield RULE.finding(setting.span, setting.message, setting.value, severity=setting.severity, fix=setting.fix)


RULE = Rule(
    code="RS203",
    name="unbounded-thread-pool",
    severity=Severity.WARNING,
    summary="A pool without an upper bound on its threads or tasks.",
    languages=frozenset({"py", "go", "java", "yaml"}),
    check=check,
)
