"""Files that people write for resilint, settings and knowledge: read with the care that a stranger's file needs."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 5_000_000
MAX_VALUES = 1_000_000
"""Values of one file, those behind an alias counted each time it is used: lists of aliases of lists multiply."""


_unsaved: ContextVar[Mapping[str, bytes]] = ContextVar("unsaved", default=MappingProxyType({}))


class UnusableError(Exception):
    """Why a file cannot be used, as the end of a message."""


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """The text of a regular file of at most `most` bytes, a byte order mark taken off. Raises `UnusableError`."""
    held = _unsaved.get().get(os.path.abspath(path))
    if held is not None:
        return _decoded(held)
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise UnusableError("is a directory, not a file")
        if not stat.S_ISREG(status.st_mode):
            # A pipe would be waited for, for ever; a device may have no end.
            raise UnusableError("is no regular file")
        if status.st_size > most:
            raise UnusableError(f"is larger than {most // 1_000_000} MB")
        data = path.read_bytes()
    except FileNotFoundError:
        raise UnusableError("is a link to nothing" if path.is_symlink() else "cannot be read: no such file") from None
    except OSError as problem:
        raise UnusableError(f"cannot be read: {reason(problem)}") from None
    return _decoded(data)


@contextmanager
def unsaved(texts: Mapping[str, bytes]) -> Iterator[None]:
    """Within it these texts, by absolute path, take the place of what lies on the disk: an editor has not saved them yet."""
    before = _unsaved.set(texts)
    try:
        yield
    finally:
        _unsaved.reset(before)


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnusableError("not UTF-8 text but UTF-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise UnusableError(f"not UTF-8 text: byte 0x{data[problem.start]:02x} in line {line}") from None


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """The bytes of a regular file. Raises `OSError`, also where it has become a pipe or has more than `most` bytes.

    A pipe would be waited for, for ever; a file that grows while it is read has no end.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    with open(handle, "rb", buffering=0) as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "no regular file", os.fspath(path))
        data = stream.read(min(status.st_size, most) + 1)
        while len(data) <= most and (more := stream.read(most + 1 - len(data))):
            data += more
    if len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most // 1_000_000} MB", os.fspath(path))
    return data


def reason(problem: OSError) -> str:
    """What the system says of a failed call, as the end of a message: `permission denied`."""
    text = problem.strerror or type(problem).__name__
    return text[:1].lower() + text[1:]


def check_aliases(root: yaml.Node, most: int = MAX_VALUES) -> None:
    """Raises `UnusableError` where aliases and merge keys would make more than `most` values of these nodes, or a circle.

    Takes time in the nodes as written, however often aliases multiply them.
    """
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    pending: list[tuple[yaml.Node, bool]] = [(root, False)]
    while pending:
        node, done = pending.pop()
        this = id(node)
        if this in sizes:
            continue
        held = _held(node)
        if done:
            open_nodes.discard(this)
            sizes[this] = 1 + sum(sizes[id(inner)] for inner in held)
            if sizes[this] > most:
                raise UnusableError(f"more than {most} values, those behind an alias counted each time")
        elif this in open_nodes:
            # Open are only the nodes around this one.
            raise UnusableError("an alias inside what it stands for")
        else:
            open_nodes.add(this)
            pending.append((node, True))
            pending.extend((inner, False) for inner in held)


def _held(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node.value, str):
        return []
    return [inner for item in node.value for inner in (item if isinstance(item, tuple) else (item,))]
