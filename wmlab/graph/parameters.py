"""Parts of stages' parameters: the files that options name, options without one of them, the exact agent, seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from wmlab.registry import AgentChoice


def files_in(data: Mapping[str, Any]) -> Iterator[str]:
    """The files that options name, also inside their parts."""
    if isinstance(data.get("file"), str):
        yield data["file"]
    for part in data.values():
        if isinstance(part, Mapping):
            yield from files_in(part)


def exact_agent(agent: AgentChoice) -> AgentChoice:
    """The agent whose values one that learns comes near to; one whose values are exact, and were not moved, itself."""
    if agent.name == "exact":
        return AgentChoice(without(agent.data, "approximate"))
    policy = "uniform" if agent.get("policy") == "uniform" else "optimal"
    return AgentChoice({"kind": "exact", "discount": agent.options.discount, "policy": policy})


def without(data: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in keys}


def seed_of(seed: int, number: int) -> int:
    """What agent `number` of a seed draws from: the first from the seed itself, others from hashes of it.

    So the seeds of a spec share no agent.
    """
    if number == 1:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed}/agent {number}".encode()).digest()[:4], "big")
