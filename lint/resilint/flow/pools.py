"""Executors, queues and gates: where each is made, what bounds it, who puts work into it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from resilint import facts as f
from resilint.flow.retries import SAYS
from resilint.flow.spawns import family, holds_call, nodes
from resilint.flow.values import ClassVal, Flow, FnVal, Hop, Obj
from resilint.knowledge.index import Table, doing, spawning
from resilint.knowledge.schema import Bound, CallEntry, TypeEntry
from resilint.link.code import CallSite, Fun, Module, dotted, walk, walk_block
from resilint.model import Confidence, Fix, Severity, Span, Step

if TYPE_CHECKING:
    from resilint.flow.timeouts import Fault
    from resilint.program import Program

ROLES = ("executor", "queue", "gate")
LANGUAGES = ("python", "go", "java")
_ONCE = re.compile(
    r"^(?:__init__|<module>|<init\d+>|<static\d+>|_*(?:start|init|set_?up|open|boot|launch|main|connect)\w*)$", re.IGNORECASE
)
_ENDS = re.compile(r"_*(?:stop|close|shut_?down|terminate|quit|finish|abort|kill|exit|join|tear_?down)(?![a-z])", re.IGNORECASE)
_LIMIT = re.compile(r"max|limit|capacity", re.IGNORECASE)
_SHOWN = 3


class Ceiling(NamedTuple):
    """The most that one slot of an object allows: known finite (not always how much), known to be endless, or not known."""

    state: Literal["finite", "endless", "unknown"]
    number: float | None = None
    confidence: Confidence = Confidence.HIGH
    hops: tuple[Hop, ...] = ()
    written: bool = False
    """Somebody wrote that value: no default decides."""
    holder: Obj | None = None
    """The object in whose slot it stands: this one or a part of it."""


UNKNOWN = Ceiling("unknown")


@dataclass(eq=False)
class Pool:
    """One executor, queue or gate, by the place that makes it."""

    obj: Obj
    kind: TypeEntry
    fn: Fun
    site: CallSite
    name: str
    """The variable or field that holds it, dotted as written; empty where it is only handed on."""
    local: bool
    """That variable ends with the function."""

    @property
    def key(self) -> tuple[str, int]:
        """Order."""
        return (self.fn.module.path, self.site.call.at)

    @property
    def last(self) -> str:
        """The last segment of its name."""
        return self.name.rpartition(".")[2]


@dataclass(eq=False)
class Use:
    """One place that puts work or items into a pool."""

    site: CallSite
    recurs: bool
    """It may happen any number of times while others wait."""


@dataclass(eq=False)
class Uses:
    """Who puts something into a pool."""

    puts: list[Use] = field(default_factory=list)
    escapes: bool = False
    """It is handed to code that was not looked at."""
    handed: bool = False
    """It is handed to a library that nobody described, which may have limits of its own."""

    @property
    def may_grow(self) -> bool:
        """Whether what is put into it may become more and more."""
        return self.escapes or self.handed or any(use.recurs for use in self.puts)

    @property
    def only_handed(self) -> bool:
        """Whether nothing but a library that nobody described is known to use it."""
        return self.handed and not self.escapes and not any(use.recurs for use in self.puts)


@dataclass(eq=False)
class Unbounded:
    """A pool or queue without an upper limit: where to say so, in which words."""

    span: Span
    text: str
    confidence: Confidence
    steps: tuple[Step, ...] = ()
    severity: Severity | None = None
    fix: Fix | None = None


def _putting(row: CallEntry) -> bool:
    """Calls that put an item into a queue."""
    return row.queue is not None and row.queue.op == "put"


def endless_threads(
    span: Span,
    subject: str,
    confidence: Confidence,
    steps: Iterable[Step] = (),
    severity: Severity | None = None,
    fix: Fix | None = None,
) -> Unbounded:
    """A pool without a maximum of threads or tasks (RS203), found in code or in settings. `subject` names it."""
    text = f"{subject} has no upper bound: while a dependency is slow, every new task adds one to those that wait"
    return Unbounded(span, text, confidence, tuple(steps), severity, fix)


def endless_queue(
    span: Span,
    subject: str,
    confidence: Confidence,
    steps: Iterable[Step] = (),
    severity: Severity | None = None,
    fix: Fix | None = None,
) -> Unbounded:
    """A queue or backlog without capacity (RS401), found in code or in settings. `subject` names it."""
    text = f"{subject} has no capacity: while its workers are slow it grows, and what is served is older and older"
    return Unbounded(span, text, confidence, tuple(steps), severity, fix)


class Pools:
    """All executors, queues and gates of a program's code."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._ceilings: dict[tuple[Obj, str], Ceiling] = {}
        self._uses: dict[Pool, Uses] = {}

    # ------------------------------------------------------------ finding

    @cached_property
    def all(self) -> tuple[Pool, ...]:
        """Every one that code outside tests makes, in order of path and position."""
        return self.program.gathered("pools", self._find_all, lambda pool: (pool.fn.module.path,))

    def _find_all(self) -> Iterable[Pool]:
        return self._find(lambda kind: kind.role in ROLES)

    @cached_property
    def connections(self) -> tuple[Pool, ...]:
        """Pools of connections that code outside tests makes and that never let anybody wait for one of theirs."""
        return self.program.gathered("connection pools", lambda: self._find(_never_waits), lambda pool: (pool.fn.module.path,))

    def _find(self, wanted: Callable[[TypeEntry], bool]) -> Iterable[Pool]:
        found: dict[tuple[str, int, int], Pool] = {}
        for language in LANGUAGES:
            table = self.program.knowledge.of(language)
            makers, modules = _makers(table, wanted)
            if not makers:
                continue
            for fn in self.program.start_calling(makers.__contains__, language):
                if fn.module.is_test or not _speaks_of(fn.module, modules, makers):
                    continue
                for site in fn.body.calls:
                    if site.last in makers:
                        pool = self._made(site, table, wanted)
                        if pool is not None:
                            found.setdefault((*fn.key, site.call.at), pool)
        return sorted(found.values(), key=lambda pool: pool.key)

    def of_role(self, *roles: str) -> Iterator[Pool]:
        """Those of these roles."""
        return (pool for pool in self.all if pool.kind.role in roles)

    def start_of_role(self, *roles: str) -> Iterator[Pool]:
        """Those of these roles that are made in files in focus."""
        return (pool for pool in self.of_role(*roles) if self.program.in_focus(pool.fn))

    @cached_property
    def by_place(self) -> dict[tuple[str, int, int], Pool]:
        """Pools by the place of the call that makes them: path and bytes."""
        return {(pool.fn.module.path, pool.site.call.at, pool.site.call.end): pool for pool in self.all}

    def _made(self, site: CallSite, table: Table, wanted: Callable[[TypeEntry], bool]) -> Pool | None:
        for flow in self.resolver.ask(site.call, self.resolver.frame(site.fn)):
            obj = flow.thing
            if not isinstance(obj, Obj) or not isinstance(obj.node, f.Node):
                continue
            if (obj.node.at, obj.node.end) != (site.call.at, site.call.end) or obj.frame is None or obj.frame.fn is not site.fn:
                continue
            kind = table.type(self.resolver.external_type(obj))
            if kind is not None and wanted(kind):
                name, local = _kept(site)
                return Pool(obj, kind, site.fn, site, name, local)
        return None

    def pool_of(self, obj: Obj) -> Pool | None:
        """The pool that an object is, by the place that made it."""
        if not isinstance(obj.node, f.Node) or obj.frame is None:
            return None
        return self.by_place.get((obj.frame.fn.module.path, obj.node.at, obj.node.end))

    # ------------------------------------------------------------ ceilings

    def ceiling(self, obj: Obj, slot: str) -> Ceiling:
        """What bounds one slot (`capacity`, `concurrency`, `core`) of an object."""
        key = (obj, slot)
        found = self._ceilings.get(key)
        if found is None:
            found = self._ceilings[key] = self._ceiling(obj, slot)
        return found

    def _ceiling(self, obj: Obj, slot: str) -> Ceiling:
        from resilint.flow.slots import decide

        slots = self.program.slots
        table = self.program.knowledge.of(slots.language(obj))
        kind = table.type(self.resolver.external_type(obj))
        cap = table.cap(kind) if kind is not None else None
        sources = decide(s for s in slots.of_object(obj, frozenset({slot})) if s.bound.slot == slot)
        values = [s for source in sources for s in source.slots]
        if not values:
            return self._by_nature(table.bounds(kind.name), slot, cap) if kind is not None and obj.kind != "outside" else UNKNOWN
        states = {"endless" if s.state in ("absent", "disabled") else s.state for s in values}
        if states == {"endless"}:
            written = all(s.state == "disabled" for s in values)
            sure = Confidence.HIGH if written else Confidence.MEDIUM
            if any(s.flow is not None and s.flow.default for s in values):
                sure = Confidence.LOW
            hops = next((s.flow.hops for s in values if isinstance(s.flow, Flow)), ())
            return Ceiling("endless", None, min(sure, cap or sure), hops, written, values[0].holder)
        if states != {"finite"}:
            return UNKNOWN
        numbers = [s.number for s in values if s.number is not None]
        hops = next((s.flow.hops for s in values if s.flow is not None), ())
        number = max(numbers) if len(numbers) == len(values) else None
        written = any(s.flow is not None or s.given for s in values)
        sure = Confidence.HIGH if written else Confidence.MEDIUM
        return Ceiling("finite", number, min(sure, cap or sure), hops, written, values[0].holder)

    @staticmethod
    def _by_nature(rows: Iterable[Bound], slot: str, cap: Confidence | None) -> Ceiling:
        """What a type is like whatever is written."""
        for row in rows:
            if row.slot == slot and not _writable(row):
                if row.default == "endless":
                    return Ceiling("endless", None, min(Confidence.MEDIUM, cap or Confidence.MEDIUM))
                if isinstance(row.default, int | float):
                    return Ceiling("finite", float(row.default), min(Confidence.MEDIUM, cap or Confidence.MEDIUM))
        return UNKNOWN

    def can_be_bounded(self, pool: Pool) -> bool:
        """Whether the type of an executor has a place where a capacity can be written."""
        table = self.program.knowledge.of(pool.fn.module.language)
        levels = table.mro(pool.kind.name)
        own = any(b.slot == "capacity" and _writable(b) for b in table.bounds(pool.kind.name))
        return own or any("capacity" in part.slots for level in levels for part in level.parts)

    # ------------------------------------------------------------ users

    def uses(self, pool: Pool) -> Uses:
        """Who puts work or items into a pool, sought by the name that holds it."""
        found = self._uses.get(pool)
        if found is None:
            found = self._uses[pool] = self._find_uses(pool)
        return found

    def _find_uses(self, pool: Pool) -> Uses:
        uses = Uses()
        if self._is_made_for_nobody(pool):
            return uses
        if not pool.name:
            outer = next((s for s in pool.fn.body.calls if any(holds_call(a.value, pool.site.call) for a in s.call.args)), None)
            if outer is not None and self._is_unknown(outer):
                uses.handed = True
            else:
                uses.escapes = True
            return uses
        verbs = self._verbs[pool.fn.module.language]
        puts, takes, sizes = verbs["put"], verbs["take"], verbs["size"]
        inside = list(self._where(pool))
        for fn in inside:
            called = {c.rpartition(".")[2] for c in fn.head.calls if self._means(c.rpartition(".")[0], fn, pool)}
            if called & puts:
                feeds_itself = bool(called & takes)
                for site in fn.body.calls:
                    base = dotted(site.call.fn).rpartition(".")[0]
                    if site.last in puts and self._means(base, fn, pool) and site.how != "defer":
                        if (
                            feeds_itself
                            or _is_end(site)
                            or self._is_periodic(site)
                            or self._checked(site, pool, sizes)
                            or self.program.spawning.permitted(site)
                        ):
                            continue
                        uses.puts.append(Use(site, self.recurs(site, pool)))
            if any(self._means(value, fn, pool) for value in fn.head.values):
                self._follow(fn, pool, uses, puts)
        return uses

    def _is_made_for_nobody(self, pool: Pool) -> bool:
        """Whether a pool is only given back by a function that the program never calls, and that nothing else can call: a helper of
        a library, whose users have work for it."""
        fn = pool.fn
        returned = any(
            isinstance(stmt, f.Return)
            and stmt.value is not None
            and (holds_call(stmt.value, pool.site.call) or (pool.local and _names(dotted(stmt.value), pool)))
            for stmt, _ in fn.body.stmts
        )
        if not returned or fn.head.kind == "lambda" or fn.head.decorators or fn in self.program.entries:
            return False
        owner = self.resolver.owner(fn)
        if owner is not None and (owner.decl.bases or owner.decl.kind != "class" or fn.module.beans):
            return False
        sites, whole = self.resolver.callers(fn)
        named = self.program.headers(fn.module.language).users.get(fn.name, ())
        return not sites and whole and not any(fn.name in value.split(".") for user in named for value in user.head.values)

    def _means(self, text: str, fn: Fun, pool: Pool) -> bool:
        """Whether a name, as a function writes it, is the pool's. In Java a bare name of another file is a field that its class
        inherits or imports, else a variable of its own."""
        if not _names(text, pool):
            return False
        if fn.module is not pool.fn.module and (text in fn.params or text in fn.body.definitions):
            # A variable of its own that happens to be called the same.
            return False
        if self._is_of_others(text, fn, pool):
            return False
        if fn.module is not pool.fn.module and text.partition(".")[0] in {klass.name for klass in fn.module.classes}:
            return False  # A static field of a class of its own file.
        if fn.module is pool.fn.module or fn.module.language != "java" or "." in text.removeprefix("this."):
            return True
        return text in fn.module.imports or any(
            base.module is pool.fn.module for klass in fn.module.classes for base in self.resolver.mro(klass)[0]
        )

    def _is_of_others(self, text: str, fn: Fun, pool: Pool) -> bool:
        """Whether a field of the own object is meant, and no object is both of that class and of the one that has the pool."""
        own, its = _own_field(text, fn), _own_field(pool.name, pool.fn)
        if not own or own != its:
            return False
        here, there = (self.resolver.owner(_method(x)) for x in (fn, pool.fn))
        if here is None or there is None or here is there:
            return False
        if {here, *self.resolver.subclasses(here)} & {there, *self.resolver.subclasses(there)}:
            return False
        # What it was given under the same name may be this one.
        others = (other for other in self.of_role("executor", "queue") if other is not pool and other.last == own)
        owners = {self.resolver.owner(_method(other.fn)) for other in others if _own_field(other.name, other.fn) == own}
        return any(owner is not None and here in self.resolver.family(owner) for owner in owners)

    def _where(self, pool: Pool) -> Iterator[Fun]:
        """Functions that may speak of a pool by its name."""
        home = pool.fn
        if pool.local:
            yield from (fn for fn in home.module.functions if fn is home or fn.is_inside(home))
            return
        last = pool.last
        for fn in self.program.headers(home.module.language).users.get(last, ()):
            if fn.module.is_test:
                continue
            far = fn.module is not home.module
            if any(last in c for c in fn.head.calls) or (not far and any(last in v for v in fn.head.values)):
                yield fn

    def _follow(self, fn: Fun, pool: Pool, uses: Uses, puts: frozenset[str]) -> None:
        """Where a pool is handed on: to work that is started or functions that are called, which are looked at, or elsewhere."""
        given: list[CallSite] = []
        packed = self._packed(fn, pool)
        for site in fn.body.calls:
            if any(_mentions(a.value, pool) or dotted(a.value) in packed for a in site.call.args):
                given.append(site)
        handed = {id(n) for site in given for a in site.call.args for n in walk(a.value)}
        stored = any(
            isinstance(node, f.Ref)
            and _names(node.name, pool)
            and id(node) not in handed
            and not (fn is pool.fn and _makes(node, pool))
            for stmt, _ in fn.body.stmts
            if isinstance(stmt, f.Return | f.Assign | f.Send) and getattr(stmt, "value", None) is not None
            if not (isinstance(stmt, f.Assign) and dotted(stmt.targets[0]) in packed)
            for node in walk(stmt.value)
        )
        running = [site for site in given if self._runs_on(site)]
        uses.puts.extend(Use(site, self.recurs(site, pool)) for site in running)
        given = [site for site in given if site not in running]
        if stored or not pool.local:
            # A field or global that is handed on may be used by anybody.
            elsewhere = [site for site in given if not self._is_start(site) and not self._only_takes(site, pool, puts)]
            if stored or any(not self._is_unknown(site) for site in elsewhere):
                uses.escapes = True
            uses.handed = uses.handed or bool(elsewhere)
            return
        for site in given:
            bodies = [*self._started_by(site), *self.program.callees(site)]
            if not bodies:
                if not self._is_start(site) and not self._is_taken(site):
                    uses.handed = True
                    uses.escapes = uses.escapes or not self._is_unknown(site)
                continue
            for body in bodies:
                if body.name == "__init__":
                    uses.escapes = True
                names = {p.name for p in body.head.params}
                for inner in body.body.calls:
                    base = dotted(inner.call.fn).rpartition(".")[0]
                    if inner.last in puts and base in names:
                        uses.puts.append(Use(inner, self._endless_loop(inner)))

    @staticmethod
    def _packed(fn: Fun, pool: Pool) -> frozenset[str]:
        """Local names of tuples with a pool in them that are arguments only: `args = (queue,); Process(target=f, args=args)`."""
        made: dict[str, list[f.Assign]] = {}
        for stmt, _ in fn.body.stmts:
            if (
                isinstance(stmt, f.Assign)
                and len(stmt.targets) == 1
                and isinstance(stmt.value, f.Coll)
                and _mentions(stmt.value, pool)
            ):
                made.setdefault(dotted(stmt.targets[0]), []).append(stmt)
        arguments = {id(a.value) for site in fn.body.calls for a in site.call.args}
        out = set()
        for name, stmts in made.items():
            if not pool.local or not name or "." in name or len(fn.body.definitions.get(name, ())) != len(stmts):
                continue
            own = {id(stmt.targets[0]) for stmt in stmts}
            reads = [n for n in nodes(fn) if isinstance(n, f.Ref) and n.name == name and id(n) not in own]
            if reads and all(id(node) in arguments for node in reads):
                out.add(name)
        return frozenset(out)

    def _only_takes(self, site: CallSite, pool: Pool, puts: frozenset[str]) -> bool:
        """Whether functions of the program that a call hands a pool to neither put anything into it nor hand it on."""
        callees = self.program.callees(site)
        for callee in callees:
            places = callee.positional
            for position, arg in enumerate(site.call.args):
                if not _mentions(arg.value, pool):
                    continue
                name = arg.name or (places[position].name if position < len(places) else "")
                feeds = any(x.last in puts and dotted(x.call.fn).rpartition(".")[0] == name for x in callee.body.calls)
                if not isinstance(arg.value, f.Ref) or not name or feeds or name in callee.head.values:
                    return False
        return bool(callees)

    def _runs_on(self, site: CallSite) -> bool:
        """Whether a call gives work to the executor among its arguments: `supplyAsync(task, executor)`."""
        return any(
            entry.spawn is not None and entry.spawn.executor is not None for _, entry in self.program.described(site, spawning)
        )

    def _is_unknown(self, site: CallSite) -> bool:
        """Whether a call is of a library that nobody described."""
        table = self.resolver.table(site.fn.module)
        targets = self.program.targets(site)
        return not any(
            t.entry is not None or isinstance(t.flow.thing, FnVal | ClassVal) or (t.name and table.constructs(t.name) is not None)
            for t in targets
        )

    def _is_taken(self, site: CallSite) -> bool:
        """Whether what is called is of knowledge and neither keeps what it is given nor puts anything into it."""
        return any(entry.does in ("pure", "wait", "log") for _, entry in self.program.described(site, doing("pure", "wait", "log")))

    def _is_start(self, site: CallSite) -> bool:
        return self._starts.get((site.fn.module.path, site.call.at)) is not None or any(
            kind.role in ("thread", "process") for kind in self._made_kinds(site)
        )

    def _made_kinds(self, site: CallSite) -> Iterator[TypeEntry]:
        table = self.resolver.table(site.fn.module)
        for target in self.program.targets(site):
            kind = table.constructs(target.name) if target.name else None
            if kind is not None:
                yield kind

    def _started_by(self, site: CallSite) -> tuple[Fun, ...]:
        started = self._starts.get((site.fn.module.path, site.call.at))
        if started is not None:
            return started
        return self._by_constructor.get((site.fn.module.path, site.call.at), ())

    @cached_property
    def _starts(self) -> dict[tuple[str, int], tuple[Fun, ...]]:
        """What each spawning call starts."""
        return {task.key: task.bodies for task in self.program.spawns}

    @cached_property
    def _by_constructor(self) -> dict[tuple[str, int], tuple[Fun, ...]]:
        """What a thread or process runs, by the call that constructs it."""
        out: dict[tuple[str, int], tuple[Fun, ...]] = {}
        for spawn in self.program.spawns:
            for holder in spawn.holders:
                if isinstance(holder.node, f.Node) and holder.frame is not None:
                    out[(holder.frame.fn.module.path, holder.node.at)] = spawn.bodies
        return out

    # ------------------------------------------------------------ one use

    def recurs(self, site: CallSite, pool: Pool) -> bool:
        """Whether a call that puts something into a pool may happen any number of times while others wait."""
        if self._endless_loop(site):
            return True
        looped = any(arm.kind in ("loop", "comp") for arm in site.arm.chain())
        if site.fn.head.kind == "module":
            # What a program does where it begins it does once.
            return False
        if pool.local:
            # A list that lies in memory makes no queue longer than itself.
            return site.fn is not pool.fn and not looped and not self._is_started(site.fn)
        entry = self.program.entries.get(family(site.fn))
        return not _ONCE.match(family(site.fn).name) and (entry is None or entry.kind != "startup")

    def _is_started(self, fn: Fun) -> bool:
        return any(fn in bodies for bodies in self._starts.values())

    def _endless_loop(self, site: CallSite) -> bool:
        """Whether a call stands in a loop that goes round as long as something comes in."""
        frame = self.resolver.frame(site.fn)
        for arm in site.arm.chain():
            node = arm.node
            if arm.kind != "loop" or not isinstance(node, f.Loop) or _ends_loop(site, node):
                continue
            if node.form in ("ever", "while"):
                return True
            if node.form == "each":
                kind = self.program.sizes.loop(node, frame).kind
                # What is waited for element by element is no list that lies in memory.
                if kind == "event" or (node.is_async and kind in ("parameter", "held", "unknown")):
                    return True
        return False

    def _is_periodic(self, site: CallSite) -> bool:
        """Whether a task is given once and then runs by the clock: a fixed number of them is no queue."""
        table = self.resolver.table(site.fn.module)
        if not any(row.kind == "job" and (row.call or "").endswith(f".{site.last}") for row in table.entries):
            return False
        return any(row.kind == "job" for t in self.program.targets(site) if t.name for row in table.registration(t.name))

    def _checked(self, site: CallSite, pool: Pool, sizes: frozenset[str]) -> bool:
        """Whether the length is tested before something is put, or behind it to hold back who puts."""
        for node in nodes(site.fn):
            if (
                isinstance(node, f.If | f.Loop)
                and node.test is not None
                and (node.at < site.call.at or _holds_back(node, site.call.end))
            ):
                for part in walk(node.test):
                    if (
                        isinstance(part, f.Bin)
                        and part.op in ("<", "<=", ">", ">=")
                        and any(_LIMIT.search(dotted(side).rpartition(".")[2]) for side in (part.left, part.right))
                    ):
                        return True
                    if isinstance(part, f.Call):
                        base, _, verb = dotted(part.fn).rpartition(".")
                        if verb in sizes and verb not in ("empty", "isEmpty") and _names(base, pool):
                            return True
                        if verb == "len" and part.args and _names(dotted(part.args[0].value), pool):
                            return True
        return False

    @cached_property
    def _verbs(self) -> dict[str, dict[str, frozenset[str]]]:
        """Last segments of the calls that put into a pool, take from it or tell its length."""
        out: dict[str, dict[str, frozenset[str]]] = {}
        for language in LANGUAGES:
            table = self.program.knowledge.of(language)
            calls = [(name.rpartition(".")[2], call) for lib in table.libraries for call in lib.calls for name in call.names]
            owners = {"put": set[str](), "take": set[str](), "size": set[str]()}
            for name, call in calls:
                if call.queue is not None and call.queue.op in owners:
                    owners[call.queue.op].add(name)
                # A client whose requests run on threads puts none into what code calls a queue: its `get` is no `put`.
                if call.spawn is not None and call.spawn.backlog != "none" and call.does != "network":
                    owners["put"].add(name)
            out[language] = {op: frozenset(names) for op, names in owners.items()}
        return out

    # ------------------------------------------------------------ verdicts

    def unbounded_threads(self) -> Iterator[Unbounded]:
        """Executors without a maximum of threads or tasks."""
        for pool in self.start_of_role("executor"):
            threads = self.ceiling(pool.obj, "concurrency")
            if threads.state != "endless" or self.ceiling(pool.obj, "capacity").state == "endless":
                continue  # threads are added only where the queue is full: an endless one keeps their number at the core's
            uses = self.uses(pool)
            if pool.kind.shared or not uses.may_grow or self._told(pool, self.program.setting_faults.unlimited_pools):
                continue
            sure = Confidence.LOW if uses.only_handed or self._is_unseen(pool, uses) else threads.confidence
            fix = self.program.mending.limited(pool.obj, "concurrency")
            yield endless_threads(self._span(pool), self._subject(pool), sure, self._steps(pool, threads, uses), fix=fix)
        for pool in self.connections:
            if not self.program.in_focus(pool.fn) or (pool.local and not _outlives(pool)):
                continue
            most = self.ceiling(pool.obj, "concurrency")
            if most.state == "endless":
                text = f"{self._subject(pool)} has no upper bound: while its peer is slow, every caller opens one more connection"
                fix = self.program.mending.limited(pool.obj, "concurrency")
                yield Unbounded(self._span(pool), text, most.confidence, self.program.trace(most.hops), None, fix)

    @staticmethod
    def _is_unseen(pool: Pool, uses: Uses) -> bool:
        """Whether nobody is seen who puts something into what a class of Java has for itself: all that is known is that it is given
        on, perhaps for one task at a time."""
        if pool.fn.module.language != "java" or not uses.escapes or any(use.recurs for use in uses.puts):
            return False
        return not pool.fn.head.decorators and (pool.kind.role == "queue" or pool.fn.head.is_private)

    def unbounded_queues(self) -> Iterator[Unbounded]:
        """Queues and backlogs of executors without a capacity, and buffers that nothing but success shortens."""
        from resilint.flow.buffers import growing_buffers

        for pool in self.start_of_role("executor", "queue"):
            room = self.ceiling(pool.obj, "capacity")
            if room.state != "endless" or pool.kind.shared:
                continue
            if pool.kind.role == "executor" and (self._of_part(room, pool) or not self.can_be_bounded(pool)):
                continue
            uses = self.uses(pool)
            if not uses.may_grow or (pool.kind.role == "queue" and (not self._waits(pool) or self._is_for_answers(pool))):
                continue
            if self._told(pool, self.program.setting_faults.unlimited_queues):
                continue
            subject = self._subject(pool)
            if pool.kind.role == "executor":
                subject = f"the backlog of {subject}"
            unseen = pool.kind.role == "queue" and bool(pool.name) and not pool.local and self._is_unseen(pool, uses)
            sure = Confidence.LOW if uses.only_handed or unseen else room.confidence
            # Threads are added where the queue is full: with a capacity their number has to have an end, too.
            ends = pool.kind.role == "queue" or self.ceiling(pool.obj, "concurrency").state == "finite"
            fix = self.program.mending.limited(pool.obj, "capacity") if ends else None
            yield endless_queue(self._span(pool), subject, sure, self._steps(pool, room, uses), fix=fix)
        yield from growing_buffers(self.program)

    def _is_for_answers(self, pool: Pool) -> bool:
        """Whether a queue is made for the request that it travels in: that is put into another queue, and answered through it."""
        if pool.fn.head.kind == "module" or (pool.name and not pool.local):
            return False

        def holds(expr: f.Expr) -> bool:
            return holds_call(expr, pool.site.call) or any(
                isinstance(n, f.Ref) and (_names(n.name, pool) if pool.name else False) for n in walk(expr)
            )

        def packs(expr: f.Expr | None) -> bool:
            return isinstance(expr, f.Call | f.Coll) and holds(expr)

        packed = {
            dotted(stmt.targets[0])
            for stmt, _ in pool.fn.body.stmts
            if isinstance(stmt, f.Assign) and len(stmt.targets) == 1 and stmt.value is not pool.site.call and packs(stmt.value)
        } - {""}
        for site in pool.fn.body.calls:
            if (
                site.last not in self._putting
                or _names(dotted(site.call.fn).rpartition(".")[0], pool)
                or self._goes_round(site, pool)
            ):
                continue
            if any(packs(a.value) or holds(a.value) or dotted(a.value) in packed for a in site.call.args):
                return True
        return False

    @staticmethod
    def _goes_round(site: CallSite, pool: Pool) -> bool:
        """Whether a call stands in a loop without an end of its own, around which the pool is made once."""
        loops = (arm.node for arm in site.arm.chain() if arm.kind == "loop")
        return any(
            isinstance(node, f.Loop) and node.form in ("ever", "while") and not node.at <= pool.site.call.at < node.end
            for node in loops
        )

    @cached_property
    def _putting(self) -> frozenset[str]:
        """Last segments of the calls that put an item into a queue; what gives work to an executor is none of them."""
        return frozenset().union(*(self.program.knowledge.of(language).lasts(_putting) for language in LANGUAGES))

    def _told(self, pool: Pool, faults: list[Fault]) -> bool:
        """Whether the settings say the same of a value that stands in the bean."""
        if not pool.fn.module.beans:
            return False
        head = pool.fn.head
        place = self.program.span(pool.fn.module.path, head.at, head.end)
        return any(x.span.path == place.path and place.line <= x.span.line <= place.end_line for x in faults)

    def _waits(self, pool: Pool) -> bool:
        """Whether a queue can make somebody wait for its items, as one between threads does; others are collections."""
        table = self.program.knowledge.of(pool.fn.module.language)
        for level in table.mro(pool.kind.name):
            for name in (level.name, *level.aliases):
                if any(
                    call.does == "wait"
                    for lib in table.libraries
                    for call in lib.calls
                    for n in call.names
                    if n.rpartition(".")[0] == name
                ):
                    return True
        return False

    def _of_part(self, room: Ceiling, pool: Pool) -> bool:
        """Whether the queue of an executor is made on its own and so found on its own."""
        return room.holder is not None and room.holder is not pool.obj and self.pool_of(room.holder) not in (None, pool)

    def _span(self, pool: Pool) -> Span:
        return self.program.span_of(pool.fn, pool.site.call)

    def _subject(self, pool: Pool) -> str:
        maker = dotted(pool.site.call.fn).partition("<")[0] or pool.site.last
        return f"`{pool.last}` ({maker})" if pool.name else f"`{maker}`"

    def _steps(self, pool: Pool, ceiling: Ceiling, uses: Uses) -> Iterator[Step]:
        yield from self.program.trace(ceiling.hops)
        shown = [use for use in uses.puts if use.recurs][:_SHOWN]
        for use in shown:
            word = "tasks are given to it" if pool.kind.role == "executor" else "items are put into it"
            yield self.program.step(use.site.fn, use.site.call, f"{word} here")


