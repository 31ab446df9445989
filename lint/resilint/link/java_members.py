"""Members of Java classes that nobody writes: those of records, and those that annotations have the compiler write."""

from __future__ import annotations

import msgspec

import resilint.facts as f
from resilint.link.code import dotted

_GETTERS = frozenset({"Data", "Getter", "Value"})
_SETTERS = frozenset({"Data", "Setter"})
_CONSTRUCTORS = frozenset({"AllArgsConstructor", "RequiredArgsConstructor", "NoArgsConstructor"})
_BUILDER = frozenset({"Builder", "SuperBuilder"})
_NOT_NULL = frozenset({"NonNull"})
_ALL_BY_THE_WAY = _BUILDER | {"Value"}
"""These need a constructor with all fields, and add one where there is none."""
_SYNTHETIC = _GETTERS | _SETTERS | _CONSTRUCTORS | _BUILDER
"""Annotations of Lombok, by their bare names, and what it generates for them (its manual, “Lombok features”)."""


def completed(facts: f.FileFacts) -> f.FileFacts:
    """The facts of a Java file with the members its classes have besides those written; they stand where their field does."""
    made = _Members(facts)
    for index in range(len(facts.classes)):
        made.complete(index)
    if not made.functions and not made.classes:
        return facts
    return msgspec.structs.replace(
        facts,
        functions=facts.functions + tuple(made.functions),
        bodies=(*facts.bodies, *made.bodies),
        classes=facts.classes + tuple(made.classes),
    )


def _names(decorators: tuple[f.Expr, ...]) -> dict[str, f.Expr]:
    found = {}
    for decorator in decorators:
        name = dotted(decorator.fn if isinstance(decorator, f.Call) else decorator)
        found[name.rpartition(".")[2]] = decorator
    return found


def _argument(decorator: f.Expr | None, name: str) -> object:
    if isinstance(decorator, f.Call):
        for arg in decorator.args:
            if arg.name == name and isinstance(arg.value, f.Lit):
                return arg.value.value
    return None


