"""Arrays of numbers and of texts, read whole where they are small; nothing in their files is ever executed."""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

from wmlab.limits import SMALL_ARRAYS_BYTES
from wmlab.spec.check.array_headers import (
    DAMAGED_ARCHIVE,
    DAMAGED_HEADER,
    NUMBERS,
    TEXTS,
    Unreadable,
    ending,
    member_shape,
    require_few_members,
    safetensors_shapes,
)
from wmlab.spec.files import FileRefused, open_regular

if TYPE_CHECKING:
    import numpy as np


def arrays_in(file: str) -> dict[str, np.ndarray] | None:
    """The arrays of an .npz or .safetensors file; None where they are many numbers.

    LookupError where there is no such file, Unreadable where it holds no arrays to be trusted.
    """
    if os.path.isabs(file) or not os.path.isfile(file) or ending(file) not in (".npz", ".safetensors"):
        raise LookupError(file)
    try:
        return _from_npz(file) if ending(file) == ".npz" else _from_safetensors(file)
    except FileRefused as error:
        raise Unreadable(str(error.strerror)) from None
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror or error}") from None


def _from_npz(file: str) -> dict[str, np.ndarray] | None:
    import numpy as np

    with open_regular(file, SMALL_ARRAYS_BYTES) as stream:
        try:
            require_few_members(stream)
            with zipfile.ZipFile(stream) as archive:
                for member in archive.infolist():
                    member_shape(archive, member, NUMBERS + TEXTS)
                if sum(member.file_size for member in archive.infolist()) > SMALL_ARRAYS_BYTES:
                    return None
            stream.seek(0)
            # Objects would have to be unpickled, which runs code: NumPy refuses them, and so do we.
            with np.load(stream, allow_pickle=False) as arrays:
                return {name: np.asarray(arrays[name]) for name in arrays.files}
        except Unreadable:
            raise
        except (*DAMAGED_ARCHIVE, *DAMAGED_HEADER):
            raise Unreadable("it is no whole archive of arrays; save them with numpy.savez") from None


def _from_safetensors(file: str) -> dict[str, np.ndarray] | None:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    shapes = safetensors_shapes(file)
    if os.path.getsize(file) > SMALL_ARRAYS_BYTES:
        return None
    try:
        return {name: array for name, array in load_file(file).items() if name in shapes}
    except SafetensorError:
        raise Unreadable("it is no file of safetensors") from None
