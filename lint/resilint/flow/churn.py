"""Churn: connections that are opened for one call and closed after it, since what would keep them is made anew or kept off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from resilint import facts as f
from resilint.flow.draws import TIME_WAIT, port_rate, short_type
from resilint.flow.inputs import Size
from resilint.flow.marks import counts, matches_path, pattern_of, steps_of
from resilint.flow.spawns import Spawn, nodes, over_loop, short
from resilint.flow.timeouts import Fault
from resilint.flow.values import ClassVal, FnVal, Frame, Obj, Text
from resilint.flow.waits import Wait
from resilint.knowledge.index import doing
from resilint.knowledge.schema import TypeEntry
from resilint.link.code import (
    CODE,
    CallSite,
    Fun,
    Klass,
    Module,
    children,
    dotted,
    last_name,
    leaves,
    names_given,
    place_of,
    walk,
    walk_block,
)
from resilint.link.entries import Entry
from resilint.link.looks import any_of
from resilint.model import Confidence, Severity, Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_BRACE = any_of(b"{")
_DEEP = 4
_NEAR = 2
_CALLERS = 12
_FAR = 8
_CHANGES_NOTHING = frozenset(
    {
        "staticmethod",
        "classmethod",
        "contextmanager",
        "asynccontextmanager",
        "override",
        "Override",
        "Nullable",
        "NotNull",
        "Nonnull",
    }
)
"""Decorators and annotations under which each call still runs the function."""
_KEEPS = frozenset(
    {
        "append",
        "add",
        "put",
        "putIfAbsent",
        "computeIfAbsent",
        "insert",
        "setdefault",
        "push",
        "Store",
        "LoadOrStore",
        "set",
        "register",
    }
)
_OF_CONTEXT = re.compile(
    r"^(?:ctx|context|self|cls|this|_)$|(?:^|_)(?:cfg|config|conf|settings?|opts?|options?|env)$", re.IGNORECASE
)
"""Parameters that are the same from call to call."""

_MEMO = re.compile(
    r"^(?!.*(?:never|no_?cache|not_?cached|un_?cached|control|evict|invalid|clear|cache_?put|headers)).*(?:cache|memo)",
    re.IGNORECASE,
)
"""Decorators under which a function runs once, or once in a while; `never_cache` is none."""
_PEER = re.compile(r"url|uri|host|server|endpoint|address|target|socket", re.IGNORECASE)
"""Arguments that tell a client its peer."""
_NOT_A_MESSAGE = re.compile(
    r"connect|start|stop|close|open|init|ready|signal|shutdown|exit|later|soon|call_at|done|timer", re.IGNORECASE
)

Kind = Literal["loop", "request", "message", "task"]


class Round(NamedTuple):
    """Why code runs again and again: in a loop, for each request or message, as work that is started for each of many."""

    kind: Kind
    each: str
    """As it goes on after "for": `each of `ids``, `every request`."""
    steps: tuple[Step, ...]
    sure: Confidence = Confidence.HIGH


class _Made(NamedTuple):
    """One place that makes an object which keeps connections."""

    fn: Fun
    node: f.Node
    stmt: f.Stmt
    site: CallSite | None
    obj: Obj
    kind: TypeEntry


class Churn:
    """Finds what opens its connections anew for each call."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._rounds: dict[Fun, Round | None] = {}

    def faults(self) -> Iterator[Fault]:
        """Every fault, in order of path and position."""
        found: dict[Span, Fault] = {}
        for fault in (*self._made_per_call(), *self._one_shots(), *self._switched_off(), *self._in_settings()):
            found.setdefault(fault.span, fault)
        yield from sorted(found.values(), key=lambda fault: (fault.span, fault.message))

    # ------------------------------------------------------------ made for one call

    def _made_per_call(self) -> Iterator[Fault]:
        for made in self._makers():
            if self._is_shell(made) or self._is_particular(made) or self.program.draws.is_local(made.obj):
                continue
            if self._asks_others(made):
                continue
            round_ = self._dropped_in(made.fn, made.node, made.stmt, made.site, 0, frozenset())
            if round_ is None:
                continue
            shown = self._outermost(made)
            name = self._name(made.kind, made.fn.module.language)
            text = (
                f"{name} is made anew for {round_.each}: each opens a connection of its own, whose port is held for {TIME_WAIT} s "
                f"after it ({port_rate()} to one peer)"
            )
            span = self.program.span_of(made.fn, shown)
            yield Fault(span, text, Value(None, self.program.knowledge.sure(made.kind, round_.sure), round_.steps))

    def _makers(self) -> Iterator[_Made]:
        """Places outside tests that make an object which keeps connections for the next call."""
        for language in CODE:
            table = self.program.knowledge.of(language)
            kinds = [(kind, library) for library in table.libraries for kind in library.types if kind.reusable]
            lasts = frozenset(
                name.rpartition(".")[2]
                for kind, _ in kinds
                for name in (kind.name, *kind.aliases, *kind.made_by)
                if "*" not in name
            )
            modules = frozenset(name for _, library in kinds for name in library.modules)

            near = {
                module.path
                for module in self.program.start_modules(language)
                if not module.is_test and not modules.isdisjoint(module.imported)
            }

            def among(module: Module, near: set[str] = near) -> bool:
                return module.path in near

            for site in self.program.start_sites(lasts.__contains__, language, among=among):
                yield from self._made_at(site.fn, site.call, site.stmt, site)
            if language != "go":
                continue
            for module in self.program.start_modules("go"):
                if not among(module):
                    continue
                for fn in module.functions if self.program.says(module.path, _BRACE) else ():
                    if any(c.endswith("{") and c.rstrip("{").rpartition(".")[2] in lasts for c in fn.head.calls):
                        for new, _, stmt in fn.body.news:
                            if new.type.name.rpartition(".")[2] in lasts:
                                yield from self._made_at(fn, new, stmt, None)

    def _made_at(self, fn: Fun, node: f.Expr, stmt: f.Stmt, site: CallSite | None) -> Iterator[_Made]:
        table = self.resolver.table(fn.module)
        for flow in self.resolver.ask(node, self.resolver.frame(fn)):
            obj = flow.thing
            if not isinstance(obj, Obj) or not isinstance(obj.type, str) or not isinstance(obj.node, f.Node):
                continue
            if (obj.node.at, obj.node.end) != (node.at, node.end) or obj.fn is not fn:
                continue
            kind = next((level for level in table.mro(obj.type) if level.reusable), None)
            if kind is not None and not self._derived(obj):
                yield _Made(fn, node, stmt, site, obj, kind)
                return

    def _derived(self, obj: Obj) -> bool:
        """Whether it is made from another one, whose connections it shares."""
        table = self.program.knowledge.of(self.program.slots.language(obj))
        above = obj.parent
        for _ in range(_DEEP):
            if above is None:
                return False
            name = self.resolver.external_type(above)
            if any(level.reusable for level in table.mro(name) if name):
                return True
            above = above.parent
        return False

    def _is_shell(self, made: _Made) -> bool:
        """Whether what keeps the connections is a part that it is given, made elsewhere."""
        table = self.resolver.table(made.fn.module)
        for part in self.program.slots.parts(made.obj):
            name = self.resolver.external_type(part)
            levels = table.mro(name) if name else ()
            if any(level.reusable for level in levels):
                return True
            if (not levels or any(level.role in ("transport", "pool") for level in levels)) and part.fn is not made.fn:
                return True
        return False

    def _is_particular(self, made: _Made) -> bool:
        """Whether it is made for what its caller names: the peer or its secrets come with the call, so one cannot serve all."""
        known = {row.arg or row.field for row in self.resolver.table(made.fn.module).bounds(made.kind.name)}
        values: list[f.Expr] = []
        if isinstance(made.node, f.Call):
            values = [arg.value for arg in made.node.args if arg.name is None or arg.name not in known]
            if isinstance(made.node.fn, f.Field):
                values.append(made.node.fn.base)
            elif "." in dotted(made.node.fn):
                values.extend(self._made_here(dotted(made.node.fn).partition(".")[0], made.fn))
        elif isinstance(made.node, f.New):
            values = [pair.value for pair in made.node.fields if not (isinstance(pair.key, f.Ref) and pair.key.name in known)]
        own = {p.name for p in made.fn.head.params if p.kind != "self" and not _OF_CONTEXT.search(p.name)}
        if any(self._depends(value, made.fn, own, 0) for value in values):
            return True
        # What is written on it afterwards counts too: `transport.TLSClientConfig = config`.
        stmt = made.stmt
        names = {dotted(t) for t in stmt.targets} - {""} if isinstance(stmt, f.Assign) and stmt.value is made.node else set()
        return any(self._written_for_call(name, made.fn, own, 0) for name in names)

    def _made_here(self, name: str, fn: Fun) -> Iterator[f.Expr]:
        """What a local variable is made of: a session of one region, account or role has clients of its own."""
        for d in fn.body.definitions.get(name, ()):
            if d.kind == "value" and isinstance(d.expr, f.Call):
                yield d.expr

    def _written_for_call(self, name: str, fn: Fun, own: set[str], depth: int) -> bool:
        """Whether an attribute of a local variable gets a value that depends on the caller, or only for some callers."""
        for key, defs in fn.body.definitions.items():
            if not key.startswith(f"{name}."):
                continue
            for d in defs:
                tests = [arm.node.test for arm in d.arm.chain() if isinstance(arm.node, f.If)]
                if any(self._depends(x, fn, own, depth + 1) for x in (*tests, *((d.expr,) if d.expr is not None else ()))):
                    return True
        return False

    def _depends(self, value: f.Expr, fn: Fun, own: set[str], depth: int) -> bool:
        """Whether a value is made of a parameter, or of what a loop goes over."""
        for node in walk(value):
            if isinstance(node, f.Fn):
                # A literal that speaks of a parameter: a dialer for one address.
                if any(isinstance(x, f.Ref) and x.name.partition(".")[0] in own for x in nodes(fn.module.functions[node.index])):
                    return True
                continue
            if not isinstance(node, f.Ref):
                continue
            head = node.name.partition(".")[0]
            if head in own:
                return True
            for d in fn.body.definitions.get(head, ()) if depth < 2 else ():
                if d.kind == "each" or (d.expr is not None and d.kind != "function" and self._depends(d.expr, fn, own, depth + 1)):
                    return True
            if depth < 2 and head in fn.body.definitions and self._written_for_call(head, fn, own, depth + 1):
                return True
        return False

    def _outermost(self, made: _Made) -> f.Node:
        """The literal around it, where it is written as a part of one: the client around its transport."""
        shown: f.Node = made.node
        for node in _way(made.stmt, made.node):
            if isinstance(node, f.New) and node is not made.node:
                shown = node
                break
        return shown

    def _name(self, kind: TypeEntry, language: str) -> str:
        return short_type(kind.name, language)

    # ------------------------------------------------------------ where it ends up

    def _dropped_in(
        self, fn: Fun, node: f.Node, stmt: f.Stmt, site: CallSite | None, depth: int, seen: frozenset[tuple[str, int]]
    ) -> Round | None:
        """What repeats the making of something that nothing keeps beyond the call; `None` where something may keep it."""
        key = (fn.module.path, node.at)
        if depth > _DEEP or key in seen or fn.head.kind == "module":
            return None
        seen |= {key}
        fates = set(self._fates(fn, node, stmt, 0))
        if not fates or fates & {"kept", "unknown"}:
            return None
        if "field" in fates:
            return self._with_instances(fn, depth, seen) if fates == {"field"} else None
        if "returned" in fates:
            entry = self.program.entries.get(fn)
            if entry is not None:
                return self._of_entry(fn, entry)
            depended = self._depended(fn)
            if depended is not None:
                return depended
            if any(_decorator(d) not in _CHANGES_NOTHING for d in fn.head.decorators):
                return None
            for caller, called, _, _ in self.resolver.callers(fn)[0][:_CALLERS]:
                found = self._dropped_in(caller.fn, called.call, called.stmt, called, depth + 1, seen)
                if found is not None:
                    step = self.program.step(caller.fn, called.call, f"{caller.fn.head.qual} gets it from {fn.head.qual}")
                    return found._replace(steps=(step, *found.steps), sure=min(found.sure, Confidence.MEDIUM))
            return None
        return self.round_of(fn, site, node)

    def _with_instances(self, fn: Fun, depth: int, seen: frozenset[tuple[str, int]]) -> Round | None:
        """What repeats the making of the objects in whose constructor something is made."""
        klass = self.resolver.owner(fn)
        if klass is None or fn.name != "__init__":
            return None
        sites = list(self._constructions(klass))
        for called in sites[:_CALLERS]:
            found = self._dropped_in(called.fn, called.call, called.stmt, called, depth + 1, seen)
            if found is not None:
                step = self.program.step(called.fn, called.call, f"{klass.name} is made here")
                return found._replace(steps=(step, *found.steps), sure=min(found.sure, Confidence.MEDIUM))
        return None

    def _constructions(self, klass: Klass) -> Iterator[CallSite]:
        for caller in self.program.names.callers(klass.name):
            if caller.module.language != klass.module.language or caller.module.is_test:
                continue
            for site in caller.body.calls:
                if site.last == klass.name and any(
                    isinstance(flow.thing, Obj) and flow.thing.type is klass and flow.thing.node is site.call
                    for flow in self.resolver.ask(site.call, self.resolver.frame(caller))
                ):
                    yield site

    def _fates(self, fn: Fun, node: f.Node, stmt: f.Stmt, depth: int) -> Iterator[str]:
        """What becomes of a value: `dropped`, `returned`, `field`, `kept`, `unknown`."""
        way = _way(stmt, node)
        if not way:
            yield "unknown"
            return
        inner = node
        for outer in way[1:]:
            match outer:
                case f.Await() | f.Cast() | f.Un() | f.Let():
                    pass
                case f.Field():
                    pass
                case f.Call() if _is_called(outer, inner):
                    if self._answers(outer, fn):
                        yield "dropped"
                        return
                case f.Call():
                    passed = self._passed(outer, inner, fn)
                    if passed != "stands":
                        yield passed
                        return
                case f.New():
                    pass
                case f.Coll() if outer.kind == "tuple" and isinstance(stmt, f.Return | f.Assign):
                    pass
                case f.Yield():
                    yield "returned"
                    return
                case _ if outer is stmt:
                    break
                case _:
                    yield "unknown"
                    return
            inner = outer
        yield from self._of_statement(fn, inner, stmt, depth)

    def _of_statement(self, fn: Fun, value: f.Node, stmt: f.Stmt, depth: int) -> Iterator[str]:
        match stmt:
            case f.Return():
                yield "returned"
            case f.Do() | f.Defer():
                yield "dropped"
            case f.Assign():
                for target in stmt.targets:
                    name = dotted(target.items[0].value if isinstance(target, f.Coll) and target.items else target)
                    if not name or name in fn.body.outer_names:
                        yield "kept"
                    elif name == "_":
                        yield "dropped"
                    elif "." in name:
                        head = name.partition(".")[0]
                        own = head in ("self", "this")
                        yield "field" if own and fn.name == "__init__" and name.count(".") == 1 else "kept"
                    else:
                        yield from self._of_local(fn, name, stmt, depth)
            case f.With():
                item = next((item for item in stmt.items if item.value.at <= value.at and value.end <= item.value.end), None)
                name = dotted(item.target) if item is not None and item.target is not None else ""
                if name and "." not in name:
                    yield from self._of_local(fn, name, stmt, depth)
                else:
                    yield "kept" if name else "dropped"
            case _:
                yield "unknown"

    def _of_local(self, fn: Fun, name: str, stmt: f.Stmt, depth: int) -> Iterator[str]:
        """What becomes of a local variable's value, wherever it is used."""
        if name not in fn.body.definitions or depth > 2:
            yield "unknown"
            return
        yield "dropped"
        for other, _ in fn.body.stmts:
            if other is stmt and not isinstance(other, f.With):
                continue
            for ref in _own_refs(other, name):
                if "." in ref.name:
                    # An attribute or method of it: what a call of that gives is another thing.
                    if isinstance(other, f.Return) and not _inside_call(other, ref):
                        yield "returned"
                    continue
                if isinstance(other, f.Assign) and any(ref.at == t.at for t in other.targets):
                    continue
                yield from self._fates(fn, ref, other, depth + 1)
        for inner in fn.module.functions:
            named = inner.is_inside(fn) and any(isinstance(n, f.Ref) and n.name.partition(".")[0] == name for n in nodes(inner))
            if named and self._escapes(inner, fn):
                yield "kept"

    def _escapes(self, inner: Fun, fn: Fun) -> bool:
        """Whether a function inside another may run after it has returned."""
        while inner.parent is not None and inner.parent is not fn:
            inner = inner.parent
        if inner.head.decorators:
            return True
        for stmt, _ in fn.body.stmts:
            if not isinstance(stmt, f.Return | f.Assign):
                continue
            value = stmt.value
            for node in walk(value) if value is not None else ():
                if isinstance(node, f.Fn) and fn.module.functions[node.index] is inner:
                    return isinstance(stmt, f.Return) or not all(isinstance(t, f.Ref) and "." not in t.name for t in stmt.targets)
                if isinstance(node, f.Ref) and node.name == inner.name and isinstance(stmt, f.Return):
                    return True
        return False

    def _answers(self, call: f.Call, fn: Fun) -> bool:
        """Whether a call's result is an answer or nothing, not another form of the object it is called on."""
        table = self.resolver.table(fn.module)
        for thing, _ in self.resolver.targets(call, self.resolver.frame(fn)):
            if isinstance(thing, FnVal):
                own = thing.fn.head.params[0].name if thing.fn.head.params else ""
                return not any(dotted(stmt.value) in (own, "this") for stmt, _ in thing.fn.body.returns if stmt.value is not None)
            name = self.resolver.canonical(thing)
            entry = table.call(name) if name else None
            if entry is not None and entry.does in ("network", "query", "connect", "wait", "read_body"):
                return True
        return False

    def _passed(self, call: f.Call, value: f.Node, fn: Fun) -> str:
        """What a call does with an argument: `stands` where its result holds it."""
        table = self.resolver.table(fn.module)
        found = "unknown"
        last = dotted(call.fn).rpartition(".")[2] or (call.fn.name if isinstance(call.fn, f.Field) else "")
        if last in _KEEPS:
            return "kept"
        for thing, _ in self.resolver.targets(call, self.resolver.frame(fn)):
            if isinstance(thing, ClassVal):
                found = "stands"
            elif isinstance(thing, FnVal):
                if self._takes_only(thing.fn, call, value):
                    return "dropped"
                return "unknown"
            else:
                name = self.resolver.canonical(thing)
                if not name:
                    continue
                if table.constructs(name) is not None or table.made_by(name) is not None:
                    found = "stands"
                entry = table.call(name)
                if entry is not None:
                    if entry.does in ("make", "spawn", "configure") and entry.returns is not None:
                        found = "stands"
                    elif entry.does in ("pure", "network", "query", "connect", "wait", "log", "cancel", "spawn"):
                        found = "dropped"
                elif name.startswith("<builtin>."):
                    found = "dropped"
        return found

    def _takes_only(self, callee: Fun, call: f.Call, value: f.Node, depth: int = 0) -> bool:
        """Whether a function of the program only uses an argument and keeps it nowhere."""
        names: set[str] = set()
        plain = [a for a in call.args if a.name is None]
        for arg in call.args:
            if arg.value.at <= value.at and value.end <= arg.value.end:
                if arg.name is not None:
                    names.add(arg.name)
                elif plain.index(arg) < len(callee.positional):
                    names.add(callee.positional[plain.index(arg)].name)
        if not names or depth > 2:
            return False
        for stmt, _ in callee.body.stmts:
            for ref in _refs(stmt, names):
                if "." not in ref.name and not self._only_uses(callee, stmt, ref, depth):
                    return False
        return not any(
            inner.is_inside(callee) and any(isinstance(n, f.Ref) and n.name in names for n in nodes(inner))
            for inner in callee.module.functions
        )

    def _only_uses(self, fn: Fun, stmt: f.Stmt, ref: f.Ref, depth: int) -> bool:
        """Whether a bare parameter is tested, or handed to what only uses it."""
        way = _way(stmt, ref)
        outer = way[1] if len(way) > 1 else None
        if isinstance(outer, f.Bin | f.Un | f.If):
            return True
        if not isinstance(outer, f.Call) or _is_called(outer, ref):
            return isinstance(outer, f.With)
        table = self.resolver.table(fn.module)
        for thing, _ in self.resolver.targets(outer, self.resolver.frame(fn)):
            if isinstance(thing, FnVal):
                if not self._takes_only(thing.fn, outer, ref, depth + 1):
                    return False
                continue
            name = self.resolver.canonical(thing) if not isinstance(thing, ClassVal) else ""
            entry = table.call(name) if name else None
            if entry is None or entry.does not in ("pure", "network", "query", "connect", "wait", "log", "cancel"):
                return False
        return True

    # ------------------------------------------------------------ what repeats

    def round_of(self, fn: Fun, site: CallSite | None, node: f.Node, depth: int = 0) -> Round | None:
        """Why a place runs again and again; `None` where nothing says so."""
        if site is not None and _is_kept(site):
            return None
        # Far from a loop, something between usually makes sure that it runs once.
        found = self._loop_around(fn, site, node) if depth <= _NEAR else None
        return found if found is not None else self._of_function(fn, depth)

    def _loop_around(self, fn: Fun, site: CallSite | None, node: f.Node) -> Round | None:
        arm = site.arm if site is not None else next((a for new, a, _ in fn.body.news if new is node), None)
        if arm is None:
            return None
        frame = self.resolver.frame(fn)
        loops = [a.node for a in arm.chain() if a.kind in ("loop", "comp")]
        if isinstance(site, CallSite) and isinstance(site.loop, f.Comp) and site.loop not in loops:
            loops.append(site.loop)
        for loop in reversed(loops):
            if self._pauses(loop, fn):
                continue
            size = self._size(loop, frame)
            if size is None:
                continue
            if size.kind == "event":
                return Round("message", "every message", (self._loop_step(loop, fn, "once for every message"),))
            over = over_loop(loop, self.program, fn)
            steps = (*self.program.trace(size.hops), self._loop_step(loop, fn, f"once for each of `{over}`"))
            return Round("loop", f"each of `{over}`", steps)
        return None

    def _size(self, loop: f.Node, frame: Frame) -> Size | None:
        """How often a loop goes round, if that may be often."""
        size = self.program.sizes.loop(loop, frame)
        if size.grows or size.kind == "event":
            return size
        endless = isinstance(loop, f.Loop) and loop.form in ("ever", "while")
        return Size("event") if endless and isinstance(loop, f.Loop) and self._takes(loop, frame.fn) else None

    def _takes(self, loop: f.Loop, fn: Fun) -> bool:
        """Whether a loop that has no end begins each round by waiting for something to do."""
        for site in fn.body.calls:
            if not loop.at <= site.call.at < loop.end or site.last not in self._takers:
                continue
            for _, entry in self.program.described(site):
                if (entry.queue is not None and entry.queue.op == "take") or entry.waits_for == "message":
                    return True
        return False

    @cached_property
    def _takers(self) -> frozenset[str]:
        return frozenset(
            name.rpartition(".")[2]
            for language in CODE
            for library in self.program.knowledge.of(language).libraries
            for call in library.calls
            if (call.queue is not None and call.queue.op == "take") or call.waits_for == "message"
            for name in call.names
        )

    def _pauses(self, loop: f.Node, fn: Fun) -> bool:
        """Whether every round of a loop pauses: so seldom that connections do not pile up."""
        return any(
            loop.at <= site.call.at < loop.end
            and any(entry.does == "sleep" for _, entry in self.program.described(site, doing("sleep")))
            for site in fn.body.calls
            if site.last in self._sleeps
        )

    @cached_property
    def _sleeps(self) -> frozenset[str]:
        return frozenset(
            name.rpartition(".")[2]
            for language in CODE
            for library in self.program.knowledge.of(language).libraries
            for call in library.calls
            if call.does == "sleep"
            for name in call.names
        )

    def _loop_step(self, loop: f.Node, fn: Fun, said: str) -> Step:
        where = f.Ref(loop.at, loop.iter.end, "") if isinstance(loop, f.Loop) and loop.iter is not None else loop
        return self.program.step(fn, where, f"this runs {said}")

    def _of_function(self, fn: Fun, depth: int) -> Round | None:
        if fn in self._rounds:
            return self._rounds[fn]
        if depth > _DEEP:
            return None
        self._rounds[fn] = None
        self._rounds[fn] = found = self._find_round(fn, depth)
        return found

    def _find_round(self, fn: Fun, depth: int) -> Round | None:
        if fn.head.kind == "module" or any(_MEMO.search(_decorator(d)) for d in fn.head.decorators):
            return None
        entry = self.program.entries.get(fn)
        if entry is not None:
            return self._of_entry(fn, entry)
        for spawn in self._spawned.get(fn, ()):
            found = self._of_spawn(spawn)
            if found is not None:
                return found
        best: Round | None = None
        for caller, called, _, _ in self.resolver.callers(fn)[0][:_CALLERS]:
            if caller.fn is fn or called.how == "defer" or _is_followed_by_failure(called):
                continue
            if len(self.program.callees(called)) > 1 and not _is_kept(called):
                # Of the elements that a loop calls a method of, those of one class may be few.
                found = self._of_function(caller.fn, depth + 1)
            else:
                found = self.round_of(caller.fn, called, called.call, depth + 1)
            if found is not None and (best is None or best.kind == "request"):
                step = self.program.step(caller.fn, called.call, f"{caller.fn.head.qual} calls {fn.head.qual}")
                best = found._replace(steps=(*found.steps, step), sure=min(found.sure, Confidence.MEDIUM))
            if best is not None and best.kind != "request":
                break
        if best is not None:
            return best
        if fn.parent is not None and fn.head.kind in ("lambda", "function"):
            runs = self.program.sizes.streams.round_of(fn)
            if runs is not None:
                size = self.program.sizes.loop(runs.site.call, self.resolver.frame(runs.site.fn))
                if size.grows:
                    over = over_loop(runs.site.call, self.program, runs.site.fn)
                    return Round(
                        "loop", f"each of `{over}`", (self._loop_step(runs.site.call, runs.site.fn, f"once for each of `{over}`"),)
                    )
        return None

    def _of_entry(self, fn: Fun, entry: Entry) -> Round | None:
        kinds: dict[str, Kind] = {"request": "request", "middleware": "request", "event": "message", "worker": "message"}
        kind = kinds.get(entry.kind)
        if kind is None or (entry.kind in ("worker", "event") and not self._per_message(fn, entry)):
            return None
        word = "request" if kind == "request" else "message"
        at = f.Ref(fn.head.name_at, fn.head.name_at + len(fn.name.encode()), fn.name)
        return Round(
            kind, f"every {word}", (self.program.step(fn, at, f"{fn.head.qual} runs once for every {word}: {entry.because}"),)
        )

    def _depended(self, fn: Fun) -> Round | None:
        """A function that a framework runs for each request since a handler's parameter asks for its result: `Depends(client)`."""
        modules = dict.fromkeys(user.module for user in self.program.names.values_of.get(fn.name, ()))
        users = (user for module in modules for user in module.functions if user in self.program.entries)
        for user in users:
            for param in user.head.params:
                call = param.default
                if not isinstance(call, f.Call) or not call.args or dotted(call.args[0].value).rpartition(".")[2] != fn.name:
                    continue
                scope = self.resolver.frame(user.module.functions[0])
                names = (self.resolver.canonical(x.thing) for x in self.resolver.ask(call.fn, scope))
                table = self.resolver.table(user.module)
                if not any(row.kind == "middleware" for name in names if name for row in table.registration(name)):
                    continue
                if any(isinstance(x.thing, FnVal) and x.thing.fn is fn for x in self.resolver.ask(call.args[0].value, scope)):
                    return self._of_entry(user, self.program.entries[user])
        return None

    @staticmethod
    def _per_message(fn: Fun, entry: Entry) -> bool:
        """Whether a worker or callback runs once for each message, not once for ever, by the clock or at the start or end."""
        if entry.kind == "worker":
            if entry.because.startswith("decorated") and all(name in ("self", "cls", "_") for name in entry.inputs):
                return False  # Nobody tells it anything: it does the same each time, when its time has come.
            return entry.because.startswith(("decorated", "annotated")) or fn.name.startswith("on")
        said = f"{entry.because.rpartition('.')[2]} {fn.name}"
        return bool(entry.inputs) and not _NOT_A_MESSAGE.search(said)

    @cached_property
    def _spawned(self) -> dict[Fun, list[Spawn]]:
        found: dict[Fun, list[Spawn]] = {}
        for spawn in self.program.spawns:
            for body in spawn.bodies:
                found.setdefault(body, []).append(spawn)
        return found

    def _of_spawn(self, spawn: Spawn) -> Round | None:
        """What is started for each of many."""
        if spawn.elements:
            over = self.program.text_of(spawn.elements[0][1].fn, _iterated(spawn.elements[0][0]), 40)
            size = self.program.sizes.of(*spawn.elements[0])
            if size.kind in ("constant", "configured"):
                return None
            return Round(
                "task",
                f"each of `{over}`",
                (self.program.step(spawn.fn, spawn.site.call, f"one {spawn.unit} is started for each of `{over}`"),),
            )
        found = self._loop_around(spawn.fn, spawn.site, spawn.site.call)
        if found is None:
            return None
        step = self.program.step(spawn.fn, spawn.site.call, f"it is started here as a {spawn.unit}")
        return found._replace(kind="task", steps=(*found.steps, step))

    # ------------------------------------------------------------ helpers that keep nothing

    def _one_shots(self) -> Iterator[Fault]:
        """Calls of helpers that open a connection, use it once and close it."""
        for wait in self.program.start_waits:
            if not wait.entry.one_shot or wait.entry.protocol != "http" or wait.fn.module.is_test:
                continue
            round_ = self.round_of(wait.fn, wait.site, wait.site.call)
            if round_ is None:
                continue
            often = round_.kind != "request"
            if not self._one_peer(wait) if often else self._other_peers(wait):
                continue
            text = (
                f"{short(wait.api)} opens a connection for {round_.each} and closes it: each port is held for {TIME_WAIT} s "
                f"after it ({port_rate()} to one peer)"
            )
            span = self.program.span_of(wait.fn, wait.site.call)
            sure = self.program.knowledge.sure(wait.entry, round_.sure)
            yield Fault(span, text, Value(None, sure, round_.steps), None if often else Severity.INFO)

    def _one_peer(self, wait: Wait) -> bool:
        """Whether all calls go to one peer: the URL begins with what does not change from round to round."""
        for bind in wait.target.binds[:2]:
            if bind.name is not None and bind.name != "url":
                continue
            if self._fixed_start(bind.expr, wait.fn, wait.site, 0):
                return True
        return any(self._fixed_start(b.expr, wait.fn, wait.site, 0) for b in wait.target.binds if b.name == "url")

    def _other_peers(self, wait: Wait) -> bool:
        """Whether each call goes to a peer that its caller names: a URL that somebody has typed in."""
        urls = [b for i, b in enumerate(wait.target.binds) if b.name == "url" or (b.name is None and i < 2)]
        return any(self._varies(bind.expr, wait.fn, 0, set()) for bind in urls)

    def _asks_others(self, made: _Made) -> bool:
        """Whether a client that is told no peer is only asked for what the callers of its function name."""
        told = made.node.args if isinstance(made.node, f.Call) else ()
        if any(arg.name is None or _PEER.search(arg.name) for arg in told):
            return False
        names = set(names_given(made.stmt, made.node))
        asked = [
            site
            for site in made.fn.body.calls
            if made.node is not site.call and dotted(site.call.fn).rpartition(".")[0] in names and site.call.args
        ]
        urls = [(site, arg.value) for site in asked for arg in site.call.args[:2] if arg.name in (None, "url") and not arg.spread]
        urls += [
            (site, url) for site in asked for arg in site.call.args if arg.spread for url in _kept_under(arg.value, "url", made.fn)
        ]
        if any(self._fixed_start(url, made.fn, site, 0) for site, url in urls):
            return False
        return any(self._varies(url, made.fn, 0, set()) for _, url in urls)

    def _varies(self, expr: f.Expr | None, fn: Fun, depth: int, asked: set[tuple[Fun, str]]) -> bool:
        """Whether a text begins with what callers give, and all of them pass on what was given to them. `asked`: what was asked of
        the same text already; since all have to agree, one that does not ends it, wherever it was met first."""
        if depth > _FAR:
            return False
        while True:
            if isinstance(expr, f.Fmt) and expr.parts:
                expr = expr.parts[0]
            elif isinstance(expr, f.Bin) and expr.op == "+":
                expr = expr.left
            elif isinstance(expr, f.Call) and expr.args and dotted(expr.fn) == "str":
                expr = expr.args[0].value
            else:
                break
        head, _, rest = dotted(expr).partition(".")
        param = fn.params.get(head)
        if (fn, dotted(expr)) in asked:
            return True
        asked.add((fn, dotted(expr)))
        if not head or (param is not None and param.kind == "self"):
            return bool(rest) and self._filled_anew(f"{head}.{rest}", fn, depth, asked)
        if param is None:
            # An empty text stands for none so far.
            defs = [d for d in fn.body.definitions.get(head, ()) if not (isinstance(d.expr, f.Lit) and not d.expr.value)]
            return bool(defs) and all(
                d.kind == "each" or (d.kind == "value" and self._varies(d.expr, fn, depth + 1, asked)) for d in defs
            )
        place = fn.positional.index(param) if param in fn.positional else None
        for caller, _, binds, _ in self.resolver.callers(fn)[0][:_CALLERS]:
            given = self.program.slots.find_bind(head, place, binds)[0]
            if given is None or not self._varies(given.expr, caller.fn, depth + 1, asked):
                return False
        return True

    def _filled_anew(self, field: str, fn: Fun, depth: int, asked: set[tuple[Fun, str]]) -> bool:
        """Whether a field holds what the constructor of its object was given."""
        owner = self.resolver.owner(fn)
        init = self.resolver.init_of(owner) if owner is not None else None
        defs = init.body.definitions.get(field, ()) if init is not None else ()
        return init is not None and bool(defs) and all(self._varies(d.expr, init, depth + 1, asked) for d in defs)

    def _fixed_start(self, expr: f.Expr, fn: Fun, site: CallSite, depth: int) -> bool:
        if depth > 3:
            return False
        if isinstance(expr, f.Fmt) and expr.parts:
            return self._fixed_start(expr.parts[0], fn, site, depth + 1)
        if isinstance(expr, f.Bin) and expr.op in ("+", "%", "/"):
            return self._fixed_start(expr.left, fn, site, depth + 1)
        if isinstance(expr, f.Call) and isinstance(expr.fn, f.Field) and expr.fn.name == "format":
            return self._fixed_start(expr.fn.base, fn, site, depth + 1)
        if isinstance(expr, f.Call) and dotted(expr.fn).rpartition(".")[2] == "urljoin" and expr.args:
            return self._fixed_start(expr.args[0].value, fn, site, depth + 1)
        if isinstance(expr, f.Lit):
            return isinstance(expr.value, str) and re.match(r"https?://[^/{%]+", expr.value) is not None
        if isinstance(expr, f.Ref):
            head = expr.name.partition(".")[0]
            if any(p.name == head and p.kind != "self" for p in fn.head.params):
                return False
            defs = fn.body.definitions.get(expr.name) or fn.body.definitions.get(head) or []
            if defs:
                exprs = [d.expr for d in defs if d.kind == "value"]
                return len(exprs) == len(defs) and all(e is not None and self._fixed_start(e, fn, site, depth + 1) for e in exprs)
            if "." in expr.name or fn.parent is None:
                texts = [x.thing for x in self.resolver.ask(expr, self.resolver.frame(fn))]
                return not any(isinstance(t, Text) and not t.known for t in texts)
        return False

    # ------------------------------------------------------------ switched off

    def _switched_off(self) -> Iterator[Fault]:
        """Pools and transports that are told to keep no connection."""
        seen: set[tuple[str, int]] = set()
        for made in self._told():
            key = (made.fn.module.path, made.node.at)
            if key in seen:
                continue
            seen.add(key)
            off = self.program.pools.ceiling(made.obj, "reuse")
            if off.state != "endless" or not off.written:
                continue
            round_ = self._used_often(made)
            if round_ is None:
                continue
            text = (
                f"{self._name(made.kind, made.fn.module.language)} is told to keep no connection: each call opens one and holds "
                f"its port for {TIME_WAIT} s after it ({port_rate()} to one peer)"
            )
            steps = (*self.program.trace(off.hops), *round_.steps)
            yield Fault(
                self.program.span_of(made.fn, self._outermost(made)), text, Value(0, min(off.confidence, round_.sure), steps)
            )

    def _in_settings(self) -> Iterator[Fault]:
        """Keys of settings with which each connection serves one call."""
        rows = [row for library in self.program.knowledge.libraries for row in library.reuse]
        words = [row.key.key.rpartition(".")[2].encode() for row in rows]
        for path, facts in self.program.start_files() if rows else ():
            if facts.kind not in ("yaml", "json") or self.program.settings.is_test(path):
                continue
            for row, word in zip(rows, words, strict=True):
                for setting in facts.settings if self.program.says(path, any_of(word)) else ():
                    if not matches_path(pattern_of(row.key.key), steps_of(setting.path)) or not counts(row.key, setting):
                        continue
                    document = [other for other in facts.settings if other.doc == setting.doc]
                    if all(
                        any(matches_path(pattern_of(mark.key), steps_of(x.path)) and counts(mark, x) for x in document)
                        for mark in row.document
                    ):
                        span = self.program.span(path, setting.key_at, setting.end)
                        text = (
                            f"{row.who} uses each connection for one call and closes it: each holds its port for {TIME_WAIT} s "
                            f"after it ({port_rate()} to one peer)"
                        )
                        sure = self.program.knowledge.sure(row)
                        yield Fault(span, text, Value(1, sure, (Step(span, "one call for each connection"),)))

    def _told(self) -> Iterator[_Made]:
        for language in CODE:
            table = self.program.knowledge.of(language)
            rows = [(kind, row) for lib in table.libraries for kind in lib.types for row in kind.bounds if row.slot == "reuse"]
            words = any_of(*sorted({word.encode() for _, row in rows for word in (row.field, row.arg, row.setter) if word}))
            lasts = frozenset(name.rpartition(".")[2] for kind, _ in rows for name in (kind.name, *kind.aliases, *kind.made_by))
            for module in self.program.start_modules(language) if words.words else ():
                if module.is_test:
                    continue
                if not self.program.says(module.path, words):
                    continue
                for fn in module.functions:
                    if not any(call.rpartition(".")[2].rstrip("{") in lasts for call in fn.head.calls):
                        continue
                    for node, stmt, site in self._expressions(fn, lasts):
                        for flow in self.resolver.ask(node, self.resolver.frame(fn)):
                            obj = flow.thing
                            if isinstance(obj, Obj) and obj.node is node and isinstance(obj.type, str):
                                kind = next((k for k in table.mro(obj.type) if any(r.slot == "reuse" for r in k.bounds)), None)
                                if kind is not None:
                                    yield _Made(fn, node, stmt, site, obj, kind)

    @staticmethod
    def _expressions(fn: Fun, lasts: frozenset[str]) -> Iterator[tuple[f.Expr, f.Stmt, CallSite | None]]:
        for site in fn.body.calls:
            if site.last in lasts:
                yield site.call, site.stmt, site
        for new, _, stmt in fn.body.news:
            if new.type.name.rpartition(".")[2] in lasts:
                yield new, stmt, None

    def _used_often(self, made: _Made) -> Round | None:
        """What calls again and again through an object, or what is made of it."""
        place = (made.fn.module.path, made.node.at)
        best: Round | None = None
        for wait in self.program.all_waits:
            if wait.holder is None or place not in self._built_of(wait.holder):
                continue
            found = self.round_of(wait.fn, wait.site, wait.site.call)
            if found is not None:
                step = self.program.step(wait.fn, wait.site.call, f"{short(wait.api)} uses it")
                best = found._replace(steps=(*found.steps, step))
                break
        return best

    def _built_of(self, obj: Obj) -> set[tuple[str, int]]:
        """The places of an object and of the parts it has."""
        out: set[tuple[str, int]] = set()
        waiting, count = [obj], 0
        while waiting and count < 12:
            one = waiting.pop()
            count += 1
            if one.fn is not None and isinstance(one.node, f.Node):
                out.add((one.fn.module.path, one.node.at))
            if one.parent is not None:
                waiting.append(one.parent)
            waiting.extend(self.program.slots.parts(one))
        return out


