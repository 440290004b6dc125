"""The same from Python, for notebooks: load a spec, plan it, run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import networkx as nx

    from wmlab.app.run_results import RunResults
    from wmlab.graph.study import Study


def load(spec: str | Path | Mapping[str, Any], profile: str | None = None, sets: Sequence[str] = ()) -> Experiment:
    """A sound spec under a profile: the path of a file, YAML text, or a mapping of the same form.

    `sets` are as on the command line: "agent.discount=0.95". Paths in text or a mapping count from the current folder.
    """
    from wmlab.app.given_spec import read_given
    from wmlab.graph.study import study_of

    return Experiment(study_of(read_given(spec), profile, sets))


@dataclass(frozen=True, repr=False)
class Experiment:
    """A spec that can be planned and run."""

    study: Study

    def __repr__(self) -> str:
        return f"<wmlab experiment {title_of(self.study)}: {size_of(self.study)}>"

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
        on: str | None = None,
        points: str | Sequence[str] | None = None,
        budget: str | float | None = None,
    ) -> RunResults:
        """Compute what is not known, write the report, and return what was found.

        A stage may take the time `timeout` ("10m", or seconds) and the memory `memory` ("4GiB", or bytes). `on` names
        a cluster file or an engine, in whose place those limits are. `points` are a part of a sweep, "depth=2,width=*";
        nothing is begun that would not end in the time `budget` ("2h", or seconds).
        """
        import time
        from contextlib import nullcontext

        from wmlab.app.run import run_study
        from wmlab.app.run_results import RunResults
        from wmlab.cluster.file import open_cluster
        from wmlab.errors import UsageError
        from wmlab.graph.chosen import choose_points
        from wmlab.runtime.limits import limits_of, parse_duration
        from wmlab.runtime.progress import show_progress
        from wmlab.runtime.store import Store

        store, limits, cluster = Store(), limits_of(timeout, memory, retries), open_cluster(on)
        seconds = parse_duration(budget) if isinstance(budget, str) else budget
        if seconds is not None and cluster is not None and not cluster.is_local:
            raise UsageError(f"a budget is for stages on this machine, not for jobs on {cluster.engine}")
        until = None if seconds is None else time.monotonic() + seconds
        study = choose_points(self.study, [points] if isinstance(points, str) else points)
        more: dict[str, Any] = {"limits": limits, "cluster": cluster, "until": until}
        with show_progress() if progress else nullcontext() as listener:
            run = run_study(study, store, jobs=jobs, keep_going=keep_going, listener=listener, **more)
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


def title_of(study: Study) -> str:
    """A study's name and profile, on one line."""
    from wmlab.errors import visible

    return visible(f"{study.name} ({study.profile})")


def size_of(study: Study) -> str:
    """How many points, seeds and stages there are; of a suite, how many specs."""
    from wmlab.report.text import plural

    runs = [run for plan in study.plans for run in plan.runs]
    points, seeds = len({id(run.point) for run in runs}), len({run.seed for run in runs})
    parts = [plural(len(study.plans), "spec")] if study.is_suite else []
    return ", ".join([*parts, plural(points, "point"), plural(seeds, "seed"), plural(len(study.stages), "stage")])
