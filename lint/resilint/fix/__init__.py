"""Fixes: edits of findings put into files, each change parsed again before it is kept."""

from __future__ import annotations

from resilint.fix.fixer import Fixer

__all__ = ["Fixer"]
