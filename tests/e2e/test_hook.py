"""The pre-commit hooks: their manifest, and runs of the real pre-commit, which installs this repository as its users' does."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from resilint.discover import _SUFFIXES, may_be_read

ROOT = Path(__file__).parents[2]
HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}

BOUNDED = "import requests\nfrom limits import TIMEOUT\n\n\ndef load(url):\n    return requests.get(url, timeout=TIMEOUT)\n"
PLAIN = "import requests\n\n\ndef {name}(url):\n    return requests.get(url)\n"

READ = [
    *(f"svc/app{suffix}" for suffix in _SUFFIXES),
    *(f"app{suffix.upper()}" for suffix in _SUFFIXES),
    *(".env", "svc/.env.prod", "nginx.conf", "etc/my.conf", "pom.xml", "src/main/resources/beans.xml", "bin/worker", "Procfile"),
    *("Dockerfile", "svc/Dockerfile.prod", "Containerfile", "build/api.dockerfile", "api.Dockerfile", "sites-enabled/shop.example"),
    *("poetry.lock", "uv.lock", "Pipfile", "Pipfile.lock", "build.gradle", "a/build.gradle.kts", "gradle.lockfile", "go.mod"),
    *("requirements.txt", "requirements-dev.txt", "requirements/base.txt", "haproxy.cfg", "deploy/values.yml"),
]
OTHER = ["README.md", "a.pyi", "notes.txt", "logo.png", "app.ts", "main.rs", "a.html", ".gitignore"]


def test_the_manifest_is_found_under_both_names() -> None:
    assert os.readlink(ROOT / "pre-commit-hooks.yaml") == ".pre-commit-hooks.yaml"


def test_there_is_a_hook_for_what_is_new_and_one_for_everything() -> None:
    assert {name: hook["entry"] for name, hook in HOOKS.items()} == {
        "resilint": "resilint check --changed --staged",
        "resilint-all": "resilint check --staged",
    }
    for hook in HOOKS.values():
        assert (hook["language"], hook["pass_filenames"], hook["require_serial"]) == ("python", False, True)


@pytest.mark.parametrize("hook", HOOKS)
def test_files_are_of_all_kinds_that_are_read(hook: str) -> None:
    files = re.compile(HOOKS[hook]["files"])
    assert [path for path in READ if not may_be_read(path)] == [], "these are examples of what is read"
    assert [path for path in READ if files.search(path) is None] == []
    assert [path for path in OTHER if files.search(path) is not None or may_be_read(path)] == []


# ---------------------------------------------------------------- the real thing

Git = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """In which pre-commit builds hooks without a network: what has to be installed is here already, and is looked up here."""
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    pytest.importorskip("hatchling", reason="hatchling, which builds the hook, is not installed")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT", "PIP_"))}
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit")),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_DEPS": "1",
        "PYTHONPATH": os.pathsep.join(site.getsitepackages()),
    }


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> tuple[Path, str]:
    """This repository as it is now, as one commit, and that commit."""
    top = tmp_path_factory.mktemp("resilint")
    for name in ("lint", "checks", "rule_docs"):
        shutil.copytree(ROOT / name, top / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, top / name)
    git = runner(top, environment)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "release")
    return top, git("rev-parse", "HEAD").stdout.strip()


def runner(top: Path, environment: dict[str, str]) -> Git:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        names = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        return subprocess.run(
            ["git", *names, *arguments], cwd=top, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    return run


@pytest.fixture
def work(tmp_path: Path, release: tuple[Path, str], environment: dict[str, str]) -> tuple[Path, Git]:
    """A repository with a known finding in which pre-commit guards commits."""
    top = tmp_path / "shop"
    top.mkdir()
    git = runner(top, environment)
    git("init", "-q", "-b", "main")
    (top / "old.py").write_text(PLAIN.format(name="old"))
    (top / "load.py").write_text(BOUNDED)
    (top / "limits.py").write_text("TIMEOUT = 3\n")
    repository, commit = release
    hook = {"repo": str(repository), "rev": commit, "hooks": [{"id": "resilint"}, {"id": "resilint-all", "stages": ["manual"]}]}
    (top / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [hook]}))
    git("add", ".")
    assert git("commit", "-qm", "before").returncode == 0
    done = pre_commit(top, environment, "install")
    assert done.returncode == 0, done.stdout + done.stderr
    return top, git


def pre_commit(top: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", *arguments]
    return subprocess.run(command, cwd=top, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_a_commit_is_stopped_by_what_it_brings_and_by_nothing_else(work: tuple[Path, Git]) -> None:
    top, git = work

    def commit(code: int) -> str:
        done = git("commit", "-m", "x")
        said = done.stdout + done.stderr
        assert done.returncode == code, said
        return said

    (top / "notes.md").write_text("nothing to see\n")
    git("add", "notes.md")
    assert "resilint (what is new)" in commit(0)

    (top / "limits.py").write_text("TIMEOUT = None\n")
    git("add", "limits.py")
    said = commit(1)
    assert "load.py:6:38: error RS104" in said and "old.py" not in said, "the finding lies in a file that was not touched"

    (top / "new.py").write_text(PLAIN.format(name="new"))
    (top / "limits.py").write_text("TIMEOUT = 4\n")
    git("add", "limits.py")
    (top / "limits.py").write_text("TIMEOUT = None\n")
    commit(0)
    assert (top / "limits.py").read_text() == "TIMEOUT = None\n" and (top / "new.py").exists(), "what is not staged stays"

    git("add", "-A")
    said = commit(1)
    assert "new.py:5:12: error RS101" in said and "load.py:6:38" in said


def test_a_commit_that_only_deletes_a_file_is_looked_at_too(work: tuple[Path, Git]) -> None:
    top, git = work
    (top / "gateway.yaml").write_text("timeout: 3\n")
    git("add", ".")
    git("commit", "-qnm", "without the hook")
    git("rm", "-q", "gateway.yaml")
    done = git("commit", "-m", "only deletes")
    assert done.returncode == 0
    assert "Passed" in done.stdout + done.stderr and "Skipped" not in done.stdout + done.stderr


def test_a_range_of_commits_is_compared_with_where_it_begins(work: tuple[Path, Git], environment: dict[str, str]) -> None:
    top, git = work
    git("checkout", "-qb", "topic")
    (top / "new.py").write_text(PLAIN.format(name="new"))
    git("add", ".")
    git("commit", "-qnm", "without the hook")
    assert pre_commit(top, environment, "run", "resilint", "--all-files").returncode == 0
    ranged = pre_commit(top, environment, "run", "resilint", "--from-ref", "main", "--to-ref", "HEAD")
    assert ranged.returncode == 1 and "new.py:5:12" in ranged.stdout and "old.py" not in ranged.stdout


def test_the_other_hook_reports_everything(work: tuple[Path, Git], environment: dict[str, str]) -> None:
    top, _ = work
    done = pre_commit(top, environment, "run", "resilint-all", "--all-files", "--hook-stage", "manual")
    assert done.returncode == 1 and "old.py:5:12: error RS101" in done.stdout


def test_without_pre_commit_a_commit_is_stopped_as_well(tmp_path: Path) -> None:
    git = runner(tmp_path, {key: value for key, value in os.environ.items() if not key.startswith("GIT_")})
    git("init", "-q")
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m resilint.cli check $(git diff --cached --name-only)\n')
    hook.chmod(0o755)
    (tmp_path / "a.py").write_text("def f(:\n")
    (tmp_path / "b.py").write_text("def f(:\n")
    git("add", "a.py")
    stopped = git("commit", "-m", "a")
    assert stopped.returncode == 1
    assert "a.py:1:" in stopped.stderr + stopped.stdout and "b.py:1:" not in stopped.stderr + stopped.stdout
    (tmp_path / "a.py").write_text("def f() -> None: ...\n")
    git("add", "a.py")
    assert git("commit", "-m", "a").returncode == 0
