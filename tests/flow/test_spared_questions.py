"""Dear questions of which no finding can come are not asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from resilint.flow import resolve
from resilint.flow.elements import Elements
from resilint.flow.resolve import Resolver
from resilint.flow.worst import Worsts
from resilint.knowledge.index import spawning
from resilint.link.code import CallSite
from resilint.program import Program
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import Settings

Linked = Callable[[str, str], Program]
counting = pytest.mark.skipif(
    not resolve.__file__.endswith(".py"), reason="compiled code calls its own functions, not what a test puts in their place"
)


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    """A program of one file."""

    def build(name: str, text: str) -> Program:
        (tmp_path / name).write_text(dedent(text), "utf-8")
        scope, settings, texts = Scope(tmp_path, tmp_path), Settings(), Texts(tmp_path)
        return link(read_program(scope, settings, texts), settings, texts)

    return build


RETRY = """
    import java.util.HashMap;
    import java.util.Map;

    class Sender {
        private final Map<String, String> sent = new HashMap<>();
        private final Paths paths = new Paths();

        void send(Peer peer) {
            for (int tries = 0; tries < 3; tries++) {
                try {
                    peer.call();
                    return;
                } catch (java.io.IOException e) {
                    sent.get("last");
                    paths.get(1);
                    HERE
                }
            }
        }
    }
    class Paths {
        private final Map<Integer, String> all = new HashMap<>();
        String get(int n) { return join(n); }
        String join(int n) { return all.get(n); }
        void rest() throws InterruptedException { Thread.sleep(2000); }
        void waitFor(int n) throws InterruptedException { if (n > 0) { rest(); } }
    }
    interface Peer { void call() throws java.io.IOException; }
"""


@pytest.mark.parametrize(("here", "seconds"), [("", 0.0), ("paths.waitFor(2);", 2.0)])
def test_what_is_declared_to_come_to_no_pause_is_not_asked_for_one(
    linked: Linked, here: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = linked("Sender.java", RETRY.replace("HERE", here))
    (retry,) = [retry for fn in program.functions() for retry in program.retries.of(fn)]
    asked: list[str] = []
    targets = Program.targets

    def noted(self: Program, site: CallSite, frame: Any = None) -> Any:
        asked.append(site.last)
        return targets(self, site, frame)

    monkeypatch.setattr(Program, "targets", noted)
    assert retry.seconds == seconds
    assert not {"get", "join"} & set(asked)


GATE = """
    import threading

    import requests
    from flask import Flask

    app = Flask(__name__)
    permits = threading.BoundedSemaphore(4)


    @app.get("/quick")
    def quick():
        with permits:
            return requests.get("http://a", timeout=1).text


    def slow():
        with permits:
            return requests.get("http://b", timeout=60).text
"""


@pytest.mark.parametrize(
    ("text", "found", "asked"),
    [
        (GATE, 1, True),
        (GATE.replace('@app.get("/quick")\n', ""), 0, False),
        (GATE.replace("def slow():\n        with permits:", "def slow():\n        if app:"), 0, False),
    ],
    ids=["two users, one in a hurry", "nobody in a hurry", "one user"],
)
def test_how_long_a_permit_is_kept_is_asked_where_somebody_in_a_hurry_wants_it_too(
    linked: Linked, text: str, found: int, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = linked("app.py", text)
    blocks: list[Iterable[Any]] = []
    of_block = Worsts.of_block

    def noted(self: Worsts, block: Any, *args: Any, **kwargs: Any) -> Any:
        blocks.append(block)
        return of_block(self, block, *args, **kwargs)

    monkeypatch.setattr(Worsts, "of_block", noted)
    assert len(list(program.shared_pools.faults())) == found
    assert bool(blocks) is asked


def test_what_is_declared_to_be_an_error_or_a_text_holds_no_client(linked: Linked) -> None:
    program = linked(
        "p.go",
        """
        package p

        import "net/http"

        type Maker struct{ Client *http.Client }

        func (m *Maker) Open() *http.Client { return &http.Client{} }

        type Disk struct{}

        func (d *Disk) Open() error { return nil }

        type Mount struct {
            Err  error
            Name string
            Any  interface{}
        }

        func use(d *Disk, mount *Mount, m *Maker) (err error) {
            err = d.Open()
            mount.Err = d.Open()
            mount.Any = d.Open()
            m.Client = m.Open()
            return
        }
        """,
    )
    reach = program.reach("go", ("network",))
    assert {name for name, _ in reach.attributes} == {"Any", "Client"}, "which `Open` is meant is not asked, what it is put into is"
    assert "err" not in reach.names, "a named result is no variable of the package"


def test_the_calls_below_the_last_handlers_are_not_looked_for(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    from resilint.flow.spawns import Spawns

    program = linked(
        "app.py",
        """
        from flask import Flask

        app = Flask(__name__)


        @app.get("/")
        def handler():
            first()


        def first():
            second()


        def second():
            third()


        def third():
            pass
        """,
    )
    asked: list[str] = []
    callees = Spawns.callees

    def noted(self: Spawns, fn: Any, named: Any = None) -> Any:
        asked.append(fn.name)
        return callees(self, fn, named)

    monkeypatch.setattr(Spawns, "callees", noted)
    list(program.batches())
    assert asked == ["handler", "first"]


@pytest.mark.parametrize("imported", ["requests_futures.sessions", "json"])
def test_what_no_file_imports_is_not_meant_by_its_names(linked: Linked, imported: str) -> None:
    """`get` starts a request with one library only."""
    program = linked(
        "app.py",
        f"""
        import threading

        import {imported}


        def handler(session):
            threading.Thread(target=print).start()
            return session.get("http://b")
        """,
    )
    (site,) = [site for fn in program.functions() for site in fn.body.calls if site.last == "get"]
    assert program.may_be_described(site, spawning) is (imported != "json")
    assert [spawn.api for spawn in program.spawns] == ["threading.Thread.start"]


def test_where_a_text_comes_from_is_not_asked_for_what_a_call_on_it_enters(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    program = linked(
        "Order.java",
        """
        class Order {
            private final String name;
            private final Object owner;
            Order(String name, Object owner) { this.name = name; this.owner = owner; }
            public boolean equals(Object other) { return name.equals(other) && owner.equals(other); }
        }
        """,
    )
    (fn,) = [fn for fn in program.functions() if fn.name == "equals"]
    asked: list[str] = []
    targets = Program.targets

    def noted(self: Program, site: CallSite, frame: Any = None) -> Any:
        asked.append(program.text_of(fn, site.call))
        return targets(self, site, frame)

    monkeypatch.setattr(Program, "targets", noted)
    of_text, of_object = (program.callees(site) for site in fn.body.calls)
    assert (of_text, of_object) == ([], [])
    assert asked == ["owner.equals(other)"], "nothing of the program can be a text, but anything can be an object"


STUBS = """
    package p

    import (
        "context"
        "net"

        "example.org/orderspb"
    )

    type Server struct {
        conn   net.Conn
        client orderspb.OrdersClient
    }

    func (s *Server) Name(ctx context.Context) string { return s.conn.LocalAddr().String() }

    func (s *Server) Place(ctx context.Context) (*orderspb.Placed, error) { return s.client.Place(ctx, nil) }
