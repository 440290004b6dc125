"""Those who do stages: a process of its own each, or this process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from wmlab.runtime import worker_env
from wmlab.runtime.durable import make_folders, share
from wmlab.runtime.events import Failure
from wmlab.runtime.limits import is_lack_of_memory
from wmlab.runtime.store import Store
from wmlab.runtime.watch import Vitals, memory_of, memory_words
from wmlab.runtime.work import Inputs, Send, StageTask, do_batch

_GRACE = 3.0  # seconds from SIGTERM to SIGKILL
_LAST_WORDS = 300  # characters of what a worker printed
_CRASH_TRACE = ("  File ", "Thread 0x", "Current thread 0x", "Extension modules:")
_PRINTED = 16_384  # bytes of it that are looked at


class Worker:
    """Something that does stages of so many cores, one batch at a time."""

    def __init__(self, cores: int, slot: int):
        self.cores, self.slot = cores, slot
        self.tasks: dict[str, StageTask] = {}  # of the batch, not yet finished
        self.busy = False
        self.running: str | None = None  # the stage at work
        self.ending: WorkerEnd | None = None  # why it is being ended


Deliver: TypeAlias = Callable[[Worker, dict[str, Any]], None]


@dataclass(frozen=True)
class WorkerEnd:
    """That a worker is being ended: what becomes of its stage, and when the system will not wait any longer."""

    stage: str | None  # id
    failure: Failure
    kill_at: float  # on the clock of those who watch


class ProcessWorker(Worker):
    """A worker in a process of its own."""

    def __init__(self, root: Path, cores: int, slot: int, output: Path, now: float):
        super().__init__(cores, slot)
        self.root = root
        self.told_to_stop = False
        self.vitals = Vitals(since=now, heard=now)
        self.seconds_at_stage = 0.0  # when it was ended
        self._output = output
        self._trace = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the worker lives
        trace = self._trace.fileno()
        with _open_log(output) as log:
            self._printed_before = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "wmlab.runtime.worker", *map(str, (root, cores, os.getpid(), trace))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                pass_fds=(trace,),
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

    @property
    def is_spare(self) -> bool:
        """Whether it is idle, alive and free to do more."""
        return not self.busy and not self.told_to_stop and self.ending is None and self.process.poll() is None

    def print_to(self, output: Path, now: float) -> None:
        """Begin with another run: what is printed from now on goes to its file, and nothing has been heard yet."""
        self.vitals = Vitals(since=now, heard=now)
        self._output = output
        with _open_log(output) as log:
            self._printed_before = log.tell()
            self.send({"type": "output", "path": log.name})

    def look(self) -> int:
        """The bytes that the process holds now; its peak is remembered."""
        held, peak = memory_of(self.process.pid)
        self.vitals.peak = max(self.vitals.peak, peak)
        return held

    def ask_where(self) -> None:
        """Have the process write down where it is, for `where`."""
        self._trace.seek(0)
        self._trace.truncate()
        self.process.send_signal(signal.SIGUSR1)

    def where(self) -> list[str]:
        """The places in the code, the innermost first, that the process was at when it was asked."""
        self._trace.seek(0)
        lines = self._trace.read().decode(errors="replace").splitlines()
        return [line.strip() for line in lines if line.startswith("  File ")]

    def end(self, failure: Failure, now: float) -> None:
        """Ask the process to end, for the reason that its stage then fails with."""
        stage = self.vitals.stage or next(iter(self.tasks), None)
        self.ending = WorkerEnd(stage, failure, now + _GRACE)
        self.process.terminate()
        self.seconds_at_stage = now - self.vitals.stage_since if self.vitals.stage else 0.0

    def how_it_ended(self) -> str:
        """'was killed by signal 9 (SIGKILL)' or 'exited with code 3', with what is known of the reason."""
        code = self.process.wait()
        names = {number.value: number.name for number in signal.Signals}
        how = f"exited with code {code}"
        if code < 0:
            how = f"was killed by signal {-code} ({names.get(-code, 'unknown')})"
        if code == -signal.SIGKILL or is_lack_of_memory(self._printed()):
            how += ", perhaps for lack of memory"
        return f"{how}: {memory_words(self.vitals.peak, self.vitals.estimate)}" if code < 0 else how

    def with_last_words(self, text: str) -> str:
        """A text about the worker's end, with the last lines that it printed and where all of them are."""
        # A crash ends with the way that led to it, which is long, and says less than what came before.
        lines = [line.strip() for line in self._printed().split("\n") if not line.startswith(_CRASH_TRACE)]
        words = " | ".join([line for line in lines if line][-3:])[-_LAST_WORDS:]
        return f"{text}; its last words: {words}; see {self._output}" if words else text

    def _printed(self) -> str:
        # Workers that are at work at the same time print there, too.
        with suppress(OSError), open(self._output, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(self._printed_before, size - _PRINTED))
            return file.read().decode(errors="replace")
        return ""

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
        self._trace.close()


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
