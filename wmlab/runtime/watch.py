"""Watching a worker from outside: how long it has been at a stage, how long it is silent, and how much memory it holds.

Time counts only while somebody watches: a run that was stopped with Ctrl-Z and goes on has not used up its limits.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wmlab.core.memory import usable_memory
from wmlab.runtime.cache import format_size
from wmlab.runtime.events import Failure
from wmlab.runtime.limits import StageLimits

# What a worker says of itself, beside events: it is there, it loads the code of a stage, and it has done so.
VITAL_SIGNS = frozenset({"ready", "loading", "loaded"})
_LOOKS = 4  # how often in a row a worker has to be found in an import that never ends
_LONGEST_TICK = 2.0  # seconds between two looks that count


class AttendedClock:
    """Seconds in which the workers were watched."""

    def __init__(self) -> None:
        self._now, self._last = 0.0, time.monotonic()

    def __call__(self) -> float:
        """Seconds so far."""
        now = time.monotonic()
        self._now += min(now - self._last, _LONGEST_TICK)
        self._last = now
        return self._now


@dataclass
class Vitals:
    """What is known of a worker from its messages and from the system."""

    since: float  # when it began with what it is at
    at: Literal["start", "nothing", "load", "stage"] = "start"
    stage: str | None = None  # the id of the stage that it runs
    stage_since: float = 0.0
    heard: float = 0.0  # when it last said something
    words: str = ""  # what it last said of the stage
    stall_told: bool = False
    asked: bool = False  # where it is, since it fell silent
    importing: int = 0  # how often in a row it was found in an import
    peak: int = 0  # bytes, as far as one can tell from looking now and then
    estimate: int | None = None  # bytes that the stage was expected to take

    def hear(self, message: Mapping[str, Any], now: float) -> None:
        """Take note of a message."""
        kind = message["type"]
        self.heard, self.asked, self.importing = now, False, 0
        if kind == "StageStarted":
            self.at, self.stage, self.stage_since, self.since = "stage", message["id"], now, now
            self.words, self.stall_told, self.peak, self.estimate = "", False, 0, None
        elif kind == "loading":
            self.at, self.since = "load", now
        elif kind == "loaded":
            self.at, self.estimate = "stage", message["estimate"]
        elif kind == "StageProgress":
            share = f"{message['done'] / message['total']:.0%}" if message["total"] else ""
            self.words = " ".join(word for word in (share, message["note"]) if word)
        elif kind == "StageWaiting":
            self.stall_told = True  # the person knows for whom
        elif kind in ("ready", "finished", "idle"):
            self.at, self.stage, self.words, self.stall_told = "nothing", None, "", False

    def is_silent(self, limits: StageLimits, now: float) -> bool:
        """Whether a worker at work has said nothing for so long that one should look what it is at."""
        return self.at not in ("start", "load") and now - self.heard >= limits.stall

    def stuck_import(self, places: Sequence[str], limits: StageLimits, now: float) -> Failure | None:
        """Why a worker that is silent has to be ended: at each of many looks it is in the same endless import."""
        self.importing = self.importing + 1 if any("<frozen importlib" in place for place in places) else 0
        if self.importing < _LOOKS or now - self.heard < limits.start:
            return None
        text = f"its code was still being loaded after {now - self.heard:.0f} s{at_place(places)}, and it was ended"
        return Failure("NeverStarted", f"{text}; {memory_words(self.peak, self.estimate)}")

    def excess(self, held: int, limits: StageLimits, now: float) -> Failure | None:
        """Why the worker has to be ended; `held` are the bytes that it holds now."""
        if self.at in ("start", "load") and now - self.since > limits.start:
            what = "its worker" if self.at == "start" else "its code"
            text = f"{what} was not loaded after {limits.start:g} s, and the worker was ended; "
            return Failure("NeverStarted", text + memory_words(self.peak, self.estimate))
        if self.stage is None:
            return None
        if limits.timeout is not None and now - self.stage_since > limits.timeout:
            last = f"; the last it said was '{self.words}'" if self.words else ""
            text = f"it took longer than the {limits.timeout:g} s that --timeout allows, and was ended{last}"
            return Failure("TimedOut", text)
        if limits.memory is not None and held > limits.memory:
            allowed = f"--memory allows {format_size(limits.memory)}"
            return Failure("OutOfMemory", f"it held {format_size(held)}, where {allowed}, and was ended")
        return None


def at_place(places: Sequence[str]) -> str:
    """The innermost place that is in a file, in words; nothing where none is known."""
    for place in places:
        if "<frozen" not in place:
            return f" at {place.removeprefix('File ')}"
    return ""


def memory_words(peak: int, estimate: int | None) -> str:
    """The peak of a stage, what was expected of it, and what there is."""
    held = f"it held {format_size(peak)} at its peak" if peak else "it died before its peak was seen"
    expected = "there is no estimate for it" if estimate is None else f"its estimate was {format_size(estimate)}"
    return f"{held}, {expected}, and {format_size(usable_memory())} may be used here"


def memory_of(pid: int) -> tuple[int, int]:
    """The bytes that a process holds now, and held at most; zeros where the system does not tell."""
    sizes = {"VmRSS": 0, "VmHWM": 0}
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name in sizes:
                    sizes[name] = int(value.split()[0]) * 1024
    except OSError:
        pass
    return sizes["VmRSS"], sizes["VmHWM"]
