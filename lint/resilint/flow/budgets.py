"""Budgets: the worst case of each entry point as a waterfall of its waits, against the deadlines above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from resilint import facts as f
from resilint.flow.effects import Branch, Done, Effect, Loop, Open, Par, Retry, Scope, Seq, Term, Wait, Window, Worst, shown, worst
from resilint.flow.inversions import brief, merged
from resilint.flow.slots import say_seconds
from resilint.flow.values import Text
from resilint.flow.worst import room
from resilint.link.code import Fun
from resilint.link.entries import Entry, Maker
from resilint.model import Budget, Confidence, Limit, Part, Span

if TYPE_CHECKING:
    from resilint.program import Program

_MOST_PARTS = 300
"""Bars of one waterfall."""
_MOST_STEPS = 20_000
"""Pieces of one tree that are looked at."""
_DEEPEST = 1000
"""Pieces inside each other that are looked at."""
_MOST_GROUPS = 40
"""Bars inside each other."""
_OPEN = {
    "wait": "waits of which it is not known what ends them",
    "length": "limits whose length is not known",
    "code": "calls of code that is not described",
    "loop": "how often loops go round",
    "search": "what lies too deep to be followed",
}
"""What is not known of a worst case, in the order in which it is said."""
_SAID = {
    Confidence.HIGH: "written in the program",
    Confidence.MEDIUM: "default of the library",
    Confidence.LOW: "default of the library, not verified",
}
_VERBS = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
_ROUTE = re.compile(r"(?:[A-Z]+ )?[^\s/]*/\S*")
_PLACES = ("path", "value", "rule", "route", "pattern", "uri", "url", "name")
"""Names of arguments that a route may be given by."""


class Endpoint(NamedTuple):
    """An entry point as people ask for it."""

    fn: Fun
    name: str
    kind: str
    because: str
    routes: tuple[str, ...]

    @property
    def path(self) -> str:
        """The file in which it is written."""
        return self.fn.module.path


class Budgets:
    """Answers what entry points may spend and do spend, for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """All entry points but those of tests, in order of path and position."""
        entries = self.program.entries
        return tuple(
            Endpoint(fn, _name(fn), entry.kind, entry.because, self._routes(fn, entry))
            for fn, entry in sorted(entries.items(), key=lambda item: item[0].key)
            if not self.program.is_test(fn)
        )

    def named(self, text: str) -> list[Endpoint]:
        """The entry points that a text means: a function's name, a route or its beginning, or a glob over paths."""
        for means in (_is_named, _has_route, _lies_in):
            found = [endpoint for endpoint in self.endpoints if means(endpoint, text)]
            if found:
                return found
        return []

    def near(self, text: str) -> list[str]:
        """Names and routes that are spelt much like a text, the nearest first."""
        known = {name: name for e in self.endpoints for name in (e.name, e.fn.name, *e.routes)}
        lower = {name.lower(): name for name in sorted(known)}
        return [lower[name] for name in get_close_matches(text.lower(), list(lower), 3, 0.6)]

    def of(self, endpoint: Endpoint) -> Budget:
        """The budget of one entry point."""
        program, fn = self.program, endpoint.fn
        frame = program.resolver.frame(fn)
        work = program.worsts.of_function(frame)
        drawing = _Waterfall(program)
        with room():
            parts = drawing.of(program.worsts.tree_of(frame))
        terms = [t._replace(name=brief(t.name)) for t in work.terms]
        limits = tuple(
            Limit(above.seconds / above.share, above.text, above.span, above.stops, above.confidence)
            for above in program.above.of(fn)
        )
        return Budget(
            endpoint.name,
            endpoint.kind,
            endpoint.routes[0] if endpoint.routes else "",
            endpoint.because,
            _head(program, fn),
            work.known,
            brief(work.endless.name) if work.endless is not None else "",
            tuple(said for why, said in _OPEN.items() if why in work.open),
            shown(tuple(merged(terms))),
            limits,
            program.inversions.verdict(fn),
            parts,
            drawing.whole,
        )

    def ranked(self, endpoints: Iterable[Endpoint]) -> list[Budget]:
        """The budgets of entry points: first what uses up most of its deadline, then what takes longest. Without one that waits
        for nothing that is known."""
        found = [budget for budget in map(self.of, endpoints) if budget.parts]
        return sorted(found, key=_order)

    # ------------------------------------------------------------ routes

    def _routes(self, fn: Fun, entry: Entry) -> tuple[str, ...]:
        """The routes that an entry point is registered under: `GET /orders/{id}`."""
        if entry.kind not in ("request", "rpc"):
            return ()
        found: dict[str, None] = {}
        for maker in entry.makers:
            verb = maker.name.rpartition(".")[2].removesuffix("Mapping").lower()
            for path in self._written(maker):
                path = self._prefix(fn, maker) + path
                found[f"{verb.upper()} {path}" if verb in _VERBS and " " not in path else path] = None
        return tuple(found)

    def _written(self, maker: Maker) -> Iterator[str]:
        """Texts that a registering call or annotation gives as a route."""
        if maker.call is None:
            return
        frame = self.program.resolver.frame(maker.fn)
        for position, arg in enumerate(maker.call.args[:8]):
            if (arg.name is None and position < 2) or arg.name in _PLACES:
                values = [pair.value for pair in arg.value.items[:4]] if isinstance(arg.value, f.Coll) else [arg.value]
                texts = [
                    flow.thing.whole
                    for value in values
                    if not isinstance(value, f.Fn)
                    for flow in self.program.resolver.ask(value, frame)
                    if isinstance(flow.thing, Text) and flow.thing.whole is not None
                ]
                routes = [text for text in texts if _ROUTE.fullmatch(text)]
                if routes:
                    yield from routes
                    return

    def _prefix(self, fn: Fun, maker: Maker) -> str:
        """What an annotation of the class puts before the routes of its methods."""
        klass = self.program.resolver.owner(fn) if fn.module.language == "java" else None
        for annotation in klass.decl.decorators if klass is not None else ():
            if (
                isinstance(annotation, f.Call)
                and isinstance(annotation.fn, f.Ref)
                and annotation.fn.name.endswith(("Mapping", "Path"))
            ):
                for path in self._written(Maker(fn, annotation, maker.name)):
                    return path.rstrip("/")
        return ""


