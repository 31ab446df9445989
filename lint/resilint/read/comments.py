"""Suppression comments: `# resilint: ignore[RS101] reason`, in any comment syntax, and those that were meant to be some."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from resilint.facts import Suppression
from resilint.text import Lines

_NAME = b"resilint"
# What may be long is limited: a line of a thousand openings without an end would be read a thousand times.
_MARK = re.compile(rb"resilint:[ \t]{0,20}ignore(-file)?[ \t]{0,20}\[([^\[\]\r\n]{0,2000})\]")
_REST = re.compile(rb"[^\r\n]*")
_MEANT = re.compile(
    rb"""
    resilint [ \t]{0,20} (?P<colon>:?) [ \t]{0,20} (?P<word>[A-Za-z][\w-]{0,30})
    (?P<rules>
        [ \t]{0,20} [\[({=:] [^\])}\r\n]{0,200} [\])}]?
      | [ \t]{1,20} [A-Za-z]{2,}[0-9]+ (?: [, \t]+ [A-Za-z]{2,}[0-9]+ ){0,20}
    )?
    (?P<rest> [ \t]{0,20} [^ \t\r\n*-]? )
    """,
    re.VERBOSE,
)
_WORDS = ("ignore", "ignore-file")
_OTHERS = frozenset(
    ("allow", "disable", "disable-line", "disable-next-line", "ignore-next-line", "nolint", "noqa", "off", "skip", "suppress")
)
"""What other tools say instead."""
_MARKERS = b"#/*;!<- \t"
_CLOSERS = ("*/", "-->", "*}", "#}")


CommentAt = Callable[[int], tuple[int, int] | None]
"""Where the comment starts and ends that covers an offset; `None` if none does."""
Extent = Callable[[int], tuple[int, int]]
"""Where that starts and ends which stands at an offset and in whose midst no comment can stand."""


def suppressions(
    data: bytes, comment_at: CommentAt, extent: Extent | None = None, *, behind_values: bool = True
) -> tuple[Suppression, ...]:
    """All suppressions of a file, the first of each comment line. One without codes names no rule, or is mistyped.

    Not `behind_values`: what looks like a comment there is part of the value, so it speaks of no line.
    `comment_at` is asked only where the marker stands, and around such a comment, so that a file without one costs a single search.
    """
    found: list[_Written] = []
    at = data.find(_NAME)
    while at >= 0:
        match = _MARK.match(data, at) or _mistyped(data, at)
        comment = comment_at(at) if match is not None else None
        if match is not None and comment is not None and match.re is _MEANT and not match["rules"]:
            # A bare word is meant for us only where the comment starts with it; further on it is prose about us.
            comment = None if data[max(comment[0], at - 100) : at].strip(_MARKERS) else comment
        if match is None or comment is None:
            at = data.find(_NAME, at + 1)
            continue
        found.append(_Written(match, comment))
        line_end = data.find(b"\n", at)
        at = data.find(_NAME, line_end) if line_end >= 0 else -1
    if not found:
        return ()
    lines, around = Lines(data), _Around(data, comment_at)
    # From the end, so that lines of comment above others need not be walked again.
    return tuple(_suppression(one, data, lines, around, extent, behind_values) for one in reversed(found))[::-1]


@dataclass(frozen=True)
class _Written:
    match: re.Match[bytes]
    comment: tuple[int, int]


def _suppression(
    written: _Written, data: bytes, lines: Lines, around: _Around, extent: Extent | None, behind_values: bool
) -> Suppression:
    match = written.match
    sound = match.re is _MARK
    at, end = match.start(), match.end() if sound else match.end("rules") if match["rules"] else match.end("word")
    reason = ""
    if sound and (rest := _REST.match(data, end)) is not None:
        stop = max(end, min(rest.end(), written.comment[1]))
        reason = data[end:stop].decode("utf-8", "replace")
        end = stop
    for closer in _CLOSERS:
        reason = reason.split(closer)[0]
    reason = reason.strip(" \t:-")
    # What follows in a comment for another tool is no reason.
    reason = "" if reason.startswith(("#", "//")) else reason
    codes = match[2].decode("utf-8", "replace").split(",") if sound else []
    alone, place = around.spoken_of(*written.comment)
    first, last = (place, place) if extent is None else extent(place)
    line, column = lines.place(at)
    counts = alone or behind_values
    return Suppression(
        line=line,
        column=column,
        end_column=column + len(data[at:end].decode("utf-8", "replace")),
        codes=tuple(code.strip() for code in codes if code.strip()),
        reason=reason,
        whole_file=(sound and match[1] is not None and counts),
        own_line=alone,
        first=lines.place(first)[0] if counts else 0,
        last=lines.place(last)[0] if counts else 0,
    )


_BLANK = frozenset(b" \t\r\f\v")
_LINE_FEED = 0x0A
_MOST_BESIDE = 50
"""Comments beside each other on a line that are looked at: a line may consist of nothing else."""


class _Around:
    """What stands beside and below comments."""

    def __init__(self, data: bytes, comment_at: CommentAt) -> None:
        self._data = data
        self._comment_at = comment_at
        self._below: dict[int, int] = {}
        """For the start of a line of comment what it speaks of. Filled from the end of the file."""

    def spoken_of(self, start: int, end: int) -> tuple[bool, int]:
        """Whether a comment has its lines to itself, and a place on the line it speaks of: its own, or the next without comment."""
        before = self._before(start)
        if before is not None:
            return False, before
        behind = self._behind(end)
        if behind is not None:
            return False, behind
        line_start = self._data.rfind(b"\n", 0, start) + 1
        place = self._next_line(end)
        while place < len(self._data) and (comment := self._comment_at(place)) is not None:
            known = self._below.get(self._data.rfind(b"\n", 0, comment[0]) + 1)
            if known is not None:
                place = known
                break
            behind = self._behind(comment[1])
            place = self._next_line(comment[1]) if behind is None else behind
        self._below[line_start] = place
        return True, place

    def _before(self, at: int) -> int | None:
        """The last byte before a comment on its line that belongs to no other comment."""
        data = self._data
        for _ in range(_MOST_BESIDE):
            at -= 1
            while at >= 0 and data[at] in _BLANK:
                at -= 1
            if at < 0 or data[at] == _LINE_FEED:
                return None
            comment = self._comment_at(at)
            if comment is None:
                break
            at = comment[0]
        return at

    def _behind(self, at: int) -> int | None:
        """The first byte behind a comment on its last line that belongs to no other comment."""
        data = self._data
        for _ in range(_MOST_BESIDE):
            at = self._text(at)
            if at >= len(data) or data[at] == _LINE_FEED:
                return None
            comment = self._comment_at(at)
            if comment is None:
                break
            at = comment[1]
        return at

    def _text(self, at: int) -> int:
        """The first byte from here on that is no blank; the end of a line is none."""
        while at < len(self._data) and self._data[at] in _BLANK:
            at += 1
        return at

    def _next_line(self, at: int) -> int:
        """The first byte that is no blank of the line below, which may be its end."""
        end = self._data.find(b"\n", at)
        return len(self._data) if end < 0 else self._text(end + 1)


def _mistyped(data: bytes, at: int) -> re.Match[bytes] | None:
    """The words at `at` if someone meant a suppression: no plain remark that names the tool."""
    match = _MEANT.match(data, at)
    if match is None:
        return None
    word = match["word"].decode("utf-8", "replace").lower()
    rules = match["rules"] or b""
    bracket = rules.lstrip()[:1] == b"["
    if not match["colon"]:
        return match if word in _WORDS and bracket else None
    if word in _WORDS:
        return match
    near = bool(get_close_matches(word, _WORDS, 1, 0.7))
    alone = not rules and not match["rest"].strip()
    return match if bracket or ((near or word in _OTHERS) and (rules or alone)) else None


def line_comments(data: bytes, *markers: bytes) -> CommentAt:
    """`comment_at` for formats whose comments run from a marker, at the start of a line or after white space, to its end.

    Good for configuration files where a marker inside a quoted value together with a suppression is not to be expected.
    """
    marker = re.compile(rb"(?<!\S)(?:" + b"|".join(map(re.escape, markers)) + rb")")
    longest = max(map(len, markers))
    start, end, looked = 0, -1, 0
    comment: int | None = None

    def comment_at(offset: int) -> tuple[int, int] | None:
        nonlocal start, end, looked, comment
        if not (start <= offset <= end and looked <= offset):
            # Another line, or back on this one.
            start = looked = data.rfind(b"\n", 0, offset) + 1
            end = data.find(b"\n", offset)
            end = len(data) if end < 0 else end
            comment = None
        if comment is None:
            match = marker.search(data, max(start, looked - longest), min(offset + longest, end))
            comment = match.start() if match is not None else None
            looked = offset
        return (comment, end) if comment is not None and comment <= offset else None

    return comment_at


def comments_of(data: bytes, tokens: re.Pattern[bytes]) -> CommentAt:
    """`comment_at` for formats with comments over several lines. `tokens` finds those, as its group `comment`, and strings.

    The whole file is looked through once, when the first is asked for.
    """
    found: tuple[list[int], list[int]] | None = None

    def comment_at(offset: int) -> tuple[int, int] | None:
        nonlocal found
        if found is None:
            spans = [match.span("comment") for match in tokens.finditer(data) if match["comment"] is not None]
            found = [start for start, _ in spans], [end for _, end in spans]
        return covering(offset, *found)

    return comment_at


def covering(offset: int, starts: list[int], ends: list[int]) -> tuple[int, int] | None:
    """The one of these spans, which are in order, that covers an offset."""
    index = bisect_right(starts, offset) - 1
    return (starts[index], ends[index]) if index >= 0 and offset < ends[index] else None


def either(*finders: CommentAt) -> CommentAt:
    """`comment_at` for formats with several kinds of comments."""
    return lambda offset: next((span for finder in finders if (span := finder(offset)) is not None), None)
