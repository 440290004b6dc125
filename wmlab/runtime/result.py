"""What a stage answers: arrays by name, and a record of plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Result:
    """Arrays by name and JSON data; what a stage gives, and what its users get.

    A result that was loaded has read-only arrays: inputs are shared between stages.
    """

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)  # JSON data; floats may be NaN or infinite

    @property
    def nbytes(self) -> int:
        """The size of the arrays, in bytes."""
        return sum(array.nbytes for array in self.arrays.values())
