"""The shipped files."""

from __future__ import annotations

from pathlib import Path

import pytest
from resilint.knowledge import Knowledge, load
from resilint.knowledge.index import duplicates
from resilint.knowledge.loader import SHIPPED, parse

FILES = sorted(SHIPPED.glob("*/*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_file_is_valid_and_in_its_language(file: Path) -> None:
    for library in parse([file]):
        assert library.language == file.parent.name
        assert library.source


def test_no_name_is_claimed_twice() -> None:
    assert duplicates(load().libraries) == []


def test_what_rows_refer_to_exists() -> None:
    missing = []
    knowledge = load()
    for library in knowledge.libraries:
        table = knowledge.of(library.language)
        for type_entry in library.types:
            if type_entry.any_method is not None and table.call(type_entry.any_method) is None:
                missing.append(f"{library.library}: {type_entry.name}: any_method {type_entry.any_method}")
        for call in library.calls:
            if call.holder is not None and table.instance(call.holder) is None and table.type(call.holder) is None:
                missing.append(f"{library.library}: {call.names[0]}: holder {call.holder}")
            if call.server is not None and table.type(call.server) is None:
                missing.append(f"{library.library}: {call.names[0]}: server {call.server}")
        for shape in library.shapes:
            if table.type(shape.type) is None:
                missing.append(f"{library.library}: shape {shape.name}: type {shape.type}")
    assert missing == []


def test_examples() -> None:
    knowledge: Knowledge = load()
    get = knowledge.of("python").call("requests.sessions.Session.get")
    assert get is not None and get.does == "network"
    do = knowledge.of("go").call("net/http.DefaultClient.Do")
    assert do is not None and do.request == 0
