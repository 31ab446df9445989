"""Earlier states of a program, read from git's objects: the work tree and the index stay as they are."""

from __future__ import annotations

import os
import posixpath
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resilint.discover import MAX_BYTES
from resilint.git import GitError, MissingError, answer, ask, blobs
from resilint.spelling import get_close_matches

_LINK, _MODULE = "120000", "160000"
_MOST_DEEP = 10
"""Submodules inside each other."""
_MOST_LINKS = 5
"""Symbolic links that lead to each other."""
_MOST_RENAMES = 1000
"""Files gone, times files new, that git compares are at most the square of this."""


class HistoryError(Exception):
    """Why a state cannot be had, and what helps, as one line."""


@dataclass(frozen=True)
class Entry:
    """A file of a state: its path from the top of the work tree, and where its content is stored."""

    path: str
    mode: str
    id: str
    store: Path
    """The work tree of the repository that has it: a submodule has its own."""


@dataclass(frozen=True)
class State:
    """All files of a commit, of the index, or of nothing."""

    name: str
    entries: tuple[Entry, ...]


class Repository:
    """The repository that a folder lies in. Raises `HistoryError` where there is none, or git does not answer."""

    def __init__(self, folder: Path) -> None:
        try:
            code, out, said = answer(folder, "rev-parse", "--show-toplevel")
        except GitError as problem:
            raise HistoryError(str(problem)) from None
        if code != 0:
            if "dubious ownership" in said:
                said += f": run `git config --global --add safe.directory {folder}`, if you trust it"
            elif "not a git repository" in said:
                said = "not in a git repository"
            raise HistoryError(said)
        self.top = Path(os.path.realpath(os.fsdecode(out.removesuffix(b"\n"))))

    # ---- commits

    def before(self, revision: str) -> list[str]:
        """The commits to compare with: where work on `revision` was left, or HEAD itself; none before the first commit.

        While a merge is under way, what the other side brings was there before too.
        """
        head = self._commit("HEAD")
        if head is None:
            if answer(self.top, "symbolic-ref", "-q", "HEAD")[0] != 0:
                raise HistoryError("HEAD names no commit")
            if revision == "HEAD":
                return []
            raise HistoryError("HEAD has no commit yet: there is nothing to compare with")
        heads = [head, *self._merged()]
        if revision == "HEAD":
            return heads
        commit = self._commit(revision)
        if commit is None:
            raise HistoryError(f"unknown revision {revision!r}{self._hint(revision)}")
        return list(dict.fromkeys(self._base(commit, one, revision) for one in heads))

    def _commit(self, revision: str) -> str | None:
        # No revision starts like an option, and older versions of git take it for one all the same.
        if revision.startswith("-"):
            return None
        # In two steps: behind `:/words`, the request for a commit would be one of the words.
        named = self._verified(revision)
        return self._verified(named + "^{commit}") if named is not None and named.isalnum() else None

    def _verified(self, name: str) -> str | None:
        code, out, _ = answer(self.top, "rev-parse", "-q", "--verify", "--end-of-options", name)
        return os.fsdecode(out).strip() if code == 0 else None

    def _merged(self) -> list[str]:
        file = self.top / os.fsdecode(self._ask("rev-parse", "--git-path", "MERGE_HEAD").removesuffix(b"\n"))
        try:
            return file.read_text("ascii").split()
        except (OSError, UnicodeDecodeError):
            return []

    def _base(self, commit: str, head: str, revision: str) -> str:
        code, out, said = answer(self.top, "merge-base", commit, head)
        if code == 0:
            return os.fsdecode(out).strip()
        if self._is_shallow():
            raise HistoryError(
                f"shallow clone: where the work on {revision} was left is not in it: run `git fetch --unshallow`,"
                " or tell CI to fetch the whole history"
            )
        raise HistoryError(said or f"{revision} and HEAD have no commit in common")

    def _is_shallow(self) -> bool:
        return self._ask("rev-parse", "--is-shallow-repository").strip() == b"true"

    def _hint(self, revision: str) -> str:
        start, dots, end = revision.partition("..")
        if dots and (start or end):
            return f": this is a range: give where it begins, {start or 'HEAD'!r}; it ends with what there is now"
        names = os.fsdecode(self._ask("for-each-ref", "--format=%(refname:short)")).split()
        near = [name for name in names if name.endswith("/" + revision)]
        if not near and self._is_shallow():
            return ": this is a shallow clone, which may have one branch only: run `git fetch --unshallow` and fetch the branch"
        near = near or get_close_matches(revision, names, 1)
        return f": did you mean {near[0]!r}?" if near else ""

    # ---- states

    def commit_state(self, commit: str) -> State:
        """The files of a commit, those of submodules that are checked out included."""
        sparse = self._sparse()
        entries = self._tree(self.top, commit, "", 0)
        return State(commit[:12], tuple(entry for entry in entries if entry.path not in sparse))

    def staged_state(self) -> State:
        """The files as they are in the index; a hook's index where git started it with another one.

        What a sparse checkout leaves out is no part of it, as it is none of a commit's state.
        """
        sparse = self._sparse()
        entries: list[Entry] = []
        for line in self._ask("ls-files", "-s", "-z", extra=self._index()).split(b"\0"):
            if not line:
                continue
            head, _, name = line.partition(b"\t")
            mode, object_id, stage = os.fsdecode(head).split()
            path = os.fsdecode(name)
            if stage != "0":
                raise HistoryError(f"{path}: not merged yet: resolve the conflict and add the file first")
            if path in sparse:
                continue
            entries += self._entry(self.top, "", path, mode, object_id, 0)
        return State("the index", tuple(entries))

    def _index(self) -> dict[str, str]:
        """`git commit FILE` and `git commit -a` start hooks with an index of their own."""
        named = os.environ.get("GIT_INDEX_FILE")
        if not named:
            return {}
        own = Path(os.path.realpath(self.top / os.fsdecode(self._ask("rev-parse", "--git-path", "index").removesuffix(b"\n"))))
        file = Path(os.path.realpath(named))
        return {"GIT_INDEX_FILE": str(file)} if file.parent == own.parent else {}

    def _tree(self, store: Path, commit: str, before: str, depth: int) -> list[Entry]:
        try:
            out = ask(store, "ls-tree", "-r", "-z", "--full-tree", commit)
        except GitError as problem:
            if before:
                where = before.rstrip("/")
                raise HistoryError(f"submodule {where}: commit {commit[:12]} is not here: run `git -C {where} fetch`") from None
            raise HistoryError(_partial(problem)) from None
        entries = []
        for line in out.split(b"\0"):
            head, tab, name = line.partition(b"\t")
            if tab:
                mode, _, object_id = os.fsdecode(head).split()
                entries += self._entry(store, before, os.fsdecode(name), mode, object_id, depth)
        return entries

    def _entry(self, store: Path, before: str, path: str, mode: str, object_id: str, depth: int) -> list[Entry]:
        parts = path.split("/")
        if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
            # No tree of git's own making has such a name.
            return []
        if mode != _MODULE:
            return [Entry(before + path, mode, object_id, store)]
        inner = store / path
        # What is not checked out is no part of the program as it is either.
        if depth >= _MOST_DEEP or not os.path.lexists(inner / ".git") or os.path.realpath(inner) != str(inner):
            return []
        return self._tree(inner, object_id, f"{before}{path}/", depth + 1)

    def _sparse(self) -> frozenset[str]:
        """What a sparse checkout leaves out of the work tree. A file that is there all the same is part of the program."""
        listed = self._ask("ls-files", "-t", "-z").split(b"\0")
        paths = (os.fsdecode(line[2:]) for line in listed if line.startswith(b"S "))
        return frozenset(path for path in paths if not os.path.lexists(self.top / path))

    def _ask(self, *arguments: str, extra: Mapping[str, str] | None = None) -> bytes:
        try:
            return ask(self.top, *arguments, extra=extra)
        except GitError as problem:
            raise HistoryError(str(problem)) from None

    # ---- contents

    def content(self, entry: Entry, most: int) -> bytes | None:
        """What is stored of a file; nothing of one that is larger than `most` bytes."""
        try:
            return next((data for _, data in blobs(entry.store, [entry.id], most)), None)
        except GitError as problem:
            raise HistoryError(_partial(problem)) from None

    def lay_out(self, state: State, folder: Path, wanted: Callable[[str], bool]) -> None:
        """Writes the wanted files of a state below an empty folder, as they are stored: no filter is run on them.

        What a filter makes of one that is stored encrypted or elsewhere can only be seen in the work tree, and is taken from there.
        """
        by_path = {entry.path: entry for entry in state.entries}
        chosen = [entry for entry in state.entries if wanted(entry.path)]
        links: dict[str, bytes] = {}
        for _ in range(_MOST_LINKS):
            fresh = self._write(chosen, folder)
            links |= fresh
            # What a link leads to may have a name that nobody would read by itself.
            targets = {posixpath.normpath(posixpath.join(posixpath.dirname(path), os.fsdecode(to))) for path, to in fresh.items()}
            chosen = [by_path[path] for path in sorted(targets) if path in by_path and not wanted(path) and path not in links]
            if not chosen:
                break
        # Only now, so that nothing is written through one.
        for path, target in links.items():
            place = folder / path
            if not os.path.lexists(place) and b"\0" not in target:
                place.parent.mkdir(parents=True, exist_ok=True)
                os.symlink(os.fsdecode(target), place)

    def _write(self, chosen: Iterable[Entry], folder: Path) -> dict[str, bytes]:
        """Writes the files among the entries; gives the links, and what they lead to."""
        by_store: dict[Path, list[Entry]] = defaultdict(list)
        for entry in chosen:
            by_store[entry.store].append(entry)
        links: dict[str, bytes] = {}
        for store, entries in by_store.items():
            filtered = self._filtered(store, entries)
            places: dict[str, list[Entry]] = defaultdict(list)
            for entry in entries:
                places[entry.id].append(entry)
            try:
                for object_id, data in blobs(store, places, MAX_BYTES):
                    for entry in places[object_id]:
                        if entry.mode == _LINK:
                            links[entry.path] = data
                        else:
                            shown = self._shown(entry.path) if entry in filtered and _is_opaque(data) else None
                            _write(folder / entry.path, data if shown is None else shown)
            except GitError as problem:
                raise HistoryError(_partial(problem)) from None
        return links

    def _filtered(self, store: Path, entries: Sequence[Entry]) -> frozenset[Entry]:
        """The entries that attributes name a filter for."""
        before = "" if store == self.top else store.relative_to(self.top).as_posix() + "/"
        by_path = {os.fsencode(entry.path.removeprefix(before)): entry for entry in entries}
        try:
            out = ask(store, "check-attr", "--stdin", "-z", "filter", given=b"".join(path + b"\0" for path in by_path))
        except GitError as problem:
            raise HistoryError(str(problem)) from None
        fields = out.split(b"\0")
        triples = zip(fields[::3], fields[1::3], fields[2::3], strict=False)
        return frozenset(by_path[path] for path, _, value in triples if value not in (b"unspecified", b"unset", b""))

    def _shown(self, path: str) -> bytes | None:
        file = self.top / path
        try:
            if os.path.realpath(file) == str(file) and file.stat().st_size <= MAX_BYTES and stat.S_ISREG(file.stat().st_mode):
                return file.read_bytes()
        except OSError:
            pass
        return None

    # ---- renames

    def renames(self, old: Iterable[Entry], new: Iterable[Entry | str]) -> dict[str, str]:
        """New paths by old ones, of files that are gone and files that are there, as git pairs them by their content.

        New ones may be paths of the work tree. The repository's own objects are not added to.
        """
        gone = [entry for entry in old if entry.store == self.top and entry.mode != _LINK]
        here = [one for one in new if isinstance(one, str) or (one.store == self.top and one.mode != _LINK)]
        if not gone or not here:
            return {}
        objects = self.top / os.fsdecode(self._ask("rev-parse", "--git-path", "objects").removesuffix(b"\n"))
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="resilint-") as folder:
            own = Path(folder)
            (own / "objects").mkdir()
            # Without the repository's own objects: git would touch the times of those that it has already.
            apart = {"GIT_OBJECT_DIRECTORY": str(own / "objects")}
            try:
                before = self._tree_of(gone, apart, own / "before")
                after = self._tree_of(self._stored(here, apart), apart, own / "after")
                out = ask(
                    self.top,
                    *("diff-tree", "-r", "-z", "-M", f"-l{_MOST_RENAMES}", "--diff-filter=R", "--name-status", before, after),
                    extra={**apart, "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(str(objects))},
                )
            except GitError:
                # What only helps to see that something is not new is no reason to stop.
                return {}
        fields = [os.fsdecode(field) for field in out.split(b"\0")]
        return dict(zip(fields[1::3], fields[2::3], strict=False))

    def _stored(self, files: Sequence[Entry | str], extra: Mapping[str, str]) -> list[Entry]:
        """Entries for all, those of the work tree with their content in the objects that `extra` names."""
        entries = [one for one in files if isinstance(one, Entry)]
        # One path a line is all that git takes.
        paths = [one for one in files if isinstance(one, str) and "\n" not in one and not one.startswith('"')]
        paths = [path for path in paths if _is_small(self.top / path)]
        given = b"".join(os.fsencode(path) + b"\n" for path in paths)
        ids = ask(self.top, "hash-object", "-w", "--no-filters", "--stdin-paths", given=given, extra=extra).split()
        stored = [Entry(path, "100644", os.fsdecode(id_), self.top) for path, id_ in zip(paths, ids, strict=True)]
        return entries + stored

    def _tree_of(self, entries: Iterable[Entry], extra: Mapping[str, str], index: Path) -> str:
        with_index = {**extra, "GIT_INDEX_FILE": str(index)}
        lines = b"".join(f"100644 {entry.id}\t".encode() + os.fsencode(entry.path) + b"\0" for entry in entries)
        ask(self.top, "update-index", "-z", "--index-info", given=lines, extra=with_index)
        return os.fsdecode(ask(self.top, "write-tree", "--missing-ok", extra=with_index)).strip()


def _is_opaque(data: bytes) -> bool:
    """Whether stored content is no text, or only says where the text is, as pointers of Git LFS do."""
    return b"\0" in data[:8000] or data.startswith(b"version https://")


def _partial(problem: GitError) -> str:
    if isinstance(problem, MissingError) or "promisor" in str(problem) or "bad object" in str(problem):
        return "not all of the history is in this clone: run `git fetch --refetch --no-filter`, or clone without a filter"
    return str(problem)


def _quoted(path: str) -> str:
    """As git takes it in a list of folders."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_small(file: Path) -> bool:
    try:
        status = os.lstat(file)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES


def _write(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        # A tree that holds a file and a folder of one name is none of git's own.
        return
