"""Abstract programs as Java: `Main` and `Lib` of one package, a file for each class, the constants in `settings.Settings`.

Numbers are durations, boxed seconds, or milliseconds (then without nothing). Defaults are overloads or what a builder starts with.
"""

from __future__ import annotations

from collections.abc import Iterator

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
from .harness import Lines

ROOT = "com.acme.shop"
FOLDER = "src/main/java/com/acme/shop"
IMPORTS = (
    "com.example.toggles.Toggles",
    "com.example.wire.Wire",
    "java.time.Duration",
    "java.time.temporal.ChronoUnit",
    "java.util.Objects",
    "java.util.Optional",
    "java.util.concurrent.TimeUnit",
    "java.util.function.Supplier",
)
TYPES = {"duration": "Duration", "boxed": "Long", "millis": "long"}


class JavaPrinter:
    """Prints one program; `files` is the result and `lines` has the places of the tags by file."""

    def __init__(self, program: Program, numbers: str) -> None:
        self.program = program
        self.numbers = numbers
        """What a number is: `duration`, `boxed` or `millis`."""
        self.type = TYPES[numbers]
        self.here = ""
        self.changed: frozenset[str] = frozenset()
        """Variables of the function being printed that no closure may capture."""
        self.scope: dict[str, str] = {}
        """Its variables that hold objects, by class."""
        self.lines: dict[str, Lines] = {}
        for name in ("main", "lib", "settings"):
            self._file(name)
        for klass in program.classes:
            self._class(klass)
        for out in self.lines.values():
            out.add("}")
        self.files = {out.path: out.text for out in self.lines.values()}

    # ------------------------------------------------------------ declarations

    def _open(self, name: str) -> Lines:
        package = "settings" if name == "settings" else ""
        title = name[:1].upper() + name[1:]
        out = self.lines[name] = Lines(f"{FOLDER}/{package + '/' if package else ''}{title}.java")
        out.add(f"package {ROOT}{'.' if package else ''}{package};")
        for target in (*IMPORTS, *(() if package else (f"{ROOT}.settings.Settings",))):
            out.add(f"import {target};")
        out.add(f"public class {title} {{")
        self.here = title
        return out

    def _file(self, name: str) -> None:
        out = self._open(name)
        for constant, (value, file) in self.program.constants.items():
            if file == name:
                out.add(f"public static final {self.type} {constant} = {self.number(value)};", 1)
        if name == "lib" and self.numbers == "millis":
            out.add("static long firstSet(long first, long second) {", 1)
            out.add("return first != 0 ? first : second;", 2)
            out.add("}", 1)
        for fn in self.program.functions:
            if fn.file == name and not fn.owner:
                self._function(fn, out)

    def _class(self, klass: Class) -> None:
        out = self._open(klass.name)
        for param in klass.fields:
            out.add(f"{'private ' if klass.style == 'ctor' else ''}{self.type} {param.name};", 1)
        if klass.style == "ctor":
            self._constructors(klass, out)
        else:
            self._builder(klass, out)
        for fn in self.program.functions:
            if fn.owner == klass.name:
                self._function(fn, out)

    def _constructors(self, klass: Class, out: Lines) -> None:
        for given in self._overloads(klass.fields):
            params = ", ".join(f"{self.type} {p.name}" for p in klass.fields[:given])
            out.add(f"{klass.name}({params}) {{", 1)
            if given < len(klass.fields):
                out.add(f"this({self._with_defaults(klass.fields, given)});", 2)
            else:
                for param in klass.fields:
                    out.add(f"this.{param.name} = {param.name};", 2)
            out.add("}", 1)
        for param in klass.fields:
            title = param.name.capitalize()
            out.add(f"{self.type} get{title}() {{ return {param.name}; }}", 1)
            out.add(f"void set{title}({self.type} {param.name}) {{ this.{param.name} = {param.name}; }}", 1)

    def _builder(self, klass: Class, out: Lines) -> None:
        out.add(f"private {klass.name}(Builder builder) {{", 1)
        for param in klass.fields:
            out.add(f"this.{param.name} = builder.{param.name};", 2)
        out.add("}", 1)
        out.add("static Builder builder() { return new Builder(); }", 1)
        out.add("static class Builder {", 1)
        for param in klass.fields:
            start = "" if param.default is None else f" = {self.expr(param.default)}"
            out.add(f"private {self.type} {param.name}{start};", 2)
        for param in klass.fields:
            out.add(f"Builder {param.name}({self.type} {param.name}) {{", 2)
            out.add(f"this.{param.name} = {param.name};", 3)
            out.add("return this;", 3)
            out.add("}", 2)
        out.add(f"{klass.name} build() {{ return new {klass.name}(this); }}", 2)
        out.add("}", 1)

    @staticmethod
    def _overloads(params: tuple[Param, ...]) -> Iterator[int]:
        """With how many arguments a function can be called: all, or less where the others have defaults."""
        for given in range(len(params), -1, -1):
            yield given
            if given and params[given - 1].default is None:
                return

    def _with_defaults(self, params: tuple[Param, ...], given: int) -> str:
        return ", ".join(p.name if i < given else self._default(p) for i, p in enumerate(params))

    def _default(self, param: Param) -> str:
        assert param.default is not None
        return self.expr(param.default)

    def _function(self, fn: Function, out: Lines) -> None:
        params = fn.params[1:] if fn.owner else fn.params
        result = {"": "void", "number": self.type}.get(fn.gives, fn.gives)
        head = f"{'' if fn.owner else 'public static '}{result} {fn.name}"
        back = "return " if fn.gives else ""
        for given in self._overloads(params):
            listed = ", ".join(f"{p.klass or self.type} {p.name}" for p in params[:given])
            out.add(f"{head}({listed}) {{", 1)
            if given < len(params):
                out.add(f"{back}{fn.name}({self._with_defaults(params, given)});", 2)
            elif fn.forwards:
                target = self.program.function(fn.forwards)
                out.add(f"{back}{self._place(target)}{target.name}({', '.join(p.name for p in params)});", 2)
            else:
                self.changed = frozenset(_assigned(fn.body))
                self.scope = {p.name: p.klass for p in fn.params if p.klass}
                self._block(fn.body, out, 2)
            out.add("}", 1)

    # ------------------------------------------------------------ statements

    def _block(self, block: tuple[Stmt, ...], out: Lines, indent: int) -> None:
        for stmt in block:
            match stmt:
                case Assign(name, value, declares):
                    klass = self._class_of(value)
                    out.add(f"{(klass or self.type) + ' ' if declares else ''}{name} = {self.expr(value)};", indent)
                    if declares and klass:
                        self.scope[name] = klass
                case Store(base, name, value):
                    plain = self._style(base) == "plain"
                    target = f".{name} = {self.expr(value)}" if plain else f".set{name.capitalize()}({self.expr(value)})"
                    out.add(f"{self._base(base)}{target};", indent)
                case If(test, then, orelse):
                    self._branch(test, out, indent, then, orelse)
                case Return(value):
                    out.add(f"return {self.expr(value)};", indent)
                case Do(call):
                    out.add(f"{self.expr(call)};", indent)
                case Options(call, test, name, value):
                    more = Call(call.function, (*call.args, Arg(name, value)))
                    self._branch(test, out, indent, (Do(more),), (Do(call),))
                case Wait(tag, value):
                    out.add(f'Wire.fetch("http://stock/", {self.expr(value)});', indent, tag)

    def _branch(self, test: Test, out: Lines, indent: int, then: tuple[Stmt, ...], orelse: tuple[Stmt, ...]) -> None:
        out.add(f"if ({self.test(test)}) {{", indent)
        self._block(then, out, indent + 1)
        if orelse:
            out.add("} else {", indent)
            self._block(orelse, out, indent + 1)
        out.add("}", indent)

    def _class_of(self, value: Expr) -> str:
        """The class of an object, or nothing for a number."""
        match value:
            case New(klass, _):
                return klass
            case Call(name, _, _):
                gives = self.program.function(name).gives
                return "" if gives == "number" else gives
            case Var(name):
                return self.scope.get(name, "")
        return ""

    # ------------------------------------------------------------ expressions

    def number(self, value: Number) -> str:
        """Seconds as they are written, in a form that depends on the number."""
        if value is None:
            return "null"
        if self.numbers == "boxed":
            return f"(Long) {value}L"
        if self.numbers == "millis":
            return f"{value * 1000}L" if value % 2 else f"TimeUnit.SECONDS.toMillis({value})"
        forms = (
            f"Duration.ofSeconds({value})",
            f"Duration.ofMillis({value * 1000})",
            f"Duration.of({value}, ChronoUnit.SECONDS)",
        )
        return "Duration.ZERO" if value == 0 else forms[int(value) % 3]

    def expr(self, expr: Expr) -> str:
        """An expression; everything that could bind otherwise stands in parentheses."""
        match expr:
            case Lit(value):
                return self.number(value)
            case Const(name):
                owner = self.program.constants[name][1].capitalize()
                return name if owner == self.here else f"{owner}.{name}"
            case Var(name):
                return "this" if name == "self" else name
            case Attr(base, name):
                plain = self._style(base) == "plain"
                return f"{self._base(base)}.{name if plain else f'get{name.capitalize()}()'}"
            case Or(left, right):
                return f"Lib.firstSet({self.expr(left)}, {self.expr(right)})"
            case Coalesce(left, right, form):
                return self._coalesce(left, right, form)
            case Choice(test, then, orelse):
                return f"({self.test(test)} ? {self.expr(then)} : {self.expr(orelse)})"
            case Arith(op, left, right):
                return self._arithmetic(op, self._receiver(left), right)
            case Call(name, args, form):
                return self.call(name, args, form)
            case New(name, args):
                return self._new(self.program.klass(name), args)

    def _arithmetic(self, op: str, left: str, right: int) -> str:
        if self.numbers == "boxed":
            return f"(Long) ({left} {op} {right}L)"
        if self.numbers == "millis":
            return f"({left} {op} {right if op == '*' else right * 1000})"
        if op == "*":
            return f"{left}.multipliedBy({right})"
        return f"{left}.plusSeconds({right})" if op == "+" else f"{left}.minus(Duration.ofSeconds({right}))"

    def _receiver(self, expr: Expr) -> str:
        """What a method is called on, or an operand: nothing there raises."""
        text = self.expr(expr)
        return f"(({self.type}) null)" if text == "null" else f"({text})" if text.startswith("(Long)") else text

    def _coalesce(self, left: Expr, right: Expr, form: str) -> str:
        first, second = self._receiver(left), self.expr(right)
        if form == "strict":
            return f"Objects.requireNonNullElse({first}, {second})"
        if form == "lazy" and not self._captures(right):
            return f"Optional.ofNullable({first}).orElseGet(() -> {second})"
        return f"Optional.ofNullable({first}).orElse({second})"

    def _captures(self, expr: Expr) -> bool:
        """Whether an expression uses a variable that changes, which no closure may."""
        match expr:
            case Var(name) | Attr(name, _):
                return name in self.changed
            case Or(left, right) | Coalesce(left, right, _):
                return self._captures(left) or self._captures(right)
            case Choice(test, then, orelse):
                tested = isinstance(test, Check) and self._captures(test.of)
                return tested or self._captures(then) or self._captures(orelse)
            case Arith(_, left, _):
                return self._captures(left)
            case Call(_, args, _) | New(_, args):
                return any(self._captures(a.value) for a in args)
        return False

    def _base(self, base: str) -> str:
        return "this" if base == "self" else base

    def _style(self, base: str) -> str:
        return self.program.klass(self.scope[base]).style

    def _new(self, klass: Class, args: tuple[Arg, ...]) -> str:
        given = {a.name: self.expr(a.value) for a in args}
        if klass.style == "plain":
            return f"{klass.name}.builder(){''.join(f'.{name}({value})' for name, value in given.items())}.build()"
        return f"new {klass.name}({self._positional(klass.fields, given)})"

    def _positional(self, params: tuple[Param, ...], given: dict[str, str]) -> str:
        """Arguments by position: a default is written where a later one is given."""
        count = max((i + 1 for i, p in enumerate(params) if p.name in given or p.default is None), default=0)
        return ", ".join(given[p.name] if p.name in given else self._default(p) for p in params[:count])

    def _place(self, fn: Function) -> str:
        owner = fn.file.capitalize()
        return "" if owner == self.here else f"{owner}."

    def call(self, name: str, args: tuple[Arg, ...], form: str) -> str:
        """A call; of a method on its first argument."""
        fn = self.program.function(name)
        if fn.owner:
            params, given = fn.params[1:], args[1:]
            called = f"{self.expr(args[0].value)}.{name}"
        else:
            params, given = fn.params, args
            called = f"{self._place(fn)}{name}"
        call = f"{called}({self._positional(params, {a.name: self.expr(a.value) for a in given})})"
        if form not in ("lambda", "partial") or self._captures(Call(name, args)):
            return call
        if not fn.gives:
            return f"((Runnable) () -> {call}).run()"
        gives = fn.gives if fn.gives != "number" else "Long" if self.type == "long" else self.type
        return f"((Supplier<{gives}>) () -> {call}).get()"

    def test(self, test: Test) -> str:
        """A test as an `if` has it."""
        if isinstance(test, Flag):
            return f'Toggles.on("{test.name}")'
        assert isinstance(test, Check)
        of = self.expr(test.of)
        if self.numbers == "millis":
            return f"{of} {'==' if test.kind == 'null' else '>' if test.kind == 'positive' else '!='} 0"
        if test.kind in ("null", "set"):
            return f"{of} {'==' if test.kind == 'null' else '!='} null"
        if self.numbers == "boxed":
            return f"{of} > 0" if test.kind == "positive" else f"{of} != null && {of} != 0"
        return f"{of}.compareTo(Duration.ZERO) > 0" if test.kind == "positive" else f"{of} != null && !{of}.isZero()"


def _assigned(block: tuple[Stmt, ...]) -> Iterator[str]:
    """Variables that get a value after their first."""
    for stmt in block:
        if isinstance(stmt, Assign) and not stmt.declares:
            yield stmt.name
        elif isinstance(stmt, If):
            yield from _assigned(stmt.then)
            yield from _assigned(stmt.orelse)
