"""What few runs can bear: intervals by drawing runs again, and a test by flipping signs.

Draws of seeds are made within each point, so that every point keeps its weight (a stratified bootstrap).

Shapes: k quantities, n points, s seeds, b resamples. NaN is a seed that gave no number: it is drawn nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wmlab.core.randomness import generator

Resample = Literal["points", "seeds", "both"]
Method = Literal["percentile", "bca"]
Taken = Callable[[np.ndarray], np.ndarray]  # of runs [k, b, n, s]: [b]; NaN where it is not defined

NUMBERS = 8_000_000  # of runs that are drawn at once
EXACT = 2**14  # sign flips: all of them where there are no more


@dataclass(frozen=True)
class Drawing:
    """How an interval is drawn."""

    resample: Resample = "seeds"
    method: Method = "percentile"
    resamples: int = 2_000
    level: float = 0.95
    seed: int = 0


def interval(runs: np.ndarray, statistic: Taken, drawing: Drawing) -> tuple[float, float] | None:
    """The interval of a statistic of runs [k, n, s].

    Draws in which it is not defined (all points equal, say) are left out; None when fewer than half are left.
    """
    estimate = float(statistic(runs[:, None])[0])
    if not np.isfinite(estimate) or (drawing.resample == "points" and runs.shape[1] < 2):
        return None
    drawn = np.concatenate([statistic(some) for some in draws(runs, drawing)])
    drawn = drawn[np.isfinite(drawn)]
    if 2 * drawn.size < drawing.resamples:
        return None
    ends = np.array([(1 - drawing.level) / 2, (1 + drawing.level) / 2])
    if drawing.method == "bca":
        ends = accelerated(ends, drawn, estimate, left_out(runs, statistic, drawing.resample))
    low, high = np.quantile(drawn, ends)
    return float(low), float(high)


def draws(runs: np.ndarray, drawing: Drawing) -> Iterator[np.ndarray]:
    """Runs [k, n, s] drawn again with replacement, some at a time: [k, b, n, s]."""
    _, points, seeds = runs.shape
    rng, count = generator(drawing.seed, f"bootstrap over {drawing.resample}"), drawing.resamples
    step = max(1, NUMBERS // max(1, runs.size))
    chosen = None
    if drawing.resample != "seeds":
        chosen = rng.integers(points, size=(count, points))
    present = np.isfinite(runs).all(axis=0)  # [n, s]
    order = np.argsort(~present, axis=-1, kind="stable")  # those that gave numbers first
    sorted_runs = np.take_along_axis(np.where(present, runs, np.nan), order[None], axis=-1)
    for start in range(0, count, step):
        size = min(step, count - start)
        if chosen is None:
            drawn = np.broadcast_to(sorted_runs[:, None], (len(runs), size, points, seeds))
            left = np.broadcast_to(present.sum(axis=-1), (size, points))
        else:
            which = chosen[start : start + size]
            drawn, left = sorted_runs[:, which], present.sum(axis=-1)[which]
        if drawing.resample != "points":
            place = (rng.random((size, points, seeds)) * left[..., None]).astype(np.int64)
            again = np.take_along_axis(drawn, place[None], axis=-1)
            drawn = np.where(np.arange(seeds) < left[..., None], again, np.nan)
        yield drawn


def left_out(runs: np.ndarray, statistic: Taken, resample: Resample) -> np.ndarray:
    """The statistic with each point, or each run of a point, left out in turn."""
    _, points, seeds = runs.shape
    units = points * seeds if resample == "seeds" else points
    step = max(1, NUMBERS // max(1, runs.size))
    values = []
    for start in range(0, units, step):
        which = np.arange(start, min(start + step, units))
        if resample == "seeds":
            some = np.broadcast_to(runs[:, None], (len(runs), len(which), points, seeds)).copy()
            some[:, np.arange(len(which)), which // seeds, which % seeds] = np.nan
        else:
            rest = np.arange(points - 1)
            some = runs[:, rest + (rest >= which[:, None])]
        values.append(statistic(some))
    without = np.concatenate(values)
    return without[np.isfinite(without)]


def accelerated(ends: np.ndarray, drawn: np.ndarray, estimate: float, without: np.ndarray) -> np.ndarray:
    """Ends [2] of a percentile interval, corrected for bias and acceleration (Efron's BCa)."""
    from scipy.special import ndtr, ndtri

    below = ((drawn < estimate).mean() + (drawn <= estimate).mean()) / 2
    edge = 1 / (2 * drawn.size)
    bias = ndtri(np.clip(below, edge, 1 - edge))
    apart = without.mean() - without if without.size else np.zeros(1)
    spread = float((apart**2).sum())
    bend = float((apart**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
    reach = bias + ndtri(ends)
    return np.asarray(ndtr(bias + reach / (1 - bend * reach)))


# --- statistics of runs -----------------------------------------------------------------------------------------


def mean_of_runs(runs: np.ndarray) -> np.ndarray:
    """The mean over all runs [1, b, n, s]: [b]."""
    return np.asarray(np.nanmean(runs[0], axis=(-2, -1)))


def iqm_of_runs(runs: np.ndarray) -> np.ndarray:
    """The inter-quartile mean over all runs [1, b, n, s], without the lowest and the highest quarter: [b]."""
    flat = np.sort(runs[0].reshape(runs.shape[1], -1), axis=-1)  # NaN comes last
    count = np.isfinite(flat).sum(axis=-1, keepdims=True)
    cut, place = count // 4, np.arange(flat.shape[-1])
    kept = (place >= cut) & (place < count - cut)
    with np.errstate(invalid="ignore"):
        return np.where(kept, flat, 0.0).sum(axis=-1) / kept.sum(axis=-1)


def of_means(statistic: Callable[..., np.ndarray]) -> Taken:
    """A statistic across points, of means over their seeds: of runs [k, b, n, s]; it takes k arrays [b, n]."""
    return lambda runs: np.asarray(statistic(*np.nanmean(runs, axis=-1)))


def sign_flip_p(differences: np.ndarray, seed: int = 0) -> float | None:
    """How often differences [m] of pairs would be as large by chance, two-sided, were each as likely the other way.

    All flips are tried where they are few, and as many drawn where they are not. None for fewer than two.
    """
    from scipy.stats import permutation_test

    present = differences[np.isfinite(differences)]
    if present.size < 2:
        return None
    test = permutation_test(
        (present,),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=EXACT,
        rng=generator(seed, "sign flips"),
    )
    return float(test.pvalue)
