"""The site: built from what is written, every link leads somewhere, and opened from a file it asks nothing of the network."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import pytest
from resilint import registry
from resilint.cli import main
from resilint.schemas import settings_schema
from resilint.testing import Case, cases, check, differences

ROOT = Path(__file__).parents[2]
OUTAGES = ROOT / "examples" / "outages"
BUILD = ROOT / "docs" / "site" / "build.py"
BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
GUIDES = ("adopt", "bounds", "ci", "editors", "knowledge", "rules", "scale")
BOUNDS = cases((ROOT / "docs" / "bounds.md").read_text("utf-8"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    for module in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(module, reason="the extra `docs` is not installed")
    out = tmp_path_factory.mktemp("site") / "site"
    done = subprocess.run([sys.executable, str(BUILD), str(out)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out


class Page(HTMLParser):
    """The links, ids and text of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.text = ""
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "prefetch"):
            self.loaded.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    return {file.relative_to(site).as_posix(): Page(file) for file in sorted(site.rglob("*.html"))}


def test_every_page_is_there(pages: dict[str, Page]) -> None:
    files = [file.stem for file in (ROOT / "docs").glob("*.md")]
    assert set(GUIDES) <= set(files), f"not written: {set(GUIDES) - set(files)}"
    codes = [rule.code for rule in registry.rules() if rule.code.startswith(registry.OWN_PREFIX)]
    expected = {
        f"{name}.html" for name in (*files, "index", "commands", "settings", "outages", "contributing", "changelog", "search")
    }
    inner = {f"rules/{code}.html" for code in codes} | {f"outages/{file.parent.name}.html" for file in OUTAGES.glob("*/README.md")}
    assert expected | inner | {"rules/index.html"} <= set(pages)
    navigation = {link.partition("#")[0] for link in pages["index.html"].links}
    assert expected - {"search.html", "index.html"} <= navigation


def test_every_link_leads_somewhere(site: Path, pages: dict[str, Page]) -> None:
    wrong = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme in ("https", "http", "mailto"), (name, link)
                continue
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            place = target.resolve()
            known = pages.get(place.relative_to(site.resolve()).as_posix()) if place.is_file() else None
            if known is None or (parts.fragment and unquote(parts.fragment) not in known.ids and parts.fragment != "top"):
                wrong.append((name, link))
    assert wrong == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        for link in page.loaded:
            assert not urlsplit(link).scheme or link.startswith("data:"), (name, link)
            assert ((site / name).parent / unquote(urlsplit(link).path)).is_file(), (name, link)
    for style in site.rglob("*.css"):
        text = style.read_text("utf-8")
        assert not re.search(r"@import|url\(\s*[\"']?(?!data:|#)[\w/.]*//", text), style


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    """A file that is missing, and an anchor that is."""
    pytest.importorskip("myst_parser", reason="the extra `docs` is not installed")
    script = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import build\n"
        "known = build.pages()\n"
        "text = '[a](knowledge.md#a-client) `[b](c)` [its text](../LICENSE) [LICENSE](../LICENSE)'\n"
        "print(build._links(text, 'docs/ci.md', known, build.ROOT))\n"
        "build._links('[a](nothing.md)', 'docs/ci.md', known, build.ROOT)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(BUILD.parent)], capture_output=True, text=True)
    assert done.stdout == "[a](knowledge.md#a-client) `[b](c)` its text (`LICENSE`) LICENSE\n"
    assert done.stderr.splitlines()[-1] == "build.BadPage: docs/ci.md: nothing.md leads nowhere"


