"""What is computed in batches takes a bounded amount of memory, whatever the number of goals."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.extraction.continuous.worlds import integrator
from wmlab.core import programs
from wmlab.core.memory import BATCH_BYTES
from wmlab.core.programs import fitting_batch, held_at_once, largest_array, map_in_batches
from wmlab.extraction.continuous.fit import ROWS, held_out, residuals
from wmlab.extraction.continuous.match import find
from wmlab.extraction.continuous.match_options import Search


def wide(row):
    """A row [] through an array [1000, 100] to a number []."""
    return jnp.sin(row * jnp.ones((1000, 100))).sum()


def largest_of(function, *arguments):
    return largest_array(jax.make_jaxpr(function)(*arguments).jaxpr)


def held_of(function, *arguments):
    return held_at_once(jax.make_jaxpr(function)(*arguments).jaxpr)


def test_the_largest_array_of_a_program_is_found_in_its_loops_too():
    assert largest_of(wide, 1.0) == 400_000
    assert largest_of(jax.jit(lambda rows: jax.lax.map(wide, rows, batch_size=8)), jnp.ones(64)) == 8 * 400_000


def test_what_a_program_holds_at_once_is_counted_step_by_step():
    def chain(row):  # [250]: each step holds what it reads and what it makes, 1000 bytes each
        return jnp.cos(jnp.sin(row * 2.0))

    def branches(row):  # the first is kept beside both steps of the second
        first = jnp.sin(row * 2.0)
        return first + jnp.cos(jnp.tan(row))

    def looped(row):  # what a loop holds counts beside what is held around it
        first = jnp.sin(row)
        return first + jax.lax.fori_loop(0, 3, lambda _, now: jnp.cos(jnp.tan(now)), row)

    row = jnp.ones(250)
    assert held_of(chain, row) == 2000 and held_of(branches, row) == 3000
    assert held_of(looped, row) > 3000
    assert held_of(lambda row: row > 0.5, row) == 1000  # a condition as the numbers that it was made of


def test_a_gradient_holds_what_it_needs_of_each_step():
    def deep(row):
        for _ in range(8):
            row = jnp.tanh(row)
        return row.sum()

    row = jnp.ones(250)
    assert held_of(jax.grad(deep), row) >= 8000 > 3 * held_of(deep, row)


def test_a_batch_is_halved_until_it_fits_and_left_alone_where_it_does(monkeypatch):
    rows = jnp.linspace(0, 1, 50)
    expected = np.array([wide(row) for row in rows])
    for budget, most in ((2**40, 64), (64 * 400_000, 64), (8 * 400_000, 8), (9 * 400_000, 8), (1, 1)):
        monkeypatch.setattr(programs, "BATCH_BYTES", budget)
        sizes = []

        def program(size, sizes=sizes):
            sizes.append(size)
            return jax.make_jaxpr(jax.vmap(wide))(jnp.ones(size))

        assert fitting_batch(program, 64) == most
        assert np.allclose(map_in_batches(wide, rows, 64), expected)


def evaluation(goals: int) -> int:
    """Bytes of the largest array in the evaluation of a fit to so many goals."""
    view = integrator(goals=goals)
    states = held_out(view, 0, ROWS)
    after = jax.ShapeDtypeStruct((1, ROWS, view.actions, 2), jnp.float32)
    return largest_of(residuals, view, states, after)


@pytest.mark.parametrize("goals", [400, 3000])
def test_the_evaluation_of_a_fit_to_hundreds_of_goals_stays_within_its_batch(goals):
    assert evaluation(6) < evaluation(60)  # a few goals leave the batch as it is
    assert BATCH_BYTES // 4 < evaluation(goals) <= BATCH_BYTES


def test_smaller_batches_give_the_same_residuals(monkeypatch):
    view = integrator()
    states = held_out(view, 0, 100)
    after = jnp.broadcast_to(states[None, :, None], (1, 100, view.actions, 2))
    expected = np.asarray(residuals(view, states, after))
    monkeypatch.setattr(programs, "BATCH_BYTES", 1)
    residuals.clear_cache()
    try:
        assert np.allclose(residuals(view, states, after), expected, atol=1e-6)
    finally:
        residuals.clear_cache()


def test_smaller_batches_match_the_same_next_states(monkeypatch):
    view, search = integrator(), Search(candidates=16, rounds=2, beam=2)
    states = held_out(view, 0, 40)
    expected = [np.asarray(part) for part in find(view, states, search)]
    monkeypatch.setattr(programs, "BATCH_BYTES", 100_000)
    for part, whole in zip(find(view, states, search), expected, strict=True):
        assert np.allclose(part, whole, atol=1e-6)
