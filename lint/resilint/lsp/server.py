"""The server's side of the protocol: documents, diagnostics, actions, hovers and lenses; what takes long is done elsewhere."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from resilint import __version__
from resilint.lsp.analysis import SETTINGS_FILES, Message

_QUIET = 0.03
"""Seconds without a change after which a program is told of it. How long it then waits for whoever types is its own to say."""
_SHORT = 0.5
"""Seconds that an analysis may take without a word about its progress."""
_MOST_CRASHES = 3
"""Ends of a process that nobody asked for, after which it is not started again."""
_LONGEST_LINE = 1 << 30
_LOGGED = {"error": types.MessageType.Error, "warning": types.MessageType.Warning, "info": types.MessageType.Info}


@dataclass
class _Report:
    """The diagnostics of one file as they were last told, and the number they go by."""

    entries: list[Message]
    number: int


@dataclass
class Program:
    """One workspace folder and the process that analyses it."""

    server: Server
    root: Path
    """As the editor knows it."""
    alone: bool = False
    """No folder of the workspace: the project around a file that was opened by itself."""
    reports: dict[str, _Report] = field(default_factory=dict)
    sent: int = 0
    """Number of the newest change that the process was told."""
    settled: int = -1
    """Number of the newest change whose findings are known."""
    _answered: dict[str, int] = field(default_factory=dict)
    """By path the newest change after which the first answer is known."""
    _process: asyncio.subprocess.Process | None = None
    _timer: asyncio.TimerHandle | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _files: set[str] = field(default_factory=set)
    _held: dict[str, str | None] = field(default_factory=dict)
    _everything: bool = False
    _sweep: bool = False
    _touched: set[str] = field(default_factory=set)
    """What has changed since the last report."""
    _typed: set[str] = field(default_factory=set)
    """Documents whose text was typed and is not saved."""
    _versions: dict[str, int | None] = field(default_factory=dict)
    _asked: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    _question: int = 0
    _progress: str = ""
    _begun: bool = False
    """Whether the editor shows the progress: it is asked first."""
    _told: set[str] = field(default_factory=set)
    _crashes: int = 0
    _over: bool = False

    def __post_init__(self) -> None:
        self._real = Path(os.path.realpath(self.root))

    # ------------------------------------------------------------ paths

    def path_of(self, uri: str) -> str | None:
        """The path of a document relative to the root; none if it lies outside and is no settings file above it."""
        name = uris.to_fs_path(uri) if uri.startswith("file:") else None
        if name is None:
            return None
        file = Path(os.path.normpath(name))
        for root in (self.root, self._real):
            if file.is_relative_to(root):
                return file.relative_to(root).as_posix()
        if file.name in SETTINGS_FILES and self._real.is_relative_to(os.path.realpath(file.parent)):
            return os.path.relpath(os.path.realpath(file), self._real).replace(os.sep, "/")
        return None

    def uri_of(self, path: str) -> str:
        """The address of a file, as the editor writes it where it is open."""
        for uri in self.server.workspace.text_documents:
            document = self.server.workspace.text_documents[uri]
            if self.path_of(document.uri) == path:
                return str(document.uri)
        return Path(os.path.normpath(self.root / path)).as_uri()

    # ------------------------------------------------------------ changes

    def change(
        self,
        *,
        files: Iterable[str] = (),
        held: Mapping[str, str | None] | None = None,
        everything: bool = False,
        sweep: bool = False,
        delay: float = _QUIET,
        postpones: bool = True,
    ) -> None:
        """Remembers what has changed, and analyses it when nothing more comes.

        `sweep`: files that have changed outside of the editor are looked for, if it does not tell of them.
        `postpones`: what is about to be analysed waits for this too; where not, one who writes on and on would stop it for ever.
        """
        self._files |= set(files)
        self._held |= held or {}
        self._everything = self._everything or everything
        self._sweep = self._sweep or (sweep and not self.server.watches)
        if self._timer is not None:
            if not postpones:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(delay, self._flush)

    def _flush(self) -> None:
        self._timer = None
        if self._over:
            return
        self.sent += 1
        message: Message = {"do": "change", "id": self.sent, "files": sorted(self._files), "unsaved": self._held}
        message |= {"everything": self._everything, "sweep": self._sweep}
        message["typed"] = not self._typed.isdisjoint(self._held)
        self._touched |= {*self._files, *self._held}
        self._files, self._held, self._everything, self._sweep = set(), {}, False, False
        self._versions = {
            path: document.version
            for document in self.server.workspace.text_documents.values()
            if (path := self.path_of(document.uri)) is not None
        }
        if self._process is None:
            self.server.later(self._start(message))
        else:
            self._write(message)

    def _write(self, message: Message) -> None:
        if self._process is not None and self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _start(self, message: Message) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            # Nothing of the folder that the editor was started in is ever imported.
            "-P",
            "-m",
            "resilint.lsp.analysis",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            env=environment,
            # What it starts is in its group, and ends with it however it ends.
            start_new_session=True,
        )
        everything = {
            path: document.source
            for document in self.server.workspace.text_documents.values()
            if (path := self.path_of(document.uri)) is not None
        }
        encoding = str(getattr(self.server.workspace.position_encoding, "value", self.server.workspace.position_encoding))
        opening = {"do": "open", "root": str(self.root), "encoding": encoding, "jobs": _processors(), "unsaved": everything}
        self._write({**message, **opening, "sweeps": not self.server.watches})
        self.server.later(self._listen(process))

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            message = json.loads(line)
            try:
                self._take(message)
            except Exception as problem:
                self.server.log("error", f"{type(problem).__name__}: {problem}")
        await process.wait()
        with suppress(OSError, AttributeError):
            # Workers of a process that was killed would wait for it for ever.
            os.killpg(process.pid, signal.SIGKILL)
        if self._process is process and not self._over:
            self._process = None
            self._crashes += 1
            self._answer_all(None)
            self.server.log("error", f"the analysis of {self.root} ended with {process.returncode}")
            if self._is_dead:
                self.wake()
            else:
                self.change(everything=True, delay=float(self._crashes))

    def end(self) -> None:
        """Ends the process, and takes back what was told."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._end_progress()
        self._answer_all(None)
        self.wake()

    # ------------------------------------------------------------ what the process says

    def _take(self, message: Message) -> None:
        kind = message["is"]
        if kind == "progress":
            self._show_progress(message)
        elif kind == "answer":
            future = self._asked.pop(message["id"], None)
            if future is not None and not future.done():
                future.set_result(message["value"])
        elif kind == "failed":
            self.server.log("error", message["message"] + ("\n" + message["detail"] if message.get("detail") else ""))
            if message.get("id") == self.sent:
                # Nothing was analysed: whoever waits for findings would wait for ever.
                if message["message"] not in self._told:
                    self._told.add(message["message"])
                    shown = types.ShowMessageParams(types.MessageType.Error, f"resilint: {message['message']}")
                    self.server.window_show_message(shown)
                self._settle(message["id"])
        elif kind == "prepared":
            # From now on first answers come at once; nobody has to do anything about it.
            pass
        elif kind == "first":
            if message["id"] == self.sent and self.settled != self.sent:
                self._take_first(message["files"])
        elif kind == "as before":
            if message["id"] == self.sent and self.settled >= 0:
                self._take_first({path: self._entries(path) for path in message["paths"]})
        elif message["id"] == self.sent:
            if kind == "result":
                for failure in () if message.get("again") else message["failures"]:
                    self.server.log("error", f"{failure['path'] or self.root}: {failure['message']}\n{failure['detail']}".rstrip())
                for note in message["notes"]:
                    if note not in self._told:
                        self._told.add(note)
                        self.server.log("warning", note)
                files = self._as_long_as_typed(message["files"], message["unparsed"])
            else:
                # What was found before the settings broke is still the best that is known.
                files = {path: report.entries for path, report in self.reports.items() if not _is_of_settings(report)}
                files |= message["files"]
            self._report(files, again=message.get("again", False))
            self._settle(message["id"])

    def _entries(self, path: str) -> list[Message]:
        report = self.reports.get(path)
        return report.entries if report is not None else []

    def _take_first(self, files: dict[str, list[Message]]) -> None:
        """Shows what is known of changed files until the whole program is checked."""
        for path, entries in files.items():
            report = self.reports.get(path)
            if report is None or report.entries != entries:
                self.reports[path] = _Report(entries, self.server.next_number())
            self._answered[path] = self.sent
            if not self.server.pulled:
                self._publish(path)
        self.wake()

    def _as_long_as_typed(self, files: dict[str, list[Message]], unparsed: list[str]) -> dict[str, list[Message]]:
        """What to report where the text of a file, not saved yet, ends in the middle of something.

        What others refer to may stand in the part that cannot be read: their findings would come and go with each bracket.
        So all that nobody has touched keeps what was known of it.
        """
        if not self._typed.intersection(unparsed) or not self.reports:
            return files
        before = {path: report.entries for path, report in self.reports.items() if path not in self._touched}
        return {**before, **{path: entries for path, entries in files.items() if path in self._touched}}

    def typed(self, path: str, *, saved: bool) -> None:
        """Notes whether the text of a document is another than the one that was saved."""
        if saved:
            self._typed.discard(path)
        else:
            self._typed.add(path)

    def _report(self, files: dict[str, list[Message]], *, again: bool) -> None:
        self._touched = set()
        changed = set()
        for path in {*files, *self.reports}:
            entries = files.get(path, [])
            report = self.reports.get(path)
            if report is None or report.entries != entries:
                self.reports[path] = _Report(entries, self.server.next_number())
                changed.add(path)
        if not self.server.pulled:
            open_ones = set(self._versions)
            for path in sorted(changed | open_ones):
                self._publish(path)
        if not again:
            self.server.refresh(diagnostics=bool(changed))

    def _publish(self, path: str) -> None:
        uri = self.uri_of(path)
        if self.server.program_of(uri) is not self:
            return
        report = self.reports.get(path)
        items = diagnostics_of(report)
        version = self._versions.get(path)
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=items, version=version))

    def tell_again(self) -> None:
        """Tells of each file what is known, after folders have come or gone; what another speaks of now is taken back."""
        for path, report in sorted(self.reports.items()):
            if report.entries and not self.server.pulled:
                uri = self.uri_of(path)
                if self.server.program_of(uri) is self:
                    self._publish(path)
                else:
                    self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    def withdraw(self) -> None:
        """Takes back all diagnostics."""
        for path, report in sorted(self.reports.items()):
            if report.entries and not self.server.pulled:
                self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=self.uri_of(path), diagnostics=[]))
        self.reports = {}
        self.server.refresh(diagnostics=True)

    def _settle(self, number: int) -> None:
        self.settled = number
        self._end_progress()
        self.wake()

    def wake(self) -> None:
        """Has all who wait look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Whether its folder is gone, or the server about to go."""
        return self._over

    def version(self, path: str) -> int | None:
        """The version of an open document that what is known speaks of."""
        return self._versions.get(path)

    @property
    def _is_dead(self) -> bool:
        """Whether nothing will come any more."""
        return self._over or self._crashes > _MOST_CRASHES

    @property
    def is_current(self) -> bool:
        """Whether what is known is true of the documents as they are."""
        return self._is_dead or (self.settled == self.sent and self._timer is None and self.sent > 0)

    async def current(self) -> None:
        """Waits until what is known is true of the documents as they are."""
        while not self.is_current:
            await self._changed.wait()

    async def answered(self, path: str) -> None:
        """Waits until it is known what is found in a document as it is, be it by the first answer only."""
        while not self.is_current and (self._timer is not None or self._answered.get(path) != self.sent):
            await self._changed.wait()

    async def news(self) -> None:
        """Waits until something new is known."""
        await self._changed.wait()

    # ------------------------------------------------------------ questions

    async def ask(self, what: str, path: str, **more: Any) -> Any:
        """Asks the process about the documents as they are."""
        while (self._timer is not None or self._process is None) and not self._is_dead:
            # A question about text that the process has not seen yet would get an answer about another place.
            await asyncio.sleep(0.02)
        if self._is_dead:
            return None
        self._question += 1
        number = self._question
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[number] = future
        self._write({"do": "ask", "id": number, "what": what, "path": path, **more})
        try:
            return await future
        except asyncio.CancelledError:
            self._asked.pop(number, None)
            self._write({"do": "drop", "id": number})
            raise

    def _answer_all(self, value: Any) -> None:
        for future in self._asked.values():
            if not future.done():
                future.set_result(value)
        self._asked = {}

    # ------------------------------------------------------------ progress

    def _show_progress(self, message: Message) -> None:
        if not self.server.shows_progress or self._over:
            return
        if not self._progress:
            self._progress = f"resilint/{self.server.next_token()}"
            self.server.later(self._begin_progress(self._progress))
        if not self._begun:
            return
        total = message["total"]
        self.server.work_done_progress.report(
            self._progress,
            types.WorkDoneProgressReport(
                message=f"{message['stage']} {message['done']}/{total}" if total else message["stage"],
                percentage=100 * message["done"] // total if total else None,
            ),
        )

    async def _begin_progress(self, token: str) -> None:
        await asyncio.sleep(_SHORT)
        if self._progress != token:
            return
        with suppress(Exception):
            await self.server.work_done_progress.create_async(token)
        if self._progress == token:
            self._begun = True
            begin = types.WorkDoneProgressBegin(title=f"resilint: {self.root.name}", percentage=0)
            self.server.work_done_progress.begin(token, begin)

    def _end_progress(self) -> None:
        if self._begun:
            self.server.work_done_progress.end(self._progress, types.WorkDoneProgressEnd())
        self._progress, self._begun = "", False


