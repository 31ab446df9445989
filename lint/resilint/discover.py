"""Which files make up a program, and of which kind each is."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from resilint.git import command, environment
from resilint.own_files import reason
from resilint.text import says_generated

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_BYTES = 5_000_000
"""Larger files are data, not code or configuration that someone wrote."""

MOST_LINES = 200_000
"""Lines and statements of one file of settings: nobody reads more, and each may be a setting, which takes time and memory."""

HEAD = 4096
"""Bytes that say of which kind a file is whose name does not."""

VENDORED = frozenset(
    {
        ".eggs",
        ".git",
        ".hg",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".terraform",
        ".tox",
        ".venv",
        "__pycache__",
        "bower_components",
        "node_modules",
        "site-packages",
        "third_party",
        "vendor",
    }
)
_CACHES = frozenset(name for name in VENDORED if name.startswith(".")) - {".venv"} | {"__pycache__"}
"""Those that nobody misses: not worth a word."""
BUILT = frozenset({"build", "dist"})
"""Outputs, where nothing says which files are sources. In a git work tree its ignore rules do, and code may lie there."""

_LOCKS = frozenset(
    {
        ".terraform.lock.hcl",
        "Cargo.lock",
        "Chart.lock",
        "Gopkg.lock",
        "composer.lock",
        "conda-lock.yml",
        "go.sum",
        "npm-shrinkwrap.json",
        "package-lock.json",
        "pnpm-lock.yaml",
        "yarn.lock",
    }
)
_SUFFIXES = {
    ".py": "python",
    ".go": "go",
    ".java": "java",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".jsonc": "json",
    ".toml": "toml",
    ".properties": "properties",
    ".ini": "ini",
    ".cfg": "ini",
    ".cnf": "ini",
    ".service": "ini",
    ".env": "env",
    ".nginx": "nginx",
    ".hcl": "hcl",
    ".nomad": "hcl",
    ".tf": "hcl",
    ".tfvars": "hcl",
}
_TEXT = re.compile(
    r"(?:poetry|uv|pdm|Pipfile)\.lock|Pipfile|[^/]+\.gradle(?:\.kts)?|gradle\.lockfile|go\.mod"
    r"|requirements[^/]*\.txt|Procfile"
)
_DOCKERFILE = re.compile(r"(?:Dockerfile|Containerfile)(?:\.[^/]+)?|[^/]+\.[Dd]ockerfile")
_GENERATED_NAME = re.compile(r".*(?:_pb2|_pb2_grpc)\.py|.*\.pb(?:\.gw)?\.go|.*_grpc\.pb\.go|zz_generated[^/]*\.go|.*[._-]min\.\w+")
_APACHE = frozenset({"apache", "apache2", "httpd"})
_ARROW = re.compile(rb"^[ \t]*\w+[ \t]*=>", re.MULTILINE)
"""Settings of Logstash (`port => 8085`), which have blocks as those of nginx have."""
_NGINX_BLOCK = re.compile(rb"^[ \t]*(?:http|server|stream|events|upstream[ \t]+\S+|location[ \t][^{\n]*)[ \t\r\n]*\{", re.MULTILINE)
_INI_FIRST = re.compile(rb"\A(?:[ \t]*(?:[#;][^\n]*)?\r?\n)*[ \t]*\[[^\]\n]+\]")
_XML_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<\?(?:[^?]++|\?(?!>))*+\?>|<!--(?:[^-]++|-(?!->))*+-->|<!DOCTYPE[^>\[]*+>)*+<(?:[\w.-]++:)?([\w.-]++)"
)
"""The name of the outermost element, without its prefix."""
_XML_ROOTS = frozenset(
    rb"Context Configuration Server beans blueprint c3p0-config configuration dataSources datasources hibernate-configuration"
    rb" log4j-config mapper persistence sqlMap sqlMapConfig web-app".split()
)
"""Of settings of services; other XML is data, pages, layouts, reports."""
_MAVEN = b"http://maven.apache.org/POM/"
_PYTHON_SHEBANG = re.compile(rb"#![^\n]*\bpython[0-9.]*\b")
_OWN_FILES = frozenset({"resilint.yaml", ".resilint-baseline.json"})
_MOST_STARS = 4
"""Of one line of a `.gitignore`: nobody writes more, and each multiplies the time to find that a name does not match."""


@dataclass(frozen=True)
class Source:
    """One file of the program. `path` is posix and relative to the program's root; `kind` is a reader's, or `text`."""

    path: str
    kind: str
    size: int
    stamp: tuple[int, ...] = ()
    """What the file system says of it, as `stamp_of` has it: another one where the file has changed. Empty: not known."""


def stamp_of(status: os.stat_result) -> tuple[int, ...]:
    """When a file was last written and last changed in any way (ns), its size and number."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


