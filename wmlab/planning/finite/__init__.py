"""Plans and exact values in finite models."""
