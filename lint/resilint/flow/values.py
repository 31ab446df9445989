"""What an expression may be: numbers, texts, objects, functions, and the way each came."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

import resilint.facts as f
from resilint.link.code import Fun, Klass, Module

SECONDS: dict[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
"""Seconds of each unit of time."""


def counted(number: float | None) -> int | None:
    """A number as a count, cut to a whole one; none where it is not known, without end, or no number at all."""
    return int(number) if number is not None and isfinite(number) else None


class Thing:
    """Anything an expression can stand for. Things compare by what they are, never by where they were met."""

    __slots__ = ("_hash", "_key")
    _key: tuple[Any, ...]

    def __init__(self, *key: Any) -> None:
        self._key = (type(self).__name__, *key)
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Thing) and self._hash == other._hash and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{self._key[0]}({', '.join(map(repr, self._key[1:]))})"


class Num(Thing):
    """A number. `unit` is empty where none is known; `dur` is a typed duration, counted in seconds.

    `raw`: a typed duration made from a bare number, so counted in nanoseconds by its author's leave or mistake.
    `named`, of a typed duration: the unit in the name of the bare number it was made from; two, if it was multiplied by another
    (`ms times s`).
    """

    __slots__ = ("named", "number", "raw", "unit")

    def __init__(self, number: float | int | bool, unit: str = "", raw: bool = False, named: str = "") -> None:
        super().__init__(float(number), unit, raw, isinstance(number, bool), named)
        self.named = named
        self.number = number
        self.unit = unit
        self.raw = raw


class Text(Thing):
    """Text in pieces; `None` is a hole whose text is not known."""

    __slots__ = ("pieces",)

    def __init__(self, *pieces: str | None) -> None:
        super().__init__(*pieces)
        self.pieces = pieces

    @property
    def whole(self) -> str | None:
        """The text, if all of it is known."""
        return None if None in self.pieces else "".join(p for p in self.pieces if p is not None)

    @property
    def known(self) -> str:
        """What is known of it, holes as NUL."""
        return "".join("\0" if p is None else p for p in self.pieces)


class Null(Thing):
    """None, nil."""

    __slots__ = ()


class Absent(Thing):
    """Nothing was written: the zero value of a field, an argument left out of a call that takes it."""

    __slots__ = ()


class Unknown(Thing):
    """Not known, and why."""

    __slots__ = ("unit", "why")

    def __init__(self, why: str, unit: str = "") -> None:
        super().__init__(why, unit)
        self.why = why
        self.unit = unit


class Env(Thing):
    """An environment variable, or a text with placeholders of settings (`${key:default}`), whose value somebody else decides; what
    settings and deployments of the repository say is asked where it is used. A default stands beside it as a flow of its own."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Ext(Thing):
    """A name outside the program, canonical: `requests.get`, `net/http.Get`, `<builtin>.print`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class ModVal(Thing):
    """A module of the program, or a directory of modules."""

    __slots__ = ("module",)

    def __init__(self, module: Module | str) -> None:
        super().__init__(module if isinstance(module, str) else module.path)
        self.module = module


class PkgVal(Thing):
    """A Go package of the program."""

    __slots__ = ("package",)

    def __init__(self, package: Any) -> None:
        super().__init__(package.root, package.path)
        self.package = package


class ClassVal(Thing):
    """A class of the program."""

    __slots__ = ("klass",)

    def __init__(self, klass: Klass) -> None:
        super().__init__(klass.key)
        self.klass = klass


class Frame:
    """A function under one call, or under any (`args` is `None`). Frames compare by call string."""

    __slots__ = ("_hash", "args", "caller", "closure", "depth", "fn", "key", "site", "this")

    def __init__(
        self,
        fn: Fun,
        site: f.Node | None = None,
        caller: Frame | None = None,
        args: tuple[Bind, ...] | None = None,
        this: Thing | None = None,
        closure: Frame | None = None,
    ) -> None:
        self.fn = fn
        self.site = site
        self.caller = caller
        self.args = args
        self.this = this
        self.closure = closure
        self.depth: int = 0 if caller is None else caller.depth + 1
        self.key = (
            fn.key,
            None if site is None or caller is None else (caller.fn.key, site.at, site.end),
            caller,
            this,
            closure,
        )
        self._hash = hash(self.key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Frame) and self._hash == other._hash and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Frame({self.fn!r}{'' if self.caller is None else f' < {self.caller!r}'})"


class Bind(NamedTuple):
    """One argument of a call, to be judged in the frame it was written in."""

    expr: f.Expr
    frame: Frame
    name: str | None = None
    spread: int = 0


class FnVal(Thing):
    """A function of the program, with the frame it closes over and the object it is bound to."""

    __slots__ = ("closure", "fn", "this")

    def __init__(self, fn: Fun, closure: Frame | None = None, this: Thing | None = None) -> None:
        super().__init__(fn.key, closure, this)
        self.fn = fn
        self.closure = closure
        self.this = this


class Obj(Thing):
    """An object, known by the place that made it.

    `kind`: `new` made by a class of the program or a literal; `call` made by a call outside the program; `coll` a collection;
    `gen` what a generator function gives; `outside` a parameter or field nobody here fills; `any` some instance of its class.
    `type` is a class of the program or a canonical external name (empty: not known).
    """

    __slots__ = ("binds", "frame", "kind", "maker", "node", "parent", "type")

    def __init__(
        self,
        kind: str,
        type_: Klass | str,
        frame: Frame | None,
        node: Any,
        maker: str = "",
        parent: Obj | None = None,
        binds: tuple[Bind, ...] | None = None,
    ) -> None:
        where = (node.at, node.end) if isinstance(node, f.Node) else (node if isinstance(node, str) else None)
        super().__init__(
            kind,
            type_ if isinstance(type_, str) else type_.key,
            frame if kind != "any" else None,
            where,
            maker,
        )
        self.kind = kind
        self.type = type_
        self.frame = frame
        self.node = node
        self.maker = maker
        self.parent = parent
        self.binds = binds
        """Arguments it was made with, where they differ from those at `node`."""

    @property
    def fn(self) -> Fun | None:
        """The function in which it is made."""
        return self.frame.fn if self.frame is not None else None


class Bound(Thing):
    """An attribute of an object that the program does not declare: a method of a library's object."""

    __slots__ = ("name", "obj")

    def __init__(self, obj: Obj, name: str) -> None:
        super().__init__(obj, name)
        self.obj = obj
        self.name = name


