"""Rules of a third party: the package that docs/rules.md shows is built, installed, used; broken ones are refused in one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from resilint.testing import cases

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
MODULE = "acme_resilint/acm101_call_above_house_limit.py"
APP = """\
import requests


def report(day):
    return requests.get("https://reports.internal/" + day, timeout=(1, 60)).json()
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as the page shows it."""
    folder = tmp_path_factory.mktemp("acme-resilint")
    for case in cases(PAGE.read_text("utf-8")):
        for name, text in case.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def installed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that pip has installed it into, without any network."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-build-isolation", "--no-deps", "--no-cache-dir"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return target


def environment(site: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))}


@pytest.fixture
def acme(installed: Path, tmp_path: Path) -> Run:
    """Runs resilint beside the package, or beside what was made of it, in a folder with a service."""
    work = tmp_path / "service"
    work.mkdir()
    (work / "app.py").write_text(APP)

    def run(*arguments: str, code: int = 0, site: Path = installed) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from resilint.cli import main; main()", *arguments]
        done = subprocess.run(command, cwd=work, env=environment(site), capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def codes(done: subprocess.CompletedProcess[str]) -> list[tuple[str, int]]:
    return [(one["code"], one["line"]) for one in json.loads(done.stdout)["findings"]]


def test_its_rules_are_listed_and_explained(acme: Run, source: Path) -> None:
    assert "ACM101  call-above-house-limit" in acme("rules").stdout
    page = (source / "src/acme_resilint/rule_docs/ACM101.md").read_text("utf-8")
    for asked in ("ACM101", "acm101", "call-above-house-limit"):
        assert acme("explain", asked).stdout == page
    assert "did you mean 'ACM101'?" in acme("explain", "ACM110", code=2).stderr


def test_its_rules_find(acme: Run) -> None:
    done = acme("check", code=1)
    assert (
        "app.py:5:12: warning ACM101 call-above-house-limit: requests.get may take 60 s, and nothing in this house" in done.stdout
    )


def test_its_rules_are_selected_ignored_and_graded(acme: Run, tmp_path: Path) -> None:
    report = ("check", "--format", "json")
    for selector in ("ACM", "ACM101", "call-above-house-limit"):
        assert codes(acme(*report, "--select", selector, code=1)) == [("ACM101", 5)]
        assert codes(acme(*report, "--ignore", selector)) == []
    assert codes(acme(*report, "--select", "RS1")) == []
    settings = tmp_path / "service" / "resilint.yaml"
    settings.write_text("severity: {ACM101: info}\n")
    assert codes(acme(*report)) == [("ACM101", 5)]
    settings.write_text('per_path: {"app.py": {ignore: [ACM1]}}\n')
    assert codes(acme(*report)) == []


def test_its_rules_are_suppressed(acme: Run, tmp_path: Path) -> None:
    app = tmp_path / "service" / "app.py"
    app.write_text(APP.rstrip("\n") + "  # resilint: ignore[ACM101] made at night\n")
    assert codes(acme("check", "--format", "json")) == []
    app.write_text(APP.replace("60", "6").rstrip("\n") + "  # resilint: ignore[ACM101] made at night\n")
    assert codes(acme("check", "--format", "json", code=1)) == [("RS001", 5)]


def test_its_page_is_its_test(installed: Path, source: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(source / "tests")]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=source, env=environment(installed), capture_output=True, text=True, timeout=60)

    assert "3 passed" in run().stdout
    page = installed / "acme_resilint" / "rule_docs" / "ACM101.md"
    text = page.read_text("utf-8")
    try:
        page.write_text(text.replace("may take 60 s", "may take 61 s"), "utf-8")
        assert "1 failed, 2 passed" in run().stdout
    finally:
        page.write_text(text, "utf-8")


def broken_prefix(site: Path) -> None:
    text = (site / MODULE).read_text("utf-8").replace('"ACM101"', '"RS950"').replace('"call-above-house-limit"', '"mine"')
    (site / MODULE).unlink()
    (site / "acme_resilint" / "rs950_mine.py").write_text(text, "utf-8")


def broken_twice(site: Path) -> None:
    shutil.copytree(site / "acme_resilint", site / "acme_copy")
    (info,) = site.glob("acme_resilint-*.dist-info")
    copy = shutil.copytree(info, site / "acme_copy-1.0.dist-info")
    for name in ("METADATA", "entry_points.txt"):
        file = copy / name
        file.write_text(
            file.read_text("utf-8").replace("acme-resilint", "acme-copy").replace("acme_resilint", "acme_copy"), "utf-8"
        )


def broken_import(site: Path) -> None:
    (site / MODULE).write_text("raise ImportError('no acme_shared\\nhere')\n", "utf-8")


def broken_exit(site: Path) -> None:
    (site / MODULE).write_text("raise SystemExit(0)\n", "utf-8")


def broken_page(site: Path) -> None:
    (site / "acme_resilint" / "rule_docs" / "ACM101.md").unlink()


@pytest.mark.parametrize(
    ("damage", "said", "on_the_page"),
    [
        (broken_prefix, "acme_resilint.rs950_mine: the prefix RS is reserved: RS950", True),
        (broken_twice, "rule ACM101 of acme_resilint exists already", True),
        (broken_import, "the rules of acme_resilint cannot be loaded: ImportError: no acme_shared here", True),
        (broken_exit, "the rules of acme_resilint cannot be loaded: SystemExit: 0", False),
        (
            broken_page,
            "acme_resilint.acm101_call_above_house_limit: ACM101 has no page: write rule_docs/ACM101.md in the package",
            True,
        ),
    ],
)
def test_a_package_that_cannot_be_used(
    acme: Run, installed: Path, tmp_path: Path, damage: Callable[[Path], None], said: str, on_the_page: bool
) -> None:
    site = shutil.copytree(installed, tmp_path / "site")
    damage(site)
    for command in (["check"], ["rules"], ["explain", "RS101"]):
        done = acme(*command, code=2, site=site)
        assert (done.stdout, done.stderr) == ("", f"resilint: {said}\n")
    assert on_the_page is (f"resilint: {said}\n" in PAGE.read_text("utf-8"))
