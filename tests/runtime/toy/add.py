"""Adds its inputs and a number; may sleep, print, and count its own runs in a file."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

from wmlab.runtime.result import Result


def run(params, inputs, context):
    if counter := params.get("counter"):
        descriptor = os.open(counter, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{context.label}\n".encode())
        os.close(descriptor)
    if text := params.get("print"):
        print(text)
        print(text, file=sys.stderr)
        os.write(1, text.encode())
        subprocess.run(["echo", text], check=True)
        assert sys.stdin.read() == ""
    time.sleep(params.get("sleep", 0.0))
    total = params["number"] + sum(int(result.arrays["total"]) for result in inputs.values())
    context.progress(1, 1)
    return Result({"total": np.asarray(total)}, {"total": total, "of": sorted(inputs)})
