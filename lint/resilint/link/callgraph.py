"""The call graph of a program: every function, and what each may call, printed from the same answers that rules ask for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from resilint import facts as f
from resilint.flow.resolve import DEPTH_OF_ALL, Resolver
from resilint.flow.values import Bound, ClassVal, Ext, FnVal, Obj, SuperVal, Thing
from resilint.link.code import Fun, Klass, Module, dotted, last_name, walk
from resilint.link.java_calls import java_edges, java_name

if TYPE_CHECKING:
    from resilint.program import Program

Edge = tuple[str, str]

ROUNDS = 4
"""How often all is asked; later rounds know of calls that the names of functions do not lead to."""

_DESCRIPTORS = frozenset({"staticmethod", "classmethod", "property"})
"""Decorators of the language itself: what they make is the function, not a call anyone wrote."""

_ACCESSORS = (".setter", ".getter", ".deleter")

_CALL_THEIR_ARGUMENTS = frozenset(
    {
        "<builtin>.map",
        "<builtin>.filter",
        "<builtin>.sorted",
        "<builtin>.min",
        "<builtin>.max",
        "<builtin>.list.sort",
        "<builtin>.iter",
        "functools.reduce",
        "itertools.accumulate",
        "itertools.dropwhile",
        "itertools.filterfalse",
        "itertools.groupby",
        "itertools.starmap",
        "itertools.takewhile",
        "threading.Thread",
        "threading.Timer",
        "multiprocessing.Process",
        "_thread.start_new_thread",
        "atexit.register",
        "asyncio.to_thread",
        "contextvars.Context.run",
        "sort.Slice",
        "sort.SliceStable",
        "sort.Search",
        "slices.SortFunc",
        "slices.SortStableFunc",
        "slices.IndexFunc",
        "slices.ContainsFunc",
        "slices.DeleteFunc",
        "strings.Map",
        "strings.FieldsFunc",
        "strings.IndexFunc",
        "strings.TrimFunc",
        "sync.Once.Do",
        "sync.OnceFunc",
        "sync.OnceValue",
        "time.AfterFunc",
        "path/filepath.Walk",
        "path/filepath.WalkDir",
        "context.AfterFunc",
    }
)
"""External callables that call a function they are given, apart from those that knowledge says start one."""

_COLLECTIONS = {"map": "dict", "gen": "generator"}
_NO_CONSTRUCTOR = ("<builtin>.", "typing.", "abc.", "enum.", "typing_extensions.")
"""Bases whose constructor is not worth an edge: it runs no code of a library."""


def call_graph(program: Program) -> tuple[list[str], list[Edge]]:
    """Names of all functions and of what they call outside, and the calls between them; both sorted.

    Functions are named by module and qualified name, a module's body by the module, external callables by canonical name.
    """
    nodes = {function_name(fn) for fn in program.functions("python", "go", "java") if not fn.module.beans}
    accessors = frozenset(fn.name for fn in program.functions("python") if fn.head.is_property)
    with _deep():
        edges = _edges(program, accessors) | java_edges(program)
    nodes.update(callee for _, callee in edges)
    return sorted(nodes), sorted(edges)


@contextmanager
def _deep() -> Iterator[None]:
    """Room for questions that lead far: each is several calls of this interpreter."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 12 * DEPTH_OF_ALL + 1000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _edges(program: Program, accessors: frozenset[str]) -> set[Edge]:
    observed: dict[Fun, set[tuple[Fun, int]]] = {}
    edges: set[Edge] = set()
    for _ in range(ROUNDS):
        resolver = Resolver(program.names, program.knowledge, observed)
        edges = set()
        further = 0
        for fn in program.functions("python", "go"):
            calls = _Calls(resolver, fn, accessors)
            caller = function_name(fn)
            edges.update((caller, callee) for callee in calls.names())
            for target, at in calls.reached:
                known = observed.setdefault(target, set())
                further += (fn, at) not in known
                known.add((fn, at))
        if not further:
            break
    return edges


def module_name(module: Module) -> str:
    """The dotted name of a module from the root of the program; of a Go file its package's, of a Java file its class's."""
    if module.language == "go":
        return module.folder.replace("/", ".") or module.facts.package
    if module.language == "java":
        stem = module.path.rpartition("/")[2].removesuffix(".java")
        return f"{module.facts.package}.{stem}".lstrip(".")
    path = module.path.removesuffix(".py")
    return path.removesuffix("/__init__").replace("/", ".")


