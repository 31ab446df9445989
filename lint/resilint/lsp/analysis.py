"""The process that analyses one workspace folder for the language server.

It keeps the program's facts and is the only one that reads. Whatever takes long is done by children that begin with all of its
memory: one checks the state of the moment, one answers questions about it. A newer change ends both at once, so that nobody waits
for what nobody wants to know any more, and what breaks there breaks nothing here. Where processes cannot be forked, it does all
itself, and looks between two rules whether something newer has come.

Messages are lines of JSON in both directions.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import select
import selectors
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from resilint.lsp.first import lines_of, shown
from resilint.own_files import unsaved

if TYPE_CHECKING:
    from resilint.lsp.answers import Answers
    from resilint.model import Finding, Rule, Span
    from resilint.run import Result, Session

Message = dict[str, Any]

SETTINGS_FILES = frozenset({"resilint.yaml", "pyproject.toml", "resilint.yml", ".resilint.yaml", ".resilint.yml"})
"""Names of files that settings are read from, or whose names say that they were meant to."""
_SEVERITY = {"error": 1, "warning": 2, "info": 3}
_UNNECESSARY = 1
"""The tag of what may go: editors show it faded."""
_MOST_STEPS = 50
_MOST_MESSAGES = 1000
"""Messages that wait for a process that is busy, after which the server has to."""
_PAUSE = 0.1
"""Seconds between two words about progress."""
_TYPING = 0.12
"""Seconds after something was typed in which the whole program is not checked: whoever types is not done yet."""
_FIRST = 1.0
"""Seconds for which the check of the whole program waits for the first answer: both at once would take longer."""
_LATE = 20.0
"""Seconds after which a first answer is given up."""
_WORTH = 1_000
"""Functions in a program from which on a first answer comes sooner than the whole one."""
_MOST_UNSENT = 1 << 28
"""Bytes that wait for a process that takes none, after which it is not told any more."""
_BEHIND = 0.01
"""Seconds after which it is tried again to send what a process did not take at once."""
_MOST_WHOLES = 40
"""Whole answers after which who gives first answers is replaced: what it keeps of other files becomes less and less true."""
_MOST_PREPARED = 8
"""Open documents of which the first answer is found before they are changed; of others it is when they are."""


class _Newer(BaseException):
    """A newer change has come: what runs is given up. No rule may take it for an error of its own."""


@dataclass
class Folder:
    """A workspace folder in memory: the session of its program, or what is wrong with its settings."""

    root: Path
    base: Path
    """The root under the name by which the editor knows it."""
    encoding: str
    jobs: int
    tell: Any
    sweeps: bool = False
    """Whether nobody tells of files that change outside of the editor."""
    session: Session | None = None
    problem: dict[str, list[Message]] | None = None
    """Diagnostics by path of the settings that cannot be used."""
    known: tuple[Rule, ...] = ()
    rules: tuple[Rule, ...] = ()
    pages: dict[str, str] = field(default_factory=dict)
    """The address of the page of each rule."""
    held: dict[str, bytes] = field(default_factory=dict)
    """Unsaved text by path relative to the root."""
    watch: Any = None
    """Is called now and then, and may raise what ends the work."""
    _said: float = 0.0
    _stamps: dict[str, tuple[int, int, int] | None] = field(default_factory=dict)
    """When files were written last, as of when they were read; those that are not there have none."""

    def change(
        self, files: Iterable[str], held: Mapping[str, str | None], *, everything: bool = False, sweep: bool = False
    ) -> bool:
        """Takes in what has changed on the disk and in the editor; whether anything may be otherwise than before.

        `sweep`: nobody tells of files that change outside of the editor, so they are looked for.
        """
        if sweep and self.session is not None:
            files = {*files, *self._swept(self.session)}
        texts = {path: encoded(text) if text is not None else None for path, text in held.items()}
        # Of what the editor holds its text counts, whatever is saved.
        files = {path for path in files if path not in self.held or path in texts}
        same = {path for path, text in texts.items() if self._says_the_same(path, text)}
        files -= {path for path in files if path in same and texts[path] is not None}
        for path, text in texts.items():
            if text is None:
                self.held.pop(path, None)
            else:
                self.held[path] = text
        anew = self.session is None or self.problem is not None or everything
        if anew or any(map(self._is_settings, (*files, *(texts.keys() - same)))):
            self._open()
            anew = True
        if self.session is not None:
            self.session.hold({path: text for path, text in texts.items() if path in same and not path.startswith("../")})
            differing = [*files, *(texts.keys() - same)]
            anew = anew or any(map(self._is_baseline, differing))
            relevant = {path for path in differing if not path.startswith("../") and self._may_matter(path, self.session)}
            own = {path: text for path, text in texts.items() if path in relevant and path not in same}
            if relevant or everything or sweep:
                with unsaved(self.absolute()):
                    anew = self.session.update(relevant, own, everywhere=everything or sweep) or anew
            if self.sweeps:
                fresh = (path for path in self.session.paths if path not in self._stamps)
                self._stamps |= self._stamped({*files, *texts, *fresh})
        return anew

    def _may_matter(self, path: str, session: Session) -> bool:
        """Whether a file that has changed may be part of the program or say what is: logs, and what a build writes, never are."""
        from resilint.discover import is_own, may_be_read

        if may_be_read(path) or path.rpartition("/")[2] in (".gitignore", ".git") or session.kind_of(path) is not None:
            return True
        file = self.root / path
        if os.path.isdir(file):
            return is_own(path)
        return not os.path.lexists(file) and any(one.startswith(path + "/") for one in session.paths)

    def _is_baseline(self, path: str) -> bool:
        from resilint import baseline

        assert self.session is not None
        try:
            file = baseline.place(self.session.scope, self.session.settings)
        except baseline.BaselineError:
            return False
        return os.path.normpath(self.root / path) == os.path.normpath(file)

    def _swept(self, session: Session) -> set[str]:
        """The files that are not on the disk as they were when they were read."""
        now = self._stamped(self._beside(session) | set(session.paths))
        changed = {path for path, stamp in now.items() if self._stamps.get(path) != stamp}
        self._stamps = now
        return changed

    def _beside(self, session: Session) -> set[str]:
        """Files that are no part of the program and say what is found in it, whether they are there or not."""
        from resilint import baseline

        found = {*SETTINGS_FILES}
        if session.settings.folder is not None:
            absolute = [session.settings.folder / item for item in session.settings.knowledge if isinstance(item, str)]
            found |= {session.settings.path, *(os.path.relpath(file, self.root).replace(os.sep, "/") for file in absolute)}
        with suppress(baseline.BaselineError):
            file = baseline.place(session.scope, session.settings)
            found.add(os.path.relpath(file, self.root).replace(os.sep, "/"))
        return found

    def _stamped(self, paths: Iterable[str]) -> dict[str, tuple[int, int, int] | None]:
        stamps: dict[str, tuple[int, int, int] | None] = {}
        for path in paths:
            try:
                status = os.stat(self.root / path)
            except OSError:
                stamps[path] = None
            else:
                stamps[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
        return stamps

    def _says_the_same(self, path: str, text: bytes | None) -> bool:
        """Whether a file of the program has, opened or closed, the text it had."""
        from resilint.read.encoding import as_read

        if self.session is None or path.startswith("../") or (kind := self.session.kind_of(path)) is None:
            return False
        if text is None:
            try:
                text = (self.root / path).read_bytes()
            except OSError:
                return False
        return as_read(text, kind) == self.session.texts.source(path)

    def _open(self) -> None:
        from resilint import registry
        from resilint.run import Session, chosen
        from resilint.scope import scope_of
        from resilint.settings import SettingsError, load

        if not self.known:
            self.known = registry.rules()
            _prepare()
            self.pages = {rule.code: page for rule in self.known if (page := _page(rule)) is not None}
        with unsaved(self.absolute()):
            try:
                settings = load(self.root)
                self.rules = chosen(settings, self.known, self.root)
                if self.session is None:
                    from resilint.cache import default_folder

                    scope = scope_of([str(self.root)], None, self.root)
                    begun = time.time_ns()
                    self.session = Session(scope, settings, cache_folder=default_folder(), jobs=self.jobs, progress=self._progress)
                    if self.held:
                        inside = {path: text for path, text in self.held.items() if not path.startswith("../")}
                        self.session.update((), inside)
                    if self.sweeps:
                        stamps = self._stamped(self._beside(self.session) | set(self.session.paths))
                        # What was written meanwhile was read before or after: nobody knows.
                        self._stamps = {path: stamp for path, stamp in stamps.items() if stamp is None or stamp[0] < begun}
                else:
                    self.session.apply(settings)
                self.problem = None
            except SettingsError as problem:
                self.problem = self._of_settings(problem.problems)

    def _is_settings(self, path: str) -> bool:
        if path.rpartition("/")[2] in SETTINGS_FILES:
            return True
        session = self.session
        if session is None or session.settings.folder is None:
            return False
        absolute = os.path.normpath(self.root / path)
        folder = session.settings.folder
        return any(isinstance(item, str) and os.path.normpath(folder / item) == absolute for item in session.settings.knowledge)

    def absolute(self) -> dict[str, bytes]:
        """Unsaved text by absolute path."""
        return {os.path.normpath(self.root / path): text for path, text in self.held.items()}

    def _progress(self, done: int, total: int, stage: str = "reading") -> None:
        if self.watch is not None:
            self.watch()
        now = time.monotonic()
        if now - self._said > _PAUSE:
            self._said = now
            self.tell({"is": "progress", "done": done, "total": total, "stage": stage})

    def ready(self) -> bool:
        """Whether there is a program, linked, to ask questions of; what its settings cannot do is in `problem`."""
        from resilint.knowledge import KnowledgeError
        from resilint.settings import SettingsError

        if self.session is None or self.problem is not None:
            return False
        try:
            with unsaved(self.absolute()):
                _ = self.session.program
        except SettingsError as problem:
            self.problem = self._of_settings(problem.problems)
        except KnowledgeError as problem:
            self.problem = self._of_knowledge(str(problem), self.session)
        return self.problem is None

    # ------------------------------------------------------------ what is told

    def result(self) -> Message:
        """Checks the program as it is now."""
        assert self.session is not None
        with unsaved(self.absolute()):
            found = self.session.result(self.rules, self.known)
        from resilint import baseline

        try:
            listed = baseline.load(self.session.scope, self.session.settings)
        except baseline.BaselineError as problem:
            self.tell({"is": "failed", "message": f"{problem.file}{problem.place}: {problem}"})
        else:
            found = listed.without_known(found) if listed.exists else found
        return self._told(found, self.session)

    def _told(self, found: Result, session: Session) -> Message:
        answers = self.answers()
        files: dict[str, list[Message]] = {}
        for finding, fingerprint in zip(found.findings, found.fingerprints, strict=True):
            entry = self.entry(finding, fingerprint, answers)
            files.setdefault(finding.span.path, []).append(entry)
        return {
            "is": "result",
            "files": files,
            "failures": [
                {"path": failure.path, "message": failure.message, "detail": failure.detail} for failure in found.failures
            ],
            "unparsed": sorted(path for path in self.held if (facts := session.program.files.get(path)) and facts.errors),
            "notes": [*found.unused, *found.notes],
            "seconds": found.seconds,
        }

    def entry(self, finding: Finding, fingerprint: str, answers: Answers) -> Message:
        """A finding as the server is told of it."""
        span = finding.span
        diagnostic: Message = {
            "range": answers.places(span.path).range(span),
            "severity": _SEVERITY[finding.severity.value],
            "code": finding.code,
            "source": "resilint",
            "message": finding.message,
            "data": {"name": finding.name, "confidence": finding.confidence.word, "fingerprint": fingerprint},
        }
        if finding.code in self.pages:
            diagnostic["codeDescription"] = {"href": self.pages[finding.code]}
        if finding.trace:
            diagnostic["relatedInformation"] = [
                {"location": answers.location(step.span), "message": step.text} for step in finding.trace[:_MOST_STEPS]
            ]
        if finding.name == "unused-suppression":
            diagnostic["tags"] = [_UNNECESSARY]
        entry: Message = {"diagnostic": diagnostic, "span": [span.line, span.col, span.end_line, span.end_col]}
        if finding.fix is not None:
            edits: dict[str, list[Message]] = {}
            for edit in finding.fix.edits:
                place = answers.places(edit.span.path).range(edit.span)
                edits.setdefault(edit.span.path, []).append({"range": place, "newText": edit.text})
            entry["fix"] = {"title": finding.fix.title, "safe": finding.fix.safe, "edits": edits}
        return entry

    def answers(self) -> Answers:
        """What answers questions about the program as it is now."""
        from resilint.lsp.answers import Answers

        assert self.session is not None
        return Answers(self.session.program, self.session.texts, self.base, self.encoding)

    def _of_settings(self, problems: Iterable[tuple[Span, str]]) -> dict[str, list[Message]]:
        from resilint.lsp.places import Places
        from resilint.text import Lines

        found: dict[str, list[Message]] = {}
        for span, message in problems:
            data = self._text(span.path)
            place = Places(data, Lines(data), self.encoding).range(span)
            diagnostic = {"range": place, "severity": 1, "source": "resilint", "message": message}
            found.setdefault(span.path, []).append({"diagnostic": diagnostic})
        return found

    def _of_knowledge(self, text: str, session: Session) -> dict[str, list[Message]]:
        """Lines of `path:line: message`, whose paths are relative to the settings' folder."""
        from resilint.model import Span

        problems = []
        for line in text.splitlines():
            name, _, rest = line.partition(":")
            number, _, message = rest.partition(":")
            path = session.settings.path
            folder = session.settings.folder or self.root
            if (folder / name).is_file():
                path = os.path.relpath(folder / name, self.root).replace(os.sep, "/")
            elif (self.root / name).is_file():
                path = name
            at = int(number) if number.strip().isdigit() else 1
            said = message.strip() if number.strip().isdigit() else line
            problems.append((Span(path, at, 1, at, 1), said))
        return self._of_settings(problems)

    def _text(self, path: str) -> bytes:
        if path in self.held:
            return self.held[path].removeprefix(b"\xef\xbb\xbf")
        try:
            return (self.root / path).read_bytes().removeprefix(b"\xef\xbb\xbf")
        except OSError:
            return b""

    def answer(self, question: Message, answers: Answers) -> Any:
        """The answer to one question; none where it cannot be given."""
        from resilint.lsp.answers import placeholder
        from resilint.model import Span

        path = question["path"]
        with unsaved(self.absolute()):
            if question["what"] == "hover":
                return answers.hover(path, question["line"], question["character"])
            if question["what"] == "lenses":
                return answers.lenses(path)
            rule = next((rule for rule in self.known if rule.code == question["code"]), None)
            return answers.suppression(placeholder(Span(path, *question["span"]), rule), rule) if rule is not None else None


