"""The language server, asked by a client that speaks the protocol over its standard streams."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Union

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 60.0
"""Seconds after which something will never come."""

CLIENT = "import requests\n\nsession = requests.Session()\n"
APP = "from client import session\n\n\ndef fetch(url):\n    return session.get(url)\n"
BOUNDED = APP.replace("get(url)", "get(url, timeout=2)")

PUSH = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(publish_diagnostics=types.PublishDiagnosticsClientCapabilities()),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True), workspace_folders=True
    ),
)
PULL = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
    window=types.WindowClientCapabilities(
        work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
    ),
)


WATCHING = types.ClientCapabilities(
    text_document=PUSH.text_document,
    workspace=types.WorkspaceClientCapabilities(
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    ),
)
"""Diagnostics are published, and the editor tells of files that change outside of it."""


class Editor(LanguageClient):
    """An editor without a screen: it remembers what the server tells it."""

    def __init__(self) -> None:
        super().__init__("an-editor", "1")
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.logged: list[str] = []
        self.shown: list[str] = []
        self.told_progress: list[Any] = []
        self.refreshed: list[str] = []
        self.registered: list[str] = []
        self.something = asyncio.Event()
        self.versions: dict[str, int] = {}

        converter = self.protocol._converter

        def action_or_command(value: Any, _: Any) -> Any:
            # lsprotocol takes an action that has a command for one; an action's command is an object.
            is_command = isinstance(value.get("command"), str)
            return converter.structure(value, types.Command if is_command else types.CodeAction)

        converter.register_structure_hook(types.Command | types.CodeAction, action_or_command)
        converter.register_structure_hook(Union[types.Command, types.CodeAction], action_or_command)  # noqa: UP007

        def remember(method: str, keep: Callable[[Any], Any]) -> None:
            def receive(params: Any) -> Any:
                answer = keep(params)
                self.something.set()
                return answer

            self.feature(method)(receive)

        remember(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lambda params: self.published.setdefault(params.uri, []).append(params))
        remember(types.WINDOW_LOG_MESSAGE, lambda params: self.logged.append(params.message))
        remember(types.WINDOW_SHOW_MESSAGE, lambda params: self.shown.append(params.message))
        remember(types.PROGRESS, lambda params: self.told_progress.append(params.value))
        remember(types.WINDOW_WORK_DONE_PROGRESS_CREATE, lambda params: None)
        remember(types.WORKSPACE_DIAGNOSTIC_REFRESH, lambda params: self.refreshed.append("diagnostics"))
        remember(types.WORKSPACE_CODE_LENS_REFRESH, lambda params: self.refreshed.append("lenses"))
        remember(
            types.CLIENT_REGISTER_CAPABILITY,
            lambda params: self.registered.extend(one.method for one in params.registrations),
        )

        def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.shown.append(params.uri)
            return types.ShowDocumentResult(True)

        remember(types.WINDOW_SHOW_DOCUMENT, show)

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Waits for what the server tells."""

        async def wait() -> Any:
            while not (found := holds()):
                self.something.clear()
                await self.something.wait()
            return found

        return await asyncio.wait_for(wait(), PATIENCE)

    def open(self, file: Path, text: str | None = None, version: int = 1) -> str:
        uri = file.as_uri()
        self.versions[uri] = version
        text = file.read_text("utf-8") if text is None else text
        self.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "any", version, text)))
        return uri

    def type(self, uri: str, text: str) -> int:
        self.versions[uri] += 1
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[uri], uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        return self.versions[uri]

    async def diagnostics(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """What was published last of a document, not before its `version` was."""

        def come() -> list[types.PublishDiagnosticsParams]:
            told = self.published.get(uri, [])
            return [one for one in told if version is None or one.version == version]

        return list((await self.until(come))[-1].diagnostics)

    async def actions(self, uri: str, at: types.Range, *only: str) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=list(only) or None)
        found = await self.text_document_code_action_async(types.CodeActionParams(types.TextDocumentIdentifier(uri), at, context))
        return [one for one in found or () if isinstance(one, types.CodeAction)]

    async def hovered(self, uri: str, line: int, character: int) -> str:
        found = await self.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        )
        return found.contents.value if found is not None and isinstance(found.contents, types.MarkupContent) else ""


def codes(diagnostics: list[types.Diagnostic]) -> list[tuple[int, Any]]:
    return [(one.range.start.line, one.code) for one in diagnostics]


def at(line: int, character: int = 0) -> types.Range:
    return types.Range(types.Position(line, character), types.Position(line, character))


def edited(text: str, edits: list[types.TextEdit]) -> str:
    """A text with edits, as an editor makes them: places count UTF-16 units."""
    lines = text.splitlines(keepends=True)

    def offset(place: types.Position) -> int:
        before = "".join(lines[: place.line])
        row = (lines[place.line] if place.line < len(lines) else "").encode("utf-16-le")
        return len(before) + len(row[: 2 * place.character].decode("utf-16-le"))

    for edit in sorted(edits, key=lambda one: offset(one.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def edits_of(action: types.CodeAction) -> list[types.TextEdit]:
    assert action.edit is not None and action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    return [edit for edit in change.edits if isinstance(edit, types.TextEdit)]


@asynccontextmanager
async def editing(
    *folders: Path, capabilities: types.ClientCapabilities = PUSH, environment: dict[str, str] | None = None
) -> AsyncIterator[Editor]:
    """An editor with these folders open, and its server."""
    editor = Editor()
    env = {**os.environ, **(environment or {})}
    await editor.start_io(sys.executable, "-c", "from resilint.cli import main; main()", "lsp", env=env)
    try:
        await asyncio.wait_for(
            editor.initialize_async(
                types.InitializeParams(
                    capabilities=capabilities,
                    process_id=os.getpid(),
                    root_uri=None,
                    workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders],
                )
            ),
            PATIENCE,
        )
        editor.initialized(types.InitializedParams())
        yield editor
        await asyncio.wait_for(editor.shutdown_async(None), PATIENCE)
        editor.exit(None)
        assert editor._server is not None
        assert await asyncio.wait_for(editor._server.wait(), PATIENCE) == 0
    finally:
        if editor._server is not None and editor._server.returncode is None:
            editor._server.kill()
        await editor.stop()  # type: ignore[no-untyped-call]


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]


