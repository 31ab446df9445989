"""The service as Java: `Main` and `Lib` of one package, a file for each class that carries something, and `settings.Settings`."""

from __future__ import annotations

from collections.abc import Callable

from .harness import Lines
from .shop import Bound, ClientStyle, Shape, Style

ROOT = "com.acme.shop"
FOLDER = "src/main/java/com/acme/shop"
IMPORTS = ("com.example.wire.Client", "com.example.wire.Group", "com.example.wire.Server", "java.time.Duration", "java.util.List")


class JavaShop:
    """Prints a service; `files` by path and `places` of its parts by path and line."""

    def __init__(self, shape: Shape, style: Style) -> None:
        self.shape = shape
        self.style = style
        self.outs: list[Lines] = []
        self.main, self.lib = self._open("Main"), self._open("Lib")
        self.settings = self._open("settings/Settings")
        self._block(
            self.lib,
            "static Duration envOr(String name, Duration fallback) {",
            "String text = System.getenv(name);",
            "return text == null ? fallback : Duration.parse(text);",
        )
        self.uses: list[str] = []
        for index, (bound, client) in enumerate(zip(shape.clients, style.clients, strict=True)):
            self._client(index, bound, client)
        self._service()
        for out in self.outs:
            out.add("}")
        self.files = {out.path: out.text for out in self.outs}
        self.places = {(out.path, line): tag for out in self.outs for tag, line in out.tags.items()}

    def _open(self, name: str) -> Lines:
        """A file of its own for a class, which stays open."""
        out = Lines(f"{FOLDER}/{name}.java")
        self.outs.append(out)
        package, _, last = name.rpartition("/")
        out.add(f"package {ROOT}{'.' if package else ''}{package};")
        for target in (*IMPORTS, *(() if package else (f"{ROOT}.settings.Settings",))):
            out.add(f"import {target};")
        out.add(f"public class {last} {{")
        return out

    def _value(self, bound: Bound, how: str, name: str, out: Lines) -> str | None:
        """The number as it is written where its carrier starts, declared before where that needs it."""
        if bound == "none":
            return None
        number = "Duration.ofSeconds(3)" if bound == "given" else "Duration.ZERO"
        if how == "constant":
            out.add(f"private static final Duration {name.upper()} = {number};", 1)
            return name.upper()
        if how == "elsewhere":
            self.settings.add(f"public static final Duration {name.upper()} = {number};", 1)
            return f"Settings.{name.upper()}"
        return number if how == "literal" else f'Lib.envOr("{name.upper()}", {number})'

    def _client(self, index: int, bound: Bound, style: ClientStyle) -> None:
        end = f"{index}{self.style.names}"
        out = self.lib if style.moved else self.main
        place = "Lib." if style.moved else ""
        tag = f"client{index}"
        home = self._open(f"Shop{end}") if style.home == "owner" else out
        value = self._value(bound, style.value, f"limit{end}", home if style.carrier == "direct" else self.main)
        called = self._loaders(end, style, out)
        if style.carrier == "config":
            self._config(end, style.spread)
        parameter = {"direct": "", "config": f"Options{end} options"}.get(style.carrier, "Duration timeout")
        inside = {"direct": value, "config": "options.timeout()"}.get(style.carrier, "timeout")
        handed = {"direct": "", "config": self._options(end, value, style.spread)}.get(style.carrier, value or "")
        made = self._made("Client", "timeout", inside, style.spread)
        if style.home == "local":
            out.add(f"static void use{end}() {{", 1)
            out.add(f"Client client = {made};", 2, tag)
            out.add(called("client"), 2)
            out.add("}", 1)
        elif style.home == "global":
            out.add(f"private static final Client CLIENT{end} = {made};", 1, tag)
            self._block(out, f"static void use{end}() {{", called(f"CLIENT{end}"))
        elif style.home == "factory":
            out.add(f"static Client open{end}({parameter}) {{", 1)
            out.add(f"return {made};", 2, tag)
            out.add("}", 1)
            self._block(self.main, f"static void use{end}() {{", f"Client client = {place}open{end}({handed});", called("client"))
        else:
            home.add("private final Client client;", 1)
            if style.carrier == "field":
                home.add("private final Duration timeout;", 1)
            home.add(f"Shop{end}({parameter}) {{", 1)
            if style.carrier == "field":
                home.add("this.timeout = timeout;", 2)
                made = self._made("Client", "timeout", "this.timeout", style.spread)
            home.add(f"this.client = {made};", 2, tag)
            home.add("}", 1)
            self._block(home, "void use() {", called("client"))
            self._block(self.main, f"static void use{end}() {{", f"new Shop{end}({handed}).use();")
        self.uses.append(f"{place if style.home in ('local', 'global') else ''}use{end}();")

    @staticmethod
    def _made(name: str, setter: str, value: str | None, built: bool) -> str:
        """Construction of something of the library, by its constructor or by its builder."""
        if built:
            return f"{name}.builder(){'' if value is None else f'.{setter}({value})'}.build()"
        return f"new {name}(Settings.ADDRESS{'' if value is None else f', {value}'})"

    def _config(self, end: str, built: bool) -> None:
        """Options, made by overloaded constructors or by a builder of their own."""
        out = self._open(f"Options{end}")
        out.add("private final Duration timeout;", 1)
        if built:
            self._block(out, f"private Options{end}(Builder builder) {{", "this.timeout = builder.timeout;")
            self._block(out, "static Builder builder() {", "return new Builder();")
        else:
            self._block(out, f"Options{end}() {{", "this(null);")
            self._block(out, f"Options{end}(Duration timeout) {{", "this.timeout = timeout;")
        self._block(out, "Duration timeout() {", "return timeout;")
        if built:
            out.add("static class Builder {", 1)
            out.add("private Duration timeout = null;", 2)
            self._block(out, "Builder timeout(Duration timeout) {", "this.timeout = timeout;", "return this;", indent=2)
            self._block(out, f"Options{end} build() {{", f"return new Options{end}(this);", indent=2)
            out.add("}", 1)

    @staticmethod
    def _options(end: str, value: str | None, built: bool) -> str:
        if built:
            return f"Options{end}.builder(){'' if value is None else f'.timeout({value})'}.build()"
        return f"new Options{end}({value or ''})"

    @staticmethod
    def _block(out: Lines, head: str, *rows: str, indent: int = 1) -> None:
        out.add(head, indent)
        for row in rows:
            out.add(row, indent + 1)
        out.add("}", indent)

    def _loaders(self, end: str, style: ClientStyle, out: Lines) -> Callable[[str], str]:
        """The methods between a client and its call."""
        for level in reversed(range(style.depth)):
            onward = f"load{level + 1}{end}(client);" if level + 1 < style.depth else 'client.fetch("/stock");'
            self._block(out, f"static void load{level}{end}(Client client) {{", onward)
        form = f"{'Lib' if out is self.lib else 'Main'}.load0{end}({{}});" if style.depth else '{}.fetch("/stock");'
        if style.closure:
            form = f"((Runnable) () -> {{{{ {form} }}}}).run();"
        return form.format

    def _service(self) -> None:
        shape, style, out = self.shape, self.style, self.main
        self.settings.add('public static final String ADDRESS = "stock:80";', 1)
        if shape.fanout is not None:
            home = self.lib if style.fanout_moved else out
            home.add("private static final Client STOCK = new Client(Settings.ADDRESS, Duration.ofSeconds(2));", 1)
            self._block(home, "static void price(String sku) {", "STOCK.fetch(sku);")
            name = "priceAll" if style.fanout_extracted else "handle"
            home.add(f"static void {name}(List<String> skus) {{", 1)
            if shape.fanout in ("limited", "checked"):
                home.add("if (skus.size() > 50) {", 2)
                home.add("return;", 3)
                home.add("}", 2)
            home.add(f"Group group = new Group({'8' if shape.fanout in ('limited', 'unchecked') else ''});", 2)
            home.add("for (String sku : skus) {", 2, "loop")
            home.add("group.run(() -> price(sku));", 3, "spawn")
            home.add("}", 2)
            home.add("group.join();", 2)
            home.add("}", 1)
            place = "Lib" if style.fanout_moved else "Main"
            if style.fanout_extracted:
                self._block(out, "static void handle(List<String> skus) {", f"{place}.priceAll(skus);")
                place = "Main"
        value = None if shape.server is None else self._value(shape.server, style.server_value, "patience", out)
        out.add("public static void main(String[] args) {", 1)
        for use in self.uses:
            out.add(use, 2)
        if shape.server is not None:
            out.add(f"Server server = {self._made('Server', 'readTimeout', value, False)};", 2, "server")
            if shape.fanout is not None:
                out.add(f"server.handle({place}::handle);", 2)
            out.add("server.serve();", 2)
        out.add("}", 1)
