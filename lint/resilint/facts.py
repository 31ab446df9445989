"""What is written in a file, in one form for every language: declarations, bodies as trees, settings.

Facts never say what a name means; `link` does. Positions are byte offsets into the file (`at` inclusive, `end` exclusive),
so that a reader needs no line table; `resilint.text` turns them into lines and columns for a finding.
Structs are encoded as arrays; a node's tag is its first element.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec
from msgspec import Struct

READER_VERSION = 11
"""Raised with every change of this module or of a reader: cached facts of another version are not used."""

if TYPE_CHECKING:
    Bodies = Sequence[msgspec.Raw]
    Name = str
    Place = int
else:
    Bodies = tuple[msgspec.Raw, ...]

    class _Anything(type):
        # msgspec asks whether what the hook gave is of the type. The truth is cheapest told by a function written in C.
        __instancecheck__ = id

    class _Places(dict):
        def __missing__(self, number):
            if 0 <= operator.index(number) < _SHARED_PLACES:
                self[number] = number
            return number

    class Name(metaclass=_Anything):
        """Text that is written again and again: decoded, equal ones are one object, as `sys.intern` has it."""

        __class_getitem__ = sys.intern

    class Place(metaclass=_Anything):
        """An offset: decoded, equal ones are one object unless they are large. They are half of what decoded bodies would take."""

        __class_getitem__ = _Places().__getitem__


_SHARED_PLACES = 1 << 16
"""Places below this are one object each: few files are larger, and nobody has to drop any."""


class Node(Struct, frozen=True, gc=False, array_like=True, tag_field="node"):
    """Something written at a place. Offsets are bytes from 0; `end` is the first byte after it."""

    at: Place
    end: Place


# ---------------------------------------------------------------- types as written


class Type(Struct, frozen=True, gc=False, array_like=True):
    """A type as written: dotted name, type arguments, and what is built around it.

    `X | None`, `Optional[X]` is `opt` of X; `*T` is `ptr`; `[]T`, `list[T]` is `list` with T in args; `[3]T` is `array`;
    `map[K]V`, `dict[K, V]` is `map` with K, V; `chan T` is `chan`; `func(A) B`, `Callable[[A], B]` is `fn`.
    `ptr` and `opt` keep the name of what they wrap.
    """

    name: Name
    args: tuple[Type, ...] = ()
    shape: Literal["plain", "ptr", "opt", "list", "array", "map", "chan", "fn", "variadic"] = "plain"


# ---------------------------------------------------------------- expressions


class Lit(Node, frozen=True, tag=1):
    """A literal. Text has its escapes resolved; integers beyond 63 bits are floats."""

    value: bool | int | float | str | None


class Ref(Node, frozen=True, tag=2):
    """A name, or a chain of attributes of a name without any call in it: `self.http.timeout` is one Ref.

    Java: a member of a class around it that this file declares is written out where the source leaves the qualifier away:
    `this.x` of the innermost class, `Outer.this.x` of one further out, `Outer.X` where it is static or a class. A local of the
    same name goes first. Other bare names (inherited, imported) stand as written. `Foo.class` is a Ref.
    """

    name: Name


class Field(Node, frozen=True, tag=3):
    """An attribute of something that is not a plain chain of names: `make().x`, `xs[0].y`.

    Java: `A::b`, `this::f` and `X::new` (name `new`) are always a Field, also of a Ref.
    """

    base: Expr
    name: Name


class Index(Node, frozen=True, tag=4):
    """`base[key]`."""

    base: Expr
    key: Expr


class Slice(Node, frozen=True, tag=5):
    """`base[lo:hi]`."""

    base: Expr
    lo: Expr | None
    hi: Expr | None


class Arg(Struct, frozen=True, gc=False, array_like=True):
    """One argument; `spread` is 1 for `*x` and Go's `x...`, 2 for `**x`."""

    value: Expr
    name: Name | None = None
    spread: int = 0


class Call(Node, frozen=True, tag=6):
    """A call, a construction in a language that writes it as a call, a conversion to a type that is no builtin."""

    fn: Expr
    args: tuple[Arg, ...]


