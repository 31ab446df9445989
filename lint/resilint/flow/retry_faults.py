"""What is wrong with retries that are written in code: no cap, no pause, pauses that grow alike for everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.lists import Words
from resilint.flow.once import is_asked_for, runs_once
from resilint.flow.passes import ERROR_NAME
from resilint.flow.pauses import Pause
from resilint.flow.retries import SAYS, STANDS, STOPS, Retries, RetryLoop
from resilint.flow.slots import say_seconds
from resilint.flow.timeouts import Fault
from resilint.flow.values import Bound, ClassVal, FnVal
from resilint.knowledge.index import doing
from resilint.link.code import Fun, called_part, dotted, last_name, walk, walk_block
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_SHORT = 1.0
"""Seconds: a constant pause of that length or more gives the peer time."""
_FEW = 2
"""Tries: so many at once are one second chance, no storm."""
_DEEP = 3
_MANY = 24
"""Calls looked at in one function."""
_READS_FLAG = frozenset({"isInterrupted", "interrupted"})
_ENDS = re.compile(r"ctx|context|done|stop|quit|clos", re.IGNORECASE)
_DEEDS = re.compile(r"close|stop|done|quit", re.IGNORECASE)
"""What is called to end something else, not to ask for an end: `resp.Body.Close()`, `timer.Stop()`."""
_FILES = re.compile(
    r"\w*open|read|write|unlink|rename|remove|mk_?dirs?|stat|rm\w*|link|copy\w*|list_?dir|lock|(_\w+_)?load", re.IGNORECASE
)
"""Calls for files, whose errors are of the same classes as those of sockets."""
_OPENS = re.compile(r"f?open$|open_?file$", re.IGNORECASE)
_TAKES = re.compile(r"_*(recv|receive|accept|poll|take|dequeue|consume|fetch_?(one|next)|next)", re.IGNORECASE)
_AWAITS = re.compile(r"_*(?:a?wait_(?:for|until|till)_|(?:until|till)_)", re.IGNORECASE)
"""Functions whose callers want to go on only when something is there."""
_STANDS_BY = re.compile(r"_*(?:[aA]?[wW]ait_?(?:[fF]or|[uU]ntil|[tT]ill)|[uU]ntil|[pP]oll_?(?:[fF]or|[uU]ntil))(?=_|[A-Z])")
"""The same, in the spellings of every language."""
_LOCAL = ("pure", "make", "configure", "log", "hash", "wait", "sleep", "decode", "cancel")
_RAN_OUT = re.compile(r"time_?d?_?out|timed|expired|deadline", re.IGNORECASE)


class RetryFaults:
    """Judges the retries of a program."""

    def __init__(self, program: Program, retries: Retries) -> None:
        self.program = program
        self.retries = retries
        self.found: dict[str, list[Fault]] = {}
        self.evidence = Evidence(program)
        for retry in retries.all():
            if not self._serves(retry) and not self._is_unused(retry.fn) and self.evidence.fails_remotely(retry):
                for code, fault in (*self._judge(retry), *self._deaf(retry)):
                    self.found.setdefault(code, []).append(fault)
        for poll in retries.polls(self._is_storm):
            self.found.setdefault("RS502", []).append(self._hasty(poll))

    def of(self, code: str) -> list[Fault]:
        """The faults of a code, in order."""
        return sorted(self.found.get(code, ()), key=lambda fault: (fault.span, fault.message))

    def _is_storm(self, poll: RetryLoop) -> bool:
        """Whether a poll that goes on at once where it fails calls a peer again and again."""
        return not _receives(poll) and self.evidence.fails_remotely(poll) and not self.evidence.stands(poll)

    @cached_property
    def _threads(self) -> frozenset[Fun]:
        """Functions that threads and tasks begin with."""
        return frozenset(body for spawn in self.program.spawns for body in spawn.bodies)

    def _serves(self, retry: RetryLoop) -> bool:
        """Whether a loop is what its thread or process is there for."""
        fn = retry.fn
        if fn.index == 0 or fn.name == "main" or any(self.evidence.runs_for_good(call, fn) for call in retry.calls):
            return True
        if fn.name != "run" and fn not in self._threads:
            return False
        # What a thread does within its rounds is work like any other.
        return not any(
            isinstance(stmt, f.Loop) and stmt is not retry.node and stmt.at <= retry.at < stmt.end for stmt, _ in fn.body.stmts
        )

    def _is_unused(self, fn: Fun) -> bool:
        """Whether nobody in the program speaks of a function that by its name is for the program alone."""
        if not fn.name.startswith("_") or fn.name.startswith("__") or fn.module.language != "python" or fn.head.kind != "free":
            return False
        users = self.program.headers("python").users.get(fn.name, ())
        return not fn.head.decorators and not any(user is not fn for user in users)

    def _judge(self, retry: RetryLoop) -> Iterator[tuple[str, Fault]]:
        what = self._what(retry)
        if retry.tries == inf and retry.moves != "finite":
            steps = tuple(self.program.step(retry.fn, test, "only this ends it: the work is to stop") for test in retry.stops)
            message = f"`{what}` is tried again for ever: nothing ends the retry after some tries or some time"
            # That a test is one of shutdown is told by its name.
            sure = Confidence.LOW if retry.stops or self._awaits_peers(retry) else Confidence.HIGH
            yield "RS501", self._fault(retry, self._head(retry), message, sure, (*self._told(retry), *steps))
        if (retry.tries is not None and retry.tries <= _FEW) or retry.moves:
            return
        pause = retry.pause
        if pause.grows is False and pause.jitter is False and pause.seconds is not None and pause.seconds < _SHORT:
            if self.evidence.has_waited(retry):
                return
            where = pause.node if pause.node is not None and pause.seconds > 0 else self._head(retry)
            often = f" up to {retry.tries:g} times" if retry.tries is not None and retry.tries < inf else ""
            if pause.seconds > 0:
                if retry.caps and _STANDS_BY.match(retry.fn.name):
                    return  # It asks, for so long, whether something is there by now: a poll, which need not grow.
                message = (
                    f"`{what}` is tried{often} with {say_seconds(pause.seconds)} in between each time: the pause does not grow"
                )
            else:
                message = f"`{what}` is tried{often} with no pause in between"
            steps = (*self._told(retry), *self._step(retry, pause))
            yield "RS502", self._fault(retry, where, message, pause.confidence, steps)
        elif pause.grows and pause.jitter is False:
            where = pause.node if pause.node is not None else self._head(retry)
            message = f"pauses between tries of `{what}` grow alike for every caller: nothing random is in them"
            steps = (*self._told(retry), *self._step(retry, pause))
            yield "RS503", self._fault(retry, where, message, pause.confidence, steps)

    def _awaits_peers(self, retry: RetryLoop) -> bool:
        """Whether a program cannot begin before this has succeeded, or takes what comes: it waits, with pauses, until what it needs
        is there."""
        pause = retry.pause
        patient = pause.grows or (pause.node is not None if pause.seconds is None else pause.seconds >= _SHORT)
        if not patient or retry.fn.module.language != "python":
            return False
        waits = _TAKES.match(retry.fn.name) is not None or _AWAITS.match(retry.fn.name) is not None
        named = waits or runs_once(self.program, retry.fn, made=True)
        return _receives(retry) or (named and not is_asked_for(self.program, retry.fn))

    # ------------------------------------------------------------ cancellation

    def _deaf(self, retry: RetryLoop) -> Iterator[tuple[str, Fault]]:
        """A retry that goes on pausing, or trying, after its work was cancelled."""
        if not isinstance(retry.node, f.Loop):
            return
        ways = {"go": self._ignores_context, "java": self._ignores_interrupt, "python": self._ignores_event}
        # How long it lasts is the dearest question.
        yield from (found for found in ways[retry.fn.module.language](retry, retry.node) if self._lasts(retry))

    @staticmethod
    def _lasts(retry: RetryLoop) -> bool:
        """Whether it may go on for long enough to matter."""
        if retry.tries == inf:
            return True
        seconds = retry.pause.seconds
        if seconds is not None and retry.tries is not None:
            return seconds * (retry.tries - 1) >= _SHORT
        return seconds != 0.0

    def _sleep(self, retry: RetryLoop) -> Pause | None:
        """The pause that nothing ends."""
        return next((p for p in retry.pauses if p.aware is False and p.node is not None and p.known), None)

    def _ignores_context(self, retry: RetryLoop, loop: f.Loop) -> Iterator[tuple[str, Fault]]:
        name = self._context(retry.fn)
        if not name or self._asks(retry, loop, name):
            return
        sleep = self._sleep(retry)
        if sleep is None and (retry.tries != inf or retry.pauses):
            return
        what = self._what(retry)
        param = self.program.step(retry.fn, loop.body[0] if loop.body else loop, f"`{name}` is in reach here")
        if sleep is not None and sleep.node is not None:
            text = f"the pause between tries of `{what}` goes on after `{name}` has ended: nothing in the retry asks it"
            yield "RS506", self._fault(retry, sleep.node, text, Confidence.HIGH, (*self._told(retry), *self._step(retry, sleep)))
        else:
            text = f"`{what}` is tried again after `{name}` has ended: nothing in the retry asks it"
            yield "RS506", self._fault(retry, self._head(retry), text, Confidence.HIGH, (*self._told(retry), param))

    @staticmethod
    def _context(fn: Fun) -> str:
        """The context that a function, or one around it, was given."""
        scope: Fun | None = fn
        while scope is not None:
            for param in scope.head.params:
                if param.type is not None and param.type.name == "context.Context" and param.name not in ("", "_"):
                    return param.name
            scope = scope.parent
        return ""

    def _asks(self, retry: RetryLoop, loop: f.Loop, name: str) -> bool:
        """Whether a loop asks a context, hands it to what pauses, or asks the error for what kind it is."""
        own = [(c.at, c.end) for c in (*retry.calls, *self._packed(retry, loop, name))]
        for node in (n for part in (loop.test, *loop.body) if part is not None for n in walk(part)):
            if isinstance(node, f.Do) and isinstance(node.value, f.Call) and _is_deed(node.value):
                own.append((node.value.fn.at, node.value.fn.end))
            elif isinstance(node, f.Call):
                if last_name(node.fn) == "Close" and _is_deed(node):
                    own.append((node.fn.at, node.fn.end))
                if SAYS.search(dotted(node.fn)):
                    own.append((node.at, node.end))
                elif any(isinstance(a.value, f.Ref) and ERROR_NAME.fullmatch(a.value.name) for a in node.args) and not _formats(
                    node
                ):
                    return True
            elif isinstance(node, f.Ref):
                said = node.name.partition(".")[0] == name or _ENDS.search(node.name)
                if said and not any(at <= node.at < end for at, end in own):
                    return True
        return False

    def _packed(self, retry: RetryLoop, loop: f.Loop, name: str) -> Iterator[f.Call]:
        """Calls that only put a context into what is tried, as a request does, and ask it nothing."""
        for site in retry.fn.body.calls:
            held = [a.value.name for a in site.call.args if isinstance(a.value, f.Ref)]
            given = any(one == name or _ENDS.search(one) for one in held)
            if given and loop.at <= site.call.at < loop.end:
                rows = [target.entry for target in self.program.targets(site)]
                if rows and all(row is not None and row.does == "make" for row in rows):
                    yield site.call

    def _ignores_interrupt(self, retry: RetryLoop, loop: f.Loop) -> Iterator[tuple[str, Fault]]:
        if any(
            isinstance(n, f.Call) and last_name(n.fn) in _READS_FLAG
            for part in (loop.test, *loop.body)
            if part is not None
            for n in walk(part)
        ) or self._ends_by_operation(retry, loop):
            return
        for pause in retry.pauses:
            if pause.node is None or not pause.known:
                continue
            places = [(retry.fn, loop.body, pause.node)] if not pause.within else []
            if pause.within and _is_statement(loop.body, pause.node):
                fn, node = pause.within[-1]
                places.append((fn, fn.block, node))
            for fn, block, node in places:
                handler = _interrupted(block, node)
                if handler is not None:
                    what = self._what(retry)
                    text = f"an interrupt does not end the retry of `{what}`: its flag is set again, and the next try follows"
                    caught = self.program.step(fn, f.Ref(handler.types[0].at, handler.types[-1].end, ""), "the interrupt ends here")
                    steps = (*self._told(retry), *self._step(retry, pause), caught)
                    yield "RS506", self._fault(retry, pause.node, text, Confidence.HIGH, steps)
                    return

    def _ends_by_operation(self, retry: RetryLoop, loop: f.Loop) -> bool:
        """Whether the next try itself ends the retry where the flag is set: it throws the interrupt, and that leads out."""
        first = retry.calls[0]
        around = [s for s in walk_block(loop.body) if isinstance(s, f.Try) and s.body and s.body[0].at <= first.at < s.body[-1].end]
        for stmt in reversed(around):
            for handler in stmt.handlers:
                kinds = {last_name(kind) for kind in handler.types}
                if kinds & {"InterruptedException", "Exception", "Throwable"}:
                    # Who catches this one by name has something that throws it: the compiler saw to that.
                    return "InterruptedException" in kinds and _leaves(handler)
        throwers = self.program.swallowed.throwers
        sites = (self.program.retries.pauses.site(call, retry.fn) for call in retry.calls if last_name(call.fn) in throwers)
        return any(fn in throwers[site.last] for site in sites if site is not None for fn in self.program.callees(site))

    def _ignores_event(self, retry: RetryLoop, loop: f.Loop) -> Iterator[tuple[str, Fault]]:
        name = self._event(retry.fn)
        if not name or any(
            isinstance(n, f.Ref) and n.name.startswith(name)
            for part in (loop.test, *loop.body)
            if part is not None
            for n in walk(part)
        ):
            return
        sleep = self._sleep(retry)
        if sleep is None or sleep.node is None:
            return
        text = f"the pause between tries of `{self._what(retry)}` goes on after `{name}` is set: nothing in the retry asks it"
        yield "RS506", self._fault(retry, sleep.node, text, Confidence.HIGH, (*self._told(retry), *self._step(retry, sleep)))

    def _event(self, fn: Fun) -> str:
        """An event by which the work of a function is stopped: a parameter, or a field that a method of its class sets."""
        for param in fn.head.params:
            if param.type is not None and param.type.name.rpartition(".")[2] == "Event":
                return param.name
        klass = self.program.resolver.owner(fn)
        for other in klass.methods.values() if klass is not None else ():
            for call in other.head.calls:
                parts = call.split(".")
                if len(parts) == 3 and parts[0] == "self" and parts[2] == "set" and STOPS.search(parts[1]):
                    return f"self.{parts[1]}"
        return ""

    def _hasty(self, poll: RetryLoop) -> Fault:
        """A poll whose failing way leaves the pause out."""
        what = self._what(poll)
        message = f"`{what}` is called again at once where it fails: the pause of this loop is only on the way of success"
        return self._fault(poll, _line(poll.failed), message, Confidence.HIGH, self._told(poll))

    # ------------------------------------------------------------ words

    def _fault(self, retry: RetryLoop, node: f.Node, message: str, sure: Confidence, steps: tuple[Step, ...]) -> Fault:
        span = self.program.span_of(retry.fn, node)
        return Fault(span, message, Value(None, sure, steps), key=(span.path, span.line))

    def _what(self, retry: RetryLoop) -> str:
        operation = self._operation(retry)
        name = dotted(operation.fn) if isinstance(operation, f.Call) else ""
        return name.removeprefix("this.") or self.program.text_of(retry.fn, operation, 40)

    def _operation(self, retry: RetryLoop) -> f.Node:
        """What is tried: of several calls the first that is known to wait for a peer, else the one that its name tells."""
        calls = {id(call) for call in retry.calls if isinstance(call.fn, f.Ref) or dotted(call.fn)}
        peers = doing("network", "query", "connect")
        for site in retry.fn.body.calls if len(calls) > 1 else ():
            if id(site.call) in calls and any(peers(entry) for _, entry in self.program.described(site, peers)):
                return site.call
        return retry.operation

    def _told(self, retry: RetryLoop) -> tuple[Step, ...]:
        what = self._what(retry)
        first = self.program.step(retry.fn, _line(self._operation(retry)), f"`{what}` is tried here")
        return first, self.program.step(retry.fn, _line(retry.failed), "its failure leads to the next try")

    def _step(self, retry: RetryLoop, pause: Pause) -> tuple[Step, ...]:
        if pause.node is None:
            return ()
        text = f"{say_seconds(pause.seconds)} are waited here" if pause.seconds is not None else "the pause is made here"
        here = self.program.step(retry.fn, pause.node, text)
        return (here, *(self.program.step(fn, node, "and sleeps here") for fn, node in pause.within[-1:]))

    @staticmethod
    def _head(retry: RetryLoop) -> f.Node:
        """The first line of a loop."""
        if isinstance(retry.node, f.Call):
            return called_part(retry.node)
        return f.Ref(retry.node.at, min(retry.node.end, retry.node.body[0].at) if retry.node.body else retry.node.end, "")


def _line(node: f.Node) -> f.Node:
    return called_part(node) if isinstance(node, f.Call) else f.Ref(node.at, node.at + 1, "")


class Evidence:
    """Tells whether what is tried may fail at a peer at all."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        words = Words(program)
        self._modules = words.of("local_module")
        self._file_errors = words.of("failure_file")
        self._waited = words.of("failure_waited")
        self._plain_methods = words.of("local_method")
        self._here: dict[Fun, bool | None] = {}

    def fails_remotely(self, retry: RetryLoop) -> bool:
        """Whether a peer may be behind the failure: not if all that is called is known to stay in this process and its files."""
        ran_out = all(_RAN_OUT.search(kind) for kind in retry.kinds)
        if retry.kinds and (ran_out or set(retry.kinds) <= self._file_errors) and self.stands(retry):
            return False  # It waits for something to come, and was woken without it.
        if retry.kinds and not set(retry.kinds) <= self._file_errors:
            # An error was caught: it is a peer's unless all of it is known.
            return any(self._call(call, retry.fn, 0) is not False for call in retry.calls)
        answers = [self._call(call, retry.fn, 0) for call in retry.calls]
        files = any(_FILES.match(last_name(call.fn)) for call in retry.calls) and True not in answers
        if files and retry.kinds and set(retry.kinds) <= self._file_errors:
            return False
        if isinstance(retry.node, f.Loop) and not retry.kinds and not _is_error(retry):
            # Only false comes back: of somebody unknown that may be any answer.
            return any(a is True for a in answers) or all(a is None for a in answers)
        return any(a is not False for a in answers)

    def has_waited(self, retry: RetryLoop) -> bool:
        """Whether only a failure is tried again that is told after a wait of its own, by the text that it is asked for."""
        return any(
            isinstance(node, f.Lit) and isinstance(node.value, str) and any(text in node.value for text in self._waited)
            for stmt in retry.path
            for node in walk(stmt)
        )

    def stands(self, retry: RetryLoop) -> bool:
        """Whether the operation only waits for something to come, for so long."""
        return any(STANDS.match(last_name(call.fn)) for call in retry.calls) and not any(
            self._call(call, retry.fn, 0) is True for call in retry.calls
        )

    def runs_for_good(self, call: f.Call, fn: Fun, depth: int = 0) -> bool:
        """Whether a call runs a server or a loop of events until the process ends: what starts that again restarts it."""
        site = self.program.retries.pauses.site(call, fn)
        for target in self.program.targets(site) if site is not None else ():
            if target.entry is not None and target.entry.does == "serve":
                return True
            thing = target.flow.thing
            inner = thing.fn if isinstance(thing, FnVal) and depth < _DEEP and len(thing.fn.head.calls) <= _MANY else None
            if inner is not None and any(self.runs_for_good(one.call, inner, depth + 1) for one in inner.body.calls):
                return True
        return False

    def _call(self, call: f.Call, fn: Fun, depth: int) -> bool | None:
        """Whether a call goes out: `None` where nobody knows."""
        site = self.program.retries.pauses.site(call, fn)
        if site is None:
            return None
        answers: list[bool | None] = []
        for target in self.program.targets(site):
            entry, thing = target.entry, target.flow.thing
            if entry is not None:
                answers.append(True if entry.does in ("network", "query", "connect") else False if entry.does in _LOCAL else None)
            elif isinstance(thing, FnVal):
                answers.append(self._function(thing.fn, depth + 1))
            elif isinstance(thing, ClassVal):
                init = self.resolver.init_of(thing.klass)
                answers.append(self._function(init, depth + 1) if init is not None else False)
            elif target.name:
                answers.append(False if self._is_local(target.name) else None)
            else:
                answers.append(False if isinstance(thing, Bound) and isinstance(thing.obj.node, f.Coll | f.Lit | f.Comp) else None)
        if not answers or None in answers:
            if True not in answers and (_reads_open_file(call, fn) or last_name(call.fn) in self._plain_methods):
                return False
            return True if True in answers else None
        return True in answers

    def _is_local(self, name: str) -> bool:
        return any(name == module or name.startswith((module + ".", module + "/")) for module in self._modules)

    def _function(self, fn: Fun, depth: int) -> bool | None:
        if fn in self._here:
            return self._here[fn]
        if depth > _DEEP or fn.head.is_abstract or len(fn.head.calls) > _MANY:
            return None
        self._here[fn] = False  # Until it is known: a function that calls itself says nothing by that.
        answers = (self._call(site.call, fn, depth) for site in fn.body.calls)
        found = next((answer for answer in answers if answer is not False), False)
        self._here[fn] = found
        return found


