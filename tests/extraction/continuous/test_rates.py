"""Rates that are found: those that there are, none where there are none, and the second reading is one that knows."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extraction.continuous.test_fit import same
from tests.extraction.continuous.worlds import TIME, delta_nmse, integrate, integrator, windy
from wmlab.core.continuous.view import Frame
from wmlab.extraction.continuous.fit import extract, held_out
from wmlab.extraction.continuous.options import FOUND, FitOptimiser, FitOptions, Model
from wmlab.extraction.continuous.rates import rates_in, read_with_rates, share_explained, with_rates

SMALL = {"depth": 1, "width": 16, "encoding": "normalised"}
FINDING = FitOptions(
    model=Model(**SMALL, rates=FOUND), optimiser=FitOptimiser(rate=1e-2), goals="all", steps=400, batch=64
)


def frame_of(*edges):
    return Frame(jnp.array([[-1.0, 1.0]] * len(edges)), edges, tuple("abcdef"[: len(edges)]))


def test_the_rate_in_a_double_integrator_is_found_and_the_time_of_a_step_with_it():
    view = integrator()
    found = read_with_rates(extract, view, FINDING, 0)
    assert found.notes["rates"] == {"position": "velocity"}
    assert found.weights["rate.weight"] * 2 == pytest.approx(TIME, rel=0.01)  # positions span twice what velocities do
    assert delta_nmse(found.model.predict, integrate, held_out(view, 1)).max() <= 1e-3


def test_the_second_reading_is_that_of_one_who_knows_the_rates():
    view = integrator()
    knows = extract(view, with_rates(FINDING, {"position": "velocity"}), 0)
    found = read_with_rates(extract, view, FINDING, 0)
    assert same(found, knows) and found.curve.tobytes() == knows.curve.tobytes()


def test_where_nothing_moves_by_a_rate_the_second_reading_is_held_to_none():
    view, plain = windy(), dataclasses.replace(FINDING, steps=100)
    found = read_with_rates(extract, view, plain, 0)
    assert found.notes["rates"] == {} and same(found, extract(view, with_rates(plain, {}), 0))


def test_the_first_reading_looks_one_step_ahead_and_the_second_as_far_as_it_is_told():
    asked = []

    def read(view, options, seed, **hooks):
        asked.append((options.horizon, options.model.rates))
        return extract(view, dataclasses.replace(options, horizon=1), seed, **hooks)

    read_with_rates(read, integrator(), dataclasses.replace(FINDING, horizon=3), 0)
    assert asked == [(1, {}), (3, {"position": "velocity"})]


@pytest.mark.parametrize("after", [0.2, 0.8], ids=["in the first reading", "in the second"])
def test_a_reading_that_was_interrupted_ends_in_the_same_bytes(after):
    view, kept, told = integrator(), [], []
    hooks = {"progress": lambda done, total, *_: told.append((done, total)), "save_every": 0.0}
    whole = read_with_rates(extract, view, FINDING, 7, save=kept.append, **hooks)
    assert told == sorted(told) and told[-1] == (800, 800)
    resumed = read_with_rates(extract, view, FINDING, 7, resume=kept[int(after * len(kept))])
    assert same(whole, resumed) and whole.notes == resumed.notes


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 5), noise=st.floats(0.0, 0.5))
def test_what_is_explained_is_what_the_least_squares_of_numpy_leaves(seed, size, noise):
    random = np.random.default_rng(seed)
    after = random.normal(size=(200, size))
    moved = after @ random.normal(size=(size, size)) + noise * random.normal(size=(200, size)) + 0.3
    share = share_explained(moved, after)
    for column in range(size):
        for rate in range(size):
            left = np.linalg.lstsq(after[:, [rate]], moved[:, column], rcond=None)[1][0]
            assert share[column, rate] == pytest.approx(1 - left / (200 * moved[:, column].var()), abs=1e-9)


@given(seed=st.integers(0, 2**32 - 1), pairs=st.integers(1, 3), noise=st.floats(0.0, 0.3))
def test_whatever_moves_by_another_is_found_and_nothing_else(seed, pairs, noise):
    random, columns = np.random.default_rng(seed), np.random.default_rng(seed + 1).permutation(2 * pairs)
    after = random.uniform(-1, 1, (2_000, 2 * pairs))
    moved = 0.1 * random.normal(size=after.shape)
    truth = sorted((int(one), int(other)) for one, other in columns.reshape(-1, 2))
    for place, rate in truth:
        moved[:, place] = 0.05 * after[:, rate] + 0.05 * noise * random.normal(size=2_000)
    assert rates_in(moved, after, frame_of(*["open"] * 2 * pairs)) == truth


def test_an_angle_is_nobodys_rate_and_a_rate_has_none_of_its_own():
    after = np.random.default_rng(0).uniform(-1, 1, (500, 3))
    chain = np.stack([after[:, 1], after[:, 2], 0.1 * after[:, 0]], axis=1)  # a by b, b by c, c by a
    assert rates_in(chain, after, frame_of("open", "open", "open")) in ([(0, 1)], [(1, 2)], [(2, 0)])
    assert rates_in(chain, after, frame_of("open", "wrap", "wrap")) == [(2, 0)]


def test_a_drift_is_not_explained_by_a_variable_that_is_far_from_zero():
    random = np.random.default_rng(0)
    after = random.uniform([5.0, -1.0], [5.1, 1.0], (500, 2))
    moved = np.stack([np.zeros(500), 1.0 + 0.01 * random.normal(size=500)], axis=1)  # b drifts, whatever a is
    assert rates_in(moved, after, frame_of("open", "open")) == []
