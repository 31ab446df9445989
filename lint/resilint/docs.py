"""Where a rule's page lies: inside the installed package, or beside the sources in a checkout."""

from __future__ import annotations

import sys
from pathlib import Path

from resilint.model import Rule

FOLDER = "rule_docs"


def folder(rule: Rule) -> Path | None:
    """The folder of the pages that a rule's page is one of.

    Looked up from the rule's own module: an editable install leaves a stale copy of the pages among the installed packages.
    """
    file = sys.modules[rule.check.__module__].__file__
    if file is None:
        return None
    package = Path(file).resolve().parent
    above = package.parents[1] if len(package.parents) > 1 else package
    return next((place for place in (package / FOLDER, above / FOLDER) if place.is_dir()), None)


def page(rule: Rule) -> str | None:
    """The text of a rule's page."""
    pages = folder(rule)
    file = pages / f"{rule.code}.md" if pages else None
    return file.read_text("utf-8") if file is not None and file.is_file() else None
