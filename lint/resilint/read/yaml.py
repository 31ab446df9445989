"""YAML, with anchors and merge keys resolved, and the templates of Helm and Jinja that are YAML apart from their holes.

The parser is given one character for each byte, so that its marks are byte offsets: bytes that are no printable ASCII become
characters of the private use area, and are turned back in the texts. Bytes of a template's hole become those of a second
range, so that nothing in a hole means anything to the parser, and its text comes back as written.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from typing import Any

import yaml

from resilint.facts import FileFacts, ReadError, Setting
from resilint.read.comments import comments_of, either, line_comments, suppressions
from resilint.read.described import without_descriptions
from resilint.read.settings import (
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_ERRORS,
    Broken,
    Kind,
    bom_length,
    last_wins,
    unreadable,
    well_formed,
    without_collections,
)

MAX_EXPANDED = 100_000
"""Settings of one document that may come from aliases and merge keys."""

_MAX_ANCHORED = 2_000_000
"""Settings that may be kept for the anchors of one document, counted once for each anchor around them."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_PLAIN_BASE = 0xE000
_MASK_BASE = 0xE100
_PLAIN = "".join(chr(b) if 0x20 <= b < 0x7F or b in b"\t\n\r" else chr(_PLAIN_BASE + b) for b in range(256))
_MASK = "".join(chr(_MASK_BASE + b) for b in range(256))
_CODED = re.compile("[\ue000-\ue1ff]+")

