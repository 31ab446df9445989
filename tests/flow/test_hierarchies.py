"""What a class stands on is the same, whatever was being asked when it was first looked up."""

from __future__ import annotations

from pathlib import Path

import pytest
from resilint.program import Program
from resilint.run import Session
from resilint.scope import Scope
from resilint.settings import load

FILES = {
    "bases.py": """\
class Store:
    def __init__(self, url):
        self.url = url

    def read(self):
        return self.url
""",
    "stores.py": """\
import bases


class Cached(bases.Store):
    pass


class Shared(Cached):
    pass
""",
    "app.py": """\
from stores import Shared


def made(url):
    return Shared(url)


def page(url):
    return made(url).read()
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("stores").resolve()
    for name, text in FILES.items():
        (root / name).write_text(text)
    return root


def program_of(root: Path) -> Program:
    return Session(Scope(root, root), load(root)).program


def lineage(program: Program) -> list[str]:
    shared = next(k for k in program.names.all_classes() if k.name == "Shared")
    return [k.name for k in program.resolver.mro(shared)[0]]


@pytest.mark.parametrize("steps", range(1, 25))
def test_a_question_that_uses_up_its_steps_leaves_hierarchies_whole(folder: Path, steps: int) -> None:
    program = program_of(folder)
    resolver = program.resolver
    enough, resolver._most_steps = resolver._most_steps, steps
    page = next(fn for fn in program.functions("python") if fn.name == "page")
    for site in page.body.calls:
        resolver.ask(site.call, resolver.frame(page))
    resolver._most_steps = enough
    assert lineage(program) == ["Shared", "Cached", "Store"]
