"""What `--fix` and `--diff` do to files: encodings, line ends, links, changes in between, edits that collide."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from resilint import Edit, Finding, Fix, Span
from resilint.cli import main
from resilint.fix.fixer import Fixer, replace_file
from resilint.program import Program
from resilint.run import Texts

SETTINGS = "fix: {client_timeout: 2s}\n"
APP = "import requests\n\n\ndef page(url):\n    return requests.get(url)\n"
FIXED = APP.replace("get(url)", "get(url, timeout=2)")

Check = Callable[..., Result]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    (tmp_path / "resilint.yaml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    return lambda *options: CliRunner().invoke(main, ["check", "--jobs", "1", "--no-cache", *options])


def test_a_value_of_the_settings_is_written_and_what_remains_is_reported(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    done = check("--fix")
    assert done.exit_code == 0
    assert (tmp_path / "app.py").read_text() == FIXED
    assert done.stderr == "fixed 1 finding in 1 file: 1 RS101\n"
    assert done.stdout.startswith("no findings")


def test_a_second_time_nothing_changes(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    check("--fix")
    before = os.stat(tmp_path / "app.py")
    assert check("--fix").stderr == ""
    assert os.stat(tmp_path / "app.py").st_mtime_ns == before.st_mtime_ns


def test_an_invented_value_is_written_only_when_unsafe_fixes_are_asked_for(check: Check, tmp_path: Path) -> None:
    (tmp_path / "resilint.yaml").unlink()
    (tmp_path / "app.py").write_text(APP)
    assert check("--fix").exit_code == 1
    assert (tmp_path / "app.py").read_text() == APP
    assert check("--fix", "--unsafe-fixes").exit_code == 0
    assert "timeout=10" in (tmp_path / "app.py").read_text()


def test_unsafe_fixes_are_shown_when_they_are_asked_for_and_safe_ones_always(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    assert "\n  fix: Set timeout to 2 s\n" in check().stdout
    (tmp_path / "resilint.yaml").unlink()
    assert "fix:" not in check().stdout
    shown = check("--unsafe-fixes").stdout
    assert "\n  unsafe fix: Set timeout to 10 s (invented: the settings say no fix.client_timeout)\n" in shown
    assert (tmp_path / "app.py").read_text() == APP


def test_diff_writes_nothing_and_says_by_its_status_whether_there_is_anything(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    shown = check("--diff")
    assert shown.exit_code == 1
    assert shown.stdout == (
        "--- app.py\n+++ app.py\n@@ -2,4 +2,4 @@\n \n \n def page(url):\n"
        "-    return requests.get(url)\n+    return requests.get(url, timeout=2)\n"
    )
    assert (tmp_path / "app.py").read_text() == APP
    (tmp_path / "app.py").write_text(FIXED)
    assert (check("--diff").exit_code, check("--diff").stdout) == (0, "")


def test_a_report_that_would_not_be_written_beside_a_diff_is_refused(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    done = check("--diff", "--output", "sarif:found.sarif")
    assert done.exit_code == 2 and "--diff writes no report" in done.stderr
    assert not (tmp_path / "found.sarif").exists()


def test_a_diff_tells_of_a_missing_line_end(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP.rstrip("\n"))
    assert check("--diff").stdout.endswith(
        "-    return requests.get(url)\n\\ No newline at end of file\n"
        "+    return requests.get(url, timeout=2)\n\\ No newline at end of file\n"
    )


def test_what_is_not_selected_or_suppressed_is_not_fixed(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP.replace("(url)\n", "(url)  # resilint: ignore[RS101] known\n"))
    (tmp_path / "other.py").write_text(APP)
    check("--fix", "--ignore", "RS101")
    check("--fix", "app.py")
    assert (tmp_path / "other.py").read_text() == APP
    assert "timeout" not in (tmp_path / "app.py").read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(APP.replace("\n", "\r\n").encode(), FIXED.replace("\n", "\r\n").encode(), id="carriage returns"),
        pytest.param(b"\xef\xbb\xbf" + APP.encode(), b"\xef\xbb\xbf" + FIXED.encode(), id="byte order mark"),
        pytest.param(
            b"# coding: latin-1\n# \xe4\xf6\n" + APP.encode(), b"# coding: latin-1\n# \xe4\xf6\n" + FIXED.encode(), id="latin-1"
        ),
        pytest.param(APP.replace("\n", "\r").encode(), FIXED.replace("\n", "\r").encode(), id="carriage returns alone"),
        pytest.param(
            APP.replace("(url)\n", "(url, params={'ß𝄞': 1})\n").encode(),
            APP.replace("(url)\n", "(url, params={'ß𝄞': 1}, timeout=2)\n").encode(),
            id="characters of several bytes",
        ),
    ],
)
def test_encoding_and_line_ends_stay_as_they_are(check: Check, tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "app.py").write_bytes(before)
    check("--fix")
    assert (tmp_path / "app.py").read_bytes() == after


@pytest.mark.parametrize(
    ("call", "fixed"),
    [
        ("get(url,)", "get(url, timeout=2)"),
        ("get((url))", "get((url), timeout=2)"),
        ("get(\n        url\n    )", "get(\n        url,\n        timeout=2\n    )"),
        ("get(\n        url  # where\n    )", "get(\n        url,  # where\n        timeout=2\n    )"),
        ("get(\n        url,  # a, b)\n    )", "get(\n        url,  # a, b)\n        timeout=2,\n    )"),
        ("get(url,\n                        params={})", "get(url,\n                        params={}, timeout=2)"),
        ("get(requests.get(url).text)", "get(requests.get(url, timeout=2).text, timeout=2)"),
    ],
)
def test_an_argument_is_added_in_the_form_of_the_call(check: Check, tmp_path: Path, call: str, fixed: str) -> None:
    (tmp_path / "app.py").write_text(APP.replace("get(url)", call))
    check("--fix")
    assert (tmp_path / "app.py").read_text() == APP.replace("get(url)", fixed).replace(",)", ")").replace("(url, )", "(url)")


def test_the_mode_of_a_file_is_kept(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    os.chmod(tmp_path / "app.py", 0o750)
    check("--fix")
    assert stat.S_IMODE(os.stat(tmp_path / "app.py").st_mode) == 0o750
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app.py", "resilint.yaml"]


def test_a_file_that_does_not_parse_is_left_alone(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP + "\ndef (:\n")
    done = check("--fix")
    assert (tmp_path / "app.py").read_text() == APP + "\ndef (:\n"
    assert done.exit_code == 1 and "RS101" in done.stdout and done.stderr == ""


def test_a_link_inside_the_root_stays_a_link(check: Check, tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text(APP)
    assert replace_file(tmp_path / "real.py", tmp_path, APP.encode(), FIXED.encode()) == ""
    os.symlink("real.py", tmp_path / "app.py")
    assert replace_file(tmp_path / "app.py", tmp_path, FIXED.encode(), APP.encode()) == ""
    assert (tmp_path / "app.py").is_symlink() and (tmp_path / "real.py").read_text() == APP


def test_nothing_outside_of_the_root_is_written(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "app.py").write_text(APP)
    os.symlink("../app.py", root / "app.py")
    assert replace_file(root / "app.py", root, APP.encode(), FIXED.encode()) == "it lies outside of the root"
    assert replace_file(root / "../app.py", root, APP.encode(), FIXED.encode()) == "it lies outside of the root"
    assert (tmp_path / "app.py").read_text() == APP


def test_what_has_changed_since_it_was_read_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP + "# new\n")
    assert replace_file(tmp_path / "app.py", tmp_path, APP.encode(), FIXED.encode()) == "it has changed since it was read"
    assert (tmp_path / "app.py").read_text() == APP + "# new\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app.py"]


def test_a_helper_is_fixed_once_for_all_its_callers(check: Check, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(APP)
    users = "from net import page\n\n\ndef one():\n    return page('a')\n\n\ndef two():\n    return page('b')\n"
    (tmp_path / "users.py").write_text(users)
    assert check("--fix").stderr == "fixed 1 finding in 1 file: 1 RS101\n"
    assert (tmp_path / "net.py").read_text() == FIXED
    assert (tmp_path / "users.py").read_text() == users


@pytest.mark.parametrize(
    "text",
    [
        "import requests\n\n\ndef cached(url):\n    return b''\n\n\ndef page(url, fresh):\n"
        "    get = requests.get if fresh else cached\n    return get(url)\n",
        "import requests\n\n\ndef cached(url):\n    return b''\n\n\ndef fetch(url, timeout=None):\n"
        "    return requests.get(url, timeout=timeout)\n\n\ndef page(url, fresh):\n"
        "    get = fetch if fresh else cached\n    return get(url)\n",
    ],
    ids=["of a library", "of the program"],
)
def test_what_may_be_another_function_is_given_no_argument_that_this_one_may_not_take(
    check: Check, tmp_path: Path, text: str
) -> None:
    (tmp_path / "app.py").write_text(text)
    assert "RS101" in check("--fix", "--unsafe-fixes").stdout
    assert (tmp_path / "app.py").read_text() == text


def test_a_command_in_a_file_without_a_reader_is_fixed_too(check: Check, tmp_path: Path) -> None:
    (tmp_path / "resilint.yaml").write_text("fix: {request_timeout: 30s}\n")
    (tmp_path / "Procfile").write_text("web: gunicorn --timeout=0 shop:app\n")
    done = check("--fix")
    assert (tmp_path / "Procfile").read_text() == "web: gunicorn --timeout=30 shop:app\n"
    assert done.exit_code == 0 and done.stderr == "fixed 1 finding in 1 file: 1 RS104\n"


def test_room_in_a_queue_is_never_taken_for_safe(check: Check, tmp_path: Path) -> None:
    text = (
        "import queue\nimport threading\nimport requests\nfrom flask import Flask, request\n\napp = Flask(__name__)\n"
        "todo = queue.Queue()\n\n\n@app.post('/x')\ndef x():\n    todo.put(request.json)\n    return ''\n\n\n"
        "def work():\n    while True:\n        requests.post('https://a.internal', json=todo.get(), timeout=2)\n\n\n"
        "threading.Thread(target=work).start()\n"
    )
    (tmp_path / "app.py").write_text(text)
    (tmp_path / "resilint.yaml").write_text("fix: {queue_size: 50}\n")
    assert "RS401" in check("--fix", "--select", "RS401").stdout
    assert (tmp_path / "app.py").read_text() == text
    check("--fix", "--unsafe-fixes", "--select", "RS401")
    assert (tmp_path / "app.py").read_text() == text.replace("Queue()", "Queue(maxsize=50)")


def test_an_end_of_waiting_that_is_an_error_nobody_catches_is_never_taken_for_safe(check: Check, tmp_path: Path) -> None:
    text = (
        "import subprocess\nfrom flask import Flask\n\napp = Flask(__name__)\n\n\n"
        "@app.post('/pdf')\ndef pdf():\n    subprocess.run(['pdflatex', 'a.tex'], check=True)\n    return ''\n"
    )
    (tmp_path / "app.py").write_text(text)
    (tmp_path / "resilint.yaml").write_text("fix: {wait_timeout: 20s}\n")
    assert "RS109" in check("--fix").stdout
    assert (tmp_path / "app.py").read_text() == text
    check("--fix", "--unsafe-fixes")
    assert (tmp_path / "app.py").read_text() == text.replace("check=True", "check=True, timeout=20")


GO = """package main

