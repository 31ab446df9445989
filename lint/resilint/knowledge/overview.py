"""The text of `resilint knowledge [NAME]`."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from resilint.knowledge.index import Knowledge, Table
from resilint.knowledge.loader import KnowledgeError
from resilint.knowledge.schema import Bound, CallEntry, Library, Scalar, TypeEntry

_COUNTED = {"count": "", "bool": "", "bytes": " bytes"}
_FULL = {"waits": "waits for room", "fails": "refuses", "drops": "loses an item", "caller": "runs it in the caller"}
_HASH = {"stable": "the same in every process", "process": "differs between processes", "contents": "as that of what is in it"}


def describe_in(knowledge: Knowledge, name: str | None) -> str:
    """All libraries as a table, or what is known of a library or canonical name. Raises `KnowledgeError` for an unknown name."""
    if name is None:
        return _table(knowledge)
    tables = [knowledge.of(language) for language in sorted({library.language for library in knowledge.libraries})]
    libraries = [library for library in knowledge.libraries if library.library.casefold() == name.casefold()]
    parts = ["\n".join(_library(library)) for library in libraries]
    parts += ["\n".join(lines) for table in tables if (lines := list(_name(table, name)))]
    if parts:
        return "\n\n".join(parts)
    raise KnowledgeError(f"nothing is known of {name!r}{_near(knowledge, tables, name)}")


def _table(knowledge: Knowledge) -> str:
    rows = [("language", "library", "calls", "types", "verified")]
    for library in sorted(knowledge.libraries, key=lambda one: (one.language, one.library.casefold(), str(one.verified))):
        calls = sum(len(call.names) for call in library.calls)
        rows.append((library.language, library.library, str(calls), str(len(library.types)), _verified(library)))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def _verified(library: Library) -> str:
    return "no" if library.verified is False else library.verified


def _library(library: Library) -> Iterator[str]:
    yield f"{library.library} ({library.language})"
    yield f"  source: {library.source}"
    yield f"  verified: {_verified(library)}"
    if library.modules:
        yield f"  modules: {', '.join(library.modules)}"
    for type_entry in library.types:
        yield ""
        yield from _type(type_entry, type_entry.bounds)
    for call in library.calls:
        yield ""
        yield from _call(call, call.names)
    if library.errors or library.error_calls or library.entries or library.shapes:
        yield ""
    for error in library.errors:
        yield f"{', '.join(error.names)}: an error, cause: {error.cause}"
    for error_call in library.error_calls:
        yield f"{', '.join(error_call.names)}: handles an error, {error_call.how}"
    for row in library.entries:
        place = row.decorator or row.call or row.attribute or row.base or row.takes or f"({', '.join(row.signature)})"
        yield f"{place}: leads to an entry point, {row.kind}"
    for shape in library.shapes:
        yield f"{shape.module}.{shape.name}: generated, stands for {shape.type}"
    for note in library.notes:
        yield ""
        yield f"  note: {note}"


def _name(table: Table, name: str) -> Iterator[str]:
    type_entry = table.type(name) or table.instance(name) or table.made_by(name)
    call = table.call(name)
    if type_entry is not None:
        yield from _type(type_entry, table.bounds(type_entry.name))
        yield from _origin(table.library_of(type_entry))
    if call is not None:
        if type_entry is not None:
            yield ""
        yield from _call(call, (name,))
        yield from _origin(table.library_of(call))
    error, error_call = table.error_entry(name), table.error_call_entry(name)
    if error is not None:
        yield f"{name}: an error, cause: {error.cause}"
        yield from _origin(table.library_of(error))
    if error_call is not None:
        yield f"{name}: handles an error, {error_call.how}"
        yield from _origin(table.library_of(error_call))
    for row in (*table.decorator(name), *table.registration(name), *table.entry_base(name), *table.attribute(name)):
        yield f"{name}: leads to an entry point, {row.kind}"
        yield from _origin(table.library_of(row))


def _origin(library: Library) -> Iterator[str]:
    yield f"  library: {library.library} ({library.language}), verified: {_verified(library)}"
    yield f"  source: {library.source}"


def _type(entry: TypeEntry, bounds: tuple[Bound, ...]) -> Iterator[str]:
    protocol = f", {entry.protocol}" if entry.protocol else ""
    yield f"{entry.name}: {entry.role}{protocol}"
    for word, names in (
        ("also", entry.aliases),
        ("made by", entry.made_by),
        ("instances", entry.instances),
        ("bases", entry.bases),
        ("one bounds every wait", entry.enough),
        ("stands for what is annotated with", entry.annotations),
    ):
        if names:
            yield f"  {word}: {', '.join(names)}"
    if entry.any_method is not None:
        yield f"  other methods: as {entry.any_method}"
    for said, words in (
        (entry.fluent, "its methods give the object itself"),
        (entry.shared, "one for the whole process"),
        (entry.event_loop, "its threads must never wait"),
        (entry.when_full is not None, f"when full: {_FULL.get(entry.when_full or '')}"),
        (entry.hash is not None, f"hash: {_HASH.get(entry.hash or '')}"),
        (entry.order is not None, f"order of iteration: {entry.order}"),
    ):
        if said:
            yield f"  {words}"
    yield from _bounds(bounds)
    for need in entry.needs:
        yield f"  needs {' or '.join(need.any)}: else {need.say} ({need.severity})"


def _call(entry: CallEntry, names: tuple[str, ...]) -> Iterator[str]:
    protocol = f", {entry.protocol}" if entry.protocol else ""
    yield f"{', '.join(names)}: {entry.does}{protocol}"
    if entry.returns is not None:
        by = "".join(f", {kind} for {constant}" for constant, kind in sorted(entry.returns_by.items()))
        yield f"  gives: {entry.returns}{by}"
    if entry.wraps is not None:
        yield f"  makes of a function: {entry.wraps}"
    if entry.watches is not None:
        yield f"  watches: argument {entry.watches + 1}"
    if entry.holder is not None:
        yield f"  bounded by: {entry.holder}"
    if entry.context is not None:
        yield f"  deadline: carried by argument {entry.context + 1}"
    if entry.request is not None:
        yield f"  deadline: of the request, argument {entry.request + 1}"
    if entry.takes_no_context:
        yield "  deadline: takes no context"
    if entry.arity:
        yield f"  only with {' or '.join(map(str, entry.arity))} arguments"
    if entry.spawn is not None and entry.spawn.default_executor is not None:
        unless = ", unless an executor is given" if entry.spawn.executor is not None else ""
        yield f"  runs on: {entry.spawn.default_executor}{unless}"
    if entry.queue is not None:
        full = f", when full: {_FULL[entry.queue.when_full]}" if entry.queue.op == "put" else ""
        yield f"  queue: {entry.queue.op}{full}"
    if entry.hash is not None:
        scheme = "" if entry.hash.scheme == "hash" else f"chooses by {entry.hash.scheme}, "
        yield f"  hash: {scheme}{_HASH[entry.hash.kind]}"
    if entry.order is not None:
        yield f"  order of what it gives: {entry.order}"
    if entry.peers:
        yield "  gives peers that come and go"
    yield from _bounds(entry.bounds)


def bound_words(bound: Bound) -> str:
    """Where a bound is written, in which unit, what holds by default and what switches it off."""
    return "; ".join(_bound(bound))


def _bounds(bounds: tuple[Bound, ...]) -> Iterator[str]:
    for bound in bounds:
        yield f"  {bound.slot}: {bound_words(bound)}"


def _bound(bound: Bound) -> Iterator[str]:
    yield " or ".join(_places(bound)) or "cannot be written"
    if bound.item is not None:
        yield f"item {bound.item + 1} of a tuple"
    if bound.arity:
        yield f"with {' or '.join(map(str, bound.arity))} arguments"
    if bound.unit_pos is not None:
        yield "unit: the receiver" if bound.unit_pos < 0 else f"unit: argument {bound.unit_pos + 1}"
    else:
        yield f"unit {bound.unit}"
    yield f"default {_default(bound)}"
    if bound.disabled:
        yield f"switched off by {', '.join(_value(value) for value in bound.disabled)}"
    if bound.since is not None:
        yield f"since {bound.since}"
    if bound.before is not None:
        yield f"before {bound.before}"
    if bound.covers_phase:
        yield "covers a phase only"
    if bound.counts_retries:
        yield "the written number counts retries"


def _value(value: Scalar) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value)


def _places(bound: Bound) -> Iterator[str]:
    at = "" if bound.pos is None else f"argument {bound.pos + 1}"
    inside = [
        *([f"field {bound.field}"] if bound.field is not None else []),
        *([f"key {bound.key}" + (f" in {bound.key_in}" if bound.key_in is not None else "")] if bound.key is not None else []),
    ]
    if bound.option is not None:
        # A field or key beside an option belongs to what the option is given.
        yield f"{', '.join(inside)}{' of ' if inside else ''}option {bound.option}(...)" + (f" {at}" if at else "")
        inside = []
    if bound.setter is not None and bound.key is not None:
        yield f".{bound.setter}({bound.key}, ...)"
        inside = inside[:-1]
    elif bound.setter is not None:
        yield f".{bound.setter}(...)" + (f" {at}" if at else "")
    if bound.annotation is not None:
        yield f"@{bound.annotation}({bound.arg})"
    elif bound.arg is not None:
        yield f"{bound.arg}=" + (f" ({at})" if at else "")
    elif at and bound.setter is None and bound.option is None:
        yield at
    if bound.class_attr is not None:
        yield f"class attribute {bound.class_attr}"
    yield from inside
    if bound.statement is not None:
        yield f"SET {bound.statement}"
    if bound.setting is not None:
        yield f"setting {bound.setting}"


def _default(bound: Bound) -> str:
    if bound.default == "endless":
        return "none: endless"
    if bound.default == "unset":
        return "decided elsewhere"
    return f"{bound.default:g}{_COUNTED.get(bound.unit, ' s')}"


def _near(knowledge: Knowledge, tables: list[Table], name: str) -> str:
    known = {library.library for library in knowledge.libraries}.union(*(table.canonical_names for table in tables))
    ending = sorted(one for one in known if one.endswith((f".{name}", f"/{name}")))
    near = ending[:3] or get_close_matches(name, sorted(known), 3, 0.6)
    return f", did you mean {' or '.join(repr(one) for one in near)}?" if near else ""
