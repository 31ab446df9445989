"""Java: what a name means in a file, which methods a class has, and which of them a call may reach by what is declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

import resilint.facts as f
from resilint.link.code import CallSite, Definition, Fun, Klass, Module, dotted, shared_folders

_IMPLICIT = frozenset(
    """
    Appendable ArithmeticException ArrayIndexOutOfBoundsException AssertionError AutoCloseable Boolean Byte CharSequence
    Character Class ClassCastException ClassLoader ClassNotFoundException CloneNotSupportedException Cloneable Comparable
    Deprecated Double Enum Error Exception Float FunctionalInterface IllegalArgumentException IllegalMonitorStateException
    IllegalStateException IndexOutOfBoundsException InheritableThreadLocal Integer InterruptedException Iterable LinkageError
    Long Math Module NoSuchFieldException NoSuchMethodException NullPointerException Number NumberFormatException Object
    OutOfMemoryError Override Package Process ProcessBuilder Readable Record ReflectiveOperationException Runnable Runtime
    RuntimeException SafeVarargs ScopedValue SecurityException Short StackOverflowError StackTraceElement StrictMath String
    StringBuffer StringBuilder SuppressWarnings System Thread ThreadGroup ThreadLocal Throwable UnsupportedOperationException
    VirtualMachineError Void
    """.split()  # noqa: SIM905
)
"""Types of `java.lang`, which every file sees (its summary in the API of Java SE 21)."""

_FUNCTIONAL = frozenset({"java.lang.Runnable", "java.lang.AutoCloseable", "java.lang.Iterable", "java.lang.Comparable"})
"""Interfaces among them that have one method."""

_FINAL = frozenset(
    f"java.lang.{name}"
    for name in """
    Boolean Byte Character Class Double Float Integer Long Math Module ProcessBuilder Short StackTraceElement StrictMath String
    StringBuffer StringBuilder System Void
    """.split()  # noqa: SIM905
)
"""Classes among them that no other can extend."""

_T = TypeVar("_T")

_PRIMITIVES = frozenset({"boolean", "byte", "char", "double", "float", "int", "long", "short", "void", "var"})
_DEPTH = 12
"""Steps from an expression to what it is; longer ways are not followed."""
_STEPS = 500
"""Calls and values looked at for one question; what lies behind further ones is not followed."""
_MOST = 64
"""Functions that one call may reach."""


PART = ""
"""As what a `Kind` is of: something that a generic object outside the program gave out, its element or another view of it."""


class Kind(NamedTuple):
    """What an expression is: a class of the program, or an external one by canonical name; `[]` an array of `args`.

    `exact`: an object of that class and no subclass; `static`: the class itself.
    """

    of: Klass | str
    args: tuple[Kind | None, ...] = ()
    exact: bool = False
    static: bool = False


Target = Fun | str
"""A function of the program, or the canonical name of one outside."""


def is_final(name: str) -> bool:
    """Whether no class can extend a class of `java.lang`, given by its canonical name."""
    return name in _FINAL


class JavaNames:
    """The Java files of a program."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self.described: frozenset[str] = frozenset()
        """External classes that knowledge speaks of: which of several packages imported whole has a name."""
        self._packages: dict[str, dict[str, list[Klass]]] = {}
        self._nested: dict[Klass, dict[str, Klass]] = {}
        self._local: dict[tuple[str, int], dict[str, Klass]] = {}
        self._types: dict[tuple[int, str], Klass | str | None] = {}
        self._bases: dict[Klass, tuple[list[Klass], list[str]]] = {}
        self._mro: dict[Klass, tuple[list[Klass], list[str]]] = {}
        self._subtypes: dict[Klass, list[Klass]] | None = None
        self._callers: dict[str, list[Fun]] = {}
        self._all: list[Klass] = []
        self._targets: dict[int, tuple[f.Call, list[Target]]] = {}
        """By identity of the call, which is kept for that."""
        self._kinds: dict[tuple[Fun, str], list[Kind]] = {}
        self._calls: dict[str, dict[Fun, list[tuple[Fun, CallSite]]]] = {}
        self._values: dict[tuple[Fun, str], list[Target]] = {}
        self._single: dict[Klass, bool] = {}
        self._overrides: dict[Fun, list[Fun]] = {}
        self._dispatched: dict[object, list[Target]] = {}
        self._steps = 0
        self._cuts = 0
        """How often a search ended early: what depends on such an answer is not remembered."""
        for module in modules:
            package = self._packages.setdefault(module.facts.package, {})
            for klass in module.classes:
                self._all.append(klass)
                if klass.decl.outer >= 0:
                    self._nested.setdefault(module.classes[klass.decl.outer], {}).setdefault(klass.name, klass)
                elif klass.decl.parent > 0:
                    self._local.setdefault((module.path, klass.decl.parent), {})[klass.name] = klass
                else:
                    package.setdefault(klass.name, []).append(klass)
            for fun in module.functions:
                for name in {call.rpartition(".")[2] for call in fun.head.calls}:
                    self._callers.setdefault(name, []).append(fun)

    # ------------------------------------------------------------ types

    def enclosing(self, fn: Fun) -> list[Klass]:
        """The classes around a function, innermost first."""
        at: Fun | None = fn
        while at is not None:
            if at.head.owner >= 0:
                klass = at.module.classes[at.head.owner]
                return [klass, *self.around(klass)]
            at = at.parent
        return []

    def around(self, klass: Klass) -> list[Klass]:
        """The classes around a class, innermost first."""
        if klass.decl.outer >= 0:
            outer = klass.module.classes[klass.decl.outer]
            return [outer, *self.around(outer)]
        if klass.decl.parent > 0:
            return self.enclosing(klass.module.functions[klass.decl.parent])
        return []

    def canonical(self, klass: Klass) -> str:
        """The name by which other files know a class."""
        package = klass.module.facts.package
        return f"{package}.{klass.decl.qual}" if package else klass.decl.qual

    def type(self, name: str, where: Fun | Klass | Module) -> Klass | str | None:
        """What a type's name means in a function, a class or at the top of a file; external ones by canonical name.

        `None` for primitive types, type parameters, and simple names that several places may give.
        """
        key = (id(where), name)
        if key not in self._types:
            self._types[key] = None
            self._types[key] = self._type(name, where)
        return self._types[key]

    def _type(self, name: str, where: Fun | Klass | Module) -> Klass | str | None:
        head, _, rest = name.partition(".")
        if head in _PRIMITIVES or not head:
            return None
        found = self._head(head, where)
        if found is None and rest:
            return self._qualified(name, where.module if not isinstance(where, Module) else where)
        for part in rest.split(".") if rest else ():
            found = self._inner(found, part)
            if found is None:
                return None
        return found

    def _inner(self, holder: Klass | str | None, name: str) -> Klass | str | None:
        if isinstance(holder, Klass):
            for level in self.mro(holder)[0]:
                nested = self._nested.get(level, {}).get(name)
                if nested is not None:
                    return nested
            return None
        return f"{holder}.{name}" if holder else None

    def _head(self, name: str, where: Fun | Klass | Module) -> Klass | str | None:
        module = where if isinstance(where, Module) else where.module
        fn = where if isinstance(where, Fun) else None
        if isinstance(where, Klass) and where.decl.parent > 0:
            fn = where.module.functions[where.decl.parent]
        while fn is not None:
            local = self._local.get((module.path, fn.index), {}).get(name)
            if local is not None:
                return local
            owner = module.classes[fn.head.owner] if fn.head.owner >= 0 else None
            parent = fn.parent
            if parent is None and owner is not None and owner.decl.parent > 0:
                parent = module.functions[owner.decl.parent]
            fn = parent
        classes = (
            self.enclosing(where) if isinstance(where, Fun) else [where, *self.around(where)] if isinstance(where, Klass) else []
        )
        for klass in classes:
            if klass.name == name:
                return klass
            found = self._inner(klass, name)
            if found is not None:
                return found
        for klass in self._packages.get(module.facts.package, {}).get(name, ()):
            if klass.module is module:
                return klass
        for imp in module.imports.get(name, ()):
            if imp.name == name:
                return self._qualified(f"{imp.target}.{imp.name}", module)
        same = self._nearest(self._packages.get(module.facts.package, {}).get(name), module)
        if same is not None:
            return same
        outside = []
        for star in module.imports.get("*", ()):
            package = self._packages.get(star.target)
            if package is not None:
                found = self._nearest(package.get(name), module)
            else:
                holder = self._qualified(star.target, module)
                found = self._inner(holder, name) if isinstance(holder, Klass) else None
                if found is None and not isinstance(holder, Klass) and not star.is_static:
                    outside.append(star.target)
            if found is not None:
                return found
        if name in _IMPLICIT:
            return f"java.lang.{name}"
        named = [package for package in outside if f"{package}.{name}" in self.described]
        if len(named) == 1:
            return f"{named[0]}.{name}"
        # One capital letter is a type parameter by convention; what nothing declares or imports is generated beside the file.
        if len(name) < 2 or not name[0].isupper() or name.isupper() or len(outside) > 1:
            return None
        home = outside[0] if outside else module.facts.package
        return f"{home}.{name}" if home else None

    def _qualified(self, name: str, importer: Module) -> Klass | str:
        """A full name: a class of the program, or as it stands."""
        parts = name.split(".")
        for count in range(len(parts) - 1, -1, -1):
            package = self._packages.get(".".join(parts[:count]))
            found: Klass | str | None = self._nearest(package.get(parts[count]), importer) if package else None
            for part in parts[count + 1 :]:
                found = self._inner(found, part)
            if isinstance(found, Klass):
                return found
        return name

    @staticmethod
    def _nearest(classes: list[Klass] | None, importer: Module) -> Klass | None:
        if not classes:
            return None
        if len(classes) == 1:
            return classes[0]
        return max(
            classes,
            key=lambda klass: (not klass.module.is_test or importer.is_test, shared_folders(klass.module.path, importer.path)),
        )

    def kind_of(self, written: f.Type | None, where: Fun | Klass | Module, depth: int = 0) -> Kind | None:
        """A written type."""
        if written is None or depth > _DEPTH:
            return None
        args = tuple(self.kind_of(arg, where, depth + 1) for arg in written.args)
        if written.shape in ("array", "variadic"):
            return Kind("[]", args)
        found = self.type(written.name, where)
        return None if found is None else Kind(found, args)

    # ------------------------------------------------------------ classes

    def bases(self, klass: Klass) -> tuple[list[Klass], list[str]]:
        """Direct bases, the superclass first: those of the program, and external ones by canonical name (empty: not known)."""
        known = self._bases.get(klass)
        if known is not None:
            return known
        own: list[Klass] = []
        external: list[str] = []
        self._bases[klass] = (own, external)
        decl = klass.decl
        where: Fun | Klass | Module = klass.module
        if decl.outer >= 0:
            where = klass.module.classes[decl.outer]
        elif decl.parent > 0:
            where = klass.module.functions[decl.parent]
        for base in decl.bases:
            found = self.type(dotted(base.base if isinstance(base, f.Index) else base), where)
            if isinstance(found, Klass):
                if found is not klass:
                    own.append(found)
            else:
                external.append(found or "")
        return own, external

    def mro(self, klass: Klass) -> tuple[list[Klass], list[str]]:
        """The class and all it stands on, superclasses before interfaces, and the external bases met."""
        known = self._mro.get(klass)
        if known is not None:
            return known
        self._mro[klass] = ([klass], [])
        own, external = self.bases(klass)
        order = [klass]
        outside = list(external)
        for base in own:
            above, further = self.mro(base)
            order.extend(k for k in above if k not in order)
            outside.extend(x for x in further if x not in outside)
        self._mro[klass] = (order, outside)
        return order, outside

    def subtypes(self, klass: Klass) -> list[Klass]:
        """All classes of the program below this one."""
        if self._subtypes is None:
            found: dict[Klass, list[Klass]] = {}
            for below in self._all:
                for base in self.mro(below)[0][1:]:
                    found.setdefault(base, []).append(below)
            self._subtypes = found
        return self._subtypes.get(klass, [])

    def field(self, klass: Klass, name: str) -> tuple[Klass, f.ClassField] | None:
        """A field of a class or of what it stands on, and where it is declared."""
        for level in self.mro(klass)[0]:
            field = level.fields.get(name)
            if field is not None:
                return level, field
        return None

    def methods(self, klass: Klass, name: str, count: int) -> list[Fun]:
        """Methods of that name which take so many arguments: those of the nearest class that has such."""
        for level in self.mro(klass)[0]:
            found = [fun for fun in level.overloads.get(name, ()) if takes(fun, count)]
            if found:
                return exact_first(found, count)
        return []

    def constructors(self, klass: Klass, count: int) -> list[Fun]:
        """Constructors that take so many arguments; of an anonymous class those of its superclass."""
        if klass.name.startswith("<") and not klass.overloads.get("__init__"):
            own, _ = self.bases(klass)
            return self.constructors(own[0], count) if own else []
        return exact_first([fun for fun in klass.overloads.get("__init__", ()) if takes(fun, count)], count)

    def overrides(self, fun: Fun) -> list[Fun]:
        """Methods of subtypes in the place of this one."""
        known = self._overrides.get(fun)
        if known is None:
            known = self._overrides[fun] = self._find_overrides(fun)
        return known

    def _find_overrides(self, fun: Fun) -> list[Fun]:
        if fun.head.owner < 0 or fun.head.is_static:
            return []
        count = len(fun.head.params)
        return [
            other
            for below in self.subtypes(fun.module.classes[fun.head.owner])
            for other in below.overloads.get(fun.name, ())
            if len(other.head.params) == count and not other.head.is_static
        ]

    def dispatched(self, klass: Klass, name: str, count: int, *, exact: bool = False) -> list[Fun]:
        """What a call of a method on an object of a declared class may run: the method, unless abstract, and its overrides."""
        found = self.methods(klass, name, count)
        if exact:
            return [fun for fun in found if not fun.head.is_abstract]
        out = [fun for fun in found if not fun.head.is_abstract]
        met = set(out)
        allowed = {klass, *self.subtypes(klass)}
        for fun in found:
            for other in self.overrides(fun):
                if other not in met and other.module.classes[other.head.owner] in allowed:
                    met.add(other)
                    out.append(other)
        if not out and not found:
            # Declared further out only (an external interface): whoever of the subtypes has it.
            for below in self.subtypes(klass):
                out.extend(fun for fun in below.overloads.get(name, ()) if takes(fun, count) and fun not in out)
        return out[:_MOST]

    # ------------------------------------------------------------ expressions

    def kinds(self, expr: f.Expr | None, fn: Fun, depth: int = 0) -> list[Kind]:
        """What an expression may be, by what is declared and constructed; nothing where that is not known."""
        if expr is None:
            return []
        if depth > _DEPTH:
            self._cuts += 1
            return []
        match expr:
            case f.Ref():
                return self._name(expr.name, fn, depth)
            case f.Call():
                return self._result(expr, fn, depth)
            case f.Cast():
                made = self.kind_of(expr.type, fn)
                return [] if made is None else [made]
            case f.Cond():
                return _union(self.kinds(expr.then, fn, depth + 1), self.kinds(expr.orelse, fn, depth + 1))
            case f.Let():
                return self.kinds(expr.value, fn, depth + 1)
            case f.Field():
                return [k for kind in self.kinds(expr.base, fn, depth + 1) for k in self._member(kind, expr.name, depth)]
            case f.Index():
                return [k for kind in self.kinds(expr.base, fn, depth + 1) if kind.of == "[]" for k in _element(kind)]
            case f.Fmt():
                return [Kind("java.lang.String")]
            case f.Lit():
                return [Kind("java.lang.String")] if isinstance(expr.value, str) else []
            case f.New() | f.Coll() if expr.type is not None:
                made = self.kind_of(expr.type, fn)
                return [] if made is None else [made]
        return []

    def _name(self, text: str, fn: Fun, depth: int) -> list[Kind]:
        known = self._kinds.get((fn, text))
        if known is None:
            cuts = self._cuts
            known = self._named(text, fn, depth)
            if self._cuts == cuts:
                self._kinds[fn, text] = known
        return known

    def _named(self, text: str, fn: Fun, depth: int) -> list[Kind]:
        parts = text.split(".")
        head = parts[0]
        found: list[Kind] = []
        rest = parts[1:]
        classes = self.enclosing(fn)
        variable = self.variable(head, fn)
        if head == "this" and classes:
            found = [Kind(classes[0])]
        elif head == "super" and classes:
            own, external = self.bases(classes[0])
            found = [Kind(base) for base in own] or [Kind(base) for base in external if base]
        elif variable is not None:
            found = self._variable(*variable, depth)
        else:
            member = self._bare(head, classes, fn, depth)
            if member:
                found = member
            else:
                # The longest part that is a type.
                for count in range(1, len(parts) + 1):
                    made = self.type(".".join(parts[:count]), fn)
                    if isinstance(made, Klass) or (made is not None and parts[count - 1][:1].isupper()):
                        found, rest = [Kind(made, static=True)], parts[count:]
                        break
        for part in rest:
            found = [k for kind in found for k in self._member(kind, part, depth)]
        return found

    def _bare(self, name: str, classes: list[Klass], fn: Fun, depth: int) -> list[Kind]:
        """A field that a class around inherits, or one that is imported."""
        for klass in classes:
            field = self.field(klass, name)
            if field is not None:
                return self._field(*field, depth)
        for holder, imported in self._static_imports(name, fn.module):
            if isinstance(holder, Klass) and (field := self.field(holder, imported)) is not None:
                return self._field(*field, depth)
        return []

    def member(self, name: str, fn: Fun) -> tuple[Klass | str, str, bool] | None:
        """What a bare name means that neither a local nor a class of its file declares: a field or method which a class around the
        function inherits, or a static import. Gives the class around it (or the imported one, external ones by canonical name),
        the member's name there, and whether it is of the class itself rather than of its object."""
        classes = self.enclosing(fn)
        for klass in classes:
            for level in self.mro(klass)[0]:
                field = level.fields.get(name)
                methods = level.overloads.get(name)
                if field is not None:
                    return (level, name, True) if field.is_static else (klass, name, False)
                if methods:
                    return (level, name, True) if all(fun.head.is_static for fun in methods) else (klass, name, False)
        for imp in fn.module.imports.get(name, ()):
            if imp.is_static:
                return self._qualified(imp.target, fn.module), name, True
        for holder, imported in self._static_imports(name, fn.module):
            if isinstance(holder, Klass) and (
                self.field(holder, imported) or any(imported in k.overloads for k in self.mro(holder)[0])
            ):
                return holder, imported, True
        return None

    def _static_imports(self, name: str, module: Module) -> Iterator[tuple[Klass | str, str]]:
        for imp in (*module.imports.get(name, ()), *module.imports.get("*", ())):
            if imp.is_static:
                yield self._qualified(imp.target, module), name

    def variable(self, name: str, fn: Fun) -> tuple[Fun, str] | None:
        """The function around that has a parameter or local of that name."""
        at: Fun | None = fn
        while at is not None:
            if name in at.params or any(d.kind not in ("class", "function") for d in at.body.definitions.get(name, ())):
                return (at, name) if name != "this" else None
            at = at.parent
        return None

    def _variable(self, fn: Fun, name: str, depth: int) -> list[Kind]:
        found: list[Kind] = []
        definitions = fn.body.definitions.get(name, [])
        written = next((d.type for d in definitions if d.type is not None), None)
        param = fn.params.get(name)
        if param is not None and param.type is not None:
            written = f.Type("[]", (param.type,), "array") if param.kind == "*" else param.type
        declared = self.kind_of(written, fn)
        values = [d for d in definitions if d.kind in ("value", "enter", "each", "error")]
        if param is None:
            made = [k for d in values for k in self._defined(d, fn, depth)]
            if declared is None or (made and all(k.exact for k in made) and len({d.at for d in values}) == len(values)):
                found = _union(made)
        if not found and declared is not None:
            found = [declared]
        if param is not None and written is None and fn.head.kind == "lambda":
            found = self._lambda_parameter(fn, name, depth)
        return found

    def _lambda_parameter(self, fn: Fun, name: str, depth: int) -> list[Kind]:
        """The type of a parameter that a lambda does not write: from the interface it is passed for, or what the called object is
        a collection of."""
        home = fn.module.functions[max(fn.head.parent, 0)]
        position = next(i for i, p in enumerate(fn.head.params) if p.name == name)
        for site in home.body.calls:
            for place, arg in enumerate(site.call.args):
                if not isinstance(arg.value, f.Fn) or arg.value.index != fn.index:
                    continue
                found: list[Kind] = []
                for target in self.declared(site.call, home, depth + 1):
                    if isinstance(target, Fun):
                        found.extend(self._handed_to(target, place, position))
                callee = site.call.fn
                if found or not isinstance(callee, f.Ref | f.Field):
                    return found
                holder = (
                    callee.base if isinstance(callee, f.Field) else f.Ref(callee.at, callee.end, callee.name.rpartition(".")[0])
                )
                for kind in self.kinds(holder, home, depth + 1):
                    if isinstance(kind.of, str) and position < len(kind.args) and len(kind.args) in (1, len(fn.head.params)):
                        part = kind.args[position]
                        found.extend([] if part is None else [part])
                return found
        return []

    def _handed_to(self, target: Fun, place: int, position: int) -> Iterator[Kind]:
        """What a function's parameter, an interface of the program, gives to the lambda it is."""
        params = [p for p in target.head.params if p.kind != "self"]
        kind = self.kind_of(params[min(place, len(params) - 1)].type, target) if params else None
        if kind is None:
            return
        if isinstance(kind.of, str):
            part = kind.args[position] if position < len(kind.args) else None
            if part is not None:
                yield part
            return
        for level in self.mro(kind.of)[0]:
            for fun in (fun for found in level.overloads.values() for fun in found if fun.head.is_abstract):
                inner = fun.head.params[position + 1 : position + 2]
                made = self.kind_of(inner[0].type, fun) if inner else None
                if made is not None:
                    yield made

    def _defined(self, d: Definition, fn: Fun, depth: int) -> list[Kind]:
        if d.kind == "error":
            return [Kind(made) for kind in d.node.types if (made := self.type(dotted(kind), fn)) is not None]
        if d.item or (isinstance(d.expr, f.Lit) and d.expr.value is None):
            return []
        found = self.kinds(d.expr, fn, depth + 1)
        return [k for kind in found for k in _element(kind)] if d.kind == "each" else found

    def _field(self, owner: Klass, field: f.ClassField, depth: int) -> list[Kind]:
        if field.is_final and isinstance(field.init, f.Call):
            made = self.kinds(field.init, self._home(owner), depth + 1)
            if made and all(k.exact for k in made):
                return made
        kind = self.kind_of(field.type, owner)
        return [] if kind is None else [kind]

    def _home(self, klass: Klass) -> Fun:
        return klass.module.functions[max(klass.decl.parent, 0)]

    def _member(self, kind: Kind, name: str, depth: int) -> list[Kind]:
        """A field, a nested class, or `this` and `class` of a class."""
        if kind.static and name == "this":
            return [Kind(kind.of)]
        if kind.static and name == "super":
            return [Kind(base) for base in self.bases(kind.of)[0]] if isinstance(kind.of, Klass) else []
        if name == "class":
            return [Kind("java.lang.Class", (Kind(kind.of),))]
        if isinstance(kind.of, Klass):
            field = self.field(kind.of, name)
            if field is not None:
                return self._field(*field, depth)
            nested = self._inner(kind.of, name)
            return [] if nested is None else [Kind(nested, static=True)]
        if kind.static and name[:1].isupper() and not name.isupper():
            return [Kind(f"{kind.of}.{name}", static=True)]
        return []

    def _result(self, call: f.Call, fn: Fun, depth: int) -> list[Kind]:
        made = self.constructed(call, fn, depth)
        if made is not None:
            return [Kind(made, exact=True)]
        found: list[Kind] = []
        for target in self.declared(call, fn, depth + 1):
            if isinstance(target, Fun):
                for written in target.head.returns:
                    kind = self.kind_of(written, target)
                    if kind is not None:
                        found.append(kind)
            elif isinstance(call.fn, f.Ref | f.Field) and not any(isinstance(arg.value, f.Fn | f.Field) for arg in call.args):
                found.extend(self._given_out(call.fn, fn, depth))
        if not found and isinstance(call.fn, f.Field):
            found.extend(self._given_out(call.fn, fn, depth))
        return _union(found)

    def _given_out(self, callee: f.Ref | f.Field, fn: Fun, depth: int) -> Iterator[Kind]:
        """What a method of `List<T>` and its like gives: a T, or something else of T."""
        base = callee.base if isinstance(callee, f.Field) else f.Ref(callee.at, callee.end, callee.name.rpartition(".")[0])
        for kind in self.kinds(base, fn, depth + 1):
            if isinstance(kind.of, str) and kind.of != "[]" and kind.args:
                yield Kind(PART, kind.args)

    # ------------------------------------------------------------ calls

    def constructed(self, call: f.Call, fn: Fun, depth: int = 0) -> Klass | str | None:
        """The class that a call makes an object of, if it is a construction."""
        if isinstance(call.fn, f.Ref):
            last = call.fn.name.rpartition(".")[2]
            if last[:1].isupper() or last.startswith("<"):
                found = self.type(call.fn.name, fn)
                if found is None:
                    # `outer.new Inner()`
                    holder, _, last = call.fn.name.rpartition(".")
                    for kind in self._name(holder, fn, depth + 1) if holder else ():
                        found = found or self._inner(kind.of, last)
                return found
        elif isinstance(call.fn, f.Field) and call.fn.name[:1].isupper():
            for kind in self.kinds(call.fn.base, fn, depth + 1):
                found = self._inner(kind.of, call.fn.name)
                if isinstance(found, Klass):
                    return found
        return None

    def targets(self, call: f.Call, fn: Fun, depth: int = 0) -> list[Target]:
        """What a call may run: what is declared, and the functions that the called object may be."""
        out = self.declared(call, fn, depth)
        callee = call.fn
        base: f.Expr
        if isinstance(callee, f.Ref):
            holder = callee.name.rpartition(".")[0]
            base = f.Ref(callee.at, callee.end, holder)
        elif isinstance(callee, f.Field):
            base, holder = callee.base, "."
        else:
            return out
        given = [target for target in self.called_values(base, fn, depth) if target not in out] if holder else []
        if not given:
            return out
        return [*(target for target in out if isinstance(target, Fun) and not target.head.is_abstract), *given][:_MOST]

    def declared(self, call: f.Call, fn: Fun, depth: int = 0) -> list[Target]:
        """What a call may run by what is declared: methods, constructors and their overrides."""
        known = self._targets.get(id(call))
        if known is not None:
            return known[1]
        if not depth:
            self._steps = 0
        self._steps += 1
        if depth > _DEPTH or self._steps > _STEPS:
            self._cuts += 1
            return []
        cuts = self._cuts
        found = self._declared(call, fn, depth)
        if not depth or self._cuts == cuts:
            self._targets[id(call)] = (call, found)
        return found

    def _declared(self, call: f.Call, fn: Fun, depth: int) -> list[Target]:
        count = len(call.args)
        made = self.constructed(call, fn, depth)
        if isinstance(made, Klass):
            return self._fitting(self.constructors(made, count), call, fn, depth) or [
                base for base in self.mro(made)[1][:1] if base and made.name.startswith("<")
            ]
        if made is not None:
            return [made]
        out: list[Target] = []
        callee = call.fn
        if isinstance(callee, f.Fn):
            return [fn.module.functions[callee.index]]
        if isinstance(callee, f.Ref):
            holder, _, name = callee.name.rpartition(".")
            if not holder:
                return self._unqualified(name, call, fn, depth)
            kinds = self._name(holder, fn, depth + 1)
            is_super = holder == "super" or holder.endswith(".super")
        elif isinstance(callee, f.Field):
            name = callee.name
            kinds = self.kinds(callee.base, fn, depth + 1)
            is_super = name.startswith("super.")
            name = name.removeprefix("super.")
        else:
            return []
        for kind in kinds:
            out.extend(t for t in self._on(kind, name, call, fn, depth, is_super) if t not in out)
        return out[:_MOST]

    def called_values(self, expr: f.Expr, fn: Fun, depth: int = 0) -> list[Target]:
        """Functions that an object may be on which a method is called, where its type allows that."""
        if isinstance(expr, f.Fn):
            return [fn.module.functions[expr.index]]
        kinds = self.kinds(expr, fn, depth + 1)
        if kinds and not any(self._may_be_function(kind) for kind in kinds):
            return []
        key = (fn, expr.name) if isinstance(expr, f.Ref) else None
        known = self._values.get(key) if key is not None else None
        if known is None:
            if not depth:
                self._steps = 0
            known = self.functions(expr, fn, depth + 1)
            if key is not None and not depth:
                self._values[key] = known
        return known

    def _may_be_function(self, kind: Kind) -> bool:
        """Whether a lambda may stand for it: an interface with one abstract method, or one of outside."""
        if kind.static or kind.exact or kind.of in ("[]", PART):
            return False
        if isinstance(kind.of, str):
            return not kind.of.startswith("java.lang.") or kind.of in _FUNCTIONAL
        if kind.of.decl.kind != "interface":
            return False
        known = self._single.get(kind.of)
        if known is None:
            names = {
                name for level in self.mro(kind.of)[0] for name, funs in level.overloads.items() for x in funs if x.head.is_abstract
            }
            known = self._single[kind.of] = len(names) == 1 or (not names and bool(self.mro(kind.of)[1]))
        return known

    def _unqualified(self, name: str, call: f.Call, fn: Fun, depth: int) -> list[Target]:
        count = len(call.args)
        classes = self.enclosing(fn)
        if name in ("this", "super") and classes:
            if name == "this":
                others = [fun for fun in self.constructors(classes[0], count) if fun is not fn]
                return self._fitting(others, call, fn, depth)
            own, external = self.bases(classes[0])
            found = [fun for base in own[:1] for fun in self.constructors(base, count)]
            return self._fitting(found, call, fn, depth) if own else [x for x in external[:1] if x]
        for klass in classes:
            if self.methods(klass, name, count):
                return self._on(Kind(klass), name, call, fn, depth, False)
        for holder, imported in self._static_imports(name, fn.module):
            if isinstance(holder, str):
                if any(imp.name == name for imp in fn.module.imports.get(name, ())):
                    return [f"{holder}.{imported}"]
            elif self.methods(holder, imported, count):
                return self._on(Kind(holder, static=True), imported, call, fn, depth, False)
        outside = [base for klass in classes for base in self.mro(klass)[1]]
        return [f"{outside[0]}.{name}"] if len(outside) == 1 and outside[0] else []

    def _on(self, kind: Kind, name: str, call: f.Call, fn: Fun, depth: int, is_super: bool) -> list[Target]:
        count = len(call.args)
        if kind.of == PART:
            return [
                target
                for part in kind.args
                if part is not None and isinstance(part.of, Klass) and self.methods(part.of, name, count)
                for target in self._on(part, name, call, fn, depth, is_super)
            ]
        if isinstance(kind.of, str):
            return [f"{kind.of}.{name}"] if kind.of != "[]" else []
        methods = self.methods(kind.of, name, count)
        found = [fun for fun in self._fitting(methods, call, fn, depth) if isinstance(fun, Fun)]
        if is_super:
            return list(found)
        key = (kind.of, kind.exact, name, count, tuple(fun.key for fun in found))
        known = self._dispatched.get(key)
        if known is None:
            known = self._dispatched[key] = self._at_run_time(kind, name, count, found)
        return known

    def _at_run_time(self, kind: Kind, name: str, count: int, found: list[Fun]) -> list[Target]:
        """The methods chosen by the compiler, with those that take their place in subtypes."""
        assert isinstance(kind.of, Klass)
        if found:
            chosen = {len(fun.head.params) for fun in found}
            kinds = [tuple(p.type for p in fun.head.params) for fun in found]
            targets = [
                fun
                for fun in self.dispatched(kind.of, name, count, exact=kind.exact)
                if fun in found or (len(fun.head.params) in chosen and _same_parameters(fun, kinds))
            ]
            return list(targets) or [fun for fun in found if fun.head.is_abstract]
        external = [base for base in self.mro(kind.of)[1] if base]
        below = [] if kind.exact else self.dispatched(kind.of, name, count)
        if below:
            return list(below)
        return [f"{external[0]}.{name}"] if external and all(self.mro(kind.of)[1]) else []

    def _fitting(self, found: list[Fun], call: f.Call, fn: Fun, depth: int) -> list[Target]:
        """Of several overloads those whose parameters the arguments do not contradict."""
        if len(found) < 2:
            return list(found)
        scores = []
        for fun in found:
            params = [p for p in fun.head.params if p.kind != "self"]
            points: int | None = 0
            for position, arg in enumerate(call.args):
                param = params[min(position, len(params) - 1)]
                agreed = self._agrees(arg.value, param, fun, fn, depth)
                if agreed is False:
                    points = None
                    break
                points = (points or 0) + (agreed is True)
            scores.append(points)
        best = max((points for points in scores if points is not None), default=None)
        if best is None:
            return list(found)
        return [fun for fun, points in zip(found, scores, strict=True) if points == best]

    def _agrees(self, value: f.Expr, param: f.Param, fun: Fun, fn: Fun, depth: int) -> bool | None:
        """Whether an argument is of a parameter's type; `None`: not known."""
        if param.type is None:
            return None
        name = param.type.name.rpartition(".")[2]
        if isinstance(value, f.Lit):
            if isinstance(value.value, bool):
                return name in ("boolean", "Boolean") or _unless(name)
            if isinstance(value.value, int | float):
                return name.lower() in _NUMBERS or _unless(name)
            if value.value is None:
                return False if name in _PRIMITIVES else None
        if isinstance(value, f.Fn):
            wanted = self.type(param.type.name, fun)
            return False if name in _PRIMITIVES or wanted == "java.lang.String" else None
        known = self.kinds(value, fn, depth + 1)
        wanted = self.type(param.type.name, fun)
        if param.type.shape in ("array", "variadic"):
            return None
        if not known:
            return None
        if wanted is None:
            return (
                False if name in _PRIMITIVES and any(isinstance(k.of, Klass) or k.of == "java.lang.String" for k in known) else None
            )
        if any(k.of == wanted for k in known):
            return True
        for kind in known:
            if isinstance(kind.of, Klass):
                order, external = self.mro(kind.of)
                if wanted in order or wanted in external or "" in external or (isinstance(wanted, str) and external):
                    return None
                if wanted == "java.lang.Object":
                    return None
            elif kind.of != "java.lang.String" or wanted in ("java.lang.Object", "java.lang.CharSequence", "java.lang.Comparable"):
                return None
        return False

    # ------------------------------------------------------------ functions as values

    def functions(
        self, expr: f.Expr | None, fn: Fun, depth: int = 0, seen: set[tuple[str, int, str]] | None = None
    ) -> list[Target]:
        """Lambdas and method references that an expression may be. `seen`: places this question has led to, each looked at once."""
        if expr is None:
            return []
        seen = set() if seen is None else seen
        self._steps += 1
        if depth > _DEPTH or self._steps > _STEPS:
            self._cuts += 1
            return []
        match expr:
            case f.Fn():
                return [fn.module.functions[expr.index]]
            case f.Field() if self._is_reference(expr):
                return self.referred(expr, fn, depth)
            case f.Cond():
                return _union(self.functions(expr.then, fn, depth + 1, seen), self.functions(expr.orelse, fn, depth + 1, seen))
            case f.Cast() | f.Let():
                return self.functions(expr.value, fn, depth + 1, seen)
            case f.Call() if self.constructed(expr, fn, depth) is None:
                out: list[Target] = []
                for target in self.targets(expr, fn, depth + 1):
                    if isinstance(target, Fun):
                        if (target.module.path, target.index, "()") in seen:
                            continue
                        seen.add((target.module.path, target.index, "()"))
                        for returned, _ in target.body.returns:
                            out = _union(out, self.functions(returned.value, target, depth + 1, seen))
                return out
            case f.Ref():
                return self._stored(expr.name, fn, depth, seen)
        return []

    @staticmethod
    def _is_reference(expr: f.Field) -> bool:
        return isinstance(expr.base, f.Ref | f.Call | f.Field | f.New | f.Index)

    def _stored(self, name: str, fn: Fun, depth: int, seen: set[tuple[str, int, str]]) -> list[Target]:
        found = self.variable(name, fn) if "." not in name else None
        out: list[Target] = []
        if found is not None:
            owner, _ = found
            key = (owner.module.path, owner.index, name)
            if key in seen:
                return []
            seen.add(key)
            for d in owner.body.definitions.get(name, ()):
                if d.kind == "value" and not d.item:
                    out = _union(out, self.functions(d.expr, owner, depth + 1, seen))
            if name in owner.params:
                out = _union(out, self._passed(owner, name, depth, seen))
            return out
        head, _, last = name.rpartition(".")
        holders = [k.of for k in self._name(head, fn, depth + 1)] if head else list(self.enclosing(fn))
        for holder in holders:
            field = self.field(holder, last) if isinstance(holder, Klass) else None
            if field is None:
                continue
            declared, made = field
            key = (declared.module.path, -1 - declared.index, last)
            if key in seen:
                continue
            seen.add(key)
            out = _union(out, self.functions(made.init, self._home(declared), depth + 1, seen))
            for writer in declared.module.functions:
                if last in writer.head.writes:
                    for defs in (d for path, d in writer.body.definitions.items() if path.rpartition(".")[2] == last):
                        for d in defs:
                            out = _union(out, self.functions(d.expr, writer, depth + 1, seen) if d.kind == "value" else [])
        return out

    def _passed(self, fn: Fun, name: str, depth: int, seen: set[tuple[str, int, str]]) -> list[Target]:
        """What the callers of a function pass for a parameter."""
        params = [p for p in fn.head.params if p.kind != "self"]
        position = next((i for i, p in enumerate(params) if p.name == name), None)
        if position is None or fn.head.kind != "method":
            return []
        out: list[Target] = []
        names = {fn.name}
        if fn.name == "__init__" and fn.head.owner < 0:
            # Of a class whose head is broken.
            return []
        if fn.name == "__init__":
            names = {fn.module.classes[fn.head.owner].name, "this", "super"}
        for last in sorted(names):
            for caller, site in self._calls_named(last).get(fn, ())[:_MOST]:
                if len(site.call.args) > position:
                    args = site.call.args[position:] if params[position].kind == "*" else site.call.args[position : position + 1]
                    for arg in args:
                        out = _union(out, self.functions(arg.value, caller, depth + 1, seen))
        return out[:_MOST]

    def _calls_named(self, last: str) -> dict[Fun, list[tuple[Fun, CallSite]]]:
        """The calls under that name, by what they are declared to run."""
        known = self._calls.get(last)
        if known is None:
            known = self._calls[last] = {}
            for caller in self._callers.get(last, ()):
                for site in caller.body.calls:
                    if site.last == last:
                        for target in self.declared(site.call, caller):
                            if isinstance(target, Fun):
                                known.setdefault(target, []).append((caller, site))
        return known

    def referred(self, expr: f.Field, fn: Fun, depth: int = 0) -> list[Target]:
        """The methods that `A::b` may mean."""
        out: list[Target] = []
        for kind in self.kinds(expr.base, fn, depth + 1):
            if isinstance(kind.of, str):
                if kind.of != "[]":
                    out.append(kind.of if expr.name == "new" else f"{kind.of}.{expr.name}")
                continue
            if expr.name == "new":
                out.extend(kind.of.overloads.get("__init__", ()))
                continue
            for level in self.mro(kind.of)[0]:
                found = level.overloads.get(expr.name, ())
                if found:
                    for fun in found:
                        out.extend([] if fun.head.is_abstract else [fun])
                        out.extend([] if kind.exact else self.overrides(fun))
                    break
        return _union(out)


