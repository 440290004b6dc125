"""Goes wrong, in the way its parameters say."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from wmlab.errors import StageError
from wmlab.runtime.result import Result


def estimate(params, inputs):
    return params.get("estimate")


def run(params, inputs, context):
    how = params["how"]
    if how == "raise":
        raise ValueError("seven is not a number")
    if how == "refuse":
        raise StageError("the constraints are infeasible")
    if how == "exit":
        sys.exit(3)
    if how == "return":
        return {"total": 1}
    if how == "hang":
        print("I shall be a while")
        context.progress(1, 4, "a quarter")
        if params.get("stubborn"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    if how == "import":
        importlib.import_module("tests.runtime.toy.stuck")
    if how == "eat":
        eaten = np.ones(params["bytes"] // 8)
        context.progress(1, 2, "eaten")
        time.sleep(60)
        return Result({"eaten": eaten}, {})
    if how == "lack":
        raise MemoryError("std::bad_alloc")
    if how == "fault":
        with open(params["marker"], "a") as trace:
            trace.write("tried\n")
        tried = Path(params["marker"]).read_text().count("tried")
        if tried <= params["times"]:
            raise OSError(params["errno"], "something gave way")
        return Result({"total": np.asarray(1)}, {})
    if how == "kill once" and Path(params["marker"]).exists():
        return Result({"total": np.asarray(1)}, {})
    if how == "kill once":
        Path(params["marker"]).touch()
    os.kill(os.getpid(), signal.SIGKILL)
