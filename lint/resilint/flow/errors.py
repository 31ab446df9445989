"""Errors by cause: which tests tell a timeout or a cancellation from other failures, and which contexts stand behind an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.values import Ext, FnVal, Obj
from resilint.knowledge.index import Wanted, doing, every
from resilint.knowledge.schema import CallEntry, ContextRow
from resilint.link.code import Arm, CallSite, Definition, Fun, Klass, Module, dotted, last_name, walk

if TYPE_CHECKING:
    from resilint.program import Program

TIMEOUT = "timeout"
"""A time limit of this code has run out."""
CALLER = "caller"
"""Whoever asked for the work has gone, or has cancelled it."""
BOTH = frozenset({TIMEOUT, CALLER})

_CAUSES = {"timeout": frozenset({TIMEOUT}), "cancel": frozenset({CALLER}), "both": BOTH}
_MAKERS = ("loses", "format")
_TIMEOUT_METHOD = "Timeout"
"""The method by which Go's network errors say that a time limit ran out: `interface{ Timeout() bool }`."""


@dataclass(frozen=True)
class Meaning:
    """What an error value stands for. `key` is its identity; a sentinel of the program has no causes of its own."""

    key: object
    text: str
    causes: frozenset[str] = frozenset()
    made: tuple[Fun, f.Node] | None = None


@dataclass(frozen=True)
class Context:
    """A context where it is used: its name in the function that owns it, and the definitions that reach the place."""

    fn: Fun
    key: str
    definitions: tuple[Definition, ...] = ()

    @property
    def identity(self) -> tuple[object, ...]:
        """Two uses with one identity are uses of one context."""
        return (self.fn.key, self.key, *((d.at, d.end) for d in self.definitions))


@dataclass(frozen=True)
class Limit:
    """A bound that a function puts on a context. `above`: whether a caller's context stands over it."""

    fn: Fun
    node: f.Node
    above: bool


@dataclass(frozen=True)
class Pick:
    """A test that is true for a timeout or cancellation and tells it from other failures."""

    node: f.Node
    causes: frozenset[str]
    error: str = ""
    """The dotted name of the error it looks at."""
    context: f.Expr | None = None
    """The context whose end it looks at."""
    meaning: Meaning | None = None
    """The value it compares with."""


@dataclass
class Known:
    """What is known on a path: the test that held, errors that are not nil, and whether a context has ended."""

    pick: Pick
    errors: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)

    def copy(self) -> Known:
        """The same knowledge for another branch."""
        return Known(self.pick, set(self.errors), set(self.ended))


def context_key(expr: f.Expr | None) -> str:
    """A context as written: `ctx`, `s.ctx`, `r.Context()`; empty for anything else."""
    if isinstance(expr, f.Call) and not expr.args:
        inner = context_key(expr.fn)
        return f"{inner}()" if inner else ""
    if isinstance(expr, f.Field):
        base = context_key(expr.base)
        return f"{base}.{expr.name}" if base else ""
    return dotted(expr)


