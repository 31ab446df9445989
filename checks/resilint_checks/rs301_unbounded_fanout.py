"""RS301 unbounded-fanout. Page: rule_docs/RS301.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint import Program

WHO_DECIDES = {
    "input": ", as many as the caller sends",
    "data": ", as many as the answer holds",
    "parameter": ", as many as callers pass",
}


def check(program: Program) -> Iterator[Finding]:
    for fanout in program.fanouts():
        if fanout.event:
            message = f"one {fanout.unit} is started for every {fanout.event} and nothing limits how many run"
        else:
            many = WHO_DECIDES.get(fanout.size.kind, "")
            message = f"one {fanout.unit} is started for each of `{fanout.over}`{many}, and nothing limits them"
        if fanout.siblings:
            names = sorted({sibling.name for sibling in fanout.siblings})
            limits = sorted(
                {f"{sibling.limit.number:g}" for sibling in fanout.siblings if sibling.limit.number is not None}, key=float
            )
            what = f"a limit of {' or '.join(limits)}" if limits else "a limit"
            message += f": {_listed(names)} {'sets' if len(names) == 1 else 'set'} {what}"
        siblings = [program.value(s.limit.number, fanout.confidence, hops=s.limit.hops) for s in fanout.siblings]
        fix = program.mending.group_limit(fanout.spawn)
        yield RULE.finding(fanout.span, message, program.value(None, fanout.confidence, *fanout.steps), *siblings, fix=fix)


def _listed(names: list[str]) -> str:
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


RULE = Rule(
    code="RS301",
    name="unbounded-fanout",
    severity=Severity.WARNING,
    summary="Concurrency around I/O that grows with its input, without a limit.",
    languages=frozenset({"py", "go", "java"}),
    check=check,
)
