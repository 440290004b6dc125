"""What Slurm's programs say of jobs, and what it means."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wmlab.cluster.engines.engine import EngineBusy, EngineFull, EngineRefusal, Fate, JobState

QUEUED = (
    "PENDING",
    "CONFIGURING",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    "SUSPENDED",
    "RESV_DEL_HOLD",
)
ORDINARY = ("None", "Priority", "Resources", "BeginTime", "Cleaning", "Prolog")  # reasons to wait that pass
FATES: Mapping[str, Fate] = {
    "COMPLETED": "done",
    "FAILED": "failed",
    "TIMEOUT": "time",
    "DEADLINE": "time",
    "OUT_OF_MEMORY": "memory",
    "PREEMPTED": "preempted",
    "NODE_FAIL": "node",
    "BOOT_FAIL": "node",
    "CANCELLED": "cancelled",
    "REVOKED": "cancelled",
}
# What Slurm says when it would take the same job a while later, and may have taken it.
BUSY = re.compile(
    "unable to contact slurm|socket timed out|connection refused|connection timed out|try again|zero bytes|"
    "backup controller|transport endpoint|protocol authentication|munge",
    re.IGNORECASE,
)
# What it says when it has as many jobs as it may, of all or of one user.
FULL = re.compile("submit limit|temporarily unable to accept|resource temporarily unavailable", re.IGNORECASE)
# The limit that sbatch names before a job is refused for one: those of jobs that were submitted pass, others do not.
LIMIT = re.compile(r"error: ((?:QOS|Assoc|Max)[A-Z]\w+)\s*$", re.MULTILINE)
LIMITS = (("wall", "time"), ("time", "time"), ("mem", "memory"), ("cpu", "cores"), ("gres", "accelerators"))
REFUSALS = (("partition", "partition"), ("account", "account"), ("memory", "memory"), ("time limit", "time"))


def state_of(state: str, reason: str) -> JobState:
    """What squeue's words for a job mean."""
    if state in QUEUED:
        return JobState("queued", words="" if reason in ORDINARY else reason)
    word = state.partition(" ")[0]
    return JobState("ended", FATES[word], state.lower()) if word in FATES else JobState("running")


def refusal(text: str) -> EngineBusy | EngineRefusal:
    """Whether what sbatch said may pass, or is about a line of the cluster file."""
    said = one_line(text.rpartition("stderr")[2] or text)
    limit = LIMIT.search(text)
    if limit and "Submit" not in limit[1]:
        return EngineRefusal(said, next((key for word, key in LIMITS if word in limit[1].lower()), ""))
    if BUSY.search(text):  # also where it was full at first: the last try may have arrived
        return EngineBusy(f"Slurm's sbatch says: {said}")
    if limit or FULL.search(text):
        return EngineFull(f"Slurm's sbatch says: {said}")
    key = next((key for word, key in REFUSALS if word in text.lower()), "")
    return EngineRefusal(said, key)


def one_line(text: str) -> str:
    errors = [line.partition("error: ")[2] or line for line in text.splitlines() if line.strip()]
    return " ".join(" ".join(errors[-2:]).split())[:300]