def function_name(fn: Fun) -> str:
    """The dotted name of a function of the program; of a module's body the module's."""
    if fn.index and fn.module.language == "java":
        return java_name(fn)
    module = module_name(fn.module)
    return f"{module}.{fn.head.qual}" if fn.index else module


class _Calls:
    """What one function calls."""

    def __init__(self, resolver: Resolver, fn: Fun, accessors: frozenset[str]) -> None:
        self.resolver = resolver
        self.fn = fn
        self.frame = resolver.frame(fn)
        self.reached: list[tuple[Fun, int]] = []
        """Functions of the program under a name that is not theirs, and the offset of the call."""
        self.accessors = accessors
        self.python = fn.module.language == "python"

    def names(self) -> Iterator[str]:
        """Names of everything it calls; some more than once."""
        for stmt in self.fn.block:
            yield from self._inside(stmt, None)
        for expr, klass in self._declared():
            yield from self._inside(expr, klass)
        if self.python:
            yield from self._decorators()

    def _declared(self) -> Iterator[tuple[f.Expr, Klass | None]]:
        """Expressions of declarations that run in this function: defaults, decorators, bases, fields of classes."""
        module = self.fn.module
        for inner in module.functions[1:]:
            if max(inner.head.parent, 0) == self.fn.index:
                klass = module.classes[inner.head.owner] if inner.head.owner >= 0 else None
                for param in inner.head.params:
                    if param.default is not None:
                        yield param.default, klass
                for decorator in inner.head.decorators:
                    yield decorator, klass
        if not self.python:
            return
        for klass in module.classes:
            if max(klass.decl.parent, 0) == self.fn.index:
                outer = module.classes[klass.decl.outer] if klass.decl.outer >= 0 else None
                for expr in (*klass.decl.bases, *klass.decl.decorators, *(arg.value for arg in klass.decl.keywords)):
                    yield expr, outer
                for field in klass.decl.fields:
                    if field.init is not None:
                        yield field.init, klass

    # ------------------------------------------------------------ what is written

    def _inside(self, root: Any, klass: Klass | None) -> Iterator[str]:
        for node in walk(root):
            match node:
                case f.Call():
                    yield from self._call(node, klass)
                case f.Ref() | f.Field():
                    if self.accessors:
                        yield from self._properties(node, klass)
                case f.Loop(form="each") | f.Gen() if self.python and node.iter is not None:
                    yield from self._iterated(node.iter, node.is_async, klass)
                case f.With():
                    for item in node.items:
                        yield from self._entered(item.value, node.is_async, klass)
                case f.Raise() if node.value is not None and not isinstance(node.value, f.Call):
                    for thing in self._things(node.value, klass):
                        if isinstance(thing, ClassVal):
                            yield from self._constructors(thing.klass, outside=False)

    def _things(self, expr: f.Expr, klass: Klass | None) -> list[Thing]:
        if klass is not None:
            return [flow.thing for flow in self.resolver.ask_in_class(klass, expr, self.frame)]
        return [flow.thing for flow in self.resolver.ask(expr, self.frame)]

    def _call(self, call: f.Call, klass: Klass | None) -> Iterator[str]:
        resolver = self.resolver
        for flow in resolver.ask_callee(call, self.frame, klass):
            for thing, _ in resolver.unwrap(flow.thing, resolver.binds(call, self.frame), self.frame):
                if isinstance(thing, FnVal) and thing.fn.positional and last_name(call.fn) != thing.fn.name:
                    self.reached.append((thing.fn, call.at))
                for name in self._called(thing):
                    yield name
                    if not isinstance(thing, FnVal | ClassVal):
                        yield from self._handed(name, call, klass)

    def _called(self, thing: Thing) -> Iterator[str]:
        match thing:
            case FnVal():
                yield function_name(thing.fn)
            case ClassVal():
                if self.python:
                    yield from self._constructors(thing.klass)
            case SuperVal():
                yield "<builtin>.super"
            case Ext() | Bound():
                name = external_name(self.resolver, thing)
                if name:
                    yield name

    def _constructors(self, klass: Klass, *, outside: bool = True) -> Iterator[str]:
        """What runs when a class is called: its own or inherited `__new__`, `__init__`, `__post_init__`."""
        order, external = self.resolver.mro(klass)
        found = False
        for special in ("__new__", "__init__", "__post_init__"):
            for level in order:
                if special in level.methods:
                    yield function_name(level.methods[special])
                    found = found or special == "__init__"
                    break
        if not found and outside:
            for base in external:
                if base and not base.startswith(_NO_CONSTRUCTOR):
                    yield f"{base}.__init__"
                    break

    def _handed(self, name: str, call: f.Call, klass: Klass | None) -> Iterator[str]:
        """Functions that a call outside the program is given and calls."""
        entry = self.resolver.table(self.fn.module).call(name)
        spawn = entry.spawn if entry is not None else None
        every = name in _CALL_THEIR_ARGUMENTS
        if spawn is None and not every:
            return
        for position, arg in enumerate(call.args):
            if (
                not every
                and spawn is not None
                and arg.name != spawn.target_arg
                and (arg.name is not None or position != spawn.target)
            ):
                continue
            for thing in self._things(arg.value, klass):
                yield from self._run(thing, call)

    def _run(self, thing: Thing, call: f.Call) -> Iterator[str]:
        for target, _ in self.resolver.unwrap(thing, self.resolver.binds(call, self.frame), self.frame):
            if isinstance(target, FnVal | ClassVal | Ext | Bound):
                yield from self._called(target)

    # ------------------------------------------------------------ what the language calls

    def _special(self, things: Iterable[Thing], *methods: str) -> Iterator[FnVal]:
        for thing in things:
            if isinstance(thing, Obj) and isinstance(thing.type, Klass):
                for method in methods:
                    yield from self.resolver.method(thing, method)

    def _iterated(self, expr: f.Expr, is_async: bool, klass: Klass | None) -> Iterator[str]:
        first, then = ("__aiter__", "__anext__") if is_async else ("__iter__", "__next__")
        things = self._things(expr, klass)
        for target in self._special(things, first):
            yield function_name(target.fn)
            given = self.resolver.ask_returned(target, expr, self.frame)
            for further in self._special((flow.thing for flow in given), then):
                yield function_name(further.fn)

    def _entered(self, expr: f.Expr, is_async: bool, klass: Klass | None) -> Iterator[str]:
        methods = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
        for target in self._special(self._things(expr, klass), *methods):
            yield function_name(target.fn)

    def _properties(self, node: f.Ref | f.Field, klass: Klass | None) -> Iterator[str]:
        """Getters that reading an attribute calls."""
        if isinstance(node, f.Field):
            if node.name in self.accessors:
                yield from self._getters(node.base, node.name, klass)
            return
        parts = node.name.split(".")
        for count, part in enumerate(parts):
            if count and part in self.accessors:
                yield from self._getters(f.Ref(node.at, node.end, ".".join(parts[:count])), part, klass)

    def _getters(self, base: f.Expr, name: str, klass: Klass | None) -> Iterator[str]:
        for target in self._special(self._things(base, klass), name):
            if target.fn.head.is_property:
                yield function_name(target.fn)

    # ------------------------------------------------------------ decorators

    def _decorators(self) -> Iterator[str]:
        module = self.fn.module
        declared: list[tuple[tuple[f.Expr, ...], Klass | None]] = []
        for inner in module.functions[1:]:
            if inner.head.decorators and max(inner.head.parent, 0) == self.fn.index:
                declared.append((inner.head.decorators, module.classes[inner.head.owner] if inner.head.owner >= 0 else None))
        for klass in module.classes:
            if klass.decl.decorators and max(klass.decl.parent, 0) == self.fn.index:
                declared.append((klass.decl.decorators, module.classes[klass.decl.outer] if klass.decl.outer >= 0 else None))
        for decorators, outer in declared:
            for decorator in decorators:
                written = dotted(decorator)
                if written in _DESCRIPTORS or written.endswith(_ACCESSORS):
                    continue
                for thing in self._things(decorator, outer):
                    for target, _ in self.resolver.unwrap(thing, (), self.frame):
                        if isinstance(target, FnVal | ClassVal | Ext | Bound):
                            yield from self._called(target)


def external_name(resolver: Resolver, thing: Thing) -> str:
    """The canonical name of a callable outside the program; empty where nothing is known of it."""
    if isinstance(thing, Ext):
        return thing.name
    if not isinstance(thing, Bound):
        return ""
    holder = thing.obj
    kind = resolver.external_type(holder)
    if not kind:
        maker = holder.maker.partition("#")[0]
        if holder.kind == "gen":
            kind = "<builtin>.generator"
        elif maker and not maker.startswith("?"):
            kind = maker
    elif holder.kind == "coll":
        kind = f"<builtin>.{_COLLECTIONS.get(kind, kind)}"
    return f"{kind}.{thing.name}" if kind and not kind.startswith("?") else ""
