"""Policies of retries: how often a library repeats what failed, and how far apart, as the program writes or configures it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from resilint import facts as f
from resilint.flow.lists import Words
from resilint.flow.retries import CLOCK
from resilint.flow.slots import Slot, Source, decide, is_fixed
from resilint.flow.surfaces import Written, judge, project_of, relaxed, split
from resilint.flow.values import Bind, Ext, Flow, FnVal, Frame, Null, Obj, Unknown
from resilint.flow.values import Bound as BoundVal
from resilint.knowledge.index import RetryWords, Table
from resilint.knowledge.schema import AgainRow, Bound, RetryPart, RetryRow
from resilint.link.code import CODE, CallSite, Fun, Klass, Module, dotted, last_name, walk, walk_block
from resilint.model import Confidence, Span, Step

if TYPE_CHECKING:
    from resilint.flow.policy_faults import PolicyFaults
    from resilint.flow.timeouts import Fault
    from resilint.program import Program, Target

RETRY = frozenset({"attempts", "elapsed", "total", "backoff", "backoff_min", "backoff_max", "growth", "growth_step", "jitter"})
"""Slots that say how often and how far apart."""
_PAUSE = RETRY - {"attempts", "elapsed", "total"}
_DEEP = 6
"""Policies followed one inside another, and objects inside or in front of a client."""
_MOST_PAUSES = 64
"""Pauses that are written out; of an endless policy the first of them."""

_UNCOUNTED = 4
"""Pauses that are written out where the number of tries is not known."""

_RESULT = "<result>"
"""In the place of an error: a result, which no failure is."""

Where = tuple[Fun, f.Node]


@dataclass(frozen=True)
class Policy:
    """How something that failed is tried again.

    `tries` counts the first one too: `inf` without a cap, `None` where it is not known. `pauses` are the seconds between tries, the
    longest that chance may make them; of a policy whose end is not known its first ones; `None` where they are not known. `budget`
    is the time in seconds after which no further try begins (`inf` for none), `covers_all` one that ends even the try under way.
    """

    tries: float | None
    pauses: tuple[float, ...] | None
    budget: float | None
    grows: bool | None
    jitter: bool | None
    condition: str
    """What it repeats on: `any` failure, only what did not `connect`, only `other` errors than those of a peer, only a `result`,
    what code of its `own` decides."""
    span: Span
    """Where the number of tries is written, else where the policy is."""
    steps: tuple[Step, ...]
    owner: str
    """What it belongs to, for messages: `tenacity.retry`."""
    confidence: Confidence = Confidence.HIGH
    covers_all: float | None = None
    default: bool = False
    """A library's default that nobody touched."""
    runs: Bind | None = None
    """The operation, where a call is handed it or computes it again; else it is the call, or the function, itself."""
    errors: tuple[str, ...] = ()
    """Names of the errors it repeats on, where they are known."""
    pause_span: Span | None = None
    """Where the pause is written."""
    throttled: bool = False
    """Something limits how many of all calls are repeated."""
    told: bool = True
    """Somebody told it how often or how far apart."""


class Wave(NamedTuple):
    """Pauses by formula, in seconds: `first × growth ** (start + n) + step × n`, no less than `low`, no more than `high`, and by
    chance up to `spread` and `share` of it more; with `fibonacci` the numbers 1, 1, 2, 3, 5 take the place of the powers."""

    first: float | None
    growth: float | None = 1.0
    step: float = 0.0
    low: float = 0.0
    high: float = inf
    spread: float = 0.0
    share: float = 0.0
    jitter: bool | None = False
    start: int = 0
    fibonacci: bool = False
    over: bool = False
    """Chance comes on top of `high`."""

    def pause(self, index: int) -> float | None:
        """The longest pause before the repetition of that index, from 0."""
        if self.first is None or self.growth is None:
            return None
        try:
            grown = self.first * self._factor(self.start + index, self.growth) + self.step * index
        except OverflowError:
            grown = inf
        if self.over:
            return min(max(grown, self.low), self.high) * (1 + self.share) + self.spread
        return min(max(grown * (1 + self.share) + self.spread, self.low), self.high)

    def _factor(self, index: int, growth: float) -> float:
        if not self.fibonacci:
            return growth**index
        number, following = 0, 1
        for _ in range(index):
            number, following = following, number + following
        return float(number)

    @property
    def grows(self) -> bool | None:
        """Whether pauses get longer."""
        if self.first is None or self.growth is None:
            return None
        if self.first == 0 and not self.step:
            return False
        if self.fibonacci or self.growth > 1:
            return max(self.first * self._factor(self.start, self.growth), self.low) < self.high
        return self.step > 0 and max(self.first, self.low) < self.high


@dataclass(frozen=True)
class _Piece:
    """What a policy or a part of one says. `tries` and `budget` are -1 where it says nothing of them."""

    tries: float | None = -1.0
    budget: float | None = -1.0
    waves: tuple[Wave, ...] | None = ()
    """Added up; empty: says nothing; `None`: not known."""
    chain: tuple[tuple[Wave, ...], ...] = ()
    """One after another instead, the last for all further pauses."""
    said: frozenset[str] = frozenset()
    """The slots of which something is known."""
    written: frozenset[str] = frozenset()
    """Those that somebody wrote."""
    where: Where | None = None
    tries_at: Where | None = None
    pause_at: Where | None = None
    steps: tuple[Step, ...] = ()
    confidence: Confidence = Confidence.HIGH
    only: str = ""
    chosen: bool = False
    """It is there to repeat: what it does by default is meant."""
    at_once: bool = False
    errors: tuple[str, ...] | None = None
    total: float | None = None

    @property
    def stops(self) -> bool:
        return self.tries != -1 or self.budget != -1

    @property
    def pauses(self) -> bool:
        return self.waves is None or bool(self.waves) or bool(self.chain)


_COUNTED = 6
"""Pauses that are worked out from how often a function was run."""
_LARGE = 1e9
_LARGE_POWER = 64
_PICKS: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max, "int": max, "float": max}
_UNKNOWN = _Piece(tries=None, budget=None, waves=None)
_UNREAD = {
    "all": _UNKNOWN,
    "stops": _Piece(tries=None, budget=None),
    "pauses": _Piece(waves=None),
}
"""By what it speaks of, a part that cannot be read."""


