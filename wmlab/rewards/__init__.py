"""Reward kinds: what a goal pays for arriving in a state."""
