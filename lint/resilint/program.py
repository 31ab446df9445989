"""All files of a program, linked: what rules ask their questions of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from resilint import facts as f
from resilint.flow.deadlines import Deadlines
from resilint.flow.resolve import Resolver
from resilint.flow.slots import Slots
from resilint.flow.values import Bind, ClassVal, Ext, Flow, FnVal, Frame, Hop, Obj, Thing
from resilint.flow.values import Bound as BoundVal
from resilint.knowledge.index import Wanted, every
from resilint.knowledge.schema import Bound, CallEntry
from resilint.link.code import CallSite, Fun, Module
from resilint.link.entries import Entry, entries_of
from resilint.link.names import Names
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
        self.source = source
        self.settings = settings
        self.knowledge = load(settings.knowledge, settings.folder)
        self.names = Names(files, source, settings.is_test, settings.profile)
        self.resolver = Resolver(self.names, self.knowledge)
        self._reach: dict[tuple[str, tuple[str, ...]], Reach] = {}
        self._headers: dict[str, Headers] = {}
        self._lines: dict[str, Lines] = {}
        self._targets: dict[tuple[int, Frame], tuple[Target, ...]] = {}

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
        self._lines.pop(path, None)
        self._headers = {}
        self._forget()

    def unasked(self) -> Program:
        """The same program, with no question answered yet."""
        other = copy(self)
        other._forget()
        return other

    def _forget(self) -> None:
        self.resolver = Resolver(self.names, self.knowledge)
        self._reach = {}
        self._targets = {}
        for name in [n for n, v in vars(type(self)).items() if isinstance(v, cached_property)]:
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------ places

    def lines(self, path: str) -> Lines:
        """The lines of a file."""
        lines = self._lines.get(path)
        if lines is None:
            lines = self._lines[path] = Lines(self.source(path))
        return lines

    def span(self, path: str, at: int, end: int) -> Span:
        """A range of bytes as lines and columns."""
        return self.lines(path).span(path, at, end)

    def span_of(self, where: Fun | Module, node: Any) -> Span:
        """The range of a node in the file of a function or module."""
        module = where.module if isinstance(where, Fun) else where
        return self.span(module.path, node.at, node.end)

    def text_of(self, where: Fun | Module, node: Any, limit: int = 60) -> str:
        """The source of a node on one line, shortened."""
        module = where.module if isinstance(where, Fun) else where
        text = " ".join(self.source(module.path)[node.at : node.end].decode("utf-8", "replace").split())
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
        if site.last in (table.names if wanted is every else table.lasts(wanted)):
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
        if module.language == "go":
            return not rest and head not in self.names.package_of(module).functions
        return "*" in module.imports or any(self._may_rename(imp, rest, module) for imp in module.imports.get(head, ()))

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
        return entries_of(self)

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
        return tuple(self.spawning.all())

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
        return tuple(self.spawning.fanouts())

    def fanouts(self) -> Iterator[Fanout]:
        """The same, one after the other."""
        return iter(self.all_fanouts)

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
        from resilint.flow.waits import waits_of

        return tuple(waits_of(self, "network", "query", "connect"))

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
        """Waits of the given kinds (`network`, `query`, `wait` …)."""
        return (wait for wait in self.all_waits if wait.kind in kinds)

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