@pytest.fixture
def root(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Compiled knowledge is shared: without it each server would take seconds to start.
    monkeypatch.setenv("RESILINT_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "client.py").write_text(CLIENT)
    (folder / "app.py").write_text(APP)
    return folder


def test_findings_are_published_with_code_page_severity_trace_and_confidence(root: Path) -> None:
    async def test() -> None:
        async with editing(root) as editor:
            (found,) = await editor.diagnostics(editor.open(root / "app.py"))
            assert found.code == "RS101" and found.source == "resilint"
            assert found.severity == types.DiagnosticSeverity.Error
            assert found.range == types.Range(types.Position(4, 11), types.Position(4, 27))
            assert found.code_description is not None and found.code_description.href.endswith("RS101.md")
            assert found.data is not None and found.data["confidence"] in ("medium", "high")
            assert found.related_information is not None
            places = [(one.location.uri, one.location.range.start.line) for one in found.related_information]
            assert ((root / "client.py").as_uri(), 2) in places

    run(test)


def test_what_is_typed_counts_before_it_is_saved(root: Path) -> None:
    async def test() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "app.py")
            assert codes(await editor.diagnostics(uri)) == [(4, "RS101")]
            assert codes(await editor.diagnostics(uri, editor.type(uri, BOUNDED))) == []
            assert codes(await editor.diagnostics(uri, editor.type(uri, "# line\n" + APP))) == [(5, "RS101")]
            editor.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
            await editor.until(lambda: codes(list(editor.published[uri][-1].diagnostics)) == [(4, "RS101")])

    run(test)


def test_a_change_in_one_file_changes_what_is_found_in_another(root: Path) -> None:
    async def test() -> None:
        async with editing(root) as editor:
            app, client = editor.open(root / "app.py"), editor.open(root / "client.py")
            assert codes(await editor.diagnostics(app)) == [(4, "RS101")]
            editor.type(client, "session = object()\n")
            await editor.until(lambda: not editor.published[app][-1].diagnostics)

    run(test)


def test_an_editor_that_asks_for_diagnostics_is_told_when_to_ask_again(root: Path) -> None:
    async def ask(editor: Editor, uri: str, before: str | None = None) -> Any:
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=before)
        return await asyncio.wait_for(editor.text_document_diagnostic_async(params), PATIENCE)

    async def test() -> None:
        async with editing(root, capabilities=PULL) as editor:
            app, client = editor.open(root / "app.py"), editor.open(root / "client.py")
            first = await ask(editor, app)
            assert codes(first.items) == [(4, "RS101")]
            assert (await ask(editor, app, first.result_id)).kind == "unchanged"
            whole = await editor.workspace_diagnostic_async(types.WorkspaceDiagnosticParams([]))
            assert [
                (one.uri, codes(list(one.items)))
                for one in whole.items
                if isinstance(one, types.WorkspaceFullDocumentDiagnosticReport)
            ] == [(app, [(4, "RS101")])]
            known = [types.PreviousResultId(one.uri, one.result_id) for one in whole.items if one.result_id]
            waiting = asyncio.ensure_future(editor.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(known)))
            await asyncio.sleep(0.5)
            assert not waiting.done(), "nothing has changed"
            editor.refreshed.clear()
            editor.type(client, "session = object()\n")
            await editor.until(lambda: {"diagnostics", "lenses"} <= set(editor.refreshed))
            news = await asyncio.wait_for(waiting, PATIENCE)
            assert [
                (one.uri, list(one.items)) for one in news.items if isinstance(one, types.WorkspaceFullDocumentDiagnosticReport)
            ] == [(app, [])]
            assert (await ask(editor, app, first.result_id)).items == ()
            assert editor.published == {}, "who asks is not told as well"

    run(test)


def test_positions_count_what_the_editor_counts(root: Path) -> None:
    text = "import requests\n\n\ndef fetch():\n    a, b = '\U0001f600é', requests.get('x')\n"
    (root / "app.py").write_text(text, "utf-8")

    async def start(*encodings: types.PositionEncodingKind) -> int:
        general = types.GeneralClientCapabilities(position_encodings=list(encodings)) if encodings else None
        capabilities = types.ClientCapabilities(general=general, text_document=PUSH.text_document)
        async with editing(root, capabilities=capabilities) as editor:
            (found,) = await editor.diagnostics(editor.open(root / "app.py"))
            return found.range.start.character

    async def test() -> None:
        column = text.splitlines()[4].index("requests")
        assert await start() == column + 1
        assert await start(types.PositionEncodingKind.Utf8) == column + 4
        assert await start(types.PositionEncodingKind.Utf32) == column

    run(test)


