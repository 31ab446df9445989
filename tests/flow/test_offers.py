"""Where a timeout that code promises to take arrives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from resilint.flow.offers import ELSEWHERE, Offer, Offers, Sink
from resilint.program import Program
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import Settings

STEPS, WAYS = 10, 3
"""Each of so many functions hands its timeout to the next one so many times: 59,049 ways to the last."""
ENOUGH = 5_000
"""Questions after which nobody would wait for an answer on a real program, where each is far dearer."""


def sinks_of_the_first(folder: Path, last: str, ways: int = WAYS) -> tuple[frozenset[Sink], Program]:
    """Where the timeout of the first of the functions arrives; `last` is what the last one does."""
    text = "".join(f"def step{n}(timeout):\n" + f"    step{n + 1}(timeout)\n" * ways + "\n\n" for n in range(STEPS))
    (folder / "steps.py").write_text(f"import requests\n\n\n{text}def step{STEPS}(timeout):\n    {last}\n", "utf-8")
    scope, settings, texts = Scope(folder, folder), Settings(), Texts(folder)
    program = link(read_program(scope, settings, texts), settings, texts)
    first = next(fn for fn in program.functions("python") if fn.name == "step0")
    return program.offers.sinks(Offer("timeout", first)), program


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions whose timeouts were followed, one by one; past `ENOUGH` the search is given up as one without end."""
    asked: list[str] = []
    follow = Offers._local_sinks

    def counted(self: Offers, fn: Any, name: str) -> Any:
        asked.append(fn.name)
        assert len(asked) <= ENOUGH, "the search does not end"
        return follow(self, fn, name)

    monkeypatch.setattr(Offers, "_local_sinks", counted)
    return asked


def test_a_timeout_with_very_many_ways_is_followed_for_so_long_only_and_may_then_arrive_anywhere(
    tmp_path: Path, questions: list[str]
) -> None:
    found, _ = sinks_of_the_first(tmp_path, "print(timeout)")
    assert ELSEWHERE in found
    # It did go down, to the very last.
    assert f"step{STEPS}" in questions


def test_the_next_question_has_all_its_steps_again(tmp_path: Path, questions: list[str]) -> None:
    _, program = sinks_of_the_first(tmp_path, "print(timeout)")
    questions.clear()
    near_the_end = next(fn for fn in program.functions("python") if fn.name == f"step{STEPS - 2}")
    assert program.offers.sinks(Offer("timeout", near_the_end)) == frozenset()
    assert len(questions) == 1 + WAYS + WAYS**2


def test_a_timeout_with_few_ways_that_nothing_takes_arrives_nowhere(tmp_path: Path, questions: list[str]) -> None:
    found, _ = sinks_of_the_first(tmp_path, "print(timeout)", ways=1)
    assert found == frozenset()
    assert len(questions) == STEPS + 1


def test_a_timeout_with_few_ways_arrives_at_the_call_that_takes_it(tmp_path: Path, questions: list[str]) -> None:
    found, program = sinks_of_the_first(tmp_path, "requests.get('http://peer', timeout=timeout)", ways=1)
    last = next(fn for fn in program.functions("python") if fn.name == f"step{STEPS}")
    assert [(sink.fn, sink.kind) for sink in found] == [(last.key, "call")]
