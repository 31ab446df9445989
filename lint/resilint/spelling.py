"""What was probably meant by a misspelt word."""

from __future__ import annotations

from collections.abc import Iterable


def get_close_matches(word: str, possibilities: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """Those of difflib, which is imported only when somebody has misspelt something: most runs end without it."""
    from difflib import get_close_matches

    return get_close_matches(word, list(possibilities), n, cutoff)
