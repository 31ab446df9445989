"""Waits: places where code stands still for something outside, and what bounds each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache, cached_property
from math import inf
from typing import TYPE_CHECKING, Literal

from resilint import facts as f
from resilint.flow.deadlines import Deadline, is_awaited
from resilint.flow.reach import Reach
from resilint.flow.readiness import is_ready
from resilint.flow.schemes import leads_nowhere
from resilint.flow.slots import Slot, Source, decide, is_fixed
from resilint.flow.values import Bind, Frame, Obj, Text
from resilint.knowledge.index import doing
from resilint.knowledge.schema import Bound, CallEntry
from resilint.link.code import CODE, CallSite, Fun, Klass, Module, dotted, walk
from resilint.model import Confidence, Step

if TYPE_CHECKING:
    from resilint.program import Program, Target

ENOUGH = {
    "network": ("total", "read", "io", "deadline"),
    "query": ("statement", "transaction", "read", "io", "total", "deadline"),
    "connect": ("connect", "total", "io", "deadline"),
    "wait": ("wait", "total", "deadline"),
}
"""Slots of which one finite value bounds a wait, where its entry does not say."""

_LINKS = 32
"""Calls on the result of a call that are followed back to the object they began with: `session.query(…).filter(…).limit(…)`."""
_LOOPBACK = re.compile(r"(?:https?|wss?)://(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?![\w.-])", re.IGNORECASE)

_OWN_MACHINE = re.compile(r"(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?)(?::\d+)?", re.IGNORECASE)
METHODS_OF_BUILTINS = frozenset(name for kind in (dict, str, bytes, list, set) for name in dir(kind) if not name.startswith("_"))
"""Methods of Python's own collections and texts: `get` and `join` are seldom those of a queue or a thread."""

OF_UNKNOWN_LENGTH = -1.0
"""The bound of a wait that is known to have one, but not how long."""


@dataclass(frozen=True)
class Endless:
    """One way in which a wait has no bound: where to say so, why, and how sure it is."""

    where: tuple[Fun, f.Node]
    steps: tuple[Step, ...]
    confidence: Confidence
    reason: Literal["nothing", "disabled", "context"]
    subject: str = ""
    holder: Obj | None = None
    row: Bound | None = None
    """What is switched off."""


@dataclass
class Wait:
    """A call that waits, with its bound: seconds (or `OF_UNKNOWN_LENGTH`), `inf` where some path to it has none, `None` where it is
    not known whether it has one."""

    fn: Fun
    site: CallSite
    frame: Frame
    kind: str
    api: str
    entry: CallEntry
    target: Target
    bound: float | None = None
    ways: list[Endless] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    deadlines: list[Deadline] = field(default_factory=list)
    holder: Obj | None = None
    handed_over: bool = False
    """What waits is given to the call, with all arguments behind it."""

    @property
    def key(self) -> tuple[str, int, int, str]:
        """Order."""
        return (self.fn.module.path, self.site.call.at, self.site.call.end, self.api)

    def rests_on(self) -> Iterator[Fun]:
        """The functions in which stands what decides about it: makers of its object, written bounds, places to mend."""
        obj = self.holder
        while obj is not None:
            if obj.frame is not None:
                yield obj.frame.fn
            obj = obj.parent
        yield from (way.where[0] for way in self.ways)
        yield from (slot.written[0] for source in self.sources for slot in source.slots if slot.written is not None)
        yield from (deadline.made[0] for deadline in self.deadlines if deadline.made is not None)


def waits_of(program: Program, *kinds: str) -> Iterator[Wait]:
    """All waits of these kinds, in order of path and position."""
    judge = _Judge(program)
    for language in CODE:
        reach = program.reach(language, kinds)
        for site in _candidates(program, language, reach):
            yield from judge.at(site, kinds)
        for site in _handing_over(program, language, reach):
            yield from judge.handed_over(site, kinds)


def waits_at(program: Program, sites: Iterable[CallSite], *kinds: str) -> Iterator[Wait]:
    """The waits of these kinds that some calls are, in their order."""
    judge = _Judge(program)
    for site in sites:
        yield from judge.at(site, kinds)


def waits_in(program: Program, fn: Fun, *kinds: str) -> Iterator[Wait]:
    """The waits of these kinds in one function."""
    judge = _Judge(program)
    for site in fn.body.calls:
        yield from judge.at(site, kinds)


def waits_handed_over(program: Program, site: CallSite, *kinds: str) -> Iterator[Wait]:
    """The waits of these kinds that a call starts by itself, because it is given what waits."""
    return _Judge(program).handed_over(site, kinds)


