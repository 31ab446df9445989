"""Paths of settings against patterns: which keys of a document a row of knowledge speaks of, however they are spelled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from resilint import facts as f
from resilint.knowledge.schema import SettingMark

Path = tuple[str, ...]
_DOTTED = re.compile(r"\.").search


def counts(mark: SettingMark, setting: f.Setting) -> bool:
    """Whether the value of a setting is one that a mark speaks of."""
    text = setting.text.lower()
    if any(fnmatchcase(text, pattern) for pattern in mark.unless):
        return False
    return not mark.values or any(fnmatchcase(text, pattern) for pattern in mark.values)


def steps_of(path: Path) -> Path:
    """A path with dotted keys taken apart, as properties files write them."""
    if not any(map(_DOTTED, path)):
        return path
    return tuple(part for step in path for part in (step.split(".") if " " not in step and "/" not in step else (step,)))


@lru_cache(maxsize=1024)
def pattern_of(key: str) -> Path:
    """The steps of a dotted key of a row; one in square brackets may hold dots."""
    return tuple(part[1:-1] if part.startswith("[") else part for part in re.findall(r"\[[^\]]*\]|[^.\[\]]+", key))


def keys_of(settings: Iterable[f.Setting]) -> frozenset[str]:
    """The plain keys that stand in the paths of settings."""
    written = {step for setting in settings for step in setting.path}
    return frozenset(plain(part) for step in written for part in steps_of((step,)))


@lru_cache(maxsize=1 << 14)
def plain(step: str) -> str:
    """A key without its case, dashes and the number of its repetition: frameworks take either spelling."""
    return step.partition("#")[0].replace("-", "").replace("_", "").lower()


def _same(wanted: str, have: str) -> bool:
    if wanted == "*":
        return True
    if wanted.endswith(" *"):
        return have.startswith(wanted[:-1])
    return plain(wanted) == plain(have)


def matches_path(wanted: Path, have: Path) -> bool:
    """Whether a path is of this pattern, all of it."""
    return len(have) in prefixes(wanted, have)


def prefixes(wanted: Path, have: Path) -> list[int]:
    """How many steps of a path a pattern can take; with `**` the most, so that a block is the innermost."""
    if not wanted:
        return [0]
    if wanted[0] == "**":
        for skip in range(len(have), -1, -1):
            found = prefixes(wanted[1:], have[skip:])
            if found:
                return [skip + size for size in found[:1]]
        return []
    if not have or not _same(wanted[0], have[0]):
        return []
    return [1 + size for size in prefixes(wanted[1:], have[1:])]


def is_met(key: str, values: tuple[str, ...], unset: bool, inside: list[tuple[Path, f.Setting]]) -> bool:
    """Whether a setting stands inside with one of these values, any where none is given; `unset`: or does not stand there."""
    found = [s for have, s in inside if matches_path(pattern_of(key), have)]
    if not found:
        return unset
    return not values or any(fnmatchcase(s.text.lower(), value) for s in found for value in values)
