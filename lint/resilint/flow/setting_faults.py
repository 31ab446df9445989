"""Faults that stand in settings: bounds switched off or in another unit, keys that nobody reads, data sources without a timeout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.slots import key_in_text, say_seconds
from resilint.flow.surfaces import (
    HOLE,
    Bean,
    Block,
    Judged,
    Key,
    Placed,
    Text,
    Written,
    judge,
    matches,
    normal_key,
    project_of,
    relaxed,
    split,
)
from resilint.flow.timeouts import TIME, Fault
from resilint.flow.values import SECONDS
from resilint.kinds import KINDS
from resilint.knowledge.index import holds
from resilint.knowledge.schema import Bound, KeysRow, Library, TypeEntry
from resilint.link.code import Klass, dotted
from resilint.link.looks import any_of, matching
from resilint.model import Confidence, Fix, Severity, Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

WAITING = frozenset({"pool_wait", "wait", "lock_wait"})
"""Slots that bound the wait for something of this process: switched off they are RS109's."""
ENDS_STATEMENT = frozenset({"statement", "transaction", "read", "io", "total"})
_TIMED = matching(rb"@Transactional\([^)]*timeout")
_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds", "min": "minutes", "h": "hours"}
_ELSEWHERE = (
    "spring.config.import",
    "spring.cloud.config.uri",
    "spring.cloud.nacos.config.server-addr",
    "spring.cloud.consul.host",
)
"""Keys that say that more settings lie on a server."""
_IMPORTS_SETTINGS = tuple(tuple(map(relaxed, split(key))) for key in _ELSEWHERE)
_NEAR = 2
"""Edits between a misspelled segment and what was meant."""
_SHORTEST = 6
"""Characters of a segment that is long enough to be a misspelling of another."""
_PRODUCTION = re.compile(r"prod|live|online|release", re.IGNORECASE)
_TRIAL = re.compile(
    r"(?:^|[-_.,])(?:test|tests|it|e2e|ci|local|dev|devel|development|unittest|h2|sample|example)(?:$|[-_.,])", re.IGNORECASE
)
"""Profiles of no service that anybody waits for."""


