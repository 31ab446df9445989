"""Entry points: functions that something outside the program calls, and which of their parameters come from a caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.values import Bound, FnVal, Obj
from resilint.knowledge.index import Table
from resilint.knowledge.schema import EntryRow
from resilint.link.code import CODE, CallSite, Fun, Klass, Module, dotted, last_name, walk

if TYPE_CHECKING:
    from resilint.program import Program


class Maker(NamedTuple):
    """What makes a function an entry point: a decorator, annotation or registering call, and the object it is called on."""

    fn: Fun
    """The function in which it is written, or that it stands on."""
    call: f.Call | None
    name: str
    """Canonical."""
    holder: Obj | None = None
    body: tuple[Klass, str] | None = None
    """The class whose body lists it, and the type whose settings that holds."""


class Entry(NamedTuple):
    """An entry point: of which kind, why, and which parameters (by name) bring in what a caller sent."""

    fn: Fun
    kind: str
    because: str
    inputs: tuple[str, ...]
    context: str = ""
    """The parameter that carries the caller's deadline."""
    makers: tuple[Maker, ...] = ()
    """All that make it one, whichever counted first."""
    threads: str = ""
    """Canonical instance of the executor that runs it, where that is shared with others."""


Found = Iterator[tuple[Fun, EntryRow, str, Maker | None]]


def entries_of(program: Program) -> dict[Fun, Entry]:
    """All entry points of a program. The first reason found counts, in this order: decorator or annotation, base class, signature,
    registration, assigned callback."""
    out: dict[Fun, Entry] = {}
    for found in (
        _decorated,
        _annotated,
        _of_annotated_classes,
        _of_bases,
        _signed,
        _registered,
        _answering,
        _asked_for,
        _listed,
        _assigned,
    ):
        for fn, row, because, maker in found(program):
            known = out.get(fn)
            if known is None:
                threads = row.threads or "" if not fn.head.is_async else ""
                known = Entry(fn, row.kind, because, _inputs(fn, row), _context(fn, row), threads=threads)
            out[fn] = known._replace(makers=(*known.makers, maker)) if maker is not None else known
    return out


def renewed_entries(program: Program, known: dict[Fun, Entry]) -> dict[Fun, Entry]:
    """The entry points of a program in focus: those that its files make, and those that others were known to make, also of
    functions in these files that are still there."""
    out = entries_of(program)
    for fn, entry in known.items():
        others = tuple(maker for maker in entry.makers if not program.in_focus(maker.fn))
        if program.in_focus(fn):
            module = program.names.modules.get(fn.module.path)
            same = next((x for x in module.functions if x.head.qual == fn.head.qual), None) if module is not None else None
            if same is None or (entry.makers and not others):
                continue
            fn = same
        elif entry.makers and not others:
            continue
        if fn not in out:
            out[fn] = entry._replace(fn=fn, makers=others)
    return out


def _inputs(fn: Fun, row: EntryRow) -> tuple[str, ...]:
    names = [p.name for p in fn.head.params if p.kind != "self"]
    if row.inputs:
        return tuple(names[i] for i in row.inputs if i < len(names))
    return tuple(names)


def _context(fn: Fun, row: EntryRow) -> str:
    names = [p.name for p in fn.head.params if p.kind != "self"]
    return names[row.context] if row.context is not None and row.context < len(names) else ""


def _lasts(program: Program, language: str, what: str) -> frozenset[str]:
    rows = program.knowledge.of(language).entries
    return frozenset((getattr(r, what) or "").rpartition(".")[2] for r in rows if getattr(r, what))


def _decorated(program: Program) -> Found:
    resolver = program.resolver
    wanted = _lasts(program, "python", "decorator")
    for fn in program.starts("python"):
        for decorator in fn.head.decorators:
            expr = decorator.fn if isinstance(decorator, f.Call) else decorator
            if dotted(expr).rpartition(".")[2] not in wanted:
                continue
            scope = fn.module.functions[fn.head.parent if fn.head.parent > 0 else 0]
            for flow in resolver.ask(expr, resolver.frame(scope)):
                name = resolver.canonical(flow.thing)
                for row in resolver.table(fn.module).decorator(name) if name else ():
                    call = decorator if isinstance(decorator, f.Call) else None
                    holder = flow.thing.obj if isinstance(flow.thing, Bound) else None
                    yield fn, row, f"decorated with {name}", Maker(scope, call, name, holder)


