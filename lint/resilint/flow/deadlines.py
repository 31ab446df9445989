"""Deadlines as values: which contexts reach a call, where they were made, and which scopes stand around it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

from resilint import facts as f
from resilint.flow.values import Bind, Flow, Flows, Frame, Null, Num, Obj, Text, Thing
from resilint.knowledge.index import scoping
from resilint.knowledge.schema import ScopeRow
from resilint.link.code import CallSite, Fun, dotted, walk, walk_block

if TYPE_CHECKING:
    from resilint.program import Program


@dataclass(frozen=True)
class Deadline:
    """One possibility for the deadline of a context.

    `root`: made fresh and never bounded; `request`: the peer may cancel it, nothing bounds it; `bounded`; `unknown`.
    """

    kind: Literal["root", "request", "bounded", "detached", "unknown"]
    number: float | None
    """Seconds; `inf` without end, `None` not known (a bounded one of unknown length is `bounded` with `None`)."""
    made: tuple[Fun, f.Node] | None = None
    """Where a root or bounded context was made."""
    flow: Flow | None = None
    root: tuple[Fun, f.Node] | None = None
    """Of a bounded one: where the fresh context was made that it adds its bound to."""


class Deadlines:
    """Answers what bounds a context or a place, for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._scoped: dict[Fun, float | None] = {}

    def of(self, expr: f.Expr, frame: Frame, depth: int = 0) -> list[Deadline]:
        """What the context in an expression may be bounded by."""
        return self.of_flows(self.resolver.ask(expr, frame), frame, depth)

    def of_flows(self, flows: Flows, frame: Frame, depth: int = 0) -> list[Deadline]:
        """The same for a value already resolved."""
        out: dict[Deadline, None] = {}
        for flow in flows:
            for deadline in self._one(flow, frame, depth):
                out.setdefault(deadline)
        return list(out)

    def _one(self, flow: Flow, frame: Frame, depth: int) -> Iterator[Deadline]:
        thing = flow.thing
        if depth > 8:
            yield Deadline("unknown", None, None, flow)
            return
        if isinstance(thing, Null):
            yield Deadline("root", inf, None, flow)
            return
        if not isinstance(thing, Obj) or thing.frame is None or not isinstance(thing.node, f.Call):
            kind = self._by_type(thing) if isinstance(thing, Obj) else None
            yield Deadline("request", inf, None, flow) if kind == "request" else Deadline("unknown", None, None, flow)
            return
        table = self.resolver.table(thing.frame.fn.module)
        row = table.context(thing.maker.partition("#")[0])
        args = thing.binds if thing.binds is not None else self.resolver.binds(thing.node, thing.frame)
        made = (thing.frame.fn, thing.node)
        if row is None:
            kind = self._by_type(thing)
            yield Deadline("request", inf, made, flow) if kind == "request" else Deadline("unknown", None, made, flow)
            return
        if row.kind == "root":
            yield Deadline("root", inf, made, flow)
        elif row.kind == "request":
            yield Deadline("unknown", None, made, flow) if self._is_transport(made[0]) else Deadline("request", inf, made, flow)
        elif row.kind == "detached":
            yield Deadline("detached", inf, made, flow)
        elif row.kind == "derived":
            yield from self._parent(row.parent, args, depth, flow)
        else:
            own = self._duration(row.duration, row.until, args)
            parents = list(self._parent(row.parent, args, depth, flow))
            known = [p.number for p in parents if p.number is not None]
            number = own
            if own is not None and known and len(known) == len(parents):
                number = min(own, max(known))
            if own == inf:
                yield from parents or [Deadline("unknown", None, made, flow)]
            else:
                fresh = parents[0].made if parents and all(p.kind == "root" for p in parents) else None
                yield Deadline("bounded", number, made, flow, fresh)

    def _is_transport(self, fn: Fun) -> bool:
        """Whether a method is what a client sends its requests by: the request is the client's, which may have given it a limit."""
        table = self.resolver.table(fn.module)
        if fn.module.language != "go" or not fn.is_method:
            return False
        kinds = [kind.name for library in table.libraries for kind in library.types if kind.role == "transport"]
        calls = (table.call(f"{kind}.{fn.name}") for kind in kinds)
        if not any(call is not None and call.request is not None for call in calls):
            return False
        given = (self.resolver.resolve_type(kind, fn) for kind in fn.head.returns)
        types = (table.type(kind) for kind in given if isinstance(kind, str))
        return any(kind is not None and kind.role == "response" for kind in types)

    def _parent(self, position: int | None, args: tuple[Bind, ...], depth: int, flow: Flow) -> Iterator[Deadline]:
        if position is None or position >= len(args):
            yield Deadline("unknown", None, None, flow)
            return
        bind = args[position]
        yield from self.of(bind.expr, bind.frame, depth + 1)

    def _duration(self, position: int | None, until: int | None, args: tuple[Bind, ...]) -> float | None:
        if position is None or position >= len(args):
            return None
        flows = self.resolver.ask(args[position].expr, args[position].frame)
        numbers = [float(x.thing.number) for x in flows if isinstance(x.thing, Num)]
        if numbers and len(numbers) == len(flows):
            return max(numbers)
        return None

    def _by_type(self, obj: Obj) -> str | None:
        name = self.resolver.external_type(obj)
        if not name:
            return None
        entry = self.program.knowledge.of("go").type(name)
        if entry is not None and entry.role == "request":
            return "request"
        if entry is not None and any(m == "Context" for m in entry.returns):
            return "request"
        return None

    # ------------------------------------------------------------ requests

    def of_request(self, flows: Flows, depth: int = 0) -> list[Deadline]:
        """What the context of a request object may be bounded by: from the call that made it, or last gave it another one."""
        out: dict[Deadline, None] = {}
        for flow in flows:
            thing = flow.thing
            if not isinstance(thing, Obj) or not isinstance(thing.node, f.Call) or thing.frame is None or depth > 6:
                out.setdefault(Deadline("unknown", None, None, flow))
                continue
            table = self.resolver.table(thing.frame.fn.module)
            entry = table.call(thing.maker.partition("#")[0])
            args = thing.binds if thing.binds is not None else self.resolver.binds(thing.node, thing.frame)
            if entry is None:
                out.setdefault(Deadline("unknown", None, None, flow))
            elif entry.context is not None and entry.context < len(args):
                bind = args[entry.context]
                for deadline in self.of(bind.expr, bind.frame):
                    out.setdefault(deadline)
            elif entry.request is not None and thing.parent is not None:
                for deadline in self.of_request((Flow(thing.parent),), depth + 1):
                    out.setdefault(deadline)
            else:
                out.setdefault(Deadline("root", inf, (thing.frame.fn, thing.node), flow))
        return list(out)

    def contexts_of(self, flows: Flows, depth: int = 0) -> Iterator[Bind | None]:
        """The contexts that a request object was given; `None` for one that is not known."""
        for flow in flows:
            thing = flow.thing
            if not isinstance(thing, Obj) or not isinstance(thing.node, f.Call) or thing.frame is None or depth > 6:
                yield None
                continue
            entry = self.resolver.table(thing.frame.fn.module).call(thing.maker.partition("#")[0])
            args = thing.binds if thing.binds is not None else self.resolver.binds(thing.node, thing.frame)
            if entry is not None and entry.context is not None and entry.context < len(args):
                yield args[entry.context]
            elif entry is not None and entry.request is not None and thing.parent is not None:
                yield from self.contexts_of((Flow(thing.parent),), depth + 1)
            else:
                yield None

    # ------------------------------------------------------------ scopes

    def around(self, site: CallSite) -> float | None:
        """The bound of the scopes around a call in its own function: seconds, `None` if its length is unknown, `inf` for none."""
        best: float | None = inf
        body = site.fn.body
        frame = self.resolver.frame(site.fn)
        for arm in site.arm.chain():
            node = arm.node
            if isinstance(node, f.With) and arm.kind == "with":
                for item in node.items:
                    best = _least(best, self._scope(item.value, "with", frame, site))
        held = _held_by(site)
        for other in body.calls:
            contains = other.call.at <= site.call.at and site.call.end <= other.call.end
            # Of the calls behind it, only those that are given what it gave: a body may have thousands.
            if other.call is site.call or not (contains or (other.call.end > site.call.at and _takes(other.call, held))):
                continue
            for target, entry in self.program.described(other, scoping):
                row = entry.scope
                inner = _scoped_part(other.call, row.body) if row is not None and row.form == "call" else None
                if row is None or inner is None:
                    continue
                inside = inner.at <= site.call.at and site.call.end <= inner.end
                if inside or (isinstance(inner, f.Ref) and inner.name in held and self._bounds_all(site, other, inner, row)):
                    best = _least(best, self._length(row.arg, row.pos, target.binds))
        return best

    def _bounds_all(self, site: CallSite, scope: CallSite, inner: f.Ref, row: ScopeRow) -> bool:
        """Whether a scope around the name that holds a call's result bounds every wait for it: it stands where the result always
        comes by, and bounds the object itself or is the only place that asks for it."""
        reached, _ = site.fn.body.reaching(inner.name, inner.at)
        if len(reached) != 1 or reached[0].at != site.stmt.at or scope.arm is not site.arm:
            return False
        used = (x for x in walk_block(site.fn.block) if isinstance(x, f.Ref) and x.name.partition(".")[0] == inner.name)
        return row.lasts or all(x.at in (site.stmt.at, inner.at) for x in used)

    def switched_off(self, site: CallSite) -> tuple[Fun, f.Node] | None:
        """The limit of a scope around a call, where it is one that never ends."""
        frame = self.resolver.frame(site.fn)
        table = self.resolver.table(site.fn.module)
        for arm in site.arm.chain():
            for item in arm.node.items if isinstance(arm.node, f.With) and arm.kind == "with" else ():
                if not isinstance(item.value, f.Call):
                    continue
                for flow in self.resolver.callee(item.value, frame):
                    row = table.scope(self.resolver.canonical(flow.thing) or "?")
                    bind = _argument(row.arg, row.pos, self.resolver.binds(item.value, frame)) if row is not None else None
                    if bind is not None and all(_is_endless(x.thing) for x in self.resolver.ask(bind.expr, bind.frame)):
                        return bind.frame.fn, bind.expr
        return None

    def _scope(self, expr: f.Expr, form: str, frame: Frame, site: CallSite) -> float | None:
        if not isinstance(expr, f.Call):
            return inf
        table = self.resolver.table(frame.fn.module)
        for flow in self.resolver.callee(expr, frame):
            name = self.resolver.canonical(flow.thing)
            row = table.scope(name) if name else None
            if row is not None and row.form == form:
                if row.cuts == "await" and not is_awaited(site):
                    return inf
                length = self._length(row.arg, row.pos, self.resolver.binds(expr, frame))
                return None if row.later and length == inf else length
        return inf

    def _length(self, arg: str | None, pos: int | None, binds: tuple[Bind, ...]) -> float | None:
        chosen = _argument(arg, pos, binds)
        if chosen is None:
            return inf
        flows = self.resolver.ask(chosen.expr, chosen.frame)
        if any(isinstance(x.thing, Null) for x in flows):
            return inf
        numbers = [float(x.thing.number) for x in flows if isinstance(x.thing, Num)]
        if numbers and len(numbers) == len(flows):
            return max(numbers)
        if any(isinstance(x.thing, Text) for x in flows):
            return inf
        return None

    def scoped(self, fn: Fun, depth: int = 0) -> float | None:
        """The bound of scopes that stand around every call of a function; `inf` where some path has none."""
        if fn in self._scoped:
            return self._scoped[fn]
        if depth > 3 or not fn.head.is_async:
            return inf
        self._scoped[fn] = inf
        sites, whole = self.resolver.callers(fn)
        worst: float | None = 0.0
        for _frame, site, _args, _this in sites:
            own = self.around(site)
            if own == inf:
                own = self.scoped(site.fn, depth + 1)
            worst = None if own is None or worst is None else max(worst, own)
        if not sites or not whole:
            worst = inf
        self._scoped[fn] = worst
        return worst


