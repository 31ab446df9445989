"""What collections hold: literals, what is stored into them later, and by whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import resilint.facts as f
from resilint.flow.values import Bind, Env, Ext, Flow, Flows, FnVal, Frame, Num, Obj, Text, Thing, Unknown, counted, union, unknown
from resilint.link.code import STAR, Arm, Body, Definition, Fun, Klass, Module, place_of

if TYPE_CHECKING:
    from resilint.flow.resolve import Resolver

_PUTS = {
    "append": "put",
    "appendleft": "put",
    "add": "put",
    "insert": "put",
    "put": "put",
    "put_nowait": "put",
    "extend": "all",
    "extendleft": "all",
    "update": "update",
    "setdefault": "key",
}
"""Methods that put their argument into what they are called on, by how."""
_SEQUENCES = ("list", "tuple")
_PASS_ELEMENTS = frozenset(
    {"<builtin>.enumerate", "<builtin>.zip", "<builtin>.filter", "itertools.chain", "itertools.islice", "<builtin>.iter"}
)
_MAKERS = frozenset(
    {
        "<builtin>.dict",
        "<builtin>.list",
        "<builtin>.set",
        "<builtin>.make",
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.deque",
        "queue.Queue",
        "asyncio.Queue",
        "weakref.WeakValueDictionary",
    }
)
"""Calls that make an empty collection, or one of what they are given."""
FAR = 1 << 60
FILES = 12
"""Where more files than this store into collections of one name, only those that can know the file which made it are asked."""

Keys = tuple[list[Thing], ...]
"""What is known of the keys of an access, outermost first; an empty list: nothing."""


_ROUNDS = 2
"""How often a generator is entered while it is asked what it gives."""
_STEPS = 4_000
"""Things that one question asks for their elements before the rest is not known."""


class Store(NamedTuple):
    """A place of a body where something is put into a collection."""

    at: int
    arm: Arm
    how: str
    """`item` under `keys`; `put` somewhere; `all` elements of the value; `update` items of a mapping."""
    keys: tuple[f.Expr, ...]
    value: f.Expr
    item: tuple[int, ...] = ()


_ENVIRONMENT = "os.environ"
"""Python's mapping of environment variables: what an element of it is, deployments say."""


