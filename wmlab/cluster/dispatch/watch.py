"""Watching jobs: what their workers have written, and what the engine says of them."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from wmlab.cluster.dispatch.ends import JobEnds
from wmlab.cluster.dispatch.live import LiveJob
from wmlab.cluster.engines.engine import EngineBusy, JobState
from wmlab.runtime import events

WORDS = 3.0  # seconds that a worker's last words may be on their way: a file system is slower than a scheduler


class JobWatch:
    """Looks at the jobs that were submitted."""

    def __init__(self, ends: JobEnds):
        self.ends, self.queue, self.book, self.board = ends, ends.queue, ends.book, ends.board
        self.tell = self.board.tell
        self.told: set[tuple[str, str]] = set()  # (stage, event) that was passed on
        self.looked = 0.0

    # --- workers ---------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Take note of what jobs have written."""
        for live in list(self.board.live.values()):
            if not self.hear_all(live):
                continue
            for told in live.record.progress():
                if told.get("id") in live.running:
                    with suppress(TypeError):
                        self.tell(events.StageProgress(**told))
            ended = live.record.ended(live.attempt)
            if ended is not None:
                self.ends.on_end(live, ended)

    def hear_all(self, live: LiveJob) -> bool:
        """Take note of what a job's worker has said since; whether the job is not over."""
        for event in live.record.new_events():
            self.hear(live, event)
        return live.record.id in self.board.live

    def hear(self, live: LiveJob, event: dict[str, Any]) -> None:
        """Something that a job's worker has said; it may be said twice, and of another submission."""
        kind, id = event.get("type"), str(event.get("id", ""))
        if kind == "begin":
            self.on_begin(live, event)
        elif kind == "stopped":
            live.interrupted = float(event.get("at", 0.0))
        elif kind == "StageStarted" and id in self.book.left:
            stage = self.book.stages[id]
            live.running[id] = stage.label
            if (live.name, id) not in self.told:
                self.told.add((live.name, id))
                self.tell(events.StageStarted(id, stage.label, int(event.get("pid", 0)), stage.kind))
        elif kind == "StageFinished":
            live.running.pop(id, None)
            live.finished += event.get("outcome") == "ran"  # what was stored before is no step ahead
            self.ends.on_finished(live, id, event)
        elif kind == "Notice":
            self.tell(events.Notice(str(event.get("text", ""))))

    def on_begin(self, live: LiveJob, event: dict[str, Any]) -> None:
        """A worker begins a job; where it is not the first of a submission, the engine has begun the job again."""
        begun = str(event.get("host", "")), int(event.get("pid", 0)), float(event.get("at", 0.0))
        if begun == live.begun:
            return
        is_own = event.get("attempt", live.attempt) == live.attempt
        if is_own and live.begun is not None and live.is_mine and live.record.id in self.board.live:
            self.ends.on_begun_again(live)
        live.state, live.finished, live.running, live.interrupted = "running", 0, {}, None
        live.began += 1
        live.begun = begun if is_own else None

    # --- the engine ------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Ask the engine which jobs it still has."""
        now, engine, patience = time.monotonic(), self.board.engine.engine, self.board.engine.looking
        if not self.board.live or now - self.looked < engine.poll or patience.rests:
            return
        self.looked = now
        try:
            states = self.states()
        except EngineBusy as error:
            patience.is_busy(error)
            return
        patience.has_answered()
        for live in list(self.board.live.values()):
            state = states.get(live.submission.engine_id) if live.submission else None
            self.on_state(live, state)

    def states(self) -> dict[str, JobState]:
        """What the engine says of jobs, by its ids; those whose submission nobody answered are looked for by name."""
        engine, jobs = self.board.engine.engine, self.board.live.values()
        nameless = {live.name: live for live in jobs if live.submission is None}
        if nameless:
            for name, engine_id in engine.find(list(nameless)).items():
                if name in nameless:
                    self.queue.know(nameless[name], engine_id)
        known = [live.submission.engine_id for live in jobs if live.submission is not None]
        return engine.look(known) if known else {}

    def on_state(self, live: LiveJob, state: JobState | None) -> None:
        """What the engine says of a job; None where it does not know it (any more, or yet)."""
        now, patience = time.monotonic(), self.board.engine.engine.patience
        self.board.follow(live)
        if state is not None and state.state != "ended":
            live.state, live.unseen = state.state, None
            if state.words and ("waits", state.words) not in self.told:
                self.told.add(("waits", state.words))
                self.tell(events.Notice(f"job {live.engine_id} waits: {state.words}"))
            return
        if live.unseen is None:
            live.unseen = now
        if now - live.unseen < (patience if state is None else min(WORDS, patience)):
            return
        if not self.hear_all(live):
            return
        ended = live.record.ended(live.attempt)
        if ended is not None:
            self.ends.on_end(live, ended)
        elif (closed := live.record.closed) is not None:
            self.ends.on_closed(live, closed)
        elif not live.is_mine:
            return  # its run is alive, and says what becomes of it
        elif live.submission is None:
            self.board.again(live, counts=False)
        else:
            self.ends.on_lost(live, state or JobState("ended"))
