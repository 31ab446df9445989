"""Idle connections: how long servers keep them, how long what stands in front uses them again, and which belong together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from msgspec import structs

from resilint import facts as f
from resilint.flow.above import Aboves, WrittenLimit, bound_of, full_host, words_of
from resilint.flow.marks import Path, counts, matches_path, pattern_of, plain
from resilint.flow.queues import say
from resilint.flow.slots import Source, decide
from resilint.flow.spawns import short
from resilint.flow.surfaces import judge, project_of
from resilint.flow.timeouts import Fault
from resilint.flow.values import Ext, Num, Obj, Text, counted
from resilint.knowledge.index import Table
from resilint.knowledge.schema import DeadlineRow, IdleRow, Library, Part, SlotName, TypeEntry
from resilint.link.code import CODE, CallSite, Fun, dotted
from resilint.model import Confidence, Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_PORT = re.compile(r"(?:.*[:\s])?(\d{2,5})\Z")
_LOCAL = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1", "host.docker.internal"})
_VARIABLE = re.compile(r"[$]\{var\.([\w-]+)\}\Z")
_CONFIGURED = re.compile(r"(?:^|[\s\"',\[])(?:-c|--config)[\s\"',=]")
"""A command that is given a file of settings: what that says instead of a default is not known."""
_PAIR = re.compile(r"([\w.-]+)\s*=\s*([^,;\s]+)")


@dataclass(eq=False)
class Closer:
    """A server that closes connections which lie idle."""

    what: str
    protocol: str
    seconds: float | None
    """`inf`: it never closes first; `None`: not known."""
    path: str
    span: Span
    confidence: Confidence
    port: int | None = None
    names: frozenset[str] = frozenset()
    """What it says it is called."""
    steps: tuple[Step, ...] = ()
    written: bool = True


@dataclass(eq=False)
class Reuser:
    """A proxy, balancer or client that uses idle connections again."""

    what: str
    protocol: str
    seconds: float
    path: str
    span: Span
    confidence: Confidence
    targets: tuple[str, ...]
    written: bool
    steps: tuple[Step, ...] = ()


@dataclass
class _Join:
    closer: Closer
    reuser: Reuser
    sure: Confidence


class _End(Aboves):
    """What is written of one end of connections, found as limits above entry points are."""

    def __init__(self, program: Program, side: str) -> None:
        super().__init__(program)
        self.side = side

    @cached_property
    def _rows(self) -> list[tuple[DeadlineRow, Library]]:
        return [(row, lib) for lib in self.program.knowledge.libraries for row in lib.idles if row.side == self.side]

    @property
    def figures(self) -> Iterator[tuple[WrittenLimit, IdleRow, bool]]:
        """Every time, with the row it is of, and whether it is written or a default."""
        for figure in self._written:
            if isinstance(figure.row, IdleRow):
                written = self._is_key(figure, figure.row)
                line = self.program.lines(figure.path).line(figure.span.line)
                if written or figure.row.setting is None or not _CONFIGURED.search(line):
                    yield figure, figure.row, written

    def is_foreign(self, names: Iterable[str]) -> bool:
        """Whether targets are known to be built elsewhere."""
        return self._is_foreign(names)

    # ------------------------------------------------------------ values within texts, counts that have to be there

    def _in_document(
        self, row: DeadlineRow, library: Library, path: str, settings: list[tuple[Path, f.Setting]]
    ) -> Iterator[WrittenLimit]:
        if self.program.files[path].kind == "hcl":
            settings = [(have, self._of_variable(path, setting)) for have, setting in settings]
        if not isinstance(row, IdleRow) or (row.inside is None and row.keep is None):
            yield from super()._in_document(row, library, path, settings)
            return
        if row.keep is not None:
            for figure in super()._in_document(row, library, path, settings):
                if self._keeps(row, figure, path, settings):
                    yield figure
            return
        if not all(
            any(matches_path(pattern_of(mark.key), have) and counts(mark, s) for have, s in settings) for mark in row.document
        ):
            return
        key = pattern_of(row.key or "")
        found = next((s for have, s in settings if matches_path(key, have)), None)
        names = [s for name in row.names for have, s in settings if matches_path(pattern_of(name), have) and s.kind == "str"]
        place = found or (names[0] if names else None)
        if place is None:
            return
        value = dict(_PAIR.findall(found.text[:2000])).get(row.inside or "") if found is not None else None
        seconds = judge(bound_of(row), value, row.bare).number if value is not None else row.default
        if seconds is not None and 0 < seconds < inf:
            span = self.program.span(path, min(place.key_at, place.at), max(place.end, place.key_end))
            sure = Confidence.LOW if library.verified is False else Confidence.MEDIUM
            yield WrittenLimit(row, library, seconds, path, span, sure, tuple(s.text for s in names))

    def _of_variable(self, path: str, setting: f.Setting) -> f.Setting:
        """A setting with the value of the variable that it is, where one folder of settings gives it only one."""
        match = _VARIABLE.match(setting.text)
        values = self._variables.get((path.rpartition("/")[0], match[1]), set()) if match is not None else set()
        return structs.replace(setting, text=next(iter(values))) if len(values) == 1 else setting

    @cached_property
    def _variables(self) -> dict[tuple[str, str], set[str]]:
        """The values of variables by folder and name: their defaults, and what files of values say."""
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for path, facts in self.program.files.items():
            if facts.kind == "hcl":
                for setting in facts.settings:
                    folder = path.rpartition("/")[0]
                    if len(setting.path) == 3 and setting.path[0] == "variable" and setting.path[2] == "default":
                        found[folder, setting.path[1]].add(setting.text)
                    elif len(setting.path) == 1 and path.endswith(".tfvars"):
                        found[folder, setting.path[0]].add(setting.text)
        return found

    def _keeps(self, row: IdleRow, figure: WrittenLimit, path: str, settings: list[tuple[Path, f.Setting]]) -> bool:
        """Whether the block of a figure says that it keeps connections at all."""
        keep = pattern_of(row.keep or "")
        for have, setting in settings:
            if matches_path((*pattern_of(row.block), *keep), have):
                block = next((s for h, s in settings if h == have[: -len(keep)]), None)
                span = self.program.span(path, block.key_at, block.end) if block is not None else None
                inside = span is not None and (span.line, span.col) <= (figure.span.line, figure.span.col) <= (
                    span.end_line,
                    span.end_col,
                )
                if inside and setting.text.split(" ")[0] != "0":
                    return True
        return False

    def _is_key(self, figure: WrittenLimit, row: IdleRow) -> bool:
        """Whether the figure itself is written, not what has it by default."""
        span = figure.span
        line = self.program.lines(figure.path).line(span.line)
        said = plain(line[span.col - 1 : span.end_col - 1 if span.end_line == span.line else None].replace("#", ""))
        last = pattern_of(row.key)[-1] if row.key else (row.setting or "").rpartition(".")[2]
        return plain(row.inside or last) in said


class IdlePairs:
    """Both ends of connections, and where the server's is the shorter."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.front = _End(program, "front")
        self.own = _End(program, "own")

    def faults(self) -> Iterator[Fault]:
        """One fault for each server that closes no later than the one in front of it stops using its connections."""
        worst: dict[Span, tuple[float, Fault]] = {}
        for join in self._joins():
            closer, reuser = join.closer, join.reuser
            if closer.seconds is None or closer.seconds > reuser.seconds * (1 + 1e-9) or not (closer.written or reuser.written):
                continue
            fault = _fault(join)
            known = worst.get(fault.span)
            if known is None or reuser.seconds > known[0]:
                worst[fault.span] = (reuser.seconds, fault)
        yield from (fault for _, fault in sorted(worst.values(), key=lambda pair: (pair[1].span, pair[1].message)))

    # ------------------------------------------------------------ both ends

    @cached_property
    def reusers(self) -> tuple[Reuser, ...]:
        """What is written in front of servers."""
        found = []
        for figure, row, written in self.front.figures:
            sure = figure.confidence if written else min(figure.confidence, Confidence.MEDIUM)
            found.append(
                Reuser(row.what, row.protocol, figure.seconds, figure.path, figure.span, sure, figure.names, written, figure.steps)
            )
        return tuple(found)

    @cached_property
    def closers(self) -> tuple[Closer, ...]:
        """Every server that is made or described here."""
        found = [*self._described(), *self._made()]
        return tuple(sorted(found, key=lambda closer: closer.span))

    def _described(self) -> Iterator[Closer]:
        for figure, row, written in self.own.figures:
            ports = [port for name in figure.names if (port := _port(name)) is not None]
            names = frozenset(name for name in figure.names if _port(name) is None)
            sure = figure.confidence if written else min(figure.confidence, Confidence.MEDIUM)
            port = ports[0] if ports else self._port_beside(figure)
            yield Closer(row.what, row.protocol, figure.seconds, figure.path, figure.span, sure, port, names, figure.steps, written)

    def _port_beside(self, figure: WrittenLimit) -> int | None:
        """The port that the same settings give a server."""
        for written in self.program.surfaces.setting("server.port"):
            if written.path == figure.path:
                return _port(written.text)
        return None

    # ------------------------------------------------------------ servers in code

    def _made(self) -> Iterator[Closer]:
        for language in CODE:
            table = self.program.knowledge.of(language)
            kinds = {name: kind for kind in _servers(table) for name in (kind.name, *kind.aliases, *kind.made_by)}
            helpers = {
                name: call
                for library in table.libraries
                for call in library.calls
                if call.does == "serve" and any(row.slot == "idle" for row in call.bounds)
                for name in call.names
            }
            lasts = frozenset(name.rpartition(".")[2] for name in (*kinds, *helpers))
            setters = {
                row.setter for kind in kinds.values() for row in kind.bounds if row.setter and row.slot in ("idle", *kind.idle_from)
            }
            wanted = lasts | setters
            for fn in self.program.functions(language):
                if fn.module.is_test or not any(c.rpartition(".")[2].rstrip("{") in wanted for c in fn.head.calls):
                    continue
                yield from self._made_in(fn, table, kinds, lasts, setters)

    def _made_in(
        self, fn: Fun, table: Table, kinds: dict[str, TypeEntry], lasts: frozenset[str], setters: Iterable[str]
    ) -> Iterator[Closer]:
        program, frame = self.program, self.resolver.frame(fn)
        for new, _arm, _stmt in fn.body.news:
            name = self.resolver.resolve_type(new.type, fn)
            if isinstance(name, str) and name in kinds:
                yield self._of_object(kinds[name], Obj("new", kinds[name].name, frame, new), fn, new)
        configured: dict[str, list[tuple[CallSite, TypeEntry]]] = defaultdict(list)
        for site in fn.body.calls:
            if site.last in setters:
                for target in program.targets(site):
                    owner, _, last = target.name.rpartition(".")
                    kind = table.type(owner) if owner else None
                    if kind is not None and last == site.last and any(k is kind for k in kinds.values()):
                        configured[dotted(site.call.fn).rpartition(".")[0] if not kind.returns else ""].append((site, kind))
                        break
        settled = {kind.name for sites in configured.values() for _, kind in sites}
        for site in fn.body.calls:
            if site.last not in lasts:
                continue
            for target in program.targets(site):
                if target.entry is not None and target.entry.does == "serve":
                    rows = [row for row in target.entry.bounds if row.slot == "idle"]
                    if rows:
                        sources = program.slots.at_call(rows, target.binds, (fn, site.call), target.holder)
                        yield self._closer(sources, _said(target.name), fn, site.call, _port_of(self, site, "port"))
                        break
                kind = table.constructs(target.name) or table.made_by(target.name) if target.name else None
                if kind is not None and kind.name in kinds and not kind.returns and kind.name not in settled:
                    obj = Obj("call", kind.name, frame, site.call, target.name, target.holder)
                    yield self._of_object(kind, obj, fn, site.call)
                    break
        for sites in configured.values():
            closer = self._of_setters(sites, fn)
            if closer is not None:
                yield closer

    def _of_object(self, kind: TypeEntry, obj: Obj, fn: Fun, node: f.Node) -> Closer:
        wanted: frozenset[SlotName] = frozenset({"idle", *kind.idle_from})
        sources = decide(self.program.slots.of_object(obj, wanted))
        order: list[SlotName] = ["idle", *kind.idle_from]
        ranked = [s for slot in order for s in sources if s.bound.slot == slot and s.written]
        ranked = [s for s in ranked if not _is_zero(s)] or [s for s in sources if s.bound.slot == "idle"]
        return self._closer(ranked[:1], _said(kind.name), fn, node, self._listens(kind, obj))

    def _of_setters(self, sites: list[tuple[CallSite, TypeEntry]], fn: Fun) -> Closer | None:
        """The server whose setters a function calls: `protocol.setKeepAliveTimeout(20_000)`."""
        kind = sites[0][1]
        found: dict[str, list[Source]] = defaultdict(list)
        for site, _ in sites:
            binds = self.resolver.binds(site.call, self.resolver.frame(fn))
            for row in kind.bounds:
                if row.setter != site.last:
                    continue
                pos = row.pos or 0
                if row.key is not None:
                    if not binds or not self._names(binds[0].expr, row.key, fn):
                        continue
                    pos = row.pos if row.pos is not None else 1
                own = structs.replace(row, setter=None, key=None, pos=pos)
                found[row.slot] += self.program.slots.at_call([own], binds, (fn, site.call))
        slot = next((slot for slot in ("idle", *kind.idle_from) if found.get(slot)), None)
        if slot is None:
            return None
        last = next(site for site, _ in reversed(sites) if any(r.setter == site.last and r.slot == slot for r in kind.bounds))
        return self._closer(found[slot][-1:], _said(kind.name), fn, last.call, None, last.last)

    def _names(self, expr: f.Expr, key: str, fn: Fun) -> bool:
        """Whether an expression is the name of a key, as a text or a constant."""
        for flow in self.resolver.ask(expr, self.resolver.frame(fn)):
            thing = flow.thing
            if (isinstance(thing, Text) and thing.whole == key) or (isinstance(thing, Ext) and thing.name == key):
                return True
        return False

    def _closer(self, sources: list[Source], what: str, fn: Fun, node: f.Node, port: int | None, setter: str = "") -> Closer:
        """What a server does to idle connections; without anything written or known by default it never closes first."""
        span, steps = self.program.span_of(fn, node), ()  # type: Span, tuple[Step, ...]
        seconds: float | None = inf
        sure, written = Confidence.HIGH, False
        if sources:
            slots = sources[0].slots
            written = sources[0].written
            numbers = [slot.number for slot in slots if slot.state == "finite" and slot.number is not None and not slot.mismatch]
            if any(slot.state == "disabled" for slot in slots) or all(slot.state == "absent" for slot in slots):
                seconds = inf
            elif numbers and len(numbers) == len(slots):
                seconds = max(numbers)
                slot = next(slot for slot in slots if slot.number == seconds)
                if slot.written is not None and slot.flow is not None:
                    span = self.program.span_of(*slot.written)
                    steps = tuple(
                        s for s in self.program.trace(slot.flow.hops) if s.span.line != span.line or s.span.path != span.path
                    )
                name = setter or slot.bound.field or slot.bound.arg or slot.bound.setter or slot.bound.slot
                what = f"{name.rpartition('.')[2]} of {what}"
            else:
                seconds = None
            sure = Confidence.HIGH if written else Confidence.MEDIUM
        return Closer(what, "http", seconds, span.path, span, sure, port, frozenset(), steps, written)

    def _listens(self, kind: TypeEntry, obj: Obj) -> int | None:
        """The port that a server is given."""
        assert obj.frame is not None
        for part in kind.listens:
            exprs = self._given(part, obj)
            for expr in exprs:
                for flow in self.resolver.ask(expr, obj.frame):
                    if isinstance(flow.thing, Text) and flow.thing.whole is not None:
                        return _port(flow.thing.whole)
        return None

    @staticmethod
    def _given(part: Part, obj: Obj) -> list[f.Expr]:
        if part.field is not None and isinstance(obj.node, f.New):
            return [pair.value for pair in obj.node.fields if isinstance(pair.key, f.Ref) and pair.key.name == part.field]
        if isinstance(obj.node, f.Call):
            return [arg.value for arg in obj.node.args if arg.name is not None and arg.name == part.arg]
        return []

    # ------------------------------------------------------------ which belong together

    def _joins(self) -> Iterator[_Join]:
        if not self.reusers or not self.closers:
            return
        loose: dict[int, list[_Join]] = defaultdict(list)
        for reuser in self.reusers:
            rivals = [c for c in self.closers if c.protocol == reuser.protocol and c.path != reuser.path]
            named = [(c, sure) for c in rivals if (sure := self._stands_behind(c, reuser)) is not None]
            if named:
                best = max(sure for _, sure in named)
                exact = [c for c, sure in named if sure == best]
                for closer in exact:
                    if len(exact) == 1 or len({c.seconds for c in exact}) == 1 or best == Confidence.HIGH:
                        yield _Join(closer, reuser, best)
            elif len(rivals) == 1 and not self._is_other(reuser, rivals[0]):
                loose[id(rivals[0])].append(_Join(rivals[0], reuser, Confidence.MEDIUM))
        for joins in loose.values():
            # Of several that may stand in front the one that gives up first decides.
            yield min(joins, key=lambda join: (join.reuser.seconds, join.reuser.span))

    def _stands_behind(self, closer: Closer, reuser: Reuser) -> Confidence | None:
        """How sure it is that a server is one of those that a reuser names."""
        ports = {port for target in reuser.targets if (port := _port(target)) is not None}
        hosts = {host for target in reuser.targets if (host := _host(target))}
        if hosts and hosts <= _LOCAL and ports:
            return Confidence.HIGH if closer.port in ports else None
        names = self._called(closer)
        if any(words_of(host.partition(".")[0]) in names for host in hosts - _LOCAL if words_of(host.partition(".")[0])):
            # A service maps its port to another of the container.
            return Confidence.HIGH if closer.port is not None and closer.port in ports else Confidence.MEDIUM
        return None

    def _is_other(self, reuser: Reuser, closer: Closer) -> bool:
        """Whether a reuser is known to stand in front of something else."""
        if self.front.is_foreign(reuser.targets):
            return True
        hosts = {host for target in reuser.targets if (host := _host(target))}
        ports = {port for target in reuser.targets if (port := _port(target)) is not None}
        local = bool(hosts) and hosts <= _LOCAL
        return local and closer.port is not None and bool(ports) and closer.port not in ports

    def _called(self, closer: Closer) -> frozenset[frozenset[str]]:
        """What the service of a server is called, each by its words."""
        home = self.front.home(closer.path)
        names = {home.rpartition("/")[2], project_of(closer.path).rpartition("/")[2], *closer.names}
        service = self.program.settings.service_of(closer.path)
        if service is not None:
            names |= {service.name, *(host.partition(".")[0] for host in service.hosts)}
        names |= self._deployed_as(closer)
        for written in self.program.surfaces.setting("spring.application.name"):
            if project_of(written.path) == project_of(closer.path):
                names.add(written.text)
        return frozenset(words_of(name.partition(".")[0]) for name in names) - {frozenset()}

    def _deployed_as(self, closer: Closer) -> set[str]:
        """What a manifest calls the service whose command it holds."""
        facts = self.program.files.get(closer.path)
        if facts is None or facts.kind not in ("yaml", "json"):
            return set()
        names: dict[int, str] = {}
        docs: set[int] = set()
        found: set[str] = set()
        lines = self.program.lines(closer.path)
        for setting in facts.settings:
            if setting.path == ("metadata", "name"):
                names[setting.doc] = setting.text
            around = lines.place(setting.key_at)[0] <= closer.span.line <= lines.place(setting.end)[0]
            if around and setting.kind != "map":
                docs.add(setting.doc)
            elif around and len(setting.path) == 2 and setting.path[0] == "services":
                found.add(setting.path[1])
        return found | {name for doc, name in names.items() if doc in docs}


