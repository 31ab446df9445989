"""Clients and connections that a framework makes of settings in a Python file: judged as if the program made them itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.slots import decide, say_seconds
from resilint.flow.timeouts import TIME, Fault
from resilint.flow.values import Bind, Flows, Frame, Obj, Text
from resilint.flow.waits import ENOUGH
from resilint.knowledge.schema import MadeRow, TypeEntry
from resilint.link.code import Fun, Module
from resilint.link.looks import matching
from resilint.model import Confidence, Value

if TYPE_CHECKING:
    from resilint.program import Program

_TRIAL = re.compile(
    r"(?:^|[-_.])(?:test|tests|testing|ci|local|dev|devel|development|example|sample|docker_dev)(?:$|[-_.])", re.IGNORECASE
)
"""Names of settings of no service that anybody waits for."""
_PRODUCTION = re.compile(r"prod|live|online|release", re.IGNORECASE)


class MadeOfSettings:
    """Sorts what such settings leave out, switch off or give in another unit."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.table = program.knowledge.of("python")
        self.queries: list[Fault] = []
        self.clients: list[Fault] = []
        self.disabled: list[Fault] = []
        self.mismatched: list[Fault] = []
        for library in self.table.libraries:
            for row in library.made:
                prefix, _, name = row.setting.partition(".")
                modules = [
                    m for m, surface in program.surfaces.modules() if surface.prefix == prefix and not _TRIAL.search(_stem(m))
                ]
                self._judge(row, name, list(dict.fromkeys(modules)))
        for faults in (self.queries, self.clients, self.disabled, self.mismatched):
            faults.sort(key=lambda fault: (fault.span, fault.message))

    def _judge(self, row: MadeRow, name: str, modules: list[Module]) -> None:
        name, _, each = name.partition(".")
        writing = [(module, list(_written(module, name))) for module in modules]
        writing = [(module, found) for module, found in writing if found]
        # What production writes again is what counts.
        served = [x for x in writing if _PRODUCTION.search(_stem(x[0]))] or writing
        if any(self._changes(module, name, row) for module in modules):
            return
        for module, found in served:
            if len(found) > 1:
                continue
            made = self._each(row, module, *found[0]) if each else self._one(row, name, modules, module, *found[0])
            for entry, said, where, binds in made:
                self._sort(row, entry, said, where, binds)

    def _changes(self, module: Module, name: str, row: MadeRow) -> bool:
        """Whether code adds to a mapping of settings what it may be made with."""
        key = rf"\[\s*['\"]{row.arguments}"
        added = rf"\b{name}\s*(?:\[[^\]\n]*\]\s*(?:=[^=]|\.(?:update|setdefault)\b|{key})|\.update\b)"
        return row.arguments is not None and self.program.says(module.path, matching(added.encode()))

    def _each(
        self, row: MadeRow, module: Module, stmt: f.Assign, value: f.Expr
    ) -> Iterator[tuple[TypeEntry, str, tuple[Fun, f.Node], tuple[Bind, ...]]]:
        """What each value of a mapping describes, where it can be read."""
        top = module.functions[0]
        for pair, frame in _pairs(self._only(value, self.resolver.frame(top))):
            if not isinstance(pair.key, f.Lit) or not isinstance(pair.key.value, str) or pair.spread:
                continue
            described = self._only(pair.value, frame)
            if described is None:
                continue
            entry = self._type(row, self.resolver.keyed(described, row.kind))
            binds = self._arguments(row, described)
            if entry is not None and binds is not None:
                yield entry, f"`{pair.key.value}` of {_target(stmt)}", (top, pair.key), binds

    def _one(
        self, row: MadeRow, name: str, modules: list[Module], module: Module, stmt: f.Assign, value: f.Expr
    ) -> Iterator[tuple[TypeEntry, str, tuple[Fun, f.Node], tuple[Bind, ...]]]:
        """What settings beside a name describe."""
        top = module.functions[0]
        frame = self.resolver.frame(top)
        beside = [given for other in modules for _, given in _written(other, row.kind)]
        flows = [flow for one in beside for flow in self.resolver.ask(one, frame)]
        entry = self._type(row, tuple(flows))
        if entry is None or any(isinstance(x.thing, Text) and not x.thing.known for x in self.resolver.ask(value, frame)):
            return
        binds: list[Bind] = []
        for key, arg in row.keys.items():
            for other in modules:
                binds += [Bind(given, self.resolver.frame(other.functions[0]), arg) for _, given in _written(other, key)]
        yield entry, f"what `{name}` names", (top, stmt), tuple(binds)

    def _only(self, expr: f.Expr, frame: Frame) -> Obj | None:
        """The mapping that an expression surely is."""
        found = [flow.thing for flow in self.resolver.ask(expr, frame)]
        one = found[0] if len(found) == 1 else None
        return one if isinstance(one, Obj) and isinstance(one.node, f.Coll) and one.node.kind == "map" else None

    def _type(self, row: MadeRow, flows: Flows | None) -> TypeEntry | None:
        if flows is None or len(flows) > 1:
            return None
        text = ""
        if flows:
            thing = flows[0].thing
            if not isinstance(thing, Text) or thing.whole is None:
                return None
            text = thing.known
        name = row.types.get(text)
        return self.table.type(name) if name is not None else None

    def _arguments(self, row: MadeRow, described: Obj) -> tuple[Bind, ...] | None:
        """The arguments of a description, by their names; `None` where they are not all known."""
        flows = self.resolver.keyed(described, row.arguments) if row.arguments is not None else ()
        if flows is None or len(flows) > 1:
            return None
        if not flows:
            return ()
        given = flows[0].thing
        if not isinstance(given, Obj) or not isinstance(given.node, f.Coll) or given.frame is None:
            return None
        binds: list[Bind] = []
        for pair in given.node.items:
            if pair.spread:
                binds.append(Bind(pair.value, given.frame, None, 2))
            elif isinstance(pair.key, f.Lit) and isinstance(pair.key.value, str):
                binds.append(Bind(pair.value, given.frame, pair.key.value))
            else:
                return None
        return tuple(binds)

    def _sort(self, row: MadeRow, entry: TypeEntry, said: str, where: tuple[Fun, f.Node], binds: tuple[Bind, ...]) -> None:
        program, fn = self.program, where[0]
        query = entry.protocol == "sql"
        enough = frozenset(entry.enough or ENOUGH["query" if query else "network"])
        rows = self.table.bounds(entry.name)
        sources = decide(program.slots.at_call((r for r in rows if r.slot in TIME), binds, where))
        for source in sources:
            for slot in source.slots:
                place = slot.written or where
                if slot.state == "disabled" and source.bound.slot in TIME:
                    text = " ".join(program.text_of(*place, 30).split())
                    message = f"`{text}` switches the {source.bound.slot} timeout of {said} off: it can wait for ever"
                    value = Value(inf, program.knowledge.sure(source.bound))
                    self.disabled.append(Fault(program.span_of(*place), message, value))
                elif slot.mismatch and slot.number is not None:
                    message = f"{source.bound.slot} timeout of {said} is {say_seconds(slot.number)}: {slot.mismatch}"
                    value = Value(slot.number, program.knowledge.sure(source.bound))
                    self.mismatched.append(Fault(program.span_of(*place), message, value))
        ends = [source for source in sources if source.bound.slot in enough]
        off = any(slot.state == "disabled" for source in ends for slot in source.slots)
        if off or any(source.bounded or source.unclear for source in ends) or self._session_bounded(entry, fn.module):
            return
        missing = next((source.bound for source in ends), None)
        steps = program.assumed(missing, *where) if missing is not None else ()
        lacks = (
            f"its {row.arguments} set no timeout" if row.arguments else " and ".join(f"`{key}`" for key in row.keys) + " is not set"
        )
        subject = f"a statement through {said}" if query else said
        value = Value(inf, program.knowledge.sure(entry, Confidence.MEDIUM), steps)
        fault = Fault(program.span_of(*where), f"{subject} can wait for ever: {lacks}{' of statements' if query else ''}", value)
        (self.queries if query else self.clients).append(fault)

    def _session_bounded(self, entry: TypeEntry, module: Module) -> bool:
        """Whether other code speaks of a variable of the session that ends statements: for which connections is not known."""
        words = {row.statement for row in self.table.bounds(entry.name) if row.statement}
        return any(other is not module for word in words for other in self.program.slots.speaking_of(word, "python"))


def _stem(module: Module) -> str:
    return module.path.rpartition("/")[2].removesuffix(".py")


def _target(stmt: f.Assign) -> str:
    target = stmt.targets[0]
    return target.name if isinstance(target, f.Ref) else ""


def _written(module: Module, name: str) -> Iterator[tuple[f.Assign, f.Expr]]:
    """Where a file gives a name of its top level a value, and that."""
    for stmt in module.functions[0].body.block:
        if (
            isinstance(stmt, f.Assign)
            and stmt.value is not None
            and not stmt.op
            and len(stmt.targets) == 1
            and _target(stmt) == name
        ):
            yield stmt, stmt.value


def _pairs(mapping: Obj | None) -> Iterator[tuple[f.Pair, Frame]]:
    if mapping is not None and isinstance(mapping.node, f.Coll) and mapping.frame is not None:
        for pair in mapping.node.items:
            yield pair, mapping.frame
