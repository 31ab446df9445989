"""Budgets for programs: one object for each entry point, in a form that only grows."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf
from typing import Any

from resilint.model import Budget, Part, Span
from resilint.report import printable
from resilint.report.budget import RULES, Budgets

Paths = Callable[[str], str]


def write(budgets: Budgets, color: bool = False) -> str:
    """A JSON list, indented by two. Seconds are numbers, `"inf"` for no end, `null` where they are not known."""
    report = [_budget(budget, budgets.shown) for budget in budgets.budgets]
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def _budget(budget: Budget, paths: Paths) -> dict[str, Any]:
    limits = [
        {
            "seconds": limit.seconds,
            "owner": limit.text,
            "stops": limit.stops,
            "confidence": limit.confidence.word,
            **_place(limit.span, paths),
        }
        for limit in budget.limits
    ]
    return {
        "name": budget.name,
        "kind": budget.kind,
        "route": budget.route or None,
        "because": budget.because,
        **_place(budget.span, paths),
        "deadline": limits[0] if limits else None,
        "other_deadlines": limits[1:],
        "worst_case": {
            "seconds": _seconds(budget.worst) if budget.known or budget.endless else None,
            "known": _round(budget.known),
            "at_least": bool(budget.open),
            "endless": budget.endless or None,
            "arithmetic": budget.arithmetic or None,
            "open": list(budget.open),
        },
        "ratio": None if budget.ratio is None else _seconds(budget.ratio),
        "verdict": budget.verdict,
        "rule": RULES.get(budget.verdict),
        "complete": budget.whole,
        "waits": [_part(part, paths) for part in budget.parts],
    }


def _part(part: Part, paths: Paths) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "name": part.name,
        "start": _round(part.start),
        "seconds": None if part.kind == "open" or (part.kind == "limit" and part.seconds == 0) else _seconds(part.seconds),
        "amount": part.amount or None,
        "why": part.why or None,
        "rounds": part.rounds or None,
        "counts": part.counts,
        **(_place(part.span, paths) if part.span is not None else {"path": None, "line": None}),
        "parts": [_part(inner, paths) for inner in part.parts],
    }


def _place(span: Span, paths: Paths) -> dict[str, Any]:
    return {"path": printable(paths(span.path)), "line": span.line}


def _seconds(seconds: float) -> float | str:
    return "inf" if seconds == inf else _round(seconds)


def _round(seconds: float) -> float:
    """Without the noise of binary fractions: sums are of numbers that people wrote."""
    return float(f"{seconds:.9g}")
