"""How Ray is spoken with: what a machine is asked, and a client that dies and comes back. No Ray is needed."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from wmlab.cluster.engines import ray_client, ray_engine
from wmlab.cluster.engines.engine import EngineBusy, EngineRefusal, JobState
from wmlab.cluster.engines.ray_engine import RayEngine
from wmlab.cluster.file import Cluster
from wmlab.sections.cluster import ClusterFile


class SlowRay:
    """Machines that say what they see, or say nothing for as long as they are waited for."""

    def __init__(self, **says):
        self.says, self.waited = says, 0.0

    def nodes(self):
        return [{"Alive": True, "NodeID": host, "NodeManagerHostname": host, "Resources": {}} for host in self.says]

    def remote(self, function):
        def options(scheduling_strategy, **more):
            return SimpleNamespace(remote=lambda *words: scheduling_strategy)

        return SimpleNamespace(options=options)

    def wait(self, references, num_returns, timeout):
        assert num_returns == len(references)
        slow = [one for one in references if self.says[one] is None]
        self.waited += timeout if slow else 0.0
        return [one for one in references if one not in slow], slow

    def get(self, reference, timeout=None):
        if self.says[reference] is None:
            self.waited += timeout
            raise TimeoutError
        return self.says[reference]

    exceptions = SimpleNamespace(GetTimeoutError=TimeoutError)


def test_slow_machines_are_waited_for_together_and_a_blind_one_is_found_among_them(monkeypatch):
    monkeypatch.setattr(ray_client, "on_node", lambda node: node)
    ray = SlowRay(a=None, b=True, c=None, d=False, e=None)
    rows = ray_client.machines(ray, "folder", "token")
    assert [(row["host"], row["seen"]) for row in rows] == [
        *(("a", True), ("b", True), ("c", True), ("d", False), ("e", True))
    ]
    assert 0 < ray.waited < ray_engine.ANSWER  # so that the run hears of it


CLIENT = """
import json, os, sys
from pathlib import Path
lives = Path(sys.argv[1])
life = int(lives.read_text()) if lives.exists() else 0
lives.write_text(str(life + 1))
def answer(**message):
    print(json.dumps(message), flush=True)
if life == 1:
    answer(busy="ConnectionError: no head\\nat all")  # while the head is away
    sys.exit()
answer(ready=True)
for line in sys.stdin:
    ask = json.loads(line)["ask"]
    if life == 0 and ask == "names":
        os._exit(1)  # as Ray ends a process whose cluster is lost
    answer(**{"refused": "ValueError: no"} if ask == "cancel" else {"said": ["wmlab-run1-1-1"]})
"""


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """A Ray whose head is lost at the first question about jobs, away at the second, and back at the third."""
    real = subprocess.Popen

    def start(words, **how):
        return real([sys.executable, "-c", CLIENT, str(tmp_path / "lives")], **how)

    monkeypatch.setattr(ray_engine.subprocess, "Popen", start)
    engine = RayEngine(Cluster(ClusterFile("ray", address="head:1")), tmp_path)
    yield engine
    engine.close()


def test_a_head_that_is_lost_and_comes_back_is_spoken_with_again(engine):
    with pytest.raises(EngineBusy, match="^Ray was lost$"):
        engine.look(["wmlab-run1-1-1"])
    with pytest.raises(EngineBusy, match="^Ray is not reached at head:1: ConnectionError: no head$"):
        engine.look(["wmlab-run1-1-1"])
    assert engine.look(["wmlab-run1-1-1", "another"]) == {"wmlab-run1-1-1": JobState("running")}
    with pytest.raises(EngineRefusal, match="ValueError: no"):
        engine.cancel(["wmlab-run1-1-1"])
    assert engine.find(["another"]) == {}


def test_a_client_that_says_nothing_is_given_up_and_not_waited_for_without_end(engine, monkeypatch):
    monkeypatch.setitem(globals(), "CLIENT", "import time; time.sleep(60)")
    monkeypatch.setattr(ray_engine, "START", 0.1)
    with pytest.raises(EngineBusy, match="Ray does not answer"):
        engine.look([])
