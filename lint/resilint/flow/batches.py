"""Batches: collections that a request brings and that a handler works through with waits, whatever their size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.inputs import Size, worst
from resilint.flow.spawns import WAITS, Reach, Spawn, head_of, over_loop, short
from resilint.link.code import Fun, called_part
from resilint.link.entries import Entry
from resilint.model import Confidence, Span, Step

if TYPE_CHECKING:
    from resilint.program import Program

_CALLS = 2
"""How many calls below a handler its input is followed."""


@dataclass(eq=False)
class Batch:
    """A loop over request input, and the work it does for each element."""

    fn: Fun
    entry: Entry
    over: str
    """The collection, as written."""
    spawn: Spawn | None
    """What it starts for each, where it starts something."""
    span: Span
    steps: tuple[Step, ...]
    confidence: Confidence


def batches_of(program: Program) -> Iterator[Batch]:
    """Loops over collections of a request whose size nothing checks, each handler's outermost ones."""
    spawning = program.spawning

    def found() -> frozenset[Fun]:
        near: dict[Fun, None] = {}
        handlers = (fn for fn, entry in program.entries.items() if entry.kind == "request" and program.in_focus(fn))
        layer = [fn for fn in handlers if not program.is_test(fn)]
        near.update(dict.fromkeys(layer))
        for _ in range(_CALLS):
            called = (callee for fn in layer for _, callee in spawning.callees(fn))
            layer = [callee for callee in called if callee not in near and not program.is_test(callee)]
            near.update(dict.fromkeys(layer))
        return frozenset(near)

    near = program.kept("near requests", found, lambda known: program.renewed(known) | found())
    given: dict[Fun, list[Spawn]] = {}
    for spawn in program.start_spawns:
        if spawn.elements and spawn.row.target is not None and spawn.fn in near:
            given.setdefault(spawn.fn, []).append(spawn)
    for fn in sorted(filter(program.in_focus, near), key=lambda fn: fn.key):
        taken: list[tuple[int, int]] = []
        for loop in _loops(program, fn):
            if any(low <= loop.at < high for low, high in taken):
                continue
            size = program.sizes.loop(loop, program.resolver.frame(fn))
            if size.kind != "input" or size.entry is None or size.entry.kind != "request":
                continue
            batch = _judge(program, fn, loop, size, size.entry)
            if batch is not None:
                taken.append((loop.at, loop.end))
                yield batch
        for spawn in given.get(fn, ()):
            if not any(low <= spawn.site.call.at < high for low, high in taken):
                yield from _started_for_each(program, spawn)


def _started_for_each(program: Program, spawn: Spawn) -> Iterator[Batch]:
    """A call that starts a function for each element of a collection that it is given: `pool.map(read, skus)`."""
    size = worst(program.sizes.of(expr, at) for expr, at in spawn.elements)
    if size.kind != "input" or size.entry is None or size.entry.kind != "request":
        return
    reach = program.spawning.reach_of(spawn)
    if reach is None:
        return
    steps = (*program.trace(size.hops), *reach.steps)
    over = program.text_of(spawn.fn, spawn.elements[0][0], 40)
    span = program.span_of(spawn.fn, called_part(spawn.site.call))
    yield Batch(spawn.fn, size.entry, over, spawn, span, steps, Confidence.HIGH if reach.sure else Confidence.LOW)


def _loops(program: Program, fn: Fun) -> list[f.Node]:
    """Loops, and calls that run a function for each element; of a chain of such each is one."""
    found = {arm.node.at: arm.node for site in fn.body.calls for arm in site.arm.chain() if arm.kind in ("loop", "comp")}
    loops = [found[at] for at in sorted(found)]
    if fn.module.language == "java":
        for site in fn.body.calls:
            row = program.sizes.streams.row(site.call, fn)
            if row is not None and row.runs is not None:
                loops.append(site.call)
    return loops


def _judge(program: Program, fn: Fun, loop: f.Node, size: Size, entry: Entry) -> Batch | None:
    reach, spawn = _work(program, fn, loop)
    if reach is None:
        return None
    steps = (*program.trace(size.hops), *reach.steps)
    sure = Confidence.HIGH if reach.sure else Confidence.LOW
    head = called_part(loop) if isinstance(loop, f.Call) else head_of(loop)
    return Batch(fn, entry, over_loop(loop, program, fn), spawn, program.span_of(fn, head), steps, sure)


def _work(program: Program, fn: Fun, loop: f.Node) -> tuple[Reach | None, Spawn | None]:
    """What a loop's body waits for, itself or in what it starts."""
    spawning = program.spawning
    if isinstance(loop, f.Call):
        return _run_for_each(program, fn, loop)
    weak: tuple[Reach | None, Spawn | None] = (None, None)
    for spawn in program.spawns:
        if spawn.fn is fn and loop.at <= spawn.site.call.at < loop.end:
            reach = spawning.reach_of(spawn)
            if reach is not None and reach.sure:
                return reach, spawn
            weak = (weak[0] or reach, spawn)
    for site in fn.body.calls:
        if not (loop.at <= site.call.at < loop.end) or (site.loop is None and isinstance(loop, f.Loop)):
            continue
        if isinstance(loop, f.Loop) and loop.iter is not None and loop.iter.at <= site.call.at < loop.iter.end:
            continue
        for target, entry in program.described(site):
            if entry.does in WAITS:
                return Reach((program.step(fn, site.call, f"{short(target.name)} waits for a peer"),), True), None
            if entry.does == "submit" and entry.protocol is not None:
                return Reach((program.step(fn, site.call, f"{short(target.name)} gives the broker one more"),), True), None
        callees = program.callees(site)
        if callees:
            reach = spawning.reach(callees)
            if reach is not None:
                step = program.step(fn, site.call, f"{fn.head.qual} calls {callees[0].head.qual}")
                whole = Reach((step, *reach.steps), reach.sure)
                if whole.sure:
                    return whole, None
                weak = (weak[0] or whole, weak[1])
    return weak


def _run_for_each(program: Program, fn: Fun, call: f.Call) -> tuple[Reach | None, Spawn | None]:
    """What a function waits for that a call runs for each element."""
    bodies = program.sizes.streams.run_by(call, fn)
    reach = program.spawning.reach(bodies) if bodies else None
    return reach, next((spawn for spawn in program.spawns if spawn.fn in bodies), None)
