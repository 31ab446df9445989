"""The settings of a run: `resilint.yaml`, or `[tool.resilint]` in pyproject.toml, checked to the last key."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilint.globs import fault, matcher
from resilint.model import Confidence, Severity, Span
from resilint.own_files import UnusableError, check_aliases, read_text
from resilint.spelling import get_close_matches

if TYPE_CHECKING:
    from resilint.knowledge import Inline

FILE = "resilint.yaml"
PYPROJECT = "pyproject.toml"
_MISNAMED = ("resilint.yml", ".resilint.yaml", ".resilint.yml")
"""What people call the file by mistake: nobody would notice that it says nothing."""
_MOST_VALUES = 100_000

TEST_CODE = (
    "**/tests/**/*.py",
    "**/test/**/*.py",
    "**/test_*.py",
    "**/*_test.py",
    "**/tests.py",
    "**/*[-_]tests.py",
    "**/conftest.py",
    "**/pytest_plugin.py",
    "**/features/environment.py",
    "**/features/steps/**",
    "**/*_test.go",
    "**/src/test/**",
    "**/src/testFixtures/**",
    "**/src/*-test/**",
    "**/src/*Test/**",
    "**/src/it/java/**",
    "**/src/it/resources/**",
    "**/src/it/*/src/**",
)
"""Code that a runner of tests runs, judged from the program's root; a Go program among tests is run by hand."""
DEFAULT_TEST_PATHS = (
    *TEST_CODE,
    "**/tests/**",
    "**/test/**",
    "**/testdata/**",
    "**/fixture/**",
    "**/fixtures/**",
    "**/scripts/**",
    "**/buildSrc/**",
    "**/.mvn/**",
    "**/.ci/**",
    "**/.circleci/**",
    "**/.github/**",
    "**/.gitlab/**",
    "**/examples/**",
    "example/**",
    "samples/**",
    "*-samples/**",
    "*-examples/**",
    "*-test-utils/**",
    "**/test_resources/**",
    "**/benchmarks/**",
    "**/bench_*.py",
    "docs/**",
    "**/docs/**/conf.py",
)
"""Test code and data, examples, benchmarks, one-off scripts and what builds pages: some rules are quiet about them."""


# ---------------------------------------------------------------- what can be set

FIX_TIMES = {
    "client_timeout": 10.0,
    "connect_timeout": 5.0,
    "query_timeout": 30.0,
    "server_read_timeout": 30.0,
    "server_write_timeout": 60.0,
    "server_idle_timeout": 120.0,
    "request_timeout": 60.0,
    "wait_timeout": 60.0,
}
"""What `fix` may say in seconds, with what an unsafe fix proposes where it does not."""
FIX_COUNTS = {"queue_size": 1000, "concurrency": 8}
"""The same, in numbers of things."""


@dataclass(frozen=True)
class Queue:
    """Declared figures of a queue: seconds, and arrivals per second; `None` where nothing is declared.

    Where `batch` is set, times and rate count batches.
    """

    name: str
    service_time: float | None = None
    worst_service_time: float | None = None
    batch: int | None = None
    linger: float | None = None
    workers: int | None = None
    arrival_rate: float | None = None


@dataclass(frozen=True)
class Caller:
    """Declared behaviour of a service that calls this one; times in seconds."""

    name: str
    timeout: float | None = None
    retries: int | None = None
    deadline: float | None = None


