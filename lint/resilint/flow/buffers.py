"""Buffers that are queues in fact: a list in a field that grows with every call and shrinks only when something has succeeded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.pools import LANGUAGES, Unbounded
from resilint.flow.spawns import nodes
from resilint.knowledge.index import doing
from resilint.link.code import CallSite, Fun, dotted, last_name, leaves, walk
from resilint.model import Confidence

if TYPE_CHECKING:
    from resilint.program import Program

_GROWS = frozenset({"append", "appendleft", "extend", "add", "addAll", "addLast", "addFirst", "offer", "push", "put", "insert"})
_SHRINKS = frozenset({"clear", "pop", "popleft", "remove", "removeAll", "poll", "pollFirst", "removeFirst", "drainTo", "reset"})
_SETS = frozenset({"Set", "HashSet", "LinkedHashSet", "SortedSet", "TreeSet", "set", "frozenset"})
_NAMES = frozenset({"String", "Integer", "Long", "Short", "UUID", "URI", "URL", "Path", "Class", "str", "int", "bytes", ""})
"""Elements of sets by which something else is told."""
_FILE = re.compile(r"(?:\w*_)?(?:file|fp|fh|fd|stdout|stderr)", re.IGNORECASE)
_PEERS = re.compile(
    r"client|connect|session|producer|publish|send|channel|socket|transport|gateway|stub|api|database|repo|bucket|queue",
    re.IGNORECASE,
)
"""Classes whose objects stand for something far away, wherever they are made."""
_COLLECTION = re.compile(r"queue|deque|list|buffer|array|collection|stack|vector|dict|map", re.IGNORECASE)
_LIMITS = re.compile(r"max|limit|capacity|full|bound|high_?water|threshold|size", re.IGNORECASE)


@dataclass(eq=False)
class _Change:
    """A statement that makes the list of a field longer or shorter, or that gives it back."""

    fn: Fun
    node: f.Node
    field: str


def growing_buffers(program: Program) -> Iterator[Unbounded]:
    """Appends to fields that only a success shortens again, with no test of their size."""
    for group in _classes(program):
        yield from _in_class(program, group)


def _classes(program: Program) -> Iterator[list[Fun]]:
    """The methods of each class with a field that one of them lengthens and another one writes."""
    for language in LANGUAGES:
        groups: dict[tuple[str, str], list[Fun]] = {}
        # The methods of a type of Go stand in any file of its folder.
        folders = {module.folder for module in program.start_modules("go")} if language == "go" else set()
        for fn in program.functions("go") if language == "go" else program.starts(language):
            if language == "go" and fn.module.folder not in folders:
                continue
            if fn.module.is_test or not fn.is_method:
                continue
            owner = fn.head.receiver if language == "go" else fn.head.qual.rpartition(".")[0]
            place = fn.module.folder if language == "go" else fn.module.path
            groups.setdefault((place, owner), []).append(fn)
        yield from (group for _, group in sorted(groups.items()) if len(group) > 1)


def _in_class(program: Program, methods: list[Fun]) -> Iterator[Unbounded]:
    language = methods[0].module.language
    grown = {name for fn in methods for name in _may_grow(fn, language)}
    if not grown:
        return
    shrunk = grown & {name for fn in methods for name in _may_shrink(fn)}
    if not shrunk:
        return
    grows: dict[str, list[_Change]] = {}
    shrinks: dict[str, list[_Change]] = {}
    for fn in methods:
        if fn.name in ("__init__", "__new__", "__enter__") or not (shrunk & (set(_may_grow(fn, language)) | set(_may_shrink(fn)))):
            continue
        for change, longer in _changes(fn):
            if change.field in shrunk:
                (grows if longer else shrinks).setdefault(change.field, []).append(change)
    for name in sorted(grows.keys() & shrinks.keys()):
        yield from _judge(program, name, grows[name], shrinks[name], methods)


def _judge(program: Program, name: str, grows: list[_Change], shrinks: list[_Change], methods: list[Fun]) -> Iterator[Unbounded]:
    if _has_length(methods, name) or _is_set(methods[0], name) or _is_declared(methods[0], name):
        return
    takers = {change.fn for change in shrinks}
    if all(change.fn in takers or _tested(change) for change in grows):
        return
    after: list[tuple[_Change, f.Node]] = []
    if any(map(_is_looked_for, shrinks)):
        return  # a list of what is in some state, not of what waits: who takes one out looks for that one
    for change in shrinks:
        call = _after_success(program, change)
        if call is None:
            return  # something shortens it whatever happens
        after.append((change, call))
    for change in grows:
        if change.fn in takers or _tested(change):
            continue
        shrink, call = after[0]
        steps = (
            program.step(shrink.fn, call, f"{shrink.fn.head.qual} goes on only if this succeeds"),
            program.step(shrink.fn, shrink.node, f"only here does `{name}` get shorter"),
        )
        yield Unbounded(program.span_of(change.fn, change.node), _text(name, program, shrink.fn, call), Confidence.HIGH, steps)
        return


def _text(name: str, program: Program, fn: Fun, call: f.Node) -> str:
    what = program.text_of(fn, call.fn if isinstance(call, f.Call) else call, 50)
    return f"`{name}` is a queue without capacity: it gets shorter only when {what} succeeds, and grows for as long as that fails"


# ---------------------------------------------------------------- by the headers


def _may_grow(fn: Fun, language: str) -> Iterator[str]:
    if language == "go":
        if "append" in fn.head.calls:
            yield from fn.head.writes
        return
    this = fn.head.params[0].name if fn.head.params else "self"
    for call in fn.head.calls:
        base, _, verb = call.rpartition(".")
        owner, _, name = base.rpartition(".")
        if verb in _GROWS and owner == this and name:
            yield name


def _may_shrink(fn: Fun) -> Iterator[str]:
    yield from fn.head.writes
    this = fn.head.params[0].name if fn.head.params else "self"
    for call in fn.head.calls:
        base, _, verb = call.rpartition(".")
        owner, _, name = base.rpartition(".")
        if verb in _SHRINKS and owner == this and name:
            yield name


# ---------------------------------------------------------------- in bodies


def _changes(fn: Fun) -> Iterator[tuple[_Change, bool]]:
    this = fn.head.params[0].name
    for stmt, _ in fn.body.stmts:
        if isinstance(stmt, f.Assign) and stmt.value is not None:
            for target in stmt.targets:
                name = _field(target, this)
                if not name:
                    continue
                if stmt.op:
                    if stmt.op == "+" and isinstance(stmt.value, f.Coll):
                        yield _Change(fn, stmt, name), True
                elif isinstance(stmt.value, f.Call) and dotted(stmt.value.fn) == "append" and stmt.value.args:
                    first = stmt.value.args[0].value
                    if _field(first, this) == name:
                        yield _Change(fn, stmt, name), True
                    elif isinstance(first, f.Slice) and _field(first.base, this) == name:
                        yield _Change(fn, stmt, name), False
                elif _shorter(stmt.value, name, this):
                    yield _Change(fn, stmt, name), False
        elif isinstance(stmt, f.Delete):
            for target in stmt.targets:
                if isinstance(target, f.Index | f.Slice) and _field(target.base, this):
                    yield _Change(fn, stmt, _field(target.base, this)), False
    for site in fn.body.calls:
        base, _, verb = dotted(site.call.fn).rpartition(".")
        owner, _, name = base.rpartition(".")
        if owner == this and name:
            if verb in _GROWS and site.call.args and not _under_a_name(site.call):
                yield _Change(fn, site.call, name), True
            elif verb in _SHRINKS:
                yield _Change(fn, site.call, name), False


def _under_a_name(call: f.Call) -> bool:
    """Whether it stores something under a name that is written here, as headers and options are: it waits in no line."""
    first = call.args[0].value
    return len(call.args) > 1 and isinstance(first, f.Lit) and isinstance(first.value, str)


def _shorter(value: f.Expr, name: str, this: str) -> bool:
    """An empty list, nothing, or a slice of the field itself."""
    if isinstance(value, f.Slice):
        return _field(value.base, this) == name
    if isinstance(value, f.Coll):
        return not value.items
    if isinstance(value, f.Lit):
        return value.value is None
    if isinstance(value, f.Ref):
        return value.name == "nil"
    return isinstance(value, f.Call) and dotted(value.fn).rpartition(".")[2] in ("make", "list", "deque", "ArrayList", "LinkedList")


def _field(expr: f.Expr, this: str) -> str:
    owner, _, name = dotted(expr).rpartition(".")
    return name if owner == this else ""


def _is_looked_for(change: _Change) -> bool:
    """Whether a removal ends a search: the loop over the list is left as soon as the one that is meant has been found."""
    if not isinstance(change.node, f.Call) or last_name(change.node.fn) != "remove" or not change.node.args:
        return False
    this = change.fn.head.params[0].name
    for arm in change.fn.body.arm_at(change.node.at).chain():
        loop = arm.node
        if isinstance(loop, f.Loop) and loop.iter is not None and _field(loop.iter, this) == change.field:
            return any(isinstance(part, f.Return) or (isinstance(part, f.Jump) and part.kind == "break") for part in walk(loop))
    return False


def _after_success(program: Program, change: _Change) -> f.Node | None:
    """The call that must succeed before a field gets shorter: one that can fail, behind whose failure the function leaves."""
    fn, here = change.fn, change.node.at
    chain = fn.body.arm_at(here).chain()
    around = {id(arm.node) for arm in chain}
    if any(arm.kind in ("handler", "final") for arm in chain):
        return None
    for stmt, _ in fn.body.stmts:
        if stmt.at > here:
            break
        if fn.module.language == "go":
            if isinstance(stmt, f.If) and _tests_error(stmt.test):
                inside = id(stmt) in around
                positive = _means_success(stmt.test)
                in_then = bool(stmt.then) and stmt.then[0].at <= here < stmt.then[-1].end
                if (not inside and not positive and leaves(stmt.then)) or (inside and (positive == in_then)):
                    call = _call_before(fn, stmt)
                    if call is not None:
                        return call
        elif isinstance(stmt, f.Try) and stmt.handlers:
            inside = id(stmt) in around
            call = _risky(program, fn, stmt.body, here)
            if call is not None and (inside or all(leaves(h.body) for h in stmt.handlers)):
                return call
    if fn.module.language != "go":
        # No handler here: what is raised leaves the function before the list gets shorter.
        return _risky(program, fn, fn.block, here)
    return None


def _risky(program: Program, fn: Fun, block: f.Block, before: int) -> f.Node | None:
    """A call in a block that waits for a peer, itself or in what it calls."""
    if not block:
        return None
    low, high = block[0].at, min(block[-1].end, before)
    spawning = program.spawning
    for site in fn.body.calls:
        if not (low <= site.call.at < high) or site.how:
            continue
        for _, entry in program.described(site, doing("network", "query", "connect")):
            if entry.does in ("network", "query", "connect"):
                return site.call
        # What a call leads to is a dear question: asked only where its name says that it hands something on.
        if _is_peer(site) and not _is_made_here(fn, site):
            callees = program.callees(site)
            if not callees or spawning.reach(callees) is not None:
                return site.call
    return None


def _is_peer(site: CallSite) -> bool:
    """Whether a call whose body is not here is named like one that hands data on, to something else than a file."""
    if _FILE.fullmatch(dotted(site.call.fn).rpartition(".")[0].rpartition(".")[2]):
        return False
    return bool(
        re.match(
            r"(?:send|post|publish|write(?!_?lock)|flush|upload|push|export|emit|deliver|insert|save|submit)",
            site.last,
            re.IGNORECASE,
        )
    ) and (site.last not in _GROWS)


def _is_made_here(fn: Fun, site: CallSite) -> bool:
    """Whether the receiver of a call is an object that this function makes for itself, as a parser that is fed."""
    base = dotted(site.call.fn).rpartition(".")[0]
    defs = fn.body.definitions.get(base, ()) if base and "." not in base else ()
    made = [d.expr for d in defs if d.kind == "value" and isinstance(d.expr, f.Call)]
    named = [last_name(call.fn) for call in made]
    return bool(made) and len(made) == len(defs) and all(name[:1].isupper() and not _PEERS.search(name) for name in named)


def _tests_error(test: f.Expr) -> bool:
    return any(isinstance(n, f.Bin) and n.op in ("!=", "==") and _is_nil(n.right) and _is_error(n.left) for n in walk(test))


def _means_success(test: f.Expr) -> bool:
    return any(isinstance(n, f.Bin) and n.op == "==" and _is_nil(n.right) and _is_error(n.left) for n in walk(test))


def _is_nil(expr: f.Expr) -> bool:
    return (isinstance(expr, f.Lit) and expr.value is None) or (isinstance(expr, f.Ref) and expr.name == "nil")


def _is_error(expr: f.Expr) -> bool:
    return bool(re.search(r"err", dotted(expr).rpartition(".")[2], re.IGNORECASE))


def _call_before(fn: Fun, test: f.If) -> f.Node | None:
    """The call whose error a test looks at: the last one before it that is assigned."""
    names = {n.name for n in walk(test.test) if isinstance(n, f.Ref)}
    best: f.Node | None = None
    for stmt, _ in fn.body.stmts:
        if stmt.at >= test.at and not (stmt.end <= test.test.at):
            break
        if (
            isinstance(stmt, f.Assign)
            and isinstance(stmt.value, f.Call)
            and any(
                n in names
                for t in stmt.targets
                for n in ([dotted(t)] if dotted(t) else [dotted(p.value) for p in getattr(t, "items", ())])
            )
        ):
            best = stmt.value
    return best


def _tested(change: _Change) -> bool:
    """Whether the growing method looks at the length, at some limit, or at what it holds already: nothing is in it twice."""
    this = change.fn.head.params[0].name
    for node in nodes(change.fn):
        if isinstance(node, f.Loop) and node.iter is not None and _field(node.iter, this) == change.field and _may_leave(node):
            return True
        test = node.test if isinstance(node, f.If | f.Loop | f.Cond) else None
        if test is not None:
            for part in walk(test):
                if isinstance(part, f.Call):
                    verb = dotted(part.fn).rpartition(".")[2]
                    if verb in ("len", "size", "length", "cap") or _LIMITS.search(verb):
                        return True
                elif isinstance(part, f.Ref):
                    if _LIMITS.search(part.name.rpartition(".")[2]):
                        return True
                elif isinstance(part, f.Bin) and part.op in ("in", "not in") and _field(part.right, this) == change.field:
                    return True
    return False


def _may_leave(loop: f.Loop) -> bool:
    """Whether a member of the list that is looked at may end the search and the method."""
    return any(isinstance(part, f.Return) for part in walk(loop))


def _is_set(method: Fun, name: str) -> bool:
    """Whether the field is declared as a set of names, in which nothing is twice: it is as long as there are different ones. Of
    events, rows or tasks each is another."""
    classes = (klass for klass in method.module.classes if klass.index == method.head.owner)
    kinds = (klass.fields[name].type for klass in classes if name in klass.fields)
    return any(
        kind is not None
        and kind.name.rpartition(".")[2] in _SETS
        and all(part.name.rpartition(".")[2] in _NAMES for part in kind.args)
        for kind in kinds
    )


def _is_declared(method: Fun, name: str) -> bool:
    """Whether the body of the class declares the field as an object of some class that is none of collections: a relation of rows,
    whose `add` writes to the database."""
    if method.module.language != "python":
        return False
    classes = (klass for klass in method.module.classes if klass.index == method.head.owner)
    inits = (klass.fields[name].init for klass in classes if name in klass.fields)
    made = [last_name(init.fn) for init in inits if isinstance(init, f.Call)]
    return any(word[:1].isupper() and not _COLLECTION.search(word) for word in made)


def _has_length(methods: list[Fun], name: str) -> bool:
    """Whether the field is made with a length of its own: `deque(maxlen=…)`, a queue with a capacity."""
    for fn in methods:
        if name not in fn.head.writes:
            continue
        for key, defs in fn.body.definitions.items():
            if key.rpartition(".")[2] != name:
                continue
            made = [d.expr for d in defs if isinstance(d.expr, f.Call) and last_name(d.expr.fn) not in ("append", "make", "list")]
            if any(len(m.args) > 1 or any(a.name is not None and _LIMITS.search(a.name) for a in m.args) for m in made):
                return True
    return False
