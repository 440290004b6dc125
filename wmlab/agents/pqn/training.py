"""All updates of a training, with checkpoints, progress and resumption.

Python comes in between updates only: it keeps the curves, takes checkpoints, offers partial results for keeping
and stops what has diverged. An update is compiled once, whatever the seed and wherever training resumes.

Shapes: n seeds that train together, G goals.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh, PartitionSpec

from wmlab.agents.learning import Course
from wmlab.agents.pqn import evaluate, keeping, learner
from wmlab.agents.pqn.keeping import KeepingLearner
from wmlab.agents.pqn.learner import Learner, Metrics
from wmlab.agents.pqn.options import Options
from wmlab.agents.pqn.record import Record, Trained
from wmlab.core.goals import GoalSet
from wmlab.core.programs import named_leaves, tree_of
from wmlab.core.randomness import jax_key
from wmlab.core.simulator import Simulator
from wmlab.core.training import Hooks
from wmlab.errors import StageError


@dataclass(frozen=True)
class TrainingHooks(Hooks):
    """What is asked of a training beside its result."""

    progress_every: float = 0.5  # seconds between two reports
    starts: int = 64  # resets from which the return at each checkpoint is measured
    transitions: int = 0  # how many of those that are seen are kept
    keep: Literal["all", "final"] = "all"  # the weights of which checkpoints; returns are kept for all of them


@dataclass(frozen=True)
class Program:
    """The compiled parts of a training, for one seed or for several at once."""

    start: Callable[[], Any]  # a learner: a pytree with `params` and `visits`
    update: Callable[[Any], tuple[Any, Metrics]]
    returns: Callable[[Any], Array]
    host: Callable[[Any], np.ndarray] = lambda array: np.asarray(array)[None]  # an array of the program as [n, ...]
    device: Callable[[np.ndarray], Any] = lambda array: jnp.asarray(array[0])  # and back


def train(simulator: Simulator, goals: GoalSet, options: Options, seed: int, **hooks: Any) -> Trained:
    """Train one agent. A seed fixes every bit of the result, also where the training was interrupted."""
    hook = TrainingHooks(**hooks)
    start_key, test_key = named_key(seed, "pqn training"), named_key(seed, "pqn evaluation")
    room = keeping.room_for(options, hook.transitions)
    how = {"options": options, "room": room} if room else {"options": options}
    new, onward = (_start_keeping, advance_keeping) if room else (_start, advance)
    program = Program(
        start=lambda: new(start_key, simulator, goals, **how),
        update=lambda state: onward(state, simulator, goals, **how),
        returns=lambda params: _returns(params, test_key, simulator, goals, options, hook.starts),
    )
    return drive_one(program, options, seed, hook)


def train_seeds(
    simulators: Sequence[Simulator], goals: Sequence[GoalSet], options: Options, seeds: Sequence[int], **hooks: Any
) -> list[Trained | StageError]:
    """Train several seeds in one program, spread over the devices; a seed that diverges is an error in its place.

    Each seed has its own simulator and goals, which may differ in their arrays.
    """
    hook = TrainingHooks(**hooks)
    worlds, aims = stack(simulators), stack(goals)
    start_keys, test_keys = (
        jnp.stack([named_key(seed, use) for seed in seeds]) for use in ("pqn training", "pqn evaluation")
    )
    share = devices_for(len(seeds))
    room = keeping.room_for(options, hook.transitions)
    how = {"options": options, "room": room} if room else {"options": options}
    new, onward = (_new_keeping, keeping.update) if room else (_new, learner.update)
    program = Program(
        start=lambda: spread(new, share, **how)(start_keys, worlds, aims),
        update=lambda state: spread(onward, share, donate=(0,), **how)(state, worlds, aims),
        returns=lambda params: spread(_test, share, options=options, starts=hook.starts)(
            params, test_keys, worlds, aims
        ),
        host=np.asarray,
        device=jnp.asarray,
    )
    return drive(program, options, seeds, hook)


def drive_one(program: Program, options: Course, seed: int, hooks: TrainingHooks) -> Trained:
    """What one seed comes to; StageError where it diverges."""
    (result,) = drive(program, options, [seed], hooks)
    if isinstance(result, StageError):
        raise result
    return result


def drive(program: Program, options: Course, seeds: Sequence[int], hooks: TrainingHooks) -> list[Trained | StageError]:
    """Update until the end, or until every seed has diverged."""
    record = Record(options, seeds)
    if hooks.resume is None:
        state = program.start()
    else:
        record.restore(hooks.resume)
        state = tree_of(jax.eval_shape(program.start), hooks.resume, "learner/", program.device)
    began, first = time.monotonic(), record.done
    told = kept = began
    while record.done < options.updates and not record.diverged.all():
        state, metrics = program.update(state)
        record.note(jax.tree.map(program.host, metrics))
        if record.done in options.checkpoint_updates:
            if hooks.keep == "all" or record.done == options.updates:
                record.checkpoints.append(named_leaves(state.params, program.host))
            record.returns.append(program.host(program.returns(state.params)))
        now = time.monotonic()
        if hooks.progress and (now - told >= hooks.progress_every or record.done == options.updates):
            words = record.progress(record.done - first, now - began)
            hooks.progress(record.done, options.updates, words, record.numbers())
            told = now
        if hooks.save and now - kept >= hooks.save_every and record.done < options.updates:
            hooks.save(record.arrays(named_leaves(state, program.host)))
            kept = now
    transitions = named_leaves(state.kept, program.host) if isinstance(state, KeepingLearner) else {}
    return record.results(program.host(state.visits), transitions)


def named_key(seed: int, purpose: str) -> Array:
    return jax.random.key_data(jax_key(seed, purpose))


def _new(key: Array, simulator: Simulator, goals: GoalSet, options: Options) -> Learner:
    return learner.start(jax.random.wrap_key_data(key, impl="threefry2x32"), simulator, goals, options)


def _new_keeping(key: Array, simulator: Simulator, goals: GoalSet, options: Options, room: int) -> KeepingLearner:
    return keeping.start(jax.random.wrap_key_data(key, impl="threefry2x32"), simulator, goals, options, room)


def _test(params: Any, key: Array, simulator: Simulator, goals: GoalSet, options: Options, starts: int) -> Array:
    key = jax.random.wrap_key_data(key, impl="threefry2x32")
    return evaluate.returns(params, key, simulator, goals, options, starts)


# --- several seeds in one program --------------------------------------------------------------------------------


def stack(trees: Sequence[Any]) -> Any:
    """One tree whose arrays have an axis of seeds in front; StageError where the trees are not alike."""
    try:
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
    except ValueError:
        raise StageError(
            "the worlds or goals that the seeds draw are not of one shape, so the seeds cannot train together;"
            " set agent.seeds: apart"
        ) from None


def devices_for(count: int) -> int:
    """How many of the devices share `count` seeds evenly."""
    return max(number for number in range(1, min(count, jax.device_count()) + 1) if count % number == 0)


@functools.cache
def spread(
    function: Callable[..., Any], devices: int, donate: tuple[int, ...] = (), **settings: Any
) -> Callable[..., Any]:
    """`function` over a leading axis of seeds, each device with its share; no seed knows of another."""
    each = jax.vmap(functools.partial(function, **settings))
    if devices > 1:
        mesh = Mesh(np.array(jax.devices()[:devices]), ("seeds",))
        share = PartitionSpec("seeds")
        each = jax.shard_map(each, mesh=mesh, in_specs=share, out_specs=share, check_vma=False)
    return jax.jit(each, donate_argnums=donate)


_start = jax.jit(_new, static_argnames="options")
_start_keeping = jax.jit(_new_keeping, static_argnames=("options", "room"))
advance = jax.jit(learner.update, static_argnames="options", donate_argnums=0)
advance_keeping = jax.jit(keeping.update, static_argnames=("options", "room"), donate_argnums=0)
_returns = jax.jit(_test, static_argnames=("options", "starts"))
