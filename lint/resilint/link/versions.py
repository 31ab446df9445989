"""Which version of a library a repository pins: what its lock files, requirements, module and build files say, nearest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from resilint import facts as f

_LOCK_NAMES = frozenset(("poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "gradle.lockfile"))
_REQUIREMENT = re.compile(r"^[ \t]*([A-Za-z0-9][\w.-]*)[ \t]*(?:\[[^\]\n]*\])?[ \t]*((?:[=<>!~][^;#\n\\]*)?)", re.MULTILINE)
_LOCKED = re.compile(r'^name = "([^"\n]+)"\r?\nversion = "([^"\n]+)"', re.MULTILINE)
_PIPENV_LOCKED = re.compile(r'"([\w.-]+)": \{[^{}]{0,20000}?"version": "==([^"\n]+)"')
_PIPFILE = re.compile(r'^([\w.-]+|"[\w.-]+")[ \t]*=[ \t]*(?:"([^"\n]*)"|\{[^}\n]*?version[ \t]*=[ \t]*"([^"\n]*)")', re.MULTILINE)
_GO_REQUIRE = re.compile(r"^[ \t]*+(?:require[ \t]++)?([^\s()]++)[ \t]++(v[\w.+-]++)", re.MULTILINE)
_GO_REPLACE = re.compile(
    r"^[ \t]*+(?:replace[ \t]++)?([^\s()]++)(?:[ \t]++v\S++)?[ \t]++=>[ \t]++\S++[ \t]++(v[\w.+-]++)", re.MULTILINE
)
_GRADLE_TEXT = re.compile(r"[\"']([\w.-]+):([\w.-]+):([^\"'@:\s]+)(?:@\w+)?[\"']")
_GRADLE_NAMED = re.compile(
    r"group[ \t]*[:=][ \t]*[\"']([\w.-]+)[\"'][ \t]*,[ \t]*name[ \t]*[:=][ \t]*[\"']([\w.-]+)[\"'][ \t]*,"
    r"[ \t]*version[ \t]*[:=][ \t]*[\"']?([\w.${}-]+)"
)
_GRADLE_PLUGIN = re.compile(r"id[ \t(]+[\"']([\w.-]+)[\"'][ \t)]+version[ \t(]+[\"']([^\"'\n]+)[\"']")
_GRADLE_VARIABLE = re.compile(r"(?<![\w.])([A-Za-z_][\w.]*+)[\"'\])]*+[ \t]*+[=,][ \t]*[\"'](\d[\w.+-]*)[\"']")
_GRADLE_LOCKED = re.compile(r"^([\w.-]+):([\w.-]+):([\w.+-]+)=", re.MULTILINE)
_REFERENCE = re.compile(r"\$\{([^{}]+)\}|\$([A-Za-z_]\w*)")
_SPECIFIER = re.compile(r"[ \t]*(===?|~=|!=|<=?|>=?|\^|~)?[ \t]*v?(\d+(?:\.\d+)*(?:[\w.+-]*)?|\d+(?:\.\d+)*\.\*)[ \t]*")
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_LAST = "99999"
"""Stands for the newest release below a limit, where that is all that is written."""
_LONGEST = 200
"""Characters of a specifier that are looked at."""
_MOST_HOPS = 8
"""Properties that name properties."""


@dataclass(frozen=True)
class Pin:
    """A library of a version, and where that is written."""

    name: str
    """As the language writes it: normalised distribution, module path, `group:artifact`."""
    version: str
    path: str
    at: int
    end: int


class Versions:
    """What a program pins, by folder; read when first asked for."""

    def __init__(self, files: Mapping[str, f.FileFacts], source: Callable[[str], bytes]) -> None:
        self._files = files
        self._source = source
        self._by_folder: dict[str, list[str]] = {}
        for path in sorted(files):
            if (ecosystem := _ecosystem(path)) is not None:
                self._by_folder.setdefault(f"{ecosystem}:{_home(path)}", []).append(path)
        for paths in self._by_folder.values():
            paths.sort(key=_precedence)
        self._pins: dict[str, dict[str, Pin]] = {}
        self._variables: dict[str, dict[str, str]] = {}
        self._found: dict[tuple[str, str, tuple[str, ...]], Pin | None] = {}

    def pinned(self, path: str, language: str, names: Iterable[str]) -> Pin | None:
        """The version of one of these libraries for the code in a file; `None`: nothing above it says.

        Names are distributions, module paths, groups or `group:artifact`, in order of preference.
        """
        wanted = tuple(names)
        key = (path.rpartition("/")[0], language, wanted)
        if key not in self._found:
            self._found[key] = self._nearest(key[0], language, wanted)
        return self._found[key]

    def _nearest(self, folder: str, language: str, names: tuple[str, ...]) -> Pin | None:
        for above in _folders_up(folder):
            pins: dict[str, Pin] = {}
            for file in self._by_folder.get(f"{language}:{above}", ()):
                pins |= self._of_file(file)
            if pins and (found := _chosen(pins, language, names)) is not None:
                return found
        return None

    # ------------------------------------------------------------ files

    def _of_file(self, path: str) -> dict[str, Pin]:
        """What one file pins. Of the files of a folder the later ones win: they are sorted so that locks come last."""
        pins = self._pins.get(path)
        if pins is None:
            pins = self._pins[path] = {}
            for pin in self._read(path):
                pins[pin.name] = pin
        return pins

    def _read(self, path: str) -> Iterator[Pin]:
        name = path.rpartition("/")[2]
        if name == "pom.xml":
            yield from self._pom(path)
        elif name.endswith(".toml"):
            yield from self._pyproject(path) if name == "pyproject.toml" else self._catalog(path)
        elif name == "setup.cfg":
            for setting in self._files[path].settings:
                if setting.path == ("options", "install_requires"):
                    yield from _requirements(setting.text, path, setting.at, setting.end)
        else:
            text = self._source(path).decode("latin-1")
            # One character for each byte, so that places are offsets; names and versions are ASCII.
            if name == "go.mod":
                yield from _go_mod(text, path)
            elif name == "Pipfile.lock":
                yield from (_python(m[1], m[2], path, m.start(2), m.end(2)) for m in _PIPENV_LOCKED.finditer(text))
            elif name == "gradle.lockfile":
                yield from (Pin(f"{m[1]}:{m[2]}", m[3], path, m.start(), m.end(3)) for m in _GRADLE_LOCKED.finditer(text))
            elif name in _LOCK_NAMES:
                yield from (_python(m[1], m[2], path, m.start(), m.end()) for m in _LOCKED.finditer(text))
            elif name == "Pipfile":
                for m in _PIPFILE.finditer(text):
                    if (version := newest_within(m[2] or m[3] or "")) is not None:
                        yield _python(m[1].strip('"'), version, path, m.start(), m.end())
            elif name.endswith(".txt"):
                yield from _requirements(text, path)
            else:
                yield from self._gradle(text, path)

    def _pyproject(self, path: str) -> Iterator[Pin]:
        for setting in self._files[path].settings:
            where = setting.path
            if where[:2] == ("project", "dependencies") and len(where) == 3:
                yield from _requirements(setting.text, path, setting.at, setting.end)
            elif where[:3] == ("tool", "poetry", "dependencies") and (len(where) == 4 or where[4:] == ("version",)):
                version = newest_within(setting.text) if setting.kind == "str" else None
                if version is not None:
                    yield _python(where[3], version, path, setting.key_at, setting.end)

    def _catalog(self, path: str) -> Iterator[Pin]:
        """Gradle's `libs.versions.toml`."""
        settings = self._files[path].settings
        values = {setting.path: setting.text for setting in settings}
        for setting in settings:
            if setting.path[0] != "libraries" or len(setting.path) != 2:
                continue
            name, version = "", None
            if setting.kind == "str":
                group, _, rest = setting.text.partition(":")
                artifact, _, version = rest.partition(":")
                name = f"{group}:{artifact}"
            else:
                module = values.get((*setting.path, "module"), "")
                group, artifact = (values.get((*setting.path, key), "") for key in ("group", "name"))
                name = module or f"{group}:{artifact}"
                version = values.get((*setting.path, "version"))
                reference = values.get((*setting.path, "version", "ref"))
                if reference is not None:
                    version = values.get(("versions", reference))
            if version and name.count(":") == 1:
                yield Pin(name, version, path, setting.key_at, max(setting.end, setting.key_end))

    def _gradle(self, text: str, path: str) -> Iterator[Pin]:
        for pattern in (_GRADLE_TEXT, _GRADLE_NAMED):
            for m in pattern.finditer(text):
                version = self._resolved(m[3], path, 0)
                if version is not None:
                    yield Pin(f"{m[1]}:{m[2]}", version, path, m.start(), m.end())
        for m in _GRADLE_PLUGIN.finditer(text):
            version = self._resolved(m[2], path, 0)
            if version is not None:
                # A plugin that brings the versions of its own libraries.
                yield Pin(f"{m[1]}:{m[1].rpartition('.')[2]}", version, path, m.start(), m.end())

    def _pom(self, path: str) -> Iterator[Pin]:
        facts = self._files[path]
        values = {setting.path: setting for setting in facts.settings}
        for setting in facts.settings:
            # `project/dependencies/dependency#2`, `project/dependencyManagement/dependencies/dependency`, `project/parent`
            where = setting.path
            if setting.kind != "map" or where[-1].partition("#")[0] not in ("dependency", "parent") or "plugins" in where:
                continue
            group, artifact, version = (values.get((*where, key)) for key in ("groupId", "artifactId", "version"))
            if group is None or artifact is None or version is None:
                continue
            number = self._resolved(version.text, path, 0)
            if number is not None:
                yield Pin(f"{group.text}:{artifact.text}", number, path, version.at, version.end)

    # ------------------------------------------------------------ properties

    def _resolved(self, text: str, path: str, hops: int) -> str | None:
        """A version without references to properties; `None` where one is not known, or where it is a range."""
        text = text.strip()
        match = _REFERENCE.search(text)
        if match is None:
            return text if text[:1].isdigit() else None
        if hops > _MOST_HOPS:
            return None
        name = (match[1] or match[2]).strip()
        for above in _folders_up(_home(path)):
            for file in self._by_folder.get(f"java:{above}", ()):
                value = self._variables_of(file).get(name) or self._variables_of(file).get(name.rpartition(".")[2])
                if value is not None:
                    return self._resolved(text[: match.start()] + value + text[match.end() :], file, hops + 1)
        return None

    def _variables_of(self, path: str) -> dict[str, str]:
        found = self._variables.get(path)
        if found is None:
            name = path.rpartition("/")[2]
            found = {}
            if name == "pom.xml":
                for setting in self._files[path].settings:
                    if setting.path[:2] == ("project", "properties") and len(setting.path) == 3:
                        found[setting.path[2]] = setting.text
                    elif setting.path in (("project", "version"), ("project", "parent", "version")):
                        found[".".join(setting.path)] = setting.text
            elif name == "gradle.properties":
                found = {".".join(setting.path): setting.text for setting in self._files[path].settings}
            elif name.endswith((".gradle", ".kts")):
                found = {m[1].rpartition(".")[2]: m[2] for m in _GRADLE_VARIABLE.finditer(self._source(path).decode("latin-1"))}
            self._variables[path] = found
        return found


