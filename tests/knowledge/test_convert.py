"""The converter of reference tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from resilint.knowledge.convert import convert, dump, file_name, main, module_of, quantity
from resilint.knowledge.schema import Library

SAMPLE = Path(__file__).parent / "data" / "reference.yaml"


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(SAMPLE.read_text(encoding="utf-8"))
    return loaded


def rows(library: Library) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(dump(library))
    return found


def test_what_is_written_is_what_was_meant(table: dict[str, Any]) -> None:
    files, _ = convert(table, "python")
    assert sorted(files) == ["box.yaml", "box_unverified.yaml", "queue.yaml"]
    for library in files.values():
        assert msgspec.convert(rows(library), Library) == library


def test_a_client(table: dict[str, Any]) -> None:
    found = rows(convert(table, "python")[0]["box.yaml"])
    assert (found["source"], found["verified"], found["modules"]) == ("box/box client.py", "box 2.1", ["box"])
    assert found["types"][0] == {
        "name": "box.Client",
        "aliases": ["box.client.Client"],
        "made_by": ["box.connect"],
        "role": "client",
        "carries": True,
        "bounds": [
            {"slot": "io", "arg": "timeout", "pos": 1, "disabled": [None], "before": "2.0"},
            {"slot": "io", "arg": "timeout", "pos": 1, "default": 5, "disabled": [None], "since": "2.0"},
            {"slot": "pool_wait", "arg": "wait_ms", "unit": "ms", "default": 1.5, "disabled": [0]},
            {"slot": "connect", "arg": "wait_ms", "unit": "ms", "default": 1.5, "disabled": [0]},
            {"slot": "read", "setter": "set_read"},
            {"slot": "total", "key": "read_limit", "key_in": "options", "default": "unset"},
        ],
        "parts": [{"arg": "transport", "pos": 2}],
    }
    # Positions are those of the first name only.
    assert found["types"][1] == {
        "name": "box.AsyncClient",
        "bases": ["box.Client"],
        "role": "client",
        "bounds": [{key: value for key, value in bound.items() if key != "pos"} for bound in found["types"][0]["bounds"]],
    }


def test_calls(table: dict[str, Any]) -> None:
    calls = {name: row for row in rows(convert(table, "python")[0]["box.yaml"])["calls"] for name in row["names"]}
    assert calls["box.connect"]["returns"] == "box.Client"
    assert calls["box.Client.get"] == {
        "names": ["box.Client.get"],
        "does": "network",
        "bounds": [{"slot": "total", "arg": "deadline", "pos": 1}],
    }
    assert calls["box.Client.put"] == {
        "names": ["box.Client.put"],
        "does": "network",
        "bounds": [{"slot": "total", "arg": "deadline"}],
    }
    assert calls["box.Client.close"]["does"] == "pure"
    assert "box.Client.set_read" not in calls


def test_the_standard_library_is_split_by_module(table: dict[str, Any]) -> None:
    found = rows(convert(table, "python")[0]["queue.yaml"])
    assert found["types"] == [
        {
            "name": "queue.Queue",
            "role": "queue",
            "bounds": [{"slot": "capacity", "arg": "maxsize", "pos": 0, "unit": "count", "disabled": [0, "negative"]}],
        }
    ]
    assert found["calls"][0]["does"] == "wait"


def test_unverified_rows_stand_apart(table: dict[str, Any]) -> None:
    files, _ = convert(table, "python")
    assert files["box_unverified.yaml"].verified is False
    assert rows(files["box_unverified.yaml"])["calls"] == [
        {"names": ["box.spawn"], "does": "spawn", "spawn": {"target": 0}},
    ]


def test_facts_are_kept_as_notes(table: dict[str, Any]) -> None:
    notes = convert(table, "python")[0]["box.yaml"].notes
    assert "box.Client: a reader's note" in notes
    assert "box.Client: also bounded by box.setdefaulttimeout(10)" in notes
    assert "box.Client: 2.0: timeout default None -> 5" in notes


def test_what_is_left_out_is_said(table: dict[str, Any]) -> None:
    _, report = convert(table, "python")
    assert report.left_out == {
        "usage in prose": ["box.Client: with box.open() as client"],
        "unit 'factor' measures no slot": ["box.Client: multiplier"],
        "no slot 'hash'": ["box.Client: seed"],
        "where 'env' has no equivalent": ["box.Client: BOX_TIMEOUT"],
        "disabling value is an expression": ["box.Client: wait_ms: Wait(None)"],
        "kind 'cache' has no equivalent": ["box.cache"],
        "no canonical name": ["box.spawn: any coroutine"],
    }
    assert "default is no number, written as unset" in report.to_check
    text = report.text()
    assert text.startswith("converted: 4 entries, 3 files, ")
    assert "not converted: 7\n" in text


def test_go() -> None:
    entry = {
        "id": "go.box",
        "library": "github.com/acme/box/v2",
        "kind": "client",
        "names": [f"github.com/acme/box/v2.{name}" for name in ("NewClient", "Options", "WithLimit", "DefaultClient")],
        "methods": [],
        "params": [
            {
                "name": "ReadTimeout / WriteTimeout",
                "where": "attr",
                "bounds": "io",
                "unit": "dur",
                "default": "3s",
                "finite": True,
                "disabled_by": ["<= 0"],
            },
            {"name": "WithLimit", "where": "option", "bounds": "concurrency", "unit": "count", "default": 0, "finite": False},
        ],
        "rules": ["RS101"],
        "source": "acme/box",
        "verified": "acme/box@1",
    }
    query = {
        **entry,
        "id": "go.box.query",
        "kind": "query",
        "names": [],
        "methods": ["github.com/acme/box/v2.Conn#Query", "github.com/acme/box/v2.Conn#QueryContext"],
        "params": [{"name": "ctx", "where": "context", "bounds": "deadline", "unit": "abs_time", "default": "none"}],
    }
    context = {**query, "id": "go.context", "library": "stdlib", "kind": "context", "names": ["context.WithTimeout"], "methods": []}
    files, _ = convert({"entries": [entry, query, context]}, "go")
    found = rows(files["acme_box_v2.yaml"])
    assert found["modules"] == ["github.com/acme/box/v2"]
    types = {row["name"].rpartition(".")[2]: row for row in found["types"]}
    assert types["Options"]["bounds"] == [
        {"slot": "io", "field": "ReadTimeout", "unit": "dur", "default": 3, "disabled": [0, "negative"]},
        {"slot": "io", "field": "WriteTimeout", "unit": "dur", "default": 3, "disabled": [0, "negative"]},
    ]
    assert types["Client"]["aliases"] == ["github.com/acme/box/v2.NewClient"]
    assert types["Client"]["instances"] == ["github.com/acme/box/v2.DefaultClient"]
    assert types["Client"]["parts"] == [{"pos": 0}]
    assert types["Client"]["bounds"] == [{"slot": "concurrency", "option": "github.com/acme/box/v2.WithLimit", "unit": "count"}]
    calls = {row["names"][0].rpartition(".")[2]: row for row in found["calls"]}
    assert calls["Query"]["takes_no_context"] is True and "context" not in calls["Query"]
    assert calls["QueryContext"]["context"] == 0
    assert rows(files["context.yaml"])["calls"] == [
        {"names": ["context.WithTimeout"], "does": "make", "makes": {"kind": "bounded", "parent": 0, "duration": 1}}
    ]


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (500, "ms", 0.5),
        ("500ms", "dur", 0.5),
        ("1.5h", "dur", 5400),
        (3, "count", 3),
        (5, "dur", None),
        (True, "bool", None),
        ("ReadTimeout", "dur", None),
    ],
)
def test_quantities(value: object, unit: str, expected: float | None) -> None:
    assert quantity(value, unit) == expected


def test_modules_and_file_names() -> None:
    assert module_of("google.cloud.storage.Client", "python") == "google.cloud.storage"
    assert module_of("requests.adapters.HTTPAdapter", "python") == "requests"
    assert module_of("net/http.Client.Do", "go") == "net/http"
    assert module_of("gopkg.in/yaml.v3.Decoder", "go") == "gopkg.in/yaml.v3"
    assert file_name("github.com/redis/go-redis/v9") == "redis_go_redis_v9"
    assert file_name("net/http") == "net_http"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE), "--only", "stdlib", "--output", str(tmp_path / "out")]) == 0
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["queue.yaml"]
    assert capsys.readouterr().out.startswith("converted: 1 entries, 1 files")
    assert main([str(SAMPLE), "--only", "stdlib"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("# queue.yaml\nlibrary: queue\n") and printed.err.startswith("converted: ")
    with pytest.raises(SystemExit):
        main([str(SAMPLE), "--only", "boxx"])
    assert "no library 'boxx' in the table; it has: box, stdlib" in capsys.readouterr().err