def encoded(text: str) -> bytes:
    """Text of an editor as bytes. The mark says that they are UTF-8, whatever a comment in them declares for the file on disk."""
    return b"\xef\xbb\xbf" + text.removeprefix("\ufeff").encode("utf-8", "replace")


def _prepare() -> None:
    """Imports what checking and answering need, before there are children: each of them would do it anew."""
    import pkgutil
    from importlib import import_module

    from resilint import flow

    for module in pkgutil.iter_modules(flow.__path__):
        import_module(f"{flow.__name__}.{module.name}")
    for name in ("resilint.baseline", "resilint.lsp.answers", "resilint.program"):
        import_module(name)


def _page(rule: Rule) -> str | None:
    from resilint.docs import address, local_address

    return address(rule) or local_address(rule)


# ---------------------------------------------------------------- children


class _Child:
    """A process that began with all the memory of this one. What it says are lines; it ends with all it started."""

    def __init__(self, work: Any, inherited: Iterable[int]) -> None:
        own_in, to_child = os.pipe()
        from_child, own_out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            with suppress(BaseException):
                os.setsid()
                gc.disable()
                for descriptor in (to_child, from_child, *inherited):
                    with suppress(OSError):
                        os.close(descriptor)
                with os.fdopen(own_in, "r", encoding="utf-8") as asked, os.fdopen(own_out, "w", encoding="utf-8") as told:
                    work(asked, told)
                status = 0
            os._exit(status)
        os.close(own_in)
        os.close(own_out)
        self.descriptor = from_child
        self.entry = to_child
        self.done = False
        """Whether it has said all it was started for."""
        self._rest = b""
        self._unsent = b""
        os.set_blocking(to_child, False)

    def ask(self, question: Message) -> bool:
        """Whether a question could be put: a child that is gone, or busy with many, takes no more."""
        self._unsent += json.dumps(question).encode() + b"\n"
        return self.flush() and len(self._unsent) < _MOST_UNSENT

    def flush(self) -> bool:
        """Sends what it takes of what is to be sent. Whether it is there."""
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self.entry, self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    @property
    def is_behind(self) -> bool:
        """Whether something is still to be sent."""
        return bool(self._unsent)

    def lines(self) -> Iterator[Message] | None:
        """What it has said since the last time; `None` once it has ended."""
        data = os.read(self.descriptor, 1 << 20)
        if not data:
            return None
        *whole, self._rest = (self._rest + data).split(b"\n")
        return (json.loads(line) for line in whole)

    def end(self) -> None:
        """Ends it, if it has not, and all that it started."""
        for descriptor in (self.entry, self.descriptor):
            os.close(descriptor)
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(OSError):
            # Before it had a group of its own.
            os.kill(self.pid, signal.SIGKILL)
        with suppress(OSError):
            os.waitpid(self.pid, 0)


