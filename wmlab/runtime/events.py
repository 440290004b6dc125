"""What happens during a run, as plain records that anyone may listen to, and what became of its stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

OutcomeName: TypeAlias = Literal["ran", "cached", "failed", "skipped"]
Listener: TypeAlias = Callable[[Any], None]  # is called with each event


@dataclass(frozen=True)
class Failure:
    """Why a stage gave no result."""

    type: str
    message: str
    traceback: str = ""  # its tail

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass
class Outcome:
    """What became of each stage of a run, by id."""

    ran: list[str] = field(default_factory=list)
    cached: list[str] = field(default_factory=list)
    failed: dict[str, Failure] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)  # id: the reason
    left: list[str] = field(default_factory=list)  # not begun, or not ended, for lack of time

    @property
    def ok(self) -> bool:
        """Whether every stage has its result."""
        return not self.failed and not self.skipped and not self.left

    @property
    def counts(self) -> dict[str, int]:
        """The number of stages of each outcome; of those that are left, where there are some."""
        return {name: len(stages) for name, stages in vars(self).items() if name != "left" or stages}

    def forget(self, id: str) -> None:
        """A stage that had its result is to be done again."""
        for ids in (self.ran, self.cached):
            if id in ids:
                ids.remove(id)


@dataclass(frozen=True)
class RunStarted:
    """A run begins."""

    total: int  # stages that the run answers for
    cached: int  # of these, already in the store
    jobs: int
    kinds: Mapping[str, int] = field(default_factory=dict)  # kind: stages that are to run


@dataclass(frozen=True)
class StageStarted:
    """A worker begins with a stage."""

    id: str
    label: str
    pid: int
    kind: str = ""


@dataclass(frozen=True)
class StageProgress:
    """A stage says how far it is."""

    id: str
    label: str
    done: float
    total: float
    note: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)  # to draw curves of: return, loss


@dataclass(frozen=True)
class TimeLeft:
    """How long what is left of a run is going to take, by stages that are over, at other points, too."""

    seconds: float


@dataclass(frozen=True)
class StageFinished:
    """A stage is over, one way or another."""

    id: str
    key: str
    label: str
    kind: str
    outcome: OutcomeName
    seconds: float = 0.0
    peak_memory: int | None = None  # bytes
    device: str | None = None
    failure: Failure | None = None
    reason: str | None = None  # why it was skipped


@dataclass(frozen=True)
class RunFinished:
    """A run is over."""

    counts: Mapping[str, int]  # outcome: number of stages
    seconds: float
    interrupted: bool = False
    output: str | None = None  # the file with what the stages printed, if they did


class Message:
    """An event that a person may want to know of, in words."""


@dataclass(frozen=True)
class Notice(Message):
    """Something that has no record of its own."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class StageWaiting(Message):
    """A stage waits for another process that is computing it."""

    id: str
    holder: str

    def __str__(self) -> str:
        return f"waiting for {self.holder}"


@dataclass(frozen=True)
class EntryDamaged(Message):
    """A stored result cannot be trusted and is computed again."""

    key: str
    label: str
    reason: str  # "is missing", or "is damaged (sha256 of data.json differs)"

    def __str__(self) -> str:
        whose = f" of '{self.label}'" if self.label else ""
        return f"cache entry {self.key[:12]}{whose} {self.reason}; recomputing"


@dataclass(frozen=True)
class WorkerDied(Message):
    """A worker process ended before its work did."""

    pid: int
    how: str  # "was killed by signal 9 (SIGKILL)"
    label: str  # of the stage it ran
    retry: bool

    def __str__(self) -> str:
        then = "trying again" if self.retry else "giving up"
        return f"the worker of '{self.label}' (pid {self.pid}) {self.how}; {then}"


@dataclass(frozen=True)
class StageStalled(Message):
    """A stage has said nothing for a long time; it goes on."""

    id: str
    label: str
    seconds: float
    words: str  # the last that it said
    place: str = ""  # " at" its line of code, if that is known

    def __str__(self) -> str:
        last = f"the last it said was '{self.words}'" if self.words else "it has not said how far it is"
        return f"'{self.label}' has been silent for {self.seconds:.0f} s{self.place}; {last}; --timeout would end it"


@dataclass(frozen=True)
class BudgetSpent(Message):
    """Stages are left for another run: they would not end in the time that there is, or have not."""

    kinds: Mapping[str, int]  # kind: stages that are left
    takes: str = ""  # how long these are going to take, in words; empty where too little is known
    ended: tuple[str, ...] = ()  # labels of stages that were at work when the time was over

    def __str__(self) -> str:
        count = sum(self.kinds.values())
        kinds = ", ".join(kind if many == 1 else f"{kind} × {many}" for kind, many in self.kinds.items())
        takes = f", about {self.takes}" if self.takes else ""
        begun = f"'{next(iter(self.ended), '')}'" + (f" and {len(self.ended) - 1} more" if len(self.ended) > 1 else "")
        ended = f"; {begun} had begun, and go on from what was kept on the way" if self.ended else ""
        which = "1 stage is" if count == 1 else f"{count} stages are"
        return f"the budget is spent: {which} left ({kinds}{takes}){ended}; the same command goes on with them"


@dataclass(frozen=True)
class StageRetried(Message):
    """A stage failed for a reason that may pass, and is tried again."""

    id: str
    label: str
    failure: Failure
    attempt: int  # which one comes now
    attempts: int  # how many there may be

    def __str__(self) -> str:
        return f"'{self.label}' failed: {self.failure}; trying again ({self.attempt} of {self.attempts})"


@dataclass(frozen=True)
class JobChanged:
    """A job of a cluster was submitted, is taken up again by another run, or is over."""

    job: str
    state: str  # submitted, attached, done, failed, cancelled, died
    engine: str
    engine_id: str = ""
    log: str = ""  # the file with what it printed
    stages: int = 0
    reason: str = ""


@dataclass(frozen=True)
class JobRetried(Message):
    """A job ended before its work did, and is submitted again, or was begun again by the engine itself."""

    job: str
    engine_id: str
    reason: str
    attempt: int  # which one comes now
    attempts: int  # how many there may be

    def __str__(self) -> str:
        return f"job {self.engine_id} {self.reason}; trying again ({self.attempt} of {self.attempts})"


def fan_out(*listeners: Listener | None) -> Listener:
    """One listener that passes each event on to all of these."""
    present = [listener for listener in listeners if listener is not None]

    def pass_on(event: Any) -> None:
        for listener in present:
            listener(event)

    return pass_on
