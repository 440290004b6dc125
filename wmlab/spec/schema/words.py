"""The top-level words of a spec, and which of them an overlay may change."""

from __future__ import annotations

NAME = r"^[a-z][a-z0-9_]*$"
EXPERIMENT = ("let", "mdp", "goals", "agent", "extract", "evaluate")  # what a variant or a sweep may change
PROFILE = (*EXPERIMENT, "compare", "relate", "sweep", "variants", "seeds", "claims", "assumptions", "report", "suite")
DOCUMENT = ("wmlab", "name", "title", "extends", *PROFILE, "profiles", "default_profile")