"""


def test_any_call_is_asked_for_a_wait_only_on_what_may_be_an_object_that_waits_in_every_method(
    linked: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = linked("p.go", STUBS)
    asked: list[str] = []
    described = Program.described

    def noted(self: Program, site: CallSite, *args: Any) -> Any:
        asked.append(site.last)
        return described(self, site, *args)

    monkeypatch.setattr(Program, "described", noted)
    assert [wait.site.last for wait in program.all_waits] == ["Place"]
    assert not {"LocalAddr", "String"} & set(asked)
    assert program.names.is_open_ended(program.names.modules["p.go"], program.knowledge.of("go"))


def test_which_names_may_hold_what_waits_is_found_once_for_both_groups_of_rules(linked: Linked) -> None:
    program = linked("p.go", STUBS)
    program.statistics()
    reach = program.reach("go", ("network", "query", "connect"))
    other = program.unasked()
    assert other.reach("go", ("network", "query", "connect")) is reach
    assert reach.program is other
    assert other.all_waits is not program.all_waits


@counting
def test_a_body_that_is_visited_again_is_decoded_no_third_time(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    from resilint.flow.reach import Reach
    from resilint.link.code import Body

    monkeypatch.setattr("resilint.flow.reach._LOOKED_AT", 1)
    decoded: list[str] = []
    visited: list[str] = []
    visit = Reach._visit

    def noted(fn: Any, block: Any) -> Any:
        decoded.append(fn.name)
        return Body(fn, block)

    def counted(self: Any, fn: Any) -> None:
        visited.append(fn.name)
        visit(self, fn)

    monkeypatch.setattr("resilint.flow.reach.Body", noted)
    monkeypatch.setattr(Reach, "_visit", counted)
    fields = "".join(f"c{n} interface{{}}\n" for n in range(9))
    moves = "".join(f"func (m *M) move{n}() {{ m.c{n} = m.c{n + 1} }}\n" for n in range(8))
    read = ", ".join(f"m.c{n}" for n in range(9))
    text = (
        f'package p\n\nimport "net/http"\n\ntype M struct {{\n{fields}}}\n\n{moves}'
        f"func (m *M) open() {{ m.c8 = &http.Client{{}} }}\n\nfunc (m *M) use() {{ all({read}) }}\n"
    )
    reach = linked("p.go", text).reach("go", ("network",))
    assert {name for name, _ in reach.attributes} == {f"c{n}" for n in range(9)}
    assert visited.count("use") > 2
    assert max(map(decoded.count, decoded)) == 2


@counting
def test_what_a_copy_of_copies_holds_under_a_key_is_asked_of_each_copy_once(
    linked: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    keyed = Resolver._keyed

    def counted(self: Resolver, thing: Any, key: str) -> Any:
        asked.append(key)
        if len(asked) > 1_000:
            raise AssertionError("asked without end")
        return keyed(self, thing, key)

    monkeypatch.setattr(Resolver, "_keyed", counted)
    copies = "".join(f"    d{n} = dict(d{n - 1})\n    d{n}.update(d{n - 1})\n" for n in range(1, 31))
    head = "import requests\n\n\ndef load(url):\n    d0 = {'timeout': None}\n"
    program = linked("load.py", head + copies + "    requests.get(url, **d30)\n")
    assert [wait.bound for wait in program.all_waits] == [float("inf")]
    assert asked


@counting
def test_an_element_of_a_copy_of_copies_is_not_sought_without_end(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    inner = Elements._of

    def counted(self: Elements, *given: Any) -> Any:
        asked.append(given)
        if len(asked) > 20_000:
            raise AssertionError("asked without end")
        return inner(self, *given)

    monkeypatch.setattr(Elements, "_of", counted)
    copies = "".join(f"    d{n} = dict(d{n - 1})\n    d{n}.update(d{n - 1})\n" for n in range(1, 31))
    head = "import requests\n\n\ndef load(url, limit):\n    d0 = {'timeout': limit}\n"
    program = linked("load.py", head + copies + "    requests.get(url, timeout=d30['timeout'])\n\n\nload('http://a', 3)\n")
    assert list(program.all_waits)
    assert asked
