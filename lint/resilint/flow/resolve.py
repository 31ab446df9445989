"""Backward resolution on demand: what an expression may be, followed through names, parameters, fields, results and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from math import inf, isnan
from typing import Any

import resilint.facts as f
from resilint.flow.elements import Elements
from resilint.flow.java import Java, Site
from resilint.flow.narrow import keeps
from resilint.flow.values import (
    SECONDS,
    Absent,
    Bind,
    Bound,
    ClassVal,
    Env,
    Ext,
    Flow,
    Flows,
    FnVal,
    Frame,
    Hop,
    ModVal,
    Null,
    Num,
    Obj,
    Omitted,
    PkgVal,
    SuperVal,
    Text,
    Thing,
    Unknown,
    union,
    unknown,
    wrong_unit,
)
from resilint.flow.wiring import Wiring
from resilint.flow.wiring import parameter as wired_parameter
from resilint.knowledge import Knowledge
from resilint.knowledge.index import Table
from resilint.knowledge.schema import CallEntry
from resilint.link.code import Arm, Body, CallSite, Definition, Fun, Klass, Module, dotted, last_name, leaves, walk, walk_block
from resilint.link.names import Names, Package, type_name

STEPS = 700
"""Expressions looked at for one question; past it the rest of the answer is unknown."""
SHARE = 60
"""Steps that one question which many others lead to (who calls a function, what is written to an attribute) may take of its own.
Past them its answer, with what is unknown in it, stands for every question that leads to it."""
TURNS = 3
"""How often a question that leads back to itself is asked."""
DEPTH = 70
"""How deep one question may lead into the next."""
CALLS = 6
"""Length of a call string; deeper frames forget their callers."""
CALLS_OF_ALL = 2
DEPTH_OF_ALL = 400
STEPS_OF_ALL = 20000
"""The same where everything in a program is asked: circles are long then, and have to be closed to be left behind."""
SITES = 24
"""Call sites of one function that are looked at."""
FAR = 1 << 60

_SCALES = {("s", 1000.0): "ms", ("ms", 1000.0): "us", ("us", 1000.0): "ns", ("s", 1e6): "us", ("ms", 1e6): "ns", ("s", 1e9): "ns"}
_SUFFIXES = (
    ("milliseconds", "ms"),
    ("millis", "ms"),
    ("msec", "ms"),
    ("_ms", "ms"),
    ("seconds", "s"),
    ("_secs", "s"),
    ("_sec", "s"),
    ("_s", "s"),
    ("minutes", "min"),
    ("_mins", "min"),
    ("_min", "min"),
    ("micros", "us"),
    ("nanos", "ns"),
    ("_ns", "ns"),
)

_RATIO = re.compile(
    r"(?:(?:milli|micro|nano)?s(?:econd)?s?|millis|micros|nanos|minutes?|hours?)_?(?:in|per|IN|PER|In|Per)_?(?![a-z]*(?:terval|put|it))[a-zA-Z]",
    re.IGNORECASE,
)
"""`MILLIS_PER_SECOND`: how many of the one are in the other, and no time."""


@lru_cache(maxsize=65536)
def unit_of_name(name: str) -> str:
    """The unit a name promises: `timeout_ms`, `TimeoutSeconds`; empty for none."""
    last = name.rpartition(".")[2]
    low = last.lower()
    if _RATIO.search(last):
        return ""
    for suffix, unit in _SUFFIXES:
        if low.endswith(suffix):
            return unit
    if last.endswith(("MS", "Ms")) and len(last) > 2 and (last[-3].islower() or last[-3].isdigit()):
        return "ms"
    return ""


class Resolver:
    """Answers what expressions may be. Answers are remembered; the same question gives the same answer in the same program."""

    def __init__(
        self,
        names: Names,
        knowledge: Knowledge,
        observed: Mapping[Fun, set[tuple[Fun, int]]] | None = None,
    ) -> None:
        """`observed`: calls (function and offset) that are known to reach a function and that its name does not lead to; given
        where everything in a program is asked. Then what a cut search found on its way is kept, though a circle that it was in
        may add to it: each question gets on from where the last one stopped.
        """
        self._batch = observed is not None
        self._calls = CALLS if observed is None else CALLS_OF_ALL
        self._deepest = DEPTH if observed is None else DEPTH_OF_ALL
        self._most_steps = STEPS if observed is None else STEPS_OF_ALL
        self.names = names
        self.knowledge = knowledge
        self._keying: set[tuple[Thing, str]] = set()
        self._known_keys: dict[tuple[Thing, str], Flows | None] = {}
        self._circles = 0
        self._memo: dict[Any, Any] = {}
        self._gaps: set[Any] = set()
        """Questions whose remembered answer has used up its share: asked for themselves, they are looked at again in full, so that
        it does not matter what was asked before."""
        self._active: dict[Any, int] = {}
        self._guesses: dict[Any, Any] = {}
        self._open: dict[Any, tuple[Any, int]] = {}
        self._trail: list[Any] = []
        self._lowest = FAR
        self._steps = 0
        self._limit = FAR
        """Steps at which the innermost question with a share of its own has used it up."""
        self._cut: list[Any] = []
        """Open questions that were cut inside such a question."""
        self._depth = 0
        self._frames: dict[Any, Frame] = {}
        self._imported_files: dict[Module, frozenset[str]] = {}
        self._in_sight: dict[tuple[str, str], bool] = {}
        self._mro: dict[Klass, tuple[list[Klass], list[str]]] = {}
        self._subs: dict[Klass, list[Klass]] | None = None
        self._kept: list[Any] = []
        self._givens: dict[Any, Bind] = {}
        self._fields: set[str] | None = None
        self.elements = Elements(self)
        self.java = Java(self)
        if not names.described and any(module.language == "java" for module in names.modules.values()):
            names.described = names.java.described = knowledge.of("java").class_names
        self.wiring = Wiring(self)
        self._observers: dict[Fun, list[Fun]] = {}
        self._observed: dict[Fun, frozenset[int]] = {}
        for target, callers in (observed or {}).items():
            self._observers[target] = sorted({caller for caller, _ in callers}, key=lambda fn: fn.key)
            self._observed[target] = frozenset(at for _, at in callers)
        self._constants = {
            language: {name: c for lib in knowledge.of(language).libraries for name, c in lib.constants.items()}
            for language in ("python", "go", "java")
        }

    # ------------------------------------------------------------ small helpers

    def table(self, module: Module) -> Table:
        """The knowledge for a module's language."""
        return self.knowledge.of(module.language)

    def frame(self, fn: Fun) -> Frame:
        """A function under any of its callers."""
        return self._intern(Frame(fn))

    def _intern(self, frame: Frame) -> Frame:
        return self._frames.setdefault(frame.key, frame)

    def enter(self, target: FnVal, site: f.Node, caller: Frame, args: tuple[Bind, ...]) -> Frame:
        """The frame of a function under one call; past the length of a call string, under any."""
        if self._batch:
            target = FnVal(target.fn, self._shallow(target.closure), self._alone(target.this))
            caller = self._shallow(caller) or caller
        if caller.depth >= self._calls or self._recursive(target.fn, caller):
            return self._intern(Frame(target.fn, this=target.this, closure=target.closure))
        return self._intern(Frame(target.fn, site, caller, args, target.this, target.closure))

    def _shallow(self, frame: Frame | None) -> Frame | None:
        """A frame whose receiver and outer frames were not told apart by how they came about."""
        if frame is None or (frame.this is None and frame.closure is None):
            return frame
        this = self._alone(frame.this)
        closure = self.frame(frame.closure.fn) if frame.closure is not None else None
        if this is frame.this and closure is frame.closure:
            return frame
        return self._intern(Frame(frame.fn, frame.site, frame.caller, frame.args, this, closure))

    def _alone(self, thing: Thing | None) -> Thing | None:
        """An object known by the place that made it, whoever called that."""
        if not isinstance(thing, Obj) or thing.frame is None or thing.frame is (plain := self.frame(thing.frame.fn)):
            return thing
        node = plain if isinstance(thing.node, Frame) else thing.node
        return Obj(thing.kind, thing.type, plain, node, thing.maker, thing.parent, thing.binds)

    @staticmethod
    def _recursive(fn: Fun, caller: Frame | None) -> bool:
        seen = 0
        while caller is not None:
            if caller.fn is fn:
                seen += 1
                if seen >= 2:
                    return True
            caller = caller.caller
        return False

    def hop(self, fn: Fun, node: Any, text: str) -> Hop:
        """A step of a value's way."""
        return Hop(fn.module.path, node.at, node.end, text)

    def ask(self, expr: f.Expr, frame: Frame) -> Flows:
        """A question of its own, with a budget of its own."""
        if self._depth == 0:
            self._steps = 0
        return self.value(expr, frame)

    def ask_in_class(self, klass: Klass, expr: f.Expr, frame: Frame) -> Flows:
        """The same for an expression of a class body or of a declaration in it."""
        if self._depth == 0:
            self._steps = 0
        return self._in_class(klass, expr, frame)

    def ask_callee(self, call: f.Call, frame: Frame, klass: Klass | None = None) -> Flows:
        """What stands in the place of the called; `klass` where the call stands in a class body."""
        if self._depth == 0:
            self._steps = 0
        return self.callee(call, frame) if klass is None else self._in_class(klass, call.fn, frame)

    def ask_returned(self, target: FnVal, site: f.Node, frame: Frame) -> Flows:
        """What a method that the language calls by itself gives."""
        if self._depth == 0:
            self._steps = 0
        return self.returned(target, site, frame, ())

    # ------------------------------------------------------------ the memo

    def _remember(self, key: Any, compute: Callable[[], Flows]) -> Flows:
        return self._solve(key, compute, (), _things_of)  # type: ignore[no-any-return]

    def _solve(self, key: Any, compute: Callable[[], Any], nothing: Any, digest: Callable[[Any], Any]) -> Any:
        """The answer to a question, computed once.

        A question met again while it is open gets what is known of it so far, at first nothing; the outermost question of
        such a circle is asked again until its answer stays, and then all answers that rest on it stand too. An answer that
        was cut by the budget stands only for a question of its own.
        """
        found = self._memo.get(key)
        if found is not None and (self._active or key not in self._gaps):
            return found
        level = self._active.get(key)
        if level is not None:
            self._lowest = min(self._lowest, level)
            return self._guesses.get(key, nothing)
        if not self._active:
            self._steps = 0
            self._lowest = FAR
            self._limit = FAR
            self._guesses.clear()
            self._open.clear()
            self._trail.clear()
            self._cut.clear()
            self._gaps.discard(key)
        else:
            entry = self._open.get(key)
            if entry is not None:
                self._lowest = min(self._lowest, entry[1])
                return entry[0]
        if self._spent():
            self._lowest = -1
            return nothing or unknown("the search was cut: too many steps")
        if self._depth > self._deepest:
            self._lowest = -1
            return nothing or unknown("the search was cut: too deep")
        self._depth += 1
        depth = self._depth
        self._active[key] = depth
        outer = self._lowest
        start = len(self._trail)
        shared = not self._batch and depth > 1 and key[0] in _SHARED
        began, limit, cut = self._steps, self._limit, len(self._cut)
        if shared:
            self._limit = began + SHARE
        try:
            for turn in range(TURNS):
                self._lowest = FAR
                result = compute()
                if self._lowest != depth or turn + 1 == TURNS:
                    break
                guess = _guessed(result)
                if digest(guess) == digest(self._guesses.get(key, nothing)):
                    break
                self._guesses[key] = guess
                for inner in self._trail[start:]:
                    self._open.pop(inner, None)
                del self._trail[start:]
        finally:
            self._depth -= 1
            del self._active[key]
        mine = self._lowest
        if shared:
            over = self._steps > self._limit
            self._limit = limit + self._steps - began
            if over and mine < 0 and self._steps <= self._most_steps:
                self._memo[key] = result = _with_a_gap(result)
                self._gaps.add(key)
                for inner in self._cut[cut:]:
                    self._open.pop(inner, None)
                del self._cut[cut:]
                self._lowest = outer
                return result
        if mine >= depth:
            self._memo[key] = result
            for inner in self._trail[start:]:
                self._memo[inner] = self._open.pop(inner)[0]
            del self._trail[start:]
            self._lowest = outer
            return result
        self._lowest = min(outer, mine)
        if mine >= 0:
            self._guesses[key] = _guessed(result)
            for inner in self._trail[start:]:
                self._open[inner] = (self._open[inner][0], min(mine, self._open[inner][1]))
            self._open[key] = (result, mine)
            self._trail.append(key)
        else:
            # What was cut is not asked again for this question, or everything behind the cut would be, from each side.
            for inner in self._trail[start:]:
                entry = self._open[inner]
                if self._batch:
                    self._memo[inner] = entry[0]
                self._open[inner] = (entry[0], -1)
                self._cut.append(inner)
            self._open[key] = (result, -1)
            self._cut.append(key)
            del self._trail[start:]
            if depth == 1:
                self._memo[key] = result
        return result

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """A question of its own within another: what is remembered of it for good must not be cut where the other one is, nor rest
        on what that has guessed so far."""
        kept = (self._active, self._guesses, self._open, self._trail, self._cut, self._lowest, self._steps, self._limit)
        self._active, self._guesses, self._open, self._trail, self._cut = {}, {}, {}, [], []
        self._lowest, self._steps, self._limit = FAR, 0, FAR
        try:
            yield
        finally:
            self._active, self._guesses, self._open, self._trail, self._cut, self._lowest, self._steps, self._limit = kept

    def _spent(self) -> bool:
        """Take a step; whether that was one too many."""
        self._steps += 1
        return self._steps > self._most_steps or self._steps > self._limit

    # ------------------------------------------------------------ expressions

    def value(self, expr: f.Expr, frame: Frame) -> Flows:
        """What an expression may be in a frame."""
        if isinstance(expr, f.Lit):
            return (Flow(self._literal(expr), (self.hop(frame.fn, expr, "written here"),)),)
        return self._remember((id(expr), frame), lambda: self._value(expr, frame))

    def _literal(self, expr: f.Lit) -> Thing:
        value = expr.value
        if value is None:
            return Null()
        if isinstance(value, str):
            return Text(value)
        return Num(value)

    def _value(self, expr: f.Expr, frame: Frame) -> Flows:
        match expr:
            case f.Ref():
                return self.name(expr.name, expr, frame)
            case f.Field():
                if frame.fn.module.language == "java" and isinstance(expr.base, f.Ref):
                    return self.java.reference(expr, frame)
                return self.attributes(self.value(expr.base, frame), expr.name, expr, frame)
            case f.Call():
                return self.result(expr, frame)
            case f.New():
                return self._new(expr, frame)
            case f.Coll():
                return (Flow(Obj("coll", expr.kind, frame, expr)),)
            case f.Comp():
                return (Flow(Obj("coll", expr.kind, frame, expr)),)
            case f.Fn():
                return (Flow(FnVal(frame.fn.module.functions[expr.index], frame)),)
            case f.Await():
                return self.value(expr.value, frame)
            case f.Let():
                return self.value(expr.value, frame)
            case f.Cond():
                return union(self.value(expr.then, frame), self.value(expr.orelse, frame))
            case f.Bin():
                return self._binary(expr, frame)
            case f.Un():
                return self._unary(expr, frame)
            case f.Cast():
                return self._cast(expr, frame)
            case f.Fmt():
                return self._format(expr, frame)
            case f.Index():
                return self.elements.index(expr, frame)
            case f.Slice():
                return self.elements.slice(expr, frame)
            case f.Recv():
                return self._received(expr, frame)
            case f.Is():
                return unknown("a test")
            case f.Opaque():
                return unknown("an expression that is not read")
            case f.Yield():
                return unknown("what a generator is sent")
        return unknown("an expression that is not read")

    def _new(self, expr: f.New, frame: Frame) -> Flows:
        kind = self.resolve_type(expr.type, frame.fn)
        if isinstance(kind, Klass) and kind.decl.alias_of is not None:
            kind = self._underlying(kind)
        return (Flow(Obj("new", kind or "", frame, expr)),)

    def _underlying(self, klass: Klass) -> Klass | str | None:
        seen = 0
        kind: Klass | str | None = klass
        while isinstance(kind, Klass) and kind.decl.alias_of is not None and seen < 5:
            alias = kind.decl.alias_of
            if alias.shape not in ("plain", "ptr"):
                return kind
            further = self.resolve_type(alias, kind.module.functions[0])
            if further is None:
                return kind
            kind = further
            seen += 1
        return kind

    def _binary(self, expr: f.Bin, frame: Frame) -> Flows:
        op = expr.op
        if op == "or":
            first = self.value(expr.left, frame)
            left = tuple(x for x in first if keeps(x.thing, True))
            if first and not any(keeps(x.thing, False) for x in first):
                return left
            return union(left, self.value(expr.right, frame))
        if op == "and":
            return self.value(expr.right, frame)
        if op in ("==", "!=", "<", ">", "<=", ">=", "in", "not in", "is", "is not"):
            return unknown("a comparison")
        left = self.value(expr.left, frame)
        if op == "%" and left and all(isinstance(x.thing, Text) for x in left):
            return tuple(x._replace(thing=Text(*_holes(x.thing))) for x in left if isinstance(x.thing, Text))
        right = self.value(expr.right, frame)
        if op == "**" and isinstance(expr.right, f.Ref) and expr.right.name in frame.fn.body.definitions:
            # The exponent counts tries, up to a limit that is hardly ever reached: what is paused is not its last power.
            return unknown("a power that grows")
        out: list[Flow] = []
        for a in left:
            for b in right:
                thing = _arithmetic(op, a.thing, b.thing)
                if thing is not None:
                    out.append(Flow(thing, a.hops + tuple(h for h in b.hops if h not in a.hops), a.omitted + b.omitted))
        return union(out) or unknown("arithmetic on unknown values")

    def _unary(self, expr: f.Un, frame: Frame) -> Flows:
        flows = self.value(expr.value, frame)
        if expr.op in ("&", "*"):
            return flows
        if expr.op == "-":
            return union(
                flow._replace(thing=Num(-flow.thing.number, flow.thing.unit, flow.thing.raw))
                if isinstance(flow.thing, Num)
                else Flow(Unknown("arithmetic"))
                for flow in flows
            )
        return unknown("a test" if expr.op == "not" else "arithmetic")

    def _cast(self, expr: f.Cast, frame: Frame) -> Flows:
        flows = self.value(expr.value, frame)
        constant = self._constants[frame.fn.module.language].get(self._type_text(expr.type, frame.fn))
        out = []
        for flow in flows:
            thing = flow.thing
            if isinstance(thing, Num) and constant is not None and constant.typed and thing.unit != "dur":
                number = thing.number * constant.number * SECONDS.get(constant.unit, 1.0)
                thing = Num(number, "dur", raw=True, named=thing.unit)
            elif isinstance(thing, Unknown) and constant is not None and constant.typed:
                thing = Unknown("raw duration" if thing.unit != "dur" else thing.why, thing.unit)
            elif isinstance(thing, Text) and expr.type.name in ("int", "float"):
                try:
                    written = float(thing.whole) if thing.whole is not None else None
                    thing = Num(written) if written is not None and not isnan(written) else Unknown("text that is not known")
                except ValueError:
                    thing = Unknown("text that is no number")
            out.append(flow._replace(thing=thing))
        found = union(out)
        return self._typed(found, expr.type, frame) if frame.fn.module.language == "java" else found

    def _type_text(self, kind: f.Type, fn: Fun) -> str:
        resolved = self.resolve_type(kind, fn)
        return resolved if isinstance(resolved, str) else kind.name

    def _format(self, expr: f.Fmt, frame: Frame) -> Flows:
        pieces: list[str | None] = []
        hops: list[Hop] = []
        for part in expr.parts:
            if isinstance(part, f.Lit):
                pieces.append(str(part.value))
                continue
            flows = self.value(part, frame)
            if len(flows) == 1 and isinstance(flows[0].thing, Text):
                pieces.extend(flows[0].thing.pieces)
                hops.extend(flows[0].hops)
            elif len(flows) == 1 and isinstance(flows[0].thing, Num) and not flows[0].thing.unit:
                pieces.append(_number_text(flows[0].thing.number))
            else:
                pieces.append(None)
        return (Flow(Text(*pieces), tuple(hops[:4])),)

    def element(self, flow: Flow, frame: Frame) -> Iterator[Flow]:
        """Elements of a thing."""
        return self.elements.of(flow, frame)

    def given_elements(self, args: tuple[Bind, ...], called: Bind) -> tuple[Bind, ...]:
        """The arguments under which `map(f, xs, ys)` calls `f`: elements of the others."""
        out: list[Bind] = []
        for bind in args:
            if bind is not called:
                flows = union(*(self.element(flow, bind.frame) for flow in self.value(bind.expr, bind.frame)))
                out.append(self.given_bind(bind.expr, flows, bind.frame))
        return tuple(out)

    def _received(self, expr: f.Recv, frame: Frame) -> Flows:
        name = dotted(expr.value)
        out: list[Flow] = []
        if name:
            fns = [frame.fn, *(x for x in frame.fn.module.functions if x.parent is frame.fn)]
            for fn in fns:
                for stmt, _ in fn.body.stmts:
                    if isinstance(stmt, f.Send) and dotted(stmt.channel) == name:
                        out.extend(self.value(stmt.value, self.frame(fn)))
        return union(out) or unknown("what comes over a channel")

    # ------------------------------------------------------------ names

    def name(self, text: str, at: f.Node, frame: Frame) -> Flows:
        """A dotted name where it stands: the longest part that a definition of this body reaches, then attributes."""
        parts = text.split(".")
        body = frame.fn.body
        here = at.at
        out: list[Flow] = []
        if frame.fn.index == 0 and (klass := _class_around(frame.fn.module, parts[0], here)) is not None:
            held = self.class_field(klass, parts[0])
            for part in parts[1:]:
                held = self.attributes(held, part, at, frame)
            return held
        for count in range(len(parts), 0, -1):
            prefix = ".".join(parts[:count])
            if prefix in body.definitions and (count > 1 or not self._outer(prefix, frame.fn)):
                reached, falls = body.reaching(prefix, here)
                flows: list[Flow] = []
                for d in reached:
                    flows.extend(self._narrow(self.defined(d, frame), prefix, body, here, d.at, frame))
                rest = parts[count:]
                if flows or not falls:
                    result: Flows = union(flows)
                    for part in rest:
                        result = self.attributes(result, part, at, frame)
                    out.extend(self._named(result, prefix))
                    if not falls:
                        return union(out)
                    if count == 1:
                        break
        head = parts[0]
        flows2 = self._head(head, at, frame)
        done = head
        for part in parts[1:]:
            flows2 = self.attributes(flows2, part, at, frame)
            done += "." + part
            flows2 = self._narrow(flows2, done, body, here, -1, frame)
        return union(out, self._named(flows2, text)) if out else self._named(flows2, text)

    def _named(self, flows: Flows, name: str) -> Flows:
        unit = unit_of_name(name)
        if not unit:
            return flows
        return tuple(_with_unit(flow, unit) for flow in flows)

    def _outer(self, name: str, fn: Fun) -> bool:
        return name in fn.body.outer_names

    def _head(self, name: str, at: f.Node, frame: Frame) -> Flows:
        fn = frame.fn
        body = fn.body
        if name in fn.params and not (self._outer(name, fn)):
            reached, falls = body.reaching(name, at.at)
            if falls:
                flows = self.parameter(fn.params[name], frame)
                return union(
                    *(self._narrow(self.defined(d, frame), name, body, at.at, d.at, frame) for d in reached if d.kind != "aug"),
                    self._narrow(flows, name, body, at.at, -1, frame),
                )
        if name in body.definitions and not self._outer(name, fn):
            reached, falls = body.reaching(name, at.at)
            if (not reached and not any(d.kind == "function" for d in body.definitions[name])) or not reached:
                reached = body.definitions[name]
            flows = union(*(self._narrow(self.defined(d, frame), name, body, at.at, d.at, frame) for d in reached))
            if flows or fn.index:
                return flows
        if fn.index and name in fn.head.named_returns:
            return unknown("a named result that is not assigned")
        if fn.index and fn.module.language != "java":
            imported = self._imports(name, fn)
            if imported:
                return imported
        parent = fn.parent
        if parent is not None:
            outer = frame.closure if frame.closure is not None and frame.closure.fn is parent else self.frame(parent)
            if outer.fn is parent:
                place = f.Ref(fn.head.at if fn.head.kind == "lambda" else FAR, FAR, name)
                if name in parent.body.definitions or name in parent.params:
                    if fn.head.kind != "lambda":
                        late = f.Ref(parent.head.end, parent.head.end, name)
                        return self._head(name, late, outer)
                    return self._head(name, place, outer)
                return self._head(name, place, outer)
        if fn.module.language == "java":
            return self.java.name(name, at, frame)
        return self.global_name(name, fn.module, frame)

    def _narrow(self, flows: Flows, name: str, body: Body, here: int, since: int, frame: Frame) -> Flows:
        """Drop what the tests on the way contradict: `if x is None: x = 3`, `if x:` around, an earlier `if not x: return`."""
        if not flows or (len(flows) == 1 and not isinstance(flows[0].thing, Null | Num | Absent)):
            return flows
        tests = _tests(body, name, here, since)
        if not tests:
            return flows
        return tuple(flow for flow in flows if all(_admits(flow.thing, test, polarity, name) for test, polarity in tests))

    def global_name(self, name: str, module: Module, frame: Frame | None = None) -> Flows:
        """A name of a module's own scope, of its package, its imports, or built in."""
        return self._remember(("global", module.path, name), lambda: self._global(name, module))

    def _global(self, name: str, module: Module) -> Flows:
        if module.language == "go":
            return self._go_global(name, module)
        if module.language == "java":
            return self.java.type_value(name, module) or unknown("no such type")
        top = module.functions[0] if module.functions else None
        out: list[Flow] = []
        if top is not None and name in top.body.definitions:
            frame = self.frame(top)
            reached, _ = top.body.reaching(name, FAR - 1)
            for d in reached:
                out.extend(self._narrow(self.defined(d, frame), name, top.body, FAR - 1, d.at, frame))
        for writer in self.names.writers(name):
            if writer.module is module and writer.index and name in writer.body.outer_names:
                for d in writer.body.definitions.get(name, ()):
                    out.extend(self.defined(d, self.frame(writer)))
        if out:
            return union(out)
        if top is not None:
            out.extend(self._imports(name, top))
        if out:
            return union(out)
        for star in module.imports.get("*", ()):
            target = self.names.python_module(module, star.target, star.level)
            if isinstance(target, Module):
                found = self.member(target, name)
                if found:
                    return found
        return (Flow(Ext(f"<builtin>.{name}")),)

    def member(self, module: Module, name: str) -> Flows:
        """What `module.name` is; nothing if the module has no such name."""
        top = module.functions[0] if module.functions else None
        known = top is not None and name in top.body.definitions
        if known or name in module.imports:
            found = self.global_name(name, module)
            if not all(isinstance(x.thing, Ext) and x.thing.name.startswith("<builtin>.") for x in found):
                return found
        if module.path.endswith("__init__.py"):
            sub = self.names.submodule(module.folder, name)
            if sub is not None:
                return (Flow(ModVal(sub)),)
        for star in module.imports.get("*", ()):
            target = self.names.python_module(module, star.target, star.level)
            if isinstance(target, Module) and target is not module:
                found = self._remember(("star", target.path, name), partial(self.member, target, name))
                if found:
                    return found
            elif target is None:
                return (Flow(Ext(f"{star.target}.{name}")),)
        return ()

    def _imports(self, name: str, fn: Fun) -> Flows:
        module = fn.module
        out: list[Flow] = []
        for imp in module.imports.get(name, ()):
            if imp.function != fn.index:
                continue
            out.extend(self._imported(imp, module))
        return union(out)

    def _imported(self, imp: f.Import, module: Module) -> Flows:
        if imp.name:
            target = self.names.python_module(module, imp.target, imp.level)
            if isinstance(target, Module):
                found = self.member(target, imp.name)
                if found:
                    return found
                return unknown(f"{imp.target} has no {imp.name}")
            if isinstance(target, str):
                sub = self.names.submodule(target, imp.name)
                if sub is not None:
                    return (Flow(ModVal(sub)),)
                if imp.level:
                    return unknown("a name of a package without __init__")
                # Such a folder has nothing but its modules: another package of that name is meant.
            if imp.level:
                return unknown("a relative import that leads nowhere")
            return (Flow(Ext(f"{imp.target}.{imp.name}")),)
        whole = imp.target if imp.explicit else imp.target.split(".")[0]
        target = self.names.python_module(module, whole, imp.level)
        if target is None:
            return (Flow(Ext(whole)),)
        return (Flow(ModVal(target)),)

    def _go_global(self, name: str, module: Module) -> Flows:
        package = self.names.package_of(module)
        found = self._go_member(package, name)
        if found:
            return found
        plain = self.names.tested_package(package)
        if plain is not None and (found := self._go_member(plain, name)):
            return found
        for imp in module.imports.get(name, ()):
            target = self.names.go_package(imp.target, module)
            if target is not None:
                return (Flow(PkgVal(target)),)
            return (Flow(Ext(imp.target)),)
        return (Flow(Ext(f"<builtin>.{name}")),)

    def _go_member(self, package: Package, name: str) -> Flows:
        fun = package.functions.get(name)
        if fun is not None:
            return (Flow(FnVal(fun)),)
        klass = package.classes.get(name)
        if klass is not None:
            return (Flow(ClassVal(klass)),)
        out: list[Flow] = []
        for module in package.modules:
            top = module.functions[0]
            for d in top.body.definitions.get(name, ()):
                out.extend(self.defined(d, self.frame(top)))
        if out:
            for writer in self._go_writers(package, name):
                definitions = writer.body.definitions.get(name, [])
                if name not in writer.params and not any(isinstance(d.node, f.Assign) and d.node.declares for d in definitions):
                    for d in definitions:
                        if isinstance(d.node, f.Assign):
                            out.extend(self.defined(d, self.frame(writer)))
        return union(out)

    def _go_writers(self, package: Package, name: str) -> Iterator[Fun]:
        """Functions that may assign a variable of their package: all, where it is declared without a value, else those whose
        header says so."""
        bare = all(d.kind == "declared" for module in package.modules for d in module.functions[0].body.definitions.get(name, ()))
        known = self.names.writers(name)
        for module in package.modules:
            for fn in module.functions[1:]:
                if bare or fn in known:
                    yield fn

    # ------------------------------------------------------------ definitions

    def defined(self, d: Definition, frame: Frame) -> Flows:
        """What a definition gives its name."""
        return self._remember(("def", id(d), frame), lambda: self._defined(d, frame))

    def _defined(self, d: Definition, frame: Frame) -> Flows:
        module = frame.fn.module
        match d.kind:
            case "value":
                if d.expr is None:
                    return ()
                flows = self.project(self.value(d.expr, frame), d.item, frame)
                if d.type is not None:
                    flows = self._typed(flows, d.type, frame)
                return flows
            case "each":
                if d.expr is None:
                    return ()
                return self._each(d, frame)
            case "enter":
                if d.expr is None:
                    return ()
                return self.project(self._entered(self.value(d.expr, frame), frame), d.item, frame)
            case "declared":
                if d.type is not None and module.language == "go":
                    kind = self.resolve_type(d.type, frame.fn)
                    if (
                        d.type.shape == "plain"
                        and kind is not None
                        and not (isinstance(kind, Klass) and kind.decl.kind == "interface")
                    ):
                        return (Flow(Obj("new", kind, frame, d.node)),)
                    return (Flow(Absent(), (self.hop(frame.fn, d.node, "declared without a value"),)),)
                return ()
            case "function":
                return self._decorated(module.functions[d.index], frame)
            case "class":
                return (Flow(ClassVal(module.classes[d.index])),)
            case "aug":
                return unknown("a value that is changed in place")
            case "error":
                return (Flow(Obj("outside", "", frame, d.node if isinstance(d.node, f.Node) else d.name)),)
        return unknown(f"a {d.kind}")

    def _typed(self, flows: Flows, kind: f.Type, frame: Frame) -> Flows:
        """A declared type stands in where the value itself says nothing."""
        bare = [x for x in flows if isinstance(x.thing, Obj) and x.thing.type == "" and x.thing.kind == "call"]
        if not bare and not all(isinstance(x.thing, Unknown) for x in flows):
            return flows
        resolved = self.resolve_type(kind, frame.fn) if kind.shape in ("plain", "ptr", "opt") or not bare else None
        if resolved is None or resolved == "":
            return flows
        if not bare:
            return (Flow(Obj("outside", resolved, frame, f"{kind.name}@{frame.fn.key}")),)
        return tuple(self._retyped(x, resolved) if x in bare else x for x in flows)

    @staticmethod
    def _retyped(flow: Flow, kind: Klass | str) -> Flow:
        """What a library gave that nobody described, known by the type it is declared with."""
        thing = flow.thing
        assert isinstance(thing, Obj)
        return flow._replace(thing=Obj(thing.kind, kind, thing.frame, thing.node, thing.maker, thing.parent, thing.binds))

    def _each(self, d: Definition, frame: Frame) -> Flows:
        assert d.expr is not None
        flows = self.value(d.expr, frame)
        go = frame.fn.module.language == "go"
        item = d.item
        if go and item:
            if item[0] == 0:
                return unknown("a key or position")
            item = item[1:]
        elif go and not (isinstance(d.node, f.Loop) and isinstance(d.node.target, f.Coll)):
            return unknown("a key or position")
        out: list[Flow] = []
        for flow in flows:
            thing = flow.thing
            if (
                isinstance(thing, Obj)
                and thing.type in ("map",)
                and not go
                and isinstance(thing.node, f.Coll)
                and thing.frame is not None
            ):
                for pair in thing.node.items:
                    if pair.key is not None:
                        out.extend(self.value(pair.key, thing.frame))
                continue
            if (
                isinstance(thing, Obj)
                and thing.kind == "call"
                and thing.maker.rpartition(".")[2] in ("values", "items")
                and thing.parent is not None
            ):
                part = list(self.element(Flow(thing.parent), frame))
                if thing.maker.endswith("values"):
                    out.extend(part)
                    continue
                if item and item[0] == 1:
                    out.extend(part)
                    item = item[1:]
                    continue
            out.extend(self.element(flow, frame))
        stored = tuple(self.elements.each(d.expr, frame))
        if stored:
            out = [*stored, *(x for x in out if not isinstance(x.thing, Unknown))]
        projected = self.project(union(out), item, frame)
        element = self._element_type(d.expr, frame)
        if element is not None and (not projected or all(isinstance(x.thing, Unknown) for x in projected)):
            return (Flow(Obj("outside", element, frame, d.node)),)
        return projected or unknown("an element of something empty")

    def _element_type(self, expr: f.Expr, frame: Frame) -> Klass | str | None:
        kind = self.static_type(expr, frame.fn)
        if kind is not None and kind.shape in ("list", "array", "map", "chan", "variadic") and kind.args:
            resolved = self.resolve_type(kind.args[-1], frame.fn)
            return resolved or None
        return None

    def project(self, flows: Flows, item: tuple[int, ...], frame: Frame) -> Flows:
        for position in item:
            out: list[Flow] = []
            for flow in flows:
                thing = flow.thing
                if isinstance(thing, Obj) and isinstance(thing.node, f.Coll) and thing.frame is not None:
                    out.extend(self.elements.parts(thing, position) or (Flow(Unknown("part of a list")),))
                elif (position == 0 and frame.fn.module.language == "go") or self._is_pair(thing, frame):
                    out.append(flow)
                elif isinstance(thing, Obj) and thing.kind == "call":
                    maker = f"{thing.maker}#{position}"
                    made = self.table(frame.fn.module).made_by(maker)
                    kind = made.name if made is not None else ""
                    out.append(Flow(Obj("call", kind, thing.frame, thing.node, maker, thing, thing.binds), flow.hops))
                else:
                    out.append(Flow(Unknown("part of something unknown")))
            flows = union(out)
        return flows

    def _is_pair(self, thing: Thing, frame: Frame) -> bool:
        named = isinstance(thing, Obj) and isinstance(thing.type, str) and thing.type
        kind = self.table(frame.fn.module).type(named) if isinstance(named, str) else None
        return kind is not None and kind.pair

    def _entered(self, flows: Flows, frame: Frame) -> Flows:
        out: list[Flow] = []
        for flow in flows:
            thing = flow.thing
            if isinstance(thing, Obj) and thing.kind == "gen":
                out.extend(self.element(flow, frame))
            elif isinstance(thing, Obj) and isinstance(thing.type, Klass):
                targets = [*self.method(thing, "__enter__"), *self.method(thing, "__aenter__")]
                if targets:
                    for target in targets:
                        out.extend(self.returned(target, thing.node, frame, ()))
                else:
                    out.append(flow)
            else:
                out.append(flow)
        return union(out)

    def _decorated(self, fn: Fun, frame: Frame) -> Flows:
        flows: Flows = (Flow(FnVal(fn, frame if frame.fn.index else None)),)
        for decorator in reversed(fn.head.decorators):
            flows = self._decoration(flows, decorator, frame, fn)
        return flows

    def _decoration(self, flows: Flows, decorator: f.Expr, frame: Frame, fn: Fun) -> Flows:
        """What one decorator makes of what it is given."""
        if dotted(decorator) in ("staticmethod", "classmethod", "property"):
            return flows
        out: list[Flow] = []
        for d in self.value(decorator, frame):
            handed = self._handed(flows, decorator, frame, fn)
            if isinstance(d.thing, ClassVal):
                out.append(Flow(Obj("new", d.thing.klass, frame, decorator, binds=handed)))
                continue
            for thing, args in self.unwrap(d.thing, handed, frame):
                if isinstance(thing, FnVal):
                    out.extend(self.returned_in(self.enter(thing, decorator, frame, args)) or flows)
                else:
                    out.extend(flows)
        return union(out) or flows

    def _applied(self, fn: Fun) -> Iterator[tuple[Frame, CallSite, tuple[Bind, ...], Thing | None]]:
        """Where a function is called as a decorator."""
        names = {fn.name} | ({fn.parent.name} if fn.parent is not None else set())
        seen: set[Fun] = set()
        for name in sorted(names | self._aliases(fn)):
            for inner in self.names.decorated.get(name, ()):
                scope = inner.module.functions[max(inner.head.parent, 0)]
                if inner in seen or (inner.module.is_test and not fn.module.is_test):
                    continue
                seen.add(inner)
                frame = self.frame(scope)
                flows: Flows = (Flow(FnVal(inner, frame if scope.index else None)),)
                for decorator in reversed(inner.head.decorators):
                    for flow in self.value(decorator, frame):
                        for thing, args in self.unwrap(flow.thing, self._handed(flows, decorator, frame, inner), frame):
                            init = self.init_of(thing.klass) if isinstance(thing, ClassVal) else None
                            if (isinstance(thing, FnVal) and thing.fn is fn) or init is fn:
                                call = f.Call(decorator.at, decorator.end, decorator, ())
                                self._kept.append(call)
                                site = CallSite(call, scope, scope.body.root, f.Do(call.at, call.end, call))
                                this = thing.this if isinstance(thing, FnVal) else None
                                yield frame, site, args, this
                    flows = self._decoration(flows, decorator, frame, inner)

    def _aliases(self, fn: Fun) -> set[str]:
        """Other names under which a function, or the class it belongs to, may stand as a decorator in its own module."""
        owner = self.owner(fn)
        if fn.name in ("__init__", "__call__") and owner is not None:
            return {owner.name}
        if fn.parent is not None or not self.handed_over(fn):
            return set()
        top = fn.module.functions[0]
        return {name for name in top.body.definitions if name in self.names.decorated}

    def _handed(self, flows: Flows, decorator: f.Expr, frame: Frame, fn: Fun) -> tuple[Bind, ...]:
        return (self.given_bind(decorator, flows, frame, fn),)

    def given_bind(self, place: f.Node, flows: Flows, frame: Frame, fn: Fun | None = None) -> Bind:
        """An argument that nobody wrote and whose value is known."""
        key = (id(place), frame, fn, _things_of(flows))
        bind = self._givens.get(key)
        if bind is None:
            given = _Given(place.at, place.end, flows, fn)
            self._memo[(id(given), frame)] = flows
            bind = self._givens[key] = Bind(given, frame)  # type: ignore[arg-type]
        return bind

    # ------------------------------------------------------------ parameters

    def parameter(self, param: f.Param, frame: Frame) -> Flows:
        """What a parameter may be: the argument of the frame's call, else of every call in the program, else unknown but typed."""
        return self._remember(("param", frame, param.name), lambda: self._parameter(param, frame))

    def _parameter(self, param: f.Param, frame: Frame) -> Flows:
        fn = frame.fn
        if param.kind == "self":
            if frame.this is not None:
                return (Flow(frame.this),)
            if fn.head.is_class:
                owner = self.owner(fn)
                return (Flow(ClassVal(owner)),) if owner is not None else unknown("a class method")
            owner = self.owner(fn)
            if owner is not None:
                return (Flow(Obj("any", owner, None, None)),)
            return unknown("a receiver")
        if frame.args is not None and frame.site is not None and frame.caller is not None:
            return self._bound(param, frame.args, fn, frame, frame.site)
        if fn.module.beans:
            return wired_parameter(self.wiring, param, frame)
        sites, whole = self.callers(fn)
        if fn.module.language == "java":
            called = self.java.past_overloads(fn, sites)
            if sites and not called:
                return self._by_overload(param, fn, frame, sites)
            sites = called
        out: list[Flow] = []
        for caller, site, args, this in sites:
            inner = self._intern(Frame(fn, site.call, caller, args, this, frame.closure))
            out.extend(self._bound(param, args, fn, inner, site.call))
        if not sites and not whole and fn.module.language == "go":
            # Whoever calls it gives what its type says: a handler's request, a transaction.
            kind = self.resolve_type(param.type, fn) if param.type is not None else None
            if isinstance(kind, str) and kind and param.type is not None and param.type.shape in ("plain", "ptr"):
                return (Flow(Obj("outside", kind, self.frame(fn), f"param {param.name}")),)
        if not whole:
            out.append(Flow(Unknown("not every caller is known")))
        if sites or not whole:
            found = union(out)
            return self._typed(found, param.type, frame) if param.type is not None and fn.module.language == "java" else found
        return self._uncalled(param, fn, frame)

    def _by_overload(self, param: f.Param, fn: Fun, frame: Frame, sites: list[Site]) -> Flows:
        """What shorter overloads that nobody here calls give a parameter: its defaults."""
        out: list[Flow] = []
        for caller, site, args, this in sites:
            inner = self._intern(Frame(fn, site.call, caller, args, this, frame.closure))
            out.extend(flow._replace(default=True) for flow in self._bound(param, args, fn, inner, site.call))
        return union(out, unknown("a parameter that no call here sets", unit_of_name(param.name)))

    def _of_decorators(self, param: f.Param, fn: Fun) -> Flows:
        """What a decorator that takes arguments is given where it stands: `@again(6, pause=0.1)`."""
        out: list[Flow] = []
        for decorated in self.names.decorated.get(fn.name, ()):
            scope = self.frame(decorated.module.functions[max(decorated.head.parent, 0)])
            for call in decorated.head.decorators if not decorated.module.is_test else ():
                if not isinstance(call, f.Call) or last_name(call.fn) != fn.name:
                    continue
                if any(isinstance(x.thing, FnVal) and x.thing.fn is fn for x in self.value(call.fn, scope)):
                    args = self.binds(call, scope)
                    out.extend(self._bound(param, args, fn, self._intern(Frame(fn, call, scope, args)), call))
        return union(out)

    def _uncalled(self, param: f.Param, fn: Fun, frame: Frame) -> Flows:
        if fn.module.language == "python" and (found := self._of_decorators(param, fn)):
            return found
        if fn.module.language == "java" and (wired := wired_parameter(self.wiring, param, frame)):
            return wired
        kind = self.resolve_type(param.type, fn) if param.type is not None else None
        outside: Flows = ()
        if kind is not None and kind != "" and param.type is not None and param.type.shape in ("plain", "ptr", "opt"):
            outside = (Flow(Obj("outside", kind, self.frame(fn), f"param {param.name}")),)
        if param.default is not None:
            top = fn.module.functions[0]
            values = self.value(param.default, self.frame(top))
            hop = Hop(fn.module.path, param.default.at, param.default.end, f"`{param.name}` is left out: its default holds")
            return union(
                (x.hop(hop)._replace(default=True) for x in values),
                outside or (Flow(Unknown("a parameter that no call here sets")),),
            )
        if outside:
            return outside
        return (Flow(Unknown(f"parameter `{param.name}` of a function without callers", unit_of_name(param.name))),)

    def _bound(self, param: f.Param, args: tuple[Bind, ...], fn: Fun, frame: Frame, site: f.Node) -> Flows:
        args = self.unpacked(args)
        bind, spread = self.argument(param, args, fn)
        if bind is not None:
            flows = self.value(bind.expr, bind.frame)
            if isinstance(bind.expr, _Given):
                return flows
            if bind.frame.fn.module.beans and param.type is not None:
                flows = self._typed(flows, param.type, frame)
            if fn.module.language == "java" and self._is_default(bind, fn):
                assert bind.frame.caller is not None and bind.frame.site is not None
                omitted = Omitted(bind.frame.caller.fn, bind.frame.site)
                flows = tuple(x._replace(omitted=(*x.omitted, omitted)) for x in flows)
            text = f"passed to {fn.head.qual} as `{param.name}`"
            return tuple(x.hop(Hop(bind.frame.fn.module.path, bind.expr.at, bind.expr.end, text)) for x in flows)
        if param.kind in ("*", "**"):
            if param.kind == "**":
                rest = [b for b in args if b.spread == 2 or (b.name is not None and not _is_taken(b.name, fn))]
            else:
                rest = [b for b in args if b.name is None and b.spread != 2][len(fn.positional) :]
            return (Flow(Obj("rest", param.kind, frame, f"rest {param.name}", binds=tuple(rest))),)
        if spread:
            found = self._from_spread(param, args, fn)
            if found is None:
                return (Flow(Unknown("an argument that may come out of a spread")),)
            if found:
                left_out = self._left_out(param, fn, frame, site)
                return union(*(_instead(x, left_out) if isinstance(x.thing, Absent) else (x,) for x in found))
        return self._left_out(param, fn, frame, site)

    def _is_default(self, bind: Bind, fn: Fun) -> bool:
        """Whether an argument is what a shorter overload, called from a known place, gives instead of its caller."""
        if bind.frame.caller is None or bind.frame.site is None or not self.java.stands_in(bind.frame.fn, fn):
            return False
        return not any(isinstance(node, f.Ref) and node.name.partition(".")[0] in bind.frame.fn.params for node in walk(bind.expr))

    def _left_out(self, param: f.Param, fn: Fun, frame: Frame, site: f.Node) -> Flows:
        """What a parameter is in a call that does not give it."""
        if param.default is None:
            return (Flow(Absent()),)
        values = self.value(param.default, self.frame(fn.module.functions[0]))
        caller = frame.caller
        omitted = (Omitted(caller.fn, site),) if caller is not None else ()
        path = caller.fn.module.path if caller is not None else fn.module.path
        hop = Hop(path, site.at, site.end, f"this call of {fn.head.qual} leaves `{param.name}` out: its default holds")
        return tuple(x.hop(hop)._replace(omitted=(*x.omitted, *omitted)) for x in values)

    def argument(self, param: f.Param, args: tuple[Bind, ...], fn: Fun) -> tuple[Bind | None, bool]:
        """The argument that binds a parameter, and whether a spread might hold it instead."""
        for bind in args:
            if bind.name == param.name and param.kind in ("pos", "kw"):
                return bind, False
        spread2 = any(b.spread == 2 for b in args)
        spread1 = False
        if param.kind in ("pos", "posonly"):
            try:
                wanted = fn.positional.index(param)
            except ValueError:
                wanted = -1
            at = 0
            for bind in args:
                if bind.name is not None or bind.spread == 2:
                    continue
                if bind.spread == 1:
                    spread1 = True
                    break
                if at == wanted:
                    return bind, False
                at += 1
        return None, spread1 or (spread2 and param.kind != "posonly")

    def _from_spread(self, param: f.Param, args: tuple[Bind, ...], fn: Fun) -> Flows | None:
        """What spread arguments give a parameter: `Absent` where a path leaves it out, `()` if all do, `None` if not known."""
        out: list[Flow] = []
        gaps: list[Flow] = []
        sure = False
        for bind in args:
            if bind.spread == 2:
                given: list[Flow] = []
                for flow in self.value(bind.expr, bind.frame):
                    got = self.keyed(flow.thing, param.name)
                    if got is None:
                        return None
                    given.extend(got or (_without(flow, param.name),))
                present = [x for x in given if not isinstance(x.thing, Absent)]
                out.extend(present)
                sure = sure or (bool(present) and len(present) == len(given))
                gaps.extend(x for x in given if isinstance(x.thing, Absent))
            elif bind.spread == 1:
                position = fn.positional.index(param) if param in fn.positional else -1
                before = [b for b in args[: args.index(bind)] if b.name is None]
                for flow in self.value(bind.expr, bind.frame):
                    thing = flow.thing
                    if isinstance(thing, Obj) and thing.kind == "rest" and thing.binds is not None:
                        index = position - len(before)
                        if 0 <= index < len(thing.binds) and not any(b.spread for b in thing.binds):
                            out.extend(self.value(thing.binds[index].expr, thing.binds[index].frame))
                        else:
                            return None
                    elif isinstance(thing, Obj) and isinstance(thing.node, f.Coll) and thing.frame is not None:
                        index = position - len(before)
                        if 0 <= index < len(thing.node.items):
                            out.extend(self.value(thing.node.items[index].value, thing.frame))
                        else:
                            return None
                    else:
                        return None
        if not out:
            return () if param.default is not None else None
        return union(out, () if sure else gaps)

    def keyed(self, thing: Thing, key: str) -> Flows | None:
        """What a mapping holds under a text key: flows, `()` if surely nothing, `None` if not known."""
        asked = (thing, key)
        if asked in self._keying:  # `options = {**options, …}` in a loop holds itself
            self._circles += 1
            return ()
        if not self._keying:
            self._known_keys = {}
        elif asked in self._known_keys:  # `b = dict(a); b.update(a)`: each copy of a copy asks the one before it twice
            return self._known_keys[asked]
        self._keying.add(asked)
        before = self._circles
        try:
            found = self._keyed(thing, key)
        finally:
            self._keying.discard(asked)
        # What a circle was cut in holds only for whoever asks from inside it.
        if self._circles == before:
            self._known_keys[asked] = found
        return found

    def unpacked(self, args: tuple[Bind, ...], depth: int = 4) -> tuple[Bind, ...]:
        """Arguments with those in the place of `*args` that the function around was given itself, where they are known."""
        if not depth or not any(bind.spread == 1 for bind in args):
            return args
        out: list[Bind] = []
        for bind in args:
            if bind.spread == 1:
                given = {
                    flow.thing.binds if isinstance(flow.thing, Obj) and flow.thing.kind == "rest" else None
                    for flow in self.value(bind.expr, bind.frame)
                }
                only = next(iter(given)) if len(given) == 1 else None
                if only is None:
                    return args
                out.extend(only)
            else:
                out.append(bind)
        return self.unpacked(tuple(out), depth - 1)

    def names_in(self, thing: Thing, depth: int = 4) -> frozenset[str]:
        """Text keys under which a mapping is seen to hold something; what `keyed` says of each counts."""
        if not isinstance(thing, Obj) or thing.frame is None or not depth:
            return frozenset()
        found: set[str] = set()
        inner: list[tuple[f.Expr, Frame]] = []
        if thing.kind == "rest" and thing.binds is not None:
            found.update(bind.name for bind in thing.binds if bind.name is not None)
            inner.extend((bind.expr, bind.frame) for bind in thing.binds if bind.spread == 2)
        elif isinstance(thing.node, f.Call) and thing.maker in ("<builtin>.dict", "<builtin>.dict.copy"):
            found.update(arg.name for arg in thing.node.args if arg.name is not None)
            inner.extend((arg.value, thing.frame) for arg in thing.node.args if arg.name is None)
        elif isinstance(thing.node, f.Coll) and thing.node.kind == "map":
            found.update(str(pair.key.value) for pair in thing.node.items if isinstance(pair.key, f.Lit))
            inner.extend((pair.value, thing.frame) for pair in thing.node.items if pair.spread)
        for expr, frame in inner:
            for flow in self.value(expr, frame):
                found |= self.names_in(flow.thing, depth - 1)
        return frozenset(found)

    def _keyed(self, thing: Thing, key: str) -> Flows | None:
        if isinstance(thing, Null):
            return ()
        if not isinstance(thing, Obj):
            return None
        if thing.kind == "rest" and thing.binds is not None:
            if thing.frame is not None and _is_taken(key, thing.frame.fn):
                return ()
            passed = self._passed(thing, key)
            return self._with_stores(thing, key, list(passed)) if passed is not None else None
        if isinstance(thing.node, f.Call) and thing.frame is not None and thing.maker in ("<builtin>.dict", "<builtin>.dict.copy"):
            return self._keyed_call(thing, key)
        if isinstance(thing.node, f.Coll) and thing.node.kind == "map" and thing.frame is not None:
            return self._keyed_literal(thing, key)
        if isinstance(thing.node, f.Coll) and thing.frame is not None and _of_pairs(thing.node):
            return self._keyed_pairs(thing.node, thing.frame, key)
        return None

    def _keyed_pairs(self, node: f.Coll, frame: Frame, key: str) -> Flows | None:
        """What a list of pairs holds whose first parts are names, as options of some libraries are given."""
        found: Flows = ()
        for item in node.items:
            assert isinstance(item.value, f.Coll)
            name, value = (part.value for part in item.value.items)
            names = [flow.thing for flow in self.value(name, frame)]
            if any(isinstance(thing, Text) and thing.whole == key for thing in names):
                found = self.value(value, frame)
            elif any(not isinstance(thing, Text) for thing in names):
                return None
        return found

    def _passed(self, thing: Obj, key: str) -> Flows | None:
        """What the keywords hold that a function was given beyond its parameters."""
        binds = thing.binds or ()
        for bind in binds:
            if bind.name == key:
                flows = self.value(bind.expr, bind.frame)
                text = f"passed on as `{key}` through `**`"
                return tuple(x.hop(Hop(bind.frame.fn.module.path, bind.expr.at, bind.expr.end, text)) for x in flows)
        for bind in binds:
            if bind.spread == 2:
                inner = self._spread_over([], bind.expr, bind.frame, key)
                if inner is None:
                    return None
                if inner:
                    called = thing.frame.fn.head.qual if thing.frame is not None else "it"
                    hop = Hop(bind.frame.fn.module.path, bind.expr.at, bind.expr.end, f"`**` is passed on to {called}")
                    return union(x.hop(hop) for x in inner)
        return ()

    def _spread_over(self, before: list[Flow], expr: f.Expr, frame: Frame, key: str) -> list[Flow] | None:
        """What stands under a key once a mapping is spread over `before`: each way that lacks the key leaves what stood there."""
        present: list[Flow] = []
        gaps: list[Flow] = []
        for flow in self.value(expr, frame):
            got = self.keyed(flow.thing, key)
            if got is None:
                return None
            present.extend(x for x in got if not isinstance(x.thing, Absent))
            gaps.extend(x for x in got if isinstance(x.thing, Absent))
            if not got:
                gaps.append(_without(flow, key))
        if not present:
            return before
        return [*present, *(before or gaps)] if gaps else present

    def _keyed_call(self, thing: Obj, key: str) -> Flows | None:
        assert isinstance(thing.node, f.Call) and thing.frame is not None
        out: list[Flow] = []
        for arg in thing.node.args:
            if arg.name == key:
                return self.value(arg.value, thing.frame)
            if arg.spread or arg.name is None:
                spread = self._spread_over(out, arg.value, thing.frame, key)
                if spread is None:
                    return None
                out = spread
        return self._with_stores(thing, key, out)

    def _keyed_literal(self, thing: Obj, key: str) -> Flows | None:
        node, frame = thing.node, thing.frame
        assert isinstance(node, f.Coll) and frame is not None
        out: list[Flow] = []
        for pair in node.items:
            if pair.spread:
                spread = self._spread_over(out, pair.value, frame, key)
                if spread is None:
                    return None
                out = spread
            elif pair.key is not None:
                keys = [k.thing for k in self.value(pair.key, frame)]
                if any(isinstance(k, Text) and k.whole == key for k in keys):
                    out = list(self.value(pair.value, frame))
                elif any(not isinstance(k, Text | Num) for k in keys):
                    return None
        return self._with_stores(thing, key, out)

    def _with_stores(self, thing: Obj, key: str, first: list[Flow]) -> Flows | None:
        """What a mapping made with `first` under `key` holds there once its maker has stored what it stores."""
        written = self._written_keys(thing, key)
        if written is None:
            return None
        more, arms, overwrites = written
        if not more or thing.frame is None:
            return union(first)
        if _covered(arms):
            return union(more, () if overwrites else first)
        test = arms[0].node.test if len(arms) == 1 and isinstance(arms[0].node, f.If) else None
        if test is not None and any(isinstance(node, f.Lit) and node.value == key for node in walk(test)):
            # `if "timeout" not in options: …`, `if options.get("timeout") is None: …`: else what is there stays.
            by_name = isinstance(test, f.Bin) and test.op in ("in", "not in")
            return union(more, (x for x in first if by_name or not isinstance(x.thing, Null)))
        return union(more, first or self.passed_by(arms, thing.frame))

    def passed_by(self, arms: list[Arm], frame: Frame) -> Flows:
        """What holds on the paths that go around every store: nothing, with the calls that lead there where a test of a name
        decides; empty if there is no such path."""
        return () if _covered(arms) else union(self._passed_by(arms, frame))

    def _passed_by(self, arms: list[Arm], frame: Frame) -> Iterator[Flow]:
        body = frame.fn.body
        if len(arms) == 1 and isinstance(arms[0].node, f.If) and arms[0].kind == "then" and arms[0].parent is body.root:
            test, polarity = arms[0].node.test, True
            while isinstance(test, f.Un) and test.op == "not":
                test, polarity = test.value, not polarity
            name = dotted(test.left) if isinstance(test, f.Bin) else dotted(test)
            used = any(isinstance(node, f.Ref) and node.name == name for node in walk_block(arms[0].node.then))
            if name and (used or not any(isinstance(x.thing, Unknown) for x in self.name(name, test, frame))):
                for flow in self.name(name, test, frame):
                    if isinstance(flow.thing, Unknown):
                        yield flow
                    elif isinstance(flow.thing, Obj) and dotted(test) == name:
                        # An object is true, and a descriptor stands for anything.
                        yield flow._replace(thing=Unknown("an object"))
                    elif _admits(flow.thing, test, not polarity, name):
                        yield flow._replace(thing=Absent())
                return
        yield Flow(Absent())

    def _written_keys(self, thing: Obj, key: str) -> tuple[list[Flow], list[Arm], bool] | None:
        """What is stored later under `key` in a mapping by the function that made it (`d[k] = v`, `update`, `setdefault`), in which
        arms, and whether that overwrites what was there."""
        frame = thing.frame
        overwrites = True
        if frame is None:
            return [], [], overwrites
        body = frame.fn.body
        if thing.kind == "rest":
            names = {str(thing.node).removeprefix("rest ")}
        else:
            names = {n for n, ds in body.definitions.items() if any(d.expr is thing.node for d in ds)}
        out: list[Flow] = []
        arms: list[Arm] = []
        for name in sorted(names):
            for d in body.definitions.get(name + "[]", ()):
                target = _store_target(d, name)
                if target is None or d.expr is None:
                    return None
                keys = [k.thing for k in self.value(target.key, frame)]
                if any(isinstance(k, Text) and k.whole == key for k in keys):
                    out.extend(self.project(self.value(d.expr, frame), d.item, frame))
                    arms.append(d.arm)
                elif any(not isinstance(k, Text | Num) for k in keys):
                    return None
            for site in body.calls:
                called = dotted(site.call.fn)
                if called == f"{name}.update":
                    for arg in site.call.args:
                        if arg.name == key:
                            out.extend(self.value(arg.value, frame))
                            arms.append(site.arm)
                        elif arg.name is None:
                            for flow in self.value(arg.value, frame):
                                got = self.keyed(flow.thing, key)
                                if got is None:
                                    return None
                                out.extend(got)
                                arms.extend([site.arm] if got else [])
                elif called == f"{name}.setdefault" and len(site.call.args) == 2:
                    first = site.call.args[0].value
                    if isinstance(first, f.Lit) and first.value == key:
                        out.extend(self.value(site.call.args[1].value, frame))
                        arms.append(site.arm)
                        overwrites = False
        return out, arms, overwrites

    # ------------------------------------------------------------ callers

    def callers(self, fn: Fun) -> tuple[list[tuple[Frame, CallSite, tuple[Bind, ...], Thing | None]], bool]:
        """Call sites of a function in code that is no test (unless it is one), and whether those are all there can be here."""
        nothing: tuple[list[tuple[Frame, CallSite, tuple[Bind, ...], Thing | None]], bool] = ([], True)
        return self._solve(("callers", fn), lambda: self._find_callers(fn), nothing, _sites_of)  # type: ignore[no-any-return]

    def _find_callers(self, fn: Fun) -> tuple[list[tuple[Frame, CallSite, tuple[Bind, ...], Thing | None]], bool]:
        out: list[tuple[Frame, CallSite, tuple[Bind, ...], Thing | None]] = []
        whole = True
        applied = self._called_in_place(fn)
        if applied is not None:
            # Nobody else can hold a literal that is called where it stands: `go func() { … }()`.
            return [(self.frame(applied.fn), applied, self.binds(applied.call, self.frame(applied.fn)), None)], True
        wanted = self._call_names(fn)
        out.extend(self._applied(fn))
        observed = self._observed.get(fn, frozenset())
        candidates: Iterable[tuple[Fun, str]] = self._candidates(fn, wanted)
        if fn.module.language == "python":
            # Those of its own file are asked first: where a name is a common word, the others may be too many.
            candidates = sorted(candidates, key=lambda found: found[0].module is not fn.module)
        for caller, shift in candidates:
            if caller.module.is_test and not fn.module.is_test:
                continue
            frame = self.frame(caller)
            for site in _in_question(caller.body, wanted, observed, shift):
                if shift == "chain" and site.last not in ("this", "super"):
                    continue
                if shift == "variable" and site.call.at not in observed and not self._is_variable(site, caller):
                    continue
                if any(known.call is site.call for _, known, _, _ in out):
                    continue
                if shift == "observed" and site.call.at not in observed:
                    continue
                if not self._fits(fn, site.call) or (shift == "name" and self._surely_other(fn, site, caller)):
                    continue
                if self._spent():
                    self._lowest = -1
                    return out, False
                if fn.module.language == "java" and fn.head.kind != "lambda" and shift in ("name", "chain"):
                    if self.java.reaches(site, fn):
                        out.append((frame, site, self.binds(site.call, frame), None))
                    if len(out) > SITES:
                        return out[:SITES], False
                    continue
                for target, args in self.targets(site.call, frame):
                    if isinstance(target, FnVal) and target.fn is fn:
                        out.append((frame, site, args, target.this))
                    elif isinstance(target, ClassVal) and fn.name == "__init__":
                        init = self.init_of(target.klass)
                        if init is fn:
                            out.append((frame, site, args, Obj("new", target.klass, frame, site.call)))
                    elif (
                        (isinstance(target, Unknown) or _is_on_anything(target, fn))
                        and shift == "name"
                        and fn.is_method
                        and site.last == fn.name
                        and not fn.name.startswith("__")
                    ):
                        whole = whole and not self._plausible(fn, site)
                if len(out) > SITES:
                    return out[:SITES], False
        if fn.head.kind == "lambda" or self.handed_over(fn):
            whole = whole and bool(out)
        out.sort(key=lambda x: (x[0].fn.key, x[1].call.at))
        return out, whole

    def _surely_other(self, fn: Fun, site: CallSite, caller: Fun) -> bool:
        """Whether what stands before a method's name rules it out: an unrelated class's own receiver, a text, a library."""
        if not fn.is_method or fn.name.startswith("__") or fn.module.language != "python":
            return False
        if self._lacks(fn, site.call):
            return True
        called = site.call.fn
        if isinstance(called, f.Field):
            return isinstance(called.base, f.Lit | f.Fmt)
        if not isinstance(called, f.Ref):
            return False
        base, _, _ = called.name.rpartition(".")
        head = base.partition(".")[0]
        if not head or head in caller.body.definitions:
            return False
        if head in caller.params:
            if base != head or not caller.is_method or caller.head.params[0].name != head or caller.head.is_static:
                return False
            own, other = self.owner(caller), self.owner(fn)
            return own is not None and other is not None and other not in self.family(own) and own not in self.family(other)
        imports = caller.module.imports.get(head)
        return (
            imports is not None
            and caller.parent is None
            and all(not imp.level and self.names.python_module(caller.module, imp.target) is None for imp in imports)
        )

    @staticmethod
    def _called_in_place(fn: Fun) -> CallSite | None:
        """The call of a literal that is called where it stands."""
        if fn.head.kind != "lambda" or fn.head.parent < 0:
            return None
        around = fn.module.functions[fn.head.parent]
        return next((s for s in around.body.calls if isinstance(s.call.fn, f.Fn) and s.call.fn.index == fn.index), None)

    def _call_names(self, fn: Fun) -> frozenset[str]:
        if fn.name == "__init__":
            owner = self.owner(fn)
            names = {"__init__"}
            if owner is not None:
                for klass in self.family(owner):
                    names.add(klass.name)
                names.add("cls")
            return frozenset(names)
        if fn.name == "__call__":
            return frozenset()
        return frozenset({fn.name})

    def _candidates(self, fn: Fun, wanted: frozenset[str]) -> Iterator[tuple[Fun, str]]:
        seen: set[Fun] = set()
        if fn.module.language == "java" and fn.name == "__init__":
            yield from ((constructor, "chain") for constructor in self.java.constructors_below(fn))
        if fn.head.kind != "lambda":
            for name in sorted(wanted):
                for caller in self.names.callers(name):
                    if caller not in seen:
                        seen.add(caller)
                        yield caller, "name"
            for name in sorted(wanted):
                for holder in self.names.values_of.get(name, ()):
                    if holder.module is fn.module or self._sees(holder.module, fn):
                        # It may call the function by its name too, and has been looked at for that.
                        seen.add(holder)
                        yield holder, "variable"
            if self.handed_over(fn) and not self._batch:
                for caller in fn.module.functions:
                    if caller not in seen and any(called in caller.params for called in caller.head.calls):
                        seen.add(caller)
                        yield caller, "variable"
        if fn.head.kind == "lambda" or fn.parent is not None:
            for caller in self._around(fn):
                if caller not in seen and caller.head.calls:
                    seen.add(caller)
                    yield caller, "variable"
        for caller in self._observers.get(fn, ()):
            if caller not in seen:
                seen.add(caller)
                yield caller, "observed"

    def _sees(self, module: Module, fn: Fun) -> bool:
        """Whether a file can hold a function of another: it can name it or, a method of no common name, be handed its object."""
        if fn.parent is not None or module.language != fn.module.language:
            return False
        if fn.is_method:
            return fn.name not in self.table(fn.module).names and len(self.names.values_of.get(fn.name, ())) <= SITES
        if fn.head.kind != "free":
            return False
        key = (module.path, fn.module.path)
        found = self._in_sight.get(key)
        if found is None:
            if module.language == "go":
                package, imports = self.names.package_of(fn.module), module.facts.imports
                found = self.names.package_of(module) is package or any(imp.target == package.path for imp in imports)
            else:
                found = any(self.names.python_module(module, imp.target, imp.level) is fn.module for imp in module.facts.imports)
            self._in_sight[key] = found
        return found

    def _is_stored(self, name: str) -> bool:
        """Whether an attribute of that name is assigned or declared as a field somewhere."""
        if self._fields is None:
            self._fields = {field.name for klass in self.names.all_classes() for field in klass.decl.fields}
        return name in self._fields or bool(self.names.writers(name))

    def _around(self, fn: Fun) -> Iterator[Fun]:
        """Functions that may call a function which no name leads to. Where everything is asked those beside it will do: calls
        further off are observed."""
        if self._batch:
            scope = fn.parent or fn.module.functions[0]
            yield scope
            yield from (caller for caller in fn.module.functions if caller.index and (caller.parent or scope) is scope)
        elif fn.module.language == "go":
            for module in self.names.package_of(fn.module).modules:
                yield from module.functions
        else:
            yield from fn.module.functions

    def _is_variable(self, site: CallSite, caller: Fun) -> bool:
        """Whether a call may be one of a variable's value: a local name, or an attribute that is written somewhere."""
        if not isinstance(site.call.fn, f.Ref | f.Index | f.Call):
            return False
        name, dot, rest = dotted(site.call.fn).partition(".")
        if not name:
            return True
        if dot and not self._is_stored(rest.rpartition(".")[2]):
            return False
        fn: Fun | None = caller
        while fn is not None:
            if name in fn.params or name in fn.body.definitions:
                return True
            fn = fn.parent
        return False

    def handed_over(self, fn: Fun) -> bool:
        """Whether the function itself is stored or passed, so that others may call it."""
        last = fn.name
        if fn.module.language == "java":
            return self.java.is_referred_to(fn)
        return any(holder.module is fn.module or fn.is_method for holder in self.names.values_of.get(last, ()))

    def _fits(self, fn: Fun, call: f.Call) -> bool:
        given = 0
        for arg in call.args:
            if arg.spread:
                return True
            if arg.name is None:
                given += 1
            elif arg.name not in fn.params and not any(p.kind == "**" for p in fn.head.params):
                return fn.name == "__init__" or bool(fn.head.decorators)
        most = len(fn.positional)
        if any(p.kind == "*" for p in fn.head.params) or fn.head.decorators:
            return True
        return given <= most + (1 if fn.is_method else 0)

    def _lacks(self, fn: Fun, call: f.Call) -> bool:
        """Whether a call leaves out what a method needs, or gives it a literal where it takes an object of a library."""
        if fn.head.decorators or any(arg.spread for arg in call.args):
            return False
        positional = fn.positional
        if len(call.args) < sum(param.default is None for param in positional):
            return True
        plain = [arg.value for arg in call.args if arg.name is None]
        for param, value in zip(positional, plain, strict=False):
            if isinstance(value, f.Lit) and value.value is not None and param.type is not None and param.type.shape == "plain":
                kind = self.resolve_type(param.type, fn)
                known = self.table(fn.module).type(kind) if isinstance(kind, str) else None
                if known is not None and known.role != "value":
                    return True
        return False

    def _plausible(self, fn: Fun, site: CallSite) -> bool:
        """Whether a call on a receiver that is not known might mean this method: its name is not a common word of libraries."""
        return fn.name not in self.table(fn.module).names

    # ------------------------------------------------------------ calls

    def binds(self, call: f.Call, frame: Frame) -> tuple[Bind, ...]:
        """The arguments of a call."""
        return tuple(Bind(a.value, frame, a.name, a.spread) for a in call.args)

    def targets(self, call: f.Call, frame: Frame) -> list[tuple[Thing, tuple[Bind, ...]]]:
        """What a call may call, with the arguments each gets (a partial adds its own)."""
        out: list[tuple[Thing, tuple[Bind, ...]]] = []
        for flow in self.callee(call, frame):
            out.extend(self.unwrap(flow.thing, self.binds(call, frame), frame))
        return out

    def callee(self, call: f.Call, frame: Frame) -> Flows:
        """What stands in the place of the called."""
        if isinstance(call.fn, f.Ref) and call.fn.name == "super" and frame.fn.module.language == "python":
            return self._super(call, frame)
        if isinstance(call.fn, f.Index):
            inner = self.value(call.fn.base, frame)
            if any(isinstance(x.thing, FnVal | ClassVal) for x in inner):
                return inner
        if frame.fn.module.language == "java":
            return self.java.callee(call, frame)
        return self.value(call.fn, frame)

    def _super(self, call: f.Call, frame: Frame) -> Flows:
        fn: Fun | None = frame.fn
        inner: Frame | None = frame
        while fn is not None and self.owner(fn) is None:
            fn = fn.parent
            inner = inner.closure if inner is not None else None
        owner = self.owner(fn) if fn is not None else None
        if owner is None or fn is None:
            return unknown("super() outside a class")
        this: Thing = inner.this if inner is not None and inner.this is not None else Obj("any", owner, None, None)
        return (Flow(SuperVal(owner, this)),)

    def unwrap(
        self, thing: Thing, args: tuple[Bind, ...], frame: Frame, within: tuple[f.Node, ...] = ()
    ) -> Iterator[tuple[Thing, tuple[Bind, ...]]]:
        """What calling a thing calls in the end: what a partial stands for, `__call__` of an object. `within`: the partials in
        which it stands; one that took the place of what it was made of is no part of itself."""
        if (
            isinstance(thing, Obj)
            and thing.kind == "call"
            and thing.maker == "functools.partial"
            and isinstance(thing.node, f.Call)
            and thing.frame is not None
        ):
            made = thing.binds if thing.binds is not None else self.binds(thing.node, thing.frame)
            if made:
                first, rest = made[0], made[1:]
                names = {b.name for b in args if b.name is not None}
                merged = (
                    *(b for b in rest if b.name is None),
                    *(b for b in args if b.name is None),
                    *(b for b in rest if b.name is not None and b.name not in names),
                    *(b for b in args if b.name is not None),
                )
                if any(node is thing.node for node in within):
                    return
                for flow in self.value(first.expr, first.frame):
                    yield from self.unwrap(flow.thing, merged, first.frame, (*within, thing.node))
                return
        if isinstance(thing, Obj) and isinstance(thing.type, Klass):
            found = self.method(thing, "__call__")
            if found:
                for target in found:
                    yield target, args
                return
        if isinstance(thing, Obj) and isinstance(thing.type, str) and thing.type:
            called = f"{thing.type}.__call__"
            table = self.table(frame.fn.module)
            if table.returned(called) is not None or table.call(called) is not None:
                yield Bound(thing, "__call__"), args
                return
        yield thing, args

    def result(self, call: f.Call, frame: Frame) -> Flows:
        """What a call may give."""
        out: list[Flow] = []
        for flow in self.callee(call, frame):
            for target, args in self.unwrap(flow.thing, self.binds(call, frame), frame):
                out.extend(self._result(target, args, call, frame, flow))
        return union(out) if out else unknown("a call of something unknown")

    def _result(self, target: Thing, args: tuple[Bind, ...], call: f.Call, frame: Frame, flow: Flow) -> Flows:
        match target:
            case FnVal():
                return self.returned(target, call, frame, args)
            case ClassVal():
                if frame.fn.module.language == "go":
                    return self.value(call.args[0].value, frame) if call.args else ()
                own = args if args != self.binds(call, frame) else None
                return (Flow(Obj("new", target.klass, frame, call, binds=own)),)
            case Ext():
                return self._external(target.name, None, args, call, frame)
            case Bound():
                return self._external(self.canonical(target), target.obj, args, call, frame)
            case SuperVal():
                return (Flow(target),)
            case Unknown() if isinstance(call.fn, f.Ref):
                return unknown("a call of something unknown")
        return unknown("a call of something unknown")

    def canonical(self, thing: Thing) -> str:
        """The canonical name of an external callable."""
        if isinstance(thing, Ext):
            return thing.name
        if isinstance(thing, Bound):
            base = self.external_type(thing.obj)
            return f"{base}.{thing.name}" if base else f"?.{thing.name}"
        return ""

    def external_type(self, obj: Obj) -> str:
        """The external type of an object; of a class of the program, its first external base."""
        if isinstance(obj.type, str):
            return obj.type
        _, external = self.mro(obj.type)
        table = self.table(obj.type.module)
        return next((name for name in external if table.type(name) is not None), external[0] if external else "")

    def _external(self, name: str, holder: Obj | None, args: tuple[Bind, ...], call: f.Call, frame: Frame) -> Flows:
        table = self.table(frame.fn.module)
        special = self._builtin(name, holder, args, call, frame)
        if special is not None:
            return special
        if name in self.wiring.lookups and (found := self.wiring.looked_up(args, frame.fn.module)):
            return found
        bound = args if args != self.binds(call, frame) else None
        kind = table.constructs(name)
        row = table.call(name)
        # Made by hand it may be less than what the library's own functions give under the same name.
        if kind is not None and not (row is not None and row.does == "make" and row.returns):
            return (Flow(Obj("call", kind.name, frame, call, name, holder, bound)),)
        if row is not None and row.counts is not None:
            return self.java.counted(row, call, args, frame)
        if row is not None and row.arithmetic is not None:
            return self.java.changed(row, call, args, frame)
        if row is not None and row.gives is not None:
            return self.java.given(row, holder, call, args, frame)
        if row is not None and row.conversion:
            return self._conversion(row, args)
        returned = self._by_constant(row, args) or table.returned(name)
        if holder is not None and self._gives_itself(holder, name, table):
            return (Flow(holder),)
        if returned:
            return (Flow(Obj("call", returned, frame, call, name, holder, bound)),)
        made = table.made_by(name)
        if made is not None:
            return (Flow(Obj("call", made.name, frame, call, name, holder, bound)),)
        head, _, last = name.rpartition(".")
        if head:
            shaped = table.shape(head, last)
            if shaped is not None:
                return (Flow(Obj("call", shaped, frame, call, name, holder, bound)),)
        if (
            row is not None
            and row.scope is not None
            and row.scope.form == "call"
            and row.scope.body is not None
            and row.scope.body < len(args)
        ):
            return self.value(args[row.scope.body].expr, args[row.scope.body].frame)
        return (Flow(Obj("call", "", frame, call, name, holder, bound)),)

    def _by_constant(self, row: CallEntry | None, args: tuple[Bind, ...]) -> str | None:
        """The type that a call gives for the constant it is given first, where that decides it."""
        if row is None or not row.returns_by or not args:
            return None
        named = {self.canonical(flow.thing) for flow in self.ask(args[0].expr, args[0].frame)}
        return row.returns_by.get(named.pop()) if len(named) == 1 else None

    def _gives_itself(self, holder: Obj, name: str, table: Table) -> bool:
        """Whether a method gives the object it is called on: a builder's, of which nothing else is known."""
        levels = table.mro(self.external_type(holder) or "?")
        last = name.rpartition(".")[2]
        said = next((level.returns[last] for level in levels if last in level.returns), None)
        if said is not None:
            return said == "this"
        row = table.call(name)
        return any(level.fluent for level in levels) and table.made_by(name) is None and (row is None or not row.returns)

    def _conversion(self, row: CallEntry, args: tuple[Bind, ...]) -> Flows:
        """A duration made of numbers, for each that they may be; a call without any makes none."""
        units = row.conversion
        sums: Flows = (Flow(Num(0.0, "dur")),)
        position = 0
        for at, bind in enumerate(args):
            key = bind.name if bind.name is not None else str(position)
            position += bind.name is None
            if row.unit_pos is not None and at == row.unit_pos:
                continue
            unit = units.get(key)
            if unit is None:
                return unknown("a duration that is not read")
            flows = self.value(bind.expr, bind.frame)
            if unit == "dur" and row.unit_pos is not None and 0 <= row.unit_pos < len(args):
                flows = self.java.scaled(flows, args[row.unit_pos])
            sums = union(_added(total, flow, unit) for total in sums for flow in flows if not isinstance(flow.thing, Null | Absent))
        return sums or unknown("a duration of unknown length")

    def _builtin(self, name: str, holder: Obj | None, args: tuple[Bind, ...], call: f.Call, frame: Frame) -> Flows | None:
        """Calls of the languages themselves that pass values on."""
        last = name.rpartition(".")[2]
        if name in _PASS and args:
            return self.value(args[_PASS[name]].expr, args[_PASS[name]].frame) if len(args) > _PASS[name] else None
        if name in ("os.environ.get", "os.getenv", "os.Getenv", "os.LookupEnv") and args:
            key = self._text(args[0])
            default = self.value(args[1].expr, args[1].frame) if len(args) > 1 else ()
            return union((Flow(Env(key or "?")),), default)
        if name in ("fmt.Sprintf", "<builtin>.str.format"):
            return self._filled(name, args, call, frame)
        if name == "<builtin>.getattr" and len(args) >= 2:
            key = self._text(args[1])
            if key:
                return self.attributes(self.value(args[0].expr, args[0].frame), key, call, frame)
        if name in ("<builtin>.min", "<builtin>.max", "cmp.Or") and len(args) > 1:
            flows = union(*(self.value(a.expr, a.frame) for a in args))
            numbers = [x for x in flows if isinstance(x.thing, Num)]
            if name == "cmp.Or":
                return self._first_set(args)
            if len(numbers) == len(flows) and numbers:
                pick = min if name.endswith("min") else max
                return (pick(numbers, key=lambda x: x.thing.number if isinstance(x.thing, Num) else inf),)
            return flows
        if name == "<builtin>.append" and args:
            return (Flow(Obj("appended", "list", frame, call, name)), *self.value(args[0].expr, args[0].frame))
        if name == "<builtin>.make" and args and isinstance(args[0].expr, f.New):
            kind = args[0].expr.type
            if kind.shape == "plain":
                resolved = self.resolve_type(kind, frame.fn)
                if isinstance(resolved, Klass) and resolved.decl.alias_of is not None:
                    kind = resolved.decl.alias_of
            return (Flow(Obj("call", kind.shape if kind.shape != "plain" else kind.name, frame, call, "<builtin>.make")),)
        if name in ("<builtin>.iter", "<builtin>.next", "<builtin>.anext") and args:
            flows = self.value(args[0].expr, args[0].frame)
            if name == "<builtin>.iter":
                return flows
            return union(*(self.element(x, frame) for x in flows))
        if holder is not None and isinstance(holder.node, f.Coll) and holder.frame is not None:
            if last in ("get", "pop", "setdefault") and args:
                key = self._text(args[0])
                default = self.value(args[1].expr, args[1].frame) if len(args) > 1 else ((Flow(Null()),) if last == "get" else ())
                if key is not None:
                    got = self.keyed(holder, key)
                    if got is not None:
                        return got or union(got, default)
                return union(self.element(Flow(holder), frame), default)
            if last in ("values", "items", "keys", "copy"):
                if last == "copy":
                    return (Flow(holder),)
                return (Flow(Obj("call", "", frame, call, name, holder)),)
        if holder is not None and holder.kind == "rest" and last in ("get", "pop", "setdefault") and args:
            key = self._text(args[0])
            default = self.value(args[1].expr, args[1].frame) if len(args) > 1 else (Flow(Null()),)
            if key is not None:
                got = self.keyed(holder, key)
                if got is not None:
                    return got or default
        return None

    def _filled(self, name: str, args: tuple[Bind, ...], call: f.Call, frame: Frame) -> Flows | None:
        """A text with places for values: those that are not one known text or number are holes."""
        if name == "fmt.Sprintf":
            templates, values = (self.value(args[0].expr, args[0].frame) if args else ()), args[1:]
            places = _VERB
        else:
            base = call.fn.base if isinstance(call.fn, f.Field) else None
            if isinstance(call.fn, f.Ref):
                base = f.Ref(call.fn.at, call.fn.end, call.fn.name.rpartition(".")[0])
            templates, values = (self.value(base, frame) if base is not None else ()), args
            places = _BRACES
        if len(templates) != 1 or not isinstance(templates[0].thing, Text) or templates[0].thing.whole is None:
            return None
        pieces: list[str | None] = []
        end = count = 0
        template = templates[0].thing.whole
        for match in places.finditer(template):
            pieces.append(template[end : match.start()])
            end = match.end()
            key = match["key"] or ""
            if match[0] in ("%%", "{{", "}}"):
                pieces.append(match[0][0])
                continue
            bind = next((b for b in values if b.name == key), None) if key and not key.isdigit() else None
            if bind is None and (not key or key.isdigit()):
                position = int(key) if key else count
                bind = values[position] if position < len(values) and not any(v.spread for v in values) else None
            count += 1
            pieces.extend(self._written_out(bind))
        return (Flow(Text(*pieces, template[end:]), templates[0].hops[:4]),)

    def _written_out(self, bind: Bind | None) -> tuple[str | None, ...]:
        flows = self.value(bind.expr, bind.frame) if bind is not None else ()
        if len(flows) == 1 and isinstance(flows[0].thing, Text):
            return flows[0].thing.pieces
        if len(flows) == 1 and isinstance(flows[0].thing, Num) and not flows[0].thing.unit:
            return (_number_text(flows[0].thing.number),)
        return (None,)

    def _first_set(self, args: tuple[Bind, ...]) -> Flows:
        """The first argument that is not zero; where all may be, zero is left."""
        out: list[Flow] = []
        for bind in args:
            flows = self.value(bind.expr, bind.frame)
            out.extend(x for x in flows if keeps(x.thing, True))
            if flows and not any(keeps(x.thing, False) for x in flows):
                return union(out)
        return union(out, (x for x in flows if not keeps(x.thing, True)))

    def _text(self, bind: Bind) -> str | None:
        flows = self.value(bind.expr, bind.frame)
        if len(flows) == 1 and isinstance(flows[0].thing, Text):
            return flows[0].thing.whole
        return None

    def returned(self, target: FnVal, site: Any, frame: Frame, args: tuple[Bind, ...]) -> Flows:
        """What a function of the program gives under one call."""
        node = site if isinstance(site, f.Node) else frame.fn.head
        inner = self.enter(target, node, frame, args)  # type: ignore[arg-type]
        return self.returned_in(inner)

    def returned_in(self, frame: Frame) -> Flows:
        """What a function gives in a frame: its results, or what a generator is."""
        return self._remember(("returns", frame), lambda: self._returned(frame))

    def _returned(self, frame: Frame) -> Flows:
        fn = frame.fn
        if fn.head.is_abstract:
            implementations = self._implementations(fn)
            if implementations:
                return union(
                    *(
                        self.returned_in(self._intern(Frame(x, frame.site, frame.caller, frame.args, frame.this, None)))
                        for x in implementations[:8]
                    )
                )
            return self._declared_result(fn, frame) or unknown("an abstract method")
        if fn.head.is_generator:
            return (Flow(Obj("gen", "", frame, frame)),)
        out: list[Flow] = []
        for stmt, _ in fn.body.returns:
            if stmt.value is not None:
                out.extend(self.value(stmt.value, frame))
            elif fn.head.named_returns:
                name = fn.head.named_returns[0]
                reached, _falls = fn.body.reaching(name, stmt.at)
                for d in reached:
                    out.extend(self.defined(d, frame))
        if not fn.body.returns and not fn.head.returns:
            return (Flow(Null()),)
        flows = union(out)
        if not flows or all(isinstance(x.thing, Unknown) for x in flows):
            return self._declared_result(fn, frame) or flows or unknown("a function without result")
        return flows

    def _declared_result(self, fn: Fun, frame: Frame) -> Flows:
        if fn.head.returns:
            kind = fn.head.returns[0]
            if kind.shape in ("plain", "ptr", "opt"):
                resolved = self.resolve_type(kind, fn)
                if resolved is not None and resolved != "":
                    return (Flow(Obj("outside", resolved, self.frame(fn), "result")),)
        return ()

    def _implementations(self, fn: Fun) -> list[Fun]:
        owner = self.owner(fn)
        if owner is None:
            return []
        if fn.module.language == "java":
            return [other for other in self.names.java.overrides(fn) if not other.head.is_abstract]
        if owner.decl.kind == "interface":
            return [k.methods[fn.name] for k in self.implementers(owner) if fn.name in k.methods]
        return [
            k.methods[fn.name] for k in self.subclasses(owner) if fn.name in k.methods and not k.methods[fn.name].head.is_abstract
        ]

    # ------------------------------------------------------------ classes

    def owner(self, fn: Fun) -> Klass | None:
        """The class a method belongs to."""
        if fn.head.owner >= 0:
            return fn.module.classes[fn.head.owner]
        if fn.head.receiver:
            package = self.names.package_of(fn.module)
            found = package.classes.get(fn.head.receiver)
            plain = self.names.tested_package(package)
            if found is None and plain is not None:
                found = plain.classes.get(fn.head.receiver)
            return found
        return None

    def bases(self, klass: Klass) -> tuple[list[Klass], list[str]]:
        """Direct bases: classes of the program, and external ones by canonical name. Go: embedded types."""
        if klass.module.language == "java":
            return self.names.java.bases(klass)
        top = klass.module.functions[klass.decl.parent if klass.decl.parent > 0 else 0]
        own: list[Klass] = []
        external: list[str] = []
        if klass.module.language == "go":
            for field in klass.decl.fields:
                if field.embedded and field.type is not None:
                    kind = self.resolve_type(field.type, top)
                    if isinstance(kind, Klass):
                        own.append(kind)
                    elif kind:
                        external.append(kind)
            return own, external
        frame = self.frame(top)
        for base in klass.decl.bases:
            name = type_name(base)
            expr = base.base if isinstance(base, f.Index) else base
            for flow in self.value(expr, frame):
                if isinstance(flow.thing, ClassVal):
                    if flow.thing.klass is not klass:
                        own.append(flow.thing.klass)
                elif isinstance(flow.thing, Ext):
                    external.append(flow.thing.name)
                elif name and isinstance(flow.thing, Bound | Unknown):
                    external.append("")
        return own, external

    def mro(self, klass: Klass) -> tuple[list[Klass], list[str]]:
        """The class and its bases in order of resolution, and the external bases met."""
        if klass.module.language == "java":
            return self.names.java.mro(klass)
        found = self._mro.get(klass)
        if found is not None:
            return found
        self._mro[klass] = ([klass], [])
        with self._apart():
            own, external = self.bases(klass)
        lists = [list(self.mro(k)[0]) for k in own]
        merged = _merge([*lists, list(own)])
        outside = list(external)
        for k in own:
            outside.extend(x for x in self.mro(k)[1] if x not in outside)
        result = ([klass, *(k for k in merged if k is not klass)], outside)
        self._mro[klass] = result
        return result

    def subclasses(self, klass: Klass) -> list[Klass]:
        """All classes of the program below this one."""
        if klass.module.language == "java":
            return self.names.java.subtypes(klass)
        if self._subs is None:
            subs: dict[Klass, list[Klass]] = {}
            for k in self.names.all_classes():
                if k.decl.bases and k.module.language != "go":
                    for base in self.mro(k)[0][1:]:
                        subs.setdefault(base, []).append(k)
            self._subs = subs
        return self._subs.get(klass, [])

    def family(self, klass: Klass) -> list[Klass]:
        """The class, those it stands on and those that stand on it."""
        return [*self.mro(klass)[0], *self.subclasses(klass)]

    def implementers(self, interface: Klass) -> list[Klass]:
        """Go types of the program with all the methods of an interface."""
        wanted = {m: interface.methods[m] for m in interface.methods}
        if not wanted:
            return []
        first = min(wanted, key=lambda m: len(self.names.methods_named(m)))
        out: list[Klass] = []
        for fun in self.names.methods_named(first):
            owner = self.owner(fun)
            if owner is None or owner.decl.kind == "interface" or owner in out or owner.module.is_test:
                continue
            if all(m in owner.methods and len(owner.methods[m].positional) == len(w.positional) for m, w in wanted.items()):
                out.append(owner)
        return out[:8]

    def method(self, obj: Obj, name: str) -> list[FnVal]:
        """Methods of that name an object of the program may have."""
        if not isinstance(obj.type, Klass):
            return []
        klass = obj.type
        out: list[FnVal] = []
        if klass.module.language == "java":
            own = self.java.methods(klass, name)
            below = [x for fn in own for x in self.names.java.overrides(fn)] if obj.kind in ("any", "outside") else []
            out.extend(FnVal(fn, None, obj) for fn in own if not (below and fn.head.is_abstract))
            out.extend(FnVal(fn, None, Obj("any", fn.module.classes[fn.head.owner], None, None)) for fn in below)
            return out[:16]
        if klass.decl.kind == "interface":
            return [FnVal(k.methods[name], None, Obj("any", k, None, None)) for k in self.implementers(klass) if name in k.methods]
        for k in self.mro(klass)[0]:
            if name in k.methods:
                out.append(FnVal(k.methods[name], None, obj))
                break
        if obj.kind in ("any", "outside"):
            for k in self.subclasses(klass):
                if name in k.methods:
                    out.append(FnVal(k.methods[name], None, Obj("any", k, None, None)))
        return out[:16]

    def init_of(self, klass: Klass, call: f.Node | None = None) -> Fun | None:
        """The constructor of a class; of Java's the one that such a call means."""
        if klass.module.language == "java" and isinstance(call, f.Call):
            return next(iter(self.names.java.constructors(klass, len(call.args))), None)
        for k in self.mro(klass)[0]:
            if "__init__" in k.methods:
                return k.methods["__init__"]
        return None

    # ------------------------------------------------------------ types as written

    def resolve_type(self, kind: f.Type | None, fn: Fun) -> Klass | str | None:
        """The class or canonical external name a written type means; `None` for builtin and unknown ones."""
        if kind is None or not kind.name or kind.shape in ("list", "array", "map", "chan", "fn", "variadic"):
            return None
        if fn.module.language == "java":
            return self.java.resolve_type(kind.name, fn)
        head, _, rest = kind.name.partition(".")
        flows = self.global_name(head, fn.module)
        scope: Fun | None = fn
        while scope is not None and scope.index:
            inner = scope.body.definitions.get(head)
            if inner is not None and any(d.kind == "class" for d in inner):
                return next(fn.module.classes[d.index] for d in inner if d.kind == "class")
            imported = self._imports(head, scope)
            if imported:
                flows = imported
                break
            scope = scope.parent
        for flow in flows:
            thing: Thing = flow.thing
            name = rest
            while name and isinstance(thing, ModVal | PkgVal | ClassVal):
                part, _, name = name.partition(".")
                inner_flows = self.attributes((Flow(thing),), part, None, self.frame(fn.module.functions[0]))
                thing = inner_flows[0].thing if inner_flows else Unknown("no such type")
            if isinstance(thing, ClassVal):
                return thing.klass
            if isinstance(thing, Ext):
                full = thing.name + ("." + name if name else "")
                if full.startswith("<builtin>."):
                    return None
                return self._external_type(full, fn.module)
        return None

    def _external_type(self, name: str, module: Module) -> str:
        table = self.table(module)
        known = table.type(name)
        if known is not None:
            return known.name
        head, _, last = name.rpartition(".")
        return table.shape(head, last) or name

    def static_type(self, expr: f.Expr, fn: Fun, asked: set[tuple[str, Fun]] | None = None) -> f.Type | None:
        """The written type of a name or field, where it is declared."""
        name = dotted(expr)
        # Names may be given to each other: `a = b`, and `b = a` further down.
        asked = asked if asked is not None else set()
        if not name or (name, fn) in asked:
            return None
        asked.add((name, fn))
        head, _, rest = name.partition(".")
        kind: f.Type | None = None
        owner_fn = fn
        scope: Fun | None = fn
        while scope is not None:
            if head in scope.params:
                param = scope.params[head]
                kind = param.type
                if param.kind == "self":
                    owner = self.owner(scope)
                    kind = f.Type(owner.name) if owner is not None and kind is None else kind
                elif param.kind == "*" and kind is not None:
                    kind = f.Type("[]", (kind,), "list")
                break
            for d in scope.body.definitions.get(head, ()):
                if d.type is not None:
                    kind = d.type
                elif isinstance(d.expr, f.New | f.Coll):
                    kind = d.expr.type
                elif isinstance(d.expr, f.Ref) and d.expr.name != name and d.kind == "value" and not d.item:
                    kind = self.static_type(d.expr, scope, asked)
                elif isinstance(d.expr, f.Call) and d.kind == "value":
                    kind = self._result_type(d.expr, scope, d.item)
                if kind is not None:
                    break
            if kind is not None:
                break
            scope = scope.parent
        while kind is not None and rest:
            part, _, rest = rest.partition(".")
            klass = self.resolve_type(kind, owner_fn)
            if not isinstance(klass, Klass) or part not in klass.fields:
                return None
            kind = klass.fields[part].type
            owner_fn = klass.module.functions[0]
        return kind

    def _result_type(self, call: f.Call, fn: Fun, item: tuple[int, ...]) -> f.Type | None:
        if fn.module.language != "go":
            return None
        for flow in self.callee(call, self.frame(fn)):
            if isinstance(flow.thing, FnVal):
                returns = flow.thing.fn.head.returns
                position = item[0] if item else 0
                if position < len(returns):
                    return returns[position]
        return None

    # ------------------------------------------------------------ attributes

    def attributes(self, flows: Flows, name: str, at: Any, frame: Frame) -> Flows:
        """`x.name` for everything x may be."""
        out: list[Flow] = []
        for flow in flows:
            for got in self.attribute(flow.thing, name, frame):
                hops = flow.hops + tuple(h for h in got.hops if h not in flow.hops) if got.hops else flow.hops
                out.append(got._replace(hops=hops[-12:], omitted=flow.omitted + got.omitted, default=flow.default or got.default))
        return union(out)

    def attribute(self, thing: Thing, name: str, frame: Frame) -> Flows:
        """`thing.name`."""
        match thing:
            case ModVal():
                if isinstance(thing.module, Module):
                    found = self.member(thing.module, name)
                    return found or unknown(f"no {name} in {thing.module.path}")
                sub = self.names.submodule(thing.module, name)
                if sub is not None:
                    return (Flow(ModVal(sub)),)
                # A folder without `__init__` has nothing but its modules: another package of that name is meant.
                return self._external_name(f"{thing.module.rpartition('/')[2]}.{name}", frame)
            case PkgVal():
                return self._go_member(thing.package, name) or unknown(f"no {name} in {thing.package.path}")
            case Ext():
                full = f"{thing.name}.{name}"
                return self._external_name(full, frame)
            case ClassVal():
                return self._class_attribute(thing.klass, name, thing)
            case SuperVal():
                return self._super_attribute(thing, name)
            case Obj():
                return self.field(thing, name, frame)
            case Null() | Absent():
                return ()
            case Unknown():
                return (Flow(Unknown(thing.why, unit_of_name(name))),)
            case Text() | Num() if frame.fn.module.language == "java":
                kind = "java.time.Duration" if isinstance(thing, Num) and thing.unit == "dur" else "java.lang.String"
                return (Flow(Ext(f"{kind}.{name}")),)
            case FnVal() if thing.fn.module.language == "java":
                return (Flow(thing),)  # the one method of a functional interface, whatever its name
            case FnVal():
                return self._of_wrapped(thing.fn, name, frame) or unknown("an attribute of a function")
            case Text() | Num():
                return (Flow(Ext(f"<builtin>.{'str' if isinstance(thing, Text) else 'int'}.{name}")),)
            case Bound():
                name_of = self.canonical(thing)
                kind = self.table(frame.fn.module).returned(name_of) or self._any_part(thing.obj, frame)
                if kind:
                    # `app.router` is an object, not a method, and what bounds `app` bounds it.
                    held = Obj("call", kind, thing.obj.frame, thing.obj.node, f"{name_of}#", thing.obj, ())
                    return (Flow(Bound(held, name)),)
                return (Flow(Bound(Obj("call", kind, None, thing.name, name_of), name)),)
        return unknown("an attribute of something unknown")

    def _of_wrapped(self, fn: Fun, name: str, frame: Frame) -> Flows:
        """An attribute that a function has by a decorator: `task.delay`."""
        scope = self.frame(fn.module.functions[max(fn.head.parent, 0)])
        table = self.table(fn.module)
        out: list[Flow] = []
        for decorator in fn.head.decorators:
            expr = decorator.fn if isinstance(decorator, f.Call) else decorator
            for flow in self.value(expr, scope):
                maker = self.canonical(flow.thing)
                row = table.call(maker) if maker else None
                if row is not None and row.wraps is not None:
                    out.extend(self.field(Obj("call", row.wraps, scope, decorator, maker, None, ()), name, frame))
        return union(out)

    def _external_name(self, full: str, frame: Frame) -> Flows:
        constant = self._constants[frame.fn.module.language].get(full)
        if constant is not None:
            return (Flow(Num(constant.number * SECONDS.get(constant.unit, 1.0), "dur" if constant.typed else "")),)
        instance = self.table(frame.fn.module).instance(full)
        if instance is not None:
            return (Flow(Obj("instance", instance.name, None, full, full)),)
        return (Flow(Ext(full)),)

    def _class_attribute(self, klass: Klass, name: str, receiver: Thing) -> Flows:
        for k in self.mro(klass)[0]:
            if k.overloads.get(name):
                return tuple(Flow(FnVal(method)) for method in k.overloads[name])
            if name in k.methods:
                method = k.methods[name]
                return (Flow(FnVal(method, None, receiver if method.head.is_class else None)),)
            found = self.class_field(k, name)
            if found:
                return found
            for inner in k.module.classes:
                if inner.decl.outer == k.index and inner.name == name:
                    return (Flow(ClassVal(inner)),)
        if klass.module.language == "java":
            if name == "this":  # `Outer.this`
                return (Flow(Obj("any", klass, None, None)),)
            if name == "new":  # `Type::new`
                return (Flow(ClassVal(klass)),)
            nested = self.names.java.type(name, klass)
            if isinstance(nested, Klass):
                return (Flow(ClassVal(nested)),)
        _, external = self.mro(klass)
        table = self.table(klass.module)
        for base in external:
            if base and table.returned(f"{base}.{name}") is not None:
                # What a library puts into every subclass: `Order.objects`.
                return (Flow(Bound(Obj("instance", base, None, base, base), name)),)
        if external:
            return (Flow(Ext(f"{external[0] or '?'}.{name}")),)
        return unknown(f"no {name} in {klass.name}")

    def class_field(self, klass: Klass, name: str) -> Flows:
        field = klass.fields.get(name)
        out: list[Flow] = []
        if field is not None and field.init is not None:
            scope = klass.module.functions[klass.decl.parent if klass.decl.parent > 0 else 0]
            hop = Hop(klass.module.path, field.at, field.end, f"`{klass.name}.{name}`")
            out.extend(x.hop(hop) for x in self._in_class(klass, field.init, self.frame(scope)))
        return union(out)

    def _in_class(self, klass: Klass, expr: f.Expr, frame: Frame) -> Flows:
        """An expression of a class body: names of the class come before those around it."""
        if isinstance(expr, f.Ref):
            head, _, rest = expr.name.partition(".")
            if head in klass.methods and head not in klass.fields:
                return (Flow(FnVal(klass.methods[head])),)
            if head in klass.fields and klass.fields[head].init is not expr:
                flows = self.class_field(klass, head)
                for part in rest.split(".") if rest else ():
                    flows = self.attributes(flows, part, expr, frame)
                return flows
        return self.value(expr, frame)

    def _super_attribute(self, thing: SuperVal, name: str) -> Flows:
        this = thing.this
        klass = this.type if isinstance(this, Obj) and isinstance(this.type, Klass) else thing.klass
        order = self.mro(klass)[0]
        after = order[order.index(thing.klass) + 1 :] if thing.klass in order else self.mro(thing.klass)[0][1:]
        for k in after:
            if name in k.methods:
                return (Flow(FnVal(k.methods[name], None, this)),)
        _, external = self.mro(thing.klass)
        if external and isinstance(this, Obj):
            return (Flow(Bound(Obj("base", external[0], this.frame, this.node, external[0], this), name)),)
        return unknown("super() of an unknown base")

    def field(self, obj: Obj, name: str, frame: Frame) -> Flows:
        """An attribute of an object: what is written to it anywhere, its class's, or a library's."""
        return self._remember(("field", obj, name, frame.fn.module.language), lambda: self._field(obj, name, frame))

    def _field(self, obj: Obj, name: str, frame: Frame) -> Flows:
        if isinstance(obj.type, Klass):
            return self._own_field(obj, obj.type, name, frame)
        out = list(self.written(obj, name))
        if obj.type and not out:
            part = self.part(obj, name, frame)
            if part is not None:
                return (Flow(part),)
        if not out and isinstance(obj.node, f.Call) and obj.maker.rpartition(".")[2] == "namedtuple":
            return unknown("a named tuple")
        return union(out) or (Flow(Bound(obj, name)),)

    def part(self, obj: Obj, name: str, frame: Frame) -> Obj | None:
        """What any attribute or element of an external object is that its type does not name (`client.database.collection`)."""
        table = self.table(frame.fn.module)
        kind = self._any_part(obj, frame)
        full = f"{obj.type}.{name}"
        if not kind or name.startswith("_") or table.call(full) is not None or table.returned(full) is not None:
            return None
        return Obj("call", kind, obj.frame, obj.node, f"{full}#", obj)

    def _any_part(self, obj: Obj, frame: Frame) -> str:
        """The type of the attributes that an external object's type does not name, or empty."""
        levels = self.table(frame.fn.module).mro(str(obj.type))
        return next((level.returns["*"] for level in levels if "*" in level.returns), "")

    def _own_field(self, obj: Obj, klass: Klass, name: str, frame: Frame) -> Flows:
        out: list[Flow] = []
        order, external = self.mro(klass)
        written = self.written(obj, name)
        out.extend(written)
        # Java tells a field from a method of its name by how it is written.
        methods = [] if klass.module.language == "java" and any(name in k.fields for k in order) else self.method(obj, name)
        for target in methods:
            head = target.fn.head
            if head.is_property:
                site = obj.node if isinstance(obj.node, f.Node) else f.Ref(target.fn.head.at, target.fn.head.end, name)
                out.extend(self.returned(target, site, obj.frame or self.frame(target.fn), ()))
            elif head.is_static:
                out.append(Flow(FnVal(target.fn)))
            elif head.is_class:
                out.append(Flow(FnVal(target.fn, None, ClassVal(klass))))
            elif not written:
                out.extend(self._method_value(target))
        if methods:
            return union(out)
        if not written or obj.kind in ("any", "outside"):
            for k in order:
                found = self.class_field(k, name) if k.module.language != "go" else ()
                if found and k.module.language == "java" and obj.kind == "new" and self.java.can_be_set(k, name):
                    found = tuple(x._replace(omitted=(*x.omitted, *self._left_at(obj))) for x in found)
                if found:
                    out.extend(found)
                    break
        if not out:
            for k in order:
                declared = k.fields.get(name)
                if declared is None:
                    continue
                if k.module.language == "java" and self.wiring.is_injected(declared, k):
                    out.extend(self.wiring.injected(declared.type, declared.decorators, name, k))
                if out:
                    break
                if k.module.language == "go" and obj.kind == "new":
                    out.extend(self._zero(declared, k, obj))
                elif declared.type is not None:
                    out.extend(self._outside(declared.type, k, name, obj))
                break
        if not out and klass.module.language == "go":
            for field in klass.decl.fields:
                if field.embedded and field.name != name:
                    for inner in self.field(obj, field.name, frame):
                        if isinstance(inner.thing, Obj) and inner.thing is not obj:
                            got = self.attribute(inner.thing, name, frame)
                            if not all(isinstance(x.thing, Unknown) for x in got):
                                return got
        if not out and external:
            return (Flow(Bound(obj, name)),)
        if not out:
            out.extend(Flow(Unknown("__getattr__")) for _ in self.method(obj, "__getattr__"))
        return union(out) or unknown(f"no {name} in {klass.name}")

    @staticmethod
    def _left_at(obj: Obj) -> tuple[Omitted, ...]:
        """The place where an object is made, if it is one that leaves something as it is."""
        frame = obj.frame
        return (Omitted(frame.fn, obj.node),) if frame is not None and isinstance(obj.node, f.Node) else ()

    def _method_value(self, target: FnVal) -> Flows:
        """A method as a value, with what decorates it."""
        if target.fn.head.decorators and target.fn.module.language == "python":
            scope = target.fn.module.functions[target.fn.head.parent if target.fn.head.parent > 0 else 0]
            flows = self._decorated(target.fn, self.frame(scope))
            out = []
            for x in flows:
                if isinstance(x.thing, FnVal):
                    out.append(
                        x._replace(
                            thing=FnVal(
                                x.thing.fn,
                                x.thing.closure,
                                target.this if x.thing.fn is target.fn or not x.thing.fn.is_method else x.thing.this,
                            )
                        )
                    )
                else:
                    out.append(x)
            return tuple(out)
        return (Flow(target),)

    def _zero(self, declared: f.ClassField, klass: Klass, obj: Obj) -> Flows:
        kind = declared.type
        hop = Hop(klass.module.path, declared.at, declared.end, f"`{klass.name}.{declared.name}` is never set")
        if kind is not None and kind.shape == "plain":
            resolved = self.resolve_type(kind, klass.module.functions[0])
            known = self._constants["go"].get(resolved) if isinstance(resolved, str) else None
            if isinstance(resolved, Klass) and resolved.decl.kind == "struct":
                return (Flow(Obj("new", resolved, obj.frame, f"zero {declared.name}", "", obj)),)
            if isinstance(resolved, str) and known is None and self.table(klass.module).type(resolved) is not None:
                return (Flow(Obj("new", resolved, obj.frame, f"zero {declared.name}", "", obj)),)
        return (Flow(Absent(), (hop,)),)

    def _outside(self, kind: f.Type, klass: Klass, name: str, obj: Obj) -> Flows:
        if kind.shape not in ("plain", "ptr", "opt"):
            return unknown("a field that nothing here writes")
        resolved = self.resolve_type(kind, klass.module.functions[klass.decl.parent if klass.decl.parent > 0 else 0])
        if resolved is None or resolved == "":
            return (Flow(Unknown("a field that nothing here writes", unit_of_name(name))),)
        return (Flow(Obj("outside", resolved, None, f"{klass.module.path}:{klass.decl.qual}.{name}")),)

    # ------------------------------------------------------------ writes

    def written(self, obj: Obj, name: str) -> Flows:
        """Every value that the program writes to an attribute of an object."""
        return self._remember(("written", obj, name), lambda: union(self._written(obj, name)))

    def _written(self, obj: Obj, name: str) -> Iterator[Flow]:
        klass = obj.type if isinstance(obj.type, Klass) else None
        if isinstance(obj.node, f.New) and obj.kind == "new" and obj.frame is not None:
            yield from self._literal_field(obj, obj.node, obj.frame, name)
        if klass is not None and klass.module.language == "python":
            yield from self._constructed(obj, klass, name)
        family = (
            set(self.family(klass))
            if klass is not None and obj.kind in ("any", "outside")
            else set(self.mro(klass)[0])
            if klass is not None
            else set()
        )
        for writer in self._likely_writers(name.rpartition(".")[2], obj, klass, family):
            if klass is None and not self._may_hold(obj, writer):
                continue
            yield from self._writes_of(obj, klass, family, writer, name)
        if klass is not None and klass.module.language == "go" and obj.kind in ("any", "outside") and name in klass.fields:
            yield from self._placed(obj, klass, name)

    def _placed(self, obj: Obj, klass: Klass, name: str) -> Iterator[Flow]:
        """What literals without keys give a field: nothing there names it, so their functions are found by the type."""
        seen = set(self.names.writers(name))
        makers = [m for m in self.names.callers(klass.name + "{") if m not in seen]
        if not klass.module.is_test:
            makers = [m for m in makers if not m.module.is_test]
        if len(makers) > SITES:
            home = frozenset((klass.module.path,))
            makers = [m for m in makers if m.module is klass.module or self.imports_from(m.module, home)]
        for maker in makers:
            for new, _arm, _stmt in maker.body.news:
                if new.fields and new.fields[0].key is None and self.resolve_type(new.type, maker) is klass:
                    yield from self._literal_field(obj, new, self.frame(maker), name)

    def _likely_writers(self, last: str, obj: Obj, klass: Klass | None, family: set[Klass]) -> list[Fun]:
        """Who may write an attribute of an object of this class. Where very many write one of that name, only code that can know
        the class: its own methods, its files, and files that import those."""
        writers = self.names.writers(last)
        home = klass.module if klass is not None else obj.frame.fn.module if obj.frame is not None else None
        if home is not None and not home.is_test:
            writers = [w for w in writers if not w.module.is_test]
        if len(writers) <= SITES:
            return writers
        if klass is None:
            # What a library made that is not known: only the file that made it is likely to write to it.
            return writers if obj.type or home is None else [w for w in writers if w.module is home]
        homes = frozenset(k.module.path for k in family)
        return [w for w in writers if w.module.path in homes or self.imports_from(w.module, homes)]

    def imports_from(self, module: Module, homes: frozenset[str]) -> bool:
        """Whether a file imports one of these files, or lies in the Go package of one."""
        imported = self._imported_files.get(module)
        if imported is None:
            imported = self._imported_files[module] = frozenset(self._files_imported(module))
        return not imported.isdisjoint(homes)

    def _files_imported(self, module: Module) -> Iterator[str]:
        if module.language == "go":
            own = self.names.package_of(module)
            packages = [own, *(self.names.go_package(imp.target, module) for imp in module.facts.imports)]
            yield from (file.path for package in packages if package is not None for file in package.modules)
            return
        for imp in module.facts.imports:
            target = self.names.python_module(module, imp.target, imp.level)
            if isinstance(target, Module):
                yield target.path
            if imp.name and target is not None:
                inner = self.names.submodule(target if isinstance(target, str) else target.folder, imp.name)
                if isinstance(inner, Module):
                    yield inner.path

    def _may_hold(self, obj: Obj, writer: Fun) -> bool:
        home = obj.frame.fn.module if obj.frame is not None else None
        return home is None or home.language == writer.module.language

    def _writes_of(self, obj: Obj, klass: Klass | None, family: set[Klass], writer: Fun, name: str) -> Iterator[Flow]:
        suffix = "." + name
        owner = self.owner(writer)
        for key, defs in writer.body.stored(name.rpartition(".")[2]):
            if not key.endswith(suffix):
                continue
            base = key[: -len(suffix)]
            receiver = writer.head.params[0].name if writer.is_method and not writer.head.is_static else None
            for d in defs:
                frame: Frame | None = None
                if base == receiver:
                    if klass is None or owner not in family:
                        continue
                    known = self.java.called_on(obj, writer) if writer.module.language == "java" else None
                    if known is not None:
                        here = self.hop(writer, d.node or d.expr, f"`{key}` is set here")
                        for run in known:
                            for flow in self.defined(d, run):
                                yield flow.hop(here)
                        continue
                    frame = self.constructor_frame(obj, writer) or self._intern(
                        Frame(writer, this=obj if obj.kind != "any" else None)
                    )
                else:
                    if not self._same_type(writer, base, obj, klass, d):
                        continue
                    if self._spent():
                        self._lowest = -1
                        yield Flow(Unknown("the search was cut: too many steps"))
                        return
                    applied = self._applied_to(obj, writer, base)
                    if applied is not None:
                        for inner in applied:
                            if inner is None:
                                yield Flow(Unknown("it may be set by a function that is not followed"))
                            elif self._holds(self.name(base, f.Ref(d.at, d.at, base), inner), obj, family):
                                for flow in self.defined(d, inner):
                                    yield flow.hop(self.hop(writer, d.node or d.expr, f"`{key}` is set here"))
                        continue
                    frame = self.frame(writer)
                    place = f.Ref(d.at, d.at, base)
                    held = self.name(base, place, frame)
                    if not self._holds(held, obj, family):
                        if not self._typed_alike(writer, base, obj, klass, d, held):
                            continue
                        if obj.kind not in ("any", "outside"):
                            # An object of this type that cannot be told apart from this one.
                            yield Flow(Unknown("it may be set through a reference that is not followed"))
                            continue
                if d.kind in ("value", "each", "enter"):
                    hop = self.hop(writer, d.node, f"`{key}` is set here") if isinstance(d.node, f.Node) else None
                    for flow in self.defined(d, frame):
                        yield flow.hop(hop) if hop is not None else flow
                elif d.kind == "aug":
                    yield Flow(Unknown("a value that is changed in place"))
        if klass is not None and klass.module.language == "go" and obj.kind in ("any", "outside"):
            for new, _arm, _stmt in writer.body.news:
                if self.resolve_type(new.type, writer) is klass:
                    yield from self._literal_field(obj, new, self.frame(writer), name)

    def _applied_to(self, obj: Obj, writer: Fun, base: str) -> list[Frame | None] | None:
        """The frames in which a function that is only called where an object was made, and there gets it, runs for this object.

        So an option given to one call of a factory is not written on what another call makes. `None` where that is not how
        the write comes about; in the list for a call that may be of something unknown.
        """
        if obj.frame is None or obj.frame.caller is None or obj.kind not in ("new", "call") or base not in writer.params:
            return None
        sites, _ = self.callers(writer)
        if not sites or any(site.fn is not obj.frame.fn for _, site, _, _ in sites):
            return None
        out: list[Frame | None] = []
        for site in {id(s): s for _, s, _, _ in sites}.values():
            for flow in self.callee(site.call, obj.frame):
                thing = flow.thing
                if isinstance(thing, FnVal) and thing.fn is writer:
                    out.append(self.enter(thing, site.call, obj.frame, self.binds(site.call, obj.frame)))
                elif isinstance(thing, Unknown):
                    out.append(None)
        return out

    def _same_type(self, writer: Fun, base: str, obj: Obj, klass: Klass | None, d: Definition) -> bool:
        """A cheap look at whether `base` can be this object at all."""
        if writer.module.language == "go":
            kind = self.static_type(f.Ref(d.at, d.at, base), writer)
            if kind is not None:
                resolved = self.resolve_type(kind, writer)
                if klass is not None:
                    return resolved is klass or resolved is None
                return resolved is None or resolved == obj.type
        return True

    def _typed_alike(self, writer: Fun, base: str, obj: Obj, klass: Klass | None, d: Definition, held: Flows) -> bool:
        """Whether `base` is declared with the type of the object and nothing more is known of it."""
        if writer.module.language != "go" or not all(
            isinstance(x.thing, Unknown) or (isinstance(x.thing, Obj) and x.thing.kind == "outside") for x in held
        ):
            return False
        kind = self.static_type(f.Ref(d.at, d.at, base), writer)
        resolved = self.resolve_type(kind, writer) if kind is not None else None
        return resolved is not None and (resolved is klass or resolved == obj.type)

    def _holds(self, flows: Flows, obj: Obj, family: set[Klass]) -> bool:
        for flow in flows:
            thing = flow.thing
            if thing == obj or (obj.kind == "instance" and isinstance(thing, Ext) and thing.name == obj.maker):
                return True
            if (
                isinstance(thing, Obj)
                and isinstance(thing.type, Klass)
                and thing.type in family
                and (thing.kind in ("any", "outside") or obj.kind in ("any", "outside"))
            ):
                return True
            if isinstance(thing, Obj) and thing.kind == "outside" and obj.kind == "outside" and thing.type == obj.type:
                return True
            if isinstance(thing, Obj) and _same_site(thing, obj):
                return True
        return False

    def _literal_field(self, obj: Obj, new: f.New, frame: Frame, name: str) -> Iterator[Flow]:
        klass = obj.type if isinstance(obj.type, Klass) else None
        keyed = any(p.key is not None for p in new.fields)
        for position, pair in enumerate(new.fields):
            if keyed:
                hit = isinstance(pair.key, f.Ref) and pair.key.name == name
            else:
                hit = klass is not None and position < len(klass.decl.fields) and klass.decl.fields[position].name == name
            if hit:
                hop = self.hop(frame.fn, pair.value, f"`{name}` of {new.type.name} is set here")
                for flow in self.value(pair.value, frame):
                    yield flow.hop(hop)
                return
        if klass is not None and obj.kind in ("any", "outside") and name in klass.fields:
            yield Flow(Absent(), (self.hop(frame.fn, new, f"this {new.type.name} leaves `{name}` out"),))

    def _constructed(self, obj: Obj, klass: Klass, name: str) -> Iterator[Flow]:
        """Fields that a synthesised constructor fills: dataclasses, named tuples, pydantic models, attrs."""
        if self.init_of(klass) is not None:
            return
        fields = [x for k in reversed(self.mro(klass)[0]) for x in k.decl.fields if x.type is not None]
        names = [x.name for x in fields]
        if name not in names:
            return
        field = fields[names.index(name)]
        if obj.kind == "new" and isinstance(obj.node, f.Call) and obj.frame is not None:
            binds = obj.binds if obj.binds is not None else self.binds(obj.node, obj.frame)
            yield from self._constructor_field(field, names.index(name), binds, klass, obj.frame, obj.node)
            return
        sites = 0
        for caller in self.names.callers(klass.name):
            if caller.module.is_test and not klass.module.is_test:
                continue
            frame = self.frame(caller)
            for site in caller.body.calls:
                if site.last == klass.name and any(
                    isinstance(t, ClassVal) and t.klass is klass for t, _ in self.targets(site.call, frame)
                ):
                    sites += 1
                    yield from self._constructor_field(
                        field, names.index(name), self.binds(site.call, frame), klass, frame, site.call
                    )
        if not sites and field.init is not None:
            hop = Hop(klass.module.path, field.at, field.end, f"`{klass.name}.{field.name}` is left out: its default holds")
            scope = klass.module.functions[klass.decl.parent if klass.decl.parent > 0 else 0]
            for flow in self._field_default(field, scope):
                yield flow.hop(hop)._replace(default=True)
            yield Flow(Unknown("an object that no code here makes", unit_of_name(name)))

    def _constructor_field(
        self, field: f.ClassField, position: int, binds: tuple[Bind, ...], klass: Klass, frame: Frame, site: f.Node
    ) -> Iterator[Flow]:
        at = 0
        for bind in binds:
            if bind.name == field.name or (bind.name is None and not bind.spread and at == position):
                hop = Hop(bind.frame.fn.module.path, bind.expr.at, bind.expr.end, f"passed to {klass.name} as `{field.name}`")
                for flow in self.value(bind.expr, bind.frame):
                    yield flow.hop(hop)
                return
            if bind.spread == 2:
                for flow in self.value(bind.expr, bind.frame):
                    got = self.keyed(flow.thing, field.name)
                    if got is None:
                        yield Flow(Unknown("an argument that may come out of a spread"))
                        return
                    if got:
                        yield from got
                        return
            at += bind.name is None
        if field.init is not None:
            scope = klass.module.functions[klass.decl.parent if klass.decl.parent > 0 else 0]
            hop = Hop(frame.fn.module.path, site.at, site.end, f"this {klass.name} leaves `{field.name}` out: its default holds")
            for flow in self._field_default(field, scope):
                yield flow.hop(hop)._replace(omitted=(Omitted(frame.fn, site),))

    def _field_default(self, field: f.ClassField, scope: Fun) -> Flows:
        init = field.init
        assert init is not None
        if isinstance(init, f.Call):
            for arg in init.args:
                if arg.name == "default":
                    return self.value(arg.value, self.frame(scope))
                if arg.name in ("default_factory", "factory"):
                    return unknown("a default made by a factory")
            called = last_name(init.fn)
            if called in ("Field", "field", "attrib", "ib") and init.args and init.args[0].name is None:
                return self.value(init.args[0].value, self.frame(scope))
        return self.value(init, self.frame(scope))

    def constructor_frame(self, obj: Obj, writer: Fun) -> Frame | None:
        """The frame of `__init__` under the call that made the object, through `super().__init__` where a base writes the field."""
        if writer.name != "__init__" or obj.kind != "new" or not isinstance(obj.type, Klass) or obj.frame is None:
            return None
        init = self.init_of(obj.type, obj.node if isinstance(obj.node, f.Node) else None)
        if init is None or not isinstance(obj.node, f.Node):
            return None
        args = obj.binds
        if args is None:
            args = self.binds(obj.node, obj.frame) if isinstance(obj.node, f.Call) else ()
        frame = self.enter(FnVal(init, None, obj), obj.node, obj.frame, args)
        for _ in range(6):
            if frame.fn is writer:
                return frame
            further: Frame | None = None
            for site in frame.fn.body.calls:
                if frame.fn.module.language == "java" and site.last in ("super", "this"):
                    above = next((t for t in self.names.java.targets(site.call, frame.fn) if isinstance(t, Fun)), None)
                    if above is not None:
                        further = self.enter(FnVal(above, None, obj), site.call, frame, self.binds(site.call, frame))
                        break
                if site.last != "__init__":
                    continue
                for target, binds in self.targets(site.call, frame):
                    if isinstance(target, FnVal) and target.fn.name == "__init__":
                        if target.this is None and binds:  # Base.__init__(self, …)
                            binds = binds[1:]
                        further = self.enter(FnVal(target.fn, None, obj), site.call, frame, binds)
                        break
                if further is not None:
                    break
            if further is None:
                return None
            frame = further
        return None


