"""Facts of files read before, in one SQLite file under the user's cache folder. A cache that fails changes nothing but the time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import IO
from zlib import crc32

from resilint.facts import READER_VERSION

MAX_BYTES = 1_000_000_000
_BATCH = 500
_FLUSH = 4_000_000
"""Bytes that are written at once: more wait in memory for no gain."""
_FILE = "facts.sqlite3"
_LAYOUT = 2
"""Of the table. A file of another one, from an older or a newer resilint, is started over."""
_SUM = 4
"""Bytes in front of a value: what it adds up to. SQLite notices damage to its own pages, not to what stands in them."""


def key_of(data: bytes, kind: str, dialect: str = "") -> bytes:
    """What a file's facts are stored under: its bytes, its kind and dialect, and the state of the readers, nothing else."""
    return blake2b(data, digest_size=20, key=f"{kind}{dialect}:{READER_VERSION}:{readers_state()}".encode()).digest()


@cache
def readers_state() -> str:
    """A short name for the readers' own files as they are: whoever edits a reader sees what it reads at once."""
    here = Path(__file__).parent
    files = [here / "kinds.py", *sorted((here / "read").glob("*.py"))]
    states = [f"{file.name}:{status.st_size}:{status.st_mtime_ns}" for file in files for status in [file.stat()]]
    return blake2b("|".join(states).encode(), digest_size=8).hexdigest()


