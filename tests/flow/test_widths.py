"""Widths of work against pools: one program in three languages gives one answer, whichever gate is the narrow one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from resilint import registry
from resilint.testing import cases, check

PYTHON = """
```py work.py
import threading
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import create_engine, text

gate = threading.Semaphore({permits})
engine = create_engine("postgresql://db/app", pool_size={pool}, max_overflow=0)


def mark(key):
    with gate:
        with engine.begin() as connection:
            connection.execute(text("update items set seen = true where key = :key"), {{"key": key}})


def mark_all(keys):
    with ThreadPoolExecutor(max_workers={workers}) as workers:
        list(workers.map(mark, keys))
```
"""

GO = """
```go work.go
package work

import (
	"context"
	"database/sql"

	"golang.org/x/sync/errgroup"
)

type Work struct {{
	db      *sql.DB
	permits chan struct{{}}
}}

func Open(dsn string) (*Work, error) {{
	db, err := sql.Open("postgres", dsn)
	if err != nil {{
		return nil, err
	}}
	db.SetMaxOpenConns({pool})
	db.SetMaxIdleConns({pool})
	return &Work{{db: db, permits: make(chan struct{{}}, {permits})}}, nil
}}

func (w *Work) mark(ctx context.Context, key string) error {{
	w.permits <- struct{{}}{{}}
	defer func() {{ <-w.permits }}()
	_, err := w.db.ExecContext(ctx, "UPDATE items SET seen = true WHERE key = $1", key)
	return err
}}

func (w *Work) MarkAll(ctx context.Context, keys []string) error {{
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit({workers})
	for _, key := range keys {{
		g.Go(func() error {{ return w.mark(ctx, key) }})
	}}
	return g.Wait()
}}
```
"""

JAVA = """
```java Work.java
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

final class Work {{
    private final Semaphore gate = new Semaphore({permits});
    private final ExecutorService workers = Executors.newFixedThreadPool({workers});
    private final HikariDataSource source;

    Work() {{
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://db/app?socketTimeout=5");
        config.setMaximumPoolSize({pool});
        source = new HikariDataSource(config);
    }}

    void markAll(List<String> keys) {{
        for (String key : keys) {{
            workers.submit(() -> mark(key));
        }}
    }}

    private Void mark(String key) throws Exception {{
        gate.acquire();
        try (Connection connection = source.getConnection()) {{
            connection.prepareStatement("UPDATE items SET seen = true").executeUpdate();
        }} finally {{
            gate.release();
        }}
        return null;
    }}
}}
```
"""


def _numbers(text: str, folder: Path) -> list[tuple[str, ...]]:
    """Width, size of the pool and what is left over, as the messages of RS303 say them."""
    (case,) = cases(f"## case\n{text}")
    (rule,) = [rule for rule in registry.rules() if rule.code == "RS303"]
    found = [
        re.match(r"(\d+) \w+ at once share the (\d+) connections? of .*: (\d+) of them", x.message)
        for x in check(case, folder, (rule,))
    ]
    return [match.groups() for match in found if match is not None]


@pytest.mark.parametrize("language", [PYTHON, GO, JAVA], ids=["python", "go", "java"])
@pytest.mark.parametrize(
    ("workers", "permits", "pool"), [(40, 30, 10), (30, 40, 10), (12, 40, 12), (40, 12, 12), (11, 13, 12), (13, 14, 12)]
)
def test_the_narrowest_gate_is_held_against_the_pool(language: str, workers: int, permits: int, pool: int, tmp_path: Path) -> None:
    width = min(workers, permits)
    expected = [(str(width), str(pool), str(width - pool))] if width > pool else []
    assert _numbers(language.format(workers=workers, permits=permits, pool=pool), tmp_path) == expected
