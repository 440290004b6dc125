"""Jobs that the engine itself begins again: it is told, and it counts where they came no further."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.cluster.fake import FakeEngine, Killed
from tests.cluster.test_dispatch import Lab, long_chains, no_waiting  # noqa: F401 - a fixture
from tests.runtime.toys import stage
from wmlab.cluster.file import Cluster
from wmlab.cluster.records import JobRecord, Records
from wmlab.runtime import events
from wmlab.runtime.folder import Partial
from wmlab.runtime.result import Result
from wmlab.sections.cluster import ClusterFile


class Endless(FakeEngine):
    """Each of its jobs dies at a stage, as often as there are fates."""

    def __init__(self, root, label, fates, **more):
        super().__init__(root, **more)
        self.label, self.fates = label, fates
        self.saves = False  # whether partial results are left

    def die(self, record: JobRecord, job, fate: str) -> None:
        if self.saves:
            time.sleep(0.01)  # a file system's clock ticks in steps
            (key,) = record.hashes().values()
            Partial(self.root, key).save(Result({}, {"lives": job.lives}))
        super().die(record, job, fate)

    def advance(self, id, job):
        if self.fates and self.label not in self.fate_of:
            self.fate_of[self.label] = self.fates.pop(0)
        super().advance(id, job)


def begun(engine):
    return sum(job.lives for job in engine.jobs.values())


def test_a_job_that_came_further_is_begun_again_as_often_as_it_takes_and_that_is_told(tmp_path):
    (chain,) = long_chains(1, 5)
    engine = FakeEngine(tmp_path, retries=1)
    engine.fate_of = {one.label: "begins again" for one in chain[1:]}  # each time after one more stage
    lab = Lab(tmp_path, engine, chain, [chain])
    assert lab.run().ok and len(engine.jobs) == 1 and begun(engine) == 5
    told = [str(event) for event in lab.said(events.JobRetried)]
    assert told == ["job 100 ended before its work did; trying again (1 of 2)"] * 4


def test_a_job_that_comes_no_further_is_cancelled_and_its_stage_fails_with_the_line_to_change(tmp_path):
    (chain,) = long_chains(1, 3)
    engine = Endless(tmp_path, "0.1", ["begins again"] * 1000, retries=2)
    lab = Lab(tmp_path, engine, chain, [chain])
    outcome = lab.run()
    (failure,) = outcome.failed.values()
    assert str(failure) == (
        "JobDied: 3 times, the last: job 100 ended before its work did; it may be begun again 2 times: "
        f"`retries` in a file for --on; see {tmp_path}/jobs/run1-1/100.log"
    )
    assert list(outcome.skipped.values()) == ["needs '0.1', which failed"]
    assert engine.at_work == [] and Records(tmp_path).open_jobs() == []
    assert [event.attempt for event in lab.said(events.JobRetried)] == [1, 2, 3]  # the first had done a stage


def test_a_stage_longer_than_the_time_of_a_job_says_how_long_that_may_take(tmp_path):
    (chain,) = long_chains(1, 1)
    engine = Endless(tmp_path, "0.0", ["told and begins again"] * 1000, retries=0)
    engine.cluster = Cluster(replace(ClusterFile("slurm"), retries=0), time=7200.0)
    engine.span = 7130.0
    outcome = Lab(tmp_path, engine, chain, [chain]).run()
    (failure,) = outcome.failed.values()
    assert str(failure).startswith(
        "JobDied: job 100 took longer than its time; it may take 2.0 h: `time` in a file for --on; see "
    )


def test_a_job_that_is_interrupted_early_is_said_to_be_interrupted(tmp_path):
    (chain,) = long_chains(1, 1)
    engine = Endless(tmp_path, "0.0", ["told and begins again"])
    engine.cluster = Cluster(ClusterFile("slurm"), time=7200.0)
    lab = Lab(tmp_path, engine, chain, [chain])
    assert lab.run().ok
    (again,) = lab.said(events.JobRetried)
    assert str(again) == "job 100 was interrupted by slurm; trying again (2 of 3)"


def test_partial_results_are_a_step_ahead(tmp_path):
    (chain,) = long_chains(1, 1)
    engine = Endless(tmp_path, "0.0", ["begins again"] * 9, retries=1)
    engine.saves = True
    assert Lab(tmp_path, engine, chain, [chain]).run().ok and begun(engine) == 10


def test_lives_that_an_engine_gives_and_submissions_are_one_count(tmp_path):
    (chain,) = long_chains(1, 1)
    engine = Endless(tmp_path, "0.0", ["begins again", "node"] * 99, retries=3)
    outcome = Lab(tmp_path, engine, chain, [chain]).run()
    assert list(outcome.failed) and begun(engine) == 4 and len(engine.jobs) == 2


@pytest.mark.parametrize("times", [1, 9])
def test_what_began_again_while_no_run_was_there_is_counted_when_it_is_taken_up(tmp_path, times):
    (chain,) = long_chains(1, 1)
    engine = Endless(tmp_path, "0.0", ["begins again"] * times, retries=2)
    lab = Lab(tmp_path, engine, chain, [chain])
    killed_at_work(lab, 1)
    for _ in range(2 * times - 1):
        engine.look([])
    outcome = lab.run()
    assert outcome.ok == (times == 1) and len(engine.jobs) == 1 and engine.at_work == []


def killed_at_work(lab, look_of_death=2):
    """The run is killed when its job has begun."""
    looks = iter(range(9))

    def look(ids):
        if next(looks) == look_of_death:
            raise Killed
        return FakeEngine.look(lab.engine, ids)

    lab.engine.look = look
    with pytest.raises(Killed):
        lab.run()
    del lab.engine.look
    (record,) = Records(lab.root).open_jobs()
    return record


def test_a_job_that_a_killed_run_had_told_to_stop_goes_on_under_the_next_one(tmp_path):
    (chain,) = long_chains(1, 4)
    lab = Lab(tmp_path, FakeEngine(tmp_path, retries=0), chain, [chain])
    record = killed_at_work(lab)
    record.stop()
    assert lab.run().ok and len(lab.engine.jobs) == 1 and not record.is_to_stop


def test_what_a_job_leaves_that_was_told_to_stop_is_skipped_and_has_not_failed(tmp_path):
    chains = long_chains(2, 4)
    bad = stage("add", "bad", number=1, broken=True, long=True)
    engine = FakeEngine(tmp_path)
    lab = Lab(tmp_path, engine, [bad, *(one for each in chains for one in each)], [[bad], *chains])

    def advance(id, job):
        FakeEngine.advance(engine, id, job)
        if job.state == "running" and job.work:  # it is at a stage whenever one looks
            begun = {"id": job.work[0], "label": "the next", "pid": 1}
            engine.say(JobRecord(tmp_path, job.job), {"type": "StageStarted", **begun})

    engine.advance = advance
    outcome = lab.run()
    assert [str(failure) for failure in outcome.failed.values()] == ["ValueError: seven is not a number"]
    assert set(outcome.skipped.values()) == {"the run stopped when 'bad' failed"}
    assert Records(tmp_path).open_jobs() == [] and lab.engine.at_work == []


@pytest.mark.parametrize("fate", ["failed", ""])
def test_a_job_that_was_told_and_then_failed_may_do_so_as_often_as_it_comes_further(tmp_path, fate):
    """Where submitit cannot requeue it, as on machines without `scontrol`, the run submits it again."""
    (chain,) = long_chains(1, 1)
    engine = Endless(tmp_path, "0.0", [f"told and {fate}"] * 6, retries=1)
    engine.saves = True
    lab = Lab(tmp_path, engine, chain, [chain])
    assert lab.run().ok and len(engine.jobs) == 7
    told = {str(event).partition(" ")[2].partition(" ")[2] for event in lab.said(events.JobRetried)}
    assert told == {"was interrupted by slurm; trying again (1 of 2)"}


def test_a_job_that_was_told_and_came_no_further_dies_as_often_as_it_may(tmp_path):
    (chain,) = long_chains(1, 1)
    engine = Endless(tmp_path, "0.0", ["told and failed"] * 99, retries=1)
    assert not Lab(tmp_path, engine, chain, [chain]).run().ok and len(engine.jobs) == 2


def test_a_job_whose_folder_is_called_time_dies_as_often_as_any_other(tmp_path):
    (chain,) = long_chains(1, 1)
    engine = Endless(tmp_path / "time", "0.0", ["failed"] * 99, retries=1)
    engine.saves = True
    engine.cluster = Cluster(replace(ClusterFile("slurm"), retries=1), time=7200.0)
    say = engine.say
    engine.say = lambda record, event: say(record, event) if event["type"] != "begin" else None  # it never began
    outcome = Lab(tmp_path / "time", engine, chain, [chain]).run()
    (failure,) = outcome.failed.values()
    assert len(engine.jobs) == 2 and "`time` in a file" not in str(failure)


@pytest.mark.parametrize("fate", ["", "done", "failed"])
def test_a_job_whose_worker_never_began_may_be_on_a_machine_that_does_not_see_the_cache(tmp_path, fate):
    (chain,) = long_chains(1, 1)
    engine = FakeEngine(tmp_path, retries=0)

    def advance(id, job):
        job.state, job.fate = "ended", fate

    engine.advance = advance
    (failure,) = Lab(tmp_path, engine, chain, [chain]).run().failed.values()
    assert f": its worker never began; does its machine see {tmp_path}? See " in str(failure)
