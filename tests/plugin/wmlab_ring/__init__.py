"""Kinds for wmlab from another package: a ring of states, a reward along it, and a guess at the model."""
