"""Settings: every key is read, and every mistake is named with its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from resilint.knowledge import Inline
from resilint.model import Confidence, Severity
from resilint.settings import Settings, SettingsError, duration, find, load, rate

WHOLE = """\
select: [RS1, RS4]
ignore: [RS503]
exclude: ["**/testdata/**"]
per_path: {"scripts/**": {ignore: [RS109]}}
test_paths: ["checks/**"]
profile: prod
severity: {RS205: info}
confidence: low
safety_factor: 0.6
retry_budget: 3
memory_headroom: 0.8
fix: {client_timeout: 2s}
services:
  account:
    paths: ["services/account/**"]
    hosts: [account.example.internal]
    public_hosts: [account.example.com]
    near: mysql-primary
    queues: {hotkey: {service_time: 16ms, worst_service_time: 27ms, batch: 20, linger: 20ms, workers: 1, arrival_rate: 50/s}}
    callers: {gateway: {timeout: 200ms, retries: 3, deadline: 5s}}
    single_owner: ["pick_server"]
knowledge: [ci/resilint/our_rpc.yaml, {library: ours}]
"""


def settings(folder: Path, text: str, name: str = "resilint.yaml") -> Settings:
    if "our_rpc.yaml" in text:
        (folder / "ci" / "resilint").mkdir(parents=True)
        (folder / "ci" / "resilint" / "our_rpc.yaml").write_text("", "utf-8")
    (folder / name).write_text(text, "utf-8")
    return load(folder)


def test_every_key_is_read(tmp_path: Path) -> None:
    read = settings(tmp_path, WHOLE)
    assert read.select == ("RS1", "RS4")
    assert read.ignore == ("RS503",)
    assert read.is_excluded("a/testdata/x.py") and not read.is_excluded("a/x.py")
    assert read.ignored_at("scripts/x.py") == ("RS109",) and read.ignored_at("x.py") == ()
    assert read.is_test("checks/x.py") and not read.is_test("tests/x.py")
    assert read.profile == "prod"
    assert read.severity == {"RS205": Severity.INFO}
    assert read.confidence is Confidence.LOW
    assert (read.safety_factor, read.retry_budget, read.memory_headroom) == (0.6, 3, 0.8)
    assert read.fix == {"client_timeout": 2.0}
    account = read.services["account"]
    assert (account.name, account.paths, account.near) == ("account", ("services/account/**",), "mysql-primary")
    assert (account.hosts, account.public_hosts) == (("account.example.internal",), ("account.example.com",))
    assert account.single_owner == ("pick_server",)
    queue = account.queues["hotkey"]
    assert (queue.service_time, queue.worst_service_time, queue.linger) == (0.016, 0.027, 0.02)
    assert (queue.batch, queue.workers, queue.arrival_rate) == (20, 1, 50.0)
    caller = account.callers["gateway"]
    assert (caller.timeout, caller.retries, caller.deadline) == (0.2, 3, 5.0)
    path, entry = read.knowledge
    assert path == "ci/resilint/our_rpc.yaml"
    assert (
        isinstance(entry, Inline) and entry.value == {"library": "ours"} and entry.line_of(["library"]) == len(WHOLE.splitlines())
    )
    assert read.service_of("services/account/main.py") is account and read.service_of("main.py") is None


def test_places_say_where_a_key_stands(tmp_path: Path) -> None:
    read = settings(tmp_path, WHOLE)
    batch = read.place("services", "account", "queues", "hotkey", "batch")
    assert batch is not None
    line = WHOLE.splitlines()[batch.line - 1]
    assert line[batch.col - 1 : batch.end_col - 1] == "batch"
    second = read.place("select", "1")
    assert second is not None and (second.line, second.col) == (1, 15)
    assert read.place("no", "such") is None


def test_toml_says_the_same(tmp_path: Path) -> None:
    text = """\
[project]
name = "x"

[tool.resilint]
select = ["RS1"]
safety_factor = 0.5

[tool.resilint.services.account]
paths = ["a/**"]

