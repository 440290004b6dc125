"""Metrics of continuous worlds."""
