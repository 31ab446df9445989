"""After a change of what no rule has looked at, what they found is taken over, and it is what a run finds that knows of no other.

python -m tests.core.test_looked    tries many more edits than the tests do
"""

from __future__ import annotations

import random
import re
import sqlite3
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs
from resilint import checking, registry, reuse
from resilint.cache import _packed
from resilint.engine_rules import ENGINE_RULES
from resilint.knowledge import KnowledgeError
from resilint.link.looks import Looks, Scan, any_of, any_small, matching
from resilint.looked import Look, encoded, opened, together
from resilint.run import Result, run
from resilint.scope import Scope
from resilint.settings import SettingsError, load
from resilint.testing import Case, cases

CASES_FOLDER = Path(__file__).parents[1] / "cases"
RULES = tuple(rule for rule in registry.rules() if rule not in ENGINE_RULES)
COMMENT = {".py": "#", ".go": "//", ".java": "//", ".yaml": "#", ".yml": "#", ".conf": "#", ".properties": "#", ".toml": "#"}


def checked(root: Path, cache: Path | None) -> Result:
    root = root.resolve()
    return run(Scope(root, root), load(root), RULES, registry.rules(), cache_folder=cache)


def shown(result: Result) -> object:
    """All that reports say of a result, but for the time it took."""
    told = (result.failures, result.files, dict(result.waits), result.unsure, result.unsure_marks, result.skipped)
    return result.findings, result.fingerprints, result.marks, told


def write(files: dict[str, str], folder: Path) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


# ---------------------------------------------------------------- edits


def _lines(chosen: Callable[[str], bool], changed: Callable[[str, str], list[str]]) -> Callable[[random.Random, str, str], str]:
    def edited(chance: random.Random, text: str, comment: str) -> str:
        rows = text.split("\n")
        places = [at for at, row in enumerate(rows) if chosen(row)]
        if places:
            at = chance.choice(places)
            rows[at : at + 1] = changed(rows[at], comment)
        return "\n".join(rows)

    return edited


def _indent(row: str) -> str:
    return row[: len(row) - len(row.lstrip())]


def _is_call(row: str) -> bool:
    return row.rstrip().endswith((")", ");")) and not row.lstrip().startswith(("def ", "func ", "@"))


