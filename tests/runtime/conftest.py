"""Each test of the runtime finds the process as it was."""

from __future__ import annotations

import os

import pytest

from wmlab.runtime import worker_env


@pytest.fixture(autouse=True)
def untouched_process(monkeypatch):
    """Undo what a run in this process sets up, and let it think that it comes before JAX."""
    before = dict(os.environ)
    monkeypatch.setattr(worker_env, "_here", None)
    monkeypatch.setattr(worker_env, "came_first", lambda: "")
    yield
    os.environ.clear()
    os.environ.update(before)
