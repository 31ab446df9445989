"""The outages in examples/: what is found in each before it was mended, and nothing after."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from resilint import registry
from resilint.cli import main

OUTAGES = Path(__file__).parents[2] / "examples" / "outages"
NAMES = ("fanout", "gateway", "hotkey", "threadpool")

# What has to be found: code, file, a part of the line, and of the message.
FOUND = {
    "fanout": [
        ("RS301", "api/posts.go", "g.Go(", "one goroutine is started for each of `in.URIs`"),
        ("RS302", "api/posts.go", "range in.URIs", "`in.URIs` is as long as the caller makes it"),
        ("RS303", "api/counters.go", "g.SetLimit(64)", "64 goroutines at once share the 32 connections of sql.DB: 32 of them wait"),
        ("RS205", "cache/cache.go", "mc.MaxIdleConns = idle", "`in.URIs` decides how many connections"),
        ("RS802", "deploy/postview.yaml", "GOMEMLIMIT", "GOMEMLIMIT of 4096 MiB > 0.9 × 4096 MiB"),
        ("RS701", "cache/cache.go", 'log.Printf("cache: get', "for each of `in.URIs` whose c.mc.Get fails"),
        ("RS701", "cache/cache.go", 'log.Printf("cache: set', "for each of `in.URIs` whose c.mc.Set fails"),
    ],
    "gateway": [
        ("RS103", "main.go", "&http.Server{", "no header, idle or write timeout"),
        ("RS105", "httpx/send.go", "&http.Client{", "`options.timeout` never reaches http.Client"),
        (
            "RS106",
            "gate/checkout.go",
            "func checkout(",
            "can wait for ever for Client.Do under 5 s of Envoy's route timeout",
        ),
        ("RS110", "main.go", "IdleTimeout:       30 * time.Second", "30 s < 60 s of Envoy's upstream idle_timeout"),
        ("RS304", "httpx/send.go", "answers <- answer{", "nobody receives from `answers`"),
        ("RS801", "backend/backend.go", "accountURL", "account is called by its public host account.shop.example"),
        ("RS801", "backend/backend.go", "cartURL", "cart is called by its public host cart.shop.example"),
        ("RS801", "backend/backend.go", "deliveryURL", "delivery is called by its public host delivery.shop.example"),
        ("RS702", "httpx/send.go", "return nil, ErrTimeout", "`ErrTimeout` stands for two causes"),
        ("RS703", "gate/checkout.go", "errors.Is(err, httpx.ErrTimeout)", "the code goes on to call"),
    ],
    "hotkey": [
        ("RS102", "reserve/reserve.py", "pymysql.connect(", "can wait for ever"),
        (
            "RS402",
            "account/Merger.java",
            "mergeQueue",
            "500 batches of 20 × 27 ms (declared) ÷ 1 worker (declared) = 13.5 s ≥ 0.7 × 40 ms",
        ),
        (
            "RS403",
            "account/Merger.java",
            "System.nanoTime() + LINGER",
            "linger 20 ms (declared) + 27 ms (declared) for one batch = 47 ms ≥ 40 ms",
        ),
        ("RS405", "resilint.yaml", "mergeQueue", "54 batches of 20 per second come ≥ 1 worker ÷ 27 ms = 37.04"),
        ("RS803", "deploy/account.yaml", "nodeAffinity:", "account prefers the zone of mysql-primary"),
        ("RS501", "gateway/EntryController.java", "while (true)", "`accounts.add` is tried again for ever"),
        ("RS502", "gateway/EntryController.java", "Thread.sleep(100)", "`accounts.add` is tried with 100 ms in between each time"),
        ("RS503", "promo/BonusController.java", "Thread.sleep(pause)", "pauses between tries of `accounts.add` grow alike"),
        ("RS601", "client/AccountClient.java", "peers.get(hash(account) % peers.size())", "filtered by zone"),
        ("RS601", "deploy/promo.yaml", "consistentHash:", "locality"),
        ("RS305", "reserve/reserve.py", "cursor.execute(", "every row of `pending_orders` by created_at"),
        ("RS404", "reserve/reserve.py", "cursor.execute(", "table `pending_orders` is a queue that nothing bounds"),
        ("RS406", "account/Merger.java", "write(nextBatch())", "whether its caller, who waits 40 ms (declared for promo)"),
    ],
    "threadpool": [
        ("RS102", "spring/databases.xml", 'id="archiveDatabase"', "`archiveDatabase`"),
        ("RS201", "spring/provider.xml", 'id="main"', "3 services share the 200 threads"),
    ],
}


@pytest.mark.parametrize(("name", "code", "path", "line", "message"), [(n, *found) for n in NAMES for found in FOUND[n]])
def test_lesson_is_found(name: str, code: str, path: str, line: str, message: str) -> None:
    assert [
        finding
        for finding in _check(OUTAGES / name / "broken")["findings"]
        if finding["code"] == code
        and _is(finding["path"], path)
        and line in (OUTAGES / name / "broken" / finding["path"]).read_text("utf-8").splitlines()[finding["line"] - 1]
        and message in finding["message"]
    ]


@pytest.mark.parametrize("name", NAMES)
def test_only_lessons_are_found(name: str) -> None:
    """Apart from its lessons a broken service is careful: its README's table names the rule and the file of each finding."""
    lessons = _lessons(name)
    assert lessons
    found = [(finding["code"], finding["path"]) for finding in _check(OUTAGES / name / "broken")["findings"]]
    assert [(code, path) for code, path in found if not any(code == c and _is(path, file) for c, file in lessons)] == []


@pytest.mark.parametrize("name", NAMES)
def test_lessons_are_as_grave_as_the_catalogue_says(name: str) -> None:
    usual = {rule.code: rule.severity.value for rule in registry.rules()}
    assert {(f["code"], f["severity"]) for f in _check(OUTAGES / name / "broken")["findings"]} <= set(usual.items())


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_once_mended(name: str) -> None:
    report = _check(OUTAGES / name / "fixed")
    assert report["findings"] == [] and report["stats"]["files"] > 5


@pytest.mark.parametrize("name", NAMES)
def test_tables_agree(name: str) -> None:
    (row,) = (line for line in (OUTAGES / "README.md").read_text("utf-8").splitlines() if f"]({name}/README.md)" in line)
    assert sorted(set(re.findall(r"RS\d{3}", row))) == sorted({code for code, _ in _lessons(name)})


@cache
def _check(folder: Path) -> dict[str, Any]:
    """The report on a program, with findings of every confidence."""
    result = CliRunner().invoke(
        main, ["check", "--no-cache", "--exit-zero", "--confidence", "low", "--format", "json", str(folder)]
    )
    assert result.exit_code == 0, result.output
    report: dict[str, Any] = json.loads(result.stdout)
    assert report["errors"] == []
    return report


def _is(path: str, written: str) -> bool:
    """Whether a README's short name of a file means this one."""
    return f"/{path}".endswith(f"/{written}")


def _lessons(name: str) -> set[tuple[str, str]]:
    """Codes and files of the lessons, from the first two columns of the README's table."""
    found = set()
    for line in (OUTAGES / name / "README.md").read_text("utf-8").splitlines():
        if line.startswith("| RS"):
            codes, place = line.split("|")[1:3]
            files = [text for text in re.findall(r"`([^`]+)`", place) if re.search(r"^[\w/.-]+\.[a-z]+$", text)]
            found |= {(code, file) for code in codes.split() for file in files}
    return found
