"""Which names may hold a library's waiting object: a forward pass by names, so that only those are resolved in full.

It over-approximates: a name is one for the whole program, whatever holds it. What it leaves out cannot be an object of a known
library, because no construction, import, annotation or known result leads to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from resilint import facts as f
from resilint.knowledge.index import Table
from resilint.link.code import CallSite, Fun, Klass, Module, children, dotted, last_name

if TYPE_CHECKING:
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


class Reach:
    """The names of one language that may hold objects whose methods do one of `kinds`."""

    def __init__(self, program: Program, language: str, kinds: Iterable[str]) -> None:
        self.program = program
        self.names_index = program.names
        self.table: Table = program.knowledge.of(language)
        self.language = language
        self.kinds = frozenset(kinds)
        self.types = self._waiting_types()
        self.methods = frozenset(
            n.rpartition(".")[2] for lib in self.table.libraries for c in lib.calls if c.does in self.kinds for n in c.names
        )
        self.giving = self._giving_methods()
        self.open_ended = self._open_ended()
        """Some type in use gives another such object by any attribute."""
        self.names: set[str] = set()
        """Attributes, globals and functions that may give such an object."""
        self._locals: dict[Fun, set[str]] = {}
        self._queue: list[Fun] = []
        self._queued: set[Fun] = set()
        self._imports: dict[tuple[str, str], str | None] = {}
        self._users: dict[str, list[Fun]] = {}
        self._by_name: dict[str, list[Fun]] = {}
        self._classes: dict[str, list[Klass]] = {}
        self._index()
        self._seed()
        self._run()

    # ------------------------------------------------------------ what counts

    def _waiting_types(self) -> frozenset[str]:
        table = self.table
        found: set[str] = set()
        owners = [(n.rpartition(".")[0], c.returns) for lib in table.libraries for c in lib.calls for n in c.names]
        for lib in table.libraries:
            for call in lib.calls:
                if call.does in self.kinds:
                    for name in call.names:
                        kind = table.type(name.rpartition(".")[0])
                        if kind is not None:
                            found.add(kind.name)
            found.update(t.name for t in lib.types if t.any_method is not None)
        while True:
            before = len(found)
            for lib in table.libraries:
                for kind in lib.types:
                    if kind.name not in found and (
                        any(r in found for r in kind.returns.values()) or any(b in found for b in kind.bases)
                    ):
                        found.add(kind.name)
                    if kind.name in found:
                        found.update(b for b in kind.bases if table.type(b) is not None)
            for owner, returns in owners:
                kind = table.type(owner)
                if kind is not None and returns in found:
                    found.add(kind.name)
            if len(found) == before:
                return frozenset(found)

    def _giving_methods(self) -> frozenset[str]:
        """Last segments of methods that give a waiting object."""
        out = {n.rpartition(".")[2] for lib in self.table.libraries for c in lib.calls if c.returns in self.types for n in c.names}
        for lib in self.table.libraries:
            for kind in lib.types:
                out.update(method for method, gives in kind.returns.items() if gives in self.types)
                if kind.name in self.types:
                    out.update(n.rpartition(".")[2] for n in kind.made_by)
        return frozenset(out)

    def _open_ended(self) -> bool:
        heads = {lib.modules for lib in self.table.libraries if any("*" in t.returns and t.name in self.types for t in lib.types)}
        wanted = {m for modules in heads for m in modules}
        imports = (imp for m in self.names_index.modules.values() if m.language == self.language for imp in m.facts.imports)
        return bool(wanted) and any(imp.target in wanted or imp.target.partition(".")[0] in wanted for imp in imports)

    def gives(self, canonical: str) -> bool:
        """Whether an external name is such an object or a call of it gives one."""
        table = self.table
        for kind in (table.constructs(canonical), table.made_by(canonical), table.instance(canonical)):
            if kind is not None and kind.name in self.types:
                return True
        returned = table.returned(canonical)
        if returned is not None and returned in self.types:
            return True
        head, _, last = canonical.rpartition(".")
        shaped = table.shape(head, last) if head else None
        return shaped is not None and shaped in self.types

    def waits(self, canonical: str) -> bool:
        """Whether an external name is a function that waits: held as a value, its calls have other names."""
        call = self.table.call(canonical)
        return call is not None and call.does in self.kinds

    def external(self, module: Module, name: str) -> str | None:
        """The canonical external name a dotted name starts as in a file, by its imports alone; `None` if it is not imported."""
        head, _, rest = name.partition(".")
        key = (module.path, head)
        if key not in self._imports:
            found = None
            for imp in module.imports.get(head, ()):
                if imp.level:
                    continue
                found = f"{imp.target}.{imp.name}" if imp.name else (imp.target if imp.explicit or self.language == "go" else head)
            self._imports[key] = found
        target = self._imports[key]
        if target is None:
            return None
        return f"{target}.{rest}" if rest else target

    # ------------------------------------------------------------ the pass

    def _index(self) -> None:
        for module in self.names_index.modules.values():
            if module.language != self.language:
                continue
            for fun in module.functions:
                if fun.head.kind in ("free", "method"):
                    self._by_name.setdefault(fun.name, []).append(fun)
                for name in {x.rpartition(".")[2].rstrip("{") for x in (*fun.head.calls, *fun.head.values)} | {
                    part for x in (*fun.head.calls, *fun.head.values) if "." in x for part in x.split(".")
                }:
                    self._users.setdefault(name, []).append(fun)
            for klass in module.classes:
                self._classes.setdefault(klass.name, []).append(klass)

    def _seed(self) -> None:
        for module in self.names_index.modules.values():
            if module.language != self.language:
                continue
            known = [imp for imp in module.facts.imports if not imp.level]
            if not known:
                continue
            for klass in module.classes:
                if any(
                    (name := self.external(module, dotted(b if not isinstance(b, f.Index) else b.base))) and self.gives(name)
                    for b in klass.decl.bases
                ):
                    self._hold(klass.name)
                for field in klass.decl.fields:
                    if self._typed(module, field.type):
                        self._hold(field.name)
                        if field.embedded:
                            self._hold(klass.name)
            for fun in module.functions:
                if any(self._seeds(module, c) for c in (*fun.head.calls, *fun.head.values)):
                    self._push(fun)
                for param in fun.head.params:
                    if self._typed(module, param.type):
                        self._hold_local(fun, param.name)
                if fun.head.kind != "lambda" and any(self._typed(module, r) for r in fun.head.returns):
                    self._hold(fun.name)
        # A subclass of a class that stands on a known type does so too.
        grown = True
        while grown:
            grown = False
            for name, classes in self._classes.items():
                if name not in self.names and any(last_name(b) in self.names for k in classes for b in k.decl.bases):
                    self._hold(name)
                    grown = True

    def _seeds(self, module: Module, name: str) -> bool:
        full = self.external(module, name.rstrip("{"))
        return full is not None and (self.gives(full) or self.waits(full))

    def _typed(self, module: Module, kind: f.Type | None) -> bool:
        if kind is None:
            return False
        if kind.name and kind.name[0].isalpha():
            full = self.external(module, kind.name)
            if full is not None:
                if full == "context.Context":
                    return False
                known = self.table.type(full)
                if known is not None:
                    return known.name in self.types
                head, _, last = full.rpartition(".")
                shaped = self.table.shape(head, last) if head else None
                return shaped in self.types if shaped is not None else False
        return any(self._typed(module, inner) for inner in kind.args)

    def _push(self, fun: Fun) -> None:
        if fun not in self._queued:
            self._queued.add(fun)
            self._queue.append(fun)

    def _hold(self, name: str) -> None:
        if name in self.names or not name or name == "_":
            return
        self.names.add(name)
        for user in self._users.get(name, ()):
            self._push(user)

    def _hold_local(self, fun: Fun, name: str) -> None:
        held = self._locals.setdefault(fun, set())
        if name not in held:
            held.add(name)
            self._push(fun)

    def _run(self) -> None:
        while self._queue:
            fun = self._queue.pop()
            self._queued.discard(fun)
            self._visit(fun)

    def _visit(self, fun: Fun) -> None:
        body = fun.body
        grown = True
        while grown:
            grown = False
            for name, defs in body.definitions.items():
                for d in defs:
                    if d.expr is None or (d.item and d.item[0] != 0 and self.language == "go" and isinstance(d.expr, f.Call)):
                        continue
                    if not self.holds(d.expr, fun):
                        continue
                    grown |= self._assign(fun, name.removesuffix("[]"))
        for stmt, _arm in body.returns:
            value = stmt.value
            if fun.head.returns and not any(
                self._may_hold_type(fun.module, r) or r.shape not in ("plain", "ptr", "opt") for r in fun.head.returns[:1]
            ):
                break
            if self.language == "go" and isinstance(value, f.Coll) and value.items:
                value = value.items[0].value
            if value is not None and fun.head.kind != "lambda" and self.holds(value, fun):
                self._hold(fun.name)
        for y in body.yields:
            if y.value is not None and fun.head.kind != "lambda" and self.holds(y.value, fun):
                self._hold(fun.name)
        for new, _arm, _stmt in body.news:
            for position, pair in enumerate(new.fields):
                if self.holds(pair.value, fun):
                    if isinstance(pair.key, f.Ref):
                        self._hold(pair.key.name)
                    else:
                        for klass in self._classes.get(new.type.name.rpartition(".")[2], ()):
                            if position < len(klass.decl.fields):
                                self._hold(klass.decl.fields[position].name)
        for site in body.calls:
            for position, arg in enumerate(site.call.args):
                if self.holds(arg.value, fun):
                    self._pass(site, position, arg)

    def _assign(self, fun: Fun, name: str) -> bool:
        base, _, last = name.rpartition(".")
        if base or fun.index == 0 or last in fun.body.outer_names:
            if last in self.names:
                return False
            self._hold(last)
            return True
        held = self._locals.setdefault(fun, set())
        if last in held:
            return False
        held.add(last)
        for inner in fun.module.functions:
            if inner.parent is fun:
                self._hold_local(inner, last)
        return True

    def _pass(self, site: CallSite, position: int, arg: f.Arg) -> None:
        name = site.last
        targets = self._targets(site)
        if targets is None:
            return
        for klass in self._classes.get(name, ()) if self.language == "python" else ():
            init = klass.methods.get("__init__")
            if init is not None:
                targets.append(init)
            else:
                fields = [x.name for x in klass.decl.fields if x.type is not None]
                if arg.name is not None:
                    self._hold(arg.name)
                elif position < len(fields):
                    self._hold(fields[position])
        if not targets and arg.name is not None and name not in self._classes:
            # Kept by something that is not seen: a registry, a framework; by keyword it may come back under that name.
            self._hold(arg.name)
        for target in targets:
            for param in self._params(target, position, arg):
                if self._eligible(target, param):
                    self._hold_local(target, param.name)

    @staticmethod
    def _params(target: Fun, position: int, arg: f.Arg) -> Iterator[f.Param]:
        if arg.spread:
            yield from target.head.params
        elif arg.name is not None:
            if arg.name in target.params:
                yield target.params[arg.name]
            else:
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
        if dotted_name in ("self." + name, "cls." + name, "super." + name):
            return [x for x in self._by_name.get(name, ()) if x.is_method]
        head = dotted_name.partition(".")[0]
        if self.language == "go":
            if (
                dotted_name
                and head != dotted_name
                and (path := self.external(fun.module, head)) is not None
                and not self._local(head, fun)
            ):
                package = self.names_index.go_package(path, fun.module)
                found = package.functions.get(name) if package is not None else None
                return [found] if found is not None else None
            if dotted_name and "." not in dotted_name:
                found = self.names_index.package_of(fun.module).functions.get(name)
                return [found] if found is not None else []
            return [x for x in self._by_name.get(name, ()) if x.is_method]
        if dotted_name and self.external(fun.module, dotted_name) is not None:
            return list(self._by_name.get(name, ()))
        if dotted_name and "." not in dotted_name:
            return [x for x in self._by_name.get(name, ()) if x.module is fun.module]
        return list(self._by_name.get(name, ()))

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
        full = self.external(module, name)
        if full is not None:
            known = self.table.type(full)
            if known is not None:
                return known.name in self.types
        last = name.rpartition(".")[2]
        declared = self._classes.get(last)
        if declared:
            return any(k.decl.kind in ("interface", "alias", "class") or k.name in self.names for k in declared)
        return True

    # ------------------------------------------------------------ asking

    def _local(self, name: str, fun: Fun) -> bool:
        scope: Fun | None = fun
        while scope is not None:
            if name in self._locals.get(scope, ()):
                return True
            scope = scope.parent
        return False

    def holds(self, expr: Any, fun: Fun) -> bool:
        """Whether an expression may be such an object, or hold one."""
        match expr:
            case f.Ref():
                head, _, rest = expr.name.partition(".")
                if not rest and self._local(head, fun):
                    return True
                last = expr.name.rpartition(".")[2]
                if last in self.names:
                    return True
                if (
                    rest
                    and (last in self.methods or last in self.giving)
                    and self.holds(f.Ref(expr.at, expr.end, expr.name.rpartition(".")[0]), fun)
                ):
                    return True
                if rest and self.open_ended and self.holds(f.Ref(expr.at, expr.end, expr.name.rpartition(".")[0]), fun):
                    return True
                full = self.external(fun.module, expr.name)
                return full is not None and (self.gives(full) or self.waits(full))
            case f.Call():
                last = last_name(expr.fn)
                if last in self.names:
                    return True
                if isinstance(expr.fn, f.Ref):
                    full = self.external(fun.module, expr.fn.name)
                    if full is not None:
                        if self.gives(full):
                            return True
                        if last not in _WRAPPERS:
                            return False
                    base = expr.fn.name.rpartition(".")[0]
                    if not base and self._local(last, fun):
                        return True
                    if base and last in self.giving and self.holds(f.Ref(expr.at, expr.end, base), fun):
                        return True
                elif isinstance(expr.fn, f.Field):
                    if last in self.giving and self.holds(expr.fn.base, fun):
                        return True
                elif self.holds(expr.fn, fun):
                    return True
                return last in _WRAPPERS and any(self.holds(a.value, fun) for a in expr.args)
            case f.New():
                full = self.external(fun.module, expr.type.name)
                return full is not None and self.gives(full)
            case f.Lit() | f.Fn():
                return False
            case f.Fmt() | f.Is():
                return False
            case f.Bin():
                return expr.op in ("or", "and") and (self.holds(expr.left, fun) or self.holds(expr.right, fun))
            case f.Field():
                return expr.name in self.names or (expr.name in self.giving and self.holds(expr.base, fun))
            case _:
                return any(self.holds(child, fun) for child in children(expr))

    def candidate(self, site: CallSite) -> bool:
        """Whether a call may be one of a known waiting function or of a method of such an object."""
        fn = site.call.fn
        fun = site.fn
        if isinstance(fn, f.Ref):
            base, _, method = fn.name.rpartition(".")
            full = self.external(fun.module, fn.name)
            if full is not None:
                call = self.table.call(full)
                if call is not None:
                    return call.does in self.kinds
            if not base:
                return self.holds(fn, fun) or self._starred(fun.module)
            head = base.partition(".")[0]
            if fun.is_method and head == fun.head.params[0].name and "." not in base:
                return method in self.names or self._stands_on(fun)
            return self.holds(f.Ref(fn.at, fn.end, base), fun) or method in self.names
        if isinstance(fn, f.Field):
            return self.holds(fn.base, fun) or fn.name in self.names
        return self.holds(fn, fun)

    def _stands_on(self, fun: Fun) -> bool:
        owner = self.program.resolver.owner(fun)
        return owner is not None and owner.name in self.names

    @staticmethod
    def _starred(module: Module) -> bool:
        return "*" in module.imports
