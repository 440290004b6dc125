"""`wmlab runs`: the runs that the cache folder knows of."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wmlab.cli.common import PlainCommand, RunId, TextOrJson, Trust, aligned, print_table
from wmlab.cli.completion import run_ids
from wmlab.errors import UsageError, visible

if TYPE_CHECKING:
    from wmlab.cluster.owners import Owner
    from wmlab.cluster.status import JobStatus
    from wmlab.runtime.run_list import RunSummary

HEAD = ("id", "started", "spec", "profile", "changed", "seeds", "state", "claims", "took", "machine", "commit")
JOB_HEAD = ("job", "engine", "state", "stages", "machine", "log", "says")
LONGEST_REASON = 120  # letters of why a job ended
LONGEST = 40  # letters of what was changed, in a table
COMMIT = 7  # letters of a commit, in a table

runs = typer.Typer(help="List the runs that the cache folder knows of, show one, or stop its jobs.")


@runs.callback(invoke_without_command=True)
def list_all(
    context: typer.Context,
    spec: Annotated[str | None, typer.Option(help="Only runs of this spec.", metavar="NAME")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only runs in which a stage or a claim failed.")] = False,
    since: Annotated[
        str | None, typer.Option(help="Only runs since then: 7d, 12h, or a date as 2026-01-31.", metavar="TIME")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many, the latest first.", min=1, metavar="N")] = 20,
    format: TextOrJson = "text",
    trust: Trust = False,
) -> None:
    """List the runs that the cache folder knows of, the latest first. A run is named by the first letters of its id."""
    if context.invoked_subcommand is not None:
        return
    from wmlab.cluster.status import count_states
    from wmlab.runtime.run_list import list_runs
    from wmlab.runtime.store import Store

    begin = parse_since(since) if since is not None else None
    rows = [
        run
        for run in list_runs(Store().root)
        if (spec is None or run.spec == spec)
        and (run.failed or not failed)
        and (begin is None or _moment(run.started) >= begin)
    ][:limit]
    if format == "json":
        print(json.dumps([as_data(run) for run in rows], indent=1))
    else:
        empty = "no such run" if spec or failed or since else "no runs yet"
        jobs = {run.id: count_states(statuses(run)) for run in rows if run.jobs}
        more = ("jobs",) if jobs else ()
        lines = [(*_row(run), *((jobs.get(run.id, ""),) if jobs else ())) for run in rows]
        print_table((*HEAD, *more), lines, empty)


@runs.command(cls=PlainCommand)
def show(run: RunId, format: TextOrJson = "text", trust: Trust = False) -> None:
    """Show all that is known of one run: what was asked, what became of it, and its page."""
    from wmlab.errors import WmlabError
    from wmlab.runtime.run_list import find_run
    from wmlab.runtime.store import Store

    store = Store()
    one = find_run(store.root, run)
    from wmlab.app.run_pages import kept_page

    try:
        page = str(kept_page(store, one))
    except WmlabError as missing:
        page = "" if format == "json" else f"none ({missing})"
    jobs = statuses(one)
    if format == "json":
        more = {"page": page or None, "log": str(one.path), "jobs": [asdict(job) for job in jobs]}
        print(json.dumps({**as_data(one), **more}, indent=1))
    else:
        print("\n".join(map(visible, aligned([*_facts(one), ("page", page), ("log", str(one.path))]))))
        if jobs:
            print()
            print_table(JOB_HEAD, [_job_row(job) for job in jobs], "")


@runs.command(cls=PlainCommand)
def stop(
    name: Annotated[
        str,
        typer.Argument(
            help="The id of a run, or its first letters, or a spec: all of its runs.",
            metavar="NAME",
            autocompletion=run_ids,
        ),
    ],
    trust: Trust = False,
) -> None:
    """Cancel the jobs that a run has on a cluster, and end the run where it is on this machine."""
    from wmlab.cluster.records import Records
    from wmlab.cluster.stop import end_run, stop_jobs
    from wmlab.runtime.run_list import named_runs
    from wmlab.runtime.store import Store

    root = Store().root
    ids = sorted({str(job.head()["run"]) for job in Records(root).open_jobs() if job.head()["spec"] == name})
    named = [] if ids else named_runs(root, name)
    ids = ids or [run.id for run in named]

    def say(text: str) -> None:
        print(visible(text), file=sys.stderr)

    jobs = stop_jobs(root, ids, say)
    if jobs or not named:
        print(f"cancelled {len(jobs)} {'job' if len(jobs) == 1 else 'jobs'} of {', '.join(ids)}")
    elif on := at_work(named):
        for owner in on:
            end_run(owner, say)
        print(visible(f"ended {', '.join(owner.run for owner in on)}, which had no jobs to cancel"))
    else:
        print(visible(nothing_to_stop(named)))


def at_work(runs: Sequence[RunSummary]) -> list[Owner]:
    """The processes of those runs that are not over."""
    from wmlab.cluster.owners import Owner

    return [Owner(run.id, run.pid, run.host, run.mark) for run in runs if run.state == "running" and run.pid]


def nothing_to_stop(named: Sequence[RunSummary]) -> str:
    """What became of runs that have ended, the latest first."""
    from wmlab.report.text import moment

    last = named[0]
    took = f", after {_took(last)}" if last.seconds is not None else ""
    others = f", and {len(named) - 1} before it" if len(named) > 1 else ""
    text = f"run {last.id} of {last.spec} has ended: {last.state}, {moment(last.last_word)}{took}{others}"
    return f"{text}; there is nothing to stop"


def statuses(run: RunSummary) -> list[JobStatus]:
    """The jobs of a run, as far as they are on record."""
    from wmlab.cluster.status import job_status

    return [job_status(run.path.parent.parent, job) for job in run.jobs]


def _job_row(job: JobStatus) -> tuple[str, ...]:
    said = job.progress or job.reason
    done = f"{min(job.done, job.stages)} of {job.stages}"
    return (job.job, f"{job.engine} {job.engine_id}".strip(), job.state, done, job.host, job.log, said[:LONGEST_REASON])


def as_data(run: RunSummary) -> dict[str, Any]:
    """A run as JSON data."""
    left_out = ("path", "page", "counts", "jobs", "mark")
    facts = {name: value for name, value in asdict(run).items() if name not in left_out}
    return {**facts, "id": run.id or None, "commit": run.commit or None, "stages": dict(run.counts)}


def parse_since(text: str) -> datetime:
    """A moment from an age ('7d') or a date ('2026-01-31', with a time if need be); of UTC where no zone is said."""
    from wmlab.runtime.cache import parse_age

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            return datetime.now(UTC) - timedelta(seconds=parse_age(text))
        except (UsageError, OverflowError):
            raise UsageError(f"--since {text}: say how long ago, as 7d or 12h, or a date, as 2026-01-31") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moment(started: str) -> datetime:
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _row(run: RunSummary) -> tuple[str, ...]:
    changed = " ".join(run.sets)
    return (
        run.id or "–",
        run.started[:19].replace("T", " "),
        run.spec,
        run.profile,
        changed if len(changed) <= LONGEST else f"{changed[: LONGEST - 1]}…",
        "" if run.seeds is None else str(run.seeds),
        run.state,
        _claims(run),
        _took(run),
        run.host,
        f"{run.commit[:COMMIT]}{' dirty' if run.dirty else ''}",
    )


def _facts(run: RunSummary) -> Iterator[tuple[str, str]]:
    """What is known of a run, a line each; what is not known has none."""
    rows = {
        "run": run.id,
        "spec": f"{run.spec} ({run.file})" if run.file else run.spec,
        "profile": run.profile,
        "changed": "  ".join(run.sets),
        "seeds": "" if run.seeds is None else str(run.seeds),
        "state": run.state,
        "stages": ", ".join(f"{count} {name}" for name, count in run.counts.items() if count),
        "claims": _claims(run),
        "started": run.started,
        "took": _took(run),
        "machine": run.host,
        "commit": f"{run.commit}{' and changes since (dirty)' if run.dirty else ''}",
        "command": shlex.join(run.argv),
    }
    return ((name, text) for name, text in rows.items() if text)


def _claims(run: RunSummary) -> str:
    if run.claims is None:
        return ""
    counts = ((run.claims.held, "held"), (run.claims.failed, "failed"), (run.claims.shown, "shown"))
    return ", ".join(f"{count} {word}" for count, word in counts if count) or "none"


def _took(run: RunSummary) -> str:
    from wmlab.runtime.cache import format_duration

    return "" if run.seconds is None else format_duration(run.seconds)
