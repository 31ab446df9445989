"""Loops that try again: which failure leads to the next pass, what ends them, how long they pause.

A retry repeats an operation because it failed, and its success leaves. That is found by walking one pass of a loop twice, once
where the operation succeeds and once where it fails, whatever the operation is: nothing of a library is known here. A loop that
goes round after success too (a poll, a consumer, a watch) is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from math import inf
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.lists import Words
from resilint.flow.lists import heads as heads_of
from resilint.flow.passes import BAD, ERROR_NAME, GOOD, NESTED, NIL, STATUS, Known, Pass, Point, goes_again, names_it
from resilint.flow.pauses import Pause, Pauses, together
from resilint.flow.values import Frame, Num
from resilint.link.code import Arm, CallSite, Fun, Module, conjuncts, dotted, last_name, walk, walk_block
from resilint.link.code import leaves as always_leaves
from resilint.link.looks import any_of

if TYPE_CHECKING:
    from resilint.flow.retry_faults import RetryFaults
    from resilint.flow.timeouts import Fault
    from resilint.program import Program

_LOOPS = any_of(b"\xa4ever", b"\xa5while", b"\xa5count")
"""Forms of loops that need not end by themselves, as encoded."""
_EACH = any_of(b"\xa4each")
_RESULTS = any_of(b"tatus", b"code", b"Code", b".ok", b"uccess", b"fail", b"Fail", b"rror")
"""Parts of names that tell how something went, large and small."""
_TRY = any_of(b"\x97\x31")
"""How a try statement begins, as encoded: seven fields, the first its tag."""
_ENDLESS = frozenset({"count", "cycle", "repeat"})
"""Iterators without an end."""
_TURNS = frozenset({"range", "xrange"})
_MOST_TRIES = 100_000
_COUNTS_TRIES = re.compile(r"attempt|retr(y|ies)|tries|trial|turn|round|count|^_$|^[a-z]$", re.IGNORECASE)
_ACTS = re.compile(
    r"_*(try_?|do_?)?(send|post|publish|connect|reconnect|dial|invoke|request|submit|deliver|upload|download|register|login|authenticate|"
    r"notify|transfer|replicate|charge|forward|fetch|ping|rpc|upsert|sync_to|push_to|write_to)(?![a-z])",
    re.IGNORECASE,
)
"""Verbs of methods whose false result is a failure of a peer; that of a question (`is_ready`, `exists`, `poll`) is an answer."""
CLOCK = re.compile(
    r"time|clock|elapsed|deadline|expir|remain|since|until|now|before|after|nano|milli|budget|patience", re.IGNORECASE
)
_LIMITS = re.compile(
    r"retr(y|ies)(?!able|iable)|attempt|tries|backoff|back_off|max|limit|exhaust|give_?up|budget|should|can_|allow|policy|remaining|count",
    re.IGNORECASE,
)
STOPS = re.compile(
    r"run(ning)?$|stop|clos(e|ed|ing)|alive|shut|terminat|done|is_?set$|exit|quit|cancel|interrupt|active|enabled|abort|finish|kill|disposed|"
    r"destroy|started|live|keep_?(loop|go|run)",
    re.IGNORECASE,
)
"""Tests that ask whether to go on at all: they end a loop at shutdown, and are no cap."""
_CONTEXT = re.compile(r"(^|\.|_)\w*(ctx|context)(\.|$)", re.IGNORECASE)
"""A context ends what runs under it, by its deadline too."""
SAYS = re.compile(
    r"(?:^|\.)_*((slog|klog|zap|trace|debug|info|warn(ing)?|error|exception|fatal|print|metrics?|stats|span)(f|w|s|ln|ctx|context)?(?![a-z])"
    r"|log(?!in|out|ical|o)\w*)(?<!errors)",
    re.IGNORECASE,
)
"""Calls that only say something, or count it."""


_ITERATES = re.compile(r"len|size|length|count|has_?(next|more).*|is_?empty|.*_?left|next(_?line)?|scan", re.IGNORECASE)
"""Calls in the test of a loop over the elements of something."""
_ASKS = re.compile(
    r"input|raw_?input|getpass|prompt(_?for.*)?|read_?line|next_?(line|int|double)|read_?password|ask(_.*)?|confirm"
    r"|(get|read)_?(key|w?ch|key_?(press|stroke))",
    re.IGNORECASE,
)
"""Calls that ask a person, who may answer as often as they like."""
STANDS = re.compile(
    r"_*(wait|await|recv|receive|accept|poll|take|get|join|read|select|acquire|lock|try_?(lock|acquire)|sleep|pause|park|dequeue|pop|"
    r"next)(?![a-z])",
    re.IGNORECASE,
)
"""Calls that stand still until something comes, so that what runs out there has paced the loop already."""
_LOOKS = re.compile(r"(?:is|has|can)[A-Z_]\w*|get_?env|get_?property|get_?or_?default|(?:string_?)?format|value_?of", re.IGNORECASE)
"""Calls that tell something of their own process; `isRunning` is none by which to name what is tried."""
_SLEEPS = re.compile(r"_*(sleep|pause|back_?off|wait_?before|delay)", re.IGNORECASE)
_CONTENDS = re.compile(
    r"lock(ed)?(error|exception|timeout.*)?$|already|exists|conflict|duplicate|in_?use|stale|optimistic|concurrent", re.IGNORECASE
)
"""Classes of errors that tell of another writer, not of a peer that fails."""
_DROPS = re.compile(r"remove|exclude|black_?list|deny_?list|quarantine|discard|forget|evict|retain", re.IGNORECASE)
_OTHERS = re.compile(
    r"next|choose|pick|rotate|fail_?over|switch|select|round_?robin|skip|seek|advance|mark|pop|poll(_?first)?|random|mk_?s?temp|uuid|unique|"
    r"generate|new_?(id|name|key)",
    re.IGNORECASE,
)
_PICKS = re.compile(r"next|choose|pick|rotate|fail_?over|round_?robin|pop|poll(_?first)?$|choice", re.IGNORECASE)
_DRAWS = re.compile(
    r"_*(random\w*|unique\w*|(generate|make|new|create)_\w*(id|key|token|name|string|slug|code)|token_(hex|urlsafe))", re.IGNORECASE
)
"""Calls that draw something which may be taken already; what marks a request is only drawn to tell it from others."""
_MARKS = re.compile(r"request|trace|span|correlat|idempot|message|session", re.IGNORECASE)
_TAKES = re.compile(r"_*(?:b?[lr]?_?pop|b?[lr]_?move|de_?queue|take)", re.IGNORECASE)
"""Calls that take one out of what waits."""
_STEPS = re.compile(r"(?:move_?)?next(?:_?\w+)?|advance|step", re.IGNORECASE)
_ITERATOR = re.compile(
    r"it|itr|_*\w*(?:iter|iterator|cursor|rows|scanner|reader|stream|walker|parser|decoder|tokenizer|lexer)\d*", re.IGNORECASE
)
"""Names of what gives one element after the other, until there are no more."""
_MISSING = re.compile(r"not_?found|not_?exist|no_?such|missing|undefined", re.IGNORECASE)
_REMEDIES = re.compile(r"_*(?:pull|create|download|load|make|declare|install|insert|register|provision|ensure)", re.IGNORECASE)
"""Calls that make or fetch what was missing."""
_PUTS_IN = frozenset({"append", "add", "insert", "appendleft", "push"})
_LEFT_OUT = re.compile(r"dead|bad|failed|ignore|exclu|tried|skip|visited|seen|black|down|quarantin", re.IGNORECASE)
_HANDLES = re.compile(
    r"handle|check|throw|raise|fail|process|on_?(err|exc|fail)|rethrow|propagate|translate|verify|ensure|assert", re.IGNORECASE
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
    window: float | None = None
    """Seconds after which it gives up, where a clock that can be read ends it."""
    caps: tuple[f.Expr, ...] = ()
    """Tests that end it after some tries or some time."""
    stops: tuple[f.Expr, ...] = ()
    """Tests that end it at shutdown or cancellation, which is no cap."""
    path: tuple[f.Stmt, ...] = ()
    """Statements passed between a failure and the next try."""
    counted: tuple[Cap, ...] = ()
    kinds: tuple[str, ...] = ()
    """Classes of the errors that are caught, as written."""
    calls: tuple[f.Call, ...] = ()
    """What the operation calls, outermost first."""
    moves: str = ""
    """Each try goes to `another` peer or element than the one before; or is `finite`, since what failed is left out then on."""
    count: Callable[[], float | None] = lambda: inf
    measure: Callable[[], tuple[Pause, ...]] = tuple
    """Both are dear, and asked for only where a loop matters."""

    @cached_property
    def tries(self) -> float | None:
        """How often at most, the first try included: `inf` where nothing ends it, `None` where that is not known."""
        return self.count()

    @cached_property
    def pauses(self) -> tuple[Pause, ...]:
        """What stands between two tries, one by one."""
        return self.measure()

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


class Retries:
    """Finds the retries of a program. Answers are remembered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.pauses = Pauses(program)
        self._of: dict[Fun, tuple[RetryLoop, ...]] = {}
        self._circling: dict[Fun, list[list[tuple[RetryLoop, Pass]]]] = {}
        """Loops that go round after success too: their failing ways, each with that of success."""

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

    def hasty_polls(self, fn: Fun, matters: Callable[[RetryLoop], bool]) -> Iterator[RetryLoop]:
        """Loops that pause between their rounds, but not where a round has failed; whether it matters is asked first."""
        self.of(fn)
        for ways in self._circling.get(fn, ()):
            if any(matters(retry) for retry, _ in ways):
                hasty = next((retry for retry, good in ways if self._hurries(retry, good)), None)
                if hasty is not None and matters(hasty):
                    yield hasty

    def all(self) -> Iterator[RetryLoop]:
        """Every retry of the program outside of tests."""
        for fn in self.program.starts():
            if not fn.module.is_test:
                yield from self.of(fn)

    def polls(self, matters: Callable[[RetryLoop], bool]) -> Iterator[RetryLoop]:
        """Every hasty poll of the program that matters, outside of tests."""
        for fn in self.program.starts():
            if not fn.module.is_test:
                yield from self.hasty_polls(fn, matters)

    def tries(self, retry: RetryLoop, frame: Frame) -> float | None:
        """How often a retry tries at most where its function runs in this frame: `inf` where nothing ends it, `None` if unknown."""
        found = self._length(retry.node, frame) if isinstance(retry.node, f.Loop) else None
        numbers = [n for n in (found, *(self._counted(retry, cap, frame) for cap in retry.counted)) if n is not None]
        if numbers:
            return min(numbers)
        return None if retry.caps else inf

    def last_caps(self, retry: RetryLoop, tries: float, frame: Frame) -> tuple[Cap, ...]:
        """Tests inside the loop that end it in the pass of its last try."""
        assert isinstance(retry.node, f.Loop)
        head = retry.node.test
        inside = (cap for cap in retry.counted if head is None or not _within(cap.test, head))
        return tuple(cap for cap in inside if self._counted(retry, cap, frame) == tries)

    # ------------------------------------------------------------ finding

    @staticmethod
    def _may_retry(fn: Fun) -> bool:
        """Whether a body may hold a retry, by its encoded bytes and its header: decoding comes later."""
        calls = fn.head.calls
        if not calls:
            return False
        loops = fn.says(_LOOPS)
        go = fn.module.language == "go"
        if not loops and not fn.says(_EACH):
            return (go or fn.says(_TRY)) and _calls_itself(fn)
        if not loops:
            loops = any(_counts_or_stands(call.rpartition(".")[2]) for call in calls)
        if loops and (go or fn.says(_TRY) or fn.says(_RESULTS)):
            return True
        return (loops and any(_acts(call.rpartition(".")[2]) for call in calls)) or _calls_itself(fn)

    def _only_asks(self, name: str, fn: Fun) -> bool:
        """Whether a function of the same file does nothing but ask a person, as wrappers for tests do."""
        own = (other for other in fn.module.functions if other.name == name)
        return any(
            len(other.head.calls) == 1 and _ASKS.fullmatch(other.head.calls[0].rpartition(".")[2]) is not None for other in own
        )

    def _find(self, fn: Fun) -> Iterator[RetryLoop]:
        askers = {
            name
            for call in fn.head.calls
            if (name := call.rpartition(".")[2]) and (_ASKS.fullmatch(name) or self._only_asks(name, fn))
        }
        for loop in _loops(fn.block):
            if (loop.form == "each" and not self._turns(loop, fn.module)) or self._iterates(loop):
                continue
            points = list(self._points(fn, loop))
            if not points or (askers and _asks(loop, askers)):
                continue
            retry = self._judge(fn, loop, points)
            if retry is not None:
                yield retry
        if _calls_itself(fn):
            yield from self._recursions(fn)

    # ------------------------------------------------------------ functions that call themselves

    def _recursions(self, fn: Fun) -> Iterator[RetryLoop]:
        """Calls by which a function enters itself again where something in it has failed, with what it was given."""
        for site in fn.body.calls:
            if site.last != fn.name or site.how or site.loop is not None:
                continue
            for arm in reversed(site.arm.chain()):
                if arm.kind == "handler" and isinstance(arm.node, f.Try):
                    handler = next((h for h in arm.node.handlers if h.at <= site.call.at < h.end), None)
                    if handler is not None and not self._is_no_failure(handler, fn) and self._enters(site, fn):
                        calls = tuple(c for c in calls_of(arm.node.body) if c is not site.call)
                        kinds = tuple(last_name(k) for k in handler.types)
                        failed = f.Ref(handler.at, handler.end, "")
                        yield from self._entered_again(fn, site, calls, failed, handler.body, kinds, handler.name or "")
                    break
                error = self._error_test(arm.node, fn) if arm.kind in ("then", "else") else None
                if error is not None and isinstance(arm.node, f.If):
                    if not self._enters(site, fn):
                        break
                    block = arm.node.then if arm.kind == "then" else arm.node.orelse
                    yield from self._entered_again(fn, site, (error,), arm.node.test, block, (), "err")
                    break

    def _enters(self, site: CallSite, fn: Fun) -> bool:
        return fn in self.program.callees(site)

    def _error_test(self, node: f.Node, fn: Fun) -> f.Call | None:
        """The call whose error is tested: `if err != nil` behind `err := f()`."""
        if not isinstance(node, f.If) or fn.module.language != "go":
            return None
        names = {n.name for n in walk(node.test) if isinstance(n, f.Ref) and ERROR_NAME.fullmatch(n.name)}
        for name in sorted(names):
            for d in fn.body.reaching(name, node.test.at)[0][:1]:
                if isinstance(d.expr, f.Call):
                    return d.expr
        return None

    def _entered_again(
        self, fn: Fun, site: CallSite, calls: tuple[f.Call, ...], failed: f.Node, block: f.Block, kinds: tuple[str, ...], error: str
    ) -> Iterator[RetryLoop]:
        changed: set[str] = set()
        positional = fn.positional
        for position, arg in enumerate(site.call.args):
            param = arg.name or (positional[position].name if position < len(positional) else "")
            if isinstance(arg.value, f.Ref) and arg.value.name.rpartition(".")[2] == param:
                continue
            if not param or not names_it(arg.value, param):
                return  # Something else is done there, or it is told to try no more.
            changed.add(param)
        if not calls:
            return
        path = tuple(stmt for stmt in block if stmt.at <= site.call.at)
        retry = RetryLoop(fn, site.call, _told(calls), failed, path=path, kinds=kinds, calls=calls)
        once = _enters_once(site, path) or self._unmakes(fn, site.arm.chain(), path, fields=True) or _leaves_out(path, calls, fn)
        retry.moves = "finite" if _is_remedied(kinds, path) or once else ""
        tests = [s.test for s, _ in fn.body.stmts if isinstance(s, f.If)]
        counters = changed | {
            name for name, defs in fn.body.definitions.items() for d in defs if d.kind == "aug" or names_it(d.expr, name)
        }
        for test in tests:
            words = [n.name for n in walk(test) if isinstance(n, f.Ref)]
            words += [last_name(n.fn) for n in walk(test) if isinstance(n, f.Call)]
            if any(w in counters or CLOCK.search(w) or _LIMITS.search(w) for w in words if w):
                retry.caps = (*retry.caps, test)
            elif any(STOPS.search(w) for w in words if w):
                retry.stops = (*retry.stops, test)
        steps = [n for stmt in path for n in walk(stmt) if isinstance(n, f.Call) and n is not site.call]
        retry.caps += tuple(c for c in steps if self._may_end(c, fn, {error, *counters} - {""}))
        retry.measure = lambda: tuple(
            p._replace(seconds=None, grows=True) if p.varying & changed else p
            for p in self.pauses.on(fn, None, path)
            if p.node is not site.call
        )
        tries = None if retry.caps else inf
        retry.count = lambda: tries
        yield retry

    # ------------------------------------------------------------ which loops

    def _turns(self, loop: f.Loop, module: Module) -> bool:
        """Whether a loop over something only counts its passes: over a range, or pauses that nothing but the pause uses."""
        it = loop.iter
        if isinstance(it, f.Call) and last_name(it.fn) in (*_TURNS, *_ENDLESS):
            return True
        if module.language == "go":
            return isinstance(it, f.Lit) or (loop.target is not None and self._only_paces(loop))
        if module.language != "python" or loop.target is None or not any(isinstance(stmt, f.Try) for stmt in loop.body):
            return False
        return not self._is_used(loop)

    @staticmethod
    def _only_paces(loop: f.Loop) -> bool:
        """Whether the elements that a loop is over stand nowhere but in what sleeps."""
        names = {n.name for n in walk(loop.target) if isinstance(n, f.Ref)} if loop.target is not None else set()
        nodes = list(walk_block(loop.body))
        sleeps = [(n.at, n.end) for n in nodes if isinstance(n, f.Call) and _SLEEPS.match(last_name(n.fn))]
        uses = [n.at for n in nodes if isinstance(n, f.Ref) and n.name.partition(".")[0] in names]
        return bool(uses) and all(any(at <= use < end for at, end in sleeps) for use in uses)

    @staticmethod
    def _is_used(loop: f.Loop) -> bool:
        """Whether the elements that a loop is over are used for more than to pause."""
        names = {n.name for n in walk(loop.target) if isinstance(n, f.Ref)}
        paused = -1
        for node in walk_block(loop.body):
            if isinstance(node, f.Call) and (_stands(last_name(node.fn)) or _says(dotted(node.fn))):
                paused = max(paused, node.end)
            elif isinstance(node, f.Ref) and node.at >= paused and node.name.partition(".")[0] in names:
                return True
        return paused < 0

    @staticmethod
    def _iterates(loop: f.Loop) -> bool:
        """Whether a loop's test asks for the elements of something: it goes on to the next one, and tries nothing twice."""
        if loop.test is None:
            return False
        for node in walk(loop.test):
            name = (
                last_name(node.fn) if isinstance(node, f.Call) else node.name.rpartition(".")[2] if isinstance(node, f.Ref) else ""
            )
            if isinstance(node, f.Call) and _ITERATES.fullmatch(name):
                return True
            if (isinstance(node, f.Ref) and "." in node.name and name in ("length", "size")) or (
                isinstance(node, f.Field) and node.name in ("length", "size")
            ):
                return True
        return False

    # ------------------------------------------------------------ points

    def _points(self, fn: Fun, loop: f.Loop) -> Iterator[Point]:
        """Places of a loop's own passes, those of inner loops left out, where a failure may be told."""
        go = fn.module.language == "go"
        test = loop.test
        calls: dict[str, tuple[f.Assign, f.Call]] = {}
        for stmt in _own(loop.body):
            if isinstance(stmt, f.Try):
                for handler in stmt.handlers:
                    calls_in = list(calls_of(stmt.body))
                    if calls_in:
                        yield Point(stmt, calls_in[0], f.Ref(handler.at, handler.end, ""), handler)
            elif isinstance(stmt, f.Assign):
                value = stmt.value
                while isinstance(value, f.Await | f.Cast):
                    value = value.value
                if not isinstance(value, f.Call) or stmt.op:
                    continue
                target = stmt.targets[0]
                for pair in target.items[:-1] if go and isinstance(target, f.Coll) else ():
                    calls[dotted(pair.value)] = (stmt, value)
                if go:
                    name = dotted(target.items[-1].value) if isinstance(target, f.Coll) and target.items else dotted(target)
                    if ERROR_NAME.fullmatch(name):
                        if not _goes_down(name, value, loop):
                            yield Point(stmt, value, stmt, error=name)
                        continue
                if dotted(target):
                    calls[dotted(target)] = (stmt, value)
                elif isinstance(target, f.Coll) and target.items and dotted(target.items[-1].value) == "ok":
                    calls["ok"] = (stmt, value)
            elif isinstance(stmt, f.If):
                yield from self._tested(stmt, stmt.test, calls)
            elif isinstance(stmt, f.Switch) and stmt.subject is not None:
                yield from self._tested(stmt, stmt.subject, calls)
        if test is not None:
            yield from self._tested(f.Do(test.at, test.end, test), test, calls)

    def _tested(self, stmt: f.Stmt, test: f.Expr, calls: dict[str, tuple[f.Assign, f.Call]]) -> Iterator[Point]:
        """Tests of the result of a call that can only mean that it failed: a status, an error, false where something was to be
        done."""
        for node in walk(test):
            if isinstance(node, f.Bin) and node.op in ("==", "!=") and isinstance(node.right, f.Lit) and node.right.value is None:
                call = node.left.value if isinstance(node.left, f.Await) else node.left
                if isinstance(call, f.Call) and _acts(last_name(call.fn)):
                    yield Point(stmt, call, node, error="<direct>", call=call)
            elif isinstance(node, f.Ref | f.Call):
                name = dotted(node.fn) if isinstance(node, f.Call) else node.name
                base, _, last = name.rpartition(".")
                if base in calls and (STATUS.fullmatch(last) or GOOD.fullmatch(last) or BAD.fullmatch(last)):
                    made, call = calls[base]
                    yield Point(made, call, node, call=call, result=f"status:{base}")
                elif isinstance(node, f.Ref) and name in calls and _is_atom(node, test):
                    made, call = calls[name]
                    if _acts(last_name(call.fn)):
                        yield Point(made, call, node, call=call, result=f"bool:{name}")
                elif isinstance(node, f.Call) and _is_atom(node, test) and _acts(last_name(node.fn)):
                    yield Point(stmt, node, node, call=node)

    # ------------------------------------------------------------ judging

    @staticmethod
    def _follows(point: Point, loop: f.Loop) -> bool:
        """Whether a status is asked only for whether the answer leads elsewhere: a redirect is followed, nothing is tried again."""
        if not point.result.startswith("status:"):
            return False
        for node in walk_block(loop.body):
            if isinstance(node, f.Bin) and node.op in ("==", "!=") and node.at <= point.failed.at < node.end:
                other = node.right.value if isinstance(node.right, f.Lit) else None
                return other in (301, 302, 303, 307, 308)
        return False

    def _judge(self, fn: Fun, loop: f.Loop, points: list[Point]) -> RetryLoop | None:
        found: RetryLoop | None = None
        circling: list[tuple[RetryLoop, Pass]] = []
        before = self._before(fn, loop)
        for point in points:
            if point.handler is not None and (
                self._is_no_failure(point.handler, fn) or self._leads_to_none(point.handler, point.node, loop, fn)
            ):
                continue
            if self._follows(point, loop):
                continue
            good = Pass(fn, loop, point, False, dict(before))
            out = good.block(loop.body)
            polls = goes_again(out, loop) and self._over(good, loop) is not True
            if polls and (loop.form == "each" or found is not None or not self._may_hurry(loop, point)):
                continue
            bad = Pass(fn, loop, point, True, dict(before))
            out = bad.block(loop.body)
            if not goes_again(out, loop) or self._over(bad, loop) is True:
                continue
            if loop.form == "each" and self._uses_element(loop, point, fn):
                continue
            if self._only_contends(bad, point):
                continue
            retry = self._made(fn, loop, point, bad)
            if polls:
                circling.append((retry, good))
            elif found is None or (retry.tries == inf and found.tries != inf):
                found = retry
        if found is None and circling:
            self._circling.setdefault(fn, []).append(circling)
        return found

    @staticmethod
    def _may_hurry(loop: f.Loop, point: Point) -> bool:
        """Whether a loop that goes round in any case may pause on success and not on failure: it has a jump between them."""
        return point.call is None and any(
            isinstance(n, f.Jump) and n.kind == "continue" for stmt in loop.body for n in walk(stmt) if not isinstance(stmt, f.Loop)
        )

    def _hurries(self, retry: RetryLoop, good: Pass) -> bool:
        """Whether the way of success has a pause that can be seen, and the failing one has none."""
        if retry.pauses:
            return False
        return any(p.seconds is not None and p.seconds > 0 for p in self.pauses.on(retry.fn, good.loop, good.passed))

    def _over(self, way: Pass, loop: f.Loop) -> bool | None:
        """Whether the loop's own test ends it after a pass."""
        if loop.test is None or loop.form == "ever":
            return False
        truth = way.truth(loop.test)
        return None if truth is None else not truth

    def _before(self, fn: Fun, loop: f.Loop) -> dict[str, Known]:
        """Flags that a loop tests or sets, as they stand before it."""
        known: dict[str, Known] = {}
        for stmt in fn.block if any(s is loop for s in fn.block) else _before(fn.block, loop):
            if stmt is loop:
                break
            if isinstance(stmt, f.Assign) and len(stmt.targets) == 1 and dotted(stmt.targets[0]):
                value = stmt.value
                if value is None:
                    known[dotted(stmt.targets[0])] = NIL
                elif isinstance(value, f.Lit) and not stmt.op and isinstance(value.value, bool | str | None):
                    known[dotted(stmt.targets[0])] = Known("lit", value.value)
                else:
                    known.pop(dotted(stmt.targets[0]), None)
        return known

    def _is_no_failure(self, handler: f.Handler, fn: Fun) -> bool:
        """Whether what is caught only says that the work is to end, that there is nothing yet, or that a value is wrong."""
        if not handler.types:
            return False
        kinds = [last_name(kind) for kind in handler.types]
        return all(kind in self._no_failures or _CONTENDS.search(kind) for kind in kinds)

    def _leads_to_none(self, handler: f.Handler, inner: f.Stmt, loop: f.Loop, fn: Fun) -> bool:
        """Whether a handler raises again, and of those around it only such go on as catch what is no failure."""
        if not handler.body or not isinstance(handler.body[-1], f.Raise):
            return False
        around = [s for s in _own(loop.body) if isinstance(s, f.Try) and s is not inner and _within(inner, s)]
        catching = [h for s in around if s.body and s.body[0].at <= inner.at < s.body[-1].end for h in s.handlers]
        return bool(catching) and all(self._is_no_failure(h, fn) for h in catching)

    @staticmethod
    def _only_contends(bad: Pass, point: Point) -> bool:
        """Whether a loop is left with any error but one that tells of another writer, by a test of Go: `!IsErrNameExists(err)`."""
        for test, leaves in bad.exits:
            negated = isinstance(test, f.Un) and test.op == "not"
            call = test.value if isinstance(test, f.Un) and negated else test
            if not isinstance(call, f.Call) or negated is not leaves:
                continue
            given = [dotted(arg.value) for arg in call.args]
            if point.error and point.error in given:
                told = (last_name(call.fn), *(name.rpartition(".")[2] for name in given if name != point.error))
                if any(_CONTENDS.search(name) for name in told):
                    return True
        return False

    def _uses_element(self, loop: f.Loop, point: Point, fn: Fun) -> bool:
        """Whether what is tried is another thing on each pass: the next host, the next port."""
        names = {dotted(n) for n in walk(loop.target) if isinstance(n, f.Ref)} if loop.target is not None else set()
        names -= {"_"}
        if not self._counts(loop):
            for stmt in loop.body:
                if isinstance(stmt, f.Assign) and stmt.value is not None and names & heads_of(stmt.value):
                    names |= {dotted(target) for target in stmt.targets} - {""}
        picked = {
            dotted(target)
            for stmt in loop.body
            if isinstance(stmt, f.Assign) and stmt.value is not None and _is_picked(stmt.value, names)
            for target in stmt.targets
        } - {""}
        for stmt in loop.body if picked else ():
            if isinstance(stmt, f.Assign) and stmt.value is not None and picked & heads_of(stmt.value):
                picked |= {dotted(target) for target in stmt.targets} - {""}
        body: Iterable[object] = walk_block(point.node.body) if isinstance(point.node, f.Try) else walk(point.operation)
        for node in body:
            if isinstance(node, f.Call) and not SAYS.search(dotted(node.fn)):
                for arg in (node.fn, *(a.value for a in node.args)):
                    for ref in walk(arg):
                        if isinstance(ref, f.Ref) and ref.name.partition(".")[0] in picked:
                            return True
                        if isinstance(ref, f.Ref) and ref.name.partition(".")[0] in names:
                            head = ref.name.partition(".")[0]
                            if not (self._counts(loop) and _COUNTS_TRIES.search(head) and len(head) > 1):
                                return True
        return False

    @staticmethod
    def _counts(loop: f.Loop) -> bool:
        return isinstance(loop.iter, f.Call) and last_name(loop.iter.fn) in (*_TURNS, *_ENDLESS)

    def _made(self, fn: Fun, loop: f.Loop, point: Point, bad: Pass) -> RetryLoop:
        retry = RetryLoop(fn, loop, point.operation, point.failed, path=tuple(bad.passed))
        retry.calls = tuple(calls_of(point.node.body)) if isinstance(point.node, f.Try) else (point.call or point.operation,)  # type: ignore[assignment]
        if point.handler is not None:
            retry.kinds = tuple(last_name(k) for k in point.handler.types)
        exits = [(atom, test, leaves) for test, leaves in bad.exits for atom in _atoms(test)]
        if loop.test is not None and loop.form != "ever":
            exits += [(atom, loop.test, False) for atom in _atoms(loop.test) if not self._is_of_success(atom, loop, bad)]
        caps: list[f.Expr] = []
        stops: list[f.Expr] = []
        counted: list[Cap] = []
        for atom, test, leaves in exits:
            kind = self._kind_of_exit(atom, fn, loop, bad, point)
            if kind == "cap":
                caps.append(atom)
                cap = _comparison(atom, test, leaves)
                if cap is not None:
                    counted.append(cap)
            elif kind == "stop":
                stops.append(atom)
        caps.extend(self._caps_called(fn, loop, bad, point))
        if loop.form == "each" and loop.iter is not None and not _is_endless(loop.iter):
            caps.append(loop.iter)
        retry.caps, retry.stops, retry.counted = tuple(caps), tuple(stops), tuple(counted)
        retry.moves = _moves(loop, retry.path, retry.calls) or ("another" if _draws_anew(point.node, retry.calls) else "")
        if _is_remedied(retry.kinds, retry.path) or self._is_second(fn, loop, point, retry.path):
            retry.moves = "finite"
        sleeps = [c for c in retry.calls if _SLEEPS.match(last_name(c.fn))]
        retry.calls = tuple(c for c in retry.calls if c not in sleeps) or retry.calls
        retry.operation = _told(retry.calls, _asides(point.node))
        # A pause may open the operation itself: `if attempt > 1: sleep()` within the tried block.
        opening = tuple(f.Do(c.at, c.end, c) for c in sleeps if c.at < retry.calls[0].at)
        retry.measure = lambda: tuple(self.pauses.on(fn, loop, (*retry.path, *opening)))
        retry.count = lambda: self.tries(retry, self.resolver.frame(fn))
        return retry

    def _is_second(self, fn: Fun, loop: f.Loop, point: Point, path: tuple[f.Stmt, ...]) -> bool:
        """Whether a loop goes round after a failure only where a test holds that the way there makes false: a second try in all."""
        if point.handler is None or not always_leaves(point.handler.body):
            return False
        within = point.handler
        own = [stmt for stmt, _ in fn.body.stmts if isinstance(stmt, f.Assign) and loop.at <= stmt.at < loop.end]
        for stmt in own:
            if not (within.at <= stmt.at < within.end):
                continue
            name = dotted(stmt.targets[0])
            if any(dotted(target) == name for other in own if other is not stmt for target in other.targets):
                continue
            chain = [
                arm for arm in fn.body.arm_at(stmt.at).chain() if isinstance(arm.node, f.If) and within.at <= arm.at < within.end
            ]
            goes_on = any(isinstance(n, f.Jump) and n.kind == "continue" for arm in chain for n in walk(arm.node))
            if goes_on and self._unmakes(fn, chain, (stmt,), fields=False):
                return True
        return False

    def _unmakes(self, fn: Fun, chain: Iterable[Arm], path: Iterable[f.Stmt], fields: bool) -> bool:
        """Whether statements give a constant to something, also in a method they call, of which a test around says that it is not
        that; with `fields` only of objects, whose values outlast the call."""
        said: dict[str, object] = {}
        for stmt in path:
            for node in walk(stmt):
                if isinstance(node, f.Assign):
                    _constant(node, said)
                elif isinstance(node, f.Call) and dotted(node.fn).startswith("self."):
                    site = self.pauses.site(node, fn)
                    callees = self.program.callees(site) if site is not None else []
                    for inner in callees[0].block if len(callees) == 1 else ():
                        if isinstance(inner, f.Assign) and dotted(inner.targets[0]).startswith("self."):
                            _constant(inner, said)
        known = {name: value for name, value in said.items() if "." in name or not fields}
        tests = [arm.node.test for arm in chain if isinstance(arm.node, f.If) and arm.kind == "then"]
        return any(_is_false(part, known) for test in tests for part in conjuncts(test))

    @staticmethod
    def _is_of_success(atom: f.Expr, loop: f.Loop, bad: Pass) -> bool:
        """Whether a part of a loop's test only tells whether the operation has succeeded: no failing pass changes it."""
        if bad.truth(atom) is not None:
            return True
        if any(isinstance(n, f.Call) for n in walk(atom)):
            return False
        names = {n.name for n in walk(atom) if isinstance(n, f.Ref)}
        written = {dotted(t) for stmt in bad.passed if isinstance(stmt, f.Assign) for t in stmt.targets}
        inside = {dotted(t) for stmt in loop.body for n in walk(stmt) if isinstance(n, f.Assign) for t in n.targets}
        return bool(names & inside) and not names & (written | _changed(loop, bad.passed))

    def _caps_called(self, fn: Fun, loop: f.Loop, bad: Pass, point: Point) -> Iterator[f.Call]:
        """Calls on the failing way that may end it themselves: they are given the error or the counter, or are named after a limit,
        and raise, or nobody can look into them."""
        error = {point.error, point.handler.name if point.handler is not None else None} - {None, ""}
        own = {id(c) for c in (*calls_of(point.node.body), point.call)} if isinstance(point.node, f.Try) else {id(point.operation)}
        calls = (n for stmt in bad.passed if not isinstance(stmt, f.Raise | f.Select) for n in walk(stmt) if isinstance(n, f.Call))
        told = {name for name in error if name} | _changed(loop, bad.passed)
        return (call for call in calls if id(call) not in own and self._may_end(call, fn, told))

    def _may_end(self, call: f.Call, fn: Fun, told: set[str]) -> bool:
        name = last_name(call.fn)
        if SAYS.search(dotted(call.fn)):
            return False
        given = {n.name for a in call.args for n in walk(a.value) if isinstance(n, f.Ref)}
        given |= {n.partition(".")[0] for n in given}
        site = self.pauses.site(call, fn) if given & told or _LIMITS.search(name) else None
        if site is None:
            return False
        callees = self.program.callees(site)
        unseen = not callees and bool(_LIMITS.search(name) or (_HANDLES.search(name) and given & told))
        return unseen or any(_raises(callee.block) for callee in callees)

    def _kind_of_exit(self, atom: f.Expr, fn: Fun, loop: f.Loop, bad: Pass, point: Point) -> str:
        """What a test on the failing way asks: a `cap` of tries or time, whether to `stop` at all, which `error` it is."""
        names = [n.name for n in walk(atom) if isinstance(n, f.Ref)]
        if isinstance(atom, f.Lit):
            return "error"
        calls = [n for n in walk(atom) if isinstance(n, f.Call)]
        words = [*names, *(last_name(c.fn) for c in calls)]
        changed = _changed(loop, bad.passed)
        if any(name in changed or name.partition(".")[0] in changed for name in names):
            return "cap"
        if any(_CONTEXT.search(w) for w in words if w):
            return "cap"
        errors = {point.error, point.handler.name if point.handler is not None else None} - {None, ""}
        about_error = any(n.partition(".")[0] in errors for n in names)
        if any(CLOCK.search(w) for w in words if w) and not about_error:
            return "cap"
        if about_error or point.result.partition(":")[2] in {n.partition(".")[0] for n in names} - {""}:
            if any(_LIMITS.search(last_name(c.fn)) for c in calls):
                return "cap"
            return "error"
        if any(w and STOPS.search(w.rpartition(".")[2]) for w in words):
            return "stop"
        if not calls and self._never_changes(names, fn, loop):
            return "mode"
        flag = atom.value if isinstance(atom, f.Un) and atom.op == "not" else atom
        # A field that is true or false, and that the loop never writes, is somebody else's word to end it.
        return "stop" if isinstance(flag, f.Ref) and "." in flag.name and flag.name not in fn.body.definitions else "cap"

    @staticmethod
    def _never_changes(names: list[str], fn: Fun, loop: f.Loop) -> bool:
        """Whether a test asks parameters and variables that nothing in a loop changes: whether to retry at all."""
        return bool(names) and all(
            "." not in name
            and (name in fn.params or name in fn.body.definitions)
            and not any(loop.at <= d.at < loop.end for d in fn.body.definitions.get(name, ()))
            for name in names
        )

    # ------------------------------------------------------------ numbers

    def _length(self, loop: f.Loop, frame: Frame) -> float | None:
        if loop.form != "each" or loop.iter is None or _is_endless(loop.iter):
            return None
        return self.program.worsts.length(loop.iter, frame, {})

    def _counted(self, retry: RetryLoop, cap: Cap, frame: Frame) -> float | None:
        """After how many tries a counter meets its bound."""
        assert isinstance(retry.node, f.Loop)
        loop, worsts = retry.node, self.program.worsts
        bound = worsts.number(cap.bound, frame) if cap.bound is not None else None
        start = self.start(cap.counter, loop, frame)
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

    def start(self, counter: str, loop: f.Loop, frame: Frame) -> float | None:
        """What a counter begins with."""
        if loop.target is not None and dotted(loop.target) == counter and isinstance(loop.iter, f.Call):
            plain = [a.value for a in loop.iter.args if a.name is None]
            if last_name(loop.iter.fn) in _ENDLESS or len(plain) >= 2:
                return self.program.worsts.number(plain[0], frame) if plain else 0
            return 0
        before = [
            d
            for d in frame.fn.body.definitions.get(counter, ())
            if d.kind in ("value", "declared", "param")
            and d.at < _first(loop)
            and not (loop.test is not None and loop.test.at <= d.at < loop.test.end)
        ]
        last = max(before, key=lambda d: d.at, default=None)
        if last is None or last.kind == "param":
            param = frame.fn.params.get(counter)
            things = [x.thing for x in self.resolver.parameter(param, frame)] if param is not None else []
            numbers = [float(x.number) for x in things if isinstance(x, Num)]
            return max(numbers) if numbers and len(numbers) == len(things) else None
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


