from __future__ import annotations

import pytest

from wmlab.extraction.continuous import residual
from wmlab.registry import extractions

for kind in ("p_learning", "matching"):
    extractions.modules.setdefault(kind, f"wmlab.extraction.{kind}")


@pytest.fixture(autouse=True)
def few_states_held_out(monkeypatch):
    monkeypatch.setattr(residual, "STATES", 256)
