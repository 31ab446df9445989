"""Reports for machines, each read as its consumer reads it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest
import xmlschema
from resilint import Confidence, Edit, Finding, Fix, Rule, Severity, Step, Value, registry
from resilint.engine_rules import ENGINE_RULES
from resilint.model import Span
from resilint.report import sarif as report_sarif

DATA = Path(__file__).parent / "data"
OUTAGES = Path(__file__).parents[2] / "examples" / "outages"
FORMATS = ("sarif", "github", "gitlab", "junit")

Run = Callable[..., Any]
Write = Callable[..., None]


def _check(program: Any) -> Iterator[Finding]:
    for span in program.places("mend"):
        start = Span(span.path, span.line, span.col, span.line, span.col)
        trace = (Step(start, "from [here](1)"), Step(span, "to 100%,\nthere: ##[error]no"))
        found = FIXED.finding(
            span, "mend can wait: for 50% of [ever](more), ::error::no ##[error]no", Value(None, Confidence.HIGH, trace)
        )
        edits = (Edit(Span(span.path, span.line, span.end_col, span.line, span.end_col + 1), "(1"), Edit(start, "x."))
        yield msgspec.structs.replace(found, fix=Fix("Set it to 1", edits, safe=False))


FIXED = Rule("RS401", "mend", Severity.WARNING, "Calls of mend.", frozenset({"py"}), _check)


@pytest.fixture
def with_fixes(with_broken_rule: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toy rules, one that fails, and one whose findings have a fix and a trace full of signs."""
    others = registry.rules()
    monkeypatch.setattr(registry, "rules", lambda: (*others, FIXED))
    return with_broken_rule


def sarif(text: str) -> dict[str, Any]:
    log = json.loads(text)
    jsonschema.Draft4Validator(json.loads((DATA / "sarif-schema-2.1.0.json").read_text())).validate(log)
    run: dict[str, Any] = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    return run


def gitlab(text: str) -> list[dict[str, Any]]:
    """As https://docs.gitlab.com/ci/testing/code_quality/ describes what GitLab reads."""
    place = {"path": {"type": "string", "pattern": r"^(?!\./)."}, "lines": {"type": "object", "required": ["begin"]}}
    severities = ["info", "minor", "major", "critical", "blocker"]
    issue = {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]+$"},
            "severity": {"enum": severities},
            "location": {"type": "object", "properties": place, "required": ["path", "lines"]},
        },
    }
    issues: list[dict[str, Any]] = json.loads(text)
    jsonschema.Draft202012Validator({"type": "array", "items": issue}).validate(issues)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues), "GitLab shows one of two with the same fingerprint"
    return issues


