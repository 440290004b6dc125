"""Plans: values and policies in a known model, true or extracted."""
