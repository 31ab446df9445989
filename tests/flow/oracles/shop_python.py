"""The service as Python: `main.py`, `lib.py` and `settings.py`."""

from __future__ import annotations

from collections.abc import Callable

from .harness import Lines
from .shop import Bound, ClientStyle, Shape, Style


class PythonShop:
    """Prints a service; `files` by path and `places` of its parts by path and line."""

    def __init__(self, shape: Shape, style: Style) -> None:
        self.shape = shape
        self.style = style
        self.main, self.lib, self.settings = Lines("main.py"), Lines("lib.py"), Lines("settings.py")
        for out in (self.main, self.lib):
            for line in ("import os", "import wire", "import settings"):
                out.add(line)
        self.lib.add("def env_or(name, default):")
        self.lib.add("text = os.environ.get(name)", 1)
        self.lib.add("return float(text) if text else default", 1)
        self.main.add("from lib import *")
        for index, (bound, client) in enumerate(zip(shape.clients, style.clients, strict=True)):
            self._client(index, bound, client)
        self._service()
        self.files = {out.path: out.text for out in (self.main, self.lib, self.settings)}
        self.places = {(out.path, line): tag for out in (self.main, self.lib) for tag, line in out.tags.items()}

    def _value(self, bound: Bound, how: str, name: str, out: Lines) -> str | None:
        """The number as it is written where its carrier starts, declared before where that needs it."""
        if bound == "none":
            return None
        number = "3" if bound == "given" else "0"
        if how == "constant":
            out.add(f"{name.upper()} = {number}")
            return name.upper()
        if how == "elsewhere":
            self.settings.add(f"{name.upper()} = {number}")
            return f"settings.{name.upper()}"
        return number if how == "literal" else f'env_or("{name.upper()}", {number})'

    def _client(self, index: int, bound: Bound, style: ClientStyle) -> None:
        end = f"{index}{self.style.names}"
        out = self.lib if style.moved else self.main
        caller = self.main
        tag = f"client{index}"
        value = self._value(bound, style.value, f"limit{end}", out if style.carrier == "direct" else caller)
        called = self._loaders(end, style, out)

        def made(timeout: str | None) -> str:
            if timeout is None:
                return "wire.Client(settings.ADDRESS)"
            written = f'**{{"timeout": {timeout}}}' if style.spread else f"timeout={timeout}"
            return f"wire.Client(settings.ADDRESS, {written})"

        if style.carrier == "config":
            self._config(end, out)
        parameter = {"direct": "", "config": "options"}.get(style.carrier, "timeout")
        inside = {"direct": value, "config": "options.timeout"}.get(style.carrier, "timeout")
        field = "" if value is None else f"timeout={value}"
        handed = {"direct": "", "config": f"Options{end}({field})"}.get(style.carrier, value or "")
        if style.home == "local":
            out.add(f"def use{end}():")
            out.add(f"client = {made(inside)}", 1, tag)
            out.add(called("client"), 1)
        elif style.home == "global":
            out.add(f"client{end} = {made(inside)}", 0, tag)
            out.add(f"def use{end}():")
            out.add(called(f"client{end}"), 1)
        elif style.home == "factory":
            out.add(f"def open{end}({parameter}):")
            out.add(f"return {made(inside)}", 1, tag)
            caller.add(f"def use{end}():")
            caller.add(f"client = open{end}({handed})", 1)
            caller.add(called("client"), 1)
        else:
            out.add(f"class Shop{end}:")
            out.add(f"def __init__({', '.join(x for x in ('self', parameter) if x)}):", 1)
            if style.carrier == "field":
                out.add("self.timeout = timeout", 2)
                inside = "self.timeout"
            out.add(f"self.client = {made(inside)}", 2, tag)
            out.add("def use(self):", 1)
            out.add(called("self.client"), 2)
            caller.add(f"def use{end}():")
            caller.add(f"Shop{end}({handed}).use()", 1)

    def _config(self, end: str, out: Lines) -> None:
        out.add(f"class Options{end}:")
        out.add("def __init__(self, timeout=None):", 1)
        out.add("self.timeout = timeout", 2)

    def _loaders(self, end: str, style: ClientStyle, out: Lines) -> Callable[[str], str]:
        """The functions between a client and its call."""
        for level in reversed(range(style.depth)):
            out.add(f"def load{level}{end}(client):")
            onward = f"load{level + 1}{end}(client)" if level + 1 < style.depth else 'client.fetch("/stock")'
            out.add(onward, 1)
        form = f"load0{end}({{}})" if style.depth else '{}.fetch("/stock")'
        if style.closure:
            form = f"(lambda: {form})()"
        return form.format

    def _service(self) -> None:
        shape, style, out = self.shape, self.style, self.main
        self.settings.add('ADDRESS = "stock:80"')
        if shape.fanout is not None:
            home = self.lib if style.fanout_moved else out
            home.add("stock = wire.Client(settings.ADDRESS, timeout=2)")
            home.add("def price(sku):")
            home.add("stock.fetch(sku)", 1)
            home.add("def price_all(skus):" if style.fanout_extracted else "def handle(skus):")
            if shape.fanout in ("limited", "checked"):
                home.add("if len(skus) > 50:", 1)
                home.add("return", 2)
            home.add(f"group = wire.Group({'limit=8' if shape.fanout in ('limited', 'unchecked') else ''})", 1)
            home.add("for sku in skus:", 1, "loop")
            home.add("group.run(price, sku)", 2, "spawn")
            home.add("group.wait()", 1)
            if style.fanout_extracted:
                out.add("def handle(skus):")
                out.add("price_all(skus)", 1)
        value = None if shape.server is None else self._value(shape.server, style.server_value, "patience", out)
        out.add("def main():")
        for index in range(len(shape.clients)):
            out.add(f"use{index}{style.names}()", 1)
        if shape.server is not None:
            written = "" if value is None else f", read_timeout={value}"
            out.add(f"server = wire.Server(settings.ADDRESS{written})", 1, "server")
            if shape.fanout is not None:
                out.add("server.handle(handle)", 1)
            out.add("server.serve()", 1)
