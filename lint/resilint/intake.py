"""Turns the files of a program into facts: from the cache, in this process, or in worker processes when there is much to read."""

from __future__ import annotations

import os
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import msgspec

from resilint.bodies import Shelf
from resilint.cache import Cache, key_of
from resilint.discover import MAX_BYTES, Source, is_generated
from resilint.facts import FileFacts, decode, encode
from resilint.kinds import dialect
from resilint.own_files import read_regular, reason
from resilint.seen import Brief, Known, Seen, brief_of

T = TypeVar("T")
_WORTH_PROCESSES = 1_000_000
"""Bytes of source below which starting workers takes longer than they save."""
_CHUNK = 500_000
_AT_ONCE = 200
"""Files whose encoded facts are taken from the cache together: more are no quicker, and stay in the heap of the process."""
_WORTH_A_SHELF = 1_000_000
"""Bytes of source from which on encoded bodies do not stay in memory."""


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Items in lists of at most `size`."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


class Files(Mapping[str, FileFacts]):
    """Facts by path, in order of paths. Those of files that are known to be as they were are decoded when they are asked for."""

    def __init__(self, late: Callable[[Mapping[str, Known]], Mapping[str, FileFacts]]) -> None:
        self._late = late
        """Gets the facts of files that are known."""
        self._facts: dict[str, FileFacts | Known] = {}

    def __getitem__(self, path: str) -> FileFacts:
        facts = self._facts[path]
        if isinstance(facts, Known):
            facts = self._late({path: facts})[path]
            self._facts[path] = facts
        return facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __contains__(self, path: object) -> bool:
        return path in self._facts

    def decode(self, paths: Iterable[str]) -> None:
        """Decodes some of them at once, which is quicker than one by one."""
        missing = {path: facts for path in paths if isinstance(facts := self._facts.get(path), Known)}
        if missing:
            self._facts |= self._late(missing)

    def items(self) -> ItemsView[str, FileFacts]:
        """All of them, decoded."""
        self.decode(self._facts)
        return cast("ItemsView[str, FileFacts]", self._facts.items())

    def values(self) -> ValuesView[FileFacts]:
        """As `items`."""
        self.items()
        return cast("ValuesView[FileFacts]", self._facts.values())

    def briefs(self) -> dict[str, Brief]:
        """What every run needs to know of each file; decodes nothing."""
        return {path: facts.brief if isinstance(facts, Known) else brief_of(facts) for path, facts in self._facts.items()}

    def put(self, path: str, facts: FileFacts | Known) -> None:
        """Adds or changes a file; until `sorted` the order is that of coming."""
        self._facts[path] = facts

    def sorted(self, without: frozenset[str] = frozenset(), other: Files | None = None) -> Files:
        """A copy in the order of paths, without some files and with those of another. Who holds this one keeps it as it is."""
        copied = Files(self._late)
        both = self._facts if other is None else {**self._facts, **other._facts}
        copied._facts = {path: both[path] for path in sorted(both) if path not in without}
        return copied


def _never(known: Mapping[str, Known]) -> Mapping[str, FileFacts]:
    raise AssertionError("nothing was recalled")


@dataclass
class Intake:
    """Facts by path, in order of paths, and what happened to the rest."""

    files: Files = field(default_factory=lambda: Files(_never))
    generated: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    keys: dict[str, bytes] = field(default_factory=dict)
    """What the facts of files were read from, as the cache names it."""
    shelf: Shelf | None = None
    """Where bodies are kept; in memory, where there is none."""

    def put(self, outcome: Outcome) -> None:
        """Adds what became of one file; `files` is not kept in order."""
        if outcome.crash:
            self.failed[outcome.path] = outcome.problem
        elif outcome.problem:
            self.unreadable[outcome.path] = outcome.problem
        else:
            self.put_facts(outcome.path, self.decoded(outcome.facts))
            self.keys[outcome.path] = outcome.key

    def decoded(self, data: bytes) -> FileFacts:
        """The facts of these bytes, with their bodies where they are kept. Raises `msgspec.DecodeError`."""
        facts = decode(data)
        return facts if self.shelf is None else self.shelf.put(facts)

    def put_facts(self, path: str, facts: FileFacts | Known) -> None:
        """Adds the facts of one file; `files` is not kept in order."""
        if (facts.brief if isinstance(facts, Known) else facts).generated:
            self.generated.append(path)
        else:
            self.files.put(path, facts)

    def sort(self) -> None:
        """Puts all in the order of paths, whatever came when."""
        self.files = self.files.sorted()
        self.generated.sort()

    def add(self, other: Intake) -> None:
        """Adds what was read of other files."""
        self.files = self.files.sorted(other=other.files)
        self.generated += other.generated
        self.unreadable |= other.unreadable
        self.failed |= other.failed

    def without(self, *paths: str) -> None:
        """Forgets files. Who holds `files` keeps what it was."""
        dropped = frozenset(paths)
        self.files = self.files.sorted(without=dropped)
        self.generated = [path for path in self.generated if path not in dropped]
        for path in dropped:
            self.unreadable.pop(path, None)
            self.failed.pop(path, None)


