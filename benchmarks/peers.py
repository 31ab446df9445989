"""What other linters expect in their own test samples, beside what resilint finds there.

    python benchmarks/peers.py DIR [-v] [--check NAME]

DIR holds the sources of the peers, each in a folder of its name (those that are there are used). Each sample is
written to a temporary folder as main code and read by the engine, never compiled, imported or run. Samples are taken from what
marks lines: `// BUG: Diagnostic contains` in text blocks of error-prone's tests, `// Noncompliant` in sonar-java's files,
`expected-linenumbers` in p3c's XML; of the peers for Python ruff's snapshots, comments of flake8-async (`# ASYNC210: 4`),
flake8-bugbear (`# B036: 0`), pylint (`# [missing-timeout]`) and semgrep-rules (`# ruleid:`), and what bandit lists under
`# Errors`. The samples of flake8-async are read once for each library they are meant for, as its own tests do. A mark counts as
found if a rule of the same meaning has a finding on that line or, where the two sides point at different lines of one fault, as
near as the check here says.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import tree_sitter_java
from resilint import registry
from resilint.engine_rules import ENGINE_RULES
from resilint.model import Confidence
from resilint.run import run
from resilint.scope import Scope
from resilint.settings import Settings
from tree_sitter import Language, Node, Parser

TABLE = Path(__file__).with_name("peers.md")
MAIN = "src/main/java"
"""Where samples are put: a folder of main code; in Python it is one as any other."""


@dataclass(frozen=True)
class Check:
    """A check of a peer and the rules that mean the same. A finding may stand so many lines above or below the peer's."""

    peer: str
    name: str
    rules: tuple[str, ...]
    samples: tuple[str, ...]
    """Paths in the peer's repository."""
    above: int = 0
    below: int = 0


@dataclass
class Text:
    """A file of a sample; `rows` says where in the peer's repository each of its lines stands."""

    name: str
    lines: list[str]
    rows: list[int]


@dataclass
class Sample:
    """One small program and the lines (file, line from 1) that the peer expects to be flagged."""

    path: str
    texts: list[Text] = field(default_factory=list)
    expected: set[tuple[str, int]] = field(default_factory=set)


@dataclass(frozen=True, order=True)
class Difference:
    """A place where one speaks and the other does not. `text` is what resilint says, and empty where only the peer speaks."""

    path: str
    row: int
    text: str = ""


EP_TESTS = "core/src/test/java/com/google/errorprone/bugpatterns/"
P3C_TESTS = "p3c-pmd/src/test/resources/com/alibaba/p3c/pmd/lang/java/rule/concurrent/xml/"
SONAR_MAIN = "java-checks-test-sources/default/src/main/java/checks/"
SONAR_BROKEN = "java-checks-test-sources/default/src/main/files/non-compiling/checks/"
RUFF_TESTS = "crates/ruff_linter/resources/test/fixtures/"
ASYNC_TESTS = "tests/eval_files/"
BUGBEAR_TESTS = "tests/eval_files/"
PYLINT_TESTS = "tests/functional/"


def _ruff(name: str, rules: tuple[str, ...], *files: str, below: int = 0) -> Check:
    return Check("ruff", name, rules, tuple(RUFF_TESTS + file for file in files), below=below)


def _async(name: str, rules: tuple[str, ...], *files: str, above: int = 0, below: int = 0) -> Check:
    """A check of flake8-async; the codes of `ASYNC103/104` are two."""
    return Check("flake8-async", name, rules, tuple(f"{ASYNC_TESTS}{file}.py" for file in files), above, below)


