"""Fixes of findings: what has to be written where, computed from facts and knowledge."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from resilint import facts as f
from resilint.flow.edits import Cut, argument, end_of_line, entry, imported, indentation, line_end, opening_of
from resilint.flow.resolve import unit_of_name
from resilint.flow.slots import key_in_text, say_seconds
from resilint.flow.values import SECONDS, Obj
from resilint.knowledge.index import holds
from resilint.knowledge.schema import Bound, CallEntry, Need, TypeEntry
from resilint.link.code import Fun, Module, dotted, last_name, walk_block
from resilint.link.looks import matching
from resilint.model import Edit, Fix

if TYPE_CHECKING:
    from resilint.flow.spawns import Spawn
    from resilint.flow.waits import Endless, Wait
    from resilint.program import Program

_VERB = re.compile(rb"%[-+# 0-9.*\[\]]*([A-Za-z%])")
_AMOUNT = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?[ ]?[A-Za-z]{0,2}")
_LINK = re.compile(rb"(\r?\n[ \t]*)\.")
_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds", "min": "minutes"}
_BEST = ("total", "statement", "request", "io", "read", "header", "wait", "deadline", "transaction", "connect", "write", "idle")
"""Slots in the order in which one is chosen to be written: what bounds most comes first."""
_KEYS = {
    "server": {
        "idle": "server_idle_timeout",
        "write": "server_write_timeout",
        "": "server_read_timeout",
    },
    "query": {"connect": "connect_timeout", "pool_wait": "wait_timeout", "": "query_timeout"},
    "wait": {"": "wait_timeout"},
    "": {
        "connect": "connect_timeout",
        "pool_wait": "wait_timeout",
        "wait": "wait_timeout",
        "lock_wait": "wait_timeout",
        "statement": "query_timeout",
        "transaction": "query_timeout",
        "request": "request_timeout",
        "capacity": "queue_size",
        "concurrency": "concurrency",
    },
}
"""Which key of the settings gives a value, by what it is for and the slot."""


@dataclass(frozen=True)
class Amount:
    """What a fix writes: seconds or a count, and the words for it."""

    number: float
    said: str
    invented: str = ""
    """The key of the settings that gives no value, so that nobody has decided on this one."""

    @property
    def safe(self) -> bool:
        """Whether somebody has decided on it, or it follows from what somebody has."""
        return not self.invented


@dataclass(frozen=True)
class Change:
    """Cuts in one file, with the name of what they write."""

    path: str
    cuts: tuple[Cut, ...]
    name: str
    amount: Amount


class Mending:
    """Makes fixes, for one program. `None` everywhere: none that is surely right can be written."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver

    @cached_property
    def _folders(self) -> dict[str, list[Module]]:
        found: dict[str, list[Module]] = {}
        for module in self.program.names.modules.values():
            found.setdefault(module.folder, []).append(module)
        return found

    # ------------------------------------------------------------ values

    def amount(self, slot: str, use: str = "") -> Amount:
        """The value for a slot: what the settings say, else one that nobody has decided, which makes the fix unsafe."""
        own = _KEYS.get(use, {})
        key = own.get(slot) or _KEYS[""].get(slot) or own.get("", "client_timeout")
        number, is_time, is_decided = self.program.settings.fix_value(key)
        said = say_seconds(number) if is_time else f"{number:g}"
        if is_decided:
            return Amount(number, said)
        return Amount(number, said, key)

    # ------------------------------------------------------------ fixes

    def fix(self, changes: Iterable[Change], title: str = "") -> Fix | None:
        """One fix of several changes."""
        made = tuple(changes)
        if not made or any(self.program.files[change.path].errors for change in made):
            return None
        invented = sorted({change.amount.invented for change in made} - {""})
        note = f" (invented: the settings say no fix.{' and no fix.'.join(invented)})" if invented else ""
        listed = " and ".join(f"{change.name} to {change.amount.said}" for change in made)
        spans = {
            Edit(self.program.span(change.path, cut.at, cut.end), cut.text): None for change in made for cut in sorted(change.cuts)
        }
        return Fix((title or f"Set {listed}") + note, tuple(spans), all(change.amount.safe for change in made))

    def cut(self, path: str, cuts: Iterable[Cut], title: str, *, safe: bool) -> Fix | None:
        """A fix that writes other text at some places of a file."""
        if self.program.files[path].errors:
            return None
        edits = tuple(Edit(self.program.span(path, cut.at, cut.end), cut.text) for cut in sorted(cuts))
        return Fix(title, edits, safe) if edits else None

    # ------------------------------------------------------------ values that are wrong

    def instead(self, row: Bound, fn: Fun, node: f.Node, use: str = "", name: str = "") -> Fix | None:
        """Writes the value for a slot over one that stands there literally."""
        if not self._is_literal(node, fn):
            return None
        name = name or row.arg or row.field or row.setter or (row.option or row.slot).rpartition(".")[2]
        # What is given for several phases at once is no matter of the first alone.
        amount = self.amount("io" if row.slot == "connect" and "connect" not in name.lower() else row.slot, use)
        if isinstance(node, f.Lit) and isinstance(node.value, str):
            return self._in_text(row, fn, node, amount)
        spelled = self.spelled(row, fn, amount, node) if _is_plausible(row, amount) else None
        if spelled is None:
            return None
        return self.fix([Change(fn.module.path, (Cut(node.at, node.end, spelled[0]), *spelled[1]), name, amount)])

    def rescaled(self, row: Bound, fn: Fun, node: f.Node, raw: bool) -> Fix | None:
        """Writes a literal number that makes no sense in a slot's unit as what it is in another. `raw`: it counts nanoseconds."""
        if not isinstance(node, f.Lit) or isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return self._converted(row, fn, node)
        found = _meant(row, float(node.value), "ns" if raw else row.unit)
        if found is None:
            return None
        amount, unit = found
        spelled = self.spelled(row, fn, amount, node)
        if spelled is None:
            return None
        title = f"Take {node.value:g} for {_UNITS[unit]}: {amount.said}"
        return self.cut(fn.module.path, [Cut(node.at, node.end, spelled[0]), *spelled[1]], title, safe=False)

    def _converted(self, row: Bound, fn: Fun, node: f.Node) -> Fix | None:
        """Converts a value from the unit that its name promises into the one that is taken."""
        value = node.value if isinstance(node, f.Cast) else node
        name = value.name.rpartition(".")[2] if isinstance(value, f.Ref | f.Field) else ""
        unit = unit_of_name(name)
        if unit not in _UNITS or unit == row.unit:
            return None
        title = f"Convert {name} from {_UNITS[unit]}"
        path = fn.module.path
        if fn.module.language == "go" and row.unit == "dur" and isinstance(node, f.Cast):
            spelling = next((x for x in self.resolver.table(fn.module).spellings if x.unit == unit and not x.pair), None)
            named = self._named(spelling.name, fn, node) if spelling is not None else None
            if spelling is None or named is None:
                return None
            text = spelling.text.format(n=self.program.cut(path, node.at, node.end).decode("utf-8", "replace"), name=named[0])
            return self.cut(path, [Cut(node.at, node.end, self._as_argument(text, fn, node)), *named[1]], title, safe=False)
        if fn.module.language != "python" or row.unit not in SECONDS:
            return None
        factor = SECONDS[row.unit] / SECONDS[unit]
        text = f" / {factor:.0f}" if factor > 1 else f" * {1 / factor:.0f}"
        return self.cut(path, [Cut(node.end, node.end, text)], title, safe=False)

    def rescaled_setting(self, path: str, setting: f.Setting, row: Bound, bare: str) -> Fix | None:
        """The same for a number of settings."""
        at = self._raw(path, setting)
        if at is None or not setting.text.isdecimal():
            return None
        found = _meant(row, float(setting.text), bare if row.unit == "dur" else row.unit)
        text = _as_setting(row, found[0]) if found is not None else None
        if found is None or text is None:
            return None
        title = f"Take {setting.text} for {_UNITS[found[1]]}: {found[0].said}"
        return self.cut(path, [Cut(*at, text)], title, safe=False)

    def _in_text(self, row: Bound, fn: Fun, node: f.Lit, amount: Amount) -> Fix | None:
        """Writes the value over that of a key in a text: a URL, the options of a driver."""
        text = _as_setting(row, amount)
        raw = self.program.cut(fn.module.path, node.at, node.end)
        old = key_in_text(str(node.value), row.key) if row.key is not None else None
        if row.key is None or old is None or text is None or not _is_plausible(row, amount):
            return None
        places = list(re.finditer(re.escape(f"{row.key}={old}".encode()) + rb"(?![\w.])", raw))
        if len(places) != 1:
            return None
        end = node.at + places[0].end()
        return self.fix([Change(fn.module.path, (Cut(end - len(old.encode()), end, text),), row.key, amount)])

    def _is_literal(self, node: f.Node, fn: Fun) -> bool:
        """Whether an expression is written out here: a literal, arithmetic of such, a constant of a library."""
        if isinstance(node, f.Lit):
            return True
        if isinstance(node, f.Un):
            return self._is_literal(node.value, fn)
        if isinstance(node, f.Bin):
            return self._is_literal(node.left, fn) and self._is_literal(node.right, fn)
        table = self.resolver.table(fn.module)
        return isinstance(node, f.Ref) and any(table.constant(name) is not None for name in self.program.canonical(node, fn))

    def number(self, path: str, node: f.Node, number: int, title: str) -> Fix | None:
        """Writes a computed number over a literal one."""
        if not isinstance(node, f.Lit) or isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return None
        return self.cut(path, [Cut(node.at, node.end, str(number))], title, safe=True)

    def written(self, obj: Obj, slot: str) -> tuple[Fun, f.Node] | None:
        """The argument in which a slot of an object stands where it is made."""
        if obj.frame is None or not isinstance(obj.node, f.Call) or obj.binds is not None:
            return None
        for row in self.resolver.table(obj.frame.fn.module).bounds(self.resolver.external_type(obj)):
            if row.slot == slot and (row.arg is not None or row.pos is not None):
                bind, _ = self.program.slots.find_bind(row.arg, row.pos, self.resolver.binds(obj.node, obj.frame))
                if bind is not None:
                    return bind.frame.fn, bind.expr
        return None

    # ------------------------------------------------------------ settings

    def setting(self, path: str, setting: f.Setting, row: Bound, use: str = "", name: str = "") -> Fix | None:
        """Writes the value for a slot over what a setting says."""
        amount = self.amount(row.slot, use)
        text = _as_setting(row, amount)
        at = self._raw(path, setting)
        # A word that means no limit says more than that: which kind of thing does the work.
        if text is None or at is None or not _AMOUNT.fullmatch(setting.text) or not _is_plausible(row, amount):
            return None
        return self.fix([Change(path, (Cut(*at, text),), name or setting.path[-1], amount)])

    def url(self, path: str, setting: f.Setting, row: Bound, first: str) -> Fix | None:
        """Writes a key into the URL of a driver that a setting holds. `first`: what sets off the first of its keys."""
        amount = self.amount(row.slot, "query")
        text = _as_setting(row, amount)
        at = self._raw(path, setting)
        if text is None or at is None or not first or row.key is None or not _is_plausible(row, amount):
            return None
        written = _own_url(setting.text)
        if written is None:
            return None
        url, behind = written
        gap = first if first not in url else "&" if first == "?" else first
        if url.endswith(("?", "&", ";")):
            gap = ""
        if self.program.files[path].kind == "xml":
            gap = gap.replace("&", "&amp;")
        end = at[1] - behind
        return self.fix([Change(path, (Cut(end, end, f"{gap}{row.key}={text}"),), row.key, amount)])

    def key_in(self, path: str, at: int, end: int, row: Bound, old: str, use: str = "") -> Fix | None:
        """Writes the value for a slot over the text with which a range ends: `--timeout 0`, `socketTimeout=0`."""
        amount = self.amount(row.slot, use)
        text = _as_setting(row, amount)
        known = old.encode()
        if text is None or not old or not _is_plausible(row, amount) or not self.program.cut(path, at, end).endswith(known):
            return None
        name = row.key or row.setting or row.slot
        return self.fix([Change(path, (Cut(end - len(known), end, text),), name.rpartition(".")[2], amount)])

    def line_below(self, path: str, at: int, row: Bound, use: str) -> Fix | None:
        """Writes a setting as a line of its own below the line of a section's head, indented as what stands there."""
        source = self.program.source(path)
        amount = self.amount(row.slot, use)
        text = _as_setting(row, amount)
        name = (row.setting or "").rpartition(".")[2]
        end = end_of_line(source, at)
        below = source[end:].lstrip(b"\r\n")
        indent = indentation(source, len(source) - len(below)) if below else ""
        if text is None or not name:
            return None
        return self.fix([Change(path, (Cut(end, end, f"{line_end(source)}{indent or '    '}{name} {text}"),), name, amount)])

    def _raw(self, path: str, setting: f.Setting) -> tuple[int, int] | None:
        """Where the text of a setting stands, without quotes; none where it is written otherwise than it means."""
        raw = self.program.cut(path, setting.at, setting.end)
        known = setting.text.encode()
        at = raw.find(known) if known else -1
        if self.program.files[path].kind == "xml" and at < 0:
            known = setting.text.replace("&", "&amp;").encode()
            at = raw.find(known)
        if at < 0 or raw[:at] not in (b"", b"'", b'"') or raw[at + len(known) :] != raw[:at]:
            return None
        return setting.at + at, setting.at + at + len(known)

    # ------------------------------------------------------------ missing timeouts

    def missing(self, wait: Wait, way: Endless, enough: frozenset[str]) -> Fix | None:
        """Gives a wait without a bound one, where the finding stands."""
        fn, node = way.where
        use = "query" if wait.kind == "query" else "connect" if wait.kind == "connect" else ""
        change: Change | None = None
        if fn is wait.fn and node is wait.site.call:
            if isinstance(node, f.Call) and (wait.handed_over or self._calls(fn, node, wait.api)):
                change = self._best(wait.entry.bounds, enough, fn, node, use) or self._of_request(wait, enough, use)
        elif way.holder is not None and way.holder.node is node:
            change = self.of_object(way.holder, enough, use)
        elif isinstance(node, f.Call):
            change = self._through(wait, fn, node, enough, use)
        return self.fix([change]) if change is not None else None

    def with_context(self, fn: Fun, call: f.Node, context: str) -> Fix | None:
        """Calls the sibling of a function that takes a context, with the one that the caller holds."""
        if not isinstance(call, f.Call) or not context:
            return None
        table = self.resolver.table(fn.module)
        last = last_name(call.fn)
        apis = {self.resolver.canonical(flow.thing) for flow in self.resolver.callee(call, self.resolver.frame(fn))}
        owner, _, called = (apis.pop() if len(apis) == 1 else "").rpartition(".")
        found = [name for name in (f"{last}Context", f"{last}WithContext") if _takes_context(table.call(f"{owner}.{name}"))]
        source = self.program.around(fn, call)
        opening = opening_of(source, call)
        if not found or opening is None or called != last:
            return None
        renamed = Cut(call.fn.end - len(last.encode()), call.fn.end, found[0])
        if source[renamed.at : renamed.end] != last.encode():
            return None
        given = Cut(opening + 1, opening + 1, f"{context}, " if call.args else context)
        return self.cut(fn.module.path, [renamed, given], f"Call {found[0]} with {context}", safe=False)

    def passed_on(self, fn: Fun, fresh: f.Node, context: str) -> Fix | None:
        """Gives a call the context that its function holds in the place of a fresh one."""
        if not isinstance(fresh, f.Call) or not context:
            return None
        package = dotted(fresh.fn).partition(".")[0]
        # The only use of a package: its import would be one too many.
        use = rf"\b{re.escape(package)}\."
        if not self.program.says(fn.module.path, matching(f"(?s){use}.*{use}".encode())):
            return None
        title = f"Pass {context} on, so that the work ends with its caller's"
        return self.cut(fn.module.path, [Cut(fresh.at, fresh.end, context)], title, safe=False)

    def _of_request(self, wait: Wait, enough: frozenset[str], use: str) -> Change | None:
        """Writes the bound where the request is built that a call sends."""
        place = wait.entry.request
        if place is None or place >= len(wait.target.binds) or wait.fn.module.language == "go":
            return None
        bind = wait.target.binds[place]
        made = [flow.thing for flow in self.resolver.ask(bind.expr, bind.frame)]
        builder = made[0].parent if len(made) == 1 and isinstance(made[0], Obj) else None
        while builder is not None and builder.parent is not None:
            builder = builder.parent
        return self.of_object(builder, enough, use) if builder is not None else None

    def of_object(self, obj: Obj, enough: frozenset[str], use: str) -> Change | None:
        """Writes one of these slots where an object is made."""
        if obj.frame is None or not isinstance(obj.node, f.Call | f.New):
            return None
        fn = obj.frame.fn
        table = self.resolver.table(fn.module)
        name = self.resolver.external_type(obj)
        wanted = enough.union(*(level.enough for level in table.mro(name)))
        rows = list(table.bounds(name))
        if isinstance(obj.node, f.Call):
            if not self._calls(fn, obj.node, obj.maker):
                return None
            made_as = table.constructs(obj.maker)
            if made_as is not None:
                # What a constructor takes is its own matter; what can be set on the object is that of its bases too.
                own = {id(row) for row in made_as.bounds}
                rows = [row for row in rows if id(row) in own or (row.arg is None and row.pos is None and row.option is None)]
            else:
                # A function that makes one has arguments of its own; what can be set afterwards is the same.
                rows = [row for row in rows if row.setter is not None or row.field is not None]
                made = table.call(obj.maker)
                rows += list(made.bounds) if made is not None else []
        return self._best(rows, wanted, fn, obj.node, use, name)

    def _calls(self, fn: Fun, call: f.Call, name: str) -> bool:
        """Whether a call is one of `name` and never of anything else, so that an argument of it may be written there."""
        frame = self.resolver.frame(fn)
        return {self.resolver.canonical(flow.thing) for flow in self.resolver.callee(call, frame)} == {name}

    def _through(self, wait: Wait, fn: Fun, call: f.Call, enough: frozenset[str], use: str) -> Change | None:
        """Gives a function of the program the timeout that a call leaves out, where it hands it on as it is."""
        if wait.fn.module.language != "python":
            return None
        frame = self.resolver.frame(fn)
        if {getattr(flow.thing, "fn", None) for flow in self.resolver.callee(call, frame)} != {wait.fn}:
            return None
        for row in sorted((row for row in wait.entry.bounds if row.slot in enough), key=_rank):
            bind, _ = self.program.slots.find_bind(row.arg, row.pos, wait.target.binds)
            if bind is None or not isinstance(bind.expr, f.Ref) or bind.expr.name not in wait.fn.params:
                continue
            own = Bound(slot=row.slot, arg=bind.expr.name, unit=row.unit, plausible=row.plausible)
            return self._best([own], enough, fn, call, use)
        return None

    def _best(
        self, rows: Iterable[Bound], enough: frozenset[str], fn: Fun, node: f.Call | f.New, use: str, kind: str = ""
    ) -> Change | None:
        """Writes the row that bounds most of those that can be written at a node."""
        for row in sorted((row for row in rows if row.slot in enough and not row.covers_phase), key=_rank):
            if not holds(row, self.program.version(row, fn)):
                continue
            change = self.write(row, fn, node, self.amount(row.slot, use), kind)
            if change is not None:
                return change
        return None

    def raising(self, wait: Wait) -> Fix | None:
        """Gives a wait inside the process a limit, where its end is an error: code that knows of no limit would go on otherwise."""
        call = wait.site.call
        rows = [row for row in wait.entry.bounds if row.raises]
        if not rows or not self._calls(wait.fn, call, wait.api):
            return None
        change = self._best(rows, frozenset({"wait"}), wait.fn, call, "wait")
        fix = self.fix([change]) if change is not None else None
        # An error that the code around has never met: whether it ends a request or the worker itself, no value tells.
        return structs.replace(fix, safe=False) if fix is not None else None

    # ------------------------------------------------------------ servers

    def server(self, kind: TypeEntry, unmet: Iterable[Need], fn: Fun, node: f.Node) -> Fix | None:
        """Gives a server each timeout that it needs and lacks."""
        if not isinstance(node, f.Call | f.New):
            return None
        changes: list[Change] = []
        rows = self.resolver.table(fn.module).bounds(kind.name)
        values: dict[str, str] = {}
        imports: list[Cut] = []
        for need in unmet:
            for slot in need.any:
                row = next((r for r in rows if r.slot == slot and r.field and isinstance(node, f.New)), None)
                spelled = self.spelled(row, fn, self.amount(slot, "server"), node) if row is not None else None
                if row is None or row.field is None or spelled is None:
                    continue
                values[row.field] = spelled[0]
                imports += spelled[1]
                changes.append(Change(fn.module.path, (), row.field, self.amount(slot, "server")))
                break
        if not values or not isinstance(node, f.New):
            return None
        cuts = entry(self.program.around(fn, node), fn.module.language, node, values)
        if cuts is None:
            return None
        changes[0] = replace(changes[0], cuts=(*cuts, *dict.fromkeys(imports)))
        return self.fix(changes)

    # ------------------------------------------------------------ writing a row

    def write(self, row: Bound, fn: Fun, node: f.Call | f.New, amount: Amount, kind: str = "") -> Change | None:
        """Writes an amount into a row's slot at a call or a literal. `kind`: the type of the object made there."""
        spelled = self.spelled(row, fn, amount, node) if _is_plausible(row, amount) else None
        if spelled is None:
            return None
        text, more = spelled
        source = self.program.around(fn, node)
        language = fn.module.language
        cuts: tuple[Cut, ...] | None = None
        name = row.arg or row.field or row.setter or ""
        if isinstance(node, f.New):
            named = {pair.key.name for pair in node.fields if isinstance(pair.key, f.Ref)}
            if row.field is not None and row.field not in named:
                cuts = entry(source, language, node, {row.field: text})
        elif row.option is not None and row.field is None and row.key is None:
            option = self._named(row.option, fn, node)
            if option is not None and not any(arg.spread for arg in node.args):
                name, more = row.option.rpartition(".")[2], (*more, *option[1])
                cuts = argument(source, language, node, f"{option[0]}({text})")
        elif row.arg is not None and language == "python":
            if self._is_free(row, node):
                cuts = argument(source, language, node, f"{row.arg}={text}")
        elif row.pos is not None and row.setter is None and row.field is None and row.key is None:
            count = len(node.args) + 1
            if row.pos == count - 1 and (count in row.arity or not row.arity) and not any(arg.spread for arg in node.args):
                name = row.slot
                cuts = argument(source, language, node, text) if row.arity or count == 1 else None
        elif row.setter is not None and row.key is None and row.pos in (None, 0):
            cuts = self._setter(row.setter, text, fn, node, kind)
        if cuts is None:
            return None
        return Change(fn.module.path, (*cuts, *more), name, amount)

    def limited(self, obj: Obj, slot: str) -> Fix | None:
        """Gives an executor or a queue a limit where it is made."""
        change = self.of_object(obj, frozenset({slot}), "")
        fix = self.fix([change]) if change is not None else None
        # Who puts into a full queue waits or fails: whether code is ready for that, no value tells.
        return structs.replace(fix, safe=fix.safe and slot != "capacity") if fix is not None else None

    @staticmethod
    def _is_free(row: Bound, call: f.Call) -> bool:
        """Whether an argument is not given yet, and nothing unpacked may give it."""
        places = [arg for arg in call.args if arg.name is None]
        taken = row.pos is not None and len(places) > row.pos
        return not taken and not any(arg.name == row.arg or arg.spread for arg in call.args) and not row.arity

    def _setter(self, setter: str, text: str, fn: Fun, node: f.Call, kind: str) -> tuple[Cut, ...] | None:
        """Calls a method on what a call has just made: in the same chain where it gives the object back, else below it."""
        table = self.resolver.table(fn.module)
        if kind and table.returns_itself(f"{kind}.{setter}"):
            source = self.program.source(fn.module.path)
            # A chain of a link a line gets a line more.
            row = _LINK.match(source, node.end)
            return (Cut(node.end, node.end, f"{row[1].decode() if row is not None else ''}.{setter}({text})"),)
        for stmt in walk_block(fn.block):
            if isinstance(stmt, f.Assign) and stmt.value is not None and stmt.value.at <= node.at and node.end <= stmt.value.end:
                target = stmt.targets[0] if len(stmt.targets) == 1 else None
                if stmt.value is not node or not isinstance(target, f.Ref) or stmt.op:
                    return None
                cut = self._below(fn, stmt, f"{target.name}.{setter}({text})")
                return (cut,) if cut is not None else None
        return None

    def _below(self, fn: Fun, stmt: f.Stmt, text: str) -> Cut | None:
        """A statement of its own below one that stands alone on its lines; none between the declarations of a file or class."""
        if fn.head.kind == "module" and fn.module.language != "python":
            return None
        source = self.program.around(fn, stmt)
        end = end_of_line(source, stmt.end)
        rest = source[stmt.end : end].strip()
        stop = ";" if fn.module.language == "java" else ""
        start = source.rfind(b"\n", 0, stmt.at) + 1
        before = source[start : stmt.at].strip()
        if before not in (b"", b"var") or (
            rest not in (b"", stop.encode()) and not rest.lstrip(b";").lstrip().startswith((b"#", b"//"))
        ):
            return None
        return Cut(end, end, f"{line_end(source)}{indentation(source, stmt.at)}{text}{stop}")

    # ------------------------------------------------------------ limits, buffers, causes

    def group_limit(self, spawn: Spawn) -> Fix | None:
        """Limits a group of tasks right below where it is made."""
        name = dotted(spawn.site.call.fn).rpartition(".")[0]
        table = self.resolver.table(spawn.fn.module)
        kinds = {self.resolver.external_type(holder) for holder in spawn.holders}
        kind = table.type(kinds.pop()) if len(kinds) == 1 else None
        if not name.isidentifier() or kind is None or kind.role != "group":
            return None
        rows = table.bounds(kind.name)
        row = next((r for r in rows if r.slot == "concurrency" and r.setter is not None and r.key is None), None)
        scope: Fun | None = spawn.fn
        while scope is not None and name not in scope.body.definitions:
            scope = scope.parent
        made = scope.body.definitions[name] if scope is not None else []
        if row is None or scope is None or len(made) != 1:
            return None
        stmt = next((s for s, _ in scope.body.stmts if isinstance(s, f.Assign) and s.at <= made[0].at < s.end), None)
        amount = self.amount("concurrency")
        spelled = self.spelled(row, scope, amount, spawn.site.call)
        cut = self._below(scope, stmt, f"{name}.{row.setter}({spelled[0]})") if stmt is not None and spelled is not None else None
        return self.fix([Change(scope.module.path, (cut,), "the limit", amount)]) if cut is not None else None

    def buffered(self, fn: Fun, makes: Iterable[f.Node], sends: int, *, safe: bool) -> Fix | None:
        """Gives channels room for all that is ever sent, so that no sender waits."""
        cuts: list[Cut] = []
        for call in makes:
            if not isinstance(call, f.Call):
                return None
            if len(call.args) == 1:
                cuts += argument(self.program.around(fn, call), "go", call, str(sends)) or ()
            else:
                size = call.args[1].value
                cuts.append(Cut(size.at, size.end, str(sends)))
        return self.cut(fn.module.path, cuts, f"Give the channel room for {sends}", safe=safe)

    def wrapped(self, fn: Fun, call: f.Call, error: f.Expr) -> Fix | None:
        """Wraps an error where only its text goes into a formatted one."""
        first = call.args[0].value if call.args else None
        place = next((at for at, arg in enumerate(call.args[1:]) if arg.value is error), None)
        if not isinstance(first, f.Lit) or place is None or any(arg.spread for arg in call.args):
            return None
        raw = self.program.cut(fn.module.path, first.at, first.end)
        verbs = [match for match in _VERB.finditer(raw) if match[1] != b"%"]
        # A width from an argument, or an argument by its number: the verbs do not stand in order.
        if any(b"*" in match[0] or b"[" in match[0] for match in verbs) or len(verbs) != len(call.args) - 1:
            return None
        verb = verbs[place]
        if verb[0] not in (b"%v", b"%s", b"%+v"):
            return None
        cut = Cut(first.at + verb.start(), first.at + verb.end(), "%w")
        return self.cut(fn.module.path, [cut], "Wrap the error with %w", safe=True)

    # ------------------------------------------------------------ spelling

    def spelled(self, row: Bound, fn: Fun, amount: Amount, node: f.Node) -> tuple[str, tuple[Cut, ...]] | None:
        """An amount as a row's slot takes it, in the language of a function, with the imports that it needs."""
        if row.unit in ("count", "bytes"):
            return (f"{amount.number:.0f}", ()) if amount.number.is_integer() else None
        if row.unit == "bool" or row.unit_pos is not None:
            return None
        if row.unit != "dur":
            number = round(amount.number / SECONDS[row.unit], 9)
            if number.is_integer():
                return f"{number:.0f}", ()
            return (f"{number:g}", ()) if fn.module.language == "python" else None
        return self.duration(fn, amount.number, node)

    def duration(self, fn: Fun, seconds: float, node: f.Node) -> tuple[str, tuple[Cut, ...]] | None:
        """A typed duration in the language of a function."""
        for row in self.resolver.table(fn.module).spellings:
            number = round(seconds / SECONDS[row.unit], 6)
            if not number.is_integer() or (row.unit == "min" and number < 2):
                continue
            named = self._named(row.name, fn, node)
            if named is None:
                return None
            text = row.text.format(n=f"{number:.0f}", name=named[0])
            return self._as_argument(text.removeprefix("1 * "), fn, node), named[1]
        return None

    def _as_argument(self, text: str, fn: Fun, node: f.Node) -> str:
        """A product in the place of a node; among several arguments gofmt leaves no space around its operator."""
        among = any(len(site.call.args) > 1 and any(arg.value is node for arg in site.call.args) for site in fn.body.calls)
        return text.replace(" * ", "*") if among and fn.module.language == "go" else text

    def _named(self, name: str, fn: Fun, node: f.Node) -> tuple[str, tuple[Cut, ...]] | None:
        """How a canonical name is written in a function, and the import it needs for that."""
        module = fn.module
        owner, _, last = name.rpartition(".")
        if module.language == "go":
            known = next((i.alias for i in module.facts.imports if i.target == owner and i.alias not in ("_", ".")), None)
            alias = known or owner.rpartition("/")[2]
            if not alias.isidentifier() or _is_local(alias, fn) or (known is None and self._is_taken(alias, module)):
                return None
            cut = None if known else imported(self._imports(module), "go", module.facts.imports, owner)
            return None if known is None and cut is None else (f"{alias}.{last}", (cut,) if cut else ())
        if module.language == "java":
            bound = module.imports.get(last, [])
            if any(f"{i.target}.{i.name}" == name for i in bound) or any(i.target == owner for i in module.imports.get("*", [])):
                return last, ()
            if bound or self._is_taken(last, module):
                return name, ()
            cut = imported(self._imports(module), "java", module.facts.imports, name)
            return (last, (cut,)) if cut is not None else (name, ())
        return None

    def _imports(self, module: Module) -> bytes:
        """The text of a file, of which only the lines of its imports are read, if it has any."""
        found = sorted(module.facts.imports, key=lambda imp: imp.at)
        if not found:
            return self.program.source(module.path)
        return self.program.looks.around(module.path, found[0].at, found[-1].end)

    def _is_taken(self, name: str, module: Module) -> bool:
        """Whether a name means something else in a file already."""
        beside = self._folders.get(module.folder, ())
        return name in module.imports or any(
            other.language == module.language and (name in other.declared or name in other.functions[0].body.definitions)
            for other in beside
            if other.functions
        )


