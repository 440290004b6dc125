from __future__ import annotations

import pytest

from wmlab.extraction.continuous import fit


@pytest.fixture(autouse=True)
def few_states_held_out(monkeypatch):
    monkeypatch.setattr(fit, "STATES", 256)