def newest_within(specifier: str) -> str | None:
    """The version a specifier leads to: the one it pins, or the newest below its upper limit; `None` without an upper limit."""
    limit: tuple[int, ...] | None = None
    for part in specifier[:_LONGEST].split(","):
        match = _SPECIFIER.fullmatch(part)
        if match is None:
            if part.strip() in ("", "*"):
                continue
            return None
        operator, version = match[1] or "==", match[2]
        numbers = _NUMBERS.match(version)
        release = tuple(int(n) for n in numbers[0].split(".")) if numbers is not None else ()
        if not release:
            return None
        if operator in ("==", "===") and not version.endswith("*"):
            return version
        if operator in ("<", "<="):
            if operator == "<=":
                return version
            below = release
        elif operator == "~=" or operator == "~":
            below = _next(release[: max(1, len(release) - 1)] if operator == "~=" else release[:2])
        elif operator == "^":
            first = next((i for i, n in enumerate(release) if n), len(release) - 1)
            below = _next(release[: first + 1])
        elif operator in ("==", "==="):
            below = _next(release)
        else:
            continue
        limit = below if limit is None else min(limit, below)
    return None if limit is None else _below(limit)


def _next(release: tuple[int, ...]) -> tuple[int, ...]:
    return (*release[:-1], release[-1] + 1)


