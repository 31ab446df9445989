"""Queues inside a process: how long each can get, who serves it and how fast, and how long those who wait for an answer wait."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, inf
from typing import TYPE_CHECKING, Any, NamedTuple

from resilint import facts as f
from resilint.flow.effects import Term, Worst, reaches, shown
from resilint.flow.pools import Pool
from resilint.flow.resolve import unit_of_name
from resilint.flow.slots import decide, say_seconds
from resilint.flow.spawns import Spawn, short
from resilint.flow.values import Bind, FnVal, Frame, Num, Obj, counted
from resilint.flow.worst import received
from resilint.knowledge.index import doing, scoping, spawning
from resilint.knowledge.schema import CallEntry
from resilint.link.code import Arm, CallSite, Fun, Klass, Module, dotted, last_name, leaves, walk, walk_block
from resilint.link.looks import matching
from resilint.model import Confidence, Fix, Span, Step

if TYPE_CHECKING:
    from resilint.program import Program, Target

    # Sections of the settings, as the program holds them: flow imports no settings.
    Service = Any
    Declared = Any

_ROUNDS = 4
_MOST_NAMES = 16
_MOST_FUNCTIONS = 400
_MOST_FILES = 40
_CHANNEL = matching(rb"\bmake\(\s*chan\b")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "dur": 1.0}
_COUNTS = frozenset({"len", "size", "length", "qsize"})
_SIGNALS = frozenset({"struct", "error", "bool", "int", "string", "os.Signal"})
"""Element types of channels that hold nothing their sender could wait for."""
_GROWS = frozenset({"append", "add", "push", "extend", "addLast"})


class Figure(NamedTuple):
    """A number that a finding computes with: where it is known from, and how it is named."""

    number: float
    text: str = ""
    confidence: Confidence = Confidence.HIGH
    steps: tuple[Step, ...] = ()
    declared: bool = False


class Take(NamedTuple):
    """A place that takes from a queue: a call, a receive, or a loop over it."""

    fn: Fun
    node: f.Node
    site: CallSite | None = None
    target: Target | None = None
    gathered: Consumer | None = None
    """What is called here to take: how much it brings, and how long it waits for it."""


class Put(NamedTuple):
    """A place that puts something into a queue; `item` is what."""

    fn: Fun
    node: f.Node
    item: f.Expr
    site: CallSite | None = None


@dataclass(eq=False)
class Queue:
    """One queue, by the place that makes it."""

    fn: Fun
    node: f.Node
    name: str
    """The variable or field that holds it."""
    pool: Pool | None = None
    """`None`: a channel."""
    takes: list[Take] = field(default_factory=list)
    puts: list[Put] = field(default_factory=list)

    @property
    def module(self) -> Module:
        """The file that makes it."""
        return self.fn.module


@dataclass(eq=False)
class Consumer:
    """A loop that serves a queue: how many items it takes for one unit of work, how long it collects them, how long it works."""

    fn: Fun
    loop: f.Loop
    takes: list[Take]
    batch: int | None = 1
    """`None`: it collects, but not known how many."""
    linger: Figure | None = None
    window: tuple[Fun, f.Node] | None = None
    """Where the linger stands."""
    work: Worst = field(default_factory=Worst)


@dataclass(eq=False)
class Fault:
    """A queue that cannot hold what it promises: where, in which words."""

    span: Span
    text: str
    confidence: Confidence
    steps: tuple[Step, ...]
    fix: Fix | None = None


class Queues:
    """All queues of a program that somebody serves and somebody waits for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.worsts = program.worsts
        self.safety = program.settings.safety_factor

    # ------------------------------------------------------------ the two rules

    def too_long(self) -> Iterator[Fault]:
        """Queues that hold more than can be served before their callers leave (RS402)."""
        for queue in self.starting:
            capacity = self._capacity(queue)
            if capacity is None:
                continue
            case = self._case(queue)
            if case is None or case.workers is None or case.batch is None:
                continue
            if not all(1 <= figure.number < inf for figure in (capacity, case.workers, case.batch)):
                continue
            fault = self._judge_length(queue, capacity, case)
            if fault is not None:
                yield fault

    def lingering(self) -> Iterator[Fault]:
        """Batches that wait for company so long that the answer comes too late (RS403)."""
        for queue in self.starting:
            case = self._case(queue)
            if case is None or case.linger is None:
                continue
            total = case.linger.number + case.work.number
            if total < case.patience.number:
                continue
            fn, node = case.window or (queue.fn, queue.node)
            text = (
                f"linger {_shown(case.linger)} + {_shown(case.work)} for one batch = {say(total)} ≥ {_shown(case.patience)}:"
                " the first of a batch is answered after its caller has left"
            )
            figures = (case.linger, case.work, case.patience)
            yield Fault(self.program.span_of(fn, node), text, *self._because(figures))

    def _judge_length(self, queue: Queue, capacity: Figure, case: Case) -> Fault | None:
        assert case.workers is not None and case.batch is not None
        load = Load(
            int(capacity.number),
            int(case.batch.number),
            int(case.workers.number),
            case.work.number,
            case.patience.number,
            self.safety,
        )
        if not load.too_long:
            return None
        said = f"queue of {load.size}"
        if load.batch != 1:
            said += f" = {load.units} batch{'es' if load.units != 1 else ''} of {load.batch}"
        crew = f"{load.workers} worker{'s' if load.workers != 1 else ''}{_named(case.workers.text)}"
        if load.queue_is_late:
            said += f" × {_shown(case.work)} ÷ {crew} = {say(load.waiting)} ≥ {self.safety:g} × {_shown(case.patience)}"
        else:
            said += f": (⌈{load.units} ÷ {crew}⌉ + 1) × {_shown(case.work)} = {say(load.last)} ≥ {_shown(case.patience)}"
        if case.linger is not None:
            said += f", linger {_shown(case.linger)}"
        if load.served < load.size:
            late = f"what stands behind place {load.served} is" if load.served else "whatever comes while all workers are busy is"
            said += f": {late} served after its caller has left"
        near = f"no length is safe while {say(load.work)} is so near to {say(load.patience)}"
        said += f", at most {load.safe} are safe" if load.safe else f", {near}"
        figures = (capacity, case.work, case.workers, case.batch, case.patience)
        return Fault(self._place(queue), said, *self._because(figures), self._shortened(queue, load.safe))

    def _shortened(self, queue: Queue, safe: int) -> Fix | None:
        """The longest length that is safe, where the present one stands as a number."""
        if safe < 1:
            return None
        title = f"Set the capacity to {safe}, the longest that is safe"
        where: tuple[Fun, f.Node] | None = None
        number = safe
        if queue.pool is None:
            if isinstance(queue.node, f.Call) and len(queue.node.args) > 1:
                where = queue.fn, queue.node.args[1].value
        else:
            ceiling = self.program.pools.ceiling(queue.pool.obj, "capacity")
            if ceiling.state == "endless":
                checked = self._checked(queue)
                test = checked[2] if checked is not None else None
                if checked is not None and isinstance(test, f.Bin):
                    where, number = (checked[1], test.right), safe - (test.op == ">")
            elif ceiling.holder is not None:
                where = self.program.mending.written(ceiling.holder, "capacity")
        return self.program.mending.number(where[0].module.path, where[1], number, title) if where is not None and number else None

    def _because(self, figures: Iterable[Figure]) -> tuple[Confidence, tuple[Step, ...]]:
        known = list(figures)
        steps = tuple(dict.fromkeys(step for figure in known for step in figure.steps))
        return min(figure.confidence for figure in known), steps

    def _place(self, queue: Queue) -> Span:
        """Where the capacity stands: at the queue's own construction, else where more are turned away."""
        if queue.pool is not None:
            ceiling = self.program.pools.ceiling(queue.pool.obj, "capacity")
            holder = ceiling.holder
            checked = self._checked(queue) if ceiling.state == "endless" else None
            if checked is not None:
                return self.program.span_of(checked[1], checked[2])
            if holder is not None and isinstance(holder.node, f.Node) and holder.frame is not None and holder.frame.fn is queue.fn:
                return self.program.span_of(queue.fn, holder.node)
        return self.program.span_of(queue.fn, queue.node)

    # ------------------------------------------------------------ figures

    def service(self, queue: Queue) -> tuple[Case | None, list[Consumer]]:
        """The figures of a queue, where they are known, and who serves it."""
        case = self._case(queue)
        return case, self._consumers(queue) if case is not None else []

    def _case(self, queue: Queue) -> Case | None:
        """All figures of a queue; none where one that every rule needs is not known."""
        found = self._cases.get(queue, False)
        if found is not False:
            return found  # type: ignore[return-value]
        case = self._cases[queue] = self._find_case(queue)
        return case

    @cached_property
    def _cases(self) -> dict[Queue, Case | None]:
        return {}

    def _find_case(self, queue: Queue) -> Case | None:
        service, declared = self._declared(queue)
        patience = self._patience(queue, service, declared)
        if patience is None or not 0 < patience.number < inf:
            return None
        consumers = self._consumers(queue)
        busy = [c for c in consumers if c.work.known > 0]
        consumer = min(busy, key=lambda c: c.work.known, default=None) or next(iter(consumers), None)
        work = self._work(queue, declared, consumer)
        if work is None or work.number <= 0:
            return None
        batch: Figure | None = Figure(1)
        linger, window = None, None
        if consumer is not None:
            batch = Figure(consumer.batch) if consumer.batch is not None else None
            linger, window = consumer.linger, consumer.window
        workers = self._workers(queue, consumers)
        if declared is not None:
            where = self._declared_step(service, declared)
            if declared.batch is not None:
                batch = Figure(declared.batch, "declared", steps=where, declared=True)
            if declared.linger is not None:
                linger = Figure(declared.linger, "declared", steps=where, declared=True)
            if declared.workers is not None:
                workers = Figure(declared.workers, "declared", steps=where, declared=True)
        return Case(patience, work, workers, batch, linger, window)

    def _capacity(self, queue: Queue) -> Figure | None:
        if queue.pool is not None:
            ceiling = self.program.pools.ceiling(queue.pool.obj, "capacity")
            if ceiling.state == "endless":
                checked = self._checked(queue)
                return checked[0] if checked is not None else None
            if ceiling.state != "finite" or ceiling.number is None:
                return None
            return Figure(ceiling.number, "", ceiling.confidence, self.program.trace(ceiling.hops))
        if not isinstance(queue.node, f.Call) or len(queue.node.args) < 2:
            return None
        expr = queue.node.args[1].value
        frame = self.resolver.frame(queue.fn)
        number = self.worsts.number(expr, frame)
        hops = next((flow.hops for flow in self.resolver.ask(expr, frame) if isinstance(flow.thing, Num)), ())
        return Figure(number, steps=self.program.trace(hops)) if number is not None else None

    def _checked(self, queue: Queue) -> tuple[Figure, Fun, f.Node] | None:
        """The length past which everyone who puts something turns away first, where the queue itself has no capacity."""
        found: list[tuple[Figure, Fun, f.Node]] = []
        for put in queue.puts:
            names = {dotted(put.site.call.fn).rpartition(".")[0]} if put.site is not None else set()
            frame = self.resolver.frame(put.fn)
            limit: tuple[Figure, Fun, f.Node] | None = None
            for node in (n for stmt in put.fn.block for n in walk(stmt)):
                if not isinstance(node, f.If) or not isinstance(node.test, f.Bin) or node.at > put.node.at or not leaves(node.then):
                    continue
                if node.test.op not in (">=", ">", "==") or _counted(node.test.left) not in names:
                    continue
                number = self.worsts.number(node.test.right, frame)
                if number is not None and number >= 1:
                    step = self.program.step(put.fn, node.test, f"more than {number:g} are turned away here")
                    limit = Figure(number + (node.test.op == ">"), steps=(step,)), put.fn, node.test
            if limit is None:
                return None
            found.append(limit)
        return max(found, key=lambda x: x[0].number, default=None)

    def _declared(self, queue: Queue) -> tuple[Service | None, Declared | None]:
        """The declared service of a queue and what is declared of the queue itself."""
        settings = self.program.settings
        service = settings.service_of(queue.module.path)
        services = [service] if service is not None else [s for s in settings.services.values() if not s.paths]
        for candidate in services:
            for name, declared in candidate.queues.items():
                if queue.name and name.lstrip("_") == queue.name.lstrip("_"):
                    return candidate, declared
        return service, None

    def _declared_step(self, service: Service | None, declared: Declared) -> tuple[Step, ...]:
        span = self.program.settings.place("services", service.name, "queues", declared.name) if service is not None else None
        return (Step(span, "declared figures of the queue"),) if span is not None else ()

    def _work(self, queue: Queue, declared: Declared | None, consumer: Consumer | None) -> Figure | None:
        service, _ = self._declared(queue)
        if declared is not None:
            time = declared.worst_service_time or declared.service_time
            if time is not None:
                return Figure(time, "declared", steps=self._declared_step(service, declared), declared=True)
        if consumer is None or consumer.work.known <= 0:
            return None
        terms = consumer.work.terms
        sure = min((term.confidence for term in terms), default=Confidence.HIGH)
        text = shown(terms)
        if len(terms) == 1 and terms[0].amount == say(consumer.work.known):
            text = terms[0].name
        text = text if consumer.work.exact else f"{text}, at least"
        return Figure(consumer.work.known, text, sure, tuple(self._term_steps(terms)))

    def _term_steps(self, terms: Iterable[Term]) -> Iterator[Step]:
        for term in terms:
            if term.where is not None:
                fn, node = term.where
                yield self.program.step(fn, node, f"{term.name} can take {term.amount}")

    # ------------------------------------------------------------ finding queues and who uses them

    @cached_property
    def all(self) -> tuple[Queue, ...]:
        """Every queue that somebody fills."""
        pools, modules = self.program.pools.of_role("queue", "executor"), self.program.names.modules.values()
        return self._filled([*self._pools(pools), *self._channels(modules)])

    @cached_property
    def starting(self) -> tuple[Queue, ...]:
        """Those of them that are made in files in focus."""
        if self.program.focus is None:
            return self.all
        pools, modules = self.program.pools.start_of_role("queue", "executor"), self.program.start_modules("go")
        return self._filled([*self._pools(pools), *self._channels(modules)])

    def _filled(self, found: list[Queue]) -> tuple[Queue, ...]:
        for queue in found:
            self._find_users(queue)
        return tuple(sorted((q for q in found if q.puts), key=lambda q: (q.module.path, q.node.at)))

    def _pools(self, pools: Iterable[Pool]) -> Iterator[Queue]:
        for pool in pools:
            # Python's executors show nobody how much waits for them: without a capacity there is no length to speak of.
            hidden = pool.kind.role == "executor" and pool.fn.module.language == "python"
            if pool.name and not (hidden and self.program.pools.ceiling(pool.obj, "capacity").state != "finite"):
                yield Queue(pool.fn, pool.site.call, pool.last, pool)

    def _channels(self, modules: Iterable[Module]) -> Iterator[Queue]:
        declared = {name for service in self.program.settings.services.values() for name in service.queues}
        for module in modules:
            if module.language != "go" or module.is_test:
                continue
            if not self.program.says(module.path, _CHANNEL):
                continue
            for fn in module.functions:
                if fn.index and not self.program.marks(fn, _CHANNEL):
                    continue
                for site in fn.body.calls:
                    made = dotted(site.call.fn) == "make" and site.call.args and isinstance(site.call.args[0].value, f.New)
                    if made and site.call.args[0].value.type.shape == "chan":  # type: ignore[union-attr]
                        name = _holder_name(fn, site.call)
                        kind = site.call.args[0].value.type.args[:1]  # type: ignore[union-attr]
                        signals = bool(kind) and kind[0].shape == "plain" and kind[0].name in _SIGNALS
                        if name and not (signals and name.rpartition(".")[2] not in declared):
                            yield Queue(fn, site.call, name.rpartition(".")[2])

    def _find_users(self, queue: Queue) -> None:
        names = {queue.name}
        trusted: set[tuple[Fun, str]] = set()
        near = [fn for module in self._near(queue.module, queue.name) for fn in module.functions]
        seen: dict[Fun, frozenset[str]] = {}
        for _ in range(_ROUNDS):
            before = len(names)
            for fn in near[:_MOST_FUNCTIONS]:
                if seen.get(fn) == frozenset(names) or not self._speaks(fn, names):
                    continue
                seen[fn] = frozenset(names)
                for found in self._aliases(fn, names):
                    trusted.add(found)
                    if len(names) < _MOST_NAMES:
                        names.add(found[1])
                    if found[0] not in seen and found[0] not in near:
                        near.append(found[0])
            if len(names) == before:
                break
        for fn in near[:_MOST_FUNCTIONS]:
            if not fn.module.is_test and self._speaks(fn, names):
                if queue.module.language == "go" and queue.pool is None:
                    self._channel_users(queue, fn, names, trusted)
                else:
                    self._call_users(queue, fn, names, trusted)

    def _near(self, module: Module, name: str) -> list[Module]:
        """The files whose code may hold a queue that a file makes."""
        out = [module]
        stem = module.path.rpartition("/")[2].partition(".")[0]
        for other in self.program.names.modules.values():
            if other is module or other.language != module.language or other.is_test:
                continue
            if module.language == "python":
                if any(stem in (imp.target.rpartition(".")[2], imp.name) for imp in other.facts.imports):
                    out.append(other)
            elif other.folder == module.folder:
                out.append(other)
        far = self._holders.get((module.language, name), ())
        if len(far) <= _MOST_FILES:
            out.extend(other for other in far if other not in out)
        return out

    @cached_property
    def _holders(self) -> dict[tuple[str, str], list[Module]]:
        """The files that call something on a variable or field of a name, by language and name."""
        out: dict[tuple[str, str], dict[Module, None]] = {}
        for module in self.program.names.modules.values():
            if module.is_test:
                continue
            for fn in module.functions:
                for called in fn.head.calls:
                    name = called.rpartition(".")[0].rpartition(".")[2]
                    if name:
                        out.setdefault((module.language, name), {})[module] = None
        return {key: list(modules) for key, modules in out.items()}

    def _speaks(self, fn: Fun, names: Iterable[str]) -> bool:
        """Whether a function's text holds one of the names."""
        return self.program.marks(fn, matching(b"|".join(re.escape(name.encode()) for name in sorted(names)) or b"(?!)"))

    def _aliases(self, fn: Fun, names: set[str]) -> Iterator[tuple[Fun, str]]:
        """Further names of a queue: what it is assigned to here, and parameters it is given to."""
        for key, defs in fn.body.definitions.items():
            for d in defs:
                if d.kind == "value" and isinstance(d.expr, f.Ref) and not d.item and d.expr.name.rpartition(".")[2] in names:
                    yield fn, key.rpartition(".")[2]
        for site in fn.body.calls:
            given = [(i, a) for i, a in enumerate(site.call.args) if _holds(a.value, names)]
            if not given:
                continue
            for callee in self.program.callees(site):
                positional = callee.positional
                for i, arg in given:
                    if isinstance(arg.value, f.Ref):
                        name = arg.name or (positional[i].name if i < len(positional) else "")
                        if name in callee.params:
                            yield callee, name
            for i, arg in given:
                # `Thread(target=serve, args=(inbox,))`, `executor.submit(serve, inbox)`
                parts = [p.value for p in arg.value.items] if isinstance(arg.value, f.Coll) else [arg.value]
                for started in self._started(site, arg):
                    offset = 0 if isinstance(arg.value, f.Coll) else i - 1
                    for position, part in enumerate(parts):
                        place = position + (offset if len(parts) == 1 and not isinstance(arg.value, f.Coll) else 0)
                        if (
                            isinstance(part, f.Ref)
                            and part.name.rpartition(".")[2] in names
                            and 0 <= place < len(started.positional)
                        ):
                            yield started, started.positional[place].name

    def _started(self, site: CallSite, given: f.Arg) -> Iterator[Fun]:
        frame = self.resolver.frame(site.fn)
        for arg in site.call.args:
            if arg is given or not isinstance(arg.value, f.Ref | f.Field | f.Fn):
                continue
            if not isinstance(arg.value, f.Fn) and last_name(arg.value) not in self.program.spawning.own_names:
                continue
            for flow in self.resolver.ask(arg.value, frame):
                if isinstance(flow.thing, FnVal):
                    yield flow.thing.fn

    def _is(self, queue: Queue, expr: f.Expr, fn: Fun, trusted: set[tuple[Fun, str]]) -> bool:
        """Whether an expression stands for the queue."""
        objects = [x.thing for x in self.resolver.ask(expr, self.resolver.frame(fn)) if isinstance(x.thing, Obj)]
        made = [o for o in objects if isinstance(o.node, f.Node) and o.frame is not None and o.kind != "outside"]
        for obj in made:
            if obj.node is queue.node or (
                obj.frame is not None
                and obj.frame.fn is queue.fn
                and isinstance(obj.node, f.Node)
                and (obj.node.at, obj.node.end) == (queue.node.at, queue.node.end)
            ):
                return True
        return not made and isinstance(expr, f.Ref) and (fn, expr.name.rpartition(".")[2]) in trusted

    def _call_users(self, queue: Queue, fn: Fun, names: set[str], trusted: set[tuple[Fun, str]]) -> None:
        table = self.resolver.table(fn.module)
        kind = queue.pool.kind.name if queue.pool is not None else ""
        executor = queue.pool is not None and queue.pool.kind.role == "executor"
        for site in fn.body.calls:
            called = site.call.fn
            base = dotted(called).rpartition(".")[0]
            if isinstance(called, f.Ref) and called.name == "iter" and site.call.args:
                # `for job in iter(inbox.get, None)`
                taken = dotted(site.call.args[0].value)
                row = table.queue(f"{kind}.{taken.rpartition('.')[2]}")
                holder = taken.rpartition(".")[0]
                takes = row is not None and row.op == "take" and holder.rpartition(".")[2] in names
                if takes and self._is(queue, f.Ref(site.call.at, site.call.end, holder), fn, trusted):
                    loops = (s for s, _ in fn.body.stmts if isinstance(s, f.Loop) and s.iter is site.call)
                    queue.takes.extend(Take(fn, loop) for loop in loops)
                continue
            if not base or base.rpartition(".")[2] not in names:
                if executor and any(_holds(arg.value, names) for arg in site.call.args) and self._runs_in(queue, site, trusted):
                    queue.puts.append(Put(fn, site.call, site.call, site))
                continue
            entry = table.call(f"{kind}.{site.last}")
            if entry is None or not self._is(queue, f.Ref(called.at, called.end, base), fn, trusted):
                continue
            target = next((t for t in self.program.targets(site) if t.entry is not None), None)
            if entry.queue is not None and entry.queue.op == "take":
                queue.takes.append(Take(fn, site.call, site, target))
            elif entry.queue is not None and entry.queue.op == "put":
                position = entry.queue.item or 0
                if position < len(site.call.args):
                    queue.puts.append(Put(fn, site.call, site.call.args[position].value, site))
            elif entry.spawn is not None and entry.spawn.backlog != "none" and site.call.args:
                queue.puts.append(Put(fn, site.call, site.call, site))

    def _runs_in(self, queue: Queue, site: CallSite, trusted: set[tuple[Fun, str]]) -> bool:
        """Whether a call hands work to an executor that is one of its arguments: `supplyAsync(work, executor)`."""
        for target, entry in self.program.described(site, spawning):
            position = entry.spawn.executor if entry.spawn is not None else None
            if position is not None and 0 <= position < len(target.binds):
                return self._is(queue, target.binds[position].expr, site.fn, trusted)
        return False

    def _channel_users(self, queue: Queue, fn: Fun, names: set[str], trusted: set[tuple[Fun, str]]) -> None:
        for node in (n for stmt in fn.block for n in walk(stmt)):
            channel = node.channel if isinstance(node, f.Send) else node.value if isinstance(node, f.Recv) else None
            if isinstance(node, f.Loop):
                channel = node.iter
            if channel is None or dotted(channel).rpartition(".")[2] not in names or not self._is(queue, channel, fn, trusted):
                continue
            if isinstance(node, f.Send):
                queue.puts.append(Put(fn, node, node.value))
            else:
                queue.takes.append(Take(fn, node))

    # ------------------------------------------------------------ who serves it

    def _consumers(self, queue: Queue) -> list[Consumer]:
        found: dict[tuple[Fun, int], Consumer] = {}
        helpers: dict[Fun, Consumer] = {}
        for take in queue.takes:
            for fn, loop, here in self._service_loops(queue, take, helpers):
                consumer = found.setdefault((fn, loop.at), Consumer(fn, loop, []))
                if all(known.node is not here.node for known in consumer.takes):
                    consumer.takes.append(here)
        if queue.pool is not None and queue.pool.kind.role == "executor":
            return list(self._jobs(queue))
        for consumer in found.values():
            self._measure(queue, consumer)
        return list(found.values())

    def _service_loops(
        self, queue: Queue, take: Take, helpers: dict[Fun, Consumer], depth: int = 0
    ) -> Iterator[tuple[Fun, f.Loop, Take]]:
        """The loops without end that a take stands in, in its function or in one that calls it to get a batch."""
        fn = take.fn
        arms = fn.body.arm_at(take.node.at).chain()
        loops = [arm.node for arm in arms if arm.kind == "loop" and isinstance(arm.node, f.Loop)]
        if isinstance(take.node, f.Loop) and take.node not in loops:
            loops.append(take.node)
        gathers = any(loop is not take.node and self._gathers(loop, take) for loop in loops)
        for loop in loops if not gathers else ():
            each = loop.form == "each" and loop.is_async
            if loop.form in ("ever", "while") or loop is take.node or each or self._ticks(loop, fn):
                yield fn, loop, take
                return
        if self._period(fn) is not None:
            yield fn, f.Loop(fn.head.at, fn.head.end, "ever", None, None, None, None, fn.block), take
            return
        if depth >= 2:
            return
        helper = helpers.get(fn)
        if helper is None:
            whole = f.Loop(fn.head.at, fn.head.end, "ever", None, None, None, None, fn.block)
            helper = helpers[fn] = Consumer(fn, whole, [t for t in queue.takes if t.fn is fn] or [take])
            self._measure(queue, helper)
        for _, site, _, _ in self.resolver.callers(fn)[0]:
            if not site.fn.module.is_test:
                here = Take(site.fn, site.call, site, take.target, helper)
                yield from self._service_loops(queue, here, helpers, depth + 1)

    def _period(self, fn: Fun) -> tuple[float, tuple[Fun, f.Node]] | None:
        """The seconds between two runs of a function that the clock starts, and where that is written."""
        entry = self.program.entries.get(fn)
        if entry is None or entry.kind != "job":
            return None
        table = self.resolver.table(fn.module)
        written: list[tuple[CallEntry | None, tuple[Bind, ...], Fun, f.Call]] = []
        for call in (call for call in fn.head.decorators if isinstance(call, f.Call)):
            name = self.program.names.java.type(dotted(call.fn), fn) if fn.module.language == "java" else None
            row = table.call(name) if isinstance(name, str) else None
            written.append((row, self.resolver.binds(call, self.resolver.frame(fn)), fn, call))
        for spawn in self._spawned.get(fn, ()):
            found = [(e, t.binds, spawn.fn, spawn.site.call) for t, e in self.program.described(spawn.site)]
            written.extend(found)
        for row, binds, where, call in written:
            rows = [bound for bound in row.bounds if bound.slot == "linger"] if row is not None else []
            for source in self.program.slots.at_call(rows, binds, (where, call)):
                numbers = [slot.number for slot in source.slots if slot.state == "finite"]
                known = [number for number in numbers if number is not None and 0 < number < inf]
                if known and len(known) == len(source.slots):
                    return max(known), (where, call)
        return None

    def _gathers(self, loop: f.Loop, take: Take) -> bool:
        """Whether a loop ends with what it has taken, for whoever called."""
        arms = take.fn.body.arm_at(loop.at).chain()
        if loop.test is not None and self._limit_in(loop.test, self.resolver.frame(take.fn)) is not None:
            return not any(arm.kind == "loop" and arm.node is not loop for arm in arms)
        taken: set[str] = set()
        for node in walk_block(loop.body):
            if isinstance(node, f.Call):
                taken.add(_grown(node))
            elif isinstance(node, f.Assign) and node.value is not None and _within(take.node, node):
                taken.update(dotted(target) for target in node.targets)
        returned = [node.value for node in walk_block(loop.body) if isinstance(node, f.Return)]
        return any(isinstance(value, f.Ref) and value.name in taken for value in returned)

    def _ticks(self, loop: f.Loop, fn: Fun) -> bool:
        """Whether a loop goes round by the clock: `for range ticker.C`."""
        return (
            loop.iter is not None
            and fn.module.language == "go"
            and self.worsts.timer(loop.iter, self.resolver.frame(fn)) is not None
        )

    def _jobs(self, queue: Queue) -> Iterator[Consumer]:
        """What is submitted to an executor, each job by itself."""
        for put in queue.puts:
            site = put.site
            if site is None:
                continue
            for spawn in (s for s in self.program.spawns if s.site.call is site.call):
                for body in spawn.bodies:
                    loop = f.Loop(site.call.at, site.call.end, "ever", None, None, None, None, ())
                    yield Consumer(body, loop, [], work=self.worsts.of_function(self.resolver.frame(body)))

    def _measure(self, queue: Queue, consumer: Consumer) -> None:
        """Fill in a consumer's batch, linger and work."""
        fn, loop = consumer.fn, consumer.loop
        frame = self.resolver.frame(fn)
        inner = self._collecting(consumer)
        taken = [t for t in consumer.takes if not any(_within(t.node, i) for i in inner)]
        many = [t for t in taken if t.target is not None and t.target.entry is not None and _moves_many(t.target.entry)]
        lists: set[str] = set()
        if inner:
            consumer.batch = self._collected(inner, len(taken), frame, lists) or self._everything(queue)
        elif many:
            consumer.batch = self._drained(queue, many[0], len(taken) - len(many), frame, lists)
        else:
            consumer.batch = self._accumulated(loop, frame, lists)
        helper = next((t.gathered for t in taken if t.gathered is not None and t.gathered.batch != 1), None)
        if helper is not None and consumer.batch == 1:
            consumer.batch, consumer.linger, consumer.window = helper.batch, helper.linger, helper.window
            for take in taken:
                lists |= _assigned(take.site)
                if take.site is not None:
                    lists.update(dotted(arg.value) for arg in take.site.call.args)
        for node in walk_block(loop.body):
            # `batch = [inbox.get()]`, and what else the first item starts.
            if isinstance(node, f.Assign) and isinstance(node.value, f.Coll) and any(_within(t.node, node.value) for t in taken):
                lists.update(dotted(t) for t in node.targets)
        lists.discard("")
        free: list[f.Node] = [t.node for t in consumer.takes if not isinstance(t.node, f.Loop)]
        if consumer.batch != 1 and consumer.linger is None:
            self._find_linger(consumer, inner, frame, free)
        free.extend(inner)
        free.extend(
            node
            for node in walk_block(loop.body)
            if isinstance(node, f.Select)
            and any(_within(t.node, case.op) for t in consumer.takes for case in node.cases if case.op)
        )
        lengths = dict.fromkeys(lists, consumer.batch) if consumer.batch is not None else {}
        consumer.work = self.worsts.of_block(loop.body, frame, free, {k: v for k, v in lengths.items() if v is not None})

    def _collecting(self, consumer: Consumer) -> list[f.Loop]:
        """The loops inside a service loop that only collect items."""
        out: list[f.Loop] = []
        for node in walk_block(consumer.loop.body):
            takes = isinstance(node, f.Loop) and any(_within(t.node, node) for t in consumer.takes)
            if takes and not any(_within(node, known) for known in out):
                out.append(node)
        return out

    def _collected(self, inner: list[f.Loop], before: int, frame: Frame, lists: set[str]) -> int | None:
        sizes: list[int] = []
        for loop in inner:
            times = self.worsts.times(loop, frame, {})
            if times is not None:
                sizes.append(times + before)
            tests = [loop.test] if loop.test is not None else []
            tests.extend(node.test for node in walk_block(loop.body) if isinstance(node, f.If))
            for test in tests:
                found = self._limit_in(test, frame)
                if found is not None:
                    sizes.append(found[1])
                    lists.add(found[0])
            for node in walk_block(loop.body):
                if isinstance(node, f.Call) and dotted(node.fn).rpartition(".")[2] in _GROWS:
                    lists.add(_grown(node))
        return min(sizes) if sizes else None

    def _limit_in(self, test: f.Expr, frame: Frame) -> tuple[str, int] | None:
        """The collection whose length a test limits, and to how many."""
        for node in walk(test):
            if not isinstance(node, f.Bin) or node.op not in ("<", "<=", ">", ">=", "==", "!="):
                continue
            for side, other, op in ((node.left, node.right, node.op), (node.right, node.left, _MIRROR.get(node.op, node.op))):
                name = _counted(side)
                if not name:
                    continue
                number = counted(self.worsts.number(other, frame))
                if number is not None and number >= 1:
                    return name, number + (op in ("<=", ">"))
        return None

    def _drained(self, queue: Queue, take: Take, single: int, frame: Frame, lists: set[str]) -> int | None:
        site, entry = take.site, take.target.entry if take.target is not None else None
        if site is None or entry is None or entry.queue is None:
            return None
        item = entry.queue.item or 0
        if item < len(site.call.args):
            lists.add(dotted(site.call.args[item].value))
        if item + 1 < len(site.call.args):
            number = counted(self.worsts.number(site.call.args[item + 1].value, frame))
            return number + single if number is not None else None
        return self._everything(queue)

    def _everything(self, queue: Queue) -> int | None:
        """The batch of who takes whatever is there."""
        capacity = self._capacity(queue)
        return int(capacity.number) if capacity is not None and 1 <= capacity.number < inf else None

    def _accumulated(self, loop: f.Loop, frame: Frame, lists: set[str]) -> int | None:
        """The batch of a loop that takes one item each round and works when it has enough."""
        grown = {_grown(node) for node in walk_block(loop.body) if isinstance(node, f.Call)} - {""}
        for node in walk_block(loop.body):
            if isinstance(node, f.If):
                found = self._limit_in(node.test, frame)
                if found is not None and found[0] in grown:
                    lists.add(found[0])
                    return found[1]
        return 1

    # ------------------------------------------------------------ linger

    def _find_linger(self, consumer: Consumer, inner: list[f.Loop], frame: Frame, free: list[f.Node]) -> None:
        region: list[f.Node] = [*inner] if inner else [consumer.loop]
        body = consumer.loop.body
        takes = [take for take in consumer.takes if any(_within(take.node, loop) for loop in region)]
        moments: list[tuple[float | None, f.Node]] = [
            (self._moment(node, region, frame), node) for node in walk_block(body) if isinstance(node, f.Assign)
        ]
        for node in walk_block(body):
            if isinstance(node, f.With) and any(_within(loop, node) for loop in inner):
                scopes = [(self.worsts.scope_of(item.value, frame, node), item.value) for item in node.items]
                moments.extend((scope[0], place) for scope, place in scopes if scope is not None)
        timers: list[tuple[float | None, f.Node]] = []
        for node in walk_block(body):
            if isinstance(node, f.Select) and any(_within(take.node, node) for take in consumer.takes):
                # A case that leaves for good is no flush.
                cases = [case for case in node.cases if not any(_gives_up(n) for n in walk_block(case.body))]
                channels = [(received(case.op), case.op) for case in cases if case.op is not None]
                timers.extend((self.worsts.timer(channel, frame), op) for channel, op in channels if channel is not None)
        if consumer.loop.iter is not None and self._ticks(consumer.loop, consumer.fn):
            timers.append((self.worsts.timer(consumer.loop.iter, frame), consumer.loop.iter))
        sleeps = [(seconds, node) for seconds, node in self._sleeps(consumer)]
        free.extend(node for _, node in sleeps)
        waits = [(self._take_bound(take, frame), take.node) for take in takes]
        waits.extend((self._elapsed(node, frame), node) for loop in region for node in walk(loop) if isinstance(node, f.Bin))
        period = self._period(consumer.fn)
        if period is not None and period[1][0] is consumer.fn:
            timers.append((period[0], period[1][1]))
        # A moment ends the collecting whatever the single waits do; of several timers only one need flush.
        for kind, choose in ((moments, max), (timers, min), (sleeps, max), (waits, max)):
            known = [(seconds, node) for seconds, node in kind if seconds is not None and 0 < seconds < inf]
            if known:
                seconds, place = choose(known, key=lambda x: x[0])
                step = self.program.step(consumer.fn, place, f"a batch waits up to {say(seconds)} for company")
                consumer.linger = Figure(seconds, steps=(step,))
                consumer.window = (consumer.fn, place)
                return
        if period is not None:
            step = self.program.step(period[1][0], period[1][1], f"it runs every {say(period[0])}")
            consumer.linger, consumer.window = Figure(period[0], steps=(step,)), period[1]

    def _sleeps(self, consumer: Consumer) -> Iterator[tuple[float, f.Node]]:
        """What sleeps each round before it takes, so that the batch grows meanwhile."""
        for site in consumer.fn.body.calls:
            chosen = any(arm.choice or arm.kind == "handler" for arm in site.arm.chain() if _within_arm(arm, consumer.loop))
            if site.loop is consumer.loop and not chosen:
                for target, entry in self.program.described(site, doing("sleep")):
                    number = self._waiting(site, target, entry) if entry.does == "sleep" else None
                    if number is not None and 0 < number < inf:
                        yield number, site.call

    def _take_bound(self, take: Take, frame: Frame) -> float | None:
        """How long one take waits for an item at most."""
        if take.site is None or take.target is None or take.target.entry is None:
            return None
        for site in take.fn.body.calls:
            if site.call is take.node or not _within(take.node, site.call):
                continue
            for target, entry in self.program.described(site, scoping):
                if entry.scope is not None and entry.scope.form == "call":
                    return self.worsts.limit(entry.scope, target.binds, take.fn)
        return self._waiting(take.site, take.target, take.target.entry)

    def _moment(self, assign: f.Assign, region: list[f.Node], frame: Frame) -> float | None:
        """Seconds between now and the moment that a variable names, where what collects looks at it: `closes = clock() + 0.02`."""
        names = {dotted(t) for t in assign.targets} - {""}
        if not names or not any(isinstance(n, f.Ref) and n.name.partition(".")[0] in names for loop in region for n in walk(loop)):
            return None
        value = assign.value
        if isinstance(value, f.Bin) and value.op == "+":
            for clock, length in ((value.left, value.right), (value.right, value.left)):
                if isinstance(clock, f.Call) and not clock.args:
                    unit = unit_of_name(last_name(clock.fn)) or ("s" if frame.fn.module.language == "python" else "")
                    return self._duration(length, frame, unit)
        if (
            isinstance(value, f.Call)
            and isinstance(value.fn, f.Field)
            and len(value.args) == 1
            and isinstance(value.fn.base, f.Call)
        ):
            return self._duration(value.args[0].value, frame, "") if not value.fn.base.args else None
        return None

    def _elapsed(self, test: f.Bin, frame: Frame) -> float | None:
        """Seconds that may have gone by since a moment, where a test compares that: `clock() - began > 0.1`, `Since(began) > d`."""
        if test.op not in ("<", "<=", ">", ">="):
            return None
        for gone, length in ((test.left, test.right), (test.right, test.left)):
            if isinstance(gone, f.Bin) and gone.op == "-" and isinstance(gone.left, f.Call) and not gone.left.args:
                unit = unit_of_name(last_name(gone.left.fn)) or ("s" if frame.fn.module.language == "python" else "")
                return self._duration(length, frame, unit) if isinstance(gone.right, f.Ref) else None
            if frame.fn.module.language == "go" and isinstance(gone, f.Call) and len(gone.args) == 1 and last_name(gone.fn):
                return self._duration(length, frame, "") if isinstance(gone.args[0].value, f.Ref) else None
        return None

    def _duration(self, expr: f.Expr, frame: Frame, unit: str) -> float | None:
        flows = self.resolver.ask(expr, frame)
        numbers = []
        for flow in flows:
            if not isinstance(flow.thing, Num):
                return None
            scale = _SECONDS.get("dur" if flow.thing.unit == "dur" else unit or flow.thing.unit)
            if scale is None:
                return None
            numbers.append(float(flow.thing.number) * scale)
        return max(numbers) if numbers else None

    # ------------------------------------------------------------ workers

    def workers_of(self, service: Service, name: str) -> tuple[int, Confidence, tuple[Step, ...]] | None:
        """How many serve a declared queue at once, as its code starts them; none where that is not known."""
        for queue in self.all:
            owner, declared = self._declared(queue)
            if owner is service and declared is not None and declared.name == name:
                found = self._workers(queue, self._consumers(queue))
                return (int(found.number), found.confidence, found.steps) if found is not None and 1 <= found.number < inf else None
        return None

    def _workers(self, queue: Queue, consumers: list[Consumer]) -> Figure | None:
        """How many serve a queue at once; none where that is not known."""
        if queue.pool is not None and queue.pool.kind.role == "executor":
            ceiling = self.program.pools.ceiling(queue.pool.obj, "concurrency")
            if ceiling.state != "finite" or ceiling.number is None:
                return None
            return Figure(ceiling.number, "", ceiling.confidence, self.program.trace(ceiling.hops))
        total = 0
        steps: list[Step] = []
        for fn in dict.fromkeys(consumer.fn for consumer in consumers):
            for spawn in self._starters(fn):
                times, width = self._times_run(spawn.site, queue), self._width(spawn, fn)
                if times is None or width is None:
                    return None
                count = times * width
                total += count
                said = "a worker is started here" if count == 1 else f"{count} workers are started here"
                steps.append(self.program.step(spawn.fn, spawn.site.call, said))
        return Figure(total, steps=tuple(steps)) if total > 0 else None

    def _width(self, spawn: Spawn, fn: Fun) -> int | None:
        """How many a spawn starts of a function each time: `gather(*(serve() for _ in range(4)))`."""
        if spawn.elements:
            sizes = [self.worsts.length(expr, frame, {}) for expr, frame in spawn.elements]
            known = [size for size in sizes if size is not None]
            return sum(known) if len(known) == len(sizes) else None
        if spawn.row.each is None:
            return 1
        own = [arg for arg in spawn.args if isinstance(arg, f.Call) and last_name(arg.fn) == fn.name]
        return max(len(own), 1)

    def _starters(self, fn: Fun, depth: int = 0, seen: frozenset[Fun] = frozenset()) -> list[Spawn]:
        """What starts a function beside its caller, directly or through functions that it calls first."""
        own = self._spawned.get(fn)
        if own:
            return own
        if depth >= 3 or fn in seen:
            return []
        out: dict[int, Spawn] = {}
        for _, site, _, _ in self.resolver.callers(fn)[0]:
            if not site.fn.module.is_test:
                for spawn in self._starters(site.fn, depth + 1, seen | {fn}):
                    out[id(spawn)] = spawn
        return list(out.values())

    @cached_property
    def _spawned(self) -> dict[Fun, list[Spawn]]:
        out: dict[Fun, list[Spawn]] = {}
        for spawn in self.program.spawns:
            if not self.program.is_test(spawn.fn) and not spawn.started_before:
                for body in spawn.bodies:
                    out.setdefault(body, []).append(spawn)
        return out

    def _times_run(self, site: CallSite, queue: Queue, depth: int = 0) -> int | None:
        """How often a call runs in the life of one queue: loops around it and around the calls of its function multiply."""
        times = self._around(site.arm.chain(), site.fn)
        fn = site.fn
        if times is None or fn is queue.fn or fn.name in ("__init__", "main") or not fn.index or depth >= 3:
            return times
        above = 0
        for _, caller, _, _ in self.resolver.callers(fn)[0]:
            same = caller.fn.module is fn.module
            if caller.fn.module.is_test:
                continue
            count = self._times_run(caller, queue, depth + 1) if same else self._around(caller.arm.chain(), caller.fn)
            if count is None:
                return None
            above += count
        return times * max(above, 1)

    def _around(self, arms: list[Arm], fn: Fun) -> int | None:
        total = 1
        frame = self.resolver.frame(fn)
        for arm in arms:
            size: int | None = 1
            if arm.kind == "loop" and isinstance(arm.node, f.Loop):
                size = self.worsts.times(arm.node, frame, {})
            elif arm.kind == "comp" and isinstance(arm.node, f.Comp):
                size = self.worsts.length(arm.node, frame, {})
            if size is None:
                return None
            total *= size
        return total

    # ------------------------------------------------------------ who waits, and how long

    def _patience(self, queue: Queue, service: Service | None, declared: Declared | None) -> Figure | None:
        """The shortest time that somebody waits for an answer to what was put into a queue."""
        own = self._tickets(queue)
        waits = [figure for figure in own if figure.number > 0]
        if service is not None and (declared is not None or own):
            callers = [c for c in service.callers.values() if c.timeout is not None]
            if callers:
                caller = min(callers, key=lambda c: c.timeout or inf)
                span = self.program.settings.place("services", service.name, "callers", caller.name)
                steps = (Step(span, f"{caller.name} waits {say(caller.timeout or 0)} (declared)"),) if span is not None else ()
                return Figure(caller.timeout or 0, f"declared for {caller.name}", steps=steps, declared=True)
        return min(waits, key=lambda figure: figure.number, default=None)

    def _tickets(self, queue: Queue) -> list[Figure]:
        waits: list[tuple[Put, list[Figure]]] = []
        for put in queue.puts:
            if put.site is not None and self.program.spawning.permitted(put.site):
                return []
            names, nodes = self._ticket(put)
            after = put.node if put.item is not put.node else None
            waits.append((put, list(self._waits_for(put.fn, names, nodes, 0, after))))
        if any(not figures and not isinstance(put.item, f.Lit) for put, figures in waits):
            # Beside work that nobody waits for, a bare signal only asks how far it has got: `flush`.
            waits = [(put, figures) for put, figures in waits if not self._is_signal(put)]
        return [figure for _, figures in waits for figure in figures]

    def _is_signal(self, put: Put) -> bool:
        """Whether what is put is nothing but what its producer waits for."""
        table = self.resolver.table(put.fn.module)
        things = (
            [flow.thing for flow in self.resolver.ask(put.item, self.resolver.frame(put.fn))] if isinstance(put.item, f.Ref) else []
        )
        kinds = [table.type(self.resolver.external_type(thing)) for thing in things if isinstance(thing, Obj)]
        channel = any(isinstance(thing, Obj) and thing.type == "chan" for thing in things)
        return channel or any(kind is not None and kind.role in ("event", "future", "queue") for kind in kinds)

    def _ticket(self, put: Put) -> tuple[set[str], set[int]]:
        """What the one who puts can wait for: the names in what it puts, or the result of the call that puts it."""
        if put.item is put.node:
            return _assigned(put.site) if put.site is not None else set(), {id(put.node)}
        names = {node.name for node in walk(put.item) if isinstance(node, f.Ref)}
        for name in list(names):
            for d in put.fn.body.definitions.get(name, ()):
                if d.kind == "value" and isinstance(d.expr, f.Call | f.New | f.Un):
                    names.update(node.name for node in _given(d.expr))
        own = {p.name for p in put.fn.head.params if p.kind == "self" or (p.type is not None and p.type.name.endswith("Context"))}
        return {name for name in names if name.partition(".")[0] not in own}, set()

    def _waits_for(self, fn: Fun, names: set[str], nodes: set[int], depth: int, put: f.Node | None = None) -> Iterator[Figure]:
        """The bounds of the waits of a function, and of those it returns to, for something; waiting for room to `put` is another
        matter."""

        def meant(expr: Any) -> bool:
            return any(id(n) in nodes or (isinstance(n, f.Ref) and _is_of(n.name, names)) for n in walk(expr))

        unbounded = False
        for site in fn.body.calls:
            on: list[f.Expr] = [site.call.fn.base if isinstance(site.call.fn, f.Field) else site.call.fn]
            on.extend(arg.value for arg in site.call.args)
            if not any(meant(expr) for expr in on) or (put is not None and (put is site.call or _within(put, site.call))):
                continue
            for target, entry in [*self.program.described(site)] or self._by_declared_type(site):
                if entry.queue is not None and not (entry.queue.op == "take" and meant(on[0])):
                    continue
                seconds = self._limit(site, target, entry)
                if seconds is not None and 0 < seconds < inf:
                    yield self._wait_figure(fn, site.call, seconds, short(target.name))
        for stmt, _ in fn.body.stmts:
            if isinstance(stmt, f.Select) and any(meant(ch) for ch in (received(c.op) for c in stmt.cases) if ch is not None):
                yield from self._select_bounds(stmt, fn)
        for node in (n for stmt in fn.block for n in walk(stmt)):
            if isinstance(node, f.Await) and meant(node.value) and not isinstance(node.value, f.Call):
                unbounded = True
                yield from self._scopes_around(node, fn)
        if depth >= 3:
            return
        returned = any(isinstance(s, f.Return) and s.value is not None and meant(s.value) for s, _ in fn.body.stmts)
        if not returned and not unbounded:
            return
        for _, site, _, _ in self.resolver.callers(fn)[0]:
            if site.fn.module.is_test:
                continue
            yield from self._scopes_around(site.call, site.fn)
            yield from self._waits_for(site.fn, _assigned(site), {id(site.call)}, depth + 1)

    def _by_declared_type(self, site: CallSite) -> list[tuple[Target, CallEntry]]:
        """What knowledge says of a method by the declared type of the field it is called on, where nobody is seen to fill it."""
        owner, _, part = dotted(site.call.fn).rpartition(".")[0].rpartition(".")
        if not owner:
            return []
        for flow in self.resolver.ask(f.Ref(site.call.at, site.call.at, owner), self.resolver.frame(site.fn)):
            klass = flow.thing.type if isinstance(flow.thing, Obj) else None
            declared = klass.fields.get(part) if isinstance(klass, Klass) else None
            if not isinstance(klass, Klass) or declared is None or declared.type is None:
                continue
            name = self.resolver.resolve_type(declared.type, klass.module.functions[0])
            full = f"{name}.{site.last}" if isinstance(name, str) else ""
            entry = self.resolver.table(site.fn.module).call(full)
            if entry is not None:
                return [(target._replace(name=full, entry=entry), entry) for target in self.program.targets(site)[:1]]
        return []

    def _wait_figure(self, fn: Fun, node: f.Node, seconds: float, name: str) -> Figure:
        where = "" if fn.head.kind == "module" else f" in {fn.name}"
        step = self.program.step(fn, node, f"{name} waits for the answer for at most {say(seconds)}")
        return Figure(seconds, f"{name}{where}", steps=(step,))

    def _limit(self, site: CallSite, target: Target, entry: CallEntry) -> float | None:
        """How long a call waits, or lets what it is given wait."""
        if entry.scope is not None and entry.scope.form == "call":
            return self.worsts.limit(entry.scope, target.binds, site.fn)
        if entry.does == "wait":
            return self._waiting(site, target, entry)
        return None

    def _waiting(self, site: CallSite, target: Target, entry: CallEntry) -> float | None:
        slots = self.program.slots
        wanted = frozenset({"wait", "total"})
        rows = [bound for bound in entry.bounds if bound.slot in wanted]
        sources = slots.at_call(rows, target.binds, (site.fn, site.call))
        if target.holder is not None:
            sources = [*sources, *slots.of_object(target.holder, wanted)]
        best = inf
        for source in decide(sources):
            if source.bounded and source.slots:
                numbers = [s.number for s in source.slots]
                known = [n for n in numbers if n is not None and n >= 0]
                if len(known) == len(numbers) and not any(s.mismatch for s in source.slots):
                    best = min(best, max(known))
        return best

    def _select_bounds(self, select: f.Select, fn: Fun) -> Iterator[Figure]:
        """What ends a choice over channels that waits for an answer: a timer, or a context with a deadline."""
        frame = self.resolver.frame(fn)
        for case in select.cases:
            channel = received(case.op)
            if channel is None or case.op is None:
                continue
            seconds = self.worsts.timer(channel, frame)
            if seconds is not None and seconds > 0:
                yield self._wait_figure(fn, case.op, seconds, "select")
            elif isinstance(channel, f.Call) and last_name(channel.fn) == "Done":
                owner = dotted(channel.fn).rpartition(".")[0]
                if owner:
                    found = self.program.deadlines.of(f.Ref(channel.at, channel.at, owner), frame)
                    numbers = [d.number for d in found if d.kind == "bounded" and d.number is not None]
                    if numbers:
                        yield self._wait_figure(fn, case.op, min(numbers), f"{owner}.Done")

    def _scopes_around(self, node: f.Node, fn: Fun) -> Iterator[Figure]:
        """The limits that stand around a place in its function."""
        frame = self.resolver.frame(fn)
        for arm in fn.body.arm_at(node.at).chain():
            if isinstance(arm.node, f.With) and arm.kind == "with":
                for item in arm.node.items:
                    found = self.worsts.scope_of(item.value, frame, arm.node)
                    if found is not None and found[0] is not None and 0 < found[0] < inf and found[1] is not None:
                        yield self._wait_figure(fn, item.value, found[0], found[1].name)
        for site in fn.body.calls:
            if site.call is not node and _within(node, site.call):
                for target, entry in self.program.described(site, scoping):
                    if entry.scope is not None and entry.scope.form == "call":
                        seconds = self.worsts.limit(entry.scope, target.binds, fn)
                        if seconds is not None and 0 < seconds < inf:
                            yield self._wait_figure(fn, site.call, seconds, short(target.name))