# ---------------------------------------------------------------- names and places


def _outlives(pool: Pool) -> bool:
    """Whether a local variable's pool goes on beyond its function: in what that returns, or in a field."""
    for stmt in walk_block(pool.fn.block):
        kept = isinstance(stmt, f.Return) or (isinstance(stmt, f.Assign) and any("." in dotted(target) for target in stmt.targets))
        if kept and any(isinstance(node, f.Ref) and node.name == pool.name for node in walk(stmt)):
            return True
    return False


def _never_waits(kind: TypeEntry) -> bool:
    """Whether it is a pool of connections that opens one more for whoever asks, up to a limit at which it fails."""
    return kind.role == "pool" and kind.when_full == "fails" and any(bound.slot == "concurrency" for bound in kind.bounds)


def _makers(table: Table, wanted: Callable[[TypeEntry], bool]) -> tuple[frozenset[str], frozenset[str]]:
    """Last segments of what makes a pool, and the modules of the libraries that have one."""
    names: set[str] = set()
    modules: set[str] = set()
    for library in table.libraries:
        for kind in library.types:
            if wanted(kind):
                names.update(x.rpartition(".")[2] for x in (kind.name, *kind.aliases, *kind.made_by))
                modules.update(library.modules)
        for call in library.calls:
            made = table.type(call.returns) if call.returns is not None else None
            if made is not None and wanted(made) and call.does == "make":
                names.update(x.rpartition(".")[2] for x in call.names)
                modules.update(library.modules)
    return frozenset(names), frozenset(modules)


