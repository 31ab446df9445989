"""The algebra of worst cases against a simulator that lets the clock run: no run takes longer, and one takes as long."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf

import pytest
from resilint.flow.effects import (
    NOTHING,
    Branch,
    Done,
    Effect,
    Loop,
    Open,
    Par,
    Retry,
    Scope,
    Seq,
    Wait,
    Window,
    worst,
)

TREES = 150
RUNS = 1500
LONG = 1e6
"""Seconds that a wait takes of which nothing is known, or that never ends."""


class OverError(Exception):
    """The time of a scope is over."""

    def __init__(self, until: float) -> None:
        self.until = until


@dataclass
class Choices:
    """The choices of one run; those of the next run differ in the last that can."""

    taken: list[tuple[int, int]] = field(default_factory=list)
    at: int = 0

    def pick(self, ways: int) -> int:
        """One of so many ways."""
        if self.at == len(self.taken):
            self.taken.append((0, ways))
        chosen, of = self.taken[self.at]
        assert of == ways
        self.at += 1
        return chosen

    def advance(self) -> bool:
        """Whether there is another run."""
        while self.taken:
            chosen, ways = self.taken.pop()
            if chosen + 1 < ways:
                self.taken.append((chosen + 1, ways))
                self.at = 0
                return True
        return False


def run(effect: Effect, now: float, until: float, choices: Choices) -> float:
    """When an effect that begins at `now` ends; raises `OverError` if the scope around it ends before, at `until`."""
    match effect:
        case Wait():
            return _stand_still(effect, now, until, choices)
        case Open():
            return _until(now + (LONG * choices.pick(2) if effect.why == "wait" else 0.0), until)
        case Done():
            return _until(now + effect.worst.known, until)
        case Seq():
            for part in effect.parts:
                now = run(part, now, until, choices)
            return now
        case Branch():
            return run(effect.ways[choices.pick(len(effect.ways))], now, until, choices) if effect.ways else now
        case Par():
            return max([now, *(run(part, now, until, choices) for part in effect.parts)])
        case Loop():
            for _ in range(1 if effect.times is None else effect.times):
                now = run(effect.body, now, until, choices)
            return now
        case Retry():
            return _tries(effect, now, until, choices)
        case Window():
            return _rounds(effect, now, until, choices)
        case Scope():
            limit = now + (0.0 if effect.seconds is None else effect.seconds)
            if limit >= until:
                return run(effect.body, now, until, choices)
            try:
                return run(effect.body, now, limit, choices)
            except OverError as over:
                return over.until


def _until(end: float, until: float) -> float:
    if end > until:
        raise OverError(until)
    return end


def _stand_still(wait: Wait, now: float, until: float, choices: Choices) -> float:
    share = (0.0, 0.5, 1.0)[choices.pick(3)]
    seconds = 0.0 if wait.seconds is None else LONG if wait.seconds == inf else wait.seconds
    return _until(now + share * seconds, until)


def _tries(retry: Retry, now: float, until: float, choices: Choices) -> float:
    tries = 1 if retry.tries is None else int(retry.tries)
    for number in range(tries):
        now = run(retry.body, now, until, choices)
        if choices.pick(2):
            return now
        if number < len(retry.pauses):
            now = run(retry.pauses[number], now, until, choices)
    return now


def _rounds(window: Window, now: float, until: float, choices: Choices) -> float:
    """Rounds that begin before the window's end; the last begins at any moment until then."""
    seconds = window.seconds or 0.0
    return run(window.body, _until(now + seconds * choices.pick(2), until), until, choices)


def runs_of(effect: Effect) -> list[float]:
    """How long each run takes, by every choice there is; too many of them are not tried."""
    choices = Choices()
    out: list[float] = []
    for _ in range(RUNS):
        choices.at = 0
        try:
            out.append(run(effect, 0.0, inf, choices))
        except OverError as over:
            out.append(over.until)
        if not choices.advance():
            return out
    return []


def tree(rng: random.Random, depth: int, known: bool) -> Effect:
    """A small tree; `known`: everything in it has a length."""
    if depth == 0 or rng.random() < 0.25:
        if not known and rng.random() < 0.35:
            unknown: list[Effect] = [Wait(None), Wait(inf), Open("code"), Open("wait")]
            return rng.choice(unknown)
        return Wait(float(rng.randint(0, 8)))

    def part() -> Effect:
        return tree(rng, depth - 1, known)

    kinds: list[Callable[[], Effect]] = [
        lambda: Seq((part(), part())),
        lambda: Branch((part(), part())),
        lambda: Par((part(), part())),
        lambda: Loop(rng.randint(0, 2) if known or rng.random() < 0.6 else None, part()),
        lambda: _retry(rng, part(), known),
        lambda: Window(float(rng.randint(0, 4)), part()),
        lambda: Scope(float(rng.randint(1, 9)) if known or rng.random() < 0.8 else None, part()),
    ]
    return rng.choice(kinds)()


def _retry(rng: random.Random, body: Effect, known: bool) -> Effect:
    tries = rng.randint(1, 3)
    pauses = tuple(Wait(float(rng.randint(0, 3))) for _ in range(tries - 1))
    return Retry(tries if known or rng.random() < 0.8 else None, body, pauses)


