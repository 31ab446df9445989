"""XML: elements, their attributes and texts. Nothing is expanded: a file that declares entities is refused there.

An element with attributes or elements inside is a map at the path of its name as written (`("beans", "bean#2")`), its attributes
stand under `@name`, text beside them under `text()`. An element that holds nothing but text is that text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from xml.parsers import expat

from resilint.facts import FileFacts, ReadError, Setting
from resilint.read.comments import suppressions
from resilint.read.settings import (
    MAX_DEPTH,
    MAX_ELEMENTS,
    Broken,
    bom_length,
    numbered,
    unreadable,
    untyped_kind,
    well_formed,
    without_collections,
)

MAX_SETTINGS = 200_000
"""Settings of one file; what comes behind is not read."""

_NAME = re.compile(rb"<[^\s/>]*+")
_ATTRIBUTE = re.compile(rb"\s*+([^\s=/>\"']++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
_TAG = re.compile(rb"<[^<>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+')[^<>\"']*+)*+>")
_TAG_END = re.compile(rb"[^>]*+>")
_TOO_DEEP = "nested too deeply"


def read(data: bytes) -> FileFacts:
    """The elements and attributes up to the first place that is no XML."""
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("xml", errors=(problem,))
    reader = _Reader(data)
    error = None
    if data[bom_length(data) :].strip():
        with without_collections():
            error = reader.run()
    return FileFacts(
        "xml",
        settings=tuple(setting for setting in reader.out if setting is not None),
        suppressions=suppressions(data, reader.comment_at, reader.tag_at),
        errors=() if error is None else (error,),
    )


class _Element:
    """An element whose start tag was read."""

    __slots__ = ("at", "counts", "is_map", "key_end", "path", "pieces", "slot", "tag_end")

    def __init__(self, path: tuple[str, ...], slot: int, at: int, key_end: int, tag_end: int, is_map: bool) -> None:
        self.path = path
        self.slot = slot
        """Index of its own setting, which is written when the element ends."""
        self.at = at
        self.key_end = key_end
        self.tag_end = tag_end
        self.is_map = is_map
        self.counts: dict[str, int] = {}
        self.pieces: list[str] = []


class _Reader:
    """One walk of expat over the file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.out: list[Setting | None] = []
        self.stack: list[_Element] = []
        self.roots: dict[str, int] = {}
        self.left_out = 0
        """Open elements inside one that is not kept, itself included."""
        self.comments: list[tuple[int, int]] = []
        self.parser = parser = expat.ParserCreate()
        parser.ordered_attributes = True
        # Defaults that a document type gives are written nowhere in the element.
        parser.specified_attributes = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.CommentHandler = self._comment
        parser.EntityDeclHandler = self._entity

    def run(self) -> ReadError | None:
        """Read up to the end, or to a place where reading cannot go on."""
        error = None
        try:
            self.parser.Parse(self.data, True)
        except Broken as broken:
            error = broken.error()
        except expat.ExpatError as problem:
            at = min(max(self.parser.ErrorByteIndex, 0), len(self.data))
            error = ReadError(at, f"not well-formed: {expat.ErrorString(problem.code)}")
        except (LookupError, ValueError):
            # The declared encoding is unknown, or one whose characters take several bytes.
            error = ReadError(0, "declares an encoding that is not read")
        while self.stack:
            self._close(self.stack.pop(), len(self.data), len(self.data))
        return error

    def comment_at(self, offset: int) -> tuple[int, int] | None:
        """The comment that covers an offset."""
        index = bisect_right(self.comments, (offset, len(self.data))) - 1
        return self.comments[index] if index >= 0 and offset < self.comments[index][1] else None

    def tag_at(self, offset: int) -> tuple[int, int]:
        """The tag that covers an offset: no comment can stand between its attributes."""
        start = self.data.rfind(b"<", 0, offset + 1)
        match = _TAG.match(self.data, start) if start >= 0 else None
        return match.span() if match is not None and offset < match.end() else (offset, offset)

    def _start(self, name: str, attributes: list[str]) -> None:
        if self.left_out:
            self.left_out += 1
            return
        at = self.parser.CurrentByteIndex
        parent = self.stack[-1] if self.stack else None
        if parent is not None:
            parent.is_map = True
        if len(self.stack) >= MAX_DEPTH:
            raise Broken(at, _TOO_DEEP)
        counts = parent.counts if parent is not None else self.roots
        key = numbered(well_formed(name), counts)
        if counts[well_formed(name)] > MAX_ELEMENTS or len(self.out) > MAX_SETTINGS:
            self.left_out = 1
            return
        path = (*parent.path, key) if parent is not None else (key,)
        data = self.data
        match = _NAME.match(data, at)
        end = key_end = match.end() if match is not None else at
        slot = len(self.out)
        self.out.append(None)
        for index in range(0, len(attributes), 2):
            written = _ATTRIBUTE.match(data, end)
            if written is None:
                break
            end = written.end()
            text = well_formed(attributes[index + 1])
            value = written.start(2) if written[2] is not None else written.start(3)
            key_path = (*path, "@" + well_formed(attributes[index]))
            self.out.append(Setting(key_path, text, untyped_kind(text), value, end - 1, written.start(1), written.end(1)))
        match = _TAG_END.match(data, end)
        tag_end = match.end() if match is not None else end
        self.stack.append(_Element(path, slot, at, key_end, tag_end, bool(attributes)))

    def _end(self, name: str) -> None:
        if self.left_out:
            self.left_out -= 1
            return
        at = self.parser.CurrentByteIndex
        element = self.stack.pop()
        if self.data[element.tag_end - 2 : element.tag_end] == b"/>":
            self._close(element, element.tag_end, element.tag_end)
        else:
            match = _TAG_END.match(self.data, at)
            self._close(element, at, match.end() if match is not None else at)

    def _close(self, element: _Element, inner_end: int, end: int) -> None:
        at, key_at = element.at, min(element.at + 1, element.key_end)
        text = well_formed("".join(element.pieces)).strip()
        raw = self.data[element.tag_end : inner_end]
        text_at = element.tag_end + len(raw) - len(raw.lstrip())
        text_end = max(text_at, element.tag_end + len(raw.rstrip()))
        if element.is_map:
            self.out[element.slot] = Setting(element.path, "", "map", at, end, key_at, element.key_end)
            if text:
                path = (*element.path, "text()")
                self.out.append(Setting(path, text, untyped_kind(text), text_at, text_end, key_at, element.key_end))
        else:
            kind = untyped_kind(text)
            self.out[element.slot] = Setting(element.path, text, kind, text_at, text_end, key_at, element.key_end)

    def _text(self, text: str) -> None:
        if self.stack and not self.left_out:
            self.stack[-1].pieces.append(text)

    def _comment(self, text: str) -> None:
        at = self.parser.CurrentByteIndex
        end = self.data.find(b"-->", at)
        self.comments.append((at, end + 3 if end >= 0 else len(self.data)))

    def _entity(self, name: str, *declared: object) -> None:
        raise Broken(
            min(max(self.parser.CurrentByteIndex, 0), len(self.data)), f"declares the entity {name[:40]!r}, which is not expanded"
        )
