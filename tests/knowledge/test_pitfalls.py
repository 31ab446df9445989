"""What is easily got wrong about libraries: each pitfall is a section with what is found and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from resilint.testing import Case, cases, check, differences

from .observed import STABLE

FILES = sorted((Path(__file__).parent / "pitfalls").glob("*.md"))
ALL = [(file.stem, case) for file in FILES for case in cases(file.read_text("utf-8"))]
SECTIONS = dict.fromkeys((language, case.section) for language, case in ALL)


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{language}:{case.line} {case.name}") for language, case in ALL])
def test_case(case: Case, tmp_path: Path) -> None:
    assert not differences(case, check(case, tmp_path, STABLE))


@pytest.mark.parametrize(("language", "section"), SECTIONS)
def test_a_pitfall_has_something_found_and_something_not(language: str, section: str) -> None:
    of_it = [case for other, case in ALL if (other, case.section) == (language, section)]
    assert any(case.wants for case in of_it)
    assert any(not case.wants for case in of_it), "one case finds nothing"