CHECKS = (
    Check(
        "error-prone",
        "InterruptedExceptionSwallowed",
        ("RS704", "RS703", "RS702"),
        (EP_TESTS + "InterruptedExceptionSwallowedTest.java",),
    ),
    Check("error-prone", "InterruptedInCatchBlock", ("RS704",), (EP_TESTS + "InterruptedInCatchBlockTest.java",), above=4),
    Check("error-prone", "ThreadJoinLoop", ("RS704", "RS703"), (EP_TESTS + "ThreadJoinLoopTest.java",), below=3),
    Check("error-prone", "FutureReturnValueIgnored", ("RS304",), (EP_TESTS + "FutureReturnValueIgnoredTest.java",)),
    Check(
        "error-prone",
        "ErroneousThreadPoolConstructorChecker",
        ("RS105", "RS401"),
        (EP_TESTS + "ErroneousThreadPoolConstructorCheckerTest.java",),
        below=5,
    ),
    Check("error-prone", "TimeUnitMismatch", ("RS108",), (EP_TESTS + "time/TimeUnitMismatchTest.java",)),
    Check("error-prone", "TimeUnitConversionChecker", ("RS108",), (EP_TESTS + "time/TimeUnitConversionCheckerTest.java",)),
    Check("error-prone", "DurationToLongTimeUnit", ("RS108",), (EP_TESTS + "time/DurationToLongTimeUnitTest.java",)),
    Check("error-prone", "UnusedException", ("RS702",), (EP_TESTS + "UnusedExceptionTest.java",)),
    Check("p3c", "ThreadPoolCreationRule", ("RS401", "RS203"), (P3C_TESTS + "ThreadPoolCreationRule.xml",)),
    Check("p3c", "AvoidManuallyCreateThreadRule", ("RS301", "RS203"), (P3C_TESTS + "AvoidManuallyCreateThreadRule.xml",)),
    Check("p3c", "CountDownShouldInFinallyRule", ("RS109",), (P3C_TESTS + "CountDownShouldInFinallyRule.xml",)),
    Check(
        "sonar-java",
        "S2142",
        ("RS704", "RS703", "RS702"),
        (SONAR_MAIN + "InterruptedExceptionCheckSample.java", SONAR_BROKEN + "InterruptedExceptionCheckSample.java"),
        below=2,
    ),
    Check("sonar-java", "S9132", ("RS105",), (SONAR_MAIN + "ScheduledThreadPoolExecutorMaximumPoolSizeCheckSample.java",)),
    Check("sonar-java", "S2122", ("RS105",), (SONAR_MAIN + "ScheduledThreadPoolExecutorZeroCheckSample.java",)),
    Check(
        "sonar-java",
        "S1166",
        ("RS702", "RS704"),
        tuple(SONAR_MAIN + f"CatchUsesExceptionWithContextCheck{kind}.java" for kind in ("", "AllExceptions", "LombokSample")),
    ),
    _ruff("S113", ("RS101", "RS104"), "flake8_bandit/S113.py"),
    _ruff("ASYNC210", ("RS202", "RS101"), "flake8_async/ASYNC210.py"),
    _ruff("ASYNC212", ("RS202",), "flake8_async/ASYNC212.py"),
    _ruff("ASYNC220/221/222", ("RS202",), "flake8_async/ASYNC22x.py"),
    _ruff("ASYNC230/240", ("RS202",), "flake8_async/ASYNC230.py", "flake8_async/ASYNC240.py"),
    _ruff("ASYNC250", ("RS202",), "flake8_async/ASYNC250.py"),
    _ruff("ASYNC251", ("RS202",), "flake8_async/ASYNC251.py"),
    _ruff("ASYNC1xx", (), *(f"flake8_async/ASYNC{n}.py" for n in ("100", "105", "109_0", "109_1", "110", "115", "116", "119"))),
    Check("bandit", "B113", ("RS101", "RS104"), ("examples/requests-missing-timeout.py",)),
    Check("pylint", "missing-timeout", ("RS101", "RS104"), (PYLINT_TESTS + "m/missing/missing_timeout.py",)),
    Check(
        "pylint",
        "broad-exception-caught/bare-except",
        ("RS704",),
        (PYLINT_TESTS + "b/broad_exception/broad_exception_caught.py", PYLINT_TESTS + "b/bare_except.py"),
    ),
    Check("pylint", "lost-exception", ("RS704", "RS702"), (PYLINT_TESTS + "l/lost_exception.py",)),
    Check("pylint", "raise-missing-from", ("RS702",), (PYLINT_TESTS + "r/raise_missing_from.py",)),
    _async("ASYNC210", ("RS202", "RS101"), "async210"),
    _async("ASYNC211", ("RS202", "RS101"), "async211"),
    _async("ASYNC212", ("RS202",), "async212"),
    _async("ASYNC220/221/222", ("RS202",), "async22x", "async22x_asyncio", "anyio_trio", "trio_anyio", "no_library"),
    _async("ASYNC230/231/232/240", ("RS202",), "async23x", "async23x_asyncio", "async232", "async232_asyncio", "async240"),
    _async("ASYNC250", ("RS202",), "async250", "async250_multi_library"),
    _async("ASYNC251", ("RS202",), "async251", "async251_multi_library"),
    _async("ASYNC200", ("RS202",), "async200"),
    _async(
        "ASYNC103/104",
        ("RS704",),
        "async103",
        "async103_104_py311",
        "async103_all_imported",
        "async103_both_imported",
        "async103_no_104",
        "async103_trio",
        "async104",
        "async104_anyio",
        "async104_trio",
    ),
    _async("ASYNC300", ("RS304",), "async300"),
    _async("ASYNC125", ("RS108",), "async125"),
    _async(
        "ASYNC1xx",
        (),
        *("async100", "async100_asyncio", "async100_asyncio_noautofix", "async100_simple_autofix", "async101", "async101_asyncio"),
        *(
            "async101_third_party",
            "async102",
            "async102_120_py311",
            "async102_anyio",
            "async102_trio",
            "async105",
            "async105_anyio",
        ),
        *("async106", "async109", "async110", "async111", "async111_asyncio", "async112", "async112_asyncio"),
        *("async112_canonical_qualname", "async113", "async113_asyncio", "async113_trio", "async114", "async115"),
        *("async115_canonical_qualname", "async116", "async118", "async119", "async120", "async121", "async121_anyio"),
        *("async121_asyncio", "async122", "async123", "async123_py311", "async124", "async124_no_autofix"),
        *("async126", "async127", "async128"),
    ),
    Check("flake8-bugbear", "B012", ("RS704", "RS702"), (BUGBEAR_TESTS + "b012.py", BUGBEAR_TESTS + "b012_py311.py")),
    Check("flake8-bugbear", "B036", ("RS704",), (BUGBEAR_TESTS + "b036.py", BUGBEAR_TESTS + "b036_py311.py")),
    Check("flake8-bugbear", "B904", ("RS702",), (BUGBEAR_TESTS + "b904.py", BUGBEAR_TESTS + "b904_py311.py")),
    Check("semgrep-rules", "use-timeout", ("RS101", "RS104"), ("python/requests/best-practice/use-timeout.py",)),
    Check("semgrep-rules", "sync-sleep-in-async-code", ("RS202",), ("python/lang/correctness/sync-sleep-in-async-code.py",)),
    Check("semgrep-rules", "arbitrary-sleep", (), ("python/lang/best-practice/sleep.py",)),
    Check("semgrep-rules", "uncaught-executor-exceptions", ("RS304",), ("python/lang/correctness/concurrent.py",)),
    Check(
        "semgrep-rules",
        "suppressed-exception-handling-finally-break",
        ("RS704", "RS702"),
        ("python/correctness/suppressed-exception-handling-finally-break.py",),
    ),
)