def _annotated(program: Program) -> Found:
    resolver = program.resolver
    wanted = _lasts(program, "java", "decorator")
    for fn in program.starts("java"):
        if fn.head.is_abstract:
            continue  # Of a client's interface, or one whose implementations are annotated through it: nothing runs here.
        for annotation in fn.head.decorators:
            written = dotted(annotation.fn if isinstance(annotation, f.Call) else annotation)
            if written.rpartition(".")[2] in wanted:
                name = program.names.java.type(written, fn)
                if not isinstance(name, str):
                    continue
                for row in resolver.table(fn.module).decorator(name):
                    call = annotation if isinstance(annotation, f.Call) else None
                    yield fn, row, f"annotated with {name}", Maker(fn, call, name)


def _of_annotated_classes(program: Program) -> Found:
    """Methods that an annotation on their class makes entries."""
    resolver = program.resolver
    wanted = frozenset((row.decorator or "").rpartition(".")[2] for row in program.knowledge.of("java").entries if row.methods)
    for klass in program.start_classes():
        if klass.module.language != "java" or not klass.decl.decorators:
            continue
        for annotation in klass.decl.decorators:
            written = dotted(annotation.fn if isinstance(annotation, f.Call) else annotation)
            if written.rpartition(".")[2] not in wanted:
                continue
            name = program.names.java.type(written, klass)
            rows = resolver.table(klass.module).decorator(name) if isinstance(name, str) else ()
            for row in (r for r in rows if r.methods and isinstance(name, str)):
                call = annotation if isinstance(annotation, f.Call) else None
                for fn in (fn for found in klass.overloads.values() for fn in found):
                    named = fn.name != "__init__" and any(fnmatchcase(fn.name, pattern) for pattern in row.methods)
                    if named and fn.head.kind == "method" and not fn.head.is_private and not fn.head.is_static:
                        yield fn, row, f"a method of {klass.name}, annotated with {name}", Maker(fn, call, str(name))


def _of_bases(program: Program) -> Found:
    resolver = program.resolver
    for klass in program.start_classes():
        if not klass.decl.bases and not any(x.embedded for x in klass.decl.fields):
            continue
        table = resolver.table(klass.module)
        for base in _external_bases(program, klass):
            for row in table.entry_base(base):
                overloads = [(name, fn) for name, found in klass.overloads.items() for fn in found]
                for name, fn in overloads or klass.methods.items():
                    if (
                        not fn.head.is_private
                        and any(fnmatchcase(name, pattern) for pattern in row.methods)
                        and not (name.startswith("_") and "*" in row.methods)
                        and (klass.module.language != "go" or _takes_context(program, fn))
                    ):
                        yield fn, row, f"a method of {klass.name}, a {base}", Maker(fn, None, base)


def _external_bases(program: Program, klass: Klass) -> list[str]:
    resolver = program.resolver
    _, external = program.names.java.mro(klass) if klass.module.language == "java" else resolver.mro(klass)
    out = []
    for name in external:
        head, _, last = name.rpartition(".")
        shaped = resolver.table(klass.module).shape(head, last) if head else None
        out.append(shaped or name)
    return out


def _takes_context(program: Program, fn: Fun) -> bool:
    return any(p.type is not None and program.resolver.resolve_type(p.type, fn) == "context.Context" for p in fn.positional[:1])


def _signed(program: Program) -> Found:
    resolver = program.resolver
    rows = [r for r in program.knowledge.of("go").entries if r.signature]
    lengths = {len(r.signature) for r in rows}
    lasts = {s.rpartition(".")[2] for r in rows for s in r.signature}
    for fn in program.starts("go"):
        params = fn.positional
        if len(params) not in lengths or not any(p.type is not None and p.type.name.rpartition(".")[2] in lasts for p in params):
            continue
        kinds = tuple(_type_text(program, p, fn) for p in params)
        for row in resolver.table(fn.module).signature(kinds) or _pointerless(rows, kinds):
            yield fn, row, "its parameters are those of a handler", None


