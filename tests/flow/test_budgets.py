"""Waterfalls of entry points: where each bar begins, how long it is, what counts, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from resilint.flow.budgets import Budgets
from resilint.model import Budget, Part
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import load

Asked = Callable[..., Budgets]

HEAD = """
    import asyncio
    import time

    import httpx
    import requests
    import tenacity
    from fastapi import FastAPI

    app = FastAPI()
    client = httpx.AsyncClient(timeout=httpx.Timeout(1.0, pool=None))
    endless = httpx.AsyncClient(timeout=None)
"""
CALLERS = """
    services:
      shop:
        paths: ["**"]
        callers: {gateway: {timeout: 10s}, batch: {timeout: 1m}}
"""


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """The budgets of a small service."""

    def ask(body: str, settings: str = "") -> Budgets:
        (tmp_path / "app.py").write_text(dedent(HEAD) + dedent(body), "utf-8")
        if settings:
            (tmp_path / "resilint.yaml").write_text(dedent(settings), "utf-8")
        scope, texts = Scope(tmp_path, tmp_path), Texts(tmp_path)
        loaded = load(tmp_path)
        return link(read_program(scope, loaded, texts), loaded, texts).budgets

    return ask


def only(budgets: Budgets) -> Budget:
    (budget,) = budgets.ranked(budgets.endpoints)
    return budget


def flat(parts: tuple[Part, ...]) -> Iterator[Part]:
    for part in parts:
        yield part
        yield from flat(part.parts)


def bars(budget: Budget) -> list[tuple[str, str, float, float]]:
    return [(part.kind, part.name, part.start, part.seconds) for part in flat(budget.parts)]


def test_one_after_the_other(asked: Asked) -> None:
    budget = only(
        asked(
            """
            def load():
                requests.get("http://b", timeout=(1, 3))

            @app.get("/orders/{order}")
            def order(order):
                requests.get("http://a", timeout=(1, 1))
                load()
                time.sleep(0.5)
            """
        )
    )
    assert bars(budget) == [
        ("wait", "requests.get", 0, 2),
        ("call", "load", 2, 4),
        ("wait", "requests.get", 2, 4),
        ("pause", "time.sleep", 6, 0.5),
    ]
    assert (budget.known, budget.verdict, budget.route) == (6.5, "none", "GET /orders/{order}")
    wait = budget.parts[1].parts[0]
    assert (wait.amount, wait.why) == ("1 + 3 s", "written in the program")
    assert wait.span is not None and wait.span.line == 15


def test_at_once_the_longest_counts(asked: Asked) -> None:
    budget = only(
        asked(
            """
            async def one():
                await client.get("http://a")

            async def two():
                await client.get("http://b")
                await asyncio.sleep(5)

            @app.get("/")
            async def both():
                await asyncio.gather(one(), two())
                await asyncio.sleep(1)
            """
        )
    )
    assert [(p.kind, p.name, p.start, p.seconds, p.counts) for p in flat(budget.parts)] == [
        ("parallel", "2 at once", 0, 7, True),
        ("call", "one", 0, 2, False),
        ("wait", "AsyncClient.get", 0, 2, False),
        ("call", "two", 0, 7, True),
        ("wait", "AsyncClient.get", 0, 2, True),
        ("pause", "asyncio.sleep", 2, 5, True),
        ("pause", "asyncio.sleep", 7, 1, True),
    ]


def test_tries_with_their_pauses(asked: Asked) -> None:
    budget = only(
        asked(
            """
            @app.post("/pay")
            def pay():
                for attempt in range(3):
                    try:
                        return requests.post("http://pay", timeout=(1, 1))
                    except requests.RequestException:
                        if attempt == 2:
                            raise
                        time.sleep(2**attempt)
            """,
            CALLERS,
        )
    )
    retry, wait, pause = flat(budget.parts)
    assert (retry.kind, retry.name, retry.seconds, retry.rounds) == ("retry", "3 tries", 9, 3)
    assert (wait.start, wait.seconds, wait.amount, wait.rounds) == (0, 6, "3 × (1 + 1 s)", 3)
    assert (pause.kind, pause.start, pause.seconds, pause.amount) == ("pause", 6, 3, "1 + 2 s")
    assert (budget.verdict, budget.limits[0].seconds, budget.ratio) == ("fits", 10, 0.9)


def test_only_its_retries_pass_the_deadline(asked: Asked) -> None:
    body = """
        @app.post("/pay")
        def pay():
            for attempt in range({tries}):
                try:
                    return requests.post("http://pay", timeout=({each}, {each}))
                except requests.RequestException:
                    time.sleep(1)
        """
    assert only(asked(body.format(tries=3, each=2), CALLERS)).verdict == "retries"
    assert only(asked(body.format(tries=3, each=5), CALLERS)).verdict == "exceeds"
    assert [limit.seconds for limit in only(asked(body.format(tries=1, each=2), CALLERS)).limits] == [10, 60]


def test_loops(asked: Asked) -> None:
    budget = only(
        asked(
            """
            @app.get("/")
            def parts(names):
                for part in ("head", "lines"):
                    requests.get(part, timeout=(1, 1))
                for name in names:
                    requests.get(name, timeout=(2, 2))
            """
        )
    )
    known, _, unknown, once = flat(budget.parts)
    assert (known.name, known.seconds, known.rounds) == ("2 rounds", 4, 2)
    assert (unknown.name, unknown.start, unknown.seconds, unknown.rounds) == ("each round", 4, 4, 0)
    assert once.amount == "2 + 2 s"
    assert budget.open == ("how often loops go round",)


def test_a_limit_cuts_what_stands_below(asked: Asked) -> None:
    budget = only(
        asked(
            """
            @app.get("/")
            async def risk():
                async with asyncio.timeout(1.5):
                    await endless.get("http://risk")
                async with asyncio.timeout(60):
                    await client.get("http://tax")
            """
        )
    )
    assert [(p.kind, p.name, p.seconds, p.counts) for p in flat(budget.parts)] == [
        ("limit", "asyncio.timeout", 1.5, True),
        ("wait", "AsyncClient.get", float("inf"), False),
        ("wait", "AsyncClient.get", 2, True),
    ]
    assert (budget.known, budget.endless) == (3.5, "")


def test_a_wait_without_end(asked: Asked) -> None:
    budget = only(
        asked(
            """
            @app.get("/")
            def home(kind):
                if kind:
                    return requests.get("http://a", timeout=(1, 1))
                return requests.get("http://b")
            """,
            CALLERS,
        )
    )
    assert (budget.endless, budget.worst, budget.known, budget.verdict) == ("requests.get", float("inf"), 2, "endless")
    assert [(p.seconds, p.counts, p.why) for p in flat(budget.parts)] == [
        (2, True, "written in the program"),
        (float("inf"), False, "nothing ends it"),
    ]


def test_other_ways_are_left_out(asked: Asked) -> None:
    budget = only(
        asked(
            """
            @app.get("/")
            def home(kind):
                if kind:
                    requests.get("http://a", timeout=(1, 1))
                else:
                    requests.get("http://b", timeout=(2, 2))
            """
        )
    )
    assert [p.seconds for p in flat(budget.parts)] == [4]


def test_a_flag_that_a_caller_gives_chooses_the_way(asked: Asked) -> None:
    budgets = asked(
        """
        def redeploy(detached, dry=False):
            if detached:
                return
            if not dry:
                requests.post("http://deploy", timeout=(30, 30))
            requests.post("http://log", timeout=(1, 1))

        @app.post("/hook")
        def hook():
            redeploy(True)
            requests.get("http://a", timeout=(1, 2))

        @app.post("/poll")
        def poll():
            redeploy(detached=False)

        @app.post("/dry")
        def dry():
            redeploy(False, dry=True)

        @app.post("/maybe")
        def maybe(detached):
            redeploy(detached)
        """
    )
    known = {budget.name: budget.known for budget in budgets.ranked(budgets.endpoints)}
    assert known == {"hook": 3, "poll": 62, "dry": 2, "maybe": 62}


def test_what_comes_after_a_large_call_counts(asked: Asked) -> None:
    wide = "".join(f"\n            step{n}(x + {n})" for n in range(40))
    steps = "".join(
        f"\n        def step{n}(x):\n            " + "; ".join(f"print(x, {m})" for m in range(40)) + "\n" for n in range(40)
    )
    budget = only(
        asked(
            steps
            + f"""
        def large(x):{wide}

        @app.get("/")
        def home(x):
            large(x)
            requests.get("http://a", timeout=(1, 2))
        """
        )
    )
    assert budget.known == 3
    assert "what lies too deep to be followed" in budget.open


def test_what_a_call_that_meets_itself_does_is_left_open(asked: Asked) -> None:
    budget = only(
        asked(
            """
            @app.get("/")
            def walk(node):
                requests.get(node, timeout=(1, 1))
                walk(node)
            """
        )
    )
    assert [p.seconds for p in flat(budget.parts)] == [2]
    assert "how often loops go round" in budget.open


def test_a_large_tree_ends(asked: Asked) -> None:
    deep = "".join(
        f"""
            def f{n}():
                f{n + 1}()
                f{n + 1}()
        """
        for n in range(8)
    )
    budget = only(
        asked(
            deep
            + '\n            def f8():\n                requests.get("http://a", timeout=(1, 1))\n'
            + """
            @app.get("/")
            def home():
                f0()
        """
        )
    )
    parts = list(flat(budget.parts))
    assert len(parts) < 400
    assert not budget.whole
    assert parts[0].seconds == budget.known


SHOP = """
    @app.get("/orders/{order}")
    def order(order):
        requests.get("http://a", timeout=(1, 1))

    class Basket:
        @app.post("/basket")
        def checkout(self):
            requests.get("http://a", timeout=(8, 8))

    @app.get("/ping")
    def ping():
        return "pong"
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("order", ["order"]),
        ("checkout", ["Basket.checkout"]),
        ("Basket.checkout", ["Basket.checkout"]),
        ("/orders/{order}", ["order"]),
        ("/orders", ["order"]),
        ("POST /basket", ["Basket.checkout"]),
        ("GET *", ["order", "ping"]),
        ("app.py", ["order", "Basket.checkout", "ping"]),
        ("*.py", ["order", "Basket.checkout", "ping"]),
        ("rder", []),
        ("", []),
    ],
)
def test_what_a_text_means(asked: Asked, text: str, names: list[str]) -> None:
    assert [endpoint.name for endpoint in asked(SHOP).named(text)] == names


