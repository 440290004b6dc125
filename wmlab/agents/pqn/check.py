"""Mistakes in the meaning of a PQN agent's options."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from wmlab.agents.pqn.options import Limits, Options
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.space import FiniteSpace
from wmlab.limits import HINDSIGHT_STATES, grouped
from wmlab.registry import Finding, Scope


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    """Every mistake that the options hold among themselves, or against the goals."""
    yield from _check_counts(options)
    yield from _check_hindsight(options, scope)
    yield from _check_world(options, scope)
    output = options.network.output
    if isinstance(output, Limits) and output.low >= output.high:
        yield Finding(("network", "output"), f"low ({output.low:g}) is not below high ({output.high:g})")


def _check_world(options: Options, scope: Scope) -> Iterator[Finding]:
    """How states are written, and where episodes start, as far as the state space allows it."""
    encoding, path = options.network.encoding, ("network", "encoding")
    if isinstance(scope.space, FiniteSpace) and encoding == "sincos":
        yield Finding(path, "sincos needs variables that go round in a circle", "say one_hot, raw or normalised")
    if not isinstance(scope.space, ContinuousSpace):
        return
    if encoding == "one_hot":
        yield Finding(path, "one_hot needs finitely many states", "say raw, normalised or sincos")
    if options.starts == "uniform":
        for name in scope.space.endless:
            yield Finding(("starts",), f"uniform over {name}, which has no range", "say reset")


def _check_counts(options: Options) -> Iterator[Finding]:
    per_update = f"({options.envs} envs x {options.rollout} steps)"
    if options.updates < 1:
        yield Finding(
            ("steps",),
            f"{grouped(options.steps)} steps are less than one update {per_update};"
            f" raise it to {grouped(options.envs * options.rollout)}, or lower envs",
        )
    elif options.checkpoints > options.updates:
        updates = "1 update" if options.updates == 1 else f"{options.updates} updates"
        envs = options.steps // (options.rollout * options.checkpoints)
        remedy = f", or envs to {2 ** int(math.log2(envs))}" if envs else ""
        yield Finding(
            ("checkpoints",),
            f"{options.checkpoints} checkpoints from {updates} ({grouped(options.steps)} / {per_update})"
            f"; lower it to {options.updates}{remedy}",
        )
    if options.minibatches < 1:
        yield Finding(
            ("minibatch",), f"{options.minibatch} samples, but a rollout gives {options.samples}; lower it to that"
        )


def _check_hindsight(options: Options, scope: Scope) -> Iterator[Finding]:
    if options.hindsight is None:
        return
    strategy = options.hindsight.strategy
    if options.network.goal == "head":
        goals = _goal_count(scope)
        reason = (
            f"'future' relabels with states reached, but goal: head has only the {goals}"
            if strategy == "future"
            else f"'random' relabels with goals of the set, but goal: head learns all {goals} from every step"
        )
        yield Finding(("hindsight",), f"{reason}; set hindsight: null")
    if options.trace > 0:
        yield Finding(
            ("trace",),
            f"a return over many steps follows one goal, but hindsight '{strategy}' changes it;"
            " set trace: 0, or hindsight: null",
        )
    if options.hindsight.outside == "alike" and options.network.goal == "input":
        yield from _check_alike(strategy, scope)


def _check_alike(strategy: str, scope: Scope) -> Iterator[Finding]:
    """Goals that pay alike: where there are others than those of the set, which would else pay something else."""
    goals, space = scope.goals, scope.space
    why, hint = None, "leave it out"
    if strategy == "random":
        why = "'random' relabels with goals of the set, never with others"
    elif isinstance(space, ContinuousSpace):
        why = "in a continuous world every goal pays alike already"
    elif goals is not None and isinstance(space, FiniteSpace):
        reward = goals.reward
        plain = reward.traits.pays(reward.options) == (1.0, 0.0) and reward.traits.width(reward.options) is None
        if goals.at is None:
            why = f"a reward of kind {reward.name} is drawn or written for its own goals"
        elif plain and not reward.traits.is_noisy(reward.options) and isinstance(goals.terminate, str):
            why = "goals that pay 1 on arrival and have no noise are those of indicator"
        elif space.size > HINDSIGHT_STATES:
            why = f"a table of {grouped(space.size)} goals, one at each state; at most {grouped(HINDSIGHT_STATES)}"
            hint = "say indicator"
    if why is not None:
        yield Finding(("hindsight", "outside"), why, hint)


def _goal_count(scope: Scope) -> str:
    """'4 goals', or 'goals' where the spec does not say how many in so many words."""
    at: Any = None if scope.goals is None else scope.goals.at
    if isinstance(at, Mapping) and isinstance(at.get("first"), int):
        count = at["first"]
    elif isinstance(at, (list, tuple)):
        count = len(at)
    elif at == "all" and hasattr(scope.space, "size"):
        count = scope.space.size
    elif isinstance(at, Mapping):
        count = math.prod(_length(values) for values in at.values())
    else:
        count = 0
    return f"{count} goal{'' if count == 1 else 's'}" if count else "goals"


def _length(values: Any) -> int:
    """How many values one axis of a product of goals has; 0 where that is not plain."""
    if isinstance(values, Mapping):
        linspace = values.get("linspace")
        return linspace[2] if isinstance(linspace, (list, tuple)) and len(linspace) == 3 else 0
    return len(values) if isinstance(values, (list, tuple)) else 1
