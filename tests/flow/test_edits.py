"""Text that is added to calls, literals and imports: it goes where it belongs whatever stands around it, and nothing else moves."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resilint import facts as f
from resilint.flow.edits import Cut, appended, argument, entry, imported
from resilint.read import read
from resilint.text import Lines

GAPS = st.sampled_from(["", " ", "\n    ", "  # a, b) c\n    ", "\n    # (\n    ", " \\\n "])
ARGUMENTS = st.sampled_from(
    ["a", "(a)", "b=1", '"x, y)"', "f(1, 2)", "[i for i in a]", "(i for i in a)", "*a", "**k", "lambda: (1, 2)"]
)


def after(source: bytes, cuts: tuple[Cut, ...] | None) -> str:
    assert cuts is not None
    for cut in sorted(cuts, reverse=True):
        source = source[: cut.at] + cut.text.encode() + source[cut.end :]
    return source.decode()


def first_call(source: bytes, kind: str) -> f.Call:
    facts = f.decode(read(source, kind, ""))
    for raw in facts.bodies:
        for stmt in f.decode_block(raw):
            value = getattr(stmt, "value", None)
            if isinstance(value, f.Call):
                return value
    raise AssertionError("no call")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(GAPS, ARGUMENTS, GAPS), min_size=1, max_size=3), GAPS, st.booleans())
def test_python_calls_get_one_more_argument_and_keep_the_others_and_their_comments(
    rows: list[tuple[str, str, str]], end: str, comma: bool
) -> None:
    order = {"**k": 2, "b=1": 1}
    names = sorted({row[1]: row for row in rows}.values(), key=lambda row: order.get(row[1], 0))
    inner = ",".join(before + argument + behind for before, argument, behind in names) + ("," if comma else "") + end
    text = f"f({inner})\n"
    tree = ast.parse(text).body[0]
    source = text.encode()
    fixed = after(source, argument(source, "python", first_call(source, "python"), "timeout=2"))
    again = ast.parse(fixed).body[0]
    assert isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Call)
    assert isinstance(again, ast.Expr) and isinstance(again.value, ast.Call)
    added = [keyword for keyword in again.value.keywords if keyword.arg == "timeout"]
    assert [ast.dump(keyword.value) for keyword in added] == ["Constant(value=2)"]
    again.value.keywords.remove(added[0])
    assert ast.dump(again) == ast.dump(tree)
    assert fixed.count("#") == text.count("#")


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("f(\n    a, b\n)", "f(\n    a, b, timeout=2\n)"),
        ("f(\n    a, b,  # both\n)", "f(\n    a, b, timeout=2,  # both\n)"),
        ("f(\n    a,\n    b\n)", "f(\n    a,\n    b,\n    timeout=2\n)"),
        ("f(a, b={\n    1: 2,\n}, c=3\n)", "f(a, b={\n    1: 2,\n}, c=3, timeout=2\n)"),
    ],
)
def test_where_several_arguments_share_a_line_the_new_one_joins_them(before: str, expected: str) -> None:
    source = f"{before}\n".encode()
    assert after(source, argument(source, "python", first_call(source, "python"), "timeout=2")) == f"{expected}\n"


def test_a_generator_without_parentheses_of_its_own_takes_no_further_argument() -> None:
    source = b"f(i for i in a)\n"
    assert argument(source, "python", first_call(source, "python"), "timeout=2") is None


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (b"T{}", "T{B: 2}"),
        (b"T{A: 1}", "T{A: 1, B: 2}"),
        (b"T{A: 1,}", "T{A: 1, B: 2}"),
        (b"T{\n\tA: 1, // one\n}", "T{\n\tA: 1, // one\n\tB: 2,\n}"),
        (b"T{A: 1,\n\tC: 3}", "T{A: 1,\n\tC: 3, B: 2}"),
        (b"T{\r\n\tA: 1,\r\n}", "T{\r\n\tA: 1,\r\n\tB: 2,\r\n}"),
        (b"T{A: 1 /* } */}", "T{A: 1, B: 2 /* } */}"),
    ],
)
def test_literals_of_go_get_one_more_field(before: bytes, expected: str) -> None:
    opening, closing = before.index(b"{"), len(before) - 1
    last = next((at + 1 for at in range(closing, opening, -1) if before[at : at + 1] in (b"1", b"3")), None)
    fixed = after(before, appended(before, "go", opening, last, closing, ("B: 2",)))
    assert fixed.replace(",}", "}") == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("T{\n\tA: 1,\n}", "T{\n\tA:     1,\n\tLong:  2,\n\tOther: 3,\n}"),
        ("T{\n\tLonger: 1,\n}", "T{\n\tLonger: 1,\n\tLong:   2,\n\tOther:  3,\n}"),
        ("T{\n\tA: 1,\n\n\tB: 1,\n}", "T{\n\tA: 1,\n\n\tB:     1,\n\tLong:  2,\n\tOther: 3,\n}"),
        ("T{\n\tA: f(\n\t\t1),\n}", "T{\n\tA: f(\n\t\t1),\n\tLong:  2,\n\tOther: 3,\n}"),
    ],
)
def test_fields_of_go_that_stand_below_each_other_have_their_values_in_one_column(before: str, expected: str) -> None:
    source = f"package a\n\nfunc f() {{\n\tg({before})\n}}\n".encode()
    call = first_call(source, "go")
    new = call.args[0].value
    assert isinstance(new, f.New)
    assert expected in after(source, entry(source, "go", new, {"Long": "2", "Other": "3"}))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("package a\n", 'package a\n\nimport "time"\n'),
        ('package a\n\nimport "fmt"\n', 'package a\n\nimport (\n\t"fmt"\n\t"time"\n)\n'),
        ('package a\n\nimport (\n\t"fmt"\n\n\t"x.org/y"\n)\n', 'package a\n\nimport (\n\t"fmt"\n\t"time"\n\n\t"x.org/y"\n)\n'),
        ('package a\n\nimport (\n\t"unsafe"\n)\n', 'package a\n\nimport (\n\t"time"\n\t"unsafe"\n)\n'),
        ('package a\n\nimport (\n\t"x.org/y"\n)\n', 'package a\n\nimport (\n\t"time"\n\n\t"x.org/y"\n)\n'),
        ('package a\r\n\r\nimport (\r\n\t"fmt"\r\n)\r\n', 'package a\r\n\r\nimport (\r\n\t"fmt"\r\n\t"time"\r\n)\r\n'),
    ],
)
def test_an_import_of_go_is_sorted_in(before: str, expected: str) -> None:
    check_import(before, expected, "go", "time")


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("package a;\n\nclass A {}\n", "package a;\n\nimport java.time.Duration;\n\nclass A {}\n"),
        (
            "import java.net.URI;\nimport java.util.List;\nclass A {}\n",
            "import java.net.URI;\nimport java.time.Duration;\nimport java.util.List;\nclass A {}\n",
        ),
        ("import java.util.List;\nclass A {}\n", "import java.time.Duration;\nimport java.util.List;\nclass A {}\n"),
        ("class A {}\n", "import java.time.Duration;\n\nclass A {}\n"),
    ],
)
def test_an_import_of_java_is_sorted_in(before: str, expected: str) -> None:
    check_import(before, expected, "java", "java.time.Duration")


def check_import(before: str, expected: str, language: str, target: str) -> None:
    source = before.encode()
    facts = f.decode(read(source, language, ""))
    cut = imported(source, language, facts.imports, target)
    assert cut is not None
    fixed = after(source, (cut,))
    assert fixed == expected
    names = [f"{imp.target}.{imp.name}".rstrip(".") for imp in f.decode(read(fixed.encode(), language, "")).imports]
    assert names.count(target) == 1


@given(st.text(alphabet=st.sampled_from("aß𝄞\n\r \t")), st.data())
def test_the_offset_of_a_place_is_the_one_it_was_made_of(text: str, data: st.DataObject) -> None:
    lines = Lines(text.encode())
    at = len(text[: data.draw(st.integers(0, len(text)))].encode())
    assert lines.offset(*lines.place(at)) == at
