"""Headers of files that hold arrays: a damaged one is refused with words, whatever its bytes are."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile

import numpy as np
import pytest

from wmlab.spec.check.array_headers import Unreadable, of_npz, of_safetensors

START = b"\x93NUMPY\x01\x00"


def archive(member: bytes) -> io.BytesIO:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("q.npy", member)
    stream.seek(0)
    return stream


def headed(header: bytes) -> bytes:
    return START + struct.pack("<H", len(header)) + header


def test_the_shapes_that_numpy_writes_are_read_back():
    stream = io.BytesIO()
    np.savez(stream, q=np.zeros((3, 2)), bias=np.zeros(4, np.float32))
    stream.seek(0)
    assert of_npz(stream) == {"q": (3, 2), "bias": (4,)}


@pytest.mark.parametrize(
    "member",
    [
        START,
        START + b"\x01",
        headed(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1e999,)}"),
        headed(b"{'descr': '<f8', 'shape': 3}"),
        headed(b"("),
    ],
    ids=["no length", "half a length", "endless", "no tuple", "no literal"],
)
def test_an_array_whose_header_is_damaged_is_refused_by_name(member):
    with pytest.raises(Unreadable, match="the header of 'q' cannot be read"):
        of_npz(archive(member))


@pytest.mark.parametrize("shape", ["[Infinity]", "[NaN]", "3", '["a"]'])
def test_a_file_of_safetensors_with_an_impossible_shape_is_refused(shape):
    header = f'{{"q": {{"dtype": "F32", "shape": {shape}, "data_offsets": [0, 4]}}}}'.encode()
    with pytest.raises(Unreadable, match="no file of safetensors"):
        of_safetensors(io.BytesIO(struct.pack("<Q", len(header)) + header + bytes(4)))


def test_a_header_as_long_as_a_pickles_first_byte_says_is_no_pickle():
    from safetensors.numpy import save

    lengths = set()
    for size in range(200):
        written = save({"q" * (size + 1): np.zeros((2, 3), np.float32)})
        lengths.add(written[0])
        assert of_safetensors(io.BytesIO(written)) == {"q" * (size + 1): (2, 3)}
    assert 0x80 in lengths


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_in_disguise_is_told(protocol):
    written = pickle.dumps({"q": [1.0, 2.0]}, protocol=protocol)
    with pytest.raises(Unreadable, match="pickle"):
        of_safetensors(io.BytesIO(written))