def is_worth_following(session: Session) -> bool:
    """Whether a program is so large that first answers are given."""
    least = int(os.environ.get("RESILINT_LSP_FIRST_FROM", _WORTH))
    return sum(brief.functions for brief in session.reading.briefs.values()) >= least


def _say(told: IO[str], message: Message) -> None:
    told.write(json.dumps(message) + "\n")
    told.flush()


def _failed(problem: BaseException) -> Message:
    text = " ".join(str(problem).split())
    return {"is": "failed", "message": f"{type(problem).__name__}: {text}", "detail": "".join(traceback.format_exception(problem))}


class Follower:
    """What a process that has checked a program goes on with: the first answer after each change, as `Session.glimpse` has it."""

    def __init__(self, folder: Folder, whole: dict[str, list[Message]]) -> None:
        assert folder.session is not None
        self.folder = folder
        self.session = folder.session
        self.session.follows = True
        self._whole = whole
        self._before: dict[str, list[Message]] = {}
        """What the first answer said of files as the whole answer has them."""
        self._now: dict[str, list[Message]] = {}
        """What it said of them last."""
        self._texts: dict[str, bytes] = {}
        """Their texts as the whole answer has them."""
        self._since: set[str] = set()
        """What has changed since the whole answer."""

    def prepare(self, paths: Iterable[str]) -> None:
        """Learns what the first answer says of files before they are changed."""
        for path in paths:
            if path not in self._before and self.session.kind_of(path) is not None:
                self._texts[path] = self.session.texts.source(path)
                self._before[path] = self._now[path] = self._found([path]).get(path, [])

    def take(self, messages: list[Message]) -> Message | None:
        """The first answer after changes; none where there were none. Raises `EOFError` where it cannot follow."""
        last: Message | None = None
        changed: set[str] = set()
        for message in messages:
            if message["do"] == "whole":
                # It is of the state of now: what came before it is known, and a change after it would have ended it.
                self._whole = message["files"]
                self._before = {path: self._now[path] for path in self._before if path not in changed}
                self._texts = {path: self.session.texts.source(path) for path in self._before}
                self.prepare(sorted(changed))
                changed = set()
                self._since = set()
            else:
                last = message
                changed |= self._change(message)
        if last is None:
            return None
        return {"is": "first", "id": last["id"], "files": self._shown(changed)}

    def _change(self, message: Message) -> set[str]:
        """Takes in a change; the files in which something is otherwise, of those that are open."""
        touched = {*message.get("files", ()), *message.get("unsaved", ())}
        if len(touched) > _MOST_PREPARED:
            raise EOFError
        self.prepare(sorted(touched))
        differs = self.folder.change(
            message.get("files", ()),
            message.get("unsaved", {}),
            everything=message.get("everything", False),
            sweep=message.get("sweep", False),
        )
        if self.session.followed is None or self.folder.problem is not None:
            raise EOFError
        if differs:
            self._since |= touched
        # A file that was saved just after something was typed is told again: the answer to what was typed came too late.
        return touched & self._before.keys() & self.folder.held.keys() & self._since

    def _shown(self, paths: set[str]) -> dict[str, list[Message]]:
        if not paths:
            return {}
        after = self._found(sorted(paths))
        answers = self.folder.answers()
        files = {}
        for path in sorted(paths):
            self._now[path] = after.get(path, [])
            line = lines_of(self._texts[path], self.session.texts.source(path))
            files[path] = shown(self._whole.get(path, ()), self._before[path], self._now[path], line, answers.uri(path))
        return files

    def forget(self) -> None:
        """Drops all that need not be kept until the next change."""
        self.session.rest()
        gc.collect()

    def _found(self, paths: list[str]) -> dict[str, list[Message]]:
        with unsaved(self.folder.absolute()):
            found = self.session.glimpse(self.folder.rules, self.folder.known, paths)
        answers = self.folder.answers()
        files: dict[str, list[Message]] = {}
        for finding, fingerprint in found:
            files.setdefault(finding.span.path, []).append(self.folder.entry(finding, fingerprint, answers))
        return files