def test_near_names(asked: Asked) -> None:
    budgets = asked(SHOP)
    assert budgets.near("chekout")[0] == "checkout"
    assert "GET /orders/{order}" in budgets.near("get /order/{order}")
    assert budgets.near("quite something else") == []


def test_the_order(asked: Asked) -> None:
    budgets = asked(SHOP)
    assert [b.name for b in budgets.ranked(budgets.endpoints)] == ["Basket.checkout", "order"]


@pytest.mark.parametrize(
    ("path", "text", "route"),
    [
        (
            "Shop.java",
            """
            import org.springframework.web.bind.annotation.*;

            @RestController
            @RequestMapping("/shop")
            class Shop {
                @GetMapping("/orders/{id}")
                String order() throws Exception { Thread.sleep(2000); return ""; }
            }
            """,
            "GET /shop/orders/{id}",
        ),
        (
            "main.go",
            """
            package main

            import (
                "net/http"
                "time"
            )

            func order(w http.ResponseWriter, r *http.Request) { time.Sleep(2 * time.Second) }

            func main() {
                http.HandleFunc("GET /orders/{id}", order)
            }
            """,
            "GET /orders/{id}",
        ),
    ],
)
def test_other_languages(tmp_path: Path, path: str, text: str, route: str) -> None:
    (tmp_path / path).write_text(dedent(text), "utf-8")
    scope, texts, settings = Scope(tmp_path, tmp_path), Texts(tmp_path), load(tmp_path)
    budget = only(link(read_program(scope, settings, texts), settings, texts).budgets)
    assert (budget.route, budget.known, [part.kind for part in budget.parts]) == (route, 2, ["pause"])


