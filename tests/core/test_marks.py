"""Which findings of two states are the same one."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from resilint.facts import decode
from resilint.marks import Mark, fingerprints, marks_of, match, scopes_in
from resilint.model import Confidence, Finding, Severity, Span
from resilint.read import read
from resilint.text import Lines

# How long anything takes says something of the machine only.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

FILES = {"a.py", "b.py", "new.py"}
MARKS = st.builds(
    Mark,
    path=st.sampled_from(["a.py", "b.py", "gone.py", "new.py"]),
    code=st.sampled_from(["RS101", "RS102"]),
    message=st.sampled_from(["waits", "waits for # s"]),
    scope=st.sampled_from(["f", "C.f", "g", "~1", "~2"]),
    line=st.sampled_from(["l1", "l2", ""]),
)


def scopes(path: str) -> frozenset[str] | None:
    return frozenset({"f", "C.f"}) if path in FILES else None


@unhurried
@given(st.lists(MARKS, max_size=12).flatmap(lambda marks: st.tuples(st.just(marks), st.permutations(marks))))
def test_a_state_is_known_to_itself(states: tuple[list[Mark], list[Mark]]) -> None:
    new, old = states
    found = match(new, old, scopes)
    assert found.known == [True] * len(new) and found.gone == []


@unhurried
@given(st.lists(MARKS, max_size=8), st.lists(MARKS, max_size=8))
def test_each_old_one_stands_for_one_new_one_of_its_rule(new: list[Mark], old: list[Mark]) -> None:
    found = match(new, old, scopes)
    assert sum(found.known) + len(found.gone) == len(old)
    for code in ("RS101", "RS102"):
        known = sum(is_known for is_known, mark in zip(found.known, new, strict=True) if mark.code == code)
        assert known + sum(mark.code == code for mark in found.gone) == sum(mark.code == code for mark in old)


def mark(path: str, scope: str = "f", line: str = "l1", message: str = "waits") -> Mark:
    return Mark(path, "RS101", message, scope, line)


def test_what_is_most_alike_is_paired_first() -> None:
    old = [mark("a.py", line="l1")]
    new = [mark("a.py", line="l2"), mark("a.py", line="l1")]
    assert match(new, old, scopes).known == [False, True], "the edited line would fit as well"


def test_a_function_that_is_still_there_was_not_moved() -> None:
    assert match([mark("b.py")], [mark("a.py")], scopes).known == [False]
    assert match([mark("b.py", "X.g")], [mark("a.py", "g")], scopes).known == [True], "g is no longer in a.py"


def test_a_function_that_is_still_there_was_not_renamed() -> None:
    assert match([mark("a.py", "g")], [mark("a.py", "f")], scopes).known == [False], "f was mended, g is new"
    assert match([mark("a.py", "f")], [mark("a.py", "g")], scopes).known == [True], "g is no longer there"
    assert match([mark("a.py", "g")], [mark("a.py", "~1")], scopes).known == [True], "what was in no function may be in one now"


def test_a_file_that_is_gone_went_where_most_of_it_is() -> None:
    old = [mark("gone.py", "f", "l1"), mark("gone.py", "e", "l0"), mark("gone.py", "g", "l2"), mark("gone.py", "h", "l3")]
    new = [mark("new.py", "f", "l1"), mark("new.py", "e", "l0"), mark("b.py", "g", "l2"), mark("new.py", "h", "edited")]
    assert match(new, old, scopes).known == [True, True, True, True]
    assert match(new[3:], old, scopes).known == [False], "nothing says where it went"
    assert match(new[3:], old, scopes, {"gone.py": "new.py"}).known == [True], "git says it"


def test_what_is_gone_keeps_the_path_it_had() -> None:
    old = [mark("gone.py", "f", "l1"), mark("gone.py", "g", "l2", "other")]
    found = match([mark("new.py", "f", "l1")], old, scopes, {"gone.py": "new.py"})
    assert found.gone == [old[1]]


SOURCE = b"""\
import requests


class Client:
    def fetch(self, url):
        return list(map(lambda one: requests.get(one), [url]))


requests.get("/")
"""
CONFIG = b"""\
servers:
  - name: a
    timeout: 0s
  - name: b
    timeout: 0s
"""


def marks(path: str, kind: str, data: bytes, *places: tuple[int, int], message: str = "waits for 3 s") -> list[Mark]:
    found = [
        Finding(Span(path, line, col, line, col + 1), "RS101", "x", Severity.ERROR, message, Confidence.HIGH)
        for line, col in places
    ]
    files = {path: decode(read(data, kind))}
    made = marks_of(found, files, lambda _: Lines(data))
    assert all(one.scope.startswith("~") or one.scope in (scopes_in(files)(path) or ()) for one in made)
    return made


def test_the_scope_is_the_function_or_the_key_else_the_lines_around() -> None:
    inner, outer = marks("a.py", "python", SOURCE, (6, 37), (9, 1))
    assert inner.scope == "Client.fetch", "not the lambda, whose number changes"
    assert outer.scope.startswith("~")
    first, second = marks("a.yaml", "yaml", CONFIG, (3, 14), (5, 14))
    assert first.scope == second.scope == "servers.timeout", "not the index, which changes"


def test_line_numbers_and_numbers_in_messages_are_no_part_of_a_mark() -> None:
    (one,) = marks("a.py", "python", SOURCE, (6, 37))
    (other,) = marks("a.py", "python", b"\n# a comment\n" + SOURCE, (8, 37), message="waits for 4.5 s")
    assert one == other and one.message == "waits for # s"
    assert marks("a.py", "python", SOURCE.replace(b"    ", b"\t"), (6, 31))[0].line == one.line, "nor is white space"


def test_fingerprints_of_equal_marks_are_counted() -> None:
    one = mark("a.py")
    first, second = fingerprints([one, one])
    assert first != second and fingerprints([one]) == [first]
    assert fingerprints([mark("a.py", scope="g")]) == [first], "a fingerprint says nothing of the function"


def test_a_place_outside_of_the_text_has_a_mark() -> None:
    (one,) = marks("a.py", "python", b"", (7, 9))
    assert one.line == "" and one.scope.startswith("~")