@dataclass
class Discovery:
    """The files found, in order of their paths; what was left out and why; what could not be looked at."""

    sources: list[Source] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)


def discover(root: Path, under: tuple[str, ...], excluded: Callable[[str], bool], paths: Sequence[str] | None = None) -> Discovery:
    """The files of the program at `root` (a real path), limited to `under`: relative files or folders, `""` for all.

    A file named in `under` itself is taken though git may ignore it. `paths`: all files there are, where that is known already.
    """
    found = Discovery()
    pending: dict[str, int] = {}
    for start in under:
        before = start + "/" if start else ""
        if start and os.path.isfile(root / start):
            pending[start] = 0
        elif paths is None:
            _list(root, before, len(before), pending, found)
        else:
            for path in paths:
                if path.startswith(before):
                    pending.setdefault(path, len(before))
    links: list[str] = []
    top = os.path.join(root, "")
    while pending:
        inner: dict[str, int] = {}
        for path, judged_from in sorted(pending.items()):
            folder = _foreign(path[judged_from:], VENDORED)
            if folder is not None:
                _skip_folder(path[:judged_from] + folder, "vendored", found)
            elif excluded(path):
                found.skipped[path] = "excluded by the settings"
            else:
                mode = _look(top + path, path, found)
                if stat.S_ISLNK(mode):
                    links.append(path)
                elif stat.S_ISDIR(mode):
                    # A repository inside the repository: git lists its folder and nothing in it.
                    _list(root, path + "/", judged_from, inner, found)
        pending = inner
    _follow(root, links, found)
    found.sources.sort(key=lambda source: source.path)
    return found


def every_path(root: Path) -> list[str]:
    """All files below the root that nobody ignores, of any kind."""
    return list(_listing(root, "", Discovery()))


def is_own(path: str) -> bool:
    """Whether a path of the program lies in no folder of other people's code."""
    return _foreign(path, VENDORED) is None


def _list(root: Path, before: str, judged_from: int, pending: dict[str, int], found: Discovery) -> None:
    """Adds the files under a folder; whether they are other people's is judged by their paths from that index on."""
    for path in _listing(root, before, found):
        pending.setdefault(path, judged_from)


def _skip_folder(folder: str, why: str, found: Discovery) -> None:
    if folder.rstrip("/").rpartition("/")[2] not in _CACHES:
        found.skipped[folder] = why


def _foreign(path: str, names: frozenset[str]) -> str | None:
    """The folder of other people's code that a path lies in, with a slash at the end."""
    return _foreign_folder(path.rpartition("/")[0], names)


@lru_cache(maxsize=4096)
def _foreign_folder(folder: str, names: frozenset[str]) -> str | None:
    parts = folder.split("/")
    for index, part in enumerate(parts):
        if part in names or part.endswith(".egg-info"):
            return "/".join(parts[: index + 1]) + "/"
    return None


def _look(file: str, path: str, found: Discovery) -> int:
    """Adds one file to what was found, by its name, and by its first bytes where the name is not enough.

    Gives back its mode: what is no regular file, and what cannot be looked at (0), is not added.
    """
    name = path.rpartition("/")[2]
    kind = kind_of_name(path)
    mode = 0
    try:
        status = os.lstat(file)
        mode = status.st_mode
        if not stat.S_ISREG(mode):
            return mode
        if kind is None and _needs_content(name):
            with open(file, "rb") as stream:
                kind = kind_of_content(name, stream.read(HEAD))
    except FileNotFoundError:
        # Deleted in the work tree, still in git's index.
        return 0
    except OSError as problem:
        if kind is not None:
            found.unreadable[path] = reason(problem)
        return mode
    if kind is None:
        return mode
    if _GENERATED_NAME.fullmatch(name):
        found.skipped[path] = "generated or minified"
    elif status.st_size > MAX_BYTES:
        found.skipped[path] = f"larger than {MAX_BYTES // 1_000_000} MB"
    else:
        found.sources.append(Source(path, kind, status.st_size, stamp_of(status)))
    return mode


