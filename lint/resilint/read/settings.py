"""What the readers of configuration formats share: limits, kinds of untyped scalars, overridden keys."""

from __future__ import annotations

import codecs
import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from resilint.facts import ReadError, Setting

Kind = Literal["map", "list", "str", "int", "float", "bool", "null"]

MAX_DEPTH = 200
"""Nesting beyond this is refused: no real configuration has it, and the paths of settings grow with the square of it."""

MAX_ELEMENTS = 1000
"""Elements of one list that become settings; the rest of a longer list is read but not kept."""

MAX_ERRORS = 5

_INT = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
_BOOLS = frozenset(("true", "false", "yes", "no", "on", "off"))


@contextmanager
def without_collections() -> Iterator[None]:
    """Reading makes no cycles, and each collection would walk all the paths made so far."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Broken(Exception):
    """A place where reading cannot go on."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message

    def error(self) -> ReadError:
        """The same as a fact."""
        return ReadError(self.at, self.message)


def unreadable(data: bytes) -> ReadError | None:
    """Why these bytes are no text in UTF-8 or a superset of ASCII at all; `None` if they may be."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        wide = data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))
        return ReadError(0, f"encoded as UTF-{32 if wide else 16}, not UTF-8")
    nul = data.find(b"\0", 0, 8192)
    return None if nul < 0 else ReadError(nul, "binary data, not text")


def bom_length(data: bytes) -> int:
    """Bytes of a UTF-8 byte order mark at the start."""
    return 3 if data.startswith(b"\xef\xbb\xbf") else 0


def decoded(raw: bytes) -> str:
    """Bytes as text; what is no UTF-8 becomes U+FFFD."""
    return raw.decode("utf-8", "replace")


def well_formed(text: str) -> str:
    """Text without lone surrogates, which an escape can write and UTF-8 cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Two escapes of one pair become the character they mean, lone ones U+FFFD.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def untyped_kind(text: str) -> Kind:
    """The kind of a value in a format where every value is text: what a program would convert it to."""
    if not text:
        return "str"
    if text[0] in "+-.0123456789":
        if _INT.match(text):
            return "int"
        return "float" if _FLOAT.match(text) else "str"
    return "bool" if len(text) < 6 and text.lower() in _BOOLS else "str"


def numbered(name: str, counts: dict[str, int]) -> str:
    """`name` at its first use within `counts`, then `name#2`, `name#3`."""
    count = counts.get(name, 0) + 1
    counts[name] = count
    return name if count == 1 else f"{name}#{count}"


def last_wins(settings: list[Setting]) -> list[Setting]:
    """The settings of one document without those that the same key written later overrides, with all that these hold."""
    last = {setting.path: index for index, setting in enumerate(settings)}
    if len(last) == len(settings):
        return settings
    kept = []
    overridden: tuple[str, ...] | None = None
    for index, setting in enumerate(settings):
        path = setting.path
        if overridden is not None:
            if len(path) > len(overridden) and path[: len(overridden)] == overridden:
                continue
            overridden = None
        if last[path] != index:
            overridden = path
            continue
        kept.append(setting)
    return kept


def end_of(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Where a match of a pattern that matches everywhere ends."""
    match = pattern.match(data, at)
    return at if match is None else match.end()
