"""Selections of rows: statements of SQL and chains of calls that pick what waits for work, and whether anything limits them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from resilint import facts as f
from resilint.flow.lists import Words, words
from resilint.flow.runs import Runs
from resilint.flow.sql import HOLE, Condition, Statement, begins_like_sql, read_conditions, read_statement, reads_like_sql
from resilint.flow.values import Flow, Obj, Text
from resilint.knowledge.schema import SelectRow
from resilint.link.code import CODE, CallSite, Fun, Module, called_part, dotted, last_name, walk, walk_block
from resilint.link.looks import any_small
from resilint.model import Confidence, Span, Step

if TYPE_CHECKING:
    from resilint.program import Program

_MOST_BOXES = 3
_MOST_LINKS = 40
_MOST_ARGS = 12
_SIGNS = any_small((b"select", b"insert into", b"delete from", b'"from '))
"""What a file has to say, in small letters, for statements to be looked for in it."""
_EQUAL = frozenset({"=", "==", "in", "eq", "exact", "is", "iexact", "in_", "anyof"})
_RANGES = frozenset({"<", "<=", ">", ">=", "between", "lt", "lte", "gt", "gte", "range", "before", "after", "le", "ge"})
_COMPARE_CALLS = frozenset(
    {
        "eq",
        "is",
        "in",
        "in_",
        "is_",
        "equal",
        "lt",
        "lte",
        "gt",
        "gte",
        "le",
        "ge",
        "between",
        "before",
        "after",
        "lessthan",
        "greaterthan",
    }
)
_FALSE = frozenset({"false", "0", "f", "n", "no"})


class Scan(NamedTuple):
    """A selection that nothing limits: where, of what, by which condition."""

    span: Span
    text: str
    confidence: Confidence
    steps: tuple[Step, ...]


class Query(NamedTuple):
    """A statement where it is handed to a call, or stands in an annotation."""

    fn: Fun
    node: f.Node
    site: CallSite | None
    statements: tuple[Statement, ...]
    """What it may be, one for each text that reaches the place."""
    known: bool
    """Whether those are all."""


class Why(NamedTuple):
    """Why rows are picked: the words for it, and whether the condition itself says that they wait for work."""

    said: str
    waiting: bool


def _is_window(conditions: Iterable[Condition]) -> bool:
    """Whether rows are picked between two values of one column, such as those of a day: what stays behind does not add to them."""
    lower = {c.column for c in conditions if c.op in (">", ">=")}
    return any(c.op == "between" or (c.op in ("<", "<=") and c.column in lower) for c in conditions)


class Link(NamedTuple):
    """One call of a chain, or an attribute it begins with."""

    name: str
    call: f.Call | None


class Scans:
    """Finds selections and judges them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.words = Words(program)
        self.runs = Runs(program)
        self._calls = self.words.of("sql_calls")
        self._call_words = self.words.of("sql_call_words")
        self._named_calls: dict[str, bool] = {}
        self._limits = self.words.of("row_limits")
        self._changes = self.words.of("row_changes")

    # ------------------------------------------------------------ statements

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """Statements of SQL that code runs, in order of path and place; those of tests are left out."""
        return self.program.gathered("queries", self._find_queries, lambda query: (query.fn.module.path,))

    def _find_queries(self) -> Iterable[Query]:
        found: list[Query] = []
        annotations = self.words.of("sql_annotations")
        speaking: dict[str, bool] = {}
        running = set(self.program.start_calling(self._runs_sql))
        annotated = {fn for fn in self.program.starts("java") if _bears(fn, annotations)}
        for fn in sorted(running | annotated, key=lambda fn: fn.key):
            module = fn.module
            if module.is_test or module.language not in CODE or self._runs_once(module):
                continue
            speaks = speaking.get(module.path)
            if speaks is None:
                speaks = speaking[module.path] = self.program.says(module.path, _SIGNS)
            if speaks and fn in annotated:
                found.extend(self._annotated(fn, annotations))
            if speaks and fn in running:
                found.extend(self._handed(fn))
        return found

    def _runs_once(self, module: Module) -> bool:
        """Whether a file changes the database once, when a version is installed."""
        return any(part in self.words.of("one_off") for part in module.folder.split("/"))

    def _runs_sql(self, name: str) -> bool:
        """Whether a call of this name may be handed a statement."""
        known = self._named_calls.get(name)
        if known is None:
            low = name.lower()
            # Most names hold none of the words at all, which is told sooner than what their words are.
            known = low in self._calls or (
                any(w in low for w in self._call_words) and any(w in self._call_words for w in words(name))
            )
            self._named_calls[name] = known
        return known

    def _speaks_sql(self, expr: Any, fn: Fun, depth: int) -> bool:
        """Whether a statement is written in an expression, or where a name in it is defined near by: only then it is resolved."""
        for node in walk(expr):
            if isinstance(node, f.Lit):
                if isinstance(node.value, str) and begins_like_sql(node.value):
                    return True
            elif isinstance(node, f.Ref) and depth < 2:
                scope: Fun | None = fn
                head, last = node.name.partition(".")[0], node.name.rpartition(".")[2]
                if any(part.isupper() and len(part) > 2 for part in (head, last)):
                    return True
                while scope is not None:
                    for d in scope.body.definitions.get(head, ()):
                        if d.expr is not None and d.kind in ("value", "aug") and self._speaks_sql(d.expr, scope, depth + 1):
                            return True
                    scope = scope.parent or (fn.module.functions[0] if scope.index else None)
                if any(
                    x.name == last and x.init is not None and self._speaks_sql(x.init, fn, 2)
                    for k in fn.module.classes
                    for x in k.decl.fields
                ):
                    return True
        return False

    def _handed(self, fn: Fun) -> Iterator[Query]:
        for site in fn.body.calls:
            if not self._runs_sql(site.last):
                continue
            for arg in site.call.args[:4]:
                query = self._query(fn, site, arg.value)
                if query is not None:
                    yield query
                    break

    def _query(self, fn: Fun, site: CallSite, expr: f.Expr) -> Query | None:
        if not _may_be_text(expr) or not self._speaks_sql(expr, fn, 0):
            return None
        if isinstance(expr, f.Lit):
            texts, known = [str(expr.value)] if isinstance(expr.value, str) else [], True
        else:
            flows = [x for flow in self.resolver.ask(expr, self.resolver.frame(fn)) for x in self._held(flow, 0)]
            texts = [flow.thing.known for flow in flows if isinstance(flow.thing, Text)]
            known = len(texts) == len(flows)
        read = [read_statement(text) for text in texts if reads_like_sql(text)]
        statements = tuple(statement for statement in read if statement is not None)
        if not statements or any(t.entry is not None and t.entry.holds is not None for t in self.program.targets(site)):
            return None  # What only holds a statement runs none: `sql.SQL("…")`.
        return Query(fn, site.call, site, statements, known and len(statements) == len(texts))

    def _held(self, flow: Flow, depth: int) -> Iterator[Flow]:
        """What an object holds that a library makes of a text: the statement in its clause."""
        obj = flow.thing
        if isinstance(obj, Obj) and obj.maker and obj.frame is not None and isinstance(obj.node, f.Call) and depth < _MOST_BOXES:
            row = self.program.knowledge.of(obj.frame.fn.module.language).call(obj.maker)
            args = obj.binds if obj.binds is not None else self.resolver.binds(obj.node, obj.frame)
            if row is not None and row.holds is not None and row.holds < len(args):
                inner = args[row.holds]
                for held in self.resolver.ask(inner.expr, inner.frame):
                    yield from self._held(held, depth + 1)
                return
        yield flow

    def _annotated(self, fn: Fun, annotations: frozenset[str]) -> Iterator[Query]:
        for decorator in fn.head.decorators:
            if not isinstance(decorator, f.Call) or last_name(decorator.fn) not in annotations:
                continue
            values = [arg.value for arg in decorator.args if arg.name in (None, "value", "sql", "nativeQuery")]
            scope = fn.module.functions[0]
            for value in values[:2]:
                items = [pair.value for pair in value.items] if isinstance(value, f.Coll) else [value]
                flows = [flow for item in items for flow in self.resolver.ask(item, self.resolver.frame(scope))]
                texts = [flow.thing.known for flow in flows if isinstance(flow.thing, Text)]
                joined = [" ".join(texts)] if isinstance(value, f.Coll) else texts
                statements = [s for s in map(read_statement, joined) if s is not None]
                if statements:
                    yield Query(fn, decorator, None, tuple(statements), len(texts) == len(flows))

    # ------------------------------------------------------------ RS305

    def unlimited(self) -> Iterator[Scan]:
        """Selections of what waits for work, or of jobs that run again and again, without a limit (RS305)."""
        found: dict[Span, Scan] = {}
        for query in (query for query in self.queries if self.program.in_focus(query.fn)):
            scan = self._judge_query(query)
            if scan is not None:
                found.setdefault(scan.span, scan)
        for scan in self._chains():
            found.setdefault(scan.span, scan)
        for scan in self._derived():
            found.setdefault(scan.span, scan)
        yield from sorted(found.values(), key=lambda scan: scan.span)

    def _judge_query(self, query: Query) -> Scan | None:
        if not query.known or any(s.verb != "select" or s.is_limited or s.is_aggregate or s.is_open for s in query.statements):
            return None
        statement = query.statements[0]
        handed = self._handed_values(query)
        why = self.why(statement.conditions, statement.tables, handed)
        if why is None or self._is_cut(query.fn, query.node, query.site):
            return None
        table = next((table for table in statement.tables if HOLE not in table), "")
        return self._scan(query.fn, query.node, table, why)

    def _scan(
        self, fn: Fun, node: f.Node, table: str, why: Why, extra: tuple[Step, ...] = (), row: SelectRow | None = None
    ) -> Scan | None:
        run = self.runs.of(fn, node)
        if run.kind == "request" or (run.kind == "" and not why.waiting):
            return None
        rows = f"every row of `{table}`" if table else "every row"
        text = f"{rows} {why.said} is picked at once: nothing limits how many, and a backlog makes each run slower than the last"
        sure = Confidence.HIGH if run.kind == "job" and why.waiting else Confidence.MEDIUM
        sure = sure if row is None else self.program.knowledge.sure(row, sure)
        return Scan(self.program.span_of(fn, node), text, min(sure, run.confidence), (*run.steps, *extra))

    def why(self, conditions: Iterable[Condition], tables: Iterable[str] = (), handed: Iterable[str] = ()) -> Why | None:
        """Why rows are picked by these conditions, where that is their state or a time; none where they are few by a key."""
        known = list(conditions)
        if self.is_by_key(known):
            return None
        given = [value for value in handed if self._waits(value)]
        queue = next((t for t in tables if any(w in self.words.of("row_queue") for w in words(t))), "")
        # Rows of a queue stay until they are done: even those of a window grow in number as work falls behind.
        windowed = not queue and _is_window(known)
        for c in known:
            if self._is_state(c.column) and c.op in _EQUAL:
                value = next((v for v in c.values if self._waits(v)), "")
                working = next((v for v in c.values if self._waits(v, "row_working")), "")
                if working and not value:
                    if self._waits(working, "row_in_work"):
                        return None  # There are as many as whoever works on them takes at once.
                    return Why(f"whose {c.column} is {working}", False)
                if not value and given and any(v in ("?", "", HOLE) for v in c.values or ("?",)):
                    value = given[0]
                if value:
                    return Why(f"whose {c.column} is {value}", True)
            if self._is_undone(c) and not windowed:
                return Why(f"whose {c.column} is {'not set' if c.op in ('is', 'isnull') else 'false'}", True)
        timed = next((c for c in known if self.is_time(c)), None) if not windowed else None
        stated = next((c for c in known if self._is_state(c.column) and c.op in _EQUAL and "?" in c.values), None)
        if queue and (timed is not None or stated is not None or not known):
            return Why(f"by {timed.column}" if timed is not None else "that waits", True)
        if timed is not None:
            return Why(f"by {timed.column}", False)
        if stated is not None:
            return Why(f"by {stated.column}", False)
        return None

    def _waits(self, value: str, topic: str = "row_waiting") -> bool:
        plain = value.strip("'\"").lower()
        waiting = self.words.of(topic)
        if plain in waiting:
            return True
        # `Status.PENDING`, `StatusPending`, `STATE_NEW`: a name, not a text.
        parts = words(value.rpartition(".")[2])
        return 1 < len(parts) <= 4 and parts[-1] in waiting and parts[0] not in ("is", "not", "non", "no")

    def _is_state(self, column: str) -> bool:
        parts = words(column)
        return bool(parts) and (parts[-1] in self.words.of("row_state") or column in self.words.of("row_state"))

    def _is_key(self, c: Condition) -> bool:
        parts = words(c.column)
        if c.op in _EQUAL and len(c.values) == 1 and c.values[0] in self.words.of("row_owner"):
            return True  # The rows of the one object that the code is about.
        return (
            c.op in _EQUAL
            and bool(parts)
            and parts[-1] in self.words.of("row_key")
            and not self._is_state(c.column)
            and "null" not in c.values
        )

    def is_by_key(self, conditions: Iterable[Condition]) -> bool:
        """Whether conditions name one row, or a small family of rows."""
        return any(self._is_key(c) for c in conditions)

    def _is_undone(self, c: Condition) -> bool:
        parts = words(c.column)
        if (
            not any(part in self.words.of("row_done") for part in parts)
            or self._is_state(c.column)
            or parts[-1] in ("id", "by", "count")
        ):
            return False
        if c.op == "not":
            return True
        if c.op in ("is", "isnull"):
            return any(v in ("null", "none", "nil", "true", "false", "0") for v in c.values) and (c.op == "isnull") == (
                "true" in c.values
            )
        # `sent = 0`, but not `charged_value = 0`, which is an amount.
        flag = parts[-1] in self.words.of("row_done") or parts[0] in ("is", "has", "was")
        return flag and c.op in ("=", "==", "eq", "exact") and any(v.lower() in _FALSE for v in c.values)

    def is_time(self, c: Condition) -> bool:
        """Whether a condition asks for a range of time."""
        parts = words(c.column)
        known = self.words.of("row_time")
        return c.op in _RANGES and any(part in known for part in parts) and parts[-1] not in self.words.of("row_no_time")

    def _handed_values(self, query: Query) -> list[str]:
        """Texts and names among the other arguments of a call, and of those that bind values behind it."""
        if query.site is None:
            return []
        roots: list[Any] = [arg.value for arg in query.site.call.args[:_MOST_ARGS]]
        around = self._chain_around(query.site)
        roots.extend(arg.value for call in around for arg in call.args[:_MOST_ARGS])
        return list(_values(roots))

    def _chain_around(self, site: CallSite) -> list[f.Call]:
        """The calls that are made on the result of a call: `createQuery(…).setMaxResults(9).getResultList()`."""
        out: list[f.Call] = []
        names = _names_of_result(site)
        for other in site.fn.body.calls:
            if other.call is site.call:
                continue
            base = other.call.fn.base if isinstance(other.call.fn, f.Field) else None
            on_it = base is not None and base.at <= site.call.at and site.call.end <= base.end
            if on_it or (other.call.at > site.call.at and dotted(other.call.fn).partition(".")[0] in names):
                out.append(other.call)
        return out

    def _is_cut(self, fn: Fun, node: f.Node, site: CallSite | None) -> bool:
        """Whether something beside a selection limits its rows or brings them a part at a time."""
        if site is None:
            return any(self._limits_type(p.type) for p in fn.head.params)
        for call in (site.call, *self._chain_around(site)):
            if call is not site.call and self._is_limit(last_name(call.fn)):
                return True
            if any(self._pages(arg) for arg in call.args):
                return True
        return self._is_sliced(fn, node, _names_of_result(site)) or self._read_in_parts(fn, site)

    def _read_in_parts(self, fn: Fun, site: CallSite) -> bool:
        """Whether the cursor that a statement runs on is read one part, or one row, at a time."""
        base = dotted(site.call.fn).rpartition(".")[0]
        for other in fn.body.calls:
            last = other.last.lower()
            if other.call is site.call:
                continue
            on_it = not base or dotted(other.call.fn).rpartition(".")[0] == base
            if last in ("fetchmany", "fetchone") or (on_it and last in ("setmaxrows", "setlimit", "setmaxresults")):
                return True
            if (
                base
                and last in ("setfetchsize", "cursor")
                and any(self._limits_arg(arg) or arg.name == "name" for arg in other.call.args)
            ):
                return True
        return any(
            key.rpartition(".")[2].lower() in self._limits
            for key in fn.body.definitions
            if "." in key and base and key.startswith(base + ".")
        )

    def _limits_type(self, kind: f.Type | None) -> bool:
        return kind is not None and any(part in self._limits or part == "limit" for part in (kind.name.rpartition(".")[2].lower(),))

    def _is_limit(self, name: str) -> bool:
        return name.lower() in self._limits

    def _pages(self, arg: f.Arg) -> bool:
        """Whether an argument beside a statement asks for a part of the rows; a value for the statement may have any name."""
        if arg.name and self._is_limit(arg.name.replace("_", "")):
            return True
        value = arg.value
        if isinstance(value, f.Call):
            owner = dotted(value.fn).rpartition(".")[0].rpartition(".")[2] or last_name(value.fn)
            return owner[:1].isupper() and self._is_limit(owner)
        return isinstance(value, f.Ref) and any(w in ("pageable", "page", "paging") for w in words(value.name.rpartition(".")[2]))

    def _narrows_to(self, arg: f.Arg) -> bool:
        """Whether an argument beside conditions says how many: `limit=9`, `options.Find().SetLimit(9)`."""
        if arg.name:
            return self._is_limit(arg.name.replace("_", ""))
        return any(isinstance(node, f.Call) and self._is_limit(last_name(node.fn)) for node in walk(arg.value))

    def _limits_arg(self, arg: f.Arg) -> bool:
        """Whether an argument says how many: `limit=100`, `PageRequest.of(0, 50)`, `options.Find().SetLimit(9)`."""
        if arg.name and self._is_limit(arg.name.replace("_", "")):
            return True
        for node in walk(arg.value):
            if isinstance(node, f.Call) and (
                self._is_limit(last_name(node.fn)) or self._is_limit(dotted(node.fn).rpartition(".")[0].rpartition(".")[2])
            ):
                return True
            if isinstance(node, f.Ref) and any(
                w in ("limit", "page", "pageable", "paging", "batch") for w in words(node.name.rpartition(".")[2])
            ):
                return True
        return False

    def _is_sliced(self, fn: Fun, node: f.Node, names: set[str]) -> bool:
        """Whether only a part is taken of what a call, or one of these names, gives; or a call around takes a part."""
        for part in walk_block(fn.block):
            if isinstance(part, f.Slice | f.Index):
                inside = (part.base.at <= node.at and node.end <= part.base.end) or (
                    isinstance(part, f.Slice) and _root(part.base) in names
                )
                if inside or (
                    dotted(part.base) in names
                    and (isinstance(part, f.Slice) or not isinstance(part.key, f.Lit) or isinstance(part.key.value, int))
                ):
                    return True
            elif isinstance(part, f.Call) and self._is_limit(last_name(part.fn)):
                # The length of what has been brought limits nothing.
                kept = names if last_name(part.fn) != "len" else ()
                for arg in part.args:
                    if (arg.value.at <= node.at and node.end <= arg.value.end) or dotted(arg.value) in kept:
                        return True
            elif (
                isinstance(part, f.Loop)
                and part.iter is not None
                and (dotted(part.iter) in names or (part.iter.at <= node.at and node.end <= part.iter.end))
                and any(isinstance(inner, f.Jump) and inner.kind == "break" for inner in walk_block(part.body))
            ):
                return True
        return False

    # ------------------------------------------------------------ chains of calls

    @cached_property
    def _rows(self) -> dict[str, list[tuple[SelectRow, frozenset[str]]]]:
        """The ways of each language to pick rows by calls, with the modules that are evidence for them."""
        out: dict[str, list[tuple[SelectRow, frozenset[str]]]] = {}
        for library in self.program.knowledge.libraries:
            for row in library.selects:
                out.setdefault(library.language, []).append((row, frozenset(library.modules)))
        return out

    def _chains(self) -> Iterator[Scan]:
        imported: dict[tuple[str, int], bool] = {}
        for language, rows in self._rows.items():
            for row, modules in rows:
                for name in row.narrows:
                    for fn in self.program.names.callers(name):
                        module = fn.module
                        if not self.program.in_focus(module):
                            continue
                        if module.language != language or module.is_test or self._runs_once(module):
                            continue
                        key = (module.path, id(row))
                        if key not in imported:
                            imported[key] = row.anywhere or _imports(module, modules)
                        if imported[key]:
                            yield from self._chains_of(fn, row)

    def _chains_of(self, fn: Fun, row: SelectRow) -> Iterator[Scan]:
        sites = [site for site in fn.body.calls if site.last in row.narrows or site.last in row.brings]
        inner = {id(link.call) for site in sites for link in _links(site.call, fn)[1:] if link.call is not None}
        for site in sites:
            if id(site.call) in inner:
                continue
            chain = self._whole(_links(site.call, fn), fn)
            names = [link.name for link in chain]
            begun = any(name in row.begins for name in names)
            narrowed = [link.call for link in chain if link.call is not None and link.name in row.narrows]
            narrowed = [call for call in narrowed if not row.arity or len(call.args) in row.arity]
            if not begun or not narrowed:
                continue
            if any(self._is_limit(name) or name.lower() in self._changes for name in names) or self._holds_sql(chain):
                continue
            around = self._chain_around(site)
            results = _names_of_result(site) | {
                dotted(a.value) for s in (site.stmt,) if isinstance(s, f.Do) for a in site.call.args
            }
            behind = [last_name(call.fn) for call in around]
            if any(self._is_limit(name) or name.lower() in self._changes for name in behind):
                continue
            if any(
                _is_amount(arg) for link in chain if link.call is not None and link.name in row.begins for arg in link.call.args
            ):
                continue
            if any(last_name(call.fn) in row.counted and _says_how_many(call) for call in around) or any(
                other.last in row.paged_by and other.call.at < site.call.at for other in fn.body.calls
            ):
                continue
            brought = not row.brings or any(name in row.brings for name in (*names, *behind)) or self._is_handed_on(site, row)
            if not brought or (not row.brings and self._only_returned(site)):
                continue
            if any(self._narrows_to(arg) for call in narrowed for arg in call.args) or any(
                self._limits_arg(arg) for call in self._calls_around(site) for arg in call.args if not _covers(arg.value, site.call)
            ):
                continue
            if self._is_sliced(fn, site.call, results):
                continue
            conditions = [c for call in narrowed if last_name(call.fn) not in row.drops for c in self._conditions(call)]
            dropped = [c for call in narrowed if last_name(call.fn) in row.drops for c in self._conditions(call)]
            why = self.why([*conditions, *_opposites(dropped)])
            if why is None:
                continue
            begin = next((link for link in reversed(chain) if link.name in row.begins), None)
            scan = self._scan(fn, called_part(site.call), _subject(begin, chain), why, row=row)
            if scan is not None:
                yield scan

    def _holds_sql(self, chain: list[Link]) -> bool:
        return any(
            isinstance(arg.value, f.Lit) and isinstance(arg.value.value, str) and reads_like_sql(arg.value.value)
            for link in chain
            if link.call is not None
            for arg in link.call.args
        )

    def _whole(self, chain: list[Link], fn: Fun) -> list[Link]:
        """A chain with what later statements add to the variable that it begins with."""
        root = chain[-1].name if chain and chain[-1].call is None else ""
        if not root:
            return chain
        out = list(chain)
        for site in fn.body.calls:
            links = _links(site.call, fn, follow=False)
            if (
                links
                and links[-1].call is None
                and links[-1].name == root
                and root in fn.body.definitions
                and root not in fn.params
            ):
                out.extend(link for link in links if link not in out)
        return out[:_MOST_LINKS]

    def _is_handed_on(self, site: CallSite, row: SelectRow) -> bool:
        """Whether a selection, or the variable that holds it, is an argument of a call that brings rows."""
        names = _names_of_result(site)
        for other in site.fn.body.calls:
            if other.last in row.brings:
                for arg in other.call.args:
                    if _covers(arg.value, site.call) or dotted(arg.value) in names:
                        return True
        return False

    @staticmethod
    def _calls_around(site: CallSite) -> list[f.Call]:
        return [
            other.call
            for other in site.fn.body.calls
            if other.call is not site.call and any(_covers(arg.value, site.call) for arg in other.call.args)
        ]

    @staticmethod
    def _only_returned(site: CallSite) -> bool:
        """Whether a selection that is not carried out yet is given to the caller, who may limit it."""
        names = _names_of_result(site)
        returned = [stmt.value for stmt, _ in site.fn.body.returns if stmt.value is not None]
        return any(value is site.call or _root(value) in names for value in returned)

    def _conditions(self, call: f.Call) -> Iterator[Condition]:
        """What a narrowing call asks of rows."""
        values = [v for arg in call.args for v in _values([arg.value])]
        for arg in call.args[:_MOST_ARGS]:
            if arg.name:
                yield _keyword(arg.name, arg.value)
            for node in walk(arg.value):
                if isinstance(node, f.Bin):
                    column = last_name(node.left)
                    if column:
                        yield Condition(column, node.op, tuple(_values([node.right])) or ("?",))
                elif isinstance(node, f.Call):
                    yield from _compared(node)
                elif isinstance(node, f.Coll) and node.kind == "map":
                    yield from _mapped(node.items)
                elif isinstance(node, f.New):
                    yield from _mapped(node.fields)
                elif isinstance(node, f.Un) and node.op in ("not", "~") and last_name(node.value):
                    yield Condition(last_name(node.value), "not", ())
        first = call.args[0].value if call.args else None
        if isinstance(first, f.Lit) and isinstance(first.value, str):
            for c in read_conditions(first.value):
                yield Condition(c.column, c.op, (*c.values, *values[1:]) if "?" in c.values else c.values)
            if first.value.replace("_", "").isalnum() and len(call.args) > 1:
                yield Condition(first.value, "=", tuple(values[1:]) or ("?",))

    # ------------------------------------------------------------ names that are queries

    def _derived(self) -> Iterator[Scan]:
        """Methods of repositories whose name is the query: `findByStatus`, `findAllByStateAndCreatedAtBefore`."""
        for name, callers in self.program.names.callers_of.items():
            if name.startswith(self._prefixes) and self._named(name):
                for fn in callers:
                    if fn.module.language == "java" and not fn.module.is_test:
                        for site in fn.body.calls:
                            scan = self._judge_derived(fn, site) if site.last == name else None
                            if scan is not None:
                                yield scan

    @cached_property
    def _endings(self) -> dict[str, str]:
        """What a condition's name may end with in a method that is a query, and how it compares."""
        of = self.words.of
        out = dict.fromkeys(of("finder_range"), "<")
        out.update(dict.fromkeys(of("finder_null"), "is"))
        out.update(dict.fromkeys(of("finder_false"), "false"))
        out.update(dict.fromkeys(of("finder_other"), "!="))
        out.update(dict.fromkeys(of("finder_equal"), "="))
        return out

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        return tuple(sorted(self.words.of("finder_prefix"), key=lambda prefix: (-len(prefix), prefix)))

    def _named(self, name: str) -> list[Condition]:
        """The conditions that a method's name spells."""
        prefix = next((p for p in self._prefixes if name.startswith(p)), "") if name.startswith(self._prefixes) else ""
        rest = name[len(prefix) :].partition("OrderBy")[0] if prefix else ""
        if not rest[:1].isupper():
            return []
        out: list[Condition] = []
        for part in _split_on(rest, ("And", "Or")):
            ending = max((s for s in self._endings if part.endswith(s) and len(part) > len(s)), key=len, default="")
            op = self._endings.get(ending, "=")
            value = {"is": "null", "false": "false"}.get(op, "?")
            column = part[: len(part) - len(ending)] if ending else part
            out.append(Condition(column[:1].lower() + column[1:], "=" if op == "false" else op, (value,)))
        return out

    def _judge_derived(self, fn: Fun, site: CallSite) -> Scan | None:
        conditions = self._named(site.last)
        declared = self.program.names.java.declared(site.call, fn) if conditions else ()
        methods = [m for m in declared if isinstance(m, Fun)]
        if (
            not methods
            or not all(m.head.is_abstract for m in methods)
            or any(d for m in methods for d in m.head.decorators if isinstance(d, f.Call))
        ):
            return None
        method = methods[0]
        returned = method.head.returns[0] if method.head.returns else None
        if returned is None or not (
            returned.shape == "list" or returned.name.rpartition(".")[2] in ("List", "Collection", "Iterable", "Set", "Stream")
        ):
            return None
        if any(
            self._limits_type(p.type)
            or (
                p.type is not None
                and p.type.name.rpartition(".")[2] in ("Pageable", "PageRequest", "Limit", "ScrollPosition", "RowBounds")
            )
            for p in method.head.params
        ):
            return None
        handed = list(_values(arg.value for arg in site.call.args))
        why = self.why(conditions, (), handed)
        if (
            why is None
            or self._is_sliced(fn, site.call, _names_of_result(site))
            or any(self._is_limit(last_name(c.fn)) for c in self._chain_around(site))
        ):
            return None
        kind = returned.args[0].name if returned.args else ""
        at = f.Ref(method.head.name_at, method.head.name_at + len(method.name.encode()), method.name)
        step = self.program.step(method, at, f"`{method.name}` takes neither a page nor a limit")
        return self._scan(fn, called_part(site.call), kind, why, (step,))


