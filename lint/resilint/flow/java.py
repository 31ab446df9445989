"""What is Java's own in backward resolution: what a bare name means, which overload a call means, durations given with a unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import resilint.facts as f
from resilint.flow.values import (
    SECONDS,
    Absent,
    Bind,
    Bound,
    ClassVal,
    Ext,
    Flow,
    Flows,
    FnVal,
    Frame,
    Null,
    Num,
    Obj,
    Thing,
    Unknown,
    union,
    unknown,
    wrong_unit,
)
from resilint.knowledge.schema import CallEntry
from resilint.link.code import CallSite, Fun, Klass, Module, walk, walk_block
from resilint.link.java import JavaNames, exact_first, takes

if TYPE_CHECKING:
    from resilint.flow.resolve import Resolver

Site = tuple[Frame, CallSite, tuple[Bind, ...], Thing | None]
"""Where a function is called: in which frame, with what, on what."""
MOST_HOLDERS = 48
"""Functions that mention a name which are looked into for references to a method; past that one is taken for granted."""


class Java:
    """Questions about Java, beside a resolver."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self._classes_at: dict[str, list[Klass]] = {}
        self._referred: dict[str, bool] = {}
        self._methods: dict[tuple[Klass, str], list[Fun]] = {}
        self._counts: frozenset[str] | None = None

    @property
    def names(self) -> JavaNames:
        """The Java files of the program."""
        return self.resolver.names.java

    # ------------------------------------------------------------ names

    def name(self, name: str, at: f.Node, frame: Frame) -> Flows:
        """A bare name that no local, parameter or function around declares: a member or class in sight, a static import."""
        fn = frame.fn
        if name == "this":
            klass = self.class_at(fn, at)
            return (Flow(Obj("any", klass, None, None)),) if klass is not None else unknown("`this` outside a class")
        if fn.index == 0:
            return self._in_class_body(name, at, fn)
        if name[:1].isupper() and not name.isupper() and (found := self.type_value(name, fn)):
            return found
        member = self.names.member(name, fn)
        if member is not None:
            owner, own_name, static = member
            if isinstance(owner, str):
                return self.resolver.attributes((Flow(Ext(owner)),), own_name, at, frame)
            if static:
                return self.resolver.attributes((Flow(ClassVal(owner)),), own_name, at, frame)
            this = self.resolver.name("this", at, frame)
            return self.resolver.attributes(this, own_name, at, frame)
        return self.type_value(name, fn) or unknown("a name that nothing here declares")

    def _in_class_body(self, name: str, at: f.Node, fn: Fun) -> Flows:
        """A name in the initialiser of a field."""
        klass = self.class_at(fn, at)
        if klass is None:
            return self.type_value(name, fn.module) or unknown("a name that nothing here declares")
        for around in (klass, *self.names.around(klass)):
            for level in self.names.mro(around)[0]:
                if name in level.fields or name in level.overloads:
                    return self.resolver.attributes((Flow(ClassVal(level)),), name, at, self.resolver.frame(fn))
        # A static import is written like that of a nested type: capitals alone are a constant.
        if not name.isupper() and (found := self.type_value(name, klass)):
            return found
        for imp in fn.module.imports.get(name, ()):
            if imp.is_static:
                owner = self.names.type(imp.target, fn.module)
                holder: Thing = ClassVal(owner) if isinstance(owner, Klass) else Ext(owner or imp.target)
                return self.resolver.attributes((Flow(holder),), imp.name or name, at, self.resolver.frame(fn))
        return self.type_value(name, klass) or unknown("a name that nothing here declares")

    def type_value(self, name: str, where: Fun | Klass | Module) -> Flows:
        """What a name means as a type; nothing if it means none."""
        found = self.names.type(name, where)
        if found is None:
            return ()
        return (Flow(ClassVal(found) if isinstance(found, Klass) else Ext(found)),)

    def class_at(self, fn: Fun, at: f.Node) -> Klass | None:
        """The innermost class around a place."""
        around = self.names.enclosing(fn)
        if around:
            return around[0]
        inside = [k for k in fn.module.classes if k.decl.at <= at.at < k.decl.end]
        return max(inside, key=lambda k: k.decl.at, default=None)

    def resolve_type(self, name: str, where: Fun | Klass | Module) -> Klass | str | None:
        """A written type: a class of the program, or an external one that an object of consequence may have; `None` for others."""
        found = self.names.type(name, where)
        if not isinstance(found, str):
            return found
        table = self.resolver.knowledge.of("java")
        known = table.type(found)
        if known is None:
            head, _, last = found.rpartition(".")
            shaped = table.shape(head, last) if head else None
            return shaped or (None if found.startswith("java.lang.") else found)
        plain = known.role == "value" and not known.bounds and not known.returns and not known.fluent
        return None if plain else known.name

    # ------------------------------------------------------------ overloads

    def methods(self, klass: Klass, name: str) -> list[Fun]:
        """Methods of that name: each overload where it is declared nearest."""
        found = self._methods.get((klass, name))
        if found is not None:
            return found
        out = self._methods[klass, name] = []
        for level in self.names.mro(klass)[0]:
            for fun in level.overloads.get(name, ()):
                if not any(_alike(fun, other) for other in out):
                    out.append(fun)
        return out

    def callee(self, call: f.Call, frame: Frame) -> Flows:
        """What stands in the place of the called: of a field and a method of one name, the method."""
        fn = call.fn
        base, _, last = fn.name.rpartition(".") if isinstance(fn, f.Ref) else ("", "", "")
        if isinstance(fn, f.Ref) and not base:
            if fn.name in ("this", "super"):
                return unknown("another constructor")
            named = self.chosen(self.resolver.value(fn, frame), call)
            return named if any(not isinstance(x.thing, Unknown) for x in named) else self._inherited(call, frame) or named
        if isinstance(fn, f.Ref) and (base == "super" or base.endswith(".super")):
            return self.chosen(self._of_super(last, fn, frame), call)
        if not isinstance(fn, f.Ref | f.Field):
            return self.resolver.value(fn, frame)
        if isinstance(fn, f.Ref) and (made := self._spelled_out(fn.name, frame)):
            return made
        last = last or (fn.name if isinstance(fn, f.Field) else "")
        found = self.chosen(self._methods_first(self.receiver(call, frame), last, fn, frame), call)
        if last in self._counting and all(isinstance(x.thing, Unknown) for x in found):
            # Of a duration that nobody knows, the unit it is counted in is known by its declared type.
            table = self.resolver.knowledge.of("java")
            names = [target for target in self.names.targets(call, frame.fn) if isinstance(target, str)]
            if any((row := table.call(name)) is not None and row.counts is not None for name in names):
                return tuple(Flow(Ext(name)) for name in names)
        return found or unknown("a call of something unknown")

    def reference(self, expr: f.Field, frame: Frame) -> Flows:
        """`holder::name`: of a field and a method of one name, the method."""
        return self._methods_first(self.resolver.value(expr.base, frame), expr.name, expr, frame)

    def _methods_first(self, holders: Flows, name: str, at: f.Node, frame: Frame) -> Flows:
        out: list[Flow] = []
        for flow in holders:
            methods = self.resolver.method(flow.thing, name) if isinstance(flow.thing, Obj) else []
            if methods:
                out.extend(Flow(method, flow.hops) for method in methods)
            else:
                out.extend(self.resolver.attributes((flow,), name, at, frame))
        return union(out)

    @property
    def _counting(self) -> frozenset[str]:
        """Last segments of what gives a duration as a number of a unit."""
        if self._counts is None:
            libraries = self.resolver.knowledge.of("java").libraries
            rows = (row for library in libraries for row in library.calls if row.counts is not None)
            self._counts = frozenset(name.rpartition(".")[2] for row in rows for name in row.names)
        return self._counts

    def _inherited(self, call: f.Call, frame: Frame) -> Flows:
        """A bare name of a method that a class around inherits from a library: `join()` in a `Thread`."""
        names = [target for target in self.names.targets(call, frame.fn) if isinstance(target, str)]
        this = next((x.thing for x in self.resolver.name("this", call, frame) if isinstance(x.thing, Obj)), None)
        if this is None:
            return tuple(Flow(Ext(name)) for name in names)
        halves = (name.rpartition(".") for name in names)
        return tuple(Flow(Bound(Obj("base", owner, this.frame, this.node, owner, this), last)) for owner, _, last in halves)

    def _of_super(self, name: str, at: f.Node, frame: Frame) -> Flows:
        klass = self.class_at(frame.fn, at)
        if klass is None:
            return unknown("super outside a class")
        this = next((x.thing for x in self.resolver.name("this", at, frame)), None)
        bases, external = self.names.bases(klass)
        for base in bases:
            if methods := self.methods(base, name):
                return tuple(Flow(FnVal(fn, None, this)) for fn in methods)
        if external and isinstance(this, Obj):
            return (Flow(Bound(Obj("base", external[0], this.frame, this.node, external[0], this), name)),)
        return unknown("super of an unknown base")

    def chosen(self, flows: Flows, call: f.Call) -> Flows:
        """What a call may mean of the overloads that its name means: those which take so many arguments."""
        count = len(call.args)
        methods = [x.thing.fn for x in flows if isinstance(x.thing, FnVal) and x.thing.fn.head.kind != "lambda"]
        if len(methods) < 2:
            return flows
        fitting = set(exact_first([fn for fn in methods if takes(fn, count)], count))
        return tuple(
            x for x in flows if not isinstance(x.thing, FnVal) or x.thing.fn.head.kind == "lambda" or x.thing.fn in fitting
        )

    def is_referred_to(self, fn: Fun) -> bool:
        """Whether a method is handed on by a reference (`Type::name`); a field or variable of its name is none."""
        found = self._referred.get(fn.name)
        if found is None:
            holders = self.resolver.names.values_of.get(fn.name, ())
            java = [x for x in holders if x.module.language == "java" and any(v.endswith("." + fn.name) for v in x.head.values)]
            found = self._referred[fn.name] = len(java) > MOST_HOLDERS or any(_refers(x, fn.name) for x in java)
        return found

    def reaches(self, site: CallSite, fn: Fun) -> bool:
        """Whether a call may run a method or constructor, by what is declared."""
        return fn in self.names.targets(site.call, site.fn)

    @staticmethod
    def stands_in(shorter: Fun, fn: Fun) -> bool:
        """Whether a function is another overload of one name, in which what it does not take has a default."""
        alike = (
            shorter is not fn and shorter.name == fn.name and shorter.module is fn.module and shorter.head.owner == fn.head.owner
        )
        return alike and len(shorter.positional) < len(fn.positional)

    def past_overloads(self, fn: Fun, sites: list[Site]) -> list[Site]:
        """Call sites of a function, in which those of a shorter overload of it stand for the one in there."""
        out: list[Site] = []
        for frame, site, args, this in sites:
            if not self.stands_in(frame.fn, fn):
                out.append((frame, site, args, this))
                continue
            for above, call, given, receiver in self.past_overloads(frame.fn, self.resolver.callers(frame.fn)[0]):
                inner = self.resolver.enter(FnVal(frame.fn, None, receiver), call.call, above, given)
                out.append((inner, site, self.resolver.binds(site.call, inner), this))
        return out

    def constructors_below(self, constructor: Fun) -> Iterator[Fun]:
        """Constructors that may begin with a call of this one: of its class and of those that extend it."""
        owner = self.class_of(constructor)
        for klass in (owner, *self.names.subtypes(owner)) if owner is not None else ():
            yield from klass.overloads.get("__init__", ())

    @staticmethod
    def class_of(fn: Fun) -> Klass | None:
        """The class that a method or constructor is declared in."""
        return fn.module.classes[fn.head.owner] if fn.head.owner >= 0 else None

    def can_be_set(self, klass: Klass, name: str) -> bool:
        """Whether some method of a class writes a field, so that what it starts with is a default."""
        return any(
            writer.module is klass.module and writer.head.owner == klass.index for writer in self.resolver.names.writers(name)
        )

    def called_on(self, obj: Obj, method: Fun) -> list[Frame] | None:
        """The frames in which a method runs for an object that is made under a known call or by a container; `None` where that is
        not known."""
        if obj.kind != "new" or obj.frame is None or method.name == "__init__":
            return None
        by_container = bool(obj.frame.fn.module.beans)
        if obj.frame.caller is None and (not by_container or self.resolver.wiring.is_wired(method)):
            return None
        sites, whole = self.resolver.callers(method)
        if not whole or (by_container and not sites):
            return None
        out: list[Frame] = []
        for plain, site, _, _ in sites:
            frame = next((x for x in _chain(obj.frame) if x.fn is site.fn), plain)
            receivers = self.receiver(site.call, frame)
            if not receivers or any(_may_be(x.thing, obj) for x in receivers):
                out.append(self.resolver.enter(FnVal(method, None, obj), site.call, frame, self.resolver.binds(site.call, frame)))
        return out

    # ------------------------------------------------------------ durations

    def counted(self, row: CallEntry, call: f.Call, args: tuple[Bind, ...], frame: Frame) -> Flows:
        """`duration.toMillis()`, `TimeUnit.SECONDS.toMillis(5)`: a number of a unit."""
        unit = row.counts
        assert unit is not None
        out: list[Flow] = []
        for flow in self.receiver(call, frame):
            thing = flow.thing
            if not isinstance(thing, Num) or thing.unit != "dur":
                out.append(Flow(Unknown("a duration of unknown length", unit)))
                continue
            if not args:
                out.append(flow._replace(thing=Num(float(thing.number) / SECONDS[unit], unit)))
                continue
            for given in self.resolver.value(args[0].expr, args[0].frame):
                number = given.thing
                if isinstance(number, Num):
                    total = float(number.number) * float(thing.number) / SECONDS[unit]
                    out.append(given._replace(thing=Num(total, unit)))
                else:
                    out.append(Flow(Unknown("a duration of unknown length", unit)))
        return union(out)

    def changed(self, row: CallEntry, call: f.Call, args: tuple[Bind, ...], frame: Frame) -> Flows:
        """`duration.plusSeconds(5)`, `duration.multipliedBy(3)`: another duration, for each that both sides may be."""
        assert row.arithmetic is not None
        op, unit = row.arithmetic
        if not args:
            return unknown("a duration of unknown length")
        by = self.resolver.value(args[0].expr, args[0].frame)
        if len(args) > 1:
            by = self.scaled(by, args[1])
        out: list[Flow] = []
        for flow in self.receiver(call, frame):
            for other in by:
                if isinstance(flow.thing, Null | Absent) or isinstance(other.thing, Null | Absent):
                    continue  # raises
                hops = flow.hops + tuple(h for h in other.hops if h not in flow.hops)
                thing = _changed(flow.thing, op, other.thing, unit)
                out.append(Flow(thing, hops, flow.omitted + other.omitted, flow.default or other.default))
        return union(out) or unknown("a duration of unknown length")

    # ------------------------------------------------------------ boxes

    def given(self, row: CallEntry, holder: Obj | None, call: f.Call, args: tuple[Bind, ...], frame: Frame) -> Flows:
        """`optional.orElse(x)`, `Objects.requireNonNullElse(x, y)`: what the call was handed, without null."""
        gives = row.gives
        assert gives is not None
        if gives.of >= 0:
            flows = self.resolver.value(args[gives.of].expr, args[gives.of].frame) if gives.of < len(args) else ()
        else:
            flows = self._held(holder, call, frame) if holder is not None else self.receiver(call, frame)
        kept = tuple(x for x in flows if not isinstance(x.thing, Null | Absent))
        if gives.orelse is None or gives.orelse >= len(args):
            return kept or unknown("null where there may be none")
        if flows and len(kept) == len(flows) and not any(isinstance(x.thing, Unknown) for x in kept):
            return kept
        instead = args[gives.orelse]
        other = self.resolver.value(instead.expr, instead.frame)
        if gives.runs:
            other = self._called(other, call, frame, ())
        return union(kept, (x for x in other if not gives.strict or not isinstance(x.thing, Null | Absent)))

    def _held(self, box: Obj, call: f.Call, frame: Frame) -> Flows:
        """What a box holds; nothing of it is null but where there is nothing."""
        row = self.resolver.knowledge.of("java").call(box.maker) if box.maker else None
        if row is None or box.frame is None or not isinstance(box.node, f.Call):
            return unknown("what a box holds")
        args = box.binds if box.binds is not None else self.resolver.binds(box.node, box.frame)
        if row.holds is not None:
            if row.holds >= len(args):
                return (Flow(Null()),)
            return self.resolver.value(args[row.holds].expr, args[row.holds].frame)
        if row.maps is None or row.maps >= len(args) or box.parent is None:
            return unknown("what a box holds")
        inner = self._held(box.parent, call, frame)
        kept = tuple(x for x in inner if not isinstance(x.thing, Null | Absent))
        nothing = tuple(x for x in inner if isinstance(x.thing, Null | Absent))
        if not kept:
            return nothing
        function = args[row.maps]
        handed = (self.resolver.given_bind(function.expr, kept, function.frame),)
        functions = self.resolver.value(function.expr, function.frame)
        unbound = [x.thing.fn for x in functions if isinstance(x.thing, FnVal) and _is_unbound(x.thing)]
        if not unbound:
            return union(nothing, self._called(functions, call, frame, handed))
        own = [FnVal(fn, None, x.thing) for fn in unbound if not fn.positional for x in kept]
        return union(nothing, self._called(tuple(Flow(x) for x in own), call, frame, ())) or unknown("a call of something unknown")

    def _called(self, functions: Flows, call: f.Call, frame: Frame, args: tuple[Bind, ...]) -> Flows:
        """What functions that are values give."""
        out: list[Flow] = []
        for flow in functions:
            if isinstance(flow.thing, FnVal) and len(flow.thing.fn.positional) >= len(args):
                out.extend(self.resolver.returned(flow.thing, call, frame, args))
            else:
                out.append(Flow(Unknown("a call of something unknown")))
        return union(out)

    def receiver(self, call: f.Call, frame: Frame) -> Flows:
        """What stands before the name of a called method."""
        if isinstance(call.fn, f.Field):
            return self.resolver.value(call.fn.base, frame)
        if isinstance(call.fn, f.Ref) and "." in call.fn.name:
            base = call.fn.name.rpartition(".")[0]
            return self._spelled_out(base, frame) or self.resolver.name(base, call.fn, frame)
        return ()

    def _spelled_out(self, name: str, frame: Frame) -> Flows:
        """A class by its full name, which needs no import: `java.util.concurrent.Executors`."""
        package, _, last = name.rpartition(".")
        if not last[:1].isupper() or not package[:1].islower() or self.names.variable(name.partition(".")[0], frame.fn):
            return ()
        return self.type_value(name, frame.fn)

    def scaled(self, flows: Flows, unit: Bind) -> Flows:
        """Numbers in a unit that an argument beside them names (`5, TimeUnit.SECONDS`), as durations."""
        out: list[Flow] = []
        for given in self.resolver.value(unit.expr, unit.frame):
            for flow in flows:
                if isinstance(flow.thing, Unknown) and isinstance(given.thing, Num):
                    wrong = wrong_unit(flow.thing.unit, float(given.thing.number))
                    out.append(flow._replace(thing=Unknown(flow.thing.why, wrong)) if wrong else flow)
                elif not isinstance(flow.thing, Num) or not isinstance(given.thing, Num):
                    out.append(flow if isinstance(flow.thing, Unknown) else Flow(Unknown("a duration in an unknown unit")))
                elif flow.thing.unit == "dur":
                    out.append(flow)
                else:
                    length = float(flow.thing.number) * float(given.thing.number)
                    out.append(
                        flow._replace(thing=Num(length, "dur", named=wrong_unit(flow.thing.unit, float(given.thing.number))))
                    )
        return union(out)


def _refers(holder: Fun, name: str) -> bool:
    """Whether a body has a reference to a method of that name."""
    nodes = list(walk_block(holder.body.block))
    if holder.index == 0:
        fields = [field for klass in holder.module.classes for field in klass.decl.fields]
        nodes += [node for field in fields if field.init is not None for node in walk(field.init)]
    called = {id(node.fn) for node in nodes if isinstance(node, f.Call)}
    return any(isinstance(node, f.Field) and node.name == name and id(node) not in called for node in nodes)


def _is_unbound(function: FnVal) -> bool:
    """Whether it is a method whose receiver comes as its argument: `Type::method`."""
    return function.this is None and function.fn.is_method and not function.fn.head.is_static


def _chain(frame: Frame | None) -> Iterator[Frame]:
    while frame is not None:
        yield frame
        frame = frame.caller


def _may_be(thing: Thing, obj: Obj) -> bool:
    """Whether a thing may be an object: made at the same place, by calls of which none differs as far as both are known."""
    if not isinstance(thing, Obj) or thing.kind != obj.kind or thing.frame is None:
        return not isinstance(thing, Null | Absent | Num)
    pairs = zip(_chain(thing.frame), _chain(obj.frame), strict=False)
    return thing.node is obj.node and all(
        mine.fn is other.fn and (mine.site is other.site or mine.site is None or other.site is None) for mine, other in pairs
    )


def _changed(thing: Thing, op: str, other: Thing, unit: str) -> Thing:
    """A duration changed by another one or by a number of that unit."""
    if not isinstance(thing, Num) or thing.unit != "dur" or not isinstance(other, Num):
        return Unknown("a duration of unknown length")
    length, by = float(thing.number), float(other.number)
    if op in ("+", "-"):
        if other.unit != "dur":
            if unit not in SECONDS:
                return Unknown("a duration of unknown length")
            by *= SECONDS[unit]
        return Num(length + by if op == "+" else length - by, "dur")
    if op == "*":
        return Num(length * by, "dur")
    if not by:
        return Unknown("a duration of unknown length")
    return Num(length / by) if other.unit == "dur" else Num(length / by, "dur")


def _alike(one: Fun, other: Fun) -> bool:
    """Whether two methods of one name have parameters of the same written types, so that one stands in the other's place."""
    mine, theirs = ([p.type.name if p.type is not None else "" for p in fun.head.params[1:]] for fun in (one, other))
    return mine == theirs