def _below(limit: tuple[int, ...]) -> str | None:
    """The newest release before this one."""
    numbers = list(limit)
    while numbers and numbers[-1] == 0:
        numbers.pop()
    if not numbers:
        return None
    numbers[-1] -= 1
    return ".".join([*map(str, numbers), _LAST])


def said(version: str) -> str:
    """A version as a message says it: `4.5.1`, or `4.x` where only the limit above it is known."""
    return version.removesuffix(_LAST) + "x" if version.endswith("." + _LAST) else version


def _requirements(text: str, path: str, at: int | None = None, end: int | None = None) -> Iterator[Pin]:
    for m in _REQUIREMENT.finditer(text):
        version = newest_within(m[2].split(" --")[0])
        if version is not None:
            yield _python(m[1], version, path, m.start(1) if at is None else at, m.end() if end is None else end)


def _go_mod(text: str, path: str) -> Iterator[Pin]:
    yield from (Pin(m[1], m[2], path, m.start(1), m.end()) for m in _GO_REQUIRE.finditer(text))
    yield from (Pin(m[1], m[2], path, m.start(1), m.end()) for m in _GO_REPLACE.finditer(text))


def _python(name: str, version: str, path: str, at: int, end: int) -> Pin:
    return Pin(re.sub(r"[-_.]+", "-", name).lower(), version, path, at, end)