class _Given(f.Node, frozen=True, eq=False, tag=99):
    """A stand-in for an argument whose value is known already: what a decorator is handed."""

    flows: Any
    fn: Any


_SHARED = frozenset({"callers", "written"})
"""Questions with a share of steps of their own."""


def _with_a_gap(answer: Any) -> Any:
    """An answer whose search was cut: there may be more."""
    if answer and not isinstance(answer[0], Flow):
        return answer[0], False
    return union(answer, unknown("the search was cut: too many steps"))


def _guessed(answer: Any) -> Any:
    """An answer as it enters its own circle: numbers and texts stay out, or `delay *= 2` would count on and on."""
    if not all(isinstance(x, Flow) for x in answer):
        return answer
    return tuple(flow for flow in answer if not isinstance(flow.thing, Num | Text))


def _things_of(flows: Flows) -> frozenset[Any]:
    return frozenset((flow.thing, flow.omitted) for flow in flows)


def _sites_of(callers: tuple[list[tuple[Frame, CallSite, tuple[Bind, ...], Thing | None]], bool]) -> Any:
    return frozenset((frame, site.call.at, site.call.end, this) for frame, site, _, this in callers[0]), callers[1]


def _with_unit(flow: Flow, unit: str) -> Flow:
    thing = flow.thing
    if isinstance(thing, Num) and not thing.unit and not isinstance(thing.number, bool):
        return flow._replace(thing=Num(thing.number, unit, thing.raw))
    if isinstance(thing, Unknown) and not thing.unit:
        return flow._replace(thing=Unknown(thing.why, unit))
    return flow


