"""Handles on the declarations of a program: modules, classes, functions, and the order of events inside a body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from sys import intern
from typing import TYPE_CHECKING, Any

import msgspec

import resilint.facts as f
from resilint.link.looks import Scan

if TYPE_CHECKING:
    from resilint.knowledge.index import Table
    from resilint.link.beans import BeanDecl

CODE = ("python", "go", "java")
"""The languages of code that are read."""

Path = tuple["Arm", ...]

# Most lists of a body are empty, and a program has a hundred thousand of them: these stand for all that are.
_FEW = 12
"""Calls of a body that are quicker looked through than an index of them is made."""
_NO_ARMS: list[Arm] = []
_NOTHING: list[Any] = []
_NO_NAMES: frozenset[str] = frozenset()


class Arm:
    """A block of a body that may not run: a branch, a loop body, a handler. Arms of one `choice` exclude each other."""

    __slots__ = ("always", "at", "children", "choice", "end", "kind", "node", "parent")

    def __init__(
        self, at: int, end: int, node: f.Node, kind: str, parent: Arm | None, *, choice: int = 0, always: bool = False
    ) -> None:
        self.at = at
        self.end = end
        self.node = node
        self.kind = kind
        self.parent = parent
        self.children = _NO_ARMS
        self.choice = choice
        self.always = always
        """It runs whenever its statement does (with body, try body, finally)."""
        if parent is not None:
            if parent.children:
                parent.children.append(self)
            else:
                parent.children = [self]

    def chain(self) -> list[Arm]:
        """This arm and those around it, outermost first."""
        arms: list[Arm] = []
        arm: Arm | None = self
        while arm is not None:
            arms.append(arm)
            arm = arm.parent
        arms.reverse()
        return arms


@dataclass(eq=False, slots=True)
class Definition:
    """One place where a name (or a dotted path such as `o.timeout`) gets a value.

    `kind`: `value` the expression itself, `item` its component `item`, `each` an element of it, `enter` what a `with` gives,
    `aug` an augmented assignment, `declared` nothing but a type, `function`/`class`/`import`/`param`/`error` as they say.
    """

    name: str
    kind: str
    at: int
    end: int
    arm: Arm
    expr: f.Expr | None = None
    item: tuple[int, ...] = ()
    type: f.Type | None = None
    node: Any = None
    index: int = -1


@dataclass(eq=False, slots=True)
class CallSite:
    """A call as it stands in a body."""

    call: f.Call
    fn: Fun
    arm: Arm
    stmt: f.Stmt
    how: str = ""
    """`go`, `defer`, or empty."""
    awaited: bool = False
    loop: f.Node | None = None
    """The innermost loop or comprehension around it, within the function."""
    last: str = field(init=False)
    """The last segment of what it calls."""

    def __post_init__(self) -> None:
        self.last = last_name(self.call.fn)


def names_given(stmt: f.Stmt, node: f.Node) -> Iterator[str]:
    """The variables that hold what an expression in a statement gives, by an assignment or a scope."""
    if isinstance(stmt, f.Assign) and stmt.value is not None and stmt.value.at <= node.at < stmt.value.end:
        yield from filter(None, map(dotted, stmt.targets))
    for item in stmt.items if isinstance(stmt, f.With) else ():
        if item.target is not None and item.value.at <= node.at < item.value.end:
            yield from filter(None, (dotted(item.target),))


def last_name(expr: f.Expr) -> str:
    """The last segment of a name or attribute; empty for anything else."""
    if isinstance(expr, f.Ref):
        name = expr.name
        dot = name.rfind(".")
        # The same few names are called again and again.
        return name if dot < 0 else intern(name[dot + 1 :])
    return expr.name if isinstance(expr, f.Field) else ""


def shared_folders(a: str, b: str) -> int:
    """How many segments two paths have in common from the start."""
    count = 0
    for x, y in zip(a.split("/"), b.split("/"), strict=False):
        if x != y:
            break
        count += 1
    return count


def called_part(call: f.Call) -> f.Node:
    """The last link of a chain of calls: the called name with its arguments."""
    last = last_name(call.fn)
    return f.Ref(max(call.at, call.fn.end - len(last.encode())), call.end, last)


def dotted(expr: f.Expr | None) -> str:
    """The expression as a dotted name, or empty."""
    if isinstance(expr, f.Ref):
        return expr.name
    if isinstance(expr, f.Field):
        base = dotted(expr.base)
        return f"{base}.{expr.name}" if base else ""
    if isinstance(expr, f.Un) and expr.op in ("&", "*"):
        return dotted(expr.value)
    return ""


def place_of(expr: f.Expr | None) -> str:
    """Where a value is kept: a dotted name with `[]` for each element (`d[k][0]` is `d[][]`), or empty."""
    if isinstance(expr, f.Index):
        base = place_of(expr.base)
        return base + "[]" if base else ""
    return dotted(expr)


STAR = 1 << 16
"""In `Definition.item`: the part a starred target takes, plus 256 for each target before it and 1 for each behind."""


def item_of(targets: tuple[f.Pair, ...], position: int) -> int:
    """Which item of a value a target takes: counted from the end behind a star, a range (see `STAR`) for the star."""
    star = next((i for i, pair in enumerate(targets) if pair.spread), len(targets))
    if position == star:
        return STAR + star * 256 + len(targets) - 1 - star
    return position if position < star else position - len(targets)


_FIELDS: dict[type, tuple[str, ...]] = {}


def children(node: Any) -> Iterator[Any]:
    """Every struct directly inside a node, in the order written."""
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = tuple(n for n in kind.__struct_fields__ if n not in ("at", "end"))
        _FIELDS[kind] = names
    for name in names:
        value = getattr(node, name)
        if isinstance(value, msgspec.Struct):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, msgspec.Struct):
                    yield item


def conjuncts(test: f.Expr) -> list[f.Expr]:
    """The parts of a test that all hold where it holds."""
    if isinstance(test, f.Bin) and test.op == "and":
        return [*conjuncts(test.left), *conjuncts(test.right)]
    return [test]


def walk(node: Any) -> Iterator[Any]:
    """A node and everything inside it, in the order written; types as written are left out."""
    stack = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, f.Type):
            continue
        yield top
        stack.extend(reversed(list(children(top))))


def walk_block(block: f.Block) -> Iterator[Any]:
    """Everything inside a block."""
    for stmt in block:
        yield from walk(stmt)


def declared_types(block: f.Block) -> Iterator[f.Type]:
    """Types that variables of a block are declared with, as its `Body` has them in its definitions."""
    for stmt in block:
        kind = type(stmt)
        if kind in _SIMPLE:
            continue
        if isinstance(stmt, f.Assign):
            if stmt.type is not None and not stmt.op and any(map(_declares, stmt.targets)):
                yield stmt.type
        else:
            for inner in children(stmt):
                if isinstance(inner, f.Case | f.Handler):
                    yield from declared_types(inner.body)
                elif isinstance(inner, f.Comm):
                    yield from declared_types((*((inner.op,) if inner.op is not None else ()), *inner.body))
                elif isinstance(inner, f.Stmt):
                    yield from declared_types((inner,))


def _declares(target: f.Expr) -> bool:
    """Whether a target gives a name its value."""
    if isinstance(target, f.Coll):
        return any(_declares(pair.value) for pair in target.items)
    return dotted(target) not in ("", "_")


_SIMPLE = frozenset((f.Do, f.Return, f.Raise, f.Jump, f.Defer, f.Go, f.Send, f.Def, f.Scope, f.Delete))
"""Statements with no statement inside."""


def leaves(block: f.Block) -> bool:
    """Whether a block always ends by leaving what follows it (return, raise, break, continue, exit)."""
    for stmt in reversed(block):
        if isinstance(stmt, f.Return | f.Raise):
            return True
        if isinstance(stmt, f.Jump):
            return stmt.kind in ("break", "continue")
        if isinstance(stmt, f.If):
            return bool(stmt.orelse) and leaves(stmt.then) and leaves(stmt.orelse)
        if isinstance(stmt, f.Do) and isinstance(stmt.value, f.Call):
            name = dotted(stmt.value.fn)
            return name in ("panic", "os.Exit", "sys.exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "exit", "abort")
        if isinstance(stmt, f.With | f.Try):
            return leaves(stmt.body)
        return False
    return False


_PLAIN = frozenset((f.Ref, f.Lit, f.Fn, f.Type))
"""Expressions with nothing inside."""


class Body:
    """A function's body with its order made explicit: definitions by name, calls with the arms around them.

    Its lists are not to be changed: empty ones are shared.
    """

    __slots__ = (
        "_arms",
        "_choices",
        "_ifs",
        "_loops",
        "_named",
        "_stmts",
        "_stored",
        "block",
        "calls",
        "definitions",
        "fn",
        "news",
        "outer_names",
        "returns",
        "root",
        "yields",
    )

    def __init__(self, fn: Fun, block: f.Block) -> None:
        self.fn = fn
        self.block = block
        self.root = Arm(fn.head.at, fn.head.end, fn.head, "root", None, always=True)  # type: ignore[arg-type]
        self.definitions: dict[str, list[Definition]] = {}
        self.calls: list[CallSite] = []
        self.returns: list[tuple[f.Return, Arm]] = []
        self.yields: list[f.Yield] = []
        self.news: list[tuple[f.New, Arm, f.Stmt]] = []
        self.outer_names = _NO_NAMES
        # Beside each other, not in pairs, which would be a tenth of what bodies take.
        self._stmts: list[f.Stmt] = []
        self._arms: list[Arm] = []
        self._named: dict[str, list[CallSite]] | None = None
        self._ifs: list[tuple[f.If, Arm]] | None = None
        self._stored: dict[str, list[tuple[str, list[Definition]]]] | None = None
        self._choices = 0
        self._loops: list[f.Node] = []
        self._block(block, self.root)
        self._initialisers()
        self._loops = _NOTHING
        self.calls = self.calls or _NOTHING
        self.returns = self.returns or _NOTHING
        self.yields = self.yields or _NOTHING
        self.news = self.news or _NOTHING

    def drop(self) -> None:
        """Lets go of a body of which nobody holds a part: its arms point at each other, and nobody looks for such rings here."""
        arms = [self.root]
        for arm in arms:
            arms += arm.children
            arm.children = _NO_ARMS

    # ------------------------------------------------------------ building

    def _initialisers(self) -> None:
        """What fields of classes start with runs where the class stands, though it is written in the class."""
        for klass in self.fn.module.classes:
            if max(klass.decl.parent, 0) == self.fn.index:
                for field in klass.decl.fields:
                    if field.init is not None:
                        self._expr(field.init, self.root, f.Do(field.init.at, field.init.end, field.init))

    def _arm(self, block: f.Block, node: f.Node, kind: str, parent: Arm, choice: int = 0, always: bool = False) -> None:
        if not block:
            return
        arm = Arm(block[0].at, block[-1].end, node, kind, parent, choice=choice, always=always)
        self._block(block, arm)

    def _block(self, block: f.Block, arm: Arm) -> None:
        for stmt in block:
            self._stmt(stmt, arm)

    def _choice(self) -> int:
        self._choices += 1
        return self._choices

    def _define(self, d: Definition) -> None:
        known = self.definitions.get(d.name)
        if known is None:
            self.definitions[d.name] = [d]
        else:
            known.append(d)

    def _target(
        self,
        target: f.Expr,
        kind: str,
        expr: f.Expr | None,
        arm: Arm,
        stmt: Any,
        item: tuple[int, ...] = (),
        type_: f.Type | None = None,
    ) -> None:
        if isinstance(target, f.Coll):
            for position, pair in enumerate(target.items):
                self._target(pair.value, kind, expr, arm, stmt, (*item, item_of(target.items, position)), type_)
            return
        name = dotted(target)
        if name and name != "_":
            self._define(Definition(name, kind, target.at, stmt.end, arm, expr, item, type_, stmt))
        elif not name:
            if isinstance(target, f.Index):
                base = place_of(target.base)
                if base:
                    self._define(Definition(base + "[]", "store", target.at, stmt.end, arm, expr, item, None, stmt))
            self._expr(target, arm, stmt)

    def _stmt(self, stmt: f.Stmt, arm: Arm) -> None:
        self._stmts.append(stmt)
        self._arms.append(arm)
        match stmt:
            case f.Assign():
                if stmt.value is not None:
                    self._expr(stmt.value, arm, stmt)
                value = stmt.value
                for target in stmt.targets:
                    if stmt.op:
                        self._target(target, "aug", value, arm, stmt)
                    elif value is None:
                        self._target(target, "declared", None, arm, stmt, (), stmt.type)
                    elif (
                        isinstance(target, f.Coll)
                        and isinstance(value, f.Coll)
                        and len(target.items) == len(value.items)
                        and not any(p.spread for p in (*target.items, *value.items))
                    ):
                        for left, right in zip(target.items, value.items, strict=True):
                            self._target(left.value, "value", right.value, arm, stmt, (), stmt.type)
                    else:
                        self._target(target, "value", value, arm, stmt, (), stmt.type)
            case f.Do():
                self._expr(stmt.value, arm, stmt)
            case f.Return():
                self.returns.append((stmt, arm))
                if stmt.value is not None:
                    self._expr(stmt.value, arm, stmt)
            case f.Raise():
                for part in (stmt.value, stmt.cause):
                    if part is not None:
                        self._expr(part, arm, stmt)
            case f.If():
                self._expr(stmt.test, arm, stmt)
                choice = self._choice()
                self._arm(stmt.then, stmt, "then", arm, choice)
                self._arm(stmt.orelse, stmt, "else", arm, choice)
            case f.Switch():
                if stmt.subject is not None:
                    self._expr(stmt.subject, arm, stmt)
                choice = self._choice()
                for case in stmt.cases:
                    for test in case.tests:
                        self._expr(test, arm, stmt)
                    self._arm(case.body, stmt, "case", arm, choice)
            case f.Select():
                choice = self._choice()
                for comm in stmt.cases:
                    inner = Arm(
                        comm.op.at if comm.op is not None else (comm.body[0].at if comm.body else stmt.at),
                        comm.body[-1].end if comm.body else (comm.op.end if comm.op is not None else stmt.end),
                        stmt,
                        "comm",
                        arm,
                        choice=choice,
                    )
                    if comm.op is not None:
                        self._stmt(comm.op, inner)
                    self._block(comm.body, inner)
            case f.Loop():
                if stmt.iter is not None:
                    self._expr(stmt.iter, arm, stmt)
                self._loops.append(stmt)
                inner = Arm(stmt.at, stmt.end, stmt, "loop", arm)
                if stmt.target is not None:
                    self._target(stmt.target, "each", stmt.iter, inner, stmt)
                if stmt.test is not None:
                    self._expr(stmt.test, inner, stmt)
                self._block(stmt.body, inner)
                if stmt.step is not None:
                    self._stmt(stmt.step, inner)
                self._loops.pop()
                self._arm(stmt.orelse, stmt, "orelse", arm)
            case f.Try():
                choice = self._choice()
                self._arm(stmt.body, stmt, "try", arm, always=True)
                for handler in stmt.handlers:
                    for kind in handler.types:
                        self._expr(kind, arm, stmt)
                    inner = Arm(handler.at, handler.end, stmt, "handler", arm, choice=choice)
                    if handler.name:
                        self._define(Definition(handler.name, "error", handler.at, handler.at, inner, None, (), None, handler))
                    self._block(handler.body, inner)
                self._arm(stmt.orelse, stmt, "orelse", arm, always=True)
                self._arm(stmt.final, stmt, "final", arm, always=True)
            case f.With():
                for position, item in enumerate(stmt.items):
                    # What stands behind a comma runs inside what stands before it.
                    before = f.With(stmt.at, stmt.end, stmt.items[:position], stmt.body, stmt.is_async) if position else stmt
                    inside = Arm(item.value.at, item.value.end, before, "with", arm, always=True) if position else arm
                    self._expr(item.value, inside, stmt)
                    if item.target is not None:
                        self._target(item.target, "enter", item.value, arm, stmt)
                self._arm(stmt.body, stmt, "with", arm, always=True)
            case f.Defer():
                self._expr(stmt.call, arm, stmt, how="defer")
            case f.Go():
                self._expr(stmt.call, arm, stmt, how="go")
            case f.Send():
                self._expr(stmt.channel, arm, stmt)
                self._expr(stmt.value, arm, stmt)
            case f.Def():
                self._define(Definition(stmt.name, stmt.kind, stmt.at, stmt.end, arm, None, (), None, stmt, stmt.index))
            case f.Scope():
                self.outer_names = self.outer_names.union(stmt.names)
            case f.Delete():
                for target in stmt.targets:
                    self._expr(target, arm, stmt)
            case f.Jump():
                pass

    def _expr(self, expr: Any, arm: Arm, stmt: f.Stmt, how: str = "", awaited: bool = False) -> None:
        if type(expr) in _PLAIN:
            return
        match expr:
            case f.Call():
                loop = self._loops[-1] if self._loops else None
                self.calls.append(CallSite(expr, self.fn, arm, stmt, how, awaited, loop))
                if type(expr.fn) is not f.Ref:
                    self._expr(expr.fn, arm, stmt)
                for arg in expr.args:
                    if type(arg.value) not in _PLAIN:
                        self._expr(arg.value, arm, stmt)
            case f.Await():
                self._expr(expr.value, arm, stmt, awaited=True)
            case f.New():
                self.news.append((expr, arm, stmt))
                for pair in expr.fields:
                    self._expr(pair.value, arm, stmt)
            case f.Comp():
                for gen in expr.gens[:1]:
                    self._expr(gen.iter, arm, stmt)
                self._loops.append(expr)
                inner = Arm(expr.at, expr.end, expr, "comp", arm)
                for position, gen in enumerate(expr.gens):
                    self._target(gen.target, "each", gen.iter, inner, expr)
                    if position:
                        self._expr(gen.iter, inner, stmt)
                    for cond in gen.conds:
                        self._expr(cond, inner, stmt)
                if expr.key is not None:
                    self._expr(expr.key, inner, stmt)
                self._expr(expr.elt, inner, stmt)
                self._loops.pop()
            case f.Cond():
                self._expr(expr.test, arm, stmt)
                choice = self._choice()
                for part, kind in ((expr.then, "then"), (expr.orelse, "else")):
                    inner = Arm(part.at, part.end, expr, kind, arm, choice=choice)
                    self._expr(part, inner, stmt)
            case f.Bin(op="and" | "or"):
                self._expr(expr.left, arm, stmt)
                inner = Arm(expr.right.at, expr.right.end, expr, expr.op, arm)
                self._expr(expr.right, inner, stmt)
            case f.Let():
                self._expr(expr.value, arm, stmt)
                self._target(expr.target, "value", expr.value, arm, stmt)
            case f.Yield():
                self.yields.append(expr)
                if expr.value is not None:
                    self._expr(expr.value, arm, stmt)
            case _:
                for child in children(expr):
                    if type(child) not in _PLAIN:
                        self._expr(child, arm, stmt)

    # ------------------------------------------------------------ asking

    @property
    def stmts(self) -> Iterator[tuple[f.Stmt, Arm]]:
        """Every statement with the arm it stands in, in the order written."""
        return zip(self._stmts, self._arms, strict=True)

    def calls_named(self, last: str) -> list[CallSite]:
        """Calls of what has this last segment, in the order written."""
        if len(self.calls) <= _FEW:
            return [site for site in self.calls if site.last == last]
        if self._named is None:
            self._named = {}
            for site in self.calls:
                known = self._named.get(site.last)
                if known is None:
                    self._named[site.last] = [site]
                else:
                    known.append(site)
        return self._named.get(last, [])

    @property
    def ifs(self) -> list[tuple[f.If, Arm]]:
        """Its statements that test something, with the arms around them."""
        if self._ifs is None:
            self._ifs = [(stmt, arm) for stmt, arm in self.stmts if isinstance(stmt, f.If)]
        return self._ifs

    def stored(self, last: str) -> list[tuple[str, list[Definition]]]:
        """Definitions of dotted paths whose last segment is this one."""
        if self._stored is None:
            self._stored = {}
            for key, defs in self.definitions.items():
                if "." in key:
                    self._stored.setdefault(key.rpartition(".")[2], []).append((key, defs))
        return self._stored.get(last, [])

    def arm_at(self, offset: int) -> Arm:
        """The innermost arm around a byte."""
        arm = self.root
        while True:
            for child in arm.children:
                if child.at <= offset < child.end:
                    arm = child
                    break
            else:
                return arm

    def reaching(self, name: str, offset: int) -> tuple[list[Definition], bool]:
        """Definitions of `name` whose value may still stand at `offset`, latest first, and whether a path to it has none."""
        defs = self.definitions.get(name)
        if defs and self.fn.module.language == "java":
            defs = [d for d in defs if d.kind != "declared"]  # no zero value, but a compile error where nothing follows
        if not defs:
            return [], True
        arms = self.arm_at(offset).chain()
        around = set(map(id, arms))
        loops = [arm for arm in arms if arm.kind in ("loop", "comp")]
        reached: list[Definition] = []
        open_path = True
        before = [
            d
            for d in defs
            if d.end <= offset
            or (d.kind in ("each", "error", "param", "import", "function", "class") and d.at <= offset)
            or (d.at < offset <= d.end and d.kind == "enter")
        ]
        for d in sorted(before, key=lambda d: d.at, reverse=True):
            chain = d.arm.chain()
            if _excluded(chain, arms):
                continue
            reached.append(d)
            sure = all(id(arm) in around or arm.always for arm in chain) and not _handler_after_try(chain, arms)
            if sure and d.kind != "aug":
                open_path = False
                break
        if loops and len(before) < len(defs):
            outer = loops[0]
            for d in defs:
                if d not in before and d.at < outer.end and d.at >= outer.at and d.end > offset:
                    reached.append(d)
        return reached, open_path


def _excluded(one: list[Arm], other: list[Arm]) -> bool:
    """Whether two chains of arms stand in different ways of the same choice, outside any loop that they share."""
    for a in one:
        if a.choice:
            for b in other:
                if b.choice == a.choice and b is not a:
                    return not any(arm.kind == "loop" and arm in other for arm in one)
    return False


def _handler_after_try(chain: list[Arm], arms: list[Arm]) -> bool:
    """A definition inside a try body does not surely reach a handler of the same try."""
    return any(a.kind == "try" and any(b.kind in ("handler", "final") and b.node is a.node for b in arms) for a in chain)


class Fun:
    """A function of the program; its body is decoded when first asked for."""

    __slots__ = ("_block", "_body", "_params", "head", "index", "is_method", "key", "module", "name", "seen")

    def __init__(self, module: Module, index: int, head: f.Function) -> None:
        self.module = module
        self.index = index
        self.head = head
        self.name = head.name
        """Its bare name."""
        self.is_method = bool(head.params) and head.params[0].kind == "self"
        """Whether its first parameter is a receiver."""
        self.key = (module.path, index)
        """Path and index: an order that is the same in every run."""
        self._block: f.Block | None = None
        self._body: Body | None = None
        self._params: dict[str, f.Param] | None = None
        self.seen = False
        """Whether its body was ever decoded."""

    def __repr__(self) -> str:
        return f"<{self.module.path}:{self.head.qual}>"

    @property
    def block(self) -> f.Block:
        """The statements of its body."""
        if self._block is None:
            self.seen = True
            self._block = f.decode_block(self.module.facts.bodies[self.index])
        return self._block

    @property
    def body(self) -> Body:
        """Its body, ordered."""
        if self._body is None:
            self._body = Body(self, self.block)
        return self._body

    @property
    def held(self) -> Body | None:
        """Its body, if that was asked for before."""
        return self._body

    def glance(self) -> f.Block:
        """The statements of its body for a look at them: decoded for this one time, unless they are held already.

        Who looks keeps no part of them and hands none on: what is asked later has other nodes.
        """
        self.seen = True
        return self._block if self._block is not None else f.decode_block(self.module.facts.bodies[self.index])

    def says(self, scan: Scan) -> bool:
        """Whether its body, as it lies encoded, holds what is searched: those that hold none need not be decoded."""
        self.module.scans.add(scan)
        return scan.found_in(bytes(self.module.facts.bodies[self.index]))

    @property
    def parent(self) -> Fun | None:
        """The function it is nested in; none for those at module level."""
        return self.module.functions[self.head.parent] if self.head.parent > 0 else None

    def is_inside(self, outer: Fun) -> bool:
        """Whether it is nested in another function, at any depth."""
        parent = self.parent
        while parent is not None and parent is not outer:
            parent = parent.parent
        return parent is not None

    @property
    def params(self) -> dict[str, f.Param]:
        """Parameters by name."""
        if self._params is None:
            self._params = {p.name: p for p in self.head.params}
        return self._params

    @property
    def positional(self) -> list[f.Param]:
        """Parameters that an argument without name can bind, without the receiver."""
        return [p for p in self.head.params if p.kind in ("pos", "posonly")]


class Klass:
    """A class, struct, interface or named type of the program."""

    __slots__ = ("_fields", "decl", "index", "methods", "module", "overloads")

    def __init__(self, module: Module, index: int, decl: f.Class) -> None:
        self.module = module
        self.index = index
        self.decl = decl
        self.methods: dict[str, Fun] = {}
        """One method of each name; of Java's overloads the first."""
        self.overloads: dict[str, list[Fun]] = {}
        """Java: all methods declared in the class, by name."""
        self._fields: dict[str, f.ClassField] | None = None

    def __repr__(self) -> str:
        return f"<{self.module.path}:{self.decl.qual}>"

    @property
    def name(self) -> str:
        """Its bare name."""
        return self.decl.name

    @property
    def fields(self) -> dict[str, f.ClassField]:
        """Declared fields by name."""
        if self._fields is None:
            self._fields = {x.name: x for x in self.decl.fields}
        return self._fields

    @property
    def key(self) -> tuple[str, int]:
        """Path and index."""
        return (self.module.path, self.index)