# ---------------------------------------------------------------- trees


def _kept_under(expr: f.Expr, key: str, fn: Fun) -> Iterator[f.Expr]:
    """What a mapping that a function writes out holds under a name."""
    for d in fn.body.definitions.get(dotted(expr), ()):
        for pair in d.expr.items if isinstance(d.expr, f.Coll) else ():
            if isinstance(pair.key, f.Lit) and pair.key.value == key:
                yield pair.value


def _is_followed_by_failure(site: CallSite) -> bool:
    """Whether a branch around a call ends by raising: it is taken where something has failed, not each time."""
    for arm in site.arm.chain():
        if isinstance(arm.node, f.If):
            block = arm.node.then if arm.kind == "then" else arm.node.orelse
            if block and isinstance(block[-1], f.Raise) and block[-1].at >= site.call.end:
                return True
    return False


def _is_kept(site: CallSite) -> bool:
    """Whether a call is made while something is not there yet, and that is there from then on, under a name that was asked for
    before: `if not hasattr(cls, "_x"): cls._x = make()`, `if (this.x == null) { this.x = new X(); this.x.open(); }`."""
    if _shuts_itself(site) or _is_looked_up(site):
        return True
    for arm in site.arm.chain():
        if arm.kind != "then" or not isinstance(arm.node, f.If):
            continue
        beside = [dotted(t) for stmt in arm.node.then if isinstance(stmt, f.Assign) for t in stmt.targets]
        kept = {name for name in beside if _outlasts(name, site.fn)}
        if isinstance(site.stmt, f.Assign):
            kept |= {name for name in map(dotted, site.stmt.targets) if "." in name or name in site.fn.body.outer_names}
        for node in walk(arm.node.test) if kept else ():
            if isinstance(node, f.Ref) and node.name in kept:
                return True
            if isinstance(node, f.Call) and dotted(node.fn) == "hasattr" and len(node.args) == 2:
                base, name = dotted(node.args[0].value), node.args[1].value
                if isinstance(name, f.Lit) and f"{base}.{name.value}" in kept:
                    return True
    return False