class Policies:
    """The policies of one program. Answers are remembered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.slots = program.slots
        self._functions: dict[Fun, tuple[Policy, ...]] = {}
        self._objects: dict[Obj, _Piece | None] = {}
        self._clients: dict[Obj, Policy | None] = {}
        self._busy: set[Obj] = set()
        self._enabled: dict[str, bool] = {}
        self._vocabulary: dict[str, RetryWords] = {}

    # ------------------------------------------------------------ questions

    def faults(self, code: str) -> list[Fault]:
        """What is wrong with policies that somebody wrote, by the code of the rule."""
        return self._judged_all.of(code)

    @cached_property
    def _judged_all(self) -> PolicyFaults:
        from resilint.flow.policy_faults import PolicyFaults

        return PolicyFaults(self.program)

    def amplified(self) -> list[Fault]:
        """Calls whose layers of retries multiply beyond the budget."""
        from resilint.flow.attempts import Attempts

        return Attempts(self.program).amplified()

    def with_policies(self) -> Iterator[Fun]:
        """Functions that may have a policy around them or give one an operation, in order."""
        modules = self.program.names.modules
        for language in CODE:
            for path in self._starting(self._makers, language):
                words = self._words(modules[path])
                for fn in modules[path].functions:
                    called = any(_last(c) in words.policies or not _last(c) for c in fn.head.calls)
                    owner = self.resolver.owner(fn) if language == "java" and not fn.head.decorators else None
                    if fn.head.decorators or called or (owner is not None and owner.decl.decorators):
                        yield fn

    def _starting(self, paths: dict[str, frozenset[str]], language: str) -> list[str]:
        """Those files of a language in focus, and of Python those near them."""
        near = self._near if language == "python" else frozenset()
        return sorted(path for path in paths[language] | near if self.program.in_focus(path))

    def reruns(self, fn: Fun) -> Iterator[tuple[CallSite, Policy]]:
        """The calls of a function that run an operation again, with the policy they do it by."""
        words = self._words(fn.module)
        for site in fn.body.calls:
            if site.last in words.reruns or self._calls_policy(site, words):
                for policy in self.of_call(site):
                    if policy.runs is not None:
                        yield site, policy

    def loops(self, fn: Fun) -> Iterator[tuple[f.Loop, Policy]]:
        """Loops over a policy: `for attempt in Retrying(…):`."""
        if fn.module.path not in self._makers["python"]:
            return
        words = self._words(fn.module).policies
        for stmt, _ in fn.body.stmts:
            if isinstance(stmt, f.Loop) and stmt.form == "each" and isinstance(stmt.iter, f.Call | f.Ref):
                called: f.Expr = stmt.iter
                if isinstance(called, f.Ref):
                    called = self._written(called.name, fn) or called
                if isinstance(called, f.Call) and last_name(called.fn) in words:
                    policy = self.of_expression(stmt.iter, self.resolver.frame(fn))
                    if policy is not None:
                        yield stmt, policy

    @staticmethod
    def _calls_policy(site: CallSite, words: RetryWords) -> bool:
        """Whether what is called is, by its name, a policy made here: `Retrying(…)(fetch)`, `again = Retrying(…)`."""
        called = site.call.fn
        if isinstance(called, f.Ref) and "." not in called.name:
            defs = site.fn.body.definitions.get(called.name, ())
            called = defs[0].expr if len(defs) == 1 and defs[0].expr is not None else called
        return isinstance(called, f.Call) and last_name(called.fn) in words.policies

    def written(self) -> Iterator[Policy]:
        """Every policy outside of tests that code makes or applies; one may come several times."""
        program = self.program
        for language in CODE:
            table = program.knowledge.of(language)
            for path in self._starting(self._homes, language):
                module = program.names.modules[path]
                if module.is_test:
                    continue
                maker = path in self._makers[language]
                words = self._words(module)
                for fn in module.functions:
                    if fn.head.decorators or language == "java":
                        yield from self.of_function(fn)
                        yield from self._asked_again(fn)
                    if any(_last(c) in words.every or (maker and not _last(c)) for c in fn.head.calls):
                        yield from self._written_in(fn, table)

    def _written_in(self, fn: Fun, table: Table) -> Iterator[Policy]:
        frame = self.resolver.frame(fn)
        words = self._words(fn.module)
        for site in fn.body.calls:
            if site.last in words.reruns or self._calls_policy(site, words):
                yield from (policy for policy in self.of_call(site) if policy.runs is not None)
            if site.last not in words.every:
                continue
            for flow in self.resolver.ask(site.call, frame):
                thing = flow.thing
                row = self._row(thing, table) if isinstance(thing, Obj) else None
                if row is None or row.form not in ("policy", "client") or not isinstance(thing, Obj) or thing.frame is None:
                    continue
                piece = self._of_object(thing)
                own = table.bounds(self.resolver.external_type(thing)) if row.form == "client" else ()
                if piece is None:
                    continue
                endless = piece.tries == inf and "attempts" in piece.written
                placed = row.form == "policy" or any(
                    (b.slot in _PAUSE and not is_fixed(b)) or (endless and b.slot == "attempts" and b.disabled) for b in own
                )
                if not placed:
                    continue
                if row.form == "policy" or endless or piece.written & _PAUSE:
                    yield self._policy(piece, (fn, site.call), self._name(thing))

    def of_function(self, fn: Fun) -> tuple[Policy, ...]:
        """The policies around a function, innermost first: its decorators or annotations, then those of its class."""
        found = self._functions.get(fn)
        if found is None:
            found = self._functions[fn] = tuple(self._around(fn))
        return found

    def of_call(self, site: CallSite, frame: Frame | None = None) -> tuple[Policy, ...]:
        """The policies of a call, innermost first: what its client does by itself, then what the call runs again (`runs`)."""
        table = self.resolver.table(site.fn.module)
        out: list[Policy] = []
        if not self._has_retries(table):
            return ()
        applies = site.last in table.retry_words.every or not last_name(site.call.fn)
        for target in self.program.targets(site, frame):
            row = table.retry(target.name) if applies else None
            if row is not None and row.form == "call":
                policy = self._of_run(row, target, site, table)
                if policy is not None:
                    out.append(policy)
            elif target.entry is not None and target.entry.does in ("network", "query", "connect") and target.holder is not None:
                policy = self.of_client(target.holder)
                if policy is not None:
                    out.append(policy)
            elif isinstance(target.flow.thing, Obj):
                policy = self._of_called(target.flow.thing, target.binds, site, table)
                if policy is not None:
                    out.append(policy)
        return tuple(dict.fromkeys(out))

    def of_client(self, client: Obj, call: tuple[Fun, f.Node] | None = None) -> Policy | None:
        """What a client, or what it was made from, repeats by itself; `None` where nothing is known that it does. `call`: the place
        that stands for an object which a library makes itself."""
        if client.kind == "instance":
            return self._of_client(client, call)
        if client not in self._clients:
            self._clients[client] = None
            self._clients[client] = self._of_client(client)
        return self._clients[client]

    def of_expression(self, expr: f.Expr, frame: Frame) -> Policy | None:
        """The policy that an expression is: `for attempt in Retrying(…)`."""
        table = self.resolver.table(frame.fn.module)
        for flow in self.resolver.ask(expr, frame):
            if isinstance(flow.thing, Obj) and self._row(flow.thing, table) is not None:
                piece = self._of_object(flow.thing)
                if piece is not None:
                    return self._policy(piece, (frame.fn, expr), self._name(flow.thing))
        return None

    # ------------------------------------------------------------ functions

    def _around(self, fn: Fun) -> Iterator[Policy]:
        language = fn.module.language
        if language == "java":
            yield from self._annotated(fn)
        elif language == "python" and fn.head.decorators and fn.module.path in self._near:
            scope = fn.module.functions[fn.head.parent if fn.head.parent > 0 else 0]
            frame = self.resolver.frame(scope)
            for decorator in reversed(fn.head.decorators):
                head = last_name(decorator.fn if isinstance(decorator, f.Call) else decorator)
                if head in self._words_of_python:
                    policy = self._of_decorator(decorator, frame)
                    if policy is not None:
                        yield policy

    def _of_decorator(self, decorator: f.Expr, frame: Frame) -> Policy | None:
        table = self.resolver.table(frame.fn.module)
        for flow in self.resolver.ask(decorator, frame):
            thing = flow.thing
            piece: _Piece | None = None
            name = ""
            if isinstance(thing, Ext | BoundVal):
                name = self.resolver.canonical(thing)
                row = table.retry(name)
                if row is not None and row.form in ("policy", "client") and row.active_with is None:
                    piece = self._of_row(row, (), (frame.fn, decorator), None, table)
            elif isinstance(thing, Obj):
                name = self._name(thing)
                piece = self._of_object(thing)
            elif isinstance(thing, FnVal):
                # `def steady(fn): return retry(…)(fn)`
                return self._of_wrapper(thing, table)
            if piece is not None:
                return self._policy(piece, (frame.fn, decorator), name)
        return None

    def _asked_again(self, fn: Fun) -> Iterator[Policy]:
        """The policies of a function that asks by itself to be run again. Each of its runs is a piece of work of its own, so they
        are not among those around it."""
        if fn.module.language != "python" or fn.module.path not in self._near or not fn.positional or self.of_function(fn):
            return
        scope = fn.module.functions[fn.head.parent if fn.head.parent > 0 else 0]
        frame = self.resolver.frame(scope)
        table = self.resolver.table(fn.module)
        for decorator in fn.head.decorators:
            if last_name(decorator.fn if isinstance(decorator, f.Call) else decorator) not in self._words_of_python:
                continue
            for thing in (flow.thing for flow in self.resolver.ask(decorator, frame)):
                name = self._name(thing) if isinstance(thing, Obj) else self.resolver.canonical(thing)
                row = table.retry(name)
                if row is not None and row.again is not None:
                    yield from self._runs_again(fn, row, row.again, self._args(thing) if isinstance(thing, Obj) else (), table)

    def _runs_again(self, fn: Fun, row: RetryRow, again: AgainRow, made: tuple[Bind, ...], table: Table) -> Iterator[Policy]:
        may_end = any(
            isinstance(n, f.Ref) and (again.counts in n.name or CLOCK.search(n.name))
            for stmt, _ in fn.body.stmts
            if isinstance(stmt, f.If | f.Loop) and stmt.test is not None
            for n in walk(stmt.test)
        )
        sure = Confidence.LOW if table.library_of(row).verified is False else Confidence.HIGH
        told = f"{fn.positional[0].name}.{again.method}"
        for site in fn.body.calls:
            arms = site.arm.chain()
            at = next((i for i, arm in enumerate(arms) if arm.kind == "handler" and isinstance(arm.node, f.Try)), None)
            if dotted(site.call.fn) != told or at is None:
                continue
            node = arms[at].node
            handler = next((h for h in node.handlers if h.at <= site.call.at < h.end), None) if isinstance(node, f.Try) else None
            if handler is None:
                continue
            frame = self.resolver.frame(fn)
            here = (fn, site.call)
            own = self.slots.at_call(again.bounds, self.resolver.binds(site.call, frame), here)
            sources = (*own, *self.slots.at_call(again.made, made, here))
            piece = self._filled(_Piece(where=here, confidence=sure, chosen=True), decide(sources))
            if piece.waves is None or None in (wave.first for wave in piece.waves):
                piece = self._counted(piece, again, site)
            if piece.tries == inf and (may_end or any(isinstance(n, f.If) for n in walk_block(handler.body))):
                piece = replace(piece, tries=None)  # A test of its own may end it.
            errors = tuple(x for kind in handler.types for x in self._error_names(kind, frame, 0))
            yield self._policy(replace(piece, errors=errors), here, told)

    @staticmethod
    def _counted(piece: _Piece, again: AgainRow, site: CallSite) -> _Piece:
        """Pauses that a function works out from how often it was run: `countdown=2 ** self.request.retries`."""
        names = {bound.arg for bound in again.bounds if bound.slot == "backoff" and bound.unit != "count"}
        told = next((a.value for a in site.call.args if a.name in names), None)
        if told is None or not any(isinstance(n, f.Ref) and again.counts in n.name for n in walk(told)):
            return piece
        pauses = [_worked_out(told, again.counts, float(number)) for number in range(_COUNTED)]
        known = [pause for pause in pauses if pause is not None and pause >= 0]
        if len(known) < _COUNTED:
            return piece
        return replace(piece, waves=(), chain=tuple((Wave(pause),) for pause in known), pause_at=(site.fn, told))

    def _of_wrapper(self, thing: FnVal, table: Table) -> Policy | None:
        fn = thing.fn
        first = next((p.name for p in fn.head.params if p.kind != "self"), "")
        for site in fn.body.calls:
            if isinstance(site.call.fn, f.Call) and any(
                isinstance(a.value, f.Ref) and a.value.name == first for a in site.call.args
            ):
                frame = self.resolver.frame(fn)
                for flow in self.resolver.ask(site.call.fn, frame):
                    if isinstance(flow.thing, Obj) and self._row(flow.thing, table) is not None:
                        piece = self._of_object(flow.thing)
                        if piece is not None:
                            return self._policy(piece, (fn, site.call.fn), self._name(flow.thing))
        return None

    def _annotated(self, fn: Fun) -> Iterator[Policy]:
        owner = self.resolver.owner(fn)
        table = self.resolver.table(fn.module)
        places: list[tuple[tuple[f.Expr, ...], Fun | Klass]] = [(fn.head.decorators, fn)]
        if owner is not None and fn.head.kind == "method" and fn.name != "__init__":
            places.append((owner.decl.decorators, owner))
        for decorators, where in places:
            found = False
            for annotation in decorators:
                name = dotted(annotation.fn if isinstance(annotation, f.Call) else annotation)
                if name.rpartition(".")[2] not in table.retry_words.policies:
                    continue
                full = self.resolver.names.java.type(name, where)
                row = table.retry(full) if isinstance(full, str) else None
                if row is not None and row.form == "annotation" and isinstance(full, str):
                    policy = self._of_annotation(row, annotation, fn, full, table)
                    if policy is not None:
                        found = True
                        yield policy
            if found:
                break

    def _of_annotation(self, row: RetryRow, annotation: f.Expr, fn: Fun, name: str, table: Table) -> Policy | None:
        if row.enabled_by and not any(self._is_enabled(one) for one in row.enabled_by):
            return None
        frame = self.resolver.frame(fn)
        binds = tuple(Bind(a.value, frame, a.name) for a in annotation.args) if isinstance(annotation, f.Call) else ()
        if row.instance is not None:
            bind, _ = self.slots.find_bind(row.instance, 0, binds)
            text = bind.expr.value if bind is not None and isinstance(bind.expr, f.Lit) else None
            if not isinstance(text, str):
                return None
            return self._of_instance(row, text, (fn, annotation), name, fn.module.path)
        piece = self._of_row(row, binds, (fn, annotation), None, table)
        return None if piece is None else self._policy(piece, (fn, annotation), name)

    def _is_enabled(self, annotation: str) -> bool:
        """Whether a class of the program carries an annotation that switches others on."""
        found = self._enabled.get(annotation)
        if found is None:
            last = annotation.rpartition(".")[2]
            found = self._enabled[annotation] = any(
                dotted(d.fn if isinstance(d, f.Call) else d).rpartition(".")[2] == last
                for klass in self.program.names.all_classes()
                if klass.module.language == "java"
                for d in klass.decl.decorators
            )
        return found

    # ------------------------------------------------------------ settings

    def of_settings(self) -> Iterator[Policy]:
        """The policies that settings describe by name, each as its file and profile have it."""
        surfaces = self.program.surfaces
        for row in self._configurable:
            for root in row.settings:
                if "*" not in root:
                    continue
                start = tuple(relaxed(part) for part in split(root.partition(".*")[0]))
                names: dict[tuple[str, str, str], None] = {}
                for written in surfaces.written:
                    named = written.normal[: len(start)] == start and len(written.key) > len(start) + 1
                    if named and not self.program.settings.is_test(written.path):
                        names.setdefault((written.path, written.profile, written.key[len(start)]))
                for path, profile, name in names:
                    policy = self._of_instance(row, name, None, f"retry {name}", path, profile)
                    if policy is not None:
                        yield policy

    @cached_property
    def _configurable(self) -> list[RetryRow]:
        libraries = self.program.knowledge.libraries
        return [row for library in libraries for row in library.retries if row.settings]

    def _of_instance(
        self, row: RetryRow, name: str, where: Where | None, owner: str, near: str, profile: str | None = None
    ) -> Policy | None:
        """What settings say of an instance by name: those of the same project first, of one profile where it is given."""
        surfaces = self.program.surfaces

        def looked_up(root: str, key: str, name: str) -> Written | None:
            found = surfaces.setting(f"{root.replace('*', name)}.{key}")
            home = [written for written in found if project_of(written.path) == project_of(near)]
            if profile is not None:
                home = [written for written in home if written.path == near and written.profile == profile] or [
                    written for written in home if not written.profile
                ]
            return next(reversed(home or (found if profile is None else [])), None)

        roots = [(root, name) for root in row.settings]
        for root in row.settings if row.base is not None else ():
            base = looked_up(root, row.base or "", name)
            if base is not None and row.bases is not None:
                roots.insert(len(row.settings) - 1, (row.bases, base.text.strip()))
        keys: dict[str, Written] = {}
        for root, called in reversed(roots):
            for key in (*(bound.setting or "" for bound in row.bounds), *row.switches.values()):
                written = looked_up(root, key, called)
                if written is not None:
                    keys[key] = written
        return self._configured(row, keys, where, owner)

    def _configured(self, row: RetryRow, keys: dict[str, Written], where: Where | None, owner: str) -> Policy | None:
        """A policy of the keys that describe it, each by the last segments of its name."""
        program = self.program
        numbers: dict[str, float | None] = {}
        steps: list[Step] = []
        spans: dict[str, Span] = {}
        for bound in row.bounds:
            switch = row.switches.get(bound.slot)
            if switch is not None and (switch not in keys or keys[switch].text.strip().lower() != "true"):
                continue
            written = keys.get(bound.setting or "")
            if written is None:
                if isinstance(bound.default, int | float):
                    numbers.setdefault(bound.slot, float(bound.default))
                elif bound.default == "endless":
                    numbers.setdefault(bound.slot, inf)
                continue
            number = self._of_text(bound, written)
            numbers[bound.slot] = number
            spans[bound.slot] = program.surfaces.span(written)
            steps.append(program.surfaces.step(written, f"{written.last} is set here"))
        if not spans and where is None:
            return None
        span = spans.get("attempts") or (program.span_of(*where) if where is not None else next(iter(spans.values())))
        wave = Wave(
            numbers.get("backoff", 0.0),
            numbers.get("growth", 1.0),
            numbers.get("growth_step") or 0.0,
            numbers.get("backoff_min") or 0.0,
            numbers.get("backoff_max") or inf,
            share=numbers.get("jitter") or 0.0,
            jitter="jitter" in numbers and numbers["jitter"] != 0,
        )
        piece = _Piece(
            tries=numbers.get("attempts", -1.0),
            budget=numbers.get("elapsed", -1.0),
            waves=(wave,),
            written=frozenset(spans),
            steps=tuple(steps),
        )
        policy = self._policy(piece, where, owner, span)
        pause = next((spans[slot] for slot in sorted(_PAUSE) if slot in spans), None)
        return replace(policy, pause_span=pause)

    def _of_text(self, bound: Bound, written: Written) -> float | None:
        numbers: list[float | None] = []
        for text in self.program.surfaces.texts(written):
            judged = judge(bound, text.known, written.surface.bare if written.surface is not None else "ms") if text.whole else None
            if judged is None:
                numbers.append(None)
            else:
                plus = 1 if bound.counts_retries else 0
                numbers.append(inf if judged.off else None if judged.number is None else judged.number + plus)
        known = [number for number in numbers if number is not None]
        return max(known) if known and len(known) == len(numbers) else None

    # ------------------------------------------------------------ calls

    def _of_run(self, row: RetryRow, target: Target, site: CallSite, table: Table) -> Policy | None:
        """The policy of a call that is given an operation to run."""
        where = (site.fn, site.call)
        binds = target.binds
        piece: _Piece | None = None
        if row.policy == -1:
            piece = self._of_object(target.holder) if target.holder is not None else None
        elif row.policy is not None:
            piece = self._of_expr(binds[row.policy].expr, binds[row.policy].frame, table, 0) if row.policy < len(binds) else None
        else:
            piece = self._of_row(row, binds, where, target.holder, table)
        if piece is None:
            return None
        if row.policy is not None:
            piece = self._under_context(piece, row, binds)
        runs: Bind | None = None
        called = site.call.fn
        if row.runs == -1 and isinstance(called, f.Field):
            runs = Bind(called.base, self.resolver.frame(site.fn))
        elif row.runs == -1 and isinstance(called, f.Ref) and "." in called.name:
            base = called.name.rpartition(".")[0]
            runs = Bind(f.Ref(called.at, called.at + len(base), base), self.resolver.frame(site.fn))
        elif row.runs is not None and row.runs >= 0:
            bind, _ = self.slots.find_bind(None, row.runs, binds)
            runs = bind
        policy = self._policy(piece, where, target.name)
        return replace(policy, runs=runs)

    def _of_called(self, holder: Obj, binds: tuple[Bind, ...], site: CallSite, table: Table) -> Policy | None:
        """`Retrying(stop=…)(fetch, key)`: the object is called with the operation first."""
        if not binds or self._row(holder, table) is None:
            return None
        piece = self._of_object(holder)
        if piece is None:
            return None
        return replace(self._policy(piece, (site.fn, site.call), self._name(holder)), runs=binds[0])

    def _of_client(self, client: Obj, call: tuple[Fun, f.Node] | None = None) -> Policy | None:
        obj: Obj | None = client
        for _ in range(_DEEP):
            if obj is None:
                return None
            piece = self._of_object(obj)
            if piece is not None and piece.tries != -1:
                where = (obj.frame.fn, obj.node) if obj.frame is not None and isinstance(obj.node, f.Node) else call
                if where is None:
                    return None
                return self._policy(piece, where, self._name(obj))
            obj = obj.parent
        return None

    # ------------------------------------------------------------ objects

    def _name(self, obj: Obj) -> str:
        kind = self.resolver.external_type(obj)
        maker = obj.maker.partition("#")[0]
        return kind if not maker or maker.startswith(f"{kind}.") else maker

    def _row(self, obj: Obj, table: Table) -> RetryRow | None:
        kind = self.resolver.external_type(obj)
        return table.retry(obj.maker.partition("#")[0]) or (table.retry(kind) if kind else None)

    def _of_object(self, obj: Obj) -> _Piece | None:
        """What an object says of retries; `None` where it has nothing to say."""
        if obj in self._objects:
            return self._objects[obj]
        if obj in self._busy or len(self._busy) > _DEEP:
            return _UNKNOWN
        self._busy.add(obj)
        try:
            found = self._objects[obj] = self._judged(obj)
        finally:
            self._busy.discard(obj)
        return found

    def _judged(self, obj: Obj) -> _Piece | None:
        table = self.program.knowledge.of(self.slots.language(obj))
        row = self._row(obj, table)
        kind = self.resolver.external_type(obj)
        bounds = table.bounds(kind) if kind else ()
        if row is None and not any(bound.slot == "attempts" for bound in bounds):
            return None
        if obj.kind in ("outside", "any") and not isinstance(obj.type, Klass):
            return None
        where = (obj.frame.fn, obj.node) if obj.frame is not None and isinstance(obj.node, f.Node) else None
        binds = obj.binds
        if binds is None and isinstance(obj.node, f.Call) and obj.frame is not None:
            binds = self.resolver.binds(obj.node, obj.frame)
        entry = table.type(kind) if kind else None
        library = table.library_of(row) if row is not None else table.library_of(entry) if entry is not None else None
        unsure = library is not None and library.verified is False
        piece = _Piece(where=where, confidence=Confidence.LOW if unsure else Confidence.HIGH)
        handed = list(self._handed(bounds, binds, table)) if binds is not None else []
        # A time that a client has holds for one try; only what stands around a policy is over all of them.
        sources = [s for s in decide(self.slots.of_object(obj, RETRY - {"total"})) if s.bound.slot in RETRY]
        if row is not None and binds is not None and where is not None:
            own = self._of_row(row, binds, where, obj, table, start=sources)
            if own is None:
                return None
            piece = own
        else:
            piece = self._filled(piece, sources)
        for inner in (*handed, *self._named(sources)):
            piece = _over(inner, piece)
        if isinstance(obj.type, Klass) and any(name != "__init__" for name in obj.type.methods):
            # It decides for itself what it repeats on.
            piece = replace(piece, only="own")
        if row is not None and piece.tries == -1 and piece.budget == -1 and not piece.pauses and obj.parent is not None:
            # What a registry gives is as the registry was told.
            return self._of_object(obj.parent) or piece
        return piece

    def _handed(self, bounds: Iterable[Bound], binds: tuple[Bind, ...], table: Table) -> Iterator[_Piece]:
        """Policies given to a client in the place of a number of tries: `HTTPAdapter(max_retries=Retry(…))`."""
        for bound in bounds:
            if bound.slot != "attempts" or (bound.arg is None and bound.pos is None) or bound.option or bound.setter:
                continue
            bind, _ = self.slots.find_bind(bound.arg, bound.pos, binds)
            if bind is None or (bound.arity and len(binds) not in bound.arity):
                continue
            for flow in self.resolver.ask(bind.expr, bind.frame):
                if isinstance(flow.thing, Obj):
                    piece = self._of_object(flow.thing)
                    if piece is not None:
                        yield piece
                        break

    def _named(self, sources: list[Source]) -> Iterator[_Piece]:
        """Policies that parts of a client were given in the place of a number."""
        for source in sources:
            for slot in source.slots if source.bound.slot == "attempts" else ():
                if slot.flow is not None and isinstance(slot.flow.thing, Obj):
                    piece = self._of_object(slot.flow.thing)
                    if piece is not None:
                        yield piece

    # ------------------------------------------------------------ rows

    def _of_row(
        self,
        row: RetryRow,
        binds: tuple[Bind, ...],
        where: Where,
        obj: Obj | None,
        table: Table,
        around: tuple[Bind, ...] = (),
        start: Iterable[Source] = (),
    ) -> _Piece | None:
        """What a row makes of the arguments it stands with; `around` are those of what it is a part of, `start` what its type
        says."""
        if row.active_with is not None and self.slots.find_bind(row.active_with, None, binds)[0] is None:
            return None
        unsure = table.library_of(row).verified is False
        sure = Confidence.LOW if unsure else Confidence.HIGH
        meant = row.form != "client" and not (row.parts and all(part.optional for part in row.parts))
        base = _Piece(where=where, confidence=sure, only=row.only or "", at_once=row.at_once, chosen=meant)
        if row.form in ("any", "all", "sum", "chain"):
            exprs = [(e, bind.frame) for bind in binds for e in _spread(bind)]
            pieces = [self._of_expr(expr, frame, table, 0, around) or _UNKNOWN for expr, frame in exprs]
            return replace(_joined(row.form, pieces), pause_at=where) if pieces else base
        sources = [*start, *self.slots.at_call(row.bounds, binds, where, obj)]
        chosen = decide(s for s in sources if s.bound.slot in RETRY)
        spread = row.spreads and any(s.bound.slot == "backoff_max" and s.written for s in chosen)
        growth = _wave({source.bound.slot: source for source in chosen}).growth if row.growing else None
        if growth is not None and growth <= 1:
            kept = {"backoff_max"} if spread else frozenset[str]()
            chosen = [s for s in chosen if s.bound.slot not in row.growing or s.bound.slot in kept]
        piece = self._filled(base, chosen)
        if row.form == "part" and piece.pauses:
            piece = replace(piece, pause_at=where)
        if spread and piece.waves:
            piece = replace(piece, waves=tuple(_spread_out(wave) for wave in piece.waves))
        if piece.tries == inf and (
            any(self.slots.find_bind(name, None, binds)[0] is not None for name in row.unless)
            or any(self._is_list(self.slots.find_bind(name, None, binds)[0]) for name in row.ends)
        ):
            piece = replace(piece, tries=None)
        for part in row.parts:
            for inner in self._parts(part, binds, where, obj, table):
                piece = _with_part(piece, inner)
        piece = self._under_context(piece, row, binds)
        errors = tuple(self._errors(row, binds, obj))
        return replace(piece, errors=errors) if errors else piece

    def _is_list(self, bind: Bind | None) -> bool:
        if bind is None:
            return False
        things = (flow.thing for flow in self.resolver.ask(bind.expr, bind.frame))
        return isinstance(bind.expr, f.Coll) or any(isinstance(t, Obj) and isinstance(t.node, f.Coll) for t in things)

    def _under_context(self, piece: _Piece, row: RetryRow, binds: tuple[Bind, ...]) -> _Piece:
        """A policy that ends with the context it is given."""
        for part in row.context:
            budget = self._ends(part, binds)
            if budget is None:
                piece = replace(piece, budget=None)
            elif budget != inf and piece.budget is not None:
                piece = replace(piece, budget=budget if piece.budget == -1 else min(piece.budget, budget))
        return piece

    def _ends(self, part: RetryPart, binds: tuple[Bind, ...]) -> float | None:
        """Seconds after which a context ends it: `inf` where it does not, `None` where that is not known."""
        exprs: list[tuple[f.Expr, Frame]] = []
        if part.pos is not None and part.pos < len(binds):
            exprs.append((binds[part.pos].expr, binds[part.pos].frame))
        for bind in binds if part.option is not None else ():
            for flow in self.resolver.ask(bind.expr, bind.frame):
                args = self._args(flow.thing) if isinstance(flow.thing, Obj) and flow.thing.maker == part.option else ()
                exprs.extend((arg.expr, arg.frame) for arg in args[:1])
        found = [deadline for expr, frame in exprs for deadline in self.program.deadlines.of(expr, frame)]
        if not exprs or (found and all(deadline.kind == "root" for deadline in found)):
            return inf
        numbers = [deadline.number for deadline in found if deadline.kind == "bounded" and deadline.number is not None]
        return max(numbers) if numbers and len(numbers) == len(found) else None

    def _args(self, obj: Obj) -> tuple[Bind, ...]:
        if obj.binds is not None:
            return obj.binds
        return self.resolver.binds(obj.node, obj.frame) if isinstance(obj.node, f.Call) and obj.frame is not None else ()

    def _parts(self, part: RetryPart, binds: tuple[Bind, ...], where: Where, obj: Obj | None, table: Table) -> Iterator[_Piece]:
        unread = _UNREAD[part.says]
        if part.arg is not None or part.pos is not None:
            bind, spread = self.slots.find_bind(part.arg, part.pos, binds)
            if bind is not None:
                piece = self._of_expr(bind.expr, bind.frame, table, 0, binds)
                if piece is not None and not (part.optional and piece is _UNKNOWN):
                    yield unread if piece is _UNKNOWN else piece
            elif spread and not part.optional:
                yield unread
        if part.option is not None:
            for bind in binds:
                for flow in self.resolver.ask(bind.expr, bind.frame):
                    args = self._args(flow.thing) if isinstance(flow.thing, Obj) and flow.thing.maker == part.option else ()
                    if args:
                        yield self._known(self._of_expr(args[0].expr, args[0].frame, table, 0, binds), unread)
        for holder in _chain(obj) if part.setter is not None else ():
            for _site, args in self.slots.method_calls(holder, part.setter or ""):
                if args:
                    yield self._known(self._of_expr(args[0].expr, args[0].frame, table, 0), unread)
        if obj is not None and part.field is not None:
            for flow in self.resolver.written(obj, part.field):
                yield self._known(self._of_flow(flow, where, table, ()), unread)

    @staticmethod
    def _known(piece: _Piece | None, unread: _Piece) -> _Piece:
        return unread if piece is None or piece is _UNKNOWN else piece

    def _of_expr(self, expr: f.Expr, frame: Frame, table: Table, depth: int, around: tuple[Bind, ...] = ()) -> _Piece | None:
        """What an expression says as a part of a policy: operators between parts join them."""
        if depth > _DEEP:
            return _UNKNOWN
        if isinstance(expr, f.New):
            # Java: an annotation inside another.
            name = self.resolver.names.java.type(expr.type.name, frame.fn) if frame.fn.module.language == "java" else None
            row = table.retry(name) if isinstance(name, str) else None
            if row is not None:
                binds = tuple(Bind(p.value, frame, p.key.name if isinstance(p.key, f.Ref) else None) for p in expr.fields)
                return self._of_row(row, binds, (frame.fn, expr), None, table)
        if isinstance(expr, f.Bin):
            left = self._of_expr(expr.left, frame, table, depth + 1)
            right = self._of_expr(expr.right, frame, table, depth + 1)
            how = self._operators(table).get(expr.op)
            if left is None or right is None or how is None:
                return _UNKNOWN
            return _joined(how, [left, right])
        flows = self.resolver.ask(expr, frame)
        if isinstance(expr, f.Ref) and "." not in expr.name and any(isinstance(x.thing, Unknown) for x in flows):
            written = self._written(expr.name, frame.fn)
            if isinstance(written, f.Bin):
                return self._of_expr(written, frame, table, depth + 1, around)
        found = [self._of_flow(flow, (frame.fn, expr), table, around) for flow in flows]
        known = [piece for piece in found if piece is not None]
        if not known:
            return None if all(isinstance(x.thing, Null) for x in flows) else _UNKNOWN
        return known[0] if len(known) == 1 and len(found) == 1 else _joined("all", known)

    @staticmethod
    def _written(name: str, fn: Fun) -> f.Expr | None:
        """What a name of a function or its file is given, where that is one expression."""
        scope: Fun | None = fn
        while scope is not None:
            defs = scope.body.definitions.get(name)
            if defs:
                return defs[0].expr if len(defs) == 1 and defs[0].kind == "value" else None
            scope = scope.parent if scope.parent is not None else scope.module.functions[0] if scope.index else None
        return None

    def _of_flow(self, flow: Flow, where: Where, table: Table, around: tuple[Bind, ...]) -> _Piece | None:
        thing = flow.thing
        if isinstance(thing, Obj):
            row = self._row(thing, table)
            if (
                around
                and row is not None
                and row.form in ("any", "all", "sum", "chain")
                and isinstance(thing.node, f.Call)
                and thing.frame
            ):
                return self._of_row(
                    row, self.resolver.binds(thing.node, thing.frame), (thing.frame.fn, thing.node), None, table, around
                )
            return self._of_object(thing)
        if isinstance(thing, Ext):
            row = table.retry(thing.name)
            if row is None:
                return _UNKNOWN
            # A function given by name takes its arguments from what it is given to.
            return self._of_row(row, around, where, None, table)
        return None if isinstance(thing, Null) else _UNKNOWN

    def _operators(self, table: Table) -> dict[str, Any]:
        return {op: how for library in table.libraries for row in library.retries for op, how in row.operators.items()}

    def _errors(self, row: RetryRow, binds: tuple[Bind, ...], obj: Obj | None) -> Iterator[str]:
        for part in row.errors:
            if part.setter is not None:
                for holder in _chain(obj):
                    for _site, args in self.slots.method_calls(holder, part.setter):
                        if args:
                            yield from self._told_by(args[0].expr, args[0].frame)
                continue
            bind, _ = self.slots.find_bind(part.arg, part.pos, binds)
            if bind is not None:
                yield from self._error_names(bind.expr, bind.frame, 0)

    def _told_by(self, test: f.Expr, frame: Frame) -> Iterator[str]:
        """The classes for which a test of an error holds: `X.class::isInstance`, or a function that asks for classes alone."""
        if isinstance(test, f.Field) and test.name == "isInstance":
            yield from self._error_names(test.base, frame, 0)
            return
        if not isinstance(test, f.Fn):
            yield "?"
            return
        fn = frame.fn.module.functions[test.index]
        for value in (stmt.value for stmt, _ in fn.body.stmts if isinstance(stmt, f.Return)):
            asked = [value]
            while asked:
                part = asked.pop()
                if isinstance(part, f.Bin) and part.op == "or":
                    asked += (part.right, part.left)
                elif isinstance(part, f.Is):
                    yield from (kind.name for kind in part.types)
                elif not (isinstance(part, f.Lit) and part.value is False):
                    yield "?"

    def _error_names(self, expr: f.Expr, frame: Frame, depth: int) -> Iterator[str]:
        if depth > _DEEP:
            return
        if isinstance(expr, f.Coll):
            for pair in expr.items:
                yield from self._error_names(pair.value, frame, depth + 1)
            return
        if isinstance(expr, f.Call):
            for flow in self.resolver.callee(expr, frame):
                row = self.resolver.table(frame.fn.module).retry(self.resolver.canonical(flow.thing))
                if row is not None and row.only == "result":
                    yield _RESULT
                    return
            for arg in expr.args:
                yield from self._error_names(arg.value, frame, depth + 1)
            return
        if isinstance(expr, f.Bin):
            yield from self._error_names(expr.left, frame, depth + 1)
            yield from self._error_names(expr.right, frame, depth + 1)
            return
        if isinstance(expr, f.Ref) and frame.fn.module.language == "java":
            found = self.resolver.names.java.type(expr.name.removesuffix(".class"), frame.fn)
            yield found if isinstance(found, str) else "?"
            return
        for flow in self.resolver.ask(expr, frame):
            if isinstance(flow.thing, Ext):
                yield flow.thing.name
            elif isinstance(flow.thing, Obj) and isinstance(flow.thing.node, f.Coll) and flow.thing.frame is not None:
                yield from self._error_names(flow.thing.node, flow.thing.frame, depth + 1)
            else:
                yield "?"

    # ------------------------------------------------------------ numbers

    def _filled(self, piece: _Piece, sources: list[Source]) -> _Piece:
        """A piece with what slots say."""
        by_slot: dict[str, Source] = {source.bound.slot: source for source in sources}
        written = frozenset(name for name, source in by_slot.items() if source.written)
        tries, budget = piece.tries, piece.budget
        tries_at, pause_at = piece.tries_at, piece.pause_at
        steps = list(piece.steps)
        attempts = by_slot.get("attempts")
        if attempts is not None:
            tries = _tries(attempts)
            tries_at = _place(attempts)
            steps.extend(self._way(attempts))
        elapsed = by_slot.get("elapsed")
        if elapsed is not None:
            budget = _number(elapsed, inf)
            if elapsed.written and (attempts is None or not attempts.written):
                tries_at = _place(elapsed)
            steps.extend(self._way(elapsed))
        total = _number(by_slot["total"], inf) if "total" in by_slot else piece.total
        waves = piece.waves
        pausing = [by_slot[name] for name in sorted(_PAUSE) if name in by_slot]
        if pausing:
            waves = (_wave(by_slot),)
            pause_at = next((at for source in pausing if source.written and (at := _place(source)) is not None), pause_at)
        return replace(
            piece,
            tries=tries,
            budget=budget,
            waves=waves,
            total=total,
            said=piece.said | by_slot.keys(),
            written=piece.written | written,
            tries_at=tries_at,
            pause_at=pause_at,
            steps=tuple(steps),
        )

    def _way(self, source: Source) -> tuple[Step, ...]:
        """How a written number came."""
        slot = next((slot for slot in source.slots if slot.flow is not None), None)
        return self.program.trace(slot.flow.hops) if slot is not None and slot.flow is not None else ()

    def _policy(self, piece: _Piece, where: Where | None, owner: str, span: Span | None = None) -> Policy:
        tries = None if piece.tries is None else inf if piece.tries == -1 and piece.budget != -1 else piece.tries
        if tries == -1:
            tries = None
        budget = inf if piece.budget == -1 else piece.budget
        place = piece.where or where
        at = piece.tries_at or place
        if span is None:
            assert at is not None
            span = self.program.span_of(*at)
        program = self.program
        count = max(_UNCOUNTED, len(piece.chain)) if tries is None else int(min(tries, _MOST_PAUSES + 1)) - 1
        pauses, grows, jitter = _pauses(piece, count)
        confidence = piece.confidence
        if "attempts" not in piece.written and "elapsed" not in piece.written:
            confidence = min(confidence, Confidence.MEDIUM)
        return Policy(
            tries=tries,
            pauses=pauses,
            budget=budget,
            grows=grows,
            jitter=jitter,
            condition=piece.only or self._condition(piece.errors or ()),
            span=span,
            steps=piece.steps,
            owner=owner,
            confidence=confidence,
            covers_all=piece.total,
            default=not piece.written and not piece.chosen,
            told=bool(piece.written) or piece.tries_at is not None or piece.pause_at is not None,
            errors=piece.errors or (),
            pause_span=program.span_of(*piece.pause_at) if piece.pause_at is not None else None,
        )

    def _condition(self, errors: tuple[str, ...]) -> str:
        """What these errors have to do with a peer."""
        if errors and all(name == _RESULT for name in errors):
            return "result"
        if errors and all(name.rpartition(".")[2] in self._local for name in errors):
            return "other"
        return "any"

    @cached_property
    def _local(self) -> frozenset[str]:
        """Classes of errors that a peer has nothing to do with."""
        words = Words(self.program)
        return words.of("failure_end") | words.of("failure_empty") | words.of("failure_local") | words.of("failure_conflict")

    # ------------------------------------------------------------ where to look

    @staticmethod
    def _has_retries(table: Table) -> bool:
        return bool(table.retry_modules)

    @cached_property
    def _homes(self) -> dict[str, frozenset[str]]:
        """By language the files that import a library with policies."""
        out: dict[str, frozenset[str]] = {}
        for language in CODE:

            def imports(module: Module, wanted: frozenset[str] = self.program.knowledge.of(language).retry_modules) -> bool:
                return _imports(module, wanted)

            out[language] = self.program.files_of_code(f"policies {language}", imports, language)
        return out

    def _words(self, module: Module) -> RetryWords:
        """The words of the libraries that a file imports; all of them where a policy may come from another file of Python."""
        found = self._vocabulary.get(module.path)
        if found is None:
            table = self.resolver.table(module)
            known = [words for name, words in table.retry_words_of.items() if _imports(module, frozenset({name}))]
            if not known:
                found = table.retry_words
            elif len(known) == 1:
                found = known[0]
            else:
                found = RetryWords(*(frozenset().union(*(words[at] for words in known)) for at in range(3)))
            self._vocabulary[module.path] = found
        return found

    @cached_property
    def _makers(self) -> dict[str, frozenset[str]]:
        """Those of them that make or apply a policy, by the words they use."""
        out: dict[str, frozenset[str]] = {}
        for language, paths in self._homes.items():

            def makes(module: Module, paths: frozenset[str] = paths) -> bool:
                return module.path in paths and _speaks(module, self._words(module).policies)

            out[language] = self.program.files_of_code(f"policy makers {language}", makes, language)
        return out

    @cached_property
    def _words_of_python(self) -> frozenset[str]:
        """Names that a decorator which is a policy may have: the libraries' own, and all that their users define."""
        modules = self.program.names.modules
        names: set[str] = set(self.program.knowledge.of("python").retry_words.every)
        for path in self._makers["python"]:
            module = modules[path]
            names.update(module.functions[0].body.definitions)
            names.update(fn.name for fn in module.functions)
            names.update(imp.alias for imp in module.facts.imports)
        return frozenset(names)

    @cached_property
    def _near(self) -> frozenset[str]:
        """Python files that import such a library, or something from a file that does."""
        homes = self._makers["python"]
        stems = {path.rpartition("/")[2].removesuffix(".py") for path in homes}
        stems |= {path.split("/")[-2] for path in homes if path.endswith("/__init__.py") and "/" in path}
        near = self.program.files_of_code(
            f"near {sorted(stems)}",
            lambda module: any(
                imp.target.rpartition(".")[2] in stems or (imp.name or "") in stems or imp.target == ""
                for imp in module.facts.imports
            ),
            "python",
        )
        return homes | near


