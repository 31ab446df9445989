"""What library names mean: shipped knowledge files, the user's own, and the index the engine asks."""

from __future__ import annotations

from resilint.knowledge.index import Knowledge, Table, holds
from resilint.knowledge.loader import Inline, KnowledgeError, load

__all__ = ["Inline", "Knowledge", "KnowledgeError", "Table", "describe", "holds", "load"]


def describe(name: str | None, knowledge: Knowledge | None = None) -> str:
    """The text of `resilint knowledge [NAME]`: all libraries, one library, or one canonical name; by default of what is shipped.

    Raises `KnowledgeError` with a suggestion for a name that is not known.
    """
    from resilint.knowledge.overview import describe_in

    return describe_in(knowledge if knowledge is not None else load(), name)
