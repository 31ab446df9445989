"""Widths: how many pieces of started work can be inside the same code at once, by the gates on their way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.spawns import Fanout, Spawn, family, leaves_by
from resilint.flow.values import FnVal, Frame, Num, Obj
from resilint.knowledge.schema import ElementsRow
from resilint.link.code import CallSite, Fun, dotted, walk
from resilint.model import Confidence, Step

if TYPE_CHECKING:
    from resilint.program import Program

_MOST = 100_000
"""A width beyond this is no number that somebody chose."""
_RELEASES = {"lock": "unlock", "Lock": "Unlock", "acquire": "release", "Acquire": "Release"}
_TAKES = frozenset({*_RELEASES, "tryAcquire", "TryAcquire", "acquire_async", "Wait", "Take", "take", "enter"})


class Gate(NamedTuple):
    """Something that lets only so many through at once: how many (`None`: not known), and where that is said."""

    number: float | None
    where: tuple[Fun, f.Node] | None = None
    text: str = ""
    explicit: bool = True
    """Somebody wrote the number here; else a default of a library decides."""
    steps: tuple[Step, ...] = ()


UNKNOWN = Gate(None)


class Width(NamedTuple):
    """How many of a spawn's pieces of work run at once: at most `number`, because of `gate`; `inf`: as many as a caller sends."""

    number: float
    gate: Gate
    unit: str
    """What is started, in one word: `goroutine`."""
    confidence: Confidence

    @property
    def many(self) -> str:
        """The number with its unit."""
        return f"{self.number:g} {plural(self.unit)}"


def plural(unit: str) -> str:
    """Several of what is started."""
    return "processes" if unit == "process" else f"{unit}s"


