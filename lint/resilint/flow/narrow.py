"""What a test leaves of a set of possibilities."""

from __future__ import annotations

from resilint.flow.values import Absent, Null, Num, Text, Thing


def keeps(thing: Thing, truth: bool) -> bool:
    """Whether a thing can have that truth value; what is not known can have both."""
    if isinstance(thing, Null | Absent):
        return not truth
    if isinstance(thing, Num):
        return bool(thing.number) == truth
    if isinstance(thing, Text) and thing.whole is not None:
        return bool(thing.whole) == truth
    return True
