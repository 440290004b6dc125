"""How very large plans fare: a sweep of 10⁵ stages is planned, found in the cache, listed and cleaned up.

Each step is a process of its own, so that its time has everything in it and its memory is its own. Results are made up:
nothing is computed but a hundred stages.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

POINTS, SEEDS = 1000, 25  # of four stages each
MISSING = 100  # stages whose results are not in the cache
SPEC = """\
wmlab: 1
name: many
mdp: {{kind: random, states: 3, actions: 2}}
goals: {{reward: {{kind: generic, count: 3}}, terminate: never}}
agent: {{kind: exact, discount: 0.9}}
extract: {{kind: pseudo_inverse}}
evaluate: {{model_error: {{}}, fit: {{}}, identify: {{rank_tolerance: 1e-9}}}}
sweep:
  discount: {{agent.discount: [{discounts}]}}
seeds: {seeds}
"""
STEPS = {
    "plan": "wmlab plan: nothing is known yet",
    "jobs": "wmlab plan --on slurm",
    "fill": "(results are made up)",
    "cached": "wmlab plan: all but a hundred are cached",
    "first": "run: until the first stage begins",
    "submitted": "run --on: until the first job is submitted",
    "overhead": "run: a cached stage",
    "list": "wmlab cache ls",
    "clean": "wmlab cache gc",
}


def write_spec(points: int, seeds: int) -> Path:
    """A sweep of exact agents in worlds that are drawn by seed."""
    discounts = ", ".join(f"{0.5 + 0.4 * number / points:.5f}" for number in range(points))
    path = Path("many.yaml")
    path.write_text(SPEC.format(discounts=discounts, seeds=seeds))
    return path


def command(*words: str) -> None:
    done = subprocess.run([sys.executable, "-P", "-m", "wmlab", *words], stdout=subprocess.DEVNULL)
    assert done.returncode == 0


def fill() -> None:
    """Put a result of no meaning into the store for all stages but a hundred that need nothing."""
    import numpy as np

    from wmlab.graph.stage import canonical
    from wmlab.graph.study import open_study
    from wmlab.runtime.result import Result
    from wmlab.runtime.store import Store

    study, store = open_study("many.yaml"), Store()
    left = MISSING
    result = Result({"total": np.zeros(3)}, {"metrics": {}})
    for id, stage in study.stages.items():
        if left and not stage.inputs:
            left -= 1
            continue
        key = study.keys[id]
        parts = json.loads(canonical(key.parts))
        about = {"label": stage.label, "module": stage.module, "seconds": 0.01, "peak_memory": 1 << 28}
        store.save(key, result, {**about, **parts, "parts": sorted(parts)})


def first() -> None:
    """Run until the first stage begins."""
    run_until(lambda event: type(event).__name__ == "StageStarted")


def submitted() -> None:
    """Run on an engine until the first job is submitted; there is no cluster behind it."""
    from wmlab.cluster.dispatch.run import execute_on
    from wmlab.cluster.engines.engine import Engine
    from wmlab.cluster.file import open_cluster
    from wmlab.graph.study import open_study
    from wmlab.runtime.estimates import plan_cost
    from wmlab.runtime.store import Store

    class FirstJob(Engine):
        """Takes a job, and that is all."""

        def check(self, jobs: Any) -> list[Any]:
            return []

        def submit(self, name: str, job: str, token: str, attempt: int, resources: Any) -> str:
            os._exit(0)

        def find(self, names: Any) -> dict[str, str]:
            return {}

        def look(self, ids: Any) -> dict[str, Any]:
            return {}

        def cancel(self, ids: Any) -> None:
            return

    cluster = open_cluster("slurm")
    assert cluster is not None
    study, store = cluster.take(open_study("many.yaml")), Store()
    cost = plan_cost(study.stages, study.keys, store, 1)
    with store.holding(study.keys.values()):
        execute_on(
            FirstJob(cluster, store.root),
            study.asked,
            study.keys,
            store,
            cluster=cluster,
            chains=study.chains,
            run="bench",
            costs=None if cost is None else cost.stages,
        )


def overhead() -> None:
    """Run until all cached stages are told, and say how long each took."""
    counted, cached = 0, None

    def is_last(event: object) -> bool:
        nonlocal counted, cached
        cached = getattr(event, "cached", cached)  # as the run says when it begins
        counted += getattr(event, "outcome", "") == "cached"
        return counted == cached

    run_until(is_last)


def run_until(is_so: Callable[[object], bool]) -> None:
    from wmlab.graph.study import open_study
    from wmlab.runtime.estimates import plan_cost
    from wmlab.runtime.executor import execute
    from wmlab.runtime.store import Store

    study, store = open_study("many.yaml"), Store()
    cost = plan_cost(study.stages, study.keys, store, 1)
    seconds = {} if cost is None else {id: one.seconds.middle for id, one in cost.stages.items()}

    def heard(event: object) -> None:
        if is_so(event):
            print(f"{time.time():.3f}", flush=True)
            os._exit(0)

    execute(study.stages, study.keys, store, jobs=1, events=heard, seconds=seconds, keep_going=True)


def step(name: str) -> None:
    """One step, in this process or a process of its own."""
    words = {
        "plan": ("plan", "many.yaml"),
        "jobs": ("plan", "many.yaml", "--on", "slurm"),
        "cached": ("plan", "many.yaml"),
        "list": ("cache", "ls"),
        "clean": ("cache", "gc"),
    }
    if name in words:
        command(*words[name])
    else:
        {"fill": fill, "first": first, "submitted": submitted, "overhead": overhead}[name]()


def main(points: int = POINTS, seeds: int = SEEDS) -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["WMLAB_HOME"] = f"{folder}/home"
        write_spec(points, seeds)
        count = points * seeds * 4
        print(f"{count} stages, {points} points of {seeds} seeds")
        for name, words in STEPS.items():
            clock = time.monotonic()
            code = f"from wmlab.bench.scale import step; step('{name}')"
            child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            assert status == 0, f"{name} failed"
            took = time.monotonic() - clock
            own = usage.ru_utime + usage.ru_stime
            largest = max(usage.ru_maxrss, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024
            each = f", {took / count * 1000:.2f} ms each" if name == "overhead" else ""
            print(f"{words:<45} {took:7.1f} s ({own:.1f} s of CPU{each}), {largest:6.0f} MiB", flush=True)
