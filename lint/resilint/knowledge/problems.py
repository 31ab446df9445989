"""Names what is wrong with a knowledge file: one line for each problem, with its line, key and the likely spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

import jsonschema
import msgspec
import yaml

from resilint.knowledge.schema import Library

Path = tuple[str | int, ...]


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of one knowledge file."""
    return msgspec.json.schema(Library)


def explain(value: object, shown: str, line_of: Callable[[Path], int]) -> list[str]:
    """The problems of a library mapping, or a list of them, each at `shown` and its line."""
    schema = json_schema()
    if isinstance(value, list):
        schema = {"type": "array", "items": {"$ref": schema["$ref"]}, "$defs": schema["$defs"]}
    validator = jsonschema.Draft202012Validator(schema)
    found: list[tuple[int, str]] = []
    messages = list(_messages(validator.iter_errors(value)))
    misspelt = {(path[:-1], near[1]) for path, message in messages if (near := _SUGGESTED.search(message)) is not None}
    for path, message in messages:
        missing = _MISSING.fullmatch(message)
        if missing is not None and (path, missing[1]) in misspelt:
            continue  # named already, where it is misspelt
        at = line_of(path)
        key = _key(path)
        found.append((at, f"{shown}:{at}: {f'key {key!r}: ' if key else ''}{message}"))
    return list(dict.fromkeys(text for _, text in sorted(found, key=lambda item: item[0])))


ASKED = ("go", "java", "python")
"""The languages that the engine asks knowledge of."""


def dangling(
    libraries: Sequence[Library], known: Sequence[Library], shown: str, line_of: Callable[[Path], int], *, several: bool
) -> list[str]:
    """What a user's libraries say that nothing can ever find: methods of types that nobody describes, names of another language."""
    found: list[tuple[int, str]] = []

    def say(path: Path, message: str) -> None:
        at = line_of(path)
        found.append((at, f"{shown}:{at}: key {_key(path)!r}: {message}"))

    for number, library in enumerate(libraries):
        base: Path = (number,) if several else ()
        if library.language == "config" and _speaks_of_settings(library):
            continue
        if library.language not in ASKED:
            say((*base, "language"), f"{library.language!r} is of no use yet, known are: {', '.join(ASKED)}")
            continue
        types, calls = _names(known, library.language)
        modules = {module for one in known if one.language == library.language for module in one.modules}
        for index, call in enumerate(library.calls):
            for place, name in enumerate(call.names):
                path = (*base, "calls", index, "names", place)
                if library.language == "python" and "/" in name:
                    say(path, f"{name!r} is no Python name: a slash stands in import paths of Go")
                    continue
                owner = _owning_type(name, library.language)
                if owner is not None and owner not in types and owner not in modules:
                    hint = suggestion(owner, _beside(owner, types)) or ", add it to `types`"
                    say(path, f"type {owner!r} is described nowhere{hint}")
        for index, entry in enumerate(library.types):
            if entry.any_method is not None and entry.any_method not in calls:
                hint = suggestion(entry.any_method, _beside(entry.any_method, calls)) or ", add it to `calls`"
                say((*base, "types", index, "any_method"), f"call {entry.any_method!r} is described nowhere{hint}")
    return list(dict.fromkeys(text for _, text in sorted(found, key=lambda item: item[0])))


def _speaks_of_settings(library: Library) -> bool:
    rows = (bound.setting for entry in library.types for bound in entry.bounds)
    settings = (library.surfaces, library.keys, library.moved, library.pools, library.balancers, library.deadlines, library.idles)
    sections = (
        library.containers,
        library.runtimes,
        library.placements,
        library.publics,
        library.words,
        library.backlogs,
        library.routes,
        library.reuse,
        library.limit_pairs,
    )
    return any((*settings, *sections)) or any(rows)


def _beside(name: str, known: set[str]) -> list[str]:
    """The names of the same package or type: others are near by chance."""
    place = name.rpartition(".")[0]
    return sorted(one for one in known if one.rpartition(".")[0] == place)


def _names(libraries: Sequence[Library], language: str) -> tuple[set[str], set[str]]:
    """All names of objects, and all names of calls, in a language."""
    types: set[str] = set()
    calls: set[str] = set()
    for library in libraries:
        if library.language == language:
            calls.update(name for call in library.calls for name in call.names)
            for entry in library.types:
                types.update((entry.name, *entry.aliases, *entry.instances))
            for row in library.entries:
                # Handlers stand on the one and are given the others: their methods are found without an object.
                types.update((*((row.base,) if row.base is not None else ()), *row.signature))
    return types, calls


def _owning_type(name: str, language: str) -> str | None:
    """The type that a call's name says it is a method of; `None` for a function, and where the name does not tell."""
    owner = name.rpartition(".")[0]
    if language == "go":
        # `net/http.Client.Do`, `gopkg.in/yaml.v3.Decoder.Decode`: package, type, method.
        symbols = re.sub(r"\.v[0-9]+(?=\.|$)", "", name.rpartition("/")[2], count=1).split(".")
        return owner if len(symbols) > 2 else None
    if language == "python":
        return owner if owner.rpartition(".")[2].lstrip("_")[:1].isupper() else None
    return None