def _speaks_of(module: Module, modules: frozenset[str], makers: frozenset[str]) -> bool:
    """Whether a file imports a library of pools, or spells one out, or imports a maker from elsewhere."""
    if not modules.isdisjoint(module.imported) or any(imp.name in makers for imp in module.facts.imports):
        return True
    return any(call.startswith(tuple(f"{m}." for m in modules)) for fn in module.functions for call in fn.head.calls if "." in call)


def _writable(row: Bound) -> bool:
    return any(
        x is not None
        for x in (row.arg, row.pos, row.field, row.setter, row.option, row.key, row.class_attr, row.annotation, row.setting)
    )


def _kept(site: CallSite) -> tuple[str, bool]:
    """The variable or field in which a call's result is kept, and whether it is a local one."""
    stmt, fn = site.stmt, site.fn
    value = stmt.value if isinstance(stmt, f.Assign) else None
    while isinstance(value, f.Cast | f.Let | f.Await):
        value = value.value
    if value is site.call and isinstance(stmt, f.Assign):
        for target in stmt.targets:
            # Go: `pool, err := NewPool(8)`
            name = dotted(target.items[0].value if isinstance(target, f.Coll) and target.items else target)
            if name:
                outer = name in fn.body.outer_names
                return name, "." not in name and fn.head.kind != "module" and not outer and name in fn.body.definitions
    if isinstance(stmt, f.With):
        for item in stmt.items:
            if item.value is site.call and item.target is not None and dotted(item.target):
                return dotted(item.target), True
    for new, _, _ in fn.body.news:
        for pair in new.fields:
            if pair.value is site.call and isinstance(pair.key, f.Ref):
                return f"{new.type.name}.{pair.key.name}", False
    for klass in fn.module.classes:
        for declared in klass.decl.fields:
            init = declared.init
            while isinstance(init, f.Cast):
                init = init.value
            if init is not None and (init.at, init.end) == (site.call.at, site.call.end):
                return f"this.{declared.name}", False
    return "", False