_DEFAULT = re.compile(r"\$\{[\w.-]+:-?(.+)\}", re.DOTALL)
_PLACEHOLDER = re.compile(r"[$#]\{[^{}]*\}")


def _own_url(text: str) -> tuple[str, int] | None:
    """The URL that a setting itself says, and how many characters stand behind it: the default of a placeholder (`${DB_URL:…}`),
    as what comes in its place has keys of its own. None where it ends with text of which nobody here knows whether it has some."""
    found = _DEFAULT.fullmatch(text)
    if found is not None and _PLACEHOLDER.sub("", found[1]).count("}") == 0:
        inner = _own_url(found[1])
        return (inner[0], inner[1] + 1) if inner is not None else None
    last = next((found for found in _PLACEHOLDER.finditer(text) if found.end() == len(text)), None)
    if last is not None and text[: last.start()][-1:] not in ("/", "=", ":"):
        return None
    if "#" in _PLACEHOLDER.sub("", text):
        return None
    return text, 0


def _is_local(name: str, fn: Fun) -> bool:
    """Whether a function, or one around it, has a variable of that name."""
    scope: Fun | None = fn
    while scope is not None:
        if scope.head.kind != "module" and (name in scope.params or name in scope.body.definitions):
            return True
        scope = scope.parent
    return False


