"""What runs at the start or the end of a process only, as far as names say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from resilint.link.code import Fun

if TYPE_CHECKING:
    from resilint.program import Program

ONCE = re.compile(
    r"^_*(?:main|start\w*|setup\w*|set_up\w*|init(?!iat)\w*|launch\w*|shutdown\w*|stop\w*|close(?!st)\w*|clean_?up|tear_?down"
    r"|lifespan\w*|on_(?:start|shut|clean)\w*|(?:before|after)_serving|__aenter__|__aexit__)$"
)
"""Names of what a process or an object begins and ends with."""
_ABOVE = 2
"""How many calls above a function it is asked whether it is a part of the start or the end."""
_ASKED = frozenset({"request", "event", "middleware"})
"""Kinds of entry points that somebody waits for each time."""
_MANY = 40
"""Functions above one that are looked at."""


def is_asked_for(program: Program, fn: Fun) -> bool:
    """Whether each request runs a function, whatever its name says: `start_order` is no start."""
    seen, level = {fn}, [fn]
    for _ in range(_ABOVE + 1):
        if any((entry := program.entries.get(one)) is not None and entry.kind in _ASKED for one in level):
            return True
        above = dict.fromkeys(frame.fn for one in level for frame, _, _, _ in program.resolver.callers(one)[0])
        level = [one for one in above if one not in seen][:_MANY]
        seen.update(level)
    return False


def runs_once(program: Program, fn: Fun, above: int = _ABOVE, made: bool = False) -> bool:
    """Whether a function is a start or an end by its name, or only such ones call it; with `made`, also what makes an object."""
    if ONCE.match(fn.name) or (made and fn.name == "__init__"):
        return True
    if not above or fn in program.entries or any(not user.module.is_test for user in program.names.values_of.get(fn.name, ())):
        return False
    callers, whole = program.resolver.callers(fn)
    return whole and bool(callers) and all(runs_once(program, frame.fn, above - 1, made) for frame, _, _, _ in callers)
