"""Goes wrong, in the way its parameters say."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np

from wmlab.errors import StageError
from wmlab.runtime.result import Result


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
    if how == "kill once" and Path(params["marker"]).exists():
        return Result({"total": np.asarray(1)}, {})
    if how == "kill once":
        Path(params["marker"]).touch()
    os.kill(os.getpid(), signal.SIGKILL)
