"""A run finds what an earlier one has found, without checking, exactly as long as nothing it depends on has changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from resilint import Confidence, Finding, Program, Rule, Severity, Span
from resilint.cache import Cache
from resilint.engine_rules import ENGINE_RULES
from resilint.run import Result, Texts, run
from resilint.scope import scope_of
from resilint.settings import load

asked: list[str] = []


def _check(program: Program) -> Iterator[Finding]:
    asked.append("")
    for path in sorted(program.files):
        if path.endswith(".py"):
            yield RULE.finding(Span(path, 1, 1, 1, 2), "found", confidence=Confidence.MEDIUM)


RULE = Rule("XX101", "toy", Severity.ERROR, "A toy.", frozenset({"python"}), _check)
OTHER = Rule("XX102", "other", Severity.ERROR, "Another.", frozenset({"python"}), lambda program: ())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    asked.clear()
    root = tmp_path / "tree"
    (root / "deep").mkdir(parents=True)
    (root / "a.py").write_text("x = 1\n")
    (root / "deep" / "b.py").write_text("y = 2\n")
    (root / "resilint.yaml").write_text("knowledge: [own.yaml]\n")
    (root / "own.yaml").write_text(KNOWLEDGE)
    return root


KNOWLEDGE = """\
library: own
language: python
modules: [own]
source: https://example.internal/own
calls:
  - names: [own.ask]
    does: network
"""


def checked(
    root: Path,
    *paths: str,
    here: Path | None = None,
    rules: tuple[Rule, ...] = (RULE,),
    confidence: Confidence | None = None,
) -> Result:
    scope = scope_of([str(root / path) for path in paths] or [str(root)], None, here or root)
    return run(
        scope,
        load(scope.root),
        rules,
        (*ENGINE_RULES, RULE, OTHER),
        cache_folder=root.parent / "cache",
        confidence=confidence,
    )


def shown(result: Result) -> object:
    """All that reports say of a result, but for the time it took."""
    paths = [finding.span.path for finding in result.findings]
    return (
        result.findings,
        result.fingerprints,
        result.failures,
        result.files,
        dict(result.waits),
        dict(result.skipped),
        dict(result.not_checked),
        result.unsure,
        result.notes,
        result.unused,
        [(result.here(path), result.in_repository(path), result.service(path)) for path in paths],
        [result.lines(path).line(1) for path in paths],
        result.rules,
    )


def test_what_has_not_changed_is_not_checked_again_and_reported_alike(tree: Path) -> None:
    first = checked(tree)
    assert [finding.span.path for finding in first.findings] == ["a.py", "deep/b.py"]
    assert len(asked) == 1
    assert shown(checked(tree)) == shown(first)
    assert len(asked) == 1


def test_what_identifies_findings_is_kept_with_them(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = checked(tree)

    def no_text(texts: Texts, path: str) -> bytes:
        raise AssertionError(f"{path} is read")

    monkeypatch.setattr(Texts, "source", no_text)
    again = checked(tree)
    assert (again.marks, again.fingerprints) == (first.marks, first.fingerprints)
    assert len(set(again.fingerprints)) == len(first.findings) == 2


def test_the_same_tree_elsewhere_is_known_too(tree: Path) -> None:
    checked(tree)
    moved = tree.rename(tree.with_name("moved"))
    assert len(checked(moved).findings) == 2
    assert len(asked) == 1


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file's text": lambda root: (root / "a.py").write_text("x = 2\n"),
    "a file more": lambda root: (root / "c.py").write_text(""),
    "a file less": lambda root: (root / "a.py").unlink(),
    "another name": lambda root: (root / "a.py").rename(root / "z.py"),
    "text moved between files": lambda root: [
        (root / "a.py").write_text(""),
        (root / "deep" / "b.py").write_text("x = 1\ny = 2\n"),
    ],
    "the settings": lambda root: (root / "resilint.yaml").write_text("knowledge: [own.yaml]\nconfidence: low\n"),
    "knowledge that they name": lambda root: (root / "own.yaml").write_text(KNOWLEDGE.replace("own.ask", "own.tell")),
    "a configuration file": lambda root: (root / "deep" / "app.properties").write_text("a=b\n"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_seen(tree: Path, what: str) -> None:
    checked(tree)
    CHANGES[what](tree)
    after = checked(tree)
    assert len(asked) == 2
    assert {finding.span.path for finding in after.findings if finding.code == "XX101"} == {
        path.relative_to(tree).as_posix() for path in tree.rglob("*.py")
    }


def test_other_questions_have_other_answers(tree: Path) -> None:
    assert len(checked(tree).findings) == 2
    assert len(checked(tree, confidence=Confidence.HIGH).findings) == 0
    assert len(checked(tree, rules=(OTHER,)).findings) == 0
    assert len(checked(tree, "a.py").findings) == 1
    assert [finding.span.path for finding in checked(tree, "deep/b.py", here=tree / "deep").findings] == ["b.py"]


def test_the_settings_above_the_program_count(tree: Path) -> None:
    checked(tree / "deep")
    (tree / "resilint.yaml").write_text("knowledge: [own.yaml]\nper_path: {'deep/**': {ignore: [XX101]}}\n")
    assert checked(tree / "deep").findings == []


def test_a_run_that_failed_is_not_kept(tree: Path) -> None:
    def fail(program: Program) -> Iterator[Finding]:
        asked.append("")
        raise RuntimeError("a fault")
        yield

    broken = Rule("XX101", "toy", Severity.ERROR, "A toy.", frozenset({"python"}), fail)
    for _ in range(2):
        assert checked(tree, rules=(broken,)).failures
    assert len(asked) == 2


def test_what_changes_while_it_is_read_is_not_kept(tree: Path) -> None:
    def meddle(program: Program) -> Iterator[Finding]:
        asked.append("")
        (tree / "a.py").write_text("x = 3\n")
        os.utime(tree / "a.py", (1, 1))
        return iter(())

    rule = Rule("XX101", "toy", Severity.ERROR, "A toy.", frozenset({"python"}), meddle)
    before = (tree / "a.py").read_text()
    checked(tree, rules=(rule,))
    (tree / "a.py").write_text(before)
    checked(tree, rules=(rule,))
    assert len(asked) == 2


def test_what_cannot_be_read_any_more_is_checked_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = checked(tree)
    monkeypatch.setattr(Cache, "get", lambda self, keys: dict.fromkeys(keys, b"\x93broken"))
    assert shown(checked(tree)) == shown(first)
    assert len(asked) == 2


def test_without_a_cache_nothing_is_kept(tree: Path) -> None:
    scope = scope_of([str(tree)], None, tree)
    for _ in range(2):
        run(scope, load(tree), (RULE,), (RULE,))
    assert len(asked) == 2
