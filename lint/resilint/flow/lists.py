"""Lists of peers, followed back to where they come from: what filtered them, whose order they have, whether a hash ranked them."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from resilint import facts as f
from resilint.flow.values import Bind, Bound, ClassVal, Env, Ext, FnVal, Frame, Hop, Num, Obj, Text, Unknown
from resilint.knowledge.schema import CallEntry
from resilint.link.code import Arm, Definition, Fun, Klass, Module, children, dotted, last_name, leaves, place_of, walk, walk_block
from resilint.link.looks import Scan, matching

if TYPE_CHECKING:
    from resilint.program import Program

_DEPTH = 30
_STEPS = 4_000
"""Questions that one question may lead to; past them the answer is unknown."""
_ALL_STEPS = 20_000
"""Of all questions of a program together: code that speaks of hashes everywhere and means none asks without end."""
_WAYS = 8
_COMMON = 8
"""Functions of one name past which the name says nothing of a hash."""
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+")
_KEEPS = frozenset(
    """
    list tuple iter enumerate reversed copy clone deepcopy copyof of collect tolist toarray toList stream parallelstream iterator
    values keys items map flatmap maptoobj boxed distinct unique compact from_iterable chain array aslist unmodifiablelist
    unmodifiablecollection entryset keyset getbody block toset next take limit split strip trim trimspace fields get load
    subscribeon publishon cast asiterable all
    """.lower().split()
)
"""Calls whose result holds what they are given or called on, in another form and in the same order."""
_OWN_HASH = frozenset(("hashCode", "__hash__"))
_LOOKUPS = frozenset(
    (
        *("get", "getordefault", "ceilingentry", "floorentry", "higherentry", "lowerentry", "ceilingkey"),
        *("tailmap", "headmap", "containskey", "contains", "put", "add", "bisect"),
    )
)
_SETS = frozenset(("set", "frozenset", "toset", "hashset", "unmodifiableset"))
_FILTERS = frozenset(("filter", "filterfalse", "removeif", "takewhile", "where", "deletefunc", "select", "reject", "partition"))


def operators(*texts: str) -> re.Pattern[bytes]:
    """A pattern for operators in encoded bodies."""
    return re.compile(b"|".join(re.escape(msgspec.msgpack.encode(text)) for text in texts))


_COMPARISONS = ("<", ">", "<=", ">=")
_SIZES = operators(*_COMPARISONS)
_REMAINDERS = operators("%", "&")
_VERDICTS = frozenset((*_COMPARISONS, "==", "!=", "===", "in", "not in", "is", "is not", "and", "or", "&&", "||"))
_ARITHMETIC = operators("^", ">>", "<<", ">>>", "%", "*", "&", "|", "~")
_NO_VALUE = frozenset(
    (
        "append",
        "add",
        "put",
        "set",
        "Set",
        "open",
        "Errorf",
        "Sprintf",
        "format",
        "join",
        "exists",
        "isfile",
        "write",
        "Write",
        "dict",
        "log",
    )
)
MODULO = frozenset(("floorMod", "remainderUnsigned", "mod", "fmod", "divmod", "Mod"))
BEST = frozenset(("max", "min", "max_by", "min_by", "nlargest", "nsmallest", "MaxFunc", "MinFunc", "maxBy", "minBy"))
_SORTS = re.compile(r"^(?:sort\w*|sorted|Sort\w*|Strings|Ints|Slice|SliceStable|Stable|sortBy)$")
_SHUFFLES = re.compile(r"^(?:shuffle|Shuffle|sample|permutation)$")
_APPENDS = frozenset(("append", "add", "insert", "appendleft", "push", "addFirst", "addLast", "put"))
_EXTENDS = frozenset(("extend", "addAll", "update"))

Kind = Literal["place", "health"]
Order = Literal["agreed", "none", "unknown"]
Source = Literal["peers", "configured", "literal", "parameter", "unknown"]


def words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters: `getLocalNodes`, `local_nodes`."""
    return tuple(part.lower() for part in _CAMEL.findall(name))


class View(NamedTuple):
    """One test that keeps some members, by something that callers see differently."""

    kind: Kind
    word: str
    """What it looks at: `region`."""
    text: str
    """The test as written."""
    fn: Fun | None
    node: Any
    against: f.Expr | None = None
    """What the member is compared with, in `frame`."""
    frame: Frame | None = None
    setting: Hop | None = None
    """The setting that does it, where code does not."""


class Hashing(NamedTuple):
    """A hash somewhere in an expression."""

    process: bool | None
    """Whether every process has its own; `None`: not known."""
    why: str
    fn: Fun
    node: f.Node
    named: bool
    """Known by its name only."""
    roots: frozenset[str]
    """Heads of the names that are hashed, as the hashing function calls them."""
    hops: tuple[Hop, ...] = ()
    checked: bool = True
    """What knowledge says of it was checked against its library."""


class Members(NamedTuple):
    """One way a list may come about, and what it is then."""

    source: Source = "unknown"
    order: Order = "unknown"
    views: tuple[View, ...] = ()
    ranked: Hashing | None = None
    """It is sorted by a hash."""
    container: str = ""
    """`map` or `set` where it is one."""
    unordered: Hop | None = None
    """Where its order got lost."""
    hops: tuple[Hop, ...] = ()
    """Cause first."""
    names: frozenset[str] = frozenset()
    """Words of the names it went under."""
    texts: tuple[str, ...] = ()
    """The members, where they are literal."""
    guessed: bool = False
    """A step of its way is known by a name."""
    checked: bool = True
    """What knowledge says of its source was checked against its library."""

    def step(self, hop: Hop) -> Members:
        """The same, one step further."""
        if self.hops and self.hops[-1] == hop:
            return self
        return self._replace(hops=(*self.hops, hop)[-12:])

    def named(self, name: str) -> Members:
        """The same under another name."""
        return self._replace(names=self.names | set(words(name)))


class Uses(NamedTuple):
    """What becomes of hashes in a function."""

    gives: bool
    """One may be returned."""
    chooses: bool
    """A remainder of one may be taken, or one compared in a loop."""
    ranks: bool
    """Something may be sorted by one."""
    passed: frozenset[str]
    """Names of the calls that may be given one."""


Ways = tuple[Members, ...]
NOTHING: Ways = ()
UNKNOWN: Ways = (Members(),)


class Words:
    """Words of names and what they tell, as knowledge has them."""

    def __init__(self, program: Program) -> None:
        self._sets = program.knowledge.words

    def of(self, topic: str) -> frozenset[str]:
        """All words of a topic."""
        return self._sets.get(topic, frozenset())

    def first(self, topic: str, names: Iterable[str]) -> str:
        """The first of these words that belongs to a topic."""
        known = self.of(topic)
        return next((name for name in names if name in known), "")


