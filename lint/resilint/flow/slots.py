"""What stands in a slot: the writes that reach it, at the call, on the object, on its parts, on what it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl

from msgspec import structs

from resilint import facts as f
from resilint.flow.values import (
    MOST,
    SECONDS,
    Absent,
    Bind,
    ClassVal,
    Env,
    Ext,
    Flow,
    Flows,
    FnVal,
    Frame,
    Hop,
    ModVal,
    Null,
    Num,
    Obj,
    SuperVal,
    Text,
    Thing,
    Unknown,
)
from resilint.flow.values import (
    Bound as BoundVal,
)
from resilint.knowledge.index import Table, holds
from resilint.knowledge.schema import Bound, TypeEntry
from resilint.link.code import CallSite, Fun, Klass, Module, dotted, walk
from resilint.link.looks import any_of

if TYPE_CHECKING:
    from resilint.program import Program

State = Literal["finite", "disabled", "absent", "unknown"]

_SECONDS = {**SECONDS, "dur": 1.0, "count": 1.0, "bytes": 1.0, "bool": 1.0}
_TEXT_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "min": 60.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_HOUR, _DAY, _MONTH = 3600.0, 86400.0, 31 * 86400.0
_LONGEST = 30 * 86400.0
"""A duration written with its unit that is longer than this, in seconds, is no timeout: two durations were multiplied."""
_FOR_EVER = 9.2e9
"""From here on a Go duration is the largest there is: `math.MaxInt64` nanoseconds."""
_BASES = 6
"""Constructors of bases that are followed upwards from an object's own."""
_NESTED = ("options", "server_settings", "init_command")
"""Arguments of drivers that set variables of the session."""
_BEGINS = frozenset({"connect", "begin", "cursor", "transaction", "getconn", "acquire", "get_connection", "connection"})
"""Methods from which a function has a connection or transaction of its own."""
_LINKS = 40
"""Objects, each made of the next, that are asked for their bounds: a call on the result of a call is one."""
_NESTED_DEEP = 1
"""Mappings inside of a mapping that are looked into."""
_WIDER = {
    "connect": ("io", "total", "deadline"),
    "handshake": ("io", "total", "deadline"),
    "read": ("io", "total", "deadline"),
    "write": ("io", "total", "deadline"),
    "header": ("io", "total", "deadline"),
    "body": ("io", "total", "deadline"),
    "io": ("total", "deadline"),
    "pool_wait": ("total", "deadline"),
    "total": ("deadline",),
}
"""Slots that bound what a narrower one does."""
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ns|us|µs|ms|sec|s|min|m|h|d)")


_CONFIGURES = re.compile(
    r"_*([Cc]onfigure|[Cc]ustomi[sz]e|[Ss]et_?[Uu]p|[Ii]nit|[Aa]pply|[Ww]rap|[Ii]nstrument|[Pp]atch|[Ww]ith)(?![a-z])"
)


@dataclass(frozen=True)
class Slot:
    """One possibility for one slot. `number` is in seconds or a count; only `finite` has one, and not always: a value that is
    present but cannot be read bounds without saying how long."""

    state: State
    bound: Bound
    number: float | None = None
    flow: Flow | None = None
    holder: Obj | None = None
    written: tuple[Fun, f.Node] | None = None
    """Where it is written."""
    mismatch: str = ""
    """Why the number cannot be meant in the slot's unit."""
    given: bool = False
    """Something was written whose value has no flow of its own, or that takes the place of all that stands below it."""
    passive: bool = False
    """What was written means: as if nothing were. Whatever is written below comes first."""

    @property
    def units_differ(self) -> bool:
        """Whether the value counts in one unit and is given in another, whatever its length is."""
        thing = self.flow.thing if self.flow is not None else None
        named = thing.named if isinstance(thing, Num) else thing.unit if isinstance(thing, Unknown) else ""
        return bool(self.mismatch) and " times " in named


@dataclass(frozen=True)
class Source:
    """All possibilities of one way to fill a slot; they exclude each other."""

    bound: Bound
    slots: tuple[Slot, ...]

    @property
    def bounded(self) -> bool:
        """Whether something is there whatever happens."""
        return bool(self.slots) and all(s.state == "finite" for s in self.slots)

    @property
    def unclear(self) -> bool:
        """Whether it is not known if something is there."""
        return any(s.state == "unknown" for s in self.slots)

    @property
    def written(self) -> bool:
        """Whether somebody wrote it: a default, or the silence of an object from elsewhere, is not written."""
        return any(s.flow is not None or s.given for s in self.slots) and not all(
            s.passive or (s.state == "absent" and _is_absent(s)) for s in self.slots
        )


def _is_absent(slot: Slot) -> bool:
    return slot.flow is None or isinstance(slot.flow.thing, Absent)


def _is_open(slot: Slot) -> bool:
    return (slot.state == "absent" and not slot.given) or slot.passive


def _receiver(call: f.Node, frame: Frame) -> Bind | None:
    """What a method is called on: `TimeUnit.SECONDS` in `TimeUnit.SECONDS.sleep(2)`."""
    if not isinstance(call, f.Call):
        return None
    if isinstance(call.fn, f.Field):
        return Bind(call.fn.base, frame)
    base = dotted(call.fn).rpartition(".")[0]
    return Bind(f.Ref(call.fn.at, call.fn.at + len(base.encode()), base), frame) if base else None


_SETS_NAMES = frozenset({"exec", "globals", "locals", "setattr", "vars"})
"""Calls by which a module gives itself names that nobody sees."""
DEFAULT_TIMES = frozenset({"total", "read", "write", "connect", "io", "deadline"})
"""Slots that a part which nobody gave fills too: its numbers of connections are counted where they are compared."""


def decide(sources: Iterable[Source]) -> list[Source]:
    """One source a slot. Sources stand in order of precedence: the first that is written decides, else the first default.

    Where the deciding one is written on some paths only, its default stands beside it.
    """
    chosen: dict[str, Source] = {}
    fallback: dict[str, Source] = {}
    for source in sources:
        slot = source.bound.slot
        if source.written:
            known = chosen.get(slot)
            if known is None:
                chosen[slot] = source
            elif any(_is_open(s) for s in known.slots):
                chosen[slot] = _filled(known, source)
        else:
            known = fallback.get(slot)
            if (
                known is None
                or (known.unclear and not source.unclear)
                or all(s.state == "absent" and s.passive for s in known.slots)
            ):
                fallback[slot] = source
    out = []
    for name in dict.fromkeys((*chosen, *fallback)):
        source = chosen.get(name) or fallback[name]
        if name in chosen and name in fallback and any(s.state == "absent" and not s.given for s in source.slots):
            source = _filled(source, fallback[name])
        out.append(source)
    return out


def _filled(source: Source, below: Source) -> Source:
    """Where a source is silent on some path, what stands below it holds there; if that is silent too, the path stays as it came."""
    if all(s.state == "absent" for s in below.slots):
        return source
    return Source(source.bound, (*(s for s in source.slots if not _is_open(s)), *below.slots))


