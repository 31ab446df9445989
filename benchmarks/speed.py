"""Time and memory of `resilint check` beside other linters and the raw tree-sitter parse of the same bytes, in one run.

    python -m benchmarks.speed                     all of it: half an hour, or more on a busy machine
    python -m benchmarks.speed --only salt --peers none --runs 1
    python -m benchmarks.speed FOLDER              a tree of your own, of Python, Go or Java

Trees and linters are pinned, fetched once by the clients of their registries and kept below benchmarks/.cache. Only ratios within
one run mean something. README.md beside this file says what each figure is.
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import json
import os
import platform
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import corpora, gauge, rivals, table
from benchmarks.corpora import COMMENTS, CORPORA, FUNCTIONS, Unavailable
from benchmarks.gauge import Command, Failed
from benchmarks.table import Row, Step, Target, Tree

ROOT = Path(__file__).resolve().parent.parent
GRAMMARS = {".py": "tree_sitter_python", ".go": "tree_sitter_go", ".java": "tree_sitter_java"}
PARTS = (*(corpus.name for corpus in CORPORA), "growth", "start", "editor")
GROWTH = (1, 2, 4, 8)
STARTS = 21


@dataclass
class Found:
    """All that was measured."""

    trees: list[Tree] = field(default_factory=list)
    parses: dict[str, float] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    start: dict[str, float] = field(default_factory=dict)
    editor: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


# ---------------------------------------------------------------- resilint and the parse

SOURCES = tuple(str(ROOT / name) for name in ("lint", "checks"))
"""Where the resilint of this checkout is imported from, uncompiled."""


def compiled() -> tuple[str, ...]:
    """Where the resilint of this checkout is imported from as its wheel has it, compiled; built where that is not done yet.

    Raises `Unavailable`.
    """
    folder = corpora.CACHE / "compiled"
    stamp = folder / "made-of"
    wanted = _digest(ROOT / name for name in ("lint", "checks", "rule_docs", "hatch_build.py", "pyproject.toml"))
    if not (stamp.is_file() and stamp.read_text("utf-8") == wanted):
        tell("compiling resilint")
        shutil.rmtree(folder, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", str(folder)]
        corpora.run([*pip, str(ROOT)], HATCH_BUILD_HOOK_ENABLE_CUSTOM="true")
        stamp.write_text(wanted, "utf-8")
    return (str(folder),)


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else (path,):
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def resilint(*words: str, code: Sequence[str] = SOURCES, cache: Path | None = None, folder: Path | None = None) -> Command:
    """A command of resilint, as its script runs it; `code`: where it is imported from. 1 and 3 say what was found."""
    environment = [("PYTHONPATH", os.pathsep.join(code))]
    if cache is not None:
        environment.append(("RESILINT_CACHE_DIR", str(cache)))
    return Command((sys.executable, "-c", "from resilint.cli import main; main()", *words), folder, tuple(environment), good=(0, 3))


def checked(folder: Path, cache: Path, jobs: int, code: Sequence[str]) -> Command:
    """`resilint check` over a tree: all stable rules."""
    return resilint("check", "--exit-zero", "--format", "json", "--jobs", str(jobs), str(folder), code=code, cache=cache)


def parse_all(folder: Path, suffix: str) -> float:
    """Seconds of one core for parsing all files, which are in memory. Each tree is dropped before the next parse."""
    from importlib import import_module

    from tree_sitter import Language, Parser

    parser = Parser(Language(import_module(GRAMMARS[suffix]).language()))
    texts = [path.read_bytes() for path in corpora.code_in(folder, suffix)]
    start = time.perf_counter()
    for data in texts:
        parser.parse(data)
    return time.perf_counter() - start


def code_read(folder: Path, suffix: str) -> int:
    """The files of code that resilint reads of a tree; it leaves out what is generated, vendored or minified."""
    from resilint.discover import discover

    return sum(source.path.endswith(suffix) for source in discover(folder.resolve(), ("",), lambda path: False).sources)


@contextmanager
def one_changed(folder: Path, suffix: str, added: bytes) -> Iterator[None]:
    """The file of middling size ends in this and a comment that no other run has seen, for as long as this lasts."""
    files = sorted((path.stat().st_size, path) for path in corpora.code_in(folder, suffix))
    path = files[len(files) // 2][1]
    text = path.read_bytes()
    try:
        path.write_bytes(text + b"\n" + added + COMMENTS[suffix] + f" {time.time_ns()}\n".encode())
        yield
    finally:
        path.write_bytes(text)


# ---------------------------------------------------------------- the parts


def measure_tree(found: Found, name: str, folder: Path, suffix: str, given: argparse.Namespace) -> None:
    """All programs on one tree, by turns, so that what else the machine does hits all of them."""
    size = corpora.size_of(folder, suffix)
    found.trees.append(Tree(name, size.files, size.lines, size.bytes))
    tell(f"{name}: {size.files:,} files, {size.lines:,} lines, {size.bytes / 1e6:.1f} MB")
    parses: list[float] = []
    parsed = Row(name, "tree-sitter", "parse, one core", size.files)
    own = Row(name, "resilint", "all stable", code_read(folder, suffix))
    plain = Row(name, "resilint, not compiled", "all stable", own.read)
    others = [(one, Row(name, one.name, one.rule)) for one in rivals.RIVALS if suffix in one.suffixes and one.name in given.peers]
    for run in range(given.runs):
        parses.append(parse_all(folder, suffix))
        tell(f"{name} {run + 1}/{given.runs}: parse {parses[-1]:.2f} s")
        with tempfile.TemporaryDirectory() as work:
            cache = Path(work)
            command = checked(folder, cache, given.jobs, given.code)
            cold = gauge.timed(command)
            own.cold.append(cold.seconds)
            own.cpu.append(cold.cpu)
            own.findings = len(json.loads(cold.output)["findings"])
            own.unchanged.append(gauge.timed(command).seconds)
            with one_changed(folder, suffix, b""):
                own.commented.append(gauge.timed(command).seconds)
            gauge.timed(command)
            with one_changed(folder, suffix, FUNCTIONS[suffix]):
                own.changed.append(gauge.timed(command).seconds)
            tell(f"  resilint {own.cold[-1]:.2f} s cold, {own.unchanged[-1]:.2f} s unchanged")
            tell(f"  {own.commented[-1]:.2f} s with a comment more, {own.changed[-1]:.2f} s with a function more")
        if given.code != SOURCES:
            with tempfile.TemporaryDirectory() as work:
                cold = gauge.timed(checked(folder, Path(work), given.jobs, SOURCES))
            plain.cold.append(cold.seconds)
            plain.cpu.append(cold.cpu)
            plain.findings = len(json.loads(cold.output)["findings"])
            tell(f"  not compiled {cold.seconds:.2f} s")
        for rival, row in others:
            measure_rival(rival, row, folder, suffix)
            tell(f"  {row.program} {row.cold[-1]:.2f} s")
    with tempfile.TemporaryDirectory() as work:
        peak = gauge.peak_of(checked(folder, Path(work), given.jobs, given.code))
        own.largest, own.together = peak.largest, peak.together
    for rival, row in others:
        with tempfile.TemporaryDirectory() as work, rivals.everything(folder):
            peak = gauge.peak_of(rival.cold(folder, suffix, Path(work)))
            row.largest, row.together = peak.largest, peak.together
    parsed.cold = parses
    found.parses[name] = statistics.median(parses)
    found.rows += [parsed, own, *([plain] if plain.cold else ()), *(row for _, row in others)]


def measure_rival(rival: rivals.Rival, row: Row, folder: Path, suffix: str) -> None:
    """One turn of another linter."""
    with tempfile.TemporaryDirectory() as work, rivals.everything(folder):
        here = Path(work)
        cold = gauge.timed(rival.cold(folder, suffix, here))
        row.cold.append(cold.seconds)
        row.cpu.append(cold.cpu)
        row.findings = rival.findings(cold.output)
        if row.read is None:
            row.read = rival.read(cold.output, folder, suffix)
        if rival.kept is not None:
            kept = rival.kept(folder, suffix, here)
            gauge.timed(kept)
            row.unchanged.append(gauge.timed(kept).seconds)
            with one_changed(folder, suffix, b""):
                row.commented.append(gauge.timed(kept).seconds)
            with one_changed(folder, suffix, FUNCTIONS[suffix]):
                row.changed.append(gauge.timed(kept).seconds)


def measure_growth(found: Found, name: str, folder: Path, suffix: str, given: argparse.Namespace) -> None:
    """Copies of a tree beside each other, once each."""
    target = corpora.CACHE / f"{name}-grown"
    shutil.rmtree(target, ignore_errors=True)
    try:
        for number in [one for one in GROWTH if one <= given.most]:
            corpora.grown(folder, number, target, suffix)
            size = corpora.size_of(target, suffix)
            # What was written a moment ago is looked at again by the next run: its stamp may still be that of another text.
            time.sleep(3)
            with tempfile.TemporaryDirectory() as work:
                command = checked(target, Path(work), given.jobs, given.code)
                cold = gauge.timed(command)
                unchanged = gauge.timed(command).seconds
            with tempfile.TemporaryDirectory() as work:
                peak = gauge.peak_of(checked(target, Path(work), given.jobs, given.code))
            found.steps.append(Step(number, size.files, size.lines, cold.seconds, cold.cpu, unchanged, peak.largest))
            tell(f"{name} x {number}: {cold.seconds:.1f} s cold, {unchanged:.2f} s unchanged, {peak.largest / 1e6:.0f} MB")
    finally:
        shutil.rmtree(target, ignore_errors=True)


def measure_start(found: Found, given: argparse.Namespace) -> None:
    """What it takes before anything is done, beside a bare Python; by turns."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        (folder / "one.py").write_text("import requests\n\nrequests.get('https://example.com', timeout=3)\n", "utf-8")
        commands = {
            "bare Python": Command((sys.executable, "-c", "pass")),
            "resilint --help": resilint("--help", code=given.code),
            "resilint check, one file": resilint(
                "check", "--exit-zero", "one.py", code=given.code, cache=folder / "cache", folder=folder
            ),
        }
        gauge.timed(commands["resilint check, one file"])
        runs: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(STARTS):
            for name, command in commands.items():
                runs[name].append(gauge.timed(command).seconds)
    found.start = {name: statistics.median(values) for name, values in runs.items()}
    tell(", ".join(f"{name} {value:.3f} s" for name, value in found.start.items()))