def test_an_answer_does_not_depend_on_what_was_asked_before(asked: Asked) -> None:
    deep = "".join(f"\n        def f{n}(x):\n            f{n + 1}(x)\n            f{n + 1}(x + 1)\n" for n in range(9))
    body = (
        deep
        + """
        def f9(x):
            requests.get(x, timeout=(1, 1))

        @app.get("/deep")
        def deep(x):
            f0(x)

        @app.get("/near")
        def near(x):
            f6(x)
            again(x, 3)

        def again(x, n):
            requests.get(x, timeout=(1, 1))
            if n:
                again(x, n - 1)

        @app.get("/again")
        def once_more(x):
            again(x, 2)
        """
    )
    alone = {}
    for name in ("deep", "near", "once_more"):
        budgets = asked(body)
        (alone[name],) = map(budgets.of, budgets.named(name))
    for order in (("deep", "near", "once_more"), ("once_more", "near", "deep")):
        budgets = asked(body)
        for name in order:
            (found,) = map(budgets.of, budgets.named(name))
            assert found == alone[name], (name, order)
    assert alone["near"].known == 18


@pytest.mark.parametrize(
    ("select", "known"),
    [
        ("case <-over: return", 6.0),
        ("case <-over: return; default: time.Sleep(2 * time.Second)", 8.0),
        ("case <-timer.C: return; default:", 6.0),
        ("case <-other.C: time.Sleep(2 * time.Second)", 3.0),
        ("case <-time.After(5 * time.Second): return", 6.0),
    ],
)
def test_a_timer_ends_a_loop(tmp_path: Path, select: str, known: float) -> None:
    (tmp_path / "main.go").write_text(
        f"""package main

import (
	"net/http"
	"time"
)

func order(w http.ResponseWriter, r *http.Request) {{
	over := time.After(5 * time.Second)
	timer := time.NewTimer(5 * time.Second)
	for {{
		select {{
		{select.replace("; ", chr(10))}
		}}
		time.Sleep(1 * time.Second)
	}}
}}
""",
        "utf-8",
    )
    scope, texts, settings = Scope(tmp_path, tmp_path), Texts(tmp_path), load(tmp_path)
    assert only(link(read_program(scope, settings, texts), settings, texts).budgets).known == known


def test_deeply_nested_code(asked: Asked) -> None:
    out = ""
    for number in range(9):
        out += f"\ndef f{number}(x):\n"
        out += "".join("    " * (depth + 1) + f"if x > {depth}:\n" for depth in range(40))
        inner = f"f{number + 1}(x)" if number < 8 else "requests.get(x, timeout=(1, 1))"
        out += "    " * 41 + inner + "\n"
    budgets = asked(out + '\n@app.get("/")\ndef home(x):\n    f0(x)\n')
    budget = only(budgets)
    assert budget.known == 2
    assert [part.kind for part in flat(budget.parts)] == ["call"] * 9 + ["wait"]
