"""The workers of a run: processes that are started when there is work for them, reused, and replaced when they die."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, TypeAlias

from wmlab.runtime import worker_env
from wmlab.runtime.durable import make_folders, share
from wmlab.runtime.store import Store
from wmlab.runtime.work import Inputs, Send, StageTask, do_batch


class Worker:
    """Something that does stages of so many cores, one batch at a time."""

    def __init__(self, cores: int, slot: int):
        self.cores, self.slot = cores, slot
        self.tasks: dict[str, StageTask] = {}  # of the batch, not yet finished
        self.busy = False
        self.running: str | None = None  # the stage at work


Deliver: TypeAlias = Callable[[Worker, dict[str, Any]], None]


class ProcessWorker(Worker):
    """A worker in a process of its own."""

    def __init__(self, root: Path, cores: int, slot: int, output: Path):
        super().__init__(cores, slot)
        with _open_log(output) as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "wmlab.runtime.worker", str(root), str(cores), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                env=worker_env.environment(cores, slot),
            )
        self._rest = b""

    def fileno(self) -> int:
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def send(self, message: dict[str, Any]) -> None:
        """Pass a message on; if the worker is dead, reading from it will tell."""
        assert self.process.stdin is not None
        data = json.dumps(message).encode() + b"\n"
        with suppress(BrokenPipeError):
            while data:
                data = data[self.process.stdin.write(data) or 0 :]

    def read(self) -> tuple[list[dict[str, Any]], bool]:
        """The messages that have come, and whether the worker is gone."""
        data = os.read(self.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines], not data

    def how_it_ended(self) -> str:
        """'was killed by signal 9 (SIGKILL)' or 'exited with code 3'."""
        code = self.process.wait()
        if code >= 0:
            return f"exited with code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = "unknown"
        return f"was killed by signal {-code} ({name})" + (", perhaps for lack of memory" if code == -9 else "")

    def close(self, patience: float) -> None:
        """End the process: gently if it is idle, otherwise at once."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        if self.busy:
            self.process.kill()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def _open_log(path: Path) -> IO[bytes]:
    """The file for what stages print; where it cannot be made, that is lost, and the stages run."""
    try:
        make_folders(path.parent)
        path.touch()
        share(path)
        return open(path, "ab")
    except OSError:
        return open(os.devnull, "ab")


class InlineWorker(Worker):
    """A worker in this process, for a debugger."""

    def __init__(self, store: Store, cores: int, slot: int):
        super().__init__(cores, slot)
        self._inputs = Inputs(store)

    def work(self, send: Send, keep_going: bool) -> None:
        """Do the batch, here and now, on as many cores as a worker process would have."""
        with closing(worker_env.CoreClaim(self.cores)):
            do_batch(list(self.tasks.values()), self._inputs, send, lambda failed: keep_going or not failed)
        send({"type": "idle"})


class Pool:
    """Up to `jobs` workers at work; none before there is something to do. With `jobs` 0 the work is done here."""

    def __init__(self, store: Store, jobs: int, keep_going: bool, output: Path, notice: Callable[[str], None]):
        self._store = store
        self._jobs = max(jobs, 1)
        self._inline = jobs == 0
        self._keep_going = keep_going
        self._output = output
        self._notice = notice
        self._told: set[str] = set()
        self._selector = selectors.DefaultSelector()
        self.workers: list[Worker] = []
        self._budget = max(worker_env.usable_cores(), self._jobs)

    @property
    def busy(self) -> list[Worker]:
        """The workers that are at work."""
        return [worker for worker in self.workers if worker.busy]

    def idle(self, cores: int) -> Worker | None:
        """A worker for a stage of so many cores, started if need be; None when one has to wait."""
        busy = self.busy
        crowded = busy and sum(worker.cores for worker in busy) + cores > self._budget
        if len(busy) >= self._jobs or crowded:
            return None
        for worker in self.workers:
            if not worker.busy and worker.cores == cores:
                return worker
        if len(self.workers) >= self._jobs:  # an idle one of another size makes room
            self.drop(next(worker for worker in self.workers if not worker.busy))
        return self._start(cores)

    def send(self, worker: Worker, tasks: Sequence[StageTask]) -> None:
        """Give a worker a batch."""
        worker.tasks = {task.id: task for task in tasks}
        worker.busy = True
        if isinstance(worker, ProcessWorker):
            batch = [asdict(task) for task in tasks]
            worker.send({"type": "batch", "tasks": batch, "keep_going": self._keep_going})

    def wait(self, deliver: Deliver, died: Callable[[ProcessWorker], None], timeout: float = 0.5) -> None:
        """Deliver what the workers have to say; wait for it for a while if need be."""
        inline = [worker for worker in self.busy if isinstance(worker, InlineWorker)]
        for worker in inline:
            worker.work(lambda message, worker=worker: deliver(worker, message), self._keep_going)  # type: ignore[misc]
        if inline:
            timeout = 0
        for key, _ in self._selector.select(timeout):
            process: ProcessWorker = key.data
            messages, gone = process.read()
            for message in messages:
                deliver(process, message)
            if gone:
                self._lost(process, died)
        for process in [worker for worker in self.workers if isinstance(worker, ProcessWorker)]:
            # A child that a stage left behind may keep the pipe open after its death.
            if process.process.poll() is not None and not self._selector.select(0):
                self._lost(process, died)

    def stop(self) -> None:
        """Have the workers finish the stage at hand and begin no other."""
        for worker in self.busy:
            if isinstance(worker, ProcessWorker):
                worker.send({"type": "stop"})

    def drop(self, worker: Worker, patience: float = 2.0) -> None:
        """Do without a worker from now on."""
        self.workers.remove(worker)
        if isinstance(worker, ProcessWorker):
            self._selector.unregister(worker)
            worker.close(patience)

    def close(self) -> None:
        """End all workers; those at work are killed."""
        for worker in self.workers:
            if isinstance(worker, ProcessWorker):  # all at once, then wait for each
                with suppress(OSError):
                    worker.process.kill() if worker.busy else worker.process.stdin.close()  # type: ignore[union-attr]
        for worker in list(self.workers):
            self.drop(worker)
        self._selector.close()

    def _lost(self, process: ProcessWorker, died: Callable[[ProcessWorker], None]) -> None:
        if process in self.workers:
            self.drop(process, patience=0.5)
            died(process)

    def _start(self, cores: int) -> Worker:
        slot = min(set(range(len(self.workers) + 1)) - {worker.slot for worker in self.workers})
        worker: Worker
        if problem := worker_env.no_compiled_programs(cores):
            self._tell(problem)
        if self._inline and self._can_work_here(cores):
            worker = InlineWorker(self._store, cores, slot)
        else:
            worker = process = ProcessWorker(self._store.root, cores, slot, self._output)
            self._selector.register(process, selectors.EVENT_READ, process)
        self.workers.append(worker)
        return worker

    def _can_work_here(self, cores: int) -> bool:
        if worker_env.jax_came_first():
            self._tell("JAX was imported before the run, with its own settings: results may differ in their last bits")
            return True
        if worker_env.prepare_here(cores):
            return True
        self._tell(f"this process is set up for another number of cores: stages of {cores} run in another process")
        return False

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._notice(text)
