"""One run: discover, read, link, check, suppress, filter. Prints nothing; what went wrong is part of the result."""

from __future__ import annotations

import gc
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from resilint.cache import Cache
from resilint.checking import Checked, Failure, asked, check, failure, input_errors, is_worth_a_process
from resilint.discover import HEAD, MAX_BYTES, Discovery, Source, discover, every_path, is_own, kind_of_content, kind_of_name
from resilint.engine_rules import UNKNOWN_RULE, UNREADABLE_FILE, UNUSED_SUPPRESSION
from resilint.facts import FileFacts, ReadError
from resilint.globs import matcher
from resilint.homes import Homes
from resilint.intake import Intake, Readers, read_bytes, take_in
from resilint.marks import Mark, Scopes, fingerprints, marks_of, scopes_in
from resilint.model import Confidence, Finding, Rule, Severity, Span
from resilint.own_files import read_regular
from resilint.read.encoding import as_read
from resilint.registry import is_known, matches, selected, suggestion
from resilint.reuse import Earlier
from resilint.scope import Scope
from resilint.seen import Brief, brief_of
from resilint.settings import Service, Settings, SettingsError
from resilint.spelling import get_close_matches
from resilint.suppress import apply
from resilint.text import Lines

if TYPE_CHECKING:
    from resilint.knowledge import Knowledge
    from resilint.program import Program


@dataclass
class Result:
    """What a run found. Paths are as reported, `lines` takes such a path, and fingerprints stand in the order of the findings."""

    findings: list[Finding]
    fingerprints: list[str]
    failures: list[Failure]
    files: int
    seconds: float
    waits: Mapping[str, int]
    skipped: Mapping[str, str]
    not_checked: Mapping[str, str]
    """Files that were asked for by name and are not read, but for those that the settings exclude, and why."""
    unsure: int
    """Findings below the confidence that is reported."""
    notes: tuple[str, ...]
    """What the user's own knowledge cannot do in this program."""
    unused: tuple[str, ...]
    """Which of the user's own knowledge is of libraries that nothing in the program imports."""
    lines: Callable[[str], Lines]
    here: Callable[[str], str] = lambda path: path
    """A path as reported, seen from the current directory."""
    in_repository: Callable[[str], str] = lambda path: path
    """A path as reported, seen from the root of the repository."""
    service: Callable[[str], str] = lambda path: ""
    """The service that a path as reported belongs to: the name of a declared one, else its folder; empty for the root's."""
    rules: tuple[Rule, ...] = ()
    """The rules that ran."""
    marks: Sequence[Mark] = ()
    """What identifies each finding in another state of the program; paths are relative to the program's root."""
    unsure_marks: Sequence[Mark] = ()
    """Those of the findings below the confidence that is reported."""
    scopes: Scopes = lambda path: None
    judged: Callable[[Mark], bool] = lambda mark: True
    """Whether the run would have reported such a finding, were it there: its rule ran to its end, its file was asked for."""
    known: Mapping[str, int] = field(default_factory=dict)
    """How many findings are left out because they were there before, by where that is written."""
    gone: Sequence[str] = ()
    """What a baseline lists and no longer occurs, a line for each."""

    def without(self, known: Sequence[bool], where: str) -> Result:
        """Without the findings that are known, which is told by the name of where they are."""
        new = [index for index, is_known in enumerate(known) if not is_known]
        return replace(
            self,
            findings=[self.findings[index] for index in new],
            fingerprints=[self.fingerprints[index] for index in new],
            marks=[self.marks[index] for index in new],
            known={**self.known, where: self.known.get(where, 0) + len(known) - len(new)},
        )


@dataclass
class Reading:
    """The program as read: its facts by path, and what could not be read."""

    files: Mapping[str, FileFacts]
    briefs: Mapping[str, Brief] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    not_checked: dict[str, str] = field(default_factory=dict)


class Progress(Protocol):
    """Is told how much of how much is done of a stage of the run; without a total nobody knows how much there is."""

    def __call__(self, done: int, total: int, stage: str = "reading") -> None: ...


Mend = Callable[["Program", "Texts", list[Finding]], bool]
"""Changes files of a program in memory so that findings go; whether it changed any."""


class Texts:
    """The bytes, as readers got them, and the lines of the program's files, the latest ones kept."""

    def __init__(self, root: Path) -> None:
        unsaved: dict[str, bytes] = {}
        self.unsaved = unsaved
        """Text by path that takes the place of what lies on the disk: what an editor holds. `forget` after each change."""

        def read(path: str) -> bytes:
            try:
                data = unsaved[path] if path in unsaved else read_regular(root / path, MAX_BYTES)
            except OSError:
                # Gone since it was read: findings in it keep their places and lose their excerpts.
                return b""
            return as_read(data, kind_of_name(path) or kind_of_content(path.rpartition("/")[2], data[:HEAD]) or "")

        self._source = lru_cache(maxsize=64)(read)
        self._lines = lru_cache(maxsize=64)(lambda path: Lines(self.source(path)))
        self._changed: dict[str, bytes] = {}

    def source(self, path: str) -> bytes:
        """The bytes of a file, as its reader got them."""
        changed = self._changed.get(path)
        return self._source(path) if changed is None else changed

    def lines(self, path: str) -> Lines:
        """The lines of a file."""
        return self._lines(path)

    def put(self, path: str, data: bytes) -> None:
        """From now on a file has these bytes, whatever it has on disk."""
        self._changed[path] = data
        self._lines.cache_clear()

    def forget(self) -> None:
        """Drops what was read, because files have changed."""
        self._source.cache_clear()
        self._lines.cache_clear()


def run(
    scope: Scope,
    settings: Settings,
    rules: tuple[Rule, ...],
    known: tuple[Rule, ...],
    *,
    cache_folder: Path | None = None,
    jobs: int = 1,
    confidence: Confidence | None = None,
    progress: Progress | None = None,
    mend: Mend | None = None,
    readers: Readers | None = None,
) -> Result:
    """Checks a program with `rules`. `known` are all rules there are: what a comment or the settings may name.

    `mend` is shown the findings and may change files of the program; while it does so, the program is checked again.

    Raises `SettingsError` and `KnowledgeError` where the settings do not fit the program.
    """
    with _without_collector():
        start = time.perf_counter()
        session = Session(scope, settings, cache_folder=cache_folder, jobs=jobs, progress=progress, readers=readers)
        return session.result(rules, known, confidence=confidence, mend=mend, start=start)