def _number_text(number: float | int | bool) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


def _same_site(a: Obj, b: Obj) -> bool:
    """The same place made both, under other call strings."""
    if a.frame is None or b.frame is None or not isinstance(a.node, f.Node) or not isinstance(b.node, f.Node):
        return False
    if a.node is not b.node:
        return False
    return a.frame.caller is None or b.frame.caller is None


def _arithmetic(op: str, a: Thing, b: Thing) -> Thing | None:
    if isinstance(a, Null | Absent) or isinstance(b, Null | Absent):
        return None
    if op == "+" and isinstance(a, Text) and isinstance(b, Text):
        return Text(*a.pieces, *b.pieces)
    if op == "+" and (isinstance(a, Text) or isinstance(b, Text)):
        left = a.pieces if isinstance(a, Text) else (None,)
        right = b.pieces if isinstance(b, Text) else (None,)
        return Text(*left, *right)
    if isinstance(a, Num) and isinstance(b, Num):
        x, y = float(a.number), float(b.number)
        try:
            number = {
                "+": x + y,
                "-": x - y,
                "*": x * y,
                "/": x / y if y else None,
                "//": x // y if y else None,
                "%": x % y if y else None,
                "**": x**y if abs(y) < 64 and abs(x) < 1e6 else None,
            }.get(op)
        except (OverflowError, ZeroDivisionError, ValueError):
            number = None
        if op in ("<<", ">>") and x.is_integer() and y.is_integer() and 0 <= y < 62:
            number = float(int(x) << int(y)) if op == "<<" else float(int(x) >> int(y))
        if number is None or isinstance(number, complex) or isnan(number):
            return Unknown("arithmetic")
        return _unit_after(op, a, b, number)
    unit = ""
    if op in ("*", "/"):
        known, other = (a, b) if isinstance(a, Num) else (b, a)
        if isinstance(known, Num) and known.unit == "dur" and op == "*":
            named = other.unit if isinstance(other, Unknown) and other.unit != "min" else ""  # `_min` may mean the least
            wrong = wrong_unit(named, float(known.number))
            return Unknown("a duration of unknown length", wrong or "dur")
        if isinstance(known, Num) and isinstance(other, Unknown):
            unit = _scaled(op, other.unit, float(known.number))
    elif isinstance(a, Unknown) and isinstance(b, Num):
        unit = a.unit
    return Unknown("arithmetic on unknown values", unit)


