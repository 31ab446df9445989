"""Offers: timeouts that code promises to take, and those that never arrive where they were meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resilint.flow.waits import Endless, Wait
    from resilint.program import Program


class Offers:
    """Looks for what was offered around an endless wait."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def explains(self, wait: Wait, way: Endless) -> bool:
        """Whether a dropped offer is the reason of this endless wait."""
        return False
