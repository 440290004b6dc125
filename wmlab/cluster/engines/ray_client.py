"""Speaks with Ray, for a run: `python -P -m wmlab.cluster.engines.ray_client ADDRESS`, a JSON line each way.

Ray ends a process whose cluster is lost. A run goes on then, and starts another of these when the cluster is back.
Jobs are detached actors: they outlive the run that made them, and are found again by their names.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from wmlab.cluster.engines.ray_job import JobActor, sees

NAMESPACE = "wmlab"
LOOK = 100.0  # seconds that machines get to say what they see: more than a file system may take to show it


def main(arguments: list[str]) -> None:
    """Answer until the run closes the pipe."""
    sink = os.dup(1)
    os.dup2(2, 1)  # what Ray prints is no answer

    def answer(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(sink, data) :]

    try:
        import ray

        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(address=arguments[0] or "auto", namespace=NAMESPACE, log_to_driver=False, logging_level="ERROR")
    except Exception as error:
        answer({"busy": f"{type(error).__name__}: {error}"})
        return
    answer({"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer({"said": REQUESTS[request.pop("ask")](ray, **request)})
        except (ValueError, TypeError, KeyError) as error:
            answer({"refused": f"{type(error).__name__}: {error}"})
        except Exception as error:
            answer({"busy": f"{type(error).__name__}: {error}"})
    os._exit(0)  # without Ray's own farewell, which may wait for a cluster that is gone


def machines(ray: Any, folder: str, token: str) -> list[dict[str, Any]]:
    """What each machine has, and whether it sees a file that was written just now."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    looking = ray.remote(sees)
    asked = [
        looking.options(num_cpus=0, scheduling_strategy=on_node(node["NodeID"]), max_retries=0).remote(folder, token)
        for node in alive
    ]
    answered, _ = ray.wait(asked, num_returns=len(asked), timeout=LOOK)
    return [
        {
            "host": node["NodeManagerHostname"],
            "seen": reference not in answered or bool(ray.get(reference)),  # one that is busy has jobs look themselves
            "resources": node["Resources"],
        }
        for node, reference in zip(alive, asked, strict=True)
    ]


def on_node(node: str) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node_id=node, soft=False)


def submit(ray: Any, name: str, words: list[str], resources: dict[str, Any], restarts: int) -> str:
    """Make the actor of a job; it may have to wait for a place."""
    asks = {key: value for key, value in resources.items() if value}
    actor = ray.remote(JobActor).options(
        name=name, namespace=NAMESPACE, lifetime="detached", max_restarts=restarts, max_concurrency=2, **asks
    )
    actor.remote(name, *words)
    return name


def names(ray: Any) -> list[str]:
    """The jobs that are queued or at work."""
    from ray.util import list_named_actors

    return [one["name"] for one in list_named_actors(all_namespaces=True) if one["namespace"] == NAMESPACE]


def cancel(ray: Any, ids: list[str]) -> list[str]:
    """End jobs; those that are not there are none."""
    ended = []
    for id in ids:
        try:
            ray.kill(ray.get_actor(id, namespace=NAMESPACE), no_restart=True)
            ended.append(id)
        except ValueError:
            continue
    return ended


REQUESTS: dict[str, Callable[..., Any]] = {"machines": machines, "submit": submit, "names": names, "cancel": cancel}

if __name__ == "__main__":
    main(sys.argv[1:])