class Session:
    """A program in memory. `update` reads what has changed and keeps the rest.

    Its answers are those of a run that reads all of it.
    """

    def __init__(
        self,
        scope: Scope,
        settings: Settings,
        texts: Texts | None = None,
        *,
        cache_folder: Path | None = None,
        jobs: int = 1,
        progress: Progress | None = None,
        readers: Readers | None = None,
    ) -> None:
        self.scope = scope
        self.settings = settings
        self.texts = texts or Texts(scope.root)
        self._cache = Cache(cache_folder) if cache_folder is not None else None
        self._jobs = jobs
        self._progress = progress
        self._readers = readers
        self._reading: Reading | None = None
        self._program: Program | None = None
        self._began = 0
        self.follows = False
        """Whether the program is kept in focus on what has changed last, for `glimpse`: `update` takes over what it knows."""
        self._discovery = self._discovered()
        sources = self._discovery.sources
        self._earlier: Earlier | None = None
        if self._cache is not None and not self.texts.unsaved:
            self._earlier = Earlier(self._cache, scope.root, sources, settings)
        try:
            self._intake = self._take_in(sources, progress, stored=True)
        except BaseException:
            self._put_away()
            raise
        self._intake.sort()

    @property
    def reading(self) -> Reading:
        """The facts of the program as it is now. Raises `SettingsError` where the settings do not fit it."""
        if self._reading is None:
            self._reading = _as_reading(self.scope, self.settings, self._discovery, self._intake, self.texts)
        return self._reading

    @property
    def program(self) -> Program:
        """The program as it is now, linked. Raises `SettingsError` and `KnowledgeError`."""
        if self._program is None:
            self._program = link(self.reading, self.settings, self.texts)
            self._put_away()
        return self._program

    @property
    def paths(self) -> list[str]:
        """The paths of all files that are read."""
        return [source.path for source in self._discovery.sources]

    def kind_of(self, path: str) -> str | None:
        """The kind of a file that was read; none if it was not."""
        facts = self._intake.files.get(path)
        return facts.kind if facts is not None else None

    def hold(self, same: Mapping[str, bytes | None]) -> None:
        """Takes texts for files (`None`: what lies on the disk again) of which the caller knows that they say what was read."""
        for path, data in same.items():
            if data is None:
                self.texts.unsaved.pop(path, None)
            else:
                self.texts.unsaved[path] = data

    def apply(self, settings: Settings) -> None:
        """Other settings for the same files."""
        self.settings = settings
        self._program = None
        self.update((), everywhere=True)

    def update(
        self, changed: Iterable[str], unsaved: Mapping[str, bytes | None] | None = None, *, everywhere: bool = False
    ) -> bool:
        """Reads the files that have changed on the disk, and those whose `unsaved` text is another or (`None`) is given up.

        Whether any file of the program was among them.

        `everywhere`: whatever else has come, gone or grown is looked for.
        """
        asked = {*changed, *(unsaved or {})}
        self.hold(unsaved or {})
        self.texts.forget()
        self._reading = None
        self._earlier = None
        earlier = self._discovery
        before = {source.path: source for source in earlier.sources}
        if everywhere or not all(self._is_plain(path, before) for path in asked):
            self._discovery = self._discovered()
        now = {source.path: source for source in self._discovery.sources}
        again = [source for path, source in now.items() if path in asked or before.get(path) != source]
        gone = [path for path in before if path not in now]
        fresh = self._take_in(again, None, stored=len(again) > _MANY)
        self._intake.without(*gone, *(source.path for source in again))
        self._intake.add(fresh)
        self._intake.sort()
        changes = [*gone, *(source.path for source in again)]
        if any(source.kind == "text" for path in changes for source in (before.get(path), now.get(path)) if source is not None):
            # Modules and pinned versions of everything may have changed with it.
            self._program = None
        if self._program is not None and len(changes) <= _MANY:
            if self.follows:
                known = {path: facts for path in changes if (facts := self._intake.files.get(path)) is not None}
                self._program = self._program.after(known) if len(known) == len(changes) else None
            else:
                for path in changes:
                    self._program.replace(path, self._intake.files.get(path))
        else:
            self._program = None
        found = self._discovery
        return bool(changes) or (earlier.skipped, earlier.unreadable) != (found.skipped, found.unreadable)

    def result(
        self,
        rules: tuple[Rule, ...],
        known: tuple[Rule, ...],
        *,
        confidence: Confidence | None = None,
        mend: Mend | None = None,
        start: float | None = None,
    ) -> Result:
        """What `rules` find now. `start`: when the run began, for `seconds`.

        Of a program that is as it was first read, the cache is asked and told what rules found.
        """
        begin = time.perf_counter() if start is None else start
        scope, settings, texts, jobs, progress = self.scope, self.settings, self.texts, self._jobs, self._progress
        reading = self.reading
        stated = [*reading.findings, *_unknown_in_settings(settings, known)]
        least = settings.confidence if confidence is None else confidence
        notes: tuple[str, ...] = ()
        unused: tuple[str, ...] = ()
        program: Program | None = None
        broken: list[Failure] = []
        earlier = self._earlier if mend is None and not reading.failures else None
        key = earlier.key(self._intake.keys, rules) if earlier is not None else b""
        kept = earlier.recall(key) if earlier is not None else None
        if earlier is not None and kept is None:
            kept = earlier.replayed(key, rules, self._intake.files, texts)
        try:
            if kept is None:
                if progress is not None:
                    progress(0, 0, "linking")
                program = self.program
            if settings.knowledge:
                from resilint.knowledge import load

                knowledge = load(settings.knowledge, settings.folder)
                notes = _idle_knowledge(knowledge, reading)
                unused = _unused_knowledge(knowledge, reading, settings)
        except input_errors():
            raise
        except Exception as problem:
            broken.append(failure("", problem))
        beside = jobs > 1 and is_worth_a_process(sum(brief.functions for brief in reading.briefs.values()))
        while True:
            checked = kept or _checked(program, rules, beside, progress, tell=earlier is not None)
            if earlier is not None and kept is None and not broken:
                checked.marks = marks_of(checked.findings, reading.files, texts.lines)
                earlier.keep(key, rules, checked)
            failures = [*reading.failures, *broken, *checked.failures]
            files, briefs = reading.files, reading.briefs
            if mend is not None and program is not None:
                files, briefs = program.files, {path: brief_of(facts) for path, facts in program.files.items()}
            running = {rule.code for rule in rules}
            found = [finding for finding in (*stated, *checked.findings) if finding.code in running]
            comments = {path: brief.suppressions for path, brief in briefs.items() if brief.suppressions}
            found = apply(
                found, comments, texts.lines, known, _complete(rules, failures), require_reason=_requires_reason(settings)
            )
            found = _filtered(found, scope, settings, known)
            unsure = [finding for finding in found if finding.confidence < least]
            found = [finding for finding in found if finding.confidence >= least]
            if mend is None or program is None or not mend(program, texts, found):
                break
        waits = {"bounded": 0, "endless": 0, "unknown": 0} | checked.waits
        marks = self._marks(found, checked, files)
        self._put_away()
        shown = sorted(
            zip((_moved(finding, scope) for finding in found), fingerprints(marks), marks, strict=True),
            key=lambda item: (item[0].key(), item[1]),
        )

        @cache
        def origin() -> dict[str, str]:
            return {scope.shown(path): path for path in (*reading.files, *(finding.span.path for finding in found))}

        return Result(
            findings=[finding for finding, _, _ in shown],
            fingerprints=[fingerprint for _, fingerprint, _ in shown],
            failures=sorted(failures, key=lambda failure: (failure.path, failure.message)),
            files=sum(brief.kind != "text" for brief in reading.briefs.values()),
            seconds=time.perf_counter() - begin,
            waits=waits,
            skipped={scope.shown(path): why for path, why in sorted(reading.skipped.items())},
            not_checked={scope.shown(path): why for path, why in reading.not_checked.items()},
            unsure=len(unsure),
            notes=notes,
            unused=unused,
            lines=lambda path: texts.lines(origin().get(path, path)),
            here=scope.seen,
            in_repository=scope.in_repository,
            service=_services(reading, settings, origin),
            rules=rules,
            marks=[mark for _, _, mark in shown],
            unsure_marks=self._marks(unsure, checked, files),
            scopes=scopes_in(files),
            judged=_judge(scope, settings, known, _complete(rules, failures), {failure.path for failure in failures}),
        )

    def _marks(self, findings: Sequence[Finding], checked: Checked, files: Mapping[str, FileFacts]) -> list[Mark]:
        """The mark of each finding; where an earlier run has kept it, its file is neither read nor decoded."""
        known = dict(zip(map(_identity, checked.findings), checked.marks, strict=False))
        others = [finding for finding in findings if _identity(finding) not in known]
        self._intake.files.decode({finding.span.path for finding in others})
        known.update(zip(map(_identity, others), marks_of(others, files, self.texts.lines), strict=True))
        return [known[_identity(finding)] for finding in findings]

    @property
    def followed(self) -> Program | None:
        """The program as far as it could be followed; none if it had to be linked anew."""
        return self._program

    def rest(self) -> None:
        """Drops what a followed program has answered, but for what is of use after the next change."""
        if self._program is not None:
            self._program = self._program.focused(())

    def glimpse(self, rules: tuple[Rule, ...], known: tuple[Rule, ...], paths: Iterable[str]) -> list[tuple[Finding, str]]:
        """What rules find now in some files of a followed program, beginning there, with fingerprints.

        That may be less than `result` has of them, as `Program.focused` says, and no comment is called unused for it. A rule that
        fails finds nothing: `result` tells of that.
        """
        assert self._program is not None
        wanted = frozenset(paths)
        if self._program.focus != wanted:
            self._program = self._program.focused(wanted)
        program, settings, files = self._program, self.settings, self._intake.files
        checked = asked(program, rules)
        unreadable = _unreadable({}, {path: brief_of(files[path]) for path in wanted if path in files}, self.texts, settings)
        running = {rule.code for rule in rules}
        found = [finding for finding in (*unreadable, *checked.findings) if finding.code in running and finding.span.path in wanted]
        comments = {path: files[path].suppressions for path in wanted if path in files and files[path].suppressions}
        found = apply(found, comments, self.texts.lines, known, (), require_reason=_requires_reason(settings))
        found = [x for x in _filtered(found, self.scope, settings, known) if x.confidence >= settings.confidence]
        marks = marks_of(found, files, self.texts.lines)
        return [(_moved(finding, self.scope), mark) for finding, mark in zip(found, fingerprints(marks), strict=True)]

    def _put_away(self) -> None:
        """Writes what the cache is to keep, and closes it: what comes next takes long, or forks."""
        if self._cache is not None:
            self._cache.close()

    # ------------------------------------------------------------ reading

    def _discovered(self) -> Discovery:
        self._began = time.time_ns()
        found = discover(self.scope.root, self.scope.under, self.settings.is_excluded, self.scope.files)
        known = {source.path for source in found.sources}
        for path, data in self.texts.unsaved.items():
            kind = kind_of_name(path)
            if kind is None or path in known or os.path.lexists(self.scope.root / path):
                continue
            if is_own(path) and not self.settings.is_excluded(path):
                # It is about to be saved for the first time; what git ignores is not known to be ignored yet.
                found.sources.append(Source(path, kind, len(data)))
        found.sources.sort(key=lambda source: source.path)
        return found

    def _is_plain(self, path: str, known: Mapping[str, Source]) -> bool:
        """Whether nothing but its text can have changed: it is read already, and its name says of which kind it is."""
        if path not in known or kind_of_name(path) is None:
            return False
        return (path in self.texts.unsaved or os.path.isfile(self.scope.root / path)) and not os.path.islink(self.scope.root / path)

    def _take_in(self, sources: Iterable[Source], progress: Progress | None, *, stored: bool) -> Intake:
        """Reads sources. `stored`: the cache is asked and told."""
        held = [source for source in sources if source.path in self.texts.unsaved]
        rest = [source for source in sources if source.path not in self.texts.unsaved]
        cache = self._cache if stored else None
        intake = take_in(self.scope.root, rest, cache, self._jobs, progress, self._readers, self._began)
        for source in held:
            intake.put(read_bytes(self.texts.unsaved[source.path], source.path, source.kind))
        return intake