def junit(text: str) -> ElementTree.Element:
    xmlschema.XMLSchema(str(DATA / "junit-10.xsd")).validate(text)
    root = ElementTree.fromstring(text)
    for suite in (root, *root):
        for count, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(suite.attrib[count]) == len(list(suite.iter(tag)))
    return root


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Commands of a log as the runner finds them: at the start of a line, blanks not counted; the old ones anywhere."""
    found = []
    for line in text.split("\n"):
        start = line.lstrip()
        if start.startswith("::") and (end := start.find("::", 2)) >= 0:
            name, _, rest = start[2:end].partition(" ")
            pairs = [pair.split("=", 1) for pair in rest.split(",") if "=" in pair]
            data = _unescaped(start[end + 2 :], "\r\n%")
            found.append((name, {key.strip(): _unescaped(value, "\r\n:,%") for key, value in pairs}, data))
        else:
            assert "##[" not in line
    return found


def _unescaped(text: str, signs: str) -> str:
    for sign in signs:
        text = text.replace(f"%{ord(sign):02X}", sign)
    return text


READ: dict[str, Callable[[str], Any]] = {"sarif": sarif, "gitlab": gitlab, "junit": junit, "github": commands}


@pytest.mark.parametrize("outage", sorted(path.name for path in OUTAGES.iterdir() if path.is_dir()))
def test_every_format_holds_every_finding_of_an_outage(outage: str, resilint: Run, tmp_path: Path) -> None:
    outputs = [option for kind in (*FORMATS, "json") for option in ("--output", f"{kind}:{tmp_path / kind}")]
    resilint("check", *outputs, "--confidence", "low", OUTAGES / outage / "broken", code=1)
    files = {kind: (tmp_path / kind).read_text("utf-8") for kind in (*FORMATS, "json")}
    findings = json.loads(files["json"])["findings"]
    assert findings
    lines = sorted((finding["code"], finding["line"]) for finding in findings)
    results = sarif(files["sarif"])["results"]
    places = [(one["ruleId"], one["locations"][0]["physicalLocation"]["region"]["startLine"]) for one in results]
    assert sorted(places) == lines
    assert {one["partialFingerprints"]["resilint/v1"] for one in results} == {finding["fingerprint"] for finding in findings}
    assert sorted((one["check_name"], one["location"]["lines"]["begin"]) for one in gitlab(files["gitlab"])) == lines
    counted = [case for case in junit(files["junit"]).iter("testcase") if len(case)]
    assert sorted((case.attrib["classname"].split()[0], int(case.attrib["name"].split(":")[-2])) for case in counted) == lines
    shown = commands(files["github"])
    assert len([name for name, *_ in shown if name in ("error", "warning", "notice")]) == min(len(findings), len(shown))
    for result, finding in zip(results, findings, strict=True):
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == f"examples/outages/{outage}/broken/{finding['path']}", "from the root of the repository"
        if finding["trace"]:
            steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
            walked = [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps]
            assert walked == [*(step["line"] for step in finding["trace"]), finding["line"]]
            assert len(result["relatedLocations"]) == len(finding["trace"])


def test_sarif_says_what_each_rule_is(resilint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESILINT_DOCS_URL", "https://lint.example.com/rules/{code}-{name}.html")
    run = sarif(resilint("check", "--format", "sarif", "--exit-zero", OUTAGES / "gateway" / "fixed", code=0).stdout)
    assert run["columnKind"] == "unicodeCodePoints" and run["invocations"][0]["executionSuccessful"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    known = {rule.code: rule for rule in registry.rules() if not rule.preview}
    assert rules.keys() == known.keys()
    for code, rule in rules.items():
        assert rule["name"] == known[code].name
        assert (
            rule["help"]["markdown"].startswith(f"# {code} ")
            and rule["fullDescription"]["text"] != rule["shortDescription"]["text"]
        )
        assert rule["helpUri"] == f"https://lint.example.com/rules/{code}-{rule['name']}.html"
        assert rule["defaultConfiguration"]["level"] == {"info": "note"}.get(known[code].severity.value, known[code].severity.value)


def test_sarif_names_no_page_that_nobody_can_open(resilint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RESILINT_DOCS_URL", raising=False)
    text = resilint("check", "--format", "sarif", OUTAGES / "gateway" / "fixed", code=0).stdout
    assert sarif(text) and "helpUri" not in text and "file:///" not in text and str(OUTAGES) not in text


def test_fixes_are_edits_of_the_text_as_it_is(with_fixes: Path, resilint: Run) -> None:
    (with_fixes / "app.py").write_bytes("# ∞\r\nmend()\r\nmend(2)\r\n".encode())
    run = sarif(resilint("check", "--format", "sarif", "--select", "RS401", code=1).stdout)
    lines = (with_fixes / "app.py").read_bytes().decode().split("\r\n")
    fixes = [result["fixes"][0] for result in run["results"]]
    assert [fix["description"]["text"] for fix in fixes] == ["Set it to 1"] * 2
    assert [fix["properties"]["safe"] for fix in fixes] == [False] * 2
    for fix in fixes:
        (change,) = fix["artifactChanges"]
        for one in reversed(change["replacements"]):
            region = one["deletedRegion"]
            line = lines[region["startLine"] - 1]
            cut = line[: region["startColumn"] - 1] + one["insertedContent"]["text"] + line[region["endColumn"] - 1 :]
            lines[region["startLine"] - 1] = cut
    assert lines == ["# ∞", "x.mend(1)", "x.mend(12)", ""]


def test_signs_of_a_format_in_messages_are_text(with_fixes: Path, resilint: Run) -> None:
    (with_fixes / "app.py").write_text("mend()\n")
    said = "mend can wait: for 50% of [ever](more), ::error::no ##[error]no"
    result = sarif(resilint("check", "--format", "sarif", "--select", "RS401", code=1).stdout)["results"][0]
    assert result["message"]["text"].replace("\\[", "[").replace("\\]", "]") == said
    assert "\\](" in result["message"]["text"]
    (issue,) = gitlab(resilint("check", "--format", "gitlab", "--select", "RS401", code=1).stdout)
    assert issue["description"] == said
    failure = junit(resilint("check", "--format", "junit", "--select", "RS401", code=1).stdout).find(".//failure")
    assert failure is not None and failure.attrib["message"] == said
    text = resilint("check", "--format", "github", "--select", "RS401", "--show-trace", code=1).stdout
    ((name, properties, data),) = commands(text)
    assert (name, properties["title"]) == ("warning", "RS401 mend")
    assert data.split("\n") == [
        said,
        "1. app.py:1:1: from [here](1)",
        "2. app.py:1:1: to 100%, there: ##[error]no",
    ]


NAMES = [
    b"a b.py",
    b"100%25,x:y.py",
    b"::error::x.py",
    b"##[error]x.py",
    "grün/ä.py".encode(),
    b"caf\xe9.py",
    b"two\nlines.py",
    b"<&\"'>.py",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_file_name_is_a_path_in_every_format(name: bytes, toy: Path, resilint: Run) -> None:
    path = Path(os.fsdecode(os.path.join(os.fsencode(toy), name)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("wait_long()\n" * 11)
    results = sarif(resilint("check", "--format", "sarif", code=1).stdout)["results"]
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert [unquote_to_bytes(uri) for uri in uris] == [name]
    assert re.fullmatch(r"[\w.~/%-]+", uris.pop(), re.ASCII)
    readable = name.decode("utf-8", "replace")
    assert {issue["location"]["path"] for issue in gitlab(resilint("check", "--format", "gitlab", code=1).stdout)} == {readable}
    one_line = readable.replace("\n", " ")
    cases = junit(resilint("check", "--format", "junit", code=1).stdout).iter("testcase")
    assert {case.attrib["name"].rsplit(":", 2)[0] for case in cases if case.find("failure") is not None} == {one_line}
    shown = commands(resilint("check", "--format", "github", code=1).stdout)
    assert [name for name, *_ in shown] == ["error"] * 10 + ["group", "endgroup"]
    assert {properties["file"] for _, properties, _ in shown[:10]} == {readable}


def test_sarif_holds_no_more_than_code_scanning_takes(toy: Path, resilint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(program: Any) -> Iterator[Finding]:
        for span in program.places("mend"):
            yield rule.finding(
                span, "mend waits", Value(None, Confidence.HIGH, tuple(Step(span, f"hop {n}") for n in range(1, 30)))
            )

    rule = Rule("RS401", "mend", Severity.WARNING, "Calls of mend.", frozenset({"py"}), check)
    others = registry.rules()
    monkeypatch.setattr(registry, "rules", lambda: (*others, rule))
    assert (report_sarif.MOST_RESULTS, report_sarif.MOST_PLACES) == (25_000, 1_000)
    monkeypatch.setattr(report_sarif, "MOST_RESULTS", 20)
    monkeypatch.setattr(report_sarif, "MOST_PLACES", 10)
    (toy / "a.py").write_text("wait_well(1)\n" * 20 + "wait_long(1)\nmend(1)\n")
    run = sarif(resilint("check", "--format", "sarif", code=1).stdout)
    results = run["results"]
    assert len(results) == 20 and [one["ruleId"] for one in results[-2:]] == ["RS101", "RS401"], "the gravest stay"
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "2 more findings are left out: 20 is what services take"
    walked = results[-1]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(walked) <= 10 and len(results[-1]["relatedLocations"]) + len(results[-1]["locations"]) <= 10
    assert [walked[at]["location"]["message"]["text"] for at in (0, -2)] == ["hop 1", "hop 29"], (
        "where it begins, and where it ends"
    )
    assert all(len(one["properties"]["tags"]) <= 20 for one in run["tool"]["driver"]["rules"])


def test_characters_that_xml_cannot_hold_are_replaced(toy: Path, resilint: Run) -> None:
    (toy / "app.py").write_bytes(b"wait_long()  # \x00\x08\x1b[31m \xef\xbf\xbe \xed\xa0\x80 ]]> &\n")
    failures = junit(resilint("check", "--format", "junit", "--select", "RS101", code=1).stdout).iter("failure")
    failure = next(one for one in failures if "wait-long" in one.attrib["message"])
    assert failure.text is not None and "]]> &" in failure.text and "\x1b" not in failure.text


def test_github_gets_the_surest_of_each_level_and_the_rest_as_text(toy: Path, resilint: Run) -> None:
    (toy / "a.py").write_text("wait_maybe()\n" * 6)
    (toy / "b.py").write_text("wait_long()\n" * 6 + "wait_short()\n" * 12)
    text = resilint("check", "--format", "github", "--confidence", "low", code=1).stdout
    shown = commands(text)
    assert [(one["file"], one["line"]) for name, one, _ in shown if name == "error"] == [
        *(("a.py", str(line)) for line in range(1, 5)),
        *(("b.py", str(line)) for line in range(1, 7)),
    ]
    assert len([1 for name, *_ in shown if name == "warning"]) == 10
    (group,) = [data for name, _, data in shown if name == "group"]
    assert group == "4 more findings: GitHub shows 10 of each level"
    inside = text.partition(group)[2].partition("::endgroup::")[0]
    assert [inside.count(f" {name}: ") for name in ("wait-maybe", "wait-short")] == [2, 2]


def test_the_summary_of_a_job_counts_by_rule_and_service(toy: Path, resilint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for service in ("orders", "users"):
        (toy / service).mkdir()
        (toy / service / "go.mod").write_text("module m\n")
        (toy / service / "a.py").write_text("wait_long()\n")
    (toy / "users" / "a.py").write_text("wait_long()\nwait_short()\n")
    page = toy.parent / "summary.md"
    page.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    resilint("check", "--format", "github", code=1)
    assert page.read_text() == "before\n", "only --statistics writes it"
    log = resilint("check", "--format", "github", "--statistics", code=1).stdout
    assert "::group::Statistics\n2 RS101 wait-long\n1 RS102 wait-short\nby service:\n2 users\n1 orders\nwaits: " in log
    text = page.read_text()
    assert text.startswith("before\n### resilint\n\n2 errors, 1 warning in 2 files")
    assert (
        "| Rule | Findings |\n|---|---:|\n| RS101 wait\\-long | 2 |\n| RS102 wait\\-short | 1 |\n" in text.replace("\\(", "(")
        and "| Service | Findings |\n|---|---:|\n| users | 2 |\n| orders | 1 |\n" in text
    )
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(toy))
    assert resilint("check", "--format", "github", "--statistics", code=3).stderr.endswith("cannot be written: is a directory\n")


def test_statistics_go_by_declared_services_before_folders(toy: Path, resilint: Run) -> None:
    for service in ("a", "b"):
        (toy / service).mkdir()
        (toy / service / "pyproject.toml").write_text("")
        (toy / service / "app.py").write_text("wait_long()\n")
    (toy / "top.py").write_text("wait_long()\n")
    (toy / "resilint.yaml").write_text("services: {shop: {paths: [a/**]}}\n")
    text = resilint("check", "--statistics", code=1).stdout
    assert "3 RS101 wait-long\nby service:\n1 .\n1 b\n1 shop\nwaits: " in text


def test_a_program_that_is_one_service_is_not_counted_by_service(toy: Path, resilint: Run) -> None:
    (toy / "top.py").write_text("wait_long()\n")
    assert "by service" not in resilint("check", "--statistics", code=1).stdout


def test_a_fault_of_resilint_shows_in_every_format(with_fixes: Path, resilint: Run) -> None:
    (with_fixes / "app.py").write_text("x = 1\n")
    run = sarif(resilint("check", "--format", "sarif", code=3).stdout)
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert not run["invocations"][0]["executionSuccessful"] and note["level"] == "error"
    assert note["associatedRule"]["id"] == "RS999" and "no luck" in note["message"]["text"]
    (issue,) = gitlab(resilint("check", "--format", "gitlab", code=3).stdout)
    assert issue["severity"] == "blocker" and "no luck" in issue["description"]
    error = junit(resilint("check", "--format", "junit", code=3).stdout).find(".//error")
    assert error is not None and "no luck" in error.attrib["message"]
    ((name, properties, data),) = commands(resilint("check", "--format", "github", code=3).stdout)
    assert (name, properties["title"]) == ("error", "resilint: internal error") and "no luck" in data


def test_a_file_that_is_not_read_is_a_notification(toy: Path, resilint: Run) -> None:
    (toy / "photo.bmp").write_bytes(b"BM\0\0")
    run = sarif(resilint("check", "--format", "sarif", "photo.bmp", code=0).stdout)
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "warning" and note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "photo.bmp"


def test_settings_above_the_folder_have_their_place_in_the_repository(toy: Path, resilint: Run) -> None:
    (toy / ".git").mkdir()
    (toy / "resilint.yaml").write_text("ignore: [RS777]\n")
    (toy / "sub").mkdir()
    (toy / "sub" / "app.py").write_text("wait_long()\n")
    results = sarif(resilint("check", "--format", "sarif", "sub", code=1).stdout)["results"]
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    assert uris == ["resilint.yaml", "sub/app.py"]
    issues = gitlab(resilint("check", "--format", "gitlab", "sub", code=1).stdout)
    assert [issue["location"]["path"] for issue in issues] == uris
    shown = commands(resilint("check", "--format", "github", "sub", code=1).stdout)
    assert [properties["file"] for _, properties, _ in shown] == uris
    cases = junit(resilint("check", "--format", "junit", "sub", code=1).stdout).iter("testcase")
    assert {case.attrib["name"].split(":")[0] for case in cases if case.find("failure") is not None} == set(uris)


def test_without_a_repository_a_folder_elsewhere_is_seen_from_itself(toy: Path, resilint: Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "app.py").write_text("wait_long()\n")
    (result,) = sarif(resilint("check", "--format", "sarif", other, code=1).stdout)["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "app.py"


def test_two_findings_at_one_place_are_two_tests(with_fixes: Path, resilint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(program: Any) -> Iterator[Finding]:
        for span in program.places("again"):
            yield rule.finding(span, "again, once")
            yield rule.finding(span, "again, twice")

    rule = Rule("RS402", "again", Severity.WARNING, "Calls of again.", frozenset({"py"}), twice)
    monkeypatch.setattr(registry, "rules", lambda: (*ENGINE_RULES, rule))
    (with_fixes / "app.py").write_text("again()\n")
    cases = junit(resilint("check", "--format", "junit", "--select", "RS402", code=1).stdout).iter("testcase")
    assert [case.attrib["name"] for case in cases if case.find("failure") is not None] == ["app.py:1:1", "app.py:1:1 (2)"]


def test_what_does_not_fail_the_run_is_no_failed_test(toy: Path, resilint: Run) -> None:
    (toy / "app.py").write_text("wait_long()\nwait_short()\nwait_well()\n")

    def failed(*options: str, code: int) -> list[str]:
        root = junit(resilint("check", "--format", "junit", *options, code=code).stdout)
        return [case.attrib["classname"][:5] for case in root.iter("testcase") if case.find("failure") is not None]

    assert failed(code=1) == ["RS101", "RS102"]
    assert failed("--fail-on", "error", code=1) == ["RS101"]
    assert failed("--fail-on", "info", code=1) == ["RS101", "RS102", "RS201"]


@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_program_gives_the_same_bytes(kind: str, toy: Path, resilint: Run) -> None:
    (toy / "app.py").write_text("wait_long()\n" * 12)
    runs = {
        re.sub(r"\(\d+\.\d s\)", "", resilint("check", "--format", kind, *more, code=1).stdout) for more in ((), ("--no-cache",))
    }
    assert len(runs) == 1


def test_engine_rules_have_pages(toy: Path, resilint: Run) -> None:
    rules = sarif(resilint("check", "--format", "sarif", code=0).stdout)["tool"]["driver"]["rules"]
    assert {rule.code for rule in ENGINE_RULES} <= {rule["id"] for rule in rules if "## Fix" in rule["help"]["text"]}