def _worked_out(expr: f.Expr, counts: str, number: float) -> float | None:
    """What arithmetic gives where the names that hold `counts` are `number`; `None`: more goes into it than that."""
    match expr:
        case f.Lit(value=bool()):
            return None
        case f.Lit(value=int() | float() as value):
            return float(value)
        case f.Ref():
            return number if counts in expr.name.rpartition(".")[2] else None
        case f.Call() if last_name(expr.fn) in _PICKS and expr.args:
            given = [_worked_out(a.value, counts, number) for a in expr.args]
            known = [x for x in given if x is not None]
            return _PICKS[last_name(expr.fn)](known) if len(known) == len(given) else None
        case f.Bin(op="+" | "-" | "*" | "**"):
            left, right = _worked_out(expr.left, counts, number), _worked_out(expr.right, counts, number)
            if left is None or right is None or abs(left) > _LARGE or abs(right) > _LARGE:
                return None
            if expr.op == "**":
                return left**right if left > 0 and right <= _LARGE_POWER else None
            return left + right if expr.op == "+" else left - right if expr.op == "-" else left * right
    return None


def _chain(obj: Obj | None) -> Iterator[Obj]:
    """An object and the builders it comes from."""
    for _ in range(_DEEP):
        if obj is None:
            return
        yield obj
        obj = obj.parent


