"""Kinds and their options: what a spec may say, declared once.

A kind is one module: a frozen dataclass of options, its meaning checks, and a function that does the work.
The module imports no JAX at its top (heavy imports sit inside the function), so that the language can read
options and checks in milliseconds. JSON Schemas, the reference page, error suggestions and the contract tests
all follow from what is registered here.

    @dataclass(frozen=True)
    class Options:
        norm: Literal["l1", "l2"] = option("l1", doc="Distance between a column of M and Q(s, a).")

    @extractions.register("column_matching", Options, world="finite")
    def column_matching(view, options, key): ...
"""

from wmlab.registry.families import (
    CHECKS,
    FAMILIES,
    agents,
    extractions,
    in_order,
    mdps,
    rewards,
    section_check,
    solvers,
    truth_is_known,
    world_of,
)
from wmlab.registry.kinds import Family, Finding, Kind, Scope, first_sentence
from wmlab.registry.options import REQUIRED, build, by_type, field_types, option

__all__ = [
    "CHECKS",
    "FAMILIES",
    "Family",
    "Finding",
    "Kind",
    "REQUIRED",
    "Scope",
    "agents",
    "build",
    "by_type",
    "extractions",
    "field_types",
    "first_sentence",
    "in_order",
    "mdps",
    "option",
    "rewards",
    "section_check",
    "solvers",
    "truth_is_known",
    "world_of",
]