def _is_of_settings(report: _Report) -> bool:
    """Whether a report says why settings cannot be used: such diagnostics have no rule."""
    return any("code" not in entry["diagnostic"] for entry in report.entries)


def diagnostics_of(report: _Report | None) -> list[types.Diagnostic]:
    """The diagnostics of a report."""
    return [_diagnostic(entry["diagnostic"]) for entry in report.entries] if report is not None else []


def _position(value: Message) -> types.Position:
    return types.Position(value["line"], value["character"])


def _range(value: Message) -> types.Range:
    return types.Range(_position(value["start"]), _position(value["end"]))


def _diagnostic(value: Message) -> types.Diagnostic:
    return types.Diagnostic(
        range=_range(value["range"]),
        message=value["message"],
        severity=types.DiagnosticSeverity(value["severity"]),
        code=value.get("code"),
        code_description=types.CodeDescription(value["codeDescription"]["href"]) if "codeDescription" in value else None,
        source=value["source"],
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(step["location"]["uri"], _range(step["location"]["range"])), step["message"]
            )
            for step in value.get("relatedInformation", ())
        ]
        or None,
        tags=[types.DiagnosticTag(tag) for tag in value.get("tags", ())] or None,
        data=value.get("data"),
    )


class Server(LanguageServer):
    """The language server: which folders there are, and what the editor can do."""

    def __init__(self) -> None:
        # pygls splits lines at characters at which editors do not; whole texts need no splitting.
        super().__init__("resilint", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.programs: dict[str, Program] = {}
        self.pulled = False
        """Whether the editor asks for diagnostics; else they are published."""
        self.shows_progress = False
        self.watches = False
        """Whether the editor tells of files that change outside of it."""
        self.links: str | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._token = 0
        self._number = 0
        self._refreshes: set[str] = set()

    def later(self, work: Any) -> None:
        """Does something beside."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            self.log("error", f"{type(problem).__name__}: {problem}")

    def next_token(self) -> int:
        """A number that was not used yet."""
        self._token += 1
        return self._token

    def next_number(self) -> int:
        """A number for a report that no other has had: a folder that comes back begins no new count."""
        self._number += 1
        return self._number

    def log(self, level: str, text: str) -> None:
        """Says something in the editor's log."""
        self.window_log_message(types.LogMessageParams(_LOGGED[level], text))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Faults of the server are logged: a window for each would be in the way."""
        with suppress(Exception):
            self.log("error", f"{type(error).__name__}: {error}")

    # ------------------------------------------------------------ folders

    def add(self, folder: Path, *, alone: bool = False) -> Program:
        """Begins to analyse a folder."""
        if (known := self.programs.get(str(folder))) is not None:
            known.alone = known.alone and alone
            return known
        program = self.programs[str(folder)] = Program(self, folder, alone)
        held = {
            path: document.source
            for document in self.workspace.text_documents.values()
            if (path := program.path_of(document.uri)) is not None
        }
        program.change(held=held, delay=0.01)
        self._tell_again(program)
        return program

    def _tell_again(self, of: Program) -> None:
        """After a folder came or went: those around it speak of other files than before."""
        for other in self.programs.values():
            other.wake()
            if other is not of and of.root.is_relative_to(other.root):
                other.tell_again()

    def remove(self, folder: Path) -> None:
        """Stops analysing a folder."""
        program = self.programs.pop(str(folder), None)
        if program is not None:
            program.withdraw()
            program.end()
            self._tell_again(program)

    def programs_of(self, uri: str) -> list[tuple[Program, str]]:
        """The programs a document is part of, with its path there."""
        return [(program, path) for program in self.programs.values() if (path := program.path_of(uri)) is not None]

    def program_of(self, uri: str) -> Program | None:
        """The program that speaks of a document: of folders inside each other the inner one."""
        found = [(program, path) for program, path in self.programs_of(uri) if not path.startswith("../")]
        found = found or self.programs_of(uri)
        return max((program for program, _ in found), key=lambda program: len(program.root.parts), default=None)

    def place_of(self, uri: str) -> tuple[Program, str] | None:
        """That program, with the document's path there."""
        program = self.program_of(uri)
        path = program.path_of(uri) if program is not None else None
        return (program, path) if program is not None and path is not None else None

    def open_project(self, uri: str) -> None:
        """Where no folder of the workspace holds a document, the project around it is the program."""
        name = uris.to_fs_path(uri) if uri.startswith("file:") else None
        if name is None or self.program_of(uri) is not None:
            return
        from resilint.scope import ScopeError, scope_of
        from resilint.settings import SettingsError

        folder = Path(name).parent
        try:
            root = scope_of([name], None, folder).root
        except (ScopeError, SettingsError):
            root = folder
        if folder.is_dir():
            self.add(root, alone=True)

    # ------------------------------------------------------------ refreshing

    def refresh(self, *, diagnostics: bool) -> None:
        """Has the editor ask again for what it asked before."""
        if diagnostics and self.pulled:
            self._once("diagnostics", self.workspace_diagnostic_refresh_async)
        capabilities = self.client_capabilities.workspace
        if capabilities is not None and capabilities.code_lens is not None and capabilities.code_lens.refresh_support:
            self._once("lenses", self.workspace_code_lens_refresh_async)

    def _once(self, name: str, request: Any) -> None:
        if name in self._refreshes:
            return
        self._refreshes.add(name)

        async def send() -> None:
            self._refreshes.discard(name)
            with suppress(Exception):
                await request(None)

        self.later(send())


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


server = Server()


# ---------------------------------------------------------------- life


@server.feature(types.INITIALIZE)
def initialize(ls: Server, params: types.InitializeParams) -> None:
    """Looks at what the editor can do."""
    capabilities = params.capabilities
    workspace, documents = capabilities.workspace, capabilities.text_document
    refreshes = workspace is not None and workspace.diagnostics is not None and bool(workspace.diagnostics.refresh_support)
    # Without a way to say that other files' diagnostics have changed, a server that is only asked would leave them stale.
    ls.pulled = documents is not None and documents.diagnostic is not None and refreshes
    watched = workspace.did_change_watched_files if workspace is not None else None
    ls.watches = watched is not None and bool(watched.dynamic_registration)
    ls.shows_progress = capabilities.window is not None and bool(capabilities.window.work_done_progress)


@server.feature(types.INITIALIZED)
def initialized(ls: Server, params: types.InitializedParams) -> None:
    """Begins with the folders of the workspace, and asks to be told of files that change outside of the editor."""
    folders = [uris.to_fs_path(folder.uri) for folder in ls.workspace.folders.values()]
    if not folders and ls.workspace.root_path:
        folders = [ls.workspace.root_path]
    for name in folders:
        if name is not None and os.path.isdir(name):
            ls.add(Path(os.path.normpath(name)))
    if ls.watches:
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers=[types.FileSystemWatcher(glob_pattern="**/*")])
        registration = types.Registration("resilint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        ls.later(ls.client_register_capability_async(types.RegistrationParams([registration])))


@server.feature(types.SHUTDOWN)
def shutdown(ls: Server, params: None) -> None:
    """Ends the analyses."""
    for program in ls.programs.values():
        program.end()


@server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
def folders_changed(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Folders come and go."""
    for folder in params.event.removed:
        if name := uris.to_fs_path(folder.uri):
            ls.remove(Path(os.path.normpath(name)))
    for folder in params.event.added:
        name = uris.to_fs_path(folder.uri)
        if name is not None and os.path.isdir(name) and os.path.normpath(name) not in ls.programs:
            ls.add(Path(os.path.normpath(name)))


# ---------------------------------------------------------------- documents


def _hold(ls: Server, uri: str, text: str | None, delay: float = _QUIET, *, sweep: bool = False, saved: bool = True) -> None:
    for program, path in ls.programs_of(uri):
        program.typed(path, saved=saved)
        program.change(held={path: text}, sweep=sweep, delay=delay)


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    """The editor's text takes the place of the file."""
    ls.open_project(params.text_document.uri)
    _hold(ls, params.text_document.uri, params.text_document.text, 0.02, sweep=True)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    """The text has changed."""
    uri = params.text_document.uri
    _hold(ls, uri, ls.workspace.get_text_document(uri).source, saved=False)


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    """Saved: whoever waits for findings does so now."""
    uri = params.text_document.uri
    for program, path in ls.programs_of(uri):
        program.typed(path, saved=True)
        program.change(files=[path], held={path: ls.workspace.get_text_document(uri).source}, sweep=True, delay=0.0)


@server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """The file on the disk counts again."""
    uri = params.text_document.uri
    _hold(ls, uri, None)
    for program in [program for program, _ in ls.programs_of(uri) if program.alone]:
        if not any(program.path_of(document.uri) is not None for document in ls.workspace.text_documents.values()):
            ls.remove(program.root)


@server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
def watched(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """Files have changed outside of the editor; of a folder that goes only the folder may be named."""
    for program in ls.programs.values():
        paths = {path for event in params.changes if (path := program.path_of(event.uri)) is not None}
        paths = {path for path in paths if ".git" not in path.split("/")[:-1]}
        if paths:
            program.change(files=paths, postpones=False)


# ---------------------------------------------------------------- diagnostics


@server.feature(
    types.TEXT_DOCUMENT_DIAGNOSTIC,
    types.DiagnosticOptions(identifier="resilint", inter_file_dependencies=True, workspace_diagnostics=True),
)
async def document_diagnostics(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """The diagnostics of a document as it is."""
    place = ls.place_of(params.text_document.uri)
    if place is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    program, path = place
    await program.answered(path)
    report = program.reports.get(path)
    number = str(report.number) if report is not None else "0"
    if params.previous_result_id == number:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=number)
    return types.RelatedFullDocumentDiagnosticReport(items=diagnostics_of(report), result_id=number)


@server.feature(types.WORKSPACE_DIAGNOSTIC)
async def workspace_diagnostics(ls: Server, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
    """What has changed of the diagnostics of all files; held open until something has."""
    known = {entry.uri: entry.value for entry in params.previous_result_ids}
    while True:
        items: list[types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport] = []
        programs = list(ls.programs.values())
        for program in programs:
            for path, report in sorted(program.reports.items()):
                uri = program.uri_of(path)
                if ls.program_of(uri) is program and known.get(uri) != str(report.number) and (report.entries or uri in known):
                    items.append(
                        types.WorkspaceFullDocumentDiagnosticReport(
                            uri=uri, items=diagnostics_of(report), result_id=str(report.number)
                        )
                    )
        # Nobody speaks any more of what lay in a folder that is gone.
        items += [
            types.WorkspaceFullDocumentDiagnosticReport(uri=uri, items=[]) for uri in sorted(known) if ls.program_of(uri) is None
        ]
        if items:
            return types.WorkspaceDiagnosticReport(items=items)
        waiting = [asyncio.ensure_future(program.news()) for program in programs] or [asyncio.ensure_future(asyncio.sleep(1))]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
        if programs and all(program.is_over for program in programs):
            return types.WorkspaceDiagnosticReport(items=[])


# ---------------------------------------------------------------- actions


_FIX_ALL = "source.fixAll.resilint"


@server.feature(
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, _FIX_ALL]),
)
async def code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Fixes, suppressions and explanations of what is found here."""
    place = ls.place_of(params.text_document.uri)
    if place is None:
        return []
    program, path = place
    await program.answered(path)
    report = program.reports.get(path)
    entries = [entry for entry in report.entries if "span" in entry] if report is not None else []
    only = params.context.only

    def wanted(kind: str) -> bool:
        return not only or any(kind == one or kind.startswith(f"{one}.") for one in map(str, map(_value, only)))

    actions: list[types.CodeAction] = []
    if wanted("quickfix"):
        for entry in entries:
            if _meets(_range(entry["diagnostic"]["range"]), params.range):
                actions += await _actions_of(ls, program, path, entry)
    if only and wanted(_FIX_ALL):
        edit = _all_fixes(ls, program, path, entries)
        if edit is not None:
            actions.append(types.CodeAction("Fix all that resilint can fix safely", kind=_FIX_ALL, edit=edit))
    return actions


def _value(kind: Any) -> Any:
    return getattr(kind, "value", kind)


def _meets(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges touch."""
    return not (_key(one.end) < _key(other.start) or _key(other.end) < _key(one.start))


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


async def _actions_of(ls: Server, program: Program, path: str, entry: Message) -> list[types.CodeAction]:
    diagnostic = _diagnostic(entry["diagnostic"])
    code = entry["diagnostic"]["code"]
    actions = []
    fix = entry.get("fix")
    if fix is not None:
        title = fix["title"] if fix["safe"] else f"{fix['title']} (unsafe: may change behaviour)"
        actions.append(
            types.CodeAction(
                title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                is_preferred=bool(fix["safe"]),
                edit=_workspace_edit(ls, program, fix["edits"]),
            )
        )
    suppression = await program.ask("suppression", path, span=entry["span"], code=code)
    if suppression is not None:
        actions.append(
            types.CodeAction(
                f"Suppress {code} here, with a reason",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                edit=_workspace_edit(ls, program, {path: [suppression]}),
            )
        )
    title = f"Explain {code} {entry['diagnostic']['data']['name']}"
    actions.append(
        types.CodeAction(
            title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            command=types.Command(title, "resilint.explain", arguments=[code]),
        )
    )
    return actions


def _workspace_edit(ls: Server, program: Program, edits: Mapping[str, list[Message]]) -> types.WorkspaceEdit:
    """Edits by path as the editor takes them: with versions where it knows them, so that none goes into another text."""
    by_uri = {
        program.uri_of(path): [types.TextEdit(_range(one["range"]), one["newText"]) for one in own] for path, own in edits.items()
    }
    workspace = ls.client_capabilities.workspace
    able = workspace is not None and workspace.workspace_edit is not None and workspace.workspace_edit.document_changes
    if not able:
        return types.WorkspaceEdit(changes=by_uri)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=program.version(program.path_of(uri) or "")),
                list(own),
            )
            for uri, own in by_uri.items()
        ]
    )