def test_files_changed_outside_of_the_editor_are_seen_and_so_are_settings(root: Path) -> None:
    async def test() -> None:
        capabilities = types.ClientCapabilities(
            text_document=PUSH.text_document,
            workspace=types.WorkspaceClientCapabilities(
                did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
            ),
        )
        async with editing(root, capabilities=capabilities) as editor:
            await editor.until(lambda: types.WORKSPACE_DID_CHANGE_WATCHED_FILES in editor.registered)
            app = (root / "app.py").as_uri()
            assert codes(await editor.diagnostics(app)) == [(4, "RS101")]

            def touched(name: str, kind: types.FileChangeType) -> None:
                event = types.FileEvent((root / name).as_uri(), kind)
                editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

            (root / "app.py").write_text(BOUNDED)
            touched("app.py", types.FileChangeType.Changed)
            await editor.until(lambda: not editor.published[app][-1].diagnostics)
            (root / "other.py").write_text(APP)
            touched("other.py", types.FileChangeType.Created)
            other = (root / "other.py").as_uri()
            assert codes(await editor.diagnostics(other)) == [(4, "RS101")]
            (root / "resilint.yaml").write_text("severity: {RS101: info}\n")
            touched("resilint.yaml", types.FileChangeType.Created)
            await editor.until(lambda: editor.published[other][-1].diagnostics[0].severity == types.DiagnosticSeverity.Information)
            (root / "other.py").unlink()
            touched("other.py", types.FileChangeType.Deleted)
            await editor.until(lambda: not editor.published[other][-1].diagnostics)

    run(test)


def test_settings_that_cannot_be_used_are_said_at_their_place_and_the_server_lives_on(root: Path) -> None:
    (root / "resilint.yaml").write_text("confidence: low\n")

    async def test() -> None:
        async with editing(root) as editor:
            app, settings = editor.open(root / "app.py"), editor.open(root / "resilint.yaml")
            assert codes(await editor.diagnostics(app)) == [(4, "RS101")]
            (found,) = await editor.diagnostics(settings, editor.type(settings, "confidence: low\nexclud: [x]\n"))
            assert found.range.start.line == 1 and "exclude" in found.message
            assert codes(list(editor.published[app][-1].diagnostics)) == [(4, "RS101")], "what was found still stands"
            assert await editor.diagnostics(settings, editor.type(settings, "exclude: [app.py]\n")) == []
            await editor.until(lambda: not editor.published[app][-1].diagnostics)
            unknown = "exclude: [app.py]\nservices: {shop: {paths: [nowhere/**]}}\n"
            (found,) = await editor.diagnostics(settings, editor.type(settings, unknown))
            assert "nowhere" in found.message and found.range.start.line == 1
            own = (
                "knowledge:\n  - library: our_rpc\n    language: python\n    calls:\n      - {names: [our_rpc.go], does: nothing}\n"
            )
            (found,) = await editor.diagnostics(settings, editor.type(settings, own))
            assert found.range.start.line > 0
            assert await editor.diagnostics(settings, editor.type(settings, "ignore: [RS102]\n")) == []

    run(test)


def test_what_a_baseline_lists_is_left_out_as_check_does(root: Path) -> None:
    command = [sys.executable, "-c", "from resilint.cli import main; main()", "baseline", str(root)]
    subprocess.run(command, check=True, capture_output=True, cwd=root)

    async def test() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "app.py")
            assert await editor.diagnostics(uri) == []
            found = await editor.diagnostics(uri, editor.type(uri, APP + "\n\ndef again(url):\n    return session.post(url)\n"))
            assert codes(found) == [(8, "RS101")]
            (root / ".resilint-baseline.json").write_text("{")
            assert len(await editor.diagnostics(uri, editor.type(uri, "# x\n" + APP))) == 1
            await editor.until(lambda: any("baseline" in text for text in editor.logged))

    run(test)


def test_settings_that_are_broken_from_the_start_are_said_too(root: Path) -> None:
    (root / "resilint.yaml").write_text("exclud: [x]\n")

    async def test() -> None:
        async with editing(root) as editor:
            settings = (root / "resilint.yaml").as_uri()
            (found,) = await editor.diagnostics(settings)
            assert "exclude" in found.message
            editor.open(root / "resilint.yaml")
            editor.type(settings, "")
            assert codes(await editor.diagnostics((root / "app.py").as_uri())) == [(4, "RS101")]

    run(test)


# ---------------------------------------------------------------- actions

RULE = """
import os
import time

from resilint import Edit, Finding, Fix, Rule, Severity, Span
from msgspec import structs


def check(program):
    while program.focus is None and os.path.exists(os.environ.get("ACME_WAITS_FOR", "")):
        time.sleep(0.05)
    for path in program.files:
        for number, text in enumerate(program.source(path).decode().splitlines(), 1):
            for word, safe in (("forever", True), ("perhaps", False)):
                at = text.find(word)
                if at >= 0:
                    span = Span(path, number, at + 1, number, at + 1 + len(word))
                    fix = Fix(f"Set {word} to 2 s", (Edit(span, "2"),), safe)
                    yield structs.replace(RULE.finding(span, f"{word} is long"), fix=fix)
            if "crash" in text:
                raise ZeroDivisionError("no luck")


RULE = Rule("ACME1", "long-words", Severity.WARNING, "Long words.", frozenset({"py"}), check)
"""


