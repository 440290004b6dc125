"""An engine that is full or busy: it is asked again with pauses that grow, and what it has is looked after."""

from __future__ import annotations

import pytest

from tests.cluster.fake import FakeEngine
from tests.cluster.test_dispatch import Lab, long_chains, no_waiting  # noqa: F401 - a fixture
from wmlab.cluster.dispatch import patient, run, times
from wmlab.cluster.dispatch.patient import Patience
from wmlab.cluster.engines.engine import EngineBusy, EngineFull
from wmlab.cluster.records import Records
from wmlab.runtime import events


class FullEngine(FakeEngine):
    """Takes two jobs at once, and notes what it is asked, in order."""

    def __init__(self, root, **more):
        super().__init__(root, **more)
        self.asked = []

    def submit(self, name, *more):
        self.asked.append(name)
        if len(self.at_work) == 2:
            raise EngineFull("no more than two")
        return super().submit(name, *more)

    def look(self, ids):
        self.asked.append("look")
        return super().look(ids)

    def find(self, names):
        self.asked.append("find")
        return super().find(names)


def lab_of(root, engine, count):
    chains = long_chains(count)
    return Lab(root, engine, [one for each in chains for one in each], chains)


def test_a_full_engine_gets_its_jobs_one_by_one_and_is_asked_about_those_that_it_has(tmp_path):
    lab = lab_of(tmp_path, FullEngine(tmp_path), 5)
    assert lab.run().ok and len(lab.engine.jobs) == 5 and lab.engine.most == 2
    assert "find" not in lab.engine.asked  # a job that was not taken is not looked for
    names = [name for name in lab.engine.asked if name != "look"]
    assert set(names) == {f"wmlab-run1-{number}-1" for number in range(1, 6)}  # it is the same submission each time
    assert Records(tmp_path).open_jobs() == []


def test_one_job_at_a_time_is_offered_to_a_full_engine_while_it_rests(tmp_path, monkeypatch):
    monkeypatch.setattr(times, "PAUSES", (3600.0,))
    lab = lab_of(tmp_path, FullEngine(tmp_path), 5)

    def sleep(seconds):
        if len(lab.engine.computed) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(run.time, "sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        lab.run()
    assert len([name for name in lab.engine.asked if name.startswith("wmlab")]) == 3
    assert len(lab.engine.computed) == 6  # meanwhile the two that it has are followed to their ends
    assert [str(event) for event in lab.said(events.Notice)][:-1] == ["no more than two; asking again in 60 min"]


def test_what_died_is_not_submitted_in_a_burst_to_an_engine_that_rests(tmp_path, monkeypatch):
    lab = lab_of(tmp_path, FullEngine(tmp_path), 2)
    lab.engine.fate_of = {"0.0": "node", "1.0": "node"}
    again = []

    def submit(name, *more):
        if name.endswith("-1"):
            return FakeEngine.submit(lab.engine, name, *more)
        again.append(name)
        monkeypatch.setattr(times, "PAUSES", (3600.0,))
        raise EngineFull("no more than that")

    def sleep(seconds):
        if again:
            raise KeyboardInterrupt

    lab.engine.submit = submit
    monkeypatch.setattr(run.time, "sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        lab.run()
    assert len(again) == 1


def test_pauses_grow_to_their_cap_and_begin_anew_after_an_answer(monkeypatch):
    now, said = [0.0], []
    monkeypatch.setattr(patient.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(times, "PAUSES", (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0))
    patience = Patience(said.append)
    pauses = []
    for _ in range(9):
        patience.is_busy(EngineBusy("busy"))
        pauses.append(patience.busy_until - now[0])
        now[0] = patience.busy_until - 0.001
        assert patience.rests
        now[0] = patience.busy_until
        assert not patience.rests
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert [event.text for event in said] == ["busy; asking again in 1 s", "busy; asking again in 8 s"]
    patience.has_answered()
    patience.is_busy(EngineBusy("busy"))
    assert patience.busy_until - now[0] == 1.0


def test_an_answer_about_jobs_does_not_end_the_pause_of_submitting(tmp_path):
    engine = patient.PatientEngine(FakeEngine(tmp_path), lambda event: None)
    engine.submitting.is_busy(EngineBusy("busy"))
    assert engine.asking(lambda: 1) == 1 and engine.submitting.busy == 1


class LateEngine(FakeEngine):
    """Does not answer the first submission of a job, which it shows only after the second was made; jobs only wait."""

    def submit(self, name, *more):
        id = super().submit(name, *more)
        if name.endswith("-1"):
            raise EngineBusy("no answer")
        return id

    def find(self, names):
        return super().find([name for name in names if len(self.jobs) > 1 or not name.endswith("-1")])

    def look(self, ids):
        if len(self.jobs) > 1:
            raise KeyboardInterrupt
        return {}


def test_a_submission_that_arrives_late_is_ended_with_the_one_that_took_its_place(tmp_path):
    lab = lab_of(tmp_path, LateEngine(tmp_path), 1)
    with pytest.raises(KeyboardInterrupt):
        lab.run()
    assert [job.name[-2:] for job in lab.engine.jobs.values()] == ["-1", "-2"]
    assert lab.engine.at_work == [] and Records(tmp_path).open_jobs() == []
