"""Loops that try again: which failure leads to the next pass, what ends them, how long they pause.

A retry repeats an operation because it failed, and its success leaves. That is found by walking one pass of a loop twice, once
where the operation succeeds and once where it fails, whatever the operation is: nothing of a library is known here. A loop that
goes round after success too (a poll, a consumer, a watch) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.lists import Words
from resilint.flow.pauses import Pause, Pauses, together
from resilint.flow.values import Frame
from resilint.link.code import CallSite, Fun, Module, dotted, last_name, walk, walk_block

if TYPE_CHECKING:
    from resilint.flow.retry_faults import RetryFaults
    from resilint.flow.timeouts import Fault
    from resilint.program import Program

Outcome = tuple[str, str | None]
"""How a block ends: it `falls` out of its end, `leaves` the function, `raises`, or `break`s or `continue`s, with a label."""
FALLS: Outcome = ("falls", None)
LEAVES: Outcome = ("leaves", None)
RAISES: Outcome = ("raises", None)

_FORMS = (b"\xa4ever", b"\xa5while", b"\xa5count")
"""Forms of loops that need not end by themselves, as encoded."""
_EACH = b"\xa4each"
_ENDLESS = frozenset({"count", "cycle", "repeat"})
"""Iterators without an end."""
_TURNS = frozenset({"range", "xrange"})
_NESTED = 40
"""Statements looked into one inside another."""
_MOST_TRIES = 100_000
_ERROR_NAME = re.compile(r"_*(e|ex|exc|err|error|.*err|.*error|.*exception|cause)\d*", re.IGNORECASE)
_COUNTS_TRIES = re.compile(r"attempt|retr(y|ies)|tries|trial|turn|round|count|^_$|^[a-z]$", re.IGNORECASE)
_STATUS = re.compile(r"(get_?)?(http_?)?(status|(status|response)_?code|code)(_?value)?", re.IGNORECASE)
_GOOD = re.compile(r"(is_?)?(ok|success(ful)?(ly)?|is_?2xx(_?successful)?|done|succeeded)", re.IGNORECASE)
_BAD = re.compile(r"(is_?|has_?)?(error|failed|failure|is_?(4|5)xx.*)", re.IGNORECASE)
_ACTS = re.compile(
    r"_*(try_?|do_?)?(send|post|put|publish|push|connect|reconnect|dial|open|call|invoke|exec|execute|request|submit|deliver|upload|"
    r"download|write|save|store|commit|register|login|authenticate|notify|transfer|sync|replicate|reserve|book|pay|charge|forward|"
    r"renew|flush|join|attempt|apply|perform|process|handle)(?![a-z])|_*try_?[A-Za-z]",
)
"""Verbs of methods whose false result is a failure; that of a question (`is_ready`, `exists`, `poll`) is an answer."""
_CLOCK = re.compile(
    r"time|clock|elapsed|deadline|expir|remain|since|until|now|before|after|nano|milli|budget|patience", re.IGNORECASE
)
_LIMITS = re.compile(
    r"retr(y|ies)(?!able|iable)|attempt|tries|backoff|back_off|max|limit|exhaust|give_?up|budget|should|can_|allow|policy|remaining|count",
    re.IGNORECASE,
)
_STOPS = re.compile(
    r"run(ning)?$|stop|clos(e|ed|ing)|alive|shut|terminat|done|is_?set$|exit|quit|cancel|interrupt|active|enabled|abort|finish|kill|disposed|"
    r"destroy|started|live|keep_?(loop|go|run)",
    re.IGNORECASE,
)
"""Tests that ask whether to go on at all: they end a loop at shutdown, and are no cap."""
_SAYS = re.compile(
    r"(?:^|\.)_*(log|logger|logging|slog|klog|zap|print|trace|debug|info|warn|warning|error|exception|metric|stats|span)", re.I
)


@dataclass(frozen=True, eq=False)
class Cap:
    """A test of a counter or clock that ends a loop: `counter op bound`, judged where it stands in a pass."""

    test: f.Expr
    counter: str = ""
    op: str = ""
    bound: f.Expr | None = None
    leaves: bool = True
    """The loop is left where the test holds; else where it does not."""


@dataclass(eq=False)
class RetryLoop:
    """A loop, or a function that calls itself, which repeats an operation that failed."""

    fn: Fun
    node: f.Loop | f.Call
    """The loop, or the call by which the function enters itself again."""
    operation: f.Node
    """What is tried: the first call of it, or the statement."""
    failed: f.Node
    """Where its failure is told: the handler or the test."""
    tries: float | None = None
    """How often at most, the first try included: `inf` where nothing ends it, `None` where that is not known."""
    window: float | None = None
    """Seconds after which it gives up, where a clock that can be read ends it."""
    caps: tuple[f.Expr, ...] = ()
    """Tests that end it after some tries or some time."""
    stops: tuple[f.Expr, ...] = ()
    """Tests that end it at shutdown or cancellation, which is no cap."""
    pauses: tuple[Pause, ...] = ()
    path: tuple[f.Stmt, ...] = ()
    """Statements passed between a failure and the next try."""
    counted: tuple[Cap, ...] = ()
    kinds: tuple[str, ...] = ()
    """Classes of the errors that are caught, as written."""

    @property
    def pause(self) -> Pause:
        """What stands between two tries, added up."""
        return together(self.pauses)

    @property
    def seconds(self) -> float | None:
        """The pause between two tries: 0 without one, `None` where it is not known or grows."""
        return self.pause.seconds

    @property
    def grows(self) -> bool | None:
        """Whether the pauses grow."""
        return self.pause.grows

    @property
    def jitter(self) -> bool | None:
        """Whether the pauses have a random part."""
        return self.pause.jitter

    @property
    def at(self) -> int:
        """Where it begins."""
        return self.node.at


class _Known(NamedTuple):
    """What is known of a variable: the value of a literal, or that it is `ok` (there, true) or an `err` (there, and an error)."""

    kind: str
    value: object = None


_OK = _Known("ok")
_ERR = _Known("err")
_NIL = _Known("lit", None)


@dataclass
class _Point:
    """A place where the failure of an operation is told."""

    node: f.Stmt
    """The try statement, the assignment of the error, or the statement with the test."""
    operation: f.Node
    failed: f.Node
    handler: f.Handler | None = None
    error: str = ""
    call: f.Call | None = None
    """Where the failure is a false result or a bad status: the call whose result it is."""
    result: str = ""


@dataclass
class _Pass:
    """One way round a loop, in which an operation succeeds or fails."""

    fn: Fun
    loop: f.Loop | None
    point: _Point
    fails: bool
    known: dict[str, _Known] = field(default_factory=dict)
    passed: list[f.Stmt] = field(default_factory=list)
    """Statements passed, those of the operation itself left out."""
    exits: list[tuple[f.Expr, bool]] = field(default_factory=list)
    """Tests by which this way may leave the loop, and whether it leaves where they hold."""
    after: bool = False
    """The point lies behind."""

    # ------------------------------------------------------------ blocks

    def block(self, stmts: f.Block, depth: int = 0) -> set[Outcome]:
        ends: set[Outcome] = set()
        if depth > _NESTED:
            return {FALLS, LEAVES}
        for stmt in stmts:
            out = self._stmt(stmt, depth)
            ends |= out - {FALLS}
            if FALLS not in out:
                return ends
        return ends | {FALLS}

    def _holds_point(self, part: object) -> bool:
        at = self.point.node.at
        if isinstance(part, tuple):
            return bool(part) and part[0].at <= at < part[-1].end
        return isinstance(part, f.Node) and part.at <= at < part.end

    def _stmt(self, stmt: f.Stmt, depth: int) -> set[Outcome]:
        if stmt is self.point.node and isinstance(stmt, f.Try):
            return self._tried(stmt, depth)
        match stmt:
            case f.Return():
                self._pass(stmt)
                return {LEAVES}
            case f.Raise():
                self._pass(stmt)
                return {RAISES}
            case f.Jump():
                if stmt.kind in ("break", "continue"):
                    return {(stmt.kind, stmt.label)}
                return {LEAVES} if stmt.kind == "goto" else {FALLS}
            case f.If():
                return self._if(stmt, depth)
            case f.Switch():
                return self._switch(stmt, depth)
            case f.Select():
                return self._select(stmt, depth)
            case f.Loop():
                return self._inner_loop(stmt, depth)
            case f.Try():
                return self._other_try(stmt, depth)
            case f.With():
                self.passed.append(f.Do(stmt.at, stmt.at, f.Opaque(stmt.at, stmt.at, tuple(i.value for i in stmt.items))))
                return self.block(stmt.body, depth + 1)
            case f.Assign():
                self._pass(stmt)
                self._assign(stmt)
            case f.Do():
                self._pass(stmt)
                if stmt is self.point.node:
                    self.after = True
                if isinstance(stmt.value, f.Call) and _ends_process(stmt.value):
                    return {LEAVES}
            case f.Def():
                pass
            case _:
                self._pass(stmt)
        return {FALLS}

    def _pass(self, stmt: f.Stmt) -> None:
        if stmt is not self.point.node:
            self.passed.append(stmt)

    def _tried(self, stmt: f.Try, depth: int) -> set[Outcome]:
        """The try statement whose handler tells the failure."""
        if not self.fails:
            out = self.block(stmt.body, depth + 1)
            self.after = True
            if RAISES in out:
                # What is raised in there is caught in there, and success raises nothing.
                out -= {RAISES}
                if not out:
                    out = {LEAVES}
            if FALLS in out:
                out = (out - {FALLS}) | self.block(stmt.orelse, depth + 1)
        else:
            self.after = True
            handler = self.point.handler
            assert handler is not None
            if handler.name:
                self.known[handler.name] = _ERR
            out = self.block(handler.body, depth + 1)
        return self._finally(stmt, out, depth)

    def _finally(self, stmt: f.Try, out: set[Outcome], depth: int) -> set[Outcome]:
        final = self.block(stmt.final, depth + 1)
        return (out | final - {FALLS}) if FALLS in final else final

    def _other_try(self, stmt: f.Try, depth: int) -> set[Outcome]:
        out = self.block(stmt.body, depth + 1)
        if FALLS in out:
            out = (out - {FALLS}) | self.block(stmt.orelse, depth + 1)
        if any(h for h in stmt.handlers) and RAISES in out:
            out -= {RAISES}
            if not out:
                out = {FALLS}
        if self.fails and self.after and not self._holds_point(stmt.body):
            # A pause that is interrupted, a step of cleaning up that fails: both ways may be gone.
            for handler in stmt.handlers:
                exits = list(self.exits)
                out = out | self.block(handler.body, depth + 1)
                self.exits = exits
        return self._finally(stmt, out, depth)

    def _if(self, stmt: f.If, depth: int) -> set[Outcome]:
        self.passed.append(f.Do(stmt.test.at, stmt.test.end, stmt.test))
        if stmt is self.point.node:
            self.after = True
        truth = self.truth(stmt.test)
        if truth is None and stmt is not self.point.node:
            if self._holds_point(stmt.then):
                truth = True
            elif self._holds_point(stmt.orelse):
                truth = False
        if truth is not None:
            return self.block(stmt.then if truth else stmt.orelse, depth + 1)
        known = dict(self.known)
        assume(self.known, stmt.test, True)
        before = len(self.exits)
        then = self.block(stmt.then, depth + 1)
        mine = self.exits[before:]
        after_then, self.known = self.known, dict(known)
        assume(self.known, stmt.test, False)
        orelse = self.block(stmt.orelse, depth + 1)
        self.known = {k: v for k, v in self.known.items() if after_then.get(k) == v}
        if leaves_loop(then, self.loop) != leaves_loop(orelse, self.loop) or mine:
            if leaves_loop(then, self.loop):
                self.exits.append((stmt.test, True))
            if leaves_loop(orelse, self.loop):
                self.exits.append((stmt.test, False))
        return then | orelse

    def _switch(self, stmt: f.Switch, depth: int) -> set[Outcome]:
        out: set[Outcome] = set()
        sure = False
        if stmt.subject is not None:
            self.passed.append(f.Do(stmt.at, stmt.at, stmt.subject))
        for case in stmt.cases:
            tests = [t if stmt.subject is None else f.Bin(t.at, t.end, "==", stmt.subject, t) for t in case.tests]
            truths = [self.truth(t) for t in tests]
            if tests and all(t is False for t in truths):
                continue
            known = dict(self.known)
            ends = self.block(case.body, depth + 1)
            self.known = known
            if leaves_loop(ends - {("break", None)}, self.loop) and not any(t is True for t in truths):
                self.exits.extend((t, True) for t in tests[:1])
            out |= ends
            if any(t is True for t in truths) or not tests:
                sure = True
                break
        if not sure:
            out.add(FALLS)
        return _switched(out)

    def _select(self, stmt: f.Select, depth: int) -> set[Outcome]:
        out: set[Outcome] = set()
        self.passed.append(f.Do(stmt.at, stmt.at, f.Opaque(stmt.at, stmt.at, ())))
        self.passed.append(stmt)
        for comm in stmt.cases:
            if any(self._holds_point(c.body) for c in stmt.cases) and not self._holds_point(comm.body):
                continue
            known = dict(self.known)
            ends = self.block(comm.body, depth + 1)
            self.known = known
            channel = received(comm.op)
            if channel is not None and leaves_loop(ends - {("break", None)}, self.loop):
                self.exits.append((channel, True))
            out |= ends
        return _switched(out)

    def _inner_loop(self, stmt: f.Loop, depth: int) -> set[Outcome]:
        for expr in (stmt.iter, stmt.test):
            if expr is not None:
                self.passed.append(f.Do(expr.at, expr.end, expr))
        known = dict(self.known)
        out = self.block(stmt.body, depth + 1)
        self.known = {k: v for k, v in known.items() if self.known.get(k) == v}
        mine = {o for o in out if o[0] in ("break", "continue") and o[1] in (None, stmt.label)}
        rest = out - mine - {FALLS}
        if stmt.form != "ever" or any(o[0] == "break" for o in mine):
            rest |= {FALLS}
        return rest or {LEAVES}

    # ------------------------------------------------------------ values

    def _assign(self, stmt: f.Assign) -> None:
        value = stmt.value
        while isinstance(value, f.Await | f.Cast):
            value = value.value
        if stmt is self.point.node:
            self.after = True
        for target in stmt.targets:
            names = [dotted(p.value) for p in target.items] if isinstance(target, f.Coll) else [dotted(target)]
            parts: list[f.Expr | None] = [value]
            if isinstance(target, f.Coll) and isinstance(value, f.Coll) and len(value.items) == len(names):
                parts = [p.value for p in value.items]
            for position, name in enumerate(names):
                part = parts[position] if len(parts) > 1 else value
                if not name or name == "_":
                    continue
                got = None if stmt.op else self._of_value(stmt, part, name, position, len(names))
                if got is None:
                    self.known.pop(name, None)
                else:
                    self.known[name] = got

    def _of_value(self, stmt: f.Assign, value: f.Expr | None, name: str, position: int, many: int) -> _Known | None:
        point = self.point
        while isinstance(value, f.Await | f.Cast):
            value = value.value
        if isinstance(value, f.Lit):
            return _Known("lit", value.value)
        if isinstance(value, f.Ref):
            return self.known.get(value.name)
        if isinstance(value, f.New | f.Coll | f.Fmt):
            return _OK
        if stmt is point.node and (value is point.call or point.error):
            if point.error:
                if name == point.error:
                    return _ERR if self.fails else _NIL
                return _NIL if self.fails else _OK
            return (_Known("lit", False) if point.result != "status" else None) if self.fails else _OK
        if isinstance(value, f.Call):
            go = self.fn.module.language == "go"
            if go and many >= 1 and position == many - 1 and _ERROR_NAME.fullmatch(name):
                return None if self.fails and self.after else _NIL
            if self.fails and self.after:
                return None
            if point.call is not None and value is not point.call:
                return None
            return _OK
        truth = self.truth(value) if value is not None else None
        return None if truth is None else _Known("lit", truth)

    def truth(self, test: f.Expr | None) -> bool | None:
        """What a test comes out as, as far as it is known on this way."""
        match test:
            case f.Lit():
                return bool(test.value)
            case f.Await() | f.Cast():
                return self.truth(test.value)
            case f.Let():
                value = test.value
                while isinstance(value, f.Await | f.Cast):
                    value = value.value
                got = self._of_value(f.Assign(test.at, test.end, (test.target,), "", value), value, dotted(test.target), 0, 1)
                if value is self.point.call and value is not None:
                    got = _Known("lit", False) if self.fails else _OK
                if dotted(test.target):
                    self.known.pop(dotted(test.target), None)
                    if got is not None:
                        self.known[dotted(test.target)] = got
                return None if got is None else _truth(got)
            case f.Ref():
                got = self.known.get(test.name)
                if got is not None:
                    return _truth(got)
                return self._status_word(test)
            case f.Un(op="not"):
                inner = self.truth(test.value)
                return None if inner is None else not inner
            case f.Bin(op="and" | "or"):
                left, right = self.truth(test.left), self.truth(test.right)
                decisive = test.op == "or"
                if decisive in (left, right):
                    return decisive
                return None if None in (left, right) else not decisive
            case f.Bin():
                return self._compared(test)
            case f.Call():
                if test is self.point.call:
                    return not self.fails
                if last_name(test.fn) in ("Is", "As") and test.args and self._is_nil(test.args[0].value):
                    return False
                base = dotted(test.fn)
                if not test.args and base:
                    return self._status_word(test.fn)
        return None

    def _is_nil(self, expr: f.Expr) -> bool:
        got = self.known.get(dotted(expr))
        return got is not None and got.kind == "lit" and got.value is None

    def _status_word(self, expr: f.Expr) -> bool | None:
        """`resp.ok`, `response.isSuccessful()`: true where the operation succeeded."""
        base, _, last = dotted(expr).rpartition(".")
        if not base or not self._is_result(base):
            return None
        if _GOOD.fullmatch(last):
            return not self.fails
        return self.fails if _BAD.fullmatch(last) else None

    def _is_result(self, name: str) -> bool:
        """Whether a name holds what an operation of this pass gave."""
        point = self.point
        if point.call is not None:
            return bool(point.result) and name == point.result.partition(":")[2]
        return not self.fails and self.known.get(name) is _OK

    def _compared(self, test: f.Bin) -> bool | None:
        left, right, op = test.left, test.right, test.op
        if op in ("==", "!=", "is", "is not"):
            same: bool | None = None
            for one, other in ((left, right), (right, left)):
                if not isinstance(other, f.Lit):
                    continue
                got = self._value(one)
                if got is not None:
                    if got.kind == "lit":
                        same = got.value == other.value and isinstance(got.value, bool) == isinstance(other.value, bool)
                    elif other.value is None or other.value is False:
                        same = False
                    elif other.value is True and got is _OK:
                        same = True
                if same is not None:
                    return same if op in ("==", "is") else not same
        return self._status(test)

    def _value(self, expr: f.Expr) -> _Known | None:
        while isinstance(expr, f.Await | f.Cast):
            expr = expr.value
        if isinstance(expr, f.Call) and expr is self.point.call:
            if self.point.error == "<direct>":
                return _ERR if self.fails else _NIL
            return _Known("lit", False) if self.fails else _OK
        if isinstance(expr, f.Let):
            self.truth(expr)
            return self.known.get(dotted(expr.target))
        return self.known.get(dotted(expr)) if dotted(expr) else None

    def _status(self, test: f.Bin) -> bool | None:
        """A comparison of a status code with a number, where the operation succeeded or failed by its status."""
        numbers = {"left": self._codes(test.left), "right": self._codes(test.right)}
        if numbers["right"]:
            expr, codes = test.left, numbers["right"]
        elif numbers["left"]:
            expr, codes = test.right, numbers["left"]
        else:
            return None
        name = dotted(expr.fn) if isinstance(expr, f.Call) and not expr.args else dotted(expr)
        base, _, last = name.rpartition(".")
        if not _STATUS.fullmatch(last) or (self.fails and self.point.result.partition(":")[0] != "status"):
            return None
        if base and not self._is_result(base):
            return None
        good = any(200 <= code < 300 for code in codes)
        match test.op:
            case "==" | "in" | "is":
                return good is not self.fails
            case "!=" | "not in" | "is not":
                return good is self.fails
            case ">" | ">=":
                return self.fails if min(codes) >= 299 else None
            case "<" | "<=":
                return not self.fails if min(codes) >= 299 else None
        return None

    @staticmethod
    def _codes(expr: f.Expr) -> tuple[int, ...]:
        """Status codes that an expression is: a number, a list of them, or a constant that is named after one."""
        if isinstance(expr, f.Lit) and isinstance(expr.value, int) and 100 <= expr.value < 600:
            return (expr.value,)
        if isinstance(expr, f.Coll):
            found = [_Pass._codes(p.value) for p in expr.items]
            return tuple(c for codes in found for c in codes) if found and all(found) else ()
        name = dotted(expr)
        last = name.rpartition(".")[2]
        if re.search(r"status|http", name, re.IGNORECASE):
            if re.fullmatch(r"(Status)?OK|(SC|HTTP)_(\d+_)?OK", last, re.IGNORECASE):
                return (200,)
            if re.search(r"too_?many|unavailable|internal_?server|bad_?gateway", last, re.IGNORECASE):
                return (503,)
        return ()


def _truth(known: _Known) -> bool:
    return bool(known.value) if known.kind == "lit" else True


def assume(known: dict[str, _Known], test: f.Expr, holds: bool) -> None:
    """Note what a test says of plain variables where it comes out so."""
    if isinstance(test, f.Un) and test.op == "not":
        assume(known, test.value, not holds)
    elif isinstance(test, f.Ref):
        known[test.name] = _OK if holds else _Known("lit", False)
    elif isinstance(test, f.Bin) and test.op in ("and", "or") and holds is (test.op == "and"):
        assume(known, test.left, holds)
        assume(known, test.right, holds)
    elif isinstance(test, f.Bin) and test.op in ("==", "is", "!=", "is not") and dotted(test.left):
        if isinstance(test.right, f.Lit) and test.right.value is None:
            known[dotted(test.left)] = _NIL if holds is (test.op in ("==", "is")) else _OK


def received(op: f.Stmt | None) -> f.Expr | None:
    """The channel that a case of a select receives from."""
    value = op.value if isinstance(op, f.Do | f.Assign) else None
    return value.value if isinstance(value, f.Recv) else None


def _switched(out: set[Outcome]) -> set[Outcome]:
    """A break without a label ends the switch or select, not the loop around it."""
    return {FALLS if o == ("break", None) else o for o in out}


def _again(out: set[Outcome], loop: f.Loop) -> bool:
    return FALLS in out or any(o[0] == "continue" and o[1] in (None, loop.label) for o in out)


def leaves_loop(out: set[Outcome], loop: f.Loop | None) -> bool:
    """Whether one of these ends is one of the loop, not of its pass."""
    return any(o not in (FALLS,) and not (o[0] == "continue" and (loop is None or o[1] in (None, loop.label))) for o in out)


def _ends_process(call: f.Call) -> bool:
    name = dotted(call.fn)
    return name in ("panic", "os.Exit", "sys.exit", "exit", "System.exit") or name.rpartition(".")[2].startswith("Fatal")


class Retries:
    """Finds the retries of a program. Answers are remembered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.pauses = Pauses(program)
        self._of: dict[Fun, tuple[RetryLoop, ...]] = {}

    @cached_property
    def _no_failures(self) -> frozenset[str]:
        """Classes of errors that a peer has nothing to do with."""
        words = Words(self.program)
        return words.of("failure_end") | words.of("failure_empty") | words.of("failure_local") | words.of("failure_conflict")

    @cached_property
    def _faults(self) -> RetryFaults:
        from resilint.flow.retry_faults import RetryFaults

        return RetryFaults(self.program, self)

    # ------------------------------------------------------------ asking

    def faults(self, code: str) -> list[Fault]:
        """What is wrong with retries, by the code of the rule."""
        return self._faults.of(code)

    def of(self, fn: Fun) -> tuple[RetryLoop, ...]:
        """The retries of a function, in the order written; those of functions inside it are their own."""
        found = self._of.get(fn)
        if found is None:
            found = self._of[fn] = tuple(self._find(fn)) if self._may_retry(fn) else ()
        return found

    def all(self) -> Iterator[RetryLoop]:
        """Every retry of the program outside of tests."""
        for fn in self.program.functions():
            if not fn.module.is_test:
                yield from self.of(fn)

    def tries(self, retry: RetryLoop, frame: Frame) -> float | None:
        """How often a retry tries at most where its function runs in this frame: `inf` where nothing ends it, `None` if unknown."""
        found = self._length(retry.node, frame) if isinstance(retry.node, f.Loop) else None
        numbers = [n for n in (found, *(self._counted(retry, cap, frame) for cap in retry.counted)) if n is not None]
        if numbers:
            return min(numbers)
        return None if retry.caps or retry.tries is None else inf

    # ------------------------------------------------------------ finding

    @staticmethod
    def _may_retry(fn: Fun) -> bool:
        raw = bytes(fn.module.facts.bodies[fn.index])
        if not fn.head.calls:
            return False
        if any(form in raw for form in _FORMS):
            return True
        if _EACH in raw:
            return True
        return any(call.rpartition(".")[2] == fn.name for call in fn.head.calls)

    def _find(self, fn: Fun) -> Iterator[RetryLoop]:
        for loop in _loops(fn.block):
            if loop.form == "each" and not self._turns(loop, fn.module):
                continue
            points = list(self._points(fn, loop))
            if not points:
                continue
            retry = self._judge(fn, loop, points)
            if retry is not None:
                yield retry

    def _turns(self, loop: f.Loop, module: Module) -> bool:
        """Whether a loop over something only counts its passes: over a range, or something that the passes do not use."""
        it = loop.iter
        if isinstance(it, f.Call) and last_name(it.fn) in (*_TURNS, *_ENDLESS):
            return True
        if module.language == "go" and (isinstance(it, f.Lit) or loop.target is None):
            return isinstance(it, f.Lit)
        return module.language == "python" and loop.target is not None

    # ------------------------------------------------------------ points

    def _points(self, fn: Fun, loop: f.Loop) -> Iterator[_Point]:
        """Places of a loop's own passes, those of inner loops left out, where a failure may be told."""
        go = fn.module.language == "go"
        test = loop.test
        if test is not None:
            yield from self._tested(f.Do(test.at, test.end, test), test, {})
        calls: dict[str, tuple[f.Assign, f.Call]] = {}
        for stmt in _own(loop.body):
            if isinstance(stmt, f.Try):
                for handler in stmt.handlers:
                    call = next((n for n in walk_block(stmt.body) if isinstance(n, f.Call)), None)
                    if call is not None:
                        yield _Point(stmt, call, f.Ref(handler.at, handler.end, ""), handler)
            elif isinstance(stmt, f.Assign):
                value = stmt.value
                while isinstance(value, f.Await | f.Cast):
                    value = value.value
                if not isinstance(value, f.Call) or stmt.op:
                    continue
                target = stmt.targets[0]
                if go:
                    name = dotted(target.items[-1].value) if isinstance(target, f.Coll) and target.items else dotted(target)
                    if _ERROR_NAME.fullmatch(name):
                        yield _Point(stmt, value, stmt, error=name)
                        continue
                if dotted(target):
                    calls[dotted(target)] = (stmt, value)
                elif isinstance(target, f.Coll) and target.items and dotted(target.items[-1].value) == "ok":
                    calls["ok"] = (stmt, value)
            elif isinstance(stmt, f.If):
                yield from self._tested(stmt, stmt.test, calls)
            elif isinstance(stmt, f.Switch) and stmt.subject is not None:
                yield from self._tested(stmt, stmt.subject, calls)

    def _tested(self, stmt: f.Stmt, test: f.Expr, calls: dict[str, tuple[f.Assign, f.Call]]) -> Iterator[_Point]:
        """Tests of the result of a call that can only mean that it failed: a status, an error, false where something was to be
        done."""
        for node in walk(test):
            if isinstance(node, f.Bin) and node.op in ("==", "!=") and isinstance(node.right, f.Lit) and node.right.value is None:
                call = node.left.value if isinstance(node.left, f.Await) else node.left
                if isinstance(call, f.Call) and _ACTS.match(last_name(call.fn)):
                    yield _Point(stmt, call, node, error="<direct>", call=call)
            elif isinstance(node, f.Ref | f.Call):
                name = dotted(node.fn) if isinstance(node, f.Call) else node.name
                base, _, last = name.rpartition(".")
                if base in calls and (_STATUS.fullmatch(last) or _GOOD.fullmatch(last) or _BAD.fullmatch(last)):
                    made, call = calls[base]
                    yield _Point(made, call, node, call=call, result=f"status:{base}")
                elif isinstance(node, f.Ref) and name in calls and _is_atom(node, test):
                    made, call = calls[name]
                    if _ACTS.match(last_name(call.fn)) or _GOOD.fullmatch(name):
                        yield _Point(made, call, node, call=call, result=f"bool:{name}")
                elif isinstance(node, f.Call) and _is_atom(node, test) and _ACTS.match(last_name(node.fn)):
                    yield _Point(stmt, node, node, call=node)

    # ------------------------------------------------------------ judging

    def _judge(self, fn: Fun, loop: f.Loop, points: list[_Point]) -> RetryLoop | None:
        found: RetryLoop | None = None
        before = self._before(fn, loop)
        for point in points:
            if point.handler is not None and self._is_no_failure(point.handler, fn):
                continue
            good = _Pass(fn, loop, point, False, dict(before))
            out = good.block(loop.body)
            if _again(out, loop) and self._over(good, loop) is not True:
                continue
            bad = _Pass(fn, loop, point, True, dict(before))
            out = bad.block(loop.body)
            if not _again(out, loop) or self._over(bad, loop) is True:
                continue
            if loop.form == "each" and self._uses_element(loop, point, fn):
                continue
            retry = self._made(fn, loop, point, bad)
            if found is None or (retry.tries == inf and found.tries != inf):
                found = retry
        return found

    def _over(self, way: _Pass, loop: f.Loop) -> bool | None:
        """Whether the loop's own test ends it after a pass."""
        if loop.test is None or loop.form == "ever":
            return False
        truth = way.truth(loop.test)
        return None if truth is None else not truth

    def _before(self, fn: Fun, loop: f.Loop) -> dict[str, _Known]:
        """Flags that a loop tests or sets, as they stand before it."""
        known: dict[str, _Known] = {}
        for stmt in fn.block if any(s is loop for s in fn.block) else _before(fn.block, loop):
            if stmt is loop:
                break
            if isinstance(stmt, f.Assign) and len(stmt.targets) == 1 and dotted(stmt.targets[0]):
                value = stmt.value
                if value is None:
                    known[dotted(stmt.targets[0])] = _NIL
                elif isinstance(value, f.Lit) and not stmt.op and isinstance(value.value, bool | str | None):
                    known[dotted(stmt.targets[0])] = _Known("lit", value.value)
                else:
                    known.pop(dotted(stmt.targets[0]), None)
        return known

    def _is_no_failure(self, handler: f.Handler, fn: Fun) -> bool:
        """Whether what is caught only says that the work is to end, that there is nothing yet, or that a value is wrong."""
        if not handler.types:
            return False
        return all(last_name(kind) in self._no_failures for kind in handler.types)

    def _uses_element(self, loop: f.Loop, point: _Point, fn: Fun) -> bool:
        """Whether what is tried is another thing on each pass: the next host, the next port."""
        names = {dotted(n) for n in walk(loop.target) if isinstance(n, f.Ref)} if loop.target is not None else set()
        names -= {"_"}
        body: Iterable[object] = walk_block(point.node.body) if isinstance(point.node, f.Try) else walk(point.operation)
        for node in body:
            if isinstance(node, f.Call) and not _SAYS.search(dotted(node.fn)):
                for arg in (node.fn, *(a.value for a in node.args)):
                    for ref in walk(arg):
                        if isinstance(ref, f.Ref) and ref.name.partition(".")[0] in names:
                            head = ref.name.partition(".")[0]
                            if not (self._counts(loop) and _COUNTS_TRIES.search(head) and len(head) > 1):
                                return True
        return False

    @staticmethod
    def _counts(loop: f.Loop) -> bool:
        return isinstance(loop.iter, f.Call) and last_name(loop.iter.fn) in (*_TURNS, *_ENDLESS)

    def _made(self, fn: Fun, loop: f.Loop, point: _Point, bad: _Pass) -> RetryLoop:
        retry = RetryLoop(fn, loop, point.operation, point.failed, path=tuple(bad.passed))
        if point.handler is not None:
            retry.kinds = tuple(last_name(k) for k in point.handler.types)
        exits = list(bad.exits)
        if loop.test is not None and loop.form != "ever":
            exits.append((loop.test, False))
        caps: list[f.Expr] = []
        stops: list[f.Expr] = []
        counted: list[Cap] = []
        for test, leaves in exits:
            for atom in _atoms(test):
                kind = self._kind_of_exit(atom, fn, loop, bad, point)
                if kind == "cap":
                    caps.append(atom)
                    cap = _comparison(atom, test, leaves)
                    if cap is not None:
                        counted.append(cap)
                elif kind == "stop":
                    stops.append(atom)
        retry.caps, retry.stops, retry.counted = tuple(caps), tuple(stops), tuple(counted)
        retry.pauses = tuple(self.pauses.on(fn, loop, retry.path))
        frame = self.resolver.frame(fn)
        if loop.form == "each" and not (isinstance(loop.iter, f.Call) and last_name(loop.iter.fn) in _ENDLESS):
            retry.caps = (*retry.caps, loop.iter) if loop.iter is not None else retry.caps
        retry.tries = inf if not retry.caps else None
        retry.tries = self.tries(retry, frame)
        return retry

    def _kind_of_exit(self, atom: f.Expr, fn: Fun, loop: f.Loop, bad: _Pass, point: _Point) -> str:
        """What a test on the failing way asks: a `cap` of tries or time, whether to `stop` at all, which `error` it is."""
        names = [n.name for n in walk(atom) if isinstance(n, f.Ref)]
        if isinstance(atom, f.Lit):
            return "error"
        calls = [n for n in walk(atom) if isinstance(n, f.Call)]
        words = [*names, *(last_name(c.fn) for c in calls)]
        changed = _changed(loop, bad.passed)
        if any(name in changed or name.partition(".")[0] in changed for name in names):
            return "cap"
        errors = {point.error, point.handler.name if point.handler is not None else None} - {None, ""}
        about_error = any(n.partition(".")[0] in errors for n in names)
        if any(_CLOCK.search(w) for w in words if w) and not about_error:
            return "cap"
        if about_error or point.result.partition(":")[2] in {n.partition(".")[0] for n in names} - {""}:
            if any(_LIMITS.search(last_name(c.fn)) for c in calls):
                return "cap"
            return "error"
        if any(w and _STOPS.search(w.rpartition(".")[2]) for w in words):
            return "stop"
        return "cap"

    # ------------------------------------------------------------ numbers

    def _length(self, loop: f.Loop, frame: Frame) -> float | None:
        if loop.form != "each" or loop.iter is None or (isinstance(loop.iter, f.Call) and last_name(loop.iter.fn) in _ENDLESS):
            return None
        return self.program.worsts.length(loop.iter, frame, {})

    def _counted(self, retry: RetryLoop, cap: Cap, frame: Frame) -> float | None:
        """After how many tries a counter meets its bound."""
        assert isinstance(retry.node, f.Loop)
        loop, worsts = retry.node, self.program.worsts
        bound = worsts.number(cap.bound, frame) if cap.bound is not None else None
        start = self._start(cap.counter, loop, frame)
        if bound is None or start is None or not _COMPARE.get(cap.op):
            return None
        steps = sorted(_steps(cap.counter, loop, retry.path))
        if not steps or any(delta is None for _, delta, _ in steps):
            return None
        top = cap.test.at < _first(loop) if loop.test is not None and _within(cap.test, loop.test) else False
        value = start
        for turn in range(1, _MOST_TRIES):
            if top and self._meets(cap, value + _own_step(steps, cap.test, True), bound):
                return turn - 1
            tested = False
            for at, delta, late in steps:
                if not top and not tested and at > cap.test.at:
                    tested = True
                    if self._meets(cap, value, bound):
                        return turn
                value += delta or 0
                if _within_at(at, cap.test) and not top and not tested:
                    tested = True
                    if self._meets(cap, value - ((delta or 0) if late else 0), bound):
                        return turn
            if not top and not tested and self._meets(cap, value, bound):
                return turn
        return None

    @staticmethod
    def _meets(cap: Cap, value: float, bound: float) -> bool:
        return _COMPARE[cap.op](value, bound) is cap.leaves

    def _start(self, counter: str, loop: f.Loop, frame: Frame) -> float | None:
        """What a counter begins with."""
        if loop.target is not None and dotted(loop.target) == counter and isinstance(loop.iter, f.Call):
            plain = [a.value for a in loop.iter.args if a.name is None]
            if last_name(loop.iter.fn) in _ENDLESS or len(plain) >= 2:
                return self.program.worsts.number(plain[0], frame) if plain else 0
            return 0
        before = [
            d
            for d in frame.fn.body.definitions.get(counter, ())
            if d.kind in ("value", "declared", "param") and d.at < _first(loop) and not (loop.at < d.at and d.at > _first(loop))
        ]
        last = max(before, key=lambda d: d.at, default=None)
        if last is None:
            if counter in frame.fn.params:
                return self.program.worsts.number(f.Ref(loop.at, loop.at, counter), frame)
            return None
        if last.kind == "declared":
            return 0 if frame.fn.module.language == "go" else None
        return self.program.worsts.number(last.expr, frame) if last.expr is not None else None


