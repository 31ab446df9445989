"""Where encoded bodies lie, and what decoded facts share."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from resilint import intake
from resilint.bodies import Shelf
from resilint.cache import Cache
from resilint.discover import discover
from resilint.facts import Call, Do, FileFacts, Function, Ref, decode, decode_block, encode, encode_block
from resilint.read import read

SOURCE = b"import requests\n\ndef fetch(url):\n    return requests.get(url)\n\ndef other(url):\n    requests.get(url)\n"


def of(data: bytes) -> FileFacts:
    return decode(read(data, "python"))


def test_bodies_on_the_shelf_are_those_that_were_put_there(tmp_path: Path) -> None:
    shelf = Shelf(Cache(tmp_path))
    files = [of(SOURCE.replace(b"fetch", f"fetch_{number}".encode())) for number in range(5)]
    for facts, shelved in [(facts, shelf.put(facts)) for facts in files]:
        assert not isinstance(shelved.bodies, tuple) and len(shelved.bodies) == len(facts.bodies) == 3
        assert [bytes(raw) for raw in shelved.bodies] == [bytes(raw) for raw in facts.bodies]
        assert bytes(shelved.bodies[-1]) == bytes(facts.bodies[-1]) and shelved.bodies[1:] == facts.bodies[1:]
        with pytest.raises(IndexError):
            shelved.bodies[3]
        assert msgspec.structs.replace(shelved, bodies=facts.bodies) == facts
        assert encode(shelved) == encode(facts)


def test_nothing_without_bodies_is_put_anywhere(tmp_path: Path) -> None:
    facts = FileFacts("yaml")
    assert Shelf(Cache(tmp_path)).put(facts) is facts


def test_the_shelf_leaves_no_file_behind(tmp_path: Path) -> None:
    facts = Shelf(Cache(tmp_path)).put(of(SOURCE))
    assert {path.name.partition(".")[0] for path in tmp_path.iterdir()} == {"facts"}
    assert len(decode_block(facts.bodies[1])) == 1


@contextmanager
def room(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_bodies_stay_in_memory_where_the_disk_is_full_and_those_before_can_be_read(tmp_path: Path) -> None:
    shelf = Shelf(Cache(tmp_path))
    facts = of(SOURCE)
    first = shelf.put(facts)
    size = sum(len(memoryview(raw)) for raw in facts.bodies)
    with room(size + 10):
        second = shelf.put(facts)
    assert isinstance(second.bodies, tuple) and not isinstance(first.bodies, tuple)
    assert [bytes(raw) for raw in first.bodies] == [bytes(raw) for raw in second.bodies]
    assert shelf.put(facts) is facts


def test_bodies_stay_in_memory_without_a_folder_for_the_cache() -> None:
    facts = of(SOURCE)
    assert Shelf(Cache(Path("/proc/self/no-cache"))).put(facts) is facts


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that begin with another's memory")
def test_processes_that_share_the_shelf_read_beside_each_other(tmp_path: Path) -> None:
    facts = Shelf(Cache(tmp_path)).put(of(SOURCE))
    wanted = [bytes(raw) for raw in facts.bodies]
    children = []
    for _ in range(3):
        child = os.fork()
        if not child:
            os._exit(0 if all([bytes(raw) for raw in facts.bodies] == wanted for _ in range(2000)) else 1)
        children.append(child)
    assert all([bytes(raw) for raw in facts.bodies] == wanted for _ in range(2000))
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]


@pytest.mark.parametrize("run", ["cold", "nothing changed", "one file changed"])
def test_of_a_large_program_with_a_cache_bodies_are_not_kept_in_memory(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "_WORTH_A_SHELF", 100)
    root = tmp_path / "root"
    root.mkdir()
    for number in range(4):
        (root / f"m{number}.py").write_bytes(SOURCE)
        os.utime(root / f"m{number}.py", (1000, 1000))

    def taken(cache: Path | None) -> intake.Intake:
        sources = discover(root, ("",), lambda path: False).sources
        return intake.take_in(root, sources, Cache(cache) if cache is not None else None, 1)

    cache = tmp_path / "cache"
    if run != "cold":
        list(taken(cache).files.values())
        stored = Cache(cache)
        stored.close()
    if run == "one file changed":
        (root / "m1.py").write_bytes(SOURCE + b"\n")
    shelved, held = taken(cache).files, taken(None).files
    assert all(isinstance(facts.bodies, tuple) for facts in held.values())
    for path, facts in shelved.items():
        assert not isinstance(facts.bodies, tuple)
        assert [bytes(raw) for raw in facts.bodies] == [bytes(raw) for raw in held[path].bodies]


# ---------------------------------------------------------------- what is shared


def test_names_and_places_of_decoded_facts_are_one_object_each() -> None:
    block = (Do(3000, 3010, Call(3000, 3010, Ref(3000, 3008, "requests.get"), ())),)
    (one,), (other,) = decode_block(encode_block(block)), decode_block(encode_block(block))
    assert (one, other) == (*block, *block)
    assert isinstance(one, Do) and isinstance(other, Do)
    assert isinstance(one.value, Call) and isinstance(other.value, Call)
    assert one.at is one.value.at is other.at
    assert isinstance(one.value.fn, Ref) and isinstance(other.value.fn, Ref)
    assert one.value.fn.name is other.value.fn.name
    head = Function("fetch", "fetch", "free", 5000, 6000, 5004, calls=("requests.get",))
    (first,), (second,) = (decode(encode(FileFacts("python", functions=(head,)))).functions for _ in range(2))
    assert first == head and first.calls[0] is second.calls[0] is one.value.fn.name
    assert first.name is first.qual is second.name and first.at is second.at


def test_places_far_into_a_large_file_are_what_was_encoded() -> None:
    block = tuple(Do(at, at + 70_000, Ref(at, at + 2, "x")) for at in (0, 65_535, 65_536, 10**7, 2**40))
    assert decode_block(encode_block(block)) == block


@pytest.mark.parametrize("wrong", [("1", 2, 3), (1, 2, 3, 4), (1.5, 2, "x")])
def test_bytes_that_hold_no_facts_are_an_error_of_decoding(wrong: tuple[object, ...]) -> None:
    raw = msgspec.Raw(msgspec.msgpack.encode(((41, 1, 2, (2, *wrong)),)))
    with pytest.raises(msgspec.ValidationError):
        decode_block(raw)
