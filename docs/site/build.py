"""Builds the site: README, docs/, the pages of all rules, and references made of the settings, the commands and the rules."""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from resilint import __version__, docs, registry
from resilint.cli import main as command_line
from resilint.model import Rule
from resilint.schemas import settings_schema
from resilint.testing import LANGUAGES, shown

ROOT = Path(__file__).parents[2]
ORDER = ("adopt", "ci", "editors", "bounds", "knowledge", "rules", "scale")
"""The pages of docs/ that come first; others follow by name."""
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/outages/README.md": "outages.md",
}
"""Where pages outside of docs/ and rule_docs/ lie on the site."""

_FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<lang>[\w+-]*)(?:[ ]+(?P<path>\S+))?[ ]*$")
_LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^()\s]+)\)")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


class BadPage(Exception):
    """A page that cannot be shown: a link that leads nowhere."""


def pages(root: Path = ROOT) -> dict[str, str]:
    """Every page of the repository that is on the site: its path, and its path on the site."""
    found = dict(ELSEWHERE)
    outages = sorted(file.parent.name for file in (root / "examples" / "outages").glob("*/README.md"))
    found |= {f"examples/outages/{name}/README.md": f"outages/{name}.md" for name in outages}
    found |= {f"docs/{file.name}": file.name for file in sorted((root / "docs").glob("*.md"))}
    found |= {f"rule_docs/{file.name}": f"rules/{file.name}" for file in sorted((root / "rule_docs").glob("*.md"))}
    return found


def write_sources(out: Path, root: Path = ROOT) -> None:
    """Writes the Markdown that the site is made of. Raises `BadPage`."""
    known = pages(root)
    for path, name in known.items():
        text = _converted((root / path).read_text("utf-8"), path, known, root)
        _write(out / name, text)
    rules = registry.rules()
    own = [rule for rule in rules if docs.page(rule) is not None and rule.code.startswith(registry.OWN_PREFIX)]
    _write(out / "rules/index.md", rules_index(own, families((root / "README.md").read_text("utf-8"))))
    _write(out / "settings.md", settings_reference())
    _write(out / "commands.md", commands_reference())
    index = out / "index.md"
    guides = [Path(name).stem for path, name in known.items() if path.startswith("docs/")]
    guides.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    tree = _tree("Guides", guides) + _tree("Reference", ["rules/index", "commands", "settings", "outages"])
    tree += _tree("Project", ["contributing", "changelog"])
    index.write_text(index.read_text("utf-8") + tree, "utf-8")
    outages = out / "outages.md"
    listed = [name.removesuffix(".md") for name in known.values() if name.startswith("outages/")]
    outages.write_text(outages.read_text("utf-8") + _tree("", listed), "utf-8")


def _tree(caption: str, names: list[str]) -> str:
    listed = "\n".join(names)
    head = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n{head}\n{listed}\n```\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


# ---------------------------------------------------------------- pages as they are written


def _converted(text: str, path: str, known: Mapping[str, str], root: Path) -> str:
    """A page of the repository as the site's generator takes it: links lead to pages of the site, examples show what is found."""
    out: list[str] = []
    rows = iter(text.splitlines())
    for row in rows:
        fence = _FENCE.match(row)
        if fence is None:
            out.append(_links(row, path, known, root))
            continue
        inner = []
        for line in rows:
            if line.strip() == fence["ticks"]:
                break
            inner.append(line)
        out += _example(fence, inner)
    return "\n".join(out) + "\n"


def _example(fence: re.Match[str], rows: list[str]) -> Iterator[str]:
    language = fence["lang"]
    lines: list[int] = []
    if language in LANGUAGES:
        rows, lines = shown(rows, language)
    yield f"{fence['ticks']}{{code-block}} {_LEXERS.get(language, language or 'text')}"
    if fence["path"]:
        yield f":caption: {fence['path']}"
    if lines:
        yield f":emphasize-lines: {','.join(map(str, lines))}"
    yield ""
    yield from rows
    yield fence["ticks"]


_LEXERS = {"env": "bash", "haproxy": "text", "want": "text", "golang": "go", "cfg": "ini", "tf": "hcl"}
"""What the highlighter calls the languages of fences, where it has another name or none."""


def _links(row: str, path: str, known: Mapping[str, str], root: Path) -> str:
    """A line of prose with its links as they are on the site. Raises `BadPage`."""
    code = [match.span() for match in _CODE.finditer(row)]

    def link(match: re.Match[str]) -> str:
        target, _, anchor = match[3].partition("#")
        if any(start < match.start() < end for start, end in code) or re.match(r"[a-z]+:", match[3]) or not target:
            return match[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if place in known:
            here = posixpath.dirname(known[path])
            name = posixpath.relpath(known[place], here or ".")
            return f"{match[1]}[{match[2]}]({name}{'#' + anchor if anchor else ''})"
        if not (root / place).exists() or place.startswith("../"):
            raise BadPage(f"{path}: {match[3]} leads nowhere")
        # A file of the repository that is no page: its name says where to look.
        return match[2] if match[2].strip("`") == place else f"{match[2]} (`{place}`)"

    return _LINK.sub(link, row)


# ---------------------------------------------------------------- references


def families(readme: str) -> dict[str, str]:
    """The title of each family of rules by what its codes begin with, as the README's table groups them."""
    found = {"RS0": "files, settings and suppressions"}
    for title, cell in re.findall(r"^\| ([^|]+?) \| (RS\d[^|]*) \|$", readme, re.MULTILINE):
        for code in re.findall(r"RS\d+", cell):
            found.setdefault(code[:3], title)
    return found


