"""The look-ups of the engine: canonical name to what is known of it, one table per language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase, translate
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from msgspec import Struct

from resilint.knowledge.schema import (
    Bound,
    CallEntry,
    Constant,
    ContextRow,
    EntryRow,
    ErrorCall,
    ErrorEntry,
    HashRow,
    Library,
    Part,
    QueueRow,
    RetryRow,
    ScopeRow,
    SpawnRow,
    Spelling,
    TypeEntry,
)
from resilint.model import Confidence

Row = CallEntry | TypeEntry | EntryRow | ErrorEntry | ErrorCall | RetryRow

V = TypeVar("V")

Wanted = Callable[[CallEntry], bool]
"""Which calls somebody asks about. One function for one question: answers are kept under it."""


@lru_cache(maxsize=64)
def doing(*kinds: str) -> Wanted:
    """Calls that do one of these."""
    return lambda row: row.does in kinds


def spawning(row: CallEntry) -> bool:
    """Calls that start something beside their caller."""
    return row.spawn is not None


def scoping(row: CallEntry) -> bool:
    """Calls that bound other code."""
    return row.scope is not None


def every(row: CallEntry) -> bool:
    """All calls."""
    return True


class RetryWords(NamedTuple):
    """Last segments of names that have to do with retries."""

    every: frozenset[str]
    policies: frozenset[str]
    """Those that no client is known by."""
    reruns: frozenset[str]
    """Those of calls that are given an operation to repeat."""


class Knowledge:
    """All libraries, in the order of precedence: a later one replaces what an earlier one says of the same name."""

    def __init__(self, libraries: Iterable[Library], declared: Iterable[tuple[Library, str]] = ()) -> None:
        self.libraries: tuple[Library, ...] = tuple(libraries)
        self.declared: tuple[tuple[Library, str], ...] = tuple(declared)
        """The user's own among them, each with its file and line."""
        self._tables: dict[str, Table] = {}

    def of(self, language: str) -> Table:
        """The table of a language; an empty one for a language without knowledge."""
        table = self._tables.get(language)
        if table is None:
            table = Table(language, [library for library in self.libraries if library.language == language])
            self._tables[language] = table
        return table

    def sure(self, row: Struct, otherwise: Confidence = Confidence.HIGH) -> Confidence:
        """How sure a finding can be that rests on a row of a library and is `otherwise` so sure: low where nobody verified it."""
        return min(otherwise, Confidence.LOW) if id(row) in self._unverified else otherwise

    @cached_property
    def words(self) -> dict[str, frozenset[str]]:
        """Words of names by topic."""
        found: dict[str, set[str]] = {}
        for library in self.libraries:
            for topic, some in library.words.items():
                found.setdefault(topic, set()).update(some)
        return {topic: frozenset(some) for topic, some in found.items()}

    @cached_property
    def _unverified(self) -> frozenset[int]:
        """The rows of libraries that nobody verified, by identity: the libraries keep them."""
        unverified = [library for library in self.libraries if library.verified is False]
        rows = [row for library in unverified for section in _sections(library) for row in section]
        return frozenset(
            id(row) for row in (*rows, *(b for row in rows if isinstance(row, TypeEntry | CallEntry) for b in row.bounds))
        )


def _sections(library: Library) -> Iterator[tuple[Struct, ...]]:
    """The lists of rows that a library has."""
    for name in library.__struct_fields__:
        section = getattr(library, name)
        if isinstance(section, tuple) and section and isinstance(section[0], Struct):
            yield section