def _opposites(conditions: list[Condition]) -> Iterator[Condition]:
    """What is left where rows are dropped by one flag: those of which it is not true."""
    if len(conditions) == 1 and conditions[0].op in _EQUAL and {v.lower() for v in conditions[0].values} == {"true"}:
        yield Condition(conditions[0].column, "=", ("false",))


def _bears(fn: Fun, annotations: frozenset[str]) -> bool:
    return any(isinstance(d, f.Call) and last_name(d.fn) in annotations for d in fn.head.decorators)


def _imports(module: Module, modules: frozenset[str]) -> bool:
    return any(
        imp.target in modules
        or imp.target.partition(".")[0] in modules
        # A package of a namespace: `from vendor.area import product`.
        or (imp.name and f"{imp.target}.{imp.name}" in modules)
        or any(imp.target.startswith((m + ".", m + "/")) for m in modules)
        for imp in module.facts.imports
    )


def _may_be_text(expr: f.Expr) -> bool:
    if isinstance(expr, f.Lit):
        return isinstance(expr.value, str)
    if isinstance(expr, f.Call):
        return bool(expr.args) or isinstance(expr.fn, f.Field)
    return isinstance(expr, f.Ref | f.Field | f.Fmt) or (isinstance(expr, f.Bin) and expr.op in ("+", "%"))