class Analysis:
    """Answers the server's messages, one state of the program after the other."""

    def __init__(self, tell: Any) -> None:
        self._tell = tell
        self.folder: Folder | None = None
        self.number = 0
        """Of the newest change."""
        self.last: Message | None = None
        """What was found in the state of now, once that is known."""
        self.pending: dict[int, Message] = {}
        """Questions without an answer yet."""

    def take(self, message: Message) -> bool:
        """Takes in the state of the disk or the editor; whether it has to be checked anew."""
        if message["do"] == "open":
            root, sweeps = message["root"], message.get("sweeps", False)
            self.folder = Folder(
                Path(os.path.realpath(root)), Path(root), message["encoding"], message["jobs"], self._tell, sweeps=sweeps
            )
            self.folder.watch = self._watch
        assert self.folder is not None
        self.number = message["id"]
        try:
            return self.folder.change(
                message.get("files", ()),
                message.get("unsaved", {}),
                everything=message.get("everything", False),
                sweep=message.get("sweep", False),
            )
        except Exception as problem:
            self._tell({**_failed(problem), "id": self.number})
            return True

    def _watch(self) -> None:
        """Is called now and then by what takes long, and may raise what ends it."""

    def is_ready(self) -> bool:
        """Whether there is something to check and to ask; else says why not."""
        folder = self.folder
        if folder is None:
            return False
        try:
            if folder.ready():
                return True
        except Exception as problem:
            self._tell({**_failed(problem), "id": self.number})
            return False
        if folder.problem is not None:
            self._tell({"is": "broken", "id": self.number, "files": folder.problem})
        return False

    def check(self, tell: Any) -> None:
        """Checks the program and says what was found."""
        assert self.folder is not None and self.folder.session is not None
        self.folder.tell = tell
        try:
            tell({**self.folder.result(), "id": self.number})
        except Exception as problem:
            tell({**_failed(problem), "id": self.number})

    def answer(self, question: Message, answers: Answers, tell: Any) -> None:
        """Answers a question."""
        assert self.folder is not None
        try:
            value = self.folder.answer(question, answers)
        except Exception as problem:
            tell({**_failed(problem), "id": None})
            value = None
        tell({"is": "answer", "id": question["id"], "value": value})


