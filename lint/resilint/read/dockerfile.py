"""Dockerfiles: instructions by their stage, environment variables one by one, commands as text or as lists of words."""

from __future__ import annotations

import re
from bisect import bisect_right

from resilint.facts import FileFacts, Setting
from resilint.read.comments import line_comments, suppressions
from resilint.read.json import scalar
from resilint.read.settings import (
    MAX_ELEMENTS,
    Broken,
    bom_length,
    decoded,
    end_of,
    last_wins,
    numbered,
    unreadable,
    untyped_kind,
    without_collections,
)

_ESCAPE_DIRECTIVE = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:#[ \t]*\w+[ \t]*=[^\n]*\n)*?#[ \t]*escape[ \t]*=[ \t]*([`\\])[ \t]*\r?$", re.IGNORECASE | re.MULTILINE
)
_INSTRUCTION = re.compile(rb"[ \t]*+([A-Za-z]+)(?:[ \t]++|(?=[\r\n]|\Z))")
_LINE = re.compile(rb"[^\n]*+")
_NAME = re.compile(rb"[^\s=\"'\\`]++")
_SPACE = re.compile(rb"\s*+")
_HEREDOC = re.compile(rb"<<-?([\"']?)([A-Za-z_]\w*)\1")
_EXEC = frozenset(("CMD", "ENTRYPOINT", "RUN", "SHELL"))
_WITH_HEREDOC = frozenset(("ADD", "COPY", "RUN"))
_KNOWN = (
    _EXEC
    | _WITH_HEREDOC
    | frozenset(("ARG", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER", "ONBUILD"))
    | frozenset(("STOPSIGNAL", "USER", "VOLUME", "WORKDIR"))
)
_MOST_UNCLOSED = 5
"""Texts below an instruction whose end is looked for in vain: each costs a search to the end of the file."""


def read(data: bytes) -> FileFacts:
    """One setting for each variable of `ENV` and `ARG` and for each other instruction; `doc` counts the stages from 0.

    Lines that are no instruction are passed over, as templates of such files hold them.
    """
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("dockerfile", errors=(problem,))
    reader = _Reader(data)
    with without_collections():
        reader.run()
    by_stage: dict[int, list[Setting]] = {}
    for setting in reader.out:
        by_stage.setdefault(setting.doc, []).append(setting)
    return FileFacts(
        "dockerfile",
        settings=tuple(setting for stage in by_stage.values() for setting in last_wins(stage)),
        suppressions=suppressions(data, line_comments(data, b"#")),
    )


class _Text:
    """What an instruction is given, as one line, and where each byte of it stands in the file."""

    def __init__(self, data: bytes, parts: list[tuple[int, int]]) -> None:
        self.data = b"".join(data[at:end] for at, end in parts)
        self._starts: list[int] = []
        self._places = [at for at, _ in parts]
        length = 0
        for at, end in parts:
            self._starts.append(length)
            length += end - at

    def place(self, index: int, end: bool = False) -> int:
        """Where a byte stands; with `end`, the place behind the byte before."""
        if end and index:
            return self.place(index - 1) + 1
        piece = max(bisect_right(self._starts, index) - 1, 0)
        return self._places[piece] + index - self._starts[piece]


class _Reader:
    """One walk over the instructions."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.out: list[Setting] = []
        self.stage = -1
        self.counts: dict[str, int] = {}
        self.unclosed = 0
        directive = _ESCAPE_DIRECTIVE.match(data)
        self.escape = directive[1] if directive is not None else b"\\"

    def run(self) -> None:
        """Read every instruction."""
        data = self.data
        at = bom_length(data)
        while at < len(data):
            line_end = end_of(_LINE, data, at)
            match = _INSTRUCTION.match(data, at)
            name = decoded(match[1]).upper() if match is not None else ""
            if match is None or match.end() > line_end or name not in _KNOWN:
                at = line_end + 1
                continue
            end, text = self._logical(match.end())
            if name in _WITH_HEREDOC:
                end = self._behind_heredocs(text.data, end)
            self._instruction(name, match.span(1), text)
            at = end + 1

    def _logical(self, at: int) -> tuple[int, _Text]:
        """Where an instruction ends that goes on behind escaped ends of lines and behind comments, and its text."""
        data = self.data
        parts: list[tuple[int, int]] = []
        while True:
            end = end_of(_LINE, data, at)
            line = data[at:end].rstrip()
            if parts and (not line or line.lstrip().startswith(b"#")):
                if end >= len(data):
                    return end, _Text(data, parts)
                at = end + 1
                continue
            goes_on = line.endswith(self.escape)
            parts.append((at, at + len(line) - (1 if goes_on else 0)))
            if not goes_on or end >= len(data):
                return end, _Text(data, parts)
            at = end + 1

    def _behind_heredocs(self, text: bytes, end: int) -> int:
        """Where the texts end that an instruction is given on the lines below it."""
        for match in _HEREDOC.finditer(text):
            if self.unclosed >= _MOST_UNCLOSED:
                break
            closing = re.compile(rb"^[ \t]*+" + re.escape(match[2]) + rb"\r?$", re.MULTILINE).search(self.data, end)
            if closing is not None:
                end = closing.end()
            else:
                self.unclosed += 1
        return end

    def _instruction(self, name: str, key: tuple[int, int], text: _Text) -> None:
        if name == "FROM":
            self.stage += 1
            self.counts = {}
        doc = max(self.stage, 0)
        if name in ("ENV", "ARG"):
            self._variables(name, text, doc)
            return
        path = (numbered(name, self.counts),)
        start = end_of(_SPACE, text.data, 0)
        if name in _EXEC and text.data[start : start + 1] == b"[" and self._words(path, start, key, text, doc):
            return
        stop = len(text.data.rstrip())
        at = text.place(start) if start < stop else key[1]
        said = decoded(text.data[start:stop])
        self.out.append(Setting(path, said, "str", at, text.place(stop, end=True) if start < stop else at, *key, doc))

    def _words(self, path: tuple[str, ...], start: int, key: tuple[int, int], text: _Text, doc: int) -> bool:
        """A command as a JSON list of words; false where it is none, so that the shell gets it."""
        data, at = text.data, start + 1
        items: list[Setting] = []
        while True:
            at = end_of(_SPACE, data, at)
            if data[at : at + 1] == b"]":
                break
            try:
                kind, word, stop = scalar(data, at)
            except Broken:
                return False
            if kind != "str":
                return False
            if len(items) < MAX_ELEMENTS:
                place = text.place(at)
                items.append(Setting((*path, str(len(items))), word, "str", place, text.place(stop, end=True), place, place, doc))
            at = end_of(_SPACE, data, stop)
            if data[at : at + 1] == b",":
                at += 1
            elif data[at : at + 1] != b"]":
                return False
        self.out.append(Setting(path, "", "list", text.place(start), text.place(at) + 1, *key, doc))
        self.out += items
        return True

    def _variables(self, name: str, text: _Text, doc: int) -> None:
        """`K=v K2="v 2"`, or `K the rest of the line`."""
        data, at = text.data, 0
        while (at := end_of(_SPACE, data, at)) < len(data):
            match = _NAME.match(data, at)
            if match is None:
                return
            key = text.place(match.start()), text.place(match.end(), end=True)
            path = (name, decoded(match[0]))
            at = match.end()
            if data[at : at + 1] == b"=":
                value, stop = self._quoted(data, at + 1)
                start = text.place(at) + 1
                end = max(text.place(stop, end=True), start)
                self.out.append(Setting(path, value, untyped_kind(value), start, end, *key, doc))
                at = stop
            elif name == "ARG":
                self.out.append(Setting(path, "", "null", key[1], key[1], *key, doc))
            else:
                start, stop = end_of(_SPACE, data, at), len(data.rstrip())
                if start < stop:
                    value = decoded(data[start:stop])
                    self.out.append(
                        Setting(path, value, untyped_kind(value), text.place(start), text.place(stop, end=True), *key, doc)
                    )
                return

    def _quoted(self, data: bytes, at: int) -> tuple[str, int]:
        """A value up to the next space outside of quotes, as the variable gets it."""
        out = bytearray()
        quote = 0
        while at < len(data):
            byte = data[at]
            if byte == self.escape[0] and at + 1 < len(data) and quote != 0x27:
                out.append(data[at + 1])
                at += 2
                continue
            if quote:
                if byte == quote:
                    quote = 0
                else:
                    out.append(byte)
            elif byte in b"\"'":
                quote = byte
            elif byte in b" \t\r":
                break
            else:
                out.append(byte)
            at += 1
        return decoded(bytes(out)), at
