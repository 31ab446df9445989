"""What the stages have to know of each kind of file beside its reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Properties of one kind of file. None has a default: each is an answer that a new kind has to give."""

    code: bool
    """A language with functions; else a format of settings, or text."""
    blocks: Literal["", "elements", "sections"]
    """Its settings are looked at together with their element or section, not key by key."""
    commands: bool
    """Command lines of programs may stand in it, with options that are settings."""
    comments: tuple[bytes, ...]
    """What starts a line of comment within a command that goes on over several lines."""
    remark: tuple[str, str] | None
    """What begins and ends a comment on a line of its own; none where the format has no comments."""
    joins: bool
    """Such a command goes on behind that comment; else it ends there, as a shell's does."""
    lone_return: bool
    """A carriage return without a line feed ends a line."""
    utf_8_only: bool
    """What is not UTF-8 is an error, as it is to the language's own tools."""
    dialects: frozenset[str] = frozenset()
    """Suffixes of files that its reader reads otherwise and is therefore told, as its second argument."""


KINDS = {
    "python": Kind(
        code=True, blocks="", commands=False, comments=(), remark=("#", ""), joins=False, lone_return=True, utf_8_only=True
    ),
    "go": Kind(
        code=True, blocks="", commands=False, comments=(), remark=("//", ""), joins=False, lone_return=False, utf_8_only=True
    ),
    "java": Kind(
        code=True, blocks="", commands=False, comments=(), remark=("//", ""), joins=False, lone_return=True, utf_8_only=False
    ),
    "yaml": Kind(
        code=False, blocks="", commands=True, comments=(b"#",), remark=("#", ""), joins=False, lone_return=True, utf_8_only=True
    ),
    "json": Kind(code=False, blocks="", commands=True, comments=(), remark=None, joins=False, lone_return=True, utf_8_only=True),
    "toml": Kind(
        code=False, blocks="", commands=True, comments=(b"#",), remark=("#", ""), joins=False, lone_return=False, utf_8_only=True
    ),
    "properties": Kind(
        code=False, blocks="", commands=False, comments=(), remark=("#", ""), joins=False, lone_return=True, utf_8_only=False
    ),
    "ini": Kind(
        code=False,
        blocks="",
        commands=True,
        comments=(b"#", b";"),
        remark=("#", ""),
        joins=True,
        lone_return=True,
        utf_8_only=False,
        dialects=frozenset((".service",)),
    ),
    "xml": Kind(
        code=False,
        blocks="elements",
        commands=False,
        comments=(),
        remark=("<!--", "-->"),
        joins=False,
        lone_return=False,
        utf_8_only=False,
    ),
    "env": Kind(
        code=False, blocks="", commands=True, comments=(b"#",), remark=("#", ""), joins=False, lone_return=True, utf_8_only=False
    ),
    "nginx": Kind(
        code=False, blocks="", commands=False, comments=(), remark=("#", ""), joins=False, lone_return=False, utf_8_only=False
    ),
    "haproxy": Kind(
        code=False,
        blocks="sections",
        commands=False,
        comments=(),
        remark=("#", ""),
        joins=False,
        lone_return=False,
        utf_8_only=False,
    ),
    "hcl": Kind(
        code=False,
        blocks="",
        commands=True,
        comments=(b"#", b"//"),
        remark=("#", ""),
        joins=False,
        lone_return=False,
        utf_8_only=True,
    ),
    "dockerfile": Kind(
        code=False, blocks="", commands=True, comments=(b"#",), remark=("#", ""), joins=True, lone_return=False, utf_8_only=False
    ),
    "text": Kind(
        code=False, blocks="", commands=True, comments=(b"#",), remark=None, joins=True, lone_return=False, utf_8_only=False
    ),
}
"""All kinds that `discover` gives. `text` has no reader: Procfiles, lists of requirements."""


def dialect(kind: str, path: str) -> str:
    """The suffix of a file, where its kind's reader is told of it; else nothing."""
    return next((suffix for suffix in KINDS[kind].dialects if path.lower().endswith(suffix)), "") if kind in KINDS else ""