class _Waterfall:
    """Lays the effects of one function out in time. What is tried or goes round several times is laid end to end."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.whole = True
        self._worst: dict[int, tuple[Effect, Worst]] = {}
        self._parts = _MOST_PARTS
        self._steps = _MOST_STEPS
        self._depth = 0
        self._groups = 0

    def of(self, effect: Effect) -> tuple[Part, ...]:
        """The bars of a tree."""
        return tuple(self._lay(effect, 0.0, 1.0, True))

    def _of(self, effect: Effect) -> Worst:
        found = self._worst.get(id(effect))
        if found is None:
            # The effect is kept, too: its address stands for it.
            found = self._worst[id(effect)] = (effect, worst(effect))
        return found[1]

    def _waits(self, effect: Effect) -> bool:
        """Whether there is anything to draw."""
        work = self._of(effect)
        return work.known > 0 or work.endless is not None or bool(work.open & {"wait", "length"})

    def _lay(self, effect: Effect, start: float, rounds: float, counts: bool) -> list[Part]:
        if not self._waits(effect):
            return []
        self._steps -= 1
        group = not isinstance(effect, Seq | Branch)
        if self._steps < 0 or self._parts < 0 or self._depth >= _DEEPEST or self._groups >= _MOST_GROUPS:
            self.whole = False
            return []
        self._depth += 1
        self._groups += group
        try:
            return self._laid(effect, start, rounds, counts)
        finally:
            self._depth -= 1
            self._groups -= group

    def _laid(self, effect: Effect, start: float, rounds: float, counts: bool) -> list[Part]:
        match effect:
            case Wait():
                return self._wait(effect, start, rounds, counts)
            case Open():
                return self._open(effect, start, counts)
            case Seq():
                return self._sequence(effect.parts, start, rounds, counts)
            case Branch():
                return self._branch(effect, start, rounds, counts)
            case Par():
                return self._parallel(effect, start, rounds, counts)
            case Loop():
                return self._loop(effect, start, rounds, counts)
            case Retry():
                return self._retry(effect, start, rounds, counts)
            case Window():
                return self._window(effect, start, rounds, counts)
            case Scope():
                return self._scope(effect, start, rounds, counts)
            case Done():
                return self._function(effect, start, rounds, counts)

    def _part(self, kind: str, name: str, start: float, seconds: float, counts: bool, **more: Any) -> Part:
        self._parts -= 1
        return Part(kind, name, start, seconds, counts=counts, **more)

    def _span(self, term: Term | None) -> Span | None:
        if term is None or term.where is None:
            return None
        fn, node = term.where
        return self.program.span_of(fn, node)

    def _wait(self, wait: Wait, start: float, rounds: float, counts: bool) -> list[Part]:
        term = wait.term
        if wait.seconds is None:
            return self._open(Open("length", term), start, counts)
        if wait.seconds == inf:
            why = "nothing ends it"
            return [self._part("wait", _of(term), start, inf, counts, amount="for ever", span=self._span(term), why=why)]
        amount = term.amount if term is not None and term.amount else say_seconds(wait.seconds)
        sure = term.confidence if term is not None else Confidence.HIGH
        return [
            self._part(
                "pause" if _of(term).rpartition(".")[2].lower() in ("pause", "sleep") else "wait",
                _of(term),
                start,
                wait.seconds * rounds,
                counts,
                amount=_times(amount, rounds),
                span=self._span(term),
                why=_SAID[sure],
                rounds=rounds,
            )
        ]

    def _open(self, effect: Open, start: float, counts: bool) -> list[Part]:
        if effect.term is None or effect.why not in ("wait", "length"):
            return []
        why = "not known how long" if effect.why == "length" else "not known what ends it"
        return [self._part("open", _of(effect.term), start, 0.0, counts, span=self._span(effect.term), why=why)]

    def _sequence(self, parts: Iterable[Effect], start: float, rounds: float, counts: bool) -> list[Part]:
        out: list[Part] = []
        for part in parts:
            out.extend(self._lay(part, start, rounds, counts))
            start += self._of(part).known * rounds
        return out

    def _branch(self, branch: Branch, start: float, rounds: float, counts: bool) -> list[Part]:
        """The longest way, and another one that never ends."""
        ways = [way for way in branch.ways if self._waits(way)]
        longest = max(ways, key=lambda way: (self._of(way).known, self._of(way).endless is not None), default=None)
        if longest is None:
            return []
        out = self._lay(longest, start, rounds, counts)
        if self._of(longest).endless is None:
            endless = next((way for way in ways if self._of(way).endless is not None), None)
            if endless is not None:
                out.extend(self._lay(endless, start, rounds, False))
        return out

    def _parallel(self, par: Par, start: float, rounds: float, counts: bool) -> list[Part]:
        works = [part for part in par.parts if self._waits(part)]
        longest = max(works, key=lambda part: (self._of(part).endless is not None, self._of(part).known), default=None)
        lanes = [part for work in works for part in _lane(self._lay(work, start, rounds, counts and work is longest))]
        if len(works) < 2:
            return lanes
        seconds = self._of(par).known * rounds
        return [self._part("parallel", f"{len(works)} at once", start, seconds, counts, parts=tuple(lanes))] if lanes else []

    def _loop(self, loop: Loop, start: float, rounds: float, counts: bool) -> list[Part]:
        if loop.times is not None:
            inner = self._lay(loop.body, start, rounds * loop.times, counts) if loop.times > 0 else []
            if loop.times <= 1 or all(part.kind == "pause" for part in inner):
                return inner
        else:
            inner = self._lay(loop.body, start, rounds, counts)
        name = f"{loop.times} rounds" if loop.times is not None else "each round"
        why = "" if loop.times is not None else "not known how often it goes round: one round is shown"
        seconds = self._of(loop).known * rounds
        times = float(loop.times) if loop.times is not None else 0.0
        return [self._part("loop", name, start, seconds, counts, why=why, rounds=times, parts=tuple(inner))] if inner else []

    def _retry(self, retry: Retry, start: float, rounds: float, counts: bool) -> list[Part]:
        step = retry.because[-1] if retry.because else None
        span = step.span if step is not None else None
        tries = retry.tries
        if tries is None or tries == inf:
            inner = self._lay(retry.body, start, rounds, counts)
            name = "tries without end" if tries == inf else "tries"
            why = "nothing ends them: one is shown" if tries == inf else "not known how many: one is shown"
            seconds = inf if tries == inf else self._of(retry).known * rounds
            return [self._part("retry", name, start, seconds, counts, span=span, why=why, rounds=0.0, parts=tuple(inner))]
        inner = self._lay(retry.body, start, rounds * tries, counts)
        inner += self._sequence(retry.pauses, start + self._of(retry.body).known * rounds * tries, rounds, counts)
        if tries <= 1:
            return inner
        seconds = self._of(retry).known * rounds
        why = step.text if step is not None else ""
        return [
            self._part(
                "retry", f"{tries:g} tries", start, seconds, counts, span=span, why=why, rounds=tries * rounds, parts=tuple(inner)
            )
        ]

    def _window(self, window: Window, start: float, rounds: float, counts: bool) -> list[Part]:
        begun = self._wait(Wait(window.seconds, window.term), start, rounds, counts)
        last = self._lay(window.body, start + (window.seconds or 0.0) * rounds, rounds, counts)
        limit = f"until {say_seconds(window.seconds)} are over" if window.seconds is not None else "until its time is over"
        why = "the last round may begin just before"
        seconds = self._of(window).known * rounds
        name = f"rounds {limit}"
        span = self._span(window.term)
        return [self._part("window", name, start, seconds, counts, span=span, why=why, rounds=0.0, parts=(*begun, *last))]

    def _scope(self, scope: Scope, start: float, rounds: float, counts: bool) -> list[Part]:
        body = self._of(scope.body)
        if scope.seconds == inf:
            return self._lay(scope.body, start, rounds, counts)
        term, name = scope.term, _of(scope.term)
        if scope.seconds is None:
            inner = self._lay(scope.body, start, rounds, False)
            why = "ends what stands below, not known when"
            return [self._part("limit", name, start, 0.0, counts, span=self._span(term), why=why, parts=tuple(inner))]
        if body.endless is None and "wait" not in body.open and body.known < scope.seconds:
            return self._lay(scope.body, start, rounds, counts)
        inner = self._lay(scope.body, start, 1.0, False)
        amount = _times(term.amount if term is not None and term.amount else say_seconds(scope.seconds), rounds)
        sure = term.confidence if term is not None else Confidence.HIGH
        why = f"{_SAID[sure]}; ends what stands below" if inner else _SAID[sure]
        return [
            self._part(
                "limit" if inner else "wait",
                name,
                start,
                scope.seconds * rounds,
                counts,
                amount=amount,
                span=self._span(term),
                why=why,
                rounds=rounds,
                parts=tuple(inner),
            )
        ]

    def _function(self, done: Done, start: float, rounds: float, counts: bool) -> list[Part]:
        inner = self._lay(done.body, start, rounds, counts) if done.body is not None else []
        if done.fn is None:
            return inner
        if not inner and done.worst.known == 0 and done.worst.endless is None:
            return []
        seconds = done.worst.known * rounds
        span = _head(self.program, done.fn)
        return [self._part("call", _name(done.fn), start, seconds, counts, span=span, parts=tuple(inner))]


def _lane(parts: list[Part]) -> list[Part]:
    """What runs beside others, as one bar."""
    if len(parts) < 2:
        return parts
    start = parts[0].start
    seconds = max(part.start + part.seconds for part in parts) - start
    return [Part("call", "one after the other", start, seconds, counts=parts[0].counts, parts=tuple(parts))]


def _of(term: Term | None) -> str:
    return brief(term.name) if term is not None else ""


def _times(amount: str, rounds: float) -> str:
    if rounds == 1:
        return amount
    return f"{rounds:g} × ({amount})" if "+" in amount else f"{rounds:g} × {amount}"


def _name(fn: Fun) -> str:
    return str(fn.head.qual) or str(fn.name)


def _head(program: Program, fn: Fun) -> Span:
    span = program.span_of(fn, fn.head)
    return Span(span.path, span.line, span.col, span.line, span.col + 1)


def _is_named(endpoint: Endpoint, text: str) -> bool:
    return text in (endpoint.name, endpoint.fn.name) or endpoint.name.endswith(f".{text}")


def _has_route(endpoint: Endpoint, text: str) -> bool:
    return any(text in (route, route.rpartition(" ")[2]) or fnmatchcase(route, text) for route in endpoint.routes) or (
        "/" in text and any(route.rpartition(" ")[2].startswith(text) for route in endpoint.routes)
    )


def _lies_in(endpoint: Endpoint, text: str) -> bool:
    path, wanted = endpoint.path, text.removeprefix("./").rstrip("/")
    return bool(wanted) and (path == wanted or path.startswith(f"{wanted}/") or fnmatchcase(path, wanted))


def _order(budget: Budget) -> tuple[float, float, float, Span]:
    ratio = budget.ratio
    return (-ratio if ratio is not None else 1.0, -budget.worst, -budget.known, budget.span)
