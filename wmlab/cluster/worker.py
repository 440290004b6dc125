"""The worker of a job: `python -P -m wmlab.cluster.worker ROOT JOB TOKEN ATTEMPT PARENT`, on whatever machine.

It gets a path and a name. It looks whether it sees the file that was written for it, whether its own code gives the
keys that stand there, and then does what a run does: from the store, under locks, to the store. What it has to say goes
into files beside the job's (`wmlab.cluster.records`).
"""

from __future__ import annotations

import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

from wmlab.cluster import json_files
from wmlab.cluster.json_files import append_json, see, write_json
from wmlab.cluster.records import JobRecord
from wmlab.cluster.task import JobTask, surroundings
from wmlab.core.memory import WORKER_BYTES
from wmlab.errors import WmlabError
from wmlab.graph.key import Key, keys
from wmlab.runtime import events
from wmlab.runtime.cache import format_size
from wmlab.runtime.events import Outcome
from wmlab.runtime.executor import execute
from wmlab.runtime.limits import StageLimits, is_out_of_memory
from wmlab.runtime.store import Store
from wmlab.runtime.worker import die_with
from wmlab.runtime.worker_env import GIVEN

ENDED, BLIND, STOPPED = 0, 3, 4  # exit codes: it said how it went; it does not see its file; it was interrupted
FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION"  # of a device's memory, that a process takes at most
SHARE = 0.9  # of a job's part of a device: what CUDA itself holds for each process is not in XLA's count
OWN = 200 << 20  # bytes that the worker of a job, and the process that an engine starts it with, hold themselves
_EVERY = 2.0  # seconds between two looks at how far stages are
_PLATFORMS = {"cpu": "cpu", "gpu": "cuda"}


class OtherVersion(WmlabError):
    """This machine's code, or its libraries, would give another answer than the one that is asked for."""


def command(root: Path, job: str, token: str, attempt: int) -> list[str]:
    """What an engine runs on a machine; the worker ends with the process that started it."""
    words = [str(root), job, token, str(attempt), str(os.getpid())]
    return [sys.executable, "-P", "-m", "wmlab.cluster.worker", *words]


def main(arguments: list[str]) -> int:
    """Do a job; the exit code."""
    root, id, token, attempt = Path(arguments[0]), arguments[1], arguments[2], int(arguments[3])
    if len(arguments) > 4:
        die_with(int(arguments[4]))
    record = JobRecord(root, id)
    found = see(lambda: is_over(record, attempt) or task_with(record, token), json_files.LATE)
    if found is None:
        print(blind(record.folder / "job.json"), file=sys.stderr, flush=True)
        return BLIND
    if not isinstance(found, JobTask):
        print("the job is over, or was submitted again since", file=sys.stderr, flush=True)
        return ENDED
    return JobWorker(record, found, attempt).work()


def is_over(record: JobRecord, attempt: int) -> bool:
    """Whether nobody awaits this submission of a job any more."""
    return record.is_closed or record.attempt > attempt


def task_with(record: JobRecord, token: str) -> JobTask | None:
    """What a job is asked for, by the very file that was written for it; None where that is not seen, or not yet."""
    task = record.task()
    return task if task is not None and task.token == token else None


def blind(path: Path) -> str:
    """That a machine does not see what all have to see."""
    return (
        f"the machine {machine()} does not see {path} as it was written: the cache has to lie on a file "
        "system that all machines see under the same path; name such a folder with WMLAB_HOME"
    )


