"""What Slurm's programs say, and what it means; no Slurm is needed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import types

import pytest

from wmlab.cluster.engines import opening, slurm
from wmlab.cluster.engines.engine import EngineBusy, EngineFull, EngineRefusal, JobState
from wmlab.cluster.engines.opening import open_engine
from wmlab.cluster.engines.partitions import Partition, partitions_in, seconds_of
from wmlab.cluster.engines.slurm import SlurmEngine
from wmlab.cluster.engines.slurm_words import refusal, state_of
from wmlab.cluster.file import Cluster, open_cluster
from wmlab.cluster.jobs import Job, Resources
from wmlab.errors import UsageError
from wmlab.sections.cluster import ClusterFile

SINFO = "main*|1|8000|infinite|(null)\ngpu|32+|257000+|2-00:00:00|gpu:a100:4(S:0-1)\n"


def test_partitions_are_read_from_sinfo():
    assert list(partitions_in(SINFO)) == [
        Partition("main", True, 1, 8000 << 20, None, 0),
        Partition("gpu", False, 32, 257000 << 20, 172800.0, 4),
    ]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("infinite", None), ("UNLIMITED", None), ("30:00", 1800.0), ("1:30:00", 5400.0), ("2-12", 216000.0), ("45", 45.0)],
)
def test_times_are_read_as_slurm_writes_them(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    ("state", "meaning"),
    [
        ("PENDING", JobState("queued")),
        ("REQUEUED", JobState("queued")),
        ("RUNNING", JobState("running")),
        ("COMPLETING", JobState("running")),
        ("COMPLETED", JobState("ended", "done", "completed")),
        ("OUT_OF_MEMORY", JobState("ended", "memory", "out_of_memory")),
        ("NODE_FAIL", JobState("ended", "node", "node_fail")),
        ("TIMEOUT", JobState("ended", "time", "timeout")),
    ],
)
def test_states_of_squeue_have_a_meaning(state, meaning):
    assert state_of(state, "Resources") == meaning
    assert state_of("PENDING", "JobHeldUser") == JobState("queued", words="JobHeldUser")


@pytest.mark.parametrize(
    "text",
    [
        "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "sbatch: error: /home/MaxMuster/job.sh: Batch job submission failed: Connection refused",
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n"
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
    ],
)
def test_what_may_pass_is_waited_out_and_the_job_may_have_been_taken(text):
    said = refusal(text)
    assert isinstance(said, EngineBusy) and not isinstance(said, EngineFull)


LIMITS = (
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy "
    "(job submit limit, user's size and/or time limits)"
)


@pytest.mark.parametrize(
    "text",
    [
        LIMITS,  # nobody knows which
        f"sbatch: error: QOSMaxSubmitJobPerUserLimit\n{LIMITS}",
        f"sbatch: error: AssocGrpSubmitJobsLimit\n{LIMITS}",
        f"sbatch: error: MaxSubmitJobsPerAccount\n{LIMITS}",
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n"
        "sbatch: error: Batch job submission failed: Resource temporarily unavailable",
    ],
)
def test_a_queue_with_as_many_jobs_as_there_may_be_is_full(text):
    assert isinstance(refusal(text), EngineFull)


@pytest.mark.parametrize(
    ("limit", "key"),
    [
        ("QOSMaxWallDurationPerJobLimit", "time"),
        ("AssocMaxWallDurationPerJobLimit", "time"),
        ("QOSMaxMemoryPerJob", "memory"),
        ("QOSMaxCpuPerUserLimit", "cores"),
        ("QOSMaxGRESPerUser", "accelerators"),
        ("QOSMinCpuNotSatisfied", "cores"),
        ("QOSMaxNodePerJobLimit", ""),
    ],
)
def test_a_limit_that_no_waiting_cures_is_refused_with_its_line(limit, key):
    said = refusal(f"sbatch: error: {limit}\n{LIMITS}")
    assert isinstance(said, EngineRefusal) and said.key == key and str(said).startswith(limit)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("sbatch: error: Batch job submission failed: Invalid partition name specified", "partition"),
        ("sbatch: error: Batch job submission failed: Invalid account or account/partition combination", "partition"),
        ("sbatch: error: Memory specification can not be satisfied", "memory"),
        ("sbatch: error: Batch job submission failed: Requested node configuration is not available", ""),
    ],
)
def test_what_will_not_pass_is_refused_with_the_line_that_it_is_about(text, key):
    said = refusal(text)
    assert isinstance(said, EngineRefusal) and said.key == key and str(said) == text.partition("error: ")[2]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A cluster file on a machine whose Slurm says what SINFO says."""
    monkeypatch.setattr(slurm.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(slurm, "ask", lambda *words: SINFO)

    def checked(text, **resources):
        (tmp_path / "c.yaml").write_text(text)
        cluster = open_cluster(str(tmp_path / "c.yaml"))
        asks = {"memory": cluster.memory, "time": cluster.time, **resources}
        job = Job(0, ("a",), resources=Resources(**asks))
        return [f"{error.source.line}: {error.message}" for error in SlurmEngine(cluster, tmp_path).check([job])]

    return checked


def test_what_no_machine_of_the_partition_has_is_told_at_its_line(here):
    assert here("engine: slurm\n") == []
    assert here("engine: slurm\npartition: gpus\n") == ["2: there is no partition 'gpus'"]
    assert here("engine: slurm\nmemory: 16G\n") == [
        "2: a job would ask for 16.0 GiB, and the largest machine of 'main' has 7.8 GiB"
    ]
    assert here("engine: slurm\nmemory: 16G\n", memory=1 << 30) == here("engine: slurm\nmemory: 16G\n")
    assert here("engine: slurm\npartition: gpu\nmemory: 16G\ntime: 3d\n") == [
        "4: 'gpu' gives a job no more than 2 d, not 3 d"
    ]
    assert here("engine: slurm\ncores: 4\n", cores=4) == [
        "2: a job would ask for 4 cores, and the largest machine of 'main' has 1"
    ]
    assert here("engine: slurm\naccelerators: 1\n", accelerators=1.0) == [
        "2: a job would ask for 1 accelerators, and no machine of 'main' has more than 0"
    ]


@pytest.mark.parametrize(("partition", "minutes"), [("gpu", 2880), ("main", slurm.A_YEAR)])
def test_a_job_that_is_submitted_without_a_check_gets_the_partitions_own_time(
    here, tmp_path, monkeypatch, partition, minutes
):
    asked = {}

    class Executor:
        def __init__(self, **how):
            self.update_parameters = asked.update

        def submit(self, *words):
            return types.SimpleNamespace(job_id=7)

    errors = types.SimpleNamespace(FailedJobError=RuntimeError, FailedSubmissionError=RuntimeError)
    monkeypatch.setitem(sys.modules, "submitit", types.SimpleNamespace(SlurmExecutor=Executor))
    monkeypatch.setitem(sys.modules, "submitit.core.utils", errors)
    engine = SlurmEngine(Cluster(ClusterFile("slurm", partition=partition)), tmp_path)
    assert engine.submit("name", "run1-1", "token", 1, Resources()) == "7" and asked["time"] == minutes


def test_a_program_that_does_not_answer_is_busy(monkeypatch):
    def late(words, **how):
        raise subprocess.TimeoutExpired(words, 60)

    monkeypatch.setattr(slurm.subprocess, "run", late)
    with pytest.raises(EngineBusy, match="Slurm's squeue does not answer"):
        slurm.ask("squeue")


def test_an_engine_that_starts_no_jobs_is_not_taken_for_ray(tmp_path):
    with pytest.raises(UsageError, match="engine: None starts no jobs; say slurm or ray"):
        open_engine(Cluster(ClusterFile("None")), tmp_path)


@pytest.mark.parametrize(("name", "library"), [("slurm", "submitit"), ("ray", "ray")])
def test_an_engine_whose_library_is_missing_names_the_extra(name, library, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "find_spec", lambda module: None)
    with pytest.raises(UsageError) as said:
        open_engine(Cluster(ClusterFile(name)), tmp_path)
    assert str(said.value) == (
        f"engine: {name} needs {library}, which is not installed here: pip install 'wmlab[{name}]'"
    )


STEP = """
import signal, sys, types
from wmlab.cluster.engines import slurm
sys.modules["submitit.helpers"] = types.SimpleNamespace(DelayedSubmission=lambda *words: words)  # as submitit has it
sys.modules["submitit"] = types.SimpleNamespace()
slurm.command = lambda *words: [sys.executable, "-c", WORKER]
worker = slurm.WorkerProcess()

def warned(number, frame):
    worker.checkpoint("root", "job", "token", "1")
    sys.exit(0)

signal.signal(signal.SIGUSR2, warned)
worker("root", "job", "token", "1")
"""
WORKER = """
import signal, subprocess, sys
subprocess.run([sys.executable, "-c", STAGE], check=True)

def end(number, frame):
    print("worker: ended in words", flush=True)
    sys.exit(0)

signal.signal(signal.SIGTERM, end)
print("worker", __import__("os").getpid(), flush=True)
while True:
    signal.pause()
"""
STAGE = "import signal; print('stage ignores it:', signal.getsignal(signal.SIGUSR2) == signal.SIG_IGN, flush=True)"


def test_slurms_warning_ends_a_worker_in_words_and_not_at_once():
    """The signal goes to all processes of a step: to submitit's own, which ends the worker, and to the worker, too."""
    code = f"STAGE = {STAGE!r}\nWORKER = 'STAGE = ' + repr(STAGE) + {WORKER!r}\n{STEP}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as step:
        assert step.stdout is not None
        assert step.stdout.readline() == "stage ignores it: True\n"
        worker = int(step.stdout.readline().split()[1])
        clock = time.monotonic()
        os.kill(worker, signal.SIGUSR2)
        os.kill(step.pid, signal.SIGUSR2)
        assert step.stdout.read() == "worker: ended in words\n"
    assert step.returncode == 0 and time.monotonic() - clock < slurm.GRACE / 2


def test_a_machine_without_slurm_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(slurm.shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match="needs Slurm's sbatch, which is not here: run on a login node"):
        SlurmEngine(Cluster(ClusterFile("slurm")), tmp_path)
