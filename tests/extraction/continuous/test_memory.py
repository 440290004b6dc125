"""What a fit takes of memory follows from a budget, whatever goals, actions and width come to."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.extraction.continuous.worlds import integrator
from wmlab.core import programs
from wmlab.core.memory import ARRAYS_AT_ONCE, BATCH_BYTES, WORKER_BYTES
from wmlab.core.programs import fitting_parts, map_in_chunks
from wmlab.extraction.continuous import estimators
from wmlab.extraction.continuous.estimators import objective, of_states, parts_of
from wmlab.extraction.continuous.fit import evaluation_bytes, fresh_model
from wmlab.extraction.continuous.options import FitOptions, Model

SMALL = FitOptions(model=Model(depth=1, width=8), goals="all", batch=12, steps=5)


def test_rows_that_do_not_fit_together_are_taken_in_chunks(monkeypatch):
    rows = jnp.arange(10.0)[:, None]
    whole = map_in_chunks(lambda part: jnp.sin(part) @ jnp.ones((1, 50)), rows)
    monkeypatch.setattr(programs, "BATCH_BYTES", 3 * 50 * 4)
    chunks = map_in_chunks(lambda part: jnp.sin(part) @ jnp.ones((1, 50)), rows)
    assert chunks.shape == (10, 50) and np.array_equal(whole, chunks)


def test_a_batch_is_cut_into_the_fewest_equal_parts_that_fit(monkeypatch):
    monkeypatch.setattr(programs, "BATCH_BYTES", 400)

    def program(count):
        return jax.make_jaxpr(jnp.sin)(jax.ShapeDtypeStruct((count, 10), jnp.float32))

    assert [fitting_parts(program, count) for count in (10, 12, 40, 13)] == [1, 2, 4, 13]


def test_an_update_in_parts_has_the_gradient_of_the_same_states_together(monkeypatch):
    view, key, update = integrator(), jax.random.key(1), jnp.int32(0)
    model = fresh_model(view, SMALL, 0)
    monkeypatch.setattr(estimators, "parts_of", lambda *_: 4)

    def in_parts(weights):
        return objective(dataclasses.replace(model, weights=weights), view, SMALL, key, update)[0]

    def by_hand(weights):
        part, several = dataclasses.replace(SMALL, batch=3), jax.random.split(key, 4)
        same = dataclasses.replace(model, weights=weights)
        return sum(of_states(same, view, part, one, update)[0] for one in several) / 4

    found, expected = (jax.tree.leaves(jax.jit(jax.grad(loss))(model.weights)) for loss in (in_parts, by_hand))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_an_update_that_fits_is_left_in_one_part_and_one_that_does_not_is_cut(monkeypatch):
    view, key, update = integrator(), jax.random.key(1), jnp.int32(0)
    model = fresh_model(view, SMALL, 0)
    assert parts_of(model, view, SMALL, key, update) == 1
    for module in (estimators, programs):
        monkeypatch.setattr(module, "BATCH_BYTES", 1000)
    assert 1 < parts_of(model, view, SMALL, key, update) <= SMALL.batch


def test_the_estimate_of_an_evaluation_is_its_budget_and_what_it_leaves():
    few, many = evaluation_bytes(integrator(goals=2)), evaluation_bytes(integrator(goals=3000))
    assert WORKER_BYTES < few < many
    left = 20 * 4096 * integrator().actions * 3000
    assert many <= WORKER_BYTES + ARRAYS_AT_ONCE * BATCH_BYTES + left


WIDE = """
import jax, jax.numpy as jnp, numpy as np
from tests.making import continuous_goals
from wmlab.agents.external.network import network_view
from wmlab.agents.external.options import ExternalNetwork
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.extraction.continuous.fit import evaluation_bytes, explained, extract, held_out
from wmlab.extraction.continuous.options import FitOptions, Model
from wmlab.identify.local import local_ranks
from wmlab.measure.continuous.values import standing_still
from wmlab.runtime.watch import memory_of
import os
WIDTH, SIDE, ACTIONS, STATES = 576, 20, 4, 512
space = ContinuousSpace((Variable("x", -1, 1, "clip"), Variable("y", -1, 1, "clip")), tuple("nesw"), ("a",),
                        tuple((float(i),) for i in range(ACTIONS)), ((-1, 1), (-1, 1)))
line = {"linspace": [-1, 1, SIDE]}
goals = continuous_goals({"reward": {"kind": "gaussian", "sigma": 0.2}, "at": {"x": line, "y": line},
                          "terminate": "never"}, space)
form = ExternalNetwork(2, WIDTH, goal="input", observation=("x", "y"), wanted=("x", "y"))
rng = np.random.default_rng(0)
sizes = {"layer0": (4, WIDTH), "layer1": (WIDTH, WIDTH), "output": (WIDTH, ACTIONS)}
weights = {f"{name}.weight": rng.normal(size=size).astype(np.float32) / size[0] ** 0.5 for name, size in sizes.items()}
weights |= {f"{name}.bias": np.zeros(size[1], np.float32) for name, size in sizes.items()}
view = network_view(weights, form, space, goals, 0.9, "greedy")
assert view.goals == 400
from wmlab.extraction.continuous import fit
fit.STATES = STATES
options = FitOptions(model=Model(depth=1, width=16), goals="all", batch=BATCH, steps=2)
found = extract(view, options, 0)
states = np.asarray(found.states)
assert len(states) == STATES and found.errors.shape == (STATES, ACTIONS, 400)
standing_still(view, states)
local_ranks(view, states[:128], 1e-3)
print(memory_of(os.getpid())[1], evaluation_bytes(view))
"""


@pytest.mark.slow
@pytest.mark.parametrize("batch", [256, 1024])
def test_400_goals_at_a_width_of_576_stay_below_two_gib(batch):
    script = WIDE.replace("BATCH", str(batch))
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    peak, estimate = map(int, said.stdout.split())
    assert peak < 2 * 2**30 and estimate < 2 * 2**30
