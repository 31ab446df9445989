"""`resilint check`: what it prints, where it writes, and how it exits."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from resilint.cli import main

Run = Callable[..., Any]

SOURCE = """\
wait_long(1)
wait_short(2)
wait_well(3)
wait_maybe(4)
wait_new(5)
"""


@pytest.fixture
def work(toy: Path) -> Path:
    (toy / "app.py").write_text(SOURCE)
    return toy


def codes(report: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in report["findings"]]


def test_text(work: Path, resilint: Run) -> None:
    out = resilint("check", code=1).stdout
    assert out.startswith(
        "app.py:1:1: error RS101 wait-long: wait-long can wait for 3 s\n"
        "  |\n"
        "1 | wait_long(1)\n"
        "  | ^^^^^^^^^\n"
        "\n"
        "app.py:2:1: warning RS102 wait-short: "
    )
    assert "\n\n1 error, 1 warning, 1 info in 1 file (0." in out
    assert "\x1b" not in out and "called here" not in out


def test_show_trace(work: Path, resilint: Run) -> None:
    assert "\n  1. app.py:1:1: called here\n" in resilint("check", "--show-trace", code=1).stdout


def test_statistics_and_quiet(work: Path, resilint: Run) -> None:
    out = resilint("check", "--statistics", code=1).stdout
    assert "\n1 RS101 wait-long\n1 RS102 wait-short\n1 RS201 wait-well\nwaits: 1 bounded, 1 endless, 0 unknown\n" in out
    quiet = resilint("check", "--quiet", "--select", "RS301", code=1).stdout
    assert quiet.startswith("app.py:5:1: error RS301") and "1 file" not in quiet


def test_nothing_found(toy: Path, resilint: Run) -> None:
    (toy / "app.py").write_text("x = 1\n")
    assert resilint("check", code=0).stdout.startswith("no findings in 1 file (")
    assert resilint("check", "-q", code=0).stdout == ""


def test_json(work: Path, report: Run) -> None:
    parsed = report()
    assert parsed["version"] == 1 and parsed["errors"] == []
    assert parsed["stats"]["files"] == 1 and parsed["stats"]["waits"] == {"bounded": 1, "endless": 1, "unknown": 0}
    first = parsed["findings"][0]
    assert len(first.pop("fingerprint")) == 24
    assert first == {
        "code": "RS101",
        "name": "wait-long",
        "severity": "error",
        "confidence": "high",
        "message": "wait-long can wait for 3 s",
        "path": "app.py",
        "line": 1,
        "column": 1,
        "end_line": 1,
        "end_column": 10,
        "trace": [{"path": "app.py", "line": 1, "column": 1, "message": "called here"}],
        "fixable": False,
    }


@pytest.mark.parametrize(
    ("arguments", "found", "code"),
    [
        ((), ["RS101", "RS102", "RS201"], 1),
        (("--select", "RS1"), ["RS101", "RS102"], 1),
        (("--select", "RS102"), ["RS102"], 1),
        (("--select", "wait-short,RS201"), ["RS102", "RS201"], 1),
        (("--select", "RS101", "--select", "RS102"), ["RS101", "RS102"], 1),
        (("--select", "RS301"), ["RS301"], 1),
        (("--select", "RS3"), ["RS301"], 1),
        (("--select", "all"), ["RS101", "RS102", "RS201"], 1),
        (("--ignore", "RS1"), ["RS201"], 0),
        (("--select", "RS1", "--ignore", "wait-long"), ["RS102"], 1),
        (("--confidence", "low"), ["RS101", "RS102", "RS201", "RS202"], 1),
        (("--ignore", "RS101", "--fail-on", "error"), ["RS102", "RS201"], 0),
        (("--ignore", "RS1", "--fail-on", "info"), ["RS201"], 1),
        (("--fail-on", "error"), ["RS101", "RS102", "RS201"], 1),
        (("--exit-zero",), ["RS101", "RS102", "RS201"], 0),
    ],
)
def test_what_is_reported_and_what_fails(work: Path, report: Run, arguments: tuple[str, ...], found: list[str], code: int) -> None:
    assert codes(report(*arguments, code=code)) == found


def test_settings_choose_too(work: Path, report: Run) -> None:
    settings = work / "resilint.yaml"
    settings.write_text("select: [RS1]\nignore: [RS101]\n")
    assert codes(report()) == ["RS102"]
    assert codes(report("--select", "RS1")) == ["RS101", "RS102"]
    assert codes(report("--ignore", "RS102", code=0)) == []
    settings.write_text("confidence: low\nseverity: {RS1: info, RS102: error}\n")
    assert [(one["code"], one["severity"]) for one in report()["findings"]] == [
        ("RS101", "info"),
        ("RS102", "error"),
        ("RS201", "info"),
        ("RS202", "error"),
    ]
    settings.write_text('per_path: {"*.py": {ignore: [wait-long, RS2]}}\n')
    assert codes(report()) == ["RS102"]
    settings.write_text("exclude: [app.py]\n")
    assert report(code=0)["stats"]["files"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "resilint: nowhere: no such file or directory\n"),
        (("--select", "RS11",), "resilint: --select: unknown rule 'RS11': did you mean 'RS101'?\n"),
        (("--ignore", "wait-lung"), "resilint: --ignore: unknown rule 'wait-lung': did you mean 'wait-long'?\n"),
        (("--output", "nowhere/out.json"), "resilint: --output nowhere/out.json: no such directory: nowhere\n"),
        (
            ("--output", "jason:out.json"),
            "resilint: --output jason:out.json: unknown format 'jason': known are text, json, sarif, github, gitlab, junit\n",
        ),
        (("--root", "nowhere"), "resilint: nowhere: no such file or directory\n"),
        (("--output", ""), "resilint: --output '' names no file\n"),
        (("--output", "json:"), "resilint: --output 'json:' names no file\n"),
        (
            ("--output", "sarif"),
            "resilint: --output sarif: a format without a file: write sarif:FILE, or ./sarif for a file of that name\n",
        ),
        (("--output", "json:a", "--output", "sarif:./a"), "resilint: --output: two reports cannot be written to ./a\n"),
        (("--output", "json:-", "--output", "-"), "resilint: --output: two reports cannot be written to -\n"),
        (("--confidence", "foo"), "resilint: invalid value for '--confidence': 'foo' is not one of 'low', 'medium', 'high'\n"),
        (("--jobs", "0"), "resilint: invalid value for '--jobs': 0 is not in the range x>=1\n"),
        (("",), "resilint: an empty path names no file\n"),
        (("--select", ""), "resilint: --select '' names no rule\n"),
        (("--ignore", " , "), "resilint: --ignore ' , ' names no rule\n"),
        (("loop.py",), "resilint: loop.py: too many levels of symbolic links\n"),
        (("a" * 300,), f"resilint: {'a' * 300}: file name too long\n"),
        (("two\nlines",), "resilint: two lines: no such file or directory\n"),
        (("--root", "other", "."), "resilint: .: outside of the root other\n"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(work: Path, resilint: Run, arguments: tuple[str, ...], message: str) -> None:
    (work / "other").mkdir()
    (work / "loop.py").symlink_to("loop.py")
    result = resilint("check", *arguments, code=2)
    assert (result.stdout, result.stderr) == ("", message)


@pytest.mark.parametrize("argument", ["--format=xml", "--confidence=sure", "--fail-on=never", "--jobs=0", "--no-such"])
def test_wrong_options(work: Path, resilint: Run, argument: str) -> None:
    assert resilint("check", argument, code=2).stdout == ""


def test_wrong_settings(work: Path, resilint: Run) -> None:
    (work / "resilint.yaml").write_text("selct: []\nfix: {client_timeout: 2}\n")
    result = resilint("check", code=2)
    assert result.stdout == ""
    assert result.stderr == (
        "resilint: resilint.yaml:1:1: unknown key 'selct': did you mean 'select'?\n"
        "resilint.yaml:2:23: fix.client_timeout needs a unit, for example 2ms or 2s\n"
    )


def test_outputs(work: Path, resilint: Run) -> None:
    out = resilint("check", "--output", "json:a.json", "--output", "text:b.txt", code=1).stdout
    assert out.startswith("app.py:1:1: error")
    assert json.loads((work / "a.json").read_text())["version"] == 1
    assert (work / "b.txt").read_text().startswith("app.py:1:1: error")
    assert resilint("check", "--format", "json", "--output", "c.json", code=1).stdout == ""
    assert json.loads((work / "c.json").read_text())["findings"]
    assert json.loads(resilint("check", "--output", "json:-", code=1).stdout)["findings"], "nothing else is printed beside it"


def test_a_broken_rule_leaves_the_others_alone(with_broken_rule: Path, report: Run, resilint: Run) -> None:
    (with_broken_rule / "app.py").write_text("wait_long(1)\nwait_short(2)  # resilint: ignore[RS999] the rule is broken\n")
    parsed = report(code=3)
    assert parsed["errors"] == [{"path": "", "message": "RS999: ZeroDivisionError: no luck"}]
    assert codes(parsed) == ["RS101", "RS999", "RS102"]
    assert report("--exit-zero", code=3)["errors"]
    result = resilint("check", "-v", code=3)
    assert "internal error: RS999: ZeroDivisionError: no luck\n" in result.stdout
    assert "Traceback" in result.stderr


def test_a_broken_reader_names_the_file(work: Path, report: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "b.yaml").write_text("a: 1\n")
    from resilint import read

    def broken(data: bytes, kind: str, dialect: str) -> bytes:
        if kind == "yaml":
            raise ValueError("bad")
        return whole(data, kind, dialect)

    whole = read.read
    monkeypatch.setattr(read, "read", broken)
    parsed = report(code=3)
    assert parsed["errors"] == [{"path": "b.yaml", "message": "the yaml reader failed: ValueError: bad"}]
    assert codes(parsed) == ["RS101", "RS102", "RS201"]


def test_a_file_that_does_not_parse_gives_one_finding(work: Path, report: Run) -> None:
    (work / "bad.py").write_text("def f(:\n    wait_long(1)\n\ndef g(:\n    pass\n")
    parsed = report()
    found = [(one["code"], one["path"], one["severity"], one["confidence"]) for one in parsed["findings"]]
    assert found.count(("RS002", "bad.py", "warning", "high")) == 1
    assert ("RS101", "bad.py", "error", "high") in found
    assert report("--select", "RS102")["findings"][-1]["code"] == "RS002"
    assert "RS002" not in codes(report("--ignore", "RS002"))


def test_a_template_of_code_is_no_broken_code(toy: Path, report: Run) -> None:
    (toy / "{{name}}").mkdir()
    (toy / "{{name}}" / "app.py").write_text("import {{name}}\nimport .\n")
    (toy / "service.py").write_text("import os\n{% if cached %}\nimport cache\n{% endif %}\n")
    assert [one["code"] for one in report(code=0)["findings"]] == []
    (toy / "service.py").write_text("import os\nif cached %\nimport cache\n")
    assert [one["code"] for one in report(code=1)["findings"]] == ["RS002"]


def test_settings_with_tags_in_lines_of_their_own_are_a_template(toy: Path, report: Run) -> None:
    broken = "listeners:\n  - port: 8448\n{}type: tls\n{}    - : {{{{ 'a\n"
    (toy / "server.yaml").write_text(broken.format("  {% if tls %}\n", "{% else %}\n"))
    (toy / "unit.service").write_text("[Service]\nExecStart=/bin/true\n%IPV6_FLAG%\n")
    assert [one["code"] for one in report(code=0)["findings"]] == []
    (toy / "server.yaml").write_text(broken.format("", ""))
    (toy / "unit.service").write_text("[Service]\nExecStart=/bin/true\nIPV6 100%\n")
    assert [one["code"] for one in report(code=1)["findings"]] == ["RS002", "RS002"]


def test_json_with_gaps_is_a_template(toy: Path, report: Run) -> None:
    (toy / "search.json").write_text('{{- $data := "x" -}}\n{\n  "title": {{ .Title | jsonify }}\n}\n')
    (toy / "index.json").write_text('{\n  "pages": [{{ range .Pages }}"{{ .Title }}"{{ end }}]\n}\n')
    assert [one["code"] for one in report(code=0)["findings"]] == []
    (toy / "search.json").write_text('{\n  "title": "{{ .Title }}",\n  "size": \n}\n')
    (toy / "index.json").write_text('{\n  "pages": [{ {]\n}\n')
    assert [one["code"] for one in report(code=1)["findings"]] == ["RS002", "RS002"]


def test_values_that_begin_with_a_gap_for_the_reader_are_a_template(toy: Path, report: Run) -> None:
    (toy / "sample.yaml").write_text("containers:\n  - image: {username}/orders:latest\n    name: orders\n")
    assert [one["code"] for one in report(code=0)["findings"]] == []
    (toy / "sample.yaml").write_text("containers:\n  - image: {username: latest}}\n    name: orders\n")
    assert [one["code"] for one in report(code=1)["findings"]] == ["RS002"]


def test_broken_test_data_does_not_stop_a_gate(toy: Path, report: Run) -> None:
    (toy / "tests").mkdir()
    (toy / "tests" / "broken.json").write_text("{")
    assert report(code=0)["findings"] == []
    assert [(one["code"], one["severity"]) for one in report("--confidence", "low", code=0)["findings"]] == [("RS002", "info")]


def test_skipped_files_are_said_on_stderr(work: Path, resilint: Run) -> None:
    (work / "x_pb2.py").write_text("")
    (work / "gen.go").write_text("// Code generated by hand. DO NOT EDIT.\npackage a\n")
    result = resilint("check", "-v", code=1)
    assert result.stderr == (
        "skipped gen.go: generated or minified\nskipped x_pb2.py: generated or minified\n"
        "1 finding of lower confidence not shown: --confidence low shows all\n"
    )


def test_unknown_rules_in_settings(work: Path, report: Run) -> None:
    (work / "resilint.yaml").write_text("select: [RS1, no-such]\nseverity: {wait-lung: info}\n")
    found = [(one["code"], one["path"], one["line"], one["column"], one["message"]) for one in report()["findings"]]
    assert found[2:] == [
        ("RS003", "resilint.yaml", 1, 15, "unknown rule 'no-such' in select"),
        ("RS003", "resilint.yaml", 2, 12, "unknown rule 'wait-lung' in severity: did you mean 'wait-long'?"),
    ]


def test_same_input_same_bytes(work: Path, resilint: Run) -> None:
    for name in ("z.py", "m.py", "b/c.py"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(SOURCE)
    runs = [
        json.loads(resilint("check", "--format", "json", *more, code=1).stdout)
        for more in ([], [], ["--no-cache"], ["--jobs", "2"], ["--no-cache", "--jobs", "1"])
    ]
    for one in runs:
        one["stats"].pop("seconds")
    assert all(one == runs[0] for one in runs)
    assert [one["path"] for one in runs[0]["findings"]] == sorted(one["path"] for one in runs[0]["findings"])


def test_fingerprints_survive_moved_lines(work: Path, report: Run) -> None:
    def prints() -> list[str]:
        return [one["fingerprint"] for one in report()["findings"]]

    before = prints()
    (work / "app.py").write_text("# a line more\n\nif True:\n" + "".join(f"    {line}\n" for line in SOURCE.splitlines()))
    assert prints() == before
    (work / "app.py").write_text(SOURCE + "wait_long(1)\n")
    after = prints()
    assert set(before) < set(after) and len(set(after)) == 4
    (work / "app.py").write_text(SOURCE.replace("wait_long(1)", "wait_long(other)"))
    assert len(set(before) & set(prints())) == 2


def test_hostile_text_does_not_reach_the_terminal(toy: Path, resilint: Run) -> None:
    (toy / "app.py").write_text("wait_long('\x1b[31m')\twait_short('日本')" + "x" * 500 + "\n")
    out = resilint("check", code=1).stdout
    assert "\x1b" not in out
    assert max(len(line) for line in out.splitlines()) < 250


def test_carets_stand_under_wide_text(toy: Path, resilint: Run) -> None:
    (toy / "app.py").write_text("x = '日本'; wait_long(1)\n")
    lines = resilint("check", code=1).stdout.splitlines()
    assert lines[0].startswith("app.py:1:11:")
    assert lines[3] == "  |" + " " * 13 + "^" * 9


def test_files_asked_for_that_are_not_checked_are_said(work: Path, resilint: Run) -> None:
    with (work / "large.py").open("wb") as stream:
        stream.truncate(6_000_000)
    (work / "vendor").mkdir()
    for name in ("vendor/a.py", "x_pb2.py", "notes.txt", "excluded.py"):
        (work / name).write_text("")
    (work / "link.py").symlink_to("app.py")
    (work / "resilint.yaml").write_text("exclude: [excluded.py]\n")
    names = ("large.py", "vendor/a.py", "x_pb2.py", "notes.txt", "excluded.py", "link.py")
    assert resilint("check", *names, code=0).stderr.splitlines() == [
        "large.py: not checked: larger than 5 MB",
        "link.py: not checked: symbolic link to app.py, which is read under its own name",
        "notes.txt: not checked: not a kind of file that is read",
        "vendor/a.py: not checked: vendored",
        "x_pb2.py: not checked: generated or minified",
    ]
    assert resilint("check", "-q", *names, code=0).stderr == ""
    assert resilint("check", "app.py", code=1).stderr == ""


def test_an_unreadable_folder_is_wrong_usage(work: Path, resilint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.scandir", refuse)
    result = resilint("check", code=2)
    assert (result.stdout, result.stderr) == ("", "resilint: .: permission denied\n")


def start(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell command in which `resilint` is this one."""
    line = command.replace("resilint", f'"{sys.executable}" -m resilint.cli', 1)
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def test_a_deleted_folder_is_wrong_usage(toy: Path) -> None:
    (toy / "gone").mkdir()
    done = start(toy, "cd gone; rmdir ../gone; resilint check")
    message = "resilint: the current directory cannot be read: no such file or directory\n"
    assert (done.returncode, done.stdout, done.stderr.splitlines()[-1] + "\n") == (2, "", message)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["check", "rules", "explain RS101", "knowledge", "--help", "check --help", "--version"])
