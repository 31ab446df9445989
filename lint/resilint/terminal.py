"""What the terminal can show, as its environment says: colours, links."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import IO


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether somebody watches. Python gives a program None for a stream that was closed before it started."""
    return stream is not None and stream.isatty()


def wants_color(stream: IO[str] | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to write in colour: never with NO_COLOR, even in a pipe with FORCE_COLOR, else on a terminal that is not dumb."""
    if environ.get("NO_COLOR"):
        return False
    forced = environ.get("FORCE_COLOR")
    if forced:
        return forced.lower() not in ("0", "false")
    return is_terminal(stream) and environ.get("TERM") != "dumb"


_PROGRAMS = frozenset({"ghostty", "Hyper", "iTerm.app", "rio", "Tabby", "vscode", "WarpTerminal", "WezTerm", "zed"})
"""Values of TERM_PROGRAM that show links; others, and terminals that say nothing of themselves, may print them as rubbish."""
_KINDS = re.compile(r"alacritty|foot|xterm-ghostty|xterm-kitty|wezterm")
_MARKS = ("DOMTERM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION")
_VTE = 5001
"""VTE_VERSION from which on links are shown; 0.50.0 itself crashed on them."""


def knows_links(stream: IO[str] | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal shows OSC 8 links. FORCE_HYPERLINK overrides what is known of it."""
    forced = environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced.lower() not in ("0", "false")
    if not is_terminal(stream) or environ.get("TERM") == "dumb" or "CI" in environ:
        return False
    if environ.get("TERM", "").startswith(("screen", "tmux")):
        # They pass on what they do not know, or drop it, each version as it likes.
        return False
    vte = environ.get("VTE_VERSION", "")
    return (
        environ.get("TERM_PROGRAM") in _PROGRAMS
        or _KINDS.match(environ.get("TERM", "")) is not None
        or any(environ.get(mark) for mark in _MARKS)
        or (vte.isdigit() and int(vte) >= _VTE)
    )
