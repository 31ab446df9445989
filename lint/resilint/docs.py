"""Where a rule's page lies: inside the installed package, or beside the sources in a checkout."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from resilint.model import Rule

FOLDER = "rule_docs"
GROUP = "resilint.checks"
"""The group of entry points through which packages of rules come."""


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


URL = "RESILINT_DOCS_URL"
"""The environment variable that says where the pages can be read on the web, with `{code}` or `{name}` for the rule's."""
_LABEL = "Rule pages"
"""The label of the same among the addresses of a package of rules (`[project.urls]`)."""


def address(rule: Rule) -> str | None:
    """Where a rule's page can be read on the web, as the environment or the package of the rule says; none if neither does."""
    template = os.environ.get(URL) or _published(rule.check.__module__.partition(".")[0])
    return template.replace("{code}", rule.code).replace("{name}", rule.name) if template else None


@cache
def local_address(rule: Rule) -> str | None:
    """The address of a rule's page on this machine."""
    pages = folder(rule)
    file = pages / f"{rule.code}.md" if pages else None
    return file.as_uri() if file is not None and file.is_file() else None


@cache
def _published(package: str) -> str | None:
    """What the distribution that brings a package of rules says of itself; the engine and its rules are one."""
    from importlib.metadata import PackageNotFoundError, distribution, entry_points

    brings = {point.value.partition(":")[0].partition(".")[0]: point.dist for point in entry_points(group=GROUP)}
    try:
        found = brings.get(package) or distribution("resilint")
    except PackageNotFoundError:
        return None
    for entry in found.metadata.get_all("Project-URL") or ():
        label, _, url = entry.partition(",")
        if label.strip().lower() == _LABEL.lower():
            return str(url).strip()
    return None
