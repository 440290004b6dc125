"""The engines by their names; each needs a library, which is imported when it is used."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from wmlab.cluster.engines.engine import Engine
from wmlab.cluster.file import Cluster
from wmlab.errors import UsageError


def need(module: str, extra: str) -> None:
    """UsageError where the library of an engine is not installed."""
    if find_spec(module) is None:
        raise UsageError(f"engine: {extra} needs {module}, which is not installed here: pip install 'wmlab[{extra}]'")


def open_engine(cluster: Cluster, root: Path) -> Engine:
    """The engine that a cluster file names; UsageError where its library is missing, or where it starts no jobs."""
    if cluster.engine == "slurm":
        need("submitit", "slurm")
        from wmlab.cluster.engines.slurm import SlurmEngine

        return SlurmEngine(cluster, root)
    if cluster.engine != "ray":
        raise UsageError(f"engine: {cluster.engine} starts no jobs; say slurm or ray")
    need("ray", "ray")
    from wmlab.cluster.engines.ray_engine import RayEngine

    return RayEngine(cluster, root)
