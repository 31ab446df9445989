"""Waits on threads that everybody needs: an event loop, or an executor that the whole process shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.once import ONCE, is_asked_for
from resilint.flow.pool_tasks import PoolFault, Task
from resilint.flow.reach import Reach as NameReach
from resilint.flow.schemes import leads_nowhere
from resilint.flow.spawns import WAITS, Reach, Spawn, short
from resilint.flow.values import FnVal, Obj
from resilint.flow.waits import METHODS_OF_BUILTINS, CoroutineNames
from resilint.knowledge.schema import CallEntry, TypeEntry
from resilint.link.code import CallSite, Fun, conjuncts, dotted, last_name, leaves, walk, walk_block
from resilint.model import Confidence, Step

if TYPE_CHECKING:
    from resilint.program import Program, Target

_BLOCKS = ("network", "query", "connect", "sleep")
_SLOW = 0.1
"""Seconds for which a callback may hold its loop before asyncio's debug mode logs it: `loop.slow_callback_duration`."""
_CALLS = 3
"""How many calls below a coroutine a wait is sought."""
_FAR = 3
"""How many calls above a coroutine the start of the program is sought."""

_COLLECTS = frozenset({"join", "wait", "communicate", "result"})
"""Methods that give at once what has ended already."""
_WINDOWS = re.compile(r"_*(?:(?:is|on|running_on)_?)?(?:windows|win32|win)", re.IGNORECASE)
_WINDOWS_IS_CALLED = frozenset({"win32", "cygwin", "nt", "windows", "win"})

Way = tuple[str, tuple[Step, ...]]
"""What waits, and the calls that lead to it."""


def _is_handed_in(called: str, fn: Fun) -> bool:
    """Whether a function runs what it, or the function around it, was given."""
    scope: Fun | None = fn if "." not in called else None
    while scope is not None:
        if called in scope.params:
            return True
        scope = scope.parent
    return False


