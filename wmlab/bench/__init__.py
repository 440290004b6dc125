"""Benchmarks: figures as ratios within one run, printed by `wmlab bench`."""
