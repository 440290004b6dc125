"""What a report draws of one run, taken from the store."""
