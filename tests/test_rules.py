"""Keeps rule, page and cases in step, and runs every example of every page."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from resilint import Finding, Rule, docs, registry
from resilint.engine_rules import ENGINE_RULES
from resilint.testing import Case, cases, check, differences, fix_differences, malformed, mended, misplaced

CASES_FOLDER = Path(__file__).parent / "cases"
RULES = registry.rules()
OWN = tuple(rule for rule in RULES if rule.code.startswith(registry.OWN_PREFIX))
CHECKED = tuple(rule for rule in OWN if rule not in ENGINE_RULES)
STABLE = tuple(rule for rule in RULES if not rule.preview)
HEADINGS = ["Why", "Flagged", "Quiet", "Fix", "How it decides"]


def page_of(rule: Rule) -> str:
    page = docs.page(rule)
    assert page is not None, f"{rule.code} has no page: write rule_docs/{rule.code}.md"
    return page


def all_cases() -> list[tuple[Rule, str, Case]]:
    found = []
    for rule in OWN:
        texts = [(rule.code, docs.page(rule) or "")]
        texts += [(f"{rule.code}/{file.stem}", file.read_text("utf-8")) for file in sorted((CASES_FOLDER / rule.code).glob("*.md"))]
        found += [(rule, f"{origin}:{case.line} {case.name}", case) for origin, text in texts for case in cases(text)]
    return found


CASES = all_cases()
by_code = pytest.mark.parametrize("rule", OWN, ids=lambda rule: rule.code)


@by_code
def test_module_is_named_after_the_rule(rule: Rule) -> None:
    module = rule.check.__module__
    if rule in ENGINE_RULES:
        assert module == "resilint.engine_rules"
    else:
        assert module.rpartition(".")[2] == f"{rule.code}_{rule.name}".lower().replace("-", "_")


@by_code
def test_page_says_what_the_rule_says(rule: Rule) -> None:
    page = page_of(rule)
    assert page.startswith(f"# {rule.code} {rule.name}\n\n{rule.summary}\n")
    assert [title for level, title in headings(page) if level == 2] == HEADINGS
    assert rule.summary.endswith(".") and "\n" not in rule.summary


@by_code
def test_page_shows_flagged_and_quiet_code_in_every_language(rule: Rule) -> None:
    found = cases(page_of(rule))
    flagged = [case for case in found if case.section == "Flagged"]
    quiet = [case for case in found if case.section == "Quiet"]
    assert {language for case in flagged for language in case.languages} == rule.languages
    assert flagged
    assert {language for case in quiet for language in case.languages} >= rule.languages
    for case in flagged:
        assert any(want.code == rule.code for want in case.wants), f"{case.name} flags nothing"
    for case in found:
        if case.section != "Flagged":
            assert not case.wants, f"{case.name} stands under {case.section} and wants findings"


def headings(page: str) -> list[tuple[int, str]]:
    prose = re.sub(r"^(`{3,}).*?^\1[ ]*$", "", page, flags=re.MULTILINE | re.DOTALL)
    return [(len(marks), title) for marks, title in re.findall(r"^(#+) (.+)$", prose, re.MULTILINE)]


def test_nothing_is_orphaned() -> None:
    # In a wheel the pages of the engine's own rules lie apart.
    folders = {folder for rule in OWN if (folder := docs.folder(rule)) is not None}
    assert {page.stem for folder in folders for page in folder.glob("*.md")} == {rule.code for rule in OWN}
    assert sorted(folder.name for folder in CASES_FOLDER.iterdir() if folder.is_dir()) == sorted(rule.code for rule in CHECKED)


@pytest.mark.parametrize("rule", CHECKED, ids=lambda rule: rule.code)
def test_folder_of_cases_has_a_case_across_files(rule: Rule) -> None:
    own = [case for owner, origin, case in CASES if owner == rule and "/" in origin]
    assert any(len(case.files) > 1 for case in own), f"tests/cases/{rule.code} has no case with several files"
    assert any(not case.wants for case in own), f"tests/cases/{rule.code} has no quiet case"


def test_no_case_is_written_twice() -> None:
    seen: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
    twice = []
    for rule, origin, case in CASES:
        key = (rule.code, case.content())
        if key in seen:
            twice.append(f"{origin} is {seen[key]} once more")
        seen.setdefault(key, origin)
    assert not twice


@pytest.mark.parametrize(("rule", "case"), [pytest.param(rule, case, id=origin) for rule, origin, case in CASES])
def test_case(rule: Rule, case: Case, tmp_path: Path) -> None:
    findings = check(case, tmp_path, (rule,))
    assert not differences(case, findings)
    assert not misplaced(case, findings)
    assert not malformed(case, findings)
    if case.diffs or any(finding.fix is not None for finding in findings):
        check_fixes(rule, case, tmp_path)


def check_fixes(rule: Rule, case: Case, folder: Path) -> None:
    """Every fix ends its finding, brings no other one, leaves files that parse, and is made once; the page tells of it."""
    assert "`--fix`" in page_of(rule).partition("\n## Fix\n")[2].partition("\n## ")[0]
    files, after, problems = mended(case, folder / "fixed", (*STABLE, rule))
    assert not problems
    assert files
    assert not [(finding.message, finding.fix.title) for finding in after if finding.fix is not None]
    assert not told(after) - told(check(case, folder / "found", (*STABLE, rule)))
    again, _, _ = mended(Case(case.name, case.line, files={**case.files, **files}), folder / "again", (*STABLE, rule))
    assert not again
    if case.diffs:
        assert not fix_differences(case, files)


def told(findings: list[Finding]) -> Counter[tuple[str, str]]:
    """How often each rule speaks in each file: a fix may change the arithmetic of another finding."""
    return Counter((finding.code, finding.span.path) for finding in findings)


def test_the_readme_lists_every_rule() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    assert [rule.code for rule in CHECKED if f"{rule.code} {rule.name}" not in text] == []