def _spread(bind: Bind) -> list[f.Expr]:
    """The argument, or the elements of a list that is spread over several."""
    if bind.spread == 1 and isinstance(bind.expr, f.Coll):
        return [pair.value for pair in bind.expr.items if not pair.spread]
    return [bind.expr]


def _last(called: str) -> str:
    return called.rpartition(".")[2].rstrip("{")


def _speaks(module: Module, words: frozenset[str]) -> bool:
    """Whether a file calls, or decorates with, something of these names."""
    if any(imp.explicit and imp.name in words for imp in module.facts.imports):
        return True
    for fn in module.functions:
        if any(_last(called) in words for called in fn.head.calls):
            return True
        if any(last_name(d.fn if isinstance(d, f.Call) else d) in words for d in fn.head.decorators):
            return True
    return any(last_name(d.fn if isinstance(d, f.Call) else d) in words for k in module.classes for d in k.decl.decorators)


def _imports(module: Module, wanted: frozenset[str]) -> bool:
    for imp in module.facts.imports:
        if imp.target in wanted or imp.target.partition(".")[0] in wanted or f"{imp.target}.{imp.name}" in wanted:
            return True
        if module.language == "java" and any(imp.target.startswith(f"{one}.") for one in wanted):
            return True
        if module.language == "go" and any(imp.target.startswith(f"{one}/") for one in wanted):
            return True
    return False


