"""Writes knowledge files from reference tables: `python -m resilint.knowledge.convert FILE.yaml [--output DIR]`.

A reference table has one entry for each API, written for a reader: `names`, `methods` (`Type#method`), `aliases`, `params` with
`where`, `pos`, `bounds`, `unit`, `default`, `disabled_by`, and `source`, `verified`. What has a place in the schema is written;
the rest is printed with the reason, and so is what was guessed and wants a look.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
import yaml
from msgspec import Struct

from resilint.knowledge.schema import Library, SlotName

Scalar = None | bool | int | float | str

SLOTS = frozenset(get_args(SlotName))
OTHER_SLOTS = {"shutdown": "close", "lifetime": "ttl", "recycle": "ttl"}
UNITS = {
    "dur_string": "dur",
    "timedelta": "dur",
    "unit_arg": "dur",
    "Timeout": "dur",
    "hocon": "dur",
    "abs_time": "dur",
    "int": "count",
    **{unit: unit for unit in ("s", "ms", "us", "ns", "min", "h", "dur", "count", "bool", "bytes")},
}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
OBJECTS = {"object", "class", "func", "callable"}

PROTOCOLS = {
    "http": ("http", "requests", "urllib", "httpx", "aiohttp", "niquests", "treq", "resty", "pester", "curl"),
    "grpc": ("grpc",),
    "redis": ("redis", "redigo"),
    "memcached": ("memcache", "pylibmc", "aiomcache"),
    "mongodb": ("mongo", "motor"),
    "kafka": ("kafka", "sarama", "franz"),
    "amqp": ("amqp", "pika", "kombu"),
    "nats": ("nats",),
    "sql": ("sql", "psycopg", "asyncpg", "oracle", "odbc", "pgx", "lib/pq", "gorm", "entgo", "peewee", "snowflake"),
}

KINDS: dict[str, tuple[str, str, str]] = {
    # kind: role of its types, behaviour of their methods, behaviour of its functions
    "call": ("client", "network", "network"),
    "client": ("client", "network", "network"),
    "query": ("client", "query", "query"),
    "batch": ("client", "network", "network"),
    "connect": ("connection", "network", "connect"),
    "server": ("server", "serve", "serve"),
    "pool": ("pool", "wait", "submit"),
    "queue": ("queue", "wait", "make"),
    "lock": ("lock", "wait", "make"),
    "wait": ("value", "wait", "wait"),
    "spawn": ("executor", "spawn", "spawn"),
    "retry": ("policy", "network", "make"),
    "hash": ("value", "hash", "hash"),
    "config": ("value", "configure", "configure"),
    "context": ("context", "make", "make"),
    "log": ("value", "log", "log"),
}

ROLES = (
    (r"Semaphore|Limiter|Weighted", "gate"),
    (r"Lock|Mutex|Condition|Cond$", "lock"),
    (r"Queue|deque", "queue"),
    (r"Executor|ThreadPool|ProcessPool", "executor"),
    (r"Group|Nursery", "group"),
    (r"(Thread|Timer)$", "thread"),
    (r"Process|Popen|Cmd$", "process"),
    (r"Future|Task|Promise", "future"),
    (r"Event$|Barrier", "event"),
    (r"[Cc]ursor|Stmt$|Rows$", "cursor"),
    (r"Pool", "pool"),
    (r"Transport|Adapter|Dialer|Connector", "transport"),
    (r"Response|Body$", "response"),
    (r"Request$", "request"),
    (r"Limits$|Timeout$", "limits"),
    (r"Retry|Retrying|Backoff", "policy"),
    (r"Stub$", "stub"),
)

METHODS = (
    (r"(clone|Clone|copy|pipeline|(?!wait)\w+_for|lock|cursor|mount)$", "make"),
    (r"(close|aclose|Close|cancel|Cancel|kill|terminate|Kill|stop|Stop)$", "pure"),
    (r"(shutdown|Shutdown|GracefulStop|join|Join|Wait|wait|result|exception|communicate|acquire|Acquire|wait_for)$", "wait"),
    (r"((put|get)_nowait|TryAcquire)$", "pure"),
    (r"(submit|Submit|apply_async)$", "submit"),
    (r"(start_soon|create_task|Go|TryGo|spawn|start_new|map|imap|imap_unordered|starmap|map_async|starmap_async)$", "spawn"),
    (r"(execute\w*|fetch\w*|Query\w*|Exec\w*|Prepare\w*)$", "query"),
    (r"(connect|Connect\w*|Dial\w*|open_connection)$", "connect"),
    (r"(serve\w*|run_forever|Serve\w*|ListenAndServe\w*|listen|Run\w*)$", "serve"),
)
"""What a method's name says whatever the kind of its entry; only for kinds where it can be so (`_verb`)."""

MAKERS = re.compile(
    r"_*(from_|create|new|make|connect|open|client$|session$|driver$|server$|(New|Open|Dial|Connect|Create|Must|Load|Parse)(?![a-z]))"
)
WAITING = {"network", "query", "connect", "wait", "submit", "serve", "spawn"}


