"""What starts jobs on machines: a scheduler that is asked, and may be busy, refuse, forget, or be gone for a while.

What an engine says is never the truth about results: that is in the store and on record. It says whether a job may
still be at work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import Job, Resources
from wmlab.errors import SpecError, WmlabError

Fate = Literal["", "done", "failed", "time", "memory", "preempted", "node", "cancelled"]
# What a job that ended without a word died of, in words.
FATES: Mapping[str, str] = {
    "": "ended before its work did",
    "done": "ended without saying how",
    "failed": "failed before it could say how",
    "time": "took longer than its time",
    "memory": "took more memory than it had asked for",
    "preempted": "was preempted",
    "node": "was lost with its machine",
    "cancelled": "was cancelled",
}


class EngineBusy(WmlabError):
    """The engine cannot be reached or has no room now: what is asked of it is asked again a while later."""


class EngineFull(EngineBusy):
    """The engine has not taken a job, as it has as many as it may: the same job is submitted a while later."""


class EngineRefusal(WmlabError):
    """The engine will not take a job as it is; `key` is the line of the cluster file to change, if that is known."""

    def __init__(self, message: str, key: str = ""):
        self.key = key
        super().__init__(message)


@dataclass(frozen=True)
class JobState:
    """What an engine says of a job."""

    state: Literal["queued", "running", "ended"]
    fate: Fate = ""  # of one that ended
    words: str = ""  # the engine's own


class Engine(ABC):
    """Starts jobs, tells whether they are still at work, and cancels them."""

    poll = 2.0  # seconds between two looks
    patience = 30.0  # seconds for which a job may be unknown to the engine before it counts as gone
    has_clock = False  # whether the engine ends a job that takes too long

    def __init__(self, cluster: Cluster, root: Path):
        self.cluster, self.root = cluster, root

    @abstractmethod
    def check(self, jobs: Sequence[Job]) -> list[SpecError]:
        """What is wrong with the cluster file for these jobs, as far as the engine knows before anything is submitted.

        EngineBusy where it cannot be reached.
        """

    @abstractmethod
    def submit(self, name: str, job: str, token: str, attempt: int, resources: Resources) -> str:
        """Submit the worker of a job under a name; the engine's id. Where it cannot be:

        EngineFull or EngineRefusal where the engine has not taken it; EngineBusy where nobody knows whether it has."""

    @abstractmethod
    def find(self, names: Collection[str]) -> dict[str, str]:
        """The ids of those submissions of these names that the engine has. EngineBusy."""

    @abstractmethod
    def look(self, ids: Collection[str]) -> dict[str, JobState]:
        """What the engine says of these jobs; those that it does not know are left out. EngineBusy."""

    @abstractmethod
    def cancel(self, ids: Collection[str]) -> None:
        """End jobs, queued or running; those that it does not know are none. EngineBusy."""

    def log(self, job: str, engine_id: str) -> Path:
        """The file with what a submission prints."""
        return self.root / "jobs" / job / f"{engine_id}.log"

    def close(self) -> None:
        """Let go of the engine; its jobs go on."""
        return
