"""Log calls in the failure way of what runs for every element: a peer that is down makes as many lines as there are elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from resilint import facts as f
from resilint.flow.inputs import Size
from resilint.flow.lists import Words, words
from resilint.flow.spawns import WAITS, Fanout, family, over_loop
from resilint.flow.timeouts import Fault
from resilint.flow.values import Obj
from resilint.knowledge.index import doing
from resilint.link.code import CODE, Arm, CallSite, Fun, dotted, last_name, walk, walk_block
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_DEPTH = 4
_CALLERS = 2
_MOST_FUNCTIONS = 200
_MOST_CALLERS = 24
_RARE = 6
_GROWING = frozenset({"data", "input", "parameter"})
"""Sizes of what nobody here limits. A field that other code fills is seldom long."""


class Way(NamedTuple):
    """A log call in a way that is taken because one of some calls failed."""

    site: CallSite
    arm: Arm
    """The way: a handler, or a branch behind the test of an error."""
    calls: tuple[CallSite, ...]


class Failing(NamedTuple):
    """A log call in the way that is taken when a call to a peer has failed."""

    site: CallSite
    arm: Arm
    failed: CallSite


class Around(NamedTuple):
    """A loop in which a way is come to."""

    loop: f.Node
    fn: Fun
    calls: tuple[tuple[CallSite, Fun], ...] = ()
    """The calls that lead from there to the function of the way, with what each is of."""
    called: CallSite | None = None
    """The call in it, of `of`, that leads there."""
    of: Fun | None = None


class Growth(NamedTuple):
    """What a line of log is written for each of."""

    size: Size
    over: str
    steps: tuple[Step, ...] = ()


class LogStorms:
    """Finds log calls that a failing peer multiplies."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.errors = program.errors
        self.sizes = program.sizes
        self.words = Words(program)
        self._written: dict[Fun, tuple[Way, ...]] = {}
        self._known: dict[int, Failing | None] = {}
        self._reaching: dict[Fun, bool] = {}
        self._ending: dict[int, bool] = {}
        self._callers: dict[tuple[str, str], tuple[CallSite, ...]] = {}

    def all(self) -> Iterator[Fault]:
        """Log calls that run for every element of something: one of each function and collection (RS701)."""
        found: dict[tuple[str, int], Fault] = {}
        told: set[tuple[Fun, str]] = set()
        for fn in self._candidates:
            for way in self._ways(fn):
                # How long a collection can get is the dearest question: it comes last.
                rounds = self._rounds(way)
                first = next(rounds, None)
                failing = self._confirmed(way) if first is not None else None
                if first is None or failing is None:
                    continue
                growth = next((g for one in chain((first,), rounds) if (g := self._grown(one)) is not None), None)
                if growth is not None and (fn, growth.over) not in told:
                    told.add((fn, growth.over))
                    fault = self._fault(failing, growth.size, growth.over, growth.steps)
                    found.setdefault((fn.module.path, way.site.call.at), fault)
        for fault, site in self._under_fanouts():
            found.setdefault((site.fn.module.path, site.call.at), fault)
        yield from (found[key] for key in sorted(found))

    # ------------------------------------------------------------ where to look

    @cached_property
    def _log_names(self) -> dict[str, frozenset[str]]:
        """Last segments of log calls that production writes, by language."""
        quiet = self.words.of("log_quiet")
        out: dict[str, frozenset[str]] = {}
        for language in CODE:
            calls = (
                call for library in self.program.knowledge.of(language).libraries for call in library.calls if call.does == "log"
            )
            lasts = {name.rpartition(".")[2] for call in calls for name in call.names}
            out[language] = frozenset(last for last in lasts if last.lower() not in quiet)
        return out

    @cached_property
    def _waiting(self) -> frozenset[Fun]:
        """Functions that wait for a peer themselves."""
        return frozenset(wait.fn for wait in self.program.all_waits)

    @cached_property
    def _leading(self) -> frozenset[str]:
        """Names of functions that wait for a peer, or call one that does."""
        return self.program.kept("leading to waits", self._find_leading, self._renew_leading)

    def _renew_leading(self, known: frozenset[str]) -> frozenset[str]:
        names = known | {family(wait.fn).name for wait in self.program.start_waits}
        calling = (fn.name for fn in self.program.starts() if any(name.rpartition(".")[2] in names for name in fn.head.calls))
        return frozenset(name for name in names.union(calling) if name not in ("main", "<module>", "__init__"))

    def _find_leading(self) -> frozenset[str]:
        borne = Counter(fn.head.name for fn in self.program.functions())
        # A name that many functions bear tells nothing.
        names = {family(fn).name for fn in self._waiting if borne.get(family(fn).name, 0) <= _MOST_CALLERS}
        near = {caller.name for name in names for caller in self.program.names.callers(name)}
        named = names | {name for name in near if borne[name] <= _RARE}
        return frozenset(name for name in named if name not in ("main", "<module>", "__init__"))

    @cached_property
    def _candidates(self) -> tuple[Fun, ...]:
        """Functions that log, and call something that may wait for a peer."""
        if not self._waiting:
            return ()
        if self.program.focus is not None:
            return tuple(
                fn
                for fn in self.program.starts()
                if not fn.module.is_test and self._serves(fn) and self._may_log_a_wait(fn) and not self._is_of_tool(fn)
            )
        callers = self.program.names.callers
        leading = self._waiting.union(caller for name in self._leading for caller in callers(name))
        logging = {
            fn
            for language, names in self._log_names.items()
            for name in names
            for fn in callers(name)
            if fn.module.language == language
        }
        found = (fn for fn in leading & logging if not fn.module.is_test and self._serves(fn) and not self._is_of_tool(fn))
        return tuple(sorted(found, key=lambda fn: fn.key))

    def _may_log_a_wait(self, fn: Fun) -> bool:
        lasts = {name.rpartition(".")[2] for name in fn.head.calls}
        logs = not lasts.isdisjoint(self._log_names.get(fn.module.language, ()))
        return logs and (fn in self._waiting or not lasts.isdisjoint(self._leading))

    @staticmethod
    def _serves(fn: Fun) -> bool:
        """Whether a function is part of something that runs on, no tool's main."""
        return family(fn).name not in ("main", "<module>")

    def _is_of_tool(self, fn: Fun, depth: int = 0) -> bool:
        """Whether only a command's `main` leads to a function, once and not from a loop, and the function itself has an end."""
        if depth and family(fn).name == "main":
            return True
        if depth > _CALLERS or fn.module.language != "go" or fn.module.facts.package != "main" or fn in self.program.entries:
            return False
        if any(isinstance(stmt, f.Loop) and stmt.form == "ever" for stmt, _ in fn.body.stmts):
            return False
        if fn.parent is not None or any(not user.module.is_test for user in self.program.names.values_of.get(fn.name, ())):
            return False
        callers, whole = self.resolver.callers(fn)
        return (
            whole
            and bool(callers)
            and all(
                site is not None and not site.how and site.loop is None and self._is_of_tool(frame.fn, depth + 1)
                for frame, site, _, _ in callers
            )
        )

    # ------------------------------------------------------------ failure ways

    def _ways(self, fn: Fun) -> tuple[Way, ...]:
        """The ways of a function that are taken because something failed, and log: one for each, as they are written."""
        known = self._written.get(fn)
        if known is None:
            known = self._written[fn] = tuple(self._find_ways(fn))
        return known

    def _find_ways(self, fn: Fun) -> Iterator[Way]:
        logs = self._log_names[fn.module.language]
        seen: set[int] = set()
        for site in fn.body.calls:
            if site.last not in logs or site.how:
                continue
            arm = self._way(site)
            if arm is None or id(arm) in seen:
                continue
            calls = [s for s in self._tried(arm, fn) if s.how != "defer" and not (site.call.at <= s.call.at < site.call.end)]
            calls = [s for s in calls[:12] if fn in self._waiting or s.last in self._leading]
            if calls and not self._is_guarded(site, arm):
                seen.add(id(arm))
                yield Way(site, arm, tuple(calls))

    def _confirmed(self, way: Way) -> Failing | None:
        """The call to a peer that fails, where the line is one of log and a peer is called at all."""
        key = id(way.site.call)
        if key not in self._known:
            failed = next((site for site in way.calls if self._goes_out(site)), None) if self._is_log(way.site) else None
            self._known[key] = Failing(way.site, way.arm, failed) if failed is not None else None
        return self._known[key]

    def _is_log(self, site: CallSite) -> bool:
        quiet = self.words.of("log_quiet")
        chain = [last_name(node.fn).lower() for node in walk(site.call) if isinstance(node, f.Call)]
        named = [n.name.rpartition(".")[2].lower() for arg in site.call.args[:1] for n in walk(arg.value) if isinstance(n, f.Ref)]
        if any(name in quiet for name in (*chain, *named)) or any(self._samples(name) for name in chain):
            return False
        for target, entry in self.program.described(site, doing("log")):
            if entry.does == "log":
                return not self._is_sampled(target.holder)
        return False

    def _is_sampled(self, logger: Obj | None) -> bool:
        """Whether a logger is of a kind that samples, and is not known to be made without."""
        obj = logger
        for _ in range(4):
            if obj is None:
                break
            if self.resolver.external_type(obj) in self.words.of("log_sampling"):
                return not self._unsampled(obj)
            obj = obj.parent
        return False

    def _unsampled(self, obj: Obj | None) -> bool:
        while obj is not None:
            if obj.maker in self.words.of("log_unsampled"):
                return True
            obj = obj.parent
        return False

    def _way(self, site: CallSite) -> Arm | None:
        """The innermost way around a log call that is taken because something failed."""
        for arm in reversed(site.arm.chain()):
            if arm.kind == "handler":
                return arm
            if arm.kind in ("loop", "comp"):
                return None
            if isinstance(arm.node, f.If) and arm.kind in ("then", "else") and site.fn.module.language == "go":
                name = _error_tested(arm.node.test, arm.kind)
                if name:
                    return arm
        return None

    def _tried(self, arm: Arm, fn: Fun) -> list[CallSite]:
        """The calls whose failure leads to a way."""
        if arm.kind == "handler" and isinstance(arm.node, f.Try):
            return [s for s in fn.body.calls if any(b.at <= s.call.at < b.end for b in arm.node.body)]
        if isinstance(arm.node, f.If):
            return self.errors.origin(_error_tested(arm.node.test, arm.kind), fn, arm.node.test.at)
        return []

    def _goes_out(self, site: CallSite) -> bool:
        """Whether a call reaches a peer, directly or through functions of the program."""
        if site.fn.module.language != "python":
            return self.errors.goes_out(site)
        if site.fn in self._waiting and any(t.entry is not None and t.entry.does in WAITS for t in self.program.targets(site)):
            return True
        return site.last in self._leading and any(self._reaches(callee, 0) for callee in self.program.callees(site)[:4])

    def _reaches(self, fn: Fun, depth: int) -> bool:
        """Whether a function comes to a call that waits for a peer, by calls of names that lead there."""
        if fn in self._waiting:
            return True
        known = self._reaching.get(fn)
        if known is None and depth < _CALLERS:
            self._reaching[fn] = False
            sites = [site for site in fn.body.calls if site.last in self._leading][:12]
            known = self._reaching[fn] = any(self._reaches(c, depth + 1) for site in sites for c in self.program.callees(site)[:4])
        return bool(known)

    # ------------------------------------------------------------ what lets only some lines through

    def _samples(self, name: str) -> bool:
        known = self.words.of("log_sampler")
        return name.lower() in known or any(word in known for word in words(name))

    def _is_guarded(self, site: CallSite, way: Arm) -> bool:
        """Whether a log call stands behind a test of something else than the error, or in what a sampler runs."""
        error = _error_of(way)
        around = site.arm.chain()
        for arm in around[around.index(way) + 1 :]:
            test = arm.node.test if isinstance(arm.node, f.If | f.Cond) else arm.node.left if isinstance(arm.node, f.Bin) else None
            if test is None and not isinstance(arm.node, f.Switch | f.Try | f.With):
                return True
            if test is not None and not _speaks_of(test, error):
                return True
        # What comes first in the way may leave unless it is time for a line again.
        first = walk_block(_block_of(way))
        for node in first:
            if isinstance(node, f.If) and node.end <= site.call.at and not _speaks_of(node.test, error):
                return True
            if isinstance(node, f.Call) and node.end <= site.call.at and self._samples(last_name(node.fn)):
                return True
        outer = around[: around.index(way)]
        if any(isinstance(arm.node, f.If) and self._asks_sampler(arm.node.test) for arm in outer):
            return True
        return self._in_sampler(site.fn) or self._is_filtered(site.fn.module.language)

    def _asks_sampler(self, test: f.Expr) -> bool:
        return any(isinstance(node, f.Call) and self._samples(last_name(node.fn)) for node in walk(test))

    def _in_sampler(self, fn: Fun) -> bool:
        """Whether a literal is run by something whose name says that it runs only some of many."""
        parent = fn.parent
        if parent is None or fn.head.kind != "lambda":
            return False
        for site in parent.body.calls:
            if any(isinstance(arg.value, f.Fn) and arg.value.index == fn.index for arg in site.call.args):
                return any(self._samples(part) for part in dotted(site.call.fn).split(".")[-2:])
        return False

    def _is_filtered(self, language: str) -> bool:
        return language in self._filtered

    @cached_property
    def _filtered(self) -> frozenset[str]:
        """Languages of which a filter of the logging system drops repeated lines."""
        known = self.words.of("log_filter")

        def is_said() -> bool:
            kinds = ("xml", "properties", "yaml", "json")
            texts = (s for facts in self.program.files.values() if facts.kind in kinds for s in facts.settings)
            return any(s.text in known or any(p in known for p in s.path) for s in texts)

        found = {"java"} if self.program.settled("log filter", is_said) else set()
        for caller in self.program.names.callers("addFilter"):
            for site in caller.body.calls:
                if site.last == "addFilter" and any(
                    self._samples(last_name(n.fn)) for arg in site.call.args for n in walk(arg.value) if isinstance(n, f.Call)
                ):
                    found.add(caller.module.language)
        return frozenset(found)

    # ------------------------------------------------------------ for every element

    def _rounds(self, way: Way) -> Iterator[Around]:
        """The loops that go on with the next element after a way: the one around it, else those that call its function."""
        fn = way.site.fn
        loops = self._loops_around(way.arm)
        if loops:
            if not _leaves_loop(way.arm) and not self._gives_up(loops[0]):
                yield Around(loops[0], fn)
            if way.arm.kind != "handler" or not self._raises(way):
                return
        round_ = self.sizes.streams.round_of(fn)
        if round_ is not None:
            yield Around(round_.site.call, round_.site.fn)
        elif not loops:
            # `urls.forEach(this::send)`
            handed = self.sizes.streams.handed_to(fn) if fn.module.language == "java" else ()
            yield from (Around(one.site.call, one.site.fn) for one in handed)
            yield from self._called_in_loops(way)

    def _grown(self, around: Around) -> Growth | None:
        """What a loop goes over, where nothing here limits it."""
        called = [(around.called, around.of), *around.calls] if around.called is not None else []
        # By their names they may be calls of these functions; each has to be one.
        if any(of not in self.program.callees(site) for site, of in called):
            return None
        size = self.sizes.loop(around.loop, self.resolver.frame(around.fn))
        if size.kind not in _GROWING:
            return None
        steps = (self.program.step(s.fn, s.call, f"{s.fn.head.qual} calls {fn.head.qual}") for s, fn in around.calls)
        return Growth(size, over_loop(around.loop, self.program, around.fn), tuple(steps))

    @staticmethod
    def _loops_around(arm: Arm) -> list[f.Node]:
        return [a.node for a in reversed(arm.chain()) if a.kind in ("loop", "comp")]

    def _gives_up(self, loop: f.Node) -> bool:
        """Whether a loop ends early once a count or a clock says so."""
        if not isinstance(loop, f.Loop):
            return False
        known = self._ending.get(id(loop))
        if known is None:
            known = self._ending[id(loop)] = self._ends_early(loop)
        return known

    @staticmethod
    def _ends_early(loop: f.Loop) -> bool:
        for node in walk_block(loop.body):
            if (
                isinstance(node, f.If)
                and any(isinstance(part, f.Bin) and part.op in ("<", "<=", ">", ">=", "==") for part in walk(node.test))
                and any(
                    isinstance(n, f.Return | f.Raise) or (isinstance(n, f.Jump) and n.kind == "break")
                    for n in walk_block(node.then)
                )
            ):
                return True
        return False

    def _called_in_loops(self, way: Way) -> Iterator[Around]:
        """The loops that call a function which logs a failure, or one that calls it."""
        fn = way.site.fn
        if fn in self.program.entries or fn.head.kind not in ("free", "method") or self._raises(way):
            return
        pending: list[tuple[Fun, tuple[tuple[CallSite, Fun], ...]]] = [(fn, ())]
        seen = {fn}
        while pending and len(seen) < _MOST_CALLERS:
            one, calls = pending.pop()
            for site in self._calls_of(one):
                way_there = ((site, one), *calls)
                loops = self._loops_around(site.arm)
                if loops and not self._gives_up(loops[0]) and not _is_tested(site):
                    yield Around(loops[0], site.fn, way_there, site, one)
                elif not loops and len(way_there) < _CALLERS and site.fn not in seen and site.fn not in self.program.entries:
                    seen.add(site.fn)
                    pending.append((site.fn, way_there))

    def _calls_of(self, fn: Fun) -> tuple[CallSite, ...]:
        """Calls that may be of a function, by its name; of names that many bear none is followed."""
        name, language = key = (fn.name, fn.module.language)
        known = self._callers.get(key)
        if known is None:
            callers = [c for c in self.program.names.callers(name) if c.module.language == language and not c.module.is_test]
            near = (c for c in callers if self._serves(c)) if len(callers) <= _MOST_CALLERS else ()
            known = self._callers[key] = tuple(s for c in near for s in c.body.calls if s.last == name and s.how != "go")
        return known

    @staticmethod
    def _raises(way: Way) -> bool:
        """Whether the failure goes on to the caller after the line: whoever loops may stop there."""
        fails = bool(way.site.fn.head.returns) and way.site.fn.head.returns[-1].name == "error"
        return any(isinstance(node, f.Raise) or (fails and _gives_error(node)) for node in walk_block(_block_of(way.arm)))

    # ------------------------------------------------------------ under fan-outs

    def _under_fanouts(self) -> Iterator[tuple[Fault, CallSite]]:
        """Log calls in what is started for each element, without a limit, and in what that calls."""
        spawning = self.program.spawning
        logging = set(self._candidates)
        if not logging:
            return
        for fanout in self.program.all_fanouts:
            if fanout.event or fanout.size.kind not in _GROWING:
                continue
            seen: dict[Fun, tuple[Step, ...]] = dict.fromkeys(fanout.spawn.bodies, ())
            layer = list(seen)
            for _ in range(_DEPTH):
                following: list[Fun] = []
                for fn in layer:
                    for way in self._ways(fn) if fn in logging else ():
                        failing = self._confirmed(way)
                        if failing is not None:
                            yield self._of_fanout(failing, fanout, seen[fn]), failing.site
                    for site, callee in spawning.callees(fn):
                        if callee not in seen and len(seen) < _MOST_FUNCTIONS:
                            step = (
                                (self.program.step(fn, site.call, f"{fn.head.qual} calls {callee.head.qual}"),)
                                if site is not None
                                else ()
                            )
                            seen[callee] = (*seen[fn], *step)
                            following.append(callee)
                layer = following

    def _of_fanout(self, failing: Failing, fanout: Fanout, steps: tuple[Step, ...]) -> Fault:
        began = Step(fanout.span, f"one {fanout.unit} is started for each of `{fanout.over}`")
        return self._fault(failing, fanout.size, fanout.over, (began, *steps), fanout.confidence)

    def _fault(self, failing: Failing, size: Size, over: str, steps: tuple[Step, ...], sure: Confidence = Confidence.HIGH) -> Fault:
        site = failing.site
        fn = site.fn
        failed = self.program.text_of(fn, failing.failed.call.fn, 40)
        text = (
            f"one more line of log for each of `{over}` whose {failed} fails: while the peer is down nothing samples or limits them"
        )
        level = {"input": Confidence.HIGH}.get(size.kind, Confidence.MEDIUM)
        way = self.program.step(fn, failing.failed.call, f"{failed} may fail here")
        return Fault(
            self.program.span_of(fn, site.call), text, Value(None, min(sure, level), (*self.program.trace(size.hops), *steps, way))
        )


