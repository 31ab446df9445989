"""`resilint budget`: what is asked for, in every format; the page is opened in a browser where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from resilint.cli import main

Run = Callable[..., Any]

EVIL = "/x/<script>document.title='owned'</script>\"'>&amp;"
APP = f"""
import time

import requests
from fastapi import FastAPI

app = FastAPI()


def stock(order):
    return requests.get("http://stock", timeout=(1, 3))


@app.post("/checkout")
def checkout(order):
    stock(order)
    for attempt in range(3):
        try:
            return requests.post("http://pay", timeout=(1, 1))
        except requests.RequestException:
            if attempt == 2:
                raise
            time.sleep(0.5)


@app.get("/orders/{{order}}")
def order(order):
    requests.get("http://orders", timeout=(8, 8))


@app.get({EVIL!r})
def evil():
    requests.get("http://evil")


@app.get("/ping")
def ping():
    return "pong"
"""
SETTINGS = """
services:
  shop:
    paths: ["shop/**"]
    callers: {gateway: {timeout: 10s}}
"""
EVIL_FILE = "shop/<img src=x onerror=alert(1)>.py"
EVIL_APP = 'import time\nfrom fastapi import FastAPI\napp = FastAPI()\n@app.get("/slow")\ndef slow():\n    time.sleep(2)\n'


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A service in the current directory."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "app.py").write_text(APP, "utf-8")
    (tmp_path / EVIL_FILE).write_text(EVIL_APP, "utf-8")
    (tmp_path / "resilint.yaml").write_text(SETTINGS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text(shop: Path, resilint: Run) -> None:
    assert resilint("budget", "checkout", code=0).stdout == (
        "checkout  POST /checkout\n"
        "  shop/app.py:14, request\n"
        "  11 s, under 10 s of the timeout of gateway (declared) (resilint.yaml:5): past\n"
        "  its deadline by its retries (RS505)\n"
        "  1 + 3 s requests.get, 3 × (1 + 1 s) requests.post, 2 × 500 ms pause = 11 s\n"
        "                                         0                    10 s│\n"
        "  stock › requests.get                   ██████████               │          4 s\n"
        "    shop/app.py:11  1 + 3 s, written in the program\n"
        "  3 tries                                          ██████████████████        7 s\n"
        "    shop/app.py:17  up to 3 tries\n"
        "    requests.post                                  ███████████████│          6 s\n"
        "      shop/app.py:19  3 × (1 + 1 s), written in the program\n"
        "    pause                                                         ▒▒▒        1 s\n"
        "      shop/app.py:17  2 × 500 ms, written in the program\n"
        "\n"
        "█ waits  ▒ pauses  ░ beside others, or cut  ? unknown  → for ever  │ deadline\n"
        "\n"
        "1 entry point, 1 past its deadline\n"
    )


def test_the_whole_program_in_80_columns(shop: Path, resilint: Run) -> None:
    out = resilint("budget", code=0).stdout
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert out == resilint("budget", "--no-cache", "--jobs", "1", code=0).stdout
    heads = [line for line in out.splitlines() if line and not line.startswith((" ", "█"))]
    assert [head.split()[0] for head in heads] == ["evil", "order", "checkout", "slow", "4"]
    assert heads[-1] == "4 entry points, 3 past their deadline, 1 more waits for nothing that is known"


def test_json(shop: Path, resilint: Run) -> None:
    report = json.loads(resilint("budget", "--format", "json", code=0).stdout)
    assert [(one["name"], one["verdict"], one["rule"]) for one in report] == [
        ("evil", "endless", "RS106"),
        ("order", "exceeds", "RS106"),
        ("checkout", "retries", "RS505"),
        ("slow", "fits", None),
    ]
    evil, order, checkout, _ = report
    assert evil["worst_case"]["seconds"] == "inf" and evil["waits"][0]["seconds"] == "inf"
    assert (order["name"], order["path"], order["line"], order["route"]) == ("order", "shop/app.py", 26, "GET /orders/{order}")
    assert order["deadline"] == {
        "seconds": 10.0,
        "owner": "the timeout of gateway (declared)",
        "stops": False,
        "confidence": "high",
        "path": "resilint.yaml",
        "line": 5,
    }
    assert order["worst_case"] == {
        "seconds": 16.0,
        "known": 16.0,
        "at_least": False,
        "endless": None,
        "arithmetic": "8 + 8 s requests.get",
        "open": [],
    }
    retry = checkout["waits"][1]
    assert (retry["kind"], retry["start"], retry["seconds"], retry["rounds"]) == ("retry", 4, 7, 3)
    assert [(part["name"], part["start"], part["seconds"]) for part in retry["parts"]] == [
        ("requests.post", 4, 6),
        ("pause", 10, 1),
    ]
    assert (retry["parts"][0]["path"], retry["parts"][0]["line"]) == ("shop/app.py", 19)


def test_paths_and_outputs(shop: Path, resilint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def names(*arguments: str) -> list[str]:
        return [one["name"] for one in json.loads(resilint("budget", "--format", "json", *arguments, code=0).stdout)]

    assert names(".", "--root", ".") == ["evil", "order", "checkout", "slow"]
    assert names("shop/app.py") == ["evil", "order", "checkout"]
    assert names("shop/a*.py") == ["evil", "order", "checkout"]
    assert names("checkout", "shop/app.py") == ["checkout"]
    assert names("ping") == []
    assert resilint("budget", "order", "--output", "json:out.json", "--output", "out.html", code=0).stdout == ""
    assert json.loads((shop / "out.json").read_text("utf-8"))[0]["name"] == "order"
    assert (shop / "out.html").read_text("utf-8").startswith("order  GET")
    monkeypatch.chdir(shop / "shop")
    assert resilint("budget", "order", "--root", "..", code=0).stdout.splitlines()[1] == "  app.py:26, request"


def test_an_entry_point_that_waits_for_nothing(shop: Path, resilint: Run) -> None:
    said = "0 entry points, 1 more waits for nothing that is known\n"
    assert resilint("budget", "ping", code=0).stdout == said
    assert "No entry point waits" in resilint("budget", "ping", "--format", "html", code=0).stdout


def test_wrong_usage(shop: Path, resilint: Run) -> None:
    near = resilint("budget", "chekout", code=2)
    assert near.stdout == ""
    assert near.stderr.startswith("resilint: no entry point has the name, route or path 'chekout': did you mean 'checkout'")
    assert len(near.stderr.splitlines()) == 1
    assert resilint("budget", "nothing at all", code=2).stderr.count("did you mean") == 0
    assert "unknown format 'svg'" in resilint("budget", "--output", "svg:x", code=2).stderr
    assert "no-such-folder" in resilint("budget", "order", "no-such-folder", code=2).stderr
    (shop / "resilint.yaml").write_text("servces: {}\n", "utf-8")
    assert "resilint.yaml:1" in resilint("budget", code=2).stderr


def test_hostile_names_stay_text_on_a_terminal(shop: Path, resilint: Run) -> None:
    (shop / "shop" / "app.py").write_text(APP.replace('"/checkout"', '"/a\\x1b[31m\\u202e/b"'), "utf-8")
    out = resilint("budget", code=0).stdout
    assert "\x1b" not in out and "\u202e" not in out
    assert "/a\x1b[31m\u202e/b" in json.loads(resilint("budget", "checkout", "--format", "json", code=0).stdout)[0]["route"]


def test_colours_only_where_someone_looks(shop: Path) -> None:
    command = [sys.executable, "-c", "from resilint.cli import main; main()", "budget", "order"]
    piped = subprocess.run(command, cwd=shop, capture_output=True, text=True, encoding="utf-8", check=True)
    assert "\x1b" not in piped.stdout
    assert "█" in piped.stdout


# ---------------------------------------------------------------- the page


class _Page(HTMLParser):
    """What a browser makes of a page: its elements with their attributes, and the text of each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data


