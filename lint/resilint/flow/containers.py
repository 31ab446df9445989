"""Containers and processes as manifests describe them: what memory they may use, which variables and words they are given."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import basename, dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.marks import plain, prefixes
from resilint.knowledge.schema import ContainerRow
from resilint.model import Span

if TYPE_CHECKING:
    from resilint.program import Program

Path = tuple[str, ...]

HOLE = "\0"
"""Stands in a text for a part that is not known."""
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([A-Za-z]{0,3})\Z")
_VARIABLE = re.compile(r"[$](?:\{(\w+)(?::?[-=?+]([^{}]*))?\}|\((\w+)\)|(\w+))")
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|[$]\{\{.*?\}\}|[$]\{[^{}]*\}", re.DOTALL)
_ASSIGNMENT = re.compile(r"\"(\w+)=((?:[^\"\\]|\\.)*)\"|'(\w+)=([^']*)'|(\w+)=(?:\"([^\"]*)\"|(\S*))")
_MOST_TEXT = 8000
_MOST_HOPS = 4


class Given(NamedTuple):
    """A value that a container is given, as it gets it, and where it is written."""

    text: str
    path: str
    setting: f.Setting


class _Entry(NamedTuple):
    plain: Path
    written: Path
    setting: f.Setting


@dataclass(eq=False)
class Container:
    """One container or process. `None` among its variables: given by something that is not looked at."""

    path: str
    where: Path
    doc: int
    row: ContainerRow
    limit: Given | None = None
    most: float | None = None
    """Bytes it may use; `None`: not limited here, or not known."""
    variables: dict[str, Given | None] = field(default_factory=dict)
    inherits: bool = False
    """It gets variables that are not looked at: a config map, a file that is missing."""
    command: list[Given] = field(default_factory=list)
    args: list[Given] = field(default_factory=list)
    image: str = ""
    build: str | None = None
    """The folder its image is built in."""
    inside: list[tuple[Path, f.Setting]] = field(default_factory=list)
    """What stands in its block, by the path below it."""

    @property
    def words(self) -> list[Given]:
        """Its command and arguments."""
        return [*self.command, *self.args]


class Containers:
    """Finds the containers of a program's settings."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.rows = tuple(row for library in program.knowledge.libraries for row in library.containers)
        self._marks = _marks(self.rows)
        runtimes = [row for library in program.knowledge.libraries for row in library.runtimes]
        self._told = {name for row in runtimes for name in (row.target, row.collector) if name}

    @cached_property
    def all(self) -> tuple[Container, ...]:
        """Every container with a limit of memory, or with a variable about it, in order of path and place."""
        return tuple(self._find())

    def span(self, given: Given) -> Span:
        """Where a value is written."""
        return self.program.span(given.path, given.setting.at, given.setting.end)

    # ------------------------------------------------------------ finding

    def _find(self) -> Iterator[Container]:
        kinds = {kind for row in self.rows for kind in row.formats}
        for path, facts in sorted(self.program.files.items()):
            if facts.kind not in kinds or self.program.settings.is_test(path):
                continue
            places: dict[tuple[int, Path], ContainerRow] = {}
            for setting in facts.settings:
                last = setting.path[-1]
                for row, key in self._marks.get(plain(last), ()):
                    where = setting.path[: -len(key)]
                    if facts.kind in row.formats and setting.kind not in ("map", "list") and _ends(setting.path, key):
                        self._note(row, where, setting.doc, places)
                if last in self._told or setting.text.partition("=")[0] in self._told:
                    for row in self.rows:
                        if facts.kind in row.formats:
                            for key in (tuple(name.split(".")) for name in row.environment):
                                for size in range(len(setting.path) - 1, len(key) - 1, -1):
                                    if _ends(setting.path[:size], key):
                                        self._note(row, setting.path[: size - len(key)], setting.doc, places)
            if not places:
                continue
            inside: dict[tuple[int, Path], list[tuple[Path, f.Setting]]] = {place: [] for place in places}
            for setting in facts.settings:
                for size in range(len(setting.path)):
                    found = inside.get((setting.doc, setting.path[:size]))
                    if found is not None:
                        found.append((setting.path[size:], setting))
            for (doc, where), row in sorted(places.items(), key=lambda item: item[0]):
                yield self._container(path, facts.kind, where, doc, row, inside[doc, where])

    def _note(self, row: ContainerRow, where: Path, doc: int, places: dict[tuple[int, Path], ContainerRow]) -> None:
        known = places.get((doc, where))
        if (known is None or (row.block and not known.block)) and (
            not row.block or len(where) in prefixes(tuple(row.block.split(".")), where)
        ):
            places[doc, where] = row

    def _container(
        self, path: str, kind: str, where: Path, doc: int, row: ContainerRow, inside: list[tuple[Path, f.Setting]]
    ) -> Container:
        found = Container(path, where, doc, row, inside=inside)
        entries = [_Entry(tuple(map(plain, have)), have, setting) for have, setting in inside]
        below = {entry.plain: entry.setting for entry in reversed(entries)}
        for name in row.memory:
            limit = below.get(_plain(name))
            if limit is not None and limit.kind not in ("map", "list", "null"):
                text = self._filled(limit.text, path, {})
                found.limit = Given(text, path, limit)
                found.most = size_of(text, row.sizes)
                break
        for name in row.files:
            self._files(found, _plain(name), entries)
        for name in row.environment:
            self._environment(found, _plain(name), entries, below, kind)
        for names, into in ((row.command, found.command), (row.args, found.args)):
            for name in names:
                into += self._words(found, _plain(name), below)
        found.image = next((below[_plain(n)].text for n in row.image if _plain(n) in below and below[_plain(n)].text), "")
        for name in row.build:
            if _plain(name) in below and below[_plain(name)].kind == "str":
                found.build = normpath(join(dirname(path), below[_plain(name)].text))
        self._expand(found)
        return found

    # ------------------------------------------------------------ variables

    def _files(self, found: Container, key: Path, entries: list[_Entry]) -> None:
        for have, _, setting in entries:
            if have[: len(key)] == key and setting.kind == "str" and have[-1] != "required":
                name = normpath(join(dirname(found.path), setting.text.lstrip("-")))
                facts = self.program.files.get(name)
                if facts is None:
                    found.inherits = True
                    continue
                found.variables.update({s.path[0]: Given(s.text, name, s) for s in facts.settings if len(s.path) == 1})

    def _environment(self, found: Container, key: Path, entries: list[_Entry], below: dict[Path, f.Setting], kind: str) -> None:
        size = len(key)
        for have, written, setting in entries:
            if have[:size] != key:
                continue
            rest = written[size:]
            if not rest and setting.kind == "str":
                if kind == "ini":
                    for match in _ASSIGNMENT.finditer(setting.text[:_MOST_TEXT]):
                        name = match[1] or match[3] or match[5]
                        value = next((match[g] for g in (2, 4, 6, 7) if match[g] is not None), "")
                        found.variables[name] = Given(value, found.path, setting)
                else:
                    found.inherits = True  # a template fills it
            elif len(rest) == 1 and rest[0].isdigit():
                name, equals, value = setting.text.partition("=")
                if setting.kind == "str" and equals:
                    found.variables[name] = Given(value, found.path, setting)
            elif len(rest) == 1 and setting.kind not in ("map", "list"):
                if "{{" in rest[0]:
                    found.inherits = True
                found.variables[rest[0]] = Given(setting.text, found.path, setting)
            elif len(rest) == 2 and plain(rest[1]) == "name" and rest[0].isdigit():
                value = below.get((*have[:-1], "value"))
                found.variables[setting.text] = Given(value.text, found.path, value) if value is not None else None
                if value is None:
                    source = below.get((*have[:-1], "valuefrom", "resourcefieldref", "resource"))
                    if source is not None and source.text == "limits.memory" and found.limit is not None:
                        # The limit itself, in bytes unless a divisor says otherwise.
                        found.variables[setting.text] = Given(HOLE + "limit", found.path, source)
        if ("envfrom", "0") in below:
            found.inherits = True

    def _words(self, found: Container, key: Path, below: dict[Path, f.Setting]) -> list[Given]:
        own = below.get(key)
        if own is None:
            return []
        if own.kind == "str":
            return [Given(own.text, found.path, own)]
        items = [(have, s) for have, s in below.items() if have[:-1] == key and have[-1].isdigit() and s.kind != "map"]
        return [Given(s.text, found.path, s) for _, s in sorted(items, key=lambda item: int(item[0][-1]))]

    # ------------------------------------------------------------ placeholders

    def _expand(self, found: Container) -> None:
        """Puts in what variables of the container itself, of a file beside it, or defaults say."""
        known = dict(found.variables)
        for name, given in known.items():
            if given is not None and not given.text.startswith(HOLE):
                found.variables[name] = given._replace(text=self._filled(given.text, given.path, {**known, name: None}))
        for words in (found.command, found.args):
            words[:] = [w._replace(text=self._filled(w.text, w.path, dict(found.variables))) for w in words]

    def _filled(self, text: str, path: str, variables: dict[str, Given | None], hops: int = 0) -> str:
        if "$" not in text and "{{" not in text and "{%" not in text:
            return text
        if hops > _MOST_HOPS:
            return HOLE
        beside = self._beside(path)

        def value(match: re.Match[str]) -> str:
            name, default = match[1] or match[3] or match[4], match[2]
            given = variables.get(name)
            if given is not None and not given.text.startswith(HOLE):
                return self._filled(given.text, given.path, {**variables, name: None}, hops + 1)
            if name in beside and name not in variables:
                return beside[name]
            return default if default is not None else HOLE

        return _TEMPLATE.sub(HOLE, _VARIABLE.sub(value, text[:_MOST_TEXT].replace("$$", "$")))[:_MOST_TEXT]

    def _beside(self, path: str) -> dict[str, str]:
        """What the file of variables says that compose reads by itself."""
        facts = self.program.files.get(join(dirname(path), ".env"))
        if facts is None:
            return {}
        return {s.path[0]: s.text for s in facts.settings if len(s.path) == 1 and "$" not in s.text}

    # ------------------------------------------------------------ images

    @cached_property
    def images(self) -> dict[str, dict[Path, f.Setting]]:
        """The settings of the last stage of every Dockerfile."""
        found = {}
        for path, facts in sorted(self.program.files.items()):
            if facts.kind == "dockerfile" and facts.settings and not self.program.settings.is_test(path):
                last = max(s.doc for s in facts.settings)
                found[path] = {s.path: s for s in facts.settings if s.doc == last}
        return found

    def scriptless(self, container: Container, builders: tuple[str, ...]) -> bool:
        """Whether an image is made by a build plugin that puts no start script into it."""
        noun = noun_of(container.image)
        return any(plugin in builders and noun in names for plugin, names in self._plugins)

    @cached_property
    def _plugins(self) -> tuple[tuple[str, frozenset[str]], ...]:
        """Plugins of build files that are not told another entry point, each with the names that what they build may have."""
        found = []
        for path, facts in sorted(self.program.files.items()):
            if facts.kind != "xml" or any(s.path[-1] == "entrypoint" for s in facts.settings):
                continue
            own = [s.text.lower() for s in facts.settings if s.path == ("project", "artifactId")]
            if own:
                names = frozenset((*own, basename(dirname(path)).lower()))
                found += [(s.text, names) for s in facts.settings if s.path[-2:] == ("plugin", "artifactId")]
        return tuple(found)

    def image_of(self, container: Container) -> str | None:
        """The Dockerfile that a container's image is built from: in its folder, by its name, or the only one for the only image."""
        if not self.images:
            return None
        if container.build is not None:
            beside = [path for path in self.images if dirname(path) == container.build.removeprefix("./").strip(".")]
            return beside[0] if len(beside) == 1 else next((p for p in beside if basename(p) == "Dockerfile"), None)
        noun = noun_of(container.image)
        named = [path for path in self.images if noun and basename(dirname(path)).lower() == noun]
        if named:
            return named[0] if len(named) == 1 else None
        built = [c for c in self.all if c.image]
        if len(self.images) == 1 and len({noun_of(c.image) for c in built}) == 1 and container.image:
            return next(iter(self.images))
        return None


