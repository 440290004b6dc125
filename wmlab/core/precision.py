"""One precision policy: networks in float32, exact finite work in float64.

Everything that solves for values, ranks or kernels of a finite world runs inside `exact`; nothing else in the
project switches precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import jax


@contextmanager
def exact() -> Iterator[None]:
    """Float64 for the JAX work inside: `with exact():`, or `@exact()` on a function."""
    with jax.enable_x64(True):
        yield
