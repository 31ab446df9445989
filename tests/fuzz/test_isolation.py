"""The same bytes come out whatever is around a run; nothing that is analysed runs, and only cache and output are written."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .mutations import trees

RESILINT = (sys.executable, "-P", "-m", "resilint.cli")
SECONDS = re.compile(r'"seconds": [\d.]+')


def program(root: Path, names: list[str]) -> None:
    """Cases beside each other, and so much padding that several processes pay; files are made in the order of `names`."""
    cases = random.Random(7).sample(trees(), 40)
    files = {f"part{n}/{path}": data for n, tree in enumerate(cases) for path, data in tree.items() if path != "resilint.yaml"}
    padding = "".join(f"def f{n}(x):\n    return g{n}(x, timeout={n})\n\n" for n in range(2500)).encode()
    files |= {f"padding{n}.py": padding * 3 for n in range(4)}
    for path in sorted(files, key=lambda path: (names[0] == "up", path), reverse=names[0] == "down"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(files[path])


def checked(root: Path, cache: Path | None, *arguments: str, limit: int | None = None, **environment: str) -> str:
    """What a run of its own prints, without the time it took."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [*RESILINT, "check", "--format", "json", "--confidence", "low", *arguments],
        cwd=root,
        env={**os.environ, "RESILINT_CACHE_DIR": str(cache or root.parent / "none"), **environment},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited,
    )
    assert done.returncode == 1, done.stderr
    return SECONDS.sub("", done.stdout)


def test_the_same_bytes_for_any_order_seed_number_of_processes_and_cache(tmp_path: Path) -> None:
    for name in ("up", "down"):
        program(tmp_path / name, [name])
    first = checked(tmp_path / "up", None, "--no-cache", "--jobs", "1", PYTHONHASHSEED="1")
    assert first.count('"code"') > 8
    cache = tmp_path / "cache"
    for number, (folder, jobs) in enumerate((("down", "2"), ("up", "1"), ("up", "3"))):
        assert checked(tmp_path / folder, cache, "--jobs", jobs, PYTHONHASHSEED=str(number * 77)) == first
    # Facts that are known, and rules that are asked again.
    (tmp_path / "down" / "padding0.py").touch()
    assert checked(tmp_path / "down", cache, "--ignore", "RS003", PYTHONHASHSEED="5") == first


# ---------------------------------------------------------------- the cache under stress


@pytest.fixture
def small(tmp_path: Path) -> Path:
    root = tmp_path / "small"
    for number in range(60):
        file = root / f"m{number}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"import requests\n\nrequests.get('http://u{number}/')\n")
    return root


def start(root: Path, cache: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*RESILINT, "check", "--format", "json", "--confidence", "low", *arguments],
        cwd=root,
        env={**os.environ, "RESILINT_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ten_runs_at_once_share_one_cache(small: Path, tmp_path: Path) -> None:
    wanted = checked(small, None, "--no-cache")
    # What they all find there first is no database.
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "facts.sqlite3").write_bytes(b"no database " * 1000)
    runs = [start(small, cache) for _ in range(10)]
    for run in runs:
        out, said = run.communicate(timeout=120)
        assert run.returncode == 1 and SECONDS.sub("", out) == wanted, said
    assert checked(small, cache) == wanted


def test_a_run_that_is_killed_costs_the_next_one_nothing(small: Path, tmp_path: Path) -> None:
    wanted = checked(small, None, "--no-cache")
    cache = tmp_path / "cache"
    for moment in ("facts.sqlite3", "facts.sqlite3-wal"):
        run = start(small, cache)
        end = time.monotonic() + 30
        while not (cache / moment).exists() and run.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        assert checked(small, cache) == wanted
        shutil.rmtree(cache)


@pytest.mark.parametrize("room", [0, 5000, 60_000])
def test_a_full_disk_costs_the_cache_only(room: int, small: Path, tmp_path: Path) -> None:
    assert checked(small, tmp_path / "cache", limit=room) == checked(small, None, "--no-cache")


