"""Objects that a framework makes and hands to who asks for their type: what its annotations mark and its XML declares."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.values import Bind, Env, Flow, Flows, Frame, Hop, Obj, Text, union, unknown
from resilint.link.beans import Given
from resilint.link.code import Fun, Klass, Module

if TYPE_CHECKING:
    from resilint.flow.resolve import Resolver


class Bean(NamedTuple):
    """One object of the framework: what makes it, its type and its names."""

    maker: Fun | Klass
    type: Klass | str | None
    """`None`: what its factory gives, which is asked where it matters."""
    names: frozenset[str]
    primary: bool
    by_type: bool = True
    """It is handed to who asks for its type; else by name only."""


class Wiring:
    """The beans of a program's Java files, and of its files of XML."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        rows = [library.wiring for library in resolver.knowledge.of("java").libraries if library.wiring is not None]
        self._makers = frozenset(name for row in rows for name in row.makers)
        self._components = frozenset(name for row in rows for name in row.components)
        self._injected = frozenset(name for row in rows for name in row.injected)
        self._qualifiers = frozenset(name for row in rows for name in row.qualifiers)
        self._primary = frozenset(name for row in rows for name in row.primary)
        self._values = frozenset(name for row in rows for name in row.values)
        self.lookups = frozenset(name for row in rows for name in row.lookups)
        """Methods that give a bean by name or class."""
        self._factories = {name: method for row in rows for name, method in row.factories.items()}

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
            if module.beans:
                yield from self._declared(module)
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

    def _declared(self, module: Module) -> Iterator[Bean]:
        """The beans of a file of XML."""
        for index, decl in module.beans.items():
            fn = module.functions[index]
            kind = self.resolver.resolve_type(fn.head.returns[0], fn) if fn.head.returns else None
            if kind and self._product(kind) is not None:
                kind = None
            yield Bean(fn, kind or None, decl.names, decl.primary, decl.by_type)

    def _fits(self, bean: Bean, wanted: Klass | str) -> bool:
        if bean.type is not None:
            return self._is_a(bean.type, wanted)
        made = self.made(bean)
        return any(isinstance(x.thing, Obj) and bool(x.thing.type) and self._is_a(x.thing.type, wanted) for x in made)

    def _is_a(self, kind: Klass | str, wanted: Klass | str) -> bool:
        if kind == wanted:
            return True
        resolver = self.resolver
        if isinstance(kind, Klass):
            own, external = resolver.mro(kind)
            if wanted in own or wanted in external:
                return True
            return isinstance(wanted, str) and any(self._is_a(base, wanted) for base in external if base)
        return isinstance(wanted, str) and any(level.name == wanted for level in resolver.knowledge.of("java").mro(kind))

    def made(self, bean: Bean) -> Flows:
        """The object that a bean is."""
        if isinstance(bean.maker, Klass):
            return (Flow(Obj("any", bean.maker, None, None)),)
        frame = self.resolver.frame(bean.maker)
        flows = self.resolver.returned_in(frame)
        return flows if bean.type is not None else union(y for x in flows for y in self._produced(x, frame))

    def _product(self, kind: Klass | str) -> str | None:
        """The method that gives what objects of a type stand for; `None`: they stand for themselves."""
        if isinstance(kind, Klass):
            external = self.resolver.mro(kind)[1]
            return next((self._factories[name] for name in external if name in self._factories), None)
        # A library's own factories have the interface's name behind what they make.
        return next((method for name, method in self._factories.items() if kind.endswith(name.rpartition(".")[2])), None)

    def _produced(self, flow: Flow, frame: Frame) -> Flows:
        """What a factory that is a bean gives in its place."""
        thing = flow.thing
        name = self._product(thing.type) if isinstance(thing, Obj) and thing.type else None
        if name is None or not isinstance(thing, Obj):
            return (flow,)
        out: list[Flow] = []
        for method in self.resolver.method(thing, name):
            if not method.fn.positional:
                out.extend(self.resolver.returned(method, thing.node, frame, ()))
        return union(out) or unknown("what a factory of a library gives")

    def looked_up(self, args: tuple[Bind, ...], where: Module) -> Flows:
        """What a container gives for a name, a class, or both."""
        for arg in args[:2]:
            wanted = self._class_of(arg)
            if wanted:
                beans = self.candidates(wanted, frozenset(), "", where)
            else:
                things = [x.thing for x in self.resolver.value(arg.expr, arg.frame)]
                names = [thing.whole for thing in things if isinstance(thing, Text)]
                beans = [bean for name in names if name is not None for bean in self.named(name, where)]
            if beans:
                return union(x for bean in beans for x in self.made(bean))
        return ()

    def _class_of(self, arg: Bind) -> Klass | str | None:
        """The class that `Foo.class` is the literal of."""
        if isinstance(arg.expr, f.Ref) and arg.expr.name.endswith(".class"):
            return self.resolver.java.resolve_type(arg.expr.name.removesuffix(".class"), arg.frame.fn)
        return None

    def named(self, name: str, where: Module) -> list[Bean]:
        """The beans of a name, those of the same build before others."""
        return self._nearest(self._by_name.get(name, []), where)

    @cached_property
    def _by_name(self) -> dict[str, list[Bean]]:
        found: dict[str, list[Bean]] = {}
        for bean in self._beans:
            for name in sorted(bean.names):
                found.setdefault(name, []).append(bean)
        return found

    @staticmethod
    def _nearest(beans: list[Bean], where: Module) -> list[Bean]:
        project = _project(where.path)
        near = [bean for bean in beans if project is not None and _project(bean.maker.module.path) == project]
        return near or beans

    def given(self, given: Given, frame: Frame) -> Flows:
        """What XML hands to a bean: another one by name, or a value with placeholders."""
        module = frame.fn.module
        if not given.is_bean:
            hop = Hop(module.path, given.at, given.end, "written here")
            return (Flow(Env(given.text), (hop,)),)
        hop = Hop(module.path, given.at, given.end, f"the bean `{given.text}` is meant")
        beans = self.named(given.text, module)
        return union(x.hop(hop) for bean in beans for x in self.made(bean)) or unknown("a bean that nothing here declares")

    def candidates(self, wanted: Klass | str, named: frozenset[str], place: str, where: Module) -> list[Bean]:
        """The beans that a place of this type may get: by the name its qualifier gives, the primary one, by the place's name.

        Those of its own build come before those of others: two applications of one repository have a container each."""
        by_name = (named or {place}) if place else named
        fitting = [bean for bean in self._beans if (bean.by_type or bean.names & by_name) and self._fits(bean, wanted)]
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
            out.extend(self.made(bean))
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
        if owner is not None and (how := self._autowired.get(owner)) and not fn.head.is_static:
            return fn.name == "__init__" if how == "constructor" else fn.name.startswith("set")
        if owner is None or fn.name != "__init__":
            return False
        return bool(owner.decl.decorators) and self._annotation(owner.decl.decorators, self._components, owner) is not None

    @cached_property
    def _autowired(self) -> dict[Klass, str]:
        """Classes of the program whose beans get, by XML alone, what nothing is written for, and how."""
        found: dict[Klass, str] = {}
        for module in self.resolver.names.modules.values():
            for index, decl in module.beans.items() if not module.is_test else ():
                if decl.autowired in ("byName", "byType", "constructor", "autodetect") and module.functions[index].head.returns:
                    fn = module.functions[index]
                    kind = self.resolver.resolve_type(fn.head.returns[0], fn)
                    if isinstance(kind, Klass):
                        found.update((level, decl.autowired) for level in self.resolver.mro(kind)[0])
        return found

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
    decl = fn.module.beans.get(fn.index)
    if decl is not None:
        return wiring.given(decl.given[param.name], frame)
    if not wiring.is_wired(fn):
        return ()
    return wiring.injected(param.type, param.decorators, param.name, fn)
