"""Loading: what a user may write, how mistakes are named, and the compiled blob."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from resilint.knowledge import Inline, KnowledgeError, load
from resilint.knowledge import loader as loading
from resilint.knowledge.loader import cache_dir, parse, shipped
from resilint.model import Span

# What a user writes for a client of their own: ten lines.
IN_HOUSE = """\
library: our-rpc
language: python
types:
  - {name: our_rpc.Client, role: client, made_by: [our_rpc.connect]}
calls:
  - names: [our_rpc.Client.call, our_rpc.Client.notify]
    does: network
    bounds:
      - {slot: total, arg: timeout_ms, unit: ms, disabled: [null, 0]}
      - {slot: attempts, arg: retries, unit: count, default: 3}
"""

WRONG = """\
library: x
langage: python
verified: 2.3
calls:
  - names: [x.get]
    does: netwrok
    bounds:
      - {slott: total, arg: timeout}
      - {slot: totl, arg: timeout, default: endles}
      - {slot: total, arg: timeout, plausible: [1]}
  - names: x.get
    does: network
    makes: {kind: rot, parnt: 1}
    conversion: {0: s, 1: week}
    disabled: 3
  - {does: sleep}
"""


def messages(text: str, tmp_path: Path) -> list[str]:
    (tmp_path / "ours.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeError) as caught:
        load(["ours.yaml"], tmp_path)
    return str(caught.value).splitlines()


def test_a_users_file_needs_neither_source_nor_version(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(IN_HOUSE, encoding="utf-8")
    table = load(["ours.yaml"], tmp_path).of("python")
    call = table.call("our_rpc.Client.call")
    assert call is not None
    assert [(bound.slot, bound.arg, bound.unit) for bound in call.bounds] == [
        ("total", "timeout_ms", "ms"),
        ("attempts", "retries", "count"),
    ]
    library = table.library_of(call)
    assert (library.verified, library.source) == ("declared", "ours.yaml")
    assert table.cap(call) is None


def test_one_file_may_hold_several_libraries(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text("- {library: a, language: go}\n- {library: b, language: go}\n", encoding="utf-8")
    names = [library.library for library in load(["ours.yaml"], tmp_path).libraries]
    assert names[-2:] == ["a", "b"]


def test_inline_knowledge() -> None:
    value = yaml.safe_load(IN_HOUSE)
    for item in (value, Inline(value, "resilint.yaml", 4), Inline([value], "resilint.yaml", 4)):
        assert load([item]).of("python").call("our_rpc.Client.notify") is not None


def test_what_the_user_says_replaces_what_is_shipped() -> None:
    ours = {
        "library": "requests",
        "language": "python",
        "types": [{"name": "requests.Session", "role": "client", "bounds": [{"slot": "total", "field": "limit"}]}],
        "calls": [{"names": ["requests.get"], "does": "network", "bounds": [{"slot": "total", "default": 5}]}],
    }
    table = load([ours]).of("python")
    call = table.call("requests.get")
    assert call is not None and call.bounds[0].default == 5
    assert [bound.field for bound in table.bounds("requests.sessions.Session")] == ["limit"]


def test_each_problem_has_its_line_and_key(tmp_path: Path) -> None:
    assert messages(WRONG, tmp_path) == [
        "ours.yaml:2: key 'langage': unknown key, did you mean 'language'?",
        "ours.yaml:3: key 'verified': expected text or false, not 2.3 (quote it)",
        "ours.yaml:6: key 'calls[0].does': unknown value 'netwrok', did you mean 'network'?",
        "ours.yaml:8: key 'calls[0].bounds[0].slott': unknown key, did you mean 'slot'?",
        "ours.yaml:9: key 'calls[0].bounds[1].slot': unknown value 'totl', did you mean 'total'?",
        "ours.yaml:9: key 'calls[0].bounds[1].default': unknown value 'endles', did you mean 'endless'?",
        "ours.yaml:10: key 'calls[0].bounds[2].plausible': expected 2 items, not 1",
        "ours.yaml:11: key 'calls[1].names': expected a list, not 'x.get' (write [...])",
        "ours.yaml:13: key 'calls[1].makes.kind': unknown value 'rot', did you mean 'root'?",
        "ours.yaml:13: key 'calls[1].makes.parnt': unknown key, did you mean 'parent'?",
        "ours.yaml:14: key 'calls[1].conversion.1': unknown value 'week', known are: "
        "bool, bytes, count, dur, h, min, ms, ns, s, us",
        messages(WRONG, tmp_path)[11],
        "ours.yaml:16: key 'calls[2]': key 'names' is missing",
    ]
    assert messages(WRONG, tmp_path)[11].startswith(
        "ours.yaml:15: key 'calls[1].disabled': unknown key, known are: arithmetic, arity, at_once, bounds, context,"
    )


def test_a_list_of_libraries_names_its_item(tmp_path: Path) -> None:
    assert messages("- {library: a, language: go}\n- {library: b, language: goo}\n", tmp_path) == [
        "ours.yaml:2: key '[1].language': unknown value 'goo', did you mean 'go'?"
    ]


def test_inline_problems_stand_at_the_settings() -> None:
    item = {"library": "a", "language": "pyton", "calls": [{"names": [1], "does": "wait"}]}
    places = {(): 3, ("language",): 4, ("calls", "0"): 6}

    def place(path: tuple[str, ...]) -> Span | None:
        return Span("resilint.yaml", places[path], 1, places[path], 1) if path in places else None

    with pytest.raises(KnowledgeError) as caught:
        load([Inline(item, "resilint.yaml", place=place), Inline(item, "pyproject.toml", 9)])
    assert str(caught.value).splitlines() == [
        "resilint.yaml:4: key 'language': unknown value 'pyton', did you mean 'python'?",
        "resilint.yaml:6: key 'calls[0].names[0]': expected text, not 1 (quote it)",
        "pyproject.toml:9: key 'language': unknown value 'pyton', did you mean 'python'?",
        "pyproject.toml:9: key 'calls[0].names[0]': expected text, not 1 (quote it)",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ours.yaml:1: expected a mapping, not null"),
        ("library: [", "ours.yaml:2: not valid YAML: "),
        ("library: a\nlanguage: go\nlibrary: b\n", "ours.yaml:3: not valid YAML: key 'library' stands twice"),
        ("library: 2024-99-01\n", "ours.yaml:1: not valid YAML: "),
        ("&a [*a]\n", "ours.yaml:1: an alias inside what it stands for"),
        ("[" * 900 + "]" * 900, "ours.yaml:1: "),
        ("[" * 20000, "ours.yaml:1: not valid YAML: "),
        ("library: !!python/object:os.system x\n", "ours.yaml:1: not valid YAML: "),
    ],
)
def test_files_that_are_no_knowledge(text: str, message: str, tmp_path: Path) -> None:
    found = messages(text, tmp_path)
    assert len(found) == 1 and found[0].startswith(message)


DANGLING = """\
- library: a
  language: python
  types:
    - {name: rpc.Client, role: client, aliases: [rpc.aio.Client], instances: [rpc.DEFAULT], any_method: rpc.Client.cal}
  calls:
    - names: [rpc.Clinet.call, rpc.Client.call, rpc.aio.Client.call, rpc.DEFAULT.call, rpc.get, rpc.v1.get, requests.Session.call]
      does: network
    - {names: [rpc.Other.call, example.com/rpc.Get], does: network}
