"""JUnit XML, for servers that show tests: each rule is a suite, each finding a test that failed, a quiet rule one that passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from resilint.model import Finding, Rule
from resilint.report import Options, one_line
from resilint.report.text import lines_of
from resilint.run import Result


def write(result: Result, options: Options) -> str:
    """A finding below the severity that makes a run fail passes, with its text as output; a fault of resilint is an error."""
    root = Element("testsuites", name="resilint")
    found: dict[str, list[Finding]] = {}
    for finding in result.findings:
        found.setdefault(finding.code, []).append(finding)
    for rule in result.rules:
        _suite(root, rule, found.get(rule.code, []), result, options)
    if result.failures:
        suite = SubElement(root, "testsuite", name="internal errors")
        for failure in result.failures:
            where = result.in_repository(failure.path) if failure.path else failure.code or "engine"
            case = SubElement(suite, "testcase", classname="resilint", name=one_line(where))
            SubElement(case, "error", type="internal error", message=one_line(failure.message))
        _count([suite])
    _count([root])
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, rule: Rule, findings: list[Finding], result: Result, options: Options) -> None:
    name = f"{rule.code} {rule.name}"
    suite = SubElement(root, "testsuite", name=name)
    seen: Counter[str] = Counter()
    for finding in findings:
        span = finding.span
        place = one_line(f"{result.in_repository(span.path)}:{span.line}:{span.col}")
        seen[place] += 1
        if seen[place] > 1:
            # Of two tests of one name servers show one.
            place = f"{place} ({seen[place]})"
        case = SubElement(suite, "testcase", classname=name, name=place)
        text = "\n".join(lines_of(finding, result, Options(show_trace=True)))
        if finding.severity.rank >= options.fail_on.rank:
            failure = SubElement(case, "failure", type=finding.severity.value, message=one_line(finding.message))
            failure.text = text
        else:
            SubElement(case, "system-out").text = text
    if not findings:
        SubElement(suite, "testcase", classname=name, name=one_line(rule.summary))
    _count([suite])


def _count(elements: Iterable[Element]) -> None:
    for element in elements:
        element.set("tests", str(len(list(element.iter("testcase")))))
        element.set("failures", str(len(list(element.iter("failure")))))
        element.set("errors", str(len(list(element.iter("error")))))
