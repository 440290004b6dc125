"""Agents: whose values are inverted."""