class Case(NamedTuple):
    """The figures of one queue: how long its callers wait, how long one unit of work takes, how many work at once, how many items
    one unit is, and how long it waits for them."""

    patience: Figure
    work: Figure
    workers: Figure | None
    batch: Figure | None
    linger: Figure | None
    window: tuple[Fun, f.Node] | None


class Load(NamedTuple):
    """A full queue: `size` items, served `batch` at a time by `workers`, each unit in `work` seconds, for callers that wait
    `patience` seconds, of which the share `safety` may be used up by those ahead."""

    size: int
    batch: int
    workers: int
    work: float
    patience: float
    safety: float

    @property
    def units(self) -> int:
        """Units of work in a full queue."""
        return ceil(self.size / self.batch)

    @property
    def waiting(self) -> float:
        """Seconds until a full queue is empty, by the rate of service."""
        return self.units * self.work / self.workers

    @property
    def last(self) -> float:
        """Seconds until the last one is done that enters a full queue while all workers have just begun."""
        return (ceil(self.units / self.workers) + 1) * self.work

    @property
    def queue_is_late(self) -> bool:
        """Whether those ahead use up more than their share of the patience."""
        return reaches(self.waiting, self.patience * self.safety)

    @property
    def too_long(self) -> bool:
        """Whether the queue holds what is served too late."""
        return self.queue_is_late or reaches(self.last, self.patience)

    @property
    def served(self) -> int:
        """Places from which an item is still served in time, behind workers that have all just begun."""
        return max(_below(self.patience / self.work) - 1, 0) * self.workers * self.batch

    @property
    def safe(self) -> int:
        """The largest size that is not too long."""
        return min(self.served, max(_below(self.patience * self.safety * self.workers / self.work), 0) * self.batch)


