"""RS001 to RS003: what the engine itself reports, as rules, so that they can be listed, explained and ignored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from resilint.model import Finding, Rule, Severity

if TYPE_CHECKING:
    from resilint.program import Program


def check(program: Program) -> Iterable[Finding]:
    """Nothing: the engine reports these on its way."""
    return ()


UNUSED_SUPPRESSION = Rule(
    code="RS001",
    name="unused-suppression",
    severity=Severity.WARNING,
    summary="A suppression comment that suppresses nothing, or that lacks a reason where one is required.",
    languages=frozenset({"py", "go", "yaml"}),
    check=check,
)

UNREADABLE_FILE = Rule(
    code="RS002",
    name="unreadable-file",
    severity=Severity.WARNING,
    summary="A file, or a part of one, that could not be read.",
    languages=frozenset({"py", "go", "yaml", "json"}),
    check=check,
)

UNKNOWN_RULE = Rule(
    code="RS003",
    name="unknown-rule-in-settings",
    severity=Severity.WARNING,
    summary="Settings or a suppression that name a rule that does not exist.",
    languages=frozenset({"py", "go", "yaml"}),
    check=check,
)

ENGINE_RULES = (UNUSED_SUPPRESSION, UNREADABLE_FILE, UNKNOWN_RULE)