[tool.resilint.services.account.queues.hotkey]
service_time = "16ms"
"""
    read = settings(tmp_path, text, "pyproject.toml")
    assert read.select == ("RS1",) and read.safety_factor == 0.5 and read.path == "pyproject.toml"
    assert read.services["account"].queues["hotkey"].service_time == 0.016
    place = read.place("services", "account", "queues", "hotkey", "service_time")
    assert place is not None and place.line == 12


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("ignroe: [RS1]", 1, "unknown key 'ignroe': did you mean 'ignore'?"),
        ("services:\n  a:\n    qeues: {}", 3, "unknown key 'qeues' in services.a: did you mean 'queues'?"),
        ("services: {a: {queues: {q: {sevice_time: 1s}}}}", 1, "did you mean 'service_time'?"),
        ("services: {a: {callers: {b: {timout: 1s}}}}", 1, "did you mean 'timeout'?"),
        ("per_path: {'a/**': {ignor: []}}", 1, "did you mean 'ignore'?"),
        ("fix: {client_timout: 1s}", 1, "did you mean 'client_timeout'?"),
        ("fix: {queue_sise: 5}", 1, "did you mean 'queue_size'?"),
        ("fix: {queue_size: 2s}", 1, "fix.queue_size must be a whole number"),
        ("fix: {wait_timeout: 0s}", 1, "fix.wait_timeout must be above 0"),
        ("fix: {client_timeout: 2}", 1, "fix.client_timeout needs a unit, for example 2ms or 2s"),
        ("services: {a: {queues: {q: {linger: 0.5}}}}", 1, "services.a.queues.q.linger needs a unit"),
        ("services: {a: {queues: {q: {arrival_rate: 50}}}}", 1, "needs a unit, for example 50/s"),
        ("services: {a: {queues: {q: {service_time: fast}}}}", 1, "must be a duration such as 16ms, 1.5s or 2m, not text ('fast')"),
        ("services: {a: {queues: {q: {batch: 0}}}}", 1, "must be at least 1, not 0"),
        ("services: {a: {queues: {q: {batch: 1.5}}}}", 1, "must be a whole number, not a number (1.5)"),
        ("services: {a: {callers: {b: {retries: -1}}}}", 1, "must be at least 0, not -1"),
        ("services: [a]", 1, "services must be a mapping, not a list"),
        ("select: RS1", 1, "select must be a list, not text ('RS1')"),
        ("select: [1]", 1, "select[0] must be text, not a whole number (1)"),
        ("confidence: hihg", 1, "did you mean 'high'?"),
        ("severity: {RS1: fatal}", 1, "severity.RS1 must be one of error, warning, info"),
        ("safety_factor: 1.5", 1, "safety_factor must be above 0 and at most 1, not 1.5"),
        ("safety_factor: '0.7'", 1, "safety_factor must be a number"),
        ("retry_budget: true", 1, "retry_budget must be a whole number, not true or false"),
        ("exclude: ['[z-a]']", 1, "is no glob"),
        ("exclude: [a, '[']", 1, "exclude[1]: '[' is no glob: [ without ]; the character itself is written [[]"),
        ("services: {a: {paths: ['a[']}}", 1, "services.a.paths[0]: 'a[' is no glob"),
        ("per_path: {'x[': {ignore: [RS1]}}", 1, "per_path: 'x[' is no glob"),
        ("profile: 2020-01-01x\nselect: [\n", 3, "not valid YAML"),
        ("select: [a]\nselect: [b]", 2, "key 'select' is written twice"),
        ("a: 1\n---\nb: 1", 2, "not valid YAML: expected a single document in the stream but found another document"),
        ("- a", 1, "the file must be a mapping, not a list"),
        ("knowledge: &a [*a]", 1, "an alias inside what it stands for"),
        ("? [a]\n: b", 1, "a key must be text"),
        ("knowledge: [1]", 1, "knowledge[0] must be a path or an entry"),
        ("profile: !!python/object:os.system x", 1, "not valid YAML"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(tmp_path, text)
    assert str(caught.value).startswith(f"resilint.yaml:{line}:")
    assert message in str(caught.value)


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(tmp_path, "confidence: x\nretry_budget: y\nz: 1\n")
    assert [span.line for span, _ in caught.value.problems] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[tool.resilint]\nsafty_factor = 0.7\n", 2, "did you mean 'safety_factor'?"),
        ("[tool.resilint.services.a]\npaths = []\nqueues.q.linger = 3\n", 3, "needs a unit"),
        ('[tool.resilint]\nfix = {client_timeout = "x"}\n', 2, "must be a duration"),
        ("[tool.resilint]\nprofile = 2020-01-01\n", 2, "profile must be text, not a date or time"),
        ("[tool.resilint]\nselect = [\n", 2, "not valid TOML"),
    ],
)
def test_mistakes_in_toml_too(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(tmp_path, text, "pyproject.toml")
    assert str(caught.value).startswith(f"pyproject.toml:{line}:") or "not valid TOML" in message
    assert message in str(caught.value)


@hypothesis_settings(deadline=None)
@given(text=st.text(alphabet=st.sampled_from("abfixservices: -[]{},&*!'\"#\n\t0123.|>%@=?<<~é\0"), max_size=60), toml=st.booleans())
def test_any_text_is_settings_or_a_settings_error(tmp_path_factory: pytest.TempPathFactory, text: str, toml: bool) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    try:
        settings(folder, f"[tool.resilint]\n{text}" if toml else text, "pyproject.toml" if toml else "resilint.yaml")
    except SettingsError as problem:
        assert all(span.line >= 1 and message for span, message in problem.problems)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "services:\n", "select:\nper_path:\n"])
def test_empty_sections_are_defaults(tmp_path: Path, text: str) -> None:
    read = settings(tmp_path, text)
    assert read.select == () and read.services == {} and read.confidence is Confidence.MEDIUM


def test_search_goes_up_to_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "services" / "account"
    inner.mkdir(parents=True)
    (tmp_path / "resilint.yaml").write_text("retry_budget: 9\n")
    (tmp_path / "repository" / ".git").mkdir()
    assert find(inner) is None
    (tmp_path / "repository" / "resilint.yaml").write_text("exclude: ['services/account/gen/**']\n")
    read = load(inner)
    assert read.path == "../../resilint.yaml" and read.prefix == "services/account/"
    assert read.is_excluded("gen/x.py") and not read.is_excluded("x.py")


def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "resilint.yaml").write_text("retry_budget: 9\n")
    inner = tmp_path / "a"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    assert load(inner).retry_budget == 9


def test_both_files_in_one_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.resilint]\nretry_budget = 1\n")
    with pytest.raises(SettingsError, match="keep one of them"):
        settings(tmp_path, "retry_budget: 2\n")


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/test_a.py", True),
        ("pkg/a_test.go", True),
        ("service/src/test/java/A.java", True),
        ("service/src/testFixtures/java/A.java", True),
        ("service/src/integration-test/java/A.java", True),
        ("service/src/integrationTest/java/A.java", True),
        ("service/src/it/java/A.java", True),
        ("service/src/latest/java/A.java", False),
        ("buildSrc/src/main/java/A.java", True),
        ("scripts/once.py", True),
        ("examples/a.py", True),
        ("docs/source/conf.py", True),
        ("docs/make.py", True),
        ("packages/shop/docs/source/conf.py", True),
        ("services/docs/app.py", False),
        (".ci/helpers/clean.py", True),
        ("shop/tests.py", True),
        ("tools/server-tests.py", True),
        ("shop/contests.py", False),
        (".github/clean.py", True),
        ("service/ci/clean.py", False),
        ("service/src/it/orders-end/src/main/java/A.java", True),
        ("src/it/acme/orders/Client.java", False),
        ("features/environment.py", True),
        ("service/features/steps/orders.py", True),
        ("service/features/orders.py", False),
        ("service/main.go", False),
        ("service/src/main/testFixtures.py", False),
        ("contest/a.py", False),
        ("latest.py", False),
    ],
)
def test_default_test_paths(path: str, test: bool) -> None:
    assert Settings().is_test(path) is test


def test_test_code_is_what_runs_as_a_test_or_all_that_the_settings_name() -> None:
    default, own = Settings(), Settings(test_paths=("scripts/**",))
    assert [default.is_test_code(path) for path in ("tests/a.py", "a_test.go", "scripts/once.py", "examples/a.py")] == [
        True,
        True,
        False,
        False,
    ]
    assert [own.is_test_code(path) for path in ("tests/a.py", "scripts/once.py")] == [False, True]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("16ms", 0.016),
        ("27ms", 0.027),
        ("1.5s", 1.5),
        ("2m", 120),
        ("1m30s", 90),
        ("1h", 3600),
        ("5us", 5e-6),
        ("1 s", 1),
        ("3", None),
        ("s", None),
        ("9" * 400 + "s", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert duration(text) == seconds


def test_rates() -> None:
    assert (
        rate("50/s") == 50
        and rate("3000/m") == 50
        and rate("50") is None
        and rate("5/parsec") is None
        and rate("9" * 400 + "/s") is None
    )


def problems(folder: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        load(folder)
    return str(caught.value)


def test_multiplied_aliases_are_refused(tmp_path: Path) -> None:
    lists = ["exclude: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lists += [f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 31)]
    (tmp_path / "resilint.yaml").write_text("\n".join(lists))
    assert problems(tmp_path) == "resilint.yaml:1:1: more than 100000 values, those behind an alias counted each time"
    (tmp_path / "resilint.yaml").write_text("exclude: &a [b, *a]\n")
    assert problems(tmp_path) == "resilint.yaml:1:1: an alias inside what it stands for"
    (tmp_path / "resilint.yaml").write_text("exclude: &a [b, c]\ntest_paths: *a\n")
    assert load(tmp_path).test_paths == ("b", "c")


def test_what_has_the_name_and_is_no_readable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "resilint.yaml"
    file.mkdir()
    assert problems(tmp_path) == "resilint.yaml:1:1: is a directory, not a file"
    file.rmdir()
    os.mkfifo(file)
    assert problems(tmp_path) == "resilint.yaml:1:1: is no regular file"
    file.unlink()
    file.symlink_to("nowhere.yaml")
    assert problems(tmp_path) == "resilint.yaml:1:1: is a link to nothing"
    file.unlink()
    file.write_bytes(b"a: 1\nb: \xe9\n")
    assert problems(tmp_path) == "resilint.yaml:1:1: not UTF-8 text: byte 0xe9 in line 2"
    file.write_bytes("a: 1\n".encode("utf-16"))
    assert problems(tmp_path) == "resilint.yaml:1:1: not UTF-8 text but UTF-16"
    file.write_bytes(b"# " + b"x" * 5_000_000)
    assert problems(tmp_path) == "resilint.yaml:1:1: is larger than 5 MB"
    file.write_bytes(b"")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert problems(tmp_path) == "resilint.yaml:1:1: cannot be read: permission denied"
    file.rename(tmp_path / "pyproject.toml")
    assert problems(tmp_path) == "pyproject.toml:1:1: cannot be read: permission denied"


@pytest.mark.parametrize("name", ["resilint.yml", ".resilint.yaml", ".resilint.yml"])
def test_a_file_of_nearly_the_name_is_not_passed_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("ignore: [RS101]\n")
    assert problems(tmp_path) == f"{name}:1:1: settings are read from resilint.yaml only: rename it"
    (tmp_path / "resilint.yaml").write_text("")
    assert load(tmp_path).ignore == ()


def test_missing_knowledge_is_named_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "rpc.yaml").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "resilint.yaml").write_text("ignore: [RS1]\nknowledge:\n  - rpc.yaml\n  - rcp.yaml\n  - folder\n  - none/x.yaml\n")
    assert problems(tmp_path).splitlines() == [
        "resilint.yaml:4:5: knowledge file rcp.yaml: cannot be read: no such file: did you mean 'rpc.yaml'?",
        "resilint.yaml:5:5: knowledge file folder: is a directory, not a file",
        "resilint.yaml:6:5: knowledge file none/x.yaml: cannot be read: no such file",
    ]
    inner = tmp_path / "inner"
    inner.mkdir()
    assert problems(inner).startswith("../resilint.yaml:4:5: knowledge file rcp.yaml: ")
    with pytest.raises(SettingsError) as caught:
        load(inner)
    assert caught.value.seen_from(tmp_path)[0].startswith("resilint.yaml:4:5: ")


def test_numbers_too_long_to_convert(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.resilint]\nretry_budget = " + "9" * 5000 + "\n")
    assert problems(tmp_path).startswith("pyproject.toml:1:1: not valid TOML: ")
    (tmp_path / "pyproject.toml").unlink()
    (tmp_path / "resilint.yaml").write_text("retry_budget: " + "9" * 5000 + "\n")
    assert problems(tmp_path).startswith("resilint.yaml:1:1: not valid YAML: ")


@pytest.mark.parametrize(
    "text",
    [
        "[tool]\nresilint = {retry_budget = 2}\n",
        "tool.resilint.retry_budget = 2\n",
        '["tool".resilint]\nretry_budget = 2\n',
        "tool = {resilint = {retry_budget = 2}}\n",
        "[ tool . 'resilint' ]\nretry_budget = 2\n",
    ],
)
def test_every_spelling_of_the_table_counts(tmp_path: Path, text: str) -> None:
    assert settings(tmp_path, text, "pyproject.toml").retry_budget == 2


@pytest.mark.parametrize(
    "text", ["# resilint\n", "[project]\nname = 'resilint'\n", "[tool]\nx = 1 # resilint\n", "tool = 'resilint'\n", "resilint ["]
)
def test_a_mention_is_no_table(tmp_path: Path, text: str) -> None:
    assert settings(tmp_path, text, "pyproject.toml") == Settings()