def size_of(text: str, sizes: dict[str, float]) -> float | None:
    """Bytes of a size with a suffix; `None` where it is none that is known."""
    match = _SIZE.match(text.strip())
    if match is None:
        return None
    scale = sizes.get(match[2])
    if scale is None:
        small = {suffix.lower(): size for suffix, size in sizes.items() if suffix == suffix.lower()}
        # Where capitals mean something, as in 1m and 1M, only what is written counts.
        scale = small.get(match[2].lower()) if len(small) == len(sizes) else None
    return float(match[1]) * scale if scale is not None else None


def noun_of(image: str) -> str:
    """`registry.example.com/shop/orders-api:1.2` is orders-api."""
    return image.rstrip("/").rpartition("/")[2].partition(":")[0].partition("@")[0].lower()


def _plain(key: str) -> Path:
    return tuple(map(plain, key.split(".")))


def _ends(path: Path, key: Path) -> bool:
    return len(path) >= len(key) and all(plain(a) == plain(b) for a, b in zip(path[-len(key) :], key, strict=True))


def _marks(rows: tuple[ContainerRow, ...]) -> dict[str, list[tuple[ContainerRow, Path]]]:
    found: dict[str, list[tuple[ContainerRow, Path]]] = defaultdict(list)
    for row in rows:
        for name in row.memory:
            key = tuple(name.split("."))
            found[plain(key[-1])].append((row, key))
    return found
