"""Imports go one way: readers know facts, links know readers' facts and knowledge, rules know only what resilint exports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest
import resilint

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "lint" / "resilint"
CHECKS = ROOT / "checks" / "resilint_checks"

FORBIDDEN = {
    "facts": {
        "cache",
        "cli",
        "discover",
        "fix",
        "flow",
        "knowledge",
        "link",
        "program",
        "read",
        "registry",
        "report",
        "run",
        "settings",
    },
    "model": {"cache", "cli", "discover", "fix", "flow", "knowledge", "link", "read", "registry", "report", "run", "settings"},
    "text": {
        "cache",
        "cli",
        "discover",
        "fix",
        "flow",
        "knowledge",
        "link",
        "program",
        "read",
        "registry",
        "report",
        "run",
        "settings",
    },
    "read": {
        "cache",
        "cli",
        "discover",
        "fix",
        "flow",
        "knowledge",
        "link",
        "program",
        "registry",
        "report",
        "run",
        "settings",
        "model",
    },
    "knowledge": {"cache", "cli", "discover", "fix", "flow", "link", "program", "read", "registry", "report", "run"},
    "link": {"cache", "cli", "discover", "fix", "read", "registry", "report", "run"},
    "flow": {"cache", "cli", "discover", "fix", "read", "registry", "report", "run"},
    "program": {"cache", "cli", "discover", "fix", "read", "registry", "report", "run"},
    "settings": {"cache", "cli", "discover", "fix", "flow", "link", "program", "read", "registry", "report", "run"},
    "discover": {"cache", "cli", "fix", "flow", "knowledge", "link", "program", "read", "registry", "report", "run"},
    "report": {"cache", "cli", "discover", "fix", "flow", "knowledge", "link", "program", "read", "registry", "settings"},
    "run": {"cli", "fix", "report"},
}
"""What a module or package of the engine may not import, at run time or for its types."""

ALLOWED: dict[str, set[str]] = {
    "text": {"model"},
    "facts": set(),
    "kinds": set(),
    "read": {"facts", "kinds", "text"},
    "link": {"facts", "knowledge", "flow", "program"},
    "flow": {"facts", "homes", "kinds", "knowledge", "link", "model", "program"},
    "homes": set(),
    "report": {"__version__", "checking", "docs", "model", "run", "text"},
}
"""All that these import of the engine beside themselves: whatever is new there is looked at by someone."""

LINKED: dict[str, set[str]] = {
    "link.code": set(),
    "link.names": set(),
    "link.entries": {"flow.values"},
    "link.callgraph": {"flow.values", "flow.resolve"},
}
"""What each part of `link` takes from `flow`: names and code nothing, entries values, the call graph the resolver."""

PUBLIC = set(resilint.__all__)


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imports(file: Path) -> Iterator[tuple[str, str, bool]]:
    """Module, imported name, and whether only for its type, of each import in a file."""
    tree = ast.parse(file.read_text("utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, "", id(node) in typing_only
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            for alias in node.names:
                yield node.module or "", alias.name, id(node) in typing_only


def stage(file: Path) -> str:
    return file.relative_to(ENGINE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", modules(ENGINE), ids=lambda file: file.relative_to(ENGINE).as_posix())
def test_imports_go_one_way(file: Path) -> None:
    forbidden = FORBIDDEN.get(stage(file), set())
    for module, name, typing_only in imports(file):
        assert module.partition(".")[0] != "resilint_checks", "the engine knows no rule"
        parts = module.split(".")
        if parts[0] != "resilint":
            continue
        target = parts[1] if len(parts) > 1 else name
        # The one circle: a rule's type speaks of a program, whose findings are nouns of the model.
        if typing_only and target == "program":
            continue
        assert target not in forbidden, f"{stage(file)} must not import {target}"
        if stage(file) in ALLOWED:
            assert target in ALLOWED[stage(file)] | {stage(file)}, f"{stage(file)} imports {target}"


@pytest.mark.parametrize("file", modules(CHECKS), ids=lambda file: file.name)
def test_rules_use_only_what_resilint_exports(file: Path) -> None:
    for module, name, _ in imports(file):
        if module.partition(".")[0] == "resilint":
            assert module == "resilint" and name in PUBLIC, f"{module}.{name} is not public"
        elif module.partition(".")[0] == "resilint_checks":
            # A template that rules of one shape share lies beside them.
            assert not module.rpartition(".")[2].startswith("rs"), "rules do not know each other"


def dotted(file: Path) -> str:
    return ".".join(file.relative_to(ENGINE).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def test_values_are_followed_in_what_is_linked() -> None:
    for file in modules(ENGINE / "link"):
        used = {module.removeprefix("resilint.") for module, _, _ in imports(file)}
        assert {module for module in used if module.startswith("flow")} <= LINKED.get(dotted(file), set()), file
    for file in modules(ENGINE / "flow"):
        assert "resilint.link.callgraph" not in {module for module, _, _ in imports(file)}, file


def test_modules_make_no_circle() -> None:
    """While they are imported: what a function imports when it is called, and what only types need, may point back."""
    known = {f"resilint.{dotted(file)}".removesuffix(".") for file in modules(ENGINE)}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for file in modules(ENGINE):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    graph.add_edge(f"resilint.{dotted(file)}".removesuffix("."), inner if inner in known else node.module or "")
    assert [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1] == []


def test_parsers_are_imported_by_readers_only() -> None:
    parsers = {"tree_sitter", "tree_sitter_python", "tree_sitter_go", "ast"}
    for file in modules(ENGINE):
        if stage(file) not in ("read", "fix"):
            assert not parsers & {module.partition(".")[0] for module, _, _ in imports(file)}, file
