"""Spawns: places where work starts beside its caller, how many there can be of it at once, and what it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from resilint import facts as f
from resilint.flow.inputs import NONE, Size, worst
from resilint.flow.streams import receiver_of
from resilint.flow.values import Bound, ClassVal, Ext, Flow, FnVal, Frame, Hop, Num, Obj
from resilint.knowledge.index import doing, spawning
from resilint.knowledge.schema import Bound as KnownBound
from resilint.knowledge.schema import CallEntry, SpawnRow
from resilint.link.code import CODE, CallSite, Fun, Klass, Module, called_part, children, dotted, leaves, walk
from resilint.link.looks import matching
from resilint.model import Confidence, Span, Step

if TYPE_CHECKING:
    from resilint.program import Program

WAITS = ("network", "query", "connect")
_DEEP = 6
_MANY = 120
_GO = matching(rb"\bgo[ \t]+[\w(]")
_GATES = re.compile(
    r"sem(?:a|aphore)?s?(?:$|_)|limit|throttl|permit|slots?(?:$|_)|gate|bulkhead|tokens?(?:$|_)|concurren", re.IGNORECASE
)
_ACQUIRES = frozenset({"acquire", "tryacquire", "try_acquire", "acquire_async", "take", "reserve", "waitn", "throttle"})
_RECEIVES = re.compile(
    r"^(?:get|get_nowait|get_message|recv\w*|receive\w*|poll|next|__next__|x?read\w*|(?:b?[lr])?pop\w*|consume\w*|fetch\w*|dequeue)$",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(r"accept", re.IGNORECASE)
_NOT_MESSAGES = re.compile(
    r"connect|start|stop|close|open|init|ready|signal|shutdown|exit|later|soon|call_at|done|login|join|leave|quit|load|setup",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"is_alive|running|started|active|busy|in_progress|pending|locked|inflight|in_flight|thread|worker|task|timer", re.IGNORECASE
)
_START_UP = re.compile(
    r"^(?:_*(?:start|run|init|setup|new|open|serve|listen|launch|boot|load|connect|stop|close|shut|tear|clean|drain|kill|terminate|exit"
    r"|destroy|reload|restart|register|subscribe|build|make|create|spawn|join)\w*|main|__a?enter__|__a?exit__|<module>)$",
    re.IGNORECASE,
)
_SIGNS_OFF = re.compile(
    r"^(?:C|done\w*|quit\w*|stop\w*|clos\w+|exit\w*|shutdown\w*|\w*(?:Done|Quit|Stop|Closed|Exit|Shutdown|StopCh|stopc|donec|quitc))$"
)
"""Names of channels that say that time is over or that somebody left."""
_OF_CONTEXT = re.compile(
    r"^(?:Ctx|From|With|Into|Log|Debug|Info|Warn|Error|Trace|Record|Observe|Start|Inject|Extract)|(?:Context|Logger)$"
)
"""Calls that are given a context for what it carries, not to wait under it."""

_RUNS = ("run", "call", "get", "compute")
"""Methods of Java's interfaces for work: Runnable, Callable, Supplier, RecursiveTask."""

Unit = Literal["goroutine", "thread", "process", "task", "job", "request"]


class Limit(NamedTuple):
    """What limits how many run at once: known finite, known to be none, or not known."""

    known: Literal["finite", "none", "unknown"]
    number: float | None = None
    hops: tuple[Hop, ...] = ()


NO_LIMIT = Limit("none")


@dataclass(eq=False)
class Spawn:
    """One place that starts work. `bodies` are the functions started, `direct` the library calls started without one between."""

    fn: Fun
    site: CallSite
    api: str
    unit: Unit
    row: SpawnRow
    bodies: tuple[Fun, ...] = ()
    direct: tuple[str, ...] = ()
    holders: tuple[Obj, ...] = ()
    limit: Limit = NO_LIMIT
    elements: tuple[tuple[f.Expr, Frame], ...] = ()
    """What it starts one per element of, where the call itself says so."""
    args: tuple[f.Expr, ...] = ()
    started_before: bool = False
    """What it is given runs already: it only waits for it."""

    @property
    def key(self) -> tuple[str, int]:
        """Order."""
        return (self.fn.module.path, self.site.call.at)

    @property
    def name(self) -> str:
        """The declared function it stands in."""
        return family(self.fn).name

    def rests_on(self) -> Iterator[Fun]:
        """The functions that it starts, and those that make what it starts them with."""
        yield from self.bodies
        yield from (holder.frame.fn for holder in self.holders if holder.frame is not None)

    @property
    def dropped(self) -> bool:
        """Whether nothing holds what it started."""
        stmt = self.site.stmt
        return (isinstance(stmt, f.Do) and stmt.value is self.site.call) or isinstance(stmt, f.Go)


@dataclass(eq=False)
class Fanout:
    """A spawn whose width grows: with the elements of something, or with every event."""

    spawn: Spawn
    size: Size
    span: Span
    event: str = ""
    """`message`, `request` or `connection`, where it grows with those."""
    steps: tuple[Step, ...] = ()
    confidence: Confidence = Confidence.MEDIUM
    over: str = ""
    """What it ranges over, as written."""
    siblings: list[Spawn] = field(default_factory=list)
    loop: f.Node | None = None

    @property
    def unit(self) -> Unit:
        """What is started, in one word."""
        return self.spawn.unit


class Reach(NamedTuple):
    """How work reaches something outside: the calls on the way."""

    steps: tuple[Step, ...]
    sure: bool
    api: str = ""
    """The call that waits there."""


