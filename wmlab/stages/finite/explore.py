"""explore: what a page lets one look at, state by state: the model beside the truth, values, and what stays open.

Shapes: S states, A actions, R rows (goal x discount x policy), K candidates, L successors of any side, N of them that
are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.extraction.options import candidates_of
from wmlab.identify.rank import freedom
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.sections.experiment import UnseenGoal
from wmlab.stages.finite.plan import task_of
from wmlab.stages.finite.records import known_world, load_kernel, load_view, row_labels
from wmlab.stages.params import ExploreParams

Arrays = dict[str, np.ndarray]


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(ExploreParams, params)
    space, world = asked.mdp.space, known_world(asked)
    view = load_view(inputs["agent"], space, candidates_of(asked.prior, space))
    model = load_kernel(inputs["model"]) if "model" in inputs else None
    truth = None if world is None else world.kernel
    arrays = next_states(view, model, truth, inputs.get("identify"), asked.explore.successors)
    arrays |= values(view, asked.explore.goals)
    arrays["nullity"] = freedom(view)
    if "visits" in inputs["agent"].arrays:
        arrays["visits"] = inputs["agent"].arrays["visits"]
    if model is not None:
        arrays["residual"] = inputs["model"].arrays["residual"].astype(np.float32)
        arrays |= plans(asked.unseen, asked.discount, space, inputs, model, truth)
    labels = row_labels(inputs["agent"], view) or [f"row {row}" for row in range(view.rows)]
    kept = labels[: asked.explore.goals]
    return Result(arrays, {"goals": kept, "goals_left_out": view.rows - len(kept), "unseen": list(asked.unseen)})


def values(view: FiniteView, goals: int) -> Arrays:
    """Q [R, S, A] and V [R, S] of the first goals, as far as they are kept."""
    return {"q": view.q[:goals].astype(np.float32), "v": view.value[:goals].astype(np.float32)}


def next_states(
    view: FiniteView, model: Kernel | None, truth: Kernel | None, identified: Result | None, most: int
) -> Arrays:
    """The likeliest next states [S, A, N] of every side, each with what every side says of it; -1 for none.

    `left_out` [S, A] counts those that are not kept, and `tv` [S, A] is taken over all of them.
    """
    shape = view.q.shape[1:]
    sides: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # successors and a number for each, [S, A, k]
    for name, kernel in (("model", model), ("truth", truth)):
        if kernel is not None:
            sides[name] = (kernel.successors, kernel.probabilities)
    if identified is not None and "low" in identified.arrays:
        found = identified.arrays
        allowed = np.broadcast_to(found["candidates"].reshape(*shape, -1), found["low"].shape)
        sides |= {name: (allowed, np.where(allowed < 0, 0.0, found[name])) for name in ("low", "high")}
    successors, numbers = side_by_side(sides, shape)
    arrays: Arrays = {}
    if "model" in numbers and "truth" in numbers:
        arrays["tv"] = (np.abs(numbers["model"] - numbers["truth"]).sum(axis=-1) / 2).astype(np.float32)
    weight = np.max([np.abs(numbers[name]) for name in numbers if name != "low"], axis=0, initial=0.0)
    weight = np.where(successors < 0, -1.0, weight)
    order = np.argsort(-weight, axis=-1, kind="stable")[..., :most]
    kept = np.take_along_axis(weight, order, axis=-1) > 0
    arrays["left_out"] = ((weight > 0).sum(axis=-1) - kept.sum(axis=-1)).astype(np.int32)
    width = max(1, int(kept.sum(axis=-1).max(initial=0)))
    take = {name: np.take_along_axis(each, order, axis=-1)[..., :width] for name, each in numbers.items()}
    kept, after = kept[..., :width], np.take_along_axis(successors, order, axis=-1)[..., :width]
    arrays["next"] = np.where(kept, after, -1).astype(np.int32)
    return arrays | {name: np.where(kept, each, 0.0).astype(np.float32) for name, each in take.items()}


def side_by_side(
    sides: Mapping[str, tuple[np.ndarray, np.ndarray]], shape: tuple[int, ...]
) -> tuple[np.ndarray, Arrays]:
    """Successors [S, A, L] of all sides, each once in a pair and -1 elsewhere, and what each side has for it."""
    if not sides:
        return np.full((*shape, 1), -1), {}
    lists = [np.asarray(states) for states, _ in sides.values()]
    everyone = np.concatenate(lists, axis=-1)  # [S, A, L]
    order = np.argsort(everyone, axis=-1, kind="stable")
    states = np.take_along_axis(everyone, order, axis=-1)
    first = np.concatenate([np.ones_like(states[..., :1], bool), states[..., 1:] != states[..., :-1]], axis=-1)
    groups = np.cumsum(first) - 1  # the run of equal successors that each entry belongs to
    begins = np.cumsum([0, *(each.shape[-1] for each in lists)])
    numbers = {}
    for (name, (_, given)), begin in zip(sides.items(), begins[:-1], strict=True):
        wide = np.zeros(everyone.shape)
        wide[..., begin : begin + given.shape[-1]] = given
        own = np.take_along_axis(wide, order, axis=-1).ravel()
        totals = np.bincount(groups, own)[groups].reshape(states.shape)
        numbers[name] = np.where(first & (states >= 0), totals, 0.0)
    return np.where(first, states, -1), numbers


def plans(
    unseen: Mapping[str, UnseenGoal],
    discount: float | None,
    space: FiniteSpace,
    inputs: Mapping[str, Result],
    model: Kernel,
    truth: Kernel | None,
) -> Arrays:
    """For each unseen goal the values [S] that the model promises and the best there are, and a best step for each."""
    arrays: Arrays = {}
    for name, goal in unseen.items():
        task = task_of(goal, float(discount or 0.0), space)
        for side, kernel in (("plan", model), ("oracle", truth)):
            found = inputs.get(f"{side} {name}")
            if found is None or kernel is None:
                continue
            value = np.asarray(found.arrays["value"])
            worth = task.reward[0] + task.discounts[0] * task.continues[0] * value
            arrays[f"{side}/{name}/value"] = value.astype(np.float32)
            arrays[f"{side}/{name}/step"] = kernel.clipped().expect(worth).argmax(axis=-1).astype(np.int32)
    return arrays