def _added(total: Flow, part: Flow, unit: str) -> Flow:
    """A duration and one more number of that unit."""
    if not isinstance(total.thing, Num) or not isinstance(part.thing, Num):
        return Flow(Unknown("a duration of unknown length"))
    length = float(total.thing.number) + float(part.thing.number) * SECONDS.get(unit, 1.0)
    hops = total.hops + tuple(h for h in part.hops if h not in total.hops)
    return Flow(Num(length, "dur", named=part.thing.named), hops, total.omitted + part.omitted, total.default or part.default)


def _holes(text: Text) -> Iterator[str | None]:
    """A template of Python's `%` with a hole for every place."""
    for piece in text.pieces:
        parts = _PERCENT.split(piece) if piece is not None else [None]
        for position, part in enumerate(parts):
            if position:
                yield None
            yield part


def _unit_after(op: str, a: Num, b: Num, number: float) -> Num:
    if op == "*" and a.unit == "dur" and b.unit == "dur":
        # Go: time.Duration(5) * time.Second, both counted in seconds here, the raw one in nanoseconds by type.
        raw, other = (a, b) if a.raw else (b, a)
        return Num(float(raw.number) * 1e9 * float(other.number), "dur", named=_contradiction(raw.named, other))
    if op in ("*", "/", "+", "-") and "dur" in (a.unit, b.unit):
        if op == "/" and a.unit == b.unit:
            return Num(number)
        if op in ("+", "-") and a.unit != b.unit:
            plain, typed = (a, b) if b.unit == "dur" else (b, a)
            scaled = float(plain.number) * 1e-9
            total = (
                float(typed.number) + scaled
                if op == "+"
                else (float(a.number) * (1e-9 if a is plain else 1)) - (float(b.number) * (1e-9 if b is plain else 1))
            )
            return Num(total, "dur", typed.raw)
        plain, typed = (a, b) if b.unit == "dur" else (b, a)
        return Num(number, "dur", typed.raw, _contradiction(plain.unit, typed) if op == "*" else "")
    if op in ("*", "/"):
        unit, factor = (a.unit, float(b.number)) if a.unit else (b.unit, float(a.number))
        return Num(number, _scaled(op, unit, factor))
    return Num(number, a.unit or b.unit)


