"""What follows when a stage or a job ends: by its worker's word, by the engine's, or without one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from wmlab.cluster.dispatch import times
from wmlab.cluster.dispatch.board import counted
from wmlab.cluster.dispatch.live import LiveJob, end_jobs
from wmlab.cluster.dispatch.queue import JobQueue
from wmlab.cluster.engines.engine import FATES, Fate, JobState
from wmlab.runtime import events
from wmlab.runtime.cache import format_duration, format_size
from wmlab.runtime.events import Failure
from wmlab.runtime.limits import is_out_of_memory

TOLD_BEFORE = 120.0  # seconds before the end of its time in which an engine may tell a job


class JobEnds:
    """Jobs that end: their results are taken, and what is missing is submitted again, planned anew, or fails."""

    def __init__(self, queue: JobQueue):
        self.queue, self.book, self.board = queue, queue.book, queue.board
        self.cluster = queue.board.cluster

    # --- said by workers -------------------------------------------------------------------------------------------

    def on_finished(self, live: LiveJob, id: str, event: Mapping[str, Any]) -> None:
        """A stage is over, says a job: the store tells whether it has its result."""
        if id not in self.book.left:
            return
        outcome = event.get("outcome")
        if outcome in ("ran", "cached") and self.book.is_stored(id):
            more = {name: event[name] for name in ("seconds", "peak_memory") if event.get(name) is not None}
            self.book.finish(id, "ran", **(more if outcome == "ran" else {}))
        elif outcome == "failed":
            failure = event.get("failure") or {}
            texts = {name: str(failure.get(name, "")) for name in ("type", "message", "traceback")}
            if is_out_of_memory(texts["type"], texts["message"]) and self.may_have_more_memory(live):
                live.lacks_memory = True  # it is going to be submitted again, with more
                return
            self.queue.fail(id, Failure(**texts))

    def on_end(self, live: LiveJob, ended: Mapping[str, Any]) -> None:
        """A worker said how its job ended."""
        state = ended.get("state")
        self.book.take_stored(live.holds)
        for id, failure in dict(ended.get("failed") or {}).items():
            self.on_finished(live, id, {"outcome": "failed", "failure": failure})
        open_ids = [id for id in live.wanted if id in self.book.left]
        if state == "refused":
            self.queue.fail_job(live, str(ended.get("type", "JobRefused")), str(ended.get("reason", "")))
        elif state == "stopped" and self.queue.stopping:
            self.board.over(live, "cancelled", "the run stopped")
        elif state == "stopped":
            fate: Fate = "time" if ended.get("fate") == "time" else ""
            self.on_death(live, str(ended.get("reason") or "was interrupted"), fate)
        elif not open_ids:
            self.board.over(live, "failed" if ended.get("failed") else "done")
        else:
            self.on_unfinished(live, ended, open_ids)

    def on_unfinished(self, live: LiveJob, ended: Mapping[str, Any], open_ids: Sequence[str]) -> None:
        """A job has ended, and some of its stages have no result here."""
        said = {*ended.get("ran", ()), *ended.get("cached", ())}
        late = [id for id in open_ids if id in said]
        if late:
            live.late_since = live.late_since or time.monotonic()
            if time.monotonic() - live.late_since < times.LATE:
                return  # a file system may be a while behind
            label = self.book.stages[late[0]].label
            self.queue.fail_job(
                live,
                "StoreNotShared",
                f"the job stored '{label}' on {ended.get('host')}, and after {times.LATE:.0f} s it is not seen here: "
                f"the cache {self.book.store.root} has to lie on a file system that all machines see (WMLAB_HOME)",
            )
            return
        if live.lacks_memory:
            self.again_with_more_memory(live)
            return
        self.board.over(live, "failed", "a stage failed")
        if self.queue.keep_going or not self.book.outcome.failed:
            self.queue.replan(open_ids)

    # --- said by others --------------------------------------------------------------------------------------------

    def on_closed(self, live: LiveJob, closed: Mapping[str, Any]) -> None:
        """Someone else noted that a job is over: what it did not do is planned anew, unless it was cancelled."""
        del self.board.live[live.record.id]
        self.book.take_stored(live.holds)
        open_ids = [id for id in live.wanted if id in self.book.left]
        if closed.get("state") == "cancelled":
            for id in open_ids:
                self.queue.fail(id, Failure("JobCancelled", f"job {live.engine_id} was cancelled"))
        elif open_ids:
            self.queue.replan(open_ids)

    def on_lost(self, live: LiveJob, state: JobState) -> None:
        """A job is gone, and its worker did not say how it ended."""
        self.book.take_stored(live.holds)
        if not any(id in self.book.left for id in live.wanted):
            self.board.over(live, "done")
            return
        reason = FATES[state.fate] + (f" ({state.words})" if state.words else "")
        if state.fate == "memory" and self.may_have_more_memory(live):
            self.again_with_more_memory(live)
        elif state.fate == "memory":
            asked = live.resources.memory
            size = f"it asked for {format_size(asked)}; " if asked else ""
            message = f"job {live.engine_id} {reason}; {size}{self.cluster.change('memory')}"
            self.queue.fail_job(live, "OutOfMemory", message)
        elif state.fate == "cancelled":
            self.queue.fail_job(live, "JobCancelled", f"job {live.engine_id} {reason}", state="cancelled")
        elif not live.began and state.fate in ("", "done", "failed"):
            root, log = self.book.store.root, live.submission.log if live.submission else ""
            self.on_death(live, f"{reason}: its worker never began; does its machine see {root}? See {log}")
        elif live.interrupted is not None and state.fate in ("", "done", "failed"):  # and was not begun again
            self.on_death(live, *self.why_again(live))
        else:
            self.on_death(live, reason, state.fate)

    def on_death(self, live: LiveJob, reason: str, fate: Fate = "") -> None:
        """A job died: it is begun again, and goes on from what is stored, unless that was tried often enough.

        What took its whole time, or was told to end before, is no failure where it came further, and does not count.
        """
        counts = not ((fate == "time" or live.interrupted is not None) and self.has_moved(live))
        if not live.is_mine:
            return  # its run submits it again, or says that it is over
        if self.queue.stopping:
            self.queue.fail_job(live, "JobDied", f"job {live.engine_id} {reason}")
        elif self.may_try_again(live, reason, counts):
            self.board.again(live, counts=counts)
        else:
            self.queue.fail_job(live, "JobDied", self.too_often(live, reason, fate))

    def on_begun_again(self, live: LiveJob) -> None:
        """The engine itself has begun a job again: that counts as a death, unless the job had come further.

        An engine that begins jobs again counts for itself, or not at all: what is too often is for the run to say.
        """
        reason, fate = self.why_again(live)
        self.book.take_stored(live.holds)
        if not any(id in self.book.left for id in live.wanted):
            return  # it finds that its work is done, and ends
        if self.queue.stopping:
            message = f"job {live.engine_id} {reason}"
        elif self.may_try_again(live, reason, counts=not self.has_moved(live)):
            return
        else:
            retries = self.cluster.options.retries
            line = f"; it may be begun again {counted(retries, 'time')}: {self.cluster.line('retries')}"
            message = self.too_often(live, reason, fate, line)
        self.board.engine.asking(lambda: end_jobs(self.board.engine.engine, [live.record]))
        self.queue.fail_job(live, "JobDied", message)

    def why_again(self, live: LiveJob) -> tuple[str, Fate]:
        """Why an engine has ended a job or begun it again, as far as that is known: an engine does not say so."""
        asked, end = live.resources.time, live.interrupted
        if end is None or live.begun is None:
            return FATES[""], ""
        if asked is not None and end - live.begun[2] >= asked - TOLD_BEFORE:
            return FATES["time"], "time"
        return f"was interrupted by {self.cluster.engine}", "preempted"

    def may_try_again(self, live: LiveJob, reason: str, counts: bool) -> bool:
        """Whether a job that died may be begun once more; it is told if so."""
        job, retries, attempts = live.record.id, self.board.retries, self.cluster.options.retries + 1
        retries[job] += counts
        if retries[job] < attempts:
            self.board.tell(events.JobRetried(job, live.engine_id, reason, retries[job] + 1, attempts))
        return retries[job] < attempts

    def too_often(self, live: LiveJob, reason: str, fate: Fate, line: str = "") -> str:
        """That a job died as often as it may, with the line to change."""
        attempts, asked = self.cluster.options.retries + 1, live.resources.time
        if asked and fate == "time":
            line = f"; it may take {format_duration(asked)}: {self.cluster.line('time')}"
        log = f"; see {live.submission.log}" if live.submission else ""
        last = f"{counted(attempts, 'time')}, the last: " if attempts > 1 else ""
        return f"{last}job {live.engine_id} {reason}{line}{log}"

    # --- memory and partial results --------------------------------------------------------------------------------

    def may_have_more_memory(self, live: LiveJob) -> bool:
        """Whether a job asked for less than the file allows; where it says nothing, it is doubled, `retries` times."""
        asked, most = live.resources.memory, self.cluster.memory
        if asked is None or most is not None:
            return asked is not None and most is not None and asked < most
        return self.board.retries[live.record.id] < self.cluster.options.retries

    def again_with_more_memory(self, live: LiveJob) -> None:
        """Submit a job once more, with all the memory that the cluster file allows, or else with twice as much."""
        job, most, asked = live.record.id, self.cluster.memory, live.resources.memory or 0
        memory = most or 2 * asked
        self.board.retries[job] += most is None
        live.resources = replace(live.resources, memory=memory)
        live.record.ask(live.resources)
        attempts = self.board.retries[job] + 1, self.cluster.options.retries + 1
        reason = (
            f"took more memory than the {format_size(asked)} that it asked for, and asks for {format_size(memory)} now"
        )
        self.board.tell(events.JobRetried(job, live.engine_id, reason, *attempts))
        self.board.again(live, counts=False)

    def has_moved(self, live: LiveJob) -> bool:
        """Whether a job came further since it last began: it finished a stage, or left partial results."""
        if live.finished > 0:
            return True
        since = live.submission.at if live.submission else 0.0
        since = live.begun[2] if live.begun else since
        for id in live.wanted:
            with suppress(OSError):
                if self.book.store.partial(self.book.keys[id]).path.stat().st_mtime > since:
                    return True
        return False