@dataclass(frozen=True)
class Service:
    """A declared service. `paths` are globs as written; ask `Settings.service_of` which service a file belongs to."""

    name: str
    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    public_hosts: tuple[str, ...] = ()
    near: str | None = None
    queues: Mapping[str, Queue] = field(default_factory=dict)
    callers: Mapping[str, Caller] = field(default_factory=dict)
    single_owner: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """Every setting of a run, with its default where nothing is written. Durations are seconds."""

    select: tuple[str, ...] = ()
    """Empty: every rule that is not in preview."""
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_path: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Rules ignored under a glob."""
    test_paths: tuple[str, ...] | None = None
    """`None`: the default."""
    profile: str | None = None
    severity: Mapping[str, Severity] = field(default_factory=dict)
    confidence: Confidence = Confidence.MEDIUM
    safety_factor: float = 0.7
    retry_budget: int = 4
    memory_headroom: float = 0.9
    require_reason: bool = False
    """A suppression comment without a reason is a finding."""
    fix: Mapping[str, float] = field(default_factory=dict)
    """Values that fixes may write, by the keys of `FIX_TIMES` and `FIX_COUNTS`."""
    services: Mapping[str, Service] = field(default_factory=dict)
    knowledge: tuple[str | Inline, ...] = ()
    """Entries as written, or paths relative to `folder`; whoever loads them checks them."""
    baseline: str | None = None
    """The file of known findings, relative to `folder`; `None` where the usual one is meant, if it is there."""

    folder: Path | None = None
    """Where the settings file lies; `None` without one."""
    path: str = ""
    """The settings file, relative to the program's root; it may lie above it."""
    prefix: str = ""
    """The program's root relative to `folder`, with a slash at the end; empty where they are the same."""
    places: Mapping[tuple[str, ...], Span] = field(default_factory=dict)

    def place(self, *keys: str) -> Span | None:
        """Where a key is written: `place("services", "account", "queues", "hotkey", "batch")`. List items are counted from "0"."""
        return self.places.get(keys)

    def place_or_start(self, *keys: str) -> Span:
        """Where a key is written, else the start of the file."""
        return self.places.get(keys) or Span(self.path, 1, 1, 1, 1)

    def is_test(self, path: str) -> bool:
        """Whether a file of the program is test code, an example or a one-off script."""
        return self._is_test(path)

    def is_test_code(self, path: str) -> bool:
        """Whether a file runs when the program is tested: all of `test_paths` where somebody has written them."""
        return self._is_test_code(path)

    def is_excluded(self, path: str) -> bool:
        """Whether a file is left out by `exclude`."""
        written = self.prefix + path
        return written == self.baseline or self._is_excluded(written)

    def ignored_at(self, path: str) -> tuple[str, ...]:
        """The selectors that `per_path` ignores in a file."""
        written = self.prefix + path
        return tuple(selector for matches, selectors in self._per_path if matches(written) for selector in selectors)

    def fix_value(self, key: str) -> tuple[float, bool, bool]:
        """What a fix may write for a key of `fix`, whether that is a time, and whether anybody has decided it."""
        known = self.fix.get(key)
        value = known if known is not None else (FIX_TIMES | FIX_COUNTS)[key]
        return float(value), key in FIX_TIMES, known is not None

    def service_of(self, path: str) -> Service | None:
        """The declared service whose `paths` hold this file; the first one declared if several do."""
        written = self.prefix + path
        return next((service for matches, service in self._services if matches(written)), None)

    @cached_property
    def _is_test(self) -> Callable[[str], bool]:
        if self.test_paths is None:
            return matcher(DEFAULT_TEST_PATHS)
        matches, prefix = matcher(self.test_paths), self.prefix
        return lambda path: matches(prefix + path)

    @cached_property
    def _is_test_code(self) -> Callable[[str], bool]:
        return matcher(TEST_CODE) if self.test_paths is None else self._is_test

    @cached_property
    def _is_excluded(self) -> Callable[[str], bool]:
        return matcher(self.exclude)

    @cached_property
    def _per_path(self) -> list[tuple[Callable[[str], bool], tuple[str, ...]]]:
        return [(matcher([glob]), selectors) for glob, selectors in self.per_path.items()]

    @cached_property
    def _services(self) -> list[tuple[Callable[[str], bool], Service]]:
        return [(matcher(service.paths), service) for service in self.services.values() if service.paths]


class SettingsError(Exception):
    """Settings that cannot be used. Each problem is a place and what is wrong there; paths are relative to `root`."""

    def __init__(self, problems: Iterable[tuple[Span, str]], root: Path | None = None) -> None:
        self.problems = tuple(problems)
        self.root = root
        super().__init__("\n".join(self.seen_from(root)))

    def seen_from(self, here: Path | None) -> list[str]:
        """One line for each problem, with paths relative to a folder."""

        def path(span: Span) -> str:
            inside = self.root is None or here is None or here == self.root
            return span.path if inside else os.path.relpath(os.path.join(str(self.root), span.path), here)

        return [f"{path(span)}:{span.line}:{span.col}: {message}" for span, message in self.problems]


