"""Running a study: execute what is not known, then write down what was found."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from wmlab.app.reporting import StudyReport, report_folder, write_down
from wmlab.app.run_index import refresh_index
from wmlab.app.run_pages import keep_pages
from wmlab.app.tensorboard import TensorBoardLog
from wmlab.cluster.dispatch.run import execute_on
from wmlab.cluster.engines.opening import open_engine
from wmlab.cluster.file import Cluster
from wmlab.core.container import usable_cores
from wmlab.core.memory import usable_memory
from wmlab.graph.compile import needed
from wmlab.graph.study import Study, not_run, variation
from wmlab.runtime.cache import format_size
from wmlab.runtime.estimates import Estimator, PlanCost, past_stages, plan_cost
from wmlab.runtime.events import EntryDamaged, Listener, Notice, Outcome, fan_out
from wmlab.runtime.executor import execute
from wmlab.runtime.git import code_state, git_state
from wmlab.runtime.limits import StageLimits
from wmlab.runtime.livelog import LiveLog
from wmlab.runtime.runlog import ClaimCounts, RunLog
from wmlab.runtime.spares import Spares
from wmlab.runtime.store import CorruptEntry, MissingEntry, Store
from wmlab.stages.memory import KnownMemory

ATTEMPTS = 3  # how often damaged results are computed again before we give up


@dataclass(frozen=True)
class StudyRun:
    """A study that was run, and its report."""

    study: Study
    report: StudyReport
    outcome: Outcome
    id: str = ""  # empty where the cache cannot be written, so that nobody remembers the run

    @property
    def ok(self) -> bool:
        return self.outcome.ok

    @property
    def failed(self) -> bool:
        """Whether a stage failed, or was skipped for one that did."""
        return bool(self.outcome.failed or self.outcome.skipped)


def run_study(
    study: Study,
    store: Store,
    *,
    jobs: int | None = None,
    keep_going: bool = False,
    limits: StageLimits = StageLimits(),  # noqa: B008 - it is frozen
    listener: Listener | None = None,
    reports: Path | None = None,
    spares: Spares | None = None,
    cluster: Cluster | None = None,
    until: float | None = None,
    begun: Callable[[str], None] | None = None,
    tensorboard: bool = False,
) -> StudyRun:
    """Compute what is not known of what is asked for, and write down everything that is.

    By default there are as many `jobs` as usable cores, which make pages, too, and `reports` lie beside the cache.
    Several runs, one after the other, may share workers as `spares`. On a `cluster` its engine's jobs compute, and
    `jobs` and `limits` are the file's. Nothing is begun that would not end by `until`, a moment of time.monotonic(),
    and then nothing goes on; one seed of every point comes before the next seed of any, so that a page shows much
    early. `begun` is called with the id of the run as soon as there is something to watch. With `tensorboard`, curves
    are kept for it in the cache.
    """
    if cluster is not None:
        study = cluster.take(study)
    jobs = usable_cores() if jobs is None else jobs
    started, clock, code = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic(), code_state()
    notice = (lambda text: listener(Notice(text))) if listener is not None else None
    with (
        store.holding(study.keys.values(), notice),  # no clean-up takes away what the report is going to show
        begin_log(study, store, notice) as log,
        LiveLog(log, study.asked, study.keys) as live,
        TensorBoardLog(store.root, log.id) if tensorboard and log.is_written else nullcontext() as board,
        closing(open_engine(cluster, store.root)) if cluster and not cluster.is_local else nullcontext() as engine,
    ):
        tell = fan_out(listener, log, live, board)
        if begun is not None and log.is_written:
            begun(log.id)
        cost = plan_cost(study.asked, study.keys, store, jobs)
        compute: Callable[..., Outcome]
        if engine is None:
            warn_of_memory(study, cost, jobs, tell)
            here = HereOptions(jobs, limits, log.output, spares, until)
            compute = partial(execute, **options_here(study, store, cost, here))
        else:
            about: Any = {"cluster": cluster, "chains": study.chains, "run": log.id, "spec": study.name}
            about |= {"costs": None if cost is None else cost.stages, "beforehand": KnownMemory(study.asked)}
            compute = partial(execute_on, engine, **about)
        for attempt in range(ATTEMPTS):
            outcome = compute(study.asked, study.keys, store, keep_going=keep_going, events=tell)
            remember_keys(study, store, outcome)
            times = {"run": log.id, "started": started, "seconds": round(time.monotonic() - clock, 3), "code": code}
            try:
                report = write_down(study, store, reports, {**outcome.failed, **outcome.skipped}, tell, times, jobs)
                check_all_there(study, store, outcome)
                remember(study, store, report, log, tell)
                run = StudyRun(study, report, outcome, log.id if log.is_written else "")
                break
            except (CorruptEntry, MissingEntry) as damage:
                if attempt == ATTEMPTS - 1:
                    raise
                tell(EntryDamaged(damage.key, damage.label, damage.reason))
    if run.id and reports is None:  # its log is closed: the page of all runs can tell how it ended
        refresh_index(store, report.reports, notice or (lambda text: None))
    return run


@dataclass(frozen=True)
class HereOptions:
    """How stages run on this machine."""

    jobs: int
    limits: StageLimits
    output: Path
    spares: Spares | None
    until: float | None


def options_here(study: Study, store: Store, cost: PlanCost | None, asked: HereOptions) -> dict[str, Any]:
    """What `execute` is given: with what stages are expected to take and, where time may run out, which come first."""
    return {
        **vars(asked),
        "seconds": cost and {id: one.seconds.middle for id, one in cost.stages.items()},
        "estimator": Estimator(study.asked, past_stages(store) if cost is not None else {}),
        "ranks": None if asked.until is None else seeds_first(study),
    }


def seeds_first(study: Study) -> dict[str, int]:
    """The place of each stage where time may run out: the first seed of every point, then the next, each to its end."""
    ranks: dict[str, int] = {}
    seeds = {seed: position for position, seed in enumerate(dict.fromkeys(run.seed for run in study.asked_runs))}
    for rank, run in enumerate(sorted(study.asked_runs, key=lambda run: seeds[run.seed])):
        for stage in needed(study.stages, run.stages.values()):
            ranks.setdefault(stage, rank)
    return ranks


def remember_keys(study: Study, store: Store, outcome: Outcome) -> None:
    """Write down under which keys stages ran; of those that were left out, the last ones stand."""
    for plan in study.plans:
        name, variant = plan.resolved.name or "", variation(plan.resolved)
        done = {plan.stage(id).label: study.keys[id].hash for id in plan.stages if id in study.asked}
        for id in outcome.left:
            done.pop(study.stages[id].label, None)
        store.remember(name, variant, {**(store.last(name, variant) if len(done) < len(plan.stages) else {}), **done})


def begin_log(study: Study, store: Store, notice: Callable[[str], None] | None) -> RunLog:
    """The log of a run, which begins with what was asked."""
    resolved = study.resolved
    file = Path(resolved.document.path).absolute()
    return RunLog(
        store.root,
        spec=study.name,
        profile=study.profile,
        sets=resolved.sets,
        seeds=max((len(plan.resolved.seeds) for plan in study.plans), default=0),
        file=str(file),
        git=git_state(file),
        notice=notice,
    )


def warn_of_memory(study: Study, cost: PlanCost | None, jobs: int, tell: Listener) -> None:
    """Say so where the stages that are to run are expected to hold more memory than there is, by the lowest guess.

    What a wide network holds is guessed from a narrow one's by all of their sizes: a guess in the middle is often high.
    """
    usable = usable_memory()
    if cost is None or cost.memory is None or cost.memory.low <= usable:
        return
    largest = max(cost.stages, key=lambda id: cost.stages[id].memory.low)
    alone = cost.stages[largest].memory.low
    have = f"at least, and {format_size(usable)} may be used here"
    if alone > usable:
        text = f"'{study.stages[largest].label}' is expected to hold {format_size(alone)} {have}; make it smaller"
    else:
        fitting = max(1, int(usable / alone))
        together = f"{jobs} stages at once are expected to hold {format_size(cost.memory.low)}"
        text = f"{together} {have}; --jobs {fitting} would fit"
    tell(Notice(text))


def remember(study: Study, store: Store, report: StudyReport, log: RunLog, tell: Listener) -> None:
    """Write down what became of the claims, and keep the pages as they are now."""
    if not log.is_written:
        return
    keep_pages(store, log.id, report, lambda text: tell(Notice(text)))
    holds = [claim["holds"] for results in report.folders.values() for claim in results["claims"]]
    claims = ClaimCounts(*(sum(one is kind for one in holds) for kind in (True, False, None)))
    log.reported(report_folder(study.resolved).as_posix(), claims)


def check_all_there(study: Study, store: Store, outcome: Outcome) -> None:
    """MissingEntry where the store has lost a result of the run, so that its report does not show it."""
    for stage in (*outcome.ran, *outcome.cached):
        if not store.has(study.keys[stage]):
            raise MissingEntry(study.keys[stage].hash)


def report_study(
    study: Study,
    store: Store,
    reports: Path | None = None,
    listener: Listener | None = None,
    jobs: int | None = None,
) -> StudyReport:
    """The report of what was run before; nothing is computed. By default there are as many `jobs` as usable cores."""
    with store.holding(study.keys.values()):
        if not any(store.has(study.keys[stage]) for stage in study.stages):
            raise not_run(study, store, "report")
        report = write_down(study, store, reports, {}, fan_out(listener), processes=jobs)
    if reports is None:
        refresh_index(store, report.reports, lambda text: fan_out(listener)(Notice(text)))
    return report
