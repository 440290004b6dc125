"""The schema of the language: sections, their rules, and JSON Schemas made of them."""
