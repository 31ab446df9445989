"""The read stage on a Dask cluster: bytes go out, encoded facts come back, whatever the workers can see of the files.

Whoever can reach a scheduler can run code on its workers, with or without resilint: it belongs into a network of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from resilint import __version__
from resilint.cache import key_of
from resilint.facts import READER_VERSION
from resilint.intake import Chunk, Outcome, ReadersError, read_apart, read_bytes
from resilint.kinds import dialect
from resilint.own_files import reason

if TYPE_CHECKING:
    from distributed import Client, Future

_PATIENCE = 30.0
"""Seconds within which a scheduler has to answer, and one worker has to be there."""
_STALL = 300.0
"""Seconds within which some chunk has to come back."""
_AHEAD = 4
"""Chunks on their way for each thread of the workers: enough that none waits for the next, few enough to be held in memory."""

Sent = list[tuple[str, str, bytes]]
"""Path, kind and bytes of each file of a chunk."""


def read_sent(version: str, files: Sent) -> list[Outcome]:
    """What a worker does. Raises `ReadersError` where its resilint is another than the one that asks."""
    if version != _version():
        raise ReadersError(f"the workers run resilint {_version()}, this is {version}: install the same on both sides")
    return [read_bytes(data, path, kind) for path, kind, data in files]


def _version() -> str:
    return f"{__version__} (reader {READER_VERSION})"


class Cluster:
    """Reads chunks of files on the workers of the scheduler at `address` (`tcp://host:8786`)."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __call__(self, root: Path, chunks: Iterable[Chunk]) -> Iterator[list[Outcome]]:
        """The outcomes of all files, chunk by chunk as they come. A chunk whose worker dies goes to another one.

        Raises `ReadersError` where the scheduler or its workers do not answer, or are not of this version.
        """
        client = self._client()
        try:
            with client.as_current():
                yield from self._read(client, root, chunks)
        finally:
            client.close(timeout=_PATIENCE)

    def _client(self) -> Client:
        try:
            from distributed import Client
            from distributed.comm.registry import backends
        except ImportError:
            raise ReadersError("--executor dask needs the package `distributed`: pip install 'resilint[dask]'") from None
        scheme = self._address.partition("://")[0]
        if scheme not in backends or "://" not in self._address:
            # Asked for, it would be tried for a minute after the failure is known.
            raise ReadersError(f"--scheduler {self._address} is no address of a Dask scheduler: write tcp://HOST:8786")
        try:
            client = Client(self._address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as problem:
            said = str(problem).splitlines()
            raise ReadersError(f"no Dask scheduler answers at {self._address}: {said[0] if said else 'it is silent'}") from None
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as problem:
            client.close(timeout=_PATIENCE)
            raise ReadersError(f"the Dask scheduler at {self._address} has no workers") from problem
        return client

    def _read(self, client: Client, root: Path, chunks: Iterable[Chunk]) -> Iterator[list[Outcome]]:
        from distributed import wait

        room = _AHEAD * max(1, sum(client.nthreads().values()))
        waiting = iter(chunks)
        running: dict[Future, Sent] = {}
        while True:
            for chunk in islice(waiting, room - len(running)):
                sent, lost = _loaded(root, chunk)
                if lost:
                    yield lost
                if sent:
                    running[client.submit(read_sent, _version(), sent, pure=False)] = sent
            if not running:
                break
            try:
                done = wait(list(running), timeout=_STALL, return_when="FIRST_COMPLETED").done
            except TimeoutError as problem:
                raise ReadersError(f"the workers of {self._address} have sent nothing for {_STALL:g} s") from problem
            for future in done:
                sent = running.pop(future)
                outcomes = _answer(future, sent)
                if outcomes is not None:
                    yield outcomes
                else:
                    # It killed each worker it came to, or had to share them with one that did.
                    yield from read_apart(root, [(path, kind) for path, kind, _ in sent])


def _loaded(root: Path, chunk: Chunk) -> tuple[Sent, list[Outcome]]:
    """A chunk with its bytes, and what became of the files that cannot be read."""
    sent: Sent = []
    lost = []
    for path, kind in chunk:
        try:
            with open(os.path.join(root, path), "rb") as stream:
                sent.append((path, kind, stream.read()))
        except OSError as refusal:
            lost.append(Outcome(path, b"", b"", reason(refusal)))
    return sent, lost


def _answer(future: Future, sent: Sent) -> list[Outcome] | None:
    """What a worker sent back; none if none lived to do so. Raises `ReadersError`."""
    from distributed import KilledWorker

    try:
        outcomes: list[Outcome] = future.result()
    except KilledWorker:
        return None
    except ReadersError:
        raise
    except (ImportError, AttributeError) as problem:
        raise ReadersError(f"the workers do not have this version of resilint: {problem}") from None
    # A worker's files lie elsewhere and have other times: under which name facts are kept is decided here.
    keys = [key_of(data, kind, dialect(kind, path)) for path, kind, data in sent]
    return [outcome._replace(key=key) for outcome, key in zip(outcomes, keys, strict=True)]
