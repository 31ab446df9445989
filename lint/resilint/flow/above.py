"""Deadlines above entry points: how long a worker, a server, a proxy or a caller gives what stands below."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.marks import Path, counts, is_met, keys_of, matches_path, pattern_of, plain, prefixes, steps_of
from resilint.flow.slots import Slot, Source, decide, say_seconds
from resilint.flow.spawns import short
from resilint.flow.surfaces import Command, Written, judge
from resilint.flow.values import Absent, FnVal, Frame, Null, Num, Obj, Text, Thing
from resilint.homes import Homes
from resilint.knowledge.schema import Bound, DeadlineRow, Library
from resilint.link.code import Fun, Module
from resilint.link.entries import Entry, Maker
from resilint.model import Confidence, Span, Step

if TYPE_CHECKING:
    from resilint.program import Program

_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?([\w.$*-]+)", re.IGNORECASE)
_SAY_NOTHING = frozenset({"", "service", "services", "svc", "cluster", "upstream", "backend", "app", "api", "server", "srv"})
"""Words of names that say nothing of which service is meant."""
_HERE = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "unix", "host.docker.internal"})
_REQUEST = frozenset({"request"})
_MOST_SHARED = 1_000_000
_MANY = frozenset({"List", "Collection", "Iterable", "ConsumerRecords", "Set"})
"""Types of parameters that hold several messages at once."""

Mount = tuple[str, int, int]
"""Where a router is made, or `_ANYWHERE`: the one of the whole process."""
_ANYWHERE: Mount = ("", 0, 0)


@dataclass(frozen=True)
class Above:
    """One limit above an entry point, in seconds. `stops`: it ends the work; else only whoever waits for it leaves."""

    seconds: float
    text: str
    """Whose it is: `gunicorn's timeout`."""
    stops: bool
    confidence: Confidence
    steps: tuple[Step, ...]
    span: Span
    """Where it is written, or what has it by default."""
    share: int = 1
    """How many units of work it is for, one after the other."""
    then: str = "it answers when nobody waits any more"
    """What becomes of work that takes longer."""
    default: bool = False
    """Nobody wrote it."""

    @property
    def key(self) -> tuple[float, Span]:
        """Order: the smallest first."""
        return (self.seconds / self.share, self.span)


@dataclass(eq=False)
class _Server:
    """A server that code makes: its own limit, and what is mounted on it, with the limits around that."""

    path: str
    limit: Above | None = None
    mounts: dict[Mount, tuple[Above, ...]] = field(default_factory=dict)
    functions: set[Fun] = field(default_factory=set)


@dataclass(frozen=True)
class WrittenLimit:
    """A limit as it is written: which row speaks of it, in which file, and whom it names as its target."""

    row: DeadlineRow
    library: Library
    seconds: float
    """`inf`: it is switched off."""
    path: str
    span: Span
    confidence: Confidence
    names: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    share: int = 1
    default: bool = False
    said: str = ""
    """The setting as it is written, of a document."""


class Aboves:
    """Answers which deadlines stand above a function, for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self._found: dict[Fun, tuple[Above, ...]] = {}
        self._keys: dict[str, frozenset[str]] = {}

    def of(self, fn: Fun) -> tuple[Above, ...]:
        """The deadlines above an entry point, the smallest first; none above any other function."""
        found = self._found.get(fn)
        if found is None:
            entry = self.program.entries.get(fn)
            known: dict[Above, None] = dict.fromkeys(self._of_entry(fn, entry)) if entry is not None else {}
            found = self._found[fn] = tuple(sorted(known, key=lambda above: above.key))
        return found

    def _of_entry(self, fn: Fun, entry: Entry) -> Iterator[Above]:
        own = list(self._of_makers(fn, entry))
        yield from own
        yield from self._declared(fn, entry)
        for figure in self._figures_at.get(self.home(fn.module.path), ()):
            if _limits(figure.row, fn, entry) and not (own and figure.row.fallback):
                above = self._above(figure)
                yield replace(above, share=1) if figure.share > 1 and _takes_many(fn) else above
        yield from self._of_servers(fn, entry)

    def _above(self, figure: WrittenLimit) -> Above:
        row = figure.row
        said = f"{row.what}: {say_seconds(figure.seconds)}"
        steps = (*figure.steps, Step(figure.span, said))
        return Above(
            figure.seconds, row.what, row.stops, figure.confidence, steps, figure.span, figure.share, _then(row), figure.default
        )

    # ------------------------------------------------------------ declared

    def _declared(self, fn: Fun, entry: Entry) -> Iterator[Above]:
        """What callers are declared to wait for the service that the function belongs to."""
        settings = self.program.settings
        service = settings.service_of(fn.module.path)
        if service is None or entry.kind != "request":
            return
        for caller in service.callers.values():
            times = [("timeout", caller.timeout), ("deadline", caller.deadline)]
            known = [(key, seconds) for key, seconds in times if seconds is not None]
            if known:
                key, seconds = min(known, key=lambda pair: pair[1])
                span = settings.place_or_start("services", service.name, "callers", caller.name)
                text = f"the {key} of {caller.name} (declared)"
                steps = (Step(span, f"{caller.name} waits for {say_seconds(seconds)} (declared)"),)
                yield Above(seconds, text, False, Confidence.HIGH, steps, span)

    # ------------------------------------------------------------ limits of the entry itself

    def _of_makers(self, fn: Fun, entry: Entry) -> Iterator[Above]:
        """Limits in the call or decorator that makes a function an entry, and of the object it is called on."""
        table = self.resolver.table(fn.module)
        works = entry.kind in ("worker", "job")
        for maker in entry.makers:
            call = table.call(maker.name)
            rows = [row for row in call.bounds if row.slot == "request"] if call is not None else []
            node: f.Node = maker.call if maker.call is not None else _first_line(fn)
            where = (maker.fn if maker.call is not None else fn, node)
            binds = self.resolver.binds(maker.call, self.resolver.frame(maker.fn)) if maker.call is not None else ()
            own = self.program.slots.at_call(rows, binds, where)
            for source in own:
                yield from self._of_source(source, maker.name, where, works)
            if any(source.written for source in own):
                continue
            if maker.body is not None:
                klass, kind = maker.body
                for source in self.program.slots.of_class_body(klass, kind, _REQUEST):
                    yield from self._of_source(source, kind, (maker.fn, f.Ref(klass.decl.at, klass.decl.end, "")), works)
            if maker.holder is not None:
                kind = self.resolver.external_type(maker.holder)
                for source in decide(self.program.slots.of_object(maker.holder, _REQUEST)):
                    yield from self._of_source(source, kind, where, works)

    def _of_source(self, source: Source, name: str, where: tuple[Fun, f.Node], stops: bool) -> Iterator[Above]:
        numbers = [slot.number for slot in source.slots if slot.state == "finite" and not slot.mismatch]
        known = [number for number in numbers if number is not None and 0 < number < inf]
        if not known or len(known) < len(source.slots):
            return
        longest = max(known)
        slot = next(slot for slot in source.slots if slot.number == longest)
        span = self.program.span_of(*(slot.written or where))
        written = slot.bound.arg or (slot.bound.field or "").rpartition(".")[2]
        text = f"the {written} of {name.rpartition('.')[2]}" if written else f"the time limit of {name.rpartition('.')[2]}"
        sure = Confidence.HIGH if slot.flow is not None else Confidence.MEDIUM
        steps = self._way(slot, span, f"{text}: {say_seconds(longest)}")
        then = "it is ended before it is done" if stops else "it answers when nobody waits any more"
        yield Above(longest, text, stops, sure, steps, span, then=then, default=slot.flow is None)

    def _way(self, slot: Slot, span: Span, said: str) -> tuple[Step, ...]:
        """How a limit came to where it is written."""
        steps = self.program.trace(slot.flow.hops) if slot.flow is not None else ()
        return (*(s for s in steps if (s.span.path, s.span.line) != (span.path, span.line)), Step(span, said))

    # ------------------------------------------------------------ servers in code

    def _of_servers(self, fn: Fun, entry: Entry) -> Iterator[Above]:
        """Limits of the servers that an entry is mounted on, and of the adapters between."""
        if entry.kind != "request":
            return
        yield from self._of_adapters(entry)
        servers = self._servers.get(fn.module.language, ())
        if not servers:
            return
        mounts = {mount for maker in entry.makers for mount in _mounts_of(maker)}
        found = [server for server in servers if fn in server.functions or mounts & server.mounts.keys()]
        sure = Confidence.HIGH
        if not found:
            home = self.home(fn.module.path)
            found = [server for server in servers if self.home(server.path) == home]
            sure = Confidence.MEDIUM
            if len(found) != 1:
                return
        limits = [server.limit for server in found]
        if all(limit is not None for limit in limits):
            longest = max((limit for limit in limits if limit is not None), key=lambda above: above.seconds)
            yield replace(longest, confidence=min(sure, longest.confidence))
        for server in found:
            yield from (above for mount in sorted(mounts & server.mounts.keys()) for above in server.mounts[mount])

    def _of_adapters(self, entry: Entry) -> Iterator[Above]:
        """Limits that are put around a handler where it is registered: `http.TimeoutHandler(h, 2*time.Second, "")`."""
        for maker in entry.makers:
            if maker.call is not None:
                for arg in maker.call.args:
                    for _, above in self._unwrapped(arg.value, self.resolver.frame(maker.fn)):
                        yield from above

    @cached_property
    def _servers(self) -> dict[str, tuple[_Server, ...]]:
        """Servers that code makes, by language."""
        found: dict[str, list[_Server]] = defaultdict(list)
        for row, library in self._rows:
            table = self.program.knowledge.of(library.language)
            kind = table.type(row.type) if row.type is not None else None
            if kind is None or row.slot is None:
                continue
            last = kind.name.rpartition(".")[2]
            for fn in self.program.functions(library.language):
                if fn.module.is_test or not any(c.rpartition(".")[2].rstrip("{") == last for c in fn.head.calls):
                    continue
                for new, _arm, _stmt in fn.body.news:
                    if self.resolver.resolve_type(new.type, fn) == kind.name:
                        obj = Obj("new", kind.name, self.resolver.frame(fn), new)
                        found[library.language].append(self._server(obj, fn, new, row))
        return {language: tuple(servers) for language, servers in found.items()}

    def _server(self, obj: Obj, fn: Fun, node: f.Node, row: DeadlineRow) -> _Server:
        server = _Server(fn.module.path)
        for source in self.program.slots.of_object(obj, frozenset({row.slot or ""})):
            numbers = [slot.number for slot in source.slots if slot.state == "finite" and not slot.mismatch]
            known = [number for number in numbers if number is not None and 0 < number < inf]
            if source.bound.slot == row.slot and known and len(known) == len(source.slots):
                slot = next(slot for slot in source.slots if slot.number == max(known))
                span = self.program.span_of(*(slot.written or (fn, node)))
                steps = self._way(slot, span, f"{row.what}: {say_seconds(max(known))}")
                server.limit = Above(max(known), row.what, row.stops, Confidence.HIGH, steps, span, then=_then(row))
        frame = self.resolver.frame(fn)
        kind = self.resolver.table(fn.module).type(row.type or "")
        for part in kind.parts if kind is not None else ():
            given = (
                next((pair.value for pair in node.fields if _key_of(pair) == part.field), None) if isinstance(node, f.New) else None
            )
            if given is not None:
                mounted = list(self._unwrapped(given, frame))
            else:
                mounted = [(flow.thing, ()) for flow in self.resolver.field(obj, part.field or "", frame)]
            for thing, limits in mounted:
                if isinstance(thing, FnVal):
                    server.functions.add(thing.fn)
                elif isinstance(thing, Obj):
                    for mount in _places_of(thing):
                        server.mounts.setdefault(mount, limits)
                elif isinstance(thing, Absent | Null):
                    server.mounts[_ANYWHERE] = limits
        return server

    def _unwrapped(
        self, expr: f.Expr, frame: Frame, limits: tuple[Above, ...] = (), depth: int = 0
    ) -> Iterator[tuple[Thing, tuple[Above, ...]]]:
        """What stands behind an expression and behind the calls that were given it to wrap, with the limits that those put
        around it."""
        if depth > 5:
            return
        made_here = False
        for flow in self.resolver.ask(expr, frame):
            thing = flow.thing
            yield thing, limits
            made_here |= isinstance(thing, Obj) and thing.node is expr
            if isinstance(thing, Obj) and isinstance(thing.node, f.Call) and thing.frame is not None and thing.kind == "call":
                inner = limits
                entry = self.resolver.table(thing.frame.fn.module).call(thing.maker.partition("#")[0])
                args = thing.binds if thing.binds is not None else self.resolver.binds(thing.node, thing.frame)
                if entry is not None and entry.scope is not None and entry.scope.form == "call":
                    seconds = self.program.worsts.limit(entry.scope, args, thing.frame.fn)
                    if seconds is not None and 0 < seconds < inf:
                        span = self.program.span_of(thing.frame.fn, thing.node)
                        text = short(thing.maker)
                        steps = (Step(span, f"{text} gives it {say_seconds(seconds)}"),)
                        inner = (*limits, Above(seconds, text, entry.scope.cuts == "all", Confidence.HIGH, steps, span))
                for bind in args[:3]:
                    if not isinstance(bind.expr, f.Lit):
                        yield from self._unwrapped(bind.expr, bind.frame, inner, depth + 1)
        if isinstance(expr, f.Call) and not made_here:
            # A function of the program that was given a handler and gives back another: `logged(mux)`.
            for arg in expr.args[:3]:
                if isinstance(arg.value, f.Ref | f.Call | f.Field):
                    yield from self._unwrapped(arg.value, frame, limits, depth + 1)

    # ------------------------------------------------------------ services

    def keys_in(self, path: str) -> frozenset[str]:
        """The plain keys in the paths of a file's settings."""
        found = self._keys.get(path)
        if found is None:
            found = self._keys[path] = keys_of(self.program.files[path].settings)
        return found

    @cached_property
    def _homes(self) -> Homes:
        return Homes(self.program.files)

    def home(self, path: str) -> str:
        """The folder of the service that a file belongs to: the nearest with a build file above it, else the program's root."""
        return self._homes.home(path)

    @cached_property
    def _entries_at(self) -> dict[str, list[tuple[Fun, Entry]]]:
        """Entry points by service."""
        found: dict[str, list[tuple[Fun, Entry]]] = defaultdict(list)
        for fn, entry in self.program.entries.items():
            if not self.program.is_test(fn):
                found[self.home(fn.module.path)].append((fn, entry))
        return found

    @cached_property
    def _figures_at(self) -> dict[str, list[WrittenLimit]]:
        """Limits that are written in files, by the service whose entries they limit."""
        found: dict[str, list[WrittenLimit]] = defaultdict(list)
        for figure in self._written:
            for home in self._targets(figure):
                found[home].append(figure)
        for figures in found.values():
            figures[:] = _loosest(figures)
        return found

    def limits(self, path: str, library: Library) -> bool:
        """Whether settings or command lines of a library limit, by themselves, what the service of a file does with it."""
        figures = self._figures_at.get(self.home(path), [])
        return any(figure.library.library == library.library and figure.row.side == "own" for figure in figures)

    def _targets(self, figure: WrittenLimit) -> list[str]:
        """The services whose entries a limit holds for: those it names, else the only one that comes into question."""
        homes = sorted(
            home for home, entries in self._entries_at.items() if any(_limits(figure.row, fn, entry) for fn, entry in entries)
        )
        own = self.home(figure.path)
        if figure.row.side == "own":
            if own in homes:
                return [own]
            below = [home for home in homes if home.startswith(own + "/")] if own else homes
            return below if len(below) == 1 else []
        named = [home for home in homes if any(self._is_named(home, name) for name in figure.names)]
        if named:
            return named
        return homes if len(homes) == 1 and not self._is_foreign(figure.names) else []

    def _is_named(self, home: str, target: str) -> bool:
        """Whether a host, a cluster or the like is named for a service."""
        known = self._names_of(home)
        return any(host and host in known for host in _hosts_of(target))

    def _names_of(self, home: str) -> frozenset[frozenset[str]]:
        """What a service is called, each by its words."""
        names = {home.rpartition("/")[2]}
        for fn, _ in self._entries_at[home][:1]:
            service = self.program.settings.service_of(fn.module.path)
            if service is not None:
                names |= {service.name, *(host.partition(".")[0] for host in service.hosts)}
        for written in self.program.surfaces.setting("spring.application.name"):
            if self.home(written.path) == home:
                names.add(written.text)
        return frozenset(words_of(name) for name in names) - {frozenset()}

    def _is_foreign(self, names: Iterable[str]) -> bool:
        """Whether targets are known to be other things than what lies in this repository: deployed here, but built elsewhere."""
        hosts = [host for name in names for host in _hosts_of(name)]
        return bool(hosts) and all(host in self._images for host in hosts)

    @cached_property
    def _images(self) -> frozenset[frozenset[str]]:
        """Services of compose files that run somebody else's image."""
        found: set[frozenset[str]] = set()
        for facts in self.program.files.values():
            if facts.kind == "yaml" and any(s.path == ("services",) for s in facts.settings[:40]):
                services: dict[str, set[str]] = defaultdict(set)
                for setting in facts.settings:
                    if len(setting.path) >= 3 and setting.path[0] == "services":
                        services[setting.path[1]].add(setting.path[2])
                found |= {words_of(name) for name, keys in services.items() if "image" in keys and "build" not in keys}
        return frozenset(found)

    # ------------------------------------------------------------ what files say

    @cached_property
    def _rows(self) -> list[tuple[DeadlineRow, Library]]:
        return [(row, library) for library in self.program.knowledge.libraries for row in library.deadlines]

    @cached_property
    def _written(self) -> tuple[WrittenLimit, ...]:
        found = [*self._of_surfaces(), *(figure for figure in self._in_documents if figure.seconds < inf)]
        return tuple(sorted(found, key=lambda figure: (figure.span, figure.row.what)))

    @cached_property
    def switched_off(self) -> list[WrittenLimit]:
        """What documents write to have no limit."""
        return [figure for figure in self._in_documents if figure.seconds == inf]

    @cached_property
    def _in_documents(self) -> list[WrittenLimit]:
        return list(self._of_documents())

    def _of_surfaces(self) -> Iterator[WrittenLimit]:
        for row, library in self._rows:
            if row.setting is None:
                continue
            for case in self._cases(row, library):
                if all(case.holds(condition.key, condition.values, condition.unset) for condition in row.when):
                    yield from case.figures(self, row, library)

    def _cases(self, row: DeadlineRow, library: Library) -> Iterator[_Case]:
        """Every run of a program that a surface describes: what its command is given, over what its file of settings says."""
        prefix, _, last = (row.setting or "").rpartition(".")
        keys = [last, *(condition.key for condition in row.when), *([row.share] if row.share else [])]
        files: dict[str, list[_Case]] = defaultdict(list)
        for module, surface in self.program.surfaces.modules():
            if surface.prefix == prefix:
                files[self.home(module.path)].append(self._case_of_module(module, keys))
        settings: dict[str, _Case] = {}
        for written in self.program.surfaces.written:
            if written.surface is not None and ".".join(written.key[:-1]) == prefix and written.last in keys:
                case = settings.get(written.path)
                if case is None:
                    case = settings[written.path] = _Case(written.path, None)
                    files[self.home(written.path)].append(case)
                case.values[written.last] = self._value_of_setting(written)
        taken: set[str] = set()
        lines = [c for s in library.surfaces if s.prefix == prefix for c in self.program.surfaces.commands(s, keys)]
        beside: dict[str, dict[str, _Value]] = defaultdict(dict)
        for command in lines:
            if command.variable and command.given:
                beside[self.home(command.path)].update(self._given(command))
        for command in lines:
            if command.variable or (row.written_as and not re.search(row.written_as, command.text)):
                continue
            home = self.home(command.path)
            base = files.get(home, [])
            if not command.given and home not in beside and (base or row.default is None):
                continue  # What its file of settings says holds as it is.
            taken.add(home)
            case = _Case(
                command.path,
                self.program.span(command.path, command.at, command.at + len(command.text.split("\n")[0].encode())),
            )
            if len(base) == 1:
                case.values.update(base[0].values)
            elif base:
                continue
            case.values.update(beside.get(home, {}))
            case.values.update(self._given(command))
            yield case
        for home in {**files, **beside}:
            if home not in taken:
                for case in files.get(home) or [_Case(next(iter(beside[home].values())).span.path, None)]:
                    case.values.update(beside.get(home, {}))
                    yield case

    def _given(self, command: Command) -> dict[str, _Value]:
        """What a command line says of each key."""
        places = command.given.items()
        return {key: _Value((text,), self.program.span(command.path, at, end)) for key, (at, end, text) in places}

    def _case_of_module(self, module: Module, keys: Iterable[str]) -> _Case:
        top = module.functions[0]
        case = _Case(module.path, None)
        frame = self.resolver.frame(top)
        for stmt in top.body.block:
            if not isinstance(stmt, f.Assign) or stmt.value is None or stmt.op:
                continue
            for target in stmt.targets:
                if isinstance(target, f.Ref) and target.name in keys:
                    flows = self.resolver.ask(stmt.value, frame)
                    texts = [_text_of(flow.thing) for flow in flows]
                    known = tuple(text for text in texts if text is not None)
                    whole = len(known) == len(texts) and bool(known)
                    span = self.program.span(module.path, stmt.at, stmt.end)
                    case.values[target.name] = _Value(known if whole else (), span)
        return case

    def _value_of_setting(self, written: Written) -> _Value:
        texts = self.program.surfaces.texts(written)
        known = tuple(text.known for text in texts) if all(text.whole for text in texts) else ()
        steps = tuple(step for text in texts for step in text.steps)
        return _Value(known, self.program.surfaces.span(written), steps)

    # ------------------------------------------------------------ what documents say

    def _of_documents(self) -> Iterator[WrittenLimit]:
        needs = [(row, library, _needs(row)) for row, library in self._rows if row.key is not None]
        for path, facts in self.program.files.items():
            if not facts.settings or self.program.settings.is_test(path):
                continue
            rows = [(r, lib) for r, lib, need in needs if not r.formats or facts.kind in r.formats]
            if not rows:
                continue
            keys = self.keys_in(path)
            rows = [(r, lib) for r, lib, need in needs if (not r.formats or facts.kind in r.formats) and need <= keys]
            if not rows:
                continue
            docs: dict[int, list[tuple[Path, f.Setting]]] = defaultdict(list)
            for setting in facts.settings:
                docs[setting.doc].append((steps_of(setting.path), setting))
            for settings in docs.values():
                for row, library in rows:
                    yield from self._in_document(row, library, path, settings)

    def _in_document(
        self, row: DeadlineRow, library: Library, path: str, settings: list[tuple[Path, f.Setting]]
    ) -> Iterator[WrittenLimit]:
        for mark in row.document:
            if not any(matches_path(pattern_of(mark.key), have) and counts(mark, s) for have, s in settings):
                return
        wanted = pattern_of(row.block)
        blocks: dict[Path, list[tuple[Path, f.Setting]]] = {}
        for have, setting in settings:
            for size in prefixes(wanted, have):
                blocks.setdefault(have[:size], []).append((have[size:], setting))
        key = pattern_of(row.key or "")
        for place, inside in blocks.items():
            if not all(is_met(condition.key, condition.values, condition.unset, inside) for condition in row.when):
                continue
            names = [s for name in row.names for s in _named(name, inside, settings)]
            if row.names and not names and not row.named:
                continue
            found = next((s for have, s in inside if matches_path(key, have)), None)
            around = place
            while found is None and row.inherits and around:
                around = around[:-1]
                found = _key_below(around, key, settings)
            if found is None and row.base is not None:
                found = _key_below(pattern_of(row.base), key, settings)
            shared = next((s for have, s in inside if row.share is not None and matches_path(pattern_of(row.share), have)), None)
            default_of = shared if row.share is not None else names[0] if names else None
            place_of = found if found is not None else default_of if row.default is not None else None
            if place_of is None:
                continue
            judged = judge(bound_of(row), found.text, row.bare) if found is not None else None
            off = judged is not None and judged.off and not _tells_of_streams(row, settings)
            seconds = inf if off else judged.number if judged is not None else row.default
            if seconds is None or not (0 < seconds < inf or off):
                continue
            texts = [s.text for s in names] + ([place[-1].partition("#")[0]] if row.named and place else [])
            span = self.program.span(path, min(place_of.key_at, place_of.at), max(place_of.end, place_of.key_end))
            sure = Confidence.LOW if library.verified is False else Confidence.MEDIUM
            count, steps = row.share_default, ()  # type: int, tuple[Step, ...]
            if shared is not None:
                if not shared.text.isdigit() or not 0 < int(shared.text) < _MOST_SHARED:
                    continue
                count = int(shared.text)
                steps = (
                    Step(self.program.span(path, shared.key_at, shared.end), f"for up to {count} of them, one after the other"),
                )
            yield WrittenLimit(
                row,
                library,
                seconds,
                path,
                span,
                sure,
                tuple(self._behind(row, texts, settings)),
                steps,
                count,
                found is None,
                f"{found.path[-1]}: {found.text}" if found is not None else "",
            )

    @staticmethod
    def _behind(row: DeadlineRow, names: list[str], settings: list[tuple[Path, f.Setting]]) -> Iterator[str]:
        """Who stands behind names that the document itself explains: the servers of an upstream."""
        for name in names:
            hosts = {host for word in name.split() if (host := full_host(word))}
            patterns = [pattern_of(via.replace("{}", f"[{host}]")) for via in row.via for host in sorted(hosts)]
            found = [s.text for have, s in settings if any(matches_path(pattern, have) for pattern in patterns)]
            yield from found or [name]


