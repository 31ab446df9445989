"""The command line. Everything but click is imported by the command that needs it, so that `--help` is quick."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from resilint import __version__
from resilint.own_files import reason
from resilint.spelling import get_close_matches
from resilint.terminal import is_terminal, knows_links, wants_color

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from resilint.baseline import Baseline
    from resilint.fix import Fixer
    from resilint.gate import Gate
    from resilint.intake import Readers
    from resilint.model import Finding, Rule
    from resilint.program import Program
    from resilint.progress import Bar
    from resilint.run import Result, Texts
    from resilint.scope import Scope
    from resilint.settings import Settings

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit")
BUDGET_FORMATS = ("text", "json", "html")


CLOSED_PIPE = 128 + 13
"""Exit status when nobody reads on, as a shell gives it to a program that SIGPIPE ended: `resilint check | head`."""


class Wrong(click.ClickException):
    """Wrong usage or settings: nothing was analysed."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        # Where standard error is full or gone too, the exit status is all that can be said.
        with suppress(OSError):
            click.echo(f"resilint: {self.message}", file=file or sys.stderr)


class Broken(Wrong):
    """A fault of resilint itself, or of the machine."""

    exit_code = 3


class _Commands(click.Group):
    """Commands whose unexpected ends have exit statuses of their own: 1 must mean that something was found."""

    def make_context(self, *arguments: Any, **named: Any) -> click.Context:
        with _unexpected_ends():
            return super().make_context(*arguments, **named)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            near = get_close_matches(name, self.list_commands(ctx), 1)
            meant = [f"resilint check {name}"] if os.path.exists(name) else [f"resilint {near[0]}"] if near else []
            raise Wrong(f"no such command {name!r}" + "".join(f": did you mean {text!r}?" for text in meant))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with _unexpected_ends():
            return super().invoke(ctx)


@contextmanager
def _unexpected_ends() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        with suppress(OSError):
            click.echo("resilint: interrupted", err=True)
        raise click.exceptions.Exit(130) from None
    except click.UsageError as problem:
        if isinstance(problem, click.exceptions.NoArgsIsHelpError):
            raise
        text = " ".join(problem.format_message().split()).removesuffix(".")
        raise Wrong(text[:1].lower() + text[1:]) from None
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except OSError as problem:
        if not _came_from_output(problem):
            raise _internal(problem) from None
        _drop_outputs()
        if isinstance(problem, BrokenPipeError):
            raise click.exceptions.Exit(CLOSED_PIPE) from None
        raise Broken(f"output cannot be written: {reason(problem)}") from None
    except Exception as problem:
        raise _internal(problem) from None


def _internal(problem: Exception) -> Broken:
    import traceback

    with suppress(OSError):
        traceback.print_exception(problem)
    return Broken(f"internal error: {type(problem).__name__}: {problem}")


def _came_from_output(problem: OSError) -> bool:
    """Whether writing to a standard stream failed: all of that is done by click, for its own texts too."""
    at = problem.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and at.tb_frame.f_code is click.echo.__code__


def _drop_outputs() -> None:
    """Sends what the standard streams still hold nowhere, or Python would complain at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            with suppress(OSError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="resilint")
def main() -> None:
    """Find, before production does, the ways a service dies of waiting."""
    for stream in (sys.stdout, sys.stderr):
        # What a file says can be printed on any terminal, in the worst case escaped.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _list(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not value.strip(", \t"):
            # An unset variable of a script: to run everything, or nothing, would be a guess.
            raise Wrong(f"--{parameter.name} {value!r} names no rule")
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def _files(context: click.Context, parameter: click.Parameter, written: str) -> list[CompletionItem]:
    """For a shell: files and folders, which it completes itself."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(written, type="file")]


def _rules_like(context: click.Context, parameter: click.Parameter, written: str) -> list[str]:
    """For a shell: the rules whose code or name begins with what is written, the last one of a list."""
    before, comma, last = written.rpartition(",")
    try:
        known = _known()
    except Wrong:
        return []
    return [f"{before}{comma}{word}" for rule in known for word in (rule.code, rule.name) if word.startswith(last)]


