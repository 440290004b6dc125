"""Jobs are submitted once, watched, begun again where they died, and found again by the next run."""

from __future__ import annotations

import pytest

from tests.cluster.fake import FakeEngine, Killed
from tests.runtime.toys import FakeKey, contents, plan_of, stage, tree
from wmlab.cluster.dispatch import times
from wmlab.cluster.dispatch.run import execute_on
from wmlab.cluster.engines.engine import JobState
from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import WORKER, Resources
from wmlab.cluster.json_files import write_json
from wmlab.cluster.owners import Owner
from wmlab.cluster.records import Records
from wmlab.core.memory import WORKER_BYTES
from wmlab.errors import SpecErrors
from wmlab.runtime import events
from wmlab.runtime.estimates import CostRange, StageCost
from wmlab.runtime.store import Store
from wmlab.sections.cluster import ClusterFile

SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))]  # what goes wrong, and when


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(times, "TICK", 0.0)
    monkeypatch.setattr(times, "PAUSES", (0.0,))
    monkeypatch.setattr(times, "LATE", 0.5)


class Lab:
    """A store, an engine, and runs of toy stages on it."""

    def __init__(self, root, engine, stages, chains=None):
        self.root, self.engine, self.stages = root, engine, stages
        self.chains = [[one.id] for one in stages] if chains is None else [[one.id for one in each] for each in chains]
        self.heard = []
        self.runs = 0

    def run(self, **options):
        self.runs += 1
        by_id, keys = plan_of(*self.stages)
        keys = {id: FakeKey(key.hash, {"code": {}, "versions": {}, "device": "cpu"}) for id, key in keys.items()}
        return execute_on(
            self.engine,
            by_id,
            keys,
            Store(self.root),
            cluster=self.engine.cluster,
            chains=self.chains,
            run=f"run{self.runs}",
            events=self.heard.append,
            **options,
        )

    def said(self, kind):
        return [event for event in self.heard if isinstance(event, kind)]

    @property
    def results(self):
        return contents(Store(self.root))


def long_chains(count, length=3):
    chains = []
    for number in range(count):
        stages = []
        for place in range(length):
            before = {"a": stages[-1]} if stages else {}
            stages.append(stage("add", f"{number}.{place}", before, number=place, chain=number, long=True))
        chains.append(stages)
    return chains


@pytest.fixture
def expected(tmp_path):
    """What stages come to without any trouble."""

    def of(stages, chains=None):
        lab = Lab(tmp_path / "calm", FakeEngine(tmp_path / "calm"), stages, chains)
        assert lab.run().ok
        return lab.results

    return of


def test_a_run_on_an_engine_computes_everything_and_leaves_nothing_open(tmp_path):
    lab = Lab(tmp_path, FakeEngine(tmp_path), tree())
    outcome = lab.run()
    assert outcome.ok and len(outcome.ran) == len(lab.stages) == len(lab.engine.computed)
    assert Records(tmp_path).open_jobs() == [] and lab.engine.at_work == []
    assert len(lab.engine.jobs) == 1  # small stages are one job
    assert lab.run().cached and len(lab.engine.jobs) == 1


