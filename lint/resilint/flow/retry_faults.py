"""What is wrong with retries that are written in code: no cap, no pause, pauses that grow alike for everybody."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.pauses import Pause
from resilint.flow.slots import say_seconds
from resilint.flow.timeouts import Fault
from resilint.link.code import Fun, called_part, dotted
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.flow.retries import Retries, RetryLoop
    from resilint.program import Program

_SHORT = 1.0
"""Seconds: a constant pause of that length or more gives the peer time."""
_FEW = 2
"""Tries: so many at once are one second chance, no storm."""


class RetryFaults:
    """Judges the retries of a program."""

    def __init__(self, program: Program, retries: Retries) -> None:
        self.program = program
        self.retries = retries
        self.found: dict[str, list[Fault]] = {}
        for retry in retries.all():
            if not self._serves(retry):
                for code, fault in self._judge(retry):
                    self.found.setdefault(code, []).append(fault)

    def of(self, code: str) -> list[Fault]:
        """The faults of a code, in order."""
        return sorted(self.found.get(code, ()), key=lambda fault: (fault.span, fault.message))

    @cached_property
    def _threads(self) -> frozenset[Fun]:
        """Functions that threads and tasks begin with."""
        return frozenset(body for spawn in self.program.spawns for body in spawn.bodies)

    def _serves(self, retry: RetryLoop) -> bool:
        """Whether a loop is what its thread or process is there for."""
        fn = retry.fn
        return fn.index == 0 or fn.name in ("main", "run") or fn in self._threads

    def _judge(self, retry: RetryLoop) -> Iterator[tuple[str, Fault]]:
        what = self._what(retry)
        told = self._told(retry)
        if retry.tries == inf and not retry.stops:
            message = f"`{what}` is tried again for ever: nothing ends the retry after some tries or some time"
            yield "RS501", self._fault(retry, self._head(retry), message, Confidence.HIGH, told)
        if retry.tries is not None and retry.tries <= _FEW:
            return
        pause = retry.pause
        step = self._step(retry, pause)
        if pause.grows is False and pause.jitter is False and pause.seconds is not None and pause.seconds < _SHORT:
            where = pause.node if pause.node is not None and pause.seconds > 0 else self._head(retry)
            often = f" up to {retry.tries:g} times" if retry.tries is not None and retry.tries < inf else ""
            if pause.seconds > 0:
                message = (
                    f"`{what}` is tried{often} with {say_seconds(pause.seconds)} in between each time: the pause does not grow"
                )
            else:
                message = f"`{what}` is tried{often} with no pause in between"
            yield "RS502", self._fault(retry, where, message, pause.confidence, (*told, *step))
        elif pause.grows and pause.jitter is False:
            where = pause.node if pause.node is not None else self._head(retry)
            message = f"pauses between tries of `{what}` grow alike for every caller: nothing random is in them"
            yield "RS503", self._fault(retry, where, message, pause.confidence, (*told, *step))

    # ------------------------------------------------------------ words

    def _fault(self, retry: RetryLoop, node: f.Node, message: str, sure: Confidence, steps: tuple[Step, ...]) -> Fault:
        span = self.program.span_of(retry.fn, node)
        return Fault(span, message, Value(None, sure, steps), key=(span.path, span.line))

    def _what(self, retry: RetryLoop) -> str:
        name = dotted(retry.operation.fn) if isinstance(retry.operation, f.Call) else ""
        return name.removeprefix("this.") or self.program.text_of(retry.fn, retry.operation, 40)

    def _told(self, retry: RetryLoop) -> tuple[Step, ...]:
        what = self._what(retry)
        first = self.program.step(retry.fn, _line(retry.operation), f"`{what}` is tried here")
        return first, self.program.step(retry.fn, _line(retry.failed), "its failure leads to the next try")

    def _step(self, retry: RetryLoop, pause: Pause) -> tuple[Step, ...]:
        if pause.node is None:
            return ()
        text = f"{say_seconds(pause.seconds)} are waited here" if pause.seconds is not None else "the pause is made here"
        here = self.program.step(retry.fn, pause.node, text)
        return here, *(self.program.step(fn, node, "and sleeps here") for fn, node in pause.within[-1:])

    @staticmethod
    def _head(retry: RetryLoop) -> f.Node:
        """The first line of a loop."""
        if isinstance(retry.node, f.Call):
            return called_part(retry.node)
        return f.Ref(retry.node.at, min(retry.node.end, retry.node.body[0].at) if retry.node.body else retry.node.end, "")


def _line(node: f.Node) -> f.Node:
    return called_part(node) if isinstance(node, f.Call) else f.Ref(node.at, node.at + 1, "")
