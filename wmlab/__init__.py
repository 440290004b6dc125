"""wmlab: what world model hides inside a reinforcement-learning agent's values?

import wmlab

spec = wmlab.load("specs/quickstart.yaml")
found = spec.run()
found.metrics["wm.mse"]["mean"]
found.arrays("extract")["successors"]
"""

from typing import TYPE_CHECKING, Any

from wmlab.app.api import Experiment, load

if TYPE_CHECKING:
    from wmlab.app.run_results import RunResults

    __version__: str

__all__ = ["Experiment", "RunResults", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """What takes a while to import comes when it is asked for: every command imports this package."""
    if name == "__version__":
        from importlib.metadata import version

        return version("wmlab")
    if name == "RunResults":
        from wmlab.app.run_results import RunResults

        return RunResults
    raise AttributeError(f"module 'wmlab' has no attribute '{name}'")
