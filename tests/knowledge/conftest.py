from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Shipped knowledge is compiled once for all tests, away from the user's cache."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RESILINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory for one test."""
    monkeypatch.setenv("RESILINT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"
