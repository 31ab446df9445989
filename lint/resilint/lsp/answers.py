"""What an editor asks of a place in the program: what waits there, what bounds it, how long a function takes, what a key means."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from typing import Any

from msgspec import structs

from resilint.facts import FileFacts, Setting, decode
from resilint.flow.effects import Worst, shown
from resilint.flow.inversions import brief, merged
from resilint.flow.slots import Slot, Source, say_seconds
from resilint.flow.waits import OF_UNKNOWN_LENGTH, Wait, waits_at
from resilint.intake import read_bytes
from resilint.kinds import KINDS
from resilint.knowledge.overview import bound_words
from resilint.link.code import Fun, Module
from resilint.lsp.places import Places
from resilint.model import Budget, Confidence, Finding, Limit, Rule, Severity, Span, Step
from resilint.program import Program
from resilint.run import Texts
from resilint.suppress import apply
from resilint.text import Lines

_WAITS = ("network", "query", "connect", "wait", "sleep")
_SAID = {"network": "waits for a peer", "query": "waits for a query", "connect": "waits for a connection", "sleep": "sleeps"}
_SINGLE = frozenset({"connect", "read", "write"})
"""Slots that bound each operation of a call, not all of it."""
_REASON = "why this may stay"
_MOST_STEPS = 12


class Answers:
    """Answers questions about one state of a program. Paths are relative to its root, which people know as `base`."""

    def __init__(self, program: Program, texts: Texts, base: Path, encoding: str) -> None:
        self.program = program
        self.texts = texts
        self.base = base
        self._encoding = encoding

    def places(self, path: str) -> Places:
        """The places of a file."""
        return Places(self.texts.source(path), self.texts.lines(path), self._encoding)

    def uri(self, path: str) -> str:
        """The address of a file."""
        return Path(os.path.normpath(self.base / path)).as_uri()

    def location(self, span: Span) -> dict[str, Any]:
        """A range with its file."""
        return {"uri": self.uri(span.path), "range": self.places(span.path).range(span)}

    # ------------------------------------------------------------ hover

    def hover(self, path: str, line: int, character: int) -> dict[str, Any] | None:
        """What is known of the thing at a place, as Markdown, and its range."""
        at = self.places(path).offset(line, character)
        module = self.program.names.modules.get(path)
        if module is not None and not module.beans:
            return self._in_code(module, at)
        if path == self.program.settings.path:
            return self._of_own_setting(path, at)
        setting = self._setting_at(path, at)
        return self._of_setting(path, setting) if setting is not None else None

    def _in_code(self, module: Module, at: int) -> dict[str, Any] | None:
        fn = _innermost(module.functions, at)
        if fn is None:
            return None
        around = sorted((s for s in fn.body.calls if s.call.at <= at < s.call.end), key=lambda s: s.call.end - s.call.at)
        for site in around:
            parts = ["\n".join(self._wait(wait)) for wait in waits_at(self.program, [site], *_WAITS)]
            if not parts:
                parts = ["\n\n".join(self._function(callee)) for callee in self.program.callees(site)[:3]]
            parts = [part for part in dict.fromkeys(parts) if part]
            if parts:
                return self._shown("\n\n---\n\n".join(parts), self.program.span_of(fn, site.call))
        head = self.program.span_of(fn, fn.head)
        name_line = self.program.lines(module.path).place(at)[0]
        if fn.head.name and head.line <= name_line <= self._last_line_of_head(fn) and (text := "\n\n".join(self._function(fn))):
            return self._shown(text, Span(module.path, name_line, 1, name_line, len(self._line(module.path, name_line)) + 1))
        return None

    def _last_line_of_head(self, fn: Fun) -> int:
        """The line above the first statement of a function, or its own."""
        lines = self.program.lines(fn.module.path)
        first = lines.place(fn.head.at)[0]
        if not fn.block:
            return first
        body = lines.place(fn.block[0].at)[0]
        return max(first, body - 1)

    def _line(self, path: str, number: int) -> str:
        return self.program.lines(path).line(number)

    def _shown(self, text: str, span: Span) -> dict[str, Any]:
        return {"contents": {"kind": "markdown", "value": text}, "range": self.places(span.path).range(span)}

    def _wait(self, wait: Wait) -> Iterator[str]:
        yield f"**{_code(wait.api)}** {_SAID.get(wait.kind, 'waits')}: {_bound_of(wait)}"
        facts = [text for source in wait.sources for text in self._source(source)]
        facts += [f"a context bounds it to {_length(deadline.number)}" for deadline in wait.deadlines if deadline.kind == "bounded"]
        steps = [step for way in wait.ways for step in way.steps]
        facts += [self._step(step) for step in steps]
        if facts:
            yield ""
        yield from (f"- {fact}" for fact in list(dict.fromkeys(facts))[:_MOST_STEPS])

    def _source(self, source: Source) -> Iterator[str]:
        for slot in source.slots:
            yield f"`{source.bound.slot}`: {_state(slot)}{self._origin(slot)}"
            if slot.flow is not None:
                yield from (self._step(step) for step in self.program.trace(slot.flow.hops))

    def _origin(self, slot: Slot) -> str:
        if slot.flow is None and not slot.given and slot.state != "absent":
            return ", by default"
        if slot.written is None:
            return ""
        fn, node = slot.written
        done = "left out" if slot.state == "absent" else "written"
        return f", {done} at {self._link(self.program.span_of(fn, node))}"

    def _step(self, step: Step) -> str:
        return f"{self._link(step.span)}: {_code(step.text)}" if "`" not in step.text else f"{self._link(step.span)}: {step.text}"

    def _link(self, span: Span) -> str:
        return f"[{span.path}:{span.line}]({self.uri(span.path)}#L{span.line})".replace("`", "")

    def _function(self, fn: Fun) -> Iterator[str]:
        work = self.program.worsts.of_function(self.program.resolver.frame(fn))
        if not _takes_time(work):
            return
        yield f"**{_code(fn.head.qual or fn.name)}** {worst_words(work)}"
        if terms := shown(tuple(merged(t._replace(name=brief(t.name)) for t in work.terms))):
            yield f"{terms} = {say_seconds(work.known)}"
        for above in self.program.above.of(fn):
            yield f"Deadline: {say_seconds(above.seconds / above.share)}, {above.text} ({self._link(above.span)})"

    # ------------------------------------------------------------ settings

    def _setting_at(self, path: str, at: int) -> Setting | None:
        facts = self.program.files.get(path)
        found = [
            setting
            for setting in (facts.settings if facts is not None else ())
            if setting.kind not in ("map", "list")
            and (setting.key_at <= at <= setting.key_end or setting.at <= at <= setting.end)
            and setting.key_end > 0
        ]
        return min(found, key=lambda setting: setting.end - setting.key_at, default=None)

    def _of_setting(self, path: str, setting: Setting) -> dict[str, Any] | None:
        surfaces = self.program.surfaces
        written = next((one for one in surfaces.written if one.path == path and one.setting == setting), None)
        if written is None:
            return None
        lines = [f"**{_code(written.spelled)}**"]
        for row, entry, library in surfaces.rows_of(written):
            verified = "" if library.verified is not False else ", not verified"
            lines.append(f"bounds `{row.slot}` of {_code(entry.name)}: {bound_words(row)} ({library.library}{verified})")
        values = [text for text in surfaces.texts(written) if text.whole]
        if len(lines) == 1:
            return None
        for value in values:
            if value.steps or value.known != setting.text:
                lines.append(f"value: {_code(value.known)}")
                lines += [f"- {self._step(step)}" for step in value.steps]
        return self._shown("\n\n".join(lines), surfaces.span(written))

    def _of_own_setting(self, path: str, at: int) -> dict[str, Any] | None:
        """A key of resilint's own settings, as the schema that editors get describes it."""
        from resilint.schemas import settings_schema

        line, col = self.texts.lines(path).place(at)
        for keys, span in self.program.settings.places.items():
            if span.path == path and (span.line, span.col) <= (line, col) <= (span.end_line, span.end_col):
                node: Any = settings_schema()
                for key in keys:
                    inner = node.get("properties", {}).get(key) or node.get("additionalProperties") or node.get("items")
                    if not isinstance(inner, dict):
                        return None
                    node = inner
                if "description" in node:
                    return self._shown(f"**{_code('.'.join(keys))}**\n\n{node['description']}", span)
        return None

    # ------------------------------------------------------------ lenses

    def lenses(self, path: str) -> list[dict[str, Any]]:
        """The worst case of each entry point of a file, with its deadline."""
        budgets = self.program.budgets
        places = self.places(path)
        found = []
        for endpoint in budgets.endpoints:
            if endpoint.path == path:
                budget = budgets.of(endpoint)
                if budget.parts:
                    found.append({"range": places.range(budget.span), "title": lens_words(budget), "detail": detail_words(budget)})
        return found

    # ------------------------------------------------------------ suppressions

    def suppression(self, finding: Finding, rule: Rule) -> dict[str, Any] | None:
        """The edit that suppresses a finding by a comment; none where the file's syntax has no place for one.

        Each way is tried: the file is read with it, and only what makes the finding go is given.
        """
        path = finding.span.path
        facts = self.program.files.get(path)
        if facts is None or facts.kind not in KINDS or (remark := KINDS[facts.kind].remark) is None:
            return None
        data, lines = self.texts.source(path), self.texts.lines(path)
        for at, text, moved in self._ways(finding, rule, data, lines, remark):
            after = data[:at] + text.encode() + data[at:]
            new = decode(read_bytes(after, path, facts.kind).facts)
            span = finding.span
            moved_span = Span(path, span.line + moved, span.col, span.end_line + moved, span.end_col)
            shifted, rows = structs.replace(finding, span=moved_span), Lines(after)
            if _goes(shifted, rule, new, rows) and len(new.errors) == len(facts.errors) and _same(facts.settings, new.settings):
                place = self.places(path).position(*lines.place(at))
                return {"range": {"start": place, "end": place}, "newText": text}
        return None

    def _ways(
        self, finding: Finding, rule: Rule, data: bytes, lines: Lines, remark: tuple[str, str]
    ) -> Iterator[tuple[int, str, int]]:
        """Where to put what, and by how many lines that moves the finding."""
        number, code = finding.span.line, rule.code
        line = lines.line(number)
        for written in self.program.files[finding.span.path].suppressions:
            if written.codes and not written.whole_file and written.line in (number, number - 1):
                bracket = lines.line(written.line).find("]", written.column - 1)
                if bracket >= 0:
                    yield lines.offset(written.line, bracket + 1), f", {code}", 0
        opening, closing = remark
        comment = f"{opening} resilint: ignore[{code}] {_REASON}{' ' if closing else ''}{closing}"
        start = lines.offset(number, 1)
        end = "\r\n" if b"\r\n" in data else "\n"
        indent = line[: len(line) - len(line.lstrip())]
        yield start, f"{indent}{comment}{end}", 1
        yield lines.offset(number, len(line.rstrip()) + 1), f"  {comment}", 0


