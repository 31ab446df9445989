"""The worst case of code: bodies turned into effects, calls into the program followed, and added up."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Any

from resilint import facts as f
from resilint.flow.effects import (
    NOTHING,
    Branch,
    Done,
    Effect,
    Loop,
    Open,
    Par,
    Retry,
    Scope,
    Seq,
    Term,
    Wait,
    Window,
    Worst,
    worst,
)
from resilint.flow.growth import pauses_of
from resilint.flow.slots import Source, decide, say_seconds
from resilint.flow.spawns import short
from resilint.flow.values import Bind, Bound, ClassVal, Env, Ext, FnVal, Frame, Null, Num, Obj, counted
from resilint.flow.waits import waits_in
from resilint.knowledge.index import spawning
from resilint.knowledge.schema import CallEntry, ScopeRow, SpawnRow
from resilint.link.code import CallSite, Fun, children, dotted, leaves, walk, walk_block
from resilint.model import Confidence, Step

if TYPE_CHECKING:
    from resilint.flow.deadlines import Deadline
    from resilint.flow.policies import Policy
    from resilint.flow.retries import Cap
    from resilint.flow.waits import Wait as Waiting
    from resilint.program import Program, Target

_DEEP = 12
"""Calls followed one inside another."""
_NESTED = 60
"""Statements and expressions followed one inside another, in one function."""
_FRAMES = 2000 + 8 * _DEEP * _NESTED
"""Calls of Python that so much takes at most, with what resolves a name at the bottom of it."""
_CALLS = 800
"""Calls looked at for one question."""
_HOPS = 8
"""Names and parameters followed to where a context comes from."""
_NEVER = 1_000_000
_MORE = 400
_MORE_AT_ONCE = 100
"""Calls looked at beside, in what an entry point does after a call that had too many of them."""
_MOST_PARTS = 16
"""Pieces of work started at once that are looked at."""
_WAITS = ("network", "query", "connect", "wait", "sleep")
_SLOTS = frozenset(
    {"total", "deadline", "read", "io", "connect", "pool_wait", "statement", "transaction", "wait"},
)
_WHOLE = {
    "network": ("total", "deadline"),
    "query": ("statement", "transaction", "total", "deadline"),
    "connect": ("connect", "total", "io", "deadline"),
    "wait": ("wait", "total", "deadline"),
    "sleep": ("wait", "total"),
}
"""Slots that bound all of a wait of a kind: the smallest counts."""
_SILENCE = ("read", "io")
"""Slots that bound one silence of the peer; what comes before it is added."""

Lengths = Mapping[str, int]
"""How many elements local collections have at most, by name."""


class Worsts:
    """Answers how long code can take, for one program. Answers are remembered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._functions: dict[tuple[Frame, tuple[tuple[str, int], ...], bool], tuple[Done, int, int]] = {}
        """Answers, with the calls that were looked at for each and how many of them stood inside each other."""
        self._active: list[Fun] = []
        self._peak = 0
        """How many calls stood inside each other at most, since the innermost function that is being looked at."""
        self._met = _NEVER
        """The outermost function that was met again inside itself, by its depth."""
        self._sites: dict[Fun, dict[int, CallSite]] = {}
        self._waiting: dict[Fun, dict[int, list[Waiting]]] = {}
        self._left = 0
        self._spare = 0
        self._nested = 0
        self._free: frozenset[int] = frozenset()
        self._still = False
        self._loops: dict[tuple[int, tuple[tuple[str, int], ...], frozenset[int]], Effect] = {}
        """Loops of the function under way that were looked at, with what was known there."""
        self._once = False
        self._joined: tuple[float, int] | None = None
        """In the function under way: the longest work that was waited for, and where the first wait was."""

    def of_block(self, block: Iterable[f.Stmt], frame: Frame, free: Iterable[f.Node] = (), lengths: Lengths | None = None) -> Worst:
        """The worst case of statements in a frame; the nodes in `free` take no time."""
        self._left, self._spare = _CALLS, _MORE
        self._free = frozenset(id(node) for node in free)
        self._loops = {}
        self._joined = None
        return worst(self._block(tuple(block), frame, dict(lengths or {})))

    def of_function(self, frame: Frame, lengths: Lengths | None = None, once: bool = False) -> Worst:
        """The worst case of a function; `once`: where nothing is tried a second time."""
        self._left, self._spare = _CALLS, _MORE
        self._free = frozenset()
        self._once = once
        try:
            with room():
                return self._function(frame, dict(lengths or {})).worst
        finally:
            self._once = False

    def tree_of(self, frame: Frame) -> Effect:
        """What a function does to the time of its caller, as a tree; the functions it calls are `Done` with a `body`. The same
        body may stand at several places: whoever walks it has to end by itself."""
        self._left, self._spare = _CALLS, _MORE
        self._free = frozenset()
        with room():
            return self._function(frame, {}).body or NOTHING

    def limit(self, row: ScopeRow, binds: tuple[Bind, ...], fn: Fun) -> float | None:
        """The length of a scope in seconds: `inf` for none, `None` where it is not known."""
        bind, _ = self.program.slots.find_bind(row.arg, row.pos, binds)
        if bind is None:
            return inf if row.default == "endless" else None if row.default == "unset" else float(row.default)
        numbers = [self._seconds_of(flow.thing, row, binds) for flow in self.resolver.ask(bind.expr, bind.frame)]
        known = [number for number in numbers if number is not None]
        return max(known) if known and len(known) == len(numbers) else None

    def _seconds_of(self, thing: Any, row: ScopeRow, binds: tuple[Bind, ...]) -> float | None:
        if isinstance(thing, Num):
            if thing.unit == "dur":
                return float(thing.number)
            scale = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}.get(row.unit)
            return float(thing.number) * scale if scale is not None and row.unit_pos is None else None
        return inf if None in row.disabled and isinstance(thing, Null) else None

    # ------------------------------------------------------------ functions

    def _function(self, frame: Frame, lengths: dict[str, int]) -> Done:
        """What a function does. The answer is the same whatever was asked before: one that is remembered counts as much as it
        took, and is taken only where finding it again would not be cut short."""
        fn, depth = frame.fn, len(self._active)
        if fn in self._active:
            self._met = min(self._met, self._active.index(fn))
            return Done(Worst(open=frozenset({"loop"})), fn=fn)
        if depth >= _DEEP:
            return Done(Worst(open=frozenset({"search"})), fn=fn)
        key = (frame, tuple(sorted(lengths.items())), self._once)
        found = self._functions.get(key)
        if found is not None and found[1] <= self._left and depth + found[2] <= _DEEP:
            self._left -= found[1]
            self._peak = max(self._peak, depth + found[2])
            return found[0]
        self._active.append(fn)
        left = self._left
        loops, self._loops = self._loops, {}
        outer = (self._still, self._nested, self._joined, self._peak, self._met)
        self._still, self._nested, self._joined, self._peak, self._met = False, 0, None, depth + 1, _NEVER
        try:
            body = self._block(fn.block, frame, lengths)
            result = Done(worst(body), body, fn)
        finally:
            self._active.pop()
            self._loops = loops
            height, met = self._peak - depth, self._met
            self._still, self._nested, self._joined, self._peak, self._met = outer
            self._peak = max(self._peak, depth + height)
            self._met = min(self._met, met if met < depth else _NEVER)
        if "search" not in result.worst.open and met >= depth:
            # What was cut, or rests on a function around it, is not the answer to the next question.
            self._functions[key] = (result, left - self._left, height)
        if self._left < 0 and depth <= 1:
            # What comes after is looked at too, however much there was to see in this call.
            self._left = min(self._spare, _MORE_AT_ONCE)
            self._spare -= self._left
        return result

    def _site(self, call: f.Call, fn: Fun) -> CallSite | None:
        sites = self._sites.get(fn)
        if sites is None:
            sites = self._sites[fn] = {id(site.call): site for site in fn.body.calls}
        return sites.get(id(call))

    # ------------------------------------------------------------ statements

    def _block(self, block: tuple[f.Stmt, ...], frame: Frame, lengths: dict[str, int]) -> Effect:
        if self._nested >= _NESTED:
            return Open("search")
        self._nested += 1
        try:
            return self._statements(block, frame, lengths)
        finally:
            self._nested -= 1

    def _statements(self, block: tuple[f.Stmt, ...], frame: Frame, lengths: dict[str, int]) -> Effect:
        parts: list[Effect] = []
        for position, stmt in enumerate(block):
            if id(stmt) in self._free and not isinstance(stmt, f.Select):
                continue
            rest = block[position + 1 :]
            flag = self._flag(stmt.test, frame) if isinstance(stmt, f.If) else None
            if isinstance(stmt, f.If) and flag is not None:
                way = stmt.then if flag else stmt.orelse
                parts.append(self._block(way, frame, lengths))
                if leaves(way):
                    break
                continue
            if isinstance(stmt, f.If):
                parts.append(self._expr(stmt.test, frame, lengths))
                then, other = leaves(stmt.then), leaves(stmt.orelse)
                ways = [self._block(stmt.then, frame, lengths), self._block(stmt.orelse, frame, lengths)]
                if then != other and rest:
                    after = self._block(rest, frame, lengths)
                    ways = [ways[0], Seq((ways[1], after))] if then else [Seq((ways[0], after)), ways[1]]
                    parts.append(Branch(tuple(ways)))
                    break
                parts.append(Branch(tuple(ways)))
                if then and other:
                    break
                continue
            if isinstance(stmt, f.Assign):
                self._remember_length(stmt, lengths)
                limit = self._context_made(stmt, frame)
                if limit is not None:
                    parts.append(Scope(limit[0], self._block(rest, frame, lengths), limit[1]))
                    break
            parts.append(self._statement(stmt, frame, lengths))
            if isinstance(stmt, f.Return | f.Raise | f.Jump):
                break
        return Seq(tuple(parts))

    def _flag(self, test: f.Expr | None, frame: Frame) -> bool | None:
        """What a test says under this call, where it is only a flag that the caller gave as a constant."""
        if isinstance(test, f.Un) and test.op == "not":
            inner = self._flag(test.value, frame)
            return None if inner is None else not inner
        if not isinstance(test, f.Ref) or frame.args is None or test.name not in frame.fn.params:
            return None
        if any(d.kind != "param" for d in frame.fn.body.definitions.get(test.name, ())):
            return None
        found = {flow.thing.number if isinstance(flow.thing, Num) else None for flow in self.resolver.ask(test, frame)}
        flag = found.pop() if len(found) == 1 else None
        return flag if isinstance(flag, bool) else None

    def _statement(self, stmt: f.Stmt, frame: Frame, lengths: dict[str, int]) -> Effect:
        match stmt:
            case f.Assign() | f.Do() | f.Return() | f.Raise():
                return self._expr(stmt.value, frame, lengths)
            case f.Defer():
                return self._expr(stmt.call, frame, lengths)
            case f.Switch():
                ways = [self._block(case.body, frame, lengths) for case in stmt.cases]
                return Seq((self._expr(stmt.subject, frame, lengths), Branch(tuple(ways))))
            case f.Select():
                return self._select(stmt, frame, lengths)
            case f.Loop():
                return self._loop(stmt, frame, lengths)
            case f.Try():
                body = self._block(stmt.body, frame, lengths)
                handlers: list[Effect] = [self._block(handler.body, frame, lengths) for handler in stmt.handlers]
                after = Branch((*handlers, self._block(stmt.orelse, frame, lengths)))
                return Seq((body, after, self._block(stmt.final, frame, lengths)))
            case f.With():
                return self._with(stmt, frame, lengths)
            case f.Send():
                return Seq((self._expr(stmt.value, frame, lengths), Open("code")))
        return NOTHING

    def _with(self, stmt: f.With, frame: Frame, lengths: dict[str, int]) -> Effect:
        inner = self._block(stmt.body, frame, lengths)
        before: list[Effect] = []
        for item in reversed(stmt.items):
            limit = self.scope_of(item.value, frame, stmt)
            if limit is not None:
                inner = Scope(limit[0], Seq((*before, inner)), limit[1])
                before = []
            else:
                before.insert(0, self._expr(item.value, frame, lengths, awaited=stmt.is_async))
        return Seq((*before, inner))

    def scope_of(self, expr: f.Expr, frame: Frame, stmt: f.With | None = None) -> tuple[float | None, Term] | None:
        """The limit that a `with` item sets to what stands inside; none if it sets none."""
        if not isinstance(expr, f.Call):
            return None
        site = self._site(expr, frame.fn)
        if site is None:
            return None
        for target in self.program.targets(site, frame):
            row = target.entry.scope if target.entry is not None else None
            if (
                row is not None
                and row.form == "with"
                and (row.cuts == "all" or stmt is None or stmt.is_async or row.cuts != "await")
            ):
                limit = self.limit(row, target.binds, frame.fn)
                return limit, _term(limit, short(target.name), (frame.fn, expr))
        return None

    def _context_made(self, stmt: f.Assign, frame: Frame) -> tuple[float | None, Term] | None:
        """The limit that the rest of a block stands under, where a statement makes a context with a deadline."""
        if not isinstance(stmt.value, f.Call) or frame.fn.module.language != "go":
            return None
        last = dotted(stmt.value.fn).rpartition(".")[2]
        if last not in self.resolver.table(frame.fn.module).context_words:
            return None
        site = self._site(stmt.value, frame.fn)
        for target in self.program.targets(site, frame) if site is not None else ():
            row = target.entry.makes if target.entry is not None else None
            if row is not None and row.kind == "bounded":
                number: float | None = None
                if row.duration is not None and row.duration < len(target.binds):
                    bind = target.binds[row.duration]
                    number = self.number(bind.expr, bind.frame)
                return number, _term(number, short(target.name), (frame.fn, stmt.value))
        return None

    def _select(self, stmt: f.Select, frame: Frame, lengths: dict[str, int]) -> Effect:
        ways: list[Effect] = []
        limits: list[tuple[float, Term]] = []
        works: list[Effect] = []
        cut = True
        waits = not any(case.op is None for case in stmt.cases)
        for case in stmt.cases:
            ways.append(self._block(case.body, frame, lengths))
            channel = received(case.op)
            if id(stmt) in self._free or not waits or channel is None:
                continue
            number = self.timer(channel, frame)
            if number is None and isinstance(channel, f.Call):
                number = self._left_of(channel, frame)
                cut = cut and number is not None
            elif number is None:
                works.extend(self._sent(channel, frame))
            if number is not None and number < inf:
                limits.append((number, _term(number, "select", (frame.fn, stmt))))
        if id(stmt) in self._free or not waits:
            return Branch(tuple(ways))
        first: Effect = works[0] if len(works) == 1 else Open("wait")
        if not cut:
            first = Scope(None, first, _term(None, "select", (frame.fn, stmt)))
        if limits:
            number, term = min(limits, key=lambda x: x[0])
            first = Scope(number, first, term)
        return Seq((first, Branch(tuple(ways))))

    def _left_of(self, channel: f.Call, frame: Frame) -> float | None:
        """Seconds after which a context tells whoever listens that it is over: `inf` where it has no deadline."""
        owner, _, last = dotted(channel.fn).rpartition(".")
        if not owner or last != "Done":
            return None
        found = self.program.deadlines.of(f.Ref(channel.at, channel.at, owner), frame)
        numbers = [d.number for d in found]
        known = [n for n in numbers if n is not None]
        return max(known) if known and len(known) == len(numbers) else None

    def _sent(self, channel: f.Expr, frame: Frame) -> Iterator[Effect]:
        """What a goroutine of the same function does before it sends on a channel: whoever receives waits for that."""
        name = dotted(channel)
        for site in frame.fn.body.calls if name and frame.fn.module.language == "go" else ():
            if site.how != "go" or site.call.at > channel.at:
                continue
            for flow in self.resolver.ask(site.call.fn, frame):
                thing = flow.thing
                if isinstance(thing, FnVal) and any(
                    isinstance(n, f.Send) and dotted(n.channel) == name for n in walk_block(thing.fn.block)
                ):
                    yield self._function(self.resolver.enter(thing, site.call, frame, self.resolver.binds(site.call, frame)), {})

    def timer(self, channel: f.Expr, frame: Frame) -> float | None:
        """Seconds after which a channel speaks by itself, if it is that of a timer."""
        flows = self.resolver.ask(channel, frame)
        if isinstance(channel, f.Ref) and channel.name.endswith(".C"):
            flows = self.resolver.ask(f.Ref(channel.at, channel.end, channel.name[:-2]), frame)
        for flow in flows:
            thing = flow.thing
            if isinstance(thing, Obj) and thing.kind == "call" and thing.maker and thing.frame is not None:
                entry = self.resolver.table(thing.frame.fn.module).call(thing.maker.partition("#")[0])
                rows = [row for row in entry.bounds if row.slot == "wait" and row.pos is not None] if entry is not None else []
                args = thing.binds
                if args is None and isinstance(thing.node, f.Call):
                    args = self.resolver.binds(thing.node, thing.frame)
                for row in rows:
                    if args is not None and row.pos is not None and row.pos < len(args):
                        return self.number(args[row.pos].expr, args[row.pos].frame)
        return None

    # ------------------------------------------------------------ loops

    def _loop(self, loop: f.Loop, frame: Frame, lengths: dict[str, int]) -> Effect:
        """A loop pauses by itself in whatever round of one around it, so that what it does is looked at once for all of those."""
        key = (id(loop), tuple(sorted(lengths.items())), self._free)
        if key not in self._loops:
            still, self._still = self._still, False
            try:
                self._loops[key] = self._looped(loop, frame, lengths)
            finally:
                self._still = still
        return self._loops[key]

    def _looped(self, loop: f.Loop, frame: Frame, lengths: dict[str, int]) -> Effect:
        head = self._expr(loop.iter, frame, lengths)
        times = self.times(loop, frame, lengths)
        test = self._expr(loop.test, frame, lengths)
        body = Seq((test, self._block(loop.body, frame, dict(lengths))))
        after = self._block(loop.orelse, frame, lengths)
        retried = self._retried_loop(loop, test, frame, lengths)
        if retried is not None:
            return Seq((head, retried, after))
        timed = self._timed(loop, frame) if times is None else None
        if timed is not None:
            select, seconds = timed
            free, self._free = self._free, self._free | {id(select)}
            try:
                final = Seq((test, self._block(loop.body, frame, dict(lengths))))
            finally:
                self._free = free
            return Seq((head, Window(seconds, final, _term(seconds, "timer", (frame.fn, select))), after))
        if times is None or times <= 1 or not _ends_early(loop):
            return Seq((head, Loop(times, body), after))
        last = self._last_round(loop, test, frame, lengths)
        pauses = self._pauses_in(loop, loop.body, test, last, times, frame, lengths, loop)
        return Seq((head, Retry(times, last, pauses), after))

    def _timed(self, loop: f.Loop, frame: Frame) -> tuple[f.Select, float] | None:
        """Where a loop looks at a timer that was started before it and ends it, and after how many seconds that is."""
        for stmt in loop.body:
            for case in stmt.cases if isinstance(stmt, f.Select) else ():
                channel = received(case.op)
                if not isinstance(channel, f.Ref) or not any(isinstance(s, f.Return | f.Raise) for s in case.body):
                    continue
                made = frame.fn.body.definitions.get(channel.name.removesuffix(".C"), ())
                seconds = self.timer(channel, frame) if made and all(d.at < loop.at for d in made) else None
                if seconds is not None and isinstance(stmt, f.Select):
                    return stmt, seconds
        return None

    def _retried_loop(self, loop: f.Loop, test: Effect, frame: Frame, lengths: dict[str, int]) -> Effect | None:
        """A loop that tries again, where it is known how often or for how long."""
        policy = self.program.policies.of_expression(loop.iter, frame) if loop.form == "each" and loop.iter is not None else None
        if policy is not None:
            return self._repeated(policy, self._last_round(loop, test, frame, lengths), frame)
        retry = next((r for r in self.program.retries.of(frame.fn) if r.node is loop), None)
        tries = self.program.retries.tries(retry, frame) if retry is not None else None
        if retry is None or ((tries is None or tries == inf) and retry.window is None):
            return None
        last = self._last_round(loop, test, frame, lengths)
        if self._once:
            return last
        head = f.Ref(loop.at, min(loop.end, loop.body[0].at if loop.body else loop.end), "")
        if tries is None or tries == inf:
            assert retry.window is not None
            return Window(retry.window, last, _term(retry.window, "retry window", (frame.fn, head)))
        because = (self.program.step(frame.fn, head, f"up to {tries:g} tries"),)
        caps = self.program.retries.last_caps(retry, tries, frame)
        pauses = self._pauses_in(loop, retry.path, test, last, int(tries), frame, lengths, head, caps)
        return Retry(tries, last, pauses, because)

    def _pauses_in(
        self,
        loop: f.Loop,
        path: tuple[f.Stmt, ...],
        test: Effect,
        last: Effect,
        times: int,
        frame: Frame,
        lengths: dict[str, int],
        at: f.Node,
        caps: tuple[Cap, ...] = (),
    ) -> tuple[Effect, ...]:
        """The pauses of a loop: pass by pass where they can be read, else each as long as it can be, which is what a round takes
        more than one that does not pause."""
        found = pauses_of(self.program, loop, path, times, frame, lambda call: self._site(call, frame.fn), caps)
        more = () if found is None or found.sure else (Open("length"),)
        if found is not None and found.seconds is not None:
            return (self._pauses([one for one in found.seconds if one > 0], "pause", (frame.fn, at)), *more)
        whole, without = worst(Seq((test, self._block(loop.body, frame, dict(lengths))))), worst(last)
        pause = whole.known - without.known
        unread = [Open(why) for why in sorted(whole.open - without.open)]
        passes = found.passes if found is not None else times - 1
        return (Loop(passes, Wait(pause, _term(pause, "pause", (frame.fn, at)))), *unread, *more)

    @staticmethod
    def _pauses(known: Sequence[float], name: str, where: Any) -> Effect:
        """Known pauses as one term: `0.5 + 1 + 2 s`."""
        if not known or max(known) <= 0:
            return NOTHING
        if len(set(known)) == 1:
            amount = say_seconds(known[0]) if len(known) == 1 else f"{len(known)} × {say_seconds(known[0])}"
        elif len(known) <= 4:
            amount = _amount(list(known))
        else:
            amount = f"{_amount(list(known[:2]))} + … + {say_seconds(known[-1])}"
        return Wait(sum(known), Term(sum(known), amount, name, where))

    def _repeated(self, policy: Policy, body: Effect, frame: Frame) -> Effect:
        """What a policy makes of an operation."""
        if policy.condition != "any":
            # It repeats on what is no failure to answer in time.
            return body
        where = (frame.fn, frame.fn.head)
        result = body if self._once else self._tried(policy, body, where)
        if policy.covers_all is not None and policy.covers_all < inf:
            name = f"{short(policy.owner)} budget"
            result = Scope(policy.covers_all, result, _term(policy.covers_all, name, where))
        return result

    def _tried(self, policy: Policy, body: Effect, where: Any) -> Effect:
        tries, budget = policy.tries, policy.budget
        name = short(policy.owner)
        limited = budget is not None and budget < inf
        window = Window(budget, body, _term(budget, f"{name} budget", where)) if limited else None
        if tries is None or tries == inf:
            return window if window is not None else Seq((body, Open("loop")))
        if tries <= 1:
            return body
        said = f"{name} makes up to {tries:g} tries" + (" by default" if policy.default else "")
        known = policy.pauses[: int(tries) - 1] if policy.pauses is not None else ()
        pauses = (self._pauses(known, "pause", where), *([Open("length")] if policy.pauses is None else []))
        sure = min(policy.confidence, Confidence.MEDIUM) if policy.default else policy.confidence
        whole = Retry(tries, body, pauses, (*policy.steps, Step(policy.span, said)), sure)
        if window is not None and worst(window).known < worst(whole).known:
            return window
        return whole

    def _last_round(self, loop: f.Loop, test: Effect, frame: Frame, lengths: dict[str, int]) -> Effect:
        """A round that need not pause any more: it gives up, or has succeeded."""
        still, self._still = self._still, True
        try:
            return Seq((test, self._block(loop.body, frame, dict(lengths))))
        finally:
            self._still = still

    def times(self, loop: f.Loop, frame: Frame, lengths: Lengths) -> int | None:
        """How often a loop goes round at most, where that is a number that is known."""
        if loop.form == "each" and loop.iter is not None:
            return self.length(loop.iter, frame, lengths)
        if loop.form == "count" and isinstance(loop.test, f.Bin) and loop.test.op in ("<", "<=", "!="):
            side = loop.test.right
            if isinstance(side, f.Call) and dotted(side.fn).rpartition(".")[2] in ("len", "size", "length"):
                of = side.args[0].value if side.args else f.Ref(side.at, side.end, dotted(side.fn).rpartition(".")[0])
                return self.length(of, frame, lengths)
            number = self.number(side, frame)
            end, start = counted(number), self._first_value(loop, frame)
            if end is None or start is None or number != end or not isinstance(loop.test.left, f.Ref):
                return None
            return end - start + (loop.test.op == "<=")
        return None

    def _first_value(self, loop: f.Loop, frame: Frame) -> int | None:
        """Where a counting loop that adds one each round begins."""
        step, test = loop.step, loop.test
        if not isinstance(step, f.Assign) or step.op != "+" or not isinstance(test, f.Bin) or not isinstance(test.left, f.Ref):
            return None
        if not isinstance(step.value, f.Lit) or step.value.value != 1:
            return None
        before = [d for d in frame.fn.body.definitions.get(test.left.name, ()) if d.kind == "value" and d.end <= test.at]
        first = max(before, key=lambda d: d.at, default=None)
        if first is None or not isinstance(first.expr, f.Lit) or not isinstance(first.expr.value, int):
            return None
        return int(first.expr.value)

    def length(self, expr: f.Expr, frame: Frame, lengths: Lengths, depth: int = 0) -> int | None:
        """How many elements an expression has at most, where that is a number that is known."""
        if depth > 6:
            return None
        if isinstance(expr, f.Ref) and expr.name in lengths:
            return lengths[expr.name]
        if isinstance(expr, f.Coll):
            return expr.size if expr.size >= 0 else None
        if isinstance(expr, f.Slice):
            return self.length(expr.base, frame, lengths, depth + 1)
        if isinstance(expr, f.Comp) and len(expr.gens) == 1:
            return self.length(expr.gens[0].iter, frame, lengths, depth + 1)
        if isinstance(expr, f.Call):
            name = dotted(expr.fn)
            plain = [arg.value for arg in expr.args if arg.name is None and not arg.spread]
            if name == "range" and 1 <= len(plain) <= 2:
                ends = [self.number(arg, frame) for arg in plain]
                numbers = [count for end in ends if (count := counted(end)) is not None and count == end]
                if len(numbers) != len(ends):
                    return None
                return max(numbers[0] if len(numbers) == 1 else numbers[1] - numbers[0], 0)
            site = self._site(expr, frame.fn)
            rows = [entry.elements for _, entry in self.program.described(site)] if site is not None else []
            if rows and all(row is not None and row.of is None and not row.counts for row in rows) and len(plain) == len(expr.args):
                return len(plain)
            if name in ("zip", "enumerate", "list", "tuple", "sorted", "reversed", "iter"):
                found = [self.length(arg, frame, lengths, depth + 1) for arg in plain]
                known = [size for size in found if size is not None]
                return min(known) if known else None
            return None
        if isinstance(expr, f.Lit) and isinstance(expr.value, int) and frame.fn.module.language == "go":
            return int(expr.value)
        if isinstance(expr, f.Ref):
            sizes = [self._made_length(flow.thing, depth) for flow in self.resolver.ask(expr, frame)]
            known = [size for size in sizes if size is not None]
            return max(known) if known and len(known) == len(sizes) else None
        return None

    def _made_length(self, thing: Any, depth: int) -> int | None:
        """How many elements a collection is made with; one that is made empty is filled elsewhere."""
        if not isinstance(thing, Obj) or thing.frame is None or not isinstance(thing.node, f.Coll | f.Comp):
            return None
        size = self.length(thing.node, thing.frame, {}, depth + 1)
        return size if size or (isinstance(thing.node, f.Coll) and thing.node.kind == "tuple") else None

    def number(self, expr: f.Expr, frame: Frame) -> float | None:
        """The largest number that an expression may be; `None` where some possibility is none. A variable of the environment counts
        as its default."""
        flows = self.resolver.ask(expr, frame)
        numbers = [float(x.thing.number) for x in flows if isinstance(x.thing, Num)]
        others = [x for x in flows if not isinstance(x.thing, Num | Env)]
        return max(numbers) if numbers and not others else None

    def _remember_length(self, stmt: f.Assign, lengths: dict[str, int]) -> None:
        """A collection made element by element of one whose length is known is as long."""
        if len(stmt.targets) != 1 or not isinstance(stmt.targets[0], f.Ref) or stmt.value is None or not lengths:
            return
        value = stmt.value
        of: f.Expr | None = None
        if isinstance(value, f.Comp) and len(value.gens) == 1:
            of = value.gens[0].iter
        elif isinstance(value, f.Call) and dotted(value.fn) in ("list", "tuple", "sorted") and len(value.args) == 1:
            of = value.args[0].value
        elif isinstance(value, f.Ref):
            of = value
        if isinstance(of, f.Ref) and of.name in lengths:
            lengths.setdefault(stmt.targets[0].name, lengths[of.name])

    # ------------------------------------------------------------ expressions

    def _expr(self, expr: Any, frame: Frame, lengths: dict[str, int], awaited: bool = False) -> Effect:
        if expr is None or isinstance(expr, f.Lit | f.Ref | f.Fn | f.Type) or id(expr) in self._free:
            return NOTHING
        if self._nested >= _NESTED:
            return Open("search")
        self._nested += 1
        try:
            return self._expression(expr, frame, lengths, awaited)
        finally:
            self._nested -= 1

    def _expression(self, expr: Any, frame: Frame, lengths: dict[str, int], awaited: bool) -> Effect:
        match expr:
            case f.Call():
                return self._call(expr, frame, lengths, awaited)
            case f.Await():
                if isinstance(expr.value, f.Call) and not self._starts(expr.value, frame):
                    return self._expr(expr.value, frame, lengths, awaited=True)
                work = self._element(expr.value, frame)
                started = next((x.thing for x in self.resolver.ask(expr.value, frame) if isinstance(x.thing, Obj)), None)
                return self._overlapped(work, started, expr, frame) if started is not None and started.kind == "call" else work
            case f.Recv():
                number = self.timer(expr.value, frame)
                if number is not None:
                    return Wait(number, _term(number, "timer", (frame.fn, expr)))
                works = list(self._sent(expr.value, frame))
                return works[0] if len(works) == 1 else Open("code")
            case f.Cond():
                ways = (self._expr(expr.then, frame, lengths, awaited), self._expr(expr.orelse, frame, lengths, awaited))
                return Seq((self._expr(expr.test, frame, lengths), Branch(ways)))
            case f.Comp():
                body = Seq(tuple(self._expr(part, frame, lengths) for part in (expr.key, expr.elt)))
                times = self.length(expr, frame, lengths)
                return Seq((self._expr(expr.gens[0].iter, frame, lengths), Loop(times, body)))
        return Seq(tuple(self._expr(child, frame, lengths) for child in _inside(expr)))

    def _call(self, call: f.Call, frame: Frame, lengths: dict[str, int], awaited: bool) -> Effect:
        self._left -= 1
        site = self._site(call, frame.fn)
        if self._left < 0 or site is None:
            return Open("search")
        if self._asks_request(call, frame):
            return NOTHING
        targets = self.program.targets(site, frame)
        entries = [(target, target.entry) for target in targets if target.entry is not None]
        for target, entry in entries:
            if entry.scope is not None and entry.scope.form == "call" and entry.scope.body is not None:
                return self._scoped(target, entry.scope, call, frame, lengths)
            if entry.spawn is not None:
                return self._spawn(target, entry, entry.spawn, site, frame)
        parts: list[Effect] = []
        if isinstance(call.fn, f.Field):
            parts.append(self._expr(call.fn.base, frame, lengths))
        parts.extend(self._expr(arg.value, frame, lengths) for arg in call.args)
        ways = [self._enter(target, site, frame, lengths, awaited) for target in targets]
        work: Effect = Branch(tuple(ways)) if ways else Open("code")
        for policy in self.program.policies.of_call(site, frame):
            if policy.runs is not None:
                work = self._run(policy.runs, call)
            work = self._repeated(policy, work, frame)
        return Seq((*parts, work))

    def _run(self, bind: Bind, call: f.Call) -> Effect:
        """The operation that a call is handed to run."""
        if isinstance(bind.expr, f.Call):
            return self._expr(bind.expr, bind.frame, {}, awaited=True)
        ways: list[Effect] = []
        for flow in self.resolver.ask(bind.expr, bind.frame):
            if isinstance(flow.thing, FnVal):
                ways.append(self._function(self.resolver.enter(flow.thing, call, bind.frame, ()), {}))
            else:
                ways.append(Open("code"))
        return Branch(tuple(ways)) if ways else Open("code")

    def _enter(self, target: Target, site: CallSite, frame: Frame, lengths: dict[str, int], awaited: bool) -> Effect:
        if target.entry is not None:
            return self._wait(target, target.entry, site, frame) if target.entry.does in _WAITS else NOTHING
        thing = target.flow.thing
        if isinstance(thing, ClassVal):
            init = self.resolver.init_of(thing.klass)
            if init is None:
                return NOTHING
            made = Obj("new", thing.klass, frame, site.call)
            thing = FnVal(init, None, made)
        if isinstance(thing, FnVal):
            head = thing.fn.head
            if head.is_async and not awaited and frame.fn.module.language == "python":
                return Open("wait")
            inner = self.resolver.enter(thing, site.call, frame, target.binds)
            work: Effect = self._function(inner, self._passed(thing.fn, site.call, lengths))
            if head.decorators or thing.fn.module.language == "java":
                for policy in self.program.policies.of_function(thing.fn):
                    work = self._repeated(policy, work, inner)
            return work
        if isinstance(thing, Ext) and thing.name.startswith("<builtin>."):
            return NOTHING
        if isinstance(thing, Bound) and isinstance(thing.obj.node, f.Coll | f.Comp | f.Lit):
            return NOTHING
        return Open("code")

    @staticmethod
    def _passed(fn: Fun, call: f.Call, lengths: Lengths) -> dict[str, int]:
        """What is known of the lengths of arguments, by the names of parameters."""
        out: dict[str, int] = {}
        positional = fn.positional
        for position, arg in enumerate(call.args):
            size = lengths.get(arg.value.name) if isinstance(arg.value, f.Ref) else None
            if size is None:
                continue
            if arg.name is not None:
                out[arg.name] = size
            elif position < len(positional):
                out[positional[position].name] = size
        return out

    def _scoped(self, target: Target, row: ScopeRow, call: f.Call, frame: Frame, lengths: dict[str, int]) -> Effect:
        limit = self.limit(row, target.binds, frame.fn)
        body: f.Expr | None = None
        if row.body == -1 and isinstance(call.fn, f.Field):
            body = call.fn.base
        elif row.body is not None and 0 <= row.body < len(target.binds):
            body = target.binds[row.body].expr
        if id(body) in self._free:
            return NOTHING
        inner = self._expr(body, frame, lengths, awaited=True) if isinstance(body, f.Call) else Open("wait")
        return Scope(limit, inner, _term(limit, short(target.name), (frame.fn, call)))

    def _spawn(self, target: Target, entry: CallEntry, row: SpawnRow, site: CallSite, frame: Frame) -> Effect:
        """Starting work takes no time; work that is joined on the spot takes as long as the longest part."""
        if not row.joins:
            return NOTHING
        joined = self._work(row, target.binds, site.call, target.holder) or Open("wait")
        rows = [bound for bound in entry.bounds if bound.slot in ("wait", "total")]
        limit = (
            self._whole(decide(self.program.slots.at_call(rows, target.binds, (frame.fn, site.call))), ("wait", "total"))
            if rows
            else inf
        )
        return Scope(limit, joined, _term(limit, short(target.name), (frame.fn, site.call)))

    def _work(self, row: SpawnRow, binds: tuple[Bind, ...], call: f.Call, holder: Obj | None) -> Effect | None:
        """What a call starts, all at once; `None` where that is not known."""
        parts: list[Effect] = []
        if row.each is not None and row.target is None:
            for bind in binds if row.each < 0 else binds[row.each : row.each + 1]:
                spread = bind.spread > 0 or row.each >= 0
                parts.extend(self._elements(bind.expr, bind.frame) if spread else [self._element(bind.expr, bind.frame)])
            return Par(tuple(parts)) if parts else None
        bind2, _ = self.program.slots.find_bind(row.target_arg, row.target, binds)
        if bind2 is None and holder is not None and isinstance(holder.node, f.Call) and holder.frame is not None:
            # The function was given to the thread when it was made, not when it is started.
            made = holder.binds if holder.binds is not None else self.resolver.binds(holder.node, holder.frame)
            bind2, _ = self.program.slots.find_bind(row.target_arg, row.target, made)
        if bind2 is None:
            return None
        if isinstance(bind2.expr, f.Call):
            return self._element(bind2.expr, bind2.frame)
        rest = binds[binds.index(bind2) + 1 :] if bind2 in binds else ()
        for flow in self.resolver.ask(bind2.expr, bind2.frame):
            if isinstance(flow.thing, FnVal):
                parts.append(self._function(self.resolver.enter(flow.thing, call, bind2.frame, rest), {}))
            else:
                parts.append(Open("code"))
        return Par(tuple(parts)) if parts else None

    def _elements(self, expr: f.Expr, frame: Frame, depth: int = 0) -> list[Effect]:
        """What stands behind each element of a collection of work."""
        if isinstance(expr, f.Comp):
            return [self._element(expr.elt, frame)]
        if isinstance(expr, f.Coll):
            return [self._element(pair.value, frame) for pair in expr.items[:_MOST_PARTS]]
        found: list[Effect] = []
        if isinstance(expr, f.Ref) and depth < 3:
            for flow in self.resolver.ask(expr, frame):
                thing = flow.thing
                if isinstance(thing, Obj) and isinstance(thing.node, f.Comp | f.Coll) and thing.frame is not None:
                    found.extend(self._elements(thing.node, thing.frame, depth + 1))
        return found or [Open("wait")]

    def _element(self, expr: f.Expr, frame: Frame) -> Effect:
        """What whoever waits for one piece of work waits for: a call to await, or something that was started before."""
        self._left -= 1
        if self._left < 0 or self._nested >= _NESTED:
            return Open("search")
        if isinstance(expr, f.Call) and not self._starts(expr, frame):
            return self._expr(expr, frame, {}, awaited=True)
        ways = [
            work
            for flow in self.resolver.ask(expr, frame)
            if isinstance(flow.thing, Obj) and (work := self._behind(flow.thing)) is not None
        ]
        return Branch(tuple(ways)) if ways else Open("wait")

    def _starts(self, call: f.Call, frame: Frame) -> bool:
        """Whether a call only starts work, for which its result stands."""
        site = self._site(call, frame.fn)
        return site is not None and any(
            entry.spawn is not None and not entry.spawn.joins for _, entry in self.program.described(site, spawning)
        )

    def _behind(self, obj: Obj, depth: int = 0) -> Effect | None:
        """The work that an object stands for, by the call that started it: a future, a task, a thread."""
        if depth > 6 or obj.kind != "call" or obj.frame is None or not isinstance(obj.node, f.Call):
            return None
        self._nested += 1
        try:
            table = self.resolver.table(obj.frame.fn.module)
            entry = table.call(obj.maker.partition("#")[0])
            binds = obj.binds if obj.binds is not None else self.resolver.binds(obj.node, obj.frame)
            before = self._behind(obj.parent, depth + 1) if obj.parent is not None else None
            if entry is None or entry.spawn is None:
                return before
            work = self._work(entry.spawn, binds, obj.node, obj.parent)
            return Seq((before, work)) if before is not None and work is not None else work
        finally:
            self._nested -= 1

    def _overlapped(self, work: Effect, holder: Obj, at: f.Node, frame: Frame) -> Effect:
        """Work that began before other work was waited for runs on meanwhile: only what it takes longer counts."""
        known = worst(work).known
        before = self._joined
        here = holder.frame is not None and holder.frame.fn is frame.fn and isinstance(holder.node, f.Node)
        if before is None or (here and holder.node.at > before[1]):
            self._joined = (known, at.at)
            return work
        longest, where = before
        self._joined = (max(longest, known), where)
        if known <= longest:
            return Seq(tuple(Open(why) for why in sorted(worst(work).open)))
        more = known - longest
        return Wait(more, _term(more, "the rest", (frame.fn, at)))

    def _awaited(self, target: Target, site: CallSite, frame: Frame) -> Effect | None:
        """The work that a call waits for, where it is known what started it."""
        if target.holder is None or (target.entry is not None and target.entry.queue is not None):
            return None
        work = self._behind(target.holder)
        return work if work is not None else self._grouped(target.holder, site, frame)

    def _grouped(self, group: Obj, site: CallSite, frame: Frame) -> Effect | None:
        """What a function has started in a group before it waits for all of it."""
        name = dotted(site.call.fn).rpartition(".")[0]
        parts: list[Effect] = []
        for other in frame.fn.body.calls if name else ():
            if other.call.at >= site.call.at:
                break
            if other.how == "go":
                for flow in self.resolver.ask(other.call.fn, frame):
                    thing = flow.thing
                    if isinstance(thing, FnVal) and f"{name}.Done" in thing.fn.head.calls:
                        binds = self.resolver.binds(other.call, frame)
                        parts.append(self._function(self.resolver.enter(thing, other.call, frame, binds), {}))
            elif dotted(other.call.fn).rpartition(".")[0] == name:
                for started, entry in self.program.described(other, spawning):
                    if entry.spawn is not None and not entry.spawn.joins:
                        work = self._work(entry.spawn, started.binds, other.call, started.holder)
                        parts.append(work if work is not None else Open("code"))
        return Par(tuple(parts)) if parts else None

    # ------------------------------------------------------------ waits

    def _wait(self, target: Target, entry: CallEntry, site: CallSite, frame: Frame) -> Effect:
        if self._still and entry.does == "sleep":
            return NOTHING
        seconds, amount, sure = self._bound(target, entry, site, frame)
        name = short(target.name)
        for limit in self._deadlines(target, entry):
            if seconds is None or limit is None or limit < seconds:
                seconds, amount = limit, say_seconds(limit) if limit is not None else ""
        if entry.does == "wait":
            work = self._awaited(target, site, frame)
            if work is not None and target.holder is not None:
                if seconds is None and all(row.arg is None and row.pos is None for row in entry.bounds):
                    seconds = inf  # Nobody can write a bound: it takes as long as what it waits for.
                scope = Scope(seconds, work, _term(seconds, name, (frame.fn, site.call))._replace(confidence=sure))
                return self._overlapped(scope, target.holder, site.call, frame)
        unread = Term(0.0, "", name, (frame.fn, site.call), sure)
        if seconds == inf and entry.does == "wait":
            return Open("wait", unread)
        if seconds is None:
            endless = any(w.bound == inf for w in self._known(site)) and entry.does != "wait"
            return Wait(inf, Term(inf, "", name, (frame.fn, site.call))) if endless else Open("length", unread)
        return Wait(seconds, Term(seconds, amount, name, (frame.fn, site.call), sure))

    def _known(self, site: CallSite) -> list[Waiting]:
        waits = self._waiting.get(site.fn)
        if waits is None:
            waits = self._waiting[site.fn] = {}
            for wait in waits_in(self.program, site.fn, "network", "query", "connect"):
                waits.setdefault(id(wait.site.call), []).append(wait)
        return waits.get(id(site.call), [])

    def _deadlines(self, target: Target, entry: CallEntry) -> Iterator[float | None]:
        """What the context given to a call leaves of its time; `None`: it ends, but not known when."""
        binds = target.binds
        found = []
        if entry.context is not None and 0 <= entry.context < len(binds):
            bind = binds[entry.context]
            found = self.program.deadlines.of(bind.expr, bind.frame)
            if _may_be_another(found) and not self._is_lifetime(bind):
                yield None
        elif self._sends_request(target, entry) and binds[entry.request or 0].frame.fn.module.language == "go":
            bind = binds[entry.request or 0]
            flows = self.resolver.ask(bind.expr, bind.frame)
            found = self.program.deadlines.of_request(flows)
            contexts = self.program.deadlines.contexts_of(flows)
            if _may_be_another(found) and not all(c and self._is_lifetime(c) for c in contexts):
                yield None
        if found and all(d.kind == "bounded" for d in found):
            numbers = [d.number for d in found if d.number is not None]
            yield max(numbers) if len(numbers) == len(found) else None

    def _is_lifetime(self, bind: Bind) -> bool:
        """Whether a context of unknown origin is the function's own, its receiver's, or that of the request it serves, and did not
        come with an item of work: it has no deadline but those that stand above the function."""
        expr, frame = bind.expr, bind.frame
        for _ in range(_HOPS):
            if isinstance(expr, f.Call) and self._asks_request(expr, frame):
                expr = f.Ref(expr.at, expr.at, dotted(expr.fn).partition(".")[0])
            if not isinstance(expr, f.Ref):
                return False
            head, _, rest = expr.name.partition(".")
            param = frame.fn.params.get(head)
            found = frame.fn.body.reaching(head, expr.at)[0] if not rest else []
            if len(found) == 1 and found[0].kind == "value" and isinstance(found[0].expr, f.Ref | f.Call):
                expr = found[0].expr
                continue
            if param is None or any(d.kind != "param" for d in found):
                return False
            if rest:
                return param.kind == "self" and "." not in rest
            if frame.args is None or frame.caller is None:
                return True
            position = frame.fn.positional.index(param) if param in frame.fn.positional else -1
            if not 0 <= position < len(frame.args):
                return True
            expr, frame = frame.args[position].expr, frame.args[position].frame
        return False

    def _asks_request(self, call: f.Call, frame: Frame) -> bool:
        """Whether a call asks a parameter, by its written type, for the context of the request that it is."""
        head, _, method = dotted(call.fn).partition(".")
        param = frame.fn.params.get(head) if method and not call.args else None
        kind = self.resolver.resolve_type(param.type, frame.fn) if param is not None and param.type is not None else None
        entry = self.resolver.table(frame.fn.module).call(f"{kind}.{method}") if isinstance(kind, str) and kind else None
        return entry is not None and entry.makes is not None and entry.makes.kind == "request"

    def _bound(self, target: Target, entry: CallEntry, site: CallSite, frame: Frame) -> tuple[float | None, str, Confidence]:
        """How long a call may wait by its own bounds and its object's: seconds, as written in a sum, and how sure."""
        slots = self.program.slots
        # What knowledge says is enough bounds it whatever its name: a statement on a file waits for the file's lock alone.
        other = tuple(slot for slot in entry.enough if slot not in _SLOTS)
        wanted = _SLOTS.union(other)
        sources = slots.at_call([b for b in entry.bounds if b.slot in wanted], target.binds, (frame.fn, site.call))
        if self._sends_request(target, entry):
            sources.extend(self._of_request(target.binds[entry.request or 0]))
        holder = target.holder
        shared = self.resolver.table(frame.fn.module).instance(entry.holder) if entry.holder is not None else None
        if holder is None and shared is not None and entry.holder is not None:
            holder = Obj("instance", shared.name, None, entry.holder, entry.holder)
        if holder is not None:
            if slots.escaped(holder):
                return None, "", Confidence.LOW
            sources = [*sources, *slots.of_object(holder, wanted)]
        decided = decide(sources)
        sure = Confidence.HIGH
        if any(slot.flow is None and slot.state == "finite" for source in decided for slot in source.slots):
            sure = Confidence.MEDIUM
        cap = self.resolver.table(frame.fn.module).cap(entry)
        sure = min(sure, cap) if cap is not None else sure
        pool = self._whole(decided, ("pool_wait",))
        pools = [pool] if pool is not None and 0 < pool < inf else []
        ends = _WHOLE[entry.does]
        if entry.does == "wait" and entry.enough:
            # The limit of a client is one of its calls, not of what it waits for between them.
            ends = tuple(slot for slot in ends if slot in entry.enough)
        whole = self._whole(decided, (*ends, *other))
        if whole is not None and whole < inf and entry.does == "network":
            return whole, say_seconds(whole), sure
        if whole is None or whole == inf:
            silence = self._whole(decided, _SILENCE)
            if silence is None or silence == inf or entry.does in ("wait", "sleep"):
                return (inf if silence == inf and whole == inf else None), "", sure
            connect = self._whole(decided, ("connect",)) if entry.does == "network" else None
            phases = [*pools, *([connect] if connect is not None and 0 < connect < inf else []), silence]
            return sum(phases), _amount(phases), sure
        phases = [*pools, whole] if entry.does == "query" else [whole]
        return sum(phases), _amount(phases), sure

    @staticmethod
    def _sends_request(target: Target, entry: CallEntry) -> bool:
        return entry.request is not None and 0 <= entry.request < len(target.binds)

    def _of_request(self, bind: Bind) -> Iterator[Source]:
        """What a request object says of the time that sending it may take."""
        if bind.frame.fn.module.language == "go":
            return
        for flow in self.resolver.ask(bind.expr, bind.frame):
            if isinstance(flow.thing, Obj):
                yield from self.program.slots.of_object(flow.thing, _SLOTS)

    @staticmethod
    def _whole(decided: list[Source], wanted: tuple[str, ...]) -> float | None:
        """The smallest bound among slots, each at its largest: `inf` where none is set, `None` where one is that cannot be read."""
        best = inf
        for source in decided:
            if source.bound.slot not in wanted or not source.slots:
                continue
            states = [s for s in source.slots if not (s.flow is not None and isinstance(s.flow.thing, Env))] or list(source.slots)
            if any(s.state in ("absent", "disabled") for s in states):
                continue
            numbers = [
                s.number for s in states if s.state == "finite" and not s.mismatch and s.number is not None and s.number >= 0
            ]
            if len(numbers) < len(states):
                return None
            best = min(best, max(numbers))
        return best


