"""What Java's own ways of handing on a duration give: boxes, null checks, arithmetic, conversions, builders."""

from __future__ import annotations

import pytest
from resilint.flow.values import Null, Num, Unknown
from resilint.program import Program

from .oracles.harness import linked

CLASS = """package com.acme;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
public class Limits {
    private static final long SHORT = MILLISECONDS.toNanos(20);
    private Duration read = Duration.ofSeconds(4);
    private Duration none = null;
    Limits read(Duration read) { this.read = read; return this; }
    Limits none(Duration none) { this.none = none; return this; }
    Duration read() { return read; }
    Duration none() { return none; }
    Duration getRead() { return read; }
    Duration getNone() { return none; }
    static Limits start() { return new Limits(); }
    static void main(String[] args) {
        sink(@);
    }
}
"""


def answers(expr: str) -> set[float | str | None]:
    """What an expression may be: numbers as they count, `None` for null, and that there is more."""
    program: Program = linked({"src/main/java/com/acme/Limits.java": CLASS.replace("@", expr)})
    resolver = program.resolver
    for fn in program.names.modules["src/main/java/com/acme/Limits.java"].functions:
        for site in fn.body.calls:
            if site.last == "sink":
                things = [flow.thing for flow in resolver.ask(site.call.args[0].value, resolver.frame(fn))]
                return {
                    float(x.number)
                    if isinstance(x, Num)
                    else None
                    if isinstance(x, Null)
                    else "open"
                    if isinstance(x, Unknown)
                    else repr(x)
                    for x in things
                }
    raise AssertionError("no call of sink")


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("Duration.of(3, ChronoUnit.SECONDS)", {3.0}),
        ("Duration.ofNanos(SHORT)", {0.02}),
        ("Duration.ofNanos(MILLISECONDS.toNanos(20))", {0.02}),
        ("Duration.ofSeconds(args.length > 1 ? 3 : 5)", {3.0, 5.0}),
        ("Duration.ofSeconds(3).plusMillis(500)", {3.5}),
        ("Duration.ofSeconds(3).plus(2, ChronoUnit.MINUTES)", {123.0}),
        ("Duration.ofSeconds(3).minus(Duration.ofSeconds(1)).multipliedBy(4)", {8.0}),
        ("Duration.ofSeconds(3).dividedBy(2)", {1.5}),
        ("Duration.ofSeconds(3).dividedBy(args.length)", {"open"}),
        ("Duration.ofMillis(Long.valueOf(250).longValue())", {0.25}),
        ("TimeUnit.SECONDS.toMillis(2)", {2000.0}),
        ("Optional.ofNullable(start().none()).orElse(Duration.ofSeconds(9))", {9.0}),
        ("Optional.ofNullable(start().read()).orElse(Duration.ofSeconds(9))", {4.0}),
        ("Optional.ofNullable(start()).map(Limits::getRead).orElse(null)", {4.0}),
        ("Optional.ofNullable(start()).map(Limits::getNone).orElse(null)", {None}),
        ("Optional.of(start().read()).map(d -> d.multipliedBy(2)).orElseGet(() -> Duration.ZERO)", {8.0}),
        ("Optional.<Duration>empty().orElseGet(() -> Duration.ofSeconds(7))", {7.0}),
        ("Objects.requireNonNullElse(start().none(), Duration.ofSeconds(6))", {6.0}),
        ("Objects.requireNonNull(start().read())", {4.0}),
        ("start().read(Duration.ofSeconds(8)).read()", {8.0}),
        ("start().none(Duration.ofSeconds(8)).read()", {4.0}),
        ("start().none(Duration.ofSeconds(8)).none()", {8.0}),
    ],
)
def test_what_an_expression_gives(expr: str, expected: set[float | str | None]) -> None:
    assert answers(expr) == expected
