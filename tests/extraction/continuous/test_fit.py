"""What every fit promises: the same bytes, resumption, one compilation, and a clear word when it diverges."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from tests.extraction.continuous.worlds import integrator
from tests.extraction.test_contract import count_compilations
from wmlab.errors import StageError
from wmlab.extraction.continuous.fit import extract
from wmlab.extraction.continuous.options import FitOptimiser, FitOptions, HorizonSchedule, Model
from wmlab.registry import Scope, extractions

OPTIONS = FitOptions(model=Model(depth=1, width=8), horizon=HorizonSchedule(1, 2, 0.5), steps=250, batch=4)


def same(one, other) -> bool:
    return all(one.weights[name].tobytes() == other.weights[name].tobytes() for name in one.weights)


def other_agent(view):
    return dataclasses.replace(view, params={**view.params, "goals": view.params["goals"] + 0.1})


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not():
    view = integrator()
    first, second, third = (extract(view, OPTIONS, seed) for seed in (7, 7, 8))
    assert same(first, second) and not same(first, third)
    assert first.errors.tobytes() == second.errors.tobytes()
    assert first.curve.tobytes() == second.curve.tobytes()


def test_a_fit_that_was_interrupted_ends_in_the_same_bytes():
    view, kept, told = integrator(), [], []
    whole = extract(
        view, OPTIONS, 7, save=kept.append, save_every=0.0, progress=lambda *report: told.append(report[:2])
    )
    assert told[0] == (2, 250) and told[-1] == (250, 250)
    for partial in (kept[0], kept[-1]):
        resumed = extract(view, OPTIONS, 7, resume=partial)
        assert same(whole, resumed)
        assert whole.curve.tobytes() == resumed.curve.tobytes()


def test_a_second_agent_and_another_horizon_of_the_schedule_compile_nothing():
    view = integrator()
    other = other_agent(view)
    extract(view, OPTIONS, 0)
    with count_compilations() as compiled:
        extract(other, OPTIONS, 1)
    assert compiled == []


def test_a_fit_that_diverges_says_in_which_update():
    options = dataclasses.replace(OPTIONS, horizon=1, optimiser=FitOptimiser(rate=3e38))
    with pytest.raises(StageError, match="^P-learning diverged in update [12] of 250: .*lower optimiser.rate"):
        extract(integrator(), options, 0)


def test_a_value_that_is_no_number_is_named():
    view = integrator()
    broken = dataclasses.replace(view, params={**view.params, "chance": view.params["chance"] * jnp.nan})
    with pytest.raises(StageError, match=r"^Q is nan at state \(.*\), goal 0, action 0 \(4608 of 4608 entries"):
        extract(broken, OPTIONS, 0)


@pytest.mark.parametrize(("kind", "decay"), [("radam", "linear"), ("adam", "constant")])
def test_every_optimiser_and_decay_makes_the_fit_better(kind, decay):
    optimiser = FitOptimiser(kind, 3e-2, decay, clip=1.0)
    model = Model(family="affine", norm="layer", encoding="normalised")
    found = extract(integrator(), FitOptions(model=model, optimiser=optimiser, loss="huber", steps=60, batch=32), 0)
    assert found.curve[-5:].mean() < 0.5 * found.curve[:5].mean()


@pytest.mark.parametrize(
    ("data", "path", "words"),
    [
        ({"estimator": "score", "loss": "l2"}, "estimator", "model.family residual is deterministic"),
        ({"model": {"family": "gaussian"}}, "estimator", "takes the next state as certain"),
        ({"estimator": "evolution", "horizon": {"to": 4}}, "horizon", "looks one step ahead; 4 steps"),
        ({"estimator": "score", "model": {"family": "gaussian"}}, "loss", "not of l1"),
    ],
)
def test_options_that_contradict_each_other_are_findings(data, path, words):
    kind = extractions["p_learning"]
    (finding,) = kind.check(kind.build(data), Scope())
    assert finding.path == (path,) and words in finding.message


def test_the_papers_settings_are_the_defaults():
    options = extractions["p_learning"].build({})
    assert (options.estimator, options.horizon, options.loss, options.goals) == ("deterministic", 1, "l1", "one")
    assert (options.model.depth, options.model.width, options.model.activation) == (2, 256, "tanh")
    assert list(extractions["p_learning"].check(options, Scope())) == []


def test_the_kind_runs_and_its_arrays_have_names():
    kind = extractions["p_learning"]
    options = kind.build({"model": {"depth": 1, "width": 4}, "steps": 3, "batch": 4})
    found = kind.run(integrator(), options, 0)
    assert set(found.weights) == {"layer0.weight", "layer0.bias", "output.weight", "output.bias"}
    assert np.isfinite(found.errors).all()
