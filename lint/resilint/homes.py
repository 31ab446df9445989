"""Which folder the service of a file lies in: the nearest one with a build file."""

from __future__ import annotations

import re
from collections.abc import Iterable

MARKERS = re.compile(
    r"pom\.xml|build\.gradle(?:\.kts)?|go\.mod|pyproject\.toml|setup\.(?:py|cfg)|Pipfile|requirements[^/]*\.txt|manage\.py"
    r"|(?:Dockerfile|Containerfile)(?:\.[^/]+)?|[^/]+\.[Dd]ockerfile"
)
"""Files beside which the code of one service lies."""


class Homes:
    """The folders with build files among the paths of a program."""

    def __init__(self, paths: Iterable[str]) -> None:
        split = (path.rpartition("/") for path in paths)
        self.folders = frozenset(folder for folder, _, name in split if MARKERS.fullmatch(name))

    def home(self, path: str) -> str:
        """The folder of the service that a file belongs to: the nearest with a build file above it, else the program's root."""
        folder = path.rpartition("/")[0]
        while folder and folder not in self.folders:
            folder = folder.rpartition("/")[0]
        return folder
