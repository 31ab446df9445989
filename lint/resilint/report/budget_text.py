"""Budgets for people, on a terminal of 80 columns: a waterfall for each entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from textwrap import wrap

from resilint.model import Budget, Span
from resilint.report import one_line
from resilint.report.budget import (
    RULES,
    Axis,
    Budgets,
    Row,
    amount,
    axis_of,
    duration,
    rows,
    sum_text,
    tells,
    verdict_text,
    worst_text,
)
from resilint.report.text import cells, painted

_WIDTH = 80
_NAMES = 40
_BARS = 28
_AMOUNTS = _WIDTH - _NAMES - _BARS - 2
_ROWS = 16
"""Lines of a waterfall where nobody asked for this one."""
_SIGNS = {"wait": "█", "pause": "▒", "beside": "░", "group": "─", "open": "?", "end": "→", "deadline": "│"}
_LEGEND = "█ waits  ▒ pauses  ░ beside others, or cut  ? unknown  → for ever  │ deadline"
_COLORS = {"endless": "31;1", "exceeds": "31;1", "retries": "33;1", "fits": "32", "none": "2"}

Paint = Callable[[str, str], str]


def write(budgets: Budgets, color: bool = False) -> str:
    """All waterfalls, then what the signs mean, then a summary."""
    paint = painted if color else _unpainted
    blocks = ["\n".join(_budget(budget, budgets, paint)) for budget in budgets.budgets]
    if blocks:
        blocks.append("\n".join(_wrapped(_LEGEND, "", lambda line: paint(line, "2"))))
    return "\n\n".join([*blocks, summary(budgets)]) + "\n"


def summary(budgets: Budgets) -> str:
    """How many entry points there are, and how many of them can outlast a deadline."""
    shown, past = len(budgets.budgets), sum(b.verdict in ("endless", "exceeds", "retries") for b in budgets.budgets)
    words = [f"{shown} entry point{'' if shown == 1 else 's'}"]
    if shown:
        words.append(f"{past} past {'its' if past == 1 else 'their'} deadline")
    if budgets.without:
        words.append(f"{budgets.without} more wait{'s' if budgets.without == 1 else ''} for nothing that is known")
    return ", ".join(words)


def _unpainted(text: str, code: str) -> str:
    return text


def _budget(budget: Budget, budgets: Budgets, paint: Paint) -> Iterator[str]:
    route = f"  {one_line(budget.route)}" if budget.route else ""
    yield from _wrapped(f"{one_line(budget.name)}{route}", "", lambda line: paint(line, "1"))
    yield f"  {_end_of(_place(budget.span, budgets), _WIDTH - 4 - len(budget.kind))}, {budget.kind}"
    yield from _wrapped(_verdict(budget, budgets), "  ", lambda line: paint(line, _COLORS[budget.verdict]))
    arithmetic = sum_text(budget)
    if arithmetic:
        yield from _wrapped(arithmetic, "  ")
    for limit in budget.limits[1:]:
        yield from _wrapped(f"also above it: {duration(limit.seconds)} of {limit.text} ({_place(limit.span, budgets)})", "  ")
    axis = axis_of(budget)
    every = list(rows(budget))
    telling = [row for row in every if tells(row.part)]
    lines = every if budgets.selected or not telling else telling
    cut = len(lines) if budgets.selected or len(lines) <= _ROWS + 4 else _ROWS
    yield _scale(axis, paint)
    for row in lines[:cut]:
        yield from _row(row, axis, budgets, paint)
    if cut < len(every):
        yield from _wrapped(f"… {len(every) - cut} lines more: resilint budget {one_line(budget.name)}", "  ")
    if not budget.whole:
        yield "  … what is too deep or too much is left out"
    if budget.open:
        yield from _wrapped(f"not counted: {', '.join(budget.open)}", "  ", lambda line: paint(line, "2"))


def _verdict(budget: Budget, budgets: Budgets) -> str:
    if not budget.limits:
        return f"{worst_text(budget)}; {verdict_text(budget)}"
    limit = budget.limits[0]
    rule = f" ({RULES[budget.verdict]})" if budget.verdict in RULES else ""
    place = _place(limit.span, budgets)
    return f"{worst_text(budget)}, under {duration(limit.seconds)} of {limit.text} ({place}): {verdict_text(budget)}{rule}"


def _wrapped(text: str, indent: str, paint: Callable[[str], str] = str) -> Iterator[str]:
    for line in wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) or [indent]:
        yield paint(line)


def _scale(axis: Axis, paint: Paint) -> str:
    """The line above the bars: where they begin and end, and where the deadline stands."""
    end = duration(axis.end)
    line = list("0".ljust(_BARS - len(end)) + end)
    if axis.deadline is not None:
        at = min(int(axis.share(axis.deadline) * _BARS), _BARS - 1)
        label = duration(axis.deadline)
        first = max(at - len(label), 2)
        if axis.deadline < axis.end:
            if at >= _BARS - len(end) - 1:
                line[_BARS - len(end) :] = " " * len(end)
            line[first : first + len(label)] = label
            line[min(first + len(label), _BARS - 1)] = _SIGNS["deadline"]
    return paint(f"{'':{_NAMES}} {''.join(line)}".rstrip(), "2")


def _row(row: Row, axis: Axis, budgets: Budgets, paint: Paint) -> Iterator[str]:
    part = row.part
    indent = "  " * (min(row.depth, 8) + 1)
    name = _fitted(_label(row), _NAMES - len(indent))
    figure = amount(part)
    padding = " " * (_NAMES - len(indent) - cells(name))
    yield f"{indent}{name}{padding} {_bar(row, axis, paint)} {figure:>{_AMOUNTS}}".rstrip()
    details = [part.amount if part.amount not in ("", figure) else "", part.why]
    said = ", ".join(one_line(detail) for detail in details if detail)
    place = _place(part.span, budgets) if part.span is not None else ""
    room = _WIDTH - len(indent) - 2
    detail = "  ".join(text for text in (place, said) if text)
    if cells(detail) > room and place:
        # The end of a path says most.
        detail = "  ".join(text for text in (_end_of(place, max(room - cells(said) - 2, 24)), said) if text)
    if detail:
        yield paint(f"{indent}  {_fitted(detail, room)}", "2")


def _label(row: Row) -> str:
    names = [one_line(part.name) for part in row.via] + [one_line(row.part.name) or "?"]
    short = [name.rpartition(".")[2] or name for name in names[:-1]]
    return " › ".join([*short[:1], *(["…"] if len(short) > 2 else short[1:2]), names[-1]]) if short else names[-1]


def _fitted(text: str, room: int) -> str:
    """Text cut to a number of columns; what stands last says most, so the middle goes."""
    if cells(text) <= room:
        return text
    tail = _end_of(text, max(room * 2 // 3, 1)).removeprefix("…")
    head = text
    while head and cells(head) + cells(tail) + 1 > room:
        head = head[:-1]
    return f"{head}…{tail}"


def _end_of(text: str, room: int) -> str:
    if cells(text) <= room:
        return text
    while text and cells(text) + 1 > room:
        text = text[1:]
    return f"…{text}"


def _place(span: Span, budgets: Budgets) -> str:
    return f"{one_line(budgets.here(span.path))}:{span.line}"


def _bar(row: Row, axis: Axis, paint: Paint) -> str:
    """A bar over the axis, the deadline a line across, what lies past it painted."""
    part, over = row.part, row.end
    first = min(int(axis.share(part.start) * _BARS), _BARS - 1)
    last = _BARS if over == inf else max(round(axis.share(over) * _BARS), first + 1)
    deadline = min(int(axis.share(axis.deadline) * _BARS), _BARS - 1) if axis.deadline is not None else -1
    if part.kind == "open" or (part.seconds == 0 and not part.parts):
        sign, last = _SIGNS["open"], first + 1
    elif part.seconds == 0 and part.kind in ("call", "loop", "parallel", "limit", "retry"):
        sign, last = _SIGNS["group"], first
    elif part.kind in ("call", "loop", "parallel"):
        sign = _SIGNS["group"]
    else:
        sign = _SIGNS["beside"] if not part.counts else _SIGNS["pause"] if part.kind == "pause" else _SIGNS["wait"]
    out = []
    for column in range(_BARS):
        if first <= column < last:
            end = over == inf and column == _BARS - 1
            text = _SIGNS["end"] if end else sign
            past = part.counts and axis.deadline is not None and column >= deadline and sign != _SIGNS["open"]
            out.append(paint(text, "31") if past else text)
        elif column == deadline:
            out.append(paint(_SIGNS["deadline"], "2"))
        else:
            out.append(" ")
    return "".join(out)
