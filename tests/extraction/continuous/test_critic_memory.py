"""What critics of actions from a box take of memory follows from the same budget: each action that is drawn counts."""

from __future__ import annotations

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.agents.external.wide import SAC, TD3, wide_critics
from wmlab.core import programs
from wmlab.core.memory import ARRAYS_AT_ONCE, BATCH_BYTES
from wmlab.core.programs import largest_array
from wmlab.extraction.continuous import estimators
from wmlab.extraction.continuous.fit import (
    ROWS,
    _values,
    advance,
    begin,
    evaluation_bytes,
    fresh_model,
    held_out,
    residuals,
)
from wmlab.extraction.continuous.options import FitOptions, Model
from wmlab.identify.local import _decomposed
from wmlab.measure.continuous.values import _unmoved
from wmlab.stages.continuous.explore import _own_values

STATES = jax.ShapeDtypeStruct((ROWS, 2), jnp.float32)
AFTER = jax.ShapeDtypeStruct((1, ROWS, 16, 2), jnp.float32)
WIDE = wide_critics()
PROGRAMS = {
    "residuals": (residuals, (WIDE, STATES, AFTER)),
    "standing still": (_unmoved, (WIDE, STATES)),
    "values": (_values, (WIDE, STATES)),
    "slopes": (_decomposed, (WIDE, STATES)),
    "explorer": (_own_values, (WIDE, STATES)),
}


def compiled_bytes(program, *arguments) -> int:
    """What a compiled program holds beside its arguments and its answer."""
    return program.lower(*arguments).compile().memory_analysis().temp_size_in_bytes


def update_of(view, **options):
    """One update of a fit, and what it takes."""
    fit = FitOptions(model=Model(depth=1, width=16), steps=2, **options)
    state = begin(fresh_model(view, fit, 0), fit, jax.random.key_data(jax.random.key(0)))
    return jax.jit(lambda state, view: advance(state, view, jnp.int32(1), estimators.objective, fit)), (state, view)


@pytest.mark.parametrize("name", PROGRAMS)
def test_critics_with_400_goals_at_a_width_of_576_are_asked_within_the_budget(name):
    program, arguments = PROGRAMS[name]
    assert BATCH_BYTES // 4 < largest_array(jax.make_jaxpr(program)(*arguments).jaxpr) <= BATCH_BYTES
    assert compiled_bytes(program, *arguments) <= ARRAYS_AT_ONCE * BATCH_BYTES


@pytest.mark.parametrize(("critics", "actor"), [(1, {}), (1, SAC), (5, TD3)], ids=["plain", "sac", "td3"])
def test_an_update_to_all_goals_of_deep_critics_stays_within_the_budget(critics, actor):
    view = wide_critics(depth=6, critics=critics, actor=actor)
    update, arguments = update_of(view, goals="all", batch=256)
    assert compiled_bytes(update, *arguments) <= ARRAYS_AT_ONCE * BATCH_BYTES


def test_more_critics_are_asked_one_after_the_other_and_take_no_more():
    two, ten = (wide_critics(side=3, width=64, critics=count) for count in (2, 10))
    few, many = (compiled_bytes(_values, view, STATES) for view in (two, ten))
    assert many < 1.1 * few


def test_the_estimate_of_critics_counts_every_action_that_is_drawn():
    drawn, plain = (evaluation_bytes(wide_critics(side=2, width=16, actor=actor)) for actor in (TD3, {}))
    each = 4 * 16 * 4 * 16  # bytes of a state under 16 actions, for 4 goals, at a width of 16
    assert drawn - plain == ARRAYS_AT_ONCE * (4 - 1) * ROWS * each


def test_smaller_batches_give_the_same_residuals_of_critics(monkeypatch):
    view = wide_critics(side=2, width=8)
    states = held_out(view, 0, 50)
    after = jnp.broadcast_to(states[None, :, None], (1, 50, view.actions, 2))
    expected = np.asarray(residuals(view, states, after))
    monkeypatch.setattr(programs, "BATCH_BYTES", 20_000)
    residuals.clear_cache()
    try:
        assert np.allclose(residuals(view, states, after), expected, atol=1e-6)
    finally:
        residuals.clear_cache()


STAGES = """
import os, sys
import numpy as np
from tests.agents.external.wide import wide_critics
from wmlab.extraction.continuous import fit
from wmlab.extraction.continuous.options import FitOptions, Model
from wmlab.identify.local import local_ranks
from wmlab.measure.continuous.values import standing_still
from wmlab.runtime.watch import memory_of
from wmlab.stages.continuous.explore import own_values
width, states, batch = map(int, sys.argv[1:])
fit.STATES = states
view = wide_critics(width=width)
assert view.goals == 400
found = fit.extract(view, FitOptions(model=Model(depth=1, width=16), goals="all", batch=batch, steps=2), 0)
assert found.errors.shape == (states, 16, 400)
sizes = np.abs(found.errors.astype(np.float64))
still = np.abs(standing_still(view, found.states))
assert np.isfinite((sizes**2).mean() + still.mean())
local_ranks(view, found.states[:64], 1e-3)
own_values(view, found.states[:64], 9)
print(memory_of(os.getpid())[1], fit.evaluation_bytes(view))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("width", "states", "batch"), [(576, 32, 32), (8, 4096, 256)])
def test_critics_with_400_goals_stay_below_two_gib_and_below_their_estimate(width, states, batch):
    command = [sys.executable, "-c", STAGES, str(width), str(states), str(batch)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, estimate = map(int, said.stdout.split())
    assert peak < estimate < 2 * 2**30
