"""A small language of programs that only compute a timeout, and what such a program can do.

A program has classes, functions and constants; every path ends in waits. Numbers are seconds. `None` is a value in programs for
Python; where a language has no such value (`null = 0`), what is left out is zero and a test for nothing is a test for zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

Number = int | float | None


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True)
class Lit:
    """A number written in place, or nothing."""

    value: Number


@dataclass(frozen=True)
class Const:
    """A constant of a module."""

    name: str


@dataclass(frozen=True)
class Var:
    """A local variable or parameter."""

    name: str


@dataclass(frozen=True)
class Attr:
    """A field of an object that a variable holds."""

    base: str
    name: str


@dataclass(frozen=True)
class Or:
    """The first that is neither nothing nor zero, else the second."""

    left: Expr
    right: Expr


@dataclass(frozen=True)
class Coalesce:
    """The first that is not nothing, else the second. `form`: `value` takes both, `lazy` a function that gives the second, and
    `strict` raises where both are nothing."""

    left: Expr
    right: Expr
    form: str


@dataclass(frozen=True)
class Choice:
    """One of two values by a test."""

    test: Test
    then: Expr
    orelse: Expr


@dataclass(frozen=True)
class Arith:
    """A number changed by a constant: `+`, `-`, `*`."""

    op: str
    left: Expr
    right: int


@dataclass(frozen=True)
class Arg:
    """An argument; `how` it is written: by position, by keyword, or out of a mapping (`spread`)."""

    name: str
    value: Expr
    how: str = "pos"


@dataclass(frozen=True)
class Call:
    """A call of a function; for a method the first argument is the receiver.

    `form` is how it is written, which changes nothing: `plain`, `partial` (arguments by keyword come first), `lambda` (a literal
    called in place), `star` (arguments by position come out of a list).
    """

    function: str
    args: tuple[Arg, ...]
    form: str = "plain"


@dataclass(frozen=True)
class New:
    """An object of a class. Fields that are not given keep their default."""

    klass: str
    args: tuple[Arg, ...]


Expr = Lit | Const | Var | Attr | Or | Coalesce | Choice | Arith | Call | New


@dataclass(frozen=True)
class Flag:
    """A test of which nobody knows the outcome."""

    name: str


@dataclass(frozen=True)
class Check:
    """A test of a variable or field: `null`, `set` (not null), `true` (neither null nor zero), `positive`."""

    kind: str
    of: Var | Attr


Test = Flag | Check


# ---------------------------------------------------------------- statements


@dataclass(frozen=True)
class Assign:
    """A variable gets a value; `declares` where it is new."""

    name: str
    value: Expr
    declares: bool


@dataclass(frozen=True)
class Store:
    """A field of an object gets a value."""

    base: str
    name: str
    value: Expr


@dataclass(frozen=True)
class If:
    """A branch; `orelse` may be empty."""

    test: Test
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@dataclass(frozen=True)
class Return:
    """A result."""

    value: Expr


@dataclass(frozen=True)
class Do:
    """A call for what it does."""

    call: Call


@dataclass(frozen=True)
class Options:
    """A mapping that gets an entry on some paths, spread into a call: `opts = {}; if …: opts["x"] = v; f(**opts)`."""

    call: Call
    test: Test
    name: str
    value: Expr


@dataclass(frozen=True)
class Wait:
    """The end: something waits for that long. The tag names the place."""

    tag: str
    value: Expr


Stmt = Assign | Store | If | Return | Do | Options | Wait


# ---------------------------------------------------------------- declarations


@dataclass(frozen=True)
class Param:
    """A parameter: a number, or an object of a class. Without a default every call gives it."""

    name: str
    klass: str = ""
    default: Lit | Const | None = None


@dataclass(frozen=True)
class Function:
    """A function; a method of `owner`, whose first parameter then is the receiver; `forwards` names the function to which it hands
    all its keywords as they come (`def f(**kw): g(**kw)`), instead of having a body."""

    name: str
    params: tuple[Param, ...]
    body: tuple[Stmt, ...]
    gives: str = ""
    """`number`, the name of a class, or empty for nothing."""
    owner: str = ""
    file: str = "main"
    forwards: str = ""


@dataclass(frozen=True)
class Class:
    """A class whose fields are numbers. `style`: filled by a `ctor` of its own, or by a `plain` literal or dataclass."""

    name: str
    fields: tuple[Param, ...]
    style: str
    file: str = "main"


@dataclass(frozen=True)
class Program:
    """Everything; execution starts in `main`."""

    functions: tuple[Function, ...]
    classes: tuple[Class, ...]
    constants: dict[str, tuple[Number, str]] = field(default_factory=dict)
    """Value and file by name."""
    null: Number = None

    def function(self, name: str) -> Function:
        """The function of that name."""
        return next(fn for fn in self.functions if fn.name == name)

    def klass(self, name: str) -> Class:
        """The class of that name."""
        return next(c for c in self.classes if c.name == name)


# ---------------------------------------------------------------- execution


class _Dies(Exception):
    """The program raises: nothing after it happens."""


class _Returned(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


Object = dict[str, Number]
Value = Number | Object
MOST_RUNS = 512


class _Machine:
    """One run under a row of outcomes for the tests nobody knows."""

    def __init__(self, program: Program, outcomes: list[bool], seen: dict[str, set[Number]]) -> None:
        self.program = program
        self.outcomes = outcomes
        self.asked = 0
        self.seen = seen

    def flag(self) -> bool:
        if self.asked == len(self.outcomes):
            self.outcomes.append(False)
        self.asked += 1
        return self.outcomes[self.asked - 1]

    def number(self, expr: Expr, scope: dict[str, Value]) -> Number:
        value = self.value(expr, scope)
        assert not isinstance(value, dict)
        return value

    def value(self, expr: Expr, scope: dict[str, Value]) -> Value:
        match expr:
            case Lit(value):
                return value
            case Const(name):
                return self.program.constants[name][0]
            case Var(name):
                return scope[name]
            case Attr(base, name):
                owner = scope[base]
                assert isinstance(owner, dict)
                return owner[name]
            case Or(left, right):
                return self.value(left, scope) or self.value(right, scope)
            case Coalesce(left, right, form):
                first = self.value(left, scope)
                second = self.value(right, scope) if first is None or form != "lazy" else None
                if form == "strict" and first is None and second is None:
                    raise _Dies
                return second if first is None else first
            case Choice(test, then, orelse):
                return self.value(then if self.test(test, scope) else orelse, scope)
            case Arith(op, left, right):
                number = self.number(left, scope)
                if number is None:
                    raise _Dies
                return number + right if op == "+" else number - right if op == "-" else number * right
            case Call(name, args, _):
                return self.call(self.program.function(name), {a.name: self.value(a.value, scope) for a in args})
            case New(name, args):
                given = {a.name: self.number(a.value, scope) for a in args}
                made: Object = {}
                for param in self.program.klass(name).fields:
                    made[param.name] = given[param.name] if param.name in given else self.default(param)
                return made

    def default(self, param: Param) -> Number:
        if param.default is None:
            return self.program.null
        return self.number(param.default, {})

    def test(self, test: Test, scope: dict[str, Value]) -> bool:
        if isinstance(test, Flag):
            return self.flag()
        number = self.number(test.of, scope)
        match test.kind:
            case "null":
                return number == self.program.null
            case "set":
                return number != self.program.null
            case "true":
                return bool(number)
        if number is None:
            raise _Dies
        return number > 0

    def call(self, fn: Function, given: dict[str, Value]) -> Value:
        if fn.forwards:
            return self.call(self.program.function(fn.forwards), given)
        scope: dict[str, Value] = {}
        for param in fn.params:
            scope[param.name] = given[param.name] if param.name in given else self.default(param)
        try:
            self.block(fn.body, scope)
        except _Returned as result:
            return result.value
        return None

    def block(self, block: tuple[Stmt, ...], scope: dict[str, Value]) -> None:
        for stmt in block:
            match stmt:
                case Assign(name, value, _):
                    scope[name] = self.value(value, scope)
                case Store(base, name, value):
                    owner = scope[base]
                    assert isinstance(owner, dict)
                    owner[name] = self.number(value, scope)
                case If(test, then, orelse):
                    self.block(then if self.test(test, scope) else orelse, scope)
                case Return(value):
                    raise _Returned(self.value(value, scope))
                case Do(call):
                    self.value(call, scope)
                case Options(call, test, name, value):
                    more = (Arg(name, value),) if self.test(test, scope) else ()
                    self.value(Call(call.function, (*call.args, *more)), scope)
                case Wait(tag, value):
                    self.seen.setdefault(tag, set()).add(self.number(value, scope))


def runs(program: Program) -> tuple[dict[str, set[Number]], bool]:
    """The values that can occur at every wait, and whether every run was tried."""
    seen: dict[str, set[Number]] = {}
    outcomes: list[bool] = []
    for _ in range(MOST_RUNS):
        machine = _Machine(program, outcomes, seen)
        with suppress(_Dies):
            machine.call(program.function("main"), {})
        del outcomes[machine.asked :]
        # The next row of outcomes, counted as a binary number from the end.
        while outcomes and outcomes[-1]:
            outcomes.pop()
        if not outcomes:
            return seen, True
        outcomes[-1] = True
    return seen, False


def waits(program: Program) -> Iterator[tuple[Function, Wait]]:
    """Every wait with its function."""

    def inside(block: tuple[Stmt, ...]) -> Iterator[Wait]:
        for stmt in block:
            if isinstance(stmt, Wait):
                yield stmt
            elif isinstance(stmt, If):
                yield from inside(stmt.then)
                yield from inside(stmt.orelse)

    for fn in program.functions:
        for wait in inside(fn.body):
            yield fn, wait
