"""One pass of a loop, walked as if an operation in it had succeeded, or failed: how it ends, what it passes, what may end it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from resilint import facts as f
from resilint.flow.errors import received_from
from resilint.link.code import Fun, dotted, last_name, walk

Outcome = tuple[str, str | None]
"""How a block ends: it `falls` out of its end, `leaves` the function, `raises`, or `break`s or `continue`s, with a label."""
FALLS: Outcome = ("falls", None)
LEAVES: Outcome = ("leaves", None)
RAISES: Outcome = ("raises", None)
NESTED = 40
"""Statements looked into one inside another."""
ERROR_NAME = re.compile(r"_*(e|ex|exc|err|error|.*err|.*error|.*exception|cause)\d*", re.IGNORECASE)
STATUS = re.compile(r"(get_?)?(http_?)?(status|(status|response)_?code|code)(_?value)?", re.IGNORECASE)
GOOD = re.compile(r"(is_?)?(ok|success(ful)?(ly)?|is_?2xx(_?successful)?|succeeded)", re.IGNORECASE)
BAD = re.compile(r"(is_?|has_?)?(error|failed|failure|is_?(4|5)xx.*)", re.IGNORECASE)


QUESTION = re.compile(
    r"_*(is|has|have|can|could|should|are|was|were|will|need|must|may|exists?|contains?|check|matches|equals|starts|ends|ready|done|poll|"
    r"wait|await|lock|acquire|try|empty|get|any|all|isinstance|hasattr|len|compare|offer)(?![a-z])"
)
"""What asks instead of doing: false is an answer there, no failure."""


class Known(NamedTuple):
    """What is known of a variable: the value of a literal, or that it is `ok` (there, true) or an `err` (there, and an error)."""

    kind: str
    value: object = None


OK = Known("ok")
ERR = Known("err")
NIL = Known("lit", None)


@dataclass
class Point:
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
class Pass:
    """One way round a loop, in which an operation succeeds or fails."""

    fn: Fun
    loop: f.Loop | None
    point: Point
    fails: bool
    known: dict[str, Known] = field(default_factory=dict)
    passed: list[f.Stmt] = field(default_factory=list)
    """Statements passed, those of the operation itself left out."""
    exits: list[tuple[f.Expr, bool]] = field(default_factory=list)
    """Tests by which this way may leave the loop, and whether it leaves where they hold."""
    after: bool = False
    """The point lies behind."""
    way: bool = True
    """How the test of the statement at hand comes out."""

    # ------------------------------------------------------------ blocks

    def block(self, stmts: f.Block, depth: int = 0) -> set[Outcome]:
        """Walk statements; how they may end."""
        ends: set[Outcome] = set()
        if depth > NESTED:
            return {FALLS, LEAVES}
        for position, stmt in enumerate(stmts):
            if isinstance(stmt, f.If):
                out = self._if(stmt, stmts[position + 1 :], depth)
                if out is not None:
                    return ends | out
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
                return self.block(stmt.then if self.way else stmt.orelse, depth + 1)
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
            # What stands before the first call has happened on every way into the handler, as a counter's step has.
            for opening in stmt.body:
                if not isinstance(opening, f.Assign | f.Do) or any(isinstance(n, f.Call | f.New | f.Await) for n in walk(opening)):
                    break
                self._stmt(opening, depth + 1)
            self.after = True
            handler = self.point.handler
            assert handler is not None
            if handler.name:
                self.known[handler.name] = ERR
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
        return self._finally(stmt, out, depth)

    def _if(self, stmt: f.If, rest: f.Block, depth: int) -> set[Outcome] | None:
        """Both ways of a test that is not known, with what follows in the block; `None` where only one is gone (`way`)."""
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
            chosen = stmt.then if truth else stmt.orelse
            if not self.fails and chosen and isinstance(chosen[-1], f.Raise):
                truth = not truth  # What goes well raises nothing: an exit code of zero is false.
            self.way = truth
            return None
        known = dict(self.known)
        assume(self.known, stmt.test, True)
        before = len(self.exits)
        marks = [len(self.passed)]
        then = self.block(stmt.then, depth + 1)
        marks.append(len(self.passed))
        after_then, self.known = self.known, dict(known)
        assume(self.known, stmt.test, False)
        orelse = self.block(stmt.orelse, depth + 1)
        marks.append(len(self.passed))
        inside = len(self.exits) > before
        if FALLS in then and FALLS in orelse:
            self.known = {k: v for k, v in self.known.items() if after_then.get(k) == v}
        elif FALLS in then:
            self.known = after_then
        following = self.block(rest, depth + 1) if FALLS in then or FALLS in orelse else set()
        whole = [(way - {FALLS}) | following if FALLS in way else way for way in (then, orelse)]
        both = FALLS in then and FALLS in orelse
        for holds, own, full in ((True, then, whole[0]), (False, orelse, whole[1])):
            if leaves_loop(own if both else full, self.loop) and (inside or full != whole[holds]):
                self.exits.append((stmt.test, holds))
        # What is done on a way that leaves is not on the way to the next pass.
        for way, start, end in ((whole[1], marks[1], marks[2]), (whole[0], marks[0], marks[1])):
            if not goes_again(way, self.loop):
                del self.passed[start:end]
        return whole[0] | whole[1]

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
            known, mark = dict(self.known), len(self.passed)
            ends = self.block(case.body, depth + 1)
            self.known = known
            if not goes_again(_switched(ends), self.loop):
                del self.passed[mark:]
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
            other = any(self._holds_point(c.body) for c in stmt.cases) and not self._holds_point(comm.body)
            known, mark = dict(self.known), len(self.passed)
            ends = self.block(comm.body, depth + 1)
            self.known = known
            if other or not goes_again(_switched(ends), self.loop):
                del self.passed[mark:]
            channel = received_from(comm.op)
            if channel is not None and leaves_loop(ends - {("break", None)}, self.loop):
                # Each pass asks it, also one that came this far by another case.
                self.exits.append((channel, True))
            if not other:
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

    def _of_value(self, stmt: f.Assign, value: f.Expr | None, name: str, position: int, many: int) -> Known | None:
        point = self.point
        while isinstance(value, f.Await | f.Cast):
            value = value.value
        if isinstance(value, f.Lit):
            return Known("lit", value.value)
        if isinstance(value, f.Ref):
            return self.known.get(value.name)
        if isinstance(value, f.New | f.Coll | f.Fmt):
            return OK
        if stmt is point.node and point.result and self.fn.module.language == "go" and ERROR_NAME.fullmatch(name):
            return NIL
        if stmt is point.node and (value is point.call or point.error):
            if point.error:
                if name == point.error:
                    return ERR if self.fails else NIL
                return NIL if self.fails else OK
            return (Known("lit", False) if point.result != "status" else None) if self.fails else OK
        if isinstance(value, f.Call):
            go = self.fn.module.language == "go"
            if go and many >= 1 and position == many - 1 and ERROR_NAME.fullmatch(name):
                return None if self.fails and self.after else NIL
            if self.fails and self.after:
                return None
            if point.call is not None and value is not point.call:
                return None
            return OK
        truth = self.truth(value) if value is not None else None
        return None if truth is None else Known("lit", truth)

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
                    got = Known("lit", False) if self.fails else OK
                if dotted(test.target):
                    self.known.pop(dotted(test.target), None)
                    if got is not None:
                        self.known[dotted(test.target)] = got
                return None if got is None else truth_of(got)
            case f.Ref():
                got = self.known.get(test.name)
                if got is not None:
                    return truth_of(got)
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
                word = self._status_word(test.fn) if not test.args and dotted(test.fn) else None
                if word is None and self._is_tried(test) and not QUESTION.match(last_name(test.fn)):
                    return True
                return word
        return None

    def _is_tried(self, call: f.Call) -> bool:
        """Whether what is tried is this call, and goes well on this way: what it gives as a test says so."""
        node = self.point.node
        return not self.fails and isinstance(node, f.Try) and bool(node.body) and node.body[0].at <= call.at < node.body[-1].end

    def _is_nil(self, expr: f.Expr) -> bool:
        got = self.known.get(dotted(expr))
        return got is not None and got.kind == "lit" and got.value is None

    def _status_word(self, expr: f.Expr) -> bool | None:
        """`resp.ok`, `response.isSuccessful()`: true where the operation succeeded."""
        base, _, last = dotted(expr).rpartition(".")
        if not base or not self._is_result(base):
            return None
        if GOOD.fullmatch(last):
            return not self.fails
        return self.fails if BAD.fullmatch(last) else None

    def _is_result(self, name: str) -> bool:
        """Whether a name holds what an operation of this pass gave."""
        point = self.point
        if point.call is not None:
            return bool(point.result) and name == point.result.partition(":")[2]
        return not self.fails and self.known.get(name) is OK

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
                    elif other.value is True and got is OK:
                        same = True
                if same is not None:
                    return same if op in ("==", "is") else not same
        return self._status(test)

    def _value(self, expr: f.Expr) -> Known | None:
        while isinstance(expr, f.Await | f.Cast):
            expr = expr.value
        if isinstance(expr, f.Call) and expr is self.point.call:
            if self.point.error == "<direct>":
                return ERR if self.fails else NIL
            return Known("lit", False) if self.fails else OK
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
        if not STATUS.fullmatch(last) or (self.fails and self.point.result.partition(":")[0] != "status"):
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
            found = [Pass._codes(p.value) for p in expr.items]
            return tuple(c for codes in found for c in codes) if found and all(found) else ()
        name = dotted(expr)
        last = name.rpartition(".")[2]
        if re.search(r"status|http", name, re.IGNORECASE):
            if re.fullmatch(r"(Status)?OK|(SC|HTTP)_(\d+_)?OK", last, re.IGNORECASE):
                return (200,)
            if re.search(r"too_?many|unavailable|internal_?server|bad_?gateway", last, re.IGNORECASE):
                return (503,)
        return ()


def truth_of(known: Known) -> bool:
    return bool(known.value) if known.kind == "lit" else True


def assume(known: dict[str, Known], test: f.Expr, holds: bool) -> None:
    """Note what a test says of plain variables where it comes out so."""
    if isinstance(test, f.Un) and test.op == "not":
        assume(known, test.value, not holds)
    elif isinstance(test, f.Ref):
        known[test.name] = OK if holds else Known("lit", False)
    elif isinstance(test, f.Bin) and test.op in ("and", "or") and holds is (test.op == "and"):
        assume(known, test.left, holds)
        assume(known, test.right, holds)
    elif isinstance(test, f.Bin) and isinstance(test.right, f.Lit) and test.right.value is None and dotted(test.left):
        if test.op in ("==", "is"):
            known[dotted(test.left)] = NIL if holds else OK
        elif test.op in ("!=", "is not"):
            known[dotted(test.left)] = OK if holds else NIL


def _switched(out: set[Outcome]) -> set[Outcome]:
    """A break without a label ends the switch or select, not the loop around it."""
    return {FALLS if o == ("break", None) else o for o in out}


def goes_again(out: set[Outcome], loop: f.Loop | None) -> bool:
    """Whether one of these ends leads to the next pass."""
    return FALLS in out or any(o[0] == "continue" and (loop is None or o[1] in (None, loop.label)) for o in out)


def leaves_loop(out: set[Outcome], loop: f.Loop | None) -> bool:
    """Whether one of these ends is one of the loop, not of its pass."""
    return any(o not in (FALLS,) and not (o[0] == "continue" and (loop is None or o[1] in (None, loop.label))) for o in out)


def _ends_process(call: f.Call) -> bool:
    name = dotted(call.fn)
    return name in ("panic", "os.Exit", "sys.exit", "exit", "System.exit") or name.rpartition(".")[2].startswith("Fatal")


def names_it(expr: f.Expr | None, name: str) -> bool:
    """Whether a name stands in an expression."""
    return expr is not None and bool(name) and any(isinstance(n, f.Ref) and n.name == name for n in walk(expr))
