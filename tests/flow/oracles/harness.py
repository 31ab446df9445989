"""What the oracles share: programs linked in memory, the findings in them by line, and choices that shrink well."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from resilint import registry
from resilint.facts import FileFacts, decode
from resilint.program import Program
from resilint.read import read
from resilint.settings import Settings

T = TypeVar("T")

SCALE = float(os.environ.get("ORACLE_SCALE", "1"))
"""How many times more examples than in CI: a long run sets it."""


def bounded(examples: int) -> Callable[[Any], Any]:
    """The profile of every oracle: the same examples in every run, so that a red build is red again."""
    return settings(
        max_examples=max(1, round(examples * SCALE)),
        derandomize=SCALE == 1,  # a long run tries other examples each time
        deadline=None,
        database=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )


class Choices:
    """Draws from Hypothesis under short names. What stands first in a choice is the simplest: shrinking goes there."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def number(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return self._draw(st.integers(low, high))

    def of(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True in about that many of a hundred cases; shrinks to false."""
        return self.number(0, 99) >= 100 - percent


class Lines:
    """Writes one file and remembers on which line each tag stands."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rows: list[str] = []
        self.tags: dict[str, int] = {}

    def add(self, text: str, indent: int = 0, tag: str = "") -> None:
        """One line; a tag names it."""
        self.rows.append("    " * indent + text)
        if tag:
            self.tags[tag] = len(self.rows)

    @property
    def text(self) -> str:
        """The whole file."""
        return "".join(f"{row}\n" for row in self.rows)


_KINDS = {".py": "python", ".go": "go", ".java": "java", ".xml": "xml"}


def linked(files: Mapping[str, str], options: Settings | None = None) -> Program:
    """The files as one program. Every one of them must be readable: a printer that writes nonsense proves nothing."""
    data = {path: text.encode() for path, text in files.items()}
    facts = {}
    for path in sorted(files):
        kind = _KINDS.get(path[path.rfind(".") :])
        facts[path] = decode(read(data[path], kind)) if kind is not None else FileFacts("text")
    for path, found in facts.items():
        assert not found.errors, f"{path} cannot be read: {found.errors}\n{files[path]}"
    return Program(facts, lambda path: data[path], options or Settings())


def found_in(program: Program, codes: Iterable[str]) -> list[tuple[str, str, int, str]]:
    """Code, path, line and message of the findings of these rules."""
    wanted = frozenset(codes)
    out = set()
    for rule in registry.rules():
        if rule.code in wanted:
            for finding in rule.check(program):
                if finding.confidence >= program.settings.confidence:
                    out.add((finding.code, finding.span.path, finding.span.line, finding.message))
    return sorted(out)


def shown(files: Mapping[str, str]) -> str:
    """All files with line numbers, for the message of a failing example."""
    parts = []
    for path, text in sorted(files.items()):
        rows = "\n".join(f"{number:4} {row}" for number, row in enumerate(text.splitlines(), 1))
        parts.append(f"---- {path}\n{rows}")
    return "\n".join(parts)
