"""Files are read by the workers of a real Dask cluster, and reports are what they are without one, though a worker dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from resilint.intake import ReadersError

pytest.importorskip("distributed", reason="the extra `dask` is not installed")
import dask
import distributed

MODULE = """\
import requests

from .common import fetch


def load_{n}(url, retries=3):
    for attempt in range(retries):
        answer = requests.get(url{argument})
        if answer.ok:
            return [item["name"] for item in answer.json()]
    return fetch(url)

"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Enough for many chunks, in which some files do not parse."""
    root = tmp_path / "tree"
    package = root / "app"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "common.py").write_text("import requests\n\n\ndef fetch(url):\n    return requests.get(url)\n")
    table = f"TABLE = [{', '.join(map(str, range(12_000)))}]\n"
    for index in range(36):
        text = table + "".join(MODULE.format(n=n, argument=", timeout=3" if (n + index) % 3 else "") for n in range(3))
        (package / f"m{index}.py").write_text(text + ("def broken(:\n" if index % 40 == 7 else ""))
    (root / "deploy.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\n")
    return root


@pytest.fixture
def cluster() -> Iterator[object]:
    # A task is given to one more worker, not to three: each takes seconds to start.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as found,
    ):
        yield found


def command(tree: Path, cache: Path | None, *options: str) -> tuple[list[str], dict[str, str]]:
    arguments = ["check", "--exit-zero", "--format", "json", *options, str(tree)]
    if cache is None:
        arguments.append("--no-cache")
    here = [sys.executable, "-m", "resilint.cli", *arguments]
    return here, {**os.environ, "RESILINT_CACHE_DIR": str(cache or tree.parent / "unused")}


def report(text: str) -> object:
    found = json.loads(text)
    del found["stats"]["seconds"]
    return found


def plain(tree: Path) -> object:
    arguments, environment = command(tree, None)
    return report(subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True, timeout=300).stdout)


def test_a_worker_that_is_killed_midway_changes_nothing(tree: Path, tmp_path: Path, cluster: distributed.LocalCluster) -> None:
    expected = plain(tree)
    address = cluster.scheduler_address
    arguments, environment = command(tree, tmp_path / "cache", "--executor", "dask", "--scheduler", address)
    with distributed.Client(address, set_as_default=False) as watcher:
        pids = watcher.run(os.getpid)
        process = subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 120
        while not (busy := [worker for worker, tasks in watcher.processing().items() if tasks]) and time.monotonic() < deadline:
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            time.sleep(0.005)
        os.kill(pids[busy[0]], signal.SIGKILL)
        assert process.poll() is None, "it was over before a worker could die"
        out, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert report(out) == expected

    # What the workers read is in the cache, under the names that a run without them looks for.
    arguments, environment = command(tree, tmp_path / "cache")
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True, timeout=300)
    assert report(done.stdout) == expected


def test_what_kills_all_its_workers_is_read_here(tmp_path: Path, cluster: distributed.LocalCluster) -> None:
    from resilint.cluster import Cluster

    files = {"a.py": b"x = 1\n", "deadly.py": b"", "b.py": b"y = 2\n"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)

    def arm() -> None:
        import resilint.cluster as module

        read = vars(module)["read_bytes"]

        def deadly(data: bytes, path: str, kind: str) -> object:
            if path == "deadly.py":
                os.kill(os.getpid(), signal.SIGKILL)
            return read(data, path, kind)

        vars(module)["read_bytes"] = deadly

    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        client.register_plugin(_Armed(arm))
        chunk = [(name, "python") for name in files]
        found = [one for outcomes in Cluster(cluster.scheduler_address)(tmp_path, [chunk]) for one in outcomes]
    assert sorted(outcome.path for outcome in found) == sorted(files)
    assert all(outcome.facts and not outcome.problem for outcome in found)


class _Armed(distributed.WorkerPlugin):  # type: ignore[misc]
    """Does something in each worker, also in those that take the place of dead ones."""

    def __init__(self, what: object) -> None:
        self.what = what

    def setup(self, worker: object) -> None:
        assert callable(self.what)
        self.what()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--executor", "dask"), "--executor dask needs --scheduler ADDRESS"),
        (("--scheduler", "tcp://localhost:1"), "--scheduler is for --executor dask"),
        (("--executor", "dask", "--scheduler", "nonsense://x"), "--scheduler nonsense://x is no address of a Dask scheduler"),
    ],
)
def test_wrong_usage_is_said_in_one_line(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    arguments, environment = command(tmp_path, None, *options)
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith(f"resilint: {said}")
    assert done.stderr.count("\n") == 1


def test_a_scheduler_without_workers_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resilint.cluster as module

    monkeypatch.setattr(module, "_PATIENCE", 1.0)
    (tmp_path / "a.py").write_text("x = 1\n")
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as empty,
        pytest.raises(ReadersError, match="has no workers"),
    ):
        list(module.Cluster(empty.scheduler_address)(tmp_path, [[("a.py", "python")]]))


def test_workers_of_another_version_are_refused() -> None:
    from resilint.cluster import read_sent

    with pytest.raises(ReadersError, match="install the same on both sides"):
        read_sent("0.0.0 (reader 0)", [])
