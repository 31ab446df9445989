"""The baseline: findings that a repository lives with, in a file that people review and git merges."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from resilint.marks import Mark, Scopes, match
from resilint.own_files import UnusableError, read_text, reason

if TYPE_CHECKING:
    from resilint.run import Result
    from resilint.scope import Scope
    from resilint.settings import Settings

NAME = ".resilint-baseline.json"
VERSION = 1
MAX_BYTES = 100_000_000
_KEYS = {"path": "path", "code": "code", "message": "message", "scope": "in", "line": "line"}
"""Fields of a mark, and what each is called in the file."""


class BaselineError(Exception):
    """A baseline that cannot be used. `place` is empty, or line and column as the end of a place."""

    def __init__(self, file: Path, message: str, place: str = "") -> None:
        super().__init__(message)
        self.file = file
        self.place = place


@dataclass(frozen=True)
class Baseline:
    """A file of marks, whose paths are relative to the folder of the settings, else to the repository's top.

    `prefix` leads from there to the program's root.
    """

    file: Path
    prefix: str
    marks: tuple[Mark, ...] = ()
    exists: bool = False
    settings: str = ""
    """The settings file where it lies above the program's root, relative to that."""

    def known(self, marks: Sequence[Mark], scopes: Scopes) -> list[bool]:
        """Which of these findings it lists."""
        return match(marks, self._here(), scopes).known

    def without_known(self, result: Result) -> Result:
        """The result without the findings that the baseline lists, and what it lists and no longer occurs."""
        found = match(result.marks, self._here(), result.scopes)
        # What is there with less confidence than is asked for still occurs.
        left = match(result.unsure_marks, found.gone, result.scopes).gone
        gone = [f"{mark.path}: {mark.code}: {mark.message}" for mark in left if self._tells(result, mark)]
        return replace(result.without(found.known, "baseline"), gone=gone)

    def renewed(self, result: Result) -> tuple[Baseline, int, int]:
        """The baseline of what was found: how many of its marks are new, and how many old ones are left out.

        What the run cannot tell of stays: other parts of the repository, rules that did not run.
        """
        inside = self._here()
        found = match(result.marks, inside, result.scopes)
        kept = [mark for mark in found.gone if not result.judged(mark)]
        outside = [mark for mark in self.marks if self._inward(mark) is None]
        here = [self._outward(mark) for mark in (*result.marks, *kept)]
        gone = len(found.gone) - len(kept)
        return replace(self, marks=tuple(sorted([*outside, *here])), exists=True), found.known.count(False), gone

    def write(self) -> None:
        """Writes the file, unless it says the same already. Raises `BaselineError`."""
        text = _text(self.marks)
        with suppress(OSError, UnicodeDecodeError):
            if self.file.read_text("utf-8") == text:
                return
        from tempfile import NamedTemporaryFile

        try:
            with NamedTemporaryFile(
                "w", encoding="utf-8", newline="\n", dir=self.file.parent, prefix=".resilint-", delete=False
            ) as stream:
                stream.write(text)
            # A temporary file is its owner's alone; this one is for everybody who may read the folder's.
            os.chmod(stream.name, 0o666 & ~_umask())
            os.replace(stream.name, self.file)
        except OSError as problem:
            with suppress(OSError, NameError):
                os.unlink(stream.name)
            raise BaselineError(self.file, f"cannot be written: {reason(problem)}") from None

    def _here(self) -> list[Mark]:
        """The marks that are of the program, with paths from its root."""
        inward = map(self._inward, self.marks)
        return [mark for mark in inward if mark is not None]

    def _inward(self, mark: Mark) -> Mark | None:
        if mark.path.startswith(self.prefix):
            return msgspec.structs.replace(mark, path=mark.path[len(self.prefix) :]) if self.prefix else mark
        if self.settings and mark.path == posixpath.normpath(self.prefix + self.settings):
            return msgspec.structs.replace(mark, path=self.settings)
        return None

    def _outward(self, mark: Mark) -> Mark:
        path = self.prefix + mark.path
        return msgspec.structs.replace(mark, path=posixpath.normpath(path) if mark.path == self.settings else path)

    def _tells(self, result: Result, mark: Mark) -> bool:
        # A part of what the baseline speaks of may lack what makes the finding.
        return not self.prefix and result.judged(mark)


def place(scope: Scope, settings: Settings) -> Path:
    """Where the baseline of a program lies, or would. Raises `BaselineError`."""
    return _place(scope, settings, None)[0].file


