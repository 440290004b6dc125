"""Jobs of another engine, or of another Ray, are left alone: no stage is computed by two."""

from __future__ import annotations

import pytest

from tests.cluster.fake import FakeEngine, Killed
from tests.cluster.test_dispatch import Lab, long_chains, no_waiting  # noqa: F401 - a fixture
from wmlab.cluster.engines.engine import JobState
from wmlab.cluster.file import Cluster
from wmlab.cluster.json_files import read_json, write_json
from wmlab.cluster.records import Records
from wmlab.cluster.stop import stop_jobs
from wmlab.errors import UsageError
from wmlab.runtime import events
from wmlab.sections.cluster import ClusterFile


def ray(root, address):
    return FakeEngine(root, cluster=Cluster(ClusterFile("ray", address=address)))


@pytest.fixture(autouse=True)
def no_address(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def killed_at_work(root, engine, chain):
    """A run is killed when its job has begun, and the job works on."""
    looks = iter(range(9))

    def look(ids):
        if next(looks) == 2:
            raise Killed
        return {id: JobState("running") for id in ids}

    engine.look = look
    with pytest.raises(Killed):
        Lab(root, engine, chain, [chain]).run()
    del engine.look
    (record,) = Records(root).open_jobs()
    return record


OTHERS = {
    "another engine": (lambda root: FakeEngine(root), "slurm", "--on slurm"),
    "another address": (lambda root: ray(root, "a:1"), "ray at a:1", "`address: a:1` in a file for --on"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_at_work_elsewhere_is_not_submitted_a_second_time(tmp_path, name):
    make, place, wait = OTHERS[name]
    (chain,) = long_chains(1)
    first, second = make(tmp_path), ray(tmp_path, "b:1")
    record = killed_at_work(tmp_path, first, chain)
    with pytest.raises(UsageError) as said:
        Lab(tmp_path, second, chain, [chain]).run()
    assert str(said.value) == (
        f"this run has 1 job on {place}: wait for them with {wait}, or stop them with `wmlab runs stop run1`"
    )
    assert second.jobs == {} and first.at_work == ["100"] and record.closed is None
    lab = Lab(tmp_path, first, chain, [chain])
    assert lab.run().ok and len(first.jobs) == 1  # where they are, they are taken up


def test_jobs_elsewhere_that_have_done_their_work_are_left_on_record_and_told_of(tmp_path):
    (chain,) = long_chains(1)
    first, second = FakeEngine(tmp_path), ray(tmp_path, "b:1")
    record = killed_at_work(tmp_path, first, chain)
    while first.at_work:
        first.look([])
    lab = Lab(tmp_path, second, chain, [chain])
    assert lab.run().ok and second.jobs == {}
    (notice,) = lab.said(events.Notice)
    assert notice.text == (
        "1 job on slurm stays on record, and is left alone: `wmlab runs stop run1` ends what there is of them"
    )
    assert [one.id for one in Records(tmp_path).open_jobs()] == [record.id]


def test_a_job_that_another_run_submits_elsewhere_meanwhile_fails_its_stages_here(tmp_path):
    (chain,) = long_chains(1)
    first, second = FakeEngine(tmp_path), ray(tmp_path, "b:1")

    def check(jobs):  # after this run has looked what is on record, and before it submits
        killed_at_work(tmp_path, first, chain)
        return []

    second.check = check
    outcome = Lab(tmp_path, second, chain, [chain]).run()
    assert second.jobs == {} and len(outcome.failed) == 1
    (failure,) = outcome.failed.values()
    assert str(failure).startswith("JobElsewhere: this run has 1 job on slurm: wait for them with --on slurm")


def test_a_record_of_an_earlier_version_is_taken_up_and_stopped(tmp_path):
    (chain,) = long_chains(1)
    engine = ray(tmp_path, "a:1")
    record = killed_at_work(tmp_path, engine, chain)
    data = read_json(record.folder / "job.json")
    del data["address"]
    write_json(record.folder / "job.json", data)
    assert record.task() is not None and record.head()["address"] is None
    assert Lab(tmp_path, engine, chain, [chain]).run().ok and len(engine.jobs) == 1


def test_runs_stop_asks_the_ray_that_the_jobs_are_on(tmp_path):
    (chain,) = long_chains(1)
    engine = ray(tmp_path, "a:1")
    killed_at_work(tmp_path, engine, chain)
    asked = []

    def open_with(cluster, root):
        asked.append((cluster.engine, cluster.address))
        return engine

    stop_jobs(tmp_path, ["run1"], print, open_with)
    assert asked == [("ray", "a:1")] and engine.at_work == [] and Records(tmp_path).open_jobs() == []
