"""Kinds and their options: what a spec may say, declared once.

A kind is one module: a frozen dataclass of options, its meaning checks, its traits, and a function that does the work.
The module imports no JAX at its top (heavy imports sit inside the function), so that the language can read
options and checks in milliseconds. JSON Schemas, the reference page, error suggestions and the contract tests
all follow from what is registered here.

    @dataclass(frozen=True)
    class Options(Common):
        norm: Literal["l1", "l2"] = option("l1", doc="Distance between a column of M and Q(s, a).")

    @extractions.register("column_matching", Options, ExtractionTraits(worlds="finite"), check=check_common)
    def column_matching(view, options, seed): ...

No list names the module: it is found by that line (`discovery`). Installed packages add theirs by the entry point group
`wmlab.kinds`. What each family asks of its kinds, and what it calls them with, is in `traits`.
"""

from wmlab.registry.defaults import budget, by_world
from wmlab.registry.discovery import KindError, outside
from wmlab.registry.families import (
    CHECKS,
    FAMILIES,
    AgentChoice,
    ExtractionChoice,
    RewardChoice,
    SolverChoice,
    WorldChoice,
    agents,
    broken_kinds,
    extractions,
    mdps,
    rewards,
    section_check,
    solvers,
)
from wmlab.registry.kinds import Family, Finding, Kind, KindChoice, Scope, first_sentence
from wmlab.registry.options import REQUIRED, as_data, build, by_type, field_types, option
from wmlab.registry.traits import AgentTraits, ExtractionTraits, RewardTraits, SolverTraits, WorldTraits, always, fixed

__all__ = [
    "AgentChoice",
    "AgentTraits",
    "CHECKS",
    "ExtractionChoice",
    "ExtractionTraits",
    "FAMILIES",
    "Family",
    "Finding",
    "Kind",
    "KindChoice",
    "KindError",
    "REQUIRED",
    "RewardChoice",
    "RewardTraits",
    "Scope",
    "SolverChoice",
    "SolverTraits",
    "WorldChoice",
    "WorldTraits",
    "agents",
    "always",
    "as_data",
    "broken_kinds",
    "budget",
    "build",
    "by_type",
    "by_world",
    "extractions",
    "field_types",
    "first_sentence",
    "fixed",
    "mdps",
    "option",
    "outside",
    "rewards",
    "section_check",
    "solvers",
]
