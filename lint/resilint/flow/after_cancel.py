"""What a function does after a test or handler has told it that its deadline or its caller is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.deadlines import is_awaited
from resilint.flow.errors import (
    BOTH,
    CALLER,
    TIMEOUT,
    Context,
    Errors,
    Known,
    Pick,
    code_modules,
    compared,
    context_key,
    mentions,
    received_from,
    tells,
)
from resilint.flow.lost_causes import Givens, cancels
from resilint.flow.timeouts import Fault
from resilint.knowledge.index import doing
from resilint.link.code import CallSite, Definition, Fun, dotted, last_name, walk
from resilint.link.looks import any_of
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

Outcome = tuple[str, str | None]
"""How a block ends: `falls` out of its end, `leaves` the function, `break` or `continue`, with a label."""
_SETS = "interrupt"
"""Java's method that sets a thread's flag, and those that read it."""
_READS = ("isInterrupted", "interrupted")
FALLS: Outcome = ("falls", None)
LEAVES: Outcome = ("leaves", None)
_ERROR, _EQUALS = any_of(b"Err"), any_of(b"==")
_CANCELLED, _INTERRUPTED = any_of(b"ancel", b"SoftTimeLimit"), any_of(b"Interrupt")
_PUTS_AWAY = re.compile(r"destroy|dispose|shut_?down|tear_?down|clean_?up|(?:stop|close|terminate)(?:$|_|[A-Z])")
"""Methods by which something is put away: what is left has to be done there, whoever interrupts."""
_MOST = 3
"""Next calls that a finding shows."""


@dataclass(frozen=True)
class _Place:
    """Where a statement stands: its block and position, and the statement around it."""

    block: f.Block
    index: int
    owner: f.Stmt | None
    role: str = ""


def _blocks(stmt: f.Stmt) -> Iterator[tuple[str, f.Block]]:
    match stmt:
        case f.If():
            yield "then", stmt.then
            yield "else", stmt.orelse
        case f.Switch():
            for case in stmt.cases:
                yield "case", case.body
        case f.Select():
            for comm in stmt.cases:
                yield "comm", comm.body
        case f.Loop():
            yield "loop", stmt.body
            yield "orelse", stmt.orelse
        case f.Try():
            yield "try", stmt.body
            for handler in stmt.handlers:
                yield "handler", handler.body
            yield "orelse", stmt.orelse
            yield "final", stmt.final
        case f.With():
            yield "with", stmt.body


class Places:
    """The statements of a body by where they stand."""

    def __init__(self, fn: Fun) -> None:
        self._of: dict[int, _Place] = {}
        self._fill(fn.block, None, "")

    def _fill(self, block: f.Block, owner: f.Stmt | None, role: str) -> None:
        for index, stmt in enumerate(block):
            self._of[id(stmt)] = _Place(block, index, owner, role)
            for inner, body in _blocks(stmt):
                self._fill(body, stmt, inner)

    def of(self, stmt: f.Stmt) -> _Place | None:
        """Where a statement stands."""
        return self._of.get(id(stmt))


@dataclass
class _Walk:
    """One way through a body after a cause is known, up to the next calls that go out."""

    after: AfterCancel
    fn: Fun
    known: Known
    ended: set[tuple[object, ...]]
    found: list[CallSite] = field(default_factory=list)
    renewed: list[f.Loop] = field(default_factory=list)
    branch: bool = True
    """Still in the branch of the cause."""
    written: set[str] = field(default_factory=set)
    """What the branch of the cause itself assigns."""
    any_call: bool = False
    """Every call that goes out counts, not only one that is given the ended context."""
    flag: bool = False
    """Java: the flag of the thread says that it was interrupted."""

    # ------------------------------------------------------------ blocks

    def block(self, stmts: f.Block, known: Known) -> set[Outcome]:
        """Run a block on what is known; calls that go out are noted in the order met."""
        ends: set[Outcome] = set()
        for stmt in stmts:
            out = self._stmt(stmt, known)
            ends |= out - {FALLS}
            if FALLS not in out or len(self.found) >= _MOST:
                return ends
        return ends | {FALLS}

    def _stmt(self, stmt: f.Stmt, known: Known) -> set[Outcome]:
        match stmt:
            case f.Return() | f.Raise():
                self._calls(stmt)
                return {LEAVES}
            case f.Jump():
                return {(stmt.kind, stmt.label)} if stmt.kind in ("break", "continue") else {LEAVES}
            case f.If():
                self._calls(stmt.test)
                return self._if(stmt, known)
            case f.Switch():
                return self._switch(stmt, known)
            case f.Select():
                return self._select(stmt, known)
            case f.Loop():
                return self._loop(stmt, known)
            case f.Try():
                out = self.block(stmt.body, known)
                if FALLS in out:
                    out = (out - {FALLS}) | self.block(stmt.orelse, known)
                if stmt.handlers and not self.found:
                    out |= {FALLS}
                return out
            case f.With():
                for item in stmt.items:
                    self._calls(item.value)
                return self.block(stmt.body, known)
            case f.Defer() | f.Go() | f.Def():
                return {FALLS}
            case f.Assign():
                self._calls(stmt)
                for target in stmt.targets:
                    for name in _names(target):
                        known.errors.discard(name)
                        if self.branch:
                            self.written.add(name)
                return {FALLS}
            case f.Do():
                self._calls(stmt)
                return {LEAVES} if self.after.exits(stmt, self.fn) else {FALLS}
        self._calls(stmt)
        return {FALLS}

    def _if(self, stmt: f.If, known: Known) -> set[Outcome]:
        truth = self.after.errors.truth(stmt.test, self.fn, known)
        if self.flag and truth is None:
            truth = self.after.reads_flag(stmt.test)
        out: set[Outcome] = set()
        if truth is not False:
            out |= self.block(stmt.then, known.copy())
        if truth is not True:
            out |= self.block(stmt.orelse, known.copy())
        return out

    def _switch(self, stmt: f.Switch, known: Known) -> set[Outcome]:
        out: set[Outcome] = set()
        sure = False
        for case in stmt.cases:
            truths = [self.after.errors.truth(test, self.fn, known) for test in compared(stmt.subject, case.tests)]
            if case.tests and all(t is False for t in truths):
                continue
            if not case.tests and sure:
                continue
            out |= self.block(case.body, known.copy())
            if any(t is True for t in truths):
                sure = True
                break
        if not sure and all(case.tests for case in stmt.cases):
            out.add(FALLS)
        return _broken(out)

    def _select(self, stmt: f.Select, known: Known) -> set[Outcome]:
        out: set[Outcome] = set()
        ready = [c for c in stmt.cases if self._is_end(c.op)]
        for comm in ready or stmt.cases:
            out |= self.block(comm.body, known.copy())
        return _broken(out)

    def _is_end(self, op: f.Stmt | None) -> bool:
        received = received_from(op)
        context = self.after.errors.ended(received, self.fn, "Done") if received is not None else None
        return context is not None and self._dead(context, context.at)

    def _loop(self, stmt: f.Loop, known: Known) -> set[Outcome]:
        if stmt.iter is not None:
            self._calls(stmt.iter)
        truth = self.after.errors.truth(stmt.test, self.fn, known) if stmt.test is not None else None
        if self.flag and truth is None and stmt.test is not None:
            truth = self.after.reads_flag(stmt.test)
        if truth is False or (stmt.test is not None and self._watches(stmt.test)):
            return {FALLS}
        if stmt.test is not None:
            self._calls(stmt.test)
        out = self.block(stmt.body, known.copy())
        mine = {o for o in out if o[0] in ("break", "continue") and o[1] in (None, stmt.label)}
        rest = out - mine
        if stmt.form != "ever" or any(o[0] == "break" for o in mine):
            return rest | {FALLS}
        return rest - {FALLS}

    def _watches(self, test: f.Expr) -> bool:
        """Whether a loop's test asks something that was given the ended context: it is taken to end with it."""
        errors = self.after.errors
        for inner in walk(test):
            if isinstance(inner, f.Call):
                name = dotted(inner.fn).rpartition(".")[0]
                makers = [errors.site(d.expr, self.fn) for d in (self.fn.body.reaching(name, inner.at)[0] if name else ())]
                given = [a.value for call in (inner, *(m.call for m in makers if m is not None)) for a in call.args]
                if any(errors.is_context(expr, self.fn) and self._dead(expr, expr.at) for expr in given):
                    return True
        return False

    # ------------------------------------------------------------ calls

    def _calls(self, node: f.Stmt | f.Expr) -> None:
        for inner in walk(node):
            if isinstance(inner, f.Call) and len(self.found) < _MOST:
                site = self.after.errors.site(inner, self.fn)
                if site is not None and self._counts(site):
                    self.found.append(site)

    def _counts(self, site: CallSite) -> bool:
        if site.how or any(site.call is x.call for x in self.found):
            return False
        if self.any_call:
            java = self.fn.module.language == "java"
            return self.after.waits_outside(site) if java else self.after.errors.goes_out(site)
        if not any(self._dead(expr, at) for expr, at in self.after.errors.contexts(site)):
            return False
        return self.after.errors.goes_out(site)

    def _dead(self, expr: f.Expr, at: int, depth: int = 0) -> bool:
        errors = self.after.errors
        if depth > 4:
            return False
        if isinstance(expr, f.Call) and expr.args:
            row = errors.row(expr, self.fn)
            parent = errors.parent(expr, row) if row is not None and row.kind in ("bounded", "derived") else None
            return parent is not None and self._dead(parent, at, depth + 1)
        context = errors.context(expr, self.fn, at)
        fresh = any(_inside(d, loop) for d in context.definitions for loop in self.renewed if context.fn is self.fn)
        if not fresh and context.identity in self.ended:
            return True
        made = errors.made(context)
        if made is None or context.fn is not self.fn:
            return False
        _, row, parent, definition = made
        return row.kind in ("bounded", "derived") and parent is not None and self._dead(parent, definition.at, depth + 1)