# Names come again and again, and searching them costs more than looking the answer up.
@cache
def _stands(name: str) -> bool:
    return STANDS.match(name) is not None


@cache
def _says(name: str) -> bool:
    return SAYS.search(name) is not None


@cache
def _acts(name: str) -> bool:
    return _ACTS.match(name) is not None


def _counts_or_stands(name: str) -> bool:
    return name in _TURNS or name in _ENDLESS or _stands(name)


def _calls_itself(fn: Fun) -> bool:
    """Whether a body calls something by the name of its function, plainly or on its own object."""
    own = {p.name for p in fn.head.params if p.kind == "self"}
    for call in fn.head.calls:
        head, _, last = call.rpartition(".")
        if last == fn.name and (not head or head in own):
            return True
    return False


def _goes_down(error: str, call: f.Call, loop: f.Loop) -> bool:
    """Whether an error is asked for the one behind it: a chain of errors is gone through, and nothing is tried."""
    if isinstance(call.fn, f.Ref) and "." not in call.fn.name:
        return [dotted(arg.value) for arg in call.args] == [error] and last_name(call.fn).lower() in ("unwrap", "cause")
    base = dotted(call.fn).rpartition(".")[0]
    if call.args or not base:
        return any(dotted(arg.value) == error for arg in call.args) and last_name(call.fn).lower() in ("unwrap", "cause")
    if base == error:
        return True
    for node in walk_block(loop.body):
        if isinstance(node, f.Assign) and node.at < call.at and node.value is not None:
            targets = {n.name for target in node.targets for n in walk(target) if isinstance(n, f.Ref)}
            if base in targets:
                value = node.value.value if isinstance(node.value, f.Cast) else node.value
                return dotted(value) == error or any(isinstance(n, f.Ref) and n.name == error for n in walk(value))
    return False


