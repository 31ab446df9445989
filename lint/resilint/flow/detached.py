"""Calls under a context made fresh, in code that a caller's context stands above without being named: the context of a thread."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.spawns import family, short
from resilint.flow.streams import receiver_of
from resilint.flow.timeouts import Fault
from resilint.flow.values import Ext, Obj
from resilint.knowledge.schema import CallEntry, Library, ScopeRow
from resilint.link.code import CallSite, Fun, Module, called_part, dotted, last_name
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_ABOVE = 2
"""Calls between a handler and the place that leaves its context."""
_BELOW = 3
"""Calls between that place and the wait."""
_CHAIN = 12


def detached_calls(program: Program) -> list[Fault]:
    """Places that run a function under a fresh context although a handler's own one stands above, and whose waits have no bound."""
    finder = _Detached(program)
    faults = {fault.key: fault for fault in finder.faults()}
    return sorted(faults.values(), key=lambda fault: (fault.span, fault.message))


class _Detached:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.names = program.names.java
        self.table = program.knowledge.of("java")
        self._scopes: dict[str, list[tuple[CallEntry, Library]]] = {}
        self._setters: set[str] = set()
        for library in self.table.libraries:
            for entry in library.calls:
                if entry.scope is not None and entry.scope.context is not None:
                    for name in entry.names:
                        self._scopes.setdefault(name.rpartition(".")[2], []).append((entry, library))
                if any(b.slot == "deadline" for b in entry.bounds):
                    self._setters.update(name.rpartition(".")[2] for name in entry.names if entry.does == "make")

    def faults(self) -> Iterator[Fault]:
        """One for each place."""
        for site in self.program.start_sites(self._scopes.__contains__, "java", among=self._speaks_of_contexts):
            for entry, library in self._scopes[site.last]:
                row = entry.scope
                assert row is not None
                if self._runs_fresh(site, row) and (handler := self._handler_above(site.fn, library, 0)) is not None:
                    yield from self._judge(site, row, library, handler)
                    break

    def _speaks_of_contexts(self, module: Module) -> bool:
        libraries = {name for rows in self._scopes.values() for _, library in rows for name in library.modules}
        targets = {imp.target for imp in module.facts.imports}
        return not module.is_test and any(t == name or t.startswith(name + ".") for t in targets for name in libraries)

    def _judge(self, site: CallSite, row: ScopeRow, library: Library, handler: Fun) -> Iterator[Fault]:
        for body in self._bodies(site, row):
            found = self._unbounded(body, library, {body}, 0)
            if found is None:
                continue
            wait, name, steps = found
            program = self.program
            receiver = receiver_of(site.call)
            fresh = program.text_of(site.fn, receiver, 40) if receiver is not None else site.last
            message = f"`{fresh}` replaces the context of {handler.head.qual}: {name} has no deadline and is not cancelled"
            head = f.Ref(handler.head.name_at, handler.head.name_at + len(handler.name.encode()), handler.name)
            trace = (
                program.step(handler, head, f"{handler.head.qual} runs under its caller's deadline"),
                *steps,
                program.step(wait.fn, called_part(wait.call), f"{name} waits under the fresh context"),
            )
            span = program.span_of(site.fn, called_part(site.call))
            yield Fault(span, message, Value(inf, Confidence.HIGH, trace), key=(span.path, span.line))
            return

    # ------------------------------------------------------------ the context

    def _runs_fresh(self, site: CallSite, row: ScopeRow) -> bool:
        """Whether the context a call runs its function under is one that has nothing of the caller's."""
        receiver = receiver_of(site.call) if row.context == -1 else None
        if receiver is None:
            return False
        flows = self.resolver.ask(receiver, self.resolver.frame(site.fn))
        return bool(flows) and all(self._is_fresh(flow.thing, 0) for flow in flows)

    def _is_fresh(self, thing: object, depth: int) -> bool:
        name = thing.name if isinstance(thing, Ext) else thing.maker.partition("#")[0] if isinstance(thing, Obj) else ""
        row = self.table.context(name) if name else None
        if row is None or depth > _CHAIN:
            return False
        if row.kind == "derived":
            return isinstance(thing, Obj) and self._is_fresh(thing.parent, depth + 1)
        return row.kind in ("root", "detached")

    def _bodies(self, site: CallSite, row: ScopeRow) -> list[Fun]:
        if row.body is None or row.body < 0 or row.body >= len(site.call.args):
            return []
        found = self.names.functions(site.call.args[row.body].value, site.fn)
        return [target for target in found if isinstance(target, Fun)]

    def _handler_above(self, fn: Fun, library: Library, depth: int) -> Fun | None:
        """The handler of this library that a function is, or is called by."""
        home = family(fn)
        if home in self.program.entries and self._is_handler_of(home, library):
            return home
        if depth >= _ABOVE:
            return None
        for caller, site, _, _ in self.resolver.callers(home)[0]:
            if not site.how and not caller.fn.module.is_test:
                found = self._handler_above(caller.fn, library, depth + 1)
                if found is not None:
                    return found
        return None

    def _is_handler_of(self, fn: Fun, library: Library) -> bool:
        if fn.head.owner < 0 or fn.head.is_static or fn.name.startswith("__") or self.program.entries[fn].kind != "request":
            return False
        bases = self.names.mro(fn.module.classes[fn.head.owner])[1]
        return any(self.table.library_of(row) is library for base in bases if base for row in self.table.entry_base(base))

    # ------------------------------------------------------------ what waits

    def _unbounded(self, fn: Fun, library: Library, seen: set[Fun], depth: int) -> tuple[CallSite, str, tuple[Step, ...]] | None:
        """A call of the library that nothing on the way to it bounds."""
        for site in fn.body.calls:
            name = self._called(site, library)
            if name:
                return site, name, ()
        for way, callee in self.program.spawning.callees(fn) if depth < _BELOW else ():
            if callee not in seen and way is not None:
                seen.add(callee)
                found = self._unbounded(callee, library, seen, depth + 1)
                if found is not None:
                    step = self.program.step(fn, called_part(way.call), f"{fn.head.qual} calls {callee.head.qual}")
                    return found[0], found[1], (step, *found[2])
        return None

    def _called(self, site: CallSite, library: Library) -> str:
        """The call as written, if it waits for a peer by this library and has no bound of its own."""
        receiver = receiver_of(site.call)
        if receiver is None or site.last in self._setters:
            return ""
        start = _start(receiver)
        for kind in self.names.kinds(start, site.fn):
            if not isinstance(kind.of, str):
                continue
            owner, _, last = kind.of.rpartition(".")
            known = self.table.type(kind.of) or self.table.type(self.table.shape(owner, last) or "?")
            entry = self.table.call(f"{known.name}.{site.last}") if known is not None else None
            if entry is None or entry.does != "network" or self.table.library_of(entry) is not library:
                continue
            if self._bounded(receiver, site.fn, 0):
                return ""
            written = dotted(site.call.fn) or f"{dotted(start)}.{site.last}"
            return short(written.removeprefix("this."))
        return ""

    def _bounded(self, expr: f.Expr, fn: Fun, depth: int) -> bool:
        """Whether something on the way of a stub gives it a deadline, or may."""
        if depth > _CHAIN:
            return True
        if isinstance(expr, f.Call):
            inner = receiver_of(expr)
            return last_name(expr.fn) in self._setters or (inner is not None and self._bounded(inner, fn, depth + 1))
        if not isinstance(expr, f.Ref):
            return False
        scope: Fun | None = fn
        while scope is not None:
            if expr.name in scope.body.definitions:
                home = scope
                return any(d.expr is not None and self._bounded(d.expr, home, depth + 1) for d in scope.body.definitions[expr.name])
            scope = scope.parent
        if not expr.name.startswith("this."):
            return False
        last = expr.name.removeprefix("this.")
        return any(
            d.expr is not None and self._bounded(d.expr, writer, depth + 1)
            for writer in self.program.names.writers(last)
            if writer.module is fn.module
            for key, found in writer.body.definitions.items()
            if key.rpartition(".")[2] == last
            for d in found
        )


def _start(expr: f.Expr) -> f.Expr:
    """What a chain of calls begins with."""
    for _ in range(_CHAIN):
        inner = receiver_of(expr) if isinstance(expr, f.Call) else None
        if inner is None:
            return expr
        expr = inner
    return expr
