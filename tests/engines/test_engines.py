"""The same plan on Slurm and on Ray: the same bytes, both machines at work, and whatever is killed, nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.docs.pages import blocks_of
from tests.engines.conftest import KILLS
from tests.engines.daemons import alive, command_line, processes, wait_until
from tests.system.lab import QUICKSTART, REPOSITORY, SMALL, Lab, finish
from wmlab.cluster.records import Records

pytestmark = pytest.mark.cluster
TWO = Path(__file__).with_name("two.yaml")
PATIENCE = 900.0
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

    def of(name: str, path: Path, words=()):
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
    assert lab.results(name, profile) == local(name, path, words).results(name, profile)
    assert lab.contents() == local(name, path, words).contents()
    assert Records(lab.root).open_jobs() == []


def test_a_chain_of_ten_small_stages_is_one_job(engine, lab):
    run(lab, SMALL, "--set", "sweep=null", "--seeds", "1", "--on", engine)
    assert len(jobs_of(lab)) == 1 and len(events_of(lab, "StageFinished")) >= 8


def test_both_machines_are_busy_at_once_with_two_trainings(engine, lab):
    run(lab, TWO, "--on", engine)
    begun = {event["engine_id"] or event["pid"]: event["at"] for event in events_of(lab, "begin")}
    ended = [event["at"] for event in events_of(lab, "StageFinished")]
    assert len(begun) == 2 and max(begun.values()) < max(ended)
    trained = [event for event in events_of(lab, "StageFinished") if event["kind"] == "train"]
    starts = {event["id"]: event["at"] for event in events_of(lab, "StageStarted")}
    (one, two) = ((starts[event["id"]], event["at"]) for event in trained)
    assert one[0] < two[1] and two[0] < one[1]  # the machines have a core each


def test_a_run_that_is_left_goes_on_and_is_listed_and_stopped(engine, lab):
    said = lab.wmlab("run", TWO, "--on", engine, "--detach")
    assert said.out.startswith("goes on as process ")
    wait_until(lambda: len(events_of(lab, "StageStarted")) > 0, 120, "a stage began")
    listed = json.loads(lab.wmlab("runs", "--format", "json").out)
    shown = lab.wmlab("runs", "show", listed[0]["id"]).out
    assert f"{engine} " in shown and "running" in shown and ".log" in shown or "_log.out" in shown
    assert "cancelled 2 jobs" in lab.wmlab("runs", "stop", "two").out or jobs_of(lab)
    wait_until(lambda: Records(lab.root).open_jobs() == [], 60, "no job on record")
    wait_until(lambda: workers(lab) == [], 60, "no worker left")


def test_an_interrupted_run_cancels_its_jobs_and_says_so(engine, lab):
    process = lab.start("run", TWO, "--on", engine)
    wait_until(lambda: len(events_of(lab, "StageStarted")) > 0, 120, "a stage began")
    process.send_signal(signal.SIGINT)
    said = finish(process, 130, 120)
    assert "cancelling 2 jobs; what is finished is kept" in said.err
    assert Records(lab.root).open_jobs() == []
    wait_until(lambda: workers(lab) == [], 60, "no worker left")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("engine: slurm\npartition: gpu\n", ":2:12: partition: there is no partition 'gpu'"),
        ("engine: slurm\nmemory: 64G\n", ":2:9: memory: a job would ask for 64.0 GiB, and the largest machine of"),
        ("engine: slurm\naccelerators: 1\n", ""),
        ("engine: ray\nmemory: 640G\n", ":2:9: memory: a job would ask for 640.0 GiB, and the largest machine has"),
    ],
)
def test_what_no_machine_has_is_told_at_its_line_before_anything_is_submitted(text, message, lab, slurm, ray):
    (lab.folder / "c.yaml").write_text(text)
    if not message:
        run(lab, QUICKSTART, "--on", "c.yaml")  # nothing in it asks for an accelerator
        return
    said = run(lab, QUICKSTART, "--on", "c.yaml", code=2)
    assert f"c.yaml{message}" in said.err and not list(lab.root.glob("jobs/*/job.json"))


def workers(lab: Lab) -> list[int]:
    """The workers of jobs of a cache that are at work."""
    words = f"wmlab.cluster.worker {lab.root} "
    return [pid for pid in processes() if words in command_line(pid)]


def kill_one_worker(lab: Lab, moments: random.Random) -> None:
    if found := workers(lab):
        os.kill(moments.choice(found), signal.SIGKILL)


@pytest.mark.parametrize("victim", ["run", "worker", "node"])
def test_whatever_is_killed_the_next_run_ends_with_the_same_bytes(
    engine, victim, lab, local, request, compiled, tmp_path
):
    """Each thing is killed at so many random moments; no stage is computed twice, and no job is left."""
    expected = local("two", TWO).contents()
    cluster = request.getfixturevalue(engine)
    for number in range(int(os.environ[KILLS])):
        moments = random.Random(f"{engine} {victim} {number}")
        life = Lab(tmp_path / f"life{number}", compiled)
        process = life.start("run", TWO, "--on", engine)
        time.sleep(moments.uniform(2.0, 25.0))
        if victim == "run":
            process.kill()
            process.communicate()
        elif victim == "worker":
            kill_one_worker(life, moments)
        elif engine == "slurm":
            cluster.kill_node(moments.choice(["n1", "n2"]))
        else:
            cluster.kill_second()
        if victim != "run":
            finish(process, 0, PATIENCE)
        run(life, TWO, "--on", engine)
        assert life.contents() == expected
        ran = [event["key"] for event in events_of(life, "StageFinished") if event["outcome"] == "ran"]
        assert len(ran) == len(set(ran))
        assert Records(life.root).open_jobs() == []
        wait_until(lambda life=life: not any(map(alive, workers(life))), 60, "no worker left")


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