def _takes_context(entry: CallEntry | None) -> bool:
    return entry is not None and entry.context == 0


def _meant(row: Bound, number: float, unit: str) -> tuple[Amount, str] | None:
    """The first unit, other than the one it counts in, in which a number makes sense for a slot."""
    for other in ("s", "ms"):
        amount = Amount(number * SECONDS[other], say_seconds(number * SECONDS[other]))
        if other != unit and 0.01 <= amount.number <= 600 and _is_plausible(row, amount):
            return amount, other
    return None


def _is_plausible(row: Bound, amount: Amount) -> bool:
    """Whether a row says nothing against an amount."""
    scale = SECONDS.get(row.unit, 1.0)
    return row.plausible is None or row.plausible[0] * scale <= amount.number <= row.plausible[1] * scale


def _as_setting(row: Bound, amount: Amount) -> str | None:
    """An amount as the text of a setting that a row reads."""
    if row.unit in ("bool", "bytes"):
        return None
    unit = row.unit if row.unit != "dur" else "s" if amount.number.is_integer() else "ms"
    number = round(amount.number / SECONDS.get(unit, 1.0), 6)
    return f"{number:.0f}{unit if row.unit == 'dur' else ''}" if number.is_integer() else None


def _rank(row: Bound) -> int:
    return _BEST.index(row.slot) if row.slot in _BEST else len(_BEST)