_PROPERTIES = re.compile(rb"(?:[&!][^\s,\[\]{}]*\s+)*")
_SEPARATOR = re.compile(rb"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)

_TEMPLATE_COMMENT = re.compile(
    rb"(?P<comment>\{\{-?[ \t]*+/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/(?:[ \t]*+-?\}\})?|\Z)"
    rb"|(?<!\$)\{#[^#\r\n]*+(?:#(?!\})[^#\r\n]*+)*+(?:#\})?)"
)
"""Comments of the templates that make YAML: `{{/* … */}}` of Helm, `{# … #}` of Jinja on one line."""
_INT = re.compile(r"[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9][0-9_]*(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {word: "true" for base in ("true", "yes", "on") for word in (base, base.capitalize(), base.upper())}
_BOOLS |= {word: "false" for base in ("false", "no", "off") for word in (base, base.capitalize(), base.upper())}
_SPECIAL_FLOATS = {sign + "." + word: sign.strip("+") + "inf" for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")}
_SPECIAL_FLOATS |= {".nan": "nan", ".NaN": "nan", ".NAN": "nan"}
_TAG = "tag:yaml.org,2002:"


def read(data: bytes) -> FileFacts:
    """The settings of all documents that may hold some; those that cannot be read are left out, with one error."""
    problem = unreadable(data)
    if problem is not None:
        return FileFacts("yaml", errors=(problem,))
    stream = _Stream(without_descriptions(data))
    with without_collections():
        stream.run()
    return FileFacts(
        "yaml",
        settings=tuple(stream.settings),
        suppressions=suppressions(data, either(line_comments(data, b"#"), comments_of(data, _TEMPLATE_COMMENT))),
        errors=tuple(stream.errors[:MAX_ERRORS]),
    )


def _resolved(text: str) -> tuple[Kind, str]:
    """Kind and canonical text of a plain scalar: YAML 1.1 as programs read it, without base 60, with 1.2's numbers."""
    if text in _NULLS:
        return "null", ""
    if text in _BOOLS:
        return "bool", _BOOLS[text]
    if text[0] in "-+.0123456789" and len(text) < 64:
        if _INT.match(text):
            return _integer(text)
        if _FLOAT.match(text):
            return "float", text.replace("_", "")
        if text in _SPECIAL_FLOATS:
            return "float", _SPECIAL_FLOATS[text]
    return "str", text


def _integer(text: str) -> tuple[Kind, str]:
    digits = text.replace("_", "")
    bare = digits.lstrip("+-")
    base = 10
    if len(bare) > 1 and bare[0] == "0":
        base = {"b": 2, "o": 8, "x": 16}.get(bare[1], 8)
        bare = bare[2:] if bare[1] in "box" else bare
    try:
        value = int(bare, base)
    except ValueError:
        return "str", text
    return "int", str(-value if digits[0] == "-" else value)


def _tagged(tag: str, text: str) -> tuple[Kind, str]:
    """Kind and text of a scalar with a tag: a standard one says the type, any other leaves text."""
    if tag.startswith(_TAG):
        kind, canonical = _resolved(text)
        wanted = tag[len(_TAG) :]
        if wanted == kind or (wanted == "float" and kind == "int"):
            return ("float" if wanted == "float" else kind), canonical
    return "str", text


def _uncoded(text: str) -> str:
    """The text whose bytes were given to the parser as characters of the private use area."""
    if text.isascii():
        return text
    return well_formed(_CODED.sub(lambda run: bytes(ord(char) & 0xFF for char in run[0]).decode("utf-8", "replace"), text))


class _Frame:
    """A container whose start was read."""

    __slots__ = ("anchor", "at", "flow", "index", "is_map", "key", "key_at", "key_end", "merged", "path", "slot")

    def __init__(
        self, is_map: bool, path: tuple[str, ...], slot: int, at: int, flow: bool, anchor: str | None, key_at: int, key_end: int
    ) -> None:
        self.is_map = is_map
        self.path = path
        self.slot = slot
        """Index of its own setting; -1 for the root, which has none."""
        self.at = at
        self.flow = flow
        self.anchor = anchor
        self.key_at = key_at
        """Its own key, as long as nothing else is said: what it holds has its keys in variables of the loop."""
        self.key_end = key_end
        self.index = 0
        self.key: str | None = None
        self.merged: list[list[Setting]] = []


class _Stream:
    """The documents of one file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.settings: list[Setting] = []
        self.errors: list[ReadError] = []
        self.holes: list[tuple[int, int, bool]] = []
        self.hole_starts: list[int] = []
        self.doc = -1
        self.doc_at = 0
        self.kept = 0
        """Length of `settings` before the document last begun."""
        self.between = False
        """The last document begun was read to its end."""
        self.scalars: dict[str, tuple[Kind, str]] = {}

    def run(self) -> None:
        """Read all documents, first as one stream, then, behind the first broken one, each by itself."""
        data = self.data
        start = bom_length(data)
        text = codecs.charmap_decode(data, "strict", _PLAIN)[0]
        if b"{{" in data or b"{%" in data:
            text = self._masked(text)
        broken = self._parse(text[start:] if start else text, start)
        if broken is None:
            return
        separators = [match.start() for match in _SEPARATOR.finditer(data, self.doc_at)]
        # A parser complains at the next separator about what is missing before it, and that separator starts a sound document.
        first = bisect_left(separators, max(broken.at, self.doc_at + 1))
        for at, end in zip(separators[first:], [*separators[first + 1 :], len(data)], strict=False):
            docs = self.doc
            self._parse(text[at:end], at)
            self.doc = max(self.doc, docs + 1)

    def _parse(self, text: str, base: int) -> Broken | None:
        """Read documents up to the end or the first broken one, which is left out and noted."""
        self.kept = len(self.settings)
        self.doc_at = base
        self.between = False
        loader = _Loader(text)
        try:
            self._documents(loader, text, base)
        except Broken as broken:
            problem = broken
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = base if mark is None else base + mark.index
            problem = Broken(min(at, len(self.data)), f"not valid YAML: {error.problem or error.context or 'syntax error'}")
        except yaml.YAMLError:
            problem = Broken(base, "not valid YAML")
        else:
            return None
        finally:
            loader.dispose()
        if self.between and _SEPARATOR.search(self.data, self.doc_at + 1, problem.at + 4):
            self.doc += 1
        else:
            # Also a document that ended, without anything saying so, right before what cannot be read.
            del self.settings[self.kept :]
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(problem.error())
        return problem

    def _documents(self, loader: Any, text: str, base: int) -> None:
        next_event = loader.get_event
        while True:
            event = next_event()
            kind_of = event.__class__
            if event is None or kind_of is yaml.StreamEndEvent:
                return
            if kind_of is yaml.DocumentStartEvent:
                self.doc += 1
                self.doc_at = base + event.start_mark.index
                self.kept = len(self.settings)
                self.between = False
                self.settings += last_wins(self._document(next_event, text, base))
                self.between = True

    def _document(self, next_event: Any, given: str, base: int) -> list[Setting]:
        """The settings of one document, its start read, up to and with its end."""
        data = self.data
        doc = self.doc
        scalars = self.scalars
        out: list[Setting] = []
        anchors: dict[str, list[Setting]] = {}
        lost_anchors: set[str] = set()
        """Anchors in places that are not kept."""
        anchored = 0
        expanded = 0
        stack: list[_Frame] = []
        frame: _Frame | None = None
        is_map = False
        path: tuple[str, ...] = ()
        key: str | None = None
        """The key whose value comes next; None in a map: a key comes next."""
        key_at = key_end = 0
        last_end = 0
        skipped = 0
        skipped_at = -1
        scalar_class = yaml.ScalarEvent
        while True:
            event = next_event()
            kind_of = event.__class__
            if skipped:
                if kind_of is yaml.MappingStartEvent or kind_of is yaml.SequenceStartEvent:
                    skipped += 1
                    if event.anchor:
                        lost_anchors.add(event.anchor)
                elif kind_of is yaml.MappingEndEvent or kind_of is yaml.SequenceEndEvent:
                    skipped -= 1
                    if not skipped and skipped_at >= 0:
                        # A container as a key: its text as written stands for it.
                        last_end = max(last_end, base + event.end_mark.index)
                        key_at, key_end = skipped_at, last_end
                        key = data[key_at:key_end].decode("utf-8", "replace").rstrip()
                        skipped_at = -1
                else:
                    last_end = base + event.end_mark.index
                    if kind_of is scalar_class and event.anchor:
                        lost_anchors.add(event.anchor)
                if skipped > MAX_DEPTH:
                    raise Broken(base + event.start_mark.index, "nested too deeply")
                continue
            if kind_of is scalar_class:
                value = event.value
                at = base + event.start_mark.index
                last_end = end = base + event.end_mark.index
                anchor = event.anchor
                tag = event.tag
                if anchor or tag:
                    match = _PROPERTIES.match(data, at, end)
                    if match:
                        at = match.end()
                if is_map and key is None:
                    key = value if value.isascii() else _uncoded(value)
                    key_at, key_end = at, end
                    if anchor:
                        anchors[anchor] = [Setting((key,), key, "str", at, end, at, at, doc)]
                    if key == "<<" and event.implicit[0] and frame is not None:
                        frame.key = "<<"
                    continue
                if tag:
                    kind, text = _tagged(tag, value)
                elif event.implicit[0]:
                    known = scalars.get(value)
                    if known is None:
                        if len(scalars) > 20_000:
                            scalars.clear()
                        known = scalars[value] = _resolved(value)
                    kind, text = known
                else:
                    kind = "str"
                    text = value
                if event.style in ("|", ">"):
                    # The mark stands behind the line breaks that follow.
                    last_end = end = at + len(given[at - base : end - base].rstrip())
                if not text.isascii():
                    text = _uncoded(text)
                if self.holes and (at == end or event.style in ("|", ">")) and not text.strip():
                    hole = self._hole_after(end)
                    if hole is not None:
                        kind = "str"
                        at, last_end = hole
                        end = last_end
                        text = data[at:end].decode("utf-8", "replace")
                if is_map:
                    setting = Setting((*path, key or ""), text, kind, at, end, key_at, key_end, doc)
                    key = None
                    if frame is not None:
                        frame.key = None
                elif frame is not None:
                    index = frame.index
                    frame.index = index + 1
                    if index >= MAX_ELEMENTS:
                        if anchor:
                            lost_anchors.add(anchor)
                        continue
                    setting = Setting((*path, str(index)), text, kind, at, end, at, at, doc)
                else:
                    continue
                out.append(setting)
                if anchor:
                    anchors[anchor] = [setting]
            elif kind_of is yaml.MappingStartEvent or kind_of is yaml.SequenceStartEvent:
                at = base + event.start_mark.index
                if is_map and key is None and frame is not None:
                    skipped = 1
                    skipped_at = last_end = at
                    continue
                anchor = event.anchor
                if frame is not None and not is_map:
                    if frame.index >= MAX_ELEMENTS:
                        if anchor:
                            lost_anchors.add(anchor)
                        skipped = 1
                        continue
                    key = str(frame.index)
                    frame.index += 1
                if anchor or event.tag:
                    match = _PROPERTIES.match(data, at)
                    if match:
                        at = match.end()
                if len(stack) >= MAX_DEPTH:
                    raise Broken(at, "nested too deeply")
                slot = -1
                if frame is not None:
                    path = (*path, key or "")
                    slot = len(out)
                    if not is_map:
                        key_at = key_end = at
                kind = "map" if kind_of is yaml.MappingStartEvent else "list"
                if slot >= 0:
                    out.append(Setting(path, "", kind, at, at, key_at, key_end, doc))
                frame = _Frame(kind == "map", path, slot, at, bool(event.flow_style), anchor, key_at, key_end)
                stack.append(frame)
                is_map = frame.is_map
                key = None
            elif kind_of is yaml.MappingEndEvent or kind_of is yaml.SequenceEndEvent:
                done = stack.pop()
                end = base + event.end_mark.index if done.flow else last_end
                last_end = end
                if done.merged:
                    expanded += self._merge(out, done)
                    if expanded > MAX_EXPANDED:
                        raise Broken(done.at, "aliases expand to too many values")
                if done.slot >= 0:
                    opened = out[done.slot]
                    out[done.slot] = Setting(opened.path, "", opened.kind, done.at, end, done.key_at, done.key_end, doc)
                    if done.anchor:
                        anchors[done.anchor] = out[done.slot :]
                        anchored += len(out) - done.slot
                        if anchored > _MAX_ANCHORED:
                            raise Broken(done.at, "too many anchors around too many values")
                frame = stack[-1] if stack else None
                key = None
                if frame is None:
                    is_map = False
                    path = ()
                    continue
                is_map = frame.is_map
                path = frame.path
                if frame.key is not None:
                    frame.merged.append(out[done.slot :])
                    del out[done.slot :]
                    frame.key = None
            elif kind_of is yaml.AliasEvent:
                at = base + event.start_mark.index
                last_end = end = base + event.end_mark.index
                source = anchors.get(event.anchor)
                if source is None and event.anchor not in lost_anchors:
                    inside = any(open_frame.anchor == event.anchor for open_frame in stack)
                    raise Broken(at, f"alias *{event.anchor} {'stands inside its own value' if inside else 'has no anchor'}")
                if source is None:
                    source = [Setting(("",), f"*{event.anchor}", "str", at, end, at, end, doc)]
                if frame is None:
                    continue
                if is_map and key is None:
                    key = source[0].text
                    key_at, key_end = at, end
                    continue
                if is_map:
                    prefix = (*path, key or "")
                    head_key = (key_at, key_end)
                else:
                    if frame.index >= MAX_ELEMENTS:
                        continue
                    prefix = (*path, str(frame.index))
                    frame.index += 1
                    head_key = (at, at)
                expanded += len(source)
                if expanded > MAX_EXPANDED:
                    raise Broken(at, "aliases expand to too many values")
                slot = len(out)
                head = source[0]
                out.append(Setting(prefix, head.text, head.kind, at, end, *head_key, doc))
                length = len(head.path)
                room = MAX_DEPTH - len(prefix) + length
                for held in source[1:]:
                    if len(held.path) > room:
                        raise Broken(at, "nested too deeply")
                    moved = prefix + held.path[length:]
                    out.append(Setting(moved, held.text, held.kind, held.at, held.end, held.key_at, held.key_end, doc))
                key = None
                if frame.key is not None:
                    frame.key = None
                    if head.kind in ("map", "list"):
                        frame.merged.append(out[slot:])
                        del out[slot:]
            elif kind_of is yaml.DocumentEndEvent or event is None:
                return out

    def _merge(self, out: list[Setting], frame: _Frame) -> int:
        """Append what the merge keys of a map bring to it: its own keys win, then earlier sources."""
        path = frame.path
        depth = len(path) + 1
        own = {setting.path[-1] for setting in out[frame.slot + 1 :] if len(setting.path) == depth}
        before = len(out)
        for source in frame.merged:
            # A list of maps has the elements' keys one segment deeper.
            base = depth + 1 if source[0].kind == "list" else depth
            group: str | None = None
            brought: set[str] = set()
            for held in source[1:]:
                if len(held.path) <= base:
                    continue
                element = held.path[base - 1]
                if element != group:
                    group = element
                    own |= brought
                    brought = set()
                name = held.path[base]
                if name in own:
                    continue
                brought.add(name)
                moved = path + held.path[base:]
                out.append(Setting(moved, held.text, held.kind, held.at, held.end, held.key_at, held.key_end, held.doc))
            own |= brought
        return len(out) - before

    # ------------------------------------------------------------ templates

    def _masked(self, text: str) -> str:
        """The text with the holes of a template made opaque, and lines of nothing but holes made blank."""
        data = self.data
        holes = _holes(data)
        if not holes:
            return text
        alone = _alone(data, holes)
        opaque = _opaque_lines(data, alone)
        self.holes = [hole for hole in alone if hole[0] not in opaque]
        self.hole_starts = [start for start, _, _ in self.holes]
        blank = {start: end for start, end, _ in self.holes}
        pieces = []
        at = 0
        until = 0
        for start, end in holes:
            if start < until:
                continue
            pieces.append(text[at:start])
            until = blank.get(start, 0)
            if until:
                pieces.append("\n" * (until - start))
                at = until
            else:
                pieces.append(codecs.charmap_decode(data[start:end], "strict", _MASK)[0])
                at = end
        pieces.append(text[at:])
        return "".join(pieces)

    def _hole_after(self, at: int) -> tuple[int, int] | None:
        """The blanked line that writes something, if nothing but blanked lines that write nothing stand between `at` and it."""
        index = bisect_left(self.hole_starts, at)
        while index < len(self.holes):
            start, end, writes = self.holes[index]
            gap = _GAP.match(self.data, at)
            if gap is None or gap.end() != start:
                return None
            if writes:
                return start, end
            at = end
            index += 1
        return None


_GAP = re.compile(rb"(?:\s++|#[^\n]*+)*+")
_OPENER = re.compile(rb"\{\{|\{%|\{#")
_CLOSERS = {b"{{": b"}}", b"{%": b"%}", b"{#": b"#}"}
_CONTROL = re.compile(
    rb"\{[%#]|\{\{-?\s*(?:/\*|\$[\w.]*\s*:?=|(?:if|else|end|range|with|define|block|break|continue|fail|set|unset)\b(?!:))"
)
_BLOCK_SCALAR = re.compile(rb"(?:[:?]|(?<![^\s])-)[ ]++(?:[&!]\S++[ ]++)*+[|>][-+0-9]{0,2}[ \t]*+(?:#[^\r\n]*+)?(?=\r?\n)")
_HEADER = re.compile(rb"[:-][ ]++[|>][-+0-9]{0,2}\Z")
_LEAD = re.compile(rb"[ ]*+(?:-[ ]++)*+")
_KEY = re.compile(rb"[^\s#][^\r\n]*:\Z")
_BREAKS = re.compile(rb"\|\s*nindent\b")
"""A filter that begins a new line: what stands behind a key is the first part of a block below it."""


def _holes(data: bytes) -> list[tuple[int, int]]:
    """Where a template's holes stand: `{{ }}`, `{% %}`, `{# #}`."""
    found = []
    closers = dict.fromkeys(_CLOSERS, -1)
    at = 0
    while match := _OPENER.search(data, at):
        start = match.start()
        opener = match[0]
        close = closers[opener]
        if 0 <= close < start + 2 or close == -1:
            close = data.find(_CLOSERS[opener], start + 2)
            closers[opener] = close = len(data) if close < 0 else close
        at = start + 2
        if close >= len(data):
            continue
        if opener == b"{{" and data.count(b'"', start, close) % 2:
            # A closer in quotes, as in {{ "}}" }}.
            line_end = data.find(b"\n", close)
            further = data.find(b"}}", close + 2, len(data) if line_end < 0 else line_end)
            if further >= 0 and data.count(b'"', start, further) % 2 == 0:
                close = further
        if data.find(b"\n", start, close) >= 0:
            # Over several lines only where it is surely one hole; `{#` and `{%` also stand in shell scripts.
            if opener != b"{{" or data.find(opener, at, close) >= 0:
                continue
            comment = data.startswith((b"{{/*", b"{{- /*"), start)
            if not comment and close - start > 4000:
                continue
        at = close + 2
        found.append((start, at))
    return found


def _alone(data: bytes, holes: list[tuple[int, int]]) -> list[tuple[int, int, bool]]:
    """The runs of holes that have their line (or lines) to themselves, and whether one of them writes anything.

    A hole behind the header of a block scalar, or one behind a key that begins a new line itself, counts: what it writes stands
    on the lines below.
    """
    found = []
    index = 0
    before = 0
    while index < len(holes):
        start, end = holes[index]
        writes = _CONTROL.match(data, start) is None
        line_start = data.rfind(b"\n", before, start) + 1
        lead = data[max(line_start, before) : start].rstrip(b" \t")
        below = _HEADER.search(lead) is not None or (_BREAKS.search(data, start, end) is not None and _KEY.search(lead) is not None)
        first = (line_start > 0 or before == 0) and (not lead.strip(b" \t\xef\xbb\xbf") or below)
        index += 1
        while index < len(holes) and not data[end : holes[index][0]].strip(b" \t"):
            writes = writes or _CONTROL.match(data, holes[index][0]) is None
            end = holes[index][1]
            index += 1
        before = end
        if not first:
            continue
        next_hole = holes[index][0] if index < len(holes) else len(data)
        stop = data.find(b"\n", end, next_hole)
        if stop < 0 and index < len(holes):
            continue
        rest = data[end : next_hole if stop < 0 else stop].strip()
        if not rest or rest.startswith(b"#"):
            found.append((start, end, writes))
    return found


def _opaque_lines(data: bytes, alone: list[tuple[int, int, bool]]) -> set[int]:
    """Those runs that belong to the text of a block scalar, and must not be blanked."""
    opaque: set[int] = set()
    ends = {start: end for start, end, _ in alone}
    at = 0
    while ends and (match := _BLOCK_SCALAR.search(data, at)):
        header = data.rfind(b"\n", 0, match.start()) + 1
        lead = _LEAD.match(data, header)
        column = (lead.end() if lead else header) - header
        if data[header + column : header + column + 1] in (b"|", b">"):
            column = max(0, data.rfind(b"-", header, header + column) - header)
        at = match.end()
        line = data.find(b"\n", at) + 1
        indent = -1
        while 0 < line < len(data):
            stop = data.find(b"\n", line)
            stop = len(data) if stop < 0 else stop
            stripped = data[line:stop].lstrip(b" ")
            text_at = stop - len(stripped)
            if text_at in ends:
                if 0 <= indent <= text_at - line:
                    opaque.add(text_at)
                stop = data.find(b"\n", ends[text_at])
                stop = len(data) if stop < 0 else stop
            elif stripped.strip():
                if text_at - line <= column:
                    break
                indent = text_at - line if indent < 0 else indent
            at = line = stop + 1
    return opaque
