"""Where a collection comes from and how long it can get: fixed, cut, configured, or as long as a caller likes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from resilint import facts as f
from resilint.flow.streams import Round, Streams
from resilint.flow.values import Bind, Bound, ClassVal, Env, Ext, FnVal, Frame, Hop, Num, Obj, Text, Unknown
from resilint.knowledge.schema import ElementsRow
from resilint.link.code import CallSite, Definition, Fun, Klass, dotted, last_name, leaves, walk
from resilint.link.entries import Entry

if TYPE_CHECKING:
    from resilint.program import Program

Kind = Literal["none", "constant", "bounded", "configured", "unknown", "event", "held", "parameter", "data", "input"]
"""From harmless to harmful. `none`: nothing is known to be in it; `event`: it has no end; `held`: a field that other code fills;
`parameter`: as long as callers outside the program make it; `data`: what a peer or database answered; `input`: what a request
holds."""

_RANK: dict[str, int] = {
    k: i
    for i, k in enumerate(("none", "constant", "bounded", "configured", "unknown", "event", "held", "parameter", "data", "input"))
}
_DEPTH = 40
_CALLS = 4
_STEPS = 4000
"""Questions asked for one answer: a parameter of many callers leads to many more. What lies behind further ones is not known."""


class Size(NamedTuple):
    """How long a collection, or how large a number, can get, and the way that is known (cause first)."""

    kind: Kind
    number: float | None = None
    hops: tuple[Hop, ...] = ()
    entry: Entry | None = None
    """The entry point whose caller decides, for kind `input`."""

    @property
    def grows(self) -> bool:
        """Whether nothing here limits it."""
        return _RANK[self.kind] >= _RANK["held"]

    def step(self, hop: Hop) -> Size:
        """The same, one step further; short of ways that matter to nobody."""
        if not self.grows or (self.hops and self.hops[-1] == hop) or len(self.hops) > 8:
            return self
        return self._replace(hops=(*self.hops, hop))


NONE = Size("none")
UNKNOWN = Size("unknown")
BOUNDED = Size("bounded")
CONFIGURED = Size("configured")

_CONFIG = re.compile(r"(?:^|_)(?:config|configs|conf|cfg|settings?|options?|opts?|flags?|args|argv|env|environ|params)(?:$|_)")
_CHUNKS = re.compile(r"chunk|batch|page|paginat|partition|grouper|window|slices", re.IGNORECASE)
_CUTS = re.compile(
    r"^(?:islice|sample|nlargest|nsmallest|most_common|limit|take|first|head|top|fetchmany|truncate|clamp|at_most|pagina\w*)$",
    re.IGNORECASE,
)
_RESHAPES = """
list tuple sorted set frozenset reversed enumerate dict iter str bytes deque array chain unique uniq dedupe dedup distinct
loads load json_loads decode parse unmarshal split splitlines fields strip trim trimspace lower upper tolower toupper replace
copy deepcopy clone keys values items get getlist getall get_all get_json json form query read text body data model_dump
maybe cast from_iterable flatten collect compact sort reverse readall newreader newdecoder maxbytesreader limitreader nopcloser
"""
_KEEPS = frozenset(_RESHAPES.split())
"""Calls whose result has what they are given or called on, in another form."""
_MAPS = {"map": 1, "filter": 1, "starmap": 1}
_ASIDE = re.compile(
    r"^(?:app|state|user|session|context|ctx|db|scope|client|headers?|cookies?|method|url_for|log|logger|meta)$|^[Cc]ontext$",
    re.IGNORECASE,
)
_PROVIDERS = re.compile(r"\b(?:Depends|Security|Inject|Provide|State|BackgroundTasks)\b")
_PROVIDED_TYPES = re.compile(
    r"(?:Dep|Depends|Session|Service|Manager|Client|Repository|Settings|Response|BackgroundTasks|Context|User)$"
)
_STREAMS = re.compile(r"iterator|stream|websocket|socket|^ws$|reader|conn", re.IGNORECASE)
_SCHEMA = re.compile(
    r"max_length|max_items|maxItems|maxLength|conlist|MaxLen|Len\(|max_size|(?:\b(?:max|lte|lt|len|le)=\d)|Length\(|\bslice\("
)
_FILLS = re.compile(r"bind|decode|unmarshal|parse|read|scan|load|receive|from", re.IGNORECASE)
_CHECKS = re.compile(r"valid|check|verify|ensure|limit|sanit|clean|require|assert", re.IGNORECASE)
_ROWS = re.compile(r"\b(?:limit|top|fetch\s+(?:first|next))\b|\bcount\s*\(", re.IGNORECASE)
_APPENDS = ("append", "add", "insert", "put", "appendleft", "push", "extend", "update", "put_nowait", "addAll", "putAll")
_WHOLE = ("extend", "update", "addAll", "putAll")
"""Those among them that put in all elements of their argument."""
_PAGED = re.compile(r"Page|Limit|Slice|Range")
"""Names of types that say which part of an answer is wanted."""


def worst(sizes: Iterable[Size]) -> Size:
    """The largest of several ways a collection may come."""
    return max(sizes, key=lambda s: _RANK[s.kind], default=NONE)


def least(sizes: Iterable[Size]) -> Size:
    """What the smallest of several collections leaves: `zip`, `min`."""
    return min((s for s in sizes if s.kind != "none"), key=lambda s: _RANK[s.kind], default=NONE)


class Sizes:
    """Answers how long collections can get. Answers are remembered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.streams = Streams(program)
        self._memo: dict[Any, Size] = {}
        self._open: set[Any] = set()
        self._depth = 0
        self._steps = 0

    def _ask(self, key: Any, compute: Any) -> Size:
        found = self._memo.get(key)
        if found is not None:
            return found
        if key in self._open:
            return NONE
        if not self._open:
            self._steps = 0
        self._steps += 1
        if self._depth > _DEPTH or self._steps > _STEPS:
            return UNKNOWN
        self._open.add(key)
        self._depth += 1
        try:
            size: Size = compute()
        finally:
            self._depth -= 1
            self._open.discard(key)
        if not self._open:
            self._memo[key] = size
        return size

    def of(self, expr: f.Expr, frame: Frame, item: tuple[int, ...] = ()) -> Size:
        """How many elements an expression can have; of what a request sends, that it is the caller's."""
        return self._ask(("of", id(expr), frame, item), lambda: self._of(expr, frame, item))

    def loop(self, loop: f.Node, frame: Frame) -> Size:
        """How often a loop, a comprehension, or a call that runs a function for each element can go round."""
        if isinstance(loop, f.Call):
            row = self.streams.row(loop, frame.fn)
            return self._elements(loop, row, frame) if row is not None else UNKNOWN
        if isinstance(loop, f.Comp):
            return worst(self._iterated(gen.iter, frame, gen.is_async) for gen in loop.gens)
        if not isinstance(loop, f.Loop):
            return UNKNOWN
        if _breaks_early(loop):
            return BOUNDED
        if loop.form == "each" and loop.iter is not None:
            return self._iterated(loop.iter, frame, loop.is_async)
        if loop.form == "while" and isinstance(loop.test, f.Call):
            # `for rows.Next() { … }`: once for each row of the answer.
            receiver = self._receiver(loop.test, frame)
            if receiver is not None and receiver.kind in ("data", "input"):
                return receiver
        if loop.form == "count" and isinstance(loop.test, f.Bin):
            side = loop.test.right if loop.test.op in ("<", "<=", "!=") else loop.test.left
            return self.number(side, frame)
        return UNKNOWN

    def _iterated(self, expr: f.Expr, frame: Frame, is_async: bool) -> Size:
        if frame.fn.module.language == "go":
            kind = self.resolver.static_type(expr, frame.fn)
            if kind is not None and kind.shape == "chan":
                return Size("event")
            for flow in self.resolver.ask(expr, frame):
                if isinstance(flow.thing, Obj) and flow.thing.type == "chan":
                    return Size("event")
            if isinstance(expr, f.Lit) or (
                isinstance(expr, f.Ref) and all(isinstance(x.thing, Num) for x in self.resolver.ask(expr, frame))
            ):
                return self.number(expr, frame)
        size = self.of(expr, frame)
        if size.kind in ("unknown", "none", "held") and isinstance(expr, f.Ref):
            size = self._rows(expr.name, expr.at, frame) or size
            if self._is_stream(expr, frame):
                return Size("event")
        if is_async and not size.grows:
            return Size("event") if size.kind in ("unknown", "none") else size
        return size

    def _is_stream(self, expr: f.Expr, frame: Frame) -> bool:
        """Whether what is gone over is a connection or client of a library itself: it brings what its peer sends."""
        table = self.resolver.table(frame.fn.module)
        made = [flow.thing for flow in self.resolver.ask(expr, frame)] if frame.fn.module.language == "python" else []
        kinds = [table.type(self.resolver.external_type(thing)) for thing in made if isinstance(thing, Obj)]
        return (
            bool(kinds)
            and len(kinds) == len(made)
            and all(kind is not None and kind.role in ("client", "connection") and kind.protocol is not None for kind in kinds)
        )

    # ------------------------------------------------------------ expressions

    def _of(self, expr: f.Expr, frame: Frame, item: tuple[int, ...]) -> Size:
        match expr:
            case f.Lit():
                return Size("constant", 1.0)
            case f.Ref():
                return self.name(expr, frame, item)
            case f.Coll():
                if item:
                    if 0 <= item[0] < len(expr.items) and not expr.items[item[0]].spread:
                        return self.of(expr.items[item[0]].value, frame, item[1:])
                    return UNKNOWN
                if expr.size >= 0:
                    return Size("constant", float(expr.size))
                return worst([Size("constant"), *(self.of(p.value, frame) for p in expr.items if p.spread)])
            case f.Comp():
                return worst(self._iterated(gen.iter, frame, gen.is_async) for gen in expr.gens)
            case f.New():
                return Size("constant", float(len(expr.fields)))
            case f.Slice():
                if expr.hi is None or (isinstance(expr.hi, f.Un) and expr.hi.op == "-") or _is_length(expr.hi):
                    return self.of(expr.base, frame)
                return BOUNDED
            case f.Index():
                return self._inside(self.of(expr.base, frame))
            case f.Field():
                return self._attribute(expr, frame)
            case f.Call():
                return self._call(expr, frame, item)
            case f.Await() | f.Let() | f.Cast() | f.Un():
                return self.of(expr.value, frame, item)
            case f.Cond():
                return worst((self.of(expr.then, frame, item), self.of(expr.orelse, frame, item)))
            case f.Bin(op="and"):
                return self.of(expr.right, frame, item)
            case f.Bin():
                return worst((self.of(expr.left, frame), self.of(expr.right, frame)))
            case f.Fmt():
                return worst(self.of(part, frame) for part in expr.parts)
        return UNKNOWN

    @staticmethod
    def _inside(size: Size) -> Size:
        """Of what a collection holds nothing is fixed but what its maker said."""
        return size if size.kind in ("input", "data", "none") else UNKNOWN

    def number(self, expr: f.Expr, frame: Frame) -> Size:
        """How large a count can get: `len(xs)` is that of xs; one that nothing of size reaches is configured."""
        return self._ask(("number", id(expr), frame), lambda: self._number(expr, frame))

    def _number(self, expr: f.Expr, frame: Frame) -> Size:
        if frame.fn.module.language == "java" and (counted := self._counted(expr, frame)) is not None:
            return counted
        match expr:
            case f.Lit():
                return Size("constant", float(expr.value)) if isinstance(expr.value, int | float) else CONFIGURED
            case f.Call():
                last = dotted(expr.fn).rpartition(".")[2]
                if last == "len" and expr.args:
                    return self.of(expr.args[0].value, frame)
                if last in ("min", "Min"):
                    return least(self.number(a.value, frame) for a in expr.args)
                if last in ("max", "Max", "int", "int64", "int32", "ceil", "Ceil", "round", "float64", "float"):
                    return worst(self.number(a.value, frame) for a in expr.args)
                return CONFIGURED
            case f.Cast() | f.Un():
                return self.number(expr.value, frame)
            case f.Bin(op="+" | "-" | "/" | "//" | "*"):
                sizes = (self.number(expr.left, frame), self.number(expr.right, frame))
                return worst(sizes)
            case f.Cond():
                return least((self.number(expr.then, frame), self.number(expr.orelse, frame)))
            case f.Ref():
                flows = self.resolver.ask(expr, frame)
                if flows and all(isinstance(x.thing, Num) for x in flows):
                    return Size("constant", max(float(x.thing.number) for x in flows if isinstance(x.thing, Num)))
                if "." not in expr.name:
                    reached, _ = frame.fn.body.reaching(expr.name, expr.at)
                    found = [self.number(d.expr, frame) for d in reached if d.expr is not None and d.kind == "value" and not d.item]
                    if found:
                        return least(found)
                size = self.name(expr, frame, ())
                if size.kind == "input" and not self.checked(expr.name, expr.at, frame, 0, number=True):
                    return size
                return CONFIGURED
        return CONFIGURED

    def _attribute(self, expr: f.Field, frame: Frame) -> Size:
        if _CONFIG.search(expr.name.lower()):
            return CONFIGURED
        size = self.of(expr.base, frame)
        if size.kind in ("input", "data"):
            return UNKNOWN if _ASIDE.search(expr.name) else size
        return self._known(expr, frame) or UNKNOWN

    def _known(self, expr: f.Expr, frame: Frame) -> Size | None:
        """What knowledge says of an attribute or call of a library: that it holds what a request brought."""
        for flow in self.resolver.ask(expr, frame):
            name = self.resolver.canonical(flow.thing)
            row = self.resolver.table(frame.fn.module).call(name) if name else None
            if row is not None and row.decodes == -1:
                hop = Hop(frame.fn.module.path, expr.at, expr.end, "read from the request here")
                return Size("input", None, (hop,), self._entry_above(frame.fn))
        return None

    def _selected(self, site: CallSite, frame: Frame) -> Size | None:
        """How many rows a statement that is written here finds: as many as there are, unless it says how many it wants."""
        texts = [
            flow.thing.known
            for arg in site.call.args
            for flow in self.resolver.ask(arg.value, frame)
            if isinstance(flow.thing, Text) and flow.thing.whole is not None
        ]
        if not any(re.match(r"\s*(?:select|with)\b", text, re.IGNORECASE) for text in texts):
            return None
        if self._limited(site.call, frame):
            return BOUNDED
        return Size("data", None, (Hop(frame.fn.module.path, site.call.at, site.call.end, "the statement has no row limit"),))

    def _is_request(self, method: str, fn: Fun) -> bool:
        """Whether a method is one of what a framework gives its handlers as request and context in one."""
        kind = self.resolver.table(fn.module).type(method.rpartition(".")[0])
        return kind is not None and kind.role == "context" and kind.protocol is not None

    def _entry_above(self, fn: Fun) -> Entry | None:
        inner: Fun | None = fn
        while inner is not None:
            if inner in self.program.entries:
                return self.program.entries[inner]
            inner = inner.parent
        return None

    # ------------------------------------------------------------ streams

    def _counted(self, expr: f.Expr, frame: Frame) -> Size | None:
        """The size of what is counted: `xs.size()`, and `xs.length` of an array."""
        if isinstance(expr, f.Call):
            row = self.streams.row(expr, frame.fn)
            return self._elements(expr, row, frame) if row is not None and row.counts else None
        if isinstance(expr, f.Ref) and expr.name.endswith(".length"):
            base = expr.name.removesuffix(".length")
            return self.name(f.Ref(expr.at, expr.at + len(base.encode()), base), frame, ())
        return None

    def _elements(self, call: f.Call, row: ElementsRow, frame: Frame) -> Size:
        """How many elements there are in what a call goes over, or gives."""
        args = [a.value for a in call.args]
        if row.number is not None:
            return self.number(args[row.number], frame) if row.number < len(args) else UNKNOWN
        if row.of is None:
            if len(args) == 1 and self.streams.is_array(args[0], frame.fn):
                return self.of(args[0], frame)
            return Size("constant", float(len(args)))
        source = self.streams.source(call, row)
        size = self.of(source, frame) if source is not None else UNKNOWN
        if row.at_most is not None and size.grows:
            # A part that ends where the whole does is no part.
            most = self.number(args[row.at_most], frame) if row.at_most < len(args) else size
            return size if most.grows else BOUNDED
        return size

    def _each_of(self, round_: Round, frame: Frame) -> Size:
        """What one element of a collection holds that a call goes over."""
        source = self.streams.source(round_.site.call, round_.row)
        if source is None:
            return UNKNOWN
        start = self.streams.origin(round_.site.call, frame.fn)
        if isinstance(start, f.Call) and _CHUNKS.search(last_name(start.fn)):
            return BOUNDED
        return self._inside(self.of(source, frame))

    # ------------------------------------------------------------ calls

    def _call(self, call: f.Call, frame: Frame, item: tuple[int, ...]) -> Size:
        if frame.fn.module.language == "java":
            row = self.streams.row(call, frame.fn)
            if row is not None:
                return self._elements(call, row, frame)
            constants = self.streams.constants(call, frame.fn)
            if constants is not None:
                return Size("constant", float(constants))
            accessed = self._accessed(call, frame)
            if accessed is not None:
                return accessed
        last = (call.fn.name if isinstance(call.fn, f.Field) else dotted(call.fn)).rpartition(".")[2]
        low = last.lower()
        if low == "range" and call.args and frame.fn.module.language == "python":
            step = call.args[2].value if len(call.args) > 2 else None
            return self.number(call.args[min(1, len(call.args) - 1)].value, frame) if step is None else UNKNOWN
        if last == "make" and frame.fn.module.language == "go":
            return NONE
        if _CUTS.search(last):
            return BOUNDED
        if low in ("zip", "min"):
            return least(self.of(a.value, frame) for a in call.args)
        if low in _MAPS and len(call.args) > _MAPS[low]:
            return self.of(call.args[_MAPS[low]].value, frame)
        if low == "append" and isinstance(call.fn, f.Ref) and call.fn.name == "append" and call.args:
            return worst([self.of(call.args[0].value, frame), *(self.of(a.value, frame) for a in call.args[1:] if a.spread)])
        if low == "fetchall":
            rows = self._rows(dotted(call.fn).rpartition(".")[0], call.at, frame)
            if rows is not None:
                return rows
        out: list[Size] = []
        for thing, binds in self.resolver.targets(call, frame):
            out.append(self._called(thing, binds, call, frame, item, low))
        if not out or all(s.kind in ("unknown", "none") for s in out):
            return self._of_receiver(call, frame, low) or worst(out) or UNKNOWN
        return worst(out)

    def _called(self, thing: Any, binds: tuple[Bind, ...], call: f.Call, frame: Frame, item: tuple[int, ...], low: str) -> Size:
        if isinstance(thing, FnVal):
            return self._result(thing, binds, call, frame, item)
        if isinstance(thing, ClassVal):
            if frame.fn.module.language == "go" and call.args:
                return self.of(call.args[0].value, frame)
            return UNKNOWN
        name = self.resolver.canonical(thing) if isinstance(thing, Ext | Bound) else ""
        row = self.resolver.table(frame.fn.module).call(name) if name else None
        if row is None:
            return (self._copied(name, binds, frame) if name else None) or UNKNOWN
        if row.decodes == -1:
            given = worst(self.of(b.expr, b.frame) for b in binds)
            if given.grows or (binds and row.does == "read_body"):
                return given
            receiver = self._receiver(call, frame)
            if receiver is not None and receiver.kind in ("data", "held"):
                return receiver
            hop = Hop(frame.fn.module.path, call.at, call.end, "read from the request here")
            return Size("input", None, (hop,), self._entry_above(frame.fn))
        if row.part is not None and row.part < len(binds):
            return self.of(binds[row.part].expr, binds[row.part].frame)
        if row.scope is not None and row.scope.body is not None and row.scope.body < len(binds):
            return self.of(binds[row.scope.body].expr, binds[row.scope.body].frame)
        if row.does in ("network", "query"):
            if self._limited(call, frame):
                return BOUNDED
            hop = Hop(frame.fn.module.path, call.at, call.end, f"{name.rpartition('/')[2]} answers with as much as there is")
            return Size("data", None, (hop,))
        return UNKNOWN

    def _accessed(self, call: f.Call, frame: Frame) -> Size | None:
        """What a getter of a request or answer gives: as much as there was, unless its field is bounded or it was checked."""
        receiver = self._receiver(call, frame) if not call.args else None
        if receiver is None or receiver.kind not in ("input", "data", "parameter"):
            return None
        for target in self.program.names.java.declared(call, frame.fn):
            if isinstance(target, Fun) and target.head.owner >= 0:
                stored = _accessor(target)
                if not stored:
                    return None
                klass = target.module.classes[target.head.owner]
                if stored in klass.fields and self._annotated_bound(klass.fields[stored].decorators, target):
                    return BOUNDED
                called = dotted(call.fn)
                return BOUNDED if called and self.checked(called, call.at, frame, 0) else receiver
        return None

    def _annotated_bound(self, annotations: tuple[f.Expr, ...], fn: Fun) -> bool:
        """Whether an annotation says how many elements there may be."""
        table = self.resolver.table(fn.module)
        for annotation in annotations:
            if not isinstance(annotation, f.Call):
                continue
            name = self.program.names.java.type(dotted(annotation.fn), fn)
            entry = table.call(name) if isinstance(name, str) else None
            given = {arg.name for arg in annotation.args}
            if entry is not None and any(b.slot == "batch" and b.arg in given for b in entry.bounds):
                return True
        return False

    def _copied(self, name: str, binds: tuple[Bind, ...], frame: Frame) -> Size | None:
        """What a new collection begins with: `new ArrayList<>(xs)`."""
        kind = self.resolver.table(frame.fn.module).constructs(name)
        if frame.fn.module.language != "java" or kind is None or kind.order is None:
            return None
        return worst(self.of(b.expr, b.frame) for b in binds[:1])

    def _limited(self, call: f.Call, frame: Frame) -> bool:
        """Whether a query says how many rows it wants."""
        for arg in call.args:
            if frame.fn.module.language == "java" and any(
                isinstance(kind.of, str) and _PAGED.search(kind.of.rpartition(".")[2])
                for kind in self.program.names.java.kinds(arg.value, frame.fn)
            ):
                return True
            if arg.name is not None and re.search(r"limit|count|size|max|top|per_page", arg.name, re.IGNORECASE):
                return True
            for flow in self.resolver.ask(arg.value, frame):
                if isinstance(flow.thing, Text) and _ROWS.search(flow.thing.known):
                    return True
        inner: f.Expr = call.fn
        while isinstance(inner, f.Field | f.Call):
            if isinstance(inner, f.Field):
                if _CUTS.search(inner.name):
                    return True
                inner = inner.base
            else:
                inner = inner.fn
        return False

    def _rows(self, cursor: str, here: int, frame: Frame) -> Size | None:
        """What a cursor gives: as many rows as its statement finds, unless that says how many it wants."""
        if not cursor:
            return None
        found: Size | None = None
        for site in frame.fn.body.calls:
            if site.call.at >= here or dotted(site.call.fn) != f"{cursor}.execute" or not site.call.args:
                continue
            texts = [x.thing for x in self.resolver.ask(site.call.args[0].value, frame)]
            if not texts or not all(isinstance(t, Text) for t in texts) or self._limited(site.call, frame):
                found = UNKNOWN
            elif any(isinstance(t, Text) and re.search(r"\bselect\b", t.known, re.IGNORECASE) for t in texts):
                hop = Hop(frame.fn.module.path, site.call.at, site.call.end, "the statement has no row limit")
                found = Size("data", None, (hop,))
        return found

    def _result(self, target: FnVal, binds: tuple[Bind, ...], call: f.Call, frame: Frame, item: tuple[int, ...]) -> Size:
        fn = target.fn
        if fn.head.is_abstract or frame.depth >= _CALLS:
            return UNKNOWN
        if _CUTS.search(fn.name):
            return BOUNDED
        inner = self.resolver.enter(target, call, frame, binds)
        if fn.head.is_generator:
            return UNKNOWN
        sizes = [self.of(stmt.value, inner, item) for stmt, _ in fn.body.returns if stmt.value is not None]
        size = worst(sizes)
        return size.step(Hop(frame.fn.module.path, call.at, call.end, f"{fn.head.qual} returns it")) if size.grows else size

    def _receiver(self, call: f.Call, frame: Frame) -> Size | None:
        if isinstance(call.fn, f.Field):
            return self.of(call.fn.base, frame)
        if isinstance(call.fn, f.Ref) and "." in call.fn.name:
            base = call.fn.name.rpartition(".")[0]
            return self.name(f.Ref(call.fn.at, call.fn.at + len(base.encode()), base), frame, ())
        return None

    def _of_receiver(self, call: f.Call, frame: Frame, low: str) -> Size | None:
        """What a call of something unknown gives: what its receiver or argument holds, if by its name it only reads or reshapes."""
        receiver = self._receiver(call, frame)
        if receiver is not None and receiver.kind in ("input", "data"):
            if frame.fn.module.language == "java" and self.checked(dotted(call.fn) or "?", call.at, frame, 0):
                return BOUNDED
            return UNKNOWN if _ASIDE.search(low) or _CHECKS.search(low) else receiver
        if low in _KEEPS and call.args:
            return worst(self.of(a.value, frame) for a in call.args)
        if receiver is not None and low in _KEEPS:
            return receiver if receiver.kind != "configured" else CONFIGURED
        return None

    # ------------------------------------------------------------ names

    def name(self, ref: f.Ref, frame: Frame, item: tuple[int, ...]) -> Size:
        """What a dotted name holds where it stands, unless its size was checked before."""
        return self._ask(("name", ref.name, ref.at, frame, item), lambda: self._checked_name(ref, frame, item))

    def _checked_name(self, ref: f.Ref, frame: Frame, item: tuple[int, ...]) -> Size:
        size = self._name(ref, frame, item)
        if size.grows and self.checked(ref.name, ref.at, frame, 0):
            return BOUNDED
        return size

    def _name(self, ref: f.Ref, frame: Frame, item: tuple[int, ...]) -> Size:
        parts = ref.name.split(".")
        if any(_CONFIG.search(_snake(part)) for part in parts):
            entry = self.program.entries.get(frame.fn)
            if entry is None or parts[0] not in entry.inputs:
                return CONFIGURED
        fn, body = frame.fn, frame.fn.body
        for count in range(len(parts), 0, -1):
            prefix = ".".join(parts[:count])
            rest = parts[count:]
            if prefix not in body.definitions and prefix + "[]" not in body.definitions:
                continue
            if prefix in body.outer_names:
                break
            filled = self._filled(prefix, ref.at, frame)
            if filled is not None:
                return self._rest(filled, ref, rest, frame)
            reached, falls = body.reaching(prefix, ref.at)
            sizes = [self._defined(d, frame, item if not rest else ()) for d in reached]
            sizes += list(self._put_into(prefix, ref.at, frame))
            if sizes and (not falls or count > 1 or prefix not in fn.params):
                return self._rest(worst(sizes), ref, rest, frame)
            if sizes:
                return self._rest(worst([*sizes, self._parameter(fn.params[prefix], frame)]), ref, rest, frame)
        head, rest = parts[0], parts[1:]
        if head in fn.params:
            param = fn.params[head]
            if param.kind == "self":
                return self._held(ref, frame)
            filled = self._filled(head, ref.at, frame)
            if filled is not None:
                return self._rest(filled, ref, rest, frame)
            return self._rest(self._parameter(param, frame), ref, rest, frame)
        parent = fn.parent
        if parent is not None and fn.index:
            outer = frame.closure if frame.closure is not None and frame.closure.fn is parent else self.resolver.frame(parent)
            return self.name(f.Ref(fn.head.at, fn.head.at, ref.name), outer, item)
        return self._held(ref, frame)

    def _rest(self, size: Size, ref: f.Ref, rest: list[str], frame: Frame) -> Size:
        """An attribute of something whose size is known."""
        if not rest:
            return size
        if size.kind in ("input", "data", "parameter"):
            if any(_ASIDE.search(part) for part in rest):
                return UNKNOWN
            if self._declared_bound(ref, rest, frame):
                return BOUNDED
            return size
        return self._held(ref, frame)

    def _held(self, ref: f.Ref, frame: Frame) -> Size:
        """A field or global: a literal that nothing adds to, what a request brought, or whatever the program put there."""
        known = self._known(ref, frame)
        if known is not None:
            return known
        flows = self.resolver.ask(ref, frame)
        things = [x.thing for x in flows]
        if things and all(isinstance(t, Obj) and isinstance(t.node, f.Coll) and t.node.size > 0 for t in things):
            return Size("constant", max(float(t.node.size) for t in things if isinstance(t, Obj)))
        if things and all(isinstance(t, Text | Num | Env) for t in things):
            return CONFIGURED
        if "." not in ref.name:
            return CONFIGURED
        return (
            Size("held")
            if any((isinstance(t, Obj) and isinstance(t.node, f.Coll)) or isinstance(t, Unknown) for t in things)
            else UNKNOWN
        )

    def _parameter(self, param: f.Param, frame: Frame) -> Size:
        return self._ask(("param", frame, param.name), lambda: self._of_parameter(param, frame))

    def _of_parameter(self, param: f.Param, frame: Frame) -> Size:
        fn = frame.fn
        if fn.head.kind == "lambda" and fn.module.language == "java" and fn not in self.program.entries:
            # What calls it says what it is given: one element, or whatever a library hands over.
            round_ = self.streams.round_of(fn)
            parent = fn.parent
            return self._each_of(round_, self.resolver.frame(parent)) if round_ is not None and parent is not None else UNKNOWN
        entry = self.program.entries.get(fn)
        if entry is not None and param.name in entry.inputs and not self._provided(param, fn):
            if _STREAMS.search(param.name):
                return Size("event")
            if self._schema_of_param(param, fn):
                return BOUNDED
            if (fixed := _fixed(param)) is not None:
                return fixed
            hop = Hop(
                fn.module.path,
                fn.head.name_at,
                fn.head.name_at + len(fn.name.encode()),
                f"`{param.name}` comes from the caller of {fn.head.qual}: {entry.because}",
            )
            return Size("input", None, (hop,), entry)
        if frame.args is not None and frame.site is not None:
            return self._argument(param, frame.args, fn)
        if (fixed := _fixed(param)) is not None:
            return fixed
        sites, whole = self.resolver.callers(fn)
        sizes = [self._argument(param, args, fn) for _, _, args, _ in sites]
        size = worst(sizes)
        if size.kind in ("input", "data", "parameter"):
            return size
        if not sites:
            if (param.default is not None and not _is_null(param.default)) or param.kind == "*":
                return CONFIGURED  # `*channels`: whoever calls it writes them down one by one
            if entry is not None:
                return UNKNOWN
            return Size(
                "parameter",
                None,
                (
                    Hop(
                        fn.module.path,
                        fn.head.name_at,
                        fn.head.name_at + len(fn.name.encode()),
                        f"`{param.name}` of {fn.head.qual} is as long as its callers make it",
                    ),
                ),
            )
        return size if whole else UNKNOWN

    def _provided(self, param: f.Param, fn: Fun) -> bool:
        """Whether the framework makes a handler's parameter from something else than the request: a session, a service."""
        default = param.default
        if isinstance(default, f.Call) and _PROVIDERS.search(dotted(default.fn)):
            return True
        if _ASIDE.search(param.name):
            return True
        if param.type is None:
            return False
        last = param.type.name.rpartition(".")[2]
        if _PROVIDED_TYPES.search(last) or _PROVIDERS.search(self._annotation(param, fn)):
            return True
        for flow in self.resolver.global_name(param.type.name.partition(".")[0], fn.module):
            thing = flow.thing
            made = thing.frame.fn if isinstance(thing, Obj) and isinstance(thing.node, f.Node) and thing.frame is not None else None
            if made is not None and isinstance(thing, Obj) and _PROVIDERS.search(self.program.text_of(made, thing.node, 200)):
                return True
        kind = self.resolver.resolve_type(param.type, fn)
        known = self.resolver.table(fn.module).type(kind) if isinstance(kind, str) else None
        return known is not None and known.role not in ("request", "value")

    def _annotation(self, param: f.Param, fn: Fun) -> str:
        """The annotation of a parameter as written."""
        if fn.module.language != "python":
            return ""
        end = fn.block[0].at if fn.block else fn.head.end
        head = self.program.cut(fn.module.path, fn.head.at, end).decode("utf-8", "replace")
        found = re.search(rf"\b{re.escape(param.name)}\s*:\s*", head)
        if found is None:
            return ""
        depth = 0
        for at in range(found.end(), len(head)):
            depth += (head[at] in "([{") - (head[at] in ")]}")
            if depth < 0 or (depth == 0 and head[at] in ",="):
                return head[found.end() : at]
        return head[found.end() :]

    def _argument(self, param: f.Param, args: tuple[Bind, ...], fn: Fun) -> Size:
        bind, spread = self.resolver.argument(param, args, fn)
        if bind is not None:
            size = self.of(bind.expr, bind.frame)
            return size.step(
                Hop(bind.frame.fn.module.path, bind.expr.at, bind.expr.end, f"passed to {fn.head.qual} as `{param.name}`")
            )
        if param.kind == "*":
            rest = [b for b in args if b.name is None]
            return worst([Size("constant", float(len(rest))), *(self.of(b.expr, b.frame) for b in rest if b.spread == 1)])
        return UNKNOWN if spread else NONE

    # ------------------------------------------------------------ definitions

    def _defined(self, d: Definition, frame: Frame, item: tuple[int, ...]) -> Size:
        return self._ask(("def", id(d), frame, item), lambda: self._of_definition(d, frame, item))

    def _of_definition(self, d: Definition, frame: Frame, item: tuple[int, ...]) -> Size:
        if d.expr is None:
            return NONE if d.kind == "declared" else UNKNOWN
        if d.kind in ("value", "aug", "enter"):
            size = self.of(d.expr, frame, (*d.item, *item))
            if isinstance(d.expr, f.Call) and dotted(d.expr.fn) == "append":
                size = worst([size, *(self._around(d.arm, d.name, d.at, frame))])
            return size
        if d.kind == "each":
            if isinstance(d.expr, f.Call) and _CHUNKS.search(d.expr.fn.name if isinstance(d.expr.fn, f.Ref | f.Field) else ""):
                return BOUNDED
            return self._inside(self.of(d.expr, frame))
        return UNKNOWN

    def _put_into(self, name: str, here: int, frame: Frame) -> Iterator[Size]:
        """What is added to a collection one by one: it gets as long as the loops around the adding go round."""
        body = frame.fn.body
        for d in body.definitions.get(name + "[]", ()):
            if d.at < here:
                yield from self._around(d.arm, name, d.at, frame)
        for site in body.calls:
            called = dotted(site.call.fn)
            base, _, verb = called.rpartition(".")
            if base == name and verb in _APPENDS and site.call.at < here:
                if verb in _WHOLE and site.call.args:
                    yield self.of(site.call.args[0].value, frame)
                yield from self._around(site.arm, name, site.call.at, frame)

    def _around(self, arm: Any, name: str, at: int, frame: Frame) -> Iterator[Size]:
        made = [
            d
            for d in frame.fn.body.definitions.get(name, ())
            if d.at < at and not (isinstance(d.expr, f.Call) and dotted(d.expr.fn) == "append")
        ]
        since = max((d.at for d in made), default=-1)
        for around in arm.chain():
            if around.kind in ("loop", "comp") and not (around.node.at <= since < around.node.end):
                yield self.loop(around.node, frame)

    def _filled(self, name: str, here: int, frame: Frame) -> Size | None:
        """Whether a call before filled a name from a request or an answer: `Decode(&in)`, `c.ShouldBindJSON(&in)`."""
        found: Size | None = None
        for site in frame.fn.body.calls:
            if site.call.at >= here:
                continue
            for position, arg in enumerate(site.call.args):
                value = arg.value.value if isinstance(arg.value, f.Un) and arg.value.op == "&" else arg.value
                if dotted(value) != name or (value is arg.value and frame.fn.module.language != "go"):
                    continue
                size = self._fill(site, position, frame, 0)
                if size is not None:
                    hop = Hop(
                        frame.fn.module.path,
                        site.call.at,
                        site.call.end,
                        f"`{name}` is read from the request here" if size.kind == "input" else f"`{name}` is filled here",
                    )
                    found = size.step(hop)
        return found

    def _fill(self, site: CallSite, position: int, frame: Frame, depth: int) -> Size | None:
        others = [a.value for i, a in enumerate(site.call.args) if i != position]
        for target in self.program.targets(site, frame):
            thing = target.flow.thing
            row = target.entry
            if row is not None and row.decodes is not None:
                if row.decodes == position:
                    given = worst([self.of(e, frame) for e in others] + ([self._receiver(site.call, frame) or NONE]))
                    if given.kind in ("input", "data"):
                        return given
                    entry = self._entry_above(frame.fn) if self._is_request(target.name, frame.fn) else None
                    return Size("input", None, (), entry) if entry is not None and entry.kind == "request" else UNKNOWN
                continue
            if row is not None and row.does == "query" and (selected := self._selected(site, frame)) is not None:
                return selected
            if isinstance(thing, FnVal) and depth < 2:
                params = thing.fn.positional
                if position >= len(params):
                    continue
                inner = self.resolver.enter(thing, site.call, frame, target.binds)
                for deeper in thing.fn.body.calls:
                    for at, arg in enumerate(deeper.call.args):
                        if dotted(arg.value) == params[position].name:
                            size = self._fill(deeper, at, inner, depth + 1)
                            if size is not None:
                                return size
                continue
            if not isinstance(thing, FnVal | ClassVal) and _FILLS.search(site.last):
                given = worst([self.of(e, frame) for e in others] + [self._receiver(site.call, frame) or NONE])
                if given.kind in ("input", "data"):
                    return given
        return None

    # ------------------------------------------------------------ checks

    def checked(self, name: str, here: int, frame: Frame, depth: int, number: bool = False) -> bool:
        """Whether every way to a place passes a test that leaves, or cuts, where `name` is too long."""
        body = frame.fn.body
        around = body.arm_at(max(here, 0))
        for stmt, _arm in body.stmts:
            if not isinstance(stmt, f.If) or stmt.at > here:
                continue
            if stmt.end <= here:
                if leaves(stmt.then) or _cuts(stmt.then, name):
                    if self._limits(stmt.test, False, name, frame, number):
                        return True
                elif (
                    stmt.orelse
                    and (leaves(stmt.orelse) or _cuts(stmt.orelse, name))
                    and self._limits(stmt.test, True, name, frame, number)
                ):
                    return True
        for arm in around.chain():
            if (
                isinstance(arm.node, f.If | f.Cond)
                and arm.kind in ("then", "else")
                and self._limits(arm.node.test, arm.kind == "then", name, frame, number)
            ):
                return True
        for stmt, _arm in body.stmts:
            if isinstance(stmt, f.Switch) and stmt.subject is None and stmt.at < here:
                for case in stmt.cases:
                    inside = bool(case.body) and case.body[0].at <= here < case.body[-1].end
                    if (leaves(case.body) or inside) and any(self._limits(t, inside, name, frame, number) for t in case.tests):
                        return True
        return depth < 2 and not number and self._checked_by_call(name, here, frame, depth)

    def _limits(self, test: f.Expr, truth: bool, name: str, frame: Frame, number: bool) -> bool:
        """Whether a test that came out as `truth` limits the length of `name` from above."""
        if isinstance(test, f.Un) and test.op == "not":
            return self._limits(test.value, not truth, name, frame, number)
        if isinstance(test, f.Bin) and test.op in ("and", "or"):
            return self._limits(test.left, truth, name, frame, number) or self._limits(test.right, truth, name, frame, number)
        if isinstance(test, f.Let):
            return self._limits(test.value, truth, name, frame, number)
        if not isinstance(test, f.Bin) or test.op not in ("<", "<=", ">", ">=", "==", "!="):
            return False
        op = test.op
        if self._measures(test.left, name, frame, number):
            other = test.right
        elif self._measures(test.right, name, frame, number):
            other = test.left
            op = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
        else:
            return False
        if isinstance(other, f.Lit) and isinstance(other.value, int | float) and other.value < 1:
            return op == "==" and truth
        return (op in (">", ">=", "!=") and not truth) or (op in ("<", "<=", "==") and truth)

    def _measures(self, expr: f.Expr, name: str, frame: Frame, number: bool) -> bool:
        """Whether an expression is the length of `name`: `len(name)`, or a variable that holds it."""
        if isinstance(expr, f.Let):
            return self._measures(expr.value, name, frame, number)
        if isinstance(expr, f.Cast):
            return self._measures(expr.value, name, frame, number)
        if isinstance(expr, f.Call):
            if (
                dotted(expr.fn).rpartition(".")[2] in ("len", "int", "int64", "count", "size", "Len", "uint64", "int32")
                and expr.args
            ):
                inner = expr.args[0].value
                return self._same(inner, name) or self._measures(inner, name, frame, number)
            called = dotted(expr.fn)
            if isinstance(expr.fn, f.Field) and expr.fn.name in ("size", "length") and isinstance(expr.fn.base, f.Call):
                return self._same(expr.fn.base, name)
            return (
                bool(called)
                and called.rpartition(".")[2].lower() in ("len", "size", "count", "length", "__len__")
                and _same_name(called.rpartition(".")[0], name)
            )
        if isinstance(expr, f.Bin) and expr.op in ("+", "-", "*"):
            return self._measures(expr.left, name, frame, number) or self._measures(expr.right, name, frame, number)
        text = dotted(expr)
        if not text:
            return False
        if number and _same_name(text, name):
            return True
        if "." in text:
            return False
        reached, _ = frame.fn.body.reaching(text, expr.at)
        return any(
            isinstance(d.expr, f.Call) and d.kind == "value" and self._measures(d.expr, name, frame, number) for d in reached
        )

    @staticmethod
    def _same(expr: f.Expr, name: str) -> bool:
        text = dotted(expr)
        if text:
            return _same_name(text, name)
        if isinstance(expr, f.Call):
            called = dotted(expr.fn)
            return bool(called) and _same_name(called, name)
        return isinstance(expr, f.Index) and dotted(expr.base) == name.partition(".")[0]

    def _checked_by_call(self, name: str, here: int, frame: Frame, depth: int) -> bool:
        """Whether a function that got the name, or what it belongs to, tests its length: `in.Validate()`, `check(in)`."""
        for site in frame.fn.body.calls:
            if site.call.at >= here:
                continue
            given = [a.value.value if isinstance(a.value, f.Un) and a.value.op in ("&", "*") else a.value for a in site.call.args]
            receiver = dotted(site.call.fn).rpartition(".")[0]
            held = [dotted(g) for g in given]
            if _CHECKS.search(dotted(site.call.fn)) and any(
                isinstance(g, f.Bin | f.Un) and self._limits(g, True, name, frame, False) for g in given
            ):
                return True  # `checkArgument(xs.size() <= MOST)`
            if receiver and (name == receiver or name.startswith(receiver + ".")) and site.last:
                rest = name[len(receiver) :].strip(".")
                for callee in self._quick_callees(site, frame):
                    own = callee.head.params[0].name if callee.is_method else ""
                    if own and rest and self._tests(callee, f"{own}.{rest}", depth):
                        return True
                if _CHECKS.search(site.last) and not self._quick_callees(site, frame):
                    return True
            for position, text in enumerate(held):
                if not text or not (name == text or name.startswith(text + ".")):
                    continue
                rest = name[len(text) :]
                callees = self._quick_callees(site, frame)
                for callee in callees:
                    params = callee.positional
                    if position < len(params) and self._tests(callee, params[position].name + rest, depth):
                        return True
                if not callees and _CHECKS.search(dotted(site.call.fn) or site.last):
                    return True
        return False

    def _quick_callees(self, site: CallSite, frame: Frame) -> list[Fun]:
        return self.program.callees(site, self.resolver.frame(frame.fn))

    def _tests(self, fn: Fun, name: str, depth: int) -> bool:
        key = ("tests", fn, name)
        found = self._memo.get(key)
        if found is not None:
            return found is BOUNDED
        self._memo[key] = UNKNOWN
        passes = self.checked(name, fn.head.end, self.resolver.frame(fn), depth + 1) or any(
            isinstance(stmt.value, f.Bin | f.Un)
            and (
                self._limits(stmt.value, True, name, self.resolver.frame(fn), False)
                or self._limits(stmt.value, False, name, self.resolver.frame(fn), False)
            )
            for stmt, _ in fn.body.returns
        )
        self._memo[key] = BOUNDED if passes else UNKNOWN
        return passes

    # ------------------------------------------------------------ declared bounds

    def _declared_bound(self, ref: f.Ref, rest: list[str], frame: Frame) -> bool:
        """Whether the field's own declaration limits it: a tag, a constrained type, a validator of its class."""
        base = ".".join(ref.name.split(".")[: -len(rest)])
        kinds: list[Klass] = []
        declared = self.resolver.static_type(f.Ref(ref.at, ref.at, base), frame.fn)
        if declared is not None:
            resolved = self.resolver.resolve_type(declared, frame.fn)
            if isinstance(resolved, Klass):
                kinds.append(resolved)
        for flow in self.resolver.ask(f.Ref(ref.at, ref.at, base), frame):
            if isinstance(flow.thing, Obj) and isinstance(flow.thing.type, Klass):
                kinds.append(flow.thing.type)
        for part in rest:
            deeper: list[Klass] = []
            for klass in kinds:
                for k in self.resolver.mro(klass)[0]:
                    field = k.fields.get(part)
                    if field is None:
                        continue
                    text = self.program.text_of(k.module, field, 400) + " " + field.tag
                    if _SCHEMA.search(text) or self._validated(k, part):
                        return True
                    if field.type is not None:
                        alias = self.resolver.resolve_type(field.type, k.module.functions[0])
                        if isinstance(alias, Klass):
                            deeper.append(alias)
                    if field.type is not None and self._alias_bound(field.type.name, k):
                        return True
            kinds = deeper
        return False

    def _alias_bound(self, name: str, klass: Klass) -> bool:
        """`Ids = Annotated[list[str], Len(0, 50)]` used as the field's type."""
        top = klass.module.functions[0]
        for flow_definition in top.body.definitions.get(name, ()):
            if flow_definition.expr is not None and _SCHEMA.search(self.program.text_of(klass.module, flow_definition.expr, 400)):
                return True
        return False

    def _validated(self, klass: Klass, field: str) -> bool:
        for method in klass.methods.values():
            if not method.head.decorators or not any(
                _CHECKS.search(dotted(d.fn if isinstance(d, f.Call) else d)) for d in method.head.decorators
            ):
                continue
            names = {p.name for p in method.head.params} | {f"{p.name}.{field}" for p in method.head.params}
            if any(self.checked(name, method.head.end, self.resolver.frame(method), 1) for name in sorted(names)):
                return True
        return False

    def _schema_of_param(self, param: f.Param, fn: Fun) -> bool:
        if fn.module.language == "java":
            return self._annotated_bound(param.decorators, fn)
        if param.default is not None and _SCHEMA.search(self.program.text_of(fn.module, param.default, 400)):
            return True
        return param.type is not None and bool(_SCHEMA.search(self._annotation(param, fn)))


