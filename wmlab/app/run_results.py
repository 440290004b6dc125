"""What a run found, for Python: numbers, curves, data frames, figures and the arrays of stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wmlab.app.figures import ReportFigure, report_figures
from wmlab.app.run import StudyRun
from wmlab.app.show import beside_each_other
from wmlab.errors import UsageError, suggest, visible
from wmlab.graph.experiment import ExperimentPlan, Run
from wmlab.report.data import Results
from wmlab.report.text import plural
from wmlab.results.names import point_text, same_label
from wmlab.runtime.store import Store

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from wmlab.app.curves import Curve

MOST_LISTED = 12  # places that a message names


@dataclass(frozen=True)
class StageArrays:
    """The arrays that a stage gave at one point, for one seed."""

    where: Mapping[str, Any]
    seed: int
    arrays: Mapping[str, np.ndarray]


@dataclass(frozen=True, repr=False)
class RunResults:
    """What a run found."""

    run: StudyRun
    store: Store

    def __repr__(self) -> str:
        from wmlab.report.claims import claim_rows, tally

        count = tally([row for part in self._parts for row in claim_rows(part)]).sentence
        failed = len(self.run.outcome.failed)
        failures = f" {plural(failed, 'stage')} failed." if failed else ""
        study = self.run.study
        return visible(f"<wmlab results of {study.name} ({study.profile}): {count}{failures} {self.report}>")

    def _repr_html_(self) -> str:
        from wmlab.app.notebook import results_html

        return results_html(self.measured, self.results, self.figures)

    @property
    def results(self) -> Mapping[str, Any]:
        """The content of results.json."""
        return self.run.report.results

    @cached_property
    def measured(self) -> Results:
        """The results with their metrics; those of a suite's specs side by side, along an axis `spec`."""
        report, study = self.run.report, self.run.study
        if not study.is_suite:
            return report.results
        return {**report.results, **beside_each_other(study.name, study.profile, report.members)}

    @property
    def _parts(self) -> Sequence[Results]:
        return (*self.run.report.members, self.run.report.results)

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Metrics by name: `goals=20/wm.mse` with values, mean, standard error and n."""
        metrics: Mapping[str, Any] = self.measured["metrics"]
        return metrics

    @property
    def claims(self) -> Sequence[Mapping[str, Any]]:
        claims: Sequence[Mapping[str, Any]] = self.results["claims"]
        return claims

    @property
    def report(self) -> Path:
        return self.run.report.page

    # --- tables and figures --------------------------------------------------------------------------------------

    @cached_property
    def curves(self) -> Mapping[str, Curve]:
        """What was followed over training, by the names of `metrics`: steps, mean, standard error and values."""
        from wmlab.app.curves import curves_of

        return curves_of(self.measured)

    def frame(self, *metrics: str) -> pd.DataFrame:
        """A data frame with a row for each metric, point and seed; names or patterns ("unseen.*") choose metrics."""
        from wmlab.app.curves import data_frame
        from wmlab.report.listing import chosen_entries

        try:
            entries = chosen_entries(self.measured, metrics, everything=True)
        except UsageError as error:
            raise LookupError(str(error)) from None
        return data_frame(entries, self.measured)

    @property
    def figures(self) -> Mapping[str, ReportFigure]:
        """The figures of the report, by name."""
        return report_figures(self.report.parent)

    def figure(self, name: str) -> ReportFigure:
        """A figure of the report, which a notebook draws; `figures` has all."""
        figures = self.figures
        if name not in figures:
            known = f"there are {', '.join(figures)}" if figures else "its report has no figures"
            raise LookupError(f"there is no figure '{name}'; {suggest(name, figures) or known}")
        return figures[name]

    # --- arrays --------------------------------------------------------------------------------------------------

    def arrays(self, role: str, seed: int | None = None, **where: Any) -> Mapping[str, np.ndarray]:
        """The arrays that one stage gave: `arrays("extract", goals=20)`, `arrays("plan one_unsafe", seed=1)`.

        LookupError, with the points and seeds that there are, where several stages are meant or none is.
        """
        fitting = self._fitting(role, seed, where)
        keys = {self._key(run, role) for _, run in fitting}
        if len(keys) > 1:
            places = [place_text(point, run.seed) for point, run in fitting]
            more = f" and {len(places) - MOST_LISTED} more" if len(places) > MOST_LISTED else ""
            raise LookupError(
                f"'{role}' is there {len(places)} times: {'; '.join(places[:MOST_LISTED])}{more}. Say which, "
                f"as in arrays({example(role, *fitting[0])}), or take them all with all_arrays('{role}')"
            )
        return self.store.load(keys.pop()).arrays

    def all_arrays(self, role: str, seed: int | None = None, **where: Any) -> Iterator[StageArrays]:
        """The arrays of a stage at every point and seed that fits, in the order of the sweep."""
        for point, run in self._fitting(role, seed, where):
            yield StageArrays(point, run.seed, self.store.load(self._key(run, role)).arrays)

    def _key(self, run: Run, role: str) -> str:
        return self.run.study.keys[stages_of(run)[role]].hash

    def _fitting(self, role: str, seed: int | None, where: Mapping[str, Any]) -> list[tuple[dict[str, Any], Run]]:
        """The runs that have a role, at the points and seeds that are meant; LookupError where there are none."""
        runs = [(self._point(plan, run), run) for plan in self.run.study.plans for run in plan.runs]
        roles = sorted({each for _, run in runs for each in stages_of(run)})
        if role not in roles:
            hint = suggest(role, roles) or f"there are {', '.join(roles)}"
            raise LookupError(f"there is no stage '{role}'; {hint}")
        having = [(point, run) for point, run in runs if role in stages_of(run)]
        fitting = [
            (point, run)
            for point, run in having
            if (seed is None or run.seed == seed)
            and all(axis in point and same_label(point[axis], label) for axis, label in where.items())
        ]
        if not fitting:
            places = [place_text(point, run.seed) for point, run in having]
            more = f" and {len(places) - MOST_LISTED} more" if len(places) > MOST_LISTED else ""
            asked = place_text(where, seed)
            raise LookupError(f"'{role}' is not there at {asked}; it is at {'; '.join(places[:MOST_LISTED])}{more}")
        return fitting

    def _point(self, plan: ExperimentPlan, run: Run) -> dict[str, Any]:
        named = {"spec": plan.resolved.name} if self.run.study.is_suite else {}
        return {**named, **run.point.where}


def stages_of(run: Run) -> dict[str, str]:
    """The stages of a run by the words for their roles."""
    return {str(role): stage for role, stage in run.stages.items()}


def place_text(where: Mapping[str, Any], seed: int | None) -> str:
    parts = [point_text(where), f"seed={seed}" if seed is not None else ""]
    return ",".join(part for part in parts if part)


def example(role: str, where: Mapping[str, Any], run: Run) -> str:
    """The arguments that mean one stage."""
    return ", ".join([repr(role), *(f"{axis}={label!r}" for axis, label in where.items()), f"seed={run.seed}"])
