"""The linters beside which resilint is measured, in pinned versions: how each is run, and what it says of the files it read."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpora import CACHE, Unavailable, run
from benchmarks.gauge import Command

PINNED = ("ruff==0.17.6", "semgrep==1.185.0", "bandit==1.9.4")
"""In one environment of their own: semgrep pins much that others want newer."""

LANGUAGES = {".py": ("python", "None"), ".go": ("go", "nil"), ".java": ("java", "null")}
"""What semgrep calls the language, and how that writes nothing."""


@dataclass(frozen=True)
class Rival:
    """A linter. `cold(folder, suffix, work)` runs it as if for the first time, `kept` with what it writes down in `work`.

    `read(output, folder, suffix)`: the files of code that it read, of what it printed; `findings`: how many it printed.
    """

    name: str
    rule: str
    suffixes: tuple[str, ...]
    cold: Callable[[Path, str, Path], Command]
    kept: Callable[[Path, str, Path], Command] | None
    read: Callable[[str, Path, str], int]
    findings: Callable[[str], int]


def environment(cache: Path = CACHE) -> Path:
    """The folder of the programs, installed if they are not there. Raises `Unavailable`."""
    folder = cache / "rivals"
    stamp = folder / "installed"
    wanted = "\n".join(PINNED) + "\n"
    if not (stamp.is_file() and stamp.read_text("utf-8") == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        run([sys.executable, "-m", "venv", str(folder)])
        run([str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PINNED])
        stamp.write_text(wanted, "utf-8")
    return folder / "bin"


def _program(name: str) -> str:
    path = CACHE / "rivals" / "bin" / name
    if not path.is_file():
        raise Unavailable(f"{name} is not installed in {path.parent}")
    return str(path)


# ---------------------------------------------------------------- ruff

_RUFF = ("--isolated", "--no-respect-gitignore", "--config", "exclude = []", "--select", "S113")
_RUFF_REPORT = ("--exit-zero", "--quiet", "--output-format", "json")


def _ruff(folder: Path, suffix: str, work: Path) -> Command:
    return Command((_program("ruff"), "check", *_RUFF, *_RUFF_REPORT, "--no-cache", "."), folder)


def _ruff_kept(folder: Path, suffix: str, work: Path) -> Command:
    return Command((_program("ruff"), "check", *_RUFF, *_RUFF_REPORT, "--cache-dir", str(work / "ruff"), "."), folder)


def _ruff_read(output: str, folder: Path, suffix: str) -> int:
    command = [_program("ruff"), "check", *_RUFF, "--no-cache", "--show-files", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return shown_files(done.stdout, suffix)


def shown_files(output: str, suffix: str) -> int:
    """The files that `ruff check --show-files` lists, those of a suffix."""
    return sum(line.strip().endswith(suffix) for line in output.splitlines())


def ruff_findings(output: str) -> int:
    """The findings of S113 in ruff's JSON, which holds broken syntax too."""
    found = json.loads(output)
    return sum(isinstance(one, dict) and one.get("code") == "S113" for one in found)


# ---------------------------------------------------------------- semgrep


def _semgrep(folder: Path, suffix: str, work: Path) -> Command:
    language, nothing = LANGUAGES[suffix]
    rules = work / "semgrep.yaml"
    rules.write_text(semgrep_rule(language, nothing), "utf-8")
    # Below a git repository the ignore file of that one would count, were the folder not said to be a project.
    options = ("--project-root", ".", "--no-git-ignore", "--max-target-bytes", "0", "--jobs", "2", "--json")
    quiet = ("--metrics", "off", "--disable-version-check")
    home = (("SEMGREP_SETTINGS_FILE", str(work / "semgrep-settings.yaml")),)
    return Command((_program("semgrep"), "scan", "--config", str(rules), *options, *quiet, "."), folder, home)


def semgrep_rule(language: str, nothing: str) -> str:
    """One rule whose pattern holds no text that semgrep could look for in the bytes, to leave files out before it parses them."""
    argument = f"timeout={nothing}" if language == "python" else nothing
    rule = {
        "id": "call-with-nothing",
        "languages": [language],
        "severity": "WARNING",
        "message": "a call that is given nothing",
        "pattern": f"$F(..., {argument}, ...)",
    }
    return json.dumps({"rules": [rule]})


def semgrep_read(output: str, folder: Path, suffix: str) -> int:
    """The files of a suffix that semgrep's JSON says it scanned."""
    return sum(str(path).endswith(suffix) for path in _record(output)["paths"]["scanned"])


def semgrep_findings(output: str) -> int:
    """The findings of semgrep's JSON."""
    return len(_record(output)["results"])


@contextmanager
def everything(folder: Path) -> Iterator[None]:
    """Without an ignore file in the folder, semgrep leaves tests out. An empty one stands there for as long as this lasts."""
    path = folder / ".semgrepignore"
    if path.exists():
        yield
        return
    path.write_bytes(b"")
    try:
        yield
    finally:
        path.unlink()


# ---------------------------------------------------------------- bandit


def _bandit(folder: Path, suffix: str, work: Path) -> Command:
    return Command((_program("bandit"), "-r", ".", "-t", "B113", "-f", "json", "-q", "--exit-zero", "-x", ""), folder)


def bandit_read(output: str, folder: Path, suffix: str) -> int:
    """The files that bandit's JSON has counts of."""
    return sum(path.endswith(suffix) for path in _record(output)["metrics"])


def bandit_findings(output: str) -> int:
    """The findings of bandit's JSON."""
    return len(_record(output)["results"])


def _record(output: str) -> dict[str, Any]:
    """The object of a report, behind whatever a program prints before it."""
    found = json.loads(output[output.index("{") :])
    assert isinstance(found, dict)
    return found


RIVALS = (
    Rival("ruff", "S113", (".py",), _ruff, _ruff_kept, _ruff_read, ruff_findings),
    Rival("semgrep", "one without a literal", (".py", ".go", ".java"), _semgrep, None, semgrep_read, semgrep_findings),
    Rival("bandit", "B113", (".py",), _bandit, None, bandit_read, bandit_findings),
)
