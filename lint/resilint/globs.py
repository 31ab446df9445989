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
    glued = [segment for segment in pattern.split("/") if "**" in segment and segment != "**"]
    if len(glued) > 2 or any(segment.count("*") > 3 for segment in glued):
        return "too many wildcards in names with `**`"
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
    runs: list[list[str]] = [[]]
    """Folders and names between `**`."""
    for segment in text.removeprefix("/").split("/"):
        if segment != "**":
            runs[-1].append(_segment(segment))
        elif runs[-1] or len(runs) == 1:
            runs.append([])
    first, *middle = runs
    if not middle:
        return "(?:" + "/".join(first) + ")(?:/.*)?"
    last = middle.pop()
    out = [folder + "/" for folder in first]
    # The first place where what stands between two `**` fits is as good as any other, so the rest is never tried (`(?>`):
    # else each wildcard would multiply the ways to fail.
    # A `**` glued to a name crosses slashes itself, and then it is not.
    for run in middle:
        folders = "".join(folder + "/" for folder in run)
        out.append(f"(?:(?:[^/]+/)*{folders})" if ".*" in folders else f"(?>(?:[^/]+/)*?{folders})")
    out.append("(?:[^/]+/)*" + "/".join(last) + "(?:/.*)?" if last else ".*")
    return "(?:" + "".join(out) + ")"


def _segment(text: str) -> str:
    """One folder or name. As with `**`, all but the last `*` take the first place where what follows fits."""
    pieces = [""]
    crosses = "**" in text
    at = 0
    while at < len(text):
        if text.startswith("**", at):
            pieces[-1] += ".*"
            at += 2
        elif text[at] == "*":
            if crosses:
                pieces[-1] += "[^/]*"
            else:
                pieces.append("")
            at += 1
        elif text[at] == "?":
            pieces[-1] += "[^/]"
            at += 1
        elif text[at] == "[" and (close := text.find("]", at + 2)) > 0:
            inner = re.sub(r"[\\\[&~|]", r"\\\g<0>", text[at + 1 : close])
            pieces[-1] += "[" + ("^" + inner[1:] if inner.startswith("!") else inner) + "]"
            at = close + 1
        else:
            pieces[-1] += re.escape(text[at])
            at += 1
    first, *rest = pieces
    if not rest:
        return first
    return first + "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1]) + "[^/]*" + rest[-1]
