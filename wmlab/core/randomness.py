"""Streams of random numbers, each named by its use.

The same seed and purpose give the same numbers wherever they are asked for, and two purposes never share any.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np


def _digest(seed: int, purpose: str) -> bytes:
    return hashlib.sha256(f"{seed}/{purpose}".encode()).digest()


def generator(seed: int, purpose: str) -> np.random.Generator:
    """NumPy's numbers for one use, e.g. `generator(seed, "goal noise")`."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(_digest(seed, purpose)[:16], "big")))


def jax_key(seed: int, purpose: str) -> Any:
    """A JAX key for one use, e.g. `jax_key(seed, "network weights")`."""
    import jax

    words = np.frombuffer(_digest(seed, purpose)[16:24], ">u4").astype(np.uint32)
    return jax.random.wrap_key_data(jax.numpy.asarray(words), impl="threefry2x32")
