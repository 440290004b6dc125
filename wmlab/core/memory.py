"""How much memory this machine has, for questions that would not fit into it."""

from __future__ import annotations

import os


def physical_memory() -> int:
    """Bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def gib(size: int) -> str:
    """A number of bytes in GiB, for messages."""
    return f"{size / 2**30:.3g}"