# ---------------------------------------------------------------- reading samples


def samples(check: Check, root: Path) -> Iterator[Sample]:
    """The samples of a check, as its peer marks them."""
    read = {"error-prone": error_prone, "p3c": p3c, "sonar-java": sonar_java}.get(check.peer)
    for path in check.samples:
        text = (root / check.peer / path).read_text("utf-8")
        if read is not None:
            yield from read(path, text)
        elif check.peer == "flake8-async":
            yield from flake8_async(path, text)
        else:
            numbers = snapshot(root / check.peer, path) if check.peer == "ruff" else marked(check, text)
            yield _whole(path, text, numbers)


def _whole(path: str, text: str, numbers: set[int]) -> Sample:
    """A sample that is a file."""
    lines = text.split("\n")
    name = Path(path).name
    return Sample(path, [Text(name, lines, list(range(1, len(lines) + 1)))], {(name, number) for number in numbers})


def snapshot(root: Path, path: str) -> set[int]:
    """The lines that ruff's snapshots of a fixture name. Those without a code in their names are of other settings."""
    name = Path(path).name
    folder = root / "crates/ruff_linter/src/rules" / Path(path).parent.name / "snapshots"
    taken = [file for file in folder.glob(f"*_{name}.snap") if re.search(r"__tests__[A-Z]+\d+_", file.name)]
    if not taken:
        raise ValueError(f"{path}: no snapshot in {folder}")
    found = (re.findall(rf"^ *--> {re.escape(name)}:(\d+):", file.read_text("utf-8"), re.MULTILINE) for file in taken)
    return {int(number) for numbers in found for number in numbers}


