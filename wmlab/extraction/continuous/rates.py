"""Rates that are found: a first reading says which variables move as others say, and a second holds them to it.

The first looks one step ahead, a fraction of the time of a long horizon. Where more than half of what a variable does
is one number times what another one is next, that one is taken for its rate. The first reading has such motion with the
errors of every state; the second has it with one number's.

Shapes: n predictions, d variables.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wmlab.core.continuous.view import ContinuousView, Frame
from wmlab.core.randomness import jax_key
from wmlab.core.training import Hooks
from wmlab.extraction.continuous.fit import NeuralExtraction, held_out, successors
from wmlab.extraction.continuous.models import WorldModel
from wmlab.extraction.continuous.options import FOUND, FitOptions

LEAST_SHARE = 0.5  # of a variable's motion, that its rate explains
FOUND_RATES = "found rates"  # among partial results of the second reading: columns of variables and of their rates

Read = Callable[..., NeuralExtraction]  # (view, options, seed, **hooks)


def read_with_rates(read: Read, view: ContinuousView, options: FitOptions, seed: int, **hooks: Any) -> NeuralExtraction:
    """What `read` makes of an agent; where rates are to be found, a first reading finds them for it."""
    if options.model.rates != FOUND:
        return read(view, options, seed, **hooks)
    whole, total, names = Hooks(**hooks), 2 * options.steps, view.frame.names
    resumed = whole.resume is not None and FOUND_RATES in whole.resume
    if resumed:
        assert whole.resume is not None
        pairs = [(int(column), int(rate)) for column, rate in whole.resume[FOUND_RATES]]
    else:
        ahead = dataclasses.replace(with_rates(options, {}), horizon=1)
        first = read(view, ahead, seed, **whole.part(0, total))
        pairs = rates_in(*predictions(view, first.model, seed), view.frame)
    rates = {names[column]: names[rate] for column, rate in pairs}
    kept = {FOUND_RATES: np.array(pairs, np.int32).reshape(-1, 2)}
    second = read(view, with_rates(options, rates), seed, **whole.part(options.steps, total, kept, resumed))
    return dataclasses.replace(second, notes={**second.notes, "rates": rates})


def with_rates(options: FitOptions, rates: Mapping[str, str]) -> Any:
    """The same options, with these rates said beforehand."""
    return dataclasses.replace(options, model=dataclasses.replace(options.model, rates=dict(rates)))


def predictions(view: ContinuousView, model: WorldModel, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How a model moves held-out states under every action, and where to: each [n, d], in units of the ranges."""
    states = held_out(view, seed)
    after = successors(view, model, states, jax_key(seed, "draws at held-out states"), 1)[0]  # [N, A, d]
    moved = view.frame.difference(after, states[:, None])
    rows, span = (-1, view.frame.size), np.asarray(view.frame.span)
    return np.asarray(moved, np.float64).reshape(rows) / span, np.asarray(after, np.float64).reshape(rows) / span


def rates_in(moved: np.ndarray, after: np.ndarray, frame: Frame) -> list[tuple[int, int]]:
    """Columns of variables and of their rates, in states that move by [n, d] to [n, d]; the plainest first.

    An angle is nobody's rate, for where it is cut is convention; and no rate has a rate of its own.
    """
    explained = share_explained(moved, after)
    explained[:, [edge == "wrap" for edge in frame.edges]] = 0.0
    np.fill_diagonal(explained, 0.0)
    pairs: list[tuple[int, int]] = []
    for place in np.argsort(-explained, axis=None, kind="stable"):
        column, rate = (int(part) for part in np.unravel_index(place, explained.shape))
        driven, driving = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        if explained[column, rate] > LEAST_SHARE and column not in driven | driving and rate not in driven:
            pairs.append((column, rate))
    return sorted(pairs)


def share_explained(moved: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How much of the variance of each variable's motion one number times another's next value explains: [d, d]."""
    products, sizes = moved.T @ after, (after**2).sum(axis=0)
    number = np.divide(products, sizes, out=np.zeros_like(products), where=sizes > 0)  # [d, d]
    left = (moved**2).sum(axis=0)[:, None] - number * products
    variance = ((moved - moved.mean(axis=0)) ** 2).sum(axis=0)[:, None]
    return 1.0 - np.divide(left, variance, out=np.ones_like(left), where=variance > 0)