def load(
    scope: Scope, settings: Settings, given: str | None = None, stored: Callable[[Path], Path | None] | None = None
) -> Baseline:
    """The baseline of a program: `given` from the current directory, else what the settings name, else the usual file.

    `stored`: where the judged state has the content of a file, if it is not the work tree's. A file that is named has to be
    there. Raises `BaselineError`.
    """
    baseline, named = _place(scope, settings, given)
    content = baseline.file if stored is None or given is not None else stored(baseline.file)
    if content is not None and os.path.lexists(content):
        return _read(baseline, content)
    if named:
        staged = "" if content is not None else " and `git add`: what is not staged does not count"
        raise BaselineError(baseline.file, f"no such baseline: write it with `resilint baseline`{staged}")
    return baseline


def to_renew(scope: Scope, settings: Settings, given: str | None = None) -> Baseline:
    """The baseline as it is, or an empty one to be written. Raises `BaselineError` where another file lies in its place."""
    baseline, _ = _place(scope, settings, given)
    if not baseline.file.parent.is_dir():
        raise BaselineError(baseline.file, "its folder does not exist")
    return _read(baseline, baseline.file) if os.path.lexists(baseline.file) else baseline


def _place(scope: Scope, settings: Settings, given: str | None) -> tuple[Baseline, bool]:
    """Which file it is, and whether somebody named it."""
    top = settings.folder
    if top is None:
        top = next((above for above in (scope.root, *scope.root.parents) if os.path.lexists(above / ".git")), scope.root)
    below = scope.root.relative_to(top).as_posix()
    prefix = "" if below == "." else below + "/"
    above = settings.path if settings.path.startswith("../") else ""
    if given is not None:
        return Baseline(scope.here / given, prefix, settings=above), True
    file = top / (settings.baseline or NAME)
    if not Path(os.path.realpath(file.parent)).is_relative_to(os.path.realpath(top)):
        raise BaselineError(file, "lies outside of the folder of the settings")
    return Baseline(file, prefix, settings=above), settings.baseline is not None


# ---------------------------------------------------------------- the file


def _text(marks: Iterable[Mark]) -> str:
    """One mark a line, sorted: what two branches change in different places, git merges."""
    lines = [_encoded({name: getattr(mark, key) for key, name in _KEYS.items() if getattr(mark, key)}) for mark in marks]
    return f'{{\n"version": {VERSION},\n"findings": [\n' + ",\n".join(lines) + ("\n" if lines else "") + "]\n}\n"


def _encoded(entry: dict[str, str]) -> str:
    text = json.dumps(entry, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # A file's name that is no UTF-8.
        return json.dumps(entry)
    return text


_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})", re.MULTILINE)


def _read(baseline: Baseline, content: Path) -> Baseline:
    file = baseline.file
    try:
        text = read_text(content, MAX_BYTES)
    except UnusableError as problem:
        raise BaselineError(file, str(problem)) from None
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        raise BaselineError(file, "a merge conflict: take either side, then run `resilint baseline`", f":{line}:1")
    try:
        content = json.loads(text)
    except json.JSONDecodeError as problem:
        raise BaselineError(
            file, f"not valid JSON: {problem.msg[:1].lower()}{problem.msg[1:]}", f":{problem.lineno}:{problem.colno}"
        ) from None
    except (RecursionError, ValueError):
        raise BaselineError(file, "not valid JSON: nested too deeply, or a number too long") from None
    return replace(baseline, marks=tuple(_marks(content, file, text)), exists=True)


def _marks(content: Any, file: Path, text: str) -> list[Mark]:
    def wrong(message: str, *keys: str) -> BaselineError:
        return BaselineError(file, message, _place_of(text, keys))

    if not isinstance(content, dict) or "version" not in content:
        raise wrong("not a baseline of resilint: it has no version")
    version = content["version"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise wrong(f"version must be {VERSION}, not {version!r}"[:200], "version")
    if version > VERSION:
        raise wrong(f"version {version} is of a newer resilint, which has to read it: this one knows {VERSION}", "version")
    entries = content.get("findings")
    if not isinstance(entries, list):
        raise wrong("findings must be a list", "findings")
    marks = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise wrong("a finding must be an object", "findings", str(index))
        values = {key: entry.get(name, "") for key, name in _KEYS.items()}
        for key, name in _KEYS.items():
            if not isinstance(values[key], str) or (name in ("path", "code") and not values[key]):
                raise wrong(f"a finding needs {name!r} as text", "findings", str(index))
        marks.append(Mark(**values))
    return marks


def _place_of(text: str, keys: tuple[str, ...]) -> str:
    """Line and column of a value of a JSON text."""
    from resilint.facts import decode
    from resilint.read import read
    from resilint.text import Lines

    data = text.encode("utf-8", "surrogatepass")
    for setting in decode(read(data, "json")).settings:
        if setting.path == keys:
            return ":{}:{}".format(*Lines(data).place(setting.at))
    return ":1:1"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
