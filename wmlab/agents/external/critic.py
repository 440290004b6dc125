"""Critics of actions from a box, with the actor or the V that goes with them, as an extraction may see them.

Shapes: N states, d variables, G goals, J goals looked at per state, A listed actions, k components of an action,
C critics, O outputs for each goal, D draws. An action that is drawn is a row of its own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.external.network import apply, limits_of, read_goal, read_state
from wmlab.agents.external.options import Actor, ExternalNetwork, Options
from wmlab.agents.external.parts import actor_network, parts_of
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import AgentView, States, chosen
from wmlab.core.goals import GoalSet
from wmlab.core.programs import pytree, static

LOG_SD = (-20.0, 2.0)  # of SAC's draws: further it does not let them go
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Form:
    """What is part of the program: networks without the names of their tensors, and how they go together."""

    network: ExternalNetwork
    critics: tuple[str, ...]  # [C] prefixes of their weights
    combine: Literal["min", "mean", "first"]
    actor: Actor | None
    acting: ExternalNetwork | None
    v: ExternalNetwork | None
    order: tuple[int, ...]  # [k] where each component that the files have stands among the world's

    @classmethod
    def of(cls, options: Options, space: ContinuousSpace) -> Form:
        """The form of an agent whose spec was checked."""
        q, actor, v = options.q, options.actor, options.v
        assert q.network is not None
        (critics, *_) = (part.prefixes for part in parts_of(options, space))
        return cls(
            network=q.network.form,
            critics=critics,
            combine="first" if q.critics is None else q.critics.combine,
            actor=None if actor is None else dataclasses.replace(actor, network=None, file=None),
            acting=None if actor is None else actor_network(options).form,
            v=None if v is None else v.network.form,
            order=tuple(space.controls.index(name) for name in options.actions or space.controls),
        )


@pytree
class CriticView(AgentView):
    """The view of a critic Q(s, a, g) and its actor π(s, g), or a V(s, g) by itself."""

    weights: dict[str, Array]
    limits: dict[str, Array]  # of q and v, [2]: ends of a bounded output
    space: ContinuousSpace = static()
    form: Form = static()

    @property
    def reads_goal(self) -> bool:
        return self.form.network.goal == "input"

    def value_at(self, state: Array, action: Array, goal: Array) -> Array:
        each = self._critics(state, jnp.repeat(action[:, None], goal.shape[1], axis=1), goal)
        return each[0] if self.form.combine == "first" else each.mean(axis=0)

    def values(self, state: Array) -> Array:
        return self.values_at(state, self.all_goals(state.shape[0]))

    def values_at(self, state: Array, goal: Array) -> Array:
        assert self.controls is not None
        listed = self.controls.listed
        rows, again = jnp.repeat(state, self.actions, axis=0), jnp.repeat(goal, self.actions, axis=0)
        values = self.value_at(rows, jnp.tile(listed, (state.shape[0], 1)), again)
        return jnp.swapaxes(values.reshape(state.shape[0], self.actions, -1), 1, 2)

    def worth_at(self, state: Array, goal: Array) -> Array:
        form = self.form
        if form.v is not None:
            return self._asked("value.", form.v, self.limits["v"], state, goal)[..., 0]
        if form.actor is None or not (form.actor.noise or form.actor.deviation):
            return self._combined(state, self._acted(state, goal), goal)
        action, bonus = self._drawn(state, goal, form.actor)  # [D, N, J, …]
        draws = action.shape[0]
        rows = jnp.tile(state, (draws, 1)), action.reshape(-1, *action.shape[2:]), jnp.tile(goal, (draws, 1))
        return (self._combined(*rows).reshape(draws, *goal.shape) + bonus).mean(axis=0)

    def _combined(self, state: Array, action: Array, goal: Array) -> Array:
        """What V is made of, at actions [N, J, k]: [N, J]."""
        each = self._critics(state, action, goal)
        if self.form.combine == "first":
            return each[0]
        return each.min(axis=0) if self.form.combine == "min" else each.mean(axis=0)

    def _drawn(self, state: Array, goal: Array, actor: Actor) -> tuple[Array, Array]:
        """Actions [D, N, J, k] that stand for all that may be drawn, each as likely, with what entropy adds [D, N, J].

        Normal numbers are replaced by D = 2k points, which give the means of all polynomials up to the third degree.
        """
        box, raw = self.controls, self._raw("actor.", state, goal)
        assert box is not None
        points = np.sqrt(box.size) * np.concatenate([np.eye(box.size), -np.eye(box.size)])
        points = points[:, None, None].astype(np.float32)  # [D, 1, 1, k]
        if not actor.deviation:
            cut = math.inf if actor.noise_clip is None else actor.noise_clip
            moved = self._squashed(raw) + np.clip(actor.noise * points, -cut, cut) * (box.high - box.low) / 2
            return jnp.clip(moved, box.low, box.high), jnp.zeros(goal.shape)
        spread = jnp.exp(jnp.clip(self._raw("actor_deviation.", state, goal), *LOG_SD))
        fraction = jnp.tanh(raw + spread * points)
        density = -0.5 * points**2 - jnp.log(spread) - HALF_LOG_2PI - jnp.log(1 - fraction**2 + 1e-6)
        return box.unscaled(fraction), -actor.entropy * density.sum(axis=-1)

    def known_worth(self, state: Array) -> Array:
        return self.worth_at(state, self.all_goals(state.shape[0]))

    def choose(self, key: Array, state: Array, goal: Array) -> Array:
        return self._acted(state, goal)[:, 0]

    def _acted(self, state: Array, goal: Array) -> Array:
        """What the actor does in states [N, d] for goals [N, J]: [N, J, k]."""
        return self._squashed(self._raw("actor.", state, goal))

    def _raw(self, prefix: str, state: Array, goal: Array) -> Array:
        """Outputs [N, J, k] of the actor, or of its deviation, for the world's components in their order."""
        network = self.form.acting
        if network is None:
            raise ValueError("this agent comes without an actor: nobody knows what it does")
        given = self._asked(prefix, network, jnp.zeros(2), state, goal)  # in the files' order
        return given[..., np.argsort(self.form.order)]

    def _squashed(self, raw: Array) -> Array:
        """Actions [..., k] of an actor's outputs."""
        assert self.controls is not None and self.form.actor is not None
        if self.form.actor.squash == "tanh":
            return self.controls.unscaled(jnp.tanh(raw))
        return jnp.clip(raw, self.controls.low, self.controls.high)

    def _critics(self, state: Array, action: Array, goal: Array) -> Array:
        """Q of every critic that counts, for states [N, d], actions [N, J, k] and goals [N, J]: [C, N, J].

        One critic after the other, so that they share the memory of a batch: side by side each would hold its own.
        """
        form = self.form
        read = self._read(form.network, state, action, goal)
        counted = form.critics[:1] if form.combine == "first" else form.critics
        several = [self._weights_of(prefix) for prefix in counted]

        def asked(weights: dict[str, Array]) -> Array:
            return self._outputs(form.network, self.limits["q"], weights, read, goal)[..., 0]

        if len(several) == 1:
            return asked(several[0])[None]
        return jax.lax.map(asked, jax.tree.map(lambda *each: jnp.stack(each), *several))

    def _weights_of(self, prefix: str) -> dict[str, Array]:
        """The weights of one network, under their own names."""
        others = ("actor.", "actor_deviation.", "value.") if not prefix else ()
        named = {name: each for name, each in self.weights.items() if not name.startswith(others)}
        return {name.removeprefix(prefix): each for name, each in named.items() if name.startswith(prefix)}

    def _asked(self, prefix: str, network: ExternalNetwork, limits: Array, state: Array, goal: Array) -> Array:
        """Outputs [N, J, O] of a network that reads no action, for states [N, d] and goals [N, J]."""
        weights = self._weights_of(prefix)
        if network.goal == "head":
            table = apply(weights, network, [read_state(network, self.space, state)], limits)
            return chosen(table.reshape(state.shape[0], self.goals, -1), goal)
        return self._outputs(network, limits, weights, self._read(network, state, None, goal), goal)

    def _read(self, network: ExternalNetwork, state: Array, action: Array | None, goal: Array) -> Array:
        """What a network reads of states [N, d], actions [N, J, k] and goals [N, J], side by side: [N J, …]."""
        rows, wanted = jnp.repeat(state, goal.shape[1], axis=0), goal.ravel()
        blocks = {
            "state": lambda: read_state(network, self.space, rows),
            "goal": lambda: read_goal(network, self.space, self.aims, self.aims.features[wanted]),
            "achieved": lambda: read_goal(network, self.space, self.aims, jax.vmap(self.aims.achieved)(rows)),
            "action": lambda: self._read_action(network, action),
        }
        return jnp.concatenate([blocks[name]() for name in network.blocks], axis=-1)

    def _outputs(
        self, network: ExternalNetwork, limits: Array, weights: dict[str, Array], read: Array, goal: Array
    ) -> Array:
        """Outputs [N, J, O] of a network that reads [N J, …], for goals [N, J]."""
        outputs = apply(weights, network, [read], limits)
        if network.goal == "head":
            outputs = chosen(outputs.reshape(read.shape[0], self.goals, -1), goal.reshape(-1, 1))
        return outputs.reshape(*goal.shape, -1)

    def _read_action(self, network: ExternalNetwork, action: Array | None) -> Array:
        """Actions [N, J, k] as a critic reads them, [N J, k]."""
        assert action is not None and self.controls is not None
        read = self.controls.scaled(action) if network.action_encoding == "normalised" else action
        return read.reshape(-1, read.shape[-1])[:, np.array(self.form.order)]


def critic_view(
    weights: Mapping[str, np.ndarray], options: Options, space: ContinuousSpace, goals: GoalSet, states: States
) -> CriticView:
    """The view of critics by their weights; `states` says where they are looked at."""
    named = {"q": options.q.network, "v": None if options.v is None else options.v.network}
    limits = {name: limits_of(each, goals, options.discount) for name, each in named.items() if each is not None}
    return CriticView.of(
        space,
        goals,
        options.discount,
        "greedy",
        states,
        weights={name: jnp.asarray(weight) for name, weight in weights.items()},
        limits=limits,
        space=space,
        form=Form.of(options, space),
    )
