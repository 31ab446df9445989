"""Each library does what its file says: what is found with its calls, and what is not."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from resilint.knowledge.loader import SHIPPED, parse
from resilint.testing import Case, cases, differences

from .observed import Observed, observe

CASES_FOLDER = Path(__file__).parent / "libraries"
FILES = sorted(CASES_FOLDER.glob("*/*.md"))
WAITS = frozenset({"network", "query", "connect", "wait"})
UNMET: dict[str, dict[str, str]] = yaml.safe_load((Path(__file__).parent / "data" / "unmet.yaml").read_text("utf-8"))
"""Rows of knowledge without both kinds of cases, by file: what they lack, and behind a colon why it cannot be otherwise."""


@cache
def of(file: Path) -> tuple[Case, ...]:
    return tuple(cases(file.read_text("utf-8")))


@cache
def seen(file: Path, number: int) -> Observed:
    """What a case gives; asked for twice, it runs once."""
    with TemporaryDirectory() as folder:
        return observe(of(file)[number], Path(folder))


def shipped(file: Path) -> Path:
    return SHIPPED / file.parent.name / f"{file.stem}.yaml"


def rows(file: Path) -> set[str]:
    """The first names of the calls that the knowledge behind a file of cases gives a bound, or takes for waits."""
    calls = (call for library in parse([shipped(file)]) for call in library.calls)
    return {call.names[0] for call in calls if call.bounds or call.does in WAITS}


@pytest.mark.parametrize(
    ("file", "number"),
    [
        pytest.param(file, number, id=f"{file.parent.name}/{file.stem}:{case.line} {case.name}")
        for file in FILES
        for number, case in enumerate(of(file))
    ],
)
def test_case(file: Path, number: int) -> None:
    assert not differences(of(file)[number], seen(file, number).findings)


@pytest.mark.parametrize("language", ["python"])
def test_every_shipped_file_has_its_cases(language: str) -> None:
    known = {file.stem for file in (SHIPPED / language).glob("*.yaml")}
    assert known == {file.stem for file in FILES if file.parent.name == language}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_library_has_something_found_and_something_not(file: Path) -> None:
    assert any(case.wants for case in of(file))
    assert any(not case.wants for case in of(file)), "one case finds nothing"


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_each_bounded_call_is_made_where_it_is_found_and_where_it_is_not(file: Path) -> None:
    met: dict[str, set[bool]] = defaultdict(set)
    for number in range(len(of(file))):
        for call in seen(file, number).calls:
            met[call.row].add(call.flagged)
    lacks = {frozenset({True}): "never quiet", frozenset({False}): "never found", frozenset[bool](): "never called"}
    found = {row: lacks[frozenset(met[row])] for row in sorted(rows(file)) if len(met[row]) < 2}
    listed = UNMET.get(f"{file.parent.name}/{file.stem}", {})
    assert found == {row: text.partition(":")[0] for row, text in listed.items()}, "tests/knowledge/data/unmet.yaml says otherwise"


def test_what_is_listed_as_unmet_is_shipped() -> None:
    known = {f"{file.parent.name}/{file.stem}": file for file in FILES}
    assert set(UNMET) <= set(known)
    assert not {(name, row) for name, listed in UNMET.items() for row in set(listed) - rows(known[name])}
