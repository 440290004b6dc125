"""What a claim's statistic is taken of: the runs at one point or at several together, or their differences to others.

Shapes: n points, s seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.results.cases import Case, ClaimContext
from wmlab.results.names import Entries, Where, at_step, failed_seeds, find, part_of, point_text, same_label
from wmlab.results.resampling import Drawing, interval, iqm_of_runs, mean_of_runs, sign_flip_p
from wmlab.results.statistics import interval_over_seeds, mean
from wmlab.sections.spec import Claim

ENDS = {"ci_low": 0, "iqm_ci_low": 0, "ci_high": 1, "iqm_ci_high": 1}


@dataclass(frozen=True)
class Sample:
    """Runs of a case, and why they prove nothing, if so."""

    runs: np.ndarray  # [n, s]; NaN is a seed that gave no number
    reason: str | None = None

    def statistic(self, name: str, seed: int | None = None) -> float | None:
        """A number that is made of the runs; None where there is none."""
        values = [None if math.isnan(value) else float(value) for value in self.runs.ravel()]
        if name == "each_seed":
            return None if seed is None else values[seed]
        if name == "mean":
            return mean(values)
        if name == "iqm":
            return _number(iqm_of_runs(self.runs[None, None])[0])
        if name == "p_value":
            return sign_flip_p(self.runs.ravel())
        return _end(self._interval(name), ENDS[name])

    def _interval(self, name: str) -> tuple[float, float] | None:
        """Student's for the mean at one point; else from seeds that are drawn again within each point."""
        if self.runs.shape[1] < 2:
            return None
        if name.startswith("iqm"):
            return interval(self.runs[None], iqm_of_runs, Drawing("seeds"))
        if len(self.runs) > 1:
            return interval(self.runs[None], mean_of_runs, Drawing("seeds"))
        return interval_over_seeds([None if math.isnan(value) else float(value) for value in self.runs[0]])


def sample_of(claim: Claim, case: Case, metrics: Entries, context: ClaimContext) -> Sample:
    """The runs that a claim speaks of in a case; with a difference, less those that it is held against."""
    rows, reasons = [], []
    for where in case.points:
        row, reason = _row(claim.metric, where, case, metrics, context)
        if claim.difference is not None:
            there = spelt({**where, **claim.difference.to}, context)
            other, missing = _row(claim.metric, there, case, metrics, context)
            row, reason = row - other, reason or missing
        rows.append(row)
        reasons += [reason] if reason else []
    return Sample(np.array(rows), reasons[0] if reasons else None)


def _row(
    metric: str, where: Where, case: Case, metrics: Entries, context: ClaimContext
) -> tuple[np.ndarray, str | None]:
    """A metric's values [s] at a point, and what is missing of them."""
    entry = find(metrics, metric, where)
    nothing = np.full(len(context.seeds), math.nan)
    at = f" at {point_text(where)}" if where else ""
    if case.part is not None:
        metric = f"{metric} of {' '.join(case.part)}"
    part = None if entry is None else part_of(entry, case.part)
    if part is None:
        return nothing, f"no value of {metric}{at}"
    read = at_step(part, case.step)
    if read is None:
        return nothing, f"{metric}{at} has no checkpoint '{case.step}'"
    failed = failed_seeds(read)
    return values_of(read), f"{failed} of {len(read['values'])} seeds gave no {metric}{at}" if failed else None


def values_of(read: Mapping[str, Any]) -> np.ndarray:
    """The values [s] of a result; NaN for a seed that gave none."""
    values: Sequence[float | None] = read.get("values", ())
    return np.array([math.nan if value is None else value for value in values], float)


def spelt(where: Where, context: ClaimContext) -> Where:
    """A point as the experiment spells its labels: 20, where a claim may say "20"."""
    same = (point for point in context.points if all(same_label(point[axis], where.get(axis)) for axis in point))
    return next(same, where)


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _end(ends: tuple[float, float] | None, which: int) -> float | None:
    return None if ends is None else ends[which]
