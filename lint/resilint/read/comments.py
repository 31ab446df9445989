"""Suppression comments: `# resilint: ignore[RS101] reason`, in any comment syntax."""

from __future__ import annotations

import re
from collections.abc import Callable

from resilint.facts import Suppression

_MARK = re.compile(rb"resilint:[ \t]*ignore(-file)?[ \t]*\[([^\]\r\n]*)\]([^\r\n]*)")
_CLOSERS = ("*/", "-->", "*}", "#}")


def suppressions(data: bytes, comment_at: Callable[[int], int | None]) -> tuple[Suppression, ...]:
    """All suppressions of a file.

    `comment_at(offset)` gives the offset where the comment starts that covers `offset`, or `None` if no comment does;
    it is asked only where the marker stands, so that a file without one costs a single search.
    """
    if b"resilint:" not in data:
        return ()
    found = []
    for match in _MARK.finditer(data):
        start = comment_at(match.start())
        if start is None:
            continue
        line_start = data.rfind(b"\n", 0, match.start()) + 1
        reason = match[3].decode("utf-8", "replace")
        for closer in _CLOSERS:
            reason = reason.split(closer)[0]
        codes = tuple(code.strip() for code in match[2].decode("utf-8", "replace").split(",") if code.strip())
        column = len(data[line_start : match.start()].decode("utf-8", "replace")) + 1
        length = len(data[match.start() : match.end()].decode("utf-8", "replace"))
        found.append(
            Suppression(
                line=data.count(b"\n", 0, match.start()) + 1,
                column=column,
                end_column=column + length,
                codes=codes,
                reason=reason.strip(" \t:-"),
                whole_file=match[1] is not None,
                own_line=not data[line_start:start].strip() if start >= line_start else True,
            )
        )
    return tuple(found)


def line_comments(data: bytes, *markers: bytes) -> Callable[[int], int | None]:
    """`comment_at` for formats whose comments run from a marker, at the start of a line or after white space, to its end.

    Good for configuration files where a marker inside a quoted value together with a suppression is not to be expected.
    """

    def comment_at(offset: int) -> int | None:
        line_start = data.rfind(b"\n", 0, offset) + 1
        before = data[line_start:offset]
        best: int | None = None
        for marker in markers:
            at = before.find(marker)
            while at >= 0:
                if at == 0 or before[at - 1 : at] in (b" ", b"\t") or not before[:at].strip():
                    best = at if best is None else min(best, at)
                    break
                at = before.find(marker, at + 1)
        return None if best is None else line_start + best

    return comment_at