def test_output_that_cannot_be_written_is_one_line(work: Path, command: str) -> None:
    full = start(work, f"resilint {command} > /dev/full")
    assert (full.returncode, full.stderr) == (3, "resilint: output cannot be written: no space left on device\n")
    closed = start(work, f"resilint {command} | true; exit ${{PIPESTATUS[0]}}")
    assert (closed.returncode, closed.stderr) == (141, "")
    none = start(work, f"resilint {command} >&- 2>&-")
    assert none.returncode in (0, 1)


def test_errors_that_cannot_be_written_keep_their_status(work: Path) -> None:
    assert start(work, "resilint check nowhere 2> /dev/full").returncode == 2
    assert start(work, "resilint check nowhere 2>&-").returncode == 2


def test_a_selection_of_nothing_is_refused(work: Path, resilint: Run) -> None:
    (work / "resilint.yaml").write_text("select: [RS999, wait-lung]\n")
    assert resilint("check", code=2).stderr == (
        "resilint: resilint.yaml:1:10: unknown rule 'RS999' in select\n"
        "resilint.yaml:1:17: unknown rule 'wait-lung' in select: did you mean 'wait-long'?\n"
    )
    assert resilint("check", "--select", "RS102", code=1).stderr == ""


def test_declarations_that_match_nothing_are_refused(work: Path, resilint: Run) -> None:
    for name in ("services/account/Main.java", "deploy/values-prod.yaml", "application.yaml"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("")
    (work / "application.yaml").write_text("spring.config.activate.on-profile: staging\n")
    settings = work / "resilint.yaml"
    for profile in ("prod", "staging"):
        settings.write_text(f"profile: {profile}\nservices: {{a: {{paths: ['services/account/**', app.py]}}}}\n")
        assert resilint("check", code=1).stderr == ""
    settings.write_text("profile: prodd\nservices:\n  a: {paths: ['services/acount/**', app.py]}\n  b: {paths: [elsewhere]}\n")
    message = (
        "resilint: resilint.yaml:1:1: profile 'prodd': nothing in the program is named for it: did you mean 'prod'?\n"
        "resilint.yaml:3:15: services.a.paths: 'services/acount/**' matches no file: did you mean 'services/account'?\n"
        "resilint.yaml:4:15: services.b.paths: 'elsewhere' matches no file\n"
    )
    assert resilint("check", code=2).stderr == message
    assert resilint("check", "app.py", code=2).stderr == message
    # A part of what the settings speak of.
    assert resilint("check", "deploy", code=0).stderr == ""
    assert resilint("check", "deploy", "services", code=0).stderr == ""


def test_knowledge_that_can_find_nothing_is_said(work: Path, resilint: Run) -> None:
    (work / "resilint.yaml").write_text(
        "knowledge:\n- {library: a, language: go}\n"
        "- {library: b, language: python, verified: false}\n- {library: c, language: python}\n"
    )
    said = resilint("check", "-v", code=1).stderr.splitlines()
    assert said == [
        "knowledge of a: the program has no go file",
        "knowledge of b: not verified, so what rests on it has low confidence",
        "1 finding of lower confidence not shown: --confidence low shows all",
    ]
    assert resilint("check", code=1).stderr == ""


def test_knowledge_of_a_library_that_nothing_imports_is_said(work: Path, resilint: Run) -> None:
    (work / "client.py").write_text("import acme_http\n")
    settings = work / "resilint.yaml"
    call = "calls: [{names: [acme_http.fetch], does: network}]"
    settings.write_text(f"knowledge:\n- {{library: acme, language: python, modules: [acme_htp], {call}}}\n")
    said = "knowledge of 'acme' (resilint.yaml:2): nothing in this program imports acme_htp: did you mean 'acme_http'?\n"
    assert resilint("check", code=1).stderr == said
    assert resilint("check", "client.py", code=0).stderr == said
    assert resilint("check", "-q", code=1).stderr == ""
    settings.write_text(f"knowledge:\n- {{library: acme, language: python, {call}}}\n")
    assert resilint("check", code=1).stderr == ""
    # A part of what the settings speak of: another part may import it.
    settings.write_text(f"knowledge:\n- {{library: acme, language: python, modules: [elsewhere], {call}}}\n")
    assert "elsewhere" in resilint("check", code=1).stderr
    (work / "part").mkdir()
    (work / "part" / "app.py").write_text("")
    assert resilint("check", "part", code=0).stderr == ""


def test_wrong_knowledge_is_named_from_the_current_directory(toy: Path, resilint: Run) -> None:
    service = toy / "service"
    service.mkdir()
    (service / "app.py").write_text("")
    (service / "rpc.yaml").write_text("library: a\nlangage: python\n")
    (service / "resilint.yaml").write_text("knowledge:\n- rpc.yaml\n- library: b\n  langage: go\n")
    assert resilint("check", "service", code=2).stderr.splitlines() == [
        "resilint: service/rpc.yaml:2: key 'langage': unknown key, did you mean 'language'?",
        "service/resilint.yaml:4: key 'langage': unknown key, did you mean 'language'?",
    ]


def test_a_file_that_cannot_be_read_costs_its_package_nothing(tmp_path: Path) -> None:
    """Every rule still runs over what stands beside it."""
    (tmp_path / "go.mod").write_text("module shop\n", "utf-8")
    (tmp_path / "a.go").write_text('package a\n\nimport "net/http"\n\nfunc F() { http.Get(URL) }\n', "utf-8")
    for name in ("b.go", "p.py", "A.java"):
        (tmp_path / name).write_bytes(b"package a\n\n\0")
    done = CliRunner().invoke(main, ["check", "--no-cache", "--format", "json", str(tmp_path)])
    report = json.loads(done.output)
    assert report["errors"] == []
    assert sorted(finding["code"] for finding in report["findings"]) == ["RS002", "RS002", "RS002", "RS101"]