def _all_fixes(ls: Server, program: Program, path: str, entries: list[Message]) -> types.WorkspaceEdit | None:
    """All safe fixes of a document that lie in it alone; of those that meet the first."""
    taken: list[types.Range] = []
    edits: list[Message] = []
    for entry in entries:
        fix = entry.get("fix")
        if fix is None or not fix["safe"] or set(fix["edits"]) != {path}:
            continue
        own = [edit for edit in fix["edits"][path] if edit not in edits]
        if any(_meets(_range(edit["range"]), other) for edit in own for other in taken):
            continue
        taken += [_range(edit["range"]) for edit in own]
        edits += own
    return _workspace_edit(ls, program, {path: edits}) if edits else None


@server.command("resilint.explain")
async def explain(ls: Server, code: str) -> str:
    """Shows the page of a rule where the editor can show documents; its text is the answer."""
    from resilint import docs, registry

    rule = next((rule for rule in registry.rules() if code in (rule.code, rule.name)), None)
    if rule is None:
        raise JsonRpcInvalidParams(f"unknown rule {code!r}")
    window = ls.client_capabilities.window
    page = docs.local_address(rule)
    text = docs.page(rule) or f"# {rule.code} {rule.name}\n\n{rule.summary}\n"
    shown = False
    if page is not None and window is not None and window.show_document is not None and window.show_document.support:
        with suppress(Exception):
            shown = (await ls.window_show_document_async(types.ShowDocumentParams(page, take_focus=True))).success
    if not shown:
        # Few editors do anything with the answer of a command: without this nothing at all would happen.
        told = f"{_until_examples(text)}\n\nAll of it: {page or f'resilint explain {rule.code}'}"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, told))
    return text


