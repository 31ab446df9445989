"""Places as editors count them, against a count of the text done the slow way."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resilint.lsp.places import Places, width
from resilint.text import Lines

ENCODINGS = ("utf-16", "utf-8", "utf-32")
TEXTS = st.text(st.sampled_from("ab é\U0001f600\n\r\t\x0c\u2028"), max_size=40)


def places(text: str, encoding: str) -> tuple[Places, Lines]:
    data = text.encode()
    lines = Lines(data)
    return Places(data, lines, encoding), lines


def slowly(text: str, at: int, encoding: str) -> tuple[int, int]:
    """Line and unit of the character at an index: `\\n`, `\\r\\n` and `\\r` end a line and nothing else does."""
    rows = re.split(r"\r\n|\n|\r", text[:at] if text[at - 1 : at + 1] != "\r\n" else text[: at - 1])
    units = {"utf-8": lambda row: len(row.encode()), "utf-16": lambda row: len(row.encode("utf-16-le")) // 2, "utf-32": len}
    return len(rows) - 1, units[encoding](rows[-1])


@settings(deadline=None)
@given(TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_every_place_is_where_a_slow_count_finds_it(text: str, encoding: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)))
    found, lines = places(text, encoding)
    position = found.position(*lines.place(len(text[:index].encode())))
    assert (position["line"], position["character"]) == slowly(text, index, encoding)


@settings(deadline=None)
@given(TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_a_place_leads_back_to_its_byte(text: str, encoding: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)).filter(lambda at: text[at - 1 : at + 1] != "\r\n"))
    found, lines = places(text, encoding)
    at = len(text[:index].encode())
    position = found.position(*lines.place(at))
    assert found.offset(position["line"], position["character"]) == at


@pytest.mark.parametrize(("encoding", "units"), [("utf-16", 4), ("utf-8", 7), ("utf-32", 3)])
def test_characters_take_as_many_units_as_their_encoding_needs(encoding: str, units: int) -> None:
    assert width("aé\U0001f600", encoding) == units


def test_past_the_end_is_the_end() -> None:
    found, _ = places("ab\ncd", "utf-16")
    assert found.offset(0, 9) == 2
    assert found.offset(7, 0) == 5
