"""design: which goal to add, by what exact values of it would tell; nothing that an agent learnt is looked at.

Shapes: G goals (present ones first), S states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wmlab.agents.exact.values import make_view
from wmlab.core.finite.goals import Goals, Places, make_goals, state_labels
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.places import places
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.core.randomness import generator
from wmlab.extraction.options import candidates_of
from wmlab.identify.design import PresentGoals, certain_returns, mean_widths
from wmlab.identify.guarantee import UncertainWorlds
from wmlab.measure.finite.context import starts_of
from wmlab.measure.guarantees import DesignContext
from wmlab.planning.finite.values import Tasks
from wmlab.registry import build
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.plan import task_of
from wmlab.stages.finite.records import declared_starts, known_world, load_kernel, world_of
from wmlab.stages.params import DesignParams

LISTED = 50  # candidates that a ranking names, the best of them
ALIKE = 1e-9  # candidates that differ by less are worth the same: the first of them comes first


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(DesignParams, params)
    starts = starts_for(asked)
    designers = [Designer.of(asked, world, starts) for world in worlds_for(asked, inputs)]
    labels = designers[0].goals.labels[designers[0].present :]
    total = len(designers) * len(labels)
    worth = [designer.ranked(context, number * len(labels), total) for number, designer in enumerate(designers)]
    mean = np.mean(worth, axis=0)
    now, values = mean[0], mean[1:]
    more = asked.design.by == "guarantee"
    order = np.argsort(np.round((-values if more else values) / ALIKE), kind="stable")
    ranking = {labels[place]: float(values[place]) for place in order[:LISTED]}
    metrics = measure("design", "finite", DesignContext(str(asked.design.by), float(now), ranking), truth=True)
    told = {"by": asked.design.by, "using": asked.design.using, "now": float(now)}
    listed = [[label, worth] for label, worth in ranking.items()]  # in this order
    return Result({"worth": values}, {"metrics": metrics, **told, "ranking": listed, "candidates": list(labels)})


@dataclass(frozen=True, eq=False)
class Designer:
    """A world, its present and possible goals, and what candidates are ranked by."""

    asked: DesignParams
    world: FiniteWorld
    goals: Goals  # the present ones, then the candidates
    present: int
    tasks: Sequence[Tasks]
    starts: np.ndarray | None  # [S], None: each state alike

    @classmethod
    def of(cls, asked: DesignParams, world: FiniteWorld, starts: np.ndarray | None) -> Designer:
        space = world.space
        at = [places(part, space) for part in (asked.goals.at, asked.design.candidates)]
        goals = make_goals(asked.goals.reward, space, joined(at, space), asked.goals.terminate, asked.seed)
        tasks = [task_of(goal, asked.discount, space) for goal in asked.unseen.values() if asked.discount is not None]
        return cls(asked, world, goals, len(at[0]), tasks, starts)

    def view(self, some: slice) -> FiniteView:
        """Exact values of some of the goals."""
        goals = Goals(self.goals.reward[some], self.goals.continues[some], self.goals.labels[some])
        view = make_view(self.asked.agent.options, self.world, goals, self.asked.seed)
        return replace(view, support=candidates_of(self.asked.prior, self.world.space))

    def ranked(self, context: Any, before: int, steps: int) -> np.ndarray:
        """What the present goals are worth by themselves, and then with each candidate: [1 + C].

        So many of all steps of the stage were done before.
        """
        present = PresentGoals.of(self.view(slice(0, self.present)), self.asked.design.slack)
        total, worth = self.goals.count - self.present, [self.worth(present.alone)]
        for start in range(0, total, present.batch):
            context.progress(before + start, steps)
            some = slice(self.present + start, self.present + min(start + present.batch, total))
            worth.append(self.worth(present.with_each(self.view(some), some.stop - some.start)))
        return np.concatenate(worth)

    def worth(self, worlds: UncertainWorlds) -> np.ndarray:
        """What is certain, or how wide it is, in each of the worlds [B]."""
        if self.asked.design.by == "width":
            return mean_widths(worlds)
        return certain_returns(worlds, self.tasks, self.starts)


def joined(at: Sequence[Places], space: FiniteSpace) -> Places:
    """The present goals and those candidates that are not among them."""
    labels = [state_labels(space, each) for each in at]
    new = [place for place, label in enumerate(labels[1]) if label not in set(labels[0])]
    if all(isinstance(each, list) for each in at):
        return [*at[0], *(at[1][place] for place in new)]
    points = [each if isinstance(each, np.ndarray) else space.embedding()[each] for each in at]
    width = max(each.shape[1] for each in points)  # what a state is not called by stays open
    padded = [np.pad(each, ((0, 0), (0, width - each.shape[1])), constant_values=np.nan) for each in points]
    return np.concatenate([padded[0], padded[1][new]])


def starts_for(asked: DesignParams) -> np.ndarray | None:
    """Where returns start, as a distribution [S]: as the spec says, whichever world gives the values."""
    world = known_world(asked)
    return declared_starts(asked.starts, asked.mdp) if world is None else starts_of(asked.starts, world)


def worlds_for(asked: DesignParams, inputs: Mapping[str, Result]) -> list[FiniteWorld]:
    """The worlds whose exact values are taken: the true one, the extracted model as far as it is one, or several."""
    space = asked.mdp.space
    if asked.design.using == "truth":
        return [world_of(asked.agent.world or asked.mdp, asked.seed, asked.files)]
    if asked.design.using == "model":
        kernels = [load_kernel(inputs["model"]).clipped()]
    else:
        support = candidates_of(asked.prior, space)
        assert support is not None  # the check asks for one
        kernels = drawn_kernels(support, len(space.actions), asked.design.worlds, asked.seed)
    return [FiniteWorld(space, kernel, np.full(space.size, 1 / space.size)) for kernel in kernels]


def drawn_kernels(support: np.ndarray, actions: int, count: int, seed: int) -> list[Kernel]:
    """Kernels on a support int [S, K] or [S, A, K], padded with -1: every distribution is as likely as any other."""
    listed = support if support.ndim == 3 else np.repeat(support[:, None], actions, axis=1)
    stream = generator(seed, "worlds that a prior allows")
    weights = stream.exponential(size=(count, *listed.shape)) * (listed >= 0)
    return [Kernel(np.maximum(listed, 0), each / each.sum(axis=-1, keepdims=True)) for each in weights]
