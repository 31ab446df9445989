"""Completion of commands, options and rules, in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A PATH on which `resilint` is what these tests are of."""
    program = tmp_path / "bin" / "resilint"
    program.parent.mkdir()
    # As installers write it.
    start = "import sys; from resilint.cli import main; sys.argv[0] = 'resilint'; main()"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{start}" "$@"\n')
    program.chmod(0o755)
    (tmp_path / "work" / "services").mkdir(parents=True)
    return {
        **{key: value for key, value in os.environ.items() if key in ("RESILINT_CACHE_DIR", "LANG")},
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": str(tmp_path),
        "TERM": "xterm",
    }


def output(command: list[str], environ: dict[str, str], text: str | None = None) -> str:
    work = Path(environ["HOME"]) / "work"
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ, cwd=work, timeout=60, input=text)
    assert done.returncode == 0 and not done.stderr.replace("bash: no job control in this shell\n", ""), done.stderr
    return done.stdout


BASH = """
eval "$(resilint completion bash)"
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
function=$(complete -p resilint | sed -n 's/.*-F \\([^ ]*\\) .*/\\1/p')
$function resilint "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

CASES = [
    ("resilint ch", {"check"}),
    ("resilint check --form", {"--format"}),
    ("resilint check --format s", {"sarif"}),
    ("resilint explain RS10", {f"RS10{number}" for number in range(1, 10)}),
    ("resilint explain client-w", {"client-without-timeout"}),
    ("resilint check --select RS301,server-w", {"RS301,server-without-timeout"}),
    ("resilint schema k", {"knowledge"}),
]


@needs("bash")
@pytest.mark.parametrize(("words", "offered"), CASES)
def test_bash(words: str, offered: set[str], environ: dict[str, str]) -> None:
    assert set(output(["bash", "--norc", "-c", BASH.format(words=words)], environ).split()) == offered


# What click hands to fish is separated by commas: a list of rules is not completed there.
@needs("fish")
@pytest.mark.parametrize(("words", "offered"), [case for case in CASES if "," not in case[0]])
def test_fish(words: str, offered: set[str], environ: dict[str, str]) -> None:
    script = f"resilint completion fish | source; complete --do-complete '{words}'"
    lines = output(["fish", "--no-config", "-c", script], environ).splitlines()
    assert {line.split("\t")[0] for line in lines} == offered


ZSH = """
autoload -Uz compinit && compinit -u -D
eval "$(resilint completion zsh)"
[[ ${{_comps[resilint]}} == _resilint_completion ]] || print -r "not registered"
compadd() {{ print -rl -- ${{(P)@[-1]}}; }}  # -U -V unsorted -a NAME
_describe() {{ print -rl -- ${{(P)3}}; }}  # -V unsorted NAME -U
words=({words})
CURRENT=${{#words}}
_resilint_completion
"""


@needs("zsh")
@pytest.mark.parametrize(("words", "offered"), CASES)
def test_zsh(words: str, offered: set[str], environ: dict[str, str]) -> None:
    lines = output(["zsh", "-f", "-c", ZSH.format(words=words)], environ).splitlines()
    assert {line.split(":")[0] for line in lines} == offered


@needs("bash")
def test_paths_are_left_to_the_shell(environ: dict[str, str]) -> None:
    (Path(environ["HOME"]) / "work" / "service.py").write_text("")
    script = 'compopt() { echo "compopt $*"; }' + BASH.format(words="resilint check serv")
    assert output(["bash", "--norc", "-c", script], environ).split() == ["compopt", "-o", "default"]


def test_an_unknown_shell_is_refused(environ: dict[str, str]) -> None:
    done = subprocess.run(["resilint", "completion", "csh"], capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 2 and "'csh' is not one of 'bash', 'zsh', 'fish'" in done.stderr