class _Check(click.Command):
    """`--changed` takes a revision behind `=`, or as a word that is no path; alone it means HEAD."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        for index in range(end):
            following = args[index + 1] if index + 1 < end else "-"
            if args[index] == "--changed" and (following.startswith("-") or os.path.lexists(following)):
                # pre-commit says what it was told to look at, else it is the commit that is being made.
                args[index] = f"--changed={os.environ.get('PRE_COMMIT_FROM_REF') or 'HEAD'}"
        return super().parse_args(ctx, args)


@main.command(cls=_Check)
@click.argument("paths", nargs=-1, shell_complete=_files)
@click.option("--format", "kind", type=click.Choice(FORMATS), default="text", show_default=True, help="Format of the report.")
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="[FORMAT:]FILE",
    help="Write a report to FILE. Without FORMAT it takes the place of the one printed. Repeatable.",
)
@click.option(
    "--select",
    multiple=True,
    callback=_list,
    shell_complete=_rules_like,
    metavar="RULES",
    help="Rules to run: codes, names or prefixes such as RS1. Previews run only when named here.",
)
@click.option("--ignore", multiple=True, callback=_list, shell_complete=_rules_like, metavar="RULES", help="Rules not to run.")
@click.option("--confidence", type=click.Choice(["low", "medium", "high"]), help="Report findings at least this sure.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info"]),
    default="warning",
    show_default=True,
    help="Least severity that makes the exit status 1.",
)
@click.option("--root", metavar="DIR", help="Root of the program that PATHS are part of.")
@click.option("--require-reason", is_flag=True, help="Report suppression comments that give no reason (RS001).")
@click.option(
    "--changed",
    metavar="[=REV]",
    help="Report only what is new against HEAD, or against where work on REV was left. Everything is analysed, then and now.",
)
@click.option("--staged", is_flag=True, help="Judge what git would commit now, not the work tree: for hooks.")
@click.option(
    "--baseline",
    metavar="FILE",
    shell_complete=_files,
    help="Leave out the findings that FILE lists. Default: .resilint-baseline.json, if there.",
)
@click.option("--no-baseline", is_flag=True, help="Report what the baseline lists too.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option("--fix", is_flag=True, help="Fix what can be fixed safely; report what remains.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff, also what may change behaviour; alone, show such fixes.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and change nothing; exit with 1 if there is anything.")
@click.option("--statistics", is_flag=True, help="Count findings by rule and by service, and the waits seen.")
@click.option("--no-cache", is_flag=True, help="Neither use nor write cached facts.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes that read files. Default: one for each processor.")
@click.option("--executor", type=click.Choice(["local", "dask"]), default="local", show_default=True, help="Where files are read.")
@click.option("--scheduler", metavar="ADDRESS", help="With --executor dask: the scheduler, as tcp://host:8786.")
@click.option("--show-trace", is_flag=True, help="Show where each value of a finding comes from.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
@click.option("-v", "--verbose", is_flag=True, help="Say which files are skipped and where an internal error happened.")
def check(paths: tuple[str, ...], **options: Any) -> None:
    """Lint PATHS (default: the current directory).

    A directory is a whole program. Files select what is reported of the project around them.

    Exit status: 0 nothing found at or above --fail-on, 1 something found, 2 wrong usage or settings, 3 internal error; with --diff,
    1 where there is something to change.
    """
    from resilint.model import Severity

    outputs = _outputs(options["outputs"])
    scope, settings = _program(paths, options["root"])
    fixer: Fixer | None = None
    if options["fix"] or options["diff"]:
        from resilint.fix import Fixer

        if options["staged"]:
            raise Wrong("--fix and --diff speak of the work tree, --staged of the index: leave one of them out")
        if options["diff"] and outputs:
            raise Wrong("--diff writes no report: leave --output out, or run without --diff")
        fixer = Fixer(scope.root, unsafe=options["unsafe_fixes"])
    with ExitStack() as stack:
        result = _only_new(scope, settings, options, stack, fixer)
        _tell(scope, result, options)
        failed = _mended(fixer, scope, result, options) if fixer is not None else False
        if fixer is not None and options["diff"]:
            sys.exit(3 if result.failures else 1 if fixer.changed else 0)
        _report(result, outputs, options)
    if failed or result.failures:
        sys.exit(3)
    least = Severity(options["fail_on"]).rank
    if not options["exit_zero"] and any(finding.severity.rank >= least for finding in result.findings):
        sys.exit(1)


def _only_new(scope: Scope, settings: Settings, options: dict[str, Any], stack: ExitStack, fixer: Fixer | None) -> Result:
    """What a run finds, without what the baseline lists or an earlier state had. `stack` keeps the files that are read.

    What is known is not fixed either.
    """
    if options["baseline"] is not None and options["no_baseline"]:
        raise Wrong("--baseline and --no-baseline exclude each other")
    from dataclasses import replace

    from resilint.marks import marks_of, scopes_in
    from resilint.settings import SettingsError

    gate = _gate(scope, settings, options, stack)
    judged, settings = (scope, settings) if gate is None else (gate.scope, gate.settings)
    listed = None if options["no_baseline"] else _listed(scope, settings, options, gate)
    if options["require_reason"]:
        settings = replace(settings, require_reason=True)
    rules, known = _rules(scope, settings, options["select"], options["ignore"])
    if options["ignore"]:
        settings = replace(settings, ignore=(*settings.ignore, *options["ignore"]))
    if gate is not None:
        gate.settings = settings
    with _one_run(scope, settings, quiet=options["quiet"]) as bar, _history_problems("--changed"):
        run = _runner(rules, known, options, bar)

        def mend(program: Program, texts: Texts, findings: list[Finding]) -> bool:
            marks, scopes = marks_of(findings, program.files, texts.lines), scopes_in(program.files)
            was_there = listed.known(marks, scopes) if listed is not None else [False] * len(marks)
            if gate is not None and gate.compares:
                was_there = [one or other for one, other in zip(was_there, gate.known(marks, scopes, run), strict=True)]
            new = [finding for finding, old in zip(findings, was_there, strict=True) if not old]
            return fixer is not None and fixer(program, texts, new)

        try:
            result: Result = run(judged, settings, mend=mend if fixer is not None else None)
        except SettingsError as problem:
            raise SettingsError(problem.problems, scope.root) from None
        if listed is not None and listed.exists:
            result = listed.without_known(result)
        if gate is not None and gate.compares:
            result = result.without(gate.known(result.marks, result.scopes, run), "before")
            result.failures += [one for one in gate.failures if one not in result.failures]
        return result


def _listed(scope: Scope, settings: Settings, options: dict[str, Any], gate: Gate | None) -> Baseline:
    """The baseline; with `--staged` the one that would be committed, unless the command line names another."""
    from resilint import baseline

    with _baseline_problems(scope), _history_problems("--staged"):
        listed = baseline.load(scope, settings, options["baseline"], gate.staged_file if gate is not None else None)
    if not listed.exists and os.path.lexists(listed.file) and not options["quiet"]:
        from resilint.report import one_line

        file = os.path.relpath(listed.file, scope.here)
        click.echo(one_line(f"{file}: not staged, so it does not count: `git add` it"), err=True)
    return listed


def _gate(scope: Scope, settings: Settings, options: dict[str, Any], stack: ExitStack) -> Gate | None:
    """What `--changed` and `--staged` ask for."""
    revision = options["changed"]
    if revision is None and not options["staged"]:
        return None
    from resilint.gate import opened
    from resilint.settings import SettingsError

    if revision is not None and not revision.strip():
        # An unset variable of a script.
        raise Wrong("--changed= names no revision")
    with _history_problems("--changed" if revision is not None else "--staged"):
        try:
            return stack.enter_context(opened(scope, settings, revision, staged=options["staged"]))
        except SettingsError as problem:
            raise _wrong(problem.seen_from(scope.here)) from None


@contextmanager
def _history_problems(option: str) -> Iterator[None]:
    try:
        yield
    except Exception as problem:
        # Loaded only now: what reads history is not needed where nobody asks for it.
        from resilint.history import HistoryError

        if not isinstance(problem, HistoryError):
            raise
        raise _wrong([f"{option}: {problem}"]) from None


@contextmanager
def _baseline_problems(scope: Scope) -> Iterator[None]:
    from resilint.baseline import BaselineError

    try:
        yield
    except BaselineError as problem:
        raise _wrong([f"{os.path.relpath(problem.file, scope.here)}{problem.place}: {problem}"]) from None


def _outputs(texts: Iterable[str], formats: Sequence[str] = FORMATS) -> list[tuple[str | None, str]]:
    """Format and file of each `--output`; two in one file would be one lost, or none that can be read."""
    outputs = [_output(text, formats) for text in texts]
    seen: set[str] = set()
    for _, file in outputs:
        real = file if file == "-" else os.path.realpath(file)
        if real in seen and (file == "-" or not os.path.exists(file) or os.path.isfile(file)):
            raise Wrong(f"--output: two reports cannot be written to {file}")
        seen.add(real)
    return outputs


def _output(text: str, formats: Sequence[str] = FORMATS) -> tuple[str | None, str]:
    """Format (`None` where none is written) and file of an `--output`."""
    head, colon, rest = text.partition(":")
    if colon and rest and head in formats:
        chosen, file = head, rest
    elif colon and head.isalpha() and len(head) > 1 and head not in formats:
        raise Wrong(f"--output {text}: unknown format {head!r}: known are {', '.join(formats)}")
    else:
        chosen, file = "", text
    folder = os.path.dirname(file) or "."
    if not file or (colon and not rest and head in formats):
        raise Wrong(f"--output {text!r} names no file")
    if text in formats and not os.path.lexists(text):
        raise Wrong(f"--output {text}: a format without a file: write {text}:FILE, or ./{text} for a file of that name")
    if not os.path.isdir(folder):
        raise Wrong(f"--output {text}: no such directory: {folder}")
    if os.path.isdir(file):
        raise Wrong(f"--output {text}: is a directory")
    return chosen or None, file


def _program(paths: tuple[str, ...], root: str | None) -> tuple[Scope, Settings]:
    from resilint.scope import ScopeError, scope_of
    from resilint.settings import SettingsError, load

    here = _here()
    try:
        scope = scope_of(paths, root, here)
        return scope, load(scope.root)
    except ScopeError as problem:
        raise _wrong([str(problem)]) from None
    except SettingsError as problem:
        raise _wrong(problem.seen_from(here)) from None


def _here() -> Path:
    try:
        return Path(os.getcwd())
    except OSError as problem:
        raise Wrong(f"the current directory cannot be read: {reason(problem)}") from None


def _wrong(problems: Iterable[str]) -> Wrong:
    """Each problem on a line of its own, whatever its file is called."""
    from resilint.report import one_line

    return Wrong("\n".join(map(one_line, problems)))


def _wrong_knowledge(problem: Exception, root: Path, settings: Settings) -> Wrong:
    """The problems of knowledge, whose paths are relative to the settings' folder, or to the program's root in the settings."""
    here = _here()
    lines = []
    for line in str(problem).splitlines():
        path, colon, rest = line.partition(":")
        place = next((folder / path for folder in (settings.folder, root) if folder and os.path.isfile(folder / path)), None)
        lines.append(f"{os.path.relpath(place, here)}{colon}{rest}" if place is not None else line)
    return _wrong(lines)


def _known() -> tuple[Rule, ...]:
    from resilint import registry

    try:
        return registry.rules()
    except registry.RegistryError as problem:
        raise Wrong(str(problem)) from None


def _rules(
    scope: Scope, settings: Settings, select: tuple[str, ...], ignore: tuple[str, ...]
) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules that run, and all there are. What is selected here takes the place of both lists of the settings."""
    from resilint import registry

    known = _known()
    for option, selectors in (("--select", select), ("--ignore", ignore)):
        for selector in selectors:
            if not registry.is_known(selector, known):
                raise Wrong(f"{option}: unknown rule {selector!r}{registry.suggestion(selector, known)}")
    if select:
        return registry.selected(known, select, ignore), known
    from resilint.run import chosen
    from resilint.settings import SettingsError

    try:
        rules = chosen(settings, known, scope.root)
    except SettingsError as problem:
        raise _wrong(problem.seen_from(scope.here)) from None
    return tuple(rule for rule in rules if not any(registry.matches(selector, rule) for selector in ignore)), known