def _inside(definition: Definition, loop: f.Loop) -> bool:
    return loop.at <= definition.at < loop.end


def _broken(out: set[Outcome]) -> set[Outcome]:
    """A break without a label ends the switch or select, not the loop around it."""
    return {FALLS if o == ("break", None) else o for o in out}


def _names(target: f.Expr) -> Iterator[str]:
    if isinstance(target, f.Coll):
        for pair in target.items:
            yield from _names(pair.value)
    elif dotted(target):
        yield dotted(target)


class AfterCancel:
    """Finds picks of a timeout or cancellation after which the next call goes out on what has ended."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.errors: Errors = program.errors
        self.givens: Givens = program.lost_causes.givens
        self._places: dict[Fun, Places] = {}
        self.faults: list[Fault] = []
        seen: set[object] = set()
        for fault in (*self._go(), *self._python(), *self._java()):
            if fault.key not in seen:
                seen.add(fault.key)
                self.faults.append(fault)
        self.faults.sort(key=lambda x: (x.span, x.message))

    def places(self, fn: Fun) -> Places:
        """The statements of a function by where they stand."""
        if fn not in self._places:
            self._places[fn] = Places(fn)
        return self._places[fn]

    def exits(self, stmt: f.Do, fn: Fun) -> bool:
        """Whether a statement ends the process or the goroutine."""
        if not isinstance(stmt.value, f.Call):
            return False
        if dotted(stmt.value.fn) == "panic" or dotted(stmt.value.fn).rpartition(".")[2].startswith("Fatal"):
            return True
        site = self.errors.site(stmt.value, fn)
        entry = self.errors.entry(site, doing("exit")) if site is not None else None
        return entry is not None and entry.does == "exit"

    # ------------------------------------------------------------ contexts

    def _go(self) -> Iterator[Fault]:
        for module in code_modules(self.program, "go"):
            for fn in module.functions:
                if fn.index and self._worth(fn):
                    yield from self._in(fn)

    def _worth(self, fn: Fun) -> bool:
        lasts = {c.rpartition(".")[2] for c in fn.head.calls}
        return bool(lasts & {"Is", "Err", "Done", "Cause", "Code"}) or (fn.says(_ERROR) and fn.says(_EQUALS))

    def _in(self, fn: Fun) -> Iterator[Fault]:
        for stmt, _ in fn.body.stmts:
            if isinstance(stmt, f.If):
                for pick, _holds in self.errors.picks(stmt.test, fn):
                    yield from self._after(fn, stmt, pick)
            elif isinstance(stmt, f.Switch):
                for case in stmt.cases:
                    for test in compared(stmt.subject, case.tests):
                        for pick, _holds in self.errors.picks(test, fn):
                            yield from self._after(fn, stmt, pick)
            elif isinstance(stmt, f.Select):
                for comm in stmt.cases:
                    received = received_from(comm.op)
                    pick_ = self.errors.signal(received, fn) if received is not None else None
                    if pick_ is not None and pick_.context is not None:
                        yield from self._after(fn, stmt, pick_)

    def _after(self, fn: Fun, stmt: f.Stmt, pick: Pick) -> Iterator[Fault]:
        ended, call, steps = self._ended(fn, pick)
        if not ended or self._asked_before(fn, pick, call, ended):
            return
        known = self.errors.knowing(pick)
        known.ended |= {c.key for c in ended}
        walk_ = _Walk(self, fn, known, {c.identity for c in ended})
        self._follow(walk_, stmt, known)
        if not walk_.found or self._flagged(walk_, pick) or (call is not None and self._again(walk_, call)):
            return
        name = ended[0].key
        then = f"`{_callee(walk_.found[0])}` with it"
        nexts = tuple(self.program.step(fn, s.call, f"`{_callee(s)}` is called next with it") for s in walk_.found)
        span = self.program.span_of(fn, pick.node)
        if pick.meaning is not None and not pick.meaning.causes:
            message = f"`{pick.meaning.text}` also stands for the end of `{name}`, and the code goes on to call {then}"
        else:
            message = f"`{name}` has ended here, and the code goes on to call {then}"
        yield Fault(span, message, Value(None, Confidence.HIGH, (*steps, *nexts)), key=(span.path, span.line))

    def _ended(self, fn: Fun, pick: Pick) -> tuple[list[Context], CallSite | None, tuple[Step, ...]]:
        """The contexts that have ended where a pick holds, the call whose error it looks at, and the evidence."""
        errors = self.errors
        if pick.context is not None:
            return [errors.context(pick.context, fn, pick.node.at)], None, ()
        if not pick.error:
            return [], None, ()
        sites = errors.origin(pick.error, fn, pick.node.at)
        if len(sites) != 1:
            return [], None, ()
        site = sites[0]
        came = (self.program.step(fn, site.call, f"`{pick.error}` comes from here"),)
        if pick.meaning is not None and not pick.meaning.causes:
            out, steps = self._by_sentinel(fn, site, pick)
            return out, site, (*came, *steps)
        given = errors.contexts(site)
        if pick.causes == frozenset({CALLER}):
            if self._cancels_itself(site):
                return [], site, ()
            out = []
            for expr, at in given:
                out.extend(self._with_parents(fn, expr, at))
            return out, site, came
        if TIMEOUT in pick.causes and not self._bounds_itself(site):
            return [errors.context(e, fn, at) for e, at in given if errors.limit(e, fn, at) is not None], site, came
        return [], site, ()

    def _by_sentinel(self, fn: Fun, site: CallSite, pick: Pick) -> tuple[list[Context], tuple[Step, ...]]:
        assert pick.meaning is not None
        if pick.meaning.key not in self.program.lost_causes.values_of_callers:
            return [], ()
        for given, expr in self.givens.of_call(site):
            if given.value.key == pick.meaning.key and CALLER in given.causes and expr is not None:
                step = self.program.step(given.fn, given.node, f"`{pick.meaning.text}` is returned here when the context has ended")
                return [self.errors.context(expr, fn, site.call.at)], (step,)
        return [], ()

    def _with_parents(self, fn: Fun, expr: f.Expr, at: int, depth: int = 0) -> list[Context]:
        """A cancelled context, and those above it: a bound of its own gives another error."""
        context = self.errors.context(expr, fn, at)
        made = self.errors.made(context)
        if made is None:
            return [context]
        _call, row, parent, definition = made
        if row.kind == "bounded" and parent is not None and depth < 4 and context.fn is fn:
            return [context, *self._with_parents(fn, parent, definition.at, depth + 1)]
        return [context]

    def _callees(self, site: CallSite, depth: int = 0) -> Iterator[Fun]:
        for callee in self.program.callees(site):
            yield callee
            if depth < 2:
                for inner in callee.body.calls:
                    if not inner.how and self.errors.contexts(inner):
                        yield from self._callees(inner, depth + 1)

    def _makes(self, site: CallSite, wanted: tuple[str, ...]) -> bool:
        for callee in self._callees(site):
            for inner in callee.body.calls:
                row = self.errors.row(inner.call, callee)
                if row is not None and row.kind in wanted:
                    return True
        return False

    def _bounds_itself(self, site: CallSite) -> bool:
        return self._makes(site, ("bounded",))

    def _cancels_itself(self, site: CallSite) -> bool:
        """Whether a callee makes a context that it may cancel although its caller's goes on."""
        return self._makes(site, ("derived", "root", "detached"))

    def _asked_before(self, fn: Fun, pick: Pick, call: CallSite | None, ended: list[Context]) -> bool:
        """Whether the code asked the context itself since the call, so that it is alive where the pick holds."""
        if call is None:
            return False
        keys = {c.key for c in ended}
        for site in fn.body.calls:
            if call.call.end <= site.call.at < pick.node.at:
                context = self.errors.ended(site.call, fn)
                if context is not None and context_key(context) in keys:
                    return True
        return False

    # ------------------------------------------------------------ the way on

    def _follow(self, walk_: _Walk, stmt: f.Stmt, known: Known, outcomes: set[Outcome] | None = None) -> None:
        if outcomes is None:
            if isinstance(stmt, f.If):
                outcomes = self._of_if(walk_, stmt, known.copy())
            elif isinstance(stmt, f.Switch):
                outcomes = _broken(self._of_switch(walk_, stmt, known.copy()))
            elif isinstance(stmt, f.Select):
                outcomes = _broken(self._of_select(walk_, stmt, known))
            else:
                return
        walk_.branch = False
        current: f.Stmt = stmt
        while not walk_.found:
            place = self.places(walk_.fn).of(current)
            if place is None:
                return
            if FALLS in outcomes and not walk_.found:
                rest = walk_.block(place.block[place.index + 1 :], known)
                outcomes = (outcomes - {FALLS}) | rest
                if walk_.found:
                    return
            owner = place.owner
            if owner is None:
                return
            if isinstance(owner, f.Switch | f.Select):
                outcomes = _broken(outcomes)
            elif isinstance(owner, f.Try) and place.role == "try" and FALLS in outcomes:
                outcomes = (outcomes - {FALLS}) | walk_.block(owner.orelse, known)
            elif isinstance(owner, f.Loop) and place.role == "loop":
                outcomes = self._next_pass(walk_, owner, outcomes, known)
            current = owner

    def _of_if(self, walk_: _Walk, stmt: f.If, known: Known) -> set[Outcome]:
        """The branch that runs because the pick holds; none where other tests decide too."""
        where = known.pick.node.at
        if self.errors.truth(stmt.test, walk_.fn, known) is not None:
            return walk_._if(stmt, known)
        for value, block in ((True, stmt.then), (False, stmt.orelse)):
            if any(p.node.at == where for p in self.errors.guards(stmt.test, walk_.fn, value)):
                return walk_.block(block, known)
        return set()

    def _of_switch(self, walk_: _Walk, stmt: f.Switch, known: Known) -> set[Outcome]:
        for case in stmt.cases:
            for test in compared(stmt.subject, case.tests):
                if test.at <= known.pick.node.at < test.end and self.errors.truth(test, walk_.fn, known) is not False:
                    return walk_.block(case.body, known)
        return walk_._switch(stmt, known)

    def _of_select(self, walk_: _Walk, stmt: f.Select, known: Known) -> set[Outcome]:
        out: set[Outcome] = set()
        for comm in stmt.cases:
            received = received_from(comm.op)
            # A sender that gives up because nobody listens has nothing to say to what follows.
            if received is not None and received is known.pick.node and comm.body:
                out |= walk_.block(comm.body, known.copy())
        return out

    @staticmethod
    def _next_pass(walk_: _Walk, loop: f.Loop, outcomes: set[Outcome], known: Known) -> set[Outcome]:
        mine = {o for o in outcomes if o[0] in ("break", "continue") and o[1] in (None, loop.label)}
        rest = outcomes - mine - {FALLS}
        again = FALLS in outcomes or any(o[0] == "continue" for o in mine)
        after = any(o[0] == "break" for o in mine)
        if again:
            walk_.renewed.append(loop)
            passed = walk_.block(loop.body, known) if loop.form == "ever" else walk_._loop(loop, known)
            left = any(o[0] == "break" and o[1] in (None, loop.label) for o in passed)
            after = after or left or (loop.form != "ever" and FALLS in passed)
        return rest | ({FALLS} if after else set())

    def _flagged(self, walk_: _Walk, pick: Pick) -> bool:
        """Whether the branch of the cause sets something that a later test asks for: it says so to the code behind it."""
        tests = {m for stmt, _ in walk_.fn.body.stmts for test in _tests(stmt) if test.at != pick.node.at for m in mentions(test)}
        return any(name in tests for name in walk_.written)

    def _again(self, walk_: _Walk, call: CallSite) -> bool:
        """Whether the next call only repeats the one that failed: a retry, which is another rule's business."""
        first = walk_.found[0]
        if first.call is not call.call:
            return self.program.text_of(call.fn, first.call, 400) == self.program.text_of(call.fn, call.call, 400)
        loop = call.loop
        if not isinstance(loop, f.Loop):
            return True
        if loop.form == "each" and loop.target is not None:
            own = set(_names(loop.target)) - {"_"}
            used = {m.partition(".")[0] for m in mentions(call.call)}
            if own & used:
                return False
            for name in used:
                for definition in call.fn.body.reaching(name, call.call.at)[0]:
                    if (
                        definition.expr is not None
                        and _inside(definition, loop)
                        and own & {m.partition(".")[0] for m in mentions(definition.expr)}
                    ):
                        return False
            return True
        # A loop that ends once the call succeeds is a retry; one that goes on is the next round.
        return _ends_on_success(loop)

    # ------------------------------------------------------------ exceptions

    def _python(self) -> Iterator[Fault]:
        for module in code_modules(self.program, "python"):
            for fn in module.functions:
                if fn.says(_CANCELLED):
                    for stmt, arm in fn.body.stmts:
                        # What stands in a `finally` or a handler cleans up, cancelled or not.
                        if isinstance(stmt, f.Try) and not any(a.kind in ("final", "handler") for a in arm.chain()):
                            yield from self._after_handlers(fn, stmt)

    def _java(self) -> Iterator[Fault]:
        for module in code_modules(self.program, "java"):
            for fn in module.functions:
                if fn.says(_INTERRUPTED) and not _PUTS_AWAY.match(fn.name):
                    for stmt, arm in fn.body.stmts:
                        if isinstance(stmt, f.Try) and not any(a.kind in ("final", "handler") for a in arm.chain()):
                            yield from self._after_handlers(fn, stmt)

    def _after_handlers(self, fn: Fun, stmt: f.Try) -> Iterator[Fault]:
        for handler in stmt.handlers:
            names = [n for kind in handler.types for n in self._scope_ends(kind, fn)]
            if not names or len(names) != len(handler.types) or any(isinstance(x, f.Raise) for s in handler.body for x in walk(s)):
                continue
            java = fn.module.language == "java"
            if cancels(fn) and not java:
                continue
            inside = [s for s in fn.body.calls if stmt.body and stmt.body[0].at <= s.call.at < stmt.body[-1].end]
            tried = next((s for s in inside if self._interrupted(s, fn)), None)
            if tried is None and java:
                # The compiler saw to it that something in there throws it.
                tried = next(iter(inside), None)
            if tried is None:
                continue
            pick = Pick(f.Ref(handler.at, handler.end, names[0]), BOTH)
            known = Known(pick)
            walk_ = _Walk(self, fn, known, set(), any_call=True)
            outcomes = walk_.block(handler.body, known)
            walk_.found.clear()
            if any(o == LEAVES or o[0] == "break" for o in outcomes):
                continue  # It leaves, or decides whether to.
            if java:
                walk_.flag = self._sets_flag(handler.body, fn)
                if self._stopped(walk_, handler):
                    continue
            self._follow(walk_, stmt, known, outcomes)
            if not walk_.found or (walk_.found[0].call is tried.call and self._again(walk_, tried)):
                continue
            if _pauses_retry(tried, walk_.found[0]):
                continue
            line = f.Ref(handler.types[0].at, handler.types[-1].end, "")
            span = self.program.span_of(fn, line)
            steps = (
                self.program.step(fn, tried.call, "interrupted here"),
                *(self.program.step(fn, s.call, f"`{_callee(s)}` is called next") for s in walk_.found),
            )
            what = f"{names[0].rpartition('.')[2]} ends this work"
            if walk_.flag:
                what += ", its flag is set again"
            message = f"{what}, and the code goes on to call `{_callee(walk_.found[0])}`"
            yield Fault(span, message, Value(None, Confidence.HIGH, steps), key=(span.path, span.line))

    def waits_outside(self, site: CallSite) -> bool:
        """Whether a call waits for a peer, itself or in the nearest of what it enters: an interface may have very many methods
        behind it, so only so many are looked at."""
        if any(
            entry.does in ("network", "query", "connect")
            for _, entry in self.program.described(site, doing("network", "query", "connect"))
        ):
            return True
        callees = [callee for callee in self.program.callees(site) if not tells(callee.name)]
        reach = self.program.spawning.reach(callees) if callees else None
        return reach is not None and reach.sure

    def _sets_flag(self, block: f.Block, fn: Fun) -> bool:
        """Whether a handler sets the flag of its thread again, itself or in what it calls."""
        for node in (x for stmt in block for x in walk(stmt)):
            if not isinstance(node, f.Call):
                continue
            if last_name(node.fn) == _SETS:
                return True
            site = self.errors.site(node, fn)
            if site is not None and any(
                c.rpartition(".")[2] == _SETS for callee in self.program.callees(site) for c in callee.head.calls
            ):
                return True
        return False

    @staticmethod
    def reads_flag(test: f.Expr | None) -> bool | None:
        """What a test comes out as where the flag of the thread is set; `None` where it does not ask for that alone."""
        if isinstance(test, f.Un) and test.op == "not":
            inner = AfterCancel.reads_flag(test.value)
            return None if inner is None else not inner
        if isinstance(test, f.Bin) and test.op in ("and", "or"):
            sides = (AfterCancel.reads_flag(test.left), AfterCancel.reads_flag(test.right))
            decisive = test.op == "or"
            return decisive if decisive in sides else None
        return True if isinstance(test, f.Call) and last_name(test.fn) in _READS else None

    def _stopped(self, walk_: _Walk, handler: f.Handler) -> bool:
        """Whether a handler says to the code behind it that it is over: by something that is tested later."""
        names = {name.rpartition(".")[2] for name in walk_.written}
        names |= {
            dotted(x.fn).rpartition(".")[0].rpartition(".")[2]
            for stmt in handler.body
            for x in walk(stmt)
            if isinstance(x, f.Call) and last_name(x.fn) in ("set", "stop", "close", "shutdown", "shutdownNow")
        }
        tests = {m for stmt, _ in walk_.fn.body.stmts for test in _tests(stmt) for m in mentions(test)}
        tested = {part for m in tests for part in m.split(".")}
        return bool((names - {"", "this"}) & tested)

    def _scope_ends(self, kind: f.Expr, fn: Fun) -> Iterator[str]:
        causes, name = self.errors.caught(kind, fn)
        entry = self.errors.resolver.table(fn.module).error_entry(name)
        if (entry is not None and entry.scope) and causes:
            yield name

    def _interrupted(self, site: CallSite, fn: Fun) -> bool:
        """Whether the end of the task around interrupts a call: an awaited one, or any in code that does not await."""
        if fn.head.is_async and not is_awaited(site):
            return False
        if fn.module.language == "java":
            return self.errors.throws_interrupt(site)
        entry = self.errors.entry(site)
        return (entry is not None and entry.does == "sleep") or self.errors.goes_out(site)


