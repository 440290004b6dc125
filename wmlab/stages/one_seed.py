"""one_seed: the part of one seed, out of a training of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wmlab.errors import StageError
from wmlab.runtime.result import Result


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    seed, trained = str(params["seed"]), inputs["trained"]
    if seed in trained.data["failures"]:
        raise StageError(trained.data["failures"][seed])
    prefix = f"{seed}/"
    arrays = {name.removeprefix(prefix): array for name, array in trained.arrays.items() if name.startswith(prefix)}
    return Result(arrays, trained.data["seeds"][seed])


def pack(seeds: Sequence[int], outcomes: Sequence[Result | StageError]) -> Result:
    """What each seed came to, in one result; a seed that has none keeps its error, for the stages that need it."""
    results = {seed: one for seed, one in zip(seeds, outcomes, strict=True) if isinstance(one, Result)}
    failures = {str(seed): str(one) for seed, one in zip(seeds, outcomes, strict=True) if isinstance(one, StageError)}
    if not results:
        raise StageError("; ".join(failures.values()))
    arrays = {f"{seed}/{name}": array for seed, one in results.items() for name, array in one.arrays.items()}
    return Result(arrays, {"seeds": {str(seed): one.data for seed, one in results.items()}, "failures": failures})
