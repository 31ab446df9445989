"""Memory that runtimes are told to use, against the memory that their containers may use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.containers import HOLE, Container, Given, size_of
from resilint.flow.timeouts import Fault
from resilint.flow.values import Ext, Num
from resilint.knowledge.schema import RuntimeRow
from resilint.link.code import CallSite
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

_HOLE_WORD = re.compile(rf"(?<!\S){HOLE}")
"""A word that may be any option."""
_NUMBER = re.compile(r"\d{1,6}(?:\.\d{1,6})?\Z")
_FOR_EVER = 16.0
"""How many times its limit memory without an end is, to order faults of one place."""


@dataclass
class _Options:
    """What one place tells a runtime."""

    given: Given
    name: str
    """Its variable, or how else it is called in a message."""
    sure: Confidence
    heap: tuple[float, str] | None = None
    """Bytes, and as written."""
    share: tuple[float, str] | None = None
    """Of the memory there is."""
    beside: dict[str, tuple[float, str]] = field(default_factory=dict)
    open: bool = False
    """Something is put in that is not known."""


def oversized_heaps(program: Program) -> Iterator[Fault]:
    """Containers whose runtime may take more than their limit less the headroom of the settings, and collectors that are off
    without a limit of any kind, in order of path and place."""
    faults: dict[object, tuple[float, Fault]] = {}
    runtimes = [row for library in program.knowledge.libraries for row in library.runtimes]
    for container in program.containers.all:
        for runtime in runtimes:
            for ratio, fault in _judged(program, container, runtime):
                known = faults.get(fault.span)
                if known is None or ratio > known[0]:
                    faults[fault.span] = (ratio, fault)
    found = [fault for _, fault in faults.values()]
    found += _images_alone(program, runtimes)
    found += [fault for runtime in runtimes for fault in _switched_off_in_code(program, runtime)]
    yield from sorted(found, key=lambda fault: (fault.span, fault.message))


def _images_alone(program: Program, runtimes: list[RuntimeRow]) -> Iterator[Fault]:
    """Images that switch the collector off, whose containers nobody describes here."""
    containers = program.containers
    used = {containers.image_of(container) for container in containers.all}
    for path, settings in containers.images.items():
        given = {have[1]: Given(_held(s.text), path, s) for have, s in settings.items() if have[0] == "ENV" and len(have) == 2}
        if path not in used and given and containers.rows:
            alone = Container(path, (), 0, containers.rows[0])
            yield from (fault for runtime in runtimes for _, fault in _target(program, alone, runtime, dict(given)))


def _judged(program: Program, container: Container, runtime: RuntimeRow) -> Iterator[tuple[float, Fault]]:
    image = program.containers.image_of(container)
    built = program.containers.images.get(image or "", {})
    variables = dict(container.variables)
    for path, setting in built.items():
        if path[0] == "ENV" and len(path) == 2 and image is not None and path[1] not in variables:
            variables[path[1]] = Given(_held(setting.text), image, setting)
    if runtime.heap or runtime.share:
        yield from _heap(program, container, runtime, variables, image, built)
    if runtime.target is not None:
        yield from _target(program, container, runtime, variables)


def _held(text: str) -> str:
    """A text of an image: its variables may be set when it is built."""
    return re.sub(r"[$]\{[^{}]*\}|[$]\w+", HOLE, text)


# ---------------------------------------------------------------- options of a command


def _heap(
    program: Program,
    container: Container,
    runtime: RuntimeRow,
    variables: dict[str, Given | None],
    image: str | None,
    built: dict[tuple[str, ...], f.Setting],
) -> Iterator[tuple[float, Fault]]:
    most = container.most
    if most is None or container.limit is None or most <= 0:
        return
    options = list(_all_options(program, container, runtime, variables, image, built))
    decisive = _decisive(options)
    if decisive is None:
        return
    heap, share = decisive.heap, decisive.share
    if heap is None and share is None:
        return
    size = heap[0] if heap is not None else share[0] * most if share is not None else 0.0
    beside: dict[str, tuple[float, str]] = {}
    for one in options:
        beside |= one.beside
    total = size + sum(amount for amount, _ in beside.values())
    headroom = program.settings.memory_headroom
    if total <= headroom * most * (1 + 1e-9):
        return
    said = f"heap of {_say(size)}" if heap is not None else f"heap of {share[1] if share is not None else ''} = {_say(size)}"
    said += f" in {decisive.name}"
    for what, (amount, _) in sorted(beside.items()):
        said += f" + {_say(amount)} of {what}"
    if beside:
        said += f" = {_say(total)}"
    said += f" > {headroom:g} × {_say(most)} of the container: at most {_say(headroom * most)} fit"
    steps = [Step(program.containers.span(container.limit), f"the container may use {_say(most)}")]
    for one in options:
        for what, (amount, _) in sorted(one.beside.items()):
            if one is not decisive:
                steps.append(Step(program.containers.span(one.given), f"{_say(amount)} of {what}"))
    sure = decisive.sure if image is None or decisive.given.path != image else min(decisive.sure, Confidence.MEDIUM)
    sure = min(program.knowledge.sure(runtime, sure), program.knowledge.sure(container.row))
    yield total / most, Fault(program.containers.span(decisive.given), said, Value(total, sure, tuple(steps)))


def _all_options(
    program: Program,
    container: Container,
    runtime: RuntimeRow,
    variables: dict[str, Given | None],
    image: str | None,
    built: dict[tuple[str, ...], f.Setting],
) -> Iterator[_Options]:
    """What tells the runtime something, the weakest first."""
    words = container.words or _words_of(image, built)
    command = " ".join(word.text for word in words)
    started = any(_starts(word.text, runtime.program) for word in words)
    if not words and image is None:
        started = program.containers.scriptless(container, runtime.builders)
    for name in runtime.carriers:
        yield from _of_variable(name, variables, runtime, Confidence.HIGH)
    for name, given in variables.items():
        if given is None or name in (*runtime.carriers, *runtime.stronger):
            continue
        if name in runtime.heap_variables:
            size = size_of(given.text, runtime.sizes)
            yield _Options(given, name, Confidence.MEDIUM, (size, given.text) if size else None, open=not size)
        elif _speaks(given.text, runtime) and not (started and f"${name}" not in command and f"${{{name}" not in command):
            # Variables of such names are read by start scripts; a command that starts the runtime itself and names none has none.
            yield from _of_variable(name, variables, runtime, Confidence.MEDIUM)
    for have, setting in container.inside:
        if _is_own_key(have, setting, container, runtime):
            yield _options(Given(_own_text(have, setting), container.path, setting), have[-1], runtime, Confidence.MEDIUM)
    if words:
        for word in words:
            if _speaks(word.text, runtime):
                yield _options(word, "the command", runtime, Confidence.HIGH)
            elif _HOLE_WORD.search(word.text) and started:
                yield _Options(word, "the command", Confidence.HIGH, open=True)
            if any(end in word.text.split() for end in runtime.ends):
                break
    for name in runtime.stronger:
        yield from _of_variable(name, variables, runtime, Confidence.HIGH)


def _of_variable(name: str, variables: dict[str, Given | None], runtime: RuntimeRow, sure: Confidence) -> Iterator[_Options]:
    given = variables.get(name)
    if given is not None:
        yield _options(given, name, runtime, sure)


def _options(given: Given, name: str, runtime: RuntimeRow, sure: Confidence) -> _Options:
    found = _Options(given, name, sure)
    for word in given.text.replace('"', " ").replace("'", " ").split():
        if word in runtime.ends:
            break
        if word.startswith(HOLE):
            found.open = True
        for option in runtime.heap:
            if word.startswith(option):
                size = size_of(word[len(option) :], runtime.sizes)
                found.heap = (size, word) if size is not None else found.heap
                found.open = size is None
        for option, scale in [(o, 0.01) for o in runtime.share] + [(o, 0.0) for o in runtime.fraction]:
            rest = word[len(option) :]
            if word.startswith(option):
                number = float(rest) if _NUMBER.match(rest) else 0.0
                found.open |= number <= 0
                if number > 0:
                    part = number * scale if scale else 1 / number
                    found.share = (part, f"{number:g} %" if scale else f"1 ÷ {number:g}")
        for option, what in runtime.beside.items():
            size = size_of(word[len(option) :], runtime.sizes) if word.startswith(option) else None
            if size is not None:
                found.beside[what] = (size, word)
    return found


def _decisive(options: list[_Options]) -> _Options | None:
    """The place whose heap holds: the strongest that writes one; none where something stronger, or of its kind, is not known."""
    for kind in ("heap", "share"):
        speaking = [one for one in options if getattr(one, kind) is not None]
        if not speaking:
            continue
        last = speaking[-1]
        later = options[options.index(last) :]
        if any(one.open for one in later):
            return None
        alike = [one for one in speaking if one.sure == last.sure == Confidence.MEDIUM]
        if len(alike) > 1:
            # Which of several variables of scripts is read is not known: at least the smallest is.
            return min(alike, key=lambda one: getattr(one, kind)[0])
        return last
    return None


def _speaks(text: str, runtime: RuntimeRow) -> bool:
    return any(option in text for option in (*runtime.heap, *runtime.share, *runtime.fraction, *runtime.beside))


def _is_own_key(have: tuple[str, ...], setting: f.Setting, container: Container, runtime: RuntimeRow) -> bool:
    """Whether a key of the block, beside its variables and words, holds options: `esJavaOpts`, `jvmOptions: {-Xmx: 1g}`."""
    if setting.kind in ("map", "list", "null") or len(have) > 3 or container.row.block:
        return False
    top = {name.partition(".")[0].lower() for name in (*container.row.environment, *container.row.command, *container.row.args)}
    if have[0].lower() in top or any(step in ("containers", "initContainers") for step in have):
        return False
    return any(word.startswith((*runtime.heap, *runtime.share)) for word in _own_text(have, setting).split())


def _own_text(have: tuple[str, ...], setting: f.Setting) -> str:
    text = HOLE if "{{" in setting.text or "$" in setting.text else setting.text
    return have[-1] + text if have[-1].startswith("-") else text


def _words_of(image: str | None, built: dict[tuple[str, ...], f.Setting]) -> list[Given]:
    """The command of an image."""
    found = []
    for name in ("ENTRYPOINT", "CMD"):
        whole = built.get((name,))
        if whole is None or image is None:
            continue
        items = [s for path, s in built.items() if len(path) == 2 and path[0] == name] if whole.kind == "list" else [whole]
        found += [Given(s.text, image, s) for s in items]
    return found


def _starts(text: str, programs: Iterable[str]) -> bool:
    return any(word.rpartition("/")[2] in programs for word in text.split())


# ---------------------------------------------------------------- targets and collectors


def _target(
    program: Program, container: Container, runtime: RuntimeRow, variables: dict[str, Given | None]
) -> Iterator[tuple[float, Fault]]:
    target = variables.get(runtime.target or "")
    share, most = program.settings.memory_headroom, container.most
    sure = min(program.knowledge.sure(runtime), program.knowledge.sure(container.row))
    if target is not None and most and container.limit is not None:
        whole = target.text == HOLE + "limit"
        size = most if whole else size_of(target.text, runtime.sizes)
        if size is not None and size > share * most * (1 + 1e-9):
            what = "the limit itself" if whole else _say(size)
            said = f"{runtime.target} of {what} > {share:g} × {_say(most)} of the container: at most {_say(share * most)} fit"
            steps = (Step(program.containers.span(container.limit), f"the container may use {_say(most)}"),)
            yield size / most, Fault(program.containers.span(target), said, Value(size, sure, steps))
    collector = variables.get(runtime.collector or "")
    if collector is None or not any(fnmatchcase(collector.text.strip(), pattern) for pattern in runtime.off):
        return
    off = target is not None and any(fnmatchcase(target.text, pattern) for pattern in runtime.off)
    aimed = runtime.target in variables and not off
    if aimed or container.inherits or _fits(program, runtime):
        return
    said = f"{runtime.collector}={collector.text} without {runtime.target}: nothing is collected and memory grows for ever"
    aside: tuple[Step, ...] = ()
    if container.limit is not None:
        aside = (Step(program.containers.span(container.limit), f"the container may use {container.limit.text}"),)
    yield _FOR_EVER, Fault(program.containers.span(collector), said, Value(None, sure, aside))


def _fits(program: Program, runtime: RuntimeRow) -> bool:
    """Whether code sets the target, or a library does that is told the container's limit."""
    lasts = {name.rpartition(".")[2] for name in runtime.targets}
    if any(True for _ in program.sites(lasts.__contains__, runtime.language, among=lambda module: not module.is_test)):
        return True
    return any(imp.target in runtime.fits for module in program.names.modules.values() for imp in module.facts.imports)


