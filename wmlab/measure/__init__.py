"""Measuring agents and models, in workers.

The modules here declare what is measured and import no JAX at their top; those in `finite` and `continuous`
do the work.
"""