def _goes(finding: Finding, rule: Rule, facts: FileFacts, lines: Lines) -> bool:
    """Whether a comment of the file suppresses the finding."""
    return not apply([finding], {finding.span.path: facts.suppressions}, lambda _: lines, (rule,), ())


def _same(before: Iterable[Setting], after: Iterable[Setting]) -> bool:
    """Whether settings say the same, wherever they stand: a comment that became part of a value changes one."""
    return [(one.path, one.text) for one in before] == [(one.path, one.text) for one in after]


def _innermost(functions: Iterable[Fun], at: int) -> Fun | None:
    """The smallest function around a place: the body of the module where it lies in no other."""
    whole: Fun | None = None
    found: Fun | None = None
    for fn in functions:
        if whole is None:
            whole = fn
        elif fn.head.at <= at < fn.head.end and (found is None or fn.head.end - fn.head.at <= found.head.end - found.head.at):
            found = fn
    return found or whole


def _code(text: str) -> str:
    return f"`{text}`" if text and "`" not in text else text


def _length(seconds: float | None) -> str:
    if seconds is None or seconds == OF_UNKNOWN_LENGTH:
        return "a time that is not known"
    return say_seconds(seconds)


def _bound_of(wait: Wait) -> str:
    if wait.bound is None:
        return "not known whether anything ends it"
    if wait.bound == inf:
        return "can last for ever"
    if wait.bound == OF_UNKNOWN_LENGTH:
        return "ends, but it is not known when"
    said = f"at most {say_seconds(wait.bound)}"
    if any(deadline.kind == "bounded" for deadline in wait.deadlines):
        return said
    deciding = {
        source.bound.slot
        for source in wait.sources
        for slot in source.slots
        if slot.state == "finite" and slot.number == wait.bound
    }
    # The call as a whole takes longer: it connects, and a peer may send byte by byte.
    return f"{said} for each {' and '.join(sorted(deciding))}" if deciding and deciding <= _SINGLE else said


