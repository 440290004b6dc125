"""A run on more than one machine: the jobs of a plan, an engine that starts them, and what is on record of them."""
