"""Reads knowledge files: the shipped ones through one compiled blob, the user's own with every problem named by its line."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from resilint.knowledge import schema
from resilint.knowledge.index import Knowledge
from resilint.knowledge.schema import Library
from resilint.model import Span
from resilint.own_files import MAX_VALUES, UnusableError, check_aliases, read_text

if TYPE_CHECKING:
    import yaml

SHIPPED = Path(__file__).parent
BLOB_FORMAT = 1

_DIGEST = 16


class KnowledgeError(Exception):
    """Knowledge that cannot be used, or a name that is not known. The message has one line for each problem."""


@dataclass(frozen=True)
class Inline:
    """Knowledge written inside another file: the parsed mapping (or list of mappings), and where it stands.

    With `place`, which knows where the key at a path inside the value stands, messages name the line of each key, else `line`.
    """

    value: object
    path: str
    line: int = 1
    place: Callable[[tuple[str, ...]], Span | None] | None = None

    def line_of(self, path: Sequence[str | int]) -> int:
        """The line of the key at this path, or of the nearest part of the path that is known."""
        if self.place is not None:
            for size in range(len(path), -1, -1):
                span = self.place(tuple(str(step) for step in path[:size]))
                if span is not None:
                    return span.line
        return self.line


def load(extra: Sequence[Inline | Mapping[str, object] | str | Path] = (), root: Path | None = None) -> Knowledge:
    """All shipped knowledge, then the user's: mappings, or paths of YAML files relative to `root` and inside it.

    What the user says of a name replaces what is shipped. Raises `KnowledgeError` with all problems of all files.
    """
    if not extra:
        return _known()
    libraries = list(_known().libraries)
    declared: list[_Declared] = []
    problems: list[str] = []
    for item in extra:
        try:
            declared.append(_declared(item, (root or Path.cwd()).resolve()))
        except KnowledgeError as problem:
            problems.append(str(problem))
    for one in declared:
        libraries += one.libraries
    if declared:
        from resilint.knowledge.problems import dangling

        known = tuple(libraries)
        for one in declared:
            problems += dangling(one.libraries, known, one.shown, one.line_of, several=one.several)
    if problems:
        raise KnowledgeError("\n".join(problems))
    return Knowledge(libraries, (pair for one in declared for pair in zip(one.libraries, one.places, strict=True)))


_last: list[tuple[bytes, Knowledge]] = []


def _known() -> Knowledge:
    """What is shipped. Its tables do not change, so one process builds them once, until a file changes."""
    key = _key(SHIPPED, _files(SHIPPED))
    if not _last or _last[0][0] != key:
        _last[:] = [(key, Knowledge(shipped()))]
    return _last[0][1]


@dataclass(frozen=True)
class _Declared:
    """The libraries of one file or entry of the user's, and how to name a place in it."""

    libraries: tuple[Library, ...]
    several: bool
    shown: str
    line_of: Callable[[Sequence[str | int]], int]

    @property
    def places(self) -> Iterator[str]:
        """File and line of each library."""
        for number in range(len(self.libraries)):
            yield f"{self.shown}:{self.line_of((number, 'library') if self.several else ('library',))}"


def shipped(directory: Path = SHIPPED) -> tuple[Library, ...]:
    """The libraries of a knowledge directory (`<language>/*.yaml`), from the compiled blob if it is current, else parsed."""
    files = _files(directory)
    key = _key(directory, files)
    blob = _blob_path(directory)
    libraries = _read_blob(blob, key) if blob is not None else None
    if libraries is None:
        libraries = parse(files)
        if blob is not None:
            _write_blob(blob, key, libraries)
    return libraries


