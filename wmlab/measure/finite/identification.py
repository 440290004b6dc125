"""How much of a finite world an agent's values pin down."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

from wmlab.identify import bounds, rank
from wmlab.identify.width import IdentifiedSet, identified_set
from wmlab.measure.finite.context import FiniteContext
from wmlab.registry.metrics import Measured
from wmlab.sections.experiment import Identify


@dataclass(frozen=True, eq=False)
class IdentificationContext(FiniteContext):
    """An agent, and its world where the theorems' bounds are asked for."""

    goals: int = 0

    @property
    def identify(self) -> Identify:
        assert self.asked.identify is not None
        return self.asked.identify

    @cached_property
    def identified_set(self) -> IdentifiedSet:
        """All kernels that explain the values, by the least and the greatest of each probability."""
        assert self.identify.width is not None
        return identified_set(self.view, self.identify.width.slack)


def ranks(context: IdentificationContext) -> Measured:
    """What linear algebra says of M, and how far apart its columns are."""
    tolerance = context.identify.rank_tolerance
    algebra = rank.rank(context.view, tolerance)
    values: Measured = {
        f"ident.{name}": {"value": getattr(algebra, name)}
        for name in ("rank", "nullity", "simplex_nullity", "sigma_min")
    }
    values["ident.least_rank"] = {"value": rank.least_rank(context.view, context.goals, tolerance)}
    values["ident.sigma_min"]["by"] = {  # how M is conditioned, and by how much its inverse may magnify errors
        "sigma_max": algebra.sigma_max,
        "condition": algebra.sigma_max / algebra.sigma_min if algebra.sigma_min > 0 else None,
        "inverse_norm": algebra.inverse_norm,
    }
    values["ident.gap"] = {"value": rank.gap(context.view)}
    return values


def widest_interval(context: IdentificationContext) -> Measured:
    """The identified set, in one number."""
    return {"ident.width": {"value": context.identified_set.width}}


def theorem_bounds(context: IdentificationContext) -> Measured:
    """The theorems' bounds, at the distance between these values and the exact ones of the same policy."""
    view, asked = context.view, context.identify
    values: Measured = {}
    for theorem in asked.bounds:
        bound = (
            bounds.theorem_2b(view)
            if theorem == "theorem_2b"
            else bounds.theorem_3c(view, context.l1_error, asked.rank_tolerance)
        )
        parts = {"by": dataclasses.asdict(bound)["parts"]}
        values[f"bound.{theorem}.upper"] = {"value": bound.upper, **parts}
        values[f"bound.{theorem}.lower"] = {"value": bound.lower}
    return values
