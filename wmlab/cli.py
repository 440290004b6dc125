"""The commands. Each is thin: it reads flags, calls the laboratory, prints, and chooses an exit code.

Exit codes: 0 done, 1 a stage or a claim failed, 2 the spec or the command line is wrong, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from wmlab.errors import SpecErrors, UsageError, WmlabError

INTERRUPTED = 130

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
cache = typer.Typer(help="Look at the cache of results, and clean it up.", no_args_is_help=True)
app.add_typer(cache, name="cache")

Specs = Annotated[list[str], typer.Argument(help="Spec files.", metavar="SPEC")]
OneSpec = Annotated[str, typer.Argument(help="A spec file.", metavar="SPEC")]
Profile = Annotated[
    str | None,
    typer.Option(help="The budget to run on, or paper; the spec's default_profile by default.", metavar="NAME"),
]
Sets = Annotated[
    list[str] | None, typer.Option("--set", help="Change one value: agent.discount=0.95.", metavar="PATH=VALUE")
]
Reports = Annotated[
    Path | None,
    typer.Option("--output", help="Folder for reports; by default reports/ beside the cache.", metavar="FOLDER"),
]


class ErrorFormat(StrEnum):
    text = "text"
    json = "json"
    github = "github"


class ExplainFormat(StrEnum):
    text = "text"
    json = "json"


class PlanFormat(StrEnum):
    text = "text"
    mermaid = "mermaid"
    dot = "dot"
    json = "json"


def say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"wmlab {version('wmlab')}")
        raise typer.Exit(0)


@app.callback(epilog="Begin with: wmlab new maze --from gridworld, then wmlab run maze.yaml")
def wmlab(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=say_version, is_eager=True)
    ] = False,
) -> None:
    """What world model hides inside a reinforcement-learning agent's values?"""


@app.command(short_help="Write a first spec to change, from a template.")
def new(
    name: Annotated[str | None, typer.Argument(help="What it is called; NAME.yaml is written.", metavar="NAME")] = None,
    template: Annotated[
        str, typer.Option("--from", help="The template to begin with; --list shows them.", metavar="TEMPLATE")
    ] = "gridworld",
    output: Annotated[
        Path | None, typer.Option("--output", help="The file or folder to write to; here by default.", metavar="PATH")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the templates, and write nothing.")] = False,
) -> None:
    """Write a commented spec that is valid and runs, to be changed into your own. Nothing is overwritten."""
    from wmlab.lab.new import show_new, show_templates, write_new

    if listed:
        print(show_templates())
    elif name is None:
        raise UsageError("how shall it be called? Say wmlab new NAME, or wmlab new --list")
    else:
        print(show_new(write_new(name, template, output)))


@app.command(short_help="Check specs: every mistake at once, in every profile.")
def validate(
    specs: Specs,
    format: Annotated[
        ErrorFormat, typer.Option(help="text for people, json for tools, github for annotations.")
    ] = ErrorFormat.text,
) -> None:
    """Check specs: every mistake at once, in every profile. Exits with 2 when there is one."""
    import gc

    gc.disable()  # a short life: looking for garbage would be a tenth of it
    from wmlab.spec.problems import FORMATS
    from wmlab.spec.validate import validate_all

    errors = validate_all(specs)
    say = FORMATS[format.value](errors, specs)
    if say:
        print(say)
    raise typer.Exit(2 if errors else 0)


@app.command(short_help="Show what a run would do, and why.")
def plan(
    spec: OneSpec,
    profile: Profile = None,
    sets: Sets = None,
    format: Annotated[PlanFormat, typer.Option(help="How the graph is written.")] = PlanFormat.text,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Show every value with the place that it comes from.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List every stage.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when something would run.")] = False,
) -> None:
    """Show what a run would do: the graph of stages, what is cached, what would run and why."""
    from wmlab.lab.show import show_plan, show_resolved
    from wmlab.lab.study import open_study
    from wmlab.runtime.store import Store, find_root

    study = open_study(spec, profile, sets or ())
    store = Store(find_root())
    reasons = study.reasons(store)
    print(show_resolved(study, format.value) if resolved else show_plan(study, reasons, format.value, verbose))
    raise typer.Exit(1 if exit_code and not all(reason.cached for reason in reasons.values()) else 0)


@app.command(short_help="Say whether theory promises an answer, before anything runs.")
def explain(
    spec: OneSpec,
    profile: Profile = None,
    sets: Sets = None,
    format: Annotated[ExplainFormat, typer.Option(help="text for people, json for tools.")] = ExplainFormat.text,
) -> None:
    """Say, before anything runs, whether these values can have only one world in them: which theorem says so, or what
    is missing for one."""
    from wmlab.explain.show import show_explanation
    from wmlab.lab.study import open_study

    print(show_explanation(open_study(spec, profile, sets or ()), format.value))


@app.command(short_help="Run specs, check their claims, write a report.")
def run(
    specs: Specs,
    profile: Profile = None,
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds, in place of the spec's.", min=1, metavar="N")
    ] = None,
    sets: Sets = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Worker processes; 0 runs everything in this process.", min=0, metavar="N"),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Go on with what does not depend on a failed stage.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a claim fails.")] = False,
    output: Reports = None,
) -> None:
    """Run specs: compute what is not known, check the claims, write a report."""
    from wmlab.lab.run import default_jobs, report_root, run_study
    from wmlab.lab.show import announce, show_finished
    from wmlab.lab.study import open_all
    from wmlab.runtime.progress import show_progress
    from wmlab.runtime.store import Store, find_root

    flags = [*(sets or ()), *([f"seeds={seeds}"] if seeds else ())]
    store = Store(find_root())
    finished = []
    for study in open_all(specs, profile, flags):
        announce(study)
        with show_progress() as listener:
            one = run_study(
                study,
                store,
                jobs=default_jobs() if jobs is None else jobs,
                keep_going=keep_going,
                listener=listener,
                reports=output or report_root(store),
            )
        show_finished(one)
        finished.append(one)
    failed = any(not one.ok for one in finished) or (check and any(not one.claims_hold for one in finished))
    raise typer.Exit(1 if failed else 0)


