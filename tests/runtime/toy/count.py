"""Counts to a number in many steps, and keeps a partial result after each."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from wmlab.runtime.result import Result


def run(params, inputs, context):
    found = context.partial.load()
    done = int(found.arrays["done"]) if found else 0
    with open(params["trace"], "a") as trace:
        trace.write(f"from {done}\n")
    for step in range(done, params["steps"]):
        if step == params.get("die at") and not Path(params["trace"] + ".died").exists():
            Path(params["trace"] + ".died").touch()
            os.kill(os.getpid(), 9)
        time.sleep(params.get("sleep", 0.0))
        context.partial.save(Result({"done": np.asarray(step + 1)}, {"step": step}))
        context.progress(step + 1, params["steps"], f"step {step + 1}")
    return Result({"total": np.asarray(params["steps"])}, {})
