"""Local worlds whose support is not known: of all supports of N states, the one that fits best.

Every choice of N candidates is tried, so this is for small worlds. With generic rewards 2 N - 1 goals single out one
kernel (a known support needs N - 1).

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, K candidates, C choices of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.errors import StageError
from wmlab.extraction.finite.problem import Extraction, Pairs, candidates, chunks, conclude, kernel_of
from wmlab.extraction.lp import solve
from wmlab.extraction.options import Common, check_common
from wmlab.registry import ExtractionTraits, Finding, Scope, always, extractions, option

MOST = 5_000  # choices of candidates that are tried: 30 states and supports of 3 give 4 060
TIE = 1e-9  # residuals this near to the least, relative to the spread of M and but for rounding, are equal
APART = 1e-6  # kernels further apart than this, in any probability, are different ones


@dataclass(frozen=True)
class Options(Common):
    """How many successors a state may have."""

    size: int = option(2, doc="The most successors that a state and an action may have.", at_least=1, at_most=3)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    """Also: not more choices of successors than can be tried."""
    yield from check_common(options, scope)
    known = options.prior is not None and options.prior.support is not None
    if scope.space is not None and not known and math.comb(scope.space.size, options.size) > MOST:
        message = f"{math.comb(scope.space.size, options.size)} choices of {options.size} of {scope.space.size} states"
        yield Finding(("size",), f"{message} are too many to try; at most {MOST}", "declare prior.support, or use lp")


@extractions.register(
    "sparse_lp",
    Options,
    ExtractionTraits(
        worlds="finite",
        model_is_deterministic=lambda options: options.size == 1,
        stays_in_simplex=always,
        sparse_support=lambda options: options.size,
    ),
    check=check,
)
def sparse_lp(view: FiniteView, options: Options, seed: int) -> Extraction:
    """The kernel with at most so many successors that has the least l1 residual, by trying all choices of them."""
    width = candidates(view).shape[1]
    size = min(options.size, width)
    if math.comb(width, size) > MOST:
        raise StageError(f"{math.comb(width, size)} choices of {size} of {width} candidates are too many to try")
    choices = np.array(list(itertools.combinations(range(width), size)))  # [C, size]
    weights = np.zeros((view.q.shape[1] * view.q.shape[2], width))
    rivals = 0
    budget = max(1, 2_000_000 // len(choices))
    for pairs in chunks(view, budget):
        weights[pairs.rows], others = _best_choice(pairs, choices)
        rivals += others
    return conclude(view, kernel_of(view, weights), {"pairs_with_another_kernel": rivals})


def _best_choice(pairs: Pairs, choices: np.ndarray) -> tuple[np.ndarray, int]:
    """The weights [n, K] of the first best choice, and at how many pairs a different kernel fits as well."""
    count, rows, width = pairs.columns.shape
    some = Pairs(
        pairs.rows,
        np.ascontiguousarray(np.swapaxes(pairs.columns[:, :, choices], 1, 2)).reshape(-1, rows, choices.shape[1]),
        pairs.valid[:, choices].reshape(-1, choices.shape[1]),
        np.repeat(pairs.targets, len(choices), axis=0),
    )
    real = some.valid.any(axis=1)
    some.valid[~real, 0] = True  # nothing but padding: solved for the sake of shape, never chosen
    fit, _ = solve(some)
    residual = np.where(real, fit.residual, np.inf).reshape(count, len(choices))
    near = residual <= (residual.min(axis=1) + TIE * pairs.spread + pairs.rounding)[:, None]
    table = np.zeros((count, len(choices), width))
    np.put_along_axis(
        table, np.broadcast_to(choices, (count, *choices.shape)), fit.weights.reshape(count, *choices.shape), axis=2
    )
    best = table[np.arange(count), near.argmax(axis=1)]
    different = (np.abs(table - best[:, None]).max(axis=2) > APART) & near
    return best, int(different.any(axis=1).sum())
