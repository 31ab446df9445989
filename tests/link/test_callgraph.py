"""Call graphs of small programs, edge by edge."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest
from resilint.program import Program

Linked = Callable[[dict[str, str]], Program]


def edges_of(program: Program) -> set[str]:
    return {f"{caller} > {callee}" for caller, callee in program.call_graph()[1]}


def expected(text: str) -> set[str]:
    return {line.strip() for line in text.strip().splitlines()}


PYTHON = {
    "arguments and defaults": (
        """
        def ring(): pass
        def buzz(): pass
        def press(bell=ring): bell()
        press()
        press(bell=buzz)
        """,
        """
        app > app.press
        app.press > app.ring
        app.press > app.buzz
        """,
    ),
    "a callback of a callback": (
        """
        def leaf(): pass
        def branch(go): go()
        def trunk(go, then): go(then)
        start = trunk
        start(branch, leaf)
        """,
        """
        app > app.trunk
        app.trunk > app.branch
        app.branch > app.leaf
        """,
    ),
    "rest and spread": (
        """
        def a(): pass
        def b(): pass
        def every(*todo, **named):
            for one in todo: one()
            named["last"]()
        every(a, last=b)
        """,
        """
        app > app.every
        app.every > app.a
        app.every > app.b
        """,
    ),
    "starred and nested targets": (
        """
        def a(): pass
        def b(): pass
        def c(): pass
        def d(): pass
        first, *middle, last = a, b, c, d
        (left, (right,)) = a, (b,)
        def run_last(): last()
        def run_middle(): middle[1]()
        def run_right(): right()
        """,
        """
        app.run_last > app.d
        app.run_middle > app.c
        app.run_right > app.b
        """,
    ),
    "a list by position, and a slice of it": (
        """
        def a(): pass
        def b(): pass
        steps = [a, a]
        steps[1] = b
        rest = steps[1:]
        tail = [a, b][1:]
        def one(): tail[0]()
        """,
        """
        app.one > app.b
        """,
    ),
    "a dict by key, stored over and updated": (
        """
        def a(): pass
        def b(): pass
        def c(): pass
        by = {"x": a, "y": b}
        by["x"] = c
        by["x"]()
        def other(): by["y"]()
        """,
        """
        app > app.c
        app.other > app.b
        """,
    ),
    "a registry that other functions fill": (
        """
        def a(): pass
        def b(): pass
        table = {}
        def put(name, what): table[name] = what
        class Bus:
            def __init__(self): self.heard = []
            def on(self, what): self.heard.append(what)
            def tell(self):
                for what in self.heard: what()
        put("a", a)
        table["a"]()
        bus = Bus()
        bus.on(b)
        bus.tell()
        """,
        """
        app > app.put
        app > app.a
        app > app.Bus.__init__
        app > app.Bus.on
        app > app.Bus.tell
        app.Bus.on > <builtin>.list.append
        app.Bus.tell > app.b
        """,
    ),
    "results, closures and lambdas": (
        """
        def outer(then):
            def inner(): then()
            return inner
        def a(): pass
        made = outer(a)
        made()
        double = lambda n: a()
        double(1)
        """,
        """
        app > app.outer
        app > app.outer.inner
        app.outer.inner > app.a
        app > app.<lambda1>
        app.<lambda1> > app.a
        """,
    ),
    "a decorator, its wrapper and the original": (
        """
        def loud(fn):
            def wrapper(*args): return fn(*args)
            return wrapper
        def named(name):
            def decorate(fn): return fn
            return decorate
        @loud
        def work(): pass
        @named("x")
        def rest(): pass
        work()
        rest()
        """,
        """
        app > app.loud
        app > app.loud.wrapper
        app.loud.wrapper > app.work
        app > app.named
        app > app.named.decorate
        app > app.rest
        """,
    ),
    "methods, super and the order of resolution": (
        """
        class Base:
            def __init__(self): pass
            def go(self): self.step()
            def step(self): pass
        class Left(Base):
            def __init__(self): super().__init__()
        class Right(Base):
            def step(self): pass
        class Both(Left, Right):
            def go(self): super().go()
        Both().go()
        """,
        """
        app > app.Left.__init__
        app > app.Both.go
        app.Left.__init__ > <builtin>.super
        app.Left.__init__ > app.Base.__init__
        app.Both.go > <builtin>.super
        app.Both.go > app.Base.go
        app.Base.go > app.Base.step
        app.Base.go > app.Right.step
        """,
    ),
    "properties, with, iteration and calls of objects": (
        """
        class Box:
            @property
            def size(self): return 1
            @size.setter
            def size(self, n): pass
            def __enter__(self): return self
            def __exit__(self, *why): pass
            def __iter__(self): return self
            def __next__(self): return self
            def __call__(self): pass
            @staticmethod
            def make(): return Box()
            @classmethod
            def other(cls): return cls()
        def read(): return Box.make().size
        def enter():
            with Box() as box: box()
        def loop():
            for each in Box(): each()
        def comprehend(): return [each for each in Box()]
        def other(): Box.other()
        """,
        """
        app.read > app.Box.make
        app.read > app.Box.size
        app.enter > app.Box.__enter__
        app.enter > app.Box.__exit__
        app.enter > app.Box.__call__
        app.loop > app.Box.__iter__
        app.loop > app.Box.__next__
        app.loop > app.Box.__call__
        app.comprehend > app.Box.__iter__
        app.comprehend > app.Box.__next__
        app.other > app.Box.other
        """,
    ),
    "generators": (
        """
        def a(): pass
        def some(): yield a
        def many(): yield from some()
        for each in many(): each()
        def first(): next(some())()
        """,
        """
        app > app.many
        app > app.a
        app.many > app.some
        app.first > <builtin>.next
        app.first > app.some
        app.first > app.a
        """,
    ),
    "exceptions": (
        """
        class Own(Exception):
            def __init__(self): pass
        def bare(): raise Own
        def made(): raise ValueError("x")
        """,
        """
        app.bare > app.Own.__init__
        app.made > <builtin>.ValueError
        """,
    ),
    "library calls that call what they are given": (
        """
        import functools
        import threading
        def key(x): return x
        def two(x, y): return x
        def work(): pass
        def all_of(xs):
            sorted(xs, key=key)
            functools.reduce(two, xs)
            threading.Thread(target=work).start()
            for made in map(lambda x: work, xs): made()
        """,
        """
        app.all_of > <builtin>.sorted
        app.all_of > app.key
        app.all_of > functools.reduce
        app.all_of > app.two
        app.all_of > threading.Thread
        app.all_of > threading.Thread.start
        app.all_of > app.work
        app.all_of > <builtin>.map
        app.all_of > app.all_of.<lambda1>
        """,
    ),
    "names from outside": (
        """
        import lib
        from lib.sub import Thing as T, helper
        class Mine(T):
            def go(self): self.inherited()
        Mine().go()
        helper().then()
        def text(): return "a".join([])
        """,
        """
        app > lib.sub.Thing.__init__
        app > app.Mine.go
        app > lib.sub.helper
        app > lib.sub.helper.then
        app.Mine.go > lib.sub.Thing.inherited
        app.text > <builtin>.str.join
        """,
    ),
    "partial": (
        """
        from functools import partial
        def a(): pass
        def call(what, n): what()
        later = partial(call, a)
        later(1)
        """,
        """
        app > functools.partial
        app > app.call
        app.call > app.a
        """,
    ),
    "class bodies, defaults and fields": (
        """
        def make(): return 1
        class C:
            n = make()
            def a(self): pass
            alias = a
            def run(self, x=make()): self.alias()
        """,
        """
        app > app.make
        app.C.run > app.C.a
        """,
    ),
    "attributes that hold functions": (
        """
        class Job:
            def __init__(self, done): self.done = done
            def run(self): self.done()
        def a(): pass
        Job(a).run()
        """,
        """
        app > app.Job.__init__
        app > app.Job.run
        app.Job.run > app.a
        """,
    ),
    "a global that a function sets": (
        """
        hook = None
        def a(): pass
        def install():
            global hook
            hook = a
        def fire(): hook()
        """,
        """
        app.fire > app.a
        """,
    ),
}


@pytest.mark.parametrize("name", PYTHON)
def test_python(linked: Linked, name: str) -> None:
    source, edges = PYTHON[name]
    assert edges_of(linked({"app.py": source})) == expected(edges)


def test_python_modules(linked: Linked) -> None:
    program = linked(
        {
            "main.py": """
                import shop.cart as cart
                import shop.tax
                from shop import total
                from shop.cart import *

                total()
                cart.add()
                shop.tax.rate()
                clear()
            """,
            "shop/__init__.py": "from .sums import total\n",
            "shop/sums.py": "from . import tax\n\n\ndef total(): return tax.rate()\n",
            "shop/tax.py": "def rate(): return 1\n",
            "shop/cart.py": """
                def add():
                    from ..shop.sums import total
                    total()
                def clear(): pass
            """,
        }
    )
    nodes, _ = program.call_graph()
    assert {"main", "shop", "shop.sums", "shop.cart.add"} <= set(nodes)
    assert edges_of(program) == expected(
        """
        main > shop.sums.total
        main > shop.cart.add
        main > shop.tax.rate
        main > shop.cart.clear
        shop.sums.total > shop.tax.rate
        shop.cart.add > shop.sums.total
        """
    )


GO = {
    "functions, methods and closures": (
        """
        package app

        import "fmt"

        type Shop struct{ name string }

        func New() *Shop { return &Shop{} }

        func (s *Shop) Open() { s.greet() }

        func (s *Shop) greet() { fmt.Println(s.name) }

        func Run() {
            shop := New()
            shop.Open()
            later := func() { shop.greet() }
            later()
            go shop.Open()
        }
        """,
        """
        app.Run > app.New
        app.Run > app.Shop.Open
        app.Run > app.Run.<lambda1>
        app.Run.<lambda1> > app.Shop.greet
        app.Shop.Open > app.Shop.greet
        app.Shop.greet > fmt.Println
        """,
    ),
    "interfaces": (
        """
        package app

        type Store interface{ Get(key string) string }

        type Mem struct{}

        func (m *Mem) Get(key string) string { return key }

        type Disk struct{}

        func (d Disk) Get(key string) string { return key }

        func Read(s Store) string { return s.Get("k") }
        """,
        """
        app.Read > app.Mem.Get
        app.Read > app.Disk.Get
        """,
    ),
    "embedded structs": (
        """
        package app

        type base struct{}

        func (b *base) Close() {}

        type Conn struct {
            base
            name string
        }

        func Run() {
            c := &Conn{}
            c.Close()
        }
        """,
        """
        app.Run > app.base.Close
        """,
    ),
    "functions in maps and as arguments": (
        """
        package app

        func one() {}

        func two() {}

        var table = map[string]func(){"one": one, "two": two}

        func apply(f func()) { f() }

        func Run(name string) {
            table["one"]()
            apply(two)
        }

        func Any(name string) { table[name]() }
        """,
        """
        app.Run > app.one
        app.Run > app.apply
        app.apply > app.two
        app.Any > app.one
        app.Any > app.two
        """,
    ),
    "results and fields that are functions": (
        """
        package app

        type Job struct{ done func() }

        func stop() {}

        func make_() func() { return stop }

        func Run() {
            j := Job{done: stop}
            j.done()
            make_()()
        }
        """,
        """
        app.Run > app.stop
        app.Run > app.make_
        """,
    ),
}


GO["variables of the package that functions set"] = (
    """
    package app

    var hook func()

    var table = map[string]func(){}

    func one() {}

    func two() {}

    func init() {
        hook = one
        table["two"] = two
    }

    func Run() { hook() }

    func Any(name string) { table[name]() }
    """,
    """
    app.Run > app.one
    app.Any > app.two
    """,
)


@pytest.mark.parametrize("name", GO)
def test_go(linked: Linked, name: str) -> None:
    source, edges = GO[name]
    assert edges_of(linked({"app/app.go": source})) == expected(edges)


def test_go_packages(linked: Linked) -> None:
    program = linked(
        {
            "go.mod": "module example.com/shop\n",
            "main.go": """
                package main

                import "example.com/shop/cart"

                func main() {
                    c := cart.New()
                    c.Add()
                    cart.Clear()
                }
            """,
            "cart/cart.go": """
                package cart

                type Cart struct{}

                func New() *Cart { return &Cart{} }
            """,
            "cart/add.go": """
                package cart

                func (c *Cart) Add() { Clear() }

                func Clear() {}
            """,
        }
    )
    assert edges_of(program) == expected(
        """
        main.main > cart.New
        main.main > cart.Cart.Add
        main.main > cart.Clear
        cart.Cart.Add > cart.Clear
        """
    )


def test_the_graph_is_sorted_and_the_same_each_time(linked: Linked) -> None:
    program = linked({"app.py": dedent(PYTHON["generators"][0]), "app/app.go": dedent(GO["interfaces"][0])})
    nodes, edges = program.call_graph()
    assert nodes == sorted(set(nodes)) and edges == sorted(set(edges))
    assert (nodes, edges) == program.call_graph()
    assert {name for edge in edges for name in edge} <= set(nodes)
