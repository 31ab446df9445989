"""What is wrong with policies of retries: no cap, no pause, pauses that grow alike for everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING

from resilint.flow.policies import Policy
from resilint.flow.slots import say_seconds
from resilint.flow.timeouts import Fault
from resilint.model import Confidence, Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_SHORT = 1.0
"""Seconds: a constant pause of that length or more gives the peer time."""
_FEW = 2
"""Tries: so many at once are one second chance, no storm."""
_SHOWN = 3
_VERSION = re.compile(r"v\d+\.")


class PolicyFaults:
    """Judges the policies that a program writes or configures; defaults that nobody touched are none of its business."""

    def __init__(self, program: Program) -> None:
        self.found: dict[str, dict[Span, Fault]] = {}
        policies = program.policies
        for policy in (*policies.written(), *policies.of_settings()):
            if policy.condition in ("other", "result", "own") or policy.default:
                continue
            for code, fault in _judge(policy):
                self.found.setdefault(code, {}).setdefault(fault.span, fault)

    def of(self, code: str) -> list[Fault]:
        """The faults of a code, in order."""
        return sorted(self.found.get(code, {}).values(), key=lambda fault: (fault.span, fault.message))


def said(owner: str) -> str:
    """The name of what a policy belongs to without the packages in front of it: `backoff.Retry`, `RetryTemplate.execute`."""
    if "/" in owner:
        package, _, name = owner.rpartition("/")
        return f"{package.rpartition('/')[2]}.{name.partition('.')[2]}" if _VERSION.match(name) else name
    parts = owner.split(".")
    first = next((at for at, part in enumerate(parts) if part[:1].isupper()), 0)
    return ".".join(parts[first if first > 1 else 0 :])


def _judge(policy: Policy) -> Iterator[tuple[str, Fault]]:
    what = f"`{said(policy.owner)}`"
    if policy.tries == inf and policy.budget == inf:
        message = f"{what} tries again for ever: neither a number of tries nor a time ends it"
        yield "RS501", _fault(policy, policy.span, message, policy.confidence)
    if not policy.told or (policy.tries is not None and policy.tries <= _FEW):
        return
    if policy.pauses is None or not policy.pauses or policy.grows is None:
        return
    sure = Confidence.HIGH if policy.pause_span is not None else Confidence.MEDIUM
    sure = min(sure, policy.confidence) if policy.confidence == Confidence.LOW else sure
    span = policy.pause_span or policy.span
    often = f" up to {policy.tries:g} times" if policy.tries is not None and policy.tries < inf else ""
    if not policy.grows and not policy.jitter and policy.jitter is not None and max(policy.pauses) < _SHORT:
        longest = max(policy.pauses)
        if longest:
            message = f"{what} tries{often} with {say_seconds(longest)} in between each time: the pause does not grow"
        else:
            message = f"{what} tries{often} with no pause in between"
        yield "RS502", _fault(policy, span, message, sure)
    elif policy.grows and policy.jitter is False:
        steps = [pause for pause, _ in groupby(policy.pauses)]
        pauses = ", ".join(say_seconds(pause) if pause else "0 s" for pause in steps[:_SHOWN])
        more = ", …" if len(steps) > _SHOWN or policy.tries in (inf, None) else ""
        message = f"pauses of {what} grow alike for every caller ({pauses}{more}): nothing random is in them"
        yield "RS503", _fault(policy, span, message, sure)


def _fault(policy: Policy, span: Span, message: str, sure: Confidence) -> Fault:
    steps = [*policy.steps]
    if policy.span != span:
        steps.append(Step(policy.span, "the tries are told here"))
    return Fault(span, message, Value(policy.tries, sure, tuple(steps)), key=span)
