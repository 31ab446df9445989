"""Abstract programs as Go: `main.go` and `lib.go` of one package, the constants in the package `settings`.

Printed are programs without `None`, defaults, keywords and conditional expressions, which Go does not have.
"""

from __future__ import annotations

from .abstract import (
    Arg,
    Arith,
    Assign,
    Attr,
    Call,
    Check,
    Class,
    Const,
    Do,
    Expr,
    Flag,
    Function,
    If,
    Lit,
    New,
    Number,
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

ROOT = "example.com/shop"


def duration(value: Number) -> str:
    """Seconds as Go writes them."""
    return f"{value} * time.Second" if value else "0"


class GoPrinter:
    """Prints one program; `files` is the result and `lines` has the places of the tags by file."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines = {name: Lines(f"{name}.go") for name in ("main", "lib")}
        self.lines["settings"] = Lines("settings/settings.go")
        for name, out in self.lines.items():
            self._file(name, out)
        self.files = {out.path: out.text for out in self.lines.values()}
        self.files["go.mod"] = f"module {ROOT}\n"

    def _file(self, name: str, out: Lines) -> None:
        out.add(f"package {name if name == 'settings' else 'main'}")
        out.add("import (")
        for target in ("cmp", "net/http", "time", f"{ROOT}/settings", "example.com/toggles"):
            out.add(f'"{target}"', 1)
        out.add(")")
        for constant, (value, file) in self.program.constants.items():
            if file == name:
                out.add(f"const {constant} = {duration(value)}")
        for klass in self.program.classes:
            if klass.file == name:
                self._class(klass, out)
        for fn in self.program.functions:
            if fn.file == name:
                self._function(fn, out)

    def _class(self, klass: Class, out: Lines) -> None:
        out.add(f"type {klass.name} struct {{")
        for param in klass.fields:
            out.add(f"{param.name} time.Duration", 1)
        out.add("}")
        if klass.style == "ctor":
            params = ", ".join(f"{p.name} time.Duration" for p in klass.fields)
            out.add(f"func New{klass.name}({params}) *{klass.name} {{")
            out.add(f"return &{klass.name}{{{', '.join(f'{p.name}: {p.name}' for p in klass.fields)}}}", 1)
            out.add("}")

    def _function(self, fn: Function, out: Lines) -> None:
        params = [f"{p.name} {f'*{p.klass}' if p.klass else 'time.Duration'}" for p in fn.params]
        receiver = f"({params.pop(0)}) " if fn.owner else ""
        out.add(f"func {receiver}{fn.name}({', '.join(params)}){self._result(fn)} {{")
        self._block(fn.body, out, 1)
        out.add("}")

    def _block(self, block: tuple[Stmt, ...], out: Lines, indent: int) -> None:
        for stmt in block:
            match stmt:
                case Assign(name, value, declares):
                    out.add(f"{name} {':=' if declares else '='} {self._typed(value) if declares else self.expr(value)}", indent)
                case Store(base, name, value):
                    out.add(f"{base}.{name} = {self.expr(value)}", indent)
                case If(test, then, orelse):
                    out.add(f"if {self.test(test)} {{", indent)
                    self._block(then, out, indent + 1)
                    if orelse:
                        out.add("} else {", indent)
                        self._block(orelse, out, indent + 1)
                    out.add("}", indent)
                case Return(value):
                    out.add(f"return {self.expr(value)}", indent)
                case Do(call):
                    out.add(self.expr(call), indent)
                case Wait(tag, value):
                    out.add(f"{tag} := &http.Client{{Timeout: {self.expr(value)}}}", indent, tag)
                    out.add(f'{tag}.Get("http://stock/")', indent)
                case _:
                    raise AssertionError(f"Go has no {stmt}")

    def _typed(self, expr: Expr) -> str:
        return "time.Duration(0)" if expr == Lit(0) else self.expr(expr)

    def expr(self, expr: Expr) -> str:
        """An expression; everything that could bind otherwise stands in parentheses."""
        match expr:
            case Lit(value):
                return duration(value)
            case Const(name):
                return name if self.program.constants[name][1] != "settings" else f"settings.{name}"
            case Var(name):
                return name
            case Attr(base, name):
                return f"{base}.{name}"
            case Or(left, right):
                return f"cmp.Or({self.expr(left)}, {self.expr(right)})"
            case Arith(op, left, right):
                return f"({self.expr(left)} {op} {right if op == '*' else duration(right)})"
            case Call(name, args, form):
                return self.call(name, args, form)
            case New(name, args):
                return self._new(self.program.klass(name), args)
        raise AssertionError(f"Go has no {expr}")

    def _new(self, klass: Class, args: tuple[Arg, ...]) -> str:
        given = {a.name: self.expr(a.value) for a in args}
        if klass.style == "ctor":
            return f"New{klass.name}({', '.join(given.get(p.name, '0') for p in klass.fields)})"
        return f"&{klass.name}{{{', '.join(f'{name}: {value}' for name, value in given.items())}}}"

    def call(self, name: str, args: tuple[Arg, ...], form: str) -> str:
        """A call; of a method on its first argument."""
        fn = self.program.function(name)
        written = [self.expr(a.value) for a in args]
        called = f"{written.pop(0)}.{name}" if fn.owner else name
        call = f"{called}({', '.join(written)})"
        if form != "lambda":
            return call
        return f"func(){self._result(fn)} {{ {'return ' if fn.gives else ''}{call} }}()"

    @staticmethod
    def _result(fn: Function) -> str:
        return {"": "", "number": " time.Duration"}.get(fn.gives, f" *{fn.gives}")

    def test(self, test: Test) -> str:
        """A test as an `if` has it."""
        if isinstance(test, Flag):
            return f'toggles.On("{test.name}")'
        assert isinstance(test, Check)
        return f"{self.expr(test.of)} {'==' if test.kind == 'null' else '>' if test.kind == 'positive' else '!='} 0"
