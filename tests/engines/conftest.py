"""These tests start a Slurm and a Ray of two machines each; `make test-cluster` installs them and sets WMLAB_KILLS."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.daemons import TwoNodeRay, TwoNodeSlurm, command_line, processes
from tests.system.lab import Lab

KILLS = "WMLAB_KILLS"  # how often each thing is killed


def pytest_collection_modifyitems(items):
    missing = [name for name in ("submitit", "ray") if importlib.util.find_spec(name) is None]
    if KILLS not in os.environ or missing or shutil.which("sbatch") is None:
        for item in items:
            if "tests/engines/" in str(item.path):
                item.add_marker(pytest.mark.skip(reason="needs a Slurm and a Ray: make test-cluster"))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="session")
def slurm(tmp_path_factory) -> Iterator[TwoNodeSlurm]:
    cluster = TwoNodeSlurm(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
        assert cluster.jobs() == []
    finally:
        cluster.stop()
    assert left_running(str(cluster.folder)) == []


@pytest.fixture(scope="session")
def ray(tmp_path_factory) -> Iterator[TwoNodeRay]:
    cluster = TwoNodeRay(Path("/tmp") / f"wmlab-ray-{os.getpid()}")  # a short path: Ray keeps sockets there
    try:
        cluster.start()
        yield cluster
        assert cluster.actors() == []
    finally:
        cluster.stop()
    assert left_running(str(cluster.folder)) == []


def left_running(words: str) -> list[str]:
    return [line for line in map(command_line, processes()) if words in line]


@pytest.fixture(params=["slurm", "ray"])
def engine(request):
    """The name of an engine that runs."""
    request.getfixturevalue(request.param)
    return request.param


@pytest.fixture
def lab(tmp_path, compiled) -> Lab:
    return Lab(tmp_path, compiled)
