"""Spellings that people use, and what is said of them."""

from __future__ import annotations

import pytest
from resilint.knowledge import KnowledgeError, load

ALL = "a number of seconds (or a count), endless or unset"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"slot": "total", "unit": "sec"}, "unit': unknown value 'sec', did you mean 's'?"),
        ({"slot": "total", "unit": "Millis"}, "unit': unknown value 'Millis', did you mean 'ms'?"),
        ({"slot": "total", "unit": "fortnight"}, "unit': unknown value 'fortnight', known are: bool,"),
        ({"slot": "timeout"}, "slot': unknown value 'timeout', did you mean 'total'?"),
        ({"slot": "read_timeout"}, "slot': unknown value 'read_timeout', did you mean 'read'?"),
        ({"slot": "total", "default": "3s"}, f"default': expected {ALL}, not '3s'"),
        ({"slot": "total", "default": "endles"}, "default': unknown value 'endles', did you mean 'endless'?"),
    ],
)
def test_what_people_write(row: dict[str, object], message: str) -> None:
    library = {
        "library": "a",
        "language": "python",
        "calls": [{"names": ["a.get"], "does": "network", "bounds": [{"arg": "t", **row}]}],
    }
    with pytest.raises(KnowledgeError) as problem:
        load([library])
    assert message in str(problem.value)
    assert "\n" not in str(problem.value)
