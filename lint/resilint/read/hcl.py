"""HCL, as Terraform and Nomad write it: blocks, attributes, and values as far as they are literal."""

from __future__ import annotations

import re

from resilint.facts import FileFacts, Setting
from resilint.read.comments import comments_of, suppressions
from resilint.read.settings import (
    MAX_DEPTH,
    MAX_ELEMENTS,
    Broken,
    Kind,
    bom_length,
    decoded,
    end_of,
    last_wins,
    unreadable,
    without_collections,
)

_BLANK = re.compile(rb"(?:\s++|#[^\n]*+|//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)*+")
_SPACE = re.compile(rb"(?:[ \t]++|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)*+")
_NAME = re.compile(rb"[^\W\d][\w-]*+", re.ASCII)
_KEY = re.compile(rb"[\w.-]++")
_STRING_PART = re.compile(rb'[^"\\$%\r\n]++|\\.|\$\$\{|%%\{|[$%](?!\{)')
_NUMBER = re.compile(rb"-?[0-9]++(\.[0-9]++)?([eE][-+]?[0-9]++)?(?=[ \t\r\n,;\])}#/]|\Z)")
_HEREDOC = re.compile(rb"<<(-?)([A-Za-z_][\w-]*+)[ \t]*+\r?\n")
_EXPRESSION = re.compile(rb"[^\s\"#/\[\](){},]++|/(?![/*])")
_ENCODED = re.compile(rb"(?:json|yaml)encode\s*+\(")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U00([0-9a-fA-F]{6})|(.))|\$\$\{|%%\{", re.DOTALL)
_MEANINGS = {"n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[bytes, tuple[Kind, str]] = {b"true": ("bool", "true"), b"false": ("bool", "false"), b"null": ("null", "")}
_WORD = re.compile(rb"(?:true|false|null)(?=[ \t\r\n,;\])}#/]|\Z)")
_TOKENS = re.compile(
    rb'"(?:[^"\\\r\n]++|\\.)*+"?|(?<!\S)(?P<comment>#[^\r\n]*+|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z))'
)
"""Strings and comments. A comment stands behind white space: in a heredoc `//` and `#` are often part of an address."""


def read(data: bytes) -> FileFacts:
    """A map for each block, its labels as steps of the path; repeated blocks get `#2`, `#3`. What is no literal is `${…}`, as in
    JSON of the same tools."""
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("hcl", errors=(problem,))
    reader = _Reader(data)
    errors = []
    with without_collections():
        try:
            reader.body((), bom_length(data), 0)
        except Broken as broken:
            errors.append(broken.error())
    return FileFacts(
        "hcl",
        settings=tuple(last_wins(reader.out)),
        suppressions=suppressions(data, comments_of(data, _TOKENS)),
        errors=tuple(errors),
    )


class _Reader:
    """One walk over the file; what was read before a broken place stays."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.out: list[Setting] = []

    def body(self, path: tuple[str, ...], at: int, depth: int) -> int:
        """Attributes and blocks up to the brace that closes them, or the end of the file; gives the place of either."""
        data = self.data
        counts: dict[str, int] = {}
        while True:
            at = end_of(_BLANK, data, at)
            if at >= len(data) or (depth and data[at : at + 1] == b"}"):
                return at
            match = _NAME.match(data, at)
            if match is None:
                raise Broken(at, "not a name of an attribute or block")
            name = decoded(match[0])
            after = end_of(_SPACE, data, match.end())
            if data[after : after + 1] == b"=" and data[after + 1 : after + 2] != b"=":
                at = self.value((*path, name), after + 1, match.span(), depth)
            else:
                at = self.block((*path, name), match.span(), after, depth, counts)

    def block(self, path: tuple[str, ...], key: tuple[int, int], at: int, depth: int, counts: dict[str, int]) -> int:
        """A block from behind its type on."""
        data = self.data
        if depth >= MAX_DEPTH // 4:
            raise Broken(at, "nested too deeply")
        outer, labels = path[:-1], [path[-1]]
        end = key[1]
        while data[at : at + 1] != b"{":
            if data[at : at + 1] == b'"':
                text, end = self.string(at)
            elif (match := _NAME.match(data, at)) is not None:
                text, end = decoded(match[0]), match.end()
            else:
                raise Broken(at, "neither an attribute nor a block")
            labels.append(text)
            if len(labels) > 8:
                raise Broken(at, "a block with too many labels")
            at = end_of(_SPACE, data, end)
        count = counts.get(name := "\0".join(labels), 0) + 1
        counts[name] = count
        if count > 1:
            labels[-1] += f"#{count}"
        inner = (*outer, *labels)
        slot = len(self.out)
        self.out.append(Setting(inner, "", "map", at, at, key[0], end))
        stop = len(data)
        try:
            close = self.body(inner, at + 1, depth + 1)
            if close >= len(data):
                raise Broken(at, "block is not closed")
            stop = close + 1
        finally:
            self.out[slot] = Setting(inner, "", "map", at, stop, key[0], end)
        return stop

    def value(self, path: tuple[str, ...], at: int, key: tuple[int, int], depth: int) -> int:
        """A value of an attribute or element; gives where it ends."""
        data = self.data
        at = end_of(_BLANK, data, at)
        encoded = _ENCODED.match(data, at)
        if encoded is not None:
            # The same settings, whatever text the tool makes of them.
            inner = end_of(_BLANK, data, encoded.end())
            if data[inner : inner + 1] in (b"[", b"{"):
                end = end_of(_BLANK, data, self.value(path, inner, key, depth + 1))
                if data[end : end + 1] != b")":
                    raise Broken(at, "parenthesis is not closed")
                return end + 1
        byte = data[at : at + 1]
        if byte in (b"[", b"{") and not self.is_comprehension(at):
            slot = len(self.out)
            end = self.collection(path, at, key, depth)
            if self.is_end(end):
                return end
            del self.out[slot:]
        literal = self.literal(at)
        if literal is not None:
            kind, text, end = literal
            if self.is_end(end):
                self.out.append(Setting(path, text, kind, at, end, *key))
                return end
        end = self.expression(at)
        if end <= at:
            raise Broken(at, "a value is missing here")
        self.out.append(Setting(path, "${" + decoded(data[at:end]) + "}", "str", at, end, *key))
        return end

    def is_end(self, at: int) -> bool:
        """Whether a value ends here, and is no part of a longer expression."""
        data = self.data
        after = end_of(_SPACE, data, at)
        return after >= len(data) or data[after : after + 1] in b"\r\n,]})#" or data[after : after + 2] == b"//"

    def literal(self, at: int) -> tuple[Kind, str, int] | None:
        """A scalar that is written out: kind, text, end."""
        data = self.data
        if data[at : at + 1] == b'"':
            text, end = self.string(at)
            return "str", text, end
        if (heredoc := _HEREDOC.match(data, at)) is not None:
            text, end = self.heredoc(heredoc)
            return "str", text, end
        if (word := _WORD.match(data, at)) is not None:
            return *_WORDS[word[0]], word.end()
        if (number := _NUMBER.match(data, at)) is not None:
            kind: Kind = "int" if number[1] is None and number[2] is None else "float"
            return kind, number[0].decode("ascii"), number.end()
        return None

    def is_comprehension(self, at: int) -> bool:
        """Whether a bracket opens `[for …]` or `{for …}`."""
        start = end_of(_BLANK, self.data, at + 1)
        return re.compile(rb"for\s").match(self.data, start) is not None

    def collection(self, path: tuple[str, ...], at: int, key: tuple[int, int], depth: int) -> int:
        """A list or an object."""
        data = self.data
        if depth >= MAX_DEPTH // 4:
            raise Broken(at, "nested too deeply")
        is_list = data[at : at + 1] == b"["
        closer = b"]" if is_list else b"}"
        slot, index, start = len(self.out), 0, at
        kind: Kind = "list" if is_list else "map"
        self.out.append(Setting(path, "", kind, at, at, *key))
        stop = len(data)
        try:
            at += 1
            while True:
                at = end_of(_BLANK, data, at)
                if data[at : at + 1] == b",":
                    at += 1
                    continue
                if at >= len(data):
                    raise Broken(start, "bracket is not closed")
                if data[at : at + 1] == closer:
                    stop = at + 1
                    break
                if is_list:
                    before = len(self.out)
                    at = self.value((*path, str(index)), at, (at, at), depth + 1)
                    index += 1
                    if index > MAX_ELEMENTS:
                        del self.out[before:]
                else:
                    at = self.pair(path, at, depth)
        finally:
            self.out[slot] = Setting(path, "", kind, start, stop, *key)
        return stop

    def pair(self, path: tuple[str, ...], at: int, depth: int) -> int:
        """A key of an object with its value."""
        data = self.data
        if data[at : at + 1] == b'"':
            name, end = self.string(at)
        elif data[at : at + 1] == b"(":
            end = self.expression(at, closed=True)
            name = "${" + decoded(data[at:end]) + "}"
        elif (match := _KEY.match(data, at)) is not None:
            name, end = decoded(match[0]), match.end()
        else:
            raise Broken(at, "not a key of an object")
        after = end_of(_BLANK, data, end)
        if data[after : after + 1] not in (b"=", b":"):
            raise Broken(after, "a key without a value")
        return self.value((*path, name), after + 1, (at, end), depth + 1)

    def string(self, at: int) -> tuple[str, int]:
        """The text of a quoted string, with its `${…}` as written, and where it ends."""
        data = self.data
        start = at
        at += 1
        while at < len(data):
            byte = data[at]
            if byte == 0x22:
                raw = decoded(data[start + 1 : at])
                return (_ESCAPE.sub(_meaning, raw) if "\\" in raw or "$$" in raw or "%%" in raw else raw), at + 1
            match = _STRING_PART.match(data, at)
            if match is not None:
                at = match.end()
            elif data[at : at + 2] in (b"${", b"%{"):
                at = self.hole(at)
            else:
                break
        raise Broken(start, "string is not closed")

    def hole(self, at: int) -> int:
        """Where `${…}` ends: behind its brace, outside of strings and of braces within it."""
        data = self.data
        start, depth, quoted = at, 0, False
        stack: list[bool] = []
        while at < len(data):
            byte = data[at]
            if quoted:
                if byte == 0x5C:
                    at += 1
                elif byte == 0x22:
                    quoted = False
                elif data[at : at + 2] in (b"${", b"%{"):
                    stack.append(True)
                    quoted, depth, at = False, depth + 1, at + 1
                elif byte in (0x0A, 0x0D):
                    break
            elif byte == 0x22:
                quoted = True
            elif byte == 0x7B:
                stack.append(False)
                depth += 1
            elif byte == 0x7D:
                depth -= 1
                quoted = stack.pop() if stack else False
                if depth <= 0:
                    return at + 1
            at += 1
        raise Broken(start, "`${` is not closed")

    def heredoc(self, opening: re.Match[bytes]) -> tuple[str, int]:
        """The text of a heredoc, and where its closing word ends."""
        data = self.data
        closing = re.compile(rb"^[ \t]*+" + re.escape(opening[2]) + rb"(?=[ \t]*+\r?$)", re.MULTILINE)
        match = closing.search(data, opening.end())
        if match is None:
            raise Broken(opening.start(), "heredoc is not closed")
        text = decoded(data[opening.end() : match.start()]).replace("\r\n", "\n")
        if opening[1]:
            lines = text.split("\n")
            margin = min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()), default=0)
            text = "\n".join(line[margin:] for line in lines)
        return text, match.end()

    def expression(self, at: int, *, closed: bool = False) -> int:
        """Where an expression ends: at the end of its line, or a comma or bracket outside of its own brackets; with `closed`
        behind the bracket that closes the first."""
        data = self.data
        start, depth, end = at, 0, at
        while at < len(data):
            at = end_of(_BLANK if depth else _SPACE, data, at)
            byte = data[at : at + 1]
            if not byte:
                break
            if byte in b"\r\n#" or (byte == b"/" and data[at : at + 2] == b"//"):
                # Operators at the end of a line go on only inside of brackets.
                break
            if byte == b"/" and data[at : at + 2] == b"/*":
                raise Broken(at, "comment is not closed")
            if byte == b'"':
                _, at = self.string(at)
            elif byte in b"([{":
                depth += 1
                at += 1
            elif byte in b")]}":
                if not depth:
                    break
                depth -= 1
                at += 1
                if closed and not depth:
                    return at
            elif byte == b"," and not depth:
                break
            elif (heredoc := _HEREDOC.match(data, at)) is not None:
                _, at = self.heredoc(heredoc)
            else:
                match = _EXPRESSION.match(data, at)
                at = match.end() if match is not None else at + 1
            end = at
        if depth:
            raise Broken(start, "bracket is not closed")
        return end


def _meaning(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is not None:
        number = int(code, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    char = match[3]
    return match[0][1:] if char is None else _MEANINGS.get(char, char)
