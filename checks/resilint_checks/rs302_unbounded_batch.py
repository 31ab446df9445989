"""RS302 unbounded-batch. Page: rule_docs/RS302.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program


def check(program: Program) -> Iterator[Finding]:
    for batch in program.batches():
        work = f"starts a {batch.spawn.unit} for" if batch.spawn is not None else "waits for a peer for"
        who = batch.fn.head.qual
        message = f"`{batch.over}` is as long as the caller makes it: {who} {work} each element and never checks how many there are"
        yield RULE.finding(batch.span, message, program.value(None, batch.confidence, *batch.steps))


RULE = Rule(
    code="RS302",
    name="unbounded-batch",
    severity=Severity.WARNING,
    summary="A request handler works through a collection from the caller without checking its size.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