@contextmanager
def room() -> Iterator[None]:
    """Code may be nested deeper than Python's own calls may be by default."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _may_be_another(found: Iterable[Deadline]) -> bool:
    """Whether a context may be one of which nothing is known, where else it is that of a request, which has no deadline."""
    kinds = {deadline.kind for deadline in found}
    return "unknown" in kinds and kinds <= {"unknown", "request"}


def _amount(phases: list[float]) -> str:
    """`1 + 3 s`, or `50 ms + 3 s` where the units differ."""
    texts = [say_seconds(phase) for phase in phases]
    units = {text.rpartition(" ")[2] for text in texts}
    if len(units) == 1 and len(texts) > 1:
        return " + ".join(text.rpartition(" ")[0] for text in texts) + " " + units.pop()
    return " + ".join(texts)


def _term(seconds: float | None, name: str, where: Any) -> Term:
    known = seconds is not None and seconds < inf
    return Term(seconds or 0.0, say_seconds(seconds) if known and seconds is not None else "", name, where)


def received(op: f.Stmt | None) -> f.Expr | None:
    """The channel that a case of a select receives from."""
    if op is None or isinstance(op, f.Send):
        return None
    return next((node.value for node in walk(op) if isinstance(node, f.Recv)), None)


def _ends_early(loop: f.Loop) -> bool:
    """Whether a loop may be left before its last round."""
    inner = [n for n in walk_block(loop.body) if isinstance(n, f.Loop)]
    return any(
        isinstance(node, f.Return | f.Raise)
        or (
            isinstance(node, f.Jump)
            and node.kind == "break"
            # Whoever breaks off a loop inside goes on with the next round of this one.
            and (node.label is not None or not any(one.at <= node.at < one.end for one in inner))
        )
        for node in walk_block(loop.body)
    )


def _inside(node: Any) -> Iterator[Any]:
    """The expressions directly inside an expression, through its arguments and elements."""
    for child in children(node):
        if isinstance(child, f.Arg | f.Pair):
            yield child.value
        elif isinstance(child, f.Gen | f.Type):
            continue
        else:
            yield child
