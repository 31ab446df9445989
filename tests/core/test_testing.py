"""The notation of cases, and that a case which lies is caught."""

from __future__ import annotations

from pathlib import Path

import pytest
from resilint import Confidence, Finding, Severity, Span, Step
from resilint.testing import BadCase, Case, Mark, cases, differences, fix_differences, malformed, misplaced


def page(*lines: str) -> list[Case]:
    return cases("\n".join(lines) + "\n")


def only(*lines: str) -> Case:
    (case,) = page("## Case", *lines)
    return case


def finding(path: str, line: int, code: str = "RS101", message: str = "waits for 3 s", *steps: tuple[int, str]) -> Finding:
    trace = tuple(Step(Span(path, number, 1, number, 2), text) for number, text in steps)
    return Finding(Span(path, line, 1, line, 2), code, "name", Severity.ERROR, message, Confidence.HIGH, trace)


def test_headings_fences_and_sections() -> None:
    found = page(
        *("# Title", "```py", "a", "```"),
        *("## Flagged", "```py", "b", "```", "```go x/y.go", "c", "```"),
        *("### Deeper", "```python", "d", "```", "```py", "e", "```"),
    )
    assert [(case.name, case.section, case.files) for case in found] == [
        ("Title", "", {"case.py": "a\n"}),
        ("Flagged", "Flagged", {"case.py": "b\n", "x/y.go": "c\n"}),
        ("Deeper", "Flagged", {"case.py": "d\ne\n"}),
    ]
    assert found[1].languages == {"py", "go"}


def test_prose_is_no_case() -> None:
    assert page("## Fix", "```", "x", "```", "```sh", "make", "```", "```text", "y", "```") == []
    assert only("```text go.mod", "module x", "```").files == {"go.mod": "module x\n"}
    assert only("```dockerfile", "FROM x", "```").files == {"Dockerfile": "FROM x\n"}
    case = only("```yaml resilint.yaml", "select: []", "```", "```py", "x", "```")
    assert case.languages == {"py"} and "resilint.yaml" in case.files


def test_marks_behind_and_above() -> None:
    case = only(
        *("```py", "a  # want RS101"),
        *('# want RS102 "3 s"', "# a word", "b"),
        *("# want +1 RS103", "c", "d"),
        *('# want RS101 RS102 "x \\"y\\""', "e", "```"),
    )
    assert case.wants == [
        Mark("case.py", 1, "RS101"),
        Mark("case.py", 3, "RS102", "3 s"),
        Mark("case.py", 7, "RS103"),
        Mark("case.py", 9, "RS101"),
        Mark("case.py", 9, "RS102", 'x "y"'),
    ]


def test_steps_stand_beside_wants() -> None:
    case = only("```go", 'a() // step RS101 "set here"', 'b() // want RS101 "waits" step RS101 "called"', "```")
    assert case.wants == [Mark("case.go", 2, "RS101", "waits")]
    assert case.steps == [Mark("case.go", 1, "RS101", "set here"), Mark("case.go", 2, "RS101", "called")]


def test_files_without_comments() -> None:
    case = only("```json a.json", '{"x": "# want RS101"}', "```", "```want", 'a.json:1 RS104 "none"', "step a.json:1 RS104", "```")
    assert case.wants == [Mark("a.json", 1, "RS104", "none")] and case.steps == [Mark("a.json", 1, "RS104")]
    assert only("```properties", "# want RS104", "a=1", "```").wants == [Mark("case.properties", 2, "RS104")]
    assert only("```xml", '<!-- want +1 RS104 "t" -->', "<a", " b='1'/>", "```").wants == [Mark("case.xml", 3, "RS104", "t")]


