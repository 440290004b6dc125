"""The stages of one point and seed, from what its sections say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import networkx as nx

from wmlab.graph.files import Contents
from wmlab.graph.stage import Stage
from wmlab.registry import Kind, agents, extractions, in_order, mdps, rewards, solvers, truth_is_known, world_of
from wmlab.spec.compose.resolve import Point

if TYPE_CHECKING:
    from wmlab.graph.compile import Plan

PACKAGES = {"finite": "wmlab.stages.finite", "continuous": "wmlab.stages.continuous"}
MEASURED = ("return", "model_error", "value_error", "fit")


@dataclass(frozen=True)
class Used:
    """A kind and the options that a stage uses it with."""

    kind: Kind[Any]
    data: Mapping[str, Any]

    @property
    def draws(self) -> bool:
        """Whether it uses the run's seed: then the stage's answer differs between seeds."""
        return bool(self.kind.traits.draws(self.kind.build(self.data)))


class Builder:
    """Adds the stages of one point and seed to a graph."""

    def __init__(
        self, graph: nx.DiGraph, point: Point, seed: int, spec: str, seeds: tuple[int, ...], contents: Contents
    ):
        self.graph, self.seed, self.data, self.where = graph, seed, point.data, point.where
        self.seeds = seeds
        self.place = [f"{axis}={label}" for axis, label in sorted(point.where.items())]
        self.spec = spec
        self.contents = contents
        self.mdp = in_order(contents.pinned(self.data["mdp"]))
        self.world = Used(mdps[self.data["mdp"]["kind"]], self.data["mdp"])
        self.learns = agents[self.data["agent"]["kind"]].traits.learns
        self.sort = world_of(self.data["mdp"])
        self.continuous = self.sort == "continuous"
        self.reward = Used(rewards[self.data["goals"]["reward"]["kind"]], self.data["goals"]["reward"])

    def experiment(self) -> dict[str, str]:
        """train → extract → measure, identify, and a plan per unseen goal beside its oracle."""
        stages = self.train()
        if "extract" in self.data:
            stages["extract"] = self.extract(stages["train"])
        evaluate = self.data["evaluate"]
        if any(name in evaluate for name in MEASURED):
            stages["measure"] = self.measure(stages)
        if "identify" in evaluate:
            stages["identify"] = self.identify(stages["train"])
        if "unseen" in evaluate and "extract" in stages:
            for goal in evaluate["unseen"]["goals"]:
                stages |= self.unseen(goal, stages["extract"])
        if self.tracks:
            stages["track"] = self.track(stages)
        return stages

    @property
    def tracks(self) -> bool:
        """Whether models are extracted along the training, and not at its end alone."""
        return self.learns and self.data.get("extract", {}).get("when") == "checkpoints"

    def train(self) -> dict[str, str]:
        said = self.contents.within(without(self.data["agent"], "seeds"))  # how seeds are trained is not asked of each
        if isinstance(said.get("world"), Mapping):
            said["world"] = in_order(said["world"])
        params: dict[str, Any] = {"mdp": self.mdp, "goals": self.data["goals"], "agent": said}
        if self.continuous and self.tracks:
            params["keep"] = "all"  # weights are large: those of earlier checkpoints are kept where they are asked for
        agent = Used(agents[self.data["agent"]["kind"]], self.data["agent"])
        used = [self.world, self.reward, agent]
        if isinstance(agent.data.get("world"), Mapping):
            used.append(Used(mdps[agent.data["world"]["kind"]], agent.data["world"]))
        if agent.data.get("seeds") == "together" and len(self.seeds) > 1:
            return self.one_of_many(params | {"seeds": list(self.seeds)}, used)
        return {"train": self.add("train", params, {}, used, long=self.learns)}

    def one_of_many(self, params: dict[str, Any], used: list[Used]) -> dict[str, str]:
        """One training for all seeds of a point, and out of it the part of this seed."""
        everyone = self.add("train_together", params, {}, used, draws=False, long=True, shared=True)
        mine = self.add("one_seed", {"seed": self.seed}, {"trained": everyone}, [], package="wmlab.stages")
        return {"train_together": everyone, "train": mine}

    def extract(self, train: str) -> str:
        # The stage takes the state space from the world's options and hands on nothing else of them.
        method = Used(extractions[self.data["extract"]["kind"]], without(self.data["extract"], "when"))
        params = {"mdp": self.mdp, "extract": method.data}
        return self.add("extract", params, {"agent": train}, [self.world, method], draws=method.draws)

    def measure(self, stages: Mapping[str, str]) -> str:
        params = {"mdp": self.mdp, "evaluate": self.measured()}
        inputs = {"agent": stages["train"]} | ({"model": stages["extract"]} if "extract" in stages else {})
        return self.add("measure", params, inputs, [self.world])

    def measured(self) -> dict[str, Any]:
        """What is measured. On a grid of continuous states, values are taken where plans are made."""
        evaluate = self.data["evaluate"]
        wanted = {name: evaluate[name] for name in MEASURED if name in evaluate}
        if self.continuous and "value_error" in wanted:
            bounds = evaluate.get("unseen", {}).get("solver", {}).get("bounds", {})
            wanted["value_error"] = wanted["value_error"] | {"bounds": bounds}
        return wanted

    def identify(self, train: str) -> str:
        params = {
            "mdp": self.mdp,
            "prior": self.data.get("extract", {}).get("prior"),
            "identify": without(self.data["evaluate"]["identify"], "when"),
        }
        truth = bool(params["identify"]["bounds"])  # bounds are taken at the values' distance from the exact ones
        return self.add("identify", params, {"agent": train}, [self.world], draws=truth and self.world.draws)

    def track(self, stages: Mapping[str, str]) -> str:
        """Everything that is asked for at each checkpoint, in one stage."""
        evaluate = self.data["evaluate"]
        method = Used(extractions[self.data["extract"]["kind"]], without(self.data["extract"], "when"))
        params: dict[str, Any] = {
            "mdp": self.mdp,
            "extract": method.data,
            "evaluate": self.measured(),
            "unseen": {},
        }
        used = [self.world, method]
        inputs = {"agent": stages["train"]}
        if evaluate.get("unseen", {}).get("when") == "checkpoints":
            used.append(Used(solvers[evaluate["unseen"]["solver"]["kind"]], evaluate["unseen"]["solver"]))
            for goal in evaluate["unseen"]["goals"]:
                params["unseen"][goal] = self.task(goal)
                inputs[f"oracle {goal}"] = stages[f"oracle {goal}"]
        return self.add("track", params, inputs, used)

    def drawn(self, stages: Mapping[str, str]) -> Mapping[str, str]:
        """The stages of the run that a report draws: it is looked at more closely, where the spec asks for that."""
        look = self.data["evaluate"].get("look")
        if look is None or "extract" not in stages or not self.continuous:
            return stages
        params = {"mdp": self.mdp, "look": look, "value_error": self.measured().get("value_error")}
        inputs = {"agent": stages["train"], "model": stages["extract"]}
        for role in stages:
            if role.startswith("compare "):
                compared: Stage = self.graph.nodes[stages[role]]["stage"]
                inputs[f"other {role.removeprefix('compare ')}"] = compared.inputs["other"]
        return {**stages, "look": self.add("look", params, inputs, [self.world])}

    def task(self, goal: str) -> dict[str, Any]:
        """All that a plan for an unseen goal depends on, beside the world and the model."""
        unseen = self.data["evaluate"]["unseen"]
        return {
            "goal": unseen["goals"][goal],
            "discount": unseen.get("discount", self.data["agent"].get("discount")),
            "solver": unseen["solver"],
            "starts": unseen["starts"],
        }

    def unseen(self, goal: str, extract: str) -> dict[str, str]:
        solver = self.data["evaluate"]["unseen"]["solver"]
        params = {"mdp": self.mdp, **self.task(goal)}
        used = [self.world, Used(solvers[solver["kind"]], solver)]
        found = {}
        inputs = {"model": extract}
        if truth_is_known(self.data["mdp"]):
            found[f"oracle {goal}"] = inputs["oracle"] = self.add("oracle", params, {}, used, name=goal)
        found[f"plan {goal}"] = self.add("plan", params, inputs, used, name=goal)
        return found

    def comparison(
        self, name: str, options: Mapping[str, Any], other: Plan, stages: Mapping[str, str]
    ) -> dict[str, str]:
        """This run's model beside that of the other spec's run with the same labels and seed."""
        partner = next(
            (run for run in other.runs if run.seed == self.seed and run.point.where.items() <= self.where.items()), None
        )
        if partner is None or "extract" not in stages or "extract" not in partner.stages:
            return {}
        params = {"mdp": self.mdp, "compare": without(options, "with")}
        inputs = {"model": stages["extract"], "other": partner.stages["extract"]}
        return {f"compare {name}": self.add("compare", params, inputs, [self.world], name=name)}

    def add(
        self,
        kind: str,
        params: dict[str, Any],
        inputs: dict[str, str],
        used: list[Used],
        *,
        draws: bool | None = None,
        name: str = "",
        long: bool = False,
        shared: bool = False,
        package: str | None = None,
    ) -> str:
        """The id of a stage, in whose parameters the seed is where something draws; a `shared` one is of all seeds."""
        if draws if draws is not None else any(one.draws for one in used):
            params = params | {"seed": self.seed}
        seed = [f"seed={self.seed}"] if len(self.seeds) > 1 and not shared else []
        label = " ".join(part for part in (f"{self.spec}:", kind, name, *self.place, *seed) if part)
        modules = tuple(sorted({one.kind.module for one in used}))
        package = package or PACKAGES[self.sort]
        stage = Stage(kind, params, inputs, label, modules, package, long=long or self.continuous)
        if stage.id not in self.graph:
            self.graph.add_node(stage.id, stage=stage)
            self.graph.add_edges_from((source, stage.id) for source in inputs.values())
        return stage.id


def without(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}
