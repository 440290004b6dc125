"""What a spec says of logged transitions: the file that holds them, and which of its arrays is what."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from wmlab.registry import option

LOG_FILE = {"type": "string", "x-wmlab": "file", "x-endings": [".npz", ".hdf5"]}
NAMES = {"type": "array", "items": {"type": ["string", "null"]}, "minItems": 1}
NEXT = "next_observations"  # what the array of next states is called where nothing is said


def metadata_beside(file: str) -> str:
    """The file that describes a Minari dataset, beside the one that holds its episodes."""
    return os.path.join(os.path.dirname(file), "metadata.json")


@dataclass(frozen=True)
class LoggedColumns:
    """An array of a log whose columns are variables."""

    array: str = option(doc="Its name in the file; observations/observation is a part of a part.")
    columns: tuple[str | None, ...] | None = option(
        None,
        doc="The variable that each column holds, null for none; without it, the variables of the world (of goals) in"
        " their order.",
        schema={**NAMES, "type": ["array", "null"]},
        whole=True,
    )


@dataclass(frozen=True)
class LoggedActions:
    """An array of a log that says what was done."""

    array: str = option(doc="Its name in the file: numbers of actions, or the components of each.")
    order: tuple[str, ...] | None = option(
        None, doc="The actions that the numbers 0, 1, … stand for; null: the world's own order.", whole=True
    )


@dataclass(frozen=True)
class DataSection:
    """Transitions that were logged elsewhere: where they are, and which part of them is held out."""

    file: str = option(
        doc="A path relative to this file: .npz, or the main_data.hdf5 of a Minari dataset with its metadata.json"
        " beside it.",
        schema=LOG_FILE,
    )
    format: Literal["npz", "minari"] = option(
        "npz",
        doc="`npz`: plain arrays with a row for each transition. `minari`: episodes as Minari 0.5 saves them, read with"
        " that library (the extra wmlab[minari]).",
    )
    state: str | LoggedColumns = option(
        "observations", doc="The states that transitions start from: an array, or {array, columns}.", whole=True
    )
    after: str | None = option(
        None,
        doc=f"npz: the array of next states, its columns as those of `state`; {NEXT} where nothing is said. Episodes of"
        " Minari have them in their sequence.",
    )
    action: str | LoggedActions = option("actions", doc="What was done: an array, or {array, order}.", whole=True)
    goal: str | LoggedColumns | None = option(
        None,
        doc="The goal that was pursued in each transition, and with `reward` what the goals of the spec are held"
        " against (data.reward_error).",
        whole=True,
    )
    reward: str | None = option(None, doc="What was paid in each transition, for its `goal`.")
    episode: str | None = option(
        None, doc="npz: an array with the number of each transition's episode; then whole episodes are held out."
    )
    held_out: float = option(
        0.2,
        doc="The share of transitions, or of episodes where they are known, that models are held against; the others"
        " are what extract.states: data draws from.",
        above=0,
        below=1,
    )
    seed: int = option(0, doc="Seed of the choice of what is held out, the same for every run.", at_least=0)

    @property
    def states(self) -> LoggedColumns:
        return LoggedColumns(self.state) if isinstance(self.state, str) else self.state

    @property
    def actions(self) -> LoggedActions:
        return LoggedActions(self.action) if isinstance(self.action, str) else self.action

    @property
    def goals(self) -> LoggedColumns | None:
        return LoggedColumns(self.goal) if isinstance(self.goal, str) else self.goal

    @property
    def next_states(self) -> str:
        """npz: the array of next states."""
        return self.after or NEXT