_COMPARE = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def _comparison(atom: f.Expr, test: f.Expr, leaves: bool) -> Cap | None:
    """A comparison of a counter with a bound, where that alone decides."""
    negated = False
    while isinstance(atom, f.Un) and atom.op == "not":
        atom, negated = atom.value, not negated
    if atom is not test and isinstance(test, f.Bin) and test.op == ("and" if leaves else "or"):
        return None
    if isinstance(atom, f.Un | f.Ref) or (isinstance(atom, f.Bin) and atom.op == "-"):
        return None
    if not isinstance(atom, f.Bin) or atom.op not in _COMPARE:
        return None
    left = atom.left.target if isinstance(atom.left, f.Let) else atom.left
    right = atom.right.target if isinstance(atom.right, f.Let) else atom.right
    if dotted(left):
        return Cap(atom, dotted(left), atom.op, right, leaves is not negated)
    return None


def _atoms(test: f.Expr) -> Iterator[f.Expr]:
    """The parts of a test that `and`, `or` and `not` join."""
    if isinstance(test, f.Bin) and test.op in ("and", "or"):
        yield from _atoms(test.left)
        yield from _atoms(test.right)
    elif isinstance(test, f.Un) and test.op == "not" and not isinstance(test.value, f.Ref | f.Call):
        yield from _atoms(test.value)
    else:
        yield test