class Pair(Struct, frozen=True, gc=False, array_like=True):
    """An element of a collection or a field of a composite literal. `spread` as in Arg (`*x` in a list, `**x` in a dict)."""

    value: Expr
    key: Expr | None = None
    spread: int = 0


class New(Node, frozen=True, tag=7):
    """A composite literal of a named type: Go `T{A: 1}` and `&T{}` (the span then includes the `&`).

    Field names are `Ref` keys; without keys the fields stand in the order of the declaration.
    Java: an annotation inside another, and `new T[n][m]`, whose fields are the lengths. `new T(x)` is a Call of `T`.
    """

    type: Type
    fields: tuple[Pair, ...]


class Coll(Node, frozen=True, tag=8):
    """A list, tuple, set or map literal. Keeps at most 64 items; `size` counts all (-1: unknown because of a spread)."""

    kind: Literal["list", "tuple", "set", "map"]
    items: tuple[Pair, ...]
    size: int
    type: Type | None = None


class Gen(Struct, frozen=True, gc=False, array_like=True):
    """One `for` of a comprehension."""

    target: Expr
    iter: Expr
    conds: tuple[Expr, ...]
    is_async: bool = False


class Comp(Node, frozen=True, tag=9):
    """A comprehension; `key` only for maps."""

    kind: Literal["list", "set", "map", "gen"]
    elt: Expr
    gens: tuple[Gen, ...]
    key: Expr | None = None


class Fn(Node, frozen=True, tag=10):
    """A lambda or function literal: the function with that index in the file."""

    index: int


class Bin(Node, frozen=True, tag=11):
    """Arithmetic, comparison, `and`/`or`/`&&`/`||` as `and`/`or`, `in`, `is`, `is not`, `not in`."""

    op: Name
    left: Expr
    right: Expr


class Un(Node, frozen=True, tag=12):
    """`-x`, `+x`, `~x`, `not x` (also Go `!x`); Go `*p` is `*`. Go `&x` of a name is `&`."""

    op: Name
    value: Expr


class Cond(Node, frozen=True, tag=13):
    """A conditional expression."""

    test: Expr
    then: Expr
    orelse: Expr


class Cast(Node, frozen=True, tag=14):
    """A conversion or assertion to a type: `int(x)`, `float(x)`, `str(x)`, Go `time.Duration(x)` of builtin or well-known
    basic types, `x.(T)`."""

    type: Type
    value: Expr


class Fmt(Node, frozen=True, tag=15):
    """Text with holes: literal pieces are `Lit`, holes any other expression (f-string, `%`/`.format`/Sprintf stay calls)."""

    parts: tuple[Expr, ...]


class Let(Node, frozen=True, tag=16):
    """Assignment as a value (walrus)."""

    target: Expr
    value: Expr


class Await(Node, frozen=True, tag=17):
    """`await x`."""

    value: Expr


class Recv(Node, frozen=True, tag=18):
    """Go `<-ch`."""

    value: Expr


class Yield(Node, frozen=True, tag=19):
    """`yield x`; `delegate` for `yield from`."""

    value: Expr | None
    delegate: bool = False


class Is(Node, frozen=True, tag=20):
    """A type test: `isinstance(e, T)`, a case of a type switch."""

    value: Expr
    types: tuple[Type, ...]


class Opaque(Node, frozen=True, tag=21):
    """Anything else; its children are kept, so no call is lost."""

    children: tuple[Expr, ...]


Expr = (
    Lit
    | Ref
    | Field
    | Index
    | Slice
    | Call
    | New
    | Coll
    | Comp
    | Fn
    | Bin
    | Un
    | Cond
    | Cast
    | Fmt
    | Let
    | Await
    | Recv
    | Yield
    | Is
    | Opaque
)


# ---------------------------------------------------------------- statements


class Assign(Node, frozen=True, tag=40):
    """`targets` are assigned the same value one after another (`a = b = v`); a tuple target is a `Coll` of kind tuple.

    `op` is empty, or the operator of an augmented assignment without `=` (`+`). `value` is absent for a bare declaration
    (`var x T`, `x: int`). `declares`: Go `:=` and `var`, and a Python annotation.
    """

    targets: tuple[Expr, ...]
    op: Name
    value: Expr | None
    declares: bool = False
    type: Type | None = None


