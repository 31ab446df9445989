"""The worst case of functions, as far as it is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent

import pytest
from resilint.flow.effects import Worst, shown
from resilint.program import Program
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import Settings

Asked = Callable[..., Worst]

PYTHON = """
    import asyncio
    import elsewhere
    import queue
    import time

    import httpx
    import requests

    session = requests.Session()
    client = httpx.AsyncClient(timeout=httpx.Timeout(1.0))
    short = httpx.AsyncClient(timeout=httpx.Timeout(0.5))
"""

GO = """
    package p

    import (
        "context"
        "net/http"
        "time"
    )

    var client = &http.Client{Timeout: 3 * time.Second}
"""


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """The worst case of a function `f` in a small file."""

    def ask(path: str, head: str, body: str) -> Worst:
        (tmp_path / path).write_text(dedent(head) + dedent(body), "utf-8")
        scope, settings, texts = Scope(tmp_path, tmp_path), Settings(), Texts(tmp_path)
        program: Program = link(read_program(scope, settings, texts), settings, texts)
        fn = next(fn for fn in program.functions() if fn.name == "f")
        return program.worsts.of_function(program.resolver.frame(fn))

    return ask


@pytest.mark.parametrize(
    ("body", "known", "why"),
    [
        ("def f():\n    session.get('u', timeout=(1, 3))\n", 4.0, set()),
        ("def f():\n    session.get('u', timeout=2)\n    time.sleep(1)\n", 5.0, set()),
        ("def f(a):\n    if a:\n        return time.sleep(5)\n    return time.sleep(2)\n", 5.0, set()),
        ("def f(a):\n    if a:\n        time.sleep(5)\n    return time.sleep(2)\n", 7.0, set()),
        ("def f():\n    for _ in range(3):\n        time.sleep(2)\n", 6.0, set()),
        ("def f(xs):\n    for x in xs:\n        time.sleep(2)\n", 2.0, {"loop"}),
        ("def f():\n    for x in ('a', 'b'):\n        session.get(x, timeout=1)\n", 4.0, set()),
        (
            "def f():\n    try:\n        time.sleep(1)\n    except OSError:\n        time.sleep(3)\n"
            "    finally:\n        time.sleep(1)\n",
            5.0,
            set(),
        ),
        ("def f():\n    session.get('u')\n", 0.0, set()),
        ("def f(t):\n    session.get('u', timeout=t)\n", 0.0, {"length"}),
        ("def f():\n    time.sleep(1)\n    elsewhere.call()\n", 1.0, {"code"}),
        ("def g(t):\n    time.sleep(t)\n\ndef f():\n    g(1)\n    g(2)\n", 3.0, set()),
        ("def f(n):\n    time.sleep(1)\n    f(n - 1)\n", 1.0, {"loop"}),
        ("async def f():\n    await client.get('u')\n", 3.0, set()),
        ("async def f():\n    async with asyncio.timeout(2):\n        await client.get('u')\n", 2.0, set()),
        ("async def f():\n    await asyncio.gather(client.get('u'), short.get('v'))\n", 3.0, set()),
        (
            "async def g():\n    await client.get('u')\n\nasync def f():\n    await asyncio.wait_for(g(), 2)\n    await g()\n",
            5.0,
            set(),
        ),
        ("async def g():\n    await client.get('u')\n\nasync def f():\n    asyncio.create_task(g())\n", 0.0, set()),
        ("q = queue.Queue()\n\ndef f():\n    q.get(timeout=4)\n", 4.0, set()),
    ],
)
def test_python(asked: Asked, body: str, known: float, why: set[str]) -> None:
    worst = asked("p.py", PYTHON, body)
    assert worst.known == pytest.approx(known), shown(worst.terms)
    assert worst.open == why


def test_an_endless_wait_is_named(asked: Asked) -> None:
    worst = asked("p.py", PYTHON, "def f():\n    time.sleep(1)\n    session.get('u')\n")
    assert worst.known == 1.0
    assert worst.endless is not None
    assert worst.endless.name == "requests.Session.get"


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ('func f() { client.Get("u"); time.Sleep(time.Second) }\n', 4.0),
        ('func f() { for i := 0; i < 3; i++ { client.Get("u") } }\n', 9.0),
        ('func f(b bool) { if b { client.Get("u"); return }\n time.Sleep(5 * time.Second) }\n', 5.0),
        (
            "func f(c context.Context) { c, stop := context.WithTimeout(c, 4*time.Second)\n defer stop()\n"
            ' client.Get("u")\n client.Get("v") }\n',
            4.0,
        ),
        ('func f() { go client.Get("u") }\n', 0.0),
        ("func f(c chan int) { select { case <-c:\n case <-time.After(2 * time.Second): time.Sleep(time.Second) } }\n", 3.0),
        ("func f(c chan int) { select { case <-c:\n default: } }\n", 0.0),
    ],
)
def test_go(asked: Asked, body: str, known: float) -> None:
    worst = asked("p.go", GO, body)
    assert worst.known == pytest.approx(known), shown(worst.terms)


def test_tries_and_the_pauses_between_them(asked: Asked) -> None:
    body = """
    def f():
        for _ in range(3):
            try:
                return session.get('u', timeout=2)
            except requests.RequestException:
                time.sleep(0.5)
        raise RuntimeError
    """
    worst = asked("p.py", PYTHON, body)
    assert worst.known == pytest.approx(3 * 4 + 3 * 0.5)
    assert shown(worst.terms) == "3 × (2 + 2 s) requests.Session.get, 3 × 500 ms pause"


LOOPS = {
    "the last one pauses too": ("for i in range(3):", "", "time.sleep(6)", 3, True),
    "the last one raises": ("for i in range(3):", "if i == 2:\n    raise", "time.sleep(6)", 2, True),
    "the last one leaves, in an or": ("for i in range(3):", "if fatal() or i >= 2:\n    break", "time.sleep(6)", 2, True),
    "the last one leaves by another count": ("for i in range(3):", "if i == 7:\n    raise", "time.sleep(6)", 3, True),
    "the last one need not": ("for i in range(3):", "", "if i < 2:\n    time.sleep(6)", 2, True),
    "the last one need not, in an and": ("for i in range(3):", "", "if fatal() and i + 1 < 3:\n    time.sleep(6)", 2, True),
    "a test that says nothing of the count": ("for i in range(3):", "if fatal():\n    raise", "time.sleep(6)", 3, True),
    "a flag": ("for i in range(3):", "last = i == n\nif last:\n    raise", "time.sleep(6)", 2, False),
    "a test that nobody can read": ("for i in range(3):", "if give_up(i):\n    raise", "time.sleep(6)", 2, False),
    "counted inside, left before": ("i = 0\nwhile True:", "i += 1\nif i >= 3:\n    raise", "time.sleep(6)", 2, True),
    "counted inside, tested at the head": ("i = 0\nwhile i < 3:", "i += 1", "time.sleep(6)", 3, True),
    "counted down": ("i = 3\nwhile i > 0:", "i -= 1\nif not i:\n    raise", "time.sleep(6)", 2, True),
    "many": ("for i in range(100):", "", "time.sleep(6)", 100, True),
    "many, the last one raises": ("for i in range(100):", "if i == 99:\n    raise", "time.sleep(6)", 99, True),
}


@pytest.mark.parametrize("name", LOOPS)
def test_whether_the_last_try_is_followed_by_a_pause(asked: Asked, name: str) -> None:
    head, before, pause, pauses, exact = LOOPS[name]
    handler = indent(f"{before}\n{pause}", " " * 8)
    body = f"{head}\n    try:\n        return session.get('u', timeout=2)\n    except requests.RequestException:\n{handler}"
    worst = asked("p.py", PYTHON, "def f(n):\n" + indent(body, "    ") + "\n    raise RuntimeError\n")
    tries = 100 if "100" in head else 3
    assert worst.known == pytest.approx(tries * 4 + pauses * 6), shown(worst.terms)
    assert ("length" not in worst.open) is exact


@pytest.mark.parametrize(
    ("body", "pauses"),
    [
        ('if _, err := client.Get("u"); err == nil { return }\n time.Sleep(time.Second)', 4),
        ('if _, err := client.Get("u"); err == nil { return }\n if i < tries-1 { time.Sleep(time.Second) }', 3),
        ('if _, err := client.Get("u"); err == nil { return }\n if i == tries-1 { break }\n time.Sleep(time.Second)', 3),
        ('_, err := client.Get("u")\n if err == nil { return }\n time.Sleep(time.Second)', 4),
        ('if i > 0 { time.Sleep(time.Second) }\n if _, err := client.Get("u"); err == nil { return }', 3),
        ('time.Sleep(time.Second)\n if _, err := client.Get("u"); err == nil { return }', 4),
    ],
)
def test_pauses_before_and_after_tries_in_go(asked: Asked, body: str, pauses: int) -> None:
    worst = asked("p.go", GO, f"func f() {{ const tries = 4\n for i := 0; i < tries; i++ {{ {body} }} }}\n")
    assert worst.known == pytest.approx(4 * 3 + pauses), shown(worst.terms)
    assert worst.exact


def test_a_budget_ends_the_search_and_what_was_found_stands(asked: Asked) -> None:
    chain = "".join(f"def g{i}():\n    g{i + 1}()\n    g{i + 1}()\n\n" for i in range(60))
    worst = asked("p.py", PYTHON, f"{chain}def g60():\n    time.sleep(1)\n\ndef f():\n    time.sleep(2)\n    g0()\n")
    assert worst.known >= 2.0
    assert "search" in worst.open


def test_nesting_without_end_is_cut(asked: Asked) -> None:
    deep = "def f():\n    time.sleep(1)\n" + "".join(
        "    " * (i + 1) + "for _ in range(2):\n" + "    " * (i + 2) + "if g():\n" + "    " * (i + 3) + "break\n" for i in range(40)
    )
    worst = asked("p.py", PYTHON, deep + "    " * 41 + "time.sleep(1)\n")
    assert worst.known >= 1.0


@pytest.mark.parametrize(
    ("leave", "own", "known", "said"),
    [
        ("break", "", 15, "2 × 3 × (1 + 1 s) requests.Session.get, 2 × 3 × 500 ms pause"),
        ("return", "", 15, "2 × 3 × (1 + 1 s) requests.Session.get, 2 × 3 × 500 ms pause"),
        ("return", "time.sleep(4)", 23, "2 × 3 × (1 + 1 s) requests.Session.get, 2 × 3 × 500 ms pause, 2 × 4 s pause"),
        ("break", "time.sleep(4)", 23, "2 × 3 × (1 + 1 s) requests.Session.get, 2 × 3 × 500 ms pause, 2 × 4 s time.sleep"),
    ],
)
def test_tries_of_each_element(asked: Asked, leave: str, own: str, known: float, said: str) -> None:
    body = f"""
    def f():
        for u in ('a', 'b'):
            for j in range(3):
                try:
                    session.get(u, timeout=1)
                    {leave}
                except requests.RequestException:
                    time.sleep(0.5)
            {own}
    """
    worst = asked("p.py", PYTHON, body)
    assert worst.known == pytest.approx(known)
    assert shown(worst.terms) == said


REQUESTS = {
    "its own": ('req, _ := http.NewRequestWithContext(r.Context(), "GET", "u", nil)\n client.Do(req)', True),
    "by a name": ('ctx := r.Context()\n req, _ := http.NewRequestWithContext(ctx, "GET", "u", nil)\n client.Do(req)', True),
    "given later": ('req, _ := http.NewRequest("GET", "u", nil)\n client.Do(req.WithContext(r.Context()))', True),
    "through a helper": ("get(r.Context())", True),
    "of the request, in a helper": ("send(r)", True),
    "of unknown origin": ('req, _ := http.NewRequestWithContext(elsewhere(), "GET", "u", nil)\n client.Do(req)', False),
    "from a queue": ('req, _ := http.NewRequestWithContext(<-queue, "GET", "u", nil)\n client.Do(req)', False),
    "exchanged on a way": (
        'ctx := r.Context()\n if r.Host == "" { ctx = elsewhere() }\n req, _ := http.NewRequestWithContext(ctx, "GET", "u", nil)\n'
        " client.Do(req)",
        False,
    ),
}
HELPERS = """
var queue chan context.Context
func get(ctx context.Context) { req, _ := http.NewRequestWithContext(ctx, "GET", "u", nil)
 client.Do(req) }
func send(r *http.Request) { req, _ := http.NewRequestWithContext(r.Context(), "GET", "u", nil)
 client.Do(req) }
func main() { http.HandleFunc("/f", f) }
"""


@pytest.mark.parametrize("name", REQUESTS)
def test_the_context_of_a_request_has_no_deadline_of_its_own(asked: Asked, name: str) -> None:
    body, known = REQUESTS[name]
    worst = asked("p.go", GO, f"{HELPERS}\nfunc f(w http.ResponseWriter, r *http.Request) {{ {body} }}\n")
    assert (worst.known, "length" in worst.open) == ((3.0, False) if known else (0.0, True))
    assert worst.exact is known
