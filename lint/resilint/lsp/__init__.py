"""The language server: what `resilint check` finds, in an editor."""

from __future__ import annotations

__all__ = ["serve"]


def serve() -> int:
    """Serves an editor on standard input and output; the exit status is that of the protocol."""
    from resilint.lsp.server import serve as start

    return start()
