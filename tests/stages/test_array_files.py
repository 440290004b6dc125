"""Arrays from files of others: what is asked for is read, whatever lies beside it; sizes are looked at first."""

from __future__ import annotations

import io
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import StageError
from wmlab.stages import array_files
from wmlab.stages.array_files import read_arrays, read_table
from wmlab.stages.kernel_files import read_rows

Q = np.arange(1000.0)
NAMES = {"state": ("s0", "s1"), "action": ("a0",), "goal": ("g0",)}


def member(shape: str, data: bytes = b"") -> bytes:
    """An array as NumPy writes it, whose header may lie."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def archive(path: Path, **members: bytes) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return str(path)


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def test_an_archive_with_one_wrong_byte_is_told_to_be_damaged(tmp_path):
    path = tmp_path / "q.npz"
    np.savez(path, q=Q)
    content = bytearray(path.read_bytes())
    content[3000] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(StageError, match="it is damaged; write it again"):
        np.asarray(read_arrays(str(path), {})["q"])


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_arrays_are_read_back_as_they_were_saved(tmp_path, ending):
    file = str(tmp_path / f"q.{ending}")
    arrays = {"q": Q.reshape(10, 100), "policy": np.ones((2, 3), np.float32)}
    np.savez(file, **arrays) if ending == "npz" else save_file(arrays, file)
    read = read_arrays(file, {})
    assert {name: array.shape for name, array in read.items()} == {"q": (10, 100), "policy": (2, 3)}
    for name, array in arrays.items():
        assert np.asarray(read[name]).dtype == array.dtype and (np.asarray(read[name]) == array).all()
    assert np.asarray(read["policy"], np.float64).dtype == np.float64


def test_an_array_that_is_not_asked_for_is_not_read(tmp_path):
    file = archive(tmp_path / "q.npz", q=saved(Q), zeros=saved(np.zeros(20_000_000)))  # 160 MB, in 160 KB
    tracemalloc.start()
    try:
        read = read_arrays(file, {})
        assert (np.asarray(read["q"]) == Q).all() and read["zeros"].shape == (20_000_000,)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", ["(1_000_000_000_000,)", "(2**40, 2**40)", "(1000, 1000, 1000, 1000)"])
def test_a_header_that_claims_more_than_there_is_is_refused(tmp_path, shape):
    shape = shape.replace("2**40", str(2**40)).replace("_", "")
    file = archive(tmp_path / "q.npz", q=saved(Q), other=member(shape, bytes(80)))
    with pytest.raises(StageError, match=r"'other' is cut short: its header says .* GB, and there are \d+ bytes"):
        read_arrays(file, {})


def test_an_array_beyond_the_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    file = archive(tmp_path / "q.npz", q=saved(np.zeros(200_000)))
    monkeypatch.setattr(array_files, "usable_memory", lambda: 1_000_000)
    with pytest.raises(StageError, match="'q' of 200000 numbers needs 1.6 MB; 1 MB are allowed"):
        np.asarray(read_arrays(file, {})["q"])
    table = tmp_path / "rows.csv"
    table.write_text("state,action,successor,probability\n")
    with pytest.raises(StageError, match="a table of 1000 x 1 x 1000 numbers needs 8 MB; 1 MB are allowed"):
        read_rows(str(table), {}, FiniteSpace.named(1000, 1))


def test_a_header_that_unpacks_to_more_than_a_header_is_refused(tmp_path):
    long = b"\x93NUMPY\x02\x00" + struct.pack("<I", 500_000_000) + b" " * 500_000
    with pytest.raises(StageError, match="the header of 'q' cannot be read"):
        read_arrays(archive(tmp_path / "q.npz", q=long), {})


def test_an_archive_of_too_many_members_is_refused_before_they_are_listed(tmp_path):
    path = tmp_path / "q.npz"
    with zipfile.ZipFile(path, "w") as file:
        for i in range(60):
            file.writestr("x" * 60_000 + f"{i}.npy", b"")
            file.filelist[-1].comment = b"y" * 60_000
    with pytest.raises(StageError, match="it holds too many arrays; 10 000 are allowed"):
        read_arrays(str(path), {})


def test_a_file_that_changes_between_two_readings_is_noticed(tmp_path):
    path = tmp_path / "q.npz"
    np.savez(path, q=Q)
    read = read_arrays(str(path), {})
    np.savez(path, q=Q + 1)
    os.utime(path, ns=(1, 1))
    with pytest.raises(StageError, match="was changed after the plan was made; run again"):
        np.asarray(read["q"])


@pytest.mark.parametrize("ending", ["npz", "safetensors", "csv"])
def test_a_pipe_in_place_of_a_file_is_refused_at_once(tmp_path, ending):
    file = str(tmp_path / f"q.{ending}")
    os.mkfifo(file)
    with pytest.raises(StageError, match="this is a pipe, a device or a socket, not a file"):
        read_table(file, {}, NAMES, "value", None) if ending == "csv" else read_arrays(file, {})


def test_a_table_of_ten_million_columns_gives_a_short_message(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(",".join(["a"] * 10_000_000) + "\n1\n")
    with pytest.raises(StageError, match="line 1: a row of 20000000 characters; 100000 are allowed"):
        read_table(str(path), {}, NAMES, "value", None)


@pytest.mark.parametrize(
    "content",
    [
        ",".join(f"column{i}" for i in range(9_000)) + "\n",
        "state,action,value\n" + "s" * 90_000 + ",a0,1\n",
        "state,action,value\ns0,a0," + "x" * 90_000 + "\n",
    ],
    ids=["columns", "state", "number"],
)
def test_what_a_message_repeats_of_a_file_is_cut(tmp_path, content):
    path = tmp_path / "q.csv"
    path.write_text(content)
    with pytest.raises(StageError) as error:
        read_table(str(path), {}, NAMES, "value", None)
    assert len(str(error.value)) < 600


def test_no_failure_of_a_stage_is_longer_than_a_page_can_show():
    assert len(str(StageError("x" * 30_000_000))) == 1_000
