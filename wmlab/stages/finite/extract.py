"""extract: a world model from an agent's view. The method gets the view and nothing of the world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.extraction.finite.problem import require_numbers
from wmlab.extraction.options import candidates_of
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import load_view, store_kernel
from wmlab.stages.params import ExtractParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(ExtractParams, params)
    method, space = asked.extract, asked.mdp.space
    view = load_view(inputs["agent"], space, candidates_of(method.prior, space))
    require_numbers(view)
    extraction = method.kind.run(view, method.options, asked.seed)
    arrays = {"residual": extraction.residual} | ({} if extraction.curve is None else {"curve": extraction.curve})
    return store_kernel(extraction.kernel, {"notes": extraction.notes}, **arrays)
