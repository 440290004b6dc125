"""A result survives the way to bytes and back, and has one spelling."""

from __future__ import annotations

import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.runtime import codec
from wmlab.runtime.result import Result

dtypes = st.sampled_from("bool int8 int32 int64 uint8 float16 float32 float64 >f8 complex64".split())  # noqa: SIM905
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
arrays = dtypes.flatmap(lambda dtype: hnp.arrays(dtype, shapes))
names = st.text(min_size=1, max_size=6).filter(lambda name: name != "__metadata__")
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["$float", "$record", "a", "β"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def same(a, b) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(names, arrays, max_size=3), st.dictionaries(st.text(max_size=5), trees, max_size=3))
def test_a_result_comes_back_as_it_was(given_arrays, data):
    files = codec.encode(Result(given_arrays, data))
    back = codec.decode(files)
    assert back.arrays.keys() == given_arrays.keys()
    for name, array in given_arrays.items():
        assert back.arrays[name].shape == array.shape
        assert back.arrays[name].dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(back.arrays[name], array)
    assert same(back.data, data)
    assert codec.encode(back) == files


def test_the_same_result_gives_the_same_bytes_whatever_the_order_and_layout():
    table = np.arange(12.0).reshape(3, 4)
    one = Result({"a": table, "b": np.float32(2)}, {"x": 1, "y": [math.nan, -0.0]})
    other = Result({"b": np.asarray(2, np.float32), "a": np.asfortranarray(table)}, {"y": (math.nan, -0.0), "x": 1})
    assert codec.encode(one) == codec.encode(other)


def test_a_slice_is_stored_as_what_it_shows():
    table = np.arange(24).reshape(4, 6)
    back = codec.decode(codec.encode(Result({"part": table[::2, 1::3], "flipped": table.T})))
    np.testing.assert_array_equal(back.arrays["part"], table[::2, 1::3])
    np.testing.assert_array_equal(back.arrays["flipped"], table.T)


def test_nan_and_infinity_have_an_explicit_spelling():
    data = codec.encode_data({"a": math.nan, "b": -math.inf, "c": 0.1})
    assert data == b'{"a":{"$float":"nan"},"b":{"$float":"-inf"},"c":0.1}\n'


def test_a_loaded_array_cannot_be_written_to():
    back = codec.decode(codec.encode(Result({"a": np.zeros(3)})))
    with pytest.raises(ValueError, match="read-only"):
        back.arrays["a"][0] = 1


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (Result({"s": np.array(["a"])}), "array 's' has elements of type <U1; results hold numbers and booleans"),
        (Result({"o": np.array([None])}), "array 'o' has elements of type object; results hold numbers and booleans"),
        (Result({}, {"a": [{1: 2}]}), "data.a[0] has the name 1; names in a result's data are strings"),
        (Result({}, {"a": {1}}), "data.a is of type set; a result's data is JSON (arrays go into `arrays`)"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(result, message):
    with pytest.raises(TypeError) as caught:
        codec.encode(result)
    assert str(caught.value) == message
