"""Globs over relative posix paths, as settings write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Says whether a path, or a folder it lies in, matches one of the patterns.

    `*` and `?` stop at a slash, `**` does not; a pattern without a slash matches at any depth, one with a slash from the start.
    """
    sources = [_regex(pattern) for pattern in patterns]
    if not sources:
        return lambda path: False
    match = re.compile("|".join(sources), re.DOTALL).fullmatch
    return lambda path: match(path) is not None


def fault(pattern: str) -> str | None:
    """What is wrong with a glob; `None` if nothing is."""
    try:
        matcher([pattern])
    except re.error as problem:
        return str(problem)
    at = pattern.find("[")
    while at >= 0:
        close = pattern.find("]", at + 2)
        if close < 0:
            return "[ without ]; the character itself is written [[]"
        at = pattern.find("[", close)
    return None


def _regex(pattern: str) -> str:
    text = pattern.removeprefix("./").rstrip("/")
    if "/" not in text:
        text = "**/" + text
    text = text.removeprefix("/")
    out: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("**/", at):
            if out[-1:] != ["(?:[^/]+/)*"]:
                # Twice would say the same and be tried in every combination.
                out.append("(?:[^/]+/)*")
            at += 3
        elif text.startswith("**", at):
            out.append(".*")
            at += 2
        elif text[at] == "*":
            out.append("[^/]*")
            at += 1
        elif text[at] == "?":
            out.append("[^/]")
            at += 1
        elif text[at] == "[" and (close := text.find("]", at + 2)) > 0:
            inner = re.sub(r"[\\\[&~|]", r"\\\g<0>", text[at + 1 : close])
            out.append("[" + ("^" + inner[1:] if inner.startswith("!") else inner) + "]")
            at = close + 1
        else:
            out.append(re.escape(text[at]))
            at += 1
    return "(?:" + "".join(out) + ")(?:/.*)?"
