"""How far a run is, on a terminal, once it takes longer than a second.

A timer's signal draws, not a thread: beside a thread no process may be forked, and rules that run in one would have to wait.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import IO, Any

PATIENCE = 1.0
"""Seconds that nobody wonders about."""
_PAUSE = 0.1
_WIDTH = 30
_UNITS = {"reading": "files", "checking": "rules"}


class Bar:
    """One line at the bottom of a terminal, drawn again and again, gone when the run is over."""

    def __init__(self, stream: IO[str]) -> None:
        self._file = stream.fileno()
        self._start = time.monotonic()
        self._text = ""
        self._drawn = False
        self._last = 0.0
        self._before: Any = None
        self._ticking = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if self._ticking:
            self._before = signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE, _PAUSE)

    def __call__(self, done: int, total: int, stage: str = "reading") -> None:
        """So much of so much is done; without a total nobody knows how much there is."""
        if total:
            filled = _WIDTH * done // total
            self._text = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {stage} {done}/{total} {_UNITS.get(stage, '')}".rstrip()
        else:
            self._text = f"[{'.' * _WIDTH}] {stage}"
        if not self._ticking:
            self._draw()

    def clear(self) -> None:
        """Takes the line away, and the timer."""
        if self._ticking:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
            self._ticking = False
        if self._drawn:
            self._write("\r\x1b[K")
            self._drawn = False

    def _tick(self, number: int, frame: FrameType | None) -> None:
        self._draw()

    def _draw(self) -> None:
        now = time.monotonic()
        if now - self._start < PATIENCE or now - self._last < _PAUSE / 2:
            return
        self._last = now
        text = f"{self._text} {now - self._start:.0f} s"
        with suppress(OSError):
            # Some terminals do not know how wide they are: 0.
            text = text[: (os.get_terminal_size(self._file).columns or 80) - 1]
        self._write(f"\r\x1b[K{text}")
        self._drawn = True

    def _write(self, text: str) -> None:
        # Not through the stream: the signal may come while that is being written to. A lost terminal is no fault of the run.
        with suppress(OSError):
            os.write(self._file, text.encode("ascii", "replace"))