class Elements:
    """Questions about elements, beside a resolver."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self._asked: set[tuple[object, ...]] = set()
        self._steps = 0
        self._delegating: list[Fun] = []
        self._stores: dict[Fun, dict[str, list[Store]]] = {}
        self._users: dict[str, list[Fun]] | None = None
        self._by_file: dict[str, dict[Module, list[Fun]]] = {}
        self._ranges: dict[tuple[int, int, int], f.Coll] = {}

    # ------------------------------------------------------------ access

    def index(self, expr: f.Index, frame: Frame) -> Flows:
        """`base[key]`."""
        keys = self._chain(expr, frame)
        place = place_of(expr.base)
        out: list[Flow] = []
        if place:
            stored, sure = self._kept(place, keys, frame, expr.at)
            if sure:
                return union(stored)
            out.extend(stored)
        for flow in self.resolver.value(expr.base, frame):
            out.extend(self.of(flow, frame, keys[-1], expr.at))
        return _best(out) or unknown("an element that nothing here stores")

    def each(self, expr: f.Expr, frame: Frame) -> Iterator[Flow]:
        """Elements of what an expression may be that are stored under the name it has here, and cannot be found otherwise."""
        place = place_of(expr)
        if place.endswith("[]") and isinstance(expr, f.Index):
            stored, _ = self._kept(place, (*self._chain(expr, frame), []), frame, expr.at)
            yield from stored

    def _chain(self, expr: f.Expr, frame: Frame) -> Keys:
        if not isinstance(expr, f.Index):
            return ()
        things = [flow.thing for flow in self.resolver.value(expr.key, frame)]
        known = things if all(isinstance(thing, Num | Text) for thing in things) else []
        return (*self._chain(expr.base, frame), known)

    def of(self, flow: Flow, frame: Frame, keys: list[Thing] | None = None, here: int = FAR) -> Iterator[Flow]:
        """Elements of a thing; with constant keys only those, where they are known. `here`: where in the body of `frame`."""
        key = (flow.thing, frame, tuple(keys or ()), here)
        if key in self._asked:  # `options = {**options, …}` in a loop, `tasks = list(tasks)`: it holds itself
            return
        self._steps = self._steps + 1 if self._asked else 0
        if self._steps > _STEPS:  # `b = dict(a); b.update(a)`, and so on: each copy asks the one before it twice
            yield Flow(Unknown("an element of a copy of many copies"), flow.hops)
            return
        self._asked.add(key)
        try:
            found = list(self._of(flow, frame, keys, here))
        finally:
            self._asked.discard(key)
        yield from found

    def _of(self, flow: Flow, frame: Frame, keys: list[Thing] | None = None, here: int = FAR) -> Iterator[Flow]:
        thing = flow.thing
        if isinstance(thing, Ext) and thing.name == _ENVIRONMENT:
            yield from (flow._replace(thing=Env((isinstance(key, Text) and key.whole) or "?")) for key in keys or [Text(None)])
            return
        if isinstance(thing, Obj) and isinstance(thing.type, str) and thing.type:
            part = self.resolver.part(thing, "[]", frame)
            if part is not None:
                yield flow._replace(thing=part)
                return
        if isinstance(thing, Obj) and thing.frame is not None:
            node = thing.node
            if isinstance(node, f.Coll):
                yield from self._of_literal(thing, node, thing.frame, keys or [], here if frame.fn is thing.frame.fn else FAR)
                return
            if isinstance(node, f.Comp):
                yield from self.resolver.value(node.elt, thing.frame)
                return
            if thing.kind == "gen" and isinstance(node, Frame):
                yield from self._yielded(node)
                return
            if thing.kind == "outside" and isinstance(node, f.Type | tuple):
                return
            if thing.kind == "rest" and thing.binds is not None:
                yield from self._of_rest(thing.binds, keys or [])
                return
            if thing.kind in ("call", "appended") and isinstance(node, f.Call):
                found = self._of_call(thing, node, thing.frame, keys or [])
                if found is not None:
                    yield from found
                    return
            if isinstance(thing.type, Klass):
                yield from self._of_object(thing, frame)
                return
        yield Flow(Unknown("an element of something unknown"), flow.hops)

    def _yielded(self, frame: Frame) -> Iterator[Flow]:
        if self._delegating.count(frame.fn) >= _ROUNDS:
            # A generator that delegates to itself, under arguments that differ each time: every way through it doubles the next.
            yield Flow(Unknown("a generator that delegates to itself"))
            return
        self._delegating.append(frame.fn)
        try:
            found = list(self._given(frame))
        finally:
            self._delegating.pop()
        yield from found

    def _given(self, frame: Frame) -> Iterator[Flow]:
        for y in frame.fn.body.yields:
            if y.value is not None and not y.delegate:
                yield from self.resolver.value(y.value, frame)
            elif y.value is not None:
                for inner in self.resolver.value(y.value, frame):
                    yield from self.of(inner, frame)

    def _of_rest(self, binds: tuple[Bind, ...], keys: list[Thing]) -> Iterator[Flow]:
        """`*args[i]`, `**kwargs[k]`."""
        names = [key.whole for key in keys if isinstance(key, Text)]
        spread = any(bind.spread for bind in binds)
        for position, bind in enumerate(binds):
            if bind.spread:
                for flow in self.resolver.value(bind.expr, bind.frame):
                    yield from self.of(flow, bind.frame, keys if bind.spread == 2 else None)
                continue
            if bind.name is not None and names and bind.name not in names:
                continue
            numbers = _indices(keys)
            if bind.name is None and numbers and not spread and position not in {n % len(binds) for n in numbers}:
                continue
            yield from self.resolver.value(bind.expr, bind.frame)

    def _of_call(self, thing: Obj, node: f.Call, frame: Frame, keys: list[Thing]) -> Iterator[Flow] | None:
        args = self.resolver.binds(node, frame)
        if thing.kind == "appended":
            return self._spread(args[1:])
        if thing.maker in _PASS_ELEMENTS:
            return self._inside(args)
        if thing.maker == "<builtin>.map":
            return self._mapped(args, node, frame)
        if thing.maker in _MAKERS:
            return self._made(thing, args, keys)
        return None

    def _spread(self, args: tuple[Bind, ...]) -> Iterator[Flow]:
        for bind in args:
            for flow in self.resolver.value(bind.expr, bind.frame):
                if bind.spread:
                    yield from self.of(flow, bind.frame)
                else:
                    yield flow

    def _inside(self, args: tuple[Bind, ...]) -> Iterator[Flow]:
        for bind in args:
            for flow in self.resolver.value(bind.expr, bind.frame):
                yield from self.of(flow, bind.frame)

    def _mapped(self, args: tuple[Bind, ...], node: f.Call, frame: Frame) -> Iterator[Flow]:
        for bind in args:
            for flow in self.resolver.value(bind.expr, bind.frame):
                if isinstance(flow.thing, FnVal):
                    yield from self.resolver.returned(flow.thing, node, frame, self.resolver.given_elements(args, bind))

    def _made(self, thing: Obj, args: tuple[Bind, ...], keys: list[Thing]) -> Iterator[Flow]:
        if thing.maker in ("<builtin>.dict", "collections.OrderedDict", "<builtin>.list", "<builtin>.set", "collections.deque"):
            for bind in args:
                if bind.name is None:
                    for flow in self.resolver.value(bind.expr, bind.frame):
                        yield from self.of(flow, bind.frame, keys)
                elif not keys or any(isinstance(key, Text) and key.whole == bind.name for key in keys):
                    yield from self.resolver.value(bind.expr, bind.frame)
        yield from self.added(thing, keys)

    def _of_object(self, thing: Obj, frame: Frame) -> Iterator[Flow]:
        site = thing.node if isinstance(thing.node, f.Node) else f.Ref(frame.fn.head.at, frame.fn.head.end, "")
        for target in self.resolver.method(thing, "__getitem__"):
            yield from self.resolver.returned(target, site, frame, ())
        iterators = self.resolver.method(thing, "__iter__")
        for target in iterators:
            for flow in self.resolver.returned(target, site, frame, ()):
                if isinstance(flow.thing, Obj) and isinstance(flow.thing.type, Klass):
                    yield from self._next(flow.thing, site, frame)
                else:
                    yield from self.of(flow, frame)
        if not iterators:
            yield from self._next(thing, site, frame)

    def _next(self, thing: Obj, site: f.Node, frame: Frame) -> Iterator[Flow]:
        for target in self.resolver.method(thing, "__next__"):
            yield from self.resolver.returned(target, site, frame, ())

    # ------------------------------------------------------------ literals

    def _of_literal(self, thing: Obj, node: f.Coll, frame: Frame, keys: list[Thing], here: int) -> Iterator[Flow]:
        pairs = list(node.items)
        inside = False
        if keys and node.kind == "map":
            pairs = list(self._under(node, frame, keys))
        elif keys and node.kind in _SEQUENCES and not any(p.spread for p in pairs):
            numbers = _indices(keys)
            pairs = [pairs[n] for n in numbers if -len(pairs) <= n < len(pairs)]
            inside = len(pairs) == len(numbers) and all(n >= 0 for n in numbers)
        stored, sure = self._added_here(thing, keys, here, inside)
        if not sure:
            for pair in pairs:
                if pair.spread:
                    for inner in self.resolver.value(pair.value, frame):
                        yield from self.of(inner, frame, keys)
                else:
                    yield from self.resolver.value(pair.value, frame)
        yield from stored

    def _under(self, node: f.Coll, frame: Frame, keys: list[Thing]) -> Iterator[f.Pair]:
        """Pairs of a map literal under one of the keys; where none is, those whose keys are not known."""
        wanted: list[f.Pair] = []
        others: list[f.Pair] = []
        for pair in node.items:
            if pair.key is None:
                others.append(pair)
                continue
            have = [flow.thing for flow in self.resolver.value(pair.key, frame)]
            if any(key in keys for key in have):
                wanted.append(pair)
            elif not all(isinstance(key, Num | Text) for key in have):
                others.append(pair)
        return iter(wanted or others)

    def parts(self, thing: Obj, position: int) -> Flows | None:
        """An item of a list or tuple, counted from the end where negative, or what a starred target takes."""
        node = thing.node
        if not isinstance(node, f.Coll) or thing.frame is None or node.kind == "map":
            return None
        if position >= STAR:
            before, behind = divmod(position - STAR, 256)
            return (Flow(self.between(thing, before, len(node.items) - behind)),)
        spread = [i for i, pair in enumerate(node.items) if pair.spread]
        size = len(node.items)
        at = position if position >= 0 else size + position
        if not 0 <= at < size:
            return None
        if spread and not (at < spread[0] if position >= 0 else at > spread[-1]):
            return tuple(self.of(Flow(thing), thing.frame)) or None
        return self.resolver.value(node.items[at].value, thing.frame)

    def between(self, thing: Obj, low: int | None, high: int | None) -> Obj:
        """A list of a range of a list's items; the list itself where that is not known."""
        node = thing.node
        if not isinstance(node, f.Coll) or node.kind not in _SEQUENCES or any(pair.spread for pair in node.items):
            return thing
        items = node.items[low:high]
        key = (id(node), -1 if low is None else low, -1 if high is None else high)
        part = self._ranges.get(key)
        if part is None:
            part = self._ranges[key] = f.Coll(node.at, node.end, "list", items, len(items))
        return Obj("coll", "list", thing.frame, part, f"{low}:{high}")

    def slice(self, expr: f.Slice, frame: Frame) -> Flows:
        """`base[lo:hi]`."""
        bounds: list[int | None] = []
        for bound in (expr.lo, expr.hi):
            things = [flow.thing for flow in self.resolver.value(bound, frame)] if bound is not None else []
            if bound is None:
                bounds.append(None)
            elif len(things) == 1 and isinstance(things[0], Num):
                bounds.append(counted(things[0].number))
            else:
                return self.resolver.value(expr.base, frame)
        return union(
            flow._replace(thing=self.between(flow.thing, bounds[0], bounds[1])) if isinstance(flow.thing, Obj) else flow
            for flow in self.resolver.value(expr.base, frame)
        )

    # ------------------------------------------------------------ stores

    def stores(self, fn: Fun) -> dict[str, list[Store]]:
        """What a body puts into collections, by the place of the collection."""
        found = self._stores.get(fn)
        if found is None:
            found = self._stores[fn] = {}
            body = fn.body
            for name, definitions in body.definitions.items():
                if not name.endswith("[]"):
                    continue
                for d in definitions:
                    target = _target_of(d)
                    if target is not None and d.expr is not None:
                        keys: list[f.Expr] = []
                        inner: f.Expr = target
                        while isinstance(inner, f.Index):
                            keys.insert(0, inner.key)
                            inner = inner.base
                        found.setdefault(name[:-2], []).append(Store(d.at, d.arm, "item", tuple(keys), d.expr, d.item))
            for site in body.calls:
                self._note_call(site.call, site.arm, found)
            for stores in found.values():
                stores.sort(key=lambda store: store.at)
        return found

    @staticmethod
    def _note_call(call: f.Call, arm: Arm, found: dict[str, list[Store]]) -> None:
        if isinstance(call.fn, f.Ref):
            place, _, method = call.fn.name.rpartition(".")
        elif isinstance(call.fn, f.Field):
            place, method = place_of(call.fn.base), call.fn.name
        else:
            return
        how = _PUTS.get(method)
        if how is None or not place or not call.args:
            return
        stores = found.setdefault(place, [])
        if how == "key":
            if len(call.args) == 2:
                stores.append(Store(call.at, arm, "maybe", (call.args[0].value,), call.args[1].value))
        elif how == "update":
            for arg in call.args:
                if arg.name is not None:
                    key = f.Lit(arg.value.at, arg.value.at, arg.name)
                    stores.append(Store(call.at, arm, "item", (key,), arg.value))
                else:
                    stores.append(Store(call.at, arm, "update", (), arg.value))
        else:
            stores.append(Store(call.at, arm, how, (), call.args[-1].value))

    def _matches(self, store: Store, wanted: Keys, frame: Frame) -> int:
        """2: surely under these keys; 1: perhaps; 0: surely not."""
        if store.how not in ("item", "maybe"):
            return 1
        if len(store.keys) != len(wanted):
            # Stored through an outer name: only the last key can be compared.
            wanted = (*([[]] * (len(store.keys) - 1)), wanted[-1]) if wanted else ()
        answer = 2 if store.how == "item" else 1
        for key, want in zip(store.keys, wanted, strict=False):
            have = [flow.thing for flow in self.resolver.value(key, frame)]
            if not want or not all(isinstance(thing, Num | Text) for thing in have):
                answer = 1
            elif not any(thing in want for thing in have):
                return 0
            elif len(have) != 1 or len(want) != 1:
                answer = 1
        return answer

    def _values(self, store: Store, frame: Frame, keys: list[Thing]) -> tuple[Flows, bool]:
        """What a store puts there, and whether it surely does so under these keys."""
        flows = self.resolver.value(store.value, frame)
        if store.how in ("item", "maybe"):
            return self.resolver.project(flows, store.item, frame), True
        if store.how == "put":
            return flows, False
        out: list[Flow] = []
        sure = bool(keys) and store.how == "update"
        for flow in flows:
            got = tuple(self.of(flow, frame, keys))
            sure = sure and isinstance(flow.thing, Obj) and isinstance(flow.thing.node, f.Coll) and bool(got)
            out.extend(got)
        return union(out), sure

    def _kept(self, place: str, wanted: Keys, frame: Frame, here: int) -> tuple[list[Flow], bool]:
        """What this body stores at a place before `here`, latest first, and whether that is all there can be.

        For a place inside a place (`h[k]` of `h[k].append(x)`) other functions that share the outer name count too.
        """
        out: list[Flow] = []
        fn = frame.fn
        body = fn.body
        stores = self.stores(fn).get(place, ())
        if stores:
            root = place.partition("[")[0]
            reached, falls = body.reaching(root, here)
            since = min((d.at for d in reached), default=-1) if not falls else -1
            arms = body.arm_at(here).chain()
            for store in reversed(stores):
                if store.at < since or (store.at >= here and not _in_one_loop(store, arms)):
                    continue
                match = self._matches(store, wanted, frame)
                if not match:
                    continue
                got, whole = self._values(store, frame, wanted[-1])
                out.extend(got)
                if whole and (match == 2 or store.how == "update") and store.at < here and _surely(store, body, arms):
                    return out, True
        if "[" in place:
            for other in self._sharing(place, fn):
                inner = self.resolver.frame(other)
                for store in self.stores(other).get(place, ()):
                    if self._matches(store, wanted, inner):
                        out.extend(self._values(store, inner, wanted[-1])[0])
        return out, False

    def _sharing(self, place: str, fn: Fun) -> Iterator[Fun]:
        """Other functions that mean the same by a place: methods of the same class, functions with the same global."""
        name = place.partition("[")[0]
        head, _, rest = name.partition(".")
        owner = self.resolver.owner(fn)
        receiver = fn.head.params[0].name if fn.is_method else ""
        by_file = self._named(name.rpartition(".")[2])
        if rest and head == receiver and owner is not None:
            family = self.resolver.family(owner)
            for module in dict.fromkeys(klass.module for klass in family):
                for other in by_file.get(module, ()):
                    same_receiver = other is not fn and other.is_method and other.head.params[0].name == receiver
                    if same_receiver and self.resolver.owner(other) in family:
                        yield other
        elif not rest and not self._local(head, fn):
            for other in by_file.get(fn.module, ()):
                if other is not fn and not self._local(head, other):
                    yield other

    @staticmethod
    def _local(name: str, fn: Fun) -> bool:
        return fn.index > 0 and (name in fn.params or (name in fn.body.definitions and name not in fn.body.outer_names))

    def _named(self, last: str) -> dict[Module, list[Fun]]:
        """Functions that may store into a collection whose name ends so, by file."""
        if self._users is None:
            self._users = {}
            for module in self.resolver.names.modules.values():
                for fn in module.functions:
                    for name in {call.rpartition(".")[0].rpartition(".")[2] for call in fn.head.calls if _puts(call)}:
                        self._users.setdefault(name, []).append(fn)
        found = self._by_file.get(last)
        if found is None:
            found = self._by_file[last] = {}
            for fn in dict.fromkeys((*self._users.get(last, ()), *self.resolver.names.values_of.get(last, ()))):
                found.setdefault(fn.module, []).append(fn)
        return found

    def _in_sight(self, last: str, home: Module) -> Iterator[Fun]:
        """Functions that may store into a collection of another file under a name that ends so; where very many use one of that
        name, those of its own file and of files that import it."""
        by_file = self._named(last)
        many = len(by_file) > FILES
        homes = frozenset({home.path})
        for module, users in by_file.items():
            if module.language != home.language or (module.is_test and not home.is_test):
                continue
            if module is home or not many or self.resolver.imports_from(module, homes):
                yield from users

    # ------------------------------------------------------------ what is put into an object later

    def added(self, coll: Obj, keys: list[Thing] | None = None) -> Flows:
        """Everything that is put into a collection after it was made, anywhere."""
        return union(self._added_here(coll, keys or [], FAR, False)[0])

    def _added_here(self, coll: Obj, keys: list[Thing], here: int, inside: bool) -> tuple[list[Flow], bool]:
        """What is put into a collection, and whether nothing else can be under these keys.

        `inside`: the keys are positions of the literal, so that what is appended lies behind them.
        """
        frame = coll.frame
        if frame is None or not isinstance(coll.node, f.Node):
            return [], False
        fn = frame.fn
        body = fn.body
        names = _names_of(coll, fn)
        out: list[Flow] = []
        wanted = (keys,)
        local = [name for name in names if name in body.definitions]
        for name in local:
            for store in reversed(self.stores(fn).get(name, ())):
                if (inside and store.how in ("put", "all")) or not (match := self._matches(store, wanted, frame)):
                    continue
                arms = body.arm_at(here).chain() if here < FAR else []
                if store.at >= here and not _in_one_loop(store, arms):
                    continue
                got, whole = self._values(store, frame, keys)
                out.extend(got)
                first = all(d.at < store.at for d in body.definitions[name])
                if whole and (match == 2 or store.how == "update") and store.arm is body.root and first and store.at < here:
                    return out, True
        for name in names:
            out.extend(self._elsewhere(coll, name, keys, inside))
        return out, False

    def _elsewhere(self, coll: Obj, name: str, keys: list[Thing], inside: bool) -> Iterator[Flow]:
        """What other functions put into a collection that they know by a name: a global, an attribute, a free variable."""
        assert coll.frame is not None
        fn = coll.frame.fn
        last = name.rpartition(".")[2]
        local = fn.index > 0 and "." not in name
        for other in self._named(last).get(fn.module, ()) if local else self._in_sight(last, fn.module):
            if other is fn or (local and not other.is_inside(fn)):
                continue
            for place, stores in self.stores(other).items():
                if place.rpartition(".")[2] != last or "[" in place:
                    continue
                inner = self.resolver.frame(other)
                at = f.Ref(stores[0].at, stores[0].at, place)
                if not any(isinstance(x.thing, Obj) and x.thing.node is coll.node for x in self.resolver.name(place, at, inner)):
                    continue
                for store in stores:
                    if not (inside and store.how in ("put", "all")) and self._matches(store, (keys,), inner):
                        yield from self._values(store, inner, keys)[0]


