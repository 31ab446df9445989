"""Pauses of a loop, pass by pass: what a delay that doubles, or a formula over the counter, comes to in seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.values import SECONDS, Frame, Num
from resilint.knowledge.index import doing
from resilint.knowledge.schema import Bound
from resilint.link.code import CallSite, dotted, last_name, leaves, walk, walk_block

if TYPE_CHECKING:
    from resilint.flow.retries import Cap
    from resilint.program import Program, Target

_MOST = 64
"""Passes that are worked out."""
_FAR = 2000
"""Passes of which the last is looked at."""
_DEEP = 24
"""Operators one inside another."""
_ASSIGNED = 40
"""Assignments of one loop that are looked at."""

State = dict[str, float | None]
"""What variables hold in a pass, in their own unit (typed durations: seconds); `None` where that is not known."""


class Paused(NamedTuple):
    """How long a loop stands still in each of its passes."""

    seconds: tuple[float, ...] | None
    """By pass, chance at its longest; `None` where one is not known."""
    passes: int
    """In how many passes it stands still at least."""
    sure: bool
    """Whether that is all of them: nobody could read whether the last one pauses too."""


def pauses_of(
    program: Program,
    loop: f.Node,
    path: Iterable[f.Stmt],
    tries: int,
    frame: Frame,
    site_of: Callable[[f.Call], CallSite | None],
    caps: Iterable[Cap] = (),
) -> Paused | None:
    """The pauses of a loop that tries so often, where `path` is the way from one try to the next; `None` if it has none.

    The last pass fails too, and pauses as the others do, unless a test keeps it from that.
    """
    if not isinstance(loop, f.Loop):
        return None
    inner = [node for node in walk_block(loop.body) if isinstance(node, f.Loop)]
    found = _sleeps(program, path, frame, site_of)
    # What a loop inside sleeps is part of its own rounds.
    sleeps = [one for one in found if not any(nested.at <= one[0].at < nested.end for nested in inner)]
    if not sleeps:
        return None
    passes = _Passes(program, loop, frame, tuple(caps), tries)
    if tries > _MOST:
        ends = [[passes.comes(number, expr.at) for expr, _ in sleeps] for number in (0, tries - 1)] if tries <= _FAR else [[None]]
        return Paused(None, tries - len(ends) + sum(True in end for end in ends), None not in ends[-1])
    totals: list[float | None] = []
    paused, sure = 0, True
    for number in range(tries):
        total: float | None = 0.0
        any_here = False
        for expr, scale in sleeps:
            comes = passes.comes(number, expr.at)
            if comes is None and number == tries - 1:
                sure = False
            if comes is False or (comes is None and number == tries - 1):
                continue
            any_here = True
            seconds = passes.at(expr, passes.state(number, expr.at))
            known = seconds is not None and isfinite(seconds)
            total = total + max((seconds or 0.0) * scale, 0.0) if known and total is not None else None
        paused += any_here
        totals.append(total)
    seconds_of = tuple(t for t in totals if t is not None)
    return Paused(seconds_of if len(seconds_of) == tries else None, paused, sure)


def _sleeps(
    program: Program, path: Iterable[f.Stmt], frame: Frame, site_of: Callable[[f.Call], CallSite | None]
) -> Iterator[tuple[f.Expr, float]]:
    """What is slept for between two passes, with the seconds that one of it is."""
    seen: set[int] = set()
    for stmt in path:
        for node in walk(stmt):
            site = site_of(node) if isinstance(node, f.Call) and id(node) not in seen else None
            seen.add(id(node))
            if site is None:
                continue
            for target, entry in program.described(site, doing("sleep")):
                rows = [row for row in entry.bounds if row.slot == "wait"] if entry.does == "sleep" else []
                given = _given(program, rows, target, site.call)
                if given is not None:
                    yield given
                    break


def _given(program: Program, rows: list[Bound], target: Target, call: f.Call) -> tuple[f.Expr, float] | None:
    for row in rows:
        bind, _ = program.slots.find_bind(row.arg, row.pos, target.binds)
        if bind is None:
            continue
        scale = 1.0 if row.unit == "dur" else SECONDS.get(row.unit)
        if row.unit_pos is not None:
            named: f.Expr | None = target.binds[row.unit_pos].expr if 0 <= row.unit_pos < len(target.binds) else None
            if row.unit_pos == -1:
                named = f.Ref(call.at, call.end, dotted(call.fn).rpartition(".")[0])
            word = dotted(named).rpartition(".")[2].lower()
            scale = _UNITS.get(word, scale if named is None else None)
        if scale is not None:
            return bind.expr, scale
    return None


_UNITS = {
    "nanoseconds": 1e-9,
    "microseconds": 1e-6,
    "milliseconds": 1e-3,
    "seconds": 1.0,
    "minutes": 60.0,
    "hours": 3600.0,
}


_SAME = frozenset(
    {"float", "int", "int32", "int64", "uint", "uint32", "uint64", "float64", "long", "Duration", "round", "ceil", "floor", "abs"}
)
"""Conversions, which keep a number near enough."""


class _Passes:
    """The variables of a loop, pass by pass. Arithmetic only: nothing is called."""

    def __init__(self, program: Program, loop: f.Loop, frame: Frame, caps: tuple[Cap, ...] = (), tries: int = 0) -> None:
        self.program = program
        self.loop = loop
        self.frame = frame
        self.caps = {(cap.test.at, cap.test.end): cap for cap in caps}
        """Tests that end the loop in its last pass, and in none before."""
        self.tries = tries
        self.names = sorted(_assigned(loop.body))[:_ASSIGNED]
        self.counter = self._counter()
        self.known: list[State] = [self._first()]
        self.counting = self._counting()

    def state(self, number: int, until: int) -> State:
        """What the variables hold in a pass, the first being 0, where it has come to a place."""
        while len(self.known) <= number:
            after = self._changed(self.known[-1], self.loop.end + 1)
            if self.counter is not None and self.known[-1].get(self.counter[0]) is not None:
                after[self.counter[0]] = (self.known[-1][self.counter[0]] or 0.0) + self.counter[1]
            self.known.append(after)
        return self._changed(self.known[number], until)

    def _counting(self) -> set[str]:
        """Names that tell one pass from another by arithmetic: the counter, what is stepped, and what follows from those."""
        out = {self.counter[0]} if self.counter is not None else set()
        values: list[tuple[str, f.Expr]] = []
        for stmt in walk_block(self.loop.body):
            name = dotted(stmt.targets[0]) if isinstance(stmt, f.Assign) and len(stmt.targets) == 1 else ""
            if not name or stmt.value is None:
                continue
            if stmt.op:
                out.add(name)
            elif not any(isinstance(node, f.Call | f.New | f.Await) for node in walk(stmt.value)):
                values.append((name, stmt.value))
        for _ in range(3):
            out |= {name for name, value in values if _names(value) & (out | {name})}
        return out

    def comes(self, number: int, place: int) -> bool | None:
        """Whether a pass that fails may come to a place; `None` where a test of the counter that nobody can read decides."""
        if not self.loop.body or not self.loop.body[0].at <= place < self.loop.body[-1].end:
            return True
        return self._reaches(self.loop.body, place, number, 0)

    def _reaches(self, block: f.Block, place: int, number: int, depth: int) -> bool | None:
        sure = True
        for stmt in block:
            if depth > _DEEP:
                return None
            if place < stmt.end:
                inside = self._reaches_in(stmt, place, number, depth)
                return inside if inside is not True or sure else None
            passes = self._passes_by(stmt, number, depth)
            if passes is False:
                return False
            sure = sure and passes is True
        return True if sure else None

    def _reaches_in(self, stmt: f.Stmt, place: int, number: int, depth: int) -> bool | None:
        """The same for a place inside a statement, or before it."""
        if isinstance(stmt, f.If):
            for block, wanted in ((stmt.then, True), (stmt.orelse, False)):
                if block and block[0].at <= place < block[-1].end:
                    holds = self._decided(stmt.test, number)
                    if holds is (not wanted):
                        return False
                    inside = self._reaches(block, place, number, depth + 1)
                    return None if inside is True and holds is None and self._counts(stmt.test) else inside
        blocks: list[f.Block] = []
        if isinstance(stmt, f.Try):
            blocks = [stmt.body, *(handler.body for handler in stmt.handlers), stmt.orelse, stmt.final]
        elif isinstance(stmt, f.With):
            blocks = [stmt.body]
        elif isinstance(stmt, f.Switch | f.Select):
            blocks = [case.body for case in stmt.cases]
        for block in blocks:
            if block and block[0].at <= place < block[-1].end:
                return self._reaches(block, place, number, depth + 1)
        return True

    def _passes_by(self, stmt: f.Stmt, number: int, depth: int) -> bool | None:
        """Whether what follows a statement may be reached through it."""
        if depth > _DEEP:
            return None
        if isinstance(stmt, f.If):
            holds = self._decided(stmt.test, number)
            if holds is not None:
                return self._falls(stmt.then if holds else stmt.orelse, number, depth + 1)
            ways = [self._falls(block, number, depth + 1) for block in (stmt.then, stmt.orelse)]
            if self._counts(stmt.test):
                return ways[0] if ways[0] is ways[1] else None
            return True if True in ways else None if None in ways else False
        if isinstance(stmt, f.Try):
            if self._falls(stmt.final, number, depth + 1) is False:
                return False
            body = self._falls((*stmt.body, *stmt.orelse), number, depth + 1)
            ways = [self._falls(handler.body, number, depth + 1) for handler in stmt.handlers]
            if True in ways or not ways:
                return True if ways else body
            # What fails is in the handlers; that what did not fail comes by is no retry by itself.
            return None if None in ways or body is not False else False
        if isinstance(stmt, f.With):
            return self._falls(stmt.body, number, depth + 1)
        return not leaves((stmt,))

    def _falls(self, block: f.Block, number: int, depth: int) -> bool | None:
        sure = True
        for stmt in block:
            passes = self._passes_by(stmt, number, depth)
            if passes is False:
                return False
            sure = sure and passes is True
        return True if sure else None

    def _counts(self, test: f.Expr) -> bool:
        """Whether a test asks how many passes there were."""
        capped = any(test.at <= at and end <= test.end for at, end in self.caps)
        return capped or bool(_names(test) & self.counting)

    def _decided(self, test: f.Expr, number: int) -> bool | None:
        """What a test says in a pass, as far as numbers decide it."""
        if isinstance(test, f.Un) and test.op == "not":
            inner = self._decided(test.value, number)
            return None if inner is None else not inner
        if isinstance(test, f.Bin) and test.op in ("and", "or"):
            sides = (self._decided(test.left, number), self._decided(test.right, number))
            decisive = test.op == "or"
            return decisive if decisive in sides else None if None in sides else not decisive
        state = self.state(number, test.at)
        if isinstance(test, f.Ref):
            value = state.get(test.name)
            return None if value is None else value != 0
        holds = self._holds(test, state) if self._counts(test) else None
        cap = self.caps.get((test.at, test.end)) if holds is None else None
        return cap.leaves is (number == self.tries - 1) if cap is not None else holds

    def _changed(self, before: State, until: int) -> State:
        """What the variables hold after what a pass does before a place."""
        after = dict(before)
        self._run(self.loop.body, after, until, 0)
        return after

    def _run(self, block: Iterable[f.Stmt], state: State, until: int, depth: int) -> None:
        for stmt in block:
            if stmt.at >= until or depth > _DEEP:
                return
            if isinstance(stmt, f.Assign):
                name = dotted(stmt.targets[0]) if len(stmt.targets) == 1 else ""
                if stmt.end <= until and name and stmt.value is not None:
                    value = self.at(stmt.value, state)
                    state[name] = _combined(stmt.op, state.get(name), value) if stmt.op else value
            elif isinstance(stmt, f.If):
                self._branch(stmt, state, until, depth)
            elif isinstance(stmt, f.Loop):
                for name in sorted(_assigned(stmt.body) & state.keys()):
                    state[name] = None
            elif isinstance(stmt, f.Try):
                for part in (stmt.body, *(handler.body for handler in stmt.handlers), stmt.final):
                    self._run(part, state, until, depth + 1)
            elif isinstance(stmt, f.With):
                self._run(stmt.body, state, until, depth + 1)
            elif isinstance(stmt, f.Switch | f.Select):
                for case in stmt.cases:
                    for name in sorted(_assigned(case.body) & state.keys()):
                        state[name] = None

    def _branch(self, stmt: f.If, state: State, until: int, depth: int) -> None:
        """A branch that the numbers decide; else what only one of its ways sets alike is known."""
        holds = self._holds(stmt.test, state)
        if any(b and b[0].at < until <= b[-1].end for b in (stmt.then, stmt.orelse)):
            # The place that is asked for lies inside.
            holds = bool(stmt.then) and until <= stmt.then[-1].end
        if holds is not None:
            self._run(stmt.then if holds else stmt.orelse, state, until, depth + 1)
            return
        ways = [dict(state), dict(state)]
        for way, block in zip(ways, (stmt.then, stmt.orelse), strict=True):
            self._run(block, way, until, depth + 1)
        if leaves(stmt.then) or leaves(stmt.orelse):
            # Whoever goes on took the other way.
            state.update(ways[1] if leaves(stmt.then) else ways[0])
            return
        for name in sorted(ways[0].keys() | ways[1].keys()):
            state[name] = ways[0].get(name) if ways[0].get(name) == ways[1].get(name) else None

    def _holds(self, test: f.Expr, state: State) -> bool | None:
        if not isinstance(test, f.Bin):
            return None
        left, right = self.at(test.left, state), self.at(test.right, state)
        if left is None or right is None:
            return None
        match test.op:
            case "<":
                return left < right
            case "<=":
                return left <= right
            case ">":
                return left > right
            case ">=":
                return left >= right
            case "==":
                return left == right
            case "!=":
                return left != right
        return None

    def _first(self) -> State:
        state: State = {}
        if self.counter is not None:
            state[self.counter[0]] = self.counter[2]
        for name in self.names:
            if name in state:
                continue
            before = [d for d in self.frame.fn.body.definitions.get(name, ()) if d.kind == "value" and d.end <= self.loop.at]
            last = max(before, key=lambda d: d.at, default=None)
            if last is None:
                state[name] = self.program.retries.start(name, self.loop, self.frame)
            elif last.expr is not None:
                state[name] = self.at(last.expr, {})
        return state

    def _counter(self) -> tuple[str, float, float] | None:
        """The variable that counts the passes, by how much, and where it begins."""
        loop = self.loop
        if loop.form == "each" and isinstance(loop.target, f.Ref) and loop.iter is not None:
            if isinstance(loop.iter, f.Call) and last_name(loop.iter.fn) == "range":
                args = loop.iter.args
                start = self.at(args[0].value, {}) if len(args) > 1 else 0.0
                return (loop.target.name, 1.0, start) if start is not None else None
            if isinstance(loop.iter, f.Lit):
                return loop.target.name, 1.0, 0.0
        if loop.form == "count" and isinstance(loop.step, f.Assign) and loop.step.op == "+" and len(loop.step.targets) == 1:
            name = dotted(loop.step.targets[0])
            by = self.at(loop.step.value, {}) if loop.step.value is not None else None
            before = [d for d in self.frame.fn.body.definitions.get(name, ()) if d.kind == "value" and d.end <= loop.step.at]
            first = min(before, key=lambda d: d.at, default=None)
            start = self.at(first.expr, {}) if first is not None and first.expr is not None else None
            if name and by is not None and start is not None:
                return name, by, start
        return None

    def at(self, expr: f.Expr, state: Mapping[str, float | None], depth: int = 0) -> float | None:
        """The largest number an expression may be in a pass."""
        if depth > _DEEP:
            return None
        if isinstance(expr, f.Lit):
            return float(expr.value) if isinstance(expr.value, int | float) and not isinstance(expr.value, bool) else None
        if isinstance(expr, f.Ref) and expr.name in state:
            return state[expr.name]
        if isinstance(expr, f.Cast):
            return self.at(expr.value, state, depth + 1)
        if isinstance(expr, f.Bin):
            left, right = self.at(expr.left, state, depth + 1), self.at(expr.right, state, depth + 1)
            return _combined(expr.op, left, right)
        if isinstance(expr, f.Un) and expr.op in ("-", "+"):
            value = self.at(expr.value, state, depth + 1)
            return None if value is None else -value if expr.op == "-" else value
        if isinstance(expr, f.Call):
            return self._called(expr, state, depth)
        if any(isinstance(node, f.Ref) and node.name in state for node in walk(expr)):
            return None
        return self._resolved(expr)

    def _called(self, call: f.Call, state: Mapping[str, float | None], depth: int) -> float | None:
        name = last_name(call.fn)
        values = [self.at(arg.value, state, depth + 1) for arg in call.args]
        known = [v for v in values if v is not None]
        if len(known) < len(values):
            return None
        if name in ("min", "Min") and known:
            return min(known)
        if name in ("max", "Max") and known:
            return max(known)
        if name in ("pow", "Pow") and len(known) == 2:
            return _combined("**", known[0], known[1])
        if name in _SAME and known:
            return known[0]
        if name in ("uniform", "randint", "triangular") and len(known) >= 2:
            return max(known[:2])
        if name in ("random", "Float64") and not known:
            return 1.0
        if name in ("Intn", "Int63n", "Int64N", "IntN", "nextInt", "nextLong", "N", "randrange", "nextDouble") and known:
            return max(known)
        return self._resolved(call) if not any(isinstance(n, f.Ref) and n.name in state for n in walk(call)) else None

    def _resolved(self, expr: f.Expr) -> float | None:
        """What does not change from pass to pass."""
        flows = self.program.resolver.ask(expr, self.frame)
        numbers = [float(flow.thing.number) for flow in flows if isinstance(flow.thing, Num)]
        return max(numbers) if numbers and len(numbers) == len(flows) else None


def _names(expr: f.Expr) -> set[str]:
    return {node.name for node in walk(expr) if isinstance(node, f.Ref)}


def _assigned(block: Iterable[f.Stmt]) -> set[str]:
    """Plain names that a block assigns."""
    return {dotted(target) for s in walk_block(tuple(block)) if isinstance(s, f.Assign) for target in s.targets} - {""}


def _combined(op: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None or left == inf or right == inf:
        return None
    try:
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/" | "//":
                return left / right
            case "**":
                return left**right if abs(right) <= _MOST else None
            case "<<":
                return left * 2**right if 0 <= right <= _MOST else None
            case ">>":
                return left / 2**right if 0 <= right <= _MOST else None
    except (OverflowError, ZeroDivisionError, ValueError):
        return None
    return None
