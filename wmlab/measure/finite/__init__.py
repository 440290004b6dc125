"""Metrics of finite worlds."""
