"""Arrays from files of others."""

from __future__ import annotations

import numpy as np
import pytest

from wmlab.errors import StageError
from wmlab.stages.array_files import read_arrays


def test_an_archive_with_one_wrong_byte_is_told_to_be_damaged(tmp_path):
    path = tmp_path / "q.npz"
    np.savez(path, q=np.arange(1000.0))
    content = bytearray(path.read_bytes())
    content[3000] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(StageError, match="it is damaged; write it again"):
        read_arrays(str(path), {})
