"""The language: YAML with positions, merged, expanded and checked."""
