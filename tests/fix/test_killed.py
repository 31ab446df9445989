"""A run that is killed while it writes fixes leaves each file as it was or as it becomes."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from resilint.fix import Fixer
from resilint.registry import rules
from resilint.run import Session
from resilint.scope import Scope
from resilint.settings import Settings

APP = b"import requests\n\n\ndef page(url):\n    return requests.get(url)\n"
FILES = 40
MODES = (0o644, 0o755, 0o600, 0o640)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A program of files with one fault each; one of them is a link to a file of another name."""
    root = tmp_path / "root"
    root.mkdir()
    for number in range(FILES):
        file = root / f"m{number}.py"
        file.write_bytes(APP)
        file.chmod(MODES[number % 4])
    (root / "source").write_bytes(APP)
    (root / "linked.py").symlink_to("source")
    return root


def fixer_of(root: Path) -> Fixer:
    """All fixes of a program, made in memory and not yet written."""
    fixer = Fixer(root, unsafe=True)
    Session(Scope(root, root), Settings()).result(rules(), rules(), mend=fixer)
    assert len(fixer.changed) == FILES + 1
    return fixer


def written(root: Path, fixer: Fixer) -> int:
    """How many files have their fix; the others are as they were, and nothing else has come of any of them."""
    count = 0
    for path, (old, new) in fixer.changed.items():
        data = (root / path).read_bytes()
        assert data in (old, new), path
        count += data == new
    for number in range(FILES):
        status = os.lstat(root / f"m{number}.py")
        assert stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == MODES[number % 4]
    assert (root / "linked.py").is_symlink() and not (root / "source").is_symlink()
    left = {file.name for file in root.iterdir()} - {"linked.py", "source", *(f"m{number}.py" for number in range(FILES))}
    # What was not yet in its place may lie beside it, under a name that is read as no file of the program.
    assert all(name.startswith(".") and not name.endswith(".py") for name in left) and len(left) < 2
    return count


def test_files_are_whole_whenever_the_run_that_writes_them_is_killed(root: Path) -> None:
    fixer = fixer_of(root)
    rng = random.Random(3)
    seconds, midway = 0.05, 0
    for _ in range(40):
        child = os.fork()
        if not child:
            fixer.write()
            os._exit(0)
        time.sleep(rng.uniform(0, seconds))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        count = written(root, fixer)
        midway += 0 < count <= FILES
        # So that the next one is more likely killed in its midst.
        seconds = seconds * 0.8 if count > FILES else seconds * 1.2 if not count else seconds
        for path, (old, _) in fixer.changed.items():
            (root / path).write_bytes(old)
        for rest in root.glob(".*"):
            rest.unlink()
    assert midway > 5


def test_the_next_run_ends_what_a_killed_one_has_begun(root: Path, tmp_path: Path) -> None:
    fixer = fixer_of(root)
    command = [sys.executable, "-P", "-m", "resilint.cli", "check", "--fix", "--unsafe-fixes", "--jobs", "1"]
    environment = {**os.environ, "RESILINT_CACHE_DIR": str(tmp_path / "cache")}
    run = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    first = root / next(iter(fixer.changed))
    while first.read_bytes() == APP and run.poll() is None:
        time.sleep(0.0005)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert written(root, fixer)
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert written(root, fixer) == FILES + 1
