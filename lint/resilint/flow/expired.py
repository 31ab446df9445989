"""Queues whose consumers serve whatever they take, though its caller may have left while it waited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from resilint import facts as f
from resilint.flow.lists import Words, words
from resilint.flow.queues import Consumer, Put, Queue, Take, say
from resilint.flow.spawns import WAITS, head_of
from resilint.flow.timeouts import Fault
from resilint.link.code import Fun, dotted, last_name, leaves, walk, walk_block
from resilint.model import Value

if TYPE_CHECKING:
    from resilint.program import Program

_DEPTH = 2
_MOST_FUNCTIONS = 24


class Expired:
    """Finds consumers that never ask whether somebody still waits."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.words = Words(program).of("expiry")
        self._nodes: list[f.Node] = []
        """The takes of the consumer that is looked at."""

    def served(self) -> Iterator[Fault]:
        """Takes from a queue, for callers that wait a while only, between which and the work nothing looks at the item (RS406)."""
        for queue in self.program.queues.starting:
            if queue.pool is not None and queue.pool.kind.role == "executor":
                continue
            case, consumers = self.program.queues.service(queue)
            if case is None or self._withdrawn(queue):
                continue
            for consumer in consumers:
                takes = [take for take in consumer.takes if take.fn is consumer.fn]
                if takes and not self._looks(consumer):
                    yield self._fault(
                        queue, takes[0], case.patience.number, case.patience.text, case.patience.confidence, queue.puts
                    )

    def _fault(self, queue: Queue, take: Take, patience: float, said: str, sure: Any, puts: list[Put]) -> Fault:
        node = head_of(take.node) if isinstance(take.node, f.Loop) else take.node
        named = f" ({said})" if said else ""
        text = (
            f"what is taken from `{queue.name}` is served without a look at whether its caller, who waits {say(patience)}{named},"
            " is still there"
        )
        steps = tuple(self.program.step(put.fn, put.node, "it is put in here, for somebody who waits") for put in puts[:1])
        return Fault(self.program.span_of(take.fn, node), text, Value(patience, sure, steps))

    def _withdrawn(self, queue: Queue) -> bool:
        """Whether who gives up takes its item out of the queue again."""
        names = {queue.name} | {dotted(put.site.call.fn).rpartition(".")[0] for put in queue.puts if put.site is not None}
        for put in queue.puts:
            for site in put.fn.body.calls:
                if site.last in ("remove", "Remove", "discard") and dotted(site.call.fn).rpartition(".")[0] in names:
                    return True
        return False

    # ------------------------------------------------------------ what is looked at

    def _looks(self, consumer: Consumer) -> bool:
        """Whether something between the takes of a consumer and its work depends on whether an item is still wanted."""
        seen: set[tuple[Fun, frozenset[str]]] = set()
        self._nodes = [take.node for take in consumer.takes]
        pending: list[tuple[Fun, f.Block, frozenset[str], int]] = [
            (consumer.fn, consumer.loop.body, frozenset(_taken(consumer)), 0)
        ]
        for take in consumer.takes:
            if take.gathered is not None and take.gathered.fn is not consumer.fn:
                pending.append((take.gathered.fn, take.gathered.fn.block, frozenset(_taken(take.gathered)), 0))
        if isinstance(consumer.loop.iter, f.Call):
            pending.append((consumer.fn, (f.Do(consumer.loop.at, consumer.loop.end, consumer.loop.iter),), frozenset(), 0))
        while pending and len(seen) < _MOST_FUNCTIONS:
            fn, block, names, depth = pending.pop()
            if (fn, names) in seen:
                continue
            seen.add((fn, names))
            names = frozenset(_derived(block, set(names), fn))
            if self._looks_in(block, names, self._work(consumer) if block is consumer.loop.body else None):
                return True
            if depth < _DEPTH:
                pending.extend(self._entered(fn, block, names, depth + 1))
        return False

    def _work(self, consumer: Consumer) -> int | None:
        """Where the first wait for a peer in the loop of a consumer ends: who looks only then has done the work already."""
        loop, spawning = consumer.loop, self.program.spawning
        last = max((node.end for node in self._nodes if _within(node, loop)), default=loop.at)
        for site in consumer.fn.body.calls:
            if last < site.call.at < loop.end and site.loop is loop and not site.how:
                reach = None
                if not any(entry.does in WAITS for _, entry in self.program.described(site)):
                    callees = self.program.callees(site)
                    reach = spawning.reach(callees) if callees else None
                    if reach is None or not reach.sure:
                        continue
                return site.stmt.end if not isinstance(site.stmt, f.If | f.Loop | f.With | f.Try) else site.call.end
        return None

    def _looks_in(self, block: f.Block, names: frozenset[str], until: int | None = None) -> bool:
        for node in walk_block(block):
            if until is not None and isinstance(node, f.Node) and node.at >= until:
                continue
            tests: list[Any] = []
            if isinstance(node, f.If):
                if (
                    _is_of(node.test, names)
                    and not _is_presence(node.test, names)
                    and leaves(node.then)
                    and _is_yes_or_no(node.test)
                ):
                    return True
                tests.append(node.test)
            elif (isinstance(node, f.Loop) and node.test is not None) or isinstance(node, f.Cond):
                tests.append(node.test)
            elif isinstance(node, f.Switch):
                tests.extend(test for case in node.cases for test in case.tests)
                tests.extend([node.subject] if node.subject is not None else [])
            elif isinstance(node, f.Gen):
                tests.extend(node.conds)
            elif isinstance(node, f.Recv):
                tests.append(node.value)
            elif isinstance(node, f.Call):
                # What is handed on with the item's own deadline ends with it; `removeIf(Entry::expired)` drops the rest.
                tests.extend(arg.value for arg in node.args if isinstance(arg.value, f.Ref | f.Call | f.Field))
                referred = any(isinstance(arg.value, f.Field) and self._tells(arg.value.name) for arg in node.args)
                if (referred or self._tells(last_name(node.fn))) and _is_of(node.fn, names):
                    return True
            if any(_is_of(test, names) and self._asks(test) for test in tests):
                return True
        return False

    def _asks(self, test: Any) -> bool:
        """Whether a test speaks of an end: a deadline, a cancellation, a caller that is gone."""
        for node in walk(test):
            if isinstance(node, f.Ref | f.Field) and any(
                self._tells(part) for part in (node.name.split(".")[1:] if isinstance(node, f.Ref) else [node.name])
            ):
                return True
            if isinstance(node, f.Call) and self._tells(last_name(node.fn)):
                return True
        return False

    def _tells(self, name: str) -> bool:
        return any(word in self.words for word in words(name))

    def _entered(
        self, fn: Fun, block: f.Block, names: frozenset[str], depth: int
    ) -> Iterator[tuple[Fun, f.Block, frozenset[str], int]]:
        """What is called with an item, under the name it has there."""
        inside = [node for node in walk_block(block) if isinstance(node, f.Call)]
        sites = {id(site.call): site for site in fn.body.calls}
        for call in inside:
            site = sites.get(id(call))
            receives = _is_of(call.fn, names)
            taken = {i for i, arg in enumerate(call.args) if any(_within(node, arg.value) for node in self._nodes)}
            given = [i for i, arg in enumerate(call.args) if i in taken or _is_of(arg.value, names)]
            for arg in call.args:
                if isinstance(arg.value, f.Fn):
                    literal = fn.module.functions[arg.value.index]
                    own = {p.name for p in literal.head.params} if receives else set()
                    yield literal, literal.block, names | own, depth
                elif receives and isinstance(arg.value, f.Field) and fn.module.language == "java":
                    for referred in self.program.names.java.referred(arg.value, fn):
                        if isinstance(referred, Fun):
                            yield referred, referred.block, frozenset({p.name for p in referred.head.params}), depth
            if site is None or not (given or receives):
                continue
            for callee in self.program.callees(site):
                positional = callee.positional
                held = {positional[i].name for i in given if i < len(positional)}
                held |= {arg.name for arg in call.args if arg.name and _is_of(arg.value, names)}
                if receives and callee.is_method:
                    held.add(callee.head.params[0].name)
                if held:
                    yield callee, callee.block, frozenset(held), depth


