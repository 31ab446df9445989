"""Queues declared in the settings: what is declared wins, and what names nothing is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def declare(folder: Path, queues: str) -> None:
    (folder / "svc").mkdir(exist_ok=True)
    (folder / "svc" / "work.py").write_text("import queue\n\n_hot_keys = queue.Queue(maxsize=5)\n")
    (folder / "resilint.yaml").write_text(f"services:\n  account:\n    paths: ['svc/**']\n    queues: {queues}\n")


def test_a_declared_queue_of_that_name_is_fine(toy: Path, resilint: Run) -> None:
    declare(toy, "{hot_keys: {service_time: 16ms}}")
    assert resilint("check", code=0).stderr == ""
    declare(toy, "{_hot_keys: {service_time: 16ms}}")
    assert resilint("check", code=0).stderr == ""


def test_a_declared_queue_that_names_nothing_is_refused(toy: Path, resilint: Run) -> None:
    declare(toy, "{hot_kyes: {service_time: 16ms}}")
    assert resilint("check", code=2).stderr == (
        "resilint: resilint.yaml:4:14: services.account.queues: nothing in the service is named 'hot_kyes'"
        ": did you mean '_hot_keys'?\n"
    )


def test_a_name_outside_of_the_service_does_not_count(toy: Path, resilint: Run) -> None:
    declare(toy, "{inbox: {workers: 2}}")
    (toy / "other.py").write_text("inbox = 1\n")
    assert "nothing in the service is named 'inbox'" in resilint("check", code=2).stderr


def test_the_settings_themselves_do_not_count(toy: Path, resilint: Run) -> None:
    (toy / "work.py").write_text("import queue\n")
    (toy / "resilint.yaml").write_text("services:\n  account:\n    queues: {inbox: {workers: 2}}\n")
    assert "nothing in the service is named 'inbox'" in resilint("check", code=2).stderr
