"""What a strict parser says of edited Python: the readers' own goes on past errors that Python does not."""

from __future__ import annotations

from collections import Counter


def lost(before: bytes, after: bytes) -> str:
    """Why an edit of a Python file is not kept: it no longer parses, or a comment is gone; empty where nothing is wrong."""
    import libcst

    try:
        old = libcst.parse_module(before)
    except Exception:
        return "it does not parse as it is"
    try:
        new = libcst.parse_module(after)
        compile(after, "<fixed>", "exec", dont_inherit=True)
    except (libcst.ParserSyntaxError, SyntaxError, ValueError, RecursionError) as problem:
        return f"it would no longer parse: {str(problem).splitlines()[0]}"
    gone = _comments(old) - _comments(new)
    return f"the comment {next(iter(gone))!r} would be lost" if gone else ""


def _comments(module: object) -> Counter[str]:
    import libcst

    found: Counter[str] = Counter()

    class Visitor(libcst.CSTVisitor):
        def visit_Comment(self, node: libcst.Comment) -> None:
            found[node.value] += 1

    assert isinstance(module, libcst.Module)
    module.visit(Visitor())
    return found