def _ends_loop(site: CallSite, loop: f.Loop) -> bool:
    """Whether a loop is over once a call in it has been made: what follows leaves, or gives its test a value that ends it."""
    after = [stmt for stmt, arm in site.fn.body.stmts if arm is site.arm and stmt.at > site.stmt.at]
    inner = [arm.node for arm in site.arm.chain() if arm.kind == "loop"]
    if not inner or inner[-1] is not loop:
        return False
    for stmt in after:
        if isinstance(stmt, f.Return) or (isinstance(stmt, f.Jump) and stmt.kind == "break"):
            return True
        if isinstance(stmt, f.Assign) and not stmt.op and isinstance(stmt.value, f.Lit) and loop.test is not None:
            name, test, value = dotted(stmt.targets[0]), loop.test, stmt.value.value
            if isinstance(test, f.Ref) and test.name == name:
                return not value
            if isinstance(test, f.Un) and test.op == "not" and dotted(test.value) == name:
                return bool(value)
            if isinstance(test, f.Bin) and dotted(test.left) == name and isinstance(test.right, f.Lit):
                return test.op == ">" and _at_most(value, test.right.value)
    return False


def _at_most(left: object, right: object) -> bool:
    return isinstance(left, int | float) and isinstance(right, int | float) and left <= right


