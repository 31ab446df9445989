"""The Go reader: exact facts of small programs, positions by slicing, broken and hostile input."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from resilint.discover import is_generated
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
    Comm,
    Def,
    Defer,
    Do,
    Field,
    FileFacts,
    Fn,
    Function,
    Go,
    If,
    Import,
    Index,
    Is,
    Jump,
    Lit,
    Loop,
    New,
    Node,
    Opaque,
    Pair,
    Param,
    Recv,
    Ref,
    Return,
    Select,
    Send,
    Slice,
    Switch,
    Type,
    Un,
    decode,
    decode_block,
    encode,
)
from resilint.read import read as read_encoded
from resilint.read.go import read
from resilint.read.lowering import MAX_DEPTH

INT = Type("int")
ERR = Type("error")


def unplaced(value: Any) -> Any:
    """The same tree with all positions 0, so that shapes can be compared; positions have tests of their own."""
    if isinstance(value, tuple):
        return tuple(unplaced(part) for part in value)
    if isinstance(value, msgspec.Struct):
        fields = {name: unplaced(getattr(value, name)) for name in value.__struct_fields__}
        if isinstance(value, Node):
            fields["at"] = fields["end"] = 0
        return type(value)(**fields)
    return value


def ref(name: str) -> Ref:
    return Ref(0, 0, name)


def lit(value: Any) -> Lit:
    return Lit(0, 0, value)


def call(fn: Any, *args: Any) -> Call:
    return Call(0, 0, ref(fn) if isinstance(fn, str) else fn, tuple(a if isinstance(a, Arg) else Arg(a) for a in args))


def pair(*values: Any) -> Coll:
    return Coll(0, 0, "tuple", tuple(Pair(v) for v in values), len(values))


def declare(target: Any, value: Any, type: Type | None = None) -> Assign:
    return Assign(0, 0, (target,), "", value, True, type)


def facts_of(source: str) -> FileFacts:
    facts = read(source.encode())
    assert decode(encode(facts)) == facts
    return facts


def body_of(statements: str) -> Block:
    """The block of a function, without positions."""
    facts = facts_of("package p\n\nfunc f() {\n" + statements + "\n}\n")
    assert facts.errors == ()
    made: Block = unplaced(decode_block(facts.bodies[1]))
    return made


def expression(text: str, declared: str = "") -> Any:
    facts = facts_of("package p\n" + declared + "\nfunc f() {\n\tx = " + text + "\n}\n")
    assert facts.errors == ()
    index = next(i for i, function in enumerate(facts.functions) if function.qual == "f")
    (statement,) = decode_block(facts.bodies[index])
    assert isinstance(statement, Assign)
    return unplaced(statement.value)


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


CLIENT = """// Package pay talks to the bank.
package pay

import (
	"context"
	"net/http"
	bank "example.com/bank/v2"
)

const retries = 3

var Default = &Client{HTTP: &http.Client{Timeout: 2 * time.Second}}

// Client of the bank.
type Client struct {
	*Base
	HTTP    *http.Client `json:"-"`
	a, b    int
	options []Option
}

type Option func(*Client) error

type Caller interface {
	io.Closer
	Call(ctx context.Context, ids ...string) (n int, err error)
}

