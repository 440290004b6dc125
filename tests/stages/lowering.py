"""Runs a spec in this process, and lowers for CUDA whatever JAX compiles: `python -m tests.stages.lowering SPEC`.

A line for each program: the stage's module, whether it runs on accelerators, the program, and what is wrong with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def problems(text: str, accelerated: bool) -> list[str]:
    """What is wrong with a program that was lowered."""
    return ["f64"] if accelerated and "f64" in text else []


def lower_for_cuda(found: Callable[[str, str | None, str], None]) -> None:
    """Call with the name of each program that JAX lowers, its text for CUDA, or why there is none."""
    from jax._src.interpreters import mlir

    lower = mlir.lower_jaxpr_to_module

    def both(name: str, jaxpr: Any, **how: Any) -> Any:
        if "callback[" in str(jaxpr):
            found(name, None, "callback")
            return lower(name, jaxpr, **how)
        try:
            text = str(lower(name, jaxpr, **{**how, "platforms": ("cuda",)}).module)
            found(name, text, "")
        except Exception as error:
            found(name, None, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        return lower(name, jaxpr, **how)

    mlir.lower_jaxpr_to_module = both


def main(path: str, profile: str, *sets: str) -> None:
    from wmlab.graph.study import open_study
    from wmlab.planning.finite import dense
    from wmlab.runtime.events import StageStarted
    from wmlab.runtime.executor import execute
    from wmlab.runtime.store import Store
    from wmlab.runtime.worker_env import prepare_here

    dense.STATES = 0  # small worlds have no program: they are solved as large ones are

    study, stage = open_study(path, profile or None, sets), None

    def heard(event: object) -> None:
        nonlocal stage
        if isinstance(event, StageStarted):
            stage = study.stages[event.id]

    def say(name: str, text: str | None, why: str) -> None:
        assert stage is not None
        wrong = [why] if text is None else problems(text, stage.accelerated)
        print(stage.module, stage.accelerated, name, "; ".join(wrong), sep="\t", flush=True)

    prepare_here(1)  # before JAX is imported, as a worker is
    lower_for_cuda(say)
    outcome = execute(study.stages, study.keys, Store(), jobs=0, events=heard)
    sys.exit(0 if outcome.ok else f"{outcome.failed}")


def self_test() -> None:
    import jax
    import numpy as np

    lower_for_cuda(lambda name, text, why: print(why, *problems(text or "", True)))
    shape = jax.ShapeDtypeStruct((), np.float32)
    jax.jit(lambda x: jax.pure_callback(lambda y: y, shape, x)).lower(np.float32(1))
    with jax.enable_x64(True):
        jax.jit(lambda x: x * 2).lower(np.float64(1))


if __name__ == "__main__":
    self_test() if sys.argv[1] == "--self-test" else main(*sys.argv[1:])
