"""Policies of retries, as libraries are told them: how often, how far apart, on what."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path
from textwrap import dedent

import pytest
from resilint.flow.policies import Policy, Wave
from resilint.program import Program
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import Settings

Linked = Callable[[dict[str, str]], Program]


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    """A program of a few small files."""

    def make(files: dict[str, str]) -> Program:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(dedent(text), "utf-8")
        scope, settings, texts = Scope(tmp_path, tmp_path), Settings(), Texts(tmp_path)
        return link(read_program(scope, settings, texts), settings, texts)

    return make


def around(program: Program, name: str = "f") -> tuple[Policy, ...]:
    fn = next(fn for fn in program.functions() if fn.name == name)
    return program.policies.of_function(fn)


def at_call(program: Program, last: str) -> Policy:
    found = [p for fn in program.functions() for site in fn.body.calls if site.last == last for p in program.policies.of_call(site)]
    assert len(found) == 1
    return found[0]


PYTHON = """
    import backoff
    import requests
    import stamina
    import tenacity
    from celery import shared_task
    from retry import retry as simple
    from retrying import retry as again
"""


@pytest.mark.parametrize(
    ("decorator", "tries", "pauses", "budget", "grows", "jitter"),
    [
        ("@tenacity.retry", inf, (0, 0), inf, False, False),
        ("@tenacity.retry(stop=tenacity.stop_after_attempt(3))", 3, (0, 0), inf, False, False),
        ("@tenacity.retry(tenacity.Retrying, tenacity.stop_after_attempt(3))", 3, (0, 0), inf, False, False),
        (
            "@tenacity.retry(stop=tenacity.stop_after_attempt(4) | tenacity.stop_after_delay(9), wait=tenacity.wait_fixed(2))",
            *(4, (2, 2), 9, False, False),
        ),
        ("@tenacity.retry(stop=tenacity.stop_after_attempt(4) & tenacity.stop_after_delay(9))", inf, (0, 0), inf, False, False),
        (
            "@tenacity.retry(stop=tenacity.stop_after_attempt(4), wait=tenacity.wait_exponential(multiplier=1, min=4, max=10))",
            *(4, (4, 4, 4), inf, False, False),
        ),
        (
            "@tenacity.retry(stop=tenacity.stop_after_attempt(3), wait=tenacity.wait_fixed(1) + tenacity.wait_random(0, 2))",
            *(3, (3, 3), inf, False, True),
        ),
        (
            "@tenacity.retry(stop=tenacity.stop_after_attempt(4),\n"
            "    wait=tenacity.wait_chain(*[tenacity.wait_fixed(1), tenacity.wait_fixed(5)]))",
            *(4, (1, 5, 5), inf, True, False),
        ),
        ("@backoff.on_exception(backoff.expo, OSError, max_tries=4)", 4, (1, 2, 4), inf, True, True),
        ("@backoff.on_exception(backoff.expo, OSError, max_time=60, factor=3, jitter=None)", inf, (3, 6), 60, True, False),
        ("@backoff.on_exception(backoff.constant, OSError, max_tries=3, interval=0.5)", 3, (0.5, 0.5), inf, False, True),
        ("@again(stop_max_attempt_number=3, wait_fixed=500)", 3, (0.5, 0.5), inf, False, False),
        ("@again(stop_max_delay=8000, wait_exponential_multiplier=100)", inf, (0.2, 0.4), 8, True, False),
        ("@again(stop_max_attempt_number=4, wait_incrementing_increment=500)", 4, (0, 0.5, 1), inf, True, False),
        ("@again(stop_max_attempt_number=3, wait_fixed=500, wait_jitter_max=200)", 3, (0.7, 0.7), inf, False, True),
        ("@backoff.on_exception(backoff.fibo, OSError, max_tries=6, jitter=None)", 6, (1, 1, 2, 3, 5), inf, True, False),
        (
            "@tenacity.retry(stop=tenacity.stop_after_attempt(4),\n"
            "    wait=tenacity.wait_exponential_jitter(multiplier=3, jitter=0, min=4, max=9))",
            *(4, (4, 6, 9), inf, True, False),
        ),
        (
            "@tenacity.retry(stop=tenacity.stop_after_attempt(4),\n"
            "    wait=tenacity.wait_chain(tenacity.wait_fixed(1), tenacity.wait_exponential()))",
            *(4, (1, 2, 4), inf, True, False),
        ),
        (
            "@tenacity.retry(stop=tenacity.stop.stop_after_attempt(3), wait=tenacity.wait.wait_fixed(2))",
            3,
            (2, 2),
            inf,
            False,
            False,
        ),
        ("@simple(tries=4, delay=1, jitter=2)", 4, (1, 3, 5), inf, True, True),
        ("@stamina.retry(on=OSError, attempts=3, wait_jitter=0)", 3, (0.1, 0.2), 45, True, False),
        ("@shared_task(autoretry_for=(OSError,), max_retries=5, retry_backoff=True)", 6, (1, 2, 4), inf, True, True),
        ("@shared_task(autoretry_for=(OSError,), retry_kwargs={'max_retries': 2, 'countdown': 7})", 3, (7, 7), inf, False, False),
        ("@shared_task(autoretry_for=(OSError,), retry_kwargs={'max_retries': None})", 4, (180, 180), inf, False, False),
        ("@shared_task(autoretry_for=(OSError,), default_retry_delay=1800)", 4, (1800, 1800), inf, False, False),
        ("@shared_task(autoretry_for=(OSError,), max_retries=None)", inf, (180, 180), inf, False, False),
    ],
)
def test_decorators_of_python(
    linked: Linked,
    decorator: str,
    tries: float,
    pauses: tuple[float, ...],
    budget: float,
    grows: bool,
    jitter: bool,
) -> None:
    (policy,) = around(linked({"p.py": f"{dedent(PYTHON)}\n{decorator}\ndef f():\n    pass\n"}))
    assert policy.tries == tries
    assert policy.pauses is not None
    assert policy.pauses[: len(pauses)] == pytest.approx(pauses)
    assert (policy.budget, policy.grows, policy.jitter) == (budget, grows, jitter)


@pytest.mark.parametrize(
    "decorator",
    [
        "@tenacity.retry(stop=mine, wait=tenacity.wait_fixed(1))",
        "@tenacity.retry(stop=tenacity.stop_after_attempt(mine()))",
        "@tenacity.retry(**options())",
        "@again(stop_func=mine)",
        "@backoff.on_exception(backoff.constant, OSError, interval=[1, 2, 5])",
        "@again(stop='stop_after_attempt')",
    ],
)
def test_what_cannot_be_read_is_not_known(linked: Linked, decorator: str) -> None:
    (policy,) = around(
        linked({"p.py": f"{dedent(PYTHON)}\nfrom elsewhere import mine, options\n\n{decorator}\ndef f():\n    pass\n"})
    )
    assert policy.tries is None


def test_an_unread_pause_leaves_the_tries_known(linked: Linked) -> None:
    source = "from elsewhere import mine\nimport tenacity\n\n"
    source += "@tenacity.retry(stop=tenacity.stop_after_attempt(3), wait=mine)\ndef f():\n    pass\n"
    (policy,) = around(linked({"p.py": source}))
    assert (policy.tries, policy.pauses, policy.grows) == (3, None, None)


def test_decorators_through_files_and_functions(linked: Linked) -> None:
    program = linked(
        {
            "policies.py": """
                from tenacity import retry, stop_after_attempt

                def often(times=5):
                    return retry(stop=stop_after_attempt(times))

                def twice(fn):
                    return retry(stop=stop_after_attempt(2))(fn)

                steady = often(3)
            """,
            "use.py": """
                from policies import often, steady, twice

                @steady
                def a(): pass

                @often(7)
                def b(): pass

                @often()
                def c(): pass

                @twice
                def d(): pass

                @twice
                @steady
                def e(): pass
            """,
        }
    )
    assert [[p.tries for p in around(program, name)] for name in "abcde"] == [[3], [7], [5], [2], [3, 2]]
    assert around(program, "a")[0].span.path == "policies.py"


def test_clients_of_python(linked: Linked) -> None:
    program = linked(
        {
            "p.py": """
                import boto3, httpx, redis, requests
                from botocore.config import Config
                from requests.adapters import HTTPAdapter
                from urllib3.util.retry import Retry

                session = requests.Session()
                session.mount("https://", HTTPAdapter(max_retries=Retry(total=3, backoff_factor=0.5)))
                plain = requests.Session()
                s3 = boto3.client("s3", config=Config(retries={"max_attempts": 4}))
                sqs = boto3.client("sqs", config=Config(retries={"total_max_attempts": 4}))
                web = httpx.Client(transport=httpx.HTTPTransport(retries=2))

                def f():
                    session.get("u")
                    plain.head("u")
                    s3.get_object()
                    sqs.send_message()
                    web.post("u")
            """
        }
    )
    first = at_call(program, "get")
    assert (first.tries, first.pauses, first.jitter, first.condition) == (4, (0, 1, 2), False, "any")
    assert at_call(program, "get_object").tries == 5
    assert at_call(program, "send_message").tries == 4
    last = at_call(program, "post")
    assert (last.tries, last.condition) == (3, "connect")
    fn = next(fn for fn in program.functions() if fn.name == "f")
    assert all(not program.policies.of_call(site) for site in fn.body.calls if site.last == "head")


@pytest.mark.parametrize(
    ("retry", "tries"),
    [("Retry(total=None)", inf), ("Retry(total=None, connect=3, read=2)", None), ("Retry(connect=3)", 11), ("Retry(0)", 1)],
)
def test_what_limits_some_failures_only(linked: Linked, retry: str, tries: float | None) -> None:
    source = f"""
        import requests
        from requests.adapters import HTTPAdapter, Retry

        session = requests.Session()
        session.mount("https://", HTTPAdapter(max_retries={retry}))

        def f():
            session.get("u")
    """
    assert at_call(linked({"p.py": source}), "get").tries == tries


def test_a_retryer_of_its_own(linked: Linked) -> None:
    source = """
        import redis
        from redis.backoff import ExponentialBackoff
        from redis.retry import Retry

        store = redis.Redis(retry=Retry(ExponentialBackoff(cap=1, base=0.2), 3))

        def f():
            store.get("k")
    """
    policy = at_call(linked({"p.py": source}), "get")
    assert (policy.tries, policy.pauses, policy.jitter) == (4, (0.4, 0.8, 1), False)


def test_retries_that_a_client_of_go_is_told_in_a_field(linked: Linked) -> None:
    source = """
        package p

        import "github.com/go-resty/resty/v2"

        func f() error {
            c := resty.New()
            c.RetryCount = 3
            _, err := c.R().Get("http://stock/holds")
            return err
        }
    """
    policy = at_call(linked({"go.mod": "module p\n\ngo 1.22\n", "p.go": source}), "Get")
    assert (policy.tries, policy.jitter) == (4, True)
    assert policy.pauses == pytest.approx((0.1, 0.2, 0.4))


GO = """
    package p

    import (
        "context"
        "time"

        "github.com/avast/retry-go/v4"
        "github.com/cenkalti/backoff/v4"
        first "github.com/avast/retry-go"
        last "github.com/avast/retry-go/v5"
        five "github.com/cenkalti/backoff/v5"
        three "github.com/cenkalti/backoff/v3"
        steps "github.com/sethvargo/go-retry"
    )

    func op() error { return nil }

    func f(ctx context.Context) {
"""


@pytest.mark.parametrize(
    ("call", "tries", "pauses", "budget", "jitter"),
    [
        ("backoff.Retry(op, backoff.WithMaxRetries(backoff.NewExponentialBackOff(), 3))", 4, (0.75, 1.125), 900, True),
        ("backoff.Retry(op, backoff.NewConstantBackOff(time.Second))", inf, (1, 1), inf, False),
        ("backoff.Retry(op, &backoff.ZeroBackOff{})", inf, (0, 0), inf, False),
        ("b := backoff.NewExponentialBackOff()\nb.MaxElapsedTime = 0\nbackoff.Retry(op, b)", inf, (0.75,), inf, True),
        (
            "b := backoff.NewExponentialBackOff()\n"
            "b.InitialInterval, b.MaxInterval = time.Second, time.Second\nbackoff.Retry(op, b)",
            *(inf, (1.5, 1.5), 900, True),
        ),
        ("backoff.Retry(op, backoff.WithMaxRetries(&backoff.ZeroBackOff{}, 0))", 1, (), inf, False),
        ("three.Retry(op, three.WithMaxRetries(&three.ZeroBackOff{}, 0))", inf, (0, 0), inf, False),
        ("five.Retry(context.Background(), op, five.WithMaxTries(3))", 3, (0.75, 1.125), 900, True),
        ("five.Retry(context.Background(), op, five.WithBackOff(&five.ZeroBackOff{}))", inf, (0, 0), 900, False),
        ("five.Retry(ctx, op, five.WithMaxElapsedTime(0))", inf, (0.75,), None, True),
        ("retry.Do(op)", 10, (0.2, 0.3, 0.5), inf, True),
        ("retry.Do(op, retry.Attempts(3), retry.Delay(time.Second), retry.DelayType(retry.FixedDelay))", 3, (1, 1), inf, False),
        ("retry.Do(op, retry.DelayType(retry.BackOffDelay))", 10, (0.1, 0.2, 0.4), inf, False),
        ("retry.Do(op, retry.Attempts(0))", inf, (0.2,), inf, True),
        ("retry.Do(op, retry.UntilSucceeded())", inf, (0.2,), inf, True),
        ("first.Do(op, first.Attempts(0))", 1, (), inf, True),
        ("last.New(last.Attempts(3), last.Delay(time.Second)).Do(op)", 3, (1.1, 2.1), inf, True),
        ("retry.Do(op, retry.Delay(time.Second), retry.DelayType(retry.FullJitterBackoffDelay))", 10, (2, 4), inf, True),
        ("steps.Do(context.Background(), steps.WithMaxRetries(3, steps.NewFibonacci(time.Second)), nil)", 4, (1, 2, 3), inf, False),
        (
            "steps.Do(context.Background(), steps.WithMaxRetries(1, steps.WithFullJitter(steps.NewConstant(time.Second))), nil)",
            2,
            (1,),
            inf,
            True,
        ),
        (
            "b := steps.NewExponential(time.Second)\nb = steps.WithMaxRetries(4, b)\nsteps.Do(ctx, b, nil)",
            5,
            (1, 2, 4),
            None,
            False,
        ),
        (
            "steps.Do(context.Background(), steps.WithMaxDuration(9*time.Second, steps.NewConstant(time.Second)), nil)",
            *(inf, (1, 1), 9, False),
        ),
    ],
)
def test_calls_of_go(
    linked: Linked, call: str, tries: float, pauses: tuple[float, ...], budget: float | None, jitter: bool
) -> None:
    program = linked({"go.mod": "module p\n\ngo 1.22\n", "p.go": f"{dedent(GO)}\n{call}\n}}\n"})
    fn = next(fn for fn in program.functions() if fn.name == "f")
    (policy,) = (policy for site in fn.body.calls for policy in program.policies.of_call(site))
    assert policy.runs is not None
    assert policy.tries == tries
    assert policy.pauses is not None
    assert policy.pauses[: len(pauses)] == pytest.approx(pauses)
    assert (policy.budget, policy.jitter) == (budget, jitter)


JAVA = """
    import com.github.rholder.retry.*;
    import dev.failsafe.*;
    import io.github.resilience4j.core.IntervalFunction;
    import io.github.resilience4j.retry.RetryConfig;
    import io.github.resilience4j.retry.annotation.Retry;
    import java.time.Duration;
    import java.time.temporal.ChronoUnit;
    import java.util.concurrent.TimeUnit;
    import org.springframework.retry.annotation.*;
    import org.springframework.retry.support.RetryTemplate;
    import reactor.core.publisher.Mono;

    @EnableRetry
    class P {
        %s
        void f() throws Exception {
            %s;
        }
    }
"""


@pytest.mark.parametrize(
    ("annotation", "tries", "pauses", "jitter"),
    [
        ("@Retryable", 3, (1, 1), False),
        ("@Retryable(maxAttempts = 4, backoff = @Backoff(delay = 200, multiplier = 2))", 4, (0.2, 0.4, 0.8), False),
        ("@Retryable(backoff = @Backoff(delay = 200, maxDelay = 600, multiplier = 2, random = true))", 3, (0.2, 0.4), True),
        ("@Retryable(backoff = @Backoff(delay = 200, maxDelay = 600))", 3, (0.6, 0.6), True),
        ("@Retryable(backoff = @Backoff(delay = 200, random = true))", 3, (0.2, 0.2), False),
        ("@Retryable(maxAttempts = 4, backoff = @Backoff(delay = 20000, multiplier = 2))", 4, (20, 30, 30), False),
        ("@Retryable(backoff = @Backoff(delay = 60000))", 3, (60, 60), False),
        ('@Retry(name = "base")', 4, (3, 3, 3), False),
        ('@Retry(name = "stock")', 5, (0.1, 0.15), False),
        ('@Retry(name = "other")', 2, (0.5,), False),
    ],
)
def test_annotations_of_java(linked: Linked, annotation: str, tries: float, pauses: tuple[float, ...], jitter: bool) -> None:
    settings = """
        resilience4j.retry:
          configs.default: {max-attempts: 2}
          configs.slow: {wait-duration: 3s, max-attempts: 4}
          instances.stock: {max-attempts: 5, wait-duration: 100ms, enable-exponential-backoff: true}
          instances.base: {base-config: slow}
    """
    (policy,) = around(
        linked({"src/main/java/P.java": dedent(JAVA) % (annotation, "g()"), "src/main/resources/application.yml": settings})
    )
    assert policy.tries == tries
    assert policy.pauses is not None
    assert policy.pauses[: len(pauses)] == pytest.approx(pauses)
    assert policy.jitter is jitter


def test_an_annotation_that_nobody_enables_is_none(linked: Linked) -> None:
    source = dedent(JAVA) % ("@Retryable", "g()")
    assert around(linked({"P.java": source.replace("@EnableRetry\n", "")})) == ()


@pytest.mark.parametrize(
    ("call", "tries", "pauses", "jitter"),
    [
        ("RetryTemplate.builder().maxAttempts(3).fixedBackoff(100).build().execute(c -> 1)", 3, (0.1, 0.1), False),
        (
            "RetryTemplate.builder().maxAttempts(4).exponentialBackoff(100, 10, 60000).build().execute(c -> 1)",
            4,
            (0.1, 1, 10),
            False,
        ),
        ("RetryTemplate.builder().withTimeout(5000).fixedBackoff(200).build().execute(c -> 1)", inf, (0.2, 0.2), False),
        (
            "Failsafe.with(RetryPolicy.builder().withDelay(Duration.ofSeconds(1), Duration.ofSeconds(3)).build()).get(() -> 1)",
            *(3, (3, 3), True),
        ),
        (
            "Failsafe.with(RetryPolicy.builder().withBackoff(1, 3, ChronoUnit.SECONDS, 2.5).build()).get(() -> 1)",
            *(3, (1, 2.5), False),
        ),
        (
            "RetryerBuilder.newBuilder().withStopStrategy(StopStrategies.stopAfterAttempt(4))"
            ".withWaitStrategy(WaitStrategies.exponentialWait(100, 5, TimeUnit.MINUTES)).build().call(() -> 1)",
            *(4, (0.2, 0.4, 0.8), False),
        ),
        (
            "io.github.resilience4j.retry.Retry.of("
            '"a", RetryConfig.custom().intervalFunction(IntervalFunction.ofExponentialRandomBackoff(1000, 2.0, 0.1, 1500)).build())'
            ".executeSupplier(() -> 1)",
            *(3, (1.1, 1.5), True),
        ),
        (
            "Mono.just(1).retryWhen(reactor.util.retry.Retry.backoff(2, Duration.ofSeconds(1)).multiplier(3).jitter(0))",
            3,
            (1, 3),
            False,
        ),
        ("RetryTemplate.builder().infiniteRetry().noBackoff().build().execute(c -> 1)", inf, (0, 0), False),
        (
            "Failsafe.with(RetryPolicy.builder().withMaxRetries(2).withBackoff(Duration.ofMillis(100), Duration.ofSeconds(1))"
            ".withJitter(0.5).build()).get(() -> 1)",
            *(3, (0.15, 0.3), True),
        ),
        ("RetryerBuilder.newBuilder().build().call(() -> 1)", inf, (0, 0), False),
        (
            "RetryerBuilder.newBuilder().withStopStrategy(StopStrategies.stopAfterAttempt(3))"
            ".withWaitStrategy(WaitStrategies.fixedWait(2, TimeUnit.SECONDS)).build().call(() -> 1)",
            *(3, (2, 2), False),
        ),
        ("Mono.just(1).retryWhen(reactor.util.retry.Retry.backoff(3, Duration.ofMillis(100)))", 4, (0.15, 0.3), True),
        ("Mono.just(1).retry(2)", 3, (0, 0), False),
    ],
)
def test_calls_of_java(linked: Linked, call: str, tries: float, pauses: tuple[float, ...], jitter: bool) -> None:
    program = linked({"P.java": dedent(JAVA) % ("", call)})
    fn = next(fn for fn in program.functions() if fn.name == "f")
    (policy,) = (policy for site in fn.body.calls for policy in program.policies.of_call(site))
    assert policy.tries == tries
    assert policy.pauses is not None
    assert policy.pauses[: len(pauses)] == pytest.approx(pauses)
    assert policy.jitter is jitter


@pytest.mark.parametrize(
    ("errors", "condition"),
    [
        ("tenacity.retry_if_exception_type(ValueError)", "other"),
        ("tenacity.retry_if_exception_type((KeyError, ValueError))", "other"),
        ("tenacity.retry_if_exception_type((KeyError, requests.Timeout))", "any"),
        ("tenacity.retry_if_result(lambda x: x is None)", "result"),
        ("tenacity.retry_if_result(lambda x: x is None) | tenacity.retry_if_exception_type(requests.Timeout)", "any"),
    ],
)
def test_what_it_repeats_on(linked: Linked, errors: str, condition: str) -> None:
    source = f"{dedent(PYTHON)}\n@tenacity.retry(stop=tenacity.stop_after_attempt(3), retry={errors})\ndef f():\n    pass\n"
    (policy,) = around(linked({"p.py": source}))
    assert policy.condition == condition


def test_pauses_by_formula() -> None:
    assert [Wave(1.0, 2.0, high=5.0).pause(n) for n in range(4)] == [1, 2, 4, 5]
    assert [Wave(1.0, step=3.0).pause(n) for n in range(3)] == [1, 4, 7]
    assert Wave(1.0, 2.0, share=0.5, spread=1.0).pause(1) == 4
    assert Wave(2.0, 10.0).pause(10_000) == inf
    assert [Wave(1.0, 2.0, start=1).pause(n) for n in range(3)] == [2, 4, 8]
    assert [Wave(2.0, start=2, fibonacci=True).pause(n) for n in range(4)] == [2, 4, 6, 10]
    assert [Wave(4.0, 2.0, high=5.0, share=0.5, over=over).pause(3) for over in (False, True)] == [5, 7.5]
    assert [Wave(1.0, fibonacci=True, start=1).grows, Wave(3.0, 2.0, high=5.0, start=1).grows] == [True, False]
    assert Wave(None).pause(0) is None
    assert [Wave(1.0, 2.0).grows, Wave(5.0, 2.0, high=5.0).grows, Wave(0.0, 2.0).grows, Wave(1.0, None).grows] == [
        True,
        False,
        False,
        None,
    ]


def test_routes_of_settings(linked: Linked) -> None:
    program = linked(
        {
            "mesh.yaml": """
                apiVersion: networking.istio.io/v1
                kind: VirtualService
                spec:
                  hosts: [stock, stock.example.com]
                  http:
                    - match: [{uri: {prefix: /acme.v1.Stock/}}]
                      retries: {attempts: 4}
                    - retries: {attempts: 2, retryOn: "connect-failure, refused-stream"}
                    - timeout: 1s
            """,
            "envoy.yaml": """
                static_resources:
                  virtual_hosts:
                    - name: all
                      domains: ["prices"]
                      routes:
                        - match: {prefix: "/"}
                          route: {cluster: prices, retry_policy: {retry_on: 5xx}}
                        - match: {prefix: "/x"}
                          route: {cluster: prices, retry_policy: {num_retries: 9}}
            """,
        }
    )
    from resilint.flow.routes import Routes

    routes = Routes(program)
    assert [(r.tries, r.connect, r.default) for r in routes.of_host("stock.shop.svc.cluster.local")] == [
        (5, False, False),
        (3, True, False),
        (3, False, True),
    ]
    assert [r.tries for r in routes.of_service("acme.v1.Stock")] == [5]
    assert [r.rpc for r in routes.of_host("stock.shop.svc.cluster.local")] == [True, True, True]
    assert [r.tries for r in routes.of_host("prices")] == [2]
    assert not list(routes.of_host("stocks"))
    assert not list(routes.of_host("stock.other.com"))


@pytest.mark.parametrize(
    ("policies", "covers_all"),
    [
        ("Timeout.of(Duration.ofSeconds(5)), RetryPolicy.builder().withMaxRetries(2).build()", 5),
        ("RetryPolicy.builder().withMaxRetries(2).build(), Timeout.of(Duration.ofSeconds(5))", None),
        ("RetryPolicy.builder().withMaxRetries(2).build()", None),
    ],
)
def test_a_time_around_all_tries(linked: Linked, policies: str, covers_all: float | None) -> None:
    policy = at_call(linked({"P.java": dedent(JAVA) % ("", f"Failsafe.with({policies}).get(() -> 1)")}), "get")
    assert (policy.tries, policy.covers_all) == (3, covers_all)
