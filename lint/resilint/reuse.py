"""What rules found before, kept beside the facts: where nothing that they look at has changed, nothing is linked and checked.

What they look at is known twice: as all that a program is made of, and, of the run before, as what was read of it (`looked.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from zlib import compress, decompress
from zlib import error as ZlibError

import msgspec

from resilint import __version__
from resilint.cache import Cache
from resilint.checking import Checked
from resilint.discover import MAX_BYTES, Source, stamp_of
from resilint.facts import FileFacts, decode
from resilint.link.looks import Scan
from resilint.marks import Mark, marks_of
from resilint.model import Finding, Rule
from resilint.own_files import read_regular
from resilint.settings import Settings
from resilint.text import Lines

if TYPE_CHECKING:
    from resilint.looked import Changed, Look, Looked


class _Kept(msgspec.Struct, frozen=True, gc=False):
    findings: list[Finding]
    waits: dict[str, int]
    marks: list[Mark]


class _File(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A file as the last run saw it: `Look` with its scans by their numbers."""

    kind: str
    key: bytes
    whole: bool = False
    bodies: tuple[int, ...] = ()
    scans: tuple[int, ...] = ()
    said: tuple[tuple[int, bool], ...] = ()
    marked: tuple[tuple[int, tuple[tuple[int, bool], ...]], ...] = ()
    cuts: tuple[tuple[int, int, bytes], ...] = ()
    rows: tuple[tuple[int, int, bytes], ...] = ()
    places: tuple[tuple[int, int, int], ...] = ()


class _Last(msgspec.Struct, frozen=True, gc=False):
    """The last run over a program with the same settings and rules: where its findings are, and what it looked at."""

    found: bytes
    scans: list[Scan]
    files: dict[str, msgspec.Raw]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Kept)
_LAST = msgspec.msgpack.Decoder(_Last)
_FILE = msgspec.msgpack.Decoder(_File)
_MOST = 50
"""Changed files that are compared with what they were: past it, so much may be another that it is not worth the time."""


class Texts(Protocol):
    """The bytes and lines of files, as readers got them."""

    def source(self, path: str) -> bytes: ...
    def lines(self, path: str) -> Lines: ...


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
        self._keys: dict[str, bytes] = {}
        """The name of the bytes of each file."""

    def key(self, read: Mapping[str, bytes], rules: Iterable[Rule]) -> bytes:
        """`read`: what the facts of each file were read from, as the cache names it."""
        digest = self._beside_files(rules)
        for source in self._sources:
            name = f"\0{source.path}\0{source.kind}\0".encode("utf-8", "surrogatepass")
            known = read.get(source.path) or self._keys.get(source.path) or _content(os.path.join(self._root, source.path))
            self._keys[source.path] = known
            digest.update(name + known)
        return digest.digest()

    def _beside_files(self, rules: Iterable[Rule], person: bytes = b"") -> blake2b:
        rules = tuple(rules)
        digest = blake2b(digest_size=20, person=person)
        for part in (__version__, _code_state(rules), *_said(self._settings), *(rule.code for rule in rules)):
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
        for path in _named_knowledge(self._settings):
            digest.update(_content(path))
        return digest

    def recall(self, key: bytes) -> Checked | None:
        """What was found; none if nothing is known, or what is stored cannot be read any more."""
        found = self._cache.get([key]).get(key)
        try:
            kept = _DECODER.decode(found) if found is not None else None
        except msgspec.MsgspecError:
            return None
        if kept is None or len(kept.marks) != len(kept.findings):
            return None
        return Checked(findings=kept.findings, waits=kept.waits, marks=kept.marks)

    def keep(self, key: bytes, rules: tuple[Rule, ...], checked: Checked) -> None:
        """Stores what was found, with the marks of the findings and what was looked at.

        Not if something failed, which may have been the machine, nor if a file has changed meanwhile.
        """
        if checked.failures or self._stamps() != self._before:
            return
        from resilint.looked import opened

        scans = {scan: number for number, scan in enumerate(_scans(checked.looked))}
        files = {}
        for source in self._sources:
            look = opened(checked.looked, source.path)
            files[source.path] = msgspec.Raw(_ENCODER.encode(_as_file(source.kind, self._keys[source.path], look, scans)))
        self._put(key, rules, checked, _Last(key, list(scans), files))

    def _put(self, key: bytes, rules: tuple[Rule, ...], checked: Checked, last: _Last) -> None:
        try:
            found = _ENCODER.encode(_Kept(checked.findings, checked.waits, list(checked.marks)))
            looked = compress(_ENCODER.encode(last), 1) if _are_own(rules) else None
        except UnicodeEncodeError:
            # Names of files need be no text.
            return
        self._cache.put({key: found} if looked is None else {key: found, self._last(rules): looked})

    def replayed(self, key: bytes, rules: tuple[Rule, ...], files: Mapping[str, FileFacts], texts: Texts) -> Checked | None:
        """What the last run found, at the places where it stands now, if files have changed in nothing that it looked at.

        Then it is stored as what is found under this key. `files`: the facts as they are now.
        """
        from resilint.looked import moved, unchanged

        last = self._recalled(rules) if _are_own(rules) else None
        if last is None or last.files.keys() != {source.path for source in self._sources}:
            return None
        kept = self.recall(last.found)
        before: dict[str, _File] = {}
        for source in self._sources:
            file = _file(last.files[source.path])
            if file is None or file.kind != source.kind:
                return None
            if file.key != self._keys[source.path]:
                before[source.path] = file
        if kept is None or len(before) > _MOST or any(file.kind == "text" or path not in files for path, file in before.items()):
            return None
        facts = self._cache.get(file.key for file in before.values())
        changed: dict[str, Changed] = {}
        for path, file in before.items():
            old, look = _facts(facts.get(file.key)), _as_look(file, last.scans)
            now = unchanged(path, look, old, files[path], texts.source(path)) if old is not None and look is not None else None
            if now is None:
                return None
            changed[path] = now
        findings = moved(kept.findings, changed)
        if findings is None:
            return None
        marks = list(kept.marks)
        again = [index for index, finding in enumerate(findings) if finding.span.path in changed]
        for index, mark in zip(again, marks_of([findings[index] for index in again], files, texts.lines), strict=True):
            marks[index] = mark
        checked = Checked(findings=findings, waits=kept.waits, marks=marks)
        if self._stamps() == self._before:
            scans = {scan: number for number, scan in enumerate(last.scans)}
            for path, now in changed.items():
                row = _as_file(before[path].kind, self._keys[path], now.look, scans)
                last.files[path] = msgspec.Raw(_ENCODER.encode(row))
            self._put(key, rules, checked, _Last(key, last.scans, last.files))
        return checked

    def _last(self, rules: tuple[Rule, ...]) -> bytes:
        digest = self._beside_files(rules, b"last")
        digest.update(str(self._root).encode("utf-8", "surrogatepass"))
        return digest.digest()

    def _recalled(self, rules: tuple[Rule, ...]) -> _Last | None:
        row = self._last(rules)
        stored = self._cache.get([row]).get(row)
        try:
            return _LAST.decode(decompress(stored)) if stored is not None else None
        except (msgspec.MsgspecError, ZlibError):
            return None

    def _stamps(self) -> list[tuple[int, ...]]:
        paths = [os.path.join(self._root, source.path) for source in self._sources]
        return [_stamp(path) for path in (*paths, *_named_knowledge(self._settings))]


