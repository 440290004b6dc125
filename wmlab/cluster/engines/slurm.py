"""Slurm, by way of submitit: what is submitted is `WorkerProcess` with four plain strings, and nothing else is pickled.

submitit asks `sacct` for states, which needs accounting; here `squeue` is asked, which every Slurm has. A job that is
preempted is begun again by Slurm, one that takes too long by submitit, both under the same id and from partial results.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from wmlab.cluster.engines.engine import Engine, EngineBusy, JobState
from wmlab.cluster.engines.partitions import Partition, partitions_in, rows_of
from wmlab.cluster.engines.slurm_words import one_line, refusal, state_of
from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import Job, Resources, most_memory
from wmlab.cluster.worker import command
from wmlab.errors import SpecError, UsageError, one_of, suggest
from wmlab.runtime.cache import format_duration, format_size

PATIENCE = 60.0  # seconds for an answer
TIMEOUTS = 1000  # times that a job may take its whole time and be begun again
WARNING = 60  # seconds before the end of its time in which a job is told
A_YEAR = 365 * 24 * 60  # minutes, where neither the file nor the partition says how long a job may take
GRACE = 20.0  # seconds that a worker gets to end


class WorkerProcess:
    """Runs the worker of a job, as submitit calls it; told that its time is over, it ends it and is called again."""

    running: subprocess.Popen[bytes] | None = None  # of this process: never part of an instance

    def __call__(self, root: str, job: str, token: str, attempt: str) -> int:
        words = command(Path(root), job, token, int(attempt))
        process = subprocess.Popen(words, start_new_session=True, preexec_fn=ignore_warnings)
        type(self).running = process

        def forward(number: int, frame: FrameType | None) -> None:
            process.terminate()

        signal.signal(signal.SIGTERM, forward)
        return process.wait()

    def checkpoint(self, root: str, job: str, token: str, attempt: str) -> Any:
        """What submitit submits in the place of what it interrupts."""
        from submitit.helpers import DelayedSubmission

        process = type(self).running
        if process is not None and process.poll() is None:
            process.terminate()
            deadline = time.monotonic() + GRACE
            while is_at_work(process.pid) and time.monotonic() < deadline:
                time.sleep(0.05)
            process.kill()
        return DelayedSubmission(WorkerProcess(), root, job, token, attempt)


def ignore_warnings() -> None:
    """Take no notice of Slurm's warning, which goes to every process of a job's step: submitit's own ends the worker.

    What is ignored stays so in the worker and in the processes of its stages; they would die of it otherwise, before
    they could say how far they are.
    """
    for number in (signal.SIGUSR1, signal.SIGUSR2):  # submitit may be set to either
        signal.signal(number, signal.SIG_IGN)


def is_at_work(pid: int) -> bool:
    """Whether a child has not ended; `Popen.poll` cannot tell within a signal that came while `wait` was waiting."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


