"""The readers of configuration formats: exact settings of realistic files, positions, broken and hostile input."""

from __future__ import annotations

import gc
import json
import re
import tomllib
from importlib import import_module
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from resilint.facts import FileFacts, Setting, decode, encode
from resilint.read import ini
from resilint.read.yaml import _holes

KINDS = ("yaml", "json", "toml", "properties", "ini", "env", "nginx", "xml", "haproxy", "hcl", "dockerfile")


def read(kind: str, data: str | bytes) -> FileFacts:
    raw = data.encode() if isinstance(data, str) else data
    facts: FileFacts = import_module(f"resilint.read.{kind}").read(raw)
    assert facts.kind == kind
    check(facts, raw)
    return facts


def check(facts: FileFacts, raw: bytes) -> None:
    """What holds for all facts of configuration."""
    assert decode(encode(facts)) == facts
    assert len(facts.errors) <= 5
    seen: set[tuple[int, tuple[str, ...]]] = set()
    for setting in facts.settings:
        assert 0 <= setting.at <= setting.end <= len(raw), setting
        assert 0 <= setting.key_at <= setting.key_end <= len(raw), setting
        assert setting.path
        assert (setting.doc, setting.path) not in seen, setting
        seen.add((setting.doc, setting.path))
        if setting.kind in ("map", "list", "null"):
            assert setting.text == ""
    for error in facts.errors:
        assert 0 <= error.at <= len(raw)
        assert 0 < len(error.message) < 300
    if facts.kind in ("yaml", "json", "toml"):
        for doc, path in seen:
            assert len(path) == 1 or (doc, path[:-1]) in seen, path


def table(kind: str, data: str | bytes) -> dict[str, tuple[str, str]]:
    """Path to kind and text, of a file without errors."""
    facts = read(kind, data)
    assert facts.errors == ()
    return {"/".join(s.path): (s.kind, s.text) for s in facts.settings}


def leaves(kind: str, data: str | bytes) -> dict[str, str]:
    """Path to text of all but containers."""
    return {path: text for path, (of, text) in table(kind, data).items() if of not in ("map", "list")}


def find(facts: FileFacts, path: str, doc: int = 0) -> Setting:
    (found,) = [s for s in facts.settings if s.path == tuple(path.split("/")) and s.doc == doc]
    return found


def written(data: str | bytes, setting: Setting) -> tuple[str, str]:
    """Key and value as they stand in the file."""
    raw = data.encode() if isinstance(data, str) else data
    return raw[setting.key_at : setting.key_end].decode(), raw[setting.at : setting.end].decode()


# ---------------------------------------------------------------- YAML

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: payments-api  # the name
  labels: {app: payments, "tier": api}
spec:
  replicas: 3
  template:
    spec:
      terminationGracePeriodSeconds: 30
      containers:
      - name: api
        image: "registry.example.com/api:1.2"
        env:
        - name: HTTP_TIMEOUT
          value: "30"
        - name: DB
          valueFrom:
            secretKeyRef: {name: db, key: url}
        livenessProbe:
          httpGet: {path: /healthz, port: 8080}
          timeoutSeconds: 1
      volumes: []

status:
"""


def test_yaml_deployment() -> None:
    facts = read("yaml", DEPLOYMENT)
    assert [("/".join(s.path), s.kind, s.text) for s in facts.settings] == [
        ("apiVersion", "str", "apps/v1"),
        ("kind", "str", "Deployment"),
        ("metadata", "map", ""),
        ("metadata/name", "str", "payments-api"),
        ("metadata/labels", "map", ""),
        ("metadata/labels/app", "str", "payments"),
        ("metadata/labels/tier", "str", "api"),
        ("spec", "map", ""),
        ("spec/replicas", "int", "3"),
        ("spec/template", "map", ""),
        ("spec/template/spec", "map", ""),
        ("spec/template/spec/terminationGracePeriodSeconds", "int", "30"),
        ("spec/template/spec/containers", "list", ""),
        ("spec/template/spec/containers/0", "map", ""),
        ("spec/template/spec/containers/0/name", "str", "api"),
        ("spec/template/spec/containers/0/image", "str", "registry.example.com/api:1.2"),
        ("spec/template/spec/containers/0/env", "list", ""),
        ("spec/template/spec/containers/0/env/0", "map", ""),
        ("spec/template/spec/containers/0/env/0/name", "str", "HTTP_TIMEOUT"),
        ("spec/template/spec/containers/0/env/0/value", "str", "30"),
        ("spec/template/spec/containers/0/env/1", "map", ""),
        ("spec/template/spec/containers/0/env/1/name", "str", "DB"),
        ("spec/template/spec/containers/0/env/1/valueFrom", "map", ""),
        ("spec/template/spec/containers/0/env/1/valueFrom/secretKeyRef", "map", ""),
        ("spec/template/spec/containers/0/env/1/valueFrom/secretKeyRef/name", "str", "db"),
        ("spec/template/spec/containers/0/env/1/valueFrom/secretKeyRef/key", "str", "url"),
        ("spec/template/spec/containers/0/livenessProbe", "map", ""),
        ("spec/template/spec/containers/0/livenessProbe/httpGet", "map", ""),
        ("spec/template/spec/containers/0/livenessProbe/httpGet/path", "str", "/healthz"),
        ("spec/template/spec/containers/0/livenessProbe/httpGet/port", "int", "8080"),
        ("spec/template/spec/containers/0/livenessProbe/timeoutSeconds", "int", "1"),
        ("spec/template/spec/volumes", "list", ""),
        ("status", "null", ""),
    ]
    container = "spec/template/spec/containers/0"
    assert written(DEPLOYMENT, find(facts, "metadata/name")) == ("name", "payments-api")
    assert written(DEPLOYMENT, find(facts, "metadata/labels")) == ("labels", '{app: payments, "tier": api}')
    assert written(DEPLOYMENT, find(facts, "metadata/labels/tier")) == ('"tier"', "api")
    assert written(DEPLOYMENT, find(facts, f"{container}/env/0/value")) == ("value", '"30"')
    assert written(DEPLOYMENT, find(facts, f"{container}/env/0")) == ("", 'name: HTTP_TIMEOUT\n          value: "30"')
    assert written(DEPLOYMENT, find(facts, f"{container}/livenessProbe"))[1].endswith("timeoutSeconds: 1")
    assert written(DEPLOYMENT, find(facts, "spec/template/spec/volumes")) == ("volumes", "[]")
    assert written(DEPLOYMENT, find(facts, "spec"))[1].endswith("volumes: []")
    empty = find(facts, "status")
    assert empty.at == empty.end == len(DEPLOYMENT) - 1


def test_yaml_compose_with_anchors_and_merges() -> None:
    data = """\
x-defaults: &defaults
  restart: always
  stop_grace_period: 10s
  logging: &log
    driver: json-file
    options: {max-size: 10m}
x-health: &health
  timeout: 5s
  restart: never
services:
  web:
    <<: *defaults
    image: web:1
    stop_grace_period: 1m30s
  db:
    <<: [*health, *defaults]
    logging: *log
  bare:
    <<: {a: 1}
  odd:
    <<: not-a-map
"""
    facts = read("yaml", data)
    assert leaves("yaml", data) == {
        "x-defaults/restart": "always",
        "x-defaults/stop_grace_period": "10s",
        "x-defaults/logging/driver": "json-file",
        "x-defaults/logging/options/max-size": "10m",
        "x-health/timeout": "5s",
        "x-health/restart": "never",
        "services/web/image": "web:1",
        "services/web/stop_grace_period": "1m30s",
        "services/web/restart": "always",
        "services/web/logging/driver": "json-file",
        "services/web/logging/options/max-size": "10m",
        "services/db/timeout": "5s",
        "services/db/restart": "never",
        "services/db/stop_grace_period": "10s",
        "services/db/logging/driver": "json-file",
        "services/db/logging/options/max-size": "10m",
        "services/bare/a": "1",
        "services/odd/<<": "not-a-map",
    }
    # What a merge brings stands where it is written.
    merged = find(facts, "services/web/restart")
    original = find(facts, "x-defaults/restart")
    assert (merged.at, merged.end, merged.key_at) == (original.at, original.end, original.key_at)
    # An alias as a value: its own key and the alias; below it the places where the anchor's values are written.
    assert written(data, find(facts, "services/db/logging")) == ("logging", "*log")
    assert written(data, find(facts, "services/db/logging/driver")) == ("driver", "json-file")
    # Before what they hold.
    paths = [s.path for s in facts.settings]
    assert paths.index(("services", "web", "logging")) < paths.index(("services", "web", "logging", "options"))


def test_yaml_merge_as_the_standard_loader_does() -> None:
    data = "a: &a {x: 1, y: {p: 1, q: 2}}\nb: &b {<<: *a, z: 3}\nc: {y: 4, <<: [*b, *a]}\nd: [*a, *b, {<<: *b, x: 5}]\n"
    assert _values_of(table("yaml", data)) == _flat(yaml.safe_load(data))


def test_yaml_own_key_wins_through_two_merges() -> None:
    assert leaves("yaml", "a: &a {x: 1}\nb: &b {<<: *a, x: 2}\nc: {<<: [*b, *a]}\n")["c/x"] == "2"


def test_yaml_scalars() -> None:
    data = """\
