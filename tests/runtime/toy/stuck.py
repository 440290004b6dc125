"""A module that nobody finishes importing."""

from __future__ import annotations

import sys
import time

print("looking for a library", file=sys.stderr)
time.sleep(60)
