"""These tests need libraries of others; `make test-audit` makes an environment that has them."""

from __future__ import annotations

import importlib.util

import pytest

AGENTS = ("torch", "stable_baselines3", "sb3_contrib")
NEEDED = {"test_minari.py": ("minari", "h5py")}  # of the others, those that agents come from


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/audit/" not in str(item.path):
            continue
        missing = [name for name in NEEDED.get(item.path.name, AGENTS) if importlib.util.find_spec(name) is None]
        if missing:
            item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(missing)}: make test-audit"))