def _asks(loop: f.Loop, askers: set[str]) -> bool:
    """Whether a loop asks a person, by one of these calls."""
    return any(isinstance(n, f.Call) and last_name(n.fn) in askers for n in walk_block(loop.body))


def _is_endless(it: f.Expr) -> bool:
    return isinstance(it, f.Call) and last_name(it.fn) in _ENDLESS


def calls_of(block: f.Block) -> Iterator[f.Call]:
    """The calls of an operation, those that only say something left out."""
    said = -1
    for node in walk_block(block):
        if isinstance(node, f.Call) and node.at >= said:
            if _says(dotted(node.fn)):
                said = node.end
            else:
                yield node


def _asides(node: f.Stmt) -> frozenset[int]:
    """Calls of a tried block that only enter a `with` block, and in one that awaits something what it does not wait for."""
    if not isinstance(node, f.Try):
        return frozenset()
    inside = list(walk_block(node.body))
    entered = {id(i.value) for n in inside if isinstance(n, f.With) for i in n.items}
    awaited = {id(n.value) for n in inside if isinstance(n, f.Await)} - entered
    plain = {id(n) for n in inside if isinstance(n, f.Call)} - awaited if awaited else set[int]()
    return frozenset(entered | plain)


def _told(calls: tuple[f.Call, ...], asides: frozenset[int] = frozenset()) -> f.Call:
    """The call by which to name an operation: one that acts, else the first that is not part of another and makes nothing."""
    acting = next((c for c in calls if _acts(last_name(c.fn))), None)
    if acting is None:
        calls = tuple(c for c in calls if id(c) not in asides) or calls
        outer = [c for c in calls if not any(o is not c and o.at <= c.at and c.end <= o.end for o in calls)] or list(calls)
        outer = [c for c in outer if not _LOOKS.fullmatch(last_name(c.fn))] or outer
        acting = next((c for c in outer if not last_name(c.fn)[:1].isupper() or "." in dotted(c.fn)), outer[0])
    while isinstance(acting.fn, f.Field) and isinstance(acting.fn.base, f.Call):
        acting = acting.fn.base
    return acting


