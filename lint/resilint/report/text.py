"""The report for people: place, rule, reason, and the line it speaks of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from unicodedata import east_asian_width

from resilint import docs
from resilint.model import Finding, Severity, Span
from resilint.report import Options, one_line
from resilint.run import Result
from resilint.text import Lines

_WIDTH = 140
_KNOWN = {"baseline": "in the baseline", "before": "there before"}
_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}


def write(result: Result, options: Options) -> str:
    """All findings, then failures, then statistics if asked for, then the summary and what to do next."""
    paint = painted if options.color else _plain
    parts = ["\n".join(lines_of(finding, result, options)) for finding in result.findings]
    for failure in result.failures:
        where = f"{result.here(failure.path)}: " if failure.path else ""
        parts.append(f"{paint('internal error', '31;1')}: {one_line(where + failure.message)}")
    if options.statistics:
        parts.append("\n".join(statistics_of(result)))
    if not options.quiet:
        parts.append("\n".join([summary_of(result), *(paint(hint, "2") for hint in options.hints)]))
    gap = "\n\n" if result.findings else "\n"
    return gap.join(parts) + "\n" if parts else ""


def painted(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"


def _plain(text: str, code: str) -> str:
    return text


def lines_of(finding: Finding, result: Result, options: Options) -> Iterator[str]:
    """A finding: place, rule and reason, the line it speaks of, and its trace if that is asked for."""
    paint = painted if options.color else _plain
    color = _COLORS[finding.severity]
    severity = paint(finding.severity.value, f"{color};1")
    code = paint(finding.code, color)
    rule = f"{_linked(code, _page(finding.code, result)) if options.links else code} {finding.name}"
    yield f"{paint(_place(finding.span, result), '1')}: {severity} {rule}: {one_line(finding.message)}"
    yield from _excerpt(finding.span, result.lines(finding.span.path), paint)
    if finding.fix is not None and (finding.fix.safe or options.unsafe_fixes):
        yield f"  {paint('fix' if finding.fix.safe else 'unsafe fix', '32')}: {one_line(finding.fix.title)}"
    if options.show_trace:
        for number, step in enumerate(finding.trace, 1):
            yield f"  {number}. {_place(step.span, result)}: {one_line(step.text)}"


def _page(code: str, result: Result) -> str | None:
    rule = next((rule for rule in result.rules if rule.code == code), None)
    return docs.address(rule) or docs.local_address(rule) if rule is not None else None


def _linked(text: str, address: str | None) -> str:
    """Text that leads to an address, on a terminal that knows OSC 8."""
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\" if address is not None else text


def _place(span: Span, result: Result) -> str:
    """Where a reader, or the terminal they click in, finds it from the current directory."""
    return f"{one_line(result.here(span.path))}:{span.line}:{span.col}"


def _excerpt(span: Span, lines: Lines, paint: Callable[[str, str], str]) -> Iterator[str]:
    """The first line of the place, the place underlined; a window of it if the line is very long."""
    text = lines.line(span.line)
    if not text.strip():
        return
    start = min(span.col - 1, len(text))
    end = min(span.end_col - 1, len(text)) if span.end_line == span.line else len(text.rstrip())
    indent = len(text) - len(text.lstrip())
    left = max(indent, start - 40) if start - indent > _WIDTH - 40 else indent
    right = min(len(text), left + _WIDTH)
    end = max(min(end, right), start + 1)
    before, marked, after = one_line(text[left:start]), one_line(text[start:end]), one_line(text[end:right])
    gutter = str(span.line)
    empty = " " * len(gutter)
    yield paint(f"{empty} |", "34")
    cut_left, cut_right = "…" if left > indent else "", "…" if right < len(text) else ""
    yield f"{paint(f'{gutter} |', '34')} {cut_left}{before}{marked}{after.rstrip()}{cut_right}"
    yield f"{paint(f'{empty} |', '34')} {' ' * cells(cut_left + before)}{paint('^' * max(1, cells(marked)), '31;1')}"


def cells(text: str) -> int:
    """How wide text is on a terminal."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def by_rule(result: Result) -> list[tuple[int, str]]:
    """How many findings each rule has, and its code and name; the most first."""
    return _most_first(Counter(f"{finding.code} {finding.name}" for finding in result.findings))


def by_service(result: Result) -> list[tuple[int, str]]:
    """How many findings each service has, the most first; nothing where the program is one service."""
    counts = Counter(one_line(result.service(finding.span.path)) or "." for finding in result.findings)
    return _most_first(counts) if set(counts) - {"."} else []


def _most_first(counts: Counter[str]) -> list[tuple[int, str]]:
    return [(count, what) for what, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def statistics_of(result: Result) -> Iterator[str]:
    """How many findings there are of each rule and in each service, and how many waits were seen."""
    rules, services = by_rule(result), by_service(result)
    width = len(str(max((count for count, _ in (*rules, *services)), default=0)))
    for count, what in rules:
        yield f"{count:>{width}} {what}"
    if services:
        yield "by service:"
        for count, what in services:
            yield f"{count:>{width}} {what}"
    yield f"waits: {', '.join(f'{result.waits[key]} {key}' for key in ('bounded', 'endless', 'unknown'))}"


def summary_of(result: Result) -> str:
    """One line: how much was found, where, and how long it took."""
    counts = Counter(finding.severity for finding in result.findings)
    words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info"}
    found = ", ".join(
        _number(counts[severity], word) if severity != Severity.INFO else f"{counts[severity]} info"
        for severity, word in words.items()
        if counts[severity]
    )
    left_out = "".join(f", {count} {_KNOWN[where]}" for where, count in sorted(result.known.items()) if count)
    return f"{found or 'no findings'} in {_number(result.files, 'file')} ({result.seconds:.1f} s){left_out}"


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