_AMOUNT = re.compile(r"\s*(?:count|sum|min|max|avg|exists)\s*\(", re.IGNORECASE)


def _is_amount(arg: f.Arg) -> bool:
    """Whether a text that names columns asks for a number: `Select("count(*)")`."""
    return isinstance(arg.value, f.Lit) and isinstance(arg.value.value, str) and _AMOUNT.match(arg.value.value) is not None


def _says_how_many(call: f.Call) -> bool:
    """Whether a call is given a number, or something that may be one: none is given by `None` and by nothing."""
    return any(not isinstance(arg.value, f.Lit) or arg.value.value is not None for arg in call.args)


def _root(expr: Any) -> str:
    """The name with which a chain of calls begins."""
    node = expr
    for _ in range(_MOST_LINKS):
        if isinstance(node, f.Call):
            node = node.fn
        elif isinstance(node, f.Field | f.Slice):
            node = node.base
        else:
            break
    return node.name.partition(".")[0] if isinstance(node, f.Ref) else ""


def _covers(expr: f.Expr, node: f.Node) -> bool:
    return expr.at <= node.at and node.end <= expr.end


def _names_of_result(site: CallSite) -> set[str]:
    """The names that a statement gives what a call, or a chain upon it, gives."""
    if not isinstance(site.stmt, f.Assign) or site.stmt.value is None:
        return set()
    names: set[str] = set()
    for target in site.stmt.targets:
        parts = [pair.value for pair in target.items] if isinstance(target, f.Coll) else [target]
        names.update(dotted(part) for part in parts)
    return names - {"", "_", "err"}