def _raises(block: f.Block, depth: int = 0) -> bool:
    """Whether a body may raise something of its own, not only pass on what was caught there."""
    if depth > NESTED:
        return False
    for stmt in block:
        if isinstance(stmt, f.Raise):
            return True
        inner = (stmt.body, stmt.orelse, stmt.final) if isinstance(stmt, f.Try) else tuple(blocks(stmt))
        if any(_raises(b, depth + 1) for b in inner):
            return True
    return False


def _moves(loop: f.Loop, path: tuple[f.Stmt, ...], calls: tuple[f.Call, ...]) -> str:
    """Whether a try goes to another peer or element than the last one."""
    used = {n.name for c in calls for n in walk(c) if isinstance(n, f.Ref)}
    heads = {name.partition(".")[0] for name in used}
    given = {n.name for c in calls for a in c.args for n in walk(a.value) if isinstance(n, f.Ref)}
    found = ""
    for stmt in path:
        for node in walk(stmt) if not isinstance(stmt, f.Select) else ():
            if isinstance(node, f.Call) and not SAYS.search(dotted(node.fn)):
                base, _, last = dotted(node.fn).rpartition(".")
                taken_out = _DROPS.match(last) or (last == "pop" and base in heads)
                if node.args and (taken_out or (re.match(r"add|append|put|push", last) and _LEFT_OUT.search(last + base))):
                    return "finite"
                if _OTHERS.match(last) or _LEFT_OUT.search(last):
                    found = "another"
            elif isinstance(node, f.Assign) and not node.op and node.value is not None and not isinstance(node.value, f.Lit):
                names = {dotted(t) for t in node.targets} | {
                    dotted(p.value) for t in node.targets if isinstance(t, f.Coll) for p in t.items
                }
                if names & given and stmt.at > max((c.end for c in calls), default=0):
                    found = "another"
                value = node.value.value if isinstance(node.value, f.Await | f.Cast) else node.value
                if names & heads and (
                    isinstance(value, f.Index) or (isinstance(value, f.Call) and _OTHERS.match(last_name(value.fn)))
                ):
                    found = "another"
                if names & heads and isinstance(value, f.Call) and last_name(value.fn) == "get" and _counts_on(value, loop):
                    found = "another"
    if {name.partition(".")[0] for name in given} & (_taken(path) | _came_next(loop)):
        return "finite"
    counters = _changed(loop, path)
    if any(not (_COUNTS_TRIES.search(n) and len(n) > 1) for n in given & counters) and loop.form != "each":
        return "finite"
    for node in (n for call in calls for n in walk(call)):
        index = node.key if isinstance(node, f.Index) else None
        if isinstance(node, f.Call):
            if _PICKS.match(last_name(node.fn)):
                found = "another"
            if last_name(node.fn) == "get" and len(node.args) == 1:
                index = node.args[0].value
        if index is not None and any(isinstance(n, f.Ref) and n.name in counters for n in walk(index)):
            found = "another"
    return found