class Errors:
    """Answers about errors and their causes, for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._predicates: dict[Fun, frozenset[str]] = {}
        self._sites: dict[Fun, dict[int, CallSite]] = {}
        self._reaches: dict[Fun, bool] = {}

    # ------------------------------------------------------------ values

    def meaning(self, expr: f.Expr, fn: Fun) -> Meaning | None:
        """What an error value stands for: one that is known by name, or a sentinel of the program."""
        name = dotted(expr)
        last = name.rpartition(".")[2]
        table = self.resolver.table(fn.module)
        # A value of another kind is not worth the search: errors are called so.
        if not name or name.count(".") > 1 or not ("err" in last.lower() or last in table.error_words):
            return None
        if self._local(name.partition(".")[0], fn):
            return None
        found: Meaning | None = None
        for flow in self.resolver.ask(expr, self.resolver.frame(fn)):
            thing = flow.thing
            if isinstance(thing, Ext):
                causes = _CAUSES.get(table.error(thing.name) or "")
                if causes is not None:
                    return Meaning(thing.name, dotted(expr), causes)
            elif (
                isinstance(thing, Obj)
                and isinstance(thing.node, f.Call)
                and thing.frame is not None
                and thing.frame.fn.index == 0
                and table.error_call(thing.maker) in _MAKERS
            ):
                found = Meaning(
                    (thing.frame.fn.module.path, thing.node.at), dotted(expr), frozenset(), (thing.frame.fn, thing.node)
                )
        return found

    @staticmethod
    def _local(head: str, fn: Fun) -> bool:
        """Whether a name is a variable of the function or of one around it: not a value with an identity of its own."""
        scope: Fun | None = fn
        while scope is not None:
            if head in scope.params or head in scope.body.definitions or head in scope.head.named_returns:
                return True
            scope = scope.parent
        return False

    def handling(self, expr: f.Expr, fn: Fun) -> tuple[str, str] | None:
        """What a call does with the errors it is given (`wraps`, `loses`, `format` …), and its name."""
        if not isinstance(expr, f.Call):
            return None
        table = self.resolver.table(fn.module)
        for name in self._names(expr, fn) if last_name(expr.fn) in table.error_words else ():
            how = table.error_call(name)
            if how is not None:
                return how, name
        return None

    def _names(self, call: f.Call, fn: Fun) -> Iterator[str]:
        for flow in self.resolver.callee(call, self.resolver.frame(fn)):
            name = self.resolver.canonical(flow.thing)
            if name:
                yield name

    def site(self, call: f.Expr | None, fn: Fun) -> CallSite | None:
        """The place of a call in a function's body."""
        if fn not in self._sites:
            self._sites[fn] = {id(s.call): s for s in fn.body.calls}
        return self._sites[fn].get(id(call))

    def entry(self, site: CallSite, wanted: Wanted = every) -> CallEntry | None:
        """What is known of an external call; `wanted`: where only such rows matter."""
        return next((entry for _, entry in self.program.described(site, wanted)), None)

    def throws_interrupt(self, site: CallSite) -> bool:
        """Whether an external call of Java ends with an exception where its thread is interrupted; a wait of nothing never does."""
        entry = self.entry(site, doing("wait", "sleep"))
        if entry is None or entry.does not in ("wait", "sleep") or not entry.interruptible:
            return False
        given = len(site.call.args)
        rows = [r for r in entry.bounds if r.slot == "wait" and (not r.arity or given in r.arity)]
        return not rows or any(r.default != 0 or (r.pos is not None and r.pos < given) for r in rows)

    # ------------------------------------------------------------ contexts

    def is_context(self, expr: f.Expr, fn: Fun) -> bool:
        """Whether an expression is a context."""
        if not context_key(expr):
            return False
        table = self.resolver.table(fn.module)
        kind = self.resolver.resolve_type(self.resolver.static_type(expr, fn), fn)
        names = [kind] if isinstance(kind, str) else []
        if kind is None:
            names = [
                self.resolver.external_type(x.thing)
                for x in self.resolver.ask(expr, self.resolver.frame(fn))
                if isinstance(x.thing, Obj)
            ]
        return any((entry := table.type(name)) is not None and entry.role == "context" for name in names if name)

    def context(self, expr: f.Expr | None, fn: Fun, at: int) -> Context:
        """The context an expression stands for at a place, in the function that owns it."""
        key = context_key(expr)
        head = key.partition(".")[0].removesuffix("()")
        while True:
            reached = _in_scope(fn, key, at)
            if reached or head in fn.params or fn.parent is None:
                return Context(fn, key, tuple(sorted(reached, key=lambda d: d.at)))
            at, fn = fn.head.at, fn.parent

    def made(self, context: Context) -> tuple[f.Call, ContextRow, f.Expr | None, Definition] | None:
        """The one call that made a context: how, and from which other context."""
        if len(context.definitions) != 1:
            return None
        definition = context.definitions[0]
        if not isinstance(definition.expr, f.Call) or definition.item not in ((), (0,)):
            return None
        row = self.row(definition.expr, context.fn)
        if row is None:
            return None
        return definition.expr, row, self.parent(definition.expr, row), definition

    def row(self, call: f.Call, fn: Fun) -> ContextRow | None:
        """How a call makes a context."""
        table = self.resolver.table(fn.module)
        for name in self._names(call, fn) if last_name(call.fn) in table.context_words else ():
            row = table.context(name)
            if row is not None:
                return row
        return None

    @staticmethod
    def parent(call: f.Call, row: ContextRow) -> f.Expr | None:
        """The context that a call makes another one from."""
        if row.parent is None or row.parent >= len(call.args):
            return None
        return call.args[row.parent].value

    def limit(self, expr: f.Expr | None, fn: Fun, at: int, depth: int = 0) -> Limit | None:
        """The bound that the function itself put on a context."""
        if depth > 4 or expr is None:
            return None
        context = self.context(expr, fn, at)
        made = self.made(context)
        if made is None:
            return None
        call, row, parent, definition = made
        if row.kind == "bounded":
            return Limit(context.fn, call, self.from_caller(parent, context.fn, definition.at))
        if row.kind == "derived":
            return self.limit(parent, context.fn, definition.at, depth + 1)
        return None

    def from_caller(self, expr: f.Expr | None, fn: Fun, at: int, depth: int = 0) -> bool:
        """Whether somebody outside the function may end a context."""
        if depth > 4 or expr is None:
            return False
        if isinstance(expr, f.Call):
            row = self.row(expr, fn)
            parent = self.parent(expr, row) if row is not None else None
        else:
            context = self.context(expr, fn, at)
            made = self.made(context)
            if made is None:
                return bool(context.key) and not context.definitions
            _, row, parent, definition = made
            fn, at = context.fn, definition.at
        if row is None or row.kind == "request":
            return row is not None
        return row.kind in ("bounded", "derived") and self.from_caller(parent, fn, at, depth + 1)

    def contexts(self, site: CallSite) -> list[tuple[f.Expr, int]]:
        """The contexts a call is given, or the request or command it carries was made with; with the place where each is read."""
        fn = site.fn
        direct = [(a.value, site.call.at) for a in site.call.args if self.is_context(a.value, fn)]
        if direct:
            return direct
        out: list[tuple[f.Expr, int]] = []
        receiver = site.call.fn.name.rpartition(".")[0] if isinstance(site.call.fn, f.Ref) else ""
        names = [(receiver, site.call.at)] + [(a.value.name, site.call.at) for a in site.call.args if isinstance(a.value, f.Ref)]
        for name, at in names:
            reached, _ = fn.body.reaching(name, at) if name else ([], True)
            for definition in reached:
                maker = self.site(definition.expr, fn)
                if maker is None:
                    continue
                entry = self.entry(maker, doing("make"))
                if entry is not None and entry.does == "make":
                    out.extend((a.value, maker.call.at) for a in maker.call.args if self.is_context(a.value, fn))
        return out

    # ------------------------------------------------------------ tests

    def atom(self, expr: f.Expr, fn: Fun) -> tuple[Pick, bool] | None:
        """A single comparison or call as a pick, and whether it is true (or false) for the cause."""
        if isinstance(expr, f.Bin) and expr.op in ("==", "!=", "is", "is not"):
            found = self._compared(expr, expr.left, expr.right, fn) or self._compared(expr, expr.right, expr.left, fn)
            if found is None:
                return None
            pick, equal = found
            return pick, equal == (expr.op in ("==", "is"))
        if isinstance(expr, f.Call):
            pick_ = self._called(expr, fn)
            return (pick_, True) if pick_ is not None else None
        return None

    def _compared(self, node: f.Bin, left: f.Expr, right: f.Expr, fn: Fun) -> tuple[Pick, bool] | None:
        context = self.ended(left, fn)
        if context is not None:
            if isinstance(right, f.Lit) and right.value is None:
                return Pick(node, BOTH, context=context), False
            meaning = self.meaning(right, fn)
            return (
                (Pick(node, meaning.causes, context=context, meaning=meaning), True)
                if meaning is not None and meaning.causes
                else None
            )
        error = self._error(left, fn)
        if not error or isinstance(right, f.Lit):
            return None
        meaning = self.meaning(right, fn)
        return (Pick(node, meaning.causes, error, meaning=meaning), True) if meaning is not None else None

    def _error(self, expr: f.Expr, fn: Fun) -> str:
        """The error behind an expression that stands for it: itself, its cause, its code."""
        handled = self.handling(expr, fn)
        if isinstance(expr, f.Call) and handled is not None and handled[0] == "tests" and expr.args:
            return dotted(expr.args[0].value)
        return dotted(expr)

    def ended(self, expr: f.Expr, fn: Fun, method: str = "Err") -> f.Expr | None:
        """The context whose end an expression reads (`ctx.Err()`, `context.Cause(ctx)`), if it does."""
        if not isinstance(expr, f.Call):
            return None
        table = self.resolver.table(fn.module)
        base = _base(expr.fn)
        if (
            not expr.args
            and base is not None
            and last_name(expr.fn) == method
            and (self.is_context(base, fn) or _named_context(base))
        ):
            return base
        if (
            method == "Err"
            and len(expr.args) == 1
            and last_name(expr.fn) in table.error_words
            and any(table.error(name) == "both" for name in self._names(expr, fn))
        ):
            return expr.args[0].value
        return None

    def _called(self, call: f.Call, fn: Fun) -> Pick | None:
        handled = self.handling(call, fn)
        if handled is not None and handled[0] == "tests" and len(call.args) >= 2:
            meaning = self.meaning(call.args[1].value, fn)
            if meaning is None:
                return None
            context = self.ended(call.args[0].value, fn)
            if context is not None:
                return Pick(call, meaning.causes, context=context, meaning=meaning) if meaning.causes else None
            error = dotted(call.args[0].value)
            return Pick(call, meaning.causes, error, meaning=meaning) if error else None
        if not call.args and last_name(call.fn) == _TIMEOUT_METHOD and fn.module.language == "go":
            return Pick(call, frozenset({TIMEOUT}), dotted(_base(call.fn)))
        name = dotted(call.fn)
        if len(call.args) != 1 or not name or name.count(".") > 1 or self._local(name.partition(".")[0], fn):
            return None
        table = self.resolver.table(fn.module)
        for flow in self.resolver.callee(call, self.resolver.frame(fn)):
            thing = flow.thing
            if isinstance(thing, FnVal):
                causes = self.predicate(thing.fn)
                if causes:
                    return Pick(call, causes, dotted(call.args[0].value))
            elif isinstance(thing, Ext):
                known = _CAUSES.get(table.error(thing.name) or "")
                if known is not None:
                    return Pick(call, known, dotted(call.args[0].value))
        return None

    def predicate(self, fn: Fun) -> frozenset[str]:
        """The causes for which a function of one error says yes."""
        found = self._predicates.get(fn)
        if found is not None:
            return found
        self._predicates[fn] = frozenset()
        params = fn.positional
        if len(params) != 1 or len(fn.head.returns) != 1 or fn.head.returns[0].name != "bool":
            return frozenset()
        causes: set[str] = set()
        for stmt, _ in fn.body.returns:
            if stmt.value is None:
                continue
            for pick, holds in self.picks(stmt.value, fn):
                if not holds:
                    return frozenset()
                causes |= pick.causes
        self._predicates[fn] = frozenset(causes)
        return self._predicates[fn]

    def picks(self, test: f.Expr, fn: Fun) -> list[tuple[Pick, bool]]:
        """Every pick inside a test, and whether the test as a whole may be true (else: is false) where it holds."""
        out: list[tuple[Pick, bool]] = []
        for part in _atoms(test):
            found = self.atom(part, fn)
            if found is not None:
                pick, _ = found
                out.append((pick, self.truth(test, fn, self.knowing(pick)) is not False))
        return out

    @staticmethod
    def knowing(pick: Pick) -> Known:
        """What holds once a pick has."""
        known = Known(pick, {pick.error} if pick.error else set())
        if pick.context is not None:
            known.ended.add(context_key(pick.context))
        return known

    def truth(self, test: f.Expr | None, fn: Fun, known: Known) -> bool | None:
        """Whether a test is true on a path; `None` where that is not known."""
        if isinstance(test, f.Un) and test.op == "not":
            inner = self.truth(test.value, fn, known)
            return None if inner is None else not inner
        if isinstance(test, f.Bin) and test.op in ("and", "or"):
            left, right = self.truth(test.left, fn, known), self.truth(test.right, fn, known)
            decisive = test.op == "or"
            if left is decisive or right is decisive:
                return decisive
            return None if left is None or right is None else not decisive
        if test is None:
            return None
        if (
            isinstance(test, f.Bin)
            and test.op in ("!=", "==")
            and isinstance(test.right, f.Lit)
            and test.right.value is None
            and dotted(test.left) in known.errors
        ):
            return test.op == "!="
        found = self.atom(test, fn)
        if found is None:
            return None
        pick, sign = found
        if (pick.node.at, pick.node.end) == (known.pick.node.at, known.pick.node.end):
            return sign
        if pick.context is not None:
            if context_key(pick.context) not in known.ended:
                return None
            if pick.causes == BOTH or pick.causes == known.pick.causes:
                return sign
            return (not sign) if known.pick.causes and not pick.causes & known.pick.causes else None
        if pick.error and pick.error == known.pick.error and pick.error in known.errors:
            if pick.meaning is not None and known.pick.meaning is not None and pick.meaning.key == known.pick.meaning.key:
                return sign
            if pick.causes and known.pick.causes:
                return sign if pick.causes >= known.pick.causes else None if pick.causes & known.pick.causes else not sign
        return None

    # ------------------------------------------------------------ where an error came from

    def origin(self, name: str, fn: Fun, at: int) -> list[CallSite]:
        """The calls whose error a name may hold at a place, latest first."""
        reached, _ = fn.body.reaching(name, at) if name else ([], True)
        return [site for d in reached if (site := self.site(_plain(d.expr), fn)) is not None]

    def guard(self, arm: Arm, fn: Fun) -> tuple[Pick, Arm] | None:
        """The nearest pick that holds wherever an arm runs."""
        current: Arm | None = arm
        while current is not None:
            for pick in self.arm_picks(current, fn):
                return pick, current
            current = current.parent
        return None

    def arm_picks(self, arm: Arm, fn: Fun) -> list[Pick]:
        """The picks that let an arm run."""
        node = arm.node
        tests: list[f.Expr] = []
        if arm.kind in ("then", "else") and isinstance(node, f.If):
            tests = [node.test]
        elif arm.kind == "case" and isinstance(node, f.Switch):
            case = next((c for c in node.cases if c.body and c.body[0].at == arm.at), None)
            tests = list(compared(node.subject, case.tests)) if case is not None else []
        elif arm.kind == "comm" and isinstance(node, f.Select):
            for comm in node.cases:
                received = received_from(comm.op)
                if received is not None and comm.op is not None and comm.op.at == arm.at:
                    return [pick] if (pick := self.signal(received, fn)) is not None else []
        out = [pick for test in tests for pick in self.guards(test, fn, arm.kind != "else")]
        if len(out) > 1 and all(p.error == out[0].error and context_key(p.context) == context_key(out[0].context) for p in out):
            out = [Pick(out[0].node, frozenset().union(*(p.causes for p in out)), out[0].error, out[0].context)]
        return out

    def guards(self, test: f.Expr, fn: Fun, value: bool = True) -> list[Pick]:
        """The picks of which one holds wherever a test has a value."""
        if isinstance(test, f.Un) and test.op == "not":
            return self.guards(test.value, fn, not value)
        if isinstance(test, f.Bin) and test.op in ("and", "or"):
            left, right = self.guards(test.left, fn, value), self.guards(test.right, fn, value)
            if (test.op == "or") is value:
                return [*left, *right] if left and right else []
            return left or right
        found = self.atom(test, fn)
        return [found[0]] if found is not None and found[1] is value else []

    def signal(self, received: f.Expr, fn: Fun) -> Pick | None:
        """What a receive from a channel tells: the end of a context, or that a timer ran out."""
        context = self.ended(received, fn, "Done")
        if context is not None:
            return Pick(received, BOTH, context=context)
        if isinstance(received, f.Call):
            site = self.site(received, fn)
            entry = self.entry(site, doing("make")) if site is not None else None
            if entry is not None and entry.does == "make" and any(b.slot == "wait" for b in entry.bounds):
                return Pick(received, frozenset({TIMEOUT}))
            return None
        name = dotted(received)
        if name.endswith(".C"):
            table = self.resolver.table(fn.module)
            for definition in fn.body.reaching(name[:-2], received.at)[0]:
                if isinstance(definition.expr, f.Call):
                    for made in self._names(definition.expr, fn):
                        kind = table.constructs(made)
                        if kind is not None and kind.name.endswith("Timer"):
                            return Pick(received, frozenset({TIMEOUT}))
        return None

    # ------------------------------------------------------------ calls that go out

    def goes_out(self, site: CallSite, depth: int = 0) -> bool:
        """Whether a call waits for something outside: itself, or in what it enters."""
        for target in self.program.targets(site):
            entry = target.entry
            if entry is not None:
                if entry.does in ("network", "query", "connect"):
                    return True
                continue
            thing = target.flow.thing
            if isinstance(thing, FnVal) and not tells(thing.fn.name) and self.reaches(thing.fn, depth):
                return True
        declared = self._declared(site)
        if declared is not None:
            return not tells(declared.name) and self.reaches(declared, depth)
        # What a library does further down is not known well enough.
        return depth == 0 and self._may_fail(site) and bool(self.contexts(site))

    def _declared(self, site: CallSite) -> Fun | None:
        """The method of an interface of the program that nothing here implements."""
        base = _base(site.call.fn)
        kind = self.resolver.static_type(base, site.fn) if base is not None else None
        klass = self.resolver.resolve_type(kind, site.fn)
        if isinstance(klass, Klass) and klass.decl.kind == "interface":
            return klass.methods.get(site.last)
        return None

    def _may_fail(self, site: CallSite) -> bool:
        """Whether a call that nothing is known of gives an error: then it is no logger and no metric."""
        stmt, fn = site.stmt, site.fn
        if isinstance(stmt, f.Assign) and stmt.value is site.call:
            last = stmt.targets[-1]
            name = dotted(last.items[-1].value) if isinstance(last, f.Coll) and last.items else dotted(last)
            fails = name.lower().endswith("err")
        else:
            fails = (
                isinstance(stmt, f.Return)
                and stmt.value is site.call
                and bool(fn.head.returns)
                and fn.head.returns[-1].name == "error"
            )
        if not fails or fn.module.language != "go":
            return False
        table = self.resolver.table(fn.module)
        return not any(
            t.entry is not None or isinstance(t.flow.thing, FnVal) or (t.name and (table.error(t.name) or table.error_call(t.name)))
            for t in self.program.targets(site)
        )

    def reaches(self, fn: Fun, depth: int = 0) -> bool:
        """Whether a function comes to a call that goes out. A method that is only declared does if it takes a context and fails."""
        found = self._reaches.get(fn)
        if found is not None:
            return found
        if fn.head.is_abstract:
            found = any(r.name == "error" for r in fn.head.returns) and any(
                p.type is not None and self._is_context_type(p.type, fn) for p in fn.positional
            )
            self._reaches[fn] = found
            return found
        if depth > 3:
            return False
        self._reaches[fn] = False
        found = any(site.how != "defer" and self.goes_out(site, depth + 1) for site in fn.body.calls)
        if not found:
            found = any(
                self.goes_out(site, depth + 1) for inner in fn.module.functions if inner.parent is fn for site in inner.body.calls
            )
        self._reaches[fn] = found
        return found

    def _is_context_type(self, kind: f.Type, fn: Fun) -> bool:
        name = self.resolver.resolve_type(kind, fn)
        entry = self.resolver.table(fn.module).type(name) if isinstance(name, str) and name else None
        return entry is not None and entry.role == "context"

    # ------------------------------------------------------------ exception classes

    def caught(self, expr: f.Expr, fn: Fun) -> tuple[frozenset[str], str]:
        """The causes a handler's type stands for, and its name; a class so wide that it contains others has none."""
        table = self.resolver.table(fn.module)
        if isinstance(expr, f.Call):
            # A function that gives the class stands for it.
            return self.caught(expr.fn, fn)
        for flow in self.resolver.ask(expr, self.resolver.frame(fn)):
            thing = flow.thing
            names: list[str] = []
            if isinstance(thing, Ext):
                names = [thing.name.removeprefix("<builtin>.")]
            elif hasattr(thing, "klass") and isinstance(thing.klass, Klass):
                names = [n.removeprefix("<builtin>.") for n in self.resolver.mro(thing.klass)[1]]
            for name in names:
                causes = _CAUSES.get(table.error(name) or "")
                if causes is not None:
                    return causes, name
        return frozenset(), dotted(expr)


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TELLING = frozenset(
    {"log", "logs", "logf", "logger", "warn", "warning", "debug", "info", "error", "errorf", "trace", "metric", "metrics", "audit"}
)


