"""Commands about specs: writing, checking, planning, explaining and comparing them."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wmlab.cli.options import ExplainFormat, OneSpec, Profile, Sets, Specs
from wmlab.errors import UsageError


class ErrorFormat(StrEnum):
    text = "text"
    json = "json"
    github = "github"


class PlanFormat(StrEnum):
    text = "text"
    mermaid = "mermaid"
    dot = "dot"
    json = "json"


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
    from wmlab.app.new import show_new, show_templates, write_new

    if listed:
        print(show_templates())
    elif name is None:
        raise UsageError("how shall it be called? Say wmlab new NAME, or wmlab new --list")
    else:
        print(show_new(write_new(name, template, output)))


def validate(
    specs: Specs,
    format: Annotated[
        ErrorFormat, typer.Option(help="text for people, json for tools, github for annotations.")
    ] = ErrorFormat.text,
) -> None:
    """Check specs: every mistake at once, in every profile. Exits with 2 when there is one."""
    import gc

    gc.disable()  # a short life: looking for garbage would be a tenth of it
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting threads that have nothing to do, a twentieth
    from wmlab.spec.check.formats import FORMATS
    from wmlab.spec.check.validate import fragments, validate_all

    errors = validate_all(specs)
    say = FORMATS[format.value](errors, specs)
    if say:
        print(say)
    for path in fragments(specs) if format is ErrorFormat.text and not errors else ():
        print(f"{path} is a fragment: it has no name, so it can be extended and not run")
    raise typer.Exit(2 if errors else 0)


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
    from wmlab.app.show import show_plan, show_resolved
    from wmlab.app.study import open_study
    from wmlab.runtime.store import Store, find_root

    study = open_study(spec, profile, sets or ())
    store = Store(find_root())
    reasons = study.reasons(store)
    print(show_resolved(study, format.value) if resolved else show_plan(study, reasons, format.value, verbose))
    raise typer.Exit(1 if exit_code and not all(reason.cached for reason in reasons.values()) else 0)


def explain(
    spec: OneSpec,
    profile: Profile = None,
    sets: Sets = None,
    format: Annotated[ExplainFormat, typer.Option(help="text for people, json for tools.")] = ExplainFormat.text,
) -> None:
    """Say, before anything runs, whether these values can have only one world in them: which theorem says so, or what
    is missing for one."""
    from wmlab.app.study import open_study
    from wmlab.explain.show import show_explanation

    print(show_explanation(open_study(spec, profile, sets or ()), format.value))


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
    from wmlab.app.diff import compare_two
    from wmlab.app.diff_show import show_difference

    print(show_difference(compare_two(one, other, profiles or (), sets or ()), format.value))
