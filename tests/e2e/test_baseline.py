"""`resilint baseline` and `check --baseline`: a repository is adopted as it is, and only new findings are reported."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

FILE = ".resilint-baseline.json"
CODE = """\
def first():
    wait_long(1)


def second():
    wait_short(2)
"""


@pytest.fixture
def work(toy: Path) -> Path:
    (toy / "app.py").write_text(CODE)
    return toy


@pytest.fixture
def names(report: Run) -> Callable[..., list[str]]:
    """Runs `check` and gives path, line and code of each finding."""

    def run(*arguments: str, code: int = 1) -> list[str]:
        return [f"{one['path']}:{one['line']} {one['code']}" for one in report(*arguments, code=code)["findings"]]

    return run


def entries(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["findings"]
    return found


# ---------------------------------------------------------------- adopting


def test_one_command_adopts_what_there_is(work: Path, resilint: Run, names: Run) -> None:
    assert names() == ["app.py:2 RS101", "app.py:6 RS102"]
    assert resilint("baseline", code=0).stdout == f"{FILE}: 2 findings\n"
    assert names(code=0) == []
    assert "no findings in 1 file" in (out := resilint("check", code=0).stdout) and ", 2 in the baseline" in out
    assert names("--no-baseline") == ["app.py:2 RS101", "app.py:6 RS102"]
    (work / "app.py").write_text("wait_long(0)\n" + CODE)
    assert names() == ["app.py:1 RS101"]


def test_the_file_has_one_sorted_entry_a_line(work: Path, resilint: Run) -> None:
    (work / "b.py").write_text("wait_well(1)\n")
    (work / "a.py").write_text("wait_well(1)\nwait_well(1)\n")
    resilint("baseline", code=0)
    text = (work / FILE).read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith('{"path"')]
    assert lines == sorted(lines) and len(lines) == 5
    assert all("1" not in json.loads(line.removesuffix(","))["message"] for line in lines), "numbers change too easily"
    assert resilint("baseline", code=0).stdout == f"{FILE}: 5 findings (0 new, 0 gone)\n"
    assert (work / FILE).read_text("utf-8") == text


def test_nothing_is_written_where_nothing_changed(work: Path, resilint: Run) -> None:
    resilint("baseline", code=0)
    os.utime(work / FILE, (0, 0))
    resilint("baseline", "--quiet", code=0)
    assert (work / FILE).stat().st_mtime == 0


def test_no_finding_is_a_baseline_too(toy: Path, resilint: Run) -> None:
    assert resilint("baseline", code=0).stdout == f"{FILE}: 0 findings\n"
    assert json.loads((toy / FILE).read_text()) == {"version": 1, "findings": []}
    assert "in the baseline" not in resilint("check", code=0).stdout


def test_the_baseline_itself_is_no_part_of_the_program(work: Path, resilint: Run, report: Run) -> None:
    resilint("baseline", code=0)
    assert report(code=0)["stats"]["files"] == 1
    (work / "resilint.yaml").write_text("baseline: ci/known.json\n")
    (work / "ci").mkdir()
    resilint("baseline", code=0)
    (work / FILE).unlink()
    assert report(code=0)["stats"]["files"] == 1


# ---------------------------------------------------------------- what stays known


def test_moved_lines_other_edits_and_renamed_files_stay_known(work: Path, resilint: Run, names: Run) -> None:
    resilint("baseline", code=0)
    (work / "app.py").write_text("# comment\n\n" + CODE.replace("wait_long(1)", "x = wait_long(1,\n        2)"))
    assert names(code=0) == [], "moved down, and the line edited"
    (work / "sub").mkdir()
    (work / "app.py").write_text(CODE)
    (work / "app.py").rename(work / "sub" / "other.py")
    assert names(code=0) == [], "renamed"
    text = (work / "sub" / "other.py").read_text()
    (work / "sub" / "other.py").write_text(text.replace("wait_long(1)", "x = wait_long(1)"))
    assert names(code=0) == [], "renamed and edited: the other finding says where the file went"
    assert resilint("baseline", code=0).stdout == f"{FILE}: 2 findings (0 new, 0 gone)\n"
    assert {one["path"] for one in entries(work / FILE)} == {"sub/other.py"}


def test_a_copy_is_new(work: Path, resilint: Run, names: Run) -> None:
    resilint("baseline", code=0)
    (work / "copy.py").write_text(CODE)
    assert names() == ["copy.py:2 RS101", "copy.py:6 RS102"]


def test_one_more_in_the_same_function_is_new(work: Path, resilint: Run, names: Run) -> None:
    resilint("baseline", code=0)
    (work / "app.py").write_text(CODE.replace("wait_long(1)", "wait_long(9)\n    wait_long(1)"))
    assert names() == ["app.py:2 RS101"]


def test_a_mended_fault_pays_for_none_elsewhere(work: Path, resilint: Run, names: Run) -> None:
    resilint("baseline", code=0)
    (work / "app.py").write_text(CODE.replace("wait_long(1)", "pass"))
    (work / "new.py").write_text("def first():\n    wait_long(1)\n")
    assert names() == ["new.py:2 RS101"]


# ---------------------------------------------------------------- shrinking


def test_what_no_longer_occurs_is_said_and_dropped(work: Path, resilint: Run) -> None:
    resilint("baseline", code=0)
    (work / "app.py").write_text(CODE.replace("wait_long(1)", "pass"))
    told = resilint("check", code=0).stderr
    assert told == "1 finding of the baseline no longer occurs: run `resilint baseline` to drop it\n"
    assert "no longer there: app.py: RS101: wait-long can wait for # s\n" in resilint("check", "-v", code=0).stderr
    assert resilint("check", "--quiet", code=0).stderr == ""
    assert resilint("baseline", code=0).stdout == f"{FILE}: 1 finding (0 new, 1 gone)\n"
    assert resilint("check", code=0).stderr == ""
    (work / "app.py").write_text(CODE)
    resilint("check", code=1)


def test_what_was_not_asked_for_is_not_called_gone(work: Path, resilint: Run) -> None:
    (work / "b.py").write_text("wait_short(1)\nwait_maybe(1)\n")
    (work / "resilint.yaml").write_text("confidence: low\n")
    assert resilint("baseline", code=0).stdout == f"{FILE}: 4 findings\n"
    for options in (["--select", "RS101"], ["--ignore", "RS102"], ["b.py"], ["--confidence", "high"], ["app.py", "b.py"]):
        assert "no longer" not in resilint("check", *options, code=0).stderr, options


def test_a_part_is_renewed_and_the_rest_stays(work: Path, resilint: Run, names: Run) -> None:
    (work / "b.py").write_text("wait_short(1)\n")
    resilint("baseline", code=0)
    (work / "b.py").write_text("wait_well(1)\n")
    (work / "app.py").write_text("wait_well(1)\n")
    assert resilint("baseline", "b.py", code=0).stdout == f"{FILE}: 3 findings (1 new, 1 gone)\n"
    assert [f"{one['path']} {one['code']}" for one in entries(work / FILE)] == ["app.py RS101", "app.py RS102", "b.py RS201"]
    assert names(code=0) == ["app.py:1 RS201"]


def test_a_rule_that_breaks_drops_nothing(with_broken_rule: Path, resilint: Run) -> None:
    (with_broken_rule / "app.py").write_text(CODE + "wait_long(1)\n")
    resilint("baseline", code=3)
    before = entries(with_broken_rule / FILE)
    assert "RS999" in {one["code"] for one in before}
    (with_broken_rule / "app.py").write_text("")
    failed = resilint("baseline", code=3)
    assert "RS999: ZeroDivisionError" in failed.stderr
    assert {one["code"] for one in entries(with_broken_rule / FILE)} == {"RS999"}


# ---------------------------------------------------------------- where


def test_it_lies_beside_the_settings_and_speaks_of_paths_from_there(
    work: Path, resilint: Run, names: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "resilint.yaml").write_text("severity: {RS999: info}\n")
    (work / "svc").mkdir()
    (work / "app.py").rename(work / "svc" / "app.py")
    (work / "other.py").write_text("wait_long(1)\n")
    monkeypatch.chdir(work / "svc")
    assert resilint("baseline", code=0).stdout == "../.resilint-baseline.json: 3 findings\n"
    assert {one["path"] for one in entries(work / FILE)} == {"svc/app.py", "resilint.yaml"}, "what is wrong with the settings too"
    assert names(code=0) == []
    monkeypatch.chdir(work)
    assert names() == ["other.py:1 RS101"]
    resilint("baseline", code=0)
    monkeypatch.chdir(work / "svc")
    assert names(code=0) == []
    assert "1 new" not in resilint("baseline", code=0).stdout and len(entries(work / FILE)) == 4


def test_without_settings_it_lies_at_the_top_of_the_repository(
    work: Path, resilint: Run, names: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    (work / "svc").mkdir()
    (work / "app.py").rename(work / "svc" / "app.py")
    monkeypatch.chdir(work / "svc")
    resilint("baseline", code=0)
    assert entries(work / FILE)[0]["path"] == "svc/app.py"
    monkeypatch.chdir(work)
    assert names(code=0) == []


def test_the_settings_or_the_command_line_name_another_file(work: Path, resilint: Run, names: Run) -> None:
    (work / "ci").mkdir()
    resilint("baseline", "--baseline", "ci/one.json", code=0)
    assert names("--baseline", "ci/one.json", code=0) == [] and len(names()) == 2
    (work / "resilint.yaml").write_text("baseline: ci/one.json\n")
    assert names(code=0) == []
    (work / "ci" / "one.json").unlink()
    error = resilint("check", code=2).stderr
    assert error == "resilint: ci/one.json: no such baseline: write it with `resilint baseline`\n"
    assert "ci/two.json: no such baseline" in resilint("check", "--baseline", "ci/two.json", code=2).stderr
    assert "its folder does not exist" in resilint("baseline", "--baseline", "nowhere/two.json", code=2).stderr
    assert "exclude each other" in resilint("check", "--baseline", "x", "--no-baseline", code=2).stderr


@pytest.mark.parametrize("path", ["../known.json", "/etc/known.json", "a/../../known.json"])
def test_settings_name_no_file_elsewhere(work: Path, resilint: Run, path: str) -> None:
    (work / "resilint.yaml").write_text(f"baseline: {path}\n")
    for command in ("check", "baseline"):
        error = resilint(command, code=2).stderr
        assert error.startswith("resilint: resilint.yaml:1:11: baseline must be a path below the folder of the settings")


def test_links_lead_no_baseline_out(work: Path, tmp_path: Path, resilint: Run) -> None:
    (tmp_path / "outside").mkdir()
    (work / "ci").symlink_to(tmp_path / "outside")
    (work / "resilint.yaml").write_text("baseline: ci/known.json\n")
    assert "ci/known.json: lies outside of the folder of the settings" in resilint("baseline", code=2).stderr
    assert list((tmp_path / "outside").iterdir()) == []
    (work / "resilint.yaml").unlink()
    (tmp_path / "precious").write_text('{"version": 1, "findings": []}')
    (work / FILE).symlink_to(tmp_path / "precious")
    resilint("baseline", code=0)
    assert (tmp_path / "precious").read_text() == '{"version": 1, "findings": []}' and not (work / FILE).is_symlink()


# ---------------------------------------------------------------- what is wrong with a file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1:1: not valid JSON"),
        ('{"version": 1,\n"findings": [\n{"path": "a"\n]\n}', ":4:1: not valid JSON"),
        ("[]", ":1:1: not a baseline of resilint: it has no version"),
        ('{"version": "x"}', ":1:13: version must be 1, not 'x'"),
        ('{\n"version": 2,\n"findings": 5}', ":2:12: version 2 is of a newer resilint"),
        ('{"version": 1, "findings": {}}', ":1:28: findings must be a list"),
        ('{"version": 1, "findings": [\n{"path": "a", "code": "RS101"},\n7]}', ":3:1: a finding must be an object"),
        ('{"version": 1, "findings": [\n{"path": "a"}]}', ":2:1: a finding needs 'code' as text"),
        ('{"version": 1, "findings": [\n{"path": "a", "code": "RS1", "line": 3}]}', ":2:1: a finding needs 'line' as text"),
        ('{\n"version": 1,\n<<<<<<< HEAD\n=======\n>>>>>>> x\n}', ":3:1: a merge conflict: take either side"),
        ("[" * 100_000, ": not valid JSON: nested too deeply"),
        ('{"version": ' + "1" * 10_000 + "}", ": not valid JSON: nested too deeply, or a number too long"),
    ],
)
def test_a_broken_file_is_one_line_with_its_place(work: Path, resilint: Run, text: str, said: str) -> None:
    (work / FILE).write_text(text)
    for command in ("check", "baseline"):
        error = resilint(command, code=2).stderr
        assert error.startswith(f"resilint: {FILE}{said}") and error.count("\n") == 1, error
    assert (work / FILE).read_text() == text, "what is no baseline is not overwritten"


def test_what_is_no_file_is_refused(work: Path, resilint: Run) -> None:
    (work / FILE).mkdir()
    assert f"{FILE}: is a directory, not a file" in resilint("check", code=2).stderr
    (work / FILE).rmdir()
    os.mkfifo(work / FILE)
    assert f"{FILE}: is no regular file" in resilint("check", code=2).stderr


def test_names_of_files_that_are_no_text_stay_known(work: Path, resilint: Run, names: Run) -> None:
    for name in (b"caf\xe9.py", "über.py".encode()):
        Path(os.fsdecode(os.fsencode(work) + b"/" + name)).write_text("wait_long(1)\n")
    resilint("baseline", code=0)
    assert names(code=0) == []
    assert "über.py" in (work / FILE).read_text("utf-8")


def test_json_says_how_many_are_known(work: Path, resilint: Run, report: Run) -> None:
    assert "known" not in report()["stats"]
    resilint("baseline", code=0)
    assert report(code=0)["stats"]["known"] == {"baseline": 2}


def test_git_merges_what_two_branches_change_in_different_places(work: Path, resilint: Run, names: Run) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        subprocess.run(["git", *who, *arguments], cwd=work, check=True, capture_output=True)

    for number in range(9):
        (work / f"m{number}.py").write_text("wait_long(1)\n")
    git("init", "-q", "-b", "main")
    resilint("baseline", code=0)
    git("add", ".")
    git("commit", "-qm", "adopted")
    git("checkout", "-qb", "topic")
    (work / "m1.py").write_text("")
    (work / "m5.py").write_text("wait_short(1)\n")
    resilint("baseline", code=0)
    git("commit", "-qam", "topic")
    git("checkout", "-q", "main")
    (work / "m3.py").write_text("")
    (work / "m8.py").write_text("wait_well(1)\n")
    resilint("baseline", code=0)
    git("commit", "-qam", "main")
    git("merge", "-q", "topic")
    assert names(code=0) == []
    assert resilint("baseline", code=0).stdout.endswith("(0 new, 0 gone)\n")


def test_known_findings_are_not_fixed(toy: Path, resilint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    (toy / "resilint.yaml").write_text("fix: {client_timeout: 2s}\n")
    known = "import requests\n\n\ndef fetch(url):\n    return requests.get(url)\n"
    (toy / "known.py").write_text(known)
    monkeypatch.chdir(toy)
    resilint("baseline", code=0)
    (toy / "new.py").write_text(known)
    resilint("check", "--fix", code=0)
    assert (toy / "known.py").read_text() == known
    assert "timeout=2" in (toy / "new.py").read_text()