@pytest.fixture
def page(shop: Path, resilint: Run) -> str:
    """The page of the whole service."""
    return str(resilint("budget", "--format", "html", code=0).stdout)


def test_the_page_needs_nothing_else(page: str) -> None:
    parsed = _Page(page)
    assert parsed.open == []
    assert [tag for tag, _ in parsed.elements].count("script") == 1
    for tag, attributes in parsed.elements:
        for key in ("src", "href", "action", "data", "srcset"):
            value = attributes.get(key)
            assert value is None or value.startswith("#") or value == "data:,", (tag, value)
        assert not [key for key in attributes if key.startswith("on")], tag
    assert "http://" not in re.sub(r"<code.*?</code>", "", page) and "https://" not in page
    assert "@import" not in page and "url(" not in page


def test_hostile_names_stay_text_on_the_page(page: str) -> None:
    parsed = _Page(page)
    assert f"GET {EVIL}" in parsed.text
    assert EVIL_FILE in parsed.text
    assert "img" not in [tag for tag, _ in parsed.elements]


def test_the_page_says_what_the_bars_show(page: str) -> None:
    parsed = _Page(page)
    headings = re.findall(r'<section id="(e\d+)" class="(\w+)"', page)
    assert headings == [("e1", "endless"), ("e2", "exceeds"), ("e3", "retries"), ("e4", "fits")]
    targets = [a["href"] for tag, a in parsed.elements if tag == "a" and (a.get("href") or "").startswith("#e")]
    assert targets == ["#e1", "#e2", "#e3", "#e4"]
    assert "from 4 s to 10 s" in parsed.text and "from 10 s to 11 s" in parsed.text
    assert "3 × (1 + 1 s)" in parsed.text and "= 11 s" in parsed.text
    labelled = {a["for"] for tag, a in parsed.elements if tag == "label" and "for" in a}
    assert {a["id"] for tag, a in parsed.elements if tag == "input" and "id" in a} <= labelled
    assert [a["scope"] for tag, a in parsed.elements if tag == "th"].count("col") == 4 * 4


