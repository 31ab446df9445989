"""Work that outlives the caller who gave it up: stuck on a channel nobody reads, or running on in a pool that is waited for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import msgspec

from resilint import facts as f
from resilint.flow.spawns import Spawn, family, leaves_by, nodes, short
from resilint.flow.streams import receiver_of
from resilint.flow.values import Null, Num, Obj
from resilint.flow.waits import Wait, waits_handed_over, waits_in
from resilint.knowledge.index import doing
from resilint.knowledge.schema import Bound, CallEntry
from resilint.link.code import CallSite, Fun, called_part, dotted, leaves, walk, walk_block
from resilint.model import Confidence, Fix, Span, Step

if TYPE_CHECKING:
    from resilint.program import Program, Target

_WAITS = ("network", "query", "connect", "wait")
SMALL = 2.0
"""Work that ends within so many times the caller's patience is not abandoned, only late."""


@dataclass(eq=False)
class Abandoned:
    """Work that nobody waits for any more: where it is left, and in which words."""

    span: Span
    text: str
    confidence: Confidence
    steps: tuple[Step, ...]
    fix: Fix | None = None


def abandoned_of(program: Program) -> Iterator[Abandoned]:
    """Every place where work is left behind."""
    finder = _Finder(program)
    yield from finder.stuck_sends()
    yield from finder.late_joins()
    yield from finder.left_futures()
    yield from finder.dropped_tasks()


