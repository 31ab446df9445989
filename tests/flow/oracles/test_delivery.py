"""A timeout that is handed on to the end is not spoken of; where one link is cut, that is said once, where it is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from resilint.settings import Settings

from .delivery import Chain, GoChain, JavaChain, PythonChain, chains
from .harness import bounded, found_in, linked, shown
from .shop import KNOWLEDGE

CODES = ("RS101", "RS104", "RS105", "RS108")


def judge(chain: Chain, printed: PythonChain | GoChain | JavaChain) -> None:
    """The findings of a printed chain are those that its cut makes."""
    found = found_in(linked(printed.files, Settings(knowledge=KNOWLEDGE)), CODES)
    places = [(code, line) for code, _, line, _ in found]
    # Decision: a timeout is lost in the function that got it and does not hand it on. There, what lacks it is reported: the call on
    # the way to the wait or, in the last stage, the wait itself or the client's construction. RS101 is silent beside it.
    expected = [] if chain.cut < 0 else [("RS105", printed.out.tags[f"link{chain.cut}"])]
    if places != expected:
        listed = "\n".join(f"{code} {path}:{line} {message}" for code, path, line, message in found)
        pytest.fail(f"{chain}\nexpected {expected}, found\n{listed or 'nothing'}\n{shown(printed.files)}")


@bounded(50)
@given(chains("python"))
def test_python_chains(chain: Chain) -> None:
    judge(chain.intact(), PythonChain(chain.intact()))
    judge(chain, PythonChain(chain))


@bounded(50)
@given(chains("go"))
def test_go_chains(chain: Chain) -> None:
    judge(chain.intact(), GoChain(chain.intact()))
    judge(chain, GoChain(chain))


@bounded(50)
@given(chains("java"))
def test_java_chains(chain: Chain) -> None:
    judge(chain.intact(), JavaChain(chain.intact()))
    judge(chain, JavaChain(chain))