def default_folder() -> Path | None:
    """The cache folder: `RESILINT_CACHE_DIR`, else `resilint` in the user's cache; `None` without a home."""
    if chosen := os.environ.get("RESILINT_CACHE_DIR"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "resilint"
    try:
        return Path.home() / ".cache" / "resilint"
    except RuntimeError:
        return None


class Cache:
    """Encoded facts by key. Several runs may share the file; only the main process of each writes.

    The file is opened when it is first used, and again when it is used after `close`.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._connection: sqlite3.Connection | None = None
        self._is_given_up = folder is None
        self._pending: list[tuple[bytes, bytes]] = []
        self._waiting = 0
        """Bytes of what is pending."""

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """What is stored of these keys."""
        found: dict[bytes, bytes] = {}
        wanted = list(keys)
        for start in range(0, len(wanted), _BATCH):
            connection = self._opened()
            if connection is None:
                break
            part = wanted[start : start + _BATCH]
            marks = ",".join("?" * len(part))
            try:
                rows = connection.execute(f"SELECT k, v FROM facts WHERE k IN ({marks})", part)
                found.update((key, value) for key, stored in rows if (value := _unpacked(stored)) is not None)
            except sqlite3.Error as problem:
                self._give_up(problem)
        return found

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Stores entries, some now and the rest when closed."""
        self._pending.extend((key, _packed(value)) for key, value in entries.items())
        self._waiting += sum(map(len, entries.values()))
        if len(self._pending) >= _BATCH or self._waiting >= _FLUSH:
            self._flush()

    def close(self) -> None:
        """Writes what is left, and drops the oldest half when the file has grown too large."""
        wrote = bool(self._pending)
        self._flush()
        if self._connection is None:
            return
        try:
            if wrote:
                self._shrink(self._connection)
            self._connection.close()
        except sqlite3.Error as problem:
            self._give_up(problem)
        self._connection = None

    def scratch(self) -> IO[bytes] | None:
        """A new file without a name in the cache's folder, written and read without a buffer; none where there can be none."""
        from tempfile import TemporaryFile

        if self._opened() is None or self._folder is None:
            return None
        try:
            return TemporaryFile(buffering=0, dir=self._folder)
        except OSError:
            return None

    def _opened(self) -> sqlite3.Connection | None:
        if self._connection is None and not self._is_given_up and self._folder is not None:
            self._connection = _open(self._folder)
            self._is_given_up = self._connection is None
        return self._connection

    def _flush(self) -> None:
        self._waiting = 0
        connection = self._opened() if self._pending else None
        if connection is None:
            self._pending = []
            return
        try:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO facts (k, v) VALUES (?, ?)", self._pending)
        except sqlite3.Error as problem:
            self._give_up(problem)
        self._pending = []

    def _shrink(self, connection: sqlite3.Connection) -> None:
        (pages,), (free,), (size,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
        )
        if (pages - free) * size <= MAX_BYTES:
            return
        with connection:
            connection.execute("DELETE FROM facts WHERE id <= (SELECT (min(id) + max(id)) / 2 FROM facts)")
        connection.execute("PRAGMA incremental_vacuum")

    def _give_up(self, problem: sqlite3.Error) -> None:
        """Goes on without: locked by others for too long, a full disk, or a damaged file, which the next run starts over."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None
        self._is_given_up = True
        if self._folder is not None and not isinstance(problem, sqlite3.OperationalError):
            _remove(self._folder)


@dataclass(frozen=True)
class State:
    """What lies in a cache folder: the file, its bytes with those beside it, its entries (none: it cannot be read)."""

    file: Path
    size: int
    entries: int | None


def state(folder: Path) -> State:
    """Looks at a cache and changes nothing. Raises `OSError` where it cannot be looked at."""
    file = folder / _FILE
    size = 0
    for part in _parts(folder):
        with suppress(FileNotFoundError):
            size += part.stat().st_size
    entries: int | None = None
    if not size:
        return State(file, 0, 0)
    with suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            if connection.execute("PRAGMA user_version").fetchone() == (_LAYOUT,):
                (entries,) = connection.execute("SELECT count(*) FROM facts").fetchone()
        finally:
            connection.close()
    return State(file, size, entries)


def clear(folder: Path) -> None:
    """Removes the cache's own files, and nothing else that may lie in the folder. Raises `OSError`.

    Runs that are using it go on with what they opened.
    """
    for part in _parts(folder):
        part.unlink(missing_ok=True)


def _parts(folder: Path) -> list[Path]:
    return [folder / f"{_FILE}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")]


def _packed(value: bytes) -> bytes:
    return crc32(value).to_bytes(_SUM, "big") + value


def _unpacked(stored: object) -> bytes | None:
    """The value; none where it is not what was put in."""
    if not isinstance(stored, bytes) or len(stored) < _SUM:
        return None
    value = stored[_SUM:]
    return value if crc32(value).to_bytes(_SUM, "big") == stored[:_SUM] else None


def _open(folder: Path) -> sqlite3.Connection | None:
    file = folder / _FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _connect(file)
    except sqlite3.DatabaseError as problem:
        # A locked or read-only file is an OperationalError; what remains is a file that is no database any more.
        if isinstance(problem, sqlite3.OperationalError):
            return None
    except OSError:
        return None
    try:
        _remove(folder)
        return _connect(file)
    except sqlite3.Error:
        return None


def _remove(folder: Path) -> None:
    with suppress(OSError):
        clear(folder)


def _check_layout(connection: sqlite3.Connection) -> None:
    """Raises `DatabaseError` for a file that another version of resilint has written."""
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    if layout == _LAYOUT:
        return
    with connection:
        # Only one of several runs that begin at once finds it empty.
        connection.execute("BEGIN IMMEDIATE")
        (layout,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if layout not in (0, _LAYOUT) or (layout == 0 and tables):
            raise sqlite3.DatabaseError(f"layout {layout}")
        connection.execute(f"PRAGMA user_version={_LAYOUT}")


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=5, cached_statements=8)
    try:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA mmap_size=268435456")
        _check_layout(connection)
        with connection:
            connection.execute("CREATE TABLE IF NOT EXISTS facts (id INTEGER PRIMARY KEY, k BLOB UNIQUE NOT NULL, v BLOB NOT NULL)")
        # Touches a page of the table's index, so that damage shows here, where the file can still be started over.
        connection.execute("SELECT k FROM facts LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
