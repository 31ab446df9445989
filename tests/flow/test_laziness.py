"""What rules find when nothing is left out: every function is decoded, and no header says that its body need not be looked at.

python -m tests.flow.test_laziness FOLDER    compares with what they find otherwise, on a real repository
"""

from __future__ import annotations

import gc
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pip
import pytest
from resilint import docs, registry
from resilint import facts as f
from resilint.flow.reach import Reach
from resilint.link.code import Body, CallSite, Fun, declared_types, dotted, last_name, module_of, walk_block
from resilint.link.names import Names
from resilint.program import Program
from resilint.read import read
from resilint.run import Result, Session, run
from resilint.scope import scope_of
from resilint.settings import load
from resilint.testing import cases


@contextmanager
def all_decoded() -> Iterator[None]:
    """Within it every filter that spares a body, or the question what a call means, lets everything pass."""

    def all_functions(self: Names, wanted: Callable[[str], bool], *languages: str) -> list[Fun]:
        functions = [fun for module in self.modules.values() for fun in module.functions]
        return sorted((fun for fun in functions if not languages or fun.module.language in languages), key=lambda fun: fun.key)

    def all_sites(self: Reach, fun: Fun, wanted: Callable[[str], bool]) -> Iterator[CallSite]:
        return (site for site in fun.body.calls if wanted(_called(site)))

    with (
        patch.object(Reach, "candidate", lambda self, site: True),
        patch.object(Reach, "may_be", lambda self, called, fun: True),
        patch.object(Reach, "sites", all_sites),
        patch.object(Reach, "_body", lambda self, fun: fun.body),
        patch.object(Names, "calling", all_functions),
        patch.object(Program, "may_be_described", lambda self, site, wanted: True),
    ):
        yield


def _called(site: CallSite) -> str:
    return dotted(site.call.fn) or "." + site.last


def found(root: Path) -> Result:
    """What all rules find in a folder."""
    known = registry.rules()
    scope = scope_of([str(root)], None, root)
    return run(scope, load(scope.root), known, known)


def differences(root: Path) -> list[str]:
    """Findings that only one of the two ways has, a line each."""
    lazy = found(root)
    with all_decoded():
        whole = found(root)
    told: tuple[Any, Any] = ({repr(one) for one in lazy.findings}, {repr(one) for one in whole.findings})
    lines = [f"only when all is decoded: {one}" for one in sorted(told[1] - told[0])]
    lines += [f"only when headers decide: {one}" for one in sorted(told[0] - told[1])]
    return [*lines, *(f"failed: {failure}" for failure in (*lazy.failures, *whole.failures) if failure.code)]


# ---------------------------------------------------------------- real code, and that of all cases

PIP = Path(pip.__file__).parent
PYTHON = ("_internal/network", "_internal/vcs", "_vendor/requests", "_vendor/urllib3", "_vendor/cachecontrol")
"""Packages that are there wherever tests run, and open connections."""
KINDS = {"py": "python", "go": "go", "java": "java"}
CASES = Path(__file__).parents[1] / "cases"


def _taken(folder: Path) -> Path:
    for package in PYTHON:
        # Under another name: folders of other people's code are left out.
        shutil.copytree(PIP / package, folder / package.rpartition("/")[2], ignore=shutil.ignore_patterns("*.pyc"))
    return folder


def _cases_of(language: str, folder: Path, every: int) -> Path:
    """Of all cases in a language one in so many, each in a folder of its own."""
    # In a wheel the pages of the engine's own rules lie apart.
    folders = {found for rule in registry.rules() if (found := docs.folder(rule)) is not None}
    pages = sorted({*CASES.glob("*/*.md"), *(page for found in folders for page in found.glob("*.md"))})
    chosen = [case for page in pages for case in cases(page.read_text("utf-8")) if language in case.languages]
    for number, case in enumerate(chosen[::every]):
        for path, text in case.files.items():
            file = folder / f"c{number}" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    return folder


def test_real_python_gives_the_same_findings_when_all_is_decoded(tmp_path: Path) -> None:
    assert not differences(_taken(tmp_path))


@pytest.mark.parametrize(("language", "every"), [("py", 8), ("go", 3), ("java", 3)])
def test_cases_as_one_program_give_the_same_findings_when_all_is_decoded(tmp_path: Path, language: str, every: int) -> None:
    assert not differences(_cases_of(language, tmp_path, every))


# ---------------------------------------------------------------- headers and bodies


