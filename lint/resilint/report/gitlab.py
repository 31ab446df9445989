"""GitLab's Code Quality report: what a merge request shows beside the lines. Paths are relative to the repository's root."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from resilint.model import Severity
from resilint.report import Options, one_line, printable
from resilint.run import Result

# https://docs.gitlab.com/ci/testing/code_quality/: info, minor, major, critical or blocker.
_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def write(result: Result, options: Options) -> str:
    """One list. A fault of resilint itself is an issue too: an empty list would be taken for a clean program."""
    issues = [
        _issue(finding.message, finding.code, fingerprint, _SEVERITIES[finding.severity], finding.span.path, result)
        | {"location": _location(finding.span.path, finding.span.line, finding.span.end_line, result)}
        for finding, fingerprint in zip(result.findings, result.fingerprints, strict=True)
    ]
    for failure in result.failures:
        said = f"{failure.path}\0{failure.message}".encode("utf-8", "surrogatepass")
        digest = blake2b(said, digest_size=12).hexdigest()
        issues.append(_issue(failure.message, "internal-error", digest, "blocker", failure.path or ".", result))
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def _issue(message: str, rule: str, fingerprint: str, severity: str, path: str, result: Result) -> dict[str, Any]:
    return {
        "description": one_line(message),
        "check_name": rule,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": _location(path, 1, 1, result),
    }


def _location(path: str, line: int, end: int, result: Result) -> dict[str, Any]:
    return {"path": printable(result.in_repository(path)), "lines": {"begin": line, "end": end}}