@app.command(short_help="Write the report again, from stored results.")
def report(specs: Specs, profile: Profile = None, sets: Sets = None, output: Reports = None) -> None:
    """Write the report of what was run before. Nothing is computed."""
    from wmlab.lab.run import report_root, report_study
    from wmlab.lab.study import open_all
    from wmlab.runtime.store import Store, find_root

    store = Store(find_root())
    for study in open_all(specs, profile, sets or ()):
        print(report_study(study, store, output or report_root(store)).written.page)


class ArrayFormat(StrEnum):
    safetensors = "safetensors"
    npz = "npz"


class ArrayType(StrEnum):
    float32 = "float32"
    float64 = "float64"


@app.command()
def export(
    specs: Specs,
    profile: Profile = None,
    sets: Sets = None,
    format: Annotated[ArrayFormat, typer.Option(help="How arrays are written.")] = ArrayFormat.safetensors,
    dtype: Annotated[
        ArrayType | None, typer.Option(help="The type of real numbers; by default as they are stored.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Folder for exports; by default exports/ beside the cache.")
    ] = None,
) -> None:
    """Write values, policy and extracted model of what was run before, for use elsewhere. Nothing is computed."""
    from wmlab.lab.export import export_root, export_study
    from wmlab.lab.show import show_exported
    from wmlab.lab.study import open_all
    from wmlab.runtime.store import Store, find_root

    store = Store(find_root())
    whole = True
    for study in open_all(specs, profile, sets or ()):
        kind = dtype.value if dtype else None
        found = export_study(study, store, output or export_root(store), format.value, kind)
        show_exported(study, found)
        whole = whole and not found.missing
    raise typer.Exit(0 if whole else 1)


@app.command()
def diff(
    one: Annotated[str, typer.Argument(help="A spec, or a results.json.", metavar="A")],
    other: Annotated[
        str | None, typer.Argument(help="Another of the same; by default A itself, in another profile.", metavar="B")
    ] = None,
    profiles: Annotated[
        list[str] | None,
        typer.Option("--profile", help="The profile of both; given twice, that of A and that of B.", metavar="NAME"),
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="Change one value in B.", metavar="PATH=VALUE")
    ] = None,
    format: Annotated[ExplainFormat, typer.Option(help="text for people, json for tools.")] = ExplainFormat.text,
) -> None:
    """Show how two specs, profiles or results differ: in values, in what would run, and in what was measured."""
    from wmlab.lab.diff import compare_two
    from wmlab.lab.diff_show import show_difference

    print(show_difference(compare_two(one, other, profiles or (), sets or ()), format.value))


