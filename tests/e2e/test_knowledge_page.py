"""docs/knowledge.md: its settings teach resilint what its code shows, and its mistakes are answered as it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from resilint import registry
from resilint.testing import Case, cases, check, differences

Run = Callable[..., Any]

CASES = cases((Path(__file__).parents[2] / "docs" / "knowledge.md").read_text("utf-8"))
WRONG = [case for case in CASES if case.section == "When an entry is wrong"]
TAUGHT = [case for case in CASES if case not in WRONG]


def named(case: Case) -> str:
    return f"{case.section}: {case.name}"


def test_a_client_a_queue_and_a_server_in_each_language() -> None:
    shown = {(case.section, *case.languages) for case in TAUGHT}
    assert shown == {(what, language) for what in ("A client", "A queue", "A server") for language in ("py", "go", "java")}


@pytest.mark.parametrize("case", TAUGHT, ids=named)
def test_what_the_page_teaches_is_found(case: Case, tmp_path: Path) -> None:
    assert case.wants
    assert not differences(case, check(case, tmp_path, registry.rules()))


@pytest.mark.parametrize("case", TAUGHT, ids=named)
def test_without_the_entry_nothing_of_it_is_found(case: Case, tmp_path: Path) -> None:
    """What is found is due to what the page teaches, not to what was known before."""
    bare = Case(case.name, case.line, files={path: text for path, text in case.files.items() if path != "resilint.yaml"})
    assert check(bare, tmp_path, registry.rules()) == []


@pytest.mark.parametrize("case", WRONG, ids=named)
def test_a_mistake_is_answered_as_the_page_says(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resilint: Run) -> None:
    for name, text in case.files.items():
        if name != "stderr":
            (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert resilint("check", code=0 if "app.py" in case.files else 2).stderr == case.files["stderr"]
