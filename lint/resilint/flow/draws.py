"""Draws: which pools of connections started work takes its connections from, and whether those are as wide as the work."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.pools import Ceiling
from resilint.flow.spawns import Spawn, short
from resilint.flow.surfaces import Written, project_of
from resilint.flow.timeouts import Fault
from resilint.flow.values import Hop, Obj, Text
from resilint.flow.waits import Wait
from resilint.flow.widths import Gate, Width, Widths, plural, smallest
from resilint.knowledge.schema import Bound, Part, TypeEntry
from resilint.link.code import CODE, CallSite, Fun, Klass, dotted
from resilint.link.looks import any_of, matching
from resilint.model import Confidence, Severity, Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

PORTS = 60_999 - 32_768 + 1
"""Ephemeral ports for one destination: `net.ipv4.ip_local_port_range`, 32768 to 60999 by default (Linux, ip-sysctl.rst)."""
TIME_WAIT = 60
"""Seconds for which the side that closed a connection first keeps its port on Linux (`TCP_TIMEWAIT_LEN`, include/net/tcp.h)."""
_PERMITS = matching(rb"chan (?:struct\{\}|bool|int)")
_ENCRYPTED = any_of(b'"https://')
_DEEP = 4
_MANY = 60
_NONE = Ceiling("unknown")


def port_rate() -> str:
    """How many connections a second the ports last for, with the arithmetic."""
    return f"{PORTS:,} ports ÷ {TIME_WAIT} s = {PORTS // TIME_WAIT} new connections/s"


class Pool(NamedTuple):
    """What limits the connections that one object gives out."""

    obj: Obj
    """The object in which a limit stands: a pool, a transport, the client itself."""
    most: Ceiling
    """Open at once."""
    kept: Ceiling
    """Kept open for the next call."""
    refuses: bool
    """Who asks for more gets an error, instead of waiting."""
    grows: tuple[Step, ...] = ()
    named: Obj | None = None
    """What users know it by, where it is a part that nobody wrote."""

    @property
    def place(self) -> tuple[str, int]:
        """Where it is made: what two names of one pool have in common."""
        return _place(self.obj)


class Draw(NamedTuple):
    """A wait that takes a connection of a pool, as a spawn's work reaches it: behind which gates, by which calls."""

    wait: Wait
    pool: Pool
    gates: tuple[Gate, ...]
    steps: tuple[Step, ...]


@dataclass(eq=False)
class _Way:
    """How work reaches a function."""

    fn: Fun
    gates: tuple[Gate, ...] = ()
    steps: tuple[Step, ...] = ()
    depth: int = 0