def _are_own(rules: Iterable[Rule]) -> bool:
    """Whether all rules are resilint's: what others read by themselves is not known."""
    return all(rule.code.startswith("RS") for rule in rules)


def _scans(looked: Looked) -> dict[Scan, None]:
    from resilint.looked import opened

    looks = (look for path in looked if (look := opened(looked, path)) is not None)
    return {scan: None for look in looks for scan in sorted({*look.scans, *look.said, *look.marked})}


def _as_file(kind: str, key: bytes, look: Look | None, scans: Mapping[Scan, int]) -> _File:
    if look is None:
        return _File(kind, key)
    return _File(
        kind,
        key,
        look.whole,
        tuple(sorted(look.bodies)),
        tuple(sorted(scans[scan] for scan in look.scans)),
        tuple(sorted((scans[scan], answer) for scan, answer in look.said.items())),
        tuple(sorted((scans[scan], tuple(sorted(answers.items()))) for scan, answers in look.marked.items())),
        tuple(sorted((at, end, name) for (at, end), name in look.cuts.items())),
        tuple(sorted((at, end, name) for (at, end), name in look.rows.items())),
        tuple(sorted((at, line, column) for at, (line, column) in look.places.items())),
    )


def _file(stored: msgspec.Raw) -> _File | None:
    try:
        return _FILE.decode(stored)
    except msgspec.MsgspecError:
        return None


def _as_look(file: _File, scans: list[Scan]) -> Look | None:
    """What was looked at in a file; none if what is stored of it cannot be meant."""
    from resilint.looked import Look

    named = {*file.scans, *(number for number, _ in (*file.said, *file.marked))}
    if not all(0 <= number < len(scans) and scans[number].is_sound for number in named):
        return None
    # Places in a text are patterns' only.
    if any(scans[number].kind != "pattern" for number, _ in file.marked):
        return None
    return Look(
        file.whole,
        set(file.bodies),
        {scans[number] for number in file.scans},
        {scans[number]: answer for number, answer in file.said},
        {scans[number]: dict(answers) for number, answers in file.marked},
        {(at, end): name for at, end, name in file.cuts},
        {(at, end): name for at, end, name in file.rows},
        {at: (line, column) for at, line, column in file.places},
    )


def _facts(stored: bytes | None) -> FileFacts | None:
    try:
        return decode(stored) if stored is not None else None
    except msgspec.MsgspecError:
        return None


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
