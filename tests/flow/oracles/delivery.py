"""Chains of carriers with a timeout at one end and a slot at the other, printed with one link cut or with none.

Link `i` is stage `i` handing the value to the next one; the last stage is the slot, and the last link the write into it.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from .harness import Choices, Lines

PYTHON_STAGES = ("helper", "keyword", "field", "options", "partial", "closure", "kwargs")
PYTHON_SLOTS = ("function", "session")
GO_STAGES = ("options", "field", "option", "helper", "closure")
GO_SLOTS = ("client", "held")
JAVA_STAGES = ("helper", "overload", "field", "optional", "setter", "options", "record", "factory", "closure")
JAVA_SLOTS = ("request", "owned")
JAVA_SOURCES = ("property", "argument")
"""First stages alone: beans of XML, which gives the value to a setter or to the constructor; who needs them gets them by type or by
name."""
_KINDS = {"python": (PYTHON_STAGES, PYTHON_SLOTS), "go": (GO_STAGES, GO_SLOTS), "java": (JAVA_STAGES, JAVA_SLOTS)}


@dataclass(frozen=True)
class Chain:
    """The kinds of all stages from the source to the slot; `cut` is the link that does not hold, -1 for none."""

    stages: tuple[str, ...]
    slot: str
    cut: int

    def intact(self) -> Chain:
        """The same chain with every link."""
        return Chain(self.stages, self.slot, -1)


def _can_be_cut(language: str, stages: tuple[str, ...], link: int) -> bool:
    """Whether code without that link is what somebody could have written.

    Python: keywords that a `**kw` swallows promise nothing by name. Go: a function that takes a duration must be given one; an
    exported option maker that nothing here calls may be called elsewhere, so what its option sets is not known and all is quiet.
    Java: a method or constructor without a shorter overload must be given one; a bean's setter that nobody calls may be called by a
    framework.
    """
    if language == "java":
        return link >= len(stages) - 1 or stages[link + 1] in ("overload", "optional", "options")
    if language == "python":
        return link == len(stages) or stages[link] != "kwargs"
    return link >= len(stages) - 1 or stages[link + 1] not in ("helper", "closure", "option")


@st.composite
def chains(draw: st.DrawFn, language: str) -> Chain:
    """Chains of up to three stages before the slot: an offer is looked for up to three calls above the wait."""
    choose = Choices(draw)
    kinds, slots = _KINDS[language]
    stages = tuple(choose.of(kinds) for _ in range(choose.number(0, 3)))
    slot = choose.of(slots)
    if language == "java" and choose.chance(30):
        stages = (choose.of(JAVA_SOURCES), *stages[:2])
    if language == "python":
        # Only what is called as a function can be bound by a partial or be handed keywords.
        following = (*stages, "helper" if slot == "function" else "field")[1:]
        stages = tuple(
            "helper" if kind in ("partial", "kwargs") and after in ("field", "options") else kind
            for kind, after in zip(stages, following, strict=True)
        )
    links = [link for link in range(len(stages) + 1) if _can_be_cut(language, stages, link)]
    return Chain(stages, slot, choose.of(links))


class PythonChain:
    """A chain as Python. The tag `link2` is on the line on which stage 2 hands on or, as the last, waits."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.out = Lines("shop.py")
        for line in ("import dataclasses", "import functools", "import requests", 'URL = "http://stock/"'):
            self.out.add(line)
        self._slot()
        for index in reversed(range(len(chain.stages))):
            self._stage(index)
        self.out.add("def main():")
        self.out.add(self._call(0, "3"), 1)
        self.files = {self.out.path: self.out.text}

    def _held(self, link: int, value: str) -> str | None:
        return None if self.chain.cut == link else value

    def _slot(self) -> None:
        out, last = self.out, len(self.chain.stages)
        if self.chain.slot == "function":
            written = self._held(last, "timeout")
            out.add("def send(url, timeout=None):")
            out.add(f"return requests.get(url{'' if written is None else ', timeout=timeout'})", 1, f"link{last}")
            return
        written = self._held(last, "self._timeout")
        out.add("class Sender:")
        out.add("def __init__(self, timeout=None):", 1)
        out.add("self._session = requests.Session()", 2)
        out.add("self._timeout = timeout", 2)
        out.add("def fetch(self, url):", 1)
        out.add(f"return self._session.get(url{'' if written is None else ', timeout=self._timeout'})", 2, f"link{last}")

    def _kind(self, index: int) -> str:
        return self.chain.stages[index] if index < len(self.chain.stages) else self.chain.slot

    def _call(self, index: int, value: str | None) -> str:
        """A call of a stage with a value or without."""
        kind, given = self._kind(index), value or ""
        keyword = "" if value is None else f", timeout={value}"
        if kind == "function":
            return f"send(url{keyword})" if index else f"send(URL{keyword})"
        url = "url" if index else "URL"
        if kind == "session":
            return f"Sender({given}).fetch({url})"
        if kind == "field":
            return f"Step{index}({given}).run({url})"
        if kind == "options":
            return f"step{index}({url}, Options{index}({keyword.removeprefix(', ')}))"
        if kind == "helper":
            return f"step{index}({url}{'' if value is None else f', {value}'})"
        return f"step{index}({url}{keyword})"

    def _function(self, index: int) -> str:
        return f"step{index}" if index < len(self.chain.stages) else "send"

    def _stage(self, index: int) -> None:
        out, kind = self.out, self.chain.stages[index]
        carried = {"field": "self.timeout", "options": "options.timeout"}.get(kind, "timeout")
        onward = self._call(index + 1, self._held(index, carried))
        if kind == "field":
            out.add(f"class Step{index}:")
            out.add("def __init__(self, timeout=None):", 1)
            out.add("self.timeout = timeout", 2)
            out.add("def run(self, url):", 1)
            out.add(f"return {onward}", 2, f"link{index}")
        elif kind == "options":
            out.add("@dataclasses.dataclass")
            out.add(f"class Options{index}:")
            out.add("timeout: float | None = None", 1)
            out.add(f"def step{index}(url, options):")
            out.add(f"return {onward}", 1, f"link{index}")
        elif kind == "kwargs":
            out.add(f"def step{index}(url, **kw):")
            out.add(f"return {self._function(index + 1)}(url, **kw)", 1)
        elif kind == "partial":
            bound = "" if self.chain.cut == index else ", timeout=timeout"
            out.add(f"def step{index}(url, timeout=None):")
            out.add(f"bound = functools.partial({self._function(index + 1)}{bound})", 1)
            out.add("return bound(url)", 1, f"link{index}")
        elif kind == "closure":
            out.add(f"def step{index}(url, timeout=None):")
            out.add("def run():", 1)
            out.add(f"return {onward}", 2, f"link{index}")
            out.add("return run()", 1)
        else:
            out.add(f"def step{index}(url, timeout=None):")
            out.add(f"return {onward}", 1, f"link{index}")


