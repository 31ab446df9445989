"""What a server hands the function that it calls for each connection, and where that waits for its peer."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from resilint.flow.values import FnVal, Obj
from resilint.link.code import CallSite, Fun, dotted

if TYPE_CHECKING:
    from resilint.knowledge.schema import EntryRow
    from resilint.program import Program

_CALLS = 3
"""How many functions what was handed over is followed through."""


def endless_reads(program: Program, row: EntryRow, server: Obj) -> Iterator[CallSite]:
    """Calls without a limit by which a function that a server was given waits for its peer."""
    binds = program.slots.made_with(server) or ()
    bind, _ = program.slots.find_bind(row.arg, row.pos, binds)
    things = [flow.thing for flow in program.resolver.value(bind.expr, bind.frame)] if bind is not None else []
    for thing in things:
        if isinstance(thing, FnVal):
            yield from _reads(program, thing.fn, dict(enumerate(row.given)), set())


def _reads(program: Program, fn: Fun, given: dict[int, str], seen: set[Fun]) -> Iterator[CallSite]:
    """The same in one function, of whose positional parameters the types are known, and in those that it hands them on to."""
    if fn in seen or len(seen) >= _CALLS or program.deadlines.scoped(fn) != inf:
        return
    seen.add(fn)
    table = program.resolver.table(fn.module)
    types = {param.name: given[at] for at, param in enumerate(fn.positional) if at in given}
    for site in fn.body.calls:
        if program.deadlines.around(site) != inf:
            continue
        base, _, method = dotted(site.call.fn).rpartition(".")
        entry = table.call(f"{types[base]}.{method}") if base in types else None
        if entry is not None and entry.does == "network":
            yield site
            continue
        passed = {at: types[name] for at, arg in enumerate(site.call.args) if (name := dotted(arg.value)) in types}
        for callee in program.callees(site) if passed else ():
            yield from _reads(program, callee, passed, seen)
