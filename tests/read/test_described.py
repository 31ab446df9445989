"""Documents that describe what others may hold are left out, and nothing else is with them."""

from __future__ import annotations

import json

import pytest
from resilint.facts import FileFacts
from resilint.read import json as read_json
from resilint.read import yaml as read_yaml
from resilint.read.described import without_descriptions

_DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: shops.example.com
spec:
  versions:
  - schema:
      openAPIV3Schema:
        type: object
        properties:
          timeout: {type: integer, default: 0}
          kind: {type: string}
"""
_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
spec:
  template:
    spec:
      containers:
      - name: shop
        args: [--timeout, "0"]
"""
_OPEN_API = """\
openapi: "3.0.1"
info: {title: shop}
paths:
  /orders:
    get:
      parameters:
      - {name: timeout, in: query, schema: {type: integer}}
"""


def _facts(text: str) -> FileFacts:
    return read_yaml.read(text.encode())


def _kinds(text: str) -> dict[int, str]:
    """The kind of each document that has settings, by its number."""
    return {setting.doc: setting.text for setting in _facts(text).settings if setting.path == ("kind",)}


def _args(text: str) -> list[tuple[int, str]]:
    """Where a server's option lies in the file, and what stands there."""
    found = []
    for setting in _facts(text).settings:
        if setting.path[-2:] == ("args", "0"):
            found.append((setting.doc, text.encode()[setting.at : setting.end].decode()))
    return found


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("header", ["", "---\n", "--- # generated\n", "# made by hand\n---\n"])
@pytest.mark.parametrize("comment", ["", "# of the shop\n\n", "{{- if .Values.crds }}\n"])
def test_a_definition_hides_no_deployment_beside_it(newline: str, header: str, comment: str) -> None:
    before = (header + comment + _DEFINITION + "---\n" + _DEPLOYMENT).replace("\n", newline)
    after = (header + _DEPLOYMENT + "---\n" + comment + _DEFINITION).replace("\n", newline)
    between = (header + comment + _DEFINITION + "---\n" + _DEPLOYMENT + "---\n" + _DEFINITION).replace("\n", newline)
    for text, number in ((before, 1), (after, 0), (between, 1)):
        assert _kinds(text) == {number: "Deployment"}
        assert _args(text) == [(number, "--timeout")]
        assert _facts(text).errors == ()


def test_what_is_left_keeps_its_number_and_its_place() -> None:
    text = "\ufeff" + _DEFINITION + "--- \n" + _DEPLOYMENT + "---\n" + _DEFINITION + "---\nkind: Service\n"
    data = text.encode()
    left = without_descriptions(data)
    assert len(left) == len(data)
    assert b"openAPIV3Schema" not in left
    assert left.index(b"kind: Deployment") == data.index(b"kind: Deployment")
    assert _kinds(text) == {1: "Deployment", 3: "Service"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("data:\n  kind: CustomResourceDefinition\nargs: [x]\n", id="nested deeper"),
        pytest.param("text: |\n  apiVersion: v1\n  kind: CustomResourceDefinition\nargs: [x]\n", id="in the text of a block"),
        pytest.param('text: "\nkind: CustomResourceDefinition\n"\nargs: [x]\n', id="in a text over several lines"),
        pytest.param("{\nkind: CustomResourceDefinition\n, args: [x]}\n", id="in a map in braces"),
        pytest.param("# kind: CustomResourceDefinition\nargs: [x]\n", id="in a comment"),
        pytest.param("kind: CustomResourceDefinitionList\nargs: [x]\n", id="another kind that begins so"),
        pytest.param("kind: CustomResourceDefinition\nkind: Deployment\nargs: [x]\n", id="the kind is said again"),
        pytest.param("kind: CustomResourceDefinition\r---\rkind: Deployment\rargs: [x]\r", id="carriage returns alone"),
        pytest.param("kind: List\nitems:\n- kind: CustomResourceDefinition\nargs: [x]\n", id="one of a list"),
        pytest.param("openapi: 3.0.1\nargs: [x]\n", id="a key of that name in settings"),
        pytest.param('openapi: "true"\ninfo: {}\nargs: [x]\n', id="no version behind the name"),
        pytest.param("$schema: http://json-schema.org/draft-07/schema#\nargs: [x]\n", id="settings that name a schema"),
        pytest.param("openapi: 3.0.1\ninfo: {}\nx-gateway: {timeout: 0}\nargs: [x]\n", id="a gateway's keys in the description"),
        pytest.param("openapi: 3.0.1\ninfo: {}\nx-gateway:\n  timeout: 0\nargs: [x]\n", id="a gateway's block in the description"),
    ],
)
def test_what_may_be_anything_else_is_read(text: str) -> None:
    assert [setting.text for setting in _facts(text).settings if setting.path == ("args", "0")] == ["x"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_DEFINITION, id="definition of a resource"),
        pytest.param(_DEFINITION.replace("kind: C", "kind: 'C").replace("Definition\n", "Definition' # v1\n", 1), id="in quotes"),
        pytest.param(_DEFINITION.replace("\n", "\r\n"), id="CRLF"),
        pytest.param("kind: CustomResourceDefinition", id="nothing else"),
        pytest.param(_OPEN_API, id="description of an interface"),
        pytest.param("$schema: http://json-schema.org/draft-07/schema#\ntype: object\n", id="schema"),
    ],
)
def test_what_describes_has_no_settings(text: str) -> None:
    assert _facts(text).settings == ()
    assert _facts("---\n" + text).settings == ()
    assert _facts(text).errors == ()


def test_json_that_describes_has_no_settings_and_all_other_has() -> None:
    described = [
        {"swagger": "2.0", "info": {"title": "shop"}, "paths": {}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
    ]
    others = [
        {"swagger": "2.0", "info": {"title": "shop"}, "x-gateway": {"timeout": 0}},
        {"swagger": {"enabled": True}, "info": {}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "timeout": 0},
        {"$schema": "https://json.schemastore.org/appsettings.json", "type": "object"},
        {"name": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}},
    ]
    for indent in (None, 2):
        assert all(read_json.read(json.dumps(one, indent=indent).encode()).settings == () for one in described)
        assert all(read_json.read(json.dumps(one, indent=indent).encode()).settings for one in others)