def _fixed(param: f.Param) -> Size | None:
    """The size of a parameter whose type says how many elements it has: `tuple[str, str]`, Go's `[3]string`."""
    kind = param.type
    if kind is None or param.kind in ("*", "**"):
        return None
    if kind.shape == "array":
        return BOUNDED
    whole = kind.shape in ("plain", "opt") and kind.name.rpartition(".")[2] in ("tuple", "Tuple")
    if not whole or not kind.args or any(arg.name in ("", "...") for arg in kind.args):
        return None
    return Size("constant", float(len(kind.args)))


def _accessor(fn: Fun) -> str:
    """The field that a getter gives."""
    if len(fn.block) != 1 or not isinstance(fn.block[0], f.Return):
        return ""
    name = dotted(fn.block[0].value)
    return name.removeprefix("this.") if name.startswith("this.") and name.count(".") == 1 else ""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _is_null(expr: f.Expr) -> bool:
    return (isinstance(expr, f.Lit) and expr.value is None) or (isinstance(expr, f.Coll) and expr.size == 0)


def _is_length(expr: f.Expr) -> bool:
    return (isinstance(expr, f.Call) and dotted(expr.fn) == "len") or (
        isinstance(expr, f.Bin) and expr.op == "-" and _is_length(expr.left)
    )


