"""Questions that many others lead to: what is asked first changes no answer."""

from __future__ import annotations

import pytest
from resilint import facts as f
from resilint.link.code import Fun
from resilint.program import Program

from .conftest import Linked

_MANY = 40


def _program(linked: Linked) -> Program:
    files = {
        "z_handler.py": """
            from deploy import Deployer

            class Handler:
                def __init__(self):
                    self.deployer = Deployer()

                def delete(self, stack):
                    return self.deployer.remove(stack)
            """,
        "deploy.py": """
            class Deployer:
                def remove(self, stack):
                    return run(stack)

            def run(stack):
                return stack
            """,
    }
    for number in range(_MANY):
        files[f"a{number}.py"] = f"""
            class Keeper{number}:
                def __init__(self, store):
                    self.store{number} = store.part(1).part(2)

                def drop(self, key):
                    return self.store{number}.remove(key)
            """
    return linked(files)


def _called(program: Program, name: str) -> Fun:
    return next(fn for fn in program.functions("python") if fn.name == name)


def test_callers_are_the_same_whatever_was_asked_before(linked: Linked) -> None:
    program = _program(linked)
    other = program.unasked()
    remove, run = _called(program, "remove"), _called(program, "run")
    alone = other.resolver.callers(remove)
    program.resolver.ask(f.Ref(run.head.at, run.head.end, "stack"), program.resolver.frame(run))
    after = program.resolver.callers(remove)
    assert [site.fn for _, site, _, _ in alone[0]] == [site.fn for _, site, _, _ in after[0]]
    assert [site.fn.name for _, site, _, _ in after[0]] == ["delete"]


_SERVED = """
    from http.server import BaseHTTPRequestHandler

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.{receiver}.handle_event(5)
    """
_SERVICE = """
    class Service:
        def handle_event(self, seconds):
            return seconds
    """


@pytest.mark.parametrize("receiver", ["server.app.service", "server", "server.service()", "server.services[0]"])
def test_what_a_library_holds_may_be_an_object_of_the_program(linked: Linked, receiver: str) -> None:
    program = linked({"page.py": _SERVED.format(receiver=receiver), "service.py": _SERVICE})
    assert program.resolver.callers(_called(program, "handle_event")) == ([], False)


def test_an_object_of_a_librarys_class_is_none_of_the_program(linked: Linked) -> None:
    page = (
        _SERVED.format(receiver="own")
        .replace("self.own", "Elsewhere()")
        .replace("class Page", "from lib import Elsewhere\n\n    class Page")
    )
    program = linked({"page.py": page, "service.py": _SERVICE})
    assert program.resolver.callers(_called(program, "handle_event")) == ([], True)
