"""Java properties, with the documents (`#---`) and list indices (`[0]`) of Spring."""

from __future__ import annotations

import re

from resilint.facts import FileFacts, ReadError, Setting
from resilint.read.comments import line_comments, suppressions
from resilint.read.settings import MAX_ERRORS, bom_length, decoded, end_of, last_wins, unreadable, untyped_kind, well_formed

_BLANK = re.compile(rb"[ \t\f\r\n]*+")
_LINE = re.compile(rb"[^\r\n]*+")
_KEY = re.compile(rb"(?:[^=: \t\f\r\n\\]++|\\(?:\r\n|(?s:.)|\Z))*+")
_BETWEEN = re.compile(rb"(?:[ \t\f]|\\(?:\r\n|[\r\n]))*+(?:[=:](?:[ \t\f]|\\(?:\r\n|[\r\n]))*+)?")
_VALUE = re.compile(rb"(?:[^\r\n\\]++|\\(?:\r\n|(?s:.)|\Z))*+")
_ESCAPE = re.compile(r"\\(?:(?:\r\n|[\r\n])[ \t\f]*|u([0-9a-fA-F]{4})|(.)|\Z)")
_MEANINGS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SEGMENT = re.compile(r"\[([^\[\]]*)\]|[^.\[]+|\[")


def read(data: bytes) -> FileFacts:
    """One setting for each key; of a key written twice in a document the last."""
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("properties", errors=(problem,))
    settings: list[Setting] = []
    document: list[Setting] = []
    errors: list[ReadError] = []
    doc = 0
    at = bom_length(data)
    while True:
        at = end_of(_BLANK, data, at)
        if at >= len(data):
            break
        if data[at : at + 1] in (b"#", b"!"):
            end = end_of(_LINE, data, at)
            if data[at + 1 : end].rstrip() == b"---":
                settings += last_wins(document)
                document = []
                doc += 1
            at = end
            continue
        key_at, key_end = at, end_of(_KEY, data, at)
        at = end_of(_BETWEEN, data, key_end)
        end = end_of(_VALUE, data, at)
        raw = data[at:end].rstrip()
        if raw.endswith(b"\\") and (len(raw) - len(raw.rstrip(b"\\"))) % 2:
            raw = raw[:-1].rstrip()  # A continuation with nothing behind it.
        text = _meaning(raw, at, errors)
        path = split_key(_meaning(data[key_at:key_end], key_at, errors))
        document.append(Setting(path, text, untyped_kind(text), at, at + len(raw), key_at, key_end, doc))
        at = end
    settings += last_wins(document)
    return FileFacts(
        "properties",
        settings=tuple(settings),
        suppressions=suppressions(data, line_comments(data, b"#", b"!"), behind_values=False),
        errors=tuple(errors),
    )


def split_key(key: str) -> tuple[str, ...]:
    """The segments of a dotted key: `a.b[0].c` is a, b, 0, c; brackets also keep a segment with dots together."""
    path = tuple(match[0] if match[1] is None else match[1] for match in _SEGMENT.finditer(key))
    return path or (key,)


def _meaning(raw: bytes, at: int, errors: list[ReadError]) -> str:
    """Text with its escapes resolved and its lines joined."""
    text = decoded(raw)
    if "\\" not in text:
        return text

    def resolve(match: re.Match[str]) -> str:
        if match[1] is not None:
            return chr(int(match[1], 16))
        char = match[2]
        if char is None:
            return ""
        if char == "u" and len(errors) < MAX_ERRORS:
            errors.append(ReadError(at, "malformed \\u escape"))
        return _MEANINGS.get(char, char)

    return well_formed(_ESCAPE.sub(resolve, text))
