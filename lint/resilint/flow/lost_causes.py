"""Places where a timeout or a cancellation turns into an error that no longer says which it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.edits import Cut
from resilint.flow.errors import BOTH, CALLER, TIMEOUT, Errors, Meaning, Pick, code_modules, context_key, mentions
from resilint.flow.streams import receiver_of
from resilint.flow.timeouts import Fault
from resilint.flow.values import ClassVal, Ext
from resilint.flow.waits import OF_UNKNOWN_LENGTH, Wait
from resilint.link.code import Arm, CallSite, Fun, Klass, called_part, children, dotted, last_name, leaves, walk, walk_block
from resilint.link.looks import any_of
from resilint.model import Confidence, Fix, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_SAYS_TIMEOUT = re.compile(r"time[sd]?[ _-]?out|deadline", re.IGNORECASE)
_SAYS_CANCELLED = re.compile(r"interrupt|cancel|abort", re.IGNORECASE)
_SPEAKS_OF_ENDS = any_of(b"imeout", b"ancel", b"TimeLimit")
_SPEAKS_OF_ENDS_IN_JAVA = any_of(b"imeout", b"Cancel", b"Interrupted")
_TELLING = frozenset({"Is", "As", "Err", "Done", "Cause", "Code", "Timeout", "IsTimeout", "WithTimeout", "WithDeadline"})
_ONLY_MAKES = frozenset({"make", "pure", "log", "configure", "decode", "respond", "cancel", "spawn", "submit"})


@dataclass(frozen=True)
class Given:
    """An error value that a function gives where a cause is known, and the parameter that holds the context which ended."""

    value: Meaning
    causes: frozenset[str]
    fn: Fun
    node: f.Node
    context: str = ""


@dataclass(frozen=True)
class _Made:
    """A new error that stands in the place of another one."""

    fn: Fun
    expr: f.Expr
    arm: Arm
    key: object
    says: str
    """Its text or name."""
    names: frozenset[str]

    def keeps(self, name: str) -> bool:
        """Whether it mentions an error, if only as text."""
        return name in self.names or f"{name}.Error" in self.names


class Givens:
    """What functions give as error where they know the cause."""

    def __init__(self, errors: Errors) -> None:
        self.errors = errors
        self._of: dict[Fun, tuple[Given, ...]] = {}

    def of(self, fn: Fun, depth: int = 0) -> tuple[Given, ...]:
        """The error values of a function's results, with their causes."""
        found = self._of.get(fn)
        if found is not None:
            return found
        if depth > 4 or not fn.head.returns or fn.head.returns[-1].name != "error":
            return ()
        self._of[fn] = ()
        out: dict[Given, None] = {}
        for stmt, arm in fn.body.returns:
            expr = error_of(stmt.value)
            for given in self._values(expr, fn, arm, stmt.at, depth) if expr is not None else ():
                out.setdefault(given)
        self._of[fn] = tuple(out)
        return self._of[fn]

    def of_call(self, site: CallSite, depth: int = 0) -> Iterator[tuple[Given, f.Expr | None]]:
        """What a call may give, and the argument that holds the context which ended."""
        for callee in self.errors.program.callees(site):
            for given in self.of(callee, depth + 1):
                names = [p.name for p in callee.positional]
                position = names.index(given.context) if given.context in names else -1
                args = site.call.args
                yield given, args[position].value if 0 <= position < len(args) else None

    def _values(self, expr: f.Expr, fn: Fun, arm: Arm, at: int, depth: int) -> Iterator[Given]:
        if isinstance(expr, f.Call):
            handled = self.errors.handling(expr, fn)
            if handled is not None:
                if handled[0] == "wraps" or (handled[0] == "format" and _wraps(expr)):
                    for arg in expr.args:
                        if isinstance(arg.value, f.Ref | f.Call | f.Field):
                            yield from self._values(arg.value, fn, arm, at, depth)
                return
            site = self.errors.site(expr, fn)
            for given, context in self.of_call(site, depth) if site is not None else ():
                yield Given(given.value, given.causes, given.fn, given.node, self._parameter(context, fn, at))
            return
        if not dotted(expr):
            return
        meaning = self.errors.meaning(expr, fn)
        if meaning is not None:
            pick, causes = known_causes(self.errors, fn, arm, expr)
            if pick is not None and causes:
                yield Given(meaning, causes, fn, expr, self._parameter(pick.context, fn, pick.node.at))
            return
        for definition in fn.body.reaching(dotted(expr), at)[0]:
            if isinstance(definition.expr, f.Call | f.Ref) and definition.expr is not expr and depth < 4:
                yield from self._values(definition.expr, fn, definition.arm, definition.at, depth + 1)

    def _parameter(self, expr: f.Expr | None, fn: Fun, at: int, depth: int = 0) -> str:
        """The parameter of the function that a context is, or is made from."""
        if expr is None or depth > 4:
            return ""
        context = self.errors.context(expr, fn, at)
        if not context.definitions:
            return context.key if context.key in context.fn.params else ""
        made = self.errors.made(context)
        return self._parameter(made[2], context.fn, made[3].at, depth + 1) if made is not None else ""