class JobWorker:
    """Does the stages of a job, and writes down what happens."""

    def __init__(self, record: JobRecord, task: JobTask, attempt: int):
        self.record, self.task, self.attempt = record, task, attempt
        self.clock = time.monotonic()
        self.running: dict[str, dict[str, Any]] = {}
        self.written = 0.0
        self.is_over = threading.Event()
        self.why = ""  # why it ends before its work does, where that is not the engine's doing
        self.fate = ""  # the same in a word of the engine's, where it has one

    def work(self) -> int:
        """Do the job, and say how it ended."""
        about = {"pid": os.getpid(), "attempt": self.attempt, "engine_id": os.environ.get("SLURM_JOB_ID", "")}
        self.say("begin", host=machine(), **about)
        self.write_progress()  # whatever an earlier one has left there
        signal.signal(signal.SIGALRM, self.on_alarm)
        threading.Thread(target=self.watch_record, daemon=True).start()
        if self.task.timer:
            signal.setitimer(signal.ITIMER_REAL, self.task.timer)
        try:
            outcome = self.run()
        except KeyboardInterrupt:
            if self.why:
                self.end("stopped", reason=self.why, fate=self.fate)
            else:  # by a signal of the engine, which knows why, and may begin the job again
                self.say("stopped")
            return STOPPED
        except WmlabError as error:
            self.end("refused", type=type(error).__name__, reason=str(error))
            return ENDED
        finally:
            self.is_over.set()
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        failed = {id: asdict(failure) for id, failure in outcome.failed.items()}
        self.end("ended", ran=outcome.ran, cached=outcome.cached, failed=failed, skipped=outcome.skipped)
        return ENDED

    def run(self) -> Outcome:
        task = self.task
        os.environ.update({"WMLAB_HOME": str(self.record.root), **devices(task)})
        checked = check_keys(task)
        store = Store(self.record.root)
        jobs = processes(task)
        memory = task.resources.memory and memory_of_each(task.resources.memory, jobs)
        check_other_devices(task, checked, store)
        with store.holding(checked.values(), lambda text: self.hear(events.Notice(text))):
            return execute(
                task.stages,
                checked,
                store,
                jobs=jobs,
                keep_going=task.keep_going,
                limits=StageLimits(memory=memory, retries=task.retries),
                events=self.hear,
                output=self.record.folder / "stages.out",
                wanted=task.wanted,
            )

    def on_alarm(self, number: int, frame: FrameType | None) -> None:
        self.why, self.fate = "took longer than its time", "time"
        raise KeyboardInterrupt

    def watch_record(self) -> None:
        """End the work of a job that is over on record, or was submitted again since; in a thread of its own."""
        while not self.is_over.wait(_EVERY):
            is_newer = self.record.attempt > self.attempt
            if is_newer or self.record.closed is not None:
                self.why = "was submitted again" if is_newer else "is over on record"
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                return

    # --- what is said ----------------------------------------------------------------------------------------------

    def hear(self, event: object) -> None:
        """Write down what happens; end where no other stage is to begin."""
        if isinstance(event, events.StageProgress):
            self.running[event.id] = asdict(event)
            if time.monotonic() - self.written >= _EVERY:
                self.write_progress()
        elif isinstance(event, events.StageStarted):
            self.running[event.id] = {"id": event.id, "label": event.label, "done": 0.0, "total": 0.0, "note": ""}
            self.write_progress()
            self.say("StageStarted", **asdict(event))
        elif isinstance(event, events.StageFinished):
            self.running.pop(event.id, None)
            self.write_progress()
            self.say("StageFinished", **self.with_lines(asdict(event)))
            if self.record.is_to_stop:
                self.why = "was told to stop"
                raise KeyboardInterrupt
        elif isinstance(event, events.Message):
            self.say("Notice", text=str(event))

    def with_lines(self, finished: dict[str, Any]) -> dict[str, Any]:
        """What became of a stage; where it took too much memory, with what was asked for and the line to change."""
        failure = finished.get("failure")
        asked_for = self.task.resources.memory
        if failure and asked_for and is_out_of_memory(failure["type"], failure["message"]):
            line = (self.task.lines or {}).get("memory", "`memory`")
            asked = f"the job asked for {format_size(asked_for)} ({line})"
            finished["failure"] = {**failure, "message": failure["message"].replace("--memory allows", "it may have")}
            finished["failure"]["message"] += f"; {asked}"
        return finished

    def say(self, type: str, **record: Any) -> None:
        try:
            append_json(self.record.folder / "events.jsonl", {"type": type, "at": round(time.time(), 3), **record})
        except OSError as error:  # the work goes on: results are in the store
            print(f"wmlab: an event cannot be written: {error}", file=sys.stderr, flush=True)

    def write_progress(self) -> None:
        self.written = time.monotonic()
        try:
            write_json(self.record.folder / "progress.json", {"running": list(self.running.values())})
        except OSError as error:
            print(f"wmlab: the progress cannot be written: {error}", file=sys.stderr, flush=True)

    def end(self, state: str, **record: Any) -> None:
        about = {"state": state, "host": machine(), "seconds": round(time.monotonic() - self.clock, 3)}
        write_json(self.record.folder / f"end-{self.attempt}.json", {**about, **record})


