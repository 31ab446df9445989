"""`check --changed` and `--staged`: only what is new against an earlier state, in repositories made by real git."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from resilint import gate

Run = Callable[..., Any]
Git = Callable[..., str]
Names = Callable[..., list[str]]

CLIENT = """\
import requests


def {name}(url):
    return requests.get(url{rest})
"""
PLAIN = CLIENT.format(name="fetch", rest="")
BOUNDED = CLIENT.format(name="fetch", rest=", timeout=3")


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Runs git in a repository without commits, which becomes the current directory."""
    for name in list(os.environ):
        if name.startswith("GIT_") or name == "PRE_COMMIT_FROM_REF":
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    top = tmp_path / "shop"
    top.mkdir()
    monkeypatch.chdir(top)
    names = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "protocol.file.allow=always")

    def run(*arguments: str, at: Path = top, code: int = 0) -> str:
        done = subprocess.run(["git", *names, *arguments], cwd=at, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout

    run("init", "-q", "-b", "main")
    return run


@pytest.fixture
def repository(git: Git) -> Path:
    """A repository with one finding, and a timeout that is declared in another file than it is used in."""
    put("fetch.py", PLAIN)
    put("limits.py", "TIMEOUT = 3\n")
    put(
        "load.py",
        "import requests\nfrom limits import TIMEOUT\n\n\ndef load(url):\n    return requests.get(url, timeout=TIMEOUT)\n",
    )
    git("add", ".")
    git("commit", "-qm", "first")
    return Path.cwd()


@pytest.fixture
def names(report: Run) -> Names:
    """Runs `check` and gives path and code of each finding."""

    def run(*arguments: str, code: int | None = None) -> list[str]:
        found = report(*arguments, code=1 if code is None else code)["findings"]
        return [f"{one['path']} {one['code']}" for one in found]

    return run


def put(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def is_documented(error: str) -> bool:
    """Whether the page on CI has what is said, with what to do, in its table."""
    page = (Path(__file__).parents[2] / "docs" / "ci.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|", page.partition("### Shallow clones")[2].partition("###")[0], re.MULTILINE)
    said = [".*".join(re.escape(part) for part in row.split("…")) for row in rows]
    return any(re.search(row, error) for row in said)


def commit(git: Git, message: str = "more") -> None:
    git("add", "-A")
    git("commit", "-qm", message)


# ---------------------------------------------------------------- what is new


def test_what_was_there_is_not_reported(repository: Path, names: Names, resilint: Run) -> None:
    assert names() == ["fetch.py RS101"]
    assert names("--changed", code=0) == []
    assert ", 1 there before" in resilint("check", "--changed", code=0).stdout
    put("fetch.py", "# moved down\n\n" + PLAIN)
    put("other.py", CLIENT.format(name="other", rest=""))
    assert names("--changed") == ["other.py RS101"], "a new file that git does not track counts too"


def test_a_deleted_timeout_counts_where_nothing_was_touched(repository: Path, names: Names) -> None:
    put("limits.py", "TIMEOUT = None\n")
    assert names("--changed") == ["load.py RS104"]


def test_a_deleted_file_counts_where_nothing_was_touched(git: Git, repository: Path, names: Names) -> None:
    put("app/fetch.py", BOUNDED.replace("requests.get", "SESSION.get").replace("import requests", "from app.http import SESSION"))
    put("app/http.py", "import requests\n\nSESSION = requests.Session()\n")
    put("app/fetch.py", "from app.http import get\n\n\ndef fetch(url):\n    return get(url, 3)\n")
    put("app/http.py", "import requests\n\n\ndef get(url, seconds=None):\n    return requests.get(url, timeout=seconds)\n")
    commit(git)
    assert names("--changed", code=0) == []
    os.unlink("app/fetch.py")
    put("app/job.py", "from app.http import get\n\n\ndef job(url):\n    return get(url)\n")
    assert [name for name in names("--changed") if name.startswith("app/")] != []


def test_declared_figures_are_those_of_each_state_and_filters_those_of_now(git: Git, repository: Path, names: Names) -> None:
    put("resilint.yaml", "ignore: [RS101]\n")
    commit(git)
    os.unlink("resilint.yaml")
    assert names("--changed", code=0) == [], "a rule that is switched on makes nothing new"
    put("resilint.yaml", "no_such_key: 1\n")
    commit(git)
    put("resilint.yaml", "retry_budget: 4\n")
    assert names("--changed", code=0) == [], "settings that were broken then are no reason to stop"
    lines = "import queue\n\nhotkeys = queue.Queue(maxsize=500)\n\n\ndef put(x):\n    hotkeys.put(x, timeout=1)\n"
    queue = "services:\n  hot:\n    paths: [hot.py]\n    queues: {hotkeys: {service_time: 40ms, workers: 4}}\n"
    queue += "    callers: {gateway: {timeout: %s}}\n"
    put("hot.py", lines)
    put("resilint.yaml", queue % "60s")
    commit(git)
    assert names("--changed", code=0) == []
    put("resilint.yaml", queue % "2s")
    assert names("--changed") == ["hot.py RS402"]


def test_moved_renamed_and_edited_code_is_not_new(git: Git, repository: Path, names: Names) -> None:
    more = "\n\ndef size(answer):\n    return len(answer.content) + len(answer.headers)\n"
    more += "\n\ndef kind(answer):\n    return answer.headers['x']\n"
    put("fetch.py", PLAIN + more)
    commit(git)
    git("mv", "fetch.py", "client.py")
    assert names("--changed", code=0) == []
    git("reset", "-q")
    assert names("--changed", code=0) == [], "git was not told yet"
    put("client.py", PLAIN.replace("requests.get(url)", "requests.get(\n        url,\n        headers={},\n    )") + more)
    assert names("--changed", code=0) == [], "renamed, and the line broken up"
    put("client.py", "import os\n")
    put("load.py", Path("load.py").read_text() + "\n\ndef fetch(url):\n    return requests.get(url)\n")
    assert names("--changed", code=0) == [], "the function went into another file"
    put("client.py", PLAIN)
    assert names("--changed") == ["load.py RS101"], "copied: one of both is new"


def test_one_more_of_the_same_is_new_and_is_the_one_that_is_shown(repository: Path, report: Run) -> None:
    put("fetch.py", "import requests\n\n\ndef first(url):\n    return requests.get(url)\n\n\n" + PLAIN.partition("\n\n\n")[2])
    (found,) = report("--changed")["findings"]
    assert found["line"] == 5


def test_a_fault_that_was_mended_pays_for_no_other(git: Git, repository: Path, names: Names) -> None:
    put("twin.py", BOUNDED)
    commit(git)
    put("fetch.py", BOUNDED)
    put("twin.py", PLAIN)
    assert names("--changed") == ["twin.py RS101"]


def test_nor_does_it_for_the_same_line_in_another_function_of_its_file(repository: Path, names: Names, report: Run) -> None:
    put("fetch.py", BOUNDED + "\n\ndef other(url):\n    return requests.get(url)\n")
    (found,) = report("--changed")["findings"]
    assert (found["path"], found["line"]) == ("fetch.py", 9)
    put("fetch.py", PLAIN.replace("def fetch", "def other"))
    assert names("--changed", code=0) == [], "renamed where it stands"


def test_only_files_asked_for_are_reported(repository: Path, names: Names) -> None:
    put("limits.py", "TIMEOUT = None\n")
    assert names("--changed", "fetch.py", code=0) == []
    assert names("--changed", "load.py") == ["load.py RS104"], "a path behind --changed is a path"


# ---------------------------------------------------------------- against what


def test_against_where_a_branch_was_left(git: Git, repository: Path, names: Names) -> None:
    git("checkout", "-qb", "topic")
    put("mine.py", CLIENT.format(name="mine", rest=""))
    commit(git)
    git("checkout", "-q", "main")
    put("theirs.py", CLIENT.format(name="theirs", rest=""))
    put("limits.py", "TIMEOUT = None\n")
    commit(git)
    git("checkout", "-q", "topic")
    assert names("--changed", code=0) == []
    assert names("--changed=main") == ["mine.py RS101"], "what main has meanwhile is none of the branch's business"
    assert names("--changed", "main") == ["mine.py RS101"]
    git("checkout", "-q", "--detach")
    assert names("--changed=main") == ["mine.py RS101"], "HEAD may be detached"
    git("merge", "-q", "--no-edit", "main")
    assert names("--changed=main") == ["mine.py RS101"], "a merge brings nothing new"
    git("tag", "-a", "v1", "-m", "v1")
    assert names("--changed=v1", code=0) == []


def test_what_a_merge_under_way_brings_is_not_new(git: Git, repository: Path, names: Names) -> None:
    git("checkout", "-qb", "topic")
    put("mine.py", CLIENT.format(name="mine", rest=""))
    commit(git)
    git("checkout", "-q", "main")
    put("theirs.py", CLIENT.format(name="theirs", rest=""))
    commit(git)
    git("checkout", "-q", "topic")
    git("merge", "-q", "--no-commit", "main")
    assert names("--changed", code=0) == []
    assert names("--changed", "--staged", code=0) == []
    assert names("--changed=main") == ["mine.py RS101"]
    put("new.py", CLIENT.format(name="new", rest=""))
    assert names("--changed") == ["new.py RS101"]


def test_before_the_first_commit_everything_is_new(git: Git, names: Names, resilint: Run) -> None:
    put("fetch.py", PLAIN)
    assert names("--changed") == ["fetch.py RS101"]
    git("add", ".")
    assert names("--changed", "--staged") == ["fetch.py RS101"]
    error = resilint("check", "--changed=main", code=2).stderr
    assert error == "resilint: --changed: HEAD has no commit yet: there is nothing to compare with\n"


def test_a_branch_without_commits_beside_others_has_none(git: Git, repository: Path, names: Names) -> None:
    git("checkout", "-q", "--orphan", "empty")
    assert names("--changed") == ["fetch.py RS101"]


def test_an_unknown_revision_is_named_with_what_was_meant(repository: Path, git: Git, resilint: Run) -> None:
    git("update-ref", "refs/remotes/origin/topic", "HEAD")
    error = resilint("check", "--changed=mian", code=2).stderr
    assert error == "resilint: --changed: unknown revision 'mian': did you mean 'main'?\n"
    error = resilint("check", "--changed=topic", code=2).stderr
    assert error == "resilint: --changed: unknown revision 'topic': did you mean 'origin/topic'?\n"
    assert "unknown revision" in resilint("check", "--changed=--output=x", code=2).stderr
    assert "names no revision" in resilint("check", "--changed=", code=2).stderr
    assert not Path("x").exists()


def test_any_name_of_a_commit_is_a_revision(git: Git, repository: Path, names: Names, resilint: Run) -> None:
    put("other.py", CLIENT.format(name="other", rest=""))
    commit(git, "add another")
    for revision in (":/first", "HEAD~1", "main@{0}~1", git("rev-parse", "HEAD~1").strip()):
        assert names(f"--changed={revision}") == ["other.py RS101"], revision
    for revision in ("^main", "HEAD:fetch.py", "main^{tree}"):
        assert "unknown revision" in resilint("check", f"--changed={revision}", code=2).stderr
    for revision in ("HEAD~1..main", "HEAD~1...main"):
        assert "this is a range: give where it begins, 'HEAD~1'" in resilint("check", f"--changed={revision}", code=2).stderr


def test_a_sparse_checkout_is_compared_with_the_same_part(git: Git, repository: Path, names: Names) -> None:
    put("shop/fetch.py", PLAIN)
    put("far/fetch.py", PLAIN)
    commit(git)
    git("sparse-checkout", "set", "--no-cone", "/shop/")
    assert not Path("far").exists()
    assert names("--changed", code=0) == [] == names("--changed", "--staged", code=0)
    assert names("--staged") == ["shop/fetch.py RS101"]
    put("shop/fetch.py", PLAIN + "\n\ndef more(url):\n    return requests.get(url)\n")
    git("add", "shop")
    assert names("--changed", "--staged") == names("--changed") == ["shop/fetch.py RS101"]


def test_a_file_that_git_was_told_to_overlook_was_there_before(git: Git, repository: Path, names: Names) -> None:
    git("update-index", "--skip-worktree", "fetch.py")
    put("fetch.py", "# mine\n" + PLAIN)
    assert names("--changed", code=0) == [] == names("--changed", "--staged", code=0)


def test_histories_without_a_common_commit_are_told_apart(git: Git, repository: Path, resilint: Run) -> None:
    git("checkout", "-q", "--orphan", "other")
    git("commit", "-qm", "another first")
    assert "main and HEAD have no commit in common" in resilint("check", "--changed=main", code=2).stderr


def test_outside_of_a_repository_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resilint: Run, git: Git) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert resilint("check", "--changed", code=2).stderr == "resilint: --changed: not in a git repository\n"
    assert resilint("check", "--staged", code=2).stderr == "resilint: --staged: not in a git repository\n"
    monkeypatch.setenv("PATH", "")
    assert resilint("check", "--changed", code=2).stderr == "resilint: --changed: git is not installed\n"


def test_a_shallow_clone_says_what_to_do(
    git: Git, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resilint: Run, names: Names
) -> None:
    git("checkout", "-qb", "topic")
    put("mine.py", CLIENT.format(name="mine", rest=""))
    commit(git)
    git("checkout", "-q", "main")
    put("more.py", "")
    commit(git)
    git("clone", "-q", "--depth=1", "--no-single-branch", "-b", "topic", repository.as_uri(), str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    error = resilint("check", "--changed=origin/main", code=2).stderr
    assert error.startswith("resilint: --changed: shallow clone: ") and "git fetch --unshallow" in error and error.count("\n") == 1
    assert is_documented(error)
    assert names("--changed", code=0) == [], "HEAD itself is there"
    git("fetch", "-q", "--unshallow", at=tmp_path / "clone")
    assert names("--changed=origin/main") == ["mine.py RS101"]
    git("clone", "-q", "--depth=1", "-b", "topic", repository.as_uri(), str(tmp_path / "single"))
    monkeypatch.chdir(tmp_path / "single")
    error = resilint("check", "--changed=origin/main", code=2).stderr
    assert "this is a shallow clone" in error and is_documented(error)


def test_a_partial_clone_is_not_filled_up_over_the_network(
    git: Git, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resilint: Run
) -> None:
    git("config", "uploadpack.allowFilter", "true")
    put("fetch.py", BOUNDED)
    commit(git)
    put("fetch.py", PLAIN)
    commit(git)
    git("clone", "-q", "--filter=blob:none", repository.as_uri(), str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    error = resilint("check", "--changed=HEAD~1", code=2).stderr
    assert error.startswith("resilint: --changed: not all of the history is in this clone: run ") and error.count("\n") == 1
    assert is_documented(error)


# ---------------------------------------------------------------- where


def test_a_work_tree_of_its_own(git: Git, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: Names) -> None:
    git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "beside"))
    monkeypatch.chdir(tmp_path / "beside")
    put("limits.py", "TIMEOUT = None\n")
    assert names("--changed") == ["load.py RS104"]
    git("add", ".", at=tmp_path / "beside")
    assert names("--changed", "--staged") == ["load.py RS104"]


def test_a_program_below_the_top_of_the_repository(
    git: Git, repository: Path, monkeypatch: pytest.MonkeyPatch, names: Names
) -> None:
    put("services/a/fetch.py", PLAIN)
    put("services/a/old.py", CLIENT.format(name="old", rest=""))
    put("resilint.yaml", "per_path: {'services/a/old.py': {ignore: [RS101]}}\n")
    commit(git)
    git("mv", "services/a/fetch.py", "services/a/client.py")
    put("services/a/new.py", CLIENT.format(name="new", rest=""))
    put("services/b/new.py", CLIENT.format(name="new", rest=""))
    assert names("--changed", "services/a") == ["new.py RS101"]
    monkeypatch.chdir("services/a")
    assert names("--changed") == ["new.py RS101"]
    git("add", ".")
    assert names("--changed", "--staged") == ["new.py RS101"]


def test_submodules_are_compared_with_the_commit_that_was_recorded(
    git: Git, repository: Path, tmp_path: Path, names: Names, resilint: Run
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git("init", "-q", "-b", "main", at=library)
    (library / "client.py").write_text(CLIENT.format(name="call", rest=""))
    git("add", ".", at=library)
    git("commit", "-qm", "one", at=library)
    git("submodule", "add", "-q", library.as_uri(), "lib")
    commit(git)
    assert names() == ["fetch.py RS101", "lib/client.py RS101"]
    assert names("--changed", code=0) == []
    (repository / "lib" / "more.py").write_text(CLIENT.format(name="more", rest=""))
    assert names("--changed") == ["lib/more.py RS101"]
    git("add", ".", at=repository / "lib")
    git("commit", "-qm", "two", at=repository / "lib")
    git("add", "lib")
    assert names("--changed", "--staged") == ["lib/more.py RS101"]
    git("commit", "-qm", "lib")
    assert names("--changed", code=0) == []
    assert names("--changed=HEAD~1") == ["lib/more.py RS101"]
    git("update-index", "--cacheinfo", f"160000,{'1' * 40},lib")
    git("commit", "-qm", "not there")
    error = resilint("check", "--changed", code=2).stderr
    assert error == "resilint: --changed: submodule lib: commit 111111111111 is not here: run `git -C lib fetch`\n"
    assert is_documented(error)


# ---------------------------------------------------------------- staged


def test_staged_judges_what_would_be_committed(git: Git, repository: Path, names: Names, resilint: Run) -> None:
    put("limits.py", "TIMEOUT = None\n")
    put("untracked.py", CLIENT.format(name="untracked", rest=""))
    assert names("--changed", "--staged", code=0) == []
    git("add", "limits.py")
    put("limits.py", "TIMEOUT = 3\n")
    assert names("--changed", "--staged") == ["load.py RS104"]
    assert names("--staged") == ["fetch.py RS101", "load.py RS104"]
    out = resilint("check", "--changed", "--staged", code=1).stdout
    assert out.startswith("load.py:6:38: error RS104") and "timeout=TIMEOUT" in out
    put("resilint.yaml", "ignore: [RS104]\n")
    git("add", "resilint.yaml")
    assert names("--changed", "--staged", code=0) == [], "staged settings hold"
    put("resilint.yaml", "ignore: [RS104\n")
    git("add", "resilint.yaml")
    put("resilint.yaml", "ignore: [RS104]\n")
    assert resilint("check", "--staged", code=2).stderr.startswith("resilint: resilint.yaml:2:1: not valid YAML")


def test_the_baseline_and_its_name_are_those_that_are_staged(git: Git, repository: Path, names: Names, resilint: Run) -> None:
    resilint("baseline", code=0)
    assert names("--staged") == ["fetch.py RS101"], "git does not know the file"
    told = ".resilint-baseline.json: not staged, so it does not count: `git add` it\n"
    assert told in resilint("check", "--staged", code=1).stderr
    git("add", "-A")
    assert names("--staged", code=0) == []
    Path(".resilint-baseline.json").write_text("broken")
    assert names("--staged", code=0) == []
    resilint("check", code=2)
    git("add", "-A")
    assert resilint("check", "--staged", code=2).stderr.startswith("resilint: .resilint-baseline.json:1:1: not valid JSON")
    git("rm", "-qf", ".resilint-baseline.json")
    put("resilint.yaml", "baseline: known.json\n")
    git("add", "-A")
    assert "no such baseline: write it with `resilint baseline` and `git add`" in resilint("check", "--staged", code=2).stderr
    resilint("baseline", code=0)
    assert "known.json: no such baseline" in resilint("check", "--staged", code=2).stderr
    assert names("--staged", "--baseline", "known.json", code=0) == [], "named on the command line, it is the file as it lies there"
    git("add", "-A")
    put("resilint.yaml", "baseline: other.json\n")
    assert names("--staged", code=0) == []


def test_conflicts_have_to_be_resolved_before_they_are_judged(git: Git, repository: Path, resilint: Run) -> None:
    git("checkout", "-qb", "topic")
    put("limits.py", "TIMEOUT = 4\n")
    commit(git)
    git("checkout", "-q", "main")
    put("limits.py", "TIMEOUT = 5\n")
    commit(git)
    git("merge", "topic", code=1)
    assert "limits.py: not merged yet" in resilint("check", "--staged", code=2).stderr


def test_a_hook_of_git_judges_the_index_of_the_commit(git: Git, repository: Path) -> None:
    """`git commit FILE` has an index of its own, which only its hook is told of."""
    import sys

    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m resilint.cli check --changed --staged --select RS101,RS104\n')
    hook.chmod(0o755)
    put("limits.py", "TIMEOUT = None\n")
    put("fetch.py", BOUNDED)
    git("add", "limits.py")
    git("commit", "-qm", "only the good part", "fetch.py")
    git("commit", "-qm", "the rest", code=1)
    git("commit", "-qam", "the rest", code=1)


# ---------------------------------------------------------------- what stays as it is


def state(top: Path) -> dict[str, str]:
    files = [file for file in sorted(top.rglob("*")) if file.is_file()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() + str(file.stat().st_mtime_ns) for file in files}


def test_nothing_of_the_repository_is_run_or_changed(git: Git, repository: Path, tmp_path: Path, names: Names) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\nexec cat\n")
    trap.chmod(0o755)
    put(".gitattributes", "*.py filter=trap diff=trap\n")
    put("renamed.py", CLIENT.format(name="renamed", rest=""))
    commit(git)
    os.rename("renamed.py", "moved.py")
    for key in ("filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "diff.trap.textconv", "diff.trap.command"):
        git("config", key, str(trap))
    for key in ("core.fsmonitor", "diff.external", "core.sshCommand", "core.pager"):
        git("config", key, str(trap))
    for hook in ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman"):
        (repository / ".git" / "hooks" / hook).write_text(trap.read_text())
        (repository / ".git" / "hooks" / hook).chmod(0o755)
    put("limits.py", "TIMEOUT = None\n")
    before = state(repository)
    assert names("--changed") == ["load.py RS104"]
    assert names("--changed", "--staged", code=0) == []
    assert not (tmp_path / "sprung").exists()
    assert state(repository) == before


def test_states_are_laid_out_in_memory_unless_told_otherwise(
    repository: Path, names: Names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = []

    class Watched(TemporaryDirectory[str]):
        def __init__(self, *, prefix: str, dir: str | None) -> None:
            super().__init__(prefix=prefix, dir=dir)
            used.append(Path(self.name).parent)

    monkeypatch.setattr(gate, "TemporaryDirectory", Watched)
    memory, disk = tmp_path / "memory", tmp_path / "disk"
    memory.mkdir()
    disk.mkdir()
    monkeypatch.setattr(gate, "_MEMORY", str(memory))
    monkeypatch.setattr(gate, "_ROOM", 1)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    put("fetch.py", "# moved down\n" + PLAIN)
    names("--changed", code=0)
    monkeypatch.setattr(gate, "_ROOM", 2**80)
    names("--changed", code=0)
    monkeypatch.setattr(gate, "_ROOM", 1)
    monkeypatch.setenv("TMPDIR", str(disk))
    monkeypatch.setattr("tempfile.tempdir", None)
    names("--changed", code=0)
    assert used[0] == memory and used[1] != memory and used[2] == disk
    assert list(memory.iterdir()) == [] == list(disk.iterdir()), "nothing stays behind"


def test_a_run_that_is_ended_leaves_no_copies_behind(repository: Path) -> None:
    waiting = (
        "import pathlib, time; from resilint import gate, scope, settings\n"
        "here = scope.scope_of((), None, pathlib.Path.cwd())\n"
        "with gate.opened(here, settings.load(here.root), 'HEAD', staged=True) as opened:\n"
        "    print(opened.scope.root, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", waiting], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        copy = Path(running.stdout.readline().strip())
        assert (copy / "fetch.py").read_text() == PLAIN
        running.terminate()
    assert running.returncode == 128 + 15 and not copy.parent.parent.exists()


def test_what_a_filter_stores_is_seen_as_in_the_work_tree(git: Git, repository: Path, names: Names) -> None:
    """Encrypted files are stored as something else; they are no news every day."""
    git("config", "filter.rot.clean", "printf '\\0'; tr a-z n-za-m")
    git("config", "filter.rot.smudge", "tail -c +2 | tr a-z n-za-m")
    put(".gitattributes", "secret.py filter=rot\nplain.py filter=unknown\n")
    put("secret.py", CLIENT.format(name="secret", rest=""))
    put("plain.py", BOUNDED)
    commit(git)
    assert "\0" in git("show", "HEAD:secret.py")
    put("new.py", CLIENT.format(name="new", rest=""))
    put("plain.py", PLAIN)
    assert names("--changed") == ["new.py RS101", "plain.py RS101"], "what is stored as text is compared"


def test_names_of_files_are_taken_as_they_are(git: Git, repository: Path, names: Names) -> None:
    strange = ["with space.py", "ünïcode.py", "-dash.py", '"quoted".py', "tab\there.py", "line\nbreak.py"]
    for name in strange:
        put(name, PLAIN)
    commit(git)
    assert names("--changed", code=0) == []
    for number, name in enumerate(strange):
        os.rename(name, f"plain{number}.py")
    assert names("--changed", code=0) == []


def test_links_in_a_state_lead_nowhere_outside(git: Git, repository: Path, tmp_path: Path, names: Names) -> None:
    (tmp_path / "outside.py").write_text(PLAIN)
    put("kept.text", CLIENT.format(name="kept", rest=""))
    os.symlink(tmp_path / "outside.py", "link.py")
    os.symlink("kept.text", "inner.py")
    commit(git)
    assert names() == ["fetch.py RS101", "inner.py RS101"]
    put("new.py", CLIENT.format(name="new", rest=""))
    assert names("--changed") == ["new.py RS101"]


def test_a_tree_with_paths_that_lead_out_is_written_nowhere(git: Git, repository: Path, tmp_path: Path, names: Names) -> None:
    blob = git("rev-parse", "HEAD:fetch.py").strip()
    made = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        input=b"100644 ..\0" + bytes.fromhex(blob) + b"100644 a.py\0" + bytes.fromhex(blob),
        capture_output=True,
        check=True,
    )
    tree = made.stdout.decode().strip()
    evil = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        input=b"40000 ..\0" + bytes.fromhex(tree) + b"120000 a.py\0" + bytes.fromhex(blob),
        capture_output=True,
        check=True,
    ).stdout.decode().strip()  # fmt: skip
    head = git("commit-tree", evil, "-m", "evil").strip()
    git("update-ref", "refs/heads/main", head)
    before = sorted(path.name for path in tmp_path.rglob("*.py"))
    assert names("--changed") == ["fetch.py RS101"]
    assert sorted(path.name for path in tmp_path.rglob("*.py")) == before