def single(effect: Effect) -> Effect:
    """The same with one try of everything."""
    match effect:
        case Retry(_, body):
            return single(body)
        case Seq(parts):
            return Seq(tuple(single(part) for part in parts))
        case Branch(ways):
            return Branch(tuple(single(way) for way in ways))
        case Par(parts):
            return Par(tuple(single(part) for part in parts))
        case Loop(times, body):
            return Loop(times, single(body))
        case Window(seconds, body):
            return Window(seconds, single(body))
        case Scope(seconds, body):
            return Scope(seconds, single(body))
    return effect


def trees(seed: int, known: bool, count: int = TREES) -> Iterator[Effect]:
    """Trees small enough to try all their runs."""
    rng = random.Random(seed)
    found = 0
    while found < count:
        effect = tree(rng, 3, known)
        if runs_of(effect):
            found += 1
            yield effect


def test_of_known_trees_no_run_is_longer_and_one_is_as_long() -> None:
    for effect in trees(1, known=True):
        bound = worst(effect)
        assert bound.exact
        assert bound.known == pytest.approx(max(runs_of(effect))), effect


def test_what_is_known_of_open_trees_is_reached_by_some_run() -> None:
    for effect in trees(2, known=False):
        assert worst(effect).known <= max(runs_of(effect)) + 1e-9, effect


def test_of_a_tree_without_anything_open_no_run_is_longer() -> None:
    for effect in trees(3, known=False):
        bound = worst(effect)
        if bound.exact:
            assert max(runs_of(effect)) <= bound.known + 1e-9, effect


def test_terms_add_up_to_what_is_known() -> None:
    for effect in trees(4, known=False):
        bound = worst(effect)
        assert sum(term.seconds for term in bound.terms) == pytest.approx(bound.known), effect


def with_a_wait(effect: Effect, rng: random.Random) -> Effect:
    """The same with one more wait at some place."""
    waits: list[Effect] = [Wait(float(rng.randint(0, 9))), Wait(None), Wait(inf), Open("wait"), Open("code")]
    more = rng.choice(waits)
    if rng.random() < 0.3:
        return Seq((effect, more)) if rng.random() < 0.5 else Seq((more, effect))
    match effect:
        case Seq(parts):
            return Seq(_one_more(parts, rng)) if parts else Seq((more,))
        case Branch(ways):
            return Branch(_one_more(ways, rng))
        case Par(parts):
            return Par((*parts, more)) if rng.random() < 0.5 else Par(_one_more(parts, rng))
        case Loop(times, body):
            return Loop(times, with_a_wait(body, rng))
        case Retry(tries, body, pauses):
            return Retry(tries, with_a_wait(body, rng), pauses)
        case Window(seconds, body):
            return Window(seconds, with_a_wait(body, rng))
        case Scope(seconds, body):
            return Scope(seconds, with_a_wait(body, rng))
    return Seq((effect, more))


def _one_more(parts: tuple[Effect, ...], rng: random.Random) -> tuple[Effect, ...]:
    chosen = rng.randrange(len(parts))
    return tuple(with_a_wait(part, rng) if i == chosen else part for i, part in enumerate(parts))


def test_one_more_wait_never_lowers_what_is_known() -> None:
    rng = random.Random(5)
    for _ in range(5 * TREES):
        effect = tree(rng, 4, known=False)
        assert worst(with_a_wait(effect, rng)).known >= worst(effect).known - 1e-9, effect


def test_a_scope_never_raises_what_is_known_beyond_its_limit() -> None:
    rng = random.Random(6)
    for _ in range(5 * TREES):
        effect, limit = tree(rng, 4, known=False), float(rng.randint(1, 30))
        inside, around = worst(effect), worst(Scope(limit, effect))
        assert around.known <= limit
        if inside.exact:
            assert around.known == pytest.approx(min(limit, inside.known))


def test_a_single_try_of_everything_never_takes_longer() -> None:
    rng = random.Random(8)
    shorter = 0
    for _ in range(5 * TREES):
        effect = tree(rng, 4, known=True)
        once, whole = worst(single(effect)), worst(effect)
        assert once.known <= whole.known + 1e-9, effect
        shorter += once.known < whole.known
    assert shorter > TREES


def test_tries_carry_what_says_how_many() -> None:
    bound = worst(Seq((Wait(1.0), Retry(3, Wait(2.0), (Wait(0.5), Wait(0.5)), ("three tries",)))))
    assert bound.known == 8.0
    assert [term.because for term in bound.terms] == [(), ("three tries",), ("three tries",), ("three tries",)]


def test_the_order_of_what_runs_at_once_does_not_matter() -> None:
    rng = random.Random(7)
    for _ in range(TREES):
        parts = tuple(tree(rng, 3, known=False) for _ in range(3))
        assert worst(Par(parts)).known == worst(Par(parts[::-1])).known
        assert worst(Par(parts)).open == worst(Par(parts[::-1])).open


def test_nothing_takes_no_time() -> None:
    assert worst(NOTHING).known == 0.0
    assert worst(NOTHING).exact


@pytest.mark.parametrize("endless", [Wait(inf), Open("wait")])
def test_what_nothing_else_ends_lasts_as_long_as_its_scope(endless: Effect) -> None:
    bound = worst(Scope(5.0, Seq((Wait(1.0), endless))))
    assert bound.known == 5.0
    assert bound.exact


@pytest.mark.parametrize("why", ["code", "loop", "length"])
def test_what_may_take_no_time_adds_nothing_inside_a_scope(why: str) -> None:
    bound = worst(Scope(5.0, Seq((Wait(1.0), Open(why)))))
    assert bound.known == 1.0
    assert bound.open == {why}
