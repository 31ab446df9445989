"""Attempts along a path: how layers of retries multiply, from code through the client's library to a proxy in front of the peer."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod
from typing import TYPE_CHECKING, NamedTuple

from resilint import facts as f
from resilint.flow.policies import Policy
from resilint.flow.policy_faults import said
from resilint.flow.routes import Route, Routes
from resilint.flow.surfaces import project_of
from resilint.flow.timeouts import Fault
from resilint.flow.values import Bound, FnVal, Obj, Text
from resilint.flow.waits import Wait, waits_at, waits_in
from resilint.link.code import CallSite, Fun, last_name, walk
from resilint.model import Confidence, Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_DEEP = 10
"""Calls followed one inside another."""
_CLIMBS = 4
"""Callers gone up from a layer to find names that lead to it."""
_COMMON = 60
"""Functions that call something of a name: beyond, the name says nothing."""
_MOST = 4000
"""Functions whose names lead to a layer."""
_LAYERS = 6
_HOST = re.compile(r"\w[\w+.-]*://([\w.-]+)(?=[:/?\0]|$)")


class Layer(NamedTuple):
    """Something that tries again: how often at most, where that is told, and in words."""

    tries: float
    span: Span
    text: str
    confidence: Confidence
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Chain:
    """Layers around one call, outermost first, and the call."""

    layers: tuple[Layer, ...]
    call: Step | None = None

    @property
    def tries(self) -> float:
        """Tries of the call at most."""
        return prod(layer.tries for layer in self.layers)

    def inside(self, layers: Iterable[Layer]) -> Chain:
        """The same with layers around it; a layer that is met again counts once."""
        known = {layer.span for layer in self.layers}
        return Chain((*(x for x in layers if x.span not in known), *self.layers)[-_LAYERS:], self.call)


class Attempts:
    """Multiplies the layers of a program's paths."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.policies = program.policies
        self._best: dict[Fun, Chain | None] = {}
        self._busy: set[Fun] = set()

    def amplified(self) -> list[Fault]:
        """Calls whose layers of retries multiply beyond the budget: one fault for each innermost layer."""
        worst: dict[Span, Chain] = {}
        for chain in (*self._of_code(), *self._of_settings(), *self._of_services()):
            if len(chain.layers) < 2 or chain.tries <= self.program.settings.retry_budget:
                continue
            inner = chain.layers[-1].span
            if inner not in worst or chain.tries > worst[inner].tries:
                worst[inner] = chain
        return [self._fault(span, worst[span]) for span in sorted(worst)]

    def _fault(self, span: Span, chain: Chain) -> Fault:
        numbers = " × ".join(f"{layer.tries:g}" for layer in chain.layers)
        names = ", ".join(layer.text for layer in chain.layers)
        budget = self.program.settings.retry_budget
        message = f"retries multiply: {numbers} = {chain.tries:g} tries of one call ({names}), more than {budget}"
        steps: list[Step] = []
        for layer in chain.layers:
            steps.extend(layer.steps)
            steps.append(Step(layer.span, f"{layer.text}: {layer.tries:g} tries"))
        if chain.call is not None:
            steps.append(chain.call)
        sure = min(layer.confidence for layer in chain.layers)
        return Fault(span, message, Value(chain.tries, sure, tuple(dict.fromkeys(steps))), key=span)

    # ------------------------------------------------------------ code

    def _of_code(self) -> Iterator[Chain]:
        for fn in sorted(filter(self.program.in_focus, self._layered), key=lambda one: one.key):
            around = self._around(fn)
            yield (self._inside(fn) or Chain(())).inside(around)
        for wait, policy in self._clients.values():
            if self.program.in_focus(wait.fn):
                yield Chain((), None).inside([*_layers([policy]), *self._routed(wait)])

    def _around(self, fn: Fun) -> list[Layer]:
        return _layers(reversed(self.policies.of_function(fn)))

    @cached_property
    def _clients(self) -> dict[int, tuple[Wait, Policy | None]]:
        """Calls of clients that repeat by themselves or whose host a proxy repeats, by the identity of the call."""
        found = self.program.gathered(
            "repeating clients",
            self._find_clients,
            lambda pair: (pair[0].fn.module.path,),
            lambda pair: pair[0].rests_on(),
            lambda pair: self._repeating(waits_at(self.program, [pair[0].site], "network", "query")),
        )
        out: dict[int, tuple[Wait, Policy | None]] = {}
        for wait, policy in found:
            out.setdefault(id(wait.site.call), (wait, policy))
        return out

    def _find_clients(self) -> Iterator[tuple[Wait, Policy | None]]:
        # Stubs that are generated are seen where a layer stands around them.
        layered = sorted(filter(self.program.in_focus, self._layered), key=lambda one: one.key)
        inside = (wait for fn in layered for wait in waits_in(self.program, fn, "network", "query"))
        return self._repeating((*self.program.start_waits, *inside))

    def _repeating(self, waits: Iterable[Wait]) -> Iterator[tuple[Wait, Policy | None]]:
        for wait in waits:
            if wait.fn.module.is_test or wait.kind == "connect":
                continue
            holder = wait.holder
            place = (wait.fn, wait.site.call)
            policy = self.policies.of_client(holder, place) if holder is not None and self._may_repeat(holder) else None
            if policy is not None and not _layers([policy]):
                policy = None
            if policy is not None or (self.routes.all and self._routed(wait)):
                yield wait, policy

    def _may_repeat(self, holder: Obj) -> bool:
        """Whether knowledge says of a client's type, or of one in front of it, that it repeats."""
        obj: Obj | None = holder
        for _ in range(_DEEP):
            if obj is None:
                return False
            kind = self.resolver.external_type(obj)
            table = self.program.knowledge.of(self.program.slots.language(obj))
            if kind and (table.retry(kind) is not None or any(bound.slot == "attempts" for bound in table.bounds(kind))):
                return True
            obj = obj.parent
        return False

    @cached_property
    def _layered(self) -> frozenset[Fun]:
        """Functions with a layer of their own outside of clients: a loop, a policy around them, one that runs what it is given."""
        return self.program.kept(
            "layered",
            self._find_layered,
            lambda known: frozenset(fn for fn in known if not self.program.in_focus(fn)) | self._find_layered(),
        )

    def _find_layered(self) -> frozenset[Fun]:
        out = {loop.fn for loop in self.program.retries.all() if _counts(loop.tries)}
        for fn in self.policies.with_policies():
            applied = (*self.policies.of_function(fn), *self._runs(fn).values(), *(policy for _, policy in self.policies.loops(fn)))
            if _layers(applied):
                out.add(fn)
        return frozenset(fn for fn in out if not fn.module.is_test)

    def _runs(self, fn: Fun) -> dict[int, Policy]:
        """Calls of a function that run an operation again, by their identity."""
        return {id(site.call): policy for site, policy in self.policies.reruns(fn)}

    @cached_property
    def _leads(self) -> frozenset[str]:
        """Names of functions by which calls may lead to a layer."""
        names = self.program.names
        start = {*self._layered, *(wait.fn for wait, _ in self._clients.values())}
        seen: set[Fun] = set(start)
        waiting = deque((fn, 0) for fn in sorted(start, key=lambda one: one.key))
        out: set[str] = set()
        while waiting and len(seen) < _MOST:
            fn, depth = waiting.popleft()
            name = fn.name if fn.name != "__init__" else ""
            callers = names.callers(name) if name else ()
            if not name or len(callers) > _COMMON:
                continue
            out.add(name)
            for caller in callers if depth < _CLIMBS else ():
                if caller not in seen and caller.module.language == fn.module.language:
                    seen.add(caller)
                    waiting.append((caller, depth + 1))
        return frozenset(out)

    def _inside(self, fn: Fun) -> Chain | None:
        """The layers inside a function that multiply to the most tries; `None` where there are none."""
        if fn in self._best:
            return self._best[fn]
        if fn in self._busy or len(self._busy) >= _DEEP:
            return None
        self._busy.add(fn)
        try:
            best = self._largest(self._chains(fn))
        finally:
            self._busy.discard(fn)
        if not self._busy or best is not None:
            self._best[fn] = best
        return best

    @staticmethod
    def _largest(chains: Iterable[Chain | None]) -> Chain | None:
        best: Chain | None = None
        for chain in chains:
            if (
                chain is not None
                and chain.layers
                and (best is None or (chain.tries, len(chain.layers)) > (best.tries, len(best.layers)))
            ):
                best = chain
        return best

    def _chains(self, fn: Fun) -> Iterator[Chain | None]:
        loops = [
            (loop.node, Layer(loop.tries or 1.0, self._head(fn, loop.node), f"the loop in {fn.name}", Confidence.HIGH))
            for loop in self.program.retries.of(fn)
            if isinstance(loop.node, f.Loop) and _counts(loop.tries)
        ]
        for loop, policy in self.policies.loops(fn):
            loops.extend((loop, layer) for layer in _layers([policy]))
        runs = self._runs(fn) if fn in self._layered else {}
        for site in fn.body.calls:
            around = [layer for node, layer in loops if node.at <= site.call.at < node.end and not _is_aside(site, node)]
            applied = runs.get(id(site.call))
            if applied is not None:
                inner = self._largest(self._operation(applied)) or Chain(())
                yield inner.inside([*around, *_layers([applied])])
            elif id(site.call) in self._clients:
                wait, client = self._clients[id(site.call)]
                step = self.program.step(fn, site.call, f"{said(wait.api)} is called here")
                yield Chain((), step).inside([*around, *(_layers([client]) if client is not None else ()), *self._routed(wait)])
            elif site.last in self._leads or isinstance(site.call.fn, f.Fn):
                for callee in self.program.callees(site):
                    if callee.module.is_test and not fn.module.is_test:
                        continue
                    inner = self._inside(callee) or Chain(())
                    step = self.program.step(fn, site.call, f"{callee.name} is called here")
                    yield Chain(inner.layers, inner.call or step).inside([*around, *self._around(callee)])
            elif around:
                yield Chain((), None).inside(around)

    def _operation(self, policy: Policy) -> Iterator[Chain | None]:
        """What the operation of a policy does."""
        if policy.runs is None:
            return
        expr, frame = policy.runs.expr, policy.runs.frame
        for flow in self.resolver.ask(expr, frame):
            thing = flow.thing
            if isinstance(thing, FnVal):
                inner = self._inside(thing.fn) or Chain(())
                yield inner.inside(self._around(thing.fn))
            elif isinstance(thing, Bound):
                client = self.policies.of_client(thing.obj) if self._may_repeat(thing.obj) else None
                yield Chain(()).inside(_layers([client]) if client is not None else ())
        for node in walk(expr) if isinstance(expr, f.Call | f.Field) else ():
            if isinstance(node, f.Fn):
                yield self._inside(frame.fn.module.functions[node.index])
        for site in frame.fn.body.calls:
            # What is computed again: `http.get().retrieve().retryWhen(…)`.
            if expr.at <= site.call.at and site.call.end <= expr.end and isinstance(expr, f.Call | f.Field):
                if id(site.call) in self._clients:
                    wait, client = self._clients[id(site.call)]
                    yield Chain(()).inside([*(_layers([client]) if client is not None else ()), *self._routed(wait)])
                elif site.last in self._leads:
                    for callee in self.program.callees(site):
                        inner = self._inside(callee) or Chain(())
                        yield inner.inside(self._around(callee))

    def _head(self, fn: Fun, loop: f.Loop) -> Span:
        end = min(loop.end, loop.body[0].at) if loop.body else loop.end
        end -= len(head) - len(head.rstrip()) if (head := self.program.cut(fn.module.path, loop.at, end)) else 0
        return self.program.span(fn.module.path, loop.at, end)

    # ------------------------------------------------------------ proxies

    @cached_property
    def routes(self) -> Routes:
        """Routes of settings that repeat."""
        return Routes(self.program)

    def _routed(self, wait: Wait) -> list[Layer]:
        """What a proxy repeats of a call, where a route for its host lies in the repository."""
        if not self.routes.all:
            return []
        hosts = list(dict.fromkeys(self._hosts(wait)))
        routes = [route for host in hosts for route in self.routes.of_host(host)]
        # Several routes of one host are ways for other paths: the one that repeats least is sure.
        by_file: dict[str, list[Route]] = {}
        for route in routes:
            by_file.setdefault(route.path, []).append(route)
        least = [min(found, key=lambda route: route.tries) for found in by_file.values()]
        entry = wait.target.entry
        rpc = entry is not None and entry.protocol == "grpc"
        return [layer for route in least for layer in _of_route(route, rpc)]

    def _hosts(self, wait: Wait) -> Iterator[str]:
        binds = list(wait.target.binds[:3])
        obj = wait.holder
        for _ in range(3):
            if obj is None:
                break
            binds.extend(obj.binds or ())
            if obj.binds is None and isinstance(obj.node, f.Call) and obj.frame is not None:
                binds.extend(self.resolver.binds(obj.node, obj.frame))
            obj = obj.parent
        for bind in binds:
            if isinstance(bind.expr, f.Lit) and not isinstance(bind.expr.value, str):
                continue
            for flow in self.resolver.ask(bind.expr, bind.frame):
                match = _HOST.match(flow.thing.known) if isinstance(flow.thing, Text) else None
                if match is not None:
                    yield match[1]

    def _of_settings(self) -> Iterator[Chain]:
        """A client's own config and the proxies' routes for one RPC service; a proxy in front of a mesh for one host."""
        for route in self.routes.all:
            if route.side == "client" and _of_route(route, rpc=True):
                for service in route.services:
                    for other in self.routes.of_service(service):
                        yield Chain(()).inside([*_of_route(route, rpc=True), *_of_route(other, rpc=True)])
            elif route.upstreams and _of_route(route):
                for host in route.upstreams:
                    for other in self.routes.of_host(host):
                        if other.what != route.what:
                            yield Chain(()).inside([*_of_route(route), *_of_route(other)])

    def _of_services(self) -> Iterator[Chain]:
        """A proxy's route to a service of this repository, and what that repeats in turn."""
        if not any(_of_route(route) for route in self.routes.all):
            return
        for name, folder in sorted(self._services):
            routes = [route for route in self.routes.all if route.side == "proxy" and route.leads_to(name)]
            if not routes:
                continue
            route = min(routes, key=lambda route: route.tries)
            front = _of_route(route)
            around = [layer._replace(confidence=min(layer.confidence, Confidence.MEDIUM)) for layer in front]
            for fn, entry in self.program.entries.items() if front else ():
                inside = fn.module.path.startswith(folder) and not fn.module.is_test
                if entry.kind == "request" and inside and _takes(fn, route.methods):
                    chain = (self._inside(fn) or Chain(())).inside(self._around(fn))
                    if chain.layers:
                        yield chain.inside(around)

    @cached_property
    def _services(self) -> set[tuple[str, str]]:
        """Names of services of this repository with the start of the paths of their code."""
        found: set[tuple[str, str]] = set()
        for written in self.program.setting("spring.application.name"):
            folder = project_of(written.path)
            found.update(
                (text.known, f"{folder}/" if folder else "") for text in self.program.surfaces.texts(written) if text.whole
            )
        return found


