"""In-house knowledge of libraries that nothing in the program imports: a misspelt name would find nothing, without a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from resilint.facts import FileFacts
from resilint.knowledge.index import Knowledge


def unused(knowledge: Knowledge, files: Mapping[str, FileFacts]) -> Iterator[str]:
    """A line for each in-house library whose language the program speaks and whose modules neither an import names nor a file of
    the program is."""
    imports: dict[str, frozenset[str]] = {}
    for library, place in knowledge.declared:
        language = library.language
        modules = library.modules
        if not modules or not any(facts.kind == language for facts in files.values()):
            continue
        if language not in imports:
            imports[language] = frozenset(_imported(files, language))
        if not any(_is_within(path, module) for module in modules for path in imports[language]) and not _written_here(
            modules, files
        ):
            yield (
                f"knowledge of {library.library!r} ({place}): nothing in this program imports "
                f"{' or '.join(modules)}{_near(modules, imports[language])}"
            )


def _imported(files: Mapping[str, FileFacts], language: str) -> Iterator[str]:
    for facts in files.values():
        if facts.kind == language:
            for imp in facts.imports:
                if not imp.level:
                    yield f"{imp.target}.{imp.name}" if imp.name and imp.name != "*" else imp.target


def _is_within(path: str, module: str) -> bool:
    return path == module or path.startswith((f"{module}.", f"{module}/"))


def _written_here(modules: Sequence[str], files: Iterable[str]) -> bool:
    """Whether a module is a folder or file of the program: its own code need not import it, or does so relatively."""
    wanted = [f"/{module.rpartition('/')[2].replace('.', '/')}" for module in modules]
    return any(f"{end}/" in f"/{path}" or f"{end}." in f"/{path}" for path in files for end in wanted)


def _near(modules: Sequence[str], imports: Iterable[str]) -> str:
    known = sorted({path for name in imports for path in (name, name.partition(".")[0], name.rpartition(".")[0]) if path})
    near = [found for module in modules for found in get_close_matches(module, known, 1, 0.75)]
    return f": did you mean {near[0]!r}?" if near else ""