_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def say(seconds: float) -> str:
    """A duration that one can compute with: in seconds from one second on."""
    return f"{seconds:.6g} s" if seconds >= 1 else say_seconds(seconds)


def _shown(figure: Figure) -> str:
    """A duration, and where it comes from."""
    return say(figure.number) + _named(figure.text)


def _below(number: float) -> int:
    """The largest whole number that is less, again but for noise."""
    return ceil(number * (1 - 1e-9)) - 1


def _named(text: str) -> str:
    return f" ({text})" if text else ""


def _gives_up(node: Any) -> bool:
    return isinstance(node, f.Return) and node.value is None


def _within(node: f.Node, around: Any) -> bool:
    return isinstance(around, f.Node) and around.at <= node.at and node.end <= around.end and node is not around


def _within_arm(arm: Arm, loop: f.Loop) -> bool:
    return arm.kind != "loop" and loop.at <= arm.at and arm.end <= loop.end


def _holds(expr: f.Expr, names: set[str]) -> bool:
    """Whether an argument is one of the names, or a tuple or list with one."""
    if isinstance(expr, f.Ref):
        return expr.name.rpartition(".")[2] in names
    return isinstance(expr, f.Coll) and any(_holds(pair.value, names) for pair in expr.items)


def _counted(expr: f.Expr) -> str:
    """The collection whose length an expression is."""
    if not isinstance(expr, f.Call):
        return ""
    name = dotted(expr.fn)
    base, _, last = name.rpartition(".")
    if last not in _COUNTS:
        return ""
    return dotted(expr.args[0].value) if expr.args and not base else base


