"""Puts the fixes of findings into the files of a program: in memory first, and on disk once all is well."""

from __future__ import annotations

import os
import stat
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from resilint.facts import FileFacts, decode, encode
from resilint.fix.texts import Place, collide, diff, edited, placed
from resilint.intake import facts_of
from resilint.model import Edit, Finding, Fix
from resilint.own_files import reason
from resilint.program import Program
from resilint.read.encoding import as_read
from resilint.run import Texts

_ROUNDS = 10
"""How often a program is checked again: a fix may make room for the next one at the same place."""


class Fixer:
    """Fixes what a run finds, round by round, until nothing is left that it may fix. Nothing is written before `write`."""

    def __init__(self, root: Path, *, unsafe: bool = False) -> None:
        self._root = root
        self._unsafe = unsafe
        self._rounds = 0
        self._before: dict[str, bytes] = {}
        """Bytes on disk of each file that was touched, when it was."""
        self._raw: dict[str, bytes] = {}
        self._refused: set[tuple[str, Fix]] = set()
        self.fixed: list[Finding] = []
        self.problems: list[tuple[str, str]] = []
        """Files, and why something in them was not fixed."""

    def __call__(self, program: Program, texts: Texts, findings: Sequence[Finding]) -> bool:
        """One round, as `run` asks for it: whether any file has changed."""
        self._rounds += 1
        if self._rounds > _ROUNDS:
            return False
        chosen = self._chosen(program, texts, findings)
        while chosen:
            after, blame = self._tried(program, texts, [fix for _, fix in chosen])
            if not blame:
                break
            for fix, path, why in blame:
                self._refuse(path, fix, why)
            chosen = [(finding, fix) for finding, fix in chosen if not any(fix is bad for bad, _, _ in blame)]
        else:
            return False
        for path, (raw, source, facts) in after.items():
            self._raw[path] = raw
            texts.put(path, source)
            program.replace(path, facts)
        self.fixed += [finding for finding, _ in chosen]
        return True

    # ------------------------------------------------------------ choosing

    def _chosen(self, program: Program, texts: Texts, findings: Iterable[Finding]) -> list[tuple[Finding, Fix]]:
        """Findings whose fixes do not collide, the first ones first."""
        taken: dict[str, list[Place]] = {}
        chosen: list[tuple[Finding, Fix]] = []
        for finding in findings:
            fix = finding.fix
            if fix is None or not fix.edits or not (fix.safe or self._unsafe):
                continue
            if any((edit.span.path, fix) in self._refused for edit in fix.edits):
                continue
            if not all(self._is_open(program, texts, path, fix) for path in by_path(fix)):
                continue
            places = {path: placed(edits, texts.lines(path)) for path, edits in by_path(fix).items()}
            if any(collide(one, other) for path, own in places.items() for one in own for other in taken.get(path, ())):
                continue
            for path, own in places.items():
                taken.setdefault(path, []).extend(own)
            chosen.append((finding, fix))
        return chosen

    def _is_open(self, program: Program, texts: Texts, path: str, fix: Fix) -> bool:
        """Whether a file may be changed; the first time it is looked at as it lies on disk."""
        if path in self._before:
            return True
        facts = program.files.get(path)
        file = self._root / path
        why = ""
        if facts is None:
            why = "it is no file of the program"
        elif facts.errors:
            why = "it does not parse as it is"
        elif not is_inside(file, self._root):
            why = "it lies outside of the root"
        if why or facts is None:
            self._refuse(path, fix, why)
            return False
        try:
            raw = file.read_bytes()
        except OSError as problem:
            self._refuse(path, fix, reason(problem))
            return False
        source = as_read(raw, facts.kind)
        if source != texts.source(path) or facts_of(source, path, facts.kind) != encode(facts):
            self._refuse(path, fix, "it has changed since it was read")
            return False
        self._before[path] = self._raw[path] = raw
        return True

    def _refuse(self, path: str, fix: Fix, why: str) -> None:
        self._refused.add((path, fix))
        if (path, why) not in self.problems:
            self.problems.append((path, why))

    # ------------------------------------------------------------ trying

    def _tried(
        self, program: Program, texts: Texts, fixes: Sequence[Fix]
    ) -> tuple[dict[str, tuple[bytes, bytes, FileFacts]], list[tuple[Fix, str, str]]]:
        """The files with all fixes in them, and the fixes that break one, with the reason."""
        after: dict[str, tuple[bytes, bytes, FileFacts]] = {}
        blame: list[tuple[Fix, str, str]] = []
        for path in sorted({edit.span.path for fix in fixes for edit in fix.edits}):
            concerned = [fix for fix in fixes if path in by_path(fix)]
            made = self._made(program, texts, path, concerned)
            if not isinstance(made, str):
                after[path] = made
                continue
            alone = [(fix, self._made(program, texts, path, [fix])) for fix in concerned]
            found = [(fix, path, why) for fix, why in alone if isinstance(why, str)]
            # Each does well alone: one stays, the others are looked at again in the next round.
            blame += found or [(fix, path, made) for fix in concerned[1:]]
        return after, blame

    def _made(self, program: Program, texts: Texts, path: str, fixes: Iterable[Fix]) -> tuple[bytes, bytes, FileFacts] | str:
        kind = program.files[path].kind
        places = placed((edit for fix in fixes for edit in by_path(fix).get(path, ())), texts.lines(path))
        raw = edited(self._raw[path], kind, places)
        if raw is None:
            return "its encoding cannot take the edit"
        source = as_read(raw, kind)
        facts = decode(facts_of(source, path, kind))
        if facts.errors or facts.generated:
            return "it would no longer parse"
        if kind == "python":
            from resilint.fix.python import lost

            if why := lost(self._raw[path], raw):
                return why
        return raw, source, facts

    # ------------------------------------------------------------ results

    @property
    def changed(self) -> dict[str, tuple[bytes, bytes]]:
        """What each changed file was and has become, in order of paths."""
        return {path: (old, self._raw[path]) for path, old in sorted(self._before.items()) if self._raw[path] != old}

    def diff(self, shown: Iterable[tuple[str, str]]) -> str:
        """All changes as one unified diff; `shown` says by what name each path is shown."""
        names = dict(shown)
        return "".join(diff(names.get(path, path), old, new) for path, (old, new) in self.changed.items())

    def counts(self) -> Counter[str]:
        """How many findings of each rule were fixed in files that were written."""
        return Counter(finding.code for finding in self.fixed)

    def write(self) -> list[tuple[str, str]]:
        """Writes what has changed. Gives the files that could not be written, and why; their findings do not count as fixed."""
        failed = []
        for path, (old, new) in self.changed.items():
            why = replace_file(self._root / path, self._root, old, new)
            if why:
                failed.append((path, why))
        lost = {path for path, _ in failed}
        self.fixed = [x for x in self.fixed if x.fix is not None and not lost & {edit.span.path for edit in x.fix.edits}]
        return failed


def by_path(fix: Fix) -> dict[str, list[Edit]]:
    """The edits of a fix by file."""
    found: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        found.setdefault(edit.span.path, []).append(edit)
    return found


def is_inside(file: Path, root: Path) -> bool:
    """Whether a file, once all links are followed, lies below the root."""
    return Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root))


def replace_file(file: Path, root: Path, old: bytes, new: bytes) -> str:
    """Puts new bytes in the place of old ones at once, the mode kept; empty where that was done, else why not."""
    target = Path(os.path.realpath(file))
    if not target.is_relative_to(os.path.realpath(root)):
        return "it lies outside of the root"
    temporary = ""
    try:
        status = os.lstat(target)
        if not stat.S_ISREG(status.st_mode):
            return "it is no regular file"
        if not os.access(target, os.W_OK):
            return "it is read-only"
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(new)
            os.fchmod(stream.fileno(), stat.S_IMODE(status.st_mode))
        if target.read_bytes() != old:
            return "it has changed since it was read"
        os.replace(temporary, target)
        temporary = ""
    except OSError as problem:
        return reason(problem)
    finally:
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)
    return ""