# ---------------------------------------------------------------- finding the file


def find(root: Path) -> Path | None:
    """The settings file for a program: searched from its root upward to the repository's root.

    Raises `SettingsError` where one folder has both kinds, or something by that name that cannot be read.
    """
    for folder in (root, *root.parents):
        own, project = folder / FILE, folder / PYPROJECT
        in_project = _holds_settings(project, root)
        if os.path.lexists(own):
            _text(own, root)
            if in_project:
                raise _problem(own, root, f"{PYPROJECT} beside it has [tool.resilint] too: keep one of them")
            return own
        if in_project:
            return project
        for name in _MISNAMED:
            if os.path.isfile(folder / name):
                raise _problem(folder / name, root, f"settings are read from {FILE} only: rename it")
        if os.path.lexists(folder / ".git"):
            return None
    return None


def _holds_settings(project: Path, root: Path) -> bool:
    # A folder or a pipe of this name is nothing to us.
    if not os.path.isfile(project):
        return False
    text = _text(project, root)
    if "resilint" not in text:
        return False
    if re.search(r"^[ \t]*\[+[ \t]*tool[ \t]*\.[ \t]*[\"']?resilint\b", text, re.MULTILINE):
        # Whatever else is wrong with the file will be said.
        return True
    import tomllib

    try:
        tool = tomllib.loads(text).get("tool")
    except (ValueError, RecursionError):
        return False
    return isinstance(tool, dict) and "resilint" in tool


def _text(file: Path, root: Path) -> str:
    try:
        return read_text(file)
    except UnusableError as problem:
        raise _problem(file, root, str(problem)) from None


def _problem(file: Path, root: Path, message: str) -> SettingsError:
    return SettingsError([(Span(_relative(file, root), 1, 1, 1, 1), message)], root)


def load(root: Path) -> Settings:
    """The settings of the program at `root`; defaults where no file is found. Raises `SettingsError`."""
    file = find(root)
    if file is None:
        return Settings()
    name = _relative(file, root)
    text = _text(file, root)
    relative = root.relative_to(file.parent).as_posix()
    try:
        tree = _toml(text, name) if file.name == PYPROJECT else _yaml(text, name)
        settings = Checker(name).settings(tree)
        settings = replace(settings, folder=file.parent, path=name, prefix="" if relative == "." else relative + "/")
        _check_knowledge_files(settings, file.parent)
    except SettingsError as problem:
        raise SettingsError(problem.problems, root) from None
    return settings


def _check_knowledge_files(settings: Settings, folder: Path) -> None:
    """Raises `SettingsError` for each path in `knowledge` behind which no file can be read: what it says would be missing."""
    problems = []
    for index, item in enumerate(settings.knowledge):
        if not isinstance(item, str):
            continue
        span = settings.place_or_start("knowledge", str(index))
        try:
            read_text(folder / item)
        except UnusableError as problem:
            problems.append((span, f"knowledge file {item}: {problem}{_near_file(folder / item)}"))
    if problems:
        raise SettingsError(problems)


def _near_file(path: Path) -> str:
    try:
        beside = sorted(os.listdir(path.parent))
    except OSError:
        return ""
    near = [] if path.name in beside else get_close_matches(path.name, beside, 1)
    return f": did you mean {near[0]!r}?" if near else ""


def _relative(file: Path, root: Path) -> str:
    above = len(root.relative_to(file.parent).parts)
    return "../" * above + file.name


# ---------------------------------------------------------------- values with their places


@dataclass(frozen=True)
class _Node:
    """A value of the settings file and where it stands. Maps and lists hold nodes; `keys` says where a map's keys stand."""

    value: Any
    span: Span
    keys: Mapping[str, Span] = field(default_factory=dict)

    def plain(self) -> Any:
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


