"""The look-ups of the engine."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from resilint.knowledge import Knowledge, Table, holds
from resilint.knowledge.index import doing, duplicates, every, spawning
from resilint.knowledge.schema import Bound, Library
from resilint.model import Confidence


def library(**rows: Any) -> Library:
    return msgspec.convert({"library": "lib", "language": "python", "source": "docs", "verified": "lib 1", **rows}, Library)


LIB = library(
    modules=["lib"],
    types=[
        {
            "name": "lib.Base",
            "role": "client",
            "aliases": ["lib.base.Base"],
            "bounds": [
                {"slot": "total", "arg": "timeout", "pos": 0, "default": 10},
                {"slot": "connect", "arg": "connect"},
                {"slot": "io", "setter": "settimeout"},
            ],
            "returns": {"child": "lib.Child", "options": "lib.Options"},
            "any_method": "lib.Base.any",
            "any_except": ["*_path", "close"],
        },
        {
            "name": "lib.Child",
            "role": "client",
            "aliases": ["lib.child"],
            "bases": ["lib.Base"],
            "made_by": ["lib.connect", "lib.Base.child"],
            "instances": ["lib.default"],
            "bounds": [{"slot": "total", "arg": "timeout", "default": 20}],
        },
    ],
    calls=[
        {"names": ["lib.get", "lib.Base.get"], "does": "network", "returns": "lib.Response"},
        {"names": ["lib.Base.any"], "does": "query"},
        {"names": ["lib.wait"], "does": "wait", "scope": {"form": "with", "pos": 0}},
        {"names": ["lib.root"], "does": "make", "makes": {"kind": "root"}},
        {
            "names": ["lib.start"],
            "does": "spawn",
            "spawn": {"target": 0},
            "bounds": [{"slot": "total", "option": "lib.with_limit"}],
        },
    ],
    entries=[
        {"kind": "request", "decorator": "lib.Base.route"},
        {"kind": "job", "call": "lib.schedule", "pos": 1},
        {"kind": "event", "attribute": "lib.Base.on_event"},
        {"kind": "request", "base": "lib.Base", "methods": ["do_*"]},
        {"kind": "request", "signature": ["lib.Writer", "lib.Request"]},
    ],
    errors=[{"names": ["lib.Timeout"], "cause": "timeout"}],
    error_calls=[{"names": ["lib.Base.fail"], "how": "loses"}],
    shapes=[{"module": "*_pb2_grpc", "name": "*Stub", "type": "lib.Child"}],
    constants={"lib.SECOND": {"number": 1, "unit": "s"}},
)


@pytest.fixture
def table() -> Table:
    return Knowledge([LIB]).of("python")


def does(table: Table, name: str) -> str | None:
    call = table.call(name)
    return call.does if call is not None else None


@pytest.mark.parametrize(
    "name", ["lib.get", "lib.Base.get", "lib.base.Base.get", "lib.Child.get", "lib.child.get", "lib.default.get"]
)
def test_a_call_by_name_alias_base_and_instance(table: Table, name: str) -> None:
    assert does(table, name) == "network"


def test_methods_that_are_not_listed(table: Table) -> None:
    assert does(table, "lib.Child.anything") == "query"
    for listed in ("child", "options", "settimeout", "__enter__"):
        assert does(table, f"lib.Child.{listed}") is None
    assert does(table, "lib.Unknown.get") is None
    assert does(table, "get") is None


def test_a_call_through_a_type_may_be_a_row_of_what_stands_below_it() -> None:
    table = Knowledge(
        [
            library(
                types=[
                    {"name": "lib.Queue", "role": "queue"},
                    {"name": "lib.Blocking", "role": "queue", "bases": ["lib.Queue"], "aliases": ["lib.B"]},
                    {"name": "lib.Linked", "role": "queue", "bases": ["lib.Blocking"]},
                ],
                calls=[{"names": ["lib.Blocking.take"], "does": "wait"}],
                shapes=[{"module": "*_gen", "name": "*Queue", "type": "lib.Queue"}],
                constants={"lib.Unit.SECONDS": {"number": 1, "unit": "s"}},
            )
        ]
    ).of("python")
    for owner in ("lib.Queue", "lib.Blocking", "lib.B", "lib.Linked", "a_gen.MyQueue"):
        assert table.may_call(f"{owner}.take", doing("wait")) and table.may_call(f"{owner}.take", every)
        assert not table.may_call(f"{owner}.take", spawning) and not table.may_call(f"{owner}.size", every)
    assert not table.may_call("other.Queue.take", every)
    assert table.may_call("lib.Unit.SECONDS.take", every), "what a constant is, its name does not say"


def test_last_segments_of_wanted_rows(table: Table) -> None:
    assert table.lasts(doing("network", "query")) == {"get", "any"}
    assert table.lasts(spawning) == {"start"}
    assert table.lasts(spawning, frozenset()) == frozenset(), "none of a library that does not occur"


def test_libraries_that_are_met_without_an_import() -> None:
    one = {"names": ["lib.get"], "does": "network"}
    known = [
        library(library="imported", modules=["lib"], calls=[one]),
        library(library="generated", modules=["lib"], shapes=[{"module": "*_gen", "name": "*", "type": "lib.T"}]),
        library(library="elsewhere", modules=["lib"], calls=[one, {"names": ["other.get"], "does": "network"}]),
    ]
    assert Table("python", known).unimported == {"generated", "elsewhere"}


def test_types(table: Table) -> None:
    child = table.type("lib.Child")
    assert child is not None
    assert table.constructs("lib.child") is child
    assert table.made_by("lib.connect") is table.made_by("lib.base.Base.child") is table.instance("lib.default") is child
    assert table.type("lib.connect") is None
    assert [level.name for level in table.mro("lib.child")] == ["lib.Child", "lib.Base"]
    assert table.mro("lib.Unknown") == ()
    assert table.returned("lib.child.options") == "lib.Options"
    assert table.returned("lib.Child.get") == "lib.Response"


def test_a_nearer_bound_replaces_that_of_a_base(table: Table) -> None:
    assert [(bound.slot, bound.default) for bound in table.bounds("lib.Child")] == [
        ("total", 20),
        ("connect", "endless"),
        ("io", "endless"),
    ]


def test_bases_in_a_circle() -> None:
    rows = [{"name": "a.A", "role": "client", "bases": ["a.B"]}, {"name": "a.B", "role": "client", "bases": ["a.A"]}]
    circle = Knowledge([library(types=rows)]).of("python")
    assert [level.name for level in circle.mro("a.A")] == ["a.A", "a.B"]


def test_entries(table: Table) -> None:
    assert [row.kind for row in table.decorator("lib.child.route")] == ["request"]
    assert [row.pos for row in table.registration("lib.schedule")] == [1]
    assert [row.kind for row in table.attribute("lib.Child.on_event")] == ["event"]
    assert [row.methods for row in table.entry_base("lib.Child")] == [("do_*",)]
    assert [row.kind for row in table.signature(("lib.Writer", "lib.Request"))] == ["request"]
    assert table.decorator("lib.other") == table.signature(("lib.Writer",)) == table.entry_base("lib.other") == ()
    assert len(table.entries) == 5


def test_errors_scopes_contexts_spawns_constants(table: Table) -> None:
    assert (table.error("lib.Timeout"), table.error("lib.get")) == ("timeout", None)
    assert table.error_call("lib.Child.fail") == "loses"
    scope, context, spawn, constant = (
        table.scope("lib.wait"),
        table.context("lib.root"),
        table.spawn("lib.start"),
        table.constant("lib.SECOND"),
    )
    assert scope is not None and context is not None and spawn is not None and constant is not None
    assert (scope.form, context.kind, spawn.target, constant.unit) == ("with", "root", 0, "s")
    assert table.scope("lib.root") is None


BUILDERS = library(
    language="java",
    types=[
        {
            "name": "a.Client",
            "role": "client",
            "annotations": ["a.Remote"],
            "returns": {"again": "this", "builder": "a.Client.Builder"},
        },
        {
            "name": "a.Client.Builder",
            "role": "value",
            "fluent": True,
            "returns": {"build": "a.Client"},
            "bounds": [{"slot": "read", "setter": "readTimeout", "unit": "dur", "unit_pos": 1}],
            "url": [{"setter": "address"}],
        },
        {"name": "a.Sub", "role": "client", "bases": ["a.Client"]},
        {"name": "a.Queue", "role": "queue", "bounds": [{"slot": "capacity", "pos": 0, "arity": [1], "unit": "count"}]},
    ],
    calls=[
        {"names": ["a.Queue.put"], "does": "wait", "queue": {"op": "put", "item": 0}},
        {"names": ["a.Hashes.seeded"], "does": "hash", "hash": {"kind": "process", "value": 0}},
        {"names": ["a.Client.Builder.send"], "does": "network"},
    ],
    texts={"a.Keys.LINGER": "linger.ms"},
)


def test_builders_give_themselves() -> None:
    table = Knowledge([BUILDERS]).of("java")
    # A setter, a method nobody listed, and a method said to give the object itself; in a subclass too.
    for method in ("a.Client.Builder.readTimeout", "a.Client.Builder.proxy", "a.Client.again", "a.Sub.again"):
        assert table.returns_itself(method)
        assert table.returned(method) == method.rpartition(".")[0]
    assert table.returned("a.Client.Builder.build") == "a.Client"
    for method in ("a.Client.Builder.build", "a.Client.Builder.send", "a.Client.builder", "a.Client.other", "a.Unknown.x", "x"):
        assert not table.returns_itself(method)
    assert table.returned("a.Client.Builder.send") is None
    # Where the URL stands is a method of the type like any other.
    assert {"address", "readTimeout", "again"} <= table.names


def test_queues_hashes_texts_and_annotations() -> None:
    table = Knowledge([BUILDERS]).of("java")
    put, seeded, client = table.queue("a.Queue.put"), table.hash("a.Hashes.seeded"), table.annotated("a.Remote")
    assert put is not None and (put.op, put.item, put.when_full) == ("put", 0, "waits")
    assert seeded is not None and (seeded.kind, seeded.scheme) == ("process", "hash")
    assert client is not None and client.name == "a.Client"
    assert table.text("a.Keys.LINGER") == "linger.ms"
    assert table.queue("a.Client.again") is None
    assert table.hash("a.Queue.put") is None
    assert table.annotated("a.Other") is None
    assert table.text("a.Keys") is None
    assert "a.Remote" in table.canonical_names


def test_overloads_of_one_slot_stand_beside_each_other() -> None:
    rows = [{"slot": "wait", "pos": pos, "arity": [pos + 2], "unit": "dur"} for pos in (0, 1)]
    base = {"name": "a.Base", "role": "gate", "bounds": [rows[0]]}
    table = Knowledge([library(types=[base, {"name": "a.Gate", "role": "gate", "bases": ["a.Base"], "bounds": [rows[1]]}])]).of(
        "python"
    )
    assert [bound.arity for bound in table.bounds("a.Gate")] == [(3,), (2,)]


def test_shapes(table: Table) -> None:
    assert table.shape("shop.pay_pb2_grpc", "PayStub") == "lib.Child"
    assert table.shape("shop.pay_pb2_grpc", "payStubs") is None
    assert table.shape("shop.pay_pb2", "PayStub") is None


def test_where_an_entry_is_from() -> None:
    unsure = library(library="unsure", verified=False, source="blog", calls=[{"names": ["u.get"], "does": "network"}])
    table = Knowledge([LIB, unsure]).of("python")
    sure, guess = table.call("lib.get"), table.call("u.get")
    assert sure is not None and guess is not None
    assert (table.library_of(sure).library, table.cap(sure), table.source(sure)) == ("lib", None, "docs")
    assert (table.library_of(guess).library, table.cap(guess), table.source(guess)) == ("unsure", Confidence.LOW, "blog")


def test_names_and_modules(table: Table) -> None:
    assert {"get", "Base", "child", "connect", "route", "schedule", "with_limit", "settimeout", "fail"} <= table.names
    assert table.modules == {"lib"}
    assert table.is_known_module("lib.inner.deep") and not table.is_known_module("library")
    go = Knowledge([library(language="go", modules=["net", "github.com/a/b"])]).of("go")
    assert go.is_known_module("net") and not go.is_known_module("net/url")
    assert go.is_known_module("github.com/a/b/v2/sub") and not go.is_known_module("github.com/a")


def test_languages_are_apart() -> None:
    knowledge = Knowledge([LIB])
    assert knowledge.of("go").call("lib.get") is None
    assert knowledge.of("cobol").names == frozenset()


def test_duplicates() -> None:
    again = library(library="again", calls=[{"names": ["lib.get"], "does": "wait"}])
    other = library(library="other", language="go", calls=[{"names": ["lib.get"], "does": "wait"}])
    assert duplicates([LIB, again, other]) == ["python call lib.get: lib, again"]


@pytest.mark.parametrize(
    ("since", "before", "version", "expected"),
    [
        ("2.0", None, "2.0.0", True),
        ("2.0", None, "1.26.18", False),
        ("2.0", None, "2.0rc1", False),
        ("2.0", None, "2.0.0-beta.1", False),
        ("2.0", None, "2.0.post1", True),
        ("3.10.9", None, "3.10.10", True),
        ("3.10.9", None, "3.9", False),
        (None, "8.0", "7.4.1", True),
        (None, "8.0", "8.0", False),
        (None, "8.0", "v8", False),
        ("1.11", "1.20", "go1.19.8", True),
        ("1.11", "1.20", "go1.20", False),
        ("1.2", None, "v1.2.0+incompatible", True),
        ("1.0", None, "==1.4", True),
        (None, None, "1", True),
        # Of an unknown version the newest rows hold.
        ("2.0", None, None, True),
        (None, "2.0", None, False),
        (None, "2.0", "master", False),
    ],
)
def test_version_ranges(since: str | None, before: str | None, version: str | None, expected: bool) -> None:
    assert holds(Bound(slot="total", since=since, before=before), version) is expected


def test_a_method_that_is_left_out_is_no_call() -> None:
    table = Table("python", [LIB])
    assert table.call("lib.Base.search") is table.call("lib.Base.any")
    assert table.call("lib.Base.close") is None
    assert table.call("lib.Child.topic_path") is None
