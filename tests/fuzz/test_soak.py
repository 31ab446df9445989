"""A small slice of the soak, and damage of every kind that once broke something."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from resilint.discover import kind_of_name
from resilint.kinds import KINDS

from .mutations import MUTATIONS, Tree, damaged_program, mutated, trees
from .soak import check_program, soak


def test_damaged_programs_are_checked_to_the_end() -> None:
    outcome = soak(150, seed=0)
    assert outcome.problems == []
    assert outcome.files >= 150 and outcome.findings and outcome.fixes


def test_every_kind_of_file_is_damaged() -> None:
    assert {kind_of_name(path) for tree in trees() for path in tree} >= set(KINDS)


@pytest.mark.parametrize("mutation", sorted({one.__name__ for one in MUTATIONS}))
def test_every_kind_of_damage_changes_files(mutation: str) -> None:
    change = next(one for one in MUTATIONS if one.__name__ == mutation)
    rng = random.Random(mutation)
    data = b"timeout = 5\nretries = call(3)\n\ndef f(x):\n    return x\n"
    assert any(change(rng, data, "python") != data for _ in range(10))
    change(rng, b"", "python")


def test_a_program_can_be_made_again() -> None:
    assert damaged_program(random.Random("1-7")) == damaged_program(random.Random("1-7")) != damaged_program(random.Random("1-8"))
    assert mutated(random.Random(1), b"a = 1\n" * 50, "python") == mutated(random.Random(1), b"a = 1\n" * 50, "python")


WORKER = """\
import requests

def get(url):
    for attempt in range({times}):
        try:
            return requests.get(url, timeout=2)
        except requests.Timeout:
            pass
"""

POOL = """\
import socket
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(max_workers=float("{number}")) as pool:
    things = [1, 2, 3]
    sock = socket.create_connection(("db", float("{number}")))
    sock.settimeout(things[float("{number}")])
    pool.submit(sock.recv, things[float("{number}") : float("-{number}")])
"""


NAME = b"""\
package feed

import (
	"net/http"

	"github.com/redis/go-redis/v9"
)

func NewHandler() http.HandlerFunc {
	client := redis.NewClient(&redis.Options{Addr: "cache:6379"})
	return func(w http.ResponseWriter, r *http.Request) {
		client%s.Get(r.Context(), "item")
	}
}
""" % (b".ent" * 1000)

CONSTRUCTOR = b"""\
import org.springframework.jdbc.core.JdbcTemplate;
public class Orders {
    public Orders(DataSource source, int patience) {
        this.jdbc.setQueryTimeout(patience);
    }
class Edge {
        return jdbc.queryForObject("SELECT count(*) FROM orders", Integer.class);
"""


@pytest.mark.parametrize(
    "tree",
    [
        pytest.param({"a.py": WORKER.format(times="float('inf')").encode()}, id="a loop without end that counts"),
        pytest.param({"a.py": WORKER.format(times="1e999").encode()}, id="a number too large for one"),
        pytest.param({"a.py": WORKER.format(times="float('nan')").encode()}, id="no number"),
        pytest.param({"a.py": POOL.format(number="inf").encode()}, id="an index without end"),
        pytest.param({"a.py": POOL.format(number="nan").encode()}, id="an index that is no number"),
        pytest.param({"a.go": NAME}, id="a name of a thousand parts"),
        pytest.param({"Orders.java": CONSTRUCTOR}, id="a constructor of a class without a head"),
    ],
)
def test_what_broke_once(tree: Tree, tmp_path: Path) -> None:
    assert check_program(tree, tmp_path / "program") == []
