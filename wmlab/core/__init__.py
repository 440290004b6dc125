"""What worlds of every kind are made of: spaces, dynamics, views, simulators and goals."""
