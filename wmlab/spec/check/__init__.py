"""Checking a spec: structure, meaning, references, claims."""