def measure_editor(found: Found, folder: Path, given: argparse.Namespace) -> None:
    """Changes in an editor, over the whole tree."""
    with tempfile.TemporaryDirectory() as work:
        script = str(ROOT / "benchmarks" / "editor.py")
        words = (sys.executable, script, str(folder), "--changes", str(given.changes))
        run = gauge.timed(Command(words, None, (("PYTHONPATH", os.pathsep.join(given.code)), ("RESILINT_CACHE_DIR", work))))
    found.editor = editor_figures(run.output)
    tell(", ".join(f"{name} {value:.2f} s" for name, value in found.editor.items()))


def editor_figures(output: str) -> dict[str, float]:
    """The figures of benchmarks/editor.py: of the first diagnostics, and of changes to diagnostics and hovers.

    Raises `Failed` where they are not there.
    """
    figures: dict[str, float] = {}
    for name, pattern in (
        ("first diagnostics", r"first diagnostics after ([\d.]+) s"),
        ("change to diagnostics, median", r"change to diagnostics: median ([\d.]+) s"),
        ("change to diagnostics, p95", r"change to diagnostics: .*p95 ([\d.]+) s"),
        ("change to hover, p95", r"change to hover: .*p95 ([\d.]+) s"),
    ):
        match = re.search(pattern, output)
        if match is None:
            raise Failed(f"benchmarks/editor.py printed nothing of: {name}")
        figures[name] = float(match[1])
    return figures