def _scoped_part(call: f.Call, body: int | None) -> f.Expr | None:
    """What a call bounds: the argument at a position, or what it is called on (-1)."""
    if body == -1:
        if isinstance(call.fn, f.Ref):
            name = call.fn.name.rpartition(".")[0]
            return f.Ref(call.fn.at, call.fn.at + len(name), name) if name else None
        return call.fn.base if isinstance(call.fn, f.Field) else None
    return call.args[body].value if body is not None and 0 <= body < len(call.args) else None


def _takes(call: f.Call, names: Collection[str]) -> bool:
    """Whether a call is given one of these names, or is a method of one."""
    if not names:
        return False
    taken = (arg.value.name for arg in call.args if isinstance(arg.value, f.Ref))
    return any(name in names for name in taken) or dotted(call.fn).rpartition(".")[0] in names


def _held_by(site: CallSite) -> frozenset[str]:
    """The names that hold what a call gives, where a statement only keeps it, or goes on from it: `d = get(url).addCallback(f)`."""
    stmt = site.stmt
    if not isinstance(stmt, f.Assign) or stmt.value is None:
        return frozenset()
    value = stmt.value
    while isinstance(value, f.Call) and value is not site.call and isinstance(value.fn, f.Field):
        value = value.fn.base
    return frozenset(t.name for t in stmt.targets if isinstance(t, f.Ref)) if value is site.call else frozenset()


