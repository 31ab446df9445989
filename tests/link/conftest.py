"""Small programs in a folder, linked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from resilint.program import Program
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import Settings

Linked = Callable[[dict[str, str]], Program]


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    """Writes files and links them."""

    def build(files: dict[str, str]) -> Program:
        for path, text in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text), "utf-8")
        scope, settings = Scope(tmp_path, tmp_path), Settings()
        texts = Texts(tmp_path)
        return link(read_program(scope, settings, texts), settings, texts)

    return build