def _candidates(program: Program, language: str, reach: Reach) -> Iterator[CallSite]:
    """Calls that may wait: of a known name; and, in a file that imports a library whose objects wait in every method, any call on
    what may be such an object. Far fewer names lead to those than to all that wait."""
    table = program.knowledge.of(language)
    wanted = reach.methods

    @cache
    def asked(called: str) -> bool:
        _, dot, last = called.rpartition(".")
        return last in wanted or not dot

    @cache
    def asked_of_all(called: str) -> bool:
        return not asked(called) and bool(called.rpartition(".")[0])

    for fn in program.starts(language):
        found = list(reach.sites(fn, asked))
        if program.names.is_open_ended(fn.module, table):
            more = list(program.reach(language, ()).sites(fn, asked_of_all))
            if more:
                chosen = {id(site) for site in (*found, *more)}
                found = [site for site in fn.body.calls if id(site) in chosen]
        for site in found:
            if not _declared_here(program, site):
                yield site


def _handing_over(program: Program, language: str, reach: Reach) -> Iterator[CallSite]:
    """Calls that start what they are given, with something among their arguments that has the name of a call that may wait."""
    started = program.spawning.passing[language]
    if not started:
        return
    for site in program.start_sites(started.__contains__, language, among=program.spawning.near):
        given = (node.name for arg in site.call.args for node in walk(arg.value) if isinstance(node, f.Ref))
        if any(name.rpartition(".")[2] in reach.methods for name in given):
            yield site


def _declared_here(program: Program, site: CallSite) -> bool:
    """Whether a declared type already says that the call enters the program: no need to ask which object it is."""
    base, _, method = dotted(site.call.fn).rpartition(".")
    if not base or site.fn.module.language != "go":
        return False
    kind = program.resolver.static_type(f.Ref(site.call.at, site.call.at, base), site.fn)
    klass = program.resolver.resolve_type(kind, site.fn) if kind is not None and kind.shape in ("plain", "ptr") else None
    return isinstance(klass, Klass) and klass.decl.kind == "struct" and method in klass.methods


class CoroutineNames:
    """Tells whether a canonical name belongs to calls that must be awaited."""

    def __init__(self, patterns: list[str]) -> None:
        self._pattern = re.compile("|".join(translate(p) for p in patterns)) if patterns else None

    def __call__(self, name: str) -> bool:
        return self._pattern is not None and self._pattern.match(name) is not None