def _counts_on(call: f.Call, loop: f.Loop) -> bool:
    """Whether a call is given the number of the pass, as `list.get(i)` is."""
    counted = _changed(loop, ())
    return any(isinstance(n, f.Ref) and n.name in counted for arg in call.args for n in walk(arg.value))


def _taken(path: tuple[f.Stmt, ...]) -> set[str]:
    """Names that hold what was taken out, or a part of it: what failed is not tried again, the one behind it is."""
    out: set[str] = set()
    for stmt in path:
        for node in walk(stmt) if not isinstance(stmt, f.Select) else ():
            if not isinstance(node, f.Assign) or node.value is None:
                continue
            value = node.value.value if isinstance(node.value, f.Await) else node.value
            takes = isinstance(value, f.Call) and _TAKES.match(last_name(value.fn)) is not None
            if takes or any(isinstance(n, f.Ref) and n.name.partition(".")[0] in out for n in walk(value)):
                for target in node.targets:
                    out |= {n.name for n in walk(target) if isinstance(n, f.Ref)}
    return out


def _came_next(loop: f.Loop) -> set[str]:
    """Names that hold what an iterator has come to in this pass: it ends by itself, and the next pass has another."""
    found: dict[str, set[str]] = {}
    stepped: set[str] = set()
    for node in walk_block(loop.body):
        value = node.value if isinstance(node, f.Assign) else None
        value = value.value if isinstance(value, f.Await) else value
        if isinstance(node, f.Call):
            base, _, last = dotted(node.fn).rpartition(".")
            if _STEPS.fullmatch(last) and _ITERATOR.fullmatch(base.rpartition(".")[2]):
                stepped.add(base)
        elif isinstance(node, f.Assign) and isinstance(value, f.Call):
            base = dotted(value.fn).rpartition(".")[0]
            if base:
                names = {n.name for target in node.targets for n in walk(target) if isinstance(n, f.Ref)}
                found.setdefault(base, set()).update(n for n in names if not ERROR_NAME.fullmatch(n))
    return {name for base in stepped for name in found.get(base, ())}