class Slots:
    """Looks slots up, for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._objects: dict[tuple[Obj, frozenset[str]], tuple[Source, ...]] = {}
        self._busy: set[Obj] = set()
        self._made: dict[Klass, tuple[Obj, ...]] = {}
        self._speaking: dict[tuple[str, str], list[Module]] = {}
        self._escaped: dict[Obj, bool] = {}

    def table(self, fn: Fun) -> Table:
        """Knowledge for a function's language."""
        return self.resolver.table(fn.module)

    # ------------------------------------------------------------ calls

    def at_call(
        self, rows: Iterable[Bound], binds: tuple[Bind, ...], where: tuple[Fun, f.Node], holder: Obj | None = None
    ) -> list[Source]:
        """What a call's own arguments put into slots."""
        binds = self.resolver.unpacked(binds)
        sources = []
        for row in rows:
            if not holds(row, self.program.version(row, where[0])):
                continue
            found = self._row_at_call(row, binds, where, holder)
            if found is not None:
                sources.append(found)
        return sources

    def _row_at_call(self, row: Bound, binds: tuple[Bind, ...], where: tuple[Fun, f.Node], holder: Obj | None) -> Source | None:
        if row.option is not None:
            return self._option(row, binds, where, holder)
        if row.on is not None:
            return self._decorated(row, row.on, binds, where, holder)
        bind: Bind | None = None
        if row.arity and len(binds) not in row.arity:
            return None
        if row.arg is not None or row.pos is not None:
            bind, spread = self.find_bind(row.arg, row.pos, binds)
            if bind is None and spread:
                got = self._from_spread(row.arg, binds)
                if got is None:
                    return Source(row, (Slot("unknown", row, holder=holder, written=where, given=True),))
                if got:
                    return Source(row, tuple(self.classified(row, got, holder, where)))
            if bind is not None and row.unit == "count" and self._is_no_number(bind):
                bind = None
            if bind is not None:
                flows = self.in_unit(row, self.resolver.ask(bind.expr, bind.frame), binds)
                unit = _receiver(where[1], bind.frame) if row.unit_pos == -1 else None
                flows = self.resolver.java.scaled(flows, unit) if unit is not None else flows
                return Source(row, tuple(self.classified(row, flows, holder, (bind.frame.fn, bind.expr))))
            if self._may_be_positional(row, binds, where):
                return Source(row, (Slot("unknown", row, holder=holder, written=where, given=True),))
        if row.key is not None:
            found = self._key(row, binds, where, holder)
            if found is not None:
                return found
        if row.arg is None and row.pos is None and row.key is None:
            if row.field or row.setter or row.class_attr or row.statement:
                return None
            if row.default == "unset":
                # No place to write it and no default: something else decides, the system or the code that is waited for.
                return Source(row, (Slot("unknown", row, holder=holder, written=where),))
        return self._default(row, holder, where)

    def _default(self, row: Bound, holder: Obj | None, where: tuple[Fun, f.Node] | None) -> Source | None:
        if row.default == "unset":
            return None
        if row.default == "endless":
            return Source(row, (Slot("absent", row, inf, None, holder, where),))
        if isinstance(row.default, int | float):
            return Source(row, (Slot("finite", row, float(row.default), None, holder, where),))
        return None

    @staticmethod
    def _scale(row: Bound) -> float:
        return 1.0 if row.unit == "dur" else _SECONDS[row.unit]

    @staticmethod
    def find_bind(arg: str | None, pos: int | None, binds: tuple[Bind, ...]) -> tuple[Bind | None, bool]:
        for bind in binds:
            if arg is not None and bind.name == arg:
                return bind, False
        if pos is not None:
            at = 0
            for bind in binds:
                if bind.name is not None or bind.spread == 2:
                    continue
                if bind.spread == 1:
                    return None, True
                if at == pos:
                    return bind, False
                at += 1
        return None, arg is not None and any(b.spread == 2 for b in binds)

    def given_to_setter(self, row: Bound, binds: tuple[Bind, ...]) -> tuple[Bind | None, bool]:
        """The value that a call of a row's setter is given, and whether it may hide in `*args` or `**kwargs`."""
        return self.find_bind(row.arg, row.pos if row.pos is not None else 0 if row.key is None else 1, binds)

    def _may_be_positional(self, row: Bound, binds: tuple[Bind, ...], where: tuple[Fun, f.Node]) -> bool:
        """Whether a positional argument that no row speaks of may be the one that a row knows by its name only."""
        taken = self.table(where[0]).positions_beside(row)
        if taken is None or row.arg is None:
            return False
        for at, bind in enumerate(bind for bind in binds if bind.name is None and not bind.spread):
            if at in taken:
                continue
            if dotted(bind.expr).rpartition(".")[2].lower() == row.arg.lower():
                return True
            for flow in self.resolver.ask(bind.expr, bind.frame):
                thing = flow.thing
                if isinstance(thing, Num) and not isinstance(thing.number, bool):
                    return True
                if isinstance(thing, Obj):
                    entry = self._type(thing, where[0])
                    if entry is not None and entry.role == "limits":
                        return True
        return False

    def _from_spread(self, arg: str | None, binds: tuple[Bind, ...]) -> Flows | None:
        if arg is None:
            return None
        out: list[Flow] = []
        for bind in binds:
            if bind.spread == 2:
                for flow in self.resolver.ask(bind.expr, bind.frame):
                    got = self.resolver.keyed(flow.thing, arg)
                    if got is None:
                        return None
                    out.extend(x._replace(hops=flow.hops + x.hops, omitted=flow.omitted + x.omitted) for x in got)
                    if not got:
                        out.append(Flow(Absent(), flow.hops, flow.omitted, flow.default))
            elif bind.spread == 1:
                return None
        if all(isinstance(x.thing, Absent) for x in out):
            return () if not any(x.omitted for x in out) else tuple(out)
        return tuple(out)

    def _option(self, row: Bound, binds: tuple[Bind, ...], where: tuple[Fun, f.Node], holder: Obj | None) -> Source | None:
        unknown = False
        for bind in binds:
            if bind.name is not None:
                continue
            for flow in self.resolver.ask(bind.expr, bind.frame):
                for option in self._option_objects(flow, bind):
                    if (
                        isinstance(option, Obj)
                        and option.kind == "call"
                        and option.frame is not None
                        and isinstance(option.node, f.Call)
                    ):
                        if option.maker == row.option:
                            args = option.binds if option.binds is not None else self.resolver.binds(option.node, option.frame)
                            position = row.pos or 0
                            if position < len(args):
                                flows = self.resolver.ask(args[position].expr, args[position].frame)
                                return Source(row, tuple(self.classified(row, flows, holder, (option.frame.fn, option.node))))
                            return Source(row, (Slot("finite", row, None, flow, holder, (option.frame.fn, option.node)),))
                    elif bind.spread:
                        unknown = True
        if unknown:
            return Source(row, (Slot("unknown", row, holder=holder, written=where, given=True),))
        return self._default(row, holder, where)

    def _decorated(
        self, row: Bound, on: int, binds: tuple[Bind, ...], where: tuple[Fun, f.Node], holder: Obj | None
    ) -> Source | None:
        """What a decorator of the function that a call is given says."""
        given, _spread = self.find_bind(None, on, binds)
        out: list[Slot] = []
        for flow in self.resolver.ask(given.expr, given.frame) if given is not None else ():
            if not isinstance(flow.thing, FnVal):
                return Source(row, (Slot("unknown", row, None, flow, holder, where),))
            fn = flow.thing.fn
            scope = fn.parent or fn.module.functions[0]
            named = [
                d for d in fn.head.decorators if isinstance(d, f.Call) and row.annotation in self.program.canonical(d.fn, scope)
            ]
            if not named:
                found = self._default(row, holder, where)
                out.extend(found.slots if found is not None else ())
            for decorator in named:
                bind, _spread = self.find_bind(row.arg, row.pos, self.resolver.binds(decorator, self.resolver.frame(scope)))
                if bind is not None:
                    out.extend(self.classified(row, self.resolver.ask(bind.expr, bind.frame), holder, (scope, bind.expr)))
                elif (found := self._default(row, holder, where)) is not None:
                    out.extend(found.slots)
        return Source(row, tuple(out)) if out else self._default(row, holder, where)

    def _option_objects(self, flow: Flow, bind: Bind) -> Iterator[Thing]:
        if bind.spread:
            for inner in self.resolver.element(flow, bind.frame):
                yield inner.thing
        else:
            yield flow.thing

    def _key(self, row: Bound, binds: tuple[Bind, ...], where: tuple[Fun, f.Node], holder: Obj | None) -> Source | None:
        """A key in a mapping or text argument: a DSN, a URL's query, a dict of options."""
        assert row.key is not None
        out: list[Slot] = []
        for position, bind in enumerate(binds):
            place = (bind.frame.fn, bind.expr)
            if bind.spread == 2:
                for flow in self.resolver.ask(bind.expr, bind.frame):
                    got = self.resolver.keyed(flow.thing, row.key_in or row.key)
                    if got is None:
                        out.append(Slot("unknown", row, None, flow, holder, where))
                    elif row.key_in is None:
                        out.extend(self.classified(row, got, holder, place))
                    # An argument that holds the key may itself come out of the mapping.
                    for name in (row.key_in,) if row.key_in else sorted(self.resolver.names_in(flow.thing) - {row.key}):
                        for inner in self.resolver.keyed(flow.thing, name) or ():
                            out.extend(self._key_in(row, inner._replace(hops=flow.hops + inner.hops), holder, place))
            elif row.key_in is None or bind.name == row.key_in or (bind.name is None and row.key_pos == position):
                flows = self.resolver.ask(bind.expr, bind.frame)
                for flow in flows:
                    out.extend(self._key_in(row, flow, holder, place))
                if flows and row.key_in is not None and not any(self._is_read(flow.thing) for flow in flows):
                    # The one argument that may hold it is somebody else's on every way.
                    out.append(Slot("unknown", row, None, flows[0], holder, where))
        if not out:
            return None
        return Source(row, tuple(out))

    def _key_in(self, row: Bound, flow: Flow, holder: Obj | None, where: tuple[Fun, f.Node]) -> Iterator[Slot]:
        """The key in one argument, a text or a mapping."""
        assert row.key is not None
        thing = flow.thing
        if isinstance(thing, Text):
            text = key_in_text(thing.known, row.key)
            if text is not None:
                yield replace(self._text_value(row, text), flow=flow, holder=holder, written=where)
        elif isinstance(thing, Obj) and _is_mapping(thing) and not self._is_copy(thing):
            got = self.resolver.keyed(thing, row.key)
            if got is None and isinstance(thing.node, f.Coll) and thing.type != "map" and row.key_in is None:
                return  # any list among the arguments of a call that takes its options in some other
            if got is None:
                yield Slot("unknown", row, None, flow, holder, where)
            elif got:
                yield from self.classified(row, got, holder, where)
            else:
                yield from self._nested(row, thing, holder, where)

    def _is_read(self, thing: Thing) -> bool:
        """Whether a text or mapping can be looked into, or there is none."""
        if isinstance(thing, Obj):
            return _is_mapping(thing) and not self._is_copy(thing)
        return isinstance(thing, Text | Num | Null | Absent)

    def _is_copy(self, thing: Obj) -> bool:
        """Whether a mapping is made of one that nobody knows, and of nothing else: it is as that one."""
        args = thing.node.args if isinstance(thing.node, f.Call) else ()
        if len(args) != 1 or args[0].name is not None or args[0].spread or thing.frame is None:
            return False
        flows = self.resolver.ask(args[0].value, thing.frame)
        return not any(isinstance(x.thing, Obj) and _is_mapping(x.thing) for x in flows)

    def _nested(self, row: Bound, thing: Obj, holder: Obj | None, where: tuple[Fun, f.Node], depth: int = 0) -> Iterator[Slot]:
        """A key in the texts and mappings that a mapping holds: `{"options": "-c statement_timeout=5000"}`, also where that is one
        entry among the settings of an engine."""
        assert row.key is not None
        for name in dict.fromkeys((*_NESTED, *sorted(self.resolver.names_in(thing)))):
            for flow in self.resolver.keyed(thing, name) or ():
                if isinstance(flow.thing, Text):
                    text = key_in_text(flow.thing.known, row.key)
                    if text is not None:
                        yield replace(self._text_value(row, text), flow=flow, holder=holder, written=where)
                elif isinstance(flow.thing, Obj):
                    got = self.resolver.keyed(flow.thing, row.key)
                    yield from self.classified(row, got or (), holder, where)
                    if got is not None and not got and depth < _NESTED_DEEP:
                        yield from self._nested(row, flow.thing, holder, where, depth + 1)

    def _text_value(self, row: Bound, text: str) -> Slot:
        if "\0" in text or not text:
            return Slot("finite", row, None)
        number = duration_in(text, row.unit)
        if number is None:
            return Slot("finite", row, None)
        if _disables(row, Num(number / self._scale(row) if row.unit != "dur" else number)):
            return Slot("disabled", row, inf)
        return Slot("finite", row, number, mismatch=self._implausible(row, number))

    # ------------------------------------------------------------ values to slots

    def classified(self, row: Bound, flows: Flows, holder: Obj | None, where: tuple[Fun, f.Node]) -> Iterator[Slot]:
        for flow in flows:
            yield from self._classify(row, flow, holder, where)

    def _classify(self, row: Bound, flow: Flow, holder: Obj | None, where: tuple[Fun, f.Node]) -> Iterator[Slot]:
        thing = flow.thing
        base = Slot("unknown", row, None, flow, holder, where)
        match thing:
            case Num():
                yield self._number(row, thing, base)
            case Null() | Absent():
                yield self._null(row, thing, flow, base)
            case Ext() if thing.name in row.inherits:
                found = self._default(row, holder, where)
                yield found.slots[0] if found is not None else replace(base, state="absent", number=inf)
            case Ext():
                yield replace(base, state="disabled", number=inf) if thing.name in row.disabled else replace(base, state="finite")
            case Text():
                number = duration_in(thing.known, row.unit) if thing.whole is not None else None
                if number is not None and _disables(row, Num(number)):
                    yield replace(base, state="disabled", number=inf)
                else:
                    yield replace(base, state="finite", number=number)
            case Obj():
                yield from self._object(row, thing, flow, base, where)
            case Env():
                yield from self._deployed(row, thing, flow, base)
            case Unknown() if " times " in thing.unit and row.unit == "dur":
                yield replace(
                    base, mismatch="a value in {} is given together with the unit {}".format(*thing.unit.split(" times "))
                )
            case Unknown():
                yield replace(base, mismatch=_named_wrongly(thing, row, where[0].module.language))
            case _:
                yield replace(base, state="finite")

    def _deployed(self, row: Bound, thing: Env, flow: Flow, base: Slot) -> Iterator[Slot]:
        """What the deployments of the service give an environment variable; present, of unknown length, where they say nothing."""
        known = False
        fn = base.written[0] if base.written is not None else None
        if fn is not None and "${" in thing.name:
            yield from self._configured_text(row, thing, flow, base, fn)
            return
        for value in self.program.surfaces.environment(thing.name, fn.module.path) if fn is not None else ():
            number, unit = duration_in(value.text, "count"), ""
            if number is not None and not value.text.strip()[-1:].isdigit():
                number, unit = duration_in(value.text, "dur"), "dur"
            if number is None or (row.unit == "dur" and not unit and number):
                continue
            known = True
            hop = Hop(value.path, value.setting.at, value.setting.end, f"{thing.name} is set here")
            yield self._number(row, Num(number, unit), replace(base, flow=flow._replace(hops=(hop, *flow.hops))))
        if not known:
            yield replace(base, state="finite")

    def _configured_text(self, row: Bound, thing: Env, flow: Flow, base: Slot, fn: Fun) -> Iterator[Slot]:
        """What the settings of the repository, deployments and defaults make of a text with placeholders."""
        known = False
        for text in self.program.surfaces.resolved(thing.name, fn.module.path):
            number = duration_in(text.known, "count") if text.whole else None
            if number is not None:
                known = True
                yield self._number(row, Num(number), replace(base, flow=flow))
        if not known:
            yield replace(base, state="finite")

    def _number(self, row: Bound, thing: Num, base: Slot) -> Slot:
        if _disables(row, thing):
            return replace(base, state="disabled", number=inf)
        number = float(thing.number)
        if number == inf:  # whatever its unit, it is meant to have no end
            return replace(base, state="disabled", number=inf)
        if row.unit in ("count", "bool", "bytes"):
            return replace(base, state="finite", number=number)
        go = base.written is not None and base.written[0].module.language == "go"
        if thing.unit == "dur":
            wrong = ""
            if thing.raw and number:
                wrong = self._implausible(row, number) or _nanoseconds(number, thing)
            elif " times " in thing.named:
                wrong = "a value named in {} is multiplied by a constant in {}".format(*thing.named.split(" times "))
            elif number > _LONGEST:
                wrong = self._implausible(row, number)
            return replace(base, state="finite", number=number, mismatch=wrong)
        if row.unit == "dur":
            seconds = number * 1e-9 if go else number
            wrong = ""
            if go and number and abs(seconds) < 1e-3:
                wrong = f"a bare {_plain(number)} is {_plain(number)} ns for time.Duration"
            elif number and base.written is not None and base.written[0].module.language == "python":
                wrong = f"a bare {_plain(number)} is a moment, no length of time"
            return replace(base, state="finite", number=seconds, mismatch=wrong)
        seconds = number * _SECONDS[row.unit]
        wrong = self._implausible(row, seconds)
        if row.moment and number:
            wrong = f"{_plain(number)} is a length of time, no moment of the clock"
        if thing.unit and thing.unit != row.unit and number:
            wrong = f"the value is named in {thing.unit}, the slot counts {row.unit}"
        return replace(base, state="finite", number=seconds, mismatch=wrong)

    def _implausible(self, row: Bound, seconds: float) -> str:
        if row.plausible is None or row.unit in ("count", "bool", "bytes") or seconds == inf:
            # What is written as endless is meant so: no unit makes it less.
            return ""
        scale = self._scale(row)
        low, high = row.plausible[0] * scale, row.plausible[1] * scale
        if seconds > high and row.unit == "s" and counted_in_seconds(seconds):
            return ""
        if 0 < seconds < low or seconds > high:
            return f"{say_seconds(seconds)} is outside of the sensible {say_seconds(low)} to {say_seconds(high)}"
        return ""

    def _null(self, row: Bound, thing: Thing, flow: Flow, base: Slot) -> Slot:
        by_default = bool(flow.omitted) or flow.default or isinstance(thing, Absent)
        if isinstance(thing, Absent):
            zero_disables = any(d in (0, "zero") and not isinstance(d, bool) for d in row.disabled)
            if row.default == "unset" and not zero_disables:
                return replace(base, state="absent", number=inf)
            if isinstance(row.default, int | float):
                return replace(base, state="finite", number=float(row.default))
            return replace(base, state="absent", number=inf)
        if None in row.disabled:
            if by_default and not isinstance(row.default, int | float):
                return replace(base, state="absent", number=inf)
            return replace(base, state="disabled", number=inf)
        if isinstance(row.default, int | float):
            return replace(base, state="finite", number=float(row.default), passive=True)
        return replace(base, state="absent", number=inf, passive=row.default == "unset")

    def _object(self, row: Bound, thing: Obj, flow: Flow, base: Slot, where: tuple[Fun, f.Node]) -> Iterator[Slot]:
        if isinstance(thing.node, f.Coll) and thing.frame is not None:
            if row.item is not None and row.item < len(thing.node.items) and not any(p.spread for p in thing.node.items):
                part = thing.node.items[row.item].value
                for inner in self.resolver.ask(part, thing.frame):
                    yield from self._classify(
                        row, inner._replace(hops=flow.hops + inner.hops, omitted=flow.omitted + inner.omitted), base.holder, where
                    )
                return
            yield replace(base, state="finite")
            return
        entry = self._type(thing, where[0])
        if entry is not None and entry.role == "limits":
            slots = self._limited(row, thing, entry)
            if not slots:
                yield replace(base, state="absent", number=inf)
                return
            for slot in slots:
                # It replaces as a whole what stands below: where it has no limit of its own, none is inherited.
                final = slot.given or (slot.state == "absent" and slot.bound.default == "endless")
                place = slot.written or base.written
                yield replace(slot, bound=row, flow=slot.flow or flow, holder=base.holder, written=place, given=final)
            return
        if thing.kind in ("outside", "any"):
            yield base
            return
        if isinstance(thing.node, f.New) and not thing.node.fields and "zero" in row.disabled and not isinstance(thing.type, Klass):
            yield replace(base, state="disabled", number=inf)
            return
        yield replace(base, state="finite")

    def _limited(self, row: Bound, limits: Obj, entry: TypeEntry) -> tuple[Slot, ...]:
        """What an object of limits puts into the slot of the row it is given to: its own value for it or one for more than it,
        the smallest that holds. An object that speaks of neither bounds what it is given to by any slot that it fills."""
        names = (row.slot, *_WIDER.get(row.slot, ()))
        spoken = {bound.slot for bound in self.program.knowledge.of(self.language(limits)).bounds(entry.name)}
        found = {
            source.bound.slot: source for source in decide(self.of_object(limits, frozenset(names))) if source.bound.slot in names
        }
        if not found and spoken.isdisjoint(names):
            narrower = frozenset(name for name in spoken if row.slot in _WIDER.get(name, ()))
            for source in decide(self.of_object(limits, narrower)):
                if source.bounded and source.bound.slot in narrower:
                    # It ends some phase of what the slot bounds; how long all of it takes is not known.
                    return tuple(replace(slot, number=None) for slot in source.slots)
        own = found.get(row.slot)
        bounded = [found[name] for name in names if name in found and found[name].bounded]
        unclear = [found[name] for name in names if name in found and found[name].unclear]
        if not bounded and unclear and (own is None or all(slot.state == "absent" for slot in own.slots)):
            own = unclear[0]
        if bounded:
            own = min(bounded, key=lambda source: max(inf if s.number is None else s.number for s in source.slots))
        return own.slots if own is not None else ()

    def _type(self, obj: Obj, fn: Fun) -> TypeEntry | None:
        name = self.resolver.external_type(obj)
        return self.table(fn).type(name) if name else None

    # ------------------------------------------------------------ objects

    def of_object(self, obj: Obj, wanted: frozenset[str]) -> tuple[Source, ...]:
        """Everything that fills the wanted slots of an object: its construction, writes, parts, and what it was made from."""
        key = (obj, wanted)
        found = self._objects.get(key)
        if found is None:
            if obj in self._busy or len(self._busy) > _LINKS:
                return ()
            self._busy.add(obj)
            try:
                found = self._objects[key] = tuple(self._of_object(obj, wanted))
            finally:
                self._busy.discard(obj)
        return found

    def language(self, obj: Obj) -> str:
        if isinstance(obj.type, Klass):
            return obj.type.module.language
        if obj.frame is not None:
            return obj.frame.fn.module.language
        if "/" in str(obj.type):
            return "go"
        return "java" if self.program.knowledge.of("java").type(str(obj.type)) is not None else "python"

    def _version_of_all(self, row: Bound, table: Table) -> str | None:
        """The version that is pinned for the whole program: what a library makes itself stands in no file."""
        pin = self.program.versions.pinned("", table.language, table.distributions(row))
        return pin.version if pin is not None else None

    def _of_object(self, obj: Obj, wanted: frozenset[str]) -> Iterator[Source]:
        table = self.program.knowledge.of(self.language(obj))
        name = self.resolver.external_type(obj)
        where = (obj.frame.fn, obj.node) if obj.frame is not None and isinstance(obj.node, f.Node) else None
        rows = [r for r in table.bounds(name) if r.slot in wanted] if name else []
        entry = table.type(name) if name else None
        binds = self._made_with(obj)
        if binds is not None:
            binds = self.resolver.unpacked(binds)
        if where is None and isinstance(obj.type, Klass) and obj.type.module.language == "python":
            if binds is None:
                yield from self._of_any(obj, obj.type, rows, wanted)
                return
            where = (binds[0].frame.fn, binds[0].expr) if binds else None
        for level in table.mro(name) if name else ():
            for behind in self.behind(level, obj):
                yield from self._of_driver(behind, table, level, wanted, obj)
        parts = list(self._parts(obj, table, name, binds)) if entry is not None and name else []
        overruled = self._overruled(parts, table)
        lost = self._taken_over(table, name, binds) if name and binds is not None else frozenset()
        for row in rows:
            if row.slot in overruled or (where is not None and not holds(row, self.program.version(row, where[0]))):
                continue
            if obj.kind == "instance" and not holds(row, self._version_of_all(row, table)):
                continue
            if row.arg not in lost:
                yield from self._row_of_object(row, obj, binds, where)
        for part in parts:
            if part is None:
                some = rows[:1] or [Bound(slot=slot) for slot in sorted(wanted)[:1]]  # type: ignore[arg-type]
                yield from (Source(r, (Slot("unknown", r, holder=obj),)) for r in some)
                continue
            own = self._overruled([part], table)
            yield from (s for s in self.of_object(part, wanted) if s.bound.slot in own or s.bound.slot not in overruled)
        if entry is not None and name and self.language(obj) == "python":
            yield from self._of_classes(obj, table, name, binds, wanted)
        if where is not None or obj.kind == "instance":
            yield from self._of_default_parts(obj, table, name, binds, wanted, where)
        maker = table.call(obj.maker.partition("#")[0]) if obj.maker else None
        if maker is not None and obj.kind == "call" and where is not None and binds is not None:
            made = [r for r in maker.bounds if r.slot in wanted]
            yield from self.at_call(made, binds, where, obj)
            if maker.part is not None and maker.part < len(binds):
                for flow in self.resolver.ask(binds[maker.part].expr, binds[maker.part].frame):
                    if isinstance(flow.thing, Obj):
                        yield from self.of_object(flow.thing, wanted)
        if obj.parent is not None and obj.kind in ("call", "base"):
            yield from self.of_object(obj.parent, wanted)

    def _of_default_parts(
        self,
        obj: Obj,
        table: Table,
        name: str,
        binds: tuple[Bind, ...] | None,
        wanted: frozenset[str],
        where: tuple[Fun, f.Node] | None,
    ) -> Iterator[Source]:
        """The times that what stands in the place of a part gives by itself where no part was given."""
        for part in (part for level in table.mro(name) for part in level.parts if part.default is not None) if name else ():
            if part.setter is not None and part.arg is None and part.pos is None and part.field is None:
                # Only the setter can give one: where it is not called, the default stands there, with its limits or without.
                if not any(True for _ in self.method_calls(obj, part.setter)):
                    rows = (row for row in table.bounds(part.default or "?") if row.slot in wanted & DEFAULT_TIMES)
                    yield from (source for row in rows if (source := self._default(row, obj, where)) is not None)
                continue
            if not (part.arg or part.field) or (part.arg is not None and binds is None):
                continue
            given = part.arg is not None and binds is not None and any(self.find_bind(part.arg, part.pos, binds))
            if given or (part.field is not None and self.resolver.written(obj, part.field)):
                continue
            for row in table.bounds(part.default or "?"):
                if row.slot in wanted & DEFAULT_TIMES and isinstance(row.default, int | float):
                    yield Source(row, (Slot("finite", row, float(row.default), None, obj, None),))

    def _overruled(self, parts: list[Obj | None], table: Table) -> frozenset[str]:
        """Slots of an object that have no effect beside one of its parts."""
        names = (self.resolver.external_type(part) for part in parts if part is not None)
        return frozenset(slot for name in names if name for level in table.mro(name) for slot in level.overrules)

    def of_class_body(self, klass: Klass, kind: str, wanted: frozenset[str]) -> Iterator[Source]:
        """What a class body fills of the slots of a type whose settings it holds, or whose objects are made of it elsewhere."""
        for row in self.program.knowledge.of(klass.module.language).bounds(kind):
            if row.slot not in wanted:
                continue
            where: tuple[Fun, f.Node] = (klass.module.functions[0], f.Ref(klass.decl.at, klass.decl.end, ""))
            if row.setter is not None:
                last = row.setter.rpartition(".")[2]
                methods = [fn for k in self.resolver.mro(klass)[0] for fn in k.methods.values()]
                if any(name.rpartition(".")[2] == last for fn in methods for name in fn.head.calls):
                    yield Source(row, (Slot("unknown", row, None, None, None, where),))
            if row.class_attr is None:
                continue
            owner = next((k for k in self.resolver.mro(klass)[0] if row.class_attr in k.fields), None)
            if owner is not None:
                field = owner.fields[row.class_attr]
                placed = (owner.module.functions[0], field.init or f.Ref(field.at, field.end, ""))
                flows = self.resolver.class_field(owner, row.class_attr)
                yield Source(row, tuple(self.classified(row, flows, None, placed)))
            elif isinstance(row.default, float):
                yield Source(row, (Slot("finite", row, row.default, None, None, where),))

    def gives_way(self, obj: Obj) -> bool:
        """Whether a part that an object is given takes its arguments over."""
        name, binds = self.resolver.external_type(obj), self._made_with(obj)
        table = self.program.knowledge.of(self.language(obj))
        return bool(name) and binds is not None and bool(self._taken_over(table, name, binds))

    def _taken_over(self, table: Table, name: str, binds: tuple[Bind, ...]) -> frozenset[str]:
        """Arguments that have no effect because a part is given beside them."""
        out: set[str] = set()
        for part in (part for level in table.mro(name) for part in level.parts if part.replaces):
            bind = self.find_bind(part.arg, part.pos, binds)[0] if part.arg is not None else None
            if bind is not None and not any(isinstance(x.thing, Null) for x in self.resolver.ask(bind.expr, bind.frame)):
                out.update(part.replaces)
        return frozenset(out)

    def _of_driver(self, behind: Obj, table: Table, level: TypeEntry, wanted: frozenset[str], obj: Obj) -> Iterator[Source]:
        """What bounds a driver's statements, said in the slot by which the object in front of it is judged."""
        own = frozenset(x for entry in table.mro(str(behind.type)) for x in entry.enough)
        slot = next((x for x in level.enough if x in wanted), None)
        for source in (*self._driver_keys(behind, table, level, wanted | own, obj), *self.of_object(behind, wanted | own)):
            if slot is not None and source.bound.slot in own and source.bound.slot not in wanted:
                row = structs.replace(source.bound, slot=slot)
                yield Source(row, tuple(replace(s, bound=row) for s in source.slots))
            else:
                yield source

    def _driver_keys(self, behind: Obj, table: Table, level: TypeEntry, wanted: frozenset[str], obj: Obj) -> Iterator[Source]:
        """What is handed to the driver by name, beside its URL."""
        rows = [row for row in table.bounds(str(behind.type)) if row.key is not None and row.slot in wanted]
        for part in level.driver_keys:
            if part.setter is None:
                continue
            calls = list(self.method_calls(obj, part.setter))
            if any(len(binds) < 2 for _, binds in calls):
                yield from (Source(row, (Slot("unknown", row, holder=obj),)) for row in rows[:1])
                continue
            for row in rows:
                found = list(self._setter(structs.replace(row, setter=part.setter), obj))
                if found:
                    yield Source(row, tuple(found))

    def behind(self, entry: TypeEntry, obj: Obj) -> Iterator[Obj]:
        """The drivers that the scheme of a URL names, made with the arguments among which the URL stands."""
        if not entry.by_scheme:
            return
        calls: list[tuple[Frame | None, f.Node, tuple[Bind, ...]]] = []
        made = self._made_with(obj)
        if made is not None and isinstance(obj.node, f.Node):
            calls.append((obj.frame, obj.node, made))
        for place in entry.url:
            if place.setter is not None:
                calls.extend((self.resolver.frame(s.fn), s.call, binds) for s, binds in self.method_calls(obj, place.setter))
        for frame, node, binds in calls:
            for bind in binds:
                for flow in self.resolver.ask(bind.expr, bind.frame):
                    if isinstance(flow.thing, Text):
                        first, _, rest = flow.thing.known.partition(":")
                        named = (f"{first}:{rest.partition(':')[0]}", first, first.partition("+")[0])
                        driver = next((entry.by_scheme[name] for name in named if name in entry.by_scheme), None)
                        if driver is not None:
                            yield Obj("call", driver, frame, node, driver, None, binds)

    def made_with(self, obj: Obj) -> tuple[Bind, ...] | None:
        """The arguments that its external constructor got; `None` where they are not known."""
        return self._made_with(obj)

    def _made_with(self, obj: Obj) -> tuple[Bind, ...] | None:
        """The arguments an external constructor got; for a class of the program those it passes on to its external base."""
        if obj.binds is not None and not isinstance(obj.type, Klass):
            return obj.binds
        if isinstance(obj.type, Klass):
            return self._passed_to_base(obj, obj.type)
        if isinstance(obj.node, f.Call) and obj.frame is not None and obj.kind == "call":
            return self.resolver.binds(obj.node, obj.frame)
        return None

    def _of_any(self, obj: Obj, klass: Klass, rows: list[Bound], wanted: frozenset[str]) -> Iterator[Source]:
        """What fills the slots of some object of a class, as `self` is: what every place that makes one puts there. Not known
        where nothing in the program makes one."""
        made = self._constructions(klass)
        if not made:
            yield from (Source(row, (Slot("unknown", row, holder=obj),)) for row in rows)
            return
        decided = [{source.bound.slot: source for source in decide(self.of_object(one, wanted))} for one in made]
        for slot in dict.fromkeys(name for found in decided for name in found):
            bound = next(found[slot].bound for found in decided if slot in found)
            silent = (Slot("absent", bound, inf, None, obj),)
            yield Source(bound, tuple(x for found in decided for x in (found[slot].slots if slot in found else silent)))

    def _constructions(self, klass: Klass) -> tuple[Obj, ...]:
        """The objects of a class or one below it that calls in the program make; in tests only where the class is one of theirs."""
        found = self._made.get(klass)
        if found is None:
            out: dict[Obj, None] = {}
            for kind in (klass, *self.resolver.subclasses(klass)):
                for caller in self.program.names.callers(kind.name):
                    if caller.module.language != klass.module.language or (caller.module.is_test and not klass.module.is_test):
                        continue
                    for site in caller.body.calls:
                        if site.last == kind.name:
                            flows = self.resolver.ask(site.call, self.resolver.frame(caller))
                            things = (x.thing for x in flows)
                            out.update((x, None) for x in things if isinstance(x, Obj) and x.kind == "new" and x.type is kind)
                            if len(out) > MOST:
                                break
            found = self._made[klass] = tuple(out)
        return found

    def _passed_to_base(self, obj: Obj, klass: Klass) -> tuple[Bind, ...] | None:
        resolver = self.resolver
        init = next((k.methods["__init__"] for k in resolver.mro(klass)[0] if "__init__" in k.methods), None)
        if init is None:
            if isinstance(obj.node, f.Call) and obj.frame is not None and obj.kind == "new":
                return obj.binds if obj.binds is not None else resolver.binds(obj.node, obj.frame)
            return None
        frame: Frame | None = resolver.constructor_frame(obj, init) or resolver.frame(init)
        for _ in range(_BASES):
            if frame is None:
                break
            above: Frame | None = None
            for site in frame.fn.body.calls:
                if site.last != "__init__":
                    continue
                for target, binds in resolver.targets(site.call, frame):
                    if isinstance(target, BoundVal | SuperVal):
                        return binds
                    if isinstance(target, Ext) and binds:
                        return binds[1:]
                    if isinstance(target, FnVal) and target.fn.name == "__init__" and above is None:
                        # `Base.__init__(self, …)` hands itself over, `super().__init__(…)` does not.
                        passed = binds[1:] if target.this is None else binds
                        above = resolver.enter(FnVal(target.fn, None, obj), site.call, frame, passed)
            frame = above
        return None

    def _row_of_object(
        self, row: Bound, obj: Obj, binds: tuple[Bind, ...] | None, where: tuple[Fun, f.Node] | None
    ) -> Iterator[Source]:
        here: Source | None = None
        written = False
        if binds is not None and where is not None and row.setter is None:
            here = self._row_at_call(row, binds, where, obj)
            written = here is not None and any(s.flow is not None or s.state in ("unknown", "disabled") for s in here.slots)
        if row.field is not None:
            flows = tuple(x for x in self.resolver.written(obj, row.field))
            if row.key is not None and self.language(obj) == "python":
                # The field holds a mapping: what stands there under the key counts, and nothing where it has none.
                looked = [(x, self.resolver.keyed(x.thing, row.key) if isinstance(x.thing, Obj) else None) for x in flows]
                flows = tuple(y for x, got in looked for y in ((x,) if got is None else got))
            if flows:
                fn = where[0] if where is not None else None
                if fn is not None:
                    slots: list[Slot] = []
                    for flow in flows:
                        place = self._place(flow, fn, where)
                        slots.extend(self._classify(row, flow, obj, place))
                    if (
                        obj.kind == "new"
                        and not self._in_literal(obj, row.field)
                        and not all(isinstance(x.thing, Absent) for x in flows)
                    ):
                        slots.extend(self.classified(row, self._beside(obj, row.field), obj, place))
                    yield Source(row, tuple(slots))
                    return
                bare = ((flow.thing, Slot("finite", row, None, flow, obj, where)) for flow in flows)
                yield Source(row, tuple(self._number(row, x, slot) if isinstance(x, Num) else slot for x, slot in bare))
                return
        if row.class_attr is not None and isinstance(obj.type, Klass):
            for k in self.resolver.mro(obj.type)[0]:
                flows = self.resolver.class_field(k, row.class_attr)
                if flows:
                    declared = k.fields[row.class_attr]
                    written_at = (k.module.functions[0], declared.init or f.Ref(declared.at, declared.end, ""))
                    yield Source(row, tuple(self.classified(row, flows, obj, written_at)))
                    return
        if row.setter is not None:
            found = list(self._setter(row, obj))
            if found:
                yield Source(row, tuple(found))
                return
        if here is not None and written:
            yield here
            return
        if row.statement is not None:
            found = list(self._statement(row, obj))
            if found:
                yield Source(row, tuple(found))
            return
        if obj.kind in ("outside", "any") and not isinstance(obj.type, Klass):
            yield Source(row, (Slot("unknown", row, None, None, obj, where),))
            return
        if row.variable is not None and where is not None and self.program.surfaces.environment(row.variable, where[0].module.path):
            yield Source(row, tuple(self.classified(row, (Flow(Env(row.variable)),), obj, where)))
            return
        default = self._default(row, obj, where)
        placed = row.field or row.arg or row.pos is not None or row.key or row.setter or row.class_attr or row.option
        if default is not None and (placed or is_fixed(row)):
            yield default

    @staticmethod
    def _in_literal(obj: Obj, field: str) -> bool:
        return isinstance(obj.node, f.New) and any(isinstance(p.key, f.Ref) and p.key.name == field for p in obj.node.fields)

    def _beside(self, obj: Obj, field: str) -> Flows:
        """What a field holds where the function that makes the object writes it in branches and takes none of them."""
        if obj.frame is None:
            return ()
        arms = [d.arm for key, defs in obj.frame.fn.body.definitions.items() if key.endswith("." + field) for d in defs]
        return self.resolver.passed_by(arms, obj.frame) if arms else ()

    def _place(self, flow: Flow, fn: Fun, where: tuple[Fun, f.Node] | None) -> tuple[Fun, f.Node]:
        for hop in reversed(flow.hops):
            if " set here" in hop.text or " is set" in hop.text:
                module = self.program.names.modules.get(hop.path)
                if module is not None:
                    return module.functions[0], f.Ref(hop.at, hop.end, "")
        return where or (fn, fn.body.block[0] if fn.body.block else f.Ref(fn.head.at, fn.head.end, ""))

    def _setter(self, row: Bound, obj: Obj) -> Iterator[Slot]:
        assert row.setter is not None
        for site, binds in self.method_calls(obj, row.setter):
            if row.arity and len(binds) not in row.arity:
                continue
            if row.key is not None and not self.names_key(row.key, binds):
                continue
            bind, spread = self.given_to_setter(row, binds)
            if bind is None and row.arg is not None and not spread:
                continue  # A method that does something else and takes the value beside: here it is not given.
            if bind is not None and row.names_in:
                yield from self._named_in(row, bind, obj, site)
            elif bind is not None:
                flows = self.in_unit(row, self.resolver.ask(bind.expr, bind.frame), binds)
                yield from self.classified(row, flows, obj, (site.fn, bind.expr))
            elif binds:
                yield Slot("unknown", row, None, None, obj, (site.fn, site.call))
            else:
                yield Slot("finite", row, None, None, obj, (site.fn, site.call))

    def _named_in(self, row: Bound, bind: Bind, obj: Obj, site: CallSite) -> Iterator[Slot]:
        """What a module or class of settings that is handed over has for a slot; nothing where it is read whole and has none."""
        for flow in self.resolver.ask(bind.expr, bind.frame):
            found = self._names_of(flow.thing, row.names_in, site.fn.module)
            if found is None:
                yield Slot("unknown", row, None, None, obj, (site.fn, bind.expr))
            for name, expr, frame in found or ():
                named = structs.replace(row, arg=name)
                yield from self.classified(named, self.resolver.ask(expr, frame), obj, (frame.fn, expr))

    def _names_of(self, thing: Thing, names: tuple[str, ...], importer: Module) -> list[tuple[str, f.Expr, Frame]] | None:
        """The values of names in a module or class of settings, named or handed over; `None` where more may stand there."""
        if isinstance(thing, Text):
            named = self.program.names.python_module(importer, thing.whole) if thing.whole else None
            thing = ModVal(named) if isinstance(named, Module) else thing
        if isinstance(thing, ClassVal):
            classes, others = self.resolver.mro(thing.klass)
            if others:
                return None
            fields = [(name, k.module, k.fields[name].init) for k in classes for name in names if name in k.fields]
            values = [(name, init, self.resolver.frame(module.functions[0])) for name, module, init in fields if init is not None]
            return values if len(values) == len(fields) else None
        if not isinstance(thing, ModVal) or isinstance(thing.module, str):
            return None
        module, top = thing.module, thing.module.functions[0]
        if "*" in module.imports or not module.imports.keys().isdisjoint(names) or not _SETS_NAMES.isdisjoint(top.head.calls):
            return None
        made = [(name, d) for name in names for d in top.body.definitions.get(name, ())]
        values = [(name, d.expr, self.resolver.frame(top)) for name, d in made if d.kind == "value" and d.expr is not None]
        return values if len(values) == len(made) else None

    def in_unit(self, row: Bound, flows: Flows, binds: tuple[Bind, ...]) -> Flows:
        """A number in the unit that an argument beside it names."""
        if row.unit_pos is None or not 0 <= row.unit_pos < len(binds):
            return flows
        return self.resolver.java.scaled(flows, binds[row.unit_pos])

    def _is_no_number(self, bind: Bind) -> bool:
        """Whether an argument is declared as an object, so that another overload is meant: `new LinkedBlockingQueue<>(tasks)`."""
        fn = bind.frame.fn
        if fn.module.language != "java" or not isinstance(bind.expr, f.Ref):
            return False
        kinds = self.program.names.java.kinds(bind.expr, fn)
        return bool(kinds) and not any(isinstance(kind.of, str) and kind.of.startswith("java.lang.") for kind in kinds)

    def names_key(self, key: str, binds: tuple[Bind, ...]) -> bool:
        """Whether the first argument of a setter that takes name and value is that name, or a constant of it."""
        if not binds:
            return False
        table = self.resolver.table(binds[0].frame.fn.module)
        for flow in self.resolver.ask(binds[0].expr, binds[0].frame):
            thing = flow.thing
            if isinstance(thing, Text) and thing.whole == key:
                return True
            if isinstance(thing, Ext) and key in (thing.name, table.text(thing.name)):
                return True
        expr = binds[0].expr
        if not isinstance(expr, f.Ref) or "." not in expr.name:
            return False
        base, _, last = expr.name.rpartition(".")
        things = (x.thing for x in self.resolver.ask(f.Ref(expr.at, expr.end, base), binds[0].frame))
        kinds = (self.resolver.external_type(x) for x in things if isinstance(x, Obj))
        return any(kind is not None and table.text(f"{kind}.{last}") == key for kind in kinds)

    def method_calls(self, obj: Obj, method: str) -> Iterator[tuple[CallSite, tuple[Bind, ...]]]:
        """Calls of a method on this object, anywhere; `conf.update` is the method of an attribute of it, `channel().close`
        of what a method of it gives."""
        language = self.language(obj)
        part, _, method = method.rpartition(".")
        for caller in self.program.names.callers(method):
            if caller.module.language != language:
                continue
            for site in caller.body.calls:
                if site.last != method:
                    continue
                if part.endswith("()"):
                    owner = _called_on(site.call, part[:-2])
                    if owner is not None and self._is(obj, owner, caller):
                        yield site, self.resolver.binds(site.call, self.resolver.frame(caller))
                    continue
                if part:
                    base = dotted(site.call.fn).removesuffix(f".{part}.{method}")
                    if base != dotted(site.call.fn) and self._is(obj, f.Ref(site.call.at, site.call.at, base), caller):
                        yield site, self.resolver.binds(site.call, self.resolver.frame(caller))
                    continue
                for target in self.program.targets(site):
                    holder = target.holder
                    thing = target.flow.thing
                    if holder is None and isinstance(thing, FnVal):
                        continue
                    if obj.kind == "instance" and target.name == f"{obj.maker}.{method}":
                        yield site, target.binds
                        break
                    if holder is not None and (holder == obj or _same_object(holder, obj)):
                        yield site, target.binds
                        break

    def _is(self, obj: Obj, expr: f.Expr, fn: Fun) -> bool:
        flows = self.resolver.ask(expr, self.resolver.frame(fn))
        return any(isinstance(x.thing, Obj) and (x.thing == obj or _same_object(x.thing, obj)) for x in flows)

    def speaking_of(self, word: str, language: str) -> list[Module]:
        """Files of a language whose text holds a word."""
        key = (word, language)
        found = self._speaking.get(key)
        if found is None:
            wanted = any_of(word.encode())
            modules = self.program.names.modules.items()
            found = self._speaking[key] = [m for path, m in modules if m.language == language and self.program.says(path, wanted)]
        return found

    def _statement(self, row: Bound, obj: Obj) -> Iterator[Slot]:
        assert row.statement is not None
        for module in self.speaking_of(row.statement, self.language(obj)):
            for fn in module.functions:
                if not fn.head.calls:
                    continue
                for site in fn.body.calls:
                    for arg in site.call.args[:2]:
                        if not isinstance(arg.value, f.Lit | f.Fmt | f.Bin | f.Call | f.Ref):
                            continue
                        if row.statement.lower() not in self.program.text_of(fn, arg.value, 4000).lower():
                            continue
                        for flow in self.resolver.ask(arg.value, self.resolver.frame(fn)):
                            if isinstance(flow.thing, Text):
                                text = re.search(
                                    rf"(?i)\bset\b.*\b{re.escape(row.statement)}\b\s*(?:=|to)?\s*'?([^';\s]*)", flow.thing.known
                                )
                                if text is not None and not (_is_local(text[0]) and self._is_of_others(fn, site, obj)):
                                    yield replace(self._text_value(row, text[1]), flow=flow, holder=obj, written=(fn, site.call))

    @staticmethod
    def _is_of_others(fn: Fun, site: CallSite, obj: Obj) -> bool:
        """Whether what a function sets for its transaction ends with that: it has begun it itself, in another file."""
        begun = any(other.last in _BEGINS and other.call.at < site.call.at for other in fn.body.calls)
        return begun and not fn.head.is_generator and obj.frame is not None and obj.frame.fn.module is not fn.module

    def parts(self, obj: Obj) -> Iterator[Obj]:
        """The objects handed to this one whose slots are this one's too."""
        name = self.resolver.external_type(obj)
        if name:
            table = self.program.knowledge.of(self.language(obj))
            yield from (part for part in self._parts(obj, table, name, self._made_with(obj)) if part is not None)

    def _parts(self, obj: Obj, table: Table, name: str, binds: tuple[Bind, ...] | None) -> Iterator[Obj | None]:
        seen: set[Obj] = set()
        for flows in self._handed(obj, table, name, binds):
            for flow in flows:
                if isinstance(flow.thing, Obj) and flow.thing not in seen:
                    seen.add(flow.thing)
                    yield None if self._is_strange(flow.thing, table, name) else flow.thing
                elif isinstance(flow.thing, Unknown) and not any(isinstance(x.thing, Obj) for x in flows):
                    yield None

    def _is_strange(self, part: Obj, table: Table, whole: str) -> bool:
        """Whether nothing is known of a part: of a class of the program whose base nobody described, or given by somebody else's
        function. What a server is given to call, whoever made it, holds no limit of the server's own."""
        kind = table.type(whole)
        if kind is not None and kind.role == "server" and not isinstance(part.type, Klass):
            return False
        if table.type(self.resolver.external_type(part)) is not None:
            return False
        return isinstance(part.type, Klass) or (part.kind == "call" and table.call(part.maker.partition("#")[0]) is None)

    def _of_classes(
        self, obj: Obj, table: Table, name: str, binds: tuple[Bind, ...] | None, wanted: frozenset[str]
    ) -> Iterator[Source]:
        """What the bodies of classes say that stand where parts may: a handler's, of which a server makes its own objects."""
        for flows in self._handed(obj, table, name, binds):
            for flow in flows:
                for target, _ in self.resolver.unwrap(flow.thing, (), obj.frame) if obj.frame is not None else ():
                    if isinstance(target, ClassVal):
                        kind = self.resolver.external_type(Obj("any", target.klass, None, None))
                        yield from self.of_class_body(target.klass, kind, wanted)

    def _handed(self, obj: Obj, table: Table, name: str, binds: tuple[Bind, ...] | None) -> Iterator[list[Flow]]:
        """What stands in each place for a part."""
        for level in table.mro(name):
            for part in level.parts:
                flows: list[Flow] = []
                if binds is not None and (part.arg is not None or part.pos is not None):
                    bind, _ = self.find_bind(part.arg, part.pos, binds)
                    if bind is not None:
                        flows.extend(self.resolver.ask(bind.expr, bind.frame))
                if part.field is not None:
                    flows.extend(self.resolver.written(obj, part.field))
                if part.setter is not None:
                    for _site, args in self.method_calls(obj, part.setter):
                        bind, _ = self.find_bind(part.arg, part.pos if part.pos is not None else 0, args)
                        if bind is not None:
                            flows.extend(self.resolver.ask(bind.expr, bind.frame))
                yield flows

    # ------------------------------------------------------------ delegation

    def delegated(self, obj: Obj, args: frozenset[str]) -> bool | None:
        """Whether the object's class, a part of it or an attribute bound anew supplies one of the arguments to every call.

        `None`: something stands there that cannot be read.
        """
        table = self.program.knowledge.of(self.language(obj))
        return self._delegated(obj, args, table, 0)

    def escaped(self, obj: Obj) -> bool:
        """Whether the module that makes an object gives it to code outside the program whose name says that it configures, or that
        watches when it is ready."""
        if obj.kind not in ("new", "call") or obj.fn is None:
            return False
        found = self._escaped.get(obj)
        if found is None:
            found = self._escaped[obj] = any(self._configured(obj, fn) for fn in obj.fn.module.functions)
        return found

    def _configured(self, obj: Obj, fn: Fun) -> bool:
        watchers = self.table(fn).watchers
        lasts = {name.rpartition(".")[2] for name in fn.head.calls}
        if not watchers.isdisjoint(lasts) and self._watched(obj, fn, watchers):
            return True
        if not any(map(_CONFIGURES.match, lasts)):
            return False
        frame = self.resolver.frame(fn)
        for site in fn.body.calls:
            if not _CONFIGURES.match(site.last) or not site.call.args:
                continue
            if any(
                target.entry is not None or not isinstance(target.flow.thing, Ext | Unknown)
                for target in self.program.targets(site)
            ):
                continue
            for arg in site.call.args:
                for flow in self.resolver.ask(arg.value, frame):
                    if isinstance(flow.thing, Obj) and (flow.thing == obj or _same_object(flow.thing, obj)):
                        return True
        return False

    def _watched(self, obj: Obj, fn: Fun, watchers: frozenset[str]) -> bool:
        """Whether a function has something tell it when the object is ready."""
        for site in fn.body.calls:
            if site.last not in watchers:
                continue
            for target in self.program.targets(site):
                at = target.entry.watches if target.entry is not None else None
                bind = self.find_bind(None, at, target.binds)[0] if at is not None else None
                for expr in walk(bind.expr) if bind is not None else ():
                    if isinstance(expr, f.Ref | f.Field) and bind is not None:
                        things = [flow.thing for flow in self.resolver.ask(expr, bind.frame)]
                        if any(isinstance(x, Obj) and (x == obj or _same_object(x, obj)) for x in things):
                            return True
        return False

    def _delegated(self, obj: Obj, args: frozenset[str], table: Table, depth: int) -> bool | None:
        if depth > 4:
            return False
        name = self.resolver.external_type(obj)
        unclear = False
        delegates = [d for level in table.mro(name) for d in level.delegates]
        # What goes through a part is bounded by the part's own words: `timeout` of a session, whatever its owner calls it.
        calls = (table.call(f"{level.name}.{d}") for level in table.mro(name) for d in level.delegates)
        supplied = args.union(row.arg for call in calls if call is not None for row in call.bounds if row.arg is not None)
        if isinstance(obj.type, Klass):
            for k in self.resolver.mro(obj.type)[0]:
                for d in delegates:
                    method = k.methods.get(d)
                    if method is not None and self.supplies(method, supplied):
                        return True
        for d in delegates:
            for flow in self.resolver.written(obj, d):
                thing = flow.thing
                if isinstance(thing, Obj) and thing.maker == "functools.partial" and isinstance(thing.node, f.Call):
                    if any(a.name in supplied for a in thing.node.args):
                        return True
                elif isinstance(thing, FnVal) and self.supplies(thing.fn, supplied):
                    return True
                elif isinstance(thing, Unknown):
                    unclear = True
        for part in self._parts(obj, table, name, self._made_with(obj)):
            if part is None:
                unclear = True
                continue
            got = self._delegated(part, args, table, depth + 1)
            if got:
                return True
            unclear = unclear or got is None
        return None if unclear else False

    def supplies(self, fn: Fun, args: frozenset[str]) -> bool:
        """Whether a body gives one of these arguments to something it calls, or puts it into the keywords it passes on."""
        for name, defs in fn.body.definitions.items():
            if name.endswith("[]") and any(_stored_key(d.node, name[:-2]) in args for d in defs):
                return True
        for site in fn.body.calls:
            for arg in site.call.args:
                if arg.name in args and not (isinstance(arg.value, f.Lit) and arg.value.value is None):
                    if isinstance(arg.value, f.Ref) and arg.value.name in fn.params and fn.params[arg.value.name].default is None:
                        continue
                    default = (
                        fn.params[arg.value.name].default if isinstance(arg.value, f.Ref) and arg.value.name in fn.params else None
                    )
                    if isinstance(default, f.Lit) and default.value is None and arg.value.name not in fn.body.definitions:  # type: ignore[union-attr]
                        continue
                    return True
            if site.last in ("setdefault", "update") and site.call.args:
                first = site.call.args[0]
                if isinstance(first.value, f.Lit) and first.value.value in args:
                    return True
        return False