class SettingFaults:
    """Sorts what settings say to the one code that says what is wrong with it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.surfaces = program.surfaces
        self.disabled: list[Fault] = []
        self.mismatched: list[Fault] = []
        self.endless_waits: list[Fault] = []
        self.unlimited_pools: list[Fault] = []
        self.unlimited_queues: list[Fault] = []
        self._seen: set[tuple[str, str, int]] = set()
        self._bounded: dict[tuple[str, str, str], bool] = {}
        for placed in (*self.surfaces.placed, *self.surfaces.placed_in_elements):
            if program.in_focus(placed.written.path):
                self._judge_setting(placed)
        for bean in self.surfaces.beans:
            if program.in_focus(bean.path):
                self._judge_bean(bean)
        self._judge_urls()
        self._judge_modules()
        self._judge_commands()
        self._judge_limits()
        for faults in (self.disabled, self.mismatched, self.endless_waits, self.unlimited_pools, self.unlimited_queues):
            faults.sort(key=lambda fault: (fault.span, fault.message))

    # ------------------------------------------------------------ values

    def _judge_setting(self, placed: Placed) -> None:
        written, row = placed.written, placed.row
        bare = written.surface.bare if written.surface is not None else "ms"
        if not self._holds(placed):
            return
        for text in self.surfaces.texts(written):
            if text.whole:
                self._sort(judge(row, text.known, bare), placed, text)

    def _holds(self, placed: Placed) -> bool:
        row = placed.row
        if row.since is None and row.before is None:
            return True
        names = self.program.knowledge.of(placed.library.language).distributions(row)
        pin = self.program.versions.pinned(placed.written.path, "java", names) if names else None
        return holds(row, pin.version if pin is not None else None)

    def _judge_bean(self, bean: Bean) -> None:
        table = self.program.knowledge.of("java")
        entry = table.type(bean.kind)
        if entry is None:
            return
        for row in table.bounds(bean.kind):
            name = _property_of(row.setter)
            written = bean.properties.get(name) if name and row.key is None else None
            if written is not None and row.pos in (None, 0):
                placed = Placed(written, row, entry, table.library_of(entry))
                for text in self.surfaces.texts(written):
                    if text.whole:
                        self._sort(judge(row, text.known), placed, text)

    def _sort(self, judged: Judged, placed: Placed, text: Text) -> None:
        row, written, entry = placed.row, placed.written, placed.entry
        if not judged.off and not judged.mismatch:
            return
        span = self.surfaces.span(written)
        confidence = Confidence.LOW if placed.library.verified is False else Confidence.HIGH
        said = f"`{written.spelled}: {_short(text.known)}`"
        api = short_type(entry.name)
        slot = row.slot
        if judged.off:
            value = Value(inf, confidence, text.steps)
            fix = self._mended(placed, text)
            if slot in WAITING:
                what = "a pooled connection" if slot == "pool_wait" else "its turn"
                self._add(self.endless_waits, "RS109", span, f"{said} lets who asks {api} wait for {what} for ever", value, fix)
            elif slot in TIME and not (slot == "idle" and entry.role != "server"):
                self._add(
                    self.disabled,
                    "RS104",
                    span,
                    f"{said} switches the {slot} timeout of {api} off: it can wait for ever",
                    value,
                    fix,
                )
            elif slot == "concurrency":
                of = "threads" if entry.role in ("server", "executor", "policy") else "connections"
                self._add(self.unlimited_pools, "RS203", span, f"{said} lets {api} open {of} without a limit", value, fix)
            elif slot == "capacity":
                self._add(self.unlimited_queues, "RS401", span, f"{said} lets the queue of {api} grow without a limit", value, fix)
        elif judged.mismatch and slot in TIME and judged.number is not None:
            message = f"{said} is {say_seconds(judged.number)}: {_sensible(row, judged.mismatch)}"
            bare = written.surface.bare if written.surface is not None else "ms"
            own = written.setting if text.known == written.setting.text else None
            fix = self.program.mending.rescaled_setting(written.path, own, row, bare) if own is not None else None
            self._add(self.mismatched, "RS108", span, message, Value(judged.number, confidence, text.steps), fix)

    def _mended(self, placed: Placed, text: Text) -> Fix | None:
        """The value for a slot in the place of one that is written as it is meant, without placeholders."""
        written, entry = placed.written, placed.entry
        # A full queue makes an executor add threads, and those of a bean may have no end either.
        grows = placed.row.slot == "capacity" and entry.role == "executor"
        if text.known != written.setting.text or grows:
            return None
        use = "server" if entry.role == "server" else "query" if entry.protocol == "sql" else ""
        return self.program.mending.setting(written.path, written.setting, placed.row, use, written.last)

    def _add(self, faults: list[Fault], code: str, span: Span, message: str, value: Value, fix: Fix | None = None) -> None:
        key = (code, span.path, span.line * 10_000 + span.col)
        if key not in self._seen:
            self._seen.add(key)
            faults.append(Fault(span, message, value, key=key, fix=fix))

    # ------------------------------------------------------------ URLs of drivers, wherever they stand

    @cached_property
    def _schemes(self) -> dict[str, tuple[TypeEntry, str]]:
        """The driver behind each scheme of a URL, and its language."""
        found: dict[str, tuple[TypeEntry, str]] = {}
        for language in ("java", "python", "go"):
            table = self.program.knowledge.of(language)
            for library in table.libraries:
                for entry in library.types:
                    for scheme, name in entry.by_scheme.items():
                        driver = table.type(name)
                        if driver is not None:
                            found.setdefault(scheme, (driver, language))
        return found

    def driver_of(self, url: str) -> tuple[TypeEntry, str] | None:
        """The type of the driver that a URL's scheme names, with its language."""
        head, colon, rest = url.partition(":")
        if not colon:
            return None
        double = f"{head}:{rest.partition(':')[0]}"
        return self._schemes.get(double) or (self._schemes.get(head) if "//" in rest[:3] else None)

    def _judge_urls(self) -> None:
        for path, facts in self.program.start_files():
            if not facts.settings or self.program.settings.is_test(path):
                continue
            for setting in facts.settings:
                if "://" in setting.text[:60] or setting.text.startswith("jdbc:"):
                    self._judge_url(path, setting)

    def _judge_url(self, path: str, setting: f.Setting) -> None:
        found = self.driver_of(setting.text)
        if found is None:
            return
        driver, language = found
        table = self.program.knowledge.of(language)
        for row in table.bounds(driver.name):
            if row.key is None or row.slot not in TIME or row.slot in WAITING:
                continue
            text = key_in_text(setting.text, row.key)
            if text is None or "$" in text or "{" in text:
                continue
            judged = judge(row, text)
            span = self._inside(path, setting, f"{row.key}=")
            cap = table.cap(driver)
            confidence = Confidence.HIGH if cap is None else cap
            said = f"`{row.key}={text}`"
            if judged.off and not row.covers_phase:
                message = f"{said} switches the {row.slot} timeout of {short_type(driver.name)} off: a statement can run for ever"
                fix = self._key_mended(path, setting, row, text)
                self._add(self.disabled, "RS104", span, message, Value(inf, confidence), fix)
            elif judged.mismatch and judged.number is not None:
                message = f"{said} is {say_seconds(judged.number)} for {short_type(driver.name)}: {_sensible(row, judged.mismatch)}"
                self._add(self.mismatched, "RS108", span, message, Value(judged.number, confidence))

    def _key_mended(self, path: str, setting: f.Setting, row: Bound, text: str) -> Fix | None:
        """The value for a slot in the place of a key's in a URL."""
        part = f"{row.key}={text}"
        raw = self.program.cut(path, setting.at, setting.end)
        at = raw.find(part.encode())
        if at < 0 or raw.count(part.encode()) != 1:
            return None
        at += setting.at
        return self.program.mending.key_in(path, at, at + len(part.encode()), row, text, "query")

    def _inside(self, path: str, setting: f.Setting, part: str) -> Span:
        """The place of a piece of a value, or of all of it where it is written otherwise."""
        raw = self.program.cut(path, setting.at, setting.end)
        at = raw.find(part.encode())
        if at < 0:
            return self.program.span(path, min(setting.key_at, setting.at), max(setting.end, setting.key_end))
        end = at + len(part)
        while end < len(raw) and raw[end : end + 1] not in (b"&", b";", b'"', b"'", b" ", b"\n"):
            end += 1
        return self.program.span(path, setting.at + at, setting.at + end)

    # ------------------------------------------------------------ Python files of settings

    def _judge_modules(self) -> None:
        rows: dict[str, list[tuple[Bound, TypeEntry, Library]]] = {}
        for key, row, entry, library in self.surfaces.keys_of_rows():
            rows.setdefault(".".join(key), []).append((row, entry, library))
        for module, surface in self.surfaces.modules():
            if not self.program.in_focus(module):
                continue
            top = module.functions[0]
            for stmt in top.body.block:
                if not isinstance(stmt, f.Assign) or stmt.value is None or stmt.op:
                    continue
                for target in stmt.targets:
                    name = target.name if isinstance(target, f.Ref) else ""
                    for row, _entry, library in rows.get(f"{surface.prefix}.{name}", ()) if name else ():
                        span = self.program.span(module.path, stmt.at, stmt.end)
                        flows = self.program.resolver.ask(stmt.value, self.program.resolver.frame(top))
                        for slot in self.program.slots.classified(row, flows, None, (top, stmt.value)):
                            if slot.state == "disabled" and row.slot in TIME:
                                low = Confidence.LOW if library.verified is False else Confidence.HIGH
                                text = self.program.text_of(top, stmt, 40)
                                off = f"switches the {row.slot} timeout of {library.library} off"
                                message = f"`{text}` {off}: a worker can be held for ever"
                                fix = self.program.mending.instead(row, top, stmt.value, "server", name)
                                hops = slot.flow.hops if slot.flow is not None else ()
                                self._add(self.disabled, "RS104", span, message, self.program.value(inf, low, hops=hops), fix)
                            elif slot.mismatch and row.slot in TIME and slot.number is not None:
                                text = self.program.text_of(top, stmt, 40)
                                message = f"`{text}` is {say_seconds(slot.number)}: {slot.mismatch}"
                                self._add(
                                    self.mismatched, "RS108", span, message, Value(slot.number, self.program.knowledge.sure(row))
                                )

    def _judge_commands(self) -> None:
        for surface in self.surfaces.surfaces:
            if not surface.commands:
                continue
            own = {
                key[-1]: (row, library)
                for key, row, _, library in self.surfaces.keys_of_rows()
                if ".".join(key[:-1]) == surface.prefix and row.slot in TIME
            }
            for path, at, end, key, text in self.surfaces.options(surface, sorted(own)):
                row, library = own[key]
                judged = judge(row, text, surface.bare)
                span = self.program.span(path, at, end)
                said = f"`{' '.join(self.program.cut(path, at, end).decode('utf-8', 'replace').split())}`"
                sure = Confidence.LOW if library.verified is False else Confidence.HIGH
                if judged.off:
                    off = f"switches the {row.slot} timeout of {library.library} off"
                    fix = self.program.mending.key_in(path, at, end, row, text, "server")
                    self._add(self.disabled, "RS104", span, f"{said} {off}: a worker can be held for ever", Value(inf, sure), fix)
                elif judged.mismatch and judged.number is not None:
                    message = f"{said} is {say_seconds(judged.number)}: {_sensible(row, judged.mismatch)}"
                    self._add(self.mismatched, "RS108", span, message, Value(judged.number, sure))

    def _judge_limits(self) -> None:
        """What a proxy or gateway is told to wait for without end."""
        for limit in self.program.above.switched_off:
            if self.program.in_focus(limit.path):
                message = f"`{_short(limit.said)}` switches {limit.row.what} off: whoever asks may wait for ever"
                self._add(self.disabled, "RS104", limit.span, message, Value(inf, limit.confidence, limit.steps))

    # ------------------------------------------------------------ servers

    @cached_property
    def servers(self) -> list[Fault]:
        """Servers that settings make and that lack a timeout they need."""
        return self._in_need("server")

    def _in_need(self, role: str) -> list[Fault]:
        found: list[Fault] = []
        for library in self.program.knowledge.libraries:
            for entry in library.types if library.language == "config" else ():
                if entry.role != role or not entry.needs:
                    continue
                parents = {split(row.setting)[:-1] for row in entry.bounds if row.setting is not None}
                blocks = [b for b in self.surfaces.blocks if any(matches(parent, b.key) for parent in parents)]
                blocks = [block for block in blocks if self.program.in_focus(block.path)]
                found += [fault for block in blocks for fault in self._lacking(block, entry)]
        return sorted(found, key=lambda fault: (fault.span, fault.message))

    def _lacking(self, block: Block, entry: TypeEntry) -> Iterator[Fault]:
        for need in entry.needs:
            rows = [row for row in entry.bounds if row.slot in need.any and row.setting is not None]
            if any(block.first((split(row.setting or "")[-1],)) is not None for row in rows):
                continue  # Switched off, it is RS104.
            if need.where is not None and block.first((need.where,)) is None:
                continue
            wanted = " nor ".join(f"`{split(row.setting or '')[-1]}`" for row in rows)
            name = f"{block.key[-1]} {block.name}".strip()
            message = f"{name} sets no {wanted}, nor does a section it inherits from: {need.say}"
            span = self.program.span(block.path, block.at, block.end)
            lines = KINDS[self.program.files[block.path].kind].blocks == "sections"
            use = "server" if entry.role == "server" else ""
            fix = self.program.mending.line_below(block.path, block.at, rows[0], use) if lines else None
            yield Fault(span, message, Value(inf, self.program.knowledge.sure(entry)), Severity(need.severity), fix=fix)

    # ------------------------------------------------------------ clients

    @cached_property
    def clients(self) -> list[Fault]:
        """Clients that settings make, by themselves or through a framework, which leave out every limit of their waits."""
        found = self._in_need("client")
        for library in self.program.knowledge.libraries:
            for entry in library.types:
                if entry.made_by_settings:
                    found += self._made(entry)
        return sorted(found, key=lambda fault: (fault.span, fault.message))

    def _made(self, entry: TypeEntry) -> Iterator[Fault]:
        keys = [tuple(map(relaxed, split(key))) for key in entry.made_by_settings]
        by_project: dict[str, list[tuple[Written, Key]]] = {}
        for written in self.surfaces.written:
            key = next((key for key in keys if written.normal[: len(key)] == key), None)
            if key is not None and written.text.lower() != "false" and not _TRIAL.search(written.profile):
                by_project.setdefault(project_of(written.path), []).append((written, key))
        for project, places in sorted(by_project.items()):
            places.sort(key=lambda x: (not _PRODUCTION.search(x[0].profile), bool(x[0].profile), x[0].path, x[0].setting.at))
            written, key = places[0]
            rows = [row for row in entry.bounds if row.slot == "total" and row.setting is not None]
            # Of keys that have moved from one version to another those beside the one that makes it are meant.
            settings = [split(row.setting or "") for row in rows]
            near = [own for own in settings if tuple(map(relaxed, own[:-2])) == key[: len(own) - 2]]
            if self.program.in_focus(written.path) and near and not self._is_ended_elsewhere(project, entry, rows):
                behind, wanted = ".".join(written.key[: len(key)]), ".".join(near[0])
                message = f"what is behind `{behind}` can be waited for for ever: `{wanted}` is not set"
                value = Value(inf, self.program.knowledge.sure(entry, Confidence.MEDIUM), ())
                yield Fault(self.surfaces.span(written), message, value)

    def _is_ended_elsewhere(self, project: str, entry: TypeEntry, rows: list[Bound]) -> bool:
        """Whether a limit may be written anywhere: in settings of the project, in those that a server hands out, or in code."""
        ends = {tuple(map(relaxed, split(row.setting or "")[-2:])) for row in rows}
        if any(written.normal[-2:] in ends for written in self.surfaces.written):
            return True
        words = any_of(*(word.encode() for word in entry.unless))
        below = project + "/" if project else ""
        return any(
            path.startswith(below) and (facts.kind == "java" or self.surfaces.is_read(path)) and self.program.says(path, words)
            for path, facts in self.program.files.items()
        )

    # ------------------------------------------------------------ data sources

    @cached_property
    def queries(self) -> list[Fault]:
        """Data sources in settings of which nothing ends a statement."""
        by_key: dict[tuple[str, Key], list[Written]] = {}
        for written in self.surfaces.written:
            if any(True for _ in self.surfaces.parts_of(written, "url")):
                by_key.setdefault((project_of(written.path), written.normal), []).append(written)
        groups = [(key, urls) for key, urls in sorted(by_key.items()) if any(self.program.in_focus(url.path) for url in urls)]
        found = [fault for (project, _), urls in groups if (fault := self._data_source(project, urls)) is not None]
        beans = (bean for bean in self.surfaces.beans if self.program.in_focus(bean.path))
        found += [fault for bean in beans if (fault := self._data_source_bean(bean)) is not None]
        return sorted(found, key=lambda fault: (fault.span, fault.message))

    def _data_source(self, project: str, urls: list[Written]) -> Fault | None:
        served = [w for w in urls if not _TRIAL.search(w.profile)]
        served.sort(key=lambda w: (not _PRODUCTION.search(w.profile), bool(w.profile), w.path, w.setting.at))
        endless: list[tuple[Written, TypeEntry]] = []
        for written in served:
            entries = [entry for entry, _ in self.surfaces.parts_of(written, "url")]
            driver = self._unbounded_driver(self.surfaces.texts(written))
            if driver is not None and entries and not self._bounded_beside(driver, project):
                endless.append((written, driver))
        if not endless or self._bounded_in_project(project, endless[0][1]):
            return None
        written, driver = endless[0]
        steps = tuple(self.surfaces.step(w, f"the same of profile {w.profile or 'default'}") for w, _ in endless[1:])
        waits = [p.written for p in self.surfaces.placed if p.row.slot == "pool_wait" and project_of(p.written.path) == project]
        steps += tuple(self.surfaces.step(w, "bounds the wait for a connection, not the statement") for w in waits[:1])
        message = (
            f"a statement through `{written.spelled}` can run for ever: neither the URL nor a setting beside it gives "
            f"{short_type(driver.name)} a {_wanted(self.program.knowledge.of('java').bounds(driver.name))}"
        )
        value = Value(inf, self.program.knowledge.sure(driver, Confidence.MEDIUM), steps)
        return Fault(self.surfaces.span(written), message, value, fix=self._url_mended(written, driver))

    def _url_mended(self, written: Written, driver: TypeEntry) -> Fix | None:
        """A key that ends statements, in the URL that lacks one."""
        rows = [row for row in self._rows_of(driver) if row.key and row.slot in ENDS_STATEMENT and row.default == "endless"]
        if not rows:
            return None
        return self.program.mending.url(written.path, written.setting, rows[0], driver.url_keys)

    def _unbounded_driver(self, texts: list[Text]) -> TypeEntry | None:
        """The driver behind a URL that is readable in all its forms and bounds nothing in one of them."""
        unbounded: TypeEntry | None = None
        for text in texts:
            head, _, query = text.known.partition("?")
            if HOLE in query or head.endswith(HOLE) or text.known.startswith(HOLE) or HOLE in text.known.partition("//")[0]:
                return None
            found = self.driver_of(text.known)
            if found is None or found[1] != "java" or found[0].in_process:
                return None
            rows = self.program.knowledge.of("java").bounds(found[0].name)
            if not any(row.slot in ENDS_STATEMENT and row.default == "endless" for row in rows):
                return None
            for row in rows:
                name = row.key or row.statement
                if name is not None and row.slot in ENDS_STATEMENT and name in text.known:
                    return None
            unbounded = found[0]
        return unbounded

    def _bounded_beside(self, driver: TypeEntry, project: str) -> bool:
        """Whether a driver's key, or a statement on connecting, stands in the settings of the same project."""
        key = ("beside", project, driver.name)
        if key not in self._bounded:
            names = [n for row in self._rows_of(driver) if row.slot in ENDS_STATEMENT for n in (row.key, row.statement) if n]
            lasts = {relaxed(name.rpartition(".")[2]) for name in names}
            self._bounded[key] = any(
                relaxed(written.last) in lasts
                or (not written.text.startswith("jdbc:") and any(name in written.text for name in names))
                for written in self.surfaces.written
                if project_of(written.path) == project
            )
        return self._bounded[key]

    def _rows_of(self, driver: TypeEntry) -> tuple[Bound, ...]:
        return self.program.knowledge.of("java").bounds(driver.name)

    def _bounded_in_project(self, project: str, driver: TypeEntry) -> bool:
        """Whether anything in the settings or the code of a project may end statements of its data sources."""
        key = ("project", project, driver.name)
        if key not in self._bounded:
            self._bounded[key] = self._may_be_bounded(project, driver)
        return self._bounded[key]

    def _may_be_bounded(self, project: str, driver: TypeEntry) -> bool:
        for placed in self.surfaces.placed:
            if (
                placed.row.slot in ("statement", "transaction", "read", "io")
                and project_of(placed.written.path) == project
                and _about_statements(placed)
            ):
                return True
        for written in self.surfaces.written:
            if project_of(written.path) == project and any(written.normal[: len(key)] == key for key in _IMPORTS_SETTINGS):
                return True
        return self._bounded_in_code(project, driver)

    def _bounded_in_code(self, project: str, driver: TypeEntry) -> bool:
        table = self.program.knowledge.of("java")
        setters = {
            row.setter
            for library in table.libraries
            for entry in library.types
            if entry.protocol == "sql" or entry.role in ("connection", "pool")
            for row in entry.bounds
            if row.setter is not None and row.slot in ("statement", "transaction", "read", "io")
        } | {"setQueryTimeout", "setNetworkTimeout"}
        names = [n.encode() for row in self._rows_of(driver) for n in (row.key, row.statement) if n and row.slot in ENDS_STATEMENT]
        names += [b"query.timeout", b"transactionTimeout", b"defaultStatementTimeout", b"@QueryHint", b"@Options(timeout"]
        below = project + "/" if project else ""
        for module in self.program.names.modules.values():
            # Which statements a bean of XML bounds is known: those of the beans that it is given.
            if module.language != "java" or module.is_test or module.beans or not module.path.startswith(below):
                continue
            if any(call.rpartition(".")[2] in setters for fn in module.functions for call in fn.head.calls):
                return True
            if self.program.says(module.path, any_of(*names)) or self.program.says(module.path, _TIMED):
                return True
        for path, facts in self.program.files.items():
            if facts.kind == "xml" and path.startswith(below):
                for setting in facts.settings:
                    # MyBatis' setting of that name, and transactions that advice times.
                    if setting.text == "defaultStatementTimeout" or setting.path[-2:] == ("tx:method", "@timeout"):
                        return True
        return False

    @cached_property
    def _users(self) -> dict[str, list[Bean]]:
        """Beans by the names of those they are given."""
        found: dict[str, list[Bean]] = {}
        for bean in self.surfaces.beans:
            for name in sorted(bean.refers):
                found.setdefault(name, []).append(bean)
        return found

    def _bounded_by_users(self, bean: Bean) -> bool:
        """Whether a bean that is given this one, or is given such a bean, bounds statements or transactions."""
        table = self.program.knowledge.of("java")
        users, seen = {bean.name} - {""}, set[str]()
        for _ in range(4):
            further: set[str] = set()
            for other in (bean for name in sorted(users) for bean in self._users.get(name, ())):
                if other.name not in seen:
                    rows = table.bounds(other.kind) if table.type(other.kind) is not None else ()
                    ends = {_property_of(row.setter) for row in rows if row.slot in ("statement", "transaction")}
                    if ends & other.properties.keys():
                        return True
                    further.add(other.name)
            seen |= users
            users = further - {""}
        return False

    def _data_source_bean(self, bean: Bean) -> Fault | None:
        table = self.program.knowledge.of("java")
        entry = table.type(bean.kind)
        if entry is None or entry.role != "pool" or entry.protocol != "sql" or bean.inherits:
            return None
        rows = table.bounds(bean.kind)
        ends = {_property_of(row.setter) for row in rows if row.slot in ("statement", "transaction", "read", "io")}
        if any(name in bean.properties for name in ends):
            return None
        urls = {_property_of(part.setter) for level in table.mro(bean.kind) for part in level.url}
        url = next((bean.properties[name] for name in sorted(urls) if name in bean.properties), None)
        if url is None:
            return None
        project = project_of(bean.path)
        driver = self._unbounded_driver(self.surfaces.texts(url))
        if driver is None:
            return None
        names = [n for row in self._rows_of(driver) for n in (row.key, row.statement) if n and row.slot in ENDS_STATEMENT]
        if any(name in w.text or name == key for name in names for key, w in bean.properties.items()):
            return None
        if self._bounded_by_users(bean) or self._bounded_beside(driver, project) or self._bounded_in_project(project, driver):
            return None
        waits = {_property_of(row.setter) for row in rows if row.slot == "pool_wait"}
        steps = tuple(
            self.surfaces.step(w, "bounds the wait for a connection, not the statement")
            for key, w in sorted(bean.properties.items())
            if key in waits
        )
        name = f" `{bean.name}`" if bean.name else ""
        message = (
            f"a statement through the data source{name} can run for ever: neither its properties nor its URL give it a "
            f"{_wanted((*rows, *self._rows_of(driver)))}"
        )
        span = self.program.span(bean.path, bean.at, bean.end)
        value = Value(inf, self.program.knowledge.sure(driver, Confidence.MEDIUM), steps)
        return Fault(span, message, value, fix=self._url_mended(url, driver))

    # ------------------------------------------------------------ keys that nobody reads

    @cached_property
    def unread(self) -> list[Fault]:
        """Resilience settings under keys that nothing reads."""
        found = [*self._moved(), *self._undeclared(), *self._unknown()]
        kept: dict[tuple[str, int], Fault] = {}
        for fault in sorted(found, key=lambda fault: (fault.span, fault.message)):
            kept.setdefault((fault.span.path, fault.span.line), fault)
        return list(kept.values())

    def _moved(self) -> Iterator[Fault]:
        for library in self.program.knowledge.libraries:
            for row in library.moved:
                groups: dict[tuple[str, int, Key], list[Written]] = {}
                for written in self._below(split(row.key)):
                    groups.setdefault((written.path, written.setting.doc, written.normal[: len(split(row.key))]), []).append(
                        written
                    )
                for (path, _doc, _), group in sorted(groups.items()):
                    steps: tuple[Step, ...] = ()
                    if row.of is not None:
                        pin = self.program.versions.pinned(path, "java", (row.of,))
                        # Releases that are named, not numbered, are older.
                        if (
                            pin is None
                            or not pin.version[:1].isdigit()
                            or not holds(Bound(slot="total", since=row.since), pin.version)
                        ):
                            continue
                        steps = (Step(self.program.span(pin.path, pin.at, pin.end), f"{pin.version} no longer reads it"),)
                    first = group[0]
                    since = f" since {row.since}" if row.since is not None else ""
                    message = f"`{first.spelled}` is read by nobody{since}: it belongs to `{row.now}`"
                    yield Fault(self.surfaces.span(first), message, Value(None, self.program.knowledge.sure(row), steps))

    def _below(self, pattern: Key) -> Iterator[Written]:
        for written in self.surfaces.written:
            if written.surface is not None and len(written.normal) >= len(pattern):
                own = normal_key(pattern, written.surface)
                if matches(own, written.normal[: len(own)]):
                    yield written

    # ---- names of instances

    def _undeclared(self) -> Iterator[Fault]:
        for library in self.program.knowledge.libraries:
            for row in library.keys:
                if row.declared_by is None:
                    continue
                declared = self._declared(row)
                if declared:
                    yield from self._unmatched(row, declared)

    def _unmatched(self, row: KeysRow, declared: list[tuple[Klass, f.Call, list[str]]]) -> Iterator[Fault]:
        pattern = split(row.root)
        at = len(pattern) - 1 - pattern[::-1].index("*")
        known = {names[0] for _, _, names in declared} | set(row.reserved)
        groups: dict[tuple[str, int, str], list[Written]] = {}
        for written in self._below(pattern):
            name = written.key[at]
            if name not in known and HOLE not in name and "$" not in name:
                groups.setdefault((written.path, written.setting.doc, name), []).append(written)
        for (path, _doc, name), group in sorted(groups.items()):
            other = next((x for x in declared if name in x[2][1:]), None)
            if other is None and self._is_in_code(name):
                continue
            klass, call, names = other or declared[0]
            if other is None and project_of(klass.module.path) != project_of(path):
                continue
            timed = next((w for w in group if _is_time(w, self.surfaces.rows_of(w))), None)
            if timed is None:
                continue
            annotation = (row.declared_by or "").rpartition(".")[2]
            step = self.program.step(klass.module, call, f"@{annotation} of {klass.name} is configured as `{names[0]}`")
            message = f"`{timed.spelled}` is read by nobody: no @{annotation} is called `{name}`"
            if other is not None:
                message = f"`{timed.spelled}` is read by nobody: {klass.name} is configured as `{names[0]}`, not as `{name}`"
            sure = self.program.knowledge.sure(row, Confidence.HIGH if other is not None else Confidence.MEDIUM)
            yield Fault(self.surfaces.span(timed), message, Value(None, sure, (step,)))

    def _declared(self, row: KeysRow) -> list[tuple[Klass, f.Call, list[str]]]:
        """What carries the annotation, with its names, the one that counts first; empty where a name cannot be read."""
        found: list[tuple[Klass, f.Call, list[str]]] = []
        last = (row.declared_by or "").rpartition(".")[2]
        for klass in self.program.names.all_classes():
            if klass.module.language != "java" or klass.module.is_test:
                continue
            for decorator in klass.decl.decorators:
                if not isinstance(decorator, f.Call) or dotted(decorator.fn).rpartition(".")[2] != last:
                    continue
                if self.program.names.java.type(dotted(decorator.fn), klass) != row.declared_by:
                    continue
                names: list[str] = []
                for attribute in row.attributes:
                    for arg in decorator.args:
                        if arg.name == attribute or (arg.name is None and attribute == "value"):
                            if not isinstance(arg.value, f.Lit) or not isinstance(arg.value.value, str) or "$" in arg.value.value:
                                return []
                            names.append(arg.value.value)
                if names:
                    found.append((klass, decorator, names))
        return found

    def _is_in_code(self, name: str) -> bool:
        quoted = any_of(f'"{name}"'.encode())
        return any(self.program.says(m.path, quoted) for m in self.program.names.modules.values() if m.language == "java")

    # ---- misspelled and misplaced keys

    def _unknown(self) -> Iterator[Fault]:
        owned = [(split(row.root), row) for library in self.program.knowledge.libraries for row in library.keys if row.names]
        groups: dict[tuple[str, int, Key], list[tuple[Written, Key]]] = {}
        for written in self.surfaces.written:
            if written.surface is None or any(True for _ in self.surfaces.rows_of(written)):
                continue
            for pattern, row in owned:
                own = normal_key(pattern, written.surface)
                rest = written.normal[len(own) :]
                if not rest or not matches(own, written.normal[: len(own)]) or self._is_listed(rest, row, written):
                    continue
                meant = self._misspelled(written) or self._misplaced(written, len(own))
                if meant is not None:
                    groups.setdefault((written.path, written.setting.doc, written.normal[: len(own) + 1]), []).append(
                        (written, meant)
                    )
                    break
        for _, group in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1], item[1][0][0].setting.at)):
            yield self._unread_fault(group)

    def _unread_fault(self, group: list[tuple[Written, Key]]) -> Fault:
        written, meant = next((x for x in group if self._is_about_time(x[1])), group[0])
        steps = tuple(self.surfaces.step(w, f"belongs to `{'.'.join(m)}`") for w, m in group if w is not written)
        more = f", with {len(steps)} more" if steps else ""
        message = f"`{written.spelled}` is read by nobody: it belongs to `{'.'.join(meant)}`{more}"
        if len(meant) == len(written.key):
            segment = next((right for right, own in zip(meant, written.key, strict=True) if right != own), "")
            message = f"`{written.spelled}` is read by nobody: `{segment}` is meant{more}"
        return Fault(self.surfaces.span(written), message, Value(None, Confidence.HIGH, steps))

    def _is_about_time(self, key: Key) -> bool:
        wanted = tuple(map(relaxed, key))
        return any(row.slot in TIME for own, row, _, _ in self.surfaces.keys_of_rows() if matches(tuple(map(relaxed, own)), wanted))

    def _is_listed(self, rest: Key, row: KeysRow, written: Written) -> bool:
        for name in row.names:
            known = normal_key(split(name), written.surface)
            short = min(len(known), len(rest))
            if known[:short] == rest[:short]:
                return True
        # What leads to a key of a row, or lies below one, is known too.
        own = written.normal
        for key, _, _, _ in self.surfaces.keys_of_rows():
            known = normal_key(key, written.surface)
            if len(own) > len(known) and matches(known, own[: len(known)]):
                return True
            root = len(own) - len(rest)
            if len(known) > root and matches(known[: root + 1], own[: root + 1]) and len(rest) > 1:
                near = self._misspelled(written)
                return near is None
        return False

    def _misspelled(self, written: Written) -> Key | None:
        """The key of a row that differs in the spelling of one segment."""
        own = written.key
        for key, _, _, _ in self.surfaces.keys_of_rows():
            if len(key) != len(own):
                continue
            other = [
                i for i, (k, o) in enumerate(zip(key, own, strict=True)) if k not in ("*", o) and not self._same(k, o, written)
            ]
            if len(other) == 1 and _close(key[other[0]], own[other[0]]):
                return tuple(o if k == "*" else k for k, o in zip(key, own, strict=True))
        return None

    @staticmethod
    def _same(known: str, own: str, written: Written) -> bool:
        return written.surface is not None and written.surface.relaxed and relaxed(known) == relaxed(own)

    def _misplaced(self, written: Written, root: int) -> Key | None:
        """The key of a row that ends as this one does, in at least two segments, and starts below the same root."""
        own = tuple(map(relaxed, written.key))
        best: Key | None = None
        for key, row, _, _ in self.surfaces.keys_of_rows():
            known = tuple(map(relaxed, key))
            size = len(own) - root
            if (
                size >= 2
                and len(known) > len(own)
                and known[:root] == own[:root]
                and known[-size:] == own[-size:]
                and "*" not in known
            ):
                if best is None or len(key) < len(best):
                    best = key
                _ = row
        return best