class Spawns:
    """Finds spawns and judges them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.sizes = program.sizes
        self._direct: dict[Fun, tuple[CallSite, str, bool] | None] = {}
        self._next: dict[Fun, tuple[tuple[CallSite | None, Fun], ...]] = {}
        self._gated: dict[Fun, bool] = {}
        self._near: dict[str, bool] = {}

    # ------------------------------------------------------------ finding

    def all(self) -> Iterator[Spawn]:
        """Every spawn, in order of path and position."""
        found: dict[tuple[str, int, int], Spawn] = {}
        for site in self._go_statements():
            spawn = Spawn(site.fn, site, "go", "goroutine", SpawnRow(target=0))
            frame = self.resolver.frame(site.fn)
            bodies, direct, _ = self._started(site.call, frame)
            spawn.bodies, spawn.direct = bodies, direct
            spawn.args = (site.call.fn, *(a.value for a in site.call.args))
            found[(*site.fn.key, site.call.at)] = spawn
        for language in CODE:
            names = self.program.lasts(language, spawning)
            for site in self.program.start_sites(names.__contains__, language, among=self.may_start):
                key = (*site.fn.key, site.call.at)
                known = self.of_site(site)
                if known is not None and key not in found:
                    found[key] = known
        for started in self._requests():
            found.setdefault((*started.fn.key, started.site.call.at), started)
        yield from sorted(found.values(), key=lambda s: s.key)

    def _go_statements(self) -> Iterator[CallSite]:
        for module in self.program.start_modules("go"):
            for fn in module.functions if self.program.says(module.path, _GO) else ():
                if self.program.marks(fn, _GO):
                    yield from (site for site in fn.body.calls if site.how == "go")

    def found_again(self, spawn: Spawn) -> Iterable[Spawn]:
        """A spawn as it is after what it starts has changed."""
        if spawn.site.how == "go" or spawn.unit == "request":
            again = replace(spawn)
            again.bodies = tuple(sorted(self.program.renewed(spawn.bodies), key=lambda fn: fn.key))
            return [again]
        found = self.of_site(spawn.site)
        return [found] if found is not None else []

    def _requests(self) -> Iterator[Spawn]:
        """Calls of a client that send and give a future for the answer. A publisher sends nothing before somebody subscribes."""
        for wait in self.program.start_waits if self.has_java or self._defers else ():
            entry = wait.entry
            if not entry.deferred or entry.spawn is not None or entry.streams or wait.fn.module.is_test:
                continue
            kind = self.resolver.table(wait.fn.module).type(entry.returns or "?")
            if kind is None or kind.role != "future" or kind.fluent:
                continue
            limit = self._of_client(wait.holder) if wait.holder is not None else NO_LIMIT
            spawn = Spawn(wait.fn, wait.site, wait.api, "request", SpawnRow(), direct=(wait.api,), limit=limit)
            spawn.args = tuple(a.value for a in wait.site.call.args)
            yield spawn

    @cached_property
    def _defers(self) -> bool:
        """Whether a file of Python imports a library with calls that give a future at once."""
        libraries = self.program.knowledge.of("python").libraries
        modules = {m for lib in libraries if any(call.deferred for call in lib.calls) for m in lib.modules}
        files = (module for module in self.program.names.modules.values() if module.language == "python")
        return any(imp.target in modules or imp.target.partition(".")[0] in modules for m in files for imp in m.facts.imports)

    @cached_property
    def has_java(self) -> bool:
        """Whether there is Java in the program, where a call may give a future without a word of the caller's."""
        return any(module.language == "java" for module in self.program.names.modules.values())

    def near(self, module: Module) -> bool:
        """Whether a file imports a library that starts work, so that what it starts or joins may be that library's."""
        found = self._near.get(module.path)
        if found is None:
            libraries = self._starting[module.language]
            # What starts threads in Java needs no import.
            found = module.language == "java" or not libraries.isdisjoint(module.imported)
            self._near[module.path] = found
        return found

    def may_start(self, module: Module) -> bool:
        """Whether work may start or be joined in a file: it is no test and imports a library that starts work."""
        return not module.is_test and self.near(module)

    @cached_property
    def _starting(self) -> dict[str, frozenset[str]]:
        return {
            language: frozenset(
                m
                for lib in self.program.knowledge.of(language).libraries
                if any(c.spawn is not None for c in lib.calls)
                for m in lib.modules
            )
            for language in ("python", "go", "java")
        }

    def of_site(self, site: CallSite) -> Spawn | None:
        """What a call starts, by knowledge."""
        spawn: Spawn | None = None
        limits: list[Limit] = []
        for target, entry in self.program.described(site, spawning):
            if entry.spawn is None:
                continue
            row = entry.spawn
            if spawn is None:
                spawn = Spawn(site.fn, site, target.name, "job", row)
            if target.holder is not None:
                spawn.holders = (*spawn.holders, target.holder)
            spawn.unit = self._unit(entry.returns or "", row, target.holder, site)
            self._take_arguments(spawn, row, target.binds, target.holder)
            if entry.deferred and row.target is None and row.target_arg is None:
                spawn.started_before = True  # A future stands for work that runs: there is nothing else to start.
            if row.executor is not None or row.default_executor is not None:
                limits.extend(self._limits_of_executors(site, row, target.binds))
            elif any(b.slot == "concurrency" for b in entry.bounds):
                limits.append(self._limit_at(entry, target.binds, site))
            else:
                limits.append(self._limit(site, row, target.holder))
        if spawn is None:
            return None
        if any(x.known != "none" for x in limits):
            spawn.limit = next(x for x in limits if x.known != "none")
        return spawn

    def _unit(self, returned: str, row: SpawnRow, holder: Obj | None, site: CallSite) -> Unit:
        table = self.resolver.table(site.fn.module)
        kind = table.type(self.resolver.external_type(holder)) if holder is not None else None
        if kind is not None and kind.role in ("thread", "process"):
            return "thread" if kind.role == "thread" else "process"
        if row.backlog != "none":
            return "job"
        if site.fn.module.language == "go":
            return "goroutine"
        made = table.type(returned)
        if made is not None and made.role in ("thread", "process"):
            return "thread" if made.role == "thread" else "process"
        if made is not None and "wait" not in returned and (kind is None or kind.role != "executor" or made.role == "future"):
            return "task"
        return "task" if row.each is not None or site.fn.head.is_async else "thread"

    def _take_arguments(self, spawn: Spawn, row: SpawnRow, binds: tuple[Any, ...], holder: Obj | None) -> None:
        bodies: list[Fun] = list(spawn.bodies)
        direct: list[str] = list(spawn.direct)
        spawn.args = tuple(b.expr for b in binds)
        if row.each is not None and row.target is None:
            chosen = binds if row.each < 0 else binds[row.each : row.each + 1]
            elements: list[tuple[f.Expr, Frame]] = []
            running: list[bool] = []
            for bind in chosen:
                if bind.spread or row.each >= 0:
                    elements.append((bind.expr, bind.frame))
                    got = self._elements(bind.expr, bind.frame, 0)
                else:
                    got = self._started(bind.expr, bind.frame)
                bodies.extend(got[0])
                direct.extend(got[1])
                running.append(got[2])
            spawn.elements = tuple(elements)
            spawn.started_before = bool(running) and any(running)
        else:
            if row.each is not None:
                spawn.elements = tuple((b.expr, b.frame) for b in binds[row.each : row.each + 1])
            bind = _pick(binds, row)
            if bind is None and holder is not None:
                if not isinstance(holder.type, str):
                    bodies.extend(x.fn for x in self.resolver.method(holder, "run"))
                if isinstance(holder.node, f.Call) and holder.frame is not None:
                    made = holder.binds if holder.binds is not None else self.resolver.binds(holder.node, holder.frame)
                    bind = _pick(made, row)
                    spawn.args = tuple(b.expr for b in made)
            if bind is not None:
                got = self._started(bind.expr, bind.frame)
                bodies.extend(got[0])
                direct.extend(got[1])
        spawn.bodies = tuple(dict.fromkeys(bodies))
        spawn.direct = tuple(dict.fromkeys(direct))

    def _started(self, expr: f.Expr, frame: Frame, depth: int = 0) -> tuple[tuple[Fun, ...], tuple[str, ...], bool]:
        """What runs where an expression is started: functions, library calls; and whether it runs already."""
        if depth > 4:  # `task = shield(task)` in a loop
            return (), (), False
        bodies: list[Fun] = []
        direct: list[str] = []
        running = False
        table = self.resolver.table(frame.fn.module)
        if isinstance(expr, f.Await | f.Let):
            return self._started(expr.value, frame, depth + 1)
        if isinstance(expr, f.Call):
            for thing, binds in self.resolver.targets(expr, frame):
                if isinstance(thing, FnVal):
                    bodies.append(thing.fn)
                    continue
                if isinstance(thing, ClassVal):
                    bodies.extend(self._run_of(thing.klass))
                    continue
                name = self.resolver.canonical(thing) if isinstance(thing, Ext | Bound) else ""
                row = table.call(name) if name else None
                inner = None
                if row is not None and row.spawn is not None:
                    running = True
                    inner = _pick(binds, row.spawn)
                elif row is not None and row.scope is not None and row.scope.body is not None:
                    inner = binds[row.scope.body] if row.scope.body < len(binds) else None
                if inner is not None:
                    more = self._started(inner.expr, inner.frame, depth + 1)
                    bodies.extend(more[0])
                    direct.extend(more[1])
                elif row is not None and row.does in WAITS:
                    direct.append(name)
            return tuple(bodies), tuple(direct), running
        if isinstance(expr, f.Ref) and "." not in expr.name:
            reached, _ = frame.fn.body.reaching(expr.name, expr.at)
            for d in reached:
                if d.kind == "value" and isinstance(d.expr, f.Call):
                    more = self._started(d.expr, frame, depth + 1)
                    bodies.extend(more[0])
                    direct.extend(more[1])
                    running = running or more[2]
        for flow in self.resolver.ask(expr, frame):
            for thing, _ in self.resolver.unwrap(flow.thing, (), frame):
                if isinstance(thing, FnVal):
                    bodies.append(thing.fn)
                elif isinstance(thing, Obj) and isinstance(thing.type, Klass):
                    bodies.extend(self._run_of(thing.type))
                elif isinstance(thing, Ext | Bound):
                    name = self.resolver.canonical(thing)
                    row = table.call(name)
                    if row is not None and row.does in WAITS:
                        direct.append(name)
        return tuple(dict.fromkeys(bodies)), tuple(direct), running

    def _run_of(self, klass: Klass) -> list[Fun]:
        """The method that runs where an object stands for work: that of the interface which its class has for it."""
        if klass.module.language != "java":
            return []
        names = self.program.names.java
        found = ([fn for fn in names.dispatched(klass, name, 0) if not fn.head.is_abstract] for name in _RUNS)
        return next((methods for methods in found if methods), [])

    def _elements(self, expr: f.Expr, frame: Frame, depth: int) -> tuple[tuple[Fun, ...], tuple[str, ...], bool]:
        """What runs where all elements of a collection are started."""
        parts: list[f.Expr] = []
        match expr:
            case f.Comp():
                parts = [expr.elt]
            case f.Coll():
                parts = [p.value for p in expr.items if not p.spread]
            case f.Call() if expr.args:
                last = dotted(expr.fn).rpartition(".")[2]
                if last in ("list", "tuple", "set", "sorted"):
                    return self._elements(expr.args[0].value, frame, depth + 1)
                if last == "map" and len(expr.args) > 1:
                    parts = [expr.args[0].value]
            case f.Ref() if depth < 4:
                out: list[tuple[tuple[Fun, ...], tuple[str, ...], bool]] = []
                body = frame.fn.body
                reached, _ = body.reaching(expr.name, expr.at)
                for d in reached:
                    if d.expr is not None and d.kind == "value":
                        out.append(self._elements(d.expr, frame, depth + 1))
                for site in body.calls:
                    base, _, verb = dotted(site.call.fn).rpartition(".")
                    if (
                        base == expr.name
                        and verb in ("append", "add", "insert", "appendleft")
                        and site.call.args
                        and site.call.at < expr.at
                    ):
                        out.append(self._started(site.call.args[-1].value, frame))
                return (
                    tuple(dict.fromkeys(x for o in out for x in o[0])),
                    tuple(dict.fromkeys(x for o in out for x in o[1])),
                    any(o[2] for o in out),
                )
        got = [self._started(p, frame) for p in parts]
        return tuple(x for g in got for x in g[0]), tuple(x for g in got for x in g[1]), any(g[2] for g in got)

    # ------------------------------------------------------------ limits

    def _limits_of_executors(self, site: CallSite, row: SpawnRow, binds: tuple[Any, ...]) -> Iterator[Limit]:
        """The limits of the executor that a call is given, or of the one that runs it otherwise."""
        if row.executor is None or row.executor >= len(binds):
            yield Limit("finite") if row.default_executor is not None else NO_LIMIT
            return
        bind = binds[row.executor]
        flows = self.resolver.ask(bind.expr, bind.frame)
        for flow in flows:
            yield self._limit(site, row, flow.thing) if isinstance(flow.thing, Obj) else Limit("unknown")
        if not flows:
            yield Limit("unknown")

    def _of_client(self, client: Obj) -> Limit:
        """The limit of a client that has one on its connections."""
        wanted = frozenset({"concurrency", "concurrency_total"})
        slots = [s for source in self.program.slots.of_object(client, wanted) for s in source.slots if source.bound.slot in wanted]
        if any(s.state == "finite" for s in slots):
            return Limit("finite")
        return Limit("unknown") if any(s.state == "unknown" for s in slots) else NO_LIMIT

    def _limit_at(self, entry: CallEntry, binds: tuple[Any, ...], site: CallSite) -> Limit:
        """The limit that the call itself takes."""
        rows = [b for b in entry.bounds if b.slot == "concurrency"]
        states = {
            slot.state for source in self.program.slots.at_call(rows, binds, (site.fn, site.call), None) for slot in source.slots
        }
        return NO_LIMIT if states & {"disabled", "absent"} else Limit("finite")

    def _limit(self, site: CallSite, row: SpawnRow, holder: Obj | None) -> Limit:
        if holder is None:
            return Limit("finite") if row.backlog != "none" else Limit("none")
        table = self.resolver.table(site.fn.module)
        bounds = [b for b in table.bounds(self.resolver.external_type(holder)) if b.slot == "concurrency"]
        if not bounds:
            return Limit("finite") if row.backlog != "none" else Limit("none")
        if row.backlog != "none":
            return self._made_with(holder, row)
        for bound in bounds:
            if bound.setter is None:
                return self._made_with(holder, row)
            found = self._set(bound.setter, holder, site)
            if found is not None:
                return found
        return Limit("unknown") if holder.kind in ("outside", "any") else Limit("none")

    def _made_with(self, holder: Obj, row: SpawnRow) -> Limit:
        """The limit that an object gets where it is made."""
        table = self.resolver.table(holder.frame.fn.module) if holder.frame is not None else None
        bounds = table.bounds(self.resolver.external_type(holder)) if table is not None else ()
        maker = table.call(holder.maker.partition("#")[0]) if table is not None and holder.maker else None
        if maker is not None and any(bound.slot == "concurrency" for bound in maker.bounds):
            bounds = maker.bounds
        if any(bound.slot == "concurrency" and self._grows_with(bound, holder) for bound in bounds):
            return Limit("none")
        slots = [s for source in self.program.slots.of_object(holder, frozenset({"concurrency"})) for s in source.slots]
        if row.backlog != "none" or not slots:
            return Limit("finite")
        if any(s.state == "unknown" for s in slots):
            return Limit("unknown")
        if any(s.state in ("absent", "disabled") for s in slots):
            return Limit("none")
        numbers = [s.number for s in slots if s.number is not None]
        hops = next((s.flow.hops for s in slots if s.flow is not None), ())
        return Limit("finite", max(numbers) if len(numbers) == len(slots) else None, hops)

    def _grows_with(self, bound: KnownBound, holder: Obj) -> bool:
        """Whether a limit is as large as what it should limit: `ThreadPoolExecutor(max_workers=len(urls))`."""
        if not isinstance(holder.node, f.Call) or holder.frame is None:
            return False
        made = holder.binds if holder.binds is not None else self.resolver.binds(holder.node, holder.frame)
        if bound.arity and len(made) not in bound.arity:
            return False
        plain = [b for b in made if b.name is None]
        given = [b for b in made if b.name is not None and b.name == bound.arg]
        given += plain[bound.pos : bound.pos + 1] if bound.pos is not None else []
        return any(self.sizes.number(b.expr, b.frame).grows for b in given)

    def _set(self, setter: str, holder: Obj, site: CallSite) -> Limit | None:
        base = dotted(site.call.fn).rpartition(".")[0]
        line = list(_line_of(holder))
        for where in self.program.sites(lambda last: last == setter, site.fn.module.language):
            same = family(where.fn) is family(site.fn) and bool(base) and dotted(where.call.fn).rpartition(".")[0] == base
            if not same:
                same = any(obj.node is where.call for obj in line) or any(
                    t.holder is not None
                    and any(t.holder == obj or (t.holder.node is obj.node and isinstance(obj.node, f.Node)) for obj in line)
                    for t in self.program.targets(where)
                )
            if not same or not where.call.args:
                continue
            value = where.call.args[0].value
            numbers = [x.thing.number for x in self.resolver.ask(value, self.resolver.frame(where.fn)) if isinstance(x.thing, Num)]
            number = float(max(numbers)) if numbers else None
            if number is not None and not 0 <= number < inf:
                return Limit("none")
            text = f"{setter} {int(number)}" if number is not None else f"{setter} is called"
            return Limit("finite", number, (self.resolver.hop(where.fn, where.call, text),))
        return None

    # ------------------------------------------------------------ what work does

    def reach(self, starts: Iterable[Fun], kinds: tuple[str, ...] = WAITS) -> Reach | None:
        """The shortest way from functions to a call that waits for a peer or database."""
        seen: dict[Fun, tuple[Fun, CallSite | None] | None] = {}
        for fn in starts:
            seen.setdefault(fn, None)
        layer = list(seen)
        weak: Reach | None = None
        for left in range(_DEEP - 1, -1, -1):
            for fn in layer:
                hit = self._outside(fn)
                if hit is not None:
                    reach = self._way(fn, hit, seen)
                    if hit[2]:
                        return reach
                    weak = weak or reach
            # What they call is dear to ask, and only asked where none of them waits itself.
            following: list[Fun] = []
            for fn in layer if left else ():
                for site, callee in self.callees(fn) if len(seen) < _MANY else ():
                    if callee not in seen and len(seen) < _MANY:
                        seen[callee] = (fn, site)
                        following.append(callee)
            layer = following
        return weak

    def _way(self, fn: Fun, hit: tuple[CallSite, str, bool], seen: dict[Fun, tuple[Fun, CallSite | None] | None]) -> Reach:
        steps = [
            self.program.step(
                fn, hit[0].call, f"{short(hit[1])} waits for a peer" if hit[2] else f"{hit[1]} seems to wait for a peer"
            )
        ]
        at = seen[fn]
        while at is not None:
            above, site = at
            if site is not None:
                steps.append(self.program.step(above, site.call, f"{above.head.qual} calls {fn.head.qual}"))
            fn = above
            at = seen[fn]
        steps.reverse()
        return Reach(tuple(steps), hit[2], hit[1])

    def _outside(self, fn: Fun) -> tuple[CallSite, str, bool] | None:
        """The first call of a function's own body that waits for something outside."""
        if fn in self._direct:
            return self._direct[fn]
        self._direct[fn] = None
        weak: tuple[CallSite, str, bool] | None = None
        found: tuple[CallSite, str, bool] | None = None
        reach = self.program.reach(fn.module.language, WAITS)
        declared = fn.module.language == "go"
        for site in fn.body.calls:
            near = site.last in reach.methods and (declared or reach.candidate(site))
            if site.how == "defer" or not (near or self._may_be_remote(site)):
                continue
            for target in self.program.targets(site):
                if target.entry is not None and target.entry.does in WAITS:
                    found = (site, target.name, True)
                    break
                if weak is None and target.entry is None and self._looks_remote(site, target.name, target.flow):
                    weak = (site, self.program.text_of(fn, site.call.fn), False)
            if found is not None:
                break
        self._direct[fn] = found or weak
        return self._direct[fn]

    @staticmethod
    def _may_be_remote(site: CallSite) -> bool:
        """Whether a call is awaited, or is given a context first."""
        if site.fn.module.language == "go":
            return bool(site.call.args) and dotted(site.call.args[0].value).rpartition(".")[2].lower().endswith("ctx")
        return site.awaited

    def _looks_remote(self, site: CallSite, name: str, flow: Flow) -> bool:
        """A call of a library that nobody described, but which is awaited or takes a context."""
        if isinstance(flow.thing, FnVal):
            return False
        if not self._may_be_remote(site):
            return False
        if site.fn.module.language == "go":
            return "." in name.rpartition(".")[0].partition("/")[0] and not _OF_CONTEXT.search(site.last)
        return (
            bool(name)
            and not name.startswith(("<builtin>", "?"))
            and "." in name
            and self.resolver.table(site.fn.module).call(name) is None
        )

    def callees(self, fn: Fun, named: frozenset[str] | None = None) -> tuple[tuple[CallSite | None, Fun], ...]:
        """What a function calls, with the literals it hands over and what it starts. `named`: where only functions of these names
        matter, calls that cannot be theirs are not resolved."""
        found = self._next.get(fn)
        if found is None:
            out: dict[Fun, CallSite | None] = {}
            for site in fn.body.calls:
                if not site.last or (site.last in self.own_names and (named is None or _may_be_of(site, named))):
                    for callee in self.program.callees(site) or self._declared(site):
                        out.setdefault(callee, site)
                for arg in site.call.args:
                    if isinstance(arg.value, f.Fn):
                        out.setdefault(fn.module.functions[arg.value.index], site)
                    elif fn.module.language == "java" and isinstance(arg.value, f.Field):
                        for referred in self.program.names.java.referred(arg.value, fn):
                            if isinstance(referred, Fun):
                                out.setdefault(referred, site)
                    elif (
                        isinstance(arg.value, f.Ref | f.Call)
                        and site.last in self.program.lasts(fn.module.language, spawning)
                        and _pick_any(site, self.program)
                    ):
                        for body in self._started(arg.value, self.resolver.frame(fn))[0]:
                            out.setdefault(body, site)
            found = tuple((site, callee) for callee, site in out.items())
            if named is None:
                self._next[fn] = found
        return found

    def _declared(self, site: CallSite) -> list[Fun]:
        """What a call enters by what is declared, where no value says it."""
        if site.fn.module.language != "java":
            return []
        targets = self.program.names.java.declared(site.call, site.fn)
        return [target for target in targets if isinstance(target, Fun) and not target.head.is_abstract]

    def permitted(self, site: CallSite) -> bool:
        """Whether who makes a call holds a permit of a gate: no more can make it than there are permits."""
        for arm in site.arm.chain():
            if isinstance(arm.node, f.With) and any(self.is_gate(item.value, site.fn) for item in arm.node.items):
                return True
        return any(other.call.at < site.call.at and self.acquires(other) for other in site.fn.body.calls)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """Names by which functions of the program can be called directly: others need not be resolved."""
        return self.program.own_names | {"super", "cls"}

    def among(self, expr: f.Expr, fn: Fun) -> list[Spawn]:
        """The spawns whose results are the elements, or the keys, of a collection: futures, tasks."""
        by_call = self._by_call
        calls = dict.fromkeys(id(call) for call in self._elements_behind(expr, fn))
        return [by_call[call] for call in calls if call in by_call]

    @cached_property
    def _by_call(self) -> dict[int, Spawn]:
        return {id(spawn.site.call): spawn for spawn in self.program.spawns}

    def _elements_behind(self, expr: f.Expr, fn: Fun, depth: int = 0) -> Iterator[f.Call]:
        if isinstance(expr, f.Comp):
            yield from self.calls_behind(expr.key if expr.key is not None else expr.elt, fn)
        elif isinstance(expr, f.Coll):
            for item in expr.items:
                yield from self.calls_behind(item.key if item.key is not None else item.value, fn)
        elif isinstance(expr, f.Ref) and depth < 3:
            for d in fn.body.reaching(expr.name, expr.at)[0]:
                if d.expr is not None and d.kind == "value":
                    yield from self._elements_behind(d.expr, fn, depth + 1)
            for site in fn.body.calls:
                base, _, verb = dotted(site.call.fn).rpartition(".")
                if base == expr.name and verb in ("append", "add") and site.call.args and site.call.at < expr.at:
                    yield from self.calls_behind(site.call.args[0].value, fn)

    def calls_behind(self, expr: f.Expr, fn: Fun) -> Iterator[f.Call]:
        """The calls that an expression is, or that a variable holds the result of."""
        if isinstance(expr, f.Await):
            yield from self.calls_behind(expr.value, fn)
        elif isinstance(expr, f.Call):
            yield expr
            for arg in expr.args:  # shield(run_in_executor(…))
                if isinstance(arg.value, f.Call):
                    yield arg.value
        elif isinstance(expr, f.Ref):
            reached, _ = fn.body.reaching(expr.name, expr.at)
            for d in reached:
                if isinstance(d.expr, f.Call):
                    yield d.expr

    @cached_property
    def passing(self) -> dict[str, frozenset[str]]:
        """The last segments of the calls that call what they are given with what follows it, by language."""
        return self._lasts(lambda call, _: call.spawn is not None and call.spawn.passes != "nothing")

    # ------------------------------------------------------------ gates

    def gated(self, spawn: Spawn, within: f.Node | None) -> bool:
        """Whether a permit, a join or a test of a counter stands between one start and the next, or bounds the work itself."""
        if any(self._permit_inside(body, 0) for body in spawn.bodies):
            return True
        return self._gate_around(spawn, within)

    def _gate_around(self, spawn: Spawn, within: f.Node | None, on_the_way: CallSite | None = None) -> bool:
        start = on_the_way or spawn.site
        fn, here = start.fn, start.call.at
        body = fn.body
        low, high = (within.at, within.end) if within is not None else (fn.head.at, fn.head.end)
        # One permit held around a call that starts all elements at once does not limit how many those are.
        at_once = within is None and on_the_way is None and bool(spawn.elements)
        for arm in start.arm.chain() if not at_once else ():
            if isinstance(arm.node, f.With) and low <= arm.node.at and any(self.is_gate(i.value, fn) for i in arm.node.items):
                return True
        for site in body.calls:
            if not (low <= site.call.at < high) or site.call is start.call:
                continue
            if site.call.at < here and self.acquires(site):
                return True
            if within is not None and on_the_way is None and self._joins(site, spawn):
                return True
        inside = [x for b in spawn.bodies for x in _with_lambdas(b)]
        received = {dotted(n.value) for b in inside for n in nodes(b) if isinstance(n, f.Recv)} - {""}
        sent = {dotted(n.channel) for b in inside for n in nodes(b) if isinstance(n, f.Send)} - {""}
        for node in walk_all(within, fn):
            if (
                isinstance(node, f.Send)
                and node.at < here
                and (dotted(node.channel) in received or self.is_permits(node.channel, fn))
            ):
                return True
            if isinstance(node, f.Recv) and dotted(node.value) in sent and not leaves_by(node.value):
                return True
            if isinstance(node, f.Recv) and node.at < here and self.is_permits(node.value, fn):
                return True
            if (
                isinstance(node, f.Loop)
                and node.form == "while"
                and node.test is not None
                and node.at < here
                and self._counts(node.test, fn)
            ):
                return True
            if isinstance(node, f.If) and self._counts(node.test, fn):
                if node.then and node.then[0].at <= here < node.then[-1].end:
                    return True
                if (leaves(node.then) and node.at < here) or self._waits_in(node.then, fn):
                    return True
                if node.orelse and node.orelse[0].at <= here < node.orelse[-1].end:
                    return True
        return False

    def _counts(self, test: f.Expr, fn: Fun) -> bool:
        """A test of how many run: `len(tasks) >= limit`, `active < MAX`."""
        for node in walk(test):
            if isinstance(node, f.Bin) and node.op in ("<", "<=", ">", ">="):
                for side, other in ((node.left, node.right), (node.right, node.left)):
                    if isinstance(other, f.Lit) and isinstance(other.value, int | float) and other.value <= 1:
                        continue
                    if isinstance(side, f.Call) and (
                        dotted(side.fn) == "len"
                        or ((row := self.sizes.streams.row(side, fn)) is not None and row.counts and fn.module.language == "java")
                    ):
                        return True
                    name = dotted(side).rpartition(".")[2]
                    if (
                        name
                        and re.search(r"max|limit|capacity|concurren|size|workers|cap$", name, re.IGNORECASE)
                        and not re.search(r"time|retry|retries|attempt", name, re.IGNORECASE)
                    ):
                        return True
            if isinstance(node, f.Bin) and node.op == "%":
                return True
            if isinstance(node, f.Call) and dotted(node.fn).rpartition(".")[2].lower() in (
                "full",
                "locked",
                "try_acquire",
                "tryacquire",
                "allow",
                "is_full",
            ):
                return True
        return False

    def _waits_in(self, block: f.Block, fn: Fun) -> bool:
        if not block:
            return False
        low, high = block[0].at, block[-1].end
        return any(low <= s.call.at < high and (s.awaited or self.joins(s)) for s in fn.body.calls) or any(
            isinstance(n, f.Recv) for stmt in block for n in walk(stmt)
        )

    def joins(self, site: CallSite) -> bool:
        """Whether a call waits for work that was started."""
        if site.last in ("Wait", "join", "result", "join_all", "wait_all", "joinall"):
            return True
        return site.last in self._waiting_names[site.fn.module.language] and any(
            entry.does == "wait" or (entry.spawn is not None and entry.spawn.joins) for _, entry in self.program.described(site)
        )

    def _joins(self, site: CallSite, spawn: Spawn) -> bool:
        """Whether a call in the same round waits for what was started."""
        if site.how or not (self.joins(site) or site.awaited):
            return False
        if site.call.at < spawn.site.call.at and not site.awaited:
            return site.last in ("Wait", "join", "result", "wait")
        names = names_given(spawn.site)
        if site.call.at <= spawn.site.call.at < site.call.end:
            return site.awaited or self.joins(site)
        used = {dotted(n) for n in walk(site.call) if isinstance(n, f.Ref)}
        heads = used | {u.rpartition(".")[0] for u in used}
        if names & heads:
            return True
        base = dotted(spawn.site.call.fn).rpartition(".")[0]
        if base and dotted(site.call.fn).rpartition(".")[0] == base:
            return True
        return spawn.unit == "goroutine" and site.last == "Wait"

    @cached_property
    def _waiting_names(self) -> dict[str, frozenset[str]]:
        """Last segments of calls that wait for work."""
        return self._lasts(lambda call, _: call.does == "wait" or (call.spawn is not None and call.spawn.joins))

    @cached_property
    def _permit_names(self) -> dict[str, frozenset[str]]:
        """Last segments of calls that take a permit."""
        return self._lasts(lambda call, role: call.takes is not None or (call.does == "wait" and role == "gate"))

    def _lasts(self, wanted: Callable[[CallEntry, str], bool]) -> dict[str, frozenset[str]]:
        out: dict[str, frozenset[str]] = {}
        for language in ("python", "go", "java"):
            table = self.program.knowledge.of(language)
            names = ((name, call) for library in table.libraries for call in library.calls for name in call.names)
            owners = ((name, call, table.type(name.rpartition(".")[0])) for name, call in names)
            out[language] = frozenset(
                name.rpartition(".")[2] for name, call, kind in owners if wanted(call, kind.role if kind is not None else "")
            )
        return out

    def acquires(self, site: CallSite) -> bool:
        """Whether a call takes a permit."""
        if site.last.lower() in _ACQUIRES:
            return True
        described = self.program.described(site) if site.last in self._permit_names[site.fn.module.language] else ()
        for target, entry in described:
            gate = target.holder is not None and self._role(target.holder, site.fn) == "gate"
            if entry.takes is not None or (gate and entry.does == "wait"):
                return True
        base = dotted(site.call.fn).rpartition(".")[0].rpartition(".")[2]
        return site.last in ("Wait", "wait", "enter", "get", "Get", "Take", "Lock") and bool(_GATES.search(base))

    def _role(self, obj: Obj, fn: Fun) -> str:
        kind = self.resolver.table(fn.module).type(self.resolver.external_type(obj))
        return kind.role if kind is not None else ""

    def is_gate(self, expr: f.Expr, fn: Fun) -> bool:
        """Whether a `with` over this holds a permit or lock."""
        for flow in self.resolver.ask(expr, self.resolver.frame(fn)):
            if isinstance(flow.thing, Obj):
                role = self._role(flow.thing, fn)
                if role in ("gate", "lock"):
                    return True
                if role:
                    return False
        name = dotted(expr.fn if isinstance(expr, f.Call) else expr)
        return bool(_GATES.search(name))

    def is_permits(self, channel: f.Expr, fn: Fun) -> bool:
        """A channel of empty values, or one made with a capacity under a name of that kind."""
        name = dotted(channel)
        if not name or leaves_by(channel):
            return False
        if _GATES.search(name.rpartition(".")[2]):
            return True
        kind = self.resolver.static_type(channel, fn)
        if kind is not None and kind.shape == "chan" and kind.args and kind.args[0].name.startswith("struct"):
            return True
        for flow in self.resolver.ask(channel, self.resolver.frame(fn)):
            node = flow.thing.node if isinstance(flow.thing, Obj) else None
            if isinstance(node, f.Call) and len(node.args) > 1 and isinstance(node.args[0].value, f.New):
                element = node.args[0].value.type.args
                if element and (element[0].name.startswith("struct") or element[0].name == "bool"):
                    return True
        return False

    def _permit_inside(self, fn: Fun, depth: int) -> bool:
        """Whether work takes a permit itself, or in what it calls at once."""
        key = fn
        if key in self._gated:
            return self._gated[key]
        self._gated[key] = False
        result = self._takes_permit(fn) or (
            depth < 2 and any(self._permit_inside(callee, depth + 1) for _, callee in self.callees(fn)[:24])
        )
        self._gated[key] = result
        return result

    @staticmethod
    def is_limiter(decorator: f.Expr) -> bool:
        """Whether a decorator, by its name, limits how many run what it stands on."""
        return bool(_GATES.search(dotted(decorator.fn if isinstance(decorator, f.Call) else decorator)))

    def _takes_permit(self, fn: Fun) -> bool:
        if any(self.is_limiter(decorator) for decorator in fn.head.decorators):
            return True
        received: set[str] = set()
        sent: set[str] = set()
        for inner in _with_lambdas(fn):
            for node in nodes(inner):
                if isinstance(node, f.Send):
                    sent.add(dotted(node.channel))
                elif isinstance(node, f.Recv) and not leaves_by(node.value):
                    received.add(dotted(node.value))
                elif isinstance(node, f.With) and any(self._gate_item(i.value, inner, fn) for i in node.items):
                    return True
        if (sent & received) - {""}:
            return True
        return any(self.acquires(site) for site in fn.body.calls)

    def _gate_item(self, expr: f.Expr, fn: Fun, work: Fun) -> bool:
        for flow in self.resolver.ask(expr, self.resolver.frame(fn)):
            if isinstance(flow.thing, Obj) and self._role(flow.thing, fn):
                if self._role(flow.thing, fn) != "gate":
                    return False
                made = flow.thing.frame.fn if flow.thing.frame is not None else None
                # A gate that each run of the work makes for itself holds up nobody else.
                return made is None or all(made is not inner for inner in _with_lambdas(work))
        return bool(_GATES.search(dotted(expr.fn if isinstance(expr, f.Call) else expr).rpartition(".")[2]))

    # ------------------------------------------------------------ joins and kinds of bodies

    def joined(self, spawn: Spawn) -> bool:
        """Whether the function that starts the work waits for it, hands it on to its caller, or runs it in a block that does."""
        fn, here = spawn.fn, spawn.site.call.at
        if spawn.row.joins or spawn.site.awaited:
            return True
        if isinstance(spawn.site.stmt, f.Return):
            return True
        table = self.resolver.table(fn.module)
        for arm in spawn.site.arm.chain():
            if isinstance(arm.node, f.With):
                for item in arm.node.items:
                    for flow in self.resolver.ask(item.value, self.resolver.frame(fn)):
                        if isinstance(flow.thing, Obj):
                            kind = table.type(self.resolver.external_type(flow.thing))
                            if kind is not None and any(level.exits == "joins" for level in table.mro(kind.name)):
                                return True
        names = names_given(spawn.site)
        for owner in (fn, fn.parent):
            if owner is None:
                continue
            for site in owner.body.calls:
                if site.how == "go" or (owner is fn and site.call.at < here):
                    continue
                if self.joins(site) and (site.last != "wait" or spawn.unit != "thread"):
                    return True
                if names and site.last in ("gather", "wait", "as_completed"):
                    return True
            if spawn.unit == "goroutine" and any(
                isinstance(n, f.Recv) and not leaves_by(n.value) and (owner is not fn or n.at > here) for n in nodes(owner)
            ):
                return True
        if names and any(
            isinstance(n, f.Await) and n.at > here and ({dotted(x) for x in walk(n.value) if isinstance(x, f.Ref)} & names)
            for n in nodes(fn)
        ):
            return True
        returned = {
            dotted(x) for stmt, _ in fn.body.returns if stmt.value is not None for x in walk(stmt.value) if isinstance(x, f.Ref)
        }
        return bool(names & returned)

    def serves(self, fn: Fun, depth: int = 0) -> bool:
        """Whether a function is a worker that goes round for ever: one stands for what it looks after, not for a piece of work."""
        for stmt, arm in fn.body.stmts:
            if isinstance(stmt, f.Loop) and not any(a.kind == "loop" and a.node is not stmt for a in arm.chain()):
                if stmt.form == "ever" and not _returns_soon(stmt):
                    return True
                endless = (
                    stmt.form == "each" and stmt.iter is not None and fn.module.language != "java"
                )  # Nothing there has no end.
                if endless and self.sizes.loop(stmt, self.resolver.frame(fn)).kind == "event":
                    return True
                if (
                    stmt.form == "while"
                    and stmt.test is not None
                    and re.search(
                        r"running|stop|closed|alive|shutdown|done|is_set|exit|quit",
                        self.program.text_of(fn, stmt.test),
                        re.IGNORECASE,
                    )
                ):
                    return True
        for node in nodes(fn):
            if isinstance(node, f.Recv) and leaves_by(node.value) and not _in_select(node, fn):
                return True
        for site in fn.body.calls:
            if any(entry.does == "serve" for _, entry in self.program.described(site, doing("serve"))):
                return True
        if depth < 2 and len(fn.block) <= 6:
            return any(self.serves(callee, depth + 1) for site, callee in self.callees(fn) if site is None or site.loop is None)
        return False

    # ------------------------------------------------------------ judging

    def fanouts(self) -> Iterator[Fanout]:
        """Spawns without a limit whose number grows with input, data or events, and whose work waits for something outside."""
        for spawn in self.program.start_spawns:
            if self.program.is_test(spawn.fn) or spawn.limit.known == "unknown":
                continue
            found = self._judge(spawn)
            reach = self.reach_of(spawn) if found else None
            for fanout in found if reach is not None else ():
                assert reach is not None
                if not reach.sure:
                    fanout.confidence = Confidence.LOW
                fanout.steps = (*fanout.steps, *reach.steps)
                fanout.siblings = [] if fanout.event else self.siblings(spawn)
                if fanout.siblings and reach.sure and not fanout.event:
                    fanout.confidence = Confidence.HIGH
                yield fanout

    def reach_of(self, spawn: Spawn) -> Reach | None:
        """How the work of a spawn reaches something outside."""
        if spawn.direct:
            return Reach(
                (self.program.step(spawn.fn, spawn.site.call, f"{short(spawn.direct[0])} waits for a peer"),), True, spawn.direct[0]
            )
        return self.reach(spawn.bodies)

    def _judge(self, spawn: Spawn) -> list[Fanout]:
        if spawn.started_before or spawn.row.in_turn or (spawn.limit.known == "finite" and spawn.row.backlog == "none"):
            return []
        found = self._per_element(spawn)
        if found or spawn.unit == "request":
            return found
        event = self._per_event(spawn)
        return [event] if event is not None else []

    def _per_element(self, spawn: Spawn) -> list[Fanout]:
        pooled = spawn.row.backlog != "none" and spawn.limit.known != "none"
        if spawn.elements and not pooled:
            size = worst(self.sizes.of(expr, at) for expr, at in spawn.elements)
            if not size.grows or self.gated(spawn, None if spawn.row.target is None else spawn.site.loop):
                return []
            grown = self._grown(spawn, size, _over(spawn.elements[0][0], self.program, spawn.fn), None)
            return [grown] if grown is not None else []
        if spawn.row.joins or pooled:
            return []
        if spawn.site.awaited or self._waited_for(spawn.site):
            return []
        loops = self._loops_around(spawn.site)
        # Whether a gate stands on the way is the dearest question: it comes last.
        for depth, (loop, site) in enumerate(reversed(loops), 1):
            size = self.sizes.loop(loop, self.resolver.frame(site.fn))
            if size.grows:
                if any(self._gated_by(spawn, around, on_the_way) for around, on_the_way in loops[-depth:]):
                    return []
                grown = self._grown(spawn, size, over_loop(loop, self.program, site.fn), loop)
                return [grown] if grown is not None else []
        if not loops and (spawn.unit == "request" or not self.joined(spawn)):
            return self._called_for_each(spawn)
        return []

    def _called_for_each(self, spawn: Spawn) -> list[Fanout]:
        """Calls of the function that starts one, for each element of something: all of them where that function gives a future to
        its callers, for then it is they who start too many."""
        found = self._called_in_loop(spawn, spawn.fn, 0, ())
        if spawn.unit != "request":
            first = next(found, None)
            return [first] if first is not None and not self.gated(spawn, None) else []
        each = {fanout.span: fanout for fanout in found}
        return list(each.values()) if each and not self.gated(spawn, None) else []

    def _gated_by(self, spawn: Spawn, loop: f.Node, site: CallSite) -> bool:
        """Whether a gate stands in a loop around a spawn, or around a call on the way to it."""
        if site is spawn.site:
            return self.gated(spawn, loop)
        return self.gated(spawn, None) or self._gate_around(spawn, loop, site)

    def _loops_around(self, site: CallSite) -> list[tuple[f.Node, CallSite]]:
        """Loops around a call, outermost first, each with the call in its function; a literal that runs for each element of
        something stands in a loop too."""
        inner = [(arm.node, site) for arm in site.arm.chain() if arm.kind in ("loop", "comp")]
        round_ = self.sizes.streams.round_of(site.fn)
        if round_ is None:
            return inner
        return [*self._loops_around(round_.site), (round_.site.call, round_.site), *inner]

    def _waited_for(self, site: CallSite) -> bool:
        """Whether a future is waited for where it is made, before the next one is: `send(x).join()`, `f = send(x); f.get()`."""
        if site.fn.module.language != "java":
            return False
        stmt = site.stmt
        names = {dotted(t) for t in stmt.targets} - {""} if isinstance(stmt, f.Assign) else set()
        low, high = (site.loop.at, site.loop.end) if site.loop is not None else (site.fn.head.at, site.fn.head.end)
        for other in site.fn.body.calls:
            if other.last not in self._waiting_names["java"] or not (low <= other.call.at < high):
                continue
            receiver = receiver_of(other.call)
            if receiver is None:
                continue
            if receiver.at <= site.call.at and site.call.end <= receiver.end:
                return True
            if names and other.call.at > site.call.at and names & {dotted(x) for x in walk(receiver) if isinstance(x, f.Ref)}:
                return True
        return False

    def _called_in_loop(self, spawn: Spawn, fn: Fun, depth: int, steps: tuple[Step, ...]) -> Iterator[Fanout]:
        """Loops in which a function that starts one is called for each element."""
        if depth > 1 or fn in self.program.entries:
            return
        ways = [(caller, site, self._loops_around(site)) for caller, site, _, _ in self.resolver.callers(fn)[0]]
        ways += [
            (self.resolver.frame(r.site.fn), r.site, [*self._loops_around(r.site), (r.site.call, r.site)])
            for r in self.sizes.streams.handed_to(fn)
        ]
        for caller, site, loops in ways:
            if site.how == "go" or self._waited_for(site):
                continue
            step = self.program.step(caller.fn, called_part(site.call), f"{caller.fn.head.qual} calls {fn.head.qual}")
            if not loops:
                yield from self._called_in_loop(spawn, caller.fn, depth + 1, (step, *steps))
                continue
            found = self._in_one_of(loops, spawn, caller)
            if found is not None:
                found.steps = (step, *steps, *found.steps)
                yield self._at_call(found, site)

    def _in_one_of(self, loops: list[tuple[f.Node, CallSite]], spawn: Spawn, caller: Frame) -> Fanout | None:
        """The innermost of the loops around a call that grows, unless something in it holds it up."""
        for loop, way in reversed(loops):
            size = self.sizes.loop(loop, caller if way.fn is caller.fn else self.resolver.frame(way.fn))
            if size.kind in ("data", "input") or (size.kind == "parameter" and spawn.unit == "request"):
                if any(self._stops(s) for s in way.fn.body.calls if loop.at <= s.call.at < loop.end and s.call is not loop):
                    return None
                return self._grown(spawn, size, over_loop(loop, self.program, way.fn), loop)
        return None

    def _stops(self, site: CallSite) -> bool:
        """Whether a call in a loop takes a permit, or waits for what was started."""
        return self.acquires(site) or (self.joins(site) and not site.awaited)

    def _at_call(self, found: Fanout, site: CallSite) -> Fanout:
        """A call that gives the future on is where many are started: the one that sends may be used alone elsewhere."""
        if found.spawn.unit == "request":
            node = called_part(site.call)
            found.steps = (*found.steps, self.program.step(found.spawn.fn, called_part(found.spawn.site.call), "it is sent here"))
            found.span = self.program.span_of(site.fn, node)
        return found

    def _grown(self, spawn: Spawn, size: Size, over: str, loop: f.Node | None) -> Fanout | None:
        if size.kind != "input":
            if any(self.serves(body) for body in spawn.bodies):
                return None
            if size.kind != "data" and _START_UP.search(family(spawn.fn).name):
                return None
        sure = {"input": Confidence.HIGH, "data": Confidence.MEDIUM, "parameter": Confidence.MEDIUM}.get(size.kind, Confidence.LOW)
        return Fanout(
            spawn,
            size,
            self.program.span_of(spawn.fn, spawn.site.call),
            steps=self.program.trace(size.hops),
            confidence=sure,
            over=over,
            loop=loop,
        )

    # ------------------------------------------------------------ per event

    def _per_event(self, spawn: Spawn) -> Fanout | None:
        if spawn.unit == "request" or spawn.row.joins or spawn.elements or self.joined(spawn) or self._alone(spawn):
            return None
        frame = self.resolver.frame(spawn.fn)
        for loop in reversed([arm.node for arm in spawn.site.arm.chain() if arm.kind == "loop"]):
            event = self._event_of(loop, spawn, frame)
            if event and not self.gated(spawn, loop):
                return self._of_event(
                    spawn,
                    event,
                    (self.program.step(spawn.fn, head_of(loop), f"this loop goes round once for every {event}"),),
                    loop,
                )
        if any(arm.kind in ("loop", "comp") for arm in spawn.site.arm.chain()):
            return None
        above = self.entry_of(spawn.fn, 0, ())
        if above is None:
            return None
        kind, steps = above
        found = self._of_event(spawn, kind, steps, None)
        return found if found is not None and not self.gated(spawn, None) else None

    def _of_event(self, spawn: Spawn, event: str, steps: tuple[Step, ...], loop: f.Node | None) -> Fanout | None:
        heavy = spawn.unit in ("thread", "process")
        if event == "connection" and not heavy:
            return None
        if event == "request" and not heavy and not (spawn.unit == "job" and spawn.dropped):
            return None
        if spawn.unit == "job" and not spawn.dropped:
            return None
        if any(self.serves(body) for body in spawn.bodies):
            return None
        sure = Confidence.MEDIUM
        if (event == "request" and spawn.unit == "job") or (spawn.unit == "task" and loop is None) or _kept(spawn.site):
            sure = Confidence.LOW
        return Fanout(
            spawn, NONE, self.program.span_of(spawn.fn, spawn.site.call), event=event, steps=steps, confidence=sure, loop=loop
        )

    def _event_of(self, loop: f.Node, spawn: Spawn, frame: Frame) -> str:
        """Whether a loop goes round once for what comes in, and the spawn works on it."""
        if not isinstance(loop, f.Loop) or loop.form == "count":
            return ""
        size = self.sizes.loop(loop, frame)
        if loop.form == "each" and size.kind != "event":
            return ""
        used = _used(spawn)
        body = spawn.fn.body
        sources: list[str] = []
        for name, defs in body.definitions.items():
            if name.partition(".")[0] not in used:
                continue
            for d in defs:
                if not (loop.at <= d.at < loop.end) or d.at > spawn.site.call.end:
                    continue
                if d.kind == "each" and d.node is loop:
                    sources.append("message" if not self._ticks(loop, frame) else "")
                elif d.expr is not None:
                    sources.append(self._source(d.expr, frame))
        return next((s for s in sources if s), "")

    def _ticks(self, loop: f.Loop, frame: Frame) -> bool:
        return loop.iter is not None and dotted(loop.iter).endswith(".C")

    def _source(self, expr: f.Expr, frame: Frame) -> str:
        inner = expr
        while isinstance(inner, f.Await | f.Let | f.Cast):
            inner = inner.value
        if isinstance(inner, f.Recv):
            return "" if leaves_by(inner.value) else "message"
        if not isinstance(inner, f.Call):
            return ""
        last = inner.fn.name if isinstance(inner.fn, f.Field) else dotted(inner.fn).rpartition(".")[2]
        if _ACCEPTS.search(last):
            return "connection"
        if not _RECEIVES.search(last):
            return ""
        for thing, _ in self.resolver.targets(inner, frame):
            name = self.resolver.canonical(thing) if isinstance(thing, Ext | Bound) else ""
            row = self.resolver.table(frame.fn.module).call(name) if name else None
            if row is not None and row.does in ("network", "wait", "query"):
                return "message"
        return ""

    def entry_of(self, fn: Fun, depth: int = 0, steps: tuple[Step, ...] = ()) -> tuple[str, tuple[Step, ...]] | None:
        """The entry point, a call or two above, that runs a function once for each message or request."""
        entry = self.program.entries.get(fn)
        if entry is not None:
            if entry.kind not in ("event", "request") or (
                entry.kind == "event" and _NOT_MESSAGES.search(f"{entry.because.rpartition('.')[2]} {fn.name}")
            ):
                return None
            at = f.Ref(fn.head.name_at, fn.head.name_at + len(fn.name.encode()), fn.name)
            word = "request" if entry.kind == "request" else "message"
            return word, (self.program.step(fn, at, f"{fn.head.qual} runs once for every {word}: {entry.because}"), *steps)
        if depth > 1:
            return None
        for caller, site, _, _ in self.resolver.callers(fn)[0]:
            if site.loop is not None or site.how == "go":
                continue
            step = self.program.step(caller.fn, site.call, f"{caller.fn.head.qual} calls {fn.head.qual}")
            found = self.entry_of(caller.fn, depth + 1, (step, *steps))
            if found is not None:
                return found
        return None

    def _alone(self, spawn: Spawn) -> bool:
        """Whether a test around makes sure that only one runs."""
        for arm in spawn.site.arm.chain():
            if isinstance(arm.node, f.If) and _ALONE.search(self.program.text_of(spawn.fn, arm.node.test, 200)):
                return True
        return any(
            isinstance(stmt, f.If)
            and stmt.end <= spawn.site.call.at
            and leaves(stmt.then)
            and _ALONE.search(self.program.text_of(spawn.fn, stmt.test, 200))
            for stmt, _ in spawn.fn.body.stmts
        )

    # ------------------------------------------------------------ siblings

    def siblings(self, spawn: Spawn) -> list[Spawn]:
        """Spawns of the same package that do set a limit, or take a permit, one for each function."""
        out: dict[Fun, Spawn] = {}
        folder = spawn.fn.module.folder if spawn.fn.module.language == "go" else spawn.fn.module.path
        for other in self._by_folder.get(folder, ()):
            if other is spawn or family(other.fn) is family(spawn.fn) or self.program.is_test(other.fn) or other.unit != spawn.unit:
                continue
            if other.limit.known == "finite" and other.row.backlog == "none":
                out.setdefault(family(other.fn), other)
        return list(out.values())

    @cached_property
    def _by_folder(self) -> dict[str, list[Spawn]]:
        found: dict[str, list[Spawn]] = {}
        for spawn in self.program.spawns:
            key = spawn.fn.module.folder if spawn.fn.module.language == "go" else spawn.fn.module.path
            found.setdefault(key, []).append(spawn)
        return found