# ---------------------------------------------------------------- what is said of it


def targets_of(found: Found) -> list[Target]:
    """The targets, with what was measured of each."""
    rows = {(row.tree, row.program): row for row in found.rows}
    trees = {tree.name: tree for tree in found.trees}
    asked: list[Target] = []

    def ratio(value: float | None, base: float | None) -> float | None:
        return None if value is None or not base else value / base

    for name in trees:
        own = rows[name, "resilint"]
        cold = table.middle(own.cold)
        semgrep = rows.get((name, "semgrep"))
        asked.append(Target(f"{name}: cold ÷ parse", 1.7, ratio(cold, found.parses[name]), ""))
        asked.append(Target(f"{name}: cold ÷ semgrep", 0.5, ratio(cold, table.middle(semgrep.cold) if semgrep else None), ""))
        asked.append(Target(f"{name}: nothing changed, {trees[name].files:,} files", 0.2, table.middle(own.unchanged), "s"))
        asked.append(Target(f"{name}: one file changed, a comment more", 0.6, table.middle(own.commented), "s"))
        asked.append(Target(f"{name}: one file changed, a function more", 0.6, table.middle(own.changed), "s"))
        per_million = None if own.largest is None else own.largest / table.MB / trees[name].lines * 1e6
        asked.append(Target(f"{name}: peak memory for a million lines", 300, per_million, "MB"))
    many = next((step for step in found.steps if step.files >= 10_000), None)
    asked.append(Target(f"nothing changed, {many.files if many else 10_000:,} files", 0.3, many.unchanged if many else None, "s"))
    last = found.steps[-1] if found.steps and found.steps[-1].times == GROWTH[-1] else None
    asked.append(Target("cold of 8 copies ÷ one", 9, ratio(last.cold, found.steps[0].cold) if last else None, ""))
    over = found.start["resilint --help"] - found.start["bare Python"] if found.start else None
    asked.append(Target("`resilint --help` over bare Python", 0.15, over, "s"))
    p95 = found.editor.get("change to diagnostics, p95")
    asked.append(Target("editor, change to diagnostics, p95", 150, None if p95 is None else p95 * 1000, "ms"))
    return asked


