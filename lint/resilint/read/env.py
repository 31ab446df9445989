"""Environment files: `KEY=value` lines as Docker Compose and dotenv read them, or as a Makefile that includes the file."""

from __future__ import annotations

import re

from resilint.facts import FileFacts, ReadError, Setting
from resilint.read.comments import line_comments, suppressions
from resilint.read.settings import MAX_ERRORS, bom_length, decoded, end_of, last_wins, unreadable, untyped_kind

_BLANK = re.compile(rb"\s*+")
_LINE = re.compile(rb"[^\r\n]*+")
_KEY = re.compile(rb"(?:export[ \t]++)?+([A-Za-z_][A-Za-z0-9_.-]*+)[ \t]*+((?:\?|::?)?=[ \t]*+)?")
_DOUBLE = re.compile(rb'"(?:[^"\\]++|\\(?s:.))*+"')
_SINGLE = re.compile(rb"'[^']*+'")
_COMMENT = re.compile(rb"(?:^|[ \t])#")
_ESCAPE = re.compile(r"\\(?:\r?\n|([nrtfv\"'\\$`]))")
_MEANINGS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}


def read(data: bytes) -> FileFacts:
    """One setting for each variable; of one set twice the last. Nothing in a value is expanded."""
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("env", errors=(problem,))
    settings: list[Setting] = []
    errors: list[ReadError] = []
    at = bom_length(data)
    # From where on no quote closes, so that a file full of open quotes is not searched to its end for each.
    unclosed = {b'"': len(data), b"'": len(data)}
    while True:
        at = end_of(_BLANK, data, at)
        if at >= len(data):
            break
        line_end = end_of(_LINE, data, at)
        if data[at : at + 1] == b"#":
            at = line_end
            continue
        match = _KEY.match(data, at)
        if match is None or (match[2] is None and match.end() < line_end and data[match.end() : match.end() + 1] != b"#"):
            if len(errors) < MAX_ERRORS:
                errors.append(ReadError(at, "not a KEY=value line"))
            at = line_end
            continue
        key_at, key_end = match.span(1)
        path = (decoded(match[1]),)
        at = match.end()
        if match[2] is None:
            settings.append(Setting(path, "", "null", key_end, key_end, key_at, key_end))
            at = line_end
            continue
        quote = data[at : at + 1]
        if quote in unclosed:
            quoted = (_DOUBLE if quote == b'"' else _SINGLE).match(data, at) if at < unclosed[quote] else None
            if quoted is not None:
                text = decoded(quoted[0][1:-1])
                if quote == b'"' and "\\" in text:
                    text = _ESCAPE.sub(_meaning, text)
                settings.append(Setting(path, text, untyped_kind(text), at, quoted.end(), key_at, key_end))
                at = end_of(_LINE, data, quoted.end())
                continue
            unclosed[quote] = min(at, unclosed[quote])
            if len(errors) < MAX_ERRORS:
                errors.append(ReadError(at, "quote is not closed"))
            at = line_end
            continue
        raw = data[at:line_end]
        comment = _COMMENT.search(raw)
        raw = (raw if comment is None else raw[: comment.start()]).rstrip()
        text = decoded(raw)
        settings.append(Setting(path, text, untyped_kind(text), at, at + len(raw), key_at, key_end))
        at = line_end
    return FileFacts(
        "env",
        settings=tuple(last_wins(settings)),
        suppressions=suppressions(data, line_comments(data, b"#")),
        errors=tuple(errors),
    )


def _meaning(match: re.Match[str]) -> str:
    char = match[1]
    return "" if char is None else _MEANINGS.get(char, char)
