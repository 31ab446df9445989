"""The check stage: rules in two groups, beside each other where that pays.

What one question finds may shorten the search of the next. So that the number of processes shows in no finding, each group asks a
program that has answered the questions which both lead to and nothing else, also where one process runs both.
"""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from resilint.model import Finding, Rule

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from resilint.looked import Looked
    from resilint.marks import Mark
    from resilint.program import Program

_APART = ("RS1", "RS6")
"""Codes of the rules of the first group: about as dear as all the others together."""
_WORTH_A_PROCESS = 4_000
"""Functions in a program below which starting a process takes longer than it saves."""


@dataclass(frozen=True)
class Failure:
    """A fault of resilint itself: of a reader (`path` says on which file), of the engine, or of the rule `code`."""

    path: str
    message: str
    code: str = ""
    detail: str = ""
    """The traceback."""


@dataclass
class Checked:
    """What rules found, how they failed, and how many waits are bounded, endless and not known, where these were counted."""

    findings: list[Finding] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    waits: dict[str, int] = field(default_factory=dict)
    marks: Sequence[Mark] = ()
    """Those of the findings, where an earlier run has kept them."""
    looked: Looked = field(default_factory=dict)
    """What was looked at in files, where that was asked for."""

    def add(self, other: Checked) -> None:
        self.findings += other.findings
        self.failures += other.failures
        self.waits |= other.waits
        if other.looked:
            from resilint.looked import together

            self.looked = together(self.looked, other.looked)


class Progress(Protocol):
    """Is told how many of how many rules are done."""

    def __call__(self, done: int, total: int, stage: str) -> None: ...


def check(
    program: Program, rules: Iterable[Rule], *, beside: bool = False, progress: Progress | None = None, tell: bool = False
) -> Checked:
    """Runs the rules; `beside`: in two processes. Raises `input_errors()`; other faults are part of the result.

    Of rules that run in another process `progress` hears when all of them are done. `tell`: what they look at is told.
    """
    rules = tuple(rules)
    done = 0

    def told(rules_of: Iterable[Rule]) -> Iterator[Rule]:
        nonlocal done
        for rule in rules_of:
            if progress is not None:
                progress(done, len(rules), "checking")
            yield rule
            done += 1

    apart = tuple(rule for rule in rules if rule.code.startswith(_APART))
    others = tuple(rule for rule in rules if not rule.code.startswith(_APART))
    found = Checked()
    both = bool(apart and others)
    _prepare(program, found, both)
    helper = _Beside(program, others, tell) if beside and others else None
    found.add(asked(program, told(apart)))
    second = helper.result() if helper is not None else None
    if second is None and others:
        program = program.unasked()
        _prepare(program, Checked(), both)
        second = asked(program, told(others))
    if tell:
        from resilint.looked import looked_at

        found.looked = looked_at(program)
    if second is not None:
        found.add(second)
    return found


def is_worth_a_process(functions: int) -> bool:
    """Whether a second process ends sooner than it takes to start it, and may be started."""
    # A fork beside threads may inherit a lock that nobody gives back.
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return False
    return functions >= _WORTH_A_PROCESS


def failure(code: str, problem: Exception) -> Failure:
    """A fault of the rule `code`, or of the engine."""
    text = " ".join(str(problem).split())
    detail = "".join(traceback.format_exception(problem))
    return Failure("", f"{code or 'engine'}: {type(problem).__name__}{': ' + text if text else ''}", code, detail)


def input_errors() -> tuple[type[Exception], ...]:
    """What a program raises when the user's settings are wrong, not resilint."""
    from resilint.knowledge import KnowledgeError
    from resilint.settings import SettingsError

    return KnowledgeError, SettingsError


def _prepare(program: Program, found: Checked, both: bool) -> None:
    """Asks what every report shows and most rules rest on, and before `both` groups what rules of each do."""
    try:
        found.waits = program.statistics()
        if both:
            _ = program.spawns
    except input_errors():
        raise
    except Exception as problem:
        found.failures.append(failure("", problem))


def asked(program: Program, rules: Iterable[Rule]) -> Checked:
    """Asks one program by rule after rule."""
    found = Checked()
    for rule in rules:
        seen = set()
        try:
            for finding in rule.check(program):
                if finding.key() not in seen:
                    seen.add(finding.key())
                    found.findings.append(finding)
        except input_errors():
            raise
        except Exception as problem:
            found.failures.append(failure(rule.code, problem))
    return found


class _Beside:
    """Rules that run in a process of their own, which begins with all of this one's memory: nothing is read or linked again."""

    def __init__(self, program: Program, rules: tuple[Rule, ...], tell: bool) -> None:
        from multiprocessing import get_context

        context = get_context("fork")
        self._answers, answers = context.Pipe(duplex=False)
        self._process = context.Process(target=_answer, args=(answers, program, rules, tell), daemon=True)
        self._process.start()
        answers.close()

    def result(self) -> Checked | None:
        """What they found; none if their process was killed, or met what only the caller's process can tell of."""
        try:
            found = self._answers.recv()
        except (EOFError, OSError):
            found = None
        self._process.join()
        return found if isinstance(found, Checked) else None


def _answer(answers: Connection, program: Program, rules: tuple[Rule, ...], tell: bool) -> None:
    # Ctrl-C is the main process's to answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        found = asked(program, rules)
        if tell:
            from resilint.looked import looked_at

            found.looked = looked_at(program)
        answers.send(found)
    except input_errors():
        answers.send(None)
    answers.close()
