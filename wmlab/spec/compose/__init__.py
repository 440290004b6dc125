"""Composing a spec: files that extend each other, overlays, sweeps and numbers."""
