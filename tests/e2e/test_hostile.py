"""Whatever lies in a tree, or becomes of it, of the cache or of the run: everything else still comes out, and soon."""

from __future__ import annotations

import codecs
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from resilint.cli import main
from resilint.discover import MOST_LINES, kind_of_name
from resilint.intake import read_bytes
from resilint.kinds import KINDS
from resilint.model import Confidence
from resilint.registry import rules
from resilint.run import run
from resilint.scope import Scope
from resilint.settings import Settings

FAULT = "import requests\n\nrequests.get('http://users/')\n"
"""One RS101 at 3:1, whatever else there is."""

NAMES = {
    "python": "a.py",
    "go": "a.go",
    "java": "A.java",
    "yaml": "a.yaml",
    "json": "a.json",
    "toml": "a.toml",
    "properties": "a.properties",
    "ini": "a.ini",
    "xml": "pom.xml",
    "env": ".env",
    "nginx": "nginx.conf",
    "haproxy": "haproxy.cfg",
    "hcl": "a.tf",
    "dockerfile": "Dockerfile",
}
MOST_SECONDS = 2.0


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one fault in it, and a cache of its own beside it."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "fault.py").write_text(FAULT)
    monkeypatch.setenv("RESILINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(root)
    return root


def report(*arguments: str, code: int = 1) -> dict[str, Any]:
    """The JSON report of a run in this process; the fault is always among it."""
    done = CliRunner().invoke(main, ["check", "--format", "json", "--jobs", "1", *arguments])
    assert done.exit_code == code, f"{done.exit_code}: {done.output}"
    found: dict[str, Any] = json.loads(done.stdout)
    assert ("fault.py", 3, "RS101") in [(one["path"], one["line"], one["code"]) for one in found["findings"]]
    return found


def codes(found: dict[str, Any]) -> dict[str, list[str]]:
    """What was found in each file but the faulty one."""
    by_path: dict[str, list[str]] = {}
    for one in found["findings"]:
        if one["path"] != "fault.py":
            by_path.setdefault(one["path"], []).append(one["code"])
    return by_path


# ---------------------------------------------------------------- files


def test_every_kind_has_a_name_here() -> None:
    assert {kind: kind_of_name(name) for kind, name in NAMES.items()} == {kind: kind for kind in KINDS if kind != "text"}


ALIASES = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 60))
MERGES = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], k{n}: *a{n - 1}}}\n" for n in range(1, 60))
ENTITIES = '<!DOCTYPE beans [<!ENTITY a0 "aaaaaaaaaa">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 30))
OUTSIDE = '<!DOCTYPE beans [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY % y SYSTEM "http://127.0.0.1:9/x"> %y;]>'

SELF_PYTHON = """\
class A(A): pass
class B(C): pass
class C(B):
    def f(self, x=None):
        return self.f(self.f)
x = y
y = x
C().f(x)
"""
SELF_GO = """\
package a

type A struct{ A }
type B interface{ B }
func f(x func()) func() { return f(f(x)) }
var x = y
var y = x
"""
SELF_JAVA = """\
class A extends A {
    A a = new A(a);
    int f(int x) { return f(f(x)); }
    interface B extends C {}
    interface C extends B {}
}
"""

BOMBS = {
    "aliases.yaml": ALIASES,
    "merges.yaml": MERGES,
    "circle.yaml": "a: &a\n  b: *a\n  <<: *a\n",
    "tags.yaml": "a: !!python/object/apply:os.system ['touch ran']\nb: !<tag:x,2000:y> {c: !!binary '////'}\n",
    "long.json": '{"a": "' + "\\u0061" * 100_000 + '", "a": ' + "9" * 100_000 + ', "b": 1e999, "c": -0.0}',
    "expand.properties": "a=${b}\nb=${a}${a}\n" + "".join(f"c{n}=${{c{n - 1}}}${{c{n - 1}}}\n" for n in range(60)),
    "expand.env": "A=$B\nB=${A}${A}\n" + "".join(f"C{n}=${{C{n - 1}}}${{C{n - 1}}}\n" for n in range(1, 60)),
    "expand.tf": "locals {\n" + "".join(f'  c{n} = "${{local.c{n - 1}}}${{local.c{n - 1}}}"\n' for n in range(1, 60)) + "}\n",
    "include.conf": "http { include include.conf; include /etc/passwd; server { include *; } }\n",
    "beans.xml": f"{ENTITIES}]><beans>&a29;</beans>",
    "context.xml": f"{OUTSIDE}<beans>&x;</beans>",
    "web/pom.xml": '<project xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file:///etc/passwd"/></project>',
    "numbers.py": "import requests\nrequests.get('u', timeout=" + "9" * 5000 + ")\nx = 0x" + "f" * 5000 + "\ny = 1e999 - 1e999\n",
    "calls.py": "".join(f"def f{n}(x):\n    return f{n + 1}(f{n + 1}(x))\n" for n in range(60)) + "f0(1)\n",
    "self.py": SELF_PYTHON,
    "self.go": SELF_GO,
    "Self.java": SELF_JAVA,
    "Hopeless.java": "case 1: " * 3000,
    "hopeless.go": "package a\n" + "match x:\n case " * 1500,
    "expression.py": "x = " + " + ".join(["'a'"] * 20_000) + "\n" + "y = " + " if a else ".join("abc" * 500) + "\n",
}


