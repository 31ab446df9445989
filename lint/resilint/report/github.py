"""Workflow commands of GitHub Actions: annotations in the diff, the rest in a group of the log, and a summary of the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from resilint.checking import Failure
from resilint.model import Finding, Severity
from resilint.report import Options, one_line, printable
from resilint.report.text import by_rule, by_service, lines_of, statistics_of, summary_of
from resilint.run import Result

MOST = 10
"""Annotations of one level that GitHub shows of one step; it drops further ones without a word."""
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def write(result: Result, options: Options) -> str:
    """The surest findings of each level as annotations, as many as GitHub shows; the others as text."""
    lines = [
        _command("error", {"title": "resilint: internal error"}, _failure_text(failure, result)) for failure in result.failures
    ]
    left = Counter(dict.fromkeys(Severity, MOST))
    left[Severity.ERROR] -= min(len(lines), MOST)
    annotated = set()
    for number in sorted(range(len(result.findings)), key=lambda number: (-result.findings[number].confidence, number)):
        severity = result.findings[number].severity
        if left[severity]:
            left[severity] -= 1
            annotated.add(number)
    lines += [_annotation(result.findings[number], result, options) for number in sorted(annotated)]
    others = [finding for number, finding in enumerate(result.findings) if number not in annotated]
    if others:
        title = f"{len(others)} more finding{'' if len(others) == 1 else 's'}: GitHub shows {MOST} of each level"
        lines += [
            f"::group::{_data(title)}",
            *(_inert(line) for one in others for line in lines_of(one, result, options)),
            "::endgroup::",
        ]
    if options.statistics:
        lines += ["::group::Statistics", *map(_inert, statistics_of(result)), "::endgroup::"]
    if not options.quiet:
        lines.append(_inert(summary_of(result)))
    return "".join(f"{line}\n" for line in lines)


def summary(result: Result) -> str:
    """Markdown for the page of the job: how many findings of each rule and in each service."""
    out = ["### resilint", "", _markdown(summary_of(result)), ""]
    for title, rows in (("Rule", by_rule(result)), ("Service", by_service(result))):
        if rows:
            out += [f"| {title} | Findings |", "|---|---:|", *(f"| {_markdown(what)} | {count} |" for count, what in rows), ""]
    return "\n".join(out) + "\n"


def _failure_text(failure: Failure, result: Result) -> str:
    return one_line(f"{result.in_repository(failure.path)}: {failure.message}" if failure.path else failure.message)


def _annotation(finding: Finding, result: Result, options: Options) -> str:
    span = finding.span
    place = {
        "file": _visible(printable(result.in_repository(span.path))),
        "line": str(span.line),
        "endLine": str(span.end_line),
        # Columns are shown only within one line.
        **({"col": str(span.col), "endColumn": str(span.end_col)} if span.end_line == span.line else {}),
        "title": f"{finding.code} {finding.name}",
    }
    return _command(_COMMANDS[finding.severity], place, "\n".join(_text(finding, result, options)))


def _text(finding: Finding, result: Result, options: Options) -> Iterator[str]:
    yield one_line(finding.message)
    if options.show_trace:
        for number, step in enumerate(finding.trace, 1):
            yield one_line(f"{number}. {result.in_repository(step.span.path)}:{step.span.line}:{step.span.col}: {step.text}")


def _command(name: str, properties: dict[str, str], text: str) -> str:
    written = ",".join(f"{key}={_data(value).replace(':', '%3A').replace(',', '%2C')}" for key, value in properties.items())
    return f"::{name} {written}::{_data(text)}"


def _visible(path: str) -> str:
    """A path that moves no cursor of whoever reads the log as it is; ends of lines are written as commands write them."""
    return "".join(char if char.isprintable() or char in "\r\n" else "\ufffd" for char in path)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _inert(line: str) -> str:
    """A line of the log in which the runner sees no command, whatever a file or its name says.

    It looks for `::` at the start of a line, blanks not counted, and for the older `##[` anywhere.
    """
    line = line.replace("##[", "#\u200b#[")
    return f"\u200b{line}" if line.lstrip().startswith("::") else line


def _markdown(text: str) -> str:
    """Text in which Markdown and HTML see no sign of theirs."""
    for sign in "\\`*_{}[]<>()#+-.!|~&@":
        text = text.replace(sign, f"&#{ord(sign)};") if sign in "<>&|`@" else text.replace(sign, f"\\{sign}")
    return text