def _state(slot: Slot) -> str:
    if slot.state == "finite":
        return say_seconds(slot.number) if slot.number is not None else "set, its length is not known"
    return {"disabled": "switched off", "absent": "not set", "unknown": "not known"}[slot.state]


def _takes_time(work: Worst) -> bool:
    return work.known > 0 or work.endless is not None or bool(work.open & {"wait", "length"})


def worst_words(work: Worst) -> str:
    """The worst case of a function as the end of a sentence."""
    if work.endless is not None:
        return f"can last for ever: {brief(work.endless.name)}"
    if work.open and not work.known:
        return "takes a time that is not known"
    return f"takes at {'least' if work.open else 'most'} {say_seconds(work.known)} in the worst case"


def _limit(limit: Limit) -> str:
    return f"{say_seconds(limit.seconds)} ({limit.text})"


def lens_words(budget: Budget) -> str:
    """`worst 7.5 s of 5 s (nginx)`."""
    worst = "worst: for ever" if budget.endless else f"worst {'≥ ' if budget.open else ''}{say_seconds(budget.known)}"
    if budget.endless:
        worst += f" ({budget.endless})"
    return f"{worst} of {_limit(budget.limits[0])}" if budget.limits else worst


def detail_words(budget: Budget) -> str:
    """How a worst case comes about."""
    known = f": {budget.arithmetic} = {say_seconds(budget.known)}" if budget.arithmetic else ""
    rest = f"; not known: {', '.join(budget.open)}" if budget.open else ""
    return f"{budget.name}{known}{rest}; {lens_words(budget)}"


def placeholder(span: Span, rule: Rule) -> Finding:
    """A finding of a rule at a place, for its suppression."""
    return Finding(span, rule.code, rule.name, Severity.INFO, "", Confidence.HIGH)
