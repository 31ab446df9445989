"""The Java reader: exact facts of small programs, positions by slicing, broken and hostile input."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from resilint.facts import (
    Arg,
    Assign,
    Bin,
    Block,
    Call,
    Case,
    Cast,
    Class,
    Coll,
    Cond,
    Def,
    Do,
    Field,
    FileFacts,
    Fmt,
    Fn,
    Function,
    Handler,
    If,
    Import,
    Index,
    Is,
    Item,
    Jump,
    Let,
    Lit,
    Loop,
    New,
    Node,
    Opaque,
    Pair,
    Raise,
    Ref,
    Return,
    Switch,
    Try,
    Type,
    Un,
    With,
    decode,
    decode_block,
    encode,
)
from resilint.read import read as read_encoded
from resilint.read.java import read
from resilint.read.lowering import MAX_DEPTH

INT = Type("int")
STRING = Type("String")


def unplaced(value: Any) -> Any:
    """The same tree with all positions 0, so that shapes can be compared; positions have tests of their own."""
    if isinstance(value, tuple):
        return tuple(unplaced(part) for part in value)
    if isinstance(value, msgspec.Struct):
        fields = {name: unplaced(getattr(value, name)) for name in value.__struct_fields__}
        if isinstance(value, Node | Handler):
            fields["at"] = fields["end"] = 0
        return type(value)(**fields)
    return value


def ref(name: str) -> Ref:
    return Ref(0, 0, name)


def lit(value: Any) -> Lit:
    return Lit(0, 0, value)


def call(fn: Any, *args: Any) -> Call:
    return Call(0, 0, ref(fn) if isinstance(fn, str) else fn, tuple(a if isinstance(a, Arg) else Arg(a) for a in args))


def do(fn: Any, *args: Any) -> Do:
    return Do(0, 0, call(fn, *args))


def items(kind: Any, *values: Any, type: Type | None = None) -> Coll:
    return Coll(0, 0, kind, tuple(Pair(v) for v in values), len(values), type)


def declare(name: str, value: Any, type: Type | None = None) -> Assign:
    return Assign(0, 0, (ref(name),), "", value, True, type)


def assign(target: Any, value: Any, op: str = "") -> Assign:
    return Assign(0, 0, (ref(target) if isinstance(target, str) else target,), op, value)


def array(element: Type) -> Type:
    return Type("[]", (element,), "array")


def facts_of(source: str) -> FileFacts:
    facts = read(source.encode())
    assert decode(encode(facts)) == facts
    return facts


def function(facts: FileFacts, qual: str) -> tuple[Function, Block]:
    index = next(i for i, made in enumerate(facts.functions) if made.qual == qual)
    return facts.functions[index], decode_block(facts.bodies[index])


def body(facts: FileFacts, qual: str) -> Block:
    made: Block = unplaced(function(facts, qual)[1])
    return made


def body_of(statements: str) -> Block:
    """The block of a method, without positions."""
    facts = facts_of("class C {\nvoid f(int p) {\n" + statements + "\n}\n}\n")
    assert facts.errors == ()
    return body(facts, "C.f")


def expression(text: str) -> Any:
    (statement,) = body_of("x = " + text + ";")
    assert isinstance(statement, Assign)
    return statement.value


def nodes(value: Any) -> list[Node]:
    found: list[Node] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Node):
            found.append(part)
        if isinstance(part, tuple):
            pending.extend(part)
        elif isinstance(part, msgspec.Struct):
            pending.extend(getattr(part, name) for name in part.__struct_fields__)
    return found


STOCK = """// The client of the stock service.
package com.shop.stock;

import java.time.Duration;
import java.util.*;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.Assert.*;

@Service("stock")
@Retry(name = "stock", on = {IOException.class, Timeout.class}, backoff = @Backoff(delay = 100))
public class StockClient<T> extends Base<T> implements Client, AutoCloseable {
    private static final int TRIES = 3;
    @Value("${stock.timeout:2s}") private Duration timeout;
    private final RestTemplate http;
    private final Map<String, List<int[]>> held = new HashMap<>();

    static { Registry.add(TRIES); }
    { held.clear(); }

    @Autowired
    StockClient(@Qualifier("stock") RestTemplate http, String... hosts) {
        super(hosts);
        this.http = http;
        timeout = Duration.ofSeconds(2);
    }

    @Override
    public synchronized Hold hold(Sku sku, int count) throws IOException {
        Hold hold = http.postForObject(url("/holds"), sku, Hold.class);
        run(() -> audit(hold, timeout));
        return hold;
    }

    static String url(String path) { return "http://stock" + path; }

    abstract void audit(Hold hold, Duration after);

    private native void note();

    enum Level {
        LOW(1), HIGH(2) { int factor() { return 10; } };
        final int weight;
        Level(int w) { weight = w; }
        int factor() { return weight; }
    }

    record Sku(@NotNull String id, int... sizes) {
        Sku { check(id); }
    }

    @interface Slow { int value() default TRIES; String name(); }

