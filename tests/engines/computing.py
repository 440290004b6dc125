"""Who computes what, seen from outside the engines: no stage by two processes at the same time."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.engines.daemons import alive

EVERY = 0.2  # seconds between two looks
SLACK = 1.0  # seconds by which what is written down lags behind what happens


@dataclass
class Span:
    """A stage in the hands of a process."""

    job: Path
    pid: int
    begun: float  # seconds since the epoch
    seen: float  # when the process was last seen alive
    ended: float | None = None
    outcome: str = ""  # of the stage; "" where the process died


class Computing(threading.Thread):
    """Looks at what jobs of a cache say, and at the processes that say so, until it is told to stop."""

    def __init__(self, root: Path):
        super().__init__(daemon=True)
        self.root, self.over = root, threading.Event()
        self.spans: dict[str, list[Span]] = defaultdict(list)  # stage: who had it
        self.read: dict[Path, int] = defaultdict(int)  # file: lines that were read

    def run(self) -> None:
        while not self.over.wait(EVERY):
            self.look()

    def stop(self) -> None:
        self.over.set()
        self.join()
        self.look()

    def look(self) -> None:
        for path in sorted(self.root.glob("jobs/*/events.jsonl")):
            lines = path.read_text().split("\n")[:-1]
            for line in lines[self.read[path] :]:
                self.hear(path, json.loads(line))
            self.read[path] = len(lines)
        now = time.time()
        for span in (span for spans in self.spans.values() for span in spans if span.ended is None):
            if alive(span.pid):
                span.seen = now
            else:
                span.ended = span.seen

    def hear(self, path: Path, event: dict) -> None:
        if event["type"] == "StageStarted":
            self.spans[event["id"]].append(Span(path, event["pid"], event["at"], event["at"]))
        elif event["type"] == "StageFinished":
            mine = [span for span in self.spans[event["id"]] if span.job == path and not span.outcome]
            if mine:
                mine[-1].ended, mine[-1].outcome = event["at"], event["outcome"]

    def twice(self) -> list[tuple[Span, Span]]:
        """Two that had the same stage at the same time, and neither found it done."""
        found = []
        for spans in self.spans.values():
            computed = sorted((span for span in spans if span.outcome != "cached"), key=lambda span: span.begun)
            for one, other in pairwise(computed):
                if one.ended is None or other.begun < one.ended - SLACK:
                    found.append((one, other))
        return found
