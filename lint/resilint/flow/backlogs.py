"""Queues outside the process: of brokers, as code and settings declare them, what consumers hold of them, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from resilint import facts as f
from resilint.flow.lists import Words, words
from resilint.flow.marks import counts, keys_of, matches_path, plain, prefixes, steps_of
from resilint.flow.slots import decide
from resilint.flow.surfaces import judge
from resilint.flow.timeouts import Fault
from resilint.flow.values import Bind, Env, Null, Num, Obj, Text
from resilint.knowledge.schema import BacklogRow, ConsumeRow, DeclareRow, SettingMark
from resilint.link.code import CallSite, Fun, Module, called_part, dotted, last_name
from resilint.link.looks import any_small, matching
from resilint.model import Confidence, Span, Step, Value

if TYPE_CHECKING:
    from resilint.flow.scans import Query
    from resilint.program import Program

_MOST_LINKS = 40


class _Policy(NamedTuple):
    """A rule of a broker that limits the queues whose names are of a pattern."""

    pattern: str
    step: Step


class _Declared(NamedTuple):
    """A place that declares a queue: the row, what is written there, and what follows on its result."""

    row: DeclareRow
    fn: Fun
    node: f.Node
    binds: tuple[Bind, ...]
    fields: tuple[f.Pair, ...]
    behind: tuple[f.Call, ...]


class Backlogs:
    """Finds what keeps messages outside the process without a limit."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.words = Words(program)
        self._spoken: dict[tuple[str, ...], bool] = {}

    def unlimited(self) -> Iterator[Fault]:
        """Queues, streams and tables without a limit of length or age, and consumers that take whatever there is (RS404)."""
        found: dict[Span, Fault] = {}
        for fault in (
            *self._in_settings(),
            *self._prefetched(),
            *self._in_code(),
            *self._consumed(),
            *self._switched_off(),
            *self._tables(),
        ):
            found.setdefault(fault.span, fault)
        yield from sorted(found.values(), key=lambda fault: fault.span)

    def _is_dead_letter(self, name: str) -> bool:
        known = self.words.of("dead_letter")
        return any(word in known for word in words(name)) or name.lower() in known

    # ------------------------------------------------------------ settings of brokers

    @cached_property
    def _rows(self) -> tuple[BacklogRow, ...]:
        return tuple(row for library in self.program.knowledge.libraries for row in library.backlogs)

    @cached_property
    def _documents(self) -> list[tuple[BacklogRow, str, tuple[f.Setting, ...]]]:
        """Documents of settings that a row speaks of, also only of its policies."""
        return self.program.settled("backlogs", self._find_documents)

    def _find_documents(self) -> list[tuple[BacklogRow, str, tuple[f.Setting, ...]]]:
        found: list[tuple[BacklogRow, str, tuple[f.Setting, ...]]] = []
        for path in sorted(self.program.files):
            facts = self.program.files[path]
            if not facts.settings or self.program.settings.is_test(path):
                continue
            rows = [row for row in self._rows if not row.formats or facts.kind in row.formats]
            written = keys_of(facts.settings) if rows else frozenset()
            rows = [row for row in rows if _may_stand(row, written)]
            documents: dict[int, list[f.Setting]] = {}
            for setting in facts.settings if rows else ():
                documents.setdefault(setting.doc, []).append(setting)
            found.extend((row, path, tuple(settings)) for settings in documents.values() for row in rows)
        return found

    def _in_settings(self) -> Iterator[Fault]:
        for row, path, settings in self._documents:
            if not all(_stands(mark, settings) for mark in row.document):
                continue
            for inside in _blocks(row.block, settings):
                fault = self._judge_block(row, path, inside)
                if fault is not None:
                    yield fault

    def _judge_block(self, row: BacklogRow, path: str, inside: dict[tuple[str, ...], f.Setting]) -> Fault | None:
        if any(_in_block(mark, inside) is not None for mark in (*row.limits, *row.temporary)):
            return None
        named = _in_block(SettingMark(key=row.name), inside)
        if row.endless:
            endless = next((s for mark in row.endless if (s := _in_block(mark, inside)) is not None), None)
            if endless is None:
                return None
            span = self.program.span(path, min(endless.key_at, endless.at), max(endless.end, endless.key_end))
            text = f"`{endless.path[-1]}: {endless.text}` keeps messages of a {row.what} for ever: only its disk limits it"
            return Fault(span, text, Value(inf, self.program.knowledge.sure(row)))
        if named is None or self._is_dead_letter(named.text) or self._policy_for(named.text) is not None:
            return None
        root = inside.get(())
        at = root if root is not None and root.kind == "map" else named
        start = min(at.key_at, at.at) if at.key_at else at.at
        span = self.program.span(path, start, named.end)
        text = f"{row.what} `{_short(named.text)}` has neither a limit of length nor of age: a slow consumer fills the broker"
        return Fault(span, text, Value(inf, self.program.knowledge.sure(row)))

    @cached_property
    def _policies(self) -> tuple[_Policy, ...]:
        found: list[_Policy] = []
        for row, path, settings in self._documents:
            if not row.policy or not all(_stands(mark, settings) for mark in row.policy_document):
                continue
            for inside in _blocks(row.policy, settings):
                limit = next((s for mark in row.policy_limits if (s := _in_block(mark, inside)) is not None), None)
                pattern = _in_block(SettingMark(key=row.pattern), inside)
                if limit is not None and pattern is not None:
                    found.append(_Policy(pattern.text, Step(self.program.span(path, limit.at, limit.end), "a policy limits it")))
        return tuple(found)

    def _policy_for(self, name: str) -> _Policy | None:
        return next((policy for policy in self._policies if _fits(policy.pattern, name)), None)

    def _prefetched(self) -> Iterator[Fault]:
        """Settings of consumers that take any number of messages."""
        for placed in self.program.surfaces.placed:
            if placed.row.slot != "prefetch":
                continue
            for text in self.program.surfaces.texts(placed.written):
                if text.whole and judge(placed.row, text.known).off:
                    said = f"`{placed.written.spelled}: {text.known}`"
                    sure = self.program.knowledge.sure(placed.row)
                    yield self._unlimited_prefetch(self.program.surfaces.span(placed.written), said, text.steps, sure)

    @staticmethod
    def _unlimited_prefetch(span: Span, said: str, steps: tuple[Step, ...] = (), sure: Confidence = Confidence.HIGH) -> Fault:
        text = f"{said} lets the broker push all messages it has into the consumer's memory at once"
        return Fault(span, text, Value(inf, sure, steps))

    # ------------------------------------------------------------ code

    @cached_property
    def _declaring(self) -> dict[str, list[tuple[DeclareRow, frozenset[str]]]]:
        """What declares such a thing, by language, with the modules that are evidence for the library."""
        out: dict[str, list[tuple[DeclareRow, frozenset[str]]]] = {}
        for library in self.program.knowledge.libraries:
            modules = frozenset(library.modules)
            if library.declares and self._imported_somewhere(modules, library.language):
                out.setdefault(library.language, []).extend((row, modules) for row in library.declares)
        return out

    def _imported_somewhere(self, modules: frozenset[str], language: str) -> bool:
        return not modules.isdisjoint(self._imported.get(language, ()))

    @cached_property
    def _imported(self) -> dict[str, set[str]]:
        """What the files of each language import, tests left out, with every package above it."""

        def found() -> dict[str, set[str]]:
            written: dict[str, set[str]] = {}
            for module in self.program.start_modules():
                if not module.is_test:
                    written.setdefault(module.language, set()).update(module.imported)
            return written

        def renewed(known: dict[str, set[str]]) -> dict[str, set[str]]:
            more = found()
            return {language: known.get(language, set()) | more.get(language, set()) for language in known.keys() | more.keys()}

        return self.program.kept("imported", found, renewed)

    def _in_code(self) -> Iterator[Fault]:
        for declared in self._declarations():
            fault = self._judge_declared(declared)
            if fault is not None:
                yield fault

    def _declarations(self) -> Iterator[_Declared]:
        for language, rows in self._declaring.items():
            lasts = {name.rpartition(".")[2] for row, _ in rows for name in row.names}
            callers = self.program.names.callers_of
            found = {fn for last in lasts for name in (last, last + "{") for fn in callers.get(name, ())}
            for fn in sorted(found, key=lambda fn: fn.key):
                module = fn.module
                if module.language != language or module.is_test or not self.program.in_focus(fn):
                    continue
                # What is handed over needs no import in Python.
                near = [row for row, modules in rows if language == "python" or not modules.isdisjoint(module.imported)]
                if near:
                    yield from self._declared_in(fn, near, lasts)

    def _declared_in(self, fn: Fun, rows: list[DeclareRow], lasts: set[str]) -> Iterator[_Declared]:
        frame = self.resolver.frame(fn)
        for site in fn.body.calls:
            if site.last not in lasts:
                continue
            for target in self.program.targets(site):
                row = self._row_named(target.name, rows, fn)
                if row is not None and (not row.arity or len(target.binds) in row.arity):
                    yield _Declared(row, fn, site.call, target.binds, (), tuple(_behind(site)))
                    break
        for new, _, _ in fn.body.news:
            if new.type.name.rpartition(".")[2] in lasts:
                name = self.resolver.resolve_type(new.type, fn)
                row = self._row_named(name, rows, fn) if isinstance(name, str) else None
                if row is not None:
                    written = tuple(Bind(pair.value, frame, last_name(pair.key)) for pair in new.fields if pair.key is not None)
                    yield _Declared(row, fn, new, written, new.fields, ())

    def _row_named(self, name: str, rows: Iterable[DeclareRow], fn: Fun) -> DeclareRow | None:
        return next((row for row in rows if name and any(self._same(name, known, fn) for known in row.names)), None)

    def _same(self, name: str, known: str, fn: Fun) -> bool:
        """Whether two canonical names are of one call: by an alias or a base of its type too."""
        if name == known:
            return True
        owner, _, member = name.rpartition(".")
        kind, _, wanted = known.rpartition(".")
        if member != wanted or not owner:
            return False
        return any(kind in (level.name, *level.aliases) for level in self.resolver.table(fn.module).mro(owner))

    def _judge_declared(self, declared: _Declared) -> Fault | None:
        row = declared.row
        if any(self._is_set(x) for x in self._given(declared, row.temporary)):
            return None
        if any(bind.spread for bind in declared.binds):
            return None
        for bind in self._given(declared, row.limits):
            if self._limits(bind):
                return None
        for call in declared.behind:
            last = last_name(call.fn)
            if last in row.temporary or last in row.limits:
                return None
            if last in row.mapping and (len(call.args) < 2 or self._may_name(call.args[0].value, declared.fn, row.keys)):
                return None
        for bind in self._given(declared, row.mapping):
            if self._mapping_limits(bind, row.keys) is not False:
                return None
        if row.trimmed_by and any(self._is_called(name, declared.fn.module) for name in row.trimmed_by):
            return None
        name = self._name_of(declared)
        if name is not None and (self._is_dead_letter(name) or not name):
            return None
        if row.by_policy and (self._policy_for(name) if name else self._policies):
            return None
        if row.heeded_by and not self._speaks_of(row.heeded_by):
            return None
        node = called_part(declared.node) if isinstance(declared.node, f.Call) else declared.node
        shown = f"{row.what} `{_short(name)}`" if name else f"a {row.what}"
        text = f"{shown} is declared with neither a limit of length nor of age: a slow consumer fills the broker"
        sure = self.program.knowledge.sure(row, Confidence.MEDIUM)
        return Fault(self.program.span_of(declared.fn, node), text, Value(inf, sure))

    def _speaks_of(self, texts: tuple[str, ...]) -> bool:
        """Whether one of these fits something in the program: in its code, or in what it is deployed and set up with."""
        if texts not in self._spoken:
            wanted = matching("|".join(texts).encode())
            paths = (path for path in self.program.files if not self.program.settings.is_test(path))
            self._spoken[texts] = any(self.program.says(path, wanted) for path in paths)
        return self._spoken[texts]

    def _given(self, declared: _Declared, names: Iterable[str | int]) -> Iterator[Bind]:
        for name in names:
            if isinstance(name, str):
                yield from (bind for bind in declared.binds if bind.name == name)
            else:
                positional = [bind for bind in declared.binds if bind.name is None]
                if not declared.fields and name < len(positional):
                    yield positional[name]

    def _made_with(self, holder: Obj, names: tuple[str | int, ...]) -> Iterator[Bind]:
        """Arguments of these names that an object was made with."""
        if isinstance(holder.node, f.Call) and holder.frame is not None:
            yield from (bind for bind in self.resolver.binds(holder.node, holder.frame) if bind.name in names)

    def _is_set(self, bind: Bind) -> bool:
        """Whether an argument is true, or not known to be false."""
        if isinstance(bind.expr, f.Lit):
            return bool(bind.expr.value)
        flows = self.resolver.ask(bind.expr, bind.frame)
        return not flows or any(
            not isinstance(x.thing, Null) and not (isinstance(x.thing, Num) and not x.thing.number) for x in flows
        )

    def _limits(self, bind: Bind) -> bool:
        """Whether a value limits, or may: it is not known to be none, zero or below."""
        for flow in self.resolver.ask(bind.expr, bind.frame) or (None,):
            if flow is None or not (isinstance(flow.thing, Null) or (isinstance(flow.thing, Num) and flow.thing.number <= 0)):
                return True
        return False

    def _mapping_limits(self, bind: Bind, keys: tuple[str, ...]) -> bool | None:
        """Whether a mapping holds one of these keys; `None`: not known."""
        for flow in self.resolver.ask(bind.expr, bind.frame):
            thing = flow.thing
            if isinstance(thing, Null):
                continue
            if isinstance(thing, Obj) and isinstance(thing.node, f.New):
                if thing.frame is None or not all(self._is_plain(pair.key, thing.frame.fn, keys) for pair in thing.node.fields):
                    return None
                if not thing.node.fields and not isinstance(bind.expr, f.New):
                    return None
                continue
            for key in keys:
                got = self.resolver.keyed(thing, key)
                if got is None or got:
                    return None
        return False

    def _is_plain(self, key: Any, fn: Fun, keys: tuple[str, ...]) -> bool:
        """Whether a key is a known text, and none of these."""
        if not isinstance(key, f.Lit | f.Ref):
            return False
        return not self._may_name(key, fn, keys)

    def _may_name(self, expr: f.Expr, fn: Fun, keys: tuple[str, ...]) -> bool:
        texts = [x.thing for x in self.resolver.ask(expr, self.resolver.frame(fn))]
        return not texts or any(not isinstance(t, Text) or t.whole is None or t.whole in keys for t in texts)

    def _is_called(self, name: str, module: Module) -> bool:
        """Whether code of the same language calls something of a name."""
        return any(caller.module.language == module.language for caller in self.program.names.callers(name))

    def _name_of(self, declared: _Declared) -> str | None:
        """The name of what is declared; `None`: not known, empty: the broker makes one up."""
        for bind in self._given(declared, declared.row.named):
            for flow in self.resolver.ask(bind.expr, bind.frame):
                if isinstance(flow.thing, Text):
                    return flow.thing.whole
                if isinstance(flow.thing, Env):
                    return None
        return None

    # ------------------------------------------------------------ consumers

    def _consumed(self) -> Iterator[Fault]:
        rows: dict[str, list[tuple[ConsumeRow, frozenset[str]]]] = {}
        for library in self.program.knowledge.libraries:
            known = frozenset(library.modules)
            if library.consumes and self._imported_somewhere(known, library.language):
                rows.setdefault(library.language, []).extend((row, known) for row in library.consumes)
        for language, consuming in rows.items():
            lasts = {name.rpartition(".")[2] for row, _ in consuming for name in row.names}
            modules = frozenset(m for _, of in consuming for m in of)

            def near(module: Module, modules: frozenset[str] = modules, language: str = language) -> bool:
                return not module.is_test and (language == "python" or not modules.isdisjoint(module.imported))

            for site in self.program.start_sites(lasts.__contains__, language, among=near):
                yield from self._judge_consumer(site, [row for row, _ in consuming])
            entered = {name.rpartition(".")[2] for row, _ in consuming for name in row.entered}
            for site in self.program.start_sites(entered.__contains__, language, among=near) if entered else ():
                if _is_entered(site):
                    yield from self._judge_entered(site, [row for row, _ in consuming])

    def _judge_consumer(self, site: CallSite, rows: list[ConsumeRow]) -> Iterator[Fault]:
        for target in self.program.targets(site):
            row = next((r for r in rows if target.name and any(self._same(target.name, known, site.fn) for known in r.names)), None)
            if row is None or target.holder is None:
                continue
            declared = _Declared(DeclareRow(names=()), site.fn, site.call, target.binds, (), ())
            given = self._given(declared, row.acknowledged)
            fault = self._pushed(site, row, target.holder, tuple(given))
            if fault is not None:
                yield fault
                return

    def _judge_entered(self, site: CallSite, rows: list[ConsumeRow]) -> Iterator[Fault]:
        for flow in self.resolver.ask(site.call, self.resolver.frame(site.fn)):
            holder = flow.thing
            kind = self.resolver.external_type(holder) if isinstance(holder, Obj) else ""
            row = next((r for r in rows if kind and any(self._same(kind, known, site.fn) for known in r.entered)), None)
            fault = self._pushed(site, row, holder, ()) if row is not None and isinstance(holder, Obj) else None
            if fault is not None:
                yield fault
                return

    def _pushed(self, site: CallSite, row: ConsumeRow, holder: Obj, given: tuple[Bind, ...]) -> Fault | None:
        """What is wrong where a broker begins to push to an object."""
        acknowledged = [*given, *self._made_with(holder, row.acknowledged)]
        if any(self._is_set(bind) and not _is_object(bind) for bind in acknowledged):
            return None
        slots = self.program.slots
        sources = decide(s for s in slots.of_object(holder, frozenset({"prefetch"})) if s.bound.slot == "prefetch")
        values = [slot for source in sources for slot in source.slots]
        if not values or any(slot.state not in ("absent", "disabled") for slot in values):
            return None
        off = next((slot for slot in values if slot.state == "disabled" and slot.written is not None), None)
        if off is not None and off.written is not None:
            fn, node = off.written
            step = self.program.step(site.fn, site.call, "it consumes here")
            text = f"prefetch {self.program.text_of(fn, node, 20)}"
            return self._unlimited_prefetch(self.program.span_of(fn, node), text, (step,), self.program.knowledge.sure(row))
        if slots.escaped(holder):
            return None
        text = f"{site.last} with no limit of unacknowledged messages: the broker pushes all it has into the consumer's memory"
        made = (
            (self.program.step(holder.frame.fn, holder.node, "the channel is made here, and nothing sets its prefetch count"),)
            if holder.frame is not None and isinstance(holder.node, f.Node)
            else ()
        )
        sure = self.program.knowledge.sure(row, Confidence.MEDIUM)
        return Fault(self.program.span_of(site.fn, called_part(site.call)), text, Value(inf, sure, made))

    def _switched_off(self) -> Iterator[Fault]:
        """Settings of prefetch in code that are 0."""
        names = self.words.of("prefetch_settings")
        lower = any_small(name.lower().encode() for name in sorted(names))
        for module in self.program.start_modules("python"):
            if module.is_test or not _may_configure(module, names):
                continue
            if not self.program.says(module.path, lower):
                continue
            for fn in module.functions:
                for stmt, _ in fn.body.stmts:
                    for target in stmt.targets if isinstance(stmt, f.Assign) else ():
                        if dotted(target).rpartition(".")[2] in names and isinstance(stmt, f.Assign) and _is_zero(stmt.value):
                            yield self._unlimited_prefetch(
                                self.program.span_of(fn, stmt), f"`{self.program.text_of(fn, stmt, 50)}`"
                            )
                for site in fn.body.calls:
                    for arg in site.call.args:
                        if arg.name in names and _is_zero(arg.value):
                            yield self._unlimited_prefetch(self.program.span_of(fn, arg.value), f"`{arg.name}=0`")
            for klass in module.classes:
                for field in klass.decl.fields:
                    if field.name in names and _is_zero(field.init):
                        yield self._unlimited_prefetch(self.program.span(module.path, field.at, field.end), f"`{field.name} = 0`")

    # ------------------------------------------------------------ tables

    def _tables(self) -> Iterator[Fault]:
        """Tables that the settings declare as queues, of which no row expires and which nobody counts before one more."""
        settings = self.program.settings
        for service in settings.services.values():
            for name in service.queues:
                queries = (
                    [q for q in self.program.scans.queries if any(name.lower() in s.tables for s in q.statements)] if name else []
                )
                queries = [q for q in queries if not service.paths or settings.service_of(q.fn.module.path) is service]
                if queries:
                    fault = self._judge_table(name, queries, settings.place("services", service.name, "queues", name))
                    if fault is not None:
                        yield fault

    def _judge_table(self, name: str, queries: list[Query], place: Span | None) -> Fault | None:
        scans = self.program.scans
        for query in queries:
            for s in query.statements:
                if s.is_open or (s.verb == "select" and s.is_aggregate):
                    return None
                if s.verb in ("delete", "update") and any(scans.is_time(c) for c in s.conditions):
                    return None
        reading = [q for q in queries if any(s.verb == "select" and not scans.is_by_key(s.conditions) for s in q.statements)]
        if not reading:
            return None
        query = reading[0]
        text = (
            f"table `{name}` is a queue that nothing bounds: no row of it expires, and nobody counts them before one more is put in"
        )
        steps: tuple[Step, ...] = (Step(place, "it is declared as a queue"),) if place is not None else ()
        others = [q for q in queries if q.node is not query.node and any(s.verb in ("insert", "delete") for s in q.statements)]
        steps += tuple(
            self.program.step(q.fn, q.node, f"{q.statements[0].verb} without regard to age or number") for q in others[:2]
        )
        return Fault(self.program.span_of(query.fn, query.node), text, Value(inf, Confidence.HIGH, steps))


