"""On what a server listens: one that only its own machine reaches is held up by nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.values import Bind, Obj
from resilint.knowledge.schema import Part, TypeEntry
from resilint.link.code import Fun, last_name, walk

if TYPE_CHECKING:
    from resilint.program import Program

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "unix", "unixpacket"})
_PORT = re.compile(r"(?:\[([^]]*)\]|([^:]*)):[\w%.]*")
"""The port behind a host, which a format may still have to fill in."""
_ASKS = re.compile(r"env|get(?!_?(?:by|loopback))|flag|conf|default|option|lookup|prop|or_?else", re.IGNORECASE)
"""Calls that ask for an address, so that what they are given beside it holds only where nobody has set one."""


def is_local(program: Program, entry: TypeEntry, obj: Obj, fn: Fun) -> bool:
    """Whether a server listens to its own machine only, where nobody holds it up."""
    made = program.slots.made_with(obj) or ()
    if is_told_local(program, entry.listens, made):
        return True
    fields = {part.field for part in entry.listens if part.field is not None}
    written = obj.node.fields if isinstance(obj.node, f.New) else ()
    if any(isinstance(pair.key, f.Ref) and pair.key.name in fields and _names_local(pair.value) for pair in written):
        return True
    return _is_served_locally(program, obj, fn)


def _is_served_locally(program: Program, obj: Obj, fn: Fun) -> bool:
    """Whether all listeners that a server is told to serve on are of its own machine."""
    table = program.knowledge.of(fn.module.language)
    rows = {name: call.listens for library in table.libraries for call in library.calls if call.listens for name in call.names}
    lasts = {name.rpartition(".")[2] for name in rows}
    answers = []
    for site in (site for other in fn.module.functions for site in other.body.calls if site.last in lasts):
        for target, entry in program.described(site):
            if target.holder is not None and target.holder.node is obj.node and entry.listens:
                answers.append(is_told_local(program, entry.listens, target.binds))
    return bool(answers) and all(answers)


def is_told_local(program: Program, places: Iterable[Part], binds: tuple[Bind, ...], depth: int = 3) -> bool:
    """Whether what stands at one of these places is an address of its own machine, or a listener there."""
    for place in places:
        bind, _ = program.slots.find_bind(place.arg, place.pos, binds)
        if bind is None:
            continue
        if _names_local(bind.expr):
            return True
        things = [flow.thing for flow in program.resolver.ask(bind.expr, bind.frame)] if depth else []
        listeners = [thing for thing in things if isinstance(thing, Obj)]
        if listeners and all(_is_local_listener(program, thing, depth - 1) for thing in listeners):
            return True
    return False


def _is_local_listener(program: Program, thing: Obj, depth: int) -> bool:
    language = thing.fn.module.language if thing.fn is not None else ""
    kind = program.knowledge.of(language).type(program.resolver.external_type(thing))
    made = program.slots.made_with(thing)
    return kind is not None and made is not None and is_told_local(program, kind.listens, made, depth)


def _names_local(expr: f.Expr) -> bool:
    if isinstance(expr, f.Cond):
        return _names_local(expr.then) and _names_local(expr.orelse)
    if any(isinstance(x, f.Cond) or (isinstance(x, f.Call) and _ASKS.search(last_name(x.fn))) for x in walk(expr)):
        return False
    texts = (x.value for x in walk(expr) if isinstance(x, f.Lit) and isinstance(x.value, str))
    return any(text in _LOCAL or ((port := _PORT.fullmatch(text)) is not None and (port[1] or port[2]) in _LOCAL) for text in texts)