a: yes
b: Off
c: ~
d: 0x1F
e: 0o17
f: 017
g: 1_000
h: -1.5e3
i: 1e3
j: .inf
k: "yes"
l: 12:30:45
m: 2024-01-01
n: 1.2.3
o: !!str 12
p: !!int "12"
q: !Ref Thing
r: !vault |
  secret
s: 08
t: -0b11
u: '~'
v: !!float 3
w: + 1
x: !custom {k: 1}
y: .5
z: NULL
"""
    assert table("yaml", data) == {
        "a": ("bool", "true"),
        "b": ("bool", "false"),
        "c": ("null", ""),
        "d": ("int", "31"),
        "e": ("int", "15"),
        "f": ("int", "15"),
        "g": ("int", "1000"),
        "h": ("float", "-1.5e3"),
        "i": ("float", "1e3"),
        "j": ("float", "inf"),
        "k": ("str", "yes"),
        "l": ("str", "12:30:45"),
        "m": ("str", "2024-01-01"),
        "n": ("str", "1.2.3"),
        "o": ("str", "12"),
        "p": ("int", "12"),
        "q": ("str", "Thing"),
        "r": ("str", "secret\n"),
        "s": ("str", "08"),
        "t": ("int", "-3"),
        "u": ("str", "~"),
        "v": ("float", "3"),
        "w": ("str", "+ 1"),
        "x": ("map", ""),
        "x/k": ("int", "1"),
        "y": ("float", ".5"),
        "z": ("null", ""),
    }
    facts = read("yaml", data)
    assert written(data, find(facts, "o")) == ("o", "12")
    assert written(data, find(facts, "q")) == ("q", "Thing")
    assert written(data, find(facts, "r")) == ("r", "|\n  secret")
    assert written(data, find(facts, "x")) == ("x", "{k: 1}")


def test_yaml_spring_documents() -> None:
    data = """\
spring:
  datasource:
    hikari.connection-timeout: 30000
---
spring.config.activate.on-profile: prod
server: {port: 8080}
---
# nothing here
---
last: 1
"""
    facts = read("yaml", data)
    assert [(s.doc, "/".join(s.path), s.text) for s in facts.settings if s.kind != "map"] == [
        (0, "spring/datasource/hikari.connection-timeout", "30000"),
        (1, "spring.config.activate.on-profile", "prod"),
        (1, "server/port", "8080"),
        (3, "last", "1"),
    ]


def test_yaml_positions_of_other_encodings() -> None:
    lines = ["\ufeffgröße: 'ü€😀'", "liste:", '  - é: "a\\u00e9\\"😀"', "  -   zwei  # ä", "text: |", "  ä", "  b", "end: x", ""]
    data = "\r\n".join(lines).encode()
    facts = read("yaml", data)
    assert facts.errors == ()
    assert [(s.path, s.text, *written(data, s)) for s in facts.settings if s.kind == "str"] == [
        (("größe",), "ü€😀", "größe", "'ü€😀'"),
        (("liste", "0", "é"), 'aé"😀', "é", '"a\\u00e9\\"😀"'),
        (("liste", "1"), "zwei", "", "zwei"),
        (("text",), "ä\nb\n", "text", "|\r\n  ä\r\n  b"),
        (("end",), "x", "end", "x"),
    ]


def test_yaml_bytes_that_are_no_utf8() -> None:
    data = b"a: \xff\xfe1\nb: \x01\x7f\nc: 1\n"
    assert leaves("yaml", data) == {"a": "\ufffd\ufffd1", "b": "\x01\x7f", "c": "1"}


def test_yaml_keys() -> None:
    data = "on: 1\n1: a\n? [x, y]\n: c\n? {m: n}\n: {d: 1}\n'': empty\n&k key: *k\n*k : again\ndup: {a: 1}\ndup: {b: 2}\n"
    assert table("yaml", data) == {
        "on": ("int", "1"),
        "1": ("str", "a"),
        "[x, y]": ("str", "c"),
        "{m: n}": ("map", ""),
        "{m: n}/d": ("int", "1"),
        "": ("str", "empty"),
        "key": ("str", "again"),
        "dup": ("map", ""),
        "dup/b": ("int", "2"),
    }


HELM = """\
{{- if .Values.enabled }}
apiVersion: apps/v1
metadata:
  name: {{ include "chart.fullname" . }}
  labels:
    {{- include "chart.labels" . | nindent 4 }}
  annotations:
    fixed: "yes"
    {{- range $key, $value := .Values.annotations }}
    {{ $key }}: {{ $value | quote }}
    {{- end }}
