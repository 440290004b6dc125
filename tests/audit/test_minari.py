"""Datasets that the real Minari saves: what is read from them is what was logged, and nothing of them is run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.stages import by_hand, logs
from wmlab.core.continuous.log import held_out_rows
from wmlab.errors import StageError
from wmlab.registry import build
from wmlab.sections.data import DataSection
from wmlab.stages.minari_files import read_minari

pytestmark = [pytest.mark.audit, pytest.mark.filterwarnings("default")]
EPISODES, STEPS = 12, 30
SECTION = """
  file: main_data.hdf5
  format: minari
  state: observations/observation
  goal: {array: observations/desired_goal, columns: [x, y]}
  reward: rewards
  held_out: 0.25
"""


def episodes() -> list[dict[str, np.ndarray]]:
    """Flights of the drone by actions at random."""
    rng, flights = np.random.default_rng(0), []
    for _ in range(EPISODES):
        path, paid = [rng.uniform(-1, 1, 2)], []
        action = rng.integers(0, 5, STEPS)
        for each in action:
            step = logs.moved(path[-1][None], np.array([each]))
            path.append(step["next_observations"][0])
            paid.append(step["rewards"][0])
        flights.append({"path": np.array(path), "action": action, "paid": np.array(paid)})
    return flights


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A folder with a dataset of goal-conditioned episodes, and the flights in it."""
    root = tmp_path_factory.mktemp("minari")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINARI_DATASETS_PATH", str(root))
        import minari
        from gymnasium.spaces import Box, Dict, Discrete
        from minari.data_collector import EpisodeBuffer

        flights, plane = episodes(), Box(-1, 1, (2,), np.float64)
        buffers = [
            EpisodeBuffer(
                id=number,
                observations={
                    "achieved_goal": flight["path"],
                    "desired_goal": np.tile([0.1, 0.2], (STEPS + 1, 1)),
                    "observation": flight["path"],
                },
                actions=flight["action"],
                rewards=flight["paid"].tolist(),
                terminations=[False] * STEPS,
                truncations=[False] * (STEPS - 1) + [True],
            )
            for number, flight in enumerate(flights)
        ]
        space = Dict(achieved_goal=plane, desired_goal=plane, observation=plane)
        minari.create_dataset_from_buffers(
            "drone/wild-v0", buffers, observation_space=space, action_space=Discrete(5), data_format="hdf5"
        )
    (file,) = Path(root).rglob("main_data.hdf5")
    return file.parent, flights


def test_errors_against_a_minari_log_are_those_computed_by_hand(dataset, monkeypatch):
    folder, flights = dataset
    monkeypatch.chdir(folder)
    done = logs.answers(logs.lay_out(folder, SECTION))
    measured = done.results["measure"].data["metrics"]
    kept = np.unique(
        np.repeat(np.arange(EPISODES), STEPS)[held_out_rows(np.repeat(np.arange(EPISODES), STEPS), 0.25, 0)]
    )
    assert len(kept) == 3  # whole episodes
    rows = [flights[number] for number in kept]
    state = np.concatenate([row["path"][:-1] for row in rows]).astype(np.float32).astype(float)
    after = np.concatenate([row["path"][1:] for row in rows]).astype(np.float32).astype(float)
    action = np.concatenate([row["action"] for row in rows])
    stored = done.results["extract"].arrays
    weights = {name.removeprefix("weights/"): stored[name].astype(float) for name in stored if "weights/" in name}
    for name, value in by_hand.errors(weights, state, action, after).items():
        assert measured[name]["value"] == pytest.approx(value, rel=1e-5, abs=1e-6), name
    goals = np.array([[point["x"], point["y"]] for point in done.asked.goals.at])
    expected = by_hand.td_error(str(folder / "drone_q.safetensors"), goals, state, action, after)
    assert measured["agent.td_error"]["value"] == pytest.approx(expected, abs=1e-6)
    assert measured["data.reward_error"]["value"] < 1e-6
    assert len(done.stages["measure"].params["files"]) == 2  # the episodes, and what describes them


def section(folder: Path, **changed: object) -> DataSection:
    return build(DataSection, {"file": str(folder / "main_data.hdf5"), "format": "minari", **changed})


def test_rows_are_the_steps_of_all_episodes(dataset):
    folder, flights = dataset
    arrays, after, unit = read_minari(section(folder, state="observations/observation"), {})
    assert unit.tolist() == np.repeat(np.arange(EPISODES), STEPS).tolist()
    assert np.array_equal(after, np.concatenate([flight["path"][1:] for flight in flights]))
    assert np.array_equal(arrays["observations/achieved_goal"], np.concatenate([f["path"][:-1] for f in flights]))
    with pytest.raises(StageError, match="episode 0 has no 'observations'; it has observations/achieved_goal"):
        read_minari(section(folder), {})


def copied(dataset, tmp_path) -> tuple[Path, dict]:
    folder, _ = dataset
    for name in ("main_data.hdf5", "metadata.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    return tmp_path, json.loads((folder / "metadata.json").read_text())


def test_a_dataset_that_would_have_its_environment_made_is_refused(dataset, tmp_path):
    folder, described = copied(dataset, tmp_path)
    mark = tmp_path / "ran"
    hostile = {"id": "Hostile-v0", "entry_point": "os:system", "kwargs": {"command": f"touch {mark}"}}
    del described["observation_space"]
    (folder / "metadata.json").write_text(json.dumps({**described, "env_spec": json.dumps(hostile)}))
    with pytest.raises(StageError, match="making its environment to learn them would run code"):
        read_minari(section(folder, state="observations/observation"), {})
    assert not mark.exists()


def test_links_out_of_the_file_are_refused(dataset, tmp_path):
    import h5py

    folder, _ = copied(dataset, tmp_path)
    with h5py.File(folder / "main_data.hdf5", "a") as file:
        file["episode_0/observations/elsewhere"] = h5py.ExternalLink("/etc/passwd", "/")
    with pytest.raises(StageError, match="is a link; save a dataset that holds its own arrays"):
        read_minari(section(folder, state="observations/observation"), {})


@pytest.mark.parametrize("content", [b"", b"not HDF5", b"\x89HDF\r\n\x1a\n" + bytes(100)])
def test_what_is_no_dataset_is_refused_in_words(dataset, tmp_path, content):
    folder, _ = copied(dataset, tmp_path)
    (folder / "main_data.hdf5").write_bytes(content)
    with pytest.raises(StageError, match="it is no whole HDF5 file"):
        read_minari(section(folder), {})
