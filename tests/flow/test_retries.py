"""Retries written in code: which loops are some, how often they try, how long they pause."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path
from textwrap import dedent, indent

import pytest
from resilint.flow.retries import RetryLoop
from resilint.program import Program
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import Settings

Found = Callable[..., list[RetryLoop]]

HEADS = {
    "py": "import itertools\nimport random\nimport time\n\nimport requests\n\n",
    "go": 'package p\n\nimport (\n\t"context"\n\t"math/rand"\n\t"net/http"\n\t"time"\n)\n\n',
    "java": "import java.io.IOException;\n\n",
}


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """The retries of all functions of a small file."""

    def find(kind: str, body: str) -> list[RetryLoop]:
        name = f"p.{kind}"
        (tmp_path / name).write_text(HEADS[kind] + dedent(body), "utf-8")
        scope, settings, texts = Scope(tmp_path, tmp_path), Settings(), Texts(tmp_path)
        program: Program = link(read_program(scope, settings, texts), settings, texts)
        return [retry for fn in program.functions() for retry in program.retries.of(fn)]

    return find


def _python(head: str, *, before: str = "", failing: str = "pass") -> str:
    body = (
        f"{head}\n    try:\n        return requests.get(url, timeout=1)\n    except requests.RequestException:\n        {failing}\n"
    )
    return "def f(url):\n" + indent(f"{before}\n{body}", "    ")


@pytest.mark.parametrize(
    ("head", "before", "failing", "tries"),
    [
        ("for _ in range(4):", "", "pass", 4),
        ("for i in range(1, 4):", "", "pass", 3),
        ("while True:", "", "pass", inf),
        ("while True:", "n = 0", "n += 1\n        if n == 3: raise", 3),
        ("while True:", "n = 0", "if n >= 3: raise\n        n += 1", 4),
        ("while True:", "n = 3", "n -= 1\n        if not n: raise", None),
        ("while True:", "n = 5", "n -= 1\n        if n <= 0: raise", 5),
        ("while n < 6:", "n = 0", "n += 2", 3),
        ("while n > 0:", "n = 4", "n -= 1", 4),
        ("for n in itertools.count(1):", "", "if n == 7: raise", 7),
        ("for n in itertools.count():", "", "pass", inf),
        ("while True:", "end = time.monotonic() + 5", "if time.monotonic() > end: raise", None),
    ],
)
def test_tries(found: Found, head: str, before: str, failing: str, tries: float | None) -> None:
    (retry,) = found("py", _python(head, before=before, failing=failing))
    assert retry.tries == tries


@pytest.mark.parametrize(
    ("failing", "seconds", "grows", "jitter"),
    [
        ("pass", 0.0, False, False),
        ("time.sleep(0.25)", 0.25, False, False),
        ("time.sleep(2 ** n)", None, True, False),
        ("time.sleep(random.uniform(0, 2 ** n))", None, True, True),
        ("time.sleep(random.random())", None, None, True),
        ("time.sleep(url.pause)", None, None, False),
        ("url.backoff(n)", None, None, None),
    ],
)
def test_pauses(found: Found, failing: str, seconds: float | None, grows: bool | None, jitter: bool | None) -> None:
    (retry,) = found("py", _python("for n in range(5):", failing=failing))
    assert (retry.seconds, retry.grows, retry.jitter) == (seconds, grows, jitter)


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n    try:\n        work(requests.get(url, timeout=1))\n    except OSError:\n        pass\n    time.sleep(1)\n",
        "for host in url:\n    try:\n        return requests.get(host, timeout=1)\n    except OSError:\n        continue\n",
        "while True:\n    try:\n        return int(input())\n    except ValueError:\n        pass\n",
        "while not url.ready():\n    time.sleep(1)\n",
        "while True:\n    try:\n        return requests.get(url, timeout=1)\n    except OSError:\n        raise\n",
        "for item in url:\n    requests.get(item, timeout=1)\n",
    ],
)
def test_no_retries(found: Found, body: str) -> None:
    assert found("py", "def f(url):\n" + indent(body, "    ")) == []


@pytest.mark.parametrize(
    ("body", "tries", "seconds"),
    [
        ("for i := 0; i < 4; i++ {\n_, err := c.Get(u)\nif err == nil {\nreturn\n}\ntime.Sleep(time.Second)\n}", 4, 1.0),
        ("for i := 0; ; i++ {\n_, err := c.Get(u)\nif err != nil {\nif i >= 4 {\nreturn\n}\ncontinue\n}\nreturn\n}", 5, 0.0),
        ("for {\nif _, err := c.Get(u); err == nil {\nbreak\n}\ntime.Sleep(50 * time.Millisecond)\n}", inf, 0.05),
        ("n := 0\nfor n <= 3 {\nn++\nif _, err := c.Get(u); err == nil {\nreturn\n}\n}", 4, 0.0),
    ],
)
def test_go(found: Found, body: str, tries: float, seconds: float) -> None:
    (retry,) = found("go", f"func f(c *http.Client, u string) {{\n{body}\n}}\n")
    assert (retry.tries, retry.seconds) == (tries, seconds)


@pytest.mark.parametrize(
    ("head", "failing", "tail", "tries"),
    [
        ("while (true) {", "if (++n == 3) throw e;", "}", 3),
        ("while (true) {", "if (n++ == 3) throw e;", "}", 4),
        ("do {", "n++;", "} while (n < 5);", 5),
        ("while (n-- > -3) {", "log(e);", "}", 3),
        ("for (int i = 1; ; i++) {", "if (i == 4) throw e;", "}", 4),
        ("for (;;) {", "log(e);", "}", inf),
    ],
)
def test_java(found: Found, head: str, failing: str, tail: str, tries: float) -> None:
    body = f"int n = 0;\n{head}\ntry {{ return s.load(); }} catch (IOException e) {{ {failing} }}\n{tail}\n"
    (retry,) = found("java", f"class P {{ String f(Source s) throws IOException {{\n{body}throw new IOException();\n}} }}\n")
    assert retry.tries == tries


def test_a_function_that_calls_itself(found: Found) -> None:
    body = """
    def f(url, left=3):
        try:
            return requests.get(url, timeout=1)
        except requests.RequestException:
            time.sleep(0.5)
            return f(url{})
    """
    (endless,) = found("py", body.format(""))
    assert (endless.tries, endless.seconds) == (inf, 0.5)
    (counted,) = found(
        "py", body.format(", left - 1").replace("time.sleep", "if not left:\n                raise\n            time.sleep")
    )
    assert counted.tries is None


def test_a_function_that_calls_itself_with_something_else(found: Found) -> None:
    body = """
    def f(url, mirror):
        try:
            return requests.get(url, timeout=1)
        except requests.RequestException:
            return f(mirror, None)
    """
    assert found("py", body) == []


def test_tries_of_a_parameter_are_asked_in_its_frame(found: Found) -> None:
    (retry,) = found("py", _python("for _ in range(tries):", before="").replace("f(url)", "f(url, tries)") + "\n\nf('u', 6)\n")
    assert retry.tries == 6