class Table:
    """What is known of the names of one language. Nothing in it changes once it is built."""

    def __init__(self, language: str, libraries: Sequence[Library]) -> None:
        self.language = language
        self.libraries: tuple[Library, ...] = tuple(libraries)
        self.entries: tuple[EntryRow, ...] = tuple(row for library in libraries for row in library.entries)
        self._calls: dict[str, CallEntry] = {}
        self._types: dict[str, TypeEntry] = {}
        self._made_by: dict[str, TypeEntry] = {}
        self._components: dict[str, tuple[TypeEntry, ...]] = {}
        self._instances: dict[str, TypeEntry] = {}
        self._errors: dict[str, ErrorEntry] = {}
        self._error_calls: dict[str, ErrorCall] = {}
        self._constants: dict[str, Constant] = {}
        self._texts: dict[str, str] = {}
        self._annotated: dict[str, TypeEntry] = {}
        self._retries: dict[str, RetryRow] = {}
        self._library_of: dict[int, Library] = {}
        self._mro: dict[str, tuple[TypeEntry, ...]] = {}
        self._bounds: dict[str, tuple[Bound, ...]] = {}
        self._shapes: dict[tuple[str, str], str | None] = {}
        self._lasts: dict[tuple[Wanted, frozenset[str] | None], frozenset[str]] = {}
        self._may_call: dict[tuple[Wanted, str], bool] = {}
        self._shape_modules: dict[str, bool] = {}
        for library in libraries:
            self._add(library)
        self._decorators = _by((row.decorator, row) for row in self.entries)
        self._registrations = _by((row.call, row) for row in self.entries)
        self._attributes = _by((row.attribute, row) for row in self.entries)
        self._entry_bases = _by((row.base, row) for row in self.entries)
        self._signatures = _by((row.signature or None, row) for row in self.entries)

    def _add(self, library: Library) -> None:
        for call in library.calls:
            self._library_of[id(call)] = library
            self._calls.update(dict.fromkeys(call.names, call))
        for type_entry in library.types:
            self._library_of[id(type_entry)] = library
            replaced = self._types.get(type_entry.name)
            if replaced is not None:
                self._types.update(dict.fromkeys(replaced.aliases, type_entry))
            self._types[type_entry.name] = type_entry
            self._types.update(dict.fromkeys(type_entry.aliases, type_entry))
            self._made_by.update(dict.fromkeys(type_entry.made_by, type_entry))
            for name in (x.partition("#")[0] for x in type_entry.made_by if "#" in x):
                self._components[name] = (*self._components.get(name, ()), type_entry)
            self._instances.update(dict.fromkeys(type_entry.instances, type_entry))
            self._annotated.update(dict.fromkeys(type_entry.annotations, type_entry))
        for error in library.errors:
            self._library_of[id(error)] = library
            self._errors.update(dict.fromkeys(error.names, error))
        for error_call in library.error_calls:
            self._library_of[id(error_call)] = library
            self._error_calls.update(dict.fromkeys(error_call.names, error_call))
        self._constants.update(library.constants)
        self._texts.update(library.texts)
        for row in library.entries:
            self._library_of[id(row)] = library
        for retry in library.retries:
            self._library_of[id(retry)] = library
            self._retries.update(dict.fromkeys(retry.names, retry))

    def call(self, name: str) -> CallEntry | None:
        """What calling `name` does: a function, or `Type.method` also by an alias, an instance or a base of the type, or by
        what the type says of every method it does not list."""
        found = self._calls.get(name)
        if found is not None:
            return found
        owner, method = self._owner(name)
        if owner is None:
            return None
        levels = self.mro(owner.name)
        found = _on_levels(self._calls, levels, method)
        if found is not None or method.startswith("__"):
            return found
        for level in levels:
            if method in _listed_methods(level):
                return None
            if level.any_method is not None:
                left_out = any(fnmatchcase(method, pattern) for pattern in level.any_except)
                return None if left_out else self._calls.get(level.any_method)
        return None

    def lasts(self, wanted: Wanted, libraries: frozenset[str] | None = None) -> frozenset[str]:
        """The last segments of the calls that one of the wanted rows describes, of these libraries."""
        key = (wanted, libraries)
        found = self._lasts.get(key)
        if found is None:
            names = (
                name
                for name, call in self._calls.items()
                if (libraries is None or self._library_of[id(call)].library in libraries) and wanted(call)
            )
            found = self._lasts[key] = frozenset(name.rpartition(".")[2] for name in names)
        return found

    @cached_property
    def unimported(self) -> frozenset[str]:
        """Libraries whose calls may be met without an import of theirs: known by the names of generated code, or described in part
        by the name of another package."""

        def roots(names: Iterable[str]) -> set[str]:
            return {name.partition(".")[0] for name in names}

        return frozenset(
            library.library
            for library in self.libraries
            if library.shapes or not roots(library.modules).issuperset(roots(n for call in library.calls for n in call.names))
        )

    def may_call(self, name: str, wanted: Wanted) -> bool:
        """Whether a wanted row may describe a call that is declared as `Type.method`: one of the type, or of a type below it, which
        the object may be of."""
        key = (wanted, name)
        found = self._may_call.get(key)
        if found is None:
            owner, _, member = name.rpartition(".")
            head, _, last = owner.rpartition(".")
            known = self._types.get(owner)
            spelled = known.name if known is not None else self.shape(head, last) or owner
            below = (f"{kind}.{member}" for kind in (spelled, *self._below.get(spelled, ())))
            found = owner in self._constants or any((row := self.call(full)) is not None and wanted(row) for full in (name, *below))
            self._may_call[key] = found
        return found

    @cached_property
    def _below(self) -> dict[str, list[str]]:
        """For each type those that stand on it."""
        found: dict[str, list[str]] = {}
        for kind in {id(kind): kind for kind in self._types.values()}.values():
            for base in self.mro(kind.name)[1:]:
                found.setdefault(base.name, []).append(kind.name)
        return found

    def type(self, name: str) -> TypeEntry | None:
        """The type of this name or alias."""
        return self._types.get(name)

    def constructs(self, name: str) -> TypeEntry | None:
        """The type that a call of `name` constructs with the arguments of the type's own bounds."""
        return self._types.get(name)

    def made_by(self, name: str) -> TypeEntry | None:
        """The type that the function or method `name` returns, with arguments of its own."""
        return self._find(self._made_by, name)

    def components(self, name: str) -> tuple[TypeEntry, ...]:
        """The types that stand in a tuple that the function or method `name` returns, as far as they are known."""
        return self._components.get(name, ())

    def instance(self, name: str) -> TypeEntry | None:
        """The type of the package variable `name`."""
        return self._instances.get(name)

    def mro(self, name: str) -> tuple[TypeEntry, ...]:
        """The type and all its known bases, nearest first; empty for an unknown type."""
        known = self._mro.get(name)
        if known is None:
            levels: list[TypeEntry] = []
            waiting = [name]
            for current in waiting:
                entry = self._types.get(current)
                if entry is not None and not any(entry is level for level in levels):
                    levels.append(entry)
                    waiting.extend(entry.bases)
            known = self._mro[name] = tuple(levels)
        return known

    def bounds(self, name: str) -> tuple[Bound, ...]:
        """The bounds of a type, its own first; those of a base where no nearer type says something of the same place."""
        known = self._bounds.get(name)
        if known is None:
            merged: list[Bound] = []
            for level in self.mro(name):
                taken = {_place(bound) for bound in merged}
                merged.extend(bound for bound in level.bounds if _place(bound) not in taken)
            known = self._bounds[name] = tuple(merged)
        return known

    def returned(self, name: str) -> str | None:
        """The type that `Type.method` or `Type.field` gives, by the call's entry or by `returns` of the type or a base."""
        call = self._calls.get(name)
        if call is not None and call.returns is not None:
            return call.returns
        owner, member = self._owner(name)
        if owner is None:
            return None
        for level in self.mro(owner.name):
            if member in level.returns:
                given = level.returns[member]
                return owner.name if given == "this" else given
        found = self.call(name)
        if found is not None:
            return found.returns
        return owner.name if self._is_fluent(owner, member) else None

    def returns_itself(self, name: str) -> bool:
        """Whether `Type.method` gives the very object it is called on, as builders do."""
        call = self._calls.get(name)
        owner, member = self._owner(name)
        if owner is None or (call is not None and call.returns is not None):
            return False
        for level in self.mro(owner.name):
            if member in level.returns:
                return level.returns[member] == "this"
        return self.call(name) is None and self._is_fluent(owner, member)

    def _is_fluent(self, owner: TypeEntry, member: str) -> bool:
        return not member.startswith("__") and any(level.fluent for level in self.mro(owner.name))

    def shape(self, module: str, symbol: str) -> str | None:
        """The known type for a name of generated code, by pattern; the later library wins."""
        key = (module, symbol)
        if key not in self._shapes:
            self._shapes[key] = next(
                (known for of_module, of_symbol, known in self._shape_rows if of_module.match(module) and of_symbol.match(symbol)),
                None,
            )
        return self._shapes[key]

    def shapes_module(self, module: str) -> bool:
        """Whether some generated code is recognised by this module's name."""
        known = self._shape_modules.get(module)
        if known is None:
            known = self._shape_modules[module] = any(of_module.match(module) for of_module, _, _ in self._shape_rows)
        return known

    def is_open_ended(self, target: str, name: str = "") -> bool:
        """Whether an import of `target`, or of `name` from it, is of a library whose objects wait in every method, or of generated
        code that stands for such."""
        modules = self.open_ended_modules
        if target in modules or target.partition(".")[0] in modules or self.shapes_module(target):
            return True
        return bool(name) and self.shapes_module(f"{target}.{name}")

    def library_of(self, entry: Row) -> Library:
        """The library that an entry of this table belongs to. Raises `KeyError` for an entry from elsewhere."""
        return self._library_of[id(entry)]

    def cap(self, entry: Row) -> Confidence | None:
        """The highest confidence of a finding that rests on this entry; `None`: no limit."""
        return Confidence.LOW if self.library_of(entry).verified is False else None

    def source(self, entry: Row) -> str:
        """Where the facts of this entry were read."""
        return self.library_of(entry).source

    def decorator(self, name: str) -> tuple[EntryRow, ...]:
        """Entries made by decorating with `name`."""
        return self._find(self._decorators, name) or ()

    def registration(self, name: str) -> tuple[EntryRow, ...]:
        """Entries made by calling `name`."""
        return self._find(self._registrations, name) or ()

    def attribute(self, name: str) -> tuple[EntryRow, ...]:
        """Entries made by assigning to `Type.attribute`."""
        return self._find(self._attributes, name) or ()

    def entry_base(self, name: str) -> tuple[EntryRow, ...]:
        """Entries that methods of a subclass of `name` are, by the class, an alias or a base of it."""
        direct = self._entry_bases.get(name)
        if direct is not None:
            return direct
        for level in self.mro(name):
            for spelling in (level.name, *level.aliases):
                if spelling in self._entry_bases:
                    return self._entry_bases[spelling]
        return next((rows for pattern, rows in self._entry_bases.items() if "*" in pattern and fnmatchcase(name, pattern)), ())

    def signature(self, parameters: tuple[str, ...]) -> tuple[EntryRow, ...]:
        """Entries that functions with exactly these parameter types are."""
        return self._signatures.get(parameters, ())

    def error(self, name: str) -> str | None:
        """The cause an error value or class stands for: `timeout`, `cancel`, `both`, `any`."""
        entry = self._errors.get(name)
        return entry.cause if entry is not None else None

    def error_entry(self, name: str) -> ErrorEntry | None:
        """The entry behind `error`, for its library."""
        return self._errors.get(name)

    def error_call(self, name: str) -> str | None:
        """What a call does with an error it is given: `wraps`, `loses`, `format`, `tests`, `edge`."""
        entry = self._find(self._error_calls, name)
        return entry.how if entry is not None else None

    def error_call_entry(self, name: str) -> ErrorCall | None:
        """The entry behind `error_call`, for its library."""
        return self._find(self._error_calls, name)

    def constant(self, name: str) -> Constant | None:
        """The value of a named constant."""
        return self._constants.get(name)

    def text(self, name: str) -> str | None:
        """The text that a named constant stands for."""
        return self._texts.get(name)

    def annotated(self, name: str) -> TypeEntry | None:
        """The type that an interface, class or field with this annotation is or holds."""
        return self._annotated.get(name)

    def retry(self, name: str) -> RetryRow | None:
        """How something of that name repeats what failed."""
        return self._find(self._retries, name) if name else None

    @cached_property
    def cursors(self) -> tuple[TypeEntry, ...]:
        """Types of results that have a method which bounds them."""
        types = (kind for library in self.libraries for kind in library.types if kind.role == "cursor")
        return tuple(kind for kind in types if any(row.setter is not None for row in kind.bounds))

    @cached_property
    def spellings(self) -> tuple[Spelling, ...]:
        """How durations are written, the largest units first."""
        return tuple(row for library in self.libraries for row in library.spellings)

    @cached_property
    def watchers(self) -> frozenset[str]:
        """Last segments of the calls that tell when an object is ready."""
        calls = (call for library in self.libraries for call in library.calls if call.watches is not None)
        return frozenset(name.rpartition(".")[2] for call in calls for name in call.names)

    @cached_property
    def retry_words(self) -> RetryWords:
        """Last segments of all that makes or applies a policy of retries."""
        return self._retry_words(library for library in self.libraries if library.retries)

    @cached_property
    def retry_words_of(self) -> dict[str, RetryWords]:
        """The same for each import name of a library with such rows."""
        by_module: dict[str, list[Library]] = {}
        for library in self.libraries:
            for module in library.modules if library.retries else ():
                by_module.setdefault(module, []).append(library)
        return {module: self._retry_words(libraries) for module, libraries in by_module.items()}

    def _retry_words(self, libraries: Iterable[Library]) -> RetryWords:
        words: tuple[set[str], set[str], set[str]] = (set(), set(), set())
        for row in (row for library in libraries for row in library.retries):
            kinds = [kind for name in row.names if (kind := self._types.get(name)) is not None]
            made = (name for kind in kinds for name in (kind.name, *kind.aliases, *kind.made_by))
            last = {name.rpartition(".")[2] for name in (*row.names, *made)}
            words[0].update(last)
            words[1].update(last if row.form != "client" else ())
            words[2].update(last if row.form == "call" else ())
        return RetryWords(*map(frozenset, words))

    @cached_property
    def retry_modules(self) -> frozenset[str]:
        """Import names of the libraries with such rows."""
        return frozenset(module for library in self.libraries if library.retries for module in library.modules)

    def queue(self, name: str) -> QueueRow | None:
        """What a call of `name` does to its receiver as a queue."""
        call = self.call(name)
        return call.queue if call is not None else None

    def hash(self, name: str) -> HashRow | None:
        """What kind of hash a call of `name` gives."""
        call = self.call(name)
        return call.hash if call is not None else None

    def context(self, name: str) -> ContextRow | None:
        """How a call of `name` makes a deadline carrier."""
        call = self.call(name)
        return call.makes if call is not None else None

    def scope(self, name: str) -> ScopeRow | None:
        """How a call of `name` bounds other code."""
        call = self.call(name)
        return call.scope if call is not None else None

    def spawn(self, name: str) -> SpawnRow | None:
        """How a call of `name` starts code beside its caller."""
        call = self.call(name)
        return call.spawn if call is not None else None

    def distributions(self, row: Bound) -> tuple[str, ...]:
        """By what names the library of a row that holds for some versions only may be pinned, the likeliest first."""
        return self._distributions.get(id(row), ())

    def positions_beside(self, row: Bound) -> frozenset[int] | None:
        """The positions that other rows of the same call or type take, for a row that gives a name and no position without having
        been tried with the library: its argument may be positional. `None` for any other row."""
        return self._untried.get(id(row))

    @cached_property
    def _untried(self) -> dict[int, frozenset[int]]:
        known: dict[int, frozenset[int]] = {}
        for library in self.libraries:
            if library.verified is not False and library.verified != "declared":
                continue
            groups: list[tuple[tuple[Bound, ...], set[int]]] = [
                *((entry.bounds, {part.pos for part in entry.parts if part.pos is not None}) for entry in library.types),
                *((call.bounds, {at for at in (call.request, call.context) if at is not None}) for call in library.calls),
            ]
            for rows, others in groups:
                taken = frozenset(others | {row.pos for row in rows if row.pos is not None})
                known.update((id(row), taken) for row in rows if row.arg is not None and row.pos is None)
        return known

    @cached_property
    def _distributions(self) -> dict[int, tuple[str, ...]]:
        known: dict[int, tuple[str, ...]] = {}
        for library in self.libraries:
            own = (library.library, *library.modules)
            for entry in library.types:
                names = own if entry.version_of is None else (entry.version_of,)
                known.update((id(row), names) for row in entry.bounds if row.since is not None or row.before is not None)
            for rows in (*(call.bounds for call in library.calls), *(retry.bounds for retry in library.retries)):
                known.update((id(row), own) for row in rows if row.since is not None or row.before is not None)
        return known

    @cached_property
    def error_words(self) -> frozenset[str]:
        """Last segments of known error values and of calls that handle errors: anything else need not be looked up as one."""
        return frozenset(name.rpartition(".")[2] for name in (*self._errors, *self._error_calls))

    @cached_property
    def context_words(self) -> frozenset[str]:
        """Last segments of the calls that make a context."""
        return frozenset(name.rpartition(".")[2] for name, call in self._calls.items() if call.makes is not None)

    @cached_property
    def modules(self) -> frozenset[str]:
        """The import names that are evidence for a known library."""
        return frozenset(module for library in self.libraries for module in library.modules)

    @cached_property
    def open_ended_modules(self) -> frozenset[str]:
        """Import names of libraries with types whose every method behaves alike."""
        return frozenset(m for library in self.libraries if any(t.any_method for t in library.types) for m in library.modules)

    @cached_property
    def names(self) -> frozenset[str]:
        """The last segments of everything that can be called or decorated with: what to look for in code."""
        return frozenset(name.rpartition(".")[2] for name in self.canonical_names) | self._member_names

    @cached_property
    def canonical_names(self) -> frozenset[str]:
        """Every canonical name of this table."""
        known: set[str] = set()
        for part in (
            *(self._calls, self._types, self._made_by, self._instances),
            *(self._error_calls, self._decorators, self._annotated, self._retries),
        ):
            known.update(part)
        known.update(self._registrations)
        known.update(bound.option for bound in self._all_bounds() if bound.option is not None)
        return frozenset(known)

    @cached_property
    def class_names(self) -> frozenset[str]:
        """Full names of classes that anything here is about: a canonical name up to its first capital letter after a dot."""
        out: set[str] = set()
        for name in self.canonical_names:
            parts = name.split(".")
            first = next((at for at, part in enumerate(parts) if part[:1].isupper()), None)
            if first:
                out.add(".".join(parts[: first + 1]))
        return frozenset(out)

    def is_known_module(self, path: str) -> bool:
        """Whether an import of `path` is evidence for a known library: its module or one inside it."""
        if path in self.modules:
            return True
        separator = "/" if self.language == "go" else "."
        while separator in path:
            path = path.rpartition(separator)[0]
            # `net` is a module of its own beside `net/url`; only a repository's path owns what lies below it.
            if path in self.modules and (self.language != "go" or "." in path.partition("/")[0]):
                return True
        return False

    @cached_property
    def _member_names(self) -> frozenset[str]:
        members: set[str] = set()
        for entry in self._types.values():
            members.update(_listed_methods(entry), entry.delegates)
        return frozenset(members)

    @cached_property
    def _shape_rows(self) -> list[tuple[re.Pattern[str], re.Pattern[str], str]]:
        rows = [row for library in reversed(self.libraries) for row in library.shapes]
        return [(re.compile(translate(row.module)), re.compile(translate(row.name)), row.type) for row in rows]

    def _all_bounds(self) -> Iterator[Bound]:
        for library in self.libraries:
            for type_entry in library.types:
                yield from type_entry.bounds
            for call in library.calls:
                yield from call.bounds

    def _owner(self, name: str) -> tuple[TypeEntry | None, str]:
        owner, _, member = name.rpartition(".")
        return self._types.get(owner) or self._instances.get(owner), member

    def _find(self, rows: dict[str, V], name: str) -> V | None:
        found = rows.get(name)
        if found is not None:
            return found
        owner, member = self._owner(name)
        return _on_levels(rows, self.mro(owner.name), member) if owner is not None else None


