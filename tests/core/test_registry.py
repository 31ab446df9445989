"""Rules are found through entry points, and packages that break the rules of the house are refused."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from resilint import docs, registry
from resilint.engine_rules import ENGINE_RULES
from resilint.registry import RegistryError, matches, selected

RULE = """\
from resilint import Rule, Severity

RULE = Rule("{code}", "{name}", Severity.ERROR, "Says so.", frozenset({{"py"}}), lambda program: (), {preview})
"""
Package = Callable[..., EntryPoint]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Writes a package of rules and installs it as the only one."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(package_name: str, **modules: str) -> EntryPoint:
        folder = tmp_path / package_name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "rule_docs").mkdir()
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(text)
            (folder / "rule_docs" / f"{name.partition('_')[0].upper()}.md").write_text("# A page\n")
        point = EntryPoint("theirs", package_name, docs.GROUP)
        monkeypatch.setattr(registry, "entry_points", lambda group: [point])
        registry.rules.cache_clear()
        return point

    yield write
    registry.rules.cache_clear()
    for name in [name for name in sys.modules if name.startswith("theirs_")]:
        del sys.modules[name]


def rule(code: str, name: str, preview: bool = False) -> str:
    return RULE.format(code=code, name=name, preview=preview)


def test_a_package_of_rules(package: Package) -> None:
    package(
        "theirs_a", abc10_second_rule=rule("ABC10", "second-rule"), abc9_first_rule=rule("ABC9", "first-rule"), shared="x = 1\n"
    )
    assert [one.code for one in registry.rules()] == ["ABC9", "ABC10", "RS001", "RS002", "RS003"]


@pytest.mark.parametrize(
    ("name", "modules", "message"),
    [
        ("theirs_b", {"rs900_mine": rule("RS900", "mine")}, "the prefix RS is reserved"),
        ("theirs_c", {"ab1_one": rule("AB1", "other")}, "the module's name must be code and name"),
        ("theirs_d", {"ab1_one": "x = 1\n"}, "holds no RULE"),
        ("theirs_e", {"ab1_one": "1 / 0\n"}, "cannot be loaded: ZeroDivisionError"),
        ("theirs_m", {"ab1_one": "raise SystemExit(0)\n"}, "cannot be loaded: SystemExit: 0"),
        ("theirs_f", {"ab1_unused_suppression": rule("AB1", "unused-suppression")}, "has the name of RS001"),
        ("theirs_g", {"ab1_One": rule("AB1", "One")}, "a code is capitals and a number"),
        ("theirs_h", {"ab1_one": rule("AB1", "one"), "ab1_one_": rule("AB1", "one")}, "must be code and name"),
    ],
)
def test_packages_that_are_refused(package: Package, name: str, modules: dict[str, str], message: str) -> None:
    package(name, **modules)
    with pytest.raises(RegistryError, match=message):
        registry.rules()


def test_a_code_belongs_to_one_package(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    points = [package("theirs_i", ab1_one=rule("AB1", "one")), package("theirs_j", ab1_one=rule("AB1", "one"))]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    with pytest.raises(RegistryError, match="rule AB1 of theirs_j exists already"):
        registry.rules()


def test_a_rule_needs_a_page(package: Package, tmp_path: Path) -> None:
    package("theirs_l", ab1_one=rule("AB1", "one"))
    (tmp_path / "theirs_l" / "rule_docs" / "AB1.md").unlink()
    with pytest.raises(RegistryError, match=r"theirs_l.ab1_one: AB1 has no page: write rule_docs/AB1.md in the package"):
        registry.rules()


def test_selectors() -> None:
    unused = ENGINE_RULES[0]
    for selector in ("RS001", "RS0", "RS", "unused-suppression", "all"):
        assert matches(selector, unused)
    for selector in ("", "rs001", "RS1", "RS0011", "unused", "u"):
        assert not matches(selector, unused)


def test_selection(package: Package) -> None:
    package("theirs_k", ab1_one=rule("AB1", "one"), ab2_two=rule("AB2", "two", preview=True))
    known = registry.rules()

    def chosen(select: list[str], ignore: list[str]) -> list[str]:
        return [one.code for one in selected(known, select, ignore)]

    assert chosen([], []) == ["AB1", "RS001", "RS002", "RS003"]
    assert chosen(["all"], []) == ["AB1", "RS001", "RS002", "RS003"]
    assert chosen(["AB"], []) == ["AB1", "AB2", "RS002", "RS003"]
    assert chosen(["two"], ["RS003"]) == ["AB2", "RS002"]
    assert chosen([], ["AB1", "RS0"]) == []