# ---------------------------------------------------------------- values


def _tries(source: Source) -> float | None:
    """The most tries that the possibilities of a slot allow; `None` where one of them is not known."""
    most = 0.0
    for slot in source.slots:
        if slot.state in ("disabled", "absent"):
            return inf
        if source.bound.means is not None and (source.bound.unit == "bool" or (slot.number is None and slot.flow is None)):
            return inf if source.bound.means == "endless" else source.bound.means
        if slot.state == "unknown" or slot.number is None:
            return None
        plus = 1 if source.bound.counts_retries and not _is_default(slot) else 0
        most = max(most, slot.number + plus)
    return max(most, 1.0)


def _is_default(slot: Slot) -> bool:
    return (
        slot.passive
        or (slot.flow is None and not slot.given and slot.state == "finite")
        or (slot.flow is not None and slot.number == slot.bound.default and isinstance(slot.flow.thing, Null))
    )


def _number(source: Source, nothing: float) -> float | None:
    """The largest number of a slot; `nothing` where it is absent or switched off on some path, `None` where it is not known."""
    most = 0.0
    for slot in source.slots:
        if slot.state in ("disabled", "absent"):
            most = max(most, nothing)
        elif isinstance(source.bound.means, int | float) and slot.number is None and slot.flow is None:
            most = max(most, float(source.bound.means))
        elif slot.state == "unknown" or slot.number is None:
            return None
        else:
            most = max(most, slot.number)
    return most


