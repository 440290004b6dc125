"""average: what the models of several agents predict on average, held against the values of the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wmlab.core.continuous.ensemble import joined
from wmlab.errors import StageError
from wmlab.extraction.continuous.fit import conclude
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import evaluated_bytes, load_agent, load_model, log_of, store_model, view_for
from wmlab.stages.params import ExtractParams

COMMON = ("updates", "polish", "rates")  # notes that all extractions with the same options and rates share


def estimate(params: Mapping[str, Any], inputs: Mapping[str, Result]) -> int:
    """Bytes that asking the agent for all of its values takes."""
    return evaluated_bytes(build(ExtractParams, params), inputs)


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(ExtractParams, params)
    space, models = asked.mdp.space, [inputs[f"agent {number}"] for number in range(1, asked.extract.agents + 1)]
    require_one_form(models)
    view = view_for(asked.extract.options, load_agent(inputs["agent"], space), log=log_of(asked, inputs["agent"]))
    average = joined([load_model(one, space) for one in models], view.frame, view.actions)
    losses = np.mean([one.arrays["curve"] for one in models], axis=0)
    same = {name: value for name, value in models[0].data["notes"].items() if name in COMMON}
    notes = {**same, "agents": len(models), "members": average.size}
    return store_model(conclude(view, average, losses, asked.seed, notes))


def require_one_form(models: Sequence[Result]) -> None:
    """Models can be averaged that differ in their weights alone; rates that are found may differ among agents."""
    forms = [model.data["model"] for model in models]
    if any(form != forms[0] for form in forms):
        found = "; ".join(f"agent {number}: {rates_text(form)}" for number, form in enumerate(forms, 1))
        raise StageError(f"models of different rates have no average ({found}): say extract.model.rates")


def rates_text(form: Mapping[str, Any]) -> str:
    rates = form["options"]["rates"]
    return ", ".join(f"{name} by {rate}" for name, rate in rates.items()) or "none"
