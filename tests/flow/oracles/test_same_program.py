"""One service has the same faults at the same places in every language and however it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resilint.settings import Settings

from .harness import bounded, found_in, linked, shown
from .shop import KNOWLEDGE, Shape, Style, shapes, styles
from .shop_go import GoShop
from .shop_java import JavaShop
from .shop_python import PythonShop

CODES = ("RS101", "RS102", "RS103", "RS104", "RS105", "RS107", "RS108", "RS301", "RS302")
PRINTERS: dict[str, type[PythonShop] | type[GoShop] | type[JavaShop]] = {"python": PythonShop, "go": GoShop, "java": JavaShop}


@st.composite
def written_services(draw: st.DrawFn) -> tuple[Shape, Style]:
    """A service and a way to write it."""
    shape = draw(shapes())
    return shape, draw(styles(shape))


def judge(language: str, shape: Shape, style: Style) -> None:
    """What is found in a printed service are the faults of its shape, named by abstract place."""
    printed = PRINTERS[language](shape, style)
    findings = found_in(linked(printed.files, Settings(knowledge=KNOWLEDGE)), CODES)
    places = [(code, printed.places.get((path, line), f"{path}:{line}")) for code, path, line, _ in findings]
    if sorted(places) != sorted(shape.faults()):
        listed = "\n".join(f"{code} {path}:{line} {message}" for code, path, line, message in findings)
        pytest.fail(
            f"{shape}\n{style}\n{language}: expected {sorted(shape.faults())}, found {places}\n{listed}\n{shown(printed.files)}"
        )


@pytest.mark.parametrize("language", sorted(PRINTERS))
def test_faults_depend_on_what_a_program_does_alone(language: str) -> None:
    @bounded(60)
    @given(written_services())
    def the_faults_are_those_of_the_shape(service: tuple[Shape, Style]) -> None:
        judge(language, *service)

    the_faults_are_those_of_the_shape()