def error_of(value: f.Expr | None) -> f.Expr | None:
    """The error among the results of a return: the last one."""
    if isinstance(value, f.Coll):
        return value.items[-1].value if value.items else None
    return value


def _wraps(call: f.Call) -> bool:
    first = call.args[0].value if call.args else None
    return not isinstance(first, f.Lit) or (isinstance(first.value, str) and "%w" in first.value)


def known_causes(errors: Errors, fn: Fun, arm: Arm, place: f.Node) -> tuple[Pick | None, frozenset[str]]:
    """The nearest pick around a place, and the causes that are left there."""
    found = errors.guard(arm, fn)
    if found is None:
        return None, frozenset()
    pick, around = found
    causes = pick.causes
    if pick.context is not None and causes == BOTH:
        limit = errors.limit(pick.context, fn, pick.node.at)
        if limit is None:
            causes = frozenset({CALLER})
        elif not limit.above:
            causes = frozenset({TIMEOUT})
    for stmt, _ in fn.body.stmts:
        if isinstance(stmt, f.If) and around.at <= stmt.at and stmt.end <= place.at and leaves(stmt.then):
            for other in errors.guards(stmt.test, fn):
                causes -= other.causes
    return pick, causes


class LostCauses:
    """Finds every place where the cause is lost."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.errors: Errors = program.errors
        self.givens = Givens(self.errors)
        self._uses: dict[object, list[tuple[_Made, frozenset[str], Pick]]] = {}

    def faults(self) -> list[Fault]:
        """All of them, each place once."""
        out: dict[object, Fault] = {}
        for fault in (*self._in_go, *self._python(), *self._java()):
            out.setdefault(fault.key, fault)
        return sorted(out.values(), key=lambda x: (x.span, x.message))

    @cached_property
    def _in_go(self) -> tuple[Fault, ...]:
        return tuple(self._go())

    @cached_property
    def values_of_callers(self) -> frozenset[object]:
        """The identities of error values that are given somewhere because a caller has gone."""
        assert self._in_go is not None
        return frozenset(key for key, uses in self._uses.items() if any(CALLER in causes for _, causes, _ in uses))

    def _fault(self, fn: Fun, node: f.Node, message: str, confidence: Confidence, *steps: Step, fix: Fix | None = None) -> Fault:
        span = self.program.span_of(fn, node)
        return Fault(span, message, Value(None, confidence, steps), key=(span.path, span.line), fix=fix)

    def _wrapped(self, made: _Made, error: str) -> Fix | None:
        """The error itself in a formatted one that has its text only."""
        call = made.expr
        handled = self.errors.handling(call, made.fn) if isinstance(call, f.Call) else None
        if not isinstance(call, f.Call) or handled is None or handled[0] != "format":
            return None
        for arg in call.args[1:]:
            value = arg.value
            if dotted(value) == error or (isinstance(value, f.Call) and not value.args and dotted(value.fn) == error):
                return self.program.mending.wrapped(made.fn, call, value)
        return None

    # ------------------------------------------------------------ error values

    def _go(self) -> Iterator[Fault]:
        waiting: list[tuple[_Made, Pick]] = []
        seen: set[Fun] = set()
        for module in code_modules(self.program, "go"):
            for fn in module.functions:
                if fn.index and any(c.rpartition(".")[2] in _TELLING for c in fn.head.calls):
                    seen.add(fn)
                    yield from self._in(fn, waiting)
        for made, pick in waiting:
            yield from self._shared(made, pick, seen)
            yield from self._claimed(made, pick)

    def _in(self, fn: Fun, waiting: list[tuple[_Made, Pick]]) -> Iterator[Fault]:
        for made in self._made(fn):
            pick, causes = known_causes(self.errors, fn, made.arm, made.expr)
            if pick is not None:
                self._uses.setdefault(made.key, []).append((made, causes, pick))
                if causes:
                    yield from self._picked(made, pick, causes)
                    if causes == frozenset({CALLER}):
                        waiting.append((made, pick))
            else:
                yield from self._bounded(made)

    def _made(self, fn: Fun) -> Iterator[_Made]:
        fails = bool(fn.head.returns) and fn.head.returns[-1].name == "error"
        for stmt, arm in fn.body.stmts:
            expr: f.Expr | None = None
            if isinstance(stmt, f.Return) and fails:
                expr = error_of(stmt.value)
            elif (
                isinstance(stmt, f.Assign)
                and len(stmt.targets) == 1
                and not stmt.op
                and dotted(stmt.targets[0]).lower().endswith("err")
            ):
                expr = stmt.value
            made = self._replacing(expr, fn, arm) if expr is not None else None
            if made is not None:
                yield made

    def _replacing(self, expr: f.Expr, fn: Fun, arm: Arm) -> _Made | None:
        if isinstance(expr, f.Call):
            handled = self.errors.handling(expr, fn)
            if handled is None or handled[0] not in ("loses", "format") or (handled[0] == "format" and _wraps(expr)):
                return None
            first = expr.args[0].value if expr.args else None
            says = first.value if isinstance(first, f.Lit) and isinstance(first.value, str) else ""
            key: object = (fn.key, says) if says and len(expr.args) == 1 else (fn.key, expr.at)
            return _Made(fn, expr, arm, key, says, frozenset(mentions(expr)))
        meaning = self.errors.meaning(expr, fn)
        if meaning is None or meaning.made is None:
            return None
        maker = meaning.made[1]
        text = " ".join(str(x.value) for x in walk(maker) if isinstance(x, f.Lit) and isinstance(x.value, str))
        return _Made(fn, expr, arm, meaning.key, f"{meaning.text} {text}", frozenset())

    def _picked(self, made: _Made, pick: Pick, causes: frozenset[str]) -> Iterator[Fault]:
        """A replacement where the cause is known."""
        program, fn = self.program, made.fn
        step = program.step(fn, pick.node, "the cause is known here")
        text = program.text_of(fn, made.expr, 40)
        name = context_key(pick.context)
        if (pick.error and made.keeps(pick.error)) or (name and f"{name}.Err" in made.names):
            what = pick.error or f"{name}.Err()"
            yield self._fault(
                fn,
                made.expr,
                f"`{text}` keeps only the text of `{what}`: a caller cannot tell a timeout from a cancellation",
                Confidence.HIGH,
                step,
                fix=self._wrapped(made, what.removesuffix("()")),
            )
        elif causes == BOTH:
            limit = self.errors.limit(pick.context, fn, pick.node.at)
            steps = (program.step(limit.fn, limit.node, "the own time limit is set here"), step) if limit is not None else (step,)
            yield self._fault(
                fn,
                made.expr,
                f"`{text}` stands for two causes: the own time limit ran out, or the caller has gone",
                Confidence.HIGH,
                *steps,
            )

    def _claimed(self, made: _Made, pick: Pick) -> Iterator[Fault]:
        """A value that says that time ran out, where a caller may also have gone."""
        if pick.context is not None and _SAYS_TIMEOUT.search(made.says):
            text, step = (
                self.program.text_of(made.fn, made.expr, 40),
                self.program.step(made.fn, pick.node, "the context of the caller has ended here"),
            )
            message = f"`{text}` says that time ran out, but `{context_key(pick.context)}` also ends when the caller has gone"
            yield self._fault(made.fn, made.expr, message, Confidence.MEDIUM, step)

    def _shared(self, made: _Made, pick: Pick, seen: set[Fun]) -> Iterator[Fault]:
        """One value for a caller that has gone and for a time limit that ran out elsewhere."""
        if isinstance(made.expr, f.Ref):
            for other in self.program.names.values_of.get(made.expr.name.rpartition(".")[2], ()):
                if other not in seen and other.module.language == "go" and not other.module.is_test:
                    seen.add(other)
                    for again in self._made(other):
                        known, causes = known_causes(self.errors, other, again.arm, again.expr)
                        if known is not None:
                            self._uses.setdefault(again.key, []).append((again, causes, known))
        for other_made, causes, other_pick in self._uses.get(made.key, ()):
            if TIMEOUT in causes and other_made is not made:
                steps = (
                    self.program.step(other_made.fn, other_made.expr, "the same value stands for a time limit that ran out"),
                    self.program.step(made.fn, pick.node, "here the caller has gone"),
                )
                text = self.program.text_of(made.fn, made.expr, 40)
                test = self.program.text_of(other_made.fn, other_pick.node, 30)
                message = f"`{text}` stands for two causes: the caller has gone, or a time limit ran out ({test})"
                yield self._fault(made.fn, made.expr, message, Confidence.HIGH, *steps)
                return

    def _bounded(self, made: _Made) -> Iterator[Fault]:
        """A replacement of the error of a call that the function itself bounded."""
        fn = made.fn
        told = True
        names = [n.removesuffix(".Error") for n in sorted(made.names)]
        if not any(self.errors.origin(n, fn, made.expr.at) for n in names):
            told = False
            names = [n for n in (_failed(made.arm),) if n]
        for name in names:
            sites = self.errors.origin(name, fn, made.expr.at)
            if len(sites) != 1:
                continue
            site = sites[0]
            entry = self.errors.entry(site)
            if entry is not None and entry.does in _ONLY_MAKES:
                continue
            for expr, at in self.errors.contexts(site):
                limit = self.errors.limit(expr, fn, at)
                if limit is None or self._asked(fn, name, context_key(expr), site.call.end, made.expr.at):
                    continue
                text = self.program.text_of(fn, made.expr, 40)
                steps = (
                    self.program.step(limit.fn, limit.node, "the own time limit is set here"),
                    self.program.step(fn, site.call, f"`{name}` comes from here"),
                )
                ends = "the own time limit, the caller or another failure" if limit.above else "the time limit or another failure"
                kept = f"keeps only the text of `{name}`" if told else f"replaces `{name}`"
                yield self._fault(
                    fn,
                    made.expr,
                    f"`{text}` {kept}: it hides whether {ends} ended the call",
                    Confidence.HIGH if told else Confidence.MEDIUM,
                    *steps,
                    fix=self._wrapped(made, name) if told else None,
                )
                return

    def _asked(self, fn: Fun, error: str, context: str, since: int, until: int) -> bool:
        """Whether the code asked for the cause between the call and the place, or left if there was an error at all."""
        for stmt, _ in fn.body.stmts:
            if (
                isinstance(stmt, f.If)
                and since <= stmt.at
                and stmt.then
                and stmt.then[-1].end <= until
                and _nil_test(stmt.test) == error
                and leaves(stmt.then)
            ):
                return True  # What follows has no error to speak of.
            if isinstance(stmt, f.If | f.Switch) and since <= stmt.at < until:
                tests = [stmt.test] if isinstance(stmt, f.If) else [t for c in stmt.cases for t in c.tests]
                if isinstance(stmt, f.Switch) and stmt.subject is not None and dotted(stmt.subject) == error:
                    return True
                for test in tests:
                    for pick, _holds in self.errors.picks(test, fn):
                        if pick.error in (error, "") or context_key(pick.context) == context:
                            return True
        return False

    # ------------------------------------------------------------ exceptions

    def _bounded_waits(self, language: str) -> dict[Fun, list[Wait]]:
        """Waits that may end because their time is over."""
        bounded: dict[Fun, list[Wait]] = {}
        there = any(True for _ in code_modules(self.program, language))
        for wait in self.program.all_waits if there else ():
            if (
                wait.fn.module.language == language
                and wait.bound is not None
                and (0 < wait.bound < 1e6 or wait.bound == OF_UNKNOWN_LENGTH)
            ):
                bounded.setdefault(wait.fn, []).append(wait)
        return bounded

    def _java(self) -> Iterator[Fault]:
        bounded = self._bounded_waits("java")
        for module in code_modules(self.program, "java"):
            for fn in module.functions:
                if fn in bounded or fn.says(_SPEAKS_OF_ENDS_IN_JAVA):
                    for stmt, _ in fn.body.stmts:
                        if isinstance(stmt, f.Try):
                            for handler in stmt.handlers:
                                yield from self._thrown_instead(fn, stmt, handler, bounded.get(fn, []))

    def _thrown_instead(self, fn: Fun, stmt: f.Try, handler: f.Handler, waits: list[Wait]) -> Iterator[Fault]:
        """Exceptions thrown in a handler that are not given the one caught: nothing links them, as Python's context does."""
        inside = [w for w in waits if not w.entry.deferred and stmt.body and stmt.body[0].at <= w.site.call.at < stmt.body[-1].end]
        if self._caught_before(fn, stmt, handler) or not any(self._is_wide(kind, fn) for kind in handler.types):
            inside = []  # A time that is over does not come here.
        causes: frozenset[str] = frozenset().union(*(self.errors.caught(kind, fn)[0] for kind in handler.types))
        if not (causes or inside) or any(isinstance(x, f.If | f.Cond | f.Switch) for x in walk_block(handler.body)):
            return
        kinds = self.program.step(
            fn, _span(handler.types), "both causes are caught here" if causes == BOTH else "it is caught here"
        )
        steps = (
            kinds,
            *(self.program.step(fn, called_part(w.site.call), f"{w.api} waits here with a time limit") for w in inside[:1]),
        )
        if causes == frozenset({CALLER}) and any("interrupt" in name for name in _called_in(handler.body)):
            return  # The flag of the thread still says it.
        for inner in handler.body:
            if isinstance(inner, f.Raise) and inner.value is not None:
                if self._given_on(inner.value, handler.name) or not isinstance(inner.value, f.Call):
                    continue
                if causes != BOTH and not self._hides_in_java(inner.value, fn, causes):
                    continue
                if causes == BOTH and self._edge(inner.value, fn):
                    continue
                text = self.program.text_of(fn, inner.value, 40)
                if causes == BOTH:
                    says = "stands for two causes: the own time limit ran out, or the thread was interrupted"
                elif causes == frozenset({CALLER}):
                    says = "is thrown without its cause: a caller cannot tell the interruption from another failure"
                else:
                    says = "is thrown without its cause: a caller cannot tell the timeout from another failure"
                sure = Confidence.HIGH if causes else Confidence.MEDIUM
                yield self._fault(fn, inner, f"`{text}` {says}", sure, *steps)
            elif isinstance(inner, f.Return) and causes == BOTH and isinstance(inner.value, f.Lit):
                text = self.program.text_of(fn, inner, 40)
                says = "stands for two causes: the own time limit ran out, or the thread was interrupted"
                yield self._fault(fn, inner, f"`{text}` {says}", Confidence.MEDIUM, kinds)

    def _is_wide(self, kind: f.Expr, fn: Fun) -> bool:
        """Whether a class contains others that stand for a timeout."""
        name = self.program.names.java.type(dotted(kind), fn)
        return isinstance(name, str) and self.errors.resolver.table(fn.module).error(name) == "any"

    def _caught_before(self, fn: Fun, stmt: f.Try, handler: f.Handler) -> bool:
        """Whether a handler above takes the timeouts, so that this one sees other failures only."""
        for other in stmt.handlers:
            if other is handler:
                return False
            if any(TIMEOUT in self.errors.caught(kind, fn)[0] for kind in other.types):
                return True
        return False

    def _given_on(self, value: f.Expr, name: str | None) -> bool:
        """Whether an exception is given the one caught, or its cause, and not its text alone."""
        if name is None:
            return True
        if isinstance(value, f.Ref):
            return value.name == name
        if isinstance(value, f.Cast | f.Cond):
            return any(self._given_on(part, name) for part in children(value) if not isinstance(part, f.Type))
        if not isinstance(value, f.Call):
            return False
        head, _, method = dotted(value.fn).rpartition(".")
        if head == name:
            return method not in _TEXTS
        inner = receiver_of(value)
        return (inner is not None and self._given_on(inner, name)) or any(self._given_on(a.value, name) for a in value.args)

    def _hides_in_java(self, value: f.Call, fn: Fun, causes: frozenset[str]) -> bool:
        """Whether an exception says nothing of what was caught: neither its class nor its text."""
        if not dotted(value.fn) or self._edge(value, fn) or self.errors.caught(value.fn, fn)[0] & (causes or BOTH):
            return False
        told = (str(x.value) if isinstance(x, f.Lit) else x.name for x in walk(value) if isinstance(x, f.Lit) or _is_constant(x))
        said = " ".join([dotted(value.fn), *told])
        words = _SAYS_CANCELLED if causes == frozenset({CALLER}) else _SAYS_TIMEOUT
        return not words.search(said)

    def _python(self) -> Iterator[Fault]:
        bounded = self._bounded_waits("python")
        for module in code_modules(self.program, "python"):
            for fn in module.functions:
                if fn in bounded or fn.says(_SPEAKS_OF_ENDS):
                    for stmt, _ in fn.body.stmts:
                        if isinstance(stmt, f.Try):
                            yield from self._handlers(fn, stmt, bounded.get(fn, []))

    def _handlers(self, fn: Fun, stmt: f.Try, waits: list[Wait]) -> Iterator[Fault]:
        inside = [w for w in waits if stmt.body and stmt.body[0].at <= w.site.call.at < stmt.body[-1].end]
        for handler in stmt.handlers:
            caught = [(*self.errors.caught(kind, fn), kind) for kind in handler.types]
            causes: frozenset[str] = frozenset().union(*(c for c, _, _ in caught))
            if any(isinstance(x, f.If | f.Cond | f.Switch) for x in walk_block(handler.body)):
                continue  # It looks at the error, or at something else that tells the causes apart.
            apart = any(c == frozenset({TIMEOUT}) for c, _, _ in caught) and any(c == frozenset({CALLER}) for c, _, _ in caught)
            if apart:
                yield from self._merged(fn, stmt, handler)
            elif causes == frozenset({CALLER}):
                yield from self._turned(fn, handler)
            elif TIMEOUT in causes or inside:
                yield from self._cut_off(fn, stmt, handler, causes, inside)

    def _merged(self, fn: Fun, stmt: f.Try, handler: f.Handler) -> Iterator[Fault]:
        if cancels(fn):
            return
        kinds = self.program.step(fn, _span(handler.types), "both causes are caught here")
        for inner in handler.body:
            if isinstance(inner, f.Raise) and inner.value is not None:
                if self._keeps(inner, handler) or self._edge(inner.value, fn):
                    continue
                text = self.program.text_of(fn, inner.value, 40)
                yield self._fault(
                    fn,
                    inner,
                    f"`{text}` stands for two causes: the own time limit ran out, or the caller has cancelled",
                    Confidence.HIGH,
                    kinds,
                )
            elif isinstance(inner, f.Return) and (inner.value is None or isinstance(inner.value, f.Lit)):
                text = self.program.text_of(fn, inner, 40)
                yield self._fault(
                    fn,
                    inner,
                    f"`{text}` stands for two causes: the own time limit ran out, or the caller has cancelled",
                    Confidence.MEDIUM,
                    kinds,
                )

    def _turned(self, fn: Fun, handler: f.Handler) -> Iterator[Fault]:
        """A cancellation turned into a timeout without asking whose it was."""
        if cancels(fn):
            return
        for inner in handler.body:
            if isinstance(inner, f.Raise) and inner.value is not None:
                kind = inner.value.fn if isinstance(inner.value, f.Call) else inner.value
                if TIMEOUT in self.errors.caught(kind, fn)[0]:
                    text = self.program.text_of(fn, inner.value, 40)
                    step = self.program.step(fn, _span(handler.types), "a cancellation by the caller is caught here too")
                    yield self._fault(
                        fn, inner, f"`{text}` reports every cancellation as a timeout, the caller's too", Confidence.HIGH, step
                    )

    def _cut_off(self, fn: Fun, stmt: f.Try, handler: f.Handler, causes: frozenset[str], waits: list[Wait]) -> Iterator[Fault]:
        """An exception raised in place of a timeout, with no link back to it."""
        steps = tuple(self.program.step(fn, w.site.call, f"{w.api} waits here with a time limit") for w in waits[:1])
        sure = Confidence.HIGH if causes else Confidence.MEDIUM
        for inner in handler.body:
            if not isinstance(inner, f.Raise) or inner.value is None or not isinstance(inner.cause, f.Lit):
                continue
            if not self._passes(inner.value, handler.name) and self._hides(inner.value, fn, causes):
                text = self.program.text_of(fn, inner.value, 40)
                yield self._fault(
                    fn,
                    inner,
                    f"`{text}` is raised from None: a caller cannot tell the timeout from another failure",
                    sure,
                    *steps,
                    fix=self._kept(fn, inner.cause, handler.name),
                )
        if handler.name is None:
            return
        for stored in handler.body:
            if not isinstance(stored, f.Assign) or stored.value is None or not dotted(stored.targets[0]):
                continue
            name = dotted(stored.targets[0])
            whole = isinstance(stored.value, f.Ref) and stored.value.name == handler.name
            if not whole and handler.name not in set(mentions(stored.value)):
                continue
            for later, _ in fn.body.stmts:
                if not isinstance(later, f.Raise) or later.value is None or later.at < stmt.end or later.cause is not None:
                    continue
                if name not in set(mentions(later.value)) or (
                    whole and (self._passes(later.value, name) or dotted(later.value) == name)
                ):
                    continue
                if not any(d.node is stored for d in fn.body.reaching(name, later.at)[0]) or not self._hides(
                    later.value, fn, causes
                ):
                    continue
                step = self.program.step(
                    fn,
                    stored,
                    f"the timeout becomes `{name}` here" if whole else f"only the text of the timeout goes into `{name}`",
                )
                text = self.program.text_of(fn, later.value, 40)
                message = f"`{text}` is raised outside the handler with the text of the timeout only: its cause is lost"
                fix = None
                if whole:
                    cut = Cut(later.value.end, later.value.end, f" from {name}")
                    fix = self.program.mending.cut(fn.module.path, [cut], f"Raise from {name}", safe=True)
                yield self._fault(fn, later, message, sure, *steps, step, fix=fix)

    def _kept(self, fn: Fun, cause: f.Lit, name: str | None) -> Fix | None:
        """The error that was caught as the cause, against what is written: nobody but its author knows why it is not."""
        if name is None:
            return None
        title = f"Raise from {name}, which is not to be seen now"
        return self.program.mending.cut(fn.module.path, [Cut(cause.at, cause.end, name)], title, safe=False)

    @staticmethod
    def _passes(value: f.Expr, name: str | None) -> bool:
        """Whether the exception itself is given to the new one."""
        return (
            name is not None
            and isinstance(value, f.Call)
            and any(isinstance(a.value, f.Ref) and a.value.name == name for a in value.args)
        )

    def _keeps(self, stmt: f.Raise, handler: f.Handler) -> bool:
        linked = stmt.cause is not None and not isinstance(stmt.cause, f.Lit)
        return linked or (stmt.value is not None and self._passes(stmt.value, handler.name))

    def _edge(self, value: f.Expr, fn: Fun) -> bool:
        """Whether an exception is the answer to the caller at the edge, by itself or by a base class."""
        table = self.errors.resolver.table(fn.module)
        kind = value.fn if isinstance(value, f.Call) else value
        for flow in self.errors.resolver.ask(kind, self.errors.resolver.frame(fn)):
            thing = flow.thing
            names = (
                [thing.name]
                if isinstance(thing, Ext)
                else self.errors.resolver.mro(thing.klass)[1]
                if isinstance(thing, ClassVal)
                else []
            )
            if isinstance(thing, ClassVal) and thing.klass.module.language == "java":
                names = [*names, *self._annotations(thing.klass)]
            if any(table.error_call(name) == "edge" for name in names):
                return True
        return False

    def _annotations(self, klass: Klass) -> list[str]:
        """Canonical names of what a class is annotated with."""
        written = (dotted(d.fn if isinstance(d, f.Call) else d) for d in klass.decl.decorators)
        found = (self.program.names.java.type(name, klass) for name in written if name)
        return [name for name in found if isinstance(name, str)]

    def _hides(self, value: f.Expr, fn: Fun, causes: frozenset[str]) -> bool:
        """Whether an exception says nothing of a timeout: neither its class nor its text."""
        kind = value.fn if isinstance(value, f.Call) else value
        if not dotted(kind) or self._edge(value, fn) or self.errors.caught(kind, fn)[0] & (causes or BOTH):
            return False
        said = " ".join([dotted(kind), *(str(x.value) for x in walk(value) if isinstance(x, f.Lit))])
        return not _SAYS_TIMEOUT.search(said)


