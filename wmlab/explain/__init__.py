"""Explaining a spec before anything runs: which statement covers it, what that promises, what is missing."""
