"""The check stage in one process and in two."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from resilint import registry
from resilint.checking import check, input_errors
from resilint.knowledge import KnowledgeError
from resilint.model import Confidence, Finding, Rule, Severity, Span
from resilint.program import Program
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import Settings

APP = """
    import asyncio
    import requests
    from concurrent.futures import ThreadPoolExecutor
    from flask import Flask, request

    app = Flask(__name__)
    session = requests.Session()


    def load(url):
        return session.get(url)


    @app.get("/all")
    def every():
        with ThreadPoolExecutor(4) as pool:
            return [x.text for x in pool.map(load, request.json["urls"])]


    async def gone(urls):
        return await asyncio.gather(*[asyncio.to_thread(load, url) for url in urls])
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[[], Program]:
    """Links a small program anew, with nothing asked."""
    (tmp_path / "app.py").write_text(dedent(APP), "utf-8")

    def linked() -> Program:
        texts = Texts(tmp_path)
        return link(read_program(Scope(tmp_path, tmp_path), Settings(), texts), Settings(), texts)

    return linked


def _rule(code: str, found: Callable[[Program], Iterator[Finding]]) -> Rule:
    return Rule(code, f"a-{code.lower()}", Severity.WARNING, "", frozenset({"py"}), found)


def _one(program: Program) -> Iterator[Finding]:
    yield Finding(Span("app.py", 1, 1, 1, 2), "RS900", "a", Severity.INFO, f"{os.getpid()}", Confidence.HIGH)


def test_two_processes_find_the_same(program: Callable[[], Program]) -> None:
    rules = registry.rules()
    alone, beside = check(program(), rules), check(program(), rules, beside=True)
    assert {finding.code for finding in alone.findings} >= {"RS101", "RS202"}
    assert beside == alone


def test_the_second_group_runs_in_a_process_of_its_own(program: Callable[[], Program]) -> None:
    (finding,) = check(program(), [_rule("RS900", _one)], beside=True).findings
    assert int(finding.message) != os.getpid()
    (finding,) = check(program(), [_rule("RS900", _one)]).findings
    assert int(finding.message) == os.getpid()


def test_a_killed_process_loses_nothing(program: Callable[[], Program]) -> None:
    own = os.getpid()

    def killed(program: Program) -> Iterator[Finding]:
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        yield from _one(program)

    assert len(check(program(), [_rule("RS900", killed)], beside=True).findings) == 1


def test_failures_of_both_groups_come_out(program: Callable[[], Program]) -> None:
    def fails(program: Program) -> Iterator[Finding]:
        yield from _one(program)
        raise RuntimeError("in the middle")

    found = check(program(), [_rule("RS100", fails), _rule("RS900", fails)], beside=True)
    assert [failure.code for failure in found.failures] == ["RS100", "RS900"]
    assert len(found.findings) == 2


def test_wrong_settings_are_raised_from_either_process(program: Callable[[], Program]) -> None:
    def refuses(program: Program) -> Iterator[Finding]:
        raise KnowledgeError([])
        yield

    assert KnowledgeError in input_errors()
    with pytest.raises(KnowledgeError):
        check(program(), [_rule("RS900", refuses)], beside=True)