def _until_examples(page: str) -> str:
    """What a rule is about, as long as a message of an editor may be: its page up to the examples."""
    return page.partition("\n## Flagged")[0].replace("## ", "").lstrip("# ").strip()


@server.command("resilint.budget")
def budget(ls: Server, detail: str) -> str:
    """Shows how the worst case of an entry point comes about."""
    ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, detail))
    return detail


# ---------------------------------------------------------------- hovers and lenses


@server.feature(types.TEXT_DOCUMENT_HOVER)
async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """What is known of the wait, function or setting here."""
    place = ls.place_of(params.text_document.uri)
    if place is None:
        return None
    program, path = place
    at = params.position
    found = await program.ask("hover", path, line=at.line, character=at.character)
    if found is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found["contents"]["value"]), _range(found["range"]))


@server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
async def code_lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
    """The worst case of each entry point, above it."""
    place = ls.place_of(params.text_document.uri)
    if place is None:
        return []
    program, path = place
    found = await program.ask("lenses", path)
    return [
        types.CodeLens(_range(one["range"]), types.Command(one["title"], "resilint.budget", arguments=[one["detail"]]))
        for one in found or ()
    ]


# ---------------------------------------------------------------- start


def serve() -> int:
    """Serves standard input and output until the editor goes; 1 if it went without saying so."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    # Nothing but the protocol goes to standard output, whatever a rule prints.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    server.start_io(sys.stdin.buffer, out)
    return 0 if server.protocol._shutdown else 1