def _leaves_out(path: tuple[f.Stmt, ...], calls: tuple[f.Call, ...], fn: Fun) -> bool:
    """Whether what is tried was the first of a list that gets shorter before the next try."""
    cut = {
        dotted(node.targets[0])
        for stmt in path
        for node in walk(stmt)
        if isinstance(node, f.Assign)
        and len(node.targets) == 1
        and isinstance(node.value, f.Slice)
        and dotted(node.value.base) == dotted(node.targets[0])
    } - {""}
    heads = {head for call in calls for head in heads_of(call)}
    made = (d.expr for head in heads for d in fn.body.definitions.get(head, ()))
    return any(isinstance(expr, f.Index) and dotted(expr.base) in cut for expr in made)


def _is_remedied(kinds: tuple[str, ...], path: tuple[f.Stmt, ...]) -> bool:
    """Whether what failed did so for something that is missing, and that is made or fetched before the next try."""
    if not kinds or not all(map(_MISSING.search, kinds)):
        return False
    return any(isinstance(n, f.Call) and _REMEDIES.match(last_name(n.fn)) for stmt in path for n in walk(stmt))


def _enters_once(site: CallSite, path: tuple[f.Stmt, ...]) -> bool:
    """Whether a function that calls itself makes the test false under which it does: it puts in what it found was not in there."""
    for arm in site.arm.chain():
        test = arm.node.test if isinstance(arm.node, f.If) and arm.kind == "then" else None
        if not isinstance(test, f.Bin) or test.op != "not in" or not dotted(test.left):
            continue
        for node in (n for stmt in path for n in walk(stmt) if isinstance(n, f.Call)):
            base, _, last = dotted(node.fn).rpartition(".")
            if base == dotted(test.right) and last in _PUTS_IN and any(dotted(a.value) == dotted(test.left) for a in node.args):
                return True
    return False