class SlurmEngine(Engine):
    """Jobs by sbatch, one each."""

    poll = 3.0
    patience = 60.0
    has_clock = True

    def __init__(self, cluster: Cluster, root: Path):
        super().__init__(cluster, root)
        for program in ("sbatch", "squeue", "scancel", "sinfo", "srun"):
            if shutil.which(program) is None:
                raise UsageError(f"engine: slurm needs Slurm's {program}, which is not here: run on a login node")
        self._longest: float | None = None  # seconds that the partition gives a job; None before it was asked

    def check(self, jobs: Sequence[Job]) -> list[SpecError]:
        partitions, asked = partitions_here(), self.cluster.options.partition
        names = sorted({one.name for one in partitions})
        if asked is not None and asked not in names:
            hint = suggest(asked, names) or (f"there are {one_of(names)}" if names else None)
            return [self.cluster.error("partition", f"there is no partition '{asked}'", hint)]
        mine = self._of_the_file(partitions)
        if not mine:
            return [self.cluster.error("partition", "Slurm has no default partition", f"say which of {one_of(names)}")]
        self._longest = longest(mine)
        return list(self._excesses(mine, jobs))

    def _of_the_file(self, partitions: Sequence[Partition]) -> list[Partition]:
        asked = self.cluster.options.partition
        return [one for one in partitions if (one.name == asked if asked else one.is_default)]

    def _excesses(self, partitions: Sequence[Partition], jobs: Sequence[Job]) -> Iterator[SpecError]:
        """What jobs ask for that no machine of the partition has."""
        name = partitions[0].name
        memory = most_memory(jobs, self.cluster)
        if memory > (largest := max(one.memory for one in partitions)):
            message = f"a job would ask for {format_size(memory)}, and the largest machine of '{name}' has"
            yield self.cluster.error("memory", f"{message} {format_size(largest)}")
        cores = max((job.resources.cores for job in jobs), default=0)
        if cores > (largest := max(one.cores for one in partitions)):
            message = f"a job would ask for {cores} cores, and the largest machine of '{name}' has {largest}"
            yield self.cluster.error("cores", message)
        devices = max((job.resources.accelerators for job in jobs), default=0)
        if devices > (most := max(one.accelerators for one in partitions)):
            message = f"a job would ask for {devices:g} accelerators, and no machine of '{name}' has more than {most}"
            yield self.cluster.error("accelerators", message)
        if self.cluster.time and self.cluster.time > longest(partitions):
            allowed = format_duration(longest(partitions))
            message = f"'{name}' gives a job no more than {allowed}, not {format_duration(self.cluster.time)}"
            yield self.cluster.error("time", message)

    def submit(self, name: str, job: str, token: str, attempt: int, resources: Resources) -> str:
        import submitit
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        if self._longest is None:  # a run that only takes up jobs checks nothing
            self._longest = longest(self._of_the_file(partitions_here()))
        seconds = resources.time or self._longest
        executor = submitit.SlurmExecutor(folder=self.root / "jobs" / job, max_num_timeout=TIMEOUTS)
        options = self.cluster.options
        executor.update_parameters(
            job_name=name,
            time=A_YEAR if seconds == math.inf else math.ceil(seconds / 60),
            cpus_per_task=resources.cores,
            mem=None if resources.memory is None else f"{math.ceil(resources.memory / 2**20)}M",
            gpus_per_node=int(resources.accelerators) or None,
            partition=options.partition,
            account=options.account,
            setup=list(options.setup) or None,
            signal_delay_s=WARNING,
            stderr_to_stdout=True,
            srun_args=[f"--cpus-per-task={resources.cores}"],
            additional_parameters={"requeue": True, "open-mode": "append"},
        )
        try:
            return str(executor.submit(WorkerProcess(), str(self.root), job, token, str(attempt)).job_id)
        except (FailedJobError, FailedSubmissionError, subprocess.CalledProcessError, OSError) as error:
            raise refusal(str(error)) from None

    def find(self, names: Collection[str]) -> dict[str, str]:
        rows = rows_of(ask("squeue", "--noheader", f"--user={os.getuid()}", "--states=all", "--format=%A|%j"), 2)
        return {name: id for id, name in rows if name in names}

    def look(self, ids: Collection[str]) -> dict[str, JobState]:
        rows = rows_of(ask("squeue", "--noheader", f"--user={os.getuid()}", "--states=all", "--format=%A|%T|%r"), 3)
        return {id: state_of(state, reason) for id, state, reason in rows if id in ids}

    def cancel(self, ids: Collection[str]) -> None:
        if ids:
            ask("scancel", "--quiet", *ids)

    def log(self, job: str, engine_id: str) -> Path:
        return self.root / "jobs" / job / f"{engine_id}_0_log.out"


def partitions_here() -> list[Partition]:
    """What `sinfo` tells. EngineBusy."""
    return list(partitions_in(ask("sinfo", "--noheader", "--all", "--format=%P|%c|%m|%l|%G")))


def longest(partitions: Sequence[Partition]) -> float:
    """The seconds that partitions give a job, at most."""
    return max((math.inf if one.time is None else one.time for one in partitions), default=math.inf)


def ask(*words: str) -> str:
    """What a program of Slurm answers; EngineBusy where it does not."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineBusy(f"Slurm's {words[0]} does not answer: {error}") from None
    if done.returncode:
        raise EngineBusy(f"Slurm's {words[0]} says: {one_line(done.stderr) or f'exit code {done.returncode}'}")
    return done.stdout
