"""Names across files: which module an import means, which classes a class stands on, who may call a name."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import resilint.facts as f
from resilint.link.beans import BeanFiles
from resilint.link.code import CODE, Fun, Klass, Module, dotted, last_name, module_of, own_methods, shared_folders, walk
from resilint.link.java import JavaNames
from resilint.link.java_members import completed

if TYPE_CHECKING:
    from resilint.knowledge.index import Table


_TESTS = re.compile(
    r"(?:^|.*[-_.])(?:mock|fake|stub|test|fixture)(?:s|ing|ers?|util(?:s|ities)?|help(?:s|ers?))?(?:[-_.].*)?", re.IGNORECASE
)
"""Folders of what tests need."""


class Package:
    """A Go package: the files of one directory that share a package clause; tests apart."""

    def __init__(self, root: str, path: str, name: str) -> None:
        self.root = root
        """Directory of its go.mod."""
        self.path = path
        """Import path, or the directory where no go.mod says otherwise."""
        self.name = name
        self.modules: list[Module] = []
        self._functions: dict[str, Fun] | None = None
        self._classes: dict[str, Klass] | None = None

    def __repr__(self) -> str:
        return f"<package {self.path}>"

    @property
    def functions(self) -> dict[str, Fun]:
        """Package-level functions by name."""
        if self._functions is None:
            funs = (fun for m in self.modules for fun in m.functions)
            self._functions = {fun.name: fun for fun in funs if fun.head.kind == "free" and fun.head.parent <= 0}
        return self._functions

    @property
    def classes(self) -> dict[str, Klass]:
        """Package-level types by name."""
        if self._classes is None:
            self._classes = {k.name: k for m in self.modules for k in m.classes if k.decl.parent <= 0}
        return self._classes


class Names:
    """The index of a program's declarations. Frozen after construction, except through `replace`."""

    def __init__(
        self,
        files: Mapping[str, f.FileFacts],
        source: Callable[[str], bytes],
        is_test: Callable[[str], bool],
        profile: str | None = None,
        is_test_code: Callable[[f.FileFacts], bool] = lambda facts: False,
    ) -> None:
        """`profile`: the one whose beans are there; `None`: those of all. `is_test_code`: of a file that lies among others."""
        self._source = source
        self._is_test = is_test
        self.described: frozenset[str] = frozenset()
        """Canonical names of Java's classes that knowledge describes."""
        self._is_test_code = is_test_code
        self.modules: dict[str, Module] = {}
        self._gomods: dict[str, str] = {}
        for path in sorted(files):
            if path.rpartition("/")[2] == "go.mod":
                found = re.search(rb"^\s*module\s+\"?([^\s\"]+)", source(path), re.M)
                if found:
                    self._gomods[path.rpartition("/")[0]] = found[1].decode("utf-8", "replace")
        for path in sorted(files):
            if files[path].kind in CODE:
                self.modules[path] = self._module(path, files[path])
        self._beans = BeanFiles(files, is_test, profile)
        self._link_beans()
        self._index()

    def replace(self, path: str, facts: f.FileFacts | None) -> None:
        """Put one changed file (or none: it was deleted) in the place of its old facts; other files keep their handles."""
        old = self.modules.get(path)
        new = self._module(path, facts) if facts is not None and facts.kind in CODE else None
        wired = self._beans.put(path, facts)
        if old is not None and new is not None and old.is_helper:
            new.is_helper = new.is_test = True
        if not wired and old is not None and new is not None and self._same_place(old, new):
            self.modules[path] = new
            self._exchange(old, new)
            return
        self.modules.pop(path, None)
        if new is not None:
            self.modules[path] = new
            self.modules = dict(sorted(self.modules.items()))
        if wired:
            self._link_beans()
        if wired or old is not None or path in self.modules:
            for module in self.modules.values():
                if module.language == "go":
                    # Methods come from all files of a package; those of the old file must go.
                    own_methods(module)
            self._index()

    def _module(self, path: str, facts: f.FileFacts) -> Module:
        return module_of(path, _whole(facts), self._is_test(path) or self._is_test_code(facts))

    def _same_place(self, old: Module, new: Module) -> bool:
        """Whether a file takes the place of its old self: nothing that leads to it by its path or package changes."""
        same = old.language == new.language and old.is_test == new.is_test
        if not same or old.language != "go":
            return same
        return old.facts.package == new.facts.package and self._helpers_of(old) == self._helpers_of(new)

    # ------------------------------------------------------------ building

    def _link_beans(self) -> None:
        """Files of beans are linked all together: a bean may have its parent in another."""
        code = {path: module for path, module in self.modules.items() if not module.beans}
        code.update((module.path, module) for module in self._beans.modules())
        self.modules = dict(sorted(code.items()))

    def _index(self) -> None:
        self._open_ended: dict[Module, bool] = {}
        self._open_names: dict[Module, frozenset[str]] = {}
        self._java: JavaNames | None = None
        self._packages: dict[tuple[str, str], Package] = {}
        self._packages_at: dict[str, list[Package]] = {}
        self._package_of: dict[str, Package] = {}
        self._folders: set[str] = {""}
        self._tops: dict[str, list[str]] = {}
        self.callers_of: dict[str, list[Fun]] = {}
        self.values_of: dict[str, list[Fun]] = {}
        self.writers_of: dict[str, list[Fun]] = {}
        self._methods_named: dict[str, list[Fun]] = {}
        self.decorated: dict[str, list[Fun]] = {}
        """Functions by the last segments of their decorators."""
        for path, module in self.modules.items():
            folder = module.folder
            while folder not in self._folders:
                self._folders.add(folder)
                folder = folder.rpartition("/")[0]
            if module.language == "go":
                self._add_go(module)
            elif path.endswith(".py"):
                first = path.rpartition("/")[2][:-3]
                if first == "__init__":
                    top = module.folder
                    self._tops.setdefault(top.rpartition("/")[2], []).append(top.rpartition("/")[0])
            for fun in module.functions:
                for index, names in self._listed(fun):
                    for name in names:
                        index.setdefault(name, []).append(fun)
        for package in self._packages.values():
            self._share_methods(package)
        self._mark_helpers()

    def _mark_helpers(self) -> None:
        """Go packages that are named after what tests need, and that only tests import, directly or through each other."""
        named = [package for package in self._packages.values() if _speaks_of_tests(package)]
        self._for_tests = {package.path for package in named}
        if not named:
            return
        users: dict[str, list[Module]] = {}
        for module in self.modules.values():
            if module.language == "go":
                if module.is_helper:
                    module.is_helper, module.is_test = False, self._is_test(module.path) or self._is_test_code(module.facts)
                for target in self._helpers_of(module):
                    users.setdefault(target, []).append(module)
        found = True
        while found:
            found = False
            for package in named:
                plain = [module for module in package.modules if not module.is_helper and not module.path.endswith("_test.go")]
                above = users.get(package.path, ())
                if plain and above and all(user.is_test or user in plain for user in above):
                    found = True
                    for module in plain:
                        module.is_helper = module.is_test = True

    def _helpers_of(self, module: Module) -> set[str]:
        """Of the packages that are named after tests those that a file imports."""
        return {imp.target for imp in module.facts.imports if imp.target in self._for_tests}

    def _listed(self, fun: Fun) -> Iterator[tuple[dict[str, list[Fun]], Iterable[str]]]:
        """The indices in which a function stands, with the names under which it does."""
        head = fun.head
        yield self.callers_of, {c.rpartition(".")[2] for c in head.calls}
        yield self.values_of, {v.rpartition(".")[2] for v in head.values}
        yield self.writers_of, head.writes
        if head.kind == "method":
            yield self._methods_named, (head.name,)
        if head.decorators:
            yield self.decorated, {last_name(d.fn if isinstance(d, f.Call) else d) for d in head.decorators}

    @staticmethod
    def _share_methods(package: Package) -> None:
        """Gives types the methods that stand in other files of their package."""
        for module in package.modules:
            for fun in module.functions:
                if fun.head.receiver and fun.head.receiver in package.classes:
                    package.classes[fun.head.receiver].methods.setdefault(fun.head.name, fun)

    def _exchange(self, old: Module, new: Module) -> None:
        """As `_index`, for one file whose text alone has changed: what other files declare stays as it is listed."""
        self._open_ended.clear()
        self._open_names.clear()
        if new.language == "java":
            self._java = None
        for module, put in ((old, False), (new, True)):
            for fun in module.functions:
                for index, names in self._listed(fun):
                    for name in names:
                        exchanged(index, name, fun, put)
        if new.language == "go":
            self._exchange_in_package(old, new)

    def _exchange_in_package(self, old: Module, new: Module) -> None:
        before = self._package_of[old.path]
        package = Package(before.root, before.path, before.name)
        package.modules = [new if module is old else module for module in before.modules]
        self._packages[before.root, before.path] = package
        beside = self._packages_at[before.path]
        beside[beside.index(before)] = package
        for module in package.modules:
            self._package_of[module.path] = package
            # Methods come from all files of a package; those of the old file must go.
            own_methods(module)
        self._share_methods(package)

    def _add_go(self, module: Module) -> None:
        root, path = self._go_place(module.folder)
        if module.path.endswith("_test.go"):
            path += " [test]" if not module.facts.package.endswith("_test") else " [xtest]"
        package = self._packages.get((root, path))
        if package is None:
            package = self._packages[root, path] = Package(root, path, module.facts.package)
            self._packages_at.setdefault(path, []).append(package)
        package.modules.append(module)
        self._package_of[module.path] = package

    def _go_place(self, folder: str) -> tuple[str, str]:
        """Directory of the nearest go.mod above a directory, and the import path it gives; without one, the directory itself."""
        at = folder
        while True:
            if at in self._gomods:
                rest = folder[len(at) :].strip("/")
                return at, self._gomods[at] + ("/" + rest if rest else "")
            if not at:
                return "", folder or "."
            at = at.rpartition("/")[0]

    # ------------------------------------------------------------ modules

    @property
    def java(self) -> JavaNames:
        """Names in the Java files; made when first asked for."""
        if self._java is None:
            self._java = JavaNames(module for module in self.modules.values() if module.language == "java")
            self._java.described = self.described
        return self._java

    def package_of(self, module: Module) -> Package:
        """The Go package of a file."""
        return self._package_of[module.path]

    def go_package(self, path: str, importer: Module) -> Package | None:
        """The package that an import path means in a file: of its own Go module, else of the nearest one that has it."""
        found = self._packages_at.get(path)
        if not found:
            return None
        root = self.package_of(importer).root
        return max(found, key=lambda package: (package.root == root, shared_folders(package.root, root)))

    def tested_package(self, package: Package) -> Package | None:
        """The package that a package of tests in the same directory stands beside."""
        path, bracket, _ = package.path.rpartition(" [")
        return self._packages.get((package.root, path)) if bracket else None

    def python_module(self, importer: Module, name: str, level: int = 0) -> Module | str | None:
        """What `import name` means in that file: a module, a directory of modules (as text), or nothing in this program."""
        if level:
            folder = importer.folder
            for _ in range(level - 1):
                folder = folder.rpartition("/")[0]
            return self._at(folder, name)
        first = name.split(".")[0]
        folder = importer.folder
        if not self._is_package(folder) and (found := self._at(folder, name)) is not None and found is not importer:
            return found
        while folder:
            folder = folder.rpartition("/")[0]
            if not self._is_package(folder) and (found := self._at(folder, name)) is not None and found is not importer:
                return found
        for extra in ("src", "lib", "python"):
            if (found := self._at(extra, name)) is not None:
                return found
        best: Module | str | None = None
        shared = -1
        for root in self._tops.get(first, ()):
            if self._is_package(root):
                continue
            found = self._at(root, name)
            if found is not None:
                common = shared_folders(importer.folder, root)
                if common > shared:
                    best, shared = found, common
        return best

    def is_open_ended(self, module: Module, table: Table) -> bool:
        """Whether a file imports a library whose objects wait in every method, or what may be or give such an object from a file
        that does."""
        known = self._open_ended.get(module)
        if known is None:
            known = module.is_open_ended(table) or (module.language == "python" and self._takes_open_ended(module, table))
            self._open_ended[module] = known
        return known

    def _takes_open_ended(self, module: Module, table: Table) -> bool:
        homes: dict[str, Module] = {}
        for imp in module.facts.imports:
            found = self.python_module(module, imp.target, imp.level)
            home = found if isinstance(found, Module) else None
            if imp.name and home is not None and self._may_give_open_ended(home, imp.name, table):
                return True
            if imp.name:
                folder = found if isinstance(found, str) else home.folder if home is not None else None
                inner = self.submodule(folder, imp.name) if folder is not None else None
                home = inner if isinstance(inner, Module) else None
            if home is not None:
                homes[imp.alias if imp.name or imp.explicit else imp.target] = home
        for prefix, home in homes.items():
            # A file without such an import of its own passes on what it imports itself; a package does, others hardly ever.
            if not home.is_open_ended(table) and not home.path.endswith("/__init__.py"):
                continue
            start = prefix + "."
            used = {x[len(start) :].partition(".")[0] for fun in module.functions for x in _said(fun) if x.startswith(start)}
            if any(self._may_give_open_ended(home, name, table) for name in used):
                return True
        return False

    def _may_give_open_ended(self, home: Module, name: str, table: Table, depth: int = 0) -> bool:
        """Whether a name that a file declares or passes on may stand for an object of such a library, or for what gives one."""
        if name not in home.declared and name in home.imports and depth < _PASSED_ON:
            for imp in home.imports[name]:
                origin = self.python_module(home, imp.target, imp.level)
                if imp.name and isinstance(origin, Module) and self._may_give_open_ended(origin, imp.name, table, depth + 1):
                    return True
            return False
        return home.is_open_ended(table) and name in self._open_ended_names(home, table)

    def _open_ended_names(self, home: Module, table: Table) -> frozenset[str]:
        """Names a file declares that may stand for an object of a library it imports whose objects wait in every method."""
        found = self._open_names.get(home)
        if found is None:
            known = {head for head, imports in home.imports.items() if any(table.is_open_ended(x.target, x.name) for x in imports)}
            declared = [(fun.name, _said(fun)) for fun in home.functions[1:] if fun.head.parent <= 0 and not fun.is_method]
            declared += [(klass.name, [dotted(base) for base in klass.decl.bases]) for klass in home.classes]
            for name, defs in home.functions[0].body.definitions.items() if home.functions else ():
                said = [
                    dotted(node) for d in defs if d.expr is not None for node in walk(d.expr) if isinstance(node, f.Ref | f.Call)
                ]
                declared.append((name, said))
            size = -1
            while size < len(known):
                size = len(known)
                known.update(name for name, said in declared if any(x.partition(".")[0] in known for x in said))
            found = self._open_names[home] = frozenset(known)
        return found

    def _is_package(self, folder: str) -> bool:
        return f"{folder}/__init__.py".lstrip("/") in self.modules

    def _at(self, root: str, name: str) -> Module | str | None:
        path = "/".join(x for x in (root, *name.split(".")) if x)
        if not name:
            init = self.modules.get(f"{root}/__init__.py".lstrip("/"))
            return init or (root if root in self._folders else None)
        module = self.modules.get(path + ".py") or self.modules.get(path + "/__init__.py")
        if module is not None:
            return module
        return path if path in self._folders and path else None

    def submodule(self, folder: str, name: str) -> Module | str | None:
        """The module or directory `name` inside a directory."""
        return self._at(folder, name)

    # ------------------------------------------------------------ classes

    def callers(self, name: str) -> list[Fun]:
        """Functions whose body calls something whose last segment is `name`."""
        return self.callers_of.get(name, [])

    def calling(self, wanted: Callable[[str], bool], *languages: str) -> list[Fun]:
        """Functions of these languages (none: of all) whose header shows a call of a wanted last segment, in order of path and
        position. Each name of the program is asked about once, however many call it."""
        found: set[Fun] = set()
        for name, callers in self.callers_of.items():
            if wanted(name.rstrip("{")):
                found.update(callers)
        return sorted((fun for fun in found if not languages or fun.module.language in languages), key=lambda fun: fun.key)

    def writers(self, name: str) -> list[Fun]:
        """Functions that assign an attribute of that name."""
        return self.writers_of.get(name, [])

    def methods_named(self, name: str) -> list[Fun]:
        """Every method of that name."""
        return self._methods_named.get(name, [])

    def methods_of(self, klass: Klass) -> dict[str, Fun]:
        """Methods declared for a class, in whichever file of its package."""
        return klass.methods

    def all_classes(self) -> Iterable[Klass]:
        """Every class, in order of path."""
        for module in self.modules.values():
            yield from module.classes