def test_a_home_that_cannot_be_written_is_no_fault(small: Path) -> None:
    assert checked(small, Path("/proc/self/no-cache")) == checked(small, None, "--no-cache")


# ---------------------------------------------------------------- nothing runs, nothing leaks

EVIL = (
    "import os, socket\nopen({marker!r}, 'a').write(__name__)\nsocket.socket().connect(('127.0.0.1', 9))\nos.system('touch ran')\n"
)
MODULES = (
    *("conftest", "setup", "sitecustomize", "usercustomize", "resilint_checks", "yaml", "click", "msgspec", "pickle", "signal"),
    *("multiprocessing", "concurrent", "sqlite3", "json", "tree_sitter", "typing", "re", "main", "__init__"),
)
CONFIG = """\
[core]
	fsmonitor = touch ran
	hooksPath = hooks
	alternateRefsCommand = touch ran
	sshCommand = touch ran
	pager = touch ran
[filter "evil"]
	clean = touch ran
	smudge = touch ran
	process = touch ran
[diff "evil"]
	textconv = touch ran
	command = touch ran
[diff]
	external = touch ran
[credential]
	helper = !touch ran
"""


@pytest.fixture
def provoking(tmp_path: Path) -> Path:
    """A repository that tries to be run: by what imports from here, and by what git is told to start."""
    root = tmp_path / "provoking"
    root.mkdir()
    for name in MODULES:
        (root / f"{name}.py").write_text(EVIL.format(marker=str(root / "ran")))
    for number in range(3):
        (root / f"large{number}.py").write_text("x = 1\n" + "# So much that it is read in several processes.\n" * 10_000)
    (root / "fault.py").write_text("import requests\n\nrequests.get('http://users/')\n")
    (root / "pyproject.toml").write_text('[build-system]\nrequires = ["./evil"]\nbuild-backend = "setup"\n')
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, "commit", "-qm", "a", "--allow-empty"], cwd=root, check=True)
    with open(root / ".git" / "config", "a") as stream:
        stream.write(CONFIG)
    (root / "hooks").mkdir()
    for hook in ("pre-commit", "post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (root / "hooks" / hook).write_text("#!/bin/sh\ntouch ran\n")
        (root / "hooks" / hook).chmod(0o755)
    return root


class Watched:
    """What a run of its own and all its processes did: to Python's functions, and, where there is strace, to the system."""

    def __init__(self, root: Path, work: Path, *arguments: str) -> None:
        (work / "tmp").mkdir()
        # As the installed command does; `-P` would be handed on to the workers, and keep the folder from them.
        command = work / "command" / "resilint"
        command.parent.mkdir()
        command.write_text("from resilint.cli import main\n\nif __name__ == '__main__':\n    main()\n")
        run = [sys.executable, str(command), "check", *arguments]
        log, events = work / "strace.log", work / "events.log"
        if shutil.which("strace") is not None and _may_trace():
            run = ["strace", "-f", "-qq", "-y", "-s", "400", "-e", f"trace={CALLS}", "-o", str(log), *run]
        done = subprocess.run(
            run,
            cwd=root,
            env={
                **os.environ,
                "RESILINT_CACHE_DIR": str(work / "cache"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TMPDIR": str(work / "tmp"),
                "PYTHONPATH": os.pathsep.join(filter(None, (str(AUDIT), os.environ.get("PYTHONPATH")))),
                "RESILINT_AUDIT_LOG": str(events),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1 and "RS101" in done.stdout + done.stderr, done.stderr
        self.events: list[list[str]] = [json.loads(line) for line in events.read_text().splitlines()]
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        self.calls = [line for line in lines if " = -1 " not in line and "resumed" not in line]

    def about(self, *events: str) -> list[str]:
        """What the events of these names were about."""
        return [" ".join(event[1:]) for event in self.events if event[0].startswith(events)]


AUDIT = Path(__file__).parent / "audit"
CALLS = "execve,execveat,socket,connect,bind,sendto,open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir"


def _may_trace() -> bool:
    done = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("options", [(), ("--changed",), ("--diff", "--unsafe-fixes")], ids=" ".join)
def test_a_tree_that_tries_to_be_run_is_not(options: tuple[str, ...], provoking: Path, tmp_path: Path) -> None:
    run = Watched(provoking, tmp_path, "--jobs", "2", "--show-trace", *options)
    allowed = (str(tmp_path / "cache"), str(tmp_path / "tmp"), "/dev/null", "/dev/shm/", "/dev/tty")
    assert not (provoking / "ran").exists()

    # Python's own notes. Workers are Python too, and start as this process knows how to start them.
    assert len([one for one in run.about("start") if "spawn_main" in one]) >= 1
    assert all(one.split()[0] == "git" for one in run.about("subprocess.", "os.exec", "os.posix_spawn", "os.spawn", "os.system"))
    assert not run.about("socket.")
    assert run.about("exec") and not [one for one in run.about("exec") if one.startswith(str(provoking)) or not one]
    assert len(run.about("sqlite3.connect")) >= 1
    written = run.about(
        "open", "sqlite3.connect", "os.re", "os.mk", "os.rm", "os.link", "os.sym", "os.ch", "os.tr", "os.ut", "shutil."
    )
    assert not [one for one in written if not any(place in one for place in allowed)]

    # The same of the system, which sees libraries in C and the processes of git besides.
    if not run.calls:
        return
    started = {match[1] for line in run.calls if (match := re.search(r'execve(?:at)?\((?:[^"]*)"([^"]+)"', line))}
    assert {Path(one).name.rstrip("0123456789.") for one in started} <= {"python", "git"}
    assert len([line for line in run.calls if "execve" in line and "spawn_main" in line]) >= 1
    assert not [line for line in run.calls if re.search(r"\b(?:socket|connect|bind)\(", line)]
    opened = [line for line in run.calls if re.search(r"O_WRONLY|O_RDWR|O_CREAT|\b(?:creat|rename\w*|unlink\w*|mkdir)\(", line)]
    assert not [line for line in opened if not any(place in line for place in (*allowed, str(tmp_path / "events.log")))]


def test_what_a_program_does_to_the_world_is_noted(tmp_path: Path) -> None:
    """The twin of the test above: its notes would show what it asks them for."""
    (tmp_path / "evil.py").write_text(EVIL.format(marker=str(tmp_path / "ran")).replace("connect(", "connect_ex("))
    events = tmp_path / "events.log"
    environment = {**os.environ, "PYTHONPATH": str(AUDIT), "RESILINT_AUDIT_LOG": str(events)}
    subprocess.run([sys.executable, "-c", "import evil"], cwd=tmp_path, env=environment, check=True)
    noted = [json.loads(line) for line in events.read_text().splitlines()]
    assert {"start", "open", "exec", "socket.__new__", "socket.connect", "os.system"} <= {event[0] for event in noted}
    assert ["exec", str(tmp_path / "evil.py")] in noted and ["open", str(tmp_path / "ran")] in noted


def test_workers_end_with_their_main_process(tmp_path: Path) -> None:
    root = tmp_path / "large"
    root.mkdir()
    for number in range(40):
        (root / f"large{number}.py").write_text("".join(f"def f{n}(x):\n    return g{n}(x)\n\n" for n in range(9000)))
    run = start(root, tmp_path / "cache", "--jobs", "2")
    mark = str(run.pid)
    workers: list[str] = []
    end = time.monotonic() + 60
    while not workers and run.poll() is None and time.monotonic() < end:
        workers = [pid for pid in _processes() if _parent(pid) == mark and b"spawn_main" in _command(pid)]
        time.sleep(0.01)
    assert workers
    run.send_signal(signal.SIGKILL)
    run.communicate()
    while any(b"spawn_main" in _command(pid) for pid in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in workers if b"spawn_main" in _command(pid)]


def _processes() -> list[str]:
    if not Path("/proc/self/stat").exists():
        pytest.skip("there is no /proc to look for processes in")
    return [name for name in os.listdir("/proc") if name.isdigit()]


def _parent(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    except OSError:
        return ""


def _command(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