class Do(Node, frozen=True, tag=41):
    """An expression for its effect."""

    value: Expr


class Return(Node, frozen=True, tag=42):
    """Several results are a `Coll` of kind tuple."""

    value: Expr | None


class Raise(Node, frozen=True, tag=43):
    """`raise value from cause`; a bare `raise` has neither; Go `panic(x)` stays a call. `from None` has `Lit(None)`."""

    value: Expr | None
    cause: Expr | None


class Jump(Node, frozen=True, tag=44):
    """`break`, `continue`, `goto`, `fallthrough`."""

    kind: Literal["break", "continue", "goto", "fallthrough"]
    label: str | None = None


class If(Node, frozen=True, tag=45):
    """`elif` is an `If` alone in `orelse`; Go's init statement stands before the If in the same block."""

    test: Expr
    then: Block
    orelse: Block


class Case(Struct, frozen=True, gc=False, array_like=True):
    """One way of a switch; no tests: the default. In a switch without subject the tests are conditions."""

    tests: tuple[Expr, ...]
    body: Block


class Switch(Node, frozen=True, tag=46):
    """`switch`, `match` (patterns as expressions, `Opaque` where they are none), type switch (tests are `Is`)."""

    subject: Expr | None
    cases: tuple[Case, ...]


class Comm(Struct, frozen=True, gc=False, array_like=True):
    """One case of a select: a `Send`, a `Do(Recv)` or an `Assign` from a `Recv`; none: default."""

    op: Stmt | None
    body: Block


class Select(Node, frozen=True, tag=47):
    """Go's choice over channels."""

    cases: tuple[Comm, ...]


class Loop(Node, frozen=True, tag=48):
    """`ever`: no test or a test that is literally true; `while`: test; `count`: Go's three-part loop and nothing else;
    `each`: over `iter` into `target`.

    Go's init statement stands before the loop in the same block; `step` is the post statement.
    """

    form: Literal["ever", "while", "count", "each"]
    test: Expr | None
    target: Expr | None
    iter: Expr | None
    step: Stmt | None
    body: Block
    orelse: Block = ()
    is_async: bool = False
    label: str | None = None


class Handler(Struct, frozen=True, gc=False, array_like=True):
    """`except types as name`; no types: everything. Java's `A | B` are two types."""

    at: Place
    end: Place
    types: tuple[Expr, ...]
    name: Name | None
    body: Block


class Try(Node, frozen=True, tag=49):
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block


class Item(Struct, frozen=True, gc=False, array_like=True):
    value: Expr
    target: Expr | None


class With(Node, frozen=True, tag=50):
    items: tuple[Item, ...]
    body: Block
    is_async: bool = False


class Defer(Node, frozen=True, tag=51):
    """Go `defer call`."""

    call: Expr


class Go(Node, frozen=True, tag=52):
    """Go `go call`."""

    call: Expr


class Send(Node, frozen=True, tag=53):
    """Go `ch <- value`."""

    channel: Expr
    value: Expr


class Def(Node, frozen=True, tag=54):
    """A function or class declared here: the one with that index in the file, bound to `name`."""

    kind: Literal["function", "class"]
    index: int
    name: Name


class Scope(Node, frozen=True, tag=55):
    """Python `global` and `nonlocal`."""

    kind: Literal["global", "nonlocal"]
    names: tuple[Name, ...]


class Delete(Node, frozen=True, tag=56):
    """Python `del`."""

    targets: tuple[Expr, ...]


Stmt = Assign | Do | Return | Raise | Jump | If | Switch | Select | Loop | Try | With | Defer | Go | Send | Def | Scope | Delete
Block = tuple[Stmt, ...]


# ---------------------------------------------------------------- declarations: the header


class Param(Struct, frozen=True, gc=False, array_like=True):
    """A parameter. `kind`: `self` the receiver (Python's first of a method, `cls`, Go's receiver), `pos` by position or name,
    `posonly`, `kw` only by name, `*` the rest by position (Go variadic), `**` the rest by name."""

    name: Name
    kind: Literal["self", "pos", "posonly", "kw", "*", "**"]
    type: Type | None = None
    default: Expr | None = None
    decorators: tuple[Expr, ...] = ()
    """Java: annotations, as those of functions. Python: the calls in the metadata of `Annotated`."""