def _chosen(pins: dict[str, Pin], language: str, names: tuple[str, ...]) -> Pin | None:
    for name in names:
        if language == "python":
            pin = pins.get(re.sub(r"[-_.]+", "-", name).lower())
        elif language == "go":
            # The module whose path is the longest start of the import path.
            pin = max((p for p in pins.values() if f"{name}/".startswith(f"{p.name}/")), key=lambda p: len(p.name), default=None)
        else:
            pin = pins.get(name) or _artifact(pins, name)
        if pin is not None:
            return pin
    return None


def _artifact(pins: dict[str, Pin], name: str) -> Pin | None:
    """The artifact of a package or group: any of the group if all agree, else the one named with a word of the package."""
    same = [p for p in pins.values() if p.name.partition(":")[0] == name]
    if same and len({p.version for p in same}) == 1:
        return same[0]
    for p in pins.values():
        group, _, artifact = p.name.partition(":")
        rest = name[len(group) + 1 :] if name.startswith(group + ".") else name.rpartition(".")[2] if name == group else ""
        if rest and rest.partition(".")[0].lower() in artifact.lower():
            return p
    return None


def says_versions(path: str) -> bool:
    """Whether a file says which libraries a program needs: their names are no commands there."""
    return _ecosystem(path) is not None


def _ecosystem(path: str) -> str | None:
    """The language of whose libraries a file gives versions."""
    name = path.rpartition("/")[2]
    if name in ("pyproject.toml", "setup.cfg", "Pipfile") or (name in _LOCK_NAMES and name != "gradle.lockfile"):
        return "python"
    if name.endswith(".txt") and (name.startswith("requirements") or path.rpartition("/")[0].endswith("requirements")):
        return "python"
    if name == "go.mod":
        return "go"
    if name in ("pom.xml", "gradle.lockfile", "gradle.properties") or name.endswith((".gradle", ".gradle.kts", ".versions.toml")):
        return "java"
    return None


def _precedence(path: str) -> tuple[bool, bool, str]:
    """Of the files of one folder a lock file decides, then the requirements of no special purpose."""
    name = path.rpartition("/")[2]
    return name in _LOCK_NAMES, name == "requirements.txt", path


def _home(path: str) -> str:
    """The folder that a file speaks for."""
    folder = path.rpartition("/")[0]
    if folder.rpartition("/")[2] in ("gradle", "requirements"):
        return folder.rpartition("/")[0]
    return folder


def _folders_up(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""