def _names(text: str, pool: Pool) -> bool:
    """Whether a dotted name, as written anywhere in reach, is the pool's."""
    return bool(text) and (text == pool.name if pool.local else text.rpartition(".")[2] == pool.last)


def _method(fn: Fun) -> Fun:
    """The function itself, or the method it is written in."""
    while fn.parent is not None and fn.head.owner < 0 and not fn.head.receiver:
        fn = fn.parent
    return fn


def _own_field(text: str, fn: Fun) -> str:
    """The field of the own object that a name as written is; empty if it is none."""
    head, _, rest = text.partition(".")
    return rest if head in {p.name for p in _method(fn).head.params if p.kind == "self"} and "." not in rest else ""


def _is_end(site: CallSite) -> bool:
    """Whether nothing is put, or a constant where something is brought to an end: it tells who takes that no more comes."""
    args = site.call.args
    given = args[0].value if len(args) == 1 else None
    return isinstance(given, f.Lit) and (given.value is None or _ENDS.match(site.fn.name) is not None)


def _holds_back(node: f.If | f.Loop, after: int) -> bool:
    """Whether something is done where a test behind a place holds, more than to tell of it."""
    block = node.then if isinstance(node, f.If) else node.body
    calls = (n for n in walk_block(block) if isinstance(n, f.Call))
    return node.at >= after and any(not SAYS.search(dotted(call.fn)) for call in calls)


def _mentions(expr: f.Expr, pool: Pool) -> bool:
    return any(isinstance(node, f.Ref) and _names(node.name, pool) for node in walk(expr))


def _makes(node: f.Ref, pool: Pool) -> bool:
    return pool.site.stmt.at <= node.at < pool.site.stmt.end


def _inside(fn: Fun, home: Fun) -> bool:
    parent = fn.parent
    while parent is not None:
        if parent is home:
            return True
        parent = parent.parent
    return False
