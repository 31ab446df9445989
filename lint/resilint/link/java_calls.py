"""The call graph of the Java part of a program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import resilint.facts as f
from resilint.link.code import Fun, Klass, walk
from resilint.link.java import JavaNames, Target

if TYPE_CHECKING:
    from resilint.program import Program


def java_name(fn: Fun) -> str:
    """The dotted name of a function: package, classes, name, and the types of its parameters where it has overloads."""
    head = fn.head
    package = fn.module.facts.package
    name = f"{package}.{head.qual}" if package else head.qual
    if head.owner >= 0 and len(fn.module.classes[head.owner].overloads.get(head.name, ())) > 1:
        name += f"({','.join(_type_text(p) for p in head.params if p.kind != 'self')})"
    return name


def _type_text(param: f.Param) -> str:
    written = param.type
    text = ""
    while written is not None and written.shape == "array":
        text += "[]"
        written = written.args[0] if written.args else None
    name = "" if written is None else written.name.rpartition(".")[2]
    return name + text + ("..." if param.kind == "*" else "")


def java_edges(program: Program) -> set[tuple[str, str]]:
    """Calls of the Java functions of a program. What a field is initialised with is called by the class."""
    edges: set[tuple[str, str]] = set()
    names = program.names.java
    for fn in program.functions("java"):
        if fn.index and not fn.module.beans:
            caller = java_name(fn)
            for stmt in fn.block:
                edges.update((caller, _name(target)) for target in _called(names, stmt, fn))
    for module in program.names.modules.values():
        if module.language != "java":
            continue
        for klass in module.classes:
            home = module.functions[max(klass.decl.parent, 0)]
            for field in klass.decl.fields:
                if field.init is not None:
                    edges.update((names.canonical(klass), _name(target)) for target in _called(names, field.init, home))
    return edges


def _name(target: Target) -> str:
    return java_name(target) if isinstance(target, Fun) else target


def _called(names: JavaNames, root: f.Node, fn: Fun) -> Iterator[Target]:
    for node in walk(root):
        if isinstance(node, f.Call):
            targets = names.targets(node, fn)
            yield from targets
            if not targets or any(isinstance(target, str) for target in targets):
                for arg in node.args:
                    yield from _handed(names, arg.value, fn)
        elif isinstance(node, f.With):
            for item in node.items:
                if item.target is not None:
                    for kind in names.kinds(item.value, fn):
                        if isinstance(kind.of, Klass):
                            yield from names.dispatched(kind.of, "close", 0, exact=kind.exact)


def _handed(names: JavaNames, value: f.Expr, fn: Fun) -> Iterator[Target]:
    """What code outside the program may call of an argument: functions, and the methods of an anonymous class."""
    yield from (target for target in names.called_values(value, fn) if isinstance(target, Fun))
    for kind in names.kinds(value, fn):
        if isinstance(kind.of, Klass) and kind.of.name.startswith("<"):
            yield from (fun for found in kind.of.overloads.values() for fun in found if not fun.name.startswith("<"))
