"""What all tests share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """One folder of compiled programs for all caches of the session: each program is compiled once."""
    return tmp_path_factory.mktemp("compiled")
