"""Adding one stage of a point and seed to those of an experiment: its parameters, its seed, its label."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

from wmlab.errors import visible
from wmlab.graph.parameters import files_in, seed_of
from wmlab.graph.stage import Stage
from wmlab.registry import ExtractionChoice, KindChoice, as_data
from wmlab.registry.metrics import chosen
from wmlab.sections.data import metadata_beside
from wmlab.spec.compose.points import Point


class StageAdder:
    """Adds stages of one point to those of an experiment, seed by seed; inputs come before what uses them.

    What is the same for every seed is worked out once.
    """

    def __init__(
        self,
        stages: dict[str, Stage],
        point: Point,
        spec: str,
        seeds: tuple[int, ...],
        sha256: Callable[[str], str],
    ):
        self.stages, self.seed, self.seeds, self.spec = stages, seeds[0], seeds, spec
        self.number = 1  # which of the agents of a seed, where several are read
        self.where, self.asked, self.sha256 = point.where, point.experiment, sha256  # `sha256` is of a file's content
        self.place = [f"{axis}={label}" for axis, label in sorted(point.where.items())]
        self.world = {"mdp": self.asked.mdp.ordered_data, **self.pinned(self.asked.mdp.data)}  # parameters of all
        self.continuous = self.asked.mdp.sort == "continuous"
        self._data: dict[int, tuple[Any, Any]] = {}  # id of a record: the record, and it as data
        self._measuring: dict[str, tuple[str, ...]] = {}  # kind of a stage: modules

    def at(self, seed: int) -> Self:
        """The same for another seed."""
        other = copy.copy(self)
        other.seed = seed
        return other

    def beside(self, number: int) -> Self:
        """The same for another agent of this seed, which draws from a seed of its own."""
        other = copy.copy(self)
        other.number = number
        return other

    @property
    def own_seed(self) -> int:
        """What stages draw from."""
        return seed_of(self.seed, self.number)

    def data_of(self, record: Any) -> Any:
        """A record as data, made once; whoever puts it into parameters changes nothing in it."""
        if id(record) not in self._data:
            self._data[id(record)] = record, as_data(record)
        return self._data[id(record)][1]

    def pinned(self, *parts: Mapping[str, Any]) -> dict[str, Any]:
        """The parameter `files`, where options name files: the hash of what each of them holds."""
        hashes = {file: self.sha256(file) for part in parts for file in files_in(part)}
        return {"files": hashes} if hashes else {}

    @property
    def logged(self) -> dict[str, Any]:
        """The parameters `data` and `files`, where transitions were logged."""
        data = self.asked.data
        if data is None:
            return {}
        described = {"file": metadata_beside(data.file)} if data.format == "minari" else {}
        return {"data": self.data_of(data), **self.pinned(self.asked.mdp.data, self.data_of(data), described)}

    @property
    def measured_in_log(self) -> dict[str, Any]:
        """The same, where something is measured in them."""
        return self.logged if self.asked.against_data or self.asked.evaluate.fit is not None else {}

    def states_of(self, method: ExtractionChoice) -> dict[str, Any]:
        """The same, where a method draws its states from them."""
        return self.logged if method.get("states") == "data" else {}

    def add(
        self,
        kind: str,
        params: dict[str, Any],
        inputs: dict[str, str],
        used: Sequence[KindChoice[Any]],
        *,
        draws: bool | None = None,
        name: str = "",
        long: bool = False,
        shared: bool = False,
        package: str | None = None,
    ) -> str:
        """The id of a stage, in whose parameters the seed is where something draws; a `shared` one is of all seeds."""
        if draws if draws is not None else any(one.draws for one in used):
            params = params | {"seed": self.own_seed}
        seed = [f"seed={self.seed}"] if len(self.seeds) > 1 and not shared else []
        other = f"agent {self.number}" if self.number > 1 and not shared else ""
        label = visible(" ".join(part for part in (f"{self.spec}:", kind, name, other, *self.place, *seed) if part))
        if kind not in self._measuring:
            self._measuring[kind] = tuple(self.measuring(kind))
        modules = tuple(sorted({*(one.kind.module for one in used), *self._measuring[kind]}))
        package = package or f"wmlab.stages.{self.asked.mdp.sort}"
        accelerated = self.is_accelerated(kind)
        stage = Stage(
            kind, params, inputs, label, modules, package, long=long or self.continuous, accelerated=accelerated
        )
        self.stages.setdefault(stage.id, stage)
        return stage.id

    def is_accelerated(self, kind: str) -> bool:
        """Whether a stage of this kind trains or extracts with networks here."""
        agent = self.asked.agent
        if kind in ("train", "train_together"):
            return agent.traits.learns and hasattr(agent.options, "network")
        return self.continuous and kind in ("extract", "regress", "track")

    def measuring(self, kind: str) -> Iterator[str]:
        """The modules of the measurements that a stage of this kind runs; at checkpoints, also those of plans."""
        asked = None if kind == "compare" else {"evaluate": self.asked.evaluate}
        world, model = self.asked.mdp, self.asked.extract is not None
        for stage in ("measure", "plan") if kind == "track" else (kind,):
            measured = chosen(
                stage, world.sort, asked, truth=world.knows_truth, model=model, logged=self.asked.data is not None
            )
            yield from (one.module(world.sort) for one in measured)