def _taken(consumer: Consumer) -> set[str]:
    """The names that items have in the loop of a consumer."""
    names: set[str] = set()
    nodes = [take.node for take in consumer.takes]
    for take in consumer.takes:
        if isinstance(take.node, f.Loop) and take.node.target is not None:
            names.update(n.name for n in walk(take.node.target) if isinstance(n, f.Ref))
        if take.site is not None:
            names.update(dotted(arg.value) for arg in take.site.call.args)
    if consumer.loop.target is not None:
        names.update(n.name for n in walk(consumer.loop.target) if isinstance(n, f.Ref))
    for node in walk_block(consumer.loop.body):
        if isinstance(node, f.Assign) and node.value is not None and any(_within(n, node.value) for n in nodes):
            names.update(n.name for t in node.targets for n in walk(t) if isinstance(n, f.Ref))
        elif isinstance(node, f.Let) and any(_within(n, node.value) for n in nodes):
            names.add(dotted(node.target))
        elif isinstance(node, f.Call) and any(_within(n, arg.value) for arg in node.args for n in nodes):
            # `batch.append(inbox.get())`
            names.add(dotted(node.fn).rpartition(".")[0])
    return names - {"", "_", "this", "self", "err", "ok"}


def _derived(block: f.Block, names: set[str], fn: Fun) -> set[str]:
    """These names, and those of what is made of them: elements, parts, collections they are put into."""
    for _ in range(3):
        before = len(names)
        for node in walk_block(block):
            if isinstance(node, f.Assign) and node.value is not None and _is_of(node.value, names):
                names.update(n.name for t in node.targets for n in walk(t) if isinstance(n, f.Ref) and "." not in n.name)
            elif isinstance(node, f.Loop | f.Gen) and node.iter is not None and _is_of(node.iter, names):
                names.update(n.name for n in walk(node.target) if isinstance(n, f.Ref))
            elif (
                isinstance(node, f.Call)
                and any(_is_of(arg.value, names) for arg in node.args)
                and last_name(node.fn) in ("append", "add", "push", "put")
            ):
                names.add(dotted(node.fn).rpartition(".")[0])
        names -= {"", "_", "this", "self", "err", "ok"}
        if len(names) == before:
            break
    return names


def _within(node: f.Node, around: f.Node) -> bool:
    return around.at <= node.at and node.end <= around.end


def _is_of(expr: Any, names: Any) -> bool:
    """Whether an expression speaks of one of these names."""
    return any(isinstance(n, f.Ref) and (n.name in names or n.name.partition(".")[0] in names) for n in walk(expr))


def _is_presence(test: f.Expr, names: frozenset[str]) -> bool:
    """Whether a test only asks whether something was taken, or compares it with a mark of the end."""
    if isinstance(test, f.Un) and test.op == "not":
        return _is_presence(test.value, names)
    if isinstance(test, f.Ref):
        return test.name in names
    if isinstance(test, f.Bin):
        if test.op in ("and", "or"):
            return _is_presence(test.left, names) and _is_presence(test.right, names)
        return True
    return isinstance(test, f.Call) and last_name(test.fn).lower() in ("isempty", "len", "size", "isinstance", "is_none")


def _is_yes_or_no(test: f.Expr) -> bool:
    """Whether a test is the answer to a question, no comparison."""
    if isinstance(test, f.Un) and test.op == "not":
        return _is_yes_or_no(test.value)
    return isinstance(test, f.Call) or (isinstance(test, f.Ref) and "." in test.name)