def _left_out(fun: Fun) -> Iterator[str]:
    """What a body holds and its header does not speak of."""
    head = fun.head
    targets: set[int] = set()
    for node in walk_block(fun.block):
        if isinstance(node, f.Call):
            called = dotted(node.fn) or ("." + node.fn.name if isinstance(node.fn, f.Field) else "")
            if called and called not in head.calls:
                yield f"call of {called}"
        elif isinstance(node, f.Assign):
            for target in node.targets:
                for one in [x.value for x in target.items] if isinstance(target, f.Coll) else [target]:
                    targets.add(id(one))
                    written = last_name(one) if isinstance(one, f.Field) or "." in dotted(one) else ""
                    if written and written not in head.writes:
                        yield f"write of {written}"
        elif isinstance(node, f.Loop | f.Gen | f.Let) and isinstance(node.target, f.Coll):
            targets.update(id(x.value) for x in node.target.items)
        elif isinstance(node, f.With):
            targets.update(id(x.value) for item in node.items if isinstance(item.target, f.Coll) for x in item.target.items)
        elif isinstance(node, f.New) and node.type.shape == "plain" and node.type.name not in ("", "struct"):
            made = node.type.name
            if made not in head.calls and made + "{" not in head.calls:
                yield f"making of {made}"
        for value in _values(node):
            # The address of a variable is none in Go: `&x`.
            name = dotted(value) if isinstance(value, f.Ref | f.Field) else ""
            if name and id(value) not in targets and name not in head.values:
                yield f"value {name}"


def _values(node: object) -> list[f.Expr]:
    match node:
        case f.Call():
            return [arg.value for arg in node.args]
        case f.New():
            return [pair.value for pair in node.fields]
        case f.Coll():
            return [pair.value for pair in node.items]
        case f.Cond():
            return [node.then, node.orelse]
        case f.Bin(op="or" | "and"):
            return [node.left, node.right]
        case f.With():
            return [item.value for item in node.items]
        case f.Assign() | f.Return() | f.Yield() | f.Send() if node.value is not None:
            return [node.value]
        case f.Loop() if node.iter is not None:
            return [node.iter]
    return []


@pytest.mark.parametrize("language", ["py", "go", "java"])
def test_headers_speak_of_each_call_value_and_write_of_their_bodies(tmp_path: Path, language: str) -> None:
    root = _taken(tmp_path) if language == "py" else _cases_of(language, tmp_path, 1)
    missing: list[str] = []
    seen = 0
    for path in sorted(root.rglob(f"*.{language}")):
        facts = f.decode(read(path.read_bytes(), KINDS[language]))
        for fun in module_of(path.relative_to(root).as_posix(), facts, False).functions:
            seen += len(fun.head.calls)
            missing += [f"{fun}: {what}" for what in _left_out(fun)]
    assert seen > 1000
    assert not missing


# ---------------------------------------------------------------- bodies that are only looked at


@pytest.mark.parametrize("language", ["py", "go", "java"])
def test_declared_types_are_those_of_the_definitions(tmp_path: Path, language: str) -> None:
    root = _cases_of(language, tmp_path, 1)
    seen = 0
    for path in sorted(root.rglob(f"*.{language}")):
        facts = f.decode(read(path.read_bytes(), KINDS[language]))
        for fun in module_of(path.relative_to(root).as_posix(), facts, False).functions:
            wanted = {repr(d.type) for defs in fun.body.definitions.values() for d in defs if d.type is not None}
            seen += len(wanted)
            assert {repr(kind) for kind in declared_types(fun.block)} == wanted, fun
    assert seen > 30


def test_the_pass_over_names_holds_no_body_and_leaves_none_behind(tmp_path: Path) -> None:
    root = _taken(tmp_path)
    program = Session(scope_of([str(root)], None, root), load(root)).program
    gc.collect()
    gc.disable()
    try:
        touched = program.reach("python", ("network",)).touched
        # Programs of other tests may lie about in the same process.
        own = set(program.functions())
        left = sum(isinstance(one, Body) and one.fn in own for one in gc.get_objects())
    finally:
        gc.enable()
    held = [fun for fun in program.functions() if fun.held is not None]
    assert len(touched) > 30
    # Those of files say what the bases of classes are.
    assert left == len(held) and not any(fun.index for fun in held)


if __name__ == "__main__":
    lines = differences(Path(sys.argv[1]).resolve())
    print("\n".join(lines) or "no difference")
    sys.exit(bool(lines))
