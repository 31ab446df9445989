"""Java across files: names, members nobody writes, and the calls between functions."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest
from resilint.link.code import CallSite, Klass
from resilint.program import Program

Linked = Callable[[dict[str, str]], Program]


def edges_of(program: Program) -> set[str]:
    return {f"{caller} > {callee}" for caller, callee in program.call_graph()[1]}


def expected(text: str) -> set[str]:
    return {line.strip() for line in text.strip().splitlines()}


CALLS = {
    "overloads by arity and by literal": (
        """
        class A {
            void f() { g(); g(1); g("x"); g(1, 2); g(1, 2, 3, 4); }
            void g() {} void g(int n) {} void g(String s) {} void g(int a, int b) {} void g(int a, int... rest) {}
        }
        """,
        """
        p.A.f > p.A.g()
        p.A.f > p.A.g(int)
        p.A.f > p.A.g(String)
        p.A.f > p.A.g(int,int)
        p.A.f > p.A.g(int,int...)
        """,
    ),
    "overloads by a known type": (
        """
        class A {
            void f(Red r, Paint p) { put(r); put(new Blue()); put(p); }
            void put(Red r) {} void put(Blue b) {} void put(Paint p) {}
        }
        class Paint {} class Red extends Paint {} class Blue extends Paint {}
        """,
        """
        p.A.f > p.A.put(Red)
        p.A.f > p.A.put(Blue)
        p.A.f > p.A.put(Paint)
        """,
    ),
    "an interface and those who implement it": (
        """
        interface Store { void put(String s); default void all() { put("a"); } }
        class Disk implements Store { public void put(String s) { sync(); } void sync() {} }
        class Memory implements Store { public void put(String s) {} }
        class Cache extends Memory { }
        class A { Store store; void f() { store.put("x"); store.all(); } void g(Cache c) { c.put("y"); new Disk().put("z"); } }
        """,
        """
        p.A.f > p.Disk.put
        p.A.f > p.Memory.put
        p.A.f > p.Store.all
        p.A.g > p.Memory.put
        p.A.g > p.Disk.put
        p.Store.all > p.Disk.put
        p.Store.all > p.Memory.put
        p.Disk.put > p.Disk.sync
        """,
    ),
    "superclass, super and abstract": (
        """
        abstract class Base {
            Base(int n) { init(); }
            void init() {} abstract void go(); void run() { go(); } static void tool() {}
        }
        class Sub extends Base {
            Sub() { this(1); } Sub(int n) { super(n); }
            void init() { super.init(); } void go() { tool(); }
        }
        class A { void f() { Base b = new Sub(); b.run(); b.go(); } }
        """,
        """
        p.Base.__init__ > p.Base.init
        p.Base.__init__ > p.Sub.init
        p.Base.run > p.Sub.go
        p.Sub.__init__() > p.Sub.__init__(int)
        p.Sub.__init__(int) > p.Base.__init__
        p.Sub.init > p.Base.init
        p.Sub.go > p.Base.tool
        p.A.f > p.Sub.__init__()
        p.A.f > p.Base.run
        p.A.f > p.Sub.go
        """,
    ),
    "lambdas and method references": (
        """
        import java.util.List;
        import java.util.function.Function;
        interface Task { void go(int n); }
        class A {
            private final Task kept;
            A(Task t) { kept = t; }
            static void twice(Task t) { t.go(1); }
            void later() { kept.go(3); }
            void hit(int n) {}
            static int size(String s) { return 0; }
            void f(List<String> names) {
                twice(n -> hit(n));
                twice(this::hit);
                Task local = n -> leaf();
                local.go(2);
                names.forEach(A::size);
                names.forEach(name -> leaf());
                Function<String, Integer> by = A::size;
                by.apply("x");
            }
            static void leaf() {}
        }
        class B { void g() { new A(n -> A.leaf()); } }
        """,
        """
        p.A.f > p.A.twice
        p.A.twice > p.A.f.<lambda1>
        p.A.twice > p.A.hit
        p.A.f.<lambda1> > p.A.hit
        p.A.f > p.A.f.<lambda2>
        p.A.f.<lambda2> > p.A.leaf
        p.A.f > java.util.List.forEach
        p.A.f > p.A.size
        p.A.f > p.A.f.<lambda3>
        p.A.f.<lambda3> > p.A.leaf
        p.B.g > p.A.__init__
        p.A.later > p.B.g.<lambda1>
        p.B.g.<lambda1> > p.A.leaf
        """,
    ),
    "nested, local and anonymous classes": (
        """
        class Outer {
            void go() {}
            class Inner { void step() { go(); own(); } void own() {} }
            static class Pair { Pair(int a) {} Pair swap() { return new Pair(1); } }
            void f() {
                new Inner().step();
                Outer.Pair p = new Pair(2).swap();
                p.swap();
                class Local { void here() { go(); } }
                new Local().here();
                Thread t = new Thread(new Runnable() { public void run() { go(); } });
                t.start();
            }
        }
        """,
        """
        p.Outer.Inner.step > p.Outer.go
        p.Outer.Inner.step > p.Outer.Inner.own
        p.Outer.Pair.swap > p.Outer.Pair.__init__
        p.Outer.f > p.Outer.Inner.step
        p.Outer.f > p.Outer.Pair.__init__
        p.Outer.f > p.Outer.Pair.swap
        p.Outer.f.Local.here > p.Outer.go
        p.Outer.f > p.Outer.f.Local.here
        p.Outer.f > java.lang.Thread
        p.Outer.f > java.lang.Runnable
        p.Outer.f > p.Outer.f.<anonymous1>.run
        p.Outer.f.<anonymous1>.run > p.Outer.go
        p.Outer.f > java.lang.Thread.start
        """,
    ),
    "enums, records, fields and static blocks": (
        """
        enum Op { ADD { int of(int a) { return one(); } }, NIL; int of(int a) { return 0; } static int one() { return 1; } }
        record Point(int x, int y) { static Point zero() { return new Point(0, 0); } int sum() { return x() + y; } }
        class A {
            static final Point ORIGIN = Point.zero();
            static { setUp(); }
            static void setUp() {}
            int f(Op op) { return op.of(1) + Op.ADD.of(2) + ORIGIN.sum(); }
        }
        """,
        """
        p.Op.<anonymous1>.of > p.Op.one
        p.Point.zero > p.Point.__init__
        p.Point.sum > p.Point.x
        p.A > p.Point.zero
        p.A.<static1> > p.A.setUp
        p.A.f > p.Op.of
        p.A.f > p.Op.<anonymous1>.of
        p.A.f > p.Point.sum
        """,
    ),
    "what is written without its type": (
        """
        import java.util.*;
        class Order { void pay() {} Item first() { return null; } }
        class Item { void ship() {} }
        interface Each { void one(Order o); }
        class A {
            void f(List<Order> orders, Map<String, Item> items, Order[] old) throws Exception {
                for (var o : orders) o.pay();
                orders.get(0).first().ship();
                orders.forEach(o -> o.pay());
                orders.stream().forEach(o -> o.first());
                var item = items.get("x");
                item.ship();
                old[0].pay();
                every(o -> o.pay());
                try (Res r = open()) { }
            }
            void every(Each each) {}
            Res open() { return null; }
        }
        class Res implements AutoCloseable { public void close() {} }
        """,
        """
        p.A.f > p.Order.pay
        p.A.f > p.Order.first
        p.A.f > p.Item.ship
        p.A.f > java.util.List.get
        p.A.f > java.util.List.forEach
        p.A.f > java.util.List.stream
        p.A.f > java.util.Map.get
        p.A.f > p.A.every
        p.A.f > p.A.open
        p.A.f > p.Res.close
        p.A.f > p.A.f.<lambda1>
        p.A.f.<lambda1> > p.Order.pay
        p.A.f > p.A.f.<lambda2>
        p.A.f.<lambda2> > p.Order.first
        p.A.f.<lambda3> > p.Order.pay
        """,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_within_a_file(linked: Linked, name: str) -> None:
    source, wanted = CALLS[name]
    program = linked({"src/main/java/p/A.java": "package p;\n" + dedent(source)})
    assert edges_of(program) == expected(wanted)


FILES = {
    "core/src/main/java/com/shop/core/Client.java": """
        package com.shop.core;
        public class Client {
            public static final int TRIES = 3;
            public static Client of(String url) { return new Client(); }
            public Reply send(Request r) { return new Reply(); }
            public static class Request { public Request with(int n) { return this; } }
        }
        """,
    "core/src/main/java/com/shop/core/Reply.java": """
        package com.shop.core;
        public class Reply { public void check() { Tools.note(); } }
        """,
    "core/src/main/java/com/shop/core/Tools.java": """
        package com.shop.core;
        class Tools { static void note() {} public static void retry(Runnable r) { r.run(); } }
        """,
    "app/src/main/java/com/shop/app/Main.java": """
        package com.shop.app;
        import com.shop.core.*;
        import com.shop.core.Client.Request;
        import static com.shop.core.Tools.retry;
        import java.net.http.HttpClient;
        import java.util.Map;
        public class Main extends Service {
            void go(Map.Entry<String, Reply> e) {
                Client.of("x").send(new Request().with(1)).check();
                retry(() -> log());
                log();
                HttpClient.newHttpClient();
                e.getValue().check();
                new com.shop.core.Reply().check();
                String s = String.valueOf(1);
                Math.max(1, 2);
            }
        }
        """,
    "app/src/main/java/com/shop/app/Service.java": """
        package com.shop.app;
        class Service { void log() {} }
        """,
    "app/src/test/java/com/shop/app/Service.java": """
        package com.shop.app;
        class Service { void log() {} void onlyInTests() {} }
        """,
}


def test_names_across_files(linked: Linked) -> None:
    assert {edge for edge in edges_of(linked(FILES)) if edge.startswith("com.shop.app.Main")} == expected(
        """
        com.shop.app.Main.go > com.shop.core.Client.of
        com.shop.app.Main.go > com.shop.core.Client.send
        com.shop.app.Main.go > com.shop.core.Client.Request.with
        com.shop.app.Main.go > com.shop.core.Reply.check
        com.shop.app.Main.go > com.shop.core.Tools.retry
        com.shop.app.Main.go > com.shop.app.Service.log
        com.shop.app.Main.go > java.net.http.HttpClient.newHttpClient
        com.shop.app.Main.go > java.util.Map.Entry.getValue
        com.shop.app.Main.go > java.lang.String.valueOf
        com.shop.app.Main.go > java.lang.Math.max
        com.shop.app.Main.go.<lambda1> > com.shop.app.Service.log
        """
    )


def test_types_by_name(linked: Linked) -> None:
    program = linked(FILES)
    java = program.names.java
    main = program.names.modules["app/src/main/java/com/shop/app/Main.java"]

    def means(name: str) -> str | None:
        found = java.type(name, main.classes[0])
        return f"<{java.canonical(found)}>" if isinstance(found, Klass) else found

    assert means("Request") == "<com.shop.core.Client.Request>" == means("Client.Request") == means("com.shop.core.Client.Request")
    assert means("Service") == "<com.shop.app.Service>" and means("Reply") == "<com.shop.core.Reply>"
    assert means("HttpClient") == "java.net.http.HttpClient" and means("HttpClient.Builder") == "java.net.http.HttpClient.Builder"
    assert means("Runnable") == "java.lang.Runnable" and means("a.b.Other") == "a.b.Other"
    assert means("int") is None and means("T") is None and means("LIMIT") is None
    # Generated beside the file: nothing here declares it.
    assert means("ItemGrpc") == "com.shop.app.ItemGrpc"
    service = java.type("Service", main.classes[0])
    assert isinstance(service, Klass) and not service.module.is_test and java.subtypes(service) == [main.classes[0]]


def test_bare_names_of_other_files(linked: Linked) -> None:
    program = linked(
        {
            "p/A.java": """
            package p;
            import static p.Consts.LIMIT;
            import static p.Consts.*;
            import static java.util.concurrent.TimeUnit.SECONDS;
            class A extends Base { void f() { } class In { void g() {} } }
            """,
            "p/Base.java": "package p;\nclass Base { int held; static int shared; void go() {} static void tool() {} }\n",
            "p/Consts.java": "package p;\nclass Consts { static final int LIMIT = 1, OTHER = 2; static void help() {} }\n",
        }
    )
    java = program.names.java
    inner = next(fn for fn in program.functions("java") if fn.name == "g")

    def means(name: str) -> str | None:
        found = java.member(name, inner)
        if found is None:
            return None
        holder = java.canonical(found[0]) if isinstance(found[0], Klass) else found[0]
        return f"{holder}.{found[1]}" + (" of the class" if found[2] else "")

    assert means("held") == "p.A.held" and means("go") == "p.A.go"
    assert means("shared") == "p.Base.shared of the class" and means("tool") == "p.Base.tool of the class"
    assert means("LIMIT") == "p.Consts.LIMIT of the class" and means("OTHER") == "p.Consts.OTHER of the class"
    assert means("help") == "p.Consts.help of the class"
    assert means("SECONDS") == "java.util.concurrent.TimeUnit.SECONDS of the class" and means("nowhere") is None


def test_entries(linked: Linked) -> None:
    program = linked(
        {
            "p/A.java": """
            package p;
            import com.acme.OrdersGrpc;
            class Orders extends OrdersGrpc.OrdersImplBase {
                public void place(Order o, Observer r) {}
                private void check(Order o) {}
            }
            class Puller extends Base { public void run() {} void other() {} }
            class Base extends Thread {}
            """,
        }
    )
    found = {(entry.fn.head.qual, entry.kind, entry.inputs) for entry in program.entries.values()}
    assert found == {("Orders.place", "request", ("o",)), ("Puller.run", "worker", ())}


LOMBOK = """
    package p;
    import lombok.*;
    import lombok.experimental.*;
    @Data @Builder class Limits {
        private final int read;
        private int tries = 3;
        private boolean isOpen;
        static int count;
        public int getTries() { return tries; }
    }
    @RequiredArgsConstructor class Service {
        private final Limits limits;
        @NonNull private String name;
        private int left;
        @Getter @Setter long at;
        private final int fixed = 1;
    }
    @Value class Pair { int a; String b; }
    @AllArgsConstructor(staticName = "of") @NoArgsConstructor class Both { int a; int b; }
    record Range(int low, int... rest) { Range(int low) { this(low, 1); } public int low() { return 1; } }
    class Plain { int a; }
    """


def test_members_nobody_writes(linked: Linked) -> None:
    program = linked({"p/A.java": LOMBOK})
    (module,) = program.names.modules.values()
    made = {
        klass.name: sorted(
            f"{fun.name}({', '.join(p.kind.strip('pos') + p.name for p in fun.head.params if p.kind != 'self')})"
            for found in klass.overloads.values()
            for fun in found
        )
        for klass in module.classes
    }
    assert made == {
        "Limits": sorted(
            [
                "getRead()",
                "getTries()",
                "setTries(tries)",
                "isOpen()",
                "setOpen(isOpen)",
                "__init__(read, tries, isOpen)",
                "builder()",
            ]
        ),
        "LimitsBuilder": sorted(["read(read)", "tries(tries)", "isOpen(isOpen)", "build()"]),
        "Service": sorted(["__init__(limits, name)", "getAt()", "setAt(at)"]),
        "Pair": sorted(["getA()", "getB()", "__init__(a, b)"]),
        "Both": sorted(["__init__()", "__init__(a, b)", "of(a, b)"]),
        "Range": sorted(["__init__(low)", "__init__(low, *rest)", "low()", "rest()"]),
        "Plain": [],
    }
    for fun in module.functions:
        assert fun.block is not None and fun.head.end > fun.head.at


def test_calls_of_members_nobody_writes(linked: Linked) -> None:
    program = linked(
        {
            "p/A.java": LOMBOK,
            "q/B.java": """
            package q;
            import p.*;
            class B {
                int f(Limits l, Range r) {
                    Limits.builder().read(1).build().setTries(2);
                    new Range(1, 2).rest();
                    return l.getRead();
                }
            }
            """,
        }
    )
    assert {edge for edge in edges_of(program) if edge.startswith(("q.B", "p.Limits"))} == expected(
        """
        q.B.f > p.Limits.builder
        q.B.f > p.Limits.LimitsBuilder.read
        q.B.f > p.Limits.LimitsBuilder.build
        q.B.f > p.Limits.setTries
        q.B.f > p.Range.__init__(int,int...)
        q.B.f > p.Range.rest
        q.B.f > p.Limits.getRead
        p.Limits.LimitsBuilder.build > p.Limits.__init__
        """
    )


def test_a_changed_file_takes_the_place_of_the_old_one(linked: Linked) -> None:
    from resilint.facts import decode
    from resilint.read import read

    program = linked(FILES)
    path = "app/src/main/java/com/shop/app/Service.java"
    assert "com.shop.app.Main.go > com.shop.app.Service.log" in edges_of(program)
    program.names.replace(path, decode(read(b"package com.shop.app;\nclass Service { void log(int n) {} }\n", "java")))
    main = program.names.modules["app/src/main/java/com/shop/app/Main.java"]
    assert not program.names.java.methods(main.classes[0], "log", 0) and program.names.java.methods(main.classes[0], "log", 1)


def test_what_is_declared_says_which_overload_a_call_enters_and_that_no_library_is_called(linked: Linked) -> None:
    program = linked(
        {
            "Main.java": """
            import java.util.*;
            import java.util.concurrent.*;
            class Main {
                Keeper keeper;
                Map<String, String> names = new HashMap<>();
                Queue<String> line = new LinkedBlockingQueue<>();
                Queue<String> given;
                Keep any;
                void f() {
                    keeper.put("k", true); keeper.put("k", this); new Keeper("x"); any.put("k", this);
                    names.get("k"); line.poll(); given.poll(); keeper.get();
                }
            }
            interface Keep { void put(String key, Main what); }
            class Keeper implements Keep {
                Keeper() {}
                Keeper(String name) {}
                void put(String key, boolean now) {}
                public void put(String key, Main what) {}
                String get() { return null; }
            }
            class Other implements Keep { public void put(String key, Main what) {} }
            """
        }
    )
    sites = next(fn for fn in program.functions("java") if fn.name == "f").body.calls
    entered = [[target.head.params[-1].type for target in program.callees(site)] for site in sites]
    assert [[kind.name for kind in kinds if kind is not None] for kinds in entered[:3]] == [["boolean"], ["Main"], ["String"]]
    assert {fn.head.qual for fn in program.callees(sites[3])} == {"Keeper.put", "Other.put"}, "whoever implements an interface"
    described = {site.last: [entry.does for _, entry in program.described(site)] for site in sites[4:]}
    assert described["get"] == []
    asked: list[str] = []

    def targets(_: Program, site: CallSite, __: object = None) -> tuple[()]:
        asked.append(site.last)
        return ()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "targets", targets)
        for site in sites[4:]:
            list(program.described(site))
        assert asked == ["poll", "poll"], "a queue may be one that waits; maps and classes of the program are asked nothing"


def test_circles_end(linked: Linked) -> None:
    source = """
        class A extends B {
            A a;
            Runnable r = this.r;
            void f(Runnable x) { f(x); x.run(); a.a.a.f(() -> f(x)); a.r.run(); var v = v2; var v2 = v; v.g(); }
        }
        class B extends A { Runnable get() { return get(); } void h() { get().run(); } }
        class C extends C.D { class D extends C {} }
        """
    edges = edges_of(linked({"A.java": source}))
    assert {"A.f > A.f", "B.get > B.get", "B.h > B.get"} <= edges
