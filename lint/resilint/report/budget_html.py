"""Budgets as one page for a browser: it needs no network, no other file, and without scripts it shows everything."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files
from math import inf

from resilint.model import Budget, Span
from resilint.report import one_line
from resilint.report.budget import (
    RULES,
    VERDICTS,
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
from resilint.report.budget_text import summary

_TICKS = 4
"""Steps of the scale above the bars, about."""
_MOST_ROUNDS = 60
"""Rounds that are told apart in a bar."""
_FILTERS = (
    ("all", "All", ()),
    ("past", "Past the deadline", ("endless", "exceeds", "retries")),
    ("fits", "Within it", ("fits",)),
    ("none", "No deadline", ("none",)),
)
_LEGEND = (
    ("wait", "waits"),
    ("pause", "pauses between tries"),
    ("wait off", "beside something longer, or cut by a limit"),
    ("call", "a group"),
    ("open", "not known how long"),
    ("wait endless", "never ends"),
)


def write(budgets: Budgets, color: bool = False) -> str:
    """The page. Everything that comes from the analysed program is escaped text; the script holds none of it."""
    style, script = _asset("budget.css"), _asset("budget.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            "<title>resilint budget</title>",
            '<link rel="icon" href="data:,">',
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            '<a class="skip" href="#main">Skip the list</a>',
            "<header>",
            "<h1>Budget <small>what entry points can take at most, against the deadlines above them</small></h1>",
            f"<p>{_text(summary(budgets))}.</p>",
            "</header>",
            *_list(budgets),
            '<main id="main" tabindex="-1">',
            *(line for number, budget in enumerate(budgets.budgets, 1) for line in _entry(number, budget, budgets)),
            *([] if budgets.budgets else ['<p class="empty">No entry point waits for anything that is known.</p>']),
            *_legend(),
            "</main>",
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _asset(name: str) -> str:
    return files("resilint.report").joinpath(name).read_text("utf-8")


def _text(text: str) -> str:
    return escape(one_line(text), quote=True)


def _list(budgets: Budgets) -> Iterator[str]:
    """All entry points, to choose from."""
    yield '<nav aria-label="Entry points">'
    yield '<div class="find">'
    yield '<label for="search">Search</label>'
    yield '<input id="search" type="search" autocomplete="off" spellcheck="false" placeholder="name, route or path  ( / )">'
    yield "<fieldset><legend>Show</legend>"
    for key, label, verdicts in _FILTERS:
        count = sum(not verdicts or budget.verdict in verdicts for budget in budgets.budgets)
        checked = " checked" if key == "all" else ""
        yield (
            f'<label><input type="radio" name="show" value="{" ".join(verdicts)}"{checked}>'
            f"<span>{label} <b>{count}</b></span></label>"
        )
    yield "</fieldset>"
    yield '<p id="count" role="status"></p>'
    yield "</div>"
    yield '<ol id="list">'
    for number, budget in enumerate(budgets.budgets, 1):
        words = _text(" ".join((budget.name, budget.route, budgets.shown(budget.span.path))).lower())
        limit = f" / {duration(budget.limits[0].seconds)}" if budget.limits else ""
        figure = "for ever" if budget.endless else duration(budget.known) if budget.known else "not known"
        ratio = budget.ratio
        width = 100.0 if budget.endless or ratio is None else min(ratio, 1.0) * 100
        meter = f'<span class="meter" aria-hidden="true"><i style="width:{width:.1f}%"></i></span>' if budget.limits else ""
        yield (
            f'<li class="{"forever" if budget.endless else budget.verdict}" data-verdict="{budget.verdict}" data-words="{words}">'
            f'<a href="#e{number}"><span class="name">{_breakable(budget.name)}</span>'
            f'<span class="where">{_breakable(budget.route or budgets.shown(budget.span.path))}</span>{meter}'
            f'<span class="figure">{figure}{limit}</span>'
            f'<span class="hidden">, {VERDICTS[budget.verdict]}</span></a></li>'
        )
    yield "</ol></nav>"


def _breakable(text: str) -> str:
    """Escaped text that may be broken after the signs between its words."""
    out = _text(text)
    for sign in ("/", ".", "_"):
        out = out.replace(sign, f"{sign}<wbr>")
    return out


def _entry(number: int, budget: Budget, budgets: Budgets) -> Iterator[str]:
    axis = axis_of(budget)
    lines = list(rows(budget))
    yield f'<section id="e{number}" class="{budget.verdict}" aria-labelledby="h{number}" tabindex="-1">'
    yield f'<h2 id="h{number}">{_breakable(budget.name)}</h2>'
    route = f"<code>{_breakable(budget.route)}</code> · " if budget.route else ""
    yield f'<p class="place">{route}{_place(budget.span, budgets)} · {_text(budget.kind)}, {_text(budget.because)}</p>'
    rule = (
        f' <a class="rule" title="resilint explain {RULES[budget.verdict]}">{RULES[budget.verdict]}</a>'
        if budget.verdict in RULES
        else ""
    )
    yield f'<p class="verdict"><b>{_text(worst_text(budget))}</b>{_against(budget, budgets)}: {verdict_text(budget)}{rule}</p>'
    arithmetic = sum_text(budget)
    if arithmetic:
        yield f'<p class="sum">{_text(arithmetic)}</p>'
    if len(budget.limits) > 1:
        others = "; ".join(
            f"{duration(limit.seconds)} of {_text(limit.text)} ({_place(limit.span, budgets)})" for limit in budget.limits[1:]
        )
        yield f'<p class="others">Also above it: {others}</p>'
    deadline = f' style="--deadline:{axis.share(axis.deadline) * 100:.3f}%"' if axis.deadline is not None else ""
    yield f'<table class="fall{" limited" if deadline else ""}"{deadline}>'
    yield f'<caption class="hidden">What {_text(budget.name)} waits for, in order</caption>'
    yield (
        '<thead><tr><th scope="col">what waits</th>'
        f'<th scope="col" class="scale"><span class="hidden">when</span>{_scale(axis)}</th>'
        '<th scope="col" class="long">how long</th><th scope="col">why, and where</th></tr></thead>'
    )
    yield "<tbody>"
    for position, row in enumerate(lines):
        last = position + 1 == len(lines) or lines[position + 1].depth <= row.depth
        yield _line(row, axis, budgets, last)
    yield "</tbody></table>"
    dark = sum(not tells(row.part) for row in lines)
    if 0 < dark < len(lines):
        said = f"{dark} line{'' if dark == 1 else 's'} of which nothing is known"
        yield f'<p class="note"><button type="button" class="more" aria-pressed="false">Show {said}</button></p>'
    notes = []
    if axis.deadline is None and budget.limits:
        notes.append(f"The deadline of {duration(budget.limits[0].seconds)} lies far to the right of this scale.")
    if not budget.whole:
        notes.append("What is too deep or too much is left out.")
    if budget.open:
        notes.append(f"Not counted: {_text(', '.join(budget.open))}.")
    if notes:
        yield f'<p class="note">{" ".join(notes)}</p>'
    yield "</section>"


def _against(budget: Budget, budgets: Budgets) -> str:
    if not budget.limits:
        return ""
    limit = budget.limits[0]
    return f" under {duration(limit.seconds)} of {_text(limit.text)} ({_place(limit.span, budgets)})"


def _place(span: Span, budgets: Budgets) -> str:
    return f'<code class="at">{_breakable(budgets.shown(span.path))}:{span.line}</code>'


def _scale(axis: Axis) -> str:
    """Round moments along the axis, and the deadline."""
    step = _step(axis.end / _TICKS)
    count = int(axis.end / step + 1e-9)
    line = axis.share(axis.deadline) if axis.deadline is not None else -1.0
    ticks = [
        f'<span class="tick" style="left:{axis.share(step * n) * 100:.3f}%">{duration(step * n) if n else "0"}</span>'
        for n in range(count + 1)
        if n == 0 or (axis.share(step * n) < 0.98 and abs(axis.share(step * n) - line) > 0.005)
    ]
    flag = f'<span class="flag" title="deadline">{duration(axis.deadline)}</span>' if axis.deadline is not None else ""
    return f'<span class="track ticks" aria-hidden="true">{"".join(ticks)}{flag}</span>'


def _step(rough: float) -> float:
    """The round number of seconds nearest above: 1, 2 or 5 of a power of ten."""
    power = 1.0
    while power > rough:
        power /= 10
    while power * 10 <= rough:
        power *= 10
    return next((power * n for n in (1, 2, 5) if power * n >= rough * (1 - 1e-9)), power * 10)


def _line(row: Row, axis: Axis, budgets: Budgets, last: bool) -> str:
    part = row.part
    names = "".join(f'<span class="via">{_breakable(via.name.rpartition(".")[2] or via.name)} ›</span> ' for via in row.via)
    name = f"{names}<b>{_breakable(part.name or 'a limit')}</b>"
    if not last:
        name = f'<button type="button" aria-expanded="true">{name}</button>'
    figure = amount(part)
    written = f' <span class="sub">{_text(part.amount)}</span>' if part.amount and part.amount != figure else ""
    why = f"<span>{_text(part.why)}</span>" if part.why else ""
    place = _place(part.span, budgets) if part.span is not None else ""
    ways = "".join(f"<li>{_breakable(via.name)} {_place(via.span, budgets)}</li>" for via in row.via if via.span is not None)
    way = f"<details><summary>by way of {len(row.via)}</summary><ol>{ways}</ol></details>" if ways else ""
    kinds = " ".join((*([] if part.counts else ["off"]), *([] if tells(part) else ["dark"])))
    marked = f' class="{kinds}"' if kinds else ""
    return (
        f'<tr{marked} data-depth="{row.depth}" style="--depth:{min(row.depth, 12)}"><th scope="row">{name}</th>'
        f'<td class="bars">{_bar(row, axis)}</td>'
        f'<td class="long">{figure}{written}</td><td class="why">{why} {place}{way}</td></tr>'
    )


def _bar(row: Row, axis: Axis) -> str:
    part, end = row.part, row.end
    left = axis.share(part.start) * 100
    right = 100.0 if end == inf else axis.share(end) * 100
    unknown = part.kind == "open" or (part.seconds == 0 and part.kind in ("limit", "retry", "window"))
    kinds = ["open" if unknown else part.kind]
    if end == inf:
        kinds.append("endless")
    if not part.counts:
        kinds.append("off")
    rounds = f";--rounds:{part.rounds:g}" if 1 < part.rounds <= _MOST_ROUNDS and part.kind in ("wait", "pause") else ""
    if part.seconds == 0 and not unknown:
        return '<span class="track"></span>'
    when = (
        f"from {duration(part.start) if part.start else '0 s'} on"
        if unknown or end == inf
        else (f"from {duration(part.start) if part.start else '0 s'} to {duration(end)}")
    )
    beside = ", not part of the worst case" if not part.counts else ""
    width = "" if unknown else f"width:{max(right - left, 0.0):.3f}%"
    return (
        f'<span class="track"><i class="{" ".join(kinds)}" title="{when}" style="left:{left:.3f}%;{width}{rounds}"></i>'
        f'</span><span class="hidden">{when}{beside}</span>'
    )


def _legend() -> Iterator[str]:
    yield '<ul class="legend" aria-label="Signs">'
    for kinds, words in _LEGEND:
        yield f'<li><i class="{kinds}"></i>{words}</li>'
    yield '<li><i class="line"></i>the deadline</li></ul>'
