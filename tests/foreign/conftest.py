"""Agents that the real libraries saved (tests/foreign/data/make.py), and their own values of some rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def told():
    """part/array: what the libraries themselves say."""
    with np.load(DATA / "values.npz") as archive:
        return dict(archive)


@pytest.fixture
def into(tmp_path):
    """A request to import a file into a folder of its own."""
    from wmlab.foreign.bring import Request, bring

    return lambda file, **said: bring(Request(DATA / file if isinstance(file, str) else file, tmp_path, **said))