def test_bombs_cost_nobody_anything(tree: Path) -> None:
    for name, text in BOMBS.items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text)
        kind = kind_of_name(name) or "xml"
        begin = time.process_time()
        assert not read_bytes(text.encode(), name, kind).crash
        assert time.process_time() - begin < MOST_SECONDS, name
    begin = time.process_time()
    found = report("--no-cache", "--show-trace")
    assert time.process_time() - begin < MOST_SECONDS * len(BOMBS) / 4
    assert not found["errors"] and "root:" not in json.dumps(found)
    assert not (tree / "ran").exists()


OPENINGS = {
    "python": ("(", "[", "{", "x(", "if x:\n ", "lambda: ", "not ", "-", "f'{", "def f():\n ", "class A:\n ", "a.b(", "x if "),
    "go": ("(", "[", "{", "f(", "func() { ", "if x { ", "[]", "*", "map[x]", "struct { a ", "-", "<-", "select { case "),
    "java": (
        "(",
        "[",
        "{",
        "f(",
        "class A { ",
        "if (x) { ",
        "List<",
        "@A(",
        "x -> ",
        "new A() { ",
        "!",
        "a.b(",
        "switch (x) { case ",
    ),
    "yaml": ("[", "{", "- ", "{a: ", "? ", "&a [", "{{", "a: |\n", "!a ", "'"),
    "json": ("[", "{", '{"a":', '[{"a":', '"', "[1,"),
    "toml": ("a = [", "[", "a = {", "[[", "a.", '"""', "a = {a="),
    "properties": ("a.", "${", "a=\\\n", "[", "a["),
    "ini": ("[", "a=\\\n", "[a]\n", "%("),
    "xml": ("<a>", "<a b='", "<!--", "<![CDATA[", "<!DOCTYPE a [", "<?", "&a", "<a ", "</"),
    "env": ("A=$(", "A=${", 'A="', "A='", "A=`", "A=\\\n"),
    "nginx": ("a {", "server {", "a '", "a ${", "if (", "{"),
    "haproxy": ("backend ", "a {", '"', "a\\", "frontend x\n"),
    "hcl": ("a {", "a = [", "a = {", 'a = "${', "(", "<<E\n", "/*", "a = f(", "%{"),
    "dockerfile": ("RUN [", "RUN a \\\n", "RUN <<E\n", "FROM a AS ", "ENV A=${", 'RUN "', "COPY --a="),
}


@pytest.mark.parametrize("kind", OPENINGS)
def test_nesting_100_000_deep_is_read_or_refused_at_once(kind: str) -> None:
    for opening in OPENINGS[kind][:3]:
        data = (opening * 100_000).encode()
        begin = time.process_time()
        outcome = read_bytes(data, NAMES[kind], kind)
        took = time.process_time() - begin
        assert not outcome.crash, f"{opening!r}: {outcome.problem}"
        assert took < MOST_SECONDS * max(1, len(data) / 200_000), f"{opening!r}: {took:.1f} s for {len(data)} bytes"


def test_deep_files_of_every_kind_are_checked_to_the_end(tree: Path) -> None:
    for kind, openings in OPENINGS.items():
        for number, opening in enumerate(openings[:4]):
            file = tree / f"{kind}{number}" / NAMES[kind]
            file.parent.mkdir()
            file.write_text(opening * 3000)
    assert not report("--no-cache")["errors"]


def _encodings() -> Iterator[tuple[str, bytes]]:
    text = "# é\n" + FAULT
    yield "with a mark", codecs.BOM_UTF8 + text.encode()
    yield "carriage returns and line feeds", text.replace("\n", "\r\n").encode()
    yield "carriage returns", text.replace("\n", "\r").encode()
    yield "latin 1, declared", b"# coding: latin-1 \xe9\n" + FAULT.encode()
    yield "shift jis, declared", "# coding: shift_jis 日\n".encode("shift_jis") + FAULT.encode()
    yield "cyrillic, declared", "# -*- coding: koi8-r -*- ж\n".encode("koi8-r") + FAULT.encode()
    yield "bytes that are no text", b"# \xff\xfe\xc3\n" + FAULT.encode()
    yield "halves of characters", b"# \xed\xa0\x80\n" + FAULT.encode()
    yield "no text behind", text.encode() + b"\xff" * 10
    yield "a form feed and a vertical tab", b"\x0c# \x0b\n" + FAULT.encode()
    yield "nothing behind the last line", text.rstrip("\n").encode()


