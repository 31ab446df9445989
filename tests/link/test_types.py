"""Written types of names: where one is declared, and that names which stand for each other have none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from resilint import facts as f
from resilint.program import Program

Linked = Callable[[dict[str, str]], Program]

PYTHON = """
class Box:
    pass


def turned(left, right: Box):
    first, second = left, right
    kept = right
    while first:
        {swap}
    return first
"""


@pytest.mark.parametrize(
    ("swap", "name", "written"),
    [
        ("other = again; again = other", "other", None),
        ("other = again; again = third; third = other", "third", None),
        ("other = again; again = other; again = right", "other", "Box"),
        ("other = again; again = kept", "other", "Box"),
    ],
)
def test_names_that_are_given_to_each_other(linked: Linked, swap: str, name: str, written: str | None) -> None:
    program = linked({"app.py": PYTHON.format(swap=swap)})
    fn = next(fn for fn in program.functions("python") if fn.name == "turned")
    kind = program.resolver.static_type(f.Ref(0, 0, name), fn)
    assert (kind.name if kind is not None else None) == written