def _is_atom(node: f.Expr, test: f.Expr) -> bool:
    """Whether a test, or a part of it that is true or false by itself, is this node."""
    for atom in _atoms(test):
        while isinstance(atom, f.Un | f.Await | f.Cast):
            atom = atom.value
        if atom is node or (
            isinstance(atom, f.Bin)
            and atom.op in ("==", "!=", "is", "is not")
            and isinstance(atom.right, f.Lit)
            and isinstance(atom.right.value, bool | None)
            and atom.left is node
        ):
            return True
        if isinstance(atom, f.Let) and (atom.value is node or (isinstance(atom.value, f.Await) and atom.value.value is node)):
            return True
    return False


def _loops(block: f.Block, depth: int = 0) -> Iterator[f.Loop]:
    """Loops of a body in the order written, those inside others too."""
    if depth > _NESTED:
        return
    for stmt in block:
        if isinstance(stmt, f.Loop):
            yield stmt
        for inner in blocks(stmt):
            yield from _loops(inner, depth + 1)


def blocks(stmt: f.Stmt) -> Iterator[f.Block]:
    """The blocks of a statement."""
    match stmt:
        case f.If():
            yield from (stmt.then, stmt.orelse)
        case f.Switch() | f.Select():
            yield from (case.body for case in stmt.cases)
        case f.Loop():
            yield from (stmt.body, stmt.orelse)
        case f.Try():
            yield stmt.body
            yield from (h.body for h in stmt.handlers)
            yield from (stmt.orelse, stmt.final)
        case f.With():
            yield stmt.body


