"""The extension for VS Code is built, packed, and its protocol library talks with the server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"

NEEDED = 20
"""The version of Node.js that the packer asks for."""


def _node() -> int:
    if shutil.which("node") is None or shutil.which("npm") is None:
        return 0
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    return int(said.strip().removeprefix("v").partition(".")[0] or 0)


pytestmark = [
    pytest.mark.skipif(_node() < NEEDED, reason=f"Node.js {NEEDED} with npm is not installed"),
    # Tests use no network.
    pytest.mark.skipif(not (EXTENSION / "node_modules").is_dir(), reason="`npm ci` was not run in editors/vscode"),
]


def npm(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        ["npm", "run", *arguments], cwd=EXTENSION, env={**os.environ, **environment}, timeout=180, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_extension_is_built_and_packed(tmp_path: Path) -> None:
    npm("check")
    npm("build")
    packed = tmp_path / "resilint.vsix"
    npm("package", "--", "--out", str(packed))
    with zipfile.ZipFile(packed) as archive:
        files = {name for name in archive.namelist() if name.startswith("extension/")}
        assert {"extension/dist/extension.js", "extension/package.json"} <= files
        assert not any("node_modules" in name or name.endswith(".ts") for name in files)


def test_its_protocol_library_talks_with_the_server(tmp_path: Path) -> None:
    npm("build")
    server = tmp_path / "server"
    server.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from resilint.cli import main; main()" "$@"\n')
    server.chmod(0o755)
    npm("test", RESILINT=str(server), RESILINT_CACHE_DIR=str(tmp_path / "cache"))


def test_the_lock_file_names_no_host() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text("utf-8"))
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]