@app.command()
def runs(limit: Annotated[int, typer.Option(help="How many, the latest first.", min=1, metavar="N")] = 20) -> None:
    """List the runs that the cache folder knows of."""
    from wmlab.lab.show import show_runs
    from wmlab.runtime.runlog import list_runs
    from wmlab.runtime.store import find_root

    show_runs(list_runs(find_root())[:limit])


@app.command(short_help="Print the JSON Schema of specs: for editors and other tools.")
def schema(
    write: Annotated[bool, typer.Option("--write", help="Write the schemas of this version into a folder.")] = False,
    folder: Annotated[Path, typer.Option(help="Where to.", metavar="FOLDER")] = Path("schemas"),
) -> None:
    """Print the JSON Schema of spec files, or write all schemas: for editors and other tools."""
    from wmlab.spec import schema as schemas

    if write:
        for path in schemas.write(folder):
            print(path)
    else:
        print(schemas.text("spec"), end="")


@app.command(short_help="Look up a kind, an option, a key, expressions or metrics.")
def reference(
    topic: Annotated[
        str | None, typer.Argument(help="gridworld, agent.pqn.network, claims, metrics, …", metavar="TOPIC")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the whole reference as a page of Markdown.")] = False,
    folder: Annotated[Path, typer.Option(help="Where to.", metavar="FOLDER")] = Path("docs"),
) -> None:
    """Show what can be said in a spec: every kind and option with its default, and an example. Without a topic, list
    the topics."""
    from wmlab.reference import page

    if write:
        print(page.write(folder))
    else:
        print(page.show(topic) if topic else page.show_topics())


class Benchmark(StrEnum):
    finite = "finite"
    pqn = "pqn"
    planning = "planning"
    p_learning = "p_learning"


@app.command()
def bench(name: Annotated[Benchmark, typer.Argument(help="What to measure.")]) -> None:
    """Measure how fast this machine is at one kind of work."""
    import importlib

    importlib.import_module(f"wmlab.bench.{name.value}").main()


@cache.command("ls")
def cache_ls() -> None:
    """List what is stored, the most recently used first."""
    from wmlab.lab.show import show_cache
    from wmlab.runtime.cache import rows
    from wmlab.runtime.store import Store, find_root

    show_cache(rows(Store(find_root())))


@cache.command("gc")
def cache_gc(
    max_size: Annotated[
        str | None, typer.Option(help="Keep at most this much, the most recently used: 2GiB.", metavar="SIZE")
    ] = None,
    older_than: Annotated[
        str | None, typer.Option(help="Remove what was not used for this long: 30d.", metavar="AGE")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")] = False,
) -> None:
    """Remove results that have not been used for long, or that do not fit."""
    from wmlab.lab.show import show_cleanup
    from wmlab.runtime.cache import gc, parse_age, parse_size
    from wmlab.runtime.store import Store, find_root

    size = parse_size(max_size) if max_size else None
    age = parse_age(older_than) if older_than else None
    show_cleanup(gc(Store(find_root()), max_size=size, older_than=age, dry_run=dry_run))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The entry point: errors that are for people are printed, not raised."""
    words = list(arguments) if arguments is not None else None
    sys.exit(guarded(lambda: app(args=words, prog_name="wmlab", standalone_mode=False)))


def guarded(command: Callable[[], Any]) -> int:
    try:
        code = int(command() or 0)
        if code == INTERRUPTED:  # what typer makes of Ctrl-C
            print("interrupted", file=sys.stderr)
        return code
    except SpecErrors as errors:
        from wmlab.spec.problems import as_text

        print(as_text(list(errors.errors)), file=sys.stderr)
        return errors.exit_code
    except WmlabError as error:
        print(f"wmlab: {error}", file=sys.stderr)
        return error.exit_code
    except typer.Exit as stop:
        return int(stop.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except typer.TyperException as usage:  # a wrong flag or argument
        message = usage.format_message()  # of a command without arguments, its help
        print(message if message.startswith("Usage:") else complaint(usage, message), file=sys.stderr)
        return 2


def complaint(usage: typer.TyperException, message: str) -> str:
    """A wrong flag or argument, and the help to look at: that of the command which was typed."""
    context = getattr(usage, "ctx", None)
    command = "wmlab" if context is None else context.command_path
    words = message.replace("Value error, ", "").replace("(Possible options: ", "(did you mean ")
    words = f"{words[:-1]}?)" if "(did you mean " in words else words.rstrip(".")
    return f"wmlab: {words}\nTry '{command} --help'."
