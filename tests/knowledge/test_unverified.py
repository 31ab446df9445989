"""What rests on a library that nobody verified is of low confidence, whichever part of the engine looks at its rows."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from resilint import Confidence, docs, registry
from resilint.knowledge import loader
from resilint.testing import Case, cases, check

CASES = Path(__file__).parents[1] / "cases"
WHOLE = ("RS101", "RS102", "RS103", "RS205", "RS303", "RS404", "RS802", "RS803")
"""Rules whose pages show nothing that is known without a library."""
SINGLE = {
    "RS305": {"Django's ORM", "SQLAlchemy's query", "gorm", "The driver of MongoDB"},
    "RS404": {"Prefetch 0", "A stream of NATS", "A topic that forgets nothing, one that keeps the last of each key"},
}


def chosen() -> list[tuple[str, Case]]:
    found = []
    for rule in registry.rules():
        if rule.code in WHOLE:
            found += [(rule.code, case) for case in cases(docs.page(rule) or "") if case.section == "Flagged"]
        names = SINGLE.get(rule.code, set())
        for file in sorted((CASES / rule.code).glob("*.md")) if names else ():
            found += [(rule.code, case) for case in cases(file.read_text("utf-8")) if case.name in names]
    return found


CHOSEN = chosen()


def test_the_cases_are_there() -> None:
    assert {code for code, _ in CHOSEN} >= {*WHOLE, "RS305"}


@pytest.mark.parametrize(("code", "case"), CHOSEN, ids=[f"{code} {case.name}" for code, case in CHOSEN])
def test_what_nobody_verified_is_of_low_confidence(code: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unverified = tuple(msgspec.structs.replace(library, verified=False) for library in loader.shipped())
    monkeypatch.setattr(loader, "shipped", lambda: unverified)
    # What a process has built of the shipped files it keeps: this test brings others.
    monkeypatch.setattr(loader, "_last", [])
    rule = next(rule for rule in registry.rules() if rule.code == code)
    assert case.wants
    case.files["resilint.yaml"] = case.files.get("resilint.yaml", "") + "confidence: low\n"
    findings = [finding for finding in check(case, tmp_path, [rule]) if finding.code == code]
    assert findings and {finding.confidence for finding in findings} == {Confidence.LOW}