@pytest.mark.parametrize(
    "lines",
    [
        ("```properties", "a=1 # want RS104", "```"),
        ("```py", "a", "# want RS104", "```"),
        ("```py", "a  # want nothing", "```"),
        ("```py", "a  # want +1", "```"),
        ("```py", "a"),
        ("```json", "{}", "```", "```want", "other.json:1 RS101", "```"),
    ],
)
def test_what_cannot_be_understood(lines: tuple[str, ...]) -> None:
    with pytest.raises(BadCase):
        page("## Case", *lines)


def test_the_same_case_twice_is_seen_through_its_marks() -> None:
    one = only("```py", "a  # want RS101", "```")
    two = only("```py", "# want RS102", "a", "```")
    assert one.content() == two.content() != only("```py", "b", "```").content()


def test_differences_are_exact() -> None:
    case = only("```py", 'a  # want RS101 "3 s"', "b  # want RS101", "```")
    good = [finding("case.py", 1), finding("case.py", 2)]
    assert differences(case, good) == []
    assert differences(case, good[:1]) == ["missing: case.py:2 RS101"]
    assert differences(case, [*good, finding("case.py", 2)]) == ["unexpected: case.py:2 RS101 waits for 3 s"]
    assert differences(case, [finding("case.py", 1, message="waits"), good[1]]) == [
        'missing: case.py:1 RS101 "3 s"',
        "unexpected: case.py:1 RS101 waits",
    ]
    assert len(differences(case, [finding("case.py", 1, "RS102"), good[1]])) == 2


def test_two_wants_need_two_findings() -> None:
    case = only("```py", 'a  # want RS101 RS101 "3 s"', "```")
    assert differences(case, [finding("case.py", 1)]) == ["missing: case.py:1 RS101"]
    assert differences(case, [finding("case.py", 1, message="x"), finding("case.py", 1)]) == []


def test_steps_are_all_or_none() -> None:
    case = only("```py", 'a  # step RS101 "set"', "b  # want RS101", "```")
    assert differences(case, [finding("case.py", 2, "RS101", "m", (1, "set to 3"))]) == []
    assert differences(case, [finding("case.py", 2, "RS101", "m", (1, "other"))]) == [
        "missing step: case.py:1 RS101 set",
        "unexpected step: case.py:1 RS101 other",
    ]
    assert differences(only("```py", "b  # want RS101", "```"), [finding("case.py", 1, "RS101", "m", (1, "x"))]) == []


def test_places_outside_of_the_files() -> None:
    case = only("```py", "abc", "```")
    assert misplaced(case, [finding("case.py", 1)]) == []
    assert misplaced(case, [finding("case.py", 9)]) and misplaced(case, [finding("other.py", 1)])


@pytest.mark.parametrize(
    ("message", "good"),
    [("waits", True), ("Waits long", False), ("waits.", False), ("a\nb", False), ("Session waits", True), ("", False)],
)
def test_the_form_of_messages(message: str, good: bool) -> None:
    case = only("```py", "Session()", "```")
    assert (malformed(case, [finding("case.py", 1, message=message)]) == []) is good


FIXED_CASE = """## A fix
```py case.py
a = 1  # want RS101
b = 2
```
```diff case.py
--- case.py
+++ case.py
@@ -1,2 +1,2 @@
-a = 1
+a = 3
 b = 2
```
"""


def test_fixes_are_held_against_the_lines_of_a_diff_without_marks_and_context() -> None:
    (case,) = cases(FIXED_CASE)
    assert fix_differences(case, {"case.py": "a = 3  # want RS101\nb = 2\n"}) == []
    assert fix_differences(case, {}) == ["missing from the fix of case.py: -a = 1", "missing from the fix of case.py: +a = 3"]
    assert fix_differences(case, {"case.py": "a = 3\nb = 3\n"}) == [
        "unexpected in the fix of case.py: -b = 2",
        "unexpected in the fix of case.py: +b = 3",
    ]


def test_pages_of_the_engine_can_be_read() -> None:
    for file in sorted((Path(__file__).parents[2] / "rule_docs").glob("RS00*.md")):
        assert cases(file.read_text("utf-8"))
