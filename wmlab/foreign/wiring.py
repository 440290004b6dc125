"""What the numbers that a network reads and gives are called in a spec.

Shapes: I inputs.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wmlab.errors import UsageError
from wmlab.foreign.agents import Block, ForeignAgent
from wmlab.foreign.spaces import Box, Discrete
from wmlab.limits import shorten
from wmlab.spec.check.array_headers import Unreadable

PARTS = {"desired_goal": "goal", "achieved_goal": "achieved"}  # anything else is of the state
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
ACTION = re.compile(r"[\w.+-]{1,60}")


@dataclass(frozen=True)
class Names:
    """What the command line calls things."""

    state: tuple[str, ...] = ()
    goal: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Number:
    """One number of the state, and where it lies."""

    name: str
    low: float = -math.inf
    high: float = math.inf

    @property
    def bounded(self) -> bool:
        """Bounds as large as those of a float32 are none."""
        return max(abs(self.low), abs(self.high)) < 1e18


@dataclass(frozen=True)
class Wiring:
    """What a network reads and gives, by the names that a spec has for it."""

    state: tuple[Number, ...]  # in the order of the network's inputs
    wanted: tuple[str, ...]  # the goal's variables, likewise
    inputs: tuple[str, ...]  # state, goal and achieved in their order; nothing where no goal is read
    actions: tuple[str, ...]  # in the order of the outputs; of a box, its components as critics read them
    goals: int  # heads of a network that reads no goal
    places: tuple[int, ...]  # [I] where each input stands in the file's network, but for a critic's action
    states: int | None = None  # of a finite world, each read as one of so many
    ranges_known: bool = False
    box: tuple[tuple[float, float], ...] = ()  # ends of each component, where actions are from a box
    remarks: tuple[str, ...] = ()


def wiring_of(agent: ForeignAgent, names: Names) -> Wiring:
    """The wiring of an agent; UsageError where names do not fit."""
    for words, pattern, flag in ((names.state, VARIABLE, "--state"), (names.goal, VARIABLE, "--goal")):
        require_words(words, pattern, flag)
    require_words(names.actions, ACTION if agent.box is None else VARIABLE, "--actions")
    if agent.q is None:
        return of_box(agent, names)
    actions, heads = actions_of(agent, names.actions)
    if len(agent.reads) == 1 and isinstance(agent.reads[0].space, Discrete):
        count = agent.reads[0].space.count
        return Wiring((), (), (), actions, heads, tuple(range(count)), states=count)
    if agent.reads:
        return of_blocks(agent, names, actions, heads)
    return of_widths(agent, names, actions, heads)


def of_box(agent: ForeignAgent, names: Names) -> Wiring:
    """The wiring of critics and their actor, whose actions are from a box."""
    box = agent.box
    if box is None or box.low is None or box.high is None or not np.isfinite([box.low, box.high]).all():
        raise Unreadable("it does not say from which box its actions are")
    actions = names.actions or tuple(f"a{place}" for place in range(box.size))
    if len(actions) != box.size:
        raise UsageError(f"--actions: {len(actions)} names, and an action has {box.size} numbers")
    clash = next((name for name in actions if name in names.state), None)
    if clash is not None:
        raise UsageError(f"--actions: '{clash}' is a name of the state, too")
    wiring = of_blocks(agent, names, actions, 1) if agent.reads else of_widths(agent, names, actions, 1)
    return dataclasses.replace(wiring, box=tuple(zip(box.low, box.high, strict=True)))


def require_words(words: Sequence[str], pattern: re.Pattern[str], flag: str) -> None:
    for place, word in enumerate(words):
        if not pattern.fullmatch(word):
            raise UsageError(f"{flag}: '{shorten(word)}' is no name; as in {flag} x,y")
        if word in words[:place]:
            raise UsageError(f"{flag}: '{word}' is listed twice")


def actions_of(agent: ForeignAgent, said: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Names of actions, and for how many goals the outputs are."""
    assert agent.q is not None
    outputs = agent.q.output.outputs
    if not said:
        return tuple(f"a{place}" for place in range(outputs)), 1
    if outputs % len(said) or (agent.actions is not None and outputs != len(said)):
        raise UsageError(f"--actions: {len(said)} names, and the network has {outputs} outputs")
    return said, outputs // len(said)


