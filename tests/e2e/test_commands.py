"""The other commands, and the command line as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from resilint import docs, registry
from resilint.new import write
from resilint.testing import LANGUAGES, cases

Run = Callable[..., Any]


def test_rules(toy: Path, resilint: Run) -> None:
    lines = resilint("rules", code=0).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["RS001", "RS002", "RS003", "RS101", "RS102", "RS201", "RS202", "RS301"]
    assert lines[3].split(None, 3) == ["RS101", "wait-long", "error", "Calls of wait-long."]
    assert lines[-1].endswith("(preview)")


@pytest.mark.parametrize("name", ["RS001", "rs001", "unused-suppression"])
def test_explain(resilint: Run, name: str) -> None:
    assert resilint("explain", name, code=0).stdout == docs.page(registry.rules()[0])


def test_explain_what_does_not_exist(resilint: Run) -> None:
    assert resilint("explain", "unused-supression", code=2).stderr.endswith("did you mean 'unused-suppression'?\n")


@pytest.mark.parametrize(
    ("problem", "code", "said"), [(ZeroDivisionError("x"), 3, "ZeroDivisionError: x"), (KeyboardInterrupt(), 130, "interrupted")]
)
def test_unexpected_ends(
    toy: Path, resilint: Run, monkeypatch: pytest.MonkeyPatch, problem: BaseException, code: int, said: str
) -> None:
    def fail(*arguments: object) -> None:
        raise problem

    monkeypatch.setattr("resilint.run.discover", fail)
    for command in (["check"], ["graph", "--kind", "calls"]):
        assert said in resilint(*command, code=code).stderr


def test_knowledge(resilint: Run) -> None:
    assert "requests" in resilint("knowledge", code=0).stdout
    assert "timeout" in resilint("knowledge", "requests", code=0).stdout
    assert "did you mean" in resilint("knowledge", "reqests", code=2).stderr


def test_graph(toy: Path, resilint: Run) -> None:
    assert json.loads(resilint("graph", "--kind", "calls", "--format", "json", code=0).stdout) == {
        "nodes": ["a", "b"],
        "edges": [["a", "b"]],
    }
    assert resilint("graph", "--kind", "calls", "nowhere", code=2).stderr == "resilint: nowhere: no such file or directory\n"


def command(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "resilint.cli", *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def test_help_and_version() -> None:
    shown = command("--help")
    assert shown.returncode == 0 and "check" in shown.stdout
    assert command("--version").stdout.startswith("resilint, version 0.")


def test_help_imports_only_what_it_shows() -> None:
    script = (
        "import sys\nfrom resilint.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    loaded = set(shown.rpartition("LOADED")[2].split())
    assert "click" in loaded
    assert not loaded & {"tree_sitter", "networkx", "libcst", "yaml", "jsonschema", "msgspec", "sqlite3", "multiprocessing"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("chek", "."), "no such command 'chek': did you mean 'resilint check'?"),
        ((".",), "no such command '.': did you mean 'resilint check .'?"),
        (("zzz",), "no such command 'zzz'"),
        (("explain",), "missing argument 'RULE'"),
    ],
)
def test_wrong_commands(toy: Path, resilint: Run, arguments: tuple[str, ...], message: str) -> None:
    assert resilint(*arguments, code=2).stderr == f"resilint: {message}\n"


def test_a_closed_pipe_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("x = 1\n")
    done = subprocess.run(
        f'"{sys.executable}" -m resilint.cli rules | true', shell=True, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


def test_the_module_new_writes_a_rule(tmp_path: Path) -> None:
    (tmp_path / "checks" / "resilint_checks").mkdir(parents=True)
    arguments = [sys.executable, "-m", "resilint.new", "RS107", "deadline-not-propagated"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "checks/resilint_checks/rs107_deadline_not_propagated.py",
        "rule_docs/RS107.md",
        "tests/cases/RS107/across_files.md",
    ]
    compile((tmp_path / "checks/resilint_checks/rs107_deadline_not_propagated.py").read_text(), "rule", "exec")
    again = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "exists already" in again.stderr
    other = [sys.executable, "-m", "resilint.new", "RS108", "a-b", "--languages", "yaml,cobol"]
    unknown = subprocess.run(other, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert unknown.returncode == 1 and unknown.stderr.startswith("no language of cases: cobol; known are py, go, java, xml, ")


@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
def test_the_module_new_writes_examples_in_every_language(language: str, tmp_path: Path) -> None:
    (tmp_path / "checks" / "resilint_checks").mkdir(parents=True)
    module, page, folder = (file.read_text() for file in write(tmp_path, "RS107", "a-b", (language, language)))
    assert f'languages=frozenset({{"{language}"}})' in module
    flagged, quiet = cases(page)
    cause, bound = cases(folder)
    assert [case.section for case in (flagged, quiet)] == ["Flagged", "Quiet"]
    assert [len(case.files) for case in (flagged, quiet, cause, bound)] == [1, 1, 2, 2]
    for case in (flagged, quiet, cause, bound):
        assert case.languages == {language}
        assert [want.code for want in case.wants] == (["RS107"] if case in (flagged, cause) else [])
    assert "\n\n\n" not in page.replace("package main\n\n", "") + folder
