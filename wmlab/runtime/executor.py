"""Running a plan: what is stored is used, what is not is computed by workers, and every stage is accounted for."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType

from wmlab.graph.stage import Stages
from wmlab.runtime.events import Listener, Outcome
from wmlab.runtime.execution import Execution, StageKey
from wmlab.runtime.lock import hold
from wmlab.runtime.store import Store


def execute(
    stages: Stages,
    keys: Mapping[str, StageKey],
    store: Store,
    *,
    jobs: int = 1,
    keep_going: bool = False,
    events: Listener | None = None,
    wanted: Iterable[str] | None = None,
    output: Path | None = None,
) -> Outcome:
    """Compute what the store does not have, with up to `jobs` worker processes (0: in this process).

    `events` is called with a record of each thing that happens. `wanted` are the stages whose results are asked for
    (all, if not said). What stages print goes to the file `output`. Raises KeyboardInterrupt on SIGINT and SIGTERM,
    with the workers ended; what was finished by then is in the store.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    output = output or store.root / "runs" / f"{stamp}-{os.getpid()}.out"
    execution = Execution(stages, keys, store, jobs, keep_going, events or (lambda event: None), wanted, output)
    with hold(store.root, (key.hash for key in keys.values())), _interruptible():
        return execution.go()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, where the program can be told (in the main thread)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    # A signal that is ignored (a job in the background of a script) stays so.
    heeded = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
