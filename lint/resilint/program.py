"""All files of a program, linked: what rules ask their questions of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from resilint import facts as f
from resilint.flow.deadlines import Deadlines
from resilint.flow.resolve import Resolver
from resilint.flow.slots import Slots
from resilint.flow.values import Bind, ClassVal, Ext, Flow, FnVal, Frame, Hop, Obj, Thing
from resilint.flow.values import Bound as BoundVal
from resilint.knowledge.index import Wanted, every
from resilint.knowledge.schema import Bound, CallEntry
from resilint.link.code import CODE, CallSite, Fun, Klass, Module
from resilint.link.entries import Entry, entries_of, renewed_entries
from resilint.link.java import is_final
from resilint.link.looks import Looks, Scan
from resilint.link.names import Names
from resilint.link.test_code import TestCode
from resilint.link.versions import Pin, Versions, said
from resilint.model import Confidence, Span, Step, Value
from resilint.text import Lines

if TYPE_CHECKING:
    from resilint.flow.abandoned import Abandoned
    from resilint.flow.above import Aboves
    from resilint.flow.after_cancel import AfterCancel
    from resilint.flow.backlogs import Backlogs
    from resilint.flow.balancers import Balancers
    from resilint.flow.batches import Batch
    from resilint.flow.blocking import Blocking
    from resilint.flow.budgets import Budgets
    from resilint.flow.choices import Choices
    from resilint.flow.churn import Churn
    from resilint.flow.containers import Containers
    from resilint.flow.draws import Draws
    from resilint.flow.endless_waits import EndlessWaits
    from resilint.flow.errors import Errors
    from resilint.flow.idle_pairs import IdlePairs
    from resilint.flow.inputs import Sizes
    from resilint.flow.inversions import Inversions
    from resilint.flow.lists import Lists
    from resilint.flow.lost_causes import LostCauses
    from resilint.flow.made_of_settings import MadeOfSettings
    from resilint.flow.mending import Mending
    from resilint.flow.offers import Offers
    from resilint.flow.policies import Policies
    from resilint.flow.pool_tasks import PoolTasks
    from resilint.flow.pools import Pools
    from resilint.flow.public_hosts import PublicHosts
    from resilint.flow.queues import Queues
    from resilint.flow.reach import Headers, Reach
    from resilint.flow.retries import Retries
    from resilint.flow.scans import Scans
    from resilint.flow.setting_faults import SettingFaults
    from resilint.flow.shared_pools import SharedPools
    from resilint.flow.spawns import Fanout, Spawn, Spawns
    from resilint.flow.surfaces import Surfaces, Written
    from resilint.flow.swallowed import Swallowed
    from resilint.flow.timeouts import Fault, Timeouts
    from resilint.flow.waits import Wait
    from resilint.flow.worst import Worsts
    from resilint.settings import Settings

T = TypeVar("T")


def _as_it_is(known: T) -> T:
    return known


class Target(NamedTuple):
    """One thing a call may call."""

    name: str
    """Canonical name where it lies outside the program, else empty."""
    entry: CallEntry | None
    holder: Obj | None
    """The object whose method it is."""
    binds: tuple[Bind, ...]
    flow: Flow


class Program:
    """Every file of a repository, linked. Rules query it and never change it; answers are computed when first asked for."""

    def __init__(self, files: Mapping[str, f.FileFacts], source: Callable[[str], bytes], settings: Settings) -> None:
        from resilint.knowledge import load

        self.files = files
        self.looks = Looks(source)
        self.settings = settings
        self.knowledge = load(settings.knowledge, settings.folder)
        self.test_code = TestCode(self.knowledge.words)
        self.names = Names(files, self.source, settings.is_test, settings.profile, self.test_code.is_test)
        self.resolver = Resolver(self.names, self.knowledge)
        self.focus: frozenset[str] | None = None
        """The files about which findings are asked for; `None`: all. See `focused`."""
        self._kept: dict[str, Any] = {}
        """What `gathered` and `kept` have found."""
        self._stale: dict[str, set[str]] = {}
        """Of each answer in it the files that have changed since."""
        self._is_part = False
        """Whether it was put in focus."""
        self._reach: dict[tuple[str, tuple[str, ...]], Reach] = {}
        self._headers: dict[str, Headers] = {}
        self._lines: dict[str, Lines] = {}
        self._targets: dict[tuple[int, Frame], tuple[Target, ...]] = {}
        self._lasts: dict[tuple[str, Wanted], frozenset[str]] = {}

    def replace(self, path: str, facts: f.FileFacts | None) -> None:
        """Link one changed file (`None`: it was deleted) without reading or indexing the others again.

        Every answer computed before is dropped: what other files' answers rested on the changed one is not recorded.
        """
        files = dict(self.files)
        if facts is None:
            files.pop(path, None)
        else:
            files[path] = facts
        # Facts stand in the order of their paths, as they do in a program that was read at once.
        self.files = dict(sorted(files.items()))
        self.names.replace(path, facts)
        self.looks.forget(path)
        self._lines.pop(path, None)
        self._headers = {}
        self._forget()

    def unasked(self) -> Program:
        """The same program, with no question answered yet."""
        other = copy(self)
        reach = self._reach
        other._forget()
        # Which names may hold what waits is a matter of the files alone, whatever was asked before.
        other._reach = dict(reach)
        for one in other._reach.values():
            one.program = other
        return other

    def after(self, changed: Mapping[str, f.FileFacts]) -> Program | None:
        """The program after the text of some files has changed, in focus on them; none where more than their text is another.

        Names, headers and what may hold something that waits are those of this program, made to fit: it is asked no more. What
        other files' answers rested on in these ones is asked anew where it is known, else left as it was.
        """
        for path, facts in changed.items():
            known = self.files.get(path)
            if known is None or known.kind != facts.kind or facts.kind == "text":
                return None
        other = self.focused(changed)
        other.files = {**self.files, **changed}
        for stale in other._stale.values():
            stale.update(changed)
        for path, facts in changed.items():
            modules = self.names.modules
            old = modules.get(path)
            self.names.replace(path, facts)
            other.looks.forget(path)
            other._lines.pop(path, None)
            new = self.names.modules.get(path)
            if self.names.modules is not modules or (old is None) != (new is None):
                return None
            if old is None or new is None:
                continue
            if (headers := other._headers.get(new.language)) is not None:
                headers.exchange(old, new)
            for reach in other._reach.values():
                if reach.language == new.language:
                    reach.exchange(other, old, new)
        return other

    def focused(self, paths: Iterable[str]) -> Program:
        """The same program, asked about some files only, with no question answered yet.

        What findings begin with (functions, calls, settings: `starts` and its kin) is taken from these files; what questions lead
        to, the callers, definitions and settings, is that of the whole program. So what it says of the files is true of the whole,
        but it may lack what begins elsewhere and is reported here. What was `gathered` and `kept` still holds but for files that
        have changed since.
        """
        other = self.unasked()
        other.focus = frozenset(paths)
        other._is_part = True
        other._kept = dict(self._kept)
        other._stale = {name: set(self._stale.get(name, ())) for name in self._kept}
        other._reach = dict(self._reach)
        for reach in other._reach.values():
            reach.program = other
        return other

    def in_focus(self, where: Fun | Module | str) -> bool:
        """Whether findings may begin in a file, or the file of a function."""
        if self.focus is None:
            return True
        return (where if isinstance(where, str) else where.module.path if isinstance(where, Fun) else where.path) in self.focus

    def gathered(
        self,
        name: str,
        find: Callable[[], Iterable[T]],
        place: Callable[[T], tuple[Any, ...]],
        rests_on: Callable[[T], Iterable[Fun]] = lambda one: (),
        again: Callable[[T], Iterable[T]] = lambda one: (one,),
    ) -> tuple[T, ...]:
        """What `find` finds beginning at `starts`, of all files: files are looked at again only after they have changed.

        `place` gives the path last, preceded by what else decides the order of files; within a file the order found holds.
        `rests_on`: the functions that one of them was found through. Where such a one has changed, `again` finds it anew.
        """

        def renewed(known: tuple[T, ...]) -> tuple[T, ...]:
            changed = self.focus or frozenset()
            others: list[T] = []
            asked: set[int] = set()
            for one in known:
                if place(one)[-1] in changed:
                    continue
                if not any(fn.module.path in changed for fn in rests_on(one)):
                    others.append(one)
                elif (call := id(getattr(one, "site", one))) not in asked:
                    # A call may be several of them: all are found at once.
                    asked.add(call)
                    others += again(one)
            fresh = [one for one in find() if place(one)[-1] in changed]
            return tuple(sorted((*others, *fresh), key=place))

        return self.kept(name, lambda: tuple(find()), renewed)

    def kept(self, name: str, whole: Callable[[], T], renewed: Callable[[T], T]) -> T:
        """An answer about all of the program, which takes all of it to find. After files have changed, `renewed` makes what was
        found before fit them: it is asked in focus on these."""
        known = self._kept.get(name)
        changed = self._stale.pop(name, set())
        if known is None or not self._is_part:
            with self._focus_on(None):
                found = whole()
        elif changed:
            # What is found on the way is of these too.
            with self._focus_on(frozenset(changed).union(self.focus or ())):
                found = renewed(known)
        else:
            return cast("T", known)
        self._kept[name] = found
        self._stale[name] = set()
        return found

    def settled(self, name: str, find: Callable[[], T]) -> T:
        """An answer that rests on settings and on which files there are: it holds until a file with settings changes."""
        files = (self.files[path] for path in self._stale.get(name, ()) if path in self.files)
        if any(facts.settings or facts.kind not in CODE for facts in files):
            self._kept.pop(name, None)
        return self.kept(name, find, _as_it_is)

    def files_of_code(self, name: str, wanted: Callable[[Module], bool], *languages: str) -> frozenset[str]:
        """The paths of the files of code of which something holds that is said in them; `name`: of the question."""

        def found() -> frozenset[str]:
            return frozenset(module.path for module in self.start_modules(*languages) if wanted(module))

        return self.kept(name, found, lambda known: frozenset(path for path in known if not self.in_focus(path)) | found())

    def renewed(self, functions: Iterable[Fun]) -> frozenset[Fun]:
        """Functions that were found before files in focus have changed, as these have them now: those of the same name."""
        found = set()
        for fn in functions:
            if not self.in_focus(fn):
                found.add(fn)
            elif (module := self.names.modules.get(fn.module.path)) is not None:
                found.update(same for same in module.functions if same.head.qual == fn.head.qual)
        return frozenset(found)

    @contextmanager
    def _focus_on(self, paths: frozenset[str] | None) -> Iterator[None]:
        focus, self.focus = self.focus, paths
        try:
            yield
        finally:
            self.focus = focus

    def _forget(self) -> None:
        self.resolver = Resolver(self.names, self.knowledge)
        self._kept = {}
        self._stale = {}
        self._is_part = False
        self.focus = None
        self._reach = {}
        self._targets = {}
        self._lasts = {}
        for name in [n for n, v in vars(type(self)).items() if isinstance(v, cached_property)]:
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------ places

    def source(self, path: str) -> bytes:
        """The bytes of a file, as its reader got them. Where less will do, `says`, `marks` or `cut` are asked: after any change
        of a file that was read as a whole, everything is checked again."""
        return self.looks.source(path)

    def says(self, path: str, scan: Scan) -> bool:
        """Whether the text of a file holds what is searched."""
        return self.looks.says(path, scan)

    def marks(self, fn: Fun, scan: Scan) -> bool:
        """Whether what a pattern finds begins in the text of a function; of the body of a file: anywhere in it."""
        if not fn.index:
            return self.looks.says(fn.module.path, scan)
        return self.looks.marks(fn.module.path, scan, fn.index, fn.head.at, fn.head.end)

    def cut(self, path: str, at: int, end: int, until: bytes = b"") -> bytes:
        """A piece of a file's text; it ends before `until`, where it holds that."""
        return self.looks.cut(path, at, end, until)

    def around(self, where: Fun | Module, first: f.Node, last: f.Node | None = None) -> bytes:
        """The text of a file, for whoever reads nothing in it but the lines that some nodes stand on, and how lines end."""
        module = where.module if isinstance(where, Fun) else where
        return self.looks.around(module.path, first.at, (last or first).end)

    def lines(self, path: str) -> Lines:
        """The lines of a file."""
        self.looks.whole.add(path)
        return self._lines_of(path)

    def _lines_of(self, path: str) -> Lines:
        lines = self._lines.get(path)
        if lines is None:
            lines = self._lines[path] = Lines(self.looks.text(path))
        return lines

    def span(self, path: str, at: int, end: int) -> Span:
        """A range of bytes as lines and columns."""
        self.looks.places.setdefault(path, set()).update((at, end))
        return self._lines_of(path).span(path, at, end)

    def span_of(self, where: Fun | Module, node: Any) -> Span:
        """The range of a node in the file of a function or module."""
        module = where.module if isinstance(where, Fun) else where
        return self.span(module.path, node.at, node.end)

    def text_of(self, where: Fun | Module, node: Any, limit: int = 60) -> str:
        """The source of a node on one line, shortened."""
        module = where.module if isinstance(where, Fun) else where
        text = " ".join(self.cut(module.path, node.at, node.end).decode("utf-8", "replace").split())
        return text if len(text) <= limit else text[: limit - 1] + "…"

    def step(self, where: Fun | Module, node: Any, text: str) -> Step:
        """A step of a trace."""
        return Step(self.span_of(where, node), text)

    def trace(self, hops: Iterable[Hop]) -> tuple[Step, ...]:
        """The way of a value as steps."""
        steps: list[Step] = []
        for hop in hops:
            step = Step(self.span(hop.path, hop.at, hop.end), hop.text)
            if not steps or steps[-1].span != step.span or steps[-1].text != step.text:
                steps.append(step)
        return tuple(steps)

    def value(self, number: float | None, confidence: Confidence, *steps: Step, hops: Iterable[Hop] = ()) -> Value:
        """A value with its trace: the hops first, then the steps."""
        return Value(number, confidence, (*self.trace(hops), *steps))

    # ------------------------------------------------------------ code

    def functions(self, *languages: str) -> Iterator[Fun]:
        """Every function in order of path and position; module bodies too."""
        for module in self.names.modules.values():
            if not languages or module.language in languages:
                yield from module.functions

    def start_modules(self, *languages: str) -> Iterator[Module]:
        """The files of code that findings begin in: those in focus. What must see all of the program asks `names.modules`."""
        modules = self.names.modules
        for path in modules if self.focus is None else sorted(self.focus & modules.keys()):
            if not languages or modules[path].language in languages:
                yield modules[path]

    def start_files(self) -> Iterator[tuple[str, f.FileFacts]]:
        """The files of any kind that findings begin in, in order of paths."""
        for path in sorted(self.files if self.focus is None else self.focus & self.files.keys()):
            yield path, self.files[path]

    def starts(self, *languages: str) -> Iterator[Fun]:
        """The functions that findings begin with: as `functions`, of the files in focus."""
        for module in self.start_modules(*languages):
            yield from module.functions

    def start_classes(self) -> Iterator[Klass]:
        """The classes that findings begin with, in order of paths."""
        for module in self.start_modules():
            yield from module.classes

    @property
    def start_waits(self) -> Iterator[Wait]:
        """Those of `all_waits` that findings begin with: waits elsewhere that rest on something in focus may be mended there."""
        return (wait for wait in self.all_waits if self.in_focus(wait.fn) or any(map(self.in_focus, wait.rests_on())))

    @property
    def start_spawns(self) -> Iterator[Spawn]:
        """Those of `spawns` that findings begin with."""
        return (spawn for spawn in self.spawns if self.in_focus(spawn.fn))

    def start_sites(
        self, wanted: Callable[[str], bool], *languages: str, among: Callable[[Module], bool] | None = None
    ) -> Iterator[CallSite]:
        """As `sites`, of the files in focus."""
        for fn in self.start_calling(wanted, *languages):
            if among is None or among(fn.module):
                for site in fn.body.calls:
                    if wanted(site.last):
                        yield site

    def start_calling(self, wanted: Callable[[str], bool], *languages: str) -> list[Fun]:
        """As `names.calling`, of the files in focus."""
        if self.focus is None:
            return self.names.calling(wanted, *languages)
        return [fn for fn in self.starts(*languages) if any(wanted(c.rpartition(".")[2].rstrip("{")) for c in fn.head.calls)]

    @cached_property
    def own_names(self) -> frozenset[str]:
        """Names of the functions and classes of the program."""

        def found() -> frozenset[str]:
            functions = (fn.name for fn in self.starts() if fn.head.kind != "lambda")
            return frozenset((*functions, *(klass.name for klass in self.start_classes())))

        return self.kept("own names", found, lambda known: known | found())

    def is_test(self, fn: Fun) -> bool:
        """Whether it lies in test code, an example or a one-off script."""
        return fn.module.is_test

    def sites(
        self, wanted: Callable[[str], bool], *languages: str, among: Callable[[Module], bool] | None = None
    ) -> Iterator[CallSite]:
        """Calls whose last segment is wanted, found by the headers: bodies without one are not decoded. `among`: in which files."""
        for fn in self.names.calling(wanted, *languages):
            if among is None or among(fn.module):
                for site in fn.body.calls:
                    if wanted(site.last):
                        yield site

    def targets(self, site: CallSite, frame: Frame | None = None) -> tuple[Target, ...]:
        """What a call may call: functions of the program and, by canonical name, what lies outside."""
        frame = frame or self.resolver.frame(site.fn)
        key = (id(site.call), frame)
        found = self._targets.get(key)
        if found is None:
            found = self._targets[key] = tuple(self._target(site.call, frame))
        return found

    def _target(self, call: f.Call, frame: Frame) -> Iterator[Target]:
        resolver = self.resolver
        for flow in resolver.callee(call, frame):
            for thing, binds in resolver.unwrap(flow.thing, resolver.binds(call, frame), frame):
                yield self.target_of(thing, binds, flow, frame.fn)

    def target_of(self, thing: Thing, binds: tuple[Bind, ...], flow: Flow, fn: Fun) -> Target:
        """What a thing is when it is called with these arguments, as a function of the program does or has done."""
        name = self.resolver.canonical(thing)
        entry = self.resolver.table(fn.module).call(name) if name else None
        if entry is not None and entry.arity and len(binds) not in entry.arity:
            entry = None
        holder = thing.obj if isinstance(thing, BoundVal) else None
        return Target(name, entry, holder, binds, flow._replace(thing=thing))

    def described(self, site: CallSite, wanted: Wanted = every) -> Iterator[tuple[Target, CallEntry]]:
        """The targets of a call that knowledge describes, with what it says of them. A call that no described name or alias can
        stand behind, or none of a wanted row, is not resolved."""
        if self.may_be_described(site, wanted):
            for target in self.targets(site):
                if target.entry is not None:
                    yield target, target.entry

    def may_be_described(self, site: CallSite, wanted: Wanted = every) -> bool:
        """Whether a wanted row may describe a call, by its name and by what is declared."""
        fn, module = site.call.fn, site.fn.module
        if not isinstance(fn, f.Ref | f.Field):
            return True
        table = self.resolver.table(module)
        if site.last in (table.names if wanted is every else self.lasts(module.language, wanted)):
            return not self._declared_otherwise(site, wanted)
        if self.names.is_open_ended(module, table):
            return True
        if isinstance(fn, f.Field):
            return False
        # Under another name: an import's alias, or a variable that holds a function.
        head, _, rest = fn.name.partition(".")
        if "." in rest:
            return False
        scope: Fun | None = site.fn
        while scope is not None and not rest:
            if head in scope.params or any(d.kind not in ("function", "class") for d in scope.body.definitions.get(head, ())):
                return True
            scope = scope.parent
        if not rest and module.language == "python" and _is_variable(head, module):
            return True
        if module.language == "go":
            return not rest and head not in self.names.package_of(module).functions
        return "*" in module.imports or any(self._may_rename(imp, rest, module) for imp in module.imports.get(head, ()))

    def lasts(self, language: str, wanted: Wanted) -> frozenset[str]:
        """The last segments of the calls of a language that a wanted row may describe here: what no file imports, or is given by
        what one does, does not occur."""
        key = (language, wanted)
        found = self._lasts.get(key)
        if found is None:
            occurring = self.headers(language).occurring
            found = self._lasts[key] = self.knowledge.of(language).lasts(wanted, occurring)
        return found

    def _may_rename(self, imp: f.Import, rest: str, module: Module) -> bool:
        """Whether what an import brings in, or the attribute `rest` of it, may be a described function under another name."""
        if not rest and imp.name in self.resolver.table(module).names:
            return True
        owner, name = (f"{imp.target}.{imp.name}" if imp.name else imp.target, rest) if rest else (imp.target, imp.name)
        home = self.names.python_module(module, owner, imp.level)
        return isinstance(home, Module) and name not in home.declared

    def callees(self, site: CallSite, frame: Frame | None = None) -> list[Fun]:
        """The functions of the program that a call may enter (a constructor: its `__init__`)."""
        only = self._only(site)
        if only is not None:
            return [only]
        if self._is_on_final(site):
            return []
        out = []
        for target in self.targets(site, frame):
            thing: Thing = target.flow.thing
            if isinstance(thing, FnVal):
                out.append(thing.fn)
            elif isinstance(thing, ClassVal):
                init = self.resolver.init_of(thing.klass)
                if init is not None:
                    out.append(init)
        return out

    def _only(self, site: CallSite) -> Fun | None:
        """The one function that a call enters by what is declared, whatever its object is: nothing overrides it. What values say
        could only be less, and is dear to ask."""
        declared = self._declared(site)
        target = declared[0] if len(declared) == 1 else None
        return target if isinstance(target, Fun) and not target.head.is_abstract else None

    def _is_on_final(self, site: CallSite) -> bool:
        """Whether what a call is made on is declared with classes of the language that no class of the program can extend: which
        text is compared decides nothing, and where it comes from is dear to ask."""
        declared = self._declared(site)
        return bool(declared) and all(isinstance(target, str) and is_final(target.rpartition(".")[0]) for target in declared)

    def _declared_otherwise(self, site: CallSite, wanted: Wanted) -> bool:
        """Whether the declared type of what a call is made on says that it is none of the wanted ones."""
        declared = self._declared(site)
        table = self.resolver.table(site.fn.module)
        return bool(declared) and not any(isinstance(target, str) and table.may_call(target, wanted) for target in declared)

    def _declared(self, site: CallSite) -> list[Fun | str]:
        """What a call may run by what is declared, where the language has every type written."""
        return self.names.java.declared(site.call, site.fn) if site.fn.module.language == "java" else []

    def canonical(self, expr: f.Expr, fn: Fun) -> tuple[str, ...]:
        """The external names an expression may stand for: `errors.Is(err, context.Canceled)` → `context.Canceled`."""
        return tuple(x.thing.name for x in self.resolver.ask(expr, self.resolver.frame(fn)) if isinstance(x.thing, Ext))

    @cached_property
    def entries(self) -> dict[Fun, Entry]:
        """Functions that code outside the program calls: handlers, workers, jobs, callbacks."""
        return self.kept("entries", lambda: entries_of(self), lambda known: renewed_entries(self, known))

    @cached_property
    def slots(self) -> Slots:
        """What stands in the slots of calls and objects."""
        return Slots(self)

    @cached_property
    def deadlines(self) -> Deadlines:
        """What bounds contexts and places."""
        return Deadlines(self)

    def version(self, row: Bound, fn: Fun) -> str | None:
        """The version of a row's library that the repository pins; `None`: not pinned, so the newest known holds."""
        pin = self.pin(row, fn)
        return pin.version if pin is not None else None

    def pin(self, row: Bound, fn: Fun) -> Pin | None:
        """Where the version is pinned that decides whether a row holds for the code of a function."""
        names = self.resolver.table(fn.module).distributions(row)
        return self.versions.pinned(fn.module.path, fn.module.language, names) if names else None

    @cached_property
    def versions(self) -> Versions:
        """What lock files, requirements, module and build files pin."""
        return Versions(self.files, self.source)

    def assumed(self, row: Bound, fn: Fun, node: f.Node) -> tuple[Step, ...]:
        """The version on which it rests that a call has no bound by default, as a step; none where it rests on none."""
        if row.since is None and row.before is None:
            return ()
        limit = f"since {row.since}" if row.before is None else f"before {row.before}"
        pin = self.pin(row, fn)
        if pin is None:
            return (self.step(fn, node, f"no version is pinned, the newest is assumed: {limit} nothing bounds it by default"),)
        text = f"{pin.name} {said(pin.version)} is pinned here: {limit} nothing bounds it by default"
        return (Step(self.span(pin.path, pin.at, pin.end), text),)

    # ------------------------------------------------------------ questions of rules

    @cached_property
    def offers(self) -> Offers:
        """Timeouts and other settings that code promises to take."""
        from resilint.flow.offers import Offers

        return Offers(self)

    @cached_property
    def timeouts(self) -> Timeouts:
        """Every fault of a timeout, sorted by what is wrong with it."""
        from resilint.flow.timeouts import Timeouts

        return Timeouts(self)

    def detached_calls(self) -> list[Fault]:
        """Calls under a fresh context that takes the place of the one their thread runs under."""
        from resilint.flow.detached import detached_calls

        return detached_calls(self)

    def dropped_offers(self) -> list[Fault]:
        """Timeouts that were offered and never arrive."""
        _ = self.timeouts  # sorting the endless waits is what finds the offers they lack
        return sorted(self.offers.faults, key=lambda fault: (fault.span, fault.message))

    def servers_without_timeout(self) -> Iterator[Fault]:
        """Servers that let a peer hold a connection for ever."""
        from resilint.flow.timeouts import servers_without_timeout

        return servers_without_timeout(self)

    @cached_property
    def surfaces(self) -> Surfaces:
        """Settings of files, as the frameworks that read them see them."""
        from resilint.flow.surfaces import Surfaces

        return Surfaces(self)

    def setting(self, name: str) -> list[Written]:
        """Every place that writes a key of a settings file, by its dotted name, however it is spelled."""
        return self.surfaces.setting(name)

    @cached_property
    def mending(self) -> Mending:
        """Fixes of what is found."""
        from resilint.flow.mending import Mending

        return Mending(self)

    @cached_property
    def setting_faults(self) -> SettingFaults:
        """What is wrong with settings, by kind of fault."""
        from resilint.flow.setting_faults import SettingFaults

        return SettingFaults(self)

    @cached_property
    def made_of_settings(self) -> MadeOfSettings:
        """What is wrong with what frameworks make of settings in Python files, by kind of fault."""
        from resilint.flow.made_of_settings import MadeOfSettings

        return MadeOfSettings(self)

    def shared_servers(self) -> Iterator[Fault]:
        """RPC servers of settings on whose one pool of threads several services are exported."""
        from resilint.flow.rpc_pools import shared_servers

        return shared_servers(self)

    @cached_property
    def containers(self) -> Containers:
        """Containers of manifests: their memory, variables and commands."""
        from resilint.flow.containers import Containers

        return Containers(self)

    @cached_property
    def idle_pairs(self) -> IdlePairs:
        """How long connections lie idle at servers, and at whoever uses them again."""
        from resilint.flow.idle_pairs import IdlePairs

        return IdlePairs(self)

    @cached_property
    def public_hosts(self) -> PublicHosts:
        """Public hosts of the services of this repository, and who of it calls them."""
        from resilint.flow.public_hosts import PublicHosts

        return PublicHosts(self)

    def loose_placements(self) -> Iterator[Fault]:
        """Workloads declared near something bound to a zone that may be scheduled in another."""
        from resilint.flow.placement import loose_placements

        return loose_placements(self)

    def overloaded_queues(self) -> Iterator[Fault]:
        """Declared queues to which more may come than is served at the worst."""
        from resilint.flow.recovery import overloaded_queues

        return overloaded_queues(self)

    def oversized_heaps(self) -> Iterator[Fault]:
        """Runtimes that are told to take as much memory as their container may use, or more."""
        from resilint.flow.heaps import oversized_heaps

        return oversized_heaps(self)

    @cached_property
    def sizes(self) -> Sizes:
        """How long collections can get, and who decides."""
        from resilint.flow.inputs import Sizes

        return Sizes(self)

    @cached_property
    def spawning(self) -> Spawns:
        """What starts work beside its caller."""
        from resilint.flow.spawns import Spawns

        return Spawns(self)

    @cached_property
    def spawns(self) -> tuple[Spawn, ...]:
        """Every place where work starts beside its caller."""
        from resilint.flow.spawns import Spawn

        return self.gathered(
            "spawns", self.spawning.all, lambda spawn: (spawn.fn.module.path,), Spawn.rests_on, self.spawning.found_again
        )

    @cached_property
    def churn(self) -> Churn:
        """What opens its connections anew for each call."""
        from resilint.flow.churn import Churn

        return Churn(self)

    @cached_property
    def draws(self) -> Draws:
        """Pools of connections, held against the work that draws on them."""
        from resilint.flow.draws import Draws

        return Draws(self)

    @cached_property
    def all_fanouts(self) -> tuple[Fanout, ...]:
        """Spawns without a limit that grow with input, data or events, around something that waits for a peer."""
        return self.gathered("fanouts", self.spawning.fanouts, lambda fanout: (fanout.spawn.fn.module.path,))

    def fanouts(self) -> Iterator[Fanout]:
        """The same, one after the other."""
        return (fanout for fanout in self.all_fanouts if self.in_focus(fanout.spawn.fn))

    def batches(self) -> Iterator[Batch]:
        """Loops with waits over what a request brings, whatever its size."""
        from resilint.flow.batches import batches_of

        return batches_of(self)

    def abandoned(self) -> Iterator[Abandoned]:
        """Work that goes on, or is stuck, after its caller has left."""
        from resilint.flow.abandoned import abandoned_of

        return abandoned_of(self)

    @cached_property
    def pools(self) -> Pools:
        """Executors, queues and gates: what bounds each, who uses it."""
        from resilint.flow.pools import Pools

        return Pools(self)

    @cached_property
    def policies(self) -> Policies:
        """Policies of retries that libraries are given, and what they repeat by themselves."""
        from resilint.flow.policies import Policies

        return Policies(self)

    @cached_property
    def worsts(self) -> Worsts:
        """How long code can take at most."""
        from resilint.flow.worst import Worsts

        return Worsts(self)

    @cached_property
    def above(self) -> Aboves:
        """Deadlines above entry points."""
        from resilint.flow.above import Aboves

        return Aboves(self)

    @cached_property
    def inversions(self) -> Inversions:
        """Work that outlasts the deadline above it."""
        from resilint.flow.inversions import Inversions

        return Inversions(self)

    @cached_property
    def budgets(self) -> Budgets:
        """The worst case of each entry point as a waterfall, against the deadlines above it."""
        from resilint.flow.budgets import Budgets

        return Budgets(self)

    @cached_property
    def queues(self) -> Queues:
        """Queues inside a process, with who serves them and who waits for an answer."""
        from resilint.flow.queues import Queues

        return Queues(self)

    @cached_property
    def backlogs(self) -> Backlogs:
        """Queues outside the process, and what limits them."""
        from resilint.flow.backlogs import Backlogs

        return Backlogs(self)

    def expired_work(self) -> Iterator[Fault]:
        """Takes from queues that serve what nobody waits for any more."""
        from resilint.flow.expired import Expired

        return Expired(self).served()

    def log_storms(self) -> Iterator[Fault]:
        """Lines of log for every element of something that fails."""
        from resilint.flow.log_storms import LogStorms

        return LogStorms(self).all()

    @cached_property
    def scans(self) -> Scans:
        """Selections of rows, and what limits them."""
        from resilint.flow.scans import Scans

        return Scans(self)

    @cached_property
    def pool_tasks(self) -> PoolTasks:
        """What is given to executors, and what goes wrong there."""
        from resilint.flow.pool_tasks import PoolTasks

        return PoolTasks(self)

    @cached_property
    def shared_pools(self) -> SharedPools:
        """Gates and executors on which one slow user makes the others wait."""
        from resilint.flow.shared_pools import SharedPools

        return SharedPools(self)

    @cached_property
    def blocking(self) -> Blocking:
        """Waits on event loops and on executors of the whole process."""
        from resilint.flow.blocking import Blocking

        return Blocking(self)

    @cached_property
    def errors(self) -> Errors:
        """Errors by cause: which tests pick one, which contexts stand behind it."""
        from resilint.flow.errors import Errors

        return Errors(self)

    @cached_property
    def lost_causes(self) -> LostCauses:
        """Places where a timeout or a cancellation becomes an error that hides which it was."""
        from resilint.flow.lost_causes import LostCauses

        return LostCauses(self)

    @cached_property
    def after_cancel(self) -> AfterCancel:
        """Calls that go out after a timeout or a cancellation is known."""
        from resilint.flow.after_cancel import AfterCancel

        return AfterCancel(self)

    @cached_property
    def endless_waits(self) -> EndlessWaits:
        """Waits of requests and workers on other work, processes or messages that can last for ever."""
        from resilint.flow.endless_waits import EndlessWaits

        return EndlessWaits(self)

    @cached_property
    def retries(self) -> Retries:
        """Loops that try again what failed."""
        from resilint.flow.retries import Retries

        return Retries(self)

    @cached_property
    def swallowed(self) -> Swallowed:
        """Cancellations and interrupts that are caught and dropped."""
        from resilint.flow.swallowed import Swallowed

        return Swallowed(self)

    @cached_property
    def lists(self) -> Lists:
        """Where lists of peers come from, and what filtered them."""
        from resilint.flow.lists import Lists

        return Lists(self)

    @cached_property
    def choices(self) -> Choices:
        """Where an owner is chosen by hash."""
        from resilint.flow.choices import Choices

        return Choices(self)

    @cached_property
    def balancers(self) -> Balancers:
        """Balancers that settings describe."""
        from resilint.flow.balancers import Balancers

        return Balancers(self)

    @cached_property
    def all_waits(self) -> tuple[Wait, ...]:
        """Every place where code stands still for something outside, with its bounds."""
        from resilint.flow.waits import Wait, waits_at, waits_handed_over, waits_of

        def place(wait: Wait) -> tuple[int, str]:
            module = wait.fn.module
            return CODE.index(module.language), module.path

        kinds = ("network", "query", "connect")

        def again(wait: Wait) -> Iterator[Wait]:
            yield from waits_at(self, [wait.site], *kinds)
            yield from waits_handed_over(self, wait.site, *kinds)

        return self.gathered("waits", lambda: waits_of(self, *kinds), place, Wait.rests_on, again)

    def headers(self, language: str) -> Headers:
        """The names that the files of a language write."""
        from resilint.flow.reach import Headers

        found = self._headers.get(language)
        if found is None:
            found = self._headers[language] = Headers(self.names, language, self.knowledge.of(language))
        return found

    def reach(self, language: str, kinds: Iterable[str]) -> Reach:
        """Which names of a language may hold objects that wait in one of these ways."""
        from resilint.flow.reach import Reach

        key = (language, tuple(sorted(kinds)))
        found = self._reach.get(key)
        if found is None:
            found = self._reach[key] = Reach(self, language, kinds)
        return found

    def waits(self, *kinds: str) -> Iterator[Wait]:
        """Waits of the given kinds (`network`, `query`, `wait` …) that findings begin with."""
        return (wait for wait in self.start_waits if wait.kind in kinds)

    def statistics(self) -> dict[str, int]:
        """How many waits are bounded, endless and unknown."""
        counts = {"bounded": 0, "endless": 0, "unknown": 0}
        for wait in self.all_waits:
            if wait.kind in ("network", "query", "connect"):
                word = "unknown" if wait.bound is None else "endless" if wait.bound == inf else "bounded"
                counts[word] += 1
        return counts

    def call_graph(self) -> tuple[list[str], list[tuple[str, str]]]:
        """Names of functions and the calls between them."""
        from resilint.link.callgraph import call_graph

        return call_graph(self)


def _is_variable(name: str, module: Module) -> bool:
    """Whether a file gives a name of its own a value that may be a function."""
    if name in module.declared:
        return False
    definitions = module.functions[0].body.definitions.get(name, ())
    return any(d.kind not in ("function", "class", "import") for d in definitions)