    interface Listener { int MAX = 5; void heard(Hold h); default void all(List<Hold> hs) { for (Hold h : hs) heard(h); } }
}
"""


def test_header_of_a_realistic_file() -> None:
    facts = facts_of(STOCK)
    assert (facts.kind, facts.package, facts.errors, facts.generated) == ("java", "com.shop.stock", (), False)
    assert [(i.target, i.name, i.alias, i.is_static) for i in facts.imports] == [
        ("java.time", "Duration", "Duration", False),
        ("java.util", "*", "*", False),
        ("java.util.concurrent.TimeUnit", "SECONDS", "SECONDS", True),
        ("org.junit.Assert", "*", "*", True),
    ]
    assert [(c.qual, c.kind, c.outer, c.parent) for c in facts.classes] == [
        ("StockClient", "class", -1, 0),
        ("StockClient.Level", "enum", 0, 0),
        ("StockClient.Level.<anonymous1>", "class", 1, 0),
        ("StockClient.Sku", "record", 0, 0),
        ("StockClient.Slow", "annotation", 0, 0),
        ("StockClient.Listener", "interface", 0, 0),
    ]
    stock, level, high, sku, slow, listener = facts.classes
    assert unplaced(stock.bases) == (Index(0, 0, ref("Base"), ref("T")), ref("Client"), ref("AutoCloseable"))
    backoff = New(0, 0, Type("Backoff"), (Pair(lit(100), ref("delay")),))
    assert unplaced(stock.decorators) == (
        call("Service", lit("stock")),
        call(
            "Retry",
            Arg(lit("stock"), "name"),
            Arg(items("list", ref("IOException.class"), ref("Timeout.class")), "on"),
            Arg(backoff, "backoff"),
        ),
    )
    assert [(f.name, f.type, f.is_static, unplaced(f.init)) for f in stock.fields] == [
        ("TRIES", INT, True, lit(3)),
        ("timeout", Type("Duration"), False, None),
        ("http", Type("RestTemplate"), False, None),
        ("held", Type("Map", (STRING, Type("List", (array(INT),)))), False, call("HashMap")),
    ]
    assert unplaced(stock.fields[1].decorators) == (call("Value", lit("${stock.timeout:2s}")),)
    assert [(f.name, f.is_static, unplaced(f.init)) for f in level.fields] == [
        ("LOW", True, call("StockClient.Level", lit(1))),
        ("HIGH", True, call("StockClient.Level.<anonymous1>", lit(2))),
        ("weight", False, None),
    ]
    assert unplaced(high.bases) == (ref("StockClient.Level"),)
    assert [(f.name, f.type) for f in sku.fields] == [("id", STRING), ("sizes", Type("...", (INT,), "variadic"))]
    assert unplaced(sku.fields[0].decorators) == (ref("NotNull"),)
    assert [(f.name, f.is_static) for f in listener.fields] == [("MAX", True)]
    assert [(f.qual, f.owner, [p.name for p in f.params]) for f in facts.functions[1:]] == [
        ("StockClient.<static1>", 0, []),
        ("StockClient.<init1>", 0, ["this"]),
        ("StockClient.__init__", 0, ["this", "http", "hosts"]),
        ("StockClient.hold", 0, ["this", "sku", "count"]),
        ("StockClient.hold.<lambda1>", -1, []),
        ("StockClient.url", 0, ["path"]),
        ("StockClient.audit", 0, ["this", "hold", "after"]),
        ("StockClient.note", 0, ["this"]),
        ("StockClient.Level.<anonymous1>.factor", 2, ["this"]),
        ("StockClient.Level.__init__", 1, ["this", "w"]),
        ("StockClient.Level.factor", 1, ["this"]),
        ("StockClient.Sku.__init__", 3, ["this", "id", "sizes"]),
        ("StockClient.Slow.value", 4, ["this"]),
        ("StockClient.Slow.name", 4, ["this"]),
        ("StockClient.Listener.heard", 5, ["this", "h"]),
        ("StockClient.Listener.all", 5, ["this", "hs"]),
    ]
    made, _ = function(facts, "StockClient.__init__")
    assert [p.kind for p in made.params] == ["self", "pos", "*"] and made.params[2].type == STRING
    assert unplaced(made.params[1].decorators) == (call("Qualifier", lit("stock")),) and unplaced(made.decorators) == (
        ref("Autowired"),
    )
    hold, _ = function(facts, "StockClient.hold")
    assert hold.is_locked and not hold.is_abstract and hold.returns == (Type("Hold"),)
    assert function(facts, "StockClient.url")[0].is_static
    assert [f.name for f in facts.functions if f.is_private] == ["note"]
    assert [f.name for f in facts.functions if f.is_abstract] == ["audit", "name", "heard"]
    assert [stock.methods, slow.methods] == [(1, 2, 3, 4, 6, 7, 8), (13, 14)]


def test_bodies_of_a_realistic_file() -> None:
    facts = facts_of(STOCK)
    assert body(facts, "StockClient.__init__") == (
        do("super", ref("hosts")),
        assign("this.http", ref("http")),
        assign("this.timeout", call("Duration.ofSeconds", lit(2))),
    )
    assert body(facts, "StockClient.hold") == (
        declare(
            "hold",
            call("this.http.postForObject", call("StockClient.url", lit("/holds")), ref("sku"), ref("Hold.class")),
            Type("Hold"),
        ),
        do("run", Fn(0, 0, 5)),
        Return(0, 0, ref("hold")),
    )
    assert body(facts, "StockClient.hold.<lambda1>") == (Return(0, 0, call("this.audit", ref("hold"), ref("this.timeout"))),)
    assert body(facts, "StockClient.url") == (Return(0, 0, Fmt(0, 0, (lit("http://stock"), ref("path")))),)
    assert body(facts, "StockClient.Sku.__init__") == (
        do("check", ref("id")),
        assign("this.id", ref("id")),
        assign("this.sizes", ref("sizes")),
    )
    assert body(facts, "StockClient.Slow.value") == (Return(0, 0, ref("StockClient.TRIES")),)
    assert body(facts, "StockClient.Listener.all") == (
        declare("h", None, Type("Hold")),
        Loop(0, 0, "each", None, ref("h"), ref("hs"), None, (do("this.heard", ref("h")),)),
    )
    hold, _ = function(facts, "StockClient.hold")
    assert hold.calls == ("StockClient.url", "run", "this.http.postForObject")
    assert hold.values == ("Hold.class", "hold", "sku")
    made, _ = function(facts, "StockClient.__init__")
    assert (made.calls, made.writes) == (("Duration.ofSeconds", "super"), ("http", "timeout"))
    # What a field's initialiser calls is called where the class stands.
    assert {"HashMap", "StockClient.Level"} <= set(facts.functions[0].calls)
    assert {"Service", "Autowired", "NotNull"} <= set(facts.functions[0].values)


def test_positions_are_byte_offsets_of_the_text() -> None:
    facts = facts_of(STOCK)

    def text(place: Any) -> str:
        return STOCK.encode()[place.at : place.end].decode()

    assert text(facts.imports[2]) == "import static java.util.concurrent.TimeUnit.SECONDS;"
    assert text(facts.classes[0]).startswith("@Service") and text(facts.classes[0].bases[0]) == "Base<T>"
    assert [text(field) for field in facts.classes[3].fields] == ["id", "sizes"]
    for made in facts.functions[1:]:
        name = made.name if not made.name.startswith("<") else ""
        assert STOCK[made.name_at :].startswith(name if name != "__init__" else made.qual.split(".")[-2])
    hold, (first, second, _) = function(facts, "StockClient.hold")
    assert text(hold).startswith("@Override") and text(hold).endswith("return hold;\n    }")
    assert isinstance(first, Assign) and isinstance(first.value, Call)
    assert text(first).startswith("Hold hold =") and text(first.targets[0]) == "hold"
    assert text(first.value.fn) == "http.postForObject" and text(first.value.args[2].value) == "Hold.class"
    assert text(second) == "run(() -> audit(hold, timeout));"


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("a.b.Client", Type("a.b.Client")),
        ("Map.Entry<String, ? extends T>", Type("Map.Entry", (STRING, Type("T")))),
        ("List<?>", Type("List", (Type("?"),))),
        ("Outer<T>.Inner", Type("Outer.Inner")),
        ("int[][]", array(array(INT))),
        ("@NonNull String", STRING),
        ("boolean", Type("boolean")),
    ],
)
def test_types(text: str, type: Type) -> None:
    assert body_of(text + " v;") == (declare("v", None, type),)
    assert facts_of("class C { " + text + " v; }").classes[0].fields[0].type == type


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("1_000L", 1000),
        ("017", 15),
        ("0x1F", 31),
        ("0b1010", 10),
        ("0xFFFFFFFF", -1),
        ("0xFFFFFFFFL", 0xFFFFFFFF),
        ("0xFFFFFFFFFFFFFFFFL", -1),
        ("9223372036854775807L", (1 << 63) - 1),
        ("1.5", 1.5),
        ("2f", 2.0),
        ("1e3D", 1000.0),
        (".5", 0.5),
        ("0x1p4", 16.0),
        ("true", True),
        ("false", False),
        ("null", None),
        ("'a'", "a"),
        (r"'\n'", "\n"),
        (r"'\u0041'", "A"),
        (r'"a\tb\"\\ \101 \u00e9 \uD83D\uDE00"', 'a\tb"\\ A é 😀'),
        ('"jdbc:mysql://h?socketTimeout=5"', "jdbc:mysql://h?socketTimeout=5"),
        ('"""\n        a\n          b \\\n        c\n        """', "a\n  b c\n"),
        ('"""\n    x "y"\\n"""', 'x "y"\n'),
    ],
)
def test_literals(text: str, value: object) -> None:
    made = expression(text)
    assert made == lit(value) and type(made.value) is type(value)


def test_huge_numbers_do_not_overflow() -> None:
    for text in ("9" * 30, "9" * 5000, "0x" + "F" * 400, "1e999999", "0x1p99999"):
        made = expression(text)
        assert isinstance(made, Lit) and isinstance(made.value, float) and made.value > 1e29


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a.b.c", ref("a.b.c")),
        ("(a.b).c", ref("a.b.c")),
        ("g().c", Field(0, 0, call("g"), "c")),
        ("g(1, y)", call("g", lit(1), ref("y"))),
        ("a.b.g(1)", call("a.b.g", lit(1))),
        ("a\n  .b()\n  .c(1)", call(Field(0, 0, call("a.b"), "c"), lit(1))),
        ("List.<String>of()", call("List.of")),
        ("Outer.super.g()", call("Outer.super.g")),
        ("super.g()", call("super.g")),
        ("new Client(1)", call("Client", lit(1))),
        ("new a.b.Client<>(1)", call("a.b.Client", lit(1))),
        ("o.new Inner()", call("o.Inner")),
        ("new byte[n]", New(0, 0, array(Type("byte")), (Pair(ref("n")),))),
        ("new int[2][3]", New(0, 0, array(array(INT)), (Pair(lit(2)), Pair(lit(3))))),
        ("new int[]{1, 2}", items("list", lit(1), lit(2), type=array(INT))),
        ("a[0]", Index(0, 0, ref("a"), lit(0))),
        ("(long) y", Cast(0, 0, Type("long"), ref("y"))),
        ("o instanceof String", Is(0, 0, ref("o"), (STRING,))),
        ("o instanceof String s", Is(0, 0, Let(0, 0, ref("s"), Cast(0, 0, STRING, ref("o"))), (STRING,))),
        (
            "o instanceof P(int a, Q(var b, _))",
            Is(
                0,
                0,
                Let(0, 0, items("tuple", ref("a"), items("tuple", ref("b"), ref("_"))), Cast(0, 0, Type("P"), ref("o"))),
                (Type("P"),),
            ),
        ),
        ("a + b * 2", Bin(0, 0, "+", ref("a"), Bin(0, 0, "*", ref("b"), lit(2)))),
        ("a - b - 2", Bin(0, 0, "-", Bin(0, 0, "-", ref("a"), ref("b")), lit(2))),
        ("a && !b || c", Bin(0, 0, "or", Bin(0, 0, "and", ref("a"), Un(0, 0, "not", ref("b"))), ref("c"))),
        ("a >>> 2", Bin(0, 0, ">>>", ref("a"), lit(2))),
        ("-a", Un(0, 0, "-", ref("a"))),
        ('"x" + a + 1', Fmt(0, 0, (lit("x"), ref("a"), lit(1)))),
        ('a + b + "x" + c', Fmt(0, 0, (Bin(0, 0, "+", ref("a"), ref("b")), lit("x"), ref("c")))),
        ('a - b + "x"', Fmt(0, 0, (Bin(0, 0, "-", ref("a"), ref("b")), lit("x")))),
        ('a + "x"', Fmt(0, 0, (ref("a"), lit("x")))),
        ("t ? 1 : g()", Cond(0, 0, ref("t"), lit(1), call("g"))),
        ("y = 3", lit(3)),  # chained: one value for two targets
        ("g(y = 3)", call("g", Let(0, 0, ref("y"), lit(3)))),
        ("g(y += 3)", call("g", Let(0, 0, ref("y"), Bin(0, 0, "+", ref("y"), lit(3))))),
        ("g(i++)", call("g", Let(0, 0, ref("i"), Bin(0, 0, "+", ref("i"), lit(1))))),
        ("g(--i)", call("g", Let(0, 0, ref("i"), Bin(0, 0, "-", ref("i"), lit(1))))),
        ("A::b", Field(0, 0, ref("A"), "b")),
        ("this::g", Field(0, 0, ref("this"), "g")),
        ("X::new", Field(0, 0, ref("X"), "new")),
        ("List<String>::new", Field(0, 0, ref("List"), "new")),
        ("int[]::new", Field(0, 0, New(0, 0, array(INT), ()), "new")),
        ("super::g", Field(0, 0, ref("super"), "g")),
        ("g()::h", Field(0, 0, call("g"), "h")),
        ("a.B.class", ref("a.B.class")),
        ("Duration.ofMillis(5)", call("Duration.ofMillis", lit(5))),
    ],
)
def test_expressions(text: str, made: object) -> None:
    assert expression(text) == made


def test_statements() -> None:
    assert body_of("var x = 1; final int i = 2, j[] = {3}; String s; assert x > 0 : g(); ;") == (
        declare("x", lit(1)),
        declare("i", lit(2), INT),
        declare("j", items("list", lit(3), type=array(INT)), array(INT)),
        declare("s", None, STRING),
    )
    assert body_of("a.b = c = 1; n += 2; n++; --n; a[0] = 1;") == (
        Assign(0, 0, (ref("a.b"), ref("c")), "", lit(1)),
        assign("n", lit(2), "+"),
        assign("n", lit(1), "+"),
        assign("n", lit(1), "-"),
        assign(Index(0, 0, ref("a"), lit(0)), lit(1)),
    )
    assert body_of('if (x) throw new E("m", e); else if (y) { return; } else return 1;') == (
        If(
            0,
            0,
            ref("x"),
            (Raise(0, 0, call("E", lit("m"), ref("e")), None),),
            (If(0, 0, ref("y"), (Return(0, 0, None),), (Return(0, 0, lit(1)),)),),
        ),
    )


def test_loops_and_jumps() -> None:
    assert body_of("for (int i = 0, k = 1; i < n; i++, k--) { g(); }") == (
        declare("i", lit(0), INT),
        declare("k", lit(1), INT),
        Loop(
            0,
            0,
            "count",
            Bin(0, 0, "<", ref("i"), ref("n")),
            None,
            None,
            assign("i", lit(1), "+"),
            (do("g"), assign("k", lit(1), "-")),
        ),
    )
    assert body_of("for (;;) g(); while (true) g(); while (a()) g(); do g(); while (b());") == (
        Loop(0, 0, "ever", None, None, None, None, (do("g"),)),
        Loop(0, 0, "ever", lit(True), None, None, None, (do("g"),)),
        Loop(0, 0, "while", call("a"), None, None, None, (do("g"),)),
        Loop(0, 0, "while", call("b"), None, None, None, (do("g"),)),
    )
    assert body_of("outer: for (var e : es) { for (;;) { continue outer; } } done: { break done; }") == (
        Loop(
            0,
            0,
            "each",
            None,
            ref("e"),
            ref("es"),
            None,
            (Loop(0, 0, "ever", None, None, None, None, (Jump(0, 0, "continue", "outer"),)),),
            label="outer",
        ),
        Jump(0, 0, "break", "done"),
    )


def test_try_with_and_locks() -> None:
    assert body_of("try (var r = open(); s; T t = new T(r)) { g(r); } catch (A | b.B e) { h(e); } finally { i(); }") == (
        declare("t", None, Type("T")),
        Try(
            0,
            0,
            (
                With(
                    0,
                    0,
                    (Item(call("open"), ref("r")), Item(ref("s"), None), Item(call("T", ref("r")), ref("t"))),
                    (do("g", ref("r")),),
                ),
            ),
            (Handler(0, 0, (ref("A"), ref("b.B")), "e", (do("h", ref("e")),)),),
            (),
            (do("i"),),
        ),
    )
    assert body_of("try (var r = open()) { g(); } synchronized (lock.of(this)) { g(); }") == (
        With(0, 0, (Item(call("open"), ref("r")),), (do("g"),)),
        With(0, 0, (Item(call("lock.of", ref("this")), None),), (do("g"),)),
    )


def test_switch_statements() -> None:
    switch = "switch (v) { case 1: case 2: a(); break; case K: b(); case 4: c(); return; default: d(); }"
    assert body_of(switch) == (
        Switch(
            0,
            0,
            ref("v"),
            (
                Case((lit(1), lit(2)), (do("a"),)),
                Case((ref("K"),), (do("b"), Jump(0, 0, "fallthrough"))),
                Case((lit(4),), (do("c"), Return(0, 0, None))),
                Case((), (do("d"),)),
            ),
        ),
    )
    assert body_of(
        "switch (g()) { case A, B -> a(); case String s when s.isEmpty() -> { b(s); } case null, default -> throw e; }"
    ) == (
        Switch(
            0,
            0,
            call("g"),
            (
                Case((ref("A"), ref("B")), (do("a"),)),
                Case(
                    (
                        Bin(
                            0,
                            0,
                            "and",
                            Is(0, 0, Let(0, 0, ref("s"), Cast(0, 0, STRING, Opaque(0, 0, ()))), (STRING,)),
                            call("s.isEmpty"),
                        ),
                    ),
                    (do("b", ref("s")),),
                ),
                Case((), (Raise(0, 0, ref("e"), None),)),
            ),
        ),
    )


def test_switch_expressions() -> None:
    switch = "switch (v) { case 1 -> a(); case 2 -> { b(); yield 5; } default -> throw e; }"

    def cases(into: Callable[[Any], Any]) -> Switch:
        raised = Raise(0, 0, ref("e"), None)
        ways = (Case((lit(1),), (into(call("a")),)), Case((lit(2),), (do("b"), into(lit(5)))), Case((), (raised,)))
        return Switch(0, 0, ref("v"), ways)

    assert body_of(f"return {switch};") == (cases(lambda value: Return(0, 0, value)),)
    assert body_of(f"int w = {switch};") == (declare("w", None, INT), cases(lambda value: assign("w", value)))
    assert body_of(f"w = {switch};") == (cases(lambda value: assign("w", value)),)
    facts = facts_of("class C { void f() { g(" + switch + "); } }")
    assert body(facts, "C.f") == (do("g", call(Fn(0, 0, 2))),)
    assert body(facts, "C.f.<lambda1>") == (cases(lambda value: Return(0, 0, value)),)
    old = facts_of("class C { int f() { return switch (v) { case 1: yield 2; default: g(); yield 3; }; } }")
    assert body(old, "C.f") == (
        Switch(0, 0, ref("v"), (Case((lit(1),), (Return(0, 0, lit(2)),)), Case((), (do("g"), Return(0, 0, lit(3)))))),
    )


SCOPES = """
class Outer extends Base {
    int x, y; static int K; int local;
    int get() { return 0; }
    static int make() { return 1; }
    class Inner { int y; int get(int a) { return x + y + K + z + get(1) + make(); } }
    void f(int x, int p) {
        g(x, y, K, p, z, get(), make(), inherited(), new Inner());
        { int y = 1; g(y); }
        g(y);
        for (int local = 0; local < 1; local++) g(local);
        local = 2;
        z = 3;
        Runnable r = () -> { int y = p; g(y, this.y, local); };
        new Thread() { int p = 4; public void run() { g(p, x, y, local, get()); } };
        if (o instanceof String y) g(y);
    }
    static class Pair { int y = 2; Pair other = new Pair(); Runnable lazy = () -> y++; }
}
"""


def test_bare_names_of_members_are_written_out() -> None:
    facts = facts_of(SCOPES)
    block = body(facts, "Outer.f")
    args = ["x", "this.y", "Outer.K", "p", "z"]
    made = call("Outer.Inner")
    assert block[0] == do("g", *map(ref, args), call("this.get"), call("Outer.make"), call("inherited"), made)
    assert block[1:4] == (declare("y", lit(1), INT), do("g", ref("y")), do("g", ref("this.y")))
    assert isinstance(block[5], Loop) and block[5].body == (do("g", ref("local")),)
    assert block[6:8] == (assign("this.local", lit(2)), assign("z", lit(3)))
    assert body(facts, "Outer.f.<lambda1>") == (declare("y", ref("p"), INT), do("g", ref("y"), ref("this.y"), ref("this.local")))
    # Inside the anonymous class: its own field hides the parameter p; x is the parameter around, y the field of the outer class.
    run = do("g", ref("this.p"), ref("x"), ref("Outer.this.y"), ref("Outer.this.local"), call("Outer.this.get"))
    assert body(facts, "Outer.f.<anonymous1>.run") == (run,)
    assert isinstance(block[9], Def) and block[9].name == "<anonymous1>" and block[10] == do("<anonymous1>")
    (inner,) = body(facts, "Outer.Inner.get")
    names = [node.name for node in nodes(inner) if isinstance(node, Ref)]
    assert sorted(names) == ["Outer.K", "Outer.make", "Outer.this.x", "this.get", "this.y", "z"]
    assert function(facts, "Outer.f")[0].writes == ("local", "z")
    pair = facts.classes[-1]
    assert unplaced(pair.fields[1].init) == call("Outer.Pair")
    lazy, _ = function(facts, "Outer.Pair.<lambda1>")
    assert (lazy.owner, lazy.parent, lazy.writes) == (3, 0, ("y",))


def test_local_and_anonymous_classes_are_bound_where_they_stand() -> None:
    facts = facts_of(
        "class C { Task t = new Task() { void go() { a(); } };\n"
        "void f() { if (x) { g(new Task(1) { void go() { b(new Task() { void go() { c(); } }); } }); }\n"
        "record R(int n) {} enum E { A } new R(1); } }"
    )
    assert [(c.qual, c.kind, c.outer, c.parent) for c in facts.classes] == [
        ("C", "class", -1, 0),
        ("C.<anonymous1>", "class", 0, 0),
        ("C.f.<anonymous1>", "class", -1, 2),
        ("C.f.<anonymous1>.go.<anonymous1>", "class", -1, 3),
        ("C.f.R", "record", -1, 2),
        ("C.f.E", "enum", -1, 2),
    ]
    assert unplaced(facts.classes[0].fields[0].init) == call("C.<anonymous1>")
    assert body(facts, "C.f") == (
        If(0, 0, ref("x"), (Def(0, 0, "class", 2, "<anonymous1>"), do("g", call("<anonymous1>", lit(1)))), ()),
        Def(0, 0, "class", 4, "R"),
        Def(0, 0, "class", 5, "E"),
        do("R", lit(1)),
    )
    assert body(facts, "C.f.<anonymous1>.go") == (Def(0, 0, "class", 3, "<anonymous1>"), do("b", call("<anonymous1>")))


def test_lambdas_are_numbered_within_their_function() -> None:
    facts = facts_of("class C { F a = x -> x; void f() { g((int y) -> y, () -> { h(z -> z); }); } F b = C::f; }")
    assert [(f.qual, f.parent, [p.name for p in f.params]) for f in facts.functions if f.kind == "lambda"] == [
        ("C.<lambda1>", 0, ["x"]),
        ("C.f.<lambda1>", 2, ["y"]),
        ("C.f.<lambda2>", 2, []),
        ("C.f.<lambda2>.<lambda1>", 4, ["z"]),
    ]
    assert "C.f" in facts.functions[0].values


def test_constructors_call_each_other() -> None:
    facts = facts_of("class C extends B { C() { this(1); } C(int a) { super(a, 2); } }")
    bodies = [unplaced(decode_block(facts.bodies[i])) for i, made in enumerate(facts.functions) if made.name == "__init__"]
    assert bodies == [(do("this", lit(1)),), (do("super", ref("a"), lit(2)),)]


def test_long_arrays_keep_the_first_items_and_count_all() -> None:
    facts = facts_of("class C { int[] t = {" + "1, " * 500 + "}; Object[] o = {" + "1, " * 100 + "f()}; }")
    first, second = (field.init for field in facts.classes[0].fields)
    assert isinstance(first, Coll) and (len(first.items), first.size) == (64, 500)
    assert isinstance(second, Coll) and (len(second.items), second.size) == (64, 101) and facts.functions[0].calls == ("f",)


@pytest.mark.parametrize(
    ("head", "generated"),
    [
        ("// Generated by the protocol buffer compiler.  DO NOT EDIT!\npackage p;\n", True),
        ("/*\n * Autogenerated by Thrift\n */\npackage p;\n", True),
        ("package p;\nimport a.B;\n\n/**\n * @generated by a tool\n */\n", True),
        ("// keys are generated on the server\npackage p;\n", False),
        ("package p;\n", False),
    ],
)
def test_generated(head: str, generated: bool) -> None:
    assert facts_of(head + 'class C { String s = "// Generated by hand, DO NOT EDIT"; }\n').generated is generated


def test_suppressions_only_in_comments() -> None:
    facts = facts_of(
        "class C {\n  // resilint: ignore[RS101] known\n  int a;\n  int b; /* resilint: ignore[RS102] */\n"
        '  String s = "resilint: ignore[RS103]";\n}\n'
    )
    assert [(s.line, s.codes, s.own_line) for s in facts.suppressions] == [(2, ("RS101",), True), (4, ("RS102",), False)]


def test_imports_with_odd_spaces_and_comments() -> None:
    facts = facts_of("import  a . b\n.C ;import/* x */ static a.B./* y */*; import a.b.\n*;\nimport module java.base;")
    assert [(i.target, i.name, i.is_static) for i in facts.imports[:3]] == [
        ("a.b", "C", False),
        ("a.B", "*", True),
        ("a.b", "*", False),
    ]


@pytest.mark.parametrize(
    "tail", ["", "\nclass D { void broken( { }\n", "\nclass D { int = 3; }\n", "\nvoid g() { if }\n", "\nclass T {\n"]
)
def test_sound_parts_of_a_broken_file_are_kept(tail: str) -> None:
    whole = facts_of(STOCK)
    facts = facts_of(STOCK + tail)
    assert facts.functions[1:17] == whole.functions[1:17] and facts.imports == whole.imports
    assert facts.bodies[1:17] == whole.bodies[1:17] and bool(facts.errors) == bool(tail)


def test_a_broken_statement_does_not_lose_its_neighbours() -> None:
    facts = facts_of("class C {\n void f() {\n a();\n x = = 3;\n b();\n }\n void g() { c(); }\n}\n")
    assert {"a", "b"} <= set(function(facts, "C.f")[0].calls) and facts.errors[0].message
    assert function(facts, "C.g")[0].calls == ("c",)


def test_at_most_five_errors() -> None:
    assert len(facts_of("class C {" + "void f() { ) }\n" * 20 + "}").errors) == 5


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"\xff\xfe\x00",
        b"\xef\xbb\xbf",
        b"package",
        b"import",
        b"import static",
        b"class",
        b"class C { void",
        b'"',
        b'"""',
        b"/*",
        b"@",
        b"class C { int x = switch (y) { case -> ; }; }",
        b"class C { { new int[] } }",
        b"enum E { A(, }",
        b"record R(int",
        b"class C { C() { this(; } }",
        b"class C { void f() { x:: ; a[]; (int) ; o instanceof ; } }",
        'class é { String x = "é'.encode("latin-1"),
    ],
)
def test_hostile_bytes_never_raise(data: bytes) -> None:
    facts = read(data)
    assert decode(encode(facts)) == facts
    assert read_encoded(data, "java") == encode(facts)


