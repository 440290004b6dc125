"""Continuous worlds: named variables, dynamics, and what is known of an agent as functions."""
