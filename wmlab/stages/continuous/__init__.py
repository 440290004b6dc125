"""Stages in continuous worlds."""
