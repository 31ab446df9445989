"""Programs made of the cases and examples of this repository, damaged as files get damaged, and as nobody would write them."""

from __future__ import annotations

import codecs
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from resilint.discover import kind_of_name
from resilint.settings import FILE
from resilint.testing import cases

REPOSITORY = Path(__file__).parents[2]

Tree = dict[str, bytes]
"""The bytes of files by their paths."""


@cache
def trees() -> tuple[Tree, ...]:
    """The files of every case, of every example on a page, and of the outages."""
    found = []
    for page in sorted((*REPOSITORY.glob("tests/cases/*/*.md"), *REPOSITORY.glob("rule_docs/*.md"), *REPOSITORY.glob("docs/*.md"))):
        found += [{path: text.encode() for path, text in case.files.items()} for case in cases(page.read_text("utf-8"))]
    for folder in sorted(REPOSITORY.glob("examples/outages/*/*/")):
        files = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}
        found.append({path: file.read_bytes() for path, file in files.items()})
    return tuple(tree for tree in found if any(kind_of_name(path) for path in tree))


@cache
def lines_of(kind: str) -> tuple[bytes, ...]:
    """Lines of all files of a kind: what to put where it does not belong."""
    found: dict[bytes, None] = {}
    for tree in trees():
        for path, data in tree.items():
            if kind_of_name(path) == kind:
                found.update(dict.fromkeys(data.splitlines(keepends=True)))
    return tuple(found)


_WORD = re.compile(rb"[A-Za-z_]\w*")
_NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:ms|s|m|h)?")
_NUMBERS = (
    b"0",
    b"-1",
    b"1e999",
    b"-0.0",
    b"9" * 400,
    b"0x" + b"f" * 40,
    b"1_0",
    b"nan",
    b".5",
    b"00",
    b"1e-400",
    b"9223372036854775808",
    b"2147483648",
    b"999999999999h",
    b"0s",
    b"-5s",
    b"\xd9\xa3",
)
_TOKENS = (
    *(bytes([byte]) for byte in b"{}()[]<>\"'`,.;:=\\@#$%&*|!?~^/- \n\t\r\0"),
    b"'''",
    b'"""',
    b"/*",
    b"*/",
    b"//",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"${",
    b"{{",
    b"}}",
    b"{%",
    b"&a ",
    b"*a",
    b"<<: ",
    b"---\n",
    b"lambda: ",
    b"async ",
    b"await ",
    b"yield ",
    b"return ",
    b"def f():\n",
    b"func ",
    b"go ",
    b"defer ",
    b"select {",
    b"class ",
    b"new ",
    b"-> ",
    b"while True:\n",
    b"for {\n",
    b"self.",
    b"this.",
    b"*args, **kw",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    "\u2028".encode(),
    "\u202e".encode(),
    "𝄞".encode(),
    "İ".encode(),
    codecs.BOM_UTF8,
)


def _span(rng: random.Random, data: bytes, most: int = 200) -> tuple[int, int]:
    at = rng.randrange(len(data) + 1)
    return at, min(len(data), at + rng.randrange(1, most))


def _cut(rng: random.Random, data: bytes, kind: str) -> bytes:
    at, end = _span(rng, data)
    return data[:at] + data[end:]


def _truncate(rng: random.Random, data: bytes, kind: str) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _flip(rng: random.Random, data: bytes, kind: str) -> bytes:
    made = bytearray(data or b" ")
    for _ in range(rng.randrange(1, 6)):
        made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)


def _insert(rng: random.Random, data: bytes, kind: str) -> bytes:
    at, _ = _span(rng, data)
    return data[:at] + rng.choice(_TOKENS) * rng.choice((1, 1, 1, 2, 5, 300)) + data[at:]


def _repeat(rng: random.Random, data: bytes, kind: str) -> bytes:
    at, end = _span(rng, data, 40)
    return data[:at] + data[at:end] * rng.choice((2, 3, 50, 1000)) + data[end:]


