"""What holds for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the cache of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RESILINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