def of_blocks(agent: ForeignAgent, names: Names, actions: tuple[str, ...], heads: int) -> Wiring:
    """The wiring of a network whose parts the file names."""
    for block in agent.reads:
        if not isinstance(block.space, Box):
            raise Unreadable(f"'{shorten(block.name)}' is one of so many things, beside numbers: not read here")
    kinds = [PARTS.get(block.name, "state") for block in agent.reads]
    places: dict[str, list[int]] = {}
    first = 0
    for block, kind in zip(agent.reads, kinds, strict=True):
        places.setdefault(kind, []).extend(range(first, first + width(block)))
        first += width(block)
    if "state" not in places:
        raise Unreadable("it reads goals and no state")
    inputs = tuple(dict.fromkeys(kinds))
    split = [kind for kind in inputs if kinds.count(kind) > 1 and not together(places[kind])]
    remarks = ("its parts of the state stood apart, and stand side by side now",) if split else ()
    state = numbers_of([block for block, kind in zip(agent.reads, kinds, strict=True) if kind == "state"], names.state)
    if "achieved" in places and "goal" not in places:
        raise Unreadable("it reads an achieved goal, and none that is wanted")
    wanted, more = wanted_of(len(places.get("goal", ())), state, names.goal)
    return Wiring(
        state=state,
        wanted=wanted,
        inputs=inputs if "goal" in places else (),
        actions=actions,
        goals=heads,
        places=tuple(place for kind in inputs for place in places[kind]),
        ranges_known=True,
        remarks=(*remarks, *more),
    )


def together(places: Sequence[int]) -> bool:
    return list(places) == list(range(places[0], places[0] + len(places)))


def width(block: Block) -> int:
    assert isinstance(block.space, Box)
    return block.space.size


def numbers_of(blocks: Sequence[Block], said: tuple[str, ...]) -> tuple[Number, ...]:
    """The numbers of the state, each with its name and its range."""
    ends: list[tuple[str, float, float]] = []
    for block in blocks:
        space, count = block.space, width(block)
        assert isinstance(space, Box)
        stem = re.sub(r"\W", "_", block.name) if len(blocks) > 1 else "s"
        low, high = space.low or (-math.inf,) * count, space.high or (math.inf,) * count
        ends += [(f"{stem}{place}", low[place], high[place]) for place in range(count)]
    if said and len(said) != len(ends):
        raise UsageError(f"--state: {len(said)} names, and an observation has {len(ends)} numbers")
    return tuple(Number(said[place] if said else name, low, high) for place, (name, low, high) in enumerate(ends))


def wanted_of(count: int, state: Sequence[Number], said: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that a goal of so many numbers names; the state's first ones where nothing is said."""
    if said:
        if len(said) != count:
            raise UsageError(f"--goal: {len(said)} names, and a goal has {count} numbers")
        return said, ()
    names = tuple(number.name for number in state[:count])
    if count > len(names):
        raise UsageError(f"--goal: which {count} variables does a goal name? The state has {len(names)} numbers")
    if 0 < count < len(state):
        return names, (f"the goal is taken for {', '.join(names)}, the state's first (--goal says otherwise)",)
    return names, ()


def of_widths(agent: ForeignAgent, names: Names, actions: tuple[str, ...], heads: int) -> Wiring:
    """The wiring of a network of which only the number of inputs is known."""
    inputs = (agent.q or agent.networks["actor"]).inputs
    blocks = names.inputs or (("state", "goal") if names.goal else ("state",))
    if sorted(blocks).count("state") != 1 or not {*blocks} <= {"state", "goal", "achieved"}:
        raise UsageError("--inputs: state once, with goal and achieved where they are read: --inputs state,goal")
    others = [block for block in blocks if block != "state"]
    if others and not names.goal:
        raise UsageError("--goal: which variables does a goal name? As in --goal x,y")
    left = inputs - len(others) * len(names.goal)
    if left < 1 or (names.state and len(names.state) != left):
        raise UsageError(f"--state: {len(names.state)} names, and the network reads {left} numbers of the state")
    state = tuple(Number(name) for name in names.state or tuple(f"s{place}" for place in range(left)))
    wired = blocks if others else ()
    return Wiring(state, names.goal if others else (), wired, actions, heads, tuple(range(inputs)))


def reordered(array: np.ndarray, wiring: Wiring) -> np.ndarray:
    """Rows [I, …] in the order of the wiring; those of a critic's action stay the last."""
    places = np.array(wiring.places, int)
    return array[np.append(places, np.arange(len(places), len(array)))]
