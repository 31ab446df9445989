"""What rules find when nothing is left out: every function is decoded, and no header says that its body need not be looked at.

python -m tests.flow.laziness FOLDER    compares with what they find otherwise, on a real repository
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from resilint import registry
from resilint.flow.reach import Reach
from resilint.link.code import CallSite, Fun
from resilint.link.names import Names
from resilint.program import Program
from resilint.run import Result, run
from resilint.scope import scope_of
from resilint.settings import load


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
        patch.object(Names, "calling", all_functions),
        patch.object(Program, "_may_be_described", lambda self, site: True),
    ):
        yield


def _called(site: CallSite) -> str:
    from resilint.link.code import dotted

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


if __name__ == "__main__":
    lines = differences(Path(sys.argv[1]).resolve())
    print("\n".join(lines) or "no difference")
    sys.exit(bool(lines))
