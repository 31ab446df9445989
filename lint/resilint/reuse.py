"""What rules found before, kept beside the facts: where nothing that they look at has changed, nothing is linked and checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from resilint import __version__
from resilint.cache import Cache
from resilint.checking import Checked
from resilint.discover import MAX_BYTES, Source, stamp_of
from resilint.marks import Mark
from resilint.model import Finding, Rule
from resilint.own_files import read_regular
from resilint.settings import Settings


class _Kept(msgspec.Struct, frozen=True, gc=False):
    findings: list[Finding]
    waits: dict[str, int]
    marks: list[Mark]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Kept)


class Earlier:
    """The place of what rules find in a program, under all that they may look at.

    These are its files, by their paths and bytes; the settings, with the knowledge they name; and the files that resilint and the
    rules are written in. Where the program lies, what is reported of it, and from where it is seen is nothing to rules.
    """

    def __init__(self, cache: Cache, root: Path, sources: Iterable[Source], settings: Settings) -> None:
        self._cache = cache
        self._root = root
        self._sources = tuple(sources)
        self._settings = settings
        self._before = [*(source.stamp for source in self._sources), *map(_stamp, _named_knowledge(settings))]

    def key(self, read: Mapping[str, bytes], rules: Iterable[Rule]) -> bytes:
        """`read`: what the facts of each file were read from, as the cache names it."""
        rules = tuple(rules)
        digest = blake2b(digest_size=20)
        for part in (__version__, _code_state(rules), *_said(self._settings), *(rule.code for rule in rules)):
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
        for path in _named_knowledge(self._settings):
            digest.update(_content(path))
        for source in self._sources:
            name = f"\0{source.path}\0{source.kind}\0".encode("utf-8", "surrogatepass")
            digest.update(name + (read.get(source.path) or _content(os.path.join(self._root, source.path))))
        return digest.digest()

    def recall(self, key: bytes) -> Checked | None:
        """What was found; none if nothing is known, or what is stored cannot be read any more."""
        found = self._cache.get([key]).get(key)
        try:
            kept = _DECODER.decode(found) if found is not None else None
        except msgspec.MsgspecError:
            return None
        return Checked(findings=kept.findings, waits=kept.waits, marks=kept.marks) if kept is not None else None

    def keep(self, key: bytes, checked: Checked, marks: list[Mark]) -> None:
        """Stores what was found, with the marks of the findings.

        Not if something failed, which may have been the machine, nor if a file has changed meanwhile.
        """
        if checked.failures or self._stamps() != self._before:
            return
        try:
            data = _ENCODER.encode(_Kept(checked.findings, checked.waits, marks))
        except UnicodeEncodeError:
            # Names of files need be no text.
            return
        self._cache.put({key: data})

    def _stamps(self) -> list[tuple[int, ...]]:
        paths = [os.path.join(self._root, source.path) for source in self._sources]
        return [_stamp(path) for path in (*paths, *_named_knowledge(self._settings))]


def _said(settings: Settings) -> Iterator[str]:
    """The settings as they hold, whoever set them, with their places: traces lead there."""
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name == "knowledge":
            value = [one if isinstance(one, str) else (one.value, one.path, one.line) for one in value]
        elif field.name == "places":
            value = sorted(value.items())
        if field.name != "folder":
            yield f"{field.name}={value!r}"


def _named_knowledge(settings: Settings) -> list[str]:
    """Files of knowledge that the settings name; they may lie above the program."""
    return [os.path.join(settings.folder or "", path) for path in settings.knowledge if isinstance(path, str)]


def _content(path: str) -> bytes:
    try:
        return blake2b(read_regular(path, MAX_BYTES), digest_size=20).digest()
    except OSError:
        return b""


def _stamp(path: str) -> tuple[int, ...]:
    """What the file system says of a file; empty where there is none."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return ()


@cache
def _code_state(rules: tuple[Rule, ...]) -> str:
    """A short name for the files of resilint and of the rules as they are: whoever edits a rule sees at once what it finds."""
    written = [Path(rule.check.__code__.co_filename).parent for rule in rules if hasattr(rule.check, "__code__")]
    digest = blake2b(digest_size=8)
    for folder in dict.fromkeys((Path(__file__).parent, *written)):
        for top, inner, files in os.walk(folder):
            inner[:] = sorted(name for name in inner if name != "__pycache__")
            for name in sorted(files):
                # Not when anything else of it changed: a copy is the same code.
                changed, _, size, _ = _stamp(os.path.join(top, name)) or (0, 0, 0, 0)
                digest.update(f"{top}/{name}:{changed}:{size}|".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
