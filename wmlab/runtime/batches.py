"""What a worker is sent at once: a long stage alone, or small ones that take a moment together."""

from __future__ import annotations

import json
from collections.abc import Mapping

from wmlab.graph.key import Key
from wmlab.graph.stage import Stage, canonical
from wmlab.runtime.schedule import StageSchedule
from wmlab.runtime.work import StageTask

_BATCH = 32  # stages sent to a worker at once, at most
_BATCH_SECONDS = 0.25  # and not more work than this, as far as one can tell


class Batches:
    """Takes stages from a schedule, as many as a worker should get."""

    def __init__(self, schedule: StageSchedule, keys: Mapping[str, Key], jobs: int):
        self._schedule, self._keys, self._jobs = schedule, keys, max(jobs, 1)
        self._means: dict[str, float] = {}  # module: seconds of a stage, a running mean

    def learn(self, stage: Stage, seconds: float) -> None:
        """A stage took so long."""
        self._means[stage.module] = 0.7 * self._means.get(stage.module, seconds) + 0.3 * seconds

    def take(self, cores: int) -> list[StageTask]:
        """The next stages for one worker of so many cores; there is at least one."""
        first = self._schedule.take(cores, small=False)
        assert first is not None
        batch = [first]
        share = -(-(self._schedule.waiting_for_a_worker(cores) + 1) // self._jobs)
        seconds = self._means.get(first.module, _BATCH_SECONDS)
        while not first.long and len(batch) < min(_BATCH, share) and seconds < _BATCH_SECONDS:
            stage = self._schedule.take(cores, small=True)
            if stage is None:
                break
            batch.append(stage)
            seconds += self._means.get(stage.module, _BATCH_SECONDS)
        return [self._task(stage) for stage in batch]

    def _task(self, stage: Stage) -> StageTask:
        key = self._keys[stage.id]
        inputs = {name: self._keys[id].hash for name, id in stage.inputs.items()}
        params, parts = json.loads(canonical([stage.params, key.parts]))
        return StageTask(stage.id, key.hash, stage.kind, stage.module, stage.label, params, inputs, stage.cores, parts)
