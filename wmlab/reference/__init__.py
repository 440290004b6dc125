"""The reference of the language: every kind and option, from what the code declares."""
