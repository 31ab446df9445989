"""Time of `resilint check` over a tree of Python, Go or Java, beside the raw tree-sitter parse of the same bytes: with an empty
cache, with one changed file, and with nothing changed.

    python benchmarks/speed.py FOLDER [--runs N]

Without a folder the source of salt 3008.5 (about a million lines of Python) is taken from the package index with pip and kept
below benchmarks/.cache. Everything is measured in one run on one machine; only the ratios mean something.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS = "salt==3008.5"
GRAMMARS = {".py": "tree_sitter_python", ".go": "tree_sitter_go", ".java": "tree_sitter_java"}


def corpus() -> Path:
    """The default tree, fetched once with pip."""
    folder = HERE / ".cache"
    found = sorted(folder.glob("salt-*/"))
    if found:
        return found[0]
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder), CORPUS]
    subprocess.run(command, check=True)
    with tarfile.open(next(folder.glob("salt-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return sorted(folder.glob("salt-*/"))[0]


def parse_all(folder: Path) -> tuple[float, int, int]:
    """Seconds of one core for parsing every file, the files and their bytes. Each tree is dropped before the next parse."""
    from importlib import import_module

    from tree_sitter import Language, Parser

    parsers = {suffix: Parser(Language(import_module(name).language())) for suffix, name in GRAMMARS.items()}
    texts = [(path.suffix, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.suffix in parsers and path.is_file()]
    start = time.perf_counter()
    for suffix, data in texts:
        parsers[suffix].parse(data)
    return time.perf_counter() - start, len(texts), sum(len(data) for _, data in texts)


def check(folder: Path, cache: str, jobs: int) -> float:
    """Seconds of one whole `resilint check`, start-up included."""
    command = [sys.executable, "-m", "resilint.cli", "check", "--exit-zero", "--format", "json", "--jobs", str(jobs), str(folder)]
    start = time.perf_counter()
    done = subprocess.run(command, env={**os.environ, "RESILINT_CACHE_DIR": cache}, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"resilint ended with {done.returncode}")
    return time.perf_counter() - start


@contextmanager
def one_changed(folder: Path) -> Iterator[None]:
    """The file of middling size ends in another line, for as long as this lasts."""
    files = sorted((path.stat().st_size, path) for path in folder.rglob("*") if path.suffix in GRAMMARS and path.is_file())
    path = files[len(files) // 2][1]
    text = path.read_bytes()
    mark = b"#" if path.suffix == ".py" else b"//"
    try:
        path.write_bytes(text + b"\n" + mark + f" {time.time_ns()}\n".encode())
        yield
    finally:
        path.write_bytes(text)


def main() -> None:
    """Measure and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", nargs="?", type=Path)
    options.add_argument("--runs", type=int, default=1)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = options.parse_args()
    folder = given.folder or corpus()
    rows: dict[str, list[float]] = {"raw parse, one core": [], "cold": [], "nothing changed": [], "one file changed": []}
    files = size = 0
    for _ in range(given.runs):
        seconds, files, size = parse_all(folder)
        rows["raw parse, one core"].append(seconds)
        with tempfile.TemporaryDirectory() as cache:
            rows["cold"].append(check(folder, cache, given.jobs))
            rows["nothing changed"].append(check(folder, cache, given.jobs))
            with one_changed(folder):
                rows["one file changed"].append(check(folder, cache, given.jobs))
    base = statistics.median(rows["raw parse, one core"])
    print(f"{folder.name}: {files} files, {size / 1e6:.1f} MB, {given.jobs} jobs, median of {given.runs}")
    for name, values in rows.items():
        print(f"{name:22} {statistics.median(values):8.2f} s  {statistics.median(values) / base:6.2f} x the parse")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory of the largest process: {peak:.0f} MB")


if __name__ == "__main__":
    main()