def _contradiction(named: str, typed: Num) -> str:
    """The two units where a number named in one is multiplied by a constant of another."""
    if named in ("", "dur") or typed.raw:
        return ""
    unit = next((u for u, scale in SECONDS.items() if u in _NAMED and scale == float(typed.number)), "")
    return f"{named} times {unit}" if unit and named in _NAMED and unit != named else ""


def _scaled(op: str, unit: str, factor: float) -> str:
    if not unit:
        return ""
    if op == "*":
        return _SCALES.get((unit, factor), unit if factor < 60 else "")
    for (small, f_), big in _SCALES.items():
        if big == unit and f_ == factor:
            return small
    return unit if factor < 60 else ""


def _store_target(d: Definition, base: str) -> f.Index | None:
    node = d.node
    if isinstance(node, f.Assign):
        for target in node.targets:
            for candidate in [target, *([p.value for p in target.items] if isinstance(target, f.Coll) else [])]:
                if isinstance(candidate, f.Index) and candidate.at == d.at and dotted(candidate.base) == base:
                    return candidate
    return None


def _merge(lists: list[list[Klass]]) -> list[Klass]:
    """C3 linearisation; where none exists, depth first."""
    out: list[Klass] = []
    rest = [x for x in (list(x) for x in lists) if x]
    while rest:
        for candidate_list in rest:
            head = candidate_list[0]
            if not any(head in other[1:] for other in rest):
                break
        else:
            head = rest[0][0]
        out.append(head)
        rest = [[k for k in x if k is not head] for x in rest]
        rest = [x for x in rest if x]
    return out


