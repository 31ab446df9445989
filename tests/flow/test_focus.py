"""A program that is asked about some of its files says of them what the whole of it says.

python -m tests.flow.test_focus    tries all cases of all rules, not a part of them
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from resilint import Rule, docs, registry
from resilint.engine_rules import ENGINE_RULES
from resilint.facts import FileFacts, decode
from resilint.intake import read_bytes
from resilint.program import Program
from resilint.run import Session
from resilint.scope import Scope
from resilint.settings import SettingsError, load
from resilint.testing import Case, cases

CASES_FOLDER = Path(__file__).parents[1] / "cases"
RULES = tuple(rule for rule in registry.rules() if rule not in ENGINE_RULES)
EVERY = 4
"""Of so many cases one is tried."""

Said = tuple[str, str, int, int, str]
"""Code, path, line, column and message."""


def cases_of(rule: Rule) -> Iterator[tuple[str, Case]]:
    texts = [(rule.code, docs.page(rule) or "")]
    texts += [(file.stem, file.read_text("utf-8")) for file in sorted((CASES_FOLDER / rule.code).glob("*.md"))]
    for origin, text in texts:
        for case in cases(text):
            yield f"{origin}:{case.line} {case.name}", case


def write(files: dict[str, str], folder: Path) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def session(folder: Path) -> Session:
    root = folder.resolve()
    return Session(Scope(root, root), load(root))


def said(program: Program, rules: tuple[Rule, ...], *paths: str) -> set[Said]:
    found = [finding for rule in rules for finding in rule.check(program)]
    return {(x.code, x.span.path, x.span.line, x.span.col, x.message) for x in found if x.span.path in paths}


def places(found: set[Said]) -> set[tuple[str, str, int, int]]:
    return {one[:4] for one in found}


def differences(case: Case, folder: Path, rules: tuple[Rule, ...]) -> list[str]:
    """Where the first answer about a file of a case is not what the whole program says of it, a line each.

    Of several files it may say less, for what is found in one may begin in another, and may word it otherwise: it knows of fewer
    such places. More it never says.
    """
    write(case.files, folder)
    try:
        program = session(folder).program
    except SettingsError:
        return []
    code = [path for path, facts in program.files.items() if facts.kind != "text"]
    whole = said(program, rules, *code)
    problems: list[str] = []
    for path in code:
        own = {one for one in whole if one[1] == path}
        focused = said(session(folder).program.focused([path]), rules, path)
        problems += compared("in focus", own, focused, alone=len(code) == 1)
        # The same after the file had another text: half of it, which is cut in the middle of anything.
        text = (folder / path).read_text("utf-8")
        rows = text.split("\n")
        (folder / path).write_text("\n".join(rows[: len(rows) // 2]), "utf-8")
        try:
            changing = session(folder)
            said(changing.program, rules)
        except SettingsError:
            continue
        finally:
            (folder / path).write_text(text, "utf-8")
        if path not in changing.program.files:
            continue
        changing.texts.forget()
        changed = changing.program.after({path: facts_of(path, text, program.files[path].kind)})
        if changed is not None:
            problems += compared("after a change", own, said(changed, rules, path), alone=len(code) == 1)
    return problems


def facts_of(path: str, text: str, kind: str) -> FileFacts:
    return decode(read_bytes(text.encode(), path, kind).facts)


def compared(when: str, whole: set[Said], first: set[Said], *, alone: bool) -> list[str]:
    if alone:
        return [f"{when}: {one}" for one in sorted(whole ^ first)]
    return [f"{when}, only in the first answer: {one}" for one in sorted(places(first) - places(whole))]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_focused_program_says_of_a_file_what_the_whole_one_says(rule: Rule, tmp_path: Path) -> None:
    problems = []
    for number, (origin, case) in enumerate(cases_of(rule)):
        if number % EVERY == 0:
            folder = tmp_path / str(number)
            folder.mkdir()
            problems += [f"{origin}: {line}" for line in differences(case, folder, (rule,))]
    assert not problems


def test_what_begins_in_another_file_and_is_to_be_mended_here_is_seen(tmp_path: Path) -> None:
    """The client is made here and called elsewhere: the call rests on it."""
    write({"client.py": "import requests\n\nsession = requests.Session()\n"}, tmp_path)
    write({"app.py": "from client import session\n\n\ndef fetch(url):\n    return session.get(url)\n"}, tmp_path)
    program = session(tmp_path).program
    rules = tuple(rule for rule in RULES if rule.code == "RS101")
    whole = said(program, rules, "client.py", "app.py")
    assert whole
    assert said(program.focused(["client.py"]), rules, "client.py") | said(program.focused(["app.py"]), rules, "app.py") == whole


def test_waits_elsewhere_follow_a_client_that_has_changed(tmp_path: Path) -> None:
    write({"client.py": "import httpx\n\nclient = httpx.Client(timeout=None)\n"}, tmp_path)
    write({"app.py": "from client import client\n\n\ndef fetch(url):\n    return client.get(url)\n"}, tmp_path)
    program = session(tmp_path).program
    rules = tuple(rule for rule in RULES if rule.code.startswith("RS10"))
    before = said(program, rules, "client.py", "app.py")
    assert {one[:3] for one in before} == {("RS104", "client.py", 3)}
    mended = program.after({"client.py": facts_of("client.py", "import httpx\n\nclient = httpx.Client(timeout=2)\n", "python")})
    assert mended is not None
    assert not said(mended, rules, "client.py", "app.py")
    assert [wait.bound for wait in mended.all_waits] == [2.0]


def test_files_that_come_or_go_or_become_another_kind_are_not_followed(tmp_path: Path) -> None:
    write({"app.py": "x = 1\n", "requirements.txt": "requests==2.0\n"}, tmp_path)
    program = session(tmp_path).program
    assert program.after({"new.py": facts_of("new.py", "x = 1\n", "python")}) is None
    assert program.after({"requirements.txt": program.files["requirements.txt"]}) is None


def main() -> int:
    """Tries every case."""
    count = 0
    for rule in RULES:
        for origin, case in cases_of(rule):
            with tempfile.TemporaryDirectory() as folder:
                for line in differences(case, Path(folder), (rule,)):
                    count += 1
                    print(f"{rule.code} {origin}: {line}", flush=True)
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
