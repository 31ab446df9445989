"""Objects that a framework makes and hands to who asks for their type: what its annotations mark, found by type and name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.values import Env, Flow, Flows, Frame, Obj, Text, union
from resilint.link.code import Fun, Klass, Module

if TYPE_CHECKING:
    from resilint.flow.resolve import Resolver


class Bean(NamedTuple):
    """One object of the framework: what makes it, its type and its names."""

    maker: Fun | Klass
    type: Klass | str
    names: frozenset[str]
    primary: bool


class Wiring:
    """The beans of a program's Java files."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        rows = [library.wiring for library in resolver.knowledge.of("java").libraries if library.wiring is not None]
        self._makers = frozenset(name for row in rows for name in row.makers)
        self._components = frozenset(name for row in rows for name in row.components)
        self._injected = frozenset(name for row in rows for name in row.injected)
        self._qualifiers = frozenset(name for row in rows for name in row.qualifiers)
        self._primary = frozenset(name for row in rows for name in row.primary)
        self._values = frozenset(name for row in rows for name in row.values)

    # ------------------------------------------------------------ annotations

    def _annotation(self, decorators: tuple[f.Expr, ...], wanted: frozenset[str], where: Fun | Klass | Module) -> f.Expr | None:
        """The first of these annotations that stands there."""
        for decorator in decorators:
            name = decorator.fn if isinstance(decorator, f.Call) else decorator
            if isinstance(name, f.Ref) and self.resolver.names.java.type(name.name, where) in wanted:
                return decorator
        return None

    @staticmethod
    def _texts(decorator: f.Expr | None) -> frozenset[str]:
        """The texts given to an annotation."""
        args = decorator.args if isinstance(decorator, f.Call) else ()
        texts: set[str] = set()
        for arg in args:
            values = [pair.value for pair in arg.value.items] if isinstance(arg.value, f.Coll) else [arg.value]
            texts.update(value.value for value in values if isinstance(value, f.Lit) and isinstance(value.value, str))
        return frozenset(texts)

    # ------------------------------------------------------------ beans

    @cached_property
    def _beans(self) -> list[Bean]:
        return list(self._find())

    def _find(self) -> Iterator[Bean]:
        names = self.resolver.names
        for module in names.modules.values():
            if module.language != "java" or module.is_test:
                continue
            for fn in module.functions[1:]:
                annotation = self._annotation(fn.head.decorators, self._makers, fn) if fn.head.decorators else None
                if annotation is None or not fn.head.returns:
                    continue
                kind = self.resolver.resolve_type(fn.head.returns[0], fn)
                if kind:
                    primary = self._annotation(fn.head.decorators, self._primary, fn) is not None
                    yield Bean(fn, kind, self._texts(annotation) or frozenset({fn.name}), primary)
            for klass in module.classes:
                annotation = self._annotation(klass.decl.decorators, self._components, klass) if klass.decl.decorators else None
                if annotation is not None:
                    plain = klass.name[:1].lower() + klass.name[1:]
                    primary = self._annotation(klass.decl.decorators, self._primary, klass) is not None
                    yield Bean(klass, klass, self._texts(annotation) or frozenset({plain}), primary)

    def _fits(self, bean: Bean, wanted: Klass | str) -> bool:
        if bean.type == wanted:
            return True
        resolver = self.resolver
        if isinstance(bean.type, Klass):
            own, external = resolver.mro(bean.type)
            return wanted in own if isinstance(wanted, Klass) else wanted in external
        return isinstance(wanted, str) and any(level.name == wanted for level in resolver.knowledge.of("java").mro(bean.type))

    def candidates(self, wanted: Klass | str, named: frozenset[str], place: str, where: Module) -> list[Bean]:
        """The beans that a place of this type may get: by the name its qualifier gives, the primary one, by the place's name.

        Those of its own build come before those of others: two applications of one repository have a container each."""
        fitting = [bean for bean in self._beans if self._fits(bean, wanted)]
        project = _project(where.path)
        near = [bean for bean in fitting if project is not None and _project(bean.maker.module.path) == project]
        for beans in (near, fitting):
            for chosen in (
                [bean for bean in beans if bean.names & named] if named else [],
                [bean for bean in beans if bean.primary],
                [bean for bean in beans if place in bean.names],
            ):
                if chosen:
                    return chosen
            if beans and not named:
                return beans
        return []

    def injected(self, kind: f.Type | None, decorators: tuple[f.Expr, ...], place: str, where: Fun | Klass) -> Flows:
        """What a parameter or field is handed by the framework; nothing where no bean is known."""
        texts = self._texts(self._annotation(decorators, self._values, where)) if decorators else frozenset()
        if texts:
            return tuple(Flow(Env(text) if "${" in text else Text(text)) for text in sorted(texts))
        name = kind.name if kind is not None and kind.shape in ("plain", "opt") else ""
        wanted = self.resolver.java.resolve_type(name, where) if name else None
        if not wanted:
            return ()
        named = self._texts(self._annotation(decorators, self._qualifiers, where))
        out: list[Flow] = []
        for bean in self.candidates(wanted, named, place, where.module):
            if isinstance(bean.maker, Klass):
                out.append(Flow(Obj("any", bean.maker, None, None)))
            else:
                out.extend(self.resolver.returned_in(self.resolver.frame(bean.maker)))
        if not out and isinstance(wanted, str) and self._is_framework_made(wanted):
            return (Flow(Obj("bean", wanted, None, f"{place} of {where.key}")),)  # each place gets its own builder
        return union(out)

    def _is_framework_made(self, kind: str) -> bool:
        """Whether the framework makes such an object by itself and fills it from settings."""
        table = self.resolver.knowledge.of("java")
        return any(bound.setting is not None for level in table.mro(kind) if level.fluent for bound in level.bounds)

    def is_wired(self, fn: Fun) -> bool:
        """Whether the framework calls a function: a maker, a constructor or injected method of what it makes."""
        if not fn.is_method and not fn.head.decorators:
            return False
        if fn.head.decorators and self._annotation(fn.head.decorators, self._makers | self._injected, fn) is not None:
            return True
        owner = self.resolver.owner(fn)
        if owner is None or fn.name != "__init__":
            return False
        return bool(owner.decl.decorators) and self._annotation(owner.decl.decorators, self._components, owner) is not None

    def is_injected(self, field: f.ClassField, klass: Klass) -> bool:
        """Whether the framework fills a field."""
        return bool(field.decorators) and self._annotation(field.decorators, self._injected | self._values, klass) is not None


def _project(path: str) -> str | None:
    """The folder that a file is built from, where the layout of Maven and Gradle tells it."""
    folder, found, _ = f"/{path}".rpartition("/src/main/")
    return folder if found else None


def parameter(wiring: Wiring, param: f.Param, frame: Frame) -> Flows:
    """What the framework hands to a parameter of a function that it calls; nothing where that is not known."""
    fn = frame.fn
    if not wiring.is_wired(fn):
        return ()
    return wiring.injected(param.type, param.decorators, param.name, fn)