def test_bom_crlf_and_wide_text_keep_byte_offsets() -> None:
    data = '\ufeffpackage p;\r\n// wörld\r\nclass C { String été = f("ünï", \'ü\', """\r\n  ä\r\n  b"""); }\r\n'.encode()
    for source in (data, data.replace("été".encode(), b"ete")):
        facts = read(source)
        assert facts.package == "p" and facts.errors == ()
        (field,) = facts.classes[0].fields
        assert unplaced(field.init) == call("f", lit("ünï"), lit("ü"), lit("ä\nb"))
        assert source[field.at : field.end].decode().startswith(field.name + " = f(")


def test_strings_with_bytes_that_are_no_text() -> None:
    facts = read(b'class C { String x = "\xe9\\uD800\xff"; }\n')
    init = facts.classes[0].fields[0].init
    assert isinstance(init, Lit) and isinstance(init.value, str) and init.value.startswith("\ufffd")
    assert decode(encode(facts)) == facts


DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "x = " + "(" * n + "a" + ")" * n + ";",
    "calls": lambda n: "f(" * n + "a" + ")" * n + ";",
    "chain of calls": lambda n: "a" + ".b()" * n + ";",
    "blocks": lambda n: "if (a) {" * n + "b();" + "}" * n,
    "bare blocks": lambda n: "{" * n + "b();" + "}" * n,
    "else if": lambda n: "if (a) {}" + " else if (b) {}" * n,
    "loops": lambda n: "while (a) " * n + "b();",
    "counted loops": lambda n: "for (;;) " * n + "b();",
    "loops over items": lambda n: "for (A a : b) " * n + "b();",
    "switches": lambda n: "switch (a) { case 1:\n" * n + "b();" + "}" * n,
    "switch expressions": lambda n: "x = " + "switch (a) { default -> " * n + "b();" + "};" * n,
    "locks": lambda n: "synchronized (a) {" * n + "b();" + "}" * n,
    "tries": lambda n: "try (a) {" * n + "b();" + "}" * n,
    "arrays": lambda n: "int[] x = " + "{" * n + "1" + "}" * n + ";",
    "lambdas": lambda n: "f(() -> {" * n + "b();" + "});" * n,
    "short lambdas": lambda n: "x = " + "a -> " * n + "b;",
    "classes": lambda n: "f(new A() { void m() {" * n + "b();" + "}});" * n,
    "local classes": lambda n: "class A { void m() {" * n + "b();" + "}}" * n,
    "operators to the right": lambda n: "x = " + "a - (" * n + "b" + ")" * n + ";",
    "negations": lambda n: "x = " + "!" * n + "a;",
    "casts": lambda n: "x = " + "(A) " * n + "a;",
    "conditions": lambda n: "x = " + "a ? b : " * n + "c;",
    "assignments": lambda n: "f(" + "a = " * n + "c);",
    "indexes": lambda n: "x = a" + "[0]" * n + ";",
    "labels": lambda n: "".join(f"l{i}: " for i in range(n)) + "for (;;) {}",
    "types": lambda n: "A<" * n + "B" + ">" * n + " x;",
    "annotations": lambda n: "@A(" * n + "1" + ")" * n + " class X {}",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_stays_decodable(name: str) -> None:
    def deeper(levels: int, facts: FileFacts) -> None:
        if levels:
            return deeper(levels - 1, facts)
        for raw in facts.bodies:
            decode_block(raw)
        assert decode(encode(facts)) == facts
        return None

    for depth in (MAX_DEPTH // 3, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 3000):
        facts = read(("class C {\nvoid f() {\n" + DEEP[name](depth) + "\n}\nvoid after() { g(); }\n}\n").encode())
        # A caller deep in its own recursion still gets the bodies.
        deeper(200, facts)
        assert function(facts, "C.after")[0].calls == ("g",)
        if depth < MAX_DEPTH // 2:
            assert facts.errors == ()
        if depth == 3000:
            assert any("nested too deeply" in error.message for error in facts.errors) or name == "assignments"


@pytest.mark.parametrize("form", ["class N {", "interface N {", "enum N { A;", "record N() {"])
def test_deeply_nested_classes(form: str) -> None:
    facts = facts_of("class C {" + form * 2000 + "void f() { g(); }" + "}" * 2001)
    assert len(facts.classes) > 50 and any("nested too deeply" in error.message for error in facts.errors)


def test_a_builder_of_two_hundred_calls_is_read_whole() -> None:
    source = "class C { void f() {\nmade = start()" + "".join(f"\n.step{i}(a{i}())" for i in range(200)) + ";\n} }\n"
    facts = facts_of(source)
    assert facts.errors == ()
    fn, body = function(facts, "C.f")
    assert {f"a{i}" for i in range(200)} <= set(fn.calls)
    calls = [node for stmt in body for node in nodes(stmt) if isinstance(node, Call)]
    assert len(calls) == 401


@pytest.mark.parametrize("mark", ["@Nullable", "@org.x.Nullable", "@ Size(max = 3)"])
def test_an_annotation_in_front_of_the_dots_is_no_error(mark: str) -> None:
    source = f"class C {{ void f(String {mark} ... names) {{ g(names); }}\nvoid h(String {mark}... names) {{}} }}\n"
    facts = facts_of(source)
    assert facts.errors == ()
    params = function(facts, "C.f")[0].params
    assert [(p.name, p.kind) for p in params] == [
        (p.name, p.kind) for p in function(facts_of(source.replace(mark, "")), "C.f")[0].params
    ]
    at = source.index("g(names)")
    assert any(node.at == at for stmt in function(facts, "C.f")[1] for node in nodes(stmt))


def test_a_broken_file_with_such_an_annotation_still_has_its_error() -> None:
    assert facts_of("class C { void f(String @Nullable ... names) { g(; } }\n").errors


def test_long_chains_of_operators_keep_every_operand() -> None:
    source = "class C { Object x = a0()" + "".join(f" + a{i}()" for i in range(1, 3000)) + ";\nObject y = b0()"
    source += "".join(f" {'+-'[i % 2]} b{i}()" for i in range(1, 3000)) + ";\nString z = c0()"
    source += "".join(f' + c{i}() + "{i}"' for i in range(1, 3000)) + "; }\n"
    facts = facts_of(source)
    assert facts.errors == () and len(facts.functions[0].calls) == 9000
    first, second, third = (field.init for field in facts.classes[0].fields)
    assert isinstance(first, Bin) and isinstance(second, Opaque) and isinstance(third, Fmt)
    calls = sorted((node for node in nodes(first) if isinstance(node, Call)), key=lambda node: node.at)
    assert [node.fn.name for node in calls if isinstance(node.fn, Ref)] == [f"a{i}" for i in range(3000)]
    assert (len(second.children), len(third.parts)) == (3000, 5998)


def test_reading_does_not_depend_on_what_was_read_before() -> None:
    sources = [STOCK, "class C { int x[", "class C { void f(Map<String> { }", "class C { Map<String, T> y; void f(int a) {} }"]
    first = [encode(read(s.encode())) for s in sources]
    assert [encode(read(s.encode())) for s in reversed(sources)] == first[::-1]


def test_cut_and_spliced_files_never_raise() -> None:
    rng = random.Random(7)
    marks = [
        *"{}()[]\"'<>,.;@\0é",
        "class ",
        "case ",
        "switch (",
        "->",
        "::",
        "/*",
        "new ",
        "record R(",
        '"""',
        "enum E {",
        "try (",
        "this(",
    ]
    for _ in range(300):
        text = STOCK + SCOPES
        for _ in range(rng.randrange(1, 8)):
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(marks) + text[at + rng.randrange(3) * rng.randrange(20) :] or " "
        data = text.encode()
        facts = read(data)
        assert decode(encode(facts)) == facts and len(facts.functions) == len(facts.bodies)
        places: list[Function | Class | Import] = [*facts.functions, *facts.classes, *facts.imports]
        every = [node for raw in facts.bodies for node in nodes(decode_block(raw))]
        assert all(0 <= place.at <= place.end <= len(data) for place in [*places, *every])
        assert all(made.at < made.end or made.kind == "module" for made in facts.functions)