def _line_of(holder: Obj) -> Iterator[Obj]:
    """An object, and those that its builder's methods were called on before it: `pool.New().WithErrors()` is one group."""
    obj: Obj | None = holder
    while obj is not None:
        yield obj
        obj = obj.parent


def short(name: str) -> str:
    """A canonical name without the path of its package: `net/http.Client.Do` is `http.Client.Do`."""
    return name.rpartition("/")[2]


def family(fn: Fun) -> Fun:
    """The declared function around a literal."""
    while fn.parent is not None:
        fn = fn.parent
    return fn


def _pick(binds: tuple[Any, ...], row: SpawnRow) -> Any:
    for bind in binds:
        if row.target_arg is not None and bind.name == row.target_arg:
            return bind
    plain = [b for b in binds if b.name is None]
    if row.target is not None and row.target < len(plain) and not plain[row.target].spread:
        return plain[row.target]
    return None


def _pick_any(site: CallSite, program: Program) -> bool:
    return any(entry.spawn is not None for _, entry in program.described(site, spawning))


def _with_lambdas(fn: Fun) -> Iterator[Fun]:
    yield fn
    for other in fn.module.functions:
        if other.head.parent == fn.index and fn.index and other.head.kind == "lambda":
            yield other


def nodes(fn: Fun) -> Iterator[Any]:
    """Everything in a function's body, without what stands in literals."""
    for stmt in fn.block:
        yield from walk(stmt)