import (
	"log"
	"net/http"
)

func main() {
	srv := &http.Server{
		Addr:    ":8080", // inside only
		Handler: nil,
	}
	log.Fatal(srv.ListenAndServe())
}
"""


def test_go_stays_as_gofmt_writes_it(check: Check, tmp_path: Path) -> None:
    gofmt = shutil.which("gofmt") or shutil.which("gofmt", path="/usr/local/go/bin:/usr/lib/go/bin")
    if gofmt is None:
        pytest.skip("gofmt, which is asked about the form, is not installed")
    (tmp_path / "main.go").write_text(GO)
    check("--fix", "--unsafe-fixes")
    fixed = (tmp_path / "main.go").read_text()
    assert "ReadHeaderTimeout: 30 * time.Second," in fixed
    assert subprocess.run([gofmt, "-d", str(tmp_path / "main.go")], capture_output=True, text=True).stdout == ""


# ---------------------------------------------------------------- fixes that other rules may make


def fixer_of(root: Path, text: str) -> tuple[Fixer, Program, Texts]:
    from resilint.run import link, read_program
    from resilint.scope import Scope
    from resilint.settings import Settings

    (root / "app.py").write_text(text)
    texts = Texts(root)
    settings = Settings()
    program = link(read_program(Scope(root, root), settings, texts), settings, texts)
    return Fixer(root), program, texts


def finding(*edits: tuple[int, int, str], line: int = 1) -> Finding:
    from resilint import Confidence, Severity

    made = tuple(Edit(Span("app.py", line, at, line, end), text) for at, end, text in edits)
    return Finding(made[0].span, "XX1", "x", Severity.ERROR, "x", Confidence.HIGH, (), Fix("Do it", made, True))


def test_of_two_fixes_at_one_place_the_first_is_made(tmp_path: Path) -> None:
    fixer, program, texts = fixer_of(tmp_path, "x = 1\n")
    assert fixer(program, texts, [finding((5, 6, "2")), finding((5, 6, "3")), finding((1, 2, "y"))])
    assert texts.source("app.py") == b"y = 2\n"
    assert len(fixer.fixed) == 2


def test_two_findings_that_want_the_same_edit_share_it(tmp_path: Path) -> None:
    fixer, program, texts = fixer_of(tmp_path, "x = 1\n")
    assert fixer(program, texts, [finding((5, 6, "2")), finding((5, 6, "2"))])
    assert texts.source("app.py") == b"x = 2\n"


def test_an_edit_that_breaks_the_file_is_dropped_and_said(tmp_path: Path) -> None:
    fixer, program, texts = fixer_of(tmp_path, "x = f(1)\n")
    assert fixer(program, texts, [finding((5, 6, "def")), finding((1, 2, "y"))])
    assert texts.source("app.py") == b"y = f(1)\n"
    ((path, why),) = fixer.problems
    assert path == "app.py" and why.startswith("it would no longer parse")


def test_what_python_refuses_and_a_lenient_parser_takes_is_dropped_too(tmp_path: Path) -> None:
    fixer, program, texts = fixer_of(tmp_path, "f(a=1)\n")
    assert not fixer(program, texts, [finding((6, 6, ", a=2"))])
    assert "keyword argument repeated" in fixer.problems[0][1]


def test_a_lost_comment_is_no_fix(tmp_path: Path) -> None:
    fixer, program, texts = fixer_of(tmp_path, "x = 1  # why\n")
    assert not fixer(program, texts, [finding((5, 13, "2"))])
    assert fixer.problems == [("app.py", "the comment '# why' would be lost")]


def test_an_edit_of_a_file_that_is_not_of_the_program_is_refused(tmp_path: Path) -> None:
    fixer, program, texts = fixer_of(tmp_path, "x = 1\n")
    inside = finding((1, 1, "y"))
    outside = Fix("Do it", (Edit(Span("../app.py", 1, 1, 1, 1), "y"),), True)
    bad = msgspec.structs.replace(inside, fix=outside)
    assert not fixer(program, texts, [bad])
    assert fixer.problems == [("../app.py", "it is no file of the program")]


def test_a_file_that_changed_after_it_was_read_is_not_fixed(tmp_path: Path) -> None:
    fixer, program, texts = fixer_of(tmp_path, "x = 1\n")
    (tmp_path / "app.py").write_text("y = 1\nx = 1\n")
    assert not fixer(program, texts, [finding((5, 6, "2"))])
    assert fixer.problems == [("app.py", "it has changed since it was read")]


def test_libcst_is_loaded_only_when_python_is_fixed(check: Check, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    program = "import sys; from resilint.cli import main\ntry: main({!r})\nexcept SystemExit: pass\nprint('libcst' in sys.modules)"
    for options, loaded in ((["check", "--format", "json"], "False"), (["check", "--diff"], "True")):
        done = subprocess.run([sys.executable, "-c", program.format(options)], capture_output=True, text=True, cwd=tmp_path)
        assert done.stdout.splitlines()[-1] == loaded, done.stderr
