"""Suppression comments: which findings they answer, which of them answer none, which name no rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from resilint.engine_rules import UNKNOWN_RULE, UNUSED_SUPPRESSION
from resilint.facts import FileFacts, Suppression
from resilint.model import Finding, Rule, Span
from resilint.registry import is_known, matches, suggestion
from resilint.text import Lines

_COMMENT = ("#", "//", "/*", "*", "<!--", ";", "--")


@dataclass
class _Comment:
    """A suppression, the line it speaks of, and which of its selectors have suppressed something."""

    written: Suppression
    line: int
    used: set[str] = field(default_factory=set)

    def answers(self, finding: Finding, rule: Rule) -> bool:
        """Whether it suppresses this finding; remembers that it did.

        A comment may also stand at the end of the last line: that is where formatters leave it when they break a statement.
        """
        if not self.written.whole_file and self.line not in (finding.span.line, finding.span.end_line):
            return False
        hits = {selector for selector in self.written.codes if matches(selector, rule)}
        self.used |= hits
        return bool(hits)


def apply(
    findings: Iterable[Finding],
    files: Mapping[str, FileFacts],
    lines: Callable[[str], Lines],
    known: Iterable[Rule],
    ran: Iterable[Rule],
) -> list[Finding]:
    """The findings that no comment suppresses, and what is wrong with the comments themselves.

    A comment for a rule that did not run is not called unused.
    """
    rules = tuple(known)
    by_code = {rule.code: rule for rule in rules}
    comments = {
        path: [_Comment(written, _target(written, lines(path))) for written in facts.suppressions]
        for path, facts in files.items()
        if facts.suppressions
    }
    kept = [finding for finding in findings if not _answered(finding, by_code, comments)]
    running = tuple(ran)
    # What is unused can be said only after everything else has been answered.
    for complain in (_unknown, _unused):
        complaints = [
            finding for path, found in comments.items() for comment in found for finding in complain(path, comment, rules, running)
        ]
        kept += [finding for finding in complaints if not _answered(finding, by_code, comments)]
    return kept


def _answered(finding: Finding, by_code: Mapping[str, Rule], comments: Mapping[str, list[_Comment]]) -> bool:
    rule = by_code.get(finding.code)
    if rule is None:
        return False
    # Every comment is asked, so that two for one finding are both used.
    answers = [comment.answers(finding, rule) for comment in comments.get(finding.span.path, ())]
    return any(answers)


def _target(written: Suppression, lines: Lines) -> int:
    """The line a comment speaks of: its own, or the next one that is no comment."""
    line = written.line
    if not written.own_line:
        return line
    line += 1
    while lines.line(line).lstrip().startswith(_COMMENT):
        line += 1
    return line


def _span(path: str, written: Suppression) -> Span:
    return Span(path, written.line, written.column, written.line, written.end_column)


def _unknown(path: str, comment: _Comment, known: tuple[Rule, ...], ran: tuple[Rule, ...]) -> Iterable[Finding]:
    if UNKNOWN_RULE not in ran:
        return
    for selector in comment.written.codes:
        if not is_known(selector, known):
            message = f"suppression of an unknown rule {selector!r}{suggestion(selector, known)}"
            yield UNKNOWN_RULE.finding(_span(path, comment.written), message)


def _unused(path: str, comment: _Comment, known: tuple[Rule, ...], ran: tuple[Rule, ...]) -> Iterable[Finding]:
    if UNUSED_SUPPRESSION not in ran:
        return
    span = _span(path, comment.written)
    if not comment.written.codes:
        yield UNUSED_SUPPRESSION.finding(span, "suppression names no rule, so it suppresses nothing")
        return
    idle = [selector for selector in comment.written.codes if selector not in comment.used and _all_ran(selector, known, ran)]
    if idle:
        where = "in this file" if comment.written.whole_file else f"on line {comment.line}"
        yield UNUSED_SUPPRESSION.finding(span, f"suppression of {', '.join(idle)} is not needed: nothing to suppress {where}")


def _all_ran(selector: str, known: tuple[Rule, ...], ran: tuple[Rule, ...]) -> bool:
    """Whether all rules that a selector means ran, so that it could have been used; previews need not have.

    RS001 is reported last of all: nobody can say yet whether its suppression is used.
    """
    meant = [rule for rule in known if matches(selector, rule)]
    if not meant or UNUSED_SUPPRESSION in meant:
        return False
    return any(rule in ran for rule in meant) and all(rule in ran or rule.preview for rule in meant)