- library: b
  language: go
  types: [{name: example.com/rpc.Client, role: client}]
  calls:
    - names: [example.com/rpc.Clint.Do, example.com/rpc.Client.Do, example.com/rpc.Get, net/http.Client.Do, gopkg.in/rpc.v3.Get]
      does: network
    - {names: [gopkg.in/rpc.v3.Client.Do], does: network}
- {library: c, language: config}
"""


def test_names_that_nothing_can_find(tmp_path: Path) -> None:
    assert messages(DANGLING, tmp_path) == [
        "ours.yaml:4: key '[0].types[0].any_method': call 'rpc.Client.cal' is described nowhere, did you mean 'rpc.Client.call'?",
        "ours.yaml:6: key '[0].calls[0].names[0]': type 'rpc.Clinet' is described nowhere, did you mean 'rpc.Client'?",
        "ours.yaml:8: key '[0].calls[1].names[0]': type 'rpc.Other' is described nowhere, add it to `types`",
        "ours.yaml:8: key '[0].calls[1].names[1]': 'example.com/rpc.Get' is no Python name: a slash stands in import paths of Go",
        "ours.yaml:13: key '[1].calls[0].names[0]': type 'example.com/rpc.Clint' is described nowhere, "
        "did you mean 'example.com/rpc.Client'?",
        "ours.yaml:15: key '[1].calls[1].names[0]': type 'gopkg.in/rpc.v3.Client' is described nowhere, add it to `types`",
        "ours.yaml:16: key '[2].language': 'config' is of no use yet, known are: go, java, python",
    ]


def test_typesmay_be_described_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("{library: a, language: python, calls: [{names: [x.Y.z], does: network}]}\n", encoding="utf-8")
    types = {"library": "b", "language": "python", "types": [{"name": "x.Y", "role": "client"}]}
    assert load(["a.yaml", types], tmp_path).of("python").call("x.Y.z") is not None
    with pytest.raises(KnowledgeError, match=r"a\.yaml:1: key 'calls\[0\]\.names\[0\]': type 'x\.Y' is described nowhere"):
        load(["a.yaml"], tmp_path)


def test_words_that_yaml_takes_for_true_are_keys(tmp_path: Path) -> None:
    text = "library: a\nlanguage: go\ntypes:\n  - {name: a.B, role: client, returns: {on: a.C, 1: a.D}}\nyes: 1\n"
    assert messages(text, tmp_path)[0].startswith("ours.yaml:5: key 'yes': unknown key")
    (tmp_path / "ours.yaml").write_text(text.replace("yes: 1\n", ""), encoding="utf-8")
    assert load(["ours.yaml"], tmp_path).libraries[-1].types[0].returns == {"on": "a.C", "1": "a.D"}


def test_multiplied_aliases_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    refused = ["ours.yaml:1: more than 1000000 values, those behind an alias counted each time"]
    assert messages("\n".join(lines), tmp_path) == refused
    merged = ["a0: &a0 {x: 1}"] + [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 30)]
    assert messages("\n".join(merged), tmp_path) == refused


def test_files_outside_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "out.yaml").write_text(IN_HOUSE, encoding="utf-8")
    (root / "link.yaml").symlink_to(tmp_path / "out.yaml")
    for name in ("../out.yaml", str(tmp_path / "out.yaml"), "link.yaml"):
        with pytest.raises(KnowledgeError, match="must lie inside"):
            load([name], root)
    with pytest.raises(KnowledgeError, match=r"none\.yaml: cannot be read: no such file"):
        load(["none.yaml"], root)


def test_problems_of_all_files_come_together(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("{library: a}", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("{language: go}", encoding="utf-8")
    with pytest.raises(KnowledgeError) as caught:
        load(["a.yaml", Path("b.yaml")], tmp_path)
    assert str(caught.value) == "a.yaml:1: key 'language' is missing\nb.yaml:1: key 'library' is missing"


# The compiled blob


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A knowledge directory of one file."""
    (tmp_path / "knowledge" / "python").mkdir(parents=True)
    (tmp_path / "knowledge" / "python" / "a.yaml").write_text(COMPLETE, encoding="utf-8")
    return tmp_path / "knowledge"


