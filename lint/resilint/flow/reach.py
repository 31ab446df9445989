"""Which names may hold a library's waiting object: a forward pass by names, so that only those are resolved in full.

It over-approximates: a name is one for the whole program, whatever holds it. What it leaves out cannot be an object of a known
library, because no construction, import, annotation or known result leads to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import resilint.facts as f
from resilint.knowledge.index import Table
from resilint.knowledge.schema import Bound, TypeEntry
from resilint.link.code import Body, CallSite, Fun, Klass, Module, children, declared_types, dotted, last_name
from resilint.link.looks import Scan, any_of
from resilint.link.names import exchanged

if TYPE_CHECKING:
    from resilint.link.names import Names
    from resilint.program import Program


_WRAPPERS = frozenset(
    {
        "partial",
        "closing",
        "aclosing",
        "enter_context",
        "enter_async_context",
        "list",
        "tuple",
        "dict",
        "cast",
        "copy",
        "append",
        "getattr",
        "iter",
        "next",
    }
)
"""Calls whose result holds what they are given, as far as a name is concerned."""


_BASIC = frozenset(
    {
        "str",
        "int",
        "float",
        "bool",
        "bytes",
        "string",
        "error",
        "byte",
        "rune",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint",
        "uint8",
        "uint16",
    }
    | {"uint32", "uint64", "float32", "float64", "None", "context.Context", "time.Duration", "time.Time"}
)


_SPECIAL = frozenset(
    {"__enter__", "__aenter__", "__call__", "__getitem__", "__iter__", "__aiter__", "__next__", "__anext__", "__get__"}
)
"""Methods that no call names."""

_CONTAINED = frozenset({"values", "items", "copy", "popitem", "popleft", "setdefault"})
"""Methods of collections that give what these hold."""

_BY_LANGUAGE = {"enter": ("__enter__", "__aenter__"), "each": ("__iter__", "__aiter__", "__next__", "__anext__")}
"""Methods that give a name its value, by the kind of its definition."""

_MACHINERY = frozenset({"executor", "group", "thread", "process", "future", "event", "lock", "gate"})
"""Roles of what runs code: an event loop can open connections too, but is no client."""

_MOST_DOTS = 50
"""In a name: what has more was not written by anybody, and each is a level of the search."""

_LOOKED_AT = 64
"""Bodies that are kept during the pass for a short time."""
_VISITED_AGAIN = 4096
"""Bodies that are kept to its end, as they were visited more than once: most of them will be again."""

_NOTHING, _ANYTHING, _WAITS, _GIVES = range(4)
"""What a name is outside of the program: nothing, something of no concern, a function that waits, what is or gives an object."""

_NEVER = frozenset({f.Lit, f.Fn, f.Fmt, f.Is})
"""Expressions that hold no object."""

_FEW = 6
"""A method name with more definitions than this says nothing about which is meant where the receiver is not known."""


class Headers:
    """The names that the files of one language write: who uses them, and what is declared under them."""

    def __init__(self, names: Names, language: str, table: Table) -> None:
        self.users: dict[str, list[Fun]] = {}
        """Functions whose header has the name as a segment of what they call or pass on."""
        self.readers: dict[str, list[Fun]] = {}
        """Those of them where something stands before it: who may read an attribute of that name."""
        self.functions: dict[str, list[Fun]] = {}
        self.classes: dict[str, list[Klass]] = {}
        self._names = names
        self._language = language
        self._table = table
        self._imports: dict[str, dict[str, tuple[str, ...]]] = {}
        self._sources: dict[tuple[Module, str], frozenset[Module]] = {}
        self._homes: dict[tuple[str, str, int], Module | str | None] = {}
        self._used: frozenset[str] | None = None
        self._occurring: tuple[frozenset[str], frozenset[str]] | None = None
        self._told: dict[str, tuple[list[str], list[f.Import]]] = {}
        """Of each file what `_aliases` takes from its imports."""
        self._aliases = self._known_aliases()
        """Names under which files of Python have something of a known package, and which others may import from them."""
        self._imported: dict[str, list[tuple[Module, f.Import]]] | None = None
        self._renamed: dict[str, set[str]] | None = None
        self._spoken: dict[str, list[Fun]] | None = None
        self.nested: dict[Fun, list[Fun]] = {}
        """Functions that stand directly in another."""
        self.defaults: dict[Fun, list[tuple[Fun, f.Param]]] = {}
        """Parameters with a default, by the function or file's body in which that is worked out."""
        self.fields: dict[str, list[f.Type | None]] = {}
        """The types that fields are declared with, by name."""
        self.initial: dict[Fun, list[tuple[Klass, f.ClassField]]] = {}
        """Fields that begin with something, likewise."""
        for module in names.modules.values():
            if module.language == language:
                self._add(module)

    def _add(self, module: Module) -> None:
        for fun in module.functions:
            for index, names in self._listed(fun):
                for name in names:
                    found = index.get(name)
                    if found is None:
                        index[name] = [fun]
                    else:
                        found.append(fun)
        for klass in module.classes:
            self.classes.setdefault(klass.name, []).append(klass)
        self._add_places(module)

    def _add_places(self, module: Module) -> None:
        """What of a file is found by the place where it stands."""
        for fun in module.functions:
            if fun.index:
                around = module.functions[max(fun.head.parent, 0)]
                if around.index:
                    self.nested.setdefault(around, []).append(fun)
                for param in fun.head.params:
                    if param.default is not None:
                        self.defaults.setdefault(around, []).append((fun, param))
        for klass in module.classes:
            for field in klass.decl.fields:
                self.fields.setdefault(field.name, []).append(field.type)
                if field.init is not None:
                    self.initial.setdefault(module.functions[max(klass.decl.parent, 0)], []).append((klass, field))

    def _listed(self, fun: Fun) -> Iterator[tuple[dict[str, list[Fun]], Iterable[str]]]:
        """The indices in which a function stands, with the names under which it does."""
        if fun.head.kind in ("free", "method"):
            yield self.functions, (fun.name,)
        parts, read = segments_of(fun)
        yield self.users, parts
        yield self.readers, read

    def exchange(self, old: Module, new: Module) -> None:
        """Puts a file in the place of its old self. What imports of other files give its names is left as it was."""
        for module, put in ((old, False), (new, True)):
            for fun in module.functions:
                for index, names in self._listed(fun):
                    for name in names:
                        exchanged(index, name, fun, put)
            for klass in module.classes:
                exchanged(self.classes, klass.name, klass, put)
        for fun in old.functions:
            self.nested.pop(fun, None)
            self.defaults.pop(fun, None)
            self.initial.pop(fun, None)
        for klass in old.classes:
            for field in klass.decl.fields:
                self.fields[field.name].remove(field.type)
        self._add_places(new)
        for memo in (self._imports, self._sources, self._homes):
            memo.clear()
        if self._imported is not None:
            for imp in old.facts.imports:
                if imp.name in self._imported:
                    self._imported[imp.name] = [pair for pair in self._imported[imp.name] if pair[0] is not old]
            for imp in new.facts.imports:
                if imp.name:
                    self._imported.setdefault(imp.name, []).append((new, imp))
        if self._renamed is not None:
            own = {*(fun.name for fun in new.functions), *(klass.name for klass in new.classes)}
            passed = (imp for name in own for _, imp in self._importers.get(name, ()))
            for imp in (*new.facts.imports, *passed):
                if imp.name and imp.alias != imp.name and (imp.name in self.functions or imp.name in self.classes):
                    self._renamed.setdefault(imp.alias, set()).add(imp.name)
        if self._language == "python" and _taken(old) != _taken(new):
            self._told.pop(old.path, None)
            self._used = None
            self._aliases = self._known_aliases()
        # It is of use to those who look at all files, as this is never done again.
        self._spoken = None

    def external(self, module: Module, name: str) -> tuple[str, ...]:
        """The canonical external names a dotted name may start as in a file, by imports alone: by each of its own where they
        exclude each other, and by those of files of the program that pass on what they import. None if it is not imported."""
        head, _, rest = name.partition(".")
        if self._language == "java" and rest and head.islower():
            head, rest = _type_part(name)
        found = self._bound(module, head)
        if not rest:
            return found
        if found:
            found = tuple(f"{target}.{rest}" for target in found)
        if self.passes_on(rest):
            found += tuple(x for x in self._inside_modules(module, name) if x not in found)
        return found

    def speaks_of_known(self, imp: f.Import) -> bool:
        """Whether an import names a package of which knowledge speaks."""
        if imp.level:
            return False
        first = imp.target if self._language == "go" else imp.target.partition(".")[0]
        return (
            first in _packages(self._table)
            or self._table.shapes_module(imp.target)
            or (bool(imp.name) and self._table.shapes_module(f"{imp.target}.{imp.name}"))
        )

    @property
    def spoken(self) -> dict[str, list[Fun]]:
        """The functions whose header calls or passes on what a canonical external name starts, by that name. Each name of a file is
        looked up once, whatever is asked of it."""
        if self._spoken is None:
            self._spoken = {}
            for module in self._names.modules.values():
                if module.language == self._language:
                    self._speak(module, self._spoken)
        return self._spoken

    def spoken_in(self, module: Module) -> dict[str, list[Fun]]:
        """The same of one file."""
        found: dict[str, list[Fun]] = {}
        self._speak(module, found)
        return found

    def _speak(self, module: Module, found: dict[str, list[Fun]]) -> None:
        heads = self.known_heads(module)
        if heads is not None and not heads and not self._aliases:
            return
        names: dict[str, tuple[str, ...]] = {}
        for fun in module.functions:
            spoken: set[str] = set()
            for x in (*fun.head.calls, *fun.head.values):
                full = names.get(x)
                if full is None:
                    near = heads is None or x.partition(".")[0].rstrip("{") in heads or ("." in x and self.passes_on(x))
                    full = names[x] = self.external(module, x.rstrip("{")) if near else ()
                spoken.update(full)
            for name in spoken:
                found.setdefault(name, []).append(fun)

    def passes_on(self, name: str) -> bool:
        """Whether a segment of a dotted name is one under which a file of Python has something of a known package."""
        return not self._aliases.isdisjoint(name.split(".")) if "." in name else name in self._aliases

    def known_heads(self, module: Module) -> frozenset[str] | None:
        """Names that may come, by whatever way, from packages which knowledge speaks of; `None`: any may."""
        if self._language == "java":
            return None
        known = {
            head
            for head, imports in module.imports.items()
            if any(self.speaks_of_known(imp) or imp.name in self._aliases for imp in imports)
        }
        if "*" in module.imports and self._language == "python":
            if "*" in known:
                return None
            known |= self._aliases
        return frozenset(known)

    @property
    def used(self) -> frozenset[str]:
        """The libraries whose objects may occur: in Python those that some file imports, and what they lead to; else all."""
        if self._used is None:
            self._used = self._used_libraries()
        return self._used

    @property
    def occurring(self) -> frozenset[str]:
        """The libraries whose calls may occur."""
        if self._occurring is None or self._occurring[0] is not self.used:
            self._occurring = (self.used, self.used | self._table.unimported)
        return self._occurring[1]

    def _used_libraries(self) -> frozenset[str]:
        libraries = self._table.libraries
        if self._language != "python":
            return frozenset(library.library for library in libraries)
        roots: set[str] = set()
        for module in self._names.modules.values():
            if module.language == "python":
                roots.update((imp.target or imp.name).partition(".")[0] for imp in module.facts.imports)
        pending = [
            library.library
            for library in libraries
            if not library.modules or any(name.partition(".")[0] in roots for name in library.modules)
        ]
        near = _near(self._table)
        found: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += near[name]
        return frozenset(found)

    def _known_aliases(self) -> frozenset[str]:
        if self._language != "python":
            return frozenset()
        found: set[str] = set()
        renamed: list[f.Import] = []
        for module in self._names.modules.values():
            if module.language == "python":
                told = self._told.get(module.path)
                if told is None:
                    told = self._told[module.path] = self._speaks(module)
                found.update(told[0])
                renamed += told[1]
        size = -1
        while size < len(found):
            size = len(found)
            found.update(imp.alias for imp in renamed if imp.name in found)
        return frozenset(found)

    def _speaks(self, module: Module) -> tuple[list[str], list[f.Import]]:
        """The names under which a file imports something of a known package, and the imports that give something another name."""
        known: list[str] = []
        renamed: list[f.Import] = []
        for imp in module.facts.imports:
            if imp.name == "*":
                continue
            if self.speaks_of_known(imp):
                known.append(imp.alias)
            elif imp.name and imp.alias != imp.name:
                renamed.append(imp)
        return known, renamed

    def _bound(self, module: Module, name: str) -> tuple[str, ...]:
        """What a name of a file's own scope stands for outside of the program."""
        known = self._imports.get(module.path)
        if known is None:
            known = self._imports[module.path] = {}
        found = known.get(name)
        if found is None:
            targets: dict[str, None] = {}
            queue = [(module, name)]
            for at, inner in queue:
                for target in self._leading_out(at, inner):
                    if isinstance(target, str):
                        targets[target] = None
                    elif target not in queue:
                        queue.append(target)
            found = known[name] = tuple(targets)
        return found

    def _leading_out(self, module: Module, name: str) -> Iterator[str | tuple[Module, str]]:
        """External names, and the files with names there, that a name of a file's own scope is imported from."""
        if self._language == "java":
            declared = self._names.java.type(name, module)
            if isinstance(declared, str):
                yield declared
            return
        for imp in module.imports.get(name, ()):
            if not imp.level:
                whole = imp.target if imp.explicit or self._language == "go" else name
                yield f"{imp.target}.{imp.name}" if imp.name else whole
            if imp.name in self._aliases and isinstance(home := self._home(module, imp), Module):
                yield home, imp.name
        for imp in module.imports.get("*", ()) if self._language == "python" and name not in module.declared else ():
            if self.speaks_of_known(imp):
                yield f"{imp.target}.{name}"
            elif name in self._aliases and isinstance(home := self._home(module, imp), Module):
                yield home, name

    def _inside_modules(self, module: Module, name: str) -> Iterator[str]:
        """What a dotted name stands for that leads through a file of the program: `compat.requests.get`."""
        head = name.partition(".")[0]
        for imp in module.imports.get(head, ()):
            home = self._home(module, imp)
            rest = name.partition(".")[2]
            if not imp.name and not imp.explicit:
                if not name.startswith(imp.target + "."):
                    continue
                rest = name[len(imp.target) + 1 :]
            elif imp.name:
                folder = home.folder if isinstance(home, Module) else home
                home = self._names.submodule(folder, imp.name) if folder is not None else None
            if isinstance(home, Module) and home is not module:
                inner, _, last = rest.partition(".")
                for target in self._bound(home, inner) if inner in self._aliases else ():
                    yield f"{target}.{last}" if last else target

    def carriers(self, name: str, module: Module) -> Iterator[tuple[Module, str]]:
        """Files of Python that take a name out of a file of the program, with the name they give it there."""
        for importer, imp in (*self._importers.get(name, ()), *self._importers.get("*", ())):
            if importer is not module and self._home(importer, imp) is module:
                yield importer, name if imp.name == "*" else imp.alias

    @property
    def _importers(self) -> dict[str, list[tuple[Module, f.Import]]]:
        """Imports of Python that take a name out of a file, by that name."""
        if self._imported is None:
            self._imported = {}
            for module in self._names.modules.values() if self._language == "python" else ():
                for imp in module.facts.imports:
                    if imp.name:
                        self._imported.setdefault(imp.name, []).append((module, imp))
        return self._imported

    @property
    def renamed(self) -> dict[str, set[str]]:
        """Names of functions and classes of the program by other names that imports give them."""
        if self._renamed is None:
            self._renamed = {}
            for name, imports in self._importers.items():
                for _, imp in imports if name in self.functions or name in self.classes else ():
                    if imp.alias != name:
                        self._renamed.setdefault(imp.alias, set()).add(name)
        return self._renamed

    def sources(self, module: Module, name: str) -> frozenset[Module]:
        """Files of Python from which a name of a file's own scope may come, itself left out."""
        key = (module, name)
        found = self._sources.get(key)
        if found is None:
            seen: set[Module] = set()
            queue = [key]
            for at, inner in queue:
                imports = (*at.imports.get(inner, ()), *at.imports.get("*", ()))
                for imp in imports:
                    home = self._home(at, imp) if imp.name else None
                    if isinstance(home, Module) and home not in seen:
                        seen.add(home)
                        queue.append((home, inner if imp.name == "*" else imp.name))
            found = self._sources[key] = frozenset(seen)
        return found

    def _home(self, module: Module, imp: f.Import) -> Module | str | None:
        """The file or folder of the program from which an import takes something."""
        key = (module.folder, imp.target, imp.level)
        if key not in self._homes:
            self._homes[key] = self._names.python_module(module, imp.target, imp.level)
        return self._homes[key]


