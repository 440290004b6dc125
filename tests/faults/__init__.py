"""Runs on a disk that fails: `python -m tests.faults` fails each call of a quickstart run in turn."""
