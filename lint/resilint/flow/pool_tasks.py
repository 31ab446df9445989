"""Work that runs on executors: which one runs it, what it waits for there, and who else needs the same threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.pools import LANGUAGES, Pool
from resilint.flow.spawns import Spawn, holds_call, names_given
from resilint.flow.values import Bind, Null, Obj
from resilint.knowledge.index import doing, spawning
from resilint.knowledge.schema import SpawnRow, TypeEntry
from resilint.link.code import CallSite, Fun, dotted, walk
from resilint.model import Confidence, Span, Step

if TYPE_CHECKING:
    from resilint.program import Program

_DEEP = 5
_MANY = 80


@dataclass(eq=False)
class Task:
    """Work given to an executor: by which call, and to which one."""

    spawn: Spawn
    pool: Pool | None = None
    """The executor, where this program makes it."""
    shared: TypeEntry | None = None
    """Its type, where it is one for the whole process."""
    steps: tuple[Step, ...] = ()

    @property
    def fn(self) -> Fun:
        """The function that gives it."""
        return self.spawn.fn

    @property
    def site(self) -> CallSite:
        """The call that gives it."""
        return self.spawn.site

    def rests_on(self) -> Iterator[Fun]:
        """The functions that it runs, and those that make its executor."""
        yield from self.spawn.rests_on()
        if self.pool is not None:
            yield self.pool.fn


@dataclass(eq=False)
class PoolFault:
    """Something wrong with the way an executor or gate is used."""

    span: Span
    text: str
    confidence: Confidence
    steps: tuple[Step, ...] = ()


@dataclass(eq=False)
class Reached:
    """A function that runs inside a task, and the calls that lead to it."""

    fn: Fun
    steps: tuple[Step, ...] = field(default=())


class PoolTasks:
    """Finds what is given to executors and what goes wrong there."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.pools = program.pools
        self._inner: dict[Fun, tuple[tuple[CallSite, Fun], ...]] = {}

    # ------------------------------------------------------------ tasks

    @cached_property
    def all(self) -> tuple[Task, ...]:
        """Everything that is given to an executor, in order of path and position."""
        return self.program.gathered("tasks", self._find_all, lambda task: (task.fn.module.path,), Task.rests_on, self._found_again)

    def _found_again(self, task: Task) -> Iterator[Task]:
        """What a call gives to executors, after its work or they have changed."""
        known = next((s for s in self.program.spawns if s.site.call is task.site.call), None)
        spawn = known or self.program.spawning.of_site(task.site)
        if spawn is not None:
            yield from self._tasks(spawn)

    def _find_all(self) -> Iterator[Task]:
        spawns = {(s.fn.module.path, s.site.call.at, s.site.call.end): s for s in self.program.start_spawns}
        for site in self._further():
            place = (site.fn.module.path, site.call.at, site.call.end)
            spawn = self.program.spawning.of_site(site) if place not in spawns else None
            if spawn is not None:
                spawns[place] = spawn
        return (task for _, spawn in sorted(spawns.items()) for task in self._tasks(spawn))

    def _further(self) -> Iterator[CallSite]:
        """Calls that may give a task to an executor of another file: where the library is not imported, by the executor's name."""
        names = {pool.last for pool in self.pools.of_role("executor") if pool.name and not pool.local}
        near = self.program.spawning.near
        for language in LANGUAGES:
            libraries = self.program.knowledge.of(language).libraries
            spawning = [call for library in libraries for call in library.calls if call.spawn is not None]
            verbs = frozenset(name.rpartition(".")[2] for call in spawning for name in call.names)
            for fn in self.program.starts(language):
                everything = language == "java" and near(fn.module)
                if fn.module.is_test or (language != "java" and near(fn.module)):
                    continue
                if any(_is_given(call, verbs, names, everything) for call in fn.head.calls):
                    yield from (s for s in fn.body.calls if _is_given(dotted(s.call.fn) or f".{s.last}", verbs, names, everything))

    def _tasks(self, spawn: Spawn) -> Iterator[Task]:
        seen: set[Pool | str] = set()
        for target, entry in self.program.described(spawn.site, spawning):
            if entry.spawn is None:
                continue
            for thing in self._executors(entry.spawn, target.binds, target.holder):
                if isinstance(thing, Obj):
                    kind = self._kind(thing, spawn.fn)
                    if kind is None or kind.role != "executor":
                        continue
                    pool = self.pools.pool_of(thing)
                    key: Pool | str = pool if pool is not None else kind.name
                    if key not in seen:
                        seen.add(key)
                        yield Task(spawn, pool, kind if kind.shared or kind.event_loop else None)
                else:
                    shared = self.resolver.table(spawn.fn.module).instance(thing)
                    if shared is not None and thing not in seen:
                        seen.add(thing)
                        yield Task(spawn, None, shared)

    def _kind(self, obj: Obj, fn: Fun) -> TypeEntry | None:
        return self.resolver.table(fn.module).type(self.resolver.external_type(obj))

    def _executors(self, row: SpawnRow, binds: tuple[Bind, ...], holder: Obj | None) -> Iterator[Obj | str]:
        """What runs it: an object, or the canonical name of a default."""
        if row.executor is not None:
            plain = [b for b in binds if b.name is None and not b.spread]
            if row.executor < len(plain):
                bind = plain[row.executor]
                flows = self.resolver.ask(bind.expr, bind.frame)
                for flow in flows:
                    if isinstance(flow.thing, Obj):
                        yield flow.thing
                    elif isinstance(flow.thing, Null) and row.default_executor is not None and len(flows) == 1:
                        yield row.default_executor
                return
            if any(b.spread for b in binds):
                return
        if row.executor_arg is not None and (given := [b for b in binds if b.name == row.executor_arg or b.spread == 2]):
            named = (bind for bind in given if not bind.spread)
            yield from (x.thing for bind in named for x in self.resolver.ask(bind.expr, bind.frame) if isinstance(x.thing, Obj))
            return
        if row.default_executor is not None:
            yield row.default_executor
        elif holder is not None:
            yield holder

    # ------------------------------------------------------------ what runs inside

    def inside(self, spawn: Spawn) -> Iterator[Reached]:
        """The functions that a task runs on its own thread, itself and by calls, nearest first."""
        return self.run_by(spawn.bodies)

    def run_by(self, bodies: tuple[Fun, ...]) -> Iterator[Reached]:
        """These functions and those that they run on their own thread, nearest first."""
        seen: set[Fun] = set(bodies)
        waiting = deque((Reached(body), 0) for body in bodies)
        while waiting:
            reached, depth = waiting.popleft()
            yield reached
            if depth >= _DEEP or len(seen) > _MANY:
                continue
            for site, callee in self.calls(reached.fn):
                if callee not in seen:
                    seen.add(callee)
                    step = self.program.step(reached.fn, site.call, f"{reached.fn.head.qual} calls {callee.head.qual}")
                    waiting.append((Reached(callee, (*reached.steps, step)), depth + 1))

    def calls(self, fn: Fun) -> tuple[tuple[CallSite, Fun], ...]:
        """What a function calls and runs itself: what it only starts is left out."""
        found = self._inner.get(fn)
        if found is None:
            out: dict[Fun, CallSite] = {}
            for site in fn.body.calls:
                if site.how == "go":
                    continue
                if not site.last or site.last in self._own_names:
                    for callee in self.program.callees(site):
                        if not (callee.head.is_async and not site.awaited):
                            out.setdefault(callee, site)
                literals = [a.value for a in site.call.args if isinstance(a.value, f.Fn)]
                if literals and (fn.module.path, site.call.at) not in self._starting:
                    for literal in literals:
                        out.setdefault(fn.module.functions[literal.index], site)
            found = self._inner[fn] = tuple((site, callee) for callee, site in out.items())
        return found

    @cached_property
    def _own_names(self) -> frozenset[str]:
        return self.program.own_names

    @cached_property
    def _starting(self) -> frozenset[tuple[str, int]]:
        """Places of calls that start something beside their caller."""
        return frozenset((t.fn.module.path, t.site.call.at) for t in self.all) | frozenset(s.key for s in self.program.spawns)

    # ------------------------------------------------------------ a task that waits for another of its pool

    def nested_waits(self) -> Iterator[PoolFault]:
        """Tasks that wait for a task of the pool they run on themselves."""
        by_fn: dict[Fun, list[Task]] = {}
        for task in self.all:
            if task.pool is not None and not self.program.is_test(task.fn):
                by_fn.setdefault(task.fn, []).append(task)
        found: dict[tuple[str, int], PoolFault] = {}
        for outer in self.all:
            pool = outer.pool
            if pool is None or not self._in_focus(outer) or pool.kind.helps or pool.kind.event_loop:
                continue
            if outer.fn.head.is_async and outer.spawn.unit == "task":
                continue
            if self.program.is_test(outer.fn) or self.pools.ceiling(pool.obj, "concurrency").state == "endless":
                continue
            for reached in self.inside(outer.spawn):
                for inner in by_fn.get(reached.fn, ()):
                    if inner.pool is not pool or inner.spawn.key in found or reached.fn.head.is_async:
                        continue
                    join = self.join_of(inner)
                    if join is not None:
                        found[inner.spawn.key] = self._nested(outer, inner, reached, join)
        for fault in self._waits_of_workers():
            found.setdefault((fault.span.path, fault.span.line), fault)
        yield from (found[key] for key in sorted(found))

    def _waits_of_workers(self) -> Iterator[PoolFault]:
        """Tasks of a queue outside the process that give it another one and wait for what that gives."""
        given = {
            language: frozenset(
                name.rpartition(".")[2]
                for x in self.program.knowledge.of(language).libraries
                for c in x.calls
                if c.does == "submit" and c.protocol is not None
                for name in c.names
            )
            for language in LANGUAGES
        }
        for fn, entry in sorted(self.program.entries.items(), key=lambda item: item[0].key):
            if entry.kind != "worker" or self.program.is_test(fn) or not self.program.in_focus(fn):
                continue
            for reached in self.run_by((fn,)):
                verbs = given[reached.fn.module.language]
                if not any(called.rpartition(".")[2] in verbs for called in reached.fn.head.calls):
                    continue
                for site in reached.fn.body.calls:
                    fault = self._waits_for_worker(site, fn, reached)
                    if fault is not None:
                        yield fault

    def _waits_for_worker(self, site: CallSite, fn: Fun, reached: Reached) -> PoolFault | None:
        if site.last not in self._joining[site.fn.module.language]:
            return None
        table = self.resolver.table(site.fn.module)
        for target, entry in self.program.described(site, doing("wait")):
            holder = target.holder
            if entry.does != "wait" or holder is None or holder.frame is None or not isinstance(holder.node, f.Call):
                continue
            made = table.call(holder.maker) if holder.maker else None
            if made is None or made.does != "submit" or made.protocol is None:
                continue
            # Another queue may have workers of its own.
            if any(arg.name in ("queue", "queue_name", "routing_key", "exchange") or arg.spread for arg in holder.node.args):
                continue
            what = dotted(holder.node.fn).rpartition(".")[0] or dotted(holder.node.fn)
            text = (
                f"{fn.head.qual} runs on a worker and waits there for another task, `{what}`:"
                " when all workers do so, none is left to run it"
            )
            steps = (
                self.program.step(fn, f.Ref(fn.head.name_at, fn.head.name_at + len(fn.name.encode()), ""), entry_said(fn)),
                *reached.steps,
                self.program.step(holder.frame.fn, holder.node, "the other task is given here"),
            )
            return PoolFault(self.program.span_of(reached.fn, site.call), text, Confidence.MEDIUM, steps)
        return None

    def _in_focus(self, task: Task) -> bool:
        """Whether a finding may begin with a task: it, or what it runs, lies in focus."""
        return self.program.in_focus(task.fn) or any(map(self.program.in_focus, task.spawn.bodies))

    def _nested(self, outer: Task, inner: Task, reached: Reached, join: Step) -> PoolFault:
        pool = outer.pool
        assert pool is not None
        threads = self.pools.ceiling(pool.obj, "concurrency")
        many = f"all {threads.number:g} threads" if threads.number is not None and threads.written else "all threads"
        if threads.number == 1:
            many = "its only thread"
        name = pool.last or pool.site.last
        does = "does" if threads.number == 1 else "do"
        text = f"this runs on `{name}` and waits for another task of `{name}`: when {many} {does} so, none is left to run it"
        steps = (
            self.program.step(pool.fn, pool.site.call, f"`{name}` is made here"),
            self.program.step(outer.fn, outer.site.call, f"{outer.spawn.bodies[0].head.qual} runs on `{name}`"),
            *reached.steps,
            join,
        )
        # Given once, it can fill one thread only: others may be left, but who knows what else runs there.
        sure = Confidence.HIGH if threads.number == 1 or self.pools.recurs(outer.site, pool) else Confidence.LOW
        return PoolFault(self.program.span_of(inner.fn, inner.site.call), text, sure, steps)

    def join_of(self, task: Task) -> Step | None:
        """Where the function that gives a task waits for it, itself or in what it calls."""
        spawn, fn = task.spawn, task.fn
        if spawn.row.joins:
            return self.program.step(fn, spawn.site.call, "it returns only when the task is done")
        returned = isinstance(spawn.site.stmt, f.Return) and spawn.site.stmt.value is spawn.site.call
        if spawn.row.each is not None and not spawn.dropped and not returned:
            return self.program.step(fn, spawn.site.call, "its results are waited for here")
        names = names_given(spawn.site)
        aliases = self._aliases(fn, names)
        here = (fn.module.path, spawn.site.call.at, spawn.site.call.end)
        for site in fn.body.calls:
            if site.call.at <= spawn.site.call.at and not (
                site.call.at <= spawn.site.call.at and spawn.site.call.end < site.call.end
            ):
                continue
            if site is spawn.site:
                continue
            if self._waits_for(site, here, names) or self._asks(site, aliases, spawn) or self._counts_down(site, spawn):
                return self.program.step(fn, site.call, f"{fn.head.qual} waits for it")
            given = [a.value for a in site.call.args]
            handed = [_mentions(value, aliases) or holds_call(value, spawn.site.call) for value in given]
            if any(handed):
                for callee in self.program.callees(site):
                    inside = {p.name for p, is_it in zip(callee.positional, handed, strict=False) if is_it}
                    for inner in callee.body.calls:
                        if self._waits_for(inner, here, inside):
                            return self.program.step(callee, inner.call, f"{callee.head.qual} waits for it")
        return None

    def _waits_for(self, site: CallSite, here: tuple[str, int, int], names: set[str]) -> bool:
        """Whether a call waits for the result that was made at a place, or for what a name holds."""
        if site.last not in self._joining[site.fn.module.language]:
            return False
        aliases = self._aliases(site.fn, names) if names else set()
        for target, entry in self.program.described(site, doing("wait")):
            if entry.does != "wait":
                continue
            holder = target.holder
            if _place(holder) == here:
                return True
            if names and self._is_join(target.name, site.fn):
                base = dotted(site.call.fn).rpartition(".")[0]
                if base in aliases or any(_mentions(a.value, aliases) for a in site.call.args):
                    return True
        return False

    def _asks(self, site: CallSite, aliases: set[str], spawn: Spawn) -> bool:
        """Whether a call on a name that holds what the spawn gave is one that waits, by the type that spawn gives."""
        if dotted(site.call.fn).rpartition(".")[0] not in aliases:
            return False
        table = self.resolver.table(site.fn.module)
        given = table.returned(spawn.api)
        row = table.call(f"{given}.{site.last}") if given else None
        return row is not None and row.does == "wait"

    def _counts_down(self, site: CallSite, spawn: Spawn) -> bool:
        """Whether a call waits for a counter that the task itself counts down: `wg.Wait()` over `wg.Done()`."""
        base = dotted(site.call.fn).rpartition(".")[0]
        if not base or site.how or site.last not in self._joining[site.fn.module.language]:
            return False
        if not any(dotted(inner.call.fn).startswith(f"{base}.") for body in spawn.bodies for inner in body.body.calls):
            return False
        return any(
            entry.does == "wait"
            and (kind := self.resolver.table(site.fn.module).type(target.name.rpartition(".")[0])) is not None
            and kind.role in ("group", "event")
            for target, entry in self.program.described(site, doing("wait"))
        )

    def _is_join(self, name: str, fn: Fun) -> bool:
        """Whether a call waits for results of work, not for a lock or the next item of a queue."""
        kind = self.resolver.table(fn.module).type(name.rpartition(".")[0])
        return kind is None or kind.role in ("future", "executor")

    @staticmethod
    def _aliases(fn: Fun, names: set[str]) -> set[str]:
        """The names themselves, and those of the elements that loops take out of them."""
        out = set(names)
        for name, defs in fn.body.definitions.items():
            if any(d.kind == "each" and d.expr is not None and _mentions(d.expr, names) for d in defs):
                out.add(name)
        return out

    @cached_property
    def _joining(self) -> dict[str, frozenset[str]]:
        """Last segments of calls that wait."""
        out: dict[str, frozenset[str]] = {}
        for language in LANGUAGES:
            libraries = self.program.knowledge.of(language).libraries
            out[language] = frozenset(n.rpartition(".")[2] for x in libraries for c in x.calls if c.does == "wait" for n in c.names)
        return out


def entry_said(fn: Fun) -> str:
    """For a trace: that a function is what a worker runs."""
    return f"a worker runs {fn.head.qual}"


def _is_given(called: str, verbs: frozenset[str], names: set[str], everything: bool) -> bool:
    base, _, verb = called.rpartition(".")
    return verb in verbs and (everything or base.rpartition(".")[2] in names)


def _place(obj: Obj | None) -> tuple[str, int, int] | None:
    """Where an object was made."""
    if obj is None or not isinstance(obj.node, f.Node) or obj.frame is None:
        return None
    return (obj.frame.fn.module.path, obj.node.at, obj.node.end)


def _mentions(expr: f.Expr, names: Iterable[str]) -> bool:
    wanted = set(names)
    return any(isinstance(node, f.Ref) and node.name in wanted for node in walk(expr))