def _shuts_itself(site: CallSite) -> bool:
    """Whether a call stands behind a test of what is written beside it and outlasts the function: `if now - self.last > hour:
    self.last = now`. Once the call is made the way to it is shut for a while."""
    body = site.fn.body
    for arm in site.arm.chain():
        if arm.kind != "then" or not isinstance(arm.node, f.If):
            continue
        asked = set(_spots(arm.node.test))
        for name in [name for name in asked if "." not in name]:
            asked.update(x for d in body.reaching(name, arm.node.at)[0] if d.expr is not None for x in _spots(d.expr))
        for stmt in walk_block(arm.node.then):
            for spot in map(_spot, stmt.targets) if isinstance(stmt, f.Assign) else ():
                if spot in asked and _outlasts(spot, site.fn):
                    return True
    return False


def _outlasts(spot: str, fn: Fun) -> bool:
    """Whether what is written there is there in the next call: no part of what each call is given, nor of an element of a loop."""
    head = re.split(r"[.\[]", spot, maxsplit=1)[0]
    param = fn.params.get(head)
    if (param is not None and param.kind != "self" and not _OF_CONTEXT.search(head)) or any(
        d.kind == "each" for d in fn.body.definitions.get(head, ())
    ):
        return False
    return "." in spot or "[" in spot or spot in fn.body.outer_names


