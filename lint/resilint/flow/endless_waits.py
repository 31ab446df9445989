"""Waits of requests and workers on another thread, task, process or message that can last for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Literal

from resilint import facts as f
from resilint.flow.blocking import is_for_windows
from resilint.flow.lists import Words
from resilint.flow.passes import ERROR_NAME
from resilint.flow.spawns import Spawn, family
from resilint.flow.timeouts import Fault, short
from resilint.flow.values import Obj
from resilint.flow.waits import METHODS_OF_BUILTINS, Wait, waits_at, waits_handed_over, waits_in
from resilint.knowledge.index import doing
from resilint.link.code import CODE, Arm, CallSite, Fun, dotted, walk
from resilint.link.looks import any_of
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

Cause = Literal["process", "work", "message", "lock", "connection"]
"""What ends a wait: the end of a child process, the end of work, a message or signal, a release, a free connection of a pool."""

_BY_ROLE: dict[str, Cause] = {
    "process": "process",
    "thread": "work",
    "future": "work",
    "executor": "work",
    "group": "work",
    "queue": "message",
    "event": "message",
    "connection": "message",
    "client": "message",
    "cursor": "message",
    "lock": "lock",
    "gate": "lock",
}
_SERVING = {
    "request": "a request",
    "worker": "a worker",
    "job": "a job",
    "event": "an event handler",
    "middleware": "a request",
}
"""Kinds of entry points whose waits hold something up, in words."""
_ARROW = any_of(b"<-")
_FRAMES = 4
"""Calls between an entry point and a wait that are followed."""
_SITES = 12
"""Callers of one function that are looked at."""
_WORK_DEPTH = 3
_MOST_WORK = 60
"""Functions of awaited work that are searched for a wait without end."""
_ENDS_OR_STARTS = re.compile(
    r"_*(?:close|stop|shut|tear|clean|drain|kill|terminat|exit|destroy|finali[sz]e|dispose|abort|quit|cancel|disconnect|unload"
    r"|main$|init|setup|set_up|boot|install|migrate|configure|start$|start_?up|on_start|__init__|__del__|__a?exit__|__a?enter__)",
    re.IGNORECASE,
)
"""Names of code that runs before the first request or after the last."""
_RUNS_ON = re.compile(r"run|stop|clos|alive|shutdown|done|is_set|exit|quit|cancel|interrupt|active|connected", re.IGNORECASE)
"""Tests of loops that go on until somebody ends the service."""


@dataclass(frozen=True)
class _Way:
    """How an entry point comes to a wait."""

    by: str
    steps: tuple[Step, ...]


_JOINED = re.compile(r"[|;`]|&&|\$\(")
"""What joins another command in a line of a shell."""
_TIME_OR_FLAG = re.compile(r"time|wait|block|deadline|sec|_ms$|delay|interval|patience", re.I)


def _is_given_time(site: CallSite) -> bool:
    """Whether the arguments of a call which is named like a method of a dict or a text are those of a wait: none, a number, a flag,
    a time."""
    if dotted(site.call.fn).partition(".")[0] in site.fn.module.imports:
        return True
    for arg in site.call.args:
        value = arg.value
        plain = isinstance(value, f.Lit) and not isinstance(value.value, str)
        if arg.name is None and not plain and not _TIME_OR_FLAG.search(dotted(value)):
            return False
    return True


class EndlessWaits:
    """Finds waits without a bound that a request or a worker comes to, and whose end nothing here guarantees."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._ways: dict[tuple[Fun, bool, bool], _Way | None] = {}
        self._inside: dict[Fun, Wait | None] = {}
        self._disk_commands = Words(program).of("disk_command")
        found: dict[object, Fault] = {}
        locks: list[Wait] = []
        for wait in waits_at(program, self._sites(), "wait"):
            cause = self.cause(wait)
            if cause == "lock":
                locks.append(wait)
            fault = self._judge(wait, cause) if cause is not None else None
            if fault is not None:
                found.setdefault(fault.key, fault)
        for fault in (*self._replies(), *self._promises()):
            found.setdefault(fault.key, fault)
        reported = frozenset(found)
        for wait in locks:
            fault = self._locked(wait, reported)
            if fault is not None:
                found.setdefault(fault.key, fault)
        self.faults = sorted(found.values(), key=lambda x: (x.span, x.message))

    # ------------------------------------------------------------ what is waited for

    def _sites(self) -> Iterator[CallSite]:
        """Calls that may be such waits, as far as their names, places and arguments say. The names are common words, and whether a
        text can be meant is seen without asking what is called."""
        for language in CODE:
            names: dict[str, bool] = {}
            occurring = self.program.headers(language).occurring
            for library in self.program.knowledge.of(language).libraries:
                for call in library.calls if library.library in occurring else ():
                    for name in call.names if call.does == "wait" else ():
                        last = name.rpartition(".")[2]
                        names[last] = names.get(last, False) or not any(b.pos == 0 for b in call.bounds)
            for site in self._near_sites(names, language):
                first = site.call.args[0].value if site.call.args else None
                is_text = isinstance(first, f.Fmt) or (isinstance(first, f.Lit) and isinstance(first.value, str))
                if site.fn.index == 0 or site.how or _cleans_up(site.arm) or (is_text and not names[site.last]):
                    continue
                if self._may_wait(site):
                    yield site

    def _may_wait(self, site: CallSite) -> bool:
        """Whether what is written allows that a call waits for other work."""
        language = site.fn.module.language
        if language == "java":
            # What a method does through a wider type than its own, it does there too: a map's `get` is no future's.
            declared = self.program.names.java.declared(site.call, site.fn)
            table = self.resolver.table(site.fn.module)
            described = (table.call(target) if isinstance(target, str) else None for target in declared)
            return (
                not declared
                or any(isinstance(t, Fun) for t in declared)
                or any(e is not None and e.does == "wait" for e in described)
            )
        return language != "python" or site.last not in METHODS_OF_BUILTINS or _is_given_time(site)

    def _near_sites(self, names: dict[str, bool], language: str) -> Iterator[CallSite]:
        """Calls of these names where an entry point may come to."""
        for fn in self.program.start_calling(names.__contains__, language):
            if not fn.module.is_test and fn in self._near_entries:
                yield from (site for site in fn.body.calls if site.last in names)

    @cached_property
    def _near_entries(self) -> frozenset[Fun]:
        """Functions that an entry point or a worker may come to within the calls that are followed, by names in headers alone; of
        files that have changed since, all."""
        return self.program.kept("near entries", self._find_near_entries, lambda known: known.union(self.program.starts()))

    def _find_near_entries(self) -> frozenset[Fun]:
        program = self.program
        named: dict[tuple[str, str], list[Fun]] = {}
        inside: dict[Fun, list[Fun]] = {}
        for fn in program.functions():
            owner = program.resolver.owner(fn) if fn.name == "__init__" else None
            named.setdefault((fn.module.language, owner.name if owner is not None else fn.name), []).append(fn)
            if fn.parent is not None:
                inside.setdefault(fn.parent, []).append(fn)
        level = [fn for fn, entry in program.entries.items() if entry.kind in _SERVING] + list(self._starters)
        seen = set(level)
        for _ in range(_FRAMES + 1):
            further: list[Fun] = []
            while level:
                fn = level.pop()
                lasts = {name.rpartition(".")[2].rstrip("{") for name in (*fn.head.calls, *fn.head.values)}
                for target in [x for last in lasts for x in named.get((fn.module.language, last), ())]:
                    if target not in seen:
                        seen.add(target)
                        further.append(target)
                for target in inside.get(fn, ()):  # a function inside another is no call further away
                    if target not in seen:
                        seen.add(target)
                        level.append(target)
            level = further
        return frozenset(seen)

    def cause(self, wait: Wait) -> Cause | None:
        """What ends a wait; `None` where that is not known."""
        entry = wait.entry
        if "pool_wait" in entry.enough:
            return "connection"
        if entry.waits_for is not None:
            return entry.waits_for
        kind = self.resolver.table(wait.fn.module).type(wait.api.rpartition(".")[0])
        if kind is None:
            return None
        return "message" if kind.role == "future" and _is_promise(wait) else _BY_ROLE.get(kind.role)

    def _judge(self, wait: Wait, cause: Cause) -> Fault | None:
        if not self._endless(wait) or any(d.kind != "root" for d in wait.deadlines):
            return None
        inner: tuple[Step, ...] = ()
        endless: Wait | None = None
        confidence = min((way.confidence for way in wait.ways), default=Confidence.MEDIUM)
        written = any(way.reason == "disabled" for way in wait.ways)
        if cause == "lock" or (cause == "connection" and (not written or self._told_at_pool(wait))):
            return None
        if cause == "process" and (self._was_ended(wait) or self._is_of_disk(wait)):
            return None
        if cause == "work":
            endless = self._endless_work(wait)
            if endless is None or not self._takes_limit(wait):
                return None
            inner = (
                self.program.step(endless.fn, endless.site.call, f"the work waited for can wait for ever: {short(endless.api)}"),
            )
        if cause == "message" and (_is_pause(wait) or self._is_own_job(wait.site) or self._answered_here(wait)):
            return None
        if cause == "message" and self._was_told(wait):
            return None
        if cause == "message" and wait.site.loop is not None and wait.fn in self._starters and self._is_gate(wait):
            return None
        way = self._way(wait.fn, waits_for_message=cause == "message", looped=wait.site.loop is not None)
        if way is None:
            return None
        program = self.program
        steps = (*way.steps, *inner, *(step for endless_way in wait.ways for step in endless_way.steps))
        message = f"{short(wait.api)} can wait for ever: {self._reason(wait, cause, way.by)}"
        span = program.span_of(wait.fn, wait.site.call)
        key: object = (span.path, wait.site.call.at)
        if endless is not None:
            # Several joins of a function that wait for the same thing are one fault.
            key = (wait.fn.key, endless.fn.key, endless.site.call.at)
        confidence = program.knowledge.sure(wait.entry, confidence)
        fix = program.mending.raising(wait)
        return Fault(span, message, Value(inf, confidence, tuple(dict.fromkeys(steps))), key=key, fix=fix)

    def _told_at_pool(self, wait: Wait) -> bool:
        """Whether the pool that lets whoever asks wait for ever is a finding itself, where that is written."""
        told = {fault.key for fault in self.program.timeouts.pool_waits}
        return any((fn.module.path, node.end) in told for way in wait.ways for fn, node in (way.where,))

    def _takes_limit(self, wait: Wait) -> bool:
        """Whether the call, or the object it is called on, can be given a limit: what cannot is as long as the work, whose own wait
        is the finding."""
        if any(b.arg is not None or b.pos is not None for b in wait.entry.bounds):
            return True
        rows = self.resolver.table(wait.fn.module).bounds(wait.api.rpartition(".")[0])
        return any(row.slot == "wait" and row.setter is not None for row in rows)

    @staticmethod
    def _endless(wait: Wait) -> bool:
        """Whether nothing bounds a wait. One that its call makes endless is so even if a library's default would cut it off."""
        if wait.bound == inf:
            return True
        own = [s for s in wait.sources if s.bound.slot == "wait" and s.written]
        return (
            bool(own)
            and all(x.state == "disabled" for s in own for x in s.slots)
            and not any(s.bounded and s.written for s in wait.sources)
            and wait.bound is not None
        )

    def _reason(self, wait: Wait, cause: Cause, by: str) -> str:
        ends = {
            "process": "when the child process hangs",
            "work": "when the work it waits for hangs",
            "message": "when what it waits for never comes",
            "lock": "when the holder hangs",
            "connection": "when no connection comes back",
        }[cause]
        return f"no timeout, so {by} hangs with it {ends}"

    def _was_ended(self, wait: Wait) -> bool:
        """Whether the process was told to end before the wait for it: what is left is to collect it."""
        base = dotted(wait.site.call.fn).rpartition(".")[0]
        if not base:
            return False
        around = wait.site.arm.chain()
        return any(
            other.call.at < wait.site.call.at
            and other.arm in around
            and dotted(other.call.fn).startswith(base + ".")
            and any(entry.does == "cancel" for _, entry in self.program.described(other, doing("cancel")))
            for other in wait.fn.body.calls
        )

    def _is_of_disk(self, wait: Wait) -> bool:
        """Whether all that a command does is a change of names, owners and modes on the disk of this machine."""
        given = wait.site.call.args[0].value if wait.site.call.args else None
        parts = given.parts if isinstance(given, f.Fmt) else (given,)
        if isinstance(given, f.Coll):
            parts = (given.items[0].value,) if given.items and not given.items[0].spread else ()
        texts = [part.value if isinstance(part, f.Lit) else None for part in parts]
        if not texts or not isinstance(texts[0], str) or not texts[0].split():
            return False
        word = texts[0].split()[0].rpartition("/")[2]
        line = "" if isinstance(given, f.Coll) else " ".join(text for text in texts if isinstance(text, str))
        return word in self._disk_commands and not _JOINED.search(line)

    def _was_told(self, wait: Wait) -> bool:
        """Whether all that is waited for was done before: what tells it runs for each element of a stream, which ended above."""
        name = _lock_name(wait.site.call, wait.fn)
        told = [
            (fn, site)
            for fn in wait.fn.module.functions
            if fn.is_inside(wait.fn)
            for site in fn.body.calls
            if site is not wait.site and _lock_name(site.call, fn) == name
        ]
        return bool(name[1] and told) and all(
            (runs := self.program.sizes.streams.round_of(fn)) is not None
            and runs.site.fn is wait.fn
            and runs.site.call.end <= wait.site.call.at
            and isinstance(runs.site.stmt, f.Do)
            and runs.site.stmt.value is runs.site.call  # What gives a stream only runs with what comes behind it.
            and all(arm.kind in ("root", "final") for arm in site.arm.chain())
            for fn, site in told
        )

    # ------------------------------------------------------------ loops whose job is to wait

    def _is_own_job(self, site: CallSite) -> bool:
        """Whether a call is the first wait of each round of an endless loop: waiting for the next item is what the loop is for."""
        arm: Arm | None = site.arm
        while arm is not None:
            loop = arm.node
            if arm.kind == "loop" and isinstance(loop, f.Loop) and self._goes_on(loop, site.fn):
                return not any(
                    # A call that this one is an argument of begins before it, and is made after it.
                    loop.at <= other.call.at
                    and other.call.end <= site.call.at
                    and not other.how
                    and any(
                        e.does in ("wait", "network", "query")
                        for _, e in self.program.described(other, doing("wait", "network", "query"))
                    )
                    and not self._does_not_wait(other)
                    for other in site.fn.body.calls
                )
            arm = arm.parent
        return False

    def _is_gate(self, wait: Wait) -> bool:
        """Whether what a thread that works for good waits for is open from the start, and only shut where somebody lets it rest."""
        kind = self.resolver.table(wait.fn.module).type(wait.api.rpartition(".")[0])
        name = _lock_name(wait.site.call, wait.fn)
        if kind is None or kind.role != "event" or not name[1]:
            return False
        opened: set[Fun] = set()
        shut: set[Fun] = set()
        made: set[Fun] = set()
        for fn in wait.fn.module.functions:
            calls = [site.last for site in fn.body.calls if _lock_name(site.call, fn) == name]
            opened.update([fn] if "set" in calls else [])
            shut.update([fn] if "clear" in calls else [])
            made.update([fn] if any(_variable(held, fn) == name for held in fn.body.definitions) else [])
        return bool(made & opened) and bool(shut) and not shut & {wait.fn, *made}

    def _does_not_wait(self, site: CallSite) -> bool:
        """Whether a call only asks for a permit, or has a bound: the loop still waits for its item first."""
        return any(w.bound not in (None, inf) or self.cause(w) == "lock" for w in waits_at(self.program, (site,), "wait"))

    def _goes_on(self, loop: f.Loop, fn: Fun) -> bool:
        if loop.form == "ever":
            return True
        if loop.form == "each":
            return loop.is_async
        return loop.form == "while" and loop.test is not None and bool(_RUNS_ON.search(self.program.text_of(fn, loop.test, 200)))

    # ------------------------------------------------------------ locks

    def _locked(self, wait: Wait, reported: frozenset[object]) -> Fault | None:
        """A lock that somebody else holds over a wait without end which is quiet by itself, as a consumer's own take is."""
        name = _lock_name(wait.site.call, wait.fn)
        if not name[1] or wait.bound not in (None, inf) or self._is_timed(wait) or self._is_queue(wait):
            return None
        held = self._held_over(name, wait)
        if held is None or (held.fn.module.path, held.site.call.at) in reported:
            return None
        way = self._way(wait.fn, waits_for_message=False, looped=True)
        if way is None:
            return None
        step = self.program.step(
            held.fn, held.site.call, f"{held.fn.head.qual} holds it while {short(held.api)} waits, which can be for ever"
        )
        message = f"{short(wait.api)} can wait for ever: the lock is held over {short(held.api)}, which has no end of its own"
        span = self.program.span_of(wait.fn, wait.site.call)
        return Fault(
            span,
            message,
            Value(inf, self.program.knowledge.sure(held.entry), (*way.steps, step)),
            key=(span.path, wait.site.call.at),
        )

    def _is_queue(self, wait: Wait) -> bool:
        """Whether room in a queue is waited for: who takes an item out of it holds nothing."""
        kind = self.resolver.table(wait.fn.module).type(wait.api.rpartition(".")[0])
        return kind is not None and kind.role == "queue"

    @staticmethod
    def _is_timed(wait: Wait) -> bool:
        return any(s.bounded and s.written for s in wait.sources) or any(d.kind != "root" for d in wait.deadlines)

    def _held_over(self, name: tuple[int, str], wait: Wait) -> Wait | None:
        """A wait for a process or message without end in another function, between taking the lock and giving it back."""
        last = name[1].rpartition(".")[2]
        for fn in wait.fn.module.functions[1:]:
            if fn is wait.fn or not any(last in text for text in (*fn.head.calls, *fn.head.values)):
                continue
            for start, end in _regions(fn, name):
                for inner in waits_in(self.program, fn, "wait"):
                    if start <= inner.site.call.at < end and self._endless(inner) and self.cause(inner) in ("process", "message"):
                        own = _lock_name(inner.site.call, fn)
                        if own != name and not any(d.kind != "root" for d in inner.deadlines):
                            return inner
        return None

    # ------------------------------------------------------------ work that is waited for

    @cached_property
    def _spawns(self) -> dict[object, list[Spawn]]:
        """Spawns by the call that starts the work, and by the object that stands for it."""
        out: dict[object, list[Spawn]] = {}
        for spawn in self.program.spawns:
            for key in (spawn.key, *spawn.holders):
                out.setdefault(key, []).append(spawn)
        return out

    @cached_property
    def _starters(self) -> dict[Fun, list[Spawn]]:
        """Spawns by the functions they start."""
        out: dict[Fun, list[Spawn]] = {}
        for spawn in self.program.spawns:
            for body in spawn.bodies:
                out.setdefault(body, []).append(spawn)
        return out

    def _work_of(self, wait: Wait) -> list[Spawn]:
        holder: Obj | None = wait.holder
        found = list(self._spawns.get((wait.fn.module.path, wait.site.call.at), ()))
        for future in (holder, *self._collected(wait)):
            found.extend(self._behind(future))
        return found

    def _behind(self, future: Obj | None) -> Iterator[Spawn]:
        """What stands behind a future: what it was made from, but not what else runs in its pool."""
        yield from self._spawns.get(future, ())
        for _ in range(4):
            if future is None:
                return
            if future.frame is not None and isinstance(future.node, f.Node):
                yield from self._spawns.get((future.frame.fn.module.path, future.node.at), ())
            future = future.parent

    def _collected(self, wait: Wait) -> Iterator[Obj]:
        """The futures in a collection that the call is given to wait for."""
        at = wait.entry.watches
        bind = self.program.slots.find_bind(None, at, wait.target.binds)[0] if at is not None else None
        if bind is not None:
            for flow in self.resolver.value(bind.expr, bind.frame):
                for element in self.resolver.element(flow, bind.frame):
                    if isinstance(element.thing, Obj):
                        yield element.thing

    def _endless_work(self, wait: Wait) -> Wait | None:
        """A wait without end in the work that is waited for."""
        work = self._work_of(wait)
        found = self._endless_in([body for spawn in work for body in spawn.bodies])
        if found is not None:
            return found
        direct = (w for spawn in work for w in waits_handed_over(self.program, spawn.site, "network", "query", "connect", "wait"))
        return next((w for w in direct if self._never_ends(w)), None)

    def _endless_in(self, bodies: list[Fun]) -> Wait | None:
        seen = set(bodies)
        queue = [(body, 0) for body in bodies]
        for fn, depth in queue:
            found = self._first_endless(fn)
            if found is not None:
                return found
            if depth < _WORK_DEPTH:
                for _site, callee in self.program.spawning.callees(fn):
                    if callee not in seen and len(seen) < _MOST_WORK:
                        seen.add(callee)
                        queue.append((callee, depth + 1))
        return None

    def _first_endless(self, fn: Fun) -> Wait | None:
        if fn not in self._inside:
            self._inside[fn] = next(
                (wait for wait in waits_in(self.program, fn, "network", "query", "connect", "wait") if self._never_ends(wait)),
                None,
            )
        return self._inside[fn]

    def _never_ends(self, wait: Wait) -> bool:
        return (
            wait.bound == inf
            and not any(d.kind != "root" for d in wait.deadlines)
            and (wait.kind != "wait" or self.cause(wait) in ("process", "message"))
        )

    def _answered_here(self, wait: Wait) -> bool:
        """Whether work that the function itself has started gives the signal: then it ends when that work does."""
        base = dotted(wait.site.call.fn).rpartition(".")[0]
        if not base:
            return False
        root = family(wait.fn)
        for body, spawns in self._starters.items():
            if any(family(spawn.fn) is root for spawn in spawns) and self._speaks_of(body, base, spawns):
                return self._endless_in([body]) is None
        return False

    def _speaks_of(self, body: Fun, name: str, spawns: list[Spawn]) -> bool:
        given = any(name == dotted(node) for spawn in spawns for arg in spawn.args for node in walk(arg) if isinstance(node, f.Ref))
        own = any(call.rpartition(".")[0] == name for call in body.head.calls) or name in body.head.values
        return given or own

    # ------------------------------------------------------------ who comes there

    def _way(self, fn: Fun, *, waits_for_message: bool, looped: bool) -> _Way | None:
        """How a request or a worker comes to a function; `None` if none is known to, or if all that do only start or end something.
        Where a message is waited for, an endless loop around a call on the way is taken for one whose job that is, and what a
        worker waits for outside of its loop starts or ends it. `looped`: whether the wait itself stands in a loop."""
        key = (fn, waits_for_message, looped)
        if key not in self._ways:
            self._ways[key] = self._find_way(fn, waits_for_message, looped)
        return self._ways[key]

    def _find_way(self, fn: Fun, waits_for_message: bool, looped: bool) -> _Way | None:
        program = self.program
        seen = {fn}
        queue: list[tuple[Fun, tuple[Step, ...], bool]] = [(fn, (), looped)]
        for current, steps, in_loop in queue:
            if current.module.is_test or _ENDS_OR_STARTS.match(family(current).name):
                continue
            at = f.Ref(current.head.name_at, current.head.name_at + len(current.name.encode()), current.name)
            entry = program.entries.get(current)
            if entry is not None:
                if entry.kind in _SERVING:
                    said = program.step(current, at, f"{current.head.qual} serves {_SERVING[entry.kind]}: {entry.because}")
                    return _Way(_SERVING[entry.kind], (said, *steps))
                continue
            starters = self._starters.get(current, [])
            if starters and (in_loop or not waits_for_message) and program.spawning.serves(current):
                spawn = starters[0]
                said = program.step(spawn.fn, spawn.site.call, f"{current.head.qual} is started here as a worker")
                return _Way("the worker", (said, *steps))
            if len(steps) >= _FRAMES:
                continue
            waited = [spawn.site for spawn in starters if self._is_waited_for(spawn)]
            sites = [site for _, site, _, _ in self.resolver.callers(current)[0] if _holds_up(current, site)] + waited
            for site in sites[:_SITES]:
                # Who starts a goroutine goes on beside it; what `defer` calls cleans up.
                if site.fn in seen or _cleans_up(site.arm) or site.how or is_for_windows(site):
                    continue
                if waits_for_message and self._is_own_job(site):
                    continue
                seen.add(site.fn)
                said = program.step(site.fn, site.call, f"{site.fn.head.qual} calls it here")
                queue.append((site.fn, (said, *steps), in_loop or site.loop is not None))
        return None

    def _is_waited_for(self, spawn: Spawn) -> bool:
        """Whether who starts the work stands still until it is done, without a limit of its own."""
        if spawn.site.how or not (spawn.row.joins or (spawn.unit in ("job", "task") and self.program.spawning.joined(spawn))):
            return False
        return self.program.deadlines.around(spawn.site) == inf

    # ------------------------------------------------------------ Python: promises that are awaited

    def _promises(self) -> Iterator[Fault]:
        """Futures that a function has made, given away and awaits: somebody has to complete them."""
        table = self.program.knowledge.of("python")
        makers = {
            name.rpartition(".")[2]
            for library in table.libraries
            for call in library.calls
            if call.does == "make" and call.returns and (kind := table.type(call.returns)) is not None and kind.role == "future"
            for name in call.names
        }
        for site in self.program.start_sites(makers.__contains__, "python", among=lambda module: not module.is_test):
            stmt = site.stmt
            if not isinstance(stmt, f.Assign) or stmt.value is not site.call or not any(self.program.described(site)):
                continue
            names = {dotted(target) for target in stmt.targets} - {""}
            for other, arm in site.fn.body.stmts:
                for node in _values(other):
                    if isinstance(node, f.Await) and dotted(node.value) in names and not _cleans_up(arm):
                        fault = self._awaited(site, node, other, arm)
                        if fault is not None:
                            yield fault

    def _awaited(self, made: CallSite, node: f.Await, stmt: f.Stmt, arm: Arm) -> Fault | None:
        fn, program = made.fn, self.program
        place = CallSite(f.Call(node.value.at, node.value.end, node.value, ()), fn, arm, stmt, awaited=True, loop=made.loop)
        if program.deadlines.around(place) != inf or program.deadlines.scoped(fn) != inf:
            return None
        way = self._way(fn, waits_for_message=True, looped=made.loop is not None)
        if way is None:
            return None
        name = dotted(node.value)
        steps = (*way.steps, program.step(fn, made.call, f"`{name}` is made here for somebody else to complete"))
        text = f"`{name}` can be awaited for ever: no timeout, so {way.by} hangs with it when nobody completes it"
        span = program.span_of(fn, node)
        return Fault(span, text, Value(inf, Confidence.MEDIUM, steps), key=(span.path, node.at))

    # ------------------------------------------------------------ Go: answers over channels

    def _replies(self) -> Iterator[Fault]:
        """Receives outside of a select from a channel that was handed to somebody else for the answer."""
        for module in self.program.start_modules("go"):
            if module.is_test or not self.program.says(module.path, _ARROW):
                continue
            for fn in module.functions[1:]:
                if "make" not in fn.head.calls:
                    continue
                chosen = {
                    id(n) for stmt, _ in fn.body.stmts if isinstance(stmt, f.Select) for c in stmt.cases if c.op for n in walk(c.op)
                }
                for stmt, arm in fn.body.stmts:
                    for node in _values(stmt):
                        if isinstance(node, f.Recv) and id(node) not in chosen and not _cleans_up(arm):
                            fault = self._reply(fn, node)
                            if fault is not None:
                                yield fault

    def _reply(self, fn: Fun, receive: f.Recv) -> Fault | None:
        name = dotted(receive.value)
        holder = _made_here(fn, name)
        sent = self._handed_over(fn, holder) if holder else None
        if sent is None or self._is_always_answered(fn, name, holder):
            return None
        way = self._way(fn, waits_for_message=True, looped=True)
        if way is None:
            return None
        steps = (*way.steps, self.program.step(fn, sent, f"`{name}` is handed over here for the answer"))
        text = f"the receive from `{name}` can wait for ever: no select ends it, so {way.by} hangs with it when nobody answers"
        span = self.program.span_of(fn, receive)
        return Fault(span, text, Value(inf, Confidence.MEDIUM, steps), key=(span.path, receive.at))

    def _is_always_answered(self, fn: Fun, name: str, holder: str) -> bool:
        """Whether whoever takes it beside this function closes each, on every way, and waits for no peer before."""
        fields = {name.rpartition(".")[2]} if holder != name else set[str]()
        fields.update(
            dotted(pair.key)
            for new, _, _ in fn.body.news
            for pair in new.fields
            if dotted(pair.value) == name and pair.key is not None
        )
        fields.discard("")
        verdicts: list[bool] = []
        for module in self.program.names.modules.values() if fields else ():
            if module.language != "go" or module.folder != fn.module.folder or module.is_test:
                continue
            for other in module.functions[1:]:
                if other is not fn and ("close" in other.head.calls or self.program.says(module.path, _ARROW)):
                    # A send may stand still itself, where who asked has gone or has room for nothing.
                    verdicts += (
                        closes and self._answers(other, arm, at, base) for at, arm, base, closes in _answers_to(other, fields)
                    )
        return bool(verdicts) and all(verdicts)

    def _answers(self, fn: Fun, arm: Arm, at: int, item: str) -> bool:
        """Whether a function comes to an answer in any case, whatever the item holds, and reaches no peer on its way."""
        chain = arm.chain()
        loops = [one.node for one in chain if one.kind == "loop"]
        for one in chain:
            test = one.node.test if isinstance(one.node, f.If) else None
            if test is not None:
                if any(isinstance(n, f.Call) or (isinstance(n, f.Ref) and ERROR_NAME.fullmatch(n.name)) for n in walk(test)):
                    return False
                if not any(isinstance(n, f.Ref) and n.name.partition(".")[0] == item for n in walk(test)):
                    return False
            elif one.kind not in ("root", "loop"):
                return False
        inner = loops[-1] if loops else None
        for stmt, _ in fn.body.stmts:
            if stmt.at >= at:
                break
            if isinstance(stmt, f.Return | f.Raise):
                return False
            if isinstance(stmt, f.Jump) and inner is not None and inner.at <= stmt.at:
                return False
        return self.program.spawning.reach([fn]) is None

    def _handed_over(self, fn: Fun, name: str) -> f.Node | None:
        """Where a channel is sent to somebody over another channel, alone or inside of what is sent, here or in a method that is
        given it. Only there it is known that other code than a goroutine of this function has to answer."""
        holders = {name}
        for _ in range(2):
            for new, _arm, stmt in fn.body.news:
                if any(dotted(pair.value) in holders for pair in new.fields) and isinstance(stmt, f.Assign):
                    holders.update(dotted(t) for t in stmt.targets)
        found = _sent(fn, holders)
        if found is not None:
            return found
        for site in fn.body.calls:
            for position, arg in enumerate(site.call.args):
                if dotted(arg.value) in holders and not site.how:
                    for callee in self.program.callees(site):
                        params = callee.positional
                        if position < len(params) and _sent(callee, {params[position].name}) is not None:
                            return site.call
        return None