class SuperVal(Thing):
    """`super()` inside a class."""

    __slots__ = ("klass", "this")

    def __init__(self, klass: Klass, this: Thing) -> None:
        super().__init__(klass.key, this)
        self.klass = klass
        self.this = this


class Hop(NamedTuple):
    """One step of a value's way."""

    path: str
    at: int
    end: int
    text: str


class Omitted(NamedTuple):
    """The call that left an argument out, so that its default holds."""

    fn: Fun
    call: f.Node

    @property
    def key(self) -> tuple[Any, ...]:
        """Order."""
        return (*self.fn.key, self.call.at)


class Flow(NamedTuple):
    """A thing, the way it came (cause first) and the call sites that left the argument out on that way."""

    thing: Thing
    hops: tuple[Hop, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    default: bool = False
    """It is a parameter's default that no call here relies on."""

    def hop(self, hop: Hop) -> Flow:
        """The same, one step further; long ways keep their ends."""
        if self.hops and self.hops[-1] == hop:
            return self
        hops = (*self.hops, hop)
        if len(hops) > 12:
            hops = (*hops[:6], *hops[-6:])
        return self._replace(hops=hops)


Flows = tuple[Flow, ...]
MOST = 32
"""Things kept of one answer; past it the answer is unknown."""


def union(*groups: Iterable[Flow]) -> Flows:
    """All flows, each thing once (the first way it came), cut at `MOST`."""
    if len(groups) == 1 and isinstance(only := groups[0], tuple) and len(only) <= 1:
        return only
    seen: dict[tuple[Thing, tuple[Omitted, ...]], Flow] = {}
    for group in groups:
        for flow in group:
            seen.setdefault((flow.thing, flow.omitted), flow)
            if len(seen) > MOST:
                return (Flow(Unknown("too many possibilities")),)
    return tuple(seen.values())


@lru_cache(maxsize=4096)
def unknown(why: str, unit: str = "") -> Flows:
    """The answer that is none: one object wherever it is the same."""
    return (Flow(Unknown(why, unit)),)


def wrong_unit(named: str, seconds: float) -> str:
    """`ms times s`: the two units where a number named in one is counted in another, of so many seconds; empty where they agree."""
    if named not in SECONDS:
        return ""
    said = next((name for name, length in (*SECONDS.items(), ("d", 86400.0)) if length == seconds), "")
    return f"{named} times {said}" if said and said != named else ""