class Blocking:
    """Finds waits that hold up more than their own work."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._ways: dict[tuple[Fun, int, str], Way | None] = {}
        self._once: dict[tuple[Fun, int], bool] = {}

    def faults(self) -> Iterator[PoolFault]:
        """Every one of them, in order of path and position."""
        found = [*self._on_loops(), *self._on_shared(), *self._annotated()]
        yield from sorted(found, key=lambda fault: (fault.span, fault.text))

    # ------------------------------------------------------------ event loops

    def _on_loops(self) -> Iterator[PoolFault]:
        for fn in self.program.starts("python"):
            if not fn.head.is_async or self.program.is_test(fn):
                continue
            if not any(self._worth(call, fn) for call in fn.head.calls):
                continue
            for site in fn.body.calls:
                if site.awaited or not self._worth(dotted(site.call.fn) or "." + site.last, fn) or _under_async(site):
                    continue
                way = self._way_of(site, _CALLS, "")
                if way is not None:
                    nobody = self._runs_once(fn, _FAR) or self._is_alone(fn, site)
                    yield self._on_loop(fn, site, way, Confidence.LOW if nobody else Confidence.HIGH)

    def _runs_once(self, fn: Fun, far: int) -> bool:
        """Whether a coroutine runs while the program starts or ends, when nobody else waits for the loop: its name or a framework
        says so, or all that call it do."""
        entry = self.program.entries.get(fn)
        if entry is not None and entry.kind == "startup":
            return True
        if ONCE.match(fn.name) is not None:
            return not is_asked_for(self.program, fn)
        if entry is not None and entry.kind != "worker":
            return False
        # How far it is asked is part of the question: what is found from afar is no answer to what is asked from near.
        if (fn, far) not in self._once:
            self._once[fn, far] = far > 0 and self._called_once(fn, far)
        return self._once[fn, far]

    def _is_alone(self, fn: Fun, site: CallSite) -> bool:
        """Whether a coroutine has its loop for itself up to a call: loops are run for it alone, and nothing was started before."""
        callers, _ = self.resolver.callers(fn)
        if not callers or any(x.call.at < site.call.at and (x.how or self.program.callees(x)) for x in fn.body.calls if x.awaited):
            return False
        if any(spawn.site.call.at < site.call.at for spawn in self._spawned.get(fn, ())):
            return False
        return all(self._runs_loop(caller.fn, called) for caller, called, _, _ in callers)

    def _runs_loop(self, fn: Fun, called: CallSite) -> bool:
        """Whether what a call gives is run to its end by a loop that is there for it."""
        outer = (site for site in fn.body.calls if any(arg.value is called.call for arg in site.call.args))
        return not fn.head.is_async and any(
            entry.spawn is not None and entry.spawn.joins and entry.spawn.target == 0 and entry.spawn.default_executor is None
            for site in outer
            for _, entry in self.program.described(site)
        )

    @cached_property
    def _spawned(self) -> dict[Fun, list[Spawn]]:
        found: dict[Fun, list[Spawn]] = {}
        for spawn in self.program.spawns:
            found.setdefault(spawn.fn, []).append(spawn)
        return found

    def _called_once(self, fn: Fun, far: int) -> bool:
        callers, whole = self.resolver.callers(fn)
        if not callers or not (whole or fn.name.startswith("_")):
            if fn.parent is None or fn.head.decorators or self.resolver.handed_over(fn):
                return False  # Who is handed a function calls it as often as it likes.
            return fn.parent.head.kind != "module" and self._runs_once(fn.parent, far - 1)
        return all(caller.fn.head.kind != "module" and self._runs_once(caller.fn, far - 1) for caller, _, _, _ in callers)

    def _on_loop(self, fn: Fun, site: CallSite, way: Way, sure: Confidence) -> PoolFault:
        api, steps = way
        called = self.program.text_of(fn, site.call.fn, 40)
        how = f"`{called}` blocks" if not steps else f"`{called}` waits in {short(api)} and blocks"
        text = f"{how} the event loop: until it returns, nothing else on this loop goes on"
        return PoolFault(self.program.span_of(fn, site.call), text, sure, steps)

    def _worth(self, called: str, fn: Fun) -> bool:
        """Whether a call may block, as far as the names in headers say."""
        if self._may_block(called, fn) or _is_handed_in(called, fn):
            return True
        targets = self._blocked_by_name.get(called.rpartition(".")[2], ())
        return any(self._by_names.may_mean(called.lstrip("."), target, fn) for target in targets)

    def _may_block(self, called: str, fn: Fun) -> bool:
        last = called.rpartition(".")[2]
        if last in self._joining_names and (last not in METHODS_OF_BUILTINS or called.partition(".")[0] in fn.module.imports):
            return True
        return last in self._blocking_names and (called.startswith(".") or self._by_names.may_be(called, fn))

    @cached_property
    def _by_names(self) -> NameReach:
        return self.program.reach("python", WAITS)

    @cached_property
    def _blocked(self) -> frozenset[Fun]:
        """Functions that may block, themselves or in what they call, by names alone: plain ones of the program."""
        return self.program.kept("blocked", self._find_blocked, self._renew_blocked)

    def _renew_blocked(self, known: frozenset[Fun]) -> frozenset[Fun]:
        """The same after files have changed; what calls their functions elsewhere is left as it was."""
        found = {fn for fn in known if not self.program.in_focus(fn)}
        named = {fn.name for fn in found}
        own = [fn for fn in self.program.starts("python") if not fn.head.is_async and not fn.head.is_generator]
        grown = True
        while grown:
            grown = False
            for fn in own:
                if fn not in found and any(
                    called.rpartition(".")[2] in named or self._may_block(called, fn) or _is_handed_in(called, fn)
                    for called in fn.head.calls
                ):
                    found.add(fn)
                    named.add(fn.name)
                    grown = True
        return frozenset(found)

    def _find_blocked(self) -> frozenset[Fun]:
        plain = [fn for fn in self.program.functions("python") if not fn.head.is_async and not fn.head.is_generator]
        users: dict[str, list[Fun]] = {}
        known = frozenset(plain)
        for name, callers in self.program.names.callers_of.items():
            users[name] = [fn for fn in callers if fn in known]
        level = {fn for fn in plain if any(self._may_block(called, fn) or _is_handed_in(called, fn) for called in fn.head.calls)}
        found = set(level)
        for _ in range(_CALLS):
            names = {fn.name for fn in level}
            level = {user for name in names for user in users.get(name, ()) if user not in found}
            found |= level
        return frozenset(found)

    @cached_property
    def _blocked_by_name(self) -> dict[str, list[Fun]]:
        out: dict[str, list[Fun]] = {}
        for fn in self._blocked:
            owner = self.resolver.owner(fn) if fn.name == "__init__" else None
            if fn.head.kind != "lambda":
                out.setdefault(owner.name if owner is not None else fn.name, []).append(fn)
        return out

    def _way_of(self, site: CallSite, depth: int, around: str) -> Way | None:
        """How a call comes to wait on the thread that makes it; `around` is the name by which its function was called."""
        if site.how or _is_short(site) or _is_for_threads(site) or _is_last(site) or is_for_windows(site):
            return None
        way = self._way_at(site, depth, around)
        return way if way is not None and not self._is_for_one_thread(site) else None

    def _way_at(self, site: CallSite, depth: int, around: str) -> Way | None:
        if self._may_block(dotted(site.call.fn) or "." + site.last, site.fn):
            for target, entry in self.program.described(site):
                if self._blocks(target, entry, site) and not (_has_ended(site) and site.last in _COLLECTS):
                    return target.name, ()
        if depth <= 0 or (site.last not in self._blocked_by_name and not _is_handed_in(dotted(site.call.fn), site.fn)):
            return None
        callees = self.program.callees(site)
        if len(callees) > 1 and _is_wrapped(site):
            # A decorator's wrapper runs the function in whose place it was called, not all that are decorated.
            callees = [callee for callee in callees if callee.name == around]
        for callee in callees:
            # What tests and examples do in the place of a method, the service does not.
            if callee not in self._blocked or (callee.module.is_test and not site.fn.module.is_test):
                continue
            way = self._way_in(callee, depth - 1, site.last)
            if way is not None and not (_has_ended(site) and way[0].rpartition(".")[2] in _COLLECTS):
                return way
        return None

    def _is_for_one_thread(self, site: CallSite) -> bool:
        """Whether a test around a call asks which thread or loop runs it, or it is what is done where there is no loop: whoever
        wrote that knows when it may wait."""
        for arm in site.arm.chain():
            if isinstance(arm.node, f.If) and any(self._identifies(expr, site.fn) for expr in self._behind(arm.node.test, site.fn)):
                return True
            if isinstance(arm.node, f.If) and self._has_no_executor(arm.node.test, arm.kind == "then", site.fn):
                return True
            if isinstance(arm.node, f.Try) and arm.kind == "handler":
                tried = (x.call for x in site.fn.body.calls if any(a.kind == "try" and a.node is arm.node for a in x.arm.chain()))
                if any(self._identifies(call, site.fn) for call in tried):
                    return True
        return False

    def _has_no_executor(self, test: f.Expr, holds: bool, fn: Fun) -> bool:
        """Whether a branch is taken where the program has been told to do without the executor that it else gives this work to."""
        if isinstance(test, f.Un) and test.op == "not":
            return self._has_no_executor(test.value, not holds, fn)
        if isinstance(test, f.Bin) and test.op in ("is", "is not", "==", "!="):
            if not (isinstance(test.right, f.Lit) and test.right.value is None):
                return False
            asked, none = test.left, (test.op in ("is", "==")) == holds
        else:
            asked, none = test, not holds
        if not none or not isinstance(asked, f.Ref):
            return False
        # A field that holds an executor is told by its name: whose object it is, callers outside may decide.
        return asked.name.rpartition(".")[2] in self._executors

    @cached_property
    def _executors(self) -> frozenset[str]:
        """Names of fields that hold an executor."""
        return frozenset(pool.last for pool in self.program.pools.of_role("executor") if "." in pool.name)

    def _behind(self, test: f.Expr, fn: Fun) -> Iterator[f.Expr]:
        """A test, and what its variables hold."""
        yield test
        for node in walk(test):
            if isinstance(node, f.Ref):
                yield from (d.expr for d in fn.body.reaching(node.name, node.at)[0] if d.expr is not None and d.kind == "value")

    def _identifies(self, expr: f.Expr, fn: Fun) -> bool:
        table = self.resolver.table(fn.module)
        for node in walk(expr):
            if isinstance(node, f.Call) and last_name(node.fn) in self._identifying:
                entries = (table.call(name) for name in self.program.canonical(node.fn, fn))
                if any(entry is not None and entry.does == "identify" for entry in entries):
                    return True
        return False

    @cached_property
    def _identifying(self) -> frozenset[str]:
        calls = (call for library in self.program.knowledge.of("python").libraries for call in library.calls)
        return frozenset(name.rpartition(".")[2] for call in calls if call.does == "identify" for name in call.names)

    def _way_in(self, fn: Fun, depth: int, called: str) -> Way | None:
        key = (fn, depth, called if fn.parent is not None else "")
        if key not in self._ways:
            self._ways[key] = None
            for site in fn.body.calls:
                if not self._worth(dotted(site.call.fn) or "." + site.last, fn):
                    continue
                way = self._way_of(site, depth, called)
                if way is not None:
                    step = self.program.step(
                        fn, site.call, f"{short(way[0])} waits here" if not way[1] else f"called from {fn.head.qual}"
                    )
                    self._ways[key] = (way[0], (step, *way[1]))
                    break
        return self._ways[key]

    def _blocks(self, target: Target, entry: CallEntry, site: CallSite) -> bool:
        """Whether a call keeps its thread while it waits."""
        if entry.deferred or entry.spawn is not None or self._is_coroutine(target, site):
            return False
        if entry.does in _BLOCKS:
            return entry.protocol != "http" or not leads_nowhere(self.program, site)
        keeps = entry.waits_for in ("process", "message") or self._role(target, site) in ("process", "thread", "event")
        if entry.does != "wait" or not keeps:
            return False
        return not self._only_looks(target, entry, site)

    def _only_looks(self, target: Target, entry: CallEntry, site: CallSite) -> bool:
        """Whether a call is told not to wait, or may be: by a switch (`os.waitpid(pid, os.WNOHANG)`) or a time of nothing."""
        rows = [row for row in entry.bounds if row.slot == "wait"]
        for source in self.program.slots.at_call(rows, target.binds, (site.fn, site.call)):
            for slot in source.slots:
                if slot.state == "unknown" and source.bound.unit == "bool":
                    return True
                if slot.state == "finite" and (source.bound.unit == "bool" or slot.number == 0):
                    return True
        given = (self.program.slots.find_bind(row.arg, row.pos, target.binds)[0] for row in rows)
        return any(bind is not None and _is_nothing_here(bind.expr, site) for bind in given)

    def _role(self, target: Target, site: CallSite) -> str:
        kind = self.resolver.table(site.fn.module).type(target.name.rpartition(".")[0])
        return kind.role if kind is not None else ""

    def _is_coroutine(self, target: Target, site: CallSite) -> bool:
        if self._coroutines(target.name):
            return True
        kind = self.resolver.table(site.fn.module).type(target.name.rpartition(".")[0])
        if kind is None or not any(self._coroutines(alias) for alias in kind.aliases):
            return False
        # The type has two forms under one name: only what was surely made as the other one blocks.
        obj: Obj | None = target.holder
        while obj is not None and obj.parent is not None:
            obj = obj.parent
        return obj is None or not obj.maker or self._coroutines(obj.maker)

    @cached_property
    def _coroutines(self) -> CoroutineNames:
        libraries = self.program.knowledge.of("python").libraries
        return CoroutineNames([pattern for library in libraries for pattern in library.coroutines])

    @cached_property
    def _blocking_names(self) -> frozenset[str]:
        table = self.program.knowledge.of("python")
        calls = [c for library in table.libraries for c in library.calls if c.does in _BLOCKS or c.does == "wait"]
        open_ended = {t.any_method for library in table.libraries for t in library.types if t.any_method is not None}
        names = {name.rpartition(".")[2] for call in calls for name in call.names if name not in open_ended}
        return frozenset(names)

    @cached_property
    def _joining_names(self) -> frozenset[str]:
        """Those of them that wait for work or a process, which the search for what may reach a peer does not know."""
        table = self.program.knowledge.of("python")
        calls = [c for library in table.libraries for c in library.calls if c.does in ("wait", "sleep")]
        return frozenset(name.rpartition(".")[2] for call in calls for name in call.names)

    # ------------------------------------------------------------ executors of the whole process

    def _on_shared(self) -> Iterator[PoolFault]:
        for task in self._tasks():
            kind = task.shared
            if kind is None or self.program.is_test(task.fn) or not self._is_scarce(kind, task.fn):
                continue
            if not self.program.in_focus(task.fn) or any(name in self._replaced for name in kind.instances):
                continue
            if task.spawn.bodies and all(body.head.is_async for body in task.spawn.bodies):
                continue
            if task.fn.module.language == "python" and kind.event_loop and task.spawn.row.joins:
                continue  # A loop runs a coroutine there, and none is what a plain function gives before.
            reach = self._reach(task)
            if reach is None or not reach.sure or self.program.spawning.gated(task.spawn, None):
                continue
            if self._is_of_names(reach.api, task.fn):
                continue  # As the loop itself looks up names on its default executor.
            what = self.program.text_of(task.fn, task.site.call.fn, 40)
            text = f"what `{what}` starts waits on an executor of the whole process: meanwhile others find no thread there"
            yield PoolFault(self.program.span_of(task.fn, task.site.call), text, Confidence.MEDIUM, reach.steps)

    def _is_of_names(self, api: str, fn: Fun) -> bool:
        entry = self.resolver.table(fn.module).call(api)
        return entry is not None and entry.looks_up

    def _tasks(self) -> Iterator[Task]:
        """What is given to executors; also by methods of collections, which nothing but their name tells."""
        yield from self.program.pool_tasks.all
        known = {(task.fn.module.path, task.site.call.at, task.site.call.end) for task in self.program.pool_tasks.all}
        table = self.program.knowledge.of("java")
        rows = {
            name.rpartition(".")[2]: (name, call.spawn)
            for library in table.libraries
            for call in library.calls
            if call.spawn is not None and call.spawn.default_executor is not None and call.spawn.target is None and call.spawn.joins
            for name in call.names
            if (kind := table.type(name.rpartition(".")[0])) is not None and kind.role == "value"
        }
        own = {fn.name for fn in self.program.functions("java")}
        for site in self.program.start_sites(lambda last: last in rows and last not in own, "java"):
            if (site.fn.module.path, site.call.at, site.call.end) in known or site.call.args:
                continue
            name, row = rows[site.last]
            shared = table.instance(row.default_executor or "")
            if shared is not None:
                yield Task(Spawn(site.fn, site, name, "job", row), None, shared)

    def _is_scarce(self, kind: TypeEntry, fn: Fun) -> bool:
        """Whether work queues behind what waits there; an executor that refuses is made for waiting."""
        if kind.event_loop:
            return True
        rows = [b for b in self.resolver.table(fn.module).bounds(kind.name) if b.slot == "capacity"]
        return kind.shared and all(b.default == "endless" for b in rows)

    def _reach(self, task: Task) -> Reach | None:
        spawning = self.program.spawning
        reach = spawning.reach_of(task.spawn)
        if reach is None and not task.spawn.bodies:
            reach = spawning.reach(self._chained(task))
        return reach

    def _chained(self, task: Task) -> list[Fun]:
        """Functions given to the calls that go on with the result: `xs.parallelStream().map(this::load)`."""
        fn, call = task.fn, task.site.call
        out: list[Fun] = []
        for site in fn.body.calls:
            inside = site.call.fn.at <= call.at and call.end <= site.call.fn.end and site.call is not call
            if not inside:
                continue
            for arg in site.call.args:
                if isinstance(arg.value, f.Fn):
                    out.append(fn.module.functions[arg.value.index])
                else:
                    flows = self.resolver.ask(arg.value, self.resolver.frame(fn))
                    out.extend(x.thing.fn for x in flows if isinstance(x.thing, FnVal))
        return out

    @cached_property
    def _replaced(self) -> frozenset[str]:
        """Executors of the process in whose place the program puts its own."""
        table = self.program.knowledge.of("python")
        rows = {
            n.rpartition(".")[2]
            for lib in table.libraries
            for c in lib.calls
            if c.does == "configure" and c.holder
            for n in c.names
        }
        out: set[str] = set()
        for site in self.program.sites(rows.__contains__, "python"):
            out.update(e.holder for _, e in self.program.described(site) if e.does == "configure" and e.holder is not None)
        return frozenset(out)

    # ------------------------------------------------------------ annotations

    def _annotated(self) -> Iterator[PoolFault]:
        """Methods that an annotation sends to the default executor."""
        table = self.program.knowledge.of("java")
        rows = {n: c for lib in table.libraries for c in lib.calls if c.spawn is not None and c.spawn.decorates for n in c.names}
        words = {name.rpartition(".")[2] for name in rows}
        for fn in self.program.starts("java"):
            for annotation in fn.head.decorators:
                written = dotted(annotation.fn if isinstance(annotation, f.Call) else annotation)
                if written.rpartition(".")[2] not in words or fn.module.is_test or _has_value(annotation):
                    continue
                name = self.program.names.java.type(written, fn)
                if not isinstance(name, str) or name not in rows or self._own_executors:
                    continue
                reach = self.program.spawning.reach((fn,))
                if reach is None or not reach.sure:
                    continue
                text = f"`{fn.name}` waits on the default executor that all methods with this annotation share"
                yield PoolFault(self.program.span_of(fn, annotation), text, Confidence.MEDIUM, reach.steps)

    @cached_property
    def _own_executors(self) -> bool:
        """Whether the program gives the container an executor of its own: an annotated method makes one."""
        return any(pool.fn.module.language == "java" and pool.fn.head.decorators for pool in self.program.pools.of_role("executor"))


def _under_async(site: CallSite) -> bool:
    """Whether a call stands in the head of an `async with` or `async for`, inside an `await`, or gives what an exit stack enters
    that way."""
    stmt = site.stmt
    if any(
        isinstance(node, f.Call)
        and last_name(node.fn) == "enter_async_context"
        and node.args
        and _holds(node.args[0].value, site.call)
        for node in walk(stmt)
    ):
        return True
    if isinstance(stmt, f.With) and stmt.is_async:
        return any(item.value.at <= site.call.at < item.value.end for item in stmt.items)
    if isinstance(stmt, f.Loop) and stmt.is_async and stmt.iter is not None:
        return stmt.iter.at <= site.call.at < stmt.iter.end
    return any(isinstance(node, f.Comp) and any(g.is_async for g in node.gens) for node in walk(stmt) if _holds(node, site.call))


def _holds(node: f.Node, call: f.Call) -> bool:
    return isinstance(node, f.Node) and node.at <= call.at and call.end <= node.end


def _is_short(site: CallSite) -> bool:
    """Whether a call sleeps, in all rounds of the loops around it, for so short a time that asyncio would not log it either."""
    given = site.call.args[0].value if site.last == "sleep" and site.call.args else None
    if not isinstance(given, f.Lit) or not isinstance(given.value, int | float):
        return False
    rounds: float | None = 1.0
    for arm in site.arm.chain():
        if arm.kind in ("loop", "comp") and rounds is not None:
            most = _rounds(arm.node)
            rounds = None if most is None else rounds * most
    return given.value == 0 or (rounds is not None and given.value * rounds <= _SLOW)


def _rounds(loop: f.Node) -> float | None:
    """How often a loop goes round at most, where a literal in its head says so: `tries < 100`, `range(100)`."""
    if not isinstance(loop, f.Loop):
        return None
    if isinstance(loop.iter, f.Call) and dotted(loop.iter.fn) == "range" and len(loop.iter.args) == 1:
        count = loop.iter.args[0].value
        return count.value if isinstance(count, f.Lit) and isinstance(count.value, int) else None
    tests = [loop.test] if loop.test is not None else []
    while tests:
        test = tests.pop()
        if isinstance(test, f.Bin) and test.op == "and":
            tests += [test.left, test.right]
        elif isinstance(test, f.Bin) and test.op in ("<", "<=") and isinstance(test.left, f.Ref) and isinstance(test.right, f.Lit):
            counted = test.left.name
            steps = [node for node in walk_block(loop.body) if isinstance(node, f.Assign) and node.op == "+"]
            if isinstance(test.right.value, int) and any(dotted(t) == counted for node in steps for t in node.targets):
                return test.right.value + (test.op == "<=")
    return None


def _is_wrapped(site: CallSite) -> bool:
    """Whether a call goes to what the function around its own was given, as in a decorator's wrapper."""
    target, parent = site.call.fn, site.fn.parent
    return isinstance(target, f.Ref) and parent is not None and target.name not in site.fn.params and target.name in parent.params


