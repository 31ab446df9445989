"""Executable Markdown: small trees of files whose comments say which findings they give.

One heading is one case. A fence is `lang path` (without a path the file is `case.<lang>`); fences of one file are joined.
`want RS101 "regex"` in a comment, at the end of a line or on a line of its own above, says that the line is flagged;
`+N` moves it down by N more lines, `step RS101 "regex"` marks a hop of the finding's trace.
Where a comment cannot stand, a fence `want` holds lines `path:line RS101 "regex"`.
A fence `diff path` holds the lines that all fixes together take away and add; marks are left out of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path

from resilint import registry
from resilint.engine_rules import ENGINE_RULES
from resilint.model import Finding, Rule, Span
from resilint.run import Mend, run
from resilint.scope import Scope
from resilint.settings import FILE, load

LANGUAGES = {
    "py": "py",
    "python": "py",
    "go": "go",
    "golang": "go",
    "java": "java",
    "xml": "xml",
    "yaml": "yaml",
    "yml": "yaml",
    "json": "json",
    "toml": "toml",
    "properties": "properties",
    "ini": "ini",
    "cfg": "ini",
    "env": "env",
    "nginx": "nginx",
    "haproxy": "haproxy",
    "hcl": "hcl",
    "tf": "hcl",
    "dockerfile": "dockerfile",
}
"""Languages of fences, as rules name them. Fences of other languages are prose, unless they have a path."""

_FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<lang>[\w+-]+)?(?:[ ]+(?P<path>\S+))?[ ]*$")
_HEADING = re.compile(r"^(?P<level>#{1,6})[ ]+(?P<title>.+?)[ ]*$")
_MARKS = r"(?:#|//|<!--|--|;|/\*)"
_COMMENT = re.compile(rf"{_MARKS}\s*(?P<rest>(?:want|step)\s.*?)(?:-->|\*/)?\s*$")
_OWN_LINE = re.compile(rf"^\s*{_MARKS}\s*(?:want|step)\s")
_WORD = re.compile(r'\s*(?:(?P<kind>want|step)\b|\+(?P<down>\d+)|(?P<code>[A-Z]+\d+)(?:\s+"(?P<regex>(?:[^"\\]|\\.)*)")?)')
_EXPLICIT = re.compile(r"^(?:(?P<kind>want|step)\s+)?(?P<path>\S+):(?P<line>\d+)\s+(?P<rest>.+)$")
_NO_TRAILING = frozenset({"properties", "env", "ini", "dockerfile"})
"""Languages in which a comment behind a value would become part of it."""


class BadCase(ValueError):
    """A case that cannot be understood."""


@dataclass(frozen=True, order=True)
class Mark:
    """An expectation about one line: a finding of a rule, or a hop of its trace. An empty regex accepts every message."""

    path: str
    line: int
    code: str
    regex: str = ""


@dataclass
class Case:
    """A small tree of files and what is found in it. `section` is the heading of level two it stands under."""

    name: str
    line: int
    section: str = ""
    files: dict[str, str] = field(default_factory=dict)
    languages: set[str] = field(default_factory=set)
    wants: list[Mark] = field(default_factory=list)
    steps: list[Mark] = field(default_factory=list)
    diffs: dict[str, str] = field(default_factory=dict)
    """Expected fixes by path, as unified diffs."""

    def content(self) -> tuple[tuple[str, str], ...]:
        """Its files without the marks: two cases with the same content are one case written twice."""
        return tuple((path, "\n".join(_unmarked(text))) for path, text in sorted(self.files.items()))


# ---------------------------------------------------------------- reading


def cases(markdown: str) -> list[Case]:
    """The cases of a page. Raises `BadCase`."""
    found: list[Case] = []
    explicit: list[tuple[Case, str]] = []
    languages: dict[tuple[int, str], str] = {}
    section, name, fresh = "", "?", True
    for line, heading, fence in _blocks(markdown):
        if heading is not None:
            name, fresh = heading["title"], True
            section = name if heading["level"] == "##" else "" if heading["level"] == "#" else section
            continue
        if fence is None or not _is_case(fence):
            continue
        if fresh:
            found.append(Case(name, line, section))
            fresh = False
        case = found[-1]
        text = "".join(f"{row}\n" for row in fence.rows)
        if fence.language == "want":
            explicit += [(case, row) for row in fence.rows if row.strip()]
        elif fence.language == "diff":
            case.diffs[fence.path] = text
        else:
            language = LANGUAGES.get(fence.language, "")
            path = fence.path or ("Dockerfile" if language == "dockerfile" else f"case.{language}")
            case.files[path] = case.files.get(path, "") + text
            languages[id(case), path] = language
            if language and path != FILE:
                case.languages.add(language)
    for case in found:
        for path, text in case.files.items():
            _read_marks(case, path, text, languages[id(case), path])
    for case, row in explicit:
        _read_explicit(case, row)
    return found


@dataclass
class _Fence:
    language: str
    path: str
    rows: list[str] = field(default_factory=list)


def _blocks(markdown: str) -> Iterator[tuple[int, re.Match[str] | None, _Fence | None]]:
    """Headings and fences, with the lines they start on."""
    fence: _Fence | None = None
    ticks, start = "", 0
    for number, line in enumerate(markdown.splitlines(), 1):
        if fence is not None:
            if line.strip() == ticks:
                yield start, None, fence
                fence = None
            else:
                fence.rows.append(line)
        elif match := _FENCE.match(line):
            fence, ticks, start = _Fence((match["lang"] or "").lower(), match["path"] or ""), match["ticks"], number
        elif heading := _HEADING.match(line):
            yield number, heading, None
    if fence is not None:
        raise BadCase(f"line {start}: fence without an end")


def _is_case(fence: _Fence) -> bool:
    return fence.language in LANGUAGES or fence.language == "want" or bool(fence.path)


def _read_marks(case: Case, path: str, text: str, language: str) -> None:
    if language == "json":
        return
    pending: list[tuple[str, int, str, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _COMMENT.search(line)
        if match is not None and _OWN_LINE.match(line):
            pending += _words(match["rest"], f"{case.name}: {path}:{number}")
            continue
        if match is not None:
            if language in _NO_TRAILING:
                raise BadCase(f"{case.name}: {path}:{number}: a mark behind a value would be part of it: put it on the line above")
            pending += _words(match["rest"], f"{case.name}: {path}:{number}")
        for kind, down, code, regex in pending:
            _add(case, kind, Mark(path, number + down, code, regex))
        pending = []
    if pending:
        raise BadCase(f"{case.name}: {path}: a mark at the end of the file speaks of no line")


def _read_explicit(case: Case, row: str) -> None:
    match = _EXPLICIT.match(row.strip())
    if match is None or match["path"] not in case.files:
        raise BadCase(f'{case.name}: expected `path:line RS101 "regex"` of a file of the case, not {row!r}')
    for kind, down, code, regex in _words(f"{match['kind'] or 'want'} {match['rest']}", case.name):
        _add(case, kind, Mark(match["path"], int(match["line"]) + down, code, regex))


def _words(rest: str, where: str) -> list[tuple[str, int, str, str]]:
    """Kind, lines down, code and regex of each mark in a comment."""
    marks = []
    kind, down, at = "want", 0, 0
    while at < len(rest.rstrip()):
        match = _WORD.match(rest, at)
        if match is None:
            raise BadCase(f"{where}: cannot read {rest!r}")
        at = match.end()
        if match["kind"]:
            kind, down = match["kind"], 0
        elif match["down"]:
            down = int(match["down"])
        else:
            marks.append((kind, down, match["code"], (match["regex"] or "").replace('\\"', '"')))
            down = 0
    if not marks:
        raise BadCase(f"{where}: no code in {rest!r}")
    return marks


def _add(case: Case, kind: str, mark: Mark) -> None:
    (case.wants if kind == "want" else case.steps).append(mark)


def _unmarked(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not _OWN_LINE.match(line):
            yield _COMMENT.sub("", line).rstrip()


def shown(rows: list[str], language: str) -> tuple[list[str], list[int]]:
    """An example as readers see it: its lines without the marks, and the numbers, from 1, of those in which something is found."""
    spoken = LANGUAGES[language]
    case = Case("example", 1)
    _read_marks(case, "", "\n".join(rows), spoken)
    marked = {want.line for want in case.wants}
    kept: list[str] = []
    lines: list[int] = []
    for number, row in enumerate(rows, 1):
        if spoken != "json" and _OWN_LINE.match(row):
            continue
        kept.append(row if spoken == "json" or not _COMMENT.search(row) else _COMMENT.sub("", row).rstrip())
        if number in marked:
            lines.append(len(kept))
    return kept, lines


# ---------------------------------------------------------------- running


def check(case: Case, folder: Path, rules: Iterable[Rule]) -> list[Finding]:
    """Writes the case's files into an empty folder and gives what these rules, and the engine, find there.

    A fault of resilint itself is raised as an `AssertionError`.
    """
    return _run(case, folder, rules)


def mended(case: Case, folder: Path, rules: Iterable[Rule]) -> tuple[dict[str, str], list[Finding], list[str]]:
    """Writes the case's files into an empty folder and applies every fix, the unsafe ones too.

    Gives the files that changed, what is still found, and why something was not fixed.
    """
    from resilint.fix import Fixer

    fixer = Fixer(folder.resolve(), unsafe=True)
    found = _run(case, folder, rules, fixer)
    problems = [f"{path}: {why}" for path, why in (*fixer.problems, *fixer.write())]
    return {path: new.decode() for path, (_, new) in fixer.changed.items()}, found, problems


def _run(case: Case, folder: Path, rules: Iterable[Rule], mend: Mend | None = None) -> list[Finding]:
    for path, text in case.files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    chosen = tuple(dict.fromkeys((*rules, *ENGINE_RULES)))
    known = tuple(dict.fromkeys((*registry.rules(), *chosen)))
    root = folder.resolve()
    result = run(Scope(root, root), load(root), chosen, known, mend=mend)
    for failure in result.failures:
        raise AssertionError(f"{failure.path or '-'}: {failure.message}\n{failure.detail}")
    return result.findings


def fix_differences(case: Case, files: dict[str, str]) -> list[str]:
    """How what became of the files differs from the case's diffs, a line each. Lines of context and marks do not count."""
    problems = []
    for path, wanted in sorted(case.diffs.items()):
        rows = unified_diff(
            _unmarked_rows(case.files.get(path, "")), _unmarked_rows(files.get(path, case.files.get(path, ""))), n=0
        )
        made = [row.rstrip() for row in rows if row.startswith(("+", "-")) and not row.startswith(("+++ ", "--- "))]
        expected = [
            _COMMENT.sub("", row).rstrip()
            for row in wanted.splitlines()
            if row.startswith(("+", "-")) and not row.startswith(("+++ ", "--- "))
        ]
        problems += [f"missing from the fix of {path}: {row}" for row in (Counter(expected) - Counter(made)).elements()]
        problems += [f"unexpected in the fix of {path}: {row}" for row in (Counter(made) - Counter(expected)).elements()]
        if not problems and made != expected:
            problems.append(f"the fix of {path} has another order: {made}")
    return problems