def _follow(root: Path, links: list[str], found: Discovery) -> None:
    """Takes a symbolic link to a file inside the root, unless that is read already under its own name or another link's."""
    seen = {source.path for source in found.sources}
    for link in links:
        target = Path(os.path.realpath(root / link))
        if not os.path.isfile(target):
            continue
        if not target.is_relative_to(root):
            if kind_of_name(link) is not None:
                found.skipped[link] = "symbolic link to a file outside of the program"
            continue
        inside = target.relative_to(root).as_posix()
        if inside in seen:
            found.skipped[link] = f"symbolic link to {inside}, which is read under its own name"
        elif _foreign(inside, VENDORED) is not None:
            _skip_folder(link, f"symbolic link to {inside}, which is vendored", found)
        else:
            seen.add(inside)
            _look(str(target), link, found)


# ---------------------------------------------------------------- kinds


def kind_of_name(path: str) -> str | None:
    """The kind of a file by its path alone; `None` where it has none or only its content can tell."""
    name = path.rpartition("/")[2]
    if name.endswith((".py", ".go", ".java")) and not name.startswith((".", "Dockerfile", "Containerfile")):
        # Most files of a program are code, whose names say all.
        return _SUFFIXES[name[name.rindex(".") :]]
    folders = path.split("/")[:-1]
    if name in _LOCKS or name in _OWN_FILES:
        return None
    if folders[-1:] == ["requirements"] and name.endswith(".txt"):
        return "text"
    if _TEXT.fullmatch(name):
        return "text"
    if _DOCKERFILE.fullmatch(name):
        return "dockerfile"
    if name.endswith(".cfg") and ("haproxy" in name or "haproxy" in folders):
        return "haproxy"
    if name == ".env" or name.startswith(".env."):
        return "env"
    if name == "pom.xml":
        return "xml"
    if name.endswith(".conf"):
        # Sites are Apache's too: there the content decides.
        by_place = "nginx" in folders or ("conf.d" in folders and _APACHE.isdisjoint(folders))
        return "nginx" if name.startswith("nginx") or by_place else None
    dot = name.rfind(".")
    kind = _SUFFIXES.get(name[dot:].lower()) if dot > 0 else None
    if kind is None and "sites-enabled" in folders:
        return "nginx"
    return kind


def may_be_read(path: str) -> bool:
    """Whether a file may be part of a program, by its path alone: vendored ones are not."""
    if _foreign(path, VENDORED) is not None:
        return False
    return kind_of_name(path) is not None or _needs_content(path.rpartition("/")[2])


def _needs_content(name: str) -> bool:
    return name.endswith((".conf", ".xml")) or ("." not in name and name not in _LOCKS)


def kind_of_content(name: str, head: bytes) -> str | None:
    """The kind of a file by its first bytes: scripts without suffix, and `.conf` and `.xml`, which are anybody's."""
    if name.endswith(".xml"):
        root = _XML_ROOT.match(head)
        return "xml" if root is not None and (root[1] in _XML_ROOTS or (root[1] == b"project" and _MAVEN in head)) else None
    if name.endswith(".conf"):
        if _NGINX_BLOCK.search(head):
            return "nginx" if _ARROW.search(head) is None else None
        return "ini" if _INI_FIRST.match(head) else None
    # An archive that Python runs starts like a script.
    return "python" if _PYTHON_SHEBANG.match(head) and b"\0" not in head else None


def is_generated(data: bytes, kind: str) -> bool:
    """Whether nobody wrote this file by hand: code that says so, JSON packed into a few endless lines, too many settings."""
    if kind in ("python", "go", "java"):
        return says_generated(data, kind)
    if len(data) > MOST_LINES and data.count(b"\n") + data.count(b"\r") + data.count(b";") > MOST_LINES:
        return True
    return kind == "json" and len(data) > 50_000 and data.count(b"\n") < len(data) // 5_000