def holds(bound: Bound, version: str | None) -> bool:
    """Whether a row holds for a version of its library. Of an unknown version the newest rows hold: those without `before`."""
    if version is None or not (at := _version(version)):
        return bound.before is None
    if bound.since is not None and at < _version(bound.since):
        return False
    return bound.before is None or at < _version(bound.before)


def duplicates(libraries: Iterable[Library]) -> list[str]:
    """Names that two entries of one language and kind claim, one line each."""
    owners: dict[tuple[str, str, str], list[str]] = {}
    for library in libraries:
        claims = [
            *(("call", name) for call in library.calls for name in call.names),
            *(("type", name) for entry in library.types for name in (entry.name, *entry.aliases)),
            *(("made_by", name) for entry in library.types for name in entry.made_by),
            *(("instance", name) for entry in library.types for name in entry.instances),
            *(("error", name) for error in library.errors for name in error.names),
            *(("constant", name) for name in library.constants),
            *(("error_call", name) for error_call in library.error_calls for name in error_call.names),
        ]
        for kind, name in claims:
            owners.setdefault((library.language, kind, name), []).append(library.library)
    return [
        f"{language} {kind} {name}: {', '.join(libraries_of)}"
        for (language, kind, name), libraries_of in sorted(owners.items())
        if len(libraries_of) > 1
    ]


