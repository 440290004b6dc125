"""How much memory there is for this process, for questions that would not fit into it, and sizes in words."""

from __future__ import annotations

import functools
import os
import resource
from pathlib import Path

from wmlab.core import container

# Bytes of the largest array in a batch of a computation, where the size of the batch is ours to choose; the whole batch
# takes about `ARRAYS_AT_ONCE` times as much, 1 GiB. It is fixed, and does not follow what the machine has: where draws
# are made for a whole batch, its size decides which.
BATCH_BYTES = 256 << 20
ARRAYS_AT_ONCE = 4
WORKER_BYTES = 400 << 20  # what a worker takes before it computes anything


_contained = functools.cache(container.memory_limit)  # read from many files, and the same for a process's life


def usable_memory(root: Path = Path("/")) -> int:
    """Bytes that this process may use: of the machine's memory, what the container and `ulimit -v` allow."""
    address_space = resource.getrlimit(resource.RLIMIT_AS)[0]
    limits = [physical_memory()]
    if address_space != resource.RLIM_INFINITY:
        limits.append(address_space)
    if (contained := _contained(root)) is not None:
        limits.append(contained)
    return min(limits)


def physical_memory() -> int:
    """Bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def gib(size: int) -> str:
    """A number of bytes in GiB, for messages."""
    return f"{size / 2**30:.3g}"