@pytest.fixture
def acme(tmp_path: Path) -> dict[str, str]:
    """An environment in which a third party's rule with a fix is installed."""
    site = tmp_path / "site"
    (site / "acme_rules").mkdir(parents=True)
    (site / "acme_rules" / "__init__.py").write_text("print('a package that prints')\n")
    (site / "acme_rules" / "acme1_long_words.py").write_text(RULE)
    (site / "acme_rules" / "rule_docs").mkdir()
    (site / "acme_rules" / "rule_docs" / "ACME1.md").write_text("# ACME1 long-words\n\nLong words.\n")
    info = site / "acme_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[resilint.checks]\nacme = acme_rules\n")
    return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}


def test_fixes_are_offered_and_unsafe_ones_are_named_so(root: Path, acme: dict[str, str]) -> None:
    text = "wait = 'é\U0001f600', forever\nother = perhaps\nlast = forever\n"
    (root / "app.py").write_text(text, "utf-8")

    async def test() -> None:
        async with editing(root, environment=acme) as editor:
            uri = editor.open(root / "app.py")
            assert [code for _, code in codes(await editor.diagnostics(uri))] == ["ACME1"] * 3
            fix, *_ = await editor.actions(uri, at(0, 16), "quickfix")
            assert (fix.title, fix.is_preferred) == ("Set forever to 2 s", True)
            assert edited(text, edits_of(fix)) == text.replace("forever", "2", 1)
            unsafe, *_ = await editor.actions(uri, at(1, 8), "quickfix")
            assert "unsafe" in unsafe.title and not unsafe.is_preferred
            assert edited(text, edits_of(unsafe)) == text.replace("perhaps", "2")
            (everything,) = await editor.actions(uri, at(0), "source.fixAll")
            assert edited(text, edits_of(everything)) == text.replace("forever", "2")
            assert await editor.actions(uri, at(0, 1), "refactor") == []

    run(test)


def test_a_rule_that_breaks_is_logged_and_the_others_go_on(root: Path, acme: dict[str, str]) -> None:
    (root / "app.py").write_text(APP + "# crash\n")

    async def test() -> None:
        async with editing(root, environment=acme) as editor:
            uri = editor.open(root / "app.py")
            assert codes(await editor.diagnostics(uri)) == [(4, "RS101")]
            await editor.until(lambda: any("ACME1" in text and "no luck" in text for text in editor.logged))

    run(test)


SUPPRESSED = {
    "app.py": (
        "import requests\n\n\ndef fetch():\n    requests.get(\n        'x',\n    )\n",
        "RS101",
        "    # resilint: ignore[RS101]",
    ),
    "app.go": (
        'package app\n\nimport "net/http"\n\nfunc fetch() {\n\thttp.Get("http://x")\n}\n',
        "RS101",
        "\t// resilint: ignore[RS101]",
    ),
    "app/settings.properties": ("a=1\r\nwait=forever\r\n", "ACME1", "# resilint: ignore[ACME1]"),
    "nginx.conf": ("http {\n  proxy_read_timeout forever;\n}\n", "ACME1", "  # resilint: ignore[ACME1]"),
    "deploy.yaml": ("run: |\n  line forever\nname: x\n", "ACME1", None),
    "plain.yaml": ("run:\n  wait: forever\n", "ACME1", "  # resilint: ignore[ACME1]"),
    "beans.xml": ('<beans>\n  <bean id="forever"/>\n</beans>\n', "ACME1", "  <!-- resilint: ignore[ACME1]"),
    "package.json": ('{"wait": "forever"}\n', "ACME1", None),
    "text.py": ('TEXT = """\nforever\n"""\n', "ACME1", None),
    "twice.py": (
        "import requests\n\n\ndef fetch():\n    # resilint: ignore[RS102] both\n    requests.get('x')\n",
        "RS101",
        "    # resilint: ignore[RS102, RS101] both",
    ),
}


@pytest.mark.parametrize("name", SUPPRESSED)
def test_a_suppression_is_offered_where_the_syntax_has_a_place_for_it_and_suppresses(
    name: str, root: Path, acme: dict[str, str]
) -> None:
    text, code, comment = SUPPRESSED[name]
    (root / "app.py").unlink()
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_bytes(text.encode())

    async def test() -> None:
        async with editing(root, environment=acme) as editor:
            uri = editor.open(root / name, text)
            found = [one for one in await editor.diagnostics(uri) if one.code == code]
            assert len(found) == 1
            actions = await editor.actions(uri, found[0].range, "quickfix")
            offered = [action for action in actions if action.title.startswith("Suppress")]
            if comment is None:
                assert offered == []
                return
            after = edited(text, edits_of(offered[0]))
            assert any(line.startswith(comment) for line in after.splitlines()), after
            assert ("\r\n" in text) == ("\r\n" in after) and after.count("\n") - text.count("\n") <= 1
            left = await editor.diagnostics(uri, editor.type(uri, after))
            assert code not in [one.code for one in left]

    run(test)


def test_a_rule_is_explained_by_its_page(root: Path) -> None:
    async def test() -> None:
        async with editing(root, capabilities=PULL) as editor:
            uri = editor.open(root / "app.py")
            actions = await editor.actions(uri, at(4, 12))
            (explain,) = [action for action in actions if action.title.startswith("Explain RS101")]
            assert explain.command is not None
            params = types.ExecuteCommandParams(explain.command.command, explain.command.arguments)
            page = await editor.workspace_execute_command_async(params)
            assert isinstance(page, str) and page.startswith("# RS101 client-without-timeout")
            assert editor.shown[-1].endswith("rule_docs/RS101.md")

    run(test)


