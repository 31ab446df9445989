"""One handler takes equally long in every language, and RS106 and RS505 say so, whatever its work is extracted to.

A handler is an abstract tree of work; how long it takes is computed on the tree. Printers write it in three languages, with calls
of a client of its own timeout, pauses, branches, loops over data, retries, and work that runs at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resilint.program import Program
from resilint.settings import Caller, Service, Settings

from .harness import Choices, bounded, found_in, linked, shown
from .shop import KNOWLEDGE

Language = Literal["python", "go", "java"]


@dataclass(frozen=True)
class Fetch:
    """A call that takes up to so many seconds."""

    seconds: int


@dataclass(frozen=True)
class Sleep:
    """A pause."""

    seconds: int


@dataclass(frozen=True)
class Both:
    """One after the other."""

    first: Work
    second: Work


@dataclass(frozen=True)
class Either:
    """One of two, the first of which leaves."""

    then: Work
    orelse: Work


@dataclass(frozen=True)
class Each:
    """The same for each of some elements."""

    count: int
    body: Work


@dataclass(frozen=True)
class Tries:
    """A call that is tried again, with pauses that double if they grow; `leaves`: a test of the counter spares the last one."""

    tries: int
    seconds: int
    pause: int
    grows: bool
    leaves: bool


@dataclass(frozen=True)
class AtOnce:
    """Two pieces of work at once."""

    first: Work
    second: Work


Work = Fetch | Sleep | Both | Either | Each | Tries | AtOnce


def longest(work: Work, once: bool = False) -> int:
    """Seconds that work takes at most; `once`: with a single try of everything."""
    match work:
        case Fetch() | Sleep():
            return work.seconds
        case Both():
            return longest(work.first, once) + longest(work.second, once)
        case Either():
            return max(longest(work.then, once), longest(work.orelse, once))
        case Each():
            return work.count * longest(work.body, once)
        case Tries():
            pauses = sum(work.pause * (2**i if work.grows else 1) for i in range(work.tries - work.leaves))
            return work.seconds if once else work.tries * work.seconds + pauses
        case AtOnce():
            return max(longest(work.first, once), longest(work.second, once))


@st.composite
def handlers(draw: st.DrawFn) -> tuple[Work, int]:
    """Work, and the deadline of its caller."""
    choose = Choices(draw)

    def work(depth: int) -> Work:
        kind = choose.number(0, 7 if depth else 2)
        if kind <= 1:
            return Fetch(choose.number(1, 5))
        if kind == 2:
            return (
                Sleep(choose.number(1, 3))
                if choose.chance(50)
                else Tries(choose.number(2, 4), choose.number(1, 4), choose.number(1, 2), choose.chance(50), choose.chance(50))
            )
        if kind == 3:
            return Each(choose.number(2, 3), work(depth - 1))
        if kind == 4:
            return Either(work(depth - 1), work(depth - 1))
        if kind == 5:
            return AtOnce(work(depth - 1), work(depth - 1))
        return Both(work(depth - 1), work(depth - 1))

    return work(3), choose.number(1, 40)


class Printer:
    """Writes a handler in one language, each piece of work as a function of its own."""

    def __init__(self, language: Language, work: Work) -> None:
        self.language = language
        self.functions: list[str] = []
        top = self.function(work)
        self.files = {"python": self._python, "go": self._go, "java": self._java}[language](top)

    def function(self, work: Work) -> str:
        """The name of a new function that does the work."""
        name = f"work{len(self.functions)}"
        self.functions.append("")
        lines = {"python": self._in_python, "go": self._in_go, "java": self._in_java}[self.language](work)
        head, foot = {
            "python": (f"def {name}():", ""),
            "go": (f"func {name}() error {{", "\treturn nil\n}"),
            "java": (f"    static void {name}() throws Exception {{", "    }"),
        }[self.language]
        indent = {"python": "    ", "go": "\t", "java": "        "}[self.language]
        self.functions[int(name[4:])] = "\n".join([head, *(indent + line for line in lines), foot])
        return name

    # ------------------------------------------------------------ Python

    def _in_python(self, work: Work) -> list[str]:
        match work:
            case Fetch():
                return [f'wire.Client("x", timeout={work.seconds}).fetch("/x")']
            case Sleep():
                return [f"time.sleep({work.seconds})"]
            case Both():
                return [f"{self.function(work.first)}()", f"{self.function(work.second)}()"]
            case Either():
                return ["if toggles.on:", f"    return {self.function(work.then)}()", f"{self.function(work.orelse)}()"]
            case Each():
                items = ", ".join(f'"{i}"' for i in range(work.count))
                return [f"for _item in ({items}):", f"    {self.function(work.body)}()"]
            case Tries():
                call = f'wire.Client("x", timeout={work.seconds}).fetch("/x")'
                return [
                    f"pause = {work.pause}",
                    f"for i in range({work.tries}):",
                    "    try:",
                    f"        return {call}",
                    "    except OSError:",
                    *([f"        if i == {work.tries - 1}:", "            raise"] if work.leaves else []),
                    "        time.sleep(pause)",
                    *(["        pause *= 2"] if work.grows else []),
                    'raise RuntimeError("x")',
                ]
            case AtOnce():
                one, two = self.function(work.first), self.function(work.second)
                return [f"first = pool.submit({one})", f"second = pool.submit({two})", "first.result()", "second.result()"]

    def _python(self, top: str) -> dict[str, str]:
        head = "import time\nfrom concurrent.futures import ThreadPoolExecutor\n\nimport toggles\nimport wire\n"
        head += "\npool = ThreadPoolExecutor(8)\n"
        serve = f'def handle(request):\n    {top}()\n\n\nserver = wire.Server("x", read_timeout=9)\nserver.handle(handle)\n'
        return {"app.py": "\n\n".join([head, *self.functions, serve])}

    # ------------------------------------------------------------ Go

    def _in_go(self, work: Work) -> list[str]:
        match work:
            case Fetch():
                return [f'(&wire.Client{{Timeout: {work.seconds} * time.Second}}).Fetch("/x")']
            case Sleep():
                return [f"time.Sleep({work.seconds} * time.Second)"]
            case Both():
                return [f"{self.function(work.first)}()", f"{self.function(work.second)}()"]
            case Either():
                return ["if toggles.On() {", f"\treturn {self.function(work.then)}()", "}", f"{self.function(work.orelse)}()"]
            case Each():
                items = ", ".join(f'"{i}"' for i in range(work.count))
                return [f"for _, item := range []string{{{items}}} {{", "\t_ = item", f"\t{self.function(work.body)}()", "}"]
            case Tries():
                return [
                    f"pause := {work.pause} * time.Second",
                    f"for i := 0; i < {work.tries}; i++ {{",
                    f'\terr := (&wire.Client{{Timeout: {work.seconds} * time.Second}}).Fetch("/x")',
                    "\tif err == nil {",
                    "\t\treturn nil",
                    "\t}",
                    *([f"\tif i == {work.tries - 1} {{", "\t\treturn err", "\t}"] if work.leaves else []),
                    "\ttime.Sleep(pause)",
                    *(["\tpause *= 2"] if work.grows else []),
                    "}",
                ]
            case AtOnce():
                parts = [f"go func() {{ defer wg.Done(); {self.function(part)}() }}()" for part in (work.first, work.second)]
                return ["var wg sync.WaitGroup", "wg.Add(2)", *parts, "wg.Wait()"]

    def _go(self, top: str) -> dict[str, str]:
        imports = '"sync"\n\t"time"\n\n\t"example.com/toggles"\n\t"example.com/wire"'
        serve = (
            f"func handle(r *wire.Request) {{\n\t{top}()\n}}\n\n"
            "func main() {\n\tserver := &wire.Server{ReadTimeout: 9 * time.Second}\n\tserver.Handle(handle)\n\tserver.Serve()\n}\n"
        )
        return {
            "main.go": "\n\n".join([f"package main\n\nimport (\n\t{imports}\n)", *self.functions, serve]),
            "go.mod": "module example.com/app\n",
        }

    # ------------------------------------------------------------ Java

    def _in_java(self, work: Work) -> list[str]:
        def client(seconds: int) -> str:
            return f'Client.builder().timeout(Duration.ofSeconds({seconds})).build().fetch("/x");'

        match work:
            case Fetch():
                return [client(work.seconds)]
            case Sleep():
                return [f"Thread.sleep({work.seconds * 1000});"]
            case Both():
                return [f"{self.function(work.first)}();", f"{self.function(work.second)}();"]
            case Either():
                return [
                    "if (Toggles.on()) {",
                    f"    {self.function(work.then)}();",
                    "    return;",
                    "}",
                    f"{self.function(work.orelse)}();",
                ]
            case Each():
                items = ", ".join(f'"{i}"' for i in range(work.count))
                return [f"for (String item : List.of({items})) {{", f"    {self.function(work.body)}();", "}"]
            case Tries():
                return [
                    f"long pause = {work.pause * 1000};",
                    f"for (int i = 0; i < {work.tries}; i++) {{",
                    "    try {",
                    f"        {client(work.seconds)}",
                    "        return;",
                    "    } catch (IOException e) {",
                    *([f"        if (i >= {work.tries - 1}) {{", "            throw e;", "        }"] if work.leaves else []),
                    "        Thread.sleep(pause);",
                    *(["        pause *= 2;"] if work.grows else []),
                    "    }",
                    "}",
                    'throw new IllegalStateException("x");',
                ]
            case AtOnce():
                one, two = self.function(work.first), self.function(work.second)
                return [
                    f"Future<?> first = POOL.submit(Main::{one});",
                    f"Future<?> second = POOL.submit(Main::{two});",
                    "first.get();",
                    "second.get();",
                ]

    def _java(self, top: str) -> dict[str, str]:
        imports = (
            "com.example.toggles.Toggles",
            "com.example.wire.Client",
            "com.example.wire.Server",
            "java.io.IOException",
            "java.time.Duration",
            "java.util.List",
            "java.util.concurrent.ExecutorService",
            "java.util.concurrent.Executors",
            "java.util.concurrent.Future",
        )
        head = "package com.acme.app;\n\n" + "".join(f"import {name};\n" for name in imports) + "\npublic class Main {\n"
        pool = "    private static final ExecutorService POOL = Executors.newFixedThreadPool(8);\n"
        serve = (
            f"    static void handle(Object request) throws Exception {{\n        {top}();\n    }}\n\n"
            "    public static void main(String[] args) {\n"
            "        Server server = Server.builder().readTimeout(Duration.ofSeconds(9)).build();\n"
            "        server.handle(Main::handle);\n        server.serve();\n    }\n}\n"
        )
        return {"src/main/java/com/acme/app/Main.java": "\n\n".join([head + pool, *self.functions, serve])}


def asked(language: Language, work: Work, deadline: float) -> tuple[Program, dict[str, str]]:
    """A handler as a program whose caller is declared to wait so long."""
    files = Printer(language, work).files
    service = Service("app", ("**",), callers={"shop": Caller("shop", float(deadline))})
    return linked(files, Settings(knowledge=KNOWLEDGE, services={"app": service})), files


def judge(language: Language, work: Work, deadline: int) -> None:
    """The worst case of the printed handler is that of the tree, and the rules say what follows."""
    program, files = asked(language, work, deadline)
    (fn,) = [fn for fn in program.entries if fn.name == "handle"]
    frame = program.resolver.frame(fn)
    known = program.worsts.of_function(frame).known
    single = program.worsts.of_function(frame, once=True).known
    assert (known, single) == (longest(work), longest(work, once=True)), f"{work}\n{shown(files)}"
    found = [code for code, *_ in found_in(program, ("RS106", "RS505"))]
    expected = ["RS106"] if longest(work, True) >= deadline else ["RS505"] if longest(work) >= deadline else []
    assert found == expected, f"{work} under {deadline}\n{shown(files)}"


@pytest.mark.parametrize("language", ["python", "go", "java"])
def test_what_a_handler_takes_is_what_its_tree_takes(language: Language) -> None:
    @bounded(40)
    @given(handlers())
    def the_sums_agree(handler: tuple[Work, int]) -> None:
        judge(language, *handler)

    the_sums_agree()


@pytest.mark.parametrize("language", ["python", "go", "java"])
def test_one_more_call_never_lowers_the_worst_case(language: Language) -> None:
    @bounded(10)
    @given(handlers())
    def it_grows(handler: tuple[Work, int]) -> None:
        work, deadline = handler
        before, _ = asked(language, work, deadline)
        after, _ = asked(language, Both(Fetch(2), work), deadline)

        def known(program: Program) -> float:
            fn = next(fn for fn in program.entries if fn.name == "handle")
            return program.worsts.of_function(program.resolver.frame(fn)).known

        assert known(after) == known(before) + 2

    it_grows()