class Function(Struct, frozen=True, gc=False, array_like=True):
    """A function's declaration; its body lies apart, in `FileFacts.bodies` under the same index.

    Index 0 of every code file is `<module>`, whose body is the file's top-level statements (Go: package-level `var`/`const`
    as Assign, in order; Java: its classes).
    `qual` is dotted inside the file: `Class.method`, `outer.inner`, `outer.<lambda1>` (numbered from 1 within its scope);
    Go methods are `Type.Method`, function literals `Outer.<lambda1>`.
    Java: constructors are `__init__`, as in Python; initialiser blocks `<init1>` and `<static1>`; instance methods, constructors
    and `<init1>` have a parameter `this` of kind `self` first. Overloads share a name and a `qual`. A switch used as a value is a
    lambda called in place, unless it is all that is returned or assigned.
    """

    name: Name
    qual: Name
    kind: Literal["module", "free", "method", "lambda"]
    at: Place
    end: Place
    name_at: Place
    """Offset of the name (of the first byte for a lambda)."""
    params: tuple[Param, ...] = ()
    returns: tuple[Type, ...] = ()
    named_returns: tuple[Name, ...] = ()
    decorators: tuple[Expr, ...] = ()
    owner: int = -1
    """Index of the class it is declared in; Go: of the receiver's type where that stands in this file, else -1."""
    parent: int = -1
    """Index of the function it is nested in (0: directly in the module)."""
    receiver: str = ""
    """Go: name of the receiver's type."""
    is_async: bool = False
    is_generator: bool = False
    is_static: bool = False
    is_class: bool = False
    is_property: bool = False
    is_abstract: bool = False
    """Abstract, an interface's method, or a body that is only `...`, `pass` or `raise NotImplementedError`."""
    calls: tuple[Name, ...] = ()
    """What its body calls (nested functions not included), each once, sorted: `a.b.c` where the callee is a chain of names,
    `.c` where it is an attribute of anything else. Constructions `T{}` are listed as `T{`."""
    values: tuple[Name, ...] = ()
    """Dotted names of its body that stand as a value (argument, right side, returned, stored, decorator), each once, sorted."""
    writes: tuple[Name, ...] = ()
    """Names of attributes its body assigns (last segment), sorted; keyed fields of composite literals, Python's globals and bare
    names in Java that are no locals too."""
    is_locked: bool = False
    """Java: a `synchronized` method."""
    is_private: bool = False
    """Java: a `private` method or constructor."""


class ClassField(Struct, frozen=True, gc=False, array_like=True):
    """A field declared in a class body or struct. `tag` is Go's struct tag."""

    name: Name
    at: Place
    end: Place
    type: Type | None = None
    init: Expr | None = None
    tag: str = ""
    embedded: bool = False
    decorators: tuple[Expr, ...] = ()
    """Java: annotations, as those of functions."""
    is_static: bool = False
    """Java: of the class; constants of enums and fields of interfaces too."""
    is_final: bool = False
    """Java: written once; components of records too."""


class Class(Struct, frozen=True, gc=False, array_like=True):
    """A class, struct, interface or named type. `alias_of`: Go `type A B`, `type F func()`, `type A = B`.

    Java: the superclass is the first of `bases`; type arguments make an `Index` of a base. Components of a record are its first
    fields (type `variadic` for a variable number), constants of an enum fields of its own type. Anonymous classes are
    `<anonymous1>`, bound by a `Def` in a body and nested (`outer`) in a class's field.
    """

    name: Name
    qual: Name
    kind: Literal["class", "struct", "interface", "alias", "enum", "record", "annotation"]
    at: Place
    end: Place
    name_at: Place
    bases: tuple[Expr, ...] = ()
    decorators: tuple[Expr, ...] = ()
    fields: tuple[ClassField, ...] = ()
    methods: tuple[int, ...] = ()
    """Indices of the functions declared in its body (Python); an interface's methods (Go)."""
    parent: int = -1
    """Index of the function it is declared in (0: module)."""
    outer: int = -1
    """Index of the class it is nested in."""
    alias_of: Type | None = None
    keywords: tuple[Arg, ...] = ()


class Import(Struct, frozen=True, gc=False, array_like=True):
    """`import target as alias`, or `from target import name as alias` (then `name` is set, `*` for all).

    `level` counts the leading dots. Without `as`, `import a.b` binds `a`: alias is then "a" and target "a.b".
    Go: target is the import path, alias the written name or the last path element that is a Go name ("_" and "." as written).
    Java: `import a.b.C` is name `C` of target `a.b`, `import static a.B.c` name `c` of target `a.B`.
    `function` is the index of the function it stands in (0: module level), `guarded` inside try/if.
    """

    at: Place
    end: Place
    target: Name
    alias: Name
    name: Name = ""
    level: int = 0
    function: int = 0
    guarded: bool = False
    explicit: bool = False
    """An alias was written."""
    is_static: bool = False
    """Java's `import static`."""


class Suppression(Struct, frozen=True, gc=False, array_like=True):
    """A `resilint: ignore[...]` comment. `line` counts from 1; `whole_file` for `ignore-file`; `own_line`: nothing else stands
    on its lines. It speaks of the lines `first` to `last`: of the line beside it, else of the next one that is not a comment; of
    none (0) where it is part of a value."""

    line: int
    column: int
    end_column: int
    codes: tuple[str, ...]
    reason: str
    whole_file: bool
    own_line: bool
    first: int
    last: int


class Setting(Struct, frozen=True, gc=False, array_like=True):
    """One key of a configuration file as written.

    `path` holds keys and list indices as text (`("spec", "containers", "0", "name")`), blocks of nginx as
    `("http", "server", "location /api", "proxy_read_timeout")`, repeated blocks with `#2`, `#3` after the name.
    `kind`: `map` and `list` for containers (listed before what they hold; text is empty), else the type of the scalar.
    `text` is the scalar as a program would see it (quotes and escapes resolved). `doc` counts YAML documents from 0.
    """

    path: tuple[Name, ...]
    text: str
    kind: Literal["map", "list", "str", "int", "float", "bool", "null"]
    at: Place
    end: Place
    key_at: Place
    key_end: Place
    doc: int = 0


class ReadError(Struct, frozen=True, gc=False, array_like=True):
    """A place that could not be read. One file gives at most one finding from all of them."""

    at: Place
    message: str


class FileFacts(Struct, frozen=True, array_like=True):
    """All that one file says. `bodies[i]` is the encoded `Block` of `functions[i]`."""

    kind: str
    package: str = ""
    imports: tuple[Import, ...] = ()
    functions: tuple[Function, ...] = ()
    classes: tuple[Class, ...] = ()
    exports: tuple[str, ...] | None = None
    """Python's `__all__` where it is a literal."""
    bodies: Bodies = ()
    """As decoded a tuple; `resilint.bodies` puts another sequence in its place, which keeps them in a file."""
    settings: tuple[Setting, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    errors: tuple[ReadError, ...] = ()
    generated: bool = False


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """Bodies that lie elsewhere, as they were decoded."""
    if isinstance(value, Sequence):
        return tuple(value)
    raise NotImplementedError(f"{type(value).__name__} is no part of facts")


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_as_tuple)
_SHARED = cast("Callable[[type[Any], Any], Any]", operator.getitem)
_FACTS = msgspec.msgpack.Decoder(FileFacts, dec_hook=_SHARED)
_BLOCK = msgspec.msgpack.Decoder(Block, dec_hook=_SHARED)


def encode(facts: FileFacts) -> bytes:
    """Facts as bytes, for the cache and for the way between processes."""
    return _ENCODER.encode(facts)


def encode_block(block: Block) -> msgspec.Raw:
    """A body as it lies in `FileFacts.bodies`."""
    return msgspec.Raw(_ENCODER.encode(block))


def decode(data: bytes) -> FileFacts:
    """The facts of `encode`. Raises `msgspec.DecodeError` on other bytes."""
    return _FACTS.decode(data)


def decode_block(raw: msgspec.Raw) -> Block:
    """One body. Raises `msgspec.DecodeError` where nesting passes the decoder's depth; readers stay below it."""
    return _BLOCK.decode(raw)