def marked(check: Check, text: str) -> set[int]:
    """The lines that comments of a sample expect. pylint and semgrep may say so above the line."""
    lines = text.split("\n")
    numbers: set[int] = set()
    for number, line in enumerate(lines, 1):
        if check.peer == "flake8-bugbear" and re.search(rf"# {check.name}\b", line) and not line.lstrip().startswith("#"):
            numbers.add(number)
        elif check.peer == "pylint":
            mark = re.search(rf"#\s*(?:\+(\d+)\s*:\s*)?\[[\w, -]*\b(?:{check.name.replace('/', '|')})\b", line)
            numbers |= {number + int(mark[1] or 0)} if mark else set()
        elif check.peer == "semgrep-rules" and re.search(rf"# ?ruleid: ?{check.name}\b", line):
            numbers.add(next(n for n in range(number + 1, len(lines) + 1) if not lines[n - 1].lstrip().startswith("#")))
    if check.peer == "bandit":
        # Its test only counts. What it counts under `# Errors` is what its check says: httpx has a default, requests has none.
        above = next(n for n, line in enumerate(lines, 1) if line == "# Errors")
        below = next((n for n, line in enumerate(lines, 1) if line == "# Okay" and n > above), len(lines))
        numbers = {n for n in range(above, below) if lines[n - 1].startswith("requests.") or "timeout=None" in lines[n - 1]}
    return numbers


def flake8_async(path: str, text: str) -> Iterator[Sample]:
    """A file as it stands and as its own tests rewrite it for the other libraries; `# error:` means the code of its name."""
    base = re.search(r"# BASE_LIBRARY (\w+)", text)
    text = _imported(text)
    written = base[1].lower() if base else "trio"
    numbers = {
        number
        for number, line in enumerate(text.split("\n"), 1)
        if not line.lstrip().startswith("#") and re.search(r"#[^#]*?\b(error|ASYNC\d{3})(_\w+)?:", line)
    }
    for library in ("trio", "anyio", "asyncio"):
        if f"# NO{library.upper()}" in text:
            continue
        silent = f"# {library.upper()}_NO_ERROR" in text
        shown = path if library == written else str(Path(path).parent / library / Path(path).name)
        yield _whole(shown, _for_library(text, written, library), set() if silent else numbers)


def _imported(text: str) -> str:
    """Its samples use modules that they do not import; a comment in the first line makes room for what a program has there."""
    first, _, rest = text.partition("\n")
    used = {name.partition(".")[0] for name in re.findall(r"\b(?:httpx2?|io|os|subprocess|requests|time|urllib3?)\.\w+", text)}
    missing = sorted(name for name in used if not re.search(rf"^\s*import {name}\b", text, re.MULTILINE))
    if "urllib.request." in text:
        missing.append("urllib.request")
    return f"import {', '.join(missing)}\n{rest}" if missing and first.startswith("#") else text


def _for_library(text: str, written: str, library: str) -> str:
    """What the tests of flake8-async do to a file before they check it for another library."""
    if sorted((written, library)) == ["anyio", "trio"]:
        pairs = (("open_nursery", "create_task_group"), ("nursery", "task_group"), ("Nursery", "TaskGroup"))
        for ours, theirs in pairs if written == "trio" else tuple((b, a) for a, b in pairs):
            text = re.sub(rf"(?<!-)\b{ours}\b", theirs, text)
    return re.sub(rf"(?<!-)(?:\b|(?<=_)){written}\b", library, text)