class Forking(Analysis):
    """Leaves checking and answering to children."""

    def __init__(self, asked: int, told: IO[str]) -> None:
        super().__init__(lambda message: _say(told, message))
        self._asked = asked
        self._out = told.fileno()
        self._checker: _Child | None = None
        self._teller: _Child | None = None
        self._follower: _Child | None = None
        """What has checked an earlier state and gives first answers since."""
        self._due: float | None = None
        """When the program is to be checked as it is now; `None`: that has begun."""
        self._is_prepared = False
        """Whether that has begun to listen."""
        self._late: float | None = None
        """When a first answer that was asked for is given up."""
        self._wholes = 0
        """Whole answers since it was new."""
        self._since: set[str] = set()
        """What has changed since the last whole answer."""
        self._typed = 0.0
        """When somebody typed last."""
        self._ready = False

    def run(self) -> None:
        """Until the server goes."""
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._asked, selectors.EVENT_READ)
            try:
                while True:
                    for key, _ in selector.select(self._patience()):
                        if key.fd == self._asked:
                            data = os.read(self._asked, 1 << 20)
                            if not data:
                                return
                            *whole, rest = (rest + data).split(b"\n")
                            self._serve([json.loads(line) for line in whole], selector)
                        else:
                            self._relay(key.fd, selector)
                    self._look_at_the_clock(selector)
            finally:
                self._end_all(selector)
                self._end_follower(selector)

    def _patience(self) -> float | None:
        """How long nothing need be done if nobody says anything."""
        times = [at for at in (self._due, self._late) if at is not None]
        if any(child is not None and child.is_behind for child in (self._teller, self._follower)):
            times.append(time.monotonic() + _BEHIND)
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _look_at_the_clock(self, selector: selectors.BaseSelector) -> None:
        now = time.monotonic()
        for child in (self._teller, self._follower):
            if child is not None and child.is_behind:
                child.flush()
        if self._late is not None and now >= self._late:
            # A question that takes so long may take for ever. What checks the whole is ended by the next change.
            self._end_follower(selector)
        if self._due is not None and now >= self._due:
            self._due = None
            if self._ready:
                self._checker = self._start(self._check, selector)

    def _serve(self, messages: list[Message], selector: selectors.BaseSelector) -> None:
        changes = [message for message in messages if message["do"] in ("open", "change")]
        followed = self._follow(changes)
        differs = False
        for change in changes:
            differs = self.take(change) or differs
        if changes and self.last is None and self._checker is None and self._due is None:
            # What checked this state was killed: without another one it would never be known.
            differs = True
        if changes and not differs and self.last is not None:
            # Opened, closed or saved as it was: what is known of it still holds.
            self._tell({**self.last, "id": self.number, "again": True})
        elif changes and not differs:
            # The check of this state goes on, for seconds in a large program; of files that are as they were an answer is known.
            paths = {path for one in changes for path in one.get("unsaved", ())} - self._since
            self._tell({"is": "as before", "id": self.number, "paths": sorted(paths)})
        if differs:
            self._since.update(path for one in changes for path in (*one.get("files", ()), *one.get("unsaved", ())))
            self._end_all(selector)
            self.last = None
            self._ready = self.is_ready()
            # What is kept is never walked again, neither here nor in the children, whose copies of it would stop being shared.
            gc.collect()
            gc.freeze()
            # Who types is not done yet, and the first answer is not to wait for the whole one.
            self._typed = time.monotonic() - (0.0 if any(message.get("typed") for message in changes) else _TYPING)
            self._due = self._typed + max(_TYPING, _FIRST if followed else 0.0) if self._ready else None
        for message in messages:
            if message["do"] == "ask":
                self.pending[message["id"]] = message
                if not differs:
                    self._ask(message, selector)
            elif message["do"] == "drop":
                self.pending.pop(message["id"], None)
        if differs:
            for question in list(self.pending.values()):
                self._ask(question, selector)

    def _follow(self, changes: list[Message]) -> bool:
        """Asks for the first answer after changes; whether there is one to wait for."""
        if self._follower is None or not changes or not all(map(self._follower.ask, changes)):
            return False
        if self._is_prepared:
            self._late = time.monotonic() + _LATE
        return self._is_prepared

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._asked, 0)
        if any(event & select.POLLHUP for _, event in poll.poll(0)):
            # The server is gone: nobody wants to know what a large program says, and reading one takes a minute. Workers
            # would wait for ever for one who asks no more.
            if os.getpgid(0) == os.getpid():
                os.killpg(0, signal.SIGKILL)
            os._exit(1)

    def _ask(self, question: Message, selector: selectors.BaseSelector) -> None:
        if self._ready and self._teller is None:
            self._teller = self._start(self._answer_all, selector)
        if self._teller is None or not self._teller.ask(question):
            self.pending.pop(question["id"], None)
            self._tell({"is": "answer", "id": question["id"], "value": None})

    def _start(self, work: Any, selector: selectors.BaseSelector) -> _Child:
        others = [child for child in (self._checker, self._teller, self._follower) if child is not None]
        child = _Child(work, [self._asked, self._out, *(end for other in others for end in (other.descriptor, other.entry))])
        selector.register(child.descriptor, selectors.EVENT_READ)
        return child

    def _check(self, asked: IO[str], told: IO[str]) -> None:
        assert self.folder is not None
        # The descriptor that it looks at is closed here.
        self.folder.watch = None
        results: list[Message] = []

        def tell(message: Message) -> None:
            if message["is"] == "result":
                message["stays"] = (
                    self.folder is not None and self.folder.session is not None and is_worth_following(self.folder.session)
                )
                results.append(message)
            _say(told, message)

        self.check(tell)
        if results and results[0]["stays"]:
            self._go_on(Follower(self.folder, results[0]["files"]), asked, told)

    def _go_on(self, follower: Follower, asked: IO[str], told: IO[str]) -> None:
        """Gives first answers for as long as that can be done. Whatever ends it, whole answers are given as before."""
        assert self.folder is not None
        held = [path for path in self.folder.held if not path.startswith("../")]
        if not held and follower.session.paths:
            # Whichever file it is: most of what the first answer takes, every other one takes too.
            held = follower.session.paths[:1]
        follower.prepare(held[:_MOST_PREPARED])
        gc.collect()
        gc.freeze()
        _say(told, {"is": "prepared"})
        rest = b""
        while data := os.read(asked.fileno(), 1 << 20):
            *whole, rest = (rest + data).split(b"\n")
            if not whole:
                continue
            answer = follower.take([json.loads(line) for line in whole])
            if answer is not None:
                _say(told, answer)
            follower.forget()

    def _answer_all(self, asked: IO[str], told: IO[str]) -> None:
        assert self.folder is not None
        self.folder.watch = None
        answers = self.folder.answers()
        for line in asked:
            self.answer(json.loads(line), answers, lambda message: _say(told, message))

    def _relay(self, descriptor: int, selector: selectors.BaseSelector) -> None:
        children = (self._checker, self._teller, self._follower)
        child = next((one for one in children if one is not None and one.descriptor == descriptor), None)
        if child is None:
            return
        messages = child.lines()
        if messages is not None:
            for message in messages:
                if message["is"] == "first":
                    self._take_first(message)
                    continue
                if message["is"] == "prepared":
                    self._is_prepared = True
                    self._tell(message)
                    continue
                stays = message.pop("stays", False)
                if message["is"] == "answer":
                    self.pending.pop(message["id"], None)
                elif child is self._checker and "id" in message:
                    message["id"] = self.number
                    self.last = message
                    self._since = set()
                self._tell(message)
                child.done = child.done or "id" in message
                if stays and child is self._checker:
                    self._checker = None
                    self._let_follow(child, message, selector)
                    break
            return
        selector.unregister(descriptor)
        child.end()
        if child is self._follower:
            self._forget_follower()
        elif child is self._checker:
            self._checker = None
            if not child.done:
                self._tell({"is": "failed", "id": self.number, "message": "the process that checks the program was killed"})
        else:
            self._teller = None
            for question in list(self.pending):
                self.pending.pop(question)
                self._tell({"is": "answer", "id": question, "value": None})

    def _let_follow(self, child: _Child, whole: Message, selector: selectors.BaseSelector) -> None:
        """Has a process that has checked the program give first answers, if there is none that does and can go on."""
        told = {"do": "whole", "files": whole["files"]}
        if self._follower is not None and self._is_prepared and self._wholes < _MOST_WHOLES and self._follower.ask(told):
            self._wholes += 1
            selector.unregister(child.descriptor)
            child.end()
            return
        self._end_follower(selector)
        self._follower, self._wholes = child, 0

    def _take_first(self, message: Message) -> None:
        if message["id"] == self.number:
            self._late = None
            if self._due is not None:
                self._due = min(self._due, self._typed + _TYPING)
            if message["files"]:
                self._tell(message)

    def _end_follower(self, selector: selectors.BaseSelector) -> None:
        if self._follower is not None:
            selector.unregister(self._follower.descriptor)
            self._follower.end()
        self._forget_follower()

    def _forget_follower(self) -> None:
        self._follower = self._late = None
        self._is_prepared = False
        if self._due is not None:
            self._due = min(self._due, self._typed + _TYPING)

    def _end_all(self, selector: selectors.BaseSelector) -> None:
        for child in (self._checker, self._teller):
            if child is not None:
                selector.unregister(child.descriptor)
                child.end()
        self._checker = self._teller = None


