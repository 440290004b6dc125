"""Kernels as lists of successors."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wmlab.core.finite.kernel import Kernel

TABLES = arrays(np.float64, (4, 2, 4), elements=st.sampled_from([0.0, 0.0, 0.25, 1.0, -0.5]))


@given(TABLES)
def test_a_table_survives_the_way_to_lists_and_back(table):
    kernel = Kernel.dense(table)
    assert (kernel.to_dense() == table).all()
    assert kernel.successors.dtype == np.int32
    assert kernel.width == max(1, (table != 0).sum(axis=-1).max())
    assert ((kernel.successors >= 0) & (kernel.successors < 4)).all()


@given(
    arrays(np.int32, (3, 2, 5), elements=st.integers(-1, 2)),
    arrays(np.float64, (3, 2, 5), elements=st.sampled_from([0.0, 0.25, 0.5])),
)
def test_successors_that_come_up_twice_are_merged(successors, weights):
    expected = np.zeros((3, 2, 3))
    for state, action, slot in np.ndindex(3, 2, 5):
        if successors[state, action, slot] >= 0:
            expected[state, action, successors[state, action, slot]] += weights[state, action, slot]
    kernel = Kernel.merged(successors, weights)
    assert (kernel.to_dense() == expected).all()
    present = np.where(kernel.probabilities != 0, kernel.successors, np.arange(-kernel.width, 0))
    assert all(len(set(row)) == len(row) for row in present.reshape(-1, kernel.width).tolist())


@given(TABLES, st.booleans())
def test_expectations_are_the_same_by_list_and_by_table(table, spread):
    size = 40 if spread else 4  # the larger one takes the local way
    wide = np.zeros((size, 2, size))
    wide[:4, :, :4] = table
    values = np.linspace(-1, 2, 3 * size).reshape(3, size)
    kernel = Kernel.dense(wide)
    assert kernel.is_local == spread
    np.testing.assert_allclose(kernel.expect(values), np.einsum("xay,ry->rxa", wide, values), atol=1e-12)


def test_a_deterministic_kernel_goes_where_it_says():
    kernel = Kernel.deterministic(np.array([[1, 0], [1, 1]]))
    assert kernel.to_dense().argmax(axis=-1).tolist() == [[1, 0], [1, 1]]
    assert (kernel.probabilities == 1).all()


def test_a_pseudo_world_is_clipped_to_one_that_can_be_planned_in():
    table = np.array([[[1.5, -0.5], [0.2, 0.2]], [[-1.0, 0.0], [0.0, 1.0]]])
    clipped = Kernel.dense(table).clipped()
    assert clipped.to_dense().tolist() == [[[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]]


@given(arrays(np.float64, (3, 2, 3), elements=st.floats(0.01, 1)))
def test_clipping_leaves_a_true_kernel_as_it_is(weights):
    table = weights / weights.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(Kernel.dense(table).clipped().to_dense(), table, rtol=1e-15)
