"""Precision and recall of call graphs against known ones.

    python benchmarks/callgraph.py DIR [-v]

DIR holds one folder per program, each with `callgraph.json` (`{"caller": ["callee", …]}`), in folders that name the category, as
in PyCG's micro-benchmark (`micro-benchmark/snippets`). Edges are summed up over all programs.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import Settings

Edges = set[tuple[str, str]]

SPELLINGS = {"<**PyStr**>": "<builtin>.str", "<**PyDict**>": "<builtin>.dict", "<**PyList**>": "<builtin>.list"}
"""How PyCG spells the builtin types."""


def truth(file: Path) -> Edges:
    """The edges of a known call graph, names as resilint spells them."""
    known = json.loads(file.read_text("utf-8"))
    return {(_spelled(caller), _spelled(callee)) for caller, callees in known.items() for callee in callees}


def _spelled(name: str) -> str:
    head, dot, rest = name.partition(".")
    return SPELLINGS.get(head, head) + dot + rest


def found(folder: Path) -> Edges:
    """The edges that resilint finds in a folder."""
    root = folder.resolve()
    scope = Scope(root, root)
    settings = Settings()
    texts = Texts(scope.root)
    _, edges = link(read_program(scope, settings, texts), settings, texts).call_graph()
    return set(edges)


def programs(root: Path) -> Iterator[tuple[str, Path]]:
    """Category and folder of every program."""
    for file in sorted(root.rglob("callgraph.json")):
        parts = file.parent.relative_to(root).parts
        yield parts[0] if parts else root.name, file.parent


def share(part: int, whole: int) -> str:
    """A percentage."""
    return f"{100 * part / whole:6.1f}" if whole else "     -"


def main() -> None:
    """Print a table, and with `-v` every difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="list wrong and missing edges")
    options = parser.parse_args()
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    began = time.perf_counter()
    for category, folder in programs(options.folder):
        expected, actual = truth(folder / "callgraph.json"), found(folder)
        counted[category] += 1
        whole[category] += expected == actual
        right[category] += len(expected & actual)
        wrong[category] += len(actual - expected)
        missing[category] += len(expected - actual)
        if options.verbose:
            name = folder.relative_to(options.folder).as_posix()
            for sign, edges in (("wrong  ", actual - expected), ("missing", expected - actual)):
                for caller, callee in sorted(edges):
                    print(f"{sign} {name}: {caller} -> {callee}")
    print(f"{'category':14} programs exact  edges right wrong missing precision recall")
    for category in [*sorted(counted), "all"]:
        r, w, m, n, e = (
            count.total() if category == "all" else count[category] for count in (right, wrong, missing, counted, whole)
        )
        print(f"{category:14} {n:8} {e:5} {r + m:6} {r:5} {w:5} {m:7}    {share(r, r + w)} {share(r, r + m)}")
    print(f"{time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
