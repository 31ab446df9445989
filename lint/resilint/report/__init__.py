"""A run's result in the formats that people and programs read, one module per format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from resilint.model import Severity

if TYPE_CHECKING:
    from resilint.run import Result

FORMATS = {kind: f"resilint.report.{kind}" for kind in ("text", "json", "sarif", "github", "gitlab", "junit")}
"""The writer of each format: a module with `write(result, options) -> str`."""


@dataclass(frozen=True)
class Options:
    """What a reader may choose; a format for programs ignores it."""

    color: bool = False
    show_trace: bool = False
    statistics: bool = False
    quiet: bool = False
    """No summary."""
    links: bool = False
    """The terminal shows links."""
    hints: tuple[str, ...] = ()
    """What to do next, below the summary."""
    unsafe_fixes: bool = False
    """Also show fixes that are not safe."""
    fail_on: Severity = Severity.WARNING
    """The least severity that makes the run fail."""


_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Surrogates that stand for no byte."""


def write(result: Result, kind: str, options: Options) -> str:
    """The report in a format of `FORMATS`."""
    report: str = import_module(FORMATS[kind]).write(result, options)
    return report


def printable(path: str) -> str:
    """A path as text: bytes of a file name that are no UTF-8 are replaced, and so are halves of characters in literals of code."""
    path = _HALVES.sub("\ufffd", path)
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def one_line(text: str) -> str:
    """Text from a file or a file's name, safe for a terminal: a control character could move the cursor or change colours."""
    return "".join(char if char.isprintable() else " " if char in "\t\n\r" else "\ufffd" for char in printable(text))
