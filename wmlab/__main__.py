"""`python -m wmlab` is the same as `wmlab`."""

from __future__ import annotations

from wmlab.cli import main

if __name__ == "__main__":
    main()
