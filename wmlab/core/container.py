"""What the container around this process allows: the limits of its control groups, of version 1 and 2."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

_NO_LIMIT = 1 << 60  # version 1 writes a number near 2^63 where there is no limit


def memory_limit(root: Path = Path("/")) -> int | None:
    """The least number of bytes that a control group around this process allows; None where none does."""
    limits = []
    for group in _groups(root, "memory"):
        for name in ("memory.max", "memory.high", "memory.limit_in_bytes"):
            limit = _number(_text(group / name))
            if limit is not None and limit < _NO_LIMIT:
                limits.append(limit)
    return min(limits, default=None)


def cpu_limit(root: Path = Path("/")) -> int | None:
    """The number of processors' time that the control groups allow, rounded up; None where none limits it."""
    limits = []
    for group in _groups(root, "cpu"):
        quota, _, period = _text(group / "cpu.max").partition(" ")
        for allowed, each in ((quota, period), (_text(group / "cpu.cfs_quota_us"), _text(group / "cpu.cfs_period_us"))):
            time, of = _number(allowed), _number(each)
            if time and of:
                limits.append(max(1, math.ceil(time / of)))
    return min(limits, default=None)


def usable_cores() -> int:
    """How many cores this process may use: those it may run on, and no more than the container gives time for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, cpu_limit() or cores)


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of the groups that this process is in, from its own up to the top, in each hierarchy."""
    paths = {}  # controller, "" for all those of version 2: the path of our group
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    for line in _text(root / "proc/self/mountinfo").splitlines():
        mount, _, system = line.partition(" - ")
        kind, _, options = system.split(" ", 2)
        own = {"cgroup2": "", "cgroup": controller if controller in options.split(",") else None}.get(kind)
        if own is not None and own in paths:
            top, where = mount.split(" ")[3:5]
            yield from _upwards(root / where.lstrip("/"), paths[own], top)


def _upwards(mounted: Path, path: str, top: str) -> Iterator[Path]:
    """The folder of a group and those above it, where the hierarchy is mounted from its group `top` on."""
    below = Path(path).relative_to(top) if Path(path).is_relative_to(top) else Path()
    yield mounted / below
    yield from (mounted / parent for parent in below.parents)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None  # "max" and -1 say that there is no limit
