"""What is Java's own in backward resolution: what a bare name means, which overload a call means, durations given with a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.values import Bind, Bound, ClassVal, Ext, Flow, Flows, FnVal, Frame, Num, Obj, Thing, Unknown, union, unknown
from resilint.knowledge.schema import CallEntry
from resilint.link.code import CallSite, Fun, Klass, Module
from resilint.link.java import JavaNames, exact_first, takes

if TYPE_CHECKING:
    from resilint.flow.resolve import Resolver

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}


class Java:
    """Questions about Java, beside a resolver."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self._classes_at: dict[str, list[Klass]] = {}

    @property
    def names(self) -> JavaNames:
        """The Java files of the program."""
        return self.resolver.names.java

    # ------------------------------------------------------------ names

    def name(self, name: str, at: f.Node, frame: Frame) -> Flows:
        """A bare name that no local, parameter or function around declares: a member of a class around, a class, a static import."""
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
        if found := self.type_value(name, klass):
            return found
        for imp in fn.module.imports.get(name, ()):
            if imp.is_static:
                owner = self.names.type(imp.target, fn.module)
                holder: Thing = ClassVal(owner) if isinstance(owner, Klass) else Ext(owner or imp.target)
                return self.resolver.attributes((Flow(holder),), imp.name or name, at, self.resolver.frame(fn))
        return unknown("a name that nothing here declares")

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
        out: list[Fun] = []
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
            return self.chosen(self.resolver.value(fn, frame), call)
        if isinstance(fn, f.Ref) and (base == "super" or base.endswith(".super")):
            return self.chosen(self._of_super(last, fn, frame), call)
        if not isinstance(fn, f.Ref | f.Field):
            return self.resolver.value(fn, frame)
        out: list[Flow] = []
        last = last or (fn.name if isinstance(fn, f.Field) else "")
        for flow in self.receiver(call, frame):
            methods = self.resolver.method(flow.thing, last) if isinstance(flow.thing, Obj) else []
            if methods:
                out.extend(Flow(method, flow.hops) for method in methods)
            else:
                out.extend(self.resolver.attributes((flow,), last, fn, frame))
        return self.chosen(union(out), call) or unknown("a call of something unknown")

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

    def reaches(self, site: CallSite, fn: Fun) -> bool:
        """Whether a call may run a method or constructor, by what is declared."""
        return fn in self.names.targets(site.call, site.fn)

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

    def receiver(self, call: f.Call, frame: Frame) -> Flows:
        """What stands before the name of a called method."""
        if isinstance(call.fn, f.Field):
            return self.resolver.value(call.fn.base, frame)
        if isinstance(call.fn, f.Ref) and "." in call.fn.name:
            base = call.fn.name.rpartition(".")[0]
            return self.resolver.name(base, call.fn, frame)
        return ()

    def scaled(self, flows: Flows, unit: Bind) -> Flows:
        """Numbers in a unit that an argument beside them names (`5, TimeUnit.SECONDS`), as durations."""
        out: list[Flow] = []
        for given in self.resolver.value(unit.expr, unit.frame):
            for flow in flows:
                if not isinstance(flow.thing, Num) or not isinstance(given.thing, Num):
                    out.append(flow if isinstance(flow.thing, Unknown) else Flow(Unknown("a duration in an unknown unit")))
                elif flow.thing.unit == "dur":
                    out.append(flow)
                else:
                    length = float(flow.thing.number) * float(given.thing.number)
                    out.append(flow._replace(thing=Num(length, "dur", named=_mismatch(flow.thing.unit, float(given.thing.number)))))
        return union(out)


def _mismatch(named: str, unit: float) -> str:
    """The two units where a number named in one is counted in another."""
    if named not in SECONDS:
        return ""
    said = next(name for name, seconds in SECONDS.items() if seconds == unit) if unit in SECONDS.values() else ""
    return f"{named} times {said}" if said and said != named else ""


def _alike(one: Fun, other: Fun) -> bool:
    """Whether two methods of one name have parameters of the same written types, so that one stands in the other's place."""
    mine, theirs = ([p.type.name if p.type is not None else "" for p in fun.head.params[1:]] for fun in (one, other))
    return mine == theirs