# ---------------------------------------------------------------- hovers and lenses

SERVICE = """\
import requests
from flask import Flask

app = Flask(__name__)
LIMIT = 3


def load(url):
    return requests.get(url, timeout=LIMIT)


@app.get("/all")
def every():
    for _ in range(2):
        load("http://a")
    return requests.get("http://b", timeout=(1, 4)).text
"""
DEADLINE = 'services: {shop: {paths: ["app.py"], callers: {gateway: {timeout: 5s}}}}\n'


def test_a_hover_says_what_bounds_a_wait_and_how_long_a_function_takes(root: Path) -> None:
    (root / "app.py").write_text(SERVICE)
    (root / "resilint.yaml").write_text(DEADLINE)
    (root / "application.properties").write_text("spring.datasource.hikari.connection-timeout=2500\n")

    async def test() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "app.py")
            wait = await editor.hovered(uri, 8, 20)
            assert "`requests.get`" in wait and "3 s" in wait and "app.py:5" in wait
            function = await editor.hovered(uri, 7, 6)
            assert "`load`" in function and "3 s" in function
            handler = await editor.hovered(uri, 12, 6)
            assert "`every`" in handler and "gateway" in handler and "Deadline: 5 s" in handler
            assert "`load`" in await editor.hovered(uri, 14, 10)
            assert await editor.hovered(uri, 3, 0) == ""
            setting = await editor.hovered(editor.open(root / "application.properties"), 0, 12)
            own = editor.open(root / "resilint.yaml")
            assert "`services.shop.callers.gateway.timeout`" in await editor.hovered(own, 0, DEADLINE.index("timeout") + 2)
            assert "connection-timeout" in setting and "pool_wait" in setting and "unit ms" in setting

    run(test)


def test_a_hover_tells_what_is_written_from_what_is_left_out_and_a_read_from_the_whole_call(root: Path) -> None:
    lines = [
        "import httpx, requests",
        "def load(url, seconds):",
        "    httpx.get(url)",
        "    requests.get(url)",
        "    requests.get(url, timeout=(1, 2))",
        "    requests.get(url, timeout=None)",
        "def open_ended(url, seconds):",
        "    requests.get(url, timeout=seconds)",
    ]
    (root / "app.py").write_text("\n".join(lines) + "\n")

    async def test() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "app.py")
            by_default = await editor.hovered(uri, 2, 6)
            assert "at most 5 s" in by_default and "5 s, by default" in by_default and "written at" not in by_default
            assert "not set, left out at [app.py:4]" in await editor.hovered(uri, 3, 6)
            assert "at most 2 s for each read" in await editor.hovered(uri, 4, 6)
            assert "switched off, written at [app.py:6]" in await editor.hovered(uri, 5, 6)
            assert "takes a time that is not known" in await editor.hovered(uri, 6, 6)

    run(test)


def test_a_lens_holds_the_worst_case_of_an_entry_point_against_its_deadline(root: Path) -> None:
    (root / "app.py").write_text(SERVICE)
    (root / "resilint.yaml").write_text(DEADLINE)

    async def test() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "app.py")
            lenses = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
            (lens,) = lenses or ()
            assert lens.range.start.line in (11, 12) and lens.command is not None
            assert lens.command.title.startswith("worst ") and " of 5 s (" in lens.command.title
            params = types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
            assert "requests.get" in str(await editor.workspace_execute_command_async(params))
            await editor.until(lambda: editor.shown)

    run(test)


# ---------------------------------------------------------------- life


def test_opening_and_saving_what_is_known_already_analyses_nothing_again(root: Path) -> None:
    async def test() -> None:
        async with editing(root, capabilities=PULL) as editor:
            uri = editor.open(root / "app.py")
            ask = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
            first = await editor.text_document_diagnostic_async(ask)
            await editor.until(lambda: "lenses" in editor.refreshed)
            editor.refreshed.clear()
            other = editor.open(root / "client.py")
            editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
            event = types.FileEvent(uri, types.FileChangeType.Changed)
            editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
            await asyncio.sleep(0.5)
            again = await editor.text_document_diagnostic_async(ask)
            assert again == first and editor.refreshed == []
            editor.type(other, "session = object()\n")
            later = await editor.text_document_diagnostic_async(ask)
            assert isinstance(later, types.RelatedFullDocumentDiagnosticReport) and not later.items
            await editor.until(lambda: "lenses" in editor.refreshed)

    run(test)


def test_folders_come_and_go(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "main.py").write_text("import requests\n\nrequests.get('x')\n")

    async def test() -> None:
        async with editing(root) as editor:
            await editor.diagnostics((root / "app.py").as_uri())
            folder = types.WorkspaceFolder(other.as_uri(), "other")
            editor.workspace_did_change_workspace_folders(
                types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent([folder], []))
            )
            uri = (other / "main.py").as_uri()
            assert codes(await editor.diagnostics(uri)) == [(2, "RS101")]
            editor.workspace_did_change_workspace_folders(
                types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent([], [folder]))
            )
            await editor.until(lambda: not editor.published[uri][-1].diagnostics)

    run(test)


def test_a_file_without_a_folder_is_checked_with_the_project_around_it(root: Path) -> None:
    (root / ".git").mkdir()

    async def test() -> None:
        async with editing() as editor:
            assert codes(await editor.diagnostics(editor.open(root / "app.py"))) == [(4, "RS101")]

    run(test)


