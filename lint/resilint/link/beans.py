"""Beans of XML as code: a file of Spring's `<beans>` is what a class of `@Bean` methods would be, each bean a method that makes it.

The expressions stand at the offsets of the elements that they come from, so that whatever is said of them is said of the XML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from resilint import facts as f
from resilint.link.code import Module, module_of, shared_folders

_PROPERTIES = "http://www.springframework.org/schema/p"
_CONSTRUCTOR = "http://www.springframework.org/schema/c"
_COLLECTIONS = "http://www.springframework.org/schema/util"
_INTEGER = re.compile(r"[-+]?\d{1,18}\Z")
_NUMBER = re.compile(r"[-+]?\d{1,18}\.\d{1,18}\Z")
_REFERENCE = re.compile(r"#\{\s*@?([A-Za-z_][\w-]*)\s*\}\Z")
_CLASS = re.compile(r"[A-Za-z_]\w*(?:[.$][A-Za-z_]\w*)*\Z")
_PROPERTY = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,3}\Z")
_ODD = re.compile(r"\W")
_NAMES = re.compile(r"[,;\s]+")
_ANCESTORS = 8
"""Parents of a bean that are followed."""
_MOST_BEANS = 5000
"""Beans of one file; what comes behind is not linked."""
_DEEPEST = 20
"""Collections and beans inside others that are followed."""


class Given(NamedTuple):
    """What a container hands to the method of a bean: another bean by name, or a text with placeholders."""

    text: str
    is_bean: bool
    at: int
    end: int


@dataclass(eq=False)
class BeanDecl:
    """One bean as a container knows it."""

    names: frozenset[str]
    kind: str
    """Its class as written; empty where a factory makes it."""
    given: dict[str, Given]
    """By the parameter of its method."""
    primary: bool = False
    by_type: bool = True
    """It is handed to who asks for its type; else by name only."""
    autowired: str = ""
    """How its setters or constructor get what nothing is written for: `byName`, `byType`, `constructor`."""


# ---------------------------------------------------------------- elements


@dataclass(eq=False)
class Element:
    """An XML element with what stands in it."""

    name: str
    """Without its prefix."""
    prefix: str
    at: int
    end: int
    tag_end: int
    """Behind its last attribute, or its name."""
    parent: Element | None = None
    attributes: dict[str, f.Setting] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: f.Setting | None = None

    def get(self, name: str) -> str:
        """An attribute's text, or nothing."""
        setting = self.attributes.get(name)
        return setting.text.strip() if setting is not None else ""

    def ancestors(self) -> Iterator[Element]:
        """The elements around it, innermost first."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent


def _is_beans(facts: f.FileFacts) -> bool:
    if facts.kind != "xml" or not facts.settings:
        return False
    return facts.settings[0].path[0].partition("#")[0].rpartition(":")[2] in ("beans", "blueprint")


def _tree(facts: f.FileFacts) -> Element | None:
    """The elements of a file, from its root."""
    root: Element | None = None
    elements: dict[tuple[str, ...], Element] = {}
    for setting in facts.settings:
        last = setting.path[-1]
        above = elements.get(setting.path[:-1])
        if last.startswith("@"):
            if above is not None:
                above.attributes[last[1:]] = setting
                above.tag_end = max(above.tag_end, setting.end)
        elif last == "text()":
            if above is not None:
                above.text = setting
        else:
            prefix, _, name = last.partition("#")[0].rpartition(":")
            is_map = setting.kind == "map"
            start = setting.at if is_map else setting.key_at - 1
            element = Element(name, prefix, start, max(setting.end, setting.key_end), setting.key_end, above)
            if not is_map and setting.text:
                element.text = setting
            elements[setting.path] = element
            if above is not None:
                above.children.append(element)
            elif root is None:
                root = element
    return root


# ---------------------------------------------------------------- files


class BeanFile:
    """The beans of one file, before parents in other files are known."""

    def __init__(self, path: str, root: Element, profile: str | None = None) -> None:
        self.path = path
        self._profile = profile
        self.root = root
        self.plain = root.prefix
        prefixes = {
            name[6:]: setting.text
            for element in (root, *root.children)
            for name, setting in element.attributes.items()
            if name.startswith("xmlns:")
        }
        self._uris = {"p": _PROPERTIES, "c": _CONSTRUCTOR, "util": _COLLECTIONS} | prefixes
        self.tops = list(self._top_level(root, 0))[:_MOST_BEANS] if self._is_active(root) else []
        self.by_name = {name: element for element in self.tops for name in self.names(element)}
        self.aliases: dict[str, set[str]] = {}
        for element in self._inside(root, 0):
            if element.name == "alias" and element.prefix == self.plain:
                self.aliases.setdefault(element.get("name"), set()).add(element.get("alias"))

    def _inside(self, element: Element, depth: int) -> Iterator[Element]:
        """Elements of the top level, those of `<beans>` inside too."""
        for child in element.children:
            if child.name == "beans" and child.prefix == self.plain and depth < _DEEPEST:
                if self._is_active(child):
                    yield from self._inside(child, depth + 1)
            else:
                yield child

    def _is_active(self, element: Element) -> bool:
        """Whether what an element holds is there under the profile in question."""
        profiles = [name for name in _NAMES.split(element.get("profile")) if name]
        wanted = self._profile
        if wanted is None or not profiles:
            return True
        return any(name[1:] != wanted if name.startswith("!") else name == wanted for name in profiles)

    def _top_level(self, root: Element, depth: int) -> Iterator[Element]:
        for child in self._inside(root, depth):
            if self.is_bean(child) or (self.uri(child) == _COLLECTIONS and child.name in ("list", "set", "map")):
                yield child

    def is_bean(self, element: Element) -> bool:
        """Whether it is a `<bean>`."""
        return element.name == "bean" and element.prefix == self.plain

    def uri(self, element: Element) -> str:
        """The namespace of an element of a prefix that this file declares, or a usual one."""
        return "" if element.prefix == self.plain else self._uris.get(element.prefix, "")

    def prefixed(self, element: Element, uri: str) -> Iterator[tuple[str, f.Setting]]:
        """Attributes of a namespace, without its prefix."""
        for name, setting in element.attributes.items():
            prefix, colon, local = name.partition(":")
            if colon and prefix != "xmlns" and self._uris.get(prefix) == uri:
                yield local, setting

    @staticmethod
    def names(element: Element) -> list[str]:
        """The names that an element gives its bean."""
        return [name for name in (element.get("id"), *_NAMES.split(element.get("name"))) if name]


class _Definition:
    """A bean with what it inherits."""

    def __init__(self, file: BeanFile, element: Element) -> None:
        self.file = file
        self.kind = element.get("class")
        self.kind_from = element
        self.factory = element.get("factory-bean")
        self.method = element.get("factory-method")
        self.starts = element.get("init-method")
        self.autowired = element.get("autowire")
        self.properties: dict[str, tuple[Element, f.Setting | None]] = {}
        """By name: the `<property>`, or the element and its attribute `p:name`."""
        self.args: list[tuple[str, Element, f.Setting | None]] = []
        """Constructor arguments: name or index or nothing."""
        for child in element.children:
            if child.prefix != file.plain:
                continue
            if child.name == "property" and child.get("name"):
                self.properties[child.get("name")] = (child, None)
            elif child.name in ("constructor-arg", "argument"):
                self.args.append((child.get("index") or child.get("name"), child, None))
        for name, setting in file.prefixed(element, _PROPERTIES):
            self.properties[name] = (element, setting)
        for name, setting in file.prefixed(element, _CONSTRUCTOR):
            self.args.append((name.removeprefix("_") if name.startswith("_") else name, element, setting))

    def below(self, parent: _Definition) -> None:
        """Take over what a parent says and this one does not."""
        self.kind = self.kind or parent.kind
        self.factory = self.factory or parent.factory
        self.method = self.method or parent.method
        self.starts = self.starts or parent.starts
        self.autowired = self.autowired or parent.autowired
        own = {_plain_name(name) for name in self.properties}
        self.properties = {n: v for n, v in parent.properties.items() if _plain_name(n) not in own} | self.properties
        keys = {name for name, _, _ in self.args}
        if not self.args or ("" not in keys and all(name for name, _, _ in parent.args)):
            self.args = [arg for arg in parent.args if arg[0] not in keys] + self.args


def _plain_name(name: str) -> str:
    return name.removesuffix("-ref")


class BeanFiles:
    """All files of beans of a program, as modules of code."""

    def __init__(self, files: Mapping[str, f.FileFacts], is_test: Callable[[str], bool], profile: str | None = None) -> None:
        self._is_test = is_test
        self._profile = profile
        self.files: dict[str, BeanFile] = {}
        for path in sorted(files):
            self.put(path, files[path])

    def put(self, path: str, facts: f.FileFacts | None) -> bool:
        """Take one file, or one that changed or was deleted (`None`), in. Whether that changes anything."""
        old = self.files.pop(path, None)
        if facts is not None and _is_beans(facts):
            root = _tree(facts)
            if root is not None:
                self.files[path] = BeanFile(path, root, self._profile)
        return old is not None or path in self.files

    def modules(self) -> Iterator[Module]:
        """The files as modules, in order of path; those without a bean are left out."""
        parents: dict[str, list[tuple[BeanFile, Element]]] = {}
        for path in sorted(self.files):
            for name, element in self.files[path].by_name.items():
                parents.setdefault(name, []).append((self.files[path], element))
        for path in sorted(self.files):
            module = _Writer(self.files[path], parents).module(self._is_test(path))
            if module.beans:
                yield module


# ---------------------------------------------------------------- code


class _Method:
    """The method of one bean while it is written."""

    def __init__(self) -> None:
        self.given: dict[str, Given] = {}
        self.block: list[f.Stmt] = []
        self.calls: set[str] = set()
        self.values: set[str] = set()
        self.taken: set[str] = {"this", "super"}

    def name(self, wanted: str) -> str:
        """A name that nothing in the method has."""
        plain = _ODD.sub("_", wanted) or "bean"
        plain = plain if not plain[0].isdigit() else f"_{plain}"
        # A capital letter would make it a class.
        plain = plain[0].lower() + plain[1:]
        free, count = plain, 2
        while free in self.taken:
            free, count = f"{plain}{count}", count + 1
        self.taken.add(free)
        return free

    def hand(self, text: str, is_bean: bool, at: int, end: int) -> f.Expr:
        """A parameter that the container fills."""
        known = next((name for name, given in self.given.items() if given.text == text and given.is_bean == is_bean), None)
        if known is None or not is_bean:
            known = self.name(text if is_bean else "value")
            self.given[known] = Given(text, is_bean, at, end)
        self.values.add(known)
        return f.Ref(at, end, known)


class _Writer:
    """Writes the module of one file."""

    def __init__(self, file: BeanFile, parents: Mapping[str, list[tuple[BeanFile, Element]]]) -> None:
        self.file = file
        self.parents = parents
        self.imports: dict[str, f.Import] = {}

    def module(self, is_test: bool) -> Module:
        root = self.file.root
        functions = [f.Function("<module>", "<module>", "module", root.at, root.end, root.at)]
        bodies = [f.encode_block((f.Def(root.at, root.end, "class", 0, "<beans>"),))]
        beans: dict[int, BeanDecl] = {}
        for element in self.file.tops:
            if element.get("abstract") == "true":
                continue
            method = _Method()
            decl = self._bean(element, method)
            index = len(functions)
            name = method.name(next(iter(self.file.names(element)), "") or decl.kind.rpartition(".")[2])
            params = tuple(f.Param(parameter, "pos") for parameter in method.given)
            returns = (f.Type(self._class(decl.kind, element.at, element.tag_end)),) if decl.kind else ()
            functions.append(
                f.Function(
                    name,
                    f"<beans>.{name}",
                    "method",
                    element.at,
                    element.end,
                    element.at,
                    params=params,
                    returns=returns,
                    owner=0,
                    is_static=True,
                    calls=tuple(sorted(method.calls)),
                    values=tuple(sorted(method.values)),
                )
            )
            bodies.append(f.encode_block(tuple(method.block)))
            beans[index] = decl
        klass = f.Class("<beans>", "<beans>", "class", root.at, root.end, root.at)
        facts = f.FileFacts(
            "java", "", tuple(self.imports.values()), tuple(functions), (klass,), bodies=tuple(bodies), generated=False
        )
        module = module_of(self.file.path, facts, is_test)
        module.beans = beans
        return module

    # ------------------------------------------------------------ beans

    def _bean(self, element: Element, method: _Method) -> BeanDecl:
        """Write the statements that make a bean of the top level."""
        names = self.file.names(element)
        for name in tuple(names):
            names.extend(sorted(self.file.aliases.get(name, ())))
        names.extend(child.get("value") for child in element.children if child.name == "qualifier" and child.get("value"))
        around = [element, *element.ancestors()]
        default = next((e.get("default-autowire") for e in around if e.get("default-autowire")), "")
        kind, autowired = "", ""
        if self.file.is_bean(element):
            definition = self._definition(element)
            made: f.Expr | None = None
            if definition is not None:
                made = self._made(element, definition, method, 0)
                kind = "" if definition.method else definition.kind
                autowired = definition.autowired if definition.autowired not in ("", "default") else default
            elif not element.get("factory-method"):
                kind = element.get("class")
            if made is None:
                made = f.Opaque(element.at, element.tag_end, ())
            if not names and kind:
                names.append(kind)
        else:
            made = self._collection(element, method, 0)
        method.block.append(f.Return(element.end, element.end, made))
        return BeanDecl(
            frozenset(names),
            kind,
            method.given,
            element.get("primary") == "true",
            element.get("autowire-candidate") != "false",
            autowired,
        )

    def _definition(self, element: Element) -> _Definition | None:
        """A bean with what it inherits; `None` where a parent is not here, so that what is written is not all."""
        definition = _Definition(self.file, element)
        file, at = self.file, element
        for _ in range(_ANCESTORS):
            name = at.get("parent")
            if not name:
                return definition
            found = self._parent(name, file)
            if found is None:
                return None
            file, at = found
            definition.below(_Definition(file, at))
        return None

    def _parent(self, name: str, file: BeanFile) -> tuple[BeanFile, Element] | None:
        own = file.by_name.get(name)
        if own is not None:
            return file, own
        others = self.parents.get(name, [])
        return max(others, key=lambda x: shared_folders(x[0].path, file.path), default=None)

    def _made(self, element: Element, definition: _Definition, method: _Method, depth: int) -> f.Expr | None:
        """The name of a bean that statements make, with its properties set; `None` where nothing says what it is."""
        made = self._construction(element, definition, method, depth)
        if made is None:
            return None
        variable = method.name(next(iter(self.file.names(element)), "") or definition.kind.rpartition(".")[2])
        target = f.Ref(element.at, element.at, variable)
        kind = None if definition.method else f.Type(self._class(definition.kind, element.at, element.tag_end))
        method.block.append(f.Assign(element.at, element.tag_end, (target,), "", made, True, kind))
        # Names are looked up behind the element, wherever its attributes stand.
        end = max(element.end - 1, element.tag_end)
        for name, (holder, attribute) in definition.properties.items():
            if not _PROPERTY.match(_plain_name(name) if attribute is not None else name):
                continue
            is_bean = attribute is not None and name.endswith("-ref")
            value = self._attribute(attribute, is_bean, method) if attribute is not None else self._value(holder, method, depth)
            place = (attribute.key_at, attribute.end + 1) if attribute is not None else (holder.at, holder.tag_end)
            *path, last = (_plain_name(name) if is_bean else name).split(".")
            self._call(_setter(last), [f"get{_capital(part)}" for part in path], variable, end, place, (f.Arg(value),), method)
        if _CLASS.match(definition.starts) and "." not in definition.starts:
            self._call(definition.starts, [], variable, end, (element.at, element.tag_end), (), method)
        method.values.add(variable)
        return f.Ref(end, end, variable)

    @staticmethod
    def _call(
        last: str, path: list[str], variable: str, at: int, place: tuple[int, int], args: tuple[f.Arg, ...], method: _Method
    ) -> None:
        """The call of a method of a bean, or of what its getters give."""
        base: f.Expr = f.Ref(at, at, f"{variable}.{path[0] if path else last}")
        method.calls.add(f"{variable}.{path[0] if path else last}")
        for getter in [*path[1:], last] if path else []:
            base = f.Field(at, at, f.Call(at, at, base, ()), getter)
            method.calls.add(f".{getter}")
        call = f.Call(*place, base, args)
        method.block.append(f.Do(*place, call))

    def _construction(self, element: Element, definition: _Definition, method: _Method, depth: int) -> f.Expr | None:
        """The call that makes a bean."""
        place = (element.at, element.tag_end)
        kind = self._class(definition.kind, *place)
        if definition.method:
            if not _CLASS.match(definition.method) or "." in definition.method:
                return None
            if definition.factory:
                base = method.hand(definition.factory, True, *place)
                assert isinstance(base, f.Ref)
                called = f"{base.name}.{definition.method}"
            elif kind:
                called = f"{kind}.{definition.method}"
            else:
                return None
        elif kind:
            called = kind
        else:
            return None
        method.calls.add(called)
        return f.Call(*place, f.Ref(element.at, element.at, called), self._arguments(definition, method, depth))

    def _class(self, written: str, at: int, end: int) -> str:
        """The name of a class in the file, imported; all of it where another one has its last part. Empty: it is none."""
        kind = _class_name(written)
        package, _, name = written.partition("$")[0].rpartition(".")
        known = self.imports.get(name)
        if not kind or not package or (known is not None and known.target != package):
            return kind
        if known is None:
            self.imports[name] = f.Import(at, end, package, name, name)
        return kind.removeprefix(f"{package}.")

    def _arguments(self, definition: _Definition, method: _Method, depth: int) -> tuple[f.Arg, ...]:
        """Constructor arguments: those with an index at their place, others in the order written, names kept."""
        placed: dict[int, f.Arg] = {}
        others: list[f.Arg] = []
        for key, holder, attribute in definition.args:
            name = _plain_name(key) if attribute is not None else key
            is_bean = attribute is not None and key.endswith("-ref")
            value = self._attribute(attribute, is_bean, method) if attribute is not None else self._value(holder, method, depth)
            if name.isdigit() and len(name) < 4:
                placed[int(name)] = f.Arg(value)
            else:
                others.append(f.Arg(value, name or None))
        args: list[f.Arg] = []
        rest = iter(others)
        for index in range(len(placed) + len(others)):
            arg = placed.pop(index, None) or next(rest, None)
            if arg is not None:
                args.append(arg)
        return (*args, *(placed[index] for index in sorted(placed)))

    # ------------------------------------------------------------ values

    def _attribute(self, setting: f.Setting, is_bean: bool, method: _Method) -> f.Expr:
        if is_bean:
            return method.hand(setting.text.strip(), True, setting.at, setting.end)
        return _text(setting, method)

    def _value(self, holder: Element, method: _Method, depth: int) -> f.Expr:
        """What a `<property>`, `<constructor-arg>` or `<entry>` holds."""
        for name in ("ref", "value-ref"):
            setting = holder.attributes.get(name)
            if setting is not None:
                return self._attribute(setting, True, method)
        setting = holder.attributes.get("value")
        if setting is not None:
            if holder.get("type") == "java.lang.String" and "{" not in setting.text:
                return f.Lit(setting.at, setting.end, setting.text)
            return _text(setting, method)
        inner = next((child for child in holder.children if child.name not in ("description", "meta", "key")), None)
        if inner is None:
            return f.Opaque(holder.at, holder.tag_end, ())
        return self._inner(inner, method, depth + 1)

    def _inner(self, element: Element, method: _Method, depth: int) -> f.Expr:
        """An element that stands for a value."""
        if depth > _DEEPEST:
            return f.Opaque(element.at, element.tag_end, ())
        if self.file.is_bean(element):
            definition = self._definition(element)
            made = self._made(element, definition, method, depth) if definition is not None else None
            return made if made is not None else f.Opaque(element.at, element.tag_end, ())
        if element.name == "ref":
            setting = next((element.attributes[n] for n in ("bean", "local", "component-id") if n in element.attributes), None)
            if setting is not None:
                return self._attribute(setting, True, method)
        elif element.name in ("value", "idref") and element.text is not None:
            return _text(element.text, method)
        elif element.name == "null":
            return f.Lit(element.at, element.end, None)
        elif element.name in ("list", "set", "array", "map", "props"):
            return self._collection(element, method, depth)
        return f.Opaque(element.at, element.tag_end, ())

    def _collection(self, element: Element, method: _Method, depth: int) -> f.Expr:
        pairs: list[f.Pair] = []
        is_map = element.name in ("map", "props")
        for child in element.children[:64]:
            if child.name == "prop" and child.attributes.get("key") is not None:
                value = _text(child.text, method) if child.text is not None else f.Lit(child.at, child.end, "")
                pairs.append(f.Pair(value, f.Lit(child.at, child.tag_end, child.get("key"))))
            elif child.name == "entry":
                key = child.attributes.get("key")
                written: f.Expr = f.Opaque(child.at, child.tag_end, ()) if key is None else f.Lit(key.at, key.end, key.text)
                pairs.append(f.Pair(self._value(child, method, depth + 1), written))
            elif child.name not in ("description", "meta"):
                pairs.append(f.Pair(self._inner(child, method, depth + 1)))
        size = len(element.children) if element.get("merge") != "true" else -1
        return f.Coll(element.at, element.tag_end, "map" if is_map else "list", tuple(pairs), size)


def _text(setting: f.Setting, method: _Method) -> f.Expr:
    """A value as text: a number or truth where it looks like one, as setters take it."""
    text = setting.text.strip()
    if "#{" in text:
        match = _REFERENCE.match(text)
        return method.hand(match[1], True, setting.at, setting.end) if match is not None else f.Opaque(setting.at, setting.end, ())
    if "${" in text:
        return method.hand(text, False, setting.at, setting.end)
    value: bool | int | float | str = text
    if _INTEGER.match(text):
        value = int(text)
    elif _NUMBER.match(text):
        value = float(text)
    elif text in ("true", "false"):
        value = text == "true"
    return f.Lit(setting.at, setting.end, value)


def _class_name(kind: str) -> str:
    """A class as code spells it, or nothing where it is no class that can be known."""
    return kind.replace("$", ".") if _CLASS.match(kind) and len(kind) < 300 else ""


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def _setter(name: str) -> str:
    """`maxWait` is set by setMaxWait."""
    return f"set{_capital(name)}"
