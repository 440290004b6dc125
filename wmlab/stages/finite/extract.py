"""extract: a world model from an agent's view. The method gets the view and nothing of the world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.extraction.finite.problem import require_numbers
from wmlab.extraction.options import candidates_of
from wmlab.registry import extractions
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import load_view, space_of, store_kernel


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    kind = extractions[params["extract"]["kind"]]
    options = kind.build(params["extract"])
    space = space_of(params["mdp"])
    view = load_view(inputs["agent"], space, candidates_of(options.prior, space))
    require_numbers(view)
    extraction = kind.run(view, options, params.get("seed", 0))
    return store_kernel(extraction.kernel, {"notes": extraction.notes}, residual=extraction.residual)