def _runner(rules: tuple[Rule, ...], known: tuple[Rule, ...], options: dict[str, Any], bar: Bar | None) -> Callable[..., Result]:
    """What runs `rules` over a scope and its settings, as the options ask for it."""
    from functools import partial

    from resilint.cache import default_folder
    from resilint.model import Confidence
    from resilint.run import run

    return partial(
        run,
        rules=rules,
        known=known,
        cache_folder=None if options["no_cache"] else default_folder(),
        jobs=options["jobs"] or _processors(),
        confidence=Confidence[options["confidence"].upper()] if options["confidence"] else None,
        progress=bar,
        # Commands beside `check` have no such options.
        readers=_readers(options.get("executor", "local"), options.get("scheduler")),
    )


def _readers(executor: str, scheduler: str | None) -> Readers | None:
    """What reads files elsewhere than here."""
    if executor == "local":
        if scheduler is not None:
            raise Wrong("--scheduler is for --executor dask")
        return None
    if not scheduler:
        raise Wrong("--executor dask needs --scheduler ADDRESS")
    from resilint.cluster import Cluster

    return Cluster(scheduler)


def _mended(fixer: Fixer, scope: Scope, result: Result, options: dict[str, Any]) -> bool:
    """Writes what was fixed, or shows it with `--diff`, and says on stderr how much it was; whether something was not written."""
    from resilint.report import one_line

    def seen(path: str) -> str:
        return result.here(scope.shown(path))

    changed = fixer.changed
    failed: list[tuple[str, str]] = []
    if options["diff"]:
        text = fixer.diff((path, seen(path)) for path in changed)
        click.echo(text.encode("utf-8", "surrogateescape"), nl=False)
    else:
        failed = fixer.write()
    for path, why in (*fixer.problems, *failed):
        click.echo(one_line(f"{seen(path)}: not fixed: {why}"), err=True)
    counts = fixer.counts()
    if counts and not options["quiet"]:
        number = counts.total()
        done = "would fix" if options["diff"] else "fixed"
        files = len(changed) - len(failed)
        listed = ", ".join(f"{count} {code}" for code, count in sorted(counts.items()))
        what = f"{number} finding{'' if number == 1 else 's'} in {files} file{'' if files == 1 else 's'}"
        click.echo(f"{done} {what}: {listed}", err=True)
    return bool(failed)


