"""Ray: a job is a detached actor, so that it outlives the run, and is found again by its name."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from wmlab.cluster.engines.engine import Engine, EngineBusy, EngineRefusal, JobState
from wmlab.cluster.engines.ray_job import MARK
from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import Job, Resources, most_memory
from wmlab.errors import SpecError
from wmlab.runtime import layout
from wmlab.runtime.cache import format_size
from wmlab.runtime.durable import write_file

START, ANSWER = 120.0, 120.0  # seconds that Ray gets to be found, and to answer


class RayEngine(Engine):
    """Jobs as Ray's actors; Ray is spoken with by a process of its own, for it ends those whose cluster is lost."""

    poll = 1.0
    patience = 10.0

    def __init__(self, cluster: Cluster, root: Path):
        super().__init__(cluster, root)
        self._process: subprocess.Popen[bytes] | None = None

    def check(self, jobs: Sequence[Job]) -> list[SpecError]:
        token = token_hex(8)
        folder = layout.folder(self.root, "jobs")
        write_file(folder / MARK, token.encode())
        machines = self._ask("machines", folder=str(folder), token=token)
        blind = [machine["host"] for machine in machines if not machine["seen"]]
        if blind:
            message = f"the machine {blind[0]} does not see the cache {self.root}"
            hint = "name a folder that all machines see under the same path with WMLAB_HOME"
            return [self.cluster.error("engine", message, hint)]
        return list(self._excesses([machine["resources"] for machine in machines], jobs))

    def _excesses(self, machines: Sequence[Mapping[str, float]], jobs: Sequence[Job]) -> Iterator[SpecError]:
        """What jobs ask for that no machine has."""
        asks: dict[str, tuple[str, float]] = {
            "cores": ("CPU", max((job.resources.cores for job in jobs), default=0)),
            "memory": ("memory", most_memory(jobs, self.cluster)),
            "accelerators": ("GPU", max((job.resources.accelerators for job in jobs), default=0)),
        }
        for key, (resource, asked) in asks.items():
            most = max((machine.get(resource, 0.0) for machine in machines), default=0.0)
            if asked > most:
                words = [format_size(count) if key == "memory" else f"{count:g} {key}" for count in (asked, most)]
                message = f"a job would ask for {words[0]}, and the largest machine has {words[1]}"
                yield self.cluster.error(key, message)

    def submit(self, name: str, job: str, token: str, attempt: int, resources: Resources) -> str:
        asks = {"num_cpus": resources.cores, "memory": resources.memory, "num_gpus": resources.accelerators}
        words = [str(self.root), job, token, str(attempt)]
        restarts = self.cluster.options.retries  # the most while no run is there; a run counts all that a job has
        return str(self._ask("submit", name=name, words=words, resources=asks, restarts=restarts))

    def find(self, names: Collection[str]) -> dict[str, str]:
        return {name: name for name in self._ask("names") if name in names}

    def look(self, ids: Collection[str]) -> dict[str, JobState]:
        return {name: JobState("running") for name in self._ask("names") if name in ids}

    def cancel(self, ids: Collection[str]) -> None:
        self._ask("cancel", ids=list(ids))

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()  # type: ignore[union-attr]

    # --- the process that speaks with Ray --------------------------------------------------------------------------

    def _ask(self, what: str, **request: Any) -> Any:
        if self._process is None or self._process.poll() is not None:
            self._start()
        try:
            assert self._process is not None and self._process.stdin is not None
            self._process.stdin.write(json.dumps({"ask": what, **request}).encode() + b"\n")
            self._process.stdin.flush()
            reply = self._reply(ANSWER)
        except OSError as error:
            self._give_up(f"Ray was lost: {error}")
        if "refused" in reply:
            raise EngineRefusal(reply["refused"])
        if "busy" in reply:
            self._give_up(f"Ray says: {first_line(reply['busy'])}")
        return reply["said"]

    def _start(self) -> None:
        self.close()
        address = self.cluster.address
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "wmlab.cluster.engines.ray_client", address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"},  # it stands above `auto`
            start_new_session=True,  # Ctrl-C is for the run
        )
        reply = self._reply(START)
        if "ready" not in reply:
            place = "this machine" if address == "auto" else address
            self._give_up(f"Ray is not reached at {place}: {first_line(reply.get('busy', ''))}")

    def _reply(self, patience: float) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], patience)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            self._give_up("Ray does not answer" if not ready else "Ray was lost")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _give_up(self, text: str) -> Any:
        if self._process is not None:
            self._process.kill()
            self.close()
        raise EngineBusy(text)


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:300]