spec:
  {{- /* several
       lines */}}
  replicas: {{ .Values.replicas | default 2 }}
  timeout: {{ .Values.timeout }}s
  image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default "latest" }}"
  resources:
{{ toYaml .Values.resources | indent 4 }}
  script: |
    {{- if .Values.debug }}
    set -x
      {{- end }}
    run --timeout {{ .Values.timeout }}
  config: |
    {{- toYaml .Values.config | nindent 4 }}
  inline: |- {{ include "chart.script" . | nindent 4 }}
  after: 5
{{- end }}
"""


def test_yaml_helm_template() -> None:
    facts = read("yaml", HELM)
    found = leaves("yaml", HELM)
    assert found.pop("spec/script").split("\n")[-4:] == ["set -x", "  {{- end }}", "run --timeout {{ .Values.timeout }}", ""]
    assert found == {
        "apiVersion": "apps/v1",
        "metadata/name": '{{ include "chart.fullname" . }}',
        "metadata/labels": '{{- include "chart.labels" . | nindent 4 }}',
        "metadata/annotations/fixed": "yes",
        "metadata/annotations/{{ $key }}": "{{ $value | quote }}",
        "spec/replicas": "{{ .Values.replicas | default 2 }}",
        "spec/timeout": "{{ .Values.timeout }}s",
        "spec/image": '{{ .Values.image.repository }}:{{ .Values.image.tag | default "latest" }}',
        "spec/resources": "{{ toYaml .Values.resources | indent 4 }}",
        "spec/config": "{{- toYaml .Values.config | nindent 4 }}",
        "spec/inline": '{{ include "chart.script" . | nindent 4 }}',
        "spec/after": "5",
    }
    for path in ("metadata/name", "metadata/labels", "spec/replicas", "spec/timeout", "spec/resources"):
        setting = find(facts, path)
        assert setting.kind == "str"
        assert written(HELM, setting) == (path.rsplit("/", 1)[1], setting.text)
    assert written(HELM, find(facts, "spec/after")) == ("after", "5")


def test_yaml_hole_behind_a_key_is_the_first_part_of_a_block_or_the_value() -> None:
    text = 'labels: {{- include "chart.labels" . | nindent 2 }}\n  app: {{ .Values.app }}\n%safter: 5\n'
    assert leaves("yaml", text % "") == {"labels/app": "{{ .Values.app }}", "after": "5"}
    alone = leaves("yaml", text.replace("  app: {{ .Values.app }}\n", "") % "")
    assert alone == {"labels": '{{- include "chart.labels" . | nindent 2 }}', "after": "5"}
    # What begins no new line cannot have anything below it.
    assert read("yaml", text.replace(" | nindent 2", "") % "").errors


def test_yaml_jinja_and_actions() -> None:
    data = """\
{% set x = 1 %}
- hosts: "{{ target }}"
  {% if serial %}
  serial: {{ serial }}
  {% endif %}
  run: echo ${{ matrix.python }} ok
  env: {A: "{{ a }}", B: {{ b }}}
  {# a note #}
  n: {% if a %}1{% else %}2{% endif %}
"""
    assert leaves("yaml", data) == {
        "0/hosts": "{{ target }}",
        "0/serial": "{{ serial }}",
        "0/run": "echo ${{ matrix.python }} ok",
        "0/env/A": "{{ a }}",
        "0/env/B": "{{ b }}",
        "0/n": "{% if a %}1{% else %}2{% endif %}",
    }


def test_yaml_open_template_holes_are_found_in_one_pass() -> None:
    assert _holes(b"{{ a }}{{ b\n{{ c }} {% d }} {% e %}") == [(0, 7), (12, 19), (20, 35)]
    assert _holes(b'{{ "{{" }} x {{ "}}" }} {{ "a') == [(0, 10), (13, 23)]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("b: [1,\n", "node content"),
        ("b: 'x\n", "document indicator"),
        ("b: c: d\n", "mapping values are not allowed"),
        ("  b: 1\n c: 2\n", ""),
        ("b: @x\n", "cannot start any token"),
        ("b: *nowhere\n", "no anchor"),
        ("b: &b [*b]\n", "inside its own value"),
        ("b: {x\n", ""),
        ("{x: 1} y: 2\n", ""),
        ('b: "\\q"\n', "escape"),
    ],
)
def test_yaml_broken_document_is_left_out(broken: str, message: str) -> None:
    data = f"a: 1\n---\n{broken}---\nc: 3\n"
    facts = read("yaml", data)
    assert [(s.doc, s.path, s.text) for s in facts.settings] == [(0, ("a",), "1"), (2, ("c",), "3")]
    (error,) = facts.errors
    assert message in error.message
    assert 9 <= error.at <= data.index("---\nc")


def test_yaml_many_broken_documents() -> None:
    facts = read("yaml", "".join(f"---\na: {'[' if i % 2 else i}\n" for i in range(2000)))
    assert len(facts.errors) == 5
    assert [(s.doc, s.text) for s in facts.settings] == [(i, str(i)) for i in range(0, 2000, 2)]


def test_yaml_bombs() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(20)
    )
    merges = "a0: &a0 {k: 1}\n" + "".join(f"a{i + 1}: &a{i + 1} {{x{i}: *a{i}, y{i}: *a{i}, <<: *a{i}}}\n" for i in range(60))
    for data in (bomb, merges):
        facts = read("yaml", data + "---\nb: 1\n")
        assert [error.message for error in facts.errors] == ["aliases expand to too many values"]
        assert [(s.doc, s.path) for s in facts.settings] == [(1, ("b",))]
    deep = "a0: &a0 {k: 1}\n" + "".join(f"a{i + 1}: &a{i + 1} {'{x: ' * 150}*a{i}{'}' * 150}\n" for i in range(60))
    assert [error.message for error in read("yaml", deep).errors] == ["nested too deeply"]


def test_yaml_long_lists_are_cut() -> None:
    facts = read("yaml", "l: [" + ",".join(["1"] * 1500) + ", [2, &x 3], {a: 1}]\nm: *x\nn: 1\n")
    assert facts.errors == ()
    assert len(facts.settings) == 1003
    assert [s.path[0] for s in facts.settings[-2:]] == ["m", "n"]


def test_yaml_suppressions() -> None:
    (suppression,) = read("yaml", "a: 1\nb: 2  # resilint: ignore[RS101] known\n").suppressions
    assert (suppression.line, suppression.codes, suppression.own_line) == (2, ("RS101",), False)


def test_yaml_without_the_library_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    with_c = [read("yaml", data) for data in (DEPLOYMENT, HELM)]
    monkeypatch.setattr("resilint.read.yaml._Loader", yaml.SafeLoader)
    assert [read("yaml", data) for data in (DEPLOYMENT, HELM)] == with_c
    assert [s.doc for s in read("yaml", "a: [\n---\nb: 1\n").settings] == [1]
    assert read("yaml", "[" * 100_000).errors[0].message == "nested too deeply"


def test_collections_go_on_after_reading() -> None:
    assert gc.isenabled()
    read("yaml", "a: 1")
    read("json", "{")
    assert gc.isenabled()


# ---------------------------------------------------------------- JSON

PACKAGE = """\
{
  "name": "web",
  "private": true,
  "scripts": { "start": "node --max-http-header-size=1 \\"x\\"" },
  "engines": {"node": ">=18"},
  "files": ["a", "b/\\u00e9"],
  "n": [1, -2.5e3, null, [], {}]
}
"""


def test_json_package() -> None:
    facts = read("json", PACKAGE)
    assert [("/".join(s.path), s.kind, s.text, *written(PACKAGE, s)) for s in facts.settings] == [
        ("name", "str", "web", '"name"', '"web"'),
        ("private", "bool", "true", '"private"', "true"),
        ("scripts", "map", "", '"scripts"', '{ "start": "node --max-http-header-size=1 \\"x\\"" }'),
        ("scripts/start", "str", 'node --max-http-header-size=1 "x"', '"start"', '"node --max-http-header-size=1 \\"x\\""'),
        ("engines", "map", "", '"engines"', '{"node": ">=18"}'),
        ("engines/node", "str", ">=18", '"node"', '">=18"'),
        ("files", "list", "", '"files"', '["a", "b/\\u00e9"]'),
        ("files/0", "str", "a", "", '"a"'),
        ("files/1", "str", "b/é", "", '"b/\\u00e9"'),
        ("n", "list", "", '"n"', "[1, -2.5e3, null, [], {}]"),
        ("n/0", "int", "1", "", "1"),
        ("n/1", "float", "-2.5e3", "", "-2.5e3"),
        ("n/2", "null", "", "", "null"),
        ("n/3", "list", "", "", "[]"),
        ("n/4", "map", "", "", "{}"),
    ]


def test_json_with_comments_and_trailing_commas() -> None:
    data = '\ufeff// head\n{\n  /* a, "b": */ "compilerOptions": {"strict": true, /**/},\n  "lib": ["x", // y ]\n  ],\n}\n// end'
    assert leaves("json", data) == {"compilerOptions/strict": "true", "lib/0": "x"}


def test_json_strings_and_duplicates() -> None:
    data = '{"a": "x\ty", "b": "\\ud83d\\ude00 \\ud800 \\q", "é😀": "ü", "a": {"k": 1}, "c": "last", "a": {"l": 2}}'
    facts = read("json", data)
    assert leaves("json", data) == {"b": "😀 \ufffd \\q", "é😀": "ü", "c": "last", "a/l": "2"}
    assert written(data, find(facts, "é😀")) == ('"é😀"', '"ü"')


@pytest.mark.parametrize(
    ("data", "at", "message", "kept"),
    [
        ('{"a": 1, "b": ', 14, "the file ends", ["1"]),
        ('{"a": 1 "b": 2}', 8, "comma", ["1"]),
        ('{"a": "x\n}', 6, "not closed", []),
        ('{"a": 01}', 6, "not a JSON value", []),
        ('{"a": [1, {"b": 2}, tru]}', 20, "not a JSON value", ["1", "2"]),
        ('{"a": [,]}', 7, "value is missing", []),
        ('{"a": 1,, "b": 2}', 8, "key in quotes", ["1"]),
        ('{"a" 1}', 5, "colon", []),
        ('{"a": 1} x', 9, "more text", ["1"]),
        ('{"a": 1}\nx', 9, "more text", ["1"]),
        ('{\n"a": 1}\n{"b": 2}', 10, "more text", ["1"]),
        ('{"a": 1}\n{\n"b": 2}', 9, "more text", ["1"]),
        ('{"a": 1} {"b": 2}', 9, "more text", ["1"]),
        ('{"a": 1}\n{"b": }', 15, "value is missing", ["1"]),
        ("{a: 1}", 1, "key in quotes", []),
        ("[1, 2}", 5, "comma", ["1", "2"]),
    ],
)
def test_json_broken(data: str, at: int, message: str, kept: list[str]) -> None:
    facts = read("json", data)
    (error,) = facts.errors
    assert error.at == at
    assert message in error.message
    assert [s.text for s in facts.settings if s.kind not in ("map", "list")] == kept


def test_documents_on_lines_of_their_own_are_rows_and_no_settings() -> None:
    for data in ('{"a": 1}\n{"a": 2}', '\n {"a": 1}\r\n\n[2, 3] \n', "[1]\n[2]\n[3]\n"):
        facts = read("json", data)
        assert facts.errors == ()
        assert facts.settings == ()


def test_json_long_lists_are_cut() -> None:
    data = '{"l": [' + ",".join(["1"] * 100_000) + ', {"a": [1, "]"]}, [2], 3,], "m": [[[' + '"x",' * 1200 + '"y"]]], "n": 1}'
    facts = read("json", data)
    assert facts.errors == ()
    assert len(facts.settings) == 1 + 1000 + 3 + 1000 + 1
    assert facts.settings[-1].path == ("n",)
    assert written(data, find(facts, "l"))[1].endswith("3,]")
    assert [e.message for e in read("json", '{"l": [' + "[1]," * 1001 + "[").errors] == ["the file ends too early"]
    assert [e.message for e in read("json", '{"l": [' + "[1]," * 1001 + '["x\n]').errors] == ["string is not closed"]


# ---------------------------------------------------------------- TOML

PYPROJECT = """\
# build
[build-system]
requires = ["hatchling>=1.25"] # one

[project]
name = "web"
dependencies = [
  "httpx>=0.27",
  'requests',  # resilint: ignore[RS1] old
]
urls.home = "https://example.com"
"quoted.key" = '''
two
lines'''

[tool.pool]
size = 1_000
hex = 0xff
ratio = +1.5e3
on = true
day = 1979-05-27 07:32:00Z
inline = { a = 1, b.c = [true, {}], "d" = "x\\ty" }

[[tool.server]]
host = "a"
[tool.server.limits]
rate = inf
[[tool.server]]
host = "b"
"""


def test_toml_pyproject() -> None:
    facts = read("toml", PYPROJECT)
    assert facts.errors == ()
    assert [("/".join(s.path), s.kind, s.text) for s in facts.settings] == [
        ("build-system", "map", ""),
        ("build-system/requires", "list", ""),
        ("build-system/requires/0", "str", "hatchling>=1.25"),
        ("project", "map", ""),
        ("project/name", "str", "web"),
        ("project/dependencies", "list", ""),
        ("project/dependencies/0", "str", "httpx>=0.27"),
        ("project/dependencies/1", "str", "requests"),
        ("project/urls", "map", ""),
        ("project/urls/home", "str", "https://example.com"),
        ("project/quoted.key", "str", "two\nlines"),
        ("tool", "map", ""),
        ("tool/pool", "map", ""),
        ("tool/pool/size", "int", "1000"),
        ("tool/pool/hex", "int", "255"),
        ("tool/pool/ratio", "float", "1.5e3"),
        ("tool/pool/on", "bool", "true"),
        ("tool/pool/day", "str", "1979-05-27 07:32:00Z"),
        ("tool/pool/inline", "map", ""),
        ("tool/pool/inline/a", "int", "1"),
        ("tool/pool/inline/b", "map", ""),
        ("tool/pool/inline/b/c", "list", ""),
        ("tool/pool/inline/b/c/0", "bool", "true"),
        ("tool/pool/inline/b/c/1", "map", ""),
        ("tool/pool/inline/d", "str", "x\ty"),
        ("tool/server", "list", ""),
        ("tool/server/0", "map", ""),
        ("tool/server/0/host", "str", "a"),
        ("tool/server/0/limits", "map", ""),
        ("tool/server/0/limits/rate", "float", "inf"),
        ("tool/server/1", "map", ""),
        ("tool/server/1/host", "str", "b"),
    ]
    assert written(PYPROJECT, find(facts, "tool/pool/size")) == ("size", "1_000")
    assert written(PYPROJECT, find(facts, "project/urls/home")) == ("home", '"https://example.com"')
    assert written(PYPROJECT, find(facts, "project/quoted.key")) == ('"quoted.key"', "'''\ntwo\nlines'''")
    assert written(PYPROJECT, find(facts, "tool/pool/inline/b/c")) == ("c", "[true, {}]")
    assert written(PYPROJECT, find(facts, "tool/pool/day")) == ("day", "1979-05-27 07:32:00Z")
    assert written(PYPROJECT, find(facts, "tool/server/0")) == ("", '[[tool.server]]\nhost = "a"\n[tool.server.limits]\nrate = inf')
    assert written(PYPROJECT, find(facts, "tool/pool"))[0] == "pool"
    assert len(facts.suppressions) == 1


def test_toml_agrees_with_the_parser() -> None:
    values = tomllib.loads(PYPROJECT)
    del values["tool"]["pool"]["day"]
    found = table("toml", PYPROJECT)
    del found["tool/pool/day"]
    assert _values_of(found) == _flat(values)


def test_toml_encodings() -> None:
    data = '\ufeff"größe" = "ü€"\r\n[a]\r\nx = """é\r\n😀"""\r\ny = 1\r\n'.encode()
    facts = read("toml", data)
    assert facts.errors == ()
    assert written(data, find(facts, "größe")) == ('"größe"', '"ü€"')
    assert find(facts, "a/x").text == "é\n😀"
    assert written(data, find(facts, "a/y")) == ("y", "1")


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ("a = 1\n[x]\nb = 2\nc = \nd = 4\n", ["a", "b"]),
        ('a = 1\nb = """x\n\nc = 2\n', ["a"]),
        ("a = 1\nb = [\n 1,\n 2\nc = 3\n", ["a"]),
        ("a = 1\na = 2\n", ["a"]),
        ("a = 1\n[x\nb = 1", ["a"]),
        ("a = 1 b = 2\n", []),
        ("= 1\n", []),
        ("a = 1\nb = 0x\nc = 1\n", ["a"]),
        ("a = 1\n\x01", ["a"]),
        ("a = 1\nb = " + "[" * 100_000, ["a"]),
        ("a = 1\nb = " + "{x=" * 5_000, ["a"]),
    ],
)
def test_toml_broken(data: str, kept: list[str]) -> None:
    facts = read("toml", data)
    assert len(facts.errors) == 1
    assert [s.path[-1] for s in facts.settings if s.kind not in ("map", "list")] == kept


