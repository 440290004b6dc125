"""Declared gymnax environments, by name."""

from __future__ import annotations

from typing import Any

from wmlab.core.continuous.world import ContinuousWorld
from wmlab.mdps import gymnax


def world(env: str, **options: Any) -> ContinuousWorld:
    return gymnax.gymnax(gymnax.Options(env, **options), 0)
