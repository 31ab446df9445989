"""Suppression comments as readers find them."""

from __future__ import annotations

import time

import pytest
from resilint.facts import decode
from resilint.read import read


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("python", "x = 1  # resilint: ignore[RS101] why\n"),
        ("python", "# resilint: ignore[RS101] why\n"),
        ("go", "var x = 1 // resilint: ignore[RS101] why\n"),
        ("yaml", "- x # resilint: ignore[RS101] why\n"),
        ("ini", "; resilint: ignore[RS101] why\n"),
        ("json", "// resilint: ignore[RS101] why\n"),
    ],
)
def test_time_grows_with_the_file_only(kind: str, line: str) -> None:
    count = 40_000
    start = time.perf_counter()
    facts = decode(read((line * count).encode(), kind))
    assert time.perf_counter() - start < 20
    assert [(one.line, one.codes, one.reason) for one in facts.suppressions] == [
        (n, ("RS101",), "why") for n in range(1, count + 1)
    ]


@pytest.mark.parametrize("kind", ["python", "yaml"])
@pytest.mark.parametrize(
    "mention", ["resilint: ignore[RS101] ", "resilint: ignore[", "resilint: ignroe ", "resilint", "# resilint"]
)
def test_a_long_line_of_them(kind: str, mention: str) -> None:
    start = time.perf_counter()
    decode(read(f"x: '{mention * 40_000}'\n".encode(), kind))
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("kind", "comment"), [("go", "/**/"), ("json", "/**/"), ("yaml", "{{/**/}}"), ("hcl", "/**/ "), ("xml", "<!---->")]
)
def test_a_line_of_nothing_but_comments(kind: str, comment: str) -> None:
    line = comment * 100_000
    mark = "//" if kind in ("go", "json") else "#"
    head, tail = ("package main\n" if kind == "go" else "", f" {mark} resilint: ignore[RS101] x\n")
    if kind == "xml":
        head, tail = "<beans>", "<!-- resilint: ignore[RS101] x --></beans>\n"
    start = time.perf_counter()
    facts = decode(read(f"{head}{line}{tail}".encode(), kind))
    assert time.perf_counter() - start < 20
    assert [one.codes for one in facts.suppressions] == [("RS101",)]


@pytest.mark.parametrize(
    ("kind", "opening"), [("hcl", " /* "), ("json", "/* "), ("yaml", "{{/* "), ("yaml", "{# "), ("json", '"\\'), ("hcl", '"')]
)
def test_openings_without_an_end(kind: str, opening: str) -> None:
    start = time.perf_counter()
    decode(read((opening * 100_000 + "\n# resilint: ignore[RS101]\n// resilint: ignore[RS101]\n").encode(), kind))
    assert time.perf_counter() - start < 20


def test_places_count_characters() -> None:
    facts = decode(read("é: 'ü' # é resilint: ignore[RS101]\nb: 1 # resilint: ignore[RS1]\n".encode(), "yaml"))
    assert [(one.line, one.column, one.own_line) for one in facts.suppressions] == [(1, 12, False), (2, 8, False)]
