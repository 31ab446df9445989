"""Data sources and connection pools that no timeout of a statement reaches, judged where they are made: what runs on them may be
a framework's code that cannot be seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.slots import decide
from resilint.flow.values import Obj
from resilint.flow.waits import Endless
from resilint.knowledge.schema import ScopeRow, TypeEntry
from resilint.link.code import CODE, CallSite, Fun, Module, last_name
from resilint.model import Confidence

if TYPE_CHECKING:
    from resilint.program import Program

_STATEMENT = frozenset({"statement", "transaction"})


def endless_sources(program: Program) -> Iterator[tuple[Obj, Endless]]:
    """Every data source made here whose driver is known and waits for ever for an answer, with the place to mend."""
    for language in CODE:
        table = program.knowledge.of(language)
        kinds = {
            kind.name: kind
            for library in table.libraries
            for kind in library.types
            if kind.carries and (kind.mapped or any(level.url for level in table.mro(kind.name)))
        }
        if not kinds or _statements_bounded(program, language):
            continue
        lasts = frozenset(name.rpartition(".")[2] for kind in kinds.values() for name in (kind.name, *kind.aliases, *kind.made_by))
        for site in program.start_sites(lasts.__contains__, language, among=_is_judged):
            yield from _judged(program, site, kinds)


def _is_judged(module: Module) -> bool:
    """Whether what a file makes is judged here: of beans in XML the settings beside them say more."""
    return not module.is_test and not module.beans


def _judged(program: Program, site: CallSite, kinds: dict[str, TypeEntry]) -> Iterator[tuple[Obj, Endless]]:
    slots, resolver = program.slots, program.resolver
    frame = resolver.frame(site.fn)
    for flow in resolver.ask(site.call, frame):
        obj = flow.thing
        if not isinstance(obj, Obj) or obj.node is not site.call or not isinstance(obj.type, str):
            continue
        table = resolver.table(site.fn.module)
        levels = table.mro(obj.type)
        kind = next((level for level in levels if level.name in kinds), None)
        # What it is made from carries the settings, and is judged itself.
        if kind is None or any(part.type in kinds for part in slots.parts(obj)):
            continue
        drivers = [behind for level in levels for behind in slots.behind(level, obj)]
        if not (drivers or kind.mapped) or any(level.in_process for behind in drivers for level in table.mro(str(behind.type))):
            continue
        enough = frozenset(kind.enough)
        found = decide(slots.of_object(obj, enough))
        if any(source.bounded or source.unclear for source in found) or slots.escaped(obj):
            continue
        steps = tuple(
            program.step(behind.frame.fn, behind.node, f"the driver is {behind.type}: it has no timeout of its own")
            for behind in drivers[:1]
            if behind.frame is not None and isinstance(behind.node, f.Node)
        )
        sure = program.knowledge.sure(kind, Confidence.MEDIUM)
        yield obj, Endless((site.fn, site.call), steps, sure, "nothing", obj.type, obj)


def _statements_bounded(program: Program, language: str) -> bool:
    """Whether any code sets a timeout of statements or transactions apart from the data source: for which ones is not known."""
    table = program.knowledge.of(language)
    setters = {
        bound.setter
        for library in table.libraries
        for kind in library.types
        if kind.protocol == "sql" and not kind.url and not kind.mapped
        for bound in kind.bounds
        if bound.setter and bound.slot in _STATEMENT
    }
    if any(not caller.module.is_test for setter in setters for caller in program.names.callers(setter)):
        return True
    scopes = {
        name.rpartition(".")[2]: call.scope
        for library in table.libraries
        for call in library.calls
        for name in call.names
        if call.scope is not None and call.scope.form == "decorator"
    }
    return bool(scopes) and any(_is_timed(fn, scopes) for fn in program.functions(language))


def _is_timed(fn: Fun, scopes: dict[str, ScopeRow]) -> bool:
    """Whether an annotation or decorator that bounds what it stands on is given a time."""
    return any(
        isinstance(decorator, f.Call)
        and (scope := scopes.get(last_name(decorator.fn))) is not None
        and any(arg.name == scope.arg for arg in decorator.args)
        for decorator in fn.head.decorators
    )