def _stored_key(node: object, base: str) -> str | None:
    if isinstance(node, f.Assign):
        for target in node.targets:
            if (
                isinstance(target, f.Index)
                and dotted(target.base) == base
                and isinstance(target.key, f.Lit)
                and isinstance(target.key.value, str)
            ):
                return target.key.value
    return None


def _same_object(a: Obj, b: Obj) -> bool:
    """One may be the other: the same place made both, or one is any instance of the other's class."""
    if isinstance(a.node, f.Node) and a.node is b.node and a.kind == b.kind and a.maker == b.maker:
        return True
    if isinstance(a.type, Klass) and a.type is b.type:
        return a.kind in ("any", "outside") or b.kind in ("any", "outside")
    return False


def _disables(row: Bound, thing: Num) -> bool:
    number = thing.number
    if row.unit == "dur" and number * (1.0 if thing.unit == "dur" else 1e-9) >= _FOR_EVER:
        return True
    for value in row.disabled:
        if value == "negative" and not isinstance(number, bool) and number < 0:
            return True
        if value in ("zero",) and number == 0:
            return True
        if isinstance(value, bool):
            if isinstance(number, bool) and number == value:
                return True
        elif isinstance(value, int | float) and not isinstance(number, bool) and float(number) == float(value):
            return True
    return False


