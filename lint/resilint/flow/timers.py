"""What a program ends by a timer of its own, because the limit that a library offers is switched off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint.flow.streams import receiver_of
from resilint.link.code import CallSite, Fun, dotted

if TYPE_CHECKING:
    from resilint.program import Program

_FAR = 2
"""So many helpers may lie between the code that is handed something and the call that starts a timer."""


def is_ended_by_timer(program: Program, fn: Fun, setter: CallSite) -> bool:
    """Whether the receiver of a call that switches its limit off is handed to code which starts a timer."""
    name = dotted(receiver_of(setter.call))
    if not name:
        return False
    names = program.knowledge.words.get("timers", frozenset())
    lasts = frozenset(timer.rpartition(".")[2] for timer in names)
    for site in fn.body.calls:
        if site.call is not setter.call and any(dotted(arg.value) == name for arg in site.call.args):
            for callee in program.callees(site):
                if any(_starts_timer(program, code, names, lasts, _FAR) for code in _with_its_class(callee)):
                    return True
    return False


def _with_its_class(fn: Fun) -> Iterator[Fun]:
    """A function with the literals inside it; of a constructor all that its class does with what it keeps."""
    around = fn.module.classes[fn.head.owner].decl if fn.head.name == "__init__" and fn.head.owner >= 0 else fn.head
    for other in fn.module.functions[1:]:
        if around.at <= other.head.at and other.head.end <= around.end:
            yield other


def _starts_timer(program: Program, fn: Fun, names: frozenset[str], lasts: frozenset[str], far: int) -> bool:
    for site in fn.body.calls:
        if site.last in lasts and any(not names.isdisjoint(entry.names) for _, entry in program.described(site)):
            return True
        if far and any(
            _starts_timer(program, callee, names, lasts, far - 1) for callee in program.callees(site) if callee is not fn
        ):
            return True
    return False
