"""One small service, said apart from how it is written: what is wrong with it, and the ways to print it that change nothing.

A `Shape` is what the service does, and decides alone what is found. A `Style` is how it is written: where clients live, what
carries their timeouts, what is extracted, renamed or moved. A printer writes both in one language and remembers on which line each
part stands. A further language needs a printer with the same `files` and `places`, and rows of knowledge for the library `wire`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st
from resilint.knowledge.loader import Inline

from .harness import Choices

Bound = Literal["given", "none", "disabled"]
Fanout = Literal["limited", "checked", "unchecked", "unlimited"]
"""`limited`: in how many run at once and in how many come; `checked`, `unchecked`: the second alone, the first alone."""


@dataclass(frozen=True)
class Shape:
    """Clients by their timeouts, a server by its own, and a handler that starts work for each element of what it is sent."""

    clients: tuple[Bound, ...]
    server: Bound | None
    fanout: Fanout | None

    def faults(self) -> set[tuple[str, str]]:
        """Code and place of what must be found, and nothing else."""
        found = set()
        for index, bound in enumerate(self.clients):
            if bound != "given":
                found.add(("RS101" if bound == "none" else "RS104", f"client{index}"))
        if self.server in ("none", "disabled"):
            found.add(("RS103" if self.server == "none" else "RS104", "server"))
        if self.fanout == "unlimited":
            found.add(("RS301", "spawn"))
        if self.fanout in ("unlimited", "unchecked"):
            found.add(("RS302", "loop"))
        return found


@dataclass(frozen=True)
class ClientStyle:
    """Where a client lives, what carries its timeout, how many functions lie between it and its call, in which file it is made.

    `value`: how the number is written where the carrier starts. `spread`: the argument comes out of a mapping, where a language
    has that, or goes through a builder. `closure`: the call stands in a function literal that is called at once.
    """

    home: str
    carrier: str
    value: str
    depth: int
    moved: bool
    spread: bool
    closure: bool


@dataclass(frozen=True)
class Style:
    """How all of a service is written. `names` is what names end in: renaming changes nothing."""

    clients: tuple[ClientStyle, ...]
    server_value: str
    fanout_extracted: bool
    fanout_moved: bool
    names: str


HOMES = ("local", "global", "factory", "owner")
CARRIERS = {
    "local": ("direct",),
    "global": ("direct",),
    "factory": ("direct", "param", "config"),
    "owner": ("direct", "param", "config", "field"),
}
VALUES = ("literal", "constant", "elsewhere", "environment")


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Services with one to three clients."""
    choose = Choices(draw)
    bounds: tuple[Bound, ...] = ("given", "none", "disabled")
    clients = tuple(choose.of(bounds) for _ in range(choose.number(1, 3)))
    server = choose.of((None, *bounds))
    fanouts: tuple[Fanout | None, ...] = (None, "limited", "checked", "unchecked", "unlimited")
    return Shape(clients, server, choose.of(fanouts) if server is not None else None)


@st.composite
def styles(draw: st.DrawFn, shape: Shape) -> Style:
    """Ways to write a service. What is not written at all has fewer: a timeout nobody gives cannot be a parameter."""
    choose = Choices(draw)
    clients = []
    for bound in shape.clients:
        home = choose.of(HOMES)
        carriers = CARRIERS[home] if bound != "none" else tuple(c for c in CARRIERS[home] if c in ("direct", "config"))
        clients.append(
            ClientStyle(
                home,
                choose.of(carriers),
                choose.of(VALUES),
                choose.number(0, 2),
                choose.chance(50),
                choose.chance(30),
                choose.chance(30),
            )
        )
    return Style(tuple(clients), choose.of(VALUES), choose.chance(50), choose.chance(50), choose.of(("", "_next", "X")))


_ROOTS = {"python": "wire", "go": "example.com/wire", "java": "com.example.wire"}


def _rows(language: str) -> dict[str, object]:
    """Knowledge of `wire`, the same in every language but for how names and units are spelled."""
    root = _ROOTS[language]
    unit = "s" if language == "python" else "dur"

    def call(type_name: str, method: str) -> str:
        return f"{root}.{type_name}.{method.capitalize() if language == 'go' else method}"

    def built(type_name: str) -> list[str]:
        return [f"{root}.{type_name}.Builder.build"] if language == "java" else []

    def where(name: str, position: int) -> dict[str, object]:
        if language == "java":
            return {"pos": position}
        return {"arg": name, "pos": position} if language == "python" else {"field": _joined(name)}

    offs: dict[str, list[object]] = {"python": [0, None], "go": [0], "java": ["zero", None]}
    off = offs[language]
    client = {"slot": "total", **where("timeout", 1), "unit": unit, "disabled": off}
    server = {"slot": "read", **where("read_timeout", 1), "unit": unit, "disabled": off}
    needs = [{"any": ["read"], "severity": "error", "say": "a slow peer holds a connection for ever"}]
    builders = [
        _builder(f"{root}.Client", {**client, "pos": 0, "setter": "timeout"}),
        _builder(f"{root}.Server", {**server, "pos": 0, "setter": "readTimeout"}),
    ]
    return {
        "library": "wire",
        "language": language,
        "source": "the oracle",
        "modules": [root],
        "types": [
            {
                "name": f"{root}.Client",
                "made_by": built("Client"),
                "role": "client",
                "protocol": "http",
                "carries": True,
                "bounds": [client],
                "enough": ["total"],
            },
            {
                "name": f"{root}.Server",
                "made_by": built("Server"),
                "role": "server",
                "protocol": "http",
                "carries": True,
                "bounds": [server],
                "needs": needs,
            },
            {
                "name": f"{root}.Group",
                "role": "group",
                "bounds": [{"slot": "concurrency", **where("limit", 0), "unit": "count"}],
            },
            *(builders if language == "java" else []),
        ],
        "calls": [
            {"names": [call("Client", "fetch")], "does": "network", "protocol": "http"},
            {"names": [call("Group", "run")], "does": "spawn", "spawn": {"target": 0, "waits_for_slot": True}},
            {
                "names": [call("Group", "wait" if language != "java" else "join")],
                "does": "wait",
                "bounds": [{"slot": "wait", "default": "unset"}],
            },
            {"names": [call("Server", "handle")], "does": "configure"},
            {"names": [call("Server", "serve")], "does": "serve"},
        ],
        "entries": [{"kind": "request", "call": call("Server", "handle"), "pos": 0, "inputs": [0]}],
    }


def _joined(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _builder(made: str, bound: dict[str, object]) -> dict[str, object]:
    """A builder of that type, which its `builder` makes."""
    return {
        "name": f"{made}.Builder",
        "made_by": [f"{made}.builder"],
        "role": "value",
        "protocol": "http",
        "fluent": True,
        "bounds": [bound],
        "returns": {"build": made},
    }


KNOWLEDGE = tuple(Inline(_rows(language), f"wire for {language}") for language in _ROOTS)