def _wave(by_slot: dict[str, Source]) -> Wave:
    first: float | None = 0.0
    if "backoff" in by_slot:
        first = _number(by_slot["backoff"], 0.0)
    growth: float | None = 1.0
    row = by_slot["backoff"].bound if "backoff" in by_slot else None
    first_row = row if _is_written(by_slot, "backoff") else None
    if "growth" in by_slot:
        growth = _number(by_slot["growth"], 1.0)
    if first_row is not None and first_row.growth is not None:
        told = by_slot["growth"].slots if _is_written(by_slot, "growth") else ()
        growth = growth if told and all(slot.number is not None for slot in told) else first_row.growth
    step = _number(by_slot["growth_step"], 0.0) if "growth_step" in by_slot else 0.0
    low = _number(by_slot["backoff_min"], 0.0) if "backoff_min" in by_slot else 0.0
    high = _number(by_slot["backoff_max"], inf) if "backoff_max" in by_slot else inf
    spread, share, jitter = 0.0, 0.0, False if "jitter" not in by_slot else _is_random(by_slot["jitter"])
    if jitter and "jitter" in by_slot:
        unit = by_slot["jitter"].bound.unit
        amount = _number(by_slot["jitter"], 0.0) or 0.0
        if unit == "count":
            share = amount
        elif unit != "bool":
            spread = amount
    if first_row is not None and first_row.random:
        jitter = True
    return Wave(
        None if step is None or low is None else first,
        growth,
        step or 0.0,
        low or 0.0,
        inf if high is None or high == 0 else high,
        spread,
        share,
        jitter,
        start=0 if row is None else row.start,
        fibonacci=row is not None and row.fibonacci,
        over="jitter" in by_slot and by_slot["jitter"].bound.over,
    )