def _own(block: f.Block, depth: int = 0) -> Iterator[f.Stmt]:
    """Statements of a loop's own passes: inner loops are theirs."""
    if depth > _NESTED:
        return
    for stmt in block:
        yield stmt
        if not isinstance(stmt, f.Loop):
            for inner in blocks(stmt):
                yield from _own(inner, depth + 1)


def _before(block: f.Block, loop: f.Loop) -> tuple[f.Stmt, ...]:
    """The statements that run before a loop, from the outermost block to its own."""
    out: list[f.Stmt] = []
    current: f.Block = block
    for _ in range(_NESTED):
        for stmt in current:
            if stmt.at <= loop.at and loop.end <= stmt.end and stmt is not loop:
                inside = next((b for b in blocks(stmt) if b and b[0].at <= loop.at < b[-1].end), None)
                if inside is None:
                    return tuple(out)
                current = inside
                break
            if stmt is loop:
                return tuple(out)
            out.append(stmt)
        else:
            return tuple(out)
    return tuple(out)


def _changed(loop: f.Loop, passed: list[f.Stmt] | tuple[f.Stmt, ...]) -> set[str]:
    """Names that count the passes of a loop: changed by themselves on this way, or the loop's own variable."""
    out: set[str] = set()
    if loop.target is not None:
        out |= {n.name for n in walk(loop.target) if isinstance(n, f.Ref)}
    nodes = [n for stmt in passed if not isinstance(stmt, f.Select) for n in walk(stmt)]
    nodes += list(walk(loop.step)) if loop.step is not None else []
    nodes += list(walk(loop.test)) if loop.test is not None else []
    for node in nodes:
        if isinstance(node, f.Assign) and len(node.targets) == 1:
            name = dotted(node.targets[0])
            if name and (node.op or _mentions(node.value, name)):
                out.add(name)
        elif isinstance(node, f.Let) and _mentions(node.value, dotted(node.target)):
            out.add(dotted(node.target))
        elif isinstance(node, f.Call):
            base, _, last = dotted(node.fn).rpartition(".")
            if base and re.match(
                r"(get_?and_?)?(add|inc|dec|append|push|increment|decrement|next)|incrementAndGet|decrementAndGet",
                last,
                re.IGNORECASE,
            ):
                out.add(base)
    return out