class _Judge:
    """Decides what bounds a wait."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.slots = program.slots
        self.deadlines = program.deadlines
        self.resolver = program.resolver
        self._instances: dict[str, Obj | None] = {}
        self._running: dict[str, frozenset[str]] = {}

    def at(self, site: CallSite, kinds: tuple[str, ...]) -> Iterator[Wait]:
        """The waits of these kinds that a call may be."""
        if site.how == "defer":
            return
        seen = set()
        for target, entry in self.program.described(site, doing(*kinds)):
            if entry.does in kinds and (target.name, target.holder) not in seen and not self._never_runs(target, site):
                seen.add((target.name, target.holder))
                frame = self.resolver.frame(site.fn)
                wait = Wait(site.fn, site, frame, entry.does, target.name, entry, target, holder=target.holder)
                self.judge(wait)
                yield wait

    def handed_over(self, site: CallSite, kinds: tuple[str, ...]) -> Iterator[Wait]:
        """The waits of these kinds that a call starts without a function of the program between: `pool.submit(http.get, url)`."""
        seen = set()
        for outer, entry in self.program.described(site):
            row = entry.spawn
            if row is None or row.passes == "nothing":
                continue
            given = next((b for b in outer.binds if b.name is not None and b.name == row.target_arg), None)
            if given is None and row.target is not None and row.target < len(outer.binds):
                given = outer.binds[row.target]
            if given is None or given.spread or given.name not in (None, row.target_arg):
                continue
            rest = tuple(b for at, b in enumerate(outer.binds) if b is not given and (b.name is not None or at > (row.target or 0)))
            for flow in self.resolver.ask(given.expr, given.frame):
                for thing, binds in self.resolver.unwrap(flow.thing, rest, given.frame):
                    target = self.program.target_of(thing, binds, flow, site.fn)
                    inner = target.entry
                    if inner is not None and inner.does in kinds and (target.name, target.holder) not in seen:
                        seen.add((target.name, target.holder))
                        frame = self.resolver.frame(site.fn)
                        wait = Wait(site.fn, site, frame, inner.does, target.name, inner, target, holder=target.holder)
                        wait.handed_over = row.passes == "all" and row.each is None
                        # What ends the await of a thread does not end the thread.
                        self.judge(wait, awaited=row.backlog == "none")
                        yield wait

    def _never_runs(self, target: Target, site: CallSite) -> bool:
        """Whether a coroutine is made and dropped: without an `await` it does not begin."""
        dropped = isinstance(site.stmt, f.Do) and site.stmt.value is site.call and not site.awaited
        return dropped and site.fn.module.language == "python" and self._coroutines(target.name)

    @cached_property
    def _coroutines(self) -> CoroutineNames:
        libraries = self.program.knowledge.of("python").libraries
        return CoroutineNames([pattern for library in libraries for pattern in library.coroutines])

    def judge(self, wait: Wait, *, awaited: bool = True) -> None:
        """Fill in a wait's bound and, where it is endless, the ways. Unless it is awaited, no scope around it cuts it."""
        entry = wait.entry
        if self._in_process(wait) or (entry.serves_after and self._serves(wait)) or (entry.replies_to and self._listens(wait)):
            return
        if (entry.at_once and self._is_at_once(wait)) or (entry.ready and is_ready(wait.site, entry.ready)):
            return
        enough = frozenset(entry.enough or ENOUGH[wait.kind])
        own = [s for s in self.slots.at_call(entry.bounds, wait.target.binds, (wait.fn, wait.site.call)) if s.bound.slot in enough]
        # A scope or a context that cuts the wait on every path.
        around = self.deadlines.around(wait.site) if awaited else inf
        if awaited and around == inf and is_awaited(wait.site):
            around = self.deadlines.scoped(wait.fn)
        if around != inf:
            wait.bound = OF_UNKNOWN_LENGTH if around is None else around
            return
        wait.deadlines = self._contexts(wait)
        if wait.deadlines and all(d.kind == "bounded" for d in wait.deadlines):
            numbers = [d.number for d in wait.deadlines]
            wait.bound = OF_UNKNOWN_LENGTH if None in numbers else max(x for x in numbers if x is not None)
            return
        own = [*own, *self._request_bounds(wait, enough), *self._set_on_result(wait, enough)]
        args = frozenset(r.arg for r in entry.bounds if r.arg is not None and r.slot in enough)
        holder = wait.holder
        if holder is None and entry.holder is not None:
            holder = self._instance(entry.holder, wait.fn)
        wait.holder = holder
        delegated: bool | None = self._delegated(holder, args) if holder is not None else False
        if not args:
            delegated = bool(delegated)
        if delegated:
            wait.bound = OF_UNKNOWN_LENGTH
            return
        if holder is not None and self._is_of_unknown_make(holder, wait.fn.module):
            return
        if holder is not None and self.slots.escaped(holder):
            delegated = None
        # What waits for something else than an answer is not ended by what ends each answer.
        only = wait.kind == "wait" and bool(entry.enough)
        held = [s for s in self._held(holder, enough, only) if not _is_of_tests(s, wait)] if holder is not None else []
        if any(not source.unclear for source in held):
            # What a call says that takes no bound is for objects of which nothing is known.
            own = [source for source in own if not is_fixed(source.bound)]
        wait.sources = decide([*own, *held])
        if holder is not None and all(x.passive for source in wait.sources for x in source.slots):
            wait.sources = decide(s for s in self._process_wide(holder, enough) if not _is_of_tests(s, wait)) or wait.sources
        bounded = [s for s in wait.sources if s.bounded]
        if bounded:
            wait.bound = _total(bounded)
            return
        explicit = [x for s in wait.sources if s.written for x in s.slots if x.state == "disabled"]
        unclear = delegated is None or any(s.unclear for s in wait.sources)
        context_unclear = bool(wait.deadlines) and all(d.kind in ("unknown", "bounded") for d in wait.deadlines)
        if context_unclear or (unclear and not explicit and not any(x.state == "absent" for s in wait.sources for x in s.slots)):
            return
        if delegated is None or (not explicit and self._is_handed_on(wait)):
            return
        if entry.protocol == "http" and wait.fn.module.language == "python" and leads_nowhere(self.program, wait.site):
            return
        self._endless(wait, explicit)

    def _is_handed_on(self, wait: Wait) -> bool:
        """Whether what is awaited goes to the caller, who may bound it: a publisher that is returned before anybody waits."""
        if not wait.entry.deferred or wait.site.awaited or not isinstance(wait.site.stmt, f.Return) or wait.entry.returns is None:
            return False
        kind = self.resolver.table(wait.fn.module).type(wait.entry.returns)
        if kind is None or not kind.fluent:
            return False
        call = wait.site.call
        around = (o for o in wait.fn.body.calls if o.call is not call and o.call.at <= call.at and call.end <= o.call.end)
        return not any(entry.does == "wait" for other in around for _, entry in self.program.described(other, doing("wait")))

    def _in_process(self, wait: Wait) -> bool:
        """Whether the peer is a server of the same process, as tests run one; what a test asks by loopback is its own."""
        table = self.resolver.table(wait.fn.module)
        if wait.fn.module.is_test:
            if self._is_on_loopback(wait) or self._is_made_on_loopback(wait):
                return True
            if wait.entry.deferred and not wait.site.awaited and not isinstance(wait.site.stmt, f.Return):
                return True  # The test looks at what was started, and waits for nothing.
        if not self._may_run_servers(wait.fn.module):
            return False
        things = [wait.holder] if wait.holder is not None else []
        for bind in wait.target.binds:
            for node in walk(bind.expr):
                if isinstance(node, f.Ref):
                    head = node.name.partition(".")[0]
                    flows = self.resolver.name(head, f.Ref(node.at, node.end, head), bind.frame)
                    things.extend(x.thing for x in flows if isinstance(x.thing, Obj))
        for thing in things:
            obj: Obj | None = thing
            while obj is not None:
                if any(level.in_process for level in table.mro(self.resolver.external_type(obj) or "?")):
                    return True
                obj = obj.parent
        return False

    def _serves(self, wait: Wait) -> bool:
        """Whether a call is what a server's loop begins its rounds with: it waits for peers that nobody has asked for anything."""
        site, own = wait.site, wait.fn
        base = dotted(site.call.fn).rpartition(".")[0]
        loop = next((arm.node for arm in site.arm.chain() if arm.kind == "loop"), None)
        if not base or not isinstance(loop, f.Loop) or loop.form == "each":
            return False
        if any(
            loop.at <= other.call.at and other.call.end <= site.call.at and dotted(other.call.fn).rpartition(".")[0] == base
            for other in own.body.calls
        ):
            return False
        kind = wait.target.name.rpartition(".")[0]
        table = self.resolver.table(own.module)
        around = [own] if base in own.body.definitions else own.module.functions
        done = {name.rpartition(".")[2] for fn in around for name in fn.head.calls if name.rpartition(".")[0] == base}
        if any((entry := table.call(f"{kind}.{name}")) is not None and entry.does == "connect" for name in done):
            return False
        made_with = bool(getattr(wait.holder.node, "args", ())) if wait.holder is not None else False
        return any(name in done or (made_with and name == kind.rpartition(".")[2]) for name in wait.entry.serves_after)

    def _is_of_unknown_make(self, holder: Obj, module: Module) -> bool:
        """Whether it is, by its declared type only, what a constructor made that nobody described: its bounds are not known."""
        table = self.resolver.table(module)
        obj: Obj | None = holder
        while obj is not None:
            constructs = obj.maker == obj.type or (module.language == "java" and obj.maker.rpartition(".")[2][:1].isupper())
            if obj.kind == "call" and obj.maker and constructs and not table.mro(obj.maker) and table.made_by(obj.maker) is None:
                return True
            obj = obj.parent
        return False

    def _is_on_loopback(self, wait: Wait) -> bool:
        """Whether an argument of a call begins with the address of its own machine, or is made of one that does."""
        written: list[f.Node] = [bind.expr for bind in wait.target.binds]
        for bind in wait.target.binds:
            if isinstance(bind.expr, f.Ref):
                flows = self.resolver.ask(bind.expr, bind.frame)
                written.extend(x.thing.node for x in flows if isinstance(x.thing, Obj) and isinstance(x.thing.node, f.Call | f.New))
                if any(isinstance(x.thing, Text) and _LOOPBACK.match(x.thing.known) for x in flows):
                    return True
        return any(
            isinstance(node, f.Lit) and isinstance(node.value, str) and _LOOPBACK.match(node.value) is not None
            for expr in written
            for node in walk(expr)
        )

    def _is_made_on_loopback(self, wait: Wait) -> bool:
        """Whether the object that is called, or what it comes from, was given its own machine as the peer."""
        obj, seen = wait.holder, 0
        while obj is not None and seen < _LINKS:
            binds = self.slots.made_with(obj) or ()
            for node in (n for bind in binds for n in walk(bind.expr)):
                if isinstance(node, f.Lit) and isinstance(node.value, str) and _OWN_MACHINE.fullmatch(node.value):
                    return True
            for bind in binds:
                flows = self.resolver.ask(bind.expr, bind.frame) if isinstance(bind.expr, f.Ref) else ()
                if any(isinstance(x.thing, Text) and _OWN_MACHINE.fullmatch(x.thing.known) for x in flows):
                    return True
            obj, seen = obj.parent, seen + 1
        return False

    def _is_at_once(self, wait: Wait) -> bool:
        """Whether the object was made as one on which the call has nobody to wait for."""
        made = wait.holder
        if made is None or made.frame is None or not isinstance(made.node, f.Call):
            return False
        return any(
            self.resolver.canonical(flow.thing) in wait.entry.at_once
            for arg in made.node.args
            for flow in self.resolver.ask(arg.value, made.frame)
        )

    def _listens(self, wait: Wait) -> bool:
        """Whether a call reads what nobody has asked for: no method that asks was called on its object before, in that function."""
        site = wait.site
        base = dotted(site.call.fn).rpartition(".")[0]
        return bool(base) and not any(
            other.last in wait.entry.replies_to
            and other.call.at < site.call.at
            and dotted(other.call.fn).rpartition(".")[0] == base
            for other in wait.fn.body.calls
        )

    def _may_run_servers(self, module: Module) -> bool:
        """Whether a file imports a library that runs servers in the process, or is a test, which may be given one."""
        libraries = self._running.get(module.language)
        if libraries is None:
            table = self.resolver.table(module)
            owners = [library for library in table.libraries if any(kind.in_process for kind in library.types)]
            libraries = self._running[module.language] = frozenset(name for library in owners for name in library.modules)
        if module.is_test:
            return bool(libraries)
        if module.language == "java" and "java.lang" in libraries:
            return True  # Every file has that package without a word.
        return any(imp.target in libraries or imp.target.partition(".")[0] in libraries for imp in module.facts.imports)

    def _instance(self, name: str, fn: Fun) -> Obj | None:
        if name not in self._instances:
            entry = self.resolver.table(fn.module).instance(name)
            own = Obj("instance", entry.name, None, name, name) if entry is not None else None
            self._instances[name] = next(self._replaced(name, fn.module.language), own)
        return self._instances[name]

    def _replaced(self, name: str, language: str) -> Iterator[Obj]:
        """What the program puts in the place of a library's own object (`http.DefaultClient = …`)."""
        last = name.rpartition(".")[2]
        for writer in self.program.names.writers(last):
            if writer.module.language != language or writer.module.is_test:
                continue
            frame = self.resolver.frame(writer)
            for key, defs in writer.body.definitions.items():
                if key.rpartition(".")[2] != last:
                    continue
                for d in defs:
                    base = f.Ref(d.at, d.at, key.rpartition(".")[0])
                    if (
                        d.kind == "value"
                        and f"{next((self.resolver.canonical(x.thing) for x in self.resolver.ask(base, frame)), '')}.{last}" == name
                    ):
                        yield from (x.thing for x in self.resolver.defined(d, frame) if isinstance(x.thing, Obj))

    def _process_wide(self, holder: Obj, enough: frozenset[str]) -> list[Source]:
        """The default of the whole process that a type falls back to."""
        table = self.program.knowledge.of(self.slots.language(holder))
        name = self.resolver.external_type(holder)
        for level in table.mro(name) if name else ():
            if level.holder is not None:
                entry = table.instance(level.holder)
                if entry is not None:
                    return list(self._held(Obj("instance", entry.name, None, level.holder, level.holder), enough))
        return []

    # ------------------------------------------------------------ parts

    def _held(self, holder: Obj, enough: frozenset[str], only: bool = False) -> tuple[Source, ...]:
        table = self.program.knowledge.of(self.slots.language(holder))
        name = self.resolver.external_type(holder)
        wanted = enough
        for level in table.mro(name) if name else ():
            if level.enough and not only:
                wanted = frozenset(level.enough) | enough
        return tuple(s for s in self.slots.of_object(holder, wanted) if s.bound.slot in wanted)

    def _delegated(self, holder: Obj, args: frozenset[str]) -> bool | None:
        seen = 0
        obj: Obj | None = holder
        unclear = False
        while obj is not None and seen < 4:
            got = self.slots.delegated(obj, args)
            if got:
                return True
            unclear = unclear or got is None
            obj = obj.parent
            seen += 1
        return None if unclear else False

    def _contexts(self, wait: Wait) -> list[Deadline]:
        entry, binds = wait.entry, wait.target.binds
        out: list[Deadline] = []
        if entry.context is not None and entry.context < len(binds):
            bind = binds[entry.context]
            out.extend(self.deadlines.of(bind.expr, bind.frame))
        if entry.request is not None and entry.request < len(binds) and wait.fn.module.language == "go":
            bind = binds[entry.request]
            out.extend(self.deadlines.of_request(self.resolver.ask(bind.expr, bind.frame)))
        obj = wait.holder
        depth = 0
        while obj is not None and depth < 4:
            if obj.maker and isinstance(obj.node, f.Call) and obj.frame is not None:
                row = self.resolver.table(obj.frame.fn.module).call(obj.maker.partition("#")[0])
                args = obj.binds if obj.binds is not None else self.resolver.binds(obj.node, obj.frame)
                if row is not None and row.context is not None and row.context < len(args):
                    found = self.deadlines.of(args[row.context].expr, args[row.context].frame)
                    if not out or all(d.kind == "bounded" for d in found):
                        out = found
            obj = obj.parent
            depth += 1
        return out

    def _request_bounds(self, wait: Wait, enough: frozenset[str]) -> list[Source]:
        """A bound put on the request object belongs to the call that sends it."""
        entry, binds = wait.entry, wait.target.binds
        if entry.request is None or entry.request >= len(binds) or wait.fn.module.language == "go":
            return []
        bind = binds[entry.request]
        out: list[Source] = []
        for flow in self.resolver.ask(bind.expr, bind.frame):
            thing = flow.thing
            if isinstance(thing, Obj) and isinstance(thing.node, f.Call) and thing.frame is not None and thing.maker:
                row = self.resolver.table(thing.frame.fn.module).call(thing.maker)
                if row is not None:
                    args = thing.binds if thing.binds is not None else self.resolver.binds(thing.node, thing.frame)
                    out.extend(
                        s for s in self.slots.at_call(row.bounds, args, (thing.frame.fn, thing.node)) if s.bound.slot in enough
                    )
                if self.resolver.table(thing.frame.fn.module).type(self.resolver.external_type(thing) or "?") is not None:
                    out.extend(s for s in self.slots.of_object(thing, enough) if s.bound.slot in enough)
        return out

    def _set_on_result(self, wait: Wait, enough: frozenset[str]) -> Iterator[Source]:
        """A bound put on what a call gives, which does its work only when that is used: a cursor."""
        table = self.resolver.table(wait.fn.module)
        setters = {row.setter for kind in table.cursors for row in kind.bounds if row.setter and row.slot in enough}
        if wait.kind != "query" or not any(self.program.names.callers(setter) for setter in setters):
            return
        for flow in self.resolver.ask(wait.site.call, wait.frame):
            kind = table.type(self.resolver.external_type(flow.thing)) if isinstance(flow.thing, Obj) else None
            if kind is not None and kind in table.cursors and isinstance(flow.thing, Obj):
                yield from (s for s in self.slots.of_object(flow.thing, enough) if s.written and s.bound in kind.bounds)

    # ------------------------------------------------------------ verdicts

    def _disabled(self, wait: Wait, explicit: list[Slot]) -> None:
        wait.bound = inf
        for slot in explicit:
            where = slot.written or (wait.fn, wait.site.call)
            hops = slot.flow.hops if slot.flow is not None else ()
            wait.ways.append(
                Endless(where, self.program.trace(hops), Confidence.HIGH, "disabled", wait.api, wait.holder, slot.bound)
            )

    def _endless(self, wait: Wait, explicit: list[Slot]) -> None:
        """Find out on which paths nothing bounds the wait, and where each is to be mended."""
        holder = wait.holder
        program = self.program
        if explicit:
            self._disabled(wait, explicit)
            return
        off = self.deadlines.switched_off(wait.site)
        if off is not None:
            wait.bound = inf
            wait.ways.append(Endless(off, (), Confidence.HIGH, "disabled", wait.api, holder))
            return
        slots = [x for source in wait.sources for x in source.slots]
        confidence = Confidence.HIGH
        steps: list[Step] = []
        for deadline in wait.deadlines:
            if deadline.kind in ("root", "request", "detached") and deadline.made is not None:
                fn, node = deadline.made
                said = {
                    "root": "a context without a deadline is made here",
                    "request": "the request's context carries no deadline",
                }.get(deadline.kind, "detached from the caller's deadline")
                steps.append(program.step(fn, node, said))
                if deadline.flow is not None:
                    steps.extend(program.trace(h for h in deadline.flow.hops if h.text.startswith("passed")))
                if deadline.kind == "request":
                    confidence = min(confidence, Confidence.MEDIUM)
        cap = self.resolver.table(wait.fn.module).cap(wait.entry)
        if cap is not None:
            confidence = min(confidence, cap)
        absent = [x for x in slots if x.state == "absent"]
        for slot in absent[:1]:
            steps.extend(program.assumed(slot.bound, wait.fn, wait.site.call))
        omitting = [x for x in absent if x.flow is not None and x.flow.omitted]
        if omitting and any(x.state == "finite" for x in slots):
            wait.bound = inf
            for slot in omitting:
                assert slot.flow is not None
                call = slot.flow.omitted[-1]
                trace = (
                    *program.trace(slot.flow.hops),
                    program.step(wait.fn, wait.site.call, f"{wait.api} waits here without a bound"),
                )
                wait.ways.append(Endless((call.fn, call.call), trace, confidence, "nothing", wait.api, holder))
            return
        by_default = [x for x in absent if x.flow is not None and x.flow.default]
        if by_default and len(by_default) == len(absent):
            # A pass-through of the public surface: nobody here relies on the default.
            confidence = Confidence.LOW
        elif any(x.state in ("unknown", "finite") for x in slots) and not omitting:
            if not any(x.flow is not None for x in absent):
                return
            confidence = min(confidence, Confidence.MEDIUM)
        carrier: Obj | None = None
        if not any(x.given and x.holder is None for x in absent):  # else the call puts something endless in the place of its bound
            enough = frozenset(wait.entry.enough or ENOUGH[wait.kind])
            carrier = self._carrier(holder, enough) or self._carrier(self._part(wait.entry, wait.target.binds), enough)
            if holder is not None and carrier is None and self._outside(holder) and not self._judged_at_call(wait, holder):
                return
            if holder is None and self._goes_by_unknown(wait, carrier):
                return
        wait.bound = inf
        if carrier is not None and carrier.frame is not None and isinstance(carrier.node, f.Node):
            steps.append(program.step(wait.fn, wait.site.call, f"{wait.api} waits here"))
            where = (carrier.frame.fn, carrier.node)
            if carrier.frame.caller is not None and carrier.frame.site is not None:
                steps.append(program.step(carrier.frame.caller.fn, carrier.frame.site, "made for this call"))
            subject = self.resolver.external_type(carrier)
            wait.ways.append(Endless(where, tuple(steps), min(confidence, Confidence.MEDIUM), "nothing", subject, carrier))
            return
        if holder is not None and holder.frame is not None and isinstance(holder.node, f.Node):
            steps.append(
                program.step(holder.frame.fn, holder.node, f"{self.resolver.external_type(holder) or 'the object'} is made here")
            )
        for slot in omitting or absent[:1]:
            if slot.flow is not None:
                steps.extend(program.trace(slot.flow.hops))
        wait.ways.append(
            Endless((wait.fn, wait.site.call), tuple(steps), min(confidence, Confidence.MEDIUM), "nothing", wait.api, holder)
        )

    def _wrapped(self, obj: Obj) -> Obj | None:
        """What stands in an object that a call made around it."""
        if obj.kind != "call" or not obj.maker or obj.frame is None or not isinstance(obj.node, f.Call):
            return None
        entry = self.resolver.table(obj.frame.fn.module).call(obj.maker.partition("#")[0])
        binds = obj.binds if obj.binds is not None else self.resolver.binds(obj.node, obj.frame)
        return self._part(entry, binds) if entry is not None else None

    def _part(self, entry: CallEntry, binds: tuple[Bind, ...]) -> Obj | None:
        """What a call is given that takes no bound itself and goes by that of what it wraps."""
        position = entry.part if entry.part is not None else entry.request
        if entry.bounds or position is None or not 0 <= position < len(binds):
            return None
        flows = self.resolver.ask(binds[position].expr, binds[position].frame)
        return next((x.thing for x in flows if isinstance(x.thing, Obj)), None)

    def _goes_by_unknown(self, wait: Wait, carrier: Obj | None) -> bool:
        """Whether a call takes no bound itself, and goes by an argument of which nobody knows what it came from: somebody else's
        cursor, or one that another library made."""
        entry = wait.entry
        position = entry.part if entry.part is not None else entry.request
        if entry.bounds or position is None or position >= len(wait.target.binds) or wait.fn.module.language == "go":
            return False
        if carrier is None:
            return True
        made_by = self.resolver.external_type(carrier).partition(".")[0]
        return entry.part is None and wait.fn.module.language == "python" and made_by != wait.api.partition(".")[0]

    def _judged_at_call(self, wait: Wait, holder: Obj) -> bool:
        """A holder that came from outside is judged at the call if the call can take the bound and the type carries none."""
        enough = frozenset(wait.entry.enough or ENOUGH[wait.kind])
        if self._carries(holder) or self._made_of_parts(holder):
            return False
        return wait.entry.context is not None or any(r.slot in enough for r in wait.entry.bounds)

    def _made_of_parts(self, holder: Obj) -> bool:
        """Whether whoever made a client may have handed it a part that bounds its calls."""
        name = self.resolver.external_type(holder)
        levels = self.program.knowledge.of(self.slots.language(holder)).mro(name) if name else ()
        return any(level.role == "client" and any(part.arg is not None for part in level.parts) for level in levels)

    def _outside(self, obj: Obj, depth: int = 0) -> bool:
        """Whether an object came from outside, or goes by one that did: a session on a connection that was handed in."""
        seen = 0
        current: Obj | None = obj
        while current is not None and seen < _LINKS:
            if current.kind == "outside" or (current.kind == "any" and not isinstance(current.type, Klass)):
                return True
            if depth < 3 and any(self._outside(part, depth + 1) for part in self.slots.parts(current)):
                return True
            current = current.parent
            seen += 1
        return False

    def _carrier(self, holder: Obj | None, enough: frozenset[str], depth: int = 0) -> Obj | None:
        """The object whose construction is the place to mend: what the holder was made from, else a part it was given."""
        chain: list[Obj] = []
        obj = holder
        while obj is not None and len(chain) < _LINKS:
            chain.append(obj)
            obj = obj.parent
        carriers = [
            x
            for x in reversed(chain)
            if self._carries(x) and x.frame is not None and x.kind in ("new", "call") and not self._is_asked_for(x)
        ]
        # A session whose sockets have limits of their own is no place for those.
        carriers.sort(key=lambda carrier: not self._has_place_for(carrier, enough))
        if carriers:
            obj = carriers[0]
            # What it wraps, or a part that takes its arguments over, has them in its place.
            parts = self.slots.parts(obj) if depth < 3 and self.slots.gives_way(obj) else ()
            inner = [x for x in (self._wrapped(obj) if depth < 3 else None, *parts) if x is not None]
            nearer = (self._carrier(y, enough, depth + 1) for y in inner if self._carries(y))
            return next((x for x in nearer if x is not None), obj)
        for obj in chain if depth < 3 else []:
            for part in self.slots.parts(obj):
                found = self._carrier(part, enough, depth + 1)
                if found is not None:
                    return found
        return None

    def _is_asked_for(self, obj: Obj) -> bool:
        """Whether an object is only what a client stands on, and was asked of it by a method without arguments."""
        above = obj.parent
        if obj.kind != "call" or above is None or not isinstance(obj.node, f.Call) or obj.node.args:
            return False
        name = self.resolver.external_type(above)
        levels = list(self.program.knowledge.of(self.slots.language(above)).mro(name)) if name else []
        ready = any(level.role in ("client", "pool") for level in levels) and any(level.carries for level in levels)
        return ready and obj.maker.partition("#")[0].rpartition(".")[0] == name

    def _has_place_for(self, obj: Obj, enough: frozenset[str]) -> bool:
        """Whether one of these slots can be written where an object is made."""
        table = self.program.knowledge.of(self.slots.language(obj))
        made = table.call(obj.maker) if obj.maker else None
        rows = (*table.bounds(self.resolver.external_type(obj) or obj.maker), *(made.bounds if made is not None else ()))
        return any(row.slot in enough for row in rows)

    def _carries(self, obj: Obj) -> bool:
        name = self.resolver.external_type(obj)
        return bool(name) and any(level.carries for level in self.program.knowledge.of(self.slots.language(obj)).mro(name))


def _is_of_tests(source: Source, wait: Wait) -> bool:
    """Whether a test has written a value that only tests run with, and what waits is none."""
    return not wait.fn.module.is_test and any(slot.written is not None and slot.written[0].module.is_test for slot in source.slots)


def _total(sources: list[Source]) -> float | None:
    """The smallest bound of those that hold on every path, each at its largest."""
    best: float | None = None
    for source in sources:
        numbers = [s.number for s in source.slots]
        if None in numbers:
            continue
        largest = max(x for x in numbers if x is not None)
        best = largest if best is None else min(best, largest)
    return OF_UNKNOWN_LENGTH if best is None else best
