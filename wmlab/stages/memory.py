"""What a stage is known to hold before anything like it ran, from sizes that its parameters say; without JAX.

These are the sizes by which `validate` refuses what cannot fit. What training or reading a network takes is not known.

Shapes: S states, A actions, K successors or candidates, R rows (goal x discount x policy).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.agents.exact.check import grid_bytes
from wmlab.core.finite.goals import goal_labels
from wmlab.extraction.options import Prior, count_candidates, table_bytes
from wmlab.graph.stage import Stage, Stages, canonical
from wmlab.measure.finite.check import TABLES
from wmlab.planning.grid_value_iteration import Options as GridOptions
from wmlab.planning.grid_value_iteration import planned_bytes
from wmlab.registry import AgentChoice, ExtractionChoice, Scope, SolverChoice, WorldChoice, build
from wmlab.sections.experiment import GoalsSection

COPIES = 3  # of what is read and made, while it is handed over
SUCCESSOR, ROW = 12, 16  # bytes: an int32 and a float64; a value and a chance to act, of a state and action
SOURCES = ("agent", "model", "trained")  # the inputs whose parameters say how large they are


class KnownMemory:
    """Bytes that the stages of a plan are known to hold, by id; None where sizes do not tell.

    Stages that differ by their seed alone are looked at once.
    """

    def __init__(self, stages: Stages):
        self._stages = stages
        self._texts: dict[str, str] = {}
        self._known: dict[tuple[str, ...], int | None] = {}

    def __call__(self, id: str) -> int | None:
        chain = self._chain(id)
        asked = tuple(map(self._text, chain.values()))
        if asked not in self._known:
            stages = {name: self._stages[one] for name, one in chain.items()}
            self._known[asked] = known_bytes(stages.pop(""), stages)
        return self._known[asked]

    def _chain(self, id: str) -> dict[str, str]:
        """A stage, by no name, and what it builds on: model and agent, and the training that an agent is a part of."""
        inputs = self._stages[id].inputs
        inputs = {**inputs, **(self._stages[inputs["agent"]].inputs if "agent" in inputs else {})}
        return {"": id, **{name: inputs[name] for name in SOURCES if name in inputs}}

    def _text(self, id: str) -> str:
        if id not in self._texts:
            stage = self._stages[id]
            params = {name: value for name, value in stage.params.items() if name != "seed"}
            self._texts[id] = f"{stage.module} {canonical(params)}"
        return self._texts[id]


def known_bytes(stage: Stage, sources: Mapping[str, Stage]) -> int | None:
    """What one stage is known to hold; `sources` are those of SOURCES that it builds on."""
    if "mdp" not in stage.params:
        return None
    world = WorldChoice(stage.params["mdp"])
    method = method_of(stage, sources)
    if world.sort == "continuous":
        return on_grid(stage, Scope(space=world.space, mdp=world, extract=method))
    return in_tables(stage, sources, world, method)


def method_of(stage: Stage, sources: Mapping[str, Stage]) -> ExtractionChoice | None:
    """The method by which the model was, or is, extracted that a stage works with."""
    params = stage.params if "extract" in stage.params or "model" not in sources else sources["model"].params
    return ExtractionChoice(params["extract"]) if "extract" in params else None


def on_grid(stage: Stage, scope: Scope) -> int | None:
    """What planning on a grid holds, or exact values on one; None of all that reads networks."""
    if stage.kind in ("oracle", "plan"):
        solver = SolverChoice(stage.params["solver"])
        return planned_bytes(solver.options, scope) if isinstance(solver.options, GridOptions) else None
    if stage.kind == "train" and stage.params["agent"]["kind"] == "exact":
        return grid_bytes(AgentChoice(stage.params["agent"]).options, scope)
    return None


def in_tables(
    stage: Stage, sources: Mapping[str, Stage], world: WorldChoice, method: ExtractionChoice | None
) -> int | None:
    """What a stage of a finite world holds: kernels, values, and numbers for candidates."""
    space, traits = world.space, world.traits
    pairs = space.size * len(space.actions)
    trainings = [one for one in (stage, *sources.values()) if {"agent", "goals"} <= one.params.keys()]
    agents = [AgentChoice(one.params["agent"]) for one in trainings]
    if stage.kind == "design" or (stage.kind.startswith("train") and agents[0].traits.learns):
        return None
    extracted = 0 if method is None else successors_in(method, space)
    if extracted is None:
        return None
    successors = (traits.max_successors(world.options, space) or space.size) if world.knows_truth else 0
    rows = sum(rows_of(one, agent, space) for one, agent in zip(trainings, agents, strict=True))
    held = COPIES * (SUCCESSOR * pairs * (successors + extracted) + ROW * rows * (pairs + space.size))
    return max(held + candidate_bytes(stage, method, space), traits.table_bytes(world.options))


def successors_in(method: ExtractionChoice, space: Any) -> int | None:
    """K of a model that a method gives, at most; None where its traits do not tell."""
    if method.traits.tables:
        return count_candidates(method.get("prior"), space)
    return 1 if method.traits.model_is_deterministic(method.options) else method.traits.sparse_support(method.options)


def rows_of(training: Stage, agent: AgentChoice, space: Any) -> int:
    """R: what an agent has values of."""
    goals = len(goal_labels(build(GoalsSection, training.params["goals"]), space))
    return goals * agent.traits.discounts(agent.options) * agent.traits.policies(agent.options)


def candidate_bytes(stage: Stage, method: ExtractionChoice | None, space: Any) -> int:
    """Arrays of a number for each candidate, as the check of the spec counts them."""
    if method is not None and "extract" in stage.params:
        return table_bytes(method.get("prior"), space, method.traits.tables)
    named = "width" if stage.kind == "identify" and stage.params["identify"].get("width") is not None else stage.kind
    prior = stage.params.get("prior")
    return table_bytes(None if prior is None else build(Prior, prior), space, TABLES[named]) if named in TABLES else 0
