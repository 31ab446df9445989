"""Encodings and ends of lines: read right where the language allows them, and said in one clear line where not."""

from __future__ import annotations

from pathlib import Path

import pytest
from resilint.model import Finding
from resilint.registry import rules
from resilint.run import run
from resilint.scope import Scope
from resilint.settings import Settings

PYTHON = "import requests\ndef f():\n    s = 'é'; requests.get(s)\n"
GO = 'package main\n\nimport "net/http"\n\nfunc f() {\n\ts := "é"; http.Get(s)\n}\n'
YAML = "a: 1\nb: é\nc: [1\n"
JSON = '{"a": 1,\n"b": "é",\n"c": [1\n'
BINARY = bytes(range(256)) * 8
RETURNS = ("\n", "\r")
BOTH = ("\n", "\r\n")


def check(folder: Path, name: str, data: bytes) -> list[Finding]:
    (folder / name).write_bytes(data)
    known = rules()
    ran = tuple(rule for rule in known if rule.code in ("RS002", "RS101"))
    return run(Scope(folder.resolve(), folder.resolve()), Settings(), ran, known).findings


def places(findings: list[Finding]) -> list[tuple[str, int, int]]:
    return [(one.code, one.span.line, one.span.col) for one in findings]


@pytest.mark.parametrize(
    ("name", "data", "place"),
    [
        ("a.py", PYTHON.encode(), (3, 14)),
        ("a.py", PYTHON.encode("utf-8-sig"), (3, 14)),
        ("a.py", PYTHON.replace(*BOTH).encode(), (3, 14)),
        ("a.py", PYTHON.replace(*RETURNS).encode(), (3, 14)),
        ("a.py", ("# a comment\n" + PYTHON).replace(*RETURNS).encode(), (4, 14)),
        ("a.py", b"\xef\xbb\xbfimport requests; requests.get('')\n", (1, 18)),
        ("a.py", ("# -*- coding: latin-1 -*-\n" + PYTHON).encode("latin-1"), (4, 14)),
        ("a.py", ("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n" + PYTHON).encode("cp1252"), (5, 14)),
        ("a.py", ("# coding: shift_jis\n" + PYTHON.replace("é", "表")).encode("shift_jis"), (4, 14)),
        ("a.go", GO.encode(), (6, 12)),
        ("a.go", GO.encode("utf-8-sig"), (6, 12)),
        ("a.go", GO.replace(*BOTH).encode(), (6, 12)),
        ("script", b"#!/usr/bin/env python3\r\n" + PYTHON.replace(*BOTH).encode(), (4, 14)),
    ],
)
def test_what_a_language_allows_is_read(tmp_path: Path, name: str, data: bytes, place: tuple[int, int]) -> None:
    assert places(check(tmp_path, name, data)) == [("RS101", *place)]


@pytest.mark.parametrize(
    ("name", "data", "message", "place"),
    [
        ("a.py", PYTHON.encode("utf-16"), "encoded as UTF-16, not UTF-8", (1, 1)),
        ("a.py", BINARY, "binary data, not text", (1, 1)),
        ("a.go", GO.encode("utf-16"), "encoded as UTF-16, not UTF-8", (1, 1)),
        ("a.go", BINARY, "binary data, not text", (1, 1)),
        ("a.yaml", BINARY, "binary data, not text", (1, 1)),
        ("a.yaml", YAML.encode("utf-16"), "not valid YAML: did not find expected ',' or ']'", (4, 1)),
        ("a.yaml", YAML.replace(*RETURNS).encode(), "not valid YAML: did not find expected ',' or ']'", (4, 1)),
        ("a.yaml", YAML.replace(*BOTH).encode("utf-8-sig"), "not valid YAML: did not find expected ',' or ']'", (4, 1)),
        ("a.json", JSON.encode("utf-16"), "encoded as UTF-16, not UTF-8", (1, 1)),
        ("a.py", PYTHON.encode("utf-32"), "encoded as UTF-32, not UTF-8", (1, 1)),
        ("a.go", b"\0\0\xfe\xff" + GO.encode("utf-32-be"), "encoded as UTF-32, not UTF-8", (1, 1)),
        ("a.json", JSON.encode("utf-32"), "encoded as UTF-32, not UTF-8", (1, 1)),
        ("a.json", JSON.replace(*RETURNS).encode(), "the file ends too early", (4, 1)),
        ("a.json", JSON.replace(*BOTH).encode("utf-8-sig"), "the file ends too early", (4, 1)),
        ("a.yaml", "a: 1\nb: é\n".encode("latin-1"), "not UTF-8 text: byte 0xe9", (2, 4)),
        ("a.json", '{"a":\n "é"}'.encode("latin-1"), "not UTF-8 text: byte 0xe9", (2, 3)),
        ("a.toml", 'a = 1\nb = "é"\n'.encode("latin-1"), "not UTF-8 text: byte 0xe9", (2, 6)),
    ],
)
def test_what_it_does_not_allow_is_one_line(tmp_path: Path, name: str, data: bytes, message: str, place: tuple[int, int]) -> None:
    found = check(tmp_path, name, data)
    assert places(found) == [("RS002", *place)]
    assert found[0].message.partition(" (and ")[0] == message


@pytest.mark.parametrize(
    ("name", "data", "message", "place", "wait"),
    [
        ("a.py", PYTHON.encode("latin-1"), "not UTF-8 text: byte 0xe9, and no encoding is declared", (3, 10), (3, 14)),
        ("a.py", b"# coding: latin-99\n" + PYTHON.encode(), "unknown encoding 'latin-99'", (1, 11), (4, 14)),
        ("a.py", b"# coding: punycode\n" + PYTHON.encode(), "unknown encoding 'punycode'", (1, 11), (4, 14)),
        ("a.py", b"# coding: zip\n" + PYTHON.encode(), "unknown encoding 'zip'", (1, 11), (4, 14)),
        ("a.py", b"# coding: ascii\n" + PYTHON.encode("latin-1"), "not the encoding 'ascii' that is declared", (1, 11), (4, 14)),
        (
            "a.go",
            GO.replace(*RETURNS).encode(),
            "lines end in carriage returns only, which Go does not take for them",
            (1, 1),
            (1, 56),
        ),
        ("a.go", GO.encode("latin-1"), "not UTF-8 text: byte 0xe9", (6, 8), (6, 12)),
    ],
)
def test_the_rest_of_such_a_file_is_checked(
    tmp_path: Path, name: str, data: bytes, message: str, place: tuple[int, int], wait: tuple[int, int]
) -> None:
    found = check(tmp_path, name, data)
    assert sorted(places(found)) == [("RS002", *place), ("RS101", *wait)]
    assert message in {one.message for one in found}


def test_properties_may_be_latin_1(tmp_path: Path) -> None:
    from resilint.run import Texts, read_program

    (tmp_path / "a.properties").write_bytes("a=é\rb=ü\n".encode("latin-1"))
    root = tmp_path.resolve()
    reading = read_program(Scope(root, root), Settings(), Texts(root))
    assert [(one.path, one.text) for one in reading.files["a.properties"].settings] == [(("a",), "é"), (("b",), "ü")]
    assert reading.findings == []


def test_an_archive_that_python_runs_is_no_source(tmp_path: Path) -> None:
    assert check(tmp_path, "tool", b"#!/usr/bin/env python3\nPK\x03\x04\x14\0\0\0") == []
