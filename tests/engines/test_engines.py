"""The same plan on Slurm and on Ray: the same bytes, both machines at work, and whatever is killed, nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.docs.pages import blocks_of
from tests.engines.computing import Computing
from tests.engines.conftest import KILLS
from tests.engines.daemons import TwoNodeRay, TwoNodeSlurm, command_line, parent, processes, wait_until
from tests.system.lab import QUICKSTART, REPOSITORY, SMALL, Lab, finish
from wmlab.cluster.records import JobRecord, Records

pytestmark = pytest.mark.cluster
TWO = Path(__file__).with_name("two.yaml")
SHORT = TWO.with_name("short.yaml")
LONG = TWO.with_name("long.yaml")
ENDLESS = ("--set", "agent.steps=1_000_000_000")  # what is stopped must not be over before, on a fast machine either
PATIENCE = 1800.0
SPECS = {
    "quickstart": (QUICKSTART, ()),
    "fourrooms_exact": (REPOSITORY / "specs" / "theory" / "fourrooms_exact.yaml", ()),
    "mountaincar_position": (REPOSITORY / "specs" / "mountaincar_position.yaml", ("--profile", "smoke")),
}


def run(lab: Lab, *words, code: int = 0):
    return finish(lab.start("run", *words), code, PATIENCE)


def events_of(lab: Lab, kind: str) -> list[dict]:
    """What jobs said, over all of them."""
    lines = [line for path in lab.root.glob("jobs/*/events.jsonl") for line in path.read_text().splitlines()]
    return [event for event in map(json.loads, lines) if event["type"] == kind]


def jobs_of(lab: Lab) -> list[str]:
    return sorted(path.parent.name for path in lab.root.glob("jobs/*/closed.json"))


@pytest.fixture(scope="session")
def local(tmp_path_factory, compiled):
    """What a run on this machine alone gives; each spec is run once."""
    done: dict[str, Lab] = {}

    def of(name: str, path: Path, *words: str):
        if name not in done:
            done[name] = Lab(tmp_path_factory.mktemp(name), compiled)
            run(done[name], path, *words)
        return done[name]

    return of


@pytest.mark.parametrize("name", SPECS)
def test_results_are_the_same_but_for_times(engine, name, lab, local):
    path, words = SPECS[name]
    run(lab, path, *words, "--on", engine)
    profile = words[1] if words else None
    assert lab.results(name, profile) == local(name, path, *words).results(name, profile)
    assert lab.contents() == local(name, path, *words).contents()
    assert Records(lab.root).open_jobs() == []


def test_a_chain_of_ten_small_stages_is_one_job(engine, lab):
    more = ["--set", "evaluate.unseen.goals={a: {reach: [1, 1]}, b: {reach: [1, 4]}}"]
    more += ["--set", "evaluate.explore=off"]
    run(lab, SMALL, "--set", "sweep=null", "--set", "claims=null", "--seeds", "1", *more, "--on", engine)
    assert len(jobs_of(lab)) == 1 and len(events_of(lab, "StageFinished")) == 10


def test_both_machines_are_busy_at_once_with_two_trainings(engine, lab):
    run(lab, TWO, "--on", engine)
    begun = events_of(lab, "begin")
    assert len(begun) == 2 and (engine == "ray" or {event["host"] for event in begun} == {"n1", "n2"})
    trained = [event for event in events_of(lab, "StageFinished") if event["kind"] == "train"]
    starts = {event["id"]: event["at"] for event in events_of(lab, "StageStarted")}
    (one, two) = ((starts[event["id"]], event["at"]) for event in trained)
    assert one[0] < two[1] and two[0] < one[1]  # the machines have a core each


def test_a_run_that_is_left_goes_on_and_is_listed_and_stopped(engine, lab):
    said = lab.wmlab("run", TWO, *ENDLESS, "--on", engine, "--detach")
    assert said.out.startswith("goes on as process ")
    wait_until(lambda: len(events_of(lab, "StageStarted")) > 0, 120, "a stage began")
    listed = json.loads(lab.wmlab("runs", "--format", "json").out)
    shown = lab.wmlab("runs", "show", listed[0]["id"]).out
    assert f"{engine} " in shown and "running" in shown and ".log" in shown or "_log.out" in shown
    assert "cancelled 2 jobs" in lab.wmlab("runs", "stop", "two").out
    wait_until(lambda: Records(lab.root).open_jobs() == [], 60, "no job on record")
    wait_until(lambda: workers(lab) == [], 60, "no worker left")


def test_an_interrupted_run_cancels_its_jobs_and_says_so(engine, lab):
    process = lab.start("run", TWO, *ENDLESS, "--on", engine)
    wait_until(lambda: len(events_of(lab, "StageStarted")) > 0, 120, "a stage began")
    process.send_signal(signal.SIGINT)
    said = finish(process, 130, 120)
    assert "cancelling 2 jobs; what is finished is kept" in said.err
    assert Records(lab.root).open_jobs() == []
    wait_until(lambda: workers(lab) == [], 60, "no worker left")


def test_a_training_that_slurm_interrupts_goes_on_from_its_partial_results(slurm, lab, local):
    """Slurm's warning goes to all processes of a job, as it does before the end of its time; here it is sent by hand.

    A training longer than `time` would take far longer: Slurm waits two minutes before it begins a job again.
    """
    expected = local("long", LONG)
    process = lab.start("run", LONG, "--on", "slurm")
    wait_until(lambda: with_partial_results(lab) != [], 600, "partial results")
    job = with_partial_results(lab)[0]
    subprocess.run(["scancel", "--signal=USR2", job.submission.engine_id], check=True, timeout=60)
    wait_until(lambda: "stopped" in [event["type"] for event in job.events()], 60, "the worker's last words")
    said = finish(process, 0, PATIENCE)
    assert f"job {job.submission.engine_id} was interrupted by slurm; trying again" in said.err + said.out
    begun = [event["attempt"] for event in job.events() if event["type"] == "begin"]
    assert begun == [1, 1]  # by Slurm, and not submitted anew
    assert lab.contents() == expected.contents()
    assert lab.results("long") == expected.results("long")
    assert Records(lab.root).open_jobs() == []


def with_partial_results(lab: Lab) -> list[JobRecord]:
    """The jobs at work of which a stage has left partial results."""
    found = {path.parent.name for path in lab.root.glob("partial/*/*")}
    return [job for job in Records(lab.root).open_jobs() if job.submission and found & set(job.hashes().values())]


WRONG = {
    "an engine that there is not": ("engine: slrum\n", ":1:9: engine: "),
    "a time in no unit": ("engine: slurm\ntime: 2\n", ":2:7: time: 2 has no unit"),
    "no such partition": ("engine: slurm\npartition: gpu\n", ":2:12: partition: there is no partition 'gpu'"),
    "memory on Slurm": ("engine: slurm\nmemory: 64G\n", ":2:9: memory: a job would ask for 64.0 GiB, and the largest"),
    "memory on Ray": ("engine: ray\nmemory: 640G\n", ":2:9: memory: a job would ask for 640.0 GiB, and the largest"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_no_machine_has_is_told_at_its_line_before_anything_is_submitted(name, lab, slurm, ray):
    text, message = WRONG[name]
    (lab.folder / "c.yaml").write_text(text)
    said = run(lab, QUICKSTART, "--on", "c.yaml", code=2)
    assert f"c.yaml{message}" in said.err and not list(lab.root.glob("jobs/*/job.json"))
    assert slurm.jobs() == []


def test_a_cache_that_the_machines_do_not_see_is_noticed_and_said(engine, tmp_path, compiled, request):
    """The folder is hidden from the machines, as one that lies on the disk of this machine alone."""
    hidden = request.getfixturevalue(engine).hidden / "cache"
    lab = Lab(tmp_path, compiled, home=hidden)
    (lab.folder / "c.yaml").write_text(f"engine: {engine}\nretries: 0\n")
    said = run(lab, QUICKSTART, "--on", "c.yaml", code=2 if engine == "ray" else 1)
    assert f"see the cache {hidden}" in said.err or f"does its machine see {hidden}?" in said.err
    assert Records(lab.root).open_jobs() == [] and events_of(lab, "begin") == []


def workers(lab: Lab) -> list[int]:
    """The workers of jobs of a cache that are at work."""
    words = f"wmlab.cluster.worker {lab.root} "
    return [pid for pid in processes() if words in command_line(pid)]


VICTIMS = {"run", "worker", "node"}
TRIES = 8  # draws of moments: one by which the run was over before all three were killed is drawn anew


class Life:
    """A run on an engine in which a worker, a machine and the run itself are killed, each at a moment of its own."""

    def __init__(self, lab: Lab, cluster: TwoNodeSlurm | TwoNodeRay, seed: str, span: float):
        self.lab, self.cluster = lab, cluster
        self.chance = random.Random(seed)
        moments = {victim: self.chance.uniform(0.05, 0.8) * span for victim in sorted(VICTIMS)}
        self.moments = sorted(moments.items(), key=lambda item: item[1])
        self.killed: list[str] = []

    def begin(self, engine: str) -> None:
        """Run, and kill."""
        process, clock = self.lab.start("run", SHORT, "--on", engine), time.monotonic()
        for victim, moment in self.moments:
            time.sleep(max(0.0, clock + moment - time.monotonic()))
            getattr(self, f"kill_{victim}")(process)

    def is_over(self, process: subprocess.Popen[str]) -> bool:
        return process.poll() is not None and not Records(self.lab.root).open_jobs()

    def kill_run(self, process: subprocess.Popen[str]) -> None:
        if process.poll() is None:
            self.killed.append("run")
        process.kill()
        process.communicate()

    def kill_worker(self, process: subprocess.Popen[str]) -> None:
        """A process that does a job, or one that it does a stage in; where there is none yet, the first that comes."""
        while not self.is_over(process) and (process.poll() is None or self.may_begin() or workers(self.lab)):
            found = workers(self.lab)
            own = [pid for pid in processes() if parent(pid) in found]
            if found:
                with suppress(ProcessLookupError):  # it was ending: another one, then
                    os.kill(self.chance.choice(found + own), signal.SIGKILL)
                    self.killed.append("worker")
                    return
            time.sleep(0.1)

    def may_begin(self) -> bool:
        """Whether a job was submitted that no worker has begun: without its run nobody submits another."""
        submitted = [job for job in Records(self.lab.root).open_jobs() if job.submission is not None]
        return any(not job.events() for job in submitted)

    def kill_node(self, process: subprocess.Popen[str]) -> None:
        if not self.is_over(process):
            self.killed.append("node")
        if isinstance(self.cluster, TwoNodeSlurm):
            self.cluster.kill_node(self.chance.choice(["n1", "n2"]))
        else:
            self.cluster.kill_second()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory, compiled):
    """The seconds that a run takes on an engine when nothing is killed, and all programs are compiled."""
    taken: dict[str, float] = {}

    def of(engine: str) -> float:
        for _ in range(0 if engine in taken else 2):
            clock = time.monotonic()
            run(Lab(tmp_path_factory.mktemp("undisturbed"), compiled), SHORT, "--on", engine)
            taken[engine] = time.monotonic() - clock
        return taken[engine]

    return of


@pytest.fixture
def one_life(engine, tmp_path_factory, compiled, local, undisturbed, request, capsys):
    """What was killed of a run, by a seed; nothing of it is lost, nothing done by two at once, and no job is left."""

    def live(seed: str) -> set[str]:
        expected, span, cluster = local("short", SHORT), undisturbed(engine), request.getfixturevalue(engine)
        lab = Lab(tmp_path_factory.mktemp("life"), compiled)
        this, computing = Life(lab, cluster, seed, span), Computing(lab.root)
        computing.start()
        this.begin(engine)
        clock = time.monotonic()
        run(lab, SHORT, "--on", engine)
        computing.stop()
        with capsys.disabled():
            told = ", ".join(f"{victim} at {moment:.1f} s" for victim, moment in this.moments)
            took = f"the next run took {time.monotonic() - clock:.0f} s, one that is left alone {span:.0f} s"
            print(f"\n  seed '{seed}': {told}; killed {', '.join(this.killed)}; {took} ", end="")
        assert lab.contents() == expected.contents()
        assert lab.results("short") == expected.results("short")
        assert computing.spans and computing.twice() == []
        assert Records(lab.root).open_jobs() == []
        wait_until(lambda: workers(lab) == [], 60, "no worker left")
        wait_until(lambda: cluster.jobs() == [], 60, "no job left")
        return set(this.killed)

    return live


@pytest.mark.parametrize("life", range(int(os.environ.get(KILLS, 1))))
def test_whatever_is_killed_the_next_run_ends_with_the_same_bytes(engine, life, one_life):
    """A worker, a machine and the run are killed, all three while the run is at work."""
    assert any(one_life(f"{engine} {life} {draw}") == VICTIMS for draw in range(TRIES))


@pytest.mark.parametrize("number", [0, 1])
def test_the_five_lines_of_the_page_work(number, lab, slurm, ray):
    block = [block for block in blocks_of(REPOSITORY / "docs" / "clusters.md") if block.cluster][number]
    lab.wmlab("new", "maze", "--from", "gridworld")
    lines = [line for line in block.text.splitlines() if line.split()[0] in ("export", "echo", "wmlab")]
    assert len(lines) >= 3
    home = f"export WMLAB_HOME={lab.root}"
    text = "\n".join(home if line.startswith("export") else line for line in lines)
    words = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", text],
        cwd=lab.folder,
        env={**lab.environment, "PATH": words},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "jobs on " in done.stdout
    wait_until(lambda: list(lab.folder.glob("reports/maze/*/results.json")) != [], PATIENCE, "a report")
    wait_until(lambda: Records(lab.root).open_jobs() == [], 60, "no job on record")