_TEXTS = frozenset({"getMessage", "getLocalizedMessage", "toString", "printStackTrace", "getClass", "getStackTrace"})
"""What gives the text of an exception, not the exception."""


def _called_in(block: f.Block) -> Iterator[str]:
    """Last segments of what a block calls."""
    return (dotted(x.fn).rpartition(".")[2] or last_name(x.fn) for x in walk_block(block) if isinstance(x, f.Call))


def _failed(arm: Arm) -> str:
    """The error of which nothing is known where an arm runs but that it is not nil."""
    return _nil_test(arm.node.test) if arm.kind == "then" and isinstance(arm.node, f.If) else ""


def _nil_test(test: f.Expr) -> str:
    """The name that a test finds not to be nil."""
    if isinstance(test, f.Bin) and test.op == "!=" and isinstance(test.right, f.Lit) and test.right.value is None:
        return dotted(test.left)
    return ""


def cancels(fn: Fun) -> bool:
    """A function that cancels something itself expects the cancellation that it catches."""
    # A call that only names the class that a handler catches cancels nothing.
    named = {
        id(kind) for stmt, _ in fn.body.stmts if isinstance(stmt, f.Try) for handler in stmt.handlers for kind in handler.types
    }
    return any("cancel" in site.last and id(site.call) not in named for site in fn.body.calls)


def _span(types: tuple[f.Expr, ...]) -> f.Node:
    return f.Ref(types[0].at, types[-1].end, "")


def _is_constant(node: f.Node) -> bool:
    """Whether it is the name of a constant: `ErrorCode.PLUGIN_TIMEOUT` is a code that a caller can tell from others."""
    return isinstance(node, f.Ref) and node.name.rpartition(".")[2].isupper()
