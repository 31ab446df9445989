"""Facts grow with the file, whatever is nested in what: what stands twice in them at each level would double at each level."""

from __future__ import annotations

import re

import pytest
from resilint.intake import read_bytes

EXPRESSIONS = {
    "python": (
        *("x = (a < {} < b)", "x = a < {} < b", "x = a < b < {}", "x = [{} for y in z]", "x = {} if {} else c", "x += {}"),
        *(
            "x = y = {}",
            "x: int = {}",
            "x = ({} := 1)",
            "x = a[{}]",
            "x = lambda q={}: q",
            "x = await {}",
            "x = {}.b",
            "x = a({}={})",
        ),
        *("x = not {}", "x = {} and b", "x = -{}", "x = {}(b)", "assert {}", "x = (a, {})", "x = a ** {}", "x, y = {}, {}"),
    ),
    "go": (
        *(
            "a < {}",
            "a[{}]",
            "f({})",
            "{}(a)",
            "-{}",
            "*{}",
            "<-{}",
            "a && {}",
            "T{{{}}}",
            "func() int {{ return {} }}()",
            "{}.(T)",
        ),
        *("{}.a", "a[{}:]", "[]int{{{}}}", "map[int]int{{{}: 1}}", "{} + a"),
    ),
    "java": (
        *(
            "a < {}",
            "a[{}]",
            "f({})",
            "{}.f(a)",
            "-{}",
            "(int) {}",
            "a && {}",
            "new A({})",
            "(x -> {})",
            "{}++",
            "-- {}",
            "(a = {})",
        ),
        *("(a += {})", "(a[{}] += 1)", "({} += 1)", "a[{}++]++", "(b ? {} : c)", "{} instanceof B b", "new int[] {{{}}}"),
        *("switch (a) {{ case 1 -> {}; default -> 2; }}", "switch ({}) {{ case 1, 2 -> 3; default -> 2; }}", "{} + a"),
    ),
}
STATEMENTS = {
    "go": (
        *("if a {{ {} }}", "for i := 0; i < 3; i++ {{ continue; {} }}", "switch a {{ case 1: fallthrough; case 2: {} }}"),
        *(
            "select {{ case <-a: {} }}",
            "func() {{ {} }}()",
            "go func() {{ {} }}()",
            "defer func() {{ {} }}()",
            "for i := range a {{ {} }}",
        ),
        *("switch x := a.(type) {{ case A, B: {} }}", "if a := f(); a {{ {} }} else {{ {} }}", "L: for {{ {} }}"),
    ),
    "java": (
        *("for (int i = 0; i < 3; i++) {{ if (b) continue; {} }}", "while (a) {{ {} }}", "do {{ {} }} while (a);"),
        *("switch (a) {{ case 1: f(); case 2: {} }}", "switch (a) {{ case 1: {} case 2: g(); default: h(); }}"),
        *("try {{ {} }} finally {{ f(); }}", "try {{ f(); }} finally {{ {} }}", "try (A b = c) {{ {} }}"),
        *("try {{ f(); }} catch (A | B e) {{ {} }} finally {{ g(); }}", "new A() {{ void f() {{ {} }} }};", "r(() -> {{ {} }});"),
    ),
}
BLOCKS = (
    *("if x:\n{}", "for x in y:\n{}", "for x in y:\n a()\nelse:\n{}", "with a as b, c:\n{}", "try:\n{}\nexcept A:\n a()"),
    *("try:\n a()\nexcept A:\n{}", "try:\n a()\nfinally:\n{}", "match a:\n case 1 | 2:\n{}", "def f():\n{}", "class A:\n{}"),
    *("while x:\n if a:\n  continue\n{}", "if x:\n a()\nelif y:\n{}"),
)
AROUND = {
    "python": ("a.py", "{}"),
    "go": ("a.go", "package a\nfunc f() {{ x := {} }}\n"),
    "java": ("A.java", "class A {{ void f() {{ x = {}; }} }}"),
}


def growth(kind: str, sources: list[str]) -> float:
    """How many times larger facts become where the file becomes one time larger."""
    sizes = []
    for source in sources:
        outcome = read_bytes(source.encode(), AROUND[kind][0], kind)
        assert not outcome.crash, outcome.problem
        sizes.append(len(outcome.facts))
    return (sizes[1] / sizes[0]) / (len(sources[1]) / len(sources[0]))


def nested(template: str, inner: str, times: int) -> str:
    head, equals, form = template.rpartition(" = ") if re.match(r"x[^(]* = ", template) else ("", "", template)
    for _ in range(times):
        first = form.index("{}")
        inner = (form[:first] + f"({inner})" + form[first + 2 :]).replace("{}", "w").replace("{{", "{").replace("}}", "}")
    return head + equals + inner


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_expressions_in_expressions(kind: str) -> None:
    around = AROUND[kind][1]
    for template in EXPRESSIONS[kind]:
        sources = [around.replace("{}", nested(template, "z", times)).replace("{{", "{").replace("}}", "}") for times in (5, 11)]
        assert growth(kind, sources) < 2.5, template


@pytest.mark.parametrize("kind", STATEMENTS)
def test_statements_in_statements(kind: str) -> None:
    for template in STATEMENTS[kind]:
        form = template.replace("{{", "{").replace("}}", "}")
        sources = []
        for times in (5, 11):
            inner = "z();"
            for _ in range(times):
                inner = form.replace("{}", inner, 1).replace("{}", "w();")
            sources.append(f"package a\nfunc f() {{ {inner} }}\n" if kind == "go" else f"class A {{ void f() {{ {inner} }} }}")
        assert growth(kind, sources) < 2.5, template


@pytest.mark.parametrize("form", BLOCKS)
def test_blocks_in_blocks(form: str) -> None:
    sources = []
    for times in (5, 11):
        inner = "z()"
        for _ in range(times):
            inner = form.replace("{}", "\n".join(f"   {line}" for line in inner.split("\n")))
        sources.append(inner)
    assert growth("python", sources) < 2.5


@pytest.mark.parametrize("unit", ["---\n", "-- ", "++ ", "!", "~", "(", "x < (", "*a, **kw"])
def test_rows_of_operators_end(unit: str) -> None:
    for kind, (path, around) in AROUND.items():
        source = around.replace("{}", unit * 200 + "x").replace("{{", "{").replace("}}", "}")
        outcome = read_bytes(source.encode(), path, kind)
        assert not outcome.crash and len(outcome.facts) < 200_000