@contextmanager
def _one_run(scope: Scope, settings: Settings, *, quiet: bool = False) -> Iterator[Bar | None]:
    """Around the one run of a command: its progress, and what is wrong with the user's settings as one message."""
    from resilint.intake import ReadersError
    from resilint.run import last_run
    from resilint.settings import SettingsError

    bar = _bar() if not quiet else None
    try:
        with last_run():
            yield bar
    except SettingsError as problem:
        raise _wrong(problem.seen_from(scope.here)) from None
    except ReadersError as problem:
        raise _wrong([str(problem)]) from None
    except Exception as problem:
        # Where all goes well nobody needs to load what knowledge is.
        from resilint.knowledge import KnowledgeError

        if not isinstance(problem, KnowledgeError):
            raise
        raise _wrong_knowledge(problem, scope.root, settings) from None
    finally:
        if bar is not None:
            bar.clear()


def _bar() -> Bar | None:
    """A progress bar, where somebody can see it and the terminal can take it away again."""
    from resilint.progress import Bar

    return Bar(sys.stderr) if is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb" else None


def _processors() -> int:
    """The processors this process may use: in a container often fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _tell(scope: Scope, result: Result, options: dict[str, Any]) -> None:
    """What is said beside the report, on stderr: why a file asked for was not checked, and with `-v` what else was left out."""
    from resilint.report import one_line

    lines = []
    if not options["quiet"]:
        lines += [f"{result.here(path)}: not checked: {why}" for path, why in result.not_checked.items()]
        lines += result.unused
        if result.gone:
            many = len(result.gone) > 1
            number = f"{len(result.gone)} finding{'s' if many else ''} of the baseline no longer occur{'' if many else 's'}"
            lines.append(f"{number}: run `resilint baseline` to drop {'them' if many else 'it'}")
    if options["verbose"]:
        lines += [f"skipped {result.here(path)}: {why}" for path, why in result.skipped.items()]
        lines += result.notes
        lines += [f"no longer there: {line}" for line in result.gone]
        if result.unsure:
            number = f"{result.unsure} finding{'' if result.unsure == 1 else 's'}"
            lines.append(f"{number} of lower confidence not shown: --confidence low shows all")
    for line in lines:
        click.echo(one_line(line), err=True)
    if options["verbose"]:
        for failure in result.failures:
            if failure.detail:
                click.echo(failure.detail, err=True, nl=False)


def _report(result: Result, outputs: Iterable[tuple[str | None, str]], options: dict[str, Any]) -> None:
    from resilint.model import Severity
    from resilint.report import Options, write

    watched = is_terminal(sys.stdout)

    def written(kind: str, printed: bool) -> str:
        chosen = Options(
            printed and wants_color(sys.stdout),
            options["show_trace"],
            options["statistics"],
            options["quiet"],
            links=printed and knows_links(sys.stdout),
            hints=tuple(islice(_next_steps(result, options), MOST_STEPS)) if printed and watched else (),
            unsafe_fixes=options["unsafe_fixes"],
            fail_on=Severity(options["fail_on"]),
        )
        return write(result, kind, chosen)

    _put_out(outputs, options["kind"], written)
    _add_job_summary(result, options)


def _add_job_summary(result: Result, options: dict[str, Any]) -> None:
    """With `--format github --statistics`, what was counted goes to the page of the job as well."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file or options["kind"] != "github" or not options["statistics"]:
        return
    from resilint.report.github import summary

    try:
        with open(file, "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(summary(result))
    except OSError as problem:
        raise Broken(f"{file}: cannot be written: {reason(problem)}") from None


MOST_STEPS = 3
"""Of what to do next: who is told everything reads nothing."""
MANY = 20
"""Findings from which on nobody reads all of them at once."""


def _next_steps(result: Result, options: dict[str, Any]) -> Iterator[str]:
    """For a person at a terminal: what to type next."""
    if not result.findings:
        return
    if len(result.findings) >= MANY:
        yield "resilint baseline: accept these for now, and report only new ones"
        if not options["statistics"]:
            yield "resilint check --statistics: how many of each rule, in each service"
    fixes = [finding.fix for finding in result.findings if finding.fix is not None]
    safe = sum(fix.safe for fix in fixes)
    if safe:
        yield f"resilint check --fix: fix {safe} of them"
    elif fixes:
        yield f"resilint check --diff --unsafe-fixes: how {len(fixes)} of them could be fixed"
    yield f"resilint explain {result.findings[0].code}: why this matters and what to write instead"
    if not options["show_trace"] and any(finding.trace for finding in result.findings):
        yield "resilint check --show-trace: where each figure comes from"


def _put_out(outputs: Iterable[tuple[str | None, str]], form: str, written: Callable[[str, bool], str]) -> None:
    """Writes what `written(format, for people)` gives into each output, and prints it unless one takes its place."""
    printed = True
    for kind, file in outputs:
        printed = printed and kind is not None and file != "-"
        text = written(kind or form, False)
        try:
            with click.open_file(file, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(text)
        except OSError as problem:
            raise Broken(f"{file}: cannot be written: {reason(problem)}") from None
    if printed:
        click.echo(written(form, True), nl=False, color=True)


# ---------------------------------------------------------------- what resilint knows


@main.command()
@click.argument("rule", shell_complete=_rules_like)
def explain(rule: str) -> None:
    """Show the page of RULE (a code or a name)."""
    from resilint import docs, registry

    known = _known()
    match = next((one for one in known if rule.upper() == one.code or rule.lower() == one.name), None)
    if match is None:
        raise Wrong(f"unknown rule {rule!r}{registry.suggestion(rule, known)}")
    text = docs.page(match)
    _echo(text if text is not None else f"# {match.code} {match.name}\n\n{match.summary}\n")


@main.command("baseline")
@click.argument("paths", nargs=-1, shell_complete=_files)
@click.option(
    "--baseline",
    metavar="FILE",
    shell_complete=_files,
    help="The file to write. Default: .resilint-baseline.json beside the settings.",
)
@click.option("--root", metavar="DIR", help="Root of the program that PATHS are part of.")
@click.option("--no-cache", is_flag=True, help="Neither use nor write cached facts.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes that read files. Default: one for each processor.")
@click.option("-q", "--quiet", is_flag=True, help="Do not say what was written.")
def write_baseline(paths: tuple[str, ...], **options: Any) -> None:
    """Write down today's findings: from then on `check` reports only others.

    Run it again to drop what no longer occurs. PATHS are those of `check`; what the file says of other paths stays.

    Exit status: 0 written, 2 wrong usage or settings, 3 internal error (what could not be checked stays as it was).
    """
    from resilint import baseline
    from resilint.report import one_line

    scope, settings = _program(paths, options["root"])
    rules, known = _rules(scope, settings, (), ())
    with _baseline_problems(scope):
        old = baseline.to_renew(scope, settings, options["baseline"])
    with _one_run(scope, settings, quiet=options["quiet"]) as bar:
        result = _runner(rules, known, {**options, "confidence": None}, bar)(scope, settings)
    with _baseline_problems(scope):
        new, added, gone = old.renewed(result)
        new.write()
    if not options["quiet"]:
        count = len(new.marks)
        changes = f" ({added} new, {gone} gone)" if old.exists else ""
        click.echo(one_line(f"{os.path.relpath(new.file, scope.here)}: {count} finding{'' if count == 1 else 's'}{changes}"))
    for failure in result.failures:
        click.echo(one_line(f"{failure.path}: {failure.message}".removeprefix(": ")), err=True)
    if result.failures:
        sys.exit(3)


@main.command("rules")
def list_rules() -> None:
    """List the rules."""
    known = _known()
    width = max(len(rule.name) for rule in known)
    for rule in known:
        preview = " (preview)" if rule.preview else ""
        click.echo(f"{rule.code}  {rule.name:<{width}}  {rule.severity.value:<7}  {rule.summary}{preview}")


@main.command()
@click.argument("name", required=False)
def knowledge(name: str | None) -> None:
    """Show what is known of libraries, or of NAME; what the settings here declare is among it."""
    from resilint.knowledge import KnowledgeError, describe, load

    scope, settings = _program((), None)
    try:
        _echo(describe(name, load(settings.knowledge, settings.folder)))
    except KnowledgeError as problem:
        raise _wrong_knowledge(problem, scope.root, settings) from None


@main.command()
@click.argument("paths", nargs=-1)
@click.option("--kind", type=click.Choice(["calls"]), required=True, help="What to draw.")
@click.option("--format", "form", type=click.Choice(["json"]), default="json", show_default=True, help="Format of the graph.")
@click.option("--root", metavar="DIR", help="Root of the program that PATHS are part of.")
@click.option("--no-cache", is_flag=True, help="Neither use nor write cached facts.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes that read files.")
def graph(paths: tuple[str, ...], kind: str, form: str, root: str | None, no_cache: bool, jobs: int | None) -> None:
    """Print a graph of the program at PATHS (default: the current directory)."""
    import json

    from resilint.cache import default_folder
    from resilint.run import Texts, link, read_program

    scope, settings = _program(paths, root)
    texts = Texts(scope.root)
    with _one_run(scope, settings) as bar:
        reading = read_program(scope, settings, texts, None if no_cache else default_folder(), jobs or _processors(), bar)
        if bar is not None:
            bar(0, 0, "linking")
        nodes, edges = link(reading, settings, texts).call_graph()
    click.echo(json.dumps({"nodes": nodes, "edges": edges}, indent=1))
    for failure in reading.failures:
        click.echo(f"{failure.path}: {failure.message}", err=True)
    if reading.failures:
        sys.exit(3)


@main.command()
@click.argument("endpoint", required=False)
@click.argument("paths", nargs=-1)
@click.option(
    "--format", "form", type=click.Choice(BUDGET_FORMATS), default="text", show_default=True, help="Format of the budgets."
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="[FORMAT:]FILE",
    help="Write the budgets to FILE. Without FORMAT it takes the place of what is printed. Repeatable.",
)
@click.option("--root", metavar="DIR", help="Root of the program that PATHS are part of.")
@click.option("--no-cache", is_flag=True, help="Neither use nor write cached facts.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes that read files. Default: one for each processor.")
def budget(
    endpoint: str | None,
    paths: tuple[str, ...],
    form: str,
    outputs: tuple[str, ...],
    root: str | None,
    no_cache: bool,
    jobs: int | None,
) -> None:
    """Show how long each entry point can take at most, against the deadline above it.

    ENDPOINT is the name of a function, a route, or a glob over paths of files: only these are shown. PATHS are those of `check`
    (default: the current directory); a first argument that is a file or directory here is one of them.

    Exit status: 0 shown, whatever the worst case is, 2 wrong usage or settings, 3 internal error.
    """
    from resilint.cache import default_folder
    from resilint.report import one_line
    from resilint.report.budget import Budgets, write
    from resilint.run import Texts, link, read_program

    files = _outputs(outputs, BUDGET_FORMATS)
    if endpoint is not None and os.path.exists(endpoint):
        paths, endpoint = (endpoint, *paths), None
    scope, settings = _program(paths, root)
    texts = Texts(scope.root)
    with _one_run(scope, settings) as bar:
        reading = read_program(scope, settings, texts, None if no_cache else default_folder(), jobs or _processors(), bar)
        if bar is not None:
            bar(0, 0, "linking")
        found = link(reading, settings, texts).budgets
        asked = found.named(endpoint) if endpoint is not None else found.endpoints
        asked = [one for one in asked if scope.reports(one.path)]
        if endpoint is not None and not asked:
            near = found.near(endpoint)
            hint = f": did you mean {', '.join(map(repr, near))}?" if near else ""
            raise Wrong(one_line(f"no entry point has the name, route or path {endpoint!r}{hint}"))
        ranked = tuple(found.ranked(asked))
    shown = Budgets(ranked, len(asked) - len(ranked), endpoint is not None, scope.shown, lambda path: scope.seen(scope.shown(path)))
    _put_out(files, form, lambda kind, printed: write(shown, kind, printed and wants_color(sys.stdout)))
    for failure in reading.failures:
        click.echo(one_line(f"{failure.path}: {failure.message}"), err=True)
    if reading.failures:
        sys.exit(3)


# ---------------------------------------------------------------- to start with


@main.command()
@click.argument("directory", default=".")
@click.option("--force", is_flag=True, help="Write resilint.yaml anew where there is one.")
def init(directory: str, force: bool) -> None:
    """Write a commented resilint.yaml for what is found in DIRECTORY, and print what to paste into its CI."""
    from resilint import init
    from resilint.scope import ScopeError, scope_of
    from resilint.settings import FILE, PYPROJECT, SettingsError, find

    here = _here()
    try:
        scope = scope_of((directory,), None, here)
    except ScopeError as problem:
        raise _wrong([str(problem)]) from None
    if not os.path.isdir(here / directory):
        raise _wrong([f"{directory}: not a directory"])
    root = scope.root

    def shown(name: str) -> str:
        return os.path.relpath(root / name, here)

    if os.path.lexists(root / FILE) and not force:
        raise _wrong([f"{shown(FILE)} is there already: --force writes it anew"])
    try:
        other = find(root)
    except SettingsError as problem:
        # What is broken may be what is to be replaced; what lies beside it would still be in the way.
        other = None
        if not force or not os.path.lexists(root / FILE):
            raise _wrong(problem.seen_from(here)) from None
    if other is not None and other.name == PYPROJECT and other.parent == root:
        raise _wrong([f"{shown(PYPROJECT)} has [tool.resilint]: settings stand in one of the two files"])
    if other is not None and other.parent != root and not force:
        raise _wrong([f"{os.path.relpath(other, here)} holds for this directory already: --force writes settings of its own"])
    found = init.find(root)
    try:
        init.write(root, found)
    except OSError as problem:
        raise Broken(f"{shown(FILE)}: cannot be written: {reason(problem)}") from None
    _echo(init.advice(found, main.commands, shown))


@main.command()
@click.argument("kind", type=click.Choice(["settings", "knowledge"]), metavar="settings|knowledge")
def schema(kind: str) -> None:
    """Print the JSON Schema of resilint.yaml, or of knowledge files, for editors."""
    import json

    from resilint import schemas

    _echo(json.dumps(schemas.settings_schema() if kind == "settings" else schemas.knowledge_schema(), indent=1, ensure_ascii=False))


@main.command("cache")
@click.option("--clear", is_flag=True, help="Remove it; the next run reads everything anew.")
def show_cache(clear: bool) -> None:
    """Show where the facts of files read before are kept, and how large that is, or clear it.

    RESILINT_CACHE_DIR is the folder, else `resilint` in XDG_CACHE_HOME or ~/.cache.
    """
    from resilint import cache
    from resilint.report import one_line

    folder = cache.default_folder()
    if folder is None:
        raise Wrong("there is no cache: no home directory is known, and RESILINT_CACHE_DIR names no folder")
    try:
        before = cache.state(folder)
        if clear:
            cache.clear(folder)
    except OSError as problem:
        raise Broken(one_line(f"{folder}: {'cannot be cleared' if clear else 'cannot be read'}: {reason(problem)}")) from None
    size = f"{before.size / 1e6:.1f} MB"
    if clear:
        click.echo(one_line(f"{before.file}: {'removed, ' + size if before.size else 'there is nothing to remove'}"))
        return
    entries = "it cannot be read, the next run starts it over" if before.entries is None else f"{before.entries} entries"
    most = f"{cache.MAX_BYTES / 1e6:.0f} MB"
    click.echo(one_line(f"{before.file}: {f'{entries}, {size} of at most {most}' if before.size else 'empty'}"))


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
def completion(shell: str) -> None:
    """Print what completes resilint's commands in a shell, for its start-up file.

    \b
    bash: eval "$(resilint completion bash)"
    zsh:  eval "$(resilint completion zsh)"
    fish: resilint completion fish | source
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, shell
    # Its check of the version would start the shell; it only warns of what is older than 4.4.
    script = found(main, {}, "resilint", "_RESILINT_COMPLETE")
    _echo(script.source_template % script.source_vars())


@main.command("lsp")
@click.option("--stdio", is_flag=True, help="Ignored: standard input and output are always what is served.")
def language_server(stdio: bool) -> None:
    """Serve an editor: the language server, on standard input and output."""
    from resilint.lsp import serve

    sys.exit(serve())


def _echo(text: str) -> None:
    click.echo(text if text.endswith("\n") else text + "\n", nl=False)


if __name__ == "__main__":
    main()
