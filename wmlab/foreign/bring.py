"""From a file of another library to a file of tensors and a first spec."""

from __future__ import annotations

import dataclasses
import os
import re
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np
import safetensors.numpy

from wmlab.errors import UsageError, visible
from wmlab.foreign.agents import Asked, ForeignAgent, plain_agent
from wmlab.foreign.archives import Archive
from wmlab.foreign.array_file import npz_tensors, safetensors_tensors
from wmlab.foreign.averages import averages_of
from wmlab.foreign.cleanrl import actor_critic_agent, is_actor_critic
from wmlab.foreign.flax_file import flax_tensors
from wmlab.foreign.fold import normalised, scaled
from wmlab.foreign.probe_text import probe_lines
from wmlab.foreign.sb3 import is_sb3, sb3_agent
from wmlab.foreign.spec_text import fragment_text, spec_text
from wmlab.foreign.torch_file import LEGACY, OLD, program_of, torch_tensors
from wmlab.foreign.wiring import Names, Wiring, reordered, wiring_of
from wmlab.limits import AGENT_FILE_BYTES, listed
from wmlab.runtime.durable import write_file
from wmlab.sections.forms import NAME
from wmlab.spec.check.array_headers import NUMPY_MAGIC, ZIP_MAGIC, Unreadable
from wmlab.spec.files import open_regular

PICKLE = "it is a pickle, which runs code when it is read; save tensors: torch.save(network.state_dict(), file)"
LACKS = "the file does not say whether observations or rewards were normalised in training (VecNormalize)"
TAKES = "--normalise and --reward-scale take it"


@dataclass(frozen=True)
class Request:
    """What the command line says."""

    file: Path
    output: Path | None = None
    name: str | None = None
    force: bool = False
    asked: Asked = Asked()
    names: Names = Names()
    discount: float | None = None
    within: float | None = None
    normalise: str | None = None
    reward_scale: float = 1.0


@dataclass(frozen=True)
class Brought:
    """What was written, and what is to be said of it."""

    source: str
    written: tuple[Path, ...]
    remarks: tuple[str, ...]
    probe: tuple[str, ...] = ()  # lines of Python
    spec: Path | None = None


def bring(request: Request) -> Brought:
    """Read a file, fold what can be folded, and write what a spec needs; nothing is overwritten unasked."""
    name = name_of(request)
    folder = request.output or Path()
    weights, probe = f"{name}.safetensors", f"{name}.probe.npz"
    try:
        agent = read_agent(request.file, request.asked)
        agent, remarks = with_scales(agent, request)
        wiring = wiring_of(agent, request.names)
    except Unreadable as error:
        raise UsageError(f"{request.file}: {error}") from None
    text = text_of(name, agent, wiring, weights, probe, request)
    contents = {weights: tensors_of(agent, wiring), name_of_text(name, wiring): text.encode()}
    write(folder, contents, request.force)
    lines = tuple(probe_lines(agent, wiring, str(request.file), probe))
    written = tuple(folder / file for file in contents)
    return Brought(agent.source, written, (*remarks, *wiring.remarks), lines, written[-1])


def name_of(request: Request) -> str:
    """What the spec and its files are called: as asked, or as the file is."""
    name = request.name or re.sub(r"[^a-z0-9]+", "_", request.file.stem.lower()).strip("_") or "agent"
    name = name if request.name or name[0].isalpha() else f"agent_{name}"
    if not re.match(NAME, name) or len(name) > 80:
        raise UsageError(
            f"'{visible(name)}' is no name: lower-case letters, digits and _, beginning with a letter; --name"
        )
    return name


# --- reading ----------------------------------------------------------------------------------------------------


def read_agent(path: Path, asked: Asked) -> ForeignAgent:
    """The agent of a file, by what its first bytes say that it is."""
    try:
        with open_regular(path, AGENT_FILE_BYTES) as stream:
            return recognised(stream, path, asked)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None
    except (MemoryError, RecursionError):
        raise Unreadable("it asks for more memory than there is") from None


