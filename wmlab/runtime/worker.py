"""A worker process: reads stages as JSON lines, does them, and tells how they went.

Started by the pool as `python -m wmlab.runtime.worker ROOT CORES PARENT TRACE`, with its environment already set. On
SIGUSR1 it writes where it is to the file descriptor TRACE, also from within code that never comes back to Python.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from wmlab.runtime.store import Store
from wmlab.runtime.work import Inputs, Send, StageTask, do_batch
from wmlab.runtime.worker_env import CoreClaim

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Serve until the parent closes the pipe or dies."""
    root, cores, parent = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: the parent decides
    source, send = take_over_pipes()
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, file=int(arguments[3]), all_threads=False)
    send({"type": "ready"})
    gc.set_threshold(50_000, 20, 20)  # tracing makes many objects that stay: looking through them took a tenth of it
    CoreClaim(cores)  # for as long as the process lives
    batches: queue.Queue[dict[str, Any]] = queue.Queue()
    stop = threading.Event()
    threading.Thread(target=listen, args=(source, batches, stop), daemon=True).start()
    serve(Store(root), batches, send, stop)


def serve(store: Store, batches: queue.Queue[dict[str, Any]], send: Send, stop: threading.Event) -> None:
    """Do batch after batch."""
    inputs = Inputs(store)
    while True:
        batch = batches.get()

        def go_on(failed: bool, keep_going: bool = batch["keep_going"]) -> bool:
            return not stop.is_set() and (keep_going or not failed)

        if not stop.is_set():
            do_batch([StageTask(**task) for task in batch["tasks"]], inputs, send, go_on)
        send({"type": "idle"})


def listen(source: IO[bytes], batches: queue.Queue[dict[str, Any]], stop: threading.Event) -> None:
    """Read what the parent says, also while a stage runs; end the process when the parent is gone."""
    for line in source:
        message = json.loads(line)
        if message["type"] == "stop":
            stop.set()
        elif message["type"] == "output":
            print_to(message["path"])
        else:
            batches.put(message)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def print_to(path: str) -> None:
    """Have what stages print go to another file; where it cannot be opened, it goes where it went."""
    sys.stdout.flush()
    sys.stderr.flush()
    with suppress(OSError):
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.close(file)


def take_over_pipes() -> tuple[IO[bytes], Callable[[dict[str, Any]], None]]:
    """Keep the pipes to the parent for messages alone: what a stage prints goes to the log, and it reads nothing."""
    source = os.fdopen(os.dup(0), "rb")
    sink = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]

    def send(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(sink, data) :]

    return source, send


def die_with(parent: int) -> None:
    """Have the system end this process when its parent dies, whatever a stage is doing then."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
