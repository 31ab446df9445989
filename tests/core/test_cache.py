"""The cache gives back what was put in, and whatever happens to its file, the answers stay right."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from resilint import cache as module
from resilint.cache import Cache, default_folder, key_of
from resilint.cli import main
from resilint.discover import Source
from resilint.facts import FileFacts, decode, encode
from resilint.intake import read_file, take_in

FILE = "facts.sqlite3"


def put(folder: Path, **entries: bytes) -> None:
    cache = Cache(folder)
    cache.put({key.encode(): value for key, value in entries.items()})
    cache.close()


def get(folder: Path, *keys: str) -> dict[bytes, bytes]:
    cache = Cache(folder)
    try:
        return cache.get([key.encode() for key in keys])
    finally:
        cache.close()


def test_what_is_put_is_found_by_the_next_run(tmp_path: Path) -> None:
    put(tmp_path / "new" / "folder", a=b"1", b=b"2")
    assert get(tmp_path / "new" / "folder", "a", "b", "c") == {b"a": b"1", b"b": b"2"}


def test_many_keys(tmp_path: Path) -> None:
    entries = {f"k{number}": b"%d" % number for number in range(1700)}
    put(tmp_path, **entries)
    assert len(get(tmp_path, *entries)) == 1700


def test_keys_depend_on_bytes_kind_and_dialect_and_nothing_else() -> None:
    assert key_of(b"a: 1", "yaml") == key_of(b"a: 1", "yaml")
    assert len({key_of(b"a: 1", "yaml"), key_of(b"a: 1", "json"), key_of(b"a: 2", "yaml")}) == 3
    assert key_of(b"A=1", "ini") != key_of(b"A=1", "ini", ".service")


def test_one_text_is_read_by_its_name_also_from_the_cache(tmp_path: Path) -> None:
    for name in ("a.ini", "a.service"):
        (tmp_path / name).write_bytes(b"[Any]\na = 1 \\\nb: 2\n")
    sources = [Source(name, "ini", 20) for name in ("a.ini", "a.service")]
    for _ in range(2):
        cache = Cache(tmp_path / "cache")
        files = take_in(tmp_path, sources, cache, 1).files
        cache.close()
        assert [s.path[1:] for s in files["a.ini"].settings] == [(), ("a",), ("b",)]
        assert [s.text for s in files["a.service"].settings] == ["", "1 b: 2"]


def test_what_is_stored_damaged_is_not_found(tmp_path: Path) -> None:
    # Bytes of a value are SQLite's to keep, not to understand: what was flipped there would be facts of another file.
    put(tmp_path, a=b"the facts of a", b=b"the facts of b")
    connection = sqlite3.connect(tmp_path / FILE)
    with connection:
        (value,) = connection.execute("SELECT v FROM facts WHERE k = ?", (b"a",)).fetchone()
        connection.execute("UPDATE facts SET v = ? WHERE k = ?", (value.replace(b"facts", b"fakts"), b"a"))
        connection.execute("INSERT INTO facts (k, v) VALUES (?, 'text'), (?, x'00')", (b"c", b"d"))
    connection.close()
    assert get(tmp_path, "a", "b", "c", "d") == {b"b": b"the facts of b"}


@pytest.mark.parametrize("layout", [1, 2, 99])
def test_the_file_of_another_version_is_started_over(tmp_path: Path, layout: int) -> None:
    tmp_path.joinpath("x").mkdir()
    connection = sqlite3.connect(tmp_path / "x" / FILE)
    with connection:
        connection.execute("CREATE TABLE facts (k BLOB, other BLOB)")
    # Without a number: from before there were any.
    connection.execute(f"PRAGMA user_version={layout if layout != 2 else 0}")
    connection.close()
    assert get(tmp_path / "x", "a") == {}
    put(tmp_path / "x", a=b"1")
    assert get(tmp_path / "x", "a") == {b"a": b"1"}


@pytest.mark.parametrize("damage", [b"not a database at all" * 300, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_damaged_file_is_started_over(tmp_path: Path, damage: bytes) -> None:
    put(tmp_path, a=b"1")
    (tmp_path / FILE).write_bytes(damage)
    assert get(tmp_path, "a") == {}
    put(tmp_path, a=b"2")
    assert get(tmp_path, "a") == {b"a": b"2"}


def test_damage_in_the_middle_costs_one_run(tmp_path: Path) -> None:
    entries = {f"k{number:05}": b"v" * 2000 for number in range(400)}
    put(tmp_path, **entries)
    data = bytearray((tmp_path / FILE).read_bytes())
    data[8192 : len(data) - 4096] = b"\xff" * (len(data) - 12288)
    (tmp_path / FILE).write_bytes(data)
    get(tmp_path, *entries)
    put(tmp_path, a=b"1")
    assert get(tmp_path, "a") == {b"a": b"1"}


def test_a_folder_that_cannot_be_made_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    put(tmp_path / "file" / "below", a=b"1")
    assert get(tmp_path / "file" / "below", "a") == {}
    (tmp_path / FILE).mkdir()
    put(tmp_path, a=b"1")
    assert get(tmp_path, "a") == {}


def test_runs_share_the_file(tmp_path: Path) -> None:
    one, two = Cache(tmp_path), Cache(tmp_path)
    one.put({b"a": b"1"})
    two.put({b"a": b"1", b"b": b"2"})
    one.close()
    assert two.get([b"a"]) == {b"a": b"1"}
    two.close()
    assert get(tmp_path, "a", "b") == {b"a": b"1", b"b": b"2"}


def test_a_locked_file_loses_entries_not_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **{**options, "timeout": 0}))
    put(tmp_path, a=b"1")
    holder = connect(tmp_path / FILE, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    put(tmp_path, b=b"2")
    holder.execute("ROLLBACK")
    holder.close()
    assert get(tmp_path, "a", "b") == {b"a": b"1"}


def test_it_drops_the_oldest_when_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 100_000)
    for number in range(8):
        put(tmp_path, **{f"k{number}": bytes(20_000)})
    kept = get(tmp_path, *(f"k{number}" for number in range(8)))
    assert b"k7" in kept and b"k0" not in kept
    assert (tmp_path / FILE).stat().st_size < 200_000


def test_the_folder_is_chosen_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RESILINT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "resilint"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "resilint"
    monkeypatch.setenv("RESILINT_CACHE_DIR", str(tmp_path / "own"))
    assert default_folder() == tmp_path / "own"


def test_it_can_be_looked_at_and_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv("RESILINT_CACHE_DIR", str(folder))

    def said(*arguments: str, code: int = 0) -> str:
        done = CliRunner().invoke(main, ["cache", *arguments])
        assert done.exit_code == code, done.output
        return done.output.removeprefix(str(folder / FILE)).removesuffix("\n")

    assert said() == ": empty" and said("--clear") == ": there is nothing to remove" and not folder.exists()
    put(folder, a=b"1", b=bytes(200_000))
    (folder / "mine.txt").write_text("kept")
    assert said() == ": 2 entries, 0.2 MB of at most 1000 MB"
    assert said("--clear") == ": removed, 0.2 MB"
    assert [file.name for file in folder.iterdir()] == ["mine.txt"] and said() == ": empty"
    (folder / FILE).write_bytes(b"no database" * 1000)
    assert "cannot be read, the next run starts it over" in said()
    monkeypatch.setenv("RESILINT_CACHE_DIR", str(folder / "mine.txt"))
    assert "cannot be read: not a directory" in said(code=3)


# ---------------------------------------------------------------- reading through the cache


def sources(root: Path) -> list[Source]:
    return [Source(file.name, "toml", file.stat().st_size) for file in sorted(root.glob("*.toml"))]


def test_cold_warm_and_without_cache_read_the_same(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "cache"
    root.mkdir()
    for name in "abc":
        (root / f"{name}.toml").write_text(f"name = '{name}'\n")
    cold_cache = Cache(folder)
    cold = take_in(root, sources(root), cold_cache, 1)
    cold_cache.close()
    warm_cache = Cache(folder)
    warm = take_in(root, sources(root), warm_cache, 1)
    warm_cache.close()
    none = take_in(root, sources(root), None, 1)
    assert cold.files == warm.files == none.files
    assert list(cold.files) == ["a.toml", "b.toml", "c.toml"]


def test_damaged_facts_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("a = 1\n")
    cache = Cache(tmp_path / "cache")
    cache.put({key_of(b"a = 1\n", "toml"): b"\xc1 no facts"})
    cache.close()
    cache = Cache(tmp_path / "cache")
    assert take_in(tmp_path, sources(tmp_path), cache, 1).files["a.toml"].settings
    cache.close()


def test_workers_read_what_one_process_reads(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"f{number:02}.toml").write_text("".join(f"key{line} = '{'x' * 1000}'\n" for line in range(100)))
    seen: list[tuple[int, int]] = []
    several = take_in(tmp_path, sources(tmp_path), None, 2, lambda done, total: seen.append((done, total)))
    assert several.files == take_in(tmp_path, sources(tmp_path), None, 1).files
    assert len(several.files) == 12 and seen[-1] == (12, 12)


def test_what_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = read_file(str(tmp_path), "gone.py", "python")
    assert gone.problem == "no such file or directory" and not gone.crash
    (tmp_path / "a.py").write_text("")

    def broken(data: bytes, kind: str, dialect: str) -> bytes:
        raise ValueError("bad")

    monkeypatch.setattr("resilint.read.read", broken)
    crashed = read_file(str(tmp_path), "a.py", "python")
    assert crashed.crash and crashed.problem == "the python reader failed: ValueError: bad"


def test_generated_code_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("// Code generated by x. DO NOT EDIT.\npackage a\n\nfunc f() {}\n")
    reading = read_file(str(tmp_path), "a.go", "go")
    assert decode(reading.facts) == FileFacts("go", generated=True)
    intake = take_in(tmp_path, [Source("a.go", "go", 10)], None, 1)
    assert intake.files == {} and intake.generated == ["a.go"]
    assert encode(FileFacts("go", generated=True)) == reading.facts


KILLER = """\
import os
import resilint.read as seam

def read(data, kind, dialect, whole=seam.read):
    if b"KILL" in data:
        os._exit(9)
    return whole(data, kind, dialect)

seam.read = read
"""


def test_a_file_that_kills_its_reader_costs_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Workers start anew and see nothing of this process but its environment.
    (tmp_path / "sitecustomize.py").write_text(KILLER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for number in range(6):
        name = "KILL" if number == 3 else "key"
        (tmp_path / f"f{number:02}.toml").write_text("".join(f"{name}{line} = '{'x' * 1000}'\n" for line in range(200)))
    intake = take_in(tmp_path, sources(tmp_path), None, 2)
    assert list(intake.files) == ["f00.toml", "f01.toml", "f02.toml", "f04.toml", "f05.toml"]
    assert intake.failed == {"f03.toml": "the toml reader killed its process"}