_NUMBERS = frozenset({"byte", "short", "int", "integer", "long", "float", "double", "number", "char", "character"})


def _unless(name: str) -> bool | None:
    """What takes everything, or a type parameter, contradicts nothing."""
    return None if name in ("Object", "Comparable", "Serializable") or len(name) == 1 else False


def _same_parameters(fun: Fun, kinds: list[tuple[f.Type | None, ...]]) -> bool:
    """Whether an override has the parameter types of one of the methods chosen, as far as both are written alike."""
    own = tuple(p.type for p in fun.head.params)
    return any(
        all(
            a is None or b is None or a.name == b.name or len(a.name) == 1 or len(b.name) == 1
            for a, b in zip(own, other, strict=True)
        )
        for other in kinds
        if len(other) == len(own)
    )


def takes(fun: Fun, count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    params = [p for p in fun.head.params if p.kind != "self"]
    if params and params[-1].kind == "*":
        return count >= len(params) - 1
    return count == len(params)


def exact_first(found: list[Fun], count: int) -> list[Fun]:
    """Without those of a variable number of parameters where others fit."""
    fixed = [fun for fun in found if not any(p.kind == "*" for p in fun.head.params)]
    return fixed or found


def _element(kind: Kind) -> list[Kind]:
    """What an array or a collection of one type argument holds."""
    return [kind.args[0]] if len(kind.args) == 1 and kind.args[0] is not None else []


def _union(*lists: list[_T]) -> list[_T]:
    out: list[_T] = []
    for found in lists:
        out.extend(x for x in found if x not in out)
    return out