@dataclass(eq=False)
class Module:
    """One file of code."""

    path: str
    facts: f.FileFacts
    functions: list[Fun] = field(default_factory=list)
    classes: list[Klass] = field(default_factory=list)
    is_test: bool = False
    is_helper: bool = False
    """Of a package that only tests import."""
    beans: dict[int, BeanDecl] = field(default_factory=dict)
    """Of a file of XML: the bean that each method makes."""
    scans: set[Scan] = field(default_factory=set)
    """What was searched in encoded bodies of it."""
    language: str = field(init=False)
    """`python`, `go` …"""
    folder: str = field(init=False)
    """Directory of the file, empty at the root."""
    _open_ended: bool | None = None
    _imports: dict[str, list[f.Import]] | None = None
    _imported: tuple[str, ...] | None = None
    _declared: frozenset[str] | None = None

    def __post_init__(self) -> None:
        self.language = self.facts.kind
        self.folder = self.path.rpartition("/")[0]

    def __repr__(self) -> str:
        return f"<{self.path}>"

    @property
    def imports(self) -> dict[str, list[f.Import]]:
        """Imports by the name they bind."""
        if self._imports is None:
            self._imports = {}
            for imp in self.facts.imports:
                self._imports.setdefault(imp.alias if imp.name != "*" else "*", []).append(imp)
        return self._imports

    @property
    def imported(self) -> tuple[str, ...]:
        """Modules of which the file imports something, with the packages they lie in, each once. `from a import b` may name one."""
        if self._imported is None:
            separator = "/" if self.language == "go" else "."
            found: set[str] = set()
            for imp in self.facts.imports:
                target = f"{imp.target}{separator}{imp.name}" if imp.name and self.language != "go" else imp.target
                while target and target not in found:
                    # The same ones are imported everywhere.
                    found.add(intern(target))
                    target = target.rpartition(separator)[0]
            # No set: of all files together those would take as much as what the files call.
            self._imported = tuple(found)
        return self._imported

    def is_open_ended(self, table: Table) -> bool:
        """Whether the file imports a library whose objects wait in every method, or generated code that stands for such."""
        if self._open_ended is None:
            self._open_ended = any(table.is_open_ended(imp.target, imp.name) for imp in self.facts.imports)
        return self._open_ended

    @property
    def declared(self) -> frozenset[str]:
        """Names of the functions and classes that the file declares outside of functions and classes."""
        if self._declared is None:
            functions = (fun.name for fun in self.functions[1:] if fun.head.parent <= 0 and not fun.is_method)
            self._declared = frozenset((*functions, *(klass.name for klass in self.classes if klass.decl.parent <= 0)))
        return self._declared


def module_of(path: str, facts: f.FileFacts, is_test: bool) -> Module:
    """The handle of a file of code, with its functions and classes."""
    module = Module(path, facts, is_test=is_test)
    module.functions = [Fun(module, i, head) for i, head in enumerate(facts.functions)]
    module.classes = [Klass(module, i, decl) for i, decl in enumerate(facts.classes)]
    own_methods(module)
    return module


def own_methods(module: Module) -> None:
    """Give the classes of a file the methods that stand in this file, and no others."""
    for klass in module.classes:
        klass.methods = {}
        klass.overloads = {}
    if module.language == "java":
        for fun in module.functions:
            if fun.head.owner >= 0 and fun.head.kind == "method":
                klass = module.classes[fun.head.owner]
                klass.methods.setdefault(fun.head.name, fun)
                klass.overloads.setdefault(fun.head.name, []).append(fun)
        return
    for fun in module.functions:
        # The setter and deleter of a property carry its name; what is read is the getter.
        if fun.head.owner >= 0 and not any(
            isinstance(d, f.Ref) and d.name.endswith((".setter", ".deleter")) for d in fun.head.decorators
        ):
            module.classes[fun.head.owner].methods[fun.head.name] = fun
