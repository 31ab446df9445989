"""The benchmarks, as far as they need no corpus: what is read of peers' reports, how memory is looked at, and the tables."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from benchmarks import corpora, gauge, rivals, speed, table
from benchmarks.corpora import Corpus, Unavailable
from benchmarks.gauge import Command, Failed
from benchmarks.speed import Found
from benchmarks.table import Row, Step, Target, Tree

SMAPS = Path("/proc/self/smaps_rollup")


# ---------------------------------------------------------------- what peers say


def test_files_that_semgrep_scanned_are_counted_by_suffix() -> None:
    paths = {"scanned": ["a/b.py", "a/c.py", ".semgrepignore", "x.go"]}
    output = json.dumps(
        {"version": "1.185.0", "results": [{"check_id": "call-with-nothing", "path": "a/b.py"}], "errors": [], "paths": paths}
    )
    assert rivals.semgrep_read(output, Path("."), ".py") == 2
    assert rivals.semgrep_findings(output) == 1


def test_the_rule_for_semgrep_names_no_text_that_could_stand_in_a_file() -> None:
    (rule,) = json.loads(rivals.semgrep_rule("go", "nil"))["rules"]
    assert rule["languages"] == ["go"] and rule["pattern"] == "$F(..., nil, ...)"
    (rule,) = json.loads(rivals.semgrep_rule("python", "None"))["rules"]
    assert rule["pattern"] == "$F(..., timeout=None, ...)"


def test_what_bandit_prints_before_its_json_is_passed_over() -> None:
    report = {
        "errors": [],
        "metrics": {"_totals": {"loc": 3}, "./a.py": {"loc": 1}, "./b.py": {"loc": 2}},
        "results": [{"test_id": "B113"}],
    }
    output = "Working... 100%\n" + json.dumps(report, indent=2)
    assert rivals.bandit_read(output, Path("."), ".py") == 2
    assert rivals.bandit_findings(output) == 1


def test_broken_syntax_is_no_finding_of_ruffs_rule() -> None:
    output = json.dumps([{"code": "S113", "filename": "a.py"}, {"code": "invalid-syntax", "filename": "b.py"}, {"code": None}])
    assert rivals.ruff_findings(output) == 1


def test_files_that_ruff_lists_are_counted_by_suffix() -> None:
    assert rivals.shown_files("/x/a.py\n/x/b.pyi\n/x/c.ipynb\n/x/d.py\n", ".py") == 2


def test_the_empty_ignore_file_is_gone_afterwards_and_one_that_was_there_is_kept(tmp_path: Path) -> None:
    with rivals.everything(tmp_path):
        assert (tmp_path / ".semgrepignore").read_bytes() == b""
    assert not (tmp_path / ".semgrepignore").exists()
    (tmp_path / ".semgrepignore").write_text("tests/\n", "utf-8")
    with rivals.everything(tmp_path):
        assert (tmp_path / ".semgrepignore").read_text("utf-8") == "tests/\n"
    assert (tmp_path / ".semgrepignore").exists()


def test_a_report_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError):
        rivals.bandit_read("Traceback", Path("."), ".py")


# ---------------------------------------------------------------- trees


def test_the_digest_of_a_tree_changes_with_paths_and_bytes_of_code_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", "utf-8")
    first = corpora.digest_of(tmp_path, ".py")
    (tmp_path / "README").write_text("no code\n", "utf-8")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    assert corpora.digest_of(tmp_path, ".py") == first
    (tmp_path / "a.py").write_text("x = 2\n", "utf-8")
    second = corpora.digest_of(tmp_path, ".py")
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({first, second, corpora.digest_of(tmp_path, ".py")}) == 3


def test_code_that_is_not_what_was_pinned_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", "utf-8")
    digest = corpora.digest_of(tmp_path, ".py")
    corpora.verify(Corpus("one", ".py", ("one==1",), digest), tmp_path)
    with pytest.raises(Unavailable, match=f"one: the code has the digest {digest}, not 00"):
        corpora.verify(Corpus("one", ".py", ("one==1",), "00"), tmp_path)


def test_every_pinned_tree_names_the_version_of_each_package() -> None:
    for corpus in corpora.CORPORA:
        for package in corpus.packages:
            assert any(mark in package for mark in ("==", "@v")) or package.count(":") == 2, package
        assert len(corpus.digest) == 64


def test_no_two_files_of_copies_have_the_same_bytes(tmp_path: Path) -> None:
    tree, target = tmp_path / "tree", tmp_path / "grown"
    (tree / "pkg").mkdir(parents=True)
    (tree / "pkg" / "a.go").write_text("package pkg\n", "utf-8")
    (tree / "go.mod").write_text("module example.com/pkg\n", "utf-8")
    corpora.grown(tree, 2, target, ".go")
    corpora.grown(tree, 3, target, ".go")
    files = sorted(target.rglob("*.go"))
    assert [path.parts[-3] for path in files] == ["copy1", "copy2", "copy3"]
    assert len({path.read_bytes() for path in files}) == 3
    assert files[0].read_text("utf-8") == "package pkg\n\n// copy 1\n"
    assert corpora.size_of(target, ".go").lines == 9


def test_a_changed_file_has_its_bytes_again_also_after_a_failure(tmp_path: Path) -> None:
    for name, text in (("small.py", ""), ("middle.py", "x = 1\n"), ("large.py", "x = 1\n" * 9)):
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(RuntimeError), speed.one_changed(tmp_path, ".py", b"y = 2\n"):
        assert (tmp_path / "middle.py").read_text("utf-8").startswith("x = 1\n\ny = 2\n# ")
        raise RuntimeError
    assert (tmp_path / "middle.py").read_text("utf-8") == "x = 1\n"


# ---------------------------------------------------------------- time and memory


def test_a_command_is_timed_and_its_output_kept() -> None:
    run = gauge.timed(Command((sys.executable, "-c", "import time; time.sleep(0.2); print('done')")))
    assert run.output == "done\n"
    assert run.seconds >= 0.2 and run.cpu < run.seconds


def test_a_command_that_fails_says_its_last_words() -> None:
    with pytest.raises(Failed, match=r"ended with 3: the end$"):
        gauge.timed(Command((sys.executable, "-c", "import sys; print('the end', file=sys.stderr); sys.exit(3)")))
    assert gauge.timed(Command((sys.executable, "-c", "import sys; sys.exit(3)"), good=(0, 3))).output == ""


@pytest.mark.skipif(not SMAPS.exists(), reason="this system tells no process's share of memory")
def test_memory_of_processes_below_a_command_is_added_up() -> None:
    child = "x = bytearray(60_000_000); import time; time.sleep(0.8)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); x = bytearray(30_000_000)"
    both = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {0!r}]); x = bytearray(60_000_000); p.wait()"
    one, two = (
        gauge.peak_of(Command((sys.executable, "-c", code))),
        gauge.peak_of(Command((sys.executable, "-c", both.format(child)))),
    )
    assert 60e6 < one.largest < 110e6
    assert 120e6 < two.together < 200e6 and two.largest < 110e6


def test_descendants_are_found_whatever_processes_are_called(tmp_path: Path) -> None:
    for number, parent, name in ((10, 1, "main"), (11, 10, "a) S 1 (b"), (12, 11, "deep"), (13, 1, "other")):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "stat").write_text(f"{number} ({name}) S {parent} 0 0\n", "utf-8")
    (tmp_path / "14").mkdir()  # ended while one looked
    (tmp_path / "self").mkdir()
    assert gauge.family(10, tmp_path) == [10, 11, 12]


def test_sizes_are_read_where_a_line_states_one() -> None:
    assert gauge.fields_of("Name:\tpython\nVmHWM:\t   12 kB\nThreads:\t3\nPss: 1 kB\n") == {"VmHWM": 12288, "Pss": 1024}
    assert gauge.memory_of(os.getpid(), Path("/nowhere")) is None


# ---------------------------------------------------------------- tables


def test_ratios_are_those_to_the_parse_of_the_same_tree() -> None:
    rows = [
        Row("salt", "tree-sitter", "parse, one core", 3002, cold=[2.0, 2.2, 9.0]),
        Row("salt", "resilint", "all stable", 3002, 57, [6.6, 4.4, 5.0], [9.0], [0.21], [0.5], [5.1], 250_000_000, 330_000_000),
        Row("salt", "bandit", "B113", 3002, 8, [61.0]),
    ]
    lines = table.programs(rows, {"salt": 2.2}).splitlines()
    assert lines[2] == "| salt | tree-sitter | parse, one core | 3,002 | – | 2.20 s | 1.00 | – | – | – | – | – | – |"
    assert (
        lines[3]
        == "| salt | resilint | all stable | 3,002 | 57 | 5.00 s | 2.27 | 9.00 s | 0.21 s | 0.50 s | 5.10 s | 250 MB | 330 MB |"
    )
    assert lines[4] == "| salt | bandit | B113 | 3,002 | 8 | 61 s | 28 | – | – | – | – | – | – |"


def test_growth_is_told_against_one_copy() -> None:
    text = table.growth(
        [Step(1, 3000, 1_000_000, 4.0, 8.0, 0.2, 300_000_000), Step(8, 24000, 8_000_000, 36.0, 80.0, 0.9, 1_600_000_000)]
    )
    assert "| 8 | 24,000 | 8,000,000 | 36 s | 9.00 | 80 s | 10 | 0.90 s | 1600 MB | 200 MB |" in text


def test_a_target_is_met_at_its_figure_and_never_unmeasured() -> None:
    text = table.targets([Target("a", 9, 9.0, ""), Target("b", 9, 9.01, "s"), Target("c", 9, None, "MB")])
    assert "| a | ≤ 9 | 9 | met |" in text
    assert "| b | ≤ 9 s | 9.01 s | **missed** |" in text
    assert "| c | ≤ 9 MB | – | not measured |" in text


def test_targets_are_computed_from_what_was_measured() -> None:
    own = Row("salt", "resilint", cold=[3.0], unchanged=[0.1], commented=[0.5], changed=[0.7], largest=400_000_000)
    found = Found(
        trees=[Tree("salt", 3002, 2_000_000, 1)],
        parses={"salt": 2.0},
        rows=[own, Row("salt", "semgrep", cold=[7.0])],
        steps=[Step(1, 3000, 1, 2.0, 2.0, 0.1, 1), Step(4, 12000, 4, 9.0, 9.0, 0.29, 1), Step(8, 24000, 8, 19.0, 19.0, 0.6, 1)],
        start={"bare Python": 0.02, "resilint --help": 0.12},
        editor={"change to diagnostics, p95": 0.2},
    )
    verdicts = {target.what: (target.measured, target.verdict) for target in speed.targets_of(found)}
    assert verdicts["salt: cold ÷ parse"] == (1.5, "met")
    assert verdicts["salt: cold ÷ semgrep"] == (3 / 7, "met")
    assert verdicts["salt: peak memory for a million lines"] == (200.0, "met")
    assert verdicts["salt: one file changed, a comment more"] == (0.5, "met")
    assert verdicts["salt: one file changed, a function more"] == (0.7, "**missed**")
    assert verdicts["nothing changed, 12,000 files"] == (0.29, "met")
    assert verdicts["cold of 8 copies ÷ one"] == (9.5, "**missed**")
    assert verdicts["editor, change to diagnostics, p95"] == (200.0, "**missed**")
    assert verdicts["`resilint --help` over bare Python"] == (0.12 - 0.02, "met")


def test_the_report_of_a_part_says_of_the_others_that_they_were_not_measured() -> None:
    found = Found(start={"bare Python": 0.02, "resilint --help": 0.12}, missing=["go: go is not installed"])
    text = speed.report(found, speed.options(["--only", "start", "--peers", "none"]))
    assert "peers: none" in text and "Not measured: go: go is not installed" in text
    assert "| cold of 8 copies ÷ one | ≤ 9 | – | not measured |" in text


def test_figures_of_the_editor_are_read_or_it_fails() -> None:
    output = (
        "first diagnostics after 12.34 s\n  0.10 s, hover  0.01 s  a.py\n"
        "change to diagnostics: median 0.10 s, p95 0.14 s of 40 changes\nchange to hover: median 0.01 s, p95 0.02 s\n"
    )
    assert speed.editor_figures(output) == {
        "first diagnostics": 12.34,
        "change to diagnostics, median": 0.1,
        "change to diagnostics, p95": 0.14,
        "change to hover, p95": 0.02,
    }
    with pytest.raises(Failed, match="change to diagnostics, median"):
        speed.editor_figures(output.partition("change")[0])


@pytest.mark.parametrize("words", [["--only", "salt,rust"], ["--peers", "eslint"], ["--runs", "0"], ["/nowhere"]])
def test_an_unknown_part_or_peer_is_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        speed.options(words)
    assert ended.value.code == 2 and capsys.readouterr().err


def test_a_small_tree_is_measured_from_end_to_end(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "app.py").write_text("import requests\n\nrequests.get('https://example.com/')\n", "utf-8")
    found = Found()
    given = speed.options([str(tree), "--peers", "none", "--runs", "1"])
    speed.measure_tree(found, "tree", tree, ".py", given)
    own = next(row for row in found.rows if row.program == "resilint")
    assert (own.read, own.findings) == (1, 1)
    assert own.largest is not None and own.together is not None and own.together >= own.largest > 10_000_000
    assert len(own.cold) == len(own.unchanged) == len(own.commented) == len(own.changed) == 1
    assert (tree / "app.py").read_text("utf-8").endswith("example.com/')\n")