# ---------------------------------------------------------------- settings


def _may_stand(row: BacklogRow, written: frozenset[str]) -> bool:
    """Whether the keys that a row, or its policies, cannot do without are written in a file."""
    marks = [*row.document, SettingMark(key=row.pattern)] if row.pattern and not row.policy_document else [*row.document]
    sets = [marks, list(row.policy_document)] if row.policy_document else [marks]
    return any(
        all(plain(step) in written for mark in one for step in mark.key.split(".") if step and not step.endswith("*"))
        for one in sets
    ) or (
        not row.policy_document and all(plain(s) in written for m in row.document for s in m.key.split(".") if not s.endswith("*"))
    )


def _stands(mark: SettingMark, settings: tuple[f.Setting, ...]) -> bool:
    wanted = tuple(mark.key.split("."))
    return any(counts(mark, s) and (matches_path(wanted, steps_of(s.path)) or matches_path(wanted, s.path)) for s in settings)


def _blocks(block: str, settings: tuple[f.Setting, ...]) -> Iterator[dict[tuple[str, ...], f.Setting]]:
    """The settings of each block of a path, by their own path below it."""
    wanted = tuple(block.split(".")) if block else ()
    found: dict[tuple[str, ...], dict[tuple[str, ...], f.Setting]] = {}
    for setting in settings:
        path = setting.path
        if wanted:
            sizes = prefixes(wanted, path)
            if not sizes:
                continue
            found.setdefault(path[: sizes[0]], {})[path[sizes[0] :]] = setting
        else:
            found.setdefault((), {})[path] = setting
    yield from found.values()


