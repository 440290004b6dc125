"""Worker processes between two runs of one command: to start one takes longer than many a stage."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from wmlab.runtime.workers import ProcessWorker


class Spares:
    """Idle workers of a run that is over, for the next one."""

    def __init__(self) -> None:
        self._idle: list[ProcessWorker] = []

    def __enter__(self) -> Spares:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for worker in self._idle:
            worker.close(patience=2.0)
        self._idle.clear()

    def keep(self, worker: ProcessWorker) -> bool:
        """Take a worker in, if it can be used again."""
        if worker.is_spare:
            self._idle.append(worker)
        return worker.is_spare

    def take(self, root: Path, cores: int, slot: int, output: Path, now: float) -> ProcessWorker | None:
        """A worker for stages of that store, of so many cores; what it prints from now on goes to `output`."""
        for worker in self._idle:
            if (worker.root, worker.cores, worker.slot) == (root, cores, slot):
                self._idle.remove(worker)
                if worker.process.poll() is not None:  # it died in the meantime
                    worker.close(patience=0.0)
                    return None
                worker.print_to(output, now)
                return worker
        return None