def test_a_newer_change_and_a_cancelled_question_leave_nothing_behind(root: Path) -> None:
    async def test() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "app.py")
            await editor.diagnostics(uri)
            for number in range(30):
                editor.type(uri, f"# {number}\n" + APP)
                asked = asyncio.ensure_future(editor.hovered(uri, 5, 14))
                await asyncio.sleep(0.01)
                asked.cancel()
            last = editor.type(uri, "# last\n" + APP)
            assert codes(await editor.diagnostics(uri, last)) == [(5, "RS101")]
            assert len(editor.published[uri]) < 15, "not every key is worth an analysis"
            assert "requests" in await editor.hovered(uri, 5, 14)

    run(test)


def test_what_an_unfinished_line_hides_of_other_files_stays_until_it_is_saved(root: Path) -> None:
    unfinished = CLIENT.replace("Session()", "Session(")

    async def test() -> None:
        async with editing(root) as editor:
            app, client = editor.open(root / "app.py"), editor.open(root / "client.py")
            assert codes(await editor.diagnostics(app)) == [(4, "RS101")]
            told = len(editor.published[app])
            assert codes(await editor.diagnostics(client, editor.type(client, unfinished))) == [(2, "RS002")]
            assert codes(await editor.diagnostics(app, editor.type(app, "# line\n" + APP))) == []
            editor.type(app, APP)
            assert codes(await editor.diagnostics(client, editor.type(client, CLIENT))) == []
            assert codes(await editor.diagnostics(app, editor.versions[app])) == [(4, "RS101")]
            assert codes(await editor.diagnostics(client, editor.type(client, unfinished))) == [(2, "RS002")]
            await asyncio.sleep(0.5)
            assert codes(list(editor.published[app][-1].diagnostics)) == [(4, "RS101")], "touched by nobody"
            assert len(editor.published[app]) > told
            (root / "client.py").write_text(unfinished)
            editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(client)))
            await editor.until(lambda: not editor.published[app][-1].diagnostics)

    run(test)


def test_an_editor_that_tells_of_no_changes_outside_sees_them_when_it_saves(root: Path) -> None:
    (root / "closed.py").write_text(CLIENT)
    (root / "same_size.py").write_text(BOUNDED.replace("client", "closed"))

    async def test() -> None:
        async with editing(root) as editor:
            app = editor.open(root / "app.py")
            assert codes(await editor.diagnostics(app)) == [(4, "RS101")]

            def save() -> None:
                editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(app)))

            (root / "client.py").write_text(CLIENT.replace("requests", "requestz"))
            (root / "other.py").write_text("import requests\n\nrequests.get('https://b')\n")
            (root / "same_size.py").write_text(BOUNDED.replace(", timeout=2)", ")           ").replace("client", "closed"))
            save()
            other, same = (root / "other.py").as_uri(), (root / "same_size.py").as_uri()
            await editor.until(lambda: not editor.published[app][-1].diagnostics)
            for uri, line in ((other, 2), (same, 4)):
                assert codes(await editor.diagnostics(uri)) == [(line, "RS101")]
            (root / "other.py").unlink()
            (root / "client.py").write_text(CLIENT)
            save()
            await editor.until(lambda: codes(list(editor.published[app][-1].diagnostics)) == [(4, "RS101")])
            await editor.until(lambda: not editor.published[other][-1].diagnostics)
            (root / "resilint.yaml").write_text("ignore: [RS101]\n")
            save()
            await editor.until(lambda: not editor.published[app][-1].diagnostics)

    run(test)


def test_files_that_are_no_part_of_the_program_neither_stop_an_analysis_nor_start_one(root: Path) -> None:
    log = root / "service.log"
    seconds = 0.05

    async def test() -> None:
        async with editing(root, capabilities=WATCHING) as editor:
            app = editor.open(root / "app.py")
            assert codes(await editor.diagnostics(app)) == [(4, "RS101")]

            async def writes() -> None:
                while True:
                    with log.open("a") as stream:
                        stream.write("line\n")
                    change = types.FileEvent(log.as_uri(), types.FileChangeType.Changed)
                    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
                    await asyncio.sleep(seconds)

            writer = asyncio.ensure_future(writes())
            try:
                assert codes(await editor.diagnostics(app, editor.type(app, BOUNDED))) == []
            finally:
                writer.cancel()
            readme = editor.open(root / "README.md", "# This\n")
            await editor.diagnostics(readme, 1)
            assert editor._server is not None
            (analysis,) = _children(editor._server.pid)
            for number in range(3):
                await editor.diagnostics(readme, editor.type(readme, f"# {number}\n"))
                assert not _children(analysis), "nothing is checked for what nobody reads"

    run(test)


