"""URLs that lead to no peer, as a test around a call says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.link.code import Arm, CallSite, dotted, last_name, walk

if TYPE_CHECKING:
    from resilint.program import Program

_NO_PEER = re.compile(r"(data|file|about|blob):", re.IGNORECASE)
_MOST = 12
"""Callers that are asked."""


def leads_nowhere(program: Program, site: CallSite) -> bool:
    """Whether the URL that a call is given, itself or by each caller of its function, was asked to begin with a scheme that stands
    for the data themselves or for a file: `if url.startswith("data:")`."""
    url = next((arg.value for arg in site.call.args if arg.name in (None, "url")), None)
    if not isinstance(url, f.Ref):
        return False
    if _asked(site.arm, url.name):
        return True
    param = site.fn.params.get(url.name)
    if param is None or any(d.kind != "param" for d in site.fn.body.definitions.get(url.name, ())):
        return False
    sites, whole = program.resolver.callers(site.fn)
    if not sites or not whole or len(sites) > _MOST:
        return False
    for _, called, binds, _ in sites:
        places = site.fn.positional
        given = [b.expr for i, b in enumerate(binds) if b.name == param.name or (b.name is None and places[i : i + 1] == [param])]
        if len(given) != 1 or not isinstance(given[0], f.Ref) or not _asked(called.arm, given[0].name):
            return False
    return True


def _asked(arm: Arm, name: str) -> bool:
    """Whether a test that holds at a place asks a text of that name how it begins."""
    for around in arm.chain():
        if around.kind != "then" or not isinstance(around.node, f.If):
            continue
        for node in walk(around.node.test):
            if isinstance(node, f.Bin) and node.op == "or":
                break
            if not isinstance(node, f.Call) or last_name(node.fn) != "startswith" or len(node.args) != 1:
                continue
            if _owner(node.fn) == name and _is_no_peer(node.args[0].value):
                return True
    return False


def _owner(fn: f.Expr) -> str:
    """The text whose method is called, as it is or in small letters."""
    base = fn.base if isinstance(fn, f.Field) else None
    if isinstance(base, f.Call) and last_name(base.fn) in ("lower", "strip"):
        return dotted(base.fn).rpartition(".")[0]
    return dotted(fn).rpartition(".")[0]


def _is_no_peer(expr: f.Expr) -> bool:
    return isinstance(expr, f.Lit) and isinstance(expr.value, str) and _NO_PEER.match(expr.value) is not None