def memory_of_each(memory: int, jobs: int) -> int:
    """What each process of a job may hold: all that the job asked for but for its own worker and the other processes.

    One of them may be large while others are small. Where they are too large together, the engine ends the job.
    """
    return max(memory - OWN - (jobs - 1) * WORKER_BYTES, memory // (jobs + 1))


def machine() -> str:
    """This machine, as the engine calls it."""
    return os.environ.get("SLURMD_NODENAME") or socket.gethostname()


def devices(task: JobTask) -> dict[str, str]:
    """The variables by which JAX takes the device that the keys say; those that the engine gave are left alone."""
    kinds = {str(parts["device"]).partition(" ")[0] for parts in task.parts.values()}
    kind = "gpu" if any(task.stages[id].accelerated for id in task.wanted) and "gpu" in kinds else "cpu"
    values = {"JAX_PLATFORMS": _PLATFORMS[kind], GIVEN: "1"}
    part = part_of_each(task.resources.accelerators, processes(task))
    if kind == "gpu" and part < 1 and FRACTION not in os.environ:  # Ray counts parts, and holds nobody to them
        values[FRACTION] = f"{part * SHARE:.3f}"
    return values


def processes(task: JobTask) -> int:
    """How many stages of a job run at once, each in a process of its own."""
    return max(1, task.resources.cores // max(stage.cores for stage in task.stages.values()))


def part_of_each(accelerators: float, processes: int) -> float:
    """What each process has of the device that is first for it, where processes take the devices of a job in turn."""
    beside = math.ceil(processes / max(1, int(accelerators)))  # on the same device
    return min(accelerators or 1.0, 1.0) / beside


def check_keys(task: JobTask) -> dict[str, Key]:
    """The keys of a job's stages by this machine's own code; OtherVersion where they are not those that are asked for.

    What a stage builds on may have been computed on another device: of that, the key is taken as it was given.
    """
    own_device = f"{'gpu' if os.environ.get('JAX_PLATFORMS') == 'cuda' else 'cpu'} {os.uname().machine}"
    wanted = set(task.wanted)

    def device(stage: Any) -> str:
        return own_device if stage.id in wanted else str(task.parts[stage.id]["device"])

    try:
        mine = keys(task.stages, device=device)
    except WmlabError as error:
        raise OtherVersion(f"the worker has another version of wmlab: {error}") from None
    for id, key in mine.items():
        if key.hash != task.keys[id]:
            label = task.stages[id].label
            differing = ", ".join(differences(task.parts[id], surroundings(key))) or "its keys are taken in another way"
            raise OtherVersion(f"the worker has another version of wmlab: {differing} ('{label}' on {machine()})")
    return mine


def check_other_devices(task: JobTask, checked: Mapping[str, Key], store: Store) -> None:
    """WmlabError where something has to be made first on another sort of device than this job's."""
    own = {checked[id].parts["device"] for id in task.wanted}
    for key in checked.values():
        if key.parts["device"] not in own:
            store.verify(key)


def differences(asked: Mapping[str, Any], mine: Mapping[str, Any]) -> Iterator[str]:
    """What differs between the code, versions and device of a key and those of this machine, in a few words."""
    code, own = asked["code"], mine["code"]
    changed = [module for module in {**code, **own} if code.get(module) != own.get(module)]
    if changed:
        differ = f" and {len(changed) - 1} more files differ" if len(changed) > 1 else " differs"
        yield f"{changed[0].removeprefix('wmlab.').replace('.', '/')}.py{differ}"
    versions, installed = asked["versions"], mine["versions"]
    for name in sorted({*versions, *installed}):
        if versions.get(name) != installed.get(name):
            yield f"{name} is {installed.get(name) or 'missing'}, not {versions.get(name) or 'missing'}"
    if asked["device"] != mine["device"]:
        yield f"its device is '{mine['device']}', not '{asked['device']}'"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
