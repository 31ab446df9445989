"""HAProxy configuration: sections and their directives."""

from __future__ import annotations

import re

from resilint.facts import FileFacts, ReadError, Setting
from resilint.read.comments import line_comments, suppressions
from resilint.read.settings import MAX_ERRORS, bom_length, decoded, numbered, unreadable, untyped_kind, without_collections

_LINE = re.compile(rb"[^\r\n]*+")
_WORD = re.compile(rb"(?:[^\s#\"'\\]++|\\[^\r\n]|\"(?:[^\"\\\r\n]++|\\[^\r\n])*+\"|'[^'\r\n]*+')++")
_SECTIONS = frozenset(
    b"global defaults frontend backend listen resolvers peers userlist mailers program cache ring http-errors log-forward fcgi-app"
    b" crt-store traces log-profile acme".split()
)
_OF_TWO_WORDS = frozenset((b"timeout", b"option", b"no"))
"""Keywords that say what they are about in a second word."""


def read(data: bytes) -> FileFacts:
    """A map for each section, named by its line (`frontend public`), and a setting for each directive in it.

    `timeout client 20s` is the key `timeout client`; repeated names get `#2`, `#3`.
    """
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("haproxy", errors=(problem,))
    out: list[Setting] = []
    errors: list[ReadError] = []
    with without_collections():
        _lines(data, out, errors)
    return FileFacts(
        "haproxy",
        settings=tuple(out),
        suppressions=suppressions(data, line_comments(data, b"#")),
        errors=tuple(errors),
    )


def _lines(data: bytes, out: list[Setting], errors: list[ReadError]) -> None:
    sections: dict[str, int] = {}
    counts: dict[str, int] = {}
    path: tuple[str, ...] = ()
    slot = -1
    at = bom_length(data)
    while at < len(data):
        match = _LINE.match(data, at)
        end = match.end() if match is not None else len(data)
        words = _words(data, at, end)
        if words:
            first = data[words[0][0] : words[0][1]]
            if first in _SECTIONS:
                if slot >= 0:
                    out[slot] = _closed(out[slot], words[0][0], data)
                path = (numbered(" ".join(decoded(data[a:b]) for a, b in words[:4]), sections),)
                counts = {}
                slot = len(out)
                out.append(Setting(path, "", "map", words[0][0], len(data), words[0][0], words[-1][1]))
            elif not path:
                if len(errors) < MAX_ERRORS:
                    errors.append(ReadError(words[0][0], "directive outside of a section"))
            else:
                size = 2 if first in _OF_TWO_WORDS and len(words) > 1 else 1
                key = numbered(" ".join(decoded(data[a:b]) for a, b in words[:size]), counts)
                key_at, key_end = words[0][0], words[size - 1][1]
                text = decoded(data[words[size][0] : words[-1][1]]) if len(words) > size else ""
                value_at, value_end = (words[size][0], words[-1][1]) if len(words) > size else (key_end, key_end)
                out.append(Setting((*path, key), text, untyped_kind(text), value_at, value_end, key_at, key_end))
        at = end + 1
    if slot >= 0:
        out[slot] = _closed(out[slot], len(data), data)


def _words(data: bytes, at: int, end: int) -> list[tuple[int, int]]:
    """The words of a line; a comment ends it."""
    found: list[tuple[int, int]] = []
    while at < end:
        if data[at : at + 1].isspace():
            at += 1
            continue
        match = _WORD.match(data, at, end)
        if match is None:
            # A comment, or a quote that is not closed.
            break
        found.append((at, match.end()))
        at = match.end()
    return found


def _closed(section: Setting, before: int, data: bytes) -> Setting:
    """A section that ends where the next begins."""
    end = max(section.key_end, section.at + len(data[section.at : before].rstrip()))
    return Setting(section.path, "", "map", section.at, end, section.key_at, section.key_end)