@dataclass(frozen=True)
class _Value:
    """What a key may hold, as text; nothing where that is not known."""

    texts: tuple[str, ...]
    span: Span
    steps: tuple[Step, ...] = ()


class _Case:
    """One run of a program as its settings describe it."""

    def __init__(self, path: str, command: Span | None) -> None:
        self.path = path
        self.command = command
        self.values: dict[str, _Value] = {}

    def holds(self, key: str, values: tuple[str, ...], unset: bool) -> bool:
        """Whether a key has one of these values whatever happens; not known is no."""
        value = self.values.get(key)
        if value is None:
            return unset
        return bool(value.texts) and all(any(fnmatchcase(text.lower(), pattern) for pattern in values) for text in value.texts)

    def figures(self, aboves: Aboves, row: DeadlineRow, library: Library) -> Iterator[WrittenLimit]:
        """The limit that a row's setting is in this run."""
        value = self.values.get((row.setting or "").rpartition(".")[2])
        bound = bound_of(row)
        low = library.verified is False
        if value is None:
            if row.default is not None and self.command is not None:
                sure = Confidence.LOW if low else Confidence.MEDIUM
                yield WrittenLimit(row, library, row.default, self.path, self.command, sure, default=True)
            return
        judged = [judge(bound, text, row.bare) for text in value.texts]
        numbers = [one.number for one in judged if one.number is not None and not one.off and not one.mismatch]
        if numbers and len(numbers) == len(judged) and 0 < max(numbers) < inf:
            sure = Confidence.LOW if low else Confidence.HIGH
            yield WrittenLimit(row, library, max(numbers), self.path, value.span, sure, steps=value.steps)


