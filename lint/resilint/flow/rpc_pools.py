"""RPC servers of settings: which services share the worker threads of one, and what keeps a slow one from taking them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.slots import say_seconds
from resilint.flow.surfaces import Block, matches, project_of, relaxed, split
from resilint.flow.timeouts import Fault
from resilint.flow.values import SECONDS
from resilint.knowledge.schema import PoolRow
from resilint.link.code import Klass, dotted
from resilint.model import Confidence, Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_APART = 4.0
"""How many times longer one service may take than another before it is called slow."""
_SHOWN = 4
_MOST_SERVERS = 100
"""Of one project; nobody writes more by hand."""


@dataclass(eq=False)
class Service:
    """What is exported on servers: an element, or an annotated class."""

    name: str
    span: Span
    servers: tuple[str, ...]
    """Names of its servers; empty: whichever there is."""
    time: float | None
    """The longest time of one call, in seconds, where it is written."""
    limit: float | None
    """The most threads it takes at once, where that is bounded."""
    apart: bool
    """It has threads of its own."""
    project: str


def shared_servers(program: Program) -> Iterator[Fault]:
    """One fault for each server on which several services share the threads and one can take them from the others."""
    rows = [row for library in program.knowledge.libraries for row in library.pools]
    faults: list[Fault] = []
    blocks = program.surfaces.blocks
    inner: dict[int, list[Block]] = {}
    for block in blocks:
        if block.parent is not None:
            inner.setdefault(id(block.parent), []).append(block)
    for row in rows:
        servers = [b for b in blocks if _is(b, row.server) and (b.first(row.threads) is not None or row.default is not None)]
        if not servers:
            continue
        services = [s for b in blocks if _is(b, row.service) and (s := _service(program, row, b, inner.get(id(b), []))) is not None]
        services += _annotated(program, row)
        by_project: dict[str, tuple[list[Block], list[Service]]] = {}
        for server in servers:
            by_project.setdefault(project_of(server.path), ([], []))[0].append(server)
        for service in services:
            if service.project in by_project:
                by_project[service.project][1].append(service)
        for near, exported in by_project.values():
            for server in near[:_MOST_SERVERS]:
                fault = _judge(program, row, server, [s for s in near if s is not server], exported)
                if fault is not None:
                    faults.append(fault)
    return iter(sorted(faults, key=lambda fault: (fault.span, fault.message)))


def _is(block: Block, patterns: tuple[str, ...]) -> bool:
    key = tuple(map(relaxed, block.key))
    return any(matches(tuple(map(relaxed, split(pattern))), key) for pattern in patterns)


# ---------------------------------------------------------------- services


def _service(program: Program, row: PoolRow, block: Block, inside: list[Block]) -> Service | None:
    name = block.first(row.names)
    if name is None:
        return None
    refers = block.first(row.refers)
    methods = [b for b in inside if b.key[-1] in row.methods]
    times = [t for b in (block, *methods) if (t := program.surfaces.number(b.first(row.times))) is not None]
    scale = SECONDS.get(row.unit, 1.0)
    return Service(
        name=name.text.rpartition(".")[2] or name.text,
        span=program.span(block.path, block.at, block.end),
        servers=tuple(part.strip() for part in refers.text.split(",") if part.strip()) if refers is not None else (),
        time=max(times) * scale if times else None,
        limit=_limit(program, block, row),
        apart=block.first(row.own) is not None,
        project=project_of(block.path),
    )


def _limit(program: Program, block: Block, row: PoolRow) -> float | None:
    number = program.surfaces.number(block.first(row.limits))
    return number if number is not None and number > 0 else None


def _annotated(program: Program, row: PoolRow) -> list[Service]:
    lasts = {name.rpartition(".")[2] for name in row.annotations}
    found: list[Service] = []
    if not lasts:
        return found
    for klass in program.names.all_classes():
        if klass.module.language != "java" or klass.module.is_test or not klass.decl.decorators:
            continue
        for decorator in klass.decl.decorators:
            written = dotted(decorator.fn if isinstance(decorator, f.Call) else decorator)
            if written.rpartition(".")[2] in lasts and program.names.java.type(written, klass) in row.annotations:
                found.append(_of_class(program, row, klass, decorator))
    return found


def _of_class(program: Program, row: PoolRow, klass: Klass, decorator: f.Expr) -> Service:
    values = {arg.name: arg.value for arg in decorator.args if arg.name} if isinstance(decorator, f.Call) else {}

    def number(names: tuple[str, ...]) -> float | None:
        value = next((values[n] for n in names if n in values), None)
        of = value.value if isinstance(value, f.Lit) else None
        return float(of) if isinstance(of, int | float) and not isinstance(of, bool) else None

    time, limit = number(row.times), number(row.limits)
    server = next((values[n] for n in row.refers if n in values), None)
    items = [pair.value for pair in server.items] if isinstance(server, f.Coll) else [server]
    return Service(
        name=klass.name,
        span=program.span(klass.module.path, decorator.at, decorator.end),
        servers=tuple(str(item.value) for item in items if isinstance(item, f.Lit) and isinstance(item.value, str)),
        time=time * SECONDS.get(row.unit, 1.0) if time is not None and time > 0 else None,
        limit=limit if limit is not None and limit > 0 else None,
        apart=any(n in values for n in row.own),
        project=project_of(klass.module.path),
    )


# ---------------------------------------------------------------- servers


def _judge(program: Program, row: PoolRow, server: Block, others: list[Block], services: list[Service]) -> Fault | None:
    ids = {w.text for name in row.ids if (w := server.first((name,))) is not None} | {server.name}
    alone = not any(o.profile == server.profile for o in others)
    mine = [s for s in services if not s.apart and (any(name in ids for name in s.servers) if s.servers else alone)]
    if len({s.name for s in mine}) < 2:
        return None
    threads = server.first(row.threads)
    size = program.surfaces.number(threads)
    if threads is None:
        size = row.default
    elif size is None:
        return None
    greedy = [s for s in mine if size is None or s.limit is None or s.limit >= size]
    if not greedy:
        return None
    times = [s.time for s in mine if s.time is not None]
    slow = max((s for s in greedy if s.time is not None), key=lambda s: s.time or 0.0, default=None)
    apart = slow is not None and slow.time is not None and slow.time >= _APART * min(times)
    if not apart and (
        slow is not None and len(times) == len(mine) and all(s is slow or (s.time or 0) > (slow.time or 0) for s in mine)
    ):
        # Those that take longest are held back, so the quick ones keep their threads.
        return None
    if not apart and len(greedy) < len(mine) and len(times) < len(mine):
        # Some are held back, and nothing says that they are not the slow ones.
        return None
    span = program.span(server.path, server.at, server.end)
    shown = ", ".join(dict.fromkeys(s.name for s in mine[:_SHOWN])) + (
        f" and {len(mine) - _SHOWN} more" if len(mine) > _SHOWN else ""
    )
    count = f"the {size:g} threads" if size is not None else "the threads"
    message = f"{len(mine)} services share {count} of this server ({shown}): a slow one takes them all"
    if apart and slow is not None and slow.time is not None:
        quick = min((s for s in mine if s.time is not None), key=lambda s: s.time or inf)
        held = f"{slow.name} may hold each for {say_seconds(slow.time)}, {quick.name} is given {say_seconds(quick.time or 0.0)}"
        message = f"{len(mine)} services share {count} of this server ({shown}): {held}"
    steps = tuple(_step(s, size) for s in sorted(mine, key=lambda s: s.span))
    # That they share is always so where nobody thought of it; that somebody put them there, or tried to keep them apart, is not.
    meant = any(s.limit is not None for s in greedy) or (threads is not None and sum(bool(s.servers) for s in mine) > 1)
    sure = Confidence.HIGH if apart else Confidence.MEDIUM if meant else Confidence.LOW
    return Fault(span, message, Value(size, program.knowledge.sure(row, sure), steps))


def _step(service: Service, size: float | None) -> Step:
    said = f"{service.name} is exported here"
    if service.time is not None:
        said += f", for calls of up to {say_seconds(service.time)}"
    if service.limit is not None and size is not None:
        held = "isolates nothing" if service.limit >= size else "holds it back"
        said += f"; its limit of {service.limit:g} of {size:g} threads {held}"
    return Step(service.span, said)
