"""`resilint init`: settings to start from, made of what is found in a repository, and what to paste into its CI."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from resilint import __version__
from resilint.discover import discover
from resilint.globs import matcher
from resilint.homes import Homes
from resilint.settings import DEFAULT_TEST_PATHS, FILE

SCHEMA_FILE = ".resilint.schema.json"
"""Written beside the settings: an editor finds it by a relative path, without a network and wherever resilint is installed."""
_CODE = frozenset({"python", "go", "java"})
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""What YAML takes for something else than text."""
_PROFILES = (
    re.compile(r"(?:.*/)?application-([\w-]+)\.(?:ya?ml|properties)"),
    re.compile(r"(?:.*/)?values[-_]([\w-]+)\.ya?ml"),
    re.compile(r"(?:.*/)?overlays/([\w-]+)/.*"),
)


@dataclass(frozen=True)
class Found:
    """What a repository holds. `services` are folders by the names they get, nested ones before those around them."""

    services: dict[str, str]
    profiles: tuple[str, ...]
    places: tuple[str, ...]
    """Keys of `SNIPPETS` for the services that check this repository."""


def find(root: Path) -> Found:
    """Looks at the names of files, and at where the repository was cloned from. Runs nothing."""
    sources = discover(root, ("",), lambda path: False).sources
    is_test = matcher(DEFAULT_TEST_PATHS)
    homes = Homes(source.path for source in sources)
    lived_in = {homes.home(source.path) for source in sources if source.kind in _CODE and not is_test(source.path)}
    packed = {source.path.rpartition("/")[0] for source in sources if source.kind == "dockerfile"}
    folders = {
        folder for folder in (lived_in & homes.folders) | packed if folder and _writable(folder) and not is_test(folder + "/x")
    }
    # What lies inside of a service is a part of it, unless it is packed on its own.
    apart = [folder for folder in folders if folder in packed or not any(above in folders for above in _above(folder))]
    services = dict(_named(sorted(apart, key=lambda folder: folder + "\uffff")))
    profiles = {match[1] for source in sources for pattern in _PROFILES if (match := pattern.fullmatch(source.path))}
    return Found(services, tuple(sorted(filter(_writable, profiles))), tuple(_places(root)))


def _writable(text: str) -> bool:
    return text.isprintable() and text == text.encode("utf-8", "replace").decode()