def _close(known: str, own: str) -> bool:
    if min(len(known), len(own)) < _SHORTEST or known == own:
        return False
    if relaxed(known) == relaxed(own):
        return True
    return edits(relaxed(known), relaxed(own), _NEAR) <= _NEAR


def edits(a: str, b: str, most: int) -> int:
    """Characters to insert, delete or replace to make one text of the other; more than `most` is `most + 1`."""
    if abs(len(a) - len(b)) > most or max(len(a), len(b)) > 200:
        return most + 1
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
        if min(row) > most:
            return most + 1
    return row[-1]


def _is_time(written: Written, rows: Iterable[tuple[Bound, TypeEntry, Library]]) -> bool:
    return any(row.slot in TIME for row, _, _ in rows)


def _about_statements(placed: Placed) -> bool:
    """Whether a setting that bounds reading speaks of a database."""
    return placed.entry.protocol == "sql" or placed.row.slot in ("statement", "transaction")


def _property_of(setter: str | None) -> str:
    """`setMaxWait` sets the property maxWait."""
    if setter is None or not setter.startswith("set") or len(setter) < 4:
        return ""
    name = setter[3:]
    return name if name[:2].isupper() else name[0].lower() + name[1:]


def _wanted(rows: Iterable[Bound]) -> str:
    """The names of what would bound a statement."""
    names = dict.fromkeys(
        row.key or _property_of(row.setter) or ""
        for row in rows
        if row.slot in ("statement", "read", "io") and (row.key or row.setter)
    )
    shown = [name for name in names if name][:2]
    return " or ".join(shown) if shown else "timeout"


def _sensible(row: Bound, counts: str) -> str:
    assert row.plausible is not None
    scale = SECONDS.get(row.unit, 1.0)
    low, high = row.plausible[0] * scale, row.plausible[1] * scale
    taken = f"it counts {_UNITS[counts]}, and " if counts in _UNITS else ""
    return f"{taken}{say_seconds(low)} to {say_seconds(high)} is sensible"


def short_type(name: str) -> str:
    """The last segment of a canonical name, or all of it where the last says nothing."""
    name = name.partition(" ")[0]
    last = name.rpartition(".")[2]
    return name if last in ("Driver", "DataSource") else last


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:39] + "…"
