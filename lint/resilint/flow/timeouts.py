"""Timeouts that are missing, disabled, in the wrong unit or replaced: one fault per place, by the catalogue's precedence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import inf
from typing import TYPE_CHECKING

from msgspec.structs import replace

from resilint import facts as f
from resilint.flow.callbacks import endless_reads
from resilint.flow.data_sources import endless_sources
from resilint.flow.deadlines import Deadline
from resilint.flow.listeners import is_local, is_told_local
from resilint.flow.resolve import unit_of_name
from resilint.flow.slots import Slot, Source, say_seconds
from resilint.flow.timers import is_ended_by_timer
from resilint.flow.values import Absent, ClassVal, Null, Num, Obj, Unknown
from resilint.flow.values import Bound as BoundVal
from resilint.flow.waits import ENOUGH, METHODS_OF_BUILTINS, Endless, Wait
from resilint.knowledge.schema import Bound, CallEntry, Need, TypeEntry
from resilint.link.code import CODE, CallSite, Fun, Klass, dotted, last_name, names_given, walk
from resilint.link.looks import any_of
from resilint.model import Confidence, Fix, Severity, Span, Step, Value

if TYPE_CHECKING:
    from resilint.flow.reach import Reach
    from resilint.program import Program, Target

TIME = frozenset(
    {"total", "read", "write", "connect", "io", "header", "body", "idle", "handshake", "statement", "transaction", "lock_wait"}
    | {"pool_wait", "wait", "deadline", "request", "elapsed"}
)
"""Slots that hold a time which ends a wait."""


_LINES = re.compile(r"a?iter_?lines|readlines?|a?iter_?sse|events?", re.IGNORECASE)
"""Calls that give what a stream brings line by line, or event by event."""


@dataclass(frozen=True)
class Fault:
    """One fault, ready to be reported: where, what, and the values it rests on."""

    span: Span
    message: str
    value: Value
    severity: Severity | None = None
    key: object = None
    """What it is about: faults of one code with one key are one."""
    fix: Fix | None = None


@dataclass(frozen=True)
class WrittenSlot:
    """A slot with a value that somebody wrote, at a call, in a literal or by an assignment."""

    slot: Slot
    where: tuple[Fun, f.Node]
    api: str
    holder: Obj | None


class Timeouts:
    """Sorts every endless wait to the one code that says what is wrong with it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.missing: dict[str, list[Fault]] = {"network": [], "query": []}
        self.dropped_context: list[Fault] = []
        self.disabled: list[Fault] = []
        self.mismatched: list[Fault] = []
        self.pool_waits: list[Fault] = []
        self._disabled_at: set[tuple[str, int]] = set()
        self._seen: set[object] = set()
        self._written()
        # What production asks is shown rather than what its tests do.
        for wait in sorted(program.start_waits, key=lambda wait: wait.fn.module.is_test):
            if wait.kind not in ("network", "query", "connect"):
                continue
            if wait.bound == inf:
                self._sort(wait)
            elif wait.bound is None:
                # Whether something else bounds it is not known; that the caller's context stops here is.
                _ = self._without_context(wait) or self._fresh_context(wait)
            else:
                self._longer_context(wait)
                self.program.offers.unused(wait)
        program.offers.of_unseen_clients()
        for source, way in endless_sources(program):
            self._unbounded_source(source, way)
        self._leave_to_settings()
        for faults in (*self.missing.values(), self.dropped_context, self.disabled, self.mismatched):
            faults.sort(key=lambda x: (x.span, x.message))

    def _leave_to_settings(self) -> None:
        """What is found in the XML of a bean, and what the settings themselves say of the same place, is said once."""
        if not any(module.beans for module in self.program.names.modules.values()):
            return
        told = self.program.setting_faults
        for faults, known in (
            (self.missing["query"], told.queries),
            (self.disabled, told.disabled),
            (self.mismatched, told.mismatched),
            (self.pool_waits, told.endless_waits),
        ):
            places = {(fault.span.path, fault.span.line, fault.span.col) for fault in known}
            faults[:] = [x for x in faults if (x.span.path, x.span.line, x.span.col) not in places]

    # ------------------------------------------------------------ endless waits

    def _sort(self, wait: Wait) -> None:
        if self._without_context(wait) or self._fresh_context(wait):
            return
        for way in wait.ways:
            if way.reason == "disabled":
                if (wait.fn.module.is_test and self._is_put_back(way.where)) or self._is_listened_to(*way.where):
                    continue
                use = "query" if wait.kind == "query" else ""
                self._add_disabled(way.where, wait.api, wait.kind, way.confidence, way.steps, way.row, use)
                continue
            if self.program.offers.explains(wait, way):
                continue
            self._missing(wait, way)

    def _missing(self, wait: Wait, way: Endless) -> None:
        program = self.program
        fn, node = way.where
        kind = "query" if wait.kind == "query" else "network"
        if kind == "query" and fn.module.is_test:
            return  # The database of a test is its own: nobody else waits for it.
        if fn.module.is_test and program.test_code.is_ended(fn.module.path, fn.module.facts):
            return
        if kind == "network" and (program.settings.is_test_code(fn.module.path) or fn.module.is_helper):
            return  # Who runs a test waits for the server under test, and whatever runs tests ends one that hangs.
        if kind == "network" and wait.fn.module.is_test and not fn.module.is_test:
            return  # What a test asks without a limit tells nothing of those who ask in production.
        key = ("missing", kind, fn.module.path, node.at, node.end)
        if key in self._seen or (fn.module.path, node.end) in self._disabled_at:
            return
        if node is wait.site.call and self._was_opened_without_end(wait.holder):
            return
        self._seen.add(key)
        subject = way.subject or wait.api
        if fn is wait.fn and node is wait.site.call:
            where = "nothing on its path sets a timeout"
        elif way.holder is not None and way.holder.node is node:
            where = f"neither the object made here nor its calls set a {'statement timeout' if kind == 'query' else 'timeout'}"
        else:
            where = "this call leaves the timeout out"
            subject = wait.api
        what = "a statement" if kind == "query" else "a call"
        message = (
            f"{short(subject)} can wait for ever: {where}"
            if subject == wait.api
            else f"{what} through {short(subject)} can wait for ever: {where}"
        )
        value = Value(inf, way.confidence, way.steps)
        enough = frozenset(wait.entry.enough or ENOUGH[wait.kind])
        fix = program.mending.missing(wait, way, enough)
        self.missing[kind].append(Fault(program.span_of(fn, node), message, value, _severity(fn), key=key, fix=fix))

    @cached_property
    def _endless_connects(self) -> frozenset[tuple[str, int]]:
        # One that takes a limit of its own is another fault than what is read later.
        waits = (wait for wait in self.program.all_waits if wait.kind == "connect" and wait.bound == inf and not wait.entry.bounds)
        return frozenset((wait.fn.module.path, wait.site.call.at) for wait in waits)

    def _was_opened_without_end(self, holder: Obj | None) -> bool:
        """Whether the connection comes from a call that can wait for ever itself: that is where it lacks its limit."""
        while holder is not None and holder.kind == "call" and isinstance(holder.node, f.Node) and holder.fn is not None:
            if (holder.fn.module.path, holder.node.at) in self._endless_connects:
                return True
            holder = holder.parent
        return False

    def _unbounded_source(self, source: Obj, way: Endless) -> None:
        fn, node = way.where
        key = ("missing", "query", fn.module.path, node.at, node.end)
        off = any(isinstance(x, f.Node) and (fn.module.path, x.end) in self._disabled_at for x in walk(node))
        if fn.module.is_test or key in self._seen or off:
            return
        self._seen.add(key)
        where = "neither its settings, its URL nor a statement sets a timeout"
        message = f"a statement through {short(way.subject)} can wait for ever: {where}"
        value = Value(inf, way.confidence, way.steps)
        self.missing["query"].append(Fault(self.program.span_of(fn, node), message, value, _severity(fn), key=key))

    def _add_disabled(
        self,
        where: tuple[Fun, f.Node],
        api: str,
        kind: str,
        confidence: Confidence,
        steps: tuple[Step, ...],
        row: Bound | None = None,
        use: str = "",
        severity: Severity | None = None,
    ) -> None:
        fn, node = where
        # An assignment and the value it assigns end at one place.
        key = (fn.module.path, node.end)
        if key in self._disabled_at:
            return
        self._disabled_at.add(key)
        text = self.program.text_of(fn, node, 30)
        self.disabled.append(
            Fault(
                self.program.span_of(fn, node),
                f"`{text}` switches the timeout of {short(api)} off: it can wait for ever",
                Value(inf, confidence, steps),
                _severity(fn) or severity,
                key=key,
                fix=self.program.mending.instead(row, fn, node, use) if row is not None else None,
            )
        )

    # ------------------------------------------------------------ contexts

    def _without_context(self, wait: Wait) -> bool:
        """The call takes no context although its function has one."""
        entry = self.program.entries.get(wait.fn)
        if wait.entry.takes_no_context:
            held = self._held(wait.fn)
        elif entry is not None and entry.context and wait.bound == inf:
            held = wait.fn.params.get(entry.context)
        else:
            held = None
        if held is None:
            return False
        span = self.program.span_of(wait.fn, wait.site.call)
        steps = (self.program.step(wait.fn, wait.fn.head, f"{wait.fn.head.qual} holds `{held.name}`"),)
        if wait.entry.takes_no_context:
            message = (
                f"{short(wait.api)} takes no context although `{held.name}` is in scope: "
                "the caller's deadline and cancellation stop here"
            )
        else:
            message = f"{short(wait.api)} is given no timeout although `{held.name}` carries the caller's deadline"
        sure = self.program.knowledge.sure(wait.entry, Confidence.HIGH if wait.bound == inf else Confidence.MEDIUM)
        fix = None
        if wait.entry.takes_no_context:
            fix = self.program.mending.with_context(wait.fn, wait.site.call, self._context_of(held, wait.fn))
        value = Value(inf, sure, self._head_steps(steps))
        self.dropped_context.append(Fault(span, message, value, _severity(wait.fn), key=(span,), fix=fix))
        return True

    def _context_of(self, held: f.Param, fn: Fun) -> str:
        """The parameter where it is a context; one of a request has no deadline, so that passing it on leaves another fault."""
        scope: Fun | None = fn
        while scope is not None and scope.params.get(held.name) is not held:
            scope = scope.parent
        kind = self.resolver.resolve_type(held.type, scope) if held.type is not None and scope is not None else None
        # What only behaves like one may never end.
        return held.name if kind == "context.Context" else ""

    def _head_steps(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        # A function's whole range is no place to look at: its first line is.
        return tuple(Step(Span(s.span.path, s.span.line, s.span.col, s.span.line, s.span.col + 1), s.text) for s in steps)

    def _fresh_context(self, wait: Wait) -> bool:
        """The call is given a context made fresh although a caller holds one."""
        done = False
        for deadline in wait.deadlines:
            if deadline.kind != "root" or deadline.made is None:
                continue
            fn, node = deadline.made
            if self._is_first_value(fn, node):
                continue
            found = self._holder_above(fn)
            if found is None or (len(found[0]) > 1 and not self._makes_context(deadline)):
                continue
            done = True
            chain, held = found
            key = ("fresh", fn.module.path, node.at)
            if key in self._seen:
                continue
            self._seen.add(key)
            steps: list[Step] = []
            top = chain[-1][0]
            steps.extend(self._head_steps((self.program.step(top, top.head, f"{top.head.qual} holds `{held.name}`"),)))
            for caller, site in reversed(chain[1:] if len(chain) > 1 else []):
                if site is not None:
                    steps.append(self.program.step(caller, site.call, f"{caller.head.qual} calls on without it"))
            steps.append(self.program.step(wait.fn, wait.site.call, f"{short(wait.api)} waits under the fresh context"))
            far = "" if len(chain) == 1 else f", {len(chain) - 1} call{'s' if len(chain) > 2 else ''} above"
            message = (
                f"a fresh context replaces `{held.name}` of {top.head.qual}{far}: "
                f"{short(wait.api)} has no deadline and is not cancelled"
            )
            sure = self.program.knowledge.sure(wait.entry, Confidence.HIGH if wait.bound == inf else Confidence.MEDIUM)
            where = self.program.span_of(fn, node)
            fix = None
            if len(chain) == 1:
                mend = self.program.mending.passed_on if self._makes_context(deadline) else self.program.mending.with_context
                fix = mend(fn, node, self._context_of(held, fn))
            self.dropped_context.append(Fault(where, message, Value(inf, sure, tuple(steps)), _severity(fn), key=key, fix=fix))
        return done

    def _is_first_value(self, fn: Fun, node: f.Node) -> bool:
        """Whether what is made here is what a field holds until an option or a setter of the package gives it another."""
        for stmt, _ in fn.body.stmts:
            if isinstance(stmt, f.Assign) and stmt.at <= node.at and node.end <= stmt.end and len(stmt.targets) == 1:
                base, _, field = dotted(stmt.targets[0]).rpartition(".")
                writers = self.program.names.writers_of.get(field, ()) if base else ()
                return any(other is not fn and other.module.folder == fn.module.folder for other in writers)
        return False

    def _makes_context(self, deadline: Deadline) -> bool:
        """Whether a fresh context is written as one: what makes its own without a word (`http.NewRequest`) merely takes none."""
        thing = deadline.flow.thing if deadline.flow is not None else None
        if not isinstance(thing, Obj) or thing.frame is None:
            return False
        return self.resolver.external_type(thing) == "context.Context"

    def _longer_context(self, wait: Wait) -> None:
        """The call is given a fixed bound that outlasts the one its function holds."""
        for deadline in wait.deadlines:
            if deadline.root is None or deadline.number is None:
                continue
            fn, node = deadline.root
            held = self._held(fn)
            key = ("fresh", fn.module.path, node.at)
            if held is None or key in self._seen:
                continue
            outer = self.program.deadlines.of(f.Ref(fn.head.end, fn.head.end, held.name), self.resolver.frame(fn))
            numbers = [x.number for x in outer if x.kind == "bounded"]
            if len(numbers) < len(outer) or not numbers or None in numbers:
                continue
            least = min(x for x in numbers if x is not None)
            if deadline.number <= least:
                continue
            self._seen.add(key)
            steps = [
                self.program.step(*x.made, f"`{held.name}` has {say_seconds(least)}") for x in outer if x.made and x.number == least
            ]
            steps.append(self.program.step(wait.fn, wait.site.call, f"{short(wait.api)} waits under the fresh context"))
            message = (
                f"a fresh context of {say_seconds(deadline.number)} replaces `{held.name}` of {fn.head.qual}, "
                f"which ends after {say_seconds(least)}: {short(wait.api)} goes on for callers who have left"
            )
            where = self.program.span_of(fn, node)
            value = Value(deadline.number, Confidence.HIGH, tuple(steps))
            self.dropped_context.append(Fault(where, message, value, _severity(fn), key=key))

    def _held(self, fn: Fun) -> f.Param | None:
        """The context or request among a function's parameters; a literal inside a function sees that one's too."""
        scope: Fun | None = fn
        while scope is not None:
            for param in scope.head.params:
                if param.kind == "self" or param.name in ("_", ""):
                    continue
                if self._carries_context(param, scope):
                    return param
            if self._detached(scope):
                return None
            scope = scope.parent
        return None

    def _carries_context(self, param: f.Param, fn: Fun) -> bool:
        kind = self.resolver.resolve_type(param.type, fn) if param.type is not None else None
        if not isinstance(kind, str) or not kind:
            return False
        table = self.resolver.table(fn.module)
        entry = table.type(kind)
        if kind == "context.Context" or (entry is not None and entry.role == "context" and fn.module.language == "go"):
            return True
        row = table.context(f"{kind}.Context")
        if row is None or row.kind != "request":
            return False
        # A request may be one that is about to be sent: what is served comes to a handler, or has the name Go gives it there.
        return fn in self.program.entries or param.name == "r"

    def _detached(self, fn: Fun) -> bool:
        """Whether a function literal runs on its own (`go func() {…}`): its parent's request may be over."""
        parent = fn.parent
        if parent is None or fn.head.kind != "lambda":
            return False
        return any(s.how == "go" and isinstance(s.call.fn, f.Fn) and s.call.fn.index == fn.index for s in parent.body.calls)

    def _holder_above(self, fn: Fun) -> tuple[list[tuple[Fun, CallSite | None]], f.Param] | None:
        """The nearest function, up to four calls above, that holds a context or request, on a path that is no test and no start."""
        held = self._held(fn)
        if held is not None:
            return [(fn, None)], held
        level: list[list[tuple[Fun, CallSite | None]]] = [[(fn, None)]]
        seen = {fn}
        for _ in range(4):
            further: list[list[tuple[Fun, CallSite | None]]] = []
            for chain in level:
                bottom = chain[-1][0]
                if bottom.name in ("main", "init") or self._detached(bottom):
                    continue
                sites, _whole = self.resolver.callers(bottom)
                for _frame, site, _args, _this in sites:
                    caller = site.fn
                    if site.how == "go" or caller in seen or caller.module.is_test:
                        continue
                    seen.add(caller)
                    longer = [*chain, (caller, site)]
                    held = self._held(caller)
                    if held is not None:
                        return longer, held
                    further.append(longer)
            level = further[:32]
        return None

    # ------------------------------------------------------------ written values

    def _written(self) -> None:
        all_found = list(written_slots(self.program))
        # One value that switches everything off is one fault.
        off = {
            (found.where[0], id(found.where[1]))
            for found in all_found
            if found.slot.state == "disabled" and found.slot.bound.slot in TIME - {"pool_wait"}
        }
        for found in all_found:
            slot = found.slot
            if slot.mismatch and slot.bound.slot in TIME:
                if not _is_meant(found):
                    self._mismatch(found)
            elif slot.state == "disabled" and slot.bound.slot == "pool_wait":
                if (found.where[0], id(found.where[1])) not in off:
                    self._waits_for_connection(found)
            elif (
                slot.state == "disabled"
                and slot.bound.slot in TIME
                and not self._keeps_idle(found)
                and not self._is_listened_to(*found.where)
                and not self._covered(found)
                and not _is_read_for(found, all_found)
                and not self._is_put_back(found.where)
                and not self._is_ended_by_timer(found)
                and not self._is_set_anew(found)
            ):
                fn, node = found.where
                need = self._need(found)
                if need is not None and need.quiet_for_streams and _streams(self.program, fn):
                    continue
                confidence = self.program.knowledge.sure(slot.bound)
                hops = slot.flow.hops if slot.flow is not None else ()
                if hops and (hops[-1].path, hops[-1].end) == (fn.module.path, node.end):
                    hops = hops[:-1]  # that is the finding's own place
                steps = self.program.trace(hops)
                severity = Severity(need.severity) if need is not None else None
                self._add_disabled((fn, node), found.api, "", confidence, steps, slot.bound, self._use(found), severity)

    def _need(self, found: WrittenSlot) -> Need | None:
        """What a server needs this timeout for: switched off, it matters as much as where it is left out."""
        kind = self.program.knowledge.of(found.where[0].module.language).type(found.api.rpartition(".")[0])
        return next((need for need in kind.needs if found.slot.bound.slot in need.any), None) if kind is not None else None

    def _keeps_idle(self, found: WrittenSlot) -> bool:
        """Whether what is switched off only ends connections that nobody uses, of a client: no call waits for that."""
        kind = self.program.knowledge.of(found.where[0].module.language).type(found.api)
        return found.slot.bound.slot == "idle" and kind is not None and kind.role in ("limits", "client")

    def _is_listened_to(self, fn: Fun, node: f.Node) -> bool:
        """Whether what has no end is a stream that is read line by line, as events come: it stays open by design."""
        around = [site for site in fn.body.calls if site.call.at <= node.at and node.end <= site.call.end]
        if not any(entry.streams for site in around[-1:] for _, entry in self.program.described(site)):
            return False
        names = {name for stmt, _ in fn.body.stmts for name in names_given(stmt, node)}
        return any(
            isinstance(stmt, f.Loop)
            and isinstance(stmt.iter, f.Call)
            and _LINES.fullmatch(last_name(stmt.iter.fn))
            and stmt.at > node.at
            and any(isinstance(x, f.Ref) and x.name.partition(".")[0] in names for x in walk(stmt.iter))
            for stmt, _ in fn.body.stmts
        )

    def _is_put_back(self, where: tuple[Fun, f.Node]) -> bool:
        """Whether a test gives a default of the whole process back what it had before: it undoes what it did."""
        fn, node = where
        if not fn.module.is_test:
            return False
        around = [site for site in fn.body.calls if site.call.at <= node.at and node.end <= site.call.end]
        entries = (entry for site in around[-1:] for target, entry in self.program.described(site) if target.holder is None)
        return any(entry.does == "configure" for entry in entries)

    def _is_ended_by_timer(self, found: WrittenSlot) -> bool:
        """Whether what may last for ever is a request that is put off, and ended by a timer of the program."""
        fn, node = found.where
        around = [
            site for site in fn.body.calls if site.last == found.slot.bound.setter and site.call.at <= node.at < site.call.end
        ]
        return found.slot.bound.slot == "request" and any(is_ended_by_timer(self.program, fn, site) for site in around[-1:])

    def _is_set_anew(self, found: WrittenSlot) -> bool:
        """Whether what is made without an end is given one before it is waited for, as a timer is that is only to be there."""
        fn, node = found.where
        stmt = next((s for s, _ in fn.body.stmts if isinstance(s, f.Assign) and s.at <= node.at and node.end <= s.end), None)
        names = {dotted(target) for target in stmt.targets} - {""} if isinstance(stmt, f.Assign) else set()
        return any(
            dotted(site.call.fn).rpartition(".")[0] in names
            and any(
                entry.does == "configure" and any(b.slot == "wait" for b in entry.bounds)
                for _, entry in self.program.described(site)
            )
            for site in (fn.body.calls if names else ())
            if site.call.at > node.at
        )

    def _use(self, found: WrittenSlot) -> str:
        """What a slot is of: a server, a database."""
        holder = found.holder
        table = self.program.knowledge.of(found.where[0].module.language)
        kind = table.type(self.resolver.external_type(holder)) if holder is not None else None
        if kind is not None and kind.role == "server":
            return "server"
        return "query" if kind is not None and kind.protocol == "sql" else ""

    def _waits_for_connection(self, found: WrittenSlot) -> None:
        """A wait for a connection of a pool that is written to have no end; a bound on using connections does not bound it."""
        fn, node = found.where
        if (
            fn.module.is_test
            or found.slot.bound.unit == "bool"
            # Where nothing is the library's own default, it is nothing that somebody has switched off.
            or (found.slot.flow is not None and isinstance(found.slot.flow.thing, Null) and found.slot.bound.default == "endless")
            or any(fault.key == (fn.module.path, node.end) for fault in self.pool_waits)
        ):
            return
        text = self.program.text_of(fn, node, 30)
        message = f"`{text}` lets who asks {short(found.api)} for a connection wait for ever when none comes back"
        hops = found.slot.flow.hops if found.slot.flow is not None else ()
        value = Value(inf, self.program.knowledge.sure(found.slot.bound), self.program.trace(hops[:-1]))
        fix = self.program.mending.instead(found.slot.bound, fn, node)
        self.pool_waits.append(Fault(self.program.span_of(fn, node), message, value, key=(fn.module.path, node.end), fix=fix))

    def _mismatch(self, found: WrittenSlot) -> None:
        fn, node = found.where
        key = ("unit", fn.module.path, node.at)
        if key in self._seen:
            return
        self._seen.add(key)
        hops = found.slot.flow.hops if found.slot.flow is not None else ()
        unit = {
            "dur": "a duration with a unit",
            "s": "seconds",
            "ms": "milliseconds",
            "us": "microseconds",
            "ns": "nanoseconds",
        }.get(found.slot.bound.unit, found.slot.bound.unit)
        known = found.slot.number is not None
        said = f"is {say_seconds(found.slot.number or 0)}" if known else "is wrong by its unit"
        if found.slot.bound.moment:
            said, unit = "has passed before it begins", "what the clock says plus the time that may pass"
        message = f"{found.slot.bound.slot} timeout of {short(found.api)} {said}: {found.slot.mismatch}; it takes {unit}"
        sure = Confidence.HIGH if known and len(hops) <= 8 else Confidence.MEDIUM
        sure = self.program.knowledge.sure(found.slot.bound, sure)
        thing = found.slot.flow.thing if found.slot.flow is not None else None
        raw = found.slot.bound.unit == "dur" and fn.module.language == "go" and isinstance(thing, Num)
        fix = self.program.mending.rescaled(found.slot.bound, fn, node, raw) if not found.slot.bound.moment else None
        self.mismatched.append(
            Fault(self.program.span_of(fn, node), message, self.program.value(found.slot.number, sure, hops=hops), key=key, fix=fix)
        )

    def _covered(self, found: WrittenSlot) -> bool:
        """Whether every wait that the written value could make endless is bounded by something else."""
        waits = [w for w in self.program.all_waits if self._concerns(found, w)]
        return bool(waits) and all(w.bound is not None and w.bound != inf for w in waits)

    def _concerns(self, found: WrittenSlot, wait: Wait) -> bool:
        fn, node = found.where
        if found.holder is not None and wait.holder is not None:
            same = found.holder.node is not None and wait.holder.node is found.holder.node
            if same or wait.holder == found.holder:
                return True
        # What comes out of `**kwargs` is written nowhere but at the call.
        if wait.fn is fn and (wait.site.call is node or any(arg.value is node for arg in wait.site.call.args)):
            return True
        slots = (x for source in wait.sources for x in source.slots)
        return any(x.written is not None and x.written[0] is fn and x.written[1] is node for x in slots)


def _is_read_for(found: WrittenSlot, others: list[WrittenSlot]) -> bool:
    """Whether only the sum has no end: each read has one, which is given beside it (`total=None, sock_read=60`)."""
    fn, node = found.where
    calls = [site.call for site in fn.body.calls if site.call.at <= node.at and node.end <= site.call.end]
    if found.slot.bound.slot != "total" or not calls:
        return False
    call = min(calls, key=lambda c: c.end - c.at)
    return any(
        other.where[0] is fn
        and call.at <= other.where[1].at < call.end
        and other.slot.bound.slot in ("read", "io")
        and other.slot.state == "finite"
        for other in others
    )


def _is_meant(found: WrittenSlot) -> bool:
    """Whether a time that seems too long was counted out in its unit: `60 * 60 * 24` seconds, or `2**32`, which is for ever."""
    node, row, number = found.where[1], found.slot.bound, found.slot.number
    if not isinstance(node, f.Bin) or number is None or row.plausible is None or row.unit != "s" or number <= row.plausible[1]:
        return False
    if node.op == "**":
        return isinstance(node.left, f.Lit) and node.left.value == 2
    factors = {part.value for part in walk(node) if isinstance(part, f.Lit)}
    return bool(factors & {60, 3600, 86400}) and 1000 not in factors


def _severity(fn: Fun) -> Severity | None:
    """A test, an example or a script that may hang takes no service down: worth knowing, no more."""
    return Severity.INFO if fn.module.is_test else None


def short(name: str) -> str:
    """A canonical name as a reader knows it: `net/http.Client.Do` → `http.Client.Do`; Java without its packages."""
    path, _, rest = name.rpartition("/")
    if not path:
        parts = name.split(".")
        packages = next((i for i, part in enumerate(parts) if part[:1].isupper()), 0)
        return ".".join(parts[packages:]) if packages > 2 or parts[0] == "java" else name
    head, dot, tail = rest.partition(".")
    if head.startswith("v") and head[1:].isdigit():
        return f"{path.rpartition('/')[2]}{dot}{tail}"
    return rest


def written_slots(program: Program) -> Iterator[WrittenSlot]:
    """Every slot of a known API that the program writes a value to."""
    for language in CODE:
        table = program.knowledge.of(language)
        timed = [c for lib in table.libraries for c in lib.calls if any(b.slot in TIME for b in c.bounds)]
        calls = {n.rpartition(".")[2] for c in timed for n in c.names}
        types = [t for lib in table.libraries for t in lib.types if any(b.slot in TIME for b in t.bounds)]
        calls |= {n.rpartition(".")[2] for t in types for n in (t.name, *t.aliases, *t.made_by)}
        calls |= {b.setter for t in types for b in t.bounds if b.setter and "." not in b.setter}
        calls |= {b.option.rpartition(".")[2] for t in types for b in t.bounds if b.option}
        yield from _at_calls(program, language, frozenset(calls))
        yield from _in_inner_setters(program, language, types)
        yield from _in_fields(program, language, types)
        yield from _in_class_bodies(program, language, types)
        yield from _in_wrong_units(program, language, timed)
        yield from _in_waits_for_peers(program, language, timed)


def _at_calls(program: Program, language: str, wanted: frozenset[str]) -> Iterator[WrittenSlot]:
    resolver, slots = program.resolver, program.slots
    reach = program.reach(language, ("network", "query", "connect"))
    table = program.knowledge.of(language)
    for site in _sites(program, language, wanted, reach):
        frame = resolver.frame(site.fn)
        for target in program.targets(site):
            if not target.name:
                continue
            kind = table.constructs(target.name)
            rows: list[Bound] = []
            holder: Obj | None = target.holder
            if kind is not None:
                rows = list(table.bounds(kind.name))
                holder = Obj("call", kind.name, frame, site.call, target.name, target.holder)
            elif target.entry is not None and target.entry.does != "wait":
                if target.entry.does == "sleep" and not _speaks_of_a_time(site):
                    continue
                rows = list(target.entry.bounds)
                if target.entry.does != "make":
                    holder = None
            rows = [
                r
                for r in rows
                if r.setter is None and (r.arg is not None or r.pos is not None or r.key is not None or r.option is not None)
            ]
            for source in slots.at_call(rows, target.binds, (site.fn, site.call), holder):
                yield from _spoken(source, target.name, holder, site)
            if target.holder is not None:
                for row in table.bounds(resolver.external_type(target.holder) or "?"):
                    if row.setter != site.last or (row.key is not None and not slots.names_key(row.key, target.binds)):
                        continue
                    bind, _ = slots.given_to_setter(row, target.binds)
                    if bind is not None:
                        flows = slots.in_unit(row, resolver.ask(bind.expr, bind.frame), target.binds)
                        for slot in slots.classified(row, flows, target.holder, (site.fn, bind.expr)):
                            if slot.flow is not None:
                                yield WrittenSlot(slot, slot.written or (site.fn, site.call), target.name, target.holder)


def _in_inner_setters(program: Program, language: str, types: list[TypeEntry]) -> Iterator[WrittenSlot]:
    """Calls of a setter that lies in an object which the type holds: `app.conf.update(task_time_limit=None)`."""
    resolver, slots = program.resolver, program.slots
    setters = {b.setter for t in types for b in t.bounds if b.setter and "." in b.setter and b.arg is not None}
    lasts = frozenset(setter.rpartition(".")[2] for setter in setters)
    ends = tuple(f".{setter}" for setter in setters)
    for fn in program.start_calling(lasts.__contains__, language) if lasts else ():
        # Such a last name is a common word: the header has the whole of what is called.
        for site in fn.body.calls if any(called.endswith(ends) for called in fn.head.calls) else ():
            called = dotted(site.call.fn)
            setter = next((x for x in setters if called.endswith(f".{x}")), None) if site.last in lasts else None
            if setter is None:
                continue
            frame = resolver.frame(fn)
            base = f.Ref(site.call.at, site.call.at, called.removesuffix(f".{setter}"))
            for flow in resolver.ask(base, frame):
                holder = flow.thing
                if not isinstance(holder, Obj):
                    continue
                table = resolver.table(fn.module)
                rows = [replace(r, setter=None) for r in table.bounds(resolver.external_type(holder) or "?") if r.setter == setter]
                for source in slots.at_call(rows, resolver.binds(site.call, frame), (fn, site.call)):
                    yield from _spoken(source, f"{resolver.external_type(holder)}.{setter}", holder, site)


def _in_class_bodies(program: Program, language: str, types: list[TypeEntry]) -> Iterator[WrittenSlot]:
    """Attributes of class bodies that the type below the class reads."""
    resolver = program.resolver
    attributes = {b.class_attr for t in types for b in t.bounds if b.class_attr}
    for klass in program.start_classes() if attributes else ():
        if klass.module.language != language or klass.module.is_test or attributes.isdisjoint(klass.fields):
            continue
        kind = resolver.external_type(Obj("any", klass, None, None))
        for row in resolver.table(klass.module).bounds(kind) if kind else ():
            init = klass.fields[row.class_attr].init if row.class_attr in klass.fields else None
            if row.class_attr is None or init is None:
                continue
            where = (klass.module.functions[0], init)
            for slot in program.slots.classified(row, resolver.class_field(klass, row.class_attr), None, where):
                yield WrittenSlot(slot, where, f"{kind}.{row.class_attr}", None)


def _in_wrong_units(program: Program, language: str, timed: list[CallEntry]) -> Iterator[WrittenSlot]:
    """Waits whose length counts in another unit than the one given beside it: `get(d.toMillis(), SECONDS)`. Whether a wait
    without end matters is decided by who comes to it, a unit is wrong whoever does."""
    units = {
        n.rpartition(".")[2] for c in timed if c.does == "wait" and any(b.unit_pos is not None for b in c.bounds) for n in c.names
    }
    for fn in program.start_calling(units.__contains__, language) if units else ():
        if fn.module.is_test:
            continue
        for site in fn.body.calls:
            if site.last not in units or not any(dotted(a.value).rpartition(".")[2].isupper() for a in site.call.args[1:]):
                continue
            for target, entry in program.described(site):
                rows = [r for r in entry.bounds if r.unit_pos is not None] if entry.does == "wait" else []
                for source in program.slots.at_call(rows, target.binds, (fn, site.call)):
                    yield from (x for x in _spoken(source, target.name, None, site) if x.slot.units_differ)


def _in_waits_for_peers(program: Program, language: str, timed: list[CallEntry]) -> Iterator[WrittenSlot]:
    """Waits for the messages of a peer whose time, a number as written, is too short or too long to be meant in their unit. What
    threads wait for each other is often given a number that stands for ever."""
    rows: dict[str, list[Bound]] = {}
    for call in timed:
        plausible = [b for b in call.bounds if b.plausible is not None and b.unit_pos is None and b.unit != "dur"]
        for name in call.names if call.does == "wait" and call.protocol is not None and plausible else ():
            last = name.rpartition(".")[2]
            if last not in METHODS_OF_BUILTINS:  # `get` is that of a mapping nearly everywhere
                rows.setdefault(last, []).extend(plausible)
    for fn in program.start_calling(rows.__contains__, language) if rows else ():
        if fn.module.is_test:
            continue
        for site in fn.body.calls:
            if not any(_is_odd(site.call, row) for row in rows.get(site.last, ())):
                continue
            for target, entry in program.described(site):
                bounds = [b for b in entry.bounds if b.plausible is not None] if entry.does == "wait" else []
                for source in program.slots.at_call(bounds, target.binds, (fn, site.call)):
                    yield from (x for x in _spoken(source, target.name, None, site) if x.slot.mismatch)


def _is_odd(call: f.Call, row: Bound) -> bool:
    """Whether the number at the place of a row is none of its sensible ones."""
    assert row.plausible is not None
    plain = [arg.value for arg in call.args if arg.name is None]
    given = [arg.value for arg in call.args if arg.name is not None and arg.name == row.arg]
    given += plain[row.pos : row.pos + 1] if row.pos is not None else []
    numbers = [node.value for node in given if isinstance(node, f.Lit)]
    return any(isinstance(x, int | float) and not row.plausible[0] <= x <= row.plausible[1] for x in numbers)


def _speaks_of_a_time(site: CallSite) -> bool:
    """Whether a pause is given a number here, or a name that has a unit or gets its value here. Where it comes from further away
    it is a setting like any other, and asking for every pause of a program costs more than it finds."""
    for arg in site.call.args:
        for node in walk(arg.value):
            if isinstance(node, f.Lit) and isinstance(node.value, int | float):
                return True
            if isinstance(node, f.Ref) and (unit_of_name(node.name) or _is_number_here(node.name, site.fn)):
                return True
            if isinstance(node, f.Field) and unit_of_name(node.name):
                return True
    return False


def _is_number_here(name: str, fn: Fun) -> bool:
    """Whether a function gives a name a number."""
    return any(isinstance(d.expr, f.Lit) and isinstance(d.expr.value, int | float) for d in fn.body.definitions.get(name, ()))


def _sites(program: Program, language: str, wanted: frozenset[str], reach: Reach) -> Iterator[CallSite]:
    """Calls of these names that an import leads to, or that may be of an object which waits."""
    table = program.knowledge.of(language)
    # Work that is given away has a limit of its own, though nothing here waits for it.
    submits = [c for lib in table.libraries for c in lib.calls if c.does == "submit" and any(b.slot in TIME for b in c.bounds)]
    handed = {name.rpartition(".")[2] for call in submits for name in call.names}

    def may_be(called: str, fn: Fun) -> bool:
        if called.rpartition(".")[2].rstrip("{") not in wanted:
            return False
        if called.startswith("."):
            return fn in reach.touched
        names = reach.external(fn.module, called.rstrip("{"))
        if not names:
            return called.rpartition(".")[2] in handed or reach.may_be(called, fn)
        return any(
            full in table.canonical_names or table.call(full) is not None or table.made_by(full) is not None for full in names
        )

    for fn in program.start_calling(wanted.__contains__, language):
        if any(may_be(c, fn) for c in fn.head.calls):
            for site in fn.body.calls:
                name = dotted(site.call.fn)
                if site.last in wanted and (may_be(name, fn) if name else reach.candidate(site)):
                    yield site


def _spoken(source: Source, api: str, holder: Obj | None, site: CallSite) -> Iterator[WrittenSlot]:
    others = [s.state for s in source.slots]
    for slot in source.slots:
        if slot.flow is None and slot.state != "disabled" and not slot.mismatch:
            continue
        if slot.state == "disabled" and slot.flow is not None and isinstance(slot.flow.thing, Unknown | Absent):
            continue
        if (
            slot.state == "disabled"
            and "unknown" in others
            and slot.flow is not None
            and isinstance(slot.flow.thing, Null)
            and slot.flow.default
        ):
            continue
        yield WrittenSlot(slot, slot.written or (site.fn, site.call), api, holder)


def _in_fields(program: Program, language: str, types: list[TypeEntry]) -> Iterator[WrittenSlot]:
    """Fields of composite literals and assignments to attributes."""
    resolver, slots = program.resolver, program.slots
    fields = {b.field.rpartition(".")[2] for t in types for b in t.bounds if b.field}
    inner = {b.field.rpartition(".")[0] for t in types for b in t.bounds if b.field}
    for fn in program.starts(language):
        if not any(w in fields for w in fn.head.writes):
            continue
        frame = resolver.frame(fn)
        for new, _arm, _stmt in fn.body.news:
            kind = resolver.resolve_type(new.type, fn)
            if not isinstance(kind, str):
                continue
            obj = Obj("new", kind, frame, new)
            for row in resolver.table(fn.module).bounds(kind):
                if row.field is None:
                    continue
                for pair in new.fields:
                    if isinstance(pair.key, f.Ref) and pair.key.name == row.field:
                        for slot in slots.classified(row, resolver.ask(pair.value, frame), obj, (fn, pair.value)):
                            if slot.mismatch or (slot.flow is not None and not isinstance(slot.flow.thing, Absent | Unknown)):
                                yield WrittenSlot(slot, slot.written or (fn, pair.value), f"{kind}.{row.field}", obj)
        for key, defs in fn.body.definitions.items():
            base, _, last = key.rpartition(".")
            if not base or last not in fields:
                continue
            # A field may be one of an attribute: `app.conf.task_time_limit`.
            names = [(base, last)]
            names.extend((base.removesuffix(f".{x}"), f"{x}.{last}") for x in sorted(inner) if x and base.endswith(f".{x}"))
            for d, (base, name) in product(defs, names):
                if d.kind != "value" or d.expr is None or d.item:
                    continue
                for flow in resolver.name(base, f.Ref(d.at, d.at, base), frame):
                    thing = flow.thing
                    if not isinstance(thing, Obj) or isinstance(thing.type, Klass):
                        continue
                    for row in resolver.table(fn.module).bounds(thing.type or "?"):
                        if row.field == name:
                            for slot in slots.classified(row, resolver.defined(d, frame), thing, (fn, d.expr)):
                                if slot.mismatch or (slot.flow is not None and not isinstance(slot.flow.thing, Absent | Unknown)):
                                    yield WrittenSlot(slot, slot.written or (fn, d.expr), f"{thing.type}.{last}", thing)


# ---------------------------------------------------------------- servers


def servers_without_timeout(program: Program) -> Iterator[Fault]:
    """Servers that leave a timeout unset which their needs name; test code, examples and scripts are quiet."""
    resolver = program.resolver
    for language in CODE:
        table = program.knowledge.of(language)
        types = [t for lib in table.libraries for t in lib.types if t.needs]
        helpers = {n.rpartition(".")[2] for lib in table.libraries for c in lib.calls if c.server for n in c.names}
        own = _subclasses_of(program, language, {t.name for t in types})
        names = frozenset({n.rpartition(".")[2] for t in types for n in (t.name, *t.aliases, *t.made_by)} | own)
        for fn in program.start_calling((names | helpers).__contains__, language):
            if fn.module.is_test:
                continue
            frame = resolver.frame(fn)
            for new, _arm, _stmt in fn.body.news:
                kind = resolver.resolve_type(new.type, fn)
                entry = table.type(kind) if isinstance(kind, str) else None
                if entry is not None and entry.needs:
                    yield from _server(program, entry, Obj("new", entry.name, frame, new), fn, new)
            for site in fn.body.calls:
                if site.last not in names and site.last not in helpers:
                    continue
                for target in program.targets(site):
                    entry = (table.constructs(target.name) or table.made_by(target.name)) if target.name else None
                    if entry is not None and entry.needs:
                        server = Obj("call", entry.name, frame, site.call, target.name, target.holder)
                        yield from _server(program, entry, server, fn, site.call)
                    if site.last in own and isinstance(target.flow.thing, ClassVal):
                        klass = target.flow.thing.klass
                        made = Obj("new", klass, frame, site.call)
                        entry = table.type(resolver.external_type(made))
                        if entry is not None and entry.needs:
                            yield from _server(program, entry, made, fn, site.call)
                    if target.entry is not None and target.entry.server is not None:
                        kind_entry = table.type(target.entry.server)
                        if kind_entry is not None:
                            yield from _helper(program, kind_entry, target, fn, site)


def _subclasses_of(program: Program, language: str, kinds: set[str]) -> set[str]:
    """The names of classes of the program that stand on one of these types; in Go embedding makes no server of a type."""
    if language != "python":
        return set()

    def found() -> set[str]:
        return {
            klass.name
            for module in program.start_modules(language)
            for klass in module.classes
            if klass.decl.bases and program.resolver.external_type(Obj("any", klass, None, None)) in kinds
        }

    return program.kept(f"subclasses of {sorted(kinds)}", found, lambda known: known | found())


def _server(program: Program, entry: TypeEntry, obj: Obj, fn: Fun, node: f.Node) -> Iterator[Fault]:
    wanted = frozenset(s for need in entry.needs for s in need.any)
    sources = program.slots.of_object(obj, wanted)
    unmet = [need for need in entry.needs if not _met(need, sources) and not (need.quiet_for_streams and _streams(program, fn))]
    if not unmet or is_local(program, entry, obj, fn) or program.slots.escaped(obj):
        return
    unmet = [need for need in unmet if not _met_by_each(program, entry, need, obj, fn.module.language)]
    unmet = [need for need in unmet if _has_work(program, need, obj)]
    if not unmet:
        return
    rows = [row for row in program.resolver.table(fn.module).registration(obj.maker or "") if row.given]
    reads = [read for row in rows for read in endless_reads(program, row, obj)]
    if rows and not reads:
        return
    if any("request" in need.any for need in unmet):
        library = program.resolver.table(fn.module).library_of(entry)
        unmet = [need for need in unmet if "request" not in need.any or not program.above.limits(fn.module.path, library)]
        if not unmet:
            return
    disabled = [s for source in sources for s in source.slots if s.state == "disabled" and s.bound.slot in unmet[0].any]
    if disabled:
        return
    worst = min(unmet, key=lambda n: ("error", "warning", "info").index(n.severity))
    missing = [_said(need) for need in unmet]
    listed = missing[0] if len(missing) == 1 else ", ".join(missing[:-1]) + " or " + missing[-1]
    message = f"{short(entry.name)} sets no {listed} timeout: {worst.say}"
    sure = Confidence.HIGH
    cap = program.resolver.table(fn.module).cap(entry)
    fix = program.mending.server(entry, unmet, fn, node)
    steps = tuple(program.step(read.fn, read.call, "waits here for its peer without a limit") for read in reads[:1])
    value = Value(inf, cap or sure, steps)
    yield Fault(program.span_of(fn, node), message, value, Severity(worst.severity), key=(fn.module.path, node.at), fix=fix)


def _said(need: Need) -> str:
    return str(need.any[0])


def _met(need: Need, sources: tuple[Source, ...]) -> bool:
    return any(source.bound.slot in need.any and any(s.state in ("finite", "unknown") for s in source.slots) for source in sources)


def _has_work(program: Program, need: Need, obj: Obj) -> bool:
    """Whether the program gives a server work to do, as far as the names of decorators, calls and base classes tell."""
    if not need.given_work_by:
        return True
    arguments = {name.rstrip("=") for name in need.given_work_by if name.endswith("=")}
    made = program.slots.made_with(obj) or ()
    if any(bind.name in arguments or bind.spread == 2 for bind in made):
        return True
    lasts = {name.rpartition(".")[2] for name in need.given_work_by if not name.endswith("=")}
    language = obj.fn.module.language if obj.fn is not None else ""
    names = program.names
    decorated = (fn for last in lasts for fn in names.decorated.get(last, ()))
    if names.calling(lasts.__contains__, language) or any(fn.module.language == language for fn in decorated):
        return True
    classes = (klass for module in names.modules.values() if module.language == language for klass in module.classes)
    return any(last_name(base) in lasts for klass in classes for base in klass.decl.bases)


def _met_by_each(program: Program, entry: TypeEntry, need: Need, obj: Obj, language: str) -> bool:
    """Whether every function that is registered with a server by a decorator brings the bound itself."""
    resolver = program.resolver
    table = program.knowledge.of(language)
    rows = {
        name.rpartition(".")[2]: [b for b in call.bounds if b.slot in need.any]
        for library in table.libraries
        for call in library.calls
        for name in call.names
        if name.rpartition(".")[0] == entry.name
    }
    found = False
    for fn in program.functions(language):
        for decorator in fn.head.decorators:
            expr = decorator.fn if isinstance(decorator, f.Call) else decorator
            bounds = rows.get(last_name(expr))
            if not bounds:
                continue
            scope = fn.module.functions[max(fn.head.parent, 0)]
            frame = resolver.frame(scope)
            if not any(isinstance(x.thing, BoundVal) and x.thing.obj.node is obj.node for x in resolver.ask(expr, frame)):
                continue
            binds = resolver.binds(decorator, frame) if isinstance(decorator, f.Call) else ()
            if not _met(need, tuple(program.slots.at_call(bounds, binds, (scope, decorator)))):
                return False
            found = True
    return found


_STREAMS = any_of(b"event-stream", b"http.Flusher", b".Flush()", b"Hijack()")


def _streams(program: Program, fn: Fun) -> bool:
    """Whether the code beside a server streams its answers, so that a write timeout would cut them."""
    folder = fn.module.folder
    for path, module in program.names.modules.items():
        if (module.folder == folder or module is fn.module) and program.says(path, _STREAMS):
            return True
    return False


def _helper(program: Program, entry: TypeEntry, target: Target, fn: Fun, site: CallSite) -> Iterator[Fault]:
    holder = target.holder
    if holder is not None:
        wanted = frozenset(s for need in entry.needs for s in need.any)
        sources = program.slots.of_object(holder, wanted)
        if any(_met(need, sources) for need in entry.needs):
            return
        if holder.kind in ("outside", "any"):
            return
    if is_told_local(program, target.entry.listens if target.entry is not None else (), target.binds):
        return
    worst = min(entry.needs, key=lambda n: ("error", "warning", "info").index(n.severity), default=None)
    if worst is None:
        return
    message = f"{short(target.name)} serves without any timeout and cannot be given one: {worst.say}"
    yield Fault(
        program.span_of(fn, site.call),
        message,
        Value(inf, program.knowledge.sure(entry), ()),
        Severity(worst.severity),
        key=(fn.module.path, site.call.at),
    )
