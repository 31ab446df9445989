"""Services of this repository that are called by the hosts under which everybody reaches them, instead of by their inner names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.lists import words
from resilint.flow.marks import Path, counts, keys_of, matches_path, plain, prefixes, steps_of
from resilint.flow.surfaces import project_of
from resilint.flow.timeouts import Fault
from resilint.flow.values import Env, Flow, Frame, Hop, Obj, Text
from resilint.kinds import KINDS
from resilint.knowledge.schema import PublicRow
from resilint.link.code import CODE, Fun, Klass, last_name, walk
from resilint.link.looks import any_of, matching
from resilint.model import Confidence, Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//(?:[^/@\s]*@)?([\w.-]+)|([\w-]+(?:\.[\w-]+)+)(?=[:/]|\Z)", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9*](?:[a-z0-9-]*\.)+[a-z0-9-]+\Z", re.IGNORECASE)
_NO_CALLER = frozenset({"service", "services", "svc", "app", "apps", "api", "server", "deploy", "main", "src", "cmd", "backend"})
_DEPTH = 4
_MOST_TEXTS = 40


@dataclass(frozen=True)
class Published:
    """A service with a host for everybody."""

    service: str
    host: str
    step: Step
    sure: Confidence
    declared: bool


class PublicHosts:
    """Answers who calls a service of this repository by its public host."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.rows = [row for library in program.knowledge.libraries for row in library.publics]

    def calls(self) -> Iterator[Fault]:
        """One fault for each place with such a host that a call of another service uses, in order of path and place."""
        if not self.hosts:
            return
        found: dict[Span, Fault] = {}
        for fault in (*self._in_code(), *self._in_settings()):
            known = found.get(fault.span)
            if known is None or fault.value.confidence > known.value.confidence:
                found[fault.span] = fault
        yield from sorted(found.values(), key=lambda fault: (fault.span, fault.message))

    # ------------------------------------------------------------ hosts

    @cached_property
    def hosts(self) -> dict[str, Published]:
        """Public hosts by name, each of one service."""
        found: dict[str, Published | None] = {}
        settings = self.program.settings
        for service in settings.services.values():
            for index, host in enumerate(service.public_hosts):
                span = settings.places.get(("services", service.name, "public_hosts", str(index)))
                span = span or settings.place_or_start("services", service.name, "public_hosts")
                inner = f", inside it is {service.hosts[0]}" if service.hosts else ""
                step = Step(span, f"{host} is a public host of {service.name}{inner}")
                found[host.lower()] = Published(service.name, host.lower(), step, Confidence.HIGH, True)
        for published in self._described():
            known = found.get(published.host, published)
            if known is not None and known.service != published.service and not known.declared:
                found[published.host] = None  # one host, several services behind its paths
            elif known is published:
                found[published.host] = published
        return {host: one for host, one in found.items() if one is not None}

    def _described(self) -> Iterator[Published]:
        for row, path, settings in self._documents([row for row in self.rows if row.targets or row.named]):
            wanted = tuple(row.block.split(".")) if row.block else ()
            blocks: dict[Path, list[tuple[Path, f.Setting]]] = defaultdict(list)
            for have, setting in settings:
                for size in prefixes(wanted, have):
                    blocks[have[:size]].append((have[size:], setting))
            for place, inside in blocks.items():
                targets = {_inner(s.text) for key in row.targets for s in _found(key, inside, settings)}
                if row.named and "*" in wanted:
                    targets = {place[wanted.index("*")].lower()}
                targets = {t for t in targets if t}
                if len(targets) != 1:
                    continue
                target = next(iter(targets))
                if not self._is_here(target):
                    continue
                for setting in (s for key in row.hosts for s in _found(key, inside, settings)):
                    for host in _hosts_in(setting.text, row.pattern):
                        if not any(fnmatchcase(host, pattern) for pattern in row.internal):
                            span = self.program.span(path, min(setting.at, setting.key_at), setting.end)
                            yield Published(
                                target, host, Step(span, f"{host} leads to {target}"), self.program.knowledge.sure(row), False
                            )

    def _documents(self, rows: list[PublicRow]) -> Iterator[tuple[PublicRow, str, list[tuple[Path, f.Setting]]]]:
        kinds = {kind for row in rows for kind in row.formats}
        for path, facts in sorted(self.program.files.items()):
            if facts.kind not in kinds or not facts.settings or self.program.settings.is_test(path):
                continue
            have = keys_of(facts.settings)
            fit = [row for row in rows if facts.kind in row.formats and _needs(row) <= have]
            if not fit:
                continue
            docs: dict[int, list[tuple[Path, f.Setting]]] = defaultdict(list)
            for setting in facts.settings:
                docs[setting.doc].append((steps_of(setting.path), setting))
            for settings in docs.values():
                for row in fit:
                    marks = row.document
                    if all(any(matches_path(tuple(m.key.split(".")), h) and counts(m, s) for h, s in settings) for m in marks):
                        yield row, path, settings

    @cached_property
    def _deployed(self) -> frozenset[str]:
        """Names of the services that manifests of this repository describe."""
        found: set[str] = set()
        for path, facts in self.program.files.items():
            if facts.kind not in ("yaml", "json") or self.program.settings.is_test(path):
                continue
            docs: dict[int, dict[Path, f.Setting]] = defaultdict(dict)
            for setting in facts.settings:
                if setting.path in (("kind",), ("metadata", "name")):
                    docs[setting.doc][setting.path] = setting
                elif len(setting.path) == 2 and setting.path[0] == "services" and setting.kind == "map":
                    found.add(setting.path[1].lower())
            for doc in docs.values():
                kind, name = doc.get(("kind",)), doc.get(("metadata", "name"))
                if kind is not None and name is not None and kind.text in ("Service", "Deployment", "StatefulSet"):
                    found.add(name.text.lower())
        return frozenset(found)

    def _is_here(self, target: str) -> bool:
        return target in self._deployed or target in {name.lower() for name in self.program.settings.services}

    # ------------------------------------------------------------ code

    @cached_property
    def _spoken(self) -> tuple[str, ...]:
        """The files that hold such a host at all."""
        spoken = matching(re.compile(b"|".join(re.escape(host.encode()) for host in sorted(self.hosts)), re.IGNORECASE))
        return tuple(path for path in sorted(self.program.files) if self.program.says(path, spoken))

    def _in_code(self) -> Iterator[Fault]:
        if not self._spoken:
            return
        for wait in self.program.start_waits:
            if wait.kind not in ("network", "connect") or wait.fn.module.is_test:
                continue
            exprs: list[tuple[f.Expr, Frame]] = [(arg.value, wait.frame) for arg in wait.site.call.args]
            texts = [flow for expr, frame in exprs for flow in self._texts(expr, frame, 0)]
            holder = wait.holder or wait.target.holder
            if holder is not None:
                texts += self._texts_of(holder, 0)
            for flow in texts[:_MOST_TEXTS]:
                published = self._published(flow)
                if published is None or self._is_own(wait.fn.module.path, published):
                    continue
                span, host = self._place(flow, published, wait.fn, wait.site.call)
                step = self.program.step(wait.fn, wait.site.call, f"{wait.api.rpartition('/')[2]} calls it")
                trace = tuple(s for s in self.program.trace(flow.hops) if s.span != span and s.text != "written here")
                yield self._fault(span, published, host, (*trace, step), Confidence.HIGH)
        yield from self._in_annotations()

    def _texts(self, expr: f.Expr, frame: Frame, depth: int) -> list[Flow]:
        """Texts that an expression may be, or that the object it may be was made with."""
        if depth > _DEPTH or isinstance(expr, f.Fn):
            return []
        found: list[Flow] = []
        for flow in self.resolver.ask(expr, frame)[:_MOST_TEXTS]:
            if isinstance(flow.thing, Text):
                found.append(flow)
            elif isinstance(flow.thing, Obj):
                found += (x._replace(hops=x.hops + flow.hops) for x in self._texts_of(flow.thing, depth + 1))
            elif isinstance(flow.thing, Env):
                found += self._given(flow.thing.name, frame, flow)
        if isinstance(expr, f.Fmt | f.Bin) and not any(self._published(flow) for flow in found):
            # What stands at the front decides, though what it is put together with is not known.
            head = expr.left if isinstance(expr, f.Bin) else next(iter(expr.parts), None)
            found += self._texts(head, frame, depth + 1) if isinstance(head, f.Node) else []
        return found[:_MOST_TEXTS]

    def _given(self, name: str, frame: Frame, flow: Flow) -> Iterator[Flow]:
        """What deployments put into a variable."""
        for written in self.program.surfaces.environment(name, frame.fn.module.path)[:_MOST_TEXTS]:
            setting = written.setting
            hop = Hop(written.path, min(setting.at, setting.key_at), max(setting.end, setting.key_end), f"{name} is set here")
            yield flow._replace(thing=Text(written.text), hops=(hop, *flow.hops))

    def _texts_of(self, obj: Obj, depth: int) -> list[Flow]:
        found: list[Flow] = []
        current: Obj | None = obj
        for _ in range(6):
            if current is None or depth > _DEPTH or len(found) > _MOST_TEXTS:
                break
            if current.frame is not None and isinstance(current.node, f.Call):
                binds = current.binds if current.binds is not None else self.resolver.binds(current.node, current.frame)
                for bind in binds:
                    found += self._texts(bind.expr, bind.frame, depth + 1)
            current = current.parent
        return found

    def _published(self, flow: Flow) -> Published | None:
        """The service whose public host a text begins with."""
        assert isinstance(flow.thing, Text)
        known = ""
        for piece in flow.thing.pieces:
            if piece is None:
                break
            known += piece
        match = _HOST.match(known)
        return self.hosts.get((match[1] or match[2] or "").lower()) if match is not None else None

    def _place(self, flow: Flow, published: Published, fn: Fun, node: f.Node) -> tuple[Span, str]:
        """Where the host is written."""
        for hop in flow.hops:
            text = self.program.cut(hop.path, hop.at, hop.end).decode("utf-8", "replace")
            if published.host in text.lower():
                return self.program.span(hop.path, hop.at, hop.end), published.host
        return self.program.span_of(fn, node), published.host

    def _in_annotations(self) -> Iterator[Fault]:
        """Clients that an annotation describes, with their address: `@FeignClient(url = "…")`."""
        names: dict[str, set[str]] = {}
        for library in self.program.knowledge.libraries:
            if library.language in CODE:
                for kind in library.types:
                    if kind.role in ("client", "stub"):
                        names.setdefault(library.language, set()).update(a.rpartition(".")[2] for a in kind.annotations)
        for klass in self.program.names.all_classes():
            wanted = names.get(klass.module.language)
            if not wanted or klass.module.is_test or klass.module.path not in self._spoken:
                continue
            for decorator in klass.decl.decorators:
                if isinstance(decorator, f.Call) and last_name(decorator.fn) in wanted:
                    yield from self._in_annotation(klass, decorator)

    def _in_annotation(self, klass: Klass, decorator: f.Call) -> Iterator[Fault]:
        for node in walk(decorator):
            if isinstance(node, f.Lit) and isinstance(node.value, str):
                match = _HOST.match(node.value)
                published = self.hosts.get((match[1] or match[2] or "").lower()) if match is not None else None
                if published is not None and not self._is_own(klass.module.path, published):
                    span = self.program.span(klass.module.path, node.at, node.end)
                    yield self._fault(span, published, published.host, (), Confidence.HIGH)

    # ------------------------------------------------------------ settings

    def _in_settings(self) -> Iterator[Fault]:
        nature = [row for row in self.rows if not row.targets and not row.named]
        called: set[tuple[str, int]] = set()
        for row, path, settings in self._documents(nature):
            if path in self._spoken:
                called |= {(path, s.at) for key in row.hosts for s in _found(key, settings, settings)}
        for path in self._spoken:
            facts = self.program.files[path]
            if KINDS[facts.kind].code or self.program.settings.is_test(path):
                continue
            owners: dict[int, set[str]] = defaultdict(set)
            kinds: set[int] = set()
            for setting in facts.settings:
                if setting.path == ("metadata", "name"):
                    owners[setting.doc].add(setting.text)
                elif setting.path == ("kind",):
                    kinds.add(setting.doc)
            for index, setting in enumerate(facts.settings):
                if setting.doc in kinds and (path, setting.at) not in called and not _is_given(setting.path):
                    continue
                fault = self._setting(path, facts, index, setting, owners[setting.doc], called)
                if fault is not None:
                    yield fault

    def _setting(
        self, path: str, facts: f.FileFacts, index: int, setting: f.Setting, owners: set[str], called: set[tuple[str, int]]
    ) -> Fault | None:
        name, text = setting.path[-1], setting.text
        if setting.kind != "str" or len(text) > 2000:
            return None
        if name.isdigit() and "=" in text:
            name, _, text = text.partition("=")
        elif name == "value" and index and facts.settings[index - 1].path[:-1] == setting.path[:-1]:
            name = next(
                (s.text for s in facts.settings[max(0, index - 3) : index + 3] if s.path == (*setting.path[:-1], "name")), ""
            )
        match = _HOST.match(text.strip().strip("\"'"))
        published = self.hosts.get((match[1] or match[2] or "").lower()) if match is not None else None
        if published is None:
            return None
        by_nature = (path, setting.at) in called
        if not by_nature and not self._is_address(name, setting.path):
            return None
        mine = owners | ({setting.path[1]} if setting.path[0] == "services" and len(setting.path) > 2 else set())
        if self._is_own(path, published, mine) or (setting.path[0] == "services" and setting.path[1:2] == (published.service,)):
            return None
        span = self.program.span(path, min(setting.key_at, setting.at), max(setting.end, setting.key_end))
        sure = Confidence.HIGH if by_nature else Confidence.MEDIUM if self._is_read(name, setting, path) else Confidence.LOW
        return self._fault(span, published, published.host, (), sure)

    def _is_address(self, name: str, path: Path) -> bool:
        """Whether a key is called like an address that a program calls, and not like one that it shows to others."""
        said = set(words(name)) or set(words(path[-1]))
        around = said | {word for step in path[-3:-1] if not step.isdigit() for word in words(step)}
        known = self.program.lists.words
        return bool(said & known.of("address")) and not around & known.of("shown") and not said & known.of("browser")

    def _is_read(self, name: str, setting: f.Setting, own: str) -> bool:
        """Whether code, or a placeholder of other settings, reads a key."""
        full = ".".join(setting.path)
        wanted = any_of(*(word.encode() for word in sorted({name, full}) if len(word) > 3))
        return any(
            self.program.says(path, wanted)
            for path, facts in self.program.files.items()
            if path != own and (KINDS[facts.kind].code or facts.kind in ("properties", "yaml", "dockerfile"))
        )

    # ------------------------------------------------------------ who calls

    def _is_own(self, path: str, published: Published, named: Iterable[str] = ()) -> bool:
        """Whether a file belongs to the service that the host is of, or to what nobody can tell from it."""
        mine = self.program.settings.service_of(path)
        if mine is not None:
            return mine.name == published.service
        wanted = _own_words(published.service)
        folders = [part for part in path.split("/")[:-1] if part not in _NO_CALLER]
        names = {*named, *folders, project_of(path).rpartition("/")[2]}
        if any(_own_words(name) == wanted for name in names if name):
            return True
        # A repository of one service, which calls itself.
        return not published.declared and len(self._deployed) <= 1

    def _fault(self, span: Span, published: Published, host: str, steps: tuple[Step, ...], sure: Confidence) -> Fault:
        said = f"{published.service} is called by its public host {host}: the call leaves by the edge and comes back through it"
        return Fault(span, said, Value(None, min(sure, published.sure), (*steps, published.step)))


