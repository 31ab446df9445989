"""The Python reader: what each construct becomes, where it stands, and what broken or hostile input gives."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest
from resilint import facts as f
from resilint.discover import is_generated
from resilint.facts import Block, Call, Class, FileFacts, Function, Param, Type, decode, decode_block, encode
from resilint.read import read as read_encoded
from resilint.read.python import MAX_DEPTH, parse_type, read

# ---------------------------------------------------------------- showing facts as text


def show(node: Any) -> str:
    """An expression as text that tells its structure: operators in brackets, `~` for Opaque, `⟨…⟩` for a base that is no name."""
    match node:
        case None:
            return "-"
        case f.Lit(value=value):
            return repr(value)
        case f.Ref(name=name):
            return name
        case f.Field(base=base, name=name):
            return f"⟨{show(base)}⟩.{name}"
        case f.Index(base=base, key=key):
            return f"{show(base)}[{show(key)}]"
        case f.Slice(base=base, lo=low, hi=high):
            return f"{show(base)}[{show(low)}:{show(high)}]"
        case f.Call(fn=fn, args=args):
            return f"{show(fn)}({', '.join(map(show, args))})"
        case f.Arg(value=value, name=name, spread=spread):
            return (f"{name}=" if name else "*" * spread) + show(value)
        case f.Pair(value=value, key=key, spread=spread):
            return (f"{show(key)}: " if key is not None else "*" * spread) + show(value)
        case f.Coll(kind=kind, items=items, size=size):
            return f"{kind}{size}<{', '.join(map(show, items))}>"
        case f.Comp(kind=kind, elt=element, gens=gens, key=key):
            clauses = "".join(
                f" {'async ' if gen.is_async else ''}for {show(gen.target)} in {show(gen.iter)}"
                + "".join(f" if {show(test)}" for test in gen.conds)
                for gen in gens
            )
            return f"{kind}<{f'{show(key)}: ' if key is not None else ''}{show(element)}{clauses}>"
        case f.Fn(index=index):
            return f"fn{index}"
        case f.Bin(op=operator, left=left, right=right):
            return f"[{show(left)} {operator} {show(right)}]"
        case f.Un(op=operator, value=value):
            return f"[{operator} {show(value)}]"
        case f.Cond(test=test, then=then, orelse=orelse):
            return f"[{show(then)} if {show(test)} else {show(orelse)}]"
        case f.Cast(type=kind, value=value):
            return f"cast<{kind.name}>({show(value)})"
        case f.Fmt(parts=parts):
            return f"fmt<{' '.join(map(show, parts))}>"
        case f.Let(target=target, value=value):
            return f"[{show(target)} := {show(value)}]"
        case f.Await(value=value):
            return f"await {show(value)}"
        case f.Yield(value=value, delegate=delegate):
            return f"yield{' from' if delegate else ''} {show(value)}"
        case f.Is(value=value, types=types):
            return f"[{show(value)} is a {'|'.join(kind.name for kind in types)}]"
        case f.Opaque(children=children):
            return f"~({', '.join(map(show, children))})"
    raise AssertionError(node)


def lines(block: Block) -> list[Any]:
    """A block: one text per statement, lists for the blocks in it."""
    found: list[Any] = []
    for statement in block:
        found.extend(_lines(statement))
    return found


def _lines(statement: Any) -> list[Any]:
    match statement:
        case f.Assign(targets=targets, op=operator, value=value, declares=declares, type=kind):
            names = " = ".join(map(show, targets))
            written = f": {kind.name}" if kind else ""
            assert declares == bool(kind)
            return [f"{names}{written} {operator}= {show(value)}"]
        case f.Do(value=value):
            return [show(value)]
        case f.Return(value=value):
            return [f"return {show(value)}"]
        case f.Raise(value=value, cause=cause):
            return [f"raise {show(value)} from {show(cause)}"]
        case f.Jump(kind=kind):
            return [kind]
        case f.If(test=test, then=then, orelse=orelse):
            return [f"if {show(test)}", lines(then)] + (["else", lines(orelse)] if orelse else [])
        case f.Switch(subject=subject, cases=cases):
            return [f"switch {show(subject)}"] + [
                part for case in cases for part in (f"case {' | '.join(map(show, case.tests))}".strip(), lines(case.body))
            ]
        case f.Loop(form=form, test=test, target=target, iter=over, body=body, orelse=orelse, is_async=is_async):
            head = {"ever": "ever", "while": f"while {show(test)}", "each": f"each {show(target)} in {show(over)}"}[form]
            return [("async " if is_async else "") + head, lines(body)] + (["else", lines(orelse)] if orelse else [])
        case f.Try(body=body, handlers=handlers, orelse=orelse, final=final):
            found: list[Any] = ["try", lines(body)]
            for handler in handlers:
                found += [f"except {' '.join(map(show, handler.types))} as {handler.name}", lines(handler.body)]
            return found + (["else", lines(orelse)] if orelse else []) + (["finally", lines(final)] if final else [])
        case f.With(items=items, body=body, is_async=is_async):
            heads = ", ".join(f"{show(item.value)} as {show(item.target)}" for item in items)
            return [f"{'async ' if is_async else ''}with {heads}", lines(body)]
        case f.Def(kind=kind, index=index, name=name):
            return [f"{kind} {index} {name}"]
        case f.Scope(kind=kind, names=names):
            return [f"{kind} {' '.join(names)}"]
        case f.Delete(targets=targets):
            return [f"del {', '.join(map(show, targets))}"]
    raise AssertionError(statement)


def code(source: str) -> FileFacts:
    facts = read(dedent(source).encode())
    assert decode(encode(facts)) == facts
    return facts


def module(source: str) -> list[Any]:
    facts = code(source)
    assert facts.errors == ()
    return lines(decode_block(facts.bodies[0]))


def value(source: str) -> str:
    (line,) = module(f"x = {source}\n")
    assert isinstance(line, str) and line.startswith("x = ")
    return line.removeprefix("x = ")


def function(facts: FileFacts, qual: str) -> Function:
    (found,) = (entry for entry in facts.functions if entry.qual == qual)
    return found


def body(facts: FileFacts, qual: str) -> list[Any]:
    return lines(decode_block(facts.bodies[facts.functions.index(function(facts, qual))]))


def cls(facts: FileFacts, qual: str) -> Class:
    (found,) = (entry for entry in facts.classes if entry.qual == qual)
    return found


# ---------------------------------------------------------------- expressions


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # literals
        ("None", "None"),
        ("True", "True"),
        ("1_000", "1000"),
        ("0x1F", "31"),
        ("0o17", "15"),
        ("0b101", "5"),
        ("0", "0"),
        ("7", "7"),
        ("10L", "10"),
        ("0777", "511"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9.223372036854776e+18"),
        ("0x" + "f" * 400, "inf"),
        ("1.5e3", "1500.0"),
        ("1_0.5", "10.5"),
        ("3j", "~()"),
        ("...", "~()"),
        # text
        ("'a'", "'a'"),
        ("''", "''"),
        ('""', "''"),
        ('"""a\nb"""', "'a\\nb'"),
        ("''''''", "''"),
        ("'''a'b'''", '"a\'b"'),
        (r"'a\tb\x41\u00e9\101\N{BULLET}'", "'a\\tbAéA•'"),
        (r"r'a\tb'", r"'a\\tb'"),
        (r"'\d'", r"'\\d'"),
        (r"'\ud800'", "'\ufffd'"),
        (r"b'\xff\u00e9'", r"'ÿ\\u00e9'"),
        ("'a\\\nb'", "'ab'"),
        ("'a' \"b\"", "'ab'"),
        ("('a'\n  # why\n  'b')", "'ab'"),
        ("f'plain'", "'plain'"),
        ("f'{{x}}'", "'{x}'"),
        ("f'a{b}c{d.e()}'", "fmt<'a' b 'c' d.e()>"),
        ("f'{b!r:>10}'", "fmt<b>"),
        ("f'{b:{w}}'", "fmt<~(b, w)>"),
        ("f'{b=}'", "fmt<b>"),
        ("f'{a, b}'", "fmt<tuple2<a, b>>"),
        ("f'{\"lit\"}'", "fmt<'lit'>"),
        ("f'https://{host}' '/v1' f'/{id}'", "fmt<'https://' host '/v1/' id>"),
        ("'%s' % y", "['%s' % y]"),
        ("'a' + b", "['a' + b]"),
        ("'{}'.format(a)", "⟨'{}'⟩.format(a)"),
        # names, attributes, calls
        ("self.http.timeout", "self.http.timeout"),
        ("naïve.ключ", "naïve.ключ"),
        ("(a).b", "a.b"),
        ("a . b", "a.b"),
        ("a().b.c", "⟨⟨a()⟩.b⟩.c"),
        ("a[0].b", "⟨a[0]⟩.b"),
        ("f(1, *a, k=2, **c)", "f(1, *a, k=2, **c)"),
        ("f(k = 2)", "f(k=2)"),
        ("f(k # why\n = 2)", "f(k=2)"),
        ("f(x for x in y)", "f(gen<x for x in y>)"),
        ("f(a)(b)", "f(a)(b)"),
        ("f()", "f()"),
        ("f(a, # first\n  b)", "f(a, b)"),
        ("a.b(c).d(e)", "⟨a.b(c)⟩.d(e)"),
        ("a[i]", "a[i]"),
        ("a[1:2]", "a[1:2]"),
        ("a[:n]", "a[-:n]"),
        ("a[n:]", "a[n:-]"),
        ("a[::2]", "a[-:-]"),
        ("a[::f()]", "a[~(f())]"),
        ("a[i, j]", "a[tuple2<i, j>]"),
        ("a[i,]", "a[tuple1<i>]"),
        ("a[1:2, ::3]", "a[tuple2<~(1, 2), ~(3)>]"),
        # collections
        ("[1, *a]", "list-1<1, *a>"),
        ("(1, 2)", "tuple2<1, 2>"),
        ("()", "tuple0<>"),
        ("1, 2", "tuple2<1, 2>"),
        ("1,", "tuple1<1>"),
        ("{1, 2}", "set2<1, 2>"),
        ("{*f()}", "set-1<*f()>"),
        ("[*a.b()]", "list-1<*a.b()>"),
        ("{}", "map0<>"),
        ("{'a': 1, **b}", "map-1<'a': 1, **b>"),
        ("[f(x) for x in xs if x if y for z in x]", "list<f(x) for x in xs if x if y for z in x>"),
        ("{x for x, *y in xs}", "set<x for tuple-1<x, *y> in xs>"),
        ("{k: v for k, v in d.items()}", "map<k: v for tuple2<k, v> in d.items()>"),
        ("(x for x in xs)", "gen<x for x in xs>"),
        ("[x async for x in xs]", "list<x async for x in xs>"),
        # operators
        ("a + b * c", "[a + [b * c]]"),
        ("a - b - c", "[[a - b] - c]"),
        ("(a + b) * c", "[[a + b] * c]"),
        ("a or b and not c", "[a or [b and [not c]]]"),
        ("a and b and c", "[[a and b] and c]"),
        ("-a ** ~b", "[- [a ** [~ b]]]"),
        ("a @ b // c", "[[a @ b] // c]"),
        ("a < b", "[a < b]"),
        ("a < b() <= c", "[[a < b()] and [b() <= c]]"),
        ("a <> b", "[a != b]"),
        ("a not  in b", "[a not in b]"),
        ("a is not None", "[a is not None]"),
        ("a if b else c", "[a if b else c]"),
        ("(y := f())", "[y := f()]"),
        ("await f()", "await f()"),
        ("isinstance(e, Timeout)", "[e is a Timeout]"),
        ("isinstance(e, (a.B, C))", "[e is a a.B|C]"),
        ("isinstance(e, A | None)", "[e is a A|None]"),
        ("isinstance(e, kinds())", "isinstance(e, kinds())"),
        ("int(y)", "cast<int>(y)"),
        ("float(y())", "cast<float>(y())"),
        ("int(y, 16)", "int(y, 16)"),
        ("int(*y)", "int(*y)"),
        ("str(y, encoding=e)", "str(y, encoding=e)"),
        ("str()", "str()"),
        ("lambda: 0", "fn1"),
    ],
)
def test_expression(source: str, expected: str) -> None:
    assert value(source) == expected


def test_every_piece_of_a_call_has_its_place() -> None:
    source = b"r = requests.get(base + '/x', timeout=(3, self.read), **opts)  # comment\n"
    (assign,) = decode_block(read(source).bodies[0])
    assert isinstance(assign, f.Assign) and isinstance(assign.value, f.Call)

    def text(node: f.Node) -> str:
        return source[node.at : node.end].decode()

    call = assign.value
    assert text(assign) == "r = requests.get(base + '/x', timeout=(3, self.read), **opts)"
    assert text(assign.targets[0]) == "r"
    assert text(call.fn) == "requests.get"
    assert [text(arg.value) for arg in call.args] == ["base + '/x'", "(3, self.read)", "opts"]
    assert call == f.Call(
        4,
        61,
        f.Ref(4, 16, "requests.get"),
        (
            f.Arg(f.Bin(17, 28, "+", f.Ref(17, 21, "base"), f.Lit(24, 28, "/x"))),
            f.Arg(
                f.Coll(38, 52, "tuple", (f.Pair(f.Lit(39, 40, 3)), f.Pair(f.Ref(42, 51, "self.read"))), 2),
                "timeout",
            ),
            f.Arg(f.Ref(56, 60, "opts"), None, 2),
        ),
    )


@pytest.mark.parametrize(
    "source",
    [
        "class Pair[\n    K: Value = Text,  # = as ever\n    V = dict[str, int],\n](Value[tuple[K, V]]):\n    size = 2\n",
        "def first[T = int](xs: list[T], n: int = 1) -> T:\n    return xs[n - 1]\n",
        "type Names[T = str] = list[T]\n",
        "def run[**P = [int, str]](*args: P.args) -> None:\n    go(args)\n",
    ],
)
def test_defaults_of_type_parameters_are_no_error_and_move_nothing(source: str) -> None:
    facts = read(source.encode())
    assert not facts.errors
    plain = read(source.replace(" = Text", "       ").replace(" = dict[str, int]", " " * 17).replace(" = int]", "      ]").encode())
    assert [(fn.name, fn.at, fn.end) for fn in facts.functions] == [(fn.name, fn.at, fn.end) for fn in plain.functions]
    assert all(fn.end <= len(source) for fn in facts.functions)


def test_an_unfinished_list_of_type_parameters_is_an_error() -> None:
    assert read(b"class Pair[K = ]:\n    pass\n").errors
    assert read(b"class Pair[K = int:\n    pass\n").errors


def test_places_count_bytes() -> None:
    source = "ü = 'ä'; größe = f()\r\nz = größe\r\n".encode()
    block = decode_block(read(source).bodies[0])
    assert [source[statement.at : statement.end].decode() for statement in block] == ["ü = 'ä'", "größe = f()", "z = größe"]


def test_large_collections_keep_64_items_and_all_names() -> None:
    facts = code("TABLE = {" + ", ".join(f"'k{i}': handle_{i}(x)" for i in range(100)) + "}\n")
    (assign,) = decode_block(facts.bodies[0])
    assert isinstance(assign, f.Assign) and isinstance(assign.value, f.Coll)
    assert assign.value.size == 100 and len(assign.value.items) == 64
    assert "handle_99" in facts.functions[0].calls


# ---------------------------------------------------------------- statements


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b = f()", ["a = b = f()"]),
        ("a, *b = c", ["tuple-1<a, *b> = c"]),
        ("(a, b), c = d", ["tuple2<tuple2<a, b>, c> = d"]),
        ("[a] = b", ["tuple1<a> = b"]),
        ("a, = b", ["tuple1<a> = b"]),
        ("(a) = b", ["a = b"]),
        ("self.x = y[0] = 1", ["self.x = y[0] = 1"]),
        ("f().x = 1", ["⟨f()⟩.x = 1"]),
        ("x: int = 3", ["x: int = 3"]),
        ("x: int", ["x: int = -"]),
        ("x += 1", ["x += 1"]),
        ("x //= f()", ["x //= f()"]),
        ("type(x).y = z()", ["⟨type(x)⟩.y = z()"]),
        ("del a, b[0]", ["del a, b[0]"]),
        ("del (a), b.c", ["del a, b.c"]),
        ("global a, b", ["global a b"]),
        ("'docstring'", []),
        ("'doc' 'string'", []),
        ("f'{x()}'", ["fmt<x()>"]),
        ("...", []),
        ("pass", []),
        ("a", ["a"]),
        ("a, b()", ["tuple2<a, b()>"]),
        ("f(); g()", ["f()", "g()"]),
        ("assert a == 1", []),
        ("assert f(a), g", ["~(f(a), g)"]),
        ("type X = int", []),
        ("import a", []),
        ("raise", ["raise - from -"]),
        ("raise A(b) from None", ["raise A(b) from None"]),
        ("raise A from e", ["raise A from e"]),
        ("raise A, 'x'", ["raise A('x') from -"]),
        ("print 'a' % f()", ["~(['a' % f()])"]),
        ("print >>log, f()", ["~(~(log), f())"]),
        ("exec code in scope()", ["~(code, scope())"]),
        ("if a: f()", ["if a", ["f()"]]),
        ("if a:\n  f()\nelif b:\n  g()\nelse:\n  h()", ["if a", ["f()"], "else", ["if b", ["g()"], "else", ["h()"]]]),
        ("if a: # why\n  f()\n# or\nelse:\n  g()", ["if a", ["f()"], "else", ["g()"]]),
        ("while True:\n  break", ["ever", ["break"]]),
        ("while 1:\n  continue", ["ever", ["continue"]]),
        ("while x:\n  f()\nelse:\n  g()", ["while x", ["f()"], "else", ["g()"]]),
        ("for x in xs:\n  f(x)\nelse:\n  g()", ["each x in xs", ["f(x)"], "else", ["g()"]]),
        ("for i, (a, b) in f(), g():\n  pass", ["each tuple2<i, tuple2<a, b>> in tuple2<f(), g()>", []]),
        ("for x, in xs: pass", ["each tuple1<x> in xs", []]),
        ("with a: f()", ["with a as -", ["f()"]]),
        ("with a() as b, c as (d, e): pass", ["with a() as b, c as tuple2<d, e>", []]),
        ("with (a() as b, c): pass", ["with a() as b, c as -", []]),
        ("with (a() as b): pass", ["with a() as b", []]),
        ("with (yield): pass", ["with yield - as -", []]),
        (
            "try:\n  f()\nexcept (A, b.C) as e:\n  g()\nexcept D: pass\nexcept:\n  raise\nelse:\n  h()\nfinally:\n  i()",
            [
                *("try", ["f()"], "except A b.C as e", ["g()"], "except D as None", [], "except  as None", ["raise - from -"]),
                *("else", ["h()"], "finally", ["i()"]),
            ],
        ),
        ("try: f()\nexcept* A as e: pass", ["try", ["f()"], "except A as e", []]),
        ("try: f()\nexcept A, e: pass", ["try", ["f()"], "except A as e", []]),
        ("try: f()\nexcept A, b.C: pass", ["try", ["f()"], "except A b.C as None", []]),
    ],
)
def test_statement(source: str, expected: list[Any]) -> None:
    assert module(source + "\n") == expected


def test_match() -> None:
    source = """
        match event:
            case 1 | "a": one()
            case -1: pass
            case Http.OK: ok()
            case Click(pos=p) as c if p: click()
            case [a, *rest]: many()
            case {"k": str()}: pass
            case None: pass
            case other: last(other)
        match x, y:
            case _, 1: pass
            case _: pass
        match kind():
            case _ if ready(): pass
            case (1 | 2): pass
        """
    assert module(source) == [
        "switch event",
        "case 1 | 'a'",
        ["one()"],
        "case [- 1]",
        [],
        "case Http.OK",
        ["ok()"],
        "case [[event is a Click] and p]",
        ["c = event", "p = ~()", "click()"],
        "case ~(~())",
        ["a = ~()", "rest = ~()", "many()"],
        "case ~('k', [~() is a str])",
        [],
        "case None",
        [],
        "case",
        ["other = event", "last(other)"],
        "switch tuple2<x, y>",
        "case ~(1)",
        [],
        "case",
        [],
        "switch kind()",
        "case [~() and ready()]",
        [],
        "case 1 | 2",
        [],
    ]


def test_long_elif_chain_is_a_switch_over_conditions() -> None:
    source = "if a:\n  f()\n" + "".join(f"elif b == {i}:\n  g({i})\n" for i in range(500)) + "else:\n  h()\n"
    (switch,) = decode_block(read(source.encode()).bodies[0])
    assert isinstance(switch, f.Switch) and switch.subject is None
    assert len(switch.cases) == 502
    assert show(switch.cases[1].tests[0]) == "[b == 0]"
    assert switch.cases[-1].tests == () and lines(switch.cases[-1].body) == ["h()"]


# ---------------------------------------------------------------- functions

SERVICE = '''
    """Orders."""
    from __future__ import annotations

    import os.path, requests as http
    import concurrent.futures
    from ..db import (connect as open_db, Session)
    from . import settings
    from .models import *

    try:
        import ujson as json
    except ImportError:
        import json

    __all__ = ["Client", "handle"]
    __all__ += ("later",)

    TIMEOUT = float(os.environ.get("TIMEOUT", "5"))
    retry = lambda n, *, k=TIMEOUT: n * k

    @decorate(limit=max(1, 2))
    class Client(Base, abc.ABC, metaclass=Meta, **extra):
        """A client."""

        timeout: float = TIMEOUT
        retries = attempts = 3
        name: str
        low, high = 1, make_high()
        a, b = pair()
        handler = lambda self: self.name
        register("client")
        if DEBUG:
            verbose = True

            def trace(self): ...

        def __init__(self, session=None, /, pool: int = compute(), *args: str, key, **kwargs) -> None:
            self.session = session or http.Session()
            self.opts, self.pool.size = kwargs, pool

        @property
        def url(self) -> str | None:
            """Where it is."""
            return self._url

        @url.setter
        def url(self, value):
            self._url = value

        @staticmethod
        def build(config):
            return Client(config)

        @classmethod
        async def fetch(cls, *, limit=10):
            import asyncio

            async with cls.gate as slot, other():
                async for row in rows():
                    yield row
            await asyncio.gather(*[one(x) for x in range(limit)])

        @abc.abstractmethod
        def close(self): return None

        def later(self):
            """Not yet."""
            raise NotImplementedError("later")

        class Inner:
            depth = 1

            def deep(self): pass

    async def handle(request):
        def on_error(problem, log=logger.error):
            nonlocal count
            callbacks.append(on_done)
            yield from log(problem)

        class Local(Client):
            def run(self): return self.client().send(request)

        return Local().run, {"error": on_error, "wrap": functools.partial(send, timeout=3)}
    '''


@pytest.fixture(scope="module")
def service() -> FileFacts:
    facts = code(SERVICE)
    assert facts.errors == ()
    return facts


def test_functions_in_order(service: FileFacts) -> None:
    assert [(fn.qual, fn.kind, fn.owner, fn.parent) for fn in service.functions] == [
        ("<module>", "module", -1, -1),
        ("<lambda1>", "lambda", -1, 0),
        ("Client.<lambda1>", "lambda", 0, 0),
        ("Client.trace", "method", 0, 0),
        ("Client.__init__", "method", 0, 0),
        ("Client.url", "method", 0, 0),
        ("Client.url", "method", 0, 0),
        ("Client.build", "method", 0, 0),
        ("Client.fetch", "method", 0, 0),
        ("Client.close", "method", 0, 0),
        ("Client.later", "method", 0, 0),
        ("Client.Inner.deep", "method", 1, 0),
        ("handle", "free", -1, 0),
        ("handle.on_error", "free", -1, 12),
        ("handle.Local.run", "method", 2, 12),
    ]


def test_module_body(service: FileFacts) -> None:
    assert lines(decode_block(service.bodies[0])) == [
        "try",
        [],
        "except ImportError as None",
        [],
        "__all__ = list2<'Client', 'handle'>",
        "__all__ += tuple1<'later'>",
        "TIMEOUT = cast<float>(os.environ.get('TIMEOUT', '5'))",
        "retry = fn1",
        # from the body of the class
        "pair()",
        "register('client')",
        "if DEBUG",
        [],
        "class 0 Client",
        "function 12 handle",
    ]


def test_imports(service: FileFacts) -> None:
    written = [(i.target, i.name, i.alias, i.level, i.function, i.guarded, i.explicit) for i in service.imports]
    assert written == [
        ("__future__", "annotations", "annotations", 0, 0, False, False),
        ("os.path", "", "os", 0, 0, False, False),
        ("requests", "", "http", 0, 0, False, True),
        ("concurrent.futures", "", "concurrent", 0, 0, False, False),
        ("db", "connect", "open_db", 2, 0, False, True),
        ("db", "Session", "Session", 2, 0, False, False),
        ("", "settings", "settings", 1, 0, False, False),
        ("models", "*", "*", 1, 0, False, False),
        ("ujson", "", "json", 0, 0, True, True),
        ("json", "", "json", 0, 0, True, False),
        ("asyncio", "", "asyncio", 0, 8, False, False),
    ]
    source = dedent(SERVICE)
    assert source[service.imports[4].at : service.imports[4].end] == "connect as open_db"


def test_exports(service: FileFacts) -> None:
    assert service.exports == ("Client", "handle", "later")
    assert code("x = 1\n").exports is None
    assert code("__all__ = a + b\n").exports is None
    assert code("__all__ = [" + ", ".join(f"'n{i}'" for i in range(100)) + "]\n").exports == tuple(f"n{i}" for i in range(100))


def test_classes(service: FileFacts) -> None:
    source = dedent(SERVICE)
    client = cls(service, "Client")
    assert (client.name, client.kind, client.parent, client.outer) == ("Client", "class", 0, -1)
    assert source[client.at :].startswith("@decorate(limit")
    assert source[client.name_at :].startswith("Client(Base")
    assert list(map(show, client.bases)) == ["Base", "abc.ABC"]
    assert list(map(show, client.keywords)) == ["metaclass=Meta", "**extra"]
    assert list(map(show, client.decorators)) == ["decorate(limit=max(1, 2))"]
    assert [(field.name, field.type.name if field.type else "", show(field.init)) for field in client.fields] == [
        ("timeout", "float", "TIMEOUT"),
        ("retries", "", "3"),
        ("attempts", "", "3"),
        ("name", "str", "-"),
        ("low", "", "1"),
        ("high", "", "make_high()"),
        ("a", "", "-"),
        ("b", "", "-"),
        ("handler", "", "fn2"),
        ("verbose", "", "True"),
    ]
    assert source[client.fields[0].at : client.fields[0].end] == "timeout: float = TIMEOUT"
    assert client.methods == (3, 4, 5, 6, 7, 8, 9, 10)
    inner = cls(service, "Client.Inner")
    assert (inner.outer, inner.parent, inner.methods, inner.fields[0].name) == (0, 0, (11,), "depth")
    local = cls(service, "handle.Local")
    assert (local.outer, local.parent, local.methods) == (-1, 12, (14,))


def test_parameters_and_marks(service: FileFacts) -> None:
    init = function(service, "Client.__init__")
    assert [(p.name, p.kind, p.type.name if p.type else "", show(p.default)) for p in init.params] == [
        ("self", "self", "", "-"),
        ("session", "posonly", "", "None"),
        ("pool", "pos", "int", "compute()"),
        ("args", "*", "str", "-"),
        ("key", "kw", "", "-"),
        ("kwargs", "**", "", "-"),
    ]
    assert init.returns == (Type("None"),)
    assert init.writes == ("opts", "session", "size")
    getter, setter = (fn for fn in service.functions if fn.qual == "Client.url")
    assert getter.is_property and getter.returns == (Type("str", (), "opt"),) and not getter.is_abstract
    assert not setter.is_property and list(map(show, setter.decorators)) == ["url.setter"]
    build = function(service, "Client.build")
    assert build.is_static and build.params == (Param("config", "pos"),)
    fetch = function(service, "Client.fetch")
    assert fetch.is_class and fetch.is_async and fetch.is_generator
    assert [(p.name, p.kind) for p in fetch.params] == [("cls", "self"), ("limit", "kw")]
    assert function(service, "Client.close").is_abstract
    assert function(service, "Client.later").is_abstract
    assert function(service, "Client.trace").is_abstract
    assert not function(service, "handle").is_abstract
    assert not function(service, "handle").is_generator and function(service, "handle.on_error").is_generator
    source = dedent(SERVICE)
    assert source[fetch.at : fetch.end].startswith("@classmethod\n") and source[fetch.end :].startswith("\n\n    @abc")
    assert source[fetch.name_at :].startswith("fetch(cls")


def test_bodies(service: FileFacts) -> None:
    assert body(service, "Client.__init__") == [
        "self.session = [session or http.Session()]",
        "tuple2<self.opts, self.pool.size> = tuple2<kwargs, pool>",
    ]
    assert body(service, "Client.fetch") == [
        "async with cls.gate as slot, other() as -",
        ["async each row in rows()", ["yield row"]],
        "await asyncio.gather(*list<one(x) for x in range(limit)>)",
    ]
    assert body(service, "handle") == [
        "function 13 on_error",
        "class 2 Local",
        "return tuple2<⟨Local()⟩.run, map2<'error': on_error, 'wrap': functools.partial(send, timeout=3)>>",
    ]
    assert body(service, "handle.on_error") == ["nonlocal count", "callbacks.append(on_done)", "yield from log(problem)"]
    assert body(service, "<lambda1>") == ["return [n * k]"]
    assert body(service, "handle.Local.run") == ["return ⟨self.client()⟩.send(request)"]


def test_names_of_bodies(service: FileFacts) -> None:
    top = service.functions[0]
    assert top.calls == ("compute", "decorate", "make_high", "max", "os.environ.get", "pair", "register")
    # defaults, decorators, bases and annotations belong to the scope around
    assert {"TIMEOUT", "Base", "Meta", "property", "staticmethod", "url.setter", "abc.abstractmethod", "DEBUG"} <= set(top.values)
    assert function(service, "handle").calls == ("Local", "functools.partial")
    assert {"on_error", "send", "logger.error", "Client"} <= set(function(service, "handle").values)
    assert function(service, "handle.on_error").calls == ("callbacks.append", "log")
    assert function(service, "handle.on_error").values == ("on_done", "problem")
    assert function(service, "handle.Local.run").calls == (".send", "self.client")
    assert function(service, "Client.fetch").calls == ("asyncio.gather", "one", "other", "range", "rows")


def test_lambdas_are_numbered_within_their_scope() -> None:
    facts = code("a = lambda: (lambda: b())\ndef f():\n  return lambda x, (y, z)=1: x(), lambda: 2\n")
    assert [(fn.qual, fn.parent, fn.calls) for fn in facts.functions if fn.kind == "lambda"] == [
        ("<lambda1>", 0, ()),
        ("<lambda1>.<lambda1>", 1, ("b",)),
        ("f.<lambda1>", 3, ("x",)),
        ("f.<lambda2>", 3, ()),
    ]


def test_depends_in_annotated_leaves_its_names() -> None:
    facts = code("def route(db: Annotated[Session, Depends(get_db)], q: Literal['(']): pass\n")
    assert facts.functions[1].params[0].type == Type("Session")
    assert facts.functions[0].calls == ("Depends",) and "get_db" in facts.functions[0].values


def test_calls_in_the_metadata_of_a_parameter_are_kept_with_it() -> None:
    facts = code(
        "def route(db: typing.Annotated[Session, Depends(get_db), 'x'] = 1, n: int = 2, m: Annotated[int, Gt(0), Lt(9)]): pass\n"
    )
    assert [[getattr(d.fn, "name", "") for d in p.decorators if isinstance(d, Call)] for p in facts.functions[1].params] == [
        ["Depends"],
        [],
        ["Gt", "Lt"],
    ]


# ---------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int", Type("int")),
        ("a.b.C", Type("a.b.C")),
        ("None", Type("None")),
        ("Optional[int]", Type("int", (), "opt")),
        ("typing.Optional[list[int]]", Type("list", (Type("int"),), "opt")),
        ("X | None", Type("X", (), "opt")),
        ("None | X", Type("X", (), "opt")),
        ("A | B", Type("Union", (Type("A"), Type("B")))),
        ("Union[A, B, None]", Type("Union", (Type("A"), Type("B")), "opt")),
        ("list[int]", Type("list", (Type("int"),), "list")),
        ("List", Type("List", (), "list")),
        ("collections.abc.Iterable[a.B]", Type("collections.abc.Iterable", (Type("a.B"),), "list")),
        ("tuple[int, ...]", Type("tuple", (Type("int"),), "list")),
        ("tuple[int, str]", Type("tuple", (Type("int"), Type("str")))),
        ("dict[str, list[X]]", Type("dict", (Type("str"), Type("list", (Type("X"),), "list")), "map")),
        ("Mapping[str, int]", Type("Mapping", (Type("str"), Type("int")), "map")),
        ("Callable[[int, str], B]", Type("Callable", (Type("int"), Type("str"), Type("B")), "fn")),
        ("Callable[..., B]", Type("Callable", (Type("..."), Type("B")), "fn")),
        ("Callable", Type("Callable", (), "fn")),
        ("'Client'", Type("Client")),
        ("'Client | None'", Type("Client", (), "opt")),
        ("list['Client']", Type("list", (Type("Client"),), "list")),
        ("Annotated[X, Depends(get), 'x[']", Type("X")),
        ("ClassVar[int]", Type("int")),
        ("Final", Type("Final")),
        ("Literal['a', 1]", Type("Literal")),
        ("Awaitable[X]", Type("Awaitable", (Type("X"),))),
        ("dict[\n    str,  # key\n    int,\n]", Type("dict", (Type("str"), Type("int")), "map")),
        ("(int)", Type("int")),
        ("f(x)", Type("f(x)")),
        ("'not a type'", Type("'not a type'")),
        ("", Type("")),
    ],
)
def test_type(text: str, expected: Type) -> None:
    assert parse_type(text) == expected


# ---------------------------------------------------------------- comments


def test_suppressions_come_from_comments_only() -> None:
    facts = code(
        """
        # resilint: ignore-file[RS701] generated
        x = get()  # resilint: ignore[RS101, RS102] known to be quick
        y = "# resilint: ignore[RS103]"
        """
    )
    assert [(s.line, s.codes, s.reason, s.whole_file, s.own_line) for s in facts.suppressions] == [
        (2, ("RS701",), "generated", True, True),
        (3, ("RS101", "RS102"), "known to be quick", False, False),
    ]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("# Generated by the protocol buffer compiler.  DO NOT EDIT!", True),
        ("# @generated", True),
        ("# -*- coding: utf-8 -*-\n# Generated by Django 4.2 on 2024-01-01", True),
        ("#!/usr/bin/env python\n\n# Automatically generated, DO NOT MODIFY", True),
        ('"""Generated protocol buffer code."""', False),
        ("def order():\n    # the id is generated by the database\n    pass", False),
        ('"""Reads the tokens generated by the tokenizer."""', False),
        ("x = 1" + "\n" * 3000 + "# @generated", False),
    ],
)
def test_generated(head: str, expected: bool) -> None:
    assert code(head + "\n").generated is expected
    assert is_generated(head.encode(), "python") is expected


# ---------------------------------------------------------------- broken and hostile input


def test_unclosed_brackets_take_only_their_statement() -> None:
    facts = code(
        """
        def f():
            before()
            x = call(1,
            return after()

        class A:
            def m(self):
                if check([1:
                    inner()
                with lock: work()

            def n(self): return last()
        """
    )
    assert facts.errors
    assert [(fn.qual, fn.calls) for fn in facts.functions] == [
        ("<module>", ()),
        ("f", ("after", "before")),
        ("A.m", ("work",)),
        ("A.n", ("last",)),
    ]


def test_errors_say_where() -> None:
    source = b"a = 1\nb = = 2\nc = f()\n"
    facts = read(source)
    assert len(facts.errors) == 1
    assert facts.errors[0].message.startswith("syntax error")
    assert source[: facts.errors[0].at].count(b"\n") == 1
    assert "f" in facts.functions[0].calls
    many = read(b"x = = 1\n" * 50)
    assert 1 <= len(many.errors) <= 5


def test_templates_and_python_2_do_not_fail() -> None:
    facts = code("class A:\n    {% if x %}\n    def m(self):\n        {{ body }}\n        call()\n    {% endif %}\n")
    assert function(facts, "A.m").calls == ("call",)
    facts = code("def f(a, (b, c)):\n    print 'x', `a`\n    raise A, 'b', tb()\n")
    assert facts.errors == () and facts.functions[1].calls == ("A", "tb")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\xef\xbb\xbfx = 1\r\ny = 'a\r\nb'\r\n",
        b"x = '\xff\xfe'\ny\xff = f()\n",
        b"x = 1\x00\ny = f()\n",
        b"\x00" * 100,
        bytes(range(256)) * 4,
        b"x = '\\N{nothing}\\x4\\u12'",
        b"def",
        b"class",
        b"def f(",
        b"@",
        b"x = ",
        b"x: ",
        b"from . import",
        b"import",
        b"f'{",
        b"f'{x",
        b"'''",
        b"if x:",
        b"match x:\n case",
        b"with a as : pass",
        b"lambda",
        b"a if b",
        b"{a:}",
        b"[x for]",
        b"try: pass",
        b"x = (yield)",
        b"9" * 10_000,
        b"1e999",
        b"print",
        "\u2028x = 1\n".encode(),
        "x = 1".encode("utf-16"),
    ],
)
def test_any_bytes_give_facts(data: bytes) -> None:
    facts = read(data)
    assert decode(encode(facts)) == facts
    assert facts.functions[0].qual == "<module>" and len(facts.functions) == len(facts.bodies)
    check_spans(facts, data)


def test_a_byte_order_mark_is_no_name() -> None:
    facts = read(b"\xef\xbb\xbfimport a\r\n")
    assert facts.imports[0].target == "a" and facts.imports[0].at == 10 and facts.errors == ()


N = 2000


@pytest.mark.parametrize(
    "source",
    [
        "x=" + "(" * N + "1" + ")" * N,
        "x=" + "[" * N + "]" * N,
        "x=" + "{1:" * N + "1" + "}" * N,
        "x=" + "-" * N + "y",
        "x=" + "not " * N + "y",
        "x=" + "f(" * N + ")" * N,
        "x=" + "int(" * N + "1" + ")" * N,
        "x=a" + ".b()" * N,
        "x=a()" + ".b" * N,
        "x=a" + "[0]" * N,
        "x=" + "lambda:" * N + "1",
        "x=" + "a if b else " * N + "c",
        "x=" + "await " * N + "y",
        "x=" + "(a:=" * N + "1" + ")" * N,
        "x: " + "list[" * N + "int" + "]" * N,
        "(" * N + "a" + ",)" * N + "=1",
        "isinstance(x, " + "(" * N + "A" + ")" * N + ")",
        "match x:\n case " + "[" * N + "]" * N + ": pass",
        "".join(" " * i + "if x:\n" for i in range(300)) + " " * 300 + "f()",
        "".join(" " * i + "def f():\n" for i in range(300)) + " " * 300 + "f()",
        "".join(" " * i + "class f:\n" for i in range(300)) + " " * 300 + "f()",
        "".join(" " * i + "try:\n" for i in range(300)) + " " * 300 + "f()",
        "".join(" " * i + "with f():\n" for i in range(300)) + " " * 300 + "f()",
        "f(" * N,
        "[" * N,
    ],
)
def test_deep_nesting_is_cut_and_said(source: str) -> None:
    data = source.encode()
    facts = read(data)
    if source.startswith("x: "):
        assert facts.errors == ()
    else:
        assert facts.errors, "what is cut must be said"
    check_spans(facts, data)


def test_cut_bodies_can_be_decoded_far_down_the_stack() -> None:
    bodies = [
        read(source.encode()).bodies[0] for source in ("x=" + "[" * 500 + "]" * 500, "x=" + "f(" * 500 + ")" * 500, "if x:\n f()\n")
    ]

    def at_depth(levels: int) -> None:
        if levels:
            at_depth(levels - 1)
        else:
            for raw in bodies:
                decode_block(raw)

    at_depth(400)


@pytest.mark.parametrize("operator", ["+", " or ", " and ", "|", "<", "%"])
def test_long_chains_lose_no_call(operator: str) -> None:
    facts = code("x = " + operator.join(f"f{i}()" for i in range(3000)) + "\n")
    assert facts.errors == ()
    assert len(facts.functions[0].calls) == 3000
    (assign,) = decode_block(facts.bodies[0])
    assert isinstance(assign, f.Assign) and isinstance(assign.value, f.Opaque) and len(assign.value.children) == 3000


def test_short_chains_nest() -> None:
    terms = [f"t{i}" for i in range(100)]
    expected = terms[0]
    for term in terms[1:]:
        expected = f"[{expected} + {term}]"
    assert value(" + ".join(terms)) == expected
    assert MAX_DEPTH > 100


def test_through_the_seam() -> None:
    facts = decode(read_encoded(b"import a\na.f()\n", "python"))
    assert facts.kind == "python" and facts.functions[0].calls == ("a.f",)


# ---------------------------------------------------------------- real files


def check_spans(facts: FileFacts, data: bytes) -> None:
    """Every node lies inside the file and inside the node it belongs to, and all bodies can be decoded."""
    for fn, raw in zip(facts.functions, facts.bodies, strict=True):
        assert 0 <= fn.at <= fn.name_at <= fn.end <= len(data)
        _inside(decode_block(raw), fn.at, fn.end)
        _inside(fn.params, fn.at, fn.end)
        _inside(fn.decorators, fn.at, fn.end)
    for entry in facts.classes:
        _inside((entry.bases, entry.decorators, entry.keywords, entry.fields), entry.at, entry.end)
    for item in facts.imports:
        assert 0 <= item.at <= item.end <= len(data)
    for error in facts.errors:
        assert 0 <= error.at <= len(data)


def _inside(item: Any, at: int, end: int) -> None:
    pending = [(item, at, end)]
    while pending:
        item, at, end = pending.pop()
        if isinstance(item, tuple):
            pending.extend((part, at, end) for part in item)
        elif isinstance(item, msgspec.Struct):
            if isinstance(item, (f.Node, f.Handler, f.ClassField)):
                assert at <= item.at <= item.end <= end, (item, at, end)
                at, end = item.at, item.end
            pending.extend((getattr(item, field), at, end) for field in item.__struct_fields__)


STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize(
    "name", ["argparse.py", "asyncio/base_events.py", "dataclasses.py", "ssl.py", "typing.py", "lib2to3/pgen2/driver.py", "this.py"]
)
def test_real_files(name: str) -> None:
    data = (STANDARD_LIBRARY / name).read_bytes()
    facts = read(data)
    assert facts.errors == ()
    check_spans(facts, data)
    assert read(data) == facts
