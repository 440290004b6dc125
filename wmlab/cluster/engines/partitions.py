"""What `sinfo` says of a cluster: its partitions, and what the largest machines of each have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Partition:
    """What the largest machines of a partition have."""

    name: str
    is_default: bool
    cores: int
    memory: int  # bytes
    time: float | None  # seconds; None: as long as one likes
    accelerators: int


def partitions_in(text: str) -> Iterator[Partition]:
    """The partitions that sinfo lists, machines of different sizes apart."""
    for name, cores, memory, limit, devices in rows_of(text, 5):
        counts = [int(one) for one in re.findall(r"gpu[^,(]*?:(\d+)(?:\(|,|$)", devices)]
        yield Partition(
            name.rstrip("*"),
            name.endswith("*"),
            int(cores.rstrip("+")),
            int(memory.rstrip("+")) << 20,
            seconds_of(limit),
            max(counts, default=1 if "gpu" in devices else 0),
        )


def rows_of(text: str, columns: int) -> Iterator[list[str]]:
    for line in text.splitlines():
        row = line.strip().split("|", columns - 1)
        if len(row) == columns:
            yield row


def seconds_of(text: str) -> float | None:
    """Seconds of Slurm's 2-12:30:00, 30:00 or infinite."""
    if not text[:1].isdigit():
        return None
    days, _, rest = text.rpartition("-")
    parts = [float(part) for part in rest.split(":")]
    if days:
        parts += [0.0] * (3 - len(parts))
    hours, minutes, seconds = ([0.0] * 3 + parts)[-3:] if not days else parts
    return float(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds
