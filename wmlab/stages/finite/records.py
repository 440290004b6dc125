"""Between stored arrays and the records of finite worlds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.finite.goals import Goals, make_goals
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.places import places
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.errors import StageError
from wmlab.registry import WorldChoice
from wmlab.runtime.result import Result
from wmlab.sections.experiment import GoalsSection
from wmlab.stages.kernel_files import read_rows
from wmlab.stages.params import Files, StageParams

VIEW = ("q", "policy", "reward", "continues", "discount")


def known_world(asked: StageParams) -> FiniteWorld | None:
    """The world that a stage is about, where it is known what actions do."""
    return world_of(asked.mdp, asked.seed, asked.files) if asked.mdp.knows_truth else None


def world_of(mdp: WorldChoice, seed: int, files: Files) -> FiniteWorld:
    """A world from its options; one whose kernel is in a file gets the rows of that file."""
    file, world = mdp.get("file"), None
    if file is None:
        world = mdp.kind.run(mdp.options, seed)
    else:
        rows = read_rows(file, files, mdp.space)
        assert mdp.traits.of_rows is not None  # a kind with a `file` reads its rows
        try:
            world = mdp.traits.of_rows(mdp.options, rows)
        except StageError as error:
            raise StageError(f"{file}: {error}") from None
    assert isinstance(world, FiniteWorld)
    return world


def goals_of(goals: GoalsSection, space: FiniteSpace, seed: int) -> Goals:
    at = places(goals.at, space) if goals.at is not None else None
    return make_goals(goals.reward, space, at, goals.terminate, seed)


def store_view(view: FiniteView, data: Mapping[str, Any]) -> Result:
    return Result({name: getattr(view, name) for name in VIEW}, data)


def load_view(agent: Result, space: FiniteSpace, support: np.ndarray | None = None) -> FiniteView:
    values: dict[str, np.ndarray] = {name: agent.arrays[name] for name in VIEW}
    return FiniteView(**values, space=space, support=support)


def row_labels(agent: Result, view: FiniteView) -> list[str] | None:
    """A name for each row; None where several discounts or policies share a goal."""
    goals = list(agent.data["goals"])
    return goals if len(goals) == view.rows else None


def store_kernel(kernel: Kernel, data: Mapping[str, Any], **arrays: np.ndarray) -> Result:
    return Result({"successors": kernel.successors, "probabilities": kernel.probabilities, **arrays}, data)


def load_kernel(model: Result) -> Kernel:
    return Kernel(model.arrays["successors"], model.arrays["probabilities"])


def declared_starts(starts: str | int, mdp: WorldChoice) -> np.ndarray | None:
    """Where evaluation starts, as a distribution [S], where no world is known: a spec says it, and no more."""
    if starts in ("all", "uniform"):
        return None
    assert mdp.traits.reset is not None
    return np.asarray(mdp.traits.reset(mdp.options))
