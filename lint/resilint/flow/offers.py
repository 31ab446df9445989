"""Offers: timeouts that code promises to take, and those that never arrive where they were meant.

An offer is a parameter or field with the name of a timeout. It is followed forward through every use until it meets a sink: an
argument of outside code, a comparison with a clock, a place that cannot be read. An offer without a sink was dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from resilint import facts as f
from resilint.flow.resolve import Resolver
from resilint.flow.slots import decide
from resilint.flow.values import Absent, ClassVal, Flows, FnVal, Null, Obj
from resilint.flow.waits import ENOUGH
from resilint.link.code import CODE, Fun, Klass, called_part, children, dotted, last_name
from resilint.link.looks import any_of, matching
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.flow.timeouts import Fault
    from resilint.flow.waits import Endless, Wait
    from resilint.knowledge.schema import Part, TypeEntry
    from resilint.program import Program

_TAKES_ALL_FIELDS = any_of(b"asdict(", b"__dict__", b"vars(", b"model_dump(", b".dict(", b"dataclasses.replace(")
_BY_NAME = any_of(b"getattr")
_MOST_ASKED = 500
"""Fields and variables through which one offer is followed: each may lead to many, and those to the same again."""
_NAME = re.compile(r"timeout|time_?limit|deadline|max_?wait(?!er)|patience", re.I)
_OTHER = re.compile(
    r"connect|dial|pool|idle|keep_?alive|lock|poll|interval|ttl|cache|retr|backoff|delay|expir|handler|error|exc|callback|default_?timeout_?for|"
    r"session_?timeout|token|shutdown|grace|drain|visibility|warn|count|at$|start|begin|handshake|header|is_|has_|enabled|stat|code|msg|message|class",
    re.I,
)
_SETTINGS = re.compile(r"settings|config|conf$|cfg|options|opts|params|limits", re.I)
_NO_TIME = frozenset({"bool", "str", "string", "error", "bytes", "list", "dict", "tuple", "set", "object", "type"})


def is_offer(name: str, kind: f.Type | None) -> bool:
    """Whether a parameter or field of that name and type promises to bound a wait."""
    last = name.rpartition(".")[2]
    if not _NAME.search(last) or _OTHER.search(last) or last.startswith("__"):
        return False
    return kind is None or (kind.shape in ("plain", "ptr", "opt") and kind.name.rpartition(".")[2] not in _NO_TIME)


def _promises(param: f.Param) -> bool:
    return param.kind in ("pos", "posonly", "kw") and not param.name.startswith("_") and is_offer(param.name, param.type)


class Sink(NamedTuple):
    """Where an offer arrives: a call (by function and offset), or elsewhere."""

    fn: tuple[str, int]
    at: int
    kind: str


ELSEWHERE = Sink(("", 0), 0, "elsewhere")


@dataclass(frozen=True)
class Offer:
    """A parameter of a function, or a field of a class."""

    name: str
    fn: Fun | None = None
    klass: Klass | None = None
    via: str = ""
    """The accessor or field that gives the object whose field is meant, where it is one of several of its class."""

    @property
    def said(self) -> str:
        """How a message names it."""
        if self.klass is not None:
            return f"`{self.klass.name}.{self.name}`"
        assert self.fn is not None
        return f"`{self.name}` of {self.fn.head.qual}"


class Offers:
    """Looks for what was offered around an endless wait, for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver: Resolver = program.resolver
        self._sinks: dict[object, frozenset[Sink]] = {}
        self._busy: set[object] = set()
        self._asked = 0
        """Questions that the one being answered has led to."""
        self._parents: dict[Fun, dict[int, list[Any]]] = {}
        self.faults: list[Fault] = []
        self._places: set[tuple[str, int]] = set()
        self._looked_at: set[Klass] = set()
        self._interfaces: set[str] | None = None
        self.ignored: dict[Obj, Fault] = {}
        self._ignored_attributes()
        self._replaced_settings()
        self._without_effect()

    # ------------------------------------------------------------ what rules ask

    def explains(self, wait: Wait, way: Endless) -> bool:
        """Whether a dropped offer is the reason of this endless wait; the fault is then noted."""
        if way.reason != "nothing" or (wait.kind == "connect" and wait.entry.returns is None):
            return False
        holder = way.holder or wait.holder
        if holder is not None and any(_near(holder, obj) for obj in self.ignored):
            return True
        place = (way.where[0].module.path, way.where[1].at)
        if place in self._places:
            return True
        dropped = self._dropped(self._around(wait, holder, way), wait, holder)
        if dropped is not None:
            self._places.add(place)
            self._note(*dropped, wait, way, way.where)
            return True
        return self._explained_above(wait, way, holder)

    def of_unseen_clients(self) -> None:
        """Note offers that a client which is handed to a framework lacks: who calls it need not be seen for that."""
        from resilint.flow.timeouts import Fault, short

        program, resolver = self.program, self.resolver
        used = {wait.holder.node for wait in program.all_waits if wait.holder is not None and isinstance(wait.holder.node, f.Node)}
        for fn in program.starts("java"):
            if fn.module.is_test or not fn.head.decorators or not resolver.wiring.is_wired(fn):
                continue
            for flow in resolver.ask_returned(FnVal(fn), f.Ref(fn.head.at, fn.head.end, ""), resolver.frame(fn)):
                made = flow.thing
                if not isinstance(made, Obj) or not isinstance(made.node, f.Call) or made.frame is None or made.node in used:
                    continue
                if not self._is_endless_client(made):
                    continue
                where = made.frame.fn
                for offer in self._of_function(where):
                    if self._chosen(offer) and not self.sinks(offer):
                        kind = short(resolver.external_type(made))
                        message = f"{offer.said} never reaches {kind}: a call through it can wait for ever"
                        steps = tuple(self._origin(offer))
                        place = self._to_mend(made)
                        span = program.span_of(place[0], place[1])
                        self.faults.append(Fault(span, message, Value(inf, Confidence.HIGH, steps)))
                        break

    def _to_mend(self, made: Obj) -> tuple[Fun, f.Node]:
        """Where a client gets its settings: the part furthest inside that carries them, else its own construction."""
        assert made.frame is not None and isinstance(made.node, f.Call)
        table, slots = self.program.knowledge.of("java"), self.program.slots
        place: tuple[Fun, f.Node] = (made.frame.fn, called_part(made.node))
        level: list[Obj] = [made]
        for _ in range(5):
            parts = [part for obj in level for part in (*slots.parts(obj), *([obj.parent] if obj.parent is not None else []))]
            for part in parts:
                kind = table.type(self.resolver.external_type(part) or "?")
                if kind is not None and kind.carries and part.frame is not None and isinstance(part.node, f.Call):
                    place = (part.frame.fn, part.node)
            level = parts[:8]
        return place

    def _is_endless_client(self, made: Obj) -> bool:
        """Whether an object is a client that nothing here gives a bound."""
        table, slots = self.program.knowledge.of("java"), self.program.slots
        kind = table.type(self.resolver.external_type(made) or "?")
        if kind is None or kind.role != "client" or not kind.carries:
            return False
        found = decide(slots.of_object(made, frozenset(kind.enough or ENOUGH["network"])))
        return not any(source.bounded or source.unclear for source in found) and not slots.escaped(made)

    def unused(self, wait: Wait) -> None:
        """Note parameters around a bounded wait that promise a bound and go nowhere: what a caller chooses has no effect."""
        from resilint.flow.timeouts import Fault, short

        made = wait.holder.frame.fn if wait.holder is not None and wait.holder.frame is not None else None
        for fn in dict.fromkeys((*_scopes(wait.fn), *(_scopes(made) if made is not None else ()))):
            if fn.module.is_test or self._signature_is_given(fn):
                continue
            for offer in (Offer(param.name, fn) for param in fn.head.params if _promises(param)):
                place = (fn.module.path, fn.head.name_at)
                if place in self._places or not self._chosen(offer) or self.sinks(offer):
                    continue
                self._places.add(place)
                program = self.program
                span = program.span(fn.module.path, fn.head.name_at, fn.head.name_at + len(fn.name.encode()))
                message = f"{offer.said} never reaches {short(wait.api)}: what a caller chooses has no effect"
                steps = (*self._chosen_at(offer), program.step(wait.fn, wait.site.call, f"{short(wait.api)} waits here"))
                self.faults.append(Fault(span, message, Value(wait.bound, Confidence.MEDIUM, steps)))

        if wait.fn.module.language == "python":
            self._unread(wait)

    def _unread(self, wait: Wait) -> None:
        """Note private fields of a client's class that are given a timeout and read by nobody: its calls have another one."""
        from resilint.flow.timeouts import Fault, short

        program = self.program
        owner = self.resolver.owner(wait.fn)
        if owner is None or wait.fn.module.is_test or wait.holder is None or owner in self._looked_at:
            return
        made = wait.holder.frame.fn if wait.holder.frame is not None else None
        if made is None or self.resolver.owner(made) is not owner:
            return
        self._looked_at.add(owner)
        for method in owner.methods.values():
            for key in sorted(method.head.writes):
                if not key.startswith("_") or not is_offer(key, None):
                    continue
                offer = Offer(key, None, owner)
                definition = next((d for d in method.body.definitions.get(f"{method.head.params[0].name}.{key}", ())), None)
                if definition is None or definition.expr is None or not self._chosen(offer) or self.sinks(offer):
                    continue
                place = (method.module.path, definition.at)
                if place in self._places:
                    continue
                self._places.add(place)
                span = program.span(method.module.path, definition.at, definition.expr.end)
                message = f"{offer.said} is read by nobody: {short(wait.api)} waits as long as its client says"
                steps = (program.step(wait.fn, wait.site.call, f"{short(wait.api)} waits here"),)
                self.faults.append(Fault(span, message, Value(wait.bound, Confidence.MEDIUM, steps)))

    def _chosen_at(self, offer: Offer) -> tuple[Step, ...]:
        return next((self.program.trace(x.hops) for x in self._values(offer) if x.hops), ())

    def _signature_is_given(self, fn: Fun) -> bool:
        """Whether somebody else decides what parameters a function has: a base class, an interface, whoever calls it back."""
        if fn.head.is_abstract or fn in self.program.entries or self.resolver.handed_over(fn) or fn.head.kind == "lambda":
            return True
        owner = self.resolver.owner(fn)
        if owner is None:
            return False
        own, external = self.resolver.mro(owner)
        family = [k for k in self.resolver.family(owner) if k is not owner]
        if external or any(fn.name in k.methods for k in (*own[1:], *family)):
            return True
        if self._interfaces is None:
            self._interfaces = {m for k in self.program.names.all_classes() if k.decl.kind == "interface" for m in k.methods}
        return fn.name in self._interfaces

    def _dropped(self, offers: Iterable[Offer], wait: Wait, holder: Obj | None) -> tuple[Offer, bool] | None:
        """The first of these offers that was chosen and arrives nowhere, or (then true) only at other calls of the client."""
        for offer in offers:
            if self._chosen(offer):
                sinks = self.sinks(offer)
                if not sinks or self._only_beside(sinks, wait, holder):
                    return offer, bool(sinks)
        return None

    def _explained_above(self, wait: Wait, way: Endless, holder: Obj | None) -> bool:
        """Whether callers, up to three calls above, got a timeout that they do not hand on; each is noted at its call."""
        level = list(dict.fromkeys(scope for fn in (way.where[0], wait.fn) for scope in _scopes(fn)))
        seen = set(level)
        explained = False
        for _ in range(3):
            further: list[Fun] = []
            for fn in level:  # grows: an overload with less parameters is no step of its own
                for _frame, site, _args, _this in self.resolver.callers(fn)[0]:
                    if site.fn in seen or (site.fn.module.is_test and not wait.fn.module.is_test):
                        continue
                    seen.add(site.fn)
                    scopes = _scopes(site.fn)
                    dropped = self._dropped((o for scope in scopes for o in self._of_function(scope)), wait, holder)
                    if dropped is None:
                        beside = level if self.resolver.java.stands_in(site.fn, fn) else further
                        beside.extend(scope for scope in scopes if scope is site.fn or scope not in seen)
                        continue
                    explained = True
                    place = (site.fn.module.path, site.call.at)
                    if place not in self._places:
                        self._places.add(place)
                        self._note(*dropped, wait, way, (site.fn, site.call))
            level = further
        return explained

    def _note(self, offer: Offer, elsewhere: bool, wait: Wait, way: Endless, where: tuple[Fun, f.Node]) -> None:
        from resilint.flow.timeouts import Fault, short

        program = self.program
        fn, node = where
        subject = short(way.subject or wait.api)
        end = "reaches other calls of the same client but not this one" if elsewhere else f"never reaches {subject}"
        message = f"{offer.said} {end}: {short(wait.api)} can wait for ever"
        steps = [*self._origin(offer), *way.steps]
        if fn is not wait.fn or node is not wait.site.call:
            last = program.step(wait.fn, wait.site.call, f"{short(wait.api)} waits here")
            if not any(s.span == last.span for s in steps):
                steps.append(last)
        sure = max(way.confidence, Confidence.MEDIUM)
        self.faults.append(
            Fault(
                program.span_of(fn, node), message, Value(inf, Confidence.HIGH if sure >= Confidence.MEDIUM else sure, tuple(steps))
            )
        )

    def _origin(self, offer: Offer) -> Iterator[Step]:
        """Where the offer was made: who sets it, and where it is declared."""
        program = self.program
        flows = self._values(offer)
        shown = 0
        for flow in flows:
            if isinstance(flow.thing, Absent | Null) or not flow.hops:
                continue
            yield from program.trace(flow.hops)
            shown += 1
            if shown == 2:
                break
        if offer.klass is not None:
            declared = offer.klass.fields.get(offer.name)
            if declared is not None:
                span = program.span(offer.klass.module.path, declared.at, declared.end)
                yield Step(span, f"{offer.said} is declared here and read by nothing that waits")
        elif offer.fn is not None and not shown:
            head = offer.fn.head
            yield Step(
                program.span(offer.fn.module.path, head.name_at, head.name_at + len(head.name.encode())),
                f"{offer.said} is offered here",
            )

    def _values(self, offer: Offer) -> Flows:
        if offer.klass is not None:
            return self.resolver.written(Obj("any", offer.klass, None, None), offer.name)
        assert offer.fn is not None
        return self.resolver.parameter(offer.fn.params[offer.name], self.resolver.frame(offer.fn))

    def _chosen(self, offer: Offer) -> bool:
        """Whether somebody chose a value: a field nobody writes and a parameter that is always None promise nothing."""
        flows = self._values(offer)
        if offer.klass is not None:
            return any(not isinstance(x.thing, Absent | Null) for x in flows)
        return any(not isinstance(x.thing, Null | Absent) for x in flows)

    def _only_beside(self, sinks: frozenset[Sink], wait: Wait, holder: Obj | None) -> bool:
        """Whether all that the offer reaches are other calls on the same client."""
        if holder is None:
            return False
        beside = {
            (w.fn.key, w.site.call.at)
            for w in self.program.all_waits
            if w is not wait and w.holder is not None and _near(w.holder, holder)
        }
        own = (wait.fn.key, wait.site.call.at)
        places = {(s.fn, s.at) for s in sinks}
        return all(s.kind == "call" for s in sinks) and own not in places and places <= beside

    def _around(self, wait: Wait, holder: Obj | None, way: Endless) -> Iterator[Offer]:
        seen: set[tuple[object, str]] = set()
        functions = _scopes(wait.fn)
        functions.extend(scope for scope in _scopes(way.where[0]) if scope not in functions)
        if holder is not None and holder.frame is not None and holder.frame.fn not in functions:
            functions.append(holder.frame.fn)
        for fn in functions:
            if fn.module.is_test and not wait.fn.module.is_test:
                continue
            for offer in self._of_function(fn):
                key = (offer.klass.key if offer.klass is not None else offer.fn, offer.name)
                if key not in seen:
                    seen.add(key)
                    yield offer

    def _of_function(self, fn: Fun) -> Iterator[Offer]:
        for param in fn.head.params:
            if _promises(param):
                yield Offer(param.name, fn)
        owner = self.resolver.owner(fn)
        if owner is not None:
            yield from self._of_class(owner)
            for k in self.resolver.mro(owner)[0]:
                for name in sorted({*k.fields, *(w for method in k.methods.values() for w in method.head.writes)}):
                    if _SETTINGS.search(name):
                        for flow in self.resolver.written(Obj("any", owner, None, None), name):
                            if isinstance(flow.thing, Obj) and isinstance(flow.thing.type, Klass):
                                yield from self._of_class(flow.thing.type)
        # Structs that the function is handed or fills itself: options, configuration.
        kinds: list[tuple[f.Type | None, Fun]] = [(p.type, fn) for p in fn.head.params if p.kind != "self"]
        for new, _arm, _stmt in fn.body.news:
            kinds.append((new.type, fn))
        for defs in fn.body.definitions.values():
            kinds.extend((d.type, fn) for d in defs if d.kind == "declared")
        for param in fn.head.params:
            if param.kind != "self" and param.type is None:
                for flow in self.resolver.parameter(param, self.resolver.frame(fn)):
                    if isinstance(flow.thing, Obj) and isinstance(flow.thing.type, Klass):
                        yield from self._of_class(flow.thing.type)
        for kind, where in kinds:
            klass = self.resolver.resolve_type(kind, where) if kind is not None else None
            if isinstance(klass, Klass) and klass.decl.kind in ("struct", "class", "record"):
                yield from self._of_class(klass)
        if fn.module.language == "java":
            yield from self._given_out(fn)

    def _given_out(self, fn: Fun) -> Iterator[Offer]:
        """Fields of what accessors of a parameter give: `settings.adminApi()`."""
        java = self.resolver.names.java
        seen: set[tuple[Klass, str]] = set()
        for site in fn.body.calls:
            base = dotted(site.call.fn).partition(".")[0]
            if site.call.args or base not in fn.params or not self._settings_like(fn.params[base], fn):
                continue
            for kind in java.kinds(site.call, fn):
                if isinstance(kind.of, Klass) and (kind.of, site.last) not in seen:
                    seen.add((kind.of, site.last))
                    yield from self._of_class(kind.of, site.last)

    def _settings_like(self, param: f.Param, fn: Fun) -> bool:
        """Whether a parameter is an object of the program that does nothing but hold values."""
        klass = self.resolver.resolve_type(param.type, fn) if param.type is not None else None
        return isinstance(klass, Klass) and klass.decl.kind in ("class", "record")

    def _of_class(self, klass: Klass, via: str = "") -> Iterator[Offer]:
        names: dict[str, f.Type | None] = {}
        for k in self.resolver.mro(klass)[0]:
            for field in k.decl.fields:
                names.setdefault(field.name, field.type)
            if k.module.language == "python":
                for method in k.methods.values():
                    for written in method.head.writes:
                        names.setdefault(written, None)
        for name, kind in names.items():
            if is_offer(name, kind):
                owner = next((k for k in self.resolver.mro(klass)[0] if name in k.fields), klass)
                yield Offer(name, None, owner, via)

    # ------------------------------------------------------------ attributes a library does not read

    def _ignored_attributes(self) -> None:
        from resilint.flow.timeouts import Fault, short

        program, resolver = self.program, self.resolver
        for fn in program.starts():
            named = [w for w in fn.head.writes if _NAME.search(w)]
            if not named:
                continue
            table = resolver.table(fn.module)
            frame = resolver.frame(fn)
            for key, defs in fn.body.definitions.items():
                base, _, last = key.rpartition(".")
                if not base or last not in named:
                    continue
                for d in defs:
                    for flow in resolver.name(base, f.Ref(d.at, d.at, base), frame):
                        thing = flow.thing
                        if not isinstance(thing, Obj) or not thing.type:
                            continue
                        levels = table.mro(resolver.external_type(thing) or "?")
                        if not levels or levels[0].settings is None:
                            continue
                        own = thing.type if isinstance(thing.type, Klass) else None
                        # A class of the program may read its own attribute and hand it on.
                        if own is not None and (not is_offer(last, None) or self.sinks(Offer(last, None, own))):
                            continue
                        read = {
                            x for level in levels for x in (*(level.settings or ()), *(b.field for b in level.bounds if b.field))
                        }
                        if last in read:
                            continue
                        span = program.span(fn.module.path, d.at, d.at + len(key.encode()))
                        kind = short(levels[0].name)
                        message = f"{kind} has no setting `{last}`: what is stored there never reaches its calls"
                        steps = program.trace(flow.hops)
                        if thing.frame is not None and isinstance(thing.node, f.Node):
                            steps = (*steps, program.step(thing.frame.fn, thing.node, f"{kind} is made here"))
                        fault = Fault(span, message, Value(inf, Confidence.HIGH, steps))
                        self.ignored[thing] = fault
                        self.faults.append(fault)

    # ------------------------------------------------------------ settings that a part takes over

    def _without_effect(self) -> None:
        """Limits given to a type that accepts and never heeds them."""
        from resilint.flow.timeouts import Fault, short

        program = self.program
        for language in CODE:
            table = program.knowledge.of(language)
            names = frozenset(name for library in table.libraries for kind in library.types for name in kind.without_effect)
            for site in program.start_sites(names.__contains__, language, among=lambda module: not module.is_test) if names else ():
                for holder in {t.holder for t in program.targets(site) if t.holder is not None}:
                    levels = table.mro(self.resolver.external_type(holder) or "?")
                    kind = next((level for level in levels if site.last in level.without_effect), None)
                    place = (site.fn.module.path, site.call.end)
                    if kind is None or place in self._places:
                        continue
                    self._places.add(place)
                    message = f"`{site.last}` has no effect on {short(kind.name)}: what it is given limits nothing"
                    span = program.span_of(site.fn, called_part(site.call))
                    self.faults.append(Fault(span, message, Value(None, Confidence.HIGH, ())))

    def _replaced_settings(self) -> None:
        """Settings of a builder that have no effect because a part it is given brings its own."""
        for language in CODE:
            table = self.program.knowledge.of(language)
            for kind in (kind for library in table.libraries for kind in library.types):
                own = {bound.setter for bound in kind.bounds} | {part.setter for part in kind.parts}
                for part in kind.parts:
                    if part.arg is not None and part.replaces:
                        self._replaced_arguments(kind, part, language)
                    lost = [name for name in part.replaces if name in own]
                    if part.setter is not None and lost:
                        self._replaced_by(kind, part.setter, lost, language)

    def _replaced_by(self, kind: TypeEntry, setter: str, lost: list[str], language: str) -> None:
        from resilint.flow.timeouts import Fault, short

        program = self.program
        table = program.knowledge.of(language)
        for site in program.start_sites(setter.__eq__, language, among=lambda module: not module.is_test):
            for holder in {t.holder for t in program.targets(site) if t.holder is not None}:
                if kind not in table.mro(self.resolver.external_type(holder)):
                    continue
                for name in lost:
                    for other, binds in program.slots.method_calls(holder, name):
                        place = (other.fn.module.path, other.call.end)
                        if place in self._places or not binds:
                            continue
                        self._places.add(place)
                        message = (
                            f"`{name}` has no effect on {short(kind.name)}: `{setter}` hands it a part with settings of its own"
                        )
                        steps = (program.step(site.fn, called_part(site.call), f"`{setter}` is called here"),)
                        span = program.span_of(other.fn, called_part(other.call))
                        self.faults.append(Fault(span, message, Value(None, Confidence.HIGH, steps)))

    def _replaced_arguments(self, kind: TypeEntry, part: Part, language: str) -> None:
        """Limits given to a constructor beside a part with limits of its own."""
        from resilint.flow.timeouts import Fault, short

        program = self.program
        makers = {name.rpartition(".")[2]: name for name in (kind.name, *kind.aliases)}
        for site in program.start_sites(makers.__contains__, language, among=lambda module: not module.is_test):
            given = {arg.name: arg for arg in site.call.args if arg.name is not None}
            lost = [given[name] for name in part.replaces if name in given]
            for target in program.targets(site) if lost else ():
                if program.knowledge.of(language).type(target.name) is not kind or part.arg is None:
                    continue
                bind, _ = program.slots.find_bind(part.arg, part.pos, target.binds)
                flows = self.resolver.ask(bind.expr, bind.frame) if bind is not None else ()
                if bind is None or not flows or any(isinstance(x.thing, Null) for x in flows):
                    continue
                made = [x.thing for x in self.resolver.ask(site.call, self.resolver.frame(site.fn)) if isinstance(x.thing, Obj)]
                pools = [x.thing for x in flows if isinstance(x.thing, Obj)]
                for arg in lost:
                    span = program.span(site.fn.module.path, arg.value.at, arg.value.end)
                    message = (
                        f"`{arg.name}` has no effect on {short(kind.name)}: `{part.arg}` hands it a part with settings of its own"
                    )
                    steps = (program.step(bind.frame.fn, bind.expr, f"`{part.arg}` is given here"),)
                    fault = Fault(span, message, Value(None, Confidence.HIGH, steps))
                    self.faults.append(fault)
                    self.ignored.update(dict.fromkeys((*made, *pools), fault))
                break

    # ------------------------------------------------------------ forward

    def sinks(self, offer: Offer) -> frozenset[Sink]:
        """Everywhere an offer arrives."""
        key: object = (offer.klass.key if offer.klass is not None else offer.fn, offer.name, offer.via)
        if key in self._sinks:
            return self._sinks[key]
        if key in self._busy:
            return frozenset()
        if not self._busy:
            self._asked = 0
        self._asked += 1
        if len(self._busy) > 12 or self._asked > _MOST_ASKED:
            # Too far to follow: it may arrive anywhere.
            return frozenset({ELSEWHERE})
        self._busy.add(key)
        try:
            if offer.klass is not None:
                found = frozenset(self._field_sinks(offer.klass, offer.name, offer.via))
            else:
                assert offer.fn is not None
                found = frozenset(self._local_sinks(offer.fn, offer.name))
        finally:
            self._busy.discard(key)
        if not self._busy:
            self._sinks[key] = found
        return found

    def _local_sinks(self, fn: Fun, name: str) -> Iterator[Sink]:
        """Uses of a local name, in its function and the functions inside it."""
        for user in (fn, *_inside(fn)):
            if user is not fn and name in user.params:
                continue
            parents = self._parent_map(user)
            for node, chain in parents.get(hash(name), ()):
                if node.name == name or node.name.startswith(name + "."):
                    yield from self._use(user, node, chain)

    def _field_sinks(self, klass: Klass, name: str, via: str) -> Iterator[Sink]:
        if klass.module.language == "java":
            yield from self._accessor_sinks(klass, name, via)
        word = name.encode()
        plain, whole = any_of(word), matching(rb"(?<![A-Za-z0-9_])" + re.escape(word) + rb"(?![A-Za-z0-9_])")
        language = klass.module.language
        family = set(self.resolver.family(klass))
        if language == "python":
            for k in family:
                if self.program.says(k.module.path, _TAKES_ALL_FIELDS):
                    yield ELSEWHERE
                    return
        for path, module in self.program.names.modules.items():
            if module.language != language:
                continue
            # A plain search first: the pattern is tried at every byte.
            if not (self.program.says(path, plain) and self.program.says(path, whole)):
                continue
            for fn in module.functions:
                if fn.index and not self.program.marks(fn, whole):
                    continue
                for node, chain in self._parent_map(fn).get(hash(name), ()):
                    if language == "java" and chain and isinstance(chain[-1], f.Call) and chain[-1].fn is node:
                        continue  # a method of that name
                    if isinstance(node, f.Ref):
                        parts = node.name.split(".")
                        if name not in parts[1:]:
                            continue
                        base = ".".join(parts[: parts.index(name, 1)])
                        if not self._may_be(fn, base, node, family):
                            continue
                    yield from self._use(fn, node, chain)
                if language == "python" and self.program.says(path, _BY_NAME):
                    for site in fn.body.calls:
                        if dotted(site.call.fn) == "getattr" and any(
                            isinstance(a.value, f.Lit) and a.value.value == name for a in site.call.args
                        ):
                            yield ELSEWHERE

    def _accessor_sinks(self, klass: Klass, name: str, via: str) -> Iterator[Sink]:
        """Where the results of a field's accessors arrive; not those that another accessor's object gave."""
        for accessor in (fun for overloads in klass.overloads.values() for fun in overloads if _gives_field(fun, name)):
            if any(holder.module is not klass.module for holder in self.program.names.values_of.get(accessor.name, ())):
                yield ELSEWHERE
            for caller in self.program.names.callers(accessor.name):
                if caller.module.is_test:
                    continue
                for node, chain in self._parent_map(caller).get(hash(accessor.name), ()):
                    call = chain[-1] if chain else None
                    if not isinstance(call, f.Call) or call.fn is not node:
                        continue
                    if accessor not in self.resolver.names.java.targets(call, caller):
                        continue
                    other = _given_by(node, caller)
                    if not via or not other or other == via:
                        yield from self._use(caller, node, chain)

    def _may_be(self, fn: Fun, base: str, node: f.Node, family: set[Klass]) -> bool:
        owner = self.resolver.owner(fn)
        scope: Fun | None = fn
        while owner is None and scope is not None and scope.parent is not None:
            scope = scope.parent
            owner = self.resolver.owner(scope)
        receiver = scope.head.params[0].name if scope is not None and scope.is_method else None
        if base == receiver:
            return owner in family
        if fn.module.language == "go":
            kind = self.resolver.static_type(f.Ref(node.at, node.at, base), fn)
            klass = self.resolver.resolve_type(kind, fn) if kind is not None else None
            if klass is not None:
                return klass in family
        flows = self.resolver.name(base, f.Ref(node.at, node.at, base), self.resolver.frame(fn))
        known = [x.thing for x in flows if isinstance(x.thing, Obj | ClassVal | FnVal)]
        if known and len(known) == len(flows):
            return any(isinstance(t, Obj) and t.type in family for t in known)
        return True

    def _parent_map(self, fn: Fun) -> dict[int, list[Any]]:
        """Every name of a body with the chain of nodes around it, by each of its segments."""
        found = self._parents.get(fn)
        if found is not None:
            return found
        found = {}

        def visit(node: Any, chain: tuple[Any, ...]) -> None:
            if isinstance(node, f.Ref):
                for part in set(node.name.split(".")):
                    found.setdefault(hash(part), []).append((node, chain))
                return
            if isinstance(node, f.Field):
                found.setdefault(hash(node.name), []).append((node, chain))
            if isinstance(node, f.Type) or len(chain) > 60:
                return
            deeper = (*chain, node)
            for child in children(node):
                visit(child, deeper)

        for stmt in fn.block:
            visit(stmt, ())
        self._parents[fn] = found
        return found

    def _use(self, fn: Fun, node: f.Node, chain: tuple[Any, ...]) -> Iterator[Sink]:
        """Where one use of an offer leads."""
        below: Any = node
        for parent in reversed(chain):
            match parent:
                case f.Arg() | f.Pair() | f.Item() | f.Gen():
                    below_arg = parent
                    if isinstance(parent, f.Pair) and parent.key is below:
                        return
                    below = below_arg
                    continue
                case f.Call():
                    if parent.fn is below:
                        # A method of the value: `timeout.total_seconds()`, `d.Seconds()`.
                        below = parent
                        continue
                    yield from self._argument(fn, parent, below)
                    if self._passes(parent, fn):
                        below = parent
                        continue
                    return
                case f.New():
                    yield from self._literal(fn, parent, below)
                    return
                case f.Coll():
                    yield ELSEWHERE
                    return
                case f.Bin():
                    if parent.op in ("==", "!=", "is", "is not", "in", "not in", "<", ">", "<=", ">="):
                        other = parent.right if parent.left is below else parent.left
                        if not isinstance(other, f.Lit) and self._clock(other, fn):
                            yield ELSEWHERE
                        return
                    below = parent
                case f.Cond():
                    if parent.test is below:
                        return
                    below = parent
                case f.Un():
                    if parent.op == "not":
                        return
                    below = parent
                case f.Assign():
                    if any(t is below or _contains(t, below) for t in parent.targets):
                        return
                    yield from self._assigned(fn, parent, below)
                    return
                case f.If() | f.Loop() | f.Switch():
                    if isinstance(parent, f.Loop):
                        yield ELSEWHERE
                    return
                case f.Raise():
                    return
                case f.Return():
                    yield from self._returned(fn)
                    return
                case f.Delete():
                    return
                case f.Do():
                    return
                case f.Cast() | f.Fmt() | f.Await() | f.Let() | f.Index() | f.Slice() | f.Field():
                    if isinstance(parent, f.Let):
                        yield ELSEWHERE
                    below = parent
                case f.Select() | f.Send() | f.Go() | f.Defer() | f.With():
                    yield ELSEWHERE
                    return
                case _:
                    below = parent
        return

    def _clock(self, expr: f.Expr, fn: Fun) -> bool:
        """Whether the other side of a comparison may be a time that passes: anything but a plain limit."""
        if isinstance(expr, f.Ref):
            name = expr.name.rpartition(".")[2]
            return not name.isupper() and not is_offer(name, None) and not re.search(r"(?i)max|min|default|limit", name)
        return True

    def _passes(self, call: f.Call, fn: Fun) -> bool:
        """Calls whose result still is the value: conversions, minimum and maximum."""
        name = dotted(call.fn)
        return name in ("min", "max", "int", "float", "abs", "round", "str", "timedelta", "datetime.timedelta") or name.rpartition(
            "."
        )[2] in ("timedelta", "Duration", "String", "Itoa", "Sprintf")

    def _argument(self, fn: Fun, call: f.Call, arg: Any) -> Iterator[Sink]:
        if self._passes(call, fn):
            return
        frame = self.resolver.frame(fn)
        position = next((i for i, a in enumerate(call.args) if a is arg), None)
        for target, binds in self.resolver.targets(call, frame):
            if isinstance(target, FnVal | ClassVal):
                yield from self._into(target, binds, call, arg, position)
                continue
            name = self.resolver.canonical(target)
            entry = self.resolver.table(fn.module).call(name) if name else None
            if entry is not None and entry.does == "log":
                continue
            how = self.resolver.table(fn.module).error_call(name) if name else None
            if how is not None or name in (
                "<builtin>.print",
                "<builtin>.isinstance",
                "<builtin>.len",
                "<builtin>.repr",
                "<builtin>.panic",
                "<builtin>.type",
            ):
                continue
            if name.startswith("<builtin>.") and name[10:].endswith(("Error", "Exception")):
                continue
            yield Sink(fn.key, call.at, "call" if name else "elsewhere")

    def _into(self, target: FnVal | ClassVal, binds: Any, call: f.Call, arg: Any, position: int | None) -> Iterator[Sink]:
        if isinstance(target, ClassVal):
            init = self.resolver.init_of(target.klass)
            if init is None:
                name = arg.name
                if name is None and position is not None:
                    fields = [
                        x.name for k in reversed(self.resolver.mro(target.klass)[0]) for x in k.decl.fields if x.type is not None
                    ]
                    name = fields[position] if position < len(fields) else None
                if name is None or target.klass.module.language == "go":
                    yield ELSEWHERE
                    return
                yield from self.sinks(Offer(name, None, target.klass))
                return
            fn = init
        else:
            fn = target.fn
        if fn.head.is_abstract:
            yield ELSEWHERE
            return
        for param in fn.head.params:
            bind, _ = self.resolver.argument(param, binds, fn)
            if bind is not None and bind.expr is arg.value:
                if param.name in ("_", "") or (param.name.startswith("_") and param.name not in fn.body.definitions):
                    return
                yield from self.sinks(Offer(param.name, fn))
                return
        yield ELSEWHERE

    def _literal(self, fn: Fun, new: f.New, below: Any) -> Iterator[Sink]:
        klass = self.resolver.resolve_type(new.type, fn)
        if isinstance(klass, Klass) and isinstance(below, f.Pair):
            if isinstance(below.key, f.Ref):
                yield from self.sinks(Offer(below.key.name, None, klass))
                return
            position = next((i for i, p in enumerate(new.fields) if p is below), None)
            if position is not None and position < len(klass.decl.fields):
                yield from self.sinks(Offer(klass.decl.fields[position].name, None, klass))
                return
        yield Sink(fn.key, new.at, "call")

    def _assigned(self, fn: Fun, stmt: f.Assign, below: Any) -> Iterator[Sink]:
        for target in stmt.targets:
            name = dotted(target)
            if not name:
                yield ELSEWHERE
                continue
            base, _, last = name.rpartition(".")
            if not base:
                if name in fn.body.outer_names or fn.index == 0:
                    yield ELSEWHERE
                    continue
                key = ("local", fn, name)
                if key in self._busy:
                    continue
                self._busy.add(key)
                try:
                    yield from self._local_sinks(fn, name)
                finally:
                    self._busy.discard(key)
                continue
            flows = self.resolver.name(base, f.Ref(target.at, target.at, base), self.resolver.frame(fn))
            for flow in flows:
                thing = flow.thing
                if isinstance(thing, Obj) and isinstance(thing.type, Klass):
                    owner = next((k for k in self.resolver.mro(thing.type)[0] if last in k.fields), thing.type)
                    yield from self.sinks(Offer(last, None, owner))
                elif isinstance(thing, Obj) and thing.type and self._not_read(thing, last, fn):
                    continue
                else:
                    yield ELSEWHERE
            if not flows:
                yield ELSEWHERE

    def _not_read(self, thing: Obj, name: str, fn: Fun) -> bool:
        levels = self.resolver.table(fn.module).mro(str(thing.type))
        if not levels or levels[0].settings is None:
            return False
        return name not in {x for level in levels for x in (*(level.settings or ()), *(b.field for b in level.bounds if b.field))}

    def _returned(self, fn: Fun) -> Iterator[Sink]:
        """A returned offer arrives wherever the result is used; an accessor that nothing calls delivers nothing."""
        if fn.head.kind == "lambda":
            yield ELSEWHERE
            return
        if fn.module.language == "java" and len(fn.block) == 1 and fn.head.owner >= 0:
            return  # an accessor: its calls are looked at with the field
        if fn.head.is_property:
            owner = self.resolver.owner(fn)
            if owner is not None:
                yield from self.sinks(Offer(fn.name, None, owner))
                return
        if self.program.names.callers(fn.name) or self.program.names.values_of.get(fn.name):
            yield ELSEWHERE


