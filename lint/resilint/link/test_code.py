"""Test code that is told by what it is written with, wherever it lies, and whether its runner ends it."""

from __future__ import annotations

from collections.abc import Mapping

from resilint import facts as f


class TestCode:
    """What knowledge says of frameworks of tests, asked of files."""

    __test__ = False  # It is no test itself, whatever its name tells pytest.

    def __init__(self, words: Mapping[str, frozenset[str]]) -> None:
        """`words`: by topic, as knowledge has them."""
        self._imports = tuple(sorted(words.get("test_imports", ())))
        self._parameters = words.get("test_parameters", frozenset())
        self._modules = frozenset(name.rpartition(".")[0] for name in self._parameters)
        self._frameworks = words.get("test_frameworks", frozenset())
        self._lent = words.get("test_lent", frozenset())
        self._limited = tuple(sorted(words.get("test_limited", ())))

    def is_test(self, facts: f.FileFacts) -> bool:
        """Whether a file imports what only tests do, or has functions that a runner of tests gives its handle."""
        if facts.kind == "java":
            return any(imp.target.startswith(self._imports) for imp in facts.imports) if self._imports else False
        if facts.kind == "python":
            # Only what every run of the file needs: a plugin that offers help to tests asks for the framework where it can.
            needed = (imp for imp in facts.imports if imp.function == 0 and not imp.guarded and not imp.level)
            return any(imp.target in self._frameworks and f"{imp.target}.{imp.name}" not in self._lent for imp in needed)
        return facts.kind == "go" and (self._takes_handle(facts) or self._is_made_for_tests(facts))

    def is_ended(self, path: str, facts: f.FileFacts) -> bool:
        """Whether a runner that ends what takes too long runs a file: nothing in it can wait for ever."""
        if not self._limited:
            return False
        return path.endswith(self._limited) or self._takes_handle(facts) or (facts.kind == "go" and self._is_made_for_tests(facts))

    def _is_made_for_tests(self, facts: f.FileFacts) -> bool:
        """Whether a file of a package that is no command imports what only tests do."""
        return (
            facts.package != "main" and any(imp.target.startswith(self._imports) for imp in facts.imports)
            if self._imports
            else False
        )

    def _takes_handle(self, facts: f.FileFacts) -> bool:
        if not any(imp.target in self._modules for imp in facts.imports):
            return False
        aliases = {imp.alias: imp.target for imp in facts.imports if imp.target in self._modules}
        for fn in facts.functions:
            for param in fn.params:
                if param.type is not None:
                    alias, _, name = param.type.name.rpartition(".")
                    if alias in aliases and f"{aliases[alias]}.{name}" in self._parameters:
                        return True
        return False