@pytest.mark.parametrize(("data"), [pytest.param(data, id=name) for name, data in _encodings()])
def test_a_fault_is_found_however_its_file_is_encoded(data: bytes, tree: Path) -> None:
    (tree / "other.py").write_bytes(data)
    assert "RS101" in codes(report())["other.py"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_what_python_itself_does_not_read_is_said(encoding: str, tree: Path) -> None:
    (tree / "other.py").write_text(FAULT, encoding)
    assert codes(report()) == {"other.py": ["RS002"]}


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 40, b"\0" * 5000, b"\x7fELF" + os.urandom(0) + b"\0\1\2" * 900, b"a\0b = 1\n"]
)
def test_binary_data_of_every_kind_costs_no_other_file_its_findings(data: bytes, tree: Path) -> None:
    for kind, name in NAMES.items():
        (tree / kind).mkdir()
        (tree / kind / name).write_bytes(data)
    found = report()
    assert not found["errors"] and {code for several in codes(found).values() for code in several} <= {"RS002"}


def test_30_megabytes_are_passed_over_and_said(tree: Path) -> None:
    for kind, name in NAMES.items():
        (tree / kind).mkdir()
        with open(tree / kind / name, "wb") as stream:
            stream.truncate(30_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = CliRunner().invoke(main, ["check", "-v", "--no-cache"])
    assert [line for line in done.stderr.splitlines() if "30" not in line and line.endswith("larger than 5 MB")]
    assert done.stderr.count("larger than 5 MB") == len(NAMES) and "RS101" in done.stdout
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


@pytest.mark.parametrize(
    ("name", "line"), [("a.properties", "-\n"), ("nginx.conf", "a;"), ("a.toml", "[[a]]\n"), ("a.yaml", "---\r")]
)
def test_settings_without_number_are_passed_over(name: str, line: str, tree: Path) -> None:
    (tree / name).write_text(line * (MOST_LINES + 1))
    begin = time.process_time()
    done = CliRunner().invoke(main, ["check", "-v", "--no-cache"])
    assert time.process_time() - begin < MOST_SECONDS
    assert f"skipped {name}: generated or minified" in done.stderr and "RS101" in done.stdout


# ---------------------------------------------------------------- names, links, pipes

NAMES_OF_FILES = [
    b"new\nline.py",
    b"carriage\rreturn.py",
    b"caf\xe9.py",
    b"\x1b[31mred.py",
    b"-rf.py",
    b"quote\"'<&>.py",
    b"%0A::error::.py",
]
FORMS = ["text", "json", "sarif", "github", "gitlab", "junit"]


@pytest.mark.parametrize("in_git", [False, True])
def test_any_file_name_is_reported_in_every_format(in_git: bool, tree: Path) -> None:
    for name in NAMES_OF_FILES:
        (tree / os.fsdecode(name)).write_text(FAULT)
    if in_git:
        subprocess.run(["git", "init", "-q"], check=True)
    done = CliRunner().invoke(main, ["check", *(f"--output={form}:{tree.parent / form}" for form in FORMS)])
    assert done.exit_code == 1, done.output
    for form in FORMS:
        written = (tree.parent / form).read_bytes().decode()
        assert written.count("can wait for ever") >= len(NAMES_OF_FILES) + 1, form
        # Each name stays on its line, and none moves the cursor.
        lines = [line for line in written.split("\n") if line.startswith(("line.py", "::error::.py"))]
        assert not lines and "\x1b[31m" not in written and "\r" not in written
    done = CliRunner().invoke(main, ["check", "--diff", "--unsafe-fixes"])
    assert done.exit_code == 1 and done.stdout_bytes.count(b"+requests.get('http://users/', timeout=") == len(NAMES_OF_FILES) + 1


@pytest.mark.parametrize("in_git", [False, True])
def test_loops_of_links_and_pipes_are_passed_over(in_git: bool, tree: Path) -> None:
    (tree / "loop.py").symlink_to("loop.py")
    (tree / "one.py").symlink_to("two.py")
    (tree / "two.py").symlink_to("one.py")
    (tree / "nothing.py").symlink_to("gone.py")
    (tree / "device.py").symlink_to("/dev/zero")
    (tree / "folder").mkdir()
    (tree / "folder" / "up").symlink_to("..")
    (tree / "folder" / "self").symlink_to(".")
    os.mkfifo(tree / "pipe.py")
    os.mkfifo(tree / ".gitignore")
    os.mkfifo(tree / "no-suffix")
    if in_git:
        subprocess.run(["git", "init", "-q"], check=True)
        (tree / ".gitignore").unlink()
    assert codes(report()) == {}


def test_states_of_a_hostile_tree_are_compared_to_the_end(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--changed` and `--staged` read what git keeps of such a tree besides what lies in it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (tree / "fault.py").rename(tree.parent / "fault.py")
    for name, text in BOMBS.items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text)
    for kind, name in NAMES.items():
        (tree / kind).mkdir()
        (tree / kind / name).write_bytes(bytes(range(256)) * 40)
    for raw in NAMES_OF_FILES:
        (tree / os.fsdecode(raw)).write_text("x = 1\n")
    for number, data in enumerate((codecs.BOM_UTF8 + b"x = 1\r\n", "x = 1\n".encode("utf-16"), b"x = '\xff'\r")):
        (tree / f"encoded{number}.py").write_bytes(data)
    (tree / "one.py").symlink_to("two.py")
    (tree / "two.py").symlink_to("one.py")
    (tree / "device.py").symlink_to("/dev/zero")
    (tree / "up").symlink_to("..")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *arguments], check=True)
    os.mkfifo(tree / "pipe.py")
    (tree.parent / "fault.py").rename(tree / "fault.py")
    subprocess.run([*git, "add", "fault.py"], check=True)
    for options in (["--changed"], ["--changed", "--staged"]):
        found = report(*options)
        assert not found["errors"] and codes(found) == {} and len(found["findings"]) == 1
    assert not (tree / "ran").exists()


def without_rights(*command: str) -> list[str]:
    """The command as one that may read only what its owner may: a superuser reads everything."""
    if os.geteuid() != 0:
        return list(command)
    if shutil.which("setpriv") is None:
        pytest.skip("a superuser reads everything, and there is no setpriv to give that up")
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *command]


RESILINT = (sys.executable, "-P", "-m", "resilint.cli")


def test_what_may_not_be_read_is_said_and_costs_no_other_file(tree: Path) -> None:
    (tree / "closed.py").write_text(FAULT)
    (tree / "folder").mkdir()
    (tree / "folder" / "inside.py").write_text(FAULT)
    (tree / "closed.py").chmod(0)
    (tree / "folder").chmod(0)
    try:
        done = subprocess.run(
            without_rights(*RESILINT, "check", "--format", "json", "--no-cache"), capture_output=True, text=True, check=False
        )
    finally:
        (tree / "folder").chmod(0o700)
    found = json.loads(done.stdout)
    assert done.returncode == 1 and not found["errors"]
    assert sorted((one["path"], one["code"], one["message"]) for one in found["findings"] if one["path"] != "fault.py") == [
        ("closed.py", "RS002", "file cannot be read: permission denied"),
        ("folder", "RS002", "file cannot be read: permission denied"),
    ]
    assert [one["code"] for one in found["findings"] if one["path"] == "fault.py"] == ["RS101"]


# ---------------------------------------------------------------- files that change under the run


def judged(root: Path, at: str, change: Callable[[], None], cache: Path | None = None) -> dict[str, list[str]]:
    """The messages by path, where something happens to the tree once the run has come to a stage."""
    came = [False]

    def progress(done: int, total: int, stage: str = "reading") -> None:
        if stage == at and not came[0]:
            came[0] = True
            change()

    result = run(Scope(root, root), Settings(confidence=Confidence.LOW), rules(), rules(), cache_folder=cache, progress=progress)
    assert came[0] and not result.failures
    found: dict[str, list[str]] = {}
    for one in result.findings:
        found.setdefault(one.span.path, []).append(one.message)
    for one in result.findings:
        result.lines(one.span.path)
    return found


def _emptied(file: Path) -> None:
    file.write_text("")


def _replaced_by_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _replaced_by_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _grown(file: Path) -> None:
    os.truncate(file, 3_000_000_000)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Path.unlink, "no such file or directory"),
        (_replaced_by_a_pipe, "no regular file"),
        (_replaced_by_a_folder, "is a directory"),
        (_grown, "larger than 5 MB"),
    ],
)
def test_a_file_that_vanishes_while_others_are_read_is_said(change: Callable[[Path], None], said: str, tree: Path) -> None:
    (tree / "later.py").write_text(FAULT)
    found = judged(tree, "reading", lambda: change(tree / "later.py"))
    assert found["later.py"] == [f"file cannot be read: {said}"]
    assert len(found["fault.py"]) == 1


@pytest.mark.parametrize("change", [Path.unlink, _emptied, _replaced_by_a_pipe, _replaced_by_a_folder, _grown])
def test_a_file_that_vanishes_once_it_is_read_keeps_its_findings(change: Callable[[Path], None], tree: Path) -> None:
    (tree / "later.py").write_text(FAULT)
    found = judged(tree, "linking", lambda: change(tree / "later.py"))
    assert len(found["later.py"]) == 1 and len(found["fault.py"]) == 1
