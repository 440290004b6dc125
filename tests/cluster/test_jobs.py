"""Jobs of a plan: chains and not stages, small ones together, the longest way first."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runtime.toys import plan_of, stage
from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import WORKER, Resources, plan_jobs
from wmlab.core.memory import WORKER_BYTES
from wmlab.graph.stage import Stage
from wmlab.runtime.estimates import CostRange, StageCost
from wmlab.sections.cluster import ClusterFile

PLAIN = Cluster(ClusterFile("slurm"))


def jobs_of(stages, chains=(), cluster=PLAIN, left=None, costs=None):
    """The labels of the stages of each job, and the jobs."""
    by_id, _ = plan_of(*stages)
    ids = by_id if left is None else [one.id for one in left]
    jobs = plan_jobs(by_id, ids, [[one.id for one in chain] for chain in chains], cluster, costs)
    return [[by_id[id].label for id in job.stages] for job in jobs], jobs


def chain(name, length, *, first=(), **options):
    """Stages one after the other."""
    stages = []
    for place in range(length):
        before = {"a": stages[-1]} if stages else dict(first)
        stages.append(stage("add", f"{name}{place}", before, number=place, name=name, **options))
    return stages


def test_a_chain_of_ten_small_stages_is_one_job():
    stages = chain("s", 10)
    labels, (job,) = jobs_of(stages, [stages])
    assert labels == [[one.label for one in stages]] and job.after == () and job.seconds == 10.0


def test_two_trainings_are_two_jobs_each_with_what_follows_it():
    one, two = chain("a", 3, long=True), chain("b", 3, long=True)
    labels, jobs = jobs_of([*one, *two], [one, two])
    assert labels == [["a0", "a1", "a2"], ["b0", "b1", "b2"]]
    assert [job.after for job in jobs] == [(), ()]


def test_thousands_of_small_stages_are_few_jobs_and_no_more_than_may_run_at_once():
    chains = [chain(f"{number}.", 5) for number in range(1000)]
    _, jobs = jobs_of([one for each in chains for one in each], chains)
    assert 50 <= len(jobs) <= 60
    assert max(job.seconds for job in jobs) <= 2 * min(job.seconds for job in jobs)
    assert len({id for job in jobs for id in job.stages}) == sum(len(job.stages) for job in jobs) == 5000


def test_what_is_small_and_shared_goes_along_with_all_that_need_it():
    oracle = stage("add", "oracle", number=7)
    chains = [chain(name, 2, long=True) for name in "ab"]
    plans = [stage("add", f"plan {each[0].label}", {"m": each[1], "o": oracle}, number=9) for each in chains]
    runs = [[*each, oracle, plan] for each, plan in zip(chains, plans, strict=True)]
    labels, jobs = jobs_of([*chains[0], *chains[1], oracle, *plans], runs)
    assert labels == [["a0", "a1", "plan a0"], ["b0", "b1", "plan b0"]]
    assert [job.carried for job in jobs] == [(oracle.id,), (oracle.id,)]


def test_what_goes_along_with_a_job_counts_in_its_memory():
    oracle = stage("add", "oracle", number=7)
    chains = [[*chain(name, 2, first={"o": oracle}, long=True), oracle] for name in "ab"]
    by_id, _ = plan_of(oracle, *(one for each in chains for one in each[:2]))
    ids = [[one.id for one in each] for each in chains]
    known = {id: 50 << 30 if id == oracle.id else 0 for id in by_id}
    jobs = plan_jobs(by_id, by_id, ids, PLAIN, None, known.get)
    assert [job.carried for job in jobs] == [(oracle.id,), (oracle.id,)]
    assert {job.resources.memory for job in jobs} == {int(1.5 * ((50 << 30) + WORKER_BYTES)) + WORKER}


def test_what_is_long_and_shared_is_a_job_and_nobody_waits_for_it_who_can_begin_without():
    oracle = stage("add", "oracle", number=7, long=True)
    chains = [chain(name, 2, long=True) for name in "ab"]
    plans = [stage("add", f"plan {each[0].label}", {"m": each[1], "o": oracle}, number=9) for each in chains]
    runs = [[*each, oracle, plan] for each, plan in zip(chains, plans, strict=True)]
    labels, jobs = jobs_of([*chains[0], *chains[1], oracle, *plans], runs)
    assert labels == [["a0", "a1", "plan a0"], ["b0", "b1", "plan b0"], ["oracle"]]
    assert [job.after for job in jobs] == [(), (), ()] and jobs[0].carried == (oracle.id,)


def test_seeds_that_train_together_wait_for_their_training_and_then_go_apart():
    together = stage("add", "together", number=1, long=True)
    small = stage("add", "oracle", number=2)
    chains = [chain(f"{seed} ", 2, first={"t": together, "o": small}, long=True) for seed in range(3)]
    labels, jobs = jobs_of([together, small, *(one for each in chains for one in each)], chains)
    assert labels == [["together"], ["0 0", "0 1"], ["1 0", "1 1"], ["2 0", "2 1"]]
    assert [job.after for job in jobs] == [(), (0,), (0,), (0,)]
    assert [job.carried for job in jobs] == [(), (small.id,), (small.id,), (small.id,)]
    assert jobs[0].ahead == jobs[0].seconds + jobs[1].seconds


def test_the_longest_way_is_first():
    short, middle, long = chain("short", 1, long=True), chain("middle", 2, long=True), chain("long", 4, long=True)
    labels, _ = jobs_of([*short, *middle, *long], [short, middle, long])
    assert [each[0] for each in labels] == ["long0", "middle0", "short0"]


def test_what_is_stored_is_no_part_of_a_job():
    stages = chain("s", 4)
    assert jobs_of(stages, [stages], left=stages[2:])[0] == [["s2", "s3"]]
    assert jobs_of(stages, [stages], left=[])[1] == []


def test_a_stage_that_no_run_needs_is_done_all_the_same():
    stages, alone = chain("s", 2), chain("other", 2)
    labels, _ = jobs_of([*stages, *alone], [stages])
    assert labels == [["s0", "s1", "other0", "other1"]]


def accelerated(one: Stage) -> Stage:
    return Stage(one.kind, one.params, one.inputs, one.label, package=one.package, long=True, accelerated=True)


def test_only_what_trains_or_extracts_with_networks_asks_for_an_accelerator():
    train = accelerated(stage("add", "train", number=1))
    oracle = stage("add", "oracle", number=3, long=True)
    measure = stage("add", "measure", {"a": train}, number=2, long=True)
    track = accelerated(stage("add", "track", {"a": train, "o": oracle}, number=4))
    stages = [train, oracle, measure, track]
    cluster = Cluster(ClusterFile("slurm", accelerators=1.0))
    labels, jobs = jobs_of(stages, [stages], cluster)
    asks = {tuple(each): job.resources.accelerators for each, job in zip(labels, jobs, strict=True)}
    assert asks == {("train",): 1.0, ("oracle",): 0.0, ("measure",): 0.0, ("track",): 1.0}
    assert jobs_of(stages, [stages])[0] == [["train", "oracle", "measure", "track"]]


def test_resources_follow_from_the_stages_and_the_file_only_caps_them():
    stages = chain("s", 3)
    costs = {one.id: StageCost(CostRange(1, 2, 3), CostRange(1e9, 1e9, 2e9)) for one in stages}
    cluster = Cluster(ClusterFile("slurm", cores=4), time=3600.0, memory=64 << 30)
    assert jobs_of(stages, [stages], cluster)[1][0].resources == Resources(1, 64 << 30, 0.0, 3600.0)
    known = jobs_of(stages, [stages], cluster, costs=costs)[1][0].resources
    assert known == Resources(1, int(3e9) + WORKER, 0.0, 3600.0)
    tight = Cluster(ClusterFile("slurm"), memory=2 << 30)
    assert jobs_of(stages, [stages], tight, costs=costs)[1][0].resources.memory == 2 << 30
    many = [chain(f"{number}.", 2) for number in range(9)]
    assert jobs_of([one for each in many for one in each], many, cluster)[1][0].resources.cores == 4


@st.composite
def plans(draw):
    """Any plan: stages that build on earlier ones, and runs that want some of them."""
    stages: list[Stage] = []
    for number in range(draw(st.integers(1, 14))):
        before = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        one = stage("add", f"s{number}", {f"i{k}": stages[k] for k in before}, number=number, long=draw(st.booleans()))
        stages.append(accelerated(one) if draw(st.booleans()) else one)
    runs = draw(st.lists(st.sets(st.sampled_from(range(len(stages)))), max_size=5))
    stored = draw(st.sets(st.sampled_from(range(len(stages)))))
    return stages, [[stages[k] for k in run] for run in runs], stored


@settings(deadline=None, max_examples=60)
@given(plans(), st.sampled_from([0.0, 1.0]))
def test_whatever_the_plan_each_stage_has_a_job_and_jobs_can_be_done_one_after_the_other(plan, accelerators):
    stages, runs, stored = plan
    left = [one for number, one in enumerate(stages) if number not in stored]
    by_id = {one.id: one for one in stages}
    _, jobs = jobs_of(stages, runs, Cluster(ClusterFile("ray", accelerators=accelerators)), left)
    held = [id for job in jobs for id in (*job.stages, *job.carried)]
    assert set(held) == {one.id for one in left}
    waits = nx.DiGraph([(other, job.number) for job in jobs for other in job.after])
    assert nx.is_directed_acyclic_graph(waits)
    done = {one.id for number, one in enumerate(stages) if number in stored}
    open_jobs = list(jobs)
    while open_jobs:  # a job begins when those that it waits for are over, and finds all that it needs
        ready = [job for job in open_jobs if not any(other in [one.number for one in open_jobs] for other in job.after)]
        assert ready
        job = ready[0]
        for id in [id for id in by_id if id in (*job.stages, *job.carried)]:
            assert all(source in done for source in by_id[id].inputs.values())
            done.add(id)
        open_jobs.remove(job)
    assert {one.id for one in left} <= done


def test_planning_is_quick_where_very_many_stages_share_something():
    shared = stage("add", "shared", number=-1)
    chains = [chain(f"{number}.", 4, first={"s": shared}) for number in range(1000)]
    _, jobs = jobs_of([shared, *(one for each in chains for one in each)], [[shared, *each] for each in chains])
    assert sum(len(job.stages) for job in jobs) == 4000 and all(job.carried == (shared.id,) for job in jobs)


@pytest.mark.parametrize("cores", [2, 5])
def test_a_stage_of_many_cores_gets_them_though_the_file_has_fewer(cores):
    wide = stage("add", "wide", number=1, cores=cores)
    assert jobs_of([wide], [[wide]])[1][0].resources.cores == cores