class _Finder:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._waits: dict[Fun, list[Wait]] = {}

    # ------------------------------------------------------------ Go: a send that nobody takes

    def stuck_sends(self) -> Iterator[Abandoned]:
        """Sends on unbuffered channels whose only receiver may have left."""
        seen: set[tuple[Fun, str]] = set()
        for spawn in self.program.start_spawns:
            if spawn.unit != "goroutine" or self.program.is_test(spawn.fn):
                continue
            for body in spawn.bodies:
                for send, name in self._sends(spawn, body):
                    home = _home(spawn.fn, name)
                    if home is None or (home, name) in seen:
                        continue
                    found = self._stuck(home, name, spawn, body, send)
                    if found is not None:
                        seen.add((home, name))
                        yield found

    def _sends(self, spawn: Spawn, body: Fun) -> Iterator[tuple[f.Send, str]]:
        """Sends of a started function that have no other way out, with the name of the channel where it is started."""
        chosen = {
            id(case.op) for stmt, _ in body.body.stmts if isinstance(stmt, f.Select) and len(stmt.cases) > 1 for case in stmt.cases
        }
        for stmt, _ in body.body.stmts:
            if not isinstance(stmt, f.Send) or id(stmt) in chosen:
                continue
            name = dotted(stmt.channel)
            if not name or "." in name:
                continue
            if name in body.params:
                position = body.positional.index(body.params[name]) if body.params[name] in body.positional else -1
                if not 0 <= position < len(spawn.site.call.args):
                    continue
                name = dotted(spawn.site.call.args[position].value)
            elif body.head.kind != "lambda" or name in body.body.definitions:
                continue
            if name and "." not in name:
                yield stmt, name

    def _stuck(self, home: Fun, name: str, spawn: Spawn, body: Fun, send: f.Send) -> Abandoned | None:
        made = home.body.definitions.get(name, ())
        makes = [d.expr for d in made]
        if not makes or not all(isinstance(m, f.Call) and dotted(m.fn) == "make" and _unbuffered(m) for m in makes):
            return None
        if self._escapes(home, name, spawn):
            return None
        way = self._way_out(home, name, body)
        if way is None:
            return None
        step = self.program.step
        steps = (
            step(home, makes[0], f"`{name}` has no buffer: a send waits until somebody receives"),
            step(
                spawn.fn,
                spawn.site.call.fn
                if not isinstance(spawn.site.call.fn, f.Fn)
                else f.Ref(spawn.site.stmt.at, spawn.site.stmt.at + 2, ""),
                "the goroutine starts here",
            ),
            step(home, way, f"{home.head.qual} may leave here without receiving"),
        )
        text = f"once {home.head.qual} has left, nobody receives from `{name}`: the goroutine waits here for ever"
        return Abandoned(self.program.span_of(body, send), text, Confidence.HIGH, steps, self._roomy(home, name, makes))

    def _roomy(self, home: Fun, name: str, makes: list[f.Expr | None]) -> Fix | None:
        """Room in the channel for every send there is, where each happens once at most."""
        starts = [s for fn in _nest(home) for s in fn.body.calls if s.how == "go"]
        sends = [
            (fn, stmt)
            for fn in _nest(home)
            for stmt, _ in fn.body.stmts
            if isinstance(stmt, f.Send) and dotted(stmt.channel) == name
        ]
        if not sends or any(start.loop is not None for start in starts) or any(_is_in_loop(fn, stmt) for fn, stmt in sends):
            return None
        if any(fn.head.kind != "lambda" or name in fn.params for fn, _ in sends):
            return None
        last = all(fn.block and fn.block[-1] is stmt for fn, stmt in sends)
        return self.program.mending.buffered(home, [m for m in makes if m is not None], len(sends), safe=last)

    def _escapes(self, home: Fun, name: str, spawn: Spawn) -> bool:
        """Whether others may receive: the channel is returned, stored, or given to somebody else."""
        for fn in _nest(home):
            for site in fn.body.calls:
                if site.call is spawn.site.call:
                    continue
                if any(name in {dotted(n) for n in walk(a.value) if isinstance(n, f.Ref)} for a in site.call.args) and dotted(
                    site.call.fn
                ) not in (
                    "close",
                    "len",
                    "cap",
                ):
                    return True
            for stmt, _ in fn.body.stmts:
                values: list[Any] = []
                if isinstance(stmt, (f.Return, f.Assign, f.Send)):
                    values = [stmt.value]
                for value in values:
                    if value is not None and _as_value(value, name):
                        return True
        return False

    def _way_out(self, home: Fun, name: str, body: Fun) -> f.Node | None:
        """The case by which the only receiver leaves; none if it never does, or another one may receive."""
        selects: list[tuple[f.Select, Any, Fun]] = []
        inside: set[int] = set()
        for fn in _nest(home):
            if fn is body:
                continue
            for stmt, arm in fn.body.stmts:
                if isinstance(stmt, f.Select) and any(_receives(case.op, name) for case in stmt.cases if case.op is not None):
                    selects.append((stmt, arm, fn))
                    for case in stmt.cases:
                        if case.op is not None and _receives(case.op, name):
                            inside.update(id(n) for n in walk(case.op))
        if not selects:
            return None
        for fn in _nest(home):
            for node in nodes(fn):
                if isinstance(node, f.Recv) and dotted(node.value) == name and id(node) not in inside:
                    return None
                if isinstance(node, f.Loop) and node.iter is not None and dotted(node.iter) == name:
                    return None
        for select, arm, fn in selects:
            if fn is not home or home.name == "main":
                continue
            looped = any(a.kind == "loop" for a in arm.chain())
            for case in select.cases:
                if case.op is None or _receives(case.op, name):
                    continue
                channel = next((n.value for n in walk(case.op) if isinstance(n, f.Recv)), None)
                if channel is None or not self._departs(channel, home) or self._tells_end(channel, home):
                    continue
                if _ends_process(case.body) or (looped and not _returns(case.body)):
                    continue
                return case.op
        return None

    def _departs(self, channel: f.Expr, fn: Fun) -> bool:
        """A channel that says that the caller is gone or that time is over, directly or by the value of a timer."""
        if leaves_by(channel):
            return True
        if isinstance(channel, f.Ref):
            reached, _ = fn.body.reaching(channel.name, channel.at)
            return any(isinstance(d.expr, f.Call) and leaves_by(d.expr) for d in reached)
        return False

    def _tells_end(self, channel: f.Expr, fn: Fun) -> bool:
        """A channel that the signals of the process come by: who leaves for one ends all of it."""
        name = dotted(channel)
        calls = self.program.knowledge.words.get("process_signals", frozenset())
        lasts = {call.rpartition(".")[2] for call in calls}
        return any(
            site.last in lasts
            and any(dotted(arg.value) == name for arg in site.call.args)
            and any(target.name in calls for target in self.program.targets(site))
            for site in (fn.body.calls if name else ())
        )

    # ------------------------------------------------------------ Python: a bounded join of work that goes on

    def late_joins(self) -> Iterator[Abandoned]:
        """Joins with a timeout whose work goes on when it is over."""
        among = self.program.spawning.may_start
        times = self._join_times("python")
        for site in self.program.start_sites(times.__contains__, "python", among=among):
            if not _may_be_timed(site.call, times[site.last]):
                continue
            for target, entry in self.program.described(site):
                patience = self._patience(entry, target, site)
                if patience is None:
                    continue
                found = self._judge_join(site, target, entry, patience)
                if found is not None:
                    yield found
                    break

    def _join_times(self, language: str) -> dict[str, list[Bound]]:
        """Where calls that wait for work, not for the next item of a queue, take their time, by the last segment of their names."""
        table = self.program.knowledge.of(language)
        out: dict[str, list[Bound]] = {}
        for call in (call for library in table.libraries for call in library.calls if call.does in ("wait", "submit")):
            times = [b for b in call.bounds if b.slot in ("wait", "total") and b.unit in ("s", "dur")]
            for name in call.names if times else ():
                kind = table.type(name.rpartition(".")[0])
                if kind is None or kind.role != "queue":
                    out.setdefault(name.rpartition(".")[2], []).extend(times)
        return out

    def _patience(self, entry: CallEntry, target: Target, site: CallSite) -> float | None:
        """The timeout of a join in seconds (-1 of unknown length); none where it waits without one."""
        if entry.does not in ("wait", "submit"):
            return None
        for bound in entry.bounds:
            if bound.slot not in ("wait", "total") or bound.unit == "bool":
                continue
            plain = [b for b in target.binds if b.name is None]
            given = next((b for b in target.binds if bound.arg is not None and b.name == bound.arg), None)
            if given is None and bound.pos is not None and bound.pos < len(plain):
                given = plain[bound.pos]
            if given is None:
                continue
            flows = self.resolver.ask(given.expr, given.frame)
            if any(isinstance(x.thing, Null) for x in flows):
                return None
            numbers = [float(x.thing.number) for x in flows if isinstance(x.thing, Num)]
            if numbers and max(numbers) <= 0:
                return None
            return max(numbers) if numbers and len(numbers) == len(flows) else -1.0
        return None

    def _judge_join(self, site: CallSite, target: Target, entry: CallEntry, patience: float) -> Abandoned | None:
        fn = site.fn
        starts = self._work_of(site, target, entry)
        pool = self._pool_around(site, target, entry)
        if not starts and pool is None:
            return None
        bodies = tuple(b for s in starts for b in s.bodies)
        longest, wait_steps, unknown = self._longest(bodies, starts)
        if not unknown and 0 < longest <= SMALL * patience:
            return None
        steps: list[Step] = []
        for start in starts:
            steps.append(self.program.step(start.fn, start.site.call, "the work is started here"))
        long = longest == inf or (patience > 0 and longest > SMALL * patience)
        said = f"after {patience:g} s" if patience > 0 else "when the time is over"
        if pool is not None:
            how = self.program.step(fn, pool, "leaving this block waits for all work of the pool")
            sure = Confidence.HIGH if long else Confidence.LOW if unknown else Confidence.MEDIUM
            text = f"giving up {said} does not help: leaving the block waits for the worker to end"
            return Abandoned(self.program.span_of(fn, site.call), text, sure, (*steps, how, *wait_steps))
        threads = any(s.row.backlog != "none" or s.row.shields for s in starts)
        tasks = not threads and entry.scope is None and any(s.site.call is site.call and s.row.each is not None for s in starts)
        if not (threads or tasks) or not long:
            return None
        if ((tasks or longest != inf) and self._cancels(site)) or self._goes_on_waiting(site, target):
            return None
        ends = "for ever" if longest == inf else f"for up to {longest:g} s"
        left = ("tasks", "them") if tasks else ("worker", "it")
        text = f"giving up {said} leaves the {left[0]} running {ends}: nothing cancels {left[1]}"
        return Abandoned(self.program.span_of(fn, site.call), text, Confidence.MEDIUM, (*steps, *wait_steps))

    def _work_of(self, site: CallSite, target: Target, entry: CallEntry) -> list[Spawn]:
        """The spawns whose work a join waits for."""
        by_call = self._by_call
        out: list[Spawn] = []
        holder = target.holder
        if holder is not None and isinstance(holder.node, f.Call) and id(holder.node) in by_call:
            out.append(by_call[id(holder.node)])
        if entry.scope is not None and entry.scope.body is not None:
            for bind in target.binds[entry.scope.body : entry.scope.body + 1]:
                for flow_call in self.program.spawning.calls_behind(bind.expr, site.fn):
                    if id(flow_call) in by_call:
                        out.append(by_call[id(flow_call)])
        if entry.spawn is not None and id(site.call) in by_call:
            out.append(by_call[id(site.call)])
        of_all = entry.waits_for == "work" if entry.spawn is None else entry.spawn.each == 0
        if of_all and entry.scope is None and target.binds:
            behind = self.program.spawning.among(target.binds[0].expr, site.fn)
            out.extend(spawn for spawn in behind if spawn not in out)
        return out

    def _goes_on_waiting(self, site: CallSite, target: Target) -> bool:
        """Whether somebody looks after what was not done in time: the second part of the result is used, or the collection is
        waited for once more."""
        fn, stmt = site.fn, site.stmt
        left = ""
        if isinstance(stmt, f.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], f.Coll):
            left = dotted(stmt.targets[0].items[-1].value)
        if left and any(
            isinstance(node, f.Ref) and node.name.partition(".")[0] == left and not stmt.at <= node.at < stmt.end
            for node in nodes(fn)
        ):
            return True
        whole = dotted(target.binds[0].expr) if target.binds else ""
        if left and left == whole:
            return True
        later = (other for other in fn.body.calls if other.call.at > site.call.at and whole)
        return any(
            dotted(arg.value) == whole and any(entry.does in ("wait", "spawn") for _, entry in self.program.described(other))
            for other in later
            for arg in other.call.args
        )

    @cached_property
    def _by_call(self) -> dict[int, Spawn]:
        return {id(s.site.call): s for s in self.program.spawns}

    def _pool_around(self, site: CallSite, target: Target, entry: CallEntry) -> f.Node | None:
        """The `with` of the executor that runs the awaited work, where the join stands inside it."""
        table = self.resolver.table(site.fn.module)
        holder = target.holder
        pool = holder.parent if holder is not None and holder.maker and isinstance(holder.node, f.Call) else None
        if entry.does == "submit":
            pool = holder
        for arm in site.arm.chain():
            if not isinstance(arm.node, f.With) or arm.node.is_async:
                continue
            for item in arm.node.items:
                for flow in self.resolver.ask(item.value, self.resolver.frame(site.fn)):
                    thing = flow.thing
                    if not isinstance(thing, Obj):
                        continue
                    kind = table.type(self.resolver.external_type(thing))
                    if kind is None or kind.role != "executor" or not any(level.exits == "joins" for level in table.mro(kind.name)):
                        continue
                    same = pool is not None and (pool == thing or pool.node is thing.node)
                    joined = holder is None and table.library_of(entry).library == table.library_of(kind).library
                    if same or joined:
                        return item.value
        return None

    def _longest(self, bodies: tuple[Fun, ...], starts: list[Spawn]) -> tuple[float, tuple[Step, ...], bool]:
        """The longest single wait that work may do in seconds, where, and whether one of unknown length is among them."""
        seen: dict[Fun, None] = dict.fromkeys(bodies)
        layer = list(seen)
        longest, steps, unknown = 0.0, (), False  # type: float, tuple[Step, ...], bool
        found = [(start.fn, wait) for start in starts for wait in waits_handed_over(self.program, start.site, *_WAITS)]
        # A coroutine that a library's own call makes, and a task runs.
        for start in (start for start in starts if start.unit == "task"):
            call = start.site.call
            made = (wait for wait in self._waits_in(start.fn) if wait.site.call is not call)
            found += [(start.fn, wait) for wait in made if call.at <= wait.site.call.at and wait.site.call.end <= call.end]
        for _ in range(5):
            found += [(fn, wait) for fn in layer for wait in self._waits_in(fn)]
            following: list[Fun] = []
            for fn in layer:
                for _, callee in self.program.spawning.callees(fn):
                    if callee not in seen and len(seen) < 200:
                        seen[callee] = None
                        following.append(callee)
            layer = following
        for fn, wait in found:
            if wait.bound is None or wait.bound < 0:
                unknown = True
            elif wait.bound > longest:
                longest = wait.bound
                length = "for ever" if longest == inf else f"for {longest:g} s"
                steps = (self.program.step(fn, wait.site.call, f"{short(wait.api)} can wait {length}"),)
        return longest, steps, unknown

    def _waits_in(self, fn: Fun) -> list[Wait]:
        if fn not in self._waits:
            self._waits[fn] = list(waits_in(self.program, fn, *_WAITS))
        return self._waits[fn]

    def _cancels(self, site: CallSite) -> bool:
        body = site.fn.body
        return any(
            other.last in ("cancel", "kill", "terminate", "set", "close", "stop", "abort") and other.call.at > site.call.at
            for other in body.calls
        )

    # ------------------------------------------------------------ Java: a future that is given up

    def left_futures(self) -> Iterator[Abandoned]:
        """Waits for a future that end before its work does, which nobody stops: the thread stays with it."""
        if not self.program.spawning.has_java:
            return
        times = self._join_times("java")
        setters = self._time_setters
        among = self.program.spawning.may_start
        for site in self.program.start_sites(lambda last: last in times or last in setters, "java", among=among):
            if not site.call.args or (site.last not in setters and not self.program.may_be_described(site, doing("wait"))):
                continue
            for target in self.program.targets(site):
                found = self._left(site, target)
                if found is not None:
                    yield found
                    break

    @cached_property
    def _time_setters(self) -> frozenset[str]:
        """Methods that give a future a time after which it is over for those who wait for it."""
        table = self.program.knowledge.of("java")
        kinds = (kind for library in table.libraries for kind in library.types if kind.role == "future" and not kind.fluent)
        return frozenset(b.setter for kind in kinds for b in kind.bounds if b.setter is not None and b.slot == "wait")

    def _left(self, site: CallSite, target: Target) -> Abandoned | None:
        fn, holder = site.fn, target.holder
        starts = self._started_by(holder)
        if holder is None or not starts or any(s.row.joins or not s.bodies for s in starts):
            return None
        table = self.resolver.table(fn.module)
        entry = target.entry
        rows = [b for b in entry.bounds if b.slot == "wait"] if entry is not None and entry.does == "wait" else []
        if entry is None:
            rows = [b for b in table.bounds(self.resolver.external_type(holder)) if b.setter == site.last and b.slot == "wait"]
            rows = [msgspec.structs.replace(b, setter=None) for b in rows]
        slots = [s for source in self.program.slots.at_call(rows, target.binds, (fn, site.call)) for s in source.slots]
        if not slots or any(s.state in ("absent", "disabled") for s in slots):
            return None
        numbers = [s.number for s in slots if s.number is not None]
        patience = max(numbers) if len(numbers) == len(slots) else -1.0
        if 0 <= patience <= 0 or self._asks_again(site):
            return None
        stoppable = not any(s.row.default_executor is not None for s in starts)
        if self._handed_on(site, stoppable):
            return None
        longest, wait_steps, unknown = self._longest(tuple(b for s in starts for b in s.bodies), starts)
        if not unknown and 0 < longest <= SMALL * max(patience, 0):
            return None
        if longest == 0 and not unknown and not any(self._is_opaque(b, 0) for s in starts for b in s.bodies):
            return None
        said = f"after {patience:g} s" if patience > 0 else "when the time is over"
        ends = " for ever" if longest == inf else f" for up to {longest:g} s" if longest > 0 and not unknown else ""
        why = "nothing cancels it" if stoppable else "a CompletableFuture cannot stop it"
        steps = [self.program.step(s.fn, called_part(s.site.call), "the work is started here") for s in starts]
        text = f"giving up {said} leaves the worker running{ends}: {why}"
        span = self.program.span_of(fn, called_part(site.call))
        return Abandoned(span, text, Confidence.MEDIUM, (*steps, *wait_steps))

    def _started_by(self, holder: Obj | None) -> list[Spawn]:
        """The spawns that a future, or the one it was derived from, stands for."""
        current, seen = holder, 0
        while current is not None and seen < 6:
            if isinstance(current.node, f.Call) and id(current.node) in self._by_call:
                spawn = self._by_call[id(current.node)]
                return [spawn] if spawn.row.target is not None else []
            current, seen = current.parent, seen + 1
        return []

    def _asks_again(self, site: CallSite) -> bool:
        """Whether the wait is tried again until the work is done: a poll, which gives nothing up."""
        return site.loop is not None and any(
            isinstance(arm.node, f.Try)
            and arm.kind == "try"
            and arm.node.at >= site.loop.at
            and any(not leaves(h.body) or _goes_round(h.body) for h in arm.node.handlers)
            and not (isinstance(site.loop, f.Loop) and site.loop.form == "each")
            for arm in site.arm.chain()
        )

    def _handed_on(self, site: CallSite, stoppable: bool) -> bool:
        """Whether a future is cancelled, or given to somebody else who may do so."""
        receiver = receiver_of(site.call)
        name = dotted(receiver)
        if not stoppable:
            return False
        if not name:
            return False
        if "." in name.removeprefix("this."):
            return True
        for other in (s for fn in _nest(family(site.fn)) for s in fn.body.calls):
            mine = dotted(receiver_of(other.call)) == name
            entry = next((e for _, e in self.program.described(other)), None) if mine or other.last == "shutdownNow" else None
            if entry is not None and entry.does == "cancel":
                return True
            if any(dotted(a.value) == name for a in other.call.args):
                return True
        if name.startswith("this."):
            return True
        return any(
            stmt.value is not None and dotted(stmt.value) == name
            for fn in _nest(family(site.fn))
            for stmt, _ in fn.body.stmts
            if isinstance(stmt, f.Return | f.Assign)
        )

    def _is_opaque(self, fn: Fun, depth: int) -> bool:
        """Whether work calls something of which nothing is known, so that it may take long."""
        table = self.resolver.table(fn.module)
        for site in fn.body.calls:
            for target in self.program.names.java.declared(site.call, fn) or [""]:
                if isinstance(target, Fun):
                    if target.head.is_abstract or (depth < 3 and self._is_opaque(target, depth + 1)):
                        return True
                elif not target or (table.call(target) is None and not target.startswith(("java.lang.", "java.util."))):
                    return True
        return False

    # ------------------------------------------------------------ asyncio: a task that nobody holds

    def dropped_tasks(self) -> Iterator[Abandoned]:
        """Tasks started while a request is handled that nobody holds, and that may never end."""
        for spawn in self.program.start_spawns:
            if (
                spawn.unit != "task"
                or not spawn.dropped
                or spawn.row.joins
                or spawn.fn.module.language != "python"
                or self.program.is_test(spawn.fn)
            ):
                continue
            if any(self._role(h, spawn.fn) == "group" for h in spawn.holders):
                continue
            above = self.program.spawning.entry_of(spawn.fn)
            if above is None or above[0] != "request":
                continue
            longest, steps, _ = self._longest(spawn.bodies, [spawn])
            if longest != inf:
                continue
            text = "nobody holds this task: it can neither be cancelled nor does anybody see that it waits for ever"
            yield Abandoned(self.program.span_of(spawn.fn, spawn.site.call), text, Confidence.MEDIUM, (*above[1], *steps))

    def _role(self, obj: Obj, fn: Fun) -> str:
        kind = self.resolver.table(fn.module).type(self.resolver.external_type(obj))
        return kind.role if kind is not None else ""


