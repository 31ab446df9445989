"""What is new in a program, compared with earlier states of the repository it lies in."""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from resilint.baseline import MAX_BYTES
from resilint.checking import Failure, input_errors
from resilint.discover import every_path, may_be_read
from resilint.history import Entry, HistoryError, Repository, State
from resilint.marks import Mark, Scopes, match
from resilint.scope import Copied, Scope
from resilint.settings import FILE, PYPROJECT, Settings, SettingsError, load

if TYPE_CHECKING:
    from resilint.run import Result

Run = Callable[[Scope, Settings], "Result"]
"""Runs the same rules over another scope."""


class Gate:
    """The state of a program that is judged, and those it is compared with.

    `scope` and `settings` are those of the judged state.
    """

    def __init__(self, scope: Scope, settings: Settings, revision: str | None, staged: bool, folder: Path) -> None:
        self._repository = repository = Repository(scope.root)
        if not scope.root.is_relative_to(repository.top):
            raise HistoryError(f"git's work tree is {repository.top}, which does not hold the program")
        self._folder = folder
        self._origin = scope
        below = scope.root.relative_to(repository.top).as_posix()
        self._prefix = "" if below == "." else below + "/"
        self._commits = repository.before(revision) if revision is not None else []
        self.compares = revision is not None
        """Whether there is something to compare with, or only another state to judge."""
        self.scope, self.settings = scope, settings
        self._old: dict[str, tuple[Sequence[Mark], Mapping[str, str]] | None] = {}
        self.failures: list[Failure] = []
        """Faults of resilint itself in an earlier state: what it would have found there is not known."""
        self._staged: State | None = None
        if staged:
            self._staged = repository.staged_state()
            self.scope = self._copy(self._staged, "staged", scope.reported, earlier=False)
            try:
                self.settings = load(self.scope.root)
            except SettingsError as problem:
                raise SettingsError(problem.problems, scope.root) from None
            if self.settings.folder is not None:
                # Where people see it: of what it names by its path, the work tree has what is judged.
                there = self.settings.folder.relative_to(folder / "staged" / repository.top.name)
                self.settings = replace(self.settings, folder=repository.top / there)

    def known(self, marks: Sequence[Mark], scopes: Scopes, run: Run) -> list[bool]:
        """Which of these findings were there before. `run` is asked for an earlier state only if there is one to compare with.

        Raises `HistoryError` where that state cannot be had.
        """
        known = [False] * len(marks)
        for commit in self._commits:
            left = [index for index, was_there in enumerate(known) if not was_there]
            if not left:
                break
            if commit not in self._old:
                self._old[commit] = self._looked_at(commit, run)
            old = self._old[commit]
            if old is None:
                return [True] * len(marks)
            found = match([marks[index] for index in left], old[0], scopes, old[1])
            for index, was_there in zip(left, found.known, strict=True):
                known[index] = was_there
        return known

    def staged_file(self, file: Path) -> Path | None:
        """A copy of a file of the work tree as it is staged; `None` where it is not."""
        if self._staged is None:
            return file
        name = os.path.relpath(file, self._repository.top).replace(os.sep, "/")
        entry = next((entry for entry in self._staged.entries if entry.path == name), None)
        data = self._repository.content(entry, MAX_BYTES) if entry is not None else None
        if data is None:
            return None
        copy = self._folder / "baseline"
        copy.write_bytes(data)
        return copy

    def _looked_at(self, commit: str, run: Run) -> tuple[Sequence[Mark], Mapping[str, str]] | None:
        """The marks of a commit, and where its files are now; `None` where it is the judged state itself."""
        state = self._repository.commit_state(commit)
        if self._is_same(state):
            return None
        scope = self._copy(state, f"before{len(self._old)}", (), earlier=True)
        # The program that was judged is not needed any more: on a million lines, a third of the memory at the peak.
        gc.collect()
        try:
            old = run(scope, self._settings_of(scope))
        except input_errors():
            # They were not usable then, or do not fit what this version makes of them.
            old = run(scope, self.settings)
        self.failures += [replace(one, message=f"in {state.name}: {one.message}") for one in old.failures]
        return old.marks, self._renames(state)

    # ---- copies

    def _copy(self, state: State, name: str, reported: tuple[str, ...], *, earlier: bool) -> Scope:
        """The program as it is in a state, in a folder of its own that is called like the repository."""
        top = self._folder / name / self._repository.top.name
        root = top / self._prefix
        root.mkdir(parents=True)
        # Settings are searched up to here.
        (top / ".git").mkdir()
        self._repository.lay_out(state, top, self._is_wanted)
        origin = self._origin
        listed = tuple(entry.path.removeprefix(self._prefix) for entry in state.entries if entry.path.startswith(self._prefix))
        return Copied(root, origin.base, origin.under, reported, origin.current, origin=origin, listed=listed, earlier=earlier)

    def _is_wanted(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        if not path.startswith(self._prefix):
            # Settings above the program, and what they may name.
            return name in (FILE, PYPROJECT) or name.endswith((".yaml", ".yml"))
        inside = path.removeprefix(self._prefix)
        befores = (part + "/" if part else "" for part in self._origin.under)
        return name == FILE or any(inside.startswith(before) and may_be_read(inside[len(before) :]) for before in befores)

    def _settings_of(self, scope: Scope) -> Settings:
        """What was declared then, with the filters of today: a rule that is switched on makes nothing new."""
        now = self.settings
        try:
            then = load(scope.root)
        except SettingsError:
            return now
        if then.prefix != now.prefix:
            return now
        return replace(
            then,
            select=now.select,
            ignore=now.ignore,
            exclude=now.exclude,
            per_path=now.per_path,
            test_paths=now.test_paths,
            severity=now.severity,
            confidence=now.confidence,
            require_reason=now.require_reason,
        )

    # ---- differences

    def _is_same(self, state: State) -> bool:
        """Whether nothing that is read differs between a state and the one that is judged."""
        then = {entry.path: entry.id for entry in state.entries if self._is_wanted(entry.path)}
        if self._staged is not None:
            return then == {entry.path: entry.id for entry in self._staged.entries if self._is_wanted(entry.path)}
        here = {path for path in self._present if self._is_wanted(path)}
        if {path for path in then if path.startswith(self._prefix)} != here:
            return False
        settings = self.settings.folder
        if settings is not None and not any(
            (settings / name).relative_to(self._repository.top).as_posix() in then for name in (FILE, PYPROJECT)
        ):
            return False
        return all(_is_stored_as(self._repository.top / path, name) for path, name in then.items())

    @cached_property
    def _present(self) -> list[str]:
        """The files of the work tree below the program's root, from the top. Git lists those as well that were deleted."""
        root = self._origin.root
        return [self._prefix + path for path in every_path(root) if os.path.lexists(root / path)]

    def _renames(self, state: State) -> dict[str, str]:
        """New paths by old ones, relative to the program's root."""
        now: dict[str, Entry | str] = (
            {entry.path: entry for entry in self._staged.entries}
            if self._staged is not None
            else {path: path for path in self._present}
        )
        then = {entry.path: entry for entry in state.entries}
        start = self._prefix
        gone = [entry for path, entry in then.items() if path not in now and path.startswith(start) and may_be_read(path)]
        new = [one for path, one in now.items() if path not in then and path.startswith(start) and may_be_read(path)]
        moved = self._repository.renames(gone, new)
        return {old.removeprefix(start): path.removeprefix(start) for old, path in moved.items()}


@contextmanager
def opened(scope: Scope, settings: Settings, revision: str | None, *, staged: bool) -> Iterator[Gate]:
    """A gate for as long as its copies of other states exist. `revision`: what to compare with; `staged`: what to judge.

    Raises `HistoryError`, and `SettingsError` for what is staged.
    """
    with _ended_in_order(), TemporaryDirectory(prefix="resilint-", dir=_quick_folder()) as folder:
        yield Gate(scope, settings, revision, staged, Path(folder).resolve())


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Whoever ends the process, as CI does with a job that is cancelled, leaves no copies behind: they may lie in memory."""
    own, before = os.getpid(), {}

    def leave(number: int, frame: object) -> None:
        if os.getpid() != own:
            # A child has nothing to clear away.
            os._exit(128 + number)
        raise SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_MEMORY = "/dev/shm"
_ROOM = 2**30
"""Bytes free there before anything is laid out in it: a container has 64 MB, what is read of a repository is far less."""


def _quick_folder() -> str | None:
    """Where copies of states are laid out: in memory, unless somebody says where temporary files belong or there is little of it.

    Thousands of folders are made and removed; on a busy disk that takes longer than all else.
    """
    if any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")):
        return None
    try:
        there = os.statvfs(_MEMORY)
    except (OSError, AttributeError):
        return None
    return _MEMORY if there.f_bavail * there.f_frsize >= _ROOM and os.access(_MEMORY, os.W_OK | os.X_OK) else None


def _is_stored_as(file: Path, name: str) -> bool:
    """Whether git would store the bytes of a file under this id."""
    try:
        data = file.read_bytes() if not file.is_symlink() else bytes(file.readlink())
    except OSError:
        return False
    digest = hashlib.new("sha1" if len(name) == 40 else "sha256", usedforsecurity=False)
    digest.update(f"blob {len(data)}\0".encode() + data)
    return digest.hexdigest() == name
