"""Balancers in settings: those that choose by hash from what one caller sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.lists import View, words
from resilint.flow.marks import Path, counts, keys_of, matches_path, plain, prefixes, steps_of
from resilint.flow.values import Hop
from resilint.knowledge.schema import BalancerRow, SettingMark
from resilint.model import Confidence, Span, Step

if TYPE_CHECKING:
    from resilint.program import Program


@dataclass(frozen=True)
class Balancer:
    """A balancer whose hash runs over a list that callers see differently."""

    span: Span
    """The setting that chooses by hash."""
    what: str
    """How it chooses, as written."""
    view: str
    """What narrows its list."""
    steps: tuple[Step, ...]
    confidence: Confidence


@dataclass(frozen=True)
class _Block:
    """The settings of one balancer of one document."""

    row: BalancerRow
    path: str
    name: str
    """Its key, or what `name` says in it."""
    settings: tuple[tuple[str, f.Setting], ...]
    """Dotted key below the block, and the setting."""


class Balancers:
    """Answers which balancers a program's settings describe."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.rows = tuple(row for library in program.knowledge.libraries for row in library.balancers)
        self._unchecked = {id(row) for one in program.knowledge.libraries if one.verified is False for row in one.balancers}

    def filtered(self) -> Iterator[Balancer]:
        """Balancers that choose by hash from a filtered list."""
        for block in self._blocks:
            hashed = self._first(block, block.row.hash)
            if hashed is None or self._first(block, block.row.agreed) is not None:
                continue
            for mark in block.row.view:
                seen = self._match(block, mark)
                if seen is not None:
                    sure = Confidence.MEDIUM if mark.by_default else Confidence.HIGH
                    yield self._balancer(
                        block, hashed, mark.means, (self._step(block.path, seen, f"{mark.means} narrows the list"),), sure
                    )
                    break
        yield from self._by_place()
        yield from self._chosen_by_place()

    @cached_property
    def feeds(self) -> frozenset[str]:
        """Calls of code that give lists which settings may narrow."""
        return frozenset(name for row in self.rows for name in row.feeds)

    def views_of(self, call: str) -> list[View]:
        """What settings leave out of the list that a call of code gives."""
        out = []
        for block in self._blocks:
            if call in block.row.feeds:
                for mark in block.row.view:
                    seen = self._match(block, mark)
                    if seen is not None:
                        hop = Hop(block.path, seen.key_at, seen.end, f"{mark.means} narrows the list")
                        out.append(View("place", mark.means, seen.text, None, seen, setting=hop))
        return out

    def _balancer(self, block: _Block, hashed: f.Setting, view: str, steps: tuple[Step, ...], sure: Confidence) -> Balancer:
        span = self.program.span(block.path, hashed.key_at, hashed.end)
        key = hashed.path[-1].partition("#")[0]
        what = f"{key} {hashed.text}".strip() if hashed.kind not in ("map", "list") else key
        return Balancer(span, what, view, steps, Confidence.LOW if id(block.row) in self._unchecked else sure)

    def _step(self, path: str, setting: f.Setting, text: str) -> Step:
        return Step(self.program.span(path, setting.key_at, setting.end), text)

    # ------------------------------------------------------------ one list for each place

    def _by_place(self) -> Iterator[Balancer]:
        """The same balancer written for two places with other members in each."""
        named: dict[tuple[int, str], list[_Block]] = defaultdict(list)
        for block in self._blocks:
            if block.row.members is not None and self._first(block, block.row.hash) is not None:
                named[id(block.row), block.name].append(block)
        for blocks in named.values():
            for block in blocks:
                other = next(
                    (
                        b
                        for b in blocks
                        if b.path != block.path
                        and self._in_other_places(b.path, block.path)
                        and self._members(b) != self._members(block)
                    ),
                    None,
                )
                hashed = self._first(block, block.row.hash)
                if other is not None and hashed is not None:
                    theirs = self._first(other, block.row.hash)
                    assert theirs is not None
                    steps = (self._step(other.path, theirs, f"the same balancer with other members in {other.path}"),)
                    yield self._balancer(block, hashed, "a list of its own in each place", steps, Confidence.MEDIUM)

    def _members(self, block: _Block) -> frozenset[str]:
        key = block.row.members or ""
        return frozenset(s.text for k, s in block.settings if k.partition("#")[0] == key)

    def _in_other_places(self, one: str, other: str) -> bool:
        """Whether two paths differ in nothing but a step that names a place: `zone-a/`, `zone-b/`."""
        mine, theirs = one.split("/"), other.split("/")
        if len(mine) != len(theirs):
            return False
        differing = [(a, b) for a, b in zip(mine, theirs, strict=True) if a != b]
        place = self.program.lists.words.of("place") - {"version", "versions", "stage", "canary", "local", "state", "tag", "tags"}
        return len(differing) == 1 and all(set(words(step)) & place for step in differing[0])

    def _chosen_by_place(self) -> Iterator[Balancer]:
        """nginx: `map $zone $pool` with a pool by hash for each zone."""
        hashed: dict[tuple[str, str], tuple[_Block, f.Setting]] = {}
        for block in self._blocks:
            setting = self._first(block, block.row.hash) if block.row.members is not None else None
            if setting is not None:
                hashed[block.path, block.name.partition(" ")[2]] = (block, setting)
        if not hashed:
            return
        place = self.program.lists.words.of("place")
        for path in sorted({path for path, _ in hashed}):
            maps: dict[Path, list[f.Setting]] = defaultdict(list)
            for setting in self.program.files[path].settings:
                if (
                    len(setting.path) > 1
                    and setting.path[-2].startswith("map ")
                    and set(words(setting.path[-2].split()[1])) & place
                ):
                    maps[setting.path[:-1]].append(setting)
            for choices in maps.values():
                pools = [(s, *hashed[path, s.text]) for s in choices if (path, s.text) in hashed]
                if len({s.text for s, _, _ in pools}) < 2:
                    continue
                for setting, block, by in {s.text: (s, b, h) for s, b, h in pools}.values():
                    steps = (self._step(path, setting, f"`{setting.path[-2]}` chooses the list by the caller's place"),)
                    yield self._balancer(block, by, "a list for each place", steps, Confidence.HIGH)

    # ------------------------------------------------------------ finding blocks

    @cached_property
    def _blocks(self) -> tuple[_Block, ...]:
        return self.program.settled("balancers", lambda: tuple(self._find()))

    def _find(self) -> Iterator[_Block]:
        needs = [(row, _needs(row)) for row in self.rows]
        for path, facts in self.program.files.items():
            if not facts.settings or self.program.settings.is_test(path):
                continue
            keys = keys_of(facts.settings)
            rows = [row for row, need in needs if (not row.formats or facts.kind in row.formats) and any(n <= keys for n in need)]
            if not rows:
                continue
            docs: dict[int, list[f.Setting]] = defaultdict(list)
            for setting in facts.settings:
                docs[setting.doc].append(setting)
            for settings in docs.values():
                keys = keys_of(settings) if len(docs) > 1 else keys
                steps = [(steps_of(s.path), s) for s in settings]
                for row, need in needs:
                    if row in rows and any(n <= keys for n in need):
                        yield from self._blocks_of(row, path, steps)

    def _blocks_of(self, row: BalancerRow, path: str, steps: list[tuple[Path, f.Setting]]) -> Iterator[_Block]:
        for mark in row.document:
            if not any(matches_path(tuple(mark.key.split(".")), have) and counts(mark, s) for have, s in steps):
                return
        wanted = tuple(row.block.split(".")) if row.block else ()
        blocks: dict[Path, list[tuple[str, f.Setting]]] = {}
        for have, setting in steps:
            for size in prefixes(wanted, have):
                blocks.setdefault(have[:size], []).append((".".join(have[size:]), setting))
        for place, inside in blocks.items():
            name = next((s.text for key, s in inside if key == "name"), place[-1] if place else "")
            yield _Block(row, path, name, tuple(inside))

    def _first(self, block: _Block, marks: tuple[SettingMark, ...]) -> f.Setting | None:
        for mark in marks:
            found = self._match(block, mark)
            if found is not None:
                return found
        return None

    def _match(self, block: _Block, mark: SettingMark) -> f.Setting | None:
        """The setting that a mark speaks of, if it stands in the block."""
        wanted = tuple(mark.key.split("."))
        found = [s for key, s in block.settings if matches_path(wanted, tuple(key.split("."))) and counts(mark, s)]
        if mark.differ and len({s.text for s in found}) < 2:
            return None
        if mark.beside is not None:
            beside = tuple(mark.beside.split("."))
            if not any(matches_path(beside, tuple(key.split("."))) for key, _ in block.settings):
                return None
        return found[-1] if mark.differ and found else found[0] if found else None


def _needs(row: BalancerRow) -> tuple[frozenset[str], ...]:
    """The plain keys of each setting that makes a block of a row worth a look: where none stands whole, nothing is to be found."""
    marks = (*row.hash, *(row.view if row.feeds else ()))
    return tuple(
        frozenset(plain(step) for step in (*row.block.split("."), *mark.key.split(".")) if step and not step.endswith("*"))
        for mark in marks
    )