def _switched_off_in_code(program: Program, runtime: RuntimeRow) -> Iterator[Fault]:
    """Calls that switch the collector off in a program that serves and that never sets a target."""
    lasts = {name.rpartition(".")[2] for name in runtime.switches}
    if not lasts:
        return
    called = program.sites(lasts.__contains__, runtime.language, among=lambda module: not module.is_test)
    sites = [site for site in called if _is_one(program, site, runtime.switches)]
    off = [site for site in sites if _is_negative(program, site)]
    if not off or len(off) != len(sites) or _fits(program, runtime):
        return  # what is switched on again is off for a while only
    if any(runtime.target in container.variables for container in program.containers.all):
        return
    if not any(entry.kind == "request" for entry in program.entries.values()):
        return
    for site in off:
        text = program.text_of(site.fn, site.call)
        said = f"{text} without a memory limit of the runtime: nothing is collected and memory grows for ever"
        yield Fault(program.span_of(site.fn, site.call), said, Value(None, program.knowledge.sure(runtime), ()))


def _is_one(program: Program, site: CallSite, names: tuple[str, ...]) -> bool:
    frame = program.resolver.frame(site.fn)
    return any(isinstance(flow.thing, Ext) and flow.thing.name in names for flow in program.resolver.ask(site.call.fn, frame))


def _is_negative(program: Program, site: CallSite) -> bool:
    if not site.call.args:
        return False
    flows = program.resolver.ask(site.call.args[0].value, program.resolver.frame(site.fn))
    return bool(flows) and all(isinstance(flow.thing, Num) and flow.thing.number < 0 for flow in flows)


def _say(size: float) -> str:
    return f"{size / 1024**2:.0f} MiB"
