"""Files of torch.save: a .zip with a pickle that names tensors, and a part for the numbers of each storage."""

from __future__ import annotations

import functools
import math
from typing import IO

import numpy as np

from wmlab.foreign.archives import Archive
from wmlab.foreign.instructions import INSTEAD, read_instructions
from wmlab.foreign.tensors import StateDict, Tensor, flattened, require_sizes
from wmlab.foreign.torch_names import Storage, TensorPlace
from wmlab.limits import ARRAY_BYTES, DESCRIPTION_BYTES, shorten
from wmlab.spec.check.array_headers import Unreadable
from wmlab.spec.files import size

LEGACY = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."  # how files began before PyTorch 1.6
OLD = (
    "it is in the format of PyTorch before 1.6; write it anew where you trust it:"
    " torch.save(torch.load(file, weights_only=True), file)"
)
PROGRAM = "data.pkl"


def program_of(archive: Archive) -> str | None:
    """The part that names the tensors, if this is a file of torch.save: in a folder of its own, or at the top."""
    found = [name for name in archive.parts if name == PROGRAM or name.split("/")[1:] == [PROGRAM]]
    return found[0] if len(found) == 1 else None


def torch_tensors(stream: IO[bytes]) -> StateDict:
    """The tensors of a file of torch.save, by the paths that lead to them."""
    archive = Archive(stream)
    program = program_of(archive)
    if program is None:
        raise Unreadable(f"it is no file of torch.save; {INSTEAD}")
    folder = program.removesuffix(PROGRAM)
    said = read_instructions(archive.read(program, DESCRIPTION_BYTES))
    leaves = dict(flattened(said))
    places = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, TensorPlace)}
    require_sizes(
        {name: (place.shape, math.prod(place.shape) * width_of(place.storage)) for name, place in places.items()},
        archive.length,
    )
    if f"{folder}byteorder" in archive.parts and archive.read(f"{folder}byteorder", 16) != b"little":
        raise Unreadable("its numbers are in the order of another kind of machine; save it on a common one")
    tensors = {
        name: Tensor(place.shape, functools.partial(read_tensor, archive, folder, name, place))
        for name, place in places.items()
    }
    beside = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, (str, int, float))}
    return StateDict(tensors, "torch", beside)


def width_of(storage: Storage) -> int:
    """Bytes of one number."""
    return 2 if storage.dtype == "bfloat16" else np.dtype(storage.dtype).itemsize


def read_tensor(archive: Archive, folder: str, name: str, place: TensorPlace) -> np.ndarray:
    """The numbers of a tensor; its strides may not lead out of its storage, nor say more than is there."""
    storage, count = place.storage, math.prod(place.shape)
    last = place.offset + sum((length - 1) * step for length, step in zip(place.shape, place.strides, strict=True))
    if count and (last >= storage.count or count > storage.count):
        raise Unreadable(f"'{shorten(name)}' reaches beyond its {storage.count} numbers")
    part, needed = f"{folder}data/{storage.key}", storage.count * width_of(storage)
    data = archive.read(part, min(ARRAY_BYTES, archive.length))
    if len(data) != needed:
        raise Unreadable(f"'{shorten(name)}' is to have {size(needed)}, and there are {size(len(data))}")
    if storage.dtype == "bfloat16":  # the upper half of a float32
        flat = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        flat = np.frombuffer(data, np.dtype(storage.dtype).newbyteorder("<"))
    if not count:
        return np.zeros(place.shape)
    steps = [step * flat.itemsize for step in place.strides]
    return np.lib.stride_tricks.as_strided(flat[place.offset :], place.shape, steps, writeable=False).copy()
