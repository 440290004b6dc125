"""The stages of one point and seed, from what a spec says there."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from wmlab.graph.adder import StageAdder
from wmlab.graph.experiment import ExperimentPlan, Role
from wmlab.graph.parameters import exact_agent, seed_of, without
from wmlab.registry import ExtractionChoice, KindChoice, as_data
from wmlab.sections.experiment import Baselines, Design, Identify, Unseen
from wmlab.sections.explorer import Explore, NothingToExplore
from wmlab.sections.spec import Compare

MEASURED = ("return", "model_error", "disagreement", "value_error", "fit")
Roles = dict[Role, str]  # role: stage id
TRAIN, TRAIN_TOGETHER, EXTRACT, REGRESS = Role("train"), Role("train_together"), Role("extract"), Role("regress")


class Builder(StageAdder):
    """Which stages there are for one point and seed, and what each of them asks."""

    def experiment(self) -> Roles:
        """train → extract → measure, identify, and a plan per unseen goal beside its oracle."""
        roles, evaluate = self.train(), self.asked.evaluate
        if self.asked.extract is not None:
            roles |= self.read(self.asked.extract, roles[TRAIN])
        if self.baselines.regression is not None and EXTRACT in roles:
            roles[REGRESS] = self.regress(roles)
        if self.measured:
            roles[Role("measure")] = self.measure(roles)
        if evaluate.identify is not None:
            roles[Role("identify")] = self.identify(evaluate.identify, roles[TRAIN])
        if evaluate.unseen is not None and EXTRACT in roles:
            for goal in evaluate.unseen.goals:
                roles |= self.unseen(evaluate.unseen, goal, roles[EXTRACT])
                roles |= self.guarantee(evaluate.unseen, goal, roles)
                roles |= self.baseline(evaluate.unseen, goal, roles)
        if evaluate.design is not None:
            roles[Role("design")] = self.design(evaluate.design, roles)
        if self.tracks and self.asked.extract is not None:
            roles[Role("track")] = self.track(self.asked.extract, roles)
        return roles

    @property
    def tracks(self) -> bool:
        """Whether models are extracted along the training, and not at its end alone."""
        extract = self.asked.extract
        return self.asked.agent.traits.learns and extract is not None and extract.at_checkpoints

    @property
    def baselines(self) -> Baselines:
        """What else is asked for, beside the extracted model."""
        return self.asked.evaluate.baselines or Baselines()

    def train(self) -> Roles:
        agent, reward = self.asked.agent, self.asked.goals.reward
        options = without(agent.data, "seeds")  # how seeds are trained is not asked of each
        used: list[KindChoice[Any]] = [self.asked.mdp, reward, agent]
        if agent.world is not None:
            options["world"] = agent.world.ordered_data
            used.append(agent.world)
        files = self.pinned(self.asked.mdp.data, agent.data)
        params: dict[str, Any] = {**self.world, **files, "goals": self.data_of(self.asked.goals), "agent": options}
        if self.continuous and self.tracks:
            params["keep"] = "all"  # weights are large: those of earlier checkpoints are kept where they are asked for
        if self.baselines.regression is not None and (self.number == 1 or agent.trains_together):
            params["transitions"] = self.baselines.regression.transitions
        if agent.trains_together and len(self.trained_seeds) > 1:
            return self.one_of_many(params | {"seeds": list(self.trained_seeds)}, used)
        return {TRAIN: self.add("train", params, {}, used, long=agent.traits.learns)}

    @property
    def trained_seeds(self) -> tuple[int, ...]:
        """The seeds of all agents of a point."""
        count = 1 if self.asked.extract is None else self.asked.extract.agents
        return tuple(seed_of(seed, number) for number in range(1, count + 1) for seed in self.seeds)

    def one_of_many(self, params: dict[str, Any], used: list[KindChoice[Any]]) -> Roles:
        """One training for all seeds of a point, and out of it the part of this seed."""
        everyone = self.add("train_together", params, {}, used, draws=False, long=True, shared=True)
        mine = self.add("one_seed", {"seed": self.own_seed}, {"trained": everyone}, [], package="wmlab.stages")
        return {TRAIN_TOGETHER: everyone, TRAIN: mine}

    def read(self, method: ExtractionChoice, train: str) -> Roles:
        """The model of the seed's agent or, where several agents are read, the average over their models."""
        first = self.extract(method, train)
        if method.agents == 1:
            return {EXTRACT: first}
        roles, models = {}, {"agent 1": first}
        for number in range(2, method.agents + 1):
            other, name = self.beside(number), f"agent {number}"
            roles[Role("train", name)] = other.train()[TRAIN]
            models[name] = other.extract(method, roles[Role("train", name)])
        roles |= {Role("extract", name): stage for name, stage in models.items()}
        params = {**self.world, **self.states_of(method), "extract": without(method.data, "when")}
        used: list[KindChoice[Any]] = [self.asked.mdp, method]
        average = self.add("average", params, {"agent": train, **models}, used, draws=method.draws)
        return {**roles, EXTRACT: average}

    def extract(self, method: ExtractionChoice, train: str) -> str:
        # The stage takes the state space from the world's options and hands on nothing else of them.
        params = {**self.world, **self.states_of(method), "extract": without(method.data, "when", "agents")}
        return self.add("extract", params, {"agent": train}, [self.asked.mdp, method], draws=method.draws)

    def measure(self, roles: Roles) -> str:
        inputs = {"agent": roles[TRAIN]} | ({"model": roles[EXTRACT]} if EXTRACT in roles else {})
        params = {**self.world, **self.measured_in_log, **self.measured}
        if REGRESS in roles:
            inputs["regressed"] = roles[REGRESS]
            regression = Baselines(regression=self.baselines.regression)
            params["evaluate"] = params["evaluate"] | {"baselines": as_data(regression)}
        return self.add("measure", params, inputs, [self.asked.mdp])

    def regress(self, roles: Roles) -> str:
        """A model of the transitions that the training kept, of the form of the extracted one."""
        method = self.asked.extract
        assert method is not None
        params = {**self.world, **self.states_of(method), "extract": without(method.data, "when", "ensemble", "agents")}
        return self.add("regress", params, {"agent": roles[TRAIN]}, [self.asked.mdp, method], draws=True)

    @cached_property
    def measured(self) -> dict[str, Any]:
        """What is measured, as parameters; on a grid of continuous states, values are taken where plans are made."""
        evaluate = {name: part for name, part in self.data_of(self.asked.evaluate).items() if name in MEASURED}
        unseen = self.asked.evaluate.unseen
        if self.continuous and "value_error" in evaluate and unseen is not None:
            return {"evaluate": evaluate, "bounds": unseen.solver.data.get("bounds", {})}
        return {"evaluate": evaluate} if evaluate else {}

    def identify(self, identify: Identify, train: str) -> str:
        params = {**self.world, "prior": self.prior, "identify": without(self.data_of(identify), "when")}
        world = self.asked.mdp
        draws = bool(identify.bounds) and world.draws  # bounds are taken at the values' distance from the exact ones
        return self.add("identify", params, {"agent": train}, [world], draws=draws)

    @property
    def prior(self) -> Any:
        """What is known of the world beforehand, as data."""
        extract = self.asked.extract
        return None if extract is None else extract.data.get("prior")

    def guarantee(self, unseen: Unseen, goal: str, roles: Roles) -> Roles:
        """What is certain and possible of one unseen goal, where that is asked for; nothing of the model counts."""
        if unseen.guarantee is None:
            return {}
        task = without(self.task(unseen, goal), "solver")
        params = {**self.world, **task, "guarantee": self.data_of(unseen.guarantee), "prior": self.prior}
        inputs = {"agent": roles[TRAIN]}
        if Role("oracle", goal) in roles:
            inputs["oracle"] = roles[Role("oracle", goal)]
        return {Role("guarantee", goal): self.add("guarantee", params, inputs, [self.asked.mdp], name=goal)}

    def design(self, design: Design, roles: Roles) -> str:
        """Which goal to add: of exact values in the true world or in the model, whoever learns the agent's own."""
        asked, unseen = self.asked, self.asked.evaluate.unseen
        using = design.using or ("truth" if asked.mdp.knows_truth else "model")
        agent = exact_agent(asked.agent)
        resolved = {**self.data_of(design), "by": asked.ranks_by, "using": using}
        params = {**self.world, **self.pinned(asked.mdp.data), "goals": as_data(asked.goals), "agent": agent.data}
        params |= {"design": resolved, "prior": self.prior, "unseen": {}, "discount": None, "starts": "all"}
        if unseen is not None and asked.ranks_by == "guarantee":
            goals = {name: self.data_of(goal) for name, goal in unseen.goals.items()}
            params |= {"unseen": goals, "discount": asked.plan_discount, "starts": unseen.starts}
        used: list[KindChoice[Any]] = [asked.mdp, asked.goals.reward, agent]
        if agent.world is not None:
            params["agent"] = {**agent.data, "world": agent.world.ordered_data}
            used.append(agent.world)
        inputs = {"model": roles[EXTRACT]} if using == "model" else {}
        return self.add("design", params, inputs, used, draws=True if using == "prior" else None)

    def track(self, method: ExtractionChoice, roles: Roles) -> str:
        """Everything that is asked for at each checkpoint, in one stage."""
        evaluate = self.asked.evaluate
        plans: dict[str, Any] = {}
        params = {**self.world, **self.measured_in_log, **self.states_of(method), "evaluate": {}, **self.measured}
        params["extract"] = without(method.data, "when", "agents")
        used: list[KindChoice[Any]] = [self.asked.mdp, method]
        inputs = {"agent": roles[TRAIN]}
        if evaluate.unseen is not None and evaluate.unseen.when == "checkpoints":
            used.append(evaluate.unseen.solver)
            for goal in evaluate.unseen.goals:
                plans[goal] = self.task(evaluate.unseen, goal)
                oracle = Role("oracle", goal)
                inputs[str(oracle)] = roles[oracle]
        return self.add("track", params | {"unseen": plans}, inputs, used)

    def looked_at(self, roles: Mapping[Role, str]) -> Mapping[Role, str]:
        """The stages of the run that a report draws: it is looked at more closely, where the spec asks for that."""
        evaluate = self.asked.evaluate
        with suppress(NothingToExplore):  # the page says why
            explore = self.asked.explorer
            if explore is not None:
                roles = {**roles, Role("explore"): self.explore(explore, roles)}
        if evaluate.look is None or EXTRACT not in roles or not self.continuous:
            return roles
        params = {**self.world, **self.on_value_grid, "look": self.data_of(evaluate.look)}
        inputs = {"agent": roles[TRAIN], "model": roles[EXTRACT]}
        for role, stage in roles.items():
            if role.kind == "compare":
                inputs[f"other {role.name}"] = self.stages[stage].inputs["other"]
        return {**roles, Role("look"): self.add("look", params, inputs, [self.asked.mdp])}

    @property
    def on_value_grid(self) -> dict[str, Any]:
        """Where exact values are taken in a continuous world, as parameters; nowhere unless their error is asked."""
        asked = self.asked.evaluate.value_error
        return {"bounds": {}, **self.measured, "evaluate": {} if asked is None else {"value_error": as_data(asked)}}

    def explore(self, explore: Explore, roles: Mapping[Role, str]) -> str:
        """All that a page lets one look at, state by state: of what there is, model and truth side by side."""
        inputs = {"agent": roles[TRAIN]} | ({"model": roles[EXTRACT]} if EXTRACT in roles else {})
        if self.continuous:
            kept = without(self.data_of(explore), "successors")
            return self.add("explore", {**self.world, **self.on_value_grid, "explore": kept}, inputs, [self.asked.mdp])
        unseen = self.asked.evaluate.unseen
        goals = {} if unseen is None else {name: as_data(goal) for name, goal in unseen.goals.items()}
        params = {**self.world, "explore": as_data(explore), "prior": self.prior, "unseen": goals}
        params["discount"] = self.asked.plan_discount
        inputs |= {str(role): stage for role, stage in roles.items() if role.kind in ("identify", "plan", "oracle")}
        return self.add("explore", params, inputs, [self.asked.mdp])

    def task(self, unseen: Unseen, goal: str) -> dict[str, Any]:
        """All that a plan for an unseen goal depends on, beside the world and the model."""
        return {
            "goal": self.data_of(unseen.goals[goal]),
            "discount": self.asked.plan_discount,
            "solver": unseen.solver.data,
            "starts": unseen.starts,
        }

    def unseen(self, unseen: Unseen, goal: str, extract: str) -> Roles:
        params = {**self.world, **self.task(unseen, goal)}
        used: list[KindChoice[Any]] = [self.asked.mdp, unseen.solver]
        roles = {}
        inputs = {"model": extract}
        if self.asked.mdp.knows_truth:
            solver = without(unseen.solver.data, *unseen.solver.traits.of_models)  # so that their sweeps share R*
            oracle = self.add("oracle", params | {"solver": solver}, {}, used, name=goal)
            roles[Role("oracle", goal)] = inputs["oracle"] = oracle
        roles[Role("plan", goal)] = self.add("plan", params, inputs, used, name=goal)
        return roles

    def baseline(self, unseen: Unseen, goal: str, roles: Roles) -> Roles:
        """What is attained on an unseen goal without the extracted model, where that is asked for."""
        combines = self.baselines.combination is not None
        if not combines and REGRESS not in roles:
            return {}
        solver = without(unseen.solver.data, *unseen.solver.traits.of_models)
        params = {**self.world, **self.task(unseen, goal), "solver": solver, "combination": combines}
        inputs = {"agent": roles[TRAIN]} | ({"model": roles[REGRESS]} if REGRESS in roles else {})
        used: list[KindChoice[Any]] = [self.asked.mdp, unseen.solver]
        return {Role("baseline", goal): self.add("baseline", params, inputs, used, name=goal)}

    def comparison(self, name: str, compare: Compare, other: ExperimentPlan, roles: Roles) -> Roles:
        """This run's model beside that of the other spec's run with the same labels and seed."""
        partner = next(
            (run for run in other.runs if run.seed == self.seed and run.point.where.items() <= self.where.items()), None
        )
        if partner is None or EXTRACT not in roles or EXTRACT not in partner.stages:
            return {}
        params = {**self.world, "compare": self.data_of(compare)}
        inputs = {"model": roles[EXTRACT], "other": partner.stages[EXTRACT]}
        return {Role("compare", name): self.add("compare", params, inputs, [self.asked.mdp], name=name)}