# ---------------------------------------------------------------- listings


def _listing(root: Path, before: str, found: Discovery) -> Iterator[str]:
    """All files under a folder of the root (empty, or with a slash at the end) that nobody ignores, relative to the root.

    Of a repository inside the repository only the folder is named.
    """
    top = root / before
    listed = _git_listing(top, before, found) if _in_work_tree(top) else None
    # Nothing at all: git ignores the folder itself.
    if not listed:
        yield from _walk(root, before, found)
        return
    for entry in listed:
        yield before + entry.rstrip("/")


def _in_work_tree(folder: Path) -> bool:
    return any(os.path.lexists(parent / ".git") for parent in (folder, *folder.parents))


_UNOPENED = re.compile(rb"^warning: could not open directory '(.+)': ([^\n]+)$", re.MULTILINE)
"""What git says, in English, of a folder that it leaves out of its list."""


def _git_listing(folder: Path, before: str, found: Discovery) -> list[str] | None:
    """Tracked and untracked files that git does not ignore; `None` where git cannot say.

    Runs no program that the repository's configuration names, and forgets the places a hook was started with.
    """
    try:
        done = subprocess.run(
            command(folder, "ls-files", "-co", "--exclude-standard", "-z"),
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    for folder, why in _UNOPENED.findall(done.stderr):
        found.unreadable[before + os.fsdecode(folder).rstrip("/")] = os.fsdecode(why).lower()
    entries = [os.fsdecode(entry) for entry in done.stdout.split(b"\0") if entry]
    # A submodule that was never checked out: seen from inside, git only knows that it is there.
    return None if "./" in entries else entries


def _walk(root: Path, before: str, found: Discovery) -> Iterator[str]:
    """The files under a folder without git's help; `.gitignore` files from the root down are honoured."""
    rules: dict[str, GitIgnoreSpec] = {}
    above = ""
    for part in before.split("/")[:-1]:
        _remember_ignores(os.path.join(root, above, ".gitignore"), above, rules)
        above += part + "/"
    if before and _is_ignored(before, _over(before[:-1].rpartition("/")[0], rules)):
        # Whoever names an ignored folder means it.
        rules.clear()
    pending = [before]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                listed = list(entries)
        except OSError as problem:
            found.unreadable[folder.rstrip("/") or "."] = reason(problem)
            continue
        for entry in listed:
            if entry.name == ".gitignore":
                _remember_ignores(entry.path, folder, rules)
        over = _over(folder[:-1], rules)
        for entry in listed:
            path = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                if (foreign := _foreign(path[len(before) :] + "/", VENDORED | BUILT)) is not None:
                    _skip_folder(before + foreign, "vendored or built", found)
                elif not _is_ignored(path + "/", over):
                    pending.append(path + "/")
            elif not _is_ignored(path, over):
                yield path


def _remember_ignores(file: str, folder: str, rules: dict[str, GitIgnoreSpec]) -> None:
    try:
        if not stat.S_ISREG(os.lstat(file).st_mode):
            # As git, which follows no link here; a pipe would be waited for.
            return
        text = Path(file).read_text("utf-8", "replace")
    except OSError:
        return
    from pathspec import GitIgnoreSpec

    try:
        rules[folder] = GitIgnoreSpec.from_lines(
            line for line in text.splitlines() if line.replace("**/", "").count("*") <= _MOST_STARS
        )
    except ValueError:
        # A pattern git would not take either.
        return


def _over(folder: str, rules: dict[str, GitIgnoreSpec]) -> list[tuple[int, GitIgnoreSpec]]:
    """The `.gitignore` files that speak of what lies in a folder, the deepest first, and where paths begin for each."""
    found = []
    while rules:
        place = folder + "/" if folder else ""
        if place in rules:
            found.append((len(place), rules[place]))
        if not folder:
            break
        folder = folder.rpartition("/")[0]
    return found


def _is_ignored(path: str, over: list[tuple[int, GitIgnoreSpec]]) -> bool:
    """The deepest `.gitignore` that says something about a path decides."""
    for begin, spec in over:
        said = spec.check_file(path[begin:]).include
        if said is not None:
            return said
    return False