_NAMED = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}
"""Units that a name may promise. `_min` is left out: it means the least as often as minutes."""


def _called_on(call: f.Call, method: str) -> f.Expr | None:
    """What `method` is called on in `x.method().setter(…)`."""
    inner = call.fn.base if isinstance(call.fn, f.Field) else None
    if not isinstance(inner, f.Call):
        return None
    if isinstance(inner.fn, f.Ref):
        base, _, last = inner.fn.name.rpartition(".")
        return f.Ref(inner.fn.at, inner.fn.at + len(base), base) if last == method and base else None
    return inner.fn.base if isinstance(inner.fn, f.Field) and inner.fn.name == method else None


def _named_wrongly(thing: Unknown, row: Bound, language: str) -> str:
    """Why a value of unknown length, by the unit that its name promises, cannot be meant as the slot takes it; empty: it may."""
    if thing.unit not in _NAMED or thing.unit == row.unit:
        return ""
    if row.unit == "dur":
        bare = language == "go" and thing.why == "raw duration"
        return f"a value named in {_NAMED[thing.unit]} is taken for nanoseconds, without a unit beside it" if bare else ""
    return f"the value is named in {thing.unit}, the slot counts {row.unit}" if row.unit in _NAMED else ""


def _nanoseconds(seconds: float, thing: Num) -> str:
    if 0 < abs(seconds) < 1e-3:
        return f"a bare number is nanoseconds: {say_seconds(seconds)}"
    return ""


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else f"{number:g}"


