"""Consumers in code whose messages come again, or go to others, unless what one poll brings is done in time."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.effects import Worst, shown
from resilint.flow.queues import say
from resilint.flow.slots import Slot, Source, decide
from resilint.flow.timeouts import Fault
from resilint.flow.values import Frame, Obj
from resilint.link.code import CODE, CallSite, Fun, dotted, walk
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_COUNTS = ("batch", "prefetch")
"""Slots that say how many messages one poll brings."""
_SLOTS = frozenset({"elapsed", *_COUNTS})
_MOST = 10_000


class _Poll(NamedTuple):
    """A loop over what one poll brings: how long it has, how many messages come, and where both are written."""

    fn: Fun
    loop: f.Loop
    limit: Slot
    batch: Slot | None
    where: tuple[Fun, f.Node]
    name: str


def overdue(program: Program) -> list[Fault]:
    """Polls whose messages take longer, one after the other, than the broker waits for them (RS106)."""
    faults = [fault for poll in _polls(program) if (fault := _judge(program, poll)) is not None]
    return sorted({fault.span: fault for fault in faults}.values(), key=lambda fault: fault.span)


def _judge(program: Program, poll: _Poll) -> Fault | None:
    limit = poll.limit.number
    count = poll.batch.number if poll.batch is not None else 1.0
    if limit is None or count is None or not 0 < limit < inf or not 1 <= count <= _MOST or count != int(count):
        return None
    whole = program.worsts.of_block(poll.loop.body, program.resolver.frame(poll.fn))
    # What a client gives itself by default is meant for one call, seldom for each of a batch: what is written counts.
    terms = tuple(term for term in whole.terms if term.confidence is Confidence.HIGH)
    work = Worst(
        sum(term.seconds for term in terms), None, whole.open | ({"code"} if len(terms) < len(whole.terms) else set()), terms
    )
    if work.known * count < limit * (1 - 1e-9) or _answers_each(program, poll):
        return None
    where = poll.limit.written or poll.where
    span = program.span_of(*where)
    times = f"{count:g} × ({shown(work.terms)})" if count > 1 else shown(work.terms)
    least = "" if work.exact else "at least "
    what = poll.limit.bound.arg or poll.limit.bound.field or poll.limit.bound.key or "the limit"
    message = (
        f"what one poll brings can take {least}{times} = {say(work.known * count)} ≥ {say(limit)} of {what}:"
        " the messages come again while they are still worked on"
    )
    return Fault(span, message, Value(work.known * count, _sure(poll), tuple(_steps(program, poll, work, count))))


def _sure(poll: _Poll) -> Confidence:
    slots = [slot for slot in (poll.limit, poll.batch) if slot is not None]
    by_default = any(slot.flow is None for slot in slots)
    return Confidence.MEDIUM if by_default else Confidence.HIGH


def _steps(program: Program, poll: _Poll, work: Worst, count: float) -> Iterator[Step]:
    yield program.step(*poll.where, f"{poll.name} brings up to {count:g} messages, for {say(poll.limit.number or 0.0)}")
    for term in work.terms:
        yield from term.because
        if term.where is not None:
            fn, node = term.where
            yield program.step(fn, node, f"{term.name} can take {term.amount}")


def _answers_each(program: Program, poll: _Poll) -> bool:
    """Whether the loop asks for more time as it goes: `change_message_visibility`, a pause of the consumer."""
    return any(
        isinstance(node, f.Call) and any(word in dotted(node.fn).lower() for word in ("visibility", "heartbeat", "extend", "pause"))
        for stmt in poll.loop.body
        for node in walk(stmt)
    )


# ---------------------------------------------------------------- finding polls


def _polls(program: Program) -> Iterator[_Poll]:
    for language in CODE:
        table = program.knowledge.of(language)
        entries = [entry for library in table.libraries for entry in library.calls if _speaks(entry.bounds)]
        types = [entry for library in table.libraries for entry in library.types if _speaks(entry.bounds)]
        owners = {name for entry in types for name in (entry.name, *entry.aliases)}
        waits = (entry for library in table.libraries for entry in library.calls if types and entry.does == "wait")
        methods = {name.rpartition(".")[2] for entry in waits for name in entry.names if name.rpartition(".")[0] in owners}
        calls = methods.union(name.rpartition(".")[2] for entry in entries for name in entry.names)
        makers = frozenset(name.rpartition(".")[2] for entry in types for name in (entry.name, *entry.aliases))
        for site in program.start_sites(calls.__contains__, language) if calls else ():
            if not site.fn.module.is_test:
                yield from _taken(program, site)
        for site in program.start_sites(makers.__contains__, language) if makers else ():
            if not site.fn.module.is_test:
                yield from _iterated(program, site)


def _speaks(bounds: tuple[object, ...]) -> bool:
    slots = {getattr(bound, "slot", "") for bound in bounds}
    return "elapsed" in slots and any(count in slots for count in _COUNTS)


def _taken(program: Program, site: CallSite) -> Iterator[_Poll]:
    """A call that takes messages, and the loops over them."""
    for target, entry in program.described(site):
        rows = [row for row in entry.bounds if row.slot in _SLOTS]
        sources = program.slots.at_call(rows, target.binds, (site.fn, site.call)) if _speaks(entry.bounds) else []
        if not sources and target.holder is not None and entry.does == "wait":
            sources = list(program.slots.of_object(target.holder, _SLOTS))
        found = _slots(decide(sources))
        if found is None or not isinstance(site.stmt, f.Assign):
            continue
        names = {dotted(name) for name in site.stmt.targets} - {""}
        for stmt, _ in site.fn.body.stmts:
            if isinstance(stmt, f.Loop) and stmt.form == "each" and stmt.at > site.call.at and _within(stmt.iter, names):
                yield _Poll(site.fn, stmt, *found, (site.fn, site.call), site.last)


def _iterated(program: Program, site: CallSite) -> Iterator[_Poll]:
    """A consumer that is made here, and the loops of this file over it."""
    frame = program.resolver.frame(site.fn)
    made = [x.thing for x in program.resolver.ask(site.call, frame) if isinstance(x.thing, Obj) and x.thing.node is site.call]
    found = _slots(decide(program.slots.of_object(made[0], _SLOTS))) if made else None
    if found is None:
        return
    for fn in site.fn.module.functions:
        for stmt, _ in fn.body.stmts:
            if (
                isinstance(stmt, f.Loop)
                and stmt.form == "each"
                and isinstance(stmt.iter, f.Ref)
                and _is(program, stmt.iter, fn, made[0])
            ):
                yield _Poll(fn, stmt, *found, (site.fn, site.call), site.last)


def _is(program: Program, expr: f.Ref, fn: Fun, obj: Obj) -> bool:
    frame: Frame = program.resolver.frame(fn)
    return any(isinstance(x.thing, Obj) and x.thing.node is obj.node for x in program.resolver.ask(expr, frame))


def _slots(sources: list[Source]) -> tuple[Slot, Slot | None] | None:
    """The time for one poll and its size, where somebody wrote one of them."""
    known = {source.bound.slot: source for source in sources}
    limit, batch = known.get("elapsed"), next((known[count] for count in _COUNTS if count in known), None)
    if limit is None or not limit.bounded or len(limit.slots) != 1 or (batch is not None and len(batch.slots) != 1):
        return None
    if not limit.written and (batch is None or not batch.written):
        return None
    return limit.slots[0], batch.slots[0] if batch is not None else None


def _within(expr: f.Expr | None, names: set[str]) -> bool:
    return expr is not None and any(isinstance(n, f.Ref) and n.name.partition(".")[0] in names for n in walk(expr))