def _answers_to(fn: Fun, fields: set[str]) -> Iterator[tuple[int, Arm, str, bool]]:
    """Where a channel in one of these fields is closed, or something is sent into it: the place, what holds it, and whether it is
    closed."""
    for stmt, arm in fn.body.stmts:
        channel: f.Expr | None = None
        if isinstance(stmt, f.Send):
            channel = stmt.channel
        elif isinstance(stmt, f.Do) and isinstance(stmt.value, f.Call) and dotted(stmt.value.fn) == "close" and stmt.value.args:
            channel = stmt.value.args[0].value
        base, _, last = dotted(channel).rpartition(".") if channel is not None else ("", "", "")
        if base and last in fields:
            yield stmt.at, arm, base.partition(".")[0], isinstance(stmt, f.Do)


def _made_here(fn: Fun, name: str) -> str:
    """The variable that holds a channel which the function made: itself, or the struct it lies in; empty if it did not."""
    made = fn.body.definitions.get(name, [])
    if len(made) == 1 and "." not in name and _is_make(made[0].expr):
        return name
    base, dot, field_name = name.rpartition(".")
    owners = fn.body.definitions.get(base, []) if dot else []
    for new in (n for d in owners if len(owners) == 1 and d.expr is not None for n in walk(d.expr) if isinstance(n, f.New)):
        if any(dotted(pair.key) == field_name and _is_make(pair.value) for pair in new.fields):
            return base
    return ""


