"""Time and memory of a command with all its processes, from the outside: the same for every program that is measured."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PAUSE = 0.05
"""Seconds between two looks at the memory."""


class Failed(Exception):
    """A command ended as it should not; says which, how, and what it said last."""


@dataclass(frozen=True)
class Run:
    """A command that has run: wall clock, processor time of it and of the processes that it waited for, and what it printed."""

    seconds: float
    cpu: float
    output: str


@dataclass(frozen=True)
class Peak:
    """Memory in bytes at its highest: of the largest process, and of all at the same moment, what they share counted once."""

    largest: int
    together: int


@dataclass(frozen=True)
class Command:
    """What is run, where, with which additions to the environment, and the exit statuses that are no failure."""

    words: tuple[str, ...]
    folder: Path | None = None
    environment: tuple[tuple[str, str], ...] = ()
    good: tuple[int, ...] = (0,)


def timed(command: Command) -> Run:
    """Runs a command to its end. Raises `Failed`."""
    run, _ = _run(command, None)
    return run


def peak_of(command: Command) -> Peak:
    """Runs a command and looks at its memory meanwhile, which costs it time: a run of its own. Raises `Failed`."""
    largest = together = 0

    def look(process: int) -> None:
        nonlocal largest, together
        found = [memory for one in family(process) if (memory := memory_of(one)) is not None]
        largest = max([largest, *(peak for peak, _ in found)])
        together = max(together, sum(share for _, share in found))

    _, largest_waited = _run(command, look)
    # Both are looked at only now and then: what one process has had, all had too. What the kernel says at the end counts from
    # before the command took the place of this process's copy.
    if largest_waited > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024:
        largest = max(largest, largest_waited)
    return Peak(largest, max(together, largest))


def _run(command: Command, look: Callable[[int], None] | None) -> tuple[Run, int]:
    # Every program finds its modules compiled, as where it is installed.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **dict(command.environment)}
    # Files, not pipes: nobody has to read along, and no program waits for a reader.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command.words, cwd=command.folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors
        )
        if look is None:
            _, status, used = os.wait4(process.pid, 0)
        else:
            while True:
                look(process.pid)
                found, status, used = os.wait4(process.pid, os.WNOHANG)
                if found:
                    break
                time.sleep(PAUSE)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    if process.returncode not in command.good:
        words = (texts[1].strip() or texts[0].strip()).splitlines()
        last = words[-1] if words else "no message"
        raise Failed(f"{' '.join(command.words)} ended with {process.returncode}: {last}")
    return Run(seconds, used.ru_utime + used.ru_stime, texts[0]), used.ru_maxrss * 1024


def family(process: int, proc: Path = Path("/proc")) -> list[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for folder in proc.iterdir():
        if folder.name.isdigit():
            with suppress(OSError, ValueError):
                # The name, in brackets, may hold anything: the parent is the second word behind it.
                parent = int((folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(folder.name))
    found = [process]
    for one in found:
        found += children.get(one, ())
    return found


def memory_of(process: int, proc: Path = Path("/proc")) -> tuple[int, int] | None:
    """The highest resident size that a process has had, and its share now; none if it has ended.

    The share is its PSS: of a page that two processes have, half.
    """
    try:
        status = fields_of((proc / str(process) / "status").read_text("utf-8", "replace"))
        shares = fields_of((proc / str(process) / "smaps_rollup").read_text("utf-8", "replace"))
    except OSError:
        return None
    peak = status.get("VmHWM")
    return None if peak is None else (peak, shares.get("Pss", 0))


def fields_of(text: str) -> Mapping[str, int]:
    """The sizes that a file of /proc states in kB, in bytes."""
    sizes = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        words = value.split()
        if len(words) == 2 and words[1] == "kB" and words[0].isdigit():
            sizes[name] = int(words[0]) * 1024
    return sizes
