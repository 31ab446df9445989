"""What other linters expect in their own test samples, beside what resilint finds there.

    python benchmarks/peers.py DIR [-v] [--check NAME]

DIR holds the sources of the peers in folders `error-prone`, `p3c` and `sonar-java` (those that are there are used). Each sample is
written to a temporary folder as main code and read by the engine, never compiled or run. Samples are taken from what marks lines:
`// BUG: Diagnostic contains` in text blocks of error-prone's tests, `// Noncompliant` in sonar-java's files,
`expected-linenumbers` in p3c's XML. A mark counts as found if a rule of the same meaning has a finding
on that line or, where the two sides point at different lines of one fault, as near as the check here says.
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
)

# ---------------------------------------------------------------- reading samples


def samples(check: Check, root: Path) -> Iterator[Sample]:
    """The samples of a check, as its peer marks them."""
    read = {"error-prone": error_prone, "p3c": p3c, "sonar-java": sonar_java}[check.peer]
    for path in check.samples:
        yield from read(path, (root / check.peer / path).read_text("utf-8"))


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
        main = root / "src" / "main" / "java"
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
    prefix = "src/main/java/"
    return [(x.span.path.removeprefix(prefix), x.span.line, x.code, x.message) for x in result.findings]


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