def _files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*/*.yaml"), key=str)


def parse(files: Sequence[Path]) -> tuple[Library, ...]:
    """The libraries of these YAML files, in their order. Raises `KnowledgeError` with all problems of all files."""
    libraries: list[Library] = []
    problems: list[str] = []
    for file in files:
        try:
            value, line_of = _parsed(_read_text(file, str(file)), str(file))
            libraries += _libraries(value, str(file), line_of, declared=False)
        except KnowledgeError as problem:
            problems.append(str(problem))
    if problems:
        raise KnowledgeError("\n".join(problems))
    return tuple(libraries)


def cache_dir() -> Path | None:
    """Where compiled knowledge is kept: RESILINT_CACHE_DIR, else `resilint` in XDG_CACHE_HOME, else ~/.cache/resilint.

    `None` without a home, as users made up for a container have none.
    """
    own = os.environ.get("RESILINT_CACHE_DIR")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(shared) if shared else Path("~/.cache").expanduser()) / "resilint"
    except RuntimeError:
        return None


def _declared(item: Inline | Mapping[str, object] | str | Path, root: Path) -> _Declared:
    if isinstance(item, Mapping):
        item = Inline(dict(item), "knowledge")
    line_of: Callable[[Sequence[str | int]], int]
    if isinstance(item, Inline):
        value, shown, line_of = item.value, item.path, item.line_of
    else:
        path = (root / item).resolve()
        if not path.is_relative_to(root):
            raise KnowledgeError(f"{item}: knowledge files must lie inside {root}")
        shown = str(item)
        value, line_of = _parsed(_read_text(path, shown), shown)
    libraries = tuple(_libraries(value, shown, line_of, declared=True))
    return _Declared(libraries, isinstance(value, list), shown, line_of)


def _read_text(path: Path, shown: str) -> str:
    try:
        return read_text(path)
    except UnusableError as problem:
        raise KnowledgeError(f"{shown}: {problem}") from None


def _parsed(text: str, shown: str) -> tuple[object, Callable[[Sequence[str | int]], int]]:
    """What a file says, and the line of each place in it."""
    import yaml

    tree: yaml.Node | None = None
    value: object = None
    loader = _yaml_loader()(text)
    try:
        tree = loader.get_single_node()
        if tree is not None:
            # Before merge keys are resolved, which copies what they name.
            check_aliases(tree)
            value = loader.construct_document(tree)
    except UnusableError as problem:
        raise KnowledgeError(f"{shown}:1: {problem}") from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise KnowledgeError(f"{shown}:{line}: not valid YAML: {getattr(problem, 'problem', None) or problem}") from problem
    except RecursionError:
        raise KnowledgeError(f"{shown}:1: nested too deeply") from None
    except ValueError as problem:
        # PyYAML reads impossible dates as dates.
        raise KnowledgeError(f"{shown}:1: not valid YAML: {problem}") from problem
    finally:
        loader.dispose()

    def line_of(path: Sequence[str | int]) -> int:
        from resilint.knowledge.problems import line_in

        return line_in(tree, path)

    return value, line_of


@cache
def _yaml_loader() -> type[yaml.SafeLoader]:
    """PyYAML takes the last of two equal keys, and a list of rows would be lost without a word."""
    import yaml

    fast: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(fast):  # type: ignore[valid-type, misc]
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                if key.value in seen and isinstance(key, yaml.ScalarNode):
                    raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} stands twice", key.start_mark)
                if isinstance(key, yaml.ScalarNode):
                    seen.add(key.value)
                    if key.tag == "tag:yaml.org,2002:bool":
                        # `on` is a word where a key stands, whatever YAML 1.1 takes it for.
                        key.tag = "tag:yaml.org,2002:str"
            return dict(super().construct_mapping(node, deep))

    return Loader


def _libraries(value: object, shown: str, line_of: Callable[[Sequence[str | int]], int], *, declared: bool) -> list[Library]:
    """The structs of a parsed file. The slow, well-worded validation runs only when the quick one fails."""
    several = isinstance(value, list)
    left = count(MAX_VALUES, -1)
    try:
        items = [_plain(item, left) for item in (value if isinstance(value, list) else [value])]
    except RecursionError:
        raise KnowledgeError(f"{shown}:{line_of(())}: nested too deeply") from None
    except OverflowError:
        raise KnowledgeError(f"{shown}:{line_of(())}: more than {MAX_VALUES} values") from None
    if declared:
        items = [{"source": shown, "verified": "declared", **item} if isinstance(item, dict) else item for item in items]
    try:
        libraries = msgspec.convert(items, list[Library])
    except msgspec.ValidationError as problem:
        from resilint.knowledge.problems import explain

        lines = explain(items if several else items[0], shown, line_of)
        raise KnowledgeError("\n".join(lines) or f"{shown}:{line_of(())}: {problem}") from None
    # Much is looked for only in files that import a library: one that gives no import names would be found by halves.
    return [msgspec.structs.replace(one, modules=_modules(one)) for one in libraries] if declared else libraries


_PACKAGE = re.compile(r"([\w./~-]+?)\.[A-Z]")
"""The import path or package before the first symbol, which starts with a capital in Go and Java."""


def _modules(library: Library) -> tuple[str, ...]:
    """The import names that a library gives, else those that its names begin with; none where a name does not tell."""
    if library.modules:
        return library.modules
    names = [*(entry.name for entry in library.types), *(name for call in library.calls for name in call.names)]
    found: dict[str, None] = {}
    for name in names:
        if library.language == "python":
            module = name.partition(".")[0] if "." in name else ""
        else:
            match = _PACKAGE.match(name)
            module = match[1] if match is not None else ""
        if not module or module.startswith("<"):
            return ()
        found[module] = None
    return tuple(found)


def _plain(value: object, left: Iterator[int]) -> Any:
    """The value with text for keys: positions are written as numbers in YAML. Aliases may multiply: `left` says how far."""
    if next(left) < 0:
        raise OverflowError
    if isinstance(value, Mapping):
        return {str(key) if type(key) is int else key: _plain(item, left) for key, item in value.items()}
    return [_plain(item, left) for item in value] if isinstance(value, list | tuple) else value


def _key(directory: Path, files: Sequence[Path]) -> bytes:
    """A hash that changes with any knowledge file, with the schema, and with the form of the blob."""
    digest = blake2b(f"{BLOB_FORMAT} {msgspec.__version__}".encode(), digest_size=_DIGEST)
    above = len(str(directory))
    for file in (*map(str, files), schema.__file__):
        status = os.stat(file)
        name = file[above:] if file.startswith(str(directory)) else file
        digest.update(f"\0{name}\0{status.st_mtime_ns}\0{status.st_size}".encode())
    return digest.digest()


def _blob_path(directory: Path) -> Path | None:
    """One blob for each installation, so that old ones do not pile up."""
    place = blake2b(os.fsencode(directory.resolve()), digest_size=8).hexdigest()
    folder = cache_dir()
    return folder / f"knowledge-{place}.msgpack" if folder is not None else None


def _read_blob(blob: Path, key: bytes) -> tuple[Library, ...] | None:
    try:
        data = blob.read_bytes()
    except OSError:
        return None
    body = memoryview(data)[2 * _DIGEST :]
    if data[:_DIGEST] != key or data[_DIGEST : 2 * _DIGEST] != blake2b(body, digest_size=_DIGEST).digest():
        return None
    try:
        return msgspec.msgpack.decode(body, type=tuple[Library, ...])
    except msgspec.DecodeError:
        return None


def _write_blob(blob: Path, key: bytes, libraries: tuple[Library, ...]) -> None:
    body = msgspec.msgpack.encode(libraries)
    # Without a usable cache directory every run parses: slower, and right.
    with suppress(OSError):
        blob.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=blob.parent, prefix=blob.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(key + blake2b(body, digest_size=_DIGEST).digest() + body)
            os.replace(temporary, blob)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
