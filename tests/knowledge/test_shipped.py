"""The shipped files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from resilint.knowledge import Knowledge, load
from resilint.knowledge.index import duplicates
from resilint.knowledge.loader import SHIPPED, parse
from resilint.knowledge.problems import dangling
from resilint.knowledge.schema import Bound, Library

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


def test_methods_belong_to_types_that_are_described() -> None:
    known = load().libraries
    missing: list[str] = []
    for file in FILES:
        missing += dangling(parse([file]), known, f"{file.parent.name}/{file.name}", lambda path: 1, several=False)
    assert missing == []


def rows_of(library: Library) -> Iterator[tuple[str, Bound, bool]]:
    """All bounds of a file: whose, the bound, and whether it is one of a type."""
    for type_entry in library.types:
        yield from ((type_entry.name, bound, True) for bound in type_entry.bounds)
    for call in library.calls:
        yield from ((call.names[0], bound, False) for bound in call.bounds)


def test_java_types_that_rows_speak_of_exist() -> None:
    knowledge = load()
    table = knowledge.of("java")
    missing = []
    for library in table.libraries:
        for entry in library.types:
            others = {*entry.bases, *entry.by_scheme.values(), *entry.returns.values()} - {"this"}
            others |= {part.default for part in entry.parts if part.default is not None}
            missing += [f"{entry.name}: {other}" for other in sorted(others) if table.type(other) is None]
        for call in library.calls:
            if call.returns is not None and table.type(call.returns) is None:
                missing.append(f"{call.names[0]}: {call.returns}")
            if call.spawn is not None and call.spawn.default_executor is not None:
                executor = table.instance(call.spawn.default_executor)
                if executor is None or not executor.shared:
                    missing.append(f"{call.names[0]}: {call.spawn.default_executor}")
    assert missing == []


def test_units_beside_a_number() -> None:
    """A row whose number has its unit in another argument knows where the number is, and the two are not the same place."""
    wrong = [
        f"{library.library}: {owner}"
        for library in load().libraries
        for owner, bound, _ in rows_of(library)
        if bound.unit_pos is not None
        and (
            bound.unit in ("count", "bool", "bytes") or (bound.pos is None and bound.setter is None) or bound.pos == bound.unit_pos
        )
    ]
    assert wrong == []


def test_a_setter_has_no_place_in_the_constructor() -> None:
    """`pos` beside `setter` counts the setter's arguments: a constructor's needs a row of its own."""
    knowledge = load()
    for library in knowledge.of("java").libraries:
        for owner, bound, of_type in rows_of(library):
            assert of_type or bound.setter is None, owner
            assert bound.key is None or bound.setter is None or bound.pos is None or bound.pos > 0, owner


def test_calls_that_can_be_given_no_bound_elsewhere_are_not_endless() -> None:
    """An object from elsewhere may carry the bound, so a Java call on one has no endless row that nobody could write."""
    table = load().of("java")
    wrong = []
    for library in table.libraries:
        for call in library.calls:
            if call.does not in ("network", "query", "connect"):
                continue
            for bound in call.bounds:
                written = bound.arg is not None or bound.pos is not None or bound.option is not None
                if not written and bound.default == "endless":
                    wrong.append(f"{library.library}: {call.names[0]}: {bound.slot}")
    assert wrong == []


def test_examples_of_java() -> None:
    table = load().of("java")
    cached = table.call("java.util.concurrent.Executors.newCachedThreadPool")
    assert cached is not None and {bound.slot: bound.default for bound in cached.bounds} == {
        "core": 0,
        "concurrency": "endless",
        "capacity": 0,
    }
    assert table.returns_itself("okhttp3.OkHttpClient.Builder.proxy")
    assert table.returned("okhttp3.OkHttpClient.Builder.build") == "okhttp3.OkHttpClient"
    put = table.queue("java.util.concurrent.ArrayBlockingQueue.put")
    assert put is not None and put.when_full == "waits"
    text = table.hash("java.lang.String.hashCode")
    assert text is not None and text.kind == "stable"
    assert table.shape("com.acme.AccountsGrpc", "newBlockingStub") == "io.grpc.stub.AbstractBlockingStub"
    assert table.shape("com.acme.AccountsGrpc", "newStub") == "io.grpc.stub.AbstractAsyncStub"
    assert [row.kind for row in table.entry_base("com.acme.LedgerGrpc.LedgerImplBase")] == ["request"]
    interrupted = table.error_entry("java.lang.InterruptedException")
    assert interrupted is not None and interrupted.scope
    zero = table.constant("java.time.Duration.ZERO")
    assert zero is not None and zero.number == 0 and zero.typed


def test_examples() -> None:
    knowledge: Knowledge = load()
    get = knowledge.of("python").call("requests.sessions.Session.get")
    assert get is not None and get.does == "network"
    do = knowledge.of("go").call("net/http.DefaultClient.Do")
    assert do is not None and do.request == 0
