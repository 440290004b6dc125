"""These tests need PyTorch and Stable-Baselines3; `make test-audit` makes an environment that has them."""

from __future__ import annotations

import importlib.util

import pytest

NEEDED = ("torch", "stable_baselines3", "sb3_contrib")


def pytest_collection_modifyitems(items):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    for item in items:
        if "tests/audit/" in str(item.path) and missing:
            item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(missing)}: make test-audit"))
