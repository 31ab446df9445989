"""Settings as frameworks see them: spelling, profiles, placeholders, environments, elements, beans, and what a value means."""

from __future__ import annotations

from pathlib import Path

import pytest
from resilint.flow.setting_faults import edits
from resilint.flow.surfaces import HOLE, Judged, judge, project_of, relaxed
from resilint.knowledge.schema import Bound
from resilint.program import Program
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import load


def program(root: Path, files: dict[str, str]) -> Program:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    settings, texts = load(root), Texts(root)
    return link(read_program(Scope(root, root), settings, texts), settings, texts)


def texts(linked: Program, key: str) -> list[str]:
    (written,) = linked.setting(key)
    return sorted(text.known for text in linked.surfaces.texts(written))


MILLISECONDS = Bound(slot="read", unit="ms", disabled=(0, "negative"), plausible=(500, 3_600_000))


@pytest.mark.parametrize(
    ("row", "text", "judged"),
    [
        (MILLISECONDS, "5000", Judged(5.0)),
        (MILLISECONDS, " 5s ", Judged(5.0)),
        (MILLISECONDS, "PT1M30S", Judged(90.0)),
        (MILLISECONDS, "90", Judged(0.09, mismatch="ms")),
        (MILLISECONDS, "2h", Judged(7200.0, mismatch="its unit")),
        (MILLISECONDS, "0", Judged(None, off=True)),
        (MILLISECONDS, "0s", Judged(None, off=True)),
        (MILLISECONDS, "-1", Judged(None, off=True)),
        (MILLISECONDS, "soon", Judged(None)),
        (MILLISECONDS, "", Judged(None)),
        (Bound(slot="read", unit="s", plausible=(1, 7200)), "30000", Judged(30000.0, mismatch="s")),
        (Bound(slot="total", unit="dur"), "250", Judged(0.25)),
        (Bound(slot="concurrency", unit="count", disabled=("cached",)), "Cached", Judged(None, off=True)),
        (Bound(slot="concurrency", unit="count", disabled=("negative",)), "12", Judged(12.0)),
        (Bound(slot="total", unit="bool", disabled=(False,)), "false", Judged(None, off=True)),
        (Bound(slot="total", unit="bool", disabled=(False,)), "true", Judged(None)),
    ],
)
def test_what_a_text_means(row: Bound, text: str, judged: Judged) -> None:
    found = judge(row, text)
    assert found.off == judged.off
    assert found.mismatch == judged.mismatch
    assert found.number == pytest.approx(judged.number) if judged.number is not None else found.number is None


def test_bare_numbers_count_as_the_surface_says() -> None:
    assert judge(Bound(slot="total", unit="dur"), "5", "s").number == 5


def test_spelling_does_not_matter_where_a_framework_ignores_it(tmp_path: Path) -> None:
    linked = program(
        tmp_path,
        {
            "a/src/main/resources/application.properties": "spring.datasource.hikari.maximumPoolSize=3\n",
            "b/src/main/resources/application.yml": "spring:\n  datasource.hikari:\n    MAXIMUM_POOL_SIZE: 4\n",
            "c/src/main/resources/other.yml": "spring.datasource.hikari.maximum-pool-size: 5\n",
        },
    )
    assert [(w.path[0], w.text) for w in linked.setting("spring.datasource.hikari.maximum-pool-size")] == [("a", "3"), ("b", "4")]
    assert {p.row.slot for p in linked.surfaces.placed} == {"concurrency"}


def test_exact_spelling_where_it_matters(tmp_path: Path) -> None:
    linked = program(tmp_path, {"application.yml": "hystrix.threadpool.a:\n  coreSize: 3\n  core-size: 4\n"})
    assert [p.written.text for p in linked.surfaces.placed] == ["3"]


def test_profiles(tmp_path: Path) -> None:
    files = {
        "application.yml": "server.port: 1\n---\nspring.config.activate.on-profile: prod\nserver.port: 2\n---\n"
        "spring:\n  profiles: it\nserver.port: 3\n",
        "application-prod.properties": "server.port=4\n#---\nserver.address=x\n",
    }
    linked = program(tmp_path / "all", files)
    assert [(w.text, w.profile) for w in linked.setting("server.port")] == [("4", "prod"), ("1", ""), ("2", "prod"), ("3", "it")]
    linked = program(tmp_path / "one", {**files, "resilint.yaml": "profile: prod\n"})
    assert [w.text for w in linked.setting("server.port")] == ["4", "1", "2"]


def test_placeholders(tmp_path: Path) -> None:
    linked = program(
        tmp_path,
        {
            "src/main/resources/application.yml": "server:\n  a: ${A:5}s\n  b: ${NOBODY}\n  c: x${server.a}-${NOBODY:}y\n"
            "  d: ${server.d}\n  e: ${P:${Q:7}}\n  f: '${unclosed'\n"
            "spring:\n  datasource:\n    url: jdbc:postgresql://${HOST}:5432/db\n",
        },
    )
    assert texts(linked, "server.a") == ["5s"]
    assert texts(linked, "server.b") == [HOLE]
    assert texts(linked, "server.c") == ["x5s-y"]
    assert texts(linked, "server.d") == [HOLE]
    assert texts(linked, "server.e") == ["7"]
    assert texts(linked, "server.f") == ["${unclosed"]
    assert texts(linked, "spring.datasource.url") == [f"jdbc:postgresql://{HOLE}:5432/db"]


