"""Whatever a file, its name or a fix says, its reader gets that text back out of every format."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from resilint import Confidence, Edit, Finding, Fix, Severity, Step
from resilint.checking import Failure
from resilint.model import Span
from resilint.report import FORMATS, Options, one_line, printable, write
from resilint.run import Result
from resilint.text import Lines

WAITS = {"bounded": 1, "endless": 1, "unknown": 1}
SIGNS = st.sampled_from(
    ["::", "##[error]", "%0A", "%", ",", "]]>", "&lt;", "](1)", "{0}", "\\", '"', "\r\n", "\x1b[1m", "\ud800", "\udcff"]
)
TEXT = st.lists(SIGNS | st.text(max_size=4), min_size=1, max_size=6).map("".join)
PATH = TEXT.map(lambda text: re.sub("[\0\ud800-\udc7f\udd00-\udfff]", "", text).strip("/")).filter(
    lambda path: path not in ("", ".", "..")
)


def result(message: str, path: str, inserted: str, failure: str) -> Result:
    span = Span(path, 2, 3, 2, 5)
    finding = Finding(
        span,
        "RS101",
        "client-without-timeout",
        Severity.ERROR,
        message,
        Confidence.HIGH,
        (Step(span, message),),
        Fix(message, (Edit(span, inserted),), True),
    )
    text = f"a\n  {message}".encode("utf-8", "replace")
    return Result(
        [finding],
        ["0" * 24],
        [Failure("", failure)],
        1,
        0.1,
        WAITS,
        {},
        {},
        0,
        (),
        (),
        lambda _: Lines(text),
        service=lambda _: path,
    )


@hypothesis_settings(max_examples=300, deadline=None)
@given(TEXT, PATH, TEXT, TEXT)
def test_texts_come_back(message: str, path: str, inserted: str, failure: str) -> None:
    found = result(message, path, inserted, failure)
    texts = {kind: write(found, kind, Options(show_trace=True, statistics=True)) for kind in FORMATS}
    said = one_line(message)

    run = json.loads(texts["sarif"])["runs"][0]
    (one,) = run["results"]
    shown_there = one["message"]["text"]
    # What could be taken for a link has its brackets escaped.
    assert (re.sub(r"\\([\[\]])", r"\1", shown_there) if "](" in said else shown_there) == said
    uri = one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote_to_bytes(uri) == path.encode("utf-8", "surrogateescape") and uri.isascii() and ":" not in uri
    (change,) = one["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == inserted, "a fix is not made readable"
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == one_line(failure)

    issue, fault = json.loads(texts["gitlab"])
    assert (issue["description"], issue["location"]["path"]) == (said, printable(path))
    assert fault["description"] == one_line(failure)

    root = ElementTree.fromstring(texts["junit"])
    assert [error.attrib["message"] for error in root.iter("error")] == [one_line(failure)]

    lines = re.split("\r\n|\r|\n", texts["github"])
    shown = [line for line in lines if line.lstrip().startswith("::")]
    assert [line.split(" ")[0].split("::")[1] for line in shown] == ["error", "error", "group", "endgroup"]
    assert not any("##[" in line for line in lines if line not in shown)
    data = shown[1][shown[1].index("::", 2) + 2 :].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    assert data.split("\n")[0] == said
    assert "\x1b" not in texts["text"]


@hypothesis_settings(max_examples=100, deadline=None)
@given(PATH)
def test_a_job_summary_is_a_table_whatever_a_service_is_called(path: str) -> None:
    from resilint.report.github import summary

    page = summary(result("m", path, "", "f"))
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert len(rows) == 6 and all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)
    assert "<" not in page
