"""Suppression comments: on the line, above it, for the whole file, unused, unknown."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from resilint.discover import kind_of_content, kind_of_name
from resilint.read import READERS

Run = Callable[..., Any]


def found(report: dict[str, Any]) -> list[tuple[int, str]]:
    return sorted((one["line"], one["code"]) for one in report["findings"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wait_long(1)  # resilint: ignore[RS101] known\n", []),
        ("wait_long(1)  # resilint: ignore[wait-long] known\n", []),
        ("# resilint: ignore[RS101] known\nwait_long(1)\n", []),
        ("# resilint: ignore[RS101] known\n# and more words\nwait_long(1)\n", []),
        ("# resilint: ignore[RS101]\n# resilint: ignore[RS102]\nwait_long(1); wait_short(1)\n", []),
        ("wait_long(1); wait_short(1)  # resilint: ignore[RS101, RS102]\n", []),
        ("# resilint: ignore[RS101] known\n\nwait_long(1)\n", [(1, "RS001"), (3, "RS101")]),
        ("wait_long(1)\n# resilint: ignore[RS101] too late\n", [(1, "RS101"), (2, "RS001")]),
        ("wait_long(1)  # resilint: ignore[RS102] other rule\n", [(1, "RS001"), (1, "RS101")]),
        ("wait_long(1)  # resilint: ignore[RS101, RS102] one too many\n", [(1, "RS001")]),
        ("x = 1\n# resilint: ignore-file[RS101] all of it\nwait_long(1)\nwait_long(2)\nwait_short(3)\n", [(5, "RS102")]),
        ("# resilint: ignore-file[RS101] none\nx = 1\n", [(1, "RS001")]),
        ("wait_long(1)  # resilint: ignore[RS777]\n", [(1, "RS003"), (1, "RS101")]),
        ("x = 1  # resilint: ignore[RS101, RS001] kept\n", []),
        ("x = 1  # resilint: ignore[RS777, RS003] kept\n", []),
        ("wait_maybe(1)  # resilint: ignore[RS202] below the confidence, used all the same\n", []),
        ("x = 1  # resilint: ignore[RS301] a preview that does not run\n", []),
        ("wait_long(1)  # resilint: ignore[]\n", [(1, "RS001"), (1, "RS101")]),
        ("x = 'resilint: ignore[RS101]'; wait_long(1)\n", [(1, "RS101")]),
        ("x = 'resilint: ignore[RS101]'; wait_long(1)  # resilint: ignore[RS101] known\n", []),
        ("wait_long(1)  # noqa  # resilint: ignore[RS101] known\n", []),
        ("# resilint: ignore-file[RS101]\n# resilint: ignore-file[wait-long] both used\nwait_long(1)\n", []),
    ],
)
def test_comments(toy: Path, report: Run, text: str, expected: list[tuple[int, str]]) -> None:
    (toy / "app.py").write_text(text)
    assert found(report(code=1 if expected else 0)) == expected


def test_a_deselected_rule_is_not_called_unused(toy: Path, report: Run) -> None:
    (toy / "app.py").write_text("x = 1  # resilint: ignore[RS101]\n")
    assert found(report(code=1)) == [(1, "RS001")]
    assert found(report("--ignore", "RS101", code=0)) == []
    assert found(report("--select", "RS102,RS001", code=0)) == []
    (toy / "resilint.yaml").write_text("ignore: [RS001]\n")
    assert found(report(code=0)) == []


# Name of the file, a comment, what stands above and below the line that waits, and that line.
SYNTAXES = {
    "Python": ("app.py", "# {}", "", "wait_long(1)", ""),
    "Go": ("main.go", "// {}", "package main\n\nfunc main() {\n", "\twait_long(1)", "}\n"),
    "Go, block": ("main.go", "/* {} */", "package main\n\nfunc main() {\n", "\twait_long(1)", "}\n"),
    "Go, pointer": ("main.go", "// {}", "package main\n\nfunc main(p *int) {\n", "\t*p = wait_long(1)", "}\n"),
    "Java": ("Main.java", "// {}", "class Main {\n  void run() {\n", "    wait_long(1);", "  }\n}\n"),
    "Java, block": ("Main.java", "/* {} */", "class Main {\n  void run() {\n", "    wait_long(1);", "  }\n}\n"),
    "Java, documentation": ("Main.java", "/** {} */", "class Main {\n", "  int x = wait_long(1);", "}\n"),
    "Java, decrement": ("Main.java", "// {}", "class Main {\n  void run(int i) {\n", "    --i; wait_long(1);", "  }\n}\n"),
    "YAML": ("app.yaml", "# {}", "a:\n", "  - wait_long(1)", "b: 1\n"),
    "YAML, Helm": ("templates/app.yaml", "{{{{- /* {} */ -}}}}", "a:\n", "  - wait_long(1)", "b: 1\n"),
    "YAML, Jinja": ("app.yaml", "{{# {} #}}", "{% if x %}\na:\n", "  - wait_long(1)", "{% endif %}\n"),
    "JSON, line": ("app.json", "// {}", "{\n", '  "a": "wait_long(1)"', "}\n"),
    "JSON, block": ("app.jsonc", "/* {} */", "{\n", '  "a": "wait_long(1)"', "}\n"),
    "TOML": ("app.toml", "# {}", "[a]\n", 'x = "wait_long(1)"', "y = 1\n"),
    "INI, hash": ("app.ini", "# {}", "[a]\n", "x = wait_long(1)", "y = 1\n"),
    "INI, semicolon": ("app.ini", "; {}", "[a]\n", "x = wait_long(1)", "y = 1\n"),
    "systemd": ("app.service", "# {}", "[Service]\n", "ExecStart=wait_long(1)", "Restart=no\n"),
    "properties, hash": ("app.properties", "# {}", "a=1\n", "x=wait_long(1)", "y=1\n"),
    "properties, mark": ("app.properties", "! {}", "a=1\n", "x=wait_long(1)", "y=1\n"),
    "env": (".env", "# {}", "A=1\n", "X=wait_long(1)", "Y=1\n"),
    "nginx": ("nginx.conf", "# {}", "http {\n", "  x wait_long(1);", "}\n"),
    "HAProxy": ("haproxy.cfg", "# {}", "defaults\n", "  x wait_long(1)", "  y 1\n"),
    "HCL, hash": ("main.tf", "# {}", 'a "b" {\n', '  x = "wait_long(1)"', "}\n"),
    "HCL, line": ("main.tf", "// {}", 'a "b" {\n', '  x = "wait_long(1)"', "}\n"),
    "HCL, block": ("main.tf", "/* {} */", 'a "b" {\n', '  x = "wait_long(1)"', "}\n"),
    "XML": ("logback.xml", "<!-- {} -->", "<beans>\n", '  <b c="wait_long(1)"/>', "</beans>\n"),
    "Dockerfile": ("Dockerfile", "# {}", "FROM x\n", "RUN wait_long(1)", "USER y\n"),
}
CLOSED = [name for name, syntax in SYNTAXES.items() if not syntax[1].endswith("{}")]
"""Comments that end before their line does."""
WITHOUT_TRAILING = ("app.properties", "app.service")
"""Files in which what stands behind a value is part of it."""
each_syntax = pytest.mark.parametrize("syntax", SYNTAXES.values(), ids=SYNTAXES)
Syntax = tuple[str, str, str, str, str]
REASON = "resilint: ignore[RS101] known"


def place(toy: Path, syntax: Syntax, above: str = "", behind: str = "", before: str = "") -> int:
    """Writes the file with comments around the line that waits; gives the number of that line."""
    name, _, head, line, tail = syntax
    (toy / name).parent.mkdir(exist_ok=True)
    (toy / name).write_text(f"{head}{above}{before}{line}{behind}\n{tail}", "utf-8")
    return (head + above).count("\n") + 1


def test_every_kind_that_is_read_has_a_syntax() -> None:
    named = [(name, f"{head}{line}\n{tail}".encode()) for name, _, head, line, tail in SYNTAXES.values()]
    assert {kind_of_name(name) or kind_of_content(name, text) for name, text in named} == set(READERS)


@each_syntax
def test_every_syntax_is_found_without_a_comment(toy: Path, report: Run, syntax: Syntax) -> None:
    line = place(toy, syntax)
    assert found(report()) == [(line, "RS101")]


@each_syntax
def test_every_syntax_on_the_line(toy: Path, report: Run, syntax: Syntax) -> None:
    line = place(toy, syntax, behind="  " + syntax[1].format(REASON))
    if syntax[0] not in WITHOUT_TRAILING:
        assert found(report(code=0)) == []
        return
    parsed = report()["findings"]
    assert sorted((one["line"], one["code"]) for one in parsed) == [(line, "RS001"), (line, "RS101")]
    (said,) = (one["message"] for one in parsed if one["code"] == "RS001")
    assert said.startswith("suppression is part of the value, so it suppresses nothing: in this kind of file a comment has a line")


@pytest.mark.parametrize("name", [name for name in CLOSED if "YAML" not in name])
def test_a_comment_that_ends_may_stand_before_its_line(toy: Path, report: Run, name: str) -> None:
    place(toy, SYNTAXES[name], before=SYNTAXES[name][1].format(REASON))
    assert found(report(code=0)) == []


@each_syntax
def test_every_syntax_above_the_line(toy: Path, report: Run, syntax: Syntax) -> None:
    comment = syntax[1]
    place(toy, syntax, above=f"  {comment.format(REASON)}\n  {comment.format('and more words')}\n")
    assert found(report(code=0)) == []
    line = place(toy, syntax, above=f"{comment.format(REASON)}\n\n")
    assert found(report()) == sorted([(line - 2, "RS001"), (line, "RS101")])


@pytest.mark.parametrize("name", [name for name in CLOSED if "Jinja" not in name])
def test_a_comment_over_several_lines(toy: Path, report: Run, name: str) -> None:
    opening, closing = SYNTAXES[name][1].format("|").split("|")
    above = f"{opening}\n  {REASON}\n  and more words\n  wait_short is a word too {closing}\n"
    place(toy, SYNTAXES[name], above=above)
    assert found(report(code=0)) == []
    if "YAML" not in name:
        # Further words behind it on the last line make that the line it speaks of.
        place(toy, SYNTAXES[name], before=f"{opening}\n  {REASON}\n{closing}")
        assert found(report(code=0)) == []


@each_syntax
def test_every_syntax_for_the_file(toy: Path, report: Run, syntax: Syntax) -> None:
    name, comment, head, line, tail = syntax
    (toy / name).parent.mkdir(exist_ok=True)
    text = comment.format("resilint: ignore-file[RS101] known")
    (toy / name).write_text(f"{head}{line}\n{tail}", "utf-8")
    assert len(report()["findings"]) == 1
    for whole in (f"{text}\n{head}{line}\n{tail}", f"{head}{line}\n{text}\n{tail}", f"{head}{line}\n{tail}{text}"):
        (toy / name).write_text(whole, "utf-8")
        assert [one for one in report(code=0)["findings"] if one["code"] != "RS002"] == []


@each_syntax
def test_every_syntax_without_need(toy: Path, report: Run, syntax: Syntax) -> None:
    name, comment, head, line, tail = syntax
    quiet: Syntax = (name, comment, head, line.replace("wait_long", "go_on"), tail)
    place(toy, quiet, above=f"{comment.format(REASON)}\n")
    (one,) = report()["findings"]
    number = head.count("\n") + 1
    opening, closing = comment.format("|").split("|")
    assert (one["code"], one["line"], one["column"]) == ("RS001", number, len(opening) + 1)
    assert one["end_column"] == one["column"] + len(REASON + closing)
    assert one["message"] == f"suppression of RS101 is not needed: nothing to suppress on line {number + 1}"


@each_syntax
def test_every_syntax_with_a_reason_required(toy: Path, report: Run, syntax: Syntax) -> None:
    comment = syntax[1]
    place(toy, syntax, above=f"{comment.format(REASON)}\n")
    assert found(report("--require-reason", code=0)) == []
    line = place(toy, syntax, above=f"{comment.format('resilint: ignore[RS101]')}\n")
    assert found(report(code=0)) == []
    (one,) = report("--require-reason")["findings"]
    assert (one["code"], one["line"]) == ("RS001", line - 1)
    assert one["message"] == "suppression of RS101 gives no reason: write it behind the bracket, on the same line"


def test_a_comment_above_a_tag_speaks_of_its_attributes(toy: Path, report: Run) -> None:
    tag = '  <b c="1"\n     d="wait_long(1)"\n     e="2"/>'
    for text in (f"  <!-- {REASON} -->\n{tag}", f"{tag} <!-- {REASON} -->", f"<!-- {REASON} -->{tag}"):
        (toy / "logback.xml").write_text(f"<beans>\n{text}\n</beans>\n")
        assert found(report(code=0)) == []
    quiet = tag.replace("wait_long", "go_on")
    (toy / "logback.xml").write_text(f"<beans>\n  <!-- {REASON} -->\n{quiet}\n  <c>wait_long(1)</c>\n</beans>\n")
    parsed = report()["findings"]
    assert [(one["line"], one["code"]) for one in parsed] == [(2, "RS001"), (6, "RS101")]
    assert parsed[0]["message"].endswith("nothing to suppress on lines 3 to 5")


def test_two_comments_before_a_line(toy: Path, report: Run) -> None:
    head, tail = "package main\n\nfunc main() {\n", "\n}\n"
    for line in ("/* a */ /* resilint: ignore[RS101] b */ wait_long(1)", "wait_long(1) /* a */ // resilint: ignore[RS101] b"):
        (toy / "main.go").write_text(f"{head}\t{line}{tail}")
        assert found(report(code=0)) == []
    (toy / "main.go").write_text(f"{head}\t/* a */ // resilint: ignore[RS101] b\n\twait_long(1){tail}")
    assert found(report(code=0)) == []


def test_text_that_looks_like_a_comment_suppresses_nothing(toy: Path, report: Run) -> None:
    (toy / "main.tf").write_text('a "b" {\n  x = "wait_long(1) // resilint: ignore[RS101] /* resilint: ignore[RS101]"\n}\n')
    (toy / "app.json").write_text('{"a": "wait_long(1) // resilint: ignore[RS101] /* resilint: ignore[RS101]"}\n')
    assert [one["code"] for one in report()["findings"]] == ["RS101", "RS101"]


# ---------------------------------------------------------------- reasons


@pytest.mark.parametrize(
    ("comment", "given"),
    [
        ("# resilint: ignore[RS101] because", True),
        ("# resilint: ignore[RS101]: because", True),
        ("# resilint: ignore[RS101] - because", True),
        ("# resilint: ignore[RS101] #12 is open", False),
        ("# resilint: ignore[RS101]", False),
        ("# resilint: ignore[RS101] --", False),
        ("# resilint: ignore[RS101]  # noqa: E501", False),
        ("# resilint: ignore[RS101, RS001]", False),
    ],
)
def test_what_a_reason_is(toy: Path, report: Run, comment: str, given: bool) -> None:
    (toy / "app.py").write_text(f"wait_long(1)  {comment}\n")
    assert found(report("--require-reason", code=0 if given else 1)) == ([] if given else [(1, "RS001")])


def test_reasons_are_required_by_the_settings_too(toy: Path, report: Run, resilint: Run) -> None:
    (toy / "app.py").write_text("# resilint: ignore-file[RS101]\nwait_long(1)  # resilint: ignore[RS1]\n")
    (toy / "resilint.yaml").write_text("require_reason: true\n")
    assert found(report()) == [(1, "RS001"), (2, "RS001")]
    # Whatever is selected: what the settings require would else silently not be required.
    assert found(report("--select", "RS101")) == [(1, "RS001"), (2, "RS001")]
    assert found(report("--ignore", "RS001", code=0)) == []
    (toy / "resilint.yaml").write_text("require_reason: true\nignore: [unused-suppression]\n")
    assert found(report(code=0)) == []
    (toy / "resilint.yaml").write_text("require_reason: 1\n")
    assert (
        resilint("check", code=2).stderr
        == "resilint: resilint.yaml:1:17: require_reason must be true or false, not a whole number (1)\n"
    )


def test_unreadable_files_can_be_suppressed(toy: Path, report: Run) -> None:
    (toy / "app.py").write_text("# resilint: ignore-file[RS002] broken on purpose\ndef f(:\n    pass\n")
    assert found(report(code=0)) == []


def test_the_place_of_an_unused_comment(toy: Path, report: Run) -> None:
    (toy / "app.py").write_text("x = 1  # resilint: ignore[RS101] why\n")
    (one,) = report(code=1)["findings"]
    assert (one["line"], one["column"], one["end_column"]) == (1, 10, 37)
    assert one["message"] == "suppression of RS101 is not needed: nothing to suppress on line 1"


@pytest.mark.parametrize(
    ("comment", "hint"),
    [
        ("resilint: ignroe[RS101]", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint: ignore RS101", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint: ignore RS101, RS102 why", "did you mean 'resilint: ignore[RS101, RS102]'?"),
        ("resilint: ignore[RS101", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint: ignore(RS101) why", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint: ignore: rs101", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint: IGNORE[RS101]", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint ignore[RS101]", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint : ignore[RS101]", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint: ignore_file[RS101]", "did you mean 'resilint: ignore-file[RS101]'?"),
        ("resilint: disable=RS101", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint: ignore-next-line RS101", "did you mean 'resilint: ignore[RS101]'?"),
        ("resilint: ignore", "write 'resilint: ignore[RULE] reason'"),
        ("resilint: noqa", "write 'resilint: ignore[RULE] reason'"),
    ],
)
def test_mistyped_comments(toy: Path, report: Run, comment: str, hint: str) -> None:
    (toy / "app.py").write_text(f"x = 1\nwait_long(1)  # {comment}\n")
    (toy / "app.yaml").write_text(f"x: 1  # {comment}\n")
    parsed = report()["findings"]
    assert [(one["code"], one["path"], one["line"]) for one in parsed] == [
        ("RS101", "app.py", 2),
        ("RS001", "app.py", 2),
        ("RS001", "app.yaml", 1),
    ]
    assert parsed[1]["message"].endswith(f"is not understood, so it suppresses nothing: {hint}")
    assert parsed[1]["column"] == 17


@pytest.mark.parametrize(
    "remark",
    [
        "resilint: see the page",
        "resilint: ignored files are listed below",
        "resilint: skip to the end",
        "resilint reads this",
        "resilint ignores this line",
        "made for resilint",
        "see what resilint: ignore does",
        "https://example.com/resilint:8080",
    ],
)
def test_remarks_that_name_the_tool(toy: Path, report: Run, remark: str) -> None:
    (toy / "app.py").write_text(f"x = 1  # {remark}\n")
    (toy / "app.yaml").write_text(f"x: 1  # {remark}\n")
    assert found(report(code=0)) == []


@pytest.mark.parametrize(("selector", "meant"), [("rs101", "RS101"), ("rs1", "RS1"), ("Wait-Long", "wait-long")])
def test_codes_are_capitals(toy: Path, report: Run, selector: str, meant: str) -> None:
    (toy / "app.py").write_text(f"wait_long(1)  # resilint: ignore[{selector}]\n")
    parsed = report()["findings"]
    assert [one["code"] for one in parsed] == ["RS101", "RS003"]
    assert parsed[1]["message"] == f"suppression of an unknown rule {selector!r}: did you mean {meant!r}?"


def test_as_many_comments_as_lines(toy: Path, report: Run) -> None:
    count = 30_000
    (toy / "app.py").write_text("wait_long(1)  # resilint: ignore[RS101]\n" * count)
    (toy / "app.yaml").write_text("# resilint: ignore[RS102]\n" * count + "x: wait_short(1)\n")
    start = time.perf_counter()
    assert report(code=0)["findings"] == []
    assert time.perf_counter() - start < 20
