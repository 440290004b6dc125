"""Declared gymnax environments, by name."""

from __future__ import annotations

from typing import Any

from wmlab.mdps import gymnax
from wmlab.mdps.continuous import ContinuousWorld


def world(env: str, **options: Any) -> ContinuousWorld:
    return gymnax.gymnax(gymnax.Options(env, **options), 0)
