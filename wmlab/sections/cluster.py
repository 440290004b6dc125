"""What a cluster file says: where a run goes, which is no part of a spec and changes no result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from wmlab.registry import option

_WORD = {"type": "string", "minLength": 1}
_WHOLE = {"type": "integer"}


@dataclass(frozen=True)
class ClusterFile:
    """Where a run goes: the engine that starts its jobs, and what a job may ask of it."""

    engine: Literal["slurm", "ray", "local"] = option(doc="What starts the jobs; local: this machine, as without it.")
    address: str | None = option(
        None, doc="Of a Ray cluster; by default RAY_ADDRESS, or the one that runs on this machine.", schema=_WORD
    )
    partition: str | None = option(None, doc="Slurm's partition; by default Slurm's own.", schema=_WORD)
    account: str | None = option(None, doc="Slurm's account, which is charged.", schema=_WORD)
    accelerators: float = option(
        0.0,
        doc="For stages that train or extract with networks; on Ray a part of one, as 0.25, is shared by memory.",
        schema={"type": "number"},
        at_least=0,
    )
    cores: int = option(
        1, doc="Of one job, at most: it asks for as many as it has stages at once.", schema=_WHOLE, at_least=1
    )
    memory: Any = option(
        None,
        doc="Of one job, at most, as 16G: it asks for less where what it takes is known.",
        schema={"type": ["string", "number"]},
    )
    time: Any = option(
        None, doc="That a job may take, as 2h; after that it is begun again.", schema={"type": ["string", "number"]}
    )
    at_once: int = option(50, doc="Jobs that are queued or run at once, at most.", schema=_WHOLE, at_least=1)
    setup: tuple[str, ...] = option(
        (), doc="Lines of shell that a Slurm job begins with.", schema={"type": "array", "items": {"type": "string"}}
    )
    retries: int = option(
        2, doc="More tries for a job that died, was preempted or took too long.", schema=_WHOLE, at_least=0
    )
