"""Files of safetensors and of NumPy: tensors by name, whoever wrote them."""

from __future__ import annotations

import functools
import math
import re
from pathlib import Path

import numpy as np

from wmlab.foreign.archives import Archive
from wmlab.foreign.tensors import Library, StateDict, Tensor, require_sizes
from wmlab.limits import AGENT_FILE_BYTES, ARRAY_BYTES
from wmlab.spec.check.array_headers import DAMAGED_ARCHIVE, DAMAGED_HEADER, Unreadable, npz_shapes, safetensors_shapes
from wmlab.spec.files import open_regular

JOINTS = re.compile(r"[,/]")  # purejaxql joins names by commas, others by slashes


def safetensors_tensors(path: Path, length: int) -> StateDict:
    """The tensors of a .safetensors file. It keeps no order: names are sorted, 10 after 9."""
    shapes = safetensors_shapes(str(path))
    require_sizes({name: (shape, 0) for name, shape in shapes.items()}, length)
    return named_tensors({name: Tensor(shape, functools.partial(_read, path, name)) for name, shape in shapes.items()})


def _read(path: Path, name: str) -> np.ndarray:
    import safetensors

    with safetensors.safe_open(str(path), framework="numpy") as archive:
        return np.asarray(archive.get_tensor(name))


def npz_tensors(path: Path, length: int) -> StateDict:
    """The arrays of a .npz file, in its order."""
    shapes = npz_shapes(str(path))
    require_sizes({name: (shape, 8 * math.prod(shape)) for name, shape in shapes.items()}, 8 * length)
    return named_tensors(
        {name: Tensor(shape, functools.partial(_read_npz, path, name)) for name, shape in shapes.items()}
    )


def _read_npz(path: Path, name: str) -> np.ndarray:
    import io

    with open_regular(path, AGENT_FILE_BYTES) as stream:
        archive = Archive(stream)
        data = archive.read(name if name in archive.parts else f"{name}.npy", ARRAY_BYTES)
    try:
        # Objects would have to be unpickled, which runs code: NumPy refuses them, and so do we.
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (*DAMAGED_ARCHIVE, *DAMAGED_HEADER):
        raise Unreadable(f"'{name}' is damaged; save it again with numpy.savez") from None


def named_tensors(tensors: dict[str, Tensor]) -> StateDict:
    """Tensors under names with dots, in their natural order; kernels are Flax's, weights are PyTorch's."""
    named = {JOINTS.sub(".", name): tensors[name] for name in sorted(tensors, key=natural)}
    if len(named) < len(tensors):
        raise Unreadable("two of its tensors have the same name, but for the signs between words")
    library: Library = "flax" if any(name.rpartition(".")[2] == "kernel" for name in named) else "torch"
    return StateDict(named, library, {})


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key by which network.9 stands before network.10."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part[:18]), "") if part.isdecimal() else (1, 0, part) for part in parts if part]