def _mounts_of(maker: Maker) -> Iterator[Mount]:
    """The routers that a registration is made on."""
    if maker.holder is None:
        yield _ANYWHERE
        return
    yield from _places_of(maker.holder)


def _places_of(obj: Obj) -> Iterator[Mount]:
    """Where an object is made, and those it was made from: a group of routes belongs to its router."""
    current: Obj | None = obj
    for _ in range(6):
        if current is None:
            return
        if isinstance(current.node, f.Node) and current.frame is not None:
            yield (current.frame.fn.module.path, current.node.at, current.node.end)
        current = current.parent


def _key_of(pair: f.Pair) -> str:
    return pair.key.name if isinstance(pair.key, f.Ref) else ""


def bound_of(row: DeadlineRow) -> Bound:
    return Bound(slot="request", unit=row.unit, disabled=row.disabled)


def _limits(row: DeadlineRow, fn: Fun, entry: Entry) -> bool:
    """Whether a row speaks of an entry of this kind."""
    return (
        entry.kind in row.kinds
        and (not row.languages or fn.module.language in row.languages)
        and (not row.makers or any(fnmatchcase(maker.name, pattern) for maker in entry.makers for pattern in row.makers))
    )


def _first_line(fn: Fun) -> f.Node:
    """Where a function begins: its whole range is no place to look at."""
    return f.Ref(fn.head.at, fn.head.at + 1, "")


