"""Pauses of loops, pass by pass."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from resilint.flow.growth import pauses_of
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import Settings

PYTHON = """
import random
import time


def call():
    ...


def f():
"""
GO = """
package p

import (
	"math/rand"
	"time"
)

func call() error { return nil }

var _ = rand.Intn

func f() error {
"""


def pauses(tmp_path: Path, path: str, text: str, tries: int = 4) -> list[float] | None:
    """The pauses of the only retry in `f`."""
    (tmp_path / path).write_text(text, "utf-8")
    scope, settings, texts = Scope(tmp_path, tmp_path), Settings(), Texts(tmp_path)
    program = link(read_program(scope, settings, texts), settings, texts)
    fn = next(fn for fn in program.functions() if fn.name == "f")
    (retry,) = program.retries.of(fn)
    sites = {id(site.call): site for site in fn.body.calls}
    found = pauses_of(program, retry.node, retry.path, tries, program.resolver.frame(fn), lambda call: sites.get(id(call)))
    assert found is not None and found.sure
    return list(found.seconds) if found.seconds is not None else None


@pytest.mark.parametrize(
    ("before", "pause", "found"),
    [
        ("", "time.sleep(0.5)", [0.5, 0.5, 0.5, 0.5]),
        ("", "time.sleep(2 ** i)", [1, 2, 4, 8]),
        ("", "time.sleep(min(3, 2 ** i))", [1, 2, 3, 3]),
        ("d = 0.5", "time.sleep(d)\nd *= 2", [0.5, 1, 2, 4]),
        ("d = 0.5", "time.sleep(d)\nd = min(d * 3, 4)", [0.5, 1.5, 4, 4]),
        ("d = 1", "time.sleep(d)\nd *= 2\nif d > 3:\n    d = 3", [1, 2, 3, 3]),
        ("d = 1", "if d < 3:\n    d += 1\ntime.sleep(d)", [2, 3, 3, 3]),
        ("", "time.sleep(random.uniform(0, 2 ** i))", [1, 2, 4, 8]),
        ("", "time.sleep(0.1 + random.random())", [1.1, 1.1, 1.1, 1.1]),
        ("", "wait = 0.1 * (i + 1)\ntime.sleep(wait)", [0.1, 0.2, 0.3, 0.4]),
        ("", "time.sleep(elsewhere(i))", None),
        ("d = 1", "time.sleep(d)\nd = elsewhere(d)", None),
        ("", "time.sleep(10 ** 400)", None),
    ],
)
def test_python(tmp_path: Path, before: str, pause: str, found: list[float] | None) -> None:
    loop = f"for i in range(4):\n    try:\n        return call()\n    except OSError:\n{indent(pause, ' ' * 8)}"
    text = PYTHON + indent(f"{before}\n{loop}\nraise RuntimeError", "    ")
    assert pauses(tmp_path, "p.py", text) == (pytest.approx(found) if found is not None else None)


@pytest.mark.parametrize(
    ("before", "pause", "found"),
    [
        ("", "time.Sleep(200 * time.Millisecond)", [0.2, 0.2, 0.2, 0.2]),
        ("d := time.Second", "time.Sleep(d)\nd *= 2", [1, 2, 4, 8]),
        ("", "time.Sleep(time.Duration(1<<i) * time.Second)", [1, 2, 4, 8]),
        ("d := time.Second", "time.Sleep(d)\nd *= 2\nif d > 3*time.Second {\n\td = 3 * time.Second\n}", [1, 2, 3, 3]),
        ("", "time.Sleep(time.Duration(rand.Intn(100)) * time.Millisecond)", [0.1, 0.1, 0.1, 0.1]),
    ],
)
def test_go(tmp_path: Path, before: str, pause: str, found: list[float]) -> None:
    loop = f"for i := 0; i < 4; i++ {{\nerr := call()\nif err == nil {{\nreturn nil\n}}\n{pause}\n}}\nreturn nil\n}}\n"
    assert pauses(tmp_path, "p.go", dedent(GO) + f"{before}\n{loop}") == pytest.approx(found)
