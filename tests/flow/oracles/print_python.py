"""Abstract programs as Python: `main.py`, `lib.py` and the constants of `settings.py`."""

from __future__ import annotations

from .abstract import (
    Arg,
    Arith,
    Assign,
    Attr,
    Call,
    Check,
    Choice,
    Class,
    Const,
    Do,
    Expr,
    Flag,
    Function,
    If,
    Lit,
    New,
    Options,
    Or,
    Program,
    Return,
    Stmt,
    Store,
    Test,
    Var,
    Wait,
)
from .harness import Lines


class PythonPrinter:
    """Prints one program; `files` is the result and `lines` has the places of the tags by file."""

    def __init__(self, program: Program, whole_modules: bool) -> None:
        self.program = program
        self.whole_modules = whole_modules
        """`import settings` and `settings.X` instead of `from settings import X`."""
        self.lines = {name: Lines(f"{name}.py") for name in ("main", "lib", "settings")}
        for name, out in self.lines.items():
            self._file(name, out)
        self.files = {out.path: out.text for out in self.lines.values()}

    def _file(self, name: str, out: Lines) -> None:
        program = self.program
        if name != "settings":
            out.add("import dataclasses")
            out.add("import functools")
            out.add("import requests")
            out.add("import toggles")
            out.add("import settings" if self.whole_modules else "from settings import *")
        if name == "main":
            names = [klass.name for klass in program.classes if klass.file == "lib"]
            names += [fn.name for fn in program.functions if fn.file == "lib" and not fn.owner]
            names += [constant for constant, (_, file) in program.constants.items() if file == "lib"]
            if names:
                out.add(f"from lib import {', '.join(names)}")
        for constant, (value, file) in program.constants.items():
            if file == name:
                out.add(f"{constant} = {value!r}")
        for klass in program.classes:
            if klass.file == name:
                self._class(klass, out)
        for fn in program.functions:
            if fn.file == name and not fn.owner:
                self._function(fn, out, 0)

    def _class(self, klass: Class, out: Lines) -> None:
        if klass.style == "plain":
            out.add("@dataclasses.dataclass")
        out.add(f"class {klass.name}:")
        if klass.style == "plain":
            for param in klass.fields:
                default = "" if param.default is None else f" = {self.expr(param.default)}"
                out.add(f"{param.name}: float{default}", 1)
        else:
            params = ", ".join(
                param.name if param.default is None else f"{param.name}={self.expr(param.default)}" for param in klass.fields
            )
            out.add(f"def __init__(self, {params}):", 1)
            for param in klass.fields:
                out.add(f"self.{param.name} = {param.name}", 2)
        for fn in self.program.functions:
            if fn.owner == klass.name:
                self._function(fn, out, 1)

    def _function(self, fn: Function, out: Lines, indent: int) -> None:
        if fn.forwards:
            target = self.program.function(fn.forwards)
            out.add(f"def {fn.name}(**kw):", indent)
            out.add(f"{'return ' if target.gives else ''}{target.name}(**kw)", indent + 1)
            return
        params = ", ".join(p.name if p.default is None else f"{p.name}={self.expr(p.default)}" for p in fn.params)
        out.add(f"def {fn.name}({params}):", indent)
        self._block(fn.body, out, indent + 1)

    def _block(self, block: tuple[Stmt, ...], out: Lines, indent: int) -> None:
        if not block:
            out.add("pass", indent)
        for stmt in block:
            match stmt:
                case Assign(name, value, _):
                    out.add(f"{name} = {self.expr(value)}", indent)
                case Store(base, name, value):
                    out.add(f"{base}.{name} = {self.expr(value)}", indent)
                case If(test, then, orelse):
                    out.add(f"if {self.test(test)}:", indent)
                    self._block(then, out, indent + 1)
                    if orelse:
                        out.add("else:", indent)
                        self._block(orelse, out, indent + 1)
                case Return(value):
                    out.add(f"return {self.expr(value)}", indent)
                case Do(call):
                    out.add(self.expr(call), indent)
                case Options(call, test, name, value):
                    out.add("opts = {}", indent)
                    out.add(f"if {self.test(test)}:", indent)
                    out.add(f'opts["{name}"] = {self.expr(value)}', indent + 1)
                    out.add(self.call(call.function, call.args, "plain", "**opts"), indent)
                case Wait(tag, value):
                    out.add(f"requests.get(URL, timeout={self.expr(value)})", indent, tag)

    def expr(self, expr: Expr) -> str:
        """An expression; everything that could bind otherwise stands in parentheses."""
        match expr:
            case Lit(value):
                return repr(value)
            case Const(name):
                own = self.program.constants[name][1] != "settings"
                return name if own or not self.whole_modules else f"settings.{name}"
            case Var(name):
                return name
            case Attr(base, name):
                return f"{base}.{name}"
            case Or(left, right):
                return f"({self.expr(left)} or {self.expr(right)})"
            case Choice(test, then, orelse):
                return f"({self.expr(then)} if {self.test(test)} else {self.expr(orelse)})"
            case Arith(op, left, right):
                return f"({self.expr(left)} {op} {right})"
            case Call(name, args, form):
                return self.call(name, args, form)
            case New(name, args):
                return f"{name}({self._args(args)})"
        raise AssertionError(f"not printed in Python: {expr}")

    def call(self, name: str, args: tuple[Arg, ...], form: str = "plain", more: str = "") -> str:
        """A call; of a method on its first argument."""
        fn = self.program.function(name)
        called, given = name, args
        if fn.owner:
            called, given = f"{self.expr(args[0].value)}.{name}", args[1:]
        positional = tuple(a for a in given if a.how == "pos")
        named = tuple(a for a in given if a.how != "pos")
        if form == "partial":
            bound = ", ".join(x for x in (called, self._args(named)) if x)
            return f"functools.partial({bound})({self._args(positional)})"
        if form == "star" and positional:
            written = ", ".join(x for x in (f"*[{self._args(positional)}]", self._args(named), more) if x)
            return f"{called}({written})"
        written = ", ".join(x for x in (self._args(given), more) if x)
        return f"(lambda: {called}({written}))()" if form == "lambda" else f"{called}({written})"

    def _args(self, args: tuple[Arg, ...]) -> str:
        parts = [self.expr(a.value) for a in args if a.how == "pos"]
        parts += [f"{a.name}={self.expr(a.value)}" for a in args if a.how == "kw"]
        spread = [f'"{a.name}": {self.expr(a.value)}' for a in args if a.how == "spread"]
        if spread:
            parts.append("**{" + ", ".join(spread) + "}")
        return ", ".join(parts)

    def test(self, test: Test) -> str:
        """A test as an `if` has it."""
        if isinstance(test, Flag):
            return f'toggles.on("{test.name}")'
        assert isinstance(test, Check)
        of = self.expr(test.of)
        return {"null": f"{of} is None", "set": f"{of} is not None", "true": of, "positive": f"{of} > 0"}[test.kind]