def test_each_chain_is_a_job_and_no_more_are_at_once_than_the_file_says(tmp_path):
    chains = long_chains(7)
    engine = FakeEngine(tmp_path, at_once=3)
    lab = Lab(tmp_path, engine, [one for each in chains for one in each], chains)
    assert lab.run().ok and len(engine.jobs) == 7 and engine.most == 3


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_lost_repeated_or_late_the_results_are_the_same(tmp_path, seed, expected):
    chains = long_chains(4)
    stages = [*tree(), *(one for each in chains for one in each)]
    runs = [*([one] for one in tree()), *chains]
    calm = expected(stages, runs)
    lab = Lab(tmp_path / "wild", FakeEngine(tmp_path / "wild", seed, chaos=0.2, retries=30), stages, runs)
    outcome = lab.run()
    assert outcome.ok and lab.results == calm
    assert len(lab.engine.computed) == len(set(lab.engine.computed)) == len(stages)
    assert sorted(outcome.ran) == sorted(one.id for one in stages)
    finished = [event.id for event in lab.said(events.StageFinished)]
    assert len(finished) == len(set(finished)) == len(stages)  # each is told once
    assert Records(tmp_path / "wild").open_jobs() == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_that_was_killed_is_taken_up_again_and_no_job_is_submitted_twice(tmp_path, seed, expected):
    chains = long_chains(5)
    stages = [one for each in chains for one in each]
    calm = expected(stages, chains)
    engine = FakeEngine(tmp_path / "wild", seed, at_once=3)
    lab = Lab(tmp_path / "wild", engine, stages, chains)
    engine.killing = 0.15
    kills = 0
    while True:
        try:
            outcome = lab.run()
            break
        except Killed:
            kills += 1
            engine.killing = 0.15 if kills < 6 else 0.0
    assert outcome.ok and lab.results == calm and engine.at_work == []
    assert len(engine.computed) == len(set(engine.computed)) == len(stages)
    assert len(engine.jobs) == 5  # also one whose submission nobody heard of again
    assert engine.most <= 3 and Records(tmp_path / "wild").open_jobs() == []


def test_a_job_that_dies_goes_on_from_what_is_stored_and_says_why(tmp_path):
    (chain,) = long_chains(1, 4)
    engine = FakeEngine(tmp_path)
    engine.fate_of = {"0.2": "node"}
    lab = Lab(tmp_path, engine, chain, [chain])
    assert lab.run().ok and len(engine.jobs) == 2 and len(engine.computed) == 4
    (again,) = lab.said(events.JobRetried)
    assert str(again) == "job 100 was lost with its machine; trying again (2 of 3)"


def test_a_job_that_dies_too_often_fails_with_its_reason_and_its_log(tmp_path):
    (chain,) = long_chains(1, 3)
    engine = FakeEngine(tmp_path, retries=1)
    lab = Lab(tmp_path, engine, chain, [chain])
    engine.fate_of = {"0.1": "preempted"}
    engine.advance, advance = (
        lambda id, job: (engine.fate_of.setdefault("0.1", "preempted"), advance(id, job)),
        engine.advance,
    )
    outcome = lab.run()
    (failure,) = outcome.failed.values()
    assert str(failure) == f"JobDied: 2 times, the last: job 101 was preempted; see {tmp_path}/jobs/run1-1/101.log"
    assert len(outcome.ran) == 1 and list(outcome.skipped.values()) == ["needs '0.1', which failed"]


def test_a_run_tells_how_far_the_stages_of_its_jobs_are(tmp_path):
    (chain,) = long_chains(1, 2)
    engine = FakeEngine(tmp_path)
    lab = Lab(tmp_path, engine, chain, [chain])
    about = {"id": chain[0].id, "label": chain[0].label}

    def look(ids):
        if lab.said(events.StageProgress):
            return FakeEngine.look(engine, ids)
        (record,) = Records(tmp_path).open_jobs()
        engine.say(record, {"type": "StageStarted", **about, "pid": 1})
        write_json(record.folder / "progress.json", {"running": [{**about, "done": 3, "total": 4, "note": "slowly"}]})
        return {id: JobState("running") for id in ids}

    engine.look = look
    assert lab.run().ok
    assert set(map(str, lab.said(events.StageProgress))) == {
        str(events.StageProgress(**about, done=3, total=4, note="slowly"))
    }


def test_too_little_memory_is_said_with_what_was_asked_for_and_the_line_to_change(tmp_path):
    (chain,) = long_chains(1, 2)
    engine = FakeEngine(tmp_path, cluster=Cluster(ClusterFile("slurm"), memory=2 << 30, name="slurm"))
    engine.fate_of = {"0.1": "memory"}
    outcome = Lab(tmp_path, engine, chain, [chain]).run()
    (failure,) = outcome.failed.values()
    assert failure.message == (
        "job 100 took more memory than it had asked for; it asked for 2.0 GiB; change `memory` in a file for --on"
    )