def _links(call: f.Call, fn: Fun, follow: bool = True) -> list[Link]:
    """The calls of a chain from the last to the first, through variables of the function; a name that begins it comes last."""
    out: list[Link] = []
    node: Any = call
    seen: set[str] = set()
    while len(out) < _MOST_LINKS:
        if isinstance(node, f.Await):
            node = node.value
        elif isinstance(node, f.Call):
            out.append(Link(last_name(node.fn), node))
            if isinstance(node.fn, f.Field):
                node = node.fn.base
            elif isinstance(node.fn, f.Ref) and "." in node.fn.name:
                node = f.Ref(node.fn.at, node.fn.end, node.fn.name.rpartition(".")[0])
            else:
                return out
        elif isinstance(node, f.Field):
            out.append(Link(node.name, None))
            node = node.base
        elif isinstance(node, f.Slice | f.Index):
            out.append(Link("slice" if isinstance(node, f.Slice) else "index", None))
            node = node.base
        elif isinstance(node, f.Ref):
            defs = [d for d in fn.body.definitions.get(node.name, ()) if d.kind == "value" and d.expr is not None and not d.item]
            if follow and defs and node.name not in seen and node.name not in fn.params:
                seen.add(node.name)
                for d in defs[1:]:
                    if isinstance(d.expr, f.Call | f.Slice):
                        out.extend(link for link in _links_of(d.expr, fn) if link.call is not None or link.name == "slice")
                node = defs[0].expr
                continue
            out.extend(Link(part, None) for part in reversed(node.name.split(".")))
            return out
        else:
            return out
    return out