class Outcome(NamedTuple):
    """What a worker sends back about one file. `facts` is empty where `problem` says why; `crash`: the reader is to blame."""

    path: str
    key: bytes
    facts: bytes
    problem: str = ""
    crash: bool = False


class ReadersError(Exception):
    """Readers that cannot be used: the message says what to do."""


Chunk = list[tuple[str, str]]
"""Paths and kinds of files that are read together."""
Readers = Callable[[Path, Iterable[Chunk]], Iterator[list[Outcome]]]
"""Reads chunks of the files below a root, in any order, elsewhere than in this process and its children."""


def take_in(
    root: Path,
    sources: Iterable[Source],
    cache: Cache | None,
    jobs: int,
    progress: Callable[[int, int], None] | None = None,
    readers: Readers | None = None,
    began: int | None = None,
) -> Intake:
    """Reads every source, with `readers` where they are given. `progress` is told how many of how many files are done.

    `began`: when sources were looked for, in ns since the epoch; now, where it is not given.
    """
    sources = list(sources)
    seen = Seen(root, cache, began) if cache is not None else None
    shelf = Shelf(cache) if cache is not None and sum(source.size for source in sources) > _WORTH_A_SHELF else None
    intake = Intake(Files(lambda known: _late(root, known, cache, intake)), shelf=shelf)
    code = []
    for source in sources:
        known = seen.of(source) if seen is not None else None
        if source.kind == "text":
            intake.put_facts(source.path, FileFacts("text"))
        elif known is not None:
            intake.put_facts(source.path, known)
            intake.keys[source.path] = known.key
        else:
            code.append(source)
    missing = code if cache is None else _recall(root, code, cache, intake)
    done = len(code) - len(missing)
    for outcomes in _read_all(root, missing, jobs) if readers is None or not missing else readers(root, _chunks(missing)):
        fresh: dict[bytes, bytes] = {}
        for outcome in outcomes:
            done += 1
            intake.put(outcome)
            if not outcome.problem:
                fresh[outcome.key] = outcome.facts
        if cache is not None:
            cache.put(fresh)
        if progress is not None:
            progress(done, len(code))
    intake.sort()
    if seen is not None and code:
        generated = {path: Brief(source_kind, generated=True) for path, source_kind in _kinds(sources, intake.generated)}
        seen.keep(sources, intake.keys, {**intake.files.briefs(), **generated})
    return intake


