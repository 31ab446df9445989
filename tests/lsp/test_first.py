"""The first answer after a change: what is shown of a changed file until the whole program is checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from resilint.lsp.first import Message, lines_of, shown

URI = "file:///app.py"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the first answer comes from a process that was forked")


# ---------------------------------------------------------------- what is shown


def entry(code: str, line: int, fingerprint: str = "") -> Message:
    place = {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 9}}
    data = {"fingerprint": fingerprint or code}
    return {"diagnostic": {"range": place, "code": code, "message": code, "data": data}, "span": [line + 1, 5, line + 1, 10]}


def lines(found: list[Message]) -> list[tuple[str, int]]:
    return [(one["diagnostic"]["code"], one["diagnostic"]["range"]["start"]["line"]) for one in found]


SAME = lines_of(b"", b"")


def test_what_is_mended_goes_and_what_is_new_comes() -> None:
    whole = [entry("RS101", 1), entry("RS109", 2)]
    assert lines(shown(whole, whole, [entry("RS109", 2), entry("RS104", 3)], SAME, URI)) == [("RS109", 2), ("RS104", 3)]


def test_what_only_the_whole_answer_sees_stays() -> None:
    assert lines(shown([entry("RS504", 0)], [], [entry("RS101", 3)], SAME, URI)) == [("RS504", 0), ("RS101", 3)]


def test_what_the_whole_answer_denies_is_not_shown_for_being_said_again() -> None:
    assert shown([], [entry("RS205", 1)], [entry("RS205", 1)], SAME, URI) == []


def test_kept_findings_move_with_their_lines_and_go_with_them() -> None:
    line = lines_of(b"a\nb\nc\nd\n", b"new\na\nb changed\nd\n")
    whole = [entry("RS1", 0), entry("RS2", 1), entry("RS4", 3)]
    assert lines(shown(whole, [], [], line, URI)) == [("RS1", 1), ("RS2", 2), ("RS4", 3)]
    assert lines(shown([entry("RS3", 1)], [], [], lines_of(b"a\nb\nc\n", b"a\nc\n"), URI)) == []


def test_steps_in_the_file_move_too_and_a_fix_of_moved_text_is_not_offered() -> None:
    kept = entry("RS106", 5)
    there = {"start": {"line": 4, "character": 0}, "end": {"line": 4, "character": 3}}
    kept["diagnostic"]["relatedInformation"] = [
        {"location": {"uri": uri, "range": json.loads(json.dumps(there))}, "message": "x"} for uri in (URI, "file:///other.py")
    ]
    kept["fix"] = {"title": "x", "safe": True, "edits": {}}
    (moved,) = shown([kept], [], [], lines_of(b"\n" * 9, b"\n" * 11), URI)
    assert [x["location"]["range"]["start"]["line"] for x in moved["diagnostic"]["relatedInformation"]] == [4, 4]
    (moved,) = shown([kept], [], [], lines_of(b"a\n" + b"\n" * 9, b"a\nb\nc\n" + b"\n" * 9), URI)
    assert [x["location"]["range"]["start"]["line"] for x in moved["diagnostic"]["relatedInformation"]] == [6, 4]
    assert moved["span"] == [8, 5, 8, 10]
    assert "fix" not in moved
    assert "fix" in kept


def test_lines_of_texts_with_much_between_them_are_found_in_no_time() -> None:
    begin = time.process_time()
    line = lines_of(b"\n".join(b"%d" % n for n in range(20_000)), b"\n".join(b"x%d" % n for n in range(30_000)))
    assert line(15_000) == 15_000
    assert time.process_time() - begin < 5


# ---------------------------------------------------------------- the process that analyses

KNOWN = [("RS101", 4), ("RS001", 7)]
"""What is found in `APP`."""
CLIENT = "import requests\n\nsession = requests.Session()\n"
APP = "from client import session\n\n\ndef fetch(url):\n    return session.get(url)\n\n\nX = 1  # resilint: ignore[RS502]\n"
MORE = "\n\ndef again(url):\n    import requests\n\n    return requests.post(url)\n"


class Analysis:
    """The process of the language server that analyses a folder, spoken to as the server does."""

    def __init__(self, root: Path) -> None:
        # It follows programs of any size, so that a small one shows what a large one does.
        environment = {**os.environ, "RESILINT_LSP_FIRST_FROM": "0"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "resilint.lsp.analysis"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.root = root
        self.number = 0

    def say(self, do: str, **more: Any) -> int:
        assert self.process.stdin is not None
        self.number += 1
        self.process.stdin.write(json.dumps({"do": do, "id": self.number, **more}).encode() + b"\n")
        self.process.stdin.flush()
        return self.number

    def open(self, **unsaved: str) -> list[Message]:
        held = {path.replace("_py", ".py"): text for path, text in unsaved.items()}
        self.say("open", root=str(self.root), encoding="utf-16", jobs=1, unsaved=held)
        return [one for one in self.until("prepared") if one["is"] == "result"]

    def type(self, path: str, text: str) -> int:
        return self.say("change", unsaved={path: text}, typed=True)

    def until(self, kind: str) -> list[Message]:
        """What it says of the newest change, up to a message of a kind."""
        assert self.process.stdout is not None
        told: list[Message] = []
        while not told or told[-1]["is"] != kind:
            line = self.process.stdout.readline()
            assert line, "the process has ended"
            message = json.loads(line)
            assert message["is"] != "failed", message
            if message["is"] == kind == "prepared" or (message["is"] in ("first", "result") and message["id"] == self.number):
                told.append(message)
        return told


@contextmanager
def analysis(root: Path, files: dict[str, str]) -> Iterator[Analysis]:
    for path, text in files.items():
        (root / path).write_text(text, "utf-8")
    one = Analysis(root)
    try:
        yield one
    finally:
        assert one.process.stdin is not None
        one.process.stdin.close()
        one.process.wait(30)


def found(message: Message, path: str) -> list[tuple[str, int]]:
    return lines(message["files"].get(path, []))


def test_the_first_answer_comes_before_the_whole_one_and_has_what_the_changed_file_has(tmp_path: Path) -> None:
    with analysis(tmp_path, {"client.py": CLIENT, "app.py": APP}) as told:
        (whole,) = told.open(app_py=APP)
        assert found(whole, "app.py") == KNOWN
        told.type("app.py", APP + MORE)
        first, whole = told.until("result")
        assert first["is"] == "first"
        assert found(first, "app.py") == found(whole, "app.py") == [*KNOWN, ("RS101", 13)]
        told.type("app.py", APP)
        first, whole = told.until("result")
        assert found(first, "app.py") == found(whole, "app.py") == KNOWN


def test_findings_that_only_the_whole_answer_sees_do_not_flicker_and_move_with_their_lines(tmp_path: Path) -> None:
    """That a comment suppresses nothing only the whole answer says: what it would suppress may begin in another file."""
    with analysis(tmp_path, {"client.py": CLIENT, "app.py": APP}) as told:
        told.open(app_py=APP)
        above = APP.replace("\n\n\ndef", "\n\nY = 2\n\n\ndef")
        for text, by in ((above, 2), (APP, 0), (above, 2)):
            told.type("app.py", text)
            first = told.until("first")[-1]
            assert found(first, "app.py") == [(code, line + by) for code, line in KNOWN]


def test_changes_that_follow_each_other_are_all_taken_in(tmp_path: Path) -> None:
    with analysis(tmp_path, {"client.py": CLIENT, "app.py": APP}) as told:
        told.open(app_py=APP, client_py=CLIENT)
        told.type("client.py", "import requests\n\nsession = requests.Session()\nother = 1\n" + MORE)
        told.until("first")
        told.type("app.py", APP + MORE)
        first = told.until("first")[-1]
        assert found(first, "app.py") == [*KNOWN, ("RS101", 13)]
        told.type("client.py", CLIENT)
        first, whole = told.until("result")
        assert found(first, "client.py") == found(whole, "client.py") == []
        assert found(whole, "app.py") == [*KNOWN, ("RS101", 13)]


def test_a_file_that_comes_is_left_to_the_whole_answer_and_the_next_change_has_a_first_one(tmp_path: Path) -> None:
    with analysis(tmp_path, {"client.py": CLIENT, "app.py": APP}) as told:
        told.open(app_py=APP)
        (tmp_path / "new.py").write_text(CLIENT, "utf-8")
        told.say("change", files=["new.py"])
        whole = told.until("result")[-1]
        assert found(whole, "app.py") == KNOWN
        told.type("app.py", APP + MORE)
        first = told.until("first")[-1]
        assert found(first, "app.py") == [*KNOWN, ("RS101", 13)]


def test_text_that_ends_in_the_middle_of_something_has_a_first_answer_too(tmp_path: Path) -> None:
    with analysis(tmp_path, {"client.py": CLIENT, "app.py": APP}) as told:
        told.open(app_py=APP)
        told.type("app.py", APP + MORE + "\n\ndef broken(\n")
        first = told.until("first")[-1]
        assert ("RS101", 13) in found(first, "app.py")
        assert "RS002" in [code for code, _ in found(first, "app.py")]


def test_settings_that_change_end_what_follows_and_the_whole_answer_tells(tmp_path: Path) -> None:
    with analysis(tmp_path, {"client.py": CLIENT, "app.py": APP, "resilint.yaml": "ignore: [RS503]\n"}) as told:
        told.open(app_py=APP)
        told.type("resilint.yaml", "ignore: [RS101]\n")
        told.until("result")
        told.type("app.py", APP + MORE)
        whole = told.until("result")[-1]
        assert found(whole, "app.py") == [("RS001", 7)]
