"""Cancellations that are caught and dropped: the task goes on, or its caller takes the end for success."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.after_cancel import Places
from resilint.flow.errors import CALLER, Errors, Pick, code_modules, mentions, tells
from resilint.flow.lost_causes import cancels
from resilint.flow.timeouts import Fault
from resilint.flow.values import Ext
from resilint.knowledge.index import doing, spawning
from resilint.link.code import Arm, CallSite, Fun, Klass, dotted, walk, walk_block
from resilint.link.looks import any_of, matching
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_SERVES = re.compile(
    r"_*(?:main|run|serve|start|listen|watch|loop|poll|consume|work|stop|close|shut|clean|tear|drain)", re.IGNORECASE
)
"""Names of functions whose end by cancellation is how they are meant to end."""
_STARTED = frozenset({"run", "call", "main"})
"""Java's methods that a thread or the process starts with: nobody above them waits for an interrupt."""
_FLAG = "interrupt"
"""What the names of Java's methods contain that set the flag, read it or clear it: `interrupt`, `isInterrupted`, `interrupted`."""
_INTERRUPT = "java.lang.InterruptedException"
_READS_FLAG = frozenset({"interrupted", "isInterrupted"})
"""Those that only read or clear it: the exception has cleared it already."""
_DEPTH = 4
"""Calls that are followed down to a wait that an interrupt ends."""
_NEAR = 2
"""Steps down to such a wait within which whoever catches everything should have thought of it."""
_LEAVES_AT_LAST = matching(rb"\bfinally\s*:[^\n]*\n(?:[^\n]*\n){0,20}?[ \t]+(?:return|break|continue)\b")
"""Text in which a `finally` may leave its function or loop."""
_ASYNC, _FINALLY, _CATCH = any_of(b"async"), any_of(b"finally"), any_of(b"catch")
_CATCHES_ALL = any_of(b"ancel", b"BaseException")
_BARE = matching(rb"except\s*:")
_THROWN = any_of(b"xception", b"Throwable")
_INTERRUPTED = any_of(b"InterruptedException")
_CANCELED = any_of(b"context.Canceled", b"codes.Canceled")
_THROWS = re.compile(rb"\)\s*(?:\[\s*\]\s*)*throws\b[^{};]*\bInterruptedException\b")
_ASKS = re.compile(r"run|stop|clos|aliv|shutdown|terminat|done|is_set|exit|quit|cancel|active|enabled", re.IGNORECASE)
"""Tests of loops that ask whether to go on."""


@dataclass(frozen=True)
class _Caught:
    """A place that catches a cancellation."""

    fn: Fun
    stmt: f.Stmt
    arm: Arm
    node: f.Node
    """Where to report it."""
    body: f.Block
    handler: f.Block
    name: str
    """What is caught."""
    bound: str
    """The variable that holds it."""
    by_width: bool
    """It is caught only because the class is so wide."""