def test_toml_hostile_keys() -> None:
    for data in (".".join(["a"] * 100_000) + " = 1", "[" + ".".join(["'a'"] * 100_000) + "]"):
        assert [e.message for e in read("toml", data).errors] == ["nested too deeply"]


def test_toml_long_arrays_are_cut() -> None:
    data = "l = [" + "1," * 3000 + "]\n" + "[[t]]\nx = 1\ny.z = [1]\n[t.u]\nv = 1\n" * 1500 + "[z]\na = 1\n"
    facts = read("toml", data)
    assert facts.errors == ()
    assert len([s for s in facts.settings if s.path[0] == "l"]) == 1001
    assert len([s for s in facts.settings if s.path[0] == "t"]) == 1 + 1000 * 7
    assert facts.settings[-1].path == ("z", "a")


# ---------------------------------------------------------------- properties


def test_properties() -> None:
    data = """\
# resilint: ignore-file[RS9] generated
spring.datasource.url=jdbc:postgresql://db/x?a=b
spring.datasource.hikari.maximum-pool-size : 10
! comment
ratio 0.5
flag = true
servers[0].host = a
servers[1].host:b
logging.level.[com.foo]=DEBUG
long = first, \\
       second, \\
    third
esc\\ aped\\:key = tab\\there \\u00fc \\\\ end\\
  .
empty=
alone
   indented  =  x y  \n\
dup = 1
dup = 2
#---
dup = 3
ümlaut=ä
"""
    facts = read("properties", data)
    assert facts.errors == ()
    assert [(s.doc, s.path, s.kind, s.text) for s in facts.settings] == [
        (0, ("spring", "datasource", "url"), "str", "jdbc:postgresql://db/x?a=b"),
        (0, ("spring", "datasource", "hikari", "maximum-pool-size"), "int", "10"),
        (0, ("ratio",), "float", "0.5"),
        (0, ("flag",), "bool", "true"),
        (0, ("servers", "0", "host"), "str", "a"),
        (0, ("servers", "1", "host"), "str", "b"),
        (0, ("logging", "level", "com.foo"), "str", "DEBUG"),
        (0, ("long",), "str", "first, second, third"),
        (0, ("esc aped:key",), "str", "tab\there ü \\ end."),
        (0, ("empty",), "str", ""),
        (0, ("alone",), "str", ""),
        (0, ("indented",), "str", "x y"),
        (0, ("dup",), "int", "2"),
        (1, ("dup",), "int", "3"),
        (1, ("ümlaut",), "str", "ä"),
    ]
    assert written(data, find(facts, "spring/datasource/hikari/maximum-pool-size"))[1] == "10"
    assert written(data, find(facts, "long")) == ("long", "first, \\\n       second, \\\n    third")
    assert written(data, find(facts, "indented")) == ("indented", "x y")
    assert written(data, find(facts, "ümlaut", 1)) == ("ümlaut", "ä")
    assert facts.suppressions[0].whole_file