class Param(Struct):
    """What bounds an API, as the table says it."""

    name: str
    where: str
    bounds: str
    unit: Any = None
    pos: int | None = None
    default: Any = None
    finite: bool | None = None
    disabled_by: list[Any] = []
    ranges: list[dict[str, Any]] = []
    note: str | None = None


class Entry(Struct):
    """One API of the table."""

    id: str
    library: str
    kind: str
    names: list[str] = []
    methods: list[str] = []
    aliases: list[str] = []
    usage: list[str] = []
    params: list[Param] = []
    rules: list[str] = []
    elsewhere: list[str] = []
    changed: list[dict[str, Any]] = []
    fix: dict[str, Any] | None = None
    notes: list[str] = []
    source: str = ""
    verified: str | bool = False


class Report:
    """What was left out and what was guessed, by reason."""

    def __init__(self) -> None:
        self.left_out: dict[str, list[str]] = {}
        self.to_check: dict[str, list[str]] = {}
        self.counts: Counter[str] = Counter()

    def skip(self, entry: Entry, reason: str, what: str = "") -> None:
        """Notes something without a place in the schema."""
        self._note(self.left_out.setdefault(reason, []), entry, what)

    def check(self, entry: Entry, reason: str, what: str = "") -> None:
        """Notes something written by a guess."""
        self._note(self.to_check.setdefault(reason, []), entry, what)

    def _note(self, cases: list[str], entry: Entry, what: str) -> None:
        case = f"{entry.id}: {what}" if what else entry.id
        if case not in cases:
            cases.append(case)

    def text(self) -> str:
        """Counts first, then each case under its reason."""
        lines = ["converted: " + ", ".join(f"{number} {what}" for what, number in self.counts.items())]
        for title, cases in (("not converted", self.left_out), ("converted by a guess, to be checked", self.to_check)):
            lines.append(f"\n{title}: {sum(len(found) for found in cases.values())}")
            for reason, found in sorted(cases.items(), key=lambda item: -len(item[1])):
                lines.append(f"  {len(found):4}  {reason}")
                lines += [f"          {case}" for case in found]
        return "\n".join(lines)


class Group:
    """The knowledge file of one library that is being filled."""

    def __init__(self, library: str, language: str, report: Report) -> None:
        self.library = library
        self.language = language
        self.report = report
        self.entries: list[Entry] = []
        self.types: dict[str, dict[str, Any]] = {}
        self.calls: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.protocol = next((name for name, parts in PROTOCOLS.items() if any(part in library.casefold() for part in parts)), None)

    def add(self, entry: Entry) -> None:
        """Writes what one entry of the table says into the file."""
        self.entries.append(entry)
        self._keep_facts(entry)
        if entry.kind not in KINDS:
            self.report.skip(entry, f"kind {entry.kind!r} has no equivalent")
            return
        for form in entry.usage:
            self.report.skip(entry, "usage in prose", form)
        names = [name for name in entry.names if self._is_name(entry, name)]
        methods = [method for method in entry.methods if self._is_method(entry, method)]
        if not names and not methods:
            self.report.skip(entry, "no canonical name")
            return
        Writer(self, entry, names, methods).write()

    def library_struct(self, verified: bool, elsewhere: frozenset[str] = frozenset()) -> Library:
        """The finished file, without the types that another file has."""
        sources = dict.fromkeys(entry.source for entry in self.entries if entry.source)
        versions = dict.fromkeys(str(entry.verified) for entry in self.entries)
        return msgspec.convert(
            {
                "library": self.library,
                "language": self.language,
                "source": "; ".join(sources),
                "verified": "; ".join(versions) if verified else False,
                "modules": sorted(set(self._modules())),
                "types": [self._finished(row) for name, row in self.types.items() if name not in elsewhere],
                "calls": self._merged_calls(),
                "notes": self.notes,
            },
            Library,
        )

    def type_row(self, name: str, role: str) -> dict[str, Any]:
        """The row of a type, made at its first mention."""
        row = self.types.get(name)
        if row is None:
            row = self.types[name] = {
                "name": name,
                "role": role,
                "protocol": self.protocol,
                "bounds": [],
                "parts": [],
                "aliases": [],
            }
        return row

    def known_type(self, name: str) -> bool:
        """Whether a row or an alias of one has this name."""
        return name in self.types or any(name in row["aliases"] for row in self.types.values())

    def _finished(self, row: dict[str, Any]) -> dict[str, Any]:
        bounds = list({repr(sorted(bound.items(), key=str)): bound for bound in row["bounds"]}.values())
        aliases = [name for name in dict.fromkeys(row["aliases"]) if name != row["name"] and name not in self.types]
        return {**{key: value for key, value in row.items() if key != "guess"}, "bounds": bounds, "aliases": aliases}

    def _merged_calls(self) -> list[dict[str, Any]]:
        """Rows of the same behaviour share one; of a name that two rows claim, the first keeps it."""
        merged: dict[str, dict[str, Any]] = {}
        taken: set[str] = set()
        known = {name for row in self.calls for name in row["names"]}
        owners = {alias: row["name"] for row in self.types.values() for alias in row["aliases"] if alias not in self.types}
        for row in self.calls:
            sibling = any(row["names"][0] + suffix in known for suffix in ("Context", "Ctx", "WithContext", "Tx"))
            if self.language == "go" and sibling and row["does"] in ("network", "query", "connect"):
                row = {**{key: value for key, value in row.items() if key != "context"}, "takes_no_context": True}
            spelt = [f"{owners.get(owner, owner)}.{last}" for owner, _, last in (name.rpartition(".") for name in row["names"])]
            names = [name for name in dict.fromkeys(spelt) if name not in taken]
            taken.update(names)
            if not names:
                continue
            same = repr({key: value for key, value in row.items() if key != "names"})
            if same in merged:
                merged[same]["names"] += names
            else:
                merged[same] = {**row, "names": names}
        return list(merged.values())

    def _keep_facts(self, entry: Entry) -> None:
        self.notes += [f"{entry.id}: {note}" for note in entry.notes]
        self.notes += [f"{entry.id}: {param.name}: {param.note}" for param in entry.params if param.note]
        self.notes += [f"{entry.id}: also bounded by {place}" for place in entry.elsewhere]
        for change in entry.changed:
            version = change.get("version")
            self.notes.append(f"{entry.id}: {f'{version}: ' if version else ''}{change.get('what')}")

    def _is_name(self, entry: Entry, name: str) -> bool:
        if not re.fullmatch(r"[\w./-]+", name) or "." not in name:
            self.report.skip(entry, "no canonical name", name)
            return False
        if ".settings." in name:
            self.report.skip(entry, "key of a settings module", name)
            return False
        return True

    def _is_method(self, entry: Entry, method: str) -> bool:
        if not re.fullmatch(r"[\w./-]+#\w+", method):
            self.report.skip(entry, "no canonical method", method)
            return False
        return True

    def _modules(self) -> Iterator[str]:
        names = [*self.types, *(name for row in self.types.values() for name in row["aliases"])]
        functions = [name for row in self.calls for name in row["names"] if name.rpartition(".")[0] not in self.types]
        for name in dict.fromkeys((*names, *functions)):
            yield module_of(name, self.language)


