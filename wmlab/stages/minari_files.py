"""Episodes of a Minari dataset as arrays, read with its own library, from local files alone.

A dataset's metadata may name an environment, and the library makes it where the dataset does not say its spaces: code
of the file's choosing. Such files are refused before the library sees them, as are links that lead out of the file.

Shapes: T steps of an episode, M transitions, n numbers each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab.errors import StageError
from wmlab.limits import ARRAY_FILE_BYTES, DESCRIPTION_BYTES, shorten
from wmlab.sections.data import DataSection, metadata_beside
from wmlab.stages.array_files import opened, require_known, require_memory

EXTRA = "reading Minari datasets needs the library itself; install it with pip install 'wmlab[minari]'"
SPACES = ("observation_space", "action_space")
KEPT = ("observations", "actions", "rewards")


def read_minari(data: DataSection, files: Mapping[str, str]) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Arrays by name with a row for each transition, next states [M, n], and the number of each episode int [M]."""
    described = require_plain(data.file, files)
    try:
        import h5py
        from minari.dataset.minari_storage import MinariStorage
    except ImportError:
        raise StageError(EXTRA) from None
    require_whole(data.file, h5py)
    try:
        storage = MinariStorage.read(os.path.dirname(data.file) or ".")
        episodes = [flat(episode) for episode in storage.get_episodes(range(int(described["total_episodes"])))]
    except (AssertionError, OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise StageError(f"{data.file}: no dataset that Minari can read: {shorten(str(error), 200)}") from None
    return in_rows(data, episodes)


def require_plain(file: str, files: Mapping[str, str]) -> Mapping[str, Any]:
    """What describes a dataset, as the plan saw it; StageError where the library would run code to read it."""
    with opened(file, ARRAY_FILE_BYTES) as stream:
        require_known(stream, file, files)
    beside = metadata_beside(file)
    with opened(beside, DESCRIPTION_BYTES) as stream:
        require_known(stream, beside, files)
        try:
            described = json.loads(stream.read())
        except (ValueError, RecursionError):
            raise StageError(f"{beside}: it is no JSON") from None
    if not isinstance(described, dict) or any(not isinstance(described.get(name), str) for name in SPACES):
        message = "it does not say its spaces, and making its environment to learn them would run code"
        raise StageError(f"{beside}: {message}; save it with observation_space and action_space")
    if described.get("data_format", "hdf5") != "hdf5":
        raise StageError(f"{beside}: data_format is {shorten(str(described['data_format']))}; hdf5 is read")
    if not isinstance(described.get("total_episodes"), int):
        raise StageError(f"{beside}: it does not say total_episodes")
    return described


def require_whole(file: str, h5py: Any) -> None:
    """StageError where a part of the file lies elsewhere, or where there is more of it than fits into memory."""
    total = 0

    def wrong(name: str, link: Any) -> str | None:
        """What ends the visit: an error raised in the library's own walk would be lost."""
        nonlocal total
        if not isinstance(link, h5py.HardLink):
            return f"'{shorten(name)}' is a link; save a dataset that holds its own arrays"
        part = stream[name]
        if isinstance(part, h5py.Dataset):
            if part.external or part.is_virtual:
                return f"'{shorten(name)}' lies in another file"
            total += int(part.size or 0)
        return None

    try:
        with h5py.File(file, "r") as stream:
            found = stream.visititems_links(wrong)
    except (OSError, RuntimeError, KeyError) as error:
        raise StageError(f"{file}: it is no whole HDF5 file: {shorten(str(error), 200)}") from None
    if found is not None:
        raise StageError(f"{file}: {found}")
    require_memory(f"{file}: its arrays", (total,))


def flat(episode: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays of an episode by their paths, observations/achieved_goal; what is no array of numbers is left out."""
    return {name: array for key in KEPT if key in episode for name, array in parts(key, episode[key])}


def parts(name: str, part: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(part, Mapping):
        for key, inner in part.items():
            yield from parts(f"{name}/{key}", inner)
    elif isinstance(part, np.ndarray) and part.dtype.kind in "fiub":
        yield name, part


def in_rows(
    data: DataSection, episodes: list[dict[str, np.ndarray]]
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """All episodes below each other: an observation after each action is the next state, and the first of none."""
    state, action = data.states.array, data.actions.array
    for number, episode in enumerate(episodes):
        lacking = [name for name in (state, action) if name not in episode]
        if lacking:
            held = ", ".join(episode) or "nothing"
            raise StageError(f"{data.file}: episode {number} has no '{lacking[0]}'; it has {held}")
        if len(episode[state]) != len(episode[action]) + 1:
            counts = f"{len(episode[action])} actions and {len(episode[state])} observations"
            raise StageError(f"{data.file}: episode {number} has {counts}; after every action there is one")
    if not episodes:
        raise StageError(f"{data.file}: it has no episodes")
    lengths = [len(episode[action]) for episode in episodes]
    names = set.intersection(*(set(episode) for episode in episodes))
    rows = {
        name: np.concatenate([episode[name][:length] for episode, length in zip(episodes, lengths, strict=True)])
        for name in sorted(names)
    }
    after = np.concatenate([episode[state][1:] for episode in episodes])
    return rows, after, np.repeat(np.arange(len(episodes)), lengths)