def _is_written(by_slot: dict[str, Source], slot: str) -> bool:
    return slot in by_slot and by_slot[slot].written


def _spread_out(wave: Wave) -> Wave:
    """A pause between the first and the longest, by chance."""
    return wave if wave.growth is None or wave.growth > 1 else wave._replace(first=wave.high, jitter=True)


def _is_random(source: Source) -> bool | None:
    """Whether a slot makes pauses random: a number above nothing, a flag, or a function that does."""
    answers: set[bool | None] = set()
    for slot in source.slots:
        if slot.state in ("disabled", "absent"):
            answers.add(False)
        elif slot.state == "unknown":
            answers.add(None)
        else:
            answers.add(slot.number is None or slot.number > 0)
    return None if None in answers else all(answers)


def _place(source: Source) -> Where | None:
    return next((slot.written for slot in source.slots if slot.written is not None and not _is_default(slot)), None)


def _with_part(own: _Piece, part: _Piece) -> _Piece:
    """A policy that holds another or a part of one: what it was told itself counts beside what the part says."""
    # The first that it is given stands around the others: a time behind the retries is over one try.
    total = own.total if own.total is not None or own.stops else part.total
    merged = replace(_over(part, own), total=total)
    if part.stops and own.stops and own.written & {"attempts", "elapsed"}:
        least = _joined("any", [own, part])
        merged = replace(merged, tries=least.tries, budget=least.budget, tries_at=own.tries_at or part.tries_at)
    if own.waves and part.waves and "backoff" not in own.said:
        # Chance or a limit is said here, how long a pause is in the part.
        extra = own.waves[0]
        waves = tuple(
            wave._replace(
                jitter=extra.jitter if "jitter" in own.said else wave.jitter,
                spread=wave.spread + extra.spread,
                share=max(wave.share, extra.share),
                high=min(wave.high, extra.high),
            )
            for wave in part.waves
        )
        merged = replace(merged, waves=waves)
    return merged


