"""In-house knowledge of what nothing imports."""

from __future__ import annotations

from typing import Any

import pytest
from resilint.discover import kind_of_name
from resilint.facts import decode
from resilint.knowledge import load
from resilint.knowledge.unused import unused
from resilint.read import read


def said(library: dict[str, Any], files: dict[str, str]) -> list[str]:
    facts = {path: decode(read(text.encode(), str(kind_of_name(path)))) for path, text in files.items()}
    return list(unused(load([{"library": "ours", **library}]), facts))


def call(name: str) -> dict[str, Any]:
    return {"calls": [{"names": [name], "does": "network"}]}


@pytest.mark.parametrize(
    "files",
    [
        {"app.py": "import rpc"},
        {"app.py": "import rpc.client as c"},
        {"app.py": "from rpc import Client"},
        {"app.py": "from rpc.client import *"},
        {"lib/rpc/client.py": "", "app.py": "from . import client"},
        {"rpc.py": ""},
        {"main.go": "package main"},
    ],
)
def test_what_is_imported_or_written_here_is_used(files: dict[str, str]) -> None:
    assert said({"language": "python", **call("rpc.get")}, files) == []


def test_modules_by_the_names_of_each_language() -> None:
    python = {"language": "python", **call("rpc.get")}
    assert said(python, {"app.py": "import rcp\nimport os"}) == [
        "knowledge of 'ours' (knowledge:1): nothing in this program imports rpc"
    ]
    assert said(python, {"app.py": "import our_rpc"}) == ["knowledge of 'ours' (knowledge:1): nothing in this program imports rpc"]
    go = {"language": "go", "types": [{"name": "example.com/ours/rpc.Client", "role": "client"}]}
    assert said(go, {"main.go": 'package main\nimport "example.com/ours/rpc"'}) == []
    assert said(go, {"main.go": 'package main\nimport "example.com/ours/rcp"'}) == [
        "knowledge of 'ours' (knowledge:1): nothing in this program imports example.com/ours/rpc: "
        "did you mean 'example.com/ours/rcp'?"
    ]
    java = {"language": "java", "types": [{"name": "com.example.rpc.Client", "role": "client"}]}
    assert said(java, {"A.java": "import com.example.rpc.Client; class A {}"}) == []
    assert said(java, {"A.java": "import com.example.rpc.*; class A {}"}) == []
    assert said(java, {"com/example/rpc/A.java": "package com.example.rpc; class A {}"}) == []
    assert said(java, {"A.java": "import com.example.rcp.Client; class A {}"}) == [
        "knowledge of 'ours' (knowledge:1): nothing in this program imports com.example.rpc: did you mean 'com.example.rcp'?"
    ]


def test_a_written_module_comes_before_the_names() -> None:
    library = {"language": "python", "modules": ["rcp", "rpc2"], **call("rpc.get")}
    assert said(library, {"app.py": "import rpc"}) == [
        "knowledge of 'ours' (knowledge:1): nothing in this program imports rcp or rpc2: did you mean 'rpc'?"
    ]
    assert said({**library, "modules": ["rcp", "rpc"]}, {"app.py": "import rpc"}) == []


def test_nothing_is_said_of_names_without_a_module() -> None:
    assert said({"language": "python", **call("fetch")}, {"app.py": "import rpc"}) == []
    assert said({"language": "python"}, {"app.py": "import rpc"}) == []