def _yaml(text: str, name: str) -> _Node:
    import yaml

    loader_class = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def span(node: yaml.Node) -> Span:
        start, end = node.start_mark, node.end_mark
        return Span(name, start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def convert(node: yaml.Node, above: tuple[int, ...], scalar: Callable[[yaml.Node], Any]) -> _Node:
        place = span(node)
        if id(node) in above or len(above) > 32:
            raise SettingsError([(place, "nested too deeply")])
        below = (*above, id(node))
        if isinstance(node, yaml.MappingNode):
            values: dict[str, _Node] = {}
            keys: dict[str, Span] = {}
            for key_node, value_node in node.value:
                if not isinstance(key_node, yaml.ScalarNode):
                    raise SettingsError([(span(key_node), "a key must be text")])
                key = str(key_node.value)
                if key in values:
                    raise SettingsError([(span(key_node), f"key {key!r} is written twice")])
                values[key] = convert(value_node, below, scalar)
                keys[key] = span(key_node)
            return _Node(values, place, keys)
        if isinstance(node, yaml.SequenceNode):
            return _Node([convert(item, below, scalar) for item in node.value], place)
        return _Node(scalar(node), place)

    def scalar(node: yaml.Node) -> Any:
        value = loader.construct_object(node)
        # Dates and the like mean nothing here; what was written does.
        return value if value is None or isinstance(value, bool | int | float | str) else str(node.value)

    loader = loader_class(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return _Node({}, Span(name, 1, 1, 1, 1))
        check_aliases(node, _MOST_VALUES)
        return convert(node, (), scalar)
    except UnusableError as problem:
        raise SettingsError([(Span(name, 1, 1, 1, 1), str(problem))]) from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        what = problem.problem or problem.context or "syntax error"
        if what.startswith("but ") and problem.context:
            what = f"{problem.context} {what}"
        raise SettingsError([(Span(name, line, column, line, column), f"not valid YAML: {what}")]) from None
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        raise SettingsError([(Span(name, 1, 1, 1, 1), f"not valid YAML: {problem}")]) from None
    finally:
        loader.dispose()


def _toml(text: str, name: str) -> _Node:
    import tomllib

    try:
        tree: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        # A TOMLDecodeError, or a number of more digits than Python converts.
        at = re.search(r"line (\d+), column (\d+)", str(problem))
        line, column = (int(at[1]), int(at[2])) if at else (1, 1)
        raise SettingsError([(Span(name, line, column, line, column), f"not valid TOML: {problem}")]) from None
    lines = _toml_places(text, name)

    def place(path: tuple[str, ...]) -> Span:
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, Span(name, 1, 1, 1, 1))

    def convert(value: Any, path: tuple[str, ...]) -> _Node:
        if isinstance(value, dict):
            keys = {key: place((*path, key)) for key in value}
            return _Node({key: convert(item, (*path, key)) for key, item in value.items()}, place(path), keys)
        if isinstance(value, list):
            return _Node([convert(item, (*path, str(index))) for index, item in enumerate(value)], place(path))
        return _Node(value, place(path))

    for key in ("tool", "resilint"):
        tree = tree.get(key, {}) if isinstance(tree, dict) else {}
    return convert(tree, ("tool", "resilint"))


_TOML_NAME = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_TOML_DOTTED = rf"{_TOML_NAME}(?:[ \t]*\.[ \t]*{_TOML_NAME})*"
_TOML_LINE = re.compile(rf"^[ \t]*(?:\[+[ \t]*(?P<table>{_TOML_DOTTED})[ \t]*\]|(?P<key>{_TOML_DOTTED})[ \t]*=)")


def _toml_places(text: str, name: str) -> dict[tuple[str, ...], Span]:
    """Where tables and keys stand. tomllib keeps no places; this line by line look is exact for all but keys of inline tables."""
    places: dict[tuple[str, ...], Span] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        match = _TOML_LINE.match(line)
        if match is None:
            continue
        which = "table" if match["table"] else "key"
        path = tuple(part.strip("\"'") for part in re.findall(_TOML_NAME, match[which]))
        if which == "table":
            table = path
        else:
            path = (*table, *path)
        for size in range(1, len(path) + 1):
            places.setdefault(path[:size], Span(name, number, match.start(which) + 1, number, match.end(which) + 1))
    return places


# ---------------------------------------------------------------- durations and rates

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PER = {"s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0}
_DIGITS = "[0-9]{1,15}(?:[.][0-9]{1,15})?"
_PART = re.compile(rf"({_DIGITS})[ ]?(ns|us|µs|μs|ms|s|m|h|d)")
_RATE = re.compile(rf"({_DIGITS})[ ]?/[ ]?({'|'.join(sorted(_PER))})")
DURATION = f"(?:{_PART.pattern})+"
"""All of a duration, as a pattern that JSON Schema can use too."""
RATE = _RATE.pattern


def duration(text: str) -> float | None:
    """Seconds of `16ms`, `1.5s`, `2m`, `1m30s`; `None` for anything else, a bare number too."""
    if not re.fullmatch(DURATION, text):
        return None
    # Rounded to the nanosecond: 27 * 0.001 carries binary noise that a message would print.
    return round(sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text)), 9)


