"""Globs match whole folders, stop at slashes, and know `**`."""

from __future__ import annotations

import time

import pytest
from resilint.globs import fault, matcher


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("scripts/**", "scripts/a/b.py", True),
        ("scripts/**", "x/scripts/a.py", False),
        ("scripts", "x/scripts/a.py", True),
        ("scripts/", "scripts/a.py", True),
        ("*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/*/c.py", "a/b/c.py", True),
        ("**/testdata/**", "testdata/x", True),
        ("**/testdata/**", "a/b/testdata/x/y", True),
        ("a?c.py", "abc.py", True),
        ("a?c.py", "a/c.py", False),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("a+b.py", "a+b.py", True),
        ("/top.py", "top.py", True),
        ("/top.py", "a/top.py", False),
        ("./a/b.py", "a/b.py", True),
        ("src/test/**", "src/test/A.java", True),
        ("a/**/b/**/c", "a/x/b/b/y/c", True),
        ("a/**/b/**/c", "a/b/c", True),
        ("a/**/b/**/c", "a/c/b", False),
        ("a/**/b/c", "a/b/x/b/c", True),
        ("**/a/b/**/c/*.py", "a/x/a/b/b/c/c/d.py", True),
        ("**/**", "a", True),
        ("**", "a/b", True),
        ("*a*b*.py", "xaxaxbxb.py", True),
        ("*a*b", "ba", False),
        ("*ab*ab", "ab", False),
        ("*ab*ab", "abab", True),
        ("*a*", "b/xay/c", True),
        ("a**b", "a/x/b", True),
        ("*.??", "a.py", True),
    ],
)
def test_patterns(pattern: str, path: str, matches: bool) -> None:
    assert matcher([pattern])(path) is matches


def test_no_pattern_matches_nothing() -> None:
    assert not matcher([])("a")


@pytest.mark.parametrize("glob", ["[", "a/[b", "x[]", "[]/[a", "[z-a]", "[!]"])
def test_what_is_no_glob(glob: str) -> None:
    assert fault(glob)


@pytest.mark.parametrize(
    ("glob", "path"), [("[[]", "["), ("[]]", "]"), ("a[!b]", "ac"), ("[a&&b]", "&"), ("]", "]"), ("[\\\\]", "\\")]
)
def test_brackets_hold_any_character(glob: str, path: str, recwarn: pytest.WarningsRecorder) -> None:
    assert fault(glob) is None and matcher([glob])(path)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("**/" * 30 + "b", "a/" * 60 + "a"),
        ("*a" * 20 + "b", "a" * 200),
        ("**/a/" * 20 + "b", "a/" * 200 + "c"),
        ("**/*a*a/" * 20 + "b", "aaaa/" * 200 + "c"),
    ],
)
def test_time_does_not_explode(glob: str, path: str) -> None:
    start = time.perf_counter()
    assert not matcher([glob])(path)
    assert time.perf_counter() - start < 5


def test_what_would_explode_is_no_glob() -> None:
    assert fault("**a*a*a*a*b") and fault("a**/b**/c**/d")
    assert fault("a/**b") is None and fault("**/*_*_*_*_*.py") is None