def _answering(program: Program) -> Found:
    """Functions that are given a request and answer it, whatever registers them."""
    for library in program.knowledge.of("python").libraries:
        rows = [row for row in library.entries if row.takes]
        answers = {name.rpartition(".")[2] for call in library.calls if call.does == "respond" for name in call.names}
        if not rows or not answers:
            continue
        for fn in program.starts("python"):
            first = fn.positional[0] if fn.head.kind == "free" and fn.positional else None
            row = next((row for row in rows if first is not None and row.takes == first.name), None)
            if row is None or fn.module.is_test or not any(call.rpartition(".")[2] in answers for call in fn.head.calls):
                continue
            if any(imp.target.partition(".")[0] in library.modules for imp in fn.module.facts.imports):
                yield fn, row, "it is given a request and answers it", None


def _pointerless(rows: list[EntryRow], kinds: tuple[str, ...]) -> tuple[EntryRow, ...]:
    return tuple(r for r in rows if tuple(s.lstrip("*") for s in r.signature) == kinds)


def _type_text(program: Program, param: f.Param, fn: Fun) -> str:
    resolved = program.resolver.resolve_type(param.type, fn) if param.type is not None else None
    return resolved if isinstance(resolved, str) else ""


def _registered(program: Program) -> Found:
    resolver = program.resolver
    for language in CODE:
        wanted = _lasts(program, language, "call")
        table = program.knowledge.of(language)
        near = _registrars(program, language, table)
        own = partial(_declared, program, language)
        declared = program.kept(f"declared {language}", own, partial(_with, own))
        for site in _calls_on_registrars(program, language, wanted, near):
            if not _hands_over(site, declared):
                continue
            for target in program.targets(site):
                for row in resolver.table(site.fn.module).registration(target.name) if target.name else ():
                    for bind in target.binds:
                        hit = bind.name == row.arg if bind.name is not None else False
                        if bind.name is None and row.pos is not None:
                            position = row.pos if row.pos >= 0 else len(target.binds) + row.pos
                            hit = target.binds.index(bind) == position
                        if hit:
                            for flow in resolver.ask(bind.expr, bind.frame):
                                for thing in _functions_in(program, flow.thing):
                                    maker = Maker(site.fn, site.call, target.name, target.holder)
                                    yield thing, row, f"registered with {target.name}", maker


def _declared(program: Program, language: str) -> frozenset[str]:
    """Names of the functions of a language."""
    return frozenset(fun.name for fun in program.starts(language) if fun.head.kind in ("free", "method"))


def _with(more: Callable[[], frozenset[str]], known: frozenset[str]) -> frozenset[str]:
    return known | more()


def _registrars(program: Program, language: str, table: Table) -> dict[str, frozenset[str]]:
    """For each file, last segments of the calls by which the libraries that it imports register functions."""
    by_import: dict[str, set[str]] = {}
    for library in table.libraries:
        lasts = {row.call.rpartition(".")[2] for row in library.entries if row.call}
        for module in library.modules if lasts else ():
            by_import.setdefault(module, set()).update(lasts)
    out: dict[str, frozenset[str]] = {}
    for file in program.start_modules(language):
        if file.language == language:
            targets = {x for imp in file.facts.imports if not imp.level for x in (imp.target, imp.target.partition(".")[0])}
            out[file.path] = frozenset(last for target in targets for last in by_import.get(target, ()))
    return out


def _calls_on_registrars(
    program: Program, language: str, wanted: frozenset[str], near: dict[str, frozenset[str]]
) -> Iterator[CallSite]:
    """Calls of these names in files that import a registering library, or on an object imported from elsewhere."""

    def may_be(called: str, module: Module) -> bool:
        head, _, rest = called.partition(".")
        last = called.rpartition(".")[2]
        if last not in wanted:
            return False
        return last in near[module.path] or (bool(rest) and any(imp.name[:1].islower() for imp in module.imports.get(head, ())))

    for fn in program.start_calling(wanted.__contains__, language):
        if any(may_be(c, fn.module) for c in fn.head.calls):
            yield from (site for site in fn.body.calls if may_be(dotted(site.call.fn) or "." + site.last, fn.module))


def _hands_over(site: CallSite, declared: frozenset[str]) -> bool:
    """Whether a call is given something that may be a function."""
    return any(
        isinstance(a.value, f.Fn | f.Call)
        or last_name(a.value) in declared
        or (isinstance(a.value, f.Ref) and "." not in a.value.name)
        for a in site.call.args
    )


