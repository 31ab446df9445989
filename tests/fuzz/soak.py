"""Reads and checks damaged programs for as long as asked: no crash, no hang, bounded memory.

    python -m tests.fuzz.soak --files 20000 --seed 1

Each program is made from the seed and its number alone. Those that fail are kept in `build/soak/SEED-NUMBER`.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from resilint import registry
from resilint.discover import kind_of_content, kind_of_name
from resilint.fix import Fixer
from resilint.intake import read_bytes
from resilint.model import Confidence
from resilint.report import FORMATS, Options, write
from resilint.run import Session
from resilint.scope import Scope
from resilint.settings import Settings

from .mutations import REPOSITORY, Tree, damaged_program

MOST_SECONDS = 2.0
"""Of the processor, which other work does not lengthen: of a file through its reader, and of a program for each of its files."""
MOST_BYTES = 1_000_000_000
"""Of memory that one process of the soak takes at its peak."""
_HANG = 60
"""Seconds after which a program is a hang, wherever it hangs."""


@dataclass
class Outcome:
    """What became of the programs."""

    files: int = 0
    programs: int = 0
    findings: int = 0
    fixes: int = 0
    slowest_file: tuple[float, str] = (0.0, "")
    slowest_program: tuple[float, str] = (0.0, "")
    problems: list[str] = field(default_factory=list)


def soak(files: int, seed: int, kept: Path | None = None, start: int = 0) -> Outcome:
    """Checks damaged programs until there were so many files. Those that fail are written below `kept`."""
    outcome = Outcome()
    number = start
    with tempfile.TemporaryDirectory() as folder:
        # What is imported and loaded once counts for no program.
        check_program({"a.py": b"import requests\n"}, Path(folder) / "first")
    while outcome.files < files:
        name = f"{seed}-{number}"
        tree, damaged = damaged_program(random.Random(name))
        if kept is not None:
            # In C no exception ends a loop: the place is printed and the process goes.
            faulthandler.dump_traceback_later(_HANG, exit=True)
            (kept / "running").write_text(f"{name}\n")
        problems = list(_problems(tree, name, outcome))
        outcome.files += damaged
        outcome.programs += 1
        outcome.problems += [f"{name}: {problem}" for problem in problems]
        if problems and kept is not None:
            put(tree, kept / name)
        number += 1
    if kept is not None:
        faulthandler.cancel_dump_traceback_later()
    return outcome


def check_program(tree: Tree, folder: Path) -> list[str]:
    """What goes wrong where these files are checked in a new folder."""
    folder.mkdir()
    put(tree, folder)
    return list(_checked(folder, Outcome()))


def put(tree: Tree, folder: Path) -> None:
    """Writes a program into a folder; a file where a folder has to be loses."""
    for path, data in sorted(tree.items(), reverse=True):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_dir():
            file.write_bytes(data)


def _problems(tree: Tree, name: str, outcome: Outcome) -> Iterator[str]:
    for path, data in sorted(tree.items()):
        kind = kind_of_name(path) or kind_of_content(path.rpartition("/")[2], data[:4096])
        if kind is None:
            continue
        begin = time.process_time()
        read = read_bytes(data, path, kind)
        seconds = time.process_time() - begin
        outcome.slowest_file = max(outcome.slowest_file, (seconds, f"{name} {path}"))
        if read.crash:
            yield f"{path}: {read.problem}"
        if seconds > MOST_SECONDS:
            yield f"{path}: {seconds:.1f} s to read {len(data)} bytes"
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    begin = time.process_time()
    try:
        put(tree, folder)
        yield from _checked(folder, outcome)
    except Exception:
        yield f"check raised\n{traceback.format_exc()}"
    finally:
        shutil.rmtree(folder)
    seconds = time.process_time() - begin
    outcome.slowest_program = max(outcome.slowest_program, (seconds, name))
    if seconds > MOST_SECONDS * max(1, len(tree)):
        yield f"{seconds:.1f} s to check {len(tree)} files"


def _checked(folder: Path, outcome: Outcome) -> Iterator[str]:
    """Everything that a user can ask of a program: findings with every fix, all reports, budgets and the graph."""
    root = folder.resolve()
    rules = registry.rules()
    settings = Settings(confidence=Confidence.LOW)
    session = Session(Scope(root, root), settings)
    found = session.result(rules, rules)
    outcome.findings += len(found.findings)
    failures = found.failures
    for form in FORMATS:
        write(found, form, Options(show_trace=True, statistics=True, unsafe_fixes=True))
    session.program.call_graph()
    budgets = session.program.budgets
    list(budgets.ranked(budgets.endpoints))
    for one in found.findings:
        for span in (one.span, *(step.span for step in one.trace)):
            if (
                not (root / span.path).is_file()
                or (span.line, span.col) > (span.end_line, span.end_col)
                or min(span.line, span.col) < 1
            ):
                yield f"{one.code}: no such place: {span}"
        if "\n" in one.message or not one.message:
            yield f"{one.code}: not one line: {one.message!r}"
    if any(one.fix is not None for one in found.findings):
        fixer = Fixer(root, unsafe=True)
        failures += session.result(rules, rules, mend=fixer).failures
        fixer.diff((path, path) for path in fixer.changed)
        outcome.fixes += len(fixer.fixed)
        for path, why in fixer.write():
            yield f"{path}: not written: {why}"
    for failure in failures:
        yield f"{failure.path or failure.code or 'engine'}: {failure.message}\n{failure.detail}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    asked = parser.parse_args()
    kept = REPOSITORY / "build" / "soak"
    kept.mkdir(parents=True, exist_ok=True)
    begin = time.process_time()
    outcome = soak(asked.files, asked.seed, kept, asked.start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    for problem in outcome.problems:
        print(problem)
    print(
        f"{outcome.files} files in {outcome.programs} programs, {outcome.findings} findings, {outcome.fixes} fixes,"
        f" {time.process_time() - begin:.0f} s; slowest file {outcome.slowest_file[0]:.2f} s ({outcome.slowest_file[1]}),"
        f" slowest program {outcome.slowest_program[0]:.2f} s ({outcome.slowest_program[1]}); {memory / 1e6:.0f} MB at the peak;"
        f" {len(outcome.problems)} problems"
    )
    return 1 if outcome.problems or memory > MOST_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