def _then(row: DeadlineRow) -> str:
    return row.then or ("it is ended before it answers" if row.stops else "it answers when nobody waits any more")


def _takes_many(fn: Fun) -> bool:
    """Whether an entry is given several units of work at once."""
    types = [p.type for p in fn.positional if p.type is not None]
    return any(t.shape in ("list", "array") or t.name.rpartition(".")[2] in _MANY for t in types)


def _loosest(figures: list[WrittenLimit]) -> list[WrittenLimit]:
    """Of several limits of one kind in one file, which hold for different paths, the one that gives most."""
    best: dict[tuple[str, str], WrittenLimit] = {}
    for figure in figures:
        key = (figure.row.what, figure.path)
        known = best.get(key)
        if known is None or figure.seconds > known.seconds:
            best[key] = figure
    return list(best.values())


def _named(name: str, inside: list[tuple[Path, f.Setting]], document: list[tuple[Path, f.Setting]]) -> Iterator[f.Setting]:
    anywhere = name.startswith(".")
    wanted = pattern_of(name.lstrip("."))
    for have, setting in document if anywhere else inside:
        if setting.kind not in ("map", "list") and matches_path(wanted, have):
            yield setting


def _tells_of_streams(row: DeadlineRow, document: list[tuple[Path, f.Setting]]) -> bool:
    patterns = [pattern_of(key) for key in row.streams]
    return any(prefixes(pattern, have) for pattern in patterns for have, _ in document)