class Swallowed:
    """Finds places that catch a cancellation or an interrupt and drop it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.errors: Errors = program.errors
        self._places: dict[Fun, Places] = {}
        self._ended: dict[Fun, tuple[Step, ...] | None] = {}
        taken = {(fault.span.path, fault.span.line) for fault in program.after_cancel.faults}
        found: dict[object, Fault] = {}
        for fault in (*self._python(), *self._java(), *self._go()):
            if (fault.span.path, fault.span.line) not in taken:
                found.setdefault(fault.key, fault)
        self.faults = sorted(found.values(), key=lambda x: (x.span, x.message))

    # ------------------------------------------------------------ what catches one

    def _python(self) -> Iterator[Fault]:
        for module in code_modules(self.program, "python"):
            says = partial(self.program.says, module.path)
            if not says(_ASYNC) or not (says(_CATCHES_ALL) or says(_BARE) or (says(_FINALLY) and says(_LEAVES_AT_LAST))):
                continue
            for fn in module.functions:
                if fn.head.is_async:
                    for caught in self._catching(fn):
                        if self._interrupted(caught):
                            yield from self._judge(caught)

    def _java(self) -> Iterator[Fault]:
        for module in code_modules(self.program, "java"):
            if not self.program.says(module.path, _CATCH):
                continue
            for fn in module.functions:
                if fn.says(_THROWN):
                    for caught in self._catching(fn):
                        ended = self._interruptible(caught) if caught.by_width else ()
                        if ended is not None:
                            yield from self._judge(caught, ended)

    def _catching(self, fn: Fun) -> Iterator[_Caught]:
        for stmt, arm in fn.body.stmts:
            # What stands in a `finally` cleans up, cancelled or not.
            if any(a.kind == "final" for a in arm.chain()):
                continue
            if isinstance(stmt, f.Try):
                for handler in stmt.handlers:
                    found = self._kind(handler.types, fn)
                    if found is not None:
                        types = handler.types
                        node = f.Ref(types[0].at, types[-1].end, "") if types else f.Ref(handler.at, handler.at + len("except"), "")
                        yield _Caught(fn, stmt, arm, node, stmt.body, handler.body, found[0], handler.name or "", found[1])
                        break
                else:
                    last = next((s for s in stmt.final if isinstance(s, f.Return | f.Jump)), None)
                    if last is not None and fn.module.language == "python":
                        # What leaves a `finally` takes the place of the exception that was on its way.
                        yield _Caught(fn, stmt, arm, last, (*stmt.body, *stmt.orelse), stmt.final, "finally", "", True)
            elif isinstance(stmt, f.With):
                for item in stmt.items:
                    kinds = self._suppressed(item.value, fn)
                    found = self._kind(kinds, fn) if kinds else None
                    if found is not None:
                        yield _Caught(fn, stmt, arm, item.value, stmt.body, (), found[0], "", found[1])

    def _kind(self, types: tuple[f.Expr, ...], fn: Fun) -> tuple[str, bool] | None:
        """The name of the cancellation that a handler catches, and whether it does so by its width only."""
        if not types:
            return ("everything", True) if fn.module.language == "python" else None
        table = self.errors.resolver.table(fn.module)
        wide: str | None = None
        for kind in types:
            for name in self._names(kind, fn):
                entry = table.error_entry(name)
                if entry is not None and entry.scope and entry.cause in ("cancel", "both"):
                    return name.rpartition(".")[2], False
                if entry is not None and entry.scope and entry.cause == "any":
                    wide = name.rpartition(".")[2]
        return (wide, True) if wide is not None else None

    def _names(self, kind: f.Expr, fn: Fun) -> list[str]:
        if fn.module.language == "java":
            name = self.program.names.java.type(dotted(kind), fn)
            return [name] if isinstance(name, str) else []
        resolver = self.errors.resolver
        if isinstance(kind, f.Call):
            kind = kind.fn  # a function that gives the class
        found = [x.thing.name for x in resolver.ask(kind, resolver.frame(fn)) if isinstance(x.thing, Ext)]
        return [name.removeprefix("<builtin>.") for name in found]

    def _suppressed(self, expr: f.Expr, fn: Fun) -> tuple[f.Expr, ...]:
        handled = self.errors.handling(expr, fn)
        if isinstance(expr, f.Call) and handled is not None and handled[0] == "drops":
            return tuple(a.value for a in expr.args)
        return ()

    def _interrupted(self, caught: _Caught) -> bool:
        """Whether the end of the task around is what arrives there: something is awaited that is no other task, whose own
        cancellation would look the same."""
        awaited = [n.value for n in walk_block(caught.body) if isinstance(n, f.Await)]
        # Each round of an asynchronous loop waits for its next element.
        rounds = any(isinstance(n, f.Loop) and n.is_async for n in walk_block(caught.body))
        for value in awaited:
            site = self.errors.site(value, caught.fn)
            if site is None:
                return False
            entry = self.errors.entry(site, spawning)
            if entry is not None and entry.spawn is not None:
                return False
            if any(not isinstance(a.value, f.Lit) and self._may_be_task(a.value, caught.fn) for a in site.call.args):
                return False
        return bool(awaited) or rounds

    def _may_be_task(self, expr: f.Expr, fn: Fun) -> bool:
        return isinstance(expr, f.Ref) and bool(re.search(r"task|fut", expr.name.rpartition(".")[2], re.IGNORECASE))

    def _interruptible(self, caught: _Caught) -> tuple[Step, ...] | None:
        """What an interrupt ends in the tried block, as steps down to the wait; none below a method that only declares it."""
        if not caught.body:
            return None
        # The variable of a resource is declared before its statement, whose text starts sooner.
        return self._interrupts(caught.fn, min(stmt.at for stmt in caught.body), caught.body[-1].end, caught.stmt.at, 0)

    def _interrupts(self, fn: Fun, start: int, end: int, since: int, depth: int) -> tuple[Step, ...] | None:
        program = self.program
        declared: tuple[Step, ...] | None = None
        for site in fn.body.calls:
            if not start <= site.call.at < end or self._is_caught(fn, site.arm, since):
                continue
            if self.errors.throws_interrupt(site):
                return (program.step(fn, site.call, f"an interrupt ends `{_said(site).removeprefix('this.')}`"),)
            if site.last in self.throwers:
                for callee in self._run_by(site):
                    if callee in self.throwers[site.last]:
                        inner = self._ends_by_interrupt(callee, depth + 1)
                        if inner:
                            return (program.step(fn, site.call, f"an interrupt ends {callee.head.qual}"), *inner)
                        declared = ()
        for stmt, arm in fn.body.stmts:
            if start <= stmt.at < end and not self._is_caught(fn, arm, since):
                if isinstance(stmt, f.Raise) and any(k.of == _INTERRUPT for k in program.names.java.kinds(stmt.value, fn)):
                    return (program.step(fn, stmt, "an interrupt is thrown here"),)
                for close in self._closed_by(stmt, fn):
                    inner = self._ends_by_interrupt(close, depth + 1)
                    if inner:
                        return (program.step(fn, stmt, f"an interrupt ends {close.head.qual}"), *inner)
                    declared = ()
        return declared

    def _run_by(self, site: CallSite) -> list[Fun]:
        """The methods that a call may run: of one without a body, those that fill it."""
        out: list[Fun] = []
        for callee in self.program.callees(site):
            out.append(callee)
            if callee.head.is_abstract:
                out.extend(self.program.names.java.overrides(callee))
        return out

    def _ends_by_interrupt(self, fn: Fun, depth: int) -> tuple[Step, ...] | None:
        """How an interrupt ends a whole method."""
        if fn not in self._ended and depth <= _DEPTH:
            self._ended[fn] = None
            self._ended[fn] = self._interrupts(fn, fn.head.at, fn.head.end, -1, depth)
        return self._ended.get(fn)

    def _closed_by(self, stmt: f.Stmt, fn: Fun) -> list[Fun]:
        """The `close()` of a statement's resources that declares an interrupt."""
        if not isinstance(stmt, f.With) or "close" not in self.throwers:
            return []
        java = self.program.names.java
        made = (kind.of for item in stmt.items for kind in java.kinds(item.value, fn))
        return [m for k in made if isinstance(k, Klass) for m in java.methods(k, "close", 0) if m in self.throwers["close"]]

    @cached_property
    def throwers(self) -> dict[str, frozenset[Fun]]:
        """Java's methods that declare that an interrupt ends them, by name."""
        found: dict[str, set[Fun]] = {}
        for module in self.program.names.modules.values():
            if module.language != "java" or module.is_test:
                continue
            if not self.program.says(module.path, _INTERRUPTED):
                continue
            for fn in module.functions[1:]:
                if fn.head.kind == "method" and _THROWS.search(
                    self.program.cut(module.path, fn.head.name_at, fn.head.end, until=b"{")
                ):
                    found.setdefault(fn.name, set()).add(fn)
        return {name: frozenset(functions) for name, functions in found.items()}

    def _is_caught(self, fn: Fun, place: Arm, since: int) -> bool:
        """Whether something stands in a `try`, begun after a place, that catches an interrupt."""
        return any(
            isinstance(a.node, f.Try)
            and a.kind == "try"
            and a.node.at > since
            and any(self._kind(handler.types, fn) is not None for handler in a.node.handlers)
            for a in place.chain()
        )

    # ------------------------------------------------------------ what is done with it

    def _judge(self, caught: _Caught, ended: tuple[Step, ...] = ()) -> Iterator[Fault]:
        fn = caught.fn
        if self._handled(caught) or self._expected(caught):
            return
        ends = _ends(caught.handler)
        after = self._after(caught, ends)
        if after is None:
            return
        text, steps = after
        confidence = Confidence.MEDIUM if caught.by_width else Confidence.HIGH
        if caught.by_width and fn.module.language == "java" and not 1 <= len(ended) <= _NEAR:
            confidence = Confidence.LOW
        what = f"{caught.name} is caught and dropped here"
        if caught.by_width:
            end = "the interrupt" if fn.module.language == "java" else "the cancellation"
            what = f"`{'except' if caught.name == 'everything' else caught.name}` drops {end} too"
        span = self.program.span_of(fn, caught.node)
        yield Fault(span, f"{what}: {text}", Value(None, confidence, (*ended, *steps)), key=(span.path, span.line))

    def _expected(self, caught: _Caught) -> bool:
        """Whether the function cancels or interrupts something itself, or sets the flag again further down."""
        fn = caught.fn
        if fn.module.language == "java":
            return _starts_program(fn) or any(
                site.last == _FLAG and not self._of_other(site, caught) and self._sets_flag(site.call, site, fn)
                for site in fn.body.calls
            )
        return cancels(fn)

    @staticmethod
    def _of_other(site: CallSite, caught: _Caught) -> bool:
        """Whether a thread sets its own flag in the handler of another `try`: that is of another interrupt."""
        own = isinstance(site.call.fn, f.Field) and isinstance(site.call.fn.base, f.Call)
        return own and any(
            a.kind == "handler"
            and isinstance(a.node, f.Try)
            and (a.node is caught.stmt or not a.node.at <= caught.stmt.at < a.node.end)
            for a in site.arm.chain()
        )

    def _handled(self, caught: _Caught) -> bool:
        """Whether the handler passes the cancellation on: it raises, keeps it, tells the loop, or ends the process."""
        fn = caught.fn
        written: set[str] = set()
        said = -1
        for node in walk_block(caught.handler):
            if isinstance(node, f.Raise):
                return True
            if isinstance(node, f.Assign):
                written.update(dotted(t) for t in node.targets)
                if caught.bound and caught.bound in mentions_of(node.value):
                    return True
            if isinstance(node, f.Return) and caught.bound and caught.bound in mentions_of(node.value):
                return True
            if isinstance(node, f.Call):
                site = self.errors.site(node, fn)
                entry = self.errors.entry(site) if site is not None else None
                if (entry is not None and entry.does == "exit") or self._sets_flag(node, site, fn):
                    return True
                if self._passes_on(node, caught.bound, entry.does if entry is not None else ""):
                    return True
                # What makes the text of a line of log may check what it is given, and passes nothing on.
                if node.at >= said and site is not None and any(self._restores(callee) for callee in self.program.callees(site)):
                    return True
                if tells(site.last if site is not None else ""):
                    said = max(said, node.end)
        tested = {m for stmt, _ in fn.body.stmts for test in _tests(stmt) for m in mentions(test)}
        return bool(written & tested) or any(
            w.rpartition(".")[2] in {t.rpartition(".")[2] for t in tested} for w in written if "." in w
        )

    def _sets_flag(self, call: f.Call, site: CallSite | None, fn: Fun) -> bool:
        """Whether a call sets the flag again, by its name or, where that is a method of the program, by what it does."""
        last = site.last if site is not None else dotted(call.fn).rpartition(".")[2]
        if not last.startswith(_FLAG) or last in _READS_FLAG:
            return False
        own = self.program.callees(site) if site is not None else []
        return not own or any(self._restores(callee) for callee in own)

    def _restores(self, fn: Fun) -> bool:
        called = (call.rpartition(".")[2] for call in fn.head.calls)
        return any(last.startswith(_FLAG) and last not in _READS_FLAG for last in called) or any(
            isinstance(n, f.Raise) for n in walk_block(fn.block)
        )

    @staticmethod
    def _passes_on(call: f.Call, bound: str, does: str) -> bool:
        """Whether a call is given the exception, and not only to tell of it."""
        if (
            not bound
            or does == "log"
            or tells(dotted(call.fn).rpartition(".")[2] or "x")
            or any(tells(part) for part in dotted(call.fn).split("."))
        ):
            return False
        if dotted(call.fn).startswith(bound + "."):
            return False
        return any(isinstance(a.value, f.Ref) and a.value.name == bound for a in call.args)

    # ------------------------------------------------------------ how it goes on

    def _after(self, caught: _Caught, ends: set[str]) -> tuple[str, tuple[Step, ...]] | None:
        """How the code goes on after the handler, in words; `None` where it ends by design or that is not known."""
        fn = caught.fn
        task = "thread" if fn.module.language == "java" else "task"
        leaves = ends <= {"return", "raise"}
        loop = next((a.node for a in reversed(caught.arm.chain()) if isinstance(a.node, f.Loop) and a.kind == "loop"), None)
        stays = (
            loop is not None and bool(ends & {"falls", "continue"}) and not (ends <= {"falls"} and self._falls_out(caught, loop))
        )
        if loop is not None and stays:
            if self._stops_otherwise(loop, fn):
                return None
            step = self.program.step(fn, f.Ref(loop.at, loop.at + 1, ""), "this loop goes on")
            endless = loop.form == "ever" or (loop.form == "while" and not any(isinstance(n, f.Bin) for n in walk(loop.test)))
            return f"the loop around it goes on{f', and the {task} cannot be stopped' if endless else ' with the next round'}", (
                step,
            )
        if not leaves and self._told_by_null(caught):
            return None
        if not leaves:
            following = self._next_wait(caught, caught.stmt.end if loop is None or "falls" in ends else loop.end)
            behind = following.loop if following is not None else None
            if isinstance(behind, f.Loop) and behind is not loop and self._stops_otherwise(behind, fn):
                return None
            if following is not None:
                return f"the code goes on to `{_said(following)}`", (self.program.step(fn, following.call, "goes on here"),)
        caller = self._caller(fn)
        if caller is not None:
            step = self.program.step(caller.fn, caller.call, f"{caller.fn.head.qual} goes on after this call")
            return f"{caller.fn.head.qual} takes it for a normal end and goes on", (step,)
        if fn.module.language == "java" and not self._ends_thread(fn):
            return "no caller can see that the thread was interrupted", ()
        return None

    def _stops_otherwise(self, loop: f.Loop, fn: Fun) -> bool:
        """Whether a loop asks in each round if it shall end, and who says so wakes it by the interrupt: that it is dropped is the
        design. What a method says that is not the flag of the interrupt is taken for such a question."""
        asked = [loop.test] if loop.test is not None and loop.form == "while" else []
        asked += [n.test for n in walk_block(loop.body) if isinstance(n, f.If) and _ends(n.then) & {"break", "return"}]
        for test in asked:
            if not _ASKS.search(self.program.text_of(fn, test, 200)):
                continue
            calls = [n for n in walk(test) if isinstance(n, f.Call)]
            if any(_FLAG in (dotted(c.fn) or "").rpartition(".")[2].lower() for c in calls):
                continue
            if any(self._is_of_pool(c, fn) for c in calls):
                return True
            own = [c for c in calls if "." not in dotted(c.fn).removeprefix("this.")] if fn.module.language == "java" else []
            if any(not self._is_librarys(c, fn) for c in own):
                return True
            bases = {dotted(c.fn).rpartition(".")[0] for c in calls} or set(mentions(test))
            words = {base.rpartition(".")[2] for base in bases} - {""}
            if any(self._wakes(other, words) for other in fn.module.functions if other is not fn):
                return True
        return False

    def _is_librarys(self, call: f.Call, fn: Fun) -> bool:
        """Whether a class asks a library's method that it inherits and that knowledge describes, as `Thread.isAlive`."""
        table = self.errors.resolver.table(fn.module)
        targets = self.program.names.java.targets(call, fn)
        return bool(targets) and all(isinstance(t, str) and table.call(t) is not None for t in targets)

    def _is_of_pool(self, call: f.Call, fn: Fun) -> bool:
        """Whether a pool is asked for its state: what interrupts its threads has ended it before."""
        site = self.errors.site(call, fn)
        table = self.errors.resolver.table(fn.module)
        kinds = (
            [table.type(target.name.rpartition(".")[0]) for target, _ in self.program.described(site)] if site is not None else []
        )
        return any(kind is not None and kind.role == "executor" for kind in kinds)

    def _wakes(self, fn: Fun, words: set[str]) -> bool:
        """Whether a function says by one of these names that something shall end, and cancels or interrupts."""
        called = [call.rpartition(".") for call in fn.head.calls]
        speaks = any(base.rpartition(".")[2] in words for base, _, _ in called) or bool(words & set(fn.head.writes))
        if not speaks:
            return False
        return any(
            "cancel" in last
            or last == _FLAG
            or any(
                e.does == "cancel"
                for site in fn.body.calls
                if site.last == last
                for e in [self.errors.entry(site, doing("cancel"))]
                if e
            )
            for _, _, last in called
        )

    def _ends_thread(self, fn: Fun, depth: int = 0) -> bool:
        """Whether the end of the function is the end of its thread: it starts with it, or comes to nothing more in what does."""
        if self._is_started(fn):
            return True
        sites = self.errors.resolver.callers(fn)[0] if depth < 2 else []
        return bool(sites) and all(
            site.loop is None and not self._goes_on(site) and self._ends_thread(site.fn, depth + 1) for _, site, _, _ in sites
        )

    def _told_by_null(self, caught: _Caught) -> bool:
        """Whether a test behind the handler leaves because nothing came: a local that was null before the body was to fill it."""
        fn = caught.fn
        place = self._places_of(fn).of(caught.stmt)
        if place is None or _ends(caught.handler) != {"falls"}:
            return False
        kept = {name for node in walk_block(caught.handler) if isinstance(node, f.Assign) for name in map(dotted, node.targets)}
        filled = {n for node in walk_block(caught.body) if isinstance(node, f.Assign) for n in map(dotted, node.targets)} - kept
        empty = {name for name in filled if "." not in name and self._is_null_before(name, caught)}
        for stmt in place.block[place.index + 1 :]:
            if isinstance(stmt, f.If):
                return _null_test(stmt.test) in empty and "falls" not in _ends(stmt.then)
            if any(isinstance(node, f.Call) and not tells(dotted(node.fn).rpartition(".")[2] or "x") for node in walk(stmt)):
                return False
        return False

    @staticmethod
    def _is_null_before(name: str, caught: _Caught) -> bool:
        """Whether all that a local was given before is null."""
        given = [
            stmt.value
            for stmt, _ in caught.fn.body.stmts
            if isinstance(stmt, f.Assign) and stmt.at < caught.stmt.at and name in map(dotted, stmt.targets)
        ]
        return bool(given) and all(isinstance(value, f.Lit) and value.value is None for value in given)

    def _falls_out(self, caught: _Caught, loop: f.Node) -> bool:
        """Whether what follows the handler inside of the loop always leaves it."""
        places = self._places_of(caught.fn)
        current: f.Stmt = caught.stmt
        while True:
            place = places.of(current)
            if place is None:
                return False
            ends = _ends(place.block[place.index + 1 :])
            if "falls" not in ends and "continue" not in ends:
                return True
            if place.owner is None or place.owner is loop:
                return False
            current = place.owner

    def _next_wait(self, caught: _Caught, start: int) -> CallSite | None:
        """The first call from a place on at which the task would stand still again."""
        fn = caught.fn
        for site in fn.body.calls:
            if site.call.at <= start or site.how or any(a.kind in ("handler", "final") for a in site.arm.chain()):
                continue
            if _excludes(site.arm, caught.arm):
                continue
            if fn.module.language == "python":
                if site.awaited:
                    return site
                continue
            entry = self.errors.entry(site, doing("wait", "sleep", "network", "query", "connect"))
            if entry is not None and entry.does in ("wait", "sleep", "network", "query", "connect"):
                return site
        return None

    def _caller(self, fn: Fun, depth: int = 0) -> CallSite | None:
        """A call of the function after which its caller goes on as if nothing had happened."""
        if depth > 1:
            return None
        for caller, site, _args, _this in self.errors.resolver.callers(fn)[0]:
            if (
                caller.fn.module.is_test
                or site.how
                or _starts_program(caller.fn)
                or (fn.module.language == "python" and not site.awaited)
            ):
                continue
            if any(a.kind in ("handler", "final") for a in site.arm.chain()) or cancels(caller.fn):
                continue
            if site.loop is not None and isinstance(site.loop, f.Loop) and not isinstance(site.stmt, f.Return):
                return site
            if self._goes_on(site):
                return site
            found = self._caller(caller.fn, depth + 1)
            if found is not None:
                return found
        return None

    @staticmethod
    def _goes_on(site: CallSite) -> bool:
        if isinstance(site.stmt, f.Return):
            return False
        return any(
            other.call.at > site.stmt.end
            and not other.how
            and not tells(other.last)
            and not any(a.kind in ("handler", "final") for a in other.arm.chain())
            and not _excludes(other.arm, site.arm)
            for other in site.fn.body.calls
        )

    def _is_started(self, fn: Fun) -> bool:
        """Whether a thread starts with the function, so that its end is the end of the thread."""
        return fn.head.kind == "lambda" or (fn.name in _STARTED and not fn.positional) or fn.name == "main"

    # ------------------------------------------------------------ Go

    def _go(self) -> Iterator[Fault]:
        for module in code_modules(self.program, "go"):
            if not self.program.says(module.path, _CANCELED):
                continue
            for fn in module.functions:
                if fn.index and fn.head.returns and fn.head.returns[-1].name == "error":
                    for stmt, arm in fn.body.stmts:
                        if isinstance(stmt, f.If) and not any(a.kind in ("loop", "final") for a in arm.chain()):
                            yield from self._in_if(fn, stmt)

    def _in_if(self, fn: Fun, stmt: f.If) -> Iterator[Fault]:
        errors = self.errors
        for pick, _holds in errors.picks(stmt.test, fn):
            if pick.causes != frozenset({CALLER}) or not pick.error:
                continue
            origin = errors.origin(pick.error, fn, pick.node.at)
            if len(origin) != 1 or not any(errors.from_caller(expr, fn, at) for expr, at in errors.contexts(origin[0])):
                continue
            if self._cancels(fn):
                continue
            truth = errors.truth(stmt.test, fn, errors.knowing(pick))
            block = stmt.then if truth is True else stmt.orelse if truth is False else None
            if block is None:
                continue
            after = self._as_success(fn, stmt, block, pick)
            if after is None:
                continue
            text, steps = after
            span = self.program.span_of(fn, pick.node)
            came = self.program.step(fn, origin[0].call, f"`{pick.error}` comes from here")
            message = f"the caller's cancellation is dropped here: {text}"
            yield Fault(span, message, Value(None, Confidence.HIGH, (came, *steps)), key=(span.path, span.line))

    def _cancels(self, fn: Fun) -> bool:
        """Whether the function ends a context of its own on purpose, not only when it returns."""
        return any("cancel" in site.last.lower() and site.how != "defer" for site in fn.body.calls)

    def _as_success(self, fn: Fun, stmt: f.If, block: f.Block, pick: Pick) -> tuple[str, tuple[Step, ...]] | None:
        """How a function that got a cancellation ends like one that has done its work."""
        way = [*block]
        if "falls" in _ends(block):
            places = self._places_of(fn)
            current: f.Stmt = stmt
            while (place := places.of(current)) is not None:
                way.extend(place.block[place.index + 1 :])
                if place.owner is None:
                    break
                current = place.owner
        elif any(isinstance(s, f.Raise | f.Jump) for s in block):
            return None
        done: f.Node | None = None
        for step_ in way:
            if any(isinstance(n, f.Call) and self._asks(n, fn, pick) for n in walk(step_)):
                return None
            if isinstance(step_, f.Return):
                return self._returns(fn, step_, done, pick)
            if not isinstance(step_, f.Do | f.Assign | f.Defer):
                return None
            results = step_.targets if isinstance(step_, f.Assign) else ()
            if any(self._is_result(t, fn) for t in results) or (not isinstance(step_, f.Defer) and self._does(step_, fn)):
                done = done or step_
        return None

    def _returns(self, fn: Fun, stmt: f.Return, done: f.Node | None, pick: Pick) -> tuple[str, tuple[Step, ...]] | None:
        value = stmt.value.items[-1].value if isinstance(stmt.value, f.Coll) and stmt.value.items else stmt.value
        if not (isinstance(value, f.Lit) and value.value is None):
            return None
        steps = (self.program.step(fn, stmt, "no error is returned"),)
        if done is not None:
            step = self.program.step(fn, done, "done as after a success")
            return f"{fn.head.qual} goes on as after a success and returns no error", (step, *steps)
        caller = self._go_caller(fn)
        if caller is None:
            return None
        step = self.program.step(caller.fn, caller.call, f"{caller.fn.head.qual} goes on after this call")
        return f"{fn.head.qual} returns no error, and {caller.fn.head.qual} goes on as after a success", (*steps, step)

    def _go_caller(self, fn: Fun) -> CallSite | None:
        """A caller that hands on its own caller's context and does something more once the call gave no error."""
        if _SERVES.match(fn.name):
            return None
        for caller, site, _args, _this in self.errors.resolver.callers(fn)[0]:
            if site.how or caller.fn.module.is_test or _SERVES.match(caller.fn.name) or isinstance(site.stmt, f.Return):
                continue
            if not any(self.errors.from_caller(expr, caller.fn, at) for expr, at in self.errors.contexts(site)):
                continue
            last = max(
                (s.end for s, a in caller.fn.body.stmts if s.at <= site.call.at < s.end and isinstance(s, f.If | f.Assign)),
                default=0,
            )
            for stmt, arm in caller.fn.body.stmts:
                if stmt.at > last and not any(a.kind in ("then", "else") for a in arm.chain()) and self._works(stmt, caller.fn):
                    return site
        return None

    def _works(self, stmt: f.Stmt, fn: Fun) -> bool:
        if isinstance(stmt, f.Assign) and any(self._is_result(t, fn) for t in stmt.targets):
            return True
        return isinstance(stmt, f.Do | f.Assign | f.Return) and self._does(stmt, fn)

    def _does(self, stmt: f.Stmt, fn: Fun) -> bool:
        """Whether a statement calls something that goes out."""
        for node in walk(stmt):
            site = self.errors.site(node, fn) if isinstance(node, f.Call) else None
            if site is not None and not any(tells(p) for p in dotted(site.call.fn).split(".")) and self.errors.goes_out(site):
                return True
        return False

    @staticmethod
    def _is_result(target: f.Expr, fn: Fun) -> bool:
        head, dot, _ = dotted(target).partition(".")
        return head in fn.head.named_returns or (bool(dot) and (head in fn.params or fn.is_method))

    def _asks(self, call: f.Call, fn: Fun, pick: Pick) -> bool:
        """Whether a later call asks the context again."""
        return call is not pick.node and dotted(call.fn).rpartition(".")[2] in ("Err", "Done", "Cause")

    # ------------------------------------------------------------ parts

    def _places_of(self, fn: Fun) -> Places:
        if fn not in self._places:
            self._places[fn] = Places(fn)
        return self._places[fn]