def _is_looked_up(site: CallSite) -> bool:
    """Whether what a call gives is kept under a key by which it was sought before: `if (known := cache.get(key)): return known`."""
    body, here = site.fn.body, site.call.at
    kept = {dotted(other.call.fn).rpartition(".")[0] for other in body.calls if other.call.at > here and other.last in _KEEPS}
    for stmt, _ in body.stmts:
        if isinstance(stmt, f.Assign) and stmt.end > here:
            kept.update(place_of(target.base) for target in stmt.targets if isinstance(target, f.Index))
    kept.discard("")
    for test, _ in body.ifs if kept else ():
        if test.end > here or not leaves(test.then):
            continue
        # How many are kept tells of none of them.
        counts = [node for node in walk(test.test) if isinstance(node, f.Call) and last_name(node.fn) == "len"]
        for node in walk(test.test):
            if not isinstance(node, f.Ref | f.Field) or any(call.at <= node.at < call.end for call in counts):
                continue
            if dotted(node) in kept:
                return True
            sought = (d.expr for d in body.reaching(dotted(node), node.at)[0] if isinstance(d.expr, f.Call))
            if any(last_name(call.fn) == "get" and dotted(call.fn).rpartition(".")[0] in kept for call in sought):
                return True
    return False


def _spot(expr: f.Expr) -> str:
    """A variable, field or element with its key, as written; empty for anything else."""
    if isinstance(expr, f.Index) and isinstance(expr.key, f.Lit):
        base = _spot(expr.base)
        return f"{base}[{expr.key.value}]" if base else ""
    return dotted(expr)