def walk_all(within: f.Node | None, fn: Fun) -> Iterator[Any]:
    """Everything inside a loop, or inside a function."""
    if within is None:
        yield from nodes(fn)
    else:
        for child in children(within):
            yield from walk(child)


def leaves_by(channel: f.Expr) -> bool:
    """A channel that only says that time is over or that somebody left."""
    if isinstance(channel, f.Call):
        return dotted(channel.fn).rpartition(".")[2] in ("Done", "After", "Tick", "Chan")
    name = dotted(channel).rpartition(".")[2]
    return bool(_SIGNS_OFF.search(name))


def _in_select(node: f.Recv, fn: Fun) -> bool:
    return any(isinstance(stmt, f.Select) and stmt.at <= node.at < stmt.end for stmt, _ in fn.body.stmts)


def _returns_soon(loop: f.Loop) -> bool:
    """An endless loop in form that tries until it succeeds: it has a return or break of its own."""
    return any(isinstance(n, f.Return) or (isinstance(n, f.Jump) and n.kind == "break") for stmt in loop.body for n in walk(stmt))


def names_given(site: CallSite) -> set[str]:
    """Names that hold what a spawn gives: assigned, or the collection it is added to."""
    stmt = site.stmt
    if isinstance(stmt, f.Assign):
        names = {dotted(t) for t in stmt.targets} | {dotted(t.base) for t in stmt.targets if isinstance(t, f.Index)}
        return names - {""}
    if isinstance(stmt, f.Do) and isinstance(stmt.value, f.Call) and stmt.value is not site.call:
        base, _, verb = dotted(stmt.value.fn).rpartition(".")
        if verb in ("append", "add", "insert", "put", "appendleft", "push"):
            return {base}
    if isinstance(stmt, f.Do) and isinstance(stmt.value, f.Call):
        base = dotted(stmt.value.fn).rpartition(".")[0]
        return {base} if base else set()
    return set()


