"""What imports mean, and that one changed file gives the index of a program built anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import dedent

import pytest
from resilint.facts import FileFacts, decode
from resilint.link.code import Fun, Klass, Module
from resilint.link.names import Names
from resilint.program import Program
from resilint.read import read

Linked = Callable[[dict[str, str]], Program]


def facts_of(files: Mapping[str, str]) -> dict[str, FileFacts]:
    kinds = {"py": "python", "go": "go"}
    out = {}
    for path, text in files.items():
        kind = kinds.get(path.rpartition(".")[2])
        out[path] = decode(read(dedent(text).encode(), kind)) if kind else FileFacts("text")
    return out


def names_of(files: dict[str, str]) -> Names:
    return Names(facts_of(files), lambda path: files[path].encode(), lambda path: "test" in path)


LAYOUT = {
    "app/__init__.py": "",
    "app/views.py": "",
    "app/util/__init__.py": "",
    "app/util/text.py": "",
    "src/lib/__init__.py": "",
    "src/lib/core.py": "",
    "services/pay/main.py": "",
    "services/pay/settings.py": "",
    "services/mail/main.py": "",
    "services/mail/settings.py": "",
    "plain/inner/mod.py": "",
    "tool.py": "",
}


@pytest.mark.parametrize(
    ("importer", "name", "level", "meant"),
    [
        ("tool.py", "app.views", 0, "app/views.py"),
        ("tool.py", "app", 0, "app/__init__.py"),
        ("tool.py", "app.util.text", 0, "app/util/text.py"),
        ("tool.py", "plain.inner.mod", 0, "plain/inner/mod.py"),
        ("tool.py", "plain.inner", 0, "plain/inner"),
        ("tool.py", "requests", 0, None),
        ("app/views.py", "util.text", 1, "app/util/text.py"),
        ("app/views.py", "", 1, "app/__init__.py"),
        ("app/util/text.py", "views", 2, "app/views.py"),
        ("app/util/text.py", "", 2, "app/__init__.py"),
        ("app/util/text.py", "missing", 2, None),
        ("app/util/text.py", "tool", 0, "tool.py"),
        ("app/views.py", "lib.core", 0, "src/lib/core.py"),
        ("src/lib/core.py", "lib", 0, "src/lib/__init__.py"),
        ("services/pay/main.py", "settings", 0, "services/pay/settings.py"),
        ("services/mail/main.py", "settings", 0, "services/mail/settings.py"),
    ],
)
def test_python_imports(importer: str, name: str, level: int, meant: str | None) -> None:
    names = names_of(LAYOUT)
    found = names.python_module(names.modules[importer], name, level)
    assert (found.path if isinstance(found, Module) else found) == meant


def test_go_packages_follow_go_mod() -> None:
    files = {
        "go.mod": "module example.com/top\n",
        "main.go": "package main\n",
        "store/store.go": "package store\n\nfunc Get() {}\n",
        "store/keys.go": "package store\n\ntype Key string\n",
        "store/store_test.go": "package store\n\nfunc helper() {}\n",
        "tools/go.mod": 'module "example.com/tools/v2"\n',
        "tools/gen/gen.go": "package gen\n",
    }
    names = names_of(files)
    main = names.modules["main.go"]
    store = names.go_package("example.com/top/store", main)
    assert store is not None
    assert sorted(store.functions) == ["Get"] and sorted(store.classes) == ["Key"]
    assert names.go_package("example.com/tools/v2/gen", main) is not None
    assert names.go_package("example.com/top/tools/gen", main) is None
    assert names.package_of(main).name == "main" and names.go_package("example.com/top", main) is names.package_of(main)
    tests = names.package_of(names.modules["store/store_test.go"])
    assert sorted(tests.functions) == ["helper"] and names.tested_package(tests) is store


def test_the_getter_of_a_property_is_what_its_name_means() -> None:
    text = """
        class Box:
            @property
            def size(self): return 1
            @size.setter
            def size(self, n): pass
    """
    (module,) = names_of({"box.py": text}).modules.values()
    assert module.classes[0].methods["size"].head.is_property


BEFORE = {
    "go.mod": "module example.com/shop\n",
    "a.py": "import b\n\n\nclass A(b.B):\n    def run(self):\n        self.x = b.make()\n        return b.make\n",
    "b.py": "class B:\n    def run(self): pass\n\n\ndef make(): return B()\n",
    "pkg/__init__.py": "from .c import c\n",
    "pkg/c.py": "def c(): pass\n",
    "cart/cart.go": "package cart\n\ntype Cart struct{ n int }\n\nfunc (c *Cart) Add() { c.n = 1 }\n",
    "cart/more.go": "package cart\n\nfunc (c *Cart) Drop() { Clear() }\n\nfunc Clear() {}\n",
    "notes.txt": "",
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("b.py", "class B:\n    def stop(self): self.y = make()\n\n\ndef make(): return 1\n"),
        ("b.py", None),
        ("new/__init__.py", "def fresh(): pass\n"),
        ("a.py", BEFORE["a.py"]),
        ("pkg/__init__.py", None),
        ("cart/more.go", "package cart\n\nfunc (c *Cart) Keep() {}\n"),
        ("cart/more.go", None),
        ("other/other.go", "package other\n\nfunc Other() {}\n"),
        ("notes.txt", None),
    ],
)
def test_one_changed_file_gives_the_index_of_a_program_built_anew(path: str, text: str | None) -> None:
    names = names_of(BEFORE)
    after = {k: v for k, v in BEFORE.items() if k != path} | ({path: text} if text is not None else {})
    names.replace(path, facts_of({path: text})[path] if text is not None else None)
    assert index_of(names) == index_of(names_of(after))


def test_other_files_keep_their_handles() -> None:
    names = names_of(BEFORE)
    kept = names.modules["b.py"]
    names.replace("a.py", facts_of({"a.py": "x = 1\n"})["a.py"])
    assert names.modules["b.py"] is kept
    assert names.callers("make") == []


def index_of(names: Names) -> dict[str, object]:
    """Everything an index knows, by name instead of by handle."""

    def plain(value: object) -> object:
        match value:
            case Fun() | Klass():
                return value.key
            case Module():
                return value.path
            case dict():
                return {key: plain(inner) for key, inner in value.items()}
            case list() | tuple():
                return [plain(inner) for inner in value]
        return value

    methods = {klass.key: sorted(klass.methods) for klass in names.all_classes()}
    packages = {}
    for module in names.modules.values():
        if module.language == "go":
            package = names.package_of(module)
            packages[package.root, package.path] = (
                package.name,
                plain(package.modules),
                sorted(package.functions),
                sorted(package.classes),
            )
    return {
        "modules": list(names.modules),
        "methods": methods,
        "packages": packages,
        "callers": plain(names.callers_of),
        "values": plain(names.values_of),
        "writers": plain(names.writers_of),
        "named": {name: plain(names.methods_named(name)) for name in ("run", "Add", "Drop", "Keep", "stop")},
        "imports": {
            module.path: [plain(names.python_module(module, name)) for name in ("a", "b", "pkg", "pkg.c", "new")]
            for module in names.modules.values()
            if module.language == "python"
        },
    }


def test_a_program_answers_anew_after_a_change(linked: Linked) -> None:
    program = linked({"app.py": "from lib import go\n\ngo()\n", "lib.py": "def go(): first()\n\n\ndef first(): pass\n"})
    assert ("lib.go", "lib.first") in program.call_graph()[1]
    program.replace("lib.py", facts_of({"lib.py": "def go(): second()\n\n\ndef second(): pass\n"})["lib.py"])
    assert program.call_graph()[1] == [("app", "lib.go"), ("lib.go", "lib.second")]
    program.replace("lib.py", None)
    assert program.call_graph()[1] == [("app", "lib.go")]
