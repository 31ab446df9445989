"""The bytes that readers get of a file: UTF-8 with line feeds, where its language lets it be written otherwise."""

from __future__ import annotations

import codecs
import re

from resilint.facts import ReadError
from resilint.kinds import KINDS
from resilint.read.settings import unreadable

_COOKIE = re.compile(rb"\A(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]{1,50})")
"""PEP 263: in a comment of the first line, or of the second if nothing but a comment stands above."""
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_NO_SOURCE = frozenset(("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"))
"""Codecs whose text is no plain text; some take the square of its length."""
_ASCII = bytes(range(0x20, 0x7F))


def as_read(data: bytes, kind: str) -> bytes:
    """What a reader is given and what offsets in its facts count in. Bytes that are no text are left as they are."""
    if kind == "yaml" and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        # YAML 1.2 §5.2: a byte order mark chooses UTF-16.
        data = _recoded(data, "utf-16")
    elif kind == "python":
        codec = _declared(data)
        if codec is not None:
            data = _recoded(data, codec)
    elif kind == "properties" and not data.isascii() and _undecodable(data, "utf-8") is not None:
        # java.util.Properties.load: ISO 8859-1 unless a reader says otherwise.
        data = data.decode("latin-1").encode()
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\r" in data and kind in KINDS and KINDS[kind].lone_return:
        data = _LONE_RETURN.sub(b"\n", data)
    return data


def binary(data: bytes, kind: str) -> ReadError | None:
    """Why code that is no text at all is not read, by what `as_read` gave; `None` if it may be text. Formats say so themselves."""
    return unreadable(data) if KINDS[kind].code else None


def fault(data: bytes, kind: str) -> ReadError | None:
    """What a compiler or parser of the language says of the encoding, by what `as_read` gave."""
    if kind == "python" and (cookie := _COOKIE.match(data)) is not None:
        name = cookie[1].decode("ascii")
        codec = _codec(name)
        if codec is None:
            return ReadError(cookie.start(1), f"unknown encoding {name!r}")
        if codec != "utf-8" and _undecodable(data, "utf-8") is not None:
            return ReadError(cookie.start(1), f"not the encoding {name!r} that is declared")
    if kind == "go" and data.count(b"\r") > 1 and b"\n" not in data:
        return ReadError(0, "lines end in carriage returns only, which Go does not take for them")
    if data.isascii() or not KINDS[kind].utf_8_only or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    at = _undecodable(data, "utf-8")
    declared = ", and no encoding is declared" if kind == "python" else ""
    return None if at is None else ReadError(at, f"not UTF-8 text: byte 0x{data[at]:02x}{declared}")


def _declared(data: bytes) -> str | None:
    """The codec that a Python file declares, if it is one other than UTF-8 that source can be written in."""
    if data.startswith(codecs.BOM_UTF8):
        return None
    cookie = _COOKIE.match(data)
    codec = _codec(cookie[1].decode("ascii")) if cookie is not None else None
    return None if codec == "utf-8" else codec


def _codec(name: str) -> str | None:
    """The canonical name of a codec that extends ASCII, as source needs; `None` if there is none."""
    try:
        codec = codecs.lookup(name).name
        if codec.replace("_", "-") in _NO_SOURCE or _ASCII.decode(codec).encode("utf-8") != _ASCII:
            return None
    except (LookupError, ValueError):
        return None
    return "utf-8" if codec in ("utf-8", "utf-8-sig") else codec


def _recoded(data: bytes, codec: str) -> bytes:
    try:
        return data.decode(codec).encode("utf-8")
    except (UnicodeError, LookupError):
        return data


def _undecodable(data: bytes, codec: str) -> int | None:
    """Where text in this codec ends; `None` if all of it is."""
    try:
        data.decode(codec)
    except UnicodeDecodeError as problem:
        return problem.start
    return None