def test_the_colours_can_be_told_apart(page: str) -> None:
    """Text has a contrast of 4.5 to 1 against what it stands on, bars of 3 to 1, in both schemes (WCAG 2.1)."""
    schemes = re.findall(r":root \{([^}]*)\}", page)
    assert len(schemes) == 2
    for scheme in schemes:
        colors = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", scheme))
        for ground in ("page", "panel", "hover"):
            for name in ("ink", "soft", "past", "warn", "good"):
                assert _contrast(colors[name], colors[ground]) >= 4.5, (name, ground)
        for name in ("wait", "past", "pause", "focus"):
            assert _contrast(colors[name], colors["page"]) >= 3, name


def _contrast(one: str, other: str) -> float:
    def light(color: str) -> float:
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
DRIVER = """
<script>
const frame = document.createElement("iframe");
frame.style = "width:1000px;height:800px";
frame.onload = () => {
  const page = frame.contentDocument, view = frame.contentWindow;
  const shown = () => [...page.querySelectorAll("main > section")].filter((s) => s.getClientRects().length).map((s) => s.id);
  const listed = () => [...page.querySelectorAll("#list li")].filter((li) => li.getClientRects().length).length;
  const key = (name) => page.activeElement.dispatchEvent(new view.KeyboardEvent("keydown", { key: name, bubbles: true }));
  const out = { title: page.title, first: shown(), all: listed() };
  const search = page.getElementById("search");
  key("/");
  out.slash = page.activeElement === search;
  search.value = "CHECKOUT app.py";
  search.dispatchEvent(new view.Event("input"));
  out.found = listed();
  out.said = page.getElementById("count").textContent;
  key("ArrowDown");
  out.focus = page.activeElement.getAttribute("href");
  page.activeElement.click();
  key("Escape");
  search.focus();
  key("Escape");
  out.cleared = listed();
  const past = [...page.querySelectorAll('input[name="show"]')][1];
  past.click();
  out.past = listed();
  setTimeout(() => {
    out.second = shown();
    out.current = page.querySelector("[aria-current]").getAttribute("href");
    const button = page.querySelector("section.chosen th > button");
    const rows = () => [...page.querySelectorAll("section.chosen tbody tr")].filter((r) => r.getClientRects().length).length;
    out.rows = rows();
    button.click();
    out.closed = [rows(), button.getAttribute("aria-expanded")];
    out.wide = page.documentElement.scrollWidth <= view.innerWidth;
    frame.style.width = "390px";
    out.narrow = page.documentElement.scrollWidth <= view.innerWidth;
    document.title = "done";
    const result = document.createElement("pre");
    result.id = "result";
    result.textContent = JSON.stringify(out);
    document.body.append(result);
  }, 50);
};
frame.src = "page.html";
document.body.append(frame);
</script>
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here to open the page in")
def test_the_page_in_a_browser(shop: Path, page: str, tmp_path: Path) -> None:
    """Search, filter, keys and folding work; nothing hostile runs; it fits a telephone."""
    # In a frame, so that a script beside it can use it as a person would.
    (tmp_path / "page.html").write_text(page, "utf-8")
    driver = tmp_path / "driver.html"
    driver.write_text(f"<!doctype html><title>driver</title><body>{DRIVER}", "utf-8")
    assert BROWSER is not None
    dumped = subprocess.run(
        [
            BROWSER,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=5000",
            "--dump-dom",
            driver.as_uri(),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    ).stdout
    result = re.search(r'<pre id="result">(.*?)</pre>', dumped, re.DOTALL)
    assert result is not None, dumped[-500:]
    seen = json.loads(result[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    assert seen == {
        "title": "resilint budget",
        "first": ["e1"],
        "all": 4,
        "slash": True,
        "found": 1,
        "said": "1 of 4 entry points",
        "focus": "#e3",
        "cleared": 4,
        "past": 3,
        "second": ["e3"],
        "current": "#e3",
        "rows": 4,
        "closed": [2, "false"],
        "wide": True,
        "narrow": True,
    }


def test_help_says_what_it_takes() -> None:
    said = CliRunner().invoke(main, ["budget", "--help"]).stdout
    assert "[ENDPOINT] [PATHS]..." in said


def test_a_fault_of_its_own(shop: Path, resilint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise ZeroDivisionError("no luck")

    monkeypatch.setattr("resilint.run.read_program", fail)
    assert "ZeroDivisionError: no luck" in resilint("budget", code=3).stderr