def segments_of(fun: Fun) -> tuple[set[str], set[str]]:
    """The segments of the names that a function calls or passes on, and those of them where something stands before it."""
    parts: set[str] = set()
    read: set[str] = set()
    for x in (*fun.head.calls, *fun.head.values):
        if "." in x:
            segments = x.rstrip("{").split(".")
            parts.update(segments)
            read.update(segments[1:])
        else:
            parts.add(x.rstrip("{"))
    return parts, read


def _taken(module: Module) -> list[tuple[str, str, str, int]]:
    """What a file imports, wherever it does."""
    return [(imp.target, imp.name, imp.alias, imp.level) for imp in module.facts.imports]


def _type_part(name: str) -> tuple[str, str]:
    """A name that begins with a package, up to its type, and what follows; of others the first segment and the rest."""
    parts = name.split(".")
    upper = next((at for at, part in enumerate(parts) if part[:1].isupper()), 0)
    return ".".join(parts[: upper + 1]), ".".join(parts[upper + 1 :])


@lru_cache(maxsize=32)
def _waiting_types(table: Table, kinds: frozenset[str], left_out: frozenset[str], used: frozenset[str]) -> frozenset[str]:
    """Types whose methods do one of `kinds`, or give an object of such a type. Asked anew for each program, but for one table."""
    found: set[str] = set()
    libraries = [library for library in table.libraries if library.library in used]
    pending = [
        kind.name
        for library in libraries
        for call in library.calls
        if call.does in kinds
        for kind in _owners(table, call.names)
        if kind.role not in left_out
    ]
    pending += [kind.name for library in libraries for kind in library.types if kind.any_method is not None]
    if "network" in kinds:
        # What only holds a limit waits for nothing itself, but the limit is set by its methods.
        limited = (kind for library in table.libraries for kind in library.types if any(map(_is_limit_set, kind.bounds)))
        pending += [kind.name for kind in limited if kind.role not in left_out]
    leads = _leads(table)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += [other for other, role in leads.get(name, ()) if role not in left_out]
    return frozenset(found)


