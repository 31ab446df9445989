"""Limits in settings, one inside another: tries of a proxy inside its route's timeout, a function inside its queue's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.marks import Path, counts, is_met, matches_path, pattern_of, plain, prefixes, steps_of
from resilint.flow.queues import say
from resilint.flow.surfaces import judge
from resilint.flow.timeouts import Fault
from resilint.knowledge.schema import Bound, LimitPairRow, LimitRef
from resilint.model import Confidence, Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

Settings = list[tuple[Path, f.Setting]]
_MOST = 400
"""Limits of one kind in one project that are looked at."""


@dataclass(frozen=True)
class _Limit:
    """One limit as it is written, or by default (`span` is then its block's)."""

    seconds: float
    amount: str
    tries: int
    span: Span
    written: bool
    path: str
    doc: int
    place: Path
    name: str
    names: tuple[str, ...]
    steps: tuple[Step, ...]


class LimitPairs:
    """Finds limits that are longer than those around them."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def faults(self, retried: bool) -> list[Fault]:
        """Inner limits that exceed the outer one with a single try (RS106), or with all tries only (`retried`, RS505)."""
        found = [fault for kind, fault in self._found if kind is retried]
        return sorted(found, key=lambda fault: (fault.span, fault.message))

    @cached_property
    def _found(self) -> list[tuple[bool, Fault]]:
        return self.program.settled("limit pairs", lambda: list(self._find()))

    def _find(self) -> Iterator[tuple[bool, Fault]]:
        for library in self.program.knowledge.libraries:
            low = library.verified is False
            for row in library.limit_pairs:
                outers = self._limits(row.outer)
                inners = self._limits(row.inner) if outers else []
                for outer, inner in self._pairs(row, outers, inners):
                    judged = self._judge(row, outer, inner, low)
                    if judged is not None:
                        yield judged

    def _pairs(self, row: LimitPairRow, outers: list[_Limit], inners: list[_Limit]) -> Iterator[tuple[_Limit, _Limit]]:
        if row.where == "block":
            at = {(o.path, o.doc, o.place): o for o in outers}
            yield from ((at[key], i) for i in inners if (key := (i.path, i.doc, i.place)) in at)
            return
        groups: dict[object, tuple[list[_Limit], list[_Limit]]] = defaultdict(lambda: ([], []))
        for side, limits in enumerate((outers, inners)):
            for limit in limits:
                around: object = (limit.path, limit.doc) if row.where == "document" else self.program.above.home(limit.path)
                groups[around][side].append(limit)
        for outside, inside in groups.values():
            for inner in inside:
                named = [o for o in outside if _names(o, inner.name) or _names(inner, o.name) or o.name == inner.name != ""]
                if named:
                    yield from ((outer, inner) for outer in named)
                elif len(outside) == 1 and not row.names_only:
                    yield outside[0], inner

    def _judge(self, row: LimitPairRow, outer: _Limit, inner: _Limit, low: bool) -> tuple[bool, Fault] | None:
        if not outer.written and not inner.written:
            return None
        whole = inner.seconds * inner.tries
        single = inner.seconds >= outer.seconds if row.equal else inner.seconds > outer.seconds
        if not single and (inner.tries == 1 or whole < outer.seconds):
            return None
        said = f"{inner.tries} × {inner.amount}" if inner.tries > 1 and not single else inner.amount
        if said != say(inner.seconds):
            said += f" = {say(inner.seconds if single else whole)}"
        sign = ">" if (inner.seconds if single else whole) > outer.seconds else "≥"
        message = f"{row.inner.what}: {said} {sign} {say(outer.seconds)} of {row.outer.what}: {row.then}"
        place = outer if outer.written else inner
        steps = (*outer.steps, *inner.steps)
        joined = row.where == "block" or _names(outer, inner.name) or _names(inner, outer.name) or outer.name == inner.name
        sure = Confidence.HIGH if outer.written and inner.written and joined else Confidence.MEDIUM
        return not single, Fault(place.span, message, Value(whole, Confidence.LOW if low else sure, steps))

    # ------------------------------------------------------------ finding limits

    def _limits(self, ref: LimitRef) -> list[_Limit]:
        found: list[_Limit] = []
        need = frozenset(plain(step) for step in pattern_of(ref.block) if not step.endswith("*"))
        keys = [frozenset(plain(step) for step in pattern_of(key) if not step.endswith("*")) for key in ref.keys]
        for path, facts in self.program.files.items():
            if not facts.settings or (ref.formats and facts.kind not in ref.formats) or self.program.settings.is_test(path):
                continue
            have = self.program.above.keys_in(path)
            if not need <= have or (keys and ref.default is None and not any(key <= have for key in keys)):
                continue
            docs: dict[int, Settings] = defaultdict(list)
            for setting in facts.settings:
                docs[setting.doc].append((steps_of(setting.path), setting))
            for doc, settings in docs.items():
                found.extend(self._in_document(ref, path, doc, settings))
                if len(found) > _MOST:
                    return found[:_MOST]
        return found

    def _in_document(self, ref: LimitRef, path: str, doc: int, settings: Settings) -> Iterator[_Limit]:
        for mark in ref.document:
            if not any(matches_path(pattern_of(mark.key), have) and counts(mark, s) for have, s in settings):
                return
        wanted = pattern_of(ref.block)
        blocks: dict[Path, Settings] = {}
        for have, setting in settings:
            for size in prefixes(wanted, have):
                blocks.setdefault(have[:size], []).append((have[size:], setting))
        for place, inside in blocks.items():
            if all(is_met(c.key, c.values, c.unset, inside) for c in ref.when):
                limit = self._limit(ref, path, doc, place, inside)
                if limit is not None:
                    yield limit

    def _limit(self, ref: LimitRef, path: str, doc: int, place: Path, inside: Settings) -> _Limit | None:
        bound = Bound(slot="total", unit=ref.unit, disabled=ref.disabled)
        written = [
            s for key in ref.keys for have, s in inside if matches_path(pattern_of(key), have) and s.kind not in ("map", "list")
        ]
        parts: list[float] = []
        for setting in written:
            judged = judge(bound, setting.text, ref.bare)
            if judged.number is None or not 0 < judged.number < inf:
                return None
            parts.append(judged.number)
        if not written and ref.default is None:
            return None
        seconds = sum(parts) if written else ref.default or 0.0
        amount = " + ".join(say(part) for part in parts) if len(parts) > 1 else say(seconds)
        tries, steps = self._tries(ref, path, inside)
        if tries is None:
            return None
        first = written[0] if written else inside[0][1]
        span = self.program.span(path, min(first.key_at, first.at), max(first.end, first.key_end))
        said = f"{ref.what}: {amount}" + ("" if written else " by default")
        names = tuple(s.text for key in ref.names for have, s in inside if matches_path(pattern_of(key), have))
        steps = (Step(span, said), *steps)
        name = place[-1].partition("#")[0] if place else ""
        amount = f"({amount})" if len(parts) > 1 and tries > 1 else amount
        return _Limit(seconds, amount, tries, span, bool(written), path, doc, place, name, names, steps)

    def _tries(self, ref: LimitRef, path: str, inside: Settings) -> tuple[int | None, tuple[Step, ...]]:
        total, steps = 1, []
        for position, key in enumerate(ref.tries):
            found = next((s for have, s in inside if matches_path(pattern_of(key), have)), None)
            if found is None:
                total *= ref.tries_default[position] if position < len(ref.tries_default) else 1
                continue
            if not found.text.isdigit() or len(found.text) > 4:
                return None, ()
            number = int(found.text) + ref.retries
            total *= max(number, 1)
            step = Step(self.program.span(path, min(found.key_at, found.at), found.end), f"up to {max(number, 1)} tries")
            steps.append(step)
        return total, tuple(steps)


def _names(limit: _Limit, name: str) -> bool:
    """Whether what a limit belongs to is named by another: `aws_lambda_function.worker.arn` names worker."""
    return bool(name) and any(name in re.split(r"[.:/\s${}]+", text) for text in limit.names)