def _gives_field(fn: Fun, name: str) -> bool:
    """Whether a method does nothing but give a field."""
    if len(fn.block) != 1 or not isinstance(fn.block[0], f.Return):
        return False
    return dotted(fn.block[0].value) in (name, f"this.{name}")


def _given_by(node: Any, fn: Fun) -> str:
    """The accessor or field that gave the object before the name, where it is written there or where its variable is made."""
    base: Any = node.base if isinstance(node, f.Field) else f.Ref(node.at, node.end, node.name.rpartition(".")[0])
    if isinstance(base, f.Ref) and "." not in base.name:
        made = [d.expr for d in fn.body.definitions.get(base.name, ()) if d.expr is not None]
        base = made[0] if len(made) == 1 else None
    if isinstance(base, f.Call):
        return last_name(base.fn) if not base.args else ""
    return last_name(base) if isinstance(base, f.Ref) and "." in base.name else ""


def _scopes(fn: Fun) -> list[Fun]:
    """A function and those it is nested in."""
    scopes = [fn]
    while scopes[-1].parent is not None:
        scopes.append(scopes[-1].parent)
    return scopes


def _inside(fn: Fun) -> Iterator[Fun]:
    for other in fn.module.functions:
        scope = other.parent
        while scope is not None:
            if scope is fn:
                yield other
                break
            scope = scope.parent


def _contains(node: Any, wanted: Any) -> bool:
    return node is wanted or any(_contains(child, wanted) for child in children(node))


def _near(a: Obj, b: Obj) -> bool:
    """Two views of one object: equal, made at one place, or any instances of one class."""
    if a == b:
        return True
    if a.kind == b.kind and isinstance(a.node, f.Node) and a.node is b.node:
        return True
    return isinstance(a.type, Klass) and a.type is b.type and "any" in (a.kind, b.kind)
