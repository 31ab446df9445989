"""What the readers built on tree-sitter share: kinds of nodes, broken places, comments."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import cast

from tree_sitter import Language, Node

from resilint.facts import ReadError
from resilint.read.comments import CommentAt, covering

ERROR_KIND = 65535
"""`Node.kind_id` of an ERROR node, which is outside the language's table of kinds."""

MAX_ERRORS = 5
"""Broken places kept per file; a file gives one finding anyway."""


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