COMPLETE = "{library: a, language: python, source: here, verified: a 1}\n"


def blobs(cache: Path) -> list[Path]:
    return list(cache.glob("*"))


def test_the_blob_is_used_until_a_file_changes(directory: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shipped(directory)
    assert len(blobs(own_cache)) == 1
    with monkeypatch.context() as patched:
        patched.setattr(loading, "parse", lambda files: pytest.fail("parsed again"))
        assert shipped(directory) == first
    (directory / "python" / "b.yaml").write_text(COMPLETE.replace("library: a", "library: b"), encoding="utf-8")
    assert [library.library for library in shipped(directory)] == ["a", "b"]
    file = directory / "python" / "a.yaml"
    file.write_text(COMPLETE.replace("library: a", "library: c"), encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert [library.library for library in shipped(directory)] == ["c", "b"]
    assert len(blobs(own_cache)) == 1


@pytest.mark.parametrize("damage", [b"", b"rubbish", None])
def test_a_corrupt_blob_is_rebuilt(directory: Path, own_cache: Path, damage: bytes | None) -> None:
    first = shipped(directory)
    (blob,) = blobs(own_cache)
    good = blob.read_bytes()
    blob.write_bytes(good[:-1] + bytes([good[-1] ^ 1]) if damage is None else damage)
    assert shipped(directory) == first
    assert blob.read_bytes() == good


def test_without_a_usable_cache_directory_files_are_parsed(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("RESILINT_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert [library.library for library in shipped(directory)] == ["a"]


def test_shipped_files_are_validated(directory: Path) -> None:
    (directory / "python" / "a.yaml").write_text("{library: a, language: python}\n", encoding="utf-8")
    with pytest.raises(KnowledgeError) as caught:
        shipped(directory)
    assert [line.partition(": ")[2] for line in str(caught.value).splitlines()] == [
        "key 'source' is missing",
        "key 'verified' is missing",
    ]


def test_the_blob_says_what_the_files_say() -> None:
    files = sorted(loading.SHIPPED.glob("*/*.yaml"))
    assert parse(files) == shipped() == shipped()


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESILINT_CACHE_DIR", "/own")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_dir() == Path("/own")
    monkeypatch.delenv("RESILINT_CACHE_DIR")
    assert cache_dir() == Path("/xdg/resilint")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/x")
    assert cache_dir() == Path("/home/x/.cache/resilint")


def test_a_user_without_a_home_has_no_cache(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("RESILINT_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert cache_dir() is None
    assert [library.library for library in shipped(directory)] == ["a"]
