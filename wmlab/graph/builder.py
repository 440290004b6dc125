"""The stages of one point and seed, from what its sections say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.graph.experiment import ExperimentPlan, Role
from wmlab.graph.stage import Stage
from wmlab.registry import Kind, agents, extractions, in_order, mdps, rewards, solvers, truth_is_known, world_of
from wmlab.registry.metrics import chosen
from wmlab.spec.compose.resolve import Point

PACKAGES = {"finite": "wmlab.stages.finite", "continuous": "wmlab.stages.continuous"}
MEASURED = ("return", "model_error", "value_error", "fit")
Roles = dict[Role, str]  # role: stage id
TRAIN, TRAIN_TOGETHER, EXTRACT = Role("train"), Role("train_together"), Role("extract")


@dataclass(frozen=True)
class KindUse:
    """A kind and the options that a stage uses it with."""

    kind: Kind[Any]
    data: Mapping[str, Any]

    @property
    def draws(self) -> bool:
        """Whether it uses the run's seed: then the stage's answer differs between seeds."""
        return bool(self.kind.traits.draws(self.kind.build(self.data)))


class Builder:
    """Adds the stages of one point and seed to those of an experiment; inputs come before what uses them."""

    def __init__(
        self,
        stages: dict[str, Stage],
        point: Point,
        seed: int,
        spec: str,
        seeds: tuple[int, ...],
        sha256: Callable[[str], str],
    ):
        self.stages, self.seed, self.data, self.where = stages, seed, point.data, point.where
        self.seeds = seeds
        self.place = [f"{axis}={label}" for axis, label in sorted(point.where.items())]
        self.spec = spec
        self.sha256 = sha256  # of a file's content
        self.mdp = in_order(self.pinned(self.data["mdp"]))
        self.world = KindUse(mdps[self.data["mdp"]["kind"]], self.data["mdp"])
        self.learns = agents[self.data["agent"]["kind"]].traits.learns
        self.sort = world_of(self.data["mdp"])
        self.continuous = self.sort == "continuous"
        self.reward = KindUse(rewards[self.data["goals"]["reward"]["kind"]], self.data["goals"]["reward"])

    def experiment(self) -> Roles:
        """train → extract → measure, identify, and a plan per unseen goal beside its oracle."""
        roles = self.train()
        if "extract" in self.data:
            roles[EXTRACT] = self.extract(roles[TRAIN])
        evaluate = self.data["evaluate"]
        if any(name in evaluate for name in MEASURED):
            roles[Role("measure")] = self.measure(roles)
        if "identify" in evaluate:
            roles[Role("identify")] = self.identify(roles[TRAIN])
        if "unseen" in evaluate and EXTRACT in roles:
            for goal in evaluate["unseen"]["goals"]:
                roles |= self.unseen(goal, roles[EXTRACT])
        if self.tracks:
            roles[Role("track")] = self.track(roles)
        return roles

    @property
    def tracks(self) -> bool:
        """Whether models are extracted along the training, and not at its end alone."""
        return self.learns and "extract" in self.data and self.data["extract"].get("when") == "checkpoints"

    def pinned(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options and, where they name a file, the hash of what that file holds."""
        file = options.get("file")
        return {**options, "sha256": self.sha256(file)} if isinstance(file, str) else dict(options)

    def train(self) -> Roles:
        options = {
            name: self.pinned(part) if isinstance(part, Mapping) else part
            for name, part in without(self.data["agent"], "seeds").items()  # how seeds are trained is not asked of each
        }
        if isinstance(options.get("world"), Mapping):
            options["world"] = in_order(options["world"])
        params: dict[str, Any] = {"mdp": self.mdp, "goals": self.data["goals"], "agent": options}
        if self.continuous and self.tracks:
            params["keep"] = "all"  # weights are large: those of earlier checkpoints are kept where they are asked for
        agent = KindUse(agents[self.data["agent"]["kind"]], self.data["agent"])
        used = [self.world, self.reward, agent]
        if isinstance(agent.data.get("world"), Mapping):
            used.append(KindUse(mdps[agent.data["world"]["kind"]], agent.data["world"]))
        if agent.data.get("seeds") == "together" and len(self.seeds) > 1:
            return self.one_of_many(params | {"seeds": list(self.seeds)}, used)
        return {TRAIN: self.add("train", params, {}, used, long=self.learns)}

    def one_of_many(self, params: dict[str, Any], used: list[KindUse]) -> Roles:
        """One training for all seeds of a point, and out of it the part of this seed."""
        everyone = self.add("train_together", params, {}, used, draws=False, long=True, shared=True)
        mine = self.add("one_seed", {"seed": self.seed}, {"trained": everyone}, [], package="wmlab.stages")
        return {TRAIN_TOGETHER: everyone, TRAIN: mine}

    def extract(self, train: str) -> str:
        # The stage takes the state space from the world's options and hands on nothing else of them.
        method = KindUse(extractions[self.data["extract"]["kind"]], without(self.data["extract"], "when"))
        params = {"mdp": self.mdp, "extract": method.data}
        return self.add("extract", params, {"agent": train}, [self.world, method], draws=method.draws)

    def measure(self, roles: Roles) -> str:
        params = {"mdp": self.mdp, "evaluate": self.measured()}
        inputs = {"agent": roles[TRAIN]} | ({"model": roles[EXTRACT]} if EXTRACT in roles else {})
        return self.add("measure", params, inputs, [self.world])

    def measured(self) -> dict[str, Any]:
        """What is measured. On a grid of continuous states, values are taken where plans are made."""
        evaluate = self.data["evaluate"]
        wanted = {name: evaluate[name] for name in MEASURED if name in evaluate}
        if self.continuous and "value_error" in wanted:
            bounds = evaluate["unseen"]["solver"].get("bounds", {}) if "unseen" in evaluate else {}
            wanted["value_error"] = wanted["value_error"] | {"bounds": bounds}
        return wanted

    def identify(self, train: str) -> str:
        params: dict[str, Any] = {
            "mdp": self.mdp,
            "prior": self.data["extract"].get("prior") if "extract" in self.data else None,
            "identify": without(self.data["evaluate"]["identify"], "when"),
        }
        truth = bool(params["identify"]["bounds"])  # bounds are taken at the values' distance from the exact ones
        return self.add("identify", params, {"agent": train}, [self.world], draws=truth and self.world.draws)

    def track(self, roles: Roles) -> str:
        """Everything that is asked for at each checkpoint, in one stage."""
        evaluate = self.data["evaluate"]
        method = KindUse(extractions[self.data["extract"]["kind"]], without(self.data["extract"], "when"))
        params: dict[str, Any] = {
            "mdp": self.mdp,
            "extract": method.data,
            "evaluate": self.measured(),
            "unseen": {},
        }
        used = [self.world, method]
        inputs = {"agent": roles[TRAIN]}
        if "unseen" in evaluate and evaluate["unseen"]["when"] == "checkpoints":
            used.append(KindUse(solvers[evaluate["unseen"]["solver"]["kind"]], evaluate["unseen"]["solver"]))
            for goal in evaluate["unseen"]["goals"]:
                params["unseen"][goal] = self.task(goal)
                oracle = Role("oracle", goal)
                inputs[str(oracle)] = roles[oracle]
        return self.add("track", params, inputs, used)

    def looked_at(self, roles: Mapping[Role, str]) -> Mapping[Role, str]:
        """The stages of the run that a report draws: it is looked at more closely, where the spec asks for that."""
        look = self.data["evaluate"].get("look")
        if look is None or EXTRACT not in roles or not self.continuous:
            return roles
        params = {"mdp": self.mdp, "look": look, "value_error": self.measured().get("value_error")}
        inputs = {"agent": roles[TRAIN], "model": roles[EXTRACT]}
        for role, stage in roles.items():
            if role.kind == "compare":
                inputs[f"other {role.name}"] = self.stages[stage].inputs["other"]
        return {**roles, Role("look"): self.add("look", params, inputs, [self.world])}

    def task(self, goal: str) -> dict[str, Any]:
        """All that a plan for an unseen goal depends on, beside the world and the model."""
        unseen = self.data["evaluate"]["unseen"]
        return {
            "goal": unseen["goals"][goal],
            "discount": unseen.get("discount", self.data["agent"].get("discount")),
            "solver": unseen["solver"],
            "starts": unseen["starts"],
        }

    def unseen(self, goal: str, extract: str) -> Roles:
        solver = self.data["evaluate"]["unseen"]["solver"]
        params = {"mdp": self.mdp, **self.task(goal)}
        used = [self.world, KindUse(solvers[solver["kind"]], solver)]
        roles = {}
        inputs = {"model": extract}
        if truth_is_known(self.data["mdp"]):
            roles[Role("oracle", goal)] = inputs["oracle"] = self.add("oracle", params, {}, used, name=goal)
        roles[Role("plan", goal)] = self.add("plan", params, inputs, used, name=goal)
        return roles

    def comparison(self, name: str, options: Mapping[str, Any], other: ExperimentPlan, roles: Roles) -> Roles:
        """This run's model beside that of the other spec's run with the same labels and seed."""
        partner = next(
            (run for run in other.runs if run.seed == self.seed and run.point.where.items() <= self.where.items()), None
        )
        if partner is None or EXTRACT not in roles or EXTRACT not in partner.stages:
            return {}
        params = {"mdp": self.mdp, "compare": without(options, "with")}
        inputs = {"model": roles[EXTRACT], "other": partner.stages[EXTRACT]}
        return {Role("compare", name): self.add("compare", params, inputs, [self.world], name=name)}

    def add(
        self,
        kind: str,
        params: dict[str, Any],
        inputs: dict[str, str],
        used: list[KindUse],
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
        modules = tuple(sorted({*(one.kind.module for one in used), *self.measuring(kind)}))
        package = package or PACKAGES[self.sort]
        stage = Stage(kind, params, inputs, label, modules, package, long=long or self.continuous)
        self.stages.setdefault(stage.id, stage)
        return stage.id

    def measuring(self, kind: str) -> Iterator[str]:
        """The modules of the measurements that a stage of this kind runs; at checkpoints, also those of plans."""
        data = None if kind == "compare" else {"evaluate": self.data["evaluate"]}
        truth, model = truth_is_known(self.data["mdp"]), "extract" in self.data
        for stage in ("measure", "plan") if kind == "track" else (kind,):
            yield from (one.module(self.sort) for one in chosen(stage, self.sort, data, truth=truth, model=model))


def without(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}
