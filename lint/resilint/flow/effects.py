"""Effects: what code does to the time of whoever runs it, as a tree, and how such trees add up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from resilint.model import Confidence

MOST_TERMS = 6
"""Terms that a message names; the rest is added up."""


class Term(NamedTuple):
    """One summand of a worst case: how long in seconds, as people write it, what waits, and where (a function and a node)."""

    seconds: float
    amount: str
    name: str
    where: Any = None
    confidence: Confidence = Confidence.HIGH
    because: tuple[Any, ...] = ()
    """What makes it so long, as steps of a trace: the policy that tries again."""


class Worst(NamedTuple):
    """What is known of the longest time something takes.

    `known` is a lower bound of the worst case in seconds, the sum of `terms`. `endless` is a wait that may never end, beside it;
    `open` says what is not known: whether anything ends a `wait`, the `length` of one that ends, what `code` does, how often a
    `loop` goes round, what a `search` that was cut short would have found.
    """

    known: float = 0.0
    endless: Term | None = None
    open: frozenset[str] = frozenset()
    terms: tuple[Term, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether `known` is the worst case, not only a part of it."""
        return self.endless is None and not self.open


@dataclass(frozen=True)
class Wait:
    """Stands still for up to `seconds`; `inf` where nothing ends it, `None` where something does, but not known when."""

    seconds: float | None
    term: Term | None = None


@dataclass(frozen=True)
class Open:
    """Something of which this is not known; `term` says what, where it is a single wait."""

    why: str
    term: Term | None = None


@dataclass(frozen=True)
class Seq:
    """One after another."""

    parts: tuple[Effect, ...] = ()


@dataclass(frozen=True)
class Branch:
    """One of several."""

    ways: tuple[Effect, ...] = ()


@dataclass(frozen=True)
class Par:
    """All at once, until the last is done."""

    parts: tuple[Effect, ...] = ()


@dataclass(frozen=True)
class Loop:
    """The body so many times; `None` where that is not known."""

    times: int | None
    body: Effect


@dataclass(frozen=True)
class Retry:
    """Tries until one succeeds, with `pauses` between them; `None` where the number of tries is not known, `inf` without end."""

    tries: float | None
    body: Effect
    pauses: tuple[Effect, ...] = ()
    because: tuple[Any, ...] = ()
    """Steps that say where the number of tries comes from."""
    confidence: Confidence = Confidence.HIGH


@dataclass(frozen=True)
class Window:
    """Goes round until `seconds` are over: the last round may begin just before."""

    seconds: float | None
    body: Effect
    term: Term | None = None


@dataclass(frozen=True)
class Scope:
    """Is cut after `seconds`; `None` where that length is not known."""

    seconds: float | None
    body: Effect
    term: Term | None = None


@dataclass(frozen=True)
class Done:
    """A part whose worst case is known already; `body`, where it is kept, is the function that it is."""

    worst: Worst
    body: Effect | None = None
    fn: Any = None


Effect = Wait | Open | Seq | Branch | Par | Loop | Retry | Window | Scope | Done
NOTHING = Seq()


def worst(effect: Effect) -> Worst:
    """The longest time an effect takes, as far as it is known. Adding a wait never lowers the known part."""
    match effect:
        case Done():
            return effect.worst
        case Open():
            return Worst(open=frozenset({effect.why}))
        case Wait():
            return _wait(effect)
        case Seq():
            return _sum([worst(part) for part in effect.parts])
        case Branch():
            return _most([worst(way) for way in effect.ways])
        case Par():
            return _most([worst(part) for part in effect.parts])
        case Loop():
            return _times(worst(effect.body), effect.times, "loop")
        case Retry():
            return _retry(effect)
        case Window():
            body = worst(effect.body)
            return _sum([_wait(Wait(effect.seconds, effect.term)), body])
        case Scope():
            return _cut(worst(effect.body), effect)


def _wait(wait: Wait) -> Worst:
    term = wait.term or Term(wait.seconds or 0.0, f"{wait.seconds:g} s" if wait.seconds else "", "")
    if wait.seconds is None:
        return Worst(open=frozenset({"length"}))
    if wait.seconds == inf:
        return Worst(endless=term)
    return Worst(wait.seconds, terms=(term,) if wait.seconds > 0 else ())


def _sum(parts: Iterable[Worst]) -> Worst:
    known, endless, why, terms = 0.0, None, frozenset[str](), ()  # type: float, Term | None, frozenset[str], tuple[Term, ...]
    for part in parts:
        known += part.known
        endless = endless or part.endless
        why |= part.open
        terms += part.terms
    return Worst(known, endless, why, terms)


def _most(ways: list[Worst]) -> Worst:
    if not ways:
        return Worst()
    longest = max(ways, key=lambda way: way.known)
    endless = next((way.endless for way in ways if way.endless is not None), None)
    return Worst(longest.known, endless, frozenset().union(*(way.open for way in ways)), longest.terms)


def _times(body: Worst, times: int | None, why: str) -> Worst:
    if times is None:
        return body._replace(open=body.open | {why})
    if times <= 0:
        return Worst()
    if times == 1:
        return body
    terms = []
    for term in body.terms:
        sum_of = "+" in term.amount and "×" not in term.amount
        amount = f"({term.amount})" if sum_of or ("+" in term.amount and term.amount[:1] == "(") else term.amount
        terms.append(term._replace(seconds=term.seconds * times, amount=f"{times} × {amount}"))
    return Worst(body.known * times, body.endless, body.open, tuple(terms))


def _retry(retry: Retry) -> Worst:
    body = worst(retry.body)
    if retry.tries == inf:
        endless = body.endless or Term(inf, "", "a retry without end")
        return body._replace(endless=endless)
    if retry.tries is None:
        return body._replace(open=body.open | {"loop"})
    found = _sum([_times(body, int(retry.tries), "loop"), *(worst(pause) for pause in retry.pauses)])
    return found._replace(
        terms=tuple(
            term._replace(confidence=min(term.confidence, retry.confidence), because=(*retry.because, *term.because))
            for term in found.terms
        )
    )


def _cut(body: Worst, scope: Scope) -> Worst:
    if scope.seconds is None:
        # It may be shorter than anything inside.
        waits = body.known > 0 or body.endless is not None or "wait" in body.open
        return Worst(open=(body.open - {"wait"}) | {"length"} if waits else body.open)
    if scope.seconds == inf:
        return body
    if body.endless is not None or "wait" in body.open or body.known >= scope.seconds:
        return _wait(Wait(scope.seconds, scope.term))
    return body


def shown(terms: tuple[Term, ...]) -> str:
    """The terms of a sum for a message: `1 + 3 s Session.post, 2 s sleep`, the largest first where there are many."""
    named = [term for term in terms if term.seconds > 0]
    if len(named) > MOST_TERMS:
        kept = sorted(named, key=lambda term: -term.seconds)[: MOST_TERMS - 1]
        named = [term for term in named if term in kept]
        rest = sum(term.seconds for term in terms) - sum(term.seconds for term in named)
        return ", ".join(f"{term.amount} {term.name}".strip() for term in named) + f", {rest:g} s others"
    return ", ".join(f"{term.amount} {term.name}".strip() for term in named)


def reaches(number: float, limit: float) -> bool:
    """Whether a number is at least the limit, but for the noise of binary fractions."""
    return number >= limit * (1 - 1e-9)