def _in_question(body: Body, wanted: frozenset[str], observed: frozenset[int], shift: str) -> Iterable[CallSite]:
    """Calls of a body that may be of a function which is called by one of these names."""
    if shift != "name":
        return body.calls
    if observed or len(wanted) > 1:
        return [site for site in body.calls if site.last in wanted or site.call.at in observed]
    return body.calls_named(next(iter(wanted)))


def _is_on_anything(target: Thing, fn: Fun) -> bool:
    """Whether a method is called on what an object or function outside the program holds or gives (`self.server.app.stop()`): that
    may be an object of the program, unless a class of somebody else's made it."""
    if not isinstance(target, Bound) or fn.module.language != "python":
        return False
    obj = target.obj
    return obj.kind == "call" and not obj.type and not obj.maker.rpartition(".")[2][:1].isupper()


def _tests(body: Body, name: str, here: int, since: int) -> list[tuple[f.Expr, bool]]:
    """Tests that hold at `here` and speak of `name`, for a value that stands since `since`."""
    out: list[tuple[f.Expr, bool]] = []
    for arm in body.arm_at(here).chain():
        node = arm.node
        if node.at < since and not isinstance(node, f.Loop):
            continue
        if isinstance(node, f.If | f.Cond) and arm.kind in ("then", "else"):
            out.extend(_parts(node.test, arm.kind == "then"))
        elif isinstance(node, f.Bin) and arm.kind in ("and", "or"):
            out.extend(_parts(node.left, arm.kind == "and"))
    around = body.arm_at(here)
    for stmt, arm in body.ifs:
        if stmt.at < since or stmt.end > here:
            continue
        if not _inside(arm, around):
            continue
        if leaves(stmt.then) or _assigns(body, name, stmt.then):
            out.extend(_parts(stmt.test, False))
        elif stmt.orelse and (leaves(stmt.orelse) or _assigns(body, name, stmt.orelse)):
            out.extend(_parts(stmt.test, True))
    return [(t, p) for t, p in out if _speaks(t, name)]