def sonar_java(path: str, text: str) -> Iterator[Sample]:
    """A sample is a file; `Noncompliant@+1` speaks of the line below."""
    lines = text.splitlines()
    sample = Sample(path, [Text(Path(path).name, lines, list(range(1, len(lines) + 1)))])
    for number, line in enumerate(lines, 1):
        mark = re.search(r"//\s*Noncompliant(?:@([+-]\d+))?", line)
        if mark:
            sample.expected.add((Path(path).name, number + int(mark[1] or 0)))
    yield sample


def p3c(path: str, text: str) -> Iterator[Sample]:
    """A sample is a `test-code`; its line numbers count from the first line that is not empty."""
    if "<!DOCTYPE" in text:
        raise ValueError(f"{path}: a document type is not read")
    starts = [text.count("\n", 0, found.end()) + 1 for found in re.finditer(r"<code>\s*<!\[CDATA\[", text)]
    space = "{http://pmd.sourceforge.net/rule-tests}"
    for start, test in zip(starts, ElementTree.fromstring(text).iter(f"{space}test-code"), strict=True):
        code = test.findtext(f"{space}code") or ""
        lines = code.lstrip().splitlines()
        skipped = code[: len(code) - len(code.lstrip())].count("\n")
        # Whitespace before the code was part of the match that `start` ends with, so only what follows CDATA counts.
        rows = [start + skipped + at for at in range(len(lines))]
        sample = Sample(path, [Text("Case.java", lines, rows)])
        numbers = test.findtext(f"{space}expected-linenumbers") or ""
        sample.expected = {("Case.java", int(number)) for number in numbers.split(",") if number.strip()}
        yield sample


def error_prone(path: str, text: str) -> Iterator[Sample]:
    """A sample is what one test method adds as sources, with what a field of the test adds for all. Tests of fixes mark no lines
    and are left out."""
    tree = Parser(Language(tree_sitter_java.language())).parse(text.encode())
    common: list[Text] = []
    tests: dict[int, Sample] = {}
    unmarked: set[int] = set()
    for name, call in _calls(tree.root_node, ("addSourceLines", "addInputLines")):
        method = _above(call, "method_declaration")
        source = _source(call)
        if source is None:
            continue
        if method is None:
            common.append(source)
            continue
        tests.setdefault(method.start_byte, Sample(path)).texts.append(source)
        if name == "addInputLines":
            unmarked.add(method.start_byte)
    for start, sample in tests.items():
        for source in sample.texts:
            sample.expected |= {(source.name, line) for line in _diagnosed(source.lines)}
        sample.texts = [*common, *sample.texts]
        if sample.expected or start not in unmarked:
            yield sample


def _diagnosed(lines: list[str]) -> Iterator[int]:
    """The line below each mark that is no comment of its own."""
    for at, line in enumerate(lines):
        if "// BUG: Diagnostic" in line:
            below = next((n for n in range(at + 1, len(lines)) if not lines[n].lstrip().startswith("//")), None)
            if below is not None:
                yield below + 1


def _calls(root: Node, names: tuple[str, ...]) -> list[tuple[str, Node]]:
    """Calls of these names and their argument lists, in the order of the text."""
    found: list[tuple[str, Node]] = []
    todo = [root]
    while todo:
        node = todo.pop()
        called, arguments = node.child_by_field_name("name"), node.child_by_field_name("arguments")
        if node.type == "method_invocation" and called is not None and arguments is not None:
            name = (called.text or b"").decode()
            if name in names:
                found.append((name, arguments))
        todo.extend(node.children)
    return sorted(found, key=lambda pair: pair[1].start_byte)


def _above(node: Node, kind: str) -> Node | None:
    above = node.parent
    while above is not None and above.type != kind:
        above = above.parent
    return above


def _source(arguments: Node) -> Text | None:
    strings = [n for n in arguments.children if n.type == "string_literal"]
    if len(strings) < 2:
        return None
    lines: list[str] = []
    rows: list[int] = []
    for node in strings[1:]:
        written = (node.text or b"").decode()
        row = node.start_point[0] + 1
        if written.startswith('"""'):
            block = textwrap.dedent(written[3:-3].partition("\n")[2]).splitlines()
            lines += [_plain(line) for line in block]
            rows += range(row + 1, row + 1 + len(block))
        else:
            lines.append(_plain(written[1:-1]))
            rows.append(row)
    return Text((strings[0].text or b"").decode().strip('"'), lines, rows)