def test_properties_line_ends_and_bad_escapes() -> None:
    facts = read("properties", b"\xef\xbb\xbfa=1\r\nb=x\\\r\n  y\r\nc=\\u00\r\nd=\\ud800\nlast=z\\")
    assert [(s.path[0], s.text) for s in facts.settings] == [("a", "1"), ("b", "xy"), ("c", "u00"), ("d", "\ufffd"), ("last", "z")]
    assert [e.message for e in facts.errors] == ["malformed \\u escape"]


# ---------------------------------------------------------------- INI


def test_ini() -> None:
    data = """\
top = 1
; comment
[pgbouncer]
listen_port = 6432 ; inline
query_timeout: 0.5
url = http://x;y
quoted = "a ; b" ; c
server list =
  one
  two
   three
flag
empty =
key = again
key = more
[other]
on = Yes
[pgbouncer]
late = 1
"""
    facts = read("ini", data)
    assert facts.errors == ()
    assert [("/".join(s.path), s.kind, s.text) for s in facts.settings] == [
        ("top", "int", "1"),
        ("pgbouncer", "map", ""),
        ("pgbouncer/listen_port", "int", "6432"),
        ("pgbouncer/query_timeout", "float", "0.5"),
        ("pgbouncer/url", "str", "http://x;y"),
        ("pgbouncer/quoted", "str", '"a ; b"'),
        ("pgbouncer/server list", "str", "one\ntwo\nthree"),
        ("pgbouncer/flag", "null", ""),
        ("pgbouncer/empty", "str", ""),
        ("pgbouncer/key", "str", "again"),
        ("pgbouncer/key#2", "str", "more"),
        ("other", "map", ""),
        ("other/on", "bool", "Yes"),
        ("pgbouncer/late", "int", "1"),
    ]
    assert written(data, find(facts, "pgbouncer/listen_port")) == ("listen_port", "6432")
    assert written(data, find(facts, "pgbouncer/server list")) == ("server list", "one\n  two\n   three")
    assert written(data, find(facts, "pgbouncer"))[0] == "pgbouncer"
    assert written(data, find(facts, "pgbouncer"))[1].endswith("key = more")
    empty = find(facts, "pgbouncer/empty")
    assert empty.at == empty.end == data.index("empty =") + len("empty =")


def test_ini_gunicorn_unit() -> None:
    data = """\
[Unit]
Description=gunicorn ; daemon
After=network.target

[Service]
Environment="A=b c"
Environment=D=e
ExecStart=/usr/bin/gunicorn \\
    --workers 3 \\
    # a comment
    --timeout 0 app:app
TimeoutStopSec=5
ExecStartPre=
KillMode=mixed
"""
    facts = read("ini", data)
    assert leaves("ini", data) == {
        "Unit/Description": "gunicorn ; daemon",
        "Unit/After": "network.target",
        "Service/Environment": '"A=b c"',
        "Service/Environment#2": "D=e",
        "Service/ExecStart": "/usr/bin/gunicorn --workers 3 --timeout 0 app:app",
        "Service/TimeoutStopSec": "5",
        "Service/ExecStartPre": "",
        "Service/KillMode": "mixed",
    }
    start = find(facts, "Service/ExecStart")
    assert written(data, start)[1].startswith("/usr/bin/gunicorn \\\n")
    assert written(data, start)[1].endswith("app:app")


@pytest.mark.parametrize(
    ("data", "kept", "messages"),
    [
        # As config_parse and parse_line do in systemd's src/shared/conf-parser.c.
        ("A=1 \\\n# c\n  ; c \\\n 2\nB=3", {"A": "1 2", "B": "3"}, []),
        ("A=C:\\\\\nB=2\n", {"A": "C:\\\\", "B": "2"}, []),
        ("A=C:\\\\\\\nB=2\n", {"A": "C:\\\\ B=2"}, []),
        ("A=1 \\\n\nB=2\n", {"A": "1", "B": "2"}, []),
        ("A=1 \\\r\n \t\r\nB=2\r\n", {"A": "1", "B": "2"}, []),
        ("A=1 \\ \nB=2\n", {"A": "1 \\", "B": "2"}, []),
        ("A=1 \\\n\\\n2", {"A": "1 2"}, []),
        ("A= \\\n  2 \\", {"A": "2"}, []),
        ("A=1 \\\n[Unit]\nB=2\n", {"A": "1 [Unit]", "B": "2"}, []),
        ("A\nB: 1\n=3\nC=2\n", {"C": "2"}, ["line without `=`", "line without `=`", "value without a key"]),
        ("A \\\n  B \\\n  C\nD=2\n", {"D": "2"}, ["line without `=`"]),
        ("{% if a %}\nA={{ b }}\n{% endif %}\n", {"A": "{{ b }}"}, []),
    ],
)
def test_ini_lines_of_units(data: str, kept: dict[str, str], messages: list[str]) -> None:
    facts = read("ini", "[Service]\n" + data)
    assert {"/".join(s.path[1:]): s.text for s in facts.settings if s.kind != "map"} == kept
    assert [e.message for e in facts.errors] == messages


def test_ini_keys_before_the_sections_of_a_unit() -> None:
    data = "A=1 \\\n  B=2\nC=3\n[Unit]\nD=4\n"
    facts = read("ini", data)
    assert [(s.path, s.text) for s in facts.settings] == [(("Unit",), ""), (("Unit", "D"), "4")]
    assert [(e.at, e.message) for e in facts.errors] == [
        (0, "key before the first section"),
        (data.index("C"), "key before the first section"),
    ]


def test_ini_what_is_a_unit() -> None:
    broken = b"[Service\nExecStart=a \\\n  b: 1\n"
    assert [s.text for s in ini.read(broken, ".service").settings] == ["", "a b: 1"]
    assert [s.text for s in ini.read(broken).settings] == ["", "a \\\nb: 1"]
    assert leaves("ini", "[Unit]\nA=1 \\\n  2\n[X-Own]\nB=3\n") == {"Unit/A": "1 2", "X-Own/B": "3"}
    # Another program's file, though one section is called as one of units.
    assert leaves("ini", "[Service]\nport: 1 ; of the API\nverbose\n[Database]\nhost: db\n") == {
        "Service/port": "1",
        "Service/verbose": "",
        "Database/host": "db",
    }


def test_ini_broken_and_encodings() -> None:
    facts = read("ini", "\ufeff[a]\r\nä = ö ; ü\r\n[broken\r\nx = 1\r\n= 2\r\n")
    assert [(s.path, s.text) for s in facts.settings] == [
        (("a",), ""),
        (("a", "ä"), "ö"),
        (("broken",), ""),
        (("broken", "x"), "1"),
    ]
    assert [e.message for e in facts.errors] == ["section without closing bracket", "value without a key"]


# ---------------------------------------------------------------- env


def test_env() -> None:
    data = """\
# comment
HTTP_TIMEOUT=30
export DB_URL="postgres://x?a=\\"1\\"\\n" # why
LITERAL='a $b \\n # c'
PLAIN=some words  # comment
HASH=a#b
EMPTY=
PASSED_ON
MULTI="one
two"
  SPACED = x
ON=true
ü=1
HTTP_TIMEOUT=60
"""
    facts = read("env", data)
    assert [(s.path[0], s.kind, s.text) for s in facts.settings] == [
        ("DB_URL", "str", 'postgres://x?a="1"\n'),
        ("LITERAL", "str", "a $b \\n # c"),
        ("PLAIN", "str", "some words"),
        ("HASH", "str", "a#b"),
        ("EMPTY", "str", ""),
        ("PASSED_ON", "null", ""),
        ("MULTI", "str", "one\ntwo"),
        ("SPACED", "str", "x"),
        ("ON", "bool", "true"),
        ("HTTP_TIMEOUT", "int", "60"),
    ]
    assert written(data, find(facts, "DB_URL")) == ("DB_URL", '"postgres://x?a=\\"1\\"\\n"')
    assert written(data, find(facts, "PLAIN")) == ("PLAIN", "some words")
    assert written(data, find(facts, "MULTI")) == ("MULTI", '"one\ntwo"')
    assert [(e.at, e.message) for e in facts.errors] == [(len(data[: data.index("ü")].encode()), "not a KEY=value line")]