def _is_make(expr: f.Expr | None) -> bool:
    return isinstance(expr, f.Call) and dotted(expr.fn) == "make"


def _sent(fn: Fun, names: set[str]) -> f.Node | None:
    """The send of something that is, or holds, one of these variables."""
    for stmt, _ in fn.body.stmts:
        if isinstance(stmt, f.Send) and any(isinstance(n, f.Ref) and n.name in names for n in walk(stmt.value)):
            return stmt
    return None


def _lock_name(call: f.Call, fn: Fun) -> tuple[int, str]:
    """The lock whose method is called: the class it is a field of (-1 for other variables), and its name, empty if it has none."""
    return _variable(dotted(call.fn).rpartition(".")[0], fn)


def _variable(name: str, fn: Fun) -> tuple[int, str]:
    receiver = next((p.name for p in fn.head.params if p.kind == "self"), "")
    head, dot, rest = name.partition(".")
    if dot and head == receiver:
        return (fn.head.owner, rest)
    return (-1, name)


def _regions(fn: Fun, lock: tuple[int, str]) -> Iterator[tuple[int, int]]:
    """Where a function holds a lock: from the call that takes it to the next one on it, or to the end; the blocks of `with`."""
    calls = sorted((s for s in fn.body.calls if _lock_name(s.call, fn) == lock), key=lambda s: s.call.at)
    plain = [s for s in calls if s.how != "defer"]
    for taken, given in zip(plain[::2], [*plain[1::2], None], strict=False):
        yield taken.call.end, given.call.at if given is not None else fn.head.end
    for stmt, _ in fn.body.stmts:
        if isinstance(stmt, f.With) and stmt.body and any(_variable(dotted(item.value), fn) == lock for item in stmt.items):
            yield stmt.body[0].at, stmt.body[-1].end