def _mentions(expr: f.Expr | None, name: str) -> bool:
    return expr is not None and bool(name) and any(isinstance(n, f.Ref) and n.name == name for n in walk(expr))


def _steps(counter: str, loop: f.Loop, path: tuple[f.Stmt, ...]) -> Iterator[tuple[int, float | None, bool]]:
    """By how much a counter changes on a pass: where, how much, and whether its old value is what the expression gives."""
    if loop.target is not None and dotted(loop.target) == counter:
        yield (loop.end, 1, False)
        return
    seen: set[int] = set()
    sources = [*path, *([loop.test] if loop.test is not None else [])]
    for node in (n for stmt in sources if not isinstance(stmt, f.Select) for n in walk(stmt)):
        if node.at in seen if isinstance(node, f.Node) else True:
            continue
        if isinstance(node, f.Assign) and len(node.targets) == 1 and dotted(node.targets[0]) == counter:
            seen.add(node.at)
            yield (node.at, _delta(node.op, node.value, counter), False)
        elif isinstance(node, f.Let) and dotted(node.target) == counter:
            seen.add(node.at)
            late = node.at == node.target.at and node.value.at == node.at
            yield (node.at, _delta("", node.value, counter), late)
    if isinstance(loop.step, f.Assign) and dotted(loop.step.targets[0]) == counter:
        yield (loop.end, _delta(loop.step.op, loop.step.value, counter), False)


def _delta(op: str, value: f.Expr | None, counter: str) -> float | None:
    if isinstance(value, f.Bin) and not op and dotted(value.left) == counter:
        op, value = value.op, value.right
    if isinstance(value, f.Lit) and isinstance(value.value, int | float) and op in ("+", "-"):
        return float(value.value) if op == "+" else -float(value.value)
    return None


def _own_step(steps: list[tuple[int, float | None, bool]], test: f.Expr, top: bool) -> float:
    """What a test that counts by itself adds before it compares."""
    return sum(delta or 0 for at, delta, late in steps if top and _within_at(at, test) and not late)


def _first(loop: f.Loop) -> int:
    return loop.body[0].at if loop.body else loop.end


def _within(inner: f.Node, outer: f.Node) -> bool:
    return outer.at <= inner.at and inner.end <= outer.end


def _within_at(at: int, node: f.Node) -> bool:
    return node.at <= at < node.end


def sites_in(fn: Fun, nodes: Iterable[f.Node]) -> list[CallSite]:
    """The calls of a body that stand inside some nodes."""
    ranges = [(n.at, n.end) for n in nodes]
    return [s for s in fn.body.calls if any(a <= s.call.at and s.call.end <= e for a, e in ranges)]