def _pauses_retry(pause: CallSite, call: CallSite) -> bool:
    """Whether a pause stands between tries of one call: its failure is caught in the loop, which success leaves."""
    loop = pause.loop
    if not isinstance(loop, f.Loop) or loop.form == "each" or call.loop is not loop or call.call.at > pause.call.at:
        return False
    caught = any(
        arm.kind == "try" and isinstance(arm.node, f.Try) and arm.node.at > loop.at and arm.node.handlers
        for arm in call.arm.chain()
    )
    jumps = (n for stmt in loop.body for n in walk(stmt))
    ends = any(isinstance(n, f.Return) or (isinstance(n, f.Jump) and n.kind == "break") for n in jumps)
    tests = {m.rpartition(".")[2] for m in mentions(loop.test)} if loop.test is not None else set()
    told = any(
        name.rpartition(".")[2] in tests
        for name, defs in call.fn.body.definitions.items()
        for d in defs
        if call.call.at < d.at < loop.end
    )
    return caught and (ends or told)


def _callee(site: CallSite) -> str:
    """What a call calls, as written: Java's reader writes out a `this.` that nobody wrote."""
    name = dotted(site.call.fn) or site.last
    return name.removeprefix("this.") if site.fn.module.language == "java" else name


def _tests(stmt: f.Stmt) -> Iterator[f.Expr]:
    """The conditions of a statement."""
    if isinstance(stmt, f.If | f.Loop) and stmt.test is not None:
        yield stmt.test
    elif isinstance(stmt, f.Switch):
        if stmt.subject is not None:
            yield stmt.subject
        for case in stmt.cases:
            yield from case.tests


def _ends_on_success(loop: f.Loop) -> bool:
    """Whether a loop is left where nothing has failed: a return or break of its own body, or under `err == nil`."""
    for stmt in loop.body:
        if isinstance(stmt, f.Return) or (isinstance(stmt, f.Jump) and stmt.kind == "break"):
            return True
        if isinstance(stmt, f.If):
            tests_nil = (
                isinstance(stmt.test, f.Bin)
                and stmt.test.op == "=="
                and isinstance(stmt.test.right, f.Lit)
                and stmt.test.right.value is None
            )
            for block in (stmt.then if tests_nil else (), stmt.orelse if not tests_nil else ()):
                if any(isinstance(s, f.Return) or (isinstance(s, f.Jump) and s.kind == "break") for s in block):
                    return True
    return False