def _unmarked_rows(text: str) -> list[str]:
    return [_COMMENT.sub("", row).rstrip() for row in text.splitlines()]


def differences(case: Case, findings: Iterable[Finding]) -> list[str]:
    """How what was found differs from what the case wants, a line each; empty if it does not.

    Findings and wants must match one to one by path, line, code and message. If a case marks a hop of a rule's trace, it marks all.
    """
    found = list(findings)
    problems: list[str] = []
    left = list(found)
    for want in sorted(case.wants, key=lambda want: (want.path, want.line, want.code, not want.regex, want.regex)):
        hit = next((finding for finding in left if _is(want, finding.code, finding.span, finding.message)), None)
        if hit is not None:
            left.remove(hit)
        else:
            regex = f' "{want.regex}"' if want.regex else ""
            problems.append(f"missing: {want.path}:{want.line} {want.code}{regex}")
    problems += [f"unexpected: {_shown(finding.span)} {finding.code} {finding.message}" for finding in left]
    for code in sorted({step.code for step in case.steps}):
        marks = [step for step in case.steps if step.code == code]
        hops = [step for finding in found if finding.code == code for step in finding.trace]
        problems += [
            f"missing step: {mark.path}:{mark.line} {code} {mark.regex}"
            for mark in marks
            if not any(_is(mark, code, hop.span, hop.text) for hop in hops)
        ]
        problems += [
            f"unexpected step: {_shown(hop.span)} {code} {hop.text}"
            for hop in dict.fromkeys(hops)
            if not any(_is(mark, code, hop.span, hop.text) for mark in marks)
        ]
    return problems


