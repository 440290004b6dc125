"""What a live page costs: the server's share of a core, how soon an event is seen, and what the run notices of it.

A run of 400 made-up stages, some of them at work at a time, says how far it is as fast as real ones may; a client asks
once a second, as the page does. Server, run and client are processes of their own, so that each has its own clock of
CPU seconds: `python -m wmlab.bench.live run|client …` starts two of them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from wmlab.app.live import LiveRun, LiveServer
from wmlab.graph.stage import Stage
from wmlab.runtime import events
from wmlab.runtime.livelog import LiveLog
from wmlab.runtime.runlog import RunLog
from wmlab.runtime.store import Store

STAGES, AT_WORK, SECONDS = 400, 20, 20.0
EVERY = 1.0  # seconds between two questions, as the page asks
BEFORE = 3.0  # seconds in which the server looks for the run


def make_run(root: Path, stages: int, seconds: float) -> float:
    """Write what a run of so many stages says of itself, evenly over so many seconds; the CPU seconds of that."""
    all_stages = [Stage("train", {"seed": seed}, {}, f"made: train seed={seed}") for seed in range(stages)]
    keys: Any = {stage.id: SimpleNamespace(hash=f"{place:064x}") for place, stage in enumerate(all_stages)}
    Store(root).prepare()
    log = RunLog(root, spec="made", profile="bench", file="nowhere.yaml")
    with log, LiveLog(log, {stage.id: stage for stage in all_stages}, keys) as live:
        tell = events.fan_out(log, live)
        tell(events.RunStarted(stages, 0, AT_WORK, Counter(train=stages)))
        time.sleep(BEFORE)
        began, cpu = time.monotonic(), time.process_time()
        for place, stage in enumerate(all_stages):
            tell(events.StageStarted(stage.id, stage.label, 1, stage.kind))
            for other in all_stages[max(0, place - AT_WORK) : place]:
                told = {"loss": 1.0 / (place + 1), "return": place / stages}
                tell(events.StageProgress(other.id, other.label, place, stages, f"{place} updates", told))
            if place >= AT_WORK:
                done = all_stages[place - AT_WORK]
                tell(events.StageFinished(done.id, "key", done.label, done.kind, "ran", 1.0))
            time.sleep(max(0.0, began + seconds * (place + 1) / stages - time.monotonic()))
        return time.process_time() - cpu


def ask_again_and_again(url: str, seconds: float) -> list[float]:
    """Ask as the page does; for each stage that began, how long after that it was told."""
    version, late, seen = 0, [], set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with urllib.request.urlopen(f"{url}state?since={version}", timeout=30) as answer:
            told = json.load(answer)
        version, now = told["version"], time.time()
        for stage in told["stages"]:
            if stage.get("since") is not None and stage["stage"] not in seen:
                seen.add(stage["stage"])
                late.append(now - stage["since"])
        time.sleep(EVERY)
    return late


@dataclass(frozen=True)
class Cost:
    """What one run took, and what its page did."""

    run: float  # CPU seconds of the run
    server: float = 0.0  # CPU seconds of the server, a second
    late: tuple[float, ...] = ()  # seconds from the beginning of a stage until a client knew


def measure(root: Path, stages: int, seconds: float, client: str = "none") -> Cost:
    """One run: by itself, with a client that asks (`open`), or with one that is killed halfway (`crashed`)."""
    run = begin("run", str(root), str(stages), str(seconds))
    if client == "none":
        return Cost(float(run.communicate()[0]))
    with LiveServer(LiveRun(Store(root), first_run(root))) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.5}, daemon=True).start()
        asking = begin("client", server.url, str(seconds + BEFORE - 1))
        clock, cpu = time.monotonic(), time.process_time()
        if client == "crashed":
            time.sleep(seconds / 2)
            asking.kill()
        spent = float(run.communicate()[0])
        share = (time.process_time() - cpu) / (time.monotonic() - clock)
        said = asking.communicate()[0]
        server.shutdown()
    return Cost(spent, share, tuple(json.loads(said)) if client == "open" else ())


def begin(*role: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "wmlab.bench.live", *role]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def first_run(root: Path) -> str:
    """The id of the only run, as soon as it has begun."""
    while not (logs := sorted((root / "runs").glob("*.live"))):
        time.sleep(0.05)
    return logs[0].stem.rpartition("-")[2]


def main(stages: int = STAGES, seconds: float = SECONDS) -> None:
    """Print the costs, with the load of the machine: on a busy one, times are no more than a hint."""
    print(
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {stages} stages in {seconds:g} s, {AT_WORK} at work"
    )
    with tempfile.TemporaryDirectory() as folder:
        alone = measure(Path(folder, "alone"), stages, seconds)
        print(f"the run by itself        {alone.run:6.3f} s of CPU", flush=True)
        for client in ("open", "crashed"):
            cost = measure(Path(folder, client), stages, seconds, client)
            more = 100 * (cost.run - alone.run) / seconds  # of a core that the run has to itself
            print(f"with the page {client:10} {cost.run:6.3f} s of CPU: {more:+.2f} % of a core", end="   ")
            print(f"serving takes {100 * cost.server:4.1f} % of a core", flush=True)
            if cost.late:
                usual, most = statistics.median(cost.late), max(cost.late)
                print(f"an event is seen after {usual:.2f} s, {most:.2f} s at most; the page asks every {EVERY:g} s")


if __name__ == "__main__":
    if sys.argv[1] == "run":
        print(make_run(Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
    else:
        print(json.dumps(ask_again_and_again(sys.argv[2], float(sys.argv[3]))))
