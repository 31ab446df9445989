"""What a program ends by a timer of its own, because the limit that a library offers is switched off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
            codes = dict.fromkeys(code for callee in program.callees(site) for code in _with_its_class(callee))
            if _starts_timer(program, codes, names, lasts):
                return True
    return False


def _with_its_class(fn: Fun) -> Iterator[Fun]:
    """A function with the literals inside it; of a constructor all that its class does with what it keeps."""
    around = fn.module.classes[fn.head.owner].decl if fn.head.name == "__init__" and fn.head.owner >= 0 else fn.head
    for other in fn.module.functions[1:]:
        if around.at <= other.head.at and other.head.end <= around.end:
            yield other


def _starts_timer(program: Program, codes: Iterable[Fun], names: frozenset[str], lasts: frozenset[str]) -> bool:
    """Whether one of these functions, or a helper that they call, starts a timer. Each is looked at once, however many call it."""
    seen = set(codes)
    level = list(codes)
    for _ in range(_FAR + 1):
        sites = [site for fn in level for site in fn.body.calls]
        if any(site.last in lasts and any(not names.isdisjoint(e.names) for _, e in program.described(site)) for site in sites):
            return True
        level = list(dict.fromkeys(callee for site in sites for callee in program.callees(site) if callee not in seen))
        seen.update(level)
    return False
