"""What a spec may say of a map: its cells, what they are called, and what happens in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from wmlab.core.finite.world import RESET_SCHEMA, STATE_SCHEMA
from wmlab.registry import by_type, option

DIRECTIONS = ("up", "right", "down", "left")  # clockwise: a turn to the right is one further

Direction = Literal["up", "right", "down", "left"]
Action = Literal["up", "right", "down", "left", "stay"]
RANGE_SCHEMA = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
CELLS_SCHEMA = by_type(
    string={},
    array={"items": STATE_SCHEMA},
    object={
        "properties": {
            "rows": {**RANGE_SCHEMA, "description": "First and last row, both included."},
            "columns": {**RANGE_SCHEMA, "description": "First and last column, both included."},
        },
        "required": ["rows", "columns"],
        "additionalProperties": False,
    },
)
CELLS = "a name, a cell [row, column], a list of these, or the free cells of {rows, columns}"


@dataclass(frozen=True)
class Slip:
    """Where a move ends up, as probabilities that sum to one; standing still never slips."""

    straight: float = option(doc="The move is made as meant.", at_least=0, at_most=1)
    left: float = option(0.0, doc="It turns by 90 degrees to the left.", at_least=0, at_most=1)
    right: float = option(0.0, doc="It turns by 90 degrees to the right.", at_least=0, at_most=1)
    stay: float = option(0.0, doc="It fails, and the agent stays.", at_least=0, at_most=1)
    at: Any = option(
        None,
        doc=f"The cells whose floor it is: {CELLS}. Null: all that no other slip names.",
        schema={**CELLS_SCHEMA, "type": [*CELLS_SCHEMA["type"], "null"]},
        whole=True,
        example="ice",
    )

    @property
    def chances(self) -> tuple[float, float, float, float]:
        """Of going straight, to the left, to the right, and nowhere."""
        return self.straight, self.left, self.right, self.stay


@dataclass(frozen=True)
class Wind:
    """A push by one cell after every action, standing still included; a wall or a one-way cell stops it."""

    to: Direction = option(doc="Where it blows to.")
    chance: float = option(1.0, doc="How likely a gust is.", at_least=0, at_most=1)
    at: Any = option(
        None,
        doc=f"The cells that it blows in, where the action is taken: {CELLS}. Null: all that no other wind names.",
        schema={**CELLS_SCHEMA, "type": [*CELLS_SCHEMA["type"], "null"]},
        whole=True,
        example="gap",
    )


@dataclass(frozen=True)
class Teleport:
    """Cells from which every action leads elsewhere."""

    from_: Any = option(
        doc=f"What teleports: {CELLS}.",
        schema=CELLS_SCHEMA,
        whole=True,
    )
    to: Any = option(
        doc=f"Where it leads, uniformly: {CELLS}.",
        schema=CELLS_SCHEMA,
        whole=True,
    )


@dataclass(frozen=True)
class Options:
    map: str = option(
        doc="The map: # is a wall, . or a space is free, >, <, ^ and v are cells that can be left in that direction"
        " alone, and a letter is a free cell with that name."
    )
    legend: dict[str, str] = option(
        {},
        doc="Character in the map: the name of all cells that bear it. Wherever a spec says cells, the name stands for"
        " all of them, and in expressions it is 1 in these cells and 0 elsewhere.",
        schema={"type": "object", "additionalProperties": {"type": "string"}},
        example={"i": "ice", "d": "door"},
    )
    exits: dict[str, tuple[Direction, ...]] = option(
        {},
        doc="Name of cells: the directions in which they can be left; others are closed as by a wall.",
        example={"door": ["right"]},
    )
    actions: tuple[Action, ...] = option(DIRECTIONS, doc="The moves there are, in this order.")
    slip: Slip | tuple[Slip, ...] | None = option(
        None, doc="How moves go astray, or a list of that for several parts of the map; null: they never do."
    )
    wind: Wind | tuple[Wind, ...] | None = option(
        None, doc="What pushes the agent on, or a list of that for several parts of the map; null: nothing."
    )
    teleports: tuple[Teleport, ...] = option((), doc="Cells that send the agent elsewhere.")
    reset: Any = option(
        "uniform", doc="Where episodes start: uniform, a cell, or a list of cells.", schema=RESET_SCHEMA, whole=True
    )
    horizon: int | None = option(None, doc="Steps until an episode is cut; null: never.", at_least=1)

    @property
    def slips(self) -> tuple[Slip, ...]:
        """Every slip, one or more."""
        return several(self.slip)

    @property
    def winds(self) -> tuple[Wind, ...]:
        """Every wind, one or more."""
        return several(self.wind)


def several(given: Any) -> tuple[Any, ...]:
    """One, a list of them, or none."""
    return () if given is None else given if isinstance(given, tuple) else (given,)