def _is_taken(name: str, fn: Fun) -> bool:
    """Whether a keyword of that name goes to a parameter of its own."""
    param = fn.params.get(name)
    return param is not None and param.kind not in ("*", "**", "posonly")


def _of_pairs(node: f.Coll) -> bool:
    return 0 < node.size == len(node.items) and all(
        isinstance(item.value, f.Coll) and len(item.value.items) == item.value.size == 2 and not item.spread for item in node.items
    )


def _without(flow: Flow, key: str) -> Flow:
    """Nothing, out of a mapping without the key; for keywords that are passed on, by the call that did not give it."""
    frame = flow.thing.frame if isinstance(flow.thing, Obj) and flow.thing.kind == "rest" else None
    if frame is None or frame.caller is None or frame.site is None:
        return flow._replace(thing=Absent())
    text = f"this call of {frame.fn.head.qual} leaves `{key}` out"
    left = flow.hop(Hop(frame.caller.fn.module.path, frame.site.at, frame.site.end, text))
    return left._replace(thing=Absent(), omitted=(*left.omitted, Omitted(frame.caller.fn, frame.site)))


def _instead(flow: Flow, default: Flows) -> Flows:
    """A default where a flow brings nothing: left out by the calls that this flow says, else by the one that the default says."""
    return tuple(x._replace(hops=flow.hops + x.hops, omitted=flow.omitted or x.omitted, default=flow.default) for x in default)