class Lists:
    """Answers where lists come from. Answers are remembered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.words = Words(program)
        self._memo: dict[Any, Any] = {}
        self._open: set[Any] = set()
        self._depth = 0
        self._cuts = 0
        self._steps = 0
        self._all_steps = 0
        self._may_hash: dict[tuple[str, Module], bool] = {}
        self._carriers: set[tuple[str, str]] = set()
        self._receivers: set[Fun] = set()
        self._choosing: dict[tuple[str, str], bool] = {}
        self._passing: dict[tuple[str, str], bool] = {}
        self._may_give: dict[Fun, bool] = {}
        self._spoken: dict[str, bool] = {}

    def _ask(self, key: Any, compute: Callable[[], Any], nothing: Any, unknown: Any) -> Any:
        if key in self._memo:
            return self._memo[key]
        if key in self._open:
            self._cuts += 1
            return nothing
        if not self._depth:
            self._steps = 0
        self._steps += 1
        self._all_steps += 1
        if self._depth > _DEPTH or self._steps > _STEPS or self._all_steps > _ALL_STEPS:
            self._cuts += 1
            return unknown
        cuts = self._cuts
        self._open.add(key)
        self._depth += 1
        try:
            answer = compute()
        finally:
            self._depth -= 1
            self._open.discard(key)
        # What was cut short because of an outer question holds for that question only.
        if self._cuts == cuts or not self._open:
            self._memo[key] = answer
        return answer

    def hop(self, fn: Fun, node: Any, text: str) -> Hop:
        """A step of a trace."""
        return Hop(fn.module.path, node.at, node.end, text)

    # ------------------------------------------------------------ expressions

    def of(self, expr: f.Expr, frame: Frame, item: int | None = None) -> Ways:
        """The ways a list may come about."""
        ways: Ways = self._ask(("of", _key(expr), frame, item), lambda: merged(self._of(expr, frame, item)), NOTHING, UNKNOWN)
        return ways

    def _of(self, expr: f.Expr, frame: Frame, item: int | None) -> Iterable[Members]:
        match expr:
            case f.Ref():
                return self.name(expr, frame, item)
            case f.Field():
                return self._field(expr, frame)
            case f.Call():
                return self._call(expr, frame, item)
            case f.Index():
                return self._index(expr, frame)
            case f.Slice():
                return self.of(expr.base, frame)
            case f.Comp():
                return self._comprehension(expr, frame)
            case f.Coll():
                return self._literal(expr, frame, item)
            case f.New():
                return self._new(expr, frame)
            case f.Cond():
                return (*self.of(expr.then, frame, item), *self.of(expr.orelse, frame, item))
            case f.Lit() if expr.value is None:
                return NOTHING
            case f.Bin() if expr.op in ("or", "and"):
                return (*self.of(expr.left, frame, item), *self.of(expr.right, frame, item))
            case f.Bin() if expr.op in ("+", "|"):
                return self._joined(self.of(expr.left, frame), self.of(expr.right, frame))
            case f.Await() | f.Let() | f.Cast():
                return self.of(expr.value, frame, item)
            case f.Un() if expr.op in ("*", "&"):
                return self.of(expr.value, frame, item)
            case f.Yield() if expr.value is not None:
                return self.of(expr.value, frame)
        return UNKNOWN

    @staticmethod
    def _joined(left: Ways, right: Ways) -> Ways:
        """Two lists behind each other: filtered only if both are, else all of one is still there."""
        if not left or not right:
            return left or right
        whole = [way for way in (*left, *right) if not way.views and _tells(way)]
        return tuple(whole) or (*left, *right)

    def _literal(self, expr: f.Coll, frame: Frame, item: int | None) -> Iterable[Members]:
        if expr.kind == "tuple" and item is not None and item < len(expr.items):
            return self.of(expr.items[item].value, frame)
        spread = [way for pair in expr.items if pair.spread for way in self.of(pair.value, frame)]
        if not expr.items:
            return NOTHING
        if spread:
            return [self._unordered(way, frame.fn, expr, "a set has no order") for way in spread] if expr.kind == "set" else spread
        texts = tuple(str(p.value.value) for p in expr.items if isinstance(p.value, f.Lit) and isinstance(p.value.value, str))
        found = Members("literal", "agreed", container=expr.kind if expr.kind in ("map", "set") else "", texts=texts)
        if expr.kind == "set" or (expr.kind == "map" and frame.fn.module.language == "go"):
            found = self._unordered(found, frame.fn, expr, f"the order of a {expr.kind} differs")
        return (found,)

    def _new(self, expr: f.New, frame: Frame) -> Iterable[Members]:
        """Go's typed literals: `[]string{…}` is a Coll, a named slice type is not."""
        values = [pair.value for pair in expr.fields if pair.key is None]
        texts = tuple(str(v.value) for v in values if isinstance(v, f.Lit) and isinstance(v.value, str))
        return (Members("literal", "agreed", texts=texts),) if texts else UNKNOWN

    def _unordered(self, way: Members, fn: Fun, node: Any, why: str) -> Members:
        if way.order == "none" and way.unordered is not None:
            return way
        hop = self.hop(fn, node, why)
        return way._replace(order="none", unordered=hop).step(hop)

    def _comprehension(self, expr: f.Comp, frame: Frame) -> Iterable[Members]:
        gen = expr.gens[0]
        ways = self.of(gen.iter, frame)
        targets = heads(gen.target)
        for test in (c for g in expr.gens for c in g.conds):
            ways = self.filtered(ways, test, True, targets, frame)
        out = []
        for way in ways or UNKNOWN:
            way = self._iterated(way, frame.fn, gen.iter, frame)._replace(container="map" if expr.kind == "map" else "")
            out.append(self._unordered(way, frame.fn, expr, "a set has no order") if expr.kind == "set" else way)
        return out

    def _iterated(self, way: Members, fn: Fun, node: f.Expr, frame: Frame) -> Members:
        """What a loop over it meets: a Go map comes in any order."""
        if fn.module.language == "go" and (way.container == "map" or self._is_map(node, fn)):
            return self._unordered(way, fn, node, "a map is iterated in another order each time")
        return way

    def _is_map(self, expr: f.Expr, fn: Fun) -> bool:
        kind = self.resolver.static_type(expr, fn)
        if kind is not None:
            if kind.shape == "map":
                return True
            klass = self.resolver.resolve_type(kind, fn)
            if isinstance(klass, Klass) and klass.decl.alias_of is not None:
                return klass.decl.alias_of.shape == "map"
        if isinstance(expr, f.Ref | f.Call):
            for flow in self.resolver.ask(expr, self.resolver.frame(fn)):
                thing = flow.thing
                if (
                    isinstance(thing, Obj)
                    and isinstance(thing.type, str)
                    and (thing.type == "map" or thing.type.startswith("map["))
                ):
                    return True
        return False

    def _index(self, expr: f.Index, frame: Frame) -> Iterable[Members]:
        """A list out of a map of lists: `by_zone[zone]`."""
        if isinstance(expr.key, f.Lit) and isinstance(expr.key.value, int):
            return self.of(expr.base, frame, expr.key.value)
        if isinstance(expr.key, f.Lit) and isinstance(expr.base, f.Ref) and expr.base.name in frame.fn.params:
            # An item of settings that are passed in: the way of the whole tells nothing of it.
            return (Members(names=frozenset(words(str(expr.key.value)))),)
        return [self._picked(way, expr, expr.base, expr.key, frame) for way in (self.of(expr.base, frame) or UNKNOWN)]

    def _picked(self, way: Members, node: f.Expr, base: f.Expr, key: f.Expr, frame: Frame) -> Members:
        view = self._view_of_key(node, base, key, frame)
        if view is None or way.ranked is not None:
            return way
        return self._seen(way, view)

    def _view_of_key(self, node: f.Expr, base: f.Expr, key: f.Expr, frame: Frame) -> View | None:
        name = (*words(_text_name(base)), *(w for n in walk(key) for w in words(_own_name(n))))
        word = self.words.first("place", name)
        if not word or self._fixed(key, frame):
            return None
        return View("place", word, self.program.text_of(frame.fn, node), frame.fn, node, key, frame)

    def _seen(self, way: Members, view: View) -> Members:
        if any(v.node is view.node for v in way.views):
            return way
        hop = view.setting
        if hop is None:
            assert view.fn is not None
            what = f"members of one {view.word}" if view.kind == "place" else "members whose health this caller likes"
            hop = self.hop(view.fn, view.node, f"only {what} are kept: `{view.text}`")
        return way._replace(views=(*way.views, view)).step(hop)

    # ------------------------------------------------------------ tests

    def filtered(self, ways: Ways, test: f.Expr, truth: bool, targets: set[str], frame: Frame) -> Ways:
        """The ways of a list of which only members that pass a test are kept. A filter behind a ranking changes no rank."""
        views = [v for part, _ in _parts(test, truth) for v in self.views(part, targets, frame)]
        agreed = self.words.first("agreed", (w for node in walk(test) for w in words(_own_name(node))))
        out = []
        for way in ways or UNKNOWN:
            if way.ranked is None:
                for view in views:
                    way = self._seen(way, view)
            out.append(way.named(agreed) if agreed else way)
        return tuple(out)

    def views(self, test: f.Expr, targets: set[str], frame: Frame, depth: int = 0) -> list[View]:
        """What a test looks at that callers see differently."""
        if isinstance(test, f.Un):
            return self.views(test.value, targets, frame, depth)
        if isinstance(test, f.Bin) and test.op in ("and", "or"):
            return [*self.views(test.left, targets, frame, depth), *self.views(test.right, targets, frame, depth)]
        fn = frame.fn
        names = [w for node in walk(test) for w in words(_own_name(node))]
        text = self.program.text_of(fn, test)
        place, health = self.words.first("place", names), self.words.first("health", names)
        if not place and not health and isinstance(test, f.Call) and depth < 2:
            return self._inside(test, frame, depth)
        if place and health and isinstance(test, f.Bin):
            health = ""
        out = []
        if place:
            against = self._against(test, targets)
            compares = against is not None or not isinstance(test, f.Bin)
            if compares and not (against is not None and self._fixed(against, frame)):
                out.append(View("place", place, text, fn, test, against, frame))
        if health:
            out.append(View("health", health, text, fn, test))
        return out

    def _inside(self, call: f.Call, frame: Frame, depth: int) -> list[View]:
        """What a predicate of the program looks at."""
        out: list[View] = []
        for thing, binds in self.resolver.targets(call, frame):
            if isinstance(thing, FnVal) and not thing.fn.head.is_abstract:
                inner = self.resolver.enter(thing, call, frame, binds)
                for stmt, _ in thing.fn.body.returns[:4]:
                    if stmt.value is not None:
                        params = {p.name for p in thing.fn.head.params}
                        out += self.views(stmt.value, params, inner, depth + 1)
        return out[:2]

    @staticmethod
    def _against(test: f.Expr, targets: set[str]) -> f.Expr | None:
        """The side of a comparison that is no member."""
        sides: list[f.Expr] = []
        if isinstance(test, f.Bin):
            sides = [test.left, test.right]
        elif isinstance(test, f.Call) and len(test.args) == 1:
            fn = test.fn
            base = (
                fn.base
                if isinstance(fn, f.Field)
                else f.Ref(fn.at, fn.end, fn.name.rpartition(".")[0])
                if isinstance(fn, f.Ref)
                else fn
            )
            if last_name(fn) in ("equals", "equalsIgnoreCase", "contains", "__eq__", "EqualFold", "Equal"):
                sides = [base, test.args[0].value]
        elif isinstance(test, f.Call) and len(test.args) == 2 and last_name(test.fn) in ("equals", "EqualFold", "Equal"):
            sides = [test.args[0].value, test.args[1].value]
        others = [side for side in sides if not (heads(side) & targets)]
        return others[0] if len(others) == 1 else None

    def _fixed(self, expr: f.Expr, frame: Frame) -> bool:
        """Whether an expression is one and the same for every caller: a literal."""
        if isinstance(expr, f.Lit):
            return True
        flows = self.resolver.ask(expr, frame)
        things = [x.thing for x in flows]
        if isinstance(expr, f.Coll):
            return all(self._fixed(pair.value, frame) for pair in expr.items)
        return bool(things) and all(isinstance(t, Num) or (isinstance(t, Text) and t.whole is not None) for t in things)

    def predicate(self, ways: Ways, expr: f.Expr, frame: Frame) -> Ways:
        """The ways of a list filtered by a function."""
        fn = frame.fn
        if isinstance(expr, f.Fn):
            inner_fn = fn.module.functions[expr.index]
            inner = self.resolver.frame(inner_fn)
            targets = {p.name for p in inner_fn.head.params}
            for stmt, _ in inner_fn.body.returns:
                if stmt.value is not None:
                    ways = self.filtered(ways, stmt.value, True, targets, inner)
            return ways
        if isinstance(expr, f.Call):  # not(…), negate, predicates made by a call
            for arg in expr.args:
                ways = self.predicate(ways, arg.value, frame)
        names = words(_own_name(expr))
        for kind in ("place", "health"):
            word = self.words.first(kind, names)
            if word:
                view = View("place" if kind == "place" else "health", word, self.program.text_of(fn, expr), fn, expr)
                return tuple(way if way.ranked is not None else self._seen(way, view) for way in ways or UNKNOWN)
        for flow in self.resolver.ask(expr, frame):
            if isinstance(flow.thing, FnVal):
                inner = self.resolver.frame(flow.thing.fn)
                for stmt, _ in flow.thing.fn.body.returns[:4]:
                    if stmt.value is not None:
                        ways = self.filtered(ways, stmt.value, True, {p.name for p in flow.thing.fn.head.params}, inner)
        return ways

    # ------------------------------------------------------------ calls

    def _call(self, call: f.Call, frame: Frame, item: int | None) -> Iterable[Members]:
        fn = frame.fn
        last = last_name(call.fn)
        low = last.lower()
        args = [a.value for a in call.args]
        receiver = receiver_of(call)
        if last == "make" and fn.module.language == "go":
            return NOTHING
        if low == "append" and isinstance(call.fn, f.Ref) and call.fn.name == "append" and args:
            return self._appended(call, frame)
        if _SORTS.match(last) and (args or receiver is not None):
            return self._sorted(call, receiver, args, frame)
        if last in ("filter", "filterfalse") and len(args) == 2 and receiver is None:
            return self.predicate(self.of(args[1], frame), args[0], frame)
        if low in _FILTERS and args and receiver is not None and not self._imported(call, frame):
            return self.predicate(self.of(receiver, frame), args[0], frame)
        out: list[Members] = []
        guessed: list[Members] = []
        for thing, binds in self.resolver.targets(call, frame):
            if isinstance(thing, FnVal):
                out += self.returned(thing, call, frame, binds, item)
                continue
            name = self.resolver.canonical(thing) if isinstance(thing, Ext | Bound) else ""
            row = self.resolver.table(fn.module).call(name) if name else None
            if name in self.program.balancers.feeds:
                out.append(self._peers(name, "none", call, frame))
            elif row is not None and (row.peers or row.order is not None):
                out += self._listed(row, name, call, args, frame)
            elif name and (kept := self._kept_order(name, fn)) is not None:
                out += self._ordered([way for arg in args for way in self.of(arg, frame)], kept, call, frame)
            elif isinstance(thing, ClassVal) and args and fn.module.language == "go":
                out += self.of(args[0], frame)
            elif isinstance(thing, Ext | Bound | Unknown | Obj | ClassVal):
                guessed += self._by_name(call, low, receiver, args, frame)
        return out or guessed or self._by_name(call, low, receiver, args, frame)

    def _kept_order(self, name: str, fn: Fun) -> str | None:
        """The order in which a collection of this type is iterated."""
        entry = self.resolver.table(fn.module).type(name)
        return entry.order if entry is not None else None

    def _ordered(self, ways: Iterable[Members], kept: str, node: f.Node, frame: Frame) -> list[Members]:
        """The ways of a list once they are in a collection that keeps such an order."""
        if kept == "none":
            return [self._unordered(way, frame.fn, node, "its collection keeps no order") for way in ways]
        if kept == "sorted":
            return [way._replace(order="agreed", unordered=None) for way in ways]
        return list(ways)

    def _made_as(self, d: Definition, frame: Frame) -> str | None:
        """The order of a collection that a definition makes empty, to be filled later."""
        if isinstance(d.expr, f.Coll):
            return "none" if d.expr.kind == "set" else None
        if not isinstance(d.expr, f.Call) or d.kind != "value":
            return None
        if last_name(d.expr.fn).lower() in _SETS and not d.expr.args:
            return "none"
        for thing, _ in self.resolver.targets(d.expr, frame):
            name = self.resolver.canonical(thing) if isinstance(thing, Ext | Bound) else ""
            kept = self._kept_order(name, frame.fn) if name else None
            if kept is not None:
                return kept
        return None

    def _imported(self, call: f.Call, frame: Frame) -> bool:
        receiver = receiver_of(call)
        head = dotted(receiver).partition(".")[0] if receiver is not None else ""
        return bool(head) and head in frame.fn.module.imports

    def _listed(self, row: CallEntry, name: str, call: f.Call, args: list[f.Expr], frame: Frame) -> Iterable[Members]:
        """What a call of knowledge gives: peers, or a collection with an order of its own."""
        fn = frame.fn
        if row.peers:
            return [self._peers(name, "agreed" if row.order in ("sorted", "insertion") else "none", call, frame)]
        ways = [way for arg in args for way in self.of(arg, frame)] or [Members()]
        if row.order == "none":
            return [self._unordered(way, fn, call, f"{short(name)} keeps no order") for way in ways]
        if row.order == "sorted":
            return [way._replace(order="agreed", unordered=None) for way in ways]
        return ways

    def _peers(self, name: str, order: Order, call: f.Call, frame: Frame) -> Members:
        hop = self.hop(frame.fn, call, f"{short(name)} gives the peers it knows now")
        unordered = hop if order == "none" else None
        checked = self.checked(name, frame.fn)
        way = Members("peers", order, unordered=unordered, hops=(hop,), names=frozenset(words(name)), checked=checked)
        return self._configured_view(self._asked(way, call, frame), name)

    def _asked(self, way: Members, call: f.Call, frame: Frame) -> Members:
        """A query for peers of one place, or for healthy ones."""
        for arg in call.args:
            names = (*words(arg.name or ""), *(w for n in walk(arg.value) for w in words(_own_name(n))))
            place = self.words.first("place", names)
            health = self.words.first("health", words(arg.name or ""))
            if place and not self._fixed(arg.value, frame) and not isinstance(arg.value, f.Lit):
                way = self._seen(
                    way, View("place", place, self.program.text_of(frame.fn, arg.value), frame.fn, call, arg.value, frame)
                )
            elif health and isinstance(arg.value, f.Lit) and arg.value.value is True:
                way = self._seen(way, View("health", health, self.program.text_of(frame.fn, call), frame.fn, call))
        return way

    def _configured_view(self, way: Members, name: str) -> Members:
        for view in self.program.balancers.views_of(name):
            way = way._replace(views=(*way.views, view))
            if view.setting is not None:
                way = way.step(view.setting)
        return way

    def _by_name(self, call: f.Call, low: str, receiver: f.Expr | None, args: list[f.Expr], frame: Frame) -> Iterable[Members]:
        """A call of which only the name is known."""
        fn = frame.fn
        if low in _SETS and args:
            return [self._unordered(way, fn, call, "a set has no order") for way in self.of(args[0], frame) or UNKNOWN]
        if low in ("get", "getordefault", "load") and receiver is not None and args:
            return [self._picked(way, call, receiver, args[0], frame) for way in (self.of(receiver, frame) or UNKNOWN)]
        if low in _KEEPS:
            if receiver is not None and not self._imported(call, frame):
                ways = self.of(receiver, frame)
                if ways:
                    return ways
            if args:
                return [way for arg in args for way in self.of(arg, frame)] or UNKNOWN
        owner = words(_text_name(receiver)) if receiver is not None else ()
        registry = self.words.first("registry", (*owner, *words(low)))
        wanted = self.words.first("peer", words(last_name(call.fn))) or last_name(call.fn).lower() in (
            "list",
            "get",
            "children",
            "query",
        )
        if registry and wanted:
            hop = self.hop(fn, call, f"{dotted(call.fn) or last_name(call.fn)} gives the peers it knows now, by its name")
            way = Members("peers", "none", unordered=hop, hops=(hop,), names=frozenset(words(last_name(call.fn))), guessed=True)
            return [self._asked(self._view_of_name(way, call, frame), call, frame)]
        noun = self.words.first("peer", words(last_name(call.fn)))
        if noun:
            return [self._asked(self._view_of_name(Members(names=frozenset(words(last_name(call.fn)))), call, frame), call, frame)]
        if receiver is not None and not args and low not in ("pop",):
            return [way.named(last_name(call.fn)) for way in UNKNOWN]
        return UNKNOWN

    def _view_of_name(self, way: Members, call: f.Call, frame: Frame) -> Members:
        """`registry.local_nodes()`, `client.healthyHosts()`: the name says what it leaves out."""
        names = words(last_name(call.fn))
        for kind in ("place", "health"):
            word = self.words.first(kind, names)
            if word and self.words.first("peer", names):
                view = View("place" if kind == "place" else "health", word, self.program.text_of(frame.fn, call), frame.fn, call)
                way = self._seen(way, view)._replace(guessed=True)
        return way

    def _appended(self, call: f.Call, frame: Frame) -> Iterable[Members]:
        """Go's `append(xs, ys...)`; single elements are judged where the name is defined."""
        out = list(self.of(call.args[0].value, frame))
        for arg in call.args[1:]:
            if arg.spread:
                out = list(self._joined(tuple(out), self.of(arg.value, frame)))
        return out

    def _sorted(self, call: f.Call, receiver: f.Expr | None, args: list[f.Expr], frame: Frame) -> Iterable[Members]:
        holder = receiver if receiver is not None and not self._imported(call, frame) else args[0] if args else None
        if holder is None:
            return UNKNOWN
        return [self._arranged_by(way, call, frame) for way in self.of(holder, frame) or UNKNOWN]

    def _arranged_by(self, way: Members, call: f.Call, frame: Frame) -> Members:
        """A list after a call has sorted it."""
        ranking = self.ranking(call, frame)
        if ranking is not None:
            hop = self.hop(frame.fn, call, "ranked by a hash of key and member")
            return way._replace(order="agreed", unordered=None, ranked=ranking).step(hop)
        return way._replace(order="agreed", unordered=None)

    def ranking(self, call: f.Call, frame: Frame) -> Hashing | None:
        """The hash that a comparison or sort key rests on."""
        for arg in call.args:
            if isinstance(arg.value, f.Fn):
                hashing = self._in_function(self.resolver.frame(frame.fn.module.functions[arg.value.index]))
            elif isinstance(arg.value, f.Call | f.Field):
                hashing = self._in_comparator(arg.value, frame)
            else:
                hashing = None
                for flow in self.resolver.ask(arg.value, frame) if arg.name is not None else ():
                    if isinstance(flow.thing, FnVal):
                        hashing = self._in_function(self.resolver.frame(flow.thing.fn))
            if hashing is not None:
                return hashing
        return None

    def _in_comparator(self, expr: f.Expr, frame: Frame) -> Hashing | None:
        """`Comparator.comparing(n -> score(key, n))`, also further up the chain."""
        for node in walk(expr):
            if isinstance(node, f.Fn):
                hashing = self._in_function(self.resolver.frame(frame.fn.module.functions[node.index]))
                if hashing is not None:
                    return hashing
        return None

    def _in_function(self, frame: Frame) -> Hashing | None:
        if not self._may_carry(frame.fn):
            return None
        for stmt, _ in frame.fn.body.returns:
            if stmt.value is not None:
                hashing = self.hashing(stmt.value, frame)
                if hashing is not None:
                    return hashing
        return None

    def returned(self, target: FnVal, call: f.Node, frame: Frame, binds: tuple[Bind, ...], item: int | None) -> list[Members]:
        """What a function of the program gives."""
        inner = self.resolver.enter(target, call, frame, binds)
        return self.returned_in(inner, call, frame.fn, item)

    def returned_in(self, inner: Frame, call: f.Node, caller: Fun, item: int | None) -> list[Members]:
        fn = inner.fn
        if fn.head.is_abstract:
            out = []
            for other in self.resolver._implementations(fn)[:4]:
                out += self.returned_in(self.resolver.frame(other), call, caller, item)
            return out or [Members(names=frozenset(words(fn.name)))]
        ways: list[Members] = []
        for stmt, _ in fn.body.returns:
            value = stmt.value
            if value is None and fn.head.named_returns:
                value = f.Ref(stmt.at, stmt.at, fn.head.named_returns[item or 0])
            if value is None or (isinstance(value, f.Lit) and value.value is None):
                continue
            multiple = isinstance(value, f.Coll) and value.kind == "tuple" and len(fn.head.returns) > 1
            if multiple and isinstance(value, f.Coll):
                value = value.items[min(item or 0, len(value.items) - 1)].value
            ways += self.of(value, inner)
        for one in fn.body.yields:
            if one.value is not None:
                ways += self._yielded(one, inner)
        hop = self.hop(caller, call, f"{fn.head.qual} gives it")
        return [(way.step(hop) if way.hops else way).named(fn.name) for way in merged(ways)]

    def _yielded(self, one: f.Yield, frame: Frame) -> Ways:
        """A generator gives the elements of the loops around its `yield`."""
        if one.delegate and one.value is not None:
            return self.of(one.value, frame)
        return self.gathered(frame.fn.body.arm_at(one.at), one.value, one.at, frame)

    # ------------------------------------------------------------ names

    def name(self, ref: f.Ref, frame: Frame, item: int | None = None) -> Iterable[Members]:
        """What a dotted name holds where it stands."""
        ways = self._ask(("name", ref.name, ref.at, frame, item), lambda: merged(self._name(ref, frame, item)), NOTHING, UNKNOWN)
        name = ref.name.rpartition(".")[2]
        return [way.named(name) for way in ways]

    def _name(self, ref: f.Ref, frame: Frame, item: int | None) -> Iterable[Members]:
        fn, body = frame.fn, frame.fn.body
        name = ref.name
        if (name in body.definitions or self._fills(fn, name)) and name not in body.outer_names:
            reached, falls = body.reaching(name, ref.at)
            ways = [way for d in reached for way in self._defined(d, ref, frame)]
            since = min((d.at for d in reached), default=-1) if not falls else -1
            filled = list(self._filled(name, since, ref.at, frame))
            kept = next((k for d in reached if (k := self._made_as(d, frame)) is not None), None) if filled else None
            ways += self._ordered(filled, kept, ref, frame) if kept is not None else filled
            if falls and name in fn.params:
                ways += self.parameter(fn.params[name], frame)
            elif falls and "." in name:
                ways += self._held(ref, frame)
            elif not ways and any(d.kind == "declared" for d in reached):
                return NOTHING
            return self._arranged(name, ref.at, since, ways, frame)
        head, _, rest = name.partition(".")
        if not rest and head in fn.params:
            return self._arranged(name, ref.at, -1, self.parameter(fn.params[head], frame), frame)
        if not rest and head in fn.head.named_returns:
            return NOTHING
        if head not in fn.params and head not in body.definitions and fn.parent is not None and fn.index:
            parent = fn.parent
            outer = frame.closure if frame.closure is not None and frame.closure.fn is parent else self.resolver.frame(parent)
            if head in parent.params or head in parent.body.definitions:
                return self.name(f.Ref(fn.head.at, fn.head.at, name), outer, item)
        return self._arranged(name, ref.at, -1, self._held(ref, frame), frame)

    @staticmethod
    def _fills(fn: Fun, name: str) -> bool:
        return any(call.rpartition(".")[0] == name and call.rpartition(".")[2] in _APPENDS for call in fn.head.calls)

    def _defined(self, d: Definition, ref: f.Ref, frame: Frame) -> Ways:
        ways: Ways = self._ask(("def", id(d), frame), lambda: merged(self._of_definition(d, ref, frame)), NOTHING, UNKNOWN)
        return ways

    def _of_definition(self, d: Definition, ref: f.Ref, frame: Frame) -> Iterable[Members]:
        if d.expr is None:
            return NOTHING
        if d.kind == "each":  # an element of a list of lists
            return list(self.of(d.expr, frame))
        if d.kind not in ("value", "enter", "aug"):
            return UNKNOWN
        if self._appends_one(d):
            call = d.expr
            assert isinstance(call, f.Call)
            out: list[Members] = []
            if dotted(call.args[0].value) != d.name:
                out += self.of(call.args[0].value, frame)
            for arg in call.args[1:]:
                out += self.of(arg.value, frame) if arg.spread else self.gathered(d.arm, arg.value, d.at, frame)
            if dotted(call.args[0].value) == d.name:
                earlier, falls = frame.fn.body.reaching(d.name, d.at)
                out += [way for e in earlier if e is not d for way in self._defined(e, ref, frame)]
                if falls and d.name in frame.fn.params:
                    out += self.parameter(frame.fn.params[d.name], frame)
            return out
        return self.of(d.expr, frame, d.item[0] if d.item else None)

    @staticmethod
    def _appends_one(d: Definition) -> bool:
        return isinstance(d.expr, f.Call) and isinstance(d.expr.fn, f.Ref) and d.expr.fn.name == "append" and bool(d.expr.args)

    def _filled(self, name: str, since: int, here: int, frame: Frame) -> Iterator[Members]:
        """What is put into a named collection before `here`, one by one or many at once."""
        body = frame.fn.body
        for d in body.definitions.get(name + "[]", ()):
            if d.kind == "store" and since <= d.at < here and isinstance(d.node, f.Assign):
                stored = next((t for t in d.node.targets if isinstance(t, f.Index) and place_of(t.base) == name), None)
                element = stored.key if stored is not None else d.expr
                for way in self.gathered(d.arm, element, d.at, frame):
                    yield way._replace(container="map") if self._keyed(stored) else way
        for site in body.calls:
            if not (since <= site.call.at < here) or not site.call.args:
                continue
            receiver = receiver_of(site.call)
            if receiver is None or dotted(receiver) != name:
                continue
            if site.last in _APPENDS:
                yield from self.gathered(site.arm, site.call.args[-1].value, site.call.at, frame)
            elif site.last in _EXTENDS:
                yield from self.of(site.call.args[-1].value, frame)

    @staticmethod
    def _keyed(stored: f.Index | None) -> bool:
        """Whether a store is into a map: by something else than a number counted up."""
        return stored is not None and isinstance(stored.key, f.Ref) and len(stored.key.name) > 1

    def gathered(self, arm: Arm, element: f.Expr | None, at: int, frame: Frame) -> Ways:
        """The elements that a loop puts somewhere: those of what it goes over, less what the tests on the way leave out."""
        chain = arm.chain()
        roots = heads(element) if element is not None else set()
        roots |= self._made_from(roots, frame.fn, at)
        loops = [i for i, a in enumerate(chain) if a.kind == "loop" and isinstance(a.node, f.Loop) and a.node.form == "each"]
        inner = next((i for i in reversed(loops) if heads(_loop(chain[i]).target) & roots), None)
        if inner is None:
            inner = loops[-1] if loops else None
        if inner is None:
            return self.of(element, frame) if isinstance(element, f.Comp) else NOTHING if element is None else ()
        loop = _loop(chain[inner])
        assert loop.iter is not None
        ways = tuple(self._iterated(way, frame.fn, loop.iter, frame) for way in (self.of(loop.iter, frame) or UNKNOWN))
        return self.passed(loop, arm, at, ways, frame)

    def passed(self, loop: f.Loop, arm: Arm, at: int, ways: Ways, frame: Frame) -> Ways:
        """The elements of a loop that get as far as a place in it."""
        chain = arm.chain()
        inner = next((i for i, a in enumerate(chain) if a.node is loop), 0)
        for test, truth in self._tests(chain[inner:], loop, at):
            ways = self.filtered(ways, test, truth, heads(loop.target), frame)
        return ways

    def _made_from(self, roots: set[str], fn: Fun, at: int) -> set[str]:
        """Names that local names are made from, one step back."""
        out: set[str] = set()
        for root in roots:
            for d in fn.body.reaching(root, at)[0]:
                if d.kind == "value" and d.expr is not None:
                    out |= heads(d.expr)
        return out

    @staticmethod
    def _tests(chain: list[Arm], loop: f.Loop, at: int) -> Iterator[tuple[f.Expr, bool]]:
        """Tests that an element has passed where something is done with it."""
        for arm in chain:
            if isinstance(arm.node, f.If) and arm.kind in ("then", "else"):
                yield arm.node.test, arm.kind == "then"
        for stmt in loop.body:
            if isinstance(stmt, f.If) and stmt.end <= at and not stmt.orelse and leaves(stmt.then):
                yield stmt.test, False

    def _arranged(self, name: str, here: int, since: int, ways: Iterable[Members], frame: Frame) -> Iterable[Members]:
        """What sorting or shuffling a named list in place has done to it by `here`."""
        found = list(ways)
        for site in frame.fn.body.calls:
            call = site.call
            if not (since < call.at < here) or isinstance(site.stmt, f.Assign | f.Return):
                continue
            sorts, shuffles = bool(_SORTS.match(site.last)), bool(_SHUFFLES.match(site.last))
            if not sorts and not shuffles:
                continue
            receiver = receiver_of(call)
            on = {dotted(a.value) for a in call.args} | ({dotted(receiver)} if receiver is not None else set())
            on |= {dotted(a.value.args[0].value) for a in call.args if isinstance(a.value, f.Call) and len(a.value.args) == 1}
            if name not in on:
                continue
            if sorts:
                found = [self._arranged_by(way, call, frame) for way in found or UNKNOWN]
            else:
                found = [
                    self._unordered(way._replace(order="unknown", unordered=None), frame.fn, call, "shuffled")
                    for way in found or UNKNOWN
                ]
        return found

    # ------------------------------------------------------------ parameters and fields

    def parameter(self, param: f.Param, frame: Frame) -> Ways:
        """What callers pass."""
        ways: Ways = self._ask(("param", frame, param.name), lambda: merged(self._parameter(param, frame)), NOTHING, UNKNOWN)
        return tuple(way.named(param.name) for way in ways)

    def _parameter(self, param: f.Param, frame: Frame) -> Iterable[Members]:
        fn = frame.fn
        declared = Members("parameter", container="map" if param.type is not None and param.type.shape == "map" else "")
        if frame.args is not None and frame.site is not None:
            return self._argument(param, frame.args, fn) or (declared,)
        sites, _whole = self.resolver.callers(fn)
        out = [way for _, _, args, _ in sites[:16] for way in self._argument(param, args, fn)]
        if out or sites:
            return out or (declared,)
        if fn.head.kind == "lambda":
            return self._handed(param, fn) or (declared,)
        joined = self._joined_by_noun(param, fn)
        return joined or (declared,)

    def _argument(self, param: f.Param, args: tuple[Bind, ...], fn: Fun) -> Ways:
        bind, _spread = self.resolver.argument(param, args, fn)
        if bind is None:
            return ()
        hop = self.hop(bind.frame.fn, bind.expr, f"passed to {fn.head.qual} as `{param.name}`")
        return tuple(way.step(hop) if way.hops else way for way in self.of(bind.expr, bind.frame))

    def _handed(self, param: f.Param, fn: Fun) -> Ways:
        """A function literal handed to a call on the list: `lists.map(xs -> …)`."""
        parent = fn.parent
        if parent is None:
            return ()
        for site in parent.body.calls:
            if any(isinstance(a.value, f.Fn) and a.value.index == fn.index for a in site.call.args):
                receiver = receiver_of(site.call)
                if receiver is not None:
                    return self.of(receiver, self.resolver.frame(parent))
        return ()

    def _joined_by_noun(self, param: f.Param, fn: Fun) -> Ways:
        """A list that nobody here passes, and the one function of the package that gives such lists under the same noun."""
        if param.type is None or param.type.shape != "list" or fn.module.is_test:
            return ()
        noun = words(param.name)
        if not noun or not self.words.first("peer", noun):
            return ()
        makers = []
        for module in self.program.names.modules.values():
            if module.folder != fn.module.folder or module.language != fn.module.language or module.is_test:
                continue
            for other in module.functions:
                if (
                    other is not fn
                    and other.head.returns
                    and words(other.name)[-1:] == noun[-1:]
                    and other.head.returns[0] == param.type
                ):
                    makers.append(other)
        if len(makers) != 1 or self.resolver.callers(makers[0])[0]:
            return ()
        maker = makers[0]
        at = f.Ref(fn.head.name_at, fn.head.name_at + len(fn.name.encode()), fn.name)
        return tuple(self.returned_in(self.resolver.frame(maker), at, fn, None))

    def _field(self, expr: f.Field, frame: Frame) -> Iterable[Members]:
        """An attribute of a call's result: `discovery.get().nodes`, `client.status().peers`."""
        base = self.of(expr.base, frame)
        held = [way for way in base if way.source != "unknown" or way.views or way.hops]
        return [way.named(expr.name) for way in held] or [Members(names=frozenset(words(expr.name)))]

    def _held(self, ref: f.Ref, frame: Frame) -> Iterable[Members]:
        """A field or a global: all that is ever written to it."""
        owner, _, last = ref.name.rpartition(".")
        out: list[Members] = []
        klass = self._class_of(owner, ref, frame) if owner else None
        if klass is not None:
            out += self._written(klass, last)
            if not out:
                method = klass.methods.get(last)
                if method is not None and method.head.is_property:
                    return self.returned_in(self.resolver.frame(method), ref, frame.fn, None)
        if not out:
            out += self._from_values(ref, frame)
        if not out and owner:
            out = [way for way in self._outer_part(owner, ref, frame) if way.source != "unknown"]
        if not out:
            return [Members(names=frozenset(words(last)))]
        return out

    def _outer_part(self, owner: str, ref: f.Ref, frame: Frame) -> Iterable[Members]:
        """An attribute of something that is itself a list of peers or was read from one."""
        if owner.partition(".")[0] in ("self", "this") and "." not in owner:
            return ()
        if owner in frame.fn.body.definitions:
            return self.name(f.Ref(ref.at, ref.end, owner), frame)
        return ()

    def _class_of(self, owner: str, ref: f.Ref, frame: Frame) -> Klass | None:
        fn: Fun | None = frame.fn
        while fn is not None:
            if fn.is_method and fn.head.params[0].name == owner:
                return self.resolver.owner(fn)
            if owner in fn.params or owner in fn.body.definitions:
                break
            fn = fn.parent
        for flow in self.resolver.ask(f.Ref(ref.at, ref.end, owner), frame):
            if isinstance(flow.thing, Obj) and isinstance(flow.thing.type, Klass):
                return flow.thing.type
        return None

    def _written(self, klass: Klass, name: str) -> Ways:
        """All that is written to a field, anywhere in its class or where the class is made."""
        ways: Ways = self._ask(("field", klass, name), lambda: merged(self._writes(klass, name)), NOTHING, UNKNOWN)
        return ways

    def _writes(self, klass: Klass, name: str) -> Iterator[Members]:
        field = klass.fields.get(name)
        module_frame = self.resolver.frame(klass.module.functions[0])
        if field is not None and field.init is not None:
            yield from self.of(field.init, module_frame)
        kept: str | None = None
        field_at = f.Ref(field.at, field.end, name) if field is not None else f.Ref(klass.decl.name_at, klass.decl.name_at, name)
        for fn in self._methods(klass):
            if not fn.is_method:
                continue
            place = f"{fn.head.params[0].name}.{name}"
            frame = self.resolver.frame(fn)
            for scope in _scopes(fn):
                inner = frame if scope is fn else self.resolver.frame(scope)
                for d in scope.body.definitions.get(place, ()):
                    if d.kind in ("value", "aug", "each", "enter") and d.expr is not None:
                        here = f.Ref(d.at, d.at, place)
                        ways = list(self._defined(d, here, inner))
                        yield from self._arranged(place, 1 << 40, d.at, ways, inner)
                filled = list(self._filled(place, -1, 1 << 40, inner))
                if filled and kept is None:
                    kept = self._field_order(klass, name)
                yield from self._ordered(filled, kept, field_at, inner) if kept is not None else filled
        if klass.module.language == "go":
            yield from self._composed(klass, name)
        elif field is not None and self.resolver.init_of(klass) is None:
            yield from self._constructed(klass, name)

    def _field_order(self, klass: Klass, name: str) -> str | None:
        """The order of the collection that a field is made as."""
        declared = klass.fields.get(name)
        if declared is not None and isinstance(declared.init, f.Call):
            made = dotted(declared.init.fn)
            scope = klass.module.functions[0]
            kind = self.resolver.resolve_type(f.Type(made), scope) if made else None
            if isinstance(kind, str):
                return self._kept_order(kind, scope)
        for fn in self._methods(klass):
            if fn.is_method:
                for d in fn.body.definitions.get(f"{fn.head.params[0].name}.{name}", ()):
                    kept = self._made_as(d, self.resolver.frame(fn))
                    if kept is not None:
                        return kept
        return None

    def _methods(self, klass: Klass) -> Iterator[Fun]:
        for one in self.resolver.family(klass):
            seen = [*one.methods.values(), *(m for ms in one.overloads.values() for m in ms)]
            yield from dict.fromkeys(seen)

    def _composed(self, klass: Klass, name: str) -> Iterator[Members]:
        """Go: `Picker{members: xs}`."""
        for module in self.program.names.modules.values():
            if module.language != "go" or module.is_test:
                continue
            for fn in module.functions:
                if name not in fn.head.writes or not any(c.rpartition(".")[2] == klass.name + "{" for c in fn.head.calls):
                    continue
                frame = self.resolver.frame(fn)
                for new, _, _ in fn.body.news:
                    if self.resolver.resolve_type(new.type, fn) is klass:
                        for pair in new.fields:
                            if isinstance(pair.key, f.Ref) and pair.key.name == name:
                                yield from self.of(pair.value, frame)

    def _constructed(self, klass: Klass, name: str) -> Iterator[Members]:
        """A dataclass: what its constructor is given."""
        position = [x.name for x in klass.decl.fields if x.type is not None].index(name) if name in klass.fields else -1
        for fn in self.program.functions(klass.module.language):
            if fn.module.is_test or not any(c.rpartition(".")[2] == klass.name for c in fn.head.calls):
                continue
            frame = self.resolver.frame(fn)
            for site in fn.body.calls:
                if site.last != klass.name or not any(
                    isinstance(t, ClassVal) and t.klass is klass for t, _ in self.resolver.targets(site.call, frame)
                ):
                    continue
                named = [a.value for a in site.call.args if a.name == name]
                plain = [a.value for a in site.call.args if a.name is None and not a.spread]
                for value in named or plain[position : position + 1]:
                    yield from self.of(value, frame)

    def _from_values(self, ref: f.Ref, frame: Frame) -> Iterator[Members]:
        """What the resolver finds behind a name."""
        for flow in self.resolver.ask(ref, frame):
            thing = flow.thing
            if isinstance(thing, Env):
                yield Members("configured", "agreed")
            elif isinstance(thing, Text):
                yield Members("literal", "agreed", texts=(thing.known,))
            elif isinstance(thing, Obj) and isinstance(thing.node, f.Call | f.Coll | f.Comp) and thing.frame is not None:
                node = thing.node
                ways = self.of(node, thing.frame)
                yield from (
                    way.step(self.hop(thing.frame.fn, node, "made here")) if way.views and not way.hops else way for way in ways
                )
            elif isinstance(thing, Obj) and thing.kind == "gen" and isinstance(thing.node, Frame):
                yield from self.returned_in(thing.node, ref, frame.fn, None)

    # ------------------------------------------------------------ hashes

    @cached_property
    def hash_names(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Calls that hash or choose by hash, by language and last segment."""
        out: dict[str, dict[str, tuple[str, ...]]] = {}
        for language in ("python", "go", "java"):
            names = out.setdefault(language, {})
            for library in self.program.knowledge.of(language).libraries:
                for name in (name for call in library.calls if call.hash is not None for name in call.names):
                    last = name.rpartition(".")[2]
                    names[last] = (*names.get(last, ()), name)
        return out

    @staticmethod
    def sorts(called: str) -> bool:
        """Whether a called name sorts, or takes the best."""
        return bool(_SORTS.match(called.rpartition(".")[2]))

    @cached_property
    def choosing_names(self) -> dict[str, frozenset[str]]:
        """Last segments of calls that choose by hash from a list they are given, by language."""
        return {
            language: frozenset(
                name.rpartition(".")[2]
                for library in self.program.knowledge.of(language).libraries
                for call in library.calls
                if call.hash is not None and call.hash.scheme not in ("hash", "jump") and call.hash.members is not None
                for name in call.names
            )
            for language in ("python", "go", "java")
        }

    @cached_property
    def jump_names(self) -> dict[str, frozenset[str]]:
        """Last segments of calls that give a position by hash, by language."""
        return {
            language: frozenset(
                name.rpartition(".")[2]
                for library in self.program.knowledge.of(language).libraries
                for call in library.calls
                if call.hash is not None and call.hash.scheme == "jump"
                for name in call.names
            )
            for language in ("python", "go", "java")
        }

    def may_hash(self, called: str, module: Module) -> bool:
        """Whether a called name may be a hash: by a word in it, or by what the file imports."""
        last = called.rpartition(".")[2]
        known = self._may_hash.get((last, module))
        if known is None:
            names = self.hash_names.get(module.language, {}).get(last, ())
            known = self._says_hash(last) or any(_within_reach(name, module) for name in names)
            self._may_hash[last, module] = known
        return known

    def _says_hash(self, last: str) -> bool:
        known = self._spoken.get(last)
        if known is None:
            spoken = words(last)
            known = bool(self.words.first("hash", spoken)) and not self.words.first("container", spoken)
            self._spoken[last] = known
        return known

    @cached_property
    def hashers(self) -> dict[Fun, None]:
        """Functions whose header shows a call or a function that may hash, in order of path and position; no tests."""
        names = self.program.names
        listed = {last for some in self.hash_names.values() for last in some}
        builtins = {
            last
            for some in self.hash_names.values()
            for last, names in some.items()
            if all(n.startswith("<builtin>.") for n in names)
        }
        called, own = names.callers_of, {name for _, name in self._by_name_only}
        out: dict[Fun, None] = {}

        def counts(last: str, is_value: bool) -> bool:
            if last in listed and not (is_value and last in builtins):
                return True
            return self._says_hash(last) and (not is_value or last in own)

        if self.program.focus is not None:
            for fn in self.program.starts():
                said = ((False, fn.head.calls), (True, fn.head.values))
                lasts = ((is_value, name.rpartition(".")[2]) for is_value, written in said for name in written)
                if not fn.module.is_test and any(
                    counts(last, is_value) and self.may_hash(last, fn.module) for is_value, last in lasts
                ):
                    out[fn] = None
            return out
        # A value under the name of a builtin is as a rule a variable: `id`. Other names of values count where they are functions.
        for index, skipped in ((called, frozenset[str]()), (names.values_of, builtins)):
            spoken = _naming(index, self.words.of("hash"))
            for last in dict.fromkeys((*(name for name in sorted(listed - skipped) if name in index), *spoken)):
                if counts(last, index is not called):
                    for fn in index[last]:
                        if not fn.module.is_test and self.may_hash(last, fn.module):
                            out[fn] = None
        return dict.fromkeys(sorted(out, key=lambda fn: fn.key))

    def users(self, name: str, language: str) -> Iterator[Fun]:
        """Functions that call something of this name or hold it as a value; no tests."""
        names = self.program.names
        for fn in (*names.callers_of.get(name, ()), *names.values_of.get(name, ())):
            if fn.module.language == language and not fn.module.is_test:
                yield fn

    def named(self, name: str, language: str) -> list[Fun]:
        """Functions of this name; no tests."""
        return [fn for fn in self._by_name_only.get((language, name), ()) if not fn.module.is_test]

    def is_common(self, own: tuple[str, str]) -> bool:
        """Whether so many functions have a name, of a language, that it tells nothing."""
        return len(self._by_name_only.get(own, ())) > _COMMON

    @cached_property
    def _by_name_only(self) -> dict[tuple[str, str], list[Fun]]:
        Found = tuple[dict[tuple[str, str], list[Fun]], dict[str, tuple[tuple[str, str], ...]]]

        def found() -> Found:
            functions: dict[tuple[str, str], list[Fun]] = {}
            keys: dict[str, dict[tuple[str, str], None]] = {}
            one: dict[tuple[str, str], tuple[str, str]] = {}
            for fn in self.program.starts():
                key = (fn.module.language, fn.name)
                key = one.setdefault(key, key)
                functions.setdefault(key, []).append(fn)
                keys.setdefault(fn.module.path, {})[key] = None
            return functions, {path: tuple(own) for path, own in keys.items()}

        def renewed(known: Found) -> Found:
            functions, keys = dict(known[0]), dict(known[1])
            fresh, own = found()
            for path in self.program.focus or ():
                for key in keys.pop(path, ()):
                    functions[key] = [fn for fn in functions[key] if fn.module.path != path]
            for key, more in fresh.items():
                functions[key] = [*functions.get(key, ()), *more]
            return functions, keys | own

        return self.program.kept("functions by name", found, renewed)[0]

    @property
    def learned(self) -> tuple[frozenset[tuple[str, str]], frozenset[Fun]]:
        """What `learn` and `receive` have taken note of."""
        return frozenset(self._carriers), frozenset(self._receivers)

    def learn(self, carriers: set[tuple[str, str]]) -> None:
        """Take note of functions that may give a hash, by language and name. To be called before any question.

        Bodies are entered for a hash only where one of these is called: else every question would lead through the whole program.
        """
        self._carriers |= carriers

    def receive(self, receivers: Iterable[Fun]) -> None:
        """Take note of functions that may be passed a hash: their callers are asked for one. To be called before any question."""
        self._receivers.update(receivers)

    def uses(self, fn: Fun, giving: Container[Fun]) -> Uses:
        """What becomes of hashes in a function, by names alone. `giving`: function literals known to give one."""
        hashed: set[str] = set()
        module, language = fn.module, fn.module.language
        received = fn in self._receivers

        def tells(last: str) -> bool:
            return self.may_hash(last, module) or (language, last) in self._carriers

        def rests(expr: Any, names: bool = False, depth: int = 0) -> bool:
            """Whether a value may be made from a hash; with `names` also one that is only called so, or passed in."""
            if depth > 12:
                return False
            match expr:
                case f.Ref():
                    return expr.name in hashed or (names and self._may_be_passed(expr, fn, received))
                case f.Call():
                    last = last_name(expr.fn)
                    if tells(last):
                        return True
                    receiver = receiver_of(expr)
                    if receiver is not None and rests(receiver, False, depth + 1):
                        return True
                    return self._may_pass_on(last, language) and any(rests(arg.value, names, depth + 1) for arg in expr.args)
                case f.Bin() if expr.op not in _VERDICTS:
                    if isinstance(expr.left, f.Lit) and isinstance(expr.left.value, str):
                        return False
                    return rests(expr.left, names, depth + 1) or rests(expr.right, names, depth + 1)
                case f.Index() | f.Slice():
                    return rests(expr.base, names, depth + 1)
                case f.Field():
                    return rests(expr.base, False, depth + 1)
                case f.Cond():
                    return rests(expr.then, names, depth + 1) or rests(expr.orelse, names, depth + 1)
                case f.Cast() | f.Let() | f.Await():
                    return rests(expr.value, names, depth + 1)
                case f.Un() if expr.op not in ("not", "!"):
                    return rests(expr.value, names, depth + 1)
                case f.Coll() if expr.kind != "map":
                    return any(rests(pair.value, names, depth + 1) for pair in expr.items)
                case f.Comp():
                    return rests(expr.elt, names, depth + 1)
                case f.Fn():
                    return module.functions[expr.index] in giving
            return False

        def sorts_by(expr: Any) -> bool:
            return any(
                (isinstance(node, f.Fn) and module.functions[node.index] in giving)
                or (isinstance(node, f.Ref) and tells(node.name.rpartition(".")[2]))
                for node in walk(expr)
            ) or rests(expr)

        statements = list(_statements(fn.block))
        assigned = [stmt for stmt in statements if isinstance(stmt, f.Assign) and stmt.value is not None]
        for _ in range(2):
            for stmt in assigned:
                if rests(stmt.value):
                    hashed |= {target.name for target in stmt.targets if isinstance(target, f.Ref)}
        passed: set[str] = set()
        gives = chooses = ranks = False
        for stmt in statements:
            match stmt:
                case f.Return() if stmt.value is not None:
                    value = stmt.value
                    gives = gives or rests(value)
                    if not gives and fn.head.kind == "lambda" and isinstance(value, f.Bin):  # a comparator
                        gives = rests(value.left) or rests(value.right)
                case f.Assign() if stmt.op in ("%", "&"):
                    chooses = chooses or any(rests(target, True) for target in stmt.targets)
                case f.Loop() if stmt.form == "each" and not chooses and self.compares(fn):
                    tests = (inner.test for inner in _statements(stmt.body) if isinstance(inner, f.If))
                    chooses = any(
                        isinstance(part, f.Bin) and part.op in _COMPARISONS and (rests(part.left, True) or rests(part.right, True))
                        for test in tests
                        for part in walk(test)
                    )
        # Expressions are gone into only where something of the kind is in them.
        if self.sorts_in(fn) or self.takes_remainder(fn) or self._may_pass(fn):
            for node in walk_block(fn.block):
                if isinstance(node, f.Call):
                    last = last_name(node.fn)
                    if any(rests(arg.value) for arg in node.args):
                        passed.add(last)
                    if last in MODULO:
                        chooses = chooses or any(rests(arg.value, True) for arg in node.args)
                    elif last in BEST or _SORTS.match(last):
                        ranks = ranks or any(sorts_by(arg.value) for arg in node.args)
                elif isinstance(node, f.Bin) and node.op in ("%", "&"):
                    chooses = chooses or rests(node.left, True)
        return Uses(gives and self._gives_number(fn), chooses, ranks, frozenset(passed))

    def takes_remainder(self, fn: Fun) -> bool:
        """Whether its header or encoded body shows a remainder or a mask."""
        return holds(fn, _REMAINDERS) or any(c.rpartition(".")[2] in MODULO for c in fn.head.calls)

    @staticmethod
    def compares(fn: Fun) -> bool:
        """Whether its encoded body shows a comparison by size."""
        return holds(fn, _SIZES)

    def sorts_in(self, fn: Fun) -> bool:
        """Whether its header shows a call that sorts or takes the best."""
        return any(self.sorts(c) or c.rpartition(".")[2] in BEST for c in fn.head.calls)

    def _may_pass(self, fn: Fun) -> bool:
        """Whether it calls a function that could take the remainder of what it is given."""
        language = fn.module.language
        return any(self._may_choose((language, c.rpartition(".")[2])) for c in fn.head.calls)

    def _may_choose(self, own: tuple[str, str]) -> bool:
        known = self._choosing.get(own)
        if known is None:
            found = self._by_name_only.get(own, ())
            known = len(found) <= _COMMON and any(len(fn.positional) > 0 and self.takes_remainder(fn) for fn in found)
            self._choosing[own] = known
        return known

    def _may_pass_on(self, last: str, language: str) -> bool:
        """Whether what a call gives may rest on the hash it is given: outside the program always, inside where it computes."""
        known = self._passing.get((language, last))
        if known is None:
            found = self._by_name_only.get((language, last), ())
            known = last not in _NO_VALUE and (not found or any(holds(fn, _ARITHMETIC) for fn in found[:_COMMON]))
            self._passing[language, last] = known
        return known

    @staticmethod
    def _gives_number(fn: Fun) -> bool:
        """Whether a function may give a hash by the types it declares: numbers, bytes and texts do, and what they are made into."""
        if fn.head.kind == "lambda" or not fn.head.returns:
            return fn.head.kind == "lambda" or fn.module.language == "python"
        return any(
            kind.shape not in ("map", "chan", "fn")
            and kind.name.rpartition(".")[2] not in ("bool", "boolean", "void", "error", "Boolean", "None", "dict")
            for kind in fn.head.returns
        )

    def _may_be_passed(self, ref: f.Ref, fn: Fun, received: bool) -> bool:
        last = ref.name.rpartition(".")[2]
        return (ref.name in fn.params and (received or words(last)[-1:] in (("id",), ("key",), ("uid",)))) or self._says_hash(last)

    def _may_carry(self, fn: Fun) -> bool:
        known = self._may_give.get(fn)
        if known is None:
            known = self._may_give[fn] = fn in self.hashers or self.calls_carrier(fn)
        return known

    def calls_carrier(self, fn: Fun) -> bool:
        """Whether its header shows a call of a function that may give a hash."""
        language = fn.module.language
        return any((language, c.rpartition(".")[2]) in self._carriers for c in fn.head.calls)

    def hashing(self, expr: f.Expr, frame: Frame) -> Hashing | None:
        """The hash that an expression's value rests on."""
        found: Hashing | None = self._ask(("hash", _key(expr), frame), lambda: self._hashing(expr, frame), None, None)
        return found

    def _hashing(self, expr: f.Expr, frame: Frame) -> Hashing | None:
        match expr:
            case f.Call():
                return self._hash_call(expr, frame)
            case f.Ref():
                return self._hash_name(expr, frame)
            case f.Fn() | f.Lit():
                return None
            case f.Index() if isinstance(expr.base, f.Ref | f.Call | f.Field):
                return self.hashing(expr.base, frame)
        for child in _expressions(expr):
            found = self.hashing(child, frame)
            if found is not None:
                return found
        return None

    def _hash_call(self, call: f.Call, frame: Frame) -> Hashing | None:
        fn = frame.fn
        last = last_name(call.fn)
        if last.lower() in _LOOKUPS:  # what lies under a hash is none
            return None
        table = self.resolver.table(fn.module)
        named = self.may_hash(last, fn.module)
        held = isinstance(call.fn, f.Ref) and (call.fn.name in fn.params or call.fn.name in fn.body.definitions)
        known = False
        wanted = named or held or (fn.module.language, last) in self._carriers
        for thing, binds in self.resolver.targets(call, frame) if wanted else ():
            name = self.resolver.canonical(thing) if isinstance(thing, Ext | Bound) else ""
            row = table.hash(name) if name else None
            if row is not None and row.scheme == "hash":
                process, why = self.stability(row.kind, row.value, name, call, binds, frame)
                roots = frozenset(h for a in call.args for h in heads(a.value)) or self._fed(call, frame)
                hops = (self.hop(fn, call, why or f"{short(name)} hashes"),)
                return Hashing(process, why, fn, call, False, roots, hops, self.checked(name, fn))
            if isinstance(thing, FnVal) and not thing.fn.head.is_abstract:
                known = True
                inner = self.resolver.enter(thing, call, frame, binds)
                found = self._in_function(inner)
                if found is not None:
                    roots = frozenset(h for a in call.args for h in heads(a.value))
                    return found._replace(
                        roots=roots, hops=(*found.hops, self.hop(fn, call, f"{thing.fn.head.qual} gives the hash"))[:6]
                    )
        for arg in call.args:
            found = self.hashing(arg.value, frame)
            if found is not None:
                return found if self._passes_on(call, frame) else None
        receiver = receiver_of(call)
        if last in _OWN_HASH and not call.args and receiver is not None and not known:
            process, why = self.stability("contents", -1, last, call, (), frame)
            return Hashing(process, why, fn, call, False, frozenset(heads(receiver)), (self.hop(fn, call, why or "hashes"),))
        if receiver is not None and not self._imported(call, frame):
            found = self.hashing(receiver, frame)
            if found is not None:
                return found._replace(roots=found.roots.union(*(heads(a.value) for a in call.args)))
        if named and not known and call.args:
            roots = frozenset(h for a in call.args for h in heads(a.value))
            return Hashing(None, "", fn, call, True, roots, (self.hop(fn, call, f"{dotted(call.fn) or last} hashes, by its name"),))
        return None

    def checked(self, name: str, fn: Fun) -> bool:
        """Whether what knowledge says of a call was checked against its library."""
        table = self.resolver.table(fn.module)
        entry = table.call(name)
        return entry is None or table.cap(entry) is None

    def _passes_on(self, call: f.Call, frame: Frame) -> bool:
        """Whether what a call gives rests on the hash it is given: always outside the program, inside as its returns say."""
        entered = False
        for thing, binds in self.resolver.targets(call, frame):
            if isinstance(thing, FnVal) and not thing.fn.head.is_abstract:
                entered = True
                inner = self.resolver.enter(thing, call, frame, binds)
                if inner.args is not None and any(
                    stmt.value is not None and self.hashing(stmt.value, inner) is not None for stmt, _ in thing.fn.body.returns
                ):
                    return True
        return not entered

    def _fed(self, call: f.Call, frame: Frame) -> frozenset[str]:
        """What was written into a hash object: `h.Write(x)`, `crc.update(x)`."""
        receiver = receiver_of(call)
        name = dotted(receiver) if receiver is not None else ""
        roots: set[str] = set()
        for site in frame.fn.body.calls:
            on = receiver_of(site.call)
            if name and on is not None and dotted(on) == name and site.call is not call:
                roots |= {h for a in site.call.args for h in heads(a.value)}
        return frozenset(roots)

    def _hash_name(self, ref: f.Ref, frame: Frame) -> Hashing | None:
        fn, body = frame.fn, frame.fn.body
        if ref.name in body.definitions:
            for d in body.reaching(ref.name, ref.at)[0]:
                if d.expr is not None and d.kind in ("value", "aug") and not (d.item and d.item[0]):
                    found = self.hashing(d.expr, frame)
                    if found is not None:
                        return found
        if ref.name in fn.params:
            param = fn.params[ref.name]
            if frame.args is not None:
                bind, _ = self.resolver.argument(param, frame.args, fn)
                return self.hashing(bind.expr, bind.frame) if bind is not None else None
            for _, _, args, _ in self.resolver.callers(fn)[0][:8] if fn in self._receivers else ():
                bind, _ = self.resolver.argument(param, args, fn)
                if bind is not None:
                    found = self.hashing(bind.expr, bind.frame)
                    if found is not None:
                        return found._replace(
                            hops=(*found.hops, self.hop(bind.frame.fn, bind.expr, f"passed to {fn.head.qual} as `{param.name}`"))[
                                :6
                            ]
                        )
            if self.words.first("hash", words(ref.name)):
                return Hashing(
                    None, "", fn, ref, True, frozenset((ref.name,)), (self.hop(fn, ref, f"`{ref.name}` is a hash, by its name"),)
                )
        elif "." not in ref.name and fn.parent is not None and ref.name not in body.definitions:
            return self._hash_name(f.Ref(fn.head.at, fn.head.at, ref.name), self.resolver.frame(fn.parent))
        return None

    # ------------------------------------------------------------ how far a hash is the same elsewhere

    def stability(
        self, kind: str, value: int | None, name: str, call: f.Call, binds: tuple[Bind, ...], frame: Frame
    ) -> tuple[bool | None, str]:
        """Whether every process has a hash of its own (`None`: not known), and why."""
        if kind == "process":
            return True, f"{short(name)} differs between processes"
        if kind == "stable":
            return False, ""
        hashed = [b.expr for b in binds] if value is None else [binds[value].expr] if 0 <= value < len(binds) else []
        if value == -1:
            receiver = receiver_of(call)
            hashed = [receiver] if receiver is not None else []
        answers = [self._of_contents(expr, frame) for expr in hashed]
        for answer, why in answers:
            if answer:
                return True, f"{short(name)} of {why} differs between processes"
        if answers and all(answer is False for answer, _ in answers):
            return False, ""
        return None, ""

    def _of_contents(self, expr: f.Expr, frame: Frame, depth: int = 0) -> tuple[bool | None, str]:
        language = frame.fn.module.language
        text = language == "python"
        if isinstance(expr, f.Fmt) or (isinstance(expr, f.Lit) and isinstance(expr.value, str)):
            return text, "text" if text else ""
        if isinstance(expr, f.Lit):
            return False, ""
        if isinstance(expr, f.Coll):
            answers = [self._of_contents(pair.value, frame, depth + 1) for pair in expr.items] if depth < 4 else []
            return next(
                (a for a in answers if a[0]), (False, "") if answers and all(a[0] is False for a in answers) else (None, "")
            )
        if isinstance(expr, f.Call):
            last = last_name(expr.fn)
            if last in ("int", "len", "abs", "round", "ord"):
                return False, ""
            if last in (
                "str",
                "repr",
                "encode",
                "format",
                "lower",
                "upper",
                "strip",
                "join",
                "hex",
                "bytes",
                "title",
                "isoformat",
                "toString",
                "name",
                "trim",
            ):
                return text, "text" if text else ""
        kind = self.resolver.static_type(expr, frame.fn)
        if kind is None and isinstance(expr, f.Ref):
            kind = self._declared_type(expr, frame.fn)
        if kind is not None and kind.shape in ("plain", "opt"):
            if language == "java":
                return self._java_type(kind, frame.fn)
            bare = kind.name.rpartition(".")[2]
            if bare in ("str", "bytes", "datetime", "date", "Path", "UUID") and bare != "UUID":
                return text, "text" if bare in ("str", "bytes") else f"a {bare}"
            if bare in ("int", "bool", "float", "UUID"):
                return False, ""
        things = [x.thing for x in self.resolver.ask(expr, frame)]
        if things and all(isinstance(t, Text | Env) for t in things):
            return text, "text" if text else ""
        if things and all(isinstance(t, Num) for t in things):
            return False, ""
        if text and isinstance(expr, f.Ref):
            name = words(expr.name.rpartition(".")[2])
            if name and name[-1] in (
                "key",
                "name",
                "url",
                "uri",
                "path",
                "host",
                "email",
                "text",
                "topic",
                "slug",
                "token",
                "session",
            ):
                return True, f"`{expr.name}`"
        return None, ""

    def _declared_type(self, ref: f.Ref, fn: Fun) -> f.Type | None:
        scope: Fun | None = fn
        while scope is not None:
            if ref.name in scope.params:
                return scope.params[ref.name].type
            scope = scope.parent
        return None

    def _java_type(self, kind: f.Type, fn: Fun) -> tuple[bool | None, str]:
        """How far `hashCode` of a Java type is the same elsewhere."""
        if kind.name in ("int", "long", "short", "byte", "char", "boolean", "double", "float", "String"):
            return False, ""
        found = self.resolver.resolve_type(kind, fn)
        if isinstance(found, Klass):
            if found.decl.kind == "enum":
                return True, f"the enum {found.name}"
            if found.decl.kind == "record":
                answers = [self._java_type(x.type, fn) for x in found.decl.fields if x.type is not None and not x.is_static]
                return next(
                    (a for a in answers if a[0]), (False, "") if answers and all(a[0] is False for a in answers) else (None, "")
                )
            bases, external = self.resolver.mro(found)
            if (
                found.decl.kind == "class"
                and not external
                and not any("hashCode" in k.methods for k in bases)
                and not found.decl.decorators
            ):
                return True, f"{found.name}, which has no hashCode of its own,"
            return None, ""
        if isinstance(found, str):
            entry = self.program.knowledge.of("java").type(found)
            if entry is not None and entry.hash is not None:
                return {"process": True, "stable": False}.get(entry.hash), f"a {found.rpartition('.')[2]}"
        return None, ""


# ---------------------------------------------------------------- helpers


def merged(ways: Iterable[Members]) -> Ways:
    """Ways that differ in what matters, the first of each; ways that say nothing only where no other is."""
    seen: dict[Any, Members] = {}
    for way in ways:
        key = (way.source, way.order, way.views, way.ranked is not None, way.container, way.texts)
        old = seen.get(key)
        seen[key] = way if old is None else old._replace(names=old.names | way.names)
        if len(seen) >= _WAYS:
            break
    telling = [w for w in seen.values() if _tells(w)]
    names = frozenset(n for w in seen.values() for n in w.names)
    if telling:
        return tuple(w._replace(names=w.names | names) if not w.names else w for w in telling)
    return tuple(seen.values())[:1]


def _within_reach(name: str, module: Module) -> bool:
    """Whether a file imports what a canonical name belongs to."""
    if name.startswith(("<builtin>.", "java.lang.")):
        return True
    if module.language == "go":
        folder, _, rest = name.rpartition("/")
        package = f"{folder}/{rest.partition('.')[0]}" if folder else rest.partition(".")[0]
        return any(imp.target == package or imp.target.startswith(package + "/") for imp in module.facts.imports)
    if module.language == "java":
        types = [part for part in name.split(".") if part[:1].isupper()]
        package = name.partition("." + types[0])[0] if types else name
        return any(kind in module.imports for kind in types) or any(
            i.name == "*" and i.target == package for i in module.facts.imports
        )
    top = name.partition(".")[0]
    return any(imp.target.partition(".")[0] == top for imp in module.facts.imports)


def _naming(names: Iterable[str], stems: Iterable[str]) -> list[str]:
    """Names that hold one of these stems, in any case: found in one text of them all, which is much faster than name by name."""
    shortest: list[str] = []
    for stem in sorted(stems, key=lambda s: (len(s), s)):
        if not any(known in stem for known in shortest):
            shortest.append(stem)
    text = "\n".join(names) + "\n"
    low = text.lower()
    if len(low) != len(text):  # letters that change their length
        low = text
    found: dict[str, None] = {}
    for stem in shortest:
        at = low.find(stem)
        while at >= 0:
            end = text.index("\n", at)
            found[text[text.rfind("\n", 0, at) + 1 : end]] = None
            at = low.find(stem, end)
    return list(found)


def _statements(block: f.Block) -> Iterator[Any]:
    """Every statement of a block, in the order written, without what is inside expressions."""
    stack: list[Any] = list(reversed(block))
    while stack:
        top = stack.pop()
        if isinstance(top, f.Stmt):
            yield top
        stack.extend(reversed([c for c in children(top) if isinstance(c, f.Stmt | f.Case | f.Comm | f.Handler)]))


def speaks(fn: Fun, stems: Iterable[bytes]) -> bool:
    """Whether one of these words is part of a name in its encoded body: `ring` in `hash_ring`, not in `string`."""
    return fn.says(Scan("stem", tuple(stems)))


def holds(fn: Fun, pattern: re.Pattern[bytes]) -> bool:
    """Whether its body, as it lies encoded, holds a text: those that hold none need not be decoded."""
    return fn.says(matching(pattern))


def _tells(way: Members) -> bool:
    return way.source != "unknown" or bool(way.views) or way.order != "unknown" or way.ranked is not None


def receiver_of(call: f.Call) -> f.Expr | None:
    """What a method is called on."""
    if isinstance(call.fn, f.Field):
        return call.fn.base
    if isinstance(call.fn, f.Ref) and "." in call.fn.name:
        base = call.fn.name.rpartition(".")[0]
        return _ref(call.fn, base)
    return None


def _key(expr: f.Expr) -> Any:
    """What an expression is remembered by: names by what they say, since some are made up on the way."""
    return (expr.name, expr.at, expr.end) if isinstance(expr, f.Ref) else id(expr)


def _ref(node: f.Ref, name: str) -> f.Ref:
    return f.Ref(node.at, node.at + len(name), name)


def _own_name(node: Any) -> str:
    if isinstance(node, f.Ref | f.Field):
        return node.name
    if isinstance(node, f.Lit) and isinstance(node.value, str) and len(node.value) < 40:
        return node.value
    return ""


def _text_name(expr: f.Expr | None) -> str:
    if isinstance(expr, f.Call):
        return last_name(expr.fn)
    if isinstance(expr, f.Field):
        return f"{_text_name(expr.base)}.{expr.name}"
    return dotted(expr)


def heads(expr: Any) -> set[str]:
    """First segments of the names in an expression."""
    if expr is None:
        return set()
    return {n.name.partition(".")[0] for n in walk(expr) if isinstance(n, f.Ref)}


def _loop(arm: Arm) -> f.Loop:
    assert isinstance(arm.node, f.Loop)
    return arm.node


def _expressions(expr: Any) -> Iterator[f.Expr]:
    for child in children(expr):
        if isinstance(child, f.Node):
            yield child  # type: ignore[misc]
        elif isinstance(child, f.Pair | f.Arg):
            yield child.value


def _scopes(fn: Fun) -> Iterator[Fun]:
    """A function and the functions inside it."""
    yield fn
    for other in fn.module.functions[fn.index + 1 :]:
        if other.head.at >= fn.head.end:
            break
        if other.head.end <= fn.head.end:
            yield other


def _parts(test: f.Expr, truth: bool) -> Iterator[tuple[f.Expr, bool]]:
    """The tests that must hold for a whole test to come out so; of alternatives all."""
    if isinstance(test, f.Un) and test.op == "not":
        yield from _parts(test.value, not truth)
    elif isinstance(test, f.Bin) and test.op in ("and", "or"):
        yield from _parts(test.left, truth)
        yield from _parts(test.right, truth)
    else:
        yield test, truth


def short(name: str) -> str:
    """A canonical name as people say it: `Objects.hash`, `maphash.String`."""
    parts = name.rpartition("/")[2].removeprefix("<builtin>.").split(".")
    return ".".join(parts[-2:] if "/" not in name else parts)
