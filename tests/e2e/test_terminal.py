"""What somebody at a terminal sees, through a pseudo-terminal."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")

OUTAGE = Path(__file__).parents[2] / "examples" / "outages" / "threadpool" / "broken"
PLAIN = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLUMNS": "100"}
CHECK = ("check", "--no-cache")
SLOW = """
import sys, time
from resilint import registry
from resilint.cli import main

seconds = float(sys.argv.pop(1))

def slow(rule):
    import dataclasses
    def check(program):
        end = time.monotonic() + seconds if rule.code == "RS101" else 0
        while time.monotonic() < end:
            time.sleep(0.01)
        yield from rule.check(program)
    check.__module__ = rule.check.__module__
    return dataclasses.replace(rule, check=check)

known = registry.rules()
registry.rules = lambda: tuple(map(slow, known))
main()
"""


def seen(command: list[str], cwd: Path, environ: Mapping[str, str], *, piped: bool = False) -> tuple[str, str]:
    """What a command writes on its terminal, and into its pipe where it has one for its output."""
    master, slave = pty.openpty()
    try:
        process = subprocess.Popen(
            command, cwd=cwd, env={**environ}, stdin=slave, stderr=slave, stdout=subprocess.PIPE if piped else slave
        )
        os.close(slave)
        screen, pipe = bytearray(), bytearray()
        sources = {master: screen, **({process.stdout.fileno(): pipe} if process.stdout else {})}
        end = time.monotonic() + 60
        while sources:
            ready, _, _ = select.select(list(sources), [], [], max(0.0, end - time.monotonic()))
            assert ready, "nothing more was written, and it did not end"
            for source in ready:
                try:
                    data = os.read(source, 65536)
                except OSError:  # Linux says so when the other end is closed
                    data = b""
                sources[source].extend(data)
                if not data:
                    del sources[source]
        process.wait(10)
        return screen.decode().replace("\r\n", "\n"), pipe.decode()
    finally:
        os.close(master)


def without_bar(screen: str) -> str:
    """What stays when the bar, which a slow machine may draw, is gone."""
    first, *frames = screen.split("\r\x1b[K")
    return first + (frames[-1] if frames else "")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "app.py").write_text("import requests\nrequests.get('http://x')\n")
    return tmp_path / "work"


def resilint(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "resilint.cli", *arguments]


def environ(work: Path, **more: str) -> dict[str, str]:
    return {**PLAIN, "RESILINT_CACHE_DIR": os.environ["RESILINT_CACHE_DIR"], "PYTHONPATH": os.pathsep.join(sys.path), **more}


def test_a_terminal_gets_colours_and_the_next_step(work: Path) -> None:
    screen, _ = seen(resilint(*CHECK), work, environ(work))
    assert "\x1b[31;1merror\x1b[0m \x1b[31mRS101\x1b[0m client-without-timeout" in screen
    assert "1 error in 1 file" in screen
    last = re.sub(r"\x1b\[\d*m", "", screen).splitlines()[-1]
    assert last == "resilint explain RS101: why this matters and what to write instead"
    assert "\x1b]8" not in screen


def test_what_is_shown_already_is_no_next_step(work: Path) -> None:
    (work / "app.py").write_text("import requests\n" + "requests.get('http://x')\n" * 20)
    trace, many = "resilint check --show-trace: where", "resilint check --statistics: how many"
    for path, hint, arguments, shown in (
        (OUTAGE, trace, (), True),
        (OUTAGE, trace, ("--show-trace",), False),
        (work, many, (), True),
        (work, many, ("--statistics",), False),
        (work, "resilint check --diff --unsafe-fixes: how 20 of them could be fixed", (), True),
    ):
        screen, _ = seen(resilint(*CHECK, *arguments), path, environ(work))
        assert (hint in screen) is shown, (hint, arguments)
    (work / "resilint.yaml").write_text("fix: {client_timeout: 2s}\n")
    screen, _ = seen(resilint(*CHECK), work, environ(work))
    assert "resilint check --fix: fix 20 of them" in screen


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"FORCE_COLOR": "0"}])
def test_a_terminal_without_colours_gets_none(work: Path, more: dict[str, str]) -> None:
    screen, _ = seen(resilint(*CHECK), work, environ(work, **more))
    assert "\x1b" not in without_bar(screen) and "resilint explain RS101" in screen


def test_a_pipe_gets_neither_colours_nor_hints_nor_links(work: Path) -> None:
    screen, pipe = seen(resilint(*CHECK), work, environ(work, TERM_PROGRAM="WezTerm"), piped=True)
    assert without_bar(screen) == "" and "RS101" in pipe and "\x1b" not in pipe and "explain" not in pipe


def test_colours_can_be_forced_into_a_pipe(work: Path) -> None:
    _, pipe = seen(resilint(*CHECK), work, environ(work, FORCE_COLOR="1"), piped=True)
    assert "\x1b[31mRS101" in pipe and "explain" not in pipe


def test_a_report_in_a_file_has_neither(work: Path) -> None:
    seen(resilint(*CHECK, "--output", "text:report.txt"), work, environ(work, TERM_PROGRAM="WezTerm", FORCE_COLOR="1"))
    text = (work / "report.txt").read_text()
    assert "RS101" in text and "\x1b" not in text and "explain" not in text


def test_a_code_leads_to_its_page_where_the_terminal_shows_links(work: Path) -> None:
    screen, _ = seen(resilint(*CHECK), work, environ(work, TERM_PROGRAM="WezTerm"))
    link = re.search(r"\x1b\]8;;file://([^\x1b]+)\x1b\\\x1b\[31mRS101\x1b\[0m\x1b\]8;;\x1b\\ client", screen)
    assert link is not None and Path(link[1]).read_text().startswith("# RS101 ")
    screen, _ = seen(resilint(*CHECK), work, environ(work, TERM_PROGRAM="WezTerm", RESILINT_DOCS_URL="https://x.example/{code}"))
    assert "\x1b]8;;https://x.example/RS101\x1b\\" in screen


def test_a_long_run_shows_how_far_it_is_and_leaves_nothing_behind(work: Path) -> None:
    screen, pipe = seen([sys.executable, "-c", SLOW, "1.6", *CHECK], work, environ(work), piped=True)
    frames = screen.split("\r\x1b[K")
    assert len(frames) > 3 and frames[-1] == "" and "RS101" in pipe
    bars = [re.fullmatch(r"\[[#.]{30}\] (\w+)(?: (\d+)/(\d+) \w+)? \d+ s", frame) for frame in frames[1:-1]]
    assert all(bars) and "checking" in {bar[1] for bar in bars if bar}


@pytest.mark.parametrize(("arguments", "more"), [((), {"TERM": "dumb"}), (("--quiet",), {})])
def test_no_bar_is_drawn_where_it_would_disturb(work: Path, arguments: tuple[str, ...], more: dict[str, str]) -> None:
    screen, pipe = seen([sys.executable, "-c", SLOW, "1.3", *CHECK, *arguments], work, environ(work, **more), piped=True)
    assert screen == "" and "RS101" in pipe


def test_a_bar_is_not_wider_than_the_terminal(work: Path) -> None:
    script = "import fcntl,struct,termios,sys,os\nfcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 20, 0, 0))\n" + SLOW
    screen, _ = seen([sys.executable, "-c", script, "1.3", *CHECK], work, environ(work), piped=True)
    frames = screen.split("\r\x1b[K")[1:]
    assert len(frames) > 1 and max(map(len, frames)) == 19