def test_env_of_a_makefile() -> None:
    data = "TAG ?= latest\nIMAGE := orders:$(TAG)\nURL = http://a?b=1\nBAD ! x\n"
    facts = read("env", data)
    assert [(s.path[0], s.text) for s in facts.settings] == [("TAG", "latest"), ("IMAGE", "orders:$(TAG)"), ("URL", "http://a?b=1")]
    assert [e.at for e in facts.errors] == [data.index("BAD")]


def test_env_open_quotes() -> None:
    facts = read("env", "A=\"x\r\nB=1\r\nC='y\r\nD=2")
    assert [(s.path[0], s.text) for s in facts.settings] == [("B", "1"), ("D", "2")]
    assert [e.message for e in facts.errors] == ["quote is not closed"] * 2


# ---------------------------------------------------------------- nginx

NGINX = """\
user  nginx;
http {
    upstream api {
        server 10.0.0.1:8080 max_fails=3 fail_timeout=10s;
        server 10.0.0.2:8080;
        keepalive 32;
    }
    map $http_upgrade $connection { default upgrade; '' close; }
    server {
        listen 80;
        server_name example.com "www.example.com";  # names
        location /api {
            proxy_pass http://api/${part}x;
            proxy_read_timeout 60s;
            proxy_set_header X-Quote "a \\"b\\"; {c}";
            proxy_set_header Connection '';
            proxy_buffering off;
        }
        location ~ ^/f/(\\d+)\\.php$ { return 404; }
        location = /lua {
            content_by_lua_block {
                -- a brace in a comment }
                local s = "}" .. '}' .. [[ } ]] .. [=[ ]] } ]=]
                if s then ngx.say({ a = 1 }) end --[[ } ]]
            }
        }
        if ($request_method = POST) { return 405; }
    }
    server { listen 81; }
    include conf.d/*.conf;
}
"""


def test_nginx() -> None:
    facts = read("nginx", NGINX)
    assert facts.errors == ()
    found = [("/".join(s.path), s.kind, s.text) for s in facts.settings if "content_by_lua_block" not in s.path]
    assert found == [
        ("user", "str", "nginx"),
        ("http", "map", ""),
        ("http/upstream api", "map", ""),
        ("http/upstream api/server", "str", "10.0.0.1:8080 max_fails=3 fail_timeout=10s"),
        ("http/upstream api/server#2", "str", "10.0.0.2:8080"),
        ("http/upstream api/keepalive", "int", "32"),
        ("http/map $http_upgrade $connection", "map", ""),
        ("http/map $http_upgrade $connection/default", "str", "upgrade"),
        ("http/map $http_upgrade $connection/", "str", "close"),
        ("http/server", "map", ""),
        ("http/server/listen", "int", "80"),
        ("http/server/server_name", "str", "example.com www.example.com"),
        ("http/server/location /api", "map", ""),
        ("http/server/location /api/proxy_pass", "str", "http://api/${part}x"),
        ("http/server/location /api/proxy_read_timeout", "str", "60s"),
        ("http/server/location /api/proxy_set_header", "str", 'X-Quote a "b"; {c}'),
        ("http/server/location /api/proxy_set_header#2", "str", "Connection "),
        ("http/server/location /api/proxy_buffering", "bool", "off"),
        ("http/server/location ~ ^/f/(\\d+)\\.php$", "map", ""),
        ("http/server/location ~ ^/f/(\\d+)\\.php$/return", "int", "404"),
        ("http/server/location = /lua", "map", ""),
        ("http/server/if ($request_method = POST)", "map", ""),
        ("http/server/if ($request_method = POST)/return", "int", "405"),
        ("http/server#2", "map", ""),
        ("http/server#2/listen", "int", "81"),
        ("http/include", "str", "conf.d/*.conf"),
    ]
    by_path = {s.path: s for s in facts.settings}
    block = by_path["http", "server", "location /api"]
    assert written(NGINX, block)[0] == "location /api"
    assert written(NGINX, block)[1].startswith("{\n")
    assert written(NGINX, block)[1].endswith("off;\n        }")
    timeout = by_path["http", "server", "location /api", "proxy_read_timeout"]
    assert written(NGINX, timeout) == ("proxy_read_timeout", "60s")
    assert written(NGINX, by_path["http", "upstream api", "server"])[1] == "10.0.0.1:8080 max_fails=3 fail_timeout=10s"
    code = by_path["http", "server", "location = /lua", "content_by_lua_block"]
    assert code.kind == "str"
    assert code.text.startswith("-- a brace")
    assert written(NGINX, code)[1].endswith("--[[ } ]]\n            }")


@pytest.mark.parametrize(
    ("data", "kept", "messages"),
    [
        ("a 1; http { b 2; server { c 3;", ["a", "b", "c"], ["block is not closed"]),
        ("a 1; } b 2;", ["a", "b"], ["closing brace without a block"]),
        ("a { b 1 } c 2;", ["b", "c"], ["directive does not end in a semicolon"]),
        ("a 1; b 'x;", ["a"], ["quote is not closed"]),
        ("a 1; { b 2; }", ["a", "b"], ["block without a name"]),
        ("a 1; x_by_lua_block { } c 2;", ["a", "x_by_lua_block", "c"], []),
        ("a 1; x_by_lua_block { { } c 2;", ["a"], ["block is not closed"]),
        ("a 1; b", ["a", "b"], ["directive does not end in a semicolon"]),
        (";; a 1;", ["a"], ["semicolon without a directive"] * 2),
    ],
)
def test_nginx_broken(data: str, kept: list[str], messages: list[str]) -> None:
    facts = read("nginx", data)
    assert [s.path[-1] for s in facts.settings if s.kind != "map"] == kept
    assert [error.message for error in facts.errors] == messages


# ---------------------------------------------------------------- XML

BEANS = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE beans PUBLIC "-//SPRING//DTD BEAN 2.0//EN" "http://www.springframework.org/dtd/spring-beans-2.0.dtd">
<beans xmlns:rpc = 'http://rpc.example.com/schema'>
  <!-- resilint: ignore-file[RS201] the pool is large -->
  <rpc:server id="main" threads="200"/>
  <rpc:server id='größer' threads =
     "10" />
  <bean id="pool" class="com.example.Pool">
    <property name="url"><value>jdbc:a?b=1&amp;c=2</value></property>
    <property name="maxWait" value="-1"></property> <!-- resilint: ignore[RS109] -->
  </bean>
  <mapper id="a">SELECT 1 <if test="x &lt; 1">AND b</if></mapper>
  <note><![CDATA[ a < b ]]></note>
  <empty/>
