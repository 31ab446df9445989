"""Where the page of a rule lies: on this machine, and on the web."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from resilint import Rule, Severity, docs, registry


@pytest.fixture(autouse=True)
def unknown_so_far(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(docs.URL, raising=False)
    docs._published.cache_clear()
    yield
    docs._published.cache_clear()


def test_every_rule_has_a_page_on_this_machine() -> None:
    for rule in registry.rules():
        address = docs.local_address(rule)
        assert address is not None
        assert Path(unquote(urlparse(address).path)).read_text("utf-8") == docs.page(rule)


def test_the_environment_says_where_pages_are_published(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = registry.rules()[0]
    assert docs.address(rule) is None
    monkeypatch.setenv(docs.URL, "https://lint.example.com/{code}/{name}")
    assert docs.address(rule) == f"https://lint.example.com/{rule.code}/{rule.name}"


def test_a_package_of_rules_says_where_its_pages_are_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_rules.py").write_text("def check(program):\n    return ()\n")
    about = tmp_path / "acme-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n"
        "Project-URL: Homepage, https://acme.example.com\nProject-URL: Rule pages, https://acme.example.com/rules/{code}\n"
    )
    (about / "entry_points.txt").write_text(f"[{docs.GROUP}]\nacme = acme_rules\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_rules", raising=False)
    import acme_rules  # type: ignore[import-not-found]

    rule = Rule("ACME1", "own", Severity.INFO, "Own.", frozenset({"py"}), acme_rules.check)
    assert docs.address(rule) == "https://acme.example.com/rules/ACME1"
    assert docs.address(registry.rules()[0]) is None