def report(found: Found, given: argparse.Namespace) -> str:
    """All tables, to be pasted into README.md."""
    programs = ", ".join(one for one in rivals.PINNED if one.partition("=")[0] in given.peers) or "none"
    parts = [
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {given.jobs} jobs, "
        f"median of {given.runs}; peers: {programs}.\n"
    ]
    parts += [f"{tree.name}: {tree.files:,} files, {tree.lines:,} lines, {tree.bytes / 1e6:.1f} MB.\n" for tree in found.trees]
    if found.rows:
        parts.append(table.programs(found.rows, found.parses))
    if found.steps:
        parts.append(table.growth(found.steps))
    times = {**found.start, **{f"editor: {name}": value for name, value in found.editor.items()}}
    if times:
        parts.append(table.markdown(("", "median" if found.start else "seconds"), [(k, f"{v:.3f} s") for k, v in times.items()]))
    parts.append(table.targets(targets_of(found)))
    parts += [f"Not measured: {one}\n" for one in found.missing]
    return "\n".join(parts)


def tell(text: str) -> None:
    """Says how far it is, beside the tables."""
    print(text, file=sys.stderr, flush=True)


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="a tree of your own, in place of the pinned ones")
    parser.add_argument("--only", type=_among(PARTS), default=PARTS, metavar="PARTS", help=f"some of {','.join(PARTS)}")
    names = tuple(one.name for one in rivals.RIVALS)
    parser.add_argument("--peers", type=_among(names), default=names, metavar="NAMES", help=f"some of {','.join(names)}, or none")
    parser.add_argument("--runs", type=int, default=3, help="of each program on each tree (default: 3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes of resilint (default: one a core)")
    parser.add_argument("--plain", action="store_true", help="measure resilint as it lies here, not as its compiled wheel has it")
    parser.add_argument("--grow", default="salt", choices=[one.name for one in CORPORA], help="the tree that is copied")
    parser.add_argument("--most", type=int, default=GROWTH[-1], help="copies of it (default: 8)")
    parser.add_argument("--changes", type=int, default=40, help="changes in the editor (default: 40)")
    given = parser.parse_args(words)
    if given.runs < 1:
        parser.error("--runs: at least 1")
    if given.folder is not None and not given.folder.is_dir():
        parser.error(f"{given.folder} is not a folder")
    given.code = SOURCES
    return given


def _among(known: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    def chosen(text: str) -> tuple[str, ...]:
        names = () if text == "none" else tuple(part.strip() for part in text.split(","))
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return names

    return chosen


def main() -> None:
    """Measures, and prints the tables. What is not to be had on this machine is named and left out; then the exit status is 1."""
    given = options()
    for source in ("lint", "checks"):
        compileall.compile_dir(ROOT / source, quiet=2)
    found = Found()
    if not given.plain:
        try:
            given.code = compiled()
        except Unavailable as problem:
            found.missing.append(f"compiled code: {problem}")
    folders: dict[str, Path] = {}
    if given.peers:
        try:
            rivals.environment()
        except Unavailable as problem:
            found.missing.append(str(problem))
            given.peers = ()
    if given.folder is not None:
        folder = given.folder.resolve()
        suffix = max(GRAMMARS, key=lambda one: corpora.size_of(folder, one).bytes)
        measure_tree(found, folder.name, folder, suffix, given)
    else:
        needed = {corpus.name for corpus in CORPORA if corpus.name in given.only}
        needed |= {given.grow} if "growth" in given.only else set()
        needed |= {"salt"} if "editor" in given.only else set()
        for corpus in CORPORA:
            if corpus.name in needed:
                try:
                    folders[corpus.name] = corpora.fetched(corpus)
                except Unavailable as problem:
                    found.missing.append(str(problem))
        suffixes = {corpus.name: corpus.suffix for corpus in CORPORA}
        for name, folder in folders.items():
            if name in given.only:
                _try(found, name, measure_tree, name, folder, suffixes[name], given)
        if "growth" in given.only and given.grow in folders:
            _try(found, "growth", measure_growth, given.grow, folders[given.grow], suffixes[given.grow], given)
        if "start" in given.only:
            _try(found, "start", measure_start, given)
        if "editor" in given.only and "salt" in folders:
            _try(found, "editor", measure_editor, folders["salt"], given)
    print(report(found, given), end="")
    if found.missing:
        sys.exit(1)


def _try(found: Found, part: str, measure: Callable[..., None], *given: Any) -> None:
    try:
        measure(found, *given)
    except (Failed, Unavailable) as problem:
        found.missing.append(f"{part}: {problem}")


if __name__ == "__main__":
    main()