def _is_for_threads(site: CallSite) -> bool:
    """Whether a call stands where a parameter says that no loop runs: the other branch of the test awaits."""
    for arm in site.arm.chain():
        test = arm.node.test if isinstance(arm.node, f.If) else None
        while isinstance(test, f.Un) and test.op == "not":
            test = test.value
        if isinstance(arm.node, f.If) and isinstance(test, f.Ref) and test.name in site.fn.params:
            other = arm.node.orelse if arm.kind == "then" else arm.node.then
            if any(isinstance(node, f.Await) for node in walk_block(other)):
                return True
    return False


def _is_last(site: CallSite) -> bool:
    """Whether the next statement ends the process: nothing else on its loop has anything left to do."""
    stmts = [stmt for stmt, arm in site.fn.body.stmts if arm is site.arm and stmt.at > site.stmt.at]
    after = stmts[0] if stmts else None
    return isinstance(site.stmt, f.Do) and isinstance(after, f.Do) and leaves((after,))


def is_for_windows(site: CallSite) -> bool:
    """Whether a call stands where a test says that this is Windows: no platform on which services run that many ask."""
    for arm in site.arm.chain():
        if not isinstance(arm.node, f.If) or arm.kind != "then":
            continue
        parts = conjuncts(arm.node.test)
        if any(_WINDOWS.fullmatch(_asked(part)) for part in parts):
            return True
        for part in parts:
            word = part.right.value if isinstance(part, f.Bin) and part.op == "==" and isinstance(part.right, f.Lit) else None
            if isinstance(word, str) and word.lower() in _WINDOWS_IS_CALLED:
                return True
    return False


