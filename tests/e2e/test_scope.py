"""What the program is: a directory given, or the project around the files given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from resilint.scope import ScopeError, scope_of

Run = Callable[..., Any]


@pytest.fixture
def project(toy: Path) -> Path:
    """A repository with two services, the working directory beside it."""
    root = toy / "project"
    for path in ("orders/main.py", "users/main.py", "top.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("wait_long(1)\n")
    (root / ".git").mkdir()
    return root


def paths(report: dict[str, Any]) -> list[str]:
    return [finding["path"] for finding in report["findings"]]


def test_a_directory_is_the_program(project: Path, report: Run) -> None:
    assert paths(report("project")) == ["orders/main.py", "top.py", "users/main.py"]
    parsed = report("project/orders")
    assert paths(parsed) == ["main.py"] and parsed["stats"]["files"] == 1


def test_files_select_what_is_reported(project: Path, report: Run) -> None:
    parsed = report("project/orders/main.py")
    assert paths(parsed) == ["project/orders/main.py"] and parsed["stats"]["files"] == 3
    assert parsed["findings"][0]["trace"][0]["path"] == "project/orders/main.py"


def test_paths_of_files_are_relative_to_the_current_directory(project: Path, report: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "orders")
    assert paths(report("main.py", "../top.py")) == ["../top.py", "main.py"]
    assert paths(report()) == ["main.py"]


@pytest.mark.parametrize("asked", ["project/orders", "project/orders/main.py", "--root=project/orders", "--root=project"])
def test_people_see_paths_from_the_current_directory(project: Path, resilint: Run, asked: str) -> None:
    arguments = [asked, "project/orders"] if asked.startswith("--") else [asked]
    shown = resilint("check", "--show-trace", *arguments, code=1).stdout
    assert shown.startswith("project/orders/main.py:1:1: ") and "1. project/orders/main.py:1:1: called here" in shown


def test_what_is_said_beside_the_report_too(project: Path, resilint: Run) -> None:
    (project / "orders" / "x_pb2.py").write_text("")
    assert "skipped project/orders/x_pb2.py: " in resilint("check", "-v", "project/orders", code=1).stderr
    (project / "orders" / "resilint.yaml").write_text("selct: []\n")
    assert resilint("check", "project/orders", code=2).stderr.startswith("resilint: project/orders/resilint.yaml:1:1: unknown key")
    assert resilint("check", "project/orders/main.py", code=2).stderr.startswith("resilint: project/orders/resilint.yaml:1:1: ")
    (project / "orders" / "resilint.yaml").unlink()
    (project / "orders" / "resilint.yaml").mkdir()
    assert (
        resilint("check", "project/orders", code=2).stderr
        == "resilint: project/orders/resilint.yaml:1:1: is a directory, not a file\n"
    )


def test_fingerprints_do_not_depend_on_where_one_stands(project: Path, report: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {one["path"]: one["fingerprint"] for one in report("project")["findings"]}
    monkeypatch.chdir(project / "orders")
    assert report("main.py")["findings"][0]["fingerprint"] == whole["orders/main.py"]


def test_root_overrides(project: Path, report: Run) -> None:
    parsed = report("--root", "project", "project/orders")
    assert paths(parsed) == ["orders/main.py"] and parsed["stats"]["files"] == 3
    parsed = report("--root", "project/orders", "project/orders/main.py")
    assert paths(parsed) == ["main.py"] and parsed["stats"]["files"] == 1


def test_settings_above_the_file_make_the_project(project: Path, report: Run) -> None:
    (project / "orders" / "resilint.yaml").write_text("confidence: low\n")
    assert report("project/orders/main.py")["stats"]["files"] == 1


def test_several_directories_are_one_program(project: Path, report: Run) -> None:
    parsed = report("project/orders", "project/users")
    assert paths(parsed) == ["project/orders/main.py", "project/users/main.py"] and parsed["stats"]["files"] == 2


def test_settings_above_the_root_are_named(project: Path, report: Run) -> None:
    (project / "resilint.yaml").write_text('ignore: [no-such-rule]\nper_path: {"orders/**": {ignore: [RS101]}}\n')
    assert [(one["code"], one["path"]) for one in report("project/orders")["findings"]] == [("RS003", "../resilint.yaml")]
    assert paths(report("project/users/main.py")) == ["project/resilint.yaml", "project/users/main.py"]


def test_a_file_that_git_ignores_is_still_meant(project: Path, report: Run) -> None:
    (project / ".git").rmdir()
    import subprocess

    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / ".gitignore").write_text("top.py\n")
    assert paths(report("project")) == ["orders/main.py", "users/main.py"]
    assert paths(report("project/top.py")) == ["project/top.py"]


def test_files_without_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a/x.py", "a/y.py"):
        (tmp_path / name).write_text("")
    scope = scope_of(["a/x.py", "a/y.py"], None, tmp_path)
    assert scope.root == tmp_path.resolve() and scope.reported == ("a/x.py", "a/y.py")
    assert scope.reports("a/x.py") and not scope.reports("a/z.py") and scope.shown("a/x.py") == "a/x.py"
    monkeypatch.setenv("HOME", str(tmp_path))
    scope = scope_of(["a/x.py", "a/y.py"], None, tmp_path)
    assert scope.root == (tmp_path / "a").resolve() and scope.shown("x.py") == "a/x.py"


def test_what_cannot_be_checked_together(tmp_path: Path) -> None:
    with pytest.raises(ScopeError, match="nowhere: no such file"):
        scope_of(["nowhere"], None, tmp_path)
