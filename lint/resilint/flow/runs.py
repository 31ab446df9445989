"""When code runs: again and again by the clock or in a worker's loop, or once for each request."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from resilint import facts as f
from resilint.flow.lists import Words
from resilint.link.code import CallSite, Fun, dotted, last_name, walk, walk_block
from resilint.link.looks import any_small
from resilint.model import Confidence, Step

if TYPE_CHECKING:
    from resilint.program import Program

_DEPTH = 4
_MOST = 60


class Run(NamedTuple):
    """How a function comes to run: `job` by the clock, in a worker's loop or as a batch, `request`, or not known."""

    kind: Literal["job", "request", ""]
    confidence: Confidence = Confidence.HIGH
    steps: tuple[Step, ...] = ()


class Runs:
    """Answers how functions come to run. Answers are remembered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.resolver = program.resolver
        self.words = Words(program)
        self._memo: dict[tuple[Fun, bool], Run] = {}

    def of(self, fn: Fun, node: f.Node) -> Run:
        """How a place in a function comes to run; where it is both a job's and a request's, it is a job's."""
        key = fn, self._loops_with_pause(fn, node)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._find(*key)
        return found

    def _find(self, fn: Fun, looped: bool) -> Run:
        seen: dict[Fun, tuple[Step, ...]] = {fn: ()}
        # What calls from beside its own loop, as a server does before it goes on to listen, calls once.
        beside: set[Fun] = set() if looped else {fn}
        layer = [fn]
        request: Run | None = None
        for _ in range(_DEPTH):
            following: list[Fun] = []
            for one in layer:
                run = self._own(one, seen[one], one not in beside)
                if run is not None and run.kind == "job":
                    return run
                request = request or run
                for _, site, _, _ in self.resolver.callers(one)[0]:
                    if site.fn.module.is_test:
                        continue
                    step = self.program.step(site.fn, site.call, f"{site.fn.head.qual} calls {one.head.qual}")
                    if self._in_service_loop(site):
                        said = self.program.step(site.fn, site.call, "this runs again and again, with a pause between")
                        return Run("job", Confidence.HIGH, (said, *seen[one]))
                    if site.fn not in seen and len(seen) < _MOST:
                        seen[site.fn] = (step, *seen[one])
                        beside.add(site.fn)
                        following.append(site.fn)
                parent = one.parent
                if parent is not None and parent not in seen:
                    seen[parent] = seen[one]
                    following.append(parent)
            layer = following
        return request or Run("")

    def _own(self, fn: Fun, steps: tuple[Step, ...], looped: bool) -> Run | None:
        entry = self.program.entries.get(fn)
        if entry is not None and entry.kind in ("job", "tool"):
            return Run(
                "job", Confidence.HIGH, (self._at(fn, f"{fn.head.qual} is run by the clock or as a batch: {entry.because}"), *steps)
            )
        scheduled = self._by_schedule(fn)
        if scheduled is not None:
            return Run("job", Confidence.HIGH, (scheduled, *steps))
        if looped and self._loops_with_pause(fn):
            return Run("job", Confidence.HIGH, (self._at(fn, f"{fn.head.qual} goes round for ever, with a pause"), *steps))
        if entry is not None and entry.kind == "request":
            return Run("request", Confidence.HIGH, steps)
        return None

    def _at(self, fn: Fun, text: str) -> Step:
        end = fn.head.name_at + max(len(fn.name.encode()), 1)
        return self.program.step(fn, f.Ref(fn.head.name_at, end, fn.name), text)

    # ------------------------------------------------------------ loops

    def _in_service_loop(self, site: CallSite) -> bool:
        """Whether a call stands in a loop without end that pauses or follows a clock."""
        return any(
            isinstance(arm.node, f.Loop) and self._goes_round(arm.node, site.fn) for arm in site.arm.chain() if arm.kind == "loop"
        )

    def _loops_with_pause(self, fn: Fun, node: f.Node | None = None) -> bool:
        return any(
            isinstance(stmt, f.Loop) and (node is None or stmt.at <= node.at < stmt.end) and self._goes_round(stmt, fn)
            for stmt, _ in fn.body.stmts
        )

    def _goes_round(self, loop: f.Loop, fn: Fun) -> bool:
        if loop.form == "each":
            # `for range ticker.C`
            return fn.module.language == "go" and loop.iter is not None and dotted(loop.iter).endswith(".C")
        if loop.form not in ("ever", "while"):
            return False
        for node in walk_block(loop.body):
            if isinstance(node, f.Recv) and (
                dotted(node.value).endswith(".C")
                or (isinstance(node.value, f.Call) and last_name(node.value.fn) in ("After", "Tick"))
            ):
                return True
            if isinstance(node, f.Call) and last_name(node.fn) in self._pauses:
                return True
        return False

    @cached_property
    def _pauses(self) -> frozenset[str]:
        """Last segments of calls that pause."""
        libraries = (library for language in ("python", "go", "java") for library in self.program.knowledge.of(language).libraries)
        return frozenset(
            name.rpartition(".")[2]
            for library in libraries
            for call in library.calls
            if call.does == "sleep"
            for name in call.names
        )

    # ------------------------------------------------------------ schedules in settings

    def _by_schedule(self, fn: Fun) -> Step | None:
        """Whether a schedule in the settings starts the file that a function stands in."""
        if fn.module.language != "python":
            return None
        named = self._tabled.get(fn.name)
        if named is not None and fn.head.decorators:
            return named
        path = fn.module.path
        name = path.rpartition("/")[2]
        dotted_name = path.removesuffix(".py").replace("/", ".")
        for word, step in self._scheduled.items():
            if (
                word == name
                or word.endswith("/" + name)
                or dotted_name == word
                or ("." in word and dotted_name.endswith("." + word))
            ):
                return step
        return None

    @cached_property
    def _tabled(self) -> dict[str, Step]:
        """Names of functions that a table of code, or a call, has run by the clock."""
        settings, adding = self.words.of("schedule_settings"), self.words.of("schedule_calls")
        wanted = any_small(word.lower().encode() for word in sorted(settings | adding))
        found: dict[str, Step] = {}
        for module in self.program.names.modules.values():
            if module.language != "python" or module.is_test:
                continue
            if not self.program.says(module.path, wanted):
                continue
            for fn in module.functions:
                for stmt, _ in fn.body.stmts:
                    if isinstance(stmt, f.Assign) and any(dotted(t).rpartition(".")[2] in settings for t in stmt.targets):
                        found.update(self._texts_in(stmt, fn))
                for site in fn.body.calls:
                    if site.last in adding:
                        names = (n.name.split(".") for arg in site.call.args for n in walk(arg.value) if isinstance(n, f.Ref))
                        step = self.program.step(fn, site.call, "a schedule runs this")
                        found.update((part, step) for parts in names for part in parts[-2:])
                    elif any(arg.name in settings for arg in site.call.args):
                        found.update(self._texts_in(site.stmt, fn))
        return found

    def _texts_in(self, stmt: f.Stmt, fn: Fun) -> Iterator[tuple[str, Step]]:
        for node in walk(stmt):
            if isinstance(node, f.Lit) and isinstance(node.value, str) and "." in node.value and " " not in node.value:
                yield node.value.rpartition(".")[2], self.program.step(fn, node, "a schedule runs this")

    @cached_property
    def _scheduled(self) -> dict[str, Step]:
        """Files and modules that scheduled jobs of manifests run."""
        found: dict[str, Step] = {}
        for path in sorted(self.program.files):
            facts = self.program.files[path]
            if facts.kind not in ("yaml", "json") or self.program.settings.is_test(path):
                continue
            jobs = {s.doc for s in facts.settings if s.path == ("kind",) and s.text == "CronJob"}
            for setting in facts.settings if jobs else ():
                if setting.doc in jobs and setting.kind == "str" and any(part in ("command", "args") for part in setting.path):
                    step = Step(self.program.span(path, setting.at, setting.end), "a schedule runs this")
                    for word in setting.text.split():
                        found.setdefault(word.removeprefix("./"), step)
        return found
