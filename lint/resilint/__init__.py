"""A linter that finds the ways a service dies of waiting: waits, queues, retries and routes without a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resilint.model import Confidence, Edit, Finding, Fix, Rule, Severity, Span, Step, Value
    from resilint.program import Program

__version__ = "0.1.0"

__all__ = ["Confidence", "Edit", "Finding", "Fix", "Program", "Rule", "Severity", "Span", "Step", "Value", "__version__"]


def __getattr__(name: str) -> Any:
    """Loads a public noun when it is first asked for: `resilint --help` needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    noun = getattr(import_module("resilint.program" if name == "Program" else "resilint.model"), name)
    globals()[name] = noun
    return noun