def test_placeholders_that_multiply_are_cut(tmp_path: Path) -> None:
    lines = "".join(f"  k{i}: ${{server.k{i + 1}}}${{server.k{i + 1}}}\n" for i in range(40))
    linked = program(tmp_path, {"application.yml": f"server:\n{lines}  k40: x\n"})
    (written,) = linked.setting("server.k0")
    assert all(len(text.known) <= 4000 for text in linked.surfaces.texts(written))


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  template:
    spec:
      containers:
        - name: main
          image: "registry.example.com/shop/NAME:1"
          env:
            - {name: WAIT, value: "9"}
            - name: OTHER
              valueFrom: {secretKeyRef: {name: s, key: k}}
"""


def test_environments_belong_to_services(tmp_path: Path) -> None:
    application = "server:\n  wait: ${WAIT:1}\n"
    linked = program(
        tmp_path,
        {
            "services/cart/src/main/resources/application.yml": application,
            "services/stock/src/main/resources/application.yml": application,
            "deploy/cart.yaml": DEPLOYMENT.replace("NAME", "cart"),
            "compose.yaml": "services:\n  stock:\n    environment: [WAIT=4, ALONE]\n",
        },
    )
    found = {w.path.split("/")[1]: [t.known for t in linked.surfaces.texts(w)] for w in linked.setting("server.wait")}
    assert found == {"cart": ["9"], "stock": ["4"]}
    (step,) = linked.surfaces.texts(linked.setting("server.wait")[0])[0].steps
    assert (step.span.path, step.text) == ("deploy/cart.yaml", "WAIT is set here")
    assert linked.surfaces.environment("OTHER", "services/cart/a.py") == []


def test_elements_of_a_namespace_whatever_its_prefix(tmp_path: Path) -> None:
    linked = program(
        tmp_path,
        {
            "a.xml": '<beans xmlns:q="http://dubbo.apache.org/schema/dubbo" xmlns:s="http://www.springframework.org/schema/tx">'
            '<q:service interface="A" timeout="5"><q:method name="m" timeout="7"/></q:service><s:advice id="x"/></beans>'
        },
    )
    blocks = linked.surfaces.blocks
    assert [(b.key, sorted(b.attributes)) for b in blocks] == [
        (("dubbo", "service"), ["interface", "timeout"]),
        (("dubbo", "method"), ["name", "timeout"]),
    ]
    assert blocks[1].parent is blocks[0]


def test_beans(tmp_path: Path) -> None:
    linked = program(
        tmp_path,
        {
            "beans.xml": '<beans xmlns:p="http://www.springframework.org/schema/p">'
            '<bean id="a" class="x.A" p:size="3" p:other-ref="c">'
            '<property name="one" value="1"/><property name="two"><value>2</value></property>'
            '<property name="all"><props><prop key="k">v</prop></props></property><constructor-arg ref="b"/></bean>'
            '<bean class="x.B" parent="a"><property name="in"><bean class="x.C">'
            '<property name="deep" value="4"/></bean></property></bean>'
            "</beans>"
        },
    )
    first, second, third = linked.surfaces.beans
    assert {key: w.text for key, w in first.properties.items()} == {"size": "3", "one": "1", "two": "2", "all": "", "k": "v"}
    assert (first.name, sorted(first.refers), first.inherits) == ("a", ["b", "c"], False)
    assert (second.name, second.inherits) == ("", True)
    assert {key: w.text for key, w in third.properties.items()} == {"deep": "4"}


@pytest.mark.parametrize(
    ("path", "project"),
    [
        ("orders/src/main/resources/application.yml", "orders"),
        ("src/main/java/A.java", ""),
        ("orders/config/application.yml", "orders"),
        ("orders/a.py", "orders"),
        ("a.py", ""),
        ("x/source/a.py", "x/source"),
    ],
)
def test_projects(path: str, project: str) -> None:
    assert project_of(path) == project


def test_edits() -> None:
    assert edits("timeoutinmillseconds", "timeoutinmilliseconds", 2) == 1
    assert edits("abc", "abc", 2) == 0
    assert edits("abcdef", "badcfe", 2) == 3
    assert edits("short", "muchlonger", 2) == 3
    assert relaxed("Max-Pool_size") == "maxpoolsize"


def test_files_of_tests_are_left_out(tmp_path: Path) -> None:
    linked = program(tmp_path, {"src/test/resources/application.yml": "server.tomcat.connection-timeout: -1\n"})
    assert linked.surfaces.written == ()


def test_faults_of_broken_and_empty_files(tmp_path: Path) -> None:
    linked = program(
        tmp_path,
        {
            "application.yml": "server: [1\n",
            "application.properties": "=\nspring.datasource.url=jdbc:\n\\\n",
            "a.xml": "<beans><bean class=''/><bean/><dubbo:protocol threads='9'/><property name='x'/>",
            "gunicorn.conf.py": "timeout, b = 0, 1\ntimeout += 3\nx.timeout = 0\n",
        },
    )
    faults = linked.setting_faults
    assert [f.value.number for f in (*faults.disabled, *faults.mismatched, *faults.queries, *faults.unread)] == []
    assert list(linked.shared_servers()) == []
