"""Compiling: from a resolved spec to a graph of stages. Pure; equal questions become one stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import networkx as nx

from wmlab.graph.builder import Builder
from wmlab.graph.drawing import drawn_run
from wmlab.graph.files import Contents
from wmlab.graph.stage import Stage
from wmlab.spec.compose.resolve import Point, Resolved


@dataclass(frozen=True)
class Run:
    """The stages of one point and seed, by their role: train, extract, measure, identify, plan <goal>, track, …"""

    point: Point
    seed: int
    stages: Mapping[str, str]  # role: stage id


@dataclass(frozen=True)
class Plan:
    """What there is to do for a spec."""

    resolved: Resolved
    graph: nx.DiGraph  # nodes: stage ids, with the attribute `stage`; edges from input to user
    runs: tuple[Run, ...]

    def stage(self, stage_id: str) -> Stage:
        found: Stage = self.graph.nodes[stage_id]["stage"]
        return found


def compile_spec(resolved: Resolved, others: Mapping[str, Plan] | None = None) -> Plan:
    """The plan of a valid spec; `others` are the plans of the specs that it compares with, by name in `compare`."""
    graph = nx.DiGraph()
    runs, builders = [], []
    contents = Contents()
    for other in (others or {}).values():
        graph.update(other.graph)
    for point in resolved.points:
        for seed in resolved.seeds:
            builder = Builder(graph, point, seed, resolved.name or "", resolved.seeds, contents)
            stages = builder.experiment()
            for name, other in (others or {}).items():
                stages |= builder.comparison(name, resolved.data["compare"][name], other, stages)
            runs.append(Run(point, seed, stages))
            builders.append(builder)
    drawn = drawn_run(resolved, runs)
    if drawn is not None:
        runs[drawn] = replace(runs[drawn], stages=builders[drawn].drawn(runs[drawn].stages))
    return Plan(resolved, graph, tuple(runs))


def union(plans: Iterable[Plan]) -> nx.DiGraph:
    """One graph for several plans: stages that they share stand in it once."""
    return nx.compose_all([plan.graph for plan in plans])