def _links_of(expr: Any, fn: Fun) -> list[Link]:
    if isinstance(expr, f.Slice):
        return [Link("slice", None)]
    return _links(expr, fn, follow=False)


def _subject(begin: Link | None, chain: list[Link]) -> str:
    """What rows are of: `Order` in `Order.objects`, `select(Order)`, `query(Order)`."""
    if begin is None:
        return ""
    if begin.call is not None and begin.call.args:
        return dotted(begin.call.args[0].value).rpartition(".")[2]
    at = chain.index(begin)
    return chain[at + 1].name if at + 1 < len(chain) and begin.call is None else ""


def _values(roots: Iterable[Any]) -> Iterator[str]:
    """Literals and names in expressions, as text."""
    for root in roots:
        for node in walk(root):
            if isinstance(node, f.Lit):
                if node.value is None:
                    yield "null"
                elif isinstance(node.value, bool):
                    yield str(node.value).lower()
                elif isinstance(node.value, str) and len(node.value) < 60 and not reads_like_sql(node.value):
                    yield node.value
                elif isinstance(node.value, int):
                    yield str(node.value)
            elif isinstance(node, f.Ref):
                yield node.name if "." not in node.name else node.name.rpartition(".")[2] if _is_member(node.name) else node.name


def _is_member(name: str) -> bool:
    """Whether the last part of a name is a constant: `Status.PENDING`."""
    return name.rpartition(".")[2].isupper()


