"""Routes that settings describe: which calls a mesh, a proxy or a client's own config repeats, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.marks import Path, counts, keys_of, matches_path, plain, prefixes
from resilint.flow.surfaces import split
from resilint.knowledge.schema import RouteRow
from resilint.model import Confidence, Span

if TYPE_CHECKING:
    from resilint.program import Program

_MOST = 2000
"""Settings of a document that are looked at; longer ones are generated."""


@dataclass(frozen=True)
class Route:
    """One route, with how often a call through it is tried at most."""

    what: str
    side: str
    path: str
    hosts: tuple[str, ...]
    services: tuple[str, ...]
    upstreams: tuple[str, ...]
    """Hosts that it calls in turn."""
    methods: tuple[str, ...]
    """In small letters; empty: all."""
    tries: int
    span: Span
    """The number of tries, else the route."""
    default: bool
    """Nobody wrote the number."""
    connect: bool
    """It repeats only what never reached the peer."""
    rpc: bool
    """Besides that only what an RPC answers."""
    throttled: bool
    confidence: Confidence

    def leads_to(self, name: str) -> bool:
        """Whether a service of this name is behind it."""
        return any(_same_host(name, host) for host in (*self.upstreams, *(() if self.upstreams else self.hosts)))


class Routes:
    """The routes of a program's settings."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.all: tuple[Route, ...] = tuple(self._find())

    def of_host(self, host: str) -> Iterator[Route]:
        """The proxies' routes to a host that a call names."""
        for route in self.all:
            if route.side == "proxy" and any(_same_host(host, known) for known in route.hosts):
                yield route

    def of_service(self, service: str) -> Iterator[Route]:
        """The proxies' routes to an RPC service by its full name."""
        for route in self.all:
            if route.side == "proxy" and service in route.services:
                yield route

    def _find(self) -> Iterator[Route]:
        program = self.program
        rows = [(row, library) for library in program.knowledge.libraries for row in library.routes]
        last = {id(row): frozenset(plain(part) for part in split(row.attempts)[:1]) for row, _ in rows}
        for path in sorted(program.files):
            facts = program.files[path]
            if not facts.settings or program.settings.is_test(path):
                continue
            wanted = [(row, library) for row, library in rows if not row.formats or facts.kind in row.formats]
            if not wanted:
                continue
            documents: dict[int, list[f.Setting]] = {}
            for setting in facts.settings:
                documents.setdefault(setting.doc, []).append(setting)
            for document in documents.values():
                if len(document) > _MOST:
                    continue
                keys = keys_of(document)
                for row, library in wanted:
                    block = {plain(part) for part in split(row.block) if part not in ("*", "**")}
                    if not block <= keys or not (last[id(row)] <= keys or row.default is not None):
                        continue
                    if all(_has(document, mark.key, mark) for mark in row.document):
                        sure = Confidence.LOW if library.verified is False else Confidence.HIGH
                        yield from self._of_document(row, path, document, sure)

    def _of_document(self, row: RouteRow, path: str, document: list[f.Setting], sure: Confidence) -> Iterator[Route]:
        pattern = split(row.block)
        blocks: dict[Path, list[tuple[Path, f.Setting]]] = {}
        for setting in document:
            for size in prefixes(pattern, setting.path)[:1]:
                blocks.setdefault(setting.path[:size], []).append((setting.path[size:], setting))
        throttled = any(_has(document, key[1:]) for key in row.throttle if key.startswith("."))
        for block, inside in blocks.items():
            if row.requires is not None and not _below(inside, row.requires):
                continue
            written = next(iter(_below(inside, row.attempts)), None)
            tries = row.default
            if written is not None:
                try:
                    tries = int(float(written.text)) + row.counts_retries
                except (ValueError, OverflowError):
                    continue
            if tries is None:
                continue
            start = inside[0][1]
            span = self.program.span(path, (written or start).key_at, max((written or start).end, (written or start).key_end))
            on = [
                word.strip().lower() for s in (_below(inside, row.on) if row.on is not None else ()) for word in s.text.split(",")
            ] or list(row.on_default)
            yield Route(
                what=row.what,
                side=row.side,
                path=path,
                hosts=tuple(dict.fromkeys(t for key in row.hosts for t in _values(key, block, inside, document))),
                services=tuple(
                    dict.fromkeys(_service(t) for key in row.services for t in _values(key, block, inside, document) if _service(t))
                ),
                upstreams=tuple(dict.fromkeys(_host(t) for key in row.upstreams for t in _values(key, block, inside, document))),
                methods=tuple(
                    word.strip().lower()
                    for key in row.methods_in
                    for t in _values(key, block, inside, document)
                    for word in t.split(",")
                )
                or row.methods,
                tries=min(tries, row.most) if row.most is not None else tries,
                span=span,
                default=written is None,
                connect=bool(on) and all(any(fnmatchcase(word, one) for one in row.connect) for word in on),
                rpc=bool(on) and all(word in row.rpc or any(fnmatchcase(word, one) for one in row.connect) for word in on),
                throttled=throttled or any(_below(inside, key) for key in row.throttle if not key.startswith(".")),
                confidence=min(sure, Confidence.MEDIUM) if written is None else sure,
            )


def _has(document: list[f.Setting], key: str, mark: object = None) -> bool:
    from resilint.knowledge.schema import SettingMark

    pattern = split(key)
    return any(
        matches_path(pattern, setting.path) and (not isinstance(mark, SettingMark) or counts(mark, setting)) for setting in document
    )


def _below(inside: list[tuple[Path, f.Setting]], key: str) -> list[f.Setting]:
    pattern = split(key)
    return [setting for path, setting in inside if setting.kind not in ("map", "list") and matches_path(pattern, path)]


def _values(key: str, block: Path, inside: list[tuple[Path, f.Setting]], document: list[f.Setting]) -> list[str]:
    if key.startswith("."):
        pattern = split(key[1:])
        return [s.text for s in document if s.kind not in ("map", "list") and matches_path(pattern, s.path)]
    up = len(key) - len(key.lstrip("^"))
    if up:
        start, pattern = block[:-up], split(key[up:])
        return [s.text for s in document if s.path[: len(start)] == start and matches_path(pattern, s.path[len(start) :])]
    return [setting.text for setting in _below(inside, key)]


def _host(text: str) -> str:
    """The host of an address: `http://orders:8080/x` is orders."""
    return text.rpartition("://")[2].partition("/")[0].partition(":")[0]


def _service(text: str) -> str:
    """The RPC service at the start of a path: `/acme.reports.v1.Reports/Get`; empty for other paths."""
    name = text.strip("/").partition("/")[0]
    return name if "." in name and " " not in name else ""


def _same_host(called: str, known: str) -> bool:
    """Whether a name that is called is one of a route: in full, or both are names of one service in a cluster."""
    called, known = called.lower().rstrip("."), known.lower().partition(":")[0]
    if called == known:
        return True
    if "*" in known or "*" in called:
        return False
    first, _, rest = called.partition(".")
    other, _, more = known.partition(".")
    return first == other and (not rest or ".svc" in f".{rest}" or rest.count(".") == 0) and (not more or ".svc" in f".{more}")
