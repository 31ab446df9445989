"""The action and the page on CI: the files that services read are valid, and what they run is there and works."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from resilint.cli import main
from resilint.init import SNIPPETS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text("utf-8")
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
RUN = {step["id"]: step for step in ACTION["runs"]["steps"]}


def fences(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def is_valid(schema: str, file: Path) -> None:
    """As the schema says that check-jsonschema carries of the service, without a network."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_action_is_valid() -> None:
    is_valid("github-actions", ROOT / "action.yml")


def test_the_page_shows_what_init_prints() -> None:
    shown = [*fences("yaml"), *fences("groovy")]
    for place in ("github", "gitlab", "jenkins"):
        assert SNIPPETS[place][1] in shown, place


@pytest.mark.parametrize(("place", "schema"), [("github", "github-workflows"), ("gitlab", "gitlab-ci")])
def test_what_is_to_be_pasted_is_valid(place: str, schema: str, tmp_path: Path) -> None:
    file = tmp_path / "ci.yml"
    file.write_text(SNIPPETS[place][1])
    is_valid(schema, file)


def test_workflows_give_the_action_inputs_that_it_has() -> None:
    steps = [step for job in yaml.safe_load(SNIPPETS["github"][1])["jobs"].values() for step in job["steps"]]
    (ours,) = [step for step in steps if "/resilint@" in step["uses"]]
    assert set(ours["with"]) <= set(ACTION["inputs"])
    assert set(
        re.findall(r"^\| `([\w-]+)` \| ", PAGE.partition("Inputs of the action")[2].partition("##")[0], re.MULTILINE)
    ) == set(ACTION["inputs"])


def test_the_hook_to_be_pasted_exists() -> None:
    (repo,) = yaml.safe_load(SNIPPETS["pre-commit"][1])["repos"]
    known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for hook in repo["hooks"]} <= known


COMMANDS = sorted(
    {
        command
        for text in (*(text for _, text in SNIPPETS.values()), *fences("sh"), *re.findall(r"`(resilint [^`]+)`", PAGE))
        for command in re.findall(r"(?:^|[ /`])(resilint (?:check|init|baseline|explain)\b[^\n'`]*)", text, re.MULTILINE)
    }
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shown_is_one(command: str) -> None:
    _, name, *arguments = shlex.split(command)
    found = main.commands[name]
    assert isinstance(found.make_context(name, arguments), click.Context)


def test_there_are_commands_to_look_at() -> None:
    assert len(COMMANDS) >= 4


# ---------------------------------------------------------------- the action's own scripts

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def run_step(name: str, tmp_path: Path, work: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a step as the runner does: its script in a file, its `env` as given, no expression inside of the script."""
    step = RUN[name]
    assert "${{" not in step["run"]
    script = tmp_path / f"{name}.sh"
    script.write_text(step["run"])
    unset = dict.fromkeys(set(step["env"]) - set(variables), "")
    environ = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("GITHUB_", "RESILINT_DOCS"))},
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "PYTHONPATH": os.pathsep.join(sys.path),
        **unset,
        **variables,
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(command, cwd=work, env=environ, capture_output=True, text=True, check=False)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository with a fault, and an installation where the first step would have made it."""
    bin = tmp_path / "resilint" / "bin"
    bin.mkdir(parents=True)
    for name, arguments in (("python", ""), ("resilint", "-m resilint.cli ")):
        (bin / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        (bin / name).chmod(0o755)
    work = tmp_path / "work dir"
    (work / "a b").mkdir(parents=True)
    (work / ".git").mkdir()
    (work / "a b" / "app.py").write_text("import requests\nrequests.get('http://x')\n")
    return work


@needs_bash
def test_the_action_annotates_and_writes_what_is_asked_for(tmp_path: Path, work: Path) -> None:
    done = run_step(
        "check",
        tmp_path,
        work,
        PATHS="'a b'",
        ARGS="--no-cache --confidence 'low'",
        SARIF="out put.sarif",
        REPOSITORY="some/resilint",
        REF="v1",
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=a b/app.py,line=2,endLine=2,col=1,")
    assert (tmp_path / "output").read_text() == "sarif=out put.sarif\n"
    assert "| RS101 client\\-without\\-timeout | 1 |" in (tmp_path / "summary").read_text()
    rules = json.loads((work / "out put.sarif").read_text())["runs"][0]["tool"]["driver"]["rules"]
    assert rules[-1]["helpUri"] == f"https://github.com/some/resilint/blob/v1/rule_docs/{rules[-1]['id']}.md"


@needs_bash
def test_what_an_input_holds_is_never_run(tmp_path: Path, work: Path) -> None:
    evil = '$(touch "$RUNNER_TEMP/evil")`touch "$RUNNER_TEMP/evil"`'
    for variables in (
        {"PATHS": f'"{evil}"'},
        {"PATHS": ".", "ARGS": evil},
        {"PATHS": ".", "CHANGED": evil},
        {"PATHS": "--version"},
    ):
        done = run_step("check", tmp_path, work, **variables)
        assert done.returncode == 2 and done.stderr.startswith("resilint: "), done
    assert not (tmp_path / "evil").exists()


@needs_bash
def test_a_quotation_mark_that_is_not_closed_is_said(tmp_path: Path, work: Path) -> None:
    done = run_step("check", tmp_path, work, PATHS="'a b")
    assert (done.returncode, done.stdout) == (2, "::error title=resilint::a quotation mark of the input paths is not closed\n")


@needs_bash
def test_the_action_reports_only_what_is_new(tmp_path: Path, work: Path) -> None:
    if not any("--changed" in option.opts for option in main.commands["check"].params):
        pytest.fail("the input changed-against needs `resilint check --changed`")
    (work / ".git").rmdir()
    for command in ("init -q", "add -A", "-c user.name=x -c user.email=x@example.com commit -qm old"):
        subprocess.run(["git", *command.split()], cwd=work, check=True)
    assert run_step("check", tmp_path, work, PATHS=".", CHANGED="HEAD").returncode == 0
    (work / "new.py").write_text("import requests\nrequests.get('http://x')\n")
    done = run_step("check", tmp_path, work, PATHS=".", CHANGED="HEAD")
    assert done.returncode == 1 and done.stdout.count("::error file=") == 1 and "file=new.py" in done.stdout


@needs_bash
def test_an_old_python_is_said(tmp_path: Path) -> None:
    old = tmp_path / "python3.8"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = run_step("install", tmp_path, tmp_path, PYTHON=str(old), ACTION_PATH=str(ROOT))
    assert done.returncode == 2 and "is not Python 3.11 or newer: use actions/setup-python before" in done.stdout