def _is_limit_set(bound: Bound) -> bool:
    return bound.setter is not None and bound.unit not in ("count", "bool")


@lru_cache(maxsize=8)
def _leads(table: Table) -> dict[str, list[tuple[str, str]]]:
    """For each type those that lead to it: they give it, or one of the two stands on the other.

    Where only the row of a method says so, with the role of the type whose method it is.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for library in table.libraries:
        for kind in library.types:
            for name in (*kind.returns.values(), *kind.bases):
                found.setdefault(name, []).append((kind.name, ""))
            found.setdefault(kind.name, []).extend((base, "") for base in kind.bases if table.type(base) is not None)
            found.setdefault(kind.name, []).extend((owner.name, owner.role) for owner in _owners(table, kind.made_by))
        for call in library.calls:
            for given in {call.returns, *call.returns_by.values()} - {None}:
                found.setdefault(str(given), []).extend((owner.name, owner.role) for owner in _owners(table, call.names))
    return found


@lru_cache(maxsize=8)
def _packages(table: Table) -> frozenset[str]:
    """First segments of described names; in Go whole import paths."""
    if table.language != "go":
        return frozenset(name.partition(".")[0] for name in table.canonical_names)
    found: set[str] = set()
    for name in table.canonical_names:
        folder, slash, last = name.rpartition("/")
        found.add(f"{folder}{slash}{last.partition('.')[0]}")
    return frozenset(found)


def _owners(table: Table, names: Iterable[str]) -> Iterator[TypeEntry]:
    """The types whose methods these are."""
    for name in names:
        kind = table.type(name.rpartition(".")[0])
        if kind is not None:
            yield kind


@lru_cache(maxsize=32)
def _giving_methods(table: Table, types: frozenset[str], used: frozenset[str]) -> frozenset[str]:
    """Last segments of methods that give a waiting object."""
    libraries = [library for library in table.libraries if library.library in used]
    calls = [c for lib in libraries for c in lib.calls]
    giving = [c for c in calls if c.returns in types or not types.isdisjoint(c.returns_by.values())]
    out = {n.rpartition(".")[2] for c in giving for n in c.names}
    for lib in libraries:
        for kind in lib.types:
            out.update(method for method, gives in kind.returns.items() if gives in types)
            if kind.name in types:
                out.update(n.rpartition(".")[2].partition("#")[0] for n in kind.made_by)
    return frozenset(out)


@lru_cache(maxsize=32)
def _methods_of(table: Table, kinds: frozenset[str], roles: frozenset[str]) -> frozenset[str]:
    """Last segments of methods that do one of `kinds`, of types of these roles."""
    calls = (call for library in table.libraries for call in library.calls if call.does in kinds)
    return frozenset(
        name.rpartition(".")[2]
        for call in calls
        for name in call.names
        if (kind := table.type(name.rpartition(".")[0])) is not None and kind.role in roles
    )


@lru_cache(maxsize=8)
def _handing_back(table: Table) -> frozenset[str]:
    """Last segments of calls that give what they are handed, or what comes of it within a time: `wait_for(connect(), 2)`."""
    return frozenset(
        name.rpartition(".")[2]
        for library in table.libraries
        for call in library.calls
        if (call.gives is not None and call.gives.of >= 0)
        or (call.scope is not None and call.scope.form == "call" and (call.scope.body or 0) >= 0)
        for name in call.names
    )


@lru_cache(maxsize=8)
def _near(table: Table) -> dict[str, frozenset[str]]:
    """For each library those whose types it gives or stands on: who imports it may hold theirs without importing them."""
    owner = {name: library.library for library in table.libraries for kind in library.types for name in (kind.name, *kind.aliases)}
    found: dict[str, frozenset[str]] = {}
    for library in table.libraries:
        named = {name for kind in library.types for name in (*kind.returns.values(), *kind.bases, *kind.by_scheme.values())}
        named.update(part.default for kind in library.types for part in kind.parts if part.default is not None)
        named.update(name for call in library.calls for name in (call.returns, *call.returns_by.values()) if name is not None)
        found[library.library] = found.get(library.library, frozenset()) | {owner[name] for name in named if name in owner}
    return found


class Reach:
    """The names of one language that may hold objects whose methods do one of `kinds`."""

    def __init__(self, program: Program, language: str, kinds: Iterable[str]) -> None:
        self.program = program
        self.names_index = program.names
        self.table: Table = program.knowledge.of(language)
        self.language = language
        self.kinds = frozenset(kinds)
        # What runs code is no client; where starting and joining is asked for, it is what is meant. Who holds it is not followed:
        # the names of the calls by which it connects are rare enough.
        self._left_out: frozenset[str] = frozenset() if self.kinds & {"spawn", "submit", "wait"} else _MACHINERY
        self._used = used = program.headers(language).used
        self.types = _waiting_types(self.table, self.kinds, self._left_out, used)
        self.methods = frozenset(
            n.rpartition(".")[2] for lib in self.table.libraries for c in lib.calls if c.does in self.kinds for n in c.names
        )
        self._of_machinery = _methods_of(self.table, self.kinds, self._left_out)
        self.giving = _giving_methods(self.table, self.types, used)
        self._wrappers = _WRAPPERS | _handing_back(self.table) if language == "python" else _WRAPPERS
        self._by_attribute = frozenset(self._giving_by_attribute(self.names_index.modules.values()))
        self._modules = self._modules_of_use()
        self.names: dict[str, set[Module]] = {}
        """Module-level names (classes too) that may hold such an object, with the files where they do."""
        self._spread_into: set[Fun] = set()
        self.keywords: set[str] = set()
        """Keywords under which such objects travel in `**kwargs`."""
        self.givers: dict[str, set[Fun]] = {}
        """Functions that may return one, by name."""
        self.attributes: dict[tuple[str, bool], set[Klass | None]] = {}
        """Attributes that may hold one, those that only tests store apart, with the classes whose own code does.
        `None`: other code."""
        self._locals: dict[Fun, tuple[str, ...]] = {}
        """Hardly ever more than a few."""
        self._gives: dict[str, bool] = {}
        self._reads: dict[Fun, bool] = {}
        # In dictionaries of their own: pairs as keys would take more than all else of them.
        self._answers: dict[Fun, dict[str, bool]] = {}
        self._means: dict[Module, dict[str, int]] = {}
        # First in, first out: what waits its turn is visited once for all that has come to light meanwhile.
        self._queue: deque[Fun] = deque()
        self._queued: set[Fun] = set()
        self._looked_at: dict[Fun, Body] = {}
        self._visited_again: dict[Fun, Body] = {}
        self.touched: set[Fun] = set()
        """Functions in which something may hold such an object: what is called on the result of a call can only matter there."""
        headers = self._headers = program.headers(language)
        self.external = headers.external
        self._users = headers.users
        self._readers = headers.readers
        self._by_name = headers.functions
        self._classes = headers.classes
        self._below = self._subclasses()
        self._held: Scan | None = None
        self._seed()
        self._run()

    # ------------------------------------------------------------ what counts

    def _giving_by_attribute(self, modules: Iterable[Module]) -> Iterator[Module]:
        """Those files that import a library of which any attribute of an object is another one: `client.shop.orders`."""
        libraries = [lib for lib in self.table.libraries if any("*" in t.returns and t.name in self.types for t in lib.types)]
        wanted = {m for lib in libraries for m in lib.modules}
        return (module for module in modules if module.language == self.language and not wanted.isdisjoint(module.imported))

    def _modules_of_use(self) -> frozenset[str]:
        """Modules whose functions wait or give a waiting object: in Python they are passed around as objects are."""
        if self.language != "python":
            return frozenset()
        calls = [c for lib in self.table.libraries for c in lib.calls]
        used = {n.rpartition(".")[0] for c in calls if c.does in self.kinds or c.returns in self.types for n in c.names}
        used.update(name.rpartition(".")[0] for lib in self.table.libraries for t in lib.types for name in (t.name, *t.aliases))
        return frozenset(name for name in used if name and self.table.type(name) is None)

    def gives(self, canonical: str) -> bool:
        """Whether an external name is such an object or a call of it gives one."""
        found = self._gives.get(canonical)
        if found is None:
            found = self._gives[canonical] = self._is_or_gives(canonical)
        return found

    def _is_or_gives(self, canonical: str) -> bool:
        table = self.table
        for kind in (
            table.constructs(canonical),
            table.made_by(canonical),
            table.instance(canonical),
            *table.components(canonical),
        ):
            if kind is not None and kind.name in self.types:
                return True
        returned = table.returned(canonical)
        if returned is not None and returned in self.types:
            return True
        call = table.call(canonical)
        if call is not None and not self.types.isdisjoint(call.returns_by.values()):
            return True
        head, _, last = canonical.rpartition(".")
        shaped = table.shape(head, last) if head else None
        return shaped is not None and shaped in self.types

    def waits(self, canonical: str) -> bool:
        """Whether an external name is a function that waits: held as a value, its calls have other names."""
        call = self.table.call(canonical)
        return call is not None and call.does in self.kinds

    # ------------------------------------------------------------ the pass

    def _seed(self) -> None:
        spoken = {fun for full, funs in self._headers.spoken.items() if self._seeds(full) for fun in funs}
        for module in self.names_index.modules.values():
            if module.language == self.language:
                self._seed_from(module, spoken)
        self._hold_subclasses()

    def _seed_from(self, module: Module, spoken: set[Fun]) -> None:
        if not module.facts.imports and self.language != "java":
            return  # what Java knows without an import lies in the same package, or is java.lang
        for klass in module.classes:
            bases = [dotted(b if not isinstance(b, f.Index) else b.base) for b in klass.decl.bases]
            if any(self.gives(name) for base in bases for name in self.external(module, base)):
                self._hold(klass.name, module)
            for field in klass.decl.fields:
                if self._typed(module, field.type):
                    self._store(field.name, klass, module.is_test)
                    if field.embedded:
                        self._hold(klass.name, module)
        declaring = self._writing_types(module, self._headers.known_heads(module)) if self.language == "python" else None
        for fun in module.functions:
            if fun in spoken or (
                (declaring is None or fun.says(declaring)) and any(self._typed(module, kind) for kind in self._declared(fun))
            ):
                self._push(fun)
            for param in fun.head.params:
                if self._typed(module, param.type):
                    self._hold_local(fun, param.name)
            if any(self._typed(module, r) for r in fun.head.returns):
                self._give(fun)

    def _hold_subclasses(self) -> None:
        # A subclass of a class that stands on a known type does so too.
        grown = True
        while grown:
            grown = False
            for name, classes in self._classes.items():
                for k in classes:
                    if k.module not in self.names.get(name, ()) and any(last_name(b) in self.names for b in k.decl.bases):
                        self._hold(name, k.module)
                        grown = True

    def exchange(self, program: Program, old: Module, new: Module) -> None:
        """Puts a file in the place of its old self, after the headers have done so. What the old one led to elsewhere stays: a
        name that may hold such an object more leaves nothing out."""
        self.program = program
        used = self._headers.used
        if not used <= self._used:
            self._used |= used
            self.types = _waiting_types(self.table, self.kinds, self._left_out, self._used)
            self.giving = _giving_methods(self.table, self.types, self._used)
            self._gives.clear()
        self._by_attribute = self._by_attribute.difference((old,)).union(self._giving_by_attribute((new,)))
        self._answers.clear()
        self._means.clear()
        self._reads.clear()
        self._held = None
        for module, is_there in ((old, False), (new, True)):
            for klass in module.classes:
                self._place_below(klass, is_there)
        functions = {fun.head.qual: fun for fun in new.functions}
        classes = {klass.decl.qual: klass for klass in new.classes}
        for modules in self.names.values():
            if old in modules:
                modules.discard(old)
                modules.add(new)
        for givers in self.givers.values():
            for fun in [fun for fun in givers if fun.module is old]:
                givers.discard(fun)
                if (same := functions.get(fun.head.qual)) is not None:
                    givers.add(same)
        for owners in self.attributes.values():
            for klass in [klass for klass in owners if klass is not None and klass.module is old]:
                owners.discard(klass)
                # Of a class that is gone nobody knows whose attribute it is now.
                owners.add(classes.get(klass.decl.qual))
        for fun in old.functions:
            held = self._locals.pop(fun, ())
            same = functions.get(fun.head.qual)
            if same is not None and fun in self.touched:
                self._push(same)
            if same is not None and fun in self._spread_into:
                self._spread_into.add(same)
            for name in held:
                if same is not None and name in same.params:
                    self._hold_local(same, name)
            self.touched.discard(fun)
            self._spread_into.discard(fun)
        self._seed_from(new, {fun for full, funs in self._headers.spoken_in(new).items() if self._seeds(full) for fun in funs})
        for fun in new.functions:
            parts, read = segments_of(fun)
            if not (self.names.keys().isdisjoint(parts) and self.givers.keys().isdisjoint(parts)) or any(
                (name, in_test) in self.attributes for name in read for in_test in (False, True)
            ):
                self._push(fun)
        if any(last_name(base) in self.names for klass in new.classes for base in klass.decl.bases):
            self._hold_subclasses()
        self._run()

    def _declared(self, fun: Fun) -> Iterator[f.Type]:
        """Types that a function or file declares variables with; looked for only where it calls one of the methods in question."""
        if fun.index == 0 or fun.name == "__init__" or any(c.rpartition(".")[2] in self.methods for c in fun.head.calls):
            yield from declared_types(fun.glance())

    def _body(self, fun: Fun) -> Body:
        """A body that is looked at by names alone: the pass goes through many, of which few are ever asked for."""
        found = fun.held or self._looked_at.get(fun) or self._visited_again.get(fun)
        if found is None:
            if fun in self.touched and len(self._visited_again) < _VISITED_AGAIN:
                found = self._visited_again[fun] = Body(fun, fun.glance())
                return found
            if len(self._looked_at) >= _LOOKED_AT:
                self._looked_at.pop(next(iter(self._looked_at))).drop()
            found = self._looked_at[fun] = Body(fun, fun.glance())
        return found

    @staticmethod
    def _writing_types(module: Module, heads: frozenset[str] | None) -> Scan | None:
        """What a body of a file holds that may write a type by an imported name: only in types a dotted name lies in one piece. Few
        bodies do, and the others need not be decoded. `None`: any may."""
        if heads is None:
            return None
        imports = module.imports
        spelled = (head if head not in imports or any(imp.name for imp in imports[head]) else f"{head}." for head in sorted(heads))
        return any_of(*(head.encode("utf-8", "surrogatepass") for head in spelled))

    def _seeds(self, full: str) -> bool:
        return self.gives(full) or self.waits(full) or full in self._modules

    def _typed(self, module: Module, kind: f.Type | None) -> bool:
        if kind is None:
            return False
        if kind.name and kind.name[0].isalpha():
            names = self.external(module, kind.name)
            if any(self._is_type(full) for full in names):
                return True
        return any(self._typed(module, inner) for inner in kind.args)

    def _is_type(self, full: str) -> bool:
        known = self.table.type(full)
        if known is not None:
            return known.name in self.types and full != "context.Context"
        head, _, last = full.rpartition(".")
        return bool(head) and self.table.shape(head, last) in self.types

    def _push(self, fun: Fun) -> None:
        if fun not in self._queued:
            self._queued.add(fun)
            self._queue.append(fun)

    def _hold(self, name: str, module: Module) -> None:
        known = self.names.setdefault(name, set())
        if module in known or not name or name == "_":
            return
        known.add(module)
        for user in self._users.get(name, ()):
            if user.module.is_test or not module.is_test:
                self._push(user)
        for importer, alias in self._headers.carriers(name, module):
            if importer.is_test or not module.is_test:
                self._hold(alias, importer)

    def _held_name(self, name: str, module: Module) -> bool:
        """Whether a name of a file's own scope may hold such an object: one of its own, of its package, or imported."""
        known = self.names.get(name)
        if not known:
            return False
        if module in known:
            return True
        if self.language == "go":
            package = self.names_index.package_of(module)
            return any(m in known for m in package.modules)
        imports = (*module.imports.get(name, ()), *module.imports.get("*", ()))
        return any(self._leads_to(imp, m, module) for imp in imports for m in known)

    def _give(self, fun: Fun) -> None:
        if fun.head.kind not in ("free", "method"):
            return
        if fun.head.is_property:
            self._store(fun.name, self._owner(fun), fun.module.is_test)
            return
        if fun in self.givers.get(fun.name, ()):
            return
        self._give_as(fun.name, fun, fun.module)
        if fun.name in _SPECIAL and (owner := self._owner(fun)) is not None:
            for klass in self._family(owner):
                for user in (*self._users.get(klass.name, ()), *klass.methods.values()):
                    self._push(user)

    def _give_as(self, name: str, fun: Fun, module: Module) -> None:
        known = self.givers.setdefault(name, set())
        if fun not in known:
            known.add(fun)
            for user in self._users.get(name, ()):
                if user.module.is_test or not fun.module.is_test:
                    self._push(user)
        if not fun.is_method:
            for importer, alias in self._headers.carriers(name, module):
                if alias != name:
                    self._give_as(alias, fun, importer)

    def _family(self, klass: Klass) -> list[Klass]:
        """A class and those below it, by name."""
        family = [klass]
        for at in family:
            for below in self._below.get(at.name, ()):
                if below not in family:
                    family.append(below)
        return family

    def _place_below(self, klass: Klass, is_there: bool) -> None:
        """Lists a class among those below its bases, or no more."""
        for base in klass.decl.bases:
            last = last_name(base)
            for name in (last, *self._headers.renamed.get(last, ())):
                listed = self._below.setdefault(name, [])
                if is_there:
                    listed.append(klass)
                elif klass in listed:
                    listed.remove(klass)

    def _subclasses(self) -> dict[str, list[Klass]]:
        found: dict[str, list[Klass]] = {}
        for classes in self._classes.values():
            for klass in classes:
                for base in klass.decl.bases:
                    last = last_name(base)
                    for name in (last, *self._headers.renamed.get(last, ())):
                        found.setdefault(name, []).append(klass)
        return found

    def _gives_as(self, special: str, expr: Any, fun: Fun) -> bool:
        """Whether a method that the language calls by itself (`__enter__` of what a `with` opens) may give such an object here."""
        givers = self.givers.get(special)
        if not givers:
            return False
        for giver in givers:
            owner = self._owner(giver)
            if owner is None or (giver.module.is_test and not fun.module.is_test):
                continue
            if isinstance(expr, f.Ref) and fun.is_method and expr.name == fun.head.params[0].name:
                if self._related(fun, giver):
                    return True
                continue
            # Whatever may be opened by `with` may be this; loops, calls and indices are too many to say so.
            made = [expr] if isinstance(expr, f.Call) else []
            if isinstance(expr, f.Ref):
                made = [d.expr for d in self._body(fun).definitions.get(expr.name, ()) if isinstance(d.expr, f.Call)]
            classes = [klass for call in made for klass in self._classes_named(last_name(call.fn))]
            if any(klass in self._family(owner) for klass in classes):
                return True
            if not classes and special in _BY_LANGUAGE["enter"]:
                return True
        return False

    def _classes_named(self, name: str) -> list[Klass]:
        """Classes of the program that a name may mean, as they are called or as an import calls them."""
        return [k for x in (name, *self._headers.renamed.get(name, ())) for k in self._classes.get(x, ())]

    def _store(self, name: str, klass: Klass | None, in_test: bool) -> bool:
        if (klass is not None and in_test and not klass.module.is_test) or self._is_basic(name, klass):
            return False
        known = self.attributes.setdefault((name, in_test), set())
        if klass in known or name == "_":
            return False
        known.add(klass)
        for user in self._readers.get(name, ()):
            if user.module.is_test or not in_test:
                self._push(user)
        return True

    def _is_basic(self, name: str, klass: Klass | None) -> bool:
        """Whether a field of a class, or every field of that name where nobody knows of which, is declared with a type that holds
        nothing: a number, a text, an error."""
        if self.language == "python":  # there types are only promised
            return False
        field = klass.fields.get(name) if klass is not None else None
        types = [field.type] if field is not None else self._headers.fields.get(name, [])
        return bool(types) and all(kind is not None and kind.shape == "plain" and kind.name in _BASIC for kind in types)

    def _owner(self, fun: Fun) -> Klass | None:
        scope: Fun | None = fun
        while scope is not None:
            owner = self.program.resolver.owner(scope)
            if owner is not None:
                return owner
            scope = scope.parent
        return None

    def _stored(self, name: str, through_self: bool, fun: Fun) -> bool:
        """Whether reading an attribute may give such an object."""
        known = self.attributes.get((name, False), set())
        if fun.module.is_test:
            known = known | self.attributes.get((name, True), set())
        if not known:
            return False
        if not through_self or None in known:
            return True
        owner = self._owner(fun)
        if owner is None or owner in known:
            return True
        resolver = self.program.resolver
        own = set(resolver.mro(owner)[0])
        return any(k is not None and (k in own or owner in resolver.mro(k)[0]) for k in known)

    def _gives_here(self, expr: f.Call, fun: Fun) -> bool:
        """Whether a call may mean one of the functions of the program that give such an object."""
        name = last_name(expr.fn)
        givers = self.givers.get(name)
        if not givers:
            return False
        called = dotted(expr.fn)
        for giver in givers:
            if giver.module.is_test and not fun.module.is_test:
                continue
            if self.may_mean(called, giver, fun):
                return True
        return False

    def may_mean(self, called: str, target: Fun, fun: Fun) -> bool:
        """Whether a dotted name in a function may mean that function of the program."""
        head, _, rest = called.partition(".")
        if called and not rest:
            if target.is_method:
                return False
            if target.module is fun.module or (target.module.folder == fun.module.folder and self.language == "go"):
                return True
            return any(
                self._leads(imp, target, fun) for imp in (*fun.module.imports.get(head, ()), *fun.module.imports.get("*", ()))
            )
        if called and (imports := fun.module.imports.get(head)) is not None and not self._local(head, fun):
            return not target.is_method and any(self._leads(imp, target, fun) for imp in imports)
        if not target.is_method and not target.head.is_static:
            return False
        if called in (f"self.{target.name}", f"cls.{target.name}") or target.name.startswith("__"):
            return self._related(fun, target)
        return target.module is fun.module or len(self._by_name.get(target.name, ())) <= _FEW

    def _leads(self, imp: f.Import, target: Fun, fun: Fun) -> bool:
        return self._leads_to(imp, target.module, fun.module)

    def _leads_to(self, imp: f.Import, module: Module, importer: Module) -> bool:
        """Whether an import may name a file, or something that passes it on."""
        if self.language == "go":
            package = self.names_index.go_package(imp.target, module)
            return package is not None and module in package.modules
        stem = "." + module.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") + "."
        wanted = imp.target or imp.name
        if wanted and (f".{wanted}." in stem or stem.endswith(f".{wanted}.{imp.name}.")):
            return True
        return self.language == "python" and bool(imp.name) and module in self._headers.sources(importer, imp.alias)

    def _related(self, fun: Fun, target: Fun) -> bool:
        one, other = self._owner(fun), self._owner(target)
        if one is None or other is None:
            return True
        resolver = self.program.resolver
        return other in resolver.mro(one)[0] or one in resolver.mro(other)[0]

    def _hold_local(self, fun: Fun, name: str) -> None:
        held = self._locals.get(fun, ())
        if name not in held:
            self._locals[fun] = (*held, name)
            self._push(fun)

    def _run(self) -> None:
        while self._queue:
            fun = self._queue.popleft()
            self._queued.discard(fun)
            self._visit(fun)
        for bodies in (self._looked_at, self._visited_again):
            while bodies:
                bodies.popitem()[1].drop()

    def _visit(self, fun: Fun) -> None:
        body = self._body(fun)
        self.touched.add(fun)
        grown = True
        while grown:
            grown = False
            for name, defs in body.definitions.items():
                for d in defs:
                    if d.type is not None and self._typed(fun.module, d.type):
                        grown |= self._assign(fun, name)
                    if d.expr is None or (d.item and d.item[0] != 0 and self.language == "go" and isinstance(d.expr, f.Call)):
                        continue
                    if self.is_or_holds(d.expr, fun) or (d.kind in _BY_LANGUAGE and self._given_by_language(d.kind, d.expr, fun)):
                        grown |= self._assign(fun, name)
        for klass, field in self._headers.initial.get(fun, ()):
            if self.is_or_holds(field.init, fun):
                self._store(field.name, klass, fun.module.is_test)
        for inner, param in self._headers.defaults.get(fun, ()):
            if self.is_or_holds(param.default, fun):
                self._hold_local(inner, param.name)
        for stmt, _arm in body.returns:
            value = stmt.value
            if fun.head.returns and not any(
                self._may_hold_type(fun.module, r) or r.shape not in ("plain", "ptr", "opt") for r in fun.head.returns[:1]
            ):
                break
            if self.language == "go" and isinstance(value, f.Coll) and value.items:
                value = value.items[0].value
            if value is not None and self.is_or_holds(value, fun):
                self._give(fun)
        for y in body.yields:
            if y.value is not None and self.is_or_holds(y.value, fun):
                self._give(fun)
        for new, _arm, _stmt in body.news:
            for position, pair in enumerate(new.fields):
                if self.is_or_holds(pair.value, fun):
                    for klass in self._classes.get(new.type.name.rpartition(".")[2], ()):
                        if isinstance(pair.key, f.Ref):
                            self._store(pair.key.name, klass, fun.module.is_test)
                        elif position < len(klass.decl.fields):
                            self._store(klass.decl.fields[position].name, klass, fun.module.is_test)
        for site in body.calls:
            for position, arg in enumerate(site.call.args):
                if self.is_or_holds(arg.value, fun):
                    self._pass(site, position, arg)

    def _given_by_language(self, kind: str, expr: f.Expr, fun: Fun) -> bool:
        return any(self._gives_as(special, expr, fun) for special in _BY_LANGUAGE[kind])

    def _assign(self, fun: Fun, name: str) -> bool:
        element = name.endswith("[]")
        name = name.rstrip("[]")
        base, _, last = name.rpartition(".")
        if base:
            receiver = fun.head.params[0].name if fun.is_method else None
            return self._store(last, self._owner(fun) if base in (receiver, "self") else None, fun.module.is_test)
        fun = self._declaring(fun, last)
        if element and self.language == "python":
            # What is put into a collection is in it wherever that was made.
            while fun.index and last not in fun.params and last not in self._body(fun).definitions:
                fun = fun.parent or fun.module.functions[0]
        if fun.index == 0 or last in self._body(fun).outer_names:
            if fun.module in self.names.get(last, ()):
                return False
            self._hold(last, fun.module)
            return True
        held = self._locals.get(fun, ())
        if last in held:
            return False
        self._locals[fun] = (*held, last)
        for inner in self._headers.nested.get(fun, ()):
            self._hold_local(inner, last)
        return True

    def _declaring(self, fun: Fun, name: str) -> Fun:
        """The function, or the file's body, whose variable an assignment means: Go's `=` declares nothing."""
        at = fun
        while self.language == "go" and at.index:
            defs = self._body(at).definitions.get(name, ())
            if (
                name in at.params
                or name in at.head.named_returns
                or any(not isinstance(d.node, f.Assign) or d.node.declares for d in defs)
            ):
                return at
            at = at.parent or fun.module.functions[0]
        return at

    def _pass(self, site: CallSite, position: int, arg: f.Arg) -> None:
        targets = self._targets(site)
        if targets is None:
            return
        for klass in self._made(site):
            init = self._init(klass)
            if init is not None:
                targets.append(init)
            else:
                fields = [x.name for x in klass.decl.fields if x.type is not None]
                if arg.name is not None:
                    self._store(arg.name, klass, site.fn.module.is_test)
                elif position < len(fields):
                    self._store(fields[position], klass, site.fn.module.is_test)
        for target in targets:
            if target.module.is_test != site.fn.module.is_test and not target.module.is_test:
                continue
            for param in self._params(target, position, arg):
                if self._eligible(target, param):
                    if arg.spread == 2 and not (isinstance(arg.value, f.Ref) and self._is_rest(arg.value.name, site.fn)):
                        self._spread(target)
                    self._hold_local(target, param.name)

    def _spread(self, target: Fun) -> None:
        """A mapping is spread into a function: under which names, nobody knows."""
        if target not in self._spread_into:
            self._spread_into.add(target)
            self._push(target)

    def _made(self, site: CallSite) -> Iterable[Klass]:
        """Classes of the program whose objects a call may make, by name: in a class method `cls` is its own, or one below it."""
        if self.language != "python":
            return ()
        fun = site.fn
        if fun.head.is_class and fun.is_method and dotted(site.call.fn) == fun.head.params[0].name:
            return [klass for klass in fun.module.classes if klass.methods.get(fun.name) is fun]
        return self._classes_named(site.last)

    def _init(self, klass: Klass) -> Fun | None:
        """Its own `__init__`, else that of a class above it, by name."""
        seen = {klass}
        above = [klass]
        while above:
            at = above.pop(0)
            if "__init__" in at.methods:
                return at.methods["__init__"]
            for base in at.decl.bases:
                more = [x for x in self._classes_named(last_name(base)) if x not in seen]
                seen.update(more)
                above.extend(more)
        return None

    def _params(self, target: Fun, position: int, arg: f.Arg) -> Iterator[f.Param]:
        if arg.spread == 1:
            yield from (p for p in target.head.params if p.kind in ("pos", "posonly", "*"))
        elif arg.spread:
            yield from (p for p in target.head.params if p.kind == "**" or (p.kind in ("pos", "kw") and p.name in self.keywords))
        elif arg.name is not None:
            if arg.name in target.params:
                yield target.params[arg.name]
            else:
                self.keywords.add(arg.name)
                yield from (p for p in target.head.params if p.kind == "**")
        else:
            positional = target.positional
            if position < len(positional):
                yield positional[position]
            yield from (p for p in target.head.params if p.kind == "*")

    def _targets(self, site: CallSite) -> list[Fun] | None:
        """Functions of the program that a call may mean, by name; `None` where it surely means none."""
        fun, name = site.fn, site.last
        dotted_name = dotted(site.call.fn)
        head = dotted_name.partition(".")[0]
        if self.language == "go":
            if dotted_name and head != dotted_name and (path := self.external(fun.module, head)) and not self._local(head, fun):
                package = self.names_index.go_package(path[0], fun.module)
                found = package.functions.get(name) if package is not None else None
                return [found] if found is not None else None
            if dotted_name and "." not in dotted_name:
                found = self.names_index.package_of(fun.module).functions.get(name)
                return [found] if found is not None else []
            return [x for x in self._by_name.get(name, ()) if x.is_method]
        names = (name, *self._headers.renamed.get(name, ()))
        return [x for n in names for x in self._by_name.get(n, ()) if self.may_mean(dotted_name, x, fun)]

    def _eligible(self, target: Fun, param: f.Param) -> bool:
        """Whether a parameter's declared type lets it hold a library's object."""
        kind = param.type
        if kind is None or not kind.name:
            return True
        if kind.shape in ("list", "array", "map", "chan", "fn", "variadic"):
            return not kind.args or any(self._may_hold_type(target.module, x) for x in kind.args)
        return self._may_hold_type(target.module, kind)

    def _may_hold_type(self, module: Module, kind: f.Type) -> bool:
        name = kind.name
        if name in _BASIC:
            return False
        known = [entry.name for full in self.external(module, name) if (entry := self.table.type(full)) is not None]
        if known:
            return not self.types.isdisjoint(known)
        last = name.rpartition(".")[2]
        declared = self._classes.get(last)
        if declared:
            return any(k.decl.kind in ("interface", "alias", "class") or k.module in self.names.get(k.name, ()) for k in declared)
        return True

    # ------------------------------------------------------------ asking

    def _local(self, name: str, fun: Fun) -> bool:
        scope: Fun | None = fun
        while scope is not None:
            if name in self._locals.get(scope, ()):
                return True
            scope = scope.parent
        return False

    def is_or_holds(self, expr: Any, fun: Fun) -> bool:
        """Whether what is stored, passed or returned may be such an object, hold one, or be the module of such functions."""
        if type(expr) in _NEVER:
            return False
        return self.holds(expr, fun) or (bool(self._modules) and self._is_module(expr, fun))

    def _is_module(self, expr: Any, fun: Fun) -> bool:
        if isinstance(expr, f.Ref):
            imports = fun.module.imports
            known = expr.name.partition(".")[0] in imports or "*" in imports
            return known and not self._modules.isdisjoint(self.external(fun.module, expr.name))
        if isinstance(expr, f.Coll | f.Cond | f.Bin | f.Pair):
            return any(self._is_module(child, fun) for child in children(expr))
        return False

    def holds(self, expr: Any, fun: Fun) -> bool:
        """Whether an expression may be such an object, or hold one."""
        match expr:
            case f.Ref():
                return self._holds_name(expr.name, fun)
            case f.Call():
                return self._holds_call(expr, fun)
            case f.New():
                return self._outside(fun.module, expr.type.name) == _GIVES
            case f.Lit() | f.Fn():
                return False
            case f.Fmt() | f.Is():
                return False
            case f.Bin():
                return expr.op in ("or", "and") and (self.holds(expr.left, fun) or self.holds(expr.right, fun))
            case f.Index():
                key = expr.key.value if isinstance(expr.key, f.Lit) else None
                if isinstance(key, str) and isinstance(expr.base, f.Ref) and self._is_rest(expr.base.name, fun):
                    return key in self.keywords
                return self._gives_as("__getitem__", expr.base, fun) or self.holds(expr.base, fun)
            case f.Field():
                gives = expr.name in self.giving or bool(self._by_attribute)
                return self._stored(expr.name, False, fun) or (gives and self.holds(expr.base, fun))
            case _:
                return any(self.holds(child, fun) for child in children(expr))

    def _holds_name(self, name: str, fun: Fun) -> bool:
        if name.count(".") > _MOST_DOTS:
            return False
        head, _, rest = name.partition(".")
        if not rest:
            if self._local(head, fun):
                return True
            if head not in fun.params and self._held_name(head, fun.module):
                return True
        else:
            base, _, last = name.rpartition(".")
            receiver = fun.head.params[0].name if fun.is_method else "self"
            if self._stored(last, base == receiver, fun):
                return True
            if last in self.names and any(
                self._leads_to(imp, m, fun.module) for imp in fun.module.imports.get(head, ()) for m in self.names[last]
            ):
                return True
            gives = (
                last in self.methods
                or last in self.giving
                or fun.module in self._by_attribute
                or self.names_index.is_open_ended(fun.module, self.table)
            )
            if gives and self._holds_name(base, fun):
                return True
        return self._outside(fun.module, name) >= _WAITS

    def _outside(self, module: Module, name: str) -> int:
        """What a dotted name of a file is outside of the program, as far as anybody asks; imports do not change, so it is looked up
        once."""
        known = self._means.get(module)
        if known is None:
            known = self._means[module] = {}
        found = known.get(name)
        if found is None:
            names = self.external(module, name)
            gives = any(self.gives(full) for full in names)
            waits = not gives and any(self.waits(full) for full in names)
            found = known[name] = _GIVES if gives else _WAITS if waits else _ANYTHING if names else _NOTHING
        return found

    def _is_rest(self, name: str, fun: Fun) -> bool:
        """Whether a name is the parameter that takes the rest by name, of a function whose calls all write the names out."""
        param = fun.params.get(name)
        return param is not None and param.kind == "**" and fun not in self._spread_into

    def _holds_call(self, expr: f.Call, fun: Fun) -> bool:
        if isinstance(expr.fn, f.Ref) and expr.args and isinstance(expr.args[0].value, f.Lit):
            base, _, method = expr.fn.name.rpartition(".")
            key = expr.args[0].value.value
            if method in ("get", "pop", "setdefault") and isinstance(key, str) and self._is_rest(base, fun):
                return key in self.keywords
        if self._gives_here(expr, fun):
            return True
        last = last_name(expr.fn)
        if self._gives_as("__call__", expr.fn, fun):
            return True
        if last in self.names and (not isinstance(expr.fn, f.Ref) or self._holds_name(expr.fn.name, fun)):
            # A class that stands on a known type, or an object that is called (a factory of sessions).
            return True
        if isinstance(expr.fn, f.Ref):
            base = expr.fn.name.rpartition(".")[0]
            if base and (last in self.giving or last in _CONTAINED) and self._holds_name(base, fun):
                return True
            receiver = fun.head.params[0].name if fun.is_method else "self"
            if base and self._stored(last, base == receiver, fun):
                return True  # a class, or a function, that is kept in an attribute
            outside = self._outside(fun.module, expr.fn.name)
            if outside != _NOTHING:
                if outside == _GIVES:
                    return True
                # What is imported may be an object that another file of the program made.
                if last not in self._wrappers and not (base and last in self.giving and self._held_name(base, fun.module)):
                    return False
            if not base and self._local(last, fun):
                return True
        elif isinstance(expr.fn, f.Field):
            if (last in self.giving or last in _CONTAINED) and self.holds(expr.fn.base, fun):
                return True
            if self._stored(last, False, fun):
                return True
        elif self.holds(expr.fn, fun):
            return True
        return last in self._wrappers and any(self.is_or_holds(a.value, fun) for a in expr.args)

    def candidate(self, site: CallSite) -> bool:
        """Whether a call may be one of a known waiting function or of a method of such an object."""
        fn = site.call.fn
        if isinstance(fn, f.Ref):
            return self.may_be(fn.name, site.fn)
        if isinstance(fn, f.Field):
            if fn.name in self._of_machinery or self._stored(fn.name, False, site.fn):
                return True
            return self.holds(fn.base, site.fn) or self._chained(fn.base, site.fn)
        return self.holds(fn, site.fn)

    def _chained(self, expr: f.Expr, fun: Fun) -> bool:
        """Whether a chain of calls begins at such an object: what its steps give may be the object again, or one of its kind."""
        while isinstance(expr, f.Call) and isinstance(expr.fn, f.Field | f.Ref):
            if isinstance(expr.fn, f.Ref):
                return self._holds_name(expr.fn.name.rpartition(".")[0] or expr.fn.name, fun)
            expr = expr.fn.base
            if self.holds(expr, fun):
                return True
        return False

    def may_be(self, called: str, fun: Fun) -> bool:
        """The same by the name that is called, as the header of a function has it too."""
        known = self._answers.get(fun)
        if known is None:
            known = self._answers[fun] = {}
        found = known.get(called)
        if found is None:
            found = known[called] = self._may_be(called, fun)
        return found

    def _may_be(self, called: str, fun: Fun) -> bool:
        base, _, method = called.rpartition(".")
        known = [call for full in self.external(fun.module, called) if (call := self.table.call(full)) is not None]
        if any(call.does in self.kinds for call in known):
            return True
        if known and len(known) == len(self.external(fun.module, called)):
            return False
        if base and method in self._of_machinery:
            return True
        if not base:
            return self._holds_name(called, fun) or self._starred(fun.module)
        if fun.is_method and base == fun.head.params[0].name:
            return self._stored(method, True, fun) or self._stands_on(fun)
        if self._holds_name(base, fun) or self._stored(method, False, fun):
            return True
        # Any attribute of an open-ended object is another one: `client.shop.orders.find()`.
        parts = base.split(".")
        return bool(self._by_attribute) and any(self._holds_name(".".join(parts[:n]), fun) for n in range(1, len(parts)))

    def sites(self, fun: Fun, wanted: Callable[[str], bool]) -> Iterator[CallSite]:
        """Candidates among the calls of wanted names in a function; its body is decoded only where its header shows one."""
        for called in fun.head.calls:
            if wanted(called) and (
                (called[1:] in self._of_machinery or fun in self.touched or self._may_read(fun))
                if called.startswith(".")
                else self.may_be(called, fun)
            ):
                break
        else:
            return
        for site in fun.body.calls:
            if wanted(dotted(site.call.fn) or "." + site.last) and self.candidate(site):
                yield site

    def _may_read(self, fun: Fun) -> bool:
        """Whether a body speaks of an attribute that may hold such an object: no header has those of what a call gives."""
        found = self._reads.get(fun)
        if found is None:
            found = self._reads[fun] = fun.says(self._held_attributes)
        return found

    @property
    def _held_attributes(self) -> Scan:
        """Attributes that may hold such an object; asked for when the pass is over."""
        if self._held is None:
            self._held = Scan("word", tuple(sorted({name.encode() for name, _ in self.attributes})))
        return self._held

    def _stands_on(self, fun: Fun) -> bool:
        owner = self.program.resolver.owner(fun)
        return owner is not None and owner.module in self.names.get(owner.name, ())

    @staticmethod
    def _starred(module: Module) -> bool:
        return "*" in module.imports