class Alone(Analysis):
    """Does all itself, for want of processes that can be forked."""

    def __init__(self, asked: IO[bytes], told: IO[str]) -> None:
        super().__init__(lambda message: _say(told, message))
        self._inbox: queue.Queue[Message | None] = queue.Queue(_MOST_MESSAGES)
        self._newer = threading.Event()
        self._reads = False
        self._answers: Answers | None = None
        threading.Thread(target=self._listen, args=(asked,), daemon=True).start()

    def _listen(self, asked: IO[bytes]) -> None:
        for line in asked:
            message = json.loads(line)
            if message["do"] in ("open", "change"):
                self._newer.set()
            self._inbox.put(message)
        self._newer.set()
        self._inbox.put(None)

    def run(self) -> None:
        """Until the server goes."""
        while (message := self._inbox.get()) is not None:
            if message["do"] == "ask":
                self._ask(message)
            elif message["do"] != "drop":
                self._newer.clear()
                self._reads = True
                differs = self.take(message)
                self._reads = False
                if not differs and self.last is not None:
                    self._tell({**self.last, "id": self.number, "again": True})
                    continue
                self._answers = self.last = None
                with suppress(_Newer):
                    if self.is_ready():
                        self.check(self._note)

    def _note(self, message: Message) -> None:
        if "id" in message:
            self.last = message
        self._tell(message)

    def _watch(self) -> None:
        if self._reads:
            # Half of what has changed would be read.
            return
        if self._newer.is_set():
            raise _Newer

    def _ask(self, question: Message) -> None:
        if self._answers is None and self.folder is not None and self.folder.session is not None and self.folder.problem is None:
            answers = self.folder.answers()
            answers.program = answers.program.unasked()
            self._answers = answers
        if self._answers is None:
            self._tell({"is": "answer", "id": question["id"], "value": None})
        else:
            self.answer(question, self._answers, self._tell)


def main() -> None:
    """Serves one language server. Whatever prints something prints it to standard error: standard output is for messages."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    asked = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    with suppress(BrokenPipeError):
        if hasattr(os, "fork") and not os.environ.get("RESILINT_LSP_NO_FORK"):
            Forking(asked, told).run()
        else:
            gc.enable()
            Alone(os.fdopen(asked, "rb"), told).run()


if __name__ == "__main__":
    main()