def _covered(arms: list[Arm]) -> bool:
    """Whether every path through a body enters one of these arms: its root, or both ways of a test that always runs."""
    if any(all(a.always for a in arm.chain()) for arm in arms):
        return True
    outer = [arm for arm in arms if arm.choice and arm.parent is not None and all(a.always for a in arm.parent.chain())]
    ways = {(arm.choice, arm.kind) for arm in outer}
    return any((choice, "else") in ways for choice, kind in ways if kind == "then")


def _inside(arm: Any, around: Any) -> bool:
    while around is not None:
        if around is arm:
            return True
        around = around.parent
    return False


def _assigns(body: Body, name: str, block: f.Block) -> bool:
    # An assignment deeper inside may be skipped, and then the test still tells nothing about what comes after.
    own = set(map(id, block))
    return any(id(d.node) in own and d.kind == "value" for d in body.definitions.get(name, ()))


def _parts(test: f.Expr, polarity: bool) -> Iterator[tuple[f.Expr, bool]]:
    if isinstance(test, f.Un) and test.op == "not":
        yield from _parts(test.value, not polarity)
    elif isinstance(test, f.Bin) and test.op == ("and" if polarity else "or"):
        yield from _parts(test.left, polarity)
        yield from _parts(test.right, polarity)
    else:
        yield test, polarity


def _speaks(test: f.Expr, name: str) -> bool:
    if dotted(test) == name:
        return True
    return isinstance(test, f.Bin) and (dotted(test.left) == name or dotted(test.right) == name)


def _admits(thing: Thing, test: f.Expr, polarity: bool, name: str) -> bool:
    """Whether a thing can be what `name` is where `test` came out as `polarity`."""
    if dotted(test) == name:
        return keeps(thing, polarity)
    if not isinstance(test, f.Bin):
        return True
    left = dotted(test.left) == name
    other = test.right if left else test.left
    op = test.op
    if isinstance(other, f.Ref) and other.name == "nil":
        other = f.Lit(other.at, other.end, None)
    if (
        isinstance(other, f.Un)
        and other.op == "-"
        and isinstance(other.value, f.Lit)
        and isinstance(other.value.value, int | float)
    ):
        other = f.Lit(other.at, other.end, -other.value.value)
    if not isinstance(other, f.Lit):
        return True
    if other.value is None:
        same = op in ("is", "==")
        if op not in ("is", "is not", "==", "!="):
            return True
        null = isinstance(thing, Null | Absent)
        if isinstance(thing, Unknown):
            return True
        return null == (same == polarity)
    if isinstance(other.value, bool | str):
        return True
    number = 0.0 if isinstance(thing, Absent) else float(thing.number) if isinstance(thing, Num) else None
    if isinstance(thing, Null):
        return not (op in (">", ">=") and polarity)
    if number is None:
        return True
    value = float(other.value)
    if not left:
        op = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
    outcome = {
        "<": number < value,
        ">": number > value,
        "<=": number <= value,
        ">=": number >= value,
        "==": number == value,
        "!=": number != value,
    }.get(op)
    return outcome is None or outcome == polarity


_NAMED = ("ns", "us", "ms", "s", "min", "h")
_VERB = re.compile(r"%(?:[-+# 0]*[0-9*]*(?:\.[0-9*]*)?(?:\[(?P<key>)[0-9]+\])?[a-zA-Z]|%)")
_BRACES = re.compile(r"\{\{|\}\}|\{(?P<key>[A-Za-z_0-9]*)[^{}]*\}")
_PERCENT = re.compile(r"%(?:\([^)]*\))?[-+# 0]*[0-9]*(?:\.[0-9]*)?[a-zA-Z]")

_PASS = {
    "<builtin>.list": 0,
    "<builtin>.tuple": 0,
    "<builtin>.sorted": 0,
    "<builtin>.reversed": 0,
    "<builtin>.set": 0,
    "copy.copy": 0,
    "copy.deepcopy": 0,
    "typing.cast": 1,
    "<builtin>.new": 0,
    "contextlib.closing": 0,
}


def first_things(flows: Iterable[Flow], kind: type[Thing]) -> list[Thing]:
    """The things of one kind among flows."""
    return [x.thing for x in flows if isinstance(x.thing, kind)]


def _class_around(module: Module, name: str, here: int) -> Klass | None:
    """The class of a Python file in whose body, outside of methods, a place stands that reads one of its names."""
    if module.language != "python":
        return None
    around: Klass | None = None
    for klass in module.classes:
        field = klass.fields.get(name) if klass.decl.at <= here < klass.decl.end else None
        if field is not None and field.init is not None and not field.init.at <= here < field.init.end:
            around = klass
    return around