func New(url string, opts ...Option) (*Client, error) {
	c := &Client{a: 1}
	for _, opt := range opts {
		if err := opt(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Client) Pay(ctx context.Context) error {
	resp, err := c.HTTP.Get("https://bank")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	go func() {
		c.done <- struct{}{}
	}()
	return nil
}
"""


def test_header_of_a_realistic_file() -> None:
    facts = facts_of(CLIENT)
    assert (facts.kind, facts.package, facts.errors, facts.generated) == ("go", "pay", (), False)
    assert [unplaced_import(i) for i in facts.imports] == [
        ("context", "context", False),
        ("net/http", "http", False),
        ("example.com/bank/v2", "bank", True),
    ]
    assert [(f.qual, f.kind, f.owner, f.parent, f.receiver) for f in facts.functions] == [
        ("<module>", "module", -1, -1, ""),
        ("Caller.Call", "method", 2, 0, "Caller"),
        ("New", "free", -1, 0, ""),
        ("Client.Pay", "method", 0, 0, "Client"),
        ("Client.Pay.<lambda1>", "lambda", -1, 3, ""),
    ]
    module, call_, new, pay, literal = facts.functions
    assert module.calls == ("Client{", "http.Client{") and module.writes == ("HTTP", "Timeout")
    assert call_.is_abstract and call_.named_returns == ("n", "err") and call_.returns == (INT, ERR)
    assert call_.params == (Param("ctx", "pos", Type("context.Context")), Param("ids", "*", Type("string")))
    assert new.params == (Param("url", "pos", Type("string")), Param("opts", "*", Type("Option")))
    assert new.returns == (Type("Client", (), "ptr"), ERR)
    assert (new.calls, new.values, new.writes) == (("Client{", "opt"), ("c", "err", "opts"), ("a",))
    assert pay.params == (Param("c", "self", Type("Client", (), "ptr")), Param("ctx", "pos", Type("context.Context")))
    assert pay.calls == ("c.HTTP.Get", "resp.Body.Close")
    assert (literal.calls, literal.name, literal.params) == ((), "<lambda1>", ())

    client, option, caller = facts.classes
    assert (client.kind, option.kind, caller.kind) == ("struct", "alias", "interface")
    assert [(f.name, f.type, f.tag, f.embedded) for f in client.fields] == [
        ("Base", Type("Base", (), "ptr"), "", True),
        ("HTTP", Type("http.Client", (), "ptr"), 'json:"-"', False),
        ("a", INT, "", False),
        ("b", INT, "", False),
        ("options", Type("[]", (Type("Option"),), "list"), "", False),
    ]
    assert option.alias_of == Type("", (Type("Client", (), "ptr"), ERR), "fn")
    assert unplaced(caller.bases) == (ref("io.Closer"),) and caller.methods == (1,)


def unplaced_import(made: Import) -> tuple[str, str, bool]:
    return made.target, made.alias, made.explicit


def test_bodies_of_a_realistic_file() -> None:
    facts = facts_of(CLIENT)
    timeout = Bin(0, 0, "*", lit(2), ref("time.Second"))
    http = New(0, 0, Type("http.Client"), (Pair(timeout, ref("Timeout")),))
    assert unplaced(decode_block(facts.bodies[0])) == (
        declare(ref("retries"), lit(3)),
        declare(ref("Default"), New(0, 0, Type("Client"), (Pair(http, ref("HTTP")),))),
    )
    assert decode_block(facts.bodies[1]) == ()
    failed = Bin(0, 0, "!=", ref("err"), lit(None))
    assert unplaced(decode_block(facts.bodies[2])) == (
        declare(ref("c"), New(0, 0, Type("Client"), (Pair(lit(1), ref("a")),))),
        Loop(
            0,
            0,
            "each",
            None,
            pair(ref("_"), ref("opt")),
            ref("opts"),
            None,
            (
                declare(ref("err"), call("opt", ref("c"))),
                If(0, 0, failed, (Return(0, 0, pair(lit(None), ref("err"))),), ()),
            ),
        ),
        Return(0, 0, pair(ref("c"), lit(None))),
    )
    assert unplaced(decode_block(facts.bodies[3])) == (
        declare(pair(ref("resp"), ref("err")), call("c.HTTP.Get", lit("https://bank"))),
        If(0, 0, failed, (Return(0, 0, ref("err")),), ()),
        Defer(0, 0, call("resp.Body.Close")),
        Go(0, 0, call(Fn(0, 0, 4))),
        Return(0, 0, lit(None)),
    )
    assert unplaced(decode_block(facts.bodies[4])) == (Send(0, 0, ref("c.done"), New(0, 0, Type("struct"), ())),)


def test_positions_are_byte_offsets_of_the_text() -> None:
    source = CLIENT.replace("the bank", "die Bänke — alle")
    data = source.encode()
    facts = read(data)

    def text(node: Any) -> str:
        return data[node.at : node.end].decode()

    default = decode_block(facts.bodies[0])[1]
    assert isinstance(default, Assign)
    assert text(default) == "Default = &Client{HTTP: &http.Client{Timeout: 2 * time.Second}}"
    assert text(default.value) == "&Client{HTTP: &http.Client{Timeout: 2 * time.Second}}"
    assert {text(node) for node in nodes(default)} >= {"Default", "HTTP", "Timeout", "2", "time.Second", "2 * time.Second"}
    names = [data[f.name_at : f.name_at + len(f.name.encode())].decode() for f in facts.functions[1:4]]
    assert names == ["Call", "New", "Pay"]
    assert text(facts.functions[4]) == "func() {\n\t\tc.done <- struct{}{}\n\t}"
    assert text(facts.functions[3]).startswith("func (c *Client) Pay(") and text(facts.functions[3]).endswith("return nil\n}")
    fields = ["*Base", "HTTP    *http.Client", "a, b    int", "b    int", "options []Option"]
    assert [text(f) for f in facts.classes[0].fields] == fields
    assert text(facts.classes[1]) == "Option func(*Client) error"
    assert [text(i) for i in facts.imports] == ['"context"', '"net/http"', 'bank "example.com/bank/v2"']
    every = [node for raw in facts.bodies for node in nodes(decode_block(raw))]
    assert all(0 <= node.at <= node.end <= len(data) for node in every)
    assert all(text(node) == node.name for node in every if isinstance(node, Ref))


@pytest.mark.parametrize(
    ("path", "alias"),
    [
        ("net/http", "http"),
        ("example.com/lib/v2", "lib"),
        ("gopkg.in/yaml.v3", "yaml"),
        ("github.com/nats-io/nats.go", "nats"),
        ("github.com/segmentio/kafka-go", "kafka"),
        ("github.com/hashicorp/go-retryablehttp", "retryablehttp"),
        ("github.com/redis/go-redis/v9", "redis"),
        ("github.com/aws/aws-sdk-go", "aws"),
        ("C", "C"),
    ],
)
def test_import_alias(path: str, alias: str) -> None:
    (made,) = facts_of(f'package p\nimport "{path}"\n').imports
    assert (made.target, made.alias, made.explicit, made.function) == (path, alias, False, 0)


def test_import_alias_follows_the_use_in_the_file() -> None:
    facts = facts_of('package p\nimport "example.com/big-queue"\nvar x = queue.New()\n')
    assert facts.imports[0].alias == "queue"


def test_import_names_as_written() -> None:
    facts = facts_of('package p\nimport (\n\t. "os"\n\t_ "embed"\n\tyy "y"\n)\n')
    assert [(i.alias, i.explicit) for i in facts.imports] == [(".", True), ("_", True), ("yy", True)]


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("int", INT),
        ("*http.Client", Type("http.Client", (), "ptr")),
        ("**T", Type("*", (Type("T", (), "ptr"),), "ptr")),
        ("*[]T", Type("*", (Type("[]", (Type("T"),), "list"),), "ptr")),
        ("[]T", Type("[]", (Type("T"),), "list")),
        ("[3]T", Type("[]", (Type("T"),), "array")),
        ("map[string][]int", Type("map", (Type("string"), Type("[]", (INT,), "list")), "map")),
        ("chan int", Type("chan", (INT,), "chan")),
        ("<-chan int", Type("chan", (INT,), "chan")),
        ("chan<- int", Type("chan", (INT,), "chan")),
        ("func()", Type("", (), "fn")),
        ("func(a, b int, c ...T) (int, error)", Type("", (INT, INT, Type("...", (Type("T"),), "variadic"), INT, ERR), "fn")),
        ("Foo[int, *T]", Type("Foo", (INT, Type("T", (), "ptr")))),
        ("*pkg.Foo[int]", Type("pkg.Foo", (INT,), "ptr")),
        ("(int)", INT),
        ("interface{}", Type("interface{}")),
        ("interface{ Close() error }", Type("interface")),
        ("struct{ a int }", Type("struct")),
    ],
)
def test_types(text: str, type: Type) -> None:
    (statement,) = decode_block(facts_of(f"package p\nvar x {text}\n").bodies[0])
    assert isinstance(statement, Assign) and statement.type == type and statement.value is None and statement.declares


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nil", None),
        ("true", True),
        ("false", False),
        ("12", 12),
        ("0x1F", 31),
        ("0o17", 15),
        ("017", 15),
        ("0b101", 5),
        ("1_000", 1000),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", 2.0**63),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("0x1p-2", 0.25),
        ('"a\\tb\\x41\\u00e9\\101\\""', 'a\tbAéA"'),
        ('"\\xe4\\xb8\\x96"', "世"),
        ('"\\ud800"', "�"),
        ('`a\\n"`', 'a\\n"'),
        ("`a\r\nb`", "a\nb"),
        ("'a'", "a"),
        ("'\\n'", "\n"),
        ("'\\''", "'"),
        ("'é'", "é"),
        ("'\\xff'", "ÿ"),
        ('""', ""),
    ],
)
def test_literals(text: str, value: object) -> None:
    made = expression(text)
    assert made == lit(value) and type(made.value) is type(value)


def test_huge_numbers_do_not_overflow() -> None:
    assert expression("1" * 400) == lit(float("inf"))
    assert expression("1" * 5000) == lit(float("inf"))
    assert expression("1e999") == lit(float("inf"))
    assert expression("2i") == Opaque(0, 0, ())


STRINGS = Type("[]", (Type("string"),), "list")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a.b.c", ref("a.b.c")),
        ("a.\n\t\tb", ref("a.b")),
        ("f().x", Field(0, 0, call("f"), "x")),
        ("(a).b", ref("a.b")),
        ("f(a, b...)", call("f", ref("a"), Arg(ref("b"), None, 1))),
        ("a.b().c(1)", call(Field(0, 0, call("a.b"), "c"), lit(1))),
        ("f(1, /* why */ 2)", call("f", lit(1), lit(2))),
        ("new(http.Client)", New(0, 0, Type("http.Client"), ())),
        ("new(int64(3))", call("new", Cast(0, 0, Type("int64"), lit(3)))),
        ("new(s[0])", call("new", Index(0, 0, ref("s"), lit(0)))),
        ("new(a == b)", call("new", Bin(0, 0, "==", ref("a"), ref("b")))),
        ("new(Page[Item])", New(0, 0, Type("Page", (Type("Item"),)), ())),
        ("make(chan int, n)", call("make", New(0, 0, Type("chan", (INT,), "chan"), ()), ref("n"))),
        ("make(Gate)", call("make", New(0, 0, Type("Gate"), ()))),
        ("T{}", New(0, 0, Type("T"), ())),
        ("&pkg.T{A: 1}", New(0, 0, Type("pkg.T"), (Pair(lit(1), ref("A")),))),
        ("T[int]{1, 2}", New(0, 0, Type("T", (INT,)), (Pair(lit(1)), Pair(lit(2))))),
        ('[]string{"a"}', Coll(0, 0, "list", (Pair(lit("a")),), 1, STRINGS)),
        ("&[]string{}", Un(0, 0, "&", Coll(0, 0, "list", (), 0, STRINGS))),
        ('[...]string{1: "a"}', Coll(0, 0, "list", (Pair(lit("a"), lit(1)),), 1, Type("[]", (Type("string"),), "array"))),
        (
            "[]*http.Client{{Timeout: 1}, nil}",
            Coll(
                0,
                0,
                "list",
                (Pair(New(0, 0, Type("http.Client"), (Pair(lit(1), ref("Timeout")),))), Pair(lit(None))),
                2,
                Type("[]", (Type("http.Client", (), "ptr"),), "list"),
            ),
        ),
        (
            "map[K]V{{1}: {A: b}}",
            Coll(
                0,
                0,
                "map",
                (Pair(New(0, 0, Type("V"), (Pair(ref("b"), ref("A")),)), New(0, 0, Type("K"), (Pair(lit(1)),))),),
                1,
                Type("map", (Type("K"), Type("V")), "map"),
            ),
        ),
        ("Rows{{1}}", New(0, 0, Type("Rows"), (Pair(Coll(0, 0, "list", (Pair(lit(1)),), 1)),))),
        ("struct{ a int }{1}", New(0, 0, Type("struct"), (Pair(lit(1)),))),
        ("time.Duration(n)", Cast(0, 0, Type("time.Duration"), ref("n"))),
        ("float64(n)", Cast(0, 0, Type("float64"), ref("n"))),
        ("[]byte(s)", Cast(0, 0, Type("[]", (Type("byte"),), "list"), ref("s"))),
        ("(*T)(nil)", Cast(0, 0, Type("T", (), "ptr"), lit(None))),
        ("(func())(g)", Cast(0, 0, Type("", (), "fn"), ref("g"))),
        ("http.HandlerFunc(g)", call("http.HandlerFunc", ref("g"))),
        ("y.(*T)", Cast(0, 0, Type("T", (), "ptr"), ref("y"))),
        ("y.(T).z", Field(0, 0, Cast(0, 0, Type("T"), ref("y")), "z")),
        ("<-ch", Recv(0, 0, ref("ch"))),
        ("&y", Un(0, 0, "&", ref("y"))),
        ("*y", Un(0, 0, "*", ref("y"))),
        ("!y", Un(0, 0, "not", ref("y"))),
        ("-y", Un(0, 0, "-", ref("y"))),
        ("^y", Un(0, 0, "^", ref("y"))),
        ("a && b || c", Bin(0, 0, "or", Bin(0, 0, "and", ref("a"), ref("b")), ref("c"))),
        ("a /* c */ &^ b", Bin(0, 0, "&^", ref("a"), ref("b"))),
        ("a[i]", Index(0, 0, ref("a"), ref("i"))),
        ("a[1:n]", Slice(0, 0, ref("a"), lit(1), ref("n"))),
        ("a[:]", Slice(0, 0, ref("a"), None, None)),
        ("(*T).M", Field(0, 0, Un(0, 0, "*", ref("T")), "M")),
        ("Map[int, string](y)", call("Map", ref("y"))),
        ("Map[int](y)", call("Map", ref("y"))),
        ("Map[int](y, z)", call("Map", ref("y"), ref("z"))),
        ("Map[int, T]", ref("Map")),
    ],
)
def test_expressions(text: str, made: object) -> None:
    assert expression(text) == made


def test_call_of_an_element_against_call_of_a_generic_function() -> None:
    element = call(Index(0, 0, ref("handlers"), ref("name")), ref("w"))
    assert expression("handlers[name](w)", "var handlers map[string]func(int)") == element
    assert expression("handlers[name](w)", "func g(name string) {}") == element
    assert expression("handlers[Name](w)", "type Name int") == call("handlers", ref("w"))
    assert expression("handlers[name](w)", "func handlers[T any](t T) {}\nvar name = 1") == call("handlers", ref("w"))
    method = call(Index(0, 0, ref("s.handlers"), ref("name")), ref("w"))
    assert expression("s.handlers[name](w)") == method
    assert expression("s.handlers[name](w)", 'import "example.com/s"') == call("s.handlers", ref("w"))


def test_pointer_conversion_against_a_function_behind_a_pointer() -> None:
    assert expression("(*hook)(y)", "var hook *func(int)") == call(Un(0, 0, "*", ref("hook")), ref("y"))


def test_simple_statements() -> None:
    assert body_of("x := 1\na, b = b, a\nx += 2\nx &^= y\nx++\nx--\nvar q, r int = 1, 2\nconst k = 3\nvar (\n\tt T\n)\n;") == (
        declare(ref("x"), lit(1)),
        Assign(0, 0, (pair(ref("a"), ref("b")),), "", pair(ref("b"), ref("a"))),
        Assign(0, 0, (ref("x"),), "+", lit(2)),
        Assign(0, 0, (ref("x"),), "&^", ref("y")),
        Assign(0, 0, (ref("x"),), "+", lit(1)),
        Assign(0, 0, (ref("x"),), "-", lit(1)),
        declare(pair(ref("q"), ref("r")), pair(lit(1), lit(2)), INT),
        declare(ref("k"), lit(3)),
        declare(ref("t"), None, Type("T")),
    )


def test_blocks_are_flattened_and_comments_dropped() -> None:
    assert body_of("// one\n{ /* two */ a() // three\n}\nb()") == (Do(0, 0, call("a")), Do(0, 0, call("b")))


def test_const_groups_keep_their_order() -> None:
    facts = facts_of("package p\nconst (\n\tA Kind = iota\n\tB\n\t_\n)\n")
    assert unplaced(decode_block(facts.bodies[0])) == (
        declare(ref("A"), ref("iota"), Type("Kind")),
        declare(ref("B"), None),
        declare(ref("_"), None),
    )


def loop(form: Any, *, test: Any = None, target: Any = None, over: Any = None, step: Any = None, label: str | None = None) -> Loop:
    return Loop(0, 0, form, test, target, over, step, (), (), False, label)


def test_loops() -> None:
    less = Bin(0, 0, "<", ref("i"), ref("n"))
    up = Assign(0, 0, (ref("i"),), "+", lit(1))
    assert body_of("for {}\nfor true {}\nfor i < n {}") == (loop("ever"), loop("ever", test=lit(True)), loop("while", test=less))
    assert body_of("for i := 0; i < n; i++ {}") == (declare(ref("i"), lit(0)), loop("count", test=less, step=up))
    assert body_of("for ; ; i++ {}") == (loop("ever", step=up),)
    assert body_of("for i := range 10 {}") == (loop("each", target=ref("i"), over=lit(10)),)
    assert body_of("for range ch {}") == (loop("each", over=ref("ch")),)
    assert body_of("for k, v = range m {}") == (loop("each", target=pair(ref("k"), ref("v")), over=ref("m")),)


def test_labels_and_jumps() -> None:
    assert body_of("outer:\n\tfor {\n\t\tfor { continue outer }\n\t\tbreak outer\n\t}\n\tgoto end\nend:\n\tf()") == (
        Loop(
            0,
            0,
            "ever",
            None,
            None,
            None,
            None,
            (
                Loop(0, 0, "ever", None, None, None, None, (Jump(0, 0, "continue", "outer"),)),
                Jump(0, 0, "break", "outer"),
            ),
            (),
            False,
            "outer",
        ),
        Jump(0, 0, "goto", "end"),
        Do(0, 0, call("f")),
    )


def test_if_chain_with_init() -> None:
    assert body_of("if a := f(); a { return } else if b, ok := m[k]; ok { g() } else { h() }") == (
        declare(ref("a"), call("f")),
        If(
            0,
            0,
            ref("a"),
            (Return(0, 0, None),),
            (
                declare(pair(ref("b"), ref("ok")), Index(0, 0, ref("m"), ref("k"))),
                If(0, 0, ref("ok"), (Do(0, 0, call("g")),), (Do(0, 0, call("h")),)),
            ),
        ),
    )


def test_switches() -> None:
    assert body_of("switch x := f(); x {\ncase 1, 2:\n\tg()\n\tfallthrough\ndefault:\n}") == (
        declare(ref("x"), call("f")),
        Switch(
            0,
            0,
            ref("x"),
            (Case((lit(1), lit(2)), (Do(0, 0, call("g")), Jump(0, 0, "fallthrough"))), Case((), ())),
        ),
    )
    assert body_of("switch {\ncase a < b:\n}") == (Switch(0, 0, None, (Case((Bin(0, 0, "<", ref("a"), ref("b")),), ()),)),)


def test_type_switches() -> None:
    types = (INT, Type("T", (), "ptr"))
    assert body_of("switch v := f().(type) {\ncase int, *T:\n\tg(v)\ncase nil:\ndefault:\n}") == (
        declare(ref("v"), call("f")),
        Switch(
            0,
            0,
            ref("v"),
            (
                Case((Is(0, 0, ref("v"), types),), (Do(0, 0, call("g", ref("v"))),)),
                Case((Is(0, 0, ref("v"), (Type("nil"),)),), ()),
                Case((), ()),
            ),
        ),
    )
    assert body_of("switch x.(type) {\ncase int:\n}") == (Switch(0, 0, ref("x"), (Case((Is(0, 0, ref("x"), (INT,)),), ()),)),)
    # The subject is called once, so it stands once.
    once = Case((Is(0, 0, Opaque(0, 0, ()), (INT,)),), ())
    assert body_of("switch f().(type) {\ncase int:\n}") == (Switch(0, 0, call("f"), (once,)),)


def test_select() -> None:
    text = "select {\ncase v, ok := <-ch:\n\tg()\ncase v = <-ch:\ncase <-ctx.Done():\n\treturn\ncase ch <- 1:\ndefault:\n}"
    assert body_of(text) == (
        Select(
            0,
            0,
            (
                Comm(declare(pair(ref("v"), ref("ok")), Recv(0, 0, ref("ch"))), (Do(0, 0, call("g")),)),
                Comm(Assign(0, 0, (ref("v"),), "", Recv(0, 0, ref("ch"))), ()),
                Comm(Do(0, 0, Recv(0, 0, call("ctx.Done"))), (Return(0, 0, None),)),
                Comm(Send(0, 0, ref("ch"), lit(1)), ()),
                Comm(None, ()),
            ),
        ),
    )


def test_function_literals_are_numbered_within_their_function() -> None:
    facts = facts_of(
        "package p\nvar hook = func() { g(func() {}) }\nfunc f() {\n\trun(func() { h() })\n\tdefer func() { recover() }()\n}\n"
    )
    assert [(f.qual, f.parent) for f in facts.functions] == [
        ("<module>", -1),
        ("<lambda1>", 0),
        ("<lambda1>.<lambda1>", 1),
        ("f", 0),
        ("f.<lambda1>", 3),
        ("f.<lambda2>", 3),
    ]
    assert [f.calls for f in facts.functions] == [(), ("g",), (), ("run",), ("h",), ("recover",)]
    assert all(f.name_at == f.at for f in facts.functions if f.kind == "lambda")


def test_methods_before_their_type_and_of_other_files() -> None:
    facts = facts_of(
        "package p\nfunc (s *S) A() {}\nfunc (S) B()\nfunc (_ Elsewhere) C() {}\nfunc (g *G[K, V]) D() {}\n"
        "type S struct{}\ntype G[K comparable, V any] struct{}\n"
    )
    assert [(f.qual, f.owner, f.receiver, f.params) for f in facts.functions[1:]] == [
        ("S.A", 0, "S", (Param("s", "self", Type("S", (), "ptr")),)),
        ("S.B", 0, "S", (Param("", "self", Type("S")),)),
        ("Elsewhere.C", -1, "Elsewhere", (Param("_", "self", Type("Elsewhere")),)),
        ("G.D", 1, "G", (Param("g", "self", Type("G", (Type("K"), Type("V")), "ptr")),)),
    ]
    assert decode_block(facts.bodies[2]) == ()


def test_local_types() -> None:
    local = "\ttype job struct{ id int }\n\ttype runner interface{ Run() }\n\ttype alias = int\n"
    facts = facts_of("package p\nfunc f() {\n" + local + "}\ntype T int\n")
    described = [(c.name, c.qual, c.kind, c.parent, c.alias_of) for c in facts.classes]
    assert described == [
        ("T", "T", "alias", 0, INT),
        ("job", "f.job", "struct", 1, None),
        ("runner", "f.runner", "interface", 1, None),
        ("alias", "f.alias", "alias", 1, INT),
    ]
    assert unplaced(decode_block(facts.bodies[1])) == (
        Def(0, 0, "class", 1, "job"),
        Def(0, 0, "class", 2, "runner"),
        Def(0, 0, "class", 3, "alias"),
    )
    assert (facts.functions[2].qual, facts.functions[2].owner, facts.functions[2].parent) == ("f.runner.Run", 2, 1)


def test_interfaces_with_constraints() -> None:
    (number,) = facts_of("package p\ntype N interface {\n\t~int | float64\n\tcomparable\n\tpkg.Ordered[int]\n}\n").classes
    assert unplaced(number.bases) == (ref("comparable"), ref("pkg.Ordered")) and number.methods == ()


def test_calls_values_and_writes() -> None:
    facts = facts_of(
        """package p

func (s *S) f(g func()) {
	s.conn.limit = limit
	open().retries++
	http.HandleFunc("/x", s.handle)
	mux().Handle("/y", factory().serve)
	table := map[string]func(){"a": first, key: second}
	list := []func(){third}
	cfg := Config{Timeout: wait, Inner: &Inner{Size: 3}}
	queue <- item
	opts := []Option{{Name: n}}
	return fourth, int(fifth)
}
"""
    )
    function = facts.functions[1]
    assert function.calls == (
        ".Handle",
        "Config{",
        "Inner{",
        "Option{",
        "factory",
        "http.HandleFunc",
        "mux",
        "open",
    )
    assert function.writes == ("Inner", "Name", "Size", "Timeout", "limit", "retries")
    assert function.values == (
        ".serve",
        "fifth",
        "first",
        "fourth",
        "item",
        "key",
        "limit",
        "n",
        "s.handle",
        "second",
        "third",
        "wait",
    )


def test_long_collections_keep_the_first_items_and_count_all() -> None:
    made = expression("[]int{" + ", ".join(str(i) for i in range(100)) + "}")
    assert (made.size, len(made.items), made.items[63]) == (100, 64, Pair(lit(63)))
    rows = ",".join(f'{{"/{i}", handle{i}, func() {{ serve{i}() }}}}' for i in range(70))
    facts = facts_of("package p\nfunc f() {\n\tx := []Route{" + rows + "}\n}\n")
    (statement,) = decode_block(facts.bodies[1])
    assert isinstance(statement, Assign) and isinstance(statement.value, Coll)
    assert (statement.value.size, len(statement.value.items)) == (70, 64)
    # What stands in the items that are not kept is still known.
    assert "handle69" in facts.functions[1].values
    assert facts.functions[-1].calls == ("serve69",)
    keyed = expression("T{" + ", ".join(f"F{i}: {i}" for i in range(80)) + "}")
    assert len(keyed.fields) == 80
    assert len(expression("Points{" + "1, " * 80 + "}").fields) == 64


def test_generated() -> None:
    head = "// Code generated by protoc-gen-go. DO NOT EDIT.\n"
    assert facts_of(head + "package p\n").generated
    assert facts_of("// License\n\n" + head.replace("\n", "\r\n") + "package p\n").generated
    assert not facts_of("package p\n" + head).generated
    assert not facts_of("// this is no " + head + "package p\n").generated
    assert facts_of("/* License\n*/\n" + head + "package p\n").generated
    assert facts_of("// @generated by thrift\npackage p\n").generated
    for source in (head + "package p\n", "package p\n" + head, "/* License\n*/\n" + head + "package p\n"):
        assert is_generated(source.encode(), "go") is facts_of(source).generated


def test_suppressions_only_in_comments() -> None:
    facts = facts_of(
        "package p\n\nvar x = f() // resilint: ignore[RS101] the bank is slow\n\n"
        '/* resilint: ignore-file[RS2] */\nvar y = "// resilint: ignore[RS3]"\n'
    )
    assert [(s.line, s.codes, s.whole_file, s.own_line, s.reason) for s in facts.suppressions] == [
        (3, ("RS101",), False, False, "the bank is slow"),
        (5, ("RS2",), True, True, ""),
    ]


@pytest.mark.parametrize("tail", ["", "\nfunc broken( {\n", "\nvar = = 3\n", "\nfunc g() { if }\n", "\ntype T struct {\n"])
def test_sound_parts_of_a_broken_file_are_kept(tail: str) -> None:
    facts = facts_of("package p\n\nfunc ok() {\n\thttp.Get(url)\n}\n" + tail)
    ok = next(f for f in facts.functions if f.name == "ok")
    assert ok.calls == ("http.Get",)
    assert bool(facts.errors) == bool(tail) and len(facts.errors) <= 5


def test_a_broken_statement_does_not_lose_its_neighbours() -> None:
    facts = facts_of("package p\nfunc f() {\n\ta()\n\tx := := 3\n\tb()\n}\n")
    assert {"a", "b"} <= set(facts.functions[1].calls) and facts.errors[0].message


def test_at_most_five_errors() -> None:
    assert len(facts_of("package p\n" + "func f() { ) }\n" * 20).errors) == 5


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"\xff\xfe\x00",
        b"\xef\xbb\xbf",
        b"package",
        b"func (",
        b'"',
        b"`",
        b"/*",
        b'package p\nimport "',
        b"package p\nfunc f() { x[](y) }",
        b"package p\nfunc (x) f()",
        'package p\nvar é = "é"\nvar x = "'.encode("latin-1"),
    ],
)
def test_hostile_bytes_never_raise(data: bytes) -> None:
    facts = read(data)
    assert decode(encode(facts)) == facts
    assert read_encoded(data, "go") == encode(facts)


def test_bom_crlf_and_wide_text_keep_byte_offsets() -> None:
    data = '\ufeffpackage p\r\n\r\n// wörld\r\nvar été = f("ünï", `a\r\nb`)\r\n'.encode()
    facts = read(data)
    assert facts.package == "p" and facts.errors == ()
    (statement,) = decode_block(facts.bodies[0])
    assert unplaced(statement) == declare(ref("été"), call("f", lit("ünï"), lit("a\nb")))
    assert data[statement.at : statement.end].decode().startswith("été = f(")
    # The same without a wide name takes the quicker way.
    facts = read(data.replace("été".encode(), b"ete"))
    assert unplaced(decode_block(facts.bodies[0])) == (declare(ref("ete"), call("f", lit("ünï"), lit("a\nb"))),)


def test_strings_with_bytes_that_are_no_text() -> None:
    facts = read(b'package p\nvar x = "\xe9\xff"\n')
    (statement,) = decode_block(facts.bodies[0])
    assert isinstance(statement, Assign) and isinstance(statement.value, Lit) and statement.value.value == "\ufffd\ufffd"
    assert decode(encode(facts)) == facts


DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "x = " + "(" * n + "a" + ")" * n,
    "calls": lambda n: "f(" * n + "a" + ")" * n,
    "chain of calls": lambda n: "a" + ".b()" * n,
    "blocks": lambda n: "if a {" * n + "b()" + "}" * n,
    "else if": lambda n: "if a {}" + " else if b {}" * n,
    "switches": lambda n: "switch { case a:\n" * n + "b()" + "}" * n,
    "selects": lambda n: "select { case <-a:\n" * n + "b()" + "}" * n,
    "literals": lambda n: "x = " + "T{a: " * n + "b" + "}" * n,
    "functions": lambda n: "f(func() {" * n + "b()" + "})" * n,
    "operators to the right": lambda n: "x = " + "a - (" * n + "b" + ")" * n,
    "negations": lambda n: "x = " + "!" * n + "a",
    "labels": lambda n: "".join(f"L{i}: " for i in range(n)) + "for {}",
    "types": lambda n: "var x " + "func(" * n + ")" * n,
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
        facts = read(("package p\nfunc f() {\n" + DEEP[name](depth) + "\n}\nfunc after() { g() }\n").encode())
        # A caller deep in its own recursion still gets the bodies.
        deeper(200, facts)
        assert facts.functions[-1].calls == ("g",)
        if depth < MAX_DEPTH // 2:
            assert facts.errors == ()
        if depth == 3000:
            assert any("nested too deeply" in error.message for error in facts.errors)


def test_long_chains_of_operators_keep_every_operand() -> None:
    source = "package p\nvar x = a0()" + "".join(f" + a{i}()" for i in range(1, 3000)) + "\nvar y = b0()"
    source += "".join(f" {'+-'[i % 2]} b{i}()" for i in range(1, 3000)) + "\n"
    facts = facts_of(source)
    assert facts.errors == () and len(facts.functions[0].calls) == 6000
    first, second = decode_block(facts.bodies[0])
    assert isinstance(first, Assign) and isinstance(first.value, Bin) and isinstance(second, Assign)
    written = source[first.value.at : first.value.end]
    assert written.startswith("a0() +") and written.endswith("a2999()")
    calls = sorted((node for node in nodes(first) if isinstance(node, Call)), key=lambda node: node.at)
    assert [node.fn.name for node in calls if isinstance(node.fn, Ref)] == [f"a{i}" for i in range(3000)]
    assert isinstance(second.value, Opaque) and len(second.value.children) == 3000


def test_reading_does_not_depend_on_what_was_read_before() -> None:
    sources = [CLIENT, "package p\nvar x [", "package p\nfunc f(a map[string]) (T {}\n", "package p\nvar y *http.Client\n"]
    first = [encode(read(s.encode())) for s in sources]
    assert [encode(read(s.encode())) for s in reversed(sources)] == first[::-1]


def test_cut_and_spliced_files_never_raise() -> None:
    rng = random.Random(7)
    marks = [*"{}()[]\"`',.\n\0é", "func ", "case ", "select {", "<-", ":=", "/*", "new(", "T["]
    for _ in range(300):
        text = CLIENT
        for _ in range(rng.randrange(1, 8)):
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(marks) + text[at + rng.randrange(3) * rng.randrange(20) :] or " "
        data = text.encode()
        facts = read(data)
        assert decode(encode(facts)) == facts and len(facts.functions) == len(facts.bodies)
        places: list[Function | Class | Import] = [*facts.functions, *facts.classes, *facts.imports]
        every = [node for raw in facts.bodies for node in nodes(decode_block(raw))]
        assert all(0 <= place.at <= place.end <= len(data) for place in [*places, *every])
