"""Studies that were run once, for tests that look at them or begin with a copy."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from tests.system.lab import QUICKSTART, SMALL, Lab, Said


@dataclass(frozen=True)
class Done:
    """A run that is over."""

    lab: Lab
    said: Said
    seconds: float


def run_once(lab: Lab, *arguments) -> Done:
    clock = time.monotonic()
    said = lab.wmlab("run", *arguments)
    return Done(lab, said, time.monotonic() - clock)


@pytest.fixture
def lab(tmp_path, compiled):
    """An empty folder."""
    return Lab(tmp_path, compiled)


@pytest.fixture(scope="session")
def quickstart(tmp_path_factory, compiled):
    """The first experiment, as a newcomer runs it."""
    return run_once(Lab(tmp_path_factory.mktemp("quickstart"), compiled), QUICKSTART, "--check")


@pytest.fixture(scope="session")
def small(tmp_path_factory, compiled):
    """A sweep of 22 stages, run by two workers."""
    return run_once(Lab(tmp_path_factory.mktemp("small"), compiled), SMALL, "--jobs", "2")


@pytest.fixture(scope="session")
def small_alone(small, tmp_path_factory, compiled):
    """The same by one worker, with all programs compiled: how long it takes then."""
    return run_once(Lab(tmp_path_factory.mktemp("alone"), compiled), SMALL, "--jobs", "1")
