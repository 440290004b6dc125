"""What a stage may take, how often it is tried, and when a run speaks up. None of it can change a result."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass

from wmlab.errors import UsageError

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|min|h|d)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(i?)B?", re.IGNORECASE)
# Faults of the surroundings that may be gone a moment later. A full disk is not among them: a stage would be computed
# again in whole, and find the disk as full as before.
_TRANSIENT = frozenset(
    getattr(errno, name)
    for name in ("EAGAIN", "EBUSY", "EINTR", "EIO", "ENFILE", "ENOLCK", "EREMOTEIO", "ESTALE", "ETIMEDOUT")
    if hasattr(errno, name)
)
LEAST_MEMORY = 64 << 20  # bytes


@dataclass(frozen=True)
class StageLimits:
    """What a stage may take, how often it is tried, and when a run speaks up."""

    timeout: float | None = None  # seconds that a stage may run, its code's loading counted
    memory: int | None = None  # bytes that the worker of a stage may hold
    retries: int = 1  # after a fault that may pass
    start: float = 120.0  # seconds in which a worker, or a stage's code, has to be loaded
    stall: float = 120.0  # seconds of silence after which a stage is said to stall

    @property
    def need_a_process(self) -> bool:
        """Whether a stage has to be ended from outside."""
        return self.timeout is not None or self.memory is not None


def limits_of(timeout: str | float | None, memory: str | int | None, retries: int) -> StageLimits:
    """The limits that a person gives: a time as text or in seconds, a size as text or in bytes."""
    seconds = parse_duration(timeout) if isinstance(timeout, str) else timeout
    size = parse_size(memory) if isinstance(memory, str) else memory
    if seconds is not None and not seconds > 0:
        raise UsageError(f"a timeout of {seconds} s leaves no time for a stage")
    if size is not None and not os.path.exists("/proc/self/status"):
        raise UsageError("--memory needs a system that tells what a process holds (/proc), and this one does not")
    if size is not None and size < LEAST_MEMORY:
        raise UsageError(f"--memory {size} bytes is less than a worker takes before its first stage; say 1GiB or more")
    if retries < 0:
        raise UsageError(f"a stage cannot be tried again {retries} times")
    return StageLimits(seconds, size, retries)


def parse_duration(text: str) -> float:
    """Seconds of '90s', '10m', '2h' or '1h30m'."""
    compact = text.replace(" ", "")
    parts = _DURATION.findall(compact)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != compact or not seconds:
        raise UsageError(f"'{text}' is no time; say a number and its unit, as in 90s, 10m, 2h or 1h30m")
    return seconds


def parse_size(text: str) -> int:
    """Bytes of '4GiB', '500MB' or '4G' (which is 4GiB)."""
    parts = _SIZE.fullmatch(text.strip())
    decimal = parts is not None and not parts[3] and text.strip()[-1] in "bB"
    size = 0
    if parts is not None:
        size = int(float(parts[1]) * (1000 if decimal else 1024) ** ("KMGT".index(parts[2].upper()) + 1))
    if not size:
        raise UsageError(f"'{text}' is no amount of memory; say a number and its unit, as in 4GiB or 500MB")
    return size


def is_transient(error: BaseException | None) -> bool:
    """Whether an error, or what caused it, is a fault of the surroundings that may be gone a moment later."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _TRANSIENT:
            return True
        error = error.__cause__
    return False


def is_lack_of_memory(text: str) -> bool:
    """Whether the words of an error, or the last ones of a process, speak of memory that could not be had."""
    signs = ("MemoryError", "RESOURCE_EXHAUSTED", "bad_alloc", "Cannot allocate memory", "failed to map segment")
    return any(sign in text for sign in signs)


def is_out_of_memory(type: str, message: str) -> bool:
    """Whether a stage failed for lack of memory: by its words, its limit, or, it seems, by the system."""
    killed = type == "WorkerDied" and "SIGKILL" in message
    return type == "OutOfMemory" or killed or is_lack_of_memory(f"{type}: {message}")
