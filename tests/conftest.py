"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Most of the time goes into compiling small programs: each is compiled once, also across processes and sessions.
COMPILED = Path(__file__).resolve().parent.parent / ".pytest_cache" / "compiled"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """One folder of compiled programs for all caches of the session: each program is compiled once."""
    return tmp_path_factory.mktemp("compiled")
