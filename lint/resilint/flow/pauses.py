"""Pauses between two passes of a loop: how long, whether they grow from pass to pass, whether a random part is in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.passes import names_it
from resilint.flow.slots import decide
from resilint.flow.values import Bind, ClassVal, Ext, FnVal, Frame, Num, Obj, Unknown
from resilint.knowledge.index import doing
from resilint.knowledge.schema import CallEntry
from resilint.link.code import CallSite, Fun, children, dotted, last_name, walk
from resilint.model import Confidence

if TYPE_CHECKING:
    from resilint.program import Program, Target

_DEEP = 3
"""Calls followed down to a sleep."""
_SLICED = 200
"""Expressions looked at for one pause."""
_RANDOM = re.compile(r"rand|jitter|rng|uniform|gauss|noise|dither|fuzz|entropy|spread", re.IGNORECASE)
"""What a source of chance is called: a name that says so is taken at its word, which keeps quiet."""
_PAUSES = re.compile(
    r"sleep|slumber|wait|back_?off|delay|pause|throttl|retry_?after|(^|_)park|await|linger|cool_?down|rate_?limit|limiter|rest$",
    re.IGNORECASE,
)
"""What a pause is called where nobody can look into it."""
_SLEEPS = re.compile(r"sleep", re.IGNORECASE)
_STEPS = re.compile(
    r"next|back_?off|delay|interval|wait|duration|pause|sleep|period|retry|timeout|schedule|policy|step", re.IGNORECASE
)
"""What may give another value each time it is called."""


class Pause(NamedTuple):
    """How long a loop stands still between two passes; `None` for what is not known."""

    seconds: float | None = 0.0
    """Without a random part, where it is always the same."""
    grows: bool | None = False
    jitter: bool | None = False
    node: f.Node | None = None
    """The call in the loop that pauses."""
    within: tuple[tuple[Fun, f.Node], ...] = ()
    """The way from there down to the sleep."""
    confidence: Confidence = Confidence.HIGH
    aware: bool | None = None
    """Whether cancellation or an event ends it."""
    varying: frozenset[str] = frozenset()
    """Parameters of the function that its length is made of."""

    @property
    def known(self) -> bool:
        """Whether anything is known of its length."""
        return self.seconds is not None or self.grows is not None or self.jitter is not None


UNKNOWN = Pause(None, None, None)


def together(pauses: Iterable[Pause]) -> Pause:
    """Several pauses as one; what is not known of one is not known of all."""
    found = [p for p in pauses if p.seconds != 0.0 or p.grows is not False]
    if not found:
        return Pause()
    if any(not p.known for p in found):
        return UNKNOWN
    grows = any(p.grows for p in found) or (None if any(p.grows is None for p in found) else False)
    jitter = any(p.jitter for p in found) or (None if any(p.jitter is None for p in found) else False)
    numbers = [p.seconds for p in found if p.seconds is not None]
    first = next((p for p in found if p.grows), found[0])
    return Pause(
        sum(numbers) if len(numbers) == len(found) else None,
        grows,
        jitter,
        first.node,
        first.within,
        min(p.confidence for p in found),
    )


@dataclass(frozen=True)
class _Nature:
    """What goes into a value: something that changes from pass to pass, chance, something nobody knows."""

    varies: bool = False
    random: bool = False
    unknown: bool = False

    def __or__(self, other: _Nature) -> _Nature:
        return _Nature(self.varies or other.varies, self.random or other.random, self.unknown or other.unknown)


class Pauses:
    """Finds and measures pauses, for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._left = 0
        self._sites: dict[Fun, dict[int, CallSite]] = {}
        self._leads: dict[tuple[Fun, int], bool] = {}

    def on(self, fn: Fun, loop: f.Loop | None, path: Iterable[f.Stmt]) -> Iterator[Pause]:
        """The pauses among statements of a loop, those in what they call too."""
        frame = self.resolver.frame(fn)
        seen: set[int] = set()
        for stmt in path:
            if isinstance(stmt, f.Select):
                pause = self._select(stmt, frame, loop)
                if pause is not None:
                    yield pause
                continue
            for node in walk(stmt):
                if id(node) in seen:
                    continue
                seen.add(id(node))
                if isinstance(node, f.Call):
                    yield from self._call(node, frame, loop, 0)
                elif isinstance(node, f.Recv):
                    yield self._timer(node, node.value, frame, loop) or UNKNOWN._replace(node=node)

    def site(self, call: f.Call, fn: Fun) -> CallSite | None:
        """A call with the body it stands in."""
        sites = self._sites.get(fn)
        if sites is None:
            sites = self._sites[fn] = {id(s.call): s for s in fn.body.calls}
        return sites.get(id(call))

    # ------------------------------------------------------------ finding

    def _call(self, call: f.Call, frame: Frame, loop: f.Loop | None, depth: int) -> Iterator[Pause]:
        site = self.site(call, frame.fn)
        if site is None or site.how:
            return
        last = site.last
        named = bool(_PAUSES.search(last))
        if not named and not self._may_pause(site, depth):
            return
        inside: list[Fun] = []
        outside = 0
        targets = self.program.targets(site, frame)
        if frame.fn.module.language == "java" and all(isinstance(target.flow.thing, Unknown) for target in targets):
            # Who is called is told by what is declared only, and how long it pauses is not known then.
            declared = self.program.names.java.targets(site.call, frame.fn)
            if any(
                isinstance(called, Fun) and self._may_be_pause(called, depth) and self._holds(called, depth) for called in declared
            ):
                yield UNKNOWN._replace(node=call)
                return
        for target in targets:
            entry = target.entry
            if entry is not None:
                if entry.does in ("sleep", "wait"):
                    yield self._length(target, entry, site, frame, loop)
                    return
                if entry.makes is not None or entry.does in ("pure", "make", "configure", "log", "hash", "network", "query"):
                    return
            thing = target.flow.thing
            if isinstance(thing, FnVal):
                inside.append(thing.fn)
                if depth < _DEEP and not thing.fn.head.is_abstract:
                    found: list[Pause] = []
                    if self._may_hold(thing.fn, depth + 1):
                        inner = self.resolver.enter(thing, call, frame, target.binds)
                        found = list(self._in(inner, depth + 1))
                    if found:
                        for pause in found:
                            yield pause._replace(node=call, within=((thing.fn, pause.node or call), *pause.within))
                        return
                    # A function of that name pauses, in whatever way: by a timer that calls back, as event loops have it.
                    outside += self._waits_unseen(thing.fn) + bool(_SLEEPS.search(last))
            elif not isinstance(thing, ClassVal) and not (isinstance(thing, Ext) and thing.name.startswith("<builtin>.")):
                outside += 1
        if (outside or not inside or all(fn.head.is_abstract for fn in inside)) and named:
            yield UNKNOWN._replace(node=call)

    def _may_pause(self, site: CallSite, depth: int) -> bool:
        """Whether a call may lead to a pause, by the names of what it could enter and by what is declared."""
        if site.last not in self.resolver.table(site.fn.module).names and site.last not in self._leading:
            return False
        declared = self.program.names.java.targets(site.call, site.fn) if site.fn.module.language == "java" else []
        return not declared or any(self._may_be_pause(target, depth) for target in declared)

    def _may_be_pause(self, target: Fun | str, depth: int) -> bool:
        """Whether what a call is declared to run may be a pause or come to one. Of a type that nobody described anything may be."""
        if isinstance(target, Fun):
            return depth < _DEEP and not target.head.is_abstract and self._may_hold(target, depth + 1)
        table = self.program.knowledge.of("java")
        return table.type(target.rpartition(".")[0]) is None or table.may_call(target, doing("sleep", "wait"))

    def _may_hold(self, fn: Fun, depth: int) -> bool:
        """Whether a pause may stand in a function or in what it calls, whoever called it: asked once, not for each way that leads
        there."""
        found = self._leads.get((fn, depth))
        if found is None:
            found = self._leads[fn, depth] = any(
                not site.how and (bool(_PAUSES.search(site.last)) or self._may_pause(site, depth)) for site in fn.body.calls
            ) or any(isinstance(stmt, f.Select) for stmt, _ in fn.body.stmts)
        return found

    def _holds(self, fn: Fun, depth: int) -> bool:
        """Whether a function that is only declared pauses somewhere."""
        return any(True for _ in self._in(self.resolver.frame(fn), depth + 1))

    @cached_property
    def _leading(self) -> frozenset[str]:
        """Names of functions here that call something named like a pause, themselves or in what they call."""
        callers = self.program.names.callers_of
        near = {fn.name for name, found in callers.items() if _PAUSES.search(name) for fn in found}
        return frozenset(near | {fn.name for name in near for fn in callers.get(name, ())})

    def _waits_unseen(self, fn: Fun) -> int:
        """Whether a function calls something that is named like a pause and lies elsewhere."""
        return sum(1 for c in fn.head.calls if _PAUSES.search(c.rpartition(".")[2]) and not _is_local_noise(c))

    def _in(self, frame: Frame, depth: int) -> Iterator[Pause]:
        """The pauses of a function's own body."""
        fn = frame.fn
        for site in fn.body.calls:
            if not site.how:
                yield from self._call(site.call, frame, None, depth)
        for stmt, _ in fn.body.stmts:
            if isinstance(stmt, f.Select):
                pause = self._select(stmt, frame, None)
                if pause is not None:
                    yield pause

    def _select(self, stmt: f.Select, frame: Frame, loop: f.Loop | None) -> Pause | None:
        """A choice over channels pauses until its timer speaks; without one, until something else does."""
        if any(case.op is None for case in stmt.cases):
            return None
        channels = [n.value for case in stmt.cases if case.op is not None for n in walk(case.op) if isinstance(n, f.Recv)]
        timers = [p for p in (self._timer(stmt, channel, frame, loop) for channel in channels) if p is not None]
        if timers:
            return timers[0]._replace(aware=len(channels) > 1)
        return UNKNOWN._replace(node=stmt, aware=True)

    def _timer(self, node: f.Node, channel: f.Expr, frame: Frame, loop: f.Loop | None) -> Pause | None:
        """The pause until a timer's channel speaks."""
        if isinstance(channel, f.Call):
            site = self.site(channel, frame.fn)
            for target in self.program.targets(site, frame) if site is not None else ():
                if target.entry is not None and any(row.slot == "wait" for row in target.entry.bounds) and site is not None:
                    return self._length(target, target.entry, site, frame, loop)._replace(node=node)
            return None
        seconds = self.program.worsts.timer(channel, frame)
        if seconds is None:
            return None
        return Pause(seconds, False, False, node)

    # ------------------------------------------------------------ measuring

    def _length(self, target: Target, entry: CallEntry, site: CallSite, frame: Frame, loop: f.Loop | None) -> Pause:
        """How long a sleep is, from its own arguments."""
        rows = [row for row in entry.bounds if row.slot in ("wait", "total")]
        aware = entry.does == "wait" or site.awaited
        if not rows:
            return UNKNOWN._replace(node=site.call, aware=aware)
        slots = self.program.slots
        sources = decide(slots.at_call(rows, target.binds, (frame.fn, site.call)))
        bind = next((b for row in rows for b in [slots.find_bind(row.arg, row.pos, target.binds)[0]] if b is not None), None)
        self._left = _SLICED
        nature = self._nature(bind.expr, bind.frame, loop, frozenset()) if bind is not None else _Nature(unknown=True)
        numbers: list[float] = []
        known = bool(sources)
        for source in sources:
            for slot in source.slots:
                if slot.state == "finite" and slot.number is not None and not slot.mismatch:
                    numbers.append(slot.number)
                elif slot.state == "disabled":
                    numbers.append(0.0)
                else:
                    known = False
        pause = Pause(node=site.call, aware=aware)
        if bind is not None:
            names = {n.name for n in walk(bind.expr) if isinstance(n, f.Ref)}
            pause = pause._replace(varying=frozenset(names & set(frame.fn.params)))
        if nature.varies:
            # Chance that nobody saw may hide in what nobody knows.
            return pause._replace(seconds=None, grows=True, jitter=True if nature.random else None if nature.unknown else False)
        if nature.random:
            return pause._replace(seconds=None, grows=None, jitter=True)
        if known and numbers and not nature.unknown:
            return pause._replace(seconds=max(numbers), grows=False, jitter=False)
        return pause._replace(seconds=None, grows=None, jitter=None if nature.unknown else False)

    def _nature(self, expr: f.Expr, frame: Frame, loop: f.Loop | None, seen: frozenset[tuple[str, Frame]]) -> _Nature:
        """What goes into a value, through variables, parameters and what is called for it."""
        self._left -= 1
        if self._left < 0:
            return _Nature(unknown=True)
        match expr:
            case f.Lit():
                return _Nature()
            case f.Ref():
                return self._of_name(expr, frame, loop, seen)
            case f.Call():
                return self._of_call(expr, frame, loop, seen)
            case f.Let():
                name = dotted(expr.target)
                own = _Nature(varies=loop is not None and _is_in(expr, loop) and names_it(expr.value, name))
                return own | self._nature(expr.value, frame, loop, seen)
            case f.Fn() | f.Type():
                return _Nature(unknown=True)
        out = _Nature()
        for child in _parts(expr):
            out |= self._nature(child, frame, loop, seen)
        return out

    def _of_name(self, ref: f.Ref, frame: Frame, loop: f.Loop | None, seen: frozenset[tuple[str, Frame]]) -> _Nature:
        name = ref.name
        if (name, frame) in seen:
            return _Nature()
        seen |= {(name, frame)}
        out = _Nature(random=bool(_RANDOM.search(name.rpartition(".")[2])))
        fn = frame.fn
        defs = fn.body.definitions.get(name, [])
        for d in defs:
            inside = loop is not None and loop.at <= d.at < loop.end
            if d.kind == "aug":
                out |= _Nature(varies=inside) | self._parts_of(d.expr, frame, loop, seen)
            elif d.kind == "each" and d.node is loop and loop is not None:
                out |= self._of_turns(loop, frame, seen)
            elif d.kind == "param":
                continue
            elif d.expr is not None and d.kind == "value":
                out |= _Nature(varies=inside and names_it(d.expr, name)) | self._nature(d.expr, frame, loop, seen)
            elif d.kind not in ("import", "declared"):
                out |= _Nature(unknown=True)
        param = fn.params.get(name)
        if param is not None and param.kind != "self":
            return out | self._of_param(param, frame, seen)
        if not defs:
            head, _, rest = name.partition(".")
            if rest and head in fn.params:
                out |= self._of_field(name, frame, seen)
            elif not rest and fn.parent is not None and frame.closure is None:
                outer = self.resolver.frame(fn.parent)
                if head in fn.parent.body.definitions or head in fn.parent.params:
                    out |= self._nature(ref, outer, None, seen)
        return out

    def _of_param(self, param: f.Param, frame: Frame, seen: frozenset[tuple[str, Frame]]) -> _Nature:
        if frame.args is None or frame.caller is None:
            return _Nature()
        bind, _ = self.resolver.argument(param, frame.args, frame.fn)
        if bind is None:
            return _Nature()
        return self._nature(bind.expr, bind.frame, self._loop_of(bind, frame), seen)

    @staticmethod
    def _loop_of(bind: Bind, frame: Frame) -> f.Loop | None:
        """The innermost loop around the call that passes an argument."""
        site = frame.site
        if site is None:
            return None
        found: f.Loop | None = None
        for stmt, _ in bind.frame.fn.body.stmts:
            if isinstance(stmt, f.Loop) and stmt.at <= site.at and site.end <= stmt.end:
                found = stmt
        return found

    def _of_field(self, name: str, frame: Frame, seen: frozenset[tuple[str, Frame]]) -> _Nature:
        """A field of an object: what the methods of its file write there, and whether they change it step by step."""
        last = name.rpartition(".")[2]
        out = _Nature()
        for writer in self.program.names.writers(last)[:12]:
            if writer.module is not frame.fn.module:
                continue
            for key, defs in writer.body.stored(last):
                for d in defs:
                    steps = d.kind == "aug" or names_it(d.expr, key)
                    inner = self._nature(d.expr, self.resolver.frame(writer), None, seen) if d.expr is not None else _Nature()
                    # A field that nobody here changes by itself is set once, by a caller who may have thrown dice.
                    out |= _Nature(varies=steps) | inner
        return out

    def _of_turns(self, loop: f.Loop, frame: Frame, seen: frozenset[tuple[str, Frame]]) -> _Nature:
        """The variable of a loop: it counts, or walks along a list of pauses."""
        it = loop.iter
        if isinstance(it, f.Lit):
            return _Nature(varies=True)
        if isinstance(it, f.Call) and last_name(it.fn) in ("range", "xrange", "count", "enumerate"):
            extra = _Nature()
            for arg in it.args if last_name(it.fn) == "enumerate" else ():
                extra |= self._nature(arg.value, frame, None, seen)
            return _Nature(varies=True) | extra
        items = self._items(it, frame)
        if items is not None:
            return _Nature(varies=len(set(items)) > 1)
        return _Nature(unknown=True)

    def _items(self, expr: f.Expr | None, frame: Frame) -> list[float] | None:
        """The numbers of a list that is written out."""
        if expr is None:
            return None
        lists = [(x.thing.node, x.thing.frame or frame) for x in self.resolver.ask(expr, frame) if isinstance(x.thing, Obj)]
        for node, where in [(expr, frame), *lists]:
            if isinstance(node, f.Coll):
                values = [p.value.value for p in node.items if isinstance(p.value, f.Lit)]
                if len(values) == len(node.items):
                    return [float(v) for v in values if isinstance(v, int | float)]
                things = [[x.thing for x in self.resolver.ask(p.value, where)] for p in node.items]
                numbers = [one[0].number for one in things if len(one) == 1 and isinstance(one[0], Num)]
                if numbers and len(numbers) == len(things):
                    return [float(number) for number in numbers]
        return None

    def _of_call(self, call: f.Call, frame: Frame, loop: f.Loop | None, seen: frozenset[tuple[str, Frame]]) -> _Nature:
        out = _Nature()
        text = dotted(call.fn)
        if isinstance(call.fn, f.Field):
            out |= self._nature(call.fn.base, frame, loop, seen) | _Nature(random=bool(_RANDOM.search(call.fn.name)))
        elif _RANDOM.search(text):
            for arg in call.args:
                out |= self._nature(arg.value, frame, loop, seen)
            return out | _Nature(random=True)
        elif "." in text:
            out |= self._nature(f.Ref(call.at, call.fn.end, text.rpartition(".")[0]), frame, loop, seen)
        for arg in call.args:
            out |= self._nature(arg.value, frame, loop, seen)
        site = self.site(call, frame.fn)
        if site is None:
            return out | _Nature(unknown=True)
        for target in self.program.targets(site, frame):
            thing = target.flow.thing
            if target.name and _RANDOM.search(target.name):
                return out | _Nature(random=True)
            if isinstance(thing, FnVal):
                if (thing.fn.head.qual, frame) in seen or frame.depth > _DEEP + 2:
                    out |= _Nature(unknown=True)
                    continue
                inner = self.resolver.enter(thing, call, frame, target.binds)
                if thing.fn.head.is_abstract or not thing.fn.body.returns or thing.fn.head.is_generator:
                    out |= _Nature(unknown=True)
                for ret, _ in thing.fn.body.returns:
                    if ret.value is not None:
                        out |= self._nature(ret.value, inner, None, seen | {(thing.fn.head.qual, frame)})
            elif isinstance(thing, Ext):
                known = target.entry is not None or thing.name.startswith("<builtin>.")
                if not known and _STEPS.search(last_name(call.fn)):
                    out |= _Nature(unknown=True)
            elif target.entry is None and _STEPS.search(last_name(call.fn)):
                out |= _Nature(unknown=True)
        return out

    def _parts_of(self, expr: f.Expr | None, frame: Frame, loop: f.Loop | None, seen: frozenset[tuple[str, Frame]]) -> _Nature:
        return self._nature(expr, frame, loop, seen) if expr is not None else _Nature()


def _is_in(node: f.Node, loop: f.Loop) -> bool:
    return loop.at <= node.at < loop.end


def _is_local_noise(called: str) -> bool:
    """Calls whose name looks like a pause and is none: a rate that is computed, a limit that is read."""
    return bool(re.search(r"get|set|is_|max|min|log|format", called.rpartition(".")[2], re.IGNORECASE))


def _parts(node: f.Node) -> Iterator[f.Expr]:
    """The expressions directly inside one."""
    for child in children(node):
        if isinstance(child, f.Arg | f.Pair):
            yield child.value
        elif isinstance(child, f.Gen):
            yield child.iter
        elif not isinstance(child, f.Type):
            yield child