def _is_promise(wait: Wait) -> bool:
    """Whether a future is made by its constructor: no work stands behind it, somebody has to complete it."""
    holder = wait.holder
    return holder is not None and holder.maker != "" and holder.maker == holder.type


def _holds_up(called: Fun, site: CallSite) -> bool:
    """Whether a caller stands still while what it calls runs: a coroutine that nobody awaits there runs beside it."""
    return not called.head.is_async or site.awaited or isinstance(site.stmt, f.Return) or called.module.language != "python"


def _is_pause(wait: Wait) -> bool:
    """Whether what is waited on is made in the same expression, so that nobody can know it: the code stands still on purpose."""
    called = wait.site.call.fn
    return (
        isinstance(called, f.Field) and wait.holder is not None and wait.holder.node is called.base and wait.holder.parent is None
    )


def _values(stmt: f.Stmt) -> Iterator[f.Node]:
    """Everything in the expressions of a statement, not in the blocks it holds."""
    if isinstance(stmt, f.Assign | f.Do | f.Return) and stmt.value is not None:
        yield from walk(stmt.value)
    elif isinstance(stmt, f.If) or (isinstance(stmt, f.Switch) and stmt.subject is not None):
        yield from walk(stmt.test if isinstance(stmt, f.If) else stmt.subject)


def _cleans_up(arm: Arm) -> bool:
    return any(a.kind == "final" for a in arm.chain())