def _move_lines(rng: random.Random, data: bytes, kind: str) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    at = rng.randrange(len(lines))
    taken = [lines.pop(at) for _ in range(min(rng.randrange(1, 4), len(lines) - at))]
    to = rng.randrange(len(lines) + 1)
    return b"".join((*lines[:to], *taken, *lines[to:]))


def _double_lines(rng: random.Random, data: bytes, kind: str) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    at = rng.randrange(len(lines))
    end = at + rng.randrange(1, 12)
    return b"".join((*lines[:end], *lines[at:]))


def _drop_line(rng: random.Random, data: bytes, kind: str) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    lines.pop(rng.randrange(len(lines)))
    return b"".join(lines)


def _borrow(rng: random.Random, data: bytes, kind: str) -> bytes:
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines) + 1)
    foreign = lines_of(kind)
    return b"".join((*lines[:at], *(rng.choice(foreign) for _ in range(rng.randrange(1, 4)) if foreign), *lines[at:]))


def _indent(rng: random.Random, data: bytes, kind: str) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    at = rng.randrange(len(lines))
    for index in range(at, min(len(lines), at + rng.randrange(1, 6))):
        lines[index] = lines[index].lstrip(b" \t") if rng.random() < 0.5 else rng.choice((b"    ", b"\t", b" ")) + lines[index]
    return b"".join(lines)


def _swap_words(rng: random.Random, data: bytes, kind: str) -> bytes:
    """One name for another, here or everywhere: the program still parses, and calls itself, or what it should not."""
    words = list(_WORD.finditer(data))
    if len(words) < 2:
        return data
    one, other = rng.choice(words), rng.choice(words)
    if rng.random() < 0.3:
        return re.sub(rb"\b" + one[0] + rb"\b", lambda _: other[0], data)
    return data[: one.start()] + other[0] + data[one.end() :]


def _renumber(rng: random.Random, data: bytes, kind: str) -> bytes:
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return data
    one = rng.choice(numbers)
    return data[: one.start()] + rng.choice((*_NUMBERS, rng.choice(numbers)[0])) + data[one.end() :]


def _encode(rng: random.Random, data: bytes, kind: str) -> bytes:
    text = data.decode("utf-8", "replace")
    way = rng.randrange(7)
    if way == 0:
        return data.replace(b"\n", b"\r\n")
    if way == 1:
        return data.replace(b"\n", b"\r")
    if way == 2:
        return codecs.BOM_UTF8 + data
    if way == 3:
        return b"# coding: " + rng.choice((b"latin-1", b"utf-16", b"rot13", b"shift_jis", b"utf-7", b"no-such")) + b"\n" + data
    return text.encode(rng.choice(("utf-16", "utf-16-be", "utf-32", "utf-8-sig")))


MUTATIONS: tuple[Callable[[random.Random, bytes, str], bytes], ...] = (
    _cut,
    _truncate,
    _flip,
    _insert,
    _insert,
    _repeat,
    _move_lines,
    _double_lines,
    _drop_line,
    _borrow,
    _borrow,
    _indent,
    _swap_words,
    _swap_words,
    _swap_words,
    _renumber,
    _renumber,
    _encode,
)

_MOST_BYTES = 200_000


def mutated(rng: random.Random, data: bytes, kind: str) -> bytes:
    """A damaged file: once or several times, by bytes, lines, words or numbers."""
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        made = rng.choice(MUTATIONS)(rng, data, kind)
        if len(made) <= _MOST_BYTES:
            data = made
    return data


def damaged_program(rng: random.Random) -> tuple[Tree, int]:
    """One to four cases in one program, beside or over each other, and how many of its files are damaged: most.

    Settings of resilint are left out.
    """
    made: Tree = {}
    whole = 0
    for number in range(rng.choice((1, 1, 2, 4))):
        before = "" if rng.random() < 0.5 else f"part{number}/"
        for path, data in rng.choice(trees()).items():
            kind = kind_of_name(path)
            if path.rpartition("/")[2] != FILE:
                made[before + path] = mutated(rng, data, kind or "text") if rng.random() < 0.8 else data
                whole += made[before + path] == data
    return made, max(0, len(made) - whole)