def suggestion(wrong: object, known: list[str]) -> str:
    """`, did you mean 'x'?`, or nothing if no known word is near."""
    near = get_close_matches(str(wrong), known, 1, 0.6)
    return f", did you mean {near[0]!r}?" if near else ""


def _messages(errors: Any) -> Iterator[tuple[Path, str]]:
    for error in errors:
        yield from _message(error)


def _message(error: Any) -> Iterator[tuple[Path, str]]:
    path: Path = tuple(error.absolute_path)
    value = error.instance
    match error.validator:
        case "additionalProperties" if error.validator_value is False:
            known = sorted(error.schema["properties"])
            for key in value:
                if key not in known:
                    yield (*path, key), f"unknown key{suggestion(key, known) or ', known are: ' + ', '.join(known)}"
        case "required":
            # jsonschema gives one error for each missing key, all with the same list.
            missing = next(key for key in error.validator_value if repr(key) in error.message.split(" is a required")[0])
            yield path, f"key {missing!r} is missing"
        case "enum":
            yield path, _unknown_value(value, error.validator_value, path)
        case "anyOf":
            branches = [_resolved(branch) for branch in error.validator_value]
            inside = [found for found in error.context if len(found.absolute_path) > len(path) or found.validator in _STRUCTURAL]
            if isinstance(value, dict | list) and inside:
                yield from _messages(inside)
                return
            words = [word for branch in branches for word in branch.get("enum", ())]
            if isinstance(value, str) and words:
                yield path, _unknown_value(value, words, path)
            else:
                kinds = [_kind(branch) for branch in branches]
                yield path, f"expected {' or '.join(dict.fromkeys(kinds))}, not {_shown(value)}{_hint(value, branches)}"
        case "minItems" | "maxItems":
            yield path, f"expected {error.validator_value} items, not {len(value)}"
        case "type":
            yield path, f"expected {_kind(error.schema)}, not {_shown(value)}{_hint(value, [error.schema])}"
        case _:
            yield path, str(error.message)


_STRUCTURAL = {"additionalProperties", "required", "minItems", "maxItems"}
_SUGGESTED = re.compile(r"^unknown key, did you mean '(\w+)'\?$")
_MISSING = re.compile(r"^key '(\w+)' is missing$")


def _resolved(branch: dict[str, Any]) -> dict[str, Any]:
    reference = branch.get("$ref")
    return json_schema()["$defs"][reference.rpartition("/")[2]] if reference else branch


def _unknown_value(value: object, words: list[object], path: Path) -> str:
    known = [str(word) for word in words if word is not None]
    if path[-1:] == ("default",) and "endless" in known and not get_close_matches(str(value), known, 1, 0.6):
        # Beside the words stands a number, which none of them tells.
        return f"expected a number of seconds (or a count), {' or '.join(known)}, not {value!r}"
    usual = next((word for word, spellings in _USUAL.items() if str(value).lower() in spellings and word in known), None)
    if usual is not None:
        return f"unknown value {value!r}, did you mean {usual!r}?"
    return f"unknown value {value!r}{suggestion(value, known) or ', known are: ' + ', '.join(known)}"


_USUAL = {
    "s": ("sec", "secs", "second", "seconds"),
    "ms": ("msec", "millis", "millisecond", "milliseconds"),
    "us": ("usec", "micros", "microsecond", "microseconds", "µs"),
    "ns": ("nsec", "nanos", "nanosecond", "nanoseconds"),
    "min": ("m", "mins", "minute", "minutes"),
    "h": ("hr", "hour", "hours"),
    "dur": ("duration", "timedelta"),
    "count": ("int", "integer", "number", "n"),
    "total": ("timeout", "all", "overall", "request_timeout", "total_timeout"),
    "read": ("read_timeout", "response", "socket", "silence"),
    "connect": ("connect_timeout", "connection"),
    "write": ("write_timeout", "send"),
    "pool_wait": ("pool", "acquire", "pool_timeout"),
    "statement": ("query", "statement_timeout"),
    "attempts": ("retries", "tries", "max_retries", "max_attempts"),
    "concurrency": ("pool_size", "max_connections", "workers", "threads"),
    "capacity": ("queue", "queue_size", "size"),
}
"""What people write for a unit or slot whose name is not near it by its letters."""


def _kind(branch: dict[str, Any]) -> str:
    if "enum" in branch:
        return " or ".join("false" if word is False else repr(word) for word in branch["enum"])
    name = branch.get("type", "")
    if isinstance(name, list):
        return " or ".join(_KINDS.get(one, str(one)) for one in name)
    return _KINDS.get(name, str(name))


_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "a mapping",
}


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return repr(value) if isinstance(value, str) else str(value)


def _hint(value: object, branches: list[dict[str, Any]]) -> str:
    if any(branch.get("type") == "string" for branch in branches) and not isinstance(value, dict | list | bool | None):
        return " (quote it)"
    if any(branch.get("type") == "array" for branch in branches) and not isinstance(value, dict | list):
        return " (write [...])"
    return ""


def _key(path: Path) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def line_in(node: yaml.Node | None, path: Sequence[str | int]) -> int:
    """The line of the key or item at `path`, or of the nearest part of it that exists."""
    line = node.start_mark.line if node is not None else 0
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == str(step)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line
        else:
            break
    return int(line) + 1