def _identity(finding: Finding) -> tuple[str, int, int, str, str]:
    """What a finding's mark is made of, beside its file."""
    return finding.span.path, finding.span.line, finding.span.col, finding.code, finding.message


_MANY = 50
"""Changed files from which on linking all anew is quicker, and the cache is worth opening."""


def _services(reading: Reading, settings: Settings, origin: Callable[[], Mapping[str, str]]) -> Callable[[str], str]:
    """The service of each path as reported."""
    homes = cache(lambda: Homes(reading.files))

    def service(shown: str) -> str:
        path = origin().get(shown, shown)
        declared = settings.service_of(path)
        return declared.name if declared is not None else homes().home(path)

    return service


def _checked(program: Program | None, rules: tuple[Rule, ...], beside: bool, progress: Progress | None, *, tell: bool) -> Checked:
    try:
        return check(program, rules, beside=beside, progress=progress, tell=tell) if program is not None else Checked()
    except input_errors():
        raise
    except Exception as problem:
        return Checked(failures=[failure("", problem)])


def read_program(
    scope: Scope,
    settings: Settings,
    texts: Texts,
    cache_folder: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Reading:
    """The discover and read stages."""
    return Session(scope, settings, texts, cache_folder=cache_folder, jobs=jobs, progress=progress).reading


def chosen(settings: Settings, known: tuple[Rule, ...], root: Path) -> tuple[Rule, ...]:
    """The rules that run where the command line names none.

    Raises `SettingsError` where none of those that the settings select is known: one of several is RS003 and the run goes on;
    without any nothing would be checked, and the gate would be green for ever.
    """
    if settings.select and not any(is_known(selector, known) for selector in settings.select):
        raise SettingsError(
            [
                (
                    settings.place_or_start("select", str(index)),
                    f"unknown rule {selector!r} in select{suggestion(selector, known)}",
                )
                for index, selector in enumerate(settings.select)
            ],
            root,
        )
    return selected(known, settings.select, settings.ignore)


def _as_reading(scope: Scope, settings: Settings, discovery: Discovery, intake: Intake, texts: Texts) -> Reading:
    if scope.whole and not scope.is_earlier:
        _check_declared(scope, settings, [source.path for source in discovery.sources], intake, texts)
    skipped = {**discovery.skipped, **dict.fromkeys(intake.generated, "generated or minified")}
    reading = Reading(
        intake.files, intake.files.briefs(), skipped=skipped, not_checked=_not_checked(scope, intake, skipped, settings)
    )
    reading.findings += _unreadable({**discovery.unreadable, **intake.unreadable}, intake.files.briefs(), texts, settings)
    reading.failures += [Failure(scope.shown(path), message) for path, message in intake.failed.items()]
    return reading


def _check_declared(scope: Scope, settings: Settings, paths: list[str], intake: Intake, texts: Texts) -> None:
    """Raises `SettingsError` for globs and queues of services and for a profile that mean nothing in the program.

    A misspelt one would say nothing.

    Only where the settings speak of the whole program: for a part of it, what they declare may lie elsewhere.
    """
    if settings.prefix:
        return
    problems = []
    everything: list[str] | None = None
    for service in settings.services.values():
        for index, glob in enumerate(service.paths):
            matched = matcher([glob])
            if any(map(matched, paths)):
                continue
            if everything is None:
                # Also what no reader reads yet: a service may be written in any language.
                everything = every_path(scope.root)
            if not any(map(matched, everything)):
                span = settings.place_or_start("services", service.name, "paths", str(index))
                problems.append((span, f"services.{service.name}.paths: {glob!r} matches no file{_near_folder(glob, everything)}"))
        problems += _unknown_queues(service, settings, paths, texts)
    if settings.profile is not None and settings.profile not in (known := _profiles(paths, intake)):
        near = get_close_matches(settings.profile, sorted(known), 1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        message = f"profile {settings.profile!r}: nothing in the program is named for it{hint}"
        problems.append((settings.place_or_start("profile"), message))
    if problems:
        raise SettingsError(sorted(problems), scope.root)


def _unknown_queues(service: Service, settings: Settings, paths: list[str], texts: Texts) -> Iterator[tuple[Span, str]]:
    """The queues that a service declares and whose name stands in none of its files, however many underscores lead it in code."""
    missing = {
        name: re.compile(rf"(?<![A-Za-z0-9]){re.escape(name.lstrip('_'))}(?![A-Za-z0-9_])".encode()) for name in service.queues
    }
    if not missing:
        return
    words: set[str] = set()
    inside = matcher(service.paths) if service.paths else None
    own = [path for path in paths if path != settings.path and (inside is None or inside(path))]
    if not own:
        # It may be written in a language without a reader.
        return
    for path in own:
        text = texts.source(path)
        missing = {name: pattern for name, pattern in missing.items() if pattern.search(text) is None}
        if not missing:
            return
        words.update(word.decode() for word in re.findall(rb"[A-Za-z_]\w{2,40}", text))
    for name in missing:
        near = get_close_matches(name, sorted(words), 1, 0.7)
        hint = f": did you mean {near[0]!r}?" if near else ""
        where = settings.place_or_start("services", service.name, "queues", name)
        yield where, f"services.{service.name}.queues: nothing in the service is named {name!r}{hint}"


def _near_folder(glob: str, paths: Iterable[str]) -> str:
    """A hint at the folder that is spelt most like the glob's fixed beginning."""
    fixed = re.split(r"[*?\[]", glob.removeprefix("./"), maxsplit=1)[0].rpartition("/")[0] or glob.rstrip("/")
    folders = {path[:at] for path in paths for at, char in enumerate(path) if char == "/"}
    near = get_close_matches(fixed, sorted(folders), 1)
    return f": did you mean {near[0]!r}?" if near else ""


_WORD = re.compile(r"\w+(?:-\w+)*")


def _profiles(paths: Iterable[str], intake: Intake) -> set[str]:
    """Every word that may name a profile, environment or overlay: in names of files and folders, and where documents say it."""
    known: set[str] = set()
    for path in paths:
        for part in re.split(r"[/.]", path):
            known.add(part)
            # `values-prod`, `application-eu-west`, `prod_values`
            known.update(part[match.end() :] for match in re.finditer(r"[-_]", part))
            known.update(part[: match.start()] for match in re.finditer(r"[-_]", part))
    for facts in intake.files.values():
        for setting in facts.settings:
            if any("profile" in key for key in setting.path[-2:]):
                known.update(_WORD.findall(setting.text))
                known.add(setting.path[-1])
    return known


def _not_checked(scope: Scope, intake: Intake, skipped: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The files of the command line that are not read, and why. What the settings exclude is left out on purpose."""
    known = {*intake.files, *intake.unreadable, *intake.failed}
    missing = {}
    for path in scope.reported:
        if not path or path in known or settings.is_excluded(path) or not os.path.isfile(scope.root / path):
            continue
        folders = (path[: at + 1] for at, char in enumerate(path) if char == "/")
        why = skipped.get(path) or next((skipped[folder] for folder in folders if folder in skipped), "")
        missing[path] = why or "not a kind of file that is read"
    return missing


def link(reading: Reading, settings: Settings, texts: Texts) -> Program:
    """The link stage: all files as one program."""
    from resilint.program import Program

    return Program(reading.files, texts.source, settings)


def _idle_knowledge(knowledge: Knowledge, reading: Reading) -> tuple[str, ...]:
    """What the user's own libraries cannot do: a word for each whose findings are of low confidence, or never are."""
    from resilint.knowledge.loader import shipped

    kinds = {brief.kind for brief in reading.briefs.values()}
    notes = []
    for library in knowledge.libraries[len(shipped()) :]:
        if library.language not in kinds:
            notes.append(f"knowledge of {library.library}: the program has no {library.language} file")
        elif library.verified is False:
            notes.append(f"knowledge of {library.library}: not verified, so what rests on it has low confidence")
    return tuple(notes)


def _unused_knowledge(knowledge: Knowledge, reading: Reading, settings: Settings) -> tuple[str, ...]:
    """Of a part of what the settings speak of nothing is said: what they declare may be for another part."""
    from resilint.knowledge.unused import unused

    return () if settings.prefix else tuple(unused(knowledge, reading.files))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Facts and graphs are many and live to the end: the collector would only walk them again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextmanager
def last_run() -> Iterator[None]:
    """Around a run after which the process ends: what a large program leaves is never walked, not even at the exit of Python."""
    with _without_collector():
        yield
        if gc.get_count()[0] > _WORTH_FREEZING:
            gc.freeze()


# ---------------------------------------------------------------- findings


def _unreadable(unreadable: Mapping[str, str], briefs: Mapping[str, Brief], texts: Texts, settings: Settings) -> Iterator[Finding]:
    for path, why in unreadable.items():
        yield UNREADABLE_FILE.finding(Span(path, 1, 1, 1, 1), f"file cannot be read: {why[:1].lower()}{why[1:]}")
    for path, brief in briefs.items():
        if brief.errors and not _is_template(path, brief.errors, texts):
            first = min(brief.errors, key=lambda error: error.at)
            more = len(brief.errors) - 1
            rest = f" (and {more} more {'place' if more == 1 else 'places'})" if more else ""
            # Test data is often broken on purpose: that nobody meant it is a guess.
            severity, sure = (Severity.INFO, Confidence.LOW) if settings.is_test(path) else (None, None)
            span = texts.lines(path).span(path, first.at, first.at + 1)
            yield UNREADABLE_FILE.finding(span, f"{first.message}{rest}", severity=severity, confidence=sure)


_TAG = re.compile(r"\{%-?\s*\w.*?-?%\}")
_TAG_LINES = re.compile(rb"^[ \t]*\{%-?\s*(?:if|for|set|block|macro|include|extends|with|raw)\b[^\n]*%\}", re.MULTILINE)
_GAPS = re.compile(rb"^[ \t]*(?:-[ \t]+)?[\w.-]+:[ \t]+\{\w+\}[^\s,}\]#][^{}\n]*$", re.MULTILINE)
"""Values that begin with a gap for the reader to fill in: `image: {username}/orders:latest`."""


_HOLE = re.compile(rb"\{\{[-~]?[^{}\n]*[-~]?\}\}")


def _is_template(path: str, errors: Sequence[ReadError], texts: Texts) -> bool:
    """Whether a file is to be filled in: its name has a gap, what is no syntax is a tag of a template, a value begins with a gap,
    or tags stand in lines of their own, so that nobody knows which of the others come together. In JSON, where no two braces can
    open at once, a gap on the line that is no syntax tells."""
    source = texts.source(path)
    if "{{" in path or any(_TAG.search(error.message) for error in errors):
        return True
    if _TAG_LINES.search(source) is not None or _GAPS.search(source) is not None:
        return True
    if not path.endswith(".json"):
        return False
    first = min(error.at for error in errors)
    start, end = source.rfind(b"\n", 0, first) + 1, source.find(b"\n", first)
    return _HOLE.search(source, start, end if end >= 0 else len(source)) is not None


def _unknown_in_settings(settings: Settings, known: tuple[Rule, ...]) -> Iterator[Finding]:
    written = [
        *((("select", str(index)), selector) for index, selector in enumerate(settings.select)),
        *((("ignore", str(index)), selector) for index, selector in enumerate(settings.ignore)),
        *((("severity", selector), selector) for selector in settings.severity),
        *(
            (("per_path", glob, "ignore", str(index)), selector)
            for glob, selectors in settings.per_path.items()
            for index, selector in enumerate(selectors)
        ),
    ]
    for keys, selector in written:
        if not is_known(selector, known):
            span = settings.place_or_start(*keys)
            yield UNKNOWN_RULE.finding(span, f"unknown rule {selector!r} in {keys[0]}{suggestion(selector, known)}")


def _complete(rules: tuple[Rule, ...], failures: list[Failure]) -> tuple[Rule, ...]:
    """The rules that ran to their end: only of these is a suppression unused."""
    broken = {failure.code for failure in failures if not failure.path}
    if "" in broken:
        return tuple(rule for rule in rules if rule == UNKNOWN_RULE)
    return tuple(rule for rule in rules if rule.code not in broken)


def _requires_reason(settings: Settings) -> bool:
    """Whether suppressions without a reason are reported: whatever rules are selected, unless RS001 is ignored."""
    return settings.require_reason and not any(matches(selector, UNUSED_SUPPRESSION) for selector in settings.ignore)


def _judge(
    scope: Scope, settings: Settings, known: tuple[Rule, ...], complete: tuple[Rule, ...], failed: set[str]
) -> Callable[[Mark], bool]:
    """Whether a finding of some kind and place would be among what is reported."""
    ran = {rule.code for rule in complete}
    # A rule that is not there any more has no findings, one that was not asked for may have.
    others = {rule.code for rule in known} - ran

    def judged(mark: Mark) -> bool:
        asked = scope.reports(mark.path) or mark.path == settings.path
        return mark.code not in others and asked and scope.shown(mark.path) not in failed

    return judged


def _filtered(findings: Iterable[Finding], scope: Scope, settings: Settings, known: tuple[Rule, ...]) -> list[Finding]:
    by_code = {rule.code: rule for rule in known}
    kept = []
    for finding in findings:
        path, rule = finding.span.path, by_code.get(finding.code)
        # What is wrong with the settings concerns every run, whatever files it was given.
        if not (scope.reports(path) or path == settings.path):
            continue
        if rule is not None:
            if any(matches(selector, rule) for selector in settings.ignored_at(path)):
                continue
            severity = _severity(rule, settings)
            if severity is not None:
                finding = msgspec.structs.replace(finding, severity=severity)
        kept.append(finding)
    return sorted(kept, key=Finding.key)


def _severity(rule: Rule, settings: Settings) -> Severity | None:
    """What the settings say of a rule's severity; the name or longest prefix decides."""
    said = [
        (selector == rule.name, len(selector), severity)
        for selector, severity in settings.severity.items()
        if matches(selector, rule)
    ]
    return max(said, key=lambda item: item[:2])[2] if said else None


def _moved(finding: Finding, scope: Scope) -> Finding:
    """The finding with its paths as they are reported."""
    if scope.base == scope.root:
        return finding

    def moved(span: Span) -> Span:
        return msgspec.structs.replace(span, path=scope.shown(span.path))

    fix = finding.fix
    if fix is not None:
        fix = msgspec.structs.replace(fix, edits=tuple(msgspec.structs.replace(edit, span=moved(edit.span)) for edit in fix.edits))
    return msgspec.structs.replace(
        finding,
        span=moved(finding.span),
        trace=tuple(msgspec.structs.replace(step, span=moved(step.span)) for step in finding.trace),
        fix=fix,
    )


_WORTH_FREEZING = 1_000_000
"""Objects whose walk takes longer than anyone should wait for an exit."""