def _fault(join: _Join) -> Fault:
    closer, reuser = join.closer, join.reuser
    same = closer.seconds is not None and abs(closer.seconds - reuser.seconds) <= 1e-9 * reuser.seconds
    sign = "=" if same else "<"
    said = (
        f"{closer.what}: {say(closer.seconds or 0.0)} {sign} {say(reuser.seconds)} of {reuser.what}:"
        " it closes connections on which the next request is already under way"
    )
    step = Step(reuser.span, f"{reuser.what}: {say(reuser.seconds)}{'' if reuser.written else ' by default'}")
    sure = min(join.sure, closer.confidence)
    if not reuser.written or not closer.written:
        sure = min(sure, Confidence.MEDIUM)
    if reuser.confidence == Confidence.LOW:
        sure = Confidence.LOW
    return Fault(closer.span, said, Value(closer.seconds, sure, (*closer.steps, *reuser.steps, step)))


def _said(name: str) -> str:
    """A canonical name as people say it: `http.Server`, `uvicorn.run`, `AbstractProtocol`."""
    return short(name) if "/" in name or name.count(".") < 2 else name.rpartition(".")[2]


def _servers(table: Table) -> Iterator[TypeEntry]:
    """Types that serve and close idle connections, or build what does."""
    for library in table.libraries:
        for kind in library.types:
            built = (table.type(name) for name in kind.returns.values())
            if kind.in_process or not (kind.role == "server" or any(one is not None and one.role == "server" for one in built)):
                continue
            limits = (one for one in library.types if one.role == "limits" and any(row.slot == "idle" for row in one.bounds))
            of_parts = kind.role == "server" and bool(kind.parts) and any(True for _ in limits)
            if of_parts or any(row.slot == "idle" and (row.field or row.setter or row.arg) for row in kind.bounds):
                yield kind


def _is_zero(source: Source) -> bool:
    return all(slot.state == "finite" and slot.number == 0 for slot in source.slots)


def _port_of(pairs: IdlePairs, site: CallSite, name: str) -> int | None:
    for arg in site.call.args:
        if arg.name == name:
            for flow in pairs.resolver.ask(arg.value, pairs.resolver.frame(site.fn)):
                if isinstance(flow.thing, Num) and not isinstance(flow.thing.number, bool):
                    return counted(flow.thing.number)
    return None


def _port(text: str) -> int | None:
    """The port in an address, or a port by itself."""
    match = _PORT.match(text.strip().split(" ")[0]) if len(text) < 300 else None
    return int(match[1]) if match is not None else None


def _host(text: str) -> str:
    """The host of an address; empty where it is only a port, or not known."""
    word = text.strip().split(" ")[0]
    host = full_host(word)
    return "" if host.isdigit() or "$" in host or "*" in host else host
