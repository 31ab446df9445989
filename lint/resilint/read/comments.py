"""Suppression comments: `# resilint: ignore[RS101] reason`, in any comment syntax, and those that were meant to be some."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

from resilint.facts import Suppression

_NAME = b"resilint"
# What may be long is limited: a line of a thousand openings without an end would be read a thousand times.
_MARK = re.compile(rb"resilint:[ \t]{0,20}ignore(-file)?[ \t]{0,20}\[([^\]\r\n]{0,2000})\]")
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


def suppressions(data: bytes, comment_at: Callable[[int], int | None]) -> tuple[Suppression, ...]:
    """All suppressions of a file, the first of each comment line. One without codes names no rule, or is mistyped.

    `comment_at(offset)` gives the offset where the comment starts that covers `offset`, or `None` if no comment does;
    it is asked only where the marker stands, in order, so that a file without one costs a single search.
    """
    found: list[Suppression] = []
    line, line_start, column = 1, 0, 1
    before = 0
    """Where `line` and `column` were counted up to: counting from the start each time would take the square of the file."""
    at = data.find(_NAME)
    while at >= 0:
        written = _MARK.match(data, at) or _mistyped(data, at)
        start = comment_at(at) if written is not None else None
        if written is not None and start is not None and written.re is _MEANT and not written["rules"]:
            # A bare word is meant for us only where the comment starts with it; further on it is prose about us.
            start = None if data[max(start, at - 100) : at].strip(_MARKERS) else start
        if written is None or start is None:
            at = data.find(_NAME, at + 1)
            continue
        breaks = data.count(b"\n", before, at)
        if breaks:
            line += breaks
            before = line_start = data.rfind(b"\n", before, at) + 1
            column = 1
        column += len(data[before:at].decode("utf-8", "replace"))
        before = at
        sound = written.re is _MARK
        end = written.end() if sound else written.end("rules") if written["rules"] else written.end("word")
        reason = ""
        if sound and (rest := _REST.match(data, end)) is not None:
            end = rest.end()
            reason = rest[0].decode("utf-8", "replace")
        for closer in _CLOSERS:
            reason = reason.split(closer)[0]
        codes = written[2].decode("utf-8", "replace").split(",") if sound else []
        found.append(
            Suppression(
                line=line,
                column=column,
                end_column=column + len(data[at:end].decode("utf-8", "replace")),
                codes=tuple(code.strip() for code in codes if code.strip()),
                reason=reason.strip(" \t:-"),
                whole_file=(sound and written[1] is not None),
                own_line=not data[line_start:start].strip() if start >= line_start else True,
            )
        )
        line_end = data.find(b"\n", at)
        at = data.find(_NAME, line_end) if line_end >= 0 else -1
    return tuple(found)


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


def line_comments(data: bytes, *markers: bytes) -> Callable[[int], int | None]:
    """`comment_at` for formats whose comments run from a marker, at the start of a line or after white space, to its end.

    Good for configuration files where a marker inside a quoted value together with a suppression is not to be expected.
    """
    marker = re.compile(rb"(?<!\S)(?:" + b"|".join(map(re.escape, markers)) + rb")")
    longest = max(map(len, markers))
    start, end, looked = 0, -1, 0
    comment: int | None = None

    def comment_at(offset: int) -> int | None:
        nonlocal start, end, looked, comment
        if not (start <= offset <= end and looked <= offset):
            # Another line, or back on this one.
            start = looked = data.rfind(b"\n", 0, offset) + 1
            end = data.find(b"\n", offset)
            end = len(data) if end < 0 else end
            comment = None
        if comment is None:
            match = marker.search(data, max(start, looked - longest), offset)
            comment = match.start() if match is not None else None
            looked = offset
        return comment

    return comment_at
