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
