"""Entry points that can outlast the deadline above them: by what they do once, or only by trying again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from resilint.flow.above import Above
from resilint.flow.effects import Term, Worst, reaches, shown
from resilint.flow.limit_pairs import LimitPairs
from resilint.flow.polls import overdue
from resilint.flow.queues import say
from resilint.flow.timeouts import Fault
from resilint.link.code import Fun
from resilint.model import Confidence, Span, Step, Value

if TYPE_CHECKING:
    from resilint.flow.slots import Source
    from resilint.program import Program

_OTHERS = 4
"""Further entries under one deadline that a trace names."""


class _Case(NamedTuple):
    """An entry point that outlasts a deadline."""

    fn: Fun
    above: Above
    others: tuple[Above, ...]
    """Further deadlines above it that it outlasts too, or that are longer."""
    work: Worst
    retried: bool
    """Only because it tries again."""


class Inversions:
    """Finds work that outlasts the deadline above it, for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def single(self) -> list[Fault]:
        """Deadlines that a single try of everything exceeds already (RS106)."""
        found = [self._fault(cases) for cases in self._by_owner if any(not case.retried for case in cases)]
        return sorted(
            [*found, *self._endless, *self._pairs.faults(False), *overdue(self.program), *self._redelivered],
            key=lambda fault: (fault.span, fault.message),
        )

    @cached_property
    def retried(self) -> list[Fault]:
        """Deadlines that only retries exceed (RS505)."""
        found = [self._fault(cases) for cases in self._by_owner if all(case.retried for case in cases)]
        return sorted([*found, *self._pairs.faults(True)], key=lambda fault: (fault.span, fault.message))

    @cached_property
    def _pairs(self) -> LimitPairs:
        return LimitPairs(self.program)

    @cached_property
    def _cases(self) -> tuple[_Case, ...]:
        # All under one deadline are one finding.
        return self.program.gathered("cases", self._find, lambda case: (case.fn.module.path,))

    def _find(self) -> Iterator[_Case]:
        for fn in self.program.entries:
            case = self._of(fn) if self.program.in_focus(fn) and not self.program.is_test(fn) else None
            if case is not None:
                yield case

    def _of(self, fn: Fun) -> _Case | None:
        program = self.program
        aboves = program.above.of(fn)
        if not aboves:
            return None
        frame = program.resolver.frame(fn)
        work = program.worsts.of_function(frame)
        above = aboves[0]
        if work.endless is None and not reaches(work.known * above.share, above.seconds):
            return None
        retried = False
        if work.endless is None:
            once = program.worsts.of_function(frame, once=True)
            retried = not reaches(once.known * above.share, above.seconds)
        return _Case(fn, above, aboves[1:], work, retried)

    def verdict(self, fn: Fun) -> str:
        """How an entry point stands against its smallest deadline, in a word of `Budget.verdict`."""
        if not self.program.above.of(fn):
            return "none"
        case = self._of(fn)
        if case is None:
            return "fits"
        return "endless" if case.work.endless is not None else "retries" if case.retried else "exceeds"

    @property
    def _by_owner(self) -> list[list[_Case]]:
        """Finite cases by the place of their deadline: one finding each."""
        owners: dict[Span, list[_Case]] = {}
        for case in self._cases:
            if case.work.endless is None:
                owners.setdefault(case.above.span, []).append(case)
        return list(owners.values())

    def _fault(self, cases: list[_Case]) -> Fault:
        """One fault for a deadline: about the entry that outlasts it most, those that do it without retries first."""
        case = max(cases, key=lambda c: (not c.retried, c.work.known))
        above, work = case.above, case.work
        only = "with its retries " if case.retried else ""
        message = f"{self._name(case.fn)} can take {only}{self._sum(case)} ≥ {say(above.seconds)} of {above.text}: {above.then}"
        rest = [other for other in cases if other is not case]
        if rest:
            message += f"; so can {len(rest)} more"
        steps = [*above.steps, *self._steps(case)]
        for other in rest[:_OTHERS]:
            text = f"{self._name(other.fn)} can take {say(other.work.known * other.above.share)}"
            steps.append(self._head(other.fn, text))
        sure = min([above.confidence, *(term.confidence for term in work.terms)], default=Confidence.HIGH)
        if above.default and not any(term.confidence is Confidence.HIGH for term in work.terms):
            sure = Confidence.LOW  # One default against another: nobody here chose either.
        return Fault(above.span, message, Value(work.known, sure, tuple(steps)))

    def _sum(self, case: _Case) -> str:
        """The work of a case as a sum: `2 + 15 s quote, 2 + 10 s tax = 29 s`."""
        work, share = case.work, case.above.share
        terms: list[Term] = []
        for term in work.terms:
            fn = term.where[0] if term.where is not None else None
            # A pause, a timer, a budget say what they are; a call of a library is named for the function that makes it.
            named = fn is not None and fn is not case.fn and fn.head.kind not in ("lambda", "module") and "." in term.name
            terms.append(term._replace(name=fn.name if fn is not None and named else brief(term.name)))
        said = shown(tuple(merged(terms)))
        total = say(work.known * share)
        if share > 1:
            said = f"{share} × ({said})"
        if len(terms) > 1 or share > 1 or not said.startswith(f"{total} "):
            said += f" = {total}"
        return said if work.exact else f"at least {said}"

    @cached_property
    def _endless(self) -> list[Fault]:
        """One fault for each endless wait under a deadline: at the first entry that reaches it."""
        groups: dict[tuple[Span, str], list[_Case]] = {}
        for case in self._cases:
            if case.work.endless is not None:
                groups.setdefault((case.above.span, case.work.endless.name.rpartition(".")[0]), []).append(case)
        return [self._endless_fault(cases) for cases in groups.values()]

    def _endless_fault(self, cases: list[_Case]) -> Fault:
        """One fault for all that wait without end through one kind of client under one deadline: at the first that does."""
        case = cases[0]
        above, wait = case.above, case.work.endless
        assert wait is not None
        where = f"{above.span.path}:{above.span.line}"
        name = self._name(case.fn)
        message = f"{name} can wait for ever for {brief(wait.name)} under {say(above.seconds)} of {above.text} ({where})"
        if len(cases) > 1:
            message += f"; so can {len(cases) - 1} more"
        steps = [*above.steps, *self._steps(case)]
        steps += [self._head(other.fn, f"{self._name(other.fn)} can wait for ever, too") for other in cases[1 : _OTHERS + 1]]
        sure = min(above.confidence, Confidence.MEDIUM, wait.confidence)
        return Fault(self._head(case.fn, "").span, message, Value(inf, sure, tuple(steps)))

    @property
    def _redelivered(self) -> Iterator[Fault]:
        """Tasks that may work for longer than their broker waits for them: one fault for each such time."""
        worst: dict[Span, tuple[Above, Fun, Source]] = {}
        for fn, entry in self.program.entries.items():
            limits = self.program.above.of(fn) if entry.kind == "worker" and not self.program.is_test(fn) else ()
            own = next((above for above in limits if above.stops and not above.default), None)
            if own is None:
                continue
            for holder in (maker.holder for maker in entry.makers if maker.holder is not None):
                for source in self.program.slots.of_object(holder, frozenset({"redelivery"})):
                    span = self._written(source)
                    if span is None or own.seconds <= max(slot.number or inf for slot in source.slots):
                        continue
                    if span not in worst or own.seconds > worst[span][0].seconds:
                        worst[span] = (own, fn, source)
        for span, (own, fn, source) in worst.items():
            if not (self.program.in_focus(fn) or (self.program.focus is not None and span.path in self.program.focus)):
                continue
            what = source.bound.key or source.bound.arg or "redelivery"
            number = max(slot.number or 0 for slot in source.slots)
            text = (
                f"{self._name(fn)} may take {say(own.seconds)} ({own.text}) > {say(number)} of {what}:"
                " the broker gives it to a second worker while the first is at it"
            )
            # Whether a task is acknowledged before it runs, nobody asked.
            yield Fault(span, text, Value(number, Confidence.MEDIUM, own.steps))

    def _written(self, source: Source) -> Span | None:
        """Where the one number of a slot stands."""
        slots = [slot for slot in source.slots if slot.state == "finite" and slot.number is not None and slot.flow is not None]
        if len(slots) != len(source.slots) or not slots:
            return None
        hops = slots[0].flow.hops if slots[0].flow is not None else ()
        return self.program.span(hops[0].path, hops[0].at, hops[0].end) if hops else None

    def _steps(self, case: _Case) -> Iterator[Step]:
        yield self._head(case.fn, f"{self._name(case.fn)}: {self.program.entries[case.fn].because}")
        terms = [*case.work.terms, *([case.work.endless] if case.work.endless is not None else [])]
        for term in terms:
            yield from term.because
            if term.where is not None:
                fn, node = term.where
                how = f"can take {term.amount}" if term.seconds < inf else "can wait for ever"
                yield self.program.step(fn, node, f"{term.name} {how}")
        for other in case.others:
            yield Step(other.span, f"{other.text} above it too: {say(other.seconds)}")

    def _head(self, fn: Fun, text: str) -> Step:
        span = self.program.span_of(fn, fn.head)
        return Step(Span(span.path, span.line, span.col, span.line, span.col + 1), text)

    @staticmethod
    def _name(fn: Fun) -> str:
        return fn.head.qual if fn.head.kind != "lambda" else "a handler"


def brief(name: str) -> str:
    """The last two segments of a canonical name."""
    return ".".join(name.rpartition("/")[2].split(".")[-2:])


def merged(terms: Iterable[Term]) -> Iterator[Term]:
    """Summands of one name and length as one: `3 × 4 s Client.get`."""
    kept: dict[tuple[str, str], list[Term]] = {}
    for term in terms:
        kept.setdefault((term.name, term.amount), []).append(term)
    for same in kept.values():
        first = same[0]
        if len(same) == 1:
            yield first
            continue
        amount = f"({first.amount})" if "+" in first.amount and "×" not in first.amount else first.amount
        yield first._replace(seconds=sum(term.seconds for term in same), amount=f"{len(same)} × {amount}")