def _plain(text: str) -> str:
    return re.sub(r"\\([\"'\\])", r"\1", text)


# ---------------------------------------------------------------- comparing


@dataclass
class Outcome:
    """What came of the samples of a check."""

    samples: int = 0
    expected: int = 0
    found: int = 0
    missed: list[Difference] = field(default_factory=list)
    extra: list[Difference] = field(default_factory=list)


def outcome(check: Check, root: Path) -> Outcome:
    """Both sides' findings in all samples of a check. Findings of any rule count as extra where the peer's line is not met."""
    result = Outcome()
    for sample in samples(check, root):
        result.samples += 1
        result.expected += len(sample.expected)
        rows = {text.name: text.rows for text in sample.texts}
        open_marks = set(sample.expected)
        for name, line, code, message in sorted(findings(sample), key=lambda found: found[2] not in check.rules):
            near = [m for m in sample.expected if m[0] == name and m[1] - check.above <= line <= m[1] + check.below]
            mark = min(near, key=lambda m: abs(m[1] - line), default=None)
            if mark is not None and code in check.rules:
                open_marks.discard(mark)
            elif name in rows:
                result.extra.append(Difference(sample.path, rows[name][line - 1], f"{code} {message}"))
        result.found += len(sample.expected) - len(open_marks)
        result.missed += [Difference(sample.path, rows[name][line - 1]) for name, line in open_marks]
    result.missed.sort()
    result.extra.sort()
    return result


def findings(sample: Sample) -> list[tuple[str, int, str, str]]:
    """File, line, code and message of what resilint finds in a sample, at its default confidence."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        main = root / MAIN
        main.mkdir(parents=True)
        for text in sample.texts:
            file = main / text.name
            if main not in file.resolve().parents:
                raise ValueError(f"{sample.path}: {text.name} lies outside of its sample")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(text.lines) + "\n", "utf-8")
        rules = registry.rules()
        result = run(Scope(root, root), Settings(), rules, (*rules, *ENGINE_RULES), confidence=Confidence.MEDIUM)
    for failure in result.failures:
        print(f"  {failure.path}: {failure.message}")
    return [(x.span.path.removeprefix(f"{MAIN}/"), x.span.line, x.code, x.message) for x in result.findings]


def unlisted(check: Check, result: Outcome, table: str) -> list[Difference]:
    """Differences that the table says nothing of. Under the heading of a check it names them `end/of/the/path.java:12, 14-16`."""
    section = re.search(rf"^## {check.peer} {check.name}\b(.*?)(?=^## |\Z)", table, re.MULTILINE | re.DOTALL)
    listed: set[tuple[str, int]] = set()
    for path, rows in re.findall(r"`([\w./-]+\.\w+):([\d, -]+)`", section[1] if section else ""):
        for part in rows.split(","):
            first, _, last = part.strip().partition("-")
            listed |= {(path, row) for row in range(int(first), int(last or first) + 1)}
    return [d for d in (*result.missed, *result.extra) if not any(d.path.endswith(end) and d.row == row for end, row in listed)]


def main() -> None:
    """Print a table, and with `-v` every difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="list every difference")
    parser.add_argument("--check", help="only this check")
    options = parser.parse_args()
    table = TABLE.read_text("utf-8") if TABLE.exists() else ""
    print(f"{'check':<50} samples expected found extra unlisted")
    for check in CHECKS:
        if options.check not in (None, check.name) or not (options.folder / check.peer).is_dir():
            continue
        result = outcome(check, options.folder)
        missing = unlisted(check, result, table)
        counts = f"{result.samples:7} {result.expected:8} {result.found:5} {len(result.extra):5} {len(missing):8}"
        print(f"{check.peer + ' ' + check.name:<50} {counts}")
        for difference in (*result.missed, *result.extra) if options.verbose else missing:
            print(f"    {'/'.join(difference.path.split('/')[-3:])}:{difference.row} {difference.text or 'only the peer'}")


if __name__ == "__main__":
    main()
