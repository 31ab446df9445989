"""The pre-commit hook: its manifest, and a run as git starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


def test_the_manifest_is_found_under_both_names() -> None:
    assert os.readlink(ROOT / "pre-commit-hooks.yaml") == ".pre-commit-hooks.yaml"
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["id"], hook["entry"], hook["language"]) == ("resilint", "resilint check", "python")


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("a.py", True),
        ("svc/main.go", True),
        ("deploy/values.yml", True),
        (".env", True),
        ("svc/.env.prod", True),
        ("nginx.conf", True),
        ("README.md", False),
        ("a.pyi", False),
        ("environment", False),
    ],
)
def test_the_files_the_hook_is_given(path: str, taken: bool) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (re.search(hook["files"], path) is not None) is taken


def test_a_commit_is_stopped(tmp_path: Path) -> None:
    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        names = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        return subprocess.run(["git", *names, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

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
