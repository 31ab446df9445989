"""Settings of files as the frameworks that read them see them: keys however they are spelled, profiles, placeholders resolved."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.slots import counted_in_seconds, duration_in
from resilint.flow.values import SECONDS
from resilint.kinds import KINDS
from resilint.knowledge.schema import Bound, Library, Part, SurfaceRow, TypeEntry, Unit
from resilint.link.code import Module
from resilint.link.looks import any_of
from resilint.link.versions import says_versions
from resilint.model import Span, Step

if TYPE_CHECKING:
    from resilint.program import Program

_HOLE = re.compile(r"[$]\{([^{}]*)\}")
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?\Z")
_SEPARATORS = re.compile(r"[-_]")
_LONGEST = 4000
"""Characters of a value in which placeholders are looked for."""
_MOST_VALUES = 8
_MOST_HOPS = 6
HOLE = "\0"
"""Stands in a value for a part that is not known."""

Key = tuple[str, ...]


@lru_cache(maxsize=4096)
def relaxed(segment: str) -> str:
    """A segment of a key without what relaxed spelling ignores."""
    return _SEPARATORS.sub("", segment).lower()


@dataclass(frozen=True, eq=False)
class Written:
    """One key with its value, in a file that some framework reads."""

    path: str
    key: Key
    """Its segments as written, without list indices' own meaning."""
    text: str
    setting: f.Setting
    surface: SurfaceRow | None
    """`None`: a key of the user's own."""
    profile: str = ""
    spelled: str = ""
    """The key as one text, as it stands in the file."""

    @cached_property
    def normal(self) -> Key:
        """The segments by which it is compared."""
        return normal_key(self.key, self.surface)

    @property
    def last(self) -> str:
        """Its last segment."""
        return self.key[-1]


def normal_key(key: Key, surface: SurfaceRow | None) -> Key:
    """A key as its surface compares it; keys of nobody are compared relaxed."""
    return key if surface is not None and not surface.relaxed else tuple(map(relaxed, key))