</beans>
"""


def test_xml_elements_attributes_and_texts() -> None:
    assert leaves("xml", BEANS) == {
        "beans/@xmlns:rpc": "http://rpc.example.com/schema",
        "beans/rpc:server/@id": "main",
        "beans/rpc:server/@threads": "200",
        "beans/rpc:server#2/@id": "größer",
        "beans/rpc:server#2/@threads": "10",
        "beans/bean/@id": "pool",
        "beans/bean/@class": "com.example.Pool",
        "beans/bean/property/@name": "url",
        "beans/bean/property/value": "jdbc:a?b=1&c=2",
        "beans/bean/property#2/@name": "maxWait",
        "beans/bean/property#2/@value": "-1",
        "beans/mapper/@id": "a",
        "beans/mapper/if/@test": "x < 1",
        "beans/mapper/if/text()": "AND b",
        "beans/mapper/text()": "SELECT 1",
        "beans/note": "a < b",
        "beans/empty": "",
    }
    assert table("xml", BEANS)["beans/rpc:server/@threads"] == ("int", "200")


def test_xml_positions() -> None:
    facts = read("xml", BEANS)
    for path, key, text in (
        ("beans", "beans", BEANS[BEANS.index("<beans") :].rstrip()),
        ("beans/@xmlns:rpc", "xmlns:rpc", "http://rpc.example.com/schema"),
        ("beans/rpc:server", "rpc:server", '<rpc:server id="main" threads="200"/>'),
        ("beans/rpc:server#2/@id", "id", "größer"),
        ("beans/rpc:server#2/@threads", "threads", "10"),
        ("beans/bean/property/value", "value", "jdbc:a?b=1&amp;c=2"),
        ("beans/note", "note", "<![CDATA[ a < b ]]>"),
        ("beans/empty", "empty", ""),
    ):
        assert written(BEANS, find(facts, path)) == (key, text)


def test_xml_suppressions() -> None:
    assert [(s.line, s.codes, s.whole_file, s.own_line) for s in read("xml", BEANS).suppressions] == [
        (4, ("RS201",), True, True),
        (10, ("RS109",), False, False),
    ]


def test_xml_in_another_encoding_keeps_byte_offsets() -> None:
    data = '<?xml version="1.0" encoding="ISO-8859-1"?><a n="é" m="ü"/>'.encode("latin-1")
    facts = read("xml", data)
    assert [(s.text, data[s.at : s.end]) for s in facts.settings[1:]] == [("é", b"\xe9"), ("ü", b"\xfc")]


@pytest.mark.parametrize(
    ("data", "message", "kept"),
    [
        ("<a><b c='1'/><d>", "not well-formed: no element found", ["a", "a/b", "a/b/@c", "a/d"]),
        ("<a><b></a>", "not well-formed: mismatched tag", ["a", "a/b"]),
        ("<a b='1' b='2'/>", "not well-formed: duplicate attribute", []),
        ("<a/><b/>", "not well-formed: junk after document element", ["a"]),
        ("no", "not well-formed: syntax error", []),
        ("<?xml version='1.0' encoding='nonsense'?><a/>", "declares an encoding that is not read", []),
        ("<a>" * 300, "nested too deeply", ["/".join(["a"] * i) for i in range(1, 201)]),
    ],
)
def test_xml_broken(data: str, message: str, kept: list[str]) -> None:
    facts = read("xml", data)
    assert [e.message for e in facts.errors] == [message]
    assert sorted("/".join(s.path) for s in facts.settings) == sorted(kept)


def test_xml_entities_are_refused_and_never_expanded(tmp_path: Any) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    laughs = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(12))
    for doctype in (f'<!DOCTYPE a [<!ENTITY l0 "ha">{laughs}]>', f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]>'):
        facts = read("xml", f"{doctype}<a><b>&l12;&x;</b></a>")
        assert facts.settings == ()
        assert facts.errors[0].message.startswith("declares the entity")
    assert leaves("xml", f'<!DOCTYPE a SYSTEM "file://{secret}"><a>b&undefined;c</a>') == {"a": "bc"}
    assert leaves("xml", "<!DOCTYPE a [<!ATTLIST a b CDATA 'default'>]><a>c</a>") == {"a": "c"}


def test_xml_long_lists_are_cut() -> None:
    facts = read("xml", f"<a>{'<b><c/></b>' * 1500}<d/></a>")
    assert len(facts.settings) == 1 + 2 * 1000 + 1
    assert facts.settings[-1].path == ("a", "d")


# ---------------------------------------------------------------- HAProxy

HAPROXY = """\
# edge
global
    maxconn 4000
defaults web
    mode http
    timeout client  20s   # idle
    option httplog
    no option checkcache
frontend public from web
    bind *:8080
    acl api path_beg /api
    acl static path_beg "/static files"
    use_backend api if api
"""


def test_haproxy() -> None:
    assert leaves("haproxy", HAPROXY) == {
        "global/maxconn": "4000",
        "defaults web/mode": "http",
        "defaults web/timeout client": "20s",
        "defaults web/option httplog": "",
        "defaults web/no option": "checkcache",
        "frontend public from web/bind": "*:8080",
        "frontend public from web/acl": "api path_beg /api",
        "frontend public from web/acl#2": 'static path_beg "/static files"',
        "frontend public from web/use_backend": "api if api",
    }
    facts = read("haproxy", HAPROXY)
    assert written(HAPROXY, find(facts, "defaults web/timeout client")) == ("timeout client", "20s")
    assert written(HAPROXY, find(facts, "global")) == ("global", "global\n    maxconn 4000")
    assert [(e.at, e.message) for e in read("haproxy", "mode http\n").errors] == [(0, "directive outside of a section")]


# ---------------------------------------------------------------- HCL

TERRAFORM = """\
# In front of the shop.
resource "aws_lb" "shop" {
  name         = "shop"
  internal     = false
  idle_timeout = 60 // seconds
  subnets      = var.subnets
  drop         = null
  groups       = [aws_security_group.lb.id, "sg-${var.stage}", 1.5]
  tags         = merge(local.tags, { team = "shop" })
  access_logs { bucket = "logs" }
  access_logs {
    bucket = "more"
  }
  dynamic "subnet_mapping" {
    for_each = [for id in var.subnets : { id = id }]
    content {}
  }
  depends_on = [
    aws_vpc.main, # first
  ]
}

resource "aws_ecs_task_definition" "api" {
  container_definitions = jsonencode([{
    name        = "api"
    environment = [{ name = "JAVA_OPTS", "value" : "-Xmx500m" }]
  }])
  script = <<-EOT
    run
      --all "${var.x}"
  EOT
  quoted = "a\\"b\\n$${x} ${f("}")}"
  sum    = 2 * 30
  ranges = {
    (local.names[0]) = ["a"]
    ("b")            = [2, ]
  }
  chosen = { a = 1, b = 2 }[var.which]
}
"""


def test_hcl() -> None:
    assert leaves("hcl", TERRAFORM) == {
        "resource/aws_lb/shop/name": "shop",
        "resource/aws_lb/shop/internal": "false",
        "resource/aws_lb/shop/idle_timeout": "60",
        "resource/aws_lb/shop/subnets": "${var.subnets}",
        "resource/aws_lb/shop/drop": "",
        "resource/aws_lb/shop/groups/0": "${aws_security_group.lb.id}",
        "resource/aws_lb/shop/groups/1": "sg-${var.stage}",
        "resource/aws_lb/shop/groups/2": "1.5",
        "resource/aws_lb/shop/tags": '${merge(local.tags, { team = "shop" })}',
        "resource/aws_lb/shop/access_logs/bucket": "logs",
        "resource/aws_lb/shop/access_logs#2/bucket": "more",
        "resource/aws_lb/shop/dynamic/subnet_mapping/for_each": "${[for id in var.subnets : { id = id }]}",
        "resource/aws_lb/shop/depends_on/0": "${aws_vpc.main}",
        "resource/aws_ecs_task_definition/api/container_definitions/0/name": "api",
        "resource/aws_ecs_task_definition/api/container_definitions/0/environment/0/name": "JAVA_OPTS",
        "resource/aws_ecs_task_definition/api/container_definitions/0/environment/0/value": "-Xmx500m",
        "resource/aws_ecs_task_definition/api/script": 'run\n  --all "${var.x}"\n',
        "resource/aws_ecs_task_definition/api/quoted": 'a"b\n${x} ${f("}")}',
        "resource/aws_ecs_task_definition/api/sum": "${2 * 30}",
        "resource/aws_ecs_task_definition/api/ranges/${(local.names[0])}/0": "a",
        'resource/aws_ecs_task_definition/api/ranges/${("b")}/0': "2",
        "resource/aws_ecs_task_definition/api/chosen": "${{ a = 1, b = 2 }[var.which]}",
    }
    facts = read("hcl", TERRAFORM)
    assert written(TERRAFORM, find(facts, "resource/aws_lb/shop/idle_timeout")) == ("idle_timeout", "60")
    key, value = written(TERRAFORM, find(facts, "resource/aws_lb/shop"))
    assert key == 'resource "aws_lb" "shop"' and value.startswith("{\n  name") and value.endswith("]\n}")
    assert find(facts, "resource/aws_lb/shop/drop").kind == "null"


def test_hcl_keeps_what_stands_before_a_broken_place() -> None:
    facts = read("hcl", 'a = 1\nb "x" {\n  c = 2\n  d = [3, "\n}\n')
    assert [(".".join(s.path), s.text) for s in facts.settings if s.kind == "int"] == [("a", "1"), ("b.x.c", "2"), ("b.x.d.0", "3")]
    assert [e.message for e in facts.errors] == ["string is not closed"]


# ---------------------------------------------------------------- Dockerfiles

DOCKERFILE = """\
# syntax=docker/dockerfile:1
FROM maven:3 AS build
ENV MAVEN_OPTS="-Xmx1g"
RUN <<EOT
FROM no/stage
CMD no command
EOT
FROM eclipse-temurin:21
ARG VERSION
arg PORT=8080
ENV JAVA_OPTS="-Xmx512m \\
      -Da=b" FOO=bar \\
    # a comment

    BAZ='q r'
