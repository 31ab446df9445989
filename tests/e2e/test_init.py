"""`resilint init` and `resilint schema`: the first five minutes."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from resilint.init import SCHEMA_FILE, SNIPPETS
from resilint.schemas import knowledge_schema, settings_schema
from resilint.settings import load

Run = Callable[..., Any]


def grow(root: Path, *files: str) -> None:
    for name in files:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text({"go": "package main\n"}.get(name.rpartition(".")[2], ""))


def services(root: Path) -> dict[str, tuple[str, ...]]:
    return {name: service.paths for name, service in load(root).services.items()}


def test_what_it_writes_can_be_used_at_once(toy: Path, resilint: Run) -> None:
    grow(toy, "services/orders/go.mod", "services/orders/cmd/main.go", "services/users/Dockerfile", "services/users/app.py")
    (toy / "services/users/app.py").write_text("wait_long()\n")
    before = json.loads(resilint("check", "--format", "json", code=1).stdout)["findings"]
    said = resilint("init", code=0).stdout
    assert said.startswith("Wrote resilint.yaml and .resilint.schema.json: 2 services: orders, users.\n")
    assert services(toy) == {"orders": ("services/orders/**",), "users": ("services/users/**",)}
    after = resilint("check", "--format", "json", "--statistics", code=1)
    assert json.loads(after.stdout)["findings"] == before and after.stderr == ""
    assert "by service:\n1 users" in resilint("check", "--statistics", code=1).stdout


def test_an_editor_finds_the_schema_beside_the_file_without_a_network(toy: Path, resilint: Run) -> None:
    resilint("init", code=0)
    text = (toy / "resilint.yaml").read_text()
    named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
    assert named is not None
    schema = json.loads((toy / named[1]).read_text("utf-8"))
    assert re.match(r"Written by resilint \d", schema.pop("$comment"))
    assert schema == json.loads(resilint("schema", "settings", code=0).stdout)
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(text))
    assert "://" not in json.dumps({key: value for key, value in schema.items() if key != "$schema"})


@pytest.mark.parametrize("files", [(), ("a/go.mod", "a/main.go", "values-prod.yaml")])
def test_every_example_in_the_file_is_right(toy: Path, resilint: Run, files: tuple[str, ...]) -> None:
    grow(toy, *files)
    resilint("init", code=0)
    text = (toy / "resilint.yaml").read_text()
    used = re.sub(r"^( *)#(?! )", r"\1", text, flags=re.MULTILINE)
    used = re.sub(r"^#(  +\S)", r"\1", used, flags=re.MULTILINE)
    assert used.count("#") < text.count("#") - 10
    (toy / "resilint.yaml").write_text(used)
    found = load(toy)
    assert found.retry_budget == 4 and found.fix == {"client_timeout": 2.0} and len(found.knowledge) == 1 and found.services
    jsonschema.Draft202012Validator(settings_schema()).validate(yaml.safe_load(used))
    assert set(yaml.safe_load(used)) | {"profile"} == set(settings_schema()["properties"]), "no setting is left out"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (("pom.xml", "src/main/java/A.java"), {}),
        (("pom.xml", "a/pom.xml", "a/src/main/java/A.java", "b/build.gradle.kts", "b/B.java"), {"a": "a/**", "b": "b/**"}),
        (("apps/web/Dockerfile", "apps/web/index.js"), {"web": "apps/web/**"}),
        (("x/api/pyproject.toml", "x/api/m.py", "y/api/pyproject.toml", "y/api/m.py"), {"x-api": "x/api/**", "y-api": "y/api/**"}),
        (("a/Dockerfile", "a/m.py", "a/lib/setup.py", "a/lib/m.py"), {"a": "a/**"}),
        (("a/pom.xml", "a/A.java", "a/job/Dockerfile", "a/job/m.py"), {"job": "a/job/**", "a": "a/**"}),
        (("tests/app/go.mod", "tests/app/main.go", "examples/x/Dockerfile"), {}),
        (("docs/requirements.txt", "docs/index.rst"), {}),
        (("node_modules/a/Dockerfile", "vendor/b/go.mod", "vendor/b/main.go"), {}),
        (("a [1]/go.mod", "a [1]/main.go", "grün*/go.mod", "grün*/main.go"), {"a [1]": "a [[]1]/**", "grün*": "grün[*]/**"}),
        (("on/go.mod", "on/main.go", "7/go.mod", "7/main.go"), {"7": "7/**", "on": "on/**"}),
    ],
)
def test_services_are_folders_with_a_build_of_their_own(
    toy: Path, resilint: Run, files: tuple[str, ...], found: dict[str, str]
) -> None:
    grow(toy, *files)
    resilint("init", code=0)
    assert services(toy) == {name: (glob,) for name, glob in found.items()}
    assert list(services(toy)) == list(found), "the first one that holds a file has it"
    resilint("check", code=0)


def test_a_name_that_is_no_text_is_left_out(toy: Path, resilint: Run) -> None:
    for name in (b"caf\xe9", b"two\nlines", b"\x1b[31m"):
        folder = Path(os.fsdecode(os.path.join(os.fsencode(toy), name)))
        folder.mkdir()
        (folder / "Dockerfile").write_text("")
    assert "\x1b" not in resilint("init", code=0).stdout
    assert services(toy) == {}


def test_profiles_are_named(toy: Path, resilint: Run) -> None:
    grow(toy, "src/main/resources/application-prod.yml", "chart/values-staging.yaml", "deploy/overlays/eu/kustomization.yaml")
    resilint("init", code=0)
    assert "# There are files for these profiles: eu, prod, staging." in (toy / "resilint.yaml").read_text()


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ((".github/workflows/x.yaml",), ["pre-commit", "github"]),
        ((".gitlab-ci.yml", "Jenkinsfile"), ["pre-commit", "gitlab", "jenkins"]),
        ((), ["pre-commit"]),
    ],
)
def test_it_prints_what_to_paste_for_the_ci_it_finds(toy: Path, resilint: Run, files: tuple[str, ...], named: list[str]) -> None:
    grow(toy, *files)
    said = resilint("init", code=0).stdout
    shown = {place for place, (file, text) in SNIPPETS.items() if f"\n{file}:\n\n  {text.splitlines()[0]}\n" in said}
    assert shown == set(named)
    assert ("No CI was found here" in said) == (named == ["pre-commit"])


def test_the_address_of_a_clone_tells_its_ci(toy: Path, resilint: Run) -> None:
    (toy / ".git").mkdir()
    (toy / ".git" / "config").write_text('[remote "origin"]\n\turl = git@gitlab.example.com:a/b.git\n')
    assert "\n.gitlab-ci.yml:\n" in resilint("init", code=0).stdout


def test_what_is_there_is_kept_unless_forced(toy: Path, resilint: Run) -> None:
    (toy / "resilint.yaml").write_text("ignore: [RS1]\n")
    assert resilint("init", code=2).stderr == "resilint: resilint.yaml is there already: --force writes it anew\n"
    assert (toy / "resilint.yaml").read_text() == "ignore: [RS1]\n" and not (toy / SCHEMA_FILE).exists()
    resilint("init", "--force", code=0)
    assert (toy / "resilint.yaml").read_text().startswith("# yaml-language-server")
    (toy / "resilint.yaml").write_text("broken: [\n")
    resilint("init", "--force", code=0)
    assert load(toy).path == "resilint.yaml"


def test_settings_in_pyproject_are_not_doubled(toy: Path, resilint: Run) -> None:
    (toy / "pyproject.toml").write_text("[tool.resilint]\n")
    for option in ((), ("--force",)):
        said = resilint("init", *option, code=2).stderr
        assert said == "resilint: pyproject.toml has [tool.resilint]: settings stand in one of the two files\n"
    assert not (toy / "resilint.yaml").exists()


def test_a_misnamed_file_is_named(toy: Path, resilint: Run) -> None:
    (toy / "resilint.yml").write_text("")
    assert "resilint.yml:1:1: settings are read from resilint.yaml only: rename it" in resilint("init", code=2).stderr


def test_settings_above_hold_already(toy: Path, resilint: Run) -> None:
    (toy / "resilint.yaml").write_text("")
    (toy / "sub").mkdir()
    assert resilint("init", "sub", code=2).stderr.startswith("resilint: resilint.yaml holds for this directory already: ")
    resilint("init", "sub", "--force", code=0)
    assert (toy / "sub" / "resilint.yaml").exists()


@pytest.mark.parametrize(
    ("path", "said"), [("nowhere", "nowhere: no such file or directory"), ("file.txt", "file.txt: not a directory")]
)
def test_a_directory_is_needed(toy: Path, resilint: Run, path: str, said: str) -> None:
    (toy / "file.txt").write_text("")
    assert resilint("init", path, code=2).stderr == f"resilint: {said}\n"


def test_a_link_is_replaced_and_not_followed(toy: Path, resilint: Run) -> None:
    precious = toy.parent / "precious"
    precious.write_text("mine")
    (toy / SCHEMA_FILE).symlink_to(precious)
    (toy / "resilint.yaml").symlink_to(precious)
    resilint("init", "--force", code=0)
    assert precious.read_text() == "mine"
    for name in (SCHEMA_FILE, "resilint.yaml"):
        mode = (toy / name).lstat().st_mode
        assert stat.S_ISREG(mode) and mode & 0o400
        assert [file.name for file in toy.iterdir() if file.name.startswith(name) and file.name != name] == []


def test_what_cannot_be_written_is_said_in_one_line(toy: Path, resilint: Run) -> None:
    (toy / "resilint.yaml").mkdir()
    assert resilint("init", "--force", code=3).stderr == "resilint: resilint.yaml: cannot be written: is a directory\n"
    assert {file.name for file in toy.iterdir()} == {"resilint.yaml", SCHEMA_FILE}


@pytest.mark.parametrize(("kind", "schema"), [("settings", settings_schema()), ("knowledge", knowledge_schema())])
def test_schemas_are_printed(kind: str, schema: dict[str, Any], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "resilint.cli", "schema", kind]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, encoding="utf-8").stdout
    assert json.loads(printed) == json.loads(json.dumps(schema))


def test_there_are_two_schemas(resilint: Run) -> None:
    assert "'setings' is not one of 'settings', 'knowledge'" in resilint("schema", "setings", code=2).stderr
