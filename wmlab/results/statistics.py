"""Statistics, each by its own name: over the seeds of a point, and across the points of a sweep.

A value of None is a seed that gave no number: it is in no mean and not counted in n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.registry.metrics import Blank, Measurement, Metric

PerSeed = Sequence[float | None]
PAIRS = 4_000_000  # of points that are compared at once
ROUNDING = 1e-12  # what a correlation of 1 leaves of the variance


# --- over seeds ------------------------------------------------------------------------------------------------


def count(values: PerSeed) -> int:
    """n: how many values there are, failed ones apart."""
    return sum(value is not None for value in values)


def mean(values: PerSeed) -> float | None:
    """The mean of the values that are there; None when there are none."""
    present = [float(value) for value in values if value is not None]
    if not present:
        return None
    # Taken from the first value: the mean of equal values is that value to the last bit, and a bound may equal it.
    first = present[0]
    centre = first + _total(value - first for value in present) / len(present)
    if not math.isfinite(centre):  # differences near the largest float: exact fractions are slow, and right
        import statistics  # it brings much along, and is hardly ever needed

        return _finite(statistics.mean(present)) if all(map(math.isfinite, present)) else None
    return min(max(centre, min(present)), max(present))


def se_over_seeds(values: PerSeed) -> float | None:
    """The standard error of the mean over seeds (n - 1 in the variance); None for fewer than two."""
    present = [float(value) for value in values if value is not None]
    centre = mean(present)
    if len(present) < 2 or centre is None:
        return None
    n, deviations = len(present), [value - centre for value in present]
    # Scaled by the largest deviation, so that squaring neither overflows nor sinks to zero.
    scale = max(abs(deviation) for deviation in deviations)
    if scale == 0 or not math.isfinite(scale):
        return _finite(scale)
    return _finite(scale * math.sqrt(_total((deviation / scale) ** 2 for deviation in deviations) / (n - 1) / n))


def interval_over_seeds(values: PerSeed, level: float = 0.95) -> tuple[float, float] | None:
    """Student's confidence interval of the mean over seeds; None for fewer than two."""
    centre, error = mean(values), se_over_seeds(values)
    if centre is None or error is None:
        return None
    from scipy.special import stdtrit

    reach = float(stdtrit(count(values) - 1, (1 + level) / 2)) * error
    return centre - reach, centre + reach


def interval_of_difference(one: PerSeed, other: PerSeed, level: float = 0.95) -> tuple[float, float] | None:
    """Welch's confidence interval of how much greater the mean of `other` is; None where a side has fewer than two.

    Seeds count as independent: that two sides share some is not used.
    """
    centres, errors = (mean(one), mean(other)), (se_over_seeds(one), se_over_seeds(other))
    if None in centres or None in errors:
        return None
    squares = [float(error or 0.0) ** 2 for error in errors]
    centre, spread = float(centres[1] or 0.0) - float(centres[0] or 0.0), math.sqrt(sum(squares))
    if spread == 0 or not math.isfinite(spread):
        return (centre, centre) if spread == 0 else None
    from scipy.special import stdtrit

    parts = (square**2 / (count(side) - 1) for square, side in zip(squares, (one, other), strict=True))
    reach = float(stdtrit(sum(squares) ** 2 / sum(parts), (1 + level) / 2)) * spread
    return centre - reach, centre + reach


def over_seeds(values: PerSeed) -> dict[str, Any]:
    """Mean, standard error and n, under the names that results carry."""
    return {"mean": mean(values), "se_over_seeds": se_over_seeds(values), "n": count(values)}


def _total(terms: Any) -> float:
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):  # finite terms whose sum is not
        return math.nan


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# --- across points ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statistic:
    """A number that relates two quantities across points, and what kind of number it is."""

    kind: str
    of: Callable[[np.ndarray, np.ndarray], np.ndarray]  # x, y [..., n] -> [...]; NaN where it is not defined


def slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The slope of the least-squares line of y over x."""
    dx, dy = _centred(x), _centred(y)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return np.where(_constant(x), np.nan, (dx * dy).sum(-1) / (dx * dx).sum(-1))


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The linear correlation of x and y."""
    dx, dy = _unit(_centred(x)), _unit(_centred(y))
    return np.where(_constant(x) | _constant(y), np.nan, np.clip((dx * dy).sum(-1), -1.0, 1.0))


def spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The correlation of the ranks of x and y; ties share their mean rank."""
    from scipy.stats import rankdata

    return pearson(rankdata(x, axis=-1), rankdata(y, axis=-1))


def kendall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Kendall's tau-b: agreeing less disagreeing pairs of points, over the pairs that are tied in neither."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    x, y = (np.broadcast_to(part, shape).reshape(-1, shape[-1]) for part in (x, y))
    taus = np.empty(len(x))
    step = max(1, PAIRS // shape[-1] ** 2)
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        one, two = (np.sign(part[rows, :, None] - part[rows, None, :]) for part in (x, y))  # [rows, n, n]
        agree, first, second = ((a * b).sum(axis=(1, 2)) for a, b in ((one, two), (one, one), (two, two)))
        with np.errstate(invalid="ignore", divide="ignore"):
            taus[rows] = agree / np.sqrt(first * second)
    return taus.reshape(shape[:-1])


def loglog_slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The exponent b of y = c·x^b, by least squares on logarithms; not defined unless all are positive."""
    with np.errstate(invalid="ignore", divide="ignore"):
        positive = (x > 0).all(-1) & (y > 0).all(-1)
        return np.where(positive, slope(np.log(x), np.log(y)), np.nan)


def partial(statistic: Statistic, x: np.ndarray, y: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """The correlation of x and y where `fixed` is held fixed; not defined where one of them follows from it."""
    xy, xz, yz = statistic.of(x, y), statistic.of(x, fixed), statistic.of(y, fixed)
    left = (1 - xz**2) * (1 - yz**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.clip((xy - xz * yz) / np.sqrt(left), -1.0, 1.0)
    return np.where(left > ROUNDING, value, np.nan)


STATISTICS: Mapping[str, Statistic] = {
    "spearman": Statistic("rank_correlation_across_points", spearman),
    "pearson": Statistic("linear_correlation_across_points", pearson),
    "kendall": Statistic("pair_correlation_across_points", kendall),
    "slope": Statistic("least_squares_slope_across_points", slope),
    "loglog_slope": Statistic("least_squares_slope_of_logarithms_across_points", loglog_slope),
}


RELATION = Measurement(
    Metric(
        "relate.<name>.<statistic>",
        doc="<statistic> of <name>, across the points of a sweep",
        headline="always",
    ),
    asked_by="relate.<name>.statistics.<statistic>",
    stage="",
    name=Blank("two metrics or axes"),
    statistic=Blank("a correlation or slope"),
)


def _centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean(-1, keepdims=True)


def _unit(x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = x / np.abs(x).max(-1, keepdims=True)  # first to [-1, 1]: squares of tiny errors would vanish
        return scaled / np.sqrt((scaled * scaled).sum(-1, keepdims=True))


def _constant(x: np.ndarray) -> np.ndarray:
    return x.max(-1) == x.min(-1)