K = TypeVar("K")


def _by(pairs: Iterable[tuple[K | None, EntryRow]]) -> dict[K, tuple[EntryRow, ...]]:
    rows: dict[K, tuple[EntryRow, ...]] = {}
    for key, row in pairs:
        if key is not None:
            rows[key] = (*rows.get(key, ()), row)
    return rows


def _on_levels(rows: dict[str, V], levels: tuple[TypeEntry, ...], member: str) -> V | None:
    for level in levels:
        for spelling in (level.name, *level.aliases, *level.instances):
            found = rows.get(f"{spelling}.{member}")
            if found is not None:
                return found
    return None


def _listed_methods(entry: TypeEntry) -> set[str]:
    places: tuple[Bound | Part, ...] = (*entry.bounds, *entry.parts)
    return {*entry.returns, *(place.setter for place in (*places, *entry.url, *entry.driver_keys) if place.setter is not None)}


def _place(bound: Bound) -> tuple[object, ...]:
    return (
        bound.slot,
        bound.arg if bound.arg is not None else bound.pos,
        bound.field,
        bound.class_attr,
        bound.setter,
        bound.option,
        bound.key,
        bound.statement,
        bound.annotation,
        bound.setting,
        bound.arity,
        bound.item,
    )


_VERSION = re.compile(r"\s*[=~^]*\s*(?:v|go)?(\d+(?:\.\d+)*)(.*)", re.IGNORECASE | re.DOTALL)
_PRERELEASE = re.compile(r"[-._]?(?:a|alpha|b|beta|c|rc|pre|preview|dev|m|snapshot|0\.\d{14})(?![a-z])", re.IGNORECASE)


def _version(text: str) -> tuple[tuple[int, ...], int] | tuple[()]:
    """Release numbers without trailing zeros, and 0 for a pre-release, else 1; empty for text that is no version."""
    match = _VERSION.match(text)
    if match is None:
        return ()
    release = [int(part) for part in match[1].split(".")]
    while release and release[-1] == 0:
        release.pop()
    return tuple(release), 0 if _PRERELEASE.match(match[2]) else 1