def test_a_job_that_asked_for_too_little_by_what_was_expected_gets_all_that_the_file_allows(tmp_path):
    (chain,) = long_chains(1, 2)
    engine = FakeEngine(tmp_path, cluster=Cluster(ClusterFile("slurm"), memory=64 << 30))
    engine.fate_of = {"0.1": "memory"}
    cost = StageCost(CostRange(90, 90, 90), CostRange(1e9, 1e9, 1e9))
    lab = Lab(tmp_path, engine, chain, [chain])
    assert lab.run(costs={one.id: cost for one in chain}).ok
    asked = [job.resources.memory for job in engine.jobs.values()]
    assert asked[0] < 4 << 30 and asked[1] == 64 << 30
    assert [str(event) for event in lab.said(events.JobRetried)] == [
        "job 100 took more memory than the 2.4 GiB that it asked for, and asks for 64.0 GiB now; trying again (1 of 3)"
    ]


def test_a_job_that_asked_for_too_little_by_sizes_gets_twice_as_much_where_the_file_says_nothing(tmp_path):
    (chain,) = long_chains(1, 2)
    engine = FakeEngine(tmp_path, retries=1)
    engine.fate_of = {"0.1": "memory"}
    assert Lab(tmp_path, engine, chain, [chain]).run(beforehand=lambda id: 2 << 30).ok
    asked = int(1.5 * ((2 << 30) + WORKER_BYTES)) + WORKER
    assert [job.resources.memory for job in engine.jobs.values()] == [asked, 2 * asked]


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("OutOfMemory", "it held 172.4 MiB, where --memory allows 172.0 MiB, and was ended"),
        ("MemoryError", ""),
        ("XlaRuntimeError", "RESOURCE_EXHAUSTED: out of memory while trying to allocate 8 bytes"),
        ("WorkerDied", "2 times its worker was killed by signal 9 (SIGKILL), perhaps for lack of memory"),
    ],
)
def test_a_stage_that_lacked_memory_by_any_name_is_begun_again_by_a_worker_that_is_told_of_more(
    tmp_path, type, message
):
    (chain,) = long_chains(1, 2)
    engine = FakeEngine(tmp_path, cluster=Cluster(ClusterFile("slurm"), memory=64 << 30))
    engine.failure_of = {"0.1": {"type": type, "message": message, "traceback": ""}}
    assert Lab(tmp_path, engine, chain, [chain]).run(beforehand=lambda id: 1 << 30).ok
    assert [job.resources.memory for job in engine.jobs.values()][1] == 64 << 30
    assert engine.told[1].memory == 64 << 30  # in the file that the worker reads


def test_what_takes_its_whole_time_and_comes_further_may_do_so_as_often_as_it_takes(tmp_path):
    (chain,) = long_chains(1, 6)
    engine = FakeEngine(tmp_path, retries=0)
    engine.fate_of = {one.label: "time" for one in chain[1:]}  # each job does one stage, and is out of time
    assert Lab(tmp_path, engine, chain, [chain]).run().ok and len(engine.jobs) == 6


def test_one_bad_point_stops_the_others_unless_one_is_to_keep_going(tmp_path):
    chains = long_chains(3)
    bad = stage("add", "bad", {"a": chains[0][0]}, number=1, broken=True, long=True)
    chains[0] = [chains[0][0], bad, stage("add", "after", {"a": bad}, number=2, long=True)]
    stages = [one for each in chains for one in each]
    lab = Lab(tmp_path / "one", FakeEngine(tmp_path / "one", at_once=1), stages, chains)
    outcome = lab.run()
    assert [str(failure) for failure in outcome.failed.values()] == ["ValueError: seven is not a number"]
    assert len(outcome.ran) + len(outcome.skipped) == 8 and lab.engine.at_work == []
    assert Records(tmp_path / "one").open_jobs() == []
    lab = Lab(tmp_path / "two", FakeEngine(tmp_path / "two"), stages, chains)
    outcome = lab.run(keep_going=True)
    assert len(outcome.ran) == 7 and list(outcome.skipped.values()) == ["needs 'bad', which failed"]