ENV OLD style value
LABEL a=b
CMD ["java", "-jar", \\
     "app.jar"]
ENTRYPOINT exec java \\
  $JAVA_OPTS -jar app.jar
HEALTHCHECK NONE
{{ template }}
"""


def test_dockerfile() -> None:
    facts = read("dockerfile", DOCKERFILE)
    assert facts.errors == ()
    assert [(s.doc, "/".join(s.path), s.text) for s in facts.settings] == [
        (0, "FROM", "maven:3 AS build"),
        (0, "ENV/MAVEN_OPTS", "-Xmx1g"),
        (0, "RUN", "<<EOT"),
        (1, "FROM", "eclipse-temurin:21"),
        (1, "ARG/VERSION", ""),
        (1, "ARG/PORT", "8080"),
        (1, "ENV/JAVA_OPTS", "-Xmx512m       -Da=b"),
        (1, "ENV/FOO", "bar"),
        (1, "ENV/BAZ", "q r"),
        (1, "ENV/OLD", "style value"),
        (1, "LABEL", "a=b"),
        (1, "CMD", ""),
        (1, "CMD/0", "java"),
        (1, "CMD/1", "-jar"),
        (1, "CMD/2", "app.jar"),
        (1, "ENTRYPOINT", "exec java   $JAVA_OPTS -jar app.jar"),
        (1, "HEALTHCHECK", "NONE"),
    ]
    assert written(DOCKERFILE, find(facts, "ENV/BAZ", 1)) == ("BAZ", "'q r'")
    assert written(DOCKERFILE, find(facts, "ENV/JAVA_OPTS", 1)) == ("JAVA_OPTS", '"-Xmx512m \\\n      -Da=b"')
    assert written(DOCKERFILE, find(facts, "CMD/2", 1)) == ("", '"app.jar"')
    assert written(DOCKERFILE, find(facts, "CMD", 1)) == ("CMD", '["java", "-jar", \\\n     "app.jar"]')


def test_dockerfile_with_another_escape() -> None:
    data = "# escape=`\nFROM windows\nRUN dir `\n  c:\\\\\nCMD [not json]\n"
    assert leaves("dockerfile", data) == {"FROM": "windows", "RUN": "dir   c:\\\\", "CMD": "[not json]"}


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_read(kind: str) -> None:
    for data in (b"", b"\n", b"  \r\n \n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"):
        assert read(kind, data) == FileFacts(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_no_text(kind: str) -> None:
    assert [e.message for e in read(kind, "a=1".encode("utf-16")).errors] == ["encoded as UTF-16, not UTF-8"]
    assert [(e.at, e.message) for e in read(kind, b"\x7fELF\0\0").errors] == [(4, "binary data, not text")]
    read(kind, b" " * 9000 + b"\0\xff\0")
    read(kind, bytes(range(1, 256)) * 20)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "{",
        '{"a":',
        "- ",
        "a = [",
        "a: &a [",
        "{{",
        "{{ x }}\n",
        '"',
        "'",
        "\\",
        "a {",
        "---\n@\n",
        "a: |\n",
        "a='''",
        "[[",
        "/*",
        "{%",
        "x=\\\n",
        "?",
        "<a>",
        "<a b='",
        "<a><!--",
        "<!DOCTYPE a [",
    ],
)
def test_hostile_repetition(kind: str, unit: str) -> None:
    read(kind, unit * 20_000)
    read(kind, f"a_by_lua_block {{ {unit * 20_000}")


def test_deep_indentation() -> None:
    facts = read("yaml", "".join(" " * i + "a:\n" for i in range(2000)))
    assert [e.message for e in facts.errors] == ["nested too deeply"]


SYNTAX = st.text(st.sampled_from("ab1 \n\t\r:=-[]{}\"'\\#,.|>&*!%<?;/$ué\ufeff~"), max_size=60)


@given(st.sampled_from(KINDS), SYNTAX)
@settings(max_examples=1500, deadline=None)
def test_any_text(kind: str, data: str) -> None:
    read(kind, data)


@given(st.sampled_from(KINDS), st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_bytes(kind: str, data: bytes) -> None:
    read(kind, data)


SOURCES = {
    "yaml": DEPLOYMENT + HELM,
    "json": PACKAGE,
    "toml": PYPROJECT,
    "nginx": NGINX,
    "xml": BEANS,
    "hcl": TERRAFORM,
    "dockerfile": DOCKERFILE,
}


@given(st.sampled_from(sorted(SOURCES)), st.integers(0, 2000), st.integers(0, 40), SYNTAX)
@settings(max_examples=500, deadline=None)
def test_damaged_files(kind: str, at: int, cut: int, insert: str) -> None:
    source = SOURCES[kind]
    at %= len(source)
    read(kind, source[:at] + insert[:8] + source[at + cut :])


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Co"], exclude_characters="\0\x85\u2028\u2029\ufeff"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
MAPS = st.dictionaries(TEXTS, VALUES, max_size=5)


def _flat(value: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every leaf and container below a value, by path, as the readers show it."""
    found: list[tuple[tuple[str, ...], Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        below = (*path, str(key))
        if isinstance(inner, (dict, list)):
            found += [(below, type(inner)), *_flat(inner, below)]
        else:
            found.append((below, inner))
    return sorted(found, key=lambda item: item[0])


def _value(kind: str, text: str) -> Any:
    match kind:
        case "map":
            return dict
        case "list":
            return list
        case "null":
            return None
        case "bool":
            return text == "true"
        case "int":
            return int(text)
        case "float":
            return float(text)
    return text


def _values_of(found: dict[str, tuple[str, str]]) -> list[tuple[tuple[str, ...], Any]]:
    return sorted(((tuple(path.split("/")), _value(*value)) for path, value in found.items()), key=lambda item: item[0])


def _read_back(facts: FileFacts) -> list[tuple[tuple[str, ...], Any]]:
    assert facts.errors == ()
    return sorted(((s.path, _value(s.kind, s.text)) for s in facts.settings), key=lambda item: item[0])


@given(MAPS, st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_json_round_trip(value: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    raw = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    facts = read("json", raw)
    assert _read_back(facts) == _flat(value)
    for setting in facts.settings:
        again = json.loads(raw[setting.at : setting.end])
        if setting.kind not in ("map", "list"):
            assert again == _value(setting.kind, setting.text)


class _Dumper(yaml.SafeDumper):
    """Quotes text that is a number in YAML 1.2 too, as the reader takes both (`1e3`, `-.5`, `0o17`)."""


_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:0o[0-7_]+|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?)\Z"),
    list("-+.0123456789"),
)


@given(MAPS, st.booleans(), st.booleans())
@example({"a": "0E0", "b": "1.5e5", "c": "-.5", "d": "0o17", "e": "1_0e3", "f": 5, "g": 1e17}, False, False)
@settings(max_examples=300, deadline=None)
def test_yaml_round_trip(value: dict[str, Any], flow: bool, unicode_too: bool) -> None:
    raw = yaml.dump(value, Dumper=_Dumper, default_flow_style=flow, allow_unicode=unicode_too, sort_keys=False).encode()
    if b"{{" in raw or b"{%" in raw:
        return
    assert _read_back(read("yaml", raw)) == _flat(yaml.safe_load(raw))


@given(
    st.dictionaries(
        st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True),
        st.text(st.characters(codec="ascii", exclude_characters="\0\r"), max_size=20),
    )
)
@settings(max_examples=200, deadline=None)
def test_env_round_trip(value: dict[str, str]) -> None:
    def quoted(text: str) -> str:
        return '"' + "".join("\\" + char if char in '"\\$`' else char for char in text) + '"'

    raw = "\n".join(f"{key}={quoted(text)}" for key, text in value.items())
    facts = read("env", raw)
    assert facts.errors == ()
    assert {s.path[0]: s.text for s in facts.settings} == value
