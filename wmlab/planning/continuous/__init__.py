"""Plans and values on a grid of continuous states."""