def counted_in_seconds(seconds: float) -> bool:
    """Whether somebody counted whole hours of a day, or whole days of a month, in seconds: long, and meant so."""
    return (seconds <= _DAY and seconds % _HOUR == 0) or (seconds <= _MONTH and seconds % _DAY == 0)


def say_seconds(seconds: float) -> str:
    """A duration as people write it: `30 ns`, `1.5 s`, `2 min`."""
    if seconds == inf:
        return "for ever"
    size = abs(seconds)
    for limit, unit, scale in ((1e-6, "ns", 1e-9), (1e-3, "µs", 1e-6), (1.0, "ms", 1e-3), (120.0, "s", 1.0), (7200.0, "min", 60.0)):
        if size < limit:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds / 3600:.4g} h"


def is_fixed(row: Bound) -> bool:
    """Whether nobody can write what a row speaks of: its default is a fact."""
    places = (
        row.arg,
        row.pos,
        row.key,
        row.field,
        row.setter,
        row.option,
        row.class_attr,
        row.statement,
        row.annotation,
        row.setting,
    )
    return all(place is None for place in places)


def duration_in(text: str, unit: str) -> float | None:
    """Seconds (or a count) in a text value: `5s`, `1m30s`, `2000` in the slot's unit; `None` where it is neither."""
    text = text.strip()
    try:
        return float(text) * (_SECONDS.get(unit, 1.0) if unit != "dur" else 1.0)
    except ValueError:
        pass
    total, end = 0.0, 0
    for match in _DURATION.finditer(text):
        if match.start() != end:
            return None
        total += float(match[1]) * _TEXT_UNITS[match[2]]
        end = match.end()
    return total if end and end == len(text) else None


def _is_local(text: str) -> bool:
    """Whether a `SET` ends with its transaction."""
    return re.match(r"set\s+local\b", text, re.IGNORECASE) is not None


def _is_mapping(thing: Obj) -> bool:
    """Whether its keys can be looked for; a list may be one of pairs."""
    made = isinstance(thing.node, f.Call) and (thing.type == "map" or thing.maker == "<builtin>.dict")
    return made or isinstance(thing.node, f.Coll)


def key_in_text(text: str, key: str) -> str | None:
    """The value of a key in a URL's query, a `key=value` connection text or libpq's `-c key=value`; `None` if it is not there."""
    query = text.partition("?")[2]
    if query:
        for name, value in parse_qsl(query.replace("\0", "%00"), keep_blank_values=True):
            if name == key:
                return value
            if name == "options":
                inner = key_in_text(value, key)
                if inner is not None:
                    return inner
    found = re.search(rf"(?:^|[\s;,&?'\"]|-c\s*|--){re.escape(key)}\s*=\s*('[^']*'|[^\s;&,'\"]*)", text)
    return found[1].strip("'") if found is not None else None