class Text(NamedTuple):
    """One value a setting may have once its placeholders are resolved: `HOLE` for each part that is not known."""

    known: str
    steps: tuple[Step, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether all of it is known."""
        return HOLE not in self.known


@dataclass(frozen=True, eq=False)
class Placed:
    """A written key that a row of knowledge speaks of."""

    written: Written
    row: Bound
    entry: TypeEntry
    library: Library


@dataclass(eq=False)
class Block:
    """An element with its attributes, or a map of settings with its scalars: what a server or service is written as."""

    path: str
    key: Key
    """Of its surface: `("dubbo", "protocol")`."""
    name: str
    """The name of the instance, where the key ends in one."""
    at: int
    end: int
    attributes: dict[str, Written] = field(default_factory=dict)
    """By relaxed name."""
    parent: Block | None = None
    profile: str = ""

    def first(self, names: Iterable[str]) -> Written | None:
        """The first of these attributes that is written."""
        return next((self.attributes[relaxed(n)] for n in names if relaxed(n) in self.attributes), None)


class Command(NamedTuple):
    """A command line: where it stands, behind the name of its program, and what it gives which key (range and value)."""

    path: str
    at: int
    end: int
    text: str
    given: dict[str, tuple[int, int, str]]
    variable: bool = False
    """A variable with options for whatever command of the program runs beside it."""


@dataclass(eq=False)
class Bean:
    """An object that Spring's XML makes: its class and the properties it is given."""

    path: str
    kind: str
    """Canonical class as written."""
    name: str
    at: int
    end: int
    properties: dict[str, Written]
    inherits: bool
    """It takes properties from a parent that is not looked at."""
    refers: frozenset[str] = frozenset()
    """Names of the beans it is given."""


class Surfaces:
    """The settings of a program's files."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._rows: dict[str, list[tuple[Key, Bound, TypeEntry, Library]]] = {}
        self._parts: list[tuple[Key, Part, TypeEntry, Library, str]] = []
        libraries = program.knowledge.libraries
        self.surfaces: list[SurfaceRow] = [row for library in libraries for row in library.surfaces]
        for library in libraries:
            for entry in library.types:
                for row in entry.bounds:
                    if row.setting is not None:
                        key = split(row.setting)
                        self._rows.setdefault(relaxed(key[-1]), []).append((key, row, entry, library))
                for role, parts in (("url", entry.url), ("keys", entry.driver_keys)):
                    for part in parts:
                        if part.setting is not None:
                            self._parts.append((split(part.setting), part, entry, library, role))

    # ------------------------------------------------------------ what is written

    @cached_property
    def written(self) -> tuple[Written, ...]:
        """Every scalar of every settings file that a framework reads, in order of path and place; files of tests are left out."""
        return self.program.settled("settings", self._find_written)

    def _find_written(self) -> tuple[Written, ...]:
        found: list[Written] = []
        wanted = self.program.settings.profile
        for path in sorted(self.program.files):
            facts = self.program.files[path]
            if self.program.settings.is_test(path):
                continue
            rows = self._surfaces_of(path)
            if not rows or KINDS[facts.kind].code or KINDS[facts.kind].blocks:
                continue
            profiles = _profiles(facts)
            for setting in facts.settings:
                profile = profiles.get(setting.doc) or _profile_of_name(path)
                if setting.kind in ("map", "list", "null") or (wanted is not None and profile and wanted not in profile.split(",")):
                    continue
                found.append(self._written(path, setting, rows, profile))
        return tuple(found)

    def _written(self, path: str, setting: f.Setting, rows: list[SurfaceRow], profile: str) -> Written:
        spelled = ".".join(setting.path)
        own = tuple(part for part in spelled.split(".") if part)
        row = next((r for r in rows if not r.roots or (own[:1] and own[0].lower() in r.roots)), None)
        key = (*split(row.prefix), *own) if row is not None and row.prefix else own
        return Written(path, key or ("",), setting.text, setting, row, profile, spelled)

    def is_read(self, path: str) -> bool:
        """Whether a framework reads a file as its settings."""
        return bool(self._surfaces_of(path))

    def _surfaces_of(self, path: str) -> list[SurfaceRow]:
        name = path.rpartition("/")[2]
        return [
            row
            for row in self.surfaces
            if any(
                fnmatchcase(path if "/" in pattern else name, "*" + pattern if "/" in pattern else pattern) for pattern in row.files
            )
        ]

    def span(self, written: Written) -> Span:
        """Key and value of a setting on its line."""
        setting = written.setting
        start, end = sorted((setting.key_at, setting.at))[0], max(setting.end, setting.key_end)
        return self.program.span(written.path, start, end)

    def step(self, written: Written, text: str) -> Step:
        """A setting as a hop of a trace."""
        return Step(self.span(written), text)

    # ------------------------------------------------------------ what knowledge says of it

    @cached_property
    def placed(self) -> tuple[Placed, ...]:
        """Every written key that a row of knowledge names, with that row; a key may have several."""
        return self.program.settled("placed settings", self._find_placed)

    def _find_placed(self) -> tuple[Placed, ...]:
        found = [Placed(w, *row) for w in self.written for row in self.rows_of(w)]
        return tuple(found)

    def rows_of(self, written: Written) -> Iterator[tuple[Bound, TypeEntry, Library]]:
        """The rows that name a key."""
        if written.surface is None:
            return
        seen: set[tuple[str, str]] = set()
        for key, row, entry, library in self._rows.get(relaxed(written.last), ()):
            if matches(normal_key(key, written.surface), written.normal) and (row.slot, str(row.setting)) not in seen:
                seen.add((row.slot, str(row.setting)))
                yield row, entry, library

    def keys_of_rows(self) -> Iterator[tuple[Key, Bound, TypeEntry, Library]]:
        """Every key that some row names."""
        for rows in self._rows.values():
            yield from rows

    def parts_of(self, written: Written, role: str) -> Iterator[tuple[TypeEntry, Library]]:
        """The types whose URL a key holds (`url`), or among whose driver's keys it stands (`keys`)."""
        if written.surface is None:
            return
        for key, _part, entry, library, of in self._parts:
            pattern = normal_key(key, written.surface)
            if of == role and (
                matches(pattern, written.normal) if role == "url" else matches(pattern, written.normal[: len(pattern)])
            ):
                yield entry, library

    # ------------------------------------------------------------ values

    def setting(self, name: str) -> list[Written]:
        """Every place that writes a key, by its dotted name, however it is spelled."""
        wanted = tuple(map(relaxed, split(name)))
        return [w for w in self._by_last.get(wanted[-1], ()) if tuple(map(relaxed, w.key)) == wanted]

    @cached_property
    def _by_last(self) -> dict[str, list[Written]]:
        return self.program.settled("settings by name", self._find_by_last)

    def _find_by_last(self) -> dict[str, list[Written]]:
        found: dict[str, list[Written]] = {}
        for written in self.written:
            found.setdefault(relaxed(written.last), []).append(written)
        return found

    def texts(self, written: Written) -> list[Text]:
        """What a setting may hold: placeholders are resolved by the environment of the deployment, other settings of the same
        project, and their defaults."""
        return self.resolved(written.text, written.path)

    def number(self, written: Written | None) -> float | None:
        """The number a setting holds, the largest where it may hold several; `None` where it is none, or not known."""
        numbers: list[float] = []
        for text in self.texts(written) if written is not None else ():
            try:
                numbers.append(float(text.known))
            except ValueError:
                return None
        return max(numbers, default=None)

    def resolved(self, text: str, path: str) -> list[Text]:
        """A value of a file with its placeholders resolved."""
        return self._resolved(text[:_LONGEST], path, 0)[:_MOST_VALUES]

    def _resolved(self, text: str, path: str, hops: int) -> list[Text]:
        done: list[Text] = []
        pending = [Text(text)]
        for _ in range(_MOST_VALUES * _MOST_HOPS):
            if not pending:
                break
            one = pending.pop()
            match = _HOLE.search(one.known)
            if match is None:
                done.append(one)
                continue
            name, colon, default = match[1].partition(":")
            choices = self._placeholder(name.strip(), default if colon else None, path, hops)
            for choice in choices[:_MOST_VALUES]:
                known = one.known[: match.start()] + choice.known + one.known[match.end() :]
                pending.append(Text(known[:_LONGEST], (*one.steps, *choice.steps)))
        return list(dict.fromkeys(done)) or [Text(HOLE)]

    def _placeholder(self, name: str, default: str | None, path: str, hops: int) -> list[Text]:
        if hops >= _MOST_HOPS:
            return [Text(HOLE)]
        found: list[Text] = []
        for variable in self.environment(name, path):
            step = Step(self.span(variable), f"{name} is set here")
            found += [Text(t.known, (step, *t.steps)) for t in self._resolved(variable.text, variable.path, hops + 1)]
        if not found:
            for other in self.setting(name):
                if project_of(other.path) == project_of(path):
                    step = Step(self.span(other), f"{name} is set here")
                    found += [Text(t.known, (step, *t.steps)) for t in self._resolved(other.text, other.path, hops + 1)]
        if not found:
            for other in self._located.get(name, ()):
                if project_of(other.path) == project_of(path):
                    step = Step(self.span(other), f"{name} is set here")
                    found += [Text(t.known, (step, *t.steps)) for t in self._resolved(other.text, other.path, hops + 1)]
        if found:
            return found
        return [Text(HOLE)] if default is None else [Text(default)]

    @cached_property
    def _located(self) -> dict[str, list[Written]]:
        """Keys of the files of properties that beans of XML name as the place of their settings."""
        return self.program.settled("located settings", self._find_located)

    def _find_located(self) -> dict[str, list[Written]]:
        named: dict[str, set[str]] = {}
        for path, module in self.program.names.modules.items():
            for setting in self.program.files[path].settings if module.beans and not module.is_test else ():
                if ".properties" in setting.text:
                    places = (place.rpartition(":")[2].lstrip("/*") for place in re.split(r"[,;\s]+", setting.text[:_LONGEST]))
                    named.setdefault(project_of(path), set()).update(x for x in places if x and "$" not in x)
        found: dict[str, list[Written]] = {}
        for path in sorted(self.program.files) if named else ():
            facts = self.program.files[path]
            patterns = (
                named.get(project_of(path), ()) if facts.kind == "properties" and not self.program.settings.is_test(path) else ()
            )
            if any(fnmatchcase("/" + path, "*/" + pattern) for pattern in sorted(patterns)):
                for setting in facts.settings:
                    key = ".".join(setting.path)
                    found.setdefault(key, []).append(Written(path, split(key), setting.text, setting, None, "", key))
        return found

    # ------------------------------------------------------------ environments of deployments

    def environment(self, name: str, path: str) -> list[Written]:
        """The values that deployments give an environment variable of the service a file belongs to."""
        return [w for w, owner in self._variables.get(name, ()) if _serves(owner, w.path, path)]

    @cached_property
    def _variables(self) -> dict[str, list[tuple[Written, frozenset[str]]]]:
        return self.program.settled("variables", self._find_variables)

    def _find_variables(self) -> dict[str, list[tuple[Written, frozenset[str]]]]:
        found: dict[str, list[tuple[Written, frozenset[str]]]] = {}
        for path in sorted(self.program.files):
            facts = self.program.files[path]
            if facts.kind in ("yaml", "json") and not self.program.settings.is_test(path):
                for name, written, owner in _manifest_variables(path, facts):
                    found.setdefault(name, []).append((written, owner))
        return found

    # ------------------------------------------------------------ XML

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Elements of the namespaces that knowledge names, and maps of settings, with what is written in them."""
        return self.program.settled("blocks", self._find_blocks)

    def _find_blocks(self) -> tuple[Block, ...]:
        found: list[Block] = []
        for path in sorted(self.program.files):
            if self.program.settings.is_test(path):
                continue
            written_as = KINDS[self.program.files[path].kind].blocks
            if written_as == "elements":
                found += self._elements(path)
            elif written_as == "sections":
                found += self._sections(path)
        maps: dict[tuple[str, str, Key], Block] = {}
        for written in self.written:
            if written.surface is None or len(written.key) < 2:
                continue
            own = (written.path, written.profile, written.normal[:-1])
            block = maps.get(own)
            if block is None:
                span = (written.setting.key_at, max(written.setting.end, written.setting.key_end))
                block = maps[own] = Block(written.path, written.key[:-1], written.key[-2], *span, profile=written.profile)
                found.append(block)
            block.attributes[relaxed(written.last)] = written
        return tuple(found)

    def _sections(self, path: str) -> Iterator[Block]:
        """Sections of a proxy, each with what the section of defaults above it, or the one it names, says for it."""
        rows = self._surfaces_of(path)
        if not rows:
            return
        current: Block | None = None
        above: Block | None = None
        defaults: dict[str, Block] = {}
        for setting in self.program.files[path].settings:
            if len(setting.path) == 1:
                words = setting.path[0].partition("#")[0].split()
                key = (*split(rows[0].prefix), words[0])
                current = Block(path, key, words[1] if len(words) > 1 else "", setting.key_at, setting.key_end)
                named = defaults.get(words[words.index("from") + 1]) if "from" in words[:-1] else above
                if words[0] == "defaults":
                    current.attributes.update(named.attributes if named is not None and "from" in words else {})
                    above = defaults[current.name] = current
                elif words[0] in ("frontend", "backend", "listen"):
                    current.attributes.update(named.attributes if named is not None else {})
                yield current
            elif current is not None:
                name = setting.path[1].partition("#")[0]
                written = Written(path, (*current.key, name), setting.text, setting, rows[0], "", name)
                current.attributes[relaxed(name)] = written

    def _elements(self, path: str) -> Iterator[Block]:
        facts = self.program.files[path]
        prefixes: dict[str, str] = {}
        for setting in facts.settings:
            last = setting.path[-1]
            if last == "@xmlns" or last.startswith("@xmlns:"):
                prefixes.setdefault(last[7:], setting.text)
        open_blocks: dict[Key, Block] = {}
        for setting in facts.settings:
            last = setting.path[-1]
            if last.startswith("@"):
                block = open_blocks.get(setting.path[:-1])
                if block is not None:
                    key = (*block.key, last[1:])
                    written = Written(path, key, setting.text, setting, self._surface_of_elements(prefixes, setting), "", last[1:])
                    block.attributes[relaxed(last[1:])] = written
            elif setting.kind == "map":
                prefix, colon, local = last.partition("#")[0].rpartition(":")
                row = self._namespace(prefixes.get(prefix, ""), bool(colon))
                if row is not None:
                    parent = open_blocks.get(setting.path[:-1])
                    block = Block(path, (*split(row.prefix), local), "", setting.key_at - 1, setting.key_end, parent=parent)
                    open_blocks[setting.path] = block
                    yield block

    def _surface_of_elements(self, prefixes: dict[str, str], setting: f.Setting) -> SurfaceRow | None:
        prefix, colon, _ = setting.path[-2].partition("#")[0].rpartition(":")
        return self._namespace(prefixes.get(prefix, ""), bool(colon))

    def _namespace(self, uri: str, prefixed: bool) -> SurfaceRow | None:
        for row in self.surfaces:
            if uri and uri in row.namespaces:
                return row
        if not prefixed or uri.startswith(_KNOWN_NAMESPACES):
            return None
        return next((row for row in self.surfaces if "*" in row.namespaces), None)

    @cached_property
    def placed_in_elements(self) -> tuple[Placed, ...]:
        """Attributes of XML elements that rows of knowledge name."""
        return self.program.settled("placed elements", self._find_placed_in_elements)

    def _find_placed_in_elements(self) -> tuple[Placed, ...]:
        files = self.program.files
        written = [w for block in self.blocks if KINDS[files[block.path].kind].blocks for w in block.attributes.values()]
        return tuple(Placed(w, *row) for w in dict.fromkeys(written) for row in self.rows_of(w))

    @cached_property
    def beans(self) -> tuple[Bean, ...]:
        """The beans of Spring's XML files."""
        return self.program.settled("beans", self._find_beans)

    def _find_beans(self) -> tuple[Bean, ...]:
        found: list[Bean] = []
        for path in sorted(self.program.files):
            facts = self.program.files[path]
            if facts.kind == "xml" and not self.program.settings.is_test(path):
                found += _beans(path, facts)
        return tuple(found)

    # ------------------------------------------------------------ options of commands

    def options(self, row: SurfaceRow, names: Iterable[str]) -> Iterator[tuple[str, int, int, str, str]]:
        """Where a command of a surface is given one of these keys as an option, in files in focus: path, range, key and value."""
        known, seen = "", -1
        for path, source, at, end, option, spelled in self._commands(row, names, (path for path, _ in self.program.start_files())):
            known, seen = path, seen if path == known else -1
            for match in option.finditer(source, max(at, seen), end):
                seen = match.end()
                yield path, match.start(), match.end(), spelled[match[1].decode()], match[2].decode()

    def commands(self, row: SurfaceRow, names: Iterable[str]) -> Iterator[Command]:
        """Every place where a command of a surface stands, with those of these keys that it is given."""
        for path, source, at, end, option, spelled in self._commands(row, names):
            given = {
                spelled[match[1].decode()]: (match.start(), match.end(), match[2].decode())
                for match in option.finditer(source, at, end)
            }
            word = _LAST_WORD.search(source, max(at - _LONGEST_WORD, 0), at)
            variable = word is not None and word[0].decode() in row.variables
            yield Command(path, at, end, source[at:end].decode("utf-8", "replace"), given, variable)

    def _commands(
        self, row: SurfaceRow, names: Iterable[str], among: Iterable[str] | None = None
    ) -> Iterator[tuple[str, bytes, int, int, re.Pattern[bytes], dict[str, str]]]:
        words = [word.encode() for word in (*row.commands, *row.variables)]
        if not words:
            return
        spelled = {("-" if len(option) == 1 else "--") + option: key for option, key in row.options.items() if key in names}
        spelled |= {"--" + name.replace("_", "-"): name for name in names}
        start = re.compile(rb"(?<![\w./-])(?:[\w./-]*/)?(?:" + b"|".join(map(re.escape, words)) + rb")(?![\w./-])")
        # of no keys no option is one: an empty alternative would match before every word
        either = b"|".join(re.escape(o.encode()) for o in sorted(spelled)) or b"(?!)"
        option = re.compile(rb"(?<![\w-])(" + either + rb")(?:[=\s\"',]|\\\r?\n|- )+(-?[\w.]+)")
        for path in sorted(self.program.files) if among is None else among:
            facts = self.program.files[path]
            if not KINDS[facts.kind].commands or self.program.settings.is_test(path):
                continue
            if facts.kind == "text" and says_versions(path):
                continue
            if not self.program.says(path, any_of(*words)):
                continue
            source = _without_comments(self.program.source(path), facts.kind)
            for at, end in _command_lines(facts, source, start):
                yield path, source, at, end, option, spelled

    # ------------------------------------------------------------ Python files of settings

    def modules(self) -> Iterator[tuple[Module, SurfaceRow]]:
        """Python files whose top-level names are keys."""
        yield from self._modules

    @cached_property
    def _modules(self) -> tuple[tuple[Module, SurfaceRow], ...]:
        modules = self.program.names.modules

        def found() -> tuple[tuple[str, SurfaceRow], ...]:
            python = (m.path for m in modules.values() if m.language == "python" and m.path.endswith(".py") and not m.is_test)
            return tuple((path, row) for path in python for row in self._surfaces_of(path))

        # Names alone decide, and changed files keep theirs.
        return tuple((modules[path], row) for path, row in self.program.kept("files of settings", found, tuple) if path in modules)


# ---------------------------------------------------------------- values


class Judged(NamedTuple):
    """What a value means for a row: seconds or a count, or that it switches the bound off."""

    number: float | None
    off: bool = False
    mismatch: str = ""


def judge(row: Bound, text: str, bare: Unit = "ms") -> Judged:
    """What a text means in the slot of a row; `None` where it is neither a number nor a duration."""
    text = text.strip()
    number = float(text) if _NUMBER.match(text) and len(text) < 30 else None
    if any(_switches_off(value, text, number) for value in row.disabled):
        return Judged(None, off=True)
    if row.unit in ("count", "bool", "bytes"):
        return Judged(number)
    unit = bare if row.unit == "dur" else row.unit
    seconds = number * SECONDS.get(unit, 1.0) if number is not None else _iso(text) or duration_in(text, "dur")
    if seconds == 0 and any(value in (0, "zero") and not isinstance(value, bool) for value in row.disabled):
        return Judged(None, off=True)
    return Judged(seconds, mismatch=_implausible(row, seconds, text, unit if number is not None else ""))


def _switches_off(value: object, text: str, number: float | None) -> bool:
    """Whether a text is one of the values that switch a bound off."""
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if number is not None:
        if value in ("negative", "zero"):
            return number < 0 if value == "negative" else number == 0
        return isinstance(value, int | float) and float(value) == number
    return isinstance(value, str) and value not in ("negative", "zero") and value.lower() == text.lower()


def _implausible(row: Bound, seconds: float | None, text: str, unit: str) -> str:
    if row.plausible is None or seconds is None or seconds == 0:
        return ""
    scale = SECONDS.get(row.unit, 1.0)
    low, high = row.plausible[0] * scale, row.plausible[1] * scale
    if low <= seconds <= high or (seconds > high and row.unit == "s" and counted_in_seconds(seconds)):
        return ""
    return unit or "its unit"


def _iso(text: str) -> float | None:
    match = _ISO.match(text) if len(text) < 40 else None
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds


# ---------------------------------------------------------------- keys


def split(key: str) -> Key:
    """The segments of a dotted key."""
    return tuple(part for part in key.split(".") if part)


def matches(pattern: Key, key: Key) -> bool:
    """Whether a key is one that a pattern with `*` for a segment names."""
    return len(pattern) == len(key) and all(p == "*" or p == k for p, k in zip(pattern, key, strict=True))


def project_of(path: str) -> str:
    """The folder of the project that a file belongs to: what lies above its `src`, else above its `config` or `resources`."""
    folder = "/" + path.rpartition("/")[0] + "/"
    for mark in ("/src/", "/config/", "/conf/", "/resources/"):
        at = folder.find(mark)
        if at >= 0:
            return folder[1:at] if at else ""
    return folder.strip("/")


_OF_PROFILE = re.compile(
    r"-(dev|develop|development|local|test|it|qa|uat|stage|staging|pre|prod|production|live|online)$", re.IGNORECASE
)


def _profile_of_name(path: str) -> str:
    stem = path.rpartition("/")[2].rpartition(".")[0]
    head, dash, profile = stem.partition("-")
    if dash and head not in ("application", "bootstrap"):
        found = _OF_PROFILE.search(stem)
        return found[1] if found is not None else ""
    return profile if dash else ""


_ACTIVATING = (("spring", "config", "activate", "onprofile"), ("spring", "profiles"))


def _profiles(facts: f.FileFacts) -> dict[int, str]:
    """The profile that a document says it is for."""
    found: dict[int, str] = {}
    for setting in facts.settings:
        if setting.kind == "str" and setting.path[0].partition(".")[0] == "spring":
            key = tuple(map(relaxed, split(".".join(setting.path))))
            if key in _ACTIVATING:
                found[setting.doc] = setting.text
    return found


# ---------------------------------------------------------------- manifests


def _manifest_variables(path: str, facts: f.FileFacts) -> Iterator[tuple[str, Written, frozenset[str]]]:
    """Environment variables that Kubernetes manifests and compose files give: name, value, and names of who gets them."""
    by_doc: dict[int, list[f.Setting]] = {}
    for setting in facts.settings:
        by_doc.setdefault(setting.doc, []).append(setting)
    for settings in by_doc.values():
        texts = {setting.path: setting for setting in settings}
        for setting in settings:
            where = setting.path
            if (
                len(where) >= 4
                and where[-1] == "value"
                and where[-3] == "env"
                and where[-5:-4] in (("containers",), ("initContainers",))
            ):
                name = texts.get((*where[:-1], "name"))
                if name is not None and setting.kind not in ("map", "list"):
                    image, container = (texts.get((*where[:-3], key)) for key in ("image", "name"))
                    title = texts.get(("metadata", "name"))
                    owner = frozenset(_noun(x.text) for x in (image, container, title) if x is not None)
                    yield name.text, Written(path, (name.text,), setting.text, setting, None, "", name.text), owner
            elif len(where) == 4 and where[0] == "services" and where[2] == "environment" and setting.kind not in ("map", "list"):
                name_text, text = where[3], setting.text
                if where[3].isdigit():
                    name_text, equals, text = setting.text.partition("=")
                    if not equals:
                        continue
                owner = frozenset((_noun(where[1]),))
                build = texts.get(("services", where[1], "build")) or texts.get(("services", where[1], "build", "context"))
                if build is not None and build.text.strip("./"):
                    owner |= {_noun(build.text)}
                yield name_text, Written(path, (name_text,), text, setting, None, "", name_text), owner


def _noun(text: str) -> str:
    """`registry.example.com/shop/orders-api:1.2` is orders-api."""
    return text.rstrip("/").rpartition("/")[2].partition(":")[0].partition("@")[0].lower()


_NO_NAMES = frozenset(
    ("api", "app", "apps", "backend", "cmd", "code", "deploy", "internal", "java", "lib", "main", "pkg")
) | frozenset(("server", "service", "services", "source", "src", "svc", "web"))
"""Folders that say nothing of which service lies in them."""


def _serves(owner: frozenset[str], manifest: str, path: str) -> bool:
    """Whether a manifest deploys the code of a file: the service's folder is named for it, or holds it."""
    project = project_of(path)
    names = {part.lower() for part in project.split("/") if part} - _NO_NAMES
    if names & owner:
        return True
    folder = manifest.rpartition("/")[0]
    # One project with its manifests beside it.
    return not project or (folder == project or folder.startswith(project + "/"))


# ---------------------------------------------------------------- commands

_LONGEST_WORD = 80
_LAST_WORD = re.compile(rb"\w+\Z")
_ARGUMENTS = {"command": "args", "entrypoint": "command", "ENTRYPOINT": "CMD"}
"""Keys of a program, and beside them those of its further words."""
_LINE_END = re.compile(rb"(?<!\\)(?<!\\\r)(?:\\\\)*+\r?(?:\n|\Z)")
"""Behind an odd number of backslashes the line goes on."""


_NEEDS = re.compile(r"(?:^|[-_])(?:dependenc(?:y|ies)|requires?)(?:$|[-_])", re.IGNORECASE)
"""Keys below which libraries are listed."""


@cache
def _comment_lines(kind: str) -> re.Pattern[bytes]:
    marks = b"|".join(map(re.escape, KINDS[kind].comments))
    return re.compile(rb"^[ \t]*(?:" + marks + rb")[^\r\n]*" + (rb"(?:\r?\n)?" if KINDS[kind].joins else b""), re.MULTILINE)


def _without_comments(source: bytes, kind: str) -> bytes:
    """A file with blanks for its lines of comment, and for their ends where the line above goes on behind them."""
    if not KINDS[kind].comments:
        return source
    return _comment_lines(kind).sub(lambda match: b" " * len(match[0]), source)


def _command_lines(facts: f.FileFacts, source: bytes, start: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    """Where the words of a command stand, in a file without its comments: in a list to its end, else to the end of the value if
    that is one line as its program sees it, else to the end of the line, which a backslash goes on with."""
    scalars = [s for s in facts.settings if s.kind == "str"]
    further = {(s.doc, s.path): s for s in facts.settings if s.path[-1] in _ARGUMENTS.values()}
    around = {(s.doc, s.path): s for s in facts.settings if s.kind in ("list", "map")}
    starts = [s.at for s in scalars]
    for match in start.finditer(source):
        at = match.start()
        stop = _LINE_END.search(source, match.end())
        end = stop.start() if stop is not None else len(source)
        if facts.kind != "text":
            index = bisect_right(starts, at)
            inside = scalars[index - 1] if index and at < scalars[index - 1].end else None
            if inside is None:
                # Else it is a variable's name, with the options as its value.
                if index == len(scalars) or not scalars[index].key_at <= at < scalars[index].key_end:
                    continue
                if _is_needed(scalars[index]):
                    continue
                end = scalars[index].end
            elif _is_needed(inside):
                continue
            elif inside.path[-1].isdigit() or inside.path[-1] == "name":
                holder = around.get((inside.doc, inside.path[:-1]))
                end = holder.end if holder is not None else end
                end = _with_arguments(inside.doc, inside.path[:-1], end, further)
            else:
                end = min(end, inside.end) if "\n" in inside.text.strip() else inside.end
                end = _with_arguments(inside.doc, inside.path, end, further)
        yield match.end(), end


def _with_arguments(doc: int, path: Key, end: int, further: dict[tuple[int, Key], f.Setting]) -> int:
    """The end of a command with the words that a key behind it adds: `args` to `command`."""
    key = _ARGUMENTS.get(path[-1]) if path else None
    beside = further.get((doc, (*path[:-1], key))) if key is not None else None
    return beside.end if beside is not None and beside.at >= end else end


def _is_needed(setting: f.Setting) -> bool:
    """Whether a setting names what a program is built with, not what runs it."""
    return any(_NEEDS.search(step) for step in setting.path)


# ---------------------------------------------------------------- beans

_KNOWN_NAMESPACES = ("http://www.springframework.org/", "http://maven.apache.org/", "http://www.w3.org/", "http://mybatis.org/")


def _beans(path: str, facts: f.FileFacts) -> Iterator[Bean]:
    settings = facts.settings
    if not settings or settings[0].path[0].rpartition(":")[2] not in ("beans", "blueprint"):
        return
    texts = {setting.path: setting for setting in settings}
    bodies: dict[Key, dict[str, f.Setting]] = {}
    given: dict[Key, set[str]] = {}
    beans = {setting.path[:-1] for setting in settings if setting.path[-1] == "@class"}
    for setting in settings:
        where = setting.path
        if where[-1] in ("@ref", "@bean", "@local") or where[-1].endswith("-ref"):
            for size in range(len(where) - 1, 1, -1):
                if where[:size] in beans:
                    given.setdefault(where[:size], set()).add(setting.text)
                    break
        if len(where) >= 3 and where[-1] == "@name" and _local(where[-2]) == "property":
            value = (
                texts.get((*where[:-1], "@value"))
                or texts.get((*where[:-1], "value"))
                or texts.get((*where[:-1], "value", "text()"))
            )
            if value is None:
                value = next((texts[w] for w in ((*where[:-1], "props"),) if w in texts), None)
            if value is not None:
                bodies.setdefault(where[:-2], {})[setting.text] = value
        elif len(where) >= 2 and where[-1].startswith("@p:") and not where[-1].endswith("-ref"):
            bodies.setdefault(where[:-1], {})[where[-1][3:]] = setting
        elif len(where) >= 5 and where[-1] == "@key" and _local(where[-2]) == "prop" and where[:-1] in texts:
            # <property name="connectionProperties"><props><prop key="socketTimeout">…
            value = texts.get((*where[:-1], "text()"))
            if value is not None:
                bodies.setdefault(where[:-4], {})[setting.text] = value
    for setting in settings:
        where = setting.path
        if where[-1] == "@class" and _local(where[-2]) == "bean":
            element = texts[where[:-1]]
            name = texts.get((*where[:-1], "@id")) or texts.get((*where[:-1], "@name"))
            properties = {
                key: Written(path, (key,), value.text, replace_place(value), None, "", key)
                for key, value in bodies.get(where[:-1], {}).items()
            }
            inherits = (*where[:-1], "@parent") in texts
            refers = frozenset(given.get(where[:-1], ()))
            yield Bean(
                path,
                setting.text.strip(),
                name.text if name else "",
                element.key_at - 1,
                element.key_end,
                properties,
                inherits,
                refers,
            )


def replace_place(value: f.Setting) -> f.Setting:
    """A value whose key is another element's attribute: only the value's own place counts."""
    return f.Setting(value.path, value.text, value.kind, value.at, value.end, value.at, value.end, value.doc)


def _local(name: str) -> str:
    return name.partition("#")[0].rpartition(":")[2]
