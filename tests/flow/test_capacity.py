"""Containers, heaps, places, idle connections and public hosts, as settings describe them."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest
from resilint.flow.containers import Container, noun_of, size_of
from resilint.program import Program
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import load

KUBERNETES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
COMPOSE = {"": 1.0, "b": 1.0, "k": 2.0**10, "kb": 2.0**10, "m": 2.0**20, "mb": 2.0**20, "g": 2.0**30}


def program(root: Path, **files: str) -> Program:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_yaml", ".yaml").replace("_go", ".go").replace("_tf", ".tf")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    settings, texts = load(root), Texts(root)
    return link(read_program(Scope(root, root), settings, texts), settings, texts)


@pytest.mark.parametrize(
    ("text", "size"), [("1Gi", 2**30), ("1G", 1e9), ("1.5Gi", 1.5 * 2**30), ("64", 64), ("512m", None), ("1gb", None), ("", None)]
)
def test_kubernetes_tells_decimal_from_binary_units(text: str, size: float | None) -> None:
    assert size_of(text, KUBERNETES) == size


@pytest.mark.parametrize(
    ("text", "size"), [("1g", 2**30), ("512MB", 2**29), ("1024k", 2**20), ("100b", 100), ("1Gi", None), ("${LIMIT}", None)]
)
def test_compose_counts_in_1024(text: str, size: float | None) -> None:
    assert size_of(text, COMPOSE) == size


def test_nouns_of_images() -> None:
    assert [noun_of(i) for i in ("registry.example.com:5000/shop/orders-api:1.2", "orders@sha256:ab", "")] == [
        "orders-api",
        "orders",
        "",
    ]


COMPOSE_FILE = """\
services:
  shop:
    image: shop:1
    mem_limit: ${MEMORY:-1g}
    command: ["run", "$HEAP"]
    environment:
      HEAP_SIZE: 512m
      OPTS: -Xmx${HEAP_SIZE} ${MORE}
  mail:
    image: mail:1
"""


def test_containers_get_what_their_file_and_variables_say(tmp_path: Path) -> None:
    found: list[Container] = list(program(tmp_path, compose_yaml=COMPOSE_FILE).containers.all)
    assert [(c.where, c.most, c.image) for c in found] == [(("services", "shop"), 2**30, "shop:1")]
    given = found[0].variables["OPTS"]
    assert given is not None and given.text == "-Xmx512m \0"
    assert [word.text for word in found[0].words] == ["run", "\0"]


SERVERS = """\
package main

import (
	"net/http"
	"time"
)

func main() {
	a := &http.Server{Addr: ":8080", IdleTimeout: 30 * time.Second, ReadTimeout: time.Second}
	b := &http.Server{Addr: "127.0.0.1:8081", ReadTimeout: 5 * time.Second}
	c := &http.Server{Addr: port()}
	_, _, _ = a.ListenAndServe(), b.ListenAndServe(), c.ListenAndServe()
}

func port() string { return "" }
"""


def test_servers_close_after_their_idle_time_or_what_holds_for_it(tmp_path: Path) -> None:
    closers = program(tmp_path, main_go=SERVERS).idle_pairs.closers
    assert [(c.port, c.seconds, c.written) for c in closers] == [(8080, 30, True), (8081, 5, True), (None, inf, False)]


BALANCERS = """\
resource "aws_lb" "a" {
  name         = "a"
  idle_timeout = 30
}
resource "aws_lb" "b" { name = "b" }
resource "aws_lb" "c" {
  name               = "c"
  load_balancer_type = "network"
}
"""


def test_balancers_reuse_as_long_as_is_written_or_by_default(tmp_path: Path) -> None:
    reusers = program(tmp_path, lb_tf=BALANCERS).idle_pairs.reusers
    assert [(r.seconds, r.written, r.targets) for r in reusers] == [(30, True, ("a", "a")), (60, False, ("b", "b"))]


EDGE = """\
kind: Service
metadata: {name: account}
---
kind: Ingress
spec:
  rules:
    - host: account.shop.example
      http: {paths: [{backend: {service: {name: account}}}]}
    - host: both.shop.example
      http: {paths: [{backend: {service: {name: account}}}, {backend: {service: {name: mail}}}]}
    - host: elsewhere.shop.example
      http: {paths: [{backend: {service: {name: mail}}}]}
"""


def test_public_hosts_lead_to_one_service_that_is_described(tmp_path: Path) -> None:
    hosts = program(tmp_path, edge_yaml=EDGE).public_hosts.hosts
    assert {host: published.service for host, published in hosts.items()} == {"account.shop.example": "account"}
