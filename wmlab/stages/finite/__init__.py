"""Stages in finite worlds."""
