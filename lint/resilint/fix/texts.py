"""Edits in the bytes of a file: its encoding, byte order mark and line ends stay as they are."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from difflib import unified_diff
from typing import NamedTuple

from resilint.model import Edit
from resilint.read.encoding import as_read
from resilint.text import Lines

_CODECS = ("utf-8", "latin-1")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_COOKIE = re.compile(rb"coding[:=][ \t]*([-\w.]{1,50})")
_LONE_RETURN = re.compile(r"\r(?!\n)")


class Place(NamedTuple):
    """A range of bytes as readers count them, and the text that takes its place."""

    at: int
    end: int
    text: str


def placed(edits: Iterable[Edit], lines: Lines) -> list[Place]:
    """Edits of one file by offset, in order."""
    return sorted(
        Place(lines.offset(edit.span.line, edit.span.col), lines.offset(edit.span.end_line, edit.span.end_col), edit.text)
        for edit in edits
    )


def collide(one: Place, other: Place) -> bool:
    """Whether two edits speak of the same text, or of the same place without being the same."""
    return one != other and one.at <= other.end and other.at <= one.end


def edited(raw: bytes, kind: str, places: Iterable[Place]) -> bytes | None:
    """The bytes of a file with the edits in it; `None` where its encoding cannot take them."""
    ordered = sorted(dict.fromkeys(places))
    source = as_read(raw, kind)
    bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    if raw[len(bom) :] == source:
        return bom + _applied_to_bytes(source, ordered)
    found = _decoded(raw, kind, source)
    if found is None:
        return None
    text, codec, mark = found
    known = source.decode("utf-8")
    parts: list[str] = []
    since = 0
    lone = "\r" in text and "\n" not in text
    for place in ordered:
        at, end = len(source[: place.at].decode("utf-8")), len(source[: place.end].decode("utf-8"))
        parts += [text[since:at], place.text.replace("\n", "\r") if lone else place.text]
        since = end
    parts.append(text[since:])
    assert len(known) == len(text)
    try:
        return mark + "".join(parts).encode(codec)
    except UnicodeError:
        return None


def _applied_to_bytes(source: bytes, places: Iterable[Place]) -> bytes:
    parts: list[bytes] = []
    since = 0
    for place in places:
        parts += [source[since : place.at], place.text.encode()]
        since = place.end
    return b"".join((*parts, source[since:]))


def _decoded(raw: bytes, kind: str, source: bytes) -> tuple[str, str, bytes] | None:
    """The text of a file that readers get otherwise than it is written, its codec and its byte order mark."""
    try:
        wanted = source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    mark, codec = next(((bom, name) for bom, name in _BOMS if raw.startswith(bom)), (b"", ""))
    declared = [found[1].decode("ascii") for line in raw.splitlines()[:2] if (found := _COOKIE.search(line))]
    for name in (codec,) if codec else (*declared, *_CODECS):
        try:
            text = raw[len(mark) :].decode(name)
        except (UnicodeError, LookupError):
            continue
        if text == wanted or _LONE_RETURN.sub("\n", text) == wanted:
            return text, name, mark
    return None


def diff(path: str, before: bytes, after: bytes) -> str:
    """A unified diff that `patch -p0` and `git apply -p0` take."""
    rows = unified_diff(_rows(before), _rows(after), path, path, lineterm="\n")
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


def _rows(data: bytes) -> list[str]:
    text = data.decode("utf-8", "surrogateescape")
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)
