"""Commands about results: running specs, reporting and exporting what was run, and the cache."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wmlab.cli.options import Profile, Reports, Sets, Specs


class ArrayFormat(StrEnum):
    safetensors = "safetensors"
    npz = "npz"


class ArrayType(StrEnum):
    float32 = "float32"
    float64 = "float64"


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
    from wmlab.app.run import default_jobs, report_root, run_study
    from wmlab.app.show import announce, show_finished
    from wmlab.app.study import open_all
    from wmlab.runtime.progress import show_progress
    from wmlab.runtime.store import Store, find_root

    flags = [*(sets or ()), *([f"seeds={seeds}"] if seeds else ())]
    store = Store(find_root())
    finished = []
    for study in open_all(specs, profile, flags):
        announce(study)
        with show_progress() as listener:
            workers, reports = default_jobs() if jobs is None else jobs, output or report_root(store)
            one = run_study(study, store, jobs=workers, keep_going=keep_going, listener=listener, reports=reports)
        show_finished(one)
        finished.append(one)
    failed = any(not one.ok for one in finished) or (check and any(not one.claims_hold for one in finished))
    raise typer.Exit(1 if failed else 0)


def report(specs: Specs, profile: Profile = None, sets: Sets = None, output: Reports = None) -> None:
    """Write the report of what was run before. Nothing is computed."""
    from wmlab.app.run import report_root, report_study
    from wmlab.app.show import relative
    from wmlab.app.study import open_all
    from wmlab.runtime.store import Store, find_root

    store = Store(find_root())
    for study in open_all(specs, profile, sets or ()):
        print(relative(report_study(study, store, output or report_root(store)).written.page))


def export(
    specs: Specs,
    profile: Profile = None,
    sets: Sets = None,
    format: Annotated[ArrayFormat, typer.Option(help="How arrays are written.")] = ArrayFormat.safetensors,
    dtype: Annotated[
        ArrayType | None, typer.Option(help="The type of real numbers; by default as they are stored.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Folder for exports; by default exports/ beside the cache.", metavar="FOLDER"),
    ] = None,
) -> None:
    """Write values, policy and extracted model of what was run before, for use elsewhere. Nothing is computed."""
    from wmlab.app.export import export_root, export_study
    from wmlab.app.show import show_exported
    from wmlab.app.study import open_all
    from wmlab.runtime.store import Store, find_root

    store = Store(find_root())
    whole = True
    for study in open_all(specs, profile, sets or ()):
        kind = dtype.value if dtype else None
        found = export_study(study, store, output or export_root(store), format.value, kind)
        show_exported(study, found)
        whole = whole and not found.missing
    raise typer.Exit(0 if whole else 1)


def runs(limit: Annotated[int, typer.Option(help="How many, the latest first.", min=1, metavar="N")] = 20) -> None:
    """List the runs that the cache folder knows of."""
    from wmlab.app.show import show_runs
    from wmlab.runtime.runlog import list_runs
    from wmlab.runtime.store import find_root

    show_runs(list_runs(find_root())[:limit])


def cache_ls() -> None:
    """List what is stored, the most recently used first."""
    from wmlab.app.show import show_cache
    from wmlab.runtime.cache import rows
    from wmlab.runtime.store import Store, find_root

    show_cache(rows(Store(find_root())))


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
    from wmlab.app.show import show_cleanup
    from wmlab.runtime.cache import gc, parse_age, parse_size
    from wmlab.runtime.store import Store, find_root

    size = parse_size(max_size) if max_size else None
    age = parse_age(older_than) if older_than else None
    show_cleanup(gc(Store(find_root()), max_size=size, older_than=age, dry_run=dry_run))
