"""Headers of files that hold arrays: a damaged one is refused with words, whatever its bytes are."""

from __future__ import annotations

import io
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from wmlab.spec.check.array_headers import Unreadable, npz_shapes, safetensors_shapes

START = b"\x93NUMPY\x01\x00"


@pytest.fixture
def file(tmp_path: Path):
    """A function from bytes to the path of a file that holds them."""

    def write(content: bytes) -> str:
        (tmp_path / "file").write_bytes(content)
        return str(tmp_path / "file")

    return write


def archive(member: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("q.npy", member)
    return stream.getvalue()


def headed(header: bytes) -> bytes:
    return START + struct.pack("<H", len(header)) + header


def tensors(header: str, data: bytes = bytes(4)) -> bytes:
    return struct.pack("<Q", len(header)) + header.encode() + data


def test_the_shapes_that_numpy_writes_are_read_back(file):
    stream = io.BytesIO()
    np.savez(stream, q=np.zeros((3, 2)), bias=np.zeros(4, np.float32), one=np.float16(1), yes=np.ones((1, 0), bool))
    assert npz_shapes(file(stream.getvalue())) == {"q": (3, 2), "bias": (4,), "one": (), "yes": (1, 0)}


def test_an_array_with_a_long_header_is_read_back(file):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.zeros((2, 5)), version=(2, 0))
    assert npz_shapes(file(archive(stream.getvalue()))) == {"q": (2, 5)}


@pytest.mark.parametrize(
    "member",
    [
        START,
        START + b"\x01",
        headed(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1e999,)}"),
        headed(b"{'descr': '<f8', 'fortran_order': False, 'shape': 3}"),
        headed(b"{'descr': '<f8', 'shape': 3}"),
        headed(b"{'descr': 'no type', 'fortran_order': False, 'shape': (3,)}"),
        headed(b"{'descr': '(1,2 3)f8', 'fortran_order': False, 'shape': (3,)}"),
        headed(b"("),
        headed(b"(" * 9_000),
        headed(b"__import__('os').abort()"),
    ],
    ids=[
        "no length",
        "half a length",
        "endless",
        "no tuple",
        "no order",
        "no type",
        "no repetition",
        "no literal",
        "deep",
        "code",
    ],
)
def test_an_array_whose_header_is_damaged_is_refused_by_name(file, member):
    with pytest.raises(Unreadable, match="the header of 'q' cannot be read"):
        npz_shapes(file(archive(member)))


@pytest.mark.parametrize("member", [b"", b"\x93NUM", b"no array at all", b"\x93NUMPY\x09\x00"])
def test_a_member_that_is_no_array_is_refused_by_name(file, member):
    with pytest.raises(Unreadable, match="'q' (is no array|cannot be read)|the header of 'q' cannot be read"):
        npz_shapes(file(archive(member)))


def test_a_member_whose_name_is_no_text_is_refused(file):
    content = archive(b"").replace(b"q.npy", b"\x92.npy")
    at = content.index(b"PK\x01\x02") + 9
    utf8 = content[:at] + bytes([content[at] | 0x08]) + content[at + 1 :]  # the flag that says: the name is UTF-8
    with pytest.raises(Unreadable, match="it is no whole archive of arrays"):
        npz_shapes(file(utf8))


@pytest.mark.parametrize("descr", ["'|O'", "[('a', '<f8')]", "'<c16'", "'<U3'", "'<M8[s]'"])
def test_an_array_of_anything_but_plain_numbers_is_refused(file, descr):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': (3,)}}".encode()
    with pytest.raises(Unreadable, match="'q' holds (Python objects|no plain numbers)"):
        npz_shapes(file(archive(headed(header))))


@pytest.mark.parametrize("shape", ["[Infinity]", "[NaN]", "3", '["a"]', "[-1]", "[5]", "[18446744073709551615, 2]"])
def test_a_file_of_safetensors_with_an_impossible_shape_is_refused(file, shape):
    header = f'{{"q": {{"dtype": "F32", "shape": {shape}, "data_offsets": [0, 4]}}}}'
    with pytest.raises(Unreadable, match="no file of safetensors"):
        safetensors_shapes(file(tensors(header)))


@pytest.mark.parametrize("data", [b"", bytes(3), bytes(9)])
def test_a_file_of_safetensors_that_lies_about_its_length_is_refused(file, data):
    header = '{"q": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'
    with pytest.raises(Unreadable, match="it is cut short"):
        safetensors_shapes(file(tensors(header, data)))


def test_a_header_as_long_as_a_pickles_first_byte_says_is_no_pickle(file):
    lengths = set()
    for size in range(200):
        written = save({"q" * (size + 1): np.zeros((2, 3), np.float32)})
        lengths.add(written[0])
        assert safetensors_shapes(file(written)) == {"q" * (size + 1): (2, 3)}
    assert 0x80 in lengths


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_in_disguise_is_told(file, protocol):
    written = pickle.dumps({"q": [1.0, 2.0]}, protocol=protocol)
    with pytest.raises(Unreadable, match="pickle"):
        safetensors_shapes(file(written))


def test_readers_of_arrays_are_not_imported_before_they_are_needed():
    code = (
        "import sys, wmlab.spec.check.array_headers; assert not {'numpy', 'safetensors', 'jsonschema'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
