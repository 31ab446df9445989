"""Gates and executors that serve what has nothing to do with each other: where one slow user makes the others wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from resilint import facts as f
from resilint.flow.pool_tasks import PoolFault, Task
from resilint.flow.pools import LANGUAGES, Pool
from resilint.flow.slots import say_seconds
from resilint.flow.spawns import family, nodes
from resilint.flow.values import Bind, FnVal, Obj, Text
from resilint.flow.waits import Wait, waits_in
from resilint.link.code import CallSite, Fun, Klass, dotted
from resilint.link.looks import any_of
from resilint.model import Confidence, Step

if TYPE_CHECKING:
    from resilint.flow.effects import Worst
    from resilint.program import Program

APART = 5.0
"""How many times longer one holder may take than another before the short one is said to suffer."""
_SLOW = 10.0
"""Seconds: a handler that takes no longer is not slow by itself."""
_WAITS = ("network", "query", "connect")
_SHOWN = 3
_STEPS = 5
"""How many objects are followed from a call to the address it asks."""


@dataclass(eq=False)
class Hold:
    """One place that takes a permit of a gate, and how long it may keep it, in seconds."""

    gate: tuple[Fun, f.Node]
    fn: Fun
    node: f.Node
    measure: Callable[[], float]
    """Dear, and asked for only where it matters."""
    hurries: Callable[[], bool]

    @cached_property
    def seconds(self) -> float:
        """How long at most; 0 where that is not known."""
        return self.measure()

    @cached_property
    def hurried(self) -> bool:
        """Somebody waits for it: it has a deadline of its own, or serves a request."""
        return self.hurries()


@dataclass(eq=False)
class Served:
    """A task of an executor with the peer that it waits for."""

    task: Task
    peer: str
    steps: tuple[Step, ...]


class SharedPools:
    """Finds them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver

    def faults(self) -> Iterator[PoolFault]:
        """Every one of them, in order of path and position."""
        found = [*self._gates(), *self._executors(), *self._handlers()]
        yield from sorted(found, key=lambda fault: (fault.span, fault.text))

    # ------------------------------------------------------------ gates

    def _gates(self) -> Iterator[PoolFault]:
        by_gate: dict[tuple[str, int, int], list[Hold]] = {}
        for hold in (*self._through_methods(), *self._direct()):
            where, node = hold.gate
            if not self.program.in_focus(where):
                continue
            by_gate.setdefault((where.module.path, node.at, node.end), []).append(hold)
        for _, holds in sorted(by_gate.items()):
            fault = self._judge(holds)
            if fault is not None:
                yield fault

    def _judge(self, holds: list[Hold]) -> PoolFault | None:
        # How long a permit is kept is the dearest question: asked only where others want it, of whom somebody is in a hurry.
        if len({family(hold.fn) for hold in holds}) < 2 or not any(hold.hurried for hold in holds):
            return None
        holds = [hold for hold in holds if hold.seconds > 0]
        if not holds:
            return None
        slow = max(holds, key=lambda h: (h.seconds, h.fn.key))
        quick = min(
            (h for h in holds if h.hurried and family(h.fn) is not family(slow.fn)),
            key=lambda h: (h.seconds, h.fn.key),
            default=None,
        )
        if quick is None or slow.seconds < APART * quick.seconds:
            return None
        where, node = slow.gate
        names = family(slow.fn).name, family(quick.fn).name
        long, short = say_seconds(slow.seconds), say_seconds(quick.seconds)
        text = f"{names[0]} keeps a permit for up to {long}, {names[1]} has {short} for all it does: few slow holders shut it out"
        steps = tuple(
            self.program.step(h.fn, h.node, f"{family(h.fn).name} holds a permit for up to {say_seconds(h.seconds)}")
            for h in (slow, quick)
        )
        return PoolFault(self.program.span_of(where, node), text, Confidence.HIGH, steps)

    def _direct(self) -> Iterator[Hold]:
        """Permits of known gates that a function takes itself: a `with`, or an acquire."""
        gates = {pool.last for pool in self.program.pools.start_of_role("gate") if pool.name}
        if not gates:
            return
        for language in LANGUAGES:
            for fn in self.program.functions(language):
                if fn.module.is_test or not any(_speaks(name, gates) for name in (*fn.head.values, *fn.head.calls)):
                    continue
                frame = self.resolver.frame(fn)
                for stmt, _ in fn.body.stmts:
                    if isinstance(stmt, f.With):
                        for item in stmt.items:
                            gate = self._gate(item.value, fn)
                            if gate is not None:
                                yield self._held(gate, fn, item.value, partial(self.program.worsts.of_block, stmt.body, frame))
                for site in fn.body.calls:
                    base, _, _ = dotted(site.call.fn).rpartition(".")
                    if not base or not _speaks(base, gates) or site.how or not self.program.spawning.acquires(site):
                        continue
                    gate = self._gate(f.Ref(site.call.at, site.call.at, base), fn)
                    if gate is not None:
                        yield self._held(gate, fn, site.call, partial(self.program.worsts.of_block, fn.block, frame, (site.call,)))

    def _gate(self, expr: f.Expr, fn: Fun) -> Pool | None:
        for flow in self.resolver.ask(expr, self.resolver.frame(fn)):
            if isinstance(flow.thing, Obj):
                pool = self.program.pools.pool_of(flow.thing)
                if pool is not None and pool.kind.role == "gate":
                    return pool
        return None

    def _held(self, gate: Pool, fn: Fun, node: f.Node, worst: Callable[[], Worst]) -> Hold:
        return Hold((gate.fn, gate.site.call), fn, node, lambda: worst().known, partial(self._serves, fn))

    def _serves(self, fn: Fun) -> bool:
        entry = self.program.spawning.entry_of(fn)
        return entry is not None and entry[0] == "request"

    def _through_methods(self) -> Iterator[Hold]:
        """Work handed to a method that takes a permit around it."""
        if self.program.focus is not None and not self._may_make_gates:
            return
        for method, position, owner in self._gate_methods:
            for caller in self.program.names.callers(method.name):
                if caller.module.language != method.module.language or caller.module.is_test:
                    continue
                for site in caller.body.calls:
                    base = dotted(site.call.fn).rpartition(".")[0]
                    if site.last != method.name or not base or position >= len(site.call.args):
                        continue
                    gate = self._of_class(base, site, owner)
                    if gate is not None:
                        yield from self._handed(gate, site, site.call.args[position].value)

    @property
    def _may_make_gates(self) -> bool:
        """Whether a file in focus speaks of a class with such a method."""
        owners = any_of(*sorted({owner.name.encode() for _, _, owner in self._gate_methods}))
        return bool(owners.words) and any(self.program.says(module.path, owners) for module in self.program.start_modules())

    def _of_class(self, base: str, site: CallSite, owner: Klass) -> tuple[Fun, f.Node] | None:
        """The place that makes the gate a method is called on."""
        for flow in self.resolver.ask(f.Ref(site.call.fn.at, site.call.fn.at, base), self.resolver.frame(site.fn)):
            obj = flow.thing
            if not isinstance(obj, Obj) or obj.frame is None or not isinstance(obj.node, f.Node):
                continue
            if obj.type is owner:
                return obj.frame.fn, obj.node
            # Go: `make(Gate, 12)` of a named channel
            node = obj.node
            made = node.args[0].value if isinstance(node, f.Call) and node.args else None
            if isinstance(made, f.New) and self.resolver.resolve_type(made.type, obj.frame.fn) is owner:
                return obj.frame.fn, node
        return None

    def _handed(self, gate: tuple[Fun, f.Node], site: CallSite, work: f.Expr) -> Iterator[Hold]:
        fn = site.fn
        bodies = [fn.module.functions[work.index]] if isinstance(work, f.Fn) else []
        if not bodies:
            flows = self.resolver.ask(work, self.resolver.frame(fn))
            bodies = [x.thing.fn for x in flows if isinstance(x.thing, FnVal)]
        if not bodies:
            return
        deadline = self._deadline(site)

        def measure() -> float:
            longest = max(self.program.worsts.of_function(self.resolver.frame(body)).known for body in bodies)
            return min(longest, deadline) if longest and deadline else longest or deadline or 0.0

        yield Hold(gate, fn, site.call, measure, lambda: deadline is not None or self._serves(fn))

    def _deadline(self, site: CallSite) -> float | None:
        """The deadline that the caller of a gate gives, where it is known."""
        frame = self.resolver.frame(site.fn)
        for arg in site.call.args[:1]:
            found = self.program.deadlines.of(arg.value, frame)
            if found and all(d.kind == "bounded" and d.number is not None for d in found):
                return max(d.number for d in found if d.number is not None)
        around = self.program.deadlines.around(site)
        return around if around is not None and 0 < around < float("inf") else None

    @cached_property
    def _gate_methods(self) -> list[tuple[Fun, int, Klass]]:
        """Methods that take a permit of their object and then call what they were given, with the position of that."""
        found = self.program.gathered("gate methods", self._find_gate_methods, lambda row: (row[0].module.path,))
        return sorted(found, key=lambda row: row[0].key)

    def _find_gate_methods(self) -> list[tuple[Fun, int, Klass]]:
        out: list[tuple[Fun, int, Klass]] = []
        for klass in self.program.start_classes():
            if klass.module.is_test or klass.module.language == "java":
                continue
            for fn in klass.methods.values():
                given = [p.name for p in fn.positional]
                called = [p for p in given if p in fn.head.calls]
                if called and self._takes_permit(fn):
                    out.append((fn, given.index(called[0]), klass))
        return out

    def _takes_permit(self, fn: Fun) -> bool:
        """Whether a method sends into a channel of its object and receives from it again, or holds one of its gates."""
        this = fn.head.params[0].name
        sent = {dotted(n.channel) for n in nodes(fn) if isinstance(n, f.Send)}
        inner = [fn, *(x for x in fn.module.functions if x.parent is fn)]
        received = {dotted(n.value) for x in inner for n in nodes(x) if isinstance(n, f.Recv)}
        if any(name == this or name.startswith(f"{this}.") for name in sent & received):
            return True
        for stmt, _ in fn.body.stmts:
            if isinstance(stmt, f.With) and any(
                dotted(i.value).startswith(f"{this}.") and self.program.spawning.is_gate(i.value, fn) for i in stmt.items
            ):
                return True
        return any(
            dotted(s.call.fn).startswith(f"{this}.")
            and s.last.lower() in ("acquire", "tryacquire")
            and self.program.spawning.acquires(s)
            for s in fn.body.calls
        )

    # ------------------------------------------------------------ executors

    def _executors(self) -> Iterator[PoolFault]:
        by_pool: dict[Pool, list[Task]] = {}
        for task in self.program.pool_tasks.all:
            pool = task.pool
            if pool is None or not pool.name or pool.kind.event_loop or self.program.is_test(task.fn):
                continue
            if not self.program.in_focus(pool.fn):
                continue
            if pool.local and not pool.fn.module.beans:  # a bean is handed to whoever asks for it
                continue
            by_pool.setdefault(pool, []).append(task)
        for pool, tasks in by_pool.items():
            if len({family(t.fn) for t in tasks}) < 2 or self.program.pools.ceiling(pool.obj, "concurrency").state == "endless":
                continue
            fault = self._mixed(pool, tasks)
            if fault is not None:
                yield fault

    def _mixed(self, pool: Pool, tasks: list[Task]) -> PoolFault | None:
        served = [s for task in tasks if not self.program.spawning.gated(task.spawn, None) for s in self._peers(task)]
        first: dict[str, Served] = {}
        for one in served:
            first.setdefault(one.peer, one)
        peers = list(first.values())
        givers = {family(s.task.fn) for s in peers}
        if len(peers) < 2 or len(givers) < 2:
            return None
        # One and the same function that asks both is one piece of work, not two users.
        by_giver: dict[Fun, set[str]] = {}
        for one in served:
            by_giver.setdefault(family(one.task.fn), set()).add(one.peer)
        apart = [
            (a, b) for a in by_giver for b in by_giver if a is not b and by_giver[a] - by_giver[b] and by_giver[b] - by_giver[a]
        ]
        if not apart:
            return None
        names = [f"{s.peer} ({family(s.task.fn).name})" for s in peers[:_SHOWN]]
        more = f" and {len(peers) - _SHOWN} more" if len(peers) > _SHOWN else ""
        listed = " and ".join(names) + more
        text = f"`{pool.last}` runs calls to {listed}: while one is slow it takes all threads, and the others wait behind it"
        steps = tuple(x for s in peers[:_SHOWN] for x in (self.program.step(s.task.fn, s.task.site.call, "given here"), *s.steps))
        return PoolFault(self.program.span_of(pool.fn, pool.site.call), text, Confidence.MEDIUM, steps)

    def _peers(self, task: Task) -> Iterator[Served]:
        """The peers that a task waits for, by their hosts or, of databases, by their clients."""
        for peer, steps in self._asked(task.spawn.bodies):
            yield Served(task, peer, steps)

    def _asked(self, bodies: tuple[Fun, ...]) -> Iterator[tuple[str, tuple[Step, ...]]]:
        """The peers that functions wait for, on their own thread, and the way there."""
        for reached in self.program.pool_tasks.run_by(bodies):
            for wait in waits_in(self.program, reached.fn, *_WAITS):
                peer = self._peer(wait)
                if peer:
                    yield peer, (*reached.steps, self.program.step(reached.fn, wait.site.call, f"asks {peer}"))

    # ------------------------------------------------------------ handlers

    def _handlers(self) -> Iterator[PoolFault]:
        """Handlers that a framework runs on the same few threads: a slow one beside one that is quick."""
        shared: dict[tuple[str, str], list[Fun]] = {}
        for fn, entry in self.program.entries.items():
            if entry.threads and entry.kind == "request" and not self.program.is_test(fn):
                shared.setdefault((entry.threads, self._process(fn)), []).append(fn)
        for (name, _), handlers in sorted(shared.items()):
            if len(handlers) > 1 and any(map(self.program.in_focus, handlers)):
                fault = self._crowded(name, sorted(handlers, key=lambda fn: fn.key))
                if fault is not None and self.program.in_focus(fault[0]):
                    yield fault[1]

    def _process(self, fn: Fun) -> str:
        """What tells the process that serves a handler from others: the service it belongs to."""
        service = self.program.settings.service_of(fn.module.path)
        return service.name if service is not None else ""

    def _crowded(self, name: str, handlers: list[Fun]) -> tuple[Fun, PoolFault] | None:
        asked = {fn: found for fn in handlers if (found := dict(self._asked((fn,)))) and not self._held_back(fn)}
        if len({peer for found in asked.values() for peer in found}) < 2:
            return None
        times = {fn: self.program.worsts.of_function(self.resolver.frame(fn)).known for fn in asked}
        slow = max(asked, key=lambda fn: (times[fn], fn.key))
        quick = min(
            (fn for fn in asked if times[fn] > 0 and not set(asked[fn]) & set(asked[slow])), key=lambda fn: times[fn], default=None
        )
        if quick is None or times[slow] < max(_SLOW, APART * times[quick]):
            return None
        row = self.resolver.table(slow.module).instance(name)
        most = next((b.default for b in row.bounds if b.slot == "concurrency"), None) if row is not None else None
        threads = f"the {most:g} threads" if isinstance(most, int | float) else "the threads"
        long, short = say_seconds(times[slow]), say_seconds(times[quick])
        text = (
            f"{slow.name} keeps one of {threads} of all plain handlers for up to {long}, {quick.name} takes {short}:"
            " few slow ones shut it out"
        )
        steps = tuple(
            step
            for fn in (slow, quick)
            for step in (self.program.step(fn, _name_of(fn), f"{fn.name} runs there"), *next(iter(asked[fn].values())))
        )
        return slow, PoolFault(self.program.span_of(slow, _name_of(slow)), text, Confidence.MEDIUM, steps)

    def _held_back(self, fn: Fun) -> bool:
        """Whether a gate of its own limits how many of a handler wait at once."""
        return any(
            any(
                isinstance(stmt, f.With) and any(self.program.spawning.is_gate(i.value, reached.fn) for i in stmt.items)
                for stmt, _ in reached.fn.body.stmts
            )
            or any(self.program.spawning.acquires(site) for site in reached.fn.body.calls if "cquire" in site.last)
            for reached in self.program.pool_tasks.run_by((fn,))
        )

    def _peer(self, wait: Wait) -> str:
        """The host that a wait asks: of its arguments first, then of what its client was made with."""
        for bind in (*wait.target.binds, *self._made_with(wait.holder)):
            host = self._host(bind, 0)
            if host:
                return host
        return ""

    def _made_with(self, obj: Obj | None) -> Iterator[Bind]:
        """The arguments of an object's construction, and of what it was made from."""
        for _ in range(_STEPS):
            if obj is None:
                return
            if isinstance(obj.node, f.Call) and obj.frame is not None:
                yield from obj.binds if obj.binds is not None else self.resolver.binds(obj.node, obj.frame)
            obj = obj.parent

    def _host(self, bind: Bind, depth: int) -> str:
        """The one host in an address, or in the request that an argument is; empty for several or none."""
        if isinstance(bind.expr, f.Fn) or (isinstance(bind.expr, f.Lit) and not isinstance(bind.expr.value, str)):
            return ""
        hosts: set[str] = set()
        for flow in self.resolver.ask(bind.expr, bind.frame):
            if isinstance(flow.thing, Text):
                hosts.add(_host_in(flow.thing.known))
            elif isinstance(flow.thing, Obj) and depth < _STEPS:
                hosts.add(next((host for inner in self._made_with(flow.thing) if (host := self._host(inner, depth + 1))), ""))
            else:
                return ""
        return hosts.pop() if len(hosts) == 1 else ""


def _name_of(fn: Fun) -> f.Node:
    """Where a function's name stands."""
    return f.Ref(fn.head.name_at, fn.head.name_at + len(fn.name.encode()), "")


def _host_in(text: str) -> str:
    """The host of an address that is known up to there."""
    try:
        host = urlsplit(text).hostname or ""
    except ValueError:
        return ""
    return "" if "\0" in host else host


def _speaks(name: str, gates: set[str]) -> bool:
    return any(part in gates for part in name.split("."))