def _needs(row: DeadlineRow) -> frozenset[str]:
    """The plain keys without which a document has nothing for a row."""
    keys = [*pattern_of(row.block)]
    if row.default is None:
        keys += pattern_of(row.key or "")
    return frozenset(plain(step) for step in keys if step and not step.endswith("*"))


def _key_below(around: Path, key: Path, settings: list[tuple[Path, f.Setting]]) -> f.Setting | None:
    """The setting of a key right below a place."""
    size = len(around)
    return next((s for have, s in settings if have[:size] == around and matches_path(key, have[size:])), None)


def full_host(text: str) -> str:
    match = _HOST.match(text.strip())
    return match[1].lower() if match is not None else ""


def _hosts_of(text: str) -> list[frozenset[str]]:
    """Words of the hosts that a text names: `http://orders-svc.shop.svc:8080/x` is orders. Of a variable nothing is known."""
    found = []
    for word in text.split()[:8]:
        host = full_host(word).partition(".")[0]
        if host and "$" not in host and host not in _HERE:
            found.append(words_of(host))
    return found


def words_of(name: str) -> frozenset[str]:
    """The words of a name that tell it from others."""
    return frozenset(re.split(r"[-_.]", name.lower())) - _SAY_NOTHING


def _text_of(thing: object) -> str | None:
    if isinstance(thing, Num):
        return f"{thing.number:g}" if not isinstance(thing.number, bool) else str(thing.number)
    if isinstance(thing, Text):
        return thing.whole
    return None