def tells(name: str) -> bool:
    """Whether a function's name says that it only tells what happened, wherever it may send that."""
    return any(word.lower() in _TELLING for word in _WORDS.findall(name))


def _in_scope(fn: Fun, name: str, at: int) -> list[Definition]:
    """The definitions that reach a place. What Go declares in a block is another variable outside of it and before it."""
    reached, _ = fn.body.reaching(name, at)
    around = fn.body.arm_at(at).chain()
    return [d for d in reached if not (isinstance(d.node, f.Assign) and d.node.declares) or (d.at < at and d.arm in around)]


def _base(expr: f.Expr) -> f.Expr | None:
    """What a method is called on."""
    if isinstance(expr, f.Field):
        return expr.base
    if isinstance(expr, f.Ref):
        head, dot, last = expr.name.rpartition(".")
        return f.Ref(expr.at, expr.end - len(last) - 1, head) if dot else None
    return None


def _named_context(expr: f.Expr) -> bool:
    """A value whose type is not known, but which everybody calls a context."""
    last = context_key(expr).rpartition(".")[2]
    return last in ("ctx", "Context()") or last.endswith("Ctx")


def _plain(expr: f.Expr | None) -> f.Expr | None:
    while isinstance(expr, f.Await | f.Cast):
        expr = expr.value
    return expr


def _atoms(test: f.Expr) -> Iterator[f.Expr]:
    """The parts of a test that `and`, `or` and `not` join."""
    if isinstance(test, f.Bin) and test.op in ("and", "or"):
        yield from _atoms(test.left)
        yield from _atoms(test.right)
    elif isinstance(test, f.Un) and test.op == "not":
        yield from _atoms(test.value)
    else:
        yield test


def compared(subject: f.Expr | None, tests: tuple[f.Expr, ...]) -> Iterator[f.Expr]:
    """The tests of a case as conditions."""
    for test in tests:
        yield test if subject is None else f.Bin(test.at, test.end, "==", subject, test)


def received_from(op: f.Stmt | None) -> f.Expr | None:
    """The channel that a case of a select receives from."""
    value = op.value if isinstance(op, f.Do | f.Assign) else None
    return value.value if isinstance(value, f.Recv) else None


def mentions(expr: f.Expr) -> Iterator[str]:
    """Every dotted name inside an expression."""
    for node in walk(expr):
        if isinstance(node, f.Ref):
            yield node.name


def code_modules(program: Program, language: str) -> Iterator[Module]:
    """Modules of a language that are neither tests nor examples, of those that findings begin in."""
    return (m for m in program.start_modules(language) if not m.is_test)
