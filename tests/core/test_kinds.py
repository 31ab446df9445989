"""Every kind of file answers every question that a stage asks of kinds, and the answers hold."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from resilint.discover import kind_of_name
from resilint.facts import FileFacts, decode
from resilint.intake import read_file
from resilint.kinds import KINDS, Kind, dialect
from resilint.program import Program
from resilint.read import READERS
from resilint.read.encoding import as_read
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import load

COMMANDS = {
    "yaml": ("compose.yaml", "services:\n  shop:\n    command: >\n      gunicorn\n      --timeout 0\n"),
    "json": ("package.json", '{"scripts": {"start": "gunicorn --timeout 0"}}\n'),
    "toml": ("fly.toml", '[processes]\napp = "gunicorn --timeout 0"\n'),
    "ini": ("supervisord.ini", "[program:shop]\ncommand = gunicorn --timeout 0\n"),
    "env": ("shop.env", "RUN='gunicorn --timeout 0'\n"),
    "hcl": ("task.tf", 'command = ["gunicorn", "--timeout", "0"]\n'),
    "dockerfile": ("Dockerfile", "CMD gunicorn --timeout 0\n"),
    "text": ("Procfile", "web: gunicorn --timeout 0\n"),
    "python": ("a.py", "RUN = 'gunicorn --timeout 0'\n"),
    "go": ("a.go", 'package a\n\nconst run = "gunicorn --timeout 0"\n'),
    "java": ("A.java", 'class A { String run = "gunicorn --timeout 0"; }\n'),
    "properties": ("a.properties", "run = gunicorn --timeout 0\n"),
    "xml": ("beans.xml", "<beans><a>gunicorn --timeout 0</a></beans>\n"),
    "nginx": ("nginx.conf", "set $run 'gunicorn --timeout 0';\n"),
    "haproxy": ("haproxy.cfg", "global\n    program gunicorn --timeout 0\n"),
}
"""A command in a file of each kind: its option is found where commands may stand."""

BLOCKS = {
    "xml": ("web/applicationContext.xml", '<beans xmlns:d="urn:d"><d:protocol name="x"/></beans>\n'),
    "haproxy": ("haproxy.cfg", "frontend public\n    timeout client 0\n"),
}

JOINED = {
    # A comment within a command that goes on, and whether the option behind it is the command's.
    "yaml": ("compose.yaml", "a: |\n  gunicorn \\\n  # --timeout 1\n  --timeout 0\n"),
    "toml": ("fly.toml", "a = '''gunicorn \\\n# --timeout 1\n--timeout 0'''\n"),
    "env": ("shop.env", "A='gunicorn \\\n# --timeout 1\n--timeout 0'\n"),
    "ini": ("shop.service", "[Service]\nExecStart=gunicorn \\\n# --timeout 1\n ; --timeout 1 \\\n --timeout 0\n"),
    "hcl": ("task.tf", "run = <<EOT\ngunicorn \\\n# --timeout 1\n --timeout 0\nEOT\n"),
    "dockerfile": ("Dockerfile", "CMD gunicorn \\\n# --timeout 1\n --timeout 0\n"),
    "text": ("Procfile", "web: gunicorn \\\n# --timeout 1\n --timeout 0\n"),
}


def program(root: Path, file: tuple[str, str]) -> Program:
    path, text = file
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(text.encode())
    settings, texts = load(root), Texts(root)
    return link(read_program(Scope(root, root), settings, texts), settings, texts)


def timeouts(linked: Program) -> list[str]:
    (row,) = (row for row in linked.surfaces.surfaces if "gunicorn" in row.commands)
    return [value for *_, value in linked.surfaces.options(row, ["timeout"])]


def test_each_kind_has_its_row_and_each_row_its_answers() -> None:
    assert set(KINDS) == {*READERS, "text"}
    assert [field.name for field in fields(Kind) if field.default is not MISSING] == ["dialects"]
    assert set(COMMANDS) == set(KINDS)
    assert set(JOINED) == {kind for kind, of in KINDS.items() if of.comments}
    assert set(BLOCKS) == {kind for kind, of in KINDS.items() if of.blocks}


@pytest.mark.parametrize("kind", KINDS)
def test_commands(kind: str, tmp_path: Path) -> None:
    linked = program(tmp_path, COMMANDS[kind])
    assert [facts.kind for facts in linked.files.values()] == [kind]
    assert timeouts(linked) == ["0"] * KINDS[kind].commands


@pytest.mark.parametrize("kind", JOINED)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_within_commands(kind: str, end: str, tmp_path: Path) -> None:
    path, text = JOINED[kind]
    assert timeouts(program(tmp_path, (path, text.replace("\n", end)))) == ["0"] * KINDS[kind].joins


@pytest.mark.parametrize("kind", BLOCKS)
def test_blocks(kind: str, tmp_path: Path) -> None:
    linked = program(tmp_path, BLOCKS[kind])
    assert [facts.kind for facts in linked.files.values()] == [kind]
    assert linked.surfaces.written == ()
    assert [block.path for block in linked.surfaces.blocks] == [BLOCKS[kind][0]]


@pytest.mark.parametrize("kind", KINDS)
def test_code_and_ends_of_lines(kind: str) -> None:
    assert (as_read(b"a\rb", kind) == b"a\nb") == KINDS[kind].lone_return
    assert not (KINDS[kind].code and (KINDS[kind].blocks or KINDS[kind].commands))


@pytest.mark.parametrize("kind", READERS)
def test_utf_8(kind: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"# caf\xe9\n")
    facts: FileFacts = decode(read_file(str(tmp_path), "a", kind).facts)
    assert any(error.message.startswith("not UTF-8") for error in facts.errors) == KINDS[kind].utf_8_only


@pytest.mark.parametrize(
    ("path", "told"), [("a.service", ".service"), ("b/A.SERVICE", ".service"), ("a.ini", ""), ("service", ""), ("a.py", "")]
)
def test_dialects(path: str, told: str) -> None:
    assert dialect(kind_of_name(path) or "", path) == told


def test_dialects_are_suffixes_of_their_kind() -> None:
    for kind, of in KINDS.items():
        assert {kind_of_name("a" + suffix) for suffix in of.dialects} <= {kind}
