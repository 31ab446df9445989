"""What a run says of how far it is, and what the bar makes of it."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from resilint import registry
from resilint.progress import PATIENCE, Bar
from resilint.run import run
from resilint.scope import scope_of
from resilint.settings import load


def test_a_run_tells_of_each_of_its_stages(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("import requests\nrequests.get('http://x')\n")
    heard: list[tuple[str, int, int]] = []

    def listen(done: int, total: int, stage: str = "reading") -> None:
        heard.append((stage, done, total))

    known = registry.rules()
    scope = scope_of((str(tmp_path),), None, tmp_path)
    run(scope, load(scope.root), known, known, progress=listen)
    assert list(dict.fromkeys(stage for stage, *_ in heard)) == ["reading", "linking", "checking"]
    assert heard[1] == ("reading", 2, 2)
    checked = [(done, total) for stage, done, total in heard if stage == "checking"]
    assert checked == [(number, len(known)) for number in range(len(known))]


@pytest.fixture
def bar() -> Iterator[tuple[Bar, int]]:
    """A bar that draws into a pipe, and the end from which that can be read."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with os.fdopen(writer, "w") as stream:
        yield Bar(stream), reader


def test_the_bar_takes_away_its_signal(bar: tuple[Bar, int]) -> None:
    before = signal.SIG_DFL
    bar[0](1, 2)
    bar[0].clear()
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_nothing_is_drawn_of_a_short_run(bar: tuple[Bar, int]) -> None:
    bar[0](1, 2)
    bar[0].clear()
    with pytest.raises(BlockingIOError):
        os.read(bar[1], 100)


def test_it_is_drawn_while_something_takes_long(bar: tuple[Bar, int]) -> None:
    bar[0](15, 30, "checking")
    end = time.monotonic() + PATIENCE + 0.3
    while time.monotonic() < end:
        pass
    bar[0].clear()
    drawn = os.read(bar[1], 10_000).decode()
    assert re.match(r"\r\x1b\[K\[#{15}\.{15}\] checking 15/30 rules \d+ s\r\x1b\[K", drawn) and drawn.endswith("\r\x1b[K")


def test_a_terminal_that_is_gone_ends_no_run(bar: tuple[Bar, int]) -> None:
    os.close(bar[1])
    bar[0](0, 0, "linking")
    time.sleep(PATIENCE + 0.3)
    bar[0].clear()