def _constant(stmt: f.Assign, said: dict[str, object]) -> None:
    """Note what a statement gives to a name, where that is a constant."""
    if len(stmt.targets) == 1 and not stmt.op and dotted(stmt.targets[0]):
        name = dotted(stmt.targets[0])
        if isinstance(stmt.value, f.Lit) and (stmt.value.value is None or isinstance(stmt.value.value, bool)):
            said[name] = stmt.value.value
        else:
            said.pop(name, None)


def _is_false(test: f.Expr, known: dict[str, object]) -> bool:
    """Whether a test cannot hold where names have these values."""
    if isinstance(test, f.Un) and test.op == "not":
        return bool(known.get(dotted(test.value)))
    if isinstance(test, f.Bin) and isinstance(test.right, f.Lit) and dotted(test.left) in known:
        same = known[dotted(test.left)] is test.right.value
        return (test.op in ("is not", "!=") and same) or (test.op in ("is", "==") and not same)
    return bool(dotted(test)) and dotted(test) in known and not known[dotted(test)]


def _is_picked(expr: f.Expr, names: set[str]) -> bool:
    """Whether one of these names says which element, or which part, of something is taken."""
    for node in walk(expr):
        keys = (node.key,) if isinstance(node, f.Index) else (node.lo, node.hi) if isinstance(node, f.Slice) else ()
        if any(key is not None and names & heads_of(key) for key in keys):
            return True
    return False


