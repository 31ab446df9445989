"""The trees that are measured: pinned packages of public registries, fetched once by their clients, the same bytes everywhere."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(__file__).resolve().parent / ".cache"
COPY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.0:copy"
COMMENTS = {".py": b"#", ".go": b"//", ".java": b"//"}
FUNCTIONS = {
    ".py": b"def added_by_the_benchmark(text):\n    return len(text)\n",
    ".go": b"func addedByTheBenchmark(text string) int {\n\treturn len(text)\n}\n",
    ".java": b"class AddedByTheBenchmark {\n    int of(String text) {\n        return text.length();\n    }\n}\n",
}
"""Code that a change adds to the end of a file."""


class Unavailable(Exception):
    """A tree or a program is not to be had on this machine; says which and why."""


@dataclass(frozen=True)
class Corpus:
    """A tree of one language, made of pinned packages. `digest` is that of its code: see `digest_of`."""

    name: str
    suffix: str
    packages: tuple[str, ...]
    digest: str


CORPORA = (
    Corpus("salt", ".py", ("salt==3008.5",), "1ab08c9aa295ceb5ba42dc1b12e6b766a5f9947ada24d700b98d1581b099d3ec"),
    # Daemons with servers, clients, pools and queues of their own, little generated code.
    Corpus(
        "go",
        ".go",
        (
            "github.com/docker/docker@v27.3.1+incompatible",
            "github.com/prometheus/prometheus@v0.54.1",
            "go.etcd.io/etcd/server/v3@v3.5.16",
        ),
        "a3368f1cc0408539e6da40aa750ec85c0765a90118de5ba21693032903397448",
    ),
    Corpus(
        "java",
        ".java",
        (
            "org.apache.dubbo:dubbo:3.2.16",
            "org.apache.tomcat.embed:tomcat-embed-core:10.1.30",
            "org.apache.zookeeper:zookeeper:3.9.2",
        ),
        "fa0724a09057ed14741383d9b03f4e59f903aeb0e096dd68fbed5bfab99cb94a",
    ),
)


@dataclass(frozen=True)
class Size:
    """How much code a tree holds."""

    files: int
    lines: int
    bytes: int


def code_in(folder: Path, *suffixes: str) -> Iterator[Path]:
    """The files of code below a folder, in a fixed order; none behind a link."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in suffixes and path.is_file() and not path.is_symlink():
            yield path


def size_of(folder: Path, *suffixes: str) -> Size:
    """Counts files, lines and bytes of code."""
    files = lines = size = 0
    for path in code_in(folder, *suffixes):
        data = path.read_bytes()
        files, lines, size = files + 1, lines + data.count(b"\n"), size + len(data)
    return Size(files, lines, size)


def digest_of(folder: Path, *suffixes: str) -> str:
    """A digest of the paths and bytes of all code below a folder."""
    whole = hashlib.sha256()
    for path in code_in(folder, *suffixes):
        data = path.read_bytes()
        whole.update(f"{path.relative_to(folder).as_posix()}\0{len(data)}\0".encode())
        whole.update(data)
    return whole.hexdigest()


def fetched(corpus: Corpus, cache: Path = CACHE) -> Path:
    """The folder of a corpus, fetched if it is not there. Raises `Unavailable`, also where the bytes are other than pinned."""
    folder = cache / corpus.name
    if folder.is_dir():
        return folder
    work = cache / f"{corpus.name}.part"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    fetch = _FETCH[corpus.suffix]
    tree = work / "tree"
    for package in corpus.packages:
        fetch(package, tree, work)
    verify(corpus, tree)
    tree.rename(folder)
    _remove(work)
    return folder


def verify(corpus: Corpus, tree: Path) -> None:
    """Raises `Unavailable` unless a tree holds the code that was pinned."""
    found = digest_of(tree, corpus.suffix)
    if found != corpus.digest:
        raise Unavailable(f"{corpus.name}: the code has the digest {found}, not {corpus.digest}: other code, other figures")


def _remove(folder: Path) -> None:
    """Removes a folder, the modules of Go too, which nobody may write to."""
    for path, names, _ in os.walk(folder):
        for name in names:
            child = Path(path, name)
            if not child.is_symlink():
                child.chmod(0o755)
    shutil.rmtree(folder)


def run(command: list[str], **environment: str) -> None:
    """Runs a client of a registry. Raises `Unavailable` with its last words."""
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is not installed")
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Unavailable(f"{' '.join(command)} ended with {done.returncode}: {words[-1] if words else 'no message'}")


def _python(package: str, tree: Path, work: Path) -> None:
    """The source distribution, not built: a wheel leaves tests and settings out."""
    options = ["-q", "--no-deps", "--no-binary", ":all:", "-d", str(work)]
    run([sys.executable, "-m", "pip", "download", *options, package])
    name = re.split(r"[=<>]", package)[0]
    with tarfile.open(next(work.glob(f"{name}-*.tar.gz"))) as archive:
        archive.extractall(work, filter="data")
    next(path for path in work.glob(f"{name}-*") if path.is_dir()).rename(tree)


def _go(package: str, tree: Path, work: Path) -> None:
    """The module as the proxy has it, checked by `go` against the checksum database."""
    modules = work / "modules"
    run(["go", "mod", "download", package], GOMODCACHE=str(modules), GOFLAGS="-mod=mod", GO111MODULE="on", GOWORK="off")
    path, _, version = package.partition("@")
    name = next(part for part in reversed(path.split("/")) if not re.fullmatch(r"v\d+", part))
    shutil.copytree(modules / f"{path}@{version}", tree / name, copy_function=shutil.copyfile, symlinks=True)
    for folder, _, _ in os.walk(tree / name):
        Path(folder).chmod(0o755)


def _java(package: str, tree: Path, work: Path) -> None:
    """The jar of sources, laid out as the module that it was built from."""
    run(["mvn", "-B", "-q", COPY_PLUGIN, f"-Dartifact={package}:jar:sources", f"-DoutputDirectory={work}"])
    _, name, version = package.split(":")
    with zipfile.ZipFile(work / f"{name}-{version}-sources.jar") as archive:
        archive.extractall(tree / name / "src" / "main" / "java")


_FETCH: dict[str, Callable[[str, Path, Path], None]] = {".py": _python, ".go": _go, ".java": _java}


def grown(folder: Path, times: int, target: Path, *suffixes: str) -> None:
    """Copies of a tree beside each other, each below a folder of its own.

    The code of each copy ends in a line of its own, so that no two files have the same bytes and none is read only once.
    """
    for number in range(1, times + 1):
        copy = target / f"copy{number}"
        if copy.is_dir():
            continue
        shutil.copytree(folder, copy, symlinks=True)
        for path in code_in(copy, *suffixes):
            with path.open("ab") as file:
                file.write(b"\n" + COMMENTS[path.suffix] + f" copy {number}\n".encode())
