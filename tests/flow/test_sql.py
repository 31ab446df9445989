"""What statements say: conditions, limits, and where a part that is not known may hold one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resilint.flow.sql import HOLE, Condition, begins_like_sql, read_conditions, read_statement, reads_like_sql

LIMITED = [
    "SELECT id FROM jobs WHERE state = 'new' LIMIT 10",
    "SELECT TOP 10 id FROM [dbo].[jobs] WHERE state = 'new'",
    "SELECT TOP (@n) id FROM jobs WHERE state = 'new'",
    "SELECT id FROM jobs WHERE state = 'new' FETCH FIRST 10 ROWS ONLY",
    "SELECT id FROM jobs WHERE state = 'new' AND ROWNUM <= 10",
    f"SELECT id FROM jobs WHERE state = 'new' LIMIT {HOLE}",
    "SELECT id FROM jobs WHERE id IN (SELECT id FROM jobs WHERE state = 'new' ORDER BY id LIMIT 10)",
    "WITH next AS (SELECT id FROM jobs LIMIT 10) SELECT j.* FROM jobs j JOIN next ON next.id = j.id",
]
UNLIMITED = [
    "SELECT id FROM jobs WHERE state = 'new'",
    "SELECT id FROM jobs WHERE state = 'new' LIMIT ALL",
    "SELECT id, (SELECT name FROM kinds k WHERE k.id = j.kind LIMIT 1) FROM jobs j WHERE state = 'new'",
    "SELECT id FROM jobs WHERE note = 'no limit 10' -- LIMIT 10",
    "SELECT id FROM jobs /* LIMIT 10 */ WHERE state = 'new' FOR UPDATE SKIP LOCKED",
    "select j from Job j where j.state = :state order by j.id",
    "from Job j where j.state = 'NEW'",
]


@pytest.mark.parametrize("text", LIMITED)
def test_limits(text: str) -> None:
    statement = read_statement(text)
    assert statement is not None and statement.verb == "select" and statement.is_limited


@pytest.mark.parametrize("text", UNLIMITED)
def test_no_limit(text: str) -> None:
    statement = read_statement(text)
    assert statement is not None and statement.verb == "select" and not statement.is_limited and not statement.is_open


@pytest.mark.parametrize(
    ("text", "is_aggregate"),
    [
        ("SELECT count(*) FROM jobs", True),
        ("SELECT max(id), min(id) FROM jobs", True),
        ("SELECT state, count(*) FROM jobs GROUP BY state", True),
        ("SELECT 1 FROM jobs WHERE state = 'new'", True),
        ("SELECT id, count(*) OVER () FROM jobs", False),
        ("SELECT DISTINCT owner FROM jobs", False),
    ],
)
def test_aggregates(text: str, is_aggregate: bool) -> None:
    statement = read_statement(text)
    assert statement is not None and statement.is_aggregate == is_aggregate


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        (f"SELECT {HOLE} FROM {HOLE} WHERE state = {HOLE}", False),
        (f"SELECT id FROM jobs WHERE state = '{HOLE}' AND made BETWEEN {HOLE} AND {HOLE}", False),
        (f"SELECT id FROM jobs_{HOLE} WHERE state IN ({HOLE})", False),
        (f"SELECT id FROM jobs WHERE {HOLE}", True),
        (f"SELECT id FROM jobs WHERE state = 'new' {HOLE}", True),
        (f"SELECT id FROM jobs WHERE state = 'new' AND {HOLE}", True),
        (f"SELECT id FROM jobs {HOLE}", True),
    ],
)
def test_holes(text: str, is_open: bool) -> None:
    statement = read_statement(text)
    assert statement is not None and statement.is_open == is_open


def test_conditions() -> None:
    statement = read_statement(
        "SELECT id FROM job j WHERE j.status IN ('NEW', 'FAILED') AND \"sent_at\" IS NULL AND NOT done"
        " AND updatedAt < now() - interval '1 day'"
    )
    assert statement is not None
    assert statement.tables == ("job",)
    found = {c.column: (c.op, c.values) for c in statement.conditions}
    assert found["status"] == ("in", ("new", "failed"))
    assert found["sent_at"] == ("is", ("null",))
    assert found["done"] == ("not", ())
    assert found["updated_at"][0] == "<"
    assert read_conditions("status = ?") == (Condition("status", "=", ("?",)),)


def test_other_verbs() -> None:
    for text, verb, table in (
        ("DELETE FROM jobs WHERE made < now()", "delete", "jobs"),
        ("UPDATE jobs SET state = 'done' WHERE id = 1", "update", "jobs"),
        ("INSERT INTO jobs (id) VALUES (1)", "insert", "jobs"),
    ):
        statement = read_statement(text)
        assert statement is not None and statement.verb == verb and table in statement.tables


@pytest.mark.parametrize("text", ["select a file", "Select one of these", "from here on", "delete it", "", "SELECT", "insert coin"])
def test_prose_is_no_statement(text: str) -> None:
    assert read_statement(text) is None or reads_like_sql(text)
    assert not reads_like_sql(text) or text.startswith("from ")


@given(st.text(alphabet=st.sampled_from("selct fromwh=<>()'\"`[]%s?:$\0,.-/*#{}\n1"), max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    read_statement("select a from b where " + text)
    read_conditions(text)
    begins_like_sql(text)
