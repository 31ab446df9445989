"""What the readers built on tree-sitter share: parsing within bounds, kinds of nodes, broken places, comments."""

from __future__ import annotations

import re
from collections.abc import Collection
from time import thread_time
from typing import cast

from tree_sitter import Language, Node, Parser, Point

from resilint.facts import ReadError
from resilint.read import TooMuchWork
from resilint.read.comments import CommentAt, covering

ERROR_KIND = 65535
"""`Node.kind_id` of an ERROR node, which is outside the language's table of kinds."""

MAX_ERRORS = 5
"""Broken places kept per file; a file gives one finding anyway."""

_STRIDE = 12
"""Bytes of source for which a parser may take one step of a hundred operations. Sound code takes one for 50 to 300 bytes."""
_MOST_STEPS = 10_000
"""Steps besides, for broken places: half a second. Recovery from an error tries out what the file may mean, and some errors take
the square of the bytes behind them, or worse."""
_LOOKS = 20
"""How often each byte may be looked at. Sound code is looked at little more than once; where a comment has no end, all the rest of
the file may be looked through at every word."""
_MOST_LOOKS = 20_000_000
"""Bytes besides that may be looked at again."""
_CALM = 0.05
"""The part of what may be spent besides that does not yet mean that a place is hard to read."""
_CHUNK = 8192
_LONGEST_TAIL = 2000
"""Bytes that may stand behind the last end of a statement or block. Where a file ends in the midst of many things that have begun,
the parser weighs all that they may mean at once, in the square of their number or worse, and asks nobody."""
_MOST_SECONDS = 2.0
_SECONDS_PER_BYTE = 1e-6
"""Of the processor, besides: ten times what sound code takes, so that the clock never decides about a file that somebody wrote."""


def parsed(parser: Parser, data: bytes, ends: tuple[bytes, ...] = ()) -> tuple[Node, ReadError | None]:
    """The root of the syntax tree; with it the place from which on the file was too much work to parse, and is no part of the tree.

    Work is counted in steps and bytes of the parser, not in time: the same bytes give the same tree on every machine. Hundreds of
    kilobytes of which nothing makes sense are few steps that take long, and raise `TooMuchWork`. `ends` is how statements, blocks
    and comments end, where the language has such marks: sound files have one of them near their end.
    """
    cut = len(data)
    tail = max(data.rfind(mark) for mark in ends) + _LONGEST_TAIL if ends else cut
    if tail < cut:
        root, _ = _within_bounds(parser, data[:tail])
        if root is None or root.has_error:
            cut = tail
    for _ in range(3):
        root, hard = _within_bounds(parser, data[:cut])
        if root is not None:
            return root, None if cut == len(data) else _hard(cut)
        # What stands in front of the hard place is read as if the file ended there.
        cut = data.rfind(b"\n", 0, hard) + 1
    return parser.parse(b"").root_node, _hard(0)


def _hard(at: int) -> ReadError:
    return ReadError(at, "too broken to be read from here on")


def _within_bounds(parser: Parser, data: bytes) -> tuple[Node | None, int]:
    """The root of the syntax tree; `None` where that takes too much work, with the place where the work began to."""
    steps = looked = calm = 0
    behind = -1
    end = thread_time() + _MOST_SECONDS + len(data) * _SECONDS_PER_BYTE

    def is_enough(at: int, _: bool) -> bool:
        nonlocal steps, calm
        steps += 1
        spent = max((steps - at / _STRIDE) / _MOST_STEPS, (looked - at * _LOOKS) / _MOST_LOOKS)
        if spent < _CALM:
            calm = at
            if steps % 50 == 0 and thread_time() > end:
                raise TooMuchWork(f"nothing of it makes sense to the parser, which takes too long for its {len(data)} bytes")
        return spent > 1

    def rest(at: int, _: Point) -> bytes:
        nonlocal looked, behind
        if at == behind:
            # Who asks for the next part has gone through the one before.
            looked += _CHUNK
            if looked > _MOST_LOOKS + len(data) * _LOOKS:
                # Said to end here, until `is_enough` is asked, which is soon.
                return b""
        behind = at + _CHUNK
        return data[at:behind]

    try:
        return parser.parse(rest, progress_callback=is_enough).root_node, 0
    except ValueError:
        # All that it says of a parse that was stopped.
        return None, calm
    finally:
        # One that was stopped would be gone on with.
        parser.reset()