def _kinds(sources: Iterable[Source], paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    wanted = frozenset(paths)
    return ((source.path, source.kind) for source in sources if source.path in wanted)


def _late(root: Path, known: Mapping[str, Known], cache: Cache | None, intake: Intake) -> dict[str, FileFacts]:
    """The facts of files that were read before: from the cache, or read again where it has lost them meanwhile."""
    found = {}
    for part in batched(known, _AT_ONCE):
        stored = cache.get({known[path].key for path in part}) if cache is not None else {}
        for path in part:
            one = known[path]
            try:
                facts = stored.get(one.key) or read_file(str(root), path, one.brief.kind).facts
                found[path] = intake.decoded(facts)
            except msgspec.MsgspecError:
                # Neither stored nor there any more.
                found[path] = FileFacts(one.brief.kind)
    return found


def _recall(root: Path, sources: list[Source], cache: Cache, intake: Intake) -> list[Source]:
    """Takes from the cache what is there; gives back what is not."""
    return [source for part in batched(sources, _AT_ONCE) for source in _recall_part(root, part, cache, intake)]


def _recall_part(root: Path, sources: Sequence[Source], cache: Cache, intake: Intake) -> list[Source]:
    keys: dict[str, bytes] = {}
    for source in sources:
        try:
            data = read_regular(os.path.join(root, source.path), MAX_BYTES)
            keys[source.path] = key_of(data, source.kind, dialect(source.kind, source.path))
        except OSError as problem:
            intake.unreadable[source.path] = reason(problem)
    stored = cache.get(set(keys.values()))
    missing = []
    for source in sources:
        if source.path not in keys:
            continue
        facts = stored.get(keys[source.path])
        try:
            if facts is None:
                missing.append(source)
            else:
                intake.put_facts(source.path, intake.decoded(facts))
                intake.keys[source.path] = keys[source.path]
        except msgspec.MsgspecError:
            missing.append(source)
    return missing


def read_file(root: str, path: str, kind: str) -> Outcome:
    """The facts of one file. Never raises: what goes wrong is part of the answer."""
    try:
        data = read_regular(os.path.join(root, path), MAX_BYTES)
    except OSError as refusal:
        return Outcome(path, b"", b"", reason(refusal))
    return read_bytes(data, path, kind)


def read_bytes(data: bytes, path: str, kind: str) -> Outcome:
    """The facts of a file with these bytes, as `read_file` gives them."""
    from resilint.read import TooMuchWork
    from resilint.read.encoding import as_read

    if kind == "text":
        return Outcome(path, b"", encode(FileFacts("text")))
    try:
        facts = facts_of(as_read(data, kind), path, kind)
    except TooMuchWork as refusal:
        return Outcome(path, b"", b"", str(refusal))
    except Exception as crash:
        return Outcome(path, b"", b"", f"the {kind} reader failed: {type(crash).__name__}: {crash}", crash=True)
    return Outcome(path, key_of(data, kind, dialect(kind, path)), facts)


def facts_of(source: bytes, path: str, kind: str) -> bytes:
    """The encoded facts of a file with these bytes, as its reader gets them."""
    from resilint.read import read
    from resilint.read.encoding import binary, fault

    if kind == "text":
        # No reader: command lines in it are found without one.
        return encode(FileFacts(kind))
    if is_generated(source, kind):
        return encode(FileFacts(kind, generated=True))
    if (problem := binary(source, kind)) is not None:
        # What cannot be read is as good as empty: it still is a file of its package.
        return encode(msgspec.structs.replace(decode(read(b"", kind, dialect(kind, path))), errors=(problem,)))
    facts = read(source, kind, dialect(kind, path))
    if (problem := fault(source, kind)) is not None:
        said = decode(facts)
        return encode(msgspec.structs.replace(said, errors=(problem, *said.errors)))
    return facts


def read_chunk(root: str, files: Chunk) -> list[Outcome]:
    """What a worker does: paths come in, encoded facts go out."""
    return [read_file(root, path, kind) for path, kind in files]


def _read_all(root: Path, sources: list[Source], jobs: int) -> Iterator[list[Outcome]]:
    if jobs > 1 and len(sources) > 1 and sum(source.size for source in sources) > _WORTH_PROCESSES:
        yield from _in_workers(root, sources, jobs)
        return
    for source in sources:
        yield [read_file(str(root), source.path, source.kind)]


def _chunks(sources: list[Source]) -> list[Chunk]:
    """Files of about half a megabyte together, the largest first, so that no worker ends long after the others."""
    chunks: list[Chunk] = []
    room = 0
    for source in sorted(sources, key=lambda source: (-source.size, source.path)):
        if room <= 0:
            chunks.append([])
            room = _CHUNK
        chunks[-1].append((source.path, source.kind))
        # A file costs something besides its bytes.
        room -= source.size + 1000
    return chunks


def _in_workers(root: Path, sources: list[Source], jobs: int) -> Iterator[list[Outcome]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # Not fork: it is unsafe beside threads, and a worker needs nothing of this process.
    chunks = _chunks(sources)
    left: list[Chunk] = []
    with (
        _safe_start(),
        ProcessPoolExecutor(min(jobs, len(chunks)), mp_context=get_context("spawn"), initializer=_start_worker) as pool,
    ):
        running = {pool.submit(read_chunk, str(root), chunk): chunk for chunk in chunks}
        for future in as_completed(running):
            try:
                # Nobody else holds on to what it gave.
                chunk = running.pop(future)
                yield future.result()
            except BrokenProcessPool:
                left.append(chunk)
    for chunk in left:
        yield from read_apart(root, chunk)


def read_apart(root: Path, chunk: Chunk) -> Iterator[list[Outcome]]:
    """Reads what a worker died of. Whatever killed it kills only its own process now: all of the chunk, then file by file."""
    outcomes = _alone(root, chunk)
    if outcomes is not None:
        yield outcomes
        return
    for path, kind in chunk:
        yield _alone(root, [(path, kind)]) or [Outcome(path, b"", b"", f"the {kind} reader killed its process", crash=True)]


def _alone(root: Path, files: Chunk) -> list[Outcome] | None:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    with _safe_start(), ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_start_worker) as pool:
        try:
            return pool.submit(read_chunk, str(root), files).result()
        except BrokenProcessPool:
            return None


@contextmanager
def _safe_start() -> Iterator[None]:
    """Within it a new interpreter imports nothing from the current folder: it is the one that is analysed.

    Workers start as `python -c`, which puts that folder before all others.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _start_worker() -> None:
    import gc
    import signal
    import threading

    threading.Thread(target=_end_with_parent, daemon=True).start()

    # Ctrl-C is the main process's to answer; facts are built of structs that need no collector.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()


def _end_with_parent() -> None:
    """Ends a worker whose main process was killed: it would wait for work for ever."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
