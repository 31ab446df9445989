"""The report for programs; its form is versioned and only grows."""

from __future__ import annotations

import json
from typing import Any

from resilint.model import Finding, Span
from resilint.report import Options, printable
from resilint.run import Result

VERSION = 1


def write(result: Result, options: Options) -> str:
    """One JSON object, indented by two."""
    report = {
        "version": VERSION,
        "findings": [_finding(finding, print_) for finding, print_ in zip(result.findings, result.fingerprints, strict=True)],
        "errors": [{"path": printable(failure.path), "message": failure.message} for failure in result.failures],
        "stats": {"files": result.files, "seconds": round(result.seconds, 3), "waits": dict(result.waits), **_known(result)},
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def _known(result: Result) -> dict[str, Any]:
    """How many findings are left out, if there was something to compare with."""
    return {"known": dict(sorted(result.known.items()))} if result.known else {}


def _finding(finding: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.word,
        "message": finding.message,
        **_start(finding.span),
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_col,
        "trace": [{**_start(step.span), "message": step.text} for step in finding.trace],
        "fixable": finding.fix is not None,
        "fingerprint": fingerprint,
    }


def _start(span: Span) -> dict[str, Any]:
    return {"path": printable(span.path), "line": span.line, "column": span.col}
