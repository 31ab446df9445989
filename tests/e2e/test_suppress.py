"""Suppression comments: on the line, above it, for the whole file, unused, unknown."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def test_other_comment_syntaxes(toy: Path, report: Run) -> None:
    (toy / "main.go").write_text("package main\n\nfunc main() {\n\twait_long(1) // resilint: ignore[RS101] known\n}\n")
    (toy / "nginx.conf").write_text("# resilint: ignore[RS101] known\nx wait_long();\n")
    assert found(report(code=0)) == []


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