def test_the_index_lists_every_rule_under_its_family(pages: dict[str, Page]) -> None:
    page = pages["rules/index.html"]
    for rule in registry.rules():
        assert f"{rule.code}.html" in page.links and f"{rule.code} {rule.name}" in page.text
    headings = re.findall(r"(RS\d): ([a-z][^\n#¶]+)", page.text)
    assert [family for family, _ in dict(headings).items()] == [f"RS{n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 0)]


def test_the_settings_page_has_every_key(pages: dict[str, Page]) -> None:
    text = pages["settings.html"].text

    def keys(schema: Any) -> Iterator[str]:
        if isinstance(schema, dict):
            for key, value in schema.get("properties", {}).items():
                yield key
                if key != "knowledge":
                    yield from keys(value)
            for word in ("additionalProperties", "items"):
                yield from keys(schema.get(word))

    assert [key for key in keys(settings_schema()) if key not in text] == []


def test_the_commands_page_has_every_option(pages: dict[str, Page]) -> None:
    text = pages["commands.html"].text
    missing = []
    for name, command in main.commands.items():
        assert f"resilint {name}" in text
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                missing += [(name, word) for word in option.opts if word not in text]
    assert missing == []


def test_examples_show_what_is_found_without_the_marks(site: Path, pages: dict[str, Page]) -> None:
    assert "# want" not in pages["rules/RS101.html"].text and "// want" not in pages["rules/RS101.html"].text
    assert (site / "rules" / "RS101.html").read_text("utf-8").count('class="hll"') >= 4


# ---------------------------------------------------------------- the page on bounds


@pytest.mark.parametrize("case", BOUNDS, ids=lambda case: case.name)
def test_examples_of_the_page_on_bounds(case: Case, tmp_path: Path) -> None:
    assert case.wants
    assert not differences(case, check(case, tmp_path, registry.rules()))


# ---------------------------------------------------------------- in a browser


class Browser:
    """Chromium, spoken to over the pipe that its debugging protocol offers: no port, no network."""

    def __init__(self, program: str, profile: Path) -> None:
        ours, theirs = os.pipe(), os.pipe()
        # Out of the way of 3 and 4, where the program expects its ends.
        read, write = (fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (ours[0], theirs[1]))
        os.close(ours[0])
        os.close(theirs[1])

        def place() -> None:
            os.dup2(read, 3)
            os.dup2(write, 4)

        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            [program, *options, "about:blank"],
            preexec_fn=place,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self._in, self._out = os.fdopen(ours[1], "wb", 0), os.fdopen(theirs[0], "rb")
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    _session: str | None = None

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._out], [], [], 60)
            assert ready, "the browser says nothing"
            part = os.read(self._out.fileno(), 1 << 20)
            assert part, "the browser has gone"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        parsed: dict[str, Any] = json.loads(message)
        return parsed

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Asks the page and gives the answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._in.write(json.dumps(message).encode() + b"\0")
        while True:
            got = self._next()
            if got.get("id") == self._number:
                assert "error" not in got, got
                result: dict[str, Any] = got["result"]
                return result
            self.events.append(got)

    def wait(self, method: str) -> None:
        """Waits for an event."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        """What an expression gives in the page; promises are awaited."""
        return self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)["result"].get("value")

    def open(self, url: str) -> None:
        """Opens a page and waits until all of it is there."""
        self.events = [event for event in self.events if event.get("method") != "Page.loadEventFired"]
        self.ask("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def size(self, width: int, dark: bool) -> None:
        """A window of this width, in one of the two schemes of colours."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path) -> None:
        """A picture of what is seen."""
        file.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def requests(self) -> list[str]:
        """The addresses of all that was asked for."""
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """What the console of the page shows as wrong."""
        said = []
        for event in self.events:
            given = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                said.append(str(given["exceptionDetails"]))
            elif event.get("method") == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
                said.append(given["entry"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
                said.append(str(given["args"]))
        return said

    def close(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait(30)
        self._in.close()
        self._out.close()


@pytest.fixture(scope="module")
def browser(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if BROWSER is None:
        pytest.skip("no Chromium here to open the site in")
    opened = Browser(BROWSER, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


SHOWN = ("index", "knowledge", "rules/index", "rules/RS101", "settings", "commands", "changelog", "search")
FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_in_a_browser(site: Path, browser: Browser, width: int, dark: bool) -> None:
    """Nothing leaves the machine, nothing is wrong on the console, and no page is wider than its window."""
    pictures = os.environ.get("RESILINT_PICTURES")
    browser.events.clear()
    browser.size(width, dark)
    for name in SHOWN:
        browser.open((site / f"{name}.html").as_uri())
        assert name == "search" or browser.run("document.querySelector('article').innerText.length > 300"), name
        assert browser.run(FITS), f"{name} is wider than {width}"
        if pictures:
            browser.picture(Path(pictures) / f"{name.replace('/', '-')}-{width}-{'dark' if dark else 'light'}.png")
    asked = browser.requests()
    assert len(asked) > len(SHOWN)
    assert [url for url in asked if not url.startswith((site.as_uri(), "data:"))] == []
    assert browser.complaints() == []


def test_the_search_works_from_a_file(site: Path, browser: Browser) -> None:
    browser.events.clear()
    browser.open((site / "search.html").as_uri() + "?q=backoff")
    found = browser.run(
        "new Promise(done => { const at = Date.now(); const look = () => {"
        " const links = [...document.querySelectorAll('#search-results li a')].map(a => a.getAttribute('href'));"
        " if (links.length || Date.now() - at > 8000) done(links); else setTimeout(look, 50); }; look(); })"
    )
    assert any("RS502" in link for link in found), found
    assert [url for url in browser.requests() if not url.startswith((site.as_uri(), "data:"))] == []
    assert browser.complaints() == []


def test_the_browser_sees_what_leaves(browser: Browser, tmp_path: Path) -> None:
    """The two tests above would see a request to elsewhere, and an error."""
    browser.events.clear()
    (tmp_path / "page.html").write_text("<script src='http://127.0.0.1:9/x.js'></script><script>throw new Error('no')</script>")
    browser.open((tmp_path / "page.html").as_uri())
    assert "http://127.0.0.1:9/x.js" in browser.requests()
    assert any("Error: no" in said for said in browser.complaints())