class GoChain:
    """A chain as Go. The tag `link2` is on the line on which stage 2 hands on or, as the last, makes the client."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.out = Lines("main.go")
        for line in ("package main", "import (", '    "net/http"', '    "time"', ")"):
            self.out.add(line)
        self._slot()
        for index in reversed(range(len(chain.stages))):
            self._stage(index)
        self.out.add("func main() {")
        self.out.add('url := "http://stock/"', 1)
        self.out.add(self._call(0, "3 * time.Second"), 1)
        self.out.add("}")
        self.files = {self.out.path: self.out.text, "go.mod": "module example.com/shop\n"}

    def _held(self, link: int, value: str) -> str | None:
        return None if self.chain.cut == link else value

    def _slot(self) -> None:
        out, last = self.out, len(self.chain.stages)
        timeout = "" if self.chain.cut == last else "Timeout: o.Timeout"
        out.add("type SendOptions struct {")
        out.add("Timeout time.Duration", 1)
        out.add("}")
        if self.chain.slot == "client":
            out.add("func send(url string, o SendOptions) error {")
            out.add(f"client := &http.Client{{{timeout}}}", 1, f"link{last}")
            out.add("_, err := client.Get(url)", 1)
            out.add("return err", 1)
            out.add("}")
            return
        out.add("type Sender struct {")
        out.add("client *http.Client", 1)
        out.add("}")
        out.add("func NewSender(o SendOptions) *Sender {")
        out.add(f"return &Sender{{client: &http.Client{{{timeout}}}}}", 1, f"link{last}")
        out.add("}")
        out.add("func (s *Sender) Fetch(url string) error {")
        out.add("_, err := s.client.Get(url)", 1)
        out.add("return err", 1)
        out.add("}")

    def _call(self, index: int, value: str | None) -> str:
        kind = self.chain.stages[index] if index < len(self.chain.stages) else self.chain.slot
        field = "" if value is None else f"Timeout: {value}"
        if kind == "client":
            return f"send(url, SendOptions{{{field}}})"
        if kind == "held":
            return f"NewSender(SendOptions{{{field}}}).Fetch(url)"
        if kind == "options":
            return f"step{index}(url, Options{index}{{{field}}})"
        if kind == "field":
            return f"NewStep{index}(Config{index}{{{field}}}).Run(url)"
        if kind == "option":
            return f"step{index}(url{'' if value is None else f', WithTimeout{index}({value})'})"
        assert value is not None
        return f"step{index}(url, {value})"

    def _stage(self, index: int) -> None:
        out, kind = self.out, self.chain.stages[index]
        carried = {"field": "s.timeout", "options": "o.Timeout", "option": "c.timeout"}.get(kind, "timeout")
        onward = self._call(index + 1, self._held(index, carried))
        if kind == "options":
            out.add(f"type Options{index} struct {{")
            out.add("Timeout time.Duration", 1)
            out.add("}")
            out.add(f"func step{index}(url string, o Options{index}) error {{")
        elif kind == "field":
            out.add(f"type Config{index} struct {{")
            out.add("Timeout time.Duration", 1)
            out.add("}")
            out.add(f"type Step{index} struct {{")
            out.add("timeout time.Duration", 1)
            out.add("}")
            out.add(f"func NewStep{index}(c Config{index}) *Step{index} {{")
            out.add(f"return &Step{index}{{timeout: c.Timeout}}", 1)
            out.add("}")
            out.add(f"func (s *Step{index}) Run(url string) error {{")
        elif kind == "option":
            out.add(f"type conf{index} struct {{")
            out.add("timeout time.Duration", 1)
            out.add("}")
            out.add(f"type Option{index} func(*conf{index})")
            out.add(f"func WithTimeout{index}(timeout time.Duration) Option{index} {{")
            out.add(f"return func(c *conf{index}) {{ c.timeout = timeout }}", 1)
            out.add("}")
            out.add(f"func step{index}(url string, opts ...Option{index}) error {{")
            out.add(f"c := conf{index}{{}}", 1)
            out.add("for _, opt := range opts {", 1)
            out.add("opt(&c)", 2)
            out.add("}", 1)
        else:
            out.add(f"func step{index}(url string, timeout time.Duration) error {{")
        if kind == "closure":
            out.add("run := func() error {", 1)
            out.add(f"return {onward}", 2, f"link{index}")
            out.add("}", 1)
            out.add("return run()", 1)
        else:
            out.add(f"return {onward}", 1, f"link{index}")
        out.add("}")


_MARKS = ("org.springframework.stereotype.Service", "org.springframework.beans.factory.annotation.Autowired")


class JavaChain:
    """A chain as Java. The tag `link2` is on the line on which stage 2 hands on or, as the last, makes the request or client."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.out = Lines("src/main/java/com/acme/Shop.java")
        self.out.add("package com.acme;")
        for target in ("com.example.wire.Client", "java.net.URI", "java.time.Duration", "java.net.http.*", *_MARKS):
            self.out.add(f"import {target};")
        self.out.add("public class Shop {")
        self._slot()
        for index in reversed(range(len(chain.stages))):
            self._stage(index)
        beans = self._beans() if chain.stages and chain.stages[0] in JAVA_SOURCES else {}
        if not beans:
            self._block(
                "public static void main(String[] args) throws Exception {",
                'String url = "http://stock/";',
                self._call(0, "Duration.ofSeconds(3)"),
            )
        self.out.add("}")
        self.files = {self.out.path: self.out.text, **beans}

    def _beans(self) -> dict[str, str]:
        """The first stage as a bean of XML, and one of code that is given it by type, of XML that is given it by name."""
        out = Lines("src/main/resources/beans.xml")
        by_type = self.chain.stages[0] == "property"
        out.add('<beans xmlns="http://www.springframework.org/schema/beans">')
        out.add('<bean id="step" class="com.acme.Shop$Step0">', 1)
        out.add('<property name="timeout" value="PT3S"/>' if by_type else '<constructor-arg value="PT3S"/>', 2)
        out.add("</bean>", 1)
        if by_type:
            self.out.add("@Service", 1)
        else:
            out.add('<bean class="com.acme.Shop$Buyer"><property name="step" ref="step"/></bean>', 1)
        out.add("</beans>")
        self.out.add("static class Buyer {", 1)
        self.out.add(f"{'@Autowired ' if by_type else ''}private Step0 step;", 2)
        if not by_type:
            self._block("public void setStep(Step0 step) {", "this.step = step;", indent=2)
        self._block("void buy() throws Exception {", 'step.run("http://stock/");', indent=2)
        self.out.add("}", 1)
        return {out.path: out.text}

    def _block(self, head: str, *rows: str, indent: int = 1, tag: str = "") -> None:
        """A block; the tag is on its last row."""
        self.out.add(head, indent)
        for row in rows[:-1]:
            self.out.add(row, indent + 1)
        self.out.add(rows[-1], indent + 1, tag)
        self.out.add("}", indent)

    def _slot(self) -> None:
        last = len(self.chain.stages)
        cut, tag = self.chain.cut == last, f"link{last}"
        if self.chain.slot == "request":
            written = "" if cut else ".timeout(timeout)"
            request = f"HttpRequest.newBuilder(URI.create(url)){written}.build()"
            self.out.add("static final HttpClient HTTP = HttpClient.newHttpClient();", 1)
            self._block("static void send(String url) throws Exception {", "send(url, null);")
            self._block(
                "static void send(String url, Duration timeout) throws Exception {",
                f"HTTP.send({request}, HttpResponse.BodyHandlers.discarding());",
                tag=tag,
            )
            return
        self.out.add("static class Sender {", 1)
        self.out.add("private final Client client;", 2)
        self._block("Sender() {", "this(null);", indent=2)
        self._block("Sender(Duration timeout) {", f'client = new Client("stock"{"" if cut else ", timeout"});', indent=2, tag=tag)
        self._block("void fetch(String url) {", "client.fetch(url);", indent=2)
        self.out.add("}", 1)

    def _call(self, index: int, value: str | None) -> str:
        """The statements that call a stage with a value or without."""
        kind = self.chain.stages[index] if index < len(self.chain.stages) else self.chain.slot
        given = value or ""
        if kind == "request":
            return f"send(url{'' if value is None else f', {value}'});"
        if kind == "owned":
            return f"new Sender({given}).fetch(url);"
        if kind in ("field", "optional"):
            return f"new Step{index}({given}).run(url);"
        if kind == "setter":
            written = "" if value is None else f"held{index}.setTimeout({value}); "
            return f"Step{index} held{index} = new Step{index}(); {written}held{index}.run(url);"
        if kind == "factory":
            return f"Step{index}.of({given}).run(url);"
        if kind == "options":
            return f"step{index}(url, Options{index}.builder(){'' if value is None else f'.timeout({value})'}.build());"
        if kind == "record":
            return f"step{index}(url, new Limits{index}({given}));"
        return f"step{index}(url{'' if value is None else f', {value}'});"

    def _stage(self, index: int) -> None:
        kind, tag = self.chain.stages[index], f"link{index}"
        owned = kind in ("field", "optional", "setter", "factory", *JAVA_SOURCES)
        carried = {"options": "options.timeout()", "record": "limits.timeout()"}.get(kind, "this.timeout" if owned else "timeout")
        onward = self._call(index + 1, None if self.chain.cut == index else carried)
        if owned:
            self._class(index, kind, onward)
            return
        parameter = {"options": f"Options{index} options", "record": f"Limits{index} limits"}.get(kind, "Duration timeout")
        head = f"static void step{index}(String url, {parameter}) throws Exception {{"
        if kind == "options":
            self._options(index)
        elif kind == "record":
            self.out.add(f"record Limits{index}(Duration timeout) {{ }}", 1)
        elif kind == "overload":
            self._block(f"static void step{index}(String url) throws Exception {{", f"step{index}(url, null);")
        if kind != "closure":
            self._block(head, onward, tag=tag)
            return
        self.out.add(head, 1)
        self._block("Runnable run = () -> {", onward, indent=2, tag=tag)
        self.out.rows[-1] += ";"
        self.out.add("run.run();", 2)
        self.out.add("}", 1)

    def _class(self, index: int, kind: str, onward: str) -> None:
        name = f"Step{index}"
        self.out.add(f"static class {name} {{", 1)
        by_setter = kind in ("setter", "property")
        self.out.add(f"private {'' if by_setter else 'final '}Duration timeout;", 2)
        if by_setter:
            self._block("void setTimeout(Duration timeout) {", "this.timeout = timeout;", indent=2)
        else:
            self._block(f"{name}(Duration timeout) {{", "this.timeout = timeout;", indent=2)
        if kind == "optional":
            self._block(f"{name}() {{", "this(null);", indent=2)
        elif kind == "factory":
            self._block(f"static {name} of(Duration timeout) {{", f"return new {name}(timeout);", indent=2)
        self._block("void run(String url) throws Exception {", onward, indent=2, tag=f"link{index}")
        self.out.add("}", 1)

    def _options(self, index: int) -> None:
        name = f"Options{index}"
        self.out.add(f"static class {name} {{", 1)
        self.out.add("private final Duration timeout;", 2)
        self._block(f"private {name}(Builder builder) {{", "this.timeout = builder.timeout;", indent=2)
        self._block("static Builder builder() {", "return new Builder();", indent=2)
        self._block("Duration timeout() {", "return timeout;", indent=2)
        self.out.add("static class Builder {", 2)
        self.out.add("private Duration timeout = null;", 3)
        self._block("Builder timeout(Duration timeout) {", "this.timeout = timeout;", "return this;", indent=3)
        self._block(f"{name} build() {{", f"return new {name}(this);", indent=3)
        self.out.add("}", 2)
        self.out.add("}", 1)
