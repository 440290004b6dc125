"""Runs of made-up stages, for the page that shows a run while it goes on."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

from wmlab.graph.stage import Stage
from wmlab.runtime import events
from wmlab.runtime.livelog import LiveLog
from wmlab.runtime.run_id import pages_of
from wmlab.runtime.runlog import ClaimCounts, RunLog
from wmlab.runtime.store import Store


class MadeRun:
    """A run of made-up stages: a training and an extraction for each of so many seeds."""

    def __init__(self, root, seeds=2, name="made"):
        self.store = Store(root)
        self.store.prepare()
        stages = {}
        for seed in range(seeds):
            train = Stage("train", {"seed": seed}, {}, f"{name}: train seed={seed}")
            stages[train.id] = train
            extract = Stage("extract", {"seed": seed}, {"agent": train.id}, f"{name}: extract seed={seed}")
            stages[extract.id] = extract
        keys: Any = {id: SimpleNamespace(hash=f"{place:064x}") for place, id in enumerate(stages)}
        self.stages = stages
        self.log = RunLog(root, spec=name, profile="p", file="nowhere.yaml")
        self.live = LiveLog(self.log, stages, keys)
        self.tell = events.fan_out(self.log, self.live)
        self.tell(events.RunStarted(len(stages), 0, 2, Counter(train=seeds, extract=seeds)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.log.__exit__()
        self.live.__exit__()

    def start(self, place):
        id = list(self.stages)[place]
        self.tell(events.StageStarted(id, self.stages[id].label, 1, self.stages[id].kind))
        return id

    def progress(self, place, done, **numbers):
        id = list(self.stages)[place]
        self.live._told.clear()  # as if a second had passed
        self.tell(events.StageProgress(id, self.stages[id].label, done, 100, f"{done} of 100", numbers))

    def finish(self, place, outcome="ran", failure=None):
        id = list(self.stages)[place]
        stage = self.stages[id]
        self.tell(events.StageFinished(id, "k", stage.label, stage.kind, outcome, 1.5, failure=failure))

    def end(self, page=b""):
        self.tell(events.RunFinished({"ran": len(self.stages), "failed": 0, "skipped": 0}, 3.0))
        if page:
            folder = pages_of(self.store.root, self.log.id) / "made" / "p"
            folder.mkdir(parents=True)
            (folder / "index.html").write_bytes(page)
            self.log.reported("made/p", ClaimCounts(1, 0, 0))
        self.__exit__()