_PASSED_ON = 3
"""Files through which a name comes at most."""


def _speaks_of_tests(package: Package) -> bool:
    """Whether a package of a module, none of a command, lies in a folder that is named after what tests need."""
    folder = package.modules[0].folder
    inside = folder[len(package.root) :].strip("/") if package.root else folder
    return package.name != "main" and any(_TESTS.fullmatch(part) for part in inside.split("/"))


def exchanged(index: dict[str, list[Any]], name: str, one: Fun | Klass, put: bool) -> None:
    """Puts a function or class in its place in the list of a name, or takes it out; lists without one are dropped."""
    known = index.get(name, [])
    at = bisect_left(known, one.key, key=lambda other: other.key)
    if put:
        known.insert(at, one)
        index[name] = known
        return
    known[at : at + 1] = [other for other in known[at : at + 1] if other is not one]
    if not known:
        index.pop(name, None)


def _said(fun: Fun) -> list[str]:
    """What a function calls and passes on, as its header has it."""
    return [*fun.head.calls, *fun.head.values]


def _whole(facts: f.FileFacts) -> f.FileFacts:
    """Facts with the members that a language adds by itself."""
    return completed(facts) if facts.kind == "java" else facts


def type_name(expr: f.Expr) -> str:
    """The name of a base class expression without type arguments: `Generic[T]` is `Generic`."""
    if isinstance(expr, f.Index):
        return dotted(expr.base)
    return dotted(expr)
