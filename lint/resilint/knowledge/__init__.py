"""What library names mean: shipped knowledge files, the user's own, and the index the engine asks."""

from __future__ import annotations

from resilint.knowledge.index import Knowledge, Table, holds
from resilint.knowledge.loader import Inline, KnowledgeError, load

__all__ = ["Inline", "Knowledge", "KnowledgeError", "Table", "holds", "load"]