class Widths:
    """The gates of a program, and how many run behind them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._at: dict[int, tuple[Gate, ...]] = {}
        self._objects: dict[tuple[Obj, str], Gate] = {}

    # ------------------------------------------------------------ of a spawn

    def of_spawn(self, spawn: Spawn) -> Width | None:
        """How many pieces of work a spawn has at work at once by what stands around it; `None`: not known. What has no limit here,
        but may meet one inside, is `inf` with a gate of nobody."""
        if spawn.unit in ("process", "request") or spawn.started_before:
            return None  # Processes share no pool with each other.
        gates = [*self._executors(spawn), *self.at(spawn.site)]
        count = self._count(spawn)
        if count is not None:
            gates.append(count)
        if any(gate.number is None for gate in gates):
            return None
        gate = min(gates, key=lambda gate: gate.number or 0, default=None)
        if gate is None:
            return Width(inf, Gate(inf), _unit(spawn), Confidence.HIGH)
        assert gate.number is not None
        return Width(gate.number, gate, _unit(spawn), Confidence.HIGH)

    def _executors(self, spawn: Spawn) -> Iterator[Gate]:
        """What runs it, with a limit of its own."""
        row = spawn.row
        if spawn.limit.known == "finite" and spawn.limit.number is not None and row.backlog == "none":
            yield self._of_limit(spawn)
            return
        pooled = row.backlog != "none" or row.executor is not None
        found = list(dict.fromkeys(self._executors_of(spawn)))
        table = self.resolver.table(spawn.fn.module)
        if any((kind := table.type(self.resolver.external_type(obj))) is not None and kind.processes for obj in found):
            yield UNKNOWN
            return
        for obj in found:
            gate = self.of_object(obj)
            # One that is made here for two or three tasks never fills.
            alone = spawn.site.loop is None and not spawn.elements and obj.fn is not None and family(obj.fn) is family(spawn.fn)
            yield UNKNOWN if alone and pooled else gate
        if not found and (pooled or spawn.limit.known != "none"):
            yield UNKNOWN

    def _of_limit(self, spawn: Spawn) -> Gate:
        hop = spawn.limit.hops[-1] if spawn.limit.hops else None
        where: tuple[Fun, f.Node] = (spawn.fn, spawn.site.call)
        if hop is not None:
            home = self.program.names.modules.get(hop.path)
            if home is not None:
                where = (home.functions[0], f.Ref(hop.at, hop.end, ""))
        if spawn.site.loop is None and not spawn.elements and spawn.fn.parent is None and not self._round(spawn):
            return UNKNOWN
        text = hop.text if hop is not None else "its limit"
        return Gate(spawn.limit.number, where, text, True, self.program.trace(spawn.limit.hops))

    def _round(self, spawn: Spawn) -> bool:
        return self.program.sizes.streams.round_of(spawn.fn) is not None

    def _executors_of(self, spawn: Spawn) -> Iterator[Obj]:
        row = spawn.row
        for target, entry in self.program.described(spawn.site):
            if entry.spawn is None:
                continue
            if row.executor is not None:
                plain = [b for b in target.binds if b.name is None and not b.spread]
                if row.executor < len(plain):
                    bind = plain[row.executor]
                    yield from (x.thing for x in self.resolver.ask(bind.expr, bind.frame) if isinstance(x.thing, Obj))
            elif target.holder is not None and self._role(target.holder, spawn.fn) in ("executor", "group"):
                kind = self.resolver.table(spawn.fn.module).bounds(self.resolver.external_type(target.holder))
                if any(row.slot == "concurrency" for row in kind):
                    yield target.holder

    def _role(self, obj: Obj, fn: Fun) -> str:
        kind = self.resolver.table(fn.module).type(self.resolver.external_type(obj))
        return kind.role if kind is not None else ""

    # ------------------------------------------------------------ counts

    def _count(self, spawn: Spawn) -> Gate | None:
        """How many one run of its function starts before it waits for them, where that is known; `None`: no number limits it."""
        frame = self.resolver.frame(spawn.fn)
        if spawn.elements:
            counts = [self.elements(expr, at) for expr, at in spawn.elements]
            known = [count for count in counts if count is not None]
            return known[0] if len(known) == 1 and len(counts) == 1 else None
        if spawn.row.each is not None or spawn.row.joins:
            return None
        loops = [arm.node for arm in spawn.site.arm.chain() if arm.kind in ("loop", "comp")]
        number, text = 1, ""
        for loop in reversed(loops):
            if number > 1 and any(
                loop.at <= site.call.at < loop.end and site.call.at > spawn.site.call.end and self.program.spawning.joins(site)
                for site in spawn.fn.body.calls
            ):
                break
            times: int | None = None
            if isinstance(loop, f.Loop):
                times = self.program.worsts.times(loop, frame, {})
            elif isinstance(loop, f.Comp) and len(loop.gens) == 1:
                times = self.program.worsts.length(loop.gens[0].iter, frame, {})
            if times is None:
                return None
            number *= max(times, 1)
            text = text or f"{times} are started in this loop"
        if number <= 1 or number > _MOST:
            return None
        return Gate(float(number), (spawn.fn, spawn.site.call), text, True, self._loop_steps(loops[-1], spawn, frame))

    def _loop_steps(self, loop: f.Node, spawn: Spawn, frame: Frame) -> tuple[Step, ...]:
        side = None
        if isinstance(loop, f.Loop):
            side = loop.iter if loop.form == "each" else loop.test
        elif isinstance(loop, f.Comp):
            side = loop.gens[0].iter
        steps: list[Step] = []
        for node in walk(side) if side is not None else ():
            if isinstance(node, f.Ref):
                for flow in self.resolver.ask(node, frame):
                    if isinstance(flow.thing, Num):
                        steps.extend(self.program.trace(flow.hops))
        return tuple(steps)

    def elements(self, expr: f.Expr, frame: Frame, depth: int = 0) -> Gate | None:
        """How many elements a collection that is started as a whole has at most: its constant size, or that of one chunk of it."""
        if depth > 4:
            return None
        fn = frame.fn
        size = self.program.worsts.length(expr, frame, {})
        if size is not None and 1 < size <= _MOST:
            return Gate(float(size), (fn, expr), f"{size} of them")
        chunk = self._chunk(expr, frame, depth)
        if chunk is not None:
            return chunk
        if isinstance(expr, f.Comp) and len(expr.gens) == 1:
            return self.elements(expr.gens[0].iter, frame, depth + 1)
        if isinstance(expr, f.Call) and dotted(expr.fn) in ("list", "tuple", "map", "enumerate", "sorted", "zip") and expr.args:
            return self.elements(expr.args[-1 if dotted(expr.fn) == "map" else 0].value, frame, depth + 1)
        if isinstance(expr, f.Ref) and "." not in expr.name:
            found: list[Gate | None] = []
            reached, _ = fn.body.reaching(expr.name, expr.at)
            for d in reached:
                if d.expr is None:
                    return None
                if d.kind == "each":
                    found.append(self._one_of(d.expr, frame, depth + 1))
                elif d.kind == "value":
                    found.append(self.elements(d.expr, frame, depth + 1))
                else:
                    return None
            if found and all(found):
                return max((gate for gate in found if gate is not None), key=lambda gate: gate.number or 0)
        return None

    def _chunk(self, expr: f.Expr, frame: Frame, depth: int) -> Gate | None:
        """A piece of known length: `xs[i : i + 50]`, `islice(it, 50)`."""
        size: f.Expr | None = None
        if isinstance(expr, f.Slice):
            size = chunk_size(expr)
        elif isinstance(expr, f.Call):
            row = self._elements_row(expr, frame)
            if row is not None and row.at_most is not None and row.at_most < len(expr.args):
                size = expr.args[row.at_most].value
        return self._sized(size, expr, frame)

    def _sized(self, size: f.Expr | None, expr: f.Expr, frame: Frame) -> Gate | None:
        number = self.program.worsts.number(size, frame) if size is not None else None
        if number is None or not 1 < number <= _MOST:
            return None
        steps = tuple(
            step
            for flow in self.resolver.ask(size, frame)  # type: ignore[arg-type]
            if isinstance(flow.thing, Num)
            for step in self.program.trace(flow.hops)
        )
        return Gate(number, (frame.fn, expr), f"{number:g} in one chunk", True, steps)

    def _elements_row(self, call: f.Call, frame: Frame) -> ElementsRow | None:
        if frame.fn.module.language == "java":
            return self.program.sizes.streams.row(call, frame.fn)
        table = self.resolver.table(frame.fn.module)
        for thing, binds in self.resolver.targets(call, frame):
            name = self.resolver.canonical(thing)
            entry = table.call(name) if name else None
            if entry is not None and entry.elements is not None and (not entry.arity or len(binds) in entry.arity):
                return entry.elements
        return None

    def _one_of(self, expr: f.Expr, frame: Frame, depth: int) -> Gate | None:
        """The length of what a loop is given each round, where it goes over chunks."""
        if not isinstance(expr, f.Call):
            return None
        for thing, binds in self.resolver.targets(expr, frame):
            if not isinstance(thing, FnVal):
                row = self._elements_row(expr, frame)
                if row is None or row.pieces is None or row.pieces >= len(binds):
                    return None
                return self._sized(binds[row.pieces].expr, expr, binds[row.pieces].frame)
            fn = thing.fn
            inner = self.resolver.frame(fn)
            sizes = [chunk_size(y.value) for y in fn.body.yields if isinstance(y.value, f.Slice)]
            if not sizes or len(sizes) != len(fn.body.yields) or not isinstance(sizes[0], f.Ref):
                return None
            position = next((i for i, p in enumerate(fn.positional) if p.name == sizes[0].name), None)
            if position is None:
                return self._sized(sizes[0], expr, inner)
            param = fn.positional[position]
            bind = next((b for b in binds if b.name == param.name), None)
            plain = [b for b in binds if b.name is None and not b.spread]
            if bind is None and position < len(plain):
                bind = plain[position]
            if bind is not None:
                return self._sized(bind.expr, expr, bind.frame)
            return self._sized(param.default, expr, inner) if param.default is not None else None
        return None

    # ------------------------------------------------------------ gates on the way

    def at(self, site: CallSite) -> tuple[Gate, ...]:
        """The gates that whoever makes a call has passed in this function and not left yet."""
        found = self._at.get(id(site.call))
        if found is None:
            found = self._at[id(site.call)] = tuple(self._gates(site))
        return found

    def _gates(self, site: CallSite) -> Iterator[Gate]:
        fn = site.fn
        frame = self.resolver.frame(fn)
        if any(self.program.spawning.is_limiter(decorator) for decorator in fn.head.decorators):
            yield UNKNOWN
        for arm in site.arm.chain():
            if isinstance(arm.node, f.With):
                for item in arm.node.items:
                    gate = self._of_expr(item.value, frame)
                    if gate is not None:
                        yield gate
        for other in fn.body.calls:
            if other.call.at >= site.call.at or other.how or other.last not in _TAKES:
                continue
            base = other.call.fn.base if isinstance(other.call.fn, f.Field) else _base(other.call.fn)
            if base is None or self._left(other, site):
                continue
            gate = self._of_expr(base, frame)
            if gate is not None:
                yield gate
        if fn.module.language == "go":
            yield from self._channels(site, frame)

    def _left(self, taken: CallSite, site: CallSite) -> bool:
        """Whether what was taken is given back before a call."""
        base = dotted(taken.call.fn).rpartition(".")[0]
        release = _RELEASES.get(taken.last)
        return release is not None and any(
            other.last == release
            and not other.how
            and dotted(other.call.fn).rpartition(".")[0] == base
            and taken.call.at < other.call.at < site.call.at
            and not any(arm.kind in ("handler", "final", "then") for arm in other.arm.chain())
            for other in taken.fn.body.calls
        )

    def _channels(self, site: CallSite, frame: Frame) -> Iterator[Gate]:
        """Channels that hold permits: who sends into one, or takes from one, before a call."""
        for stmt, _ in site.fn.body.stmts:
            if stmt.at >= site.call.at:
                continue
            if isinstance(stmt, f.Send):
                channel = stmt.channel
            elif isinstance(stmt, f.Do) and isinstance(stmt.value, f.Recv):
                channel = stmt.value.value
            else:
                continue
            if not leaves_by(channel) and self.program.spawning.is_permits(channel, site.fn):
                yield self._of_channel(channel, frame)

    def _of_channel(self, channel: f.Expr, frame: Frame) -> Gate:
        gates: list[Gate] = []
        for flow in self.resolver.ask(channel, frame):
            obj = flow.thing
            if not isinstance(obj, Obj) or not isinstance(obj.node, f.Call) or obj.frame is None or len(obj.node.args) < 2:
                return UNKNOWN
            number = self.program.worsts.number(obj.node.args[1].value, obj.frame)
            steps = tuple(
                step
                for x in self.resolver.ask(obj.node.args[1].value, obj.frame)
                if isinstance(x.thing, Num)
                for step in self.program.trace(x.hops)
            )
            gates.append(Gate(number, (obj.frame.fn, obj.node), f"{number:g} permits" if number else "", True, steps))
        if not gates or any(not gate.number for gate in gates):
            return UNKNOWN
        return max(gates, key=lambda gate: gate.number or 0)

    def _of_expr(self, expr: f.Expr, frame: Frame) -> Gate | None:
        """The gate that an expression is; `None` where it is none."""
        gates: list[Gate] = []
        known = False
        for flow in self.resolver.ask(expr, frame):
            if not isinstance(flow.thing, Obj):
                continue
            role = self._role(flow.thing, frame.fn)
            if role == "gate":
                gates.append(self.of_object(flow.thing))
            elif role == "lock":
                gates.append(Gate(1.0, None, "a lock"))
            known = known or bool(role)
        if gates:
            return UNKNOWN if any(g.number is None for g in gates) else max(gates, key=lambda gate: gate.number or 0)
        if not known and self.program.spawning.is_gate(expr, frame.fn):
            return UNKNOWN
        return None

    def of_object(self, obj: Obj) -> Gate:
        """The gate or executor that an object is, with the number it lets through."""
        key = (obj, "concurrency")
        found = self._objects.get(key)
        if found is None:
            ceiling = self.program.pools.ceiling(obj, "concurrency")
            where = (obj.frame.fn, obj.node) if obj.frame is not None and isinstance(obj.node, f.Node) else None
            number = ceiling.number if ceiling.state == "finite" else inf if ceiling.state == "endless" else None
            text = f"{number:g} at once" if number is not None else ""
            found = Gate(number, where, text, ceiling.written, self.program.trace(ceiling.hops))
            if number is not None and not number < _MOST and number != inf:
                found = UNKNOWN
            self._objects[key] = found
        return found

    # ------------------------------------------------------------ what grows

    def of_fanout(self, fanout: Fanout) -> Width | None:
        """A fan-out without a limit, as wide as what a caller sends."""
        if fanout.event or fanout.size.kind != "input":
            return None
        where = (fanout.spawn.fn, fanout.spawn.site.call)
        gate = Gate(inf, where, f"one for each of `{fanout.over}`", True, fanout.steps)
        return Width(inf, gate, _unit(fanout.spawn), Confidence.HIGH)


def chunk_size(expr: f.Expr | None) -> f.Expr | None:
    """The length of a slice by how it is written: `xs[i : i + n]`, `xs[:n]`."""
    if not isinstance(expr, f.Slice) or expr.hi is None:
        return None
    hi = expr.hi
    if isinstance(hi, f.Call) and dotted(hi.fn).rpartition(".")[2] == "min":
        hi = next((a.value for a in hi.args if isinstance(a.value, f.Bin)), hi)
    if expr.lo is None or (isinstance(expr.lo, f.Lit) and expr.lo.value == 0):
        return hi
    if isinstance(hi, f.Bin) and hi.op == "+":
        start = dotted(expr.lo)
        if start and dotted(hi.left) == start:
            return hi.right
        if start and dotted(hi.right) == start:
            return hi.left
    return None


def smallest(gates: Iterable[Gate]) -> Gate | None:
    """The gate that lets the fewest through; one of unknown width if there is any."""
    best: Gate | None = None
    for gate in gates:
        if gate.number is None:
            return gate
        if best is None or gate.number < (best.number or 0):
            best = gate
    return best


def _unit(spawn: Spawn) -> str:
    return "task" if spawn.unit == "job" else spawn.unit


def _base(expr: f.Expr) -> f.Expr | None:
    if isinstance(expr, f.Ref) and "." in expr.name:
        name = expr.name.rpartition(".")[0]
        return f.Ref(expr.at, expr.at + len(name.encode()), name)
    return None