def _reads_open_file(call: f.Call, fn: Fun) -> bool:
    """Whether a call is given nothing but a file that a `with` around it has opened, or is one of such a file."""
    base = dotted(call.fn).rpartition(".")[0]
    name = base if base in fn.body.definitions else ""
    if not name and len(call.args) == 1 and isinstance(call.args[0].value, f.Ref):
        name = call.args[0].value.name
    made = [d for d in fn.body.definitions.get(name, ()) if d.kind != "declared"] if name else []
    return bool(made) and all(d.kind == "enter" and isinstance(d.expr, f.Call) and _OPENS.match(last_name(d.expr.fn)) for d in made)


def _receives(poll: RetryLoop) -> bool:
    """Whether a loop takes what comes: what it waits for paces it."""
    return any(_TAKES.match(last_name(call.fn)) for call in poll.calls)


def _is_error(retry: RetryLoop) -> bool:
    """Whether the failure is told by an error, not by a result that is false."""
    return isinstance(retry.failed, f.Assign | f.Bin)


def _formats(call: f.Call) -> bool:
    """Whether a call only makes an error or a text of the error it is given."""
    return bool(re.search(r"errorf|wrap|format|sprint|append|join|new|str$", last_name(call.fn), re.IGNORECASE))


def _is_deed(call: f.Call) -> bool:
    """Whether a method ends something that is not named like what tells of an end, with nothing said to it."""
    base, _, last = dotted(call.fn).rpartition(".")
    return bool(_DEEDS.fullmatch(last)) and bool(base) and not call.args and not _ENDS.search(base)


def _is_statement(block: f.Block, node: f.Node) -> bool:
    """Whether a call stands alone: nobody looks at what it gives."""
    return any(isinstance(n, f.Do) and n.value is node for n in walk_block(block))


def _interrupted(block: f.Block, node: f.Node) -> f.Handler | None:
    """The handler around a sleep that sets the flag of its thread again and goes on."""
    for stmt in walk_block(block):
        if isinstance(stmt, f.Try) and stmt.body and stmt.body[0].at <= node.at < stmt.body[-1].end:
            for handler in stmt.handlers:
                if not any(last_name(kind) == "InterruptedException" for kind in handler.types):
                    continue
                inside = list(walk_block(handler.body))
                flagged = any(isinstance(n, f.Call) and last_name(n.fn) == "interrupt" for n in inside)
                return handler if flagged and not _leaves(handler) else None
    return None


def _leaves(handler: f.Handler) -> bool:
    """Whether something in a handler leads out of the loop around."""
    inside = walk_block(handler.body)
    return any(isinstance(n, f.Raise | f.Return) or (isinstance(n, f.Jump) and n.kind == "break") for n in inside)