def _is_given(path: Path) -> bool:
    """Whether a key of a manifest is one that its program is given, and not the orchestrator."""
    return path[0] in ("data", "stringData") or path[-3:-2] == ("env",)


def _found(key: str, inside: list[tuple[Path, f.Setting]], document: list[tuple[Path, f.Setting]]) -> Iterator[f.Setting]:
    wanted = tuple(key.lstrip(".").split("."))
    for have, setting in document if key.startswith(".") else inside:
        if setting.kind not in ("map", "list") and matches_path(wanted, have):
            yield setting


def _needs(row: PublicRow) -> frozenset[str]:
    """The plain keys without which a document has nothing for a row."""
    keys = row.block.split(".") if row.block else []
    if len(row.hosts) == 1:
        keys += row.hosts[0].lstrip(".").split(".")
    return frozenset(plain(step) for step in keys if step and not step.endswith("*"))


def _hosts_in(text: str, pattern: str | None) -> Iterator[str]:
    found = re.findall(pattern, text[:2000]) if pattern is not None else text[:2000].split()
    for host in found:
        if _NAME.match(host) and "{{" not in host and not host.startswith("*"):
            yield host.lower()


def _inner(text: str) -> str:
    """The service that a target means: `http://account-upstream/` is account-upstream, `account.shop.svc` is account."""
    match = _HOST.match(text)
    host = (match[1] or match[2]) if match is not None else text
    return host.partition(".")[0].lower() if "{{" not in host and "$" not in host else ""


def _own_words(name: str) -> frozenset[str]:
    return frozenset(words(name)) - _NO_CALLER
