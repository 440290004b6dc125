"""What runs on Ray's machines: an actor that runs the worker of a job as a process of its own, and goes when that ends.

Ray gives the actor its place and its devices, and the worker inherits them. The actor's name is the job's.
"""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

from wmlab.cluster import json_files
from wmlab.cluster.json_files import see
from wmlab.cluster.worker import command

MARK = "seen-by-all"  # a file in the folder of jobs


def sees(folder: str, token: str) -> bool:
    """Whether this machine sees what was written into a folder, if not at once."""

    def look() -> bool | None:
        try:
            return (Path(folder) / MARK).read_text() == token or None
        except OSError:
            return None

    return see(look, json_files.LATE) is not None


class JobActor:
    """Runs one worker. All that it is given are strings."""

    def __init__(self, name: str, root: str, job: str, token: str, attempt: str):
        self._name = name
        self._log = Path(root) / "jobs" / job / f"{name}.log"
        self._command = command(Path(root), job, token, int(attempt))
        threading.Thread(target=self._work, name="job", daemon=True).start()

    def _work(self) -> None:
        import ray

        try:
            with open(self._log, "ab") as log:
                subprocess.run(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        finally:
            ray.kill(ray.get_runtime_context().current_actor, no_restart=True)