def _home(fn: Fun, name: str) -> Fun | None:
    """The function in which a name that is seen from `fn` is defined."""
    inner: Fun | None = fn
    while inner is not None:
        if name in inner.params:
            return None
        if name in inner.body.definitions:
            return inner
        inner = inner.parent
    return None


def _nest(fn: Fun) -> Iterator[Fun]:
    """A function and every literal inside it."""
    yield fn
    for other in fn.module.functions:
        if other is not fn and fn.head.at <= other.head.at and other.head.end <= fn.head.end and other.index > fn.index:
            yield other


def _is_in_loop(fn: Fun, stmt: f.Stmt) -> bool:
    return any(isinstance(loop, f.Loop) and loop.at <= stmt.at < loop.end for loop, _ in fn.body.stmts)


def _unbuffered(call: f.Call) -> bool:
    if len(call.args) == 1:
        return isinstance(call.args[0].value, f.New) and call.args[0].value.type.shape == "chan"
    size = call.args[1].value
    return isinstance(size, f.Lit) and size.value == 0


def _as_value(expr: f.Expr, name: str) -> bool:
    """Whether the channel itself is part of a value, not what is received from it."""
    if isinstance(expr, f.Recv):
        return False
    if isinstance(expr, f.Ref):
        return expr.name == name
    if isinstance(expr, f.New):
        return any(_as_value(p.value, name) for p in expr.fields)
    if isinstance(expr, f.Coll):
        return any(_as_value(p.value, name) for p in expr.items)
    return isinstance(expr, f.Un) and _as_value(expr.value, name)


