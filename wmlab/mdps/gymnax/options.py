"""What a spec may say of a gymnax environment: its name, and its state where wmlab does not know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wmlab.errors import one_of
from wmlab.mdps.dynamics.options import EXPRESSIONS, RESET, StateVariable
from wmlab.mdps.dynamics.options import Options as Dynamics
from wmlab.mdps.gymnax.environments import ENVIRONMENTS, DeclaredEnvironment
from wmlab.registry import option
from wmlab.registry.options import NUMBERS


@dataclass(frozen=True)
class EnvVariable(StateVariable):
    """A variable of gymnax's state."""

    path: str | None = option(
        None,
        doc="Where gymnax's state holds it: a field, or a number of one as in angles[0]; null: the field of its name.",
        example="angles[0]",
    )


@dataclass(frozen=True)
class Options:
    env: str = option(
        doc="Name of a gymnax environment. wmlab knows the state of "
        + one_of(ENVIRONMENTS).replace(" or ", " and ")
        + "; of others, say it under state."
    )
    actions: dict[str, tuple[float, ...]] | None = option(
        None,
        doc="Component of an action: its values; the actions are their product. Null: the environment's own, where"
        " wmlab knows them; else one component with gymnax's action numbers, or one for each number of an action.",
        schema={"type": ["object", "null"], "additionalProperties": NUMBERS, "minProperties": 1},
        whole=True,
        example={"torque1": [-1, 0, 1], "torque2": [-1, 0, 1]},
    )
    state: dict[str, EnvVariable] | None = option(
        None,
        doc="Variable: where gymnax's state holds it, its range and what happens at its ends, or its whole numbers."
        " Null: those that wmlab knows. What is left out stays as it is at a reset.",
        example={"theta1": {"path": "joint_angle1", "range": ["-pi", "pi"], "edge": "wrap"}},
    )
    derived: dict[str, Any] = option(
        {}, doc="With `state`: name: an expression of the state; goals may name it like a variable.", schema=EXPRESSIONS
    )
    reset: Any = option(
        None,
        doc="Where episodes start: uniform, or for each variable a value or {uniform: [low, high]}. Null: where gymnax"
        " resets the environments that wmlab knows, and else uniform.",
        schema={**RESET, "type": [*RESET["type"], "null"]},
        example={"theta": {"uniform": ["-pi", "pi"]}, "speed": 0},
    )
    horizon: int | None = option(None, doc="Steps until an episode is cut; null: gymnax's own number.", at_least=1)

    @property
    def known(self) -> DeclaredEnvironment | None:
        """What wmlab knows of the environment."""
        return ENVIRONMENTS.get(self.env)

    @property
    def finite(self) -> bool:
        """Whether the spec declares a state of whole numbers."""
        return bool(self.state) and all(each.integers is not None for each in (self.state or {}).values())

    @property
    def controls(self) -> dict[str, tuple[float, ...]]:
        """Component: its values, in the environment's own order where wmlab knows it."""
        known = self.known.controls if self.known is not None else ()
        given = self.actions or {control.name: control.values for control in known}
        return {control.name: given[control.name] for control in known} if known else given

    @property
    def variables(self) -> dict[str, StateVariable]:
        """The variables as a world written in a spec declares them."""
        if self.state is not None:
            return dict(self.state)
        assert self.known is not None
        return {
            each.name: StateVariable(range=(each.low, each.high), edge="wrap" if each.periodic else "clip")
            if each.bounded
            else StateVariable(usual=each.usual)
            for each in self.known.variables
        }

    def as_dynamics(self) -> Dynamics:
        """The same variables, actions and starts as those of a world written out, in which nothing moves."""
        state = self.variables
        stay: dict[str, Any] = {name: name for name in state}
        reset = "uniform" if self.reset is None else self.reset
        return Dynamics(state=state, actions=self.controls, next=stay, derived=self.derived, reset=reset)
