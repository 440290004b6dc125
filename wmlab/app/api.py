"""The same from Python, for notebooks: load a spec, plan it, run it, and get arrays and plain records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np

    from wmlab.app.run import StudyRun
    from wmlab.graph.study import Study
    from wmlab.runtime.store import Store


def load(path: str | Path, profile: str | None = None, sets: Sequence[str] = ()) -> Experiment:
    """A sound spec under a profile; `sets` are as on the command line: "agent.discount=0.95"."""
    from wmlab.graph.study import open_study

    return Experiment(open_study(str(path), profile, sets))


@dataclass(frozen=True)
class Experiment:
    """A spec that can be planned and run."""

    study: Study

    @property
    def data(self) -> list[dict[str, Any]]:
        """What the spec says at each point of the study, every default filled in."""
        return [{"where": point.where, **point.data} for plan in self.study.plans for point in plan.resolved.points]

    def plan(self) -> nx.DiGraph:
        """The graph of stages; each node has `stage`, and `reason`: cached, or why it would run."""
        import networkx as nx  # a plan is drawn and run without it

        from wmlab.runtime.store import Store

        graph = nx.DiGraph()
        reasons = self.study.reasons(Store())
        for stage_id, stage in self.study.stages.items():
            graph.add_node(stage_id, stage=stage, reason=reasons[stage_id])
            graph.add_edges_from((source, stage_id) for source in stage.inputs.values())
        return graph

    def run(
        self,
        jobs: int | None = None,
        keep_going: bool = False,
        progress: bool = True,
        timeout: str | float | None = None,
        memory: str | int | None = None,
        retries: int = 1,
    ) -> RunResults:
        """Compute what is not known, write the report, and return what was found.

        A stage may take the time `timeout` ("10m", or seconds) and the memory `memory` ("4GiB", or bytes).
        """
        from contextlib import nullcontext

        from wmlab.app.run import run_study
        from wmlab.runtime.limits import limits_of
        from wmlab.runtime.progress import show_progress
        from wmlab.runtime.store import Store

        store, limits = Store(), limits_of(timeout, memory, retries)
        with show_progress() if progress else nullcontext() as listener:
            run = run_study(self.study, store, jobs=jobs, keep_going=keep_going, limits=limits, listener=listener)
        return RunResults(run, store)

    def export(
        self,
        output: str | Path | None = None,
        format: Literal["safetensors", "npz"] = "safetensors",
        dtype: str | None = None,
    ) -> Sequence[Path]:
        """Write values, policy and model of what was run before; the folder of each point and seed is returned."""
        from wmlab.app.export import export_study
        from wmlab.runtime.store import Store

        return export_study(self.study, Store(), Path(output) if output else None, format, dtype).folders


@dataclass(frozen=True)
class RunResults:
    """What a run found."""

    run: StudyRun
    store: Store

    @property
    def results(self) -> Mapping[str, Any]:
        """The content of results.json."""
        return self.run.report.results

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Metrics by name: `goals=20/wm.mse` with values, mean, standard error and n."""
        metrics: Mapping[str, Any] = self.results["metrics"]
        return metrics

    @property
    def claims(self) -> Sequence[Mapping[str, Any]]:
        claims: Sequence[Mapping[str, Any]] = self.results["claims"]
        return claims

    @property
    def report(self) -> Path:
        return self.run.report.page

    def arrays(self, role: str, seed: int | None = None, **where: Any) -> Mapping[str, np.ndarray]:
        """The arrays that a stage gave: `arrays("extract", goals=20)`, `arrays("plan one_unsafe", seed=1)`."""
        study = self.run.study
        runs = [run for plan in study.plans for run in plan.runs]
        for run in runs:
            if (seed is None or run.seed == seed) and where.items() <= run.point.where.items():
                stages = {str(each): stage for each, stage in run.stages.items()}
                if role in stages:
                    return self.store.load(study.keys[stages[role]]).arrays
        roles = sorted({str(each) for run in runs for each in run.stages})
        raise LookupError(f"no stage '{role}' at {where or 'any point'}, seed {seed}; roles: {', '.join(roles)}")