def _keyword(name: str, value: f.Expr) -> Condition:
    column, _, op = name.partition("__")
    while "__" in op:
        column, _, op = op.partition("__")
    return Condition(column, op.lower() or "=", tuple(_values([value])) or ("?",))


def _compared(call: f.Call) -> Iterator[Condition]:
    """`Job.state.in_([…])`, `JOB.STATE.eq(x)`, `where("status").is("NEW")`, `eq(Job::getStatus, x)`, `Q(status="new")`."""
    last = last_name(call.fn)
    values = tuple(v for arg in call.args for v in _values([arg.value]))
    base = call.fn.base if isinstance(call.fn, f.Field) else None
    for arg in call.args:
        if arg.name:
            yield _keyword(arg.name, arg.value)
    if last.lower() not in _COMPARE_CALLS:
        return
    op = {"is_": "is", "in_": "in"}.get(last.lower(), last.lower())
    column = ""
    if isinstance(call.fn, f.Ref) and "." in call.fn.name:
        column = call.fn.name.rpartition(".")[0].rpartition(".")[2]
    elif isinstance(base, f.Call) and base.args:
        first = base.args[0].value
        column = str(first.value) if isinstance(first, f.Lit) and isinstance(first.value, str) else ""
    elif base is not None:
        column = last_name(base)
    if column:
        yield Condition(column, op, values or ("?",))
    elif len(call.args) > 1:
        first = call.args[0].value
        named = str(first.value) if isinstance(first, f.Lit) else last_name(first)
        for prefix in ("get", "is"):
            if named.startswith(prefix) and named[len(prefix) :][:1].isupper():
                named = named[len(prefix) :]
        yield Condition(named, op, tuple(v for arg in call.args[1:] for v in _values([arg.value])) or ("?",))