class _Members:
    """What is added to one file."""

    def __init__(self, facts: f.FileFacts) -> None:
        self.facts = facts
        self.functions: list[f.Function] = []
        self.bodies: list[msgspec.Raw] = []
        self.classes: list[f.Class] = []

    def complete(self, index: int) -> None:
        klass = self.facts.classes[index]
        annotations = _names(klass.decorators)
        if klass.kind == "record":
            self._record(index, klass)
        wanted = set(annotations) & _SYNTHETIC
        fields = [x for x in klass.fields if not x.is_static]
        if klass.kind in ("class", "enum"):
            for field in fields:
                own = _names(field.decorators)
                if wanted & _GETTERS or own.keys() & _GETTERS:
                    self._getter(index, klass, field)
                if wanted & _SETTERS or own.keys() & _SETTERS:
                    self._setter(index, klass, field)
        if not wanted or klass.kind not in ("class", "record"):
            return
        if klass.kind == "class":
            written = any(self.facts.functions[i].name == "__init__" for i in klass.methods)
            settable = [x for x in fields if x.init is None or not x.is_final]
            required = [x for x in fields if x.init is None and (x.is_final or _names(x.decorators).keys() & _NOT_NULL)]
            # A constructor that is written, or asked for by its own annotation, keeps the others from being added unasked.
            asked = bool(wanted & _CONSTRUCTORS)
            if "AllArgsConstructor" in wanted or (not asked and not written and wanted & _ALL_BY_THE_WAY):
                self._constructor(index, klass, settable, annotations.get("AllArgsConstructor"))
            if "RequiredArgsConstructor" in wanted or (
                not asked and not written and "Data" in wanted and not wanted & _ALL_BY_THE_WAY
            ):
                self._constructor(index, klass, required, annotations.get("RequiredArgsConstructor"))
            if "NoArgsConstructor" in wanted:
                self._constructor(index, klass, [], annotations["NoArgsConstructor"])
        if wanted & _BUILDER:
            self._builder(index, klass, fields, annotations.get("Builder") or annotations.get("SuperBuilder"))

    # ------------------------------------------------------------ members

    def _record(self, index: int, klass: f.Class) -> None:
        components = [x for x in klass.fields if not x.is_static]
        names = {self.facts.functions[i].name for i in klass.methods if len(self.facts.functions[i].params) <= 1}
        constructors = [self.facts.functions[i] for i in klass.methods if self.facts.functions[i].name == "__init__"]
        if not any(len(made.params) == len(components) + 1 for made in constructors):
            self._constructor(index, klass, components)
        for field in components:
            if field.name not in names:
                self._reader(index, klass, field, field.name)

    def _getter(self, index: int, klass: f.Class, field: f.ClassField) -> None:
        name = _upper(field.name)
        is_boolean = field.type is not None and field.type.name == "boolean"
        if is_boolean:
            rest = field.name[2:]
            name = "is" + (rest if field.name.startswith("is") and rest[:1].isupper() else name)
        else:
            name = "get" + name
        if not self._has(klass, name):
            self._reader(index, klass, field, name)

    def _reader(self, index: int, klass: f.Class, field: f.ClassField, name: str) -> None:
        at, end = field.at, field.end
        returns = () if field.type is None else (_plain(field.type),)
        block = (f.Return(at, end, f.Ref(at, end, "this." + field.name)),)
        self._add(index, klass.qual, field, name, (_THIS,), block, returns=returns, values=("this." + field.name,))

    def _setter(self, index: int, klass: f.Class, field: f.ClassField) -> None:
        name = _upper(field.name)
        rest = field.name[2:]
        if field.type is not None and field.type.name == "boolean" and field.name.startswith("is") and rest[:1].isupper():
            name = rest
        name = "set" + name
        if self._has(klass, name) or field.is_final:
            return
        param = f.Param(field.name, "pos", field.type)
        self._add(index, klass.qual, field, name, (_THIS, param), (_store(field),), values=(field.name,), writes=(field.name,))

    def _constructor(self, index: int, klass: f.Class, fields: list[f.ClassField], annotation: f.Expr | None = None) -> None:
        """A constructor that stores its parameters, and the method that calls it where the annotation names one."""
        params = [_THIS]
        for field in fields:
            if field.type is not None and field.type.shape == "variadic":
                params.append(f.Param(field.name, "*", field.type.args[0]))
            else:
                params.append(f.Param(field.name, "pos", field.type))
        names = tuple(sorted(field.name for field in fields))
        place = f.ClassField(klass.name, klass.name_at, klass.name_at + len(klass.name.encode("utf-8", "replace")))
        block = tuple(_store(field) for field in fields)
        self._add(index, klass.qual, place, "__init__", tuple(params), block, values=names, writes=names)
        maker = _argument(annotation, "staticName")
        if isinstance(maker, str) and maker:
            at, end, path = place.at, place.end, self._path(index)
            args = tuple(f.Arg(f.Ref(at, end, field.name)) for field in fields)
            made = (f.Return(at, end, f.Call(at, end, f.Ref(at, end, path), args)),)
            returns = (f.Type(klass.name),)
            self._add(
                index, klass.qual, place, maker, tuple(params[1:]), made, returns=returns, static=True, calls=(path,), values=names
            )

    def _builder(self, index: int, klass: f.Class, fields: list[f.ClassField], annotation: f.Expr | None) -> None:
        """`C.builder()`, its class, and of that one method for each field and `build()`."""
        maker = _argument(annotation, "builderMethodName")
        maker = maker if isinstance(maker, str) else "builder"
        name = f"{klass.name}Builder"
        if any(x.outer == index and x.name == name for x in self.facts.classes) or not maker:
            return
        qual = f"{klass.qual}.{name}"
        path = self._path(index)
        number = len(self.facts.classes) + len(self.classes)
        at, end = klass.name_at, klass.name_at + len(klass.name.encode("utf-8", "replace"))
        place = f.ClassField(klass.name, at, end)
        first = len(self.facts.functions) + len(self.functions)
        made = f.Type(f"{klass.name}.{name}")
        returned = f.Return(at, end, f.Call(at, end, f.Ref(at, end, f"{path}.{name}"), ()))
        self._add(index, klass.qual, place, maker, (), (returned,), returns=(made,), static=True, calls=(f"{path}.{name}",))
        for field in fields:
            param = f.Param(field.name, "pos", field.type)
            block = (_store(field), f.Return(field.at, field.end, f.Ref(field.at, field.end, "this")))
            self._add(
                number, qual, field, field.name, (_THIS, param), block, returns=(made,), values=(field.name,), writes=(field.name,)
            )
        args = tuple(f.Arg(f.Ref(at, end, "this." + field.name)) for field in fields)
        built = f.Return(at, end, f.Call(at, end, f.Ref(at, end, path), args))
        self._add(number, qual, place, "build", (_THIS,), (built,), returns=(f.Type(klass.name),), calls=(path,))
        copies = tuple(f.ClassField(x.name, x.at, x.end, x.type, _default(x)) for x in fields)
        methods = tuple(range(first + 1, len(self.facts.functions) + len(self.functions)))
        self.classes.append(
            f.Class(name, qual, "class", at, end, at, fields=copies, methods=methods, parent=klass.parent, outer=index)
        )

    def _path(self, index: int) -> str:
        """How the reader writes the class out: from the outermost class, or from the local one."""
        names = []
        while index >= 0:
            names.append(self.facts.classes[index].name)
            index = self.facts.classes[index].outer
        return ".".join(reversed(names))

    def _has(self, klass: f.Class, name: str) -> bool:
        """Whether a method of that name is written, with whatever parameters: then none is generated."""
        return any(self.facts.functions[i].name == name for i in klass.methods)

    def _add(
        self,
        owner: int,
        qual: str,
        place: f.ClassField,
        name: str,
        params: tuple[f.Param, ...],
        block: f.Block,
        *,
        returns: tuple[f.Type, ...] = (),
        static: bool = False,
        calls: tuple[str, ...] = (),
        values: tuple[str, ...] = (),
        writes: tuple[str, ...] = (),
    ) -> None:
        self.functions.append(
            f.Function(
                name,
                f"{qual}.{name}",
                "method",
                place.at,
                place.end,
                place.at,
                params,
                returns,
                owner=owner,
                parent=self.facts.classes[owner].parent if owner < len(self.facts.classes) else 0,
                is_static=static,
                calls=calls,
                values=tuple(sorted(values)),
                writes=tuple(sorted(writes)),
            )
        )
        self.bodies.append(f.encode_block(block))


_THIS = f.Param("this", "self")


def _upper(name: str) -> str:
    return name[:1].upper() + name[1:]


def _plain(kind: f.Type) -> f.Type:
    return f.Type("[]", kind.args, "array") if kind.shape == "variadic" else kind


def _store(field: f.ClassField) -> f.Assign:
    at, end = field.at, field.end
    return f.Assign(at, end, (f.Ref(at, end, "this." + field.name),), "", f.Ref(at, end, field.name))


def _default(field: f.ClassField) -> f.Expr | None:
    """What a builder leaves in a field that nobody sets."""
    return field.init if "Default" in _names(field.decorators) or "Builder.Default" in _names(field.decorators) else None