class Draws:
    """Holds widths of work against the pools that it draws on."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.widths = Widths(program)
        self._pools: dict[Obj, Pool | None] = {}

    # ------------------------------------------------------------ verdicts

    @cached_property
    def _wide(self) -> list[tuple[Spawn, Width]]:
        """Every spawn whose width is known from outside, or is left to gates inside; those as wide as what a caller sends."""
        found: list[tuple[Spawn, Width]] = []
        spawns = list(self.program.start_spawns)
        free = {fanout.spawn.key: fanout for fanout in self.program.fanouts()} if spawns and self._pooled else {}
        for spawn in spawns:
            if self.program.is_test(spawn.fn) or not (spawn.direct or any(body in self._leading for body in spawn.bodies)):
                continue
            width = self.widths.of_spawn(spawn)
            if width is not None and width.number == inf and spawn.key in free:
                width = self.widths.of_fanout(free[spawn.key]) or width
            if width is not None and width.number > 1 and (width.gate.where is not None or self._has_gates(spawn)):
                found.append((spawn, width))
        return found

    def _has_gates(self, spawn: Spawn) -> bool:
        """Whether work without a limit may meet a gate inside: one is spoken of where it starts, or where a pool is used."""
        near = {spawn.fn.module.path, *(body.module.path for body in spawn.bodies)}
        return bool(self._speaking_of_gates & (near | self._pooled_files))

    @cached_property
    def _pooled_files(self) -> frozenset[str]:
        return frozenset(fn.module.path for fn in self._pooled)

    @cached_property
    def _speaking_of_gates(self) -> frozenset[str]:
        """Files that make a gate or name one that is made elsewhere; in Go, those with a channel that may hold permits."""
        found: set[str] = set()
        for gate in self.program.pools.of_role("gate"):
            found.add(gate.fn.module.path)
            if gate.name and not gate.local:
                users = (*self.program.names.callers("acquire"), *self.program.names.values_of.get(gate.last, ()))
                found.update(fn.module.path for fn in users if any(gate.last in name for name in (*fn.head.values, *fn.head.calls)))
        for path, module in self.program.names.modules.items():
            if module.language == "go" and self.program.says(path, _PERMITS):
                found.add(path)
        return frozenset(found)

    @cached_property
    def _judged(self) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
        """Faults of RS303 and of RS205."""
        exceeding: dict[tuple[str, int], tuple[float, Fault]] = {}
        churning: dict[tuple[str, int], tuple[float, Fault]] = {}
        for spawn, width in self._wide:
            for draw in self._draws(spawn):
                gate = smallest((width.gate, *draw.gates))
                if gate is None or gate.number is None or (gate.number == inf and gate.where is None):
                    continue
                if not gate.explicit or gate.where is None:
                    continue
                self._hold(width._replace(number=gate.number, gate=gate), draw, exceeding, churning)
        for fault, key, worst in self._uneven():
            known = churning.get(key)
            if known is None or known[0] < worst:
                churning[key] = (worst, fault)
        return _sorted(x for _, x in exceeding.values()), _sorted(x for _, x in churning.values())

    def exceeding(self) -> tuple[Fault, ...]:
        """Fan-outs wider than the pool of connections that they draw on (RS303)."""
        return self._judged[0] + tuple(self._listeners())

    def churning(self) -> tuple[Fault, ...]:
        """Pools that keep fewer connections than are opened at once (RS205)."""
        return self._judged[1]

    def _hold(
        self,
        width: Width,
        draw: Draw,
        exceeding: dict[tuple[str, int], tuple[float, Fault]],
        churning: dict[tuple[str, int], tuple[float, Fault]],
    ) -> None:
        pool, number = draw.pool, width.number
        most, kept = pool.most, pool.kept
        if most.state == "finite" and most.number is not None and 0 < most.number < number:
            if number == inf:
                return  # That nothing limits it is RS301.
            where = width.gate.where
            assert where is not None
            key = (where[0].module.path, where[1].at)
            over = number / most.number
            if key not in exceeding or exceeding[key][0] < over:
                exceeding[key] = (over, self._exceeds(width, draw, self.program.span_of(*where)))
            return
        if kept.state != "finite" or kept.number is None or most.state == "unknown":
            return
        width_there = min(number, most.number) if most.state == "finite" and most.number is not None else number
        if width_there <= max(kept.number, 0) or width_there <= 1:
            return
        if number == inf and not kept.written:
            return  # RS301 says it, and no number was meant for it.
        place = self._place_of(pool)
        if place is None:
            if not self._only_holder(draw.wait):
                return  # The process's own client may stand in for one that is not known here.
            place = self._at_wait(draw)
        over = width_there / max(kept.number, 0.5)
        known = churning.get((place[0].path, place[1]))
        if known is None or known[0] < over:
            churning[place[0].path, place[1]] = (over, self._churns(width, draw, place[0]))

    def _exceeds(self, width: Width, draw: Draw, span: Span) -> Fault:
        pool = draw.pool
        assert pool.most.number is not None
        size, rest = pool.most.number, width.number - pool.most.number
        then = "get an error instead of a connection" if pool.refuses else "wait for a connection first"
        text = (
            f"{width.many} at once share the {_count(size, 'connection')} of {self._name(pool)}: {rest:g} of them {then}, "
            "with their own clocks running"
        )
        if pool.refuses:
            text = text.removesuffix(", with their own clocks running")
        sure = min(Confidence.HIGH if pool.most.written else Confidence.MEDIUM, pool.most.confidence)
        steps = (
            *width.gate.steps,
            *self._width_step(width),
            *draw.steps,
            self._wait_step(draw),
            *self._pool_steps(pool, pool.most),
        )
        return Fault(span, text, Value(width.number, sure, _once(steps)))

    def _churns(self, width: Width, draw: Draw, span: Span) -> Fault:
        pool = draw.pool
        assert pool.kept.number is not None
        kept = max(pool.kept.number, 0)
        at_once = width.number
        if pool.most.state == "finite" and pool.most.number is not None:
            at_once = min(at_once, pool.most.number)
        if at_once == inf:
            many = (
                f"{width.gate.text.removeprefix('one for each of ')} decides how many connections {self._name(pool)} opens at once"
            )
            text = (
                f"{many} and it keeps {kept:,.0f}: the rest are closed after use and hold their ports for {TIME_WAIT} s "
                f"({port_rate()})"
            )
        else:
            closed = at_once - kept
            text = (
                f"{width.many} at once use {self._name(pool)}, which keeps {_count(kept, 'idle connection')}: {closed:g} are "
                f"closed after use, and each holds its port for {TIME_WAIT} s ({port_rate()} to one peer)"
            )
        sure = min(Confidence.HIGH if pool.kept.written else Confidence.MEDIUM, pool.kept.confidence)
        steps = (
            *self._pool_steps(pool, pool.kept),
            *width.gate.steps,
            *self._width_step(width),
            *draw.steps,
            self._wait_step(draw),
        )
        return Fault(span, text, Value(at_once, sure, _once(steps)))

    def _width_step(self, width: Width) -> Iterator[Step]:
        if width.gate.where is not None and width.gate.text:
            said = width.gate.text or "the limit"
            yield Step(self.program.span_of(*width.gate.where), f"{said}: this many {plural(width.unit)} run at once")

    def _wait_step(self, draw: Draw) -> Step:
        return self.program.step(draw.wait.fn, draw.wait.site.call, f"{short(draw.wait.api)} takes a connection")

    def _pool_steps(self, pool: Pool, ceiling: Ceiling) -> Iterator[Step]:
        yield from self.program.trace(ceiling.hops)
        yield from pool.grows
        if pool.obj.frame is not None and isinstance(pool.obj.node, f.Node):
            said = f"{self._name(pool)} is made here"
            if ceiling.number is not None and not ceiling.written:
                said += f": {_count(max(ceiling.number, 0), 'connection')} by default"
            yield self.program.step(pool.obj.frame.fn, pool.obj.node, said)

    def _name(self, pool: Pool) -> str:
        return short_type(self.resolver.external_type(pool.named or pool.obj), self.program.slots.language(pool.obj))

    def _place_of(self, pool: Pool) -> tuple[Span, int] | None:
        """Where to say that a pool keeps too few: where its number is written, if that is a statement of its own, else where it is
        made."""
        obj = pool.obj
        if obj.frame is None or not isinstance(obj.node, f.Node):
            return None
        node: f.Node = obj.node
        made = obj.frame.fn
        if pool.kept.written:
            own = self._statement_of(pool.kept.hops, obj)
            if own is not None:
                return own, own.line
        span = self.program.span_of(made, node)
        return span, span.line

    def _only_holder(self, wait: Wait) -> bool:
        holders = {target.holder for target in self.program.targets(wait.site)}
        return len(holders) == 1

    def _at_wait(self, draw: Draw) -> tuple[Span, int]:
        span = self.program.span_of(draw.wait.fn, draw.wait.site.call)
        return span, span.line

    def _statement_of(self, hops: tuple[Hop, ...], obj: Obj) -> Span | None:
        """The setter or assignment that writes a number on an object outside its construction."""
        slots = self.program.slots
        table = self.program.knowledge.of(slots.language(obj))
        for bound in table.bounds(self.resolver.external_type(obj)):
            if bound.slot != "idle_connections":
                continue
            if bound.setter is not None:
                for site, _ in slots.method_calls(obj, bound.setter):
                    return self.program.span_of(site.fn, site.call)
            if bound.field is not None:
                for hop in reversed(hops):
                    span = self._assigned(bound.field, hop)
                    if span is not None:
                        return span
                found = self._field_write(bound.field, obj)
                if found is not None:
                    return found
        return None

    def _assigned(self, field: str, hop: Hop) -> Span | None:
        home = self.program.names.modules.get(hop.path)
        for fn in home.functions if home is not None else ():
            if not (fn.head.at <= hop.at <= fn.head.end):
                continue
            for name, defs in fn.body.definitions.items():
                if name.rpartition(".")[2] != field or "." not in name:
                    continue
                for d in defs:
                    if d.expr is not None and d.at <= hop.at <= d.end and isinstance(d.node, f.Assign):
                        return self.program.span_of(fn, d.node)
        return None

    def _field_write(self, field: str, obj: Obj) -> Span | None:
        fn = obj.fn
        if fn is None:
            return None
        for name, defs in fn.body.definitions.items():
            base, _, last = name.rpartition(".")
            if last != field or not base:
                continue
            for d in defs:
                if d.expr is None or not isinstance(d.node, f.Assign):
                    continue
                flows = self.resolver.ask(f.Ref(d.at, d.at, base), self.resolver.frame(fn))
                if any(isinstance(x.thing, Obj) and x.thing.node is obj.node for x in flows):
                    return self.program.span_of(fn, d.node)
        return None

    # ------------------------------------------------------------ what work draws on

    @cached_property
    def _pooled(self) -> dict[Fun, list[Wait]]:
        """Waits behind which a pool is known, by function."""
        found: dict[Fun, list[Wait]] = {}
        for wait in self.program.kept("pooled waits", self._find_pooled, self._renew_pooled):
            found.setdefault(wait.fn, []).append(wait)
        return found

    def _find_pooled(self) -> tuple[Wait, ...]:
        waits = self.program.all_waits
        return tuple(wait for wait in waits if not wait.fn.module.is_test and self._pool_of_wait(wait) is not None)

    def _renew_pooled(self, known: tuple[Wait, ...]) -> tuple[Wait, ...]:
        """The same among the waits of now: of those that are as they were nothing is asked again."""
        before = set(map(id, known))
        fresh = set(map(id, self.program.start_waits))
        return tuple(
            wait
            for wait in self.program.all_waits
            if id(wait) in before or (id(wait) in fresh and not wait.fn.module.is_test and self._pool_of_wait(wait) is not None)
        )

    @cached_property
    def _leading(self) -> dict[Fun, int]:
        """Functions that may lead to such a wait in a few calls, by the names that they call, with how many it takes at least: no
        others need be looked at."""
        found: dict[Fun, int] = dict.fromkeys(self._pooled, 0)
        names, layer = self.program.names, list(found)
        expanded: set[str] = set()
        for steps in range(1, _DEEP + 1):
            above: dict[Fun, None] = {}
            for fn in layer:
                if fn.parent is not None:
                    above[fn.parent] = None
                name = self._called(fn)
                if name not in expanded:
                    expanded.add(name)
                    above.update(dict.fromkeys((*names.callers(name), *names.values_of.get(name, ()))))
            layer = [fn for fn in above if fn not in found and not fn.module.is_test]
            found.update(dict.fromkeys(layer, steps))
        return found

    def _called(self, fn: Fun) -> str:
        """The name by which a function is called: a constructor by that of its class."""
        owner = self.resolver.owner(fn) if fn.name == "__init__" else None
        return owner.name if owner is not None else fn.name

    @cached_property
    def _names_within(self) -> tuple[frozenset[str], ...]:
        """The names of functions that lead to such a wait in no more than 0, 1, 2 … calls."""
        within: list[set[str]] = [set() for _ in range(_DEEP + 1)]
        for fn, steps in self._leading.items():
            within[steps].add(self._called(fn))
        for steps in range(1, _DEEP + 1):
            within[steps] |= within[steps - 1]
        return tuple(map(frozenset, within))

    def _draws(self, spawn: Spawn) -> Iterator[Draw]:
        """The pools that a spawn's work takes connections from, each by the first way that leads there."""
        if spawn.direct:
            here = [w for w in self._pooled.get(spawn.fn, ()) if _within(w.site, spawn)]
            yield from self._drawn(here, [_Way(spawn.fn)], (), spawn)
        if spawn.bodies:
            yield from self._reached(spawn.bodies, spawn)

    def _reached(self, starts: tuple[Fun, ...], spawn: Spawn | None) -> Iterator[Draw]:
        """The pools that functions take connections from, themselves and by what they call."""
        ways = list(self._ways(starts, towards=True))
        yield from self._drawn((w for way in ways for w in self._pooled.get(way.fn, ())), ways, starts, spawn)

    def _ways(self, starts: Iterable[Fun], towards: bool) -> Iterator[_Way]:
        """The functions that some functions call, hand over or start, nearest first; `towards` such waits: no others."""
        waiting = deque(_Way(body) for body in starts if not towards or body in self._leading)
        reached: set[Fun] = {way.fn for way in waiting}
        while waiting:
            way = waiting.popleft()
            yield way
            left = _DEEP - way.depth - 1
            if left < 0 or len(reached) > _MANY:
                continue
            spawning = self.program.spawning
            for site, callee in spawning.callees(way.fn, self._names_within[left] if towards else None):
                if callee in reached or (towards and self._leading.get(callee, _DEEP) > left):
                    continue
                reached.add(callee)
                gates, steps = way.gates, way.steps
                if site is not None:
                    gates = (*gates, *self.widths.at(site))
                    steps = (*steps, self.program.step(way.fn, site.call, f"{way.fn.head.qual} calls {callee.head.qual}"))
                waiting.append(_Way(callee, gates, steps, way.depth + 1))

    def _drawn(self, waits: Iterable[Wait], ways: list[_Way], starts: tuple[Fun, ...], spawn: Spawn | None) -> Iterator[Draw]:
        """Each pool behind these waits that the work shares, once for each narrowness of the gates before it."""
        by_fn = {way.fn: way for way in ways}
        seen: set[tuple[tuple[str, int], float | None]] = set()
        inside: frozenset[Fun] | None = None
        for wait in waits:
            pool = self._pool_of_wait(wait)
            if pool is None or (self._multiplexes(pool) and self._over_tls(wait)):
                continue
            way = by_fn[wait.fn]
            gates = (*way.gates, *self.widths.at(wait.site))
            least = smallest(gates)
            key = (pool.place, least.number if least is not None else inf)
            if key in seen:
                continue
            seen.add(key)
            if inside is None:
                # What makes something of its own for each piece of work leads nowhere else.
                inside = frozenset(way.fn for way in self._ways(starts, towards=False))
            if self._shared(pool.obj, inside, spawn):
                yield Draw(wait, pool, gates, way.steps)

    def _multiplexes(self, pool: Pool) -> bool:
        table = self.program.knowledge.of(self.program.slots.language(pool.obj))
        name = self.resolver.external_type(pool.obj)
        return any(level.multiplexes for level in (table.mro(name) if name else ()))

    def _over_tls(self, wait: Wait) -> bool:
        """Whether a call asks over TLS, by the URL it is given or the request that it sends."""
        binds = list(wait.target.binds)
        if wait.entry.request is not None and wait.entry.request < len(binds):
            sent = binds[wait.entry.request]
            for flow in self.resolver.ask(sent.expr, sent.frame):
                if isinstance(flow.thing, Obj) and isinstance(flow.thing.node, f.Call) and flow.thing.frame is not None:
                    binds.extend(self.resolver.binds(flow.thing.node, flow.thing.frame))
        things = [x.thing for bind in binds for x in self.resolver.ask(bind.expr, bind.frame)]
        urls = [text.known for text in things if isinstance(text, Text) and "://" in text.known]
        if urls:
            return any(url.startswith("https://") for url in urls)
        # A base that cannot be read: what the package writes down is the best there is.
        module = wait.fn.module
        near = [m for m in self.program.names.modules.values() if m.language == module.language and m.folder == module.folder]
        return any(self.program.says(m.path, _ENCRYPTED) for m in near)

    def _pool_of_wait(self, wait: Wait) -> Pool | None:
        if wait.holder is not None:
            pool = self.pool(wait.holder)
            if pool is not None:
                return pool
        return self._configured(wait)

    def _shared(self, obj: Obj, inside: frozenset[Fun], spawn: Spawn | None) -> bool:
        """Whether all pieces of work use the same one: it is not made by them, nor anew for each."""
        if obj.kind in ("instance", "bean") or (obj.kind == "call" and obj.frame is None):
            return True  # One for the whole process.
        fn, frame = obj.fn, obj.frame
        if fn is None or frame is None or obj.kind == "outside" or self._in_round(obj.node, fn, spawn):
            return False
        while frame is not None:
            above = frame.caller
            if frame.fn in inside or (above is not None and self._in_round(frame.site, above.fn, spawn)):
                return False
            frame = above
        owner = self.resolver.owner(fn)
        return not (owner is not None and fn.name == "__init__" and self._made_often(owner, inside))

    @staticmethod
    def _in_round(node: object, fn: Fun, spawn: Spawn | None) -> bool:
        """Whether something stands in a loop around the place that starts work: each round has one of its own."""
        return (
            spawn is not None
            and fn is spawn.fn
            and isinstance(node, f.Node)
            and any(arm.kind in ("loop", "comp") and arm.node.at <= node.at < arm.node.end for arm in spawn.site.arm.chain())
        )

    def _made_often(self, klass: Klass, inside: frozenset[Fun]) -> bool:
        """Whether instances of a class are made in loops, or by the work itself."""
        kinds = (klass, *self.resolver.subclasses(klass))
        for kind in kinds:
            for caller in self.program.names.callers(kind.name):
                if caller.module.language != klass.module.language or (caller.module.is_test and not klass.module.is_test):
                    continue
                for site in caller.body.calls:
                    if site.last == kind.name and (caller in inside or site.loop is not None):
                        return True
        return False

    # ------------------------------------------------------------ pools

    def pool(self, obj: Obj) -> Pool | None:
        """The pool behind an object that waits for a peer; `None` where nothing is known to limit its connections."""
        if obj not in self._pools:
            self._pools[obj] = None
            self._pools[obj] = self._find_pool(obj)
        return self._pools[obj]

    def _find_pool(self, obj: Obj) -> Pool | None:
        slots, ceiling = self.program.slots, self.program.pools.ceiling
        if not self._may_be_pooled(obj) or self.is_local(obj):
            return None
        kept, most, over = ceiling(obj, "idle_connections"), ceiling(obj, "concurrency"), ceiling(obj, "overflow")
        home = next((c.holder for c in (most, kept, over) if c.holder is not None and c.state != "unknown"), None)
        if most.state == kept.state == over.state == "unknown":
            standing = self._standing(obj)
            other = standing or self._taken_out(obj)
            found = self.pool(other) if other is not None else None
            if found is None or standing is None:
                return found
            return found._replace(named=self._known_as(standing, obj) or obj)
        holder = home or obj
        table = self.program.knowledge.of(slots.language(holder))
        name = self.resolver.external_type(holder)
        rows = table.bounds(name)
        grows: tuple[Step, ...] = ()
        if any(row.slot == "concurrency" and row.unit == "bool" for row in rows):
            # A switch: with it, those who find no idle connection wait for one.
            most = kept if most.state == "finite" else most
        if over.state != "unknown" and (most.state == "unknown" or (most.state == "endless" and not most.written)):
            most, grows = self._with_overflow(kept, over), self.program.trace(over.hops)
        elif over.state != "unknown":
            return None  # Another kind of pool was chosen.
        reuse = ceiling(obj, "reuse")
        if reuse.state == "endless" and reuse.written:
            kept = Ceiling("finite", 0.0, reuse.confidence, reuse.hops, True, reuse.holder)
        refuses = any(level.when_full == "fails" for level in table.mro(name))
        return Pool(holder, most, kept, refuses, grows, self._known_as(holder, obj))

    def _may_be_pooled(self, obj: Obj) -> bool:
        """Whether a type that the object has or came from says anything about connections, itself or by its parts."""
        table = self.program.knowledge.of(self.program.slots.language(obj))
        current: Obj | None = obj
        for _ in range(_DEEP):
            if current is None:
                return False
            name = self.resolver.external_type(current)
            if any(level.parts for level in (table.mro(name) if name else ())) or (
                name and any(row.slot in ("concurrency", "idle_connections", "overflow") for row in table.bounds(name))
            ):
                return True
            current = current.parent
        return False

    def _known_as(self, holder: Obj, obj: Obj) -> Obj | None:
        """The client or pool that a limit belongs to, where it is written on options or a builder."""
        table = self.program.knowledge.of(self.program.slots.language(holder))

        def kept_by(one: Obj) -> bool:
            name = self.resolver.external_type(one)
            return any(level.reusable or level.role == "transport" for level in (table.mro(name) if name else ())[:1])

        if kept_by(holder):
            return None
        current: Obj | None = obj
        for _ in range(_DEEP):
            if current is None:
                return None
            if kept_by(current):
                return current
            current = current.parent
        return None

    @staticmethod
    def _with_overflow(kept: Ceiling, over: Ceiling) -> Ceiling:
        if kept.state != "finite" or over.state != "finite":
            return Ceiling("endless", None, min(kept.confidence, over.confidence), over.hops, over.written, over.holder)
        if kept.number is None or over.number is None:
            return Ceiling("finite", None, Confidence.LOW, (), True, kept.holder)
        written = kept.written or over.written
        sure = min(Confidence.HIGH if written else Confidence.MEDIUM, kept.confidence if kept.written else Confidence.HIGH)
        return Ceiling("finite", kept.number + over.number, sure, (*kept.hops, *over.hops), written, kept.holder or over.holder)

    def _standing(self, obj: Obj) -> Obj | None:
        """What a library puts in the place of a part that nobody gave: an adapter, a transport."""
        slots = self.program.slots
        table = self.program.knowledge.of(slots.language(obj))
        current: Obj | None = obj
        for _ in range(_DEEP):
            if current is None or not isinstance(current.type, str) or current.kind in ("outside", "any"):
                return None
            name = self.resolver.external_type(current)
            for level in table.mro(name) if name else ():
                for part in level.parts:
                    kind = table.type(part.default) if part.default is not None else None
                    if kind is None or not any(row.slot in ("idle_connections", "concurrency") for row in table.bounds(kind.name)):
                        continue
                    nowhere = part.arg is None and part.pos is None and part.field is None and part.setter is None
                    if nowhere and current.parent is not None:
                        continue  # What it was built from decides.
                    if next(iter(slots.parts(current)), None) is not None or self._replaced(kind, part, current):
                        return None
                    return Obj("call", kind.name, current.frame, current.node, kind.name, None, ())
            current = current.parent if current.kind in ("call", "base") else None
        return None

    def _replaced(self, kind: TypeEntry, part: Part, obj: Obj) -> bool:
        """Whether a part was given that cannot be read, or the program writes on the library's own instance."""
        if part.field is not None and self.resolver.written(obj, part.field):
            return True
        if part.setter is not None and next(iter(self.program.slots.method_calls(obj, part.setter)), None) is not None:
            return True
        if (part.arg is not None or part.pos is not None) and isinstance(obj.node, f.Call) and obj.frame is not None:
            binds = obj.binds if obj.binds is not None else self.resolver.binds(obj.node, obj.frame)
            bind, spread = self.program.slots.find_bind(part.arg, part.pos if part.setter is None else None, binds)
            if spread or (bind is not None and not isinstance(bind.expr, f.Lit)):
                return True
        table = self.program.knowledge.of(self.program.slots.language(obj))
        fields = {row.field for row in table.bounds(kind.name) if row.slot in ("idle_connections", "concurrency") and row.field}
        shared = {name.rpartition(".")[2] for level in table.mro(kind.name) for name in level.instances}
        return bool(shared) and any(
            not writer.module.is_test and self.program.says(writer.module.path, any_of(*(name.encode() for name in sorted(shared))))
            for field in (*fields, *shared)
            for writer in self.program.names.writers(field)
        )

    def _taken_out(self, obj: Obj) -> Obj | None:
        """The pool that code takes out of a mapper to set its limits: `sqlDB, _ := gormDB.DB()`."""
        current: Obj | None = obj
        for _ in range(_DEEP):
            if current is None:
                return None
            found = self._inner.get(_place(current)) if isinstance(current.node, f.Node) else None
            if found is not None:
                return found
            current = current.parent
        return None

    @cached_property
    def _inner(self) -> dict[tuple[str, int], Obj]:
        """Pools whose limits are set by calls, by the place of what they were taken out of."""
        return {
            _place(above): obj
            for obj in self._limited
            if obj.kind == "call" and (above := obj.parent) is not None and isinstance(above.node, f.Node)
        }

    def is_local(self, obj: Obj) -> bool:
        """Whether it speaks to a database in the same process, which has no connections to speak of."""
        slots = self.program.slots
        table = self.program.knowledge.of(slots.language(obj))

        def local(name: str) -> bool:
            return bool(name) and any(entry.in_process or entry.enough == ("lock_wait",) for entry in table.mro(name))

        current: Obj | None = obj
        for _ in range(_DEEP + 2):
            if current is None:
                return False
            name = self.resolver.external_type(current)
            if local(name) or any(
                local(str(one.type)) for level in table.mro(name) if name for one in slots.behind(level, current)
            ):
                return True
            parts = list(slots.parts(current))
            if any(local(self.resolver.external_type(part)) for part in parts):
                return True
            current = current.parent or (parts[0] if parts else None)
        return False

    # ------------------------------------------------------------ pools that settings describe

    @cached_property
    def _setting_pools(self) -> list[tuple[Bound, TypeEntry]]:
        return [
            (row, entry)
            for library in self.program.knowledge.libraries
            for entry in library.types
            if entry.role == "pool" and entry.protocol == "sql"
            for row in entry.bounds
            if row.slot == "concurrency" and row.setting is not None and "*" not in row.setting
        ]

    def _configured(self, wait: Wait) -> Pool | None:
        """The framework's own pool, whose size the settings of the project say, behind a wait for a database in Java."""
        if wait.fn.module.language != "java" or wait.entry.protocol != "sql":
            return None
        holder = wait.holder
        if holder is not None and holder.kind not in ("outside", "any", "bean"):
            return None
        project = project_of(wait.fn.module.path)
        if self._made_in_code(project):
            return None
        found: list[tuple[float, Written, TypeEntry]] = []
        for row, entry in self._setting_pools:
            for written in self.program.setting(row.setting or ""):
                if project_of(written.path) == project:
                    number = self.program.surfaces.number(written)
                    if number is None:
                        return None
                    found.append((number, written, entry))
        if not found:
            return None
        number, written, entry = max(found, key=lambda x: x[0])
        hop = Hop(written.path, written.setting.at, written.setting.end, f"{written.spelled or '.'.join(written.key)} is set here")
        most = Ceiling("finite", number, self.program.knowledge.sure(entry), (hop,), True)
        return Pool(Obj("bean", entry.name, None, written.path), most, _NONE, False)

    def _made_in_code(self, project: str) -> bool:
        """Whether code of a project makes a data source of its own."""
        found = self._own_sources.get(project)
        return bool(found)

    @cached_property
    def _own_sources(self) -> dict[str, bool]:
        kinds = {name for _, entry in self._setting_pools for name in (entry.name, *entry.aliases)}
        table = self.program.knowledge.of("java")
        kinds |= {
            entry.name for library in table.libraries for entry in library.types if any(base in kinds for base in entry.bases)
        }
        lasts = {name.rpartition(".")[2] for name in kinds}
        found: dict[str, bool] = {}
        for site in self.program.sites(lasts.__contains__, "java", among=lambda module: not module.is_test):
            found[project_of(site.fn.module.path)] = True
        return found

    # ------------------------------------------------------------ jobs that a framework runs several of

    def _listeners(self) -> Iterator[Fault]:
        """Consumers of which a framework runs more at once than their pool has connections."""
        found: dict[Span, Fault] = {}
        for fn, entry in self.program.entries.items():
            if entry.kind not in ("event", "worker", "job") or not fn.head.decorators or self.program.is_test(fn):
                continue
            if not self.program.in_focus(fn):
                continue
            gate = self._width_of(fn)
            if gate is None or gate[0].number is None or gate[0].number <= 1:
                continue
            for draw in self._reached((fn,), None):
                least = smallest((gate[0], *draw.gates))
                most = draw.pool.most
                if least is not gate[0] or most.state != "finite" or most.number is None or most.number >= gate[0].number:
                    continue
                found.setdefault(gate[1], self._exceeds(Width(gate[0].number, gate[0], "consumer", Confidence.HIGH), draw, gate[1]))
        return iter(_sorted(found.values()))

    def _width_of(self, fn: Fun) -> tuple[Gate, Span] | None:
        """How many of an annotated function run at once, and where that is written."""
        table = self.resolver.table(fn.module)
        for decorator in fn.head.decorators:
            written = dotted(decorator.fn if isinstance(decorator, f.Call) else decorator)
            name = self.program.names.java.type(written, fn) if fn.module.language == "java" else ""
            for row in table.decorator(name) if isinstance(name, str) and name else ():
                if row.width is None:
                    continue
                given = [a.value for a in decorator.args if a.name == row.width] if isinstance(decorator, f.Call) else []
                if given:
                    number = self._annotated(given[0], fn)
                    step = self.program.step(fn, given[0], f"{fn.head.qual} runs so often at once")
                    return Gate(number, (fn, given[0]), "this concurrency", True, (step,)), self.program.span_of(fn, given[0])
                for key in row.widths:
                    near = [w for w in self.program.setting(key) if project_of(w.path) == project_of(fn.module.path)]
                    numbers = [self.program.surfaces.number(w) for w in near]
                    if near and all(number is not None for number in numbers):
                        most = max(zip(numbers, near, strict=True), key=lambda pair: pair[0] or 0)
                        step = self.program.surfaces.step(most[1], "so many consumers run at once")
                        at = f.Ref(fn.head.name_at, fn.head.name_at + len(fn.name.encode()), fn.name)
                        mine = self.program.step(fn, at, f"{fn.head.qual} is one of them")
                        return Gate(most[0], (fn, at), "", True, (step, mine)), self.program.surfaces.span(most[1])
        return None

    def _annotated(self, value: f.Expr, fn: Fun) -> float | None:
        """The number in an annotation: a literal, or a text with a number, a range or placeholders."""
        if not isinstance(value, f.Lit) or isinstance(value.value, bool) or value.value is None:
            return None
        if not isinstance(value.value, str):
            return float(value.value)
        numbers: list[float] = []
        for text in self.program.surfaces.resolved(value.value, fn.module.path):
            found = re.fullmatch(r"(?:\d+\s*-\s*)?(\d{1,6})", text.known.strip())
            if found is None:
                return None
            numbers.append(float(found[1]))
        return max(numbers, default=None)

    # ------------------------------------------------------------ pools that keep fewer than they open

    def _uneven(self) -> Iterator[tuple[Fault, tuple[str, int], float]]:
        """Pools whose own limits say that they open more connections than they keep, in code and in settings."""
        for obj in self._limited:
            pool = self.pool(obj)
            if pool is None or pool.most.state != "finite" or pool.kept.state != "finite":
                continue
            most, kept = pool.most.number, pool.kept.number
            if most is None or kept is None or not pool.most.written or max(kept, 0) >= most or most <= 1:
                continue
            place = self._place_of(pool)
            if place is not None:
                yield self._uneven_fault(pool, place[0]), (place[0].path, place[1]), most / max(kept, 0.5)

    def _uneven_fault(self, pool: Pool, span: Span) -> Fault:
        most, kept = pool.most.number or 0.0, max(pool.kept.number or 0.0, 0.0)
        sure = min(Confidence.HIGH if pool.kept.written else Confidence.MEDIUM, pool.kept.confidence)
        steps = (*self.program.trace(pool.most.hops), *self._pool_steps(pool, pool.kept))
        text = _uneven_text(self._name(pool), most, kept, "" if pool.kept.written else " by default")
        return Fault(span, text, Value(most, sure, _once(steps)), _severity(most, kept))

    @cached_property
    def _limited(self) -> list[Obj]:
        """Objects of types that say both how many connections they open and how many they keep, where one of it is written."""
        return list(self._find_limited())

    def _find_limited(self) -> Iterator[Obj]:
        for language in CODE:
            table = self.program.knowledge.of(language)
            setters: set[str] = set()
            fields: set[str] = set()
            for library in table.libraries:
                for entry in library.types:
                    rows = [row for row in table.bounds(entry.name) if row.slot in ("concurrency", "idle_connections")]
                    if {row.slot for row in rows} != {"concurrency", "idle_connections"} or any(r.unit == "bool" for r in rows):
                        continue
                    for row in rows:
                        if row.slot != "concurrency":
                            continue
                        if row.setter is not None:
                            setters.add(row.setter)
                        elif row.field is not None:
                            fields.add(row.field)
            yield from self._with_setters(language, setters)
            if fields and language == "go":
                yield from self._with_fields(fields)

    def _with_setters(self, language: str, setters: set[str]) -> Iterator[Obj]:
        seen: set[Obj] = set()
        for site in self.program.start_sites(setters.__contains__, language, among=lambda module: not module.is_test):
            for target in self.program.targets(site):
                obj = target.holder
                if obj is not None and obj not in seen and obj.kind not in ("outside", "any"):
                    seen.add(obj)
                    yield obj

    def _with_fields(self, fields: set[str]) -> Iterator[Obj]:
        names = {
            entry.name.rpartition(".")[2]
            for library in self.program.knowledge.of("go").libraries
            for entry in library.types
            if any(row.field in fields for row in entry.bounds)
        }
        words = any_of(*(name.encode() for name in sorted(fields)))
        for module in self.program.start_modules("go"):
            if module.is_test or not self.program.says(module.path, words):
                continue
            for fn in module.functions:
                for new, _, _ in fn.body.news:
                    if new.type.name.rpartition(".")[2] not in names:
                        continue
                    for flow in self.resolver.ask(new, self.resolver.frame(fn)):
                        if isinstance(flow.thing, Obj) and flow.thing.node is new:
                            yield flow.thing

    def uneven_settings(self) -> Iterator[Fault]:
        """The same in settings: a key for how many are opened, another for how many are kept."""
        seen: set[tuple[str, str]] = set()
        for library in self.program.knowledge.libraries:
            for entry in library.types:
                rows = {
                    row.slot: row
                    for row in entry.bounds
                    if row.setting is not None and row.slot in ("concurrency", "idle_connections")
                }
                keys = (str(rows["concurrency"].setting), str(rows["idle_connections"].setting)) if len(rows) == 2 else ("", "")
                if keys[0] and keys not in seen:
                    seen.add(keys)
                    yield from self._uneven_setting(rows["concurrency"], rows["idle_connections"])

    def _uneven_setting(self, open_row: Bound, kept_row: Bound) -> Iterator[Fault]:
        kept_at = self.program.setting(kept_row.setting or "")
        for opened in self.program.setting(open_row.setting or ""):
            if self.program.settings.is_test(opened.path):
                continue
            most = self.program.surfaces.number(opened)
            beside = next((w for w in kept_at if w.path == opened.path and w.profile == opened.profile), None)
            elsewhere = beside is None and any(project_of(w.path) == project_of(opened.path) for w in kept_at)
            kept = self.program.surfaces.number(beside) if beside is not None else _default(kept_row)
            if most is None or kept is None or elsewhere or most <= 1 or kept < 0 or kept >= most:
                continue
            at = beside or opened
            steps = [self.program.surfaces.step(opened, f"{most:g} are opened at most")]
            if beside is not None:
                steps.append(self.program.surfaces.step(beside, f"{kept:g} are kept"))
            name = f"the pool of `{(open_row.setting or '').rpartition('.')[0]}`"
            text = _uneven_text(name, most, kept, "" if beside is not None else " by default")
            sure = self.program.knowledge.sure(kept_row, Confidence.HIGH if beside is not None else Confidence.MEDIUM)
            yield Fault(self.program.surfaces.span(at), text, Value(most, sure, tuple(steps)), _severity(most, kept))