class Writer:
    """Turns one entry into rows of its library's file."""

    def __init__(self, group: Group, entry: Entry, names: list[str], methods: list[str]) -> None:
        self.group = group
        self.entry = entry
        self.report = group.report
        self.language = group.language
        self.methods = methods
        self.role, self.method_verb, self.function_verb = KINDS[entry.kind]
        self.owners = list(dict.fromkeys(method.partition("#")[0] for method in methods))
        self.types = [name for name in names if self._is_type(name)]
        self.instances = [name for name in names if self._is_instance(name)]
        self.functions = [name for name in names if name not in self.types and name not in self.instances]
        self.object_bounds: list[dict[str, Any]] = []
        self.method_bounds: list[tuple[list[str], str, dict[str, Any]]] = []
        self.parts: list[dict[str, Any]] = []
        self.context = False
        self.holder: str | None = None
        self.setters: set[str] = set()
        self.guessed: dict[str, str] = {}

    def write(self) -> None:
        """Adds the rows."""
        for param in self.entry.params:
            self._param(param)
        self._guess_types()
        makers = [name for name in self.functions if self._makes_object(name)]
        plain = [name for name in self.functions if name not in makers]
        main = self._main_type(makers)
        if main is not None:
            self._write_types(main, makers)
        else:
            plain = self.functions
            for part in self.parts:
                self.report.skip(self.entry, "part of an object whose type the entry does not name", str(part))
            if any(place in bound for bound in self.object_bounds for place in ("field", "setter", "class_attr")):
                self.report.skip(self.entry, "attribute or setter of an object whose type the entry does not name")
        self._write_functions(plain)
        self._write_methods()
        self._write_aliases(main)

    # Which name is what

    def _is_type(self, name: str) -> bool:
        last = name.rpartition(".")[2]
        if name in self.owners and not self._is_instance(name):
            return True
        if self.language == "python":
            return last[:1].isupper()
        if _OPTIONS.search(last) and not _FUNCTION_LIKE.match(last):
            return True
        fields = any(param.where == "attr" and "." not in param.name for param in self.entry.params)
        return fields and last[:1].isupper() and not _FUNCTION_LIKE.match(last) and not self._is_instance(name)

    def _is_instance(self, name: str) -> bool:
        return self.language == "go" and name.rpartition(".")[2].startswith("Default") and self.entry.kind in ("client", "pool")

    def _makes_object(self, name: str) -> bool:
        last = name.rpartition(".")[2]
        if self.entry.kind in ("spawn", "wait") and self.language == "go" and self.types:
            return MAKERS.match(last) is not None or last == "WithContext"
        if self.entry.kind in ("call", "context", "config", "hash", "log", "spawn", "wait"):
            return False
        same_word = {one.rpartition(".")[2].casefold() for one in self.types}
        return MAKERS.match(last) is not None or last.casefold() in same_word or self.entry.kind in ("queue", "lock", "retry")

    def _main_type(self, makers: list[str]) -> str | None:
        main = next((name for name in self.types if not _OPTIONS.search(name)), None)
        if main is not None:
            return main
        if self.types and not self.owners:
            return self.types[0]
        if self.entry.kind == "retry" and makers:
            return makers[0]
        if not makers or (self.language == "python" and (len(self.owners) > 1 or self.entry.kind in ("connect", "query"))):
            return None
        owner = next((one for one in self.owners if _HOLDS.search(one.rpartition(".")[2])), None)
        if owner is not None:
            self.report.check(self.entry, "the constructed type is taken from the methods", f"{makers[0]} -> {owner}")
        return owner

    def _guess_types(self) -> None:
        """`NewClient` of a Go package gives its `Client`, nearly always."""
        if self.language != "go" or self.owners or any(not _OPTIONS.search(name) for name in self.types):
            return
        for name in self.functions:
            package, _, last = name.rpartition(".")
            match = re.fullmatch(r"New([A-Z]\w+)", last)
            if match is not None and self._makes_object(name):
                self.guessed[name] = f"{package}.{match[1]}"
                self.report.check(self.entry, "the constructed type is taken from the constructor's name", name)
        self.types = [*dict.fromkeys(self.guessed.values()), *self.types]
        self.functions = [name for name in self.functions if name not in self.guessed]

    def _role(self, name: str) -> str:
        last = name.rpartition(".")[2]
        if self.entry.kind in ("server", "context"):
            return self.role
        return next((role for pattern, role in ROLES if re.search(pattern, last)), self.role)

    # Rows

    def _write_types(self, main: str, makers: list[str]) -> None:
        options = next((name for name in self.types if name != main and _OPTIONS.search(name)), None)
        if options is not None:
            # The options struct has the fields; the object takes them from the struct it is given.
            self.group.type_row(options, "limits")["bounds"] += [bound for bound in self.object_bounds if "field" in bound]
            self.object_bounds = [bound for bound in self.object_bounds if "field" not in bound]
            self.types.remove(options)
            self.parts.append({"pos": 0})
        row = self.group.type_row(main, self._role(main))
        row["role"] = self._role(main)
        row.pop("guess", None)
        row["bounds"] += self.object_bounds
        for maker, made_type in self.guessed.items():
            self.group.type_row(made_type, self._role(made_type))["aliases"].append(maker)
        row["parts"] += [part for part in self.parts if part not in row["parts"]]
        fix = self.entry.fix or {}
        if row["role"] in ("client", "connection", "pool") and {"RS101", "RS102"} & set(self.entry.rules):
            row["carries"] = row.get("carries", False) or fix.get("at") == "constructor" or fix.get("op") == "add_field"
        positions = any("pos" in bound and "arg" in bound for bound in self.object_bounds)
        without = [
            {key: value for key, value in bound.items() if key != "pos" or "arg" not in bound} for bound in self.object_bounds
        ]
        for name in self.types:
            if name == main:
                continue
            if not _related(name, main):
                self.group.type_row(name, self._role(name)).pop("guess", None)
                self.report.check(self.entry, "another type in one entry: which bounds are its own", name)
            elif positions or name in self.owners or name in self.guessed.values():
                # Its parameters may stand in another order, so it shares the words, not the positions.
                other = self.group.type_row(name, self._role(name))
                other.pop("guess", None)
                other["bounds"] += without
                other.setdefault("bases", []).append(main)
            else:
                row["aliases"].append(name)
        for name in self.instances:
            row.setdefault("instances", []).append(name)
        made = [name for name in makers if name != main]
        if not positions or (made and not self.types):
            # Positions are those of the first name; without a type among the names that is a function.
            row["aliases"] += made if not positions else made[:1]
            made = [] if not positions else made[1:]
        for name in made:
            row.setdefault("made_by", []).append(name)
            self.group.calls.append(self._call([name], "make", [bound for bound in without if _at_call(bound)], returns=main))

    def _write_functions(self, functions: list[str]) -> None:
        at_call = [bound for bound in self.object_bounds if _at_call(bound)]
        without = [{key: value for key, value in bound.items() if key != "pos" or "arg" not in bound} for bound in at_call]
        for name in functions:
            verb = "make" if self._makes_object(name) and self.function_verb not in ("connect", "query") else self.function_verb
            if verb == "make" and self.entry.kind != "context":
                self.report.check(self.entry, "the type that a constructor function returns is not named", name)
            row = self._call([name], verb, at_call if name == functions[0] else without)
            last = name.rpartition(".")[2]
            if self.holder is not None:
                row["holder"] = self.holder
            if self.entry.kind == "context":
                row["bounds"] = []
                made = next((made for pattern, made in _CONTEXTS if re.fullmatch(pattern, last)), None)
                if made is None:
                    self.report.skip(self.entry, "no known form of making a deadline carrier", name)
                    continue
                row["makes"] = made
            self.group.calls.append(row)

    def _write_methods(self) -> None:
        rows: list[tuple[str, str]] = []
        for method in self.methods:
            owner, _, last = method.partition("#")
            if last in self.setters:
                continue
            if owner.rpartition(".")[2].startswith("Default") and self.language == "go":
                self.report.skip(self.entry, "method of a package variable: its type has it", method)
                continue
            if not self.group.known_type(owner):
                self.group.type_row(owner, self._role(owner))["guess"] = True
                self.report.check(self.entry, "type known from its methods only: nothing says how it is made", owner)
            rows.append((f"{owner}.{last}", self._verb(last)))
        used = False
        placed: set[int] = set()
        for name, verb in rows:
            last = name.rpartition(".")[2]
            bounds = []
            for index, (has, at, bound) in enumerate(self.method_bounds):
                if verb in WAITING and last in has:
                    # The table gives the position in one method; in the others it may be another.
                    keeps = last == at and index not in placed
                    bounds.append(bound if keeps else {key: value for key, value in bound.items() if key != "pos"})
                    placed |= {index} if keeps else set()
                    used = True
            self.group.calls.append(self._call([name], verb, bounds))
        if self.method_bounds and not used:
            arguments = ", ".join(str(bound["arg"]) for _, _, bound in self.method_bounds)
            self.report.skip(self.entry, "argument of methods that the entry does not name", arguments)

    def _write_aliases(self, main: str | None) -> None:
        for alias in self.entry.aliases:
            name = alias.replace("#", ".")
            if not re.fullmatch(r"[\w./-]+", name) or "." not in name:
                self.report.skip(self.entry, "no canonical name", alias)
                continue
            last = name.rpartition(".")[2]
            known = next((one for one in (*self.types, *self.functions) if one.rpartition(".")[2] == last), None)
            target = known if known is not None else main if main is not None else next(iter(self.functions), None)
            if target in self.group.types:
                self.group.types[target]["aliases"].append(name)
            elif main is not None and known in self.types:
                self.group.types[main]["aliases"].append(name)
            else:
                rows = [row for row in self.group.calls if target in row["names"]]
                if rows:
                    rows[0]["names"].append(name)
                else:
                    self.report.skip(self.entry, "alias of a name that gave no row", alias)

    def _call(self, names: list[str], verb: str, bounds: Sequence[dict[str, Any]], returns: str | None = None) -> dict[str, Any]:
        row: dict[str, Any] = {"names": names, "does": verb, "bounds": list(bounds)}
        if self.group.protocol is not None and verb in ("network", "query", "connect"):
            row["protocol"] = self.group.protocol
        if returns is not None:
            row["returns"] = returns
        last = names[0].rpartition(".")[2]
        if verb == "spawn":
            row["spawn"] = {
                "target": 0,
                **({"each": 1} if "map" in last else {}),
                **({"joins": True} if last in ("map", "starmap") else {}),
            }
            self.report.check(self.entry, "the spawned function is taken to be argument 1", names[0])
        if self.context and self.entry.kind != "context" and verb in WAITING | {"make"}:
            named = any(re.search("Context|Ctx", method) for method in (*self.methods, *self.functions))
            if not named or re.search("Context|Ctx", last):
                row["context"] = 0
                self.report.check(self.entry, "the context is taken to be argument 1", names[0])
        elif self.language == "go" and "RS107" in self.entry.rules and verb in ("network", "query", "connect") and not self.context:
            row["takes_no_context"] = True
            self.report.check(self.entry, "taken to have no context argument", names[0])
        return row

    def _verb(self, method: str) -> str:
        found = next((verb for pattern, verb in METHODS if re.match(pattern, method)), None)
        if self.entry.kind in ("hash", "log", "context", "config"):
            return self.method_verb
        if found == "query" and self.group.protocol != "sql" and self.entry.kind != "query":
            found = None
        if found == "serve" and self.entry.kind not in ("server", "client", "connect", "call"):
            found = None
        if found is None and self.entry.kind == "pool" and self.group.protocol is not None:
            return "query" if self.group.protocol == "sql" else "network"
        return found or self.method_verb

    # Parameters

    def _param(self, param: Param) -> None:
        if param.name == "(none)" or param.bounds == "config" or param.where == "n/a":
            if param.name != "(none)":
                self.report.skip(self.entry, "limits nothing that a slot names", param.name)
            return
        if param.where == "context" or (param.name == "ctx" and self.language == "go"):
            self.context = True
            return
        if param.where in ("env", "annotation"):
            self.report.skip(self.entry, f"where {param.where!r} has no equivalent", param.name)
            return
        slots = [OTHER_SLOTS.get(word, word) for word in param.bounds.split("+")]
        if slots == ["transport"] or str(param.unit) in OBJECTS:
            self._part(param)
            return
        unknown = [slot for slot in slots if slot not in SLOTS]
        if unknown:
            self.report.skip(self.entry, f"no slot {'+'.join(unknown)!r}", param.name)
            return
        unit = UNITS.get(str(param.unit))
        if unit is None:
            self.report.skip(self.entry, f"unit {param.unit!r} measures no slot", param.name)
            return
        if param.unit == "abs_time":
            self.report.check(self.entry, "a point in time, written as a duration", param.name)
        places = list(self._places(param))
        if not places:
            return
        for place in places:
            for slot in slots:
                for row in self._versions(param, {"slot": slot, **place, "unit": unit}):
                    self._add_bound(param, row)

    def _add_bound(self, param: Param, row: dict[str, Any]) -> None:
        self.report.counts["bounds"] += 1
        of_methods = param.where == "method" or (param.where == "arg" and not self.types and not self.functions)
        if of_methods and "arg" in row:
            note = param.note or ""
            without = set(re.findall(r"(\w+)\(?\)? has none", note))
            only = re.match(r"(?:of )?(?:\w+\.)?(\w+)(?: only|\(|$)", note)
            methods = self._method_names()
            has = [only[1]] if only is not None and only[1] in methods else [method for method in methods if method not in without]
            at = re.search(r"pos of (?:\w+\.)?(\w+)", note)
            self.method_bounds.append((has, at[1] if at is not None else next(iter(has), ""), row))
        else:
            self.object_bounds.append(row)

    def _method_names(self) -> list[str]:
        return [method.partition("#")[2] for method in self.methods]

    def _places(self, param: Param) -> Iterator[dict[str, Any]]:
        """Where the value is written: one place for each of several names with the same facts."""
        text, _, equal = param.name.partition(" (= ")
        names = [*text.split(" / "), *([equal.rstrip(")")] if equal else [])]
        for name in names:
            match = re.fullmatch(r"([\w.-]+)(?:\((\w*)\))?", name.strip())
            if match is None:
                self.report.skip(self.entry, "name in prose", param.name)
                continue
            place = self._place(param, match[1], match[2])
            if place is not None:
                yield place

    def _place(self, param: Param, name: str, argument: str | None) -> dict[str, Any] | None:
        last = name.rpartition(".")[2]
        at = {} if param.pos is None else {"pos": param.pos}
        match param.where:
            case "arg" if argument is not None:
                # `NewWeighted(n)`: the only argument of that function.
                return {"pos": 0}
            case "arg" if "." in name:
                self.report.skip(self.entry, "nested argument", param.name)
            case "arg":
                if self.language == "go" and param.pos is None:
                    self.report.check(self.entry, "position of an argument is not given", param.name)
                return {"arg": name, **at}
            case "method":
                if argument is not None or last in self._method_names() or re.match(r"(set|Set|With|with_)[A-Z_]?", last):
                    self.setters.add(last)
                    return {"setter": last, **({"pos": param.pos} if param.pos else {})}
                if "." in name:
                    self.report.skip(self.entry, "nested argument", param.name)
                    return None
                return {"arg": name, **at}
            case "attr":
                return self._field(name)
            case "class_attr":
                return {"class_attr": name}
            case "config_key" | "url":
                return self._key(param, name)
            case "option":
                return self._option(name)
            case _:
                self.report.skip(self.entry, f"where {param.where!r} has no equivalent", param.name)
        return None

    def _field(self, name: str) -> dict[str, Any] | None:
        owner, _, last = name.rpartition(".")
        if owner.rpartition(".")[2].startswith("Default") and self.functions:
            # `http.DefaultClient.Timeout`: a package variable carries it.
            module = next((one.rpartition(".")[0] for one in self.functions), "")
            self.holder = f"{module}.{owner.rpartition('.')[2]}"
            return None
        if owner:
            self.report.check(self.entry, "field of an inner object", name)
        return {"field": name if owner else last}

    def _key(self, param: Param, name: str) -> dict[str, Any] | None:
        if param.where == "url" and name == "url":
            self.report.skip(self.entry, "keys of a URL in prose", param.name)
            return None
        holder, _, last = name.rpartition(".")
        if holder and re.search("[A-Z_]", name):
            return {"key": last, "key_in": holder}
        return {"key": name}

    def _option(self, name: str) -> dict[str, Any]:
        """A functional option, a setter of an options builder, a key, or a field of an options struct."""
        last = name.rpartition(".")[2]
        known = next((one for one in self.functions if one.rpartition(".")[2] == last), None)
        if known is not None:
            self.functions.remove(known)
            return {"option": known}
        if last.startswith("Set"):
            return {"setter": last}
        if last.startswith("With"):
            names = [*self.functions, *self.types]
            option = f"{names[0].rpartition('.')[0]}.{last}" if names else last
            self.report.check(self.entry, "package of an option is a guess", option)
            return {"option": option}
        if last[:1].islower():
            return {"key": name}
        self.report.check(self.entry, "option taken for a field of an options struct", name)
        return {"field": last}

    def _part(self, param: Param) -> None:
        name = param.name
        if not re.fullmatch(r"\w+", name):
            self.report.skip(self.entry, "nested part", name)
            return
        where = {"arg": "arg", "attr": "field", "method": "setter", "option": "setter"}.get(param.where)
        if where is None or (param.where == "method" and name not in self._method_names()):
            self.report.skip(self.entry, f"an object as value, where {param.where!r}", name)
            return
        self.parts.append({where: name, **({"pos": param.pos} if param.pos is not None else {})})
        self.report.check(self.entry, "an object as value is taken for a part", name)

    def _versions(self, param: Param, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        disabled = list(self._disabled(param))
        if disabled:
            row = {**row, "disabled": disabled}
        spans = [span for span in param.ranges if span.get("default") != "absent"]
        if not spans:
            default = self._default(param, param.default, param.finite, row)
            yield row if default == "endless" else {**row, "default": default}
        rows: list[dict[str, Any]] = []
        for span in spans:
            default = self._default(param, span.get("default", param.default), span.get("finite", param.finite), row)
            limits = {key: str(span[key]) for key in ("since", "before") if span.get(key) is not None}
            current = {**row, **({} if default == "endless" else {"default": default})}
            if rows and current == {key: value for key, value in rows[-1].items() if key not in ("since", "before")}:
                # The same fact on both sides of a version is one row.
                limits.pop("since", None)
                limits = {**({"since": rows[-1]["since"]} if "since" in rows[-1] else {}), **limits}
                rows.pop()
            rows.append({**current, **limits})
        yield from rows

    def _default(self, param: Param, default: Any, finite: bool | None, row: dict[str, Any]) -> str | float:
        if default == "unset" or str(default) == "n/a":
            return "unset"
        if not finite:
            return "endless"
        number = quantity(default, row["unit"])
        if number is None and (inner := re.search(rf"\b{row['slot']}=(\d+(?:\.\d+)?)", str(default))) is not None:
            number = quantity(float(inner[1]), row["unit"])  # ClientTimeout(total=300)
        if number is None:
            self.report.check(self.entry, "default is no number, written as unset", f"{param.name}: {default}")
            return "unset"
        return number

    def _disabled(self, param: Param) -> Iterator[Scalar]:
        seen: list[Any] = []
        for value in param.disabled_by:
            for known in _DISABLED.get(value, (value,)) if isinstance(value, str) else (value,):
                if isinstance(known, str) and not re.fullmatch(r"[\w.]+", known):
                    self.report.skip(self.entry, "disabling value is an expression", f"{param.name}: {known}")
                elif not any(known is one or (known == one and type(known) is type(one)) for one in seen):
                    seen.append(known)
        for value in seen:
            if not (isinstance(value, float) and value == 0 and 0 in seen and value is not seen[0]):
                yield value


_FUNCTION_LIKE = re.compile(
    r"(New|Dial|Open|Connect|Get|Post|Head|Do|With|Listen|Serve|Parse|Load|Must|Set|Retry|Send|Start|ForEach)(?![a-z])"
)

_DISABLED: dict[str, tuple[Any, ...]] = {
    "absent": (),
    "no deadline": (),
    "no-arg form": (),
    "nil": (None,),
    "null": (None,),
    "None": (None,),
    "inf": (math.inf,),
    "math.inf": (math.inf,),
    "<= 0": (0, "negative"),
    "< 0": ("negative",),
    "time.Time{}": ("zero",),
}

_CONTEXTS: tuple[tuple[str, dict[str, Any]], ...] = (
    (r"Background|TODO", {"kind": "root"}),
    (r"WithTimeout(Cause)?", {"kind": "bounded", "parent": 0, "duration": 1}),
    (r"WithDeadline(Cause)?", {"kind": "bounded", "parent": 0, "until": 1}),
    (r"WithCancel(Cause)?|WithValue", {"kind": "derived", "parent": 0}),
    (r"WithoutCancel", {"kind": "detached", "parent": 0}),
)


_OPTIONS = re.compile(r"(Options|Config|Configuration)$")
_HOLDS = re.compile(
    r"(Conn|Connection|Client|DB|Pool|Session|Server|Engine|Queue|Semaphore|Weighted|Lock|Limiter|Consistent|Reader|Writer)$"
)


def _related(name: str, other: str) -> bool:
    """Whether two types of one entry are forms of the same thing: `Client` and `AsyncClient`, `IMAP4` and `IMAP4_SSL`."""
    first, second = (set(_WORDS.findall(one.rpartition(".")[2])) - {"Async"} for one in (name, other))
    return bool(first & second)


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]+|[a-z0-9]+")