def _puts(call: str) -> bool:
    """Whether a called name is a method that puts something into a named collection."""
    container, _, method = call.rpartition(".")
    return bool(container) and method in _PUTS


def _best(flows: list[Flow]) -> Flows:
    return union([flow for flow in flows if not isinstance(flow.thing, Unknown)] or flows)


def _surely(store: Store, body: Body, arms: list[Arm]) -> bool:
    around = set(map(id, arms))
    return all(id(arm) in around or arm.always for arm in store.arm.chain())


def _in_one_loop(store: Store, arms: list[Arm]) -> bool:
    return any(arm.kind in ("loop", "comp") and arm.at <= store.at < arm.end for arm in arms)


def _names_of(coll: Obj, fn: Fun) -> list[str]:
    """Names that the function which made a collection, or the class it is a field of, gives it."""
    names = [name for name, defs in fn.body.definitions.items() if any(d.expr is coll.node for d in defs)]
    for klass in fn.module.classes:
        names.extend(f"{klass.name}.{field.name}" for field in klass.decl.fields if field.init is coll.node)
    return names


def _target_of(d: Definition) -> f.Index | None:
    """The element that a definition of `x[]` writes."""
    node = d.node
    if isinstance(node, f.Assign):
        targets: list[f.Expr] = list(node.targets)
    elif isinstance(node, f.Loop):
        targets = [node.target] if node.target is not None else []
    elif isinstance(node, f.With):
        targets = [item.target for item in node.items if item.target is not None]
    else:
        return None
    while targets:
        target = targets.pop()
        if isinstance(target, f.Coll):
            targets.extend(pair.value for pair in target.items)
        elif isinstance(target, f.Index) and target.at == d.at:
            return target
    return None


def _indices(keys: list[Thing]) -> list[int]:
    """The positions among keys."""
    numbers = [counted(key.number) for key in keys if isinstance(key, Num)]
    return [number for number in numbers if number is not None]
