"""What a page shows, taken from stored results: settings, stages, and what is drawn of one run."""