def test_diagnostics_of_a_folder_that_goes_are_taken_back_and_those_of_one_that_comes_again_are_new(
    root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("app.py", "client.py"):
        (other / name).write_text((root / name).read_text())
    uri = (other / "app.py").as_uri()
    folder = types.WorkspaceFolder(other.as_uri(), "other")

    async def test() -> None:
        async with editing(root, other, capabilities=PULL) as editor:

            async def asked(known: str | None = None) -> Any:
                document = types.TextDocumentIdentifier(uri)
                return await editor.text_document_diagnostic_async(
                    types.DocumentDiagnosticParams(document, previous_result_id=known)
                )

            def change(*, gone: bool) -> None:
                event = types.WorkspaceFoldersChangeEvent(added=[] if gone else [folder], removed=[folder] if gone else [])
                editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

            first = await asked()
            assert codes(first.items) == [(4, "RS101")]
            change(gone=True)
            for _ in range(5):
                report = await editor.workspace_diagnostic_async(
                    types.WorkspaceDiagnosticParams([types.PreviousResultId(uri, first.result_id)])
                )
                taken = [one for one in report.items if one.uri == uri]
                if taken:
                    break
            assert [list(one.items) for one in taken if isinstance(one, types.WorkspaceFullDocumentDiagnosticReport)] == [[]]
            (other / "app.py").write_text("\n" + APP)
            change(gone=False)
            again = await asked(first.result_id)
            assert codes(again.items) == [(5, "RS101")]

    run(test)


def test_a_rule_is_explained_where_no_document_can_be_shown(root: Path) -> None:
    async def test() -> None:
        async with editing(root) as editor:
            answer = await editor.workspace_execute_command_async(types.ExecuteCommandParams("resilint.explain", ["RS101"]))
            assert str(answer).startswith("# RS101")
            shown = await editor.until(lambda: editor.shown)
            assert shown[-1].startswith("RS101 client-without-timeout\n\nA network client") and "RS101.md" in shown[-1]

    run(test)


def test_no_worker_is_left_of_an_analysis_that_is_killed_while_it_reads(root: Path) -> None:
    for number in range(1500):
        (root / f"service_{number}.py").write_text(f"# {number}\n" + APP)

    async def test() -> None:
        async with editing(root) as editor:
            assert editor._server is not None
            workers: list[int] = []
            while not workers:
                await asyncio.sleep(0.02)
                for analysis in _children(editor._server.pid):
                    workers = _children(analysis)
            os.kill(analysis, signal.SIGKILL)
            for _ in range(200):
                if not any(Path(f"/proc/{worker}").exists() for worker in workers):
                    return
                await asyncio.sleep(0.1)
            raise AssertionError("a worker goes on")

    run(test)


def test_progress_is_told_while_a_program_is_read(root: Path) -> None:
    for number in range(1500):
        (root / f"service_{number}.py").write_text(APP)

    async def test() -> None:
        async with editing(root, capabilities=PULL) as editor:
            await editor.until(lambda: [one for one in editor.told_progress if one.get("kind") == "end"])
            kinds = [one.get("kind") for one in editor.told_progress]
            assert kinds[0] == "begin" and kinds.count("begin") == kinds.count("end")

    run(test)


def test_an_analysis_that_is_killed_starts_again(root: Path) -> None:
    async def test() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "app.py")
            await editor.diagnostics(uri)
            assert editor._server is not None
            for child in _children(editor._server.pid):
                os.kill(child, signal.SIGKILL)
            await editor.until(lambda: any("ended with" in text for text in editor.logged))
            assert codes(await editor.diagnostics(uri, editor.type(uri, BOUNDED))) == []

    run(test)


def _children(parent: int) -> list[int]:
    found = Path(f"/proc/{parent}/task/{parent}/children")
    if not found.exists():
        pytest.skip("this system does not tell the children of a process")
    return [int(word) for word in found.read_text().split()]


def test_where_no_process_can_be_forked_all_is_done_by_one(root: Path, acme: dict[str, str]) -> None:
    async def test() -> None:
        async with editing(root, environment={**acme, "RESILINT_LSP_NO_FORK": "1"}) as editor:
            uri = editor.open(root / "app.py")
            assert codes(await editor.diagnostics(uri)) == [(4, "RS101")]
            assert "requests" in await editor.hovered(uri, 4, 14)
            for number in range(10):
                editor.type(uri, f"# {number}\n" + APP)
                await asyncio.sleep(0.05)
            assert codes(await editor.diagnostics(uri, editor.type(uri, BOUNDED + "# forever\n"))) == [(5, "ACME1")]

    run(test)


def test_a_large_program_has_a_first_answer_and_then_the_whole_one(root: Path) -> None:
    """What it says is followed from change to change, whichever of the two comes when."""

    async def test() -> None:
        async with editing(root, environment={"RESILINT_LSP_FIRST_FROM": "0"}) as editor:
            uri = editor.open(root / "app.py")
            assert codes(await editor.diagnostics(uri)) == [(4, "RS101")]
            for number in range(5):
                above = "# x\n" * number
                assert codes(await editor.diagnostics(uri, editor.type(uri, above + APP))) == [(4 + number, "RS101")]
            assert codes(await editor.diagnostics(uri, editor.type(uri, BOUNDED))) == []
            version = editor.type(uri, APP)
            assert codes(await editor.diagnostics(uri, version)) == [(4, "RS101")]
            other = editor.open(root / "client.py", CLIENT.replace("Session()", "Session()\nsession.get(url)"))
            assert codes(await editor.diagnostics(other)) == [(3, "RS101")]
            assert {tuple(codes(list(one.diagnostics))) for one in editor.published[uri] if one.version == version} == {
                ((4, "RS101"),)
            }

    run(test)


