"""What benchmarks of finite worlds measure is right, whatever the time that it takes."""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from wmlab.bench import finite
from wmlab.planning.finite import direct


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(direct, "LARGE", 0)


def test_a_small_maze_is_read_out_to_the_last_transition():
    row = finite.measure_maze(3)
    assert row["states"] == 64 * 9 + 2 * 8 * 7 and row["tv"] < 1e-12 and row["l1_max"] < 1e-9


class Sweeps:
    """A solver with the interface of mdpsolver: value iteration, by what it is told of rewards and transitions."""

    def mdp(self, discount, rewards, tranMatProbs, tranMatColumns):
        self.discount, self.rewards = discount, np.array(rewards)
        columns = [columns for lists in tranMatColumns for columns in lists]
        ends = np.cumsum([0, *map(len, columns)])
        chances = np.concatenate([each for lists in tranMatProbs for each in lists])
        self.table = csr_array((chances, np.concatenate(columns), ends), (len(columns), len(rewards)))

    def solve(self, algorithm, update, tolerance):
        self.value = np.zeros(len(self.rewards))
        for _ in range(500):
            self.value = (self.rewards + self.discount * (self.table @ self.value).reshape(self.rewards.shape)).max(1)

    def getValueVector(self):
        return self.value.tolist()


def test_another_solver_is_told_the_same_world(monkeypatch):
    monkeypatch.setitem(sys.modules, "mdpsolver", SimpleNamespace(model=Sweeps))
    monkeypatch.setattr(finite, "DISCOUNT", 0.9)
    assert finite.measure_mdpsolver(2)["gap"] < 1e-9


@pytest.mark.skipif(importlib.util.find_spec("mdpsolver") is None, reason="there is no wheel for this machine")
def test_mdpsolver_finds_the_same_values():
    assert finite.measure_mdpsolver(3)["gap"] < 1e-9


def test_without_that_solver_a_benchmark_says_so(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    finite.print_mdpsolver(3)
    assert "mdpsolver is not installed" in capsys.readouterr().out