def rate(text: str) -> float | None:
    """Events per second of `50/s`, `3000/m`; `None` for anything else."""
    match = _RATE.fullmatch(text)
    return float(match[1]) / _PER[match[2]] if match else None


# ---------------------------------------------------------------- checking

_KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    dict: "a mapping",
    list: "a list",
    type(None): "empty",
}


Reader = Callable[[_Node, tuple[str, ...]], Any]
"""Turns a value at a path of keys into what is set; `None` where that is a problem, which is remembered."""
Readers = Mapping[str, Reader]


class Checker:
    """Turns the tree of a settings file into `Settings` and collects every problem on the way."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._problems: list[tuple[Span, str]] = []
        self._places: dict[tuple[str, ...], Span] = {}

    def settings(self, tree: _Node) -> Settings:
        values = self._record(tree, (), self.top, "")
        if self._problems:
            raise SettingsError(sorted(self._problems, key=lambda problem: (problem[0], problem[1])))
        return Settings(**values, places=self._places)

    # ---- which keys there are, and what reads the value of each; the JSON Schema is made of these too

    @property
    def top(self) -> Readers:
        return {
            "select": self._texts,
            "ignore": self._texts,
            "exclude": self._globs,
            "per_path": self._per_path,
            "test_paths": self._globs,
            "profile": self._text,
            "severity": self._map_of(self._severity),
            "confidence": self._confidence,
            "safety_factor": self._share,
            "retry_budget": self._count,
            "memory_headroom": self._share,
            "require_reason": self._flag,
            "fix": self._fix,
            "services": self._map_of(self._service),
            "knowledge": self._knowledge,
            "baseline": self._inside,
        }

    @property
    def service(self) -> Readers:
        return {
            "paths": self._globs,
            "hosts": self._texts,
            "public_hosts": self._texts,
            "near": self._text,
            "queues": self._map_of(self._queue),
            "callers": self._map_of(self._caller),
            "single_owner": self._texts,
        }

    @property
    def queue(self) -> Readers:
        return {
            "service_time": self._duration,
            "worst_service_time": self._duration,
            "batch": self._count,
            "linger": self._duration,
            "workers": self._count,
            "arrival_rate": self._rate,
        }

    @property
    def caller(self) -> Readers:
        return {
            "timeout": self._duration,
            "retries": self._count_or_none,
            "deadline": self._duration,
        }

    @property
    def fix(self) -> Readers:
        return {**dict.fromkeys(FIX_TIMES, self._duration), **dict.fromkeys(FIX_COUNTS, self._count)}

    @property
    def per_path(self) -> Readers:
        return {
            "ignore": self._texts,
        }

    # ---- shapes

    def _record(self, node: _Node, path: tuple[str, ...], readers: Readers, what: str) -> dict[str, Any]:
        """A mapping whose keys are known. Keys with problems are left out of the result."""
        values: dict[str, Any] = {}
        for key, item in self._items(node, path):
            if key not in readers:
                near = get_close_matches(key, readers, 1)
                hint = f": did you mean {near[0]!r}?" if near else f": known are {', '.join(readers)}"
                self._wrong(node.keys[key], f"unknown key {key!r}{' in ' + what if what else ''}{hint}")
                continue
            value = readers[key](item, (*path, key))
            if value is not None:
                values[key] = value
        return values

    def _map_of(self, reader: Reader) -> Reader:
        return partial(self._map, reader)

    def _map(self, reader: Reader, node: _Node, path: tuple[str, ...]) -> dict[str, Any]:
        values = {key: reader(item, (*path, key)) for key, item in self._items(node, path)}
        return {key: value for key, value in values.items() if value is not None}

    def _items(self, node: _Node, path: tuple[str, ...]) -> list[tuple[str, _Node]]:
        if not isinstance(node.value, dict):
            # An empty section is how people leave a key with only comments below.
            if node.value is not None:
                self._expected(node, path, "a mapping")
            return []
        for key, span in node.keys.items():
            self._places[(*path, key)] = span
        return list(node.value.items())

    def _list(self, node: _Node, path: tuple[str, ...]) -> list[tuple[str, _Node]]:
        if not isinstance(node.value, list):
            if node.value is not None:
                self._expected(node, path, "a list")
            return []
        for index, item in enumerate(node.value):
            self._places[(*path, str(index))] = item.span
        return [(str(index), item) for index, item in enumerate(node.value)]

    # ---- single values

    def _text(self, node: _Node, path: tuple[str, ...]) -> str | None:
        if isinstance(node.value, str) and node.value:
            return node.value
        self._expected(node, path, "text")
        return None

    def _inside(self, node: _Node, path: tuple[str, ...]) -> str | None:
        text = self._text(node, path)
        self._places[path] = node.span
        if text is not None and (os.path.isabs(text) or ".." in text.split("/")):
            self._wrong(node.span, f"{_dotted(path)} must be a path below the folder of the settings, not {text!r}")
            return None
        return os.path.normpath(text).replace(os.sep, "/") if text is not None else None

    def _texts(self, node: _Node, path: tuple[str, ...]) -> tuple[str, ...]:
        texts = [self._text(item, (*path, index)) for index, item in self._list(node, path)]
        return tuple(text for text in texts if text is not None)

    def _globs(self, node: _Node, path: tuple[str, ...]) -> tuple[str, ...]:
        for index, item in self._list(node, path):
            if isinstance(item.value, str):
                self._check_glob(item.value, item.span, (*path, index))
        return self._texts(node, path)

    def _check_glob(self, glob: str, span: Span, path: tuple[str, ...]) -> None:
        problem = fault(glob)
        if problem is not None:
            self._wrong(span, f"{_dotted(path)}: {glob!r} is no glob: {problem}")

    def _number(self, node: _Node, path: tuple[str, ...]) -> float | None:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return float(node.value)
        self._expected(node, path, "a number")
        return None

    def _flag(self, node: _Node, path: tuple[str, ...]) -> bool | None:
        if isinstance(node.value, bool):
            return node.value
        self._expected(node, path, "true or false")
        return None

    def _share(self, node: _Node, path: tuple[str, ...]) -> float | None:
        number = self._number(node, path)
        if number is not None and not 0 < number <= 1:
            self._wrong(node.span, f"{_dotted(path)} must be above 0 and at most 1, not {node.value}")
            return None
        return number

    def _whole(self, node: _Node, path: tuple[str, ...], least: int) -> int | None:
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            if node.value >= least:
                return node.value
            self._wrong(node.span, f"{_dotted(path)} must be at least {least}, not {node.value}")
        else:
            self._expected(node, path, "a whole number")
        return None

    def _count(self, node: _Node, path: tuple[str, ...]) -> int | None:
        return self._whole(node, path, 1)

    def _count_or_none(self, node: _Node, path: tuple[str, ...]) -> int | None:
        return self._whole(node, path, 0)

    def _duration(self, node: _Node, path: tuple[str, ...]) -> float | None:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            self._wrong(node.span, f"{_dotted(path)} needs a unit, for example {node.value}ms or {node.value}s")
            return None
        seconds = duration(node.value) if isinstance(node.value, str) else None
        if seconds is None:
            self._expected(node, path, "a duration such as 16ms, 1.5s or 2m")
        return seconds

    def _rate(self, node: _Node, path: tuple[str, ...]) -> float | None:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            self._wrong(node.span, f"{_dotted(path)} needs a unit, for example {node.value}/s")
            return None
        per_second = rate(node.value) if isinstance(node.value, str) else None
        if per_second is None:
            self._expected(node, path, "a rate such as 50/s or 3000/m")
        return per_second

    def _choice(self, node: _Node, path: tuple[str, ...], choices: Iterable[str]) -> str | None:
        known = list(choices)
        if isinstance(node.value, str) and node.value in known:
            return node.value
        near = get_close_matches(str(node.value), known, 1)
        self._expected(node, path, f"one of {', '.join(known)}", f": did you mean {near[0]!r}?" if near else "")
        return None

    def _severity(self, node: _Node, path: tuple[str, ...]) -> Severity | None:
        word = self._choice(node, path, [severity.value for severity in Severity])
        return Severity(word) if word else None

    def _confidence(self, node: _Node, path: tuple[str, ...]) -> Confidence | None:
        word = self._choice(node, path, [confidence.word for confidence in Confidence])
        return Confidence[word.upper()] if word else None

    # ---- sections

    def _per_path(self, node: _Node, path: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        rules: dict[str, tuple[str, ...]] = {}
        for glob, item in self._items(node, path):
            self._check_glob(glob, node.keys[glob], path)
            values = self._record(item, (*path, glob), self.per_path, f"per_path of {glob!r}")
            rules[glob] = values.get("ignore", ())
        return rules

    def _fix(self, node: _Node, path: tuple[str, ...]) -> dict[str, float]:
        values = self._record(node, path, self.fix, "fix")
        for key in [key for key, value in values.items() if value == 0]:
            # Most libraries take it for none at all.
            self._wrong(node.value[key].span, f"{_dotted((*path, key))} must be above 0")
        return values

    def _service(self, node: _Node, path: tuple[str, ...]) -> Service:
        return Service(path[-1], **self._record(node, path, self.service, _dotted(path)))

    def _queue(self, node: _Node, path: tuple[str, ...]) -> Queue:
        return Queue(path[-1], **self._record(node, path, self.queue, _dotted(path)))

    def _caller(self, node: _Node, path: tuple[str, ...]) -> Caller:
        return Caller(path[-1], **self._record(node, path, self.caller, _dotted(path)))

    def _knowledge(self, node: _Node, path: tuple[str, ...]) -> tuple[str | Inline, ...]:
        from resilint.knowledge import Inline

        sources: list[str | Inline] = []
        for index, item in self._list(node, path):
            if isinstance(item.value, str) and item.value:
                sources.append(item.value)
            elif isinstance(item.value, dict):
                self._remember(item, (*path, index))
                sources.append(Inline(item.plain(), self._name, item.span.line, self._places_below((*path, index))))
            else:
                self._expected(item, (*path, index), "a path or an entry")
        return tuple(sources)

    def _places_below(self, above: tuple[str, ...]) -> Callable[[tuple[str, ...]], Span | None]:
        places = self._places
        return lambda keys: places.get((*above, *keys))

    def _remember(self, node: _Node, path: tuple[str, ...]) -> None:
        """Keeps the places of keys that someone else will check."""
        if isinstance(node.value, dict):
            for key, item in self._items(node, path):
                self._remember(item, (*path, key))
        elif isinstance(node.value, list):
            for index, item in self._list(node, path):
                self._remember(item, (*path, index))

    # ---- problems

    def _expected(self, node: _Node, path: tuple[str, ...], what: str, hint: str = "") -> None:
        kind = _KINDS.get(type(node.value), "a date or time")
        written = f"{kind} ({node.value!r})" if isinstance(node.value, str | int | float) else kind
        self._wrong(node.span, f"{_dotted(path) or 'the file'} must be {what}, not {written}{hint}")

    def _wrong(self, span: Span, message: str) -> None:
        self._problems.append((span, message))


def _dotted(path: tuple[str, ...]) -> str:
    """`("services", "a", "paths", "0")` as a reader would write it: `services.a.paths[0]`."""
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in path).removeprefix(".")
