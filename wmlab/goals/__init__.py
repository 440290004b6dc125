"""Goals: what they pay for, where they are, and when they end an episode."""
