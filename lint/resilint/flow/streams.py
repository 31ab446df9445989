"""Calls that go over the elements of a collection: streams, `forEach`, views and copies, and the functions they run for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.knowledge.schema import ElementsRow
from resilint.link.code import CallSite, Fun, Klass, last_name

if TYPE_CHECKING:
    from resilint.program import Program

_CHAIN = 40
"""Links of a chain of calls that are followed."""


class Round(NamedTuple):
    """A call that runs a function once for each element of something."""

    site: CallSite
    row: ElementsRow


class Streams:
    """Answers about calls on collections. Only Java writes loops in this way as a rule; elsewhere they are comprehensions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = program.names.java
        self.table = program.knowledge.of("java")
        self._by_last: dict[str, list[tuple[str, ElementsRow]]] = {}
        for library in self.table.libraries:
            for call in library.calls:
                for name in call.names if call.elements is not None else ():
                    assert call.elements is not None
                    self._by_last.setdefault(name.rpartition(".")[2], []).append((name, call.elements))
        self._rows: dict[int, tuple[f.Call, ElementsRow | None]] = {}
        """By identity of the call, which is kept for that."""
        self._rounds: dict[Fun, Round | None] = {}

    # ------------------------------------------------------------ what a call does

    def row(self, call: f.Call, fn: Fun, depth: int = 0) -> ElementsRow | None:
        """What a call has to do with the elements of its receiver or of an argument; none where it is no such call."""
        if last_name(call.fn) not in self._by_last or depth > _CHAIN:
            return None
        known = self._rows.get(id(call))
        if known is None:
            known = self._rows[id(call)] = (call, self._row(call, fn, depth))
        return known[1]

    def _row(self, call: f.Call, fn: Fun, depth: int) -> ElementsRow | None:
        targets = self.names.declared(call, fn)
        if any(isinstance(target, Fun) for target in targets):
            return None
        for target in targets:
            entry = self.table.call(str(target))
            if entry is not None and entry.elements is not None:
                return entry.elements
        if targets and not any(self._unknown_part(str(target)) for target in targets):
            return None
        return self._by_name(call, fn, depth)

    def _unknown_part(self, target: str) -> bool:
        """A method of a type of which nothing is known: it may be a collection of another library."""
        return self.table.type(target.rpartition(".")[0]) is None

    def _by_name(self, call: f.Call, fn: Fun, depth: int) -> ElementsRow | None:
        """Of something whose type is not known: in a chain that began with a stream, or a name that only collections have."""
        rows = self._by_last[last_name(call.fn)]
        receiver = receiver_of(call)
        if receiver is None:
            return None
        inner = self.row(receiver, fn, depth + 1) if isinstance(receiver, f.Call) else None
        if inner is not None and not inner.counts:
            return rows[0][1]
        if self.names.kinds(receiver, fn):
            return None
        return next((row for name, row in rows if not self._of_streams(name) and row.of == -1), None)

    @staticmethod
    def _of_streams(name: str) -> bool:
        """Whether a method belongs to what a stream is, not to the collection it begins with: other types have such methods too."""
        return name.rpartition(".")[0].endswith("Stream")

    # ------------------------------------------------------------ what runs for each

    def round_of(self, fn: Fun) -> Round | None:
        """The call that runs a function literal once for each element."""
        if fn.head.kind != "lambda" or fn.module.language != "java" or fn.parent is None:
            return None
        if fn not in self._rounds:
            self._rounds[fn] = None
            self._rounds[fn] = next(
                (
                    Round(site, row)
                    for site in fn.parent.body.calls
                    for position, arg in enumerate(site.call.args)
                    if isinstance(arg.value, f.Fn) and arg.value.index == fn.index
                    if (row := self.row(site.call, fn.parent)) is not None and row.runs == position
                ),
                None,
            )
        return self._rounds[fn]

    def run_by(self, call: f.Call, fn: Fun) -> list[Fun]:
        """The functions of the program that a call runs once for each element."""
        row = self.row(call, fn)
        if row is None or row.runs is None or row.runs >= len(call.args):
            return []
        value = call.args[row.runs].value
        if isinstance(value, f.Fn):
            return [fn.module.functions[value.index]]
        referred = self.names.referred(value, fn) if isinstance(value, f.Field) else []
        return [target for target in referred if isinstance(target, Fun)]

    def handed_to(self, fn: Fun) -> Iterator[Round]:
        """Calls that run a method once for each element, given as a reference: `xs.forEach(this::send)`."""
        for user in self.program.names.values_of.get(fn.name, ()):
            if user.module.language != "java" or (user.module.is_test and not fn.module.is_test):
                continue
            for site in user.body.calls:
                for position, arg in enumerate(site.call.args):
                    value = arg.value
                    if not isinstance(value, f.Field) or value.name != fn.name or fn not in self.names.referred(value, user):
                        continue
                    row = self.row(site.call, user)
                    if row is not None and row.runs == position:
                        yield Round(site, row)

    def source(self, call: f.Call, row: ElementsRow) -> f.Expr | None:
        """The collection that a call goes over."""
        if row.of is None:
            return None
        if row.of < 0:
            return receiver_of(call) or _named_receiver(call)
        return call.args[row.of].value if row.of < len(call.args) else None

    def origin(self, call: f.Call, fn: Fun) -> f.Expr:
        """What stands at the start of a chain: the collection itself, as far as it is written there."""
        at: f.Expr = call
        for _ in range(_CHAIN):
            row = self.row(at, fn) if isinstance(at, f.Call) else None
            inner = self.source(at, row) if row is not None and isinstance(at, f.Call) else None
            if inner is None:
                return at
            at = inner
        return at

    def is_array(self, expr: f.Expr, fn: Fun) -> bool:
        """Whether an argument is an array, whose elements a variable number of arguments takes."""
        return any(kind.of == "[]" for kind in self.names.kinds(expr, fn))

    def constants(self, call: f.Call, fn: Fun) -> int | None:
        """How many constants an enum has, for its `values()`."""
        if last_name(call.fn) != "values" or call.args:
            return None
        receiver = receiver_of(call)
        for kind in self.names.kinds(receiver, fn) if receiver is not None else ():
            if kind.static and isinstance(kind.of, Klass) and kind.of.decl.kind == "enum":
                return sum(1 for x in kind.of.decl.fields if x.is_static and x.type is not None and x.type.name == kind.of.name)
        return None


def receiver_of(call: f.Call) -> f.Expr | None:
    """What a method is called on."""
    if isinstance(call.fn, f.Field):
        return call.fn.base
    return _named_receiver(call)


def _named_receiver(call: f.Call) -> f.Expr | None:
    if isinstance(call.fn, f.Ref) and "." in call.fn.name:
        base = call.fn.name.rpartition(".")[0]
        return f.Ref(call.fn.at, call.fn.at + len(base.encode()), base)
    return None
