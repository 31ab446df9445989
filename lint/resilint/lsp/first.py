"""The first answer after a change: what the changed files say of themselves, put together with what is known of the whole program.

The whole answer takes the whole program, and seconds where that is large. The first one begins in the changed files only. So
of these the whole answer may know more, and what the first one says has to be compared with what it said before the change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from difflib import SequenceMatcher
from typing import Any

Message = dict[str, Any]
Line = Callable[[int], int | None]
"""Where a line, counted from 0, of the old text stands in the new one; `None`: it is gone."""

_MOST_PAIRS = 4_000_000
"""Pairs of lines of which it is looked for what they have in common; beyond, they are taken to be other lines."""


def shown(whole: Iterable[Message], before: Iterable[Message], after: Iterable[Message], line: Line, uri: str) -> list[Message]:
    """The entries of one file to show until the whole answer comes: those of the last one, without what the first answer said
    before the change and no longer says, and with what it says anew. What only the whole answer sees stays, moved to its line."""
    told = list(after)
    known = {_key(entry) for entry in whole}
    said, says = {_key(entry) for entry in before}, {_key(entry) for entry in told}
    # What it said and the whole answer denied is denied still.
    found = [entry for entry in told if _key(entry) in known or _key(entry) not in said]
    kept = (entry for entry in whole if _key(entry) not in said and _key(entry) not in says)
    found += [there for entry in kept if (there := moved(entry, line, uri)) is not None]
    return sorted(found, key=lambda entry: (_start(entry), entry["diagnostic"].get("code", ""), entry["diagnostic"]["message"]))


def _key(entry: Message) -> tuple[str, str]:
    diagnostic = entry["diagnostic"]
    return diagnostic.get("code", ""), diagnostic.get("data", {}).get("fingerprint", diagnostic["message"])


def _start(entry: Message) -> tuple[int, int]:
    start = entry["diagnostic"]["range"]["start"]
    return start["line"], start["character"]


def moved(entry: Message, line: Line, uri: str) -> Message | None:
    """An entry of a file, the steps that lead to it and its fix, as its text has moved; none if its line is gone."""
    new = deepcopy(entry)
    ranges = [new["diagnostic"]["range"]]
    steps = [step["location"] for step in new["diagnostic"].get("relatedInformation", ())]
    ranges += [location["range"] for location in steps if location["uri"] == uri]
    if not _move(ranges[0], line):
        return None
    for place in ranges[1:]:
        _move(place, line)
    span = new.get("span")
    if span is not None:
        by = new["diagnostic"]["range"]["start"]["line"] - entry["diagnostic"]["range"]["start"]["line"]
        new["span"] = [span[0] + by, span[1], span[2] + by, span[3]]
    # Where the text of a fix stands now is not known for sure.
    new.pop("fix", None)
    return new


def _move(place: Mapping[str, dict[str, int]], line: Line) -> bool:
    start = line(place["start"]["line"])
    if start is None:
        return False
    by = start - place["start"]["line"]
    place["start"]["line"] += by
    place["end"]["line"] += by
    return True


def lines_of(old: bytes, new: bytes) -> Line:
    """How the lines of a text have moved."""
    rows, others = old.splitlines(), new.splitlines()
    head = 0
    while head < min(len(rows), len(others)) and rows[head] == others[head]:
        head += 1
    tail = 0
    while tail < min(len(rows), len(others)) - head and rows[-1 - tail] == others[-1 - tail]:
        tail += 1
    inner, outer = rows[head : len(rows) - tail], others[head : len(others) - tail]
    places: dict[int, int | None] = {}
    if len(inner) * len(outer) <= _MOST_PAIRS:
        for kind, at, end, to, until in SequenceMatcher(None, inner, outer, autojunk=False).get_opcodes():
            for row in range(at, end):
                # A line that was rewritten is the same line.
                there = head + min(to + row - at, until - 1)
                places[head + row] = None if kind == "delete" else there
    else:
        places = {head + row: head + min(row, len(outer) - 1) if outer else None for row in range(len(inner))}

    def line(number: int) -> int | None:
        if number < head:
            return number
        if number >= len(rows) - tail:
            return number + len(others) - len(rows)
        return places.get(number)

    return line
