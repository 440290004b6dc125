"""Averages of observations that an agent was trained with, and that its own file lacks.

Shapes: I inputs.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from wmlab.errors import UsageError
from wmlab.foreign.agents import ForeignAgent
from wmlab.foreign.array_file import npz_tensors
from wmlab.foreign.spaces import Box
from wmlab.limits import AGENT_FILE_BYTES, shorten
from wmlab.spec.check.array_headers import Unreadable
from wmlab.spec.files import open_regular

SMALL = 1e-8  # what Stable-Baselines3's VecNormalize adds to a variance
HOW = "an .npz with mean and var, or values as mean=0,1 var=2,3"
PIECE = re.compile(r"(?P<name>[\w.]+)=(?P<numbers>[-+0-9.eE]+(?:,[-+0-9.eE]+)*)")


def averages_of(said: str, agent: ForeignAgent, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the deviation [I] that `--normalise` says: of all inputs, or of parts by their names."""
    arrays = inline(said) if "=" in said else from_file(Path(said))
    mean, var = np.zeros(inputs), np.ones(inputs)
    places = places_of(agent, inputs)
    known = {"mean", "var", *(f"{name}.{word}" for name in places for word in ("mean", "var"))}
    strangers = [name for name in arrays if name not in known]
    if strangers or not arrays:
        raise UsageError(
            f"--normalise: '{shorten(strangers[0] if strangers else said)}' is neither mean nor var; say {HOW}"
        )
    for name, (first, last) in {"": (0, inputs), **{f"{part}.": ends for part, ends in places.items()}}.items():
        for word, whole in (("mean", mean), ("var", var)):
            given = arrays.get(f"{name}{word}")
            if given is not None:
                if given.size != last - first:
                    raise UsageError(f"--normalise: {name}{word} has {given.size} numbers, and {last - first} are read")
                whole[first:last] = given.ravel()
    if not np.isfinite([mean, var]).all() or (var < 0).any():
        raise UsageError("--normalise: a variance is at least 0, and every number is finite")
    return mean, np.sqrt(var + SMALL)


def places_of(agent: ForeignAgent, inputs: int) -> dict[str, tuple[int, int]]:
    """Part of what is read: its first input, and the one behind its last."""
    places, first = {}, 0
    for block in agent.reads:
        size = block.space.size if isinstance(block.space, Box) else inputs
        places[block.name] = (first, first + size)
        first += size
    return places


def inline(said: str) -> dict[str, np.ndarray]:
    pieces = said.split()
    found = [PIECE.fullmatch(piece) for piece in pieces]
    if not all(found):
        raise UsageError(f"--normalise: '{shorten(said)}' cannot be read; say {HOW}")
    try:
        return {each["name"]: np.array([float(n) for n in each["numbers"].split(",")]) for each in found if each}
    except ValueError:
        raise UsageError(f"--normalise: '{shorten(said)}' has something that is no number; say {HOW}") from None


def from_file(path: Path) -> dict[str, np.ndarray]:
    try:
        with open_regular(path, AGENT_FILE_BYTES) as stream:
            start, length = stream.read(2), path.stat().st_size
        if start[:1] == b"\x80":
            raise UsageError(
                f"--normalise: {path} is a pickle, which runs code when it is read; save obs_rms.mean and obs_rms.var"
                " with numpy.savez"
            )
        return {name: tensor.numbers() for name, tensor in npz_tensors(path, length).tensors.items()}
    except Unreadable as error:
        raise UsageError(f"--normalise: {path}: {error}") from None
    except OSError as error:
        raise UsageError(f"--normalise: {path}: {error.strerror or error}; say {HOW}") from None
