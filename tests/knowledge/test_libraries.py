"""Each library does what its file says: what is found with its calls, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from resilint.knowledge.loader import SHIPPED
from resilint.testing import Case, cases, check, differences

from .observed import STABLE

CASES_FOLDER = Path(__file__).parent / "libraries"
FILES = sorted(CASES_FOLDER.glob("*/*.md"))


def of(file: Path) -> list[Case]:
    return cases(file.read_text("utf-8"))


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=f"{file.parent.name}/{file.stem}:{case.line} {case.name}") for file in FILES for case in of(file)],
)
def test_case(case: Case, tmp_path: Path) -> None:
    assert not differences(case, check(case, tmp_path, STABLE))


@pytest.mark.parametrize("language", ["python"])
def test_every_shipped_file_has_its_cases(language: str) -> None:
    shipped = {file.stem for file in (SHIPPED / language).glob("*.yaml")}
    assert shipped == {file.stem for file in FILES if file.parent.name == language}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_library_has_something_found_and_something_not(file: Path) -> None:
    assert any(case.wants for case in of(file))
    assert any(not case.wants for case in of(file)), "one case finds nothing"