def recognised(stream: BufferedReader, path: Path, asked: Asked) -> ForeignAgent:
    start, length = stream.read(32), os.fstat(stream.fileno()).st_size
    stream.seek(0)
    if start.startswith(ZIP_MAGIC):
        return of_archive(stream, path, length, asked)
    if start.startswith(LEGACY):
        raise Unreadable(OLD)
    if start[8:9] == b"{":
        return plain_agent(safetensors_tensors(path, length), asked)
    if start[:1] == b"\x80":
        raise Unreadable(PICKLE)
    if start.startswith(NUMPY_MAGIC):
        raise Unreadable("it is one bare array; save every tensor of the network with numpy.savez")
    return plain_agent(flax_tensors(stream, length), asked)


def of_archive(stream: BufferedReader, path: Path, length: int, asked: Asked) -> ForeignAgent:
    archive = Archive(stream)
    if is_sb3(archive):
        return sb3_agent(archive, asked)
    if program_of(archive) is not None:
        state = torch_tensors(stream)
        return actor_critic_agent(state, asked) if is_actor_critic(state) else plain_agent(state, asked)
    if archive.parts and all(name.endswith(".npy") for name in archive.parts):
        return plain_agent(npz_tensors(path, length), asked)
    held = listed(archive.parts) or "nothing"
    raise Unreadable(f"it is an archive of none of Stable-Baselines3, PyTorch and NumPy; it holds {held}")


def with_scales(agent: ForeignAgent, request: Request) -> tuple[ForeignAgent, tuple[str, ...]]:
    """The agent in raw observations and in the reward's own units, with what is to be said."""
    if request.reward_scale <= 0 or not np.isfinite(request.reward_scale):
        raise UsageError("--reward-scale: what rewards were multiplied by in training, above 0")
    networks = dict(agent.networks)
    acted = 0 if agent.box is None else agent.box.size  # numbers of an action, which a critic reads last
    for name, network in networks.items():
        is_critic = name.startswith("critic")
        if request.normalise is not None:
            mean, deviation = averages_of(request.normalise, agent, network.inputs - acted * is_critic)
            ones = np.ones(acted * is_critic)
            network = normalised(network, np.append(mean, 0 * ones), np.append(deviation, ones))
        networks[name] = scaled(network, request.reward_scale) if is_critic or name == "q" else network
    lacking = request.normalise is None and request.reward_scale == 1
    remarks = (*agent.remarks, *([f"{LACKS}: {TAKES}"] if lacking else []))
    return dataclasses.replace(agent, networks=networks), remarks


# --- writing ----------------------------------------------------------------------------------------------------


def name_of_text(name: str, wiring: Wiring) -> str:
    """A whole spec where the spaces are known, else the agent's section alone."""
    return f"{name}.yaml" if wiring.ranges_known or wiring.states is not None else f"{name}.agent.yaml"


def text_of(name: str, agent: ForeignAgent, wiring: Wiring, weights: str, probe: str, request: Request) -> str:
    discount = request.discount if request.discount is not None else agent.discount
    if name_of_text(name, wiring).endswith(".agent.yaml"):
        return fragment_text(agent, wiring, weights, probe, discount)
    return spec_text(name, agent, wiring, weights, probe, discount, request.within)


def tensors_of(agent: ForeignAgent, wiring: Wiring) -> bytes:
    """The networks as a file of safetensors, under our own names, with where they come from in its header."""
    named: dict[str, np.ndarray] = {}
    for name, network in agent.networks.items():
        arrays = network.tensors()
        arrays["layer0.weight"] = np.ascontiguousarray(reordered(arrays["layer0.weight"], wiring))
        prefix = "" if name == "q" else f"{name}."
        named |= {f"{prefix}{part}": array for part, array in arrays.items()}
    return safetensors.numpy.save(named, {"source": visible(agent.source)})


def write(folder: Path, contents: dict[str, bytes], force: bool) -> None:
    """Write files into a folder, each whole or not at all."""
    for file in contents:
        if not force and os.path.lexists(folder / file):
            raise UsageError(f"{folder / file} exists; --force overwrites it, --name and --output write elsewhere")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in contents.items():
            write_file(folder / file, data)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {error.strerror or error}") from None
