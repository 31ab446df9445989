"""README and the pages of docs/ promise only what is there: commands and options, links, and what the first run prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from resilint.cli import main

Run = Callable[..., Any]

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())

SHOP = {
    "http_client.py": """\
import requests

session = requests.Session()


def fetch(url, timeout=None):
    return session.get(url, timeout=timeout).json()
""",
    "app.py": """\
from http_client import fetch


def stock(sku):
    return fetch(f"https://stock.internal/{sku}", timeout=3)


def tax(country):
    return fetch(f"https://tax.internal/{country}")
""",
}


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command line of resilint in code of a page."""
    spans = re.findall(r"`(resilint [^`\n]+)`", text)
    spans += [line.partition("#")[0] for line in re.findall(r"^[ \t$]*(resilint [^\n]+)", text, re.MULTILINE)]
    for span in spans:
        yield re.split(r"\s+", span.replace("\\|", "|").strip())[1:]


@each_page
def test_commands_and_options_of_a_page_exist(page: Path) -> None:
    wrong = []
    for words in commands(page.read_text("utf-8")):
        command = main.commands.get(words[0])
        if command is None:
            # A sentence about resilint, or an option of its own.
            if words[0].startswith("-") and words[0] not in ("--help", "--version"):
                wrong.append(words)
            continue
        known = {option for one in command.params if isinstance(one, click.Option) for option in (*one.opts, *one.secondary_opts)}
        wrong += [
            [words[0], word] for word in words[1:] if word.startswith("-") and word.partition("=")[0] not in {*known, "--help"}
        ]
    assert wrong == []


@each_page
def test_options_named_alone_exist(page: Path) -> None:
    known = {option for command in main.commands.values() for one in command.params for option in one.opts}
    text = page.read_text("utf-8")
    others = {"--help", "--version", "--languages"}
    named = set(re.findall(r"`(--[a-z][a-z-]+)[`= ]", text))
    foreign = set(re.findall(r"(?:pip|git|python -m \S+|pytest|docker|curl|pre-commit)[^`\n]* (--[a-z][a-z-]+)", text))
    assert named - known - others - foreign == set()


@each_page
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    text = re.sub(r"^(`{3,}).*?^\1", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", link)]
    assert [link for link in links if link and not (page.parent / link).exists()] == []


def test_the_first_run_prints_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resilint: Run) -> None:
    for name, text in SHOP.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    said = re.sub(r"\(\d+\.\d s\)", "(0.1 s)", resilint("check", code=1).stdout)
    assert f"```text\n{said}```" in (ROOT / "README.md").read_text("utf-8")
    trace = resilint("check", "--show-trace", code=1).stdout
    assert "http_client.py:7:12: requests.Session.get waits here without a bound" in trace
