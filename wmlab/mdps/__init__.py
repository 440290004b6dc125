"""Worlds: states, actions and what they do."""
