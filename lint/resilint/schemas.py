"""JSON Schemas of the files that people write for resilint, for editors: made of what checks these files, so that both agree."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

from resilint.model import Confidence, Severity
from resilint.settings import DURATION, RATE, Checker, Reader, Readers, Settings

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": ["array", "null"], "items": _TEXT}
_SHAPES: dict[str, dict[str, Any]] = {
    "_text": _TEXT,
    "_inside": {**_TEXT, "pattern": r"^(?!/)(?!(?:[\s\S]*/)?\.\.(?:/|(?![\s\S])))"},
    "_texts": _TEXTS,
    "_globs": _TEXTS,
    "_share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "_count": {"type": "integer", "minimum": 1},
    "_count_or_none": {"type": "integer", "minimum": 0},
    "_duration": {"type": "string", "pattern": f"^{DURATION}$(?!\\n)", "examples": ["16ms", "1.5s", "2m"]},
    "_rate": {"type": "string", "pattern": f"^{RATE}$(?!\\n)", "examples": ["50/s", "3000/m"]},
    "_flag": {"type": "boolean"},
    "_severity": {"enum": [severity.value for severity in Severity]},
    "_confidence": {"enum": [confidence.word for confidence in Confidence]},
}
"""What each reader of a single value takes. `$` alone would let a line end pass in some languages."""

SAID = {
    "select": "Rules to run: codes, names, or prefixes such as RS1. Default: every rule that is not in preview.",
    "ignore": "Rules not to run.",
    "exclude": "Globs of files that are not part of the program.",
    "per_path": "Rules that are ignored in the files of a glob.",
    "per_path.*.ignore": "Rules not to report in these files.",
    "test_paths": "Globs of code that waits may be found in: tests, scripts, examples. Some rules are quiet about it.",
    "profile": "The profile (of Spring, of values files, of overlays) to judge. Default: all of them.",
    "require_reason": "A suppression comment without a reason is a finding (RS001).",
    "severity": "The severity of a rule, or of all rules of a prefix.",
    "severity.*": "error: hangs or breaks under one slow dependency; warning: breaks under load; info: worth knowing.",
    "confidence": "Report findings at least this sure.",
    "safety_factor": "The share of a caller's timeout that a queue may use up.",
    "retry_budget": "Tries along a path from which on they are too many.",
    "memory_headroom": "The share of a container's memory limit that a runtime may use.",
    "fix": "Values that a fix may write.",
    "fix.client_timeout": "For a whole exchange of a client.",
    "fix.connect_timeout": "For opening a connection.",
    "fix.query_timeout": "For one statement of a database.",
    "fix.server_read_timeout": "For what a server reads of a request.",
    "fix.server_write_timeout": "For what a server writes of an answer.",
    "fix.server_idle_timeout": "For a connection of a server on which nothing comes.",
    "fix.request_timeout": "For one request or task of a server or worker.",
    "fix.wait_timeout": "For waiting for a thread, task, process, lock or queue.",
    "fix.queue_size": "What a queue may hold.",
    "fix.concurrency": "What may run at once.",
    "services": "The services of this repository, by name.",
    "services.*.paths": "Globs of the files that belong to the service, relative to this file.",
    "services.*.hosts": "Hosts by which others call the service from inside.",
    "services.*.public_hosts": "Hosts by which it is reached from the internet; calls through them from inside are found (RS801).",
    "services.*.near": "The service or database whose zone this one must run in (RS803).",
    "services.*.queues": "What is known of its queues: by the name of a variable, field, bean, thread pool or key.",
    "services.*.queues.*.service_time": "How long a worker takes for one item, or for one batch where `batch` is set.",
    "services.*.queues.*.worst_service_time": "The same, on a bad day.",
    "services.*.queues.*.batch": "Items that a worker takes at once.",
    "services.*.queues.*.linger": "How long a batch may wait to become full.",
    "services.*.queues.*.workers": "Workers that take from the queue at once.",
    "services.*.queues.*.arrival_rate": "How many items arrive, or batches where `batch` is set.",
    "services.*.callers": "Services that call this one and whose settings lie elsewhere.",
    "services.*.callers.*.timeout": "How long the caller waits for one try.",
    "services.*.callers.*.retries": "How often it tries again; 0: never.",
    "services.*.callers.*.deadline": "How long it waits altogether.",
    "services.*.single_owner": "Functions, classes or globs of names whose keys must have one owner (RS601).",
    "baseline": "The file of known findings. Default: .resilint-baseline.json beside this file, if it is there.",
    "knowledge": "What in-house libraries do: paths of knowledge files relative to this one, or entries.",
}
"""What each key means, `*` for a name that people choose."""


def settings_schema() -> dict[str, Any]:
    """The schema of `resilint.yaml`, and of `[tool.resilint]` as a table."""
    checker = Checker("")
    schema = _record(checker, checker.top, "")
    defaults = Settings()
    for key, value in schema["properties"].items():
        default = getattr(defaults, key)
        if isinstance(default, int | float | Confidence):
            value["default"] = default.word if isinstance(default, Confidence) else default
    head = {"$schema": DRAFT, "title": "Settings of resilint"}
    return {**head, **schema, "$defs": _knowledge_definitions()}


def knowledge_schema() -> dict[str, Any]:
    """The schema of a user's knowledge file: one library, or a list of them."""
    library = {"$ref": "#/$defs/Library"}
    head = {"$schema": DRAFT, "title": "Knowledge of libraries for resilint"}
    return {**head, "anyOf": [library, {"type": "array", "items": library}], "$defs": _knowledge_definitions()}


def _knowledge_definitions() -> dict[str, Any]:
    from resilint.knowledge.problems import json_schema

    definitions: dict[str, Any] = deepcopy(json_schema()["$defs"])
    library = definitions["Library"]
    # Whoever describes an own library is the source.
    library["required"] = [key for key in library["required"] if key not in ("source", "verified")]
    return definitions


def _record(checker: Checker, readers: Readers, path: str) -> dict[str, Any]:
    # An empty section is how people leave a key with only comments below.
    properties = {key: _shape(checker, reader, f"{path}{key}") for key, reader in readers.items()}
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


def _shape(checker: Checker, reader: Reader, path: str) -> dict[str, Any]:
    said = {"description": SAID[path]} if path in SAID else {}
    if isinstance(reader, partial):
        return {**said, "type": ["object", "null"], "additionalProperties": _shape(checker, reader.args[0], f"{path}.*")}
    name: str = reader.__name__
    match name:
        case "_fix":
            return {**said, **_record(checker, checker.fix, f"{path}.")}
        case "_service" | "_queue" | "_caller":
            return {**said, **_record(checker, getattr(checker, name[1:]), f"{path}.")}
        case "_per_path":
            return {**said, "type": ["object", "null"], "additionalProperties": _record(checker, checker.per_path, f"{path}.*.")}
        case "_knowledge":
            return {**said, "type": ["array", "null"], "items": {"anyOf": [_TEXT, {"$ref": "#/$defs/Library"}]}}
        case _:
            return {**said, **_SHAPES[name]}
