"""A repository with hundreds of findings is adopted with one command, and fails from then on only for what is new."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SERVICES, FILES, CALLS = 5, 10, 10
METHODS = ("get", "post", "put", "delete", "head")


def call(number: int) -> str:
    return f"""\
def call_{number}(url, body):
    headers = {{"x-number": "{number}"}}
    answer = requests.{METHODS[number % len(METHODS)]}(url, headers=headers)
    return answer.status_code
"""


def client(service: int, file: int) -> str:
    calls = (call(service * 100 + file * 10 + number) for number in range(CALLS))
    return f'"""Client {file} of service {service}."""\n\nimport requests\n\n\n' + "\n\n".join(calls)


def sources() -> dict[str, str]:
    """500 calls without a timeout; and one service whose timeout is declared in one file and used in another."""
    files = {f"service{s}/client{f}.py": client(s, f) for s in range(SERVICES) for f in range(FILES)}
    files["shared/limits.py"] = "TIMEOUT = 3\n"
    files["shared/load.py"] = (
        "import requests\nfrom shared.limits import TIMEOUT\n\n\ndef load(url):\n    return requests.get(url, timeout=TIMEOUT)\n"
    )
    files["shared/__init__.py"] = ""
    files["deploy/nginx.conf"] = "http {\n  server {\n    listen 80;\n  }\n}\n"
    return files


@pytest.fixture
def legacy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in sources().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "years of work"]):
        git(*arguments)
    return tmp_path


def git(*arguments: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def edit(path: str, change: Callable[[str], str]) -> None:
    before = Path(path).read_text()
    after = change(before)
    assert after != before
    Path(path).write_text(after)


def refactor() -> None:
    """What happens in a week, and brings nothing new: all of it is moved, renamed, edited or deleted."""
    # Lines move, neighbours change, the call itself is edited and broken up.
    edit("service0/client0.py", lambda text: text.replace("import requests\n", "import logging\n\nimport requests\n"))
    edit("service0/client1.py", lambda text: text.replace("headers=headers)", "headers=headers, data=body)"))
    edit(
        "service0/client2.py",
        lambda text: text.replace("(url, headers=headers)", "(\n        url,\n        headers=headers,\n    )"),
    )
    edit("service0/client3.py", lambda text: text.replace("answer", "response"))
    # Files and folders are renamed, one of them edited on the way.
    git("mv", "service1/client0.py", "service1/gateway.py")
    git("mv", "service2", "orders")
    edit("orders/client4.py", lambda text: text.replace("    headers = ", "    # who asks\n    headers = ", 3))
    # A function goes into another file, one changes its place, one its name, a whole file is split.
    moved = call(305)
    edit("service3/client0.py", lambda text: text.replace("\n\n" + moved, ""))
    edit("service3/client1.py", lambda text: text + "\n\n" + moved)
    edit(
        "service3/client2.py", lambda text: text.replace("\n\n" + call(329), "").replace(call(320), call(329) + "\n\n" + call(320))
    )
    edit("service3/client3.py", lambda text: text.replace("def call_330", "def first_call"))
    halves = [call(340 + number) for number in range(5)]
    edit("service3/client4.py", lambda text: text.replace("\n\n".join(halves) + "\n\n", ""))
    Path("service3/half.py").write_text("import requests\n\n\n" + "\n\n".join(halves))
    # Other code, settings and pages come and go.
    Path("service4/README.md").write_text("nothing\n")
    Path("service4/math.py").write_text("def add(a, b):\n    return a + b\n")
    edit("deploy/nginx.conf", lambda text: text.replace("80", "8080"))


def new_faults() -> set[str]:
    """The places of what is new."""
    edit("shared/limits.py", lambda text: text.replace("3", "None"))
    edit("service0/client0.py", lambda text: text + "\n\ndef fresh(url):\n    return requests.get(url)\n")
    Path("service4/copied.py").write_text(client(4, 9))
    line = len(Path("service0/client0.py").read_text().splitlines())
    copied = Path("service4/copied.py").read_text().splitlines()
    calls = {f"service4/copied.py:{number} RS101" for number, text in enumerate(copied, 1) if "requests." in text}
    assert len(calls) == CALLS
    return {"shared/load.py:6 RS104", f"service0/client0.py:{line} RS101", *calls}


def places(report: dict[str, Any]) -> list[str]:
    return [f"{one['path']}:{one['line']} {one['code']}" for one in report["findings"]]


@pytest.mark.parametrize("how", ["baseline", "changed"])
def test_hundreds_of_findings_are_adopted_and_only_new_ones_are_reported(
    legacy: Path, report: Run, resilint: Run, how: str
) -> None:
    before = report()["findings"]
    assert Counter(one["code"] for one in before)["RS101"] == SERVICES * FILES * CALLS
    if how == "baseline":
        said = resilint("baseline", code=0).stdout
        assert said == f".resilint-baseline.json: {len(before)} findings\n"
    arguments = ["--changed"] if how == "changed" else []
    assert places(report(*arguments, code=0)) == []
    refactor()
    assert places(report(*arguments, code=0)) == []
    expected = new_faults()
    assert set(places(report(*arguments))) == expected
    if how == "baseline":
        assert resilint("baseline", code=0).stdout.endswith(f" ({len(expected)} new, 0 gone)\n")
        assert places(report(code=0)) == []


def test_mended_findings_leave_the_baseline(legacy: Path, report: Run, resilint: Run) -> None:
    before = len(report()["findings"])
    resilint("baseline", code=0)
    refactor()
    edit("orders/client0.py", lambda text: text.replace("headers=headers)", "headers=headers, timeout=2)"))
    Path("service4/client9.py").unlink()
    told = resilint("check", code=0).stderr
    assert told == f"{2 * CALLS} findings of the baseline no longer occur: run `resilint baseline` to drop them\n"
    said = resilint("baseline", code=0).stdout
    assert said == f".resilint-baseline.json: {before - 2 * CALLS} findings (0 new, {2 * CALLS} gone)\n"
    kept = json.loads(Path(".resilint-baseline.json").read_text())["findings"]
    assert len(kept) == before - 2 * CALLS
    edit("orders/client0.py", lambda text: text.replace(", timeout=2", "", 1))
    assert [place.partition(":")[0] for place in places(report())] == ["orders/client0.py"]


def test_the_page_shows_a_line_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resilint: Run) -> None:
    page = (Path(__file__).parents[2] / "docs" / "adopt.md").read_text("utf-8")
    (shown,) = re.findall(r"^```json\n(.*)\n```$", page, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    Path("orders").mkdir()
    Path("orders/client.py").write_text("import requests\n\n\ndef fetch(url):\n    return requests.get(url)\n")
    assert resilint("baseline", code=0).stdout == ".resilint-baseline.json: 1 finding\n"
    assert Path(".resilint-baseline.json").read_text("utf-8").splitlines()[3] == shown
