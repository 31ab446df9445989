"""RS301 unbounded-fanout. Page: rule_docs/RS301.md."""

from __future__ import annotations

from collections.abc import Iterator

from resilint import Finding, Program, Rule, Severity


def check(program: Program) -> Iterator[Finding]:
    for fanout in program.fanouts():
        because = program.value(None, fanout.confidence, *fanout.steps)
        yield RULE.finding(fanout.span, f"{fanout.text}{fanout.siblings_text}", because)


RULE = Rule(
    code="RS301",
    name="unbounded-fanout",
    severity=Severity.WARNING,
    summary="Concurrency around I/O that grows with its input, with no limit.",
    languages=frozenset({"py", "go"}),
    check=check,
)