def _counts(tries: float | None) -> bool:
    return tries is not None and 1 < tries < inf


def _layers(policies: Iterable[Policy | None]) -> list[Layer]:
    """Policies that repeat what a peer failed to do, as layers: those of unknown or endless tries are other rules' business."""
    return [
        Layer(policy.tries or 1.0, policy.span, said(policy.owner), policy.confidence, policy.steps)
        for policy in policies
        if policy is not None and _counts(policy.tries) and policy.condition == "any" and not policy.throttled
    ]


def _of_route(route: Route, rpc: bool = False) -> list[Layer]:
    """What a route repeats of calls of a protocol, or of an RPC."""
    if route.tries <= 1 or route.connect or route.throttled or (route.rpc and not rpc):
        return []
    return [Layer(float(route.tries), route.span, route.what, route.confidence)]


def _takes(fn: Fun, methods: tuple[str, ...]) -> bool:
    """Whether a handler takes requests of one of these methods, as its decorator names it."""
    names = [last_name(d.fn if isinstance(d, f.Call) else d).lower() for d in fn.head.decorators]
    return not methods or any(name.startswith(method) for name in names for method in methods)


def _is_aside(site: CallSite, loop: f.Loop) -> bool:
    """Whether a call stands where a loop handles the failure, not in what it tries."""
    return any(arm.kind == "handler" and loop.at <= arm.at for arm in site.arm.chain())