def _starts_program(fn: Fun) -> bool:
    """Whether a function runs once as a program or class starts, on a thread that nobody interrupts for it."""
    return fn.name == "main" or fn.name.startswith("<static")


def mentions_of(expr: f.Expr | None) -> set[str]:
    """Every dotted name inside an expression that may be absent."""
    return set(mentions(expr)) if expr is not None else set()


def _said(site: CallSite) -> str:
    return dotted(site.call.fn) or site.last or "another call"


def _excludes(a: Arm, b: Arm) -> bool:
    """Whether two arms are different branches of one choice."""
    mine = {arm.choice: arm for arm in a.chain() if arm.choice}
    return any(arm.choice in mine and mine[arm.choice] is not arm for arm in b.chain() if arm.choice)


def _null_test(test: f.Expr) -> str:
    """The name of which a test asks only whether it is null; empty for another test."""
    if not isinstance(test, f.Bin) or test.op not in ("==", "is"):
        return ""
    for null, name in ((test.left, test.right), (test.right, test.left)):
        if isinstance(null, f.Lit) and null.value is None:
            return dotted(name)
    return ""


def _tests(stmt: f.Stmt) -> Iterator[f.Expr]:
    if isinstance(stmt, f.If | f.Loop) and stmt.test is not None:
        yield stmt.test


def _ends(block: f.Block) -> set[str]:
    """How a block may end: `falls` out of its end, or by `return`, `raise`, `break`, `continue`."""
    out: set[str] = set()
    for stmt in block:
        ends: set[str]
        match stmt:
            case f.Return():
                return out | {"return"}
            case f.Raise():
                return out | {"raise"}
            case f.Jump():
                return out | {stmt.kind if stmt.kind in ("break", "continue") else "return"}
            case f.If():
                ends = _ends(stmt.then) | _ends(stmt.orelse)
            case f.With():
                ends = _ends(stmt.body)
            case f.Try():
                ends = _ends(stmt.body).union(*(_ends(h.body) for h in stmt.handlers))
            case f.Loop():
                ends = (_ends(stmt.body) - {"break", "continue"}) | {"falls"}
            case f.Switch():
                ends = {"falls"}.union(*(_ends(c.body) - {"break"} for c in stmt.cases))
            case _:
                ends = {"falls"}
        out |= ends - {"falls"}
        if "falls" not in ends:
            return out
    return out | {"falls"}