def _spots(expr: f.Expr) -> Iterator[str]:
    yield from (spot for spot in (_spot(node) for node in walk(expr) if isinstance(node, f.Ref | f.Field | f.Index)) if spot)


def _way(stmt: f.Stmt, node: f.Node) -> list[f.Node]:
    """The nodes from one up to the statement it stands in, itself first; empty if it is not there."""

    def down(current: object, depth: int) -> list[f.Node] | None:
        if current is node:
            return [node]
        if depth > 60:
            return None
        for child in children(current):
            if isinstance(child, f.Node) and not (child.at <= node.at and node.end <= child.end):
                continue
            found = down(child, depth + 1)
            if found is not None:
                if isinstance(current, f.Node):
                    found.append(current)
                return found
        return None

    if isinstance(stmt, f.With):
        for item in stmt.items:
            found = down(item.value, 0)
            if found is not None:
                return [*found, stmt]
    return down(stmt, 0) or []


def _is_called(call: f.Call, inner: f.Node) -> bool:
    """Whether a value is what a method is called on, not an argument."""
    return call.fn is inner or (call.fn.at <= inner.at and inner.end <= call.fn.end)


def _own_refs(stmt: f.Stmt, name: str) -> Iterator[f.Ref]:
    """Where a statement itself, without the blocks inside it, names a variable."""
    if isinstance(stmt, f.Loop):
        parts = [x for x in (stmt.iter, stmt.test) if x is not None]
    elif isinstance(stmt, f.If):
        parts = [stmt.test]
    elif isinstance(stmt, f.With):
        parts = [item.value for item in stmt.items]
    elif isinstance(stmt, f.Try | f.Switch | f.Select):
        parts = []
    else:
        parts = [stmt]  # type: ignore[list-item]
    for part in parts:
        for node in walk(part):
            if isinstance(node, f.Ref) and node.name.partition(".")[0] == name:
                yield node


def _refs(stmt: f.Stmt, names: set[str]) -> Iterator[f.Ref]:
    for name in names:
        yield from _own_refs(stmt, name)


def _inside_call(stmt: f.Stmt, ref: f.Ref) -> bool:
    return any(isinstance(node, f.Call) for node in _way(stmt, ref))


def _iterated(expr: f.Expr) -> f.Expr:
    return expr.gens[0].iter if isinstance(expr, f.Comp) else expr


def _decorator(expr: f.Expr) -> str:
    return dotted(expr.fn if isinstance(expr, f.Call) else expr).rpartition(".")[2]
