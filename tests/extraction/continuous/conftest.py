from __future__ import annotations

import pytest

from wmlab.extraction.continuous import residual


@pytest.fixture(autouse=True)
def few_states_held_out(monkeypatch):
    monkeypatch.setattr(residual, "STATES", 256)
