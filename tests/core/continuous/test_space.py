"""Named variables, circles and derived variables."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from wmlab.core.continuous.space import ContinuousSpace, Variable, product_of_actions
from wmlab.mdps import gymnax


def reacher() -> ContinuousSpace:
    return gymnax.space(gymnax.Options("Reacher-misc"))


def test_angles_wrap_walls_hold_and_open_ends_are_left_alone():
    variables = (Variable("a", -math.pi, math.pi, "wrap"), Variable("b", -1, 1, "clip"), Variable("c"))
    space = ContinuousSpace(variables, ("go",), ("u",), ((0.0,),), ((0, 0),) * 3)
    np.testing.assert_allclose(space.settle(np.array([math.pi + 0.1, 3.0, 7.0])), [-math.pi + 0.1, 1, 7])
    np.testing.assert_allclose(space.difference(np.array([3.1, 0.5, 9]), np.array([-3.1, 0, 1]))[0], 6.2 - 2 * math.pi)


def test_the_fingertip_is_derived_from_the_joints():
    full = reacher().full(np.array([[0.0, math.pi / 2, 1.0, 2.0]]))
    np.testing.assert_allclose(full, [[0, math.pi / 2, 1, 2, 1, 1]], atol=1e-12)


def test_an_unknown_variable_is_told_from_a_misspelt_one():
    with pytest.raises(LookupError, match="no variable 'omega3'; did you mean 'omega"):
        reacher().column("omega3")


def test_a_variable_without_a_range_cannot_be_drawn_uniformly_but_bounds_help():
    with pytest.raises(LookupError, match="omega1 has no range"):
        reacher().ranges()
    assert reacher().ranges({"omega1": (-2, 2), "omega2": (-3, 3)})[3].tolist() == [-3, 3]
    drawn = reacher().sample(np.random.default_rng(0), 100, "reset")
    assert (np.abs(drawn[:, 2:]) <= 1).all() and np.abs(drawn[:, :2]).max() > 2


def test_actions_are_the_product_of_their_components():
    names, values = product_of_actions({"u": [0, 1], "v": [5]})
    assert names == ("u=0, v=5", "u=1, v=5") and values == ((0, 5), (1, 5))


def test_equal_spaces_hash_alike_so_that_programs_are_shared():
    assert reacher() == reacher() and hash(reacher()) == hash(reacher())


def test_spaces_goals_and_checks_of_continuous_worlds_are_read_without_jax():
    code = """
import sys
from wmlab.mdps import gymnax
from wmlab.planning import grid_value_iteration as solver
import wmlab.core.continuous.check_goals, wmlab.measure.continuous.check
gymnax.space(gymnax.Options("Reacher-misc"))
sys.exit("jax" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