def test_a_run_that_is_interrupted_cancels_its_jobs_and_says_so(tmp_path, monkeypatch):
    chains = long_chains(3)
    engine = FakeEngine(tmp_path)
    lab = Lab(tmp_path, engine, [one for each in chains for one in each], chains)
    looks = iter(range(100))

    def interrupt(ids):
        if next(looks) == 3:
            raise KeyboardInterrupt
        return FakeEngine.look(engine, ids)

    engine.look = interrupt
    with pytest.raises(KeyboardInterrupt):
        lab.run()
    assert engine.at_work == [] and Records(tmp_path).open_jobs() == []
    (notice,) = lab.said(events.Notice)
    assert notice.text == "cancelling 3 jobs; what is finished is kept; --detach leaves jobs to themselves"
    del engine.look
    assert lab.run().ok


def test_jobs_of_another_run_that_is_alive_are_waited_for_and_not_cancelled(tmp_path):
    chains = long_chains(2)
    engine = FakeEngine(tmp_path)
    lab = Lab(tmp_path, engine, [one for each in chains for one in each], chains)
    engine.killing = 1.0
    with pytest.raises(Killed):
        lab.run()
    engine.killing = 0.0
    for record in Records(tmp_path).open_jobs():
        record.own(Owner("other", 1, "elsewhere"))
        attempt = record.attempt
        engine.submit(record.name(attempt), record.id, record.task().token, attempt, Resources())
    outcome = lab.run()
    assert outcome.ok and [event.text for event in lab.said(events.Notice)] == ["1 job of another run is waited for"]
    assert [record.owner.run for record in Records(tmp_path).open_jobs()] == ["other"]


def test_what_the_engine_refuses_fails_with_the_line_of_the_file(tmp_path):
    engine = FakeEngine(tmp_path)
    engine.refusing = "invalid partition specified: gpu"
    outcome = Lab(tmp_path, engine, tree(2, 1)).run()
    failures = {str(failure) for failure in outcome.failed.values()}
    assert failures == {
        "JobRefused: slurm refused the job: invalid partition specified: gpu (`partition` in a file for --on)"
    }


def test_mistakes_that_the_engine_knows_of_are_told_before_anything_is_submitted(tmp_path):
    engine = FakeEngine(tmp_path)
    engine.check = lambda jobs: [engine.cluster.error("partition", "there is no partition 'gpu'")]
    with pytest.raises(SpecErrors, match="there is no partition 'gpu'"):
        Lab(tmp_path, engine, tree()).run()
    assert engine.jobs == {} and Records(tmp_path).open_jobs() == []


def test_a_result_that_was_stored_where_nobody_here_sees_it_is_said(tmp_path):
    engine = FakeEngine(tmp_path, retries=0)

    def elsewhere(store, task, stage_id):
        return {"outcome": "ran", "seconds": 0.1}

    def end(record, job, failed=None):
        from wmlab.cluster.json_files import write_json

        ran = list(record.task().stages)
        write_json(record.folder / f"end-{job.attempt}.json", {"state": "ended", "host": "n7", "ran": ran})
        job.state = "ended"

    engine.compute, engine.end = elsewhere, end
    outcome = Lab(tmp_path, engine, [stage("add", "one", number=1)]).run()
    (failure,) = outcome.failed.values()
    assert failure.type == "StoreNotShared" and "the job stored 'one' on n7" in failure.message
    assert f"the cache {tmp_path} has to lie on a file system that all machines see" in failure.message