def kind_ids(language: Language, name: str, *, named: bool = True) -> tuple[int, ...]:
    """All ids of the kind of that name: a kind can have several, from aliases of the grammar."""
    return tuple(
        kind
        for kind in range(language.node_kind_count)
        if language.node_kind_for_id(kind) == name
        and language.node_kind_is_named(kind) == named
        and language.node_kind_is_visible(kind)
    )


def field_id(language: Language, name: str) -> int:
    """The id of a field. Raises `KeyError` if the grammar has none of that name."""
    found = language.field_id_for_name(name)
    if found is None:
        raise KeyError(name)
    return found


def broken_places(root: Node, data: bytes) -> list[ReadError]:
    """The first syntax errors below `root`, in order. Costs one look at a sound tree."""
    found: list[ReadError] = []
    pending = [root] if root.has_error else []
    while pending and len(found) < MAX_ERRORS:
        node = pending.pop()
        if node.is_missing:
            found.append(ReadError(node.start_byte, f"syntax error: `{node.type}` is missing"))
        elif node.kind_id == ERROR_KIND and not _holds_smaller(node):
            found.append(ReadError(node.start_byte, f"syntax error near `{_excerpt(data, node.start_byte, node.end_byte)}`"))
        else:
            pending.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)
    return found


def _holds_smaller(node: Node) -> bool:
    """Whether an ERROR over several lines has others in it, which say better where the trouble is."""
    return node.start_point[0] != node.end_point[0] and any(child.has_error for child in node.children)


_MANY = 200


def comment_finder(root: Node, comment_kinds: tuple[int, ...]) -> CommentAt:
    """`comment_at` for `comments.suppressions`, from the comment nodes of a tree."""
    asked = 0
    found: tuple[list[int], list[int]] | None = None

    def comment_at(offset: int) -> tuple[int, int] | None:
        nonlocal asked, found
        asked += 1
        if asked <= _MANY:
            node = root.descendant_for_byte_range(offset, offset)
            return (node.start_byte, node.end_byte) if node is not None and node.kind_id in comment_kinds else None
        # Each of these looks goes through all nodes beside the right one: many of them cost more than one walk.
        if found is None:
            found = _comments(root, comment_kinds)
        return covering(offset, *found)

    return comment_at


def _comments(root: Node, kinds: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Where all comments of a tree start and end, in order."""
    starts: list[int] = []
    ends: list[int] = []
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.kind_id in kinds:
            starts.append(node.start_byte)
            ends.append(node.end_byte)
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return starts, ends


def _excerpt(data: bytes, at: int, end: int) -> str:
    text = data[at : min(end, at + 120)].decode("utf-8", "replace").strip()
    line = text.splitlines()[0].strip() if text else ""
    return line if len(line) <= 40 else line[:39] + "…"


class _Wide:
    """Text of a file with names that are not ASCII: cut by byte offsets like the `str` that stands in its place for others."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __getitem__(self, span: slice) -> str:
        return self.data[span].decode("utf-8", "replace")


_WIDE_RUN = re.compile(rb"[\x80-\xff]+")
_MAX_WIDE_RUNS = 200


def text_of(data: bytes, root: Node, quoted: Collection[int]) -> str:
    """What names are cut from by byte offset; `quoted` are the kinds of comments and of literals of text.

    Most files that are not ASCII are so only in these; they get one character per byte, and the handlers of literals decode what
    is none of ASCII.
    """
    if data.isascii():
        return data.decode("ascii")
    for count, run in enumerate(_WIDE_RUN.finditer(data)):
        node = root.descendant_for_byte_range(run.start(), run.start())
        if count >= _MAX_WIDE_RUNS or node is None or node.kind_id not in quoted:
            # Annotated as text: only slices are ever taken of it.
            return cast(str, _Wide(data))
    return data.decode("ascii", "surrogateescape")
