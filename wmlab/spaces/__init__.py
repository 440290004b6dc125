"""State spaces: the names, ranges and topology of states and actions, and nothing about what the actions do."""

from wmlab.spaces.finite import FiniteSpace, State

__all__ = ["FiniteSpace", "State"]
