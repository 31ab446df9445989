"""The text of `resilint knowledge`."""

from __future__ import annotations

import pytest
from resilint.knowledge import Inline, KnowledgeError, describe, load

OURS = {
    "library": "our-rpc",
    "language": "python",
    "types": [
        {
            "name": "our_rpc.Client",
            "role": "client",
            "aliases": ["our_rpc.RPC"],
            "bounds": [{"slot": "concurrency", "arg": "size", "pos": 1, "unit": "count", "default": 8}],
        }
    ],
    "calls": [
        {
            "names": ["our_rpc.Client.call"],
            "does": "network",
            "bounds": [
                {"slot": "total", "arg": "timeout", "unit": "ms", "disabled": [None, 0], "since": "2"},
                {"slot": "idle", "option": "our_rpc.keep", "field": "idle", "default": "unset"},
            ],
        }
    ],
    "errors": [{"names": ["our_rpc.Late"], "cause": "timeout"}],
}


def text(name: str | None) -> str:
    return describe(name, load([Inline(OURS, "resilint.yaml", 3)]))


def test_all_libraries() -> None:
    lines = text(None).splitlines()
    assert lines[0].split() == ["language", "library", "calls", "types", "verified"]
    assert ["python", "our-rpc", "1", "1", "declared"] in [line.split() for line in lines]
    assert len(lines) == len(load().libraries) + 2


def test_a_call_by_an_alias_of_its_type() -> None:
    assert text("our_rpc.RPC.call").splitlines() == [
        "our_rpc.RPC.call: network",
        "  total: timeout=; unit ms; default none: endless; switched off by null, 0; since 2",
        "  idle: field idle of option our_rpc.keep(...); unit s; default decided elsewhere",
        "  library: our-rpc (python), verified: declared",
        "  source: resilint.yaml",
    ]


def test_a_type_and_an_error() -> None:
    assert text("our_rpc.Client").splitlines()[:3] == [
        "our_rpc.Client: client",
        "  also: our_rpc.RPC",
        "  concurrency: size= (argument 2); unit count; default 8",
    ]
    assert text("our_rpc.Late").splitlines()[0] == "our_rpc.Late: an error, cause: timeout"


def test_a_library() -> None:
    found = text("Our-RPC")
    assert found.startswith("our-rpc (python)\n  source: resilint.yaml\n  verified: declared\n")
    assert "our_rpc.Client.call: network" in found and "our_rpc.Late: an error" in found


def test_every_shipped_library_can_be_described() -> None:
    knowledge = load()
    for library in knowledge.libraries:
        assert library.source in describe(library.library, knowledge)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("our_rpc.Cleint", "nothing is known of 'our_rpc.Cleint', did you mean 'our_rpc.Client'"),
        ("Client.call", "nothing is known of 'Client.call', did you mean 'our_rpc.Client.call'?"),
        ("zzzzzz", "nothing is known of 'zzzzzz'"),
    ],
)
def test_an_unknown_name(name: str, message: str) -> None:
    with pytest.raises(KnowledgeError) as caught:
        text(name)
    assert str(caught.value).startswith(message)


POOLS = {
    "library": "pools",
    "language": "java",
    "types": [
        {
            "name": "p.Pool",
            "role": "executor",
            "fluent": True,
            "shared": True,
            "event_loop": True,
            "when_full": "caller",
            "annotations": ["p.Pooled"],
            "bounds": [
                {"slot": "wait", "setter": "within", "unit": "dur", "unit_pos": 1, "default": "unset"},
                {"slot": "total", "annotation": "p.Pooled", "arg": "timeout", "unit": "ms", "setting": "p.timeout"},
                {"slot": "read", "setter": "option", "key": "p.READ", "pos": 1, "unit": "ms", "default": 2},
                {"slot": "core", "pos": 0, "arity": [2, 3], "unit": "count", "default": 1},
                {"slot": "attempts", "setter": "again", "unit": "count", "default": 3, "counts_retries": True},
            ],
        },
        {"name": "p.Bag", "role": "value", "hash": "process", "order": "none"},
    ],
    "calls": [
        {
            "names": ["p.Pool.run"],
            "does": "submit",
            "arity": [1, 2],
            "spawn": {"target": 0, "executor": 1, "default_executor": "p.common"},
            "bounds": [{"slot": "wait", "pos": 0, "unit": "dur", "unit_pos": -1}],
        },
        {"names": ["p.Line.put"], "does": "wait", "queue": {"op": "put", "item": 0, "when_full": "drops"}},
        {"names": ["p.Line.take"], "does": "wait", "queue": {"op": "take"}},
        {"names": ["p.ring"], "does": "hash", "hash": {"kind": "stable", "value": 0, "scheme": "ring"}},
        {"names": ["p.peers"], "does": "pure", "peers": True, "order": "none"},
    ],
}


def pools(name: str) -> list[str]:
    return describe(name, load([Inline(POOLS, "resilint.yaml", 3)])).splitlines()


def test_an_executor() -> None:
    assert pools("p.Pool")[:12] == [
        "p.Pool: executor",
        "  stands for what is annotated with: p.Pooled",
        "  its methods give the object itself",
        "  one for the whole process",
        "  its threads must never wait",
        "  when full: runs it in the caller",
        "  wait: .within(...); unit: argument 2; default decided elsewhere",
        "  total: @p.Pooled(timeout) or setting p.timeout; unit ms; default none: endless",
        "  read: .option(p.READ, ...); unit ms; default 2 s",
        "  core: argument 1; with 2 or 3 arguments; unit count; default 1",
        "  attempts: .again(...); unit count; default 3; the written number counts retries",
        "  library: pools (java), verified: declared",
    ]
    assert pools("p.Bag")[1:3] == ["  hash: differs between processes", "  order of iteration: none"]


def test_what_calls_do_with_queues_hashes_and_peers() -> None:
    assert pools("p.Pool.run")[1:4] == [
        "  only with 1 or 2 arguments",
        "  runs on: p.common, unless an executor is given",
        "  wait: argument 1; unit: the receiver; default none: endless",
    ]
    assert pools("p.Line.put")[1] == "  queue: put, when full: loses an item"
    assert pools("p.Line.take")[1] == "  queue: take"
    assert pools("p.ring")[1] == "  hash: chooses by ring, the same in every process"
    assert pools("p.peers")[1:3] == ["  order of what it gives: none", "  gives peers that come and go"]