EDITS: dict[str, Callable[[random.Random, str, str], str]] = {
    "a comment above": _lines(lambda row: True, lambda row, comment: [f"{_indent(row)}{comment} a remark", row]),
    "a comment behind": _lines(lambda row: bool(row.strip()), lambda row, comment: [f"{row}  {comment} a remark"]),
    "an empty line": _lines(lambda row: not row.strip(), lambda row, comment: ["", row]),
    "another number": _lines(
        lambda row: bool(re.search(r"\b\d+\b", row)), lambda row, comment: [re.sub(r"\b\d+\b", lambda m: f"{m[0]}7", row, count=1)]
    ),
    "another text": _lines(lambda row: '"' in row, lambda row, comment: [row.replace('"', '"x', 1)]),
    "a call less": _lines(_is_call, lambda row, comment: []),
    "a call twice": _lines(_is_call, lambda row, comment: [row, row]),
    "a call more": _lines(
        _is_call, lambda row, comment: [row, f"{_indent(row)}note(1){';' if row.rstrip().endswith(';') else ''}"]
    ),
    "a timeout": _lines(lambda row: "(" in row, lambda row, comment: [row.replace("(", "(timeout=3, ", 1)]),
    "no timeout": _lines(lambda row: "timeout" in row.lower(), lambda row, comment: [re.sub(r"(?i)timeout", "patience", row)]),
    "another name": _lines(
        lambda row: bool(re.search(r"\b(?:def|func|void|class) (\w+)", row)),
        lambda row, comment: [re.sub(r"\b(def|func|void|class) (\w+)", r"\1 \2_other", row, count=1)],
    ),
    "another line end": lambda chance, text, comment: text + f"\n{comment} the end\n",
    "cut in the middle": lambda chance, text, comment: text[: len(text) // 2],
}


def edits(case: Case, chance: random.Random, count: int) -> Iterator[tuple[str, dict[str, str | None]]]:
    """Random edits of a case: what each is, and the files after it. Each begins where the last has ended."""
    now: dict[str, str | None] = dict(case.files)
    for _ in range(count):
        path = chance.choice(sorted(path for path, text in now.items() if text is not None))
        before = now[path]
        comment = COMMENT.get(Path(path).suffix)
        what = chance.choice(sorted(EDITS)) if comment else "another number"
        roll = chance.random()
        if roll < 0.04:
            what, now = f"{path} is gone", {**now, path: None}
        elif roll < 0.08:
            what, now = "one file more", {**now, f"more/{Path(path).name}": before}
        elif roll < 0.12:
            what, now = "other settings", {**now, "resilint.yaml": f"confidence: low\nretry_budget: {chance.randrange(1, 9)}\n"}
        else:
            now = {**now, path: EDITS[what](chance, before or "", comment or "#")}
        if all(text is None for text in now.values()):
            return
        yield what, now


def tried(case: Case, folder: Path, chance: random.Random, count: int) -> Iterator[str]:
    """Edits a case and says where a run that knows of the one before finds something else than one that does not."""
    tree, cache = folder / "tree", folder / "cache"
    write(case.files, tree)
    files: dict[str, str | None] = dict(case.files)
    history: list[str] = []
    for what, after in [("as it is", files), *edits(case, chance, count)]:
        history.append(what)
        for path, text in after.items():
            if text is None:
                (tree / path).unlink(missing_ok=True)
            else:
                write({path: text}, tree)
        try:
            cold = shown(checked(tree, None))
        except (SettingsError, KnowledgeError):
            continue
        warm = shown(checked(tree, cache))
        if cold != warm:
            yield f"{' > '.join(history)}: {warm} is not {cold}"
            return


def all_cases() -> list[tuple[str, Case]]:
    found = []
    for file in sorted(CASES_FOLDER.glob("RS*/*.md")):
        found += [(f"{file.parent.name}/{file.stem}:{case.line} {case.name}", case) for case in cases(file.read_text("utf-8"))]
    return found


@pytest.mark.parametrize("part", range(4))
def test_after_any_edit_a_run_that_knows_the_last_one_finds_what_a_cold_one_finds(part: int, tmp_path: Path) -> None:
    chance = random.Random(part)
    problems = []
    for number, (origin, case) in enumerate(chance.sample(all_cases(), 12)):
        folder = tmp_path / str(number)
        problems += [f"{origin}: {line}" for line in tried(case, folder, chance, 5)]
    assert not problems


# ---------------------------------------------------------------- what is taken over, and what not

CLIENT = """\
import requests


def fetch(url):
    return requests.get(url)


def add(a, b):
    total = a + 1
    return total + b
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return Tree(tmp_path, monkeypatch)


class Tree:
    """A program whose checks are counted."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = folder / "tree"
        self.cache = folder / "cache"
        self.asked = 0
        whole = checking.asked

        def asked(*args: object) -> checking.Checked:
            self.asked += 1
            return whole(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(checking, "asked", asked)
        write({"client.py": CLIENT}, self.root)
        self.check()

    def check(self) -> Result:
        return checked(self.root, self.cache)

    def is_taken_over(self, path: str, text: str) -> bool:
        """Whether nothing is checked after a file has got another text. What is found is that of a cold run in any case."""
        write({path: text}, self.root)
        self.asked = 0
        found = self.check()
        taken = not self.asked
        assert shown(found) == shown(checked(self.root, None))
        return taken


def test_a_finding_moves_with_its_line_and_so_does_its_fix(tree: Tree) -> None:
    assert tree.is_taken_over("client.py", CLIENT.replace("def fetch", "# A remark.\n# Another.\n\ndef fetch"))
    (finding,) = tree.check().findings
    assert finding.span.line == 8
    assert finding.fix is None or {edit.span.line for edit in finding.fix.edits} == {8}


def test_what_no_rule_reads_may_change_again_and_again(tree: Tree) -> None:
    for number in range(2, 6):
        assert tree.is_taken_over("client.py", CLIENT.replace("a + 1", f"a + {number}"))


def test_a_body_that_was_read_is_read_again(tree: Tree) -> None:
    assert not tree.is_taken_over("client.py", CLIENT.replace("get(url)", "get(url, timeout=3)"))
    assert not tree.check().findings


def test_another_call_or_name_is_looked_at(tree: Tree) -> None:
    assert not tree.is_taken_over("client.py", CLIENT.replace("a + 1", "a + size(1)"))
    assert not tree.is_taken_over("client.py", CLIENT.replace("def add", "def more"))


def _store(cache: Path, change: Callable[[reuse._Last], reuse._Last]) -> int:
    """Puts something else in the place of what the last run has looked at, with the sum that belongs to it. How often."""
    done = 0
    connection = sqlite3.connect(cache / "facts.sqlite3")
    with connection:
        for row, stored in connection.execute("SELECT id, v FROM facts").fetchall():
            try:
                last = msgspec.msgpack.decode(zlib.decompress(stored[4:]), type=reuse._Last)
            except (zlib.error, msgspec.MsgspecError):
                continue
            value = zlib.compress(msgspec.msgpack.encode(change(last)))
            done += connection.execute("UPDATE facts SET v = ? WHERE id = ?", (_packed(value), row)).rowcount
    connection.close()
    return done


def _each_file(**fields: Any) -> Callable[[reuse._Last], reuse._Last]:
    def changed(last: reuse._Last) -> reuse._Last:
        files = {path: msgspec.msgpack.decode(raw, type=reuse._File) for path, raw in last.files.items()}
        new = {path: msgspec.Raw(msgspec.msgpack.encode(structs.replace(file, **fields))) for path, file in files.items()}
        return structs.replace(last, files=new)

    return changed


NO_STORE_OF_OURS: dict[str, Callable[[reuse._Last], reuse._Last]] = {
    "a file that is none": lambda last: structs.replace(last, files=dict.fromkeys(last.files, msgspec.Raw(b"\x93\x01\x02\x03"))),
    "a search that nobody knows": _each_file(scans=(10_000,)),
    "a search from behind": _each_file(scans=(-1,)),
    "a function that is not there": _each_file(marked=((0, ((99, True),)),)),
    "an expression that is none": lambda last: structs.replace(last, scans=[Scan("pattern", (b"(", b"0"))] * len(last.scans)),
    "an expression without flags": lambda last: structs.replace(last, scans=[Scan("pattern", (b"x",))] * len(last.scans)),
    "a kind of search that nobody knows": lambda last: structs.replace(last, scans=[Scan("else", (b"x",))] * len(last.scans)),
    "a search for nothing": lambda last: structs.replace(last, scans=[Scan("stem", (b"",))] * len(last.scans)),
}


@pytest.mark.parametrize("what", sorted(NO_STORE_OF_OURS))
def test_a_store_that_cannot_be_meant_is_as_good_as_none(tree: Tree, what: str) -> None:
    assert _store(tree.cache, NO_STORE_OF_OURS[what]) == 1
    assert not tree.is_taken_over("client.py", CLIENT.replace("a + 1", "a + 2"))


def test_files_that_come_or_go_and_other_settings_are_looked_at(tree: Tree) -> None:
    assert not tree.is_taken_over("more.py", "x = 1\n")
    assert not tree.is_taken_over("resilint.yaml", "retry_budget: 2\n")


def test_what_was_on_one_line_is_told_apart_from_what_was_not(tree: Tree) -> None:
    pair = "import requests\n\n\ndef fetch(url):\n    requests.get(url); requests.post(url)\n"
    assert not tree.is_taken_over("client.py", pair)
    assert not tree.is_taken_over("client.py", pair.replace("; ", "\n    "))


def test_a_search_in_a_text_that_finds_something_else_is_done_again(tree: Tree) -> None:
    """Which statements give a session a bound of its own is asked of texts: a comment may say the word, too."""
    server = 'import psycopg2\n\n\ndef ask():\n    return psycopg2.connect("host=db").cursor().execute("select 1")\n'
    assert not tree.is_taken_over("client.py", server)
    assert not tree.is_taken_over("client.py", server + "# statement_timeout\n")
    assert tree.is_taken_over("client.py", server + "# statement_timeout\n# more\n")


def test_a_line_that_a_message_names_is_named_anew(tmp_path: Path) -> None:
    files = {
        "conf/gunicorn.conf.py": "timeout = 30\n",
        "app.py": "from flask import Flask\nimport requests\n\napp = Flask(__name__)\n\n\n"
        '@app.route("/x")\ndef x():\n    return requests.get("http://peer").text\n',
    }
    write(files, tmp_path / "tree")
    named = [f for f in checked(tmp_path / "tree", tmp_path / "cache").findings if "gunicorn.conf.py:1" in f.message]
    write({"conf/gunicorn.conf.py": "# A remark.\ntimeout = 30\n"}, tmp_path / "tree")
    moved = checked(tmp_path / "tree", tmp_path / "cache")
    assert shown(moved) == shown(checked(tmp_path / "tree", None))
    assert named
    assert [f for f in moved.findings if "gunicorn.conf.py:2" in f.message]


def test_what_rules_of_others_read_is_not_known_and_so_they_are_asked(tmp_path: Path) -> None:
    from resilint import Confidence, Finding, Program, Rule, Severity, Span

    asked = []

    def check(program: Program) -> Iterator[Finding]:
        asked.append("")
        yield rule.finding(Span("client.py", 1, 1, 1, 2), "found", confidence=Confidence.MEDIUM)

    rule = Rule("XX101", "toy", Severity.ERROR, "A toy.", frozenset({"python"}), check)
    root = (tmp_path / "tree").resolve()
    for text in (CLIENT, CLIENT + "# more\n"):
        write({"client.py": text}, root)
        run(Scope(root, root), load(root), (rule,), (*registry.rules(), rule), cache_folder=tmp_path / "cache")
    assert len(asked) == 2


def test_searches_say_what_they_find() -> None:
    looks = Looks({"a": b"for Ring in hash_ring: TimeOut()"}.__getitem__)
    assert looks.says("a", any_of(b"none", b"Ring"))
    assert looks.says("a", any_small([b"timeout"]))
    assert not looks.says("a", any_of())
    assert looks.says("a", matching(rb"\bTime"))
    assert looks.marks("a", matching(rb"hash"), 1, 4, 20)
    assert not looks.marks("a", matching(rb"hash"), 2, 20, 30)
    assert looks.cut("a", 4, 30, until=b" in") == b"Ring"
    assert not looks.whole
    assert list(looks.cuts["a"]) == [(4, 11)]


def test_bodies_and_texts_are_read_where_that_is_remembered() -> None:
    """Whatever reads an encoded body, or a text, by another way would not be asked again after a change of it."""
    engine = Path(checking.__file__).parent
    found = []
    for file in sorted((*(engine / "flow").glob("*.py"), *(engine / "link").glob("*.py"), engine / "program.py")):
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if re.search(r"facts\.bodies\[|looks\.text\(|decode_block\(", line):
                found.append(f"{file.stem}:{number}")
    assert {place.partition(":")[0] for place in found} == {"code", "program"}


def main() -> int:
    """Tries edits of random cases until one fails. Arguments: how many cases, and a number to begin with."""
    count, seed = (int(given) for given in (*sys.argv[1:], "200", "0")[:2])
    chance = random.Random(seed)
    for origin, case in chance.choices(all_cases(), k=count):
        with tempfile.TemporaryDirectory() as folder:
            for problem in tried(case, Path(folder), chance, 6):
                print(origin, problem)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())


def test_what_two_processes_looked_at_comes_together_file_by_file() -> None:
    word, pattern = Scan("word", (b"get",)), Scan("pattern", (rb"\bput\b", b"0"))
    one = Look(bodies={1}, scans={word}, said={word: True}, marked={pattern: {1: True}}, cuts={(0, 3): b"a"}, places={4: (1, 5)})
    other = Look(True, {2}, {pattern}, {pattern: False}, {pattern: {2: False}}, {(5, 9): b"b"}, {(1, 2): b"c"}, {9: (2, 1)})
    both = together({"a.py": encoded(one), "b.py": encoded(one)}, {"a.py": encoded(other), "c.py": encoded(other)})
    assert opened(both, "a.py") == Look(
        True,
        {1, 2},
        {word, pattern},
        {word: True, pattern: False},
        {pattern: {1: True, 2: False}},
        {(0, 3): b"a", (5, 9): b"b"},
        {(1, 2): b"c"},
        {4: (1, 5), 9: (2, 1)},
    )
    assert (opened(both, "b.py"), opened(both, "c.py"), opened(both, "d.py")) == (one, other, None)