def _kept(site: CallSite) -> bool:
    """Whether what was started lies in one field, so that the next start at least forgets it knowingly."""
    return (isinstance(site.stmt, f.Assign) and any("." in dotted(t) for t in site.stmt.targets)) or any(
        "." in name and isinstance(site.stmt, f.Do) for name in names_given(site)
    )


def _used(spawn: Spawn) -> set[str]:
    """Heads of the names that a spawn works on: its arguments, and what a literal closes over."""
    out: set[str] = set()
    exprs = list(spawn.args)
    for expr in exprs:
        for node in walk(expr):
            if isinstance(node, f.Ref):
                out.add(node.name.partition(".")[0])
            elif isinstance(node, f.Fn):
                for inner in nodes(spawn.fn.module.functions[node.index]):
                    if isinstance(inner, f.Ref):
                        out.add(inner.name.partition(".")[0])
    return out


def head_of(loop: f.Node) -> f.Node:
    """The part of a loop that says what it goes over."""
    if isinstance(loop, f.Loop):
        last = loop.iter or loop.test
        return f.Ref(loop.at, last.end if last is not None else loop.at + 3, "")
    return loop


def _over(expr: f.Expr, program: Program, fn: Fun) -> str:
    if isinstance(expr, f.Comp):
        return program.text_of(fn, expr.gens[0].iter, 40)
    return program.text_of(fn, expr, 40)


def _may_be_of(site: CallSite, names: frozenset[str]) -> bool:
    """Whether a call may be of a function with one of these names: it says one, or calls what a variable holds."""
    last = site.last
    return last in names or last in ("super", "cls") or last in site.fn.params or last in site.fn.body.definitions


def over_loop(loop: f.Node, program: Program, fn: Fun) -> str:
    """What a loop goes over, as written."""
    if isinstance(loop, f.Comp):
        return program.text_of(fn, loop.gens[0].iter, 40)
    if isinstance(loop, f.Call):
        return program.text_of(fn, program.sizes.streams.origin(loop, fn), 40)
    if isinstance(loop, f.Loop) and loop.iter is not None:
        return program.text_of(fn, loop.iter, 40)
    if isinstance(loop, f.Loop) and isinstance(loop.test, f.Bin):
        side = loop.test.right
        if isinstance(side, f.Call) and side.args:
            side = side.args[0].value
        elif isinstance(side, f.Call):
            side = program.sizes.streams.origin(side, fn)
        return program.text_of(fn, side, 40)
    return ""


def holds_call(expr: f.Expr, call: f.Call) -> bool:
    """Whether a call stands in an expression."""
    return any(node is call for node in walk(expr))
