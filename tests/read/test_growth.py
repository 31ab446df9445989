"""Facts grow with the file, whatever is nested in what: what stands twice in them at each level would double at each level.
And so does the time that reading takes, whatever the file repeats."""

from __future__ import annotations

import re
import time

import pytest
from resilint.facts import decode
from resilint.intake import read_bytes
from resilint.read import treesitter

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


# ---------------------------------------------------------------- broken code

# What took the square of its length or worse, found by trying pairs of tokens: 20 kB took up to 20 s.
BROKEN = [
    ("a.go", "go", "match x:\n case ", "package a\n"),
    ("a.go", "go", "[a]<-", "package a\nfunc f() {\n x := "),
    ("a.go", "go", "/*struct ", ""),
    ("A.java", "java", ">a = ", "class A { "),
    ("A.java", "java", "case 1: ", ""),
    ("A.java", "java", "List<", ""),
    ("A.java", "java", ",/*", "class A { void f() { x = "),
    ("a.py", "python", "and +", "def f():\n  x = "),
    ("a.py", "python", '"\\', ""),
    ("a.py", "python", "#class A:\n ", "def f():\n  x = "),
    ("a.tf", "hcl", "a = f(/*", ""),
    ("nginx.conf", "nginx", 'content_by_lua_block {\\"', ""),
]


@pytest.mark.parametrize(("path", "kind", "unit", "before"), BROKEN, ids=[f"{kind} {unit!r}" for _, kind, unit, _ in BROKEN])
def test_reading_broken_code_takes_no_longer_for_its_length(path: str, kind: str, unit: str, before: str) -> None:
    def seconds(size: int) -> float:
        data = (before + unit * (size // len(unit))).encode()
        begin = time.process_time()
        outcome = read_bytes(data, path, kind)
        taken = time.process_time() - begin
        assert not outcome.problem and decode(outcome.facts).errors
        return taken

    # 4 times the bytes; the square of them would be 16. Below some hundredths of a second the clock and what is imported count.
    assert seconds(20_000) < 9 * max(seconds(5_000), 0.06)


HOPELESS = [
    ("a.go", "go", "func sound() {\n\twork()\n}\n", "match x:\n case "),
    ("A.java", "java", "class A {\n    void sound() { work(); }\n}\n", "case 1: "),
    ("a.py", "python", "def sound():\n    work()\n\n", "--> "),
]


@pytest.mark.parametrize(("path", "kind", "sound", "unit"), HOPELESS)
def test_what_stands_in_front_of_a_hopeless_place_is_read_and_one_error_says_where_that_ends(
    path: str, kind: str, sound: str, unit: str
) -> None:
    data = (sound * 20 + unit * 1500).encode()
    outcome = read_bytes(data, path, kind)
    facts = decode(outcome.facts)
    assert [function.name for function in facts.functions].count("sound") == 20
    (error,) = facts.errors
    assert error.message == "too broken to be read from here on"
    assert len(sound) * 20 <= error.at < len(sound) * 20 + 4000
    # Work is counted, not time: another run says the same.
    assert read_bytes(data, path, kind) == outcome


def test_sound_code_is_never_too_much_work() -> None:
    for path, kind, source in (
        ("a.go", "go", "package a\n\n" + "func f() { x := []int{1, 2, 3}; if x { y(z{a: 1}) } }\n" * 1500),
        ("A.java", "java", "class A { " + "int f(int a) { return a < 1 ? (b) c : d.e(x -> a + 1); }\n" * 1500 + "}"),
        ("a.py", "python", "def f(a, b=1, *c):\n    # why\n    return [a + 1 for a in b if c] or {1: 2, **a}\n\n" * 1500),
        # A comment behind the last brace, longer than any unfinished statement may be.
        ("A.java", "java", "class A { }\n" + "// license\n" * 1000),
    ):
        outcome = read_bytes(source.encode(), path, kind)
        assert not outcome.problem and not decode(outcome.facts).errors


def test_a_file_that_only_the_clock_stops_has_no_facts_that_could_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treesitter, "_MOST_SECONDS", 0.0)
    monkeypatch.setattr(treesitter, "_SECONDS_PER_BYTE", 0.0)
    outcome = read_bytes(b"0x\n " * 2000, "a.py", "python")
    assert "takes too long" in outcome.problem and not outcome.crash and not outcome.facts and not outcome.key
