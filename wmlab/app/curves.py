"""Results as arrays over training, and as a data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wmlab.report.data import Results
from wmlab.report.listing import Entry, seeds_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Curve:
    """A metric at each checkpoint of a training; NaN where there is no number."""

    metric: str
    where: Mapping[str, Any]
    steps: np.ndarray  # [T] environment steps; 1, 2, … where nothing counts them
    mean: np.ndarray  # [T] over seeds
    se_over_seeds: np.ndarray  # [T]
    values: np.ndarray  # [seeds, T]


def curves_of(results: Results) -> dict[str, Curve]:
    """Every metric that was followed over training, by its name."""
    steps = results.get("steps") or ()
    entries = (results.get("metrics") or {}).items()
    return {name: _curve(entry, entry.get("steps") or steps) for name, entry in entries if entry.get("curve")}


def _curve(entry: Entry, steps: Sequence[int]) -> Curve:
    columns = entry["curve"]
    mean = _numbers(columns.get("mean") or columns.get("value"))
    length = len(mean)
    errors = _numbers(columns.get("se_over_seeds") or [None] * length)
    rows = [_numbers(row if row is not None else [None] * length) for row in columns.get("values") or ()]
    counted = np.asarray(steps if len(steps) == length else range(1, length + 1))
    return Curve(entry["metric"], entry["where"], counted, mean, errors, np.asarray(rows).reshape(len(rows), length))


def _numbers(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def data_frame(entries: Sequence[Entry], results: Results) -> pd.DataFrame:
    """A row for each metric, point and seed: metric, the axes, seed, value. A relation has no seed."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("frame() needs pandas: pip install 'wmlab[pandas]'") from None
    axes = list(results.get("axes") or ())
    rows: list[tuple[Any, ...]] = []
    for entry in entries:
        where = entry.get("where") or {}
        place = (entry["metric"], *(where.get(axis) for axis in axes))
        values = entry.get("values")
        seeds = [None] if values is None else seeds_of(entry, results)
        rows += [(*place, *pair) for pair in zip(seeds, values or [entry.get("value")], strict=False)]
    frame = pd.DataFrame(rows, columns=["metric", *axes, "seed", "value"])
    return frame.astype({"seed": "Int64", "value": "float64"})
