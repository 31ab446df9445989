"""Notes what a run and all its Python processes do to the world. Only tests put this folder on the path of an interpreter.

A line of JSON for each event: its name, and what it is about. Sees what Python's own functions do, not what libraries in C do.
"""

from __future__ import annotations

import json
import os
import sys

_LOG = os.open(os.environ["RESILINT_AUDIT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NOTED = ("socket.", "subprocess.", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "os.rename")
_ALSO = frozenset(
    ("os.mkdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.truncate", "os.utime", "shutil.rmtree", "pty.spawn")
)


def _note(event: str, *about: object) -> None:
    os.write(_LOG, json.dumps([event, *map(str, about)]).encode() + b"\n")


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        path, mode, flags = arguments
        # A number is a descriptor that is open already.
        if isinstance(path, int):
            return
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & _WRITES):
            _note(event, os.fsdecode(path) if isinstance(path, bytes) else path)
    elif event == "exec":
        # Every module that is imported is executed, from wherever it comes.
        _note(event, getattr(arguments[0], "co_filename", ""))
    elif event in ("os.remove", "os.rmdir"):
        path, folder = arguments
        _note(event, path if folder == -1 else f"{os.readlink(f'/proc/self/fd/{folder}')}/{path}")
    elif event == "sqlite3.connect" or event.startswith(_NOTED) or event in _ALSO:
        _note(event, *arguments)


_note("start", *sys.orig_argv)
sys.addaudithook(_hook)