def _mapped(pairs: tuple[f.Pair, ...]) -> Iterator[Condition]:
    """`{"status": "pending"}`, `bson.M{"status": …}`, `bson.D{{"status", …}}`, `Job{Status: …}`."""
    for pair in pairs:
        key = pair.key
        value = pair.value
        if key is None and isinstance(value, f.New | f.Coll):
            inner = [p.value for p in (value.fields if isinstance(value, f.New) else value.items)]
            if len(inner) == 2 and isinstance(inner[0], f.Lit) and isinstance(inner[0].value, str):
                key, value = inner[0], inner[1]
        name = (
            str(key.value) if isinstance(key, f.Lit) and isinstance(key.value, str) else last_name(key) if key is not None else ""
        )
        if not name or name.startswith("$"):
            continue
        inside = [
            str(node.value)
            for node in walk(value)
            if isinstance(node, f.Lit) and isinstance(node.value, str) and node.value.startswith("$")
        ]
        op = "<" if any(word in ("$lt", "$lte", "$gt", "$gte") for word in inside) else "in" if "$in" in inside else "="
        if any(word in ("$ne", "$nin", "$not", "$exists") for word in inside):
            continue
        yield Condition(name, op, tuple(v for v in _values([value]) if not v.startswith("$")) or ("?",))


def _split_on(text: str, marks: tuple[str, ...]) -> list[str]:
    """The parts of a name between words such as `And`; a word ends where the next begins with a capital."""
    parts = [text]
    for mark in marks:
        parts = [piece for part in parts for piece in re.split(f"{mark}(?=[A-Z])", part) if piece]
    return parts
