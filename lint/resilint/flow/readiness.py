"""Whether a call finds what it takes already there: a test of the same object says so where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from resilint import facts as f
from resilint.link.code import CallSite, Fun, dotted, leaves

_PARTS = 16
"""Parts of one test that are looked at."""


def is_ready(site: CallSite, methods: Iterable[str]) -> bool:
    """Whether one of these methods of the call's receiver has answered yes on every way to the call: around it, or in a test
    before it whose other branch leaves."""
    receiver = dotted(site.call.fn).rpartition(".")[0]
    if not receiver:
        return False
    asked = frozenset(f"{receiver}.{method}" for method in methods)
    for arm in site.arm.chain():
        node = arm.node
        test = node.test if isinstance(node, f.If | f.Loop) and arm.kind in ("then", "loop") else None
        if test is not None and any(_says(part, asked, site.fn) for part in _all_of(test)):
            return True
    around = {id(arm) for arm in site.arm.chain()}
    for stmt, arm in site.fn.body.stmts:
        if stmt.end > site.call.at:
            continue
        if isinstance(stmt, f.If) and id(arm) in around and not stmt.orelse and leaves(stmt.then):
            test = stmt.test
            if isinstance(test, f.Un) and test.op == "not" and _says(test.value, asked, site.fn):
                return True
    return False


def _says(test: f.Expr, asked: frozenset[str], fn: Fun) -> bool:
    """Whether a test asks one of these, itself or by a variable that holds the answer."""
    if isinstance(test, f.Call):
        return dotted(test.fn) in asked
    if not isinstance(test, f.Ref):
        return False
    found, open_path = fn.body.reaching(test.name, test.at)
    return bool(found) and not open_path and all(isinstance(d.expr, f.Call) and dotted(d.expr.fn) in asked for d in found)


def _all_of(test: f.Expr) -> Iterator[f.Expr]:
    """The parts of a test that all hold where it holds."""
    parts = [test]
    for _ in range(_PARTS):
        if not parts:
            return
        part = parts.pop()
        if isinstance(part, f.Bin) and part.op in ("and", "&&"):
            parts += [part.right, part.left]
        else:
            yield part
