"""Finite worlds: states that can be counted, kernels, and what is known of an agent as tables."""