def _grown(call: f.Call) -> str:
    """The collection that a call makes longer by one."""
    base, _, last = dotted(call.fn).rpartition(".")
    if last not in _GROWS:
        return ""
    return base or (dotted(call.args[0].value) if call.args else "")


def _moves_many(entry: CallEntry) -> bool:
    return entry.queue is not None and entry.queue.many


def _given(expr: f.Expr) -> Iterator[f.Ref]:
    """The names that a construction is given."""
    if isinstance(expr, f.Un):
        yield from _given(expr.value)
    elif isinstance(expr, f.Call):
        for arg in expr.args:
            yield from (n for n in walk(arg.value) if isinstance(n, f.Ref))
    elif isinstance(expr, f.New):
        for pair in expr.fields:
            yield from (n for n in walk(pair.value) if isinstance(n, f.Ref))


def _is_of(name: str, names: set[str]) -> bool:
    return any(name == known or name.startswith(known + ".") for known in names)


def _assigned(site: CallSite | None) -> set[str]:
    """The names that a statement gives the result of a call."""
    stmt = site.stmt if site is not None else None
    if not isinstance(stmt, f.Assign) or site is None or stmt.value is None:
        return set()
    value = stmt.value.value if isinstance(stmt.value, f.Await) else stmt.value
    if value is not site.call:
        return set()
    names: set[str] = set()
    for target in stmt.targets:
        parts = [pair.value for pair in target.items] if isinstance(target, f.Coll) else [target]
        names.update(dotted(part) for part in parts)
    return names - {"", "_", "err"}


def _holder_name(fn: Fun, call: f.Call) -> str:
    """The variable or field that keeps what a call makes."""
    for name, defs in fn.body.definitions.items():
        if any(d.expr is call for d in defs):
            return name
    for new, _, _ in fn.body.news:
        for pair in new.fields:
            if pair.value is call and isinstance(pair.key, f.Ref):
                return pair.key.name
    return ""
