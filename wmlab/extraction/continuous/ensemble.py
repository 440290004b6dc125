"""Several models from one agent: all fitted in one program, each from its own first weights, on its own draws.

What members have in common the values told them; where they part, something else did. One batch is dealt out among the
members, and so five take 1.08 to 1.18 times as long as one model, ten 1.24 to 1.33 times; with as large a batch for
each, five take 3.6 to 9.8 times as long and ten 5.9 to 21 times (`wmlab bench p_learning`).

Shapes: K members, G goals, N states, d variables.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.view import ContinuousView, chosen
from wmlab.core.programs import pytree, static
from wmlab.core.randomness import generator, jax_key
from wmlab.core.training import Hooks
from wmlab.extraction.continuous import estimators
from wmlab.extraction.continuous.fit import (
    ChunkStats,
    NeuralExtraction,
    Objective,
    State,
    advance,
    conclude,
    descend,
    fresh_model,
    gradient_steps,
    require_values,
)
from wmlab.extraction.continuous.models import NeuralModel
from wmlab.extraction.continuous.options import FitOptions


def extract_ensemble(
    view: ContinuousView, options: FitOptions, seed: int, members: int, weighted: bool, **hooks: Any
) -> NeuralExtraction:
    """Fit fresh models side by side. A seed fixes every bit of the result, also where the fit was interrupted.

    weighted: whether each member gives goals weights of its own
    """
    require_values(view, seed)
    numbers = range(members)
    share = share_of(options, members)
    models = stacked([fresh_model(view, options, seed, member) for member in numbers])
    keys = jnp.stack([jax.random.key_data(jax_key(seed, f"p-learning of member {member}")) for member in numbers])
    shape = (members, view.goals)
    views = MemberViews(view, stakes_of(shape, options.loss, seed) if weighted else jnp.ones(shape))
    state = begin_all(models, share, keys)
    models, curve = descend(estimators.objective, views, state, share, Hooks(**hooks), advance_all)
    notes = {"updates": options.steps, "members": members}
    return conclude(view, Ensemble(models, view.frame, view.actions), curve, seed, notes)


def share_of(options: FitOptions, members: int) -> FitOptions:
    """The fit of each of so many members, among whom the states of an update are dealt out."""
    return dataclasses.replace(options, batch=-(-options.batch // members))


class MemberViews(NamedTuple):
    """The agent, and what is at stake for each member on each of its goals."""

    view: ContinuousView
    stakes: Array  # [K, G]


def stacked(models: list[NeuralModel]) -> NeuralModel:
    """Models of one form as one, every array with an axis of members [K, …] in front."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)


def begin_all(models: NeuralModel, options: Any, keys: Array) -> State:
    """A fit of several models, with keys [K, 2], before its first update; the number of updates is common to them."""
    state = State(models, jax.vmap(gradient_steps(options).init)(models.weights), keys, jnp.int32(0))
    return jax.tree.map(jnp.array, state)


@partial(jax.jit, static_argnames=("objective", "options"), donate_argnums=0)
def advance_all(
    states: State, views: MemberViews, count: Array, objective: Objective, options: Any
) -> tuple[State, ChunkStats]:
    """`count` updates of each, int []: models share the agent, and know nothing of each other."""
    axes = State(0, 0, 0, None)  # type: ignore[arg-type]  # where the members are

    def of_one(state: State, stakes: Array) -> tuple[State, ChunkStats]:
        return advance(state, at_stakes(views.view, stakes, len(views.stakes)), count, objective, options)

    return jax.vmap(of_one, in_axes=(axes, 0), out_axes=(axes, 0))(states, views.stakes)


# --- what each member makes of the goals ------------------------------------------------------------------------
# An agent's errors differ from goal to goal, and are the same for whoever reads them. Members that give goals other
# weights (a Bayesian bootstrap over the goals) part where the goals contradict each other, which is where it errs.


def stakes_of(shape: tuple[int, int], loss: str, seed: int) -> Array:
    """What is at stake for each member on each goal, [K, G]: weights in the loss that are exponential, of mean 1."""
    weights = generator(seed, "weights of goals in an ensemble").exponential(size=shape)
    weights /= weights.mean(axis=1, keepdims=True)
    return jnp.asarray(np.sqrt(weights) if loss == "l2" else weights, jnp.float32)


@pytree
class StakedView(ContinuousView):
    """The same agent, with the rewards of each goal multiplied by a stake, and so its values: as true of its world."""

    plain: ContinuousView
    stakes: Array  # [G], above 0
    members: int = static(default=1)

    @property
    def beside(self) -> int:
        return self.members

    @property
    def reads_goal(self) -> bool:
        return self.plain.reads_goal

    def values(self, state: Array) -> Array:
        return self.stakes[:, None] * self.plain.values(state)

    def values_at(self, state: Array, goal: Array) -> Array:
        return self._staked(state, goal)[..., None] * self.plain.values_at(state, goal)

    def known_worth(self, state: Array) -> Array | None:
        worth = self.plain.known_worth(state)
        return None if worth is None else self.stakes * worth

    def value_at(self, state: Array, action: Array, goal: Array) -> Array:
        if self.controls is None:
            return super().value_at(state, action, goal)
        return self._staked(state, goal) * self.plain.value_at(state, action, goal)

    def worth_at(self, state: Array, goal: Array) -> Array:
        if self.controls is None:
            return super().worth_at(state, goal)
        return self._staked(state, goal) * self.plain.worth_at(state, goal)

    def choose(self, key: Array, state: Array, goal: Array) -> Array:
        return self.plain.choose(key, state, goal)

    def _staked(self, state: Array, goal: Array) -> Array:
        """The stakes [N, J] of goals [N, J] at states [N, d]."""
        return chosen(jnp.broadcast_to(self.stakes, (state.shape[0], self.goals)), goal)

    def arrive(self, state: Array) -> tuple[Array, Array]:
        reward, continues = self.plain.arrive(state)
        return self.stakes * reward, continues

    def sample(self, key: Array, count: int) -> Array:
        return self.plain.sample(key, count)


def at_stakes(view: ContinuousView, stakes: Array, members: int = 1) -> StakedView:
    """A view of the same agent with these stakes [G] on its goals, of one among so many members."""
    common = {field.name: getattr(view, field.name) for field in dataclasses.fields(ContinuousView)}
    return StakedView(**common, plain=view, stakes=stakes, members=members)
