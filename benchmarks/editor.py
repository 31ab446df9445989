"""Time from a change in an editor to its diagnostics, and of a hover meanwhile, over a tree of files.

    python benchmarks/editor.py FOLDER [--changes N]

The changed files are spread over the tree; each change adds a call that waits, and ends when that is found. The pause after which
the server begins is part of what is measured. A file is changed two seconds after it was opened: nobody types sooner, and meanwhile
the whole program is being checked after the change before. The first change is not counted: until it is answered the tree is being
indexed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 600.0
READING = 2.0
"""Seconds from opening a file to the first change in it."""


def p95(times: list[float]) -> float:
    """The time that 95 of 100 do not exceed."""
    return sorted(times)[max(0, -(-95 * len(times) // 100) - 1)]


async def timed(begin: float, times: list[float], work: Awaitable[object]) -> None:
    """Notes how long after `begin` something is done."""
    await work
    times.append(time.perf_counter() - begin)


async def measure(folder: Path, changes: int) -> None:
    """Opens the folder and changes files of it, one after the other."""
    editor = LanguageClient("benchmark", "1")
    told: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
    editor.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: told.put_nowait(params))
    editor.feature(types.WINDOW_LOG_MESSAGE)(lambda params: print(params.message, file=sys.stderr))
    await editor.start_io(sys.executable, "-m", "resilint.cli", "lsp")
    documents = types.TextDocumentClientCapabilities(publish_diagnostics=types.PublishDiagnosticsClientCapabilities())
    await editor.initialize_async(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(text_document=documents),
            process_id=os.getpid(),
            workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name)],
        )
    )
    start = time.perf_counter()
    editor.initialized(types.InitializedParams())
    files = [file for file in sorted(folder.rglob("*.py")) if "test" not in str(file.relative_to(folder))]
    chosen = files[:: max(1, len(files) // (changes + 1))][: changes + 1]

    async def diagnostics(uri: str, version: int, line: int | None = None) -> None:
        while True:
            one = await asyncio.wait_for(told.get(), PATIENCE)
            lines = {found.range.start.line for found in one.diagnostics}
            if one.uri == uri and one.version == version and (line is None or line in lines):
                return

    times: list[float] = []
    hovers: list[float] = []
    for number, file in enumerate(chosen):
        uri, text = file.as_uri(), file.read_text("utf-8", "replace")
        editor.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text)))
        await diagnostics(uri, 1)
        if number == 0:
            print(f"first diagnostics after {time.perf_counter() - start:.2f} s")
        await asyncio.sleep(READING)
        changed = text + "\n\ndef added_by_the_benchmark(url):\n    import requests\n\n    return requests.get(url)\n"
        begin = time.perf_counter()
        editor.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(2, uri), [types.TextDocumentContentChangeWholeDocument(changed)]
            )
        )
        line = changed.count("\n") - 1
        place = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, 16))
        await asyncio.gather(
            timed(begin, times, diagnostics(uri, 2, line)), timed(begin, hovers, editor.text_document_hover_async(place))
        )
        print(f"{times[-1]:6.3f} s, hover {hovers[-1]:6.3f} s  {file.relative_to(folder)}", flush=True)
    del times[0], hovers[0]
    print(f"change to diagnostics: median {statistics.median(times):.2f} s, p95 {p95(times):.2f} s of {len(times)} changes")
    print(f"change to hover: median {statistics.median(hovers):.2f} s, p95 {p95(hovers):.2f} s")
    await editor.shutdown_async(None)
    editor.exit(None)
    await editor.stop()  # type: ignore[no-untyped-call]


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--changes", type=int, default=20)
    options = parser.parse_args()
    asyncio.run(measure(options.folder.resolve(), options.changes))


if __name__ == "__main__":
    main()
