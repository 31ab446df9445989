"""Suppression comments: which findings they answer, which of them answer none, which name no rule or are mistyped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from resilint.engine_rules import UNKNOWN_RULE, UNUSED_SUPPRESSION
from resilint.facts import Suppression
from resilint.model import Finding, Rule, Span
from resilint.registry import is_known, matches, suggestion
from resilint.text import Lines


@dataclass
class _Comment:
    """A suppression, and which of its selectors have suppressed something."""

    written: Suppression
    used: set[str] = field(default_factory=set)

    def answers(self, rule: Rule) -> bool:
        """Whether it suppresses findings of this rule; remembers that it did."""
        hits = {selector for selector in self.written.codes if matches(selector, rule)}
        self.used |= hits
        return bool(hits)


class _Comments:
    """The suppressions of one file, by what they speak of: a file may have as many as lines."""

    def __init__(self, written: Iterable[Suppression]) -> None:
        self.all = [_Comment(one) for one in written]
        self._whole = [comment for comment in self.all if comment.written.whole_file]
        self._by_line: dict[int, list[_Comment]] = {}
        self._wide: list[_Comment] = []
        """Those that speak of several lines: a tag of XML."""
        for comment in self.all:
            if comment.written.whole_file:
                continue
            self._by_line.setdefault(comment.written.last, []).append(comment)
            if comment.written.first != comment.written.last:
                self._wide.append(comment)
        self._in_file: dict[str, bool] = {}

    def answer(self, finding: Finding, rule: Rule) -> bool:
        """Whether a comment suppresses this finding. Every comment is asked, so that two for one finding are both used.

        A comment may also stand at the end of the last line: that is where formatters leave it when they break a statement.
        """
        first, last = finding.span.line, finding.span.end_line
        answers = [comment.answers(rule) for line in {first, last} for comment in self._by_line.get(line, ())]
        answers += [comment.answers(rule) for comment in self._wide if comment.written.first <= first < comment.written.last]
        if rule.code not in self._in_file:
            in_file = [comment.answers(rule) for comment in self._whole]
            self._in_file[rule.code] = any(in_file)
        return self._in_file[rule.code] or any(answers)


def apply(
    findings: Iterable[Finding],
    written: Mapping[str, tuple[Suppression, ...]],
    lines: Callable[[str], Lines],
    known: Iterable[Rule],
    ran: Iterable[Rule],
    *,
    require_reason: bool = False,
) -> list[Finding]:
    """The findings that no comment suppresses, and what is wrong with the comments themselves. `written`: those of each file.

    A comment for a rule that did not run is not called unused. With `require_reason` one that gives none is a finding, which no
    comment answers: it would be the reason that is missing.
    """
    rules = tuple(known)
    by_code = {rule.code: rule for rule in rules}
    comments = {path: _Comments(found) for path, found in written.items()}
    kept = [finding for finding in findings if not _answered(finding, by_code, comments)]
    running = tuple(ran)
    # What is unused can be said only after everything else has been answered.
    for path, found in comments.items():
        complaints = [finding for comment in found.all for finding in _unknown(path, comment, rules, running)]
        kept += [finding for finding in complaints if not _answered(finding, by_code, comments)]
    for path, found in comments.items():
        complaints = [finding for comment in found.all for finding in _unused(path, comment, lines(path), rules, running)]
        kept += [finding for finding in complaints if not _answered(finding, by_code, comments)]
    if require_reason:
        kept += [_unexplained(path, comment) for path, found in comments.items() for comment in found.all if _lacks_reason(comment)]
    return kept


def _lacks_reason(comment: _Comment) -> bool:
    # One that names no rule is reported for that already.
    return bool(comment.written.codes) and not comment.written.reason


def _unexplained(path: str, comment: _Comment) -> Finding:
    codes = ", ".join(comment.written.codes)
    message = f"suppression of {codes} gives no reason: write it behind the bracket, on the same line"
    return UNUSED_SUPPRESSION.finding(_span(path, comment.written), message)


def _answered(finding: Finding, by_code: Mapping[str, Rule], comments: Mapping[str, _Comments]) -> bool:
    rule = by_code.get(finding.code)
    there = comments.get(finding.span.path)
    return rule is not None and there is not None and there.answer(finding, rule)


def _span(path: str, written: Suppression) -> Span:
    return Span(path, written.line, written.column, written.line, written.end_column)


def _unknown(path: str, comment: _Comment, known: tuple[Rule, ...], ran: tuple[Rule, ...]) -> Iterable[Finding]:
    if UNKNOWN_RULE not in ran:
        return
    for selector in comment.written.codes:
        if not is_known(selector, known):
            message = f"suppression of an unknown rule {selector!r}{suggestion(selector, known)}"
            yield UNKNOWN_RULE.finding(_span(path, comment.written), message)


def _unused(path: str, comment: _Comment, lines: Lines, known: tuple[Rule, ...], ran: tuple[Rule, ...]) -> Iterable[Finding]:
    if UNUSED_SUPPRESSION not in ran:
        return
    span = _span(path, comment.written)
    if not comment.written.codes:
        text = lines.line(comment.written.line)[comment.written.column - 1 : comment.written.end_column - 1]
        yield UNUSED_SUPPRESSION.finding(span, _without_rule(text))
        return
    if not comment.written.first:
        message = "suppression is part of the value, so it suppresses nothing: in this kind of file a comment has a line of its own"
        yield UNUSED_SUPPRESSION.finding(span, message)
        return
    idle = [selector for selector in comment.written.codes if selector not in comment.used and _all_ran(selector, known, ran)]
    if idle:
        first, last = comment.written.first, comment.written.last
        lines_meant = f"on line {first}" if first == last else f"on lines {first} to {last}"
        where = "in this file" if comment.written.whole_file else lines_meant
        yield UNUSED_SUPPRESSION.finding(span, f"suppression of {', '.join(idle)} is not needed: nothing to suppress {where}")


_EMPTY = re.compile(r"resilint:[ \t]*ignore(?:-file)?[ \t]*\[[ \t,]*\]")
_RULE = re.compile(r"[A-Za-z]{2,}[0-9]+")


def _without_rule(text: str) -> str:
    """What is wrong with a suppression that names no rule, as far as its text tells."""
    if _EMPTY.match(text):
        return "suppression names no rule, so it suppresses nothing"
    kind = "ignore-file" if "file" in text else "ignore"
    rules = _RULE.findall(text.partition("resilint")[2])
    hint = f"did you mean 'resilint: {kind}[{', '.join(rules).upper()}]'?" if rules else f"write 'resilint: {kind}[RULE] reason'"
    shown = text if len(text) <= 60 else text[:59] + "…"
    return f"suppression {' '.join(shown.split())!r} is not understood, so it suppresses nothing: {hint}"


def _all_ran(selector: str, known: tuple[Rule, ...], ran: tuple[Rule, ...]) -> bool:
    """Whether all rules that a selector means ran, so that it could have been used; previews need not have.

    RS001 is reported last of all: nobody can say yet whether its suppression is used.
    """
    meant = [rule for rule in known if matches(selector, rule)]
    if not meant or UNUSED_SUPPRESSION in meant:
        return False
    return any(rule in ran for rule in meant) and all(rule in ran or rule.preview for rule in meant)
