"""Asks git about a repository without running anything that the repository names, and without the network."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from resilint.own_files import reason

_PLACES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
)
"""What a hook is started with, and what would lead to another repository than that of the folder."""


_PATIENCE = 600
"""Seconds: git may have to read a large history from a slow disk."""


class GitError(Exception):
    """Why git gave no answer, as the end of a message."""


class MissingError(GitError):
    """Objects that are not in this clone."""


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's, without the places of another repository, with answers in English and no way to fetch anything."""
    kept = {key: value for key, value in os.environ.items() if key not in _PLACES}
    never = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    return {**kept, **never, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", **(extra or {})}


def command(folder: Path, *arguments: str) -> list[str]:
    """A command line of git in a folder: no hook and no monitor that its configuration names is started."""
    return ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", str(folder), *arguments]


def ask(folder: Path, *arguments: str, given: bytes | IO[bytes] | None = None, extra: Mapping[str, str] | None = None) -> bytes:
    """What git prints. Raises `GitError` with git's own reason where it fails."""
    code, out, said = answer(folder, *arguments, given=given, extra=extra)
    if code != 0:
        raise GitError(said or f"git {arguments[0]} ended with {code}")
    return out


def answer(
    folder: Path, *arguments: str, given: bytes | IO[bytes] | None = None, extra: Mapping[str, str] | None = None
) -> tuple[int, bytes, str]:
    """Exit status, what git prints, and the first line of what it complains of. Raises `GitError` where git cannot be started."""
    stream = given if given is not None and not isinstance(given, bytes) else subprocess.DEVNULL if given is None else None
    try:
        done: subprocess.CompletedProcess[bytes] = subprocess.run(
            command(folder, *arguments),
            env=environment(extra),
            input=given if isinstance(given, bytes) else None,
            stdin=stream,
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired as problem:
        raise GitError(f"git has not answered for {_PATIENCE} s") from problem
    except OSError as problem:
        raise GitError(f"git cannot be run: {reason(problem)}") from None
    lines = os.fsdecode(done.stderr).strip().splitlines()
    telling = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines[:1]
    return done.returncode, done.stdout, telling[0].removeprefix("fatal: ").removeprefix("error: ") if telling else ""


def blobs(folder: Path, names: Iterable[str], most: int) -> Iterator[tuple[str, bytes]]:
    """The contents of blobs by their ids, as they are stored; those larger than `most` bytes are left out.

    Raises `MissingError` where one is not here, as in a partial clone.
    """
    from tempfile import TemporaryFile

    wanted = list(dict.fromkeys(names))
    if not wanted:
        return
    sizes = _sizes(folder, wanted)
    small = [name for name in wanted if 0 <= sizes[name] <= most]
    with TemporaryFile() as asked:
        asked.write("".join(f"{name}\n" for name in small).encode())
        asked.seek(0)
        with subprocess.Popen(
            command(folder, "cat-file", "--batch", "--buffer"),
            env=environment(),
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as running:
            assert running.stdout is not None
            for name in small:
                header = running.stdout.readline().split()
                data = running.stdout.read(sizes[name] + 1)
                if len(header) != 3 or len(data) != sizes[name] + 1:
                    raise GitError(f"object {name} cannot be read")
                yield name, data[:-1]


def _sizes(folder: Path, names: Sequence[str]) -> dict[str, int]:
    """Bytes of each blob; -1 for what is none."""
    from tempfile import TemporaryFile

    with TemporaryFile() as asked:
        asked.write("".join(f"{name}\n" for name in names).encode())
        asked.seek(0)
        code, out, said = answer(folder, "cat-file", "--batch-check", "--buffer", given=asked)
    lines = [line.split() for line in os.fsdecode(out).splitlines()]
    if any(line[-1:] == ["missing"] for line in lines) or len(lines) != len(names):
        raise MissingError(said or "some objects are missing")
    if code != 0:
        raise GitError(said)
    return {name: int(line[2]) if line[1] == "blob" else -1 for name, line in zip(names, lines, strict=True)}