def _block_of(arm: Arm) -> f.Block:
    """The statements of a way."""
    node: Any = arm.node
    if isinstance(node, f.Try):
        return next((h.body for h in node.handlers if h.at == arm.at), ())
    if isinstance(node, f.If):
        return node.then if arm.kind == "then" else node.orelse
    return ()


def _gives_error(node: Any) -> bool:
    """Whether a statement returns an error that is not known to be none."""
    if not isinstance(node, f.Return) or node.value is None:
        return False
    last = node.value.items[-1].value if isinstance(node.value, f.Coll) and node.value.items else node.value
    return not (isinstance(last, f.Lit) or (isinstance(last, f.Ref) and last.name == "nil"))


def _leaves_loop(arm: Arm) -> bool:
    """Whether a way ends with more than the next element: it breaks, returns or raises."""
    block = _block_of(arm)
    last = block[-1] if block else None
    return isinstance(last, f.Return | f.Raise) or (isinstance(last, f.Jump) and last.kind == "break")


def _error_tested(test: f.Expr, kind: str) -> str:
    """The error that a test finds: `err` in `err != nil`, also beside other tests; on the other way of `err == nil`."""
    if isinstance(test, f.Bin) and test.op in ("and", "or"):
        return _error_tested(test.left, kind) or _error_tested(test.right, kind)
    if isinstance(test, f.Bin) and isinstance(test.right, f.Ref | f.Lit):
        is_nil = (isinstance(test.right, f.Lit) and test.right.value is None) or (
            isinstance(test.right, f.Ref) and test.right.name == "nil"
        )
        name = dotted(test.left)
        if is_nil and name.lower().endswith(("err", "error")) and (test.op == "!=") == (kind == "then") and test.op in ("!=", "=="):
            return name
    return ""


def _error_of(way: Arm) -> str:
    """The variable that holds the error on a way."""
    if isinstance(way.node, f.Try):
        return next((h.name or "" for h in way.node.handlers if h.at == way.at), "")
    return _error_tested(way.node.test, way.kind) if isinstance(way.node, f.If) else ""


def _speaks_of(test: f.Expr, name: str) -> bool:
    """Whether a test speaks of a variable and nothing else that could hold it back."""
    return bool(name) and any(isinstance(n, f.Ref) and (n.name == name or n.name.startswith(name + ".")) for n in walk(test))


def _is_tested(site: CallSite) -> bool:
    """Whether the result of a call decides whether the loop around goes on: `if !send(x) { break }`."""
    stmt = site.stmt
    if isinstance(stmt, f.If) and site.call.at >= stmt.test.at and site.call.end <= stmt.test.end:
        return any(
            isinstance(n, f.Return | f.Raise) or (isinstance(n, f.Jump) and n.kind == "break")
            for n in walk_block((*stmt.then, *stmt.orelse))
        )
    return False