def _draws_anew(tried: f.Stmt, calls: tuple[f.Call, ...]) -> bool:
    """Whether what is tried is kept under a name that is drawn for each try: what is taken gives way to the next."""
    if not isinstance(tried, f.Try) or any(_acts(last_name(c.fn)) for c in calls):
        return False
    drawn: set[str] = set()
    for stmt in tried.body:
        if isinstance(stmt, f.Assign) and isinstance(stmt.value, f.Call) and len(stmt.targets) == 1:
            name = last_name(stmt.value.fn)
            if _DRAWS.fullmatch(name) and not _MARKS.search(name):
                drawn.add(dotted(stmt.targets[0]))
    return any(isinstance(a.value, f.Ref) and a.value.name in drawn for c in calls for a in c.args)


def _loops(block: f.Block, depth: int = 0) -> list[f.Loop]:
    """Loops of a body in the order written, those inside others too."""
    out: list[f.Loop] = []
    if depth <= NESTED:
        for stmt in block:
            if type(stmt) in _PLAIN:
                continue
            if isinstance(stmt, f.Loop):
                out.append(stmt)
            for inner in blocks(stmt):
                if inner:
                    out += _loops(inner, depth + 1)
    return out


_PLAIN = frozenset({f.Do, f.Assign, f.Return, f.Raise, f.Jump, f.Def})
"""Statements without blocks of their own."""


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
    if depth > NESTED:
        return
    for stmt in block:
        yield stmt
        if type(stmt) not in _PLAIN and not isinstance(stmt, f.Loop):
            for inner in blocks(stmt):
                yield from _own(inner, depth + 1)


def _before(block: f.Block, loop: f.Loop) -> tuple[f.Stmt, ...]:
    """The statements that run before a loop, from the outermost block to its own."""
    out: list[f.Stmt] = []
    current: f.Block = block
    for _ in range(NESTED):
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
            if name and (node.op or names_it(node.value, name)):
                out.add(name)
        elif isinstance(node, f.Let) and names_it(node.value, dotted(node.target)):
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