def _asked_for(program: Program) -> Found:
    """Functions that another one's header hands over: `x=Depends(user)`, `Annotated[User, Depends(user)]`, `dependencies=[…]`."""
    resolver = program.resolver
    wanted = _lasts(program, "python", "call")
    near = _registrars(program, "python", program.knowledge.of("python"))
    for fn in program.starts("python"):
        lasts = near[fn.module.path] & wanted
        if not lasts:
            continue
        frame = resolver.frame(fn.module.functions[max(fn.head.parent, 0)])
        for call in _calls_in_header(fn):
            if last_name(call.fn) not in lasts:
                continue
            for flow in resolver.ask(call.fn, frame):
                name = resolver.canonical(flow.thing)
                for row in resolver.table(fn.module).registration(name) if name else ():
                    for at, bind in enumerate(resolver.binds(call, frame)):
                        if bind.name == row.arg if bind.name is not None else at == row.pos:
                            for given in resolver.ask(bind.expr, bind.frame):
                                for found in _functions_in(program, given.thing):
                                    yield found, row, f"registered with {name}", Maker(frame.fn, call, name)


def _calls_in_header(fn: Fun) -> Iterator[f.Call]:
    """Calls in the defaults and annotations of parameters, and in what decorators are given."""
    exprs: list[f.Expr] = [expr for p in fn.head.params for expr in (p.default, *p.decorators) if expr is not None]
    exprs += [arg.value for d in fn.head.decorators if isinstance(d, f.Call) for arg in d.args]
    for expr in exprs:
        yield from (node for node in walk(expr) if isinstance(node, f.Call))


def _listed(program: Program) -> Found:
    """Functions that a class body lists: the settings of a worker."""
    resolver = program.resolver
    for library in program.knowledge.of("python").libraries:
        rows = [row for row in library.entries if row.listed is not None]
        for klass in program.start_classes() if rows else ():
            module = klass.module
            if module.language != "python" or not any(
                imp.target in library.modules or imp.target.partition(".")[0] in library.modules for imp in module.facts.imports
            ):
                continue
            scope = module.functions[max(klass.decl.parent, 0)]
            for row in rows:
                pattern, _, attribute = (row.listed or "").rpartition(".")
                field = klass.fields.get(attribute) if fnmatchcase(klass.name, pattern) else None
                if field is None or not isinstance(field.init, f.Coll):
                    continue
                maker = Maker(scope, None, row.listed or "", None, (klass, row.type) if row.type is not None else None)
                for item in field.init.items:
                    for flow in resolver.ask(item.value, resolver.frame(scope)):
                        for fn in _functions_in(program, flow.thing):
                            yield fn, row, f"listed in {klass.name}.{attribute}", maker


def _functions_in(program: Program, thing: object, depth: int = 0) -> Iterator[Fun]:
    if isinstance(thing, FnVal):
        yield thing.fn
    elif isinstance(thing, Obj) and isinstance(thing.node, f.Call) and thing.frame is not None and depth < 3:
        # A handler wrapped by adapters of libraries: http.HandlerFunc(f), http.TimeoutHandler(h, …).
        for arg in thing.node.args[:1]:
            for inner in program.resolver.ask(arg.value, thing.frame):
                yield from _functions_in(program, inner.thing, depth + 1)


def _assigned(program: Program) -> Found:
    resolver = program.resolver
    wanted = _lasts(program, "python", "attribute")
    for name in sorted(wanted):
        for writer in program.names.writers(name):
            if writer.module.language != "python" or not program.in_focus(writer):
                continue
            frame = resolver.frame(writer)
            for key, defs in writer.body.definitions.items():
                base, _, last = key.rpartition(".")
                if last != name or not base:
                    continue
                for d in defs:
                    kinds = {
                        resolver.external_type(x.thing)
                        for x in resolver.name(base, f.Ref(d.at, d.at, base), frame)
                        if isinstance(x.thing, Obj)
                    }
                    for kind in sorted(kinds):
                        for row in resolver.table(writer.module).attribute(f"{kind}.{name}"):
                            for flow in resolver.defined(d, frame):
                                if isinstance(flow.thing, FnVal):
                                    yield flow.thing.fn, row, f"assigned to {kind}.{name}", None
