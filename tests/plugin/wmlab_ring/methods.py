"""An extraction that needs no values: every step leads one state on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.view import FiniteView
from wmlab.extraction.finite.problem import Extraction, conclude
from wmlab.extraction.options import Common, check_common
from wmlab.registry import ExtractionTraits, extractions, option


@dataclass(frozen=True)
class Guess(Common):
    stride: int = option(1, doc="How far a step is thought to lead.", at_least=1)


@extractions.register(
    "ring_guess",
    Guess,
    ExtractionTraits(worlds="finite", model_is_deterministic=lambda options: True),
    check=check_common,
)
def ring_guess(view: FiniteView, options: Guess, seed: int) -> Extraction:
    """The ring that one would think of."""
    places = np.arange(view.q.shape[1])[:, None]
    successor = (places + np.array([-options.stride, options.stride])) % len(places)
    return conclude(view, Kernel.deterministic(successor), {"stride": options.stride})
