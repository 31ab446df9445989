"""Documents that say what others may hold: definitions of resources, descriptions of interfaces, schemas.

They hold no setting of a service and are often larger than all settings together. Each is told by its first keys, before anything
is parsed: by those that stand at the start of a line, behind nothing but other plain ones, so that nothing nested, quoted or in the
text of a block is taken for them. A document that may be anything else is read.
"""

from __future__ import annotations

import re

from resilint.read.settings import bom_length

_WORDS = (b"CustomResourceDefinition", b"openapi", b"swagger", b"asyncapi", b"$schema")
_SEPARATOR = re.compile(rb"^---(?=[ \t\r\n]|\Z)(?:[ \t]*+(?:#[^\r\n]*+)?\r?\n)?", re.MULTILINE)
_REST = rb"[ \t]*+(?:(?<=[ \t])#[^\r\n]*+)?(?:\r?\n|\Z)"
_HEAD = re.compile(
    # Empty lines, comments, and lines of nothing but a hole of a template.
    rb"(?:[ \t]*+(?:#[^\r\n]*+|\{\{[^{}\r\n]*+\}\}[ \t]*+)?\r?\n"
    rb"|apiVersion:[ \t]++(?P<api>[\"']?)[\w./-]++(?P=api)" + _REST + rb")*+"
    rb"(?:kind:[ \t]++(?P<kind>[\"']?)CustomResourceDefinition(?P=kind)"
    rb"|(?P<interface>(?:openapi|swagger|asyncapi):[ \t]++(?P<version>[\"']?)[0-9][\w.-]*+(?P=version))"
    rb"|(?P<schema>(?P<key>[\"']?)\$schema(?P=key):[ \t]++(?P<uri>[\"']?)https?://json-schema\.org/[\w./-]*+#?(?P=uri)))" + _REST
)
_OTHERS = (b"\nkind", b'\n"kind', b"\n'kind", b"\n...", b"\n---")
"""What may begin another document, or make of this one another."""
_JSON_HEAD = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*+\{\s*+(?:(?P<interface>"(?:openapi|swagger|asyncapi)"\s*+:\s*+"[0-9][\w.-]*+")'
    rb'|(?P<schema>"\$schema"\s*+:\s*+"https?://json-schema\.org/[\w./-]*+#?"))\s*+,'
)
_INFO = re.compile(rb"[\r\n{,][ \t]*+[\"']?info[\"']?[ \t]*+:")
_EXTENSION = re.compile(rb"[\r\n{,][ \t]*+[\"']?x-")
"""In the description of an interface: keys of a gateway that serves it, which are settings."""
_TYPE = re.compile(rb"[\r\n{,][ \t]*+[\"']?type[\"']?[ \t]*+:[ \t]*+[\"']?(?:object|array|string|integer|number|boolean)\b")
"""What a schema says sooner or later, and settings that only name the schema of schemas do not."""


def without_descriptions(data: bytes) -> bytes:
    """YAML with nothing but a null in the place of each such document: all else stays where it is, and its number is the same."""
    if not any(word in data for word in _WORDS):
        return data
    pieces: list[bytes] = []
    kept = 0
    at = bom_length(data)
    while at < len(data):
        separator = _SEPARATOR.search(data, at)
        end = len(data) if separator is None else separator.start()
        # Behind a separator, on its line, stands a part of the document that is none of its keys.
        if data[at - 1 : at] in (b"\n", b"", b"\xbf") and _describes(data, at, end):
            pieces += (data[kept:at], b"~", b"\n" * (end - at - 1))
            kept = end
        at = len(data) if separator is None else separator.end()
    return b"".join((*pieces, data[kept:])) if pieces else data


def describes_json(data: bytes) -> bool:
    """Whether a file of JSON is such a document."""
    head = _JSON_HEAD.match(data)
    return head is not None and _is_meant(data, head, 0, len(data))


def _describes(data: bytes, at: int, end: int) -> bool:
    head = _HEAD.match(data, at, end)
    if head is None or any(data.find(other, head.end() - 1, end) >= 0 for other in _OTHERS):
        return False
    # Alone it ends a line for YAML and for little else.
    if data.count(b"\r", at, end) != data.count(b"\r\n", at, end):
        return False
    return _is_meant(data, head, at, end)


def _is_meant(data: bytes, head: re.Match[bytes], at: int, end: int) -> bool:
    if head["interface"] is not None:
        return _INFO.search(data, at, end) is not None and _EXTENSION.search(data, at, end) is None
    return head["schema"] is None or _TYPE.search(data, at, end) is not None
