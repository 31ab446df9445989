"""nginx configuration: directives, their arguments, the blocks they stand in."""

from __future__ import annotations

import re

from resilint.facts import FileFacts, ReadError, Setting
from resilint.read.comments import line_comments, suppressions
from resilint.read.settings import (
    MAX_DEPTH,
    MAX_ERRORS,
    bom_length,
    decoded,
    numbered,
    unreadable,
    untyped_kind,
    without_collections,
)

_BLANK = re.compile(rb"(?:\s++|#[^\n]*+)*+")
_WORD = re.compile(rb"(?:[^\s;{\\$]++|\\(?s:.)|\\\Z|\$\{?+)++")
_QUOTED = {34: re.compile(rb'"(?:[^"\\]++|\\(?s:.))*+"'), 39: re.compile(rb"'(?:[^'\\]++|\\(?s:.))*+'")}
_ESCAPE = re.compile(r"\\([\"'\\trn])")
_MEANINGS = {"t": "\t", "r": "\r", "n": "\n"}
_LUA_TOKEN = re.compile(rb"--\[=*\[|--|\[=*\[|[\"'{}]")
_LUA_STRING = {34: re.compile(rb'"(?:[^"\\\n]++|\\(?s:.))*+"?'), 39: re.compile(rb"'(?:[^'\\\n]++|\\(?s:.))*+'?")}
"""Up to the end of its line where it is not closed."""


def read(data: bytes) -> FileFacts:
    """A map for each block, a setting for each other directive; repeated ones among siblings get `#2`, `#3`."""
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("nginx", errors=(problem,))
    reader = _Reader(data)
    with without_collections():
        reader.run()
    return FileFacts(
        "nginx",
        settings=tuple(reader.out),
        suppressions=suppressions(data, line_comments(data, b"#")),
        errors=tuple(reader.errors),
    )


class _Reader:
    """One walk over the words."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.out: list[Setting] = []
        self.errors: list[ReadError] = []
        self.path: tuple[str, ...] = ()
        self.counts: dict[str, int] = {}
        self.stack: list[tuple[int, tuple[str, ...], dict[str, int]]] = []
        """For each open block its place in `out`, and the path and counts around it."""
        self.words: list[str] = []
        """The words since the last directive ended, and where they stand."""
        self.spans: list[tuple[int, int]] = []

    def run(self) -> None:
        """Read up to the end or a place where reading cannot go on."""
        data = self.data
        at = bom_length(data)
        while True:
            match = _BLANK.match(data, at)
            at = at if match is None else match.end()
            if at >= len(data):
                break
            byte = data[at]
            if byte == 0x3B:  # ;
                if self.words:
                    self._directive()
                else:
                    self._error(at, "semicolon without a directive")
                at += 1
            elif byte == 0x7B:  # {
                stop = self._block(at)
                if stop is None:
                    break
                at = stop
            elif byte == 0x7D:  # }
                if self.words:
                    self._error(self.spans[-1][1], "directive does not end in a semicolon")
                    self._directive()
                at += 1
                if self.stack:
                    self._close(at)
                else:
                    self._error(at - 1, "closing brace without a block")
            else:
                pattern = _QUOTED.get(byte, _WORD)
                match = pattern.match(data, at)
                if match is None:
                    self._error(at, "quote is not closed")
                    self.words = []
                    break
                raw = decoded(match[0] if pattern is _WORD else match[0][1:-1])
                self.words.append(_ESCAPE.sub(_meaning, raw) if "\\" in raw else raw)
                self.spans.append(match.span())
                at = match.end()
        if self.words:
            self._error(self.spans[-1][1], "directive does not end in a semicolon")
            self._directive()
        if self.stack:
            self._error(self.out[self.stack[-1][0]].at, "block is not closed")
        while self.stack:
            self._close(min(at, len(data)))

    def _directive(self) -> None:
        """List the directive whose words were read."""
        name, *arguments = self.words
        text = " ".join(arguments)
        kind = untyped_kind(text) if len(arguments) == 1 else "str"
        key_at, key_end = self.spans[0]
        at = self.spans[1][0] if arguments else key_end
        self.out.append(Setting((*self.path, numbered(name, self.counts)), text, kind, at, self.spans[-1][1], key_at, key_end))
        self.words, self.spans = [], []

    def _block(self, at: int) -> int | None:
        """A brace opens the block of the words before; where reading goes on, `None` if it cannot."""
        if not self.words:
            self._error(at, "block without a name")
            self.words, self.spans = [""], [(at, at)]
        path = (*self.path, numbered(" ".join(self.words), self.counts))
        key_at, key_end = self.spans[0][0], self.spans[-1][1]
        is_code = self.words[0].endswith("_by_lua_block")
        self.words, self.spans = [], []
        if is_code:
            end = _code_end(self.data, at)
            if end is None:
                self._error(at, "block is not closed")
                return None
            text = decoded(self.data[at + 1 : end - 1].strip())
            self.out.append(Setting(path, text, "str", at, end, key_at, key_end))
            return end
        if len(self.stack) >= MAX_DEPTH:
            self._error(at, "nested too deeply")
            return None
        self.stack.append((len(self.out), self.path, self.counts))
        self.out.append(Setting(path, "", "map", at, at, key_at, key_end))
        self.path = path
        self.counts = {}
        return at + 1

    def _close(self, end: int) -> None:
        slot, self.path, self.counts = self.stack.pop()
        opened = self.out[slot]
        self.out[slot] = Setting(opened.path, "", "map", opened.at, end, opened.key_at, opened.key_end)

    def _error(self, at: int, message: str) -> None:
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(ReadError(at, message))


def _meaning(match: re.Match[str]) -> str:
    char = match[1]
    return _MEANINGS.get(char, char)


def _code_end(data: bytes, at: int) -> int | None:
    """Where a block of Lua ends that opens at `at`: behind the brace that closes it, outside of strings and comments."""
    depth = 0
    while match := _LUA_TOKEN.search(data, at):
        token = match[0]
        at = match.end()
        if token == b"{":
            depth += 1
        elif token == b"}":
            depth -= 1
            if not depth:
                return at
        elif token == b"--":
            at = data.find(b"\n", at)
        elif token.endswith(b"["):
            closer = token.removeprefix(b"--").replace(b"[", b"]")
            at = data.find(closer, at)
            at = at + len(closer) if at >= 0 else -1
        else:
            string = _LUA_STRING[token[0]].match(data, match.start())
            at = match.end() if string is None else string.end()
        if at < 0:
            return None
    return None