def _above(folder: str) -> Iterator[str]:
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _named(folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each folder by its last name, with as many of those above as tell it from the others."""
    folders = list(folders)
    for folder in folders:
        parts = folder.split("/")
        size = 1
        while size < len(parts) and sum(other.split("/")[-size:] == parts[-size:] for other in folders) > 1:
            size += 1
        yield "-".join(parts[-size:]), folder


def _places(root: Path) -> Iterator[str]:
    marks = {"github": (".github",), "gitlab": (".gitlab-ci.yml",), "jenkins": ("Jenkinsfile",)}
    cloned = _cloned_from(root)
    for place, names in marks.items():
        if any(os.path.lexists(root / name) for name in names) or place in cloned:
            yield place


def _cloned_from(root: Path) -> str:
    """The addresses in git's own settings; nothing where they are not at hand."""
    file = root / ".git" / "config"
    try:
        if not stat.S_ISREG(os.lstat(file).st_mode):
            return ""
        with open(file, "rb") as stream:
            text = stream.read(100_000).decode("utf-8", "replace")
    except OSError:
        return ""
    return " ".join(re.findall(r"^\s*url\s*=\s*(\S+)", text, re.MULTILINE)).lower()


# ---------------------------------------------------------------- the files

_HEAD = f"""\
# yaml-language-server: $schema=./{SCHEMA_FILE}
# Settings of resilint. Each has a default, so that this file may be empty. What stands behind a # without a blank
# is an example: take the # away to use it. Editors that read the schema above know all keys and what they mean.

#select: [RS1, RS4]  # rules to run: codes, names or prefixes; default: all stable ones
#ignore: [RS503]
#exclude: ["**/testdata/**"]  # files that are no part of the program
#per_path: {{"scripts/**": {{ignore: [RS109]}}}}
#test_paths: ["tests/**", "**/*_test.go"]  # code that waits may be found in; default: tests, scripts, examples, benchmarks, docs
#require_reason: true  # of suppression comments
#severity: {{RS205: info}}
#confidence: medium  # report at and above: low, medium, high
#safety_factor: 0.7  # share of a caller's timeout that a queue may use up
#retry_budget: 4  # tries along a path from which on they are too many
#memory_headroom: 0.9  # share of a container's memory limit that a runtime may use
#fix: {{client_timeout: 2s}}  # values that a fix may write
#baseline: ci/resilint-baseline.json  # what `resilint baseline` writes; default: .resilint-baseline.json beside this file
"""
_PROFILE = """
# There are files for these profiles: {found}. The one to judge; default: all of them.
#profile: {first}
"""
_SERVICES = """
# The services, by the folders that have a build file or a Dockerfile of their own. What is declared of one wins over its
# configuration: queues (by the name of a variable, field, bean or key), and callers whose settings lie elsewhere.
services:
"""
_SERVICE = """\
  {name}:
    paths: [{glob}]
"""
_FIGURES = """\
    #hosts: [{host}]  # by which others call it
    #queues: {{orders: {{service_time: 16ms, worst_service_time: 27ms, workers: 1, arrival_rate: 50/s}}}}
    #callers: {{gateway: {{timeout: 200ms, retries: 3, deadline: 5s}}}}
"""
_NO_SERVICES = """
# Services: what is declared of one wins over its configuration.
#services:
#  orders:
#    paths: ["services/orders/**"]
#    hosts: [orders.example.internal]
#    callers: {gateway: {timeout: 200ms, retries: 3, deadline: 5s}}
"""
_KNOWLEDGE = """
# What in-house libraries do; paths of files work too.
#knowledge:
#  - library: our_rpc
#    language: python
#    types: [{name: our_rpc.Client, role: client}]
#    calls: [{names: [our_rpc.Client.invoke], does: network, bounds: [{slot: total, arg: deadline_ms, unit: ms}]}]
"""


def settings_text(found: Found) -> str:
    """A `resilint.yaml` in which every setting is explained, and only what was found is set."""
    parts = [_HEAD]
    if found.profiles:
        parts.append(_PROFILE.format(found=", ".join(found.profiles), first=_scalar(found.profiles[0])))
    if found.services:
        parts.append(_SERVICES)
        for number, (name, folder) in enumerate(found.services.items()):
            parts.append(_SERVICE.format(name=_scalar(name), glob=json.dumps(f"{_literal(folder)}/**", ensure_ascii=False)))
            if number == 0:
                host = f"{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-') or 'orders'}.example.internal"
                parts.append(_FIGURES.format(host=host))
    else:
        parts.append(_NO_SERVICES)
    return "".join([*parts, _KNOWLEDGE])


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else json.dumps(text, ensure_ascii=False)


def _literal(folder: str) -> str:
    """A glob for exactly this folder."""
    return re.sub(r"[\[*?]", r"[\g<0>]", folder)


def write(root: Path, found: Found) -> None:
    """Writes the settings and their schema. What stands there is replaced, not followed: a link may lead anywhere."""
    from resilint.schemas import settings_schema

    schema = {"$comment": f"Written by resilint {__version__}; `resilint schema settings` prints it.", **settings_schema()}
    _put(root / SCHEMA_FILE, json.dumps(schema, indent=1, ensure_ascii=False) + "\n")
    _put(root / FILE, settings_text(found))


def _put(file: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


# ---------------------------------------------------------------- what to paste

_AT = "https://git.example.com/resilint"
"""Where this repository lies; a name that cannot be taken for a real one."""
_TAG = f"v{__version__}"

SNIPPETS = {
    "pre-commit": (
        ".pre-commit-config.yaml",
        f"""\
repos:
  - repo: {_AT}  # where resilint's repository lies
    rev: {_TAG}
    hooks:
      - id: resilint
""",
    ),
    "github": (
        ".github/workflows/resilint.yaml",
        f"""\
name: resilint
on: [pull_request]
jobs:
  resilint:
    runs-on: ubuntu-latest
    permissions:
      contents: read
      security-events: write  # for the upload
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0  # the state to compare with must be there
      - uses: example/resilint@{_TAG}  # where resilint's repository lies
        with:
          changed-against: ${{{{ github.event.pull_request.base.sha }}}}
          sarif: resilint.sarif
      - uses: github/codeql-action/upload-sarif@v3
        if: success() || failure()
        with:
          sarif_file: resilint.sarif
""",
    ),
    "gitlab": (
        ".gitlab-ci.yml",
        f"""\
resilint:
  image: python:3.12
  script:
    - pip install "resilint @ git+{_AT}@{_TAG}"
    - resilint check --output gitlab:gl-code-quality-report.json --output junit:resilint.xml
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
      junit: resilint.xml
""",
    ),
    "jenkins": (
        "Jenkinsfile",
        f"""\
pipeline {{
  agent {{ docker {{ image 'python:3.12' }} }}
  stages {{
    stage('resilint') {{
      steps {{
        sh 'python -m venv .venv && .venv/bin/pip install "resilint @ git+{_AT}@{_TAG}"'
        sh '.venv/bin/resilint check --output sarif:resilint.sarif'
      }}
      post {{
        always {{ recordIssues tool: sarif(pattern: 'resilint.sarif') }}
      }}
    }}
  }}
}}
""",
    ),
}
"""What to paste, and into which file. `docs/ci.md` shows the same."""


def advice(found: Found, commands: Iterable[str], shown: Callable[[str], str]) -> str:
    """What was found, what to type next, and what to paste. `commands` are those there are."""
    names = list(found.services)
    some = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    number = f"{len(names)} service{'' if len(names) == 1 else 's'}: {some}" if names else "one service"
    lines = [
        f"Wrote {shown(FILE)} and {shown(SCHEMA_FILE)}: {number}.",
        "",
        "Next:",
        "  resilint check               what there is to find",
    ]
    if "baseline" in commands:
        lines.append("  resilint baseline            accept what there is, and report only what is new")
    lines.append("  resilint explain RS101       why a rule exists, and what to write instead")
    for place in ("pre-commit", *found.places):
        file, text = SNIPPETS[place]
        lines += ["", f"{file}:", "", *(f"  {line}" for line in text.splitlines())]
    if not found.places:
        lines += ["", "No CI was found here. Its command is `resilint check`; reports: --format github, gitlab, junit, sarif."]
    return "\n".join(lines) + "\n"