def _is(mark: Mark, code: str, span: Span, text: str) -> bool:
    return (mark.path, mark.line, mark.code) == (span.path, span.line, code) and re.search(mark.regex, text) is not None


def _shown(span: Span) -> str:
    return f"{span.path}:{span.line}"


def misplaced(case: Case, findings: Iterable[Finding]) -> list[str]:
    """Places of findings, and of hops of their traces, that lie outside of the case's files."""
    problems = []
    for finding in findings:
        for span in (finding.span, *(step.span for step in finding.trace)):
            rows = case.files.get(span.path, "").split("\n")
            inside = span.path in case.files and 1 <= span.line <= span.end_line <= len(rows)
            inside = (
                inside and 1 <= span.col <= len(rows[span.line - 1]) + 1 and 1 <= span.end_col <= len(rows[span.end_line - 1]) + 1
            )
            if not inside or (span.end_line == span.line and span.end_col < span.col):
                problems.append(f"{finding.code}: no such place: {span}")
    return problems


def malformed(case: Case, findings: Iterable[Finding]) -> list[str]:
    """Messages that are not one line, end in a full stop, or start with a capital that no name in the case has."""
    problems = []
    for finding in findings:
        message = finding.message
        first = re.match(r"[A-Z][a-z]+(?= )", message)
        written = first is not None and any(first[0] in text for text in case.files.values())
        if not message.strip() or "\n" in message or message.endswith(".") or (first is not None and not written):
            problems.append(f"{finding.code}: not the form of a message: {message!r}")
    return problems
