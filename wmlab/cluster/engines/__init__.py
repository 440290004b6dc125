"""Engines that start jobs on machines: what is asked of each, and Slurm and Ray."""
