"""Tabular P-learning: gradient descent on the Bellman residual, with P as the unknown.

P <- P - alpha M'(M P - Q) converges to M+ Q + (I - M+ M) P0 for 0 < alpha < 2 / sigma_max^2. Projected on the simplex
after every step it converges to the least-squares kernel in the simplex, which is not the projection of that limit.

Shapes: N = S A pairs, K candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.extraction.finite.problem import Extraction, Guess, candidates, chunks, conclude, first_guess, kernel_of
from wmlab.extraction.options import Common, check_dense
from wmlab.extraction.pseudo_inverse import off_the_simplex
from wmlab.registry import ExtractionTraits, extractions, option

NULL = 1e-9  # a singular value below this share of the largest counts as 0


@dataclass(frozen=True)
class Options(Common):
    """How far to go, and from where."""

    steps: int = option(10_000, doc="The most gradient steps that are taken.", at_least=1)
    step_size: float = option(
        0.5,
        doc="The step size as a fraction of 2 / sigma_max(M)^2: below 1 descent converges, from 1 on it does not.",
        above=0,
        at_most=2,
    )
    projected: bool = option(False, doc="Project each P(s, a) on the simplex after every step.")
    initial: Guess = option(
        "uniform",
        doc="The first guess: uniform over the support, drawn uniformly from the simplex (by the run's seed), "
        "or zero, from which the limit is the pseudo-inverse.",
    )
    tolerance: float = option(
        1e-13, doc="Stop early once a step moves no probability by more than this; 0: take all steps.", at_least=0
    )


@extractions.register(
    "tabular_p_learning",
    Options,
    ExtractionTraits(
        worlds="finite",
        draws=lambda options: options.initial == "random",
        stays_in_simplex=lambda options: options.projected,
        tables=1,
        descends_on_tables=True,
    ),
    check=check_dense,
)
def tabular_p_learning(view: FiniteView, options: Options, seed: int) -> Extraction:
    """Gradient descent on the Bellman residual over tables, projected on the simplex or not."""
    from wmlab.extraction.finite.descent import descend

    allowed = candidates(view)
    guess = first_guess(options.initial, allowed >= 0, seed)
    largest = float(np.linalg.norm(view.backup, ord=2))  # bounds that of every choice of columns
    rate = 2.0 * options.step_size / max(largest, 1e-150) ** 2
    budget = (rate, options.tolerance, options.steps, options.projected)
    taken, moved, off = 0, 0.0, 0.0
    losses = []
    for pairs in chunks(view):
        columns = view.backup if view.support is None else pairs.columns
        left = descend(columns, pairs.valid, pairs.targets, guess[pairs.rows], *budget)
        guess[pairs.rows] = left.table
        losses.append((len(pairs.targets), np.asarray(left.losses)))
        taken, moved = max(taken, int(left.steps)), max(moved, float(left.move))
        off = max(off, may_be_off(float(left.move), columns, pairs.valid, largest, options))
    kernel = kernel_of(view, guess)
    notes = {"steps": taken, "last_move": moved, "settled": moved <= options.tolerance, "may_be_off": off}
    diverged = {"diverged": True} if options.step_size >= 1 and off == 1 else {}
    return conclude(view, kernel, {**notes, **diverged, **off_the_simplex(kernel)}, loss_of_all(losses))


def loss_of_all(losses: list[tuple[int, np.ndarray]]) -> np.ndarray:
    """The loss over all pairs after each block of steps, from that of each chunk of so many pairs: [C].

    A chunk that was over before counts with its last loss; none is left of one that went astray at once.
    """
    known = [(pairs, loss[~np.isnan(loss)]) for pairs, loss in losses]
    known = [(pairs, loss) for pairs, loss in known if len(loss)]
    if not known:
        return np.zeros(0)
    length = max(len(loss) for _, loss in known)
    padded = [np.pad(loss, (0, length - len(loss)), mode="edge") for _, loss in known]
    return np.asarray(np.average(padded, axis=0, weights=[pairs for pairs, _ in known]))


def may_be_off(move: float, columns: np.ndarray, valid: np.ndarray, largest: float, options: Options) -> float:
    """By how much a probability may differ from the limit, at most 1, after a last step that moved none by more.

    Columns [n, R, K] are each pair's own, or [R, K] the same for all; `valid` [n, K]; `largest` is the norm of M. A
    step takes at least 2 step_size sigma² of an error away, where sigma is the least singular value as a share of the
    largest; what is below NULL leaves its direction to the first guess. Projected, only differences of columns count,
    and the bound is that of projected gradients of a strongly convex function.
    """
    if not np.isfinite(move):
        return 1.0
    if columns.ndim == 2:
        columns, valid = columns[None], valid[:1]
    if options.projected:
        columns = columns - ((columns * valid[:, None]).sum(axis=2) / valid.sum(axis=1)[:, None])[..., None]
    sigma = np.linalg.svd(columns * valid[:, None], compute_uv=False) / max(largest, 1e-150)
    least = float(np.where(sigma > NULL, sigma, 1.0).min(initial=1.0))
    slack = 1 + 2 * options.step_size if options.projected else 1.0
    return min(1.0, np.sqrt(valid.shape[1]) * move * slack / (2 * options.step_size * least**2))