# ---------------------------------------------------------------- words and numbers


def _place(obj: Obj) -> tuple[str, int]:
    path = obj.frame.fn.module.path if obj.frame is not None else ""
    return (path, obj.node.at) if isinstance(obj.node, f.Node) else (path, -1)


def _uneven_text(name: str, most: float, kept: float, why: str) -> str:
    return (
        f"{name} opens up to {_count(most, 'connection')} and keeps {kept:g}{why}: under load {most - kept:g} are closed after use "
        f"and opened anew, and each holds its port for {TIME_WAIT} s ({port_rate()})"
    )


def _severity(most: float, kept: float) -> Severity | None:
    return Severity.INFO if kept * 2 > most else None


def _count(number: float, noun: str) -> str:
    return f"{number:,.0f} {noun}" if number == 1 else f"{number:,.0f} {noun}s"


def _default(row: Bound) -> float | None:
    return float(row.default) if isinstance(row.default, int | float) else None


def short_type(name: str, language: str) -> str:
    """A type as code writes it: `sql.DB`, `HikariDataSource`."""
    return short(re.sub(r"/v\d+(?=\.)", "", name)) if language == "go" else name.rpartition(".")[2] if language == "java" else name


def _within(site: CallSite, spawn: Spawn) -> bool:
    return spawn.site.call.at <= site.call.at and site.call.end <= spawn.site.call.end


def _once(steps: Iterable[Step]) -> tuple[Step, ...]:
    return tuple(dict.fromkeys(steps))


def _sorted(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda fault: (fault.span, fault.message)))