def _over(first: _Piece, second: _Piece | None) -> _Piece:
    """What the first says, and of what it says nothing, what the second does."""
    if second is None:
        return first
    return replace(
        first,
        tries=first.tries if first.stops else second.tries,
        budget=first.budget if first.stops else second.budget,
        waves=first.waves if first.pauses else second.waves,
        chain=first.chain if first.pauses else second.chain,
        said=first.said | second.said,
        written=first.written | second.written,
        where=second.where or first.where,
        tries_at=first.tries_at if first.stops else second.tries_at,
        pause_at=(first.pause_at or first.where) if first.pauses else second.pause_at,
        steps=(*second.steps, *first.steps),
        confidence=min(first.confidence, second.confidence),
        only=first.only or second.only,
        chosen=first.chosen or second.chosen,
        at_once=first.at_once or second.at_once,
        errors=first.errors if first.errors is not None else second.errors,
    )


def _joined(how: str, pieces: list[_Piece]) -> _Piece:
    """Several parts as one: whichever ends it first, all of them together, their pauses added or one after another."""
    first = pieces[0]
    written = frozenset(name for piece in pieces for name in piece.written)
    steps = tuple(step for piece in pieces for step in piece.steps)
    confidence = min(piece.confidence for piece in pieces)
    tries_at = next((piece.tries_at for piece in pieces if piece.tries_at is not None), None)
    pause_at = next((piece.pause_at for piece in pieces if piece.pause_at is not None), None)
    common = replace(first, written=written, steps=steps, confidence=confidence, tries_at=tries_at, pause_at=pause_at)
    if how in ("any", "all"):
        choose = min if how == "any" else max
        waves = common.waves
        if how == "all" and any(piece.waves != first.waves for piece in pieces):
            waves = None
        return replace(
            common,
            tries=_chosen(choose, [piece.tries for piece in pieces], how),
            budget=_chosen(choose, [piece.budget for piece in pieces], how),
            waves=waves,
        )
    if any(piece.waves is None or piece.chain for piece in pieces):
        return replace(common, waves=None, chain=())
    if how == "sum":
        return replace(common, waves=tuple(wave for piece in pieces for wave in piece.waves or ()))
    return replace(common, waves=(), chain=tuple(piece.waves or (Wave(0.0),) for piece in pieces))


def _chosen(choose: Any, numbers: list[float | None], how: str) -> float | None:
    """The number that counts: one that says nothing neither ends it (`any`) nor lets it end (`all`)."""
    said = [inf if number == -1 else number for number in numbers]
    if all(number == -1 for number in numbers):
        return -1.0
    known = [number for number in said if number is not None]
    if len(known) < len(said):
        return None
    return float(choose(known))


def _pauses(piece: _Piece, count: int) -> tuple[tuple[float, ...] | None, bool | None, bool | None]:
    """The first pauses, whether they grow, whether chance spreads them."""
    if not piece.waves and not piece.chain:
        return None, None, None
    out: list[float] = [0.0] if piece.at_once and count and piece.waves else []
    if piece.chain:
        for index in range(count):
            # Each knows how many tries there were, not since when it is its turn.
            pause = _added(piece.chain[min(index, len(piece.chain) - 1)], index)
            if pause is None:
                return None, None, None
            out.append(pause)
        flags = [wave.jitter for link in piece.chain for wave in link]
        return tuple(out), len(set(out)) > 1, _any(flags)
    waves = piece.waves or ()
    for index in range(len(out), count):
        pause = _added(waves, index)
        if pause is None:
            return None, _any([wave.grows for wave in waves]), _any([wave.jitter for wave in waves])
        out.append(pause)
    grows = _any([wave.grows for wave in waves])
    following = out[1:] if piece.at_once else out
    if grows and len(following) > 1 and len(set(following)) == 1:
        grows = False  # The tries end before it does, below the shortest pause.
    return tuple(out), grows, _any([wave.jitter for wave in waves])


def _added(waves: tuple[Wave, ...], index: int) -> float | None:
    pauses = [wave.pause(index) for wave in waves]
    return None if None in pauses else sum(pause for pause in pauses if pause is not None)


def _any(flags: list[bool | None]) -> bool | None:
    return True if True in flags else None if None in flags else False