def _in_block(mark: SettingMark, inside: dict[tuple[str, ...], f.Setting]) -> f.Setting | None:
    """The setting of a block that a mark speaks of; its key may be one with dots in it."""
    for path, setting in inside.items():
        if path and ".".join(path) == mark.key and counts(mark, setting):
            return setting
    return None


def _fits(pattern: str, name: str) -> bool:
    """Whether a name is of a policy's pattern. Of patterns that are more than texts with gaps, it is taken that it is."""
    start, end = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith("\\$")
    body = pattern[1:] if start else pattern
    body = body[:-1] if end else body
    body = body.replace("\\.", "\1").replace(".*", "*").replace(".+", "?*").replace(".", "?").replace("\1", ".")
    if any(sign in body for sign in "\\()[]{}|+^$"):
        return True
    glob = ("" if start else "*") + body + ("" if end else "*")
    return fnmatchcase(name, glob)


def _short(name: str | None, most: int = 60) -> str:
    text = name or ""
    return text if len(text) <= most else text[: most - 1] + "…"


# ---------------------------------------------------------------- code


def _behind(site: CallSite) -> Iterator[f.Call]:
    """The calls that are made on the result of a call in one expression, or on the variable that keeps it."""
    stmt = site.stmt
    names = {dotted(t) for t in stmt.targets} - {""} if isinstance(stmt, f.Assign) else set()
    count = 0
    for other in site.fn.body.calls:
        if other.call is site.call or count >= _MOST_LINKS:
            continue
        base = other.call.fn.base if isinstance(other.call.fn, f.Field) else None
        on_it = base is not None and base.at <= site.call.at and site.call.end <= base.end
        if on_it or (names and dotted(other.call.fn).rpartition(".")[0] in names):
            count += 1
            yield other.call


def _is_object(bind: Bind) -> bool:
    """Whether an argument at the place of a flag is something else: another overload is called."""
    return isinstance(bind.expr, f.Fn | f.New | f.Field) or (isinstance(bind.expr, f.Lit) and not isinstance(bind.expr.value, bool))


def _is_zero(expr: f.Expr | None) -> bool:
    return isinstance(expr, f.Lit) and expr.value == 0 and not isinstance(expr.value, bool)


def _may_configure(module: Module, names: frozenset[str]) -> bool:
    """Whether a file may hold settings: it imports the library, or its name says so."""
    name = module.path.rpartition("/")[2].lower()
    stems = {setting.lower().partition("_")[0].rstrip("d") for setting in names}
    by_import = any(imp.target.partition(".")[0] in stems for imp in module.facts.imports)
    return by_import or any(word in name or word in module.folder.rpartition("/")[2] for word in ("settings", "config", *stems))


def _is_entered(site: CallSite) -> bool:
    """Whether a `with` enters what a call gives."""
    return any(isinstance(stmt, f.With) and any(item.value is site.call for item in stmt.items) for stmt, _ in site.fn.body.stmts)