def _same_name(text: str, name: str) -> bool:
    """Whether two spellings mean one collection: equal, or a getter of the same field."""
    if text == name:
        return True
    a, b = text.rpartition(".")[2].lower(), name.rpartition(".")[2].lower()
    return a.removeprefix("get") == b.removeprefix("get") and text.partition(".")[0] == name.partition(".")[0] and a != text.lower()


def _cuts(block: f.Block, name: str) -> bool:
    """Whether a block gives the name a new value."""
    return any(isinstance(stmt, f.Assign) and any(dotted(t) == name for t in stmt.targets) for stmt in block)


def _breaks_early(loop: f.Loop) -> bool:
    """Whether a loop counts its passes and leaves: `if i >= limit: break`."""
    index = ""
    if isinstance(loop.target, f.Coll) and loop.target.items:
        index = dotted(loop.target.items[0].value)
    counters = {index} if index else set()
    for stmt in loop.body:
        for node in walk(stmt):
            if isinstance(node, f.Assign) and node.op == "+" and isinstance(node.value, f.Lit):
                counters.update(dotted(t) for t in node.targets)
    for stmt in loop.body:
        if isinstance(stmt, f.If) and any(
            (isinstance(s, f.Jump) and s.kind == "break") or isinstance(s, f.Return | f.Raise) for s in stmt.then
        ):
            test = stmt.test
            if (
                isinstance(test, f.Bin)
                and test.op in (">", ">=", "==")
                and (dotted(test.left) in counters or _is_length(test.left))
            ):
                return True
    return False
