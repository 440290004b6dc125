"""Whether a process is still there: its number is given anew, above all after the machine has started again."""

from __future__ import annotations

import os
from pathlib import Path


def process_mark(pid: int) -> str:
    """What a process has for itself, and no other that gets its number: when the machine and when it started.

    Empty where the system does not tell.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        after_name = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return f"{boot} {int(after_name[19])}"  # in ticks since the machine started
    except (OSError, IndexError, ValueError):
        return ""


def is_alive(pid: int, mark: str = "") -> bool:
    """Whether there is a process of this number on this machine; where a mark is given, whether it is that very one."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass  # of another user, or no number that a process could have here
    return not mark or process_mark(pid) in ("", mark)
