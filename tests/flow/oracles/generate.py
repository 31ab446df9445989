"""Abstract programs at random: small, all of it reachable from `main`, with the idioms in which timeouts are computed.

Left out, because the resolver does not follow them: loops that change a number, functions handed to code outside that calls them
(`pool.submit(f)`), recursion with a changing argument, texts that are parsed as numbers.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from .abstract import (
    Arg,
    Arith,
    Assign,
    Attr,
    Call,
    Check,
    Choice,
    Class,
    Coalesce,
    Const,
    Do,
    Expr,
    Flag,
    Function,
    If,
    Lit,
    New,
    Number,
    Options,
    Or,
    Param,
    Program,
    Return,
    Stmt,
    Store,
    Test,
    Var,
    Wait,
)
from .harness import Choices

NAMES = ("limit", "span", "patience")
"""Few names, so that fields and parameters of one name meet and must be told apart."""

Scope = dict[str, str]
"""Variables by name: `number`, or a class."""


class _Maker:
    def __init__(self, choose: Choices, go: bool, java: bool) -> None:
        self.choose = choose
        self.go = go
        self.java = java
        self.null: Number = 0 if go else None
        self.constants: dict[str, tuple[Number, str]] = {}
        self.classes: list[Class] = []
        self.functions: list[Function] = []
        self.called: set[str] = set()
        self.count = 0
        self.file = "lib"
        """Where what is made now will stand: code in `lib` calls only what stands there."""

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def visible(self, gives: str) -> list[Function]:
        """Functions that can be called here and give that."""
        return [fn for fn in self.functions if fn.gives == gives and (self.file == "main" or fn.file == "lib")]

    # ------------------------------------------------------------ declarations

    def program(self) -> Program:
        choose = self.choose
        for index in range(choose.number(0, 2)):
            self.constants[f"LIMIT{index}"] = (self.literal().value, choose.of(("lib", "settings")))
        for _ in range(choose.number(0, 2)):
            self.klass()
        kinds = ["action"]
        kinds += [choose.of(("value", "action", "method", "factory", "forward")) for _ in range(choose.number(0, 6))]
        for index, kind in enumerate(kinds):
            self.file = "lib" if index < 3 else "main"
            self.function(kind)
        self.file = "main"
        self.main()
        return Program(tuple(self.functions), tuple(self.classes), self.constants, self.null)

    def literal(self) -> Lit:
        kind = self.choose.number(0, 9)
        if kind == 9:
            return Lit(self.null)
        return Lit(0 if kind == 8 else self.choose.number(1, 30))

    def default(self) -> Lit | Const:
        return Const(self.choose.of(tuple(self.constants))) if self.constants and self.choose.chance(30) else self.literal()

    def klass(self) -> None:
        choose = self.choose
        names = NAMES[: choose.number(1, 3)]
        required = 0 if self.go else choose.number(0, len(names))
        fields = tuple(Param(n, "", None if self.go or i < required else self.literal()) for i, n in enumerate(names))
        self.classes.append(Class(f"Kind{len(self.classes)}", fields, choose.of(("ctor", "plain")), "lib"))

    def params(self) -> tuple[Param, ...]:
        choose = self.choose
        out: list[Param] = []
        if self.classes and choose.chance(30):
            out.append(Param("options", choose.of(self.classes).name))
        names = NAMES[: choose.number(0, 3)]
        required = len(names) if self.go else choose.number(0, len(names))
        out += [Param(n, "", self.default() if i >= required else None) for i, n in enumerate(names)]
        return tuple(out)

    def function(self, kind: str) -> None:
        choose = self.choose
        if kind == "forward":
            targets = [fn for fn in self.functions if not fn.owner and not fn.forwards and fn.params]
            if self.go or not targets:
                kind = "action"
            else:
                target = choose.of(targets)
                self.called.add(target.name)
                made = replace(target, name=self.fresh("through"), body=(), forwards=target.name, file=self.file)
                self.functions.append(made)
                return
        if kind in ("method", "factory") and not self.classes:
            kind = "action" if kind == "method" else "value"
        params, owner, gives = self.params(), "", ""
        name = self.fresh({"value": "pick", "factory": "make"}.get(kind, "send"))
        if kind == "method":
            # A method stands where its class does.
            owner, self.file = choose.of(self.classes).name, "lib"
            params = (Param("self", owner), *params)
        if kind == "value":
            gives = "number"
        if kind == "factory":
            gives = choose.of(self.classes).name
        scope = {p.name: p.klass or "number" for p in params}
        body = self.block(scope, gives, 3, top=True)
        if gives:
            body.append(Return(self.expr(scope, 2) if gives == "number" else self.object(scope, gives)))
        else:
            body.append(self.ending(scope))
        self.functions.append(Function(name, params, tuple(body), gives, owner, self.file))

    def main(self) -> None:
        scope: Scope = {}
        body = self.block(scope, "", 2, top=True)
        for fn in reversed(self.functions):
            if fn.name not in self.called:
                self.called.add(fn.name)
                body.append(self.use(fn, scope))
                if self.choose.chance(25):
                    body.append(self.use(fn, scope))
        self.functions.append(Function("main", (), tuple(body), "", "", "main"))

    def use(self, fn: Function, scope: Scope) -> Stmt:
        call = self.call(fn, scope, 1)
        if fn.gives == "number":
            return Wait(self.fresh("wait"), call)
        return Do(call)

    # ------------------------------------------------------------ statements

    def block(self, scope: Scope, gives: str, size: int, *, top: bool = False) -> list[Stmt]:
        """Statements; only those at the top of a function declare variables."""
        out: list[Stmt] = []
        for _ in range(self.choose.number(0, size)):
            out.extend(self.stmt(scope, gives, top))
        return out

    def stmt(self, scope: Scope, gives: str, top: bool) -> list[Stmt]:
        choose = self.choose
        numbers = [n for n, kind in scope.items() if kind == "number"]
        objects = [n for n, kind in scope.items() if kind != "number"]
        kind = choose.of(("declare", "object", "fill", "assign", "if", "store", "leave", "act"))
        if kind == "declare" and top:
            value = self.expr(scope, 2)
            name = self.fresh("value")
            scope[name] = "number"
            return [Assign(name, value, True)]
        if kind == "object" and top and self.classes:
            klass = choose.of(self.classes).name
            object_ = self.object(scope, klass)
            name = self.fresh("thing")
            scope[name] = klass
            return [Assign(name, object_, True)]
        if kind == "fill" and numbers:
            name = choose.of(numbers)
            return [
                If(Check(choose.of(("null", "null", "positive", "set")), Var(name)), (Assign(name, self.expr(scope, 1), False),))
            ]
        if kind == "assign" and numbers:
            return [Assign(choose.of(numbers), self.expr(scope, 2), False)]
        if kind == "if":
            test = self.test(scope)
            then = tuple(self.block(scope, gives, 1))
            orelse = tuple(self.block(scope, gives, 1)) if choose.chance(40) else ()
            return [If(test, then, orelse)] if then or orelse else []
        if kind == "store" and objects:
            base = choose.of(objects)
            field = choose.of(self.klass_of(scope[base]).fields).name
            return [Store(base, field, self.expr(scope, 1))]
        if kind == "leave" and gives and not top:
            return [Return(self.expr(scope, 1) if gives == "number" else self.object(scope, gives))]
        if kind == "act" and not gives:
            return [self.ending(scope)]
        return []

    def ending(self, scope: Scope) -> Stmt:
        actions = self.visible("")
        if actions and self.choose.chance(60):
            fn = self.choose.of(actions)
            call = self.call(fn, scope, 2)
            optional = [p.name for p in fn.params if p.default is not None]
            if optional and not fn.owner and self.choose.chance(25):
                name = self.choose.of(optional)
                # What stands before it by position keeps its place; what may come from the mapping is not written twice.
                args = tuple(a if a.how != "pos" else replace(a, how="kw") for a in call.args if a.name != name)
                return Options(Call(fn.name, args), self.test(scope), name, self.expr(scope, 1))
            return Do(call)
        return Wait(self.fresh("wait"), self.expr(scope, 3))

    # ------------------------------------------------------------ expressions

    def klass_of(self, name: str) -> Class:
        return next(c for c in self.classes if c.name == name)

    def places(self, scope: Scope) -> list[Var | Attr]:
        """Numbers that a name stands for."""
        out: list[Var | Attr] = [Var(n) for n, kind in scope.items() if kind == "number"]
        out += [Attr(n, p.name) for n, kind in scope.items() if kind != "number" for p in self.klass_of(kind).fields]
        return out

    def test(self, scope: Scope) -> Test:
        places = self.places(scope)
        if not places or self.choose.chance(50):
            return Flag(self.fresh("flag"))
        return Check(self.choose.of(("null", "set", "true", "positive")), self.choose.of(places))

    def expr(self, scope: Scope, depth: int) -> Expr:
        choose = self.choose
        places = self.places(scope)
        kinds = ["place", "place", "literal", "const"]
        if depth:
            kinds += ["or", "arith", "call", "place"] if self.go else ["coalesce" if self.java else "or", "choice", "arith", "call"]
        kind = choose.of(kinds)
        if kind == "place" and places:
            return choose.of(places)
        if kind == "const" and self.constants:
            return Const(choose.of(tuple(self.constants)))
        if kind == "or":
            return Or(self.expr(scope, depth - 1), self.expr(scope, depth - 1))
        if kind == "coalesce":
            return Coalesce(self.expr(scope, depth - 1), self.expr(scope, depth - 1), choose.of(("value", "lazy", "strict")))
        if kind == "choice":
            return Choice(self.test(scope), self.expr(scope, depth - 1), self.expr(scope, depth - 1))
        if kind == "arith":
            return Arith(choose.of(("*", "+", "-")), self.expr(scope, depth - 1), choose.number(2, 4))
        if kind == "call":
            pickers = self.visible("number")
            if pickers:
                return self.call(choose.of(pickers), scope, depth - 1)
        return self.literal()

    def object(self, scope: Scope, klass: str) -> Expr:
        held = [n for n, kind in scope.items() if kind == klass]
        if held and self.choose.chance(50):
            return Var(self.choose.of(held))
        makers = self.visible(klass)
        if makers and self.choose.chance(50):
            return self.call(self.choose.of(makers), scope, 0)
        return New(klass, self.args(self.klass_of(klass).fields, scope, 1))

    def call(self, fn: Function, scope: Scope, depth: int) -> Call:
        self.called.add(fn.name)
        form = self.choose.of(("plain", "plain", "plain", "lambda") if self.go else ("plain", "plain", "partial", "lambda", "star"))
        if fn.forwards:
            args = self.args(fn.params, scope, depth)
            return Call(fn.name, tuple(replace(a, how="spread" if a.how == "spread" else "kw") for a in args), form)
        if fn.owner:
            return Call(fn.name, (Arg("self", self.receiver(fn.owner, scope)), *self.args(fn.params[1:], scope, depth)), form)
        return Call(fn.name, self.args(fn.params, scope, depth), form)

    def receiver(self, klass: str, scope: Scope) -> Expr:
        return self.object(scope, klass)

    def args(self, params: tuple[Param, ...], scope: Scope, depth: int) -> tuple[Arg, ...]:
        """Arguments for all parameters without a default and some of the others."""
        out: list[Arg] = []
        how = "pos"
        for param in params:
            if param.default is not None and self.choose.chance(40):
                how = "kw" if how == "pos" else how
                continue
            if not self.go and self.choose.chance(30):
                how = "kw" if how == "pos" else "spread"
            value = self.object(scope, param.klass) if param.klass else self.expr(scope, depth)
            out.append(Arg(param.name, value, how))
        return tuple(out)


@st.composite
def programs(draw: st.DrawFn, go: bool = False, java: bool = False) -> Program:
    """Programs that only compute timeouts; `go`: made of what Go can say, so of numbers that are never nothing; `java`: of what
    Java can say with boxed numbers and durations."""
    return _Maker(Choices(draw), go, java).program()
