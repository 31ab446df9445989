"""SARIF 2.1.0, for code scanning and editors. Paths are relative to the repository's root, columns count code points."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from resilint import __version__, docs
from resilint.checking import Failure
from resilint.model import Finding, Fix, Rule, Severity, Span, Step
from resilint.report import Options, one_line
from resilint.run import Result

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "resilint/v1"
"""The name of our fingerprint among `partialFingerprints`; a new way to compute it gets a new one."""
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT = "%SRCROOT%"
# https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/troubleshoot-sarif-uploads/results-exceed-limit:
# a file with more is refused as a whole.
MOST_RESULTS = 25_000
MOST_PLACES = 1_000


def write(result: Result, options: Options) -> str:
    """One run. A fault of resilint itself is a notification of its invocation, so that it is not taken for a clean file."""
    return json.dumps(_log(result), indent=2, ensure_ascii=False) + "\n"


def _log(result: Result) -> dict[str, Any]:
    rules = {rule.code: number for number, rule in enumerate(result.rules)}
    shown = _gravest(result.findings)
    run = {
        "tool": {
            "driver": {
                "name": "resilint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in result.rules],
            }
        },
        "invocations": [_invocation(result, rules, len(result.findings) - len(shown))],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [_result(result.findings[number], result.fingerprints[number], result, rules) for number in shown],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _gravest(findings: Sequence[Finding]) -> list[int]:
    """Which findings are reported: all, or as many as are taken, the gravest and surest."""
    order = sorted(range(len(findings)), key=lambda at: (-findings[at].severity.rank, -findings[at].confidence, at))
    return sorted(order[:MOST_RESULTS])


def _telling(trace: Sequence[Step]) -> Sequence[Step]:
    """As many steps of a trace as are taken beside the finding itself: where it begins, and where it ends."""
    half = (MOST_PLACES - 1) // 2
    return trace if len(trace) < MOST_PLACES else (*trace[:half], *trace[-half:])


def _rule(rule: Rule) -> dict[str, Any]:
    page = docs.page(rule) or rule.summary
    address = docs.address(rule)
    level = _LEVELS[rule.severity]
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _first_words(page) or rule.summary},
        "help": {"text": page, "markdown": page},
        **({"helpUri": address} if address is not None else {}),
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["reliability", *sorted(rule.languages)],
            # What code scanning sorts findings by that are no matter of security.
            "problem.severity": "recommendation" if level == "note" else level,
        },
    }


def _first_words(page: str) -> str:
    """The first paragraph below the heading "Why": what one reads before opening the page."""
    _, _, below = page.partition("\n## Why\n")
    return " ".join(below.strip().partition("\n\n")[0].split())


def _result(finding: Finding, fingerprint: str, result: Result, rules: dict[str, int]) -> dict[str, Any]:
    known = {"ruleIndex": rules[finding.code]} if finding.code in rules else {}
    return {
        "ruleId": finding.code,
        **known,
        "level": _LEVELS[finding.severity],
        "message": {"text": _text(finding.message)},
        "locations": [{"physicalLocation": _place(finding.span, result)}],
        "partialFingerprints": {FINGERPRINT: fingerprint},
        **_evidence(finding, result),
        **({"fixes": [_fix(finding.fix, result)]} if finding.fix is not None else {}),
        "properties": {"confidence": finding.confidence.word},
    }


def _text(text: str) -> str:
    """A message; what only looks like one of SARIF's links in it is marked as text."""
    text = one_line(text)
    return text.replace("[", "\\[").replace("]", "\\]") if "](" in text else text


def _evidence(finding: Finding, result: Result) -> dict[str, Any]:
    """The trace, once as a path to walk from the cause to the place, and once as places that belong to the finding."""
    if not finding.trace:
        return {}
    steps = [
        {"physicalLocation": _place(step.span, result), "message": {"text": _text(step.text)}} for step in _telling(finding.trace)
    ]
    last = {"physicalLocation": _place(finding.span, result), "message": {"text": _text(finding.message)}}
    return {
        "relatedLocations": [{"id": number, **step} for number, step in enumerate(steps, 1)],
        "codeFlows": [{"threadFlows": [{"locations": [{"location": step} for step in (*steps, last)]}]}],
    }


def _fix(fix: Fix, result: Result) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in sorted(fix.edits):
        changes.setdefault(edit.span.path, []).append({"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}})
    return {
        "description": {"text": one_line(fix.title)},
        "artifactChanges": [
            {"artifactLocation": _artifact(path, result), "replacements": replacements} for path, replacements in changes.items()
        ],
        "properties": {"safe": fix.safe},
    }


def _place(span: Span, result: Result) -> dict[str, Any]:
    return {"artifactLocation": _artifact(span.path, result), "region": _region(span)}


def _artifact(path: str, result: Result) -> dict[str, Any]:
    # The bytes of the name, which need not be text, are what is encoded.
    name = result.in_repository(path).encode("utf-8", "surrogateescape")
    return {"uri": quote(name, safe="/"), "uriBaseId": _ROOT}


def _region(span: Span) -> dict[str, int]:
    return {"startLine": span.line, "startColumn": span.col, "endLine": span.end_line, "endColumn": span.end_col}


def _invocation(result: Result, rules: dict[str, int], more: int) -> dict[str, Any]:
    return {
        "executionSuccessful": not result.failures,
        "toolExecutionNotifications": [
            *(_failure(failure, result, rules) for failure in result.failures),
            *_left_out(result),
            *([_note(f"{more} more findings are left out: {MOST_RESULTS} is what services take")] if more else []),
        ],
    }


def _failure(failure: Failure, result: Result, rules: dict[str, int]) -> dict[str, Any]:
    known = {"index": rules[failure.code]} if failure.code in rules else {}
    return {
        "level": "error",
        "message": {"text": one_line(failure.message)},
        **({"locations": [{"physicalLocation": {"artifactLocation": _artifact(failure.path, result)}}]} if failure.path else {}),
        **({"associatedRule": {"id": failure.code, **known}} if failure.code else {}),
    }


def _left_out(result: Result) -> Iterator[dict[str, Any]]:
    for path, why in result.not_checked.items():
        yield {
            "level": "warning",
            "message": {"text": one_line(f"not checked: {why}")},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(path, result)}}],
        }
    yield from map(_note, result.unused)


def _note(text: str) -> dict[str, Any]:
    return {"level": "warning", "message": {"text": one_line(text)}}