def rules_index(rules: list[Rule], titles: Mapping[str, str]) -> str:
    """All rules by family."""
    text = "# Rules\n\nOn each page the examples are tests; in those that are flagged, the marked lines are the ones found.\n"
    for family in sorted({rule.code[:3] for rule in rules}, key=lambda family: (family == "RS0", family)):
        text += f"\n## {family}: {titles[family]}\n\n| rule | severity | finds |\n|---|---|---|\n"
        for rule in (rule for rule in rules if rule.code[:3] == family):
            preview = " (preview)" if rule.preview else ""
            text += f"| [{rule.code} {rule.name}]({rule.code}.md) | {rule.severity.value} | {_cell(rule.summary)}{preview} |\n"
    return text + _tree("", [rule.code for rule in rules])


def settings_reference() -> str:
    """Every key of the settings, from the schema that editors get."""
    text = (
        "# Settings\n\n`resilint.yaml`, or `[tool.resilint]` in `pyproject.toml`, searched from the program's root upward to the"
        " repository's root.\n`resilint init` writes one to start from, `resilint schema settings` prints the schema that this page"
        " is made of.\nAn unknown key is an error that names its line and the likely spelling.\n\n"
    )
    return text + "".join(_keys(settings_schema(), ""))


def _keys(schema: Mapping[str, Any], above: str) -> Iterator[str]:
    known = schema.get("properties", {})
    if known:
        yield "| key | is | what it says |\n|---|---|---|\n" if above else ""
        for key, value in known.items():
            if above:
                yield f"| `{key}` | {_kind(value)} | {_cell(value.get('description', ''))} |\n"
    for key, value in known.items():
        if not above:
            yield f"\n## `{key}`\n\n*{_kind(value).capitalize()}*: {value.get('description', '')}\n\n"
        yield from _below(value, f"{above}.{key}" if above else key)


def _below(schema: Mapping[str, Any], name: str) -> Iterator[str]:
    """The keys inside a value: a mapping, or each of a mapping's values."""
    inner = schema.get("additionalProperties")
    if schema.get("properties"):
        yield f"\n### Keys of `{name}`\n\n"
        yield from _keys(schema, name)
    elif isinstance(inner, dict) and inner.get("properties"):
        yield f"\n### Keys of each entry of `{name}`\n\n"
        yield from _keys(inner, f"{name}.*")


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"] if value is not None)
    if "const" in schema:
        return f"`{schema['const']}`"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_kind(one) for one in schema[several]))
    kinds = schema.get("type", "anything")
    kinds = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null"]
    if kinds == ["array"]:
        return f"a list of {_kind(schema.get('items', {}))}"
    if kinds == ["object"]:
        inner = schema.get("additionalProperties")
        return f"a mapping to {_kind(inner)}" if isinstance(inner, dict) and not inner.get("properties") else "a mapping"
    words = {"string": "text", "number": "a number", "integer": "a whole number", "boolean": "`true` or `false`"}
    return " or ".join(words.get(kind, kind) for kind in kinds)


def commands_reference() -> str:
    """Every command with its arguments and options, from the command line itself."""
    text = "# Commands\n"
    group = click.Context(command_line, info_name="resilint")
    for name in command_line.list_commands(group):
        command = command_line.get_command(group, name)
        if command is None or command.hidden:
            continue
        context = click.Context(command, info_name=name, parent=group)
        usage = " ".join(command.collect_usage_pieces(context))
        text += f"\n## resilint {name}\n\n```text\nresilint {name} {usage}\n```\n\n{_prose(command.help or '')}\n"
        rows = [
            (", ".join([*option.opts, *option.secondary_opts]), option)
            for option in command.params
            if isinstance(option, click.Option) and not option.hidden
        ]
        if rows:
            text += "\n| option | does |\n|---|---|\n"
        for names, option in rows:
            value = "" if option.is_flag else f" {option.make_metavar(context)}"
            default = f" Default: `{option.default}`." if option.show_default and option.default is not None else ""
            text += f"| `{_cell(names + value)}` | {_cell((option.help or '') + default)} |\n"
    return text


def _prose(text: str) -> str:
    """The help of a command as Markdown: paragraphs stay, single lines are joined."""
    return "\n\n".join(" ".join(part.replace("\b", "").split()) for part in text.replace("\r", "").split("\n\n"))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# ---------------------------------------------------------------- building


def build(out: Path, root: Path = ROOT, say: Callable[[str], None] = print) -> None:
    """Builds the site into a folder, which is emptied first. Raises `BadPage` for what leads nowhere."""
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder)
        write_sources(sources, root)
        for name in ("conf.py", "static"):
            source = Path(__file__).parent / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, sources / name)
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-d", str(sources / ".doctrees")]
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run([*command, "-D", f"version={__version__}", str(sources), str(out)], capture_output=True, text=True)
        if done.returncode:
            raise BadPage(done.stderr.replace(f"{sources}/", "").strip())
    for name in (".buildinfo", "objects.inv"):
        (out / name).unlink(missing_ok=True)
    shutil.rmtree(out / "_sources", ignore_errors=True)
    say(f"{out / 'index.html'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, nargs="?", default=ROOT / "build" / "site")
    try:
        build(parser.parse_args().out)
    except BadPage as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
