"""Measuring agents and models, in workers: metrics of finite and of continuous worlds."""