def _argument(arg: str | None, pos: int | None, binds: tuple[Bind, ...]) -> Bind | None:
    chosen: Bind | None = None
    at = 0
    for bind in binds:
        if bind.name is not None and bind.name == arg:
            chosen = bind
        elif bind.name is None:
            if at == pos:
                chosen = bind
            at += 1
    return chosen


def is_awaited(site: CallSite) -> bool:
    """Whether the loop goes on while a call waits: it is awaited, here or as part of something, or becomes a task."""
    if site.awaited or site.fn.module.language != "python":
        return True
    if not site.fn.head.is_async:
        return False
    stmt = site.stmt
    if isinstance(stmt, f.With | f.Loop) and stmt.is_async:
        heads: tuple[f.Expr, ...] = (
            tuple(i.value for i in stmt.items) if isinstance(stmt, f.With) else (stmt.iter,) if stmt.iter else ()
        )
        if any(h is site.call or (isinstance(h, f.Call) and h.at <= site.call.at and site.call.end <= h.end) for h in heads):
            return True
    for other in site.fn.body.calls:
        if other.call is not site.call and any(_is_part(a.value, site.call) for a in other.call.args):
            return True
    if isinstance(stmt, f.Assign) and stmt.value is site.call:
        names = {dotted(t) for t in stmt.targets}
        for node in walk_block(site.fn.block):
            if isinstance(node, f.Await | f.Arg) and any(isinstance(x, f.Ref) and x.name in names for x in walk(node.value)):
                return True
    return False


def _is_part(value: f.Expr, call: f.Call) -> bool:
    """Whether an argument is a call, or a collection of such."""
    if value is call:
        return True
    if isinstance(value, f.Coll):
        return any(_is_part(pair.value, call) for pair in value.items)
    return isinstance(value, f.Comp) and _is_part(value.elt, call)


def _least(a: float | None, b: float | None) -> float | None:
    """The smaller bound; one of unknown length counts as a bound."""
    if a is None or b is None:
        known = a if b is None else b
        return known if known is not None and known != inf else None
    return min(a, b)


def _is_endless(thing: Thing) -> bool:
    return isinstance(thing, Null) or (isinstance(thing, Num) and thing.number == inf)
