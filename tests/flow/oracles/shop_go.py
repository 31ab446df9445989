"""The service as Go: `main.go` and `lib.go` of one package, and the package `settings`."""

from __future__ import annotations

from collections.abc import Callable

from .harness import Lines
from .shop import Bound, ClientStyle, Shape, Style

ROOT = "example.com/shop"


class GoShop:
    """Prints a service; `files` by path and `places` of its parts by path and line."""

    def __init__(self, shape: Shape, style: Style) -> None:
        self.shape = shape
        self.style = style
        self.main, self.lib, self.settings = Lines("main.go"), Lines("lib.go"), Lines("settings/settings.go")
        for out in (self.main, self.lib):
            self._head(out, "main", "os", "time", "example.com/wire", f"{ROOT}/settings")
        self._head(self.settings, "settings", "time")
        self.lib.add("func envOr(name string, fallback time.Duration) time.Duration {")
        self.lib.add("value, err := time.ParseDuration(os.Getenv(name))", 1)
        self.lib.add("if err != nil {", 1)
        self.lib.add("return fallback", 2)
        self.lib.add("}", 1)
        self.lib.add("return value", 1)
        self.lib.add("}")
        for index, (bound, client) in enumerate(zip(shape.clients, style.clients, strict=True)):
            self._client(index, bound, client)
        self._service()
        self.files = {out.path: out.text for out in (self.main, self.lib, self.settings)}
        self.files["go.mod"] = f"module {ROOT}\n"
        self.places = {(out.path, line): tag for out in (self.main, self.lib) for tag, line in out.tags.items()}

    @staticmethod
    def _head(out: Lines, package: str, *imports: str) -> None:
        out.add(f"package {package}")
        out.add("import (")
        for target in imports:
            out.add(f'"{target}"', 1)
        out.add(")")

    def _value(self, bound: Bound, how: str, name: str, out: Lines) -> str | None:
        """The number as it is written where its carrier starts, declared before where that needs it."""
        if bound == "none":
            return None
        number = "3 * time.Second" if bound == "given" else "0"
        if how == "constant":
            out.add(f"const {name} = {number}")
            return name
        if how == "elsewhere":
            self.settings.add(f"const {name.capitalize()} = {number}")
            return f"settings.{name.capitalize()}"
        return number if how == "literal" else f'envOr("{name.upper()}", {number})'

    def _client(self, index: int, bound: Bound, style: ClientStyle) -> None:
        end = f"{index}{self.style.names}"
        out = self.lib if style.moved else self.main
        caller = self.main
        tag = f"client{index}"
        value = self._value(bound, style.value, f"limit{end}", out if style.carrier == "direct" else caller)
        called = self._loaders(end, style, out)

        def made(timeout: str | None) -> str:
            written = "" if timeout is None else f", Timeout: {timeout}"
            return f"&wire.Client{{Address: settings.Address{written}}}"

        if style.carrier == "config":
            self._block(out, f"type Options{end} struct {{", "Timeout time.Duration")
        parameter = {"direct": "", "config": f"options Options{end}"}.get(style.carrier, "timeout time.Duration")
        inside = {"direct": value, "config": "options.Timeout"}.get(style.carrier, "timeout")
        field = "" if value is None else f"Timeout: {value}"
        handed = {"direct": "", "config": f"Options{end}{{{field}}}"}.get(style.carrier, value or "")
        if style.home == "local":
            out.add(f"func use{end}() {{")
            out.add(f"client := {made(inside)}", 1, tag)
            out.add(called("client"), 1)
            out.add("}")
        elif style.home == "global":
            out.add(f"var client{end} = {made(inside)}", 0, tag)
            self._block(out, f"func use{end}() {{", called(f"client{end}"))
        elif style.home == "factory":
            out.add(f"func open{end}({parameter}) *wire.Client {{")
            out.add(f"return {made(inside)}", 1, tag)
            out.add("}")
            self._block(caller, f"func use{end}() {{", f"client := open{end}({handed})", called("client"))
        else:
            fields = ["client *wire.Client"] + (["timeout time.Duration"] if style.carrier == "field" else [])
            self._block(out, f"type Shop{end} struct {{", *fields)
            out.add(f"func NewShop{end}({parameter}) *Shop{end} {{")
            if style.carrier == "field":
                out.add(f"s := &Shop{end}{{timeout: timeout}}", 1)
                inside = "s.timeout"
            else:
                out.add(f"s := &Shop{end}{{}}", 1)
            out.add(f"s.client = {made(inside)}", 1, tag)
            out.add("return s", 1)
            out.add("}")
            self._block(out, f"func (s *Shop{end}) Use() {{", called("s.client"))
            self._block(caller, f"func use{end}() {{", f"NewShop{end}({handed}).Use()")

    @staticmethod
    def _block(out: Lines, head: str, *rows: str) -> None:
        out.add(head)
        for row in rows:
            out.add(row, 1)
        out.add("}")

    def _loaders(self, end: str, style: ClientStyle, out: Lines) -> Callable[[str], str]:
        """The functions between a client and its call."""
        for level in reversed(range(style.depth)):
            onward = f"load{level + 1}{end}(client)" if level + 1 < style.depth else 'client.Fetch("/stock")'
            self._block(out, f"func load{level}{end}(client *wire.Client) {{", onward)
        form = f"load0{end}({{}})" if style.depth else '{}.Fetch("/stock")'
        if style.closure:
            form = f"func() {{{{ {form} }}}}()"
        return form.format

    def _service(self) -> None:
        shape, style, out = self.shape, self.style, self.main
        self.settings.add('const Address = "stock:80"')
        if shape.fanout is not None:
            home = self.lib if style.fanout_moved else out
            home.add("var stock = &wire.Client{Address: settings.Address, Timeout: 2 * time.Second}")
            self._block(home, "func price(sku string) {", "stock.Fetch(sku)")
            home.add(f"func {'priceAll' if style.fanout_extracted else 'handle'}(skus []string) {{")
            if shape.fanout in ("limited", "checked"):
                home.add("if len(skus) > 50 {", 1)
                home.add("return", 2)
                home.add("}", 1)
            home.add(f"group := &wire.Group{{{'Limit: 8' if shape.fanout in ('limited', 'unchecked') else ''}}}", 1)
            home.add("for _, sku := range skus {", 1, "loop")
            home.add("group.Run(func() { price(sku) })", 2, "spawn")
            home.add("}", 1)
            home.add("group.Wait()", 1)
            home.add("}")
            if style.fanout_extracted:
                self._block(out, "func handle(skus []string) {", "priceAll(skus)")
        value = None if shape.server is None else self._value(shape.server, style.server_value, "patience", out)
        out.add("func main() {")
        for index in range(len(shape.clients)):
            out.add(f"use{index}{style.names}()", 1)
        if shape.server is not None:
            written = "" if value is None else f", ReadTimeout: {value}"
            out.add(f"server := &wire.Server{{Address: settings.Address{written}}}", 1, "server")
            if shape.fanout is not None:
                out.add("server.Handle(handle)", 1)
            out.add("server.Serve()", 1)
        out.add("}")
