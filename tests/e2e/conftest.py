"""A toy program and toy rules, so that these tests speak of the command line and not of what the real rules find."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from resilint import Confidence, Finding, Rule, Severity, Step, Value, registry
from resilint.cli import main
from resilint.engine_rules import ENGINE_RULES
from resilint.knowledge import Knowledge, load
from resilint.link.looks import Looks
from resilint.run import Reading, Texts
from resilint.settings import Settings


@dataclass
class ToyProgram:
    """Files whose lines are looked at with regular expressions."""

    texts: Texts
    paths: list[str]
    knowledge: Knowledge | None
    names: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(modules={}))
    spawns: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        self.looks = Looks(self.texts.source)

    def unasked(self) -> ToyProgram:
        return self

    def statistics(self) -> dict[str, int]:
        return {"bounded": 1, "endless": len(self.paths), "unknown": 0}

    def call_graph(self) -> tuple[list[str], list[tuple[str, str]]]:
        return ["a", "b"], [("a", "b")]

    def places(self, word: str) -> Iterator[Any]:
        for path in self.paths:
            data = self.looks.source(path)
            for match in re.finditer(rf"\b{word}\(".encode(), data):
                yield self.texts.lines(path).span(path, match.start(), match.end() - 1)


def rule(code: str, name: str, severity: Severity, *, sure: Confidence = Confidence.HIGH, preview: bool = False) -> Rule:
    """A rule that flags calls of what it is named after."""

    def check(program: Any) -> Iterator[Finding]:
        for span in program.places(name.replace("-", "_")):
            reason = Value(None, sure, (Step(span, "called here"),))
            yield made.finding(span, f"{name} can wait for 3 s", reason)

    made = Rule(code, name, severity, f"Calls of {name}.", frozenset({"py"}), check, preview)
    return made


def _broken(program: Any) -> Iterator[Finding]:
    for span in program.places("wait_long"):
        yield BROKEN.finding(span, "breaks after this")
    raise ZeroDivisionError("no luck")


_RULES = (
    rule("RS101", "wait-long", Severity.ERROR),
    rule("RS102", "wait-short", Severity.WARNING),
    rule("RS201", "wait-well", Severity.INFO),
    rule("RS202", "wait-maybe", Severity.ERROR, sure=Confidence.LOW),
    rule("RS301", "wait-new", Severity.ERROR, preview=True),
)
BROKEN = Rule("RS999", "broken-rule", Severity.ERROR, "Breaks.", frozenset({"py"}), _broken)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder to work in, with the toy rules installed."""

    def link(reading: Reading, settings: Settings, texts: Texts) -> ToyProgram:
        return ToyProgram(texts, list(reading.files), load(settings.knowledge, settings.folder) if settings.knowledge else None)

    monkeypatch.setattr("resilint.run.link", link)
    monkeypatch.setattr(registry, "rules", lambda: (*ENGINE_RULES, *_RULES))
    monkeypatch.setenv("RESILINT_CACHE_DIR", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def with_broken_rule(toy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, with a rule that fails after its first finding."""
    monkeypatch.setattr(registry, "rules", lambda: (*ENGINE_RULES, *_RULES, BROKEN))
    return toy


Run = Callable[..., Result]


@pytest.fixture
def resilint() -> Run:
    """Runs the command line."""

    def run(*arguments: str, code: int) -> Result:
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exit_code == code, f"exit {result.exit_code}: {result.output}{result.stderr}"
        return result

    return run


@pytest.fixture
def report(resilint: Run) -> Callable[..., dict[str, Any]]:
    """Runs `check --format json` and gives the report."""

    def run(*arguments: str, code: int = 1) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(resilint("check", "--format", "json", *arguments, code=code).stdout)
        return parsed

    return run


Write = Callable[..., None]


@pytest.fixture
def write() -> Write:
    """Writes files: path and text, one after the other."""

    def run(root: Path, **files: str) -> None:
        for path, text in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")

    return run
