"""Runs that go on in the background; what is wrong with them before they begin is said where they are asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from wmlab.cluster.engines.engine import EngineBusy
from wmlab.cluster.engines.opening import open_engine
from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import Job, plan_jobs
from wmlab.core.container import usable_cores
from wmlab.errors import SpecErrors
from wmlab.graph.study import Study
from wmlab.runtime import layout
from wmlab.runtime.estimates import plan_cost
from wmlab.runtime.store import Store
from wmlab.stages.memory import KnownMemory


def leave_running(
    words: Sequence[str], studies: Sequence[Study], cluster: Cluster | None, notice: Callable[[str], None]
) -> tuple[int, Path]:
    """Start a command of wmlab in the background, in a session of its own: the process, and the file it prints to.

    SpecErrors, and nothing is started, where an engine knows that it cannot do what the cluster file says.
    """
    store = Store()
    store.prepare()
    if cluster is not None and not cluster.is_local:
        check_jobs(studies, cluster, store, notice)
    said = layout.folder(store.root, "runs") / f"detached-{os.getpid()}.txt"
    with open(said, "ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "wmlab", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return process.pid, said


def check_jobs(studies: Sequence[Study], cluster: Cluster, store: Store, notice: Callable[[str], None]) -> None:
    """SpecErrors where an engine cannot do the jobs of studies; one that is busy is asked by the run itself."""
    with closing(open_engine(cluster, store.root)) as engine:
        jobs = [job for study in studies for job in jobs_of(cluster.take(study), cluster, store)]
        try:
            errors = engine.check(jobs) if jobs else []
        except EngineBusy as error:
            notice(f"{error}; the run asks again in the background")
            return
    if errors:
        raise SpecErrors(errors)


def jobs_of(study: Study, cluster: Cluster, store: Store) -> list[Job]:
    """The jobs that a study makes of what the cache does not have."""
    cost = plan_cost(study.asked, study.keys, store, usable_cores())
    left = [id for id in study.asked if not store.has(study.keys[id])]
    costs = None if cost is None else cost.stages
    return plan_jobs(study.asked, left, study.chains, cluster, costs, KnownMemory(study.asked))