def _receives(op: f.Stmt, name: str) -> bool:
    return not isinstance(op, f.Send) and any(isinstance(n, f.Recv) and dotted(n.value) == name for n in walk(op))


def _goes_round(block: f.Block) -> bool:
    """Whether a block goes on with the next round of a loop."""
    return bool(block) and isinstance(block[-1], f.Jump) and block[-1].kind == "continue"


def _returns(block: f.Block) -> bool:
    return any(
        isinstance(n, f.Return) or (isinstance(n, f.Jump) and (n.label is not None or n.kind == "goto")) for n in walk_block(block)
    )


def _ends_process(block: f.Block) -> bool:
    if not leaves(block):
        return False
    last = block[-1]
    return isinstance(last, f.Do)


def _may_be_timed(call: f.Call, times: list[Bound]) -> bool:
    """Whether an argument can be one of these times: given by its name or in its place, as something that may be a number."""
    if isinstance(call.fn, f.Field) and isinstance(call.fn.base, f.Lit | f.Fmt):
        return False
    plain = [a.value for a in call.args if a.name is None and not a.spread]
    placed = (plain[b.pos] for b in times if b.pos is not None and b.pos < len(plain))
    return (
        any(a.spread for a in call.args)
        or any(a.name == b.arg for a in call.args for b in times if a.name is not None)
        or any(not isinstance(value, f.Fmt | f.Coll | f.Comp | f.Fn) and not _is_text(value) for value in placed)
    )


def _is_text(expr: f.Expr) -> bool:
    return isinstance(expr, f.Lit) and isinstance(expr.value, str)
