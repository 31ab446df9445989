"""What the program is that a command line speaks of, and which part of it is reported."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from resilint.own_files import reason
from resilint.settings import find


class ScopeError(Exception):
    """Paths that cannot be checked together."""


@dataclass(frozen=True)
class Scope:
    """`root` is a real path. `under` and `reported` are relative to it, and nothing in `reported` means everything.

    Reports for programs have paths relative to `base`, what people read has them relative to `here`, the current directory.
    """

    root: Path
    base: Path
    under: tuple[str, ...] = ("",)
    reported: tuple[str, ...] = ()
    current: Path | None = None

    @property
    def here(self) -> Path:
        """The folder people see paths from."""
        return self.current or self.base

    @property
    def whole(self) -> bool:
        """Whether all that lies below the root is the program, whatever is reported of it."""
        return "" in self.under

    @property
    def files(self) -> tuple[str, ...] | None:
        """All files below the root, where git's objects tell; `None` where the disk does."""
        return None

    @property
    def is_earlier(self) -> bool:
        """Whether it is a state of long ago, which today's settings need not fit."""
        return False

    def reports(self, path: str) -> bool:
        """Whether findings in a file of the program are shown."""
        parts = self._parts
        if not parts or "" in parts or path in parts:
            return True
        return any(path[:at] in parts for at, char in enumerate(path) if char == "/")

    @cached_property
    def repository(self) -> Path:
        """The root of the program's repository; without one the current folder, or the program if that lies elsewhere."""
        for above in (self.root, *self.root.parents):
            if os.path.lexists(above / ".git"):
                return above
        return self.here if self.root.is_relative_to(self.here) else self.root

    def in_repository(self, shown: str) -> str:
        """A path as it is reported, as the repository knows it: what services that hold the repository go by."""
        if self.repository == self.base:
            return shown
        return os.path.relpath(self.base / shown, self.repository).replace(os.sep, "/")

    @cached_property
    def _parts(self) -> frozenset[str]:
        # A commit may name tens of thousands of files.
        return frozenset(self.reported)

    def shown(self, path: str) -> str:
        """A path of the program as it is reported."""
        if self.base == self.root:
            return path
        return os.path.relpath(self.root / path, self.base).replace(os.sep, "/")

    def seen(self, shown: str) -> str:
        """A path as it is reported, as people see it."""
        if self.here == self.base:
            return shown
        return os.path.relpath(self.base / shown, self.here).replace(os.sep, "/")


@dataclass(frozen=True)
class Copied(Scope):
    """A scope over a copy of the program in another folder. Its paths are reported as those of the original."""

    origin: Scope = field(kw_only=True)
    listed: tuple[str, ...] = field(kw_only=True)
    earlier: bool = field(kw_only=True)

    @property
    def files(self) -> tuple[str, ...]:
        return self.listed

    @property
    def is_earlier(self) -> bool:
        return self.earlier

    def in_repository(self, shown: str) -> str:
        return self.origin.in_repository(shown)

    def shown(self, path: str) -> str:
        return self.origin.shown(path)

    def seen(self, shown: str) -> str:
        return self.origin.seen(shown)


def scope_of(paths: Sequence[str], root: str | None, here: Path) -> Scope:
    """One directory is the program. Files select what is reported of the project around them, which `root` overrides.

    Several directories make one program. Raises `ScopeError` where a path is missing or outside of the root.
    """
    here = Path(os.path.realpath(here))
    given = [_real(here, path) for path in paths or ["."]]
    folders = all(path.is_dir() for path in given)
    if root is not None:
        top = _real(here, root)
        if not top.is_dir():
            raise ScopeError(f"{root}: not a directory")
        for path, name in zip(given, paths or ["."], strict=True):
            if not path.is_relative_to(top):
                raise ScopeError(f"{name}: outside of the root {root}")
        parts = _relative(given, top)
        return Scope(top, top, ("", *parts), () if "" in parts else parts, here)
    if folders and len(given) == 1:
        return Scope(given[0], given[0], current=here)
    common = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in given]))
    if folders:
        top = here if common.is_relative_to(here) else common
        return Scope(top, here, _relative(given, top))
    top = _project(common, here)
    parts = _relative(given, top)
    return Scope(top, here, ("", *parts), parts)


def _real(here: Path, name: str) -> Path:
    if not name:
        # An unset variable of a script; joined to a folder it would mean that folder.
        raise ScopeError("an empty path names no file")
    path = here / name
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            os.scandir(path).close()
            return Path(os.path.realpath(path))
    except OSError as problem:
        raise ScopeError(f"{name}: {reason(problem)}") from None
    if not stat.S_ISREG(mode):
        # A pipe would be waited for, for ever.
        raise ScopeError(f"{name}: neither a file nor a directory")
    # The folder's real path, but the file's own name: what a link is called says what it is.
    return Path(os.path.realpath(path.parent)) / path.name


def _relative(given: Sequence[Path], top: Path) -> tuple[str, ...]:
    names = {path.relative_to(top).as_posix() for path in given}
    return tuple(sorted("" if name == "." else name for name in names))


def _project(folder: Path, here: Path) -> Path:
    """The nearest folder with settings or a repository at or above this one; without either, the current one if it lies above."""
    settings = find(folder)
    if settings is not None:
        return settings.parent
    for above in (folder, *folder.parents):
        if os.path.lexists(above / ".git"):
            return above
    # Nobody means all they have when they name a file from their home.
    everything = (Path(here.anchor), Path(os.path.realpath(os.path.expanduser("~"))))
    return here if folder.is_relative_to(here) and here not in everything else folder
