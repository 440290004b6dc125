"""wmlab: what world model hides inside a reinforcement-learning agent's values?

import wmlab

spec = wmlab.load("specs/quickstart.yaml")
found = spec.run()
found.metrics["wm.mse"]["mean"]
found.arrays("extract")["successors"]
"""

from wmlab.app.api import Experiment, RunResults, load

__all__ = ["Experiment", "RunResults", "load"]