def _has_ended(site: CallSite) -> bool:
    """Whether a test around a call says that a thread or process has ended: who collects it then does not wait."""
    for arm in site.arm.chain():
        if isinstance(arm.node, f.If) and arm.kind == "then":
            for part in conjuncts(arm.node.test):
                if isinstance(part, f.Un) and part.op == "not" and _asked(part.value) == "is_alive":
                    return True
                if isinstance(part, f.Bin) and part.op == "is not" and _asked(part.left) in ("poll", "exitcode", "returncode"):
                    return True
    return False


def _asked(test: f.Expr) -> str:
    """The last segment of the name, or of the call without arguments, that a test asks."""
    return last_name(test.fn if isinstance(test, f.Call) else test)


def _is_nothing_here(given: f.Expr, site: CallSite) -> bool:
    """Whether a name is 0 where a call stands: a test around it says so."""
    for arm in site.arm.chain():
        test = arm.node.test if isinstance(arm.node, f.If) and arm.kind == "then" else None
        if isinstance(given, f.Ref) and isinstance(test, f.Bin) and test.op == "==" and dotted(test.left) == given.name:
            return isinstance(test.right, f.Lit) and test.right.value == 0
    return False


def _has_value(annotation: f.Expr) -> bool:
    return isinstance(annotation, f.Call | f.New) and bool(annotation.args if isinstance(annotation, f.Call) else annotation.fields)
