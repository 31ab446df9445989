"""Choices of an owner by hash: over which list, by which hash, and whether two processes can choose two owners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from resilint import facts as f
from resilint.flow.lists import BEST, MODULO, Hashing, Members, Uses, View, Ways, heads, receiver_of, short, speaks, words
from resilint.flow.values import Bound, Ext, FnVal, Frame, Hop, Obj
from resilint.link.code import CallSite, Fun, Klass, children, dotted, last_name, walk, walk_block
from resilint.model import Confidence, Span, Step

if TYPE_CHECKING:
    from resilint.program import Program

Form = Literal["index", "jump", "rank", "ring"]
_LEVELS = 4
_THROUGH = frozenset(
    ("abs", "int", "toIntExact", "intValue", "longValue", "toUnsignedLong", "int64", "uint64", "uint32", "int32", "uint", "valueOf")
)
_OWN_HASHES = ("hashCode", "__hash__", "equals", "__eq__")
_FIRST = frozenset(("next", "findFirst", "getFirst", "first", "First", "head", "blockFirst"))
_FORMATS = frozenset(("format", "Sprintf", "formatted", "concat", "join", "Sprint"))
_REACH_OUT = ("client", "connection", "pool", "stub", "transport")
"""Roles of types whose objects stand for something outside this process."""
_TEXTS = ("String", "string")
"""Types of text: an array of it may well hold names of peers."""
_GUARDS = ("threading.", "sync.", "queue.", "asyncio.", "multiprocessing.", "java.util.concurrent.")


@dataclass(frozen=True, eq=False)
class Choice:
    """One place where a member of a list is chosen by hash."""

    fn: Fun
    node: f.Node
    form: Form
    hashing: Hashing
    members: Ways
    base: f.Expr | None
    """The list, where it stands at the choice."""


@dataclass(frozen=True)
class Fault:
    """A choice, or a number for one, that two processes can make differently."""

    span: Span
    message: str
    steps: tuple[Step, ...]
    confidence: Confidence
    minor: bool = False
    """Two owners only for as long as news travels, where one is declared."""


class _Learned(NamedTuple):
    """The candidates for a choice by hash, and what was learned while they were looked for."""

    candidates: tuple[Fun, ...]
    rankers: frozenset[tuple[str, str]]
    places: frozenset[tuple[str, str]]
    giving: frozenset[Fun]
    carriers: frozenset[tuple[str, str]]
    receivers: frozenset[Fun]


class Choices:
    """Finds the places where an owner is chosen by hash, and judges them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.lists = program.lists
        self.words = self.lists.words
        self._rankers: set[tuple[str, str]] = set()
        """Functions that may give a list ranked by hash, by language and name."""
        self._places: set[tuple[str, str]] = set()
        """Those that may give a position by hash."""
        self._giving: set[Fun] = set()
        """Function literals that may give a hash."""
        self._ranking: dict[Fun, bool] = {}
        self._uses: dict[Fun, Uses] = {}

    # ------------------------------------------------------------ faults

    def filtered(self) -> Iterator[Fault]:
        """Choices by hash from a list that a view of the caller has filtered."""
        for choice in self.all:
            fault = self._filtered(choice)
            if fault is not None:
                yield fault

    def _filtered(self, choice: Choice) -> Fault | None:
        outside = self._outside(choice)
        if outside is None:
            return None
        for way in choice.members:
            views = [view for view in way.views if not self._agreed(view, way, choice) and not self._of_key(view, choice)]
            moves = [view for view in views if view.kind == "place"]
            minor = False
            if choice.form in ("rank", "ring") and not moves:
                minor = bool(views) and self._single_owner(choice.fn)
                if not minor:
                    continue
            if not views:
                continue
            view = (moves or views)[0]
            seen = f"`{view.text}`" if view.setting is None else view.word
            place = view.fn.head.qual.partition(".<lambda")[0] if view.fn is not None else ""
            where = f" in {place}" if place and place != choice.fn.head.qual.partition(".<lambda")[0] else ""
            by = (
                f"filtered by {view.word if view.kind == 'place' else 'health'} ({seen})"
                if view.setting is None
                else f"narrowed by {view.word}"
            )
            message = (
                f"{self._subject(choice)} is chosen by hash from a list {by}{where}: callers with another list choose another owner"
            )
            sure = Confidence.MEDIUM if choice.hashing.named or way.guessed or outside is not Confidence.HIGH else Confidence.HIGH
            hops = self._way(way, choice)
            return Fault(
                self.program.span_of(choice.fn, choice.node),
                message,
                self.program.trace(hops),
                self._capped(sure, choice, way),
                minor,
            )
        return self._after(choice) if choice.form == "rank" else None

    def _after(self, choice: Choice) -> Fault | None:
        """The first healthy one of a full ranking: for a moment there are two, which matters where one is declared."""
        loop = choice.node if isinstance(choice.node, f.Loop) else None
        if loop is None or not self._single_owner(choice.fn):
            return None
        frame = self.resolver.frame(choice.fn)
        for stmt in loop.body:
            if isinstance(stmt, f.If):
                for view in self.lists.views(stmt.test, heads(loop.target), frame):
                    message = (
                        f"the first member that is {view.word} owns the key: while callers see another health there are two owners"
                    )
                    step = self.program.step(choice.fn, stmt.test, f"skipped unless `{view.text}`")
                    return Fault(self.program.span_of(choice.fn, loop.iter or loop), message, (step,), Confidence.MEDIUM, True)
        return None

    def process_local(self) -> Iterator[Fault]:
        """Placement by a hash that every process has of its own."""
        fixed = ("python",) if self._seed_is_fixed else ()
        seen: set[tuple[Fun, int]] = set()
        for choice in self.all:
            if choice.hashing.process is not True or choice.fn.module.language in fixed:
                continue
            outside = self._outside(choice)
            if outside is None:
                continue
            seen.add((choice.fn, choice.hashing.node.at))
            message = f"{choice.hashing.why}, so every process chooses another owner for the same key"
            steps = self.program.trace((*choice.hashing.hops, self.lists.hop(choice.fn, choice.node, "chooses the owner here")))
            yield Fault(self.program.span_of(choice.fn, choice.node), message, steps, self._capped(outside, choice))
        for fn in filter(self.program.in_focus, self._candidates):
            if fn.module.language not in fixed:
                yield from self._placed(fn, seen)

    def unordered(self) -> Iterator[Fault]:
        """Choices by position in a list whose order is not agreed."""
        for choice in self.all:
            if choice.form not in ("index", "jump") or (choice.base is not None and self._is_keyed(choice)):
                continue
            outside = self._outside(choice)
            if outside is None:
                continue
            for way in choice.members:
                if way.order != "none" or way.unordered is None or way.ranked is not None:
                    continue
                if way.source == "literal" and way.container != "set" and not way.texts:
                    continue
                message = (
                    f"{self._subject(choice)} is chosen by its position in a list without an agreed order: {way.unordered.text}"
                )
                sure = Confidence.MEDIUM if way.guessed or outside is not Confidence.HIGH else Confidence.HIGH
                hops = (way.unordered, *self._way(way, choice)) if way.unordered not in way.hops else self._way(way, choice)
                yield Fault(
                    self.program.span_of(choice.fn, choice.node), message, self.program.trace(hops), self._capped(sure, choice, way)
                )
                break

    @staticmethod
    def _capped(sure: Confidence, choice: Choice, way: Members | None = None) -> Confidence:
        """A finding that rests on what nobody checked against its library has low confidence."""
        checked = choice.hashing.checked and (way is None or way.checked)
        return sure if checked else min(sure, Confidence.LOW)

    def _way(self, way: Members, choice: Choice) -> tuple[Hop, ...]:
        return (*way.hops, *choice.hashing.hops[-2:], self.lists.hop(choice.fn, choice.node, "the owner is chosen here"))

    def _subject(self, choice: Choice) -> str:
        base = choice.base
        name = dotted(base).rpartition(".")[2] if base is not None else ""
        return f"a member of `{name}`" if name else "a member"

    # ------------------------------------------------------------ what keeps a choice quiet

    def _agreed(self, view: View, way: Members, choice: Choice) -> bool:
        """Whether one agreed view stands behind the list: an epoch, a lease, a coordinator."""
        texts = (
            *words(view.text),
            *way.names,
            *words(choice.fn.head.qual),
            *(words(dotted(choice.base)) if choice.base is not None else ()),
        )
        return bool(self.words.first("agreed", texts))

    def _of_key(self, view: View, choice: Choice) -> bool:
        """Whether the filter depends on what is hashed, and so is the same for every caller: `user.region` beside `user.id`."""
        if view.against is None or view.frame is None:
            return False
        against = set(heads(view.against))
        params = {p.name: p for p in view.frame.fn.head.params}
        if view.frame.args is not None:
            for name in list(against):
                if name in params:
                    bind, _ = self.resolver.argument(params[name], view.frame.args, view.frame.fn)
                    if bind is not None:
                        against |= heads(bind.expr)
        receivers = {"self", "this", "cls"} | ({choice.fn.head.params[0].name} if choice.fn.is_method else set())
        return bool((against & choice.hashing.roots) - receivers)

    def _single_owner(self, fn: Fun) -> bool:
        names = {fn.name, fn.head.qual, fn.head.qual.partition(".")[0]}
        patterns = [p for service in self.program.settings.services.values() for p in service.single_owner]
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)

    def _outside(self, choice: Choice) -> Confidence | None:
        """How surely the members lie outside the process; `None`: they may be its own locks, queues or slices of memory."""
        names = {n for way in choice.members for n in way.names}
        base = set(words(dotted(choice.base).rpartition(".")[2])) if choice.base is not None else set()
        element = self._element(choice)
        names |= base | set(words(element[0]))
        if any(way.source == "peers" and not way.guessed for way in choice.members):
            return Confidence.HIGH
        if element[1] or self.words.first("inside", base | set(words(element[0]))):
            return None
        if any(view.setting is not None for way in choice.members for view in way.views):
            return Confidence.HIGH
        if any(_is_host(text) for way in choice.members for text in way.texts):
            return Confidence.HIGH
        if self.words.first("peer", names) or self._holds_clients(choice):
            return Confidence.HIGH
        # What is called by a text and stands for a part of the data is somewhere else.
        if any(way.texts for way in choice.members) and self.words.first(
            "placement", {*base, *(name.removesuffix("s") for name in base)}
        ):
            return Confidence.HIGH
        return Confidence.MEDIUM if any(way.source == "peers" for way in choice.members) else None

    def _holds_clients(self, choice: Choice) -> bool:
        """Whether the members are made where the list is: clients or connections of something outside."""
        if choice.base is None:
            return False
        table = self.resolver.table(choice.fn.module)
        for flow in self.resolver.ask(choice.base, self.resolver.frame(choice.fn)):
            made = flow.thing
            if not isinstance(made, Obj) or made.frame is None:
                continue
            node = made.node
            elements = (
                [node.elt] if isinstance(node, f.Comp) else [p.value for p in node.items[:2]] if isinstance(node, f.Coll) else []
            )
            for inner in (x.thing for element in elements for x in self.resolver.ask(element, made.frame)):
                kind = table.type(self.resolver.external_type(inner)) if isinstance(inner, Obj) else None
                if kind is not None and kind.protocol is not None and kind.role in _REACH_OUT:
                    return True
        return False

    def _element(self, choice: Choice) -> tuple[str, bool]:
        """Name of the type of the members, and whether that shows them to lie in this process."""
        if choice.base is None:
            return "", False
        kind = self.resolver.static_type(choice.base, choice.fn)
        if kind is None:
            return "", False
        if kind.shape in ("array", "chan"):
            name = kind.args[-1].name if kind.args else kind.name
            own = name not in _TEXTS and not self.words.first("peer", words(name))
            return name, kind.shape == "chan" or own
        element = kind.args[-1] if kind.args else None
        if element is None:
            return "", False
        if element.shape in ("chan", "fn", "map", "list"):
            return element.name, True
        klass = self.resolver.resolve_type(element, choice.fn)
        if isinstance(klass, Klass):
            held = [x.type.name for x in klass.decl.fields if x.type is not None]
            guarded = any(
                "mutex" in name.lower() or name.endswith("Lock") or x.type.shape in ("chan", "map")
                for x, name in zip([x for x in klass.decl.fields if x.type is not None], held, strict=True)
                if x.type is not None
            )
            return klass.name, guarded and not self.words.first("peer", words(klass.name))
        if isinstance(klass, str):
            entry = self.resolver.table(choice.fn.module).type(klass)
            inside = ("lock", "queue", "executor", "thread", "event", "gate", "group")
            return klass.rpartition(".")[2], klass.startswith(_GUARDS) or (entry is not None and entry.role in inside)
        return element.name, False

    def _is_keyed(self, choice: Choice) -> bool:
        """Whether the base is a map from numbers, so that its order does not matter."""
        assert choice.base is not None
        kind = self.resolver.static_type(choice.base, choice.fn)
        if kind is not None and kind.shape == "map":
            return True
        return bool(choice.members) and all(way.container == "map" and way.order != "none" for way in choice.members)

    @cached_property
    def _seed_is_fixed(self) -> bool:
        """Whether a deployment fixes the seed of Python's hashes."""
        return self.program.settled("seed of hashes", self._fixes_seed)

    def _fixes_seed(self) -> bool:
        for facts in self.program.files.values():
            names = [s for s in facts.settings if s.path and s.path[-1] == "PYTHONHASHSEED"]
            if any(s.text.isdigit() for s in names):
                return True
            for setting in facts.settings:
                if setting.path and setting.path[-1] == "name" and setting.text == "PYTHONHASHSEED":
                    value = next(
                        (s.text for s in facts.settings if s.path == (*setting.path[:-1], "value") and s.doc == setting.doc), ""
                    )
                    if value.isdigit():
                        return True
        return False

    # ------------------------------------------------------------ candidates

    @cached_property
    def _candidates(self) -> tuple[Fun, ...]:
        """Functions that may choose by hash: with a form of choice and a hash at hand: made there, given by a callee, passed in.

        By names alone, so that only bodies in which both meet are ordered and asked.
        """
        found = self.program.kept("hashing", self._look_for_candidates, self._look_again)
        self._take_over(found)
        return found.candidates

    def _take_over(self, known: _Learned) -> None:
        self._rankers |= known.rankers
        self._places |= known.places
        self._giving |= known.giving
        self.lists.learn(set(known.carriers))
        self.lists.receive(known.receivers)

    def _look_for_candidates(self) -> _Learned:
        return self._learned(self._find_candidates(dict.fromkeys(self.lists.hashers)))

    def _look_again(self, known: _Learned) -> _Learned:
        """The candidates of the files in focus, with what is known of the others."""
        program, lists = self.program, self.lists
        giving = frozenset(fn for fn in known.giving if not program.in_focus(fn))
        self._take_over(known._replace(giving=giving, receivers=program.renewed(known.receivers)))
        told = [fn for fn in program.starts() if not fn.module.is_test and lists.calls_carrier(fn)]
        level = dict.fromkeys((*lists.hashers, *told, *filter(program.in_focus, program.renewed(known.receivers))))
        others = (fn for fn in known.candidates if not program.in_focus(fn))
        return self._learned((*others, *self._find_candidates(level)))

    def _learned(self, candidates: tuple[Fun, ...]) -> _Learned:
        giving = frozenset(self._giving)
        return _Learned(candidates, frozenset(self._rankers), frozenset(self._places), giving, *self.lists.learned)

    def _find_candidates(self, hashers: dict[Fun, None]) -> tuple[Fun, ...]:
        lists = self.lists
        level = dict.fromkeys(fn for fn in hashers if fn.name not in _OWN_HASHES)
        seen: dict[Fun, None] = {}
        passed: set[tuple[str, str]] = set()
        for _ in range(_LEVELS):
            names: set[tuple[str, str]] = set()
            more: dict[Fun, None] = {}
            for fn in level:
                if fn in seen or fn.name in _OWN_HASHES:
                    continue
                seen[fn] = None
                own = (fn.module.language, fn.name)
                uses = self._uses[fn] = lists.uses(fn, self._giving)
                if fn.head.kind == "lambda" and fn.parent is not None:
                    if uses.gives:
                        self._giving.add(fn)
                        more[fn.parent] = None
                        seen.pop(fn.parent, None)
                    continue
                passed |= {(fn.module.language, name) for name in uses.passed}
                if not (uses.gives or uses.ranks or self._calls_any(fn, self._rankers)) or lists.is_common(own):
                    continue
                names.add(own)
                if uses.ranks or self._calls_any(fn, self._rankers):
                    self._rankers.add(own)
                if uses.chooses or self._calls_any(fn, self._places) or self._calls_position(fn):
                    self._places.add(own)
            lists.learn(names)
            level = more
            for language, name in sorted(names):
                level.update(dict.fromkeys(filter(self.program.in_focus, lists.users(name, language))))
        received = [
            fn
            for language, name in sorted(passed)
            if not lists.is_common((language, name))
            for fn in lists.named(name, language)
            if lists.takes_remainder(fn) or self._speaks_of_ring(fn)
        ]
        lists.receive(received)
        for fn in received:
            self._uses.pop(fn, None)
        at_hand = {**seen, **dict.fromkeys((*received, *level))}
        here = (fn for fn in at_hand if self.program.in_focus(fn))
        return tuple(sorted((fn for fn in here if self._may_choose(fn)), key=lambda fn: fn.key))

    def _may_choose(self, fn: Fun) -> bool:
        """Whether something in it may be a choice by hash."""
        if self._calls_any(fn, self._places) or self._calls_any(fn, self._rankers) or self._calls_position(fn):
            return True
        if self._speaks_of_ring(fn):
            return True
        if not self._has_form(fn):
            return False
        uses = self._uses.get(fn)
        if uses is None or not (uses.chooses or uses.ranks):
            if uses is not None and not self.lists.calls_carrier(fn):
                return False  # nothing was learned since that could matter here
            uses = self.lists.uses(fn, self._giving)
        return uses.chooses or uses.ranks

    def _calls_any(self, fn: Fun, names: set[tuple[str, str]]) -> bool:
        language = fn.module.language
        return bool(names) and any((language, c.rpartition(".")[2]) in names for c in fn.head.calls)

    def _calls_position(self, fn: Fun) -> bool:
        """Whether a call of its header may be one that chooses by hash, as knowledge has it."""
        language, lists = fn.module.language, self.lists
        known = lists.choosing_names[language] | lists.jump_names[language]
        return any(c.rpartition(".")[2] in known and lists.may_hash(c, fn.module) for c in fn.head.calls)

    def _may_rank(self, fn: Fun) -> bool:
        """Whether something may be sorted by a hash in it, or comes so sorted."""
        known = self._ranking.get(fn)
        if known is None:
            known = self._calls_any(fn, self._rankers) or (self.lists.sorts_in(fn) and self.lists.uses(fn, self._giving).ranks)
            self._ranking[fn] = known
        return known

    def _has_form(self, fn: Fun) -> bool:
        """Whether its header and encoded body show what a choice needs: a remainder, a comparison, or a call that sorts."""
        return self.lists.takes_remainder(fn) or self.lists.compares(fn) or self.lists.sorts_in(fn)

    def _speaks_of_ring(self, fn: Fun) -> bool:
        return any(self.words.first("ring", words(name)) for name in (fn.head.qual, *fn.params)) or speaks(fn, self._ring)

    @cached_property
    def _ring(self) -> tuple[bytes, ...]:
        return tuple(word.encode() for word in sorted(self.words.of("ring")))

    # ------------------------------------------------------------ choices

    @cached_property
    def all(self) -> tuple[Choice, ...]:
        """Every choice by hash, in order of path and position."""
        return tuple(choice for fn in self._candidates if self.program.in_focus(fn) for choice in self._in(fn))

    def _in(self, fn: Fun) -> Iterator[Choice]:
        frame = self.resolver.frame(fn)
        written = {id(t) for stmt, _ in fn.body.stmts if isinstance(stmt, f.Assign) for t in stmt.targets}
        seen: set[int] = set()
        for node in walk_block(fn.block):
            found: Choice | None = None
            if isinstance(node, f.Index) and id(node) not in written:
                found = self._indexed(node, node.base, node.key, frame)
            elif isinstance(node, f.Call):
                found = self._called(node, frame)
            elif isinstance(node, f.Loop) and node.form == "each":
                found = self._looped(node, frame)
            if found is not None and found.node.at not in seen:
                seen.add(found.node.at)
                yield found
        for site in fn.body.calls:
            found = self._put_on_ring(site, frame)
            if found is not None:
                yield found
        for stmt, _ in fn.body.stmts:
            if isinstance(stmt, f.Assign) and stmt.value is not None:
                for target in stmt.targets:
                    if isinstance(target, f.Index):
                        found = self._ring_of(target.base, target.key, stmt.value, target, frame)
                        if found is not None:
                            yield found

    def _indexed(self, node: f.Node, base: f.Expr, key: f.Expr, frame: Frame) -> Choice | None:
        if isinstance(key, f.Lit) or (isinstance(key, f.Un) and isinstance(key.value, f.Lit)):
            if not self._may_rank(frame.fn):
                return None
            for way in self.lists.of(base, frame):
                if way.ranked is not None:
                    return Choice(frame.fn, node, "rank", way.ranked, (way,), base if isinstance(base, f.Ref) else None)
            return None
        found = self._modulo(key, frame, 0)
        if found is None:
            return None
        hashing, form = found
        return Choice(frame.fn, node, form, hashing, self.lists.of(base, frame), base)

    def _called(self, call: f.Call, frame: Frame) -> Choice | None:
        fn = frame.fn
        last = last_name(call.fn)
        receiver = receiver_of(call)
        args = [a.value for a in call.args]
        if last in ("get", "elementAt", "GetByIndex") and len(args) == 1 and receiver is not None:
            return self._indexed(call, receiver, args[0], frame)
        if last in BEST:
            ranking = self.lists.ranking(call, frame)
            holder = receiver if receiver is not None and fn.module.language == "java" else args[0] if args else None
            if last in ("nlargest", "nsmallest") and len(args) > 1:
                holder = args[1]
            if ranking is not None and holder is not None:
                return Choice(
                    fn, call, "rank", ranking, self.lists.of(holder, frame), holder if isinstance(holder, f.Ref) else None
                )
        if last in _FIRST and self._may_rank(fn):
            holder = receiver if receiver is not None else args[0] if args else None
            if holder is not None:
                ways = [way for way in self.lists.of(holder, frame) if way.ranked is not None]
                if ways and ways[0].ranked is not None:
                    return Choice(fn, call, "rank", ways[0].ranked, tuple(ways), holder if isinstance(holder, f.Ref) else None)
        if last in self.lists.choosing_names.get(fn.module.language, ()) and self.lists.may_hash(last, fn.module):
            return self._library(call, frame)
        return None

    def _library(self, call: f.Call, frame: Frame) -> Choice | None:
        """A call of knowledge that chooses, or makes what chooses, from a list."""
        fn = frame.fn
        for thing, binds in self.resolver.targets(call, frame):
            name = self.resolver.canonical(thing) if isinstance(thing, Ext | Bound) else ""
            row = self.resolver.table(fn.module).hash(name) if name else None
            if row is None or row.scheme in ("hash", "jump") or row.members is None:
                continue
            named = [b for b in binds if b.name in ("nodes", "members", "servers", "hosts", "keys")]
            if row.members < len(binds) or named:
                bind = named[0] if named else binds[row.members]
                hashing = Hashing(
                    row.kind == "process",
                    "",
                    fn,
                    call,
                    False,
                    frozenset(),
                    (self.lists.hop(fn, call, f"{short(name)} chooses by hash"),),
                    self.lists.checked(name, fn),
                )
                form: Form = "index" if row.scheme == "modulo" else "ring"
                return Choice(fn, call, form, hashing, self.lists.of(bind.expr, bind.frame), bind.expr)
        return None

    def _modulo(self, key: f.Expr, frame: Frame, depth: int) -> tuple[Hashing, Form] | None:
        """The hash that a position rests on."""
        if depth > 5:
            return None
        match key:
            case f.Bin() if key.op == "%" or (
                key.op == "&"
                and any(last_name(n.fn) in ("len", "size", "length") for n in walk(key.right) if isinstance(n, f.Call))
            ):
                hashing = self.lists.hashing(key.left, frame) or self._identity(key.left, frame)
                return (hashing, "index") if hashing is not None else None
            case f.Bin() if key.op in ("+", "-", "&", ">>", "*"):
                return self._modulo(key.left, frame, depth + 1)
            case f.Cast() | f.Let() | f.Un() | f.Await():
                return self._modulo(key.value, frame, depth + 1)
            case f.Call():
                return self._modulo_call(key, frame, depth)
            case f.Ref():
                for d in frame.fn.body.reaching(key.name, key.at)[0]:
                    if d.expr is not None and d.kind in ("value", "aug"):
                        if d.kind == "aug" and isinstance(d.node, f.Assign) and d.node.op == "%":
                            hashing = self.lists.hashing(f.Ref(d.at, d.at, key.name), frame)
                            return (hashing, "index") if hashing is not None else None
                        found = self._modulo(d.expr, frame, depth + 1)
                        if found is not None:
                            return found
        return None

    def _modulo_call(self, call: f.Call, frame: Frame, depth: int) -> tuple[Hashing, Form] | None:
        last = last_name(call.fn)
        if last in MODULO and len(call.args) == 2:
            hashing = self.lists.hashing(call.args[0].value, frame) or self._identity(call.args[0].value, frame)
            return (hashing, "index") if hashing is not None else None
        if last in _THROUGH and len(call.args) == 1:
            return self._modulo(call.args[0].value, frame, depth + 1)
        language = frame.fn.module.language
        if (language, last) not in self._places and last not in self.lists.jump_names[language]:
            return None
        for thing, binds in self.resolver.targets(call, frame):
            if isinstance(thing, FnVal) and not thing.fn.head.is_abstract:
                inner = self.resolver.enter(thing, call, frame, binds)
                for stmt, _ in thing.fn.body.returns:
                    found = self._modulo(stmt.value, inner, depth + 1) if stmt.value is not None else None
                    if found is not None:
                        return found
            elif isinstance(thing, Ext | Bound):
                name = self.resolver.canonical(thing)
                row = self.resolver.table(frame.fn.module).hash(name)
                if row is not None and row.scheme == "jump":
                    roots = frozenset(h for a in call.args for h in heads(a.value))
                    hop = self.lists.hop(frame.fn, call, f"{short(name)} chooses a position by hash")
                    return Hashing(False, "", frame.fn, call, False, roots, (hop,), self.lists.checked(name, frame.fn)), "jump"
        return None

    def _identity(self, expr: f.Expr, frame: Frame) -> Hashing | None:
        """A number that is its own hash: `user_id % n`. Counters are none."""
        while isinstance(expr, f.Cast | f.Un) or (
            isinstance(expr, f.Call) and last_name(expr.fn) in _THROUGH and len(expr.args) == 1
        ):
            expr = expr.args[0].value if isinstance(expr, f.Call) else expr.value
        if not isinstance(expr, f.Ref):
            return None
        head, last = expr.name.partition(".")[0], words(expr.name.rpartition(".")[2])
        if head not in frame.fn.params or frame.fn.params[head].kind == "self" or not last or last[-1] not in ("id", "key", "uid"):
            return None
        if any(d.kind == "aug" for d in frame.fn.body.definitions.get(expr.name, ())):
            return None
        hop = self.lists.hop(frame.fn, expr, f"`{expr.name}` is taken modulo the length")
        return Hashing(False, "", frame.fn, expr, False, frozenset((head,)), (hop,))

    def _looped(self, loop: f.Loop, frame: Frame) -> Choice | None:
        """The best of a list by hash in a loop, or the first of a ranking that will do."""
        assert loop.iter is not None
        ranked = [way for way in self.lists.of(loop.iter, frame) if way.ranked is not None] if self._may_rank(frame.fn) else []
        if ranked and ranked[0].ranked is not None:
            if any(isinstance(n, f.Return) or (isinstance(n, f.Jump) and n.kind == "break") for n in walk_block(loop.body)):
                return Choice(
                    frame.fn, loop, "rank", ranked[0].ranked, tuple(ranked), loop.iter if isinstance(loop.iter, f.Ref) else None
                )
            return None
        targets = heads(loop.target)
        for stmt in walk_block(loop.body):
            if not isinstance(stmt, f.If) or not any(
                isinstance(n, f.Bin) and n.op in ("<", ">", "<=", ">=") for n in walk(stmt.test)
            ):
                continue
            kept = {h for s in stmt.then if isinstance(s, f.Assign) and s.value is not None for h in heads(s.value)}
            if not kept & targets:
                continue
            for node in walk(stmt.test):
                if isinstance(node, f.Bin) and node.op in ("<", ">", "<=", ">="):
                    hashing = self.lists.hashing(node.left, frame) or self.lists.hashing(node.right, frame)
                    if hashing is not None and hashing.roots & targets:
                        place = hashing.hops[-1] if hashing.hops else None
                        at = next((s.call for s in frame.fn.body.calls if place is not None and s.call.at == place.at), node)
                        return Choice(
                            frame.fn, at, "rank", hashing, self._kept(loop, self.lists.of(loop.iter, frame), at, frame), loop.iter
                        )
        return None

    def _kept(self, loop: f.Loop, ways: Ways, at: f.Node, frame: Frame) -> Ways:
        """The list less what tests before the hash leave out."""
        return self.lists.passed(loop, frame.fn.body.arm_at(at.at), at.at, ways, frame)

    # ------------------------------------------------------------ rings

    def _put_on_ring(self, site: CallSite, frame: Frame) -> Choice | None:
        """`ring.put(hash(node), node)`, `insort(ring, (hash(node), node))`, `append(ring, point{hash(node), node})`."""
        call = site.call
        receiver = receiver_of(call)
        args = [a.value for a in call.args]
        if site.last in ("put", "setdefault", "Put", "ReplaceOrInsert") and receiver is not None and len(args) == 2:
            return self._ring_of(receiver, args[0], args[1], call, frame)
        if site.last in ("insort", "insort_left", "append", "add", "insert") and args:
            base = args[0] if receiver is None or site.last.startswith("insort") else receiver
            last = args[-1]
            if isinstance(last, f.Coll | f.New | f.Call) and len(args) >= 1:
                return self._ring_of(base, last, last, call, frame)
        return None

    def _ring_of(self, base: f.Expr, key: f.Expr, value: f.Expr, node: f.Node, frame: Frame) -> Choice | None:
        fn = frame.fn
        names = (*words(dotted(base)), *words(fn.head.qual))
        if not self.words.first("ring", names):
            return None
        hashing = self.lists.hashing(key, frame)
        if hashing is None:
            return None
        ways = self.lists.gathered(fn.body.arm_at(node.at), value, node.at, frame)
        if not ways:
            for name in heads(value):
                if name in fn.params and fn.params[name].kind != "self":
                    ways = self._added_one_by_one(fn, name)
        return Choice(fn, node, "ring", hashing, ways, None) if ways else None

    def _added_one_by_one(self, fn: Fun, name: str) -> Ways:
        """`ring.add(node)` in a loop over the nodes."""
        out: list[Members] = []
        for frame, site, args, _ in self.resolver.callers(fn)[0][:8]:
            bind, _ = self.resolver.argument(fn.params[name], args, fn)
            if bind is not None:
                out += [
                    way.step(self.lists.hop(frame.fn, site.call, f"put on the ring by {fn.head.qual}"))
                    for way in self.lists.gathered(site.arm, bind.expr, site.call.at, frame)
                ]
        return tuple(out)

    # ------------------------------------------------------------ placement without a list

    def _placed(self, fn: Fun, seen: set[tuple[Fun, int]]) -> Iterator[Fault]:
        """A number by a hash of this process that goes into the name of, or an argument for, something outside."""
        frame = self.resolver.frame(fn)
        for stmt, _ in fn.body.stmts:
            for node, around in _with_parents(stmt):
                if not isinstance(node, f.Bin | f.Call | f.Ref):
                    continue
                sink = self._sink(node, around, fn)
                if not sink:
                    continue
                found = self._modulo(node, frame, 0)
                if found is None or found[0].process is not True or (fn, node.at) in seen:
                    continue
                seen.add((fn, node.at))
                hashing = found[0]
                message = f"{hashing.why}, and it decides {sink}: every process decides otherwise"
                yield Fault(self.program.span_of(fn, node), message, self.program.trace(hashing.hops), Confidence.MEDIUM)
                break

    def _sink(self, node: f.Expr, around: tuple[Any, ...], fn: Fun) -> str:
        """What outside the process a number decides by where it stands."""
        if not around:
            return ""
        outer = around[-1]
        if isinstance(outer, f.Arg) and len(around) > 1 and isinstance(around[-2], f.Call):
            call = around[-2]
            if outer.name and self.words.first("placement", words(outer.name)):
                return f"the {outer.name}"
            if last_name(call.fn) in _FORMATS:
                text = " ".join(str(n.value) for n in walk(call) if isinstance(n, f.Lit) and isinstance(n.value, str))
                word = self.words.first("placement", words(text))
                return f"the name of a {word}" if word else ""
        if isinstance(outer, f.Fmt) or (isinstance(outer, f.Bin) and outer.op in ("+", "%") and outer.left is not node):
            text = " ".join(str(n.value) for n in walk(outer) if isinstance(n, f.Lit) and isinstance(n.value, str))
            word = self.words.first("placement", words(text))
            return f"the name of a {word}" if word else ""
        return ""


def _with_parents(root: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Expressions of one statement with those around them; blocks inside it are statements of their own."""
    stack: list[tuple[Any, tuple[Any, ...]]] = [(root, ())]
    while stack:
        node, around = stack.pop()
        yield node, around
        inner = (*around, node) if not isinstance(node, f.Assign | f.Do | f.Return) else around
        if len(inner) > 24:
            continue
        for child in children(node):
            if not isinstance(child, f.Type) and not isinstance(child, f.Stmt):
                stack.append((child, inner))


def _is_host(text: str) -> bool:
    host, _, port = text.partition("://")[2].rpartition(":") if "://" in text else text.rpartition(":")
    return "://" in text or (port.isdigit() and bool(host)) or (text.count(".") == 3 and text.replace(".", "").isdigit())