def test_while_the_whole_program_is_checked_files_that_are_opened_or_saved_have_an_answer(
    root: Path, tmp_path: Path, acme: dict[str, str]
) -> None:
    (root / "other.py").write_text(APP + "# forever\n")
    (root / "fresh.py").write_text("")
    busy = tmp_path / "busy"

    async def test() -> None:
        async with editing(root, environment={**acme, "RESILINT_LSP_FIRST_FROM": "0", "ACME_WAITS_FOR": str(busy)}) as editor:
            uri = editor.open(root / "app.py")
            assert codes(await editor.diagnostics(uri)) == [(4, "RS101")]
            await editor.diagnostics((root / "other.py").as_uri())
            busy.touch()
            version = editor.type(uri, "\n" + APP)
            assert codes(await editor.diagnostics(uri, version)) == [(5, "RS101")]
            other = editor.open(root / "other.py", version=7)
            fresh = editor.open(root / "fresh.py", version=3)
            assert codes(await editor.diagnostics(other, 7)) == [(4, "RS101"), (5, "ACME1")]
            assert codes(await editor.diagnostics(fresh, 3)) == []
            version = editor.type(uri, "\n\n" + APP)
            editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
            assert codes(await editor.diagnostics(uri, version)) == [(6, "RS101")]
            busy.unlink()

    run(test)


def test_where_diagnostics_are_asked_for_the_first_answer_is_one(root: Path) -> None:
    async def test() -> None:
        async with editing(root, capabilities=PULL, environment={"RESILINT_LSP_FIRST_FROM": "0"}) as editor:
            uri = editor.open(root / "app.py")

            async def pulled() -> list[tuple[int, Any]]:
                params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
                report = await asyncio.wait_for(editor.text_document_diagnostic_async(params), PATIENCE)
                assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
                return codes(list(report.items))

            assert await pulled() == [(4, "RS101")]
            for text, wanted in ((BOUNDED, []), ("\n" + APP, [(5, "RS101")]), (BOUNDED, []), (APP, [(4, "RS101")])):
                editor.type(uri, text)
                assert await pulled() == wanted

    run(test)


def test_leaving_without_a_word_is_an_error_and_ends_every_process(root: Path) -> None:
    async def test() -> None:
        editor = Editor()
        await editor.start_io(sys.executable, "-c", "from resilint.cli import main; main()", "lsp")
        folders = [types.WorkspaceFolder(root.as_uri(), "work")]
        await editor.initialize_async(types.InitializeParams(capabilities=PUSH, workspace_folders=folders))
        editor.initialized(types.InitializedParams())
        await editor.diagnostics(editor.open(root / "app.py"))
        assert editor._server is not None
        children = _children(editor._server.pid)
        assert children
        editor.exit(None)
        assert await asyncio.wait_for(editor._server.wait(), PATIENCE) == 1
        await editor.stop()  # type: ignore[no-untyped-call]
        for _ in range(100):
            if not any(Path(f"/proc/{child}").exists() for child in children):
                return
            await asyncio.sleep(0.1)
        raise AssertionError("a process goes on")

    run(test)


def test_what_is_hostile_beside_or_in_a_document_keeps_no_diagnostics_back(root: Path) -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 60))
    (root / "aliases.yaml").write_text(bomb)
    (root / os.fsdecode(b"caf\xe9\nline.py")).write_text(APP)
    (root / "binary.py").write_bytes(bytes(range(256)) * 40)
    (root / "wide.py").write_text(APP, "utf-16")
    (root / "loop.py").symlink_to("loop.py")
    (root / "device.py").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.py")

    async def test() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "app.py")
            assert codes(await editor.diagnostics(uri)) == [(4, "RS101")]
            for text in (
                "def f():\n  x = " + "and +" * 2000,
                "(" * 20_000,
                "\0" * 500,
                "x = '\u202e" + "\\" * 9000,
                "\r" * 9000 + "(",
            ):
                assert {code for _, code in codes(await editor.diagnostics(uri, editor.type(uri, text)))} == {"RS002"}
            assert codes(await editor.diagnostics(uri, editor.type(uri, APP))) == [(4, "RS101")]

    run(test)


TURNS: dict[str, Callable[[Path], object]] = {
    "a file that is gone": lambda file: None,
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a link to itself": lambda file: file.symlink_to(file.name),
    "a link out of the folder": lambda file: file.symlink_to("/etc/hostname"),
    "a file that nobody may read": lambda file: file.touch(0),
    "bytes that are no text": lambda file: file.write_bytes(b"\0\xff\xfe" * 900),
}


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("turn", TURNS)
def test_a_file_that_turns_into_something_unreadable_keeps_no_diagnostics_back(root: Path, turn: str, told: bool) -> None:
    """Whether the editor tells of it or not."""

    async def test() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "app.py")
            assert codes(await editor.diagnostics(uri)) == [(4, "RS101")]
            (root / "client.py").unlink()
            TURNS[turn](root / "client.py")
            if told:
                event = types.FileEvent((root / "client.py").as_uri(), types.FileChangeType.Changed)
                editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
            else:
                editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
            alone = "import requests\n\n\ndef fetch(url):\n    return requests.get(url)\n"
            assert codes(await editor.diagnostics(uri, editor.type(uri, alone))) == [(4, "RS101")]
            if (root / "client.py").is_dir():
                (root / "client.py").rmdir()
            else:
                (root / "client.py").unlink(missing_ok=True)
            (root / "client.py").write_text(CLIENT)
            event = types.FileEvent((root / "client.py").as_uri(), types.FileChangeType.Created)
            editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
            assert codes(await editor.diagnostics(uri, editor.type(uri, APP + "\n"))) == [(4, "RS101")]

    run(test)
