from __future__ import annotations

import jax
import pytest

from wmlab.extraction.neural import residual
from wmlab.registry import extractions

for kind in ("p_learning", "matching"):
    extractions.modules.setdefault(kind, f"wmlab.extraction.{kind}")


@pytest.fixture(autouse=True)
def few_states_held_out(monkeypatch):
    monkeypatch.setattr(residual, "STATES", 256)


@pytest.fixture(autouse=True)
def quick_compilation():
    """These programs are small and many: compiling them well takes longer than running them badly."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