def _at_call(bound: dict[str, Any]) -> bool:
    return not {"field", "setter", "class_attr"} & bound.keys()


def quantity(value: Any, unit: str) -> float | None:
    """Seconds, or a plain count, of a default; `None` if it is not a number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number = float(value)
        seconds = SECONDS.get(unit)
        if unit == "dur":
            return 0.0 if number == 0 else None
        return number if seconds is None else round(number * seconds, 12)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s|m|min|h|d)", str(value))
    return round(float(match[1]) * SECONDS[match[2]], 12) if match else None


def module_of(name: str, language: str) -> str:
    """The import name that is evidence for a canonical name: Go's package path, Python's top-level package."""
    if language == "python":
        parts = name.split(".")
        # Namespace packages say nothing by themselves.
        deep = {"google": 3, "azure": 2}.get(parts[0], 1)
        return ".".join(parts[: min(deep, len(parts) - 1)])
    folder, slash, rest = name.rpartition("/")
    while rest.count(".") > 1 and rest.split(".")[-2][:1].isupper():
        rest = rest.rpartition(".")[0]
    return f"{folder}{slash}{rest.rpartition('.')[0]}"


def convert(table: dict[str, Any], language: str, only: str | None = None) -> tuple[dict[str, Library], Report]:
    """Knowledge files by their name, and what is to be said about them. Verified and unverified entries go to separate files."""
    report = Report()
    groups: dict[tuple[str, bool], Group] = {}
    number = 0
    for raw in table["entries"]:
        entry = msgspec.convert(raw, Entry, strict=False) if isinstance(raw.get("verified"), str) else msgspec.convert(raw, Entry)
        if only is not None and entry.library != only:
            continue
        number += 1
        name = next(iter((*entry.names, *(method.partition("#")[0] for method in entry.methods))), "")
        # The standard library is one file for each of its modules.
        library = module_of(name, language) if entry.library == "stdlib" and "." in name else entry.library
        key = (library, entry.verified is not False)
        group = groups.setdefault(key, Group(library, language, report))
        group.add(entry)
    files: dict[str, Library] = {}
    sure = {name for group in groups.values() for name, row in group.types.items() if "guess" not in row}
    seen: set[str] = set()
    for (library, verified), group in groups.items():
        name = file_name(library)
        if not verified and (library, True) in groups:
            name += "_unverified"
        elsewhere = {one for one, row in group.types.items() if one in (sure | seen if "guess" in row else seen)}
        files[f"{name}.yaml"] = group.library_struct(verified, frozenset(elsewhere))
        seen.update(group.types.keys() - elsewhere)
    report.counts = Counter(
        {
            "entries": number,
            "files": len(files),
            "types": sum(len(one.types) for one in files.values()),
            "calls": sum(len(call.names) for one in files.values() for call in one.calls),
            "bounds": report.counts["bounds"],
        }
    )
    return files, report


def file_name(library: str) -> str:
    """`github.com/redis/go-redis/v9` as `redis_go_redis_v9`: without the host, in letters, digits and underscores."""
    host, slash, rest = library.partition("/")
    short = rest if slash and "." in host else library
    return re.sub(r"\W+", "_", short.casefold()).strip("_")


def dump(library: Library) -> str:
    """The YAML text of a knowledge file: rows in block form, one line for each bound."""
    lines: list[str] = []
    for key, value in _written(library).items():
        if key in ("types", "calls", "entries", "errors", "error_calls", "shapes"):
            lines.append(f"{key}:")
            for row in value:
                lines += _row(row)
        elif key == "notes":
            lines.append("notes:")
            lines += [f"  - {_flow(note)}" for note in value]
        else:
            lines.append(f"{key}: {_flow(value)}")
    return "\n".join(lines) + "\n"


def _row(row: dict[str, Any]) -> Iterator[str]:
    lead = "  - "
    for key, value in row.items():
        flow = _flow(value)
        if key == "bounds":
            yield f"{lead}bounds:"
            for bound in value:
                yield f"      - {_flow(bound)}"
        elif isinstance(value, list) and len(flow) > 110:
            yield f"{lead}{key}:"
            for item in value:
                yield f"      - {_flow(item)}"
        else:
            yield f"{lead}{key}: {flow}"
        lead = "    "


def _written(value: Any) -> Any:
    """Plain values without what is default anyway."""
    if isinstance(value, Struct):
        found = {}
        for field in msgspec.structs.fields(value):
            current = getattr(value, field.name)
            default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
            if not (type(current) is type(default) and current == default):
                found[field.name] = _written(current)
        return found
    if isinstance(value, tuple):
        return [_written(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _flow(value: Any) -> str:
    text = yaml.safe_dump([value], default_flow_style=True, width=math.inf, allow_unicode=True, sort_keys=False)
    return text.strip()[1:-1]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m resilint.knowledge.convert", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE.yaml", help="reference table")
    parser.add_argument("--language", choices=("python", "go", "java"), help="default: what the table says")
    parser.add_argument("--only", metavar="LIBRARY", help="convert one library")
    parser.add_argument("--output", type=Path, metavar="DIR", help="write one file per library; default: print them")
    options = parser.parse_args(arguments)
    table = yaml.load(options.file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    language = options.language or table.get("language")
    if language is None:
        parser.error("the table names no language: give --language")
    files, report = convert(table, language, options.only)
    if options.only is not None and not files:
        known: Iterable[str] = sorted({raw["library"] for raw in table["entries"]})
        parser.error(f"no library {options.only!r} in the table; it has: {', '.join(known)}")
    for name, library in files.items():
        if options.output is None:
            print(f"# {name}\n{dump(library)}")
        else:
            options.output.mkdir(parents=True, exist_ok=True)
            (options.output / name).write_text(dump(library), encoding="utf-8")
    print(report.text(), file=sys.stdout if options.output is not None else sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
