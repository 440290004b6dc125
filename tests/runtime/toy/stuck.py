"""A module that nobody finishes importing, and that holds the interpreter meanwhile, as a library in C may."""

from __future__ import annotations

import ctypes
import sys

print("looking for a library", file=sys.stderr, flush=True)
while True:
    ctypes.PyDLL(None).sleep(60)
