"""`python -m resilint.new RS206 blocking-while-holding` writes a rule, its page and its folder of cases in a checkout."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from resilint.testing import LANGUAGES

_MODULE = '''"""{code} {name}. Page: rule_docs/{code}.md."""

from __future__ import annotations

from collections.abc import Iterator

from resilint import Finding, Program, Rule, Severity


def check(program: Program) -> Iterator[Finding]:
    yield from ()


RULE = Rule(
    code="{code}",
    name="{name}",
    severity=Severity.WARNING,
    summary="To be written: what it flags, in one sentence.",
    languages=frozenset({{{languages}}}),
    check=check,
    preview=True,
)
'''

_PAGE = """# {code} {name}

To be written: what it flags, in one sentence.

## Why

Which outage this is, in three sentences.

## Flagged

{flagged}
## Quiet

{quiet}
## Fix

What to write instead, for each language.

## How it decides

Which facts it uses, what it does not see, which settings change it.
"""

_CASES = """# {code} across files

## The cause lies in another file

{flagged}
## The other file sets a bound

{quiet}"""

_EXAMPLES = {
    "py": ("Python", "limit = 4{behind}\n"),
    "go": ("Go", "package main\n\nvar limit = 4{behind}\n"),
    "java": ("Java", "class Limits {{\n    static final int LIMIT = 4;{behind}\n}}\n"),
    "xml": ("XML", '<limits max="4"/>{behind}\n'),
    "yaml": ("YAML", "limit: 4{behind}\n"),
    "json": ("JSON", '{{"limit": 4}}\n'),
    "toml": ("TOML", "limit = 4{behind}\n"),
    "properties": ("Properties", "{above}limit=4\n"),
    "ini": ("INI", "[limits]\n{above}limit = 4\n"),
    "env": ("Environment files", "{above}LIMIT=4\n"),
    "nginx": ("nginx", "limit 4;{behind}\n"),
    "haproxy": ("HAProxy", "defaults\n    maxconn 4{behind}\n"),
    "hcl": ("HCL", "limit = 4{behind}\n"),
    "dockerfile": ("Dockerfile", "{above}ENV LIMIT=4\n"),
}
"""How a page calls each language of `LANGUAGES`, and a line in it with a comment behind or above, where the language has them."""

_COMMENTS = {"go": "  // {}", "java": "  // {}", "xml": " <!-- {} -->"}


def _fence(language: str, path: str, code: str | None) -> str:
    """An example in a language, wanting the rule unless `code` is `None`; a quiet one differs in its number."""
    want = f'want {code} "regex of the message"'
    _, example = _EXAMPLES[language]
    behind = _COMMENTS.get(language, "  # {}").format(want) if code else ""
    text = example.format(behind=behind, above=f"# {want}\n" if code else "")
    if code is None:
        text = text.replace("4", "5", 1)
    fence = f"```{language}{f' {path}' if path else ''}\n{text}```\n"
    if code and language == "json":
        fence += f'\n```want\n{path or "case.json"}:1 {code} "regex of the message"\n```\n'
    return fence


def _examples(languages: Sequence[str], code: str | None) -> str:
    return "\n".join(f"### {_EXAMPLES[language][0]}\n\n{_fence(language, '', code)}" for language in languages)


def _across(language: str, code: str | None) -> str:
    limits, app = ("base/Dockerfile", "app/Dockerfile") if language == "dockerfile" else (f"limits.{language}", f"app.{language}")
    other = _fence(language, limits, None)
    return f"{other if code is None else other.replace('5', '4', 1)}\n{_fence(language, app, code)}"


def write(root: Path, code: str, name: str, languages: Sequence[str] = ("py", "go", "java")) -> list[Path]:
    """Writes the three files of a rule below the root of a checkout, and says which. `languages` are spelled as in `LANGUAGES`.

    Raises `ValueError` where one of them exists, code or name have the wrong form, or a language is not known.
    """
    if not re.fullmatch(r"[A-Z]+[0-9]+", code) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(f"a code is like RS206, a name like blocking-while-holding: {code} {name}")
    if not (root / "checks" / "resilint_checks").is_dir():
        raise ValueError(f"not the root of a checkout: {root}")
    unknown = [language for language in languages if language not in LANGUAGES]
    if unknown or not languages:
        raise ValueError(f"no language of cases: {', '.join(unknown)}; known are {', '.join(_EXAMPLES)}")
    spoken = tuple(dict.fromkeys(LANGUAGES[language] for language in languages))
    parts = {
        root / "checks" / "resilint_checks" / f"{code.lower()}_{name.replace('-', '_')}.py": (_MODULE, "", ""),
        root / "rule_docs" / f"{code}.md": (_PAGE, _examples(spoken, code), _examples(spoken, None)),
        root / "tests" / "cases" / code / "across_files.md": (
            _CASES,
            _across(spoken[0], code),
            _across(spoken[0], None).rstrip("\n") + "\n",
        ),
    }
    for file in parts:
        if file.exists():
            raise ValueError(f"exists already: {file}")
    listed = ", ".join(f'"{language}"' for language in spoken)
    for file, (text, flagged, quiet) in parts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(code=code, name=name, languages=listed, flagged=flagged, quiet=quiet), "utf-8")
    return list(parts)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m resilint.new", description="Write a rule, its page and its folder of cases.")
    parser.add_argument("code", help="such as RS206")
    parser.add_argument("name", help="such as blocking-while-holding")
    parser.add_argument("--languages", default="py,go,java", help="languages of the rule, of " + ", ".join(_EXAMPLES))
    options = parser.parse_args()
    try:
        for file in write(Path.cwd(), options.code, options.name, options.languages.split(",")):
            print(file.relative_to(Path.cwd()))
    except ValueError as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
