"""What the environment says a terminal can show."""

from __future__ import annotations

import io

import pytest
from resilint.terminal import is_terminal, knows_links, wants_color


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("watched", "environ", "color"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"TERM": "xterm"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, {"FORCE_COLOR": "0"}, False),
    ],
)
def test_color(watched: bool, environ: dict[str, str], color: bool) -> None:
    assert wants_color(Screen() if watched else io.StringIO(), environ) is color


@pytest.mark.parametrize(
    ("environ", "links"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode", "CI": "true"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "screen-256color", "KITTY_WINDOW_ID": "1"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "6800"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "5000"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "none"}, False),
        ({"TERM": "dumb", "WT_SESSION": "1"}, False),
        ({"TERM": "xterm-256color", "WT_SESSION": "1", "FORCE_HYPERLINK": "0"}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_links(environ: dict[str, str], links: bool) -> None:
    assert knows_links(Screen(), environ) is links


def test_a_stream_that_was_closed_before_the_start_is_no_terminal() -> None:
    assert not is_terminal(None) and not wants_color(None, {}) and not knows_links(None, {})
